/* test_infer_errors.c - what inference says about wrong programs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/frontend/program.h"

#include <stdio.h>
#include <string.h>

#include "kiln/compile.h"

static kiln_status infer_types(program *p, const char *function,
                               const kiln_type *const *types, size_t count,
                               kiln_error **error)
{
    kiln_signature signature = {.types = types, .count = count};
    const kiln_config *config = NULL;
    const kiln_code *code = NULL;

    assert_ok(kiln_package_function(&signature.function, p->main, function,
                                    &test_error));
    assert_ok(kiln_config_new(&config, p->context, NULL, &test_error));
    return kiln_infer(&code, p->context, &signature, config, 0, error);
}

/* Infers `function` of package main for the types, separated by semicolons. */
static kiln_status infer(program *p, const char *function, const char *types,
                         kiln_error **error)
{
    const kiln_type *list[KILN_ARGUMENTS_MAX];
    size_t count = 0;
    char text[256], *rest = text;

    snprintf(text, sizeof text, "%s", types);
    while (rest != NULL && *rest != '\0')
        list[count++] = program_type(p, strsep(&rest, ";"));
    return infer_types(p, function, list, count, error);
}

/* Defines the text and infers f: there must be one diagnostic of that code,
   at that place, with these parts. `hint` may be NULL: not looked at. */
static void refuse(program *p, const char *types, const char *text,
                   const char *code, uint32_t line, uint32_t column,
                   const char *message, const char *hint)
{
    kiln_error *error = NULL;
    const kiln_diagnostic *d;

    program_define(p, text);
    assert_status(KILN_ECOMPILE, infer(p, "f", types, &error));
    d = kiln_error_diagnostic(error, 0);
    assert_non_null(d);
    if (strcmp(d->code, code) != 0 || kiln_error_diagnostic_count(error) != 1) {
        kiln_blob rendered = {0};

        assert_ok(kiln_error_render(&rendered, error, KILN_RENDER_PLAIN));
        print_error("%s", (const char *)rendered.data);
        kiln_blob_release(&rendered);
    }
    assert_string_equal(d->code, code);
    assert_contains(d->message, message);
    assert_int_equal(d->location.line, line);
    assert_int_equal(d->location.column, column);
    assert_string_equal(d->location.file, "test.kiln");
    if (hint != NULL) {
        assert_non_null(d->hint);
        assert_contains(d->hint, hint);
    }
    assert_int_equal(kiln_error_diagnostic_count(error), 1);
    kiln_error_free(error);
}

/* ---- variables ---- */

static void a_variable_keeps_its_type(void **state)
{
    refuse(*state, "f32[:]",
           "fn f(x)\n"
           "    s = 0\n"
           "    s += x[0]\n"
           "    return s\n"
           "end\n",
           "unstable-variable", 3, 10,
           "`s` is i64 since line 2, and would become f32 here",
           "begin with `s: f32 = ...` at line 2");
    refuse(*state, "i32",
           "fn f(x)\n    y = x\n    y = 1.5\n    return y\nend\n",
           "unstable-variable", 3, 9, "would become a float literal", NULL);
    refuse(*state, "i32",
           "fn f(x)\n    y: f32 = 0\n    y: f64 = 1\n    return x\nend\n",
           "unstable-variable", 3, 5, "would become f64", NULL);
}

static void a_variable_is_assigned_before_it_is_used(void **state)
{
    refuse(*state, "Bool",
           "fn f(c)\n    if c\n        y = 1\n    end\n    return y\nend\n",
           "unassigned-variable", 5, 12, "`y` may be used before", NULL);
    refuse(*state, "i64",
           "fn f(n)\n    for i in 0..n\n        y = i\n    end\n"
           "    return y\nend\n",
           "unassigned-variable", 5, 12, "`y`", NULL);
    refuse(*state, "Bool",
           "fn f(c)\n    while true\n        if c\n            break\n"
           "        end\n        y = 1\n        break\n    end\n"
           "    return y\nend\n",
           "unassigned-variable", 9, 12, "`y`", NULL);
    refuse(*state, "i32", "fn f(x)\n    y += x\n    return y\nend\n",
           "unassigned-variable", 2, 5, "`y`", NULL);
}

