/* modules.c - kernels that are texts of LLVM IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/codegen/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln/sys/frontend.h"
#include "support/harness.h"

struct modules {
    kernels *k;
    kiln_frontend *frontend;
    unsigned count; /* of functions, for their names */
};

static uint64_t world(void *self)
{
    (void)self;
    return 1;
}

static kiln_status infer(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t at,
                         kiln_inference *out, kiln_error **error)
{
    const char *text = kiln_function_data(signature->function);

    (void)self;
    (void)config;
    (void)at;
    (void)error;
    return kiln_inference_set_ir(out, text, strlen(text) + 1);
}

static kiln_status answer(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t at,
                          kiln_digest *out)
{
    (void)self;
    (void)query;
    (void)size;
    (void)config;
    (void)at;
    memset(out, 0, sizeof *out);
    return KILN_OK;
}

static void release_text(kiln_blob *blob)
{
    free((void *)(uintptr_t)blob->data);
}

static kiln_status lower(void *self, const kiln_lower_request *request,
                         kiln_blob *out, kiln_error **error)
{
    static const char name[] = "@ENTRY";
    size_t size;
    const char *text = kiln_code_ir(request->root, &size);
    char *made = NULL;
    FILE *to = open_memstream(&made, &size);
    const char *at;

    (void)self;
    (void)error;
    assert_non_null(to);
    while ((at = strstr(text, name)) != NULL) {
        fprintf(to, "%.*s@%s", (int)(at - text), text, request->entry);
        text = at + sizeof name - 1;
    }
    fputs(text, to);
    fclose(to);
    *out = (kiln_blob){.data = made, .size = size, .release = release_text};
    return KILN_OK;
}

static void free_modules(void *self)
{
    free(self);
}

modules *modules_new(kernels *k)
{
    static const kiln_frontend_ops ops = {
        .size = sizeof ops,
        .name = "modules 1",
        .world = world,
        .infer = infer,
        .answer = answer,
        .free = free_modules,
        .lower = lower,
    };
    modules *m = calloc(1, sizeof *m);

    assert_non_null(m);
    m->k = k;
    assert_ok(
        kiln_frontend_add(&m->frontend, k->context, &ops, m, &test_error));
    return m;
}

kiln_status modules_launch(modules *m, const char *text,
                           const kiln_config *config, const kiln_launch *launch,
                           const kernels_argument *arguments, size_t count,
                           kiln_error **error)
{
    const kiln_type *types[8];
    const void *values[8];
    const kiln_function *function;
    const kiln_kernel *kernel;
    kiln_signature signature;
    char name[32];
    kiln_status status;

    assert_true(count <= 8);
    for (size_t i = 0; i < count; i++) {
        assert_ok(kiln_type_parse(&types[i], m->k->context, NULL,
                                  arguments[i].type, &test_error));
        values[i] = arguments[i].value;
    }
    snprintf(name, sizeof name, "module%u", m->count++);
    assert_ok(kiln_function_new(&function, m->frontend, name,
                                (void *)(uintptr_t)text, &test_error));
    signature = (kiln_signature){function, types, count};
    status =
        kiln_compile(&kernel, m->k->context, &signature, config, NULL, error);
    if (status != KILN_OK)
        return status;
    status =
        kiln_queue_launch(m->k->queue, kernel, launch, values, count, error);
    return status == KILN_OK ? kiln_queue_wait(m->k->queue, error) : status;
}
