/* codegen_link.c - links bitcode from tier 2 into the job's module. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>

#include "base/error.h"
#include "base/system/thread.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * A runtime function has the same name in the module as in its bitcode. It is
 * either declared, and linked here, or defined, because lowering made it. After
 * linking nothing tells the two apart. The functions that are used are put
 * after everything else, in the request's order, so that a kernel has the same
 * bytes whichever way its functions came.
 *
 * The linker keeps the attributes of the definition. How a function is inlined
 * is decided for the kernel, and that decision is on the declaration;
 * link_function() carries it over.
 */

static LLVMModuleRef read_bitcode(kiln__codegen_job *job, const char *symbol,
                                  const void *bytes, size_t size)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(bytes, size, symbol, 0);
    LLVMModuleRef module = NULL;

    if (LLVMParseBitcodeInContext2(job->context, buffer, &module) != 0) {
        module = NULL;
        (void)kiln__job_fail(job, KILN_ECORRUPT, "%s is no bitcode", symbol);
    }
    LLVMDisposeMemoryBuffer(buffer);
    return module;
}

/* Links `from` into the job's module and consumes it. */
static kiln_status link_module(kiln__codegen_job *job, LLVMModuleRef from,
                               const char *symbol)
{
    if (LLVMLinkModules2(job->module, from) != 0)
        return kiln__job_fail(job, KILN_ECODEGEN, "%s cannot be linked",
                              symbol);
    return job->status;
}

static void was_read(const kiln__codegen_job *job, size_t index, uint64_t start)
{
    if (job->request->was_read != NULL && !job->linked)
        job->request->was_read(job->request->env, index,
                               kiln__clock_ns() - start);
}

/* ---- runtime functions ---- */

static const char *const ways[] = {"alwaysinline", "inlinehint", "noinline"};

/* Returns the attribute by which the kernel's plan decided on inlining the
   function, or NULL. */
static const char *way_of(LLVMValueRef function)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (LLVMGetEnumAttributeAtIndex(
                function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                kiln__attribute_kind(ways[i])) != NULL)
            return ways[i];
    return NULL;
}

