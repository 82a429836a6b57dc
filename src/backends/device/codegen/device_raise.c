/* device_raise.c - code for devices that raises and prints. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/codegen/device_codegen.h"

#include <string.h>

#include "abi/host_abi.h"
#include "kiln/type.h"

/*
 * This builds the protocol of device_abi.h as LLVM IR. In most kernels code
 * that raises ends its item (device_end.c). Where functions are not inlined,
 * where frames are kept, and where items of a group wait for those that failed,
 * it stores what happened in the item, and its callers return. The kernel,
 * where all of these paths end, records it in the state. A print is built in
 * place, since each one has values of its own.
 */

#define STATE_SPACE 1u

/* Members of an item. Code that raises sets the report and its two values. Two
   words are the backend's own, where barriers ask for failures. */
#define ITEM_STATE 0u
#define ITEM_LAUNCH 1u
#define ITEM_REPORT 2u
#define ITEM_VALUES 3u
#define ITEM_HEAP 5u
#define ITEM_OWN 6u /* numbers 6 and 7 */
/* The grid's sizes. */
#define ITEM_GRID 8u
#define ITEM_GRID_MEMBERS 3u
/* Where frames are kept, their count and the frames follow. */
#define ITEM_FRAME_COUNT (ITEM_GRID + ITEM_GRID_MEMBERS)
#define ITEM_FRAME_MEMBERS 2u
/* With dynamic group memory, its address and size follow as the last two. */
#define ITEM_LOCAL_MEMBERS 2u
#define ITEM_MEMBERS_MOST \
    (ITEM_FRAME_COUNT + ITEM_FRAME_MEMBERS + ITEM_LOCAL_MEMBERS)

#define STATE(member) offsetof(struct kiln__device_state, member)

LLVMTypeRef kiln__device_state_pointer(const kiln__codegen_job *job)
{
    return LLVMPointerTypeInContext(job->context, STATE_SPACE);
}

static int keeps_frames(const kiln__codegen_job *job)
{
    return job->settings->debug_level >= KILN_DEBUG_FULL;
}

/* Returns the number of the member for the dynamic memory's address. */
static unsigned first_local(const kiln__codegen_job *job)
{
    return ITEM_FRAME_COUNT + (keeps_frames(job) ? ITEM_FRAME_MEMBERS : 0);
}

LLVMTypeRef kiln__device_item_type(const kiln__codegen_job *job)
{
    const LLVMTypeRef word = kiln__job_i64(job),
                      state = kiln__device_state_pointer(job);
    LLVMTypeRef members[ITEM_MEMBERS_MOST] = {state, word,  word, word,
                                              word,  state, word, word};
    unsigned count = ITEM_GRID;

    while (count < first_local(job))
        members[count++] = word;
    if (keeps_frames(job))
        members[count - 1] =
            LLVMArrayType2(kiln__job_i32(job), KILN__STATE_FRAMES);
    if (job->dynamic_local) {
        members[count++] =
            LLVMPointerTypeInContext(job->context, KILN__SHARED_SPACE);
        members[count++] = word;
    }
    return LLVMStructTypeInContext(job->context, members, count, 0);
}

static LLVMValueRef place_in(const kiln__codegen_job *job,
                             LLVMBuilderRef builder, LLVMValueRef item,
                             unsigned which)
{
    return LLVMBuildStructGEP2(builder, kiln__device_item_type(job), item,
                               which, "");
}

LLVMValueRef kiln__device_own(const kiln__codegen_job *job,
                              LLVMBuilderRef builder, LLVMValueRef item,
                              unsigned number)
{
    return place_in(job, builder, item, ITEM_OWN + number);
}

void kiln__device_set_grid(const kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef item, uint32_t dimension,
                           LLVMValueRef size)
{
    LLVMBuildStore(builder, size,
                   place_in(job, builder, item, ITEM_GRID + dimension));
}

LLVMValueRef kiln__device_grid(const kiln__codegen_job *job,
                               LLVMBuilderRef builder, LLVMValueRef item,
                               uint32_t dimension)
{
    return LLVMBuildLoad2(builder, kiln__job_i64(job),
                          place_in(job, builder, item, ITEM_GRID + dimension),
                          "");
}

static LLVMValueRef of_item(const kiln__codegen_job *job,
                            LLVMBuilderRef builder, LLVMValueRef item,
                            unsigned which)
{
    const int is_address = which == ITEM_STATE || which == ITEM_HEAP;

    return LLVMBuildLoad2(builder,
                          is_address ? kiln__device_state_pointer(job)
                                     : kiln__job_i64(job),
                          place_in(job, builder, item, which), "");
}

