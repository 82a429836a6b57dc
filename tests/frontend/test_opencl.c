/* test_opencl.c - OpenCL C as a frontend, with a translator that is a toy. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
/* WRAPS: kiln__source_compile kiln__source_compiler */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/frontend/cl_fake.h"

#define TWO \
    "kernel first f32* i32\n  ; one\n" \
    "kernel second f32* local:f32\n  ; two\n"

/* ---- programs ---- */

static void test_names(void **state)
{
    cl_process p;
    kiln_opencl_program *a, *b;
    kiln_frontend *frontend;
    const kiln_function *f, *g;

    cl_start(&p, *state);
    assert_status(KILN_ENOTFOUND, kiln_opencl_find(&a, p.context, "2mm"));
    assert_ok(kiln_opencl_new(&a, p.context, "2mm", &test_error));
    assert_ok(kiln_opencl_new(&b, p.context, "2mm", &test_error));
    assert_ptr_equal(a, b);
    assert_ok(kiln_opencl_find(&b, p.context, "2mm"));
    assert_string_equal(kiln_opencl_name(b), "2mm");
    assert_ok(kiln_opencl_function(&f, a, "k", &test_error));
    assert_ok(kiln_opencl_function(&g, a, "k", &test_error));
    assert_ptr_equal(f, g);
    assert_string_equal(kiln_function_name(f), "2mm.k");
    assert_ok(kiln_opencl_frontend(&frontend, p.context, &test_error));
    assert_ptr_equal(kiln_function_frontend(f), frontend);
    assert_fails(KILN_EINVAL, "cannot name a program",
                 kiln_opencl_new(&b, p.context, "a b", &test_error));
    assert_fails(KILN_EINVAL, "cannot name a program",
                 kiln_opencl_new(&b, p.context, "", &test_error));
    assert_fails(KILN_EINVAL, "not the name of a kernel",
                 kiln_opencl_function(&f, a, "1k", &test_error));
    assert_counted(0, 0);
    cl_end(&p);
}

static void test_loads_a_file(void **state)
{
    char path[300];
    kiln_opencl_program *program;
    kiln_blob text;
    cl_process p;

    cl_start(&p, *state);
    harness_write_file(path, sizeof path, *state, "main.cl", TWO, strlen(TWO));
    assert_ok(
        kiln_opencl_load(&program, p.context, path, NULL, NULL, &test_error));
    assert_string_equal(kiln_opencl_name(program), "main");
    assert_ok(kiln_opencl_kernels(&text, program, &test_error));
    assert_string_equal(text.data, "kernel void first(float * p0, int p1)\n"
                                   "kernel void second(float * p0, "
                                   "float * p1)\n");
    kiln_blob_release(&text);
    (void)cl_digest(&p, "first", "f32[:]; i32");
    assert_counted(0, 1);
    assert_fails(KILN_EIO, "absent.cl",
                 kiln_opencl_load(&program, p.context, "absent.cl", NULL, NULL,
                                  &test_error));
    assert_string_equal(kiln_opencl_name(program), "absent");
    cl_end(&p);
}

static void test_tells_what_is_there(void **state)
{
    const kiln_code *code;
    cl_process p;

    cl_start(&p, *state);
    cl_define(&p, TWO);
    assert_fails(KILN_ENOTFOUND, "it has first, second",
                 cl_infer(&code, &p, "third", "", &test_error));
    cl_define(&p, "// nothing\n");
    assert_fails(KILN_ENOTFOUND, "it has none",
                 cl_infer(&code, &p, "first", "", &test_error));
    cl_end(&p);
}

static void test_errors_have_diagnostics(void **state)
{
    kiln_error *error = NULL;
    const kiln_code *code;
    cl_process p;

    cl_start(&p, *state);
    cl_define(&p, "error unknown type name 'flaot'\n");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cl_infer(&code, &p, "k", i ? "i32" : "", &error),
                         KILN_ECOMPILE);
        assert_int_equal(kiln_error_diagnostic_count(error), 1);
        assert_string_equal(kiln_error_diagnostic(error, 0)->message,
                            "unknown type name 'flaot'");
        assert_string_equal(kiln_error_diagnostic(error, 0)->location.file,
                            "main.cl");
        kiln_error_free(error);
    }
    assert_counted(0, 1); /* the failure is remembered */
    cl_define(&p, "kernel k\n");
    (void)cl_digest(&p, "k", "");
    cl_end(&p);
}

/* ---- arguments ---- */

