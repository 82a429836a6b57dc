/* code_digest.c - computes the digests of code instances. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "context/types/types.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/method_instance.h"

/*
 * A code instance has two digests. The typed digest covers everything from
 * which Kiln makes code: typed IR, what the code takes from elsewhere, and the
 * typed digests of its callees. It contains no names but those in the IR, so
 * two functions with equal IR share their code. The identity covers everything
 * that the accessors of kiln/compile.h show of the instance and of its callees,
 * except numbers of worlds, which mean nothing elsewhere: what others make from
 * an instance may depend on any of it. A frontend with its own lower() is such
 * a case: its instances have no typed digest of that kind, but one of the
 * identity and of the settings that inference and lower() read.
 *
 * A digest of a cycle covers every member, so that when one member changes, all
 * digests change. Members are sorted by their content only. Calls inside the
 * cycle are encoded as positions in that order, calls out of it as digests.
 */

typedef struct sealing {
    kiln_code **group;
    size_t count;
    kiln__encoder encoder;
} sealing;

/* ---- the order ---- */

static int by_types(const kiln__instance *a, const kiln__instance *b)
{
    int order = 0;

    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (size_t i = 0; order == 0 && i < a->count; i++)
        order = memcmp(&a->types[i]->id, &b->types[i]->id, sizeof(kiln_digest));
    return order;
}

/* No two members are equal, because one inference has one result for an
   instance. */
static int by_content(const void *left, const void *right)
{
    const kiln_code *a = *(kiln_code *const *)left;
    const kiln_code *b = *(kiln_code *const *)right;
    int order = strcmp(a->name, b->name);

    if (order)
        return order;
    if (a->ir_size != b->ir_size)
        return a->ir_size < b->ir_size ? -1 : 1;
    if (a->ir_size)
        order = memcmp(a->ir, b->ir, a->ir_size);
    if (order == 0)
        order = strcmp(a->frontend->name, b->frontend->name);
    if (order == 0)
        order =
            strcmp(a->instance->function->name, b->instance->function->name);
    return order ? order : by_types(a->instance, b->instance);
}

/* ---- what is in a digest ---- */

typedef kiln_digest (*digest_of)(const kiln_code *code);

static kiln_digest typed_of(const kiln_code *code)
{
    return code->digest;
}

static kiln_digest identity_of(const kiln_code *code)
{
    return code->identity;
}

static void encode_callees(sealing *s, const kiln_code *member, digest_of of)
{
    kiln__encode_u64(&s->encoder, member->callees.count);
    for (size_t i = 0; i < member->callees.count; i++) {
        size_t at = 0;

        while (at < s->count && s->group[at] != member->callees.items[i])
            at++;
        if (at < s->count)
            kiln__encode_u64(&s->encoder, at);
        else
            kiln__encode_digest(&s->encoder, of(member->callees.items[i]));
    }
}

/* Code without such edges is encoded as if edges of this kind did not exist.
   The text written first separates them from sites. */
static void encode_depends(kiln__encoder *encoder, const kiln_code *member,
                           digest_of of)
{
    if (member->depends.count == 0)
        return;
    kiln__encode_text(encoder, "depends");
    for (size_t i = 0; i < member->depends.count; i++)
        kiln__encode_digest(encoder, of(member->depends.items[i]));
}

/* Code without sites is encoded as if sites did not exist. */
static void encode_sites(kiln__encoder *encoder, const kiln_code *member)
{
    if (member->sites.count == 0)
        return;
    kiln__encode_u64(encoder, member->sites.count);
    for (size_t i = 0; i < member->sites.count; i++) {
        kiln__encode_text(encoder, member->sites.items[i].name);
        kiln__encode_u64(encoder, (uint64_t)member->sites.items[i].kind);
    }
}

static void encode_typed(sealing *s, const kiln_code *member)
{
    kiln__encode_text(&s->encoder, member->frontend->name);
    kiln__encode_bytes(&s->encoder, member->ir, member->ir_size);
    encode_callees(s, member, typed_of);
    kiln__encode_u64(&s->encoder, member->uses.count);
    for (size_t i = 0; i < member->uses.count; i++)
        kiln__encode_digest(&s->encoder, member->uses.items[i].digest);
    encode_sites(&s->encoder, member);
    encode_depends(&s->encoder, member, typed_of);
}

/* Encoded after the typed digest. */
static void encode_identity(sealing *s, const kiln_code *member)
{
    const kiln__instance *instance = member->instance;

    kiln__encode_digest(&s->encoder, member->digest);
    kiln__encode_text(&s->encoder, member->frontend->name);
    kiln__encode_text(&s->encoder, instance->function->name);
    kiln__encode_u64(&s->encoder, instance->count);
    for (size_t i = 0; i < instance->count; i++)
        kiln__type_encode(&s->encoder, instance->types[i]);
    kiln__encode_text(&s->encoder, member->name);
    kiln__encode_u64(&s->encoder, member->result != NULL);
    if (member->result != NULL)
        kiln__type_encode(&s->encoder, member->result);
    encode_callees(s, member, identity_of);
    encode_depends(&s->encoder, member, identity_of);
}

/* ---- sealing ---- */

static kiln_status digest_group(kiln_digest *out, sealing *s,
                                void (*encode)(sealing *s,
                                               const kiln_code *member))
{
    int failed;

    kiln__encoder_init(&s->encoder, &s->group[0]->context->alloc);
    for (size_t i = 0; i < s->count; i++)
        encode(s, s->group[i]);
    *out = kiln__encoder_digest(&s->encoder);
    failed = s->encoder.failed;
    kiln__encoder_dispose(&s->encoder);
    return failed ? KILN_ENOMEM : KILN_OK;
}

/* Computes a member's digest from the group's. */
static kiln_digest part_of(kiln_digest whole, size_t place, size_t count)
{
    return count > 1 ? kiln__digest_combine(whole, kiln__digest_number(place))
                     : whole;
}

kiln_status kiln__code_seal(kiln_code **group, size_t count)
{
    sealing s = {.group = group, .count = count};
    kiln_digest whole;

    if (count > 1)
        qsort(group, count, sizeof *group, by_content);
    KILN_TRY(digest_group(&whole, &s, encode_typed));
    for (size_t i = 0; i < count; i++)
        group[i]->digest = part_of(whole, i, count);
    KILN_TRY(digest_group(&whole, &s, encode_identity));
    for (size_t i = 0; i < count; i++) {
        kiln_code *code = group[i];

        code->identity = part_of(whole, i, count);
        if (code->frontend->ops.lower != NULL)
            code->digest =
                kiln__digest_combine(code->identity, code->instance->owner);
    }
    return KILN_OK;
}
