/* test_lower_data.c - what lowered memory, calls and functions do. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
/* LINKS: codegen */
#include <math.h>

#include "ir/ir_tables.h"
#include "support/codegen/lower_run.h"

/* ---- memory ---- */

static void an_index_out_of_bounds_raises(void **state)
{
    const char *load =
        "(store %out.1 " N0 " (load@3 i64 %in.0 (load i64 %in.0 " N0 ")))";
    test_item item = raises(kernel("i64", "i64", "", load), (int64_t[]){1}, 1);

    (void)state;
    assert_int_equal(item.kind, KILN_EXCEPTION_BOUNDS);
    assert_int_equal(item.ordinal, 3);
    assert_int_equal(item.values[0], 1);
    assert_int_equal(item.values[1], 1);
    item = raises(kernel("i64", "i64", "", load), (int64_t[]){-1}, 1);
    assert_int_equal(item.values[0], -1);
}

static void an_element_out_of_bounds_raises(void **state)
{
    const char *locals = "(local %v.2 Vec{i64,3})";
    const char *get = "(set %v.2 (splat Vec{i64,3} (const i64 7)))"
                      "(store %out.1 " N0 " (element@4 i64 %v.2 (load i64"
                      " %in.0 " N0 ")))";
    const char *set = "(set %v.2 (with_element Vec{i64,3} %v.2"
                      " (load i64 %in.0 " N0 ") (const i64 9)))"
                      "(store %out.1 " N0 " (element i64 %v.2 (const i64 2)))";
    test_item item =
        raises(kernel("i64", "i64", locals, get), (int64_t[]){3}, 1);

    (void)state;
    assert_int_equal(item.kind, KILN_EXCEPTION_BOUNDS);
    assert_int_equal(item.ordinal, 4);
    assert_int_equal(item.values[0], 3);
    assert_int_equal(item.values[1], 3);
    gives(kernel("i64", "i64", locals, get), (int64_t[]){2}, 1, (int64_t[]){7},
          8);
    gives(kernel("i64", "i64", locals, set), (int64_t[]){2}, 1, (int64_t[]){9},
          8);
    assert_int_equal(
        raises(kernel("i64", "i64", locals, set), (int64_t[]){-1}, 1).values[0],
        -1);
}

/* As C lays it out. */
typedef struct inner {
    double number;
    uint16_t small;
} inner;
typedef struct outer {
    uint8_t flag;
    inner in;
    float three[3];
    int8_t last;
} outer;

#define INNER "(f64, u16)"
#define OUTER "(Bool, " INNER ", Static{4}, Vec{f32,3}, i8)"

static void aggregates_lie_in_memory_as_c_has_them(void **state)
{
    const outer in[2] = {{1, {1.5, 7}, {1, 2, 3}, -4},
                         {0, {-2.5, 9}, {4, 5, 6}, 100}};
    const char *body =
        "(set %o.2 (load " OUTER " %in.0 " N1 "))"
        "(set %o.2 (with_field " OUTER " 0 %o.2 (const Bool true)))"
        "(set %o.2 (with_field " OUTER " 1 %o.2 (with_field " INNER
        " 1 (field " INNER " 1 %o.2) (const u16 77))))"
        "(set %o.2 (with_field " OUTER " 3 %o.2 (add Vec{f32,3}"
        " (field Vec{f32,3} 3 %o.2) (field Vec{f32,3} 3"
        " (load " OUTER " %in.0 " N0 ")))))"
        "(store %out.1 " N1 " %o.2)";
    outer out[2], got[2];
    program p;

    (void)state;
    for (int optimised = 0; optimised < 2; optimised++) {
        test_item item = {.kind = 0};

        memset(out, 0xee, sizeof out);
        memcpy(got, out, sizeof out);
        program_init(&p, kernel(OUTER, OUTER, "(local %o.2 " OUTER ")", body),
                     optimised);
        assert_int_equal(run(&p, &item, in, 2, got, 2), 0);
        program_dispose(&p);
        out[1].flag = 1;
        out[1].in.number = -2.5;
        out[1].in.small = 77;
        out[1].three[0] = 5;
        out[1].three[1] = 7;
        out[1].three[2] = 9;
        out[1].last = 100;
        assert_int_equal(got[1].flag, 1);
        assert_memory_equal(&got[1].in.number, &out[1].in.number, 8);
        assert_int_equal(got[1].in.small, 77);
        assert_memory_equal(got[1].three, out[1].three, 12);
        assert_int_equal(got[1].last, 100);
        assert_memory_equal(&got[0], &out[0], sizeof out[0]);
    }
}

