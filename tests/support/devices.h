/* devices.h - code for devices that need not be there, through kiln.h. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_DEVICES_H
#define KILN_TESTS_DEVICES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_parts.h"
#include "harness.h"
#include "kiln.h"
#include "kiln/sys/backend.h"
#include "report.h"

/* For programs that link code generation; not every one uses everything. */
#define DEVICES_UNUSED __attribute__((unused))

/*
 * Kernels are compiled for the backend's default target, and code is generated
 * for the processor that a test asks for: so a test chooses what the code
 * generator is told, whatever the names of targets are. Where this build has no
 * driver half of the backend, one is added that describes a target and no more.
 */

typedef struct devices {
    kiln_context *context;
    const char *backend;
    const char *triple;
    kiln_config_options options; /* of the config, but for its target */
    /* What code is generated for. */
    const char *processor;
    const char *features;
    const char *backend_options;
    /* What the last one was told. */
    char message[1024];
    uint32_t registers;
    uint32_t static_local_bytes;
    uint32_t private_bytes;
    uint32_t sub_group_size;
    uint32_t hidden_arguments;
    char format[16];
} devices;

static devices devices_now; /* the exchange has no environment */

/* ---- between libkiln and the code generator ---- */

DEVICES_UNUSED static kiln_status devices_finish(
    void *env, const kiln__codegen_result *result)
{
    const kiln__codegen_request *request = env;

    devices_now.registers = result->registers;
    devices_now.static_local_bytes = result->static_local_bytes;
    devices_now.private_bytes = result->private_bytes;
    devices_now.sub_group_size = result->sub_group_size;
    devices_now.hidden_arguments = result->hidden_arguments;
    snprintf(devices_now.format, sizeof devices_now.format, "%s",
             result->format);
    return request->finish(request->env, result);
}

DEVICES_UNUSED static void devices_fail(void *env, kiln_status status,
                                        const char *message)
{
    const kiln__codegen_request *request = env;

    (request->fail)(request->env, status, message);
}

DEVICES_UNUSED static void devices_fatal(void *env, const char *message)
{
    const kiln__codegen_request *request = env;

    request->fatal(request->env, message);
}

static const kiln__codegen *devices_codegen;

DEVICES_UNUSED static kiln_status devices_generate(
    const kiln__codegen_request *request)
{
    kiln__codegen_settings settings = *request->settings;
    kiln__codegen_request other = *request;

    if (request->form < KILN_EMIT_LLVM || request->form > KILN_EMIT_BINARY)
        return devices_codegen->generate(request);
    settings.processor = devices_now.processor;
    settings.features = devices_now.features;
    settings.options = devices_now.backend_options;
    other.settings = &settings;
    other.env = (void *)(uintptr_t)request;
    other.finish = devices_finish;
    other.fail = devices_fail;
    other.fatal = devices_fatal;
    other.stage = NULL;
    other.was_read = NULL;
    other.log = NULL;
    return devices_codegen->generate(&other);
}

DEVICES_UNUSED static kiln_status devices_exchange(
    const kiln__codegen_host *host, const kiln__codegen **out)
{
    static kiln__codegen table;

    KILN_TRY(kiln_codegen_exchange(host, &devices_codegen));
    table = *devices_codegen;
    table.generate = devices_generate;
    *out = &table;
    return KILN_OK;
}

/* ---- a driver half that describes ---- */

DEVICES_UNUSED static kiln_status devices_describe(void *self, const char *name,
                                                   kiln_target *out,
                                                   kiln_error **error)
{
    (void)self;
    (void)name;
    (void)error;
    snprintf(out->name, sizeof out->name, "%s", "any");
    snprintf(out->triple, sizeof out->triple, "%s", devices_now.triple);
    return KILN_OK;
}

DEVICES_UNUSED static uint32_t devices_count(void *self, const char **reason)
{
    (void)self;
    *reason = "made for tests";
    return 0;
}

/* Nobody comes here: there is no device. */
#define ANY __attribute__((unused))
DEVICES_UNUSED static kiln_status devices_open(ANY void *a, ANY uint32_t b,
                                               ANY void *c, ANY void **d,
                                               ANY const char **e,
                                               ANY kiln_error **f)
{
    return KILN_ENODEVICE;
}

DEVICES_UNUSED static kiln_status devices_load(ANY void *a, ANY void *b,
                                               ANY const kiln_artifact *c,
                                               ANY void **d, ANY kiln_error **e)
{
    return KILN_ENODEVICE;
}

DEVICES_UNUSED static kiln_status devices_symbol(ANY void *a, ANY void *b,
                                                 ANY const char *c,
                                                 ANY void **d,
                                                 ANY kiln_error **e)
{
    return KILN_ENODEVICE;
}

DEVICES_UNUSED static kiln_status devices_queue_new(ANY void *a, ANY void *b,
                                                    ANY void *c, ANY void **d,
                                                    ANY kiln_error **e)
{
    return KILN_ENODEVICE;
}

DEVICES_UNUSED static kiln_status devices_launch(
    ANY void *a, ANY void *b, ANY const kiln_launch_request *c,
    ANY kiln_exception *d, ANY kiln_error **e)
{
    return KILN_ENODEVICE;
}

