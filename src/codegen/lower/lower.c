/* lower.c - lowers typed IR to LLVM IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/group/lower_group.h"

#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/error.h"
#include "base/system/stack.h"
#include "codegen/lower/lower_job.h"
#include "codegen/lower/prove/lower_prove.h"
#include "codegen/module/codegen_stages.h"

/*
 * A request becomes internal functions, one for each function of the request,
 * and the item function, which calls the first of them (lower_item.c). The
 * internal functions take a pointer to the item and their parameters in
 * register form (lower.h). The steps are:
 *
 *   plan      decode, check, decide (lower_plan.c): all that can go wrong
 *   declare   types and signatures
 *   define    locals in the entry block, then the body; or, for a group of
 *             items that do something together, lower_group.h, and where some
 *             of them fail, lower_converge.c
 *   item      the flat signature that backends call
 *   clip      guards that the loops over items replace (lower_clip.c)
 *   prove     a test of a tile (lower_prove.h), and define and item once more
 *             without the checks that it makes superfluous
 *   facts     the same for a device, where a launch makes the test
 *             (lower_facts.c)
 */

static void add_attribute(const kiln__lowering *l, LLVMValueRef function,
                          LLVMAttributeIndex at, const char *name)
{
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMAddAttributeAtIndex(function, at,
                            LLVMCreateEnumAttribute(l->context, kind, 0));
}

static void add_attributes(const kiln__lowering *l,
                           const kiln__lower_function *f)
{
    const LLVMAttributeIndex all =
        (LLVMAttributeIndex)LLVMAttributeFunctionIndex;

    add_attribute(l, f->value, all, "nounwind");
    if (l->job->backend->device != NULL && (f->effects & KILN__CONVERGENT) != 0)
        add_attribute(l, f->value, all, "convergent");
    /* Bitcode of a runtime function gets no such attribute: the kernel that
       links it decides how it is inlined. */
    if (l->job->request->form != KILN__EMIT_FUNCTION)
        add_attribute(l, f->value, all,
                      f->recursive ? "noinline"
                      : f->inlined ? "alwaysinline"
                                   : "inlinehint");
    add_attribute(l, f->value, 1, "nonnull");
    add_attribute(l, f->value, 1, "noundef");
}

/* True for a collective function: its code is emitted at each call. */
static int is_in_place(const kiln__lowering *l, const kiln__lower_function *f)
{
    return f->collective && f != &l->functions[0];
}

/* True when the module has the runtime function already. Unlike others it is
   made once in a module, whatever is proved, under the name that bitcode
   defines or calls it by. Linking makes it internal. */
static int is_made(const kiln__lowering *l, const kiln__lower_function *f)
{
    return f->source->runtime != NULL && f->value != NULL &&
           LLVMGetGlobalParent(f->value) == l->job->module;
}

/* Declares the function, unless the module has it. Its name in the module has a
   suffix, so it can be neither the entry's nor that of a function of C. */