static void the_first_index_is_contiguous_and_strides_count_elements(
    void **state)
{
    const char *text =
        "(function \"k\" \"m\" kernel (param %a.0 i32[:,:,:])"
        " (param %b.1 i32[strided :,:])"
        " (block (store %b.1 (const i64 1) (const i64 2)"
        " (load i32 %a.0 (const i64 1) (const i64 2) (const i64 1)))"
        " (store %b.1 (const i64 0) (const i64 0) (wrap i32 (add i64"
        " (mul i64 (length i64 %a.0) (const i64 100)) (size i64 1 %b.1))))))";
    int32_t a[2 * 3 * 2] = {0}, b[32];

    (void)state;
    for (int32_t i = 0; i < 12; i++)
        a[i] = i;
    for (int optimised = 0; optimised < 2; optimised++) {
        int32_t (*function)(test_item *, const int32_t *, int64_t, int64_t,
                            int64_t, int32_t *, int64_t, int64_t, int64_t,
                            int64_t);
        test_item item = {.kind = 0};
        program p;

        memset(b, 0, sizeof b);
        program_init(&p, text, optimised);
        memcpy(&function, &p.address, sizeof function);
        assert_int_equal(function(&item, a, 2, 3, 2, b + 20, 2, 3, 5, -7), 0);
        program_dispose(&p);
        assert_int_equal(b[20 + 5 - 14], 1 + 2 * (2 + 3 * 1));
        assert_int_equal(b[20], 1203);
    }
}

static void arguments_arrive_flat(void **state)
{
    const char *text =
        "(function \"k\" \"m\" kernel (param %n.0 Static{5})"
        " (param %b.1 Bool) (param %s.2 (i8, f64)) (param %v.3 Vec{i16,2})"
        " (param %out.4 f64[:])"
        " (block (if %b.1 (block (store %out.4 " N0 " (add f64 (field f64 1"
        " %s.2) (convert f64 (field i16 1 %v.3))))))))";
    const struct {
        int8_t a;
        double b;
    } pair = {1, 2.5};
    const int16_t vector[2] = {1, 20};

    (void)state;
    for (int optimised = 0; optimised < 2; optimised++) {
        int32_t (*function)(test_item *, uint8_t, const void *, const void *,
                            double *, int64_t);
        test_item item = {.kind = 0};
        double out = 0, expected = 22.5;
        program p;

        program_init(&p, text, optimised);
        memcpy(&function, &p.address, sizeof function);
        assert_int_equal(function(&item, 2, &pair, vector, &out, 1), 0);
        program_dispose(&p);
        assert_memory_equal(&out, &expected, sizeof out);
    }
}

static void atomic_gives(const char *type, const char *op, const void *value,
                         const void *after, size_t size)
{
    char body[512], locals[64];
    const int is_cas = strcmp(op, "atomic_cas") == 0;

    /* out[0] becomes in[0], then in[1] works on it; the old value goes to
       out[1]. */
    snprintf(locals, sizeof locals, "(local %%x.2 %s)", type);
    snprintf(body, sizeof body,
             "(store %%out.1 " N0 " (load %s %%in.0 " N0 "))"
             "(set %%x.2 (atomic %s %s %%out.1 " N0 " %s"
             " (load %s %%in.0 " N1 ")))(store %%out.1 " N1 " %%x.2)",
             type, type, op, is_cas ? "(load i64 %in.0 (const i64 0))" : "",
             type);
    gives(kernel(type, type, locals, body), value, 2, after, size);
}

