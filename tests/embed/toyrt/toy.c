/* toy.c - Toy's types, method tables and worlds, and its frontend for Kiln. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toy.h"

/* Shape is abstract; Ball and Box are made of floats, the rest is Kiln's. */
static const struct toy_type {
    const char *name;
    const char *parent;
    uint64_t floats;
} types[] = {{"f32", "Any", 0},
             {"f32[:]", "Any", 0},
             {"Shape", "Any", 0},
             {"Ball", "Shape", 1},
             {"Box", "Shape", 3}};

static const struct toy_type *type_find(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

static int is_a(const char *name, const char *of)
{
    const struct toy_type *type = type_find(name);

    return strcmp(name, of) == 0 || (type && is_a(type->parent, of));
}

/* ---- texts ---- */

static void split(toy_words *out, const char *text, size_t size)
{
    char *rest = out->text, *word;

    snprintf(out->text, sizeof out->text, "%.*s", (int)size, text);
    out->count = 0;
    while (out->count < TOY_WORDS && (word = strtok_r(rest, " ", &rest)))
        out->at[out->count++] = word;
}

/* FNV-1a: equal in all processes that define the same. */
static kiln_digest digest_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return (kiln_digest){hash, 1};
}

/* ---- methods ---- */

static size_t parameter_count(const toy_method *m)
{
    return m->head.count / 2 - 1;
}

static const char *parameter_type(const toy_method *m, size_t i)
{
    return m->head.at[2 * i + 3];
}

static int takes(const toy_method *m, const toy_words *call)
{
    size_t i = 0, count = parameter_count(m);

    while (i < count && i + 1 < call->count &&
           is_a(call->at[i + 1], parameter_type(m, i)))
        i++;
    return i == count && i + 1 == call->count &&
           strcmp(call->at[0], m->head.at[1]) == 0;
}

/* Overlays win, then narrower types, then what is newer. */
static int is_better(const toy_method *m, const toy_method *than)
{
    size_t i = 0, count = parameter_count(m);

    if (!than || !*m->table != !*than->table)
        return !than || *m->table;
    while (i < count && is_a(parameter_type(m, i), parameter_type(than, i)))
        i++;
    return i == count;
}

/* Reads one [typed] setting, the overlay tables, so owners differ by it. */
static const toy_method *dispatch(const toy *t, const char *text,
                                  const kiln_config *config, uint64_t world)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    const toy_method *best = NULL;
    toy_words call;

    split(&call, text, TOY_TEXT);
    kiln_config_get_options(&settings, config);
    for (const toy_method *m = t->methods; m; m = m->next)
        if (m->born <= world && world < m->died && takes(m, &call) &&
            strstr(settings.overlays, m->table) && is_better(m, best))
            best = m;
    return best;
}

/* The same meaning keeps the method, and moves only its place. */
static void publish(toy *t, toy_method *m, kiln_change_report *report)
{
    toy_method *old = t->methods;

    while (old && (old->died < UINT64_MAX || strcmp(old->label, m->label)))
        old = old->next;
    if (old && memcmp(&old->digest, &m->digest, sizeof m->digest) == 0) {
        old->file = m->file;
        old->line = m->line;
        report->methods_unchanged++;
        free(m);
        return;
    }
    if (old)
        old->died = m->born;
    m->next = t->methods;
    t->methods = m;
}

kiln_status toy_define(toy *t, const char *file, uint32_t line,
                       const char *text, kiln_change_report *report)
{
    toy_method *m = calloc(1, sizeof *m);
    size_t size = strcspn(text, "\n");
    uint64_t subject;

    if (!m)
        return KILN_ENOMEM;
    snprintf(m->label, sizeof m->label, "%.*s", (int)size, text);
    split(&m->head, text, size);
    strtok_r(m->head.at[1], "@", (char **)&m->table);
    m->body = text + size;
    m->file = file;
    m->line = line;
    m->digest = digest_of(text);
    m->born = ++t->world;
    m->died = UINT64_MAX;
    subject = digest_of(m->head.at[1]).low;
    publish(t, m, report);
    return kiln_world_changed(t->frontend, t->world, &subject, 1, report);
}

/* ---- calling kernels ---- */

static kiln_status kiln_type_of(const kiln_type **out, const toy *t,
                                const char *name, kiln_error **error)
{
    const struct toy_type *type = type_find(name);
    kiln_foreign_type own = {sizeof own, "toy", name, {1, 1}, 0, 4};

    if (!type || type->floats == 0)
        return kiln_type_parse(out, t->context, NULL, name, error);
    own.value_size = own.definition.low = 4 * type->floats;
    return kiln_type_foreign(out, t->context, &own, error);
}

kiln_status toy_signature(kiln_signature *out, const kiln_type *to[TOY_WORDS],
                          const toy *t, const char *text, kiln_error **error)
{
    toy_words call;
    kiln_status status;

    split(&call, text, TOY_TEXT);
    *out = (kiln_signature){NULL, to, call.count - 1};
    status =
        kiln_function_new(&out->function, t->frontend, call.at[0], NULL, error);
    for (size_t i = 0; i < out->count && status == KILN_OK; i++)
        status = kiln_type_of(&to[i], t, call.at[i + 1], error);
    return status;
}