DEVICES_UNUSED static kiln_status devices_wait(ANY void *a, ANY void *b,
                                               ANY int32_t c,
                                               ANY kiln_exception *d,
                                               ANY kiln_error **e)
{
    return KILN_ENODEVICE;
}

DEVICES_UNUSED static kiln_status devices_buffer_new(ANY void *a, ANY void *b,
                                                     ANY uint64_t c,
                                                     ANY void **d,
                                                     ANY kiln_error **e)
{
    return KILN_ENODEVICE;
}

DEVICES_UNUSED static kiln_status devices_copy(ANY void *a, ANY void *b,
                                               ANY void *c, ANY const void *d,
                                               ANY uint64_t e,
                                               ANY kiln_error **f)
{
    return KILN_ENODEVICE;
}

DEVICES_UNUSED static void devices_close(void *self, void *what)
{
    (void)self;
    (void)what;
}

DEVICES_UNUSED static void devices_buffer_free(void *self, void *device,
                                               void *address)
{
    (void)self;
    (void)device;
    (void)address;
}

DEVICES_UNUSED static void devices_free(void *self)
{
    (void)self;
}

DEVICES_UNUSED static void devices_add_driver(void)
{
    const kiln_backend_ops ops = {
        .size = sizeof ops,
        .name = devices_now.backend,
        .format = "none",
        .describe = devices_describe,
        .count = devices_count,
        .open = devices_open,
        .close = devices_close,
        .load = devices_load,
        .symbol = devices_symbol,
        .unload = devices_close,
        .queue_new = devices_queue_new,
        .queue_free = devices_close,
        .launch = devices_launch,
        .wait = devices_wait,
        .buffer_new = devices_buffer_new,
        .buffer_free = devices_buffer_free,
        .copy = devices_copy,
        .free = devices_free,
    };

    assert_ok(
        kiln_context_add_backend(devices_now.context, &ops, NULL, &test_error));
}

/* ---- contexts ---- */

DEVICES_UNUSED static const kiln_config *devices_config(void)
{
    const kiln_config *config = NULL;

    devices_now.options.target = devices_now.backend;
    assert_ok(kiln_config_new(&config, devices_now.context,
                              &devices_now.options, &test_error));
    return config;
}

/* For setups: a context with the backend. */
DEVICES_UNUSED static void devices_open_context(const char *backend,
                                                const char *triple)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln_config_options config_options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;
    kiln_error *error = NULL;

    options.codegen_exchange = devices_exchange;
    devices_now = (devices){.backend = backend,
                            .triple = triple,
                            .options = config_options,
                            .processor = "",
                            .features = "",
                            .backend_options = ""};
    assert_ok(kiln_context_new(&devices_now.context, &options, &test_error));
    devices_now.options.target = backend;
    if (kiln_config_new(&config, devices_now.context, &devices_now.options,
                        &error) != KILN_OK)
        devices_add_driver();
    kiln_error_free(error);
}

DEVICES_UNUSED static void devices_close_context(void)
{
    kiln_context_free(devices_now.context);
    devices_now.context = NULL;
}

/* ---- kernels ---- */

DEVICES_UNUSED static kiln_package *devices_define(const char *name,
                                                   const char *text)
{
    kiln_package *package = NULL;

    assert_ok(
        kiln_package_new(&package, devices_now.context, name, &test_error));
    assert_ok(kiln_package_define(package, name, text, strlen(text), NULL,
                                  &test_error));
    return package;
}

#define DEVICES_ARGUMENTS_MAX 16

/* What becomes of a kernel; types are separated by " | ". */
DEVICES_UNUSED static kiln_status devices_emit(kiln_blob *out,
                                               kiln_package *package,
                                               const char *kernel,
                                               const char *types, int32_t form,
                                               kiln_error **error)
{
    const kiln_type *list[DEVICES_ARGUMENTS_MAX];
    kiln_signature signature = {.types = list};
    char *rest = strdup(types), *type = rest;

    assert_ok(kiln_package_function(&signature.function, package, kernel,
                                    &test_error));
    while (type != NULL && *type != '\0') {
        char *end = strstr(type, " | ");

        if (end != NULL)
            *end = '\0';
        assert_true(signature.count < DEVICES_ARGUMENTS_MAX);
        assert_ok(kiln_type_parse(&list[signature.count++], devices_now.context,
                                  package, type, &test_error));
        type = end != NULL ? end + 3 : NULL;
    }
    free(rest);
    return kiln_emit(out, devices_now.context, &signature, devices_config(), 0,
                     form, error);
}

/* The same, of which the text is returned; the caller frees it. */
DEVICES_UNUSED static char *devices_text(kiln_package *package,
                                         const char *kernel, const char *types,
                                         int32_t form)
{
    kiln_blob blob = {0};
    char *text;

    assert_ok(devices_emit(&blob, package, kernel, types, form, &test_error));
    text = strndup(blob.data, blob.size);
    assert_non_null(text);
    kiln_blob_release(&blob);
    return text;
}

#endif /* KILN_TESTS_DEVICES_H */
