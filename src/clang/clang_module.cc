/* clang_module.cc - takes each function out of the source's module. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/SetVector.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "clang/clang_parts.h"

/*
 * The C interface can neither delete named metadata nor clone a part of a
 * module.
 */

/* ---- cleaning ---- */

/* What is about no target of Kiln's. Kiln finds out by itself what must stay
   convergent. */
static llvm::AttributeMask dropped(const llvm::AttributeList &attributes)
{
    llvm::AttributeMask mask;

    mask.addAttribute(llvm::Attribute::Convergent);
    mask.addAttribute(llvm::Attribute::OptimizeNone);
    for (const llvm::Attribute attribute : attributes.getFnAttrs())
        if (attribute.isStringAttribute())
            mask.addAttribute(attribute.getKindAsString());
    return mask;
}

static void clean_function(llvm::Function &function)
{
    if (!function.getName().starts_with("kiln_"))
        function.removeFnAttrs(dropped(function.getAttributes()));
    function.setCallingConv(llvm::CallingConv::C);
    function.setDSOLocal(false);
    llvm::DISubprogram *place = function.getSubprogram();

    if (!function.isDeclaration())
        function.clearMetadata();
    if (place != nullptr)
        function.setSubprogram(place);
    for (llvm::Instruction &instruction : llvm::instructions(function))
        if (auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
            call->removeFnAttrs(dropped(call->getAttributes()));
            call->setCallingConv(llvm::CallingConv::C);
        }
}

/* The names of variables and types would tell the order in which clang came
   upon them. */
static void clean_names(llvm::Module &module)
{
    for (llvm::StructType *type : module.getIdentifiedStructTypes())
        if (type->hasName())
            type->setName("");
}

static void clean_metadata(llvm::Module &module)
{
    std::vector<llvm::NamedMDNode *> all;
    const bool has_lines = module.getNamedMetadata("llvm.dbg.cu") != nullptr;

    for (llvm::NamedMDNode &node : module.named_metadata())
        all.push_back(&node);
    for (llvm::NamedMDNode *node : all)
        if (node->getName() != "llvm.dbg.cu")
            module.eraseNamedMetadata(node);
    if (has_lines)
        module.addModuleFlag(llvm::Module::Warning, "Debug Info Version",
                             llvm::DEBUG_METADATA_VERSION);
}

extern "C" void kiln__clang_module_clean(LLVMModuleRef of)
{
    llvm::Module &module = *llvm::unwrap(of);

    for (llvm::Function &function : module) {
        clean_function(function);
        if (!function.isDeclaration())
            function.setLinkage(llvm::GlobalValue::InternalLinkage);
    }
    for (llvm::GlobalVariable &variable : module.globals())
        if (!variable.isDeclaration())
            variable.setLinkage(llvm::GlobalValue::InternalLinkage);
    clean_names(module);
    clean_metadata(module);
    module.setTargetTriple(llvm::Triple());
    module.setDataLayout("");
    module.setSourceFileName("");
}

/* ---- one function ---- */

/* All that the function needs, and itself. */
static llvm::SetVector<const llvm::GlobalValue *> closure(
    const llvm::Function *root)
{
    llvm::SetVector<const llvm::GlobalValue *> all;
    std::vector<const llvm::User *> stack;
    llvm::DenseSet<const llvm::Value *> seen;
    const auto visit = [&](const llvm::Value *value) {
        if (const auto *global = llvm::dyn_cast<llvm::GlobalValue>(value))
            all.insert(global);
        if (llvm::isa<llvm::Constant>(value) && seen.insert(value).second)
            stack.push_back(llvm::cast<llvm::User>(value));
    };

    visit(root);
    while (!stack.empty()) {
        const llvm::User *user = stack.back();

        stack.pop_back();
        for (const llvm::Value *operand : user->operands())
            visit(operand);
        if (const auto *function = llvm::dyn_cast<llvm::Function>(user))
            for (const llvm::Instruction &instruction :
                 llvm::instructions(function))
                for (const llvm::Value *operand : instruction.operands())
                    visit(operand);
    }
    return all;
}

