/* test_reproducible.c - code does not depend on what was made before it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen host cuda rocm spirv thread */
#include "support/harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kiln.h"
#include "support/devices/signatures.h"
#include "tiers/runtime/runtime_bitcode.h"

/*
 * A process that was started anew compiles some of the kernels of
 * tests/language/signatures.txt, in some order, on some threads, and writes
 * down a number for the bytes of each. Whatever else it compiled, the number of
 * a kernel is the same. What all is compared with is made by a context for each
 * kernel, which links the runtime functions that it calls, since it has read
 * none before; and there is a pass in the reverse order, one on several
 * threads, one that lowers all runtime functions with their kernels, and
 * processes that compile one kernel and nothing else.
 */

typedef struct product {
    const char *target;
    int32_t form;
    uint8_t debug_level;
    uint8_t opt_level;
    uint8_t share; /* one of so many kernels, for the sake of time */
} product;

/* PTX is compared before assemblers, which are not ours, see it. */
static const product products[] = {
    {"host", KILN_EMIT_BINARY, KILN_DEBUG_NONE, KILN_OPT_DEFAULT, 5},
    {"host", KILN_EMIT_ASM, KILN_DEBUG_FULL, KILN_OPT_0, 1},
    {"cuda:sm_75", KILN_EMIT_ASM, KILN_DEBUG_NONE, KILN_OPT_0, 1},
    {"cuda:sm_90", KILN_EMIT_ASM, KILN_DEBUG_FULL, KILN_OPT_DEFAULT, 1},
    {"rocm:gfx90a", KILN_EMIT_BINARY, KILN_DEBUG_NONE, KILN_OPT_DEFAULT, 4},
    {"rocm:gfx1100", KILN_EMIT_BINARY, KILN_DEBUG_LINES, KILN_OPT_0, 3},
    {"spirv:1.4+fp16+fp64+int64_atomics+subgroups", KILN_EMIT_BINARY,
     KILN_DEBUG_NONE, KILN_OPT_DEFAULT, 2},
};

#define PRODUCT_COUNT (sizeof products / sizeof products[0])

/* ---- what a process does ---- */

/* Kernels first, first + step, first + 2 * step, ... of the list, which begins
   again behind its end. */
typedef struct plan {
    size_t product;
    size_t first;
    size_t step;
    size_t count;
    size_t threads;
    size_t way;
} plan;

/* How runtime functions come into kernels: as their times advise, linked, or
   lowered in place. */
enum { ADVISED, LINKED, IN_PLACE };

typedef struct pass {
    plan plan;
    kiln_context *context;
    const kiln_config *config;
    kiln_package *packages[SIGNATURES_MAX];
    uint64_t numbers[SIGNATURES_MAX]; /* 0: it was not compiled */
    atomic_size_t next;
    thread_report report;
} pass;

/* FNV-1a, never 0. */
static uint64_t number_of(const kiln_blob *bytes)
{
    const unsigned char *at = bytes->data;
    uint64_t sum = 0xcbf29ce484222325u;

    for (size_t i = 0; i < bytes->size; i++)
        sum = (sum ^ at[i]) * 0x100000001b3u;
    return sum | 1;
}

static kiln_status emit(kiln_blob *out, pass *p, size_t index,
                        kiln_error **error)
{
    const signature *s = &signatures[index];
    const kiln_type *list[16];
    kiln_signature sought = {.types = list};
    char rest[256], *type = rest;

    KILN_TRY(kiln_package_function(&sought.function, p->packages[index],
                                   s->kernel, error));
    (void)snprintf(rest, sizeof rest, "%s", s->types);
    while (type != NULL && *type != '\0') {
        char *end = strstr(type, " | ");

        if (end != NULL)
            *end = '\0';
        KILN_TRY(kiln_type_parse(&list[sought.count++], p->context,
                                 p->packages[index], type, error));
        type = end != NULL ? end + 3 : NULL;
    }
    return kiln_emit(out, p->context, &sought, p->config, 0,
                     products[p->plan.product].form, error);
}