static void some_names_are_not_assigned(void **state)
{
    refuse(*state, "i64",
           "fn f(n)\n    for i in 0..n\n        i = 2\n    end\nend\n",
           "not-assignable", 3, 9, "`i` is the variable of a loop", NULL);
    refuse(*state, "i64", "fn f(n)\n    f = n\nend\n", "not-assignable", 2, 5,
           "`f` is a function", "choose another name");
    refuse(*state, "i64", "const N = 3\nfn f(n)\n    N = n\nend\n",
           "not-assignable", 3, 5, "`N` is a constant", NULL);
    refuse(*state, "i64", "fn f(x: T) where T\n    T = x\nend\n",
           "not-assignable", 2, 5, "`T` is a compile-time value", NULL);
    refuse(*state, "i64", "fn f(x)\n    f32 = x\nend\n", "not-assignable", 2, 5,
           "`f32` is a type", NULL);
    refuse(*state, "i64",
           "fn f(x)\n    for i in static(0..2)\n        i = x\n    end\nend\n",
           "not-assignable", 3, 9, "compile-time", NULL);
    refuse(*state, "i64", "const T = (1, 2)\nfn f(x)\n    T[0] = x\nend\n",
           "not-assignable", 3, 5, "no local", NULL);
}

static void names_are_known(void **state)
{
    refuse(*state, "f32", "fn f(x)\n    return sqr(x)\nend\n", "unknown-name",
           2, 12, "unknown name `sqr`", "did you mean `sqrt`?");
    refuse(*state, "f32", "fn f(radius)\n    return radios + 1\nend\n",
           "unknown-name", 2, 12, "`radios`", "did you mean `radius`?");
    refuse(*state, "S", "struct S\n    mass: f32\nend\nfn f(s) = s.mess\n",
           "unknown-field", 4, 11, "main.S has no field `mess`",
           "did you mean `mass`?");
}

/* ---- calls ---- */

static void calls_have_a_method(void **state)
{
    refuse(*state, "f32", "fn g(x: i32) = x\nfn f(x)\n    return g(x)\nend\n",
           "no-method", 3, 12, "g", NULL);
    refuse(*state, "f32", "fn f(x) = sin(x, x)\n", "no-method", 1, 11,
           "`sin` takes 1 argument, not 2", NULL);
    refuse(*state, "S;S", "struct S\n    x: f32\nend\nfn f(a, b) = a + b\n",
           "no-method", 4, 14, "+", NULL);
}

static void calls_are_not_ambiguous(void **state)
{
    refuse(*state, "i32;i32",
           "fn g(a: i32, b) = a\nfn g(a, b: i32) = b\n"
           "fn f(a, b) = g(a, b)\n",
           "ambiguous", 3, 14, "g", NULL);
}

static void values_that_are_no_functions_are_not_called(void **state)
{
    refuse(*state, "i32", "fn f(x) = x(1)\n", "not-callable", 1, 11,
           "i32 cannot be called", NULL);
    refuse(*state, "i32", "abstract A\nfn f(x) = A(x)\n", "not-callable", 2, 11,
           "`A`", NULL);
}

static void recursion_has_a_base(void **state)
{
    refuse(*state, "i64", "fn f(n) = f(n - 1)\n", "recursion-without-base", 1,
           4, "main.f(i64) -> main.f(i64)", "return without calling");
    refuse(*state, "i64", "fn g(n) = f(n + 1)\nfn f(n) = g(n - 1)\n",
           "recursion-without-base", 2, 4,
           "main.f(i64) -> main.g(i64) -> main.f(i64)", NULL);
}

static void recursion_that_makes_new_types_ends(void **state)
{
    program *p = *state;
    kiln_error *error = NULL;
    const kiln_diagnostic *d;

    program_define(p, "fn f(n) = f(static(n + 1))\n");

    assert_status(KILN_ECOMPILE, infer(p, "f", "Static{0}", &error));
    d = kiln_error_diagnostic(error, 0);
    assert_non_null(d);
    assert_string_equal(d->code, "too-deep");
    assert_int_equal(d->frame_count, 32);
    assert_string_equal(d->frames[31].function, "main.f(Static{0})");
    kiln_error_free(error);
}

