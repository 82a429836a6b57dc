/* entry.c - makes and checks the envelope of an entry. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/entry.h"

#include <string.h>

#include "base/data/endian.h"
#include "base/data/sum.h"
#include "base/digest/digest.h"
#include "kiln/cache.h"
#include "kiln/kernel.h"

/*
 * The head, by offset. Any addition needs a new version; readers of this
 * version refuse others.
 */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 8,
    AT_KIND = 12,
    AT_RELOCATION = 16,
    AT_RESERVED = 20, /* 0 */
    AT_TOTAL = 24,
    AT_KEY_SIZE = 32,
    AT_TOOLCHAIN_SIZE = 40,
    AT_LOG_SIZE = 48,
    AT_META_SIZE = 56,
    AT_PAYLOAD_SIZE = 64,
    AT_BUILD_NS = 72,
    AT_KEY = 80,
    AT_PAYLOAD_SUM = 112,
    AT_HEAD_SUM = 128 /* of the head before it, and of the sections */
};

#define HEAD_SIZE KILN__ENTRY_HEAD_SIZE
#define PAYLOAD_ALIGNMENT ((size_t)64)
#define SECTIONS 4 /* key, toolchain, log, meta */

static const unsigned char magic[8] = {'K', 'I', 'L', 'N', 'E', 'N', 'T', 0x1a};

/* ---- sections ---- */

