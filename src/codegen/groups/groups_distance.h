/* groups_distance.h - how far apart neighbours' values are, for C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_GROUPS_GROUPS_DISTANCE_H
#define KILN_CODEGEN_GROUPS_GROUPS_DISTANCE_H

#include <optional>

#include <llvm/IR/DataLayout.h>

#include "codegen/groups/groups_plan.h"

using groups_distance = std::optional<int64_t>; /* none: unknown */

/* Items whose ids differ by 1 along one dimension. */
struct groups_neighbours {
    const groups_plan *plan = nullptr; /* with what is uniform */
    const llvm::DataLayout *layout = nullptr;
    unsigned dimension = 0;
    /* A distance other than 0 is only given if it holds for all items of a row:
       no multiple of it is 0. Otherwise numbers of few bits may wrap, and what
       is found is only a reason for what is right without it. */
    bool is_proof = false;
    /* what has been found */
    mutable llvm::DenseMap<const llvm::Instruction *, groups_distance> known{};
};

/* Returns the difference of a value between neighbours: of an integer, or of a
   pointer in bytes. */
groups_distance kiln__groups_distance(const groups_neighbours &n,
                                      const llvm::Value *value);

/* Returns the dimension whose neighbours read and write neighbouring elements
   more than those of dimension 0 do, or 0: along it, the loop over items is
   worth vectorising. Where steps see the items, it is 0, as they number them
   from there. */
unsigned kiln__groups_inner_dimension(const groups_plan &plan);

#endif /* KILN_CODEGEN_GROUPS_GROUPS_DISTANCE_H */
