/* test_foreign_support.c - what LLVM has no code for, or other code. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host cuda rocm spirv */
/* LINKS: codegen */
#include "support/codegen/foreign.h"

#define CALL(type, name, flags) \
    "  %x = load " type ", @A %y\n" \
    "  %r = call " flags " " type " @llvm." name "(" type " %x)\n" \
    "  store " type " %r, @A %y\n"
#define DECLARE(type, name) "declare " type " @llvm." name "(" type ")\n"

/* ---- intrinsics ---- */

/* Without libraries they stay undefined. */
static void mathematics_that_a_target_lacks_is_of_a_library(void **state)
{
    (void)state;
    foreign_refused_on(CUDA, DECLARE("float", "log2.f32"),
                       CALL("float", "log2.f32", "afn"), "'_Z4log2f'");
    foreign_refused_on(CUDA, DECLARE("<4 x float>", "exp.v4f32"),
                       CALL("<4 x float>", "exp.v4f32", ""), "'_Z3expf'");
    foreign_refused_on(CUDA | ROCM, DECLARE("double", "sin.f64"),
                       CALL("double", "sin.f64", ""), "'_Z3sind'");
    foreign_refused_on(CUDA | ROCM, DECLARE("half", "tan.f16"),
                       CALL("half", "tan.f16", ""), "'_Z3tanf'");
    foreign_accepted("declare i32 @llvm.lrint.i32.f32(float)\n",
                     "  %x = load float, @A %y\n"
                     "  %r = call i32 @llvm.lrint.i32.f32(float %x)\n"
                     "  store i32 %r, @A %y\n");
    foreign_accepted(DECLARE("float", "sqrt.f32"),
                     CALL("float", "sqrt.f32", ""));
}

static void approximate_mathematics_takes_a_flag(void **state)
{
    (void)state;
    foreign_refused_on(CUDA | ROCM, DECLARE("float", "cos.f32"),
                       CALL("float", "cos.f32", ""), "'_Z3cosf'");
    foreign_accepted(DECLARE("float", "cos.f32"),
                     CALL("float", "cos.f32", "afn"));
    foreign_refused_on(CUDA, DECLARE("float", "exp2.f32"),
                       CALL("float", "exp2.f32", ""), "'_Z4exp2f'");
    foreign_refused_on(CUDA, "",
                       "  %x = load float, @A %y\n"
                       "  %r = frem float %x, 3.0\n"
                       "  store float %r, @A %y\n",
                       "'_Z4fmodff'");
    foreign_accepted("", "  %x = load float, @A %y\n"
                         "  %r = frem afn float %x, 3.0\n"
                         "  store float %r, @A %y\n");
}

static void what_is_not_known_to_compute_is_refused(void **state)
{
    (void)state;
    foreign_refused_on(ALL, "declare void @llvm.xray.customevent(ptr, i64)\n",
                       "  call void @llvm.xray.customevent(ptr null, i64 %n)\n",
                       "nothing is known of it");
    foreign_refused_on(
        ALL,
        "declare <2 x float> @llvm.vp.copysign.v2f32(<2 x float>, <2 x float>,"
        " <2 x i1>, i32)\n",
        "  %x = load <2 x float>, @A %y\n"
        "  %r = call <2 x float> @llvm.vp.copysign.v2f32(<2 x float> %x,"
        " <2 x float> %x, <2 x i1> splat (i1 true), i32 2)\n"
        "  store <2 x float> %r, @A %y\n",
        "nothing is known of it");
}

/* ---- conversions ---- */

static void wide_conversions_are_refused_where_they_have_no_code(void **state)
{
    (void)state;
    foreign_refused_on(CUDA | SPIRV | HOST, "",
                       "  %x = load float, @A %y\n"
                       "  %r = fptosi float %x to i128\n"
                       "  store i128 %r, @A %y, align 16\n",
                       "");
    foreign_refused_on(CUDA | SPIRV | HOST, "",
                       "  %x = load i128, @A %y, align 16\n"
                       "  %r = uitofp i128 %x to double\n"
                       "  store double %r, @A %y\n",
                       "");
    foreign_refused_on(ROCM | SPIRV, "",
                       "  %x = load float, @A %y\n"
                       "  %r = fptoui float %x to i1\n"
                       "  store i1 %r, @A %y\n",
                       "an integer of one bit");
}

