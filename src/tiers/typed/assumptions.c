/* assumptions.c - compares what two entries of a code instance assumed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/array.h"
#include "base/data/decoder.h"
#include "stores/entry_versions.h"
#include "tiers/typed/assumptions.h"

/*
 * Two entries of one key may differ because they belong to two programs, which
 * is legitimate, or although the program is the same, which is a fault. An
 * entry's meta (stored_typed.c describes it) has questions with their answers:
 * queries, uses of libraries, edges. If both entries ask the same question and
 * have different answers, they belong to two programs. Questions that only one
 * entry has follow from an earlier answer that differs.
 */

typedef struct assumption {
    const unsigned char *question, *answer; /* point into the meta */
    size_t question_size, answer_size;
    int list; /* index of its list */
} assumption;

typedef struct reading {
    kiln__array_of(assumption) all;
    const kiln_alloc *alloc;
    kiln__reader reader;
} reading;

/* ---- the parts of a meta ---- */

static void read_nothing(kiln__reader *reader)
{
    (void)reader;
}

static void read_text(kiln__reader *reader)
{
    (void)kiln__read_text(reader);
}

static void read_digest(kiln__reader *reader)
{
    (void)kiln__read_digest(reader);
}

static void read_type(kiln__reader *reader)
{
    read_text(reader);
    read_digest(reader);
}

static void read_query(kiln__reader *reader)
{
    (void)kiln__read_u64(reader);
    (void)kiln__read_bytes(reader);
}

static void read_site(kiln__reader *reader)
{
    read_text(reader);
    (void)kiln__read_u64(reader);
}

static void read_signature(kiln__reader *reader)
{
    size_t count;

    read_text(reader);
    read_text(reader);
    count = kiln__read_count(reader, 1);
    for (size_t i = 0; i < count; i++)
        read_type(reader);
}

static void read_identity_and_type(kiln__reader *reader)
{
    read_digest(reader);
    read_type(reader);
}

typedef void (*read_fn)(kiln__reader *reader);

/* In the order in which they are in the meta. */
static const struct list {
    read_fn question, answer;
} lists[] = {
    {read_query, read_digest},                /* queries */
    {read_text, read_digest},                 /* uses */
    {read_site, read_nothing},                /* sites */
    {read_signature, read_identity_and_type}, /* callees */
    {read_signature, read_identity_and_type}, /* dependencies */
};

static void read_head(kiln__reader *reader)
{
    reader->failed |= kiln__read_u64(reader) != KILN__META_INSTANCE;
    read_digest(reader);
    read_digest(reader);
    read_text(reader);
    read_type(reader);
    (void)kiln__read_u64(reader);
}

/* ---- comparing ---- */

static int read_list(reading *r, int number)
{
    kiln__reader *reader = &r->reader;
    const size_t count = kiln__read_count(reader, 1);

    for (size_t i = 0; i < count && !reader->failed; i++) {
        assumption one = {.question = reader->bytes, .list = number};

        lists[number].question(reader);
        one.answer = reader->bytes;
        lists[number].answer(reader);
        one.question_size = (size_t)(one.answer - one.question);
        one.answer_size = (size_t)(reader->bytes - one.answer);
        if (!kiln__array_push(r->alloc, &r->all, one))
            return 0;
    }
    return !reader->failed;
}

static int read_all(reading *r, const kiln__entry *entry)
{
    kiln__reader_init(&r->reader, entry->meta, entry->meta_size);
    read_head(&r->reader);
    for (int i = 0; i < (int)(sizeof lists / sizeof *lists); i++)
        if (!read_list(r, i))
            return 0;
    return kiln__reader_is_done(&r->reader);
}

static int contradicts(const assumption *a, const assumption *b)
{
    return a->list == b->list && a->question_size == b->question_size &&
           memcmp(a->question, b->question, a->question_size) == 0 &&
           (a->answer_size != b->answer_size ||
            memcmp(a->answer, b->answer, a->answer_size) != 0);
}

static int any_contradicts(const reading *a, const reading *b)
{
    for (size_t i = 0; i < a->all.count; i++)
        for (size_t j = 0; j < b->all.count; j++)
            if (contradicts(&a->all.items[i], &b->all.items[j]))
                return 1;
    return 0;
}

int kiln__entries_of_two_programs(const kiln_alloc *alloc, const kiln__entry *a,
                                  const kiln__entry *b)
{
    reading of_a = {.alloc = alloc}, of_b = {.alloc = alloc};
    const int result = read_all(&of_a, a) && read_all(&of_b, b) &&
                       any_contradicts(&of_a, &of_b);

    kiln__array_dispose(alloc, &of_a.all);
    kiln__array_dispose(alloc, &of_b.all);
    return result;
}
