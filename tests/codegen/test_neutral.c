/* test_neutral.c - modules that are written once for all targets. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/neutral.h"

#define ID "declare i64 @kiln_global_id(i32)\n"

/* y[id] = 10 * y[id] + 1, the id asked for three calls deep. */
static const char deep[] =
    ID "define internal i64 @ask() noinline memory(none) {\n"
       "  %i = call i64 @kiln_global_id(i32 0)\n"
       "  ret i64 %i\n"
       "}\n"
       "define internal i32 @plain(i32 %x) noinline {\n"
       "  %y = mul i32 %x, 10\n"
       "  ret i32 %y\n"
       "}\n"
       "define internal void @store(ptr noalias %y, i32 %more) noinline {\n"
       "  %i = call i64 @ask()\n"
       "  %p = getelementptr i32, ptr %y, i64 %i\n"
       "  %v = load i32, ptr %p\n"
       "  %w = call i32 @plain(i32 %v)\n"
       "  %s = add i32 %w, %more\n"
       "  store i32 %s, ptr %p\n"
       "  ret void\n"
       "}\n"
       "define void @k(ptr %y, i64 %n) {\n"
       "  call void @store(ptr %y, i32 1)\n"
       "  ret void\n"
       "}\n";

static void ids_are_known_at_any_depth(void **state)
{
    int32_t y[64];
    launch l;

    (void)state;
    assert_int_equal(neutral_run(y, deep, 64, 16, &l), 0);
    for (int32_t i = 0; i < 64; i++)
        assert_int_equal(y[i], 10 * i + 1);
}

static void one_module_is_for_all_targets(void **state)
{
    (void)state;
    neutral_accepted(deep);
}

static void functions_may_recurse(void **state)
{
    static const char module[] = ID "define internal i32 @sum(i32 %n) {\n"
                                    "  %i = call i64 @kiln_global_id(i32 0)\n"
                                    "  %last = icmp eq i32 %n, 0\n"
                                    "  br i1 %last, label %end, label %more\n"
                                    "more:\n"
                                    "  %m = sub i32 %n, 1\n"
                                    "  %s = call i32 @sum(i32 %m)\n"
                                    "  %j = trunc i64 %i to i32\n"
                                    "  %t = add i32 %s, %j\n"
                                    "  ret i32 %t\n"
                                    "end:\n"
                                    "  ret i32 0\n"
                                    "}\n"
                                    "define void @k(ptr %y, i64 %n) {\n"
                                    "  %i = call i64 @kiln_global_id(i32 0)\n"
                                    "  %p = getelementptr i32, ptr %y, i64 %i\n"
                                    "  %v = load i32, ptr %p\n"
                                    "  %s = call i32 @sum(i32 %v)\n"
                                    "  store i32 %s, ptr %p\n"
                                    "  ret void\n"
                                    "}\n";
    int32_t y[8];
    launch l;

    (void)state;
    assert_int_equal(neutral_run(y, module, 8, 8, &l), 0);
    for (int32_t i = 0; i < 8; i++)
        assert_int_equal(y[i], i * i);
}

static void a_pointer_to_a_function_with_ids_is_refused(void **state)
{
    (void)state;
    neutral_refused_on(
        ALL,
        ID "define internal void @f(ptr %y) {\n"
           "  %i = call i64 @kiln_global_id(i32 0)\n"
           "  %p = getelementptr i32, ptr %y, i64 %i\n"
           "  store i32 0, ptr %p\n"
           "  ret void\n"
           "}\n"
           "define void @k(ptr %y, i64 %n) {\n"
           "  %odd = trunc i64 %n to i1\n"
           "  %g = select i1 %odd, ptr @f, ptr null\n"
           "  call void %g(ptr %y)\n"
           "  ret void\n"
           "}\n",
        "function 'f' of the module: its address is taken, and ");
}

/* ---- the entry ---- */