/* ---- instructions that some processors have ---- */

/* LLVM passes them through wider floats, back by a function of C's runtime, or
   by an instruction that loses subnormal ones: in loops for ever. */
static void small_floats_that_nothing_rounds_are_refused(void **state)
{
    static const char words[] = "it has floats that the target has not";
    static const char move[] = "  %x = load bfloat, @A %y\n"
                               "  store bfloat %x, @A %y\n";
    static const char body[] = "  %x = load float, @A %y\n"
                               "  %r = fptrunc float %x to bfloat\n"
                               "  store bfloat %r, @A %y\n";
    static const char *const processors[] = {"x86-64", "sapphirerapids"};
    outcome o;

    (void)state;
    foreign_refused_on(HOST | SPIRV, "", body, words);
    foreign_refused_on(HOST | SPIRV, "", move, words);
    foreign_refused_on(HOST | CUDA | SPIRV, "",
                       "  %r = atomicrmw fadd @A %y, bfloat 1.0 monotonic\n",
                       "");
    for (size_t i = 0; i < 2; i++) {
        foreign_build_for(&o, HOST, processors[i], "", body, 2);
        assert_contains(o.message, words);
        foreign_build_for(&o, HOST, processors[i], "",
                          "  %r = atomicrmw fadd ptr %y, bfloat 1.0 acq_rel\n",
                          2);
        assert_contains(o.message, words);
        foreign_build_for(&o, HOST, processors[i], "",
                          "  %x = load <8 x bfloat>, ptr %y\n"
                          "  %r = fadd <8 x bfloat> %x, %x\n"
                          "  store <8 x bfloat> %r, ptr %y\n",
                          2);
        assert_contains(o.message, words);
    }
}

static void assert_needs(const char *processor, const char *globals,
                         const char *body)
{
    outcome o;

    foreign_build_for(&o, HOST, "x86-64", globals, body, 2);
    assert_int_equal(o.status, KILN_ECODEGEN);
    assert_contains(o.message, "the processor has no such instruction");
    foreign_build_for(&o, HOST, processor, globals, body, 2);
    assert_int_equal(o.status, KILN_OK);
    free(o.bytes);
}

static void instructions_that_the_processor_lacks_are_refused(void **state)
{
    outcome o;

    (void)state;
    assert_needs("haswell", "declare i64 @llvm.x86.bmi.pdep.64(i64, i64)\n",
                 "  %r = call i64 @llvm.x86.bmi.pdep.64(i64 %n, i64 5)\n"
                 "  store i64 %r, ptr %y\n");
    assert_needs("haswell",
                 "declare <16 x i16> @llvm.x86.avx2.phadd.w(<16 x i16>,"
                 " <16 x i16>)\n",
                 "  %x = load <16 x i16>, ptr %y\n"
                 "  %r = call <16 x i16> @llvm.x86.avx2.phadd.w(<16 x i16> %x,"
                 " <16 x i16> %x)\n"
                 "  store <16 x i16> %r, ptr %y\n");
    assert_needs("icelake-server",
                 "declare <16 x float> @llvm.x86.avx512.sqrt.ps.512("
                 "<16 x float>, i32)\n",
                 "  %x = load <16 x float>, ptr %y\n"
                 "  %r = call <16 x float> @llvm.x86.avx512.sqrt.ps.512("
                 "<16 x float> %x, i32 4)\n"
                 "  store <16 x float> %r, ptr %y\n");
    foreign_build_for(&o, HOST, "x86-64",
                      "declare void @llvm.x86.clzero(ptr)\n",
                      "  call void @llvm.x86.clzero(ptr %y)\n", 2);
    assert_int_equal(o.status, KILN_ECODEGEN);
    assert_contains(o.message, "not known which processors have it");
}

static void assert_refused_on_any(const char *globals, const char *body,
                                  const char *words)
{
    static const char *const processors[] = {"x86-64", "sapphirerapids"};
    outcome o;

    for (size_t i = 0; i < 2; i++) {
        foreign_build_for(&o, HOST, processors[i], globals, body, 2);
        assert_int_equal(o.status, KILN_ECODEGEN);
        assert_contains(o.message, words);
    }
}

