/* test_foreign_names.c - what foreign modules need of libraries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host cuda rocm spirv */
/* LINKS: codegen */
#include "codegen/module/codegen_mangled.h"
#include "support/codegen/foreign.h"

/* ---- what a request asks for ---- */

static char needs[1024];

static void take_need(void *env, int32_t library, const char *symbol)
{
    const size_t size = strlen(needs);

    (void)env;
    snprintf(needs + size, sizeof needs - size, "%s%d:%s", size ? " " : "",
             (int)library, symbol);
}

/* Builds a module for a target and notes what it needs. */
static void build(outcome *o, const foreign_target *target, uint8_t names,
                  const char *globals, const char *body)
{
    static char from[FOREIGN_TEXT_MAX], text[FOREIGN_TEXT_MAX];

    snprintf(from, sizeof from,
             "%s\ndefine i32 @k(@I %%item, @A %%y, i64 %%n) {\n%s"
             "  ret i32 0\n}\n",
             globals, body);
    foreign_write(text, target, from);
    prepare(o, text, target->form, one_array, 1);
    foreign_settings(o, target);
    if (names != 0)
        o->settings.math_names = names;
    o->settings.opt_level = 1;
    o->request.need = take_need;
    needs[0] = '\0';
    run(o);
}

static void assert_needs(int bit, uint8_t names, const char *globals,
                         const char *body, const char *expected)
{
    outcome o;

    build(&o, foreign_target_of(bit), names, globals, body);
    if (strcmp(needs, expected) != 0)
        fail_msg("target %d needs \"%s\", not \"%s\": %s\n%s%s", bit, needs,
                 expected, o.message, globals, body);
    if (o.status != (*expected != '\0' ? KILN_EAGAIN : KILN_OK))
        fail_msg("target %d: %s\n%s%s", bit, o.message, globals, body);
    if (o.status == KILN_OK)
        free(o.bytes);
}

#define UNARY(type, name) \
    "declare " type " @" name "(" type ")\n", \
        "  %x = load " type ", @A %y\n" \
        "  %r = call " type " @" name "(" type " %x)\n" \
        "  store " type " %r, @A %y\n"

static void one_function_has_the_name_of_the_targets_library(void **state)
{
    static const char *const names[] = {"tanf", "llvm.tan.f32", "_Z3tanf",
                                        "__nv_tanf", "__ocml_tan_f32"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char declare[128], body[256];

        snprintf(declare, sizeof declare, "declare float @%s(float)\n",
                 names[i]);
        snprintf(body, sizeof body,
                 "  %%x = load float, @A %%y\n"
                 "  %%r = call float @%s(float %%x)\n"
                 "  store float %%r, @A %%y\n",
                 names[i]);
        assert_needs(HOST, 0, declare, body, "");
        assert_needs(CUDA, 0, declare, body, "1:_Z3tanf");
        assert_needs(CUDA, KILN__NAMES_LIBDEVICE, declare, body, "0:__nv_tanf");
        assert_needs(ROCM, 0, declare, body, "1:_Z3tanf");
        assert_needs(ROCM, KILN__NAMES_OCML, declare, body, "0:__ocml_tan_f32");
        assert_needs(SPIRV, 0, declare, body, "");
    }
}

static void nothing_is_taken_for_constants_and_dead_code(void **state)
{
    static const char declare[] = "declare double @cbrt(double)\n"
                                  "declare double @llvm.sin.f64(double)\n";

    (void)state;
    assert_needs(CUDA, 0, declare,
                 "  %a = alloca double@S\n"
                 "  store double 27.0, @I %a\n"
                 "  %x = load double, @I %a\n"
                 "  %c = call double @cbrt(double %x)\n"
                 "  %s = call double @llvm.sin.f64(double %c)\n"
                 "  store double %s, @A %y\n",
                 "");
    assert_needs(CUDA, 0,
                 "declare double @cbrt(double)\n"
                 "define internal double @unused(double %x) {\n"
                 "  %c = call double @cbrt(double %x)\n"
                 "  ret double %c\n}\n",
                 "", "");
}

static void the_modules_own_function_is_not_replaced(void **state)
{
    static const char own[] = "define float @tanf(float %x) noinline {\n"
                              "  ret float %x\n}\n";

    (void)state;
    assert_needs(CUDA, 0, own,
                 "  %x = load float, @A %y\n"
                 "  %r = call float @tanf(float %x)\n"
                 "  store float %r, @A %y\n",
                 "");
    /* The library's has another name then. */
    assert_needs(
        CUDA, KILN__NAMES_LIBDEVICE,
        "define float @__nv_tanf(float %x) noinline {\n  ret float %x\n}\n"
        "declare float @llvm.tan.f32(float)\n",
        "  %x = load float, @A %y\n"
        "  %r = call float @__nv_tanf(float %x)\n"
        "  %t = call float @llvm.tan.f32(float %r)\n"
        "  store float %t, @A %y\n",
        "0:__nv_tanf");
}

