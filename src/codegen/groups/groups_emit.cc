/* groups_emit.cc - makes the function for a group out of regions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

#include "codegen/groups/groups_emit.h"

/*
 * A region becomes
 *
 *     read scalars
 *     for each item of the group          (the backend's loops)
 *         is it its turn?                 where not all items run together
 *         bring values; the region's code
 *     keep scalars
 *     go on: to the one region that follows, as the group decided, or to
 *
 *     dispatch: switch (least of what items wait for)
 *
 * What items wait for is an array of region numbers, in the group's memory. An
 * item that has ended waits for GROUPS_ENDED. Elements that belong to no item
 * have that value, too.
 */

/* ---- parts that other files use ---- */

llvm::AllocaInst *kiln__groups_variable(groups_emitter &e, llvm::Type *type)
{
    return new llvm::AllocaInst(type, 0, "", e.variables->getIterator());
}

/* Returns what is in front of an array over items. */
static llvm::Value *before_array(groups_emitter &e, uint64_t offset)
{
    return e.builder->CreateMul(e.count, e.builder->getInt64(offset), "", true,
                                true);
}

llvm::Value *kiln__groups_slot(groups_emitter &e, uint64_t offset,
                               uint64_t size)
{
    llvm::Value *before = before_array(e, offset);
    llvm::Value *at =
        e.builder->CreateMul(e.item, e.builder->getInt64(size), "", true, true);

    return e.builder->CreateInBoundsGEP(
        e.builder->getInt8Ty(), e.slots,
        e.builder->CreateAdd(before, at, "", true, true));
}

static llvm::Value *waiting_of(groups_emitter &e)
{
    return e.builder->CreateInBoundsGEP(e.builder->getInt16Ty(), e.waiting,
                                        e.item);
}

void kiln__groups_wait(groups_emitter &e, unsigned number)
{
    e.builder->CreateStore(e.builder->getInt16(static_cast<uint16_t>(number)),
                           waiting_of(e));
}

static llvm::Value *find_first(groups_emitter &e)
{
    return e.builder->CreateCall(e.first, {e.waiting, e.count});
}

static llvm::BasicBlock *add_block(groups_emitter &e, const char *name)
{
    return llvm::BasicBlock::Create(e.out->getContext(), name, e.out);
}

void kiln__groups_leave_if_ended(groups_emitter &e)
{
    llvm::BasicBlock *next = add_block(e, "");
    llvm::Value *ended = e.builder->CreateICmpEQ(
        find_first(e), e.builder->getInt16(GROUPS_ENDED));

    e.builder->CreateCondBr(ended, e.done, next);
    e.builder->SetInsertPoint(next);
}

/* ---- the least of the array ---- */

static void fill_first(llvm::Function *function)
{
    llvm::LLVMContext &context = function->getContext();
    auto *entry = llvm::BasicBlock::Create(context, "", function);
    auto *loop = llvm::BasicBlock::Create(context, "", function);
    auto *done = llvm::BasicBlock::Create(context, "", function);
    llvm::IRBuilder<> builder(entry);
    llvm::PHINode *at, *least;
    llvm::Value *next, *smaller;

    builder.CreateBr(loop);
    builder.SetInsertPoint(loop);
    at = builder.CreatePHI(builder.getInt64Ty(), 2);
    least = builder.CreatePHI(builder.getInt16Ty(), 2);
    smaller = builder.CreateBinaryIntrinsic(
        llvm::Intrinsic::umin, least,
        builder.CreateLoad(builder.getInt16Ty(),
                           builder.CreateInBoundsGEP(builder.getInt16Ty(),
                                                     function->getArg(0), at)));
    next = builder.CreateAdd(at, builder.getInt64(1), "", true, true);
    at->addIncoming(builder.getInt64(0), entry);
    at->addIncoming(next, loop);
    least->addIncoming(builder.getInt16(GROUPS_ENDED), entry);
    least->addIncoming(smaller, loop);
    builder.CreateCondBr(builder.CreateICmpULT(next, function->getArg(1)), loop,
                         done);
    builder.SetInsertPoint(done);
    builder.CreateRet(smaller);
}

static llvm::Function *make_first(llvm::Module &module)
{
    llvm::LLVMContext &context = module.getContext();
    llvm::Type *parameters[] = {llvm::PointerType::get(context, 0),
                                llvm::Type::getInt64Ty(context)};
    llvm::Function *function = llvm::Function::Create(
        llvm::FunctionType::get(llvm::Type::getInt16Ty(context), parameters,
                                false),
        llvm::GlobalValue::InternalLinkage, "kiln.first", module);

    function->addFnAttr(llvm::Attribute::AlwaysInline);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    fill_first(function);
    return function;
}

