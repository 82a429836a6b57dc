/* host_codegen.c - the host's codegen half: queries, exceptions, printing. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "backends/host/codegen/host_codegen.h"
#include "base/error.h"
#include "codegen/elf/elf.h"
#include "codegen/module/codegen_values.h"
#include "ir/ir.h"
#include "kiln/type.h"

/*
 * Code reaches its item through a pointer to kiln__host_item, which the kernel
 * has on its stack. When everything is inlined, the item has no address any
 * more, and an id is the counter of a loop. That is why even an exception gets
 * the ids as values: nothing here lets the item's address escape.
 *
 * Members are addressed by byte offsets, so the C structs of host_abi.h are
 * their only description.
 */

#define ID(member, d) \
    (offsetof(struct kiln__host_item, member) + 8 * (uint64_t)(d))
#define OF_LAUNCH(member, d) \
    (offsetof(struct kiln__host_launch_state, member) + 8 * (uint64_t)(d))

_Static_assert(sizeof(void *) == 8, "members of launch and item are 64 bits");

static LLVMTypeRef pointer_of(const kiln__codegen_job *job)
{
    return LLVMPointerTypeInContext(job->context, 0);
}

/* ---- members ---- */

LLVMValueRef kiln__host_member(const kiln__codegen_job *job,
                               LLVMBuilderRef builder, LLVMValueRef base,
                               uint64_t offset)
{
    LLVMValueRef index = kiln__job_number64(job, offset);

    if (offset == 0)
        return base;
    return LLVMBuildInBoundsGEP2(builder, LLVMInt8TypeInContext(job->context),
                                 base, &index, 1, "");
}

LLVMValueRef kiln__host_exact(LLVMValueRef value)
{
    if (LLVMIsAInstruction(value)) {
        LLVMSetNUW(value, 1);
        LLVMSetNSW(value, 1);
    }
    return value;
}

static void set_metadata(const kiln__codegen_job *job, LLVMValueRef load,
                         const char *kind, LLVMMetadataRef *values,
                         size_t count)
{
    LLVMMetadataRef node = LLVMMDNodeInContext2(job->context, values, count);

    LLVMSetMetadata(
        load,
        LLVMGetMDKindIDInContext(job->context, kind, (unsigned)strlen(kind)),
        LLVMMetadataAsValue(job->context, node));
}

void kiln__host_mark_invariant(const kiln__codegen_job *job, LLVMValueRef load)
{
    set_metadata(job, load, "invariant.load", NULL, 0);
    set_metadata(job, load, "noundef", NULL, 0);
}

/* Loads a member that is `least` or greater, and less than `end`. */
static LLVMValueRef load_between(const kiln__codegen_job *job,
                                 LLVMBuilderRef builder, LLVMValueRef address,
                                 uint64_t least, uint64_t end)
{
    LLVMValueRef load =
        LLVMBuildLoad2(builder, kiln__job_i64(job), address, "");
    LLVMMetadataRef range[] = {
        LLVMValueAsMetadata(kiln__job_number64(job, least)),
        LLVMValueAsMetadata(kiln__job_number64(job, end)),
    };

    kiln__host_mark_invariant(job, load);
    set_metadata(job, load, "range", range, 2);
    return load;
}

LLVMValueRef kiln__host_constant(const kiln__codegen_job *job,
                                 LLVMBuilderRef builder, LLVMValueRef base,
                                 uint64_t offset, uint64_t least)
{
    return load_between(job, builder,
                        kiln__host_member(job, builder, base, offset), least,
                        (uint64_t)1 << 63);
}

/* No launch has a group of more than INT32_MAX items (launch.c). So a local id
   that a kernel keeps as an int is the loop's counter. */
LLVMValueRef kiln__host_group_size(const kiln__codegen_job *job,
                                   LLVMBuilderRef builder, LLVMValueRef launch,
                                   uint32_t dimension)
{
    const uint32_t required = job->settings->required_group_size[dimension];

    if (required != 0)
        return kiln__job_number64(job, required);
    return load_between(
        job, builder,
        kiln__host_member(job, builder, launch, OF_LAUNCH(block, dimension)), 1,
        (uint64_t)1 << 31);
}

