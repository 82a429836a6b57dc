/* host_intrinsics.c - LLVM's intrinsics that its x86 target lacks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/host/codegen/host_codegen.h"

#include <string.h>

#include "codegen/module/codegen_stages.h"

/*
 * LLVM's machine ends the process when the processor lacks an instruction for
 * an intrinsic. Intrinsics of x86 need instruction sets. Those that are not
 * listed here belong to a set that no target asks for, or do nothing that a
 * kernel needs.
 */

/* Without KILN__HAS_WIDE: integers of at most 64 bits. */
#define NARROW KILN__HAS_FLOATS

const kiln__foreign_limit kiln__host_limits[] = {
    {"experimental.constrained.frem", KILN__HAS_SINGLE_AND_DOUBLE},
    {"llround", 0},
    {"lround", 0},
    {"modf", KILN__HAS_SINGLE_AND_DOUBLE},
    {"powi", 0},
    {"sdiv.fix", NARROW},
    {"sdiv.fix.sat", NARROW},
    {"sincospi", 0},
    {"udiv.fix", NARROW},
    {"udiv.fix.sat", NARROW},
    {NULL, 0},
};

/* Intrinsics whose names begin with `name` need these features. The first entry
   that matches counts. */
typedef struct instruction_set {
    const char *name;
    const char *features;
} instruction_set;

/* The sets of 512 bits overlap; a processor with all of them is required. */
#define WIDE_SETS \
    "+avx512f,+avx512vl,+avx512bw,+avx512dq,+avx512cd,+avx512vbmi," \
    "+avx512vbmi2,+avx512ifma,+avx512vnni,+avx512bitalg,+avx512vpopcntdq"

static const instruction_set sets[] = {
    {"addcarry.", ""},
    {"aesni.aesdec.256", "+vaes"},
    {"aesni.aesdec.512", "+vaes,+avx512f"},
    {"aesni.aesdeclast.256", "+vaes"},
    {"aesni.aesdeclast.512", "+vaes,+avx512f"},
    {"aesni.aesenc.256", "+vaes"},
    {"aesni.aesenc.512", "+vaes,+avx512f"},
    {"aesni.aesenclast.256", "+vaes"},
    {"aesni.aesenclast.512", "+vaes,+avx512f"},
    {"aesni.", "+aes"},
    {"avx.", "+avx"},
    {"avx2.vpdp", "+avxvnniint8,+avxvnniint16"},
    {"avx2.", "+avx2"},
    {"avx512.vp2intersect", "+avx512vp2intersect,+avx512vl"},
    {"avx512.", WIDE_SETS},
    {"avx512fp16.", "+avx512fp16,+avx512vl"},
    {"bmi.bextr.", "+bmi"},
    {"bmi.", "+bmi2"},
    {"pclmulqdq.256", "+vpclmulqdq"},
    {"pclmulqdq.512", "+vpclmulqdq,+avx512f"},
    {"pclmulqdq", "+pclmul"},
    {"rdrand.", "+rdrnd"},
    {"rdseed.", "+rdseed"},
    {"rdtsc", ""},
    {"sha1", "+sha"},
    {"sha256", "+sha"},
    {"sse.", ""},
    {"sse2.", ""},
    {"sse3.", "+sse3"},
    {"sse41.", "+sse4.1"},
    {"sse42.crc32.", "+crc32"},
    {"sse42.", "+sse4.2"},
    {"sse4a.", "+sse4a"},
    {"ssse3.", "+ssse3"},
    {"subborrow.", ""},
    {"vcvtps2ph.", "+f16c"},
    {"vgf2p8", "+gfni," WIDE_SETS},
};

/* MMX uses the registers of the thread's x87 unit, which computes nothing until
   somebody executes emms. In the types of intrinsics, vectors of one number
   stand for MMX registers and for nothing else. */
static int is_mmx(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetVectorSize(type) == 1 &&
           LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind;
}

static int uses_mmx(LLVMValueRef call)
{
    const unsigned count = LLVMGetNumArgOperands(call);

    for (unsigned i = 0; i < count; i++)
        if (is_mmx(LLVMTypeOf(LLVMGetOperand(call, i))))
            return 1;
    return is_mmx(LLVMTypeOf(call));
}

const char *kiln__host_refuse_own(const kiln__codegen_job *job,
                                  LLVMValueRef call, const char *name)
{
    const kiln__codegen_settings *settings = job->settings;

    if (uses_mmx(call))
        return "it changes the x87 registers of the thread that runs";
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        if (strncmp(name, sets[i].name, strlen(sets[i].name)) == 0)
            return kiln__llvm_target_has(settings->triple, settings->processor,
                                         settings->features, sets[i].features)
                       ? NULL
                       : "the processor has no such instruction";
    return "it is not known which processors have it";
}
