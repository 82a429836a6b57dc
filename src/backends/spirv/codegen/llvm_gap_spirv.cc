/* llvm_gap_spirv.cc - what LLVM's C interface lacks for SPIR-V. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/CodeGen/AtomicExpandUtils.h>
#include <llvm/CodeGen/MachineFunction.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LowerMemIntrinsics.h>

#include "backends/spirv/codegen/llvm_gap_spirv.h"
#include "codegen/module/codegen_stages.h"

/* ---- instructions ----
 *
 * The C interface cannot truncate a block, drops flags only one by one, and has
 * none of LLVM's utilities.
 */

extern "C" void kiln__llvm_cut(LLVMValueRef instruction)
{
    auto *at = llvm::cast<llvm::Instruction>(llvm::unwrap(instruction));
    llvm::BasicBlock *block = at->getParent();

    llvm::changeToUnreachable(at);
    block->getTerminator()->eraseFromParent();
}

/* Builds the exchange of an update's loop. Only bits can be compared. */
static void build_exchange(llvm::IRBuilderBase &builder, llvm::Value *address,
                           llvm::Value *expected, llvm::Value *value,
                           llvm::Align alignment, llvm::AtomicOrdering order,
                           llvm::SyncScope::ID scope, llvm::Value *&success,
                           llvm::Value *&found, llvm::Instruction * /*source*/)
{
    llvm::Type *type = value->getType();
    llvm::Type *bits = type->isFloatingPointTy()
                           ? builder.getIntNTy(type->getPrimitiveSizeInBits())
                           : type;
    llvm::Value *pair = builder.CreateAtomicCmpXchg(
        address, builder.CreateBitCast(expected, bits),
        builder.CreateBitCast(value, bits), alignment, order,
        llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order), scope);

    success = builder.CreateExtractValue(pair, 1);
    found = builder.CreateBitCast(builder.CreateExtractValue(pair, 0), type);
}

extern "C" void kiln__llvm_expand_update(LLVMValueRef update)
{
    llvm::expandAtomicRMWToCmpXchg(
        llvm::cast<llvm::AtomicRMWInst>(llvm::unwrap(update)), build_exchange);
}

static bool goes_through_struct(const llvm::GetElementPtrInst &address)
{
    for (auto at = llvm::gep_type_begin(address);
         at != llvm::gep_type_end(address); ++at)
        if (at.isStruct())
            return true;
    return false;
}

extern "C" void kiln__llvm_count_bytes(LLVMValueRef address)
{
    auto *at = llvm::cast<llvm::GetElementPtrInst>(llvm::unwrap(address));

    if (!goes_through_struct(*at) || at->getType()->isVectorTy())
        return;
    llvm::IRBuilder<> builder(at);
    llvm::Value *offset =
        llvm::emitGEPOffset(&builder, at->getDataLayout(), at);
    at->replaceAllUsesWith(builder.CreatePtrAdd(at->getPointerOperand(), offset,
                                                "", at->getNoWrapFlags()));
    at->eraseFromParent();
}

static void drop_poison(llvm::Value *value)
{
    llvm::SmallPtrSet<llvm::Value *, 16> seen;
    llvm::SmallVector<llvm::Value *, 16> left = {value};

    while (!left.empty()) {
        auto *at = llvm::dyn_cast<llvm::Instruction>(left.pop_back_val());

        if (at == nullptr || !seen.insert(at).second)
            continue;
        at->dropPoisonGeneratingAnnotations();
        if (!llvm::isa<llvm::LoadInst>(at) && !llvm::isa<llvm::CallInst>(at))
            left.append(at->value_op_begin(), at->value_op_end());
    }
}

extern "C" void kiln__llvm_replace_freeze(LLVMValueRef freeze)
{
    auto *at = llvm::cast<llvm::Instruction>(llvm::unwrap(freeze));
    llvm::Value *value = at->getOperand(0);

    drop_poison(value);
    if (llvm::isa<llvm::UndefValue>(value))
        value = llvm::Constant::getNullValue(value->getType());
    at->replaceAllUsesWith(value);
    at->eraseFromParent();
}

extern "C" int kiln__llvm_expand_memory(LLVMValueRef call)
{
    auto *at = llvm::cast<llvm::MemIntrinsic>(llvm::unwrap(call));
    const llvm::TargetTransformInfo costs(at->getModule()->getDataLayout());

    if (auto *copy = llvm::dyn_cast<llvm::MemCpyInst>(at))
        llvm::expandMemCpyAsLoop(copy, costs);
    else if (auto *fill = llvm::dyn_cast<llvm::MemSetInst>(at))
        llvm::expandMemSetAsLoop(fill);
    else if (!llvm::expandMemMoveAsLoop(llvm::cast<llvm::MemMoveInst>(at),
                                        costs))
        return 0;
    at->eraseFromParent();
    return 1;
}

/* ---- extensions ----
 *
 * LLVM reads which extensions a machine may use from an option of the process:
 * when the machine is made, and again when code is generated. The option would
 * print a name that it does not know. So a function with a list of its own,
 * which returns an error, is called first. What the host itself has set is
 * restored.
 */

