/* foreign_trim.c - removes from a foreign module what a kernel does not
   need. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/Comdat.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * A kernel is one image whose only name is the kernel's. No linker looks
 * anything up in it, replaces or merges it. So every definition becomes
 * internal, whatever its linkage, comdat or visibility; an alias is replaced by
 * what it stands for; lists of names that must be kept are emptied. What the
 * entry does not reach is removed before anything is checked.
 *
 * An attribute in text form means something to one target only, and describes
 * where the module was made: which processor has it, which registers hold ids,
 * what instruments the code. Only those are kept that are about numbers
 * themselves and about inlining.
 */

/* ---- attributes ---- */

static const char *const kept_texts[] = {
    "approx-func-fp-math",        "frame-pointer",    "less-precise-fpmad",
    "min-legal-vector-width",     "no-builtins",      "no-infs-fp-math",
    "no-inline-line-tables",      "no-jump-tables",   "no-nans-fp-math",
    "no-signed-zeros-fp-math",    "no-trapping-math", "prefer-vector-width",
    "strict-float-cast-overflow", "unsafe-fp-math",
};

static const char *const dropped_kinds[] = {
    "disable_sanitizer_instrumentation",
    "fn_ret_thunk_extern",
    "hybrid_patchable",
    "jumptable",
    "nocf_check",
    "safestack",
    "sanitize_address",
    "sanitize_alloc_token",
    "sanitize_hwaddress",
    "sanitize_memory",
    "sanitize_memtag",
    "sanitize_numerical_stability",
    "sanitize_realtime",
    "sanitize_realtime_blocking",
    "sanitize_thread",
    "sanitize_type",
    "shadowcallstack",
    "ssp",
    "sspreq",
    "sspstrong",
    "uwtable",
};

static int is_kept(const char *name, size_t size)
{
    static const char builtin[] = "no-builtin-";

    if (strncmp(name, builtin, sizeof builtin - 1) == 0)
        return 1;
    for (size_t i = 0; i < sizeof kept_texts / sizeof kept_texts[0]; i++)
        if (strlen(kept_texts[i]) == size &&
            memcmp(kept_texts[i], name, size) == 0)
            return 1;
    return 0;
}

/* Returns the attributes at an index of a function or of a call, in the
   arena. */
static LLVMAttributeRef *list_attributes(kiln__codegen_job *job,
                                         LLVMValueRef of,
                                         LLVMAttributeIndex index,
                                         unsigned *count)
{
    const int is_function = LLVMIsAFunction(of) != NULL;
    LLVMAttributeRef *list;

    *count = is_function ? LLVMGetAttributeCountAtIndex(of, index)
                         : LLVMGetCallSiteAttributeCount(of, index);
    if (*count == 0)
        return NULL;
    list = kiln__arena_allocate_array(&job->arena, *count, sizeof *list);
    if (list == NULL) {
        *count = 0;
        (void)kiln__job_fail(job, KILN_ENOMEM, "out of memory");
        return NULL;
    }
    if (is_function)
        LLVMGetAttributesAtIndex(of, index, list);
    else
        LLVMGetCallSiteAttributes(of, index, list);
    return list;
}

static void drop_texts(kiln__codegen_job *job, LLVMValueRef of,
                       LLVMAttributeIndex index)
{
    const int is_function = LLVMIsAFunction(of) != NULL;
    unsigned count, size;
    const LLVMAttributeRef *list = list_attributes(job, of, index, &count);

    for (unsigned i = 0; i < count; i++) {
        const char *name;

        if (!LLVMIsStringAttribute(list[i]))
            continue;
        name = LLVMGetStringAttributeKind(list[i], &size);
        if (is_kept(name, size))
            continue;
        if (is_function)
            LLVMRemoveStringAttributeAtIndex(of, index, name, size);
        else
            LLVMRemoveCallSiteStringAttribute(of, index, name, size);
    }
}

static void plain_attributes(kiln__codegen_job *job, LLVMValueRef function)
{
    const LLVMAttributeIndex self =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    const unsigned count = LLVMCountParams(function);

    drop_texts(job, function, self);
    for (unsigned i = 0; i <= count; i++) {
        drop_texts(job, function, i);
        LLVMRemoveEnumAttributeAtIndex(function, i,
                                       kiln__attribute_kind("inreg"));
    }
    for (size_t i = 0; i < sizeof dropped_kinds / sizeof dropped_kinds[0]; i++)
        LLVMRemoveEnumAttributeAtIndex(function, self,
                                       kiln__attribute_kind(dropped_kinds[i]));
}

/* SPIR's own calling conventions, of functions and of kernels: both are C's. */
static int is_spir(unsigned convention)
{
    return convention == 75 || convention == 76;
}

static void plain_call(kiln__codegen_job *job, LLVMValueRef call)
{
    const unsigned count = LLVMGetNumArgOperands(call);

    drop_texts(job, call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex);
    /* Where arguments are is the matter of the one who compiles both sides.
       For AMD's processors `inreg` would promise that items agree. */
    for (unsigned i = 0; i <= count; i++) {
        drop_texts(job, call, i);
        LLVMRemoveCallSiteEnumAttribute(call, i, kiln__attribute_kind("inreg"));
    }
    if (is_spir(LLVMGetInstructionCallConv(call)))
        LLVMSetInstructionCallConv(call, LLVMCCallConv);
}

static void plain_body(kiln__codegen_job *job, LLVMValueRef function)
{
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            if (LLVMIsACallInst(at))
                plain_call(job, at);
}

/* ---- what runs or resolves by itself ---- */

/* True for lists of names for linkers and tools. They do not count as uses of
   what they list. */