void kiln__host_attribute(const kiln__codegen_job *job, LLVMValueRef function,
                          int index, const char *name)
{
    const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));

    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)index,
                            LLVMCreateEnumAttribute(job->context, kind, 0));
}

static LLVMValueRef load_id(const kiln__codegen_job *job,
                            LLVMBuilderRef builder, LLVMValueRef item,
                            uint64_t offset)
{
    return LLVMBuildLoad2(builder, kiln__job_i64(job),
                          kiln__host_member(job, builder, item, offset), "");
}

static LLVMValueRef load_launch(const kiln__codegen_job *job,
                                LLVMBuilderRef builder, LLVMValueRef item)
{
    LLVMValueRef place = kiln__host_member(
        job, builder, item, offsetof(struct kiln__host_item, launch));

    return LLVMBuildLoad2(builder, pointer_of(job), place, "");
}

/* ---- dynamic group memory ---- */

static LLVMValueRef of_launch(kiln__codegen_job *job, LLVMBuilderRef builder,
                              LLVMValueRef item, uint64_t offset)
{
    LLVMValueRef launch = load_launch(job, builder, item);

    return kiln__host_constant(job, builder, launch, offset, 0);
}

static LLVMValueRef local_memory(kiln__codegen_job *job, LLVMBuilderRef builder,
                                 LLVMValueRef item)
{
    LLVMValueRef offset =
        of_launch(job, builder, item,
                  offsetof(struct kiln__host_launch_state, local_offset));
    LLVMValueRef start = LLVMBuildInBoundsGEP2(
        builder, LLVMInt8TypeInContext(job->context),
        kiln__host_groups.memory(job, builder, item), &offset, 1, "");

    return LLVMBuildAddrSpaceCast(
        builder, start,
        LLVMPointerTypeInContext(job->context, KILN__SHARED_SPACE), "");
}

static LLVMValueRef local_size(kiln__codegen_job *job, LLVMBuilderRef builder,
                               LLVMValueRef item)
{
    return of_launch(job, builder, item,
                     offsetof(struct kiln__host_launch_state, local_bytes));
}

/* ---- queries ---- */

/* Returns the number of the item in its group, dimension 0 fastest. */
static LLVMValueRef linear_local_id(const kiln__codegen_job *job,
                                    LLVMBuilderRef builder, LLVMValueRef item)
{
    LLVMValueRef launch = load_launch(job, builder, item);
    LLVMValueRef id = load_id(job, builder, item, ID(local_id, 2));

    for (uint32_t d = 2; d-- > 0;) {
        id = LLVMBuildMul(builder, id,
                          kiln__host_group_size(job, builder, launch, d), "");
        id = LLVMBuildAdd(builder, id,
                          load_id(job, builder, item, ID(local_id, d)), "");
    }
    return id;
}

static LLVMValueRef query(kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMValueRef item, uint32_t which, uint32_t dimension)
{
    switch (which) {
    case KILN__QUERY_GLOBAL_ID:
        return load_id(job, builder, item, ID(global_id, dimension));
    case KILN__QUERY_LOCAL_ID:
        return load_id(job, builder, item, ID(local_id, dimension));
    case KILN__QUERY_GROUP_ID:
        return load_id(job, builder, item, ID(group_id, dimension));
    case KILN__QUERY_GLOBAL_SIZE:
        return kiln__host_constant(job, builder,
                                   load_launch(job, builder, item),
                                   OF_LAUNCH(grid, dimension), 1);
    case KILN__QUERY_LOCAL_SIZE:
        return kiln__host_group_size(
            job, builder, load_launch(job, builder, item), dimension);
    case KILN__QUERY_GROUP_COUNT:
        return kiln__host_constant(job, builder,
                                   load_launch(job, builder, item),
                                   OF_LAUNCH(groups, dimension), 1);
    case KILN__QUERY_SUB_GROUP_ID:
        return LLVMBuildUDiv(builder, linear_local_id(job, builder, item),
                             kiln__job_number64(job, KILN__HOST_SUB_GROUP), "");
    case KILN__QUERY_SUB_GROUP_SIZE:
        return kiln__job_number64(job, KILN__HOST_SUB_GROUP);
    default:
        return LLVMBuildURem(builder, linear_local_id(job, builder, item),
                             kiln__job_number64(job, KILN__HOST_SUB_GROUP), "");
    }
}

