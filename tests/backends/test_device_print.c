/* test_device_print.c - what LLVM IR prints, against C's printf(). */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/codegen/modules.h"
#include "support/devices/kernels.h"

typedef struct fixture {
    kernels *k;
    modules *m;
} fixture;

static fixture shared;

static int setup(void **state)
{
    void *k = NULL;

    if (kernels_setup(&k) != 0)
        return -1;
    *state = k;
    shared.k = k;
    shared.m = modules_new(k);
    return 0;
}

/* ---- running ---- */

#define ITEMS 64

/* Runs a kernel of an array x of i32, x[i] = i - 3, after which all is in
   k->printed. */
static kiln_status launch_text(const char *text, uint64_t items, uint32_t block,
                               kiln_error **error)
{
    const kiln_launch launch = {.grid = {items, 1, 1}, .block = {block, 1, 1}};
    int32_t x[ITEMS];
    kiln_array array = kernels_array(x, ITEMS);
    const kernels_argument argument = {"i32[:]", &array};
    kiln_status status;

    for (int i = 0; i < ITEMS; i++)
        x[i] = i - 3;
    shared.k->printed_size = 0;
    shared.k->printed[0] = '\0';
    status = modules_launch(shared.m, text, shared.k->config, &launch,
                            &argument, 1, error);
    shared.k->printed[shared.k->printed_size] = '\0';
    return status;
}

/* The module of an entry with `body`, which prints the constant @f. `%i32`,
   `%i64`, `%f32` and `%f64` are numbers that are not known before it runs. */
static void write_module(char *text, size_t size, const char *format,
                         const char *globals, const char *body)
{
    snprintf(text, size,
             "@f = private constant [%zu x i8] c\"%s\\00\"\n"
             "@s = private constant [6 x i8] c\"hello\\00\"\n"
             "declare i32 @kiln_print(ptr, ...)\n"
             "declare i64 @kiln_global_id(i32)\n"
             "declare void @kiln_barrier(i32, i32)\n%s"
             "define void @ENTRY(ptr %%x, i64 %%n) {\n"
             "  %%id = call i64 @kiln_global_id(i32 0)\n"
             "  %%p = getelementptr i32, ptr %%x, i64 %%id\n"
             "  %%i32 = load i32, ptr %%p\n"
             "  %%i64 = sext i32 %%i32 to i64\n"
             "  %%f64 = sitofp i32 %%i32 to double\n"
             "  %%f32 = sitofp i32 %%i32 to float\n"
             "%s"
             "  ret void\n"
             "}\n",
             strlen(format) + 1, format, globals, body);
}

/* Asserts what the first item prints. The format has no character that LLVM's
   text would need to escape. */
static void assert_prints(const char *format, const char *before,
                          const char *arguments, const char *expected)
{
    char text[4096], body[1024];

    snprintf(body, sizeof body,
             "%s  %%r = call i32 (ptr, ...) @kiln_print(ptr @f%s)\n", before,
             arguments);
    write_module(text, sizeof text, format, "", body);
    assert_ok(launch_text(text, 1, 1, &test_error));
    if (strcmp(shared.k->printed, expected) != 0)
        fail_msg("%s: \"%s\" instead of \"%s\"", format, shared.k->printed,
                 expected);
}

/* ---- conversions ---- */

/* A conversion of an argument, -3 in the first item. */
#define CHECK(format, before, type, value, name) \
    do { \
        char expected[512]; \
        snprintf(expected, sizeof expected, "[" format "]", value); \
        assert_prints("[" format "]", before, ", " type " " name, expected); \
    } while (0)

#define CHECK_INT(format) CHECK(format, "", "i32", -3, "%i32")
#define CHECK_LONG(format) CHECK(format, "", "i64", -3L, "%i64")
#define CHECK_REAL(format, number) \
    CHECK(format, "  %d = fadd double %f64, " #number "\n", "double", \
          -3.0 + (number), "%d")

