/* many.c - a context with a given number of compiled jobs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "many.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "abi/codegen_abi.h"
#include "kiln/sys/alloc.h"

static const char source[] = "kernel job(a, b, c, d, e)\n"
                             "    i = global_id(0)\n"
                             "end\n";

/* ---- a code generator without work ---- */

static int32_t supports(const char *backend)
{
    return strcmp(backend, "cuda") == 0;
}

static kiln_status generate(const kiln__codegen_request *request)
{
    static const char text[] = "// the code of every job";
    const kiln__codegen_result result = {
        .bytes = text,
        .size = sizeof text - 1,
        .format = "ptx",
        .relocation = KILN_RELOCATION_PORTABLE,
    };

    return request->finish(request->env, &result);
}

/* Called under a lock that the process has once. */
static kiln_status exchange(const struct kiln_codegen_host *host,
                            const struct kiln_codegen **out)
{
    static kiln__codegen ours = {
        .size = sizeof ours,
        .abi = KILN__CODEGEN_ABI,
        .llvm_version = "22.0.0",
        .supports = supports,
        .generate = generate,
    };

    ours.build_id = host->build_id;
    ours.code = source;
    ours.llvm_code = source;
    *out = &ours;
    return KILN_OK;
}

/* ---- memory ---- */

static atomic_uint_fast64_t live;

static void *counted(void *env, void *memory, size_t old_size, size_t new_size)
{
    void *grown;

    (void)env;
    if (new_size == 0) {
        free(memory);
        atomic_fetch_sub(&live, old_size);
        return NULL;
    }
    grown = realloc(memory, new_size);
    if (grown)
        atomic_fetch_add(&live, new_size - old_size);
    return grown;
}

/* ---- jobs ---- */

static void open_context(struct many *many)
{
    static const kiln_alloc alloc = {sizeof alloc, NULL, counted};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    kiln_package *package = NULL;
    kiln_error *error = NULL;

    options.alloc = &alloc;
    options.codegen = KILN_CODEGEN_THREAD;
    options.codegen_exchange = exchange;
    settings.target = "cuda:sm_90";
    bench_check(kiln_context_new(&many->context, &options, &error), &error);
    bench_check(
        kiln_config_new(&many->config, many->context, &settings, &error),
        &error);
    bench_check(kiln_device_open_offline(&many->device, many->context,
                                         many->config, &error),
                &error);
    bench_check(kiln_package_new(&package, many->context, "many", &error),
                &error);
    bench_check(kiln_package_define(package, "many.kiln", source,
                                    sizeof source - 1, NULL, &error),
                &error);
    bench_check(kiln_package_function(&many->function, package, "job", &error),
                &error);
}

/* Makes twelve scalars, and arrays of four of them. */
static void make_types(struct many *many)
{
    const unsigned scalars = KILN_TYPE_F64 - KILN_TYPE_BOOL + 1;
    kiln_error *error = NULL;

    for (unsigned i = 0; i < scalars; i++)
        many->types[i] =
            kiln_type_scalar(many->context, KILN_TYPE_BOOL + (int32_t)i);
    for (unsigned i = scalars; i < MANY_TYPES; i++)
        bench_check(kiln_type_array(&many->types[i], many->context,
                                    many->types[i - MANY_TYPES / 2], 1, 0,
                                    &error),
                    &error);
}

static void compile(struct many *many, uint32_t index)
{
    const kiln_type *types[MANY_PARAMETERS];
    const kiln_signature signature = {many->function, types, MANY_PARAMETERS};
    const kiln_kernel *kernel = NULL;
    kiln_error *error = NULL;

    many_types(types, many, index);
    bench_check(kiln_call_site_compile(&kernel, &many->sites[index],
                                       many->context, &signature, many->config,
                                       NULL, &error),
                &error);
}

static void compile_part(void *env, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++)
        compile(env, (uint32_t)i);
}

struct many *many_new(uint32_t count)
{
    struct many *many = calloc(1, sizeof *many);
    uint64_t start;

    if (many)
        many->sites = calloc(count, sizeof *many->sites);
    if (!many || !many->sites || count > MANY_MAX)
        bench_check(KILN_ENOMEM, NULL);
    many->count = count;
    atomic_store(&live, 0);
    open_context(many);
    make_types(many);
    start = bench_now_ns();
    many->made_bytes = atomic_load(&live);
    bench_divide(0, count, compile_part, many);
    many->made_ns = bench_now_ns() - start;
    many->made_bytes = atomic_load(&live) - many->made_bytes;
    return many;
}

void many_free(struct many *many)
{
    if (!many)
        return;
    kiln_device_close(many->device);
    kiln_context_free(many->context);
    free(many->sites);
    free(many);
}
