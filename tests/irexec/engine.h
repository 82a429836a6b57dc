/* engine.h - LLVM's side of a module. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_IREXEC_ENGINE_H
#define KILN_TESTS_IREXEC_ENGINE_H

#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/TargetMachine.h>

#include "parts.h"

typedef struct engine {
    LLVMContextRef context;
    LLVMModuleRef module; /* the execution engine's, once there is one */
    LLVMExecutionEngineRef execution;
} engine;

/* A name of a variable in the group's memory. */
typedef struct shared_name {
    char *text;
    int is_dynamic;
    struct shared_name *next;
} shared_name;

/* ---- retarget.c ---- */

/* Makes a module that was rewritten one of the host: text asm and attributes
   of the device go. */
void retarget(LLVMModuleRef module);
/* Adds a function that takes the block and calls the kernel with what is in
   it; returns the block's size. */
uint64_t add_enter(LLVMModuleRef module, LLVMTargetDataRef layout,
                   LLVMValueRef kernel, const char *name);
/* The function of a table, or NULL. */
const named_function *find_function(LLVMValueRef declaration);

/* ---- engine.c ---- */
void *address_of(any_function function);

/* ---- half.c ---- */
/* Names for LLVM what it calls in the process. */
void add_half_functions(void);

#endif /* KILN_TESTS_IREXEC_ENGINE_H */