static void test_what_fits(void **state)
{
    static const char *const fine[][2] = {
        {"i32", "i32"},
        {"f32x3", "Vec{f32, 3}"},
        {"f32*", "f32[:]"},
        {"f32*", "f32[:,:,:]"},
        {"f32*", "Vec{f32, 4}[:]"},
        {"i32*", "u32[:]"},
        {"u8*", "Bool[:]"},
        {"f32x4*", "f32[:]"},
        {"f32x4*", "Vec{f32, 4}[:]"},
        {"f32x3*", "Vec{f32, 4}[:]"},
        {"void*", "f32[:]"},
        {"16/8*", "u8[:]"},
        {"16/8*", "(i64, i32)[:]"},
        {"12/4*", "f32[:]"},
        {"24/8*", "Vec{f32, 2}[:,:]"},
        {"16/8", "(i64, i32)"},
        {"local:f32", "u64"},
    };
    char text[100];
    cl_process p;

    cl_start(&p, *state);
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        (void)snprintf(text, sizeof text, "kernel k %s\n", fine[i][0]);
        cl_define(&p, text);
        (void)cl_digest(&p, "k", fine[i][1]);
    }
    cl_end(&p);
}

static void test_what_does_not_fit(void **state)
{
    static const char *const wrong[][3] = {
        {"i32", "i64",
         "parameter 1 of k, 'int p0', takes i32 and was given "
         "i64"},
        {"i32", "u32", "takes i32"},
        {"f32x4", "Vec{f32, 3}", "takes Vec{f32, 4}"},
        {"f32x4", "Vec{i32, 4}", "takes Vec{f32, 4}"},
        {"f32*", "f32", "takes f32[:] and was given f32"},
        {"f32*", "i32[:]", "takes f32[:]"},
        {"f32*", "f32[strided :]", "was given f32[strided :]"},
        {"f32x4*", "Vec{f32, 2}[:]", "takes f32[:] or Vec{f32, 4}[:]"},
        {"f32x3*", "Vec{f32, 3}[:]", "takes f32[:]"},
        {"12/4*", "f64[:]",
         "takes an array of structs of 12 bytes, aligned to 4, or of scalars "
         "that make up such structs"},
        {"16/8*", "(i32, i32)[:]", "takes an array of structs of 16 bytes"},
        {"16/8", "(i32, i32)", "takes a struct of 16 bytes, aligned to 8"},
        {"local:f32", "f32[:]", "takes u64, the size of its memory in bytes"},
        {"i32 i32", "i32",
         "k(int p0, int p1) has 2 parameters and was given "
         "1 arguments"},
    };
    const kiln_code *code;
    char text[100];
    cl_process p;

    cl_start(&p, *state);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        (void)snprintf(text, sizeof text, "kernel k %s\n", wrong[i][0]);
        cl_define(&p, text);
        assert_fails(KILN_ECOMPILE, wrong[i][2],
                     cl_infer(&code, &p, "k", wrong[i][1], &test_error));
    }
    cl_end(&p);
}

/* Every wrong argument has a diagnostic. */
static void test_all_wrong_arguments(void **state)
{
    kiln_error *error = NULL;
    const kiln_code *code;
    cl_process p;

    cl_start(&p, *state);
    cl_define(&p, "kernel k i32 f32* f32\n");
    assert_int_equal(cl_infer(&code, &p, "k", "i64; f32[:]; f64", &error),
                     KILN_ECOMPILE);
    assert_int_equal(kiln_error_diagnostic_count(error), 2);
    assert_string_equal(kiln_error_diagnostic(error, 1)->code,
                        "wrong-argument");
    assert_contains(kiln_error_diagnostic(error, 1)->message, "parameter 3");
    kiln_error_free(error);
    cl_end(&p);
}

/* ---- redefinition ---- */

static void test_a_changed_kernel_ends(void **state)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    const kiln_code *first, *second;
    cl_process p;

    cl_start(&p, *state);
    cl_define_with(&p, "main.cl", TWO, NULL, &report);
    assert_int_equal(report.methods_added, 1);
    kiln_change_report_dispose(&report);
    assert_ok(cl_infer(&first, &p, "first", "f32[:]; i32", &test_error));
    assert_ok(cl_infer(&second, &p, "second", "f32[:]; u64", &test_error));
    report = (kiln_change_report)KILN_CHANGE_REPORT_INIT;
    cl_define_with(&p, "main.cl",
                   "kernel second f32* local:f32\n  ; two\n"
                   "kernel first f32* i32\n  ; another\n",
                   NULL, &report);
    assert_int_equal(report.methods_replaced, 1);
    assert_int_equal(report.invalidated_count, 1);
    assert_string_equal(report.invalidated[0], "main.first(f32[:], i32)");
    kiln_change_report_dispose(&report);
    assert_false(kiln_code_is_valid(first));
    assert_true(kiln_code_is_valid(second));
    cl_end(&p);
}