static LLVMValueRef heap(kiln__codegen_job *job, LLVMBuilderRef builder,
                         LLVMValueRef item)
{
    const LLVMValueRef launch = load_launch(job, builder, item);
    const LLVMValueRef address = LLVMBuildLoad2(
        builder, pointer_of(job),
        kiln__host_member(job, builder, launch, OF_LAUNCH(heap, 0)), "");

    kiln__host_mark_invariant(job, address);
    return address;
}

/* ---- constants ---- */

static LLVMValueRef add_constant(const kiln__codegen_job *job,
                                 LLVMValueRef value, const char *name,
                                 unsigned alignment)
{
    LLVMValueRef global = LLVMAddGlobal(job->module, LLVMTypeOf(value), name);

    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(global, alignment);
    return global;
}

static LLVMValueRef text_constant(const kiln__codegen_job *job,
                                  const char *text)
{
    return LLVMConstStringInContext2(job->context, text, strlen(text), 0);
}

/* Adds a constant {u32 kind, u32 ordinal, method NUL, message NUL}. Its name
   says what it contains, so copies of one expression share it. */
static LLVMValueRef add_site(kiln__codegen_job *job, uint32_t kind,
                             uint32_t ordinal, const char *method,
                             const char *message)
{
    LLVMTypeRef i32 = kiln__job_i32(job);
    const char *name =
        kiln__arena_format(&job->arena, "kiln.site.%u.%u.%zu.%s.%s", kind,
                           ordinal, strlen(method), method, message);
    LLVMValueRef members[] = {
        LLVMConstInt(i32, kind, 0),
        LLVMConstInt(i32, ordinal, 0),
        text_constant(job, method),
        text_constant(job, message),
    };
    LLVMValueRef known =
        name == NULL ? NULL : LLVMGetNamedGlobal(job->module, name);

    if (known != NULL)
        return known;
    return add_constant(job,
                        LLVMConstStructInContext(job->context, members, 4, 0),
                        name == NULL ? "kiln.site" : name, 4);
}

/* ---- exceptions ---- */

#define RAISE_PARAMETERS 7 /* launch, 3 global ids, site, 2 values */

static LLVMTypeRef raise_type(const kiln__codegen_job *job)
{
    LLVMTypeRef i64 = kiln__job_i64(job);
    LLVMTypeRef pointer = pointer_of(job);
    LLVMTypeRef parameters[RAISE_PARAMETERS] = {pointer, i64, i64, i64,
                                                pointer, i64, i64};

    return LLVMFunctionType(LLVMVoidTypeInContext(job->context), parameters,
                            RAISE_PARAMETERS, 0);
}

/* Builds an item with the global ids `x`, `y`, `z`. */
static LLVMValueRef rebuild_item(const kiln__codegen_job *job,
                                 LLVMBuilderRef builder, LLVMValueRef function)
{
    LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(job->context),
                                       sizeof(struct kiln__host_item));
    LLVMValueRef item = LLVMBuildAlloca(builder, bytes, "item");
    LLVMValueRef launch = LLVMGetParam(function, 0);

    LLVMSetAlignment(item, 8);
    for (uint32_t d = 0; d < 3; d++) {
        LLVMValueRef id = LLVMGetParam(function, 1 + d);
        LLVMValueRef block = kiln__host_group_size(job, builder, launch, d);
        LLVMValueRef group = LLVMBuildUDiv(builder, id, block, "");
        LLVMValueRef local = LLVMBuildURem(builder, id, block, "");

        LLVMBuildStore(builder, id,
                       kiln__host_member(job, builder, item, ID(global_id, d)));
        LLVMBuildStore(builder, local,
                       kiln__host_member(job, builder, item, ID(local_id, d)));
        LLVMBuildStore(builder, group,
                       kiln__host_member(job, builder, item, ID(group_id, d)));
    }
    LLVMBuildStore(builder, launch,
                   kiln__host_member(job, builder, item,
                                     offsetof(struct kiln__host_item, launch)));
    return item;
}

