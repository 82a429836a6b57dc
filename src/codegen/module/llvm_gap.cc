/* llvm_gap.cc - what LLVM's C interface lacks, each with its reason. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <memory>
#include <new>
#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/OptBisect.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Pass.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Local.h>

#include "codegen/module/codegen_stages.h"

/* ---- exceptions ----
 *
 * The C++ library that LLVM is built on throws when memory runs out. C cannot
 * catch that, and an exception that leaves a thread ends the process.
 */

/* Returns 0, or 1 when an exception left run(). */
extern "C" int kiln__llvm_guard(void (*run)(void *env), void *env)
{
    try {
        run(env);
        return 0;
    } catch (abi::__forced_unwind &) {
        throw; /* the thread is being cancelled */
    } catch (...) {
        return 1;
    }
}

/* LLVM's own allocations abort unless this handler is set. The C interface has
   only the handler of other fatal errors. */
static void (*bad_alloc_handler)(const char *reason);

static void on_bad_alloc(void *, const char *reason, bool)
{
    bad_alloc_handler(reason);
}

extern "C" void kiln__llvm_on_bad_alloc(void (*handler)(const char *reason))
{
    bad_alloc_handler = handler;
    llvm::remove_bad_alloc_error_handler();
    llvm::install_bad_alloc_error_handler(on_bad_alloc, nullptr);
}

/* ---- metadata ----
 *
 * Access groups and loops are distinct nodes. The C interface makes only
 * uniqued ones.
 */

extern "C" LLVMValueRef kiln__llvm_access_group(LLVMContextRef context)
{
    llvm::LLVMContext &c = *llvm::unwrap(context);

    return llvm::wrap(
        llvm::MetadataAsValue::get(c, llvm::MDNode::getDistinct(c, {})));
}

/* Makes the metadata of a loop whose memory accesses of the group are
   independent. Its iterations are not interleaved: processors overlap them
   by themselves, and code for one vector takes a fraction of the time to
   generate. */
extern "C" LLVMValueRef kiln__llvm_parallel_loop(LLVMContextRef context,
                                                 LLVMValueRef access_group)
{
    llvm::LLVMContext &c = *llvm::unwrap(context);
    auto *group = llvm::cast<llvm::MetadataAsValue>(llvm::unwrap(access_group));
    llvm::Metadata *parallel[] = {
        llvm::MDString::get(c, "llvm.loop.parallel_accesses"),
        group->getMetadata()};
    llvm::Metadata *one[] = {
        llvm::MDString::get(c, "llvm.loop.interleave.count"),
        llvm::ConstantAsMetadata::get(
            llvm::ConstantInt::get(llvm::Type::getInt32Ty(c), 1))};
    llvm::Metadata *items[] = {llvm::MDString::get(c, KILN__ITEM_LOOP)};
    llvm::Metadata *operands[] = {nullptr, llvm::MDNode::get(c, parallel),
                                  llvm::MDNode::get(c, one),
                                  llvm::MDNode::get(c, items)};
    llvm::MDNode *loop = llvm::MDNode::getDistinct(c, operands);

    loop->replaceOperandWith(0, loop); /* the node of a loop refers to itself */
    return llvm::wrap(llvm::MetadataAsValue::get(c, loop));
}

/* ---- constants ----
 *
 * The C interface cannot take a constant expression apart.
 */

extern "C" void kiln__llvm_expand_users(LLVMValueRef constant)
{
    llvm::Constant *c = llvm::cast<llvm::Constant>(llvm::unwrap(constant));

    llvm::convertUsersOfConstantsToInstructions({c});
}

/* ---- bitcode ----
 *
 * The C interface reads whole modules, links whole modules, and writes bitcode
 * that loses the order of uses, on which passes may depend.
 */

extern "C" LLVMModuleRef kiln__llvm_read_lazily(LLVMContextRef context,
                                                LLVMMemoryBufferRef buffer,
                                                char **message)
{
    llvm::SMDiagnostic diagnostic;
    std::unique_ptr<llvm::Module> module = llvm::getLazyIRModule(
        std::unique_ptr<llvm::MemoryBuffer>(llvm::unwrap(buffer)), diagnostic,
        *llvm::unwrap(context));

    if (module == nullptr)
        *message = LLVMCreateMessage(diagnostic.getMessage().str().c_str());
    return llvm::wrap(module.release());
}

