/* test_store_pack.c - a pack is a store that takes nothing. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance tiers */
#include "conformance/store_suite.h"
#include "stores/pack/pack.h"

/* The store holds the pack, and a lent blob does: the bytes go when the last
   of them goes, so they are kept here. */
static kiln_blob bytes;

static kiln_status add_all(kiln__pack_writer *writer,
                           const store_filling *entries, size_t count)
{
    kiln_status status = KILN_OK;

    for (size_t i = 0; i < count && status == KILN_OK; i++) {
        const kiln__entry entry = {
            .kind = KILN__ENTRY_RAW,
            .key = entries[i].key,
            .payload = entries[i].bytes,
            .payload_size = entries[i].size,
        };

        status = kiln__pack_writer_add_entry(writer, &entry, NULL);
    }
    return status;
}

static kiln_status fill(const kiln_store_ops **ops, void **self,
                        const store_filling *entries, size_t count)
{
    kiln__pack_writer *writer = NULL;
    kiln_pack *pack = NULL;
    kiln_status status = kiln__pack_writer_new(&writer, &kiln__malloc);

    kiln_blob_release(&bytes);
    if (status == KILN_OK)
        status = add_all(writer, entries, count);
    if (status == KILN_OK)
        status = kiln__pack_writer_to_blob(&bytes, writer, NULL);
    kiln__pack_writer_free(writer);
    if (status == KILN_OK)
        status = kiln_pack_open_memory(&pack, bytes.data, bytes.size, NULL);
    if (status != KILN_OK)
        return status;
    *ops = &kiln__pack_store_ops;
    *self = kiln__pack_store(pack);
    kiln_pack_close(pack);
    return KILN_OK;
}

int main(void)
{
    static const store_subject subject = {.fill = fill};
    const int failed = store_filled_run(&subject);

    kiln_blob_release(&bytes);
    return failed;
}
