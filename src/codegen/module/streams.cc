/* streams.cc - gives loops a pointer for each array that they walk through. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "codegen/module/addresses.h"
#include "codegen/module/exact_index.h"

/*
 *     loop { ... x[i * n + a] ... x[(i + 1) * n + a] ...; i += 2; }
 *     =>
 *     p = x + a
 *     loop { q = p + n;  ... *p ... *q ...; p = q + n; }
 *
 * An index of 32 bits is computed and then made an address of 64; a pointer is
 * only moved on, by one instruction. LLVM's own strength reduction does this
 * where it can prove that the index does not wrap in any iteration; for what is
 * enough here, see exact_index.h.
 *
 * Where the step is known, an index costs no more than a pointer does, unless
 * several accesses share the pointer.
 */

#define UNROLLED_MOST 16 /* pointers in one iteration */

namespace
{

struct access {
    llvm::Use *pointer;      /* null: it has got one */
    const llvm::SCEV *start; /* in bytes behind the base */
};

using stream_key = std::pair<llvm::Value *, const llvm::SCEV *>;

class streams
{
  public:
    explicit streams(llvm::ScalarEvolution &evolution)
        : evolution(evolution), expander(evolution, "stream")
    {
    }

    void run(llvm::Loop &in);

  private:
    void gather(llvm::Instruction &at);
    bool pays(const stream_key &key, llvm::ArrayRef<access> all);
    const llvm::SCEV *way_in(const llvm::SCEV *step,
                             llvm::ArrayRef<access> all);
    bool can_place(const llvm::SCEV *number);
    void walk(const stream_key &key, llvm::SmallVectorImpl<access> &all);
    llvm::Value *move(llvm::IRBuilder<> &b, llvm::Value *pointer,
                      const llvm::SCEV *by);
    llvm::Value *hidden(llvm::IRBuilder<> &b, const stream_key &key,
                        llvm::Value *pointer);
    void point(llvm::IRBuilder<> &b, access &a, llvm::Value *pointer,
               const llvm::SCEV *apart);

    llvm::ScalarEvolution &evolution;
    llvm::SCEVExpander expander;
    llvm::Loop *loop = nullptr;
    llvm::MapVector<stream_key, llvm::SmallVector<access, 8>> found;
};

} // namespace

/* Notes an access to what the loop walks through. */
void streams::gather(llvm::Instruction &at)
{
    llvm::Value *address = llvm::getLoadStorePointerOperand(&at), *base;
    exact_line bytes;

    if (address == nullptr || loop->isLoopInvariant(address) ||
        !exact_index(evolution, loop).of_address(address, base, bytes) ||
        !kiln__is_far(base) || bytes.step->isZero() ||
        !can_place(bytes.start) || !can_place(bytes.step))
        return;
    found[{base, bytes.step}].push_back(
        {&at.getOperandUse(llvm::isa<llvm::StoreInst>(at) ? 1 : 0),
         bytes.start});
}

/* True when it can be computed in front of the loop, and is not expensive. */
bool streams::can_place(const llvm::SCEV *number)
{
    return evolution.isLoopInvariant(number, loop) &&
           expander.isSafeToExpandAt(number,
                                     loop->getLoopPreheader()->getTerminator());
}

/* True when the first of the accesses is to have a pointer. */
bool streams::pays(const stream_key &key, llvm::ArrayRef<access> all)
{
    return !llvm::isa<llvm::SCEVConstant>(key.second) ||
           llvm::any_of(all.drop_front(), [&](const access &a) {
               return kiln__is_near(
                   evolution.getMinusSCEV(a.start, all[0].start));
           });
}

/* ---- pointers ---- */

llvm::Value *streams::move(llvm::IRBuilder<> &b, llvm::Value *pointer,
                           const llvm::SCEV *by)
{
    llvm::Value *bytes = expander.expandCodeFor(
        by, b.getInt64Ty(), loop->getLoopPreheader()->getTerminator());

    return b.CreateGEP(b.getInt8Ty(), pointer, bytes);
}

/* True for an array that the kernel only reads. Of a function, these attributes
   say nothing about the time before it was called. */
static bool is_constant(const llvm::Value *object)
{
    const auto *argument = llvm::dyn_cast<llvm::Argument>(object);

    return argument != nullptr && argument->onlyReadsMemory() &&
           argument->getParent()->getCallingConv() ==
               llvm::CallingConv::PTX_Kernel &&
           argument->hasNoAliasAttr();
}

/* LLVM's strength reduction comes later. Of two pointers into one array it
   keeps one, and adds a distance for each access to the other one. It does not
   look through what is frozen. Only of arrays in the device's memory it is
   known which space a frozen pointer is in. */
