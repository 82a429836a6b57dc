/* wide_emit.h - the body of a loop over items, for vectors of them, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_WIDE_EMIT_H
#define KILN_CODEGEN_MODULE_WIDE_EMIT_H

#include <llvm/IR/IRBuilder.h>

#include "codegen/module/wide/wide.h"
#include "codegen/module/wide/wide_bounds.h"

/* One value for each of the vectors that go side by side; a mask that is empty
   stands for all items. */
using wide_parts = llvm::SmallVector<llvm::Value *, 4>;

class wide_emitter
{
  public:
    wide_emitter(const wide_values &of, const wide_body &which);

    void run(llvm::BasicBlock *from, llvm::BasicBlock *then);

  private:
    using edge = std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>;

    /* wide_emit.cc */
    void make_blocks(llvm::BasicBlock *then);
    void begin(llvm::BasicBlock *from);
    void begin_counter(llvm::PHINode &counter);
    void begin_masks();
    void make_block(llvm::BasicBlock &block);
    void make(llvm::Instruction &at);
    void make_one(llvm::Instruction &at);
    void make_phi(llvm::PHINode &phi);
    void make_many(llvm::Instruction &at);
    llvm::Value *make_part(llvm::Instruction &at, unsigned part);
    llvm::Value *make_call(llvm::CallInst &call, unsigned part);
    void end(llvm::BasicBlock &block, llvm::BasicBlock *then);
    void fill_phi(llvm::PHINode &phi, unsigned incoming);
    void fill_phis();

    /* wide_alone.cc */
    llvm::Loop *alone_around(const llvm::BasicBlock *block) const;
    void make_alone(llvm::Loop &alone, llvm::BasicBlock *then);
    void make_copy(llvm::Loop &alone, llvm::BasicBlock *then);
    llvm::Value *one_of(llvm::Value *value);
    llvm::Value *many_of(llvm::Value *value, unsigned part);
    llvm::Type *vector_of(llvm::Type *type) const;
    llvm::Constant *lanes_of(llvm::Type *type, int64_t step) const;

    /* wide_masks.cc */
    void enter(llvm::BasicBlock &block);
    void leave(llvm::BasicBlock &block);
    void blend(llvm::PHINode &phi);
    void access(llvm::Instruction &at);
    llvm::Value *make_access(llvm::Instruction &at, llvm::Value *pointer,
                             unsigned part);
    llvm::Value *safe_place(llvm::LoadInst &load);
    llvm::Value *mask_of(unsigned part);
    void share(llvm::Instruction &at, wide_shared as);

    const wide_values &values;
    const wide_body &body;
    llvm::Function &function;
    llvm::IRBuilder<> b;
    llvm::DenseMap<const llvm::BasicBlock *, llvm::BasicBlock *> blocks;
    llvm::DenseMap<const llvm::Value *, llvm::Value *> ones;
    llvm::DenseMap<const llvm::Value *, wide_parts> manys;
    llvm::SmallVector<llvm::PHINode *, 8> phis;
    llvm::DenseMap<edge, wide_parts> edges;
    unsigned from_part = 0; /* what is being made: all, or one of them */
    unsigned to_part;
    wide_parts all;  /* the mask of items that there are */
    wide_parts mask; /* of those that come to where code is made */
    llvm::Instruction *before = nullptr; /* the loop: what is the same goes */
    llvm::PHINode *index = nullptr;
};

#endif /* KILN_CODEGEN_MODULE_WIDE_EMIT_H */
