/* device_codegen.c - kernels for devices: ids, and the function around an
   item. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/codegen/device_codegen.h"

#include <stdarg.h>
#include <string.h>

#include "abi/facts_abi.h"
#include "base/error.h"
#include "codegen/module/codegen_values.h"
#include "ir/ir.h"

/* ---- helpers ---- */

LLVMValueRef kiln__device_intrinsic(kiln__codegen_job *job,
                                    LLVMBuilderRef builder, const char *name,
                                    LLVMValueRef *arguments, unsigned count)
{
    (void)job;
    return kiln__call_intrinsic(builder, name, NULL, arguments, count);
}

LLVMValueRef kiln__device_range(kiln__codegen_job *job, LLVMBuilderRef builder,
                                LLVMValueRef value, uint32_t least,
                                uint32_t end)
{
    const LLVMTypeRef type = LLVMTypeOf(value);
    LLVMMetadataRef range[2] = {
        LLVMValueAsMetadata(LLVMConstInt(type, least, 0)),
        LLVMValueAsMetadata(LLVMConstInt(type, end, 0))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(job->context, range, 2);

    if (end - least == 1)
        return kiln__job_number64(job, least);
    LLVMSetMetadata(value, LLVMGetMDKindIDInContext(job->context, "range", 5),
                    LLVMMetadataAsValue(job->context, node));
    return LLVMBuildZExt(builder, value, kiln__job_i64(job), "");
}

static void add_attribute(const kiln__codegen_job *job, LLVMValueRef function,
                          LLVMAttributeIndex at, const char *name,
                          uint64_t value)
{
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMAddAttributeAtIndex(function, at,
                            LLVMCreateEnumAttribute(job->context, kind, value));
}

void kiln__device_attribute(const kiln__codegen_job *job, LLVMValueRef function,
                            const char *name)
{
    add_attribute(job, function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                  name, 0);
}

void kiln__device_text_attribute(kiln__codegen_job *job, LLVMValueRef function,
                                 const char *name, const char *format, ...)
{
    va_list arguments;
    const char *value;

    va_start(arguments, format);
    value = kiln__arena_vformat(&job->arena, format, arguments);
    va_end(arguments);
    if (value == NULL) {
        (void)kiln__job_fail(job, KILN_ENOMEM, "out of memory");
        return;
    }
    LLVMAddAttributeAtIndex(
        function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(job->context, name, (unsigned)strlen(name),
                                  value, (unsigned)strlen(value)));
}

/* ---- ids ---- */

LLVMValueRef kiln__device_multiply(LLVMBuilderRef builder, LLVMValueRef a,
                                   LLVMValueRef b)
{
    const LLVMValueRef product = LLVMBuildNSWMul(builder, a, b, "");

    if (LLVMIsAInstruction(product))
        LLVMSetNUW(product, 1);
    return product;
}

LLVMValueRef kiln__device_add(LLVMBuilderRef builder, LLVMValueRef a,
                              LLVMValueRef b)
{
    const LLVMValueRef sum = LLVMBuildNSWAdd(builder, a, b, "");

    if (LLVMIsAInstruction(sum))
        LLVMSetNUW(sum, 1);
    return sum;
}

LLVMValueRef kiln__device_group_size(kiln__codegen_job *job,
                                     LLVMBuilderRef builder, uint32_t dimension)
{
    const uint32_t required = job->settings->required_group_size[dimension];

    return required != 0
               ? kiln__job_number64(job, required)
               : kiln__hardware(job)->group_size(job, builder, dimension);
}

LLVMValueRef kiln__device_item_number(kiln__codegen_job *job,
                                      LLVMBuilderRef builder)
{
    const kiln__device_hardware *hardware = kiln__hardware(job);
    LLVMValueRef id = hardware->local_id(job, builder, 2);

    for (uint32_t d = 2; d-- > 0;) {
        id = kiln__device_multiply(builder, id,
                                   kiln__device_group_size(job, builder, d));
        id = kiln__device_add(builder, id, hardware->local_id(job, builder, d));
    }
    return id;
}

LLVMValueRef kiln__device_global_id(kiln__codegen_job *job,
                                    LLVMBuilderRef builder, uint32_t d)
{
    const kiln__device_hardware *hardware = kiln__hardware(job);

    return kiln__device_add(
        builder,
        kiln__device_multiply(builder, hardware->group_id(job, builder, d),
                              kiln__device_group_size(job, builder, d)),
        hardware->local_id(job, builder, d));
}

static LLVMValueRef sub_group_id(kiln__codegen_job *job, LLVMBuilderRef builder)
{
    const kiln__device_hardware *hardware = kiln__hardware(job);

    if (hardware->sub_group != NULL)
        return hardware->sub_group(job, builder);
    return LLVMBuildUDiv(builder, kiln__device_item_number(job, builder),
                         hardware->lanes(job, builder), "");
}

static LLVMValueRef build_query(kiln__codegen_job *job, LLVMBuilderRef builder,
                                LLVMValueRef item, uint32_t query, uint32_t d)
{
    const kiln__device_hardware *hardware = kiln__hardware(job);

    switch (query) {
    case KILN__QUERY_GLOBAL_ID:
        return kiln__device_global_id(job, builder, d);
    case KILN__QUERY_LOCAL_ID:
        return hardware->local_id(job, builder, d);
    case KILN__QUERY_GROUP_ID:
        return hardware->group_id(job, builder, d);
    case KILN__QUERY_GLOBAL_SIZE:
        return kiln__device_grid(job, builder, item, d);
    case KILN__QUERY_LOCAL_SIZE:
        return kiln__device_group_size(job, builder, d);
    case KILN__QUERY_GROUP_COUNT:
        return hardware->group_count(job, builder, d);
    case KILN__QUERY_SUB_GROUP_ID:
        return sub_group_id(job, builder);
    case KILN__QUERY_SUB_GROUP_SIZE:
        return hardware->lanes(job, builder);
    default:
        return hardware->lane(job, builder);
    }
}

LLVMValueRef kiln__device_query(kiln__codegen_job *job, LLVMBuilderRef builder,
                                LLVMValueRef item, uint32_t query, uint32_t d)
{
    LLVMValueRef small =
        job->is_known ? kiln__device_small_query(job, builder, query, d) : NULL;

    return small != NULL ? small : build_query(job, builder, item, query, d);
}

/* ---- the kernel ---- */

/* Elements of arrays that are arguments are in the device's memory. */
#define GLOBAL_SPACE 1u

#define WORDS_MAX (1 + 2 * KILN_RANK_MAX)

typedef struct wrapper {
    kiln__codegen_job *job;
    const char *name;  /* of the entry */
    LLVMValueRef body; /* an item's function */
    int can_fail;
    LLVMBuilderRef builder;
    LLVMTypeRef *types; /* of the kernel's parameters */
    unsigned type_count;
    unsigned hidden; /* number of the first hidden one */
    LLVMValueRef kernel;
    LLVMValueRef *values; /* arguments for the item function */
    unsigned value_count;
    unsigned at; /* number of the kernel's next parameter */
} wrapper;

/* True for a size that is known to be small: its low half is enough. */
static int is_small_size(const wrapper *w, const kiln__parameter *parameter,
                         size_t word)
{
    return w->job->is_known && word <= parameter->rank;
}

static void add_types(wrapper *w, const kiln__parameter *parameter)
{
    const LLVMContextRef context = w->job->context;
    const size_t words = kiln__parameter_words(parameter);
    LLVMTypeRef first = LLVMPointerTypeInContext(context, GLOBAL_SPACE);

    if (words == 0)
        return;
    if (parameter->passing == KILN__PARAMETER_BYTES)
        first = kiln__job_bytes_pointer(w->job);
    else if (parameter->passing == KILN__PARAMETER_SCALAR)
        first = parameter->kind == KILN_TYPE_BOOL
                    ? LLVMInt8TypeInContext(context)
                    : kiln__job_scalar(w->job, parameter->kind);
    w->types[w->type_count++] = first;
    for (size_t i = 1; i < words; i++) {
        const int is_small = is_small_size(w, parameter, i);

        w->types[w->type_count++] =
            is_small ? kiln__job_i32(w->job) : kiln__job_i64(w->job);
        if (is_small && !kiln__hardware(w->job)->sets_each_argument)
            w->types[w->type_count++] = kiln__job_i32(w->job);
    }
}

static kiln_status make_room(wrapper *w)
{
    kiln__codegen_job *job = w->job;
    size_t count = 2 + KILN__HIDDEN_MOST + KILN__CUT_SIZES;

    for (size_t i = 0; i < job->parameter_count; i++)
        count += 2 * kiln__parameter_words(&job->parameters[i]);
    w->types = kiln__arena_allocate_array(&job->arena, count, sizeof *w->types);
    w->values =
        kiln__arena_allocate_array(&job->arena, count, sizeof *w->values);
    if (w->types == NULL || w->values == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    return KILN_OK;
}

/* Describes an aggregate, whose bytes are the parameter itself. */
static void describe_aggregate(const wrapper *w, unsigned at,
                               const kiln__parameter *parameter)
{
    const LLVMContextRef context = w->job->context;
    const char *name = kiln__hardware(w->job)->aggregate;
    const LLVMTypeRef bytes =
        LLVMArrayType2(LLVMInt8TypeInContext(context), parameter->size);

    LLVMAddAttributeAtIndex(
        w->kernel, at + 1,
        LLVMCreateTypeAttribute(
            context, LLVMGetEnumAttributeKindForName(name, strlen(name)),
            bytes));
    add_attribute(w->job, w->kernel, at + 1, "align", parameter->alignment);
}

/* Returns a size or a stride of an array. */
static LLVMValueRef pass_word(wrapper *w, const kiln__parameter *parameter,
                              size_t word)
{
    const unsigned at = w->at;

    w->at++;
    if (!is_small_size(w, parameter, word))
        return LLVMGetParam(w->kernel, at);
    w->at += !kiln__hardware(w->job)->sets_each_argument; /* the high half */
    kiln__llvm_is_below(w->kernel, at, KILN__SMALL_MOST + 1);
    return LLVMBuildZExt(w->builder, LLVMGetParam(w->kernel, at),
                         kiln__job_i64(w->job), "");
}

static void pass(wrapper *w, kiln__parameter *parameter)
{
    const size_t words = kiln__parameter_words(parameter);
    LLVMValueRef first;

    if (words == 0)
        return;
    first = LLVMGetParam(w->kernel, w->at);
    parameter->entry_at = w->at;
    if (parameter->passing == KILN__PARAMETER_BYTES)
        describe_aggregate(w, w->at, parameter);
    if (parameter->passing == KILN__PARAMETER_ARRAY &&
        LLVMTypeOf(first) != kiln__job_array_pointer(w->job))
        first = LLVMBuildAddrSpaceCast(w->builder, first,
                                       kiln__job_array_pointer(w->job), "");
    w->values[w->value_count++] = first;
    w->at++;
    for (size_t i = 1; i < words; i++)
        w->values[w->value_count++] = pass_word(w, parameter, i);
}

/* The variable ends where the launch says, and stands behind all others. */
static LLVMValueRef local_memory(const wrapper *w)
{
    kiln__codegen_job *job = w->job;
    LLVMValueRef variable;

    if (kiln__hardware(job)->local_is_parameter)
        return LLVMGetParam(w->kernel, w->type_count - 1);
    variable = LLVMAddGlobalInAddressSpace(
        job->module, LLVMArrayType2(LLVMInt8TypeInContext(job->context), 0),
        "kiln_dynamic", KILN__SHARED_SPACE);
    LLVMSetLinkage(variable, LLVMExternalLinkage);
    LLVMSetAlignment(variable, KILN__DYNAMIC_ALIGNMENT);
    return variable;
}

/* Returns how many hidden arguments there are without the grid's sizes. */
static uint32_t count_own(const kiln__codegen_job *job)
{
    return kiln__hidden_own(job->hidden_arguments, job->any_block);
}

/* The entry for known launches does not need the grid's sizes. It takes them
   where arguments are one block, which is the same for both entries. */
static uint32_t count_taken(const kiln__codegen_job *job)
{
    return job->is_known && kiln__hardware(job)->sets_each_argument
               ? count_own(job)
               : job->hidden_arguments;
}

/* Makes the item: the hidden arguments that code needs, or an empty one. */
static LLVMValueRef make_item(wrapper *w)
{
    const LLVMTypeRef type = kiln__device_item_type(w->job);
    const LLVMValueRef item = LLVMBuildAlloca(w->builder, type, "item");
    const uint32_t count = count_own(w->job);
    LLVMValueRef hidden[KILN__HIDDEN_MOST];

    for (uint32_t i = 0; i < count; i++)
        hidden[i] = LLVMGetParam(w->kernel, w->hidden + i);
    kiln__device_fill_item(w->job, w->builder, item, hidden, count);
    if (w->job->dynamic_local)
        kiln__device_fill_local(w->job, w->builder, item, local_memory(w));
    if (w->job->any_block && !w->job->is_known)
        kiln__device_cut(w->job, w->builder, item, w->hidden + count);
    else if (!w->job->asks_no_grid)
        kiln__device_fill_grid(w->job, w->builder, item);
    return item;
}

static void add_kernel(wrapper *w)
{
    kiln__codegen_job *job = w->job;

    w->kernel =
        LLVMAddFunction(job->module, w->name,
                        LLVMFunctionType(LLVMVoidTypeInContext(job->context),
                                         w->types, w->type_count, 0));
    LLVMSetFunctionCallConv(w->kernel, kiln__hardware(job)->kernel_convention);
    kiln__device_attribute(job, w->kernel, "nounwind");
    kiln__device_attribute(job, w->kernel, "convergent");
}

/* Records the exception if an item raised one; the builder goes on after it. */
static void record_if(wrapper *w, LLVMValueRef raised)
{
    const LLVMContextRef context = w->job->context;
    const LLVMBasicBlockRef failed =
        LLVMAppendBasicBlockInContext(context, w->kernel, "raised");
    const LLVMBasicBlockRef done =
        LLVMAppendBasicBlockInContext(context, w->kernel, "");
    const LLVMValueRef is_fine = LLVMBuildICmp(
        w->builder, LLVMIntEQ, raised, LLVMConstNull(LLVMTypeOf(raised)), "");

    LLVMBuildCondBr(w->builder, is_fine, done, failed);
    LLVMPositionBuilderAtEnd(w->builder, failed);
    kiln__device_record_item(w->job, w->builder, w->values[0]);
    LLVMBuildBr(w->builder, done);
    LLVMPositionBuilderAtEnd(w->builder, done);
}

static void fill_kernel(wrapper *w)
{
    kiln__codegen_job *job = w->job;
    LLVMValueRef raised;

    LLVMPositionBuilderAtEnd(
        w->builder, LLVMAppendBasicBlockInContext(job->context, w->kernel, ""));
    kiln__debug_wrapper(job, w->builder, w->kernel);
    w->values[w->value_count++] = make_item(w);
    if (kiln__hardware(job)->begin != NULL)
        kiln__hardware(job)->begin(job, w->builder, w->values[0]);
    for (size_t i = 0; i < job->parameter_count; i++)
        pass(w, &job->parameters[i]);
    raised = LLVMBuildCall2(w->builder, LLVMGlobalGetValueType(w->body),
                            w->body, w->values, w->value_count, "");
    if (count_own(job) > 0 && w->can_fail && !job->items_end)
        record_if(w, raised);
    LLVMBuildRetVoid(w->builder);
}

static uint32_t count_hidden(kiln__codegen_job *job)
{
    if (!job->dynamic_local && !job->uses_heap &&
        !kiln__device_has_reports(job))
        return 0;
    return kiln__hidden_count(job->uses_heap, job->dynamic_local);
}

static void add_hidden(wrapper *w)
{
    kiln__codegen_job *job = w->job;
    const LLVMTypeRef address =
        LLVMPointerTypeInContext(job->context, GLOBAL_SPACE);
    const LLVMTypeRef number = kiln__job_i64(job);
    const LLVMTypeRef types[KILN__HIDDEN_MOST] = {address, number, address,
                                                  number};
    const uint32_t own = count_own(job), taken = count_taken(job);

    w->hidden = w->type_count;
    for (uint32_t i = 0; i < taken; i++)
        w->types[w->type_count++] = i < own ? types[i] : number;
    if (job->dynamic_local && kiln__hardware(job)->local_is_parameter)
        w->types[w->type_count++] =
            LLVMPointerTypeInContext(job->context, KILN__SHARED_SPACE);
}

static kiln_status wrap(wrapper *w)
{
    kiln__codegen_job *job = w->job;

    if (w->name == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    KILN_TRY(make_room(w));
    for (size_t i = 0; i < job->parameter_count; i++)
        add_types(w, &job->parameters[i]);
    add_hidden(w);
    w->builder = LLVMCreateBuilderInContext(job->context);
    add_kernel(w);
    fill_kernel(w);
    LLVMDisposeBuilder(w->builder);
    return kiln__hardware(job)->describe(job, w->kernel);
}

/* Makes the entry for any launch. */
static kiln_status wrap_general(kiln__codegen_job *job)
{
    wrapper general = {.job = job,
                       .name = job->request->entry,
                       .body = job->item_function,
                       .can_fail = job->can_fail};

    return wrap(&general);
}

/* The same, in the checked module. */
static kiln_status wrap_checked(kiln__codegen_job *job)
{
    kiln_status status;

    kiln__job_switch(job);
    job->is_known = 0;
    status = wrap_general(job);
    job->is_known = 1;
    kiln__job_switch(job);
    return status;
}

kiln_status kiln__device_wrap(kiln__codegen_job *job)
{
    wrapper known = {
        .job = job, .body = job->safe_function, .can_fail = job->safe_can_fail};

    if (job->settings->entry_abi != KILN_ABI_KERNEL)
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "%s makes kernels only, no functions for "
                              "foreign code",
                              job->settings->backend);
    job->hidden_arguments = count_hidden(job);
    job->any_block = kiln__device_is_cut(job);
    job->hidden_arguments += kiln__hidden_sizes(job->any_block);
    if (!job->is_known)
        return wrap_general(job);
    known.name = kiln__arena_format(&job->arena, "%s" KILN__FACTS_SUFFIX,
                                    job->request->entry);
    KILN_TRY(wrap_checked(job));
    KILN_TRY(wrap(&known));
    job->known_entry = known.kernel;
    return KILN_OK;
}

const kiln__codegen_item kiln__device_items = {
    .query = kiln__device_query,
    .raise = kiln__device_raise,
    .end = kiln__device_end,
    .place_ends = kiln__device_place_ends,
    .place_ids = kiln__device_place_ids,
    .frame = kiln__device_frame,
    .print = kiln__device_print,
    .heap = kiln__device_heap,
    .local_memory = kiln__device_local_memory,
    .local_size = kiln__device_local_size,
};
