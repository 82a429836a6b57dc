/* codegen_parts.h - what the files of libkiln-codegen know of each other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_PARTS_H
#define KILN_CODEGEN_PARTS_H

#include <stdint.h>

#include "codegen_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- codegen/exchange.c: the border, and LLVM's process-wide state ---- */

/* What both libraries must have been built with. */
extern const char kiln__codegen_build_id[];

/* ---- codegen/codegen_current.c ---- */
/* Makes the request the calling thread's; NULL: none. */
void kiln__codegen_enter(const kiln__codegen_request *request);
/* The calling thread's, or NULL. */
const kiln__codegen_request *kiln__codegen_current(void);
/* Hands the failure to the calling thread's request and never returns; to be
   called with no lock held. Without a request on this thread, it returns. */
void kiln__codegen_park(const char *message);

/* ---- codegen/codegen_fork.c ---- */
/* Once per process: a fork waits for jobs that are under way. */
void kiln__codegen_guard_forks(void);
/* Around each job, on its thread; also when its thread parks. `backend` and
   `gone_all_the_way` are kiln__codegen_backend_bit() or 0. */
void kiln__codegen_job_begins(unsigned backend);
void kiln__codegen_job_ends(unsigned gone_all_the_way);

/* ---- codegen/codegen_job.c ---- */
/* How a value of that kind is printed, KILN__PRINT_...; KILN_TYPE_NONE: it is a
   text. */
uint32_t kiln__print_kind(int32_t kind);
/* LLVM's messages may have several lines; a failure has one. */
void kiln__join_lines(char *text);
/* As kiln__job_fail, and disposes LLVM's message (may be NULL). */
kiln_status kiln__job_fail_llvm(kiln__codegen_job *job, kiln_status status,
                                const char *what, char *message);

/* ---- codegen/generate.c ---- */
kiln_status kiln__generate(const kiln__codegen_request *request);

/* ---- codegen/codegen_link.c: bitcode of tier 2 into the module ---- */
/* Links the functions that are used, and makes all runtime functions
   internal. */
kiln_status kiln__link_functions(kiln__codegen_job *job);
/* Links what a foreign module declares and its request brings. */
kiln_status kiln__link_imports(kiln__codegen_job *job);
/* The module as bitcode. */
kiln_status kiln__write_bitcode(kiln__codegen_job *job, kiln_blob *out);

/* ---- codegen/codegen_closure.c ---- */
/* Takes what the request wants out of its library into job->module. */
kiln_status kiln__closure_extract(kiln__codegen_job *job);

/* ---- codegen/codegen_passes.c ---- */
/* Runs the passes for the job's level over its modules. */
kiln_status kiln__optimise(kiln__codegen_job *job);
/* Cuts the blocks of an optimised module that is large; true of such a one. */
int kiln__code_cut_large(const kiln__codegen_job *job, LLVMModuleRef module);
/* True when code of a large module is made as it is at level 0. */
int kiln__code_is_quick(const kiln__codegen_job *job, LLVMModuleRef module);

/* ---- codegen/codegen_target.c ---- */
/* Fills machines and layout; names a bad triple, processor or feature. */
kiln_status kiln__target_open(kiln__codegen_job *job);
/* LLVM was left half way on this thread: its machines are not used again. */
void kiln__target_abandon(void);

/* ---- codegen/codegen_parameters.c ---- */
/* Reads the request's argument types into job->parameters. */
kiln_status kiln__parameters_read(kiln__codegen_job *job);
/* The type of `i32 @ENTRY.item(ptr %item, <flattened arguments>)`. */
LLVMTypeRef kiln__parameters_function_type(kiln__codegen_job *job);
/* How many of a kernel's parameters it takes. */
size_t kiln__parameter_words(const kiln__parameter *parameter);
/* Offset of the parameter behind `end` in the packed block; moves `end`. */
uint64_t kiln__parameter_place(const kiln__parameter *parameter, uint64_t *end);

/* ---- codegen/foreign*.c ---- */
/* As kiln__lower, for the request's own module. */
kiln_status kiln__foreign_lower(kiln__codegen_job *job);
/* Takes out what says nothing to a kernel, dead code above all: what is left
   is internal but for `root`. Refuses what would run or be resolved by a
   loader. */
kiln_status kiln__foreign_trim(kiln__codegen_job *job, LLVMValueRef root);
/* Refuses what a foreign module may not contain; no name that is left means
   anything to LLVM. */
kiln_status kiln__foreign_check(kiln__codegen_job *job, LLVMValueRef root);
/* KILN_ECODEGEN: KIND 'NAME' of the module: WHY. */
kiln_status kiln__foreign_refuse(kiln__codegen_job *job, const char *kind,
                                 LLVMValueRef global, const char *why);
kiln_status kiln__foreign_check_variable(kiln__codegen_job *job,
                                         LLVMValueRef variable);
/* NULL, or why a call of a function of that name, which LLVM defines, is not
   taken. */
