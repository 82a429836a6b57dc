/* test_opencl_sources.c - options, files, digests and errors of sources. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen */
/* LINKS: codegen */
#include "support/frontend/clang_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/stack.h"

static source test;
static const char *folder; /* of the test's own */

#define EMPTY "kernel void k(global int *a) {}"

/* ---- options ---- */

static void options_reach_the_compiler(void **state)
{
    (void)state;
    source_option(&test, "-DN=3");
    source_option(&test, "-D");
    source_option(&test, "M=4");
    source_option(&test, "-UM");
    source_option(&test, "-cl-std=CL1.2");
    assert_becomes(&test, "global int *a",
                   "a[0] = N;\n#ifndef M\n a[1] = __OPENCL_C_VERSION__;\n"
                   "#endif\n",
                   "store i32 120, ptr");
    assert_contains(test.ir, "store i32 3, ptr");
}

static const char *const versions[] = {"-cl-std=CL1.0", "-cl-std=CL1.1",
                                       "-cl-std=CL1.2", "-cl-std=CL2.0",
                                       "-cl-std=CL3.0"};
#define VERSIONS (sizeof versions / sizeof *versions)

static void use_version(size_t i)
{
    test.request.option_count = 0;
    source_option(&test, versions[i]);
}

static void programs_can_ask_for_version_and_images(void **state)
{
    (void)state;
    for (size_t i = 0; i < VERSIONS; i++) {
        use_version(i);
        assert_becomes(&test, "global int *a",
                       "a[0] = __OPENCL_VERSION__;\n"
                       "#ifdef __IMAGE_SUPPORT__\n#error\n#endif\n"
                       "#ifdef __opencl_c_images\n#error\n#endif\n"
                       "#ifdef __opencl_c_pipes\n#error\n#endif\n",
                       "store i32 120, ptr");
    }
}

/* Asynchronous copies are functions of Kiln's own header. */
static void every_version_has_the_header(void **state)
{
    (void)state;
    for (size_t i = 0; i < VERSIONS; i++) {
        use_version(i);
        assert_contains(
            source_k(&test, "kernel void k(global int *a, local int *b) {\n"
                            "  event_t e = async_work_group_copy(b, a, 4, 0);\n"
                            "  wait_group_events(1, &e);\n"
                            "  a[0] = b[0];\n}"),
            "kiln_barrier");
        assert_int_equal(test.result.function_count, 1);
    }
}

static void fast_mathematics_is_in_the_flags(void **state)
{
    (void)state;
    assert_becomes(&test, "global float *a", "a[0] = a[1] + a[2];",
                   "= fadd float");
    source_option(&test, "-cl-fast-relaxed-math");
    assert_becomes(&test, "global float *a",
                   "a[0] = a[1] + a[2];\n"
                   "#ifndef __FAST_RELAXED_MATH__\n#error\n#endif\n",
                   "= fadd fast float");
    test.request.option_count = 0;
    source_option(&test, "-cl-no-signed-zeros");
    assert_becomes(&test, "global float *a", "a[0] = a[1] + a[2];",
                   "= fadd nsz float");
    test.request.option_count = 0;
    source_option(&test, "-cl-finite-math-only");
    assert_becomes(&test, "global float *a", "a[0] = a[1] + a[2];",
                   "= fadd nnan ninf float");
}

static void every_option_of_opencl_is_taken(void **state)
{
    static const char *const options[] = {"-cl-mad-enable",
                                          "-cl-denorms-are-zero",
                                          "-cl-unsafe-math-optimizations",
                                          "-cl-opt-disable",
                                          "-cl-kernel-arg-info",
                                          "-cl-std=CL3.0",
                                          "-cl-std=CL2.0",
                                          "-cl-std=CL1.1",
                                          "-cl-std=CL1.0",
                                          "-w",
                                          "-I/nowhere"};

    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        test.request.option_count = 0;
        source_option(&test, options[i]);
        assert_ok(source_try(&test, EMPTY));
    }
    test.request.option_count = 0;
    source_option(&test, "-cl-single-precision-constant");
    assert_becomes(&test, "global float *a", "a[0] = a[1] * 2.0;",
                   "fmul float");
}