static void integers_print_as_in_c(void **state)
{
    (void)state;
    CHECK_INT("%d");
    CHECK_INT("%i");
    CHECK_INT("%u");
    CHECK_INT("%x");
    CHECK_INT("%#X");
    CHECK_INT("%#o");
    CHECK_INT("%8d");
    CHECK_INT("%-8d");
    CHECK_INT("%08d");
    CHECK_INT("%+.4d");
    CHECK_INT("%8.3d");
    CHECK_INT("%hd");
    CHECK_INT("%hu");
    CHECK_INT("%hhx");
    CHECK_INT("%#020x");
    CHECK_LONG("%ld");
    CHECK_LONG("%lu");
    CHECK_LONG("%-24lx|");
    CHECK_LONG("%lo");
    CHECK("%+d", "  %a = add i32 %i32, 8\n", "i32", 5, "%a");
    CHECK("% d", "  %a = add i32 %i32, 8\n", "i32", 5, "%a");
    CHECK("%#x", "  %a = add i32 %i32, 3\n", "i32", 0, "%a");
    CHECK("%#o", "  %a = add i32 %i32, 3\n", "i32", 0, "%a");
    CHECK("%.0d", "  %a = add i32 %i32, 3\n", "i32", 0, "%a");
    CHECK("%3c", "  %a = add i32 %i32, 68\n", "i32", 'A', "%a");
}

static void floats_print_as_in_c(void **state)
{
    static const char half[] = "  %h = fmul float %f32, 0.5\n"
                               "  %e = fpext float %h to double\n";

    (void)state;
    CHECK_REAL("%f", 0.25);
    CHECK_REAL("%12.3e", 0.0625);
    CHECK_REAL("%-12.3E", 0.0625);
    CHECK_REAL("%g", 1234567.0);
    CHECK_REAL("%#g", 4.0);
    CHECK_REAL("%G", 1.0e30);
    CHECK_REAL("%a", 4.5);
    CHECK_REAL("%020a", 1.25);
    CHECK_REAL("%+08.2f", 5.0);
    CHECK_REAL("% .0f", 5.0);
    CHECK_REAL("%#.0F", 5.0);
    CHECK_REAL("%.30f", 0.1);
    CHECK_REAL("%f", -1.0e300);
    CHECK("%f", "  %d = fdiv double %f64, 0.0\n", "double", -__builtin_inf(),
          "%d");
    CHECK("%08G", "  %d = fdiv double %f64, 0.0\n", "double", -__builtin_inf(),
          "%d");
    assert_prints("%f",
                  "  %d = fsub double %f64, %f64\n"
                  "  %q = fdiv double %d, %d\n",
                  ", double %q", "nan");
    /* C has no f32 here, LLVM IR does. */
    assert_prints("%f %g", half, ", float %h, double %e", "-1.500000 -1.5");
}

static void widths_are_arguments_too(void **state)
{
    static const char width[] = "  %w = add i32 %i32, 9\n"
                                "  %l = sub i32 0, %w\n";

    (void)state;
    assert_prints("%*d|%*d|%.*f|%*.*s|", width,
                  ", i32 %w, i32 %i32, i32 %l, i32 %i32, i32 %w, double %f64"
                  ", i32 %w, i32 2, ptr @s",
                  "    -3|-3    |-3.000000|    he|");
    assert_prints("%*s|%.*g", width, ", i32 %w, ptr @s, i32 %i32, double 0.5",
                  " hello|0.5");
}

static void texts_and_pointers_print(void **state)
{
    (void)state;
    assert_prints("100%% %s, %8.3s|%-8s|", "", ", ptr @s, ptr @s, ptr @s",
                  "100% hello,      hel|hello   |");
    assert_prints("%p %12p", "  %a = inttoptr i64 48879 to ptr\n",
                  ", ptr %a, ptr %a", "0xbeef       0xbeef");
    assert_prints("nothing", "", "", "nothing");
    assert_prints("", "", "", "");
    assert_prints("%d", "", ", i32 1, i32 2", "1");
}

static void the_locale_is_not_seen(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8",
                                        "de_DE.utf8", "ps_AF.UTF-8"};
    const char *found = NULL;

    (void)state;
    for (size_t i = 0; i < 4 && found == NULL; i++)
        found = setlocale(LC_NUMERIC, names[i]);
    if (found == NULL)
        test_skip(SKIP_MACHINE, "no locale here has another decimal point");
    assert_prints("%.2f", "", ", double %f64", "-3.00");
    (void)setlocale(LC_NUMERIC, "C");
}