/* ---- the beginning ---- */

/* Lets every item wait for region 0, which says that it has not ended. */
static void begin_waiting(groups_emitter &e)
{
    kiln__codegen_items loop;

    e.builder->CreateMemSet(e.waiting, e.builder->getInt8(UINT8_MAX),
                            e.builder->CreateShl(e.count, 1),
                            llvm::MaybeAlign(64));
    groups_hooks(e)->open(e.job, e.c_builder, llvm::wrap(e.out->getArg(0)),
                          &loop);
    e.item = llvm::unwrap(loop.number);
    kiln__groups_wait(e, 0);
    groups_hooks(e)->close(e.job, e.c_builder, llvm::wrap(e.out->getArg(0)),
                           &loop, 1);
}

/* Notes that no item is known yet that fulfils the guard. */
static void begin_guard(groups_emitter &e)
{
    if (e.plan->guard == nullptr)
        return;
    e.any = kiln__groups_variable(e, e.builder->getInt8Ty());
    e.builder->CreateStore(e.builder->getInt8(0), e.any);
}

static void begin(groups_emitter &e)
{
    const LLVMValueRef item = llvm::wrap(e.out->getArg(0));
    llvm::BasicBlock *entry = add_block(e, "");
    llvm::BasicBlock *start = add_block(e, "");
    const uint64_t waiting_offset = e.plan->private_bytes;

    e.builder->SetInsertPoint(entry);
    e.variables = e.builder->CreateBr(start);
    for (size_t i = 0; i < e.plan->regions.size(); i++)
        e.starts.push_back(add_block(e, ""));
    e.builder->SetInsertPoint(start);
    e.memory = llvm::unwrap(groups_hooks(e)->memory(e.job, e.c_builder, item));
    e.slots = e.builder->CreateInBoundsGEP(
        e.builder->getInt8Ty(), e.memory,
        e.builder->getInt64(e.job->static_local_bytes));
    e.count = llvm::unwrap(groups_hooks(e)->count(e.job, e.c_builder, item));
    e.count =
        e.builder->CreateAdd(e.count, e.builder->getInt64(63), "", true, true);
    e.count = e.builder->CreateAnd(e.count, ~UINT64_C(63));
    if (e.general != nullptr)
        kiln__groups_leave_if_they_differ(e);
    if (e.keeps_waiting) {
        e.waiting = e.builder->CreateInBoundsGEP(
            e.builder->getInt8Ty(), e.slots,
            e.builder->CreateMul(e.count, e.builder->getInt64(waiting_offset),
                                 "", true, true));
        begin_waiting(e);
    }
    begin_guard(e);
    e.builder->CreateBr(
        e.starts[e.plan->region_of.lookup(&e.plan->function->getEntryBlock())]);
}

/* ---- what follows a region ---- */

static void dispatch(groups_emitter &e)
{
    llvm::SwitchInst *jump;

    e.builder->SetInsertPoint(e.dispatch);
    jump = e.builder->CreateSwitch(find_first(e), e.done);
    for (unsigned i = 0; i < e.starts.size(); i++)
        if (e.is_dispatched[i])
            jump->addCase(e.builder->getInt16(static_cast<uint16_t>(i)),
                          e.starts[i]);
}

/* Builds the branch that the group decided. */
static void decide(groups_emitter &e, const llvm::BasicBlock *split)
{
    llvm::StoreInst *store = e.decision;
    llvm::Type *type = store->getValueOperand()->getType();
    llvm::BasicBlock *here = e.builder->GetInsertBlock();
    llvm::Value *by = kiln__groups_outside(e, store->getValueOperand(), 0);
    llvm::Instruction *jump = split->getTerminator()->clone();

    e.builder->SetInsertPoint(here);
    if (by == nullptr)
        by = e.builder->CreateLoad(type, store->getPointerOperand());
    e.builder->Insert(jump);
    if (auto *branch = llvm::dyn_cast<llvm::BranchInst>(jump))
        branch->setCondition(by);
    else
        llvm::cast<llvm::SwitchInst>(jump)->setCondition(by);
    for (unsigned i = 0; i < jump->getNumSuccessors(); i++)
        jump->setSuccessor(
            i, e.starts[e.plan->region_of.lookup(jump->getSuccessor(i))]);
    jump->dropUnknownNonDebugMetadata();
}