static void registers_that_the_thread_needs_are_left_alone(void **state)
{
    static const char words[] = "it changes the x87 registers of the thread";

    (void)state;
    assert_refused_on_any(
        "declare <1 x i64> @llvm.x86.ssse3.pabs.b(<1 x i64>)\n",
        "  %x = load <1 x i64>, ptr %y\n"
        "  %r = call <1 x i64> @llvm.x86.ssse3.pabs.b(<1 x i64> %x)\n"
        "  store <1 x i64> %r, ptr %y\n",
        words);
    assert_refused_on_any(
        "declare <4 x float> @llvm.x86.sse.cvtpi2ps(<4 x float>, <1 x i64>)\n",
        "  %x = load <1 x i64>, ptr %y\n"
        "  %r = call <4 x float> @llvm.x86.sse.cvtpi2ps("
        "<4 x float> zeroinitializer, <1 x i64> %x)\n"
        "  store <4 x float> %r, ptr %y, align 4\n",
        words);
    assert_refused_on_any(
        "declare <1 x i64> @llvm.x86.sse.cvttpd2pi(<2 x double>)\n",
        "  %r = call <1 x i64> @llvm.x86.sse.cvttpd2pi("
        "<2 x double> zeroinitializer)\n"
        "  store <1 x i64> %r, ptr %y\n",
        words);
    foreign_accepted("", "  %x = load <1 x i64>, @A %y\n"
                         "  %r = add <1 x i64> %x, %x\n"
                         "  store <1 x i64> %r, @A %y\n");
}

static void instructions_of_the_system_are_refused(void **state)
{
    (void)state;
    assert_refused_on_any("declare void @llvm.x86.sse3.mwait(i32, i32)\n",
                          "  call void @llvm.x86.sse3.mwait(i32 0, i32 0)\n",
                          "only the system may");
    assert_refused_on_any(
        "declare void @llvm.x86.sse3.monitor(ptr, i32, i32)\n",
        "  call void @llvm.x86.sse3.monitor(ptr %y, i32 0, i32 0)\n",
        "only the system may");
}

/* ---- what LLVM dies of ---- */

static void arguments_are_not_fetched_by_an_instruction(void **state)
{
    static const char taken[] =
        "declare void @llvm.va_start.p0(ptr)\n"
        "define internal i64 @f(i64 %x, ...) noinline {\n"
        "  %v = alloca [32 x i8]\n"
        "  call void @llvm.va_start.p0(ptr %v)\n"
        "  %y = va_arg ptr %v, {i64, i128, [3 x i64]}\n"
        "  %z = extractvalue {i64, i128, [3 x i64]} %y, 2, 1\n"
        "  ret i64 %z\n}\n";

    (void)state;
    foreign_refused_on(ALL, "", "  %v = va_arg @I %item, i64\n",
                       "it has a va_arg");
    foreign_refused_on(ALL, taken,
                       "  %v = call i64 (i64, ...) @f(i64 1, i64 2)\n"
                       "  store i64 %v, @A %y\n",
                       "");
}

static void atomic_accesses_of_vectors_are_refused(void **state)
{
    static const char words[] = "it has an atomic load or store of a vector";

    (void)state;
    foreign_refused_on(ALL, "",
                       "  %v = load atomic <2 x float>, @A %y seq_cst, align 8"
                       "\n  store <2 x float> %v, @A %y\n",
                       words);
    foreign_refused_on(ALL, "",
                       "  store atomic <2 x float> zeroinitializer, @A %y"
                       " release, align 8\n",
                       words);
}

#define DIVIDE(name, type, scale) \
    "declare " type " @llvm." name "(" type ", " type ", i32)\n", \
        "  %x = load " type ", @A %y, align 16\n" \
        "  %r = call " type " @llvm." name "(" type " %x, " type \
        " %x, i32 " scale ")\n" \
        "  store " type " %r, @A %y, align 16\n"

static void divisions_of_a_scale_without_code_are_refused(void **state)
{
    static const char words[] = "LLVM has no code for it ";

    (void)state;
    foreign_refused_on(ALL, DIVIDE("udiv.fix.sat.i64", "i64", "64"), words);
    foreign_refused_on(ALL, DIVIDE("sdiv.fix.sat.i64", "i64", "63"), words);
    foreign_refused_on(ALL, DIVIDE("udiv.fix.sat.v2i64", "<2 x i64>", "64"),
                       words);
    foreign_refused_on(DEVICES, DIVIDE("udiv.fix.sat.i64", "i64", "63"), "");
    foreign_refused_on(DEVICES, DIVIDE("sdiv.fix.sat.i64", "i64", "62"), "");
    foreign_refused_on(DEVICES, DIVIDE("udiv.fix.i64", "i64", "64"), "");
}

