/* spirv_converge.c - ends the work of a whole group when an item has failed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/spirv/codegen/spirv_codegen.h"

/*
 * SPIR-V gives no meaning to a barrier that an item of the group never reaches.
 * So an item that fails sets a word of the group's memory and comes to the next
 * barrier. After the barrier all items read the word. If it is set, the group
 * is over for all of them (lower_converge.c).
 *
 * There are two such words, and barriers that read one use them in turn,
 * because one item may fail after a barrier while another still reads that
 * barrier's word. A word is used again at the next but one barrier. No item
 * reaches that before all have come to the next one, and by then the word is
 * zero, or the group would be over.
 */

#define WORDS 2u

static const char words_name[] = "kiln.failed";

static LLVMTypeRef words_type(const kiln__codegen_job *job)
{
    return LLVMArrayType2(kiln__job_i32(job), WORDS);
}

static LLVMValueRef words_of(kiln__codegen_job *job)
{
    LLVMValueRef words = LLVMGetNamedGlobal(job->module, words_name);

    if (words != NULL)
        return words;
    words = LLVMAddGlobalInAddressSpace(job->module, words_type(job),
                                        words_name, KILN__SHARED_SPACE);
    LLVMSetLinkage(words, LLVMInternalLinkage);
    LLVMSetInitializer(words, LLVMGetUndef(words_type(job)));
    LLVMSetAlignment(words, 8);
    job->static_local_bytes += WORDS * 4;
    return words;
}

static LLVMValueRef word_at(kiln__codegen_job *job, LLVMBuilderRef builder,
                            LLVMValueRef number)
{
    LLVMValueRef indices[2] = {kiln__job_number64(job, 0), number};

    return LLVMBuildInBoundsGEP2(builder, words_type(job), words_of(job),
                                 indices, 2, "");
}

/* Each item has two words of its own: which word of the group is next, and
   whether the group is over. */
#define OWN_NEXT 0u
#define OWN_OVER 1u

static LLVMValueRef own(kiln__codegen_job *job, LLVMBuilderRef builder,
                        LLVMValueRef item, unsigned which)
{
    return LLVMBuildLoad2(builder, kiln__job_i64(job),
                          kiln__device_own(job, builder, item, which), "");
}

static void set_own(kiln__codegen_job *job, LLVMBuilderRef builder,
                    LLVMValueRef item, unsigned which, LLVMValueRef value)
{
    LLVMBuildStore(builder, value, kiln__device_own(job, builder, item, which));
}

void kiln__spirv_fail(kiln__codegen_job *job, LLVMBuilderRef builder,
                      LLVMValueRef item)
{
    LLVMValueRef store;

    kiln__device_record_item(job, builder, item);
    store = LLVMBuildStore(
        builder, kiln__job_number32(job, 1),
        word_at(job, builder, own(job, builder, item, OWN_NEXT)));
    LLVMSetAlignment(store, 4);
    LLVMSetOrdering(store, LLVMAtomicOrderingMonotonic);
    LLVMSetAtomicSyncScopeID(store,
                             LLVMGetSyncScopeID(job->context, "workgroup", 9));
}

void kiln__spirv_converge(kiln__codegen_job *job, LLVMBuilderRef builder,
                          LLVMValueRef item)
{
    const LLVMTypeRef i64 = kiln__job_i64(job);
    LLVMValueRef next, failed, over;

    kiln__hardware(job)->device.barrier(job, builder, item);
    next = own(job, builder, item, OWN_NEXT);
    failed = LLVMBuildLoad2(builder, kiln__job_i32(job),
                            word_at(job, builder, next), "");
    over = LLVMBuildOr(builder, own(job, builder, item, OWN_OVER),
                       LLVMBuildZExt(builder, failed, i64, ""), "");
    set_own(job, builder, item, OWN_OVER, over);
    next = LLVMBuildXor(builder, next, kiln__job_number64(job, 1), "");
    set_own(job, builder, item, OWN_NEXT, next);
}

void kiln__spirv_end(kiln__codegen_job *job, LLVMBuilderRef builder,
                     LLVMValueRef item)
{
    set_own(job, builder, item, OWN_OVER, kiln__job_number64(job, 1));
}

LLVMValueRef kiln__spirv_group_failed(kiln__codegen_job *job,
                                      LLVMBuilderRef builder, LLVMValueRef item)
{
    return LLVMBuildICmp(builder, LLVMIntNE, own(job, builder, item, OWN_OVER),
                         kiln__job_number64(job, 0), "");
}

int kiln__spirv_converges(const kiln__codegen_job *job)
{
    return LLVMGetNamedGlobal(job->module, words_name) != NULL;
}

/* The group's first item clears the words; the others wait at a barrier. */
void kiln__spirv_begin(kiln__codegen_job *job, LLVMBuilderRef builder,
                       LLVMValueRef item)
{
    const LLVMValueRef kernel =
        LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder));
    LLVMBasicBlockRef first, all;

    set_own(job, builder, item, OWN_NEXT, kiln__job_number64(job, 0));
    set_own(job, builder, item, OWN_OVER, kiln__job_number64(job, 0));
    if (!kiln__spirv_converges(job))
        return;
    first = LLVMAppendBasicBlockInContext(job->context, kernel, "");
    all = LLVMAppendBasicBlockInContext(job->context, kernel, "");
    LLVMBuildCondBr(builder,
                    LLVMBuildICmp(builder, LLVMIntEQ,
                                  kiln__device_item_number(job, builder),
                                  kiln__job_number64(job, 0), ""),
                    first, all);
    LLVMPositionBuilderAtEnd(builder, first);
    for (uint64_t i = 0; i < WORDS; i++)
        LLVMBuildStore(builder, LLVMConstNull(kiln__job_i32(job)),
                       word_at(job, builder, kiln__job_number64(job, i)));
    LLVMBuildBr(builder, all);
    LLVMPositionBuilderAtEnd(builder, all);
    kiln__hardware(job)->device.barrier(job, builder, item);
}