static void atomics_give_the_old_value(void **state)
{
    (void)state;
    atomic_gives("i64", "atomic_add", (int64_t[]){5, 3}, (int64_t[]){8, 5}, 16);
    atomic_gives("i64", "atomic_sub", (int64_t[]){5, 3}, (int64_t[]){2, 5}, 16);
    atomic_gives("i8", "atomic_min", (int8_t[]){5, -3}, (int8_t[]){-3, 5}, 2);
    atomic_gives("u8", "atomic_min", (uint8_t[]){5, 253}, (uint8_t[]){5, 5}, 2);
    atomic_gives("u32", "atomic_max", (uint32_t[]){5, UINT32_MAX},
                 (uint32_t[]){UINT32_MAX, 5}, 8);
    atomic_gives("i64", "atomic_and", (int64_t[]){6, 3}, (int64_t[]){2, 6}, 16);
    atomic_gives("i64", "atomic_or", (int64_t[]){6, 3}, (int64_t[]){7, 6}, 16);
    atomic_gives("i64", "atomic_xor", (int64_t[]){6, 3}, (int64_t[]){5, 6}, 16);
    atomic_gives("f32", "atomic_add", (float[]){1.5f, 2}, (float[]){3.5f, 1.5f},
                 8);
    atomic_gives("f64", "atomic_max", (double[]){1.5, 2}, (double[]){2, 1.5},
                 16);
    atomic_gives("f64", "atomic_exchange", (double[]){1.5, 2},
                 (double[]){2, 1.5}, 16);
    atomic_gives("i64", "atomic_cas", (int64_t[]){6, 3}, (int64_t[]){3, 6}, 16);
}

/* ---- calls ---- */

static const char *with_callees(const char *body, const char *callees,
                                const char *functions)
{
    static char text[16384];

    snprintf(text, sizeof text, "%s\n%s", kernel("i64", "i64", callees, body),
             functions);
    return text;
}

#define FACTORIAL \
    "(function \"fac\" \"m.fac\" (result i64) (param %n.0 i64)" \
    " (callee $0 \"fac\" i64)" \
    " (block (assert@2 \"not negative\" (ge Bool %n.0 " N0 "))" \
    " (return (choose i64 (le Bool %n.0 " N1 ") " N1 \
    " (mul i64 %n.0 (call i64 $0 (sub i64 %n.0 " N1 ")))))))\n"

#define EVEN_AND_ODD \
    "(function \"even\" \"m\" (result Bool) (param %n.0 i64)" \
    " (callee $0 \"odd\" Bool)" \
    " (block (return (orelse Bool (eq Bool %n.0 " N0 ")" \
    " (call Bool $0 (sub i64 %n.0 " N1 "))))))\n" \
    "(function \"odd\" \"m\" (result Bool) (param %n.0 i64)" \
    " (callee $0 \"even\" Bool)" \
    " (block (return (andalso Bool (ne Bool %n.0 " N0 ")" \
    " (call Bool $0 (sub i64 %n.0 " N1 "))))))\n"

static void recursion_works_and_passes_failures_on(void **state)
{
    const char *body =
        "(store %out.1 " N0 " (call i64 $0 (load i64 %in.0 " N0 ")))";
    const char *callees = "(callee $0 \"fac\" i64)";
    test_item item;

    (void)state;
    gives(with_callees(body, callees, FACTORIAL), (int64_t[]){10}, 1,
          (int64_t[]){3628800}, 8);
    item = raises(with_callees(body, callees, FACTORIAL), (int64_t[]){-1}, 1);
    assert_int_equal(item.kind, KILN_EXCEPTION_ASSERTION);
    assert_int_equal(item.ordinal, 2);
    assert_string_equal(item.method, "m.fac");
    assert_string_equal(item.message, "not negative");
}

