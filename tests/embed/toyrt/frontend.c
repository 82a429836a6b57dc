/* frontend.c - Toy behind Kiln's frontend contract. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toy.h"

/*
 * Toy's typed IR is LLVM IR as text, with holes for symbols: `$2` is callee 2,
 * `$$` the function itself. lower() knows all functions and fills them.
 */
typedef struct frame {
    const toy *toy;
    const toy_method *method;
    const toy_call *call;
    const kiln_config *config;
    uint64_t world;
    kiln_inference *inference;
    kiln_error **error;
    FILE *out;
    uint32_t ordinal; /* of the line in the method */
} frame;

static uint64_t current_world(void *self)
{
    return ((toy *)self)->world;
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

static kiln_status answer(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t world,
                          kiln_digest *out)
{
    const toy_method *m;
    toy_call call;

    if (size != sizeof call)
        return KILN_ECORRUPT;
    memcpy(&call, query, size);
    m = toy_dispatch(self, &call, config, world);
    *out = m ? m->digest : (kiln_digest){0, 0};
    return KILN_OK;
}

/* ---- calls and signatures ---- */

static kiln_status signature_of(kiln_signature *out, const kiln_type **types,
                                const toy *t, const toy_call *call,
                                kiln_error **error)
{
    for (uint32_t i = 0; i < call->count; i++)
        types[i] = t->kiln[call->types[i]];
    *out = (kiln_signature){.types = types, .count = call->count};
    return kiln_function_new(&out->function, t->frontend, call->name, NULL,
                             error);
}

static void call_of(toy_call *out, const toy *t,
                    const kiln_signature *signature)
{
    *out = (toy_call){.count = (uint32_t)signature->count};
    strncpy(out->name, kiln_function_name(signature->function), TOY_NAME - 1);
    for (uint32_t i = 0; i < out->count && i < TOY_PARAMETERS; i++)
        for (uint8_t type = 1; type < TOY_TYPES; type++)
            if (t->kiln[type] == signature->types[i])
                out->types[i] = type;
}

kiln_status toy_run(const toy *t, const toy_call *call,
                    const kiln_config *config, uint64_t world, float *out,
                    int64_t size, const void *value, kiln_error **error)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    kiln_array array = {.data = out, .sizes = {size}};
    kiln_launch launch = {.grid = {(uint64_t)size}};
    const void *arguments[] = {&array, value};
    const kiln_type *types[TOY_PARAMETERS];
    const kiln_kernel *kernel;
    kiln_signature signature;
    kiln_status status = signature_of(&signature, types, t, call, error);

    options.world = world;
    if (status == KILN_OK)
        status = kiln_compile(&kernel, t->context, &signature, config, &options,
                              error);
    if (status == KILN_OK)
        status = kiln_queue_launch(t->queue, kernel, &launch, arguments,
                                   call->count, error);
    return status;
}

/* ---- inference ---- */

/* Reads "area s": a word is a parameter, of today's type, or a type. */
static void read_call(toy_call *call, const frame *f, const char *text)
{
    char words[128], *rest = words, *word;

    snprintf(words, sizeof words, "%.*s", (int)strcspn(text, ")"), text);
    *call = (toy_call){0};
    strncpy(call->name, strtok_r(rest, " ", &rest), TOY_NAME - 1);
    while ((word = strtok_r(rest, " ", &rest)) &&
           call->count < TOY_PARAMETERS) {
        uint8_t type = toy_type_find(word);

        for (uint32_t i = 0; i < f->call->count; i++)
            if (strcmp(word, f->method->names[i]) == 0)
                type = f->call->types[i];
        call->types[call->count++] = type;
    }
}

/* Has the callee inferred, through Kiln. In a cycle it is not there yet; Toy
   needs to know nothing about it. */
static kiln_status infer_callee(const frame *f, const toy_call *call,
                                uint32_t *index)
{
    kiln_diagnostic fault = {.code = "no-method", .message = "no method"};
    const kiln_type *types[TOY_PARAMETERS];
    kiln_signature callee;
    kiln_inference *head;
    const kiln_code *code;
    kiln_status status = signature_of(&callee, types, f->toy, call, f->error);

    if (!toy_dispatch(f->toy, call, f->config, f->world)) {
        fault.location.file = f->method->file;
        fault.location.line = f->method->line + f->ordinal;
        return kiln_error_set_diagnostics(f->error, KILN_ECOMPILE, call->name,
                                          &fault, 1);
    }
    if (status == KILN_OK)
        status = kiln_inference_callee(f->inference, &callee, &code, index,
                                       &head, f->error);
    return status == KILN_ERECURSION ? KILN_OK : status;
}

/* Runs a kernel now: what it gives is a constant, as good as the kernel. */
static kiln_status infer_now(const frame *f, const toy_call *kernel)
{
    float result = 0;
    double value;
    uint64_t bits;
    kiln_status status = toy_run(f->toy, kernel, f->config, f->world, &result,
                                 1, NULL, f->error);

    value = (double)result;
    memcpy(&bits, &value, sizeof bits);
    fprintf(f->out, "0x%016llx", (unsigned long long)bits);
    return status;
}

