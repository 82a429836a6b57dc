/* packs.c - saves what was compiled as a pack, and loads it again. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>

#include <kiln/cache.h>

#include "tgv.h"

int pack_insert(struct tgv *tgv)
{
    kiln_pack *pack = NULL;
    kiln_error *error = NULL;
    kiln_status status;

    if (!tgv->options.insert)
        return 1;
    status = kiln_pack_open(&pack, tgv->options.insert, &error);
    if (status == KILN_OK) {
        status = kiln_insert(tgv->context, pack, &error);
        if (status != KILN_OK)
            kiln_pack_close(pack);
    }
    if (status != KILN_OK)
        failed(tgv, status, error);
    return status == KILN_OK;
}

int pack_save(struct tgv *tgv, uint64_t compile_ns)
{
    kiln_delta_options options = KILN_DELTA_OPTIONS_INIT;
    kiln_error *error = NULL;
    uint64_t start;
    kiln_status status;

    if (!tgv->options.save)
        return 1;
    if (tgv->options.save_typed)
        options.binaries = KILN_SWITCH_OFF;
    start = now_ns();
    status = kiln_delta_save(tgv->context, tgv->options.save, NULL, &options,
                             &error);
    if (status != KILN_OK)
        failed(tgv, status, error);
    else if (!tgv->options.quiet)
        printf("\nsaved %s in %.3f ms; compiling took %.3f ms\n",
               tgv->options.save, (double)(now_ns() - start) / 1e6,
               (double)compile_ns / 1e6);
    return status == KILN_OK;
}
