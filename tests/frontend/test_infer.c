/* test_infer.c - typed IR of every construct, recursion, and what can fail. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit golden frontend */
#include "support/frontend/program.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/scalars.h"
#include "base/data/array.h"
#include "base/system/file.h"
#include "frontend/infer/fold.h"
#include "ir/ir.h"
#include "kiln/compile.h"

/* ---- inferring ---- */

static kiln_status infer(program *p, const kiln_package *package,
                         const char *function, const char *types,
                         const kiln_code **code)
{
    const kiln_type *list[KILN_ARGUMENTS_MAX];
    kiln_signature signature = {.types = list};
    kiln_package *where = (kiln_package *)(uintptr_t)package;
    const kiln_config *config = NULL;
    char text[256], *rest = text;

    snprintf(text, sizeof text, "%s", types);
    while (rest != NULL && *rest != '\0')
        assert_ok(kiln_type_parse(&list[signature.count++], p->context, where,
                                  strsep(&rest, " "), &test_error));
    assert_ok(kiln_package_function(&signature.function, where, function,
                                    &test_error));
    assert_ok(kiln_config_new(&config, p->context, NULL, &test_error));
    return kiln_infer(code, p->context, &signature, config, 0, &test_error);
}

static const kiln_code *infer_main(program *p, const char *function,
                                   const char *types)
{
    const kiln_code *code = NULL;

    assert_ok(infer(p, p->main, function, types, &code));
    return code;
}

static const char *result(program *p, const char *function, const char *types)
{
    return kiln_type_text(kiln_code_result(infer_main(p, function, types)));
}

/* Labels end in a digest of the method's tree: nothing to compare. */
static void mask_digests(char *text)
{
    for (; (text = strchr(text, '#')) != NULL; text++)
        for (int i = 1; i <= 16 && isxdigit((unsigned char)text[i]); i++)
            text[i] = '-';
}

static void add_code(kiln__text *out, const kiln_code *code)
{
    kiln__ir ir;
    size_t size = 0;
    const void *bytes = kiln_code_ir(code, &size);

    assert_ok(kiln__ir_decode(&ir, &kiln__malloc, bytes, size, &test_error));
    assert_ok(kiln__ir_verify(&ir, &test_error));
    assert_ok(kiln__ir_print(&ir, out));
    kiln__ir_dispose(&ir);
}

/* ---- golden files ---- */

/* Infers what the lines `#: function types` of a file ask for. */
static void infer_asked(program *p, const kiln_package *package,
                        const char *source, kiln__text *out)
{
    for (const char *at = source; (at = strstr(at, "\n#: ")) != NULL;) {
        char line[256], *types;
        const kiln_code *code = NULL;

        at += 4;
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        types = line + strcspn(line, " ");
        if (*types != '\0')
            *types++ = '\0';
        assert_ok(infer(p, package, line, types, &code));
        add_code(out, code);
    }
}