void kiln__device_fill_item(const kiln__codegen_job *job,
                            LLVMBuilderRef builder, LLVMValueRef item,
                            const LLVMValueRef *hidden, uint32_t count)
{
    const unsigned members[KILN__HIDDEN_MOST] = {
        ITEM_STATE, ITEM_LAUNCH, ITEM_HEAP, first_local(job) + 1};

    for (uint32_t i = 0; i < count; i++)
        LLVMBuildStore(builder, hidden[i],
                       place_in(job, builder, item, members[i]));
}

void kiln__device_fill_local(const kiln__codegen_job *job,
                             LLVMBuilderRef builder, LLVMValueRef item,
                             LLVMValueRef memory)
{
    LLVMBuildStore(builder, memory,
                   place_in(job, builder, item, first_local(job)));
}

LLVMValueRef kiln__device_local_memory(kiln__codegen_job *job,
                                       LLVMBuilderRef builder,
                                       LLVMValueRef item)
{
    return LLVMBuildLoad2(
        builder, LLVMPointerTypeInContext(job->context, KILN__SHARED_SPACE),
        place_in(job, builder, item, first_local(job)), "");
}

LLVMValueRef kiln__device_local_size(kiln__codegen_job *job,
                                     LLVMBuilderRef builder, LLVMValueRef item)
{
    return LLVMBuildLoad2(builder, kiln__job_i64(job),
                          place_in(job, builder, item, first_local(job) + 1),
                          "");
}

LLVMValueRef kiln__device_heap(kiln__codegen_job *job, LLVMBuilderRef builder,
                               LLVMValueRef item)
{
    const LLVMTypeRef type = kiln__job_array_pointer(job);
    const LLVMValueRef heap = of_item(job, builder, item, ITEM_HEAP);

    return LLVMTypeOf(heap) == type
               ? heap
               : LLVMBuildAddrSpaceCast(builder, heap, type, "");
}

static LLVMValueRef member(const kiln__codegen_job *job, LLVMBuilderRef builder,
                           LLVMValueRef base, LLVMValueRef offset)
{
    return LLVMBuildInBoundsGEP2(builder, LLVMInt8TypeInContext(job->context),
                                 base, &offset, 1, "");
}

static void put(const kiln__codegen_job *job, LLVMBuilderRef builder,
                LLVMValueRef base, uint64_t offset, LLVMValueRef value)
{
    LLVMBuildStore(builder, value,
                   member(job, builder, base, kiln__job_number64(job, offset)));
}

/* Stores a mark with release ordering: whoever sees the mark sees all that was
   written before it. */
static void put_mark(const kiln__codegen_job *job, LLVMBuilderRef builder,
                     LLVMValueRef at, uint32_t mark)
{
    LLVMValueRef store =
        LLVMBuildStore(builder, kiln__job_number32(job, mark), at);

    LLVMSetAlignment(store, 4);
    LLVMSetOrdering(store, LLVMAtomicOrderingRelease);
}

/* ---- exceptions ---- */

/* Stores to a member of the state. */
static void put_aligned(const kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef state, uint64_t offset, LLVMValueRef value)
{
    const uint64_t ends = offset | KILN__STATE_ALIGNMENT;
    LLVMValueRef store = LLVMBuildStore(
        builder, value,
        member(job, builder, state, kiln__job_number64(job, offset)));

    LLVMSetAlignment(store, (unsigned)(ends & (~ends + 1)));
}

/* Begins a part of a record. The vendors' assemblers read all that a block
   stores before they store any of it, and all items get the registers for that.
   So a record is written by several blocks. What ends them is a test that
   always holds, which no assembler knows: that the phase is the one that the
   item has set. Otherwise, it would go on at `done`. */
static void begin_part(const kiln__codegen_job *job, LLVMBuilderRef builder,
                       LLVMValueRef state, LLVMBasicBlockRef done)
{
    const LLVMTypeRef i32 = kiln__job_i32(job);
    LLVMBasicBlockRef part;
    LLVMValueRef phase;

    if (kiln__hardware(job)->read_again == NULL)
        return;
    part = LLVMAppendBasicBlockInContext(
        job->context, LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder)), "");
    phase = LLVMBuildLoad2(builder, i32, state, "");
    LLVMSetVolatile(phase, 1);
    LLVMBuildCondBr(builder,
                    LLVMBuildICmp(builder, LLVMIntEQ, phase,
                                  kiln__job_number32(job, KILN__PHASE_WRITING),
                                  ""),
                    part, done);
    LLVMPositionBuilderAtEnd(builder, part);
}