/* What SPIR-V cannot do has a number, too. */
static void compile(pass *p, size_t index)
{
    kiln_error *error = NULL;
    kiln_blob made = {0};

    if (emit(&made, p, index, &error) == KILN_OK)
        p->numbers[index] = number_of(&made);
    else if (strstr(kiln_error_message(error), "recursion") != NULL)
        p->numbers[index] = 2;
    else
        thread_assert_ok(&p->report, kiln_error_status(error));
    kiln_blob_release(&made);
    kiln_error_free(error);
}

static void *compile_some(void *env)
{
    pass *p = env;
    size_t i;

    while ((i = atomic_fetch_add(&p->next, 1)) < p->plan.count)
        compile(p, (p->plan.first + i * p->plan.step) % signature_count);
    return NULL;
}

static const char *package_name(size_t index)
{
    const char *slash = strrchr(signatures[index].file, '/');

    return slash != NULL ? slash + 1 : signatures[index].file;
}

/* All packages, or those of one name: files of one name are one package, of
   which the last one's places are told. */
static void load_packages(pass *p, const char *name)
{
    for (size_t i = 0; i < signature_count; i++) {
        if (name != NULL && strcmp(package_name(i), name) != 0)
            continue;
        if (i > 0 && strcmp(signatures[i].file, signatures[i - 1].file) == 0)
            p->packages[i] = p->packages[i - 1];
        else
            assert_ok(kiln_package_load(&p->packages[i], p->context,
                                        signature_path(&signatures[i]), NULL,
                                        &test_error));
    }
}

/* A piece of any size was slower to read than to make: none is tried again. */
static void give_up_linking(kiln_context *context)
{
    static const char key[] = "not a key of any function";
    const kiln__runtime_query query = {
        .digest = kiln_digest_bytes(key, sizeof key),
        .encoded = key,
        .encoded_size = sizeof key,
        .is_optional = 1,
        .work = (size_t)1 << 40,
    };
    kiln__runtime_entry *entry = NULL;

    assert_int_equal(kiln__runtime_claim(&entry, context, &query),
                     KILN__RUNTIME_OWN);
    assert_ok(kiln__runtime_finish(context, entry, "x", 1, 0));
    for (int i = 0; i < KILN__RUNTIME_READS; i++)
        kiln__runtime_was_read(context, entry, 1);
    kiln__runtime_release(context, entry);
}

static void open_context(pass *p)
{
    const product *w = &products[p->plan.product];
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    options.target = w->target;
    options.debug_level = w->debug_level;
    options.opt_level = w->opt_level;
    assert_ok(kiln_context_new(&p->context, NULL, &test_error));
    assert_ok(kiln_config_new(&p->config, p->context, &options, &test_error));
    if (p->plan.way == IN_PLACE)
        give_up_linking(p->context);
}

static void run_together(pass *p)
{
    open_context(p);
    load_packages(p, NULL);
    harness_run_threads(p->plan.threads, compile_some, p);
    kiln_context_free(p->context);
}

static void run_apart(pass *p)
{
    for (size_t i = 0; i < p->plan.count; i++) {
        const size_t index =
            (p->plan.first + i * p->plan.step) % signature_count;

        open_context(p);
        load_packages(p, package_name(index));
        compile(p, index);
        kiln_context_free(p->context);
    }
}

static void run(pass *p)
{
    if (p->plan.way == LINKED)
        run_apart(p);
    else
        run_together(p);
    assert_threads_ok(&p->report);
}

/* ---- a process of its own ---- */

static pass done = {.report = THREAD_REPORT_INIT};

/* `test_reproducible FILE PRODUCT FIRST STEP COUNT THREADS WAY` */
static void write_numbers(void **state)
{
    const char *path = *state;
    FILE *file;

    run(&done);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(
        fwrite(done.numbers, sizeof *done.numbers, signature_count, file),
        signature_count);
    assert_int_equal(fclose(file), 0);
}

static int serve(char **arguments)
{
    size_t numbers[6];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(write_numbers, arguments[1]),
    };

    for (size_t i = 0; i < 6; i++)
        numbers[i] = strtoul(arguments[2 + i], NULL, 10);
    done.plan = (plan){numbers[0], numbers[1], numbers[2],
                       numbers[3], numbers[4], numbers[5]};
    return cmocka_run_group_tests_name("a process", tests, NULL, NULL);
}

