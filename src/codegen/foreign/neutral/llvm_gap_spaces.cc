/* llvm_gap_spaces.cc - gives a whole module other address spaces. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <optional>
#include <string>

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "codegen/module/codegen_stages.h"

/*
 * The address space of a pointer is a part of its type, and the type of a
 * variable or a function cannot be changed. So all of them are made anew with
 * other types, and everything in the module is made to refer to the new ones.
 * The C interface cannot do this.
 */

/* ---- types ---- */

namespace
{

/* Maps types, and notes the first address space that has no number. */
class spaces final : public llvm::ValueMapTypeRemapper
{
  public:
    explicit spaces(const kiln__llvm_spaces &given) : map(given)
    {
    }

    llvm::Type *remapType(llvm::Type *type) override;
    unsigned number_of(unsigned space);

    const kiln__llvm_spaces &map;
    std::optional<unsigned> unknown;

  private:
    llvm::Type *of_struct(llvm::StructType *type);
    llvm::Type *of_function(const llvm::FunctionType *type);
    llvm::Type *make(llvm::Type *type);

    llvm::DenseMap<llvm::Type *, llvm::Type *> known;
};

} // namespace

unsigned spaces::number_of(unsigned space)
{
    if (space < map.count && map.to[space] != KILN__LLVM_NO_SPACE)
        return map.to[space];
    if (!unknown.has_value())
        unknown = space;
    return space;
}

llvm::Type *spaces::of_struct(llvm::StructType *type)
{
    llvm::SmallVector<llvm::Type *, 8> members;

    for (llvm::Type *member : type->elements())
        members.push_back(remapType(member));
    if (type->isOpaque() ||
        type->elements() == llvm::ArrayRef<llvm::Type *>(members))
        return type;
    if (type->isLiteral())
        return llvm::StructType::get(type->getContext(), members,
                                     type->isPacked());
    return llvm::StructType::create(members, type->getName(), type->isPacked());
}

llvm::Type *spaces::of_function(const llvm::FunctionType *type)
{
    llvm::SmallVector<llvm::Type *, 8> parameters;

    for (llvm::Type *parameter : type->params())
        parameters.push_back(remapType(parameter));
    return llvm::FunctionType::get(remapType(type->getReturnType()), parameters,
                                   type->isVarArg());
}

llvm::Type *spaces::make(llvm::Type *type)
{
    if (auto *pointer = llvm::dyn_cast<llvm::PointerType>(type))
        return llvm::PointerType::get(type->getContext(),
                                      number_of(pointer->getAddressSpace()));
    if (auto *array = llvm::dyn_cast<llvm::ArrayType>(type))
        return llvm::ArrayType::get(remapType(array->getElementType()),
                                    array->getNumElements());
    if (auto *vector = llvm::dyn_cast<llvm::VectorType>(type))
        return llvm::VectorType::get(remapType(vector->getElementType()),
                                     vector->getElementCount());
    if (auto *structure = llvm::dyn_cast<llvm::StructType>(type))
        return of_struct(structure);
    if (auto *function = llvm::dyn_cast<llvm::FunctionType>(type))
        return of_function(function);
    return type;
}

llvm::Type *spaces::remapType(llvm::Type *type)
{
    const auto found = known.find(type);
    llvm::Type *made;

    if (found != known.end())
        return found->second;
    made = make(type);
    known[type] = made;
    return made;
}

/* ---- variables ---- */

/* A constant in generic memory is put where the target has constants. What the
   module only declares, for example a site, stays where it is. */
static unsigned new_space(spaces &to, const llvm::GlobalVariable &variable)
{
    const unsigned space = variable.getAddressSpace();

    if (space != to.map.generic)
        return to.number_of(space);
    return variable.hasInitializer() ? to.map.constants : space;
}

static void make_variable(spaces &to, llvm::ValueToValueMapTy &values,
                          llvm::GlobalVariable &old)
{
    const unsigned space = new_space(to, old);
    auto *made = new llvm::GlobalVariable(
        *old.getParent(), to.remapType(old.getValueType()), old.isConstant(),
        old.getLinkage(), nullptr, "", &old, old.getThreadLocalMode(), space,
        old.isExternallyInitialized());

    made->copyAttributesFrom(&old);
    made->copyMetadata(&old, 0);
    made->takeName(&old);
    values[&old] = llvm::ConstantExpr::getPointerBitCastOrAddrSpaceCast(
        made, to.remapType(old.getType()));
    old.clearMetadata();
}

/* ---- functions ---- */

static llvm::AttributeList mapped(spaces &to, llvm::LLVMContext &context,
                                  llvm::AttributeList list)
{
    for (const unsigned at : list.indexes())
        for (int kind = llvm::Attribute::FirstTypeAttr;
             kind <= llvm::Attribute::LastTypeAttr; kind++) {
            const auto known = static_cast<llvm::Attribute::AttrKind>(kind);
            llvm::Type *type =
                list.getAttributeAtIndex(at, known).getValueAsType();

            if (type != nullptr)
                list = list.replaceAttributeTypeAtIndex(context, at, known,
                                                        to.remapType(type));
        }
    return list;
}

