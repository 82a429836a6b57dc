/* query.c - the questions of inference as bytes, and their answers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "base/system/stack.h"
#include "context/keys/settings.h"
#include "context/types/types.h"
#include "frontend/program/program_tables.h"

/*
 * A query is a letter and NUL-terminated texts, so that it means the same in
 * every process:
 *
 *   D main.dot (letter)f32[:] (letter)f32 ...   which method does a call get?
 *               t: a type, i: an integer literal, f: a float literal
 *   B main STEPS                                what does a name mean?
 *   O core.*                                    may methods of the operator (of
 *                                               any, if none is named) take
 *                                               only built-in types?
 *
 * Which overlay tables count is a setting that inference reads. It is in the
 * owner token, and the config of a question has it, too.
 *
 * Asking on behalf of an inference records the question with it. A question
 * whose answer can never change is not recorded: names of built-in types are
 * reserved in every package.
 */
#define DISPATCH 'D'
#define BINDING 'B'
#define OPERATOR 'O'

static const char literal_letters[] = {
    [KILN__LITERAL_NONE] = 't',
    [KILN__LITERAL_INTEGER] = 'i',
    [KILN__LITERAL_FLOAT] = 'f',
};

/* Bytes on the stack, or in the heap when the stack's are not enough. */
typedef struct question {
    const kiln_alloc *alloc;
    char *bytes;
    size_t size;
    size_t capacity;
    int failed;
    char room[1024];
} question;

static void question_init(question *q, const kiln_alloc *alloc)
{
    q->alloc = alloc;
    q->bytes = q->room;
    q->size = 0;
    q->capacity = sizeof q->room;
    q->failed = 0;
}

static void question_dispose(question *q)
{
    if (q->bytes != q->room)
        kiln__deallocate(q->alloc, q->bytes, q->capacity);
}

static int question_reserve(question *q, size_t extra)
{
    size_t capacity = 2 * (q->size + extra);
    char *bytes;

    if (q->failed || q->capacity - q->size >= extra)
        return !q->failed;
    bytes = kiln__allocate(q->alloc, capacity);
    if (bytes == NULL) {
        q->failed = 1;
        return 0;
    }
    memcpy(bytes, q->bytes, q->size);
    question_dispose(q);
    q->bytes = bytes;
    q->capacity = capacity;
    return 1;
}

static void question_letter(question *q, char letter)
{
    if (question_reserve(q, 1))
        q->bytes[q->size++] = letter;
}

static void question_text(question *q, const char *text)
{
    const size_t size = strlen(text) + 1;

    if (question_reserve(q, size)) {
        memcpy(q->bytes + q->size, text, size);
        q->size += size;
    }
}

static kiln_digest ambiguous_digest(void)
{
    return kiln__digest_text("ambiguous");
}

/* A failure to record fails the caller; an answer "not found" does not. */
static kiln_status record(const kiln__facts *facts, question *q,
                          uint64_t subject, kiln_digest answer)
{
    kiln_query query = {.subject = subject,
                        .data = q->bytes,
                        .size = q->size,
                        .answer = answer};
    kiln_status status = KILN_ENOMEM;

    if (!q->failed)
        status = kiln_inference_add_query(facts->inference, &query);
    question_dispose(q);
    return status;
}

/* ---- asking ---- */

static kiln_digest dispatch_answer(kiln_status status, const kiln__match *match)
{
    if (status == KILN_OK)
        return match->method->digest;
    return status == KILN_ECOMPILE ? ambiguous_digest() : (kiln_digest){0};
}

kiln_status kiln__query_root(kiln_digest *out, const kiln__generic *generic,
                             const kiln__argument *arguments, size_t count,
                             const char *overlays, uint64_t world)
{
    kiln__match match;
    const kiln_status status =
        kiln__dispatch(&match, generic, arguments, count, overlays, world);

    *out = (kiln_digest){0};
    if (kiln__is_shortage(status))
        return status;
    if (status == KILN_OK)
        *out = match.method->digest;
    return KILN_OK;
}

