/* mutate.c - makes hostile variants of what encoder.h encodes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/stores/mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/endian.h"
#include "support/harness.h"

#define HEADER 9 /* tag and length */
#define TEXTS_MAX 256
#define OTHER_TEXTS 4   /* texts that replace each text */
#define OTHER_DIGESTS 4 /* digests that replace each digest */
#define WORDS 8         /* words of bytes that are changed one by one */
#define WORD_VALUES 4
#define LONG_TEXT 70000

typedef struct field {
    unsigned char tag;
    const unsigned char *bytes;
    size_t size;
} field;

typedef struct mutating {
    kiln__encoder *out;
    const mutate_pool *pool;
    field texts[TEXTS_MAX];
    size_t text_count;
    char *what;
} mutating;

static int take_field(field *out, const unsigned char **at,
                      const unsigned char *end)
{
    uint64_t size;

    if (end - *at < HEADER)
        return 0;
    out->tag = **at;
    size = kiln__le64_read(*at + 1);
    if (out->tag < KILN__TAG_U64 || out->tag > KILN__TAG_DIGEST ||
        size > (uint64_t)(end - *at - HEADER))
        return 0;
    out->bytes = *at + HEADER;
    out->size = (size_t)size;
    *at += HEADER + out->size;
    return 1;
}

static int are_fields(const unsigned char *bytes, size_t size)
{
    const unsigned char *at = bytes, *end = bytes + size;
    field next;

    while (at < end)
        if (!take_field(&next, &at, end))
            return 0;
    return size > 0;
}

static void put_field(kiln__encoder *out, unsigned char tag, const void *bytes,
                      size_t size)
{
    switch (tag) {
    case KILN__TAG_U64:
        kiln__encode_u64(out, kiln__le64_read(bytes));
        break;
    case KILN__TAG_I64:
        kiln__encode_i64(out, (int64_t)kiln__le64_read(bytes));
        break;
    case KILN__TAG_NO_TEXT:
        kiln__encode_text(out, NULL);
        break;
    case KILN__TAG_DIGEST: {
        kiln_digest digest = {0};

        memcpy(digest.bytes, bytes, sizeof digest.bytes);
        kiln__encode_digest(out, digest);
        break;
    }
    default:
        /* Written as bytes with another tag, since the encoder takes texts that
           end in a NUL. */
        kiln__encode_bytes(out, bytes, size);
        if (!out->failed)
            out->bytes[out->size - size - HEADER] = tag;
    }
}

/* ---- the variants of each type of field ---- */

static const uint64_t numbers[] = {
    0,         1,          2,          127,           255,
    INT32_MAX, 1ull << 31, UINT32_MAX, 1ull << 32,    1ull << 40,
    INT64_MAX, 1ull << 63, UINT64_MAX, UINT64_MAX - 7};
#define NUMBERS (sizeof numbers / sizeof *numbers)

static size_t number_count(void)
{
    return NUMBERS + 3;
}

static void write_number(mutating *m, const field *of, size_t which)
{
    const uint64_t was = kiln__le64_read(of->bytes);
    const uint64_t near[] = {was + 1, was - 1, was + (1ull << 32)};
    const uint64_t value =
        which < NUMBERS ? numbers[which] : near[which - NUMBERS];
    unsigned char bytes[8];

    kiln__le64_write(bytes, value);
    put_field(m->out, of->tag, bytes, sizeof bytes);
    (void)snprintf(m->what, 128, "%llu becomes %llu", (unsigned long long)was,
                   (unsigned long long)value);
}

static const char *const texts[] = {
    "",           "\xff\xfe\x80", "x",          "%s%n",  "../../etc/passwd",
    "main.twice", "f64",          "f64[:,:,:]", "u8[:]", "host",
    "a b\nc",     "f32",          "struct",     "tuple{"};
#define TEXTS (sizeof texts / sizeof *texts)

static size_t text_count(void)
{
    return TEXTS + 4 + OTHER_TEXTS;
}

static void write_long(mutating *m)
{
    char *text = malloc(LONG_TEXT);

    assert_non_null(text);
    memset(text, 'a', LONG_TEXT);
    put_field(m->out, KILN__TAG_TEXT, text, LONG_TEXT);
    free(text);
}