/* Returns number `which` of the ids, as i32: three of the item in its group,
   three of the group, and three sizes of the group. This is built after the
   passes, which know ids of groups of one item. */
static LLVMValueRef id(kiln__codegen_job *job, LLVMBuilderRef builder,
                       uint32_t which)
{
    const kiln__device_hardware *hardware = kiln__hardware(job);
    const uint32_t d = which % 3;
    LLVMValueRef id;

    if (which < 3 && job->settings->required_group_size[d] == 1)
        return kiln__job_number32(job, 0);
    if (hardware->read_again != NULL)
        return hardware->read_again(job, builder, which);
    if (which < 6)
        id = which < 3 ? hardware->local_id(job, builder, d)
                       : hardware->group_id(job, builder, d);
    else
        id = kiln__device_group_size(job, builder, d);
    return LLVMBuildTrunc(builder, id, kiln__job_i32(job), "");
}

#define IDS 9u
#define IDS_MERGED 4u

/* Stores the ids in the order of the members, so that the vendors' compilers
   can merge the stores. */
static void put_ids(kiln__codegen_job *job, LLVMBuilderRef builder,
                    LLVMValueRef state, LLVMBasicBlockRef done)
{
    LLVMValueRef ids[IDS];

    for (uint32_t i = 0; i < IDS; i++) {
        if (i % IDS_MERGED == 0) {
            begin_part(job, builder, state, done);
            for (uint32_t k = i; k < IDS && k < i + IDS_MERGED; k++)
                ids[k] = id(job, builder, k);
        }
        put_aligned(job, builder, state,
                    STATE(local_id) + sizeof(uint32_t) * (uint64_t)i, ids[i]);
    }
}

/* Returns true for the one item that changed the phase. */
static LLVMValueRef win(const kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef state)
{
    const LLVMValueRef both = LLVMBuildAtomicCmpXchg(
        builder, state, kiln__job_number32(job, KILN__PHASE_NONE),
        kiln__job_number32(job, KILN__PHASE_WRITING),
        LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, 0);

    return LLVMBuildExtractValue(builder, both, 1, "");
}

_Static_assert(STATE(phase) == 0, "the state's address is the phase's");

void kiln__device_describe_raise(kiln__codegen_job *job,
                                 const kiln__codegen_exception *exception,
                                 kiln__device_raised *out)
{
    const uint32_t report =
        kiln__device_exception_report(job, exception->kind, exception->ordinal,
                                      exception->method, exception->message);

    out->report = kiln__job_number32(job, report);
    memcpy(out->values, exception->values, sizeof out->values);
}

void kiln__device_raise(kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef item,
                        const kiln__codegen_exception *exception)
{
    kiln__device_raised raised;

    kiln__device_describe_raise(job, exception, &raised);
    LLVMBuildStore(
        builder, LLVMBuildZExt(builder, raised.report, kiln__job_i64(job), ""),
        place_in(job, builder, item, ITEM_REPORT));
    for (unsigned i = 0; i < 2; i++)
        LLVMBuildStore(builder, raised.values[i],
                       place_in(job, builder, item, ITEM_VALUES + i));
    if (keeps_frames(job))
        LLVMBuildStore(builder, kiln__job_number64(job, 0),
                       place_in(job, builder, item, ITEM_FRAME_COUNT));
}

void kiln__device_read_launch(kiln__codegen_job *job, LLVMBuilderRef builder,
                              LLVMValueRef item, kiln__device_raised *out)
{
    out->state = of_item(job, builder, item, ITEM_STATE);
    out->launch = of_item(job, builder, item, ITEM_LAUNCH);
}

void kiln__device_read_raise(kiln__codegen_job *job, LLVMBuilderRef builder,
                             LLVMValueRef item, kiln__device_raised *out)
{
    out->report =
        LLVMBuildTrunc(builder, of_item(job, builder, item, ITEM_REPORT),
                       kiln__job_i32(job), "");
    for (unsigned i = 0; i < 2; i++)
        out->values[i] = of_item(job, builder, item, ITEM_VALUES + i);
}