/* True for the region that finds which items run the others. */
static bool asks(const groups_emitter &e)
{
    return e.plan->guard != nullptr &&
           e.region->has.contains(e.plan->guard->getParent());
}

/* Goes on if any item fulfils the guard. */
static void go_on_if_any(groups_emitter &e)
{
    llvm::Value *any = e.builder->CreateLoad(e.builder->getInt8Ty(), e.any);

    e.builder->CreateCondBr(e.builder->CreateIsNotNull(any),
                            e.starts[e.region->next[0]], e.done);
}

static void go_on(groups_emitter &e)
{
    const groups_region &region = *e.region;
    const bool is_direct = region.is_together && region.splits.size() == 1 &&
                           e.plan->regions[region.next[0]].is_together;

    if (asks(e)) {
        go_on_if_any(e);
        return;
    }
    if (region.is_together && region.splits.empty()) {
        e.builder->CreateBr(e.done);
        return;
    }
    if (!is_direct) {
        for (unsigned next : region.next)
            e.is_dispatched[next] = 1;
        e.builder->CreateBr(e.dispatch);
        return;
    }
    if (region.can_end)
        kiln__groups_leave_if_ended(e);
    if (region.next.size() > 1)
        decide(e, region.splits[0]);
    else
        e.builder->CreateBr(e.starts[region.next[0]]);
}

/* ---- steps ---- */

/* Returns the address that a step gets for a variable: that of an array over
   the items, or of a variable of the group. */
static llvm::Value *address_for_step(groups_emitter &e, llvm::Value *variable)
{
    auto *own = llvm::dyn_cast<llvm::AllocaInst>(variable);
    llvm::APInt offset(64, 0);

    if (own != nullptr)
        return e.builder->CreateInBoundsGEP(
            e.builder->getInt8Ty(), e.slots,
            before_array(e, e.plan->arrays.find(own)->second.offset));
    (void)variable->stripAndAccumulateConstantOffsets(e.out->getDataLayout(),
                                                      offset, true);
    return e.builder->CreateInBoundsGEP(e.builder->getInt8Ty(), e.memory,
                                        e.builder->getInt(offset));
}

/* Calls what is to be done where the items of the region have waited. */
static void run_step(groups_emitter &e)
{
    const auto found =
        e.plan->steps.find(e.region->entry->getSinglePredecessor());
    const unsigned number = e.region->is_together ? GROUPS_ENDED : e.number;
    llvm::SmallVector<llvm::Value *, 8> arguments;

    if (found == e.plan->steps.end())
        return;
    arguments = {e.waiting, e.count,
                 e.builder->getInt16(static_cast<uint16_t>(number)),
                 e.builder->getInt1(e.region->is_together)};
    for (llvm::Value *variable : found->second.variables)
        arguments.push_back(address_for_step(e, variable));
    e.builder->CreateCall(found->second.run, arguments);
}

/* ---- regions ---- */

/* Skips the item if it is not its turn. */
static void take_turn(groups_emitter &e)
{
    const groups_region &region = *e.region;
    llvm::Value *waits, *is_its_turn;

    if (e.plan->guard != nullptr && !asks(e)) {
        e.builder->CreateCondBr(kiln__groups_bring_value(e, e.plan->guard),
                                e.item_start, e.item_end);
        return;
    }
    if (region.is_together && !region.is_masked) {
        e.builder->CreateBr(e.item_start);
        return;
    }
    waits = e.builder->CreateLoad(e.builder->getInt16Ty(), waiting_of(e));
    is_its_turn =
        region.is_together
            ? e.builder->CreateICmpNE(waits, e.builder->getInt16(GROUPS_ENDED))
            : e.builder->CreateICmpEQ(
                  waits, e.builder->getInt16(static_cast<uint16_t>(e.number)));
    e.builder->CreateCondBr(is_its_turn, e.item_start, e.item_end);
}

/* Notes whether the item fulfils the guard. */
static void ask(groups_emitter &e)
{
    llvm::Value *in = &*e.map->lookup(e.plan->guard);
    llvm::Type *byte = e.builder->getInt8Ty();

    e.builder->SetInsertPoint(
        llvm::cast<llvm::Instruction>(in)->getParent()->getTerminator());
    e.builder->CreateStore(
        e.builder->CreateOr(e.builder->CreateLoad(byte, e.any),
                            e.builder->CreateZExt(in, byte)),
        e.any);
}

