/* clang_labels.cc - symbols of functions that have one label. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <clang/AST/GlobalDecl.h>
#include <clang/CodeGen/ModuleBuilder.h>

#include "clang/clang_parts.h"

/*
 * A function of another language is declared under a label, and once for each
 * list of types that it is called with:
 *
 *     float of_float(float x) __asm__("package.f");
 *     int of_int(int x) __asm__("package.f");
 *
 * In a module a symbol is one function, so the second one gets a symbol of its
 * own, "package.f#1". clang computes the symbol of a function once. It is made
 * to do so here, while the label says what it has to be; then the label is what
 * it was, which is what other declarations of that function must agree with.
 */

/* The name of a declaration's label is that of a function of another
   language. */
static llvm::StringRef name_of(const clang::FunctionDecl *function)
{
    const auto *label = function->getAttr<clang::AsmLabelAttr>();

    return label != nullptr ? label->getLabel() : function->getName();
}

void kiln__clang_labels::add(clang::FunctionDecl *function)
{
    auto *label = function->getAttr<clang::AsmLabelAttr>();
    std::string name;
    unsigned before;

    if (label == nullptr || !function->isFirstDecl() ||
        function->doesThisDeclarationHaveABody())
        return;
    name = label->getLabel().str();
    before = seen[name]++;
    if (before == 0)
        return;
    label->setLabel(function->getASTContext(),
                    name + "#" + std::to_string(before));
    symbols[function] = label->getLabel().str();
    (void)generator->GetAddrOfGlobal(clang::GlobalDecl(function), false);
    label->setLabel(function->getASTContext(), name);
}

std::string kiln__clang_labels::symbol(
    const clang::FunctionDecl *function) const
{
    const auto found = symbols.find(function->getCanonicalDecl());

    return found != symbols.end() ? found->second : name_of(function).str();
}

std::string kiln__clang_labels::name(const clang::FunctionDecl *function)
{
    return name_of(function).str();
}