/* Returns the address of frame `index` of an item. */
static LLVMValueRef frame_in(const kiln__codegen_job *job,
                             LLVMBuilderRef builder, LLVMValueRef item,
                             LLVMValueRef index)
{
    LLVMValueRef indices[2] = {kiln__job_number64(job, 0), index};

    return LLVMBuildInBoundsGEP2(
        builder, LLVMArrayType2(kiln__job_i32(job), KILN__STATE_FRAMES),
        place_in(job, builder, item, ITEM_FRAME_COUNT + 1), indices, 2, "");
}

void kiln__device_frame(kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef item, uint32_t ordinal, const char *method)
{
    const uint32_t report = kiln__device_exception_report(
        job, KILN_EXCEPTION_NONE, ordinal, method, "");
    const LLVMValueRef last = kiln__job_number64(job, KILN__STATE_FRAMES - 1);
    const LLVMValueRef count = of_item(job, builder, item, ITEM_FRAME_COUNT);
    const LLVMValueRef at = LLVMBuildSelect(
        builder, LLVMBuildICmp(builder, LLVMIntULT, count, last, ""), count,
        last, "");

    LLVMBuildStore(builder, kiln__job_number32(job, report),
                   frame_in(job, builder, item, at));
    LLVMBuildStore(builder,
                   LLVMBuildAdd(builder, at, kiln__job_number64(job, 1), ""),
                   place_in(job, builder, item, ITEM_FRAME_COUNT));
}

static void put_frames(kiln__codegen_job *job, LLVMBuilderRef builder,
                       LLVMValueRef item, LLVMValueRef state)
{
    const LLVMValueRef count = of_item(job, builder, item, ITEM_FRAME_COUNT);

    put(job, builder, state, STATE(frame_count),
        LLVMBuildTrunc(builder, count, kiln__job_i32(job), ""));
    for (uint32_t i = 0; i < KILN__STATE_FRAMES; i++)
        put(job, builder, state, STATE(frames) + sizeof(uint32_t) * i,
            LLVMBuildLoad2(
                builder, kiln__job_i32(job),
                frame_in(job, builder, item, kiln__job_number64(job, i)), ""));
}

static void put_exception(kiln__codegen_job *job, LLVMBuilderRef builder,
                          const kiln__device_raised *raised,
                          LLVMBasicBlockRef done)
{
    const LLVMValueRef state = raised->state;

    put_aligned(job, builder, state, STATE(report), raised->report);
    put_aligned(job, builder, state, STATE(launch), raised->launch);
    begin_part(job, builder, state, done);
    for (unsigned i = 0; i < 2; i++)
        put_aligned(job, builder, state, STATE(values) + 8 * (uint64_t)i,
                    raised->values[i]);
    put_ids(job, builder, state, done);
    if (raised->item != NULL && keeps_frames(job))
        put_frames(job, builder, raised->item, state);
    begin_part(job, builder, state, done);
    put_mark(job, builder, state, KILN__PHASE_READY);
}

void kiln__device_record(kiln__codegen_job *job, LLVMBuilderRef builder,
                         const kiln__device_raised *raised)
{
    const LLVMValueRef function =
        LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder));
    const LLVMBasicBlockRef first =
        LLVMAppendBasicBlockInContext(job->context, function, "");
    const LLVMBasicBlockRef done =
        LLVMAppendBasicBlockInContext(job->context, function, "");

    LLVMBuildCondBr(builder, win(job, builder, raised->state), first, done);
    LLVMPositionBuilderAtEnd(builder, first);
    put_exception(job, builder, raised, done);
    LLVMBuildBr(builder, done);
    LLVMPositionBuilderAtEnd(builder, done);
}

void kiln__device_record_item(kiln__codegen_job *job, LLVMBuilderRef builder,
                              LLVMValueRef item)
{
    kiln__device_raised raised = {.item = item};

    kiln__device_read_launch(job, builder, item, &raised);
    kiln__device_read_raise(job, builder, item, &raised);
    kiln__device_record(job, builder, &raised);
}

/* ---- printing ---- */

/* Returns 64 bits. For a float of at most 32 bits the upper half is zero, so
   that no target needs f64 to print one. */