static void build_raise(const kiln__codegen_job *job, LLVMValueRef function)
{
    LLVMTypeRef pointer = pointer_of(job);
    LLVMTypeRef i64 = kiln__job_i64(job);
    LLVMTypeRef parameters[] = {pointer, pointer, pointer, i64, i64};
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(job->context), parameters, 5, 0);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef arguments[5];
    LLVMValueRef callback;

    LLVMPositionBuilderAtEnd(
        builder, LLVMAppendBasicBlockInContext(job->context, function, ""));
    arguments[0] = LLVMGetParam(function, 0);
    arguments[1] = rebuild_item(job, builder, function);
    for (unsigned i = 2; i < 5; i++)
        arguments[i] = LLVMGetParam(function, i + 2);
    callback = LLVMBuildLoad2(
        builder, pointer,
        kiln__host_member(job, builder, arguments[0], OF_LAUNCH(raise, 0)), "");
    kiln__host_mark_invariant(job, callback);
    LLVMBuildCall2(builder, type, callback, arguments, 5, "");
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
}

/* Returns the one function of the module that raises. With it, the code of each
   check stays small. */
static LLVMValueRef raise_function(const kiln__codegen_job *job)
{
    static const char name[] = KILN__RAISE;
    LLVMValueRef function = LLVMGetNamedFunction(job->module, name);

    if (function != NULL)
        return function;
    function = LLVMAddFunction(job->module, name, raise_type(job));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    kiln__host_attribute(job, function, -1, "cold");
    kiln__host_attribute(job, function, -1, "noinline");
    kiln__host_attribute(job, function, -1, "nounwind");
    build_raise(job, function);
    return function;
}

static void raise_exception(kiln__codegen_job *job, LLVMBuilderRef builder,
                            LLVMValueRef item,
                            const kiln__codegen_exception *exception)
{
    const char *method = exception->method, *message = exception->message;
    LLVMValueRef function = raise_function(job);
    LLVMValueRef arguments[RAISE_PARAMETERS] = {
        load_launch(job, builder, item)};

    for (uint32_t d = 0; d < 3; d++)
        arguments[1 + d] = load_id(job, builder, item, ID(global_id, d));
    arguments[4] =
        add_site(job, exception->kind, exception->ordinal,
                 method != NULL ? method : "", message != NULL ? message : "");
    arguments[5] = exception->values[0];
    arguments[6] = exception->values[1];
    LLVMBuildCall2(builder, raise_type(job), function, arguments,
                   RAISE_PARAMETERS, "");
}

static void add_frame(kiln__codegen_job *job, LLVMBuilderRef builder,
                      LLVMValueRef item, uint32_t ordinal, const char *method)
{
    LLVMTypeRef pointer = pointer_of(job);
    LLVMTypeRef parameters[] = {pointer, pointer};
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(job->context), parameters, 2, 0);
    LLVMValueRef launch = load_launch(job, builder, item);
    LLVMValueRef callback = LLVMBuildLoad2(
        builder, pointer,
        kiln__host_member(job, builder, launch, OF_LAUNCH(frame, 0)), "");
    LLVMValueRef arguments[] = {launch,
                                add_site(job, KILN_EXCEPTION_NONE, ordinal,
                                         method != NULL ? method : "", "")};

    kiln__host_mark_invariant(job, callback);
    LLVMBuildCall2(builder, type, callback, arguments, 2, "");
}