static void an_error_shows_the_calls_that_led_to_it(void **state)
{
    program *p = *state;
    kiln_error *error = NULL;
    const kiln_diagnostic *d;

    program_define(p, "fn h(x) = x + true\n"
                      "fn g(x)\n"
                      "    return h(x)\n"
                      "end\n"
                      "fn f(x) = g(x) + g(x)\n");

    assert_status(KILN_ECOMPILE, infer(p, "f", "i32", &error));
    assert_int_equal(kiln_error_diagnostic_count(error), 1);
    d = kiln_error_diagnostic(error, 0);
    assert_string_equal(d->code, "wrong-type");
    assert_int_equal(d->location.line, 1);
    assert_int_equal(d->frame_count, 3);
    assert_string_equal(d->frames[0].function, "main.h(i32)");
    assert_int_equal(d->frames[0].location.line, 1);
    assert_string_equal(d->frames[1].function, "main.g(i32)");
    assert_int_equal(d->frames[1].location.line, 3);
    assert_int_equal(d->frames[1].location.column, 12);
    assert_string_equal(d->frames[2].function, "main.f(i32)");
    assert_int_equal(d->frames[2].location.line, 5);
    kiln_error_free(error);
}

/* The second one is told what the first one met. */
static void each_caller_is_told_of_its_own_calls(void **state)
{
    static const char *const names[] = {"f", "g"};
    program *p = *state;

    program_define(p, "fn h(x) = x + true\n"
                      "fn f(x) = h(x)\n"
                      "fn g(x) = 1 + h(x)\n");
    for (int i = 0; i < 2; i++) {
        kiln_error *error = NULL;
        const kiln_diagnostic *d;
        char name[16];

        assert_status(KILN_ECOMPILE, infer(p, names[i], "i32", &error));
        d = kiln_error_diagnostic(error, 0);
        assert_non_null(d);
        (void)snprintf(name, sizeof name, "main.%s(i32)", names[i]);
        assert_int_equal(d->frame_count, 2);
        assert_string_equal(d->frames[0].function, "main.h(i32)");
        assert_string_equal(d->frames[1].function, name);
        assert_int_equal(d->frames[1].location.line, 2 + i);
        kiln_error_free(error);
    }
}

static void each_fault_is_reported(void **state)
{
    program *p = *state;
    kiln_error *error = NULL;

    program_define(p, "fn f(x)\n"
                      "    a = nothing(x)\n"
                      "    b = a + x\n"
                      "    c = b + true\n"
                      "    y: f32 = x\n"
                      "    return sqrt(x)\n"
                      "end\n");

    assert_status(KILN_ECOMPILE, infer(p, "f", "i32", &error));
    assert_int_equal(kiln_error_diagnostic_count(error), 3);
    assert_string_equal(kiln_error_diagnostic(error, 0)->code, "unknown-name");
    assert_int_equal(kiln_error_diagnostic(error, 1)->location.line, 5);
    assert_int_equal(kiln_error_diagnostic(error, 2)->location.line, 6);
    kiln_error_free(error);
}

/* ---- types ---- */

static void signedness_is_not_mixed(void **state)
{
    refuse(*state, "i32;u32", "fn f(a, b) = a + b\n", "mixed-signedness", 1, 14,
           "i32 and u32", "i32(...) or u32(...)");
    refuse(*state, "i64;u8", "fn f(a, b) = a < b\n", "mixed-signedness", 1, 14,
           "i64 and u8", NULL);
}

static void floats_of_one_size_are_not_mixed(void **state)
{
    refuse(*state, "f16;bf16", "fn f(a, b) = a + b\n", "mixed-floats", 1, 14,
           "f16 and bf16", "f16(...) or bf16(...)");
    refuse(*state, "bf16;f16", "fn f(a, b) = a < b\n", "mixed-floats", 1, 14,
           "bf16 and f16", NULL);
}