kiln_status kiln__ask_method(kiln__match *out, kiln__facts *facts,
                             const kiln__generic *generic,
                             const kiln__argument *arguments, size_t count)
{
    const kiln_status found = kiln__dispatch(out, generic, arguments, count,
                                             facts->overlays, facts->world);
    kiln_status recorded;
    question q;

    if (kiln__is_shortage(found) || facts->inference == NULL)
        return found;
    question_init(&q, generic->package->language->alloc);
    question_letter(&q, DISPATCH);
    question_text(&q, kiln_function_name(generic->function));
    for (size_t i = 0; i < count; i++) {
        question_letter(&q, literal_letters[arguments[i].literal]);
        question_text(&q, arguments[i].type->text);
    }
    recorded = record(facts, &q, generic->subject, dispatch_answer(found, out));
    return recorded != KILN_OK ? recorded : found;
}

kiln_status kiln__ask_signature(kiln__match *out, kiln__facts *facts,
                                const kiln_signature *signature)
{
    kiln__argument arguments[KILN_ARGUMENTS_MAX];

    for (size_t i = 0; i < signature->count; i++)
        arguments[i] =
            (kiln__argument){signature->types[i], KILN__LITERAL_NONE};
    return kiln__ask_method(out, facts, kiln_function_data(signature->function),
                            arguments, signature->count);
}

/* ---- names ---- */

/* Called with the world lock held. */
static kiln_digest binding_answer(const kiln_package *package, const char *name,
                                  uint64_t world, kiln__binding *out)
{
    const kiln__version *version = kiln__name_meaning(package, name, world);

    if (version == NULL)
        return (kiln_digest){0};
    *out = version->binding;
    return version->digest;
}

static int is_for_ever(const kiln__binding *binding)
{
    return binding->kind == KILN__BINDING_SCALAR ||
           (binding->kind == KILN__BINDING_TYPE &&
            binding->named->package == NULL);
}

static kiln_status record_binding(const kiln__facts *facts,
                                  const kiln_package *package, const char *name,
                                  uint64_t subject, kiln_digest answer)
{
    question q;

    question_init(&q, facts->language->alloc);
    question_letter(&q, BINDING);
    question_text(&q, package->name);
    question_text(&q, name);
    return record(facts, &q, subject, answer);
}

kiln_status kiln__ask_binding(kiln__binding *out, kiln__facts *facts,
                              const kiln_package *package, const char *name)
{
    kiln_status status = KILN_OK;
    uint64_t subject;
    kiln_digest answer;

    *out = (kiln__binding){0};
    kiln__language_read(facts->language);
    answer = binding_answer(package, name, facts->world, out);
    subject = kiln__binding_subject(package, name);
    kiln__language_unlock(facts->language);
    if (facts->inference != NULL && !is_for_ever(out))
        status = record_binding(facts, package, name, subject, answer);
    if (status != KILN_OK)
        return status;
    return out->kind == KILN__BINDING_NONE ? KILN_ENOTFOUND : KILN_OK;
}

/* Recording a type's name covers its parent. A slot that means something else
   now keeps its last type (kiln__slot_type) until it means another one. */
void kiln__ask_above(kiln__facts *facts, const kiln__named_type *named)
{
    const kiln__slot *slot = named->slot;
    kiln__binding binding;
    kiln_digest answer;

    if (facts->inference == NULL || named->package == NULL)
        return;
    answer = binding_answer(slot->package, slot->name, facts->world, &binding);
    if (record_binding(facts, slot->package, slot->name, slot->subject,
                       answer) != KILN_OK)
        facts->failed = 1;
}

/* ---- operators ---- */

static kiln_digest operator_answer(int is_replaced)
{
    return is_replaced ? kiln__digest_text("replaced") : (kiln_digest){0};
}

