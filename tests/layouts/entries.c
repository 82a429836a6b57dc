/* entries.c - entries in files of a folder, in place of the tiers' stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stores/stores.h"

/* The linker sends the tiers here (--wrap). */
kiln_status __wrap_kiln__stores_get(kiln__stored *out, kiln_context *context,
                                    int32_t kind, const kiln_key *key);
void __wrap_kiln__stores_put(kiln_context *context, const kiln__entry *entry,
                             int replace);

static void path_of(char *path, size_t size, int32_t kind, const kiln_key *key)
{
    const char *folder = getenv("LAYOUT_ENTRIES");

    char digest[KILN_DIGEST_TEXT_SIZE];

    kiln_digest_text(key->digest, digest);
    snprintf(path, size, "%s/%d-%s", folder ? folder : ".", (int)kind, digest);
}

kiln_status __wrap_kiln__stores_get(kiln__stored *out, kiln_context *context,
                                    int32_t kind, const kiln_key *key)
{
    kiln__stored found = {0};
    char path[512];
    FILE *file;
    char *bytes;
    long size;

    (void)context;
    path_of(path, sizeof path, kind, key);
    file = fopen(path, "rb");
    if (!file)
        return KILN_ENOTFOUND;
    if (fseek(file, 0, SEEK_END) || (size = ftell(file)) <= 0 ||
        fseek(file, 0, SEEK_SET) || !(bytes = malloc((size_t)size)) ||
        fread(bytes, 1, (size_t)size, file) != (size_t)size)
        abort();
    fclose(file);
    if (kiln__blob_copy(&found.bytes, &kiln__malloc, bytes, (size_t)size) ||
        kiln__entry_decode(&found.entry, found.bytes.data, found.bytes.size,
                           key) != KILN__FAULT_NONE)
        abort();
    free(bytes);
    *out = found;
    return KILN_OK;
}

/* As every store, it takes nothing that holds an address. */
void __wrap_kiln__stores_put(kiln_context *context, const kiln__entry *entry,
                             int replace)
{
    kiln_blob blob = {0};
    char path[512];
    FILE *file;

    (void)context;
    (void)replace;
    if (entry->relocation == KILN_RELOCATION_SESSION)
        return;
    path_of(path, sizeof path, entry->kind, &entry->key);
    file = fopen(path, "wb");
    if (!file || kiln__entry_encode(&blob, &kiln__malloc, entry) ||
        fwrite(blob.data, 1, blob.size, file) != blob.size || fclose(file))
        abort();
    kiln_blob_release(&blob);
}