static void map_arguments(groups_emitter &e)
{
    const unsigned count = static_cast<unsigned>(e.out->arg_size());

    for (llvm::Argument &argument : e.plan->function->args()) {
        const unsigned i = argument.getArgNo();

        (*e.map)[&argument] =
            i < count ? e.out->getArg(i) : e.agreed[i - count];
    }
}

static void emit_region(groups_emitter &e)
{
    const LLVMValueRef item = llvm::wrap(e.out->getArg(0));
    llvm::ValueToValueMapTy map;
    kiln__codegen_items loop;

    e.map = &map;
    e.brought.clear();
    map_arguments(e);
    e.before = e.starts[e.number];
    e.builder->SetInsertPoint(e.before);
    run_step(e);
    kiln__groups_bring_scalars(e);
    groups_hooks(e)->open(e.job, e.c_builder, item, &loop);
    e.item = llvm::unwrap(loop.number);
    e.item_start = add_block(e, "");
    e.item_end = add_block(e, "");
    take_turn(e);
    e.builder->SetInsertPoint(e.item_start);
    kiln__groups_bring(e);
    kiln__groups_copy(e);
    kiln__groups_connect(e);
    if (asks(e))
        ask(e);
    e.builder->SetInsertPoint(e.item_end);
    groups_hooks(e)->close(e.job, e.c_builder, item, &loop, 1);
    kiln__groups_keep_scalars(e);
    go_on(e);
}

/* ---- the function ---- */

static llvm::Function *make_function(const groups_plan &plan)
{
    llvm::Function *from = plan.function;
    llvm::FunctionType *type = llvm::FunctionType::get(
        from->getReturnType(),
        from->getFunctionType()->params().drop_back(plan.agreed.size()), false);
    llvm::Function *out =
        llvm::Function::Create(type, from->getLinkage(),
                               from->getAddressSpace(), "", from->getParent());

    out->copyAttributesFrom(from);
    out->removeParamAttrs(
        0, llvm::AttributeMask(from->getAttributes().getParamAttrs(0)));
    for (const llvm::Attribute::AttrKind kind :
         {llvm::Attribute::Memory, llvm::Attribute::Convergent,
          llvm::Attribute::NoSync, llvm::Attribute::WillReturn,
          llvm::Attribute::Speculatable})
        out->removeFnAttr(kind);
    out->takeName(from);
    return out;
}

static void end(groups_emitter &e)
{
    llvm::Function *from = e.plan->function;

    e.builder->SetInsertPoint(e.done);
    e.builder->CreateRet(e.builder->getInt32(0));
    e.builder->SetInsertPoint(e.failed);
    e.builder->CreateRet(e.builder->getInt32(1));
    e.done->moveAfter(&e.out->back());
    e.failed->moveAfter(&e.out->back());
    for (llvm::BasicBlock *block : {e.dispatch, e.failed, e.done})
        if (llvm::pred_empty(block))
            block->eraseFromParent();
    e.out->setSubprogram(from->getSubprogram());
    from->eraseFromParent();
}

llvm::Function *kiln__groups_emit(kiln__codegen_job *job,
                                  const groups_plan &plan,
                                  llvm::Function *general)
{
    groups_emitter e;

    e.job = job;
    e.plan = &plan;
    e.general = general;
    e.c_builder = LLVMCreateBuilderInContext(job->context);
    e.builder = llvm::unwrap(e.c_builder);
    e.out = make_function(plan);
    e.is_dispatched.resize(plan.regions.size());
    e.keeps_waiting = kiln__groups_keeps_waiting(plan);
    if (e.keeps_waiting)
        e.first = make_first(*e.out->getParent());
    e.dispatch = llvm::BasicBlock::Create(e.out->getContext(), "");
    e.done = llvm::BasicBlock::Create(e.out->getContext(), "");
    e.failed = llvm::BasicBlock::Create(e.out->getContext(), "");
    begin(e);
    for (llvm::BasicBlock *block : {e.dispatch, e.done, e.failed})
        block->insertInto(e.out);
    for (e.number = 0; e.number < plan.regions.size(); e.number++) {
        e.region = &plan.regions[e.number];
        emit_region(e);
    }
    if (e.keeps_waiting)
        dispatch(e);
    end(e);
    if (e.general != nullptr)
        kiln__groups_inline_general(e);
    LLVMDisposeBuilder(e.c_builder);
    return e.out;
}