const char *kiln__foreign_refused_intrinsic(const kiln__codegen_job *job,
                                            LLVMValueRef call,
                                            const char *name);
/* NULL, or why a call of an intrinsic of that name, without "llvm." and types,
   has no code, or code that means something else. */
const char *kiln__foreign_unsupported(const kiln__codegen_job *job,
                                      LLVMValueRef call, const char *name);
/* The same of what the target limits alone. */
const char *kiln__foreign_limited(const kiln__codegen_job *job,
                                  LLVMValueRef call, const char *name);
/* The same of an instruction that is no call. */
const char *kiln__foreign_refused_code(const kiln__codegen_job *job,
                                       LLVMValueRef instruction);
/* Once more, behind the passes: what they made has code, too. */
kiln_status kiln__foreign_check_code(kiln__codegen_job *job);
/* NULL, or what is wrong with a type; the target may have none such. */
const char *kiln__foreign_refused_type(const kiln__codegen_job *job,
                                       LLVMTypeRef type);
/* Replaces calls of kiln_global_id() and its kin by the backend's code. */
kiln_status kiln__foreign_bind(kiln__codegen_job *job);

/* True for a global that stands for a site of the request. */
int kiln__foreign_is_site(const kiln__codegen_job *job, LLVMValueRef global);
/* Replaces sites by their addresses, or by what their slots hold. */
kiln_status kiln__foreign_sites(kiln__codegen_job *job);
/* After the passes: defines the slots that are still read. */
void kiln__foreign_sites_define(kiln__codegen_job *job);
/* Completes job->sites, for the payload that was made. */
kiln_status kiln__foreign_sites_place(kiln__codegen_job *job,
                                      const kiln_blob *payload);

/* ---- codegen/codegen_frames.c ---- */
/* Makes LLVM tell of the module's frames; fails where it could not count, */
void kiln__frames_ask(kiln__codegen_job *job, LLVMModuleRef module);
/* by diagnostics, which this takes; false: the text is about something else. */
int kiln__frames_take(kiln__codegen_job *job, const char *text);
/* What all functions need of a thread's stack; 0 on devices. */
uint32_t kiln__frames_stack(kiln__codegen_job *job);

/* ---- codegen/codegen_relocation.c ---- */
/* The class that the optimised module proves: KILN_RELOCATION_SESSION where an
   address may be in it, KILN_RELOCATION_RELOCATABLE where it has slots, else
   KILN_RELOCATION_PORTABLE. */
int32_t kiln__relocation_class(kiln__codegen_job *job);

/* ---- backends/codegen_backends.c ---- */
/* The codegen half of that name, or NULL. */
const kiln__codegen_backend *kiln__codegen_backend_find(const char *name);
/* A bit of its own for each; 0: there is none of that name. */
unsigned kiln__codegen_backend_bit(const char *name);
/* abandon() and guard_forks() of all. */
void kiln__codegen_backends_abandon(void);
void kiln__codegen_backends_guard_forks(void);

/* ---- backends/host_codegen.c ---- */
extern const kiln__codegen_backend kiln__host_codegen;
/* ---- backends/cuda_codegen.c ---- */
extern const kiln__codegen_backend kiln__cuda_codegen;
/* ---- backends/rocm_codegen.c ---- */
extern const kiln__codegen_backend kiln__rocm_codegen;

/* ---- backends/spirv_codegen.c ---- */
extern const kiln__codegen_backend kiln__spirv_codegen;

/* ---- backends/codegen_spirv_emit.c ---- */
/* The backend's abandon() and guard_forks(). */
void kiln__spirv_abandon(void);
void kiln__spirv_guard(void);

/* ---- backends/codegen_host_wrap.c ---- */
kiln_status kiln__host_wrap(kiln__codegen_job *job);

/* ---- backends/codegen_host_private.c ---- */
/* True when inlining and scalar replacement leave no private memory of an
   item, so that the items of a loop touch nothing in common. */
int kiln__host_items_are_parallel(kiln__codegen_job *job,
                                  LLVMValueRef item_function);

/* ---- backends/codegen_device_reports.c ---- */
/* The table of what the job's code may report, as device_abi.h describes it,
   in the arena; NULL: none, or out of memory, which is the job's failure. */
const void *kiln__device_reports(kiln__codegen_job *job, size_t *size);

/* ---- backends/codegen_elf_object.c ---- */
/* What a relocatable object may be. */
typedef struct kiln__elf_rules {
    uint16_t machine;  /* EM_... */
    const char *entry; /* another object defines "entry.more"; or NULL */
    int (*may_import)(const char *name);
} kiln__elf_rules;

/* Checks a relocatable object before a linker sees it; on failure writes the
   reason to `message`. */
kiln_status kiln__elf_object_check(const kiln__object *object,
                                   const kiln__elf_rules *rules, char *message,
                                   size_t capacity);