/* ---- recursion ---- */

/* Compares the address of the frame with that of the item, which is in the
   kernel's frame. */
static LLVMValueRef exhausted(kiln__codegen_job *job, LLVMBuilderRef builder,
                              LLVMValueRef item)
{
    LLVMValueRef level = LLVMConstNull(kiln__job_i32(job));
    LLVMValueRef here = kiln__call_intrinsic(builder, "llvm.frameaddress",
                                             pointer_of(job), &level, 1);
    LLVMValueRef used = LLVMBuildSub(
        builder, LLVMBuildPtrToInt(builder, item, kiln__job_i64(job), ""),
        LLVMBuildPtrToInt(builder, here, kiln__job_i64(job), ""), "");

    return LLVMBuildICmp(builder, LLVMIntUGT, used,
                         kiln__job_number64(job, KILN__HOST_RECURSION), "");
}

/* ---- printing ---- */

static LLVMValueRef print_bits(const kiln__codegen_job *job,
                               LLVMBuilderRef builder, LLVMValueRef value,
                               uint64_t kind)
{
    LLVMTypeRef f64 = LLVMDoubleTypeInContext(job->context);

    switch (kind < KILN__PRINT_FLOAT ? kind : KILN__PRINT_F32) {
    case KILN__PRINT_I64:
        return LLVMBuildIntCast2(builder, value, kiln__job_i64(job), 1, "");
    case KILN__PRINT_F32:
    case KILN__PRINT_F64:
        value = LLVMBuildFPCast(builder, value, f64, "");
        return LLVMBuildBitCast(builder, value, kiln__job_i64(job), "");
    default:
        return LLVMBuildIntCast2(builder, value, kiln__job_i64(job), 0, "");
    }
}

/* Allocates the parts at the start of the caller's frame, where they take room
   once, however often a loop prints. */
static LLVMValueRef parts_alloca(const kiln__codegen_job *job,
                                 LLVMBuilderRef at, size_t count)
{
    LLVMTypeRef type = LLVMArrayType2(kiln__job_i64(job), 2 * count);
    LLVMBasicBlockRef first =
        LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(LLVMGetInsertBlock(at)));
    LLVMValueRef before = LLVMGetFirstInstruction(first);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMValueRef parts;

    if (before != NULL)
        LLVMPositionBuilderBefore(builder, before);
    else
        LLVMPositionBuilderAtEnd(builder, first);
    parts = LLVMBuildAlloca(builder, type, "parts");
    LLVMDisposeBuilder(builder);
    return parts;
}

static void call_print(const kiln__codegen_job *job, LLVMBuilderRef builder,
                       LLVMValueRef item, LLVMValueRef parts, size_t count)
{
    LLVMTypeRef pointer = pointer_of(job);
    LLVMTypeRef parameters[] = {pointer, pointer, kiln__job_i64(job)};
    LLVMTypeRef type =
        LLVMFunctionType(LLVMVoidTypeInContext(job->context), parameters, 3, 0);
    LLVMValueRef launch = load_launch(job, builder, item);
    LLVMValueRef callback = LLVMBuildLoad2(
        builder, pointer,
        kiln__host_member(job, builder, launch, OF_LAUNCH(print, 0)), "");
    LLVMValueRef arguments[] = {launch, parts, kiln__job_number64(job, count)};

    kiln__host_mark_invariant(job, callback);
    LLVMBuildCall2(builder, type, callback, arguments, 3, "");
}

static void print_parts(kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef item, const kiln__codegen_print *print)
{
    LLVMValueRef parts = parts_alloca(job, builder, print->count);

    for (size_t i = 0; i < print->count; i++) {
        const uint64_t kind = kiln__print_part_kind(print, i);
        const uint64_t offset = i * sizeof(struct kiln__host_print_part);
        LLVMValueRef bits =
            kiln__print_is_text(kind)
                ? add_constant(job, text_constant(job, print->texts[i]),
                               "kiln.text", 1)
                : print_bits(job, builder, print->values[i], kind);

        LLVMBuildStore(builder, kiln__job_number64(job, kind),
                       kiln__host_member(job, builder, parts, offset));
        LLVMBuildStore(builder, bits,
                       kiln__host_member(job, builder, parts, offset + 8));
    }
    call_print(job, builder, item, parts, print->count);
}