static kiln_status declare(kiln__lowering *l, kiln__lower_function *f,
                           const char *suffix)
{
    kiln__arena *arena = &l->job->arena;
    const size_t count = (size_t)f->ir.parameter_count + 1;
    LLVMTypeRef *parameters =
        kiln__arena_allocate_array(arena, count, sizeof(LLVMTypeRef));
    const char *name =
        f->source->runtime != NULL
            ? f->source->runtime
            : kiln__arena_format(arena, "%s.%s", f->source->symbol, suffix);
    kiln_status status = is_made(l, f) ? KILN_OK : kiln__lower_types(l, f);

    if (status != KILN_OK || is_made(l, f))
        return status;
    if (parameters == NULL || name == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    if (is_in_place(l, f))
        return KILN_OK;
    parameters[0] = kiln__job_item_pointer(l->job);
    for (size_t i = 0; i < f->ir.parameter_count; i++)
        parameters[1 + i] = f->types[f->ir.locals.items[i].type].registers;
    f->signature = LLVMFunctionType(kiln__lower_result(l, f), parameters,
                                    (unsigned)count, 0);
    f->value = LLVMAddFunction(l->job->module, name, f->signature);
    if (f->source->runtime == NULL)
        LLVMSetLinkage(f->value, LLVMInternalLinkage);
    add_attributes(l, f);
    f->subprogram = kiln__debug_function(l->job, f->value, f->source);
    return KILN_OK;
}

/* Marks parameters that nothing sets: they need no memory. */
static void find_fixed(kiln__lowering *l)
{
    memset(l->fixed, 1, l->ir->parameter_count);
    for (size_t i = 1; i < l->ir->nodes.count; i++) {
        const kiln__ir_node *node = &l->ir->nodes.items[i];

        if (node->op == KILN__IR_SET || node->op == KILN__IR_FOR)
            l->fixed[node->imm] = 0;
    }
}

static void make_local(kiln__lowering *l, uint32_t index)
{
    const uint32_t type = l->ir->locals.items[index].type;

    if (kiln__ir_type_is_empty(l->ir, type))
        l->locals[index] = NULL;
    else if (l->fixed[index])
        l->locals[index] = LLVMGetParam(l->f->value, index + 1);
    else
        l->locals[index] =
            LLVMBuildAlloca(l->builder, kiln__lower_type_of(l, type), "");
}

/*
 * Returns the first value of a local. Locals begin as zeros: a function that
 * reads one before setting it is wrong, but does the same thing each time. LLVM
 * drops zeros that are not read. A device's array begins with no elements at an
 * undefined address: where the paths of failed items join those of others, LLVM
 * then sees that the array is always the others'.
 */
static LLVMValueRef first_of(kiln__lowering *l, uint32_t type)
{
    const LLVMTypeRef wanted = kiln__lower_type_of(l, type);

    if (l->job->backend->device == NULL ||
        kiln__ir_type_at(l->ir, type)->kind != KILN_TYPE_ARRAY)
        return LLVMConstNull(wanted);
    return LLVMBuildInsertValue(l->builder, LLVMConstNull(wanted),
                                LLVMGetUndef(kiln__job_array_pointer(l->job)),
                                0, "");
}

static void begin_local(kiln__lowering *l, uint32_t index)
{
    const uint32_t type = l->ir->locals.items[index].type;

    if (l->locals[index] == NULL || l->fixed[index])
        return;
    LLVMBuildStore(l->builder,
                   index < l->ir->parameter_count
                       ? LLVMGetParam(l->f->value, index + 1)
                       : first_of(l, type),
                   l->locals[index]);
}

/* Describes a local for a debugger, if it is in memory. */
static void describe_local(kiln__lowering *l, uint32_t index)
{
    const kiln__ir_local *local = &l->ir->locals.items[index];
    const kiln__debug_local described = {
        local->name, kiln__ir_kind(l->ir, local->type), l->locals[index]};

    if (l->locals[index] != NULL && !l->fixed[index])
        kiln__debug_variable(l->job, l->builder, l->f->subprogram, l->f->source,
                             &described);
}

static void make_locals(kiln__lowering *l)
{
    find_fixed(l);
    for (uint32_t i = 0; i < l->ir->locals.count; i++)
        make_local(l, i);
    for (uint32_t i = 0; l->f->subprogram != NULL && i < l->ir->locals.count;
         i++)
        describe_local(l, i);
    for (uint32_t i = 0; i < l->ir->locals.count; i++)
        begin_local(l, i);
}

static kiln_status define_body(kiln__lowering *l, kiln__lower_function *f)
{
    if (is_in_place(l, f) || f->source->bitcode != NULL)
        return KILN_OK;
    if (f->value != NULL && LLVMCountBasicBlocks(f->value) > 0)
        return KILN_OK;
    if (f->collective)
        return kiln__group_define(l, f);
    l->f = f;
    l->ir = &f->ir;
    l->loop = NULL;
    l->waiting = (kiln__lower_waiting){NULL, NULL};
    l->item = LLVMGetParam(f->value, 0);
    l->locals = kiln__arena_allocate_array(&l->job->arena, f->ir.locals.count,
                                           sizeof *l->locals);
    l->fixed = kiln__arena_allocate(&l->job->arena, f->ir.locals.count);
    if (l->locals == NULL || l->fixed == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    LLVMPositionBuilderAtEnd(l->builder, kiln__lower_block(l));
    kiln__lower_begin(l);
    kiln__lower_guard(l);
    make_locals(l);
    kiln__lower_part(l);
    kiln__lower_statement(l, f->ir.body);
    if (!kiln__lower_is_done(l))
        kiln__lower_return(l,
                           LLVMConstNull(kiln__lower_type_of(l, f->ir.result)));
    kiln__lower_end_waiting(l);
    return l->no_memory ? kiln__job_fail(l->job, KILN_ENOMEM, "out of memory")
                        : l->job->status;
}

/* A runtime function is what its bitcode would be, whatever is known of the
   launch. */
static kiln_status define(kiln__lowering *l, kiln__lower_function *f)
{
    const int is_known = l->job->is_known;
    kiln_status status;

    l->job->is_known = is_known && f->source->runtime == NULL;
    status = define_body(l, f);
    l->job->is_known = is_known;
    return status;
}

/* ---- the whole request ---- */

/* Returns branch weights for a branch whose first successor is hardly ever
   taken. */
static LLVMValueRef cold_weights(LLVMContextRef context)
{
    const LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
    LLVMMetadataRef operands[3] = {
        LLVMMDStringInContext2(context, "branch_weights", 14),
        LLVMValueAsMetadata(LLVMConstInt(i32, 1, 0)),
        LLVMValueAsMetadata(LLVMConstInt(i32, (1u << 20) - 1, 0)),
    };

    return LLVMMetadataAsValue(context,
                               LLVMMDNodeInContext2(context, operands, 3));
}

static void begin_lowering(kiln__lowering *l, kiln__codegen_job *job)
{
    *l = (kiln__lowering){
        .job = job,
        .context = job->context,
        .builder = LLVMCreateBuilderInContext(job->context),
        .count = job->request->function_count,
        .empty = LLVMStructTypeInContext(job->context, NULL, 0, 0),
        .i64 = kiln__job_i64(job),
        .prof_kind = LLVMGetMDKindIDInContext(job->context, "prof", 4),
        .loop_kind = LLVMGetMDKindIDInContext(job->context, "llvm.loop", 9),
        .cold = cold_weights(job->context),
    };
    l->functions =
        kiln__arena_allocate_array(&job->arena, l->count, sizeof *l->functions);
    for (size_t i = 0; l->functions != NULL && i < l->count; i++)
        l->functions[i].source = &job->request->functions[i];
}

static void end(kiln__lowering *l)
{
    for (size_t i = 0; l->functions != NULL && i < l->count; i++)
        if (l->functions[i].decoded)
            kiln__ir_dispose(&l->functions[i].ir);
    if (l->uniform != NULL)
        kiln__uniform_dispose(l->uniform);
    LLVMDisposeBuilder(l->builder);
}

/* Links what other frontends made of functions of the request, which code of
   the next steps calls. It may call functions of the language in turn. */
static kiln_status link_externals(kiln__lowering *l)
{
    const kiln_status status = kiln__link_externals(l->job);

    return status == KILN_OK ? kiln__called_check(l) : status;
}

static kiln_status declare_all(kiln__lowering *l, const char *suffix)
{
    kiln_status status = link_externals(l);

    for (size_t i = 0; status == KILN_OK && i < l->count; i++)
        status = declare(l, &l->functions[i], suffix);
    return status;
}

static kiln_status define_all(kiln__lowering *l)
{
    kiln_status status = KILN_OK;

    for (size_t i = 0; status == KILN_OK && i < l->count; i++)
        status = define(l, &l->functions[i]);
    LLVMSetCurrentDebugLocation2(l->builder, NULL);
    return status == KILN_OK ? kiln__called_define(l) : status;
}

/* ---- the body without what a proof makes superfluous ---- */

static int wants_tiles(const kiln__lowering *l)
{
    return l->job->backend->runs_tiles && l->job->settings->opt_level > 0;
}

/* A kernel for a whole group has what its loops sum up in registers or in the
   group's memory. */
static int wants_sums(const kiln__lowering *l)
{
    return wants_tiles(l) && l->job->settings->opt_level >= 2 &&
           !l->functions[0].collective && !l->functions[0].recursive;
}

static int wants_proof(const kiln__lowering *l)
{
    return l->job->can_fail || l->sums.count > 0;
}

/* Lets the loops over items replace the entry's guards where they can. An entry
   for a whole group contains these loops itself and is left as it is. */
static kiln_status clip(kiln__lowering *l)
{
    LLVMMetadataRef subprogram;
    kiln_status status;

    l->f = &l->functions[0];
    l->ir = &l->f->ir;
    if (l->f->collective)
        return KILN_OK;
    subprogram = l->f->subprogram; /* code of the clip function has no lines */
    l->f->subprogram = NULL;
    status = kiln__lower_clip(l);
    l->f->subprogram = subprogram;
    return status;
}

/* Adds the checked module, for the same target as the job's own. */
static void add_module(kiln__codegen_job *job)
{
    const LLVMModuleRef module =
        LLVMModuleCreateWithNameInContext(job->request->entry, job->context);

    LLVMSetTarget(module, LLVMGetTarget(job->module));
    LLVMSetDataLayout(module, LLVMGetDataLayoutStr(job->module));
    job->checked_module = module;
}

/* Removes the checked module: there is no proof, so one body does
   everything. */
static void remove_module(kiln__lowering *l)
{
    LLVMDisposeModule(l->job->checked_module);
    l->job->checked_module = NULL;
    l->job->clip_function = NULL;
    l->functions[0].known = NULL;
}

/* Makes the proof and the clip function, in a module for the second body. If
   there is a proof, the body that exists stays in its module, which becomes the
   checked one. */
static kiln_status prove(kiln__lowering *l)
{
    kiln_status status;

    add_module(l->job);
    kiln__job_switch(l->job);
    status = clip(l);
    if (status == KILN_OK)
        status = kiln__lower_prove(l);
    if (l->job->proof_function != NULL)
        return status;
    kiln__job_switch(l->job);
    remove_module(l);
    return status;
}

/* Makes the second body, without the checks that the proof makes
   superfluous. */
static kiln_status lower_again(kiln__lowering *l)
{
    const uint32_t private_bytes = l->job->private_bytes;
    kiln_status status = prove(l);

    if (status != KILN_OK || l->job->proof_function == NULL)
        return status;
    kiln__lower_find_failures(l);
    l->sums.are_in_use = l->sums.count > 0 && !l->functions[0].can_fail;
    l->job->private_bytes = 0; /* of one body or the other, not of both */
    status = declare_all(l, "safe.fn");
    if (status == KILN_OK)
        status = define_all(l);
    if (status == KILN_OK)
        status = kiln__lower_item(l, "safe.item", &l->job->safe_function);
    l->job->safe_can_fail = l->functions[0].can_fail;
    if (l->job->private_bytes < private_bytes)
        l->job->private_bytes = private_bytes;
    return status;
}

/* ---- the body for launches of which facts hold ---- */

static int has_arrays(const kiln__codegen_job *job)
{
    for (size_t i = 0; i < job->parameter_count; i++)
        if (job->parameters[i].passing == KILN__PARAMETER_ARRAY)
            return 1;
    return 0;
}

/* Arrays of the heap may be large, whatever a launch knows. */
static int wants_facts(const kiln__lowering *l)
{
    const kiln__codegen_job *job = l->job;

    return job->backend->device != NULL && job->backend->device->has_facts &&
           job->settings->opt_level >= 2 &&
           job->settings->debug_level != KILN_DEBUG_FULL &&
           job->settings->entry_abi == KILN_ABI_KERNEL && !job->uses_heap &&
           has_arrays(job);
}

/* Makes the second body in a module of its own, which becomes the job's; the
   first one's becomes the checked module. */
static kiln_status lower_known(kiln__lowering *l)
{
    KILN_TRY(kiln__lower_facts(l));
    if (l->job->facts == NULL)
        return KILN_OK;
    add_module(l->job);
    kiln__job_switch(l->job);
    l->job->is_known = 1;
    l->job->static_local_bytes = 0; /* of one body or the other, too */
    kiln__lower_find_failures(l);
    kiln__lower_find_flags(l);
    KILN_TRY(declare_all(l, "known.fn"));
    KILN_TRY(define_all(l));
    KILN_TRY(kiln__lower_item(l, "known.item", &l->job->safe_function));
    l->job->safe_can_fail = l->functions[0].can_fail;
    return KILN_OK;
}

static kiln_status lower_alone(kiln__lowering *l)
{
    kiln_status status;

    if (l->functions == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    if (l->count == 0 || l->functions[0].source->runtime == NULL)
        return kiln__job_fail(l->job, KILN_EINVAL, "there is nothing to lower");
    status = kiln__lower_plan(l);
    for (size_t i = 0; status == KILN_OK && i < l->count; i++)
        status = declare(l, &l->functions[i], "fn");
    return status == KILN_OK ? define(l, &l->functions[0]) : status;
}

kiln_status kiln__lower_runtime_function(kiln__codegen_job *job)
{
    kiln__lowering lowering;
    kiln_status status;

    begin_lowering(&lowering, job);
    status = lower_alone(&lowering);
    end(&lowering);
    return status;
}

static kiln_status lower(kiln__lowering *l)
{
    kiln_status status;

    if (l->functions == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    if (l->count == 0)
        return kiln__job_fail(l->job, KILN_EINVAL, "there is nothing to lower");
    status = kiln__lower_plan(l);
    kiln__lower_find_cuts(l);
    if (status == KILN_OK && l->job->backend->groups != NULL &&
        l->job->asks_no_group && l->job->settings->opt_level >= 2)
        kiln__lower_find_inner(l);
    if (status == KILN_OK && l->job->backend->groups != NULL)
        status = kiln__group_prepare(l);
    if (status == KILN_OK && l->job->backend->device != NULL &&
        l->job->backend->device->converge != NULL)
        status = kiln__lower_plan_convergence(l);
    kiln__lower_find_flags(l);
    if (status == KILN_OK)
        status = declare_all(l, "fn");
    if (status == KILN_OK)
        status = kiln__lower_parameters(l);
    l->job->can_fail = l->functions[0].can_fail;
    l->job->uses_heap = (l->functions[0].effects & KILN__HEAPS) != 0;
    if (status == KILN_OK && wants_sums(l))
        status = kiln__lower_find_sums(l);
    if (status == KILN_OK && wants_tiles(l) && !wants_proof(l))
        status = clip(l);
    if (status == KILN_OK)
        status = define_all(l);
    if (status == KILN_OK)
        status = kiln__lower_item(l, "item", &l->job->item_function);
    if (status == KILN_OK && wants_tiles(l) && wants_proof(l))
        status = lower_again(l);
    return status == KILN_OK && wants_facts(l) ? lower_known(l) : status;
}

kiln_status kiln__lower(kiln__codegen_job *job)
{
    kiln__lowering lowering;
    kiln_status status;

    begin_lowering(&lowering, job);
    status = lower(&lowering);
    end(&lowering);
    return status;
}

static kiln_status lower_called(kiln__lowering *l)
{
    kiln_status status;

    if (l->functions == NULL)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    status = kiln__lower_plan(l);
    if (status == KILN_OK)
        status = declare_all(l, "fn");
    return status == KILN_OK ? define_all(l) : status;
}

kiln_status kiln__lower_called(kiln__codegen_job *job)
{
    kiln__lowering lowering;
    kiln_status status;

    if (!kiln__called_any(job))
        return KILN_OK;
    begin_lowering(&lowering, job);
    status = lower_called(&lowering);
    end(&lowering);
    return status;
}
