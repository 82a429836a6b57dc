/* foreign_variables.c - which variables a foreign module may define. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "abi/host_abi.h"
#include "base/error.h"
#include "codegen/foreign/foreign.h"
#include "codegen/groups/groups.h"
#include "codegen/module/codegen_stages.h"

/*
 * Constants are allowed, and variables in the memory of a group, which begin
 * undefined for each group. Any other variable that can be written would be
 * shared by all launches, queues and processes that use the image, and on the
 * host by all groups that run. What a kernel keeps is in its arguments, or in
 * host objects that it refers to as sites.
 */

/* A loader aligns an image to a page, and code may rely on alignments that it
   is told. */
#define ALIGNMENT_MAX 4096u

static kiln_status refuse_variable(kiln__codegen_job *job,
                                   LLVMValueRef variable, const char *why)
{
    return kiln__foreign_refuse(job, "variable", variable, why);
}

/* True for a constant of a vendor's library that depends on the target.
   Closures are kept for all processors, so they do not contain its value. */
static int is_target_constant(const kiln__codegen_job *job,
                              LLVMValueRef variable)
{
    uint64_t value;
    size_t size;

    return job->request->form == KILN__EMIT_CLOSURE &&
           job->backend->symbols.constant != NULL &&
           job->backend->symbols.constant(
               job, LLVMGetValueName2(variable, &size), &value);
}

/* ---- initialisers ---- */

#define DEPTH_MAX 64

/* Returns NULL, or why the initialiser cannot be used. */
static const char *refused_initialiser(const kiln__codegen_job *job,
                                       LLVMValueRef constant, unsigned depth)
{
    const kiln__foreign_rules *rules = job->backend->foreign;
    const int count = LLVMGetNumOperands(constant);

    if (LLVMIsAGlobalValue(constant))
        return kiln__groups_is_variable(job, constant)
                   ? "its initialiser has the address of a variable of a "
                     "group, which each group has elsewhere"
                   : NULL;
    if (depth > DEPTH_MAX)
        return "its initialiser is nested too deeply";
    if (kiln__llvm_linker_constant(constant) != NULL)
        return "its initialiser has an address that only a linker understands";
    if (LLVMIsABlockAddress(constant))
        return rules->has_label_addresses
                   ? NULL
                   : "its initialiser has the address of a label, which the "
                     "target has not";
    if (LLVMIsAConstantExpr(constant) && !rules->has_address_numbers &&
        LLVMGetTypeKind(LLVMTypeOf(constant)) != LLVMPointerTypeKind)
        return "its initialiser computes with addresses, which the target "
               "cannot";
    for (int i = 0; i < count; i++) {
        const char *why = refused_initialiser(
            job, LLVMGetOperand(constant, (unsigned)i), depth + 1);

        if (why != NULL)
            return why;
    }
    return NULL;
}

/* ---- variables that nobody writes ----
 *
 * A variable that the source did not declare constant is treated as one if all
 * its uses only read it.
 */

static int copies_from(LLVMValueRef call, LLVMValueRef pointer)
{
    static const char *const names[] = {"llvm.memcpy", "llvm.memmove",
                                        "llvm.memcpy.inline"};
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const unsigned id =
        LLVMIsAFunction(callee) != NULL ? LLVMGetIntrinsicID(callee) : 0;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (id != 0 && id == LLVMLookupIntrinsicID(names[i], strlen(names[i])))
            return LLVMGetOperand(call, 1) == pointer &&
                   LLVMGetOperand(call, 0) != pointer;
    return 0;
}

static int is_only_read(LLVMValueRef pointer, unsigned depth);

/* True when the user, or every use of the address that it makes, only reads. */
static int only_reads(LLVMValueRef user, LLVMValueRef pointer, unsigned depth)
{
    LLVMOpcode opcode;

    if (LLVMIsAInstruction(user) != NULL)
        opcode = LLVMGetInstructionOpcode(user);
    else if (LLVMIsAConstantExpr(user) != NULL)
        opcode = LLVMGetConstOpcode(user);
    else
        return 0;
    switch ((int)opcode) {
    case LLVMLoad:
        return !LLVMGetVolatile(user);
    case LLVMCall:
        return copies_from(user, pointer);
    case LLVMGetElementPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
        return is_only_read(user, depth + 1);
    default:
        return 0;
    }
}

static int is_only_read(LLVMValueRef pointer, unsigned depth)
{
    LLVMUseRef use;

    if (depth > DEPTH_MAX)
        return 0;
    for (use = LLVMGetFirstUse(pointer); use != NULL; use = LLVMGetNextUse(use))
        if (!only_reads(LLVMGetUser(use), pointer, depth))
            return 0;
    return 1;
}

/* ---- the rules ---- */

static const char *refused_memory(const kiln__codegen_job *job,
                                  LLVMValueRef variable)
{
    const unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(variable));

    if (LLVMIsThreadLocal(variable))
        return "it is thread-local";
    if (!LLVMIsGlobalConstant(variable))
        return "it can be written, and a kernel is shared by queues and "
               "processes; what it keeps stands in arrays that are arguments, "
               "or in host objects that are named as sites";
    if (space >= 32 ||
        (job->backend->foreign->constant_spaces & KILN__SPACE_BIT(space)) == 0)
        return "constants are not in this address space";
    return NULL;
}