static kiln_status link_function(kiln__codegen_job *job, size_t index)
{
    const kiln__codegen_function *source = &job->request->functions[index];
    const char *way =
        way_of(LLVMGetNamedFunction(job->module, source->runtime));
    const uint64_t start = kiln__clock_ns();
    LLVMModuleRef module = read_bitcode(job, source->runtime, source->bitcode,
                                        source->bitcode_size);

    if (module == NULL)
        return job->status;
    KILN_TRY(link_module(job, module, source->runtime));
    if (way != NULL)
        LLVMAddAttributeAtIndex(
            LLVMGetNamedFunction(job->module, source->runtime),
            (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
            LLVMCreateEnumAttribute(job->context, kiln__attribute_kind(way),
                                    0));
    was_read(job, index, start);
    return KILN_OK;
}

/* Returns the module's function for that function of the request, or NULL. */
static LLVMValueRef function_at(const kiln__codegen_job *job, size_t index)
{
    const char *name = job->request->functions[index].runtime;

    return name != NULL ? LLVMGetNamedFunction(job->module, name) : NULL;
}

static int is_missing(LLVMValueRef function)
{
    return function != NULL && LLVMIsDeclaration(function) &&
           LLVMGetFirstUse(function) != NULL;
}

/* Links until nothing is missing: what is linked may use functions that were
   unused before. */
static kiln_status link_used(kiln__codegen_job *job)
{
    int changed = 1;

    while (changed) {
        changed = 0;
        for (size_t i = 0; i < job->request->function_count; i++) {
            if (!is_missing(function_at(job, i)) ||
                job->request->functions[i].bitcode == NULL)
                continue;
            KILN_TRY(link_function(job, i));
            changed = 1;
        }
    }
    return KILN_OK;
}

/* Drops runtime functions without callers. Lowering has inlined those with
   collective operations into their callers already. */
static void drop_unused(kiln__codegen_job *job)
{
    int changed = 1;

    while (changed) {
        changed = 0;
        for (size_t i = 0; i < job->request->function_count; i++) {
            LLVMValueRef f = function_at(job, i);

            if (f == NULL || LLVMGetFirstUse(f) != NULL)
                continue;
            LLVMDeleteFunction(f);
            changed = 1;
        }
    }
}

kiln_status kiln__link_functions(kiln__codegen_job *job)
{
    const size_t most = job->request->function_count;
    LLVMValueRef *used =
        kiln__arena_allocate_array(&job->arena, most + 1, sizeof *used);
    size_t count = 0;

    if (used == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    KILN_TRY(link_used(job));
    drop_unused(job);
    for (size_t i = 0; i < most; i++) {
        LLVMValueRef f = function_at(job, i);

        if (f == NULL || LLVMIsDeclaration(f))
            continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
        used[count++] = f;
    }
    kiln__llvm_put_last(used, count);
    return job->status;
}

/* ---- external functions ---- */

kiln_status kiln__link_externals(kiln__codegen_job *job)
{
    const size_t count =
        job->externals != NULL ? job->request->function_count : 0;

    for (size_t i = 0; i < count; i++) {
        const char *symbol = job->request->functions[i].symbol;

        if (job->externals[i].module == NULL)
            continue;
        KILN_TRY(link_module(job, LLVMCloneModule(job->externals[i].module),
                             symbol));
        LLVMSetLinkage(LLVMGetNamedFunction(job->module, symbol),
                       LLVMInternalLinkage);
    }
    return KILN_OK;
}

/* ---- what a foreign module takes from libraries ---- */

/* How many types functions of libraries are made of. */
#define LAYOUT_TYPES 9

static void list_types(LLVMTypeRef types[LAYOUT_TYPES], LLVMContextRef context)
{
    types[0] = LLVMInt8TypeInContext(context);
    types[1] = LLVMInt16TypeInContext(context);
    types[2] = LLVMInt32TypeInContext(context);
    types[3] = LLVMInt64TypeInContext(context);
    types[4] = LLVMHalfTypeInContext(context);
    types[5] = LLVMFloatTypeInContext(context);
    types[6] = LLVMDoubleTypeInContext(context);
    types[7] = LLVMPointerTypeInContext(context, 0);
    types[8] = LLVMPointerTypeInContext(context, 1);
}

/* Compares data layouts by what they say of each type. Different versions of
   LLVM need not write the same text, and libdevice's is older than any of
   them. */
static int lays_out_alike(const kiln__codegen_job *job, const char *layout)
{
    LLVMTargetDataRef theirs = LLVMCreateTargetData(layout);
    LLVMTypeRef types[LAYOUT_TYPES];
    int alike = LLVMByteOrder(theirs) == LLVMByteOrder(job->layout);

    list_types(types, job->context);
    for (size_t i = 0; i < LAYOUT_TYPES && alike; i++)
        alike = LLVMABISizeOfType(theirs, types[i]) ==
                    LLVMABISizeOfType(job->layout, types[i]) &&
                LLVMABIAlignmentOfType(theirs, types[i]) ==
                    LLVMABIAlignmentOfType(job->layout, types[i]);
    LLVMDisposeTargetData(theirs);
    return alike;
}

static kiln_status check_layout(kiln__codegen_job *job, LLVMModuleRef module,
                                const char *name)
{
    const char *layout = LLVMGetDataLayoutStr(module);

    if (*layout != '\0' &&
        strcmp(layout, LLVMGetDataLayoutStr(job->module)) != 0 &&
        !lays_out_alike(job, layout))
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "data layout '%s' of the library of '%s' is not "
                              "the target's '%s'",
                              layout, name, LLVMGetDataLayoutStr(job->module));
    LLVMSetDataLayout(module, LLVMGetDataLayoutStr(job->module));
    LLVMSetTarget(module, LLVMGetTarget(job->module));
    return KILN_OK;
}

static kiln_status check_type(kiln__codegen_job *job, LLVMValueRef declared,
                              LLVMValueRef defined, const char *name)
{
    LLVMTypeRef wanted = LLVMGlobalGetValueType(declared);
    LLVMTypeRef given = LLVMGlobalGetValueType(defined);
    char *wanted_text;
    char *given_text;

    if (wanted == given)
        return KILN_OK;
    wanted_text = LLVMPrintTypeToString(wanted);
    given_text = LLVMPrintTypeToString(given);
    kiln__job_fail(job, KILN_ECODEGEN,
                   "'%s' is %s in the module and %s in its library", name,
                   wanted_text, given_text);
    LLVMDisposeMessage(given_text);
    LLVMDisposeMessage(wanted_text);
    return job->status;
}

static kiln_status check_import(kiln__codegen_job *job,
                                const kiln__codegen_import *import,
                                LLVMValueRef declared, LLVMModuleRef module)
{
    LLVMValueRef defined = LLVMGetNamedFunction(module, import->symbol);

    if (defined != NULL && LLVMGetLinkage(defined) == LLVMInternalLinkage)
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "'%s' is internal in its library: nobody else "
                              "can call it",
                              import->name);
    if (defined == NULL || LLVMIsDeclaration(defined))
        return kiln__job_fail(job, KILN_ECORRUPT, "bitcode of '%s' is damaged",
                              import->name);
    KILN_TRY(check_type(job, declared, defined, import->name));
    if (LLVMGetFunctionCallConv(declared) != LLVMGetFunctionCallConv(defined))
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "'%s' has another calling convention in the "
                              "module than in its library",
                              import->name);
    return check_layout(job, module, import->name);
}