static void pointers_have_the_librarys_address_spaces(void **state)
{
    static const char declare[] =
        "declare <4 x float> @_Z6vload4mPU3AS1Kf(i64, @A)\n"
        "declare <4 x float> @_Z5fractDv4_fPS_(<4 x float>, @I)\n"
        "declare <4 x float> @_Z6vload4mPU3AS2Kf(i64, ptr addrspace(4))\n";
    static const char body[] =
        "  %a = alloca <4 x float>@S\n"
        "  %v = call <4 x float> @_Z6vload4mPU3AS1Kf(i64 %n, @A %y)\n"
        "  %f = call <4 x float> @_Z5fractDv4_fPS_(<4 x float> %v, @I %a)\n"
        "  %p = inttoptr i64 %n to ptr addrspace(4)\n"
        "  %c = call <4 x float> @_Z6vload4mPU3AS2Kf(i64 %n, ptr addrspace(4) "
        "%p)\n"
        "  %s = fadd <4 x float> %f, %c\n"
        "  store <4 x float> %s, @A %y\n";

    (void)state;
    assert_needs(HOST, 0, declare, body,
                 "1:_Z5fractDv4_fPS_ 1:_Z6vload4mPU3AS1Kf "
                 "1:_Z6vload4mPU3AS4Kf");
    assert_needs(CUDA, 0, declare, body,
                 "1:_Z5fractDv4_fPS_ 1:_Z6vload4mPU3AS1Kf "
                 "1:_Z6vload4mPU3AS4Kf");
    assert_needs(ROCM, 0, declare, body,
                 "1:_Z6vload4mPU3AS1Kf 1:_Z5fractDv4_fPU3AS5S_ "
                 "1:_Z6vload4mPU3AS4Kf");
}

static void built_ins_that_llvm_knows_are_its_intrinsics(void **state)
{
    static const char declare[] = "declare <4 x i32> @_Z3minDv4_iS_(<4 x i32>, "
                                  "<4 x i32>)\n"
                                  "declare i32 @_Z5clampjjj(i32, i32, i32)\n"
                                  "declare i32 @_Z3clzi(i32)\n"
                                  "declare <4 x i32> @_Z3maxDv4_jj(<4 x i32>, "
                                  "i32)\n";
    static const char body[] =
        "  %v = load <4 x i32>, @A %y\n"
        "  %m = call <4 x i32> @_Z3minDv4_iS_(<4 x i32> %v, <4 x i32> "
        "splat (i32 3))\n"
        "  %a = extractelement <4 x i32> %m, i32 0\n"
        "  %c = call i32 @_Z5clampjjj(i32 %a, i32 1, i32 9)\n"
        "  %z = call i32 @_Z3clzi(i32 %c)\n"
        "  %x = call <4 x i32> @_Z3maxDv4_jj(<4 x i32> %m, i32 %z)\n"
        "  store <4 x i32> %x, @A %y\n";

    (void)state;
    for (int bit = HOST; bit <= SPIRV; bit *= 2)
        assert_needs(bit, 0, declare, body, "");
    foreign_text(CUDA, declare, body, "llvm.smin.v4i32", "_Z");
}

/* ---- all intrinsics, on all types ---- */

static const char *const unary[] = {
    "acos", "asin",  "atan",      "ceil",         "cos",  "cosh",  "exp",
    "exp2", "fabs",  "exp10",     "floor",        "log",  "log10", "log2",
    "rint", "sin",   "round",     "roundeven",    "sinh", "sqrt",  "tan",
    "tanh", "trunc", "nearbyint", "canonicalize",
};

static const char *const binary[] = {
    "atan2",   "copysign",   "maximum", "maximumnum", "maxnum",
    "minimum", "minimumnum", "minnum",  "pow",
};

static const struct {
    const char *name; /* LLVM's, in names of intrinsics */
    const char *type;
} types[] = {
    {"f16", "half"},          {"f32", "float"},
    {"f64", "double"},        {"v4f16", "<4 x half>"},
    {"v4f32", "<4 x float>"}, {"v3f64", "<3 x double>"},
};

/* A module may need libraries, but nothing is refused. */
static void assert_possible(const char *globals, const char *body)
{
    for (size_t i = 0; i < 4; i++) {
        outcome o;

        build(&o, &foreign_targets[i], 0, globals, body);
        if (o.status != KILN_OK && o.status != KILN_EAGAIN)
            fail_msg("%s: %s\n%s%s", foreign_targets[i].backend, o.message,
                     globals, body);
        if (o.status == KILN_OK)
            free(o.bytes);
    }
}