/* Adds sizes of unknown origin; SIZE_MAX on overflow. */
static size_t sum_of(size_t a, size_t b)
{
    size_t sum;

    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

static size_t payload_offset(const size_t sizes[SECTIONS])
{
    size_t end = HEAD_SIZE;

    for (int i = 0; i < SECTIONS; i++)
        end = sum_of(end, sizes[i]);
    end = sum_of(end, PAYLOAD_ALIGNMENT - 1);
    return end == SIZE_MAX ? SIZE_MAX : end & ~(PAYLOAD_ALIGNMENT - 1);
}

static kiln__sum head_sum(const unsigned char *bytes, size_t payload)
{
    return kiln__sum_combine(
        kiln__sum_bytes(bytes, AT_HEAD_SUM),
        kiln__sum_bytes(bytes + HEAD_SIZE, payload - HEAD_SIZE));
}

/* ---- writing ---- */

static void write_head(unsigned char *head, const kiln__entry *entry,
                       size_t total)
{
    memcpy(head + AT_MAGIC, magic, sizeof magic);
    kiln__le32_write(head + AT_VERSION, KILN__ENTRY_VERSION);
    kiln__le32_write(head + AT_KIND, (uint32_t)entry->kind);
    kiln__le32_write(head + AT_RELOCATION, (uint32_t)entry->relocation);
    kiln__le64_write(head + AT_TOTAL, total);
    kiln__le64_write(head + AT_KEY_SIZE, entry->key.encoded_size);
    kiln__le64_write(head + AT_TOOLCHAIN_SIZE, entry->toolchain_size);
    kiln__le64_write(head + AT_LOG_SIZE, entry->log_size);
    kiln__le64_write(head + AT_META_SIZE, entry->meta_size);
    kiln__le64_write(head + AT_PAYLOAD_SIZE, entry->payload_size);
    kiln__le64_write(head + AT_BUILD_NS, entry->build_ns);
    memcpy(head + AT_KEY, entry->key.digest.bytes,
           sizeof entry->key.digest.bytes);
    kiln__sum_put(head + AT_PAYLOAD_SUM,
                  kiln__sum_bytes(entry->payload, entry->payload_size));
}

kiln_status kiln__entry_encode(kiln_blob *out, const kiln_alloc *alloc,
                               const kiln__entry *entry)
{
    const void *const sections[SECTIONS] = {
        entry->key.encoded, entry->toolchain, entry->log, entry->meta};
    const size_t sizes[SECTIONS] = {entry->key.encoded_size,
                                    entry->toolchain_size, entry->log_size,
                                    entry->meta_size};
    const size_t payload = payload_offset(sizes);
    const size_t total = sum_of(payload, entry->payload_size);
    unsigned char *bytes =
        total == SIZE_MAX ? NULL : kiln__blob_new(out, alloc, total);
    unsigned char *at;

    if (bytes == NULL)
        return KILN_ENOMEM;
    write_head(bytes, entry, total);
    at = bytes + HEAD_SIZE;
    for (int i = 0; i < SECTIONS; i++) {
        if (sizes[i])
            memcpy(at, sections[i], sizes[i]);
        at += sizes[i];
    }
    kiln__sum_put(bytes + AT_HEAD_SUM, head_sum(bytes, payload));
    if (entry->payload_size)
        memcpy(bytes + payload, entry->payload, entry->payload_size);
    return KILN_OK;
}

/* ---- reading ---- */

static int key_is(const kiln__entry *entry, const kiln_key *key)
{
    return kiln__digest_equal(entry->key.digest, key->digest) &&
           entry->key.encoded_size == key->encoded_size &&
           (key->encoded_size == 0 ||
            memcmp(entry->key.encoded, key->encoded, key->encoded_size) == 0);
}

static size_t size_at(const unsigned char *bytes, int at)
{
    const uint64_t size = kiln__le64_read(bytes + at);

    return size < SIZE_MAX ? (size_t)size : SIZE_MAX;
}

/* Checks that it is an envelope of Kiln's and complete. Stores where the
   payload begins. */
static kiln__entry_fault check_frame(const unsigned char *bytes, size_t size,
                                     size_t *payload)
{
    const size_t known = size < sizeof magic ? size : sizeof magic;
    size_t sizes[SECTIONS];

    if (memcmp(bytes, magic, known) != 0)
        return KILN__FAULT_FOREIGN;
    if (size < AT_VERSION + 4)
        return KILN__FAULT_TRUNCATED;
    if (kiln__le32_read(bytes + AT_VERSION) != KILN__ENTRY_VERSION)
        return KILN__FAULT_VERSION;
    if (size < HEAD_SIZE)
        return KILN__FAULT_TRUNCATED;
    for (int i = 0; i < SECTIONS; i++)
        sizes[i] = size_at(bytes, AT_KEY_SIZE + 8 * i);
    *payload = payload_offset(sizes);
    if (*payload > size)
        return KILN__FAULT_TRUNCATED;
    if (!kiln__sum_equal(kiln__sum_take(bytes + AT_HEAD_SUM),
                         head_sum(bytes, *payload)))
        return KILN__FAULT_CHECKSUM;
    if (size_at(bytes, AT_TOTAL) > size)
        return KILN__FAULT_TRUNCATED;
    if (size_at(bytes, AT_TOTAL) != size ||
        sum_of(*payload, size_at(bytes, AT_PAYLOAD_SIZE)) != size)
        return KILN__FAULT_MALFORMED;
    return KILN__FAULT_NONE;
}

kiln__entry_fault kiln__entry_begins(const void *head, uint64_t size)
{
    const unsigned char *bytes = head;

    if (memcmp(bytes, magic, sizeof magic) != 0)
        return KILN__FAULT_FOREIGN;
    if (kiln__le32_read(bytes + AT_VERSION) != KILN__ENTRY_VERSION)
        return KILN__FAULT_VERSION;
    if (kiln__le64_read(bytes + AT_TOTAL) == size)
        return KILN__FAULT_NONE;
    return kiln__le64_read(bytes + AT_TOTAL) > size ? KILN__FAULT_TRUNCATED
                                                    : KILN__FAULT_MALFORMED;
}

static void read_head(kiln__entry *out, const unsigned char *bytes,
                      size_t payload)
{
    const unsigned char *at = bytes + HEAD_SIZE;

    out->kind = (int32_t)kiln__le32_read(bytes + AT_KIND);
    out->relocation = (int32_t)kiln__le32_read(bytes + AT_RELOCATION);
    out->build_ns = kiln__le64_read(bytes + AT_BUILD_NS);
    memcpy(out->key.digest.bytes, bytes + AT_KEY, sizeof out->key.digest.bytes);
    out->key.encoded_size = size_at(bytes, AT_KEY_SIZE);
    out->toolchain_size = size_at(bytes, AT_TOOLCHAIN_SIZE);
    out->log_size = size_at(bytes, AT_LOG_SIZE);
    out->meta_size = size_at(bytes, AT_META_SIZE);
    out->payload_size = size_at(bytes, AT_PAYLOAD_SIZE);
    out->key.encoded = at;
    at += out->key.encoded_size;
    out->toolchain = (const char *)at;
    at += out->toolchain_size;
    out->log = (const char *)at;
    at += out->log_size;
    out->meta = at;
    out->payload = bytes + payload;
}

/* Correct checksums do not mean that the content makes sense. */
static int makes_sense(const kiln__entry *entry, const unsigned char *bytes)
{
    return entry->kind >= 0 && entry->kind < KILN__ENTRY_KIND_COUNT &&
           entry->relocation >= KILN_RELOCATION_PORTABLE &&
           entry->relocation <= KILN_RELOCATION_SESSION &&
           kiln__le32_read(bytes + AT_RESERVED) == 0;
}

kiln__entry_fault kiln__entry_decode(kiln__entry *out, const void *given,
                                     size_t size, const kiln_key *key)
{
    const unsigned char *bytes = given;
    size_t payload = 0;
    kiln__entry_fault fault;

    if (size == 0)
        return KILN__FAULT_TRUNCATED;
    fault = check_frame(bytes, size, &payload);
    if (fault != KILN__FAULT_NONE)
        return fault;
    read_head(out, bytes, payload);
    if (!makes_sense(out, bytes))
        return KILN__FAULT_MALFORMED;
    if (key != NULL && !key_is(out, key))
        return KILN__FAULT_KEY;
    if (!kiln__sum_equal(kiln__sum_take(bytes + AT_PAYLOAD_SUM),
                         kiln__sum_bytes(out->payload, out->payload_size)))
        return KILN__FAULT_CHECKSUM;
    return KILN__FAULT_NONE;
}

/* ---- names ---- */

const char *kiln__entry_fault_text(kiln__entry_fault fault)
{
#define TEXT(name, text) [KILN__FAULT_##name] = (text),
    static const char *const texts[] = {KILN__ENTRY_FAULT_MAP(TEXT)};
#undef TEXT

    return (unsigned)fault < KILN__FAULT_COUNT ? texts[fault] : "unknown";
}

const char *kiln__entry_kind_text(int32_t kind)
{
#define TEXT(name, value, text, reach) [value] = (text),
    static const char *const texts[] = {KILN__ENTRY_KIND_MAP(TEXT)};
#undef TEXT

    return kind >= 0 && kind < KILN__ENTRY_KIND_COUNT ? texts[kind] : "unknown";
}

kiln__entry_reach kiln__entry_reach_of(int32_t kind)
{
#define REACH(name, value, text, reach) [value] = KILN__REACH_##reach,
    static const kiln__entry_reach all[] = {KILN__ENTRY_KIND_MAP(REACH)};
#undef REACH

    return kind >= 0 && kind < KILN__ENTRY_KIND_COUNT ? all[kind]
                                                      : KILN__REACH_MACHINE;
}

int32_t kiln__entry_tier(int32_t kind)
{
    if (kind == KILN__ENTRY_RUNTIME)
        return KILN_TIER_RUNTIME;
    return kind == KILN__ENTRY_BINARY || kind == KILN__ENTRY_NATIVE ||
                   kind == KILN__ENTRY_SESSION
               ? KILN_TIER_BINARY
               : KILN_TIER_TYPED;
}
