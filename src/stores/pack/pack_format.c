/* pack_format.c - writes and reads header, footer and the index's numbers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/pack/pack_format.h"

#include <string.h>

#include "base/data/endian.h"
#include "base/digest/digest.h"

static const unsigned char magic[8] = {'K', 'I', 'L', 'N', 'P', 'A', 'K', 0x1a};
static const unsigned char seal[8] = {'K', 'I', 'L', 'N', 'E', 'N', 'D', 0x1a};

static uint64_t starts_size(uint32_t bits)
{
    return kiln__pack_align(4 * (((uint64_t)1 << bits) + 1));
}

static uint32_t bits_of(uint64_t count)
{
    uint32_t bits = 0;

    while (bits < KILN__PACK_BITS_MAX &&
           (uint64_t)KILN__PACK_BUCKET_ENTRIES << bits < count)
        bits++;
    return bits;
}

void kiln__pack_layout_fill(kiln__pack_layout *layout, uint64_t count,
                            uint64_t payload, uint64_t entries_end)
{
    const uint32_t bits = bits_of(count);

    *layout = (kiln__pack_layout){
        .count = count,
        .payload = payload,
        .bits = bits,
        .index = kiln__pack_align(entries_end),
    };
    layout->slots = layout->index + starts_size(bits);
    layout->size =
        layout->slots + count * KILN__PACK_SLOT_SIZE + KILN__PACK_FOOTER_SIZE;
}

void kiln__pack_header_write(unsigned char *header, unsigned char *footer,
                             kiln__pack_layout *layout)
{
    memset(header, 0, KILN__PACK_HEADER_SIZE);
    memcpy(header + KILN__PACK_AT_MAGIC, magic, sizeof magic);
    kiln__le32_write(header + KILN__PACK_AT_VERSION, KILN__PACK_VERSION);
    kiln__le32_write(header + KILN__PACK_AT_BITS, layout->bits);
    kiln__le64_write(header + KILN__PACK_AT_SIZE, layout->size);
    kiln__le64_write(header + KILN__PACK_AT_COUNT, layout->count);
    kiln__le64_write(header + KILN__PACK_AT_INDEX, layout->index);
    kiln__le64_write(header + KILN__PACK_AT_PAYLOAD, layout->payload);
    kiln__sum_put(header + KILN__PACK_AT_INDEX_SUM, layout->index_sum);
    layout->sum = kiln__sum_bytes(header, KILN__PACK_AT_SUM);
    kiln__sum_put(header + KILN__PACK_AT_SUM, layout->sum);
    kiln__sum_put(footer + KILN__PACK_FOOT_SUM, layout->sum);
    kiln__le64_write(footer + KILN__PACK_FOOT_SIZE, layout->size);
    memcpy(footer + KILN__PACK_FOOT_MAGIC, seal, sizeof seal);
}

/* The numbers are of unknown origin, so nothing here may overflow. */
static int fits(const kiln__pack_layout *layout)
{
    uint64_t room = layout->size - KILN__PACK_FOOTER_SIZE;

    if (layout->index < KILN__PACK_HEADER_SIZE || layout->index > room ||
        layout->index % KILN__PACK_ALIGNMENT != 0)
        return 0;
    room -= layout->index;
    if (starts_size(layout->bits) > room)
        return 0;
    room -= starts_size(layout->bits);
    return room % KILN__PACK_SLOT_SIZE == 0 &&
           room / KILN__PACK_SLOT_SIZE == layout->count;
}

static const char *check_header(const unsigned char *header)
{
    if (memcmp(header + KILN__PACK_AT_MAGIC, magic, sizeof magic) != 0)
        return "it is no pack";
    if (kiln__le32_read(header + KILN__PACK_AT_VERSION) != KILN__PACK_VERSION)
        return "its format is of another version";
    if (!kiln__sum_equal(kiln__sum_take(header + KILN__PACK_AT_SUM),
                         kiln__sum_bytes(header, KILN__PACK_AT_SUM)))
        return "its header is damaged";
    return NULL;
}

static const char *check_footer(const unsigned char *header,
                                const unsigned char *footer, uint64_t size)
{
    if (memcmp(footer + KILN__PACK_FOOT_MAGIC, seal, sizeof seal) != 0 ||
        kiln__le64_read(footer + KILN__PACK_FOOT_SIZE) != size ||
        memcmp(footer + KILN__PACK_FOOT_SUM, header + KILN__PACK_AT_SUM,
               KILN__SUM_SIZE) != 0)
        return "its end is damaged";
    return NULL;
}

const char *kiln__pack_header_read(kiln__pack_layout *out,
                                   const unsigned char *header,
                                   const unsigned char *footer, uint64_t size)
{
    const char *wrong = check_header(header);

    if (wrong != NULL)
        return wrong;
    *out = (kiln__pack_layout){
        .size = kiln__le64_read(header + KILN__PACK_AT_SIZE),
        .count = kiln__le64_read(header + KILN__PACK_AT_COUNT),
        .index = kiln__le64_read(header + KILN__PACK_AT_INDEX),
        .payload = kiln__le64_read(header + KILN__PACK_AT_PAYLOAD),
        .bits = (uint32_t)kiln__le32_read(header + KILN__PACK_AT_BITS),
        .index_sum = kiln__sum_take(header + KILN__PACK_AT_INDEX_SUM),
        .sum = kiln__sum_take(header + KILN__PACK_AT_SUM),
    };
    if (out->size != size)
        return out->size > size ? "its end is missing"
                                : "something follows its end";
    wrong = check_footer(header, footer, size);
    if (wrong != NULL)
        return wrong;
    if (out->bits != bits_of(out->count) || !fits(out))
        return "its header makes no sense";
    out->slots = out->index + starts_size(out->bits);
    return NULL;
}

void kiln__pack_slot_write(unsigned char *to, const kiln__pack_slot *slot)
{
    memcpy(to, slot->digest.bytes, sizeof slot->digest.bytes);
    kiln__le64_write(to + 32, slot->offset);
    kiln__le64_write(to + 40, slot->size);
}

void kiln__pack_slot_read(kiln__pack_slot *out, const unsigned char *from)
{
    memcpy(out->digest.bytes, from, sizeof out->digest.bytes);
    out->offset = kiln__le64_read(from + 32);
    out->size = kiln__le64_read(from + 40);
}

uint64_t kiln__pack_bucket(kiln_digest digest, uint32_t bits)
{
    uint64_t first = 0;

    for (int i = 0; i < 8; i++)
        first = first << 8 | digest.bytes[i];
    return bits ? first >> (64 - bits) : 0;
}

int kiln__pack_compare(kiln_digest a, kiln_digest b)
{
    return memcmp(a.bytes, b.bytes, sizeof a.bytes);
}