/* ---- items ---- */

static int count_of(const char *text, const char *part)
{
    int count = 0;

    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

/* Every item prints in a function, in a loop, around a barrier; each record is
   in one piece. */
static void items_print_between_barriers(void **state)
{
    static const char deep[] =
        "define internal void @deep(i32 %v) noinline {\n"
        "  br label %loop\n"
        "loop:\n"
        "  %i = phi i32 [ 0, %0 ], [ %j, %loop ]\n"
        "  %r = call i32 (ptr, ...) @kiln_print(ptr @f, i32 %v, i32 %i)\n"
        "  %j = add i32 %i, 1\n"
        "  %go = icmp slt i32 %j, 2\n"
        "  br i1 %go, label %loop, label %end\n"
        "end:\n"
        "  ret void\n"
        "}\n";
    char text[4096], record[64];

    (void)state;
    write_module(text, sizeof text, "<%d.%03d>", deep,
                 "  call void @deep(i32 %i32)\n"
                 "  call void @kiln_barrier(i32 2, i32 1)\n"
                 "  %t = add i32 %i32, 1000\n"
                 "  call void @deep(i32 %t)\n");
    assert_ok(launch_text(text, 32, 32, &test_error));
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < 4; j++) {
            snprintf(record, sizeof record, "<%d.%03d>",
                     i - 3 + (j < 2 ? 0 : 1000), j % 2);
            assert_int_equal(count_of(shared.k->printed, record), 1);
        }
    for (const char *at = strstr(shared.k->printed, "<1000."); at != NULL;
         at = NULL)
        assert_null(strstr(at, "<28."));
}

static void the_result_is_zero(void **state)
{
    char text[4096];

    (void)state;
    write_module(text, sizeof text, "%d;", "",
                 "  %r = call i32 (ptr, ...) @kiln_print(ptr @f, i32 7)\n"
                 "  %q = call i32 (ptr, ...) @kiln_print(ptr @f, i32 %r)\n");
    assert_ok(launch_text(text, 1, 1, &test_error));
    assert_string_equal(shared.k->printed, "7;0;");
}

/* ---- mistakes ---- */

static void assert_refused(const char *format, const char *arguments,
                           const char *words)
{
    char text[4096], body[1024];
    kiln_error *error = NULL;

    snprintf(body, sizeof body, "  %%r = call i32 (ptr, ...) @kiln_print(%s)\n",
             arguments);
    write_module(text, sizeof text, format, "", body);
    assert_int_equal(launch_text(text, 1, 1, &error), KILN_ECODEGEN);
    if (strstr(kiln_error_message(error), words) == NULL)
        fail_msg("%s: %s", format, kiln_error_message(error));
    kiln_error_free(error);
}

static void wrong_formats_are_named(void **state)
{
    (void)state;
    assert_refused("x", "ptr %x", "the format must be a constant string");
    assert_refused("%d %d", "ptr @f, i32 1", "more conversions than");
    assert_refused("%d", "ptr @f, double 1.0", "of integers is none");
    assert_refused("%f", "ptr @f, i32 1", "of floats is none");
    assert_refused("%p", "ptr @f, i32 1", "is no pointer");
    assert_refused("%s", "ptr @f, ptr %x", "must be a constant string");
    assert_refused("%n", "ptr @f, ptr %x", "or %n");
    assert_refused("50%", "ptr @f", "or %n");
    assert_refused("%v4d", "ptr @f, i32 1", "or %n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_print_as_in_c),
        cmocka_unit_test(floats_print_as_in_c),
        cmocka_unit_test(widths_are_arguments_too),
        cmocka_unit_test(texts_and_pointers_print),
        cmocka_unit_test(the_locale_is_not_seen),
        cmocka_unit_test(items_print_between_barriers),
        cmocka_unit_test(the_result_is_zero),
        cmocka_unit_test(wrong_formats_are_named),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
