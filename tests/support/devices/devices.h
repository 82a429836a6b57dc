/* devices.h - compiles for devices that need not be present, through kiln.h. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_DEVICES_H
#define KILN_TESTS_DEVICES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "codegen/module/codegen_stages.h"
#include "kiln.h"
#include "support/harness.h"

/* For programs that link code generation. Not every program uses all of
   this. */
#define DEVICES_UNUSED __attribute__((unused))

/*
 * Kernels are compiled for the backend's default target, but code is generated
 * for the processor that a test asks for. So a test chooses what the code
 * generator is told, whatever names of targets exist.
 */

typedef struct devices {
    kiln_context *context;
    const char *backend;
    kiln_config_options options; /* of the config, except its target */
    /* The processor that code is generated for. */
    const char *processor;
    const char *features;
    const char *backend_options;
    /* The last message of the code generator. */
    char message[1024];
    uint32_t registers;
    uint32_t static_local_bytes;
    uint32_t private_bytes;
    uint32_t sub_group_size;
    uint32_t hidden_arguments;
    char format[16];
    unsigned char facts[8 * 512]; /* abi/facts_abi.h */
    size_t fact_size;
} devices;

/* A global, because the exchange has no environment. */
static devices devices_now;

/* ---- between libkiln and libkiln-codegen ---- */

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
    assert_true(result->fact_size <= sizeof devices_now.facts);
    if (result->fact_size > 0)
        memcpy(devices_now.facts, result->facts, result->fact_size);
    devices_now.fact_size = result->fact_size;
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

/* ---- contexts ---- */

DEVICES_UNUSED static const kiln_config *devices_config(void)
{
    const kiln_config *config = NULL;

    devices_now.options.target = devices_now.backend;
    assert_ok(kiln_config_new(&config, devices_now.context,
                              &devices_now.options, &test_error));
    return config;
}

/* For setup functions. */
DEVICES_UNUSED static void devices_open_context(const char *backend)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const kiln_config_options config_options = KILN_CONFIG_OPTIONS_INIT;

    options.codegen_exchange = devices_exchange;
    devices_now = (devices){.backend = backend,
                            .options = config_options,
                            .processor = "",
                            .features = "",
                            .backend_options = ""};
    assert_ok(kiln_context_new(&devices_now.context, &options, &test_error));
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

/* Fills the list of types, which are separated by " | " in the text, and the
   signature. */
DEVICES_UNUSED static void devices_signature(
    kiln_signature *out, const kiln_type *list[DEVICES_ARGUMENTS_MAX],
    kiln_package *package, const char *kernel, const char *types)
{
    char *rest = strdup(types), *type = rest;

    *out = (kiln_signature){.types = list};
    assert_ok(
        kiln_package_function(&out->function, package, kernel, &test_error));
    while (type != NULL && *type != '\0') {
        char *end = strstr(type, " | ");

        if (end != NULL)
            *end = '\0';
        assert_true(out->count < DEVICES_ARGUMENTS_MAX);
        assert_ok(kiln_type_parse(&list[out->count++], devices_now.context,
                                  package, type, &test_error));
        type = end != NULL ? end + 3 : NULL;
    }
    free(rest);
}

/* Compiles a kernel and returns it in the given form. */
DEVICES_UNUSED static kiln_status devices_emit(kiln_blob *out,
                                               kiln_package *package,
                                               const char *kernel,
                                               const char *types, int32_t form,
                                               kiln_error **error)
{
    const kiln_type *list[DEVICES_ARGUMENTS_MAX];
    kiln_signature signature;

    devices_signature(&signature, list, package, kernel, types);
    return kiln_emit(out, devices_now.context, &signature, devices_config(), 0,
                     form, error);
}

/* As devices_emit(), but returns a text, which the caller frees. */
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