/* Private variables are numbered, in their order. */
static void number_variables(llvm::Module &module)
{
    size_t count = 0;

    for (llvm::GlobalVariable &variable : module.globals())
        if (variable.hasLocalLinkage())
            variable.setName("");
    for (llvm::GlobalVariable &variable : module.globals())
        if (variable.hasLocalLinkage())
            variable.setName("v" + llvm::Twine(count++));
}

static std::unique_ptr<llvm::Module> take_out(const llvm::Module &module,
                                              const llvm::Function *root)
{
    const auto needed = closure(root);
    llvm::ValueToValueMapTy map;
    auto part = llvm::CloneModule(module, map,
                                  [&needed](const llvm::GlobalValue *value) {
                                      return needed.contains(value);
                                  });

    for (llvm::Function &function : llvm::make_early_inc_range(*part))
        if (function.isDeclaration() && function.use_empty())
            function.eraseFromParent();
    for (llvm::GlobalVariable &variable :
         llvm::make_early_inc_range(part->globals()))
        if (variable.isDeclaration() && variable.use_empty())
            variable.eraseFromParent();
    part->getFunction(root->getName())
        ->setLinkage(llvm::GlobalValue::ExternalLinkage);
    number_variables(*part);
    return part;
}

/* ---- what it needs ---- */

/* Functions of the declarations that the part calls. */
static void set_needs(kiln__clang_job *job, kiln__source_function *function,
                      const llvm::Module &part)
{
    std::vector<uint32_t> needs;

    for (size_t i = 0; i < job->out->declaration_count; i++) {
        const llvm::Function *found =
            part.getFunction(job->out->declarations[i].symbol);

        if (found != nullptr && found->isDeclaration())
            needs.push_back(static_cast<uint32_t>(i));
    }
    function->needs = kiln__clang_copy_all(job, needs);
    function->need_count = needs.size();
}

/* Why the part cannot be compiled, or "": opencl_print.c leaves calls of
   printf() whose format is not known. */
static std::string refusal_of(const llvm::Module &part,
                              const llvm::Function *root)
{
    const llvm::Function *print = part.getFunction("printf");
    std::string where;

    if (print == nullptr || !print->isDeclaration())
        return "";
    for (const llvm::User *user : print->users())
        if (const auto *call = llvm::dyn_cast<llvm::CallBase>(user))
            where = call->getFunction()->getName().str();
    return "the format of printf() " +
           (where.empty() || where == root->getName() ? ""
                                                      : "in " + where + " ") +
           "must be a string literal";
}

extern "C" kiln_status kiln__clang_module_take_out(
    kiln__clang_job *job, kiln__source_function *function)
{
    const llvm::Module &module = *llvm::unwrap(job->module);
    const llvm::Function *root = module.getFunction(function->name);
    llvm::SmallString<0> bytes;
    llvm::raw_svector_ostream out(bytes);
    std::string finding;
    llvm::raw_string_ostream findings(finding);

    if (root == nullptr || *function->refusal != '\0')
        return KILN_OK; /* only declared, not used, or refused */
    const auto part = take_out(module, root);
    const std::string refusal = refusal_of(*part, root);

    if (!refusal.empty()) {
        function->refusal = kiln__clang_copy(job, refusal);
        return KILN_OK;
    }
    if (llvm::verifyModule(*part, &findings))
        return kiln__clang_fail(job, KILN_ECODEGEN, "%s: %s", function->name,
                                finding.c_str());
    llvm::WriteBitcodeToFile(*part, out);
    set_needs(job, function, *part);
    function->bitcode_size = bytes.size();
    function->bitcode =
        kiln__arena_copy(&job->out->arena, bytes.data(), bytes.size());
    return KILN_OK;
}
