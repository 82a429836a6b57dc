/* test_opencl_tokens.c - what of a source and its files counts as its tokens.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen */
/* LINKS: codegen */
#include "support/frontend/clang_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static source test;
static const char *folder; /* of the test's own */

#define EMPTY "kernel void k(global int *a) {}"

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

static int32_t found(const char *name)
{
    const kiln__source_file *file = find_file(name);

    assert_non_null(file);
    return file->found;
}

/* ---- tokens ---- */

static kiln_digest tokens_of(const char *text)
{
    kiln_digest parsed;

    test.request.form = KILN__SOURCE_MODULES;
    assert_ok(source_try(&test, text));
    parsed = test.result.tokens;
    test.request.form = KILN__SOURCE_TOKENS;
    assert_ok(source_try(&test, text));
    assert_memory_equal(&parsed, &test.result.tokens, sizeof parsed);
    assert_int_equal(test.result.function_count, 0);
    return parsed;
}

#define assert_same_tokens(a, b) \
    do { \
        const kiln_digest a_ = (a), b_ = (b); \
        assert_memory_equal(&a_, &b_, sizeof a_); \
    } while (0)
#define assert_other_tokens(a, b) \
    do { \
        const kiln_digest a_ = (a), b_ = (b); \
        assert_memory_not_equal(&a_, &b_, sizeof a_); \
    } while (0)

static void comments_and_space_do_not_count(void **state)
{
    const kiln_digest digest =
        tokens_of("kernel void k(global int *a) { a[0] = 1; }");

    (void)state;
    assert_same_tokens(digest,
                       tokens_of("#define UNUSED 7\n/* why */ kernel void k\n"
                                 "(global int*a){a[0]=1;} // so\n"));
    assert_other_tokens(
        digest, tokens_of("kernel void k(global int *a) { a[0] = 2; }"));
    assert_other_tokens(
        digest, tokens_of("kernel void k(global int *b) { b[0] = 1; }"));
    test.request.name = "other.cl";
    assert_same_tokens(digest,
                       tokens_of("kernel void k(global int *a) { a[0] = 1; }"));
}

static void pragmas_and_options_count(void **state)
{
    const char *text = "kernel void k(global float *a) { a[0] = 1; }";
    const kiln_digest digest = tokens_of(text);

    (void)state;
    assert_other_tokens(
        digest, tokens_of("#pragma OPENCL FP_CONTRACT OFF\n"
                          "kernel void k(global float *a) { a[0] = 1; }"));
    source_option(&test, "-DUNUSED=1");
    source_option(&test, "-I");
    source_option(&test, "/nowhere");
    assert_same_tokens(digest, tokens_of(text));
    source_option(&test, "-cl-fast-relaxed-math");
    assert_other_tokens(digest, tokens_of(text));
}

#define KERNEL "kernel void k(global float *a) { "
#define BODY "a[0] = a[1] * a[2] + a[3]; }"

#define BY_BODY(mode) \
    "#define P _Pragma(\"OPENCL FP_CONTRACT " mode "\")\n" KERNEL "P\n" BODY
#define BY_ARGUMENT(mode) \
    "#define P(x) _Pragma(#x)\n" KERNEL "P(OPENCL FP_CONTRACT\n" mode ")" \
    "\n" BODY
#define BY_NAME(mode) \
    "#define MODE " mode "\n" KERNEL "\n" \
    "#pragma clang fp reassociate(MODE)\n" BODY

/* What a pragma says may be in no token. */
static void pragmas_that_macros_make_count(void **state)
{
    (void)state;
    assert_other_tokens(tokens_of(BY_BODY("ON")), tokens_of(BY_BODY("OFF")));
    assert_other_tokens(tokens_of(BY_ARGUMENT("ON")),
                        tokens_of(BY_ARGUMENT("OFF")));
    assert_other_tokens(tokens_of(BY_NAME("on")), tokens_of(BY_NAME("off")));
    assert_same_tokens(tokens_of(BY_BODY("ON")),
                       tokens_of("/* why */\n" BY_BODY("ON") " // so\n"));
}

static void macros_of_options_count_in_pragmas(void **state)
{
    static const char text[] =
        KERNEL "\n#pragma clang fp reassociate(MODE)\n" BODY;
    kiln_digest digest;

    (void)state;
    source_option(&test, "-DMODE=on");
    digest = tokens_of(text);
    test.options[0] = "-DMODE=off";
    assert_other_tokens(digest, tokens_of(text));
}

