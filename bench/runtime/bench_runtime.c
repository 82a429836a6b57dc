/* bench_runtime.c - tier 2: makes, extracts, gets and links bitcode. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "base/system/file.h"
#include "context/keys/key.h"
#include "context/keys/settings.h"
#include "requests.h"
#include "tiers/runtime/runtime_bitcode.h"

/*
 * These benchmarks use internal functions, since the cost of one entry does not
 * show in a whole compilation. The program contains libkiln's objects and opens
 * the code generator beside it. A get includes making the key.
 */

static const char program[] = "kernel powers(y, n)\n"
                              "    i = global_id(0)\n"
                              "    y[i] = y[i] ** n\n"
                              "end\n";

struct fixture {
    struct requests r;
    const kiln_code *kernel;
    const kiln_code *power; /* core.ipow(f32, i64) */
    const char *wanted;
};

/* ---- requests to the code generator ---- */

static kiln__codegen_function function_of(const kiln_code *code,
                                          const char *symbol)
{
    kiln__codegen_function function = {.symbol = symbol};

    function.ir = kiln_code_ir(code, &function.ir_size);
    return function;
}

static void make_function(struct fixture *f)
{
    kiln__codegen_function power = function_of(f->power, "power");
    kiln__codegen_request request =
        request_of(&f->r, KILN__EMIT_FUNCTION, "kiln_rt_power");

    power.runtime = request.entry;
    request.functions = &power;
    request.function_count = 1;
    requests_generate(&f->r, &request);
}

static void link_function(struct fixture *f, const kiln_blob *bitcode)
{
    static const uint32_t first_callee = 1;
    kiln__codegen_function functions[] = {function_of(f->kernel, "powers"),
                                          function_of(f->power, "power")};
    kiln__codegen_request request =
        request_of(&f->r, KILN_EMIT_LLVM, "powers_entry");

    functions[0].callees = &first_callee;
    functions[0].callee_count = 1;
    functions[1].runtime = "kiln_rt_power";
    functions[1].bitcode = bitcode->data;
    functions[1].bitcode_size = bitcode->size;
    request.functions = functions;
    request.function_count = 2;
    requests_generate(&f->r, &request);
}

static void extract(struct fixture *f)
{
    requests_extract(&f->r, f->wanted, "kiln_rt_wanted");
}

static void link_closure(struct fixture *f, const kiln_blob *bitcode)
{
    static const char module[] = "declare float @wanted(float)\n"
                                 "define i32 @k(ptr %item, ptr %y, i64 %n) {\n"
                                 "  %x = load float, ptr %y\n"
                                 "  %r = call float @wanted(float %x)\n"
                                 "  store float %r, ptr %y\n"
                                 "  ret i32 0\n"
                                 "}\n";
    static const char *const types[] = {"f32[:]"};
    const kiln__codegen_import import = {"wanted", "kiln_rt_wanted",
                                         bitcode->data, bitcode->size, 0};
    kiln__codegen_request request = request_of(&f->r, KILN_EMIT_LLVM, "k");

    request.module = module;
    request.module_size = sizeof module - 1;
    request.argument_types = types;
    request.argument_count = 1;
    request.imports = &import;
    request.import_count = 1;
    requests_generate(&f->r, &request);
}

/* ---- preparations ---- */

static void infer(struct fixture *f)
{
    const kiln_type *types[2];
    kiln_signature signature = {NULL, types, 2};
    kiln_package *package;
    kiln_error *error = NULL;

    bench_check(kiln_package_new(&package, f->r.context, "bench", &error),
                &error);
    bench_check(kiln_package_define(package, "bench.kiln", program,
                                    sizeof program - 1, NULL, &error),
                &error);
    bench_check(
        kiln_package_function(&signature.function, package, "powers", &error),
        &error);
    types[1] = kiln_type_scalar(f->r.context, KILN_TYPE_I64);
    bench_check(
        kiln_type_parse(&types[0], f->r.context, NULL, "f32[:]", &error),
        &error);
    bench_check(kiln_infer(&f->kernel, f->r.context, &signature, f->r.config, 0,
                           &error),
                &error);
    f->power = kiln_code_callee(f->kernel, 0);
}

static struct fixture *fixture_new(void)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (!f)
        bench_check(KILN_ENOMEM, NULL);
    requests_open(&f->r, NULL);
    infer(f);
    return f;
}

static void *setup(const struct bench *bench, const char **reason)
{
    struct fixture *f = fixture_new();

    (void)bench;
    (void)reason;
    make_function(f);
    return f;
}

static void teardown(void *state)
{
    struct fixture *f = state;

    requests_close(&f->r);
    free(f);
}

static void *libclc_setup(const struct bench *bench, const char **reason)
{
    struct fixture *f = fixture_new();

    (void)bench;
    if (kiln__file_read(&f->r.library, &kiln__malloc,
                        "/usr/lib/clc/nvptx64--.bc", (size_t)1 << 28,
                        NULL) != KILN_OK) {
        *reason = "libclc is not installed";
        teardown(f);
        return NULL;
    }
    f->wanted = "_Z3powff";
    extract(f);
    return f;
}

#define CHAIN 12 /* functions of the library below, each of 40 operations */

