/* bench_facts.c - what a launch takes to choose an entry of its kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "abi/codegen_abi.h"
#include "backends/facts.h"
#include "base/data/memory.h"
#include "base/system/file.h"

/*
 * A kernel for a device has facts, which choose between its entries at each
 * launch (docs/design/devices.md). They are those that the code generator makes
 * of the kernels in bench/kernels, for sm_90 with checks; no device is needed.
 * The launches are those of kernels.txt, and the facts hold of them.
 *
 *   again     the same launch again
 *   turns     two launches in turn, as of programs that exchange two buffers
 *   changing  no launch is like one before
 *   plain     the same without remembering: only the evaluation
 */
#define WORDS_MOST 16
#define TYPES_MOST 8

typedef struct facts_case {
    const char *kernel;
    const char *types[TYPES_MOST];
    uint64_t words[WORDS_MOST]; /* the packed arguments */
    uint64_t grid[3], block[3];
    unsigned changes; /* the word that differs; it only grows */
} facts_case;

#define A (UINT64_C(1) << 40)
#define B (UINT64_C(2) << 40)
#define C (UINT64_C(3) << 40)
#define D (UINT64_C(4) << 40)
#define E (UINT64_C(5) << 40)

static const facts_case cases[] = {
    {"saxpy",
     {"f32[:]", "f32", "f32[:]"},
     {A, 1048576, 0, B, 1048576},
     {1048576, 1, 1},
     {256, 1, 1},
     1},
    {"jacobi",
     {"f32[:,:]", "f32[:,:]"},
     {A, 512, 512, B, 512, 512},
     {512, 512, 1},
     {32, 8, 1},
     0},
    {"gemm",
     {"f32[:,:]", "f32[:,:]", "f32[:,:]", "f32", "f32"},
     {A, 256, 256, B, 256, 256, C, 256, 256},
     {256, 256, 1},
     {32, 8, 1},
     0},
    {"stencil7",
     {"f64[:,:,:]", "f64[:,:,:]", "f64", "f64"},
     {A, 64, 64, 64, B, 64, 64, 64},
     {64, 64, 64},
     {32, 4, 2},
     0},
    {"spmv_csr",
     {"f32[:]", "i32[:]", "i32[:]", "f32[:]", "f32[:]"},
     {A, 8000, B, 8001, C, 256000, D, 256000, E, 8000},
     {8064, 1, 1},
     {128, 1, 1},
     5},
};

struct fixture {
    kiln__launch_facts *facts;
    uint64_t words[2][WORDS_MOST];
    kiln__facts_shape shape;
    unsigned changes;
    size_t instructions;
};

/* ---- the code generator's facts ---- */

/* The code generator has no environment of ours for a whole context. */
static const kiln__codegen *codegen;
static unsigned char made[KILN__FACTS_MOST * KILN__FACT_BYTES];
static size_t made_size;

static kiln_status finish(void *env, const kiln__codegen_result *result)
{
    const kiln__codegen_request *request = env;

    made_size = result->fact_size;
    if (made_size > 0)
        memcpy(made, result->facts, made_size);
    return request->finish(request->env, result);
}

static void fail(void *env, kiln_status status, const char *message)
{
    const kiln__codegen_request *request = env;

    (request->fail)(request->env, status, message);
}

static void fatal(void *env, const char *message)
{
    const kiln__codegen_request *request = env;

    request->fatal(request->env, message);
}

static kiln_status generate(const kiln__codegen_request *request)
{
    kiln__codegen_request ours = *request;

    ours.env = (void *)(uintptr_t)request;
    ours.finish = finish;
    ours.fail = fail;
    ours.fatal = fatal;
    ours.stage = NULL;
    ours.was_read = NULL;
    ours.log = NULL;
    return codegen->generate(&ours);
}

static kiln_status exchange(const kiln__codegen_host *host,
                            const kiln__codegen **out)
{
    static kiln__codegen table;
    kiln_codegen_exchange_fn of_library = NULL;
    char path[PATH_MAX];
    void *library;

    snprintf(path, sizeof path, "%s/../lib/libkiln-codegen.so", bench_folder());
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL)
        *(void **)&of_library = dlsym(library, "kiln_codegen_exchange");
    if (of_library == NULL)
        return KILN_ENOTFOUND;
    bench_check(of_library(host, &codegen), NULL);
    table = *codegen;
    table.generate = generate;
    *out = &table;
    return KILN_OK;
}

static void define(kiln_package *package, const char *kernel)
{
    kiln_error *error = NULL;
    kiln_blob text = {0};
    char path[PATH_MAX];

    snprintf(path, sizeof path, BENCH_KERNELS "/%s/%s.kiln", kernel, kernel);
    bench_check(
        kiln__file_read(&text, &kiln__malloc, path, (size_t)1 << 20, &error),
        &error);
    bench_check(
        kiln_package_define(package, path, text.data, text.size, NULL, &error),
        &error);
    kiln_blob_release(&text);
}