static void operators_take_what_they_are_for(void **state)
{
    refuse(*state, "i32;i32", "fn f(a, b) = a / b\n", "wrong-type", 1, 14,
           "`/` is not for i32", "`//`");
    refuse(*state, "f32;f32", "fn f(a, b) = a // b\n", "wrong-type", 1, 14,
           "`//` is not for f32", NULL);
    refuse(*state, "Bool;i32", "fn f(a, b) = a + b\n", "wrong-type", 1, 14,
           "`+` takes numbers, but this is Bool", "i32(b)");
    refuse(*state, "f32;f32", "fn f(a, b) = a & b\n", "wrong-type", 1, 14,
           "`&`", NULL);
    refuse(*state, "i32", "fn f(a) = !a\n", "wrong-type", 1, 11,
           "`!` is for Bool", NULL);
    refuse(*state, "Vec{f32,2};Vec{f32,3}", "fn f(a, b) = a * b\n",
           "wrong-type", 1, 14, "vectors of one type", NULL);
    refuse(*state, "i32", "fn f(a) = 1 / 2\n", "wrong-type", 1, 11,
           "`/` is for floats", NULL);
    refuse(*state, "i32", "fn f(a) = 1 // 0\n", "constant-division", 1, 11,
           "zero", NULL);
    refuse(*state, "i32", "fn f(a) = a ** -1\n", "literal-range", 1, 11,
           "negative power", NULL);
    refuse(*state, "i64", "fn f(a) = sqrt(a)\n", "wrong-type", 1, 16,
           "`sqrt` takes floats, but this is i64", "f32(...)");
    refuse(*state, "Bool;i32;f64", "fn f(c, a, b) = c ? a : b\n", "wrong-type",
           1, 17, "one type, these are i32 and f64", NULL);
    refuse(*state, "f32", "fn f(x) = wrap(i8, x)\n", "wrong-type", 1, 11,
           "between integers", NULL);
    refuse(*state, "f32", "fn f(x) = bitcast(i64, x)\n", "wrong-type", 1, 11,
           "one size", NULL);
}

static void literals_fit(void **state)
{
    refuse(*state, "u8", "fn f(x) = x + 256\n", "literal-range", 1, 15,
           "256 does not fit u8", NULL);
    refuse(*state, "u8", "fn f(x) = x - -1\n", "literal-range", 1, 15,
           "-1 does not fit u8", NULL);
    refuse(*state, "f32", "fn f(x) = x + 16777217\n", "literal-range", 1, 15,
           "16777217 does not fit f32", NULL);
    refuse(*state, "", "fn f() = 9223372036854775808\n", "literal-range", 1, 10,
           "9223372036854775808 does not fit i64", NULL);
    refuse(*state, "", "fn f() = i8(3.5)\n", "literal-range", 1, 10,
           "3.5 does not convert to i8", "trunc");
    refuse(*state, "", "fn f() = 1 << 200\n", "literal-range", 1, 10,
           "too large", NULL);
    refuse(*state, "u8[:]", "fn f(a)\n    a[0] = -1\nend\n", "literal-range", 2,
           12, "-1 does not fit u8", NULL);
    refuse(*state, "", "fn f() = 9007199254740993 + 0.0\n", "literal-range", 1,
           10, "the literal 9007199254740993 does not fit f64", NULL);
    refuse(*state, "", "fn f() = 0.5 < 9007199254740993\n", "literal-range", 1,
           10, "the literal 9007199254740993 does not fit f64", NULL);
    refuse(*state, "", "fn f() = sqrt(9007199254740993)\n", "literal-range", 1,
           15, "the literal 9007199254740993 does not fit f64", NULL);
    refuse(*state, "f16", "fn f(x) = x + 1e6\n", "literal-range", 1, 15,
           "does not fit f16", NULL);
}

/* Copies of a loop, and methods for several types, have the error of one line,
   with other types in its message. */
static void an_error_of_one_line_is_told_once(void **state)
{
    refuse(*state, "f32[:]",
           "fn f(a)\n    for i in static(0..50)\n        a[i] = i + true\n"
           "    end\nend\n",
           "wrong-type", 3, 20, "takes numbers", "Bool");
    refuse(*state, "(i64, f32)",
           "fn f(t)\n    s: f64 = 0\n    for i in static(0..9)\n"
           "        s += f64(t[i])\n    end\n    return s\nend\n",
           "bad-index", 4, 20, "index 2 is out of the bounds", NULL);
    refuse(*state, "f32;i64;f32[:]",
           "fn g(x) = x.width\n"
           "fn f(x, y, a)\n    z = g(x)\n    w = g(y)\n    v = g(a)\n"
           "end\n",
           "unknown-field", 1, 11, "f32 has no fields", NULL);
}