static void try_floats(const char *name, const char *mark, const char *type,
                       int count)
{
    char globals[256], body[1024];
    const char *more = count > 1 ? ", " : "", *again = count > 1 ? type : "";

    snprintf(globals, sizeof globals, "declare %s @llvm.%s.%s(%s%s%s)\n", type,
             name, mark, type, more, again);
    snprintf(body, sizeof body,
             "  %%x = load %s, @A %%y, align 2\n"
             "  %%r = call %s @llvm.%s.%s(%s %%x%s%s%s)\n"
             "  store %s %%r, @A %%y, align 2\n",
             type, type, name, mark, type, more, again, count > 1 ? " %x" : "",
             type);
    assert_possible(globals, body);
}

static void every_intrinsic_is_possible_on_every_type(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
            try_floats(unary[i], types[t].name, types[t].type, 1);
        for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
            try_floats(binary[i], types[t].name, types[t].type, 2);
    }
}

/* Those with whole numbers or two results: of a name, what it returns, and its
   second parameter. */
static const struct {
    const char *call;
    const char *result;
    const char *more;
} others[] = {
    {"frexp.f32.i32", "{float, i32}", NULL},
    {"frexp.v2f32.v2i32", "{<2 x float>, <2 x i32>}", NULL},
    {"frexp.f16.i32", "{half, i32}", NULL},
    {"ldexp.f32.i32", "float", "i32"},
    {"ldexp.f16.i32", "half", "i32"},
    {"ldexp.v2f32.v2i32", "<2 x float>", "<2 x i32>"},
    {"llrint.i64.f32", "i64", NULL},
    {"llround.i64.f64", "i64", NULL},
    {"lrint.i32.f16", "i32", NULL},
    {"lrint.v2i64.v2f32", "<2 x i64>", NULL},
    {"lround.i64.f32", "i64", NULL},
    {"modf.f64", "{double, double}", NULL},
    {"modf.v2f32", "{<2 x float>, <2 x float>}", NULL},
    {"powi.f32.i32", "float", "i32"},
    {"powi.v2f64.i32", "<2 x double>", "i32"},
    {"sincos.f32", "{float, float}", NULL},
    {"sincos.v2f64", "{<2 x double>, <2 x double>}", NULL},
    {"sincospi.f32", "{float, float}", NULL},
};

static const char *operand_of(const char *call)
{
    static const struct {
        const char *mark;
        const char *type;
    } marks[] = {
        {".v2f32", "<2 x float>"}, {".v2f64", "<2 x double>"}, {".f16", "half"},
        {".f32", "float"},         {".f64", "double"},
    };

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(call, marks[i].mark) != NULL)
            return marks[i].type;
    return "";
}

static void intrinsics_with_other_results_are_possible(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *type = operand_of(others[i].call);
        const char *more = others[i].more;
        char globals[256], body[1024];

        snprintf(globals, sizeof globals, "declare %s @llvm.%s(%s%s%s)\n",
                 others[i].result, others[i].call, type,
                 more != NULL ? ", " : "", more != NULL ? more : "");
        snprintf(body, sizeof body,
                 "  %%x = load %s, @A %%y, align 2\n%s%s%s"
                 "  %%r = call %s @llvm.%s(%s %%x%s%s%s)\n"
                 "  store %s %%r, @A %%y, align 2\n",
                 type, more != NULL ? "  %e = load " : "",
                 more != NULL ? more : "",
                 more != NULL ? ", @A %y, align 2\n" : "", others[i].result,
                 others[i].call, type, more != NULL ? ", " : "",
                 more != NULL ? more : "", more != NULL ? " %e" : "",
                 others[i].result);
        assert_possible(globals, body);
    }
}

/* ---- names ---- */

static void check_name(const char *symbol, const char *shown,
                       const char *elsewhere)
{
    static const unsigned char same[5] = {0, 1, 2, 3, 4};
    static const unsigned char amd[5] = {5, 1, 4, 3, 0};
    kiln__mangled_name name;
    char text[KILN__MANGLED_NAME_SIZE];

    assert_true(kiln__mangled_read(&name, symbol));
    kiln__mangled_show(text, sizeof text, &name);
    assert_string_equal(text, shown);
    assert_true(kiln__mangled_write(text, sizeof text, &name, same));
    assert_string_equal(text, symbol);
    assert_true(kiln__mangled_write(text, sizeof text, &name, amd));
    assert_string_equal(text, elsewhere);
}

