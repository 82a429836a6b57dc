/* apart.cc - lets LLVM know which arrays of a kernel do not overlap. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "codegen/module/llvm_gap.h"

/*
 * Where a launch is known to have arrays apart from each other, each access
 * tells which array it is to, in the form of scopes of aliases. That is said of
 * the addresses alone. So barriers and fences still order accesses to what
 * other items write.
 *
 * `noalias` on a parameter would say more: that nobody else changes the memory
 * while the kernel runs. That is true of arrays that are only read, and lets
 * code generation choose loads that need not see any store. It is not said in
 * kernels with fences between all items, which may wait for somebody else.
 */

namespace
{

class array_uses
{
  public:
    array_uses(llvm::Function &f, const kiln__llvm_arrays &a)
        : kernel(f), arrays(a)
    {
    }
    bool find();
    void tell(bool has_read_only);
    void mark(llvm::StringRef scope);

  private:
    using array_set = uint64_t;

    llvm::Argument *argument(unsigned number) const;
    bool follow(unsigned number);
    bool note(const llvm::Use &use, array_set array);
    array_set named_by(llvm::Instruction &access) const;
    array_set written_in(const llvm::BasicBlock &block) const;
    bool reads_after_writing() const;
    bool reads_after_writing(const llvm::BasicBlock &block,
                             array_set before) const;
    bool reads_again(unsigned number, const llvm::LoopInfo &loops) const;
    bool reads_any_again() const;
    bool waits_for_others(llvm::StringRef scope) const;

    llvm::Function &kernel;
    const kiln__llvm_arrays &arrays;
    /* Which arrays an instruction may access, as bits. */
    llvm::MapVector<llvm::Instruction *, array_set> accesses;
    array_set read = 0, written = 0;
};

} // namespace

/* ---- finding accesses ---- */

llvm::Argument *array_uses::argument(unsigned number) const
{
    return kernel.getArg(arrays.items[number].at);
}

/* True where the user's value is an address in the same array. */
static bool is_address(const llvm::User &user)
{
    return llvm::isa<llvm::GetElementPtrInst, llvm::CastInst, llvm::PHINode,
                     llvm::SelectInst, llvm::FreezeInst>(user) &&
           user.getType()->isPointerTy();
}

/* Notes what is done with an address. Returns false when it is more than to
   access the array. */
bool array_uses::note(const llvm::Use &use, array_set array)
{
    auto *user = llvm::cast<llvm::Instruction>(use.getUser());

    if (auto *load = llvm::dyn_cast<llvm::LoadInst>(user)) {
        read |= array;
        if (load->isVolatile())
            return false;
    } else if (llvm::isa<llvm::StoreInst>(user)) {
        written |= array;
        if (use.getOperandNo() != llvm::StoreInst::getPointerOperandIndex())
            return false;
    } else if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(user)) {
        written |= array;
        read |= array;
        if (use.getOperandNo() != 0)
            return false;
    } else {
        return llvm::isa<llvm::ICmpInst>(user);
    }
    accesses[user] |= array;
    return true;
}

bool array_uses::follow(unsigned number)
{
    llvm::SmallPtrSet<const llvm::Value *, 32> seen;
    llvm::SmallVector<const llvm::Value *, 16> left = {argument(number)};

    while (!left.empty()) {
        const llvm::Value *address = left.pop_back_val();

        for (const llvm::Use &use : address->uses()) {
            if (!is_address(*use.getUser())) {
                if (!note(use, array_set(1) << number))
                    return false;
            } else if (seen.insert(use.getUser()).second) {
                left.push_back(use.getUser());
            }
        }
    }
    return true;
}

bool array_uses::find()
{
    for (unsigned i = 0; i < arrays.count; i++)
        if (!follow(i))
            return false;
    return true;
}

/* ---- whether it makes a difference ---- */

array_uses::array_set array_uses::written_in(
    const llvm::BasicBlock &block) const
{
    array_set all = 0;

    for (const llvm::Instruction &at : block)
        if (at.mayWriteToMemory())
            all |= accesses.lookup(const_cast<llvm::Instruction *>(&at));
    return all;
}

/* `before`: what may have been written when the block begins. */
bool array_uses::reads_after_writing(const llvm::BasicBlock &block,
                                     array_set before) const
{
    for (const llvm::Instruction &at : block) {
        const array_set here =
            accesses.lookup(const_cast<llvm::Instruction *>(&at));

        if (at.mayReadFromMemory() && here != 0 && (before & ~here) != 0)
            return true;
        if (at.mayWriteToMemory())
            before |= here;
    }
    return false;
}

/* True when an item may read an array after it has written another one: then
   LLVM cannot move or join the loads, unless it knows the arrays apart. */
bool array_uses::reads_after_writing() const
{
    llvm::DenseMap<const llvm::BasicBlock *, array_set> own, before;
    bool changed = true;

    for (const llvm::BasicBlock &block : kernel)
        own[&block] = written_in(block);
    while (changed) {
        changed = false;
        for (const llvm::BasicBlock &block : kernel)
            for (const llvm::BasicBlock *next : llvm::successors(&block)) {
                const array_set more = own[&block] | before.lookup(&block);

                changed |= (more & ~before.lookup(next)) != 0;
                before[next] |= more;
            }
    }
    for (const llvm::BasicBlock &block : kernel)
        if (reads_after_writing(block, before.lookup(&block)))
            return true;
    return false;
}

