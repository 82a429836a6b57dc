/* llvm_gap.h - what LLVM's C API lacks. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_LLVM_GAP_H
#define KILN_LLVM_GAP_H

#include <stddef.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- llvm_gap.cc ---- */
int kiln__llvm_guard(void (*run)(void *env), void *env);
LLVMValueRef kiln__llvm_access_group(LLVMContextRef context);
LLVMValueRef kiln__llvm_parallel_loop(LLVMContextRef context,
                                      LLVMValueRef access_group);
/* Which passes code generation does without: those that cost more than they
   give our own modules, and those that large functions cannot wait for. */
#define KILN__WITHOUT_COSTLY 1u
#define KILN__WITHOUT_SQUARE 2u
/* The module as an object or as text. NULL: there is no such code. */
LLVMMemoryBufferRef kiln__llvm_emit(LLVMTargetMachineRef machine,
                                    LLVMModuleRef module, int as_text,
                                    unsigned without);
/* Between these a machine makes code fast, not fast code. */
void kiln__llvm_begin_quick(LLVMTargetMachineRef machine);
void kiln__llvm_end_quick(LLVMTargetMachineRef machine, unsigned opt_level);
/* Has that processor, with those features, all of `wanted`? */
int kiln__llvm_target_has(const char *triple, const char *processor,
                          const char *features, const char *wanted);
int kiln__llvm_target_knows(const char *triple, const char *processor,
                            const char *features, char *unknown,
                            size_t capacity);
/* What is made of the constant becomes instructions where these use it; what
   is left are initialisers. */
void kiln__llvm_expand_users(LLVMValueRef constant);
void kiln__llvm_on_bad_alloc(void (*handler)(const char *reason));

/* Reads bitcode, of which functions are only read when they are linked, or
   text; takes the buffer. On failure NULL, and a message for
   LLVMDisposeMessage(). */
LLVMModuleRef kiln__llvm_read_lazily(LLVMContextRef context,
                                     LLVMMemoryBufferRef buffer,
                                     char **message);
/* Links into `into` what it declares and `from` defines, with all that this
   needs; takes `from`. */
int kiln__llvm_link_needed(LLVMModuleRef into, LLVMModuleRef from);
/* Named metadata says things about a whole library. */
void kiln__llvm_drop_named_metadata(LLVMModuleRef module);
/* Puts the functions and the private constants that they use behind all
   others, in this order. */
void kiln__llvm_put_last(const LLVMValueRef *functions, size_t count);
/* Bitcode that reads back as the very same module, order of uses included. */
LLVMMemoryBufferRef kiln__llvm_write_bitcode(LLVMModuleRef module);

/* Values that do not come on every way to where they are used go through
   memory. */
void kiln__llvm_restore_dominance(LLVMValueRef function);

/* ---- llvm_gap_foreign.cc: modules of others ---- */
/* Drops all named metadata but these, and all flags of the module but these;
   both lists end in NULL. */
void kiln__llvm_keep_metadata(LLVMModuleRef module, const char *const *names,
                              const char *const *flags);
/* Sets a flag of the module; one that is there is replaced. */
void kiln__llvm_set_flag(LLVMModuleRef module, const char *name,
                         uint32_t value);
/* Forgets what linkers and loaders would make of a global. */
void kiln__llvm_plain_global(LLVMValueRef global);
/* What the alias stands for takes its place. */
void kiln__llvm_replace_alias(LLVMValueRef alias);
/* NULL, or the name of a kind of constants that only linkers understand. */
const char *kiln__llvm_odd_constant(LLVMValueRef value);
/* The name of a scope, in `name`; NULL: it has none, or a longer one. */
const char *kiln__llvm_scope_name(LLVMContextRef context, unsigned number,
                                  char *name, size_t capacity);

/* ---- llvm_gap_size.cc: what large functions cost ---- */
/* Instructions of the largest function, with all that is always inlined into
   it. */
uint64_t kiln__llvm_largest(LLVMModuleRef module);
/* Inlines what always is, and drops functions that nothing calls any more. */
void kiln__llvm_inline_always(LLVMModuleRef module);
/* Of the functions the most: instructions of each block times values that live
   in it at the same time, summed; what registers' allocation takes time by. */
uint64_t kiln__llvm_crowding(LLVMModuleRef module);
/* Of the functions the most: variables times blocks; what it takes time by to
   make values of variables. */
uint64_t kiln__llvm_variables(LLVMModuleRef module);
/* Counters of loops that are not in each other become one variable. */
void kiln__llvm_take_turns(LLVMModuleRef module);
/* Cuts blocks into pieces of so many instructions, phis not counted. */
void kiln__llvm_cut_blocks(LLVMModuleRef module, unsigned most);

#ifdef __cplusplus
}
#endif

#endif /* KILN_LLVM_GAP_H */