static void test_the_same_text_changes_nothing(void **state)
{
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    kiln_opencl_program *program;
    uint64_t world;
    cl_process p;

    cl_start(&p, *state);
    program = cl_define(&p, TWO);
    (void)cl_digest(&p, "first", "f32[:]; i32");
    (void)program;
    cl_define_with(&p, "main.cl", TWO, NULL, &report);
    world = report.world;
    assert_int_equal(report.methods_unchanged, 1);
    cl_define_with(&p, "main.cl", TWO, "-DX", &report);
    assert_int_equal(report.world, world + 1);
    kiln_change_report_dispose(&report);
    cl_end(&p);
}

static void test_unloaded(void **state)
{
    kiln_opencl_program *program;
    const kiln_code *code;
    cl_process p;

    cl_start(&p, *state);
    program = cl_define(&p, TWO);
    assert_ok(cl_infer(&code, &p, "first", "f32[:]; i32", &test_error));
    assert_ok(kiln_opencl_unload(program, NULL, &test_error));
    assert_false(kiln_code_is_valid(code));
    assert_fails(KILN_ENOTFOUND, "has no text",
                 cl_infer(&code, &p, "first", "f32[:]; i32", &test_error));
    cl_define(&p, TWO);
    (void)cl_digest(&p, "first", "f32[:]; i32");
    kiln_context_collect(p.context);
    (void)cl_digest(&p, "first", "f32[:]; i32");
    cl_end(&p);
}

/* A held world keeps its text. */
static void test_old_worlds(void **state)
{
    kiln_opencl_program *program;
    kiln_frontend *frontend;
    kiln_signature signature = {0};
    const kiln_code *code;
    uint64_t world;
    cl_process p;

    cl_start(&p, *state);
    program = cl_define(&p, "kernel old\n");
    assert_ok(kiln_opencl_frontend(&frontend, p.context, &test_error));
    assert_ok(kiln_world_hold(&world, frontend));
    cl_define(&p, "kernel new\n");
    kiln_context_collect(p.context);
    assert_ok(
        kiln_opencl_function(&signature.function, program, "old", &test_error));
    assert_ok(
        kiln_infer(&code, p.context, &signature, p.config, world, &test_error));
    assert_status(KILN_ENOTFOUND, kiln_infer(&code, p.context, &signature,
                                             p.config, 0, &test_error));
    kiln_world_release(frontend, world);
    cl_end(&p);
}

/* ---- other processes ---- */

static void test_a_second_process_translates_nothing(void **state)
{
    kiln_digest cold;
    cl_process p;

    cl_start(&p, *state);
    cl_define(&p, TWO);
    cold = cl_digest(&p, "first", "f32[:]; i32");
    assert_counted(0, 1);
    assert_int_equal(cl_built(&p), 1);
    assert_int_equal(cl_parsed(&p), 1);
    cl_end(&p);
    cl_start(&p, *state);
    cl_define(&p, TWO);
    assert_same(cl_digest(&p, "first", "f32[:]; i32"), cold);
    assert_counted(0, 0);
    assert_int_equal(cl_built(&p), 0);
    assert_int_equal(cl_parsed(&p), 0);
    /* Other types, and another kernel, need what was stored, but no clang. */
    (void)cl_digest(&p, "first", "f32[:,:]; i32");
    (void)cl_digest(&p, "second", "f32[:]; u64");
    assert_counted(0, 0);
    assert_int_equal(cl_built(&p), 2);
    cl_end(&p);
}

static void test_a_comment_is_preprocessed(void **state)
{
    kiln_digest cold;
    cl_process p;

    cl_start(&p, *state);
    cl_define(&p, TWO);
    cold = cl_digest(&p, "first", "f32[:]; i32");
    cl_end(&p);
    for (unsigned i = 0; i < 2; i++) {
        cl_start(&p, *state);
        cl_define(&p, "// about two kernels\n" TWO);
        assert_same(cl_digest(&p, "first", "f32[:]; i32"), cold);
        assert_counted(1 - i, 0); /* once */
        assert_int_equal(cl_built(&p), 0);
        cl_end(&p);
    }
}

