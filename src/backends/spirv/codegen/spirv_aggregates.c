/* spirv_aggregates.c - splits structs in registers into their parts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/spirv/codegen/spirv_codegen.h"
#include "base/error.h"

/*
 * Lowering keeps structs, tuples and sizes of arrays in LLVM values, and passes
 * join them by phis and selects. LLVM's generator for SPIR-V confuses the types
 * of such values. So a phi or select of a struct becomes one for each part, and
 * the struct is put together again for its users. Mostly there are none left,
 * because code that extracts a part gets it directly. Loads and stores are
 * split, too.
 */

#define DEPTH_MAX 64

/* The path to a part that is no struct or array: an index for each level. */
typedef struct part {
    unsigned path[DEPTH_MAX];
    unsigned depth;
    LLVMTypeRef type;
} part;

static int is_aggregate(LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(type);

    return kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind;
}

static unsigned count_members(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMStructTypeKind
               ? LLVMCountStructElementTypes(type)
               : (unsigned)LLVMGetArrayLength2(type);
}

static LLVMTypeRef member_type(LLVMTypeRef type, unsigned index)
{
    return LLVMGetTypeKind(type) == LLVMStructTypeKind
               ? LLVMStructGetTypeAtIndex(type, index)
               : LLVMGetElementType(type);
}

/* Goes down to the first part of `type` below the path in `p`. Returns 0 when
   there is none, or when it is nested too deeply. */
static int descend(part *p, LLVMTypeRef type)
{
    while (is_aggregate(type)) {
        if (count_members(type) == 0 || p->depth == DEPTH_MAX)
            return 0;
        p->path[p->depth++] = 0;
        type = member_type(type, 0);
    }
    p->type = type;
    return 1;
}

static LLVMTypeRef type_at(LLVMTypeRef type, const part *p, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        type = member_type(type, p->path[i]);
    return type;
}

/* Goes to the next part, in order. Returns 0 after the last one. */
static int advance(part *p, LLVMTypeRef whole)
{
    while (p->depth > 0) {
        const LLVMTypeRef type = type_at(whole, p, p->depth - 1);
        unsigned *index = &p->path[p->depth - 1];

        if (++*index < count_members(type)) {
            if (descend(p, member_type(type, *index)))
                return 1;
            continue; /* it has no parts: try the next one */
        }
        p->depth--;
    }
    return 0;
}

static int first(part *p, LLVMTypeRef whole)
{
    p->depth = 0;
    return descend(p, whole) || advance(p, whole);
}

/* ---- parts of values ---- */

static LLVMValueRef take_part(LLVMBuilderRef builder, LLVMValueRef value,
                              const part *p)
{
    for (unsigned i = 0; i < p->depth; i++)
        value = LLVMBuildExtractValue(builder, value, p->path[i], "");
    return value;
}

static LLVMValueRef put_at(LLVMBuilderRef builder, LLVMValueRef whole,
                           LLVMValueRef value, const part *p, unsigned depth)
{
    LLVMValueRef inner;

    if (depth == p->depth)
        return value;
    inner = depth + 1 < p->depth
                ? LLVMBuildExtractValue(builder, whole, p->path[depth], "")
                : NULL;
    inner = put_at(builder, inner, value, p, depth + 1);
    return LLVMBuildInsertValue(builder, whole, inner, p->path[depth], "");
}

static LLVMValueRef put(LLVMBuilderRef builder, LLVMValueRef whole,
                        LLVMValueRef value, const part *p)
{
    return put_at(builder, whole, value, p, 0);
}

static LLVMValueRef place(kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMTypeRef type, LLVMValueRef at, const part *p)
{
    const LLVMTypeRef i32 = kiln__job_i32(job);
    LLVMValueRef indices[DEPTH_MAX + 1] = {LLVMConstInt(i32, 0, 0)};

    for (unsigned i = 0; i < p->depth; i++)
        indices[i + 1] = LLVMConstInt(i32, p->path[i], 0);
    return LLVMBuildInBoundsGEP2(builder, type, at, indices, p->depth + 1, "");
}

/* ---- instructions ---- */

static LLVMValueRef split_select(LLVMBuilderRef builder, LLVMValueRef select)
{
    const LLVMTypeRef type = LLVMTypeOf(select);
    const LLVMValueRef condition = LLVMGetOperand(select, 0);
    LLVMValueRef whole = LLVMGetPoison(type);
    part p;

    for (int more = first(&p, type); more; more = advance(&p, type)) {
        const LLVMValueRef value = LLVMBuildSelect(
            builder, condition,
            take_part(builder, LLVMGetOperand(select, 1), &p),
            take_part(builder, LLVMGetOperand(select, 2), &p), "");

        whole = put(builder, whole, value, &p);
    }
    return whole;
}