static void local_arrays_have_a_possible_size(void **state)
{
    refuse(*state, "", "fn f()\n    local t = f32[-1]\nend\n", "bad-index", 2,
           19, "at least 1 and below 2**31, not -1", NULL);
    refuse(*state, "", "fn f()\n    local t = f32[1 << 62]\nend\n", "bad-index",
           2, 19, "not 4611686018427387904", NULL);
    refuse(*state, "", "fn f()\n    local t = f64[1 << 14, 1 << 14]\nend\n",
           "local-memory", 2, 15, "a local array of 2147483648 bytes",
           "allocate");
    refuse(*state, "i64", "fn f(n)\n    local t = f32[n]\nend\n",
           "not-constant", 2, 19, "is a constant", "allocate");
    refuse(*state, "", "fn f()\n    a = allocate(f32, -3)\nend\n", "bad-index",
           2, 23, "the size -3 is not from 0", NULL);
}

/* Literals that adapt together are reported each at its own place. */
static void chosen_literals_fit(void **state)
{
    refuse(*state, "u8;Bool", "fn f(x, c) = x + (c ? 1 : 256)\n",
           "literal-range", 1, 27, "256 does not fit u8", NULL);
    refuse(*state, "u32;Bool", "fn f(x, c) = select(c, 1, -1) * x\n",
           "literal-range", 1, 27, "-1 does not fit u32", NULL);
    refuse(*state, "i32[:];Bool",
           "fn f(a, c)\n    a[0] = 0.5 * (c ? 1 : 2)\nend\n", "literal-range",
           2, 12, "0.5 does not fit i32", "float types only");
    refuse(*state, "i64;Bool",
           "fn f(x, c)\n    x += c ? 1 : 2.5\n    return x\nend\n",
           "unstable-variable", 2, 10, "would become f64", NULL);
    refuse(*state, "f32;i32", "fn f(x, n)\n    x = 1 << n\n    return x\nend\n",
           "unstable-variable", 2, 9, "would become i64", NULL);
    refuse(*state, "f32[:];i32", "fn f(a, n)\n    a[0] = 1 << n\nend\n",
           "wrong-type", 2, 12, "an element is f32, but this is i64",
           "convert it: f32(...)");
    refuse(*state, "Bool", "fn f(c) = c ? 18446744073709551615 : 0\n",
           "literal-range", 1, 15, "does not fit i64", NULL);
    refuse(*state, "Bool;u64",
           "fn f(c, x)\n    if c\n        return x\n    end\n"
           "    return c ? 1 : -1\nend\n",
           "literal-range", 5, 20, "-1 does not fit u64", NULL);
    refuse(*state, "f32", "fn f(x) = x ? 1 : x > 1 ? 2 : 3\n",
           "condition-not-bool", 1, 11, "this is f32", NULL);
    refuse(*state, "i32", "fn f(n) = 1.5 << n\n", "wrong-type", 1, 11,
           "`<<` is not for f64", NULL);
    refuse(*state, "i8;Bool", "fn f(x, c) = x > 2 * (c ? 1 : 100)\n",
           "literal-range", 1, 18, "may be 200, which does not fit i8", NULL);
    refuse(*state, "u32;Bool", "fn f(x, c) = x - (5 - (c ? 1 : 7))\n",
           "literal-range", 1, 19, "may be -2, which does not fit u32", NULL);
    refuse(*state, "Bool", "fn f(c) = 3 * (c ? 1 : 4611686018427387904)\n",
           "literal-range", 1, 11, "which does not fit i64", NULL);
    refuse(*state, "u8;i32", "fn f(x, n) = x < 1 << n\n", "mixed-signedness", 1,
           14, "u8 and i64", NULL);
}

static void conditions_are_bool(void **state)
{
    refuse(*state, "i32", "fn f(x)\n    if x\n    end\nend\n",
           "condition-not-bool", 2, 8, "i32", "x != 0");
    refuse(*state, "i32", "fn f(x)\n    while 1\n    end\nend\n",
           "condition-not-bool", 2, 11, "an integer literal", NULL);
    refuse(*state, "i32", "fn f(x) = x && true\n", "condition-not-bool", 1, 11,
           "i32", NULL);
    refuse(*state, "f32", "fn f(x)\n    assert(x)\nend\n", "condition-not-bool",
           2, 12, "f32", NULL);
}