static LLVMValueRef print_bits(const kiln__codegen_job *job,
                               LLVMBuilderRef builder, LLVMValueRef value,
                               uint32_t kind)
{
    switch (kind < KILN__PRINT_FLOAT ? kind : KILN__PRINT_F32) {
    case KILN__PRINT_I64:
        return LLVMBuildIntCast2(builder, value, kiln__job_i64(job), 1, "");
    case KILN__PRINT_F64:
        return LLVMBuildBitCast(builder, value, kiln__job_i64(job), "");
    case KILN__PRINT_F32:
        value = LLVMBuildFPCast(builder, value,
                                LLVMFloatTypeInContext(job->context), "");
        value = LLVMBuildBitCast(builder, value, kiln__job_i32(job), "");
        return LLVMBuildZExt(builder, value, kiln__job_i64(job), "");
    default:
        return LLVMBuildIntCast2(builder, value, kiln__job_i64(job), 0, "");
    }
}

typedef struct print_job {
    kiln__codegen_job *job;
    LLVMBuilderRef builder;
    LLVMValueRef state;
    LLVMValueRef launch;
    uint32_t report;
    uint64_t size; /* of the record, in bytes */
} print_job;

/* Reserves room; returns where the record begins after the state. */
static LLVMValueRef take_room(const print_job *p)
{
    const LLVMValueRef printed =
        member(p->job, p->builder, p->state,
               kiln__job_number64(p->job, STATE(printed)));

    return LLVMBuildAtomicRMW(p->builder, LLVMAtomicRMWBinOpAdd, printed,
                              kiln__job_number64(p->job, p->size),
                              LLVMAtomicOrderingMonotonic, 0);
}

static LLVMValueRef has_room(const print_job *p, LLVMValueRef begin)
{
    const LLVMValueRef room =
        LLVMBuildLoad2(p->builder, kiln__job_i64(p->job),
                       member(p->job, p->builder, p->state,
                              kiln__job_number64(p->job, STATE(print_room))),
                       "");
    const LLVMValueRef end = LLVMBuildAdd(
        p->builder, begin, kiln__job_number64(p->job, p->size), "");

    return LLVMBuildICmp(p->builder, LLVMIntULE, end, room, "");
}

static void write_record(const print_job *p, LLVMValueRef begin,
                         const LLVMValueRef *bits, size_t count)
{
    const LLVMValueRef at =
        member(p->job, p->builder, p->state,
               LLVMBuildAdd(p->builder, begin,
                            kiln__job_number64(p->job, KILN__STATE_SIZE), ""));

    put(p->job, p->builder, at, offsetof(struct kiln__print_record, report),
        kiln__job_number32(p->job, p->report));
    put(p->job, p->builder, at, offsetof(struct kiln__print_record, launch),
        p->launch);
    for (size_t i = 0; i < count; i++)
        put(p->job, p->builder, at, sizeof(struct kiln__print_record) + 8 * i,
            bits[i]);
    put_mark(p->job, p->builder, at, KILN__PRINT_MARK);
}

static void add_print(const print_job *p, const LLVMValueRef *bits,
                      size_t count)
{
    const LLVMContextRef context = p->job->context;
    const LLVMValueRef function =
        LLVMGetBasicBlockParent(LLVMGetInsertBlock(p->builder));
    const LLVMBasicBlockRef fits =
        LLVMAppendBasicBlockInContext(context, function, "");
    const LLVMBasicBlockRef done =
        LLVMAppendBasicBlockInContext(context, function, "");
    const LLVMValueRef begin = take_room(p);

    LLVMBuildCondBr(p->builder, has_room(p, begin), fits, done);
    LLVMPositionBuilderAtEnd(p->builder, fits);
    write_record(p, begin, bits, count);
    LLVMBuildBr(p->builder, done);
    LLVMPositionBuilderAtEnd(p->builder, done);
}

void kiln__device_print(kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef item, const kiln__codegen_print *print)
{
    const size_t count = print->count;
    uint32_t *parts =
        kiln__arena_allocate_array(&job->arena, count + 1, sizeof *parts);
    LLVMValueRef *bits =
        kiln__arena_allocate_array(&job->arena, count + 1, sizeof *bits);
    print_job p = {.job = job, .builder = builder};
    size_t value_count = 0;

    if (parts == NULL || bits == NULL) {
        (void)kiln__job_fail(job, KILN_ENOMEM, "out of memory");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        parts[i] = kiln__print_part_kind(print, i);
        if (!kiln__print_is_text(parts[i]))
            bits[value_count++] =
                print_bits(job, builder, print->values[i], parts[i]);
    }
    p.report = kiln__device_print_report(job, count, print->texts, parts);
    p.size = sizeof(struct kiln__print_record) + 8 * value_count;
    p.state = of_item(job, builder, item, ITEM_STATE);
    p.launch = of_item(job, builder, item, ITEM_LAUNCH);
    add_print(&p, bits, value_count);
}