static void other_options_are_refused_by_name(void **state)
{
    (void)state;
    source_option(&test, "-fplugin=evil.so");
    assert_fails(KILN_EINVAL, "-fplugin=evil.so", source_try(&test, EMPTY));
    test.request.option_count = 0;
    source_option(&test, "-cl-std=CLC++");
    assert_fails(KILN_EINVAL, "-cl-std=CLC++", source_try(&test, EMPTY));
    test.request.option_count = 0;
    source_option(&test, "-D");
    assert_fails(KILN_EINVAL, "-D", source_try(&test, EMPTY));
}

static void the_target_has_the_types_that_the_request_says(void **state)
{
    (void)state;
    assert_becomes(&test, "global double *a",
                   "\n#ifndef cl_khr_fp64\n#error\n#endif\na[0] = a[1] + 1;",
                   "fadd double");
    test.request.has_f64 = 0;
    assert_fails(KILN_ECOMPILE, "double",
                 source_try(&test, "kernel void k(global double *a) {}"));
    assert_ok(source_try(&test, "#ifdef cl_khr_fp64\n#error\n#endif\n" EMPTY));
    assert_ok(source_try(&test, "#ifndef cl_khr_fp16\n#error\n#endif\n" EMPTY));
    test.request.has_f16 = 0;
    assert_ok(source_try(&test, "#ifdef cl_khr_fp16\n#error\n#endif\n" EMPTY));
}

/* ---- files ---- */

static void write_file(const char *name, const char *text)
{
    char path[256];

    harness_write_file(path, sizeof path, folder, name, text, strlen(text));
}

static const kiln__source_file *find_file(const char *name)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    for (size_t i = 0; i < test.result.file_count; i++)
        if (strcmp(test.result.files[i].path, path) == 0)
            return &test.result.files[i];
    return NULL;
}

static void included_files_are_told(void **state)
{
    const char *text = "#define N 5\n";
    const kiln__source_file *file;
    const kiln_digest digest = kiln_digest_bytes(text, strlen(text));

    (void)state;
    write_file("number.h", text);
    write_file("unused.h", text);
    test.request.folder = folder;
    assert_contains(source_k(&test, "#include \"number.h\"\n"
                                    "kernel void k(global int *a)"
                                    "{ a[0] = N; }"),
                    "store i32 5");
    file = find_file("number.h");
    assert_non_null(file);
    assert_int_equal(file->found, KILN__SOURCE_READ);
    assert_memory_equal(&file->digest, &digest, sizeof digest);
    assert_null(find_file("unused.h"));
    assert_null(find_file("test.cl"));
}

static int32_t found(const char *name)
{
    const kiln__source_file *file = find_file(name);

    assert_non_null(file);
    return file->found;
}

static void files_that_are_not_there_are_told(void **state)
{
    char option[512], other[512], later[512];

    (void)state;
    write_file("later_number.h", "#define N 5\n");
    (void)snprintf(option, sizeof option, "-I%s/first", folder);
    (void)snprintf(later, sizeof later, "%s/first", folder);
    assert_int_equal(mkdir(later, 0700), 0);
    source_option(&test, option);
    (void)snprintf(other, sizeof other, "-I%s", folder);
    source_option(&test, other);
    assert_ok(source_try(&test, "#include <later_number.h>\n"
                                "#if __has_include(<absent.h>)\n#error\n"
                                "#endif\n" EMPTY));
    assert_non_null(find_file("first/later_number.h"));
    assert_int_equal(found("first/later_number.h"), KILN__SOURCE_MISSING);
    assert_int_equal(found("later_number.h"), KILN__SOURCE_READ);
    assert_int_equal(found("absent.h"), KILN__SOURCE_MISSING);
    assert_int_equal(found("first/absent.h"), KILN__SOURCE_MISSING);
    write_file("present.h", "#error\n");
    assert_ok(source_try(&test, "#if !__has_include(<present.h>)\n#error\n"
                                "#endif\n" EMPTY));
    assert_int_equal(found("present.h"), KILN__SOURCE_FILE);
    assert_ok(source_try(&test, "#if __has_include(<first>)\n#error\n"
                                "#endif\n" EMPTY));
    assert_int_equal(found("first"), KILN__SOURCE_FOLDER);
}