static void values_have_the_wanted_type(void **state)
{
    refuse(*state, "f32[:];f64", "fn f(a, x)\n    a[0] = x\nend\n",
           "wrong-type", 2, 12, "an element is f32, but this is f64",
           "f32(...)");
    refuse(*state, "f64", "fn f(x) -> f32\n    return x\nend\n", "wrong-type",
           2, 12, "the result is f32, but this is f64", NULL);
    refuse(*state, "i32", "fn f(x)\n    y: f32 = x\nend\n", "wrong-type", 2, 14,
           "the variable is f32", NULL);
    refuse(*state, "i32", "struct S\n    a: f32\nend\nfn f(x) = S(x)\n",
           "wrong-type", 4, 13, "the field `a` is f32, but this is i32", NULL);
    refuse(*state, "i32", "struct S\n    a: f32\nend\nfn f(x) = S(1, 2)\n",
           "wrong-type", 4, 11, "takes 1 value, not 2", NULL);
    refuse(*state, "i32", "fn g(x)\nend\nfn f(x)\n    y = g(x)\nend\n",
           "no-value", 4, 9, "no value", NULL);
    refuse(*state, "(i32,i32)", "fn f(t)\n    a, b, c = t\nend\n", "wrong-type",
           2, 15, "a tuple of 3", NULL);
    refuse(*state, "(i32,i32)", "fn f(t)\n    print(t)\nend\n", "wrong-type", 2,
           11, "print takes texts and scalars", NULL);
}

static void indices_are_integers_within_bounds(void **state)
{
    refuse(*state, "f32[:];f32", "fn f(a, x) = a[x]\n", "bad-index", 1, 16,
           "f32 is no index", NULL);
    refuse(*state, "f32[:,:];i64", "fn f(a, i) = a[i]\n", "bad-index", 1, 14,
           "takes 2 indices, not 1", NULL);
    refuse(*state, "(i32,f32);i64", "fn f(t, i) = t[i]\n", "bad-index", 1, 16,
           "compile-time integer", NULL);
    refuse(*state, "(i32,f32)", "fn f(t) = t[2]\n", "bad-index", 1, 13,
           "the index 2 is out of the bounds", NULL);
    refuse(*state, "Vec{f32,2}", "fn f(v) = v[-1]\n", "bad-index", 1, 13,
           "the index -1", NULL);
    refuse(*state, "f32[:]", "fn f(a) = a[-1]\n", "bad-index", 1, 13,
           "the index -1 is out of bounds", NULL);
    refuse(*state, "", "fn f()\n    a = allocate(i64, -1)\nend\n", "bad-index",
           2, 23, "the size -1 is not from 0 to 9223372036854775807", NULL);
    refuse(*state, "f32", "fn f(x)\n    a = allocate(i64, x)\nend\n",
           "bad-index", 2, 23, "f32 is no size", "a size is an integer");
    refuse(*state, "i32", "fn f(x) = x[0]\n", "bad-index", 1, 11,
           "i32 has no elements", NULL);
    refuse(*state, "f32[:]", "fn f(a) = size(a, 1)\n", "bad-index", 1, 19,
           "dimensions 0 to 0", NULL);
    refuse(*state, "", "fn f() = global_id(3)\n", "bad-index", 1, 20, "0 to 2",
           NULL);
}

static void some_values_must_be_constant(void **state)
{
    refuse(*state, "i64", "fn f(n) = global_id(n)\n", "not-constant", 1, 21,
           "constant dimension", NULL);
    refuse(*state, "i64", "fn f(n)\n    local t = f32[n]\nend\n",
           "not-constant", 2, 19, "size of a local array", NULL);
    refuse(*state, "i64", "fn f(n)\n    for i in 0..9 by n\n    end\nend\n",
           "not-constant", 2, 22, "step", "`while i < hi`");
    refuse(*state, "f32", "fn f(x)\n    for i in 0..9 by x\n    end\nend\n",
           "not-constant", 2, 22, "step", NULL);
    refuse(*state, "i64", "fn f(n)\n    for i in 0..9 by 0\n    end\nend\n",
           "zero-step", 2, 22, "not zero", NULL);
    refuse(*state, "i64", "fn f(n)\n    for i in static(0..n)\n    end\nend\n",
           "not-constant", 2, 24, "compile-time", NULL);
    refuse(*state, "i64", "fn f(n) = static(n)\n", "not-constant", 1, 18,
           "constant integer", NULL);
    refuse(*state, "", "fn g() = 1\nconst C = g()\nfn f() = C\n",
           "not-constant", 2, 11, "calls no method", NULL);
    refuse(*state, "", "const A = B\nconst B = A\nfn f() = A\n",
           "cyclic-constant", 2, 11, "`A` is defined by itself", NULL);
    refuse(*state, "", "fn f()\n    for i in static(0..5000)\n    end\nend\n",
           "too-large", 2, 5,
           "a static loop of 5000 iterations; it has at most 4096", NULL);
}