/* ---- backends/codegen_elf_link.c, codegen_elf_process.c ---- */
#define KILN__ELF_OBJECTS_MAX 2
#define KILN__ELF_OPTIONS_MAX 32 /* the NULL at the end, too */
/* Links checked objects into an image, in this process; KILN_ENOTFOUND: lld
   may not run in it any more. */
kiln_status kiln__elf_link(const char *const *options,
                           const kiln__object *objects, size_t count,
                           kiln_blob *out, char *message, size_t capacity);
/* The same for a job, in a process of its own if need be. The job has the
   failure, and the program that linked it. */
kiln_status kiln__elf_link_job(kiln__codegen_job *job,
                               const char *const *options,
                               const kiln__object *objects, size_t count,
                               kiln_blob *out);
/* As kiln__elf_link(), by running `program`, an ld.lld. */
kiln_status kiln__elf_link_process(const char *program,
                                   const char *const *options,
                                   const kiln__object *objects, size_t count,
                                   kiln_blob *out, char *message,
                                   size_t capacity);
/* lld cannot go on: gives up lld in this process and unlocks. A no-op unless
   this thread is linking. */
void kiln__elf_link_abandon(void);
/* Makes lld usable in children of fork(). */
void kiln__elf_link_guard(void);

/* ---- backends/codegen_host_sites.c ---- */
kiln_status kiln__host_find_sites(kiln__codegen_job *job,
                                  const kiln_blob *payload, size_t size,
                                  uint64_t *offset);

/* ---- backends/codegen_host_link.c ---- */
/* As kiln__elf_object_check(), for host code. */
kiln_status kiln__host_object_check(const kiln__object *object,
                                    const char *entry, char *message,
                                    size_t capacity);
/* True when host code may leave the function undefined. */
int kiln__host_may_import(const char *name);
/* The same after kiln__host_add_polls(). */
int kiln__host_may_refer(const char *name);
/* The linker's, NULL-terminated. */
extern const char *const kiln__host_link_options[];

/* ---- backends/codegen_cuda_nvjitlink.c ---- */
/* The backend's guard_forks(). */
void kiln__nvjitlink_guard(void);

/* ---- backends/llvm_gap.cc: what LLVM's C API lacks ---- */
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

/* ---- backends/llvm_gap_foreign.cc: the same for modules of others ---- */
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

/* ---- backends/llvm_gap_polls.cc: loops that can be stopped ---- */
/* What a module's functions look at. The entries, by name (NULL: none), have
   the launch as their first parameter: in it, at `offset`, is the address of
   their flag; they return 1. The others look at the variable `alarm`, and then
   call `look`. */
typedef struct kiln__poll_plan {
    const char *entries[2];
    uint64_t offset;
    const char *alarm;
    const char *look;
    int is_slow; /* the code need not be fast: each loop looks at each turn */
} kiln__poll_plan;

/* Returns 1 when a function calls `look`. */
int kiln__llvm_add_polls(LLVMModuleRef module, const kiln__poll_plan *plan);

/* What one run of lld inside the process gave. Free both with free(). */
typedef struct kiln__lld_result {
    int succeeded;
    int usable; /* lld may run again */
    void *image;
    size_t size;
    char *messages;
} kiln__lld_result;

/* Inputs among the arguments are called "0.o", "1.o", as the objects. */
void kiln__lld_link(const char *const *arguments, const kiln__object *objects,
                    kiln__lld_result *out);

/* ---- backends/llvm_gap_size.cc: what large functions cost ---- */
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

/* ---- backends/llvm_gap_spirv.cc: the same for SPIR-V ---- */
/* Lets machines that are made, and code that is generated, from now on use
   these extensions of SPIR-V; with a count of 0 none but what the host itself
   has set. Returns 0, or 1 with a message from malloc. */
int kiln__llvm_spirv_extensions(const char *const *names, size_t count,
                                char **message);
/* Replaces `freeze` by its operand, of which nothing is left that may be
   poison. */
void kiln__llvm_thaw(LLVMValueRef freeze);
/* The address of a struct's member becomes that of the byte it begins at;
   `address` may be gone then. */
void kiln__llvm_count_bytes(LLVMValueRef address);
/* Values that do not come on every way to where they are used go through
   memory. */
void kiln__llvm_restore_dominance(LLVMValueRef function);
/* Drops the instruction and all behind it; the block has no end then. */
void kiln__llvm_cut(LLVMValueRef instruction);
/* A copy or fill of memory becomes a loop; 0: it cannot. */
int kiln__llvm_expand_memory(LLVMValueRef call);

/* As kiln__llvm_emit() for machines of SPIR-V, one thread at a time. */
LLVMMemoryBufferRef kiln__llvm_emit_spirv(LLVMTargetMachineRef machine,
                                          LLVMModuleRef module, int as_text);

#ifdef __cplusplus
}
#endif

#endif /* KILN_CODEGEN_PARTS_H */