/* ---- atomic operations ---- */

static void assert_ptx(const char *body, const char *has, const char *has_not)
{
    outcome o;

    foreign_build(&o, foreign_target_of(CUDA), "", body, 2);
    if (o.status != KILN_OK)
        fail_msg("%s\n%s", o.message, body);
    assert_contains(o.bytes, has);
    if (has_not != NULL && strstr(o.bytes, has_not) != NULL)
        fail_msg("%s has '%s'", (const char *)o.bytes, has_not);
    free(o.bytes);
}

static void updates_have_their_order_and_scope_on_cuda(void **state)
{
    (void)state;
    assert_ptx("  %r = atomicrmw add ptr %y, i32 1 acq_rel\n",
               "atom.acq_rel.sys.add.u32", NULL);
    assert_ptx("  %r = atomicrmw max ptr %y, i64 1 syncscope(\"block\") "
               "acquire\n",
               "atom.acquire.cta.max.s64", NULL);
    assert_ptx("  %r = atomicrmw sub ptr %y, i32 1 syncscope(\"device\") "
               "release\n",
               "atom.release.gpu.add.u32", NULL);
    assert_ptx("  %r = atomicrmw xchg ptr %y, double 1.0 seq_cst\n",
               "fence.sc.sys", "atom.exch.b64");
    assert_ptx("  %r = atomicrmw fadd ptr %y, float 1.0 monotonic\n",
               "atom.relaxed.sys.add.f32", "fence");
    assert_ptx("  %r = atomicrmw nand ptr %y, i32 1 acq_rel\n",
               "atom.acq_rel.sys.global.cas.b32", NULL);
    assert_ptx("  %r = atomicrmw add ptr %y, i32 1 syncscope(\"device\") "
               "monotonic\n",
               "atom.global.add.u32", "atom.relaxed");
    assert_ptx("  fence syncscope(\"singlethread\") seq_cst\n"
               "  store i32 1, ptr %y\n",
               "st", "fence");
}

static void atomics_without_their_order_are_refused(void **state)
{
    (void)state;
    foreign_refused_on(CUDA | SPIRV, "",
                       "  %r = atomicrmw fadd @A %y, half 1.0 seq_cst\n",
                       "atomic");
    foreign_refused_on(ALL, "",
                       "  %r = atomicrmw add @A %y, i128 1 monotonic\n",
                       "more than 64 bits");
    foreign_refused_on(ALL, "",
                       "  store atomic i128 1, @A %y release, align 16\n",
                       "more than 64 bits");
}

static void atomics_are_aligned_to_their_size(void **state)
{
    (void)state;
    foreign_refused_on(ALL, "",
                       "  %v = load atomic i64, @A %y seq_cst, align 4\n"
                       "  store i64 %v, @A %y\n",
                       "not aligned to its size");
    foreign_refused_on(ALL, "",
                       "  %r = atomicrmw add @A %y, i32 1 monotonic, align 2\n",
                       "not aligned to its size");
    foreign_refused_on(ALL, "",
                       "  %r = cmpxchg @A %y, i32 1, i32 2 monotonic monotonic,"
                       " align 1\n",
                       "not aligned to its size");
    foreign_accepted("",
                     "  %r = atomicrmw add @A %y, i32 1 monotonic, align 8\n");
}

/* ---- widths ---- */

#define DIVIDED(type, kind) \
    "  %a = load " type ", @A %y\n" \
    "  %p = getelementptr i32, @A %y, i64 1\n" \
    "  %b = load " type ", @A %p\n" \
    "  %q = " kind "div " type " %a, %b\n" \
    "  %r = " kind "rem " type " %a, %b\n" \
    "  store " type " %q, @A %y\n" \
    "  store " type " %r, @A %p\n"