static void mutual_recursion_works(void **state)
{
    const char *body = "(store %out.1 " N0 " (choose i64 (call Bool $0"
                       " (load i64 %in.0 " N0 ")) " N1 " " N0 "))";
    const char *callees = "(callee $0 \"even\" Bool)";

    (void)state;
    gives(with_callees(body, callees, EVEN_AND_ODD), (int64_t[]){10}, 1,
          (int64_t[]){1}, 8);
    gives(with_callees(body, callees, EVEN_AND_ODD), (int64_t[]){7}, 1,
          (int64_t[]){0}, 8);
}

#define SETTER \
    "(function \"put\" \"m\" (param %a.0 i64[:]) (param %i.1 i64)" \
    " (param %pair.2 (i64, Static{3}))" \
    " (block (store %a.0 %i.1 (field i64 0 %pair.2))))\n"

static void a_failing_callee_without_a_value_ends_the_kernel(void **state)
{
    const char *body =
        "(eval (call none $0 %out.1 (load i64 %in.0 " N0 ")"
        " (tuple (i64, Static{3}) (const i64 8) (unit Static{3}))))"
        "(store %out.1 " N1 " (const i64 5))";
    const char *callees = "(callee $0 \"put\" none)";

    (void)state;
    gives(with_callees(body, callees, SETTER), (int64_t[]){0}, 1,
          (int64_t[]){8, 5}, 16);
    assert_int_equal(
        raises(with_callees(body, callees, SETTER), (int64_t[]){1000}, 1)
            .values[0],
        1000);
}

/* ---- the rest ---- */

static void the_right_side_is_evaluated_only_when_needed(void **state)
{
    const char *body =
        "(store %out.1 " N0 " (andalso Bool (const Bool false)"
        " (load Bool %in.0 (const i64 9))))"
        "(store %out.1 " N1 " (orelse Bool (load Bool %in.0 " N0 ")"
        " (load Bool %in.0 (const i64 9))))"
        "(store %out.1 (const i64 2) (choose Bool (const Bool true)"
        " (const Bool true) (load Bool %in.0 (const i64 9))))";

    (void)state;
    gives(kernel("Bool", "Bool", "", body), (uint8_t[]){1}, 1,
          (uint8_t[]){0, 1, 1}, 3);
    assert_int_equal(
        raises(kernel("Bool", "Bool", "",
                      "(store %out.1 " N0 " (select Bool (const Bool true)"
                      " (const Bool true) (load Bool %in.0 (const i64 9))))"),
               (uint8_t[]){1}, 1)
            .kind,
        KILN_EXCEPTION_BOUNDS);
}

static void vectors_are_computed_element_by_element(void **state)
{
    const char *body =
        "(set %v.2 (tuple Vec{i32,2} (load i32 %in.0 " N0 ")"
        " (load i32 %in.0 " N1 ")))"
        "(set %w.3 (idiv Vec{i32,2} %v.2 (splat Vec{i32,2} (load i32 %in.0"
        " (const i64 2)))))"
        "(store %out.1 " N0 " (element i32 %w.3 " N0 "))"
        "(store %out.1 " N1 " (element i32 %w.3 " N1 "))"
        "(set %w.3 (math Vec{i32,2} max %v.2 (shl Vec{i32,2} %v.2 %v.2)))"
        "(store %out.1 (const i64 2) (field i32 0 %w.3))"
        "(store %out.1 (const i64 3) (field i32 1"
        " (with_field Vec{i32,2} 1 %w.3 (const i32 6))))";
    const char *locals = "(local %v.2 Vec{i32,2}) (local %w.3 Vec{i32,2})";

    (void)state;
    gives(kernel("i32", "i32", locals, body), (int32_t[]){INT32_MIN, 3, -1}, 3,
          (int32_t[]){INT32_MIN, -3, INT32_MIN, 6}, 16);
    assert_int_equal(
        raises(kernel("i32", "i32", locals, body), (int32_t[]){1, 2, 0}, 3)
            .kind,
        KILN_EXCEPTION_DIVISION);
}

