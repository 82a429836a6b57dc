/* spirv_modules.c - modules are read, rewritten and translated. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/spirv/spirv.h"
#include "spirv_kernels.h"

typedef struct fixture {
    kiln_context *context;
    uint32_t *words;
    size_t size; /* in bytes */
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    f->words = spirv_kernels_read(&f->size);
    assert_ok(kiln_context_new(&f->context, NULL, &test_error));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    kiln_context_free(f->context);
    free(f->words);
    free(f);
    return 0;
}

/* ---- parameters ---- */

static kiln_status parameters_of(kiln__spirv_parameter *out, size_t *count,
                                 const fixture *f, const spirv_program *program)
{
    spirv_kernel kernel;
    const kiln_artifact *artifact;
    kiln_status status;

    memset(&kernel, 0, sizeof kernel);
    artifact = spirv_artifact(&kernel, f->context, program, "spirv:1.4",
                              f->words, f->size);
    status = kiln__spirv_parameters(out, count, artifact,
                                    kiln_artifact_kernel(artifact, 0), 0,
                                    &test_error);
    kiln_artifact_release(artifact);
    return status;
}

static void parameters_follow_the_packed_block(void **state)
{
    static const kiln__spirv_parameter expected[] = {{0, 8, 1, 0},
                                                     {8, 8, 0, 0},
                                                     {16, 4, 0, 0},
                                                     {24, 8, 1, 0},
                                                     {32, 8, 0, 0}};
    kiln__spirv_parameter found[KILN__SPIRV_LARGE_PARAMETERS];
    size_t count = 0;

    assert_ok(parameters_of(found, &count, *state, &spirv_saxpy));
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].offset, expected[i].offset);
        assert_int_equal(found[i].size, expected[i].size);
        assert_int_equal(found[i].is_pointer, expected[i].is_pointer);
    }
}

static void hidden_parameters_come_last(void **state)
{
    kiln__spirv_parameter found[KILN__SPIRV_LARGE_PARAMETERS];
    size_t count = 0;

    assert_ok(parameters_of(found, &count, *state, &spirv_raise));
    assert_int_equal(count, 4);
    assert_int_equal(found[2].offset, 16);
    assert_true(found[2].is_pointer);
    assert_int_equal(found[3].offset, 24);
    assert_false(found[3].is_pointer);
}

static void metadata_that_does_not_fit_the_module_is_refused(void **state)
{
    static const spirv_program wrong[] = {
        {"nowhere", {"f32[:]"}, 0, NULL, 0},
        {"saxpy", {"f32[:]", "f32"}, 0, NULL, 0},
        {"saxpy", {"f32[:]", "f32", "f32[:]", "i64"}, 0, NULL, 0},
        {"saxpy", {"f32[:,:]", "f32[:]"}, 0, NULL, 0},
        {"saxpy", {"f32[:]", "f32", "f32[:]"}, 2, NULL, 0},
        {"saxpy", {"f32[:]", "f32", "f32[:]"}, 1, NULL, 0},
    };
    kiln__spirv_parameter found[KILN__SPIRV_LARGE_PARAMETERS];
    size_t count = 0;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(KILN_ECORRUPT, wrong[i].name,
                     parameters_of(found, &count, *state, &wrong[i]));
}

static void damaged_modules_are_refused_or_read(void **state)
{
    fixture *f = *state;
    kiln__spirv_parameter found[KILN__SPIRV_LARGE_PARAMETERS];
    const size_t count = f->size / sizeof *f->words;
    size_t parameters;

    for (size_t i = 0; i < count; i++) {
        const uint32_t word = f->words[i];
        kiln_blob legal = {0};

        f->words[i] = word ^ 0x00040001u;
        if (parameters_of(found, &parameters, f, &spirv_saxpy) == KILN_OK)
            assert_int_equal(parameters, 5);
        kiln_error_free(test_error);
        test_error = NULL;
        if (kiln__spirv_legalise(&legal, &kiln__malloc, f->words, f->size,
                                 NULL) == KILN_OK)
            kiln_blob_release(&legal);
        f->words[i] = word;
    }
}

static void modules_that_end_early_are_refused(void **state)
{
    const fixture *f = *state;

    for (size_t size = 0; size < f->size; size += 4) {
        kiln_blob legal = {0};
        const kiln_status status =
            kiln__spirv_legalise(&legal, &kiln__malloc, f->words, size, NULL);

        assert_true(status == KILN_OK || status == KILN_ECORRUPT);
        assert_true(size >= 20 || status == KILN_ECORRUPT);
        kiln_blob_release(&legal);
    }
}

static void what_is_no_module_is_refused(void **state)
{
    static const uint32_t other_order[5] = {0x03022307u, 0x00010400u};
    static const uint32_t other_version[5] = {KILN__SPIRV_MAGIC, 0x00020000u};
    const fixture *f = *state;
    kiln__spirv_walk walk;

    assert_status(KILN_ECORRUPT,
                  kiln__spirv_walk_init(&walk, NULL, 0, &test_error));
    assert_status(KILN_ECORRUPT,
                  kiln__spirv_walk_init(&walk, other_order, 20, &test_error));
    assert_status(KILN_ECORRUPT,
                  kiln__spirv_walk_init(&walk, other_version, 20, &test_error));
    assert_status(
        KILN_ECORRUPT,
        kiln__spirv_walk_init(&walk, f->words, f->size - 1, &test_error));
    assert_status(KILN_ECORRUPT,
                  kiln__spirv_walk_init(&walk, (const char *)f->words + 2,
                                        f->size - 4, &test_error));
}

