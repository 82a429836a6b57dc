/* clang_functions.cc - the table of a source's functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>

#include "clang/clang_parts.h"

/* ---- values ---- */

static int32_t builtin_kind(const clang::BuiltinType *type)
{
    switch (type->getKind()) {
    case clang::BuiltinType::Bool:
        return KILN_TYPE_BOOL;
    case clang::BuiltinType::Char_S:
    case clang::BuiltinType::SChar:
        return KILN_TYPE_I8;
    case clang::BuiltinType::UChar:
        return KILN_TYPE_U8;
    case clang::BuiltinType::Short:
        return KILN_TYPE_I16;
    case clang::BuiltinType::UShort:
        return KILN_TYPE_U16;
    case clang::BuiltinType::Int:
        return KILN_TYPE_I32;
    case clang::BuiltinType::UInt:
        return KILN_TYPE_U32;
    case clang::BuiltinType::Long:
        return KILN_TYPE_I64;
    case clang::BuiltinType::ULong:
        return KILN_TYPE_U64;
    case clang::BuiltinType::Half:
        return KILN_TYPE_F16;
    case clang::BuiltinType::Float:
        return KILN_TYPE_F32;
    case clang::BuiltinType::Double:
        return KILN_TYPE_F64;
    default:
        return KILN_TYPE_NONE;
    }
}

static void set_element(kiln__source_value *value, clang::QualType type)
{
    if (const auto *atomic = type->getAs<clang::AtomicType>())
        type = atomic->getValueType();
    const auto *vector = type->getAs<clang::VectorType>();
    const auto *integers = type->getAs<clang::EnumType>();

    value->lanes = 1;
    if (vector != nullptr) {
        value->lanes = vector->getNumElements();
        type = vector->getElementType();
    }
    if (integers != nullptr)
        type = integers->getDecl()->getDefinitionOrSelf()->getIntegerType();
    const auto *builtin =
        type.isNull() ? nullptr : type->getAs<clang::BuiltinType>();
    value->element =
        builtin != nullptr ? builtin_kind(builtin) : KILN_TYPE_NONE;
}

/* The type's name without the source's own names for it: "float4". A struct has
   the name that the source gives it. */
static std::string name_of(const kiln__source_value *value,
                           const clang::ASTContext &context,
                           clang::QualType type)
{
    static const struct {
        int32_t kind;
        const char *name;
    } names[] = {{KILN_TYPE_BOOL, "bool"},  {KILN_TYPE_I8, "char"},
                 {KILN_TYPE_I16, "short"},  {KILN_TYPE_I32, "int"},
                 {KILN_TYPE_I64, "long"},   {KILN_TYPE_U8, "uchar"},
                 {KILN_TYPE_U16, "ushort"}, {KILN_TYPE_U32, "uint"},
                 {KILN_TYPE_U64, "ulong"},  {KILN_TYPE_F16, "half"},
                 {KILN_TYPE_F32, "float"},  {KILN_TYPE_F64, "double"}};

    for (const auto &row : names)
        if (row.kind == value->element && !type->isAtomicType())
            return value->lanes == 1 ? row.name
                                     : row.name + std::to_string(value->lanes);
    return type.getCanonicalType().getUnqualifiedType().getAsString(
        context.getPrintingPolicy());
}

static uint32_t space_of(clang::LangAS space)
{
    switch (space) {
    case clang::LangAS::opencl_global:
        return 1;
    case clang::LangAS::opencl_local:
        return 3;
    case clang::LangAS::opencl_constant:
        return 4;
    default:
        return 0;
    }
}

static void set_sizes(kiln__source_value *value,
                      const clang::ASTContext &context, clang::QualType type)
{
    if (type->isVoidType() || type->isIncompleteType() ||
        type->isFunctionType())
        return;
    value->size = context.getTypeSizeInChars(type).getQuantity();
    value->alignment = context.getTypeAlignInChars(type).getQuantity();
}

static std::string pointer_prefix(const kiln__source_value *value,
                                  clang::QualType to)
{
    static const char *const spaces[] = {"", "__global ", "", "__local ",
                                         "__constant "};
    std::string text = spaces[value->space];

    if (to.isConstQualified())
        text += "const ";
    if (to.isVolatileQualified())
        text += "volatile ";
    return text;
}

static int32_t kind_of(const kiln__source_value *value, clang::QualType type)
{
    if (type->isVoidType())
        return KILN__SOURCE_VOID;
    if (type->isPointerType())
        return value->space == 3 ? KILN__SOURCE_LOCAL : KILN__SOURCE_POINTER;
    if (type->isVectorType())
        return KILN__SOURCE_VECTOR;
    return type->isRecordType() || type->isArrayType() ? KILN__SOURCE_AGGREGATE
                                                       : KILN__SOURCE_SCALAR;
}