static void queries_reach_the_backend(void **state)
{
    (void)state;
    gives(kernel("i64", "i64", "",
                 "(store %out.1 " N0 " (query i64 local_size 1))"),
          NULL, 0, (int64_t[]){100 * KILN__QUERY_LOCAL_SIZE + 1}, 8);
}

static void prints_come_in_order(void **state)
{
    const char *text = kernel(
        "i64", "i64", "",
        "(print (text \"a=\") (const f32 1.5) (text \", \") (const u8 200)"
        " (text \" \") (const Bool true) (text \"\\x0a\"))");

    (void)state;
    for (int optimised = 0; optimised < 2; optimised++) {
        test_item item = {.kind = 0};
        program p;

        program_init(&p, text, optimised);
        assert_int_equal(run(&p, &item, NULL, 0, NULL, 0), 0);
        assert_string_equal(item.printed, "a=1.5, 200 1\n");
        program_dispose(&p);
    }
}

static void a_local_that_was_not_set_is_zero(void **state)
{
    (void)state;
    gives(kernel("i64", "i64", "(local %x.2 (i64, i64))",
                 "(store %out.1 " N0 " (field i64 1 %x.2))"),
          NULL, 0, (int64_t[]){0}, 8);
}

/* ---- mathematics ---- */

static double plain_rsqrt(double x)
{
    return 1 / sqrt(x);
}

static const struct {
    int32_t math;
    double (*function)(double x);
} unary_functions[] = {
    {KILN__MATH_SQRT, sqrt},     {KILN__MATH_RSQRT, plain_rsqrt},
    {KILN__MATH_CBRT, cbrt},     {KILN__MATH_EXP, exp},
    {KILN__MATH_EXP2, exp2},     {KILN__MATH_EXP10, exp10},
    {KILN__MATH_EXPM1, expm1},   {KILN__MATH_LOG, log},
    {KILN__MATH_LOG2, log2},     {KILN__MATH_LOG10, log10},
    {KILN__MATH_LOG1P, log1p},   {KILN__MATH_SIN, sin},
    {KILN__MATH_COS, cos},       {KILN__MATH_TAN, tan},
    {KILN__MATH_ASIN, asin},     {KILN__MATH_ACOS, acos},
    {KILN__MATH_ATAN, atan},     {KILN__MATH_SINH, sinh},
    {KILN__MATH_COSH, cosh},     {KILN__MATH_TANH, tanh},
    {KILN__MATH_ASINH, asinh},   {KILN__MATH_ATANH, atanh},
    {KILN__MATH_ERF, erf},       {KILN__MATH_ERFC, erfc},
    {KILN__MATH_TGAMMA, tgamma}, {KILN__MATH_LGAMMA, lgamma},
    {KILN__MATH_FLOOR, floor},   {KILN__MATH_CEIL, ceil},
    {KILN__MATH_ROUND, round},   {KILN__MATH_RINT, rint},
    {KILN__MATH_TRUNC, trunc},   {KILN__MATH_ABS, fabs},
};

/* Within `ulps` of the type's precision. */
static void is_near(double got, double expected, double precision)
{
    if (fabs(got - expected) > 4 * precision * fabs(expected))
        fail_msg("%.17g is not near %.17g", got, expected);
}

/* Runs a function of f64, f32 and f16 vectors and scalars at 0.625. */
static void functions_of_one_value_agree_with_c(void **state)
{
    char body[1024];

    (void)state;
    for (size_t i = 0; i < sizeof unary_functions / sizeof *unary_functions;
         i++) {
        const char *name = kiln__ir_math[unary_functions[i].math].text;
        const double expected = unary_functions[i].function(0.625);
        double in = 0.625, out[4];
        test_item item = {.kind = 0};
        program p;

        snprintf(body, sizeof body,
                 "(store %%out.1 " N0 " (math f64 %s (load f64 %%in.0 " N0 ")))"
                 "(store %%out.1 " N1 " (convert f64 (math f32 %s (convert f32"
                 " (load f64 %%in.0 " N0 ")))))"
                 "(store %%out.1 (const i64 2) (convert f64 (math f16 %s"
                 " (convert f16 (load f64 %%in.0 " N0 ")))))"
                 "(store %%out.1 (const i64 3) (field f64 1 (math Vec{f64,2} %s"
                 " (splat Vec{f64,2} (load f64 %%in.0 " N0 ")))))",
                 name, name, name, name);
        program_init(&p, kernel("f64", "f64", "", body), (int)(i & 1));
        assert_int_equal(run(&p, &item, &in, 1, out, 4), 0);
        program_dispose(&p);
        is_near(out[0], expected, 0x1p-52);
        is_near(out[1], expected, 0x1p-23);
        is_near(out[2], expected, 0x1p-10);
        is_near(out[3], expected, 0x1p-52);
    }
}