static void test_another_compiler_translates_again(void **state)
{
    cl_process p;

    cl_start(&p, *state);
    cl_define(&p, TWO);
    (void)cl_digest(&p, "first", "f32[:]; i32");
    cl_end(&p);
    cl_fake_build = "fake-2";
    cl_start(&p, *state);
    cl_define(&p, TWO);
    (void)cl_digest(&p, "second", "f32[:]; u64");
    assert_int_equal(cl_fake_counted.modules, 1);
    cl_end(&p);
    cl_fake_build = ""; /* what others made may be used without one */
    cl_start(&p, *state);
    cl_define(&p, TWO);
    (void)cl_digest(&p, "first", "f32[:,:]; i32");
    assert_counted(0, 0);
    cl_end(&p);
    cl_fake_build = "fake-1";
}

/* A pack has what saves a process from the translator. */
static void test_packs(void **state)
{
    char folder[300];
    kiln_mark *mark;
    kiln_pack *pack;
    kiln_blob delta;
    cl_process p;

    cl_start(&p, *state);
    assert_ok(kiln_snapshot(&mark, p.context, &test_error));
    cl_define(&p, TWO);
    (void)cl_digest(&p, "first", "f32[:]; i32");
    assert_ok(kiln_delta(&delta, p.context, mark, NULL, &test_error));
    kiln_mark_free(mark);
    cl_end(&p);

    (void)snprintf(folder, sizeof folder, "%s/elsewhere", (char *)*state);
    assert_int_equal(mkdir(folder, 0700), 0);
    cl_start(&p, folder);
    assert_ok(
        kiln_pack_open_memory(&pack, delta.data, delta.size, &test_error));
    assert_ok(kiln_insert(p.context, pack, &test_error));
    cl_define(&p, TWO);
    (void)cl_digest(&p, "first", "f32[:]; i32");
    assert_counted(0, 0);
    assert_int_equal(cl_built(&p), 0);
    (void)cl_digest(&p, "second", "f32[:]; u64");
    assert_counted(0, 0);
    cl_end(&p);
    kiln_blob_release(&delta);
}

/* ---- without memory ---- */

static kiln_status define_and_infer(kiln_context *context)
{
    const kiln_type *types[2] = {NULL, NULL};
    kiln_signature signature = {NULL, types, 2};
    const kiln_config *config;
    kiln_opencl_program *program;
    const kiln_code *code;
    kiln_status status = kiln_opencl_new(&program, context, "main", NULL);

    types[1] = kiln_type_scalar(context, KILN_TYPE_I32);
    if (status == KILN_OK)
        status = kiln_type_parse(&types[0], context, NULL, "f32[:]", NULL);
    if (status == KILN_OK)
        status = kiln_opencl_define(program, "main.cl", TWO, strlen(TWO),
                                    "-DA -I.", NULL, NULL);
    if (status == KILN_OK)
        status =
            kiln_opencl_function(&signature.function, program, "first", NULL);
    if (status == KILN_OK)
        status = kiln_config_new(&config, context, NULL, NULL);
    return status == KILN_OK
               ? kiln_infer(&code, context, &signature, config, 0, NULL)
               : status;
}

static kiln_status without_memory(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context *context;
    kiln_status status;

    cache.mode = *(const uint8_t *)env;
    options.alloc = alloc;
    options.cache = &cache;
    status = kiln_context_new(&context, &options, NULL);
    if (status != KILN_OK)
        return status;
    status = define_and_infer(context);
    kiln_context_free(context);
    return status;
}

static void test_without_memory(void **state)
{
    uint8_t mode = KILN_CACHE_MODE_OFF;

    (void)state;
    assert_survives_failing_alloc(without_memory, &mode);
}

/* ---- threads ---- */

static void *infer_it(void *argument)
{
    cl_process *p = argument;

    (void)cl_digest(p, "first", "f32[:]; i32");
    (void)cl_digest(p, "second", "f32[:]; u64");
    return NULL;
}

static void test_threads_translate_once(void **state)
{
    cl_process p;

    cl_start(&p, *state);
    cl_define(&p, TWO);
    harness_run_threads(4, infer_it, &p);
    assert_counted(0, 1);
    cl_end(&p);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, temporary_folder_setup, \
                                    temporary_folder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_names),
        TEST(test_loads_a_file),
        TEST(test_tells_what_is_there),
        TEST(test_errors_have_diagnostics),
        TEST(test_what_fits),
        TEST(test_what_does_not_fit),
        TEST(test_all_wrong_arguments),
        TEST(test_a_changed_kernel_ends),
        TEST(test_the_same_text_changes_nothing),
        TEST(test_unloaded),
        TEST(test_old_worlds),
        TEST(test_a_second_process_translates_nothing),
        TEST(test_a_comment_is_preprocessed),
        TEST(test_another_compiler_translates_again),
        TEST(test_packs),
        TEST(test_without_memory),
        TEST(test_threads_translate_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
