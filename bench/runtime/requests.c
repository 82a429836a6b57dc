/* requests.c - requests to the code generator, as libkiln makes them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "requests.h"

#include <limits.h>
#include <stdio.h>

#include "../bench.h"
#include "codegen_client/codegen_library.h"
#include "context/keys/settings.h"

static kiln_status take(void *env, const kiln__codegen_result *result)
{
    struct requests *r = env;

    kiln_blob_release(&r->bitcode);
    r->make_ns = result->make_ns;
    return kiln__blob_copy(&r->bitcode, &kiln__malloc, result->bytes,
                           result->size);
}

static void fail(void *env, kiln_status status, const char *message)
{
    struct requests *r = env;

    bench_check(kiln_error_set(&r->error, status, "%s", message), &r->error);
}

static void fatal(void *env, const char *message)
{
    fail(env, KILN_ECODEGEN, message);
}

static void was_read(void *env, size_t index, uint64_t nanoseconds)
{
    (void)index;
    ((struct requests *)env)->read_ns += nanoseconds;
}

kiln__codegen_request request_of(struct requests *r, int32_t form,
                                 const char *entry)
{
    return (kiln__codegen_request){
        .settings = &r->settings,
        .entry = entry,
        .form = form,
        .env = r,
        .finish = take,
        .fail = fail,
        .fatal = fatal,
        .was_read = was_read,
    };
}

void requests_generate(struct requests *r, const kiln__codegen_request *request)
{
    r->read_ns = 0;
    bench_check(r->codegen->generate(request), NULL);
}

void requests_extract(struct requests *r, const char *wanted, const char *entry)
{
    kiln__codegen_request request = request_of(r, KILN__EMIT_CLOSURE, entry);

    request.module = r->library.data;
    request.module_size = r->library.size;
    request.library = "bench";
    request.wanted = wanted;
    requests_generate(r, &request);
}

void requests_open(struct requests *r, const char *target)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options config_options = KILN_CONFIG_OPTIONS_INIT;
    kiln_error *error = NULL;
    char path[PATH_MAX];

    *r = (struct requests){.context = NULL};
    snprintf(path, sizeof path, "%s/../lib/libkiln-codegen.so", bench_folder());
    options.codegen_path = path;
    config_options.target = target;
    bench_check(kiln_context_new(&r->context, &options, &error), &error);
    bench_check(
        kiln_config_new(&r->config, r->context, &config_options, &error),
        &error);
    bench_check(kiln__codegen_library_open(r->context, &r->codegen, &error),
                &error);
    r->settings = (kiln__codegen_settings){.backend = r->config->backend,
                                           .triple = r->config->triple,
                                           .processor = r->config->processor,
                                           .features = r->config->features,
                                           .options = r->config->options,
                                           .opt_level = 3,
                                           .bounds_checks = 1,
                                           .contract = 1};
}

void requests_close(struct requests *r)
{
    kiln_blob_release(&r->bitcode);
    kiln_blob_release(&r->library);
    kiln_context_free(r->context);
}