/* The compiler reads one of them. */
static void names_of_one_file_are_told(void **state)
{
    char from[512], to[512];
    const kiln__source_file *first, *second;

    (void)state;
    write_file("one.h", "#pragma once\n");
    write_file("apart.h", "#pragma once\n");
    (void)snprintf(from, sizeof from, "%s/one.h", folder);
    (void)snprintf(to, sizeof to, "%s/two.h", folder);
    assert_int_equal(link(from, to), 0);
    test.request.folder = folder;
    assert_ok(source_try(&test, "#include \"one.h\"\n#include \"two.h\"\n"
                                "#include \"apart.h\"\n" EMPTY));
    first = find_file("one.h");
    second = find_file("two.h");
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(first->same, 0);
    assert_ptr_equal(&test.result.files[second->same - 1], first);
    assert_int_equal(second->found, KILN__SOURCE_READ);
    assert_memory_equal(&second->digest, &first->digest, sizeof first->digest);
    assert_int_equal(find_file("apart.h")->same, 0);
}

static void files_are_told_after_an_error(void **state)
{
    (void)state;
    write_file("broken.h", "#error not this way\n");
    test.request.folder = folder;
    assert_fails(KILN_ECOMPILE, "not this way",
                 source_try(&test, "#include \"broken.h\"\n" EMPTY));
    assert_int_equal(found("broken.h"), KILN__SOURCE_READ);
}

/* ---- errors ---- */

static void errors_have_places(void **state)
{
    kiln_error *error = NULL;
    const kiln_diagnostic *first;

    (void)state;
    test.request.text = "kernel void k(global int *a) {\n"
                        "  int unused_one;\n"
                        "  a[0] = missing;\n"
                        "  a[1] = absent();\n"
                        "}\n";
    test.request.size = strlen(test.request.text);
    assert_int_equal(
        kiln__source_compile(&test.result, test.context, &test.request, &error),
        KILN_ECOMPILE);
    assert_contains(kiln_error_message(error), "'missing'");
    assert_int_equal(kiln_error_diagnostic_count(error), 2);
    first = kiln_error_diagnostic(error, 0);
    assert_int_equal(first->severity, KILN_SEVERITY_ERROR);
    assert_string_equal(first->location.file, "test.cl");
    assert_int_equal(first->location.line, 3);
    assert_int_equal(first->location.column, 10);
    assert_string_equal(first->source_line, "  a[0] = missing;");
    assert_contains(kiln_error_diagnostic(error, 1)->message, "'absent'");
    kiln_error_free(error);
    assert_int_equal(test.result.function_count, 1);
    assert_null(test.result.functions[0].bitcode);
}

static void warnings_are_told_on_success(void **state)
{
    (void)state;
    assert_ok(source_try(&test, "kernel void k(global int *a)\n"
                                "{ if (a[0] = 1) a[1] = 2; }"));
    assert_true(test.result.note_count > 0);
    assert_int_equal(test.result.notes[0].severity, KILN_SEVERITY_WARNING);
    assert_int_equal(test.result.notes[0].line, 2);
    source_option(&test, "-w");
    assert_ok(source_try(&test, "kernel void k(global int *a)\n"
                                "{ if (a[0] = 1) a[1] = 2; }"));
    assert_int_equal(test.result.note_count, 0);
    test.request.option_count = 0;
    source_option(&test, "-Werror");
    assert_fails(KILN_ECOMPILE, "assignment",
                 source_try(&test, "kernel void k(global int *a)\n"
                                   "{ if (a[0] = 1) a[1] = 2; }"));
}

static size_t notes_of(int32_t severity)
{
    size_t count = 0;

    for (size_t i = 0; i < test.result.note_count; i++)
        count += test.result.notes[i].severity == severity;
    return count;
}

