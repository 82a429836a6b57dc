/* item_windows.h - items whose windows are inside, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_ITEMS_ITEM_WINDOWS_H
#define KILN_CODEGEN_MODULE_ITEMS_ITEM_WINDOWS_H

#include <optional>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/ValueHandle.h>

#include "codegen/module/items/trim.h"

/*
 * A *question* compares a sum with something fixed. The sum has the counter of
 * the items once, and counters of inner loops and fixed numbers with small
 * factors.
 */

namespace item_windows
{

inline constexpr unsigned parts_most = 8; /* of a sum */

struct term {
    llvm::Value *value; /* fixed, or the counter of an inner loop */
    int64_t factor;
};

struct sum {
    llvm::SmallVector<term, parts_most> terms;
    llvm::SmallVector<llvm::BinaryOperator *, parts_most> steps;
    int64_t items = 0; /* factor of the counter of the items */
    int64_t number = 0;
    unsigned parts = 0; /* terms, numbers, counters */
};

struct range {
    llvm::Value *first;
    llvm::Value *end;
    bool is_unsigned; /* so it was compared */
};

/* A comparison of two sums that move alike. */
struct level_question {
    llvm::ICmpInst *at;
    sum difference; /* of what is to be greater, compared with 0 */
    llvm::Value *answer;
};

/* What an instruction is in between: where `at_least`, and `below`, are not
   less than 0, and less than 0. */
struct question {
    llvm::Instruction *at;
    llvm::WeakTrackingVH moving; /* it may be a question, too */
    bool truth = false;          /* of a comparison */
    std::optional<sum> at_least;
    std::optional<sum> below;
};

/* A comparison that is the same for all items of a row, of the row's number
   plus a constant. It holds what it says in all rows but those at the edges. */
struct row_question {
    llvm::ICmpInst *at;
    llvm::Value *end; /* what the row's number is compared with, if not 0 or
                         another small constant */
    int64_t by;       /* what is added to it */
    bool truth;
};

class windows
{
  public:
    windows(const trim_loop &of, llvm::LoopInfo &all)
        : l(of), loops(all), is_expensive(kiln__trim_has_mathematics(*of.loop))
    {
    }

    bool find();
    void split();

  private:
    bool add(llvm::Value *value, int64_t factor, sum &to, unsigned depth);
    bool is_counter(llvm::Value *value) const;
    range range_of(const llvm::PHINode &counter) const;
    void ask(llvm::ICmpInst &at);
    void ask(llvm::IntrinsicInst &at);
    void ask_level(llvm::ICmpInst &at);
    void ask_row(llvm::ICmpInst &at);
    void find_rows();
    llvm::Value *is_row_inside(llvm::IRBuilder<> &b);
    void note(const question &q, llvm::Value *fixed, int64_t more_at_least,
              int64_t more_below, unsigned which);
    llvm::Value *wide(llvm::IRBuilder<> &b, llvm::Value *value) const;
    void keep_small(llvm::IRBuilder<> &b, llvm::Value *value);
    llvm::Value *extreme(llvm::IRBuilder<> &b, const sum &of, bool is_least);
    void find_bounds(llvm::IRBuilder<> &b);
    bool are_near() const;
    llvm::BasicBlock *add_edges(llvm::BasicBlock *after);
    void simplify();

    const trim_loop &l;
    llvm::LoopInfo &loops;
    const bool is_expensive; /* what an item computes */
    llvm::SmallVector<question, 8> questions;
    llvm::SmallVector<level_question, 4> levels;
    llvm::SmallVector<row_question, 8> rows;
    bool has_32_bits = false;
    llvm::Value *from = nullptr;
    llvm::Value *to = nullptr;
    /* Whether there may be items in between: the row is inside, and numbers are
       small. */
    llvm::Value *is_possible = nullptr;
};

} // namespace item_windows

#endif /* KILN_CODEGEN_MODULE_ITEMS_ITEM_WINDOWS_H */