static void f64_gives(const char *op, double a, double b, double expected)
{
    char typed[64];

    snprintf(typed, sizeof typed, "%s", op);
    gives(binary("f64", "f64", typed), (double[]){a, b}, 2, &expected, 8);
}

static void functions_of_two_values_agree_with_c(void **state)
{
    (void)state;
    f64_gives("math f64 pow", 2, 10, 1024);
    f64_gives("math f64 hypot", 3, 4, 5);
    f64_gives("math f64 fmod", -7.5, 2, -1.5);
    f64_gives("math f64 atan2", 1, -1, atan2(1, -1));
    f64_gives("math f64 copysign", 3, -0.0, -3);
    f64_gives("math f64 min", NAN, 2, 2);
    f64_gives("math f64 max", 2, NAN, 2);
    f64_gives("math f64 min", -1, 2, -1);
    f64_gives("div f64", 1, 4, 0.25);
    gives(unary("f64", "f64", "math f64 fma (const f64 0.1) (const f64 10.0)"),
          (double[]){-1}, 1, (double[]){fma(0.1, 10.0, -1)}, 8);
    gives(unary("f64", "f64", "math f64 round"), (double[]){2.5}, 1,
          (double[]){3}, 8);
    gives(unary("f64", "f64", "math f64 rint"), (double[]){2.5}, 1,
          (double[]){2}, 8);
    gives(unary("f64", "Bool", "math Bool isnan"), (double[]){NAN}, 1,
          (uint8_t[]){1}, 1);
    gives(unary("f32", "Bool", "math Bool isinf"), (float[]){-HUGE_VALF}, 1,
          (uint8_t[]){1}, 1);
    gives(unary("f16", "Bool", "math Bool isfinite"), (uint16_t[]){0x7c00}, 1,
          (uint8_t[]){0}, 1);
    gives(unary("f32", "f32", "neg f32"), (float[]){0}, 1, (float[]){-0.0f}, 4);
    gives(unary("f16", "f16", "add f16 (const f16 1.0)"), (uint16_t[]){0x1000},
          1, (uint16_t[]){0x3c00}, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_out_of_bounds_raises),
        cmocka_unit_test(an_element_out_of_bounds_raises),
        cmocka_unit_test(aggregates_lie_in_memory_as_c_has_them),
        cmocka_unit_test(
            the_first_index_is_contiguous_and_strides_count_elements),
        cmocka_unit_test(arguments_arrive_flat),
        cmocka_unit_test(atomics_give_the_old_value),
        cmocka_unit_test(recursion_works_and_passes_failures_on),
        cmocka_unit_test(mutual_recursion_works),
        cmocka_unit_test(a_failing_callee_without_a_value_ends_the_kernel),
        cmocka_unit_test(the_right_side_is_evaluated_only_when_needed),
        cmocka_unit_test(vectors_are_computed_element_by_element),
        cmocka_unit_test(queries_reach_the_backend),
        cmocka_unit_test(prints_come_in_order),
        cmocka_unit_test(a_local_that_was_not_set_is_zero),
        cmocka_unit_test(functions_of_one_value_agree_with_c),
        cmocka_unit_test(functions_of_two_values_agree_with_c),
    };

    return cmocka_run_group_tests(tests, start_llvm, NULL);
}