static kiln_status name_own(kiln__codegen_job *job, LLVMValueRef global,
                            size_t index)
{
    size_t size;
    const char *name = LLVMGetValueName2(global, &size);

    if (LLVMGetLinkage(global) != LLVMInternalLinkage &&
        LLVMGetLinkage(global) != LLVMPrivateLinkage)
        return KILN_OK;
    name = kiln__arena_format(&job->arena, "%s.%zu", name, index);
    if (name == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    LLVMSetValueName2(global, name, strlen(name));
    return KILN_OK;
}

/* Renames the helpers of a closure, so that helpers of the same name in two
   closures stay apart. The linker would number them by how often it has seen a
   name, and the kernel's bytes would depend on how its functions came. */
static kiln_status name_helpers(kiln__codegen_job *job, LLVMModuleRef module,
                                size_t index)
{
    LLVMValueRef at;

    for (at = LLVMGetFirstGlobal(module); at != NULL;
         at = LLVMGetNextGlobal(at))
        KILN_TRY(name_own(job, at, index));
    for (at = LLVMGetFirstFunction(module); at != NULL;
         at = LLVMGetNextFunction(at))
        KILN_TRY(name_own(job, at, index));
    return KILN_OK;
}

static kiln_status link_import(kiln__codegen_job *job, size_t index)
{
    const kiln__codegen_import *import = &job->request->imports[index];
    LLVMValueRef declared = LLVMGetNamedFunction(job->module, import->name);
    const uint64_t start = kiln__clock_ns();
    LLVMModuleRef module;

    if (!is_missing(declared))
        return KILN_OK;
    module = read_bitcode(job, import->symbol, import->bitcode,
                          import->bitcode_size);
    if (module == NULL)
        return job->status;
    if (check_import(job, import, declared, module) != KILN_OK ||
        name_helpers(job, module, index) != KILN_OK) {
        LLVMDisposeModule(module);
        return job->status;
    }
    LLVMSetValueName2(declared, import->symbol, strlen(import->symbol));
    KILN_TRY(link_module(job, module, import->symbol));
    LLVMSetLinkage(LLVMGetNamedFunction(job->module, import->symbol),
                   LLVMInternalLinkage);
    was_read(job, job->request->function_count + index, start);
    return KILN_OK;
}

/* Defines the constants that a vendor's library expects its linker to
   define. */
static void define_constants(const kiln__codegen_job *job)
{
    LLVMValueRef at = LLVMGetFirstGlobal(job->module);

    for (; at != NULL; at = LLVMGetNextGlobal(at)) {
        const LLVMTypeRef type = LLVMGlobalGetValueType(at);
        uint64_t value;
        size_t size;

        if (!LLVMIsDeclaration(at) ||
            LLVMGetTypeKind(type) != LLVMIntegerTypeKind ||
            !job->backend->symbols.constant(job, LLVMGetValueName2(at, &size),
                                            &value))
            continue;
        LLVMSetInitializer(at, LLVMConstInt(type, value, 0));
        LLVMSetGlobalConstant(at, 1);
        LLVMSetLinkage(at, LLVMInternalLinkage);
    }
}

kiln_status kiln__link_imports(kiln__codegen_job *job)
{
    for (size_t i = 0; i < job->request->import_count; i++)
        KILN_TRY(link_import(job, i));
    if (job->backend->symbols.constant != NULL &&
        job->request->import_count > 0)
        define_constants(job);
    return KILN_OK;
}

/* ---- writing ---- */

static void free_buffer(kiln_blob *blob)
{
    LLVMDisposeMemoryBuffer(blob->private_data);
    blob->release = NULL;
}

kiln_status kiln__write_bitcode(kiln__codegen_job *job, kiln_blob *out)
{
    LLVMMemoryBufferRef buffer = kiln__llvm_write_bitcode(job->module);

    *out = (kiln_blob){
        .data = LLVMGetBufferStart(buffer),
        .size = LLVMGetBufferSize(buffer),
        .release = free_buffer,
        .private_data = buffer,
    };
    return job->status;
}
