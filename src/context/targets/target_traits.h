/* target_traits.h - how the targets of one backend differ from another's. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_TARGETS_TARGET_TRAITS_H
#define KILN_CONTEXT_TARGETS_TARGET_TRAITS_H

#include "abi/codegen_abi.h"
#include "kiln/config.h"
#include "kiln/type.h"

/*
 * libkiln never compares names of backends: code that depends on the backend
 * asks for a member here. One table has a line for each backend; a backend that
 * is not in the table is treated as an unknown device.
 */

struct kiln__tool_process;

/* The capabilities of a target. The number 0 means "no bound known here". */
typedef struct kiln__device_limits {
    const char *target;        /* for people: "cuda:sm_90:ptx80" */
    uint8_t has_wide_atomics;  /* 64 bits */
    uint8_t has_small_atomics; /* 8 and 16 bits, possibly by loops */
    uint8_t has_sub_groups;
    uint8_t has_recursion;
    /* By kind, for a scalar that the target lacks: the option that would give
       it. NULL: the target has the scalar. */
    const char *kinds[KILN_TYPE_KIND_COUNT];
    const char *options[3]; /* options that would give the target wide atomics,
                               sub-groups, larger arguments; NULL: there is
                               none */
    uint64_t argument_bytes;
    uint32_t parameters;  /* of a kernel */
    uint64_t local_bytes; /* of a group, for arrays that the program declares */
    uint32_t group_items;
    uint32_t group_depth; /* along the last dimension */
} kiln__device_limits;

/* The source of the mathematical functions for one value of the setting
   `math`. */
typedef struct kiln__math_source {
    uint8_t names; /* KILN__NAMES_... */
    uint8_t links; /* whether a library must be linked; 0: the target has the
                      functions itself */
    uint8_t tool;  /* where `links` is set: the library, KILN__TOOL_... */
} kiln__math_source;

typedef struct kiln__target_traits {
    const char *backend;
    /* True unless the target is the host's processor: then methods are
       looked up in the overlay "device", too, and typed IR is checked
       against limits. */
    uint8_t is_device;
    kiln__math_source open;   /* for KILN_MATH_OPEN */
    kiln__math_source vendor; /* for KILN_MATH_VENDOR */
    /* Of OpenCL's built-in functions, for modules of other frontends. */
    kiln__math_source builtins;
    /* The largest values that an artifact's metadata may have; `local_bytes` is
       0 where the limits contain it. */
    uint64_t local_bytes;
    uint64_t private_bytes;
    uint64_t stack_bytes;
    /* Restricts limits that allow everything; may be NULL. */
    void (*limit)(kiln__device_limits *limits, const kiln_config *config);
    /* Starts the tool that finishes the code before there is code, to save
       waiting for its start; may be NULL. */
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