static void narrow_integers_have_quotients_and_remainders(void **state)
{
    (void)state;
    foreign_accepted("", DIVIDED("i8", "s"));
    foreign_accepted("", DIVIDED("i8", "u"));
    foreign_accepted("", DIVIDED("i16", "s"));
    foreign_accepted("", DIVIDED("i16", "u"));
    foreign_accepted("", DIVIDED("<2 x i8>", "s"));
    foreign_accepted("", DIVIDED("<2 x i16>", "s"));
    foreign_accepted("", DIVIDED("<2 x i16>", "u"));
}

static void exponents_have_32_bits(void **state)
{
    outcome o;

    (void)state;
    foreign_build(&o, foreign_target_of(CUDA),
                  "declare float @llvm.powi.f32.i64(float, i64)\n",
                  "  %x = load float, ptr %y\n"
                  "  %r = call float @llvm.powi.f32.i64(float %x, i64 %n)\n"
                  "  store float %r, ptr %y\n",
                  2);
    assert_int_equal(o.status, KILN_ECODEGEN);
    assert_contains(o.message, "an exponent of more than 32 bits");
}

/* libclc has it of log2, which is a function of a library itself. */
static void rough_powers_are_powers(void **state)
{
    (void)state;
    foreign_refused_on(CUDA, "declare float @_Z11native_powrff(float, float)\n",
                       "  %x = load float, @A %y\n"
                       "  %r = call float @_Z11native_powrff(float %x,"
                       " float %x)\n"
                       "  store float %r, @A %y\n",
                       "'_Z3powff'");
}

static void odd_widths_without_code_are_refused(void **state)
{
    (void)state;
    foreign_refused_on(DEVICES, "declare i96 @llvm.fshl.i96(i96, i96, i96)\n",
                       "  %x = load i96, @A %y\n"
                       "  %r = call i96 @llvm.fshl.i96(i96 %x, i96 7, i96 %x)\n"
                       "  store i96 %r, @A %y\n",
                       "");
    foreign_refused_on(DEVICES,
                       "define internal <2 x i65> @f(<2 x i65> %x) noinline {\n"
                       "  %y = add <2 x i65> %x, %x\n"
                       "  ret <2 x i65> %y\n"
                       "}\n",
                       "  %x = load <2 x i65>, @A %y\n"
                       "  %r = call <2 x i65> @f(<2 x i65> %x)\n"
                       "  store <2 x i65> %r, @A %y\n",
                       "vectors of integers of more than 64 bits");
    foreign_refused_on(
        HOST | DEVICES,
        "declare <3 x i16> @llvm.sdiv.fix.v3i16(<3 x i16>, <3 x i16>, i32)\n",
        "  %x = load <3 x i16>, @A %y\n"
        "  %r = call <3 x i16> @llvm.sdiv.fix.v3i16(<3 x i16> %x,"
        " <3 x i16> %x, i32 1)\n"
        "  store <3 x i16> %r, @A %y\n",
        "");
}