/* Returns one of the other texts nearby, selected by this one. */
static const field *other_text(const mutating *m, const field *of, size_t which)
{
    size_t at = 0;

    while (at < m->text_count && m->texts[at].bytes != of->bytes)
        at++;
    return &m->texts[(at + 1 + which) % m->text_count];
}

static void write_text(mutating *m, const field *of, size_t which)
{
    char longer[512];

    (void)snprintf(m->what, 128, "\"%.*s\" becomes text %zu",
                   (int)(of->size < 60 ? of->size : 60),
                   (const char *)of->bytes, which);
    if (which < TEXTS) {
        put_field(m->out, KILN__TAG_TEXT, texts[which], strlen(texts[which]));
        return;
    }
    switch (which - TEXTS) {
    case 0:
        kiln__encode_text(m->out, NULL);
        return;
    case 1:
        write_long(m);
        return;
    case 2:
        (void)snprintf(longer, sizeof longer, "%.*s2", (int)of->size,
                       (const char *)of->bytes);
        put_field(m->out, KILN__TAG_TEXT, longer, strlen(longer));
        return;
    case 3: /* NUL inside */
        put_field(m->out, KILN__TAG_TEXT, "a\0b", 3);
        return;
    default: {
        const field *other = other_text(m, of, which - TEXTS - 4);

        put_field(m->out, KILN__TAG_TEXT, other->bytes, other->size);
    }
    }
}

static size_t digest_count(const mutate_pool *pool)
{
    return 3 + (pool->digest_count ? OTHER_DIGESTS : 0);
}

static void write_digest(mutating *m, const field *of, size_t which)
{
    kiln_digest digest = {0};

    memcpy(digest.bytes, of->bytes, sizeof digest.bytes);
    (void)snprintf(m->what, 128, "digest %02x%02x... becomes digest %zu",
                   digest.bytes[0], digest.bytes[1], which);
    if (which == 0)
        digest = (kiln_digest){0};
    else if (which == 1)
        digest.bytes[0] ^= 1;
    else if (which == 2)
        digest.bytes[31] ^= 128;
    else
        digest = m->pool->digests[(digest.bytes[1] + (which - 3) * 7) %
                                  m->pool->digest_count];
    kiln__encode_digest(m->out, digest);
}

static size_t word_count(const field *of)
{
    const size_t words = of->size / 4;

    return (words < WORDS ? words : WORDS) * WORD_VALUES;
}

/* Variants of bytes that contain no fields: cut, empty, longer, with other
   words. */
static size_t bytes_count(const field *of)
{
    return 4 + word_count(of);
}

static void write_word(mutating *m, const field *of, size_t which)
{
    static const uint32_t values[WORD_VALUES] = {0, 1, UINT32_MAX, 1u << 31};
    unsigned char *copy = malloc(of->size);

    assert_non_null(copy);
    memcpy(copy, of->bytes, of->size);
    memcpy(copy + which / WORD_VALUES * 4, &values[which % WORD_VALUES], 4);
    put_field(m->out, KILN__TAG_BYTES, copy, of->size);
    free(copy);
}

static void write_bytes(mutating *m, const field *of, size_t which)
{
    unsigned char *longer;

    (void)snprintf(m->what, 128, "%zu bytes become bytes %zu", of->size, which);
    if (which < 2) {
        put_field(m->out, KILN__TAG_BYTES, of->bytes, of->size / 2 * which);
        return;
    }
    if (which >= 4) {
        write_word(m, of, which - 4);
        return;
    }
    longer = malloc(of->size + 64);
    assert_non_null(longer);
    memset(longer, which == 2 ? 0xff : 0, of->size + 64);
    if (which == 3)
        memcpy(longer, of->bytes, of->size);
    put_field(m->out, KILN__TAG_BYTES, longer, of->size + 64);
    free(longer);
}

/* ---- fields ---- */

#define COMMON 3 /* left out, doubled, of another type */

static size_t own_count(const field *of, const mutate_pool *pool)
{
    switch (of->tag) {
    case KILN__TAG_U64:
    case KILN__TAG_I64:
        return number_count();
    case KILN__TAG_TEXT:
    case KILN__TAG_NO_TEXT:
        return text_count();
    case KILN__TAG_DIGEST:
        return digest_count(pool);
    default:
        return bytes_count(of);
    }
}

