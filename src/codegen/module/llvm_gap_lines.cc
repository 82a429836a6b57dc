/* llvm_gap_lines.cc - line tables of modules that other compilers made. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "codegen/module/llvm_gap.h"

/*
 * LLVM writes no lines of a function without a description, and drops those of
 * what is inlined into it. The kernel and the functions between it and the
 * module's entry are Kiln's. So they get descriptions here, and their calls the
 * line of the first function that they lead to.
 *
 * The module's compile units say how much is written, and for which debugger.
 * That is for the job's settings to say: one unit takes the place of all.
 */

namespace
{

class line_tables
{
  public:
    line_tables(llvm::Module &of, const llvm::DICompileUnit &first,
                const kiln__llvm_lines &how);
    void describe_callers();
    void replace_units();

  private:
    llvm::Module &module;
    llvm::DIBuilder builder;
    llvm::DICompileUnit *unit;
    bool is_optimised;

    bool describe_caller(llvm::Function &caller);
    void describe(llvm::Function &caller, const llvm::DISubprogram &callee);
};

} // namespace

line_tables::line_tables(llvm::Module &of, const llvm::DICompileUnit &first,
                         const kiln__llvm_lines &how)
    : module(of), builder(of), is_optimised(how.is_optimised != 0)
{
    unit = builder.createCompileUnit(
        first.getSourceLanguage(), first.getFile(), first.getProducer(),
        is_optimised, "", 0, "",
        static_cast<llvm::DICompileUnit::DebugEmissionKind>(how.kind));
}

/* Returns the description of the function that the instruction was written in,
   or of the one that it was inlined into. */
static llvm::DISubprogram *description_of_place(const llvm::DebugLoc &place)
{
    return place ? llvm::cast<llvm::DILocalScope>(place.getInlinedAtScope())
                       ->getSubprogram()
                 : nullptr;
}

static const llvm::DISubprogram *description_of_callee(
    const llvm::Instruction &at)
{
    const auto *call = llvm::dyn_cast<llvm::CallBase>(&at);
    const llvm::Function *callee =
        call == nullptr ? nullptr : call->getCalledFunction();

    return callee == nullptr ? nullptr : callee->getSubprogram();
}

void line_tables::describe(llvm::Function &caller,
                           const llvm::DISubprogram &callee)
{
    llvm::DISubprogram *description = builder.createFunction(
        callee.getFile(), caller.getName(), caller.getName(), callee.getFile(),
        callee.getLine(),
        builder.createSubroutineType(builder.getOrCreateTypeArray({})),
        callee.getLine(), llvm::DINode::FlagArtificial,
        llvm::DISubprogram::toSPFlags(caller.hasLocalLinkage(), true,
                                      is_optimised));

    caller.setSubprogram(description);
}

/* Code that was copied into the function stays where it was written. */
bool line_tables::describe_caller(llvm::Function &caller)
{
    if (caller.isDeclaration() || caller.getSubprogram() != nullptr)
        return false;
    for (const llvm::Instruction &at : llvm::instructions(caller)) {
        const llvm::DISubprogram *own = description_of_place(at.getDebugLoc());
        const llvm::DISubprogram *callee =
            own != nullptr ? own : description_of_callee(at);

        if (callee == nullptr)
            continue;
        describe(caller, *callee);
        return true;
    }
    return false;
}

/* A caller that was described is another one's callee. */
void line_tables::describe_callers()
{
    for (bool any = true; any;) {
        any = false;
        for (llvm::Function &function : module)
            any |= describe_caller(function);
    }
}

namespace
{

/* Makes the places in a function those of its own description. */
class places
{
  public:
    explicit places(llvm::Function &of) : description(of.getSubprogram())
    {
        if (description != nullptr)
            call = llvm::DILocation::getDistinct(
                of.getContext(),
                description->isArtificial() ? description->getLine() : 0, 0,
                description);
    }
    void set(llvm::Instruction &at);

  private:
    llvm::DISubprogram *description;
    llvm::DILocation *call = nullptr; /* line 0: code that nobody wrote */
    llvm::DenseMap<const llvm::MDNode *, llvm::MDNode *> known;

    llvm::DebugLoc own(const llvm::DebugLoc &place);
};

} // namespace

/* What was copied from another function counts as inlined from it. */
llvm::DebugLoc places::own(const llvm::DebugLoc &place)
{
    if (!place || description_of_place(place) == description)
        return place;
    const llvm::DebugLoc chain =
        llvm::DebugLoc::appendInlinedAt(place, call, call->getContext(), known);

    return llvm::DILocation::get(call->getContext(), place.getLine(),
                                 place.getCol(), place.getScope(), chain);
}

/* What is inlined into a function with a description must be called from a
   place. */
void places::set(llvm::Instruction &at)
{
    if (description == nullptr)
        return;
    if (description_of_callee(at) != nullptr && !at.getDebugLoc())
        at.setDebugLoc(call);
    else
        at.setDebugLoc(own(at.getDebugLoc()));
    llvm::updateLoopMetadataDebugLocations(
        at, [this](llvm::Metadata *node) -> llvm::Metadata * {
            auto *place = llvm::dyn_cast_or_null<llvm::DILocation>(node);

            return place == nullptr ? node : own(place).getAsMDNode();
        });
    for (llvm::DbgRecord &record : at.getDbgRecordRange())
        record.setDebugLoc(own(record.getDebugLoc()));
}

static void set_places(llvm::Function &function)
{
    places all(function);

    for (llvm::Instruction &at : llvm::instructions(function))
        all.set(at);
}

void line_tables::replace_units()
{
    llvm::DebugInfoFinder finder;
    llvm::NamedMDNode *units = module.getNamedMetadata("llvm.dbg.cu");

    builder.finalize();
    finder.processModule(module);
    for (llvm::DISubprogram *function : finder.subprograms())
        if (function->getUnit() != nullptr)
            function->replaceUnit(unit);
    units->clearOperands();
    units->addOperand(unit);
}

static bool has_units_of_others(const llvm::Module &module)
{
    return llvm::any_of(module.debug_compile_units(),
                        [](const llvm::DICompileUnit *unit) {
                            return unit->getProducer() != KILN__LLVM_PRODUCER;
                        });
}

void kiln__llvm_take_lines(LLVMModuleRef of, const kiln__llvm_lines *how)
{
    llvm::Module &module = *llvm::unwrap(of);

    if (!has_units_of_others(module))
        return;
    if (how->kind != llvm::DICompileUnit::FullDebug)
        llvm::stripNonLineTableDebugInfo(module);
    if (how->dwarf_version != 0)
        module.setModuleFlag(llvm::Module::Warning, "Dwarf Version",
                             how->dwarf_version);
    line_tables tables(module, **module.debug_compile_units_begin(), *how);

    tables.describe_callers();
    llvm::for_each(module, set_places);
    tables.replace_units();
}