/* With KILN_UPDATE_GOLDEN set the file is written instead. */
static void compare(const char *path, const char *text)
{
    kiln_blob expected = {0};
    FILE *file;

    if (getenv("KILN_UPDATE_GOLDEN") != NULL) {
        file = fopen(path, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
        assert_int_equal(fclose(file), 0);
        return;
    }
    assert_ok(kiln__file_read(&expected, &kiln__malloc, path, (size_t)1 << 20,
                              &test_error));
    assert_string_equal(text, expected.data);
    kiln_blob_release(&expected);
}

static void check_golden(program *p, const char *name)
{
    const char *folder = KILN_TESTS_FOLDER "/golden/infer/";
    kiln_package *package = NULL;
    kiln_blob source = {0};
    kiln__text out;
    char path[512];

    kiln__text_init(&out, &kiln__malloc);
    snprintf(path, sizeof path, "%s%s.kiln", folder, name);
    assert_ok(kiln__file_read(&source, &kiln__malloc, path, (size_t)1 << 20,
                              &test_error));
    assert_ok(kiln_package_load(&package, p->context, path, NULL, &test_error));
    infer_asked(p, package, source.data, &out);
    assert_false(out.failed);
    mask_digests(out.bytes);
    snprintf(path, sizeof path, "%s%s.typed", folder, name);
    compare(path, out.bytes);
    kiln__text_dispose(&out);
    kiln_blob_release(&source);
}

static void literals_adapt(void **state)
{
    check_golden(*state, "literals");
}

static void arithmetic_widens(void **state)
{
    check_golden(*state, "arithmetic");
}

static void conversions_are_explicit(void **state)
{
    check_golden(*state, "conversions");
}

static void control_flows(void **state)
{
    check_golden(*state, "control");
}

static void elements_are_loaded_and_stored(void **state)
{
    check_golden(*state, "arrays");
}

static void aggregates_are_values(void **state)
{
    check_golden(*state, "aggregates");
}

static void compile_time_values_choose_and_unroll(void **state)
{
    check_golden(*state, "statics");
}

static void calls_dispatch(void **state)
{
    check_golden(*state, "calls");
}

/* ---- recursion ---- */

static void recursion_finds_its_type(void **state)
{
    program *p = *state;

    program_define(p, "fn fact(n)\n"
                      "    if n <= 1\n"
                      "        return 1\n"
                      "    end\n"
                      "    return n * fact(n - 1)\n"
                      "end\n"
                      "fn power(x, n) = n == 0 ? 1 : x * power(x, n - 1)\n"
                      "fn base(n) = n < 2 ? 0.5 : base(n - 1)\n"
                      "fn declared(n) -> u8\n"
                      "    return declared(n - 1)\n"
                      "end\n");

    assert_string_equal(result(p, "fact", "i32"), "i32");
    assert_string_equal(result(p, "fact", "f64"), "f64");
    assert_string_equal(result(p, "power", "f32 i64"), "f32");
    assert_string_equal(result(p, "base", "i32"), "f64");
    assert_string_equal(result(p, "declared", "i32"), "u8");
}

static void mutual_recursion_finds_its_types(void **state)
{
    program *p = *state;
    kiln__text out;

    program_define(p, "fn a(n) = n < 0 ? 0 : b(n) + c(n)\n"
                      "fn b(n) = n > 9 ? c(n - 1) : a(n - 1) + b(n - 2)\n"
                      "fn c(n)\n"
                      "    if n == 5\n"
                      "        return n\n"
                      "    end\n"
                      "    return a(n - 1) + c(n - 1)\n"
                      "end\n");

    kiln__text_init(&out, &kiln__malloc);
    assert_string_equal(result(p, "a", "i16"), "i16");
    assert_string_equal(result(p, "b", "i16"), "i16");
    assert_string_equal(result(p, "c", "i16"), "i16");
    add_code(&out, infer_main(p, "a", "i16"));
    add_code(&out, infer_main(p, "b", "i16"));
    add_code(&out, infer_main(p, "c", "i16"));
    kiln__text_dispose(&out);
}

/* Each of n methods calls all the others: attempts must not multiply. */
static void a_thicket_of_recursion_is_inferred_quickly(void **state)
{
    enum { COUNT = 24 };
    program *p = *state;
    kiln__text text;

    kiln__text_init(&text, &kiln__malloc);
    for (int i = 0; i < COUNT; i++) {
        kiln__text_format(&text, "fn t%d(n)\n    s = n\n", i);
        kiln__text_format(&text, "    if n < %d\n        return s\n    end\n",
                          i);
        for (int k = 0; k < COUNT; k++)
            kiln__text_format(&text, "    s += t%d(n - 1)\n", k);
        kiln__text_add(&text, "    return s\nend\n");
    }
    program_define(p, text.bytes);

    assert_string_equal(result(p, "t0", "i32"), "i32");
    assert_string_equal(result(p, "t23", "i32"), "i32");
    kiln__text_dispose(&text);
}

/* ---- callees, worlds ---- */

static void callees_stand_in_the_order_of_calls(void **state)
{
    program *p = *state;
    const kiln_code *code;
    size_t size = 0;
    const void *bytes;
    kiln__ir ir;

    program_define(p, "fn g(x) = x\n"
                      "fn h(x) = x\n"
                      "fn f(x) = h(x) + g(x) + h(x) + g(f32(x))\n");
    code = infer_main(p, "f", "i32");
    bytes = kiln_code_ir(code, &size);

    assert_ok(kiln__ir_decode(&ir, &kiln__malloc, bytes, size, &test_error));
    assert_int_equal(ir.callees.count, 3);
    assert_string_equal(ir.callees.items[0].name, "main.h(i32)");
    assert_string_equal(ir.callees.items[1].name, "main.g(i32)");
    assert_string_equal(ir.callees.items[2].name, "main.g(f32)");
    kiln__ir_dispose(&ir);
}

static void equal_programs_give_equal_bytes(void **state)
{
    const char *text = "fn g(x) = x * 2\nkernel f(a, x)\n"
                       "    a[global_id(0)] = g(x) ** 3\nend\n";
    program *p = *state, *q = NULL;
    const kiln_code *first, *second;
    size_t first_size = 0, second_size = 0;

    assert_int_equal(program_setup((void **)&q), 0);
    program_define(p, text);
    program_define(q, text);
    first = infer_main(p, "f", "f32[:] f32");
    second = infer_main(q, "f", "f32[:] f32");

    assert_non_null(kiln_code_ir(first, &first_size));
    assert_non_null(kiln_code_ir(second, &second_size));
    assert_int_equal(first_size, second_size);
    assert_memory_equal(kiln_code_ir(first, &first_size),
                        kiln_code_ir(second, &second_size), first_size);
    program_teardown((void **)&q);
}

static void a_new_method_is_seen_by_callers(void **state)
{
    program *p = *state;

    program_define(p, "fn g(x) = x\nfn f(x) = g(x)\n");
    assert_string_equal(result(p, "f", "i32"), "i32");
    program_define(p, "fn g(x: i32) = 2.5\n");
    assert_string_equal(result(p, "f", "i32"), "f64");
    program_define(p, "const N = 2\nfn h() = N\n");
    assert_string_equal(result(p, "h", ""), "i64");
    program_define(p, "const N = u8(2)\n");
    assert_string_equal(result(p, "h", ""), "u8");
}

static void an_overlay_replaces_a_built_in(void **state)
{
    program *p = *state;
    const kiln_config *config = NULL;
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_type *f32 = kiln_type_scalar(p->context, KILN_TYPE_F32);
    kiln_signature signature = {.types = &f32, .count = 1};
    const kiln_code *code = NULL;

    program_define(p, "overlay mine fn rsqrt(x: f32) = f64(x)\n"
                      "fn f(x) = rsqrt(x)\n");
    options.overlays = "mine";
    assert_ok(kiln_config_new(&config, p->context, &options, &test_error));
    assert_ok(
        kiln_package_function(&signature.function, p->main, "f", &test_error));

    assert_ok(
        kiln_infer(&code, p->context, &signature, config, 0, &test_error));
    assert_string_equal(kiln_type_text(kiln_code_result(code)), "f64");
    assert_string_equal(result(p, "f", "f32"), "f32");
}

/* ---- size ---- */

static void many_methods_of_twenty_lines_are_inferred(void **state)
{
    program *p = *state;
    const kiln_code *code = NULL;
    kiln__text text;
    char name[16];

    kiln__text_init(&text, &kiln__malloc);
    for (int i = 0; i < 300; i++) {
        kiln__text_format(&text,
                          "kernel k%d(y, a, x)\n"
                          "    i = global_id(0)\n"
                          "    n = length(y)\n",
                          i);
        for (int k = 0; k < 8; k++)
            kiln__text_format(&text,
                              "    t%d = a * x[i] + %d\n"
                              "    y[i] = t%d - y[i] / 2\n",
                              k, k, k);
        kiln__text_add(&text, "end\n");
    }
    program_define(p, text.bytes);

    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "k%d", i);
        assert_ok(infer(p, p->main, name, "f32[:] f32 f32[:]", &code));
    }
    kiln__text_dispose(&text);
}