kiln_status toy_run(const toy *t, const char *call, const kiln_config *config,
                    uint64_t world, float *out, int64_t size, const void *value,
                    kiln_error **error)
{
    kiln_compile_options options = {.size = sizeof options, .world = world};
    kiln_array array = {.data = out, .sizes = {size}};
    kiln_launch launch = {.grid = {(uint64_t)size}};
    const void *arguments[] = {&array, value};
    const kiln_type *to[TOY_WORDS];
    const kiln_kernel *kernel;
    kiln_signature signature;
    kiln_status status = toy_signature(&signature, to, t, call, error);

    if (status == KILN_OK)
        status = kiln_compile(&kernel, t->context, &signature, config, &options,
                              error);
    if (status == KILN_OK)
        status = kiln_queue_launch(t->queue, kernel, &launch, arguments,
                                   signature.count, error);
    return status;
}

/* ---- the frontend: questions ---- */

static uint64_t current_world(void *self)
{
    return ((toy *)self)->world;
}

static kiln_status answer(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t world,
                          kiln_digest *out)
{
    const toy_method *m = dispatch(self, query, config, world);

    (void)size; /* of a text, with its end */
    *out = m ? m->digest : (kiln_digest){0, 0};
    return KILN_OK;
}

static kiln_status locate(void *self, const char *method, uint32_t ordinal,
                          kiln_location *out)
{
    const toy_method *m = ((toy *)self)->methods;

    while (m && strcmp(m->label, method) != 0)
        m = m->next;
    if (m)
        *out = (kiln_location){.file = m->file, .line = m->line + ordinal};
    return m ? KILN_OK : KILN_ENOTFOUND;
}

/* ---- the frontend: inference ---- */

/*
 * Toy's typed IR is the function in LLVM IR as two texts: all before its name
 * and all after it, since a kernel is called what Kiln wants. The others are
 * called by their calls, "area Ball", which Kiln takes for their names, too.
 */
typedef struct frame {
    const toy *toy;
    const toy_method *method;
    toy_words call;
    const kiln_config *config;
    uint64_t world;
    kiln_inference *inference;
    kiln_error **error;
    FILE *out;
    uint32_t ordinal; /* of the line in the method */
} frame;

/* Writes the call that "area s" is: parameters become their types of today. */
static void read_call(char out[TOY_TEXT], const frame *f, const char *text)
{
    toy_words words;
    int size = 0;

    split(&words, text, strcspn(text, ")"));
    for (size_t i = 0; i < words.count; i++) {
        const char *word = words.at[i];

        for (size_t p = 0; p < parameter_count(f->method); p++)
            if (strcmp(word, f->method->head.at[2 * p + 2]) == 0)
                word = f->call.at[p + 1];
        size += snprintf(out + size, TOY_TEXT - (size_t)size, "%s%s",
                         i ? " " : "", word);
    }
}

/* Has Kiln infer the callee. In a cycle it is not there yet, and a frontend
   that needs its result would assume one; Toy needs nothing of it. */
static kiln_status infer_callee(const frame *f, const char *call)
{
    kiln_diagnostic fault = {.code = "no-method", .message = "no such method"};
    const kiln_type *to[TOY_WORDS];
    kiln_signature callee;
    kiln_inference *head;
    const kiln_code *code;
    kiln_status status;

    if (!dispatch(f->toy, call, f->config, f->world)) {
        fault.location.file = f->method->file;
        fault.location.line = f->method->line + f->ordinal;
        return kiln_error_set_diagnostics(f->error, KILN_ECOMPILE, call, &fault,
                                          1);
    }
    status = toy_signature(&callee, to, f->toy, call, f->error);
    if (status == KILN_OK)
        status = kiln_inference_callee(f->inference, &callee, &code, NULL,
                                       &head, f->error);
    return status == KILN_ERECURSION ? KILN_OK : status;
}

/* Writes what stands for @(raise index size), @(now kernel types), @(call). */
static kiln_status infer_hole(const frame *f, const char *text)
{
    char call[TOY_TEXT], index[TOY_TEXT], size[TOY_TEXT];
    float constant = 0;
    kiln_status status;

    if (sscanf(text, "raise %100s %100[^)]", index, size) == 2) {
        fprintf(f->out,
                "call void @kiln_raise(ptr %%item, i32 %d, ptr @\"label %s\", "
                "i32 %u, ptr @none, i64 %s, i64 %s)",
                KILN_EXCEPTION_BOUNDS, f->name, f->ordinal, index, size);
        return KILN_OK;
    }
    if (strncmp(text, "now ", 4) != 0) {
        read_call(call, f, text);
        fprintf(f->out, "@\"%s\"", call);
        return infer_callee(f, call);
    }
    /* A kernel that runs while compiling, and must stay what it was. */
    read_call(call, f, text + 4);
    status = infer_callee(f, call);
    if (status == KILN_OK)
        status = toy_run(f->toy, call, f->config, f->world, &constant, 1, NULL,
                         f->error);
    fprintf(f->out, "%.1f", (double)constant);
    return status;
}
