/* neutral_spaces.c - gives a neutral module the target's address spaces. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/neutral/neutral.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * Neutral modules number address spaces as NVPTX and AMDGPU do: 0 generic, 1
 * global, 3 group, 4 constant, 5 private. A module may announce that its
 * numbers are SPIR's instead. Both are mapped to the target's in one step.
 *
 * In a neutral module, an alloca may be in generic memory. On a target where
 * that is not so, it is put where the target has the variables of an item, and
 * a cast makes a generic pointer of its address. Constants in generic memory
 * are put where the target reads them fast. LLVM then follows the casts, and
 * finds out which memory most accesses are to.
 */

#define SPACE_COUNT KILN__NEUTRAL_SPACE_COUNT

/* ---- the module's numbers ---- */

/* Returns the text of the node `!{!"text"}`, or NULL. */
static const char *text_of(LLVMValueRef node, unsigned *size)
{
    LLVMValueRef operand;

    if (LLVMGetMDNodeNumOperands(node) != 1)
        return NULL;
    LLVMGetMDNodeOperands(node, &operand);
    return operand != NULL ? LLVMGetMDString(operand, size) : NULL;
}

/* Returns the neutral numbers of the module's own, or NULL. */
static const unsigned *find_numbers(kiln__codegen_job *job)
{
    static const unsigned neutral[SPACE_COUNT] = {0, 1, KILN__LLVM_NO_SPACE,
                                                  3, 4, 5};
    static const unsigned spir[SPACE_COUNT] = {5, 1, 4,
                                               3, 0, KILN__LLVM_NO_SPACE};
    const unsigned count =
        LLVMGetNamedMetadataNumOperands(job->module, KILN__NEUTRAL_METADATA);
    const char *text;
    LLVMValueRef node;
    unsigned size = 0;

    if (count == 0)
        return neutral;
    if (count == 1) {
        LLVMGetNamedMetadataOperands(job->module, KILN__NEUTRAL_METADATA,
                                     &node);
        text = text_of(node, &size);
        if (text != NULL && size == 4 && memcmp(text, "spir", 4) == 0)
            return spir;
    }
    (void)kiln__job_fail(job, KILN_ECODEGEN,
                         "metadata '" KILN__NEUTRAL_METADATA
                         "' of the module is not "
                         "!{!\"spir\"}");
    return NULL;
}

unsigned kiln__neutral_generic_space(kiln__codegen_job *job)
{
    const unsigned *numbers = find_numbers(job);
    unsigned space = 0;

    while (numbers != NULL && space + 1 < SPACE_COUNT && numbers[space] != 0)
        space++;
    return space;
}

/* ---- functions ---- */

/* Functions are not in generic memory, so a pointer to one cannot become a
   generic pointer. */
static kiln_status check_functions(kiln__codegen_job *job)
{
    LLVMValueRef f;
    LLVMUseRef use;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        for (use = LLVMGetFirstUse(f); use != NULL; use = LLVMGetNextUse(use))
            if (!kiln__is_call_of(LLVMGetUser(use), f))
                return kiln__foreign_refuse(
                    job, "function", f,
                    "its address is taken, and the target has no pointers to "
                    "functions");
    return KILN_OK;
}

/* LLVM's intrinsics that say since when memory is constant have a result in
   space 0, on every target. They are only hints. */
static void drop_invariants(const kiln__codegen_job *job)
{
    static const char prefix[] = "llvm.invariant.";
    LLVMValueRef f, next, call;
    LLVMUseRef use;
    size_t size;

    for (f = LLVMGetFirstFunction(job->module); f != NULL; f = next) {
        next = LLVMGetNextFunction(f);
        if (strncmp(LLVMGetValueName2(f, &size), prefix, sizeof prefix - 1) !=
            0)
            continue;
        while ((use = LLVMGetFirstUse(f)) != NULL) {
            call = LLVMGetUser(use);
            if (LLVMGetFirstUse(call) != NULL)
                LLVMReplaceAllUsesWith(call, LLVMGetPoison(LLVMTypeOf(call)));
            LLVMInstructionEraseFromParent(call);
        }
        LLVMDeleteFunction(f);
    }
}

/* Fills in which of the target's spaces each of the module's becomes. An array
   that typed IR passes may be of a group, so an external function has none in
   global memory. */
static kiln_status read_map(kiln__codegen_job *job, unsigned to[SPACE_COUNT],
                            unsigned *generic)
{
    const unsigned *target = job->backend->foreign->neutral_spaces;
    const unsigned *numbers = find_numbers(job);

    if (numbers == NULL)
        return job->status;
    for (unsigned i = 0; i < SPACE_COUNT; i++) {
        to[i] = KILN__LLVM_NO_SPACE;
        if (numbers[i] != KILN__LLVM_NO_SPACE)
            to[i] =
                target[job->is_external && numbers[i] == 1 ? 0 : numbers[i]];
        if (numbers[i] == 0)
            *generic = i;
    }
    return KILN_OK;
}

/* ---- spaces that have no meaning ---- */

/* Returns a space of the type's pointers that has no meaning, or
   KILN__LLVM_NO_SPACE. */
static unsigned unknown_in(const unsigned to[SPACE_COUNT], LLVMTypeRef type)
{
    unsigned space;

    switch ((int)LLVMGetTypeKind(type)) {
    case LLVMPointerTypeKind:
        space = LLVMGetPointerAddressSpace(type);
        return space < SPACE_COUNT && to[space] != KILN__LLVM_NO_SPACE
                   ? KILN__LLVM_NO_SPACE
                   : space;
    case LLVMArrayTypeKind:
    case LLVMVectorTypeKind:
        return unknown_in(to, LLVMGetElementType(type));
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(type); i++) {
            space = unknown_in(to, LLVMStructGetTypeAtIndex(type, i));
            if (space != KILN__LLVM_NO_SPACE)
                return space;
        }
        return KILN__LLVM_NO_SPACE;
    default:
        return KILN__LLVM_NO_SPACE;
    }
}