static void long_expressions_are_inferred_or_refused(void **state)
{
    program *p = *state;
    const kiln_code *code = NULL;
    kiln__text text;

    for (int terms = 100; terms <= 900; terms += 800) {
        kiln__text_init(&text, &kiln__malloc);
        kiln__text_format(&text, "fn long%d(x) = x", terms);
        for (int i = 0; i < terms; i++)
            kiln__text_add(&text, " + x");
        kiln__text_add(&text, "\n");
        program_define(p, text.bytes);
        kiln__text_dispose(&text);
    }

    assert_ok(infer(p, p->main, "long100", "f32", &code));
    assert_ok(infer(p, p->main, "long900", "f32", &code));
}

/* ---- out of memory ---- */

static kiln_status infer_with(const kiln_alloc *alloc, void *env)
{
    static const char text[] = "struct Pair{T}\n    a: T\n    b: T\nend\n"
                               "const N = 3\n"
                               "fn g(p, n) = n <= 0 ? p.a : g(p, n - 1) + p.b\n"
                               "kernel f(y, x)\n"
                               "    p = Pair(x, 2)\n"
                               "    for i in static(0..N)\n"
                               "        p.a += y[i] ** 2\n"
                               "    end\n"
                               "    t, u = (g(p, 3), 1)\n"
                               "    print(\"t = \", t)\n"
                               "    y[0] = t * u\n"
                               "end\n";
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;
    kiln_package *package = NULL;
    const kiln_type *types[2];
    kiln_signature signature = {.types = types, .count = 2};
    const kiln_config *config = NULL;
    const kiln_code *code = NULL;
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    status = kiln_context_new(&context, &options, NULL);
    if (status == KILN_OK)
        status = kiln_package_new(&package, context, "main", NULL);
    if (status == KILN_OK)
        status = kiln_package_define(package, "main.kiln", text,
                                     sizeof text - 1, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_package_function(&signature.function, package, "f", NULL);
    if (status == KILN_OK)
        status = kiln_type_parse(&types[0], context, NULL, "f32[:]", NULL);
    if (status == KILN_OK)
        status = kiln_type_parse(&types[1], context, NULL, "f32", NULL);
    if (status == KILN_OK)
        status = kiln_config_new(&config, context, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_infer(&code, context, &signature, config, 0, NULL);
    kiln_context_free(context);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;

    assert_survives_failing_alloc(infer_with, NULL);
}

/* ---- folding ---- */

static void folding_is_exact(void **state)
{
    const kiln__constant large = {.integer = INT64_MAX};
    const kiln__constant two = {.integer = 2};
    const kiln__operator times = {"*", KILN__IR_MUL, KILN__OPERATOR_ARITHMETIC};
    const kiln__operator power = {"**", KILN__IR_NONE, KILN__OPERATOR_POWER};
    kiln__constant out;

    (void)state;
    assert_int_equal(kiln__fold_binary(&out, &times, &large, &two),
                     KILN__FOLD_OK);
    assert_true(out.integer == (kiln__wide)INT64_MAX * 2);
    assert_int_equal(kiln__fold_binary(&out, &power, &large, &large),
                     KILN__FOLD_RANGE);
    assert_true(kiln__fold_fits(255, KILN_TYPE_U8));
    assert_false(kiln__fold_fits(256, KILN_TYPE_U8));
    assert_false(kiln__fold_fits(-129, KILN_TYPE_I8));
    assert_true(kiln__fold_wrap(255, KILN_TYPE_I8) == -1);
    assert_true(kiln__fold_wrap(-1, KILN_TYPE_U64) == UINT64_MAX);
}

static void rounding_is_to_nearest_even(void **state)
{
    (void)state;

    assert_float_equal(kiln__float_round(KILN_TYPE_F16, 2049.0), 2048.0, 0);
    assert_float_equal(kiln__float_round(KILN_TYPE_F16, 2051.0), 2052.0, 0);
    assert_float_equal(kiln__float_round(KILN_TYPE_F16, 0x1p-24), 0x1p-24, 0);
    assert_float_equal(kiln__float_round(KILN_TYPE_F16, 0x1p-25), 0, 0);
    assert_true(kiln__float_round(KILN_TYPE_F16, 65520.0) > 1e300);
    assert_float_equal(kiln__float_round(KILN_TYPE_F16, 65519.0), 65504.0, 0);
    assert_true(kiln__float_round(KILN_TYPE_F32, 3.5e38) > 1e300);
    assert_float_equal(kiln__float_round(KILN_TYPE_F32, 0.1), 0x1.99999ap-4, 0);
}

/* Returns the value as a sum of bits of the kind's significand, rounded to
   nearest, ties to even, by arithmetic on integers alone. */
static double nearest(int32_t kind, kiln__wide value)
{
    const kiln__wide size = value < 0 ? -value : value;
    const double past = ldexp(1, kiln__float_bias(kind) + 1);
    kiln__wide unit = 1, kept, rest;
    double rounded;

    while (size / unit >> kiln__scalar_of(kind)->significand != 0)
        unit *= 2;
    kept = size / unit;
    rest = size % unit;
    if (rest > unit - rest || (rest == unit - rest && kept % 2 != 0))
        kept++;
    rounded = (double)kept * (double)unit;
    rounded = rounded >= past ? HUGE_VAL : rounded;
    return value < 0 ? -rounded : rounded;
}

static void assert_rounded_once(int32_t kind, kiln__wide value)
{
    const kiln__constant from = {.integer = value};
    kiln__constant out;

    assert_true(kiln__fold_convert(&out, &from, kind, 1));
    assert_true(out.is_float);
    assert_true(out.real >= nearest(kind, value));
    assert_true(out.real <= nearest(kind, value));
}

/* Integers on both sides of each tie, which are up to 126 bits long. */
static void integers_are_rounded_once(void **state)
{
    (void)state;

    for (int32_t kind = 0; kind < KILN_TYPE_KIND_COUNT; kind++)
        for (int top = 0; kiln__kind_is_float(kind) && top < 126; top++)
            for (int bit = 0; bit < top; bit++)
                for (int near = -1; near <= 1; near++) {
                    const kiln__wide value =
                        ((kiln__wide)1 << top) + ((kiln__wide)1 << bit) + near;

                    assert_rounded_once(kind, value);
                    assert_rounded_once(kind, -value);
                    assert_rounded_once(kind,
                                        value + ((kiln__wide)1 << bit) * 2);
                }
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(literals_adapt),
        TEST(arithmetic_widens),
        TEST(conversions_are_explicit),
        TEST(control_flows),
        TEST(elements_are_loaded_and_stored),
        TEST(aggregates_are_values),
        TEST(compile_time_values_choose_and_unroll),
        TEST(calls_dispatch),
        TEST(recursion_finds_its_type),
        TEST(mutual_recursion_finds_its_types),
        TEST(a_thicket_of_recursion_is_inferred_quickly),
        TEST(callees_stand_in_the_order_of_calls),
        TEST(equal_programs_give_equal_bytes),
        TEST(a_new_method_is_seen_by_callers),
        TEST(an_overlay_replaces_a_built_in),
        TEST(many_methods_of_twenty_lines_are_inferred),
        TEST(long_expressions_are_inferred_or_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(folding_is_exact),
        cmocka_unit_test(rounding_is_to_nearest_even),
        cmocka_unit_test(integers_are_rounded_once),
    };

    return cmocka_run_group_tests_name("infer", tests, NULL, NULL);
}
