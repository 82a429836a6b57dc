/* host_codegen.h - what the files of the host's codegen half share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_HOST_CODEGEN_HOST_CODEGEN_H
#define KILN_BACKENDS_HOST_CODEGEN_HOST_CODEGEN_H

#include "abi/host_abi.h"
#include "codegen/module/codegen_stages.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the address of a member, `offset` bytes after `base`. */
LLVMValueRef kiln__host_member(const kiln__codegen_job *job,
                               LLVMBuilderRef builder, LLVMValueRef base,
                               uint64_t offset);
/* Loads a member of 64 bits that does not change during a launch and is between
   `least` and INT64_MAX. */
LLVMValueRef kiln__host_constant(const kiln__codegen_job *job,
                                 LLVMBuilderRef builder, LLVMValueRef base,
                                 uint64_t offset, uint64_t least);
/* Returns the size of a full group along the dimension. */
LLVMValueRef kiln__host_group_size(const kiln__codegen_job *job,
                                   LLVMBuilderRef builder, LLVMValueRef launch,
                                   uint32_t dimension);
/* Marks an addition or multiplication that never overflows; returns it. */
LLVMValueRef kiln__host_exact(LLVMValueRef value);
/* Tells LLVM that a load gives the same value whenever it is done. */
void kiln__host_mark_invariant(const kiln__codegen_job *job, LLVMValueRef load);
/* Adds an attribute to a function (index -1) or a parameter (from 1). */
void kiln__host_attribute(const kiln__codegen_job *job, LLVMValueRef function,
                          int index, const char *name);

/* ---- host_group.c ---- */
extern const kiln__codegen_groups kiln__host_groups;
/* Stores the dimensions, that of the innermost loop first. */
void kiln__host_order_loops(const kiln__codegen_job *job, uint32_t order[3]);
/* Tells LLVM which loops over a group's items are parallel. */
void kiln__host_mark_loops(kiln__codegen_job *job);

/* ---- host_intrinsics.c ---- */
extern const kiln__foreign_limit kiln__host_limits[];
/* Returns NULL, or why an intrinsic "llvm.x86.NAME" may not be called. */
const char *kiln__host_refuse_own(const kiln__codegen_job *job,
                                  LLVMValueRef call, const char *name);

/* ---- host_polls.c ---- */
/* Makes loops and recursions of the optimised modules check whether the launch
   is to stop. `wraps`: functions other than the kernel do. */
kiln_status kiln__host_add_polls(kiln__codegen_job *job, int *wraps);

/* ---- host_turns.c ---- */
/* What a kernel does so that atomic operations need no lock. */
typedef enum kiln__host_turns {
    KILN__HOST_NO_TURNS, /* it has none, outside of its groups' memory */
    KILN__HOST_SHARES,
    KILN__HOST_MAY_BE_ALONE
} kiln__host_turns;

/* To be asked before polls are added, which are atomic, too. */
kiln__host_turns kiln__host_find_turns(const kiln__codegen_job *job);
kiln_status kiln__host_take_turns(kiln__codegen_job *job,
                                  kiln__host_turns turns);

/* ---- host_codegen.c ---- */
extern const kiln__codegen_backend kiln__host_codegen;

/* ---- host_wrap.c ---- */
kiln_status kiln__host_wrap(kiln__codegen_job *job);

/* ---- host_private.c ---- */
/* True when inlining and scalar replacement leave no private memory of an item,
   so that the items of a loop share no memory of that kind. */
int kiln__host_items_are_parallel(kiln__codegen_job *job,
                                  LLVMValueRef item_function);

/* ---- host_wide.c ---- */
/* True when several groups of a row may run as one, and should. */
int kiln__host_groups_may_join(const kiln__codegen_job *job,
                               LLVMValueRef item_function);

/* ---- host_sites.c ---- */
kiln_status kiln__host_find_sites(kiln__codegen_job *job,
                                  const kiln_blob *payload, size_t size,
                                  uint64_t *offset);

/* ---- host_link.c ---- */
/* As kiln__elf_object_check(), for host code. */
kiln_status kiln__host_object_check(const kiln__object *object,
                                    const char *entry, char *message,
                                    size_t capacity);
/* True when host code may leave the function undefined. */
int kiln__host_may_import(const char *name);
/* Returns its types as host_imports.h has them; NULL if it may not. */
const char *kiln__host_import_types(const char *name);
/* As kiln__host_may_import(), after kiln__host_add_polls(). */
int kiln__host_may_refer(const char *name);
/* Options of the linker; NULL ends the list. */
extern const char *const kiln__host_link_options[];

/* ---- llvm_gap_polls.cc ---- */
/* What the functions of a module check. The first parameter of the entries,
   given by name (NULL: none), is the launch. At `offset` in it is the address
   of their flag, and they return 1 when it is set. Other functions check the
   variable `alarm`, and call `poll` when it is set. */
typedef struct kiln__poll_plan {
    const char *entries[2];
    uint64_t offset;
    const char *alarm;
    const char *poll;
    int is_slow; /* speed does not matter: every iteration checks */
} kiln__poll_plan;

/* Returns 1 when any function calls `poll`. */
int kiln__llvm_add_polls(LLVMModuleRef module, const kiln__poll_plan *plan);

/* ---- llvm_gap_alone.cc ---- */
/* The number of a kernel's parameter that is the memory of the group. */
#define KILN__HOST_MEMORY 4u
/* Makes plain accesses of the kernel's atomic operations on the memory of a
   group, which one thread uses. */
void kiln__llvm_lower_atomics(LLVMValueRef kernel);
/* True when a function of the module has an atomic operation that changes
   memory. */
int kiln__llvm_has_atomics(LLVMModuleRef module);
/* True when the kernel has at most so many instructions, ignores what its
   atomic operations return, and calls nothing that might not: only its parts in
   the checked module, and what raises. */
int kiln__llvm_is_quiet(LLVMValueRef kernel, size_t most);
/* Returns a copy of the kernel in which atomic operations are plain. */
LLVMValueRef kiln__llvm_copy_plain(LLVMValueRef kernel);

#ifdef __cplusplus
}
#endif

#endif /* KILN_BACKENDS_HOST_CODEGEN_HOST_CODEGEN_H */