static llvm::Function *make_function(spaces &to,
                                     llvm::ValueToValueMapTy &values,
                                     llvm::Function &old)
{
    const std::string name = old.getName().str();
    llvm::Function *made = llvm::Function::Create(
        llvm::cast<llvm::FunctionType>(to.remapType(old.getFunctionType())),
        old.getLinkage(), old.getAddressSpace(), "", nullptr);

    old.getParent()->getFunctionList().insert(old.getIterator(), made);
    made->copyAttributesFrom(&old);
    made->setAttributes(mapped(to, old.getContext(), old.getAttributes()));
    made->copyMetadata(&old, 0);
    old.setName("");
    made->setName(name); /* which tells whether it is an intrinsic */
    old.clearMetadata();
    if (!old.isDeclaration()) {
        made->stealArgumentListFrom(old);
        made->splice(made->end(), &old);
        old.setLinkage(llvm::GlobalValue::ExternalLinkage);
    }
    values[&old] = made;
    return made;
}

/* The types of an intrinsic are a part of its name. */
static void rename_intrinsic(llvm::Function *function)
{
    const std::optional<llvm::Function *> named =
        function->isIntrinsic()
            ? llvm::Intrinsic::remangleIntrinsicFunction(function)
            : std::nullopt;

    if (!named.has_value())
        return;
    function->replaceAllUsesWith(*named);
    function->eraseFromParent();
}

/* ---- the module ---- */

static const llvm::RemapFlags flags =
    llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals;

template <typename T>
static void erase_all(const llvm::SmallVectorImpl<T *> &globals)
{
    for (T *global : globals) {
        global->removeDeadConstantUsers();
        global->eraseFromParent();
    }
}

/* Gives the new variables what the old ones begin with. */
static void initialise(
    spaces &to, llvm::ValueToValueMapTy &values,
    const llvm::SmallVectorImpl<llvm::GlobalVariable *> &variables)
{
    for (llvm::GlobalVariable *old : variables) {
        if (!old->hasInitializer())
            continue;
        llvm::cast<llvm::GlobalVariable>(values[old]->stripPointerCasts())
            ->setInitializer(
                llvm::MapValue(old->getInitializer(), values, flags, &to));
        old->setInitializer(nullptr);
    }
}

extern "C" int kiln__llvm_map_spaces(LLVMModuleRef module,
                                     const kiln__llvm_spaces *map,
                                     unsigned *unknown)
{
    llvm::Module &m = *llvm::unwrap(module);
    llvm::SmallVector<llvm::GlobalVariable *, 16> variables;
    llvm::SmallVector<llvm::Function *, 16> functions, made;
    llvm::ValueToValueMapTy values;
    spaces to(*map);

    for (llvm::GlobalVariable &variable : m.globals())
        variables.push_back(&variable);
    for (llvm::Function &function : m)
        functions.push_back(&function);
    for (llvm::GlobalVariable *variable : variables)
        make_variable(to, values, *variable);
    for (llvm::Function *function : functions)
        made.push_back(make_function(to, values, *function));
    initialise(to, values, variables);
    /* What is only declared has the new types already: its parameters would be
       mapped twice. */
    for (llvm::Function *function : made)
        if (!function->isDeclaration())
            llvm::RemapFunction(*function, values, flags, &to);
    values.clear();
    erase_all(functions);
    erase_all(variables);
    for (llvm::Function *function : made)
        rename_intrinsic(function);
    if (to.unknown.has_value())
        *unknown = *to.unknown;
    return !to.unknown.has_value();
}

/* ---- variables of an item ---- */

/* Lifetimes are those of the alloca itself; no cast of it is allowed. */
static void move_lifetime(llvm::LifetimeIntrinsic &marker,
                          llvm::AllocaInst &alloca)
{
    llvm::Function *callee = llvm::Intrinsic::getOrInsertDeclaration(
        marker.getModule(), marker.getIntrinsicID(), {alloca.getType()});
    llvm::CallInst *made =
        llvm::CallInst::Create(callee, {&alloca}, "", marker.getIterator());

    made->setDebugLoc(marker.getDebugLoc());
    marker.eraseFromParent();
}

static void move_alloca(llvm::AllocaInst &alloca, unsigned space)
{
    llvm::SmallVector<llvm::Use *, 8> uses;
    llvm::PointerType *before = alloca.getType();
    llvm::AddrSpaceCastInst *cast;

    for (llvm::Use &use : alloca.uses())
        uses.push_back(&use);
    alloca.mutateType(llvm::PointerType::get(alloca.getContext(), space));
    cast = new llvm::AddrSpaceCastInst(&alloca, before, "",
                                       std::next(alloca.getIterator()));
    for (llvm::Use *use : uses) {
        auto *marker = llvm::dyn_cast<llvm::LifetimeIntrinsic>(use->getUser());

        if (marker != nullptr)
            move_lifetime(*marker, alloca);
        else
            use->set(cast);
    }
    if (cast->use_empty())
        cast->eraseFromParent();
}

extern "C" void kiln__llvm_move_allocas(LLVMModuleRef module, unsigned space)
{
    llvm::SmallVector<llvm::AllocaInst *, 16> found;

    for (llvm::Function &function : *llvm::unwrap(module))
        for (llvm::Instruction &instruction : llvm::instructions(function))
            if (auto *alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
                if (alloca->getAddressSpace() != space)
                    found.push_back(alloca);
    for (llvm::AllocaInst *alloca : found)
        move_alloca(*alloca, space);
}