static unsigned unknown_of(const unsigned to[SPACE_COUNT],
                           LLVMValueRef instruction)
{
    const int count = LLVMGetNumOperands(instruction);
    unsigned space = unknown_in(to, LLVMTypeOf(instruction));

    for (int i = 0; i < count && space == KILN__LLVM_NO_SPACE; i++)
        space = unknown_in(
            to, LLVMTypeOf(LLVMGetOperand(instruction, (unsigned)i)));
    return space;
}

/* Arguments are in global memory, and so is what they are passed by. A copy is
   the item's own. */
static kiln_status check_pointer(kiln__codegen_job *job, LLVMValueRef entry,
                                 unsigned at, const unsigned *numbers)
{
    const LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(entry, at));
    unsigned space;

    if (LLVMGetTypeKind(type) != LLVMPointerTypeKind ||
        LLVMGetEnumAttributeAtIndex(entry, at + 1,
                                    kiln__attribute_kind("byval")) != NULL)
        return KILN_OK;
    space = LLVMGetPointerAddressSpace(type);
    if (space >= SPACE_COUNT || (numbers[space] != 3 && numbers[space] != 5))
        return KILN_OK;
    return kiln__job_fail(
        job, KILN_ECODEGEN,
        "entry '%s': parameter %u: address space %u is %s memory, and "
        "arguments are not there%s",
        kiln__plain_name(job, entry), at + 1, space,
        numbers[space] == 3 ? "group" : "private",
        numbers[space] != space ? "; a module of C, with all pointers in space "
                                  "0, has no '" KILN__NEUTRAL_METADATA "'"
                                : "");
}

static kiln_status check_pointers(kiln__foreign_findings *found)
{
    const unsigned *numbers = find_numbers(found->job);
    const unsigned count = LLVMCountParams(found->entry);
    unsigned at = 0;

    for (size_t i = 0; i < found->job->parameter_count && at < count; i++) {
        KILN_TRY(kiln__foreign_finding(
            found, check_pointer(found->job, found->entry, at, numbers), NULL,
            NULL));
        at += (unsigned)kiln__parameter_words(&found->job->parameters[i]);
    }
    return KILN_OK;
}

static kiln_status refuse_space(kiln__codegen_job *job,
                                const unsigned to[SPACE_COUNT],
                                LLVMValueRef global, unsigned space)
{
    const char *why;

    if (space == KILN__LLVM_NO_SPACE)
        return KILN_OK;
    why = kiln__arena_format(
        &job->arena,
        "it has pointers of address space %u, and %s have a meaning", space,
        to[SPACE_COUNT - 1] == KILN__LLVM_NO_SPACE ? "0 to 4"
                                                   : "0, 1, 3, 4 and 5");
    return why != NULL
               ? kiln__foreign_refuse(
                     job,
                     LLVMIsAFunction(global) != NULL ? "function" : "variable",
                     global, why)
               : kiln__job_fail(job, KILN_ENOMEM, "out of memory");
}

static kiln_status check_spaces_in(kiln__foreign_findings *found,
                                   const unsigned to[SPACE_COUNT],
                                   LLVMValueRef function)
{
    kiln__codegen_job *job = found->job;
    LLVMBasicBlockRef block;
    LLVMValueRef at;

    for (unsigned i = 0; i < LLVMCountParams(function); i++)
        KILN_TRY(kiln__foreign_finding(
            found,
            refuse_space(job, to, function,
                         unknown_in(to, LLVMTypeOf(LLVMGetParam(function, i)))),
            function, NULL));
    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            KILN_TRY(kiln__foreign_finding(
                found, refuse_space(job, to, function, unknown_of(to, at)),
                function, at));
    return KILN_OK;
}

kiln_status kiln__neutral_check_spaces(kiln__foreign_findings *found)
{
    kiln__codegen_job *job = found->job;
    unsigned to[SPACE_COUNT], generic = 0;
    LLVMValueRef at;

    if (read_map(job, to, &generic) != KILN_OK) /* nothing has a meaning */
        return kiln__foreign_finding(found, job->status, NULL, NULL);
    KILN_TRY(check_pointers(found));
    for (at = LLVMGetFirstGlobal(job->module); at != NULL;
         at = LLVMGetNextGlobal(at))
        KILN_TRY(kiln__foreign_finding(
            found, refuse_space(job, to, at, unknown_in(to, LLVMTypeOf(at))),
            NULL, NULL));
    for (at = LLVMGetFirstFunction(job->module); at != NULL;
         at = LLVMGetNextFunction(at))
        KILN_TRY(check_spaces_in(found, to, at));
    return KILN_OK;
}

kiln_status kiln__neutral_map_spaces(kiln__codegen_job *job)
{
    unsigned to[SPACE_COUNT], unknown = 0;
    kiln__llvm_spaces map = {.to = to,
                             .count = SPACE_COUNT,
                             .constants =
                                 job->backend->foreign->neutral_constants};

    KILN_TRY(read_map(job, to, &map.generic));
    if (to[0] != 0) {
        KILN_TRY(check_functions(job));
        drop_invariants(job);
    }
    if (!kiln__llvm_map_spaces(job->module, &map, &unknown))
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "the module has pointers of address space %u, "
                              "and 0, 1, 3, 4 and 5 have a meaning",
                              unknown);
    kiln__llvm_move_allocas(
        job->module, LLVMGetPointerAddressSpace(kiln__job_item_pointer(job)));
    return KILN_OK;
}