static kiln_status record_operator(const kiln__facts *facts, const char *name,
                                   uint64_t subject, int is_replaced)
{
    question q;

    if (facts->inference == NULL)
        return KILN_OK;
    question_init(&q, facts->language->alloc);
    question_letter(&q, OPERATOR);
    question_text(&q, name);
    return record(facts, &q, subject, operator_answer(is_replaced));
}

/* Usually no operator is replaced at all, so one question is asked for all of
   them. */
static kiln_status ask_any_operator(kiln__facts *facts)
{
    const kiln__language *language = facts->language;
    int any;

    kiln__language_read(facts->language);
    any = kiln__operators_are_replaced(language, facts->overlays, facts->world);
    kiln__language_unlock(facts->language);
    facts->asked = any ? KILN__ASKED_ANY : UINT32_MAX;
    return record_operator(facts, "", KILN__OPERATORS_SUBJECT, any);
}

static kiln_status ask_operator(kiln__facts *facts, uint32_t builtin)
{
    const kiln__generic *generic = facts->language->operators[builtin];
    int replaced;

    kiln__language_read(facts->language);
    replaced =
        kiln__operator_is_replaced(generic, facts->overlays, facts->world);
    kiln__language_unlock(facts->language);
    facts->asked |= (uint32_t)1 << builtin;
    facts->replaced |= (uint32_t)replaced << builtin;
    return record_operator(facts, kiln_function_name(generic->function),
                           generic->subject, replaced);
}

kiln_status kiln__ask_operator(int *replaced, kiln__facts *facts,
                               uint32_t builtin)
{
    if (facts->asked == 0)
        KILN_TRY(ask_any_operator(facts));
    if ((facts->asked >> builtin & 1) == 0)
        KILN_TRY(ask_operator(facts, builtin));
    *replaced = (int)(facts->replaced >> builtin & 1);
    return KILN_OK;
}

/* ---- answering ---- */

/* The rest of a question. Texts are checked for their NUL. */
typedef struct reading {
    const char *bytes;
    size_t size;
} reading;

static const char *read_text(reading *r)
{
    const char *text = r->bytes;
    const char *end = r->size == 0 ? NULL : memchr(text, '\0', r->size);

    if (end == NULL)
        return NULL;
    r->size -= (size_t)(end - text) + 1;
    r->bytes = end + 1;
    return text;
}

static int literal_of(char letter, int32_t *out)
{
    for (size_t i = 0; i < sizeof literal_letters; i++)
        if (literal_letters[i] == letter) {
            *out = (int32_t)i;
            return 1;
        }
    return 0;
}

static const kiln__generic *find_generic(kiln__language *language,
                                         const char *qualified)
{
    const kiln__generic *generic;

    kiln__language_read(language);
    generic = kiln__generic_get(language, qualified);
    kiln__language_unlock(language);
    return generic;
}

static kiln_status read_function_type(const kiln_type **out,
                                      kiln__language *language,
                                      const char *text)
{
    const size_t size = strlen(text), prefix = strlen("typeof(");
    const kiln__generic *generic = NULL;
    char *name;

    if (size <= prefix || strncmp(text, "typeof(", prefix) != 0 ||
        text[size - 1] != ')')
        return KILN_ENOTFOUND;
    name =
        kiln__string_copy_n(language->alloc, text + prefix, size - prefix - 1);
    if (name == NULL)
        return KILN_ENOMEM;
    generic = find_generic(language, name);
    kiln__string_free(language->alloc, name);
    if (generic == NULL)
        return KILN_ENOTFOUND;
    return kiln_type_function(out, language->context, generic->function, NULL);
}

kiln_status kiln__query_type(const kiln_type **out, kiln__language *language,
                             const char *text, uint64_t world)
{
    kiln_status status = read_function_type(out, language, text);

    if (status == KILN_ENOTFOUND)
        status = kiln__type_parse_at(out, language->context, NULL, text, world,
                                     NULL);
    return status == KILN_OK || kiln__is_shortage(status) ? status
                                                          : KILN_ENOTFOUND;
}

