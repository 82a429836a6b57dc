/* processor.c - what the processor says about itself. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/digest/processor.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#if defined(__GLIBC__) && defined(__has_include)
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define LIBRARY_KNOWS 1
#endif
#endif
#endif

#if defined(__x86_64__)
#define OSXSAVE (1u << 27) /* leaf 1, ecx: xgetbv may be used */

static uint64_t read_xcr0(void)
{
    uint32_t low, high;

    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0u));
    return (uint64_t)high << 32 | low;
}

/*
 * Each cpuid causes an exit from a virtual machine, which takes microseconds.
 * The C library has executed it when the process began, and keeps the results.
 */
#if defined(LIBRARY_KNOWS)
static const unsigned *leaf(unsigned index)
{
    return __x86_get_cpuid_feature_leaf(index)->cpuid_array;
}

static void read_leaves(kiln__cpuid *out)
{
    const unsigned *seventh = leaf(CPUID_INDEX_7);

    out->leaf1_ecx = leaf(CPUID_INDEX_1)[cpuid_register_index_ecx];
    out->leaf7_ebx = seventh[cpuid_register_index_ebx];
    out->leaf7_ecx = seventh[cpuid_register_index_ecx];
    out->leaf7_edx = seventh[cpuid_register_index_edx];
    if (seventh[cpuid_register_index_eax] >= 1)
        out->leaf7_1_eax = leaf(CPUID_INDEX_7_ECX_1)[cpuid_register_index_eax];
    out->extended_ecx = leaf(CPUID_INDEX_80000001)[cpuid_register_index_ecx];
}
#else
static void read_leaves(kiln__cpuid *out)
{
    uint32_t a, b, c, d;

    if (__get_cpuid(1, &a, &b, &c, &d))
        out->leaf1_ecx = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        out->leaf7_ebx = b;
        out->leaf7_ecx = c;
        out->leaf7_edx = d;
        if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
            out->leaf7_1_eax = a;
    }
    if (__get_cpuid(0x80000001u, &a, &b, &c, &d))
        out->extended_ecx = c;
}
#endif

void kiln__cpuid_read(kiln__cpuid *out)
{
    memset(out, 0, sizeof *out);
    read_leaves(out);
    if ((out->leaf1_ecx & OSXSAVE) != 0)
        out->xcr0 = read_xcr0();
}
#else
void kiln__cpuid_read(kiln__cpuid *out)
{
    memset(out, 0, sizeof *out);
}
#endif