static void places_count_where_they_are_asked_for(void **state)
{
    const kiln_digest digest =
        tokens_of("kernel void k(global int *a) { a[0] = __builtin_LINE(); }");

    (void)state;
    assert_other_tokens(
        digest,
        tokens_of(
            "\nkernel void k(global int *a) { a[0] = __builtin_LINE(); }"));
    assert_true(test.result.names_files);
    (void)tokens_of("kernel void k(global int *a) { a[0] = sizeof __FILE__; }");
    assert_true(test.result.names_files);
    (void)tokens_of("kernel void k(global int *a) { a[0] = __LINE__; }");
    assert_false(test.result.names_files);
}

static void embedded_files_count(void **state)
{
    static const char text[] =
        "constant uchar data[] = {\n"
        "#embed \"data.bin\"\n"
        "};\n"
        "kernel void k(global int *a) { a[0] = data[0]; }";
    kiln_digest digest;

    (void)state;
    write_file("data.bin", "one");
    test.request.folder = folder;
    digest = tokens_of(text);
    assert_int_equal(found("data.bin"), KILN__SOURCE_READ);
    write_file("data.bin", "two");
    assert_other_tokens(digest, tokens_of(text));
}

/* All of a file decides, whatever part is taken last. */
static void files_that_are_embedded_in_part_are_read_whole(void **state)
{
    const kiln_digest whole = kiln_digest_bytes("one", 3);

    (void)state;
    write_file("data.bin", "one");
    test.request.folder = folder;
    assert_ok(source_try(&test, "constant uchar whole[] = {\n"
                                "#embed \"data.bin\"\n};\n"
                                "constant uchar part[] = {\n"
                                "#embed \"data.bin\" limit(1)\n};\n" EMPTY));
    assert_memory_equal(&find_file("data.bin")->digest, &whole, sizeof whole);
}

/* Whether a file is empty is no part of any token, and decides which are. */
static void files_that_may_be_embedded_are_read(void **state)
{
    (void)state;
    write_file("data.bin", "one");
    test.request.folder = folder;
    (void)tokens_of("#if __has_embed(\"data.bin\") == "
                    "__STDC_EMBED_FOUND__\n" EMPTY "\n#endif");
    assert_int_equal(found("data.bin"), KILN__SOURCE_READ);
    (void)tokens_of("#if __has_embed(\"data.bin\" limit(0)) == "
                    "__STDC_EMBED_EMPTY__\n" EMPTY "\n#endif");
    assert_int_equal(found("data.bin"), KILN__SOURCE_READ);
}

static kiln_digest tokens_of_part(const char *parameters)
{
    char text[256];

    (void)snprintf(text, sizeof text,
                   "constant uchar data[] = {\n#embed \"data.bin\" %s\n};\n"
                   "kernel void k(global int *a) { a[0] = data[0]; }",
                   parameters);
    return tokens_of(text);
}

static void parts_of_embedded_files_count(void **state)
{
    kiln_digest first;

    (void)state;
    write_file("data.bin", "abcdef");
    test.request.folder = folder;
    first = tokens_of_part("clang::offset(1)");
    assert_other_tokens(first, tokens_of_part("clang::offset(2)"));
    assert_other_tokens(first, tokens_of_part(""));
    first = tokens_of_part("limit(3) clang::offset(1)");
    assert_other_tokens(first, tokens_of_part("limit(3) clang::offset(2)"));
    assert_other_tokens(first, tokens_of_part("limit(2) clang::offset(1)"));
}

static kiln_digest tokens_with(const char *name, const char *words,
                               const char *definition)
{
    char parameter[64];
    kiln_digest digest;

    (void)snprintf(parameter, sizeof parameter, "%s%s)", name, words);
    source_option(&test, definition);
    digest = tokens_of_part(parameter);
    test.request.option_count = 0;
    return digest;
}

static void assert_parameter_counts(const char *name, const char *content)
{
    kiln_digest digest;

    write_file("data.bin", content);
    test.request.folder = folder;
    digest = tokens_with(name, "1,2,", "-DN=1");
    assert_other_tokens(digest, tokens_with(name, "1,3,", "-DN=1"));
    assert_other_tokens(digest, tokens_with(name, "1,2,3,", "-DN=1"));
    assert_other_tokens(digest, tokens_of_part(""));
    assert_same_tokens(digest, tokens_with(name, "N,", "-DN=1,2"));
    assert_other_tokens(digest, tokens_with(name, "N,", "-DN=1,3"));
}

static void what_is_put_around_embedded_files_counts(void **state)
{
    (void)state;
    assert_parameter_counts("if_empty(", "");
    assert_parameter_counts("prefix(", "one");
    assert_parameter_counts("suffix(,", "one");
}