/* KILN_ENOTFOUND: a type is gone, so the call can get no method. */
static kiln_status read_arguments(kiln__argument *arguments, size_t *count,
                                  kiln__language *language, reading *r,
                                  uint64_t world)
{
    for (*count = 0; r->size > 0; (*count)++) {
        const char letter = *r->bytes;
        const char *text;

        r->bytes++;
        r->size--;
        text = read_text(r);
        if (text == NULL || *count == KILN_ARGUMENTS_MAX ||
            !literal_of(letter, &arguments[*count].literal))
            return KILN_ECORRUPT;
        KILN_TRY(
            kiln__query_type(&arguments[*count].type, language, text, world));
    }
    return KILN_OK;
}

static kiln_status answer_dispatch(kiln__language *language, reading *r,
                                   const kiln_config *config, uint64_t world,
                                   kiln_digest *out)
{
    kiln__argument arguments[KILN_ARGUMENTS_MAX];
    const char *name = read_text(r);
    const kiln__generic *generic;
    kiln__match match;
    kiln_status status;
    size_t count;

    if (name == NULL)
        return KILN_ECORRUPT;
    generic = find_generic(language, name);
    status = read_arguments(arguments, &count, language, r, world);
    if (status == KILN_ENOTFOUND || (status == KILN_OK && generic == NULL))
        return KILN_OK;
    KILN_TRY(status);
    status = kiln__dispatch(&match, generic, arguments, count,
                            config == NULL ? NULL : config->overlays, world);
    if (kiln__is_shortage(status))
        return status;
    *out = dispatch_answer(status, &match);
    return KILN_OK;
}

static kiln_status answer_binding(kiln__language *language, reading *r,
                                  uint64_t world, kiln_digest *out)
{
    const char *package_name = read_text(r), *name = read_text(r);
    const kiln_package *package;
    kiln__binding binding;

    if (package_name == NULL || name == NULL || r->size != 0)
        return KILN_ECORRUPT;
    kiln__language_read(language);
    package = kiln__package_get(language, package_name, strlen(package_name));
    if (package != NULL && package->loaded)
        *out = binding_answer(package, name, world, &binding);
    kiln__language_unlock(language);
    return KILN_OK;
}

static kiln_status answer_operator(kiln__language *language, reading *r,
                                   const kiln_config *config, uint64_t world,
                                   kiln_digest *out)
{
    const char *overlays = config == NULL ? NULL : config->overlays;
    const char *name = read_text(r);
    const kiln__generic *generic;
    int replaced;

    if (name == NULL || r->size != 0)
        return KILN_ECORRUPT;
    kiln__language_read(language);
    generic = kiln__generic_get(language, name);
    replaced = *name == '\0'
                   ? kiln__operators_are_replaced(language, overlays, world)
                   : generic != NULL &&
                         kiln__operator_is_replaced(generic, overlays, world);
    kiln__language_unlock(language);
    *out = operator_answer(replaced);
    return KILN_OK;
}

kiln_status kiln__query_answer(kiln__language *language, const void *query,
                               size_t size, const kiln_config *config,
                               uint64_t world, kiln_digest *out)
{
    reading r = {query, size};
    char letter;

    *out = (kiln_digest){0};
    if (size == 0)
        return KILN_ECORRUPT;
    KILN_TRY(kiln__language_ready(language, NULL));
    letter = *r.bytes;
    r.bytes++;
    r.size--;
    if (letter == DISPATCH)
        return answer_dispatch(language, &r, config, world, out);
    if (letter == BINDING)
        return answer_binding(language, &r, world, out);
    if (letter == OPERATOR)
        return answer_operator(language, &r, config, world, out);
    return KILN_ECORRUPT;
}