static void parameters_must_fit_the_arguments(void **state)
{
    (void)state;
    neutral_refused_on(ALL, "define void @k(ptr %y) { ret void }\n",
                       "parameter 1, for argument 0 (i32[:]): there is none");
    neutral_refused_on(ALL, "define void @k(i64 %y, i64 %n) { ret void }\n",
                       "the data of an array is a pointer");
    neutral_refused_on(ALL, "define void @k(ptr %y, i32 %n) { ret void }\n",
                       "sizes and strides of an array are i64");
    neutral_refused_on(ALL,
                       "define void @k(ptr %y, i64 %n, i32 %m) { ret void }\n",
                       "has 3 parameters, and its arguments take 2");
    neutral_refused_on(ALL,
                       "define void @k(ptr %y, i64 %n, ...) { ret void }\n",
                       "takes variable arguments");
}

/* Arguments that the bound form passes as bytes. */
static const char *const bytes_types[] = {"i32[:]", "Pair", "Lanes"};
static const uint64_t bytes_sizes[] = {16, 8, 16};
static const uint64_t bytes_alignments[] = {8, 4, 4};

static void build_bytes(outcome *o, const foreign_target *target,
                        const char *module, int32_t form)
{
    prepare(o, module, form, bytes_types, 3);
    foreign_settings(o, target);
    o->request.argument_sizes = bytes_sizes;
    o->request.argument_alignments = bytes_alignments;
    run(o);
}

/* The pair is changed, which only this item may see. */
static const char bytes_module[] =
    ID "define void @k(ptr %y, i64 %n, ptr byval({i32, i32}) align 4 %pair,\n"
       "               <4 x i32> %lanes) {\n"
       "  %a = load i32, ptr %pair\n"
       "  %b = add i32 %a, 1\n"
       "  store i32 %b, ptr %pair\n"
       "  %q = getelementptr i32, ptr %pair, i64 1\n"
       "  %c = load i32, ptr %q\n"
       "  %d = load i32, ptr %pair\n"
       "  %l = extractelement <4 x i32> %lanes, i32 3\n"
       "  %s = add i32 %c, %d\n"
       "  %t = add i32 %s, %l\n"
       "  %i = call i64 @kiln_global_id(i32 0)\n"
       "  %p = getelementptr i32, ptr %y, i64 %i\n"
       "  store i32 %t, ptr %p\n"
       "  ret void\n"
       "}\n";

static void bytes_are_copies_or_values(void **state)
{
    int32_t y[8] = {0};
    const struct {
        int32_t *data;
        int64_t n;
        int32_t pair[2];
        int32_t lanes[4];
    } arguments = {y, 8, {100, 20}, {1, 2, 3, 4}};
    launch l = make_launch(8, 1, 1, 4, 1, 1);
    outcome o;

    (void)state;
    build_bytes(&o, foreign_target_of(HOST), bytes_module, KILN_EMIT_BINARY);
    if (o.status != KILN_OK)
        fail_msg("%s", o.message);
    assert_int_equal(run_image(&o, &l, &arguments), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(y[i], 125);
    assert_int_equal(arguments.pair[0], 100);
    free(o.bytes);
}

static void bytes_are_for_all_targets(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const foreign_target *target = &foreign_targets[i];
        outcome o;

        build_bytes(&o, target, bytes_module, target->form);
        if (o.status != KILN_OK)
            fail_msg("%s: %s", target->backend, o.message);
        free(o.bytes);
    }
}

static void bytes_of_another_size_are_refused(void **state)
{
    outcome o;

    (void)state;
    build_bytes(&o, foreign_target_of(HOST),
                "define void @k(ptr %y, i64 %n, ptr byval([3 x i32]) %pair,\n"
                "               <4 x i32> %lanes) { ret void }\n",
                KILN_EMIT_BINARY);
    assert_contains(o.message, "byval() is larger than the argument");
    build_bytes(&o, foreign_target_of(HOST),
                "define void @k(ptr %y, i64 %n, i64 %pair,\n"
                "               <3 x i32> %lanes) { ret void }\n",
                KILN_EMIT_BINARY);
    assert_contains(o.message, "its value has another size");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_known_at_any_depth),
        cmocka_unit_test(one_module_is_for_all_targets),
        cmocka_unit_test(functions_may_recurse),
        cmocka_unit_test(a_pointer_to_a_function_with_ids_is_refused),
        cmocka_unit_test(parameters_must_fit_the_arguments),
        cmocka_unit_test(bytes_are_copies_or_values),
        cmocka_unit_test(bytes_are_for_all_targets),
        cmocka_unit_test(bytes_of_another_size_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
