/* codegen_import_types.c - the types of functions that the process has. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "codegen/module/codegen_stages.h"

/*
 * A linker knows names only. A function that a module declares with other types
 * than C's would take what happens to be in a register for a pointer, and write
 * there.
 */

#define PARAMETERS_MAX 3

static LLVMTypeRef type_of(const kiln__codegen_job *job, char letter)
{
    LLVMContextRef context = job->context;

    switch (letter) {
    case 'd':
        return LLVMDoubleTypeInContext(context);
    case 'f':
        return LLVMFloatTypeInContext(context);
    case 'h':
        return LLVMHalfTypeInContext(context);
    case 'i':
        return LLVMInt32TypeInContext(context);
    case 'l':
        return LLVMInt64TypeInContext(context);
    case 'q':
        return LLVMInt128TypeInContext(context);
    case 'p':
        return LLVMPointerTypeInContext(context, 0);
    default:
        return LLVMVoidTypeInContext(context);
    }
}

static LLVMTypeRef function_type(const kiln__codegen_job *job,
                                 const char *letters)
{
    LLVMTypeRef types[PARAMETERS_MAX];
    unsigned count = 0;

    for (; letters[count + 1] != '\0' && count < PARAMETERS_MAX; count++)
        types[count] = type_of(job, letters[count + 1]);
    return LLVMFunctionType(type_of(job, *letters), types, count, 0);
}

/* All address spaces that a function of C could be given are one. */
static int is_alike(LLVMTypeRef a, LLVMTypeRef b)
{
    return a == b || (LLVMGetTypeKind(a) == LLVMPointerTypeKind &&
                      LLVMGetTypeKind(b) == LLVMPointerTypeKind);
}

static int are_alike(LLVMTypeRef declared, LLVMTypeRef wanted)
{
    const unsigned count = LLVMCountParamTypes(wanted);
    LLVMTypeRef a[PARAMETERS_MAX], b[PARAMETERS_MAX];

    if (LLVMCountParamTypes(declared) != count ||
        LLVMIsFunctionVarArg(declared) ||
        !is_alike(LLVMGetReturnType(declared), LLVMGetReturnType(wanted)))
        return 0;
    LLVMGetParamTypes(declared, a);
    LLVMGetParamTypes(wanted, b);
    for (unsigned i = 0; i < count; i++)
        if (!is_alike(a[i], b[i]))
            return 0;
    return 1;
}

static kiln_status check(kiln__codegen_job *job, LLVMValueRef function,
                         const char *name, const char *letters)
{
    const LLVMTypeRef declared = LLVMGlobalGetValueType(function);
    const LLVMTypeRef wanted = function_type(job, letters);
    char *declared_text, *wanted_text;

    if (are_alike(declared, wanted))
        return KILN_OK;
    declared_text = LLVMPrintTypeToString(declared);
    wanted_text = LLVMPrintTypeToString(wanted);
    (void)kiln__job_fail(job, KILN_ECODEGEN,
                         "'%s' is %s in the module and %s in C's library", name,
                         declared_text, wanted_text);
    LLVMDisposeMessage(wanted_text);
    LLVMDisposeMessage(declared_text);
    return job->status;
}

kiln_status kiln__check_import_types(kiln__codegen_job *job,
                                     LLVMModuleRef module)
{
    const kiln__codegen_symbols *symbols = &job->backend->symbols;
    LLVMValueRef f;
    size_t size;

    if (symbols->types == NULL)
        return KILN_OK;
    for (f = LLVMGetFirstFunction(module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        const char *name = LLVMGetValueName2(f, &size);
        const char *letters =
            LLVMIsDeclaration(f) ? symbols->types(name) : NULL;

        if (letters != NULL)
            KILN_TRY(check(job, f, name, letters));
    }
    return KILN_OK;
}
