/* test_vecmath_calls.c - which calls of other frontends become vectors. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/request.h"

/*
 * Each module computes one function for the items of a grid. The text of what
 * the passes leave shows whether the loop over them has vectors.
 */

static const char *const types[] = {"f32[:]"};

static void build(outcome *o, const char *callee, const char *definition,
                  uint8_t level, const char *features)
{
    static char text[2048];

    snprintf(text, sizeof text,
             "declare i64 @kiln_global_id(i32)\n%s"
             "define void @k(ptr %%x, i64 %%n) {\n"
             "  %%i = call i64 @kiln_global_id(i32 0)\n"
             "  %%p = getelementptr float, ptr %%x, i64 %%i\n"
             "  %%v = load float, ptr %%p\n"
             "  %%r = call float @%s(float %%v)\n"
             "  store float %%r, ptr %%p\n"
             "  ret void\n"
             "}\n",
             definition, callee);
    prepare(o, text, KILN_EMIT_LLVM_OPT, types, 1);
    o->settings.features = features;
    o->settings.opt_level = level;
    assert_built(o);
}

static int has(const outcome *o, const char *text)
{
    return strstr(o->bytes, text) != NULL;
}

static const char new_processor[] = "+avx2,+fma";

static void assert_vectors(const char *callee)
{
    char declaration[128];
    outcome o;

    snprintf(declaration, sizeof declaration, "declare float @%s(float)\n",
             callee);
    build(&o, callee, declaration, 3, new_processor);
    if (!has(&o, "store <8 x float>") || has(&o, "call float @llvm.exp") ||
        has(&o, "call float @exp"))
        fail_msg("%s: no vectors in\n%s", callee, (char *)o.bytes);
    free(o.bytes);
}

static void functions_have_vectors_under_all_their_names(void **state)
{
    static const char *const names[] = {
        "llvm.exp.f32", "expf",           "_Z3expf",
        "__nv_expf",    "__ocml_exp_f32", "_Z10native_expf",
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_vectors(names[i]);
}

static void assert_library(uint8_t level, const char *features)
{
    outcome o;

    build(&o, "llvm.exp.f32", "declare float @llvm.exp.f32(float)\n", level,
          features);
    assert_true(has(&o, "@llvm.exp."));
    assert_false(has(&o, "kiln.math"));
    free(o.bytes);
}

static void low_levels_and_old_processors_call_c(void **state)
{
    (void)state;
    assert_library(1, new_processor);
    assert_library(3, "");
}

/* What the module defines is its own, whatever its name. */
static void functions_of_the_module_are_its_own(void **state)
{
    outcome o;

    (void)state;
    build(&o, "expf",
          "define float @expf(float %x) {\n"
          "  %y = fadd float %x, 3.0\n  ret float %y\n}\n",
          3, new_processor);
    assert_true(has(&o, "fadd"));
    assert_false(has(&o, "llvm.fma"));
    free(o.bytes);
}

/* Vectors of the program itself: the function takes one of that length. Those
   with large angles are passed in memory, since the program may have attributes
   that say in which registers vectors are passed. */
static void vectors_of_the_program_are_computed_as_a_whole(void **state)
{
    static const char module[] =
        "declare i64 @kiln_global_id(i32)\n"
        "declare <4 x float> @_Z3sinDv4_f(<4 x float>)\n"
        "declare <64 x float> @llvm.cos.v64f32(<64 x float>)\n"
        "define void @k(ptr %x, i64 %n) \"prefer-vector-width\"=\"256\" {\n"
        "  %i = call i64 @kiln_global_id(i32 0)\n"
        "  %p = getelementptr <4 x float>, ptr %x, i64 %i\n"
        "  %v = load <4 x float>, ptr %p\n"
        "  %r = call <4 x float> @_Z3sinDv4_f(<4 x float> %v)\n"
        "  store <4 x float> %r, ptr %p\n"
        "  %w = load <64 x float>, ptr %x\n"
        "  %c = call <64 x float> @llvm.cos.v64f32(<64 x float> %w)\n"
        "  store <64 x float> %c, ptr %x\n"
        "  ret void\n"
        "}\n";
    outcome o;

    (void)state;
    prepare(&o, module, KILN_EMIT_LLVM_OPT, types, 1);
    o.settings.features = new_processor;
    assert_built(&o);
    assert_true(has(&o, "@llvm.fma.v4f64"));
    assert_true(has(&o, "@kiln.math.sin.v4f32.hard(ptr"));
    assert_false(has(&o, "kiln.math.cos"));
    assert_false(has(&o, "call <4 x float> @llvm.sin"));
    free(o.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_vectors_under_all_their_names),
        cmocka_unit_test(low_levels_and_old_processors_call_c),
        cmocka_unit_test(functions_of_the_module_are_its_own),
        cmocka_unit_test(vectors_of_the_program_are_computed_as_a_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
