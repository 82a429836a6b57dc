/* cache_explain.c - explains why stores do not have what a job wants. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/keys/key.h"
#include "pipeline/cache_tools/cache_entries.h"
#include "pipeline/job_keys.h"
#include "tiers/binary/artifact_meta.h"
#include "tiers/binary/deferred.h"
#include "tiers/entry_describe.h"
#include "tiers/frontends.h"

/*
 * Keys are lists of named fields. Each entry of the wanted kind is compared
 * with the job's key, field by field. The nearest entry is one of the same
 * function, if there is one, and the one with the fewest different fields; of
 * several, the one that was used last.
 */

typedef struct field {
    char *name;
    char *value;
} field;

typedef kiln__array_of(field) field_list;

typedef kiln__array_of(kiln_cache_difference) difference_list;

typedef struct nearest {
    kiln_cache_entry entry; /* its texts are in `texts` */
    char *texts[6];
    field_list fields;
    size_t differing;
    kiln_digest typed; /* the digest that the entry leads to, or zero */
    int is_named;
    int is_there;
} nearest;

typedef struct explaining {
    kiln_context *context;
    const kiln_alloc *alloc;
    const char *name; /* of the function, including "(" */
    const kiln__job_key *wanted;
    field_list fields; /* of the wanted key */
    nearest best;
    nearest bad;        /* the entry of this very key, if it is rejected */
    kiln__text session; /* why the binary is not stored; empty: unknown */
    char checked[1024]; /* why it was run with all checks; empty: it was not */
    const kiln_frontend *frontend;
    kiln_cache_answer_fn see;
    void *env;
    int failed;
} explaining;

/* ---- fields ---- */

typedef struct collecting {
    field_list *out;
    const kiln_alloc *alloc;
    int failed;
} collecting;

static void collect(void *env, const char *section, const char *name,
                    const char *value)
{
    collecting *c = env;
    field made = {kiln__string_copy(c->alloc, name),
                  kiln__string_copy(c->alloc, value)};

    (void)section;
    if (made.name != NULL && made.value != NULL &&
        kiln__array_push(c->alloc, c->out, made))
        return;
    c->failed = 1;
    kiln__string_free(c->alloc, made.name);
    kiln__string_free(c->alloc, made.value);
}

static int fields_of(field_list *out, const kiln_alloc *alloc,
                     const kiln_key *key)
{
    collecting c = {out, alloc, 0};

    return kiln__key_describe(alloc, key->encoded, key->encoded_size, collect,
                              &c) == KILN_OK &&
           !c.failed;
}

static void fields_free(field_list *fields, const kiln_alloc *alloc)
{
    for (size_t i = 0; i < fields->count; i++) {
        kiln__string_free(alloc, fields->items[i].name);
        kiln__string_free(alloc, fields->items[i].value);
    }
    kiln__array_dispose(alloc, fields);
}

static const char *value_of(const field_list *fields, const char *name)
{
    for (size_t i = 0; i < fields->count; i++)
        if (strcmp(fields->items[i].name, name) == 0)
            return fields->items[i].value;
    return NULL;
}

/* Returns how many fields of the first list are missing in the second, or have
   another value there. */
static size_t count_differing(const field_list *a, const field_list *b)
{
    size_t count = 0;

    for (size_t i = 0; i < a->count; i++) {
        const char *other = value_of(b, a->items[i].name);

        count += other == NULL || strcmp(other, a->items[i].value) != 0;
    }
    for (size_t i = 0; i < b->count; i++)
        count += value_of(a, b->items[i].name) == NULL;
    return count;
}

/* ---- the nearest entry ---- */

static void nearest_free(nearest *best, const kiln_alloc *alloc)
{
    fields_free(&best->fields, alloc);
    for (size_t i = 0; i < sizeof best->texts / sizeof *best->texts; i++)
        kiln__string_free(alloc, best->texts[i]);
    *best = (nearest){0};
}

static int is_nearer(const nearest *a, const nearest *b)
{
    if (!b->is_there || a->is_named != b->is_named)
        return !b->is_there || a->is_named;
    if (a->differing != b->differing)
        return a->differing < b->differing;
    return a->entry.used_s > b->entry.used_s;
}