static kiln__source_value describe(kiln__clang_job *job,
                                   const clang::ASTContext &context,
                                   llvm::StringRef name, clang::QualType type)
{
    const clang::QualType of =
        type->isPointerType() ? type->getPointeeType() : type;
    kiln__source_value value = {};
    std::string text;

    value.name = kiln__clang_copy(job, name);
    if (type->isPointerType()) {
        value.space = space_of(of.getAddressSpace());
        value.is_read_only = of.isConstQualified() || value.space == 4;
        value.is_restrict = type.isRestrictQualified();
    }
    value.kind = kind_of(&value, type);
    set_element(&value, of);
    set_sizes(&value, context, of);
    text = name_of(&value, context, of);
    if (type->isPointerType())
        text = pointer_prefix(&value, of) + text + " *";
    value.type = kiln__clang_copy(job, text);
    return value;
}

/* ---- functions ---- */

template <typename Attribute>
static void set_group_size(uint32_t out[3], const clang::ASTContext &context,
                           const clang::FunctionDecl *function)
{
    const auto *size = function->getAttr<Attribute>();

    if (size == nullptr)
        return;
    const clang::Expr *all[] = {size->getXDim(), size->getYDim(),
                                size->getZDim()};

    for (int i = 0; i < 3; i++)
        if (const auto number = all[i]->getIntegerConstantExpr(context))
            out[i] = static_cast<uint32_t>(number->getZExtValue());
}

kiln__source_function kiln__clang_functions::describe_function(
    const clang::FunctionDecl *function) const
{
    kiln__source_function out = {};
    std::vector<kiln__source_value> parameters;

    out.name = kiln__clang_copy(job, kiln__clang_labels::name(function));
    out.symbol = kiln__clang_copy(job, labels.symbol(function));
    out.refusal =
        kiln__clang_copy(job, refusals.at(function->getCanonicalDecl()));
    out.is_kernel = function->hasAttr<clang::DeviceKernelAttr>();
    set_group_size<clang::ReqdWorkGroupSizeAttr>(out.required_group_size,
                                                 *context, function);
    set_group_size<clang::WorkGroupSizeHintAttr>(out.group_size_hint, *context,
                                                 function);
    out.result = describe(job, *context, "", function->getReturnType());
    for (const clang::ParmVarDecl *parameter : function->parameters())
        parameters.push_back(describe(job, *context, parameter->getName(),
                                      parameter->getType()));
    out.parameters = kiln__clang_copy_all(job, parameters);
    out.parameter_count = parameters.size();
    return out;
}

/* Adds the functions that are declared inside of a function's body. */
static void add_local(std::vector<clang::FunctionDecl *> &out,
                      const clang::Stmt *statement)
{
    if (statement == nullptr)
        return;
    if (const auto *made = llvm::dyn_cast<clang::DeclStmt>(statement))
        for (clang::Decl *decl : made->decls())
            if (auto *function = llvm::dyn_cast<clang::FunctionDecl>(decl))
                out.push_back(function);
    for (const clang::Stmt *child : statement->children())
        add_local(out, child);
}

bool kiln__clang_functions::HandleTopLevelDecl(clang::DeclGroupRef group)
{
    for (clang::Decl *decl : group) {
        auto *function = llvm::dyn_cast<clang::FunctionDecl>(decl);

        if (context->getSourceManager().isInSystemHeader(decl->getLocation()))
            continue;
        if (function == nullptr || function->isImplicit())
            continue;
        const size_t first = functions.size();

        functions.push_back(function);
        if (function->doesThisDeclarationHaveABody())
            add_local(functions, function->getBody());
        for (size_t i = first; i < functions.size(); i++)
            labels.add(functions[i]);
    }
    return true;
}

void kiln__clang_functions::HandleTranslationUnit(clang::ASTContext &)
{
    std::vector<kiln__source_function> definitions, declarations;

    refusals = kiln__clang_check(*context, functions);
    for (const clang::FunctionDecl *function : functions) {
        if (function->getStorageClass() == clang::SC_Static ||
            function->isInlineSpecified() ||
            function->hasAttr<clang::OverloadableAttr>())
            continue;
        if (function->doesThisDeclarationHaveABody())
            definitions.push_back(describe_function(function));
        else if (!function->isDefined() && function->isFirstDecl())
            declarations.push_back(describe_function(function));
    }
    job->out->functions = kiln__clang_copy_all(job, definitions);
    job->out->function_count = definitions.size();
    job->out->declarations = kiln__clang_copy_all(job, declarations);
    job->out->declaration_count = declarations.size();
}