llvm::Value *streams::hidden(llvm::IRBuilder<> &b, const stream_key &key,
                             llvm::Value *pointer)
{
    llvm::Type *far = llvm::getUnderlyingObject(key.first)->getType();

    if (llvm::isa<llvm::SCEVConstant>(key.second) ||
        far->getPointerAddressSpace() != 1)
        return pointer;
    pointer = b.CreateFreeze(b.CreateAddrSpaceCast(pointer, far));
    return b.CreateAddrSpaceCast(pointer, key.first->getType());
}

/* Gives an access its pointer. LLVM no longer sees which array that leads to,
   so loads of what nobody writes are told so. */
void streams::point(llvm::IRBuilder<> &b, access &a, llvm::Value *pointer,
                    const llvm::SCEV *apart)
{
    auto *load = llvm::dyn_cast<llvm::LoadInst>(a.pointer->getUser());

    if (load != nullptr &&
        is_constant(llvm::getUnderlyingObject(a.pointer->get())))
        load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                          llvm::MDNode::get(load->getContext(), {}));
    if (!apart->isZero())
        pointer = b.CreateGEP(
            b.getInt8Ty(), pointer,
            b.getInt(llvm::cast<llvm::SCEVConstant>(apart)->getAPInt()));
    a.pointer->set(pointer);
    a.pointer = nullptr;
}

/* Returns the way between accesses of an unrolled loop, or the whole step. */
const llvm::SCEV *streams::way_in(const llvm::SCEV *step,
                                  llvm::ArrayRef<access> all)
{
    for (const access &a : all) {
        const llvm::SCEV *way = evolution.getMinusSCEV(a.start, all[0].start);

        if (way->isZero() || kiln__is_near(way))
            continue;
        for (unsigned n = 2; n <= UNROLLED_MOST; n++)
            if (evolution.getMulExpr(evolution.getConstant(way->getType(), n),
                                     way) == step)
                return way;
    }
    return step;
}

/* Gives the accesses that the first one's pointer reaches, by a known number of
   bytes or by whole ways, pointers that are moved on. Leaves the others. */
void streams::walk(const stream_key &key, llvm::SmallVectorImpl<access> &all)
{
    llvm::BasicBlock *before = loop->getLoopPreheader();
    llvm::IRBuilder<> b(loop->getHeader(), loop->getHeader()->begin());
    const llvm::SCEV *way = way_in(key.second, all), *at = all[0].start;
    llvm::SmallVector<access, 8> rest;
    llvm::PHINode *first = b.CreatePHI(key.first->getType(), 2);
    llvm::Value *pointer = first;
    const llvm::SCEV *end = evolution.getAddExpr(at, key.second);

    b.SetInsertPoint(before->getTerminator());
    first->addIncoming(move(b, key.first, at), before);
    b.SetInsertPoint(loop->getHeader(),
                     loop->getHeader()->getFirstInsertionPt());
    for (unsigned n = 0; n < UNROLLED_MOST && at != end; n++) {
        for (access &a : all) {
            const llvm::SCEV *apart = evolution.getMinusSCEV(a.start, at);

            if (a.pointer == nullptr || !kiln__is_near(apart))
                continue;
            point(b, a, pointer, apart);
        }
        pointer = move(b, pointer, way);
        at = evolution.getAddExpr(at, way);
    }
    if (at != end)
        pointer = move(b, first, key.second);
    for (const access &a : all)
        if (a.pointer != nullptr)
            rest.push_back(a);
    if (!rest.empty())
        pointer = hidden(b, key, pointer);
    first->addIncoming(pointer, loop->getLoopLatch());
    all = std::move(rest);
}

void streams::run(llvm::Loop &in)
{
    llvm::SmallVector<llvm::WeakTrackingVH, 16> old;

    loop = &in;
    found.clear();
    if (!in.isInnermost() || in.getLoopLatch() == nullptr ||
        in.getLoopPreheader() == nullptr)
        return;
    for (llvm::BasicBlock *block : in.blocks())
        for (llvm::Instruction &at : *block)
            gather(at);
    for (auto &[key, all] : found)
        while (!all.empty()) {
            if (!pays(key, all)) {
                all.erase(all.begin());
                continue;
            }
            for (const access &a : all)
                old.push_back(a.pointer->get());
            walk(key, all);
        }
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(old);
}

void kiln__walk_by_pointers(kiln__loop_analyses &known)
{
    streams all(known.evolution);

    for (llvm::Loop *loop : known.loops.getLoopsInPreorder()) {
        if (loop->isInnermost() && loop->getLoopPreheader() == nullptr)
            llvm::InsertPreheaderForLoop(loop, &known.dominators, &known.loops,
                                         nullptr, false);
        all.run(*loop);
    }
}
