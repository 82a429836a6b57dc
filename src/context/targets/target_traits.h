/* target_traits.h - what sets one backend's targets apart from another's. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_TARGETS_TARGET_TRAITS_H
#define KILN_CONTEXT_TARGETS_TARGET_TRAITS_H

#include "abi/codegen_abi.h"
#include "kiln/config.h"

/*
 * libkiln compares no names of backends: where it does something else for
 * another backend, it asks for a member here. One table has a line for each
 * backend; what is not in it counts as a device that is not known further.
 */

struct kiln__tool_process;

/* What a target has. Of a number 0 is "no bound that is known here". */
typedef struct kiln__device_limits {
    const char *target; /* for people: "cuda:sm_90:ptx80" */
    uint8_t has_f16;
    uint8_t has_f64;
    uint8_t has_wide_atomics;  /* 64 bits */
    uint8_t has_small_atomics; /* 8 and 16 bits, be it by loops */
    uint8_t has_sub_groups;
    uint8_t has_recursion;
    const char *options[5]; /* of the target that would give f16, f64, wide
                               atomics, sub-groups, larger arguments; or NULL */
    uint64_t argument_bytes;
    uint32_t parameters;  /* of a kernel */
    uint64_t local_bytes; /* of a group, in arrays of the program's */
    uint32_t group_items;
    uint32_t group_depth; /* along the last dimension */
} kiln__device_limits;

/* Mathematical functions that a setting `math` stands for. */
typedef struct kiln__math_source {
    uint8_t names; /* KILN__NAMES_... */
    uint8_t links; /* 0: the target has the functions itself */
    uint8_t tool;  /* where it links: the library, KILN__TOOL_... */
} kiln__math_source;

typedef struct kiln__target_traits {
    const char *backend;
    /* Not the processor that the program itself runs on: methods are looked up
       in the overlay "device", too, and typed IR is held against limits. */
    uint8_t is_device;
    kiln__math_source open;   /* of KILN_MATH_OPEN */
    kiln__math_source vendor; /* of KILN_MATH_VENDOR */
    /* The most that an artifact can say of itself; `local_bytes` is 0 where
       the limits have it. */
    uint64_t local_bytes;
    uint64_t private_bytes;
    uint64_t stack_bytes;
    /* Corrects limits that allow everything; or NULL. */
    void (*limit)(kiln__device_limits *limits, const kiln_config *config);
    /* Starts the tool that finishes the code before there is code, so that it
       need not be waited for; or NULL. */
    struct kiln__tool_process *(*begin_tool)(
        const kiln__codegen_settings *settings);
} kiln__target_traits;

/* Returns the line of the config's backend; never NULL. */
const kiln__target_traits *kiln__target_traits_of(const kiln_config *config);

/* Returns where the config's mathematical functions come from. */
kiln__math_source kiln__target_math(const kiln_config *config);

void kiln__device_limits_of(kiln__device_limits *out,
                            const kiln_config *config);

#endif /* KILN_CONTEXT_TARGETS_TARGET_TRAITS_H */
