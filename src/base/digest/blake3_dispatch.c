/* blake3_dispatch.c - which instructions BLAKE3 is computed with. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/digest/blake3.h"

#if defined(__x86_64__)
#include <stdatomic.h>
#include <stdbool.h>

#include "base/digest/processor.h"

/*
 * LLVM's own dispatch executes cpuid, which causes an exit from a virtual
 * machine each time: that is some 5 % of a process that finds its kernel in the
 * cache. This dispatch asks processor.h instead, which reads what the C library
 * stored. Everything here has the names and the arguments that blake3.c of LLVM
 * calls; the link fails when one of them is missing or there twice.
 */
#define COMPRESS_ARGUMENTS \
    const uint8_t *block, uint8_t size, uint64_t counter, uint8_t flags
#define MANY_ARGUMENTS \
    const uint8_t *const *inputs, size_t count, size_t blocks, \
        const uint32_t *key, uint64_t counter, bool increments, uint8_t flags, \
        uint8_t first_flags, uint8_t last_flags, uint8_t *out

#define DECLARE_COMPRESS(set) \
    void kiln__blake3_compress_in_place##set(uint32_t *value, \
                                             COMPRESS_ARGUMENTS); \
    void kiln__blake3_compress_xof##set(const uint32_t *value, \
                                        COMPRESS_ARGUMENTS, uint8_t *out);
#define DECLARE_MANY(set) void kiln__blake3_hash_many##set(MANY_ARGUMENTS);

DECLARE_COMPRESS(_sse2)
DECLARE_COMPRESS(_sse41)
DECLARE_COMPRESS(_avx512)
DECLARE_COMPRESS()
DECLARE_MANY(_sse2)
DECLARE_MANY(_sse41)
DECLARE_MANY(_avx2)
DECLARE_MANY(_avx512)
DECLARE_MANY()
size_t kiln__blake3_simd_degree(void);
void kiln__blake3_xof_many(const uint32_t *value, COMPRESS_ARGUMENTS,
                           uint8_t *out, size_t count);

/* ---- what this processor has ---- */

/* Each level includes those before it; every x86-64 has SSE2. */
enum { UNKNOWN, SSE2, SSE41, AVX2, AVX512 };

#define LEAF1_SSE41 (1u << 19)
#define LEAF7_AVX2 (1u << 5)
#define LEAF7_AVX512F (1u << 16)
#define LEAF7_AVX512VL (1u << 31)
#define STATE_YMM 0x6u
#define STATE_ZMM 0xe6u

static int all_set(uint64_t word, uint64_t bits)
{
    return (word & bits) == bits;
}

static int ask_processor(void)
{
    kiln__cpuid cpuid;

    kiln__cpuid_read(&cpuid);
    if (!all_set(cpuid.leaf1_ecx, LEAF1_SSE41))
        return SSE2;
    if (!all_set(cpuid.leaf7_ebx, LEAF7_AVX2) ||
        !all_set(cpuid.xcr0, STATE_YMM))
        return SSE41;
    if (!all_set(cpuid.leaf7_ebx, LEAF7_AVX512F | LEAF7_AVX512VL) ||
        !all_set(cpuid.xcr0, STATE_ZMM))
        return AVX2;
    return AVX512;
}

static int level(void)
{
    static atomic_int known;
    int now = atomic_load_explicit(&known, memory_order_relaxed);

    if (now == UNKNOWN) {
        now = ask_processor();
        atomic_store_explicit(&known, now, memory_order_relaxed);
    }
    return now;
}

/* ---- what LLVM's blake3.c calls ---- */

void kiln__blake3_compress_in_place(uint32_t *value, COMPRESS_ARGUMENTS)
{
    const int has = level();

    if (has >= AVX512)
        kiln__blake3_compress_in_place_avx512(value, block, size, counter,
                                              flags);
    else if (has >= SSE41)
        kiln__blake3_compress_in_place_sse41(value, block, size, counter,
                                             flags);
    else
        kiln__blake3_compress_in_place_sse2(value, block, size, counter, flags);
}

void kiln__blake3_compress_xof(const uint32_t *value, COMPRESS_ARGUMENTS,
                               uint8_t *out)
{
    const int has = level();

    if (has >= AVX512)
        kiln__blake3_compress_xof_avx512(value, block, size, counter, flags,
                                         out);
    else if (has >= SSE41)
        kiln__blake3_compress_xof_sse41(value, block, size, counter, flags,
                                        out);
    else
        kiln__blake3_compress_xof_sse2(value, block, size, counter, flags, out);
}

/* For results of more than 64 bytes, which Kiln never asks for. */
void kiln__blake3_xof_many(const uint32_t *value, COMPRESS_ARGUMENTS,
                           uint8_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        kiln__blake3_compress_xof(value, block, size, counter + i, flags,
                                  out + i * LLVM_BLAKE3_BLOCK_LEN);
}

void kiln__blake3_hash_many(MANY_ARGUMENTS)
{
    static void (*const ways[])(MANY_ARGUMENTS) = {
        [SSE2] = kiln__blake3_hash_many_sse2,
        [SSE41] = kiln__blake3_hash_many_sse41,
        [AVX2] = kiln__blake3_hash_many_avx2,
        [AVX512] = kiln__blake3_hash_many_avx512,
    };

    ways[level()](inputs, count, blocks, key, counter, increments, flags,
                  first_flags, last_flags, out);
}

/* How many inputs at once make full use of the instructions. */
size_t kiln__blake3_simd_degree(void)
{
    const int has = level();

    if (has >= AVX512)
        return 16;
    return has >= AVX2 ? 8 : 4;
}
#endif