/* Copies what the entry shows. */
static int keep_nearest(nearest *to, const kiln_cache_entry *entry,
                        const kiln_alloc *alloc)
{
    const char **const shown[] = {&to->entry.place,  &to->entry.path,
                                  &to->entry.kind,   &to->entry.name,
                                  &to->entry.target, &to->entry.toolchain};

    to->entry = *entry;
    to->entry.private_data = NULL;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        to->texts[i] = kiln__string_copy(alloc, *shown[i]);
        *shown[i] = to->texts[i];
        if (to->texts[i] == NULL)
            return 0;
    }
    to->is_there = 1;
    return 1;
}

/* Of a rejected entry only the place is known. */
static kiln_status note_bad(explaining *e, const kiln_cache_entry *entry,
                            kiln_error **error)
{
    if (e->bad.is_there ||
        !kiln__digest_equal(entry->digest, e->wanted->key.digest) ||
        keep_nearest(&e->bad, entry, e->alloc))
        return KILN_OK;
    return kiln__error_no_memory(error);
}

/* Notes why the second body of the wanted binary was made, if it was. */
static void note_checked(explaining *e, const kiln__entry *entry)
{
    const kiln_artifact *artifact = NULL;
    kiln__deferred deferred;
    kiln__arena arena;

    if (!kiln__digest_equal(entry->key.digest, e->wanted->key.digest) ||
        kiln__artifact_decode(&artifact, e->alloc, entry) != KILN_OK)
        return;
    kiln__arena_init(&arena, e->alloc);
    if (artifact->deferred_size > 0 &&
        kiln__deferred_read(&deferred, &arena, artifact) == KILN_OK &&
        deferred.unproved > 0)
        kiln__deferred_reason(e->checked, sizeof e->checked, &deferred,
                              deferred.unproved, e->frontend);
    kiln__arena_dispose(&arena);
    kiln_artifact_release(artifact);
}

static kiln_status compare(void *env, const kiln__cache_seen *seen,
                           kiln_error **error)
{
    explaining *e = env;
    const kiln__entry *entry = &seen->seen->stored.entry;
    nearest candidate = {.entry = seen->shown};
    int is_kept = 0, is_good;

    if (seen->shown.fault != NULL)
        return note_bad(e, &seen->shown, error);
    if (e->wanted->kind == KILN__ENTRY_BINARY)
        (void)kiln__session_reason(&e->session, entry, e->wanted->key.digest);
    if (entry->kind != e->wanted->kind)
        return KILN_OK;
    if (entry->kind == KILN__ENTRY_BINARY)
        note_checked(e, entry);
    candidate.typed = kiln__entry_typed(entry);
    is_good = fields_of(&candidate.fields, e->alloc, &entry->key);
    candidate.is_named =
        strncmp(seen->shown.name, e->name, strlen(e->name)) == 0;
    candidate.differing = count_differing(&e->fields, &candidate.fields);
    if (is_good && is_nearer(&candidate, &e->best)) {
        is_good = keep_nearest(&candidate, &seen->shown, e->alloc);
        is_kept = is_good;
    }
    if (is_kept) {
        nearest_free(&e->best, e->alloc);
        e->best = candidate;
    } else {
        nearest_free(&candidate, e->alloc);
    }
    return is_good ? KILN_OK : kiln__error_no_memory(error);
}

/* ---- reporting ---- */

static int add_difference(difference_list *out, const kiln_alloc *alloc,
                          const char *name, const char *wanted,
                          const char *found)
{
    const kiln_cache_difference made = {name, wanted, found,
                                        wanted == NULL || found == NULL ||
                                            strcmp(wanted, found) != 0};

    return kiln__array_push(alloc, out, made);
}

