/* bench_targets.c - what a kernel of tgv takes from tier 2, for each target. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench.h"
#include "base/digest/digest.h"
#include "base/system/file.h"
#include "base/toolchain/tool_paths.h"
#include "closures.h"
#include "requests.h"

/*
 * `init_field` of the example tgv needs a sine and a cosine. On CUDA and ROCm
 * they are closures of libclc, the only pieces of tier 2 that its kernels take.
 * On the host they are the C library's, and in SPIR-V they are instructions, so
 * there is nothing to get. A sample gets both from a store on disk, in a
 * context that has nothing in memory, including the keys, and links them.
 * `made` is what extracting both takes, in the same rounds.
 */
#define PIECES 2
#define SAMPLES 31

static const char *const wanted[PIECES] = {"_Z3sind", "_Z3cosd"};
static const char *const declared[PIECES] = {"sine", "cosine"};
static const char *const symbols[PIECES] = {"kiln_rt_sine", "kiln_rt_cosine"};

struct targets {
    struct requests r;
    const char *target;
    const char *module; /* module of a kernel that calls both */
    char folder[PATH_MAX];
    kiln_digest library;
    kiln_blob pieces[PIECES];
    double made[SAMPLES], got[SAMPLES];
    size_t samples;
};

/* ---- the store ---- */

/* Gets a piece from the store, or extracts it and puts it there. True when it
   was there. */
static int get_piece(const struct targets *t, kiln_context *context,
                     const kiln_config *config, size_t piece)
{
    const struct closure closure = {t->library, wanted[piece],
                                    t->pieces[piece].data,
                                    t->pieces[piece].size};

    return closures_get(context, config, &closure);
}

static uint64_t get_pieces(struct targets *t)
{
    const kiln_config *config = NULL;
    kiln_context *context = closures_open(t->folder, t->target, &config);
    const uint64_t start = bench_now_ns();
    uint64_t took;

    for (size_t i = 0; i < PIECES; i++)
        if (!get_piece(t, context, config, i))
            bench_check(KILN_ENOTFOUND, NULL);
    took = bench_now_ns() - start;
    kiln_context_free(context);
    return took;
}

/* ---- extracting and linking ---- */

static uint64_t extract_pieces(struct targets *t)
{
    const uint64_t start = bench_now_ns();

    for (size_t i = 0; i < PIECES; i++) {
        requests_extract(&t->r, wanted[i], symbols[i]);
        kiln_blob_release(&t->pieces[i]);
        t->pieces[i] = t->r.bitcode;
        t->r.bitcode = (kiln_blob){0};
    }
    return bench_now_ns() - start;
}

/* Returns what reading and linking both takes, as tier 2 counts it. */
static uint64_t link_pieces(struct targets *t)
{
    static const char *const types[] = {"f64[:]"};
    kiln__codegen_import imports[PIECES];
    kiln__codegen_request request = request_of(&t->r, KILN_EMIT_LLVM, "k");

    for (size_t i = 0; i < PIECES; i++)
        imports[i] = (kiln__codegen_import){
            declared[i], symbols[i], t->pieces[i].data, t->pieces[i].size, 0};
    request.module = t->module;
    request.module_size = strlen(t->module);
    request.argument_types = types;
    request.argument_count = 1;
    request.imports = imports;
    request.import_count = PIECES;
    requests_generate(&t->r, &request);
    return t->r.read_ns;
}

static void run(void *state, uint64_t iterations)
{
    struct targets *t = state;
    const uint64_t made = extract_pieces(t);
    const uint64_t got = get_pieces(t) + link_pieces(t);

    (void)iterations;
    if (t->samples < SAMPLES) {
        t->made[t->samples] = (double)made;
        t->got[t->samples++] = (double)got;
    }
    bench_set_time(got);
}

/* ---- preparations ---- */

static void teardown(void *state)
{
    struct targets *t = state;

    for (size_t i = 0; i < PIECES; i++)
        kiln_blob_release(&t->pieces[i]);
    requests_close(&t->r);
    bench_folder_empty(t->folder);
    free(t);
}

static void *setup(const char *target, const char *module, int tool,
                   const char **reason)
{
    struct targets *t = calloc(1, sizeof *t);
    const kiln_config *config = NULL;
    kiln_context *context;
    char path[PATH_MAX];

    if (!t)
        bench_check(KILN_ENOMEM, NULL);
    if (kiln__tool_find(path, tool) != KILN__TOOL_FOUND ||
        !bench_folder_new(t->folder, sizeof t->folder)) {
        *reason = "libclc is not here, or the program's folder takes no files";
        free(t);
        return NULL;
    }
    t->target = target;
    t->module = module;
    requests_open(&t->r, target);
    bench_check(kiln__file_read(&t->r.library, &kiln__malloc, path,
                                (size_t)1 << 28, NULL),
                NULL);
    t->library = kiln__digest_bytes(t->r.library.data, t->r.library.size);
    (void)extract_pieces(t);
    context = closures_open(t->folder, t->target, &config);
    for (size_t i = 0; i < PIECES; i++)
        (void)get_piece(t, context, config, i);
    kiln_context_free(context);
    return t;
}

#define MODULE(item) \
    "declare double @sine(double)\n" \
    "declare double @cosine(double)\n" \
    "define i32 @k(ptr " item " %item, ptr %y, i64 %n) {\n" \
    "  %x = load double, ptr %y\n" \
    "  %s = call double @sine(double %x)\n" \
    "  %c = call double @cosine(double %s)\n" \
    "  store double %c, ptr %y\n" \
    "  ret i32 0\n" \
    "}\n"

static void *cuda_setup(const struct bench *bench, const char **reason)
{
    (void)bench;
    return setup("cuda:sm_90", MODULE(""), KILN__TOOL_LIBCLC_NVPTX64, reason);
}

static void *rocm_setup(const struct bench *bench, const char **reason)
{
    (void)bench;
    return setup("rocm:gfx90a", MODULE("addrspace(5)"),
                 KILN__TOOL_LIBCLC_AMDGCN, reason);
}

static void *nothing_to_get(const struct bench *bench, const char **reason)
{
    (void)bench;
    *reason = "tgv's kernels take nothing from tier 2 there";
    return NULL;
}

/* ---- output ---- */

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return values[count / 2];
}

static void show(void *state, char *json, size_t capacity)
{
    struct targets *t = state;
    const double made = median(t->made, t->samples);

    snprintf(json, capacity,
             ", \"made_ns\": %.2f, \"ratio\": %.2f, \"bitcode_bytes\": %zu",
             made, made / median(t->got, t->samples),
             t->pieces[0].size + t->pieces[1].size);
}

#define ONE(title, get_ready) \
    { \
        .name = (title), .setup = (get_ready), .run = run, \
        .teardown = teardown, .whole = 1, .samples = SAMPLES, .extra = show \
    }

const struct bench bench_targets[] = {
    ONE("runtime/tgv/cuda", cuda_setup),
    ONE("runtime/tgv/rocm", rocm_setup),
    ONE("runtime/tgv/spirv", nothing_to_get),
    ONE("runtime/tgv/host", nothing_to_get),
    {.name = NULL},
};
