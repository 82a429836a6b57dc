/* foreign_builtin_memory.c - vload and vstore of OpenCL C, of any memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen/foreign/math/foreign_math.h"
#include "codegen/module/codegen_mangled.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * Drivers of OpenCL need not have these functions for pointers that may point
 * to any memory (PoCL 3.1 has not), though they have all others. The elements
 * are read and written one by one: a vector of three has no place for a fourth,
 * and none needs to be aligned to more than its element.
 */

enum { ANY_MEMORY = 4 };

/* Returns the vector's type, or NULL if the function is neither. */
static LLVMTypeRef vector_of(LLVMValueRef function,
                             const kiln__mangled_name *name)
{
    const int is_load = strncmp(name->base, "vload", 5) == 0;
    const int is_store = strncmp(name->base, "vstore", 6) == 0;
    const char *lanes = name->base + (is_load ? 5 : 6);
    const unsigned count = is_load ? 2 : 3;
    LLVMTypeRef type;

    if ((!is_load && !is_store) || lanes[0] == '\0' ||
        strspn(lanes, "0123456789") != strlen(lanes) || name->count != count ||
        LLVMCountParams(function) != count ||
        !name->parameters[count - 1].is_pointer ||
        name->parameters[count - 1].space != ANY_MEMORY)
        return NULL;
    type = is_load ? LLVMGetReturnType(LLVMGlobalGetValueType(function))
                   : LLVMTypeOf(LLVMGetParam(function, 0));
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? type : NULL;
}

/* Returns a pointer to the first element: element `offset * lanes`. */
static LLVMValueRef first_element(LLVMBuilderRef builder, LLVMValueRef function,
                                  LLVMTypeRef type)
{
    const unsigned last = LLVMCountParams(function) - 1;
    LLVMValueRef offset = LLVMGetParam(function, last - 1);

    offset = LLVMBuildMul(
        builder, offset,
        LLVMConstInt(LLVMTypeOf(offset), LLVMGetVectorSize(type), 0), "");
    return LLVMBuildInBoundsGEP2(builder, LLVMGetElementType(type),
                                 LLVMGetParam(function, last), &offset, 1, "");
}

LLVMValueRef kiln__foreign_build_memory(const kiln__codegen_job *job,
                                        LLVMBuilderRef builder,
                                        LLVMValueRef function,
                                        const kiln__mangled_name *name)
{
    const LLVMTypeRef type = vector_of(function, name);
    const LLVMTypeRef element = LLVMGetElementType(type);
    const LLVMValueRef first = first_element(builder, function, type);
    const int is_load = name->count == 2;
    LLVMValueRef vector =
        is_load ? LLVMGetPoison(type) : LLVMGetParam(function, 0);

    for (unsigned i = 0; i < LLVMGetVectorSize(type); i++) {
        LLVMValueRef lane = LLVMConstInt(kiln__job_i32(job), i, 0);
        LLVMValueRef at =
            LLVMBuildInBoundsGEP2(builder, element, first, &lane, 1, "");

        if (is_load)
            vector = LLVMBuildInsertElement(
                builder, vector, LLVMBuildLoad2(builder, element, at, ""), lane,
                "");
        else
            LLVMBuildStore(builder,
                           LLVMBuildExtractElement(builder, vector, lane, ""),
                           at);
    }
    return vector;
}

int kiln__foreign_is_memory(LLVMValueRef function,
                            const kiln__mangled_name *name)
{
    return vector_of(function, name) != NULL;
}