static void start(uint64_t numbers[SIGNATURES_MAX], const char *folder,
                  plan wanted)
{
    const size_t words[6] = {wanted.product, wanted.first,   wanted.step,
                             wanted.count,   wanted.threads, wanted.way};
    char path[512], texts[6][24];
    const char *arguments[8] = {path};
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/numbers", folder);
    for (size_t i = 0; i < 6; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "%zu", words[i]);
        arguments[1 + i] = texts[i];
    }
    assert_int_equal(harness_run_self(arguments), 0);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(numbers, sizeof *numbers, signature_count, file),
                     signature_count);
    fclose(file);
}

/* ---- comparisons ---- */

/* Of what `second` has; how many it has. */
static size_t compare(const product *w, const uint64_t *first,
                      const uint64_t *second)
{
    size_t compared = 0, different = 0;

    for (size_t i = 0; i < signature_count; i++) {
        if (second[i] == 0)
            continue;
        compared++;
        if (first[i] == second[i])
            continue;
        different++;
        if (different <= 8)
            print_message("%s.%s(%s) for %s differs\n", signatures[i].file,
                          signatures[i].kernel, signatures[i].types, w->target);
    }
    if (different > 0)
        fail_msg("%s: %zu of %zu kernels differ", w->target, different,
                 compared);
    return compared;
}

static uint64_t expected[PRODUCT_COUNT][SIGNATURES_MAX];

/* How many kernels are compiled for the product. */
static size_t count_of(size_t index)
{
    const size_t share = products[index].share;

    return (signature_count + share - 1) / share;
}

static const uint64_t *expected_of(const char *folder, size_t index)
{
    if (expected[index][0] == 0)
        start(expected[index], folder,
              (plan){.product = index,
                     .step = products[index].share,
                     .count = count_of(index),
                     .threads = 1,
                     .way = LINKED});
    return expected[index];
}

static void the_order_in_a_process_changes_nothing(void **state)
{
    static uint64_t numbers[SIGNATURES_MAX];

    for (size_t i = 0; i < PRODUCT_COUNT; i++) {
        const size_t share = products[i].share, count = count_of(i);

        start(numbers, *state,
              (plan){.product = i,
                     .first = (count - 1) * share,
                     .step = signature_count - share, /* backwards */
                     .count = count,
                     .threads = 1});
        assert_int_equal(compare(&products[i], expected_of(*state, i), numbers),
                         count);
    }
}

static void threads_side_by_side_change_nothing(void **state)
{
    static uint64_t numbers[SIGNATURES_MAX];

    for (size_t i = 0; i < PRODUCT_COUNT; i++) {
        const size_t count = count_of(i) / 2;

        start(numbers, *state,
              (plan){.product = i,
                     .step = products[i].share,
                     .count = count,
                     .threads = 4});
        assert_int_equal(compare(&products[i], expected_of(*state, i), numbers),
                         count);
    }
}

static void lowering_what_could_be_linked_changes_nothing(void **state)
{
    static uint64_t numbers[SIGNATURES_MAX];

    for (size_t i = 0; i < PRODUCT_COUNT; i++) {
        start(numbers, *state,
              (plan){.product = i,
                     .step = products[i].share,
                     .count = count_of(i),
                     .threads = 1,
                     .way = IN_PLACE});
        assert_int_equal(compare(&products[i], expected_of(*state, i), numbers),
                         count_of(i));
    }
}

#define ALONE 8 /* kernels of each product */

static void a_kernel_that_is_compiled_alone_is_the_same(void **state)
{
    static uint64_t numbers[SIGNATURES_MAX];

    for (size_t i = 0; i < PRODUCT_COUNT; i++)
        for (size_t k = 0; k < ALONE; k++) {
            const size_t kernel = k * count_of(i) / ALONE * products[i].share;

            start(numbers, *state,
                  (plan){
                      .product = i, .first = kernel, .count = 1, .threads = 1});
            assert_int_equal(
                compare(&products[i], expected_of(*state, i), numbers), 1);
        }
}

