/* llvm_gap_neutral.cc - what LLVM's C interface lacks for neutral modules. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Attributes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "codegen/module/codegen_stages.h"

/*
 * The C interface cannot move a body from one function to another, nor shift
 * the attributes of parameters.
 */

/* Returns the attributes with one more parameter, which has none, in front. */
static llvm::AttributeList shifted(llvm::LLVMContext &context,
                                   const llvm::AttributeList &list,
                                   size_t count)
{
    llvm::SmallVector<llvm::AttributeSet, 8> parameters(1);

    for (size_t i = 0; i < count; i++)
        parameters.push_back(list.getParamAttrs(static_cast<unsigned>(i)));
    return llvm::AttributeList::get(context, list.getFnAttrs(),
                                    list.getRetAttrs(), parameters);
}

static llvm::FunctionType *with_parameter(const llvm::FunctionType *type,
                                          llvm::Type *first)
{
    llvm::SmallVector<llvm::Type *, 8> parameters{first};

    parameters.append(type->param_begin(), type->param_end());
    return llvm::FunctionType::get(type->getReturnType(), parameters,
                                   type->isVarArg());
}

static void move_body(llvm::Function &from, llvm::Function &to)
{
    llvm::SmallVector<std::pair<unsigned, llvm::MDNode *>, 4> metadata;

    to.splice(to.begin(), &from);
    for (llvm::Argument &argument : from.args()) {
        llvm::Argument *moved = to.getArg(argument.getArgNo() + 1);

        moved->takeName(&argument);
        argument.replaceAllUsesWith(moved);
    }
    from.getAllMetadata(metadata);
    for (const auto &[kind, node] : metadata)
        to.addMetadata(kind, *node);
    from.clearMetadata();
}

/* Returns a function that has all of the other's, its name and body too, and
   one more parameter in front. The other one is left as a declaration. */
extern "C" LLVMValueRef kiln__llvm_prepend_parameter(LLVMValueRef function,
                                                     LLVMTypeRef type)
{
    auto *from = llvm::cast<llvm::Function>(llvm::unwrap(function));
    auto *to = llvm::Function::Create(
        with_parameter(from->getFunctionType(), llvm::unwrap(type)),
        from->getLinkage(), from->getAddressSpace(), "", from->getParent());

    to->copyAttributesFrom(from);
    to->setAttributes(
        shifted(from->getContext(), from->getAttributes(), from->arg_size()));
    to->takeName(from);
    if (!from->isDeclaration()) {
        move_body(*from, *to);
        from->setLinkage(llvm::GlobalValue::ExternalLinkage);
    }
    return llvm::wrap(to);
}

/* Replaces the call by one of `callee`, with one more argument in front. */
extern "C" void kiln__llvm_prepend_argument(LLVMValueRef call,
                                            LLVMValueRef callee,
                                            LLVMValueRef argument)
{
    auto *old = llvm::cast<llvm::CallInst>(llvm::unwrap(call));
    auto *to = llvm::cast<llvm::Function>(llvm::unwrap(callee));
    llvm::SmallVector<llvm::Value *, 8> arguments{llvm::unwrap(argument)};
    llvm::SmallVector<llvm::OperandBundleDef, 1> bundles;
    llvm::CallInst *made;

    arguments.append(old->arg_begin(), old->arg_end());
    old->getOperandBundlesAsDefs(bundles);
    made = llvm::CallInst::Create(
        with_parameter(old->getFunctionType(), arguments[0]->getType()), to,
        arguments, bundles, "", old->getIterator());
    made->takeName(old);
    made->setCallingConv(old->getCallingConv());
    made->setTailCallKind(old->getTailCallKind());
    made->setAttributes(
        shifted(old->getContext(), old->getAttributes(), old->arg_size()));
    made->copyMetadata(*old);
    old->replaceAllUsesWith(made);
    old->eraseFromParent();
}