/* On the host, where the processor would end the process. */
static void divisions_without_a_value_have_the_dividend(void **state)
{
#define DIVIDED_BY(operation, a, b) \
    "  store i32 " a ", @A %y\n  %a = load volatile i32, @A %y\n" \
    "  store i32 " b ", @A %y\n  %b = load volatile i32, @A %y\n" \
    "  %r = " operation " i32 %a, %b\n" \
    "  store i32 %r, @A %y\n"
    static const struct {
        const char *body;
        int32_t result;
    } list[] = {
        {DIVIDED_BY("sdiv", "-7", "0"), -7},
        {DIVIDED_BY("udiv", "7", "0"), 7},
        {DIVIDED_BY("srem", "-7", "0"), 0},
        {DIVIDED_BY("urem", "7", "0"), 0},
        {DIVIDED_BY("sdiv", "-2147483648", "-1"), INT32_MIN},
        {DIVIDED_BY("srem", "-2147483648", "-1"), 0},
        {DIVIDED_BY("sdiv", "-7", "2"), -3},
        {DIVIDED_BY("srem", "-7", "2"), -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (uint8_t level = 0; level < 3; level++)
            assert_int_equal(foreign_run("", list[i].body, level),
                             list[i].result);
#undef DIVIDED_BY
}

/* Intrinsics that divide end no process, either. */
static void intrinsics_that_divide_have_the_dividend(void **state)
{
#define FIXED(name) "declare i32 @llvm." name ".i32(i32, i32, i32)\n"
#define FIXED_BY(name, a, b, scale) \
    FIXED(name), "  store i32 " b ", @A %y\n" \
                 "  %b = load volatile i32, @A %y\n" \
                 "  %r = call i32 @llvm." name ".i32(i32 " a \
                 ", i32 %b, i32 " scale ")\n" \
                 "  store i32 %r, @A %y\n"
#define MASKED_BY(name, a, b) \
    "declare <2 x i32> @llvm.vp." name ".v2i32(<2 x i32>, <2 x i32>," \
    " <2 x i1>, i32)\n", \
        "  store i32 " b ", @A %y\n" \
        "  %b = load volatile i32, @A %y\n" \
        "  %w = insertelement <2 x i32> splat (i32 3), i32 %b, i32 1\n" \
        "  %v = insertelement <2 x i32> splat (i32 5), i32 " a ", i32 1\n" \
        "  %q = call <2 x i32> @llvm.vp." name ".v2i32(<2 x i32> %v," \
        " <2 x i32> %w, <2 x i1> splat (i1 true), i32 2)\n" \
        "  %r = extractelement <2 x i32> %q, i32 1\n" \
        "  store i32 %r, @A %y\n"
    static const struct {
        const char *head, *body;
        int32_t result;
    } list[] = {
        {FIXED_BY("sdiv.fix", "-7", "0", "3"), -7},
        {FIXED_BY("sdiv.fix.sat", "-7", "0", "3"), -7},
        {FIXED_BY("udiv.fix", "2147483647", "0", "3"), INT32_MAX},
        {FIXED_BY("udiv.fix.sat", "2147483647", "0", "3"), INT32_MAX},
        {FIXED_BY("sdiv.fix", "-2147483648", "-1", "0"), INT32_MIN},
        {FIXED_BY("sdiv.fix.sat", "-2147483648", "-1", "0"), INT32_MAX},
        {FIXED_BY("sdiv.fix.sat", "-2147483648", "-1", "5"), INT32_MAX},
        {FIXED_BY("sdiv.fix", "-7", "2", "3"), -28},
        {FIXED_BY("udiv.fix", "7", "2", "3"), 28},
        {MASKED_BY("sdiv", "-7", "0"), -7},
        {MASKED_BY("udiv", "7", "0"), 7},
        {MASKED_BY("srem", "-7", "0"), 0},
        {MASKED_BY("urem", "7", "0"), 0},
        {MASKED_BY("sdiv", "-2147483648", "-1"), INT32_MIN},
        {MASKED_BY("srem", "-2147483648", "-1"), 0},
        {MASKED_BY("srem", "-7", "4"), -3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (uint8_t level = 0; level < 3; level++)
            assert_int_equal(foreign_run(list[i].head, list[i].body, level),
                             list[i].result);
#undef FIXED
#undef FIXED_BY
#undef MASKED_BY
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mathematics_that_a_target_lacks_is_of_a_library),
        cmocka_unit_test(approximate_mathematics_takes_a_flag),
        cmocka_unit_test(what_is_not_known_to_compute_is_refused),
        cmocka_unit_test(wide_conversions_are_refused_where_they_have_no_code),
        cmocka_unit_test(small_floats_that_nothing_rounds_are_refused),
        cmocka_unit_test(instructions_that_the_processor_lacks_are_refused),
        cmocka_unit_test(registers_that_the_thread_needs_are_left_alone),
        cmocka_unit_test(instructions_of_the_system_are_refused),
        cmocka_unit_test(arguments_are_not_fetched_by_an_instruction),
        cmocka_unit_test(atomic_accesses_of_vectors_are_refused),
        cmocka_unit_test(divisions_of_a_scale_without_code_are_refused),
        cmocka_unit_test(updates_have_their_order_and_scope_on_cuda),
        cmocka_unit_test(atomics_without_their_order_are_refused),
        cmocka_unit_test(atomics_are_aligned_to_their_size),
        cmocka_unit_test(narrow_integers_have_quotients_and_remainders),
        cmocka_unit_test(exponents_have_32_bits),
        cmocka_unit_test(rough_powers_are_powers),
        cmocka_unit_test(odd_widths_without_code_are_refused),
        cmocka_unit_test(divisions_without_a_value_have_the_dividend),
        cmocka_unit_test(intrinsics_that_divide_have_the_dividend),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
