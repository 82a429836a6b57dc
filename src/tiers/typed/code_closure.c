/* code_closure.c - lists what a code instance calls and depends on,
 * transitively. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/map.h"
#include "base/digest/digest.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_state.h"

/*
 * Two instances of one signature may be valid in one world: for example, if one
 * of them was inferred in a held older world after the other, or was ended
 * earlier than necessary. The callers of both may be in one closure. The two
 * then have one digest and are one function of the closure. The first one found
 * represents both, so that equal digests give equal lists.
 */
typedef struct closure {
    const kiln_alloc *alloc;
    kiln__array_of(const kiln_code *) list;
    kiln__map seen;
    int with_depends;
} closure;

kiln_digest kiln__code_key(const kiln_code *code)
{
    return kiln__map_key((uintptr_t)code->instance,
                         kiln__digest_word(code->digest));
}

int kiln__codes_are_one(const kiln_code *a, const kiln_code *b)
{
    return a == b || (a->instance == b->instance &&
                      kiln__digest_equal(a->digest, b->digest));
}

/* In a list of dependencies, each of two such instances is listed, because each
   has asked queries of its own. */
static kiln_digest key_of(const closure *c, const kiln_code *code)
{
    return c->with_depends ? kiln__map_key((uintptr_t)code, 0)
                           : kiln__code_key(code);
}

static int add(closure *c, kiln_code *code)
{
    const kiln_digest key = key_of(c, code);

    return kiln__map_get(&c->seen, key) != NULL ||
           (kiln__map_set(&c->seen, key, code) &&
            kiln__array_push(c->alloc, &c->list, (const kiln_code *)code));
}

static int add_all(closure *c, const kiln__code_list *edges)
{
    for (size_t i = 0; i < edges->count; i++)
        if (!add(c, edges->items[i]))
            return 0;
    return 1;
}

/* The order matters: a callee comes after the first caller that names it, so
   that equal programs give equal lists. */
static kiln_status close_over(const kiln_code ***out, size_t *count,
                              const kiln_code *root, int with_depends)
{
    closure c = {.alloc = &root->context->alloc, .with_depends = with_depends};
    int good;

    kiln__map_init(&c.seen, c.alloc);
    good = add(&c, (kiln_code *)(uintptr_t)root);
    for (size_t at = 0; good && at < c.list.count; at++) {
        const kiln_code *code = c.list.items[at];

        good = add_all(&c, &code->callees) &&
               (!with_depends || add_all(&c, &code->depends));
    }
    if (good)
        *out =
            kiln__allocate_array(c.alloc, c.list.count, sizeof *c.list.items);
    good = good && *out != NULL;
    if (good) {
        memcpy(*out, c.list.items, c.list.count * sizeof *c.list.items);
        *count = c.list.count;
    }
    kiln__map_dispose(&c.seen);
    kiln__array_dispose(c.alloc, &c.list);
    return good ? KILN_OK : KILN_ENOMEM;
}

kiln_status kiln__code_closure(const kiln_code ***out, size_t *count,
                               const kiln_code *root)
{
    return close_over(out, count, root, 0);
}

kiln_status kiln__code_dependencies(const kiln_code ***out, size_t *count,
                                    const kiln_code *root)
{
    return close_over(out, count, root, 1);
}

/* ---- the view of lower() ---- */

static _Thread_local const kiln__lower_call *lowered;

void kiln__lower_call_begin(kiln__lower_call *out,
                            const kiln_code *const *codes, size_t count)
{
    *out = (kiln__lower_call){codes, count, lowered};
    lowered = out;
}

void kiln__lower_call_end(const kiln__lower_call *lowering)
{
    lowered = lowering->around;
}

const kiln_code *kiln__code_as_lowered(const kiln_code *code)
{
    for (size_t i = 0; lowered != NULL && i < lowered->count; i++)
        if (kiln__codes_are_one(lowered->codes[i], code))
            return lowered->codes[i];
    return code;
}
