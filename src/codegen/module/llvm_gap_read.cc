/* llvm_gap_read.cc - reads modules of others. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <memory>
#include <optional>
#include <string>

#include <llvm/ADT/DenseMap.h>
#include <llvm/AsmParser/LLParser.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/AutoUpgrade.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/TypeFinder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/module/codegen_stages.h"

/*
 * The C interface cannot tell the reader which data layout to use. Texts need
 * it while they are read, for alignments that are not written. Bitcode has
 * these, but leaves out address spaces of allocas that are the ones of the
 * layout with which it was written. So that layout must not be replaced before
 * all is read.
 *
 * LLVM's readers end the process for an invalid module with debug information,
 * because they verify it to upgrade that information. So everything else is
 * read first, and verified. Its triple is left out: some targets refuse what
 * modules without a target may have.
 */

using layout_choice = llvm::DataLayoutCallbackTy;

/* Returns true, with a message, if the module is invalid. */
static bool is_invalid(llvm::Module &module, std::string &message)
{
    llvm::raw_string_ostream stream(message);
    const llvm::Triple triple = module.getTargetTriple();

    module.setTargetTriple(llvm::Triple());
    const bool invalid = llvm::verifyModule(module, &stream);

    module.setTargetTriple(triple);
    return invalid;
}

static std::unique_ptr<llvm::Module> read_text(llvm::MemoryBufferRef buffer,
                                               llvm::LLVMContext &context,
                                               layout_choice choose,
                                               std::string &message)
{
    llvm::SourceMgr sources;
    llvm::SMDiagnostic diagnostic;
    auto module =
        std::make_unique<llvm::Module>(buffer.getBufferIdentifier(), context);

    sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(buffer),
                               llvm::SMLoc());
    llvm::LLParser parser(buffer.getBuffer(), sources, diagnostic, module.get(),
                          nullptr, context);
    if (!parser.Run(false, choose))
        return module;
    llvm::raw_string_ostream stream(message);
    diagnostic.print(nullptr, stream, false);
    return nullptr;
}

static std::unique_ptr<llvm::Module> read_bitcode(llvm::MemoryBufferRef buffer,
                                                  llvm::LLVMContext &context,
                                                  layout_choice choose,
                                                  std::string &message)
{
    llvm::Expected<std::unique_ptr<llvm::Module>> module =
        llvm::getLazyBitcodeModule(buffer, context, false, false,
                                   llvm::ParserCallbacks(choose));

    if (!module) {
        message = llvm::toString(module.takeError());
        return nullptr;
    }
    for (llvm::Function &function : **module)
        if (llvm::Error error = function.materialize()) {
            message = llvm::toString(std::move(error));
            return nullptr;
        }
    return std::move(*module);
}

/* Finishes a module that is valid. */
static bool upgrade(llvm::Module &module, std::string &message)
{
    const llvm::Triple triple = module.getTargetTriple();

    module.setTargetTriple(llvm::Triple());
    llvm::Error error = module.materializeAll();
    if (error)
        message = llvm::toString(std::move(error));
    else
        llvm::UpgradeDebugInfo(module);
    module.setTargetTriple(triple);
    return message.empty();
}

extern "C" LLVMModuleRef kiln__llvm_read_module(LLVMContextRef context,
                                                LLVMMemoryBufferRef buffer,
                                                const char *layout,
                                                int *invalid, char **message)
{
    const std::unique_ptr<llvm::MemoryBuffer> owned(llvm::unwrap(buffer));
    const bool is_bitcode = llvm::isBitcode(
        reinterpret_cast<const unsigned char *>(owned->getBufferStart()),
        reinterpret_cast<const unsigned char *>(owned->getBufferEnd()));
    const auto choose = [layout, is_bitcode](llvm::StringRef /*triple*/,
                                             llvm::StringRef given) {
        return given.empty() && !is_bitcode ? std::optional<std::string>(layout)
                                            : std::nullopt;
    };
    std::string text;
    std::unique_ptr<llvm::Module> module =
        (is_bitcode ? read_bitcode : read_text)(
            owned->getMemBufferRef(), *llvm::unwrap(context), choose, text);

    *invalid = module != nullptr && is_invalid(*module, text);
    if (module != nullptr && *invalid == 0 && upgrade(*module, text)) {
        if (module->getDataLayoutStr().empty())
            module->setDataLayout(layout);
        return llvm::wrap(module.release());
    }
    *message = LLVMCreateMessage(text.c_str());
    return nullptr;
}

/* ---- types ----
 *
 * A short text can name a type that has more parts than there is memory, and
 * many parts of LLVM and of Kiln look at each of them.
 */

namespace
{

class part_counter
{
  public:
    explicit part_counter(uint64_t limit) : most(limit)
    {
    }

    uint64_t count(llvm::Type *type)
    {
        const auto known = counts.find(type);

        if (known != counts.end())
            return known->second;
        uint64_t sum = 1;
        for (llvm::Type *part : type->subtypes()) {
            sum += count(part);
            if (sum > most)
                break;
        }
        counts[type] = sum;
        return sum;
    }

  private:
    llvm::DenseMap<llvm::Type *, uint64_t> counts;
    uint64_t most;
};

} // namespace

extern "C" int kiln__llvm_has_large_type(LLVMModuleRef module, uint64_t most)
{
    llvm::TypeFinder types;
    part_counter parts(most);

    types.run(*llvm::unwrap(module), false);
    for (llvm::StructType *type : types)
        if (parts.count(type) > most)
            return 1;
    return 0;
}