static void emit(kiln_context *context, const facts_case *of)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_type *types[TYPES_MOST];
    kiln_signature signature = {.types = types};
    const kiln_config *config = NULL;
    kiln_package *package = NULL;
    kiln_error *error = NULL;
    kiln_blob binary = {0};

    options.target = "cuda:sm_90";
    bench_check(kiln_config_new(&config, context, &options, &error), &error);
    bench_check(kiln_package_new(&package, context, "bench", &error), &error);
    define(package, of->kernel);
    bench_check(
        kiln_package_function(&signature.function, package, of->kernel, &error),
        &error);
    for (; of->types[signature.count] != NULL; signature.count++)
        bench_check(kiln_type_parse(&types[signature.count], context, package,
                                    of->types[signature.count], &error),
                    &error);
    bench_check(kiln_emit(&binary, context, &signature, config, 0,
                          KILN_EMIT_BINARY, &error),
                &error);
    kiln_blob_release(&binary);
}

/* ---- launches ---- */

static void *setup(const struct bench *bench, const char **reason)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const facts_case *of = &cases[bench->size];
    struct fixture *f = calloc(1, sizeof *f);
    kiln_context *context = NULL;
    kiln_error *error = NULL;

    (void)reason;
    if (!f)
        bench_check(KILN_ENOMEM, NULL);
    options.codegen_exchange = exchange;
    bench_check(kiln_context_new(&context, &options, &error), &error);
    emit(context, of);
    kiln_context_free(context);
    if (!kiln__facts_fit(made, made_size, sizeof f->words[0]))
        bench_check(KILN_ECORRUPT, NULL);
    f->instructions = made_size / KILN__FACT_BYTES;
    bench_check(kiln__facts_make(&f->facts, &kiln__malloc, made, made_size),
                NULL);
    for (unsigned i = 0; i < 2; i++)
        memcpy(f->words[i], of->words, sizeof of->words);
    f->changes = of->changes;
    f->words[1][f->changes] += 4096;
    for (unsigned d = 0; d < 3; d++) {
        f->shape.sizes[d] = of->grid[d];
        f->shape.sizes[3 + d] = of->block[d];
        f->shape.sizes[6 + d] = of->grid[d] / of->block[d];
    }
    if (!kiln__facts_evaluate(f->facts, f->words[0], &f->shape) ||
        !kiln__facts_evaluate(f->facts, f->words[1], &f->shape))
        bench_check(KILN_EMISMATCH, NULL);
    return f;
}

static void teardown(void *state)
{
    struct fixture *f = state;

    kiln__facts_close(f->facts);
    free(f);
}

static void again(void *state, uint64_t iterations)
{
    const struct fixture *f = state;

    for (uint64_t i = 0; i < iterations; i++)
        BENCH_KEEP(kiln__facts_hold(f->facts, f->words[0], &f->shape));
}

static void turns(void *state, uint64_t iterations)
{
    const struct fixture *f = state;

    for (uint64_t i = 0; i < iterations; i++)
        BENCH_KEEP(kiln__facts_hold(f->facts, f->words[i % 2], &f->shape));
}

static void changing(void *state, uint64_t iterations)
{
    const struct fixture *f = state;
    uint64_t words[WORDS_MOST];
    const uint64_t first = f->words[0][f->changes];

    memcpy(words, f->words[0], sizeof words);
    for (uint64_t i = 0; i < iterations; i++) {
        words[f->changes] = first + i % 65536;
        BENCH_KEEP(kiln__facts_hold(f->facts, words, &f->shape));
    }
}

static void plain(void *state, uint64_t iterations)
{
    const struct fixture *f = state;

    for (uint64_t i = 0; i < iterations; i++)
        BENCH_KEEP(kiln__facts_evaluate(f->facts, f->words[0], &f->shape));
}

static void show(void *state, char *json, size_t capacity)
{
    const struct fixture *f = state;

    snprintf(json, capacity, ", \"instructions\": %zu", f->instructions);
}

#define ONE(kernel, number, what) \
    { \
        .name = "facts/" kernel "/" #what, .setup = setup, .run = what, \
        .teardown = teardown, .size = (number), .extra = show \
    }
#define EACH(kernel, number) \
    ONE(kernel, number, again), ONE(kernel, number, turns), \
        ONE(kernel, number, changing), ONE(kernel, number, plain)

const struct bench bench_facts[] = {
    EACH("saxpy", 0),
    EACH("jacobi", 1),
    EACH("gemm", 2),
    EACH("stencil7", 3),
    EACH("spmv_csr", 4),
    {.name = "facts/jacobi/again/threads=2",
     .setup = setup,
     .run = again,
     .teardown = teardown,
     .threads = 2,
     .size = 1},
    {.name = "facts/jacobi/changing/threads=2",
     .setup = setup,
     .run = changing,
     .teardown = teardown,
     .threads = 2,
     .size = 1},
    {.name = NULL},
};