static void notes_of_an_error_are_few(void **state)
{
    (void)state;
    assert_fails(KILN_ECOMPILE, "no matching function",
                 source_try(&test, "typedef struct { int a; } s;\n"
                                   "kernel void k(global s *a)\n"
                                   "{\n"
                                   "    a->a = max(*a, *a);\n"
                                   "    a->a = b;\n"
                                   "}"));
    assert_int_equal(notes_of(KILN_SEVERITY_ERROR), 2);
    assert_int_equal(notes_of(KILN_SEVERITY_NOTE), 9);
    assert_contains(test.result.notes[9].text, "more notes");
}

static void formats_are_checked_where_they_are(void **state)
{
    (void)state;
    assert_fails(KILN_ECOMPILE, "invalid conversion specifier 'y'",
                 source_try(&test, "kernel void k(global int *a)\n"
                                   "{\n"
                                   "    printf(\"%y\\n\", a[0]);\n"
                                   "}"));
    assert_int_equal(test.result.notes[0].line, 3);
    assert_fails(KILN_ECOMPILE, "more '%' conversions than data arguments",
                 source_try(&test, "kernel void k(global int *a)\n"
                                   "{ printf(\"%d %d\", a[0]); }"));
    assert_int_equal(test.result.notes[0].line, 2);
}

static void check_refused(const char *text, const char *name, uint32_t line)
{
    assert_fails(KILN_ECOMPILE, name, source_try(&test, text));
    assert_int_equal(test.result.notes[0].line, line);
}

/* They would end the process. */
static void pragmas_that_test_clang_are_refused(void **state)
{
    static const char *const list[] = {
        "crash",          "parser_crash", "llvm_fatal_error",
        "overflow_stack", "assert",       "llvm_unreachable",
    };
    char text[200], words[100];

    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        snprintf(words, sizeof words,
                 "'#pragma clang __debug %s' is not supported", list[i]);
        snprintf(text, sizeof text,
                 "\n#pragma clang __debug %s\nkernel void k(global int *a) {}",
                 list[i]);
        check_refused(text, words, 2);
        snprintf(text, sizeof text,
                 "_Pragma(\"clang __debug %s\")\n"
                 "kernel void k(global int *a) {}",
                 list[i]);
        check_refused(text, words, 1);
    }
}

/* What they say is for other tools, and is in no module. */
static void annotations_are_taken(void **state)
{
    static const char *const texts[] = {
        "__attribute__((annotate(\"x\"))) kernel void k(global int *a)\n"
        "{ a[0] = 1; }",
        "__attribute__((annotate(\"x\"))) static int f(int v) { return v; }\n"
        "kernel void k(global int *a) { a[0] = f(1); }",
        "#pragma clang attribute push(__attribute__((annotate(\"x\"))), "
        "apply_to=function)\n"
        "kernel void k(global int *a) { a[0] = 1; }\n"
        "#pragma clang attribute pop\n",
        "__attribute__((used)) kernel void k(global int *a) { a[0] = 1; }",
        "kernel void k(global int *a)\n"
        "{ int v __attribute__((annotate(\"x\"))) = a[0]; a[0] = v; }",
        "struct s { int v __attribute__((annotate(\"x\"))); };\n"
        "kernel void k(global struct s *a) { a[0].v += 1; }",
        "kernel void k(global int *a)\n"
        "{ a[0] = __builtin_annotation(a[1], \"x\"); }"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *ir = source_k(&test, texts[i]);

        assert_contains(ir, "store i32");
        assert_null(strstr(ir, "llvm.metadata"));
        assert_null(strstr(ir, "annotation"));
    }
}

/* Clang's own bound would need more stack than a worker has. */
static void text_that_nests_too_deeply_is_refused(void **state)
{
    char opening[2001], closing[2001], text[5000];

    (void)state;
    for (int depth = 250; depth <= 2000; depth += 1750) {
        memset(opening, '(', sizeof opening);
        memset(closing, ')', sizeof closing);
        opening[depth] = closing[depth] = '\0';
        (void)snprintf(text, sizeof text,
                       "kernel void k(global int *a) { a[0] = %s7%s; }",
                       opening, closing);
        if (depth < 256)
            assert_ok(source_try(&test, text));
        else
            check_refused(text, "bracket nesting level exceeded", 1);
    }
}