/* ---- legalising ---- */

enum { OP_CONSTANT_FALSE = 42, OP_CONSTANT = 43, OP_CONSTANT_NULL = 46 };

static void zeros_of_numbers_are_given_a_value(void **state)
{
    /* bool, i32, f64, a vector of i32, and a zero of each */
    static const uint32_t module[] = {KILN__SPIRV_MAGIC,
                                      0x00010400u,
                                      0,
                                      20,
                                      0,
                                      2u << 16 | 20,
                                      1,
                                      4u << 16 | 21,
                                      2,
                                      32,
                                      0,
                                      3u << 16 | 22,
                                      3,
                                      64,
                                      4u << 16 | 23,
                                      4,
                                      2,
                                      2,
                                      3u << 16 | 46,
                                      1,
                                      10,
                                      3u << 16 | 46,
                                      2,
                                      11,
                                      3u << 16 | 46,
                                      3,
                                      12,
                                      3u << 16 | 46,
                                      4,
                                      13};
    static const uint32_t expected[] = {3u << 16 | OP_CONSTANT_FALSE,
                                        1,
                                        10,
                                        4u << 16 | OP_CONSTANT,
                                        2,
                                        11,
                                        0,
                                        5u << 16 | OP_CONSTANT,
                                        3,
                                        12,
                                        0,
                                        0,
                                        3u << 16 | OP_CONSTANT_NULL,
                                        4,
                                        13};
    kiln_blob legal = {0};
    const size_t head = 18 * sizeof *module;

    (void)state;
    assert_ok(kiln__spirv_legalise(&legal, &kiln__malloc, module, sizeof module,
                                   &test_error));
    assert_int_equal(legal.size, head + sizeof expected);
    assert_memory_equal(legal.data, module, head);
    assert_memory_equal((const char *)legal.data + head, expected,
                        sizeof expected);
    kiln_blob_release(&legal);
}

static kiln_status legalise_with(const kiln_alloc *alloc, void *env)
{
    const fixture *f = env;
    kiln_blob legal = {0};
    const kiln_status status =
        kiln__spirv_legalise(&legal, alloc, f->words, f->size, NULL);

    kiln_blob_release(&legal);
    return status;
}

static void legalising_survives_without_memory(void **state)
{
    assert_survives_failing_alloc(legalise_with, *state);
}

/* ---- translating ---- */

static kiln_status translate(kiln_blob *out, const fixture *f)
{
    char tools[KILN__SPIRV_TOOLS_SIZE];

    return kiln__spirv_translate(out, tools, f->context, f->words, f->size,
                                 &test_error);
}

static kiln_status translate_by(kiln_blob *out, const fixture *f,
                                const char *program)
{
    kiln_status status;

    assert_int_equal(setenv("KILN_LLVM_SPIRV", program, 1), 0);
    status = translate(out, f);
    (void)unsetenv("KILN_LLVM_SPIRV");
    return status;
}

static void the_translator_gives_bitcode(void **state)
{
    const fixture *f = *state;
    kiln_blob bitcode = {0};
    const kiln_status status = translate(&bitcode, f);

    if (status == KILN_EUNSUPPORTED) {
        kiln_error_free(test_error);
        test_error = NULL;
        test_skip(SKIP_PACKAGE, "no llvm-spirv");
    }
    assert_ok(status);
    assert_true(bitcode.size > 4);
    assert_memory_equal(bitcode.data, "BC\xc0\xde", 4);
    kiln_blob_release(&bitcode);
}

static void an_absent_translator_is_named(void **state)
{
    const fixture *f = *state;
    kiln_blob bitcode = {0};

    assert_fails(KILN_EUNSUPPORTED, "KILN_LLVM_SPIRV",
                 translate_by(&bitcode, f, "/nowhere/llvm-spirv"));
}

static void a_translator_that_fails_has_its_words_in_the_error(void **state)
{
    const fixture *f = *state;
    kiln_blob bitcode = {0};

    assert_fails(KILN_EDEVICE, "llvm-spirv failed",
                 translate_by(&bitcode, f, "/bin/false"));
    assert_fails(KILN_EDEVICE, "llvm-spirv failed",
                 translate_by(&bitcode, f, "/bin/true"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(parameters_follow_the_packed_block),
        TEST(hidden_parameters_come_last),
        TEST(metadata_that_does_not_fit_the_module_is_refused),
        TEST(damaged_modules_are_refused_or_read),
        TEST(modules_that_end_early_are_refused),
        TEST(what_is_no_module_is_refused),
        TEST(zeros_of_numbers_are_given_a_value),
        TEST(legalising_survives_without_memory),
        TEST(the_translator_gives_bitcode),
        TEST(an_absent_translator_is_named),
        TEST(a_translator_that_fails_has_its_words_in_the_error),
    };

    return cmocka_run_group_tests_name("spirv_modules", tests, NULL, NULL);
}