/* Returns 0, or 1 after a diagnostic. */
extern "C" int kiln__llvm_link_needed(LLVMModuleRef into, LLVMModuleRef from)
{
    return llvm::Linker::linkModules(
        *llvm::unwrap(into), std::unique_ptr<llvm::Module>(llvm::unwrap(from)),
        llvm::Linker::LinkOnlyNeeded);
}

extern "C" void kiln__llvm_drop_named_metadata(LLVMModuleRef module)
{
    llvm::Module &m = *llvm::unwrap(module);

    while (!m.named_metadata_empty())
        m.eraseNamedMetadata(&*m.named_metadata_begin());
}

static void put_constant_last(llvm::Module &m, llvm::Value *value)
{
    auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(value);

    if (variable == nullptr || !variable->hasPrivateLinkage())
        return;
    variable->removeFromParent();
    m.insertGlobalVariable(variable);
}

extern "C" void kiln__llvm_put_last(const LLVMValueRef *functions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        llvm::Function &f = *llvm::unwrap<llvm::Function>(functions[i]);
        llvm::Module &m = *f.getParent();

        f.removeFromParent();
        m.getFunctionList().push_back(&f);
        for (llvm::Instruction &instruction : llvm::instructions(f))
            for (llvm::Use &use : instruction.operands())
                put_constant_last(m, use.get());
    }
}

extern "C" LLVMMemoryBufferRef kiln__llvm_write_bitcode(LLVMModuleRef module)
{
    std::string bytes;
    llvm::raw_string_ostream stream(bytes);

    llvm::WriteBitcodeToFile(*llvm::unwrap(module), stream,
                             /*ShouldPreserveUseListOrder=*/true);
    return LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.data(), bytes.size(),
                                                     "bitcode");
}

/* ---- code generation ----
 *
 * LLVM decides by global options which passes of code generation run. But the
 * passes are added to a manager one by one, and this manager declines those
 * that are not wanted.
 */

/*
 * Loop strength reduction and the pass that prepares it take a good part of
 * code generation's time, and loops over items are no faster for them, because
 * x86 has addresses of base, scaled index and displacement. The same holds for
 * the other passes that only improve code: together they cost as much as
 * instruction selection, and no kernel of a solver was measurably slower
 * without them. The rest of the list is for what our modules never have:
 * garbage collection, tiles, thread-local storage, hardening, instrumentation.
 */
static const char *const unwanted_passes[] = {
    "Loop Strength Reduction",
    "Canonicalize Freeze Instructions in Loops",
    "Constant Hoisting",
    "Early If-Conversion",
    "Early Tail Duplication",
    "Expand memcmp() to load/stores",
    "Live Range Shrink",
    "Machine Common Subexpression Elimination",
    "Machine Copy Propagation Pass",
    "Machine InstCombiner",
    "Machine Instruction Scheduler",
    "Machine Late Instructions Cleanup Pass",
    "Machine code sinking",
    "Merge contiguous icmps into a memcmp",
    "Partially inline calls to library functions",
    "PostRA Machine Sink",
    "Replace intrinsics with calls to vector library",
    "Shrink Wrapping analysis",
    "Tail Duplication",
    "X86 Avoid Store Forwarding Blocks",
    "X86 Domain Reassignment Pass",
    "X86 LEA Optimize",
    "X86 Partial Reduction",
    "X86 cmov Conversion",

    "Exception handling preparation",
    "Expand indirectbr instructions",
    "Fixup Statepoint Caller Saved",
    "Instrument function entry/exit with calls to e.g. mcount() "
    "(post inlining)",
    "Local Dynamic TLS Access Clean-up",
    "Lower AMX intrinsics",
    "Lower AMX type for load/store",
    "Lower Garbage Collection Instructions",
    "ObjC ARC contraction",
    "Prepare callbr",
    "Register Allocation Pass Scoring",
    "Safe Stack instrumentation pass",
    "Shadow Stack GC Lowering",
    "Tile Register Configure",
    "Tile Register Pre-configure",
    "X86 Load Value Injection (LVI) Load Hardening",
    "X86 Lower Tile Copy",
    "X86 Suppress APX features for relocation",
    "X86 speculative load hardening",
};

/* The first one would join blocks again that were cut. The other one looks at
   each pair of instructions of a block that use memory. */