extern "C" bool SPIRVTranslateModule(llvm::Module *module, std::string &bytes,
                                     std::string &message,
                                     const std::vector<std::string> &extensions,
                                     const std::vector<std::string> &options);

#define OPTION "spirv-ext"

static bool is_ours; /* the option has our list; under the caller's lock */

static llvm::cl::Option *find_option()
{
    auto &known = llvm::cl::getRegisteredOptions();
    auto found = known.find(OPTION);

    return found != known.end() ? found->second : nullptr;
}

static bool knows(const std::vector<std::string> &extensions, std::string &why)
{
    llvm::LLVMContext context;
    llvm::Module empty("", context);
    std::string bytes;

    empty.setTargetTriple(llvm::Triple("spirv64v1.4-unknown-unknown"));
    return SPIRVTranslateModule(&empty, bytes, why, extensions, {});
}

static bool allow(const std::vector<std::string> &extensions, std::string &why)
{
    llvm::cl::Option *option = find_option();
    std::string list;

    if (!knows(extensions, why))
        return false;
    if (option == nullptr || option->getNumOccurrences() != 0) {
        why = "the process has its own list of extensions";
        return false;
    }
    for (const std::string &name : extensions)
        list += (list.empty() ? "+" : ",+") + name;
    is_ours = !option->addOccurrence(0, OPTION, list);
    if (!is_ours)
        option->reset();
    return is_ours;
}

extern "C" int kiln__llvm_spirv_extensions(const char *const *names,
                                           size_t count, char **message)
{
    std::string why = "an extension that is not known";

    if (count == 0) {
        if (is_ours)
            find_option()->reset();
        is_ours = false;
        return 0;
    }
    if (allow(std::vector<std::string>(names, names + count), why))
        return 0;
    *message = strdup(why.c_str());
    return 1;
}

/* ---- code generation ----
 *
 * The ids of labels are kept in a table of the process, by a function's address
 * and a block's number, and stay there when the function is gone. Another
 * function at the same address would be given the labels of the old one, and
 * these may be ids of something else in its module. So no number of a block is
 * used twice: one pass renumbers the blocks before code is written, and a
 * second one restores the numbers.
 *
 * One pass is left out. It prepares code for instructions of processors and
 * makes sums with carries, which older translators of SPIR-V do not know.
 */

static int next_number; /* under the lock of spirv_emit.c */

namespace
{
class number_anew : public llvm::MachineFunctionPass
{
  public:
    static char ID;
    number_anew() : MachineFunctionPass(ID)
    {
    }
    bool runOnMachineFunction(llvm::MachineFunction &function) override
    {
        function.RenumberBlocks();
        for (llvm::MachineBasicBlock &block : function)
            block.setNumber(next_number++);
        return true;
    }
    void getAnalysisUsage(llvm::AnalysisUsage &usage) const override
    {
        usage.setPreservesAll();
        MachineFunctionPass::getAnalysisUsage(usage);
    }
};

class number_as_before : public llvm::MachineFunctionPass
{
  public:
    static char ID;
    number_as_before() : MachineFunctionPass(ID)
    {
    }
    bool runOnMachineFunction(llvm::MachineFunction &function) override
    {
        int number = 0;

        for (llvm::MachineBasicBlock &block : function)
            block.setNumber(number++);
        return true;
    }
    void getAnalysisUsage(llvm::AnalysisUsage &usage) const override
    {
        usage.setPreservesAll();
        MachineFunctionPass::getAnalysisUsage(usage);
    }
};

char number_anew::ID;
char number_as_before::ID;

class numbering_manager : public llvm::legacy::PassManagerBase
{
  public:
    void add(llvm::Pass *pass) override
    {
        const bool writes = pass->getPassName() == "SPIRV Assembly Printer";

        if (pass->getPassID() == prepares->getPassID() ||
            pass->getPassID() == counts->getPassID()) {
            delete pass;
            return;
        }
        if (writes)
            all.add(new number_anew);
        all.add(pass);
        if (writes)
            all.add(new number_as_before);
    }
    llvm::legacy::PassManager all;

  private:
    std::unique_ptr<llvm::Pass> prepares{
        llvm::createCodeGenPrepareLegacyPass()};
    std::unique_ptr<llvm::Pass> counts{llvm::createLoopStrengthReducePass()};
};
} // namespace

/* Emits to the stream. The output is complete only when the pass manager is
   destroyed. */
static bool emit_to(llvm::raw_svector_ostream &stream,
                    llvm::TargetMachine &machine, llvm::Module &module,
                    llvm::CodeGenFileType type)
{
    numbering_manager passes;

    if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
        return false;
    passes.all.run(module);
    return true;
}

extern "C" LLVMMemoryBufferRef kiln__llvm_emit_spirv(
    LLVMTargetMachineRef machine, LLVMModuleRef module, int as_text)
{
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);

    if (!emit_to(stream, *reinterpret_cast<llvm::TargetMachine *>(machine),
                 *llvm::unwrap(module),
                 as_text ? llvm::CodeGenFileType::AssemblyFile
                         : llvm::CodeGenFileType::ObjectFile))
        return nullptr;
    return LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.data(), bytes.size(),
                                                     "");
}