/* ---- what a cache compares ---- */

static const char calls[] = "fn down(n)\n"
                            "    if n <= 0\n        return 0\n    end\n"
                            "    return n + down(n - 1)\n"
                            "end\n"
                            "kernel sums(y)\n"
                            "    y[global_id(0)] = down(y[0])\n"
                            "end\n"
                            "kernel logarithms(y, x)\n"
                            "    y[global_id(0)] = log(x[global_id(0)])\n"
                            "end\n"
                            "kernel angles(y, x)\n"
                            "    i = global_id(0)\n"
                            "    y[i] = atan2(x[i], y[i]) + sin(x[i])\n"
                            "end\n";

static const char *const callers[] = {"sums", "logarithms", "angles"};

#define CALLER_COUNT (sizeof callers / sizeof callers[0])

static void compile_caller(kiln_context *context, const kiln_config *config,
                           kiln_package *package, const char *name)
{
    const kiln_kernel *kernel = NULL;
    const kiln_type *types[2];
    kiln_signature sought = {
        .types = types,
        .count = strcmp(name, "sums") == 0 ? 1 : 2,
    };

    for (size_t i = 0; i < sought.count; i++)
        assert_ok(kiln_type_parse(&types[i], context, NULL,
                                  sought.count == 1 ? "i64[:]" : "f64[:]",
                                  &test_error));
    assert_ok(
        kiln_package_function(&sought.function, package, name, &test_error));
    assert_ok(
        kiln_compile(&kernel, context, &sought, config, NULL, &test_error));
}

/* The kernels in their order or the other way round; how often what was built
   is not what the folder has. */
static uint64_t compile_callers(const char *folder, uint8_t mode,
                                int is_reversed)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options wanted = KILN_CONFIG_OPTIONS_INIT;
    kiln_statistics counted = {.size = sizeof counted};
    const kiln_config *config = NULL;
    kiln_context *context = NULL;
    kiln_package *package = NULL;
    kiln_device *device = NULL;

    cache.directory = folder;
    cache.mode = mode;
    options.cache = &cache;
    options.workers = 1;
    wanted.target = "cuda:sm_75";
    wanted.opt_level = KILN_OPT_0;
    assert_ok(kiln_context_new(&context, &options, &test_error));
    assert_ok(kiln_config_new(&config, context, &wanted, &test_error));
    assert_ok(kiln_device_open_offline(&device, context, config, &test_error));
    assert_ok(kiln_package_new(&package, context, "main", &test_error));
    assert_ok(kiln_package_define(package, "main.kiln", calls, strlen(calls),
                                  NULL, &test_error));
    for (size_t i = 0; i < CALLER_COUNT; i++)
        compile_caller(context, config, package,
                       callers[is_reversed ? CALLER_COUNT - 1 - i : i]);
    kiln_statistics_get(&counted, context);
    assert_int_equal(counted.tiers[KILN_TIER_BINARY].built, CALLER_COUNT);
    kiln_device_close(device);
    kiln_context_free(context);
    return counted.stores[KILN_TIER_BINARY].misses[KILN_MISS_DIFFERENT];
}

static void a_cache_that_verifies_in_another_order_agrees(void **state)
{
    const char *folder = *state;

    assert_int_equal(compile_callers(folder, KILN_CACHE_MODE_READ_WRITE, 0), 0);
    assert_int_equal(compile_callers(folder, KILN_CACHE_MODE_VERIFY, 1), 0);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        TEST(the_order_in_a_process_changes_nothing),
        TEST(threads_side_by_side_change_nothing),
        TEST(lowering_what_could_be_linked_changes_nothing),
        TEST(a_kernel_that_is_compiled_alone_is_the_same),
        TEST(a_cache_that_verifies_in_another_order_agrees),
    };

    signatures_read();
    if (count == 8)
        return serve(arguments);
    /* PTX stays what it is. */
    setenv("KILN_NVJITLINK", "off", 1);
    setenv("KILN_PTXAS", "off", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
