/* llvm_gap_foreign.cc - what LLVM's C interface lacks for modules of others. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstring>
#include <memory>
#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalAlias.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include "codegen/module/codegen_stages.h"

/* ---- metadata of a whole module ----
 *
 * The C interface adds named metadata and flags, but cannot remove them.
 */

static bool is_one_of(llvm::StringRef name, const char *const *names)
{
    for (; *names != nullptr; names++)
        if (name == *names)
            return true;
    return false;
}

static void drop_flags(llvm::Module &m, const char *const *kept)
{
    llvm::SmallVector<llvm::Module::ModuleFlagEntry, 8> flags;
    llvm::NamedMDNode *list = m.getModuleFlagsMetadata();

    if (list == nullptr)
        return;
    m.getModuleFlagsMetadata(flags);
    m.eraseNamedMetadata(list);
    for (const llvm::Module::ModuleFlagEntry &flag : flags)
        if (is_one_of(flag.Key->getString(), kept))
            m.addModuleFlag(flag.Behavior, flag.Key->getString(), flag.Val);
}

extern "C" void kiln__llvm_keep_metadata(LLVMModuleRef module,
                                         const char *const *names,
                                         const char *const *flags)
{
    static const char flag_list[] = "llvm.module.flags";
    llvm::Module &m = *llvm::unwrap(module);
    llvm::SmallVector<llvm::NamedMDNode *, 8> dropped;

    for (llvm::NamedMDNode &node : m.named_metadata())
        if (node.getName() != flag_list && !is_one_of(node.getName(), names))
            dropped.push_back(&node);
    for (llvm::NamedMDNode *node : dropped)
        m.eraseNamedMetadata(node);
    drop_flags(m, flags);
}

/* Sets the flag, or replaces it. */
extern "C" void kiln__llvm_set_flag(LLVMModuleRef module, const char *name,
                                    uint32_t value)
{
    llvm::unwrap(module)->setModuleFlag(llvm::Module::Error, name, value);
}

/* ---- globals ----
 *
 * The C interface does not reach partitions, code models and attributes of
 * variables, and cannot delete an alias.
 */

/* "no_cfi @f" is @f where nothing checks calls. LLVM 22 crashes when it removes
   an @f that has such a user. */
static void drop_no_cfi(llvm::GlobalValue *value)
{
    llvm::SmallVector<llvm::NoCFIValue *, 4> found;

    for (llvm::User *user : value->users())
        if (auto *constant = llvm::dyn_cast<llvm::NoCFIValue>(user))
            found.push_back(constant);
    for (llvm::NoCFIValue *constant : found) {
        constant->replaceAllUsesWith(value);
        constant->destroyConstant();
    }
}

extern "C" void kiln__llvm_plain_global(LLVMValueRef global)
{
    llvm::GlobalValue *value =
        llvm::cast<llvm::GlobalValue>(llvm::unwrap(global));
    auto *variable = llvm::dyn_cast<llvm::GlobalVariable>(value);

    drop_no_cfi(value);
    value->setPartition("");
    value->setDLLStorageClass(llvm::GlobalValue::DefaultStorageClass);
    if (variable == nullptr)
        return;
    variable->setAttributes(llvm::AttributeSet());
    variable->clearMetadata();
    if (variable->getCodeModel().has_value())
        variable->clearCodeModel();
}

extern "C" void kiln__llvm_replace_alias(LLVMValueRef alias)
{
    auto *value = llvm::cast<llvm::GlobalAlias>(llvm::unwrap(alias));

    value->replaceAllUsesWith(value->getAliasee());
    value->eraseFromParent();
}

/* ---- exceptions of C++ ----
 *
 * The C interface can set a personality, but not remove one.
 */

static bool has_pads(const llvm::Function &function)
{
    for (const llvm::BasicBlock &block : function)
        if (block.isEHPad())
            return true;
    return false;
}

extern "C" void kiln__llvm_drop_idle_personality(LLVMValueRef function)
{
    auto *f = llvm::cast<llvm::Function>(llvm::unwrap(function));

    if (f->hasPersonalityFn() && !has_pads(*f))
        f->setPersonalityFn(nullptr);
}

/* ---- constants ----
 *
 * The C interface has no names for some kinds of constants, and asking it for
 * their kind is undefined.
 */

extern "C" const char *kiln__llvm_linker_constant(LLVMValueRef value)
{
    const llvm::Value *constant = llvm::unwrap(value);

    if (llvm::isa<llvm::ConstantPtrAuth>(constant))
        return "ptrauth";
    if (llvm::isa<llvm::DSOLocalEquivalent>(constant))
        return "dso_local_equivalent";
    if (llvm::isa<llvm::NoCFIValue>(constant))
        return "no_cfi";
    return nullptr;
}

/* ---- scopes of atomics ----
 *
 * The C interface has only their numbers.
 */

extern "C" const char *kiln__llvm_scope_name(LLVMContextRef context,
                                             unsigned number, char *name,
                                             size_t capacity)
{
    const std::optional<llvm::StringRef> known =
        llvm::unwrap(context)->getSyncScopeName(
            static_cast<llvm::SyncScope::ID>(number));

    if (!known.has_value() || known->size() >= capacity)
        return nullptr;
    memcpy(name, known->data(), known->size());
    name[known->size()] = '\0';
    return name;
}