static const char *refused_definition(const kiln__codegen_job *job,
                                      LLVMValueRef variable)
{
    const char *section = LLVMGetSection(variable);
    const char *why = refused_memory(job, variable);

    if (why != NULL)
        return why;
    if (LLVMGetLinkage(variable) == LLVMAppendingLinkage)
        return "a linker would make it longer";
    if (section != NULL && *section != '\0')
        return "it names a section";
    if (LLVMIsExternallyInitialized(variable))
        return "it is initialised elsewhere";
    if (LLVMGetAlignment(variable) > ALIGNMENT_MAX)
        return "it is aligned to more than 4096 bytes";
    why = kiln__foreign_refused_type(job, LLVMGlobalGetValueType(variable));
    if (why != NULL)
        return why;
    return refused_initialiser(job, LLVMGetInitializer(variable), 0);
}

/* Nobody fills the memory of a group before the items run. */
static const char *refused_of_group(const kiln__codegen_job *job,
                                    LLVMValueRef variable)
{
    if (LLVMIsThreadLocal(variable))
        return "it is thread-local";
    if (!LLVMIsUndef(LLVMGetInitializer(variable)))
        return "it is in the memory of a group, which has no value at first; "
               "give it poison, and let the items write it and wait at a "
               "barrier";
    if (kiln__groups_is_variable(job, variable) &&
        LLVMGetAlignment(variable) > KILN__HOST_MEMORY_ALIGNMENT)
        return "a variable of a group is aligned to at most 128 bytes";
    if (LLVMGetAlignment(variable) > ALIGNMENT_MAX)
        return "it is aligned to more than 4096 bytes";
    return kiln__foreign_refused_type(job, LLVMGlobalGetValueType(variable));
}

kiln_status kiln__foreign_check_variable(kiln__codegen_job *job,
                                         LLVMValueRef variable)
{
    const char *why;

    if (kiln__foreign_is_site(job, variable))
        return KILN_OK; /* foreign_sites.c checks it */
    if (LLVMIsDeclaration(variable))
        return is_target_constant(job, variable)
                   ? KILN_OK
                   : refuse_variable(
                         job, variable,
                         "it is not defined; host objects are named as "
                         "sites");
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(variable)) ==
        KILN__SHARED_SPACE) {
        why = refused_of_group(job, variable);
        return why == NULL ? KILN_OK : refuse_variable(job, variable, why);
    }
    if (!LLVMIsThreadLocal(variable) &&
        !LLVMIsExternallyInitialized(variable) && is_only_read(variable, 0))
        LLVMSetGlobalConstant(variable, 1);
    why = refused_definition(job, variable);
    return why == NULL ? KILN_OK : refuse_variable(job, variable, why);
}

/* ---- after the passes ---- */

enum { IN_CONSTANTS = 2 };

/* Returns the constant in whose value the address is, or NULL. */
static LLVMValueRef table_of(LLVMValueRef address)
{
    for (LLVMUseRef use = LLVMGetFirstUse(address); use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAGlobalVariable(user) != NULL)
            return LLVMGetFirstUse(user) != NULL ? user : NULL;
        user = LLVMIsAConstant(user) != NULL ? table_of(user) : NULL;
        if (user != NULL)
            return user;
    }
    return NULL;
}

/* Returns ", which function 'NAME' reads" for a function that does, or "". */
static const char *reader_of(kiln__codegen_job *job, LLVMValueRef value)
{
    const char *text = "";

    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL && *text == '\0';
         use = LLVMGetNextUse(use)) {
        const LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAInstruction(user) != NULL)
            text = kiln__arena_format(
                &job->arena, ", which function '%s' reads",
                kiln__plain_name(job, LLVMGetBasicBlockParent(
                                          LLVMGetInstructionParent(user))));
        else if (LLVMIsAConstant(user) != NULL)
            text = reader_of(job, user);
        if (text == NULL)
            return "";
    }
    return text;
}

/* Constants move to memory that no generic pointer points to, unless they are
   there already: so code has to say which constant it reads. */
kiln_status kiln__foreign_check_tables(kiln__codegen_job *job)
{
    const kiln__foreign_rules *rules = job->backend->foreign;
    LLVMValueRef at, table;

    if (rules->neutral_spaces[0] == 0)
        return KILN_OK;
    for (at = LLVMGetFirstGlobal(job->module); at != NULL;
         at = LLVMGetNextGlobal(at)) {
        table = LLVMIsGlobalConstant(at) && !LLVMIsDeclaration(at) &&
                        LLVMGetPointerAddressSpace(LLVMTypeOf(at)) !=
                            rules->named_spaces[IN_CONSTANTS]
                    ? table_of(at)
                    : NULL;
        if (table != NULL)
            return kiln__job_fail(
                job, KILN_EUNSUPPORTED,
                "constant '%s' of the module is used by its address, in the "
                "value of '%s'%s; on backend '%s' constants can only be read",
                kiln__plain_name(job, at), kiln__plain_name(job, table),
                reader_of(job, table), job->settings->backend);
    }
    return KILN_OK;
}