#define BY_CONDITION(condition) \
    "#if " condition "\n#define P _Pragma(\"pack(1)\")\n" \
    "#else\n#define P _Pragma(\"pack(4)\")\n#endif\nP\n" \
    "struct s { char c; long l; };\n" \
    "kernel void k(global int *a) { a[0] = sizeof(struct s); }"

/* Which pragma a macro makes may be in no text. */
static void files_that_decide_on_pragmas_count(void **state)
{
    static const char text[] = BY_CONDITION("__has_include(\"maybe.h\")");
    static const char other[] =
        BY_CONDITION("__has_embed(\"maybe.h\") == __STDC_EMBED_FOUND__");
    char path[512];
    kiln_digest first, second;

    (void)state;
    write_file("maybe.h", "1");
    test.request.folder = folder;
    first = tokens_of(text);
    second = tokens_of(other);
    write_file("maybe.h", "");
    assert_same_tokens(first, tokens_of(text));
    assert_other_tokens(second, tokens_of(other));
    (void)snprintf(path, sizeof path, "%s/maybe.h", folder);
    assert_int_equal(unlink(path), 0);
    assert_other_tokens(first, tokens_of(text));
}

static void lines_that_decide_on_pragmas_count(void **state)
{
    (void)state;
    assert_other_tokens(tokens_of(BY_CONDITION("__LINE__ == 1")),
                        tokens_of("\n" BY_CONDITION("__LINE__ == 1")));
}

/* Some warnings look at lines: here that a body is empty. */
static void space_counts_where_warnings_are_errors(void **state)
{
    static const char good[] = "kernel void k(global int *a)\n"
                               "{ if (a[0])\n ;\n a[0] = 1; }";
    static const char bad[] = "kernel void k(global int *a)\n"
                              "{ if (a[0]);\n a[0] = 1; }";
    kiln_digest digest;

    (void)state;
    assert_same_tokens(tokens_of(good), tokens_of(bad));
    source_option(&test, "-Werror");
    digest = tokens_of(good);
    assert_int_equal(test.request.form, KILN__SOURCE_TOKENS);
    assert_ok(source_try(&test, bad)); /* the parser alone warns */
    assert_memory_not_equal(&digest, &test.result.tokens, sizeof digest);
    test.request.form = KILN__SOURCE_MODULES;
    assert_fails(KILN_ECOMPILE, "empty body", source_try(&test, bad));
}

#define STRICT "#pragma clang diagnostic error \"-Wempty-body\"\n"

static void space_counts_where_a_pragma_makes_errors(void **state)
{
    kiln_digest digest;

    (void)state;
    digest = tokens_of(STRICT "kernel void k(global int *a)\n"
                              "{ if (a[0])\n ;\n a[0] = 1; }");
    assert_ok(source_try(&test, STRICT "kernel void k(global int *a)\n"
                                       "{ if (a[0]);\n a[0] = 1; }"));
    assert_memory_not_equal(&digest, &test.result.tokens, sizeof digest);
}

static void lines_count_with_debug_information(void **state)
{
    kiln_digest digest;

    (void)state;
    source_option(&test, "-g");
    digest = tokens_of("kernel void k(global int *a) { a[0] = 1; }");
    assert_other_tokens(
        digest, tokens_of("\nkernel void k(global int *a) { a[0] = 1; }"));
    test.request.form = KILN__SOURCE_MODULES;
    assert_contains(
        source_k(&test, "kernel void k(global int *a) { a[0] = 1; }"),
        "!DILocation(line: 1, column: ");
    assert_contains(test.ir, "distinct !DISubprogram(name: \"k\"");
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
        TEST(comments_and_space_do_not_count),
        TEST(pragmas_and_options_count),
        TEST(pragmas_that_macros_make_count),
        TEST(places_count_where_they_are_asked_for),
        TEST(embedded_files_count),
        TEST(files_that_are_embedded_in_part_are_read_whole),
        TEST(files_that_may_be_embedded_are_read),
        TEST(parts_of_embedded_files_count),
        TEST(what_is_put_around_embedded_files_counts),
        TEST(files_that_decide_on_pragmas_count),
        TEST(lines_that_decide_on_pragmas_count),
        TEST(space_counts_where_warnings_are_errors),
        TEST(space_counts_where_a_pragma_makes_errors),
        TEST(macros_of_options_count_in_pragmas),
        TEST(lines_count_with_debug_information),
    };

    if (!source_is_there())
        return program_skip(SKIP_PACKAGE, SOURCE_NEEDS_CLANG);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