static int is_list_of_names(const char *name)
{
    static const char *const names[] = {"llvm.used", "llvm.compiler.used",
                                        "llvm.global.annotations"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return 1;
    return 0;
}

static kiln_status trim_special(kiln__codegen_job *job, LLVMValueRef global,
                                const char *name)
{
    if (is_list_of_names(name)) {
        LLVMDeleteGlobal(global);
        return KILN_OK;
    }
    if (strcmp(name, "llvm.global_ctors") == 0 ||
        strcmp(name, "llvm.global_dtors") == 0)
        return kiln__foreign_refuse(job, "variable", global,
                                    "constructors are not run");
    return kiln__foreign_refuse(job, "variable", global,
                                "it means something to a linker only");
}

static kiln_status trim_variables(kiln__codegen_job *job)
{
    LLVMValueRef at, next;
    size_t size;

    for (at = LLVMGetFirstGlobal(job->module); at != NULL; at = next) {
        const char *name = LLVMGetValueName2(at, &size);

        next = LLVMGetNextGlobal(at);
        if (strncmp(name, "llvm.", 5) == 0) {
            KILN_TRY(trim_special(job, at, name));
            continue;
        }
        kiln__llvm_plain_global(at);
        if (LLVMIsDeclaration(at) || LLVMGetLinkage(at) == LLVMAppendingLinkage)
            continue; /* checked when the dead ones are gone */
        LLVMSetComdat(at, NULL);
        LLVMSetLinkage(at, LLVMInternalLinkage);
        LLVMSetVisibility(at, LLVMDefaultVisibility);
    }
    return KILN_OK;
}

static void trim_functions(kiln__codegen_job *job, LLVMValueRef root)
{
    LLVMValueRef at;

    for (at = LLVMGetFirstFunction(job->module); at != NULL;
         at = LLVMGetNextFunction(at)) {
        kiln__llvm_plain_global(at);
        /* Nothing throws exceptions of C++ here, and declared functions are
           Kiln's or a library's. So an `invoke` is a call, once simplified. */
        kiln__add_attribute(at, "nounwind");
        if (is_spir(LLVMGetFunctionCallConv(at)))
            LLVMSetFunctionCallConv(at, LLVMCCallConv);
        if (LLVMIsDeclaration(at))
            continue;
        LLVMSetComdat(at, NULL);
        LLVMSetLinkage(at,
                       at == root ? LLVMExternalLinkage : LLVMInternalLinkage);
        LLVMSetVisibility(at, LLVMDefaultVisibility);
        plain_attributes(job, at);
        plain_body(job, at);
    }
}

static kiln_status trim_aliases(kiln__codegen_job *job)
{
    LLVMValueRef at = LLVMGetFirstGlobalIFunc(job->module), next;

    if (at != NULL)
        return kiln__foreign_refuse(job, "ifunc", at,
                                    "it is resolved by a loader");
    for (at = LLVMGetFirstGlobalAlias(job->module); at != NULL; at = next) {
        next = LLVMGetNextGlobalAlias(at);
        if (LLVMIsThreadLocal(at))
            return kiln__foreign_refuse(job, "alias", at, "it is thread-local");
        kiln__llvm_replace_alias(at);
    }
    return KILN_OK;
}

/* ---- dead code ---- */

static int uses_matrices(const kiln__codegen_job *job)
{
    static const char prefix[] = "llvm.matrix.";
    LLVMValueRef at;
    size_t size;

    for (at = LLVMGetFirstFunction(job->module); at != NULL;
         at = LLVMGetNextFunction(at))
        if (strncmp(LLVMGetValueName2(at, &size), prefix, sizeof prefix - 1) ==
            0)
            return 1;
    return 0;
}

static kiln_status run_passes(kiln__codegen_job *job, const char *passes)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error =
        LLVMRunPasses(job->module, passes, job->machine, options);

    LLVMDisposePassBuilderOptions(options);
    if (error != NULL) {
        char *text = LLVMGetErrorMessage(error);

        (void)kiln__job_fail(job, KILN_ECODEGEN, "optimiser: %s", text);
        LLVMDisposeErrorMessage(text);
    }
    return job->status;
}

/* Compilers name a personality, which is a function of a runtime, for all
   functions: Rust's for those also that have no landing pads, and there may be
   none left where no callee unwinds. LLVM's matrix intrinsics stand for loads,
   stores and arithmetic of vectors, but only a pass that no level runs by
   itself replaces them. */
static kiln_status drop_dead_code(kiln__codegen_job *job)
{
    LLVMValueRef at;

    KILN_TRY(run_passes(
        job, uses_matrices(job)
                 ? "globaldce,function(simplifycfg,lower-matrix-intrinsics)"
                 : "globaldce,function(simplifycfg)"));
    for (at = LLVMGetFirstFunction(job->module); at != NULL;
         at = LLVMGetNextFunction(at))
        kiln__llvm_drop_idle_personality(at);
    return run_passes(job, "globaldce");
}

kiln_status kiln__foreign_trim(kiln__codegen_job *job, LLVMValueRef root)
{
    static const char *const names[] = {"llvm.dbg.cu", KILN__NEUTRAL_METADATA,
                                        NULL};
    static const char *const flags[] = {"Debug Info Version", "Dwarf Version",
                                        "amdhsa_code_object_version", NULL};
    size_t size = 0;

    (void)LLVMGetModuleInlineAsm(job->module, &size);
    if (size > 0)
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "the module contains assembly");
    kiln__llvm_keep_metadata(job->module, names, flags);
    KILN_TRY(trim_aliases(job));
    KILN_TRY(trim_variables(job));
    trim_functions(job, root);
    KILN_TRY(job->status);
    return drop_dead_code(job);
}
