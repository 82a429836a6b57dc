/* processor.h - what the processor says about itself. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PROCESSOR_H
#define KILN_PROCESSOR_H

#include <stdint.h>

/* Registers of cpuid that contain the processor's features. */
typedef struct kiln__cpuid {
    uint32_t leaf1_ecx;
    uint32_t leaf7_ebx;
    uint32_t leaf7_ecx;
    uint32_t leaf7_edx;
    uint32_t leaf7_1_eax;
    uint32_t extended_ecx; /* of leaf 0x80000001 */
    uint64_t xcr0;         /* register states that the system saves; 0: none */
} kiln__cpuid;

/* Reads this processor; all zero when it is not an x86-64. */
void kiln__cpuid_read(kiln__cpuid *out);

#endif /* KILN_PROCESSOR_H */