/* Bitcode of about the size that libclc's powf needs, for the host. */
static void *chain_setup(const struct bench *bench, const char **reason)
{
    struct fixture *f = fixture_new();
    const size_t capacity = (size_t)CHAIN * 40 * 64;
    char *text = malloc(capacity);
    size_t size = 0;

    (void)bench;
    (void)reason;
    if (!text)
        bench_check(KILN_ENOMEM, NULL);
    for (int i = 0; i < CHAIN; i++) {
        size += (size_t)snprintf(text + size, capacity - size,
                                 "define float @f%d(float %%v0) {\n", i);
        for (int k = 0; k < 39; k++)
            size += (size_t)snprintf(text + size, capacity - size,
                                     "  %%v%d = fmul float %%v%d, %d.0\n",
                                     k + 1, k, k + 2);
        size +=
            (size_t)snprintf(text + size, capacity - size,
                             i == 0 ? "  ret float %%v39\n}\n"
                                    : "  %%r = call float @f%d(float %%v39)\n"
                                      "  ret float %%r\n}\n",
                             i - 1);
    }
    bench_check(kiln__blob_copy(&f->r.library, &kiln__malloc, text, size),
                NULL);
    free(text);
    f->wanted = "f11";
    extract(f);
    return f;
}

/* ---- making ---- */

static void run_build(void *state, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++)
        make_function(state);
}

/* What a kernel pays that lowers the function together with itself. */
static void run_lower(void *state, uint64_t iterations)
{
    struct fixture *f = state;

    (void)iterations;
    make_function(f);
    bench_set_time(f->r.make_ns);
}

static void run_extract(void *state, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++)
        extract(state);
}

/* ---- getting ---- */

static void get(struct fixture *f, const kiln__encoder *key, int is_optional)
{
    const kiln__runtime_query query = {.digest = kiln__encoder_digest(key),
                                       .encoded = key->bytes,
                                       .encoded_size = key->size,
                                       .is_optional = is_optional};
    kiln__runtime_entry *entry = NULL;
    size_t size;

    if (kiln__runtime_claim(&entry, f->r.context, &query) == KILN__RUNTIME_OWN)
        bench_check(kiln__runtime_finish(f->r.context, entry, f->r.bitcode.data,
                                         f->r.bitcode.size, f->r.make_ns),
                    NULL);
    BENCH_KEEP(kiln__runtime_bitcode(entry, &size));
    kiln__runtime_release(f->r.context, entry);
}

static void run_get(void *state, uint64_t iterations)
{
    struct fixture *f = state;

    for (uint64_t i = 0; i < iterations; i++) {
        kiln__encoder key;

        kiln__encoder_init(&key, &f->r.context->alloc);
        bench_check(
            kiln__key_runtime(&key, kiln_code_digest(f->power), f->r.config),
            NULL);
        get(f, &key, 1);
        kiln__encoder_dispose(&key);
    }
}

static void run_closure_get(void *state, uint64_t iterations)
{
    struct fixture *f = state;
    const kiln_digest library = {{1, 2}};

    for (uint64_t i = 0; i < iterations; i++) {
        kiln__encoder key;

        kiln__encoder_init(&key, &f->r.context->alloc);
        bench_check(kiln__key_closure(&key, library, f->wanted, f->r.config),
                    NULL);
        get(f, &key, 0);
        kiln__encoder_dispose(&key);
    }
}

/* ---- linking ---- */

static void run_link(void *state, uint64_t iterations)
{
    struct fixture *f = state;
    kiln_blob bitcode = {0};

    (void)iterations;
    make_function(f);
    bench_check(kiln__blob_copy(&bitcode, &kiln__malloc, f->r.bitcode.data,
                                f->r.bitcode.size),
                NULL);
    link_function(f, &bitcode);
    kiln_blob_release(&bitcode);
    bench_set_time(f->r.read_ns);
}

static void run_closure_link(void *state, uint64_t iterations)
{
    struct fixture *f = state;
    kiln_blob bitcode = {0};

    (void)iterations;
    extract(f);
    bench_check(kiln__blob_copy(&bitcode, &kiln__malloc, f->r.bitcode.data,
                                f->r.bitcode.size),
                NULL);
    link_closure(f, &bitcode);
    kiln_blob_release(&bitcode);
    bench_set_time(f->r.read_ns);
}

static void show_size(void *state, char *json, size_t capacity)
{
    const struct fixture *f = state;

    snprintf(json, capacity, ", \"bitcode_bytes\": %zu", f->r.bitcode.size);
}

#define ONE(title, get_ready, function, is_whole) \
    { \
        .name = (title), .setup = (get_ready), .run = (function), \
        .teardown = teardown, .whole = (is_whole), .samples = 31, \
        .extra = show_size \
    }

const struct bench bench_runtime[] = {
    ONE("runtime/build", setup, run_build, 0),
    ONE("runtime/get", setup, run_get, 0),
    ONE("runtime/lower-with-kernel", setup, run_lower, 1),
    ONE("runtime/link", setup, run_link, 1),
    ONE("runtime/closure-extract", libclc_setup, run_extract, 0),
    ONE("runtime/closure-get", libclc_setup, run_closure_get, 0),
    ONE("runtime/closure-link", chain_setup, run_closure_link, 1),
    {.name = NULL},
};