/* Writes what stands for @(raise index size), @(now kernel type) or a call. */
static kiln_status infer_hole(const frame *f, const char *text)
{
    int is_now = strncmp(text, "now ", 4) == 0;
    char index[TOY_NAME], size[TOY_NAME];
    uint32_t callee = 0;
    toy_call call;
    kiln_status status;

    if (sscanf(text, "raise %31s %31[^)]", index, size) == 2) {
        fprintf(f->out,
                "call void @kiln_raise(ptr %%item, i32 %d, ptr @m.$$, i32 %u, "
                "ptr @none, i64 %s, i64 %s)",
                KILN_EXCEPTION_BOUNDS, f->ordinal, index, size);
        return KILN_OK;
    }
    read_call(&call, f, is_now ? text + 4 : text);
    status = infer_callee(f, &call, &callee);
    if (status == KILN_OK && is_now)
        return infer_now(f, &call);
    fprintf(f->out, "@$%u", callee);
    return status;
}

static kiln_status infer_method(frame *f)
{
    const toy_method *m = f->method;
    kiln_status status = KILN_OK;

    fprintf(f->out, "@m.$$ = private constant [%zu x i8] c\"%s\\00\"\n",
            strlen(m->label) + 1, m->label);
    fprintf(f->out, "define %s @$$(ptr %%item", m->result);
    for (uint32_t i = 0; i < f->call->count; i++) {
        const char *type = toy_types[f->call->types[i]].name;

        fprintf(f->out, ", %s %%%s", strcmp(type, "f32") ? "ptr" : "float",
                m->names[i]);
        if (strcmp(type, "f32[:]") == 0)
            fprintf(f->out, ", i64 %%%s.n", m->names[i]);
    }
    fputs(") {", f->out);
    for (const char *at = m->body; at < m->end && status == KILN_OK; at++) {
        f->ordinal += *at == '\n';
        if (strncmp(at, "@(", 2) == 0) {
            status = infer_hole(f, at + 2);
            at += strcspn(at, ")");
        } else {
            fputc(*at, f->out);
        }
    }
    fprintf(f->out, "\n}\n%c", '\0');
    return status;
}

/* A result relies on one question of its own, where its signature dispatches
   to. Kiln knows on which callees it relies. */
static kiln_status infer(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t world,
                         kiln_inference *inference, kiln_error **error)
{
    toy_call call;
    frame f = {self, NULL, &call, config, world, inference, error, NULL, 0};
    kiln_query query = {.data = &call, .size = sizeof call};
    char *ir = NULL;
    size_t size;
    kiln_status status;

    call_of(&call, self, signature);
    f.method = toy_dispatch(self, &call, config, world);
    if (!f.method)
        return kiln_error_set(error, KILN_ENOTFOUND, "no %s", call.name);
    query.subject = toy_digest(call.name, TOY_NAME).low;
    query.answer = f.method->digest;
    kiln_inference_set_root(inference, query.answer);
    status = kiln_inference_add_query(inference, &query);
    f.out = open_memstream(&ir, &size);
    if (!f.out)
        return KILN_ENOMEM;
    if (status == KILN_OK)
        status = infer_method(&f);
    fclose(f.out);
    if (status == KILN_OK)
        status = kiln_inference_set_ir(inference, ir, size);
    free(ir);
    return status;
}

/* ---- lowering ---- */

static void write_symbol(FILE *out, const kiln_lower_request *request,
                         const kiln_code *code)
{
    size_t at = 0;

    while (at < request->code_count && request->codes[at] != code)
        at++;
    if (at > 0)
        fprintf(out, "f%zu", at);
    else
        fputs(request->entry, out);
}

static void release(kiln_blob *blob)
{
    free(blob->private_data);
}

static kiln_status lower(void *self, const kiln_lower_request *request,
                         kiln_blob *out, kiln_error **error)
{
    char *text = NULL;
    FILE *module = open_memstream(&text, &out->size);

    (void)self;
    if (!module)
        return kiln_error_set(error, KILN_ENOMEM, "no memory");
    fputs("@none = private constant [1 x i8] zeroinitializer\n"
          "declare i64 @kiln_global_id(ptr, i32)\n"
          "declare void @kiln_raise(ptr, i32, ptr, i32, ptr, i64, i64)\n",
          module);
    for (size_t i = 0; i < request->code_count; i++) {
        const kiln_code *code = request->codes[i];

        for (const char *at = kiln_code_ir(code, NULL); *at; at++) {
            if (at[0] != '$') {
                fputc(at[0], module);
            } else if (at[1] == '$') {
                write_symbol(module, request, code);
                at++;
            } else {
                size_t callee = strtoul(at + 1, (char **)&at, 10);

                write_symbol(module, request, kiln_code_callee(code, callee));
                at--;
            }
        }
    }
    fclose(module);
    out->data = out->private_data = text;
    out->release = release;
    return KILN_OK;
}

static void end(void *self)
{
    toy *t = self;

    while (t->methods) {
        toy_method *next = t->methods->next;

        free(t->methods);
        t->methods = next;
    }
}

const kiln_frontend_ops toy_frontend = {
    .size = sizeof toy_frontend,
    .name = "toy 1",
    .world = current_world,
    .infer = infer,
    .answer = answer,
    .free = end,
    .lower = lower,
    .locate = locate,
};
