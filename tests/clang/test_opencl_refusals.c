/* test_opencl_refusals.c - what is refused of the functions that reach it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen */
/* LINKS: codegen */
#include "support/frontend/clang_source.h"

#include <stdlib.h>

static source test;

static const char *const versions[] = {"-cl-std=CL1.0", "-cl-std=CL1.1",
                                       "-cl-std=CL1.2", "-cl-std=CL2.0",
                                       "-cl-std=CL3.0"};
#define VERSIONS (sizeof versions / sizeof *versions)
#define FIRST_WITH_PIPES 3

static void use_version(const char *version)
{
    test.request.option_count = 0;
    source_option(&test, version);
}

/* What of a function is refused; "": nothing, and it has a module. */
static const char *refusal(const char *name)
{
    const kiln__source_function *function = source_find(&test, name);

    assert_int_equal(function->bitcode_size == 0, *function->refusal != '\0');
    return function->refusal;
}

static void assert_refusal(const char *text, const char *words)
{
    assert_ok(source_try(&test, text));
    assert_contains(refusal("k"), words);
}

static void images_and_samplers_are_refused_by_name(void **state)
{
    (void)state;
    assert_refusal("kernel void k(global int *a, read_only image2d_t i) {}",
                   "image2d_t: images and samplers are not supported");
    assert_refusal("kernel void k(global int *a, sampler_t s) {}", "sampler_t");
    assert_refusal("constant sampler_t s = CLK_FILTER_NEAREST;\n"
                   "kernel void k(global float4 *a, read_only image2d_t i)\n"
                   "{ a[0] = read_imagef(i, s, (int2)(0)); }",
                   "image2d_t");
    assert_refusal("kernel void k(global int *a) {\n"
                   "  const sampler_t s = CLK_FILTER_NEAREST;\n}",
                   "sampler_t");
}

#define PLAIN "kernel void plain(global int *a) { a[0] = get_global_id(0); }\n"

/* Only the functions that reach it. */
static void check_kernel_beside_images(const char *version)
{
    char *alone;

    use_version(version);
    assert_ok(source_try(&test, PLAIN));
    alone = strdup(source_ir(&test, "plain"));
    assert_ok(source_try(
        &test,
        "constant sampler_t s = CLK_FILTER_NEAREST;\n"
        "float4 at(read_only image2d_t i, int2 p)\n"
        "{ return read_imagef(i, s, p); }\n"
        "float first(read_only image2d_t i)\n"
        "{ return at(i, (int2)(0)).x; }\n"
        "kernel void k(global float *a, read_only image2d_t i)\n"
        "{ a[0] = first(i); }\n"
        "kernel void l(global float *a, read_only image3d_t i)\n"
        "{ a[0] = get_image_width(i); }\n"
        "float none(float x) { sampler_t t = 0; return x; }\n"
        "kernel void m(global float *a) { a[0] = none(a[1]); }\n" PLAIN));
    assert_contains(refusal("at"), "image2d_t: images");
    assert_contains(refusal("k"), "image2d_t: images");
    assert_contains(refusal("l"), "image3d_t: images");
    assert_string_equal(refusal("m"), "it calls none: sampler_t: images and "
                                      "samplers are not supported");
    assert_string_equal(refusal("plain"), "");
    assert_string_equal(source_ir(&test, "plain"), alone);
    free(alone);
}

static void an_image_is_no_matter_of_other_kernels(void **state)
{
    (void)state;
    for (size_t i = 0; i < VERSIONS; i++)
        check_kernel_beside_images(versions[i]);
}

static void a_pipe_is_no_matter_of_other_kernels(void **state)
{
    (void)state;
    for (size_t i = FIRST_WITH_PIPES; i < VERSIONS; i++) {
        use_version(versions[i]);
        assert_ok(source_try(
            &test, "kernel void k(global int *a, read_only pipe int p)\n"
                   "{ int x; read_pipe(p, &x); a[0] = x; }\n" PLAIN));
        assert_contains(refusal("k"), "pipes and queues of a device");
        assert_string_equal(refusal("plain"), "");
    }
}

static void a_format_that_is_no_literal_is_no_matter_of_other_kernels(
    void **state)
{
    (void)state;
    assert_ok(source_try(
        &test, "static void show(constant char *f, int x) { printf(f, x); }\n"
               "constant char form[] = \"%d\";\n"
               "kernel void k(constant char *f) { printf(f); }\n"
               "kernel void l(global int *a)\n"
               "{ printf(\"%d\", a[0]); show(\"%d\", a[1]); }\n"
               "kernel void m(global int *a) { printf(form, a[0]); }\n" PLAIN));
    assert_string_equal(refusal("k"),
                        "the format of printf() must be a string literal");
    assert_string_equal(
        refusal("l"),
        "the format of printf() in show must be a string literal");
    assert_string_equal(refusal("m"), "");
    assert_string_equal(refusal("plain"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SOURCE_TEST(images_and_samplers_are_refused_by_name),
        SOURCE_TEST(an_image_is_no_matter_of_other_kernels),
        SOURCE_TEST(a_pipe_is_no_matter_of_other_kernels),
        SOURCE_TEST(a_format_that_is_no_literal_is_no_matter_of_other_kernels),
    };

    if (!source_is_there())
        return program_skip(SKIP_PACKAGE, SOURCE_NEEDS_CLANG);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