static void write_own(mutating *m, const field *of, size_t which)
{
    switch (of->tag) {
    case KILN__TAG_U64:
    case KILN__TAG_I64:
        write_number(m, of, which);
        break;
    case KILN__TAG_TEXT:
    case KILN__TAG_NO_TEXT:
        write_text(m, of, which);
        break;
    case KILN__TAG_DIGEST:
        write_digest(m, of, which);
        break;
    default:
        write_bytes(m, of, which);
    }
}

static void write_common(mutating *m, const field *of, size_t which)
{
    static const char *const names[COMMON] = {"is left out", "is doubled",
                                              "is of another type"};

    if (which == 1)
        put_field(m->out, of->tag, of->bytes, of->size);
    if (which == 1)
        put_field(m->out, of->tag, of->bytes, of->size);
    if (which == 2)
        put_field(m->out,
                  of->tag == KILN__TAG_BYTES ? KILN__TAG_TEXT : KILN__TAG_BYTES,
                  of->bytes, of->size);
    (void)snprintf(m->what, 128, "a field of type %d %s", of->tag,
                   names[which]);
}

static size_t count_all(const unsigned char *bytes, size_t size,
                        const mutate_pool *pool)
{
    const unsigned char *at = bytes, *end = bytes + size;
    size_t count = 0;
    field next;

    while (take_field(&next, &at, end)) {
        count += COMMON + own_count(&next, pool);
        if (next.tag == KILN__TAG_BYTES && are_fields(next.bytes, next.size))
            count += count_all(next.bytes, next.size, pool);
    }
    return count;
}

static void list_texts(mutating *m, const unsigned char *bytes, size_t size)
{
    const unsigned char *at = bytes, *end = bytes + size;
    field next;

    while (take_field(&next, &at, end)) {
        if (next.tag == KILN__TAG_TEXT && m->text_count < TEXTS_MAX)
            m->texts[m->text_count++] = next;
        if (next.tag == KILN__TAG_BYTES)
            list_texts(m, next.bytes, next.size);
    }
}

/* Copies the fields; the one that the number falls into is replaced by its
   variant. */
static void write_all(mutating *m, const unsigned char *bytes, size_t size,
                      size_t *number);

static void write_inside(mutating *m, const field *of, size_t *number)
{
    kiln__encoder *outer = m->out, inner;

    kiln__encoder_init(&inner, &kiln__malloc);
    m->out = &inner;
    write_all(m, of->bytes, of->size, number);
    m->out = outer;
    kiln__encode_bytes(outer, inner.bytes, inner.size);
    kiln__encoder_dispose(&inner);
}

static void write_one(mutating *m, const field *of, size_t *number)
{
    const size_t own = own_count(of, m->pool);
    size_t inside = 0, at = *number;

    if (of->tag == KILN__TAG_BYTES && are_fields(of->bytes, of->size))
        inside = count_all(of->bytes, of->size, m->pool);
    *number =
        at < COMMON + own + inside ? SIZE_MAX : at - COMMON - own - inside;
    if (at < COMMON)
        write_common(m, of, at);
    else if (at < COMMON + own)
        write_own(m, of, at - COMMON);
    else if (at < COMMON + own + inside) {
        at -= COMMON + own;
        write_inside(m, of, &at);
    } else
        put_field(m->out, of->tag, of->bytes, of->size);
}

static void write_all(mutating *m, const unsigned char *bytes, size_t size,
                      size_t *number)
{
    const unsigned char *at = bytes, *end = bytes + size;
    field next;

    while (take_field(&next, &at, end))
        if (*number == SIZE_MAX)
            put_field(m->out, next.tag, next.bytes, next.size);
        else
            write_one(m, &next, number);
}

size_t mutate_count(const void *bytes, size_t size, const mutate_pool *pool)
{
    return size ? count_all(bytes, size, pool) : 0;
}

int mutate_write(kiln__encoder *out, const void *bytes, size_t size,
                 const mutate_pool *pool, size_t number, char what[128])
{
    mutating m = {.out = out, .pool = pool, .what = what};

    what[0] = '\0';
    list_texts(&m, bytes, size);
    write_all(&m, bytes, size, &number);
    assert_false(out->failed);
    return out->size != size || memcmp(out->bytes, bytes, size) != 0;
}