/* ---- the payload ---- */

static kiln_status finish_payload(kiln__codegen_job *job,
                                  const kiln__object *objects, size_t count,
                                  kiln_blob *out)
{
    char message[1024];
    kiln_status status = KILN_OK;

    for (size_t i = 0; status == KILN_OK && i < count; i++)
        status = kiln__host_object_check(
            &objects[i], i == 0 && count > 1 ? job->request->entry : NULL,
            message, sizeof message);
    if (status == KILN_OK)
        return kiln__elf_link_job(
            job,
            &(kiln__elf_link_input){kiln__host_link_options, objects, count},
            out);
    return kiln__job_fail(job, status, "%s", message);
}

/* Address spaces of 256 and above are segments of the process. */
static const kiln__foreign_rules foreign = {
    .intrinsics = "x86.",
    .spaces = KILN__CONSTANT_SPACES | KILN__SPACE_BIT(3) | KILN__SPACE_BIT(5),
    .constant_spaces = KILN__CONSTANT_SPACES,
    .neutral_spaces = KILN__NEUTRAL_SPACES,
    .neutral_constants = 0,
    .has_long_floats = 1,
    .has_label_addresses = 1,
    .has_address_numbers = 1,
    .has_wide_conversions = 1,
    .has_bit_conversions = 1,
    .has_exact_remainders = 1,
    .has_fixed_frames = 1,
    .has_libraries = 1,
    .named_spaces = {0, 1, 4, 3, 0}, /* of libclc's library for NVIDIA */
    .limits = kiln__host_limits,
    .clock = "llvm.readcyclecounter",
    .refuse_own = kiln__host_refuse_own,
};

/* ---- after all passes ---- */

static void lower_atomics(LLVMModuleRef module, const char *kernel)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, kernel);

    if (function != NULL && !LLVMIsDeclaration(function))
        kiln__llvm_lower_atomics(function);
}

static kiln_status adapt(kiln__codegen_job *job)
{
    const char *checked =
        kiln__arena_format(&job->arena, "%s.checked", job->request->entry);

    kiln__host_turns turns;
    int wraps = 0;

    if (checked == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    lower_atomics(job->module, job->request->entry);
    if (job->checked_module != NULL)
        lower_atomics(job->checked_module, checked);
    turns = kiln__host_find_turns(job);
    KILN_TRY(kiln__host_add_polls(job, &wraps));
    if (wraps && turns == KILN__HOST_MAY_BE_ALONE)
        turns = KILN__HOST_SHARES;
    return kiln__host_take_turns(job, turns);
}

const kiln__codegen_backend kiln__host_codegen = {
    .name = "host",
    .format = "elf",
    .groups = &kiln__host_groups,
    .foreign = &foreign,
    .item = &(const kiln__codegen_item){.query = query,
                                        .raise = raise_exception,
                                        .frame = add_frame,
                                        .local_memory = local_memory,
                                        .local_size = local_size,
                                        .print = print_parts,
                                        .heap = heap,
                                        .exhausted = exhausted},
    .process =
        &(const kiln__codegen_process){.abandon = kiln__elf_link_abandon,
                                       .guard_forks = kiln__elf_link_guard},
    .symbols = {.may_import = kiln__host_may_import,
                .types = kiln__host_import_types,
                .is_taken = kiln__host_may_refer},
    .payload = {.wrap = kiln__host_wrap,
                .finish = finish_payload,
                .find_sites = kiln__host_find_sites},
    .adapt = adapt,
    .own_variable = KILN__HOST_ALARM,
    .runs_tiles = 1,
    .may_defer = 1,
    .has_vecmath = 1,
};
