/* packs.c - packs are opened; snapshots are declared, and refused by name. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln/cache.h"
#include "pack.h"
#include "report.h"

/*
 * The tiers of this version live in memory. What only makes sense behind them
 * is here so that a host can be written and linked against the whole
 * interface, and learns at run time, from a status, that there is nothing to
 * be had.
 */

static kiln_status refuse(kiln_error **error, const char *what)
{
    return kiln__error_set(error, KILN_EUNSUPPORTED,
                           "%s: this version remembers in memory only", what);
}

kiln_status kiln_snapshot(kiln_mark **out, kiln_context *context,
                          kiln_error **error)
{
    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    return refuse(error, "snapshot");
}

void kiln_mark_free(kiln_mark *mark)
{
    (void)mark;
}

kiln_status kiln_delta(kiln_blob *out, kiln_context *context,
                       const kiln_mark *since,
                       const kiln_delta_options *options, kiln_error **error)
{
    (void)since;
    (void)options;
    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    return refuse(error, "delta");
}

kiln_status kiln_pack_open(kiln_pack **out, const char *path,
                           kiln_error **error)
{
    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(path != NULL, error);
    return kiln__pack_open(out, &kiln__malloc, path, NULL, error);
}

kiln_status kiln_pack_open_memory(kiln_pack **out, const void *bytes,
                                  size_t size, kiln_error **error)
{
    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(bytes != NULL, error);
    return kiln__pack_open_memory(out, &kiln__malloc, bytes, size, error);
}

void kiln_pack_close(kiln_pack *pack)
{
    kiln__pack_release(pack);
}

kiln_status kiln_insert(kiln_context *context, kiln_pack *pack,
                        kiln_error **error)
{
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(pack != NULL, error);
    return refuse(error, "insert");
}