/* Clang bounds no other nesting; a worker that crashes tells why. */
static void a_stack_that_is_used_up_is_told(void **state)
{
    static const char begin[] = "kernel void k(global int *a) { a[0] = ";
    static const char end[] = "a[1]; }";
    const size_t count = 200000;
    char *text = malloc(sizeof begin + 2 * count + sizeof end);

    (void)state;
    if (text == NULL)
        fail_msg("out of memory");
    strcpy(text, begin);
    for (size_t i = 0; i < count; i++)
        memcpy(text + sizeof begin - 1 + 2 * i, "- ", 2);
    strcpy(text + sizeof begin - 1 + 2 * count, end);
    assert_fails(KILN_ECODEGEN,
                 KILN__STACK_SCALE > 1
                     ? "crashed"
                     : "the stack is used up: something nests too deeply",
                 source_try(&test, text));
    free(text);
}

static void recursion_is_refused(void **state)
{
    (void)state;
    check_refused("int f(int n) { return n ? \nf(n - 1) : 0; }\n" EMPTY,
                  "f calls f", 2);
    check_refused("int g(int n);\n"
                  "int f(int n) { return g(n); }\n"
                  "int g(int n) { return f(n); }\n" EMPTY,
                  "recursion", 2);
    /* one that only calls others is none */
    assert_ok(source_try(&test,
                         "int f(int n) { return n; }\n"
                         "int g(int n) { return f(n) + f(n); }\n"
                         "int h(int n) { return g(n) + f(n); }\n" EMPTY));
}

static void the_time_is_refused(void **state)
{
    (void)state;
    check_refused("constant char t[] =\n __TIME__;\n" EMPTY, "__TIME__", 2);
    check_refused("constant char t[] = __DATE__;\n" EMPTY, "__DATE__", 1);
}

/* ---- what clang cannot end ---- */

/* Forty nested alternatives, which are read one by one. */
static char *endless_source(void)
{
    char *text = malloc(8192);
    size_t size = 0;

    assert_non_null(text);
    for (int i = 0; i < 40; i++)
        size += (size_t)sprintf(text + size, "#define A%d A%d + A%d\n", i,
                                i + 1, i + 1);
    (void)sprintf(text + size, "#define A40 1\n#if A0\n#endif\n" EMPTY);
    return text;
}

static void a_source_that_takes_too_long_is_given_up(void **state)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    char *text = endless_source();

    (void)state;
    kiln_context_free(test.context);
    options.codegen_timeout_s = 1;
    assert_ok(kiln_context_new(&test.context, &options, &test_error));
    assert_fails(KILN_ETIMEDOUT, "test.cl", source_try(&test, text));
    free(text);
    assert_ok(source_try(&test, EMPTY));
}

static int open_test(void **state)
{
    const int status = temporary_folder_setup(state);

    source_open(&test);
    folder = *state;
    return status;
}

static int close_test(void **state)
{
    source_close(&test);
    return temporary_folder_teardown(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_test, close_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(options_reach_the_compiler),
        TEST(programs_can_ask_for_version_and_images),
        TEST(every_version_has_the_header),
        TEST(fast_mathematics_is_in_the_flags),
        TEST(every_option_of_opencl_is_taken),
        TEST(other_options_are_refused_by_name),
        TEST(the_target_has_the_types_that_the_request_says),
        TEST(included_files_are_told),
        TEST(files_that_are_not_there_are_told),
        TEST(names_of_one_file_are_told),
        TEST(files_are_told_after_an_error),
        TEST(errors_have_places),
        TEST(warnings_are_told_on_success),
        TEST(notes_of_an_error_are_few),
        TEST(formats_are_checked_where_they_are),
        TEST(pragmas_that_test_clang_are_refused),
        TEST(annotations_are_taken),
        TEST(text_that_nests_too_deeply_is_refused),
        TEST(a_stack_that_is_used_up_is_told),
        TEST(recursion_is_refused),
        TEST(the_time_is_refused),
        TEST(a_source_that_takes_too_long_is_given_up),
    };

    if (!source_is_there())
        return program_skip(SKIP_PACKAGE, SOURCE_NEEDS_CLANG);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
