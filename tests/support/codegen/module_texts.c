/* module_texts.c - a frontend whose functions are modules of LLVM IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/codegen/module_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln/sys/frontend.h"
#include "support/harness.h"

#define ARGUMENTS_MAX 8

static uint64_t only_world(void *self)
{
    (void)self;
    return 1;
}

static int index_of(const module_texts *m, const kiln_function *function)
{
    int i = 0;

    while (i < m->count && m->functions[i] != function)
        i++;
    assert_true(i < m->count);
    return i;
}

/* FNV-1a. */
static kiln_digest digest_of(const module_texts *m,
                             const kiln_function *function)
{
    const char *at = m->texts[index_of(m, function)];
    uint64_t h = 0xcbf29ce484222325u;

    for (; *at != '\0'; at++)
        h = (h ^ (unsigned char)*at) * 0x100000001b3u;
    return harness_digest(h, 1);
}

static kiln_status root(void *self, const kiln_signature *signature,
                        const kiln_config *config, uint64_t world,
                        kiln_digest *out)
{
    (void)config, (void)world;
    *out = digest_of(self, signature->function);
    return KILN_OK;
}

static kiln_status infer(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t world,
                         kiln_inference *out, kiln_error **error)
{
    const module_texts *m = self;
    const char *text = m->texts[index_of(m, signature->function)];

    (void)config, (void)world, (void)error;
    kiln_inference_set_root(out, digest_of(m, signature->function));
    return kiln_inference_set_ir(out, text, strlen(text));
}

static kiln_status answer(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t world,
                          kiln_digest *out)
{
    (void)self, (void)query, (void)size, (void)config, (void)world, (void)out;
    return KILN_ENOTFOUND;
}

static void end_frontend(void *self)
{
    (void)self;
}

static void free_text(kiln_blob *blob)
{
    free((void *)(uintptr_t)blob->data);
    blob->release = NULL;
}

static const char *word_of(const kiln_lower_request *request, char letter)
{
    const char *backend = kiln_config_backend(request->config);

    switch (letter) {
    case 'I':
        return strcmp(backend, "rocm") == 0 ? "ptr addrspace(5)" : "ptr";
    case 'A':
        return strcmp(backend, "spirv") == 0 ? "ptr addrspace(4)" : "ptr";
    case 'S':
        return strcmp(backend, "rocm") == 0 ? ", addrspace(5)" : "";
    default:
        return NULL;
    }
}

static kiln_status lower(void *self, const kiln_lower_request *request,
                         kiln_blob *out, kiln_error **error)
{
    module_texts *m = self;
    const char *from =
        m->texts[index_of(m, kiln_code_signature(request->root).function)];
    const size_t capacity = 16 * strlen(from) + 1024;
    char *text = malloc(capacity);
    size_t size = 0;

    (void)error;
    assert_non_null(text);
    m->lowered++;
    while (*from != '\0') {
        if (strncmp(from, "@E(", 3) == 0) {
            size += (size_t)snprintf(text + size, capacity - size, "@%s",
                                     request->entry);
            from += 2;
        }
        const char *word = *from == '@' && (from[2] < 'a' || from[2] > 'z') &&
                                   (from[2] < '0' || from[2] > '9')
                               ? word_of(request, from[1])
                               : NULL;
        const size_t length = word != NULL ? strlen(word) : 1;

        memcpy(text + size, word != NULL ? word : from, length);
        size += length;
        from += word != NULL ? 2 : 1;
    }
    text[size] = '\0';
    *out = (kiln_blob){text, size, free_text, NULL};
    return KILN_OK;
}

void module_texts_open(module_texts *m, kiln_context *context, const char *name)
{
    const kiln_frontend_ops ops = {.size = sizeof ops,
                                   .name = name,
                                   .world = only_world,
                                   .infer = infer,
                                   .answer = answer,
                                   .free = end_frontend,
                                   .lower = lower,
                                   .root = root};

    *m = (module_texts){.count = 0};
    assert_ok(kiln_frontend_add(&m->frontend, context, &ops, m, &test_error));
}

const kiln_function *module_texts_define(module_texts *m, const char *text)
{
    char name[32];

    assert_true(m->count < MODULE_TEXTS_MAX);
    snprintf(name, sizeof name, "m.f%d", m->count);
    m->texts[m->count] = text;
    assert_ok(kiln_function_new(&m->functions[m->count], m->frontend, name,
                                NULL, &test_error));
    return m->functions[m->count++];
}

kiln_status module_texts_run(module_texts *m, kernels *k,
                             const kiln_function *function,
                             const kiln_config *config, uint64_t items,
                             const kernels_argument *arguments, size_t count,
                             kiln_error **error)
{
    const kiln_launch launch = {.grid = {items, 1, 1}};

    return module_texts_launch(m, k, function, config, &launch, arguments,
                               count, error);
}

kiln_status module_texts_launch(module_texts *m, kernels *k,
                                const kiln_function *function,
                                const kiln_config *config,
                                const kiln_launch *launch,
                                const kernels_argument *arguments, size_t count,
                                kiln_error **error)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_type *types[ARGUMENTS_MAX];
    const void *values[ARGUMENTS_MAX];
    const kiln_signature signature = {function, types, count};
    const kiln_kernel *kernel = NULL;
    kiln_status status;

    assert_true(count <= ARGUMENTS_MAX);
    for (size_t i = 0; i < count; i++) {
        assert_ok(kiln_type_parse(&types[i], k->context, NULL,
                                  arguments[i].type, &test_error));
        values[i] = arguments[i].value;
    }
    options.source = &m->source;
    status =
        kiln_compile(&kernel, k->context, &signature, config, &options, error);
    if (status == KILN_OK)
        status =
            kiln_queue_launch(k->queue, kernel, launch, values, count, error);
    return status == KILN_OK ? kiln_queue_wait(k->queue, error) : status;
}