static void mangled_names_are_read_and_written(void **state)
{
    static const char *const others_names[] = {
        "_Z",        "_Z4sin",        "_Z3sin",          "_Z3sinS_",
        "_Z3sinPPf", "_Z3sinDv4_",    "_Z3sinq",         "sin",
        "_ZN1a1bEv", "_Z3sinPU3AS9f", "_Z3sinfffffffff",
    };
    kiln__mangled_name name;

    (void)state;
    check_name("_Z3sinf", "sin(float)", "_Z3sinf");
    check_name("_Z7barrierj", "barrier(uint)", "_Z7barrierj");
    check_name("_Z12get_work_dimv", "get_work_dim()", "_Z12get_work_dimv");
    check_name("_Z5clampDv4_fS_S_", "clamp(float4, float4, float4)",
               "_Z5clampDv4_fS_S_");
    check_name("_Z6vload4mPU3AS1Kf", "vload4(ulong, global const float *)",
               "_Z6vload4mPU3AS1Kf");
    check_name("_Z6vload4mPU3AS2Kf", "vload4(ulong, constant const float *)",
               "_Z6vload4mPU3AS4Kf");
    check_name("_Z6sincosDv8_DhPS_", "sincos(half8, private half8 *)",
               "_Z6sincosDv8_DhPU3AS5S_");
    check_name("_Z5fractfPU3AS4f", "fract(float, float *)", "_Z5fractfPf");
    check_name("_Z10atomic_addPU3AS3Vii",
               "atomic_add(local volatile int *, "
               "int)",
               "_Z10atomic_addPU3AS3Vii");
    for (size_t i = 0; i < sizeof others_names / sizeof *others_names; i++)
        if (kiln__mangled_read(&name, others_names[i]))
            fail_msg("%s was read", others_names[i]);
}

/* C's library cannot know that a module means something else by its names: it
   would take a number for an address. */
static void names_of_c_have_the_types_of_c(void **state)
{
    static const struct {
        const char *head, *body, *words;
    } list[] = {
        {"declare double @modf(double)\n",
         "  %r = call double @modf(double 1.5)\n"
         "  store double %r, ptr %y\n",
         "'modf' is double (double) in the module and double (double, ptr) in "
         "C's library"},
        {"declare double @frexp(double, i64)\n",
         "  %r = call double @frexp(double 1.5, i64 %n)\n"
         "  store double %r, ptr %y\n",
         "'frexp' is double (double, i64) in the module"},
        {"declare double @lgamma_r(double, double)\n",
         "  %r = call double @lgamma_r(double 1.5, double 1.5)\n"
         "  store double %r, ptr %y\n",
         "double (double, ptr) in C's library"},
        {"declare void @sincos(i32)\n", "  call void @sincos(i32 1)\n",
         "void (double, ptr, ptr) in C's library"},
        {"declare void @sincosf(float, i32, i32)\n",
         "  call void @sincosf(float 1.0, i32 1, i32 2)\n",
         "void (float, ptr, ptr) in C's library"},
        {"declare float @powf(i32)\n",
         "  %r = call float @powf(i32 1)\n  store float %r, ptr %y\n",
         "'powf' is float (i32) in the module"},
        {"declare void @sinf(ptr)\n", "  call void @sinf(ptr %y)\n",
         "'sinf' is void (ptr) in the module and float (float) in C's"},
        {"declare float @ilogbf(float)\n",
         "  %r = call float @ilogbf(float 1.5)\n"
         "  store float %r, ptr %y\n",
         "i32 (float) in C's library"},
        {"declare void @memset(i64, i64, i64)\n",
         "  call void @memset(i64 1, i64 2, i64 3)\n",
         "ptr (ptr, i32, i64) in C's library"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (uint8_t level = 0; level < 3; level++) {
            outcome o;

            foreign_build(&o, foreign_target_of(HOST), list[i].head,
                          list[i].body, level);
            assert_int_equal(o.status, KILN_ECODEGEN);
            assert_contains(o.message, list[i].words);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_function_has_the_name_of_the_targets_library),
        cmocka_unit_test(nothing_is_taken_for_constants_and_dead_code),
        cmocka_unit_test(the_modules_own_function_is_not_replaced),
        cmocka_unit_test(pointers_have_the_librarys_address_spaces),
        cmocka_unit_test(built_ins_that_llvm_knows_are_its_intrinsics),
        cmocka_unit_test(every_intrinsic_is_possible_on_every_type),
        cmocka_unit_test(intrinsics_with_other_results_are_possible),
        cmocka_unit_test(mangled_names_are_read_and_written),
        cmocka_unit_test(names_of_c_have_the_types_of_c),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