/* ---- results ---- */

static void kernels_return_nothing(void **state)
{
    refuse(*state, "i32", "kernel f(x)\n    return x\nend\n",
           "kernel-returns-value", 2, 12, "a kernel returns nothing",
           "store the value");
}

static void every_path_returns(void **state)
{
    refuse(*state, "i32",
           "fn f(x)\n    if x > 0\n        return x\n    end\nend\n",
           "missing-return", 1, 4, "`f` may end without returning", NULL);
    refuse(*state, "i32",
           "fn f(x)\n    if x > 0\n        return\n    end\n"
           "    return x\nend\n",
           "missing-return", 3, 9, "returns nothing", NULL);
    refuse(*state, "i32", "fn f(x) -> i32\nend\n", "missing-return", 1, 4,
           "`f`", NULL);
}

static void all_returns_have_one_type(void **state)
{
    refuse(*state, "i32;f32",
           "fn f(x, y)\n    if x > 0\n        return x\n    end\n"
           "    return y\nend\n",
           "unstable-result", 5, 12, "this returns f32, but line 3 returns i32",
           NULL);
    refuse(*state, "i32",
           "fn f(x)\n    if x > 0\n        return 1.5\n    end\n"
           "    return x\nend\n",
           "literal-range", 3, 16, "1.5 does not fit i32", NULL);
}

static void types_of_other_languages_are_refused(void **state)
{
    program *p = *state;
    kiln_foreign_type ball = {.size = sizeof ball,
                              .package = "toy",
                              .name = "Ball",
                              .value_size = 8,
                              .value_alignment = 8};
    const kiln_type *type = NULL;
    kiln_error *error = NULL;

    assert_ok(kiln_type_foreign(&type, p->context, &ball, &test_error));
    program_define(p, "fn f(x) = x\n");

    assert_status(KILN_ECOMPILE, infer_types(p, "f", &type, 1, &error));
    assert_int_equal(kiln_error_diagnostic_count(error), 1);
    assert_string_equal(kiln_error_diagnostic(error, 0)->code,
                        "unsupported-type");
    assert_int_equal(kiln_error_diagnostic(error, 0)->location.column, 6);
    kiln_error_free(error);
}

static void methods_that_are_too_large_are_refused(void **state)
{
    refuse(*state, "i64[:]",
           "fn f(a)\n"
           "    for i in static(0..4000)\n"
           "        for j in static(0..4000)\n"
           "            a[0] += i * j\n"
           "        end\n"
           "    end\n"
           "end\n",
           "too-large", 4, 13, "more than 1000000 operations", NULL);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_variable_keeps_its_type),
        TEST(a_variable_is_assigned_before_it_is_used),
        TEST(some_names_are_not_assigned),
        TEST(names_are_known),
        TEST(calls_have_a_method),
        TEST(calls_are_not_ambiguous),
        TEST(values_that_are_no_functions_are_not_called),
        TEST(recursion_has_a_base),
        TEST(recursion_that_makes_new_types_ends),
        TEST(an_error_shows_the_calls_that_led_to_it),
        TEST(each_caller_is_told_of_its_own_calls),
        TEST(each_fault_is_reported),
        TEST(signedness_is_not_mixed),
        TEST(floats_of_one_size_are_not_mixed),
        TEST(operators_take_what_they_are_for),
        TEST(literals_fit),
        TEST(an_error_of_one_line_is_told_once),
        TEST(local_arrays_have_a_possible_size),
        TEST(chosen_literals_fit),
        TEST(conditions_are_bool),
        TEST(values_have_the_wanted_type),
        TEST(indices_are_integers_within_bounds),
        TEST(some_values_must_be_constant),
        TEST(kernels_return_nothing),
        TEST(every_path_returns),
        TEST(all_returns_have_one_type),
        TEST(types_of_other_languages_are_refused),
        TEST(methods_that_are_too_large_are_refused),
    };

    return cmocka_run_group_tests_name("infer_errors", tests, NULL, NULL);
}