/* The address without what only tells parts of one element apart. */
static const llvm::Value *element_of(const llvm::Instruction &access)
{
    const llvm::Value *address = llvm::getLoadStorePointerOperand(&access);

    return address == nullptr ? nullptr
                              : address->stripInBoundsConstantOffsets();
}

/* True when an item reads several elements of the array. */
bool array_uses::reads_again(unsigned number, const llvm::LoopInfo &loops) const
{
    const llvm::Value *first = nullptr;

    for (const auto &[access, set] : accesses) {
        const llvm::Value *element = element_of(*access);

        if ((set >> number & 1) == 0)
            continue;
        if (loops.getLoopFor(access->getParent()) != nullptr ||
            (first != nullptr && element != first))
            return true;
        first = element;
    }
    return false;
}

/* True when items read several elements of an array that they do not write. A
   launch that writes what is read so would be a race, so such launches are
   rare. */
bool array_uses::reads_any_again() const
{
    const llvm::DominatorTree dominators(kernel);
    const llvm::LoopInfo loops(dominators);

    for (unsigned i = 0; i < arrays.count; i++)
        if ((written >> i & 1) == 0 && reads_again(i, loops))
            return true;
    return false;
}

void array_uses::tell(bool has_read_only)
{
    for (unsigned i = 0; i < arrays.count; i++) {
        arrays.items[i].is_read = read >> i & 1;
        arrays.items[i].is_written = written >> i & 1;
    }
    *arrays.matters = written != 0 && (reads_after_writing() ||
                                       (has_read_only && reads_any_again()));
}

/* ---- saying it ---- */

/* Returns the arrays that the access may be to; 0: also something else. */
array_uses::array_set array_uses::named_by(llvm::Instruction &access) const
{
    llvm::SmallVector<const llvm::Value *, 4> objects;
    array_set all = 0;

    llvm::getUnderlyingObjects(
        access.getOperand(llvm::isa<llvm::StoreInst>(access) ? 1 : 0), objects,
        nullptr, 0);
    for (const llvm::Value *object : objects) {
        unsigned i = 0;

        while (i < arrays.count && object != argument(i))
            i++;
        if (i < arrays.count)
            all |= array_set(1) << i;
        else if (!llvm::isa<llvm::UndefValue>(object))
            return 0;
    }
    return all;
}

/* True where some item waits for what others of the launch do. */
bool array_uses::waits_for_others(llvm::StringRef scope) const
{
    llvm::LLVMContext &context = kernel.getContext();
    const llvm::SyncScope::ID wide = context.getOrInsertSyncScopeID(scope);

    for (const llvm::Instruction &at : llvm::instructions(kernel)) {
        const auto *fence = llvm::dyn_cast<llvm::FenceInst>(&at);

        if (fence != nullptr &&
            (fence->getSyncScopeID() == wide ||
             fence->getSyncScopeID() == llvm::SyncScope::System))
            return true;
    }
    return false;
}

static void add_scopes(llvm::Instruction &access, unsigned kind,
                       llvm::ArrayRef<llvm::Metadata *> scopes)
{
    llvm::MDNode *node = llvm::MDNode::get(access.getContext(), scopes);

    access.setMetadata(
        kind, llvm::MDNode::concatenate(access.getMetadata(kind), node));
}

void array_uses::mark(llvm::StringRef scope)
{
    llvm::MDBuilder builder(kernel.getContext());
    llvm::MDNode *domain =
        builder.createAnonymousAliasScopeDomain(kernel.getName());
    llvm::SmallVector<llvm::Metadata *, 16> scopes;
    const bool waits = waits_for_others(scope);

    for (unsigned i = 0; i < arrays.count; i++) {
        scopes.push_back(builder.createAnonymousAliasScope(domain));
        if (waits || (written >> i & 1) != 0 || (read >> i & 1) == 0)
            continue;
        kernel.addParamAttr(arrays.items[i].at, llvm::Attribute::NoAlias);
        kernel.addParamAttr(arrays.items[i].at, llvm::Attribute::ReadOnly);
    }
    for (const auto &[access, unused] : accesses) {
        const array_set own = named_by(*access);
        llvm::SmallVector<llvm::Metadata *, 16> in, out;

        for (unsigned i = 0; i < arrays.count; i++)
            ((own >> i & 1) != 0 ? in : out).push_back(scopes[i]);
        if (in.empty())
            continue;
        add_scopes(*access, llvm::LLVMContext::MD_alias_scope, in);
        add_scopes(*access, llvm::LLVMContext::MD_noalias, out);
    }
}

int kiln__llvm_find_uses(LLVMValueRef kernel, const kiln__llvm_arrays *arrays,
                         int has_read_only)
{
    array_uses uses(*llvm::unwrap<llvm::Function>(kernel), *arrays);

    if (!uses.find())
        return 0;
    uses.tell(has_read_only != 0);
    return 1;
}

void kiln__llvm_set_apart(LLVMValueRef kernel, const kiln__llvm_arrays *arrays,
                          const char *scope)
{
    array_uses uses(*llvm::unwrap<llvm::Function>(kernel), *arrays);

    if (uses.find())
        uses.mark(scope);
}

void kiln__llvm_set_aligned(LLVMValueRef function, unsigned at,
                            unsigned alignment)
{
    auto *to = llvm::unwrap<llvm::Function>(function);

    to->addParamAttr(at, llvm::Attribute::getWithAlignment(
                             to->getContext(), llvm::Align(alignment)));
}