static const char *const square_passes[] = {
    "CodeGen Prepare",
    "Post RA top-down list latency scheduler",
};

static bool is_wanted(llvm::StringRef name, unsigned without)
{
    if (without & KILN__WITHOUT_COSTLY)
        for (const char *unwanted : unwanted_passes)
            if (name == unwanted)
                return false;
    if (without & KILN__WITHOUT_SQUARE)
        for (const char *unwanted : square_passes)
            if (name == unwanted)
                return false;
    return true;
}

/*
 * Of a device's two entries, the one for any launch is hardly ever launched. It
 * goes without passes that take long for what they bring, and that LLVM leaves
 * out of functions without optimisation, too. Instructions are chosen as for
 * the other entry, so both compute the same floats. CodeGenPrepare stays: with
 * less code, what follows is quicker.
 */
static const char *const rare_passes[] = {
    "consthoist",
    "early-cse",
    "early-machinelicm",
    "gvn",
    "machine-cp",
    "machine-cse",
    "machine-latecleanup",
    "machine-sink",
    "machinelicm",
    "nary-reassociate",
    "postmisched",
    "postra-machine-sink",
    "separate-const-offset-from-gep",
    "sink",
    "slsr",
    "tailduplication",

    /* Passes of loops ask by their long names. */
    "Canonicalize Freeze Instructions in Loops",
    "Loop Invariant Code Motion",
    "Loop Strength Reduction",
};

namespace
{

/* Passes ask the context's gate whether they run. Those of loops do not tell
   of which function, so a pass before them notes it. */
class rare_gate : public llvm::OptPassGate
{
  public:
    explicit rare_gate(const llvm::Function *rare)
        : rare(rare),
          description(rare == nullptr
                          ? std::string()
                          : ("function (" + rare->getName() + ")").str())
    {
    }
    bool shouldRunPass(llvm::StringRef pass,
                       llvm::StringRef where) const override
    {
        if (where != description && !(is_in_rare && where == "loop"))
            return true;
        for (const char *unwanted : rare_passes)
            if (pass == unwanted)
                return false;
        return true;
    }
    bool isEnabled() const override
    {
        return rare != nullptr;
    }
    const llvm::Function *const rare;
    bool is_in_rare = false;

  private:
    const std::string description;
};

struct note_function : llvm::FunctionPass {
    static char ID;
    explicit note_function(rare_gate &gate) : FunctionPass(ID), gate(gate)
    {
    }
    bool runOnFunction(llvm::Function &function) override
    {
        gate.is_in_rare = &function == gate.rare;
        return false;
    }
    void getAnalysisUsage(llvm::AnalysisUsage &usage) const override
    {
        usage.setPreservesAll();
    }

  private:
    rare_gate &gate;
};
char note_function::ID = 0;

class choosy_manager : public llvm::legacy::PassManagerBase
{
  public:
    choosy_manager(unsigned without, rare_gate &gate)
        : without(without), gate(gate)
    {
    }
    void add(llvm::Pass *pass) override
    {
        if (!is_wanted(pass->getPassName(), without)) {
            delete pass;
            return;
        }
        if (gate.isEnabled() && pass->getPassKind() == llvm::PT_Loop)
            chosen.add(new note_function(gate));
        chosen.add(pass);
    }
    llvm::legacy::PassManager chosen;

  private:
    unsigned without;
    rare_gate &gate;
};

} // namespace

/* Emits to the stream. The output is complete only when the pass manager is
   destroyed. */
static bool emit_to(llvm::raw_svector_ostream &stream,
                    llvm::TargetMachine &machine, llvm::Module &module,
                    const kiln__llvm_emission &what)
{
    llvm::LLVMContext &context = module.getContext();
    llvm::OptPassGate &before = context.getOptPassGate();
    rare_gate gate(what.rare == nullptr
                       ? nullptr
                       : llvm::unwrap<llvm::Function>(what.rare));
    choosy_manager passes(what.without, gate);

    if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                    what.as_text
                                        ? llvm::CodeGenFileType::AssemblyFile
                                        : llvm::CodeGenFileType::ObjectFile))
        return false;
    if (gate.isEnabled())
        context.setOptPassGate(gate);
    passes.chosen.run(module);
    context.setOptPassGate(before);
    return true;
}

/* As LLVMTargetMachineEmitToMemoryBuffer(), but some passes are left out.
   Returns NULL when the machine cannot emit such a file. */