static int differences(difference_list *out, const explaining *e,
                       const field_list *found)
{
    const field_list *wanted = &e->fields;
    int good = 1;

    for (size_t i = 0; good && i < wanted->count; i++)
        good = add_difference(out, e->alloc, wanted->items[i].name,
                              wanted->items[i].value,
                              value_of(found, wanted->items[i].name));
    for (size_t i = 0; good && i < found->count; i++)
        if (value_of(wanted, found->items[i].name) == NULL)
            good = add_difference(out, e->alloc, found->items[i].name, NULL,
                                  found->items[i].value);
    return good;
}

static int32_t verdict_of(const explaining *e)
{
    const nearest *best = &e->best;

    if (!kiln__stores_read(e->context, e->wanted->kind))
        return KILN_CACHE_UNREAD;
    if (e->bad.is_there && (!best->is_there || best->differing > 0))
        return KILN_CACHE_BAD;
    if (!best->is_there)
        return KILN_CACHE_ABSENT;
    if (best->differing > 0)
        return KILN_CACHE_NEAREST;
    return kiln__digest_is_zero(best->typed) ||
                   kiln__digest_equal(best->typed, e->wanted->typed)
               ? KILN_CACHE_FOUND
               : KILN_CACHE_STALE;
}

static kiln_status tell(const explaining *e, kiln_error **error)
{
    const field_list unknown = {0};
    difference_list list = {0};
    kiln_cache_answer answer = {
        .size = sizeof answer,
        .kind = kiln__entry_kind_text(e->wanted->kind),
        .wanted = e->wanted->key.digest,
        .found = verdict_of(e),
    };
    const nearest *near = answer.found == KILN_CACHE_BAD ? &e->bad : &e->best;
    int good;

    if (near->is_there && answer.found != KILN_CACHE_UNREAD)
        answer.nearest = &near->entry;
    good = differences(&list, e,
                       answer.nearest != NULL ? &near->fields : &unknown);
    /* A later toolchain may have made a binary that can be stored. */
    if (answer.found != KILN_CACHE_FOUND && e->session.size > 0)
        answer.session = e->session.bytes;
    if (answer.found == KILN_CACHE_FOUND && e->checked[0] != '\0')
        answer.checked = e->checked;
    answer.fields = list.items;
    answer.field_count = list.count;
    if (good)
        e->see(e->env, &answer);
    kiln__array_dispose(e->alloc, &list);
    return good ? KILN_OK : kiln__error_no_memory(error);
}

static kiln_status explain_key(void *env, const kiln__job_key *wanted)
{
    explaining *e = env;
    kiln_cache_filter filter = KILN_CACHE_FILTER_INIT;
    const kiln__cache_walk walk = {
        .alloc = e->alloc, .filter = &filter, .see = compare, .env = e};
    kiln_status status = KILN_ENOMEM;

    e->wanted = wanted;
    e->checked[0] = '\0';
    kiln__text_init(&e->session, e->alloc);
    if (fields_of(&e->fields, e->alloc, &wanted->key))
        status = kiln__cache_walk_all(e->context, &walk, NULL);
    if (e->session.failed)
        status = KILN_ENOMEM;
    if (status == KILN_OK)
        status = tell(e, NULL);
    kiln__text_dispose(&e->session);
    fields_free(&e->fields, e->alloc);
    nearest_free(&e->best, e->alloc);
    nearest_free(&e->bad, e->alloc);
    return status;
}

kiln_status kiln_cache_explain(kiln_context *context,
                               const kiln_signature *signature,
                               const kiln_config *config,
                               kiln_cache_answer_fn see, void *env,
                               kiln_error **error)
{
    explaining e = {.context = context, .see = see, .env = env};
    kiln__text name;
    kiln_status status;

    KILN_REQUIRE(see != NULL, error);
    KILN_TRY(kiln__request_check(context, signature, config, error));
    e.alloc = &context->alloc;
    e.frontend = signature->function->frontend;
    kiln__text_init(&name, e.alloc);
    kiln__text_add(&name, kiln_function_name(signature->function));
    kiln__text_add(&name, "(");
    e.name = name.bytes;
    status = name.failed ? kiln__error_no_memory(error)
                         : kiln__job_keys(context, signature, config,
                                          explain_key, &e, error);
    kiln__text_dispose(&name);
    return status;
}