static unsigned part_alignment(const kiln__codegen_job *job,
                               LLVMValueRef access, const part *p)
{
    const unsigned own = LLVMABIAlignmentOfType(job->layout, p->type);
    const unsigned all = LLVMGetAlignment(access);

    return all < own ? all : own; /* of members, at their own offsets */
}

static LLVMValueRef split_load(kiln__codegen_job *job, LLVMBuilderRef builder,
                               LLVMValueRef load)
{
    const LLVMTypeRef type = LLVMTypeOf(load);
    LLVMValueRef whole = LLVMGetPoison(type);
    part p;

    for (int more = first(&p, type); more; more = advance(&p, type)) {
        const LLVMValueRef value = LLVMBuildLoad2(
            builder, p.type,
            place(job, builder, type, LLVMGetOperand(load, 0), &p), "");

        LLVMSetAlignment(value, part_alignment(job, load, &p));
        LLVMSetVolatile(value, LLVMGetVolatile(load));
        whole = put(builder, whole, value, &p);
    }
    return whole;
}

static void split_store(kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef store)
{
    const LLVMValueRef whole = LLVMGetOperand(store, 0);
    const LLVMTypeRef type = LLVMTypeOf(whole);
    part p;

    for (int more = first(&p, type); more; more = advance(&p, type)) {
        const LLVMValueRef one = LLVMBuildStore(
            builder, take_part(builder, whole, &p),
            place(job, builder, type, LLVMGetOperand(store, 1), &p));

        LLVMSetAlignment(one, part_alignment(job, store, &p));
        LLVMSetVolatile(one, LLVMGetVolatile(store));
    }
}

/* Returns the value that the phi already has from that block. A switch may lead
   here by several edges, which must bring the same value. */
static LLVMValueRef known_from(LLVMValueRef phi, LLVMBasicBlockRef from)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (LLVMGetIncomingBlock(phi, i) == from)
            return LLVMGetIncomingValue(phi, i);
    return NULL;
}

/* Makes a phi of one part. Parts of incoming values are extracted at the ends
   of their blocks. */
static LLVMValueRef phi_of_part(LLVMBuilderRef builder, LLVMValueRef phi,
                                const part *p)
{
    LLVMValueRef one;

    LLVMPositionBuilderBefore(builder, phi);
    one = LLVMBuildPhi(builder, p->type, "");
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        LLVMValueRef value = known_from(one, from);

        if (value == NULL) {
            LLVMPositionBuilderBefore(builder,
                                      LLVMGetBasicBlockTerminator(from));
            value = take_part(builder, LLVMGetIncomingValue(phi, i), p);
        }
        LLVMAddIncoming(one, &value, &from, 1);
    }
    return one;
}

static LLVMValueRef first_non_phi(LLVMValueRef phi)
{
    while (phi != NULL && LLVMIsAPHINode(phi))
        phi = LLVMGetNextInstruction(phi);
    return phi;
}

static LLVMValueRef split_phi(LLVMBuilderRef builder, LLVMValueRef phi)
{
    const LLVMTypeRef type = LLVMTypeOf(phi);
    LLVMValueRef whole = LLVMGetPoison(type);
    part p;

    for (int more = first(&p, type); more; more = advance(&p, type)) {
        const LLVMValueRef one = phi_of_part(builder, phi, &p);

        LLVMPositionBuilderBefore(builder, first_non_phi(phi));
        whole = put(builder, whole, one, &p);
    }
    return whole;
}

/* Splits the instruction and erases it; false if there is nothing to split. */
static int split(kiln__codegen_job *job, LLVMBuilderRef builder,
                 LLVMValueRef instruction)
{
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    const LLVMTypeRef type = opcode == LLVMStore
                                 ? LLVMTypeOf(LLVMGetOperand(instruction, 0))
                                 : LLVMTypeOf(instruction);
    LLVMValueRef whole = NULL;

    if (!is_aggregate(type))
        return 0;
    LLVMPositionBuilderBefore(builder, instruction);
    if (opcode == LLVMPHI)
        whole = split_phi(builder, instruction);
    else if (opcode == LLVMSelect)
        whole = split_select(builder, instruction);
    else if (opcode == LLVMLoad)
        whole = split_load(job, builder, instruction);
    else if (opcode == LLVMFreeze)
        whole = LLVMGetOperand(instruction, 0);
    else if (opcode == LLVMStore)
        split_store(job, builder, instruction);
    else
        return 0;
    if (whole != NULL)
        LLVMReplaceAllUsesWith(instruction, whole);
    LLVMInstructionEraseFromParent(instruction);
    return 1;
}

int kiln__spirv_split_aggregates(kiln__codegen_job *job, LLVMValueRef function)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    LLVMBasicBlockRef block;
    LLVMValueRef at, next;
    int count = 0;

    for (block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (at = LLVMGetFirstInstruction(block); at != NULL; at = next) {
            next = LLVMGetNextInstruction(at);
            count += split(job, builder, at);
        }
    LLVMDisposeBuilder(builder);
    return count;
}