extern "C" LLVMMemoryBufferRef kiln__llvm_emit(LLVMTargetMachineRef machine,
                                               LLVMModuleRef module,
                                               const kiln__llvm_emission *what)
{
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);

    if (!emit_to(stream, *reinterpret_cast<llvm::TargetMachine *>(machine),
                 *llvm::unwrap(module), *what))
        return nullptr;
    return LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.data(), bytes.size(),
                                                     "");
}

/* A machine gets its level when it is made. Keeping one machine for each level
   would take twice the time, most of it for the same description of the
   processor. */

static llvm::TargetMachine *unwrap_machine(LLVMTargetMachineRef machine)
{
    return reinterpret_cast<llvm::TargetMachine *>(machine);
}

extern "C" int kiln__llvm_begin_quick(LLVMTargetMachineRef machine)
{
    const llvm::CodeGenOptLevel level = unwrap_machine(machine)->getOptLevel();

    unwrap_machine(machine)->setOptLevel(llvm::CodeGenOptLevel::None);
    return static_cast<int>(level);
}

/* Generating code at level 0 turns on the instruction selector of that
   level. */
extern "C" void kiln__llvm_end_quick(LLVMTargetMachineRef machine, int level)
{
    unwrap_machine(machine)->setOptLevel(
        static_cast<llvm::CodeGenOptLevel>(level));
    unwrap_machine(machine)->setFastISel(false);
}

/* ---- targets ----
 *
 * When LLVM does not know a processor or a feature, it prints a line and goes
 * on. Asking first needs tables that the C interface does not show.
 */

static bool knows_feature(const llvm::MCSubtargetInfo &info,
                          llvm::StringRef feature)
{
    if (!feature.consume_front("+") && !feature.consume_front("-"))
        return false;
    for (const llvm::SubtargetFeatureKV &known : info.getAllProcessorFeatures())
        if (feature == known.Key)
            return true;
    return false;
}

/* Returns 1 when the target's tables have the processor (may be "") and each of
   the features; otherwise writes the unknown word. */
extern "C" int kiln__llvm_target_knows(const char *triple,
                                       const char *processor,
                                       const char *features, char *unknown,
                                       size_t capacity)
{
    const llvm::Triple parsed{llvm::StringRef(triple)};
    std::string message;
    const llvm::Target *target =
        llvm::TargetRegistry::lookupTarget(parsed, message);
    llvm::StringRef bad = triple;
    llvm::StringRef rest = features;

    if (target != nullptr) {
        std::unique_ptr<llvm::MCSubtargetInfo> info(
            target->createMCSubtargetInfo(parsed, "", ""));

        bad = "";
        if (*processor != '\0' && !info->isCPUStringValid(processor))
            bad = processor;
        while (bad.empty() && !rest.empty()) {
            auto [feature, tail] = rest.split(',');

            if (!feature.empty() && !knows_feature(*info, feature))
                bad = feature;
            rest = tail;
        }
    }
    if (bad.empty())
        return 1;
    size_t size = bad.size() < capacity ? bad.size() : capacity - 1;
    std::memcpy(unknown, bad.data(), size);
    unknown[size] = '\0';
    return 0;
}

extern "C" int kiln__llvm_target_has(const char *triple, const char *processor,
                                     const char *features, const char *wanted)
{
    const llvm::Triple parsed{llvm::StringRef(triple)};
    std::string message;
    const llvm::Target *target =
        llvm::TargetRegistry::lookupTarget(parsed, message);

    if (target == nullptr)
        return 0;
    std::unique_ptr<llvm::MCSubtargetInfo> info(
        target->createMCSubtargetInfo(parsed, processor, features));
    return info->checkFeatures(wanted);
}

/* ---- dominance ---- */

extern "C" void kiln__llvm_restore_dominance(LLVMValueRef function)
{
    llvm::Function &body = *llvm::unwrap<llvm::Function>(function);
    const llvm::DominatorTree tree(body);
    llvm::SmallVector<llvm::Instruction *, 16> missing;

    for (llvm::Instruction &at : llvm::instructions(body))
        if (llvm::any_of(at.uses(), [&](const llvm::Use &use) {
                return !tree.dominates(&at, use);
            }))
            missing.push_back(&at);
    for (llvm::Instruction *at : missing)
        llvm::DemoteRegToStack(*at);
}
