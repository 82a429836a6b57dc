/* clang_calls.cc - what OpenCL C or Kiln forbids, and clang accepts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <map>

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include "clang/clang_parts.h"

/* ---- types ---- */

template <unsigned N>
static void report(clang::ASTContext &context, clang::SourceLocation place,
                   clang::QualType type, const char (&text)[N])
{
    clang::DiagnosticsEngine &engine = context.getDiagnostics();

    engine.Report(place,
                  engine.getCustomDiagID(clang::DiagnosticsEngine::Error, text))
        << type.getUnqualifiedType().getAsString(context.getPrintingPolicy());
}

static void check_type(clang::ASTContext &context, clang::SourceLocation place,
                       clang::QualType type)
{
    while (type->isPointerType() || type->isArrayType())
        type = type->isPointerType()
                   ? type->getPointeeType()
                   : clang::QualType(type->getArrayElementTypeNoTypeQual(), 0);
    if (type->isImageType() || type->isSamplerT())
        report(context, place, type,
               "%0: images and samplers are not supported");
    else if (type->isPipeType() || type->isQueueT() || type->isReserveIDT() ||
             type->isClkEventT())
        report(context, place, type,
               "%0: pipes and queues of a device are not supported");
}

namespace
{

struct call {
    const clang::FunctionDecl *callee;
    clang::SourceLocation place;
};

} // namespace

/* Checks the variables in a statement, and collects its calls. */
static void walk(clang::ASTContext &context, std::vector<call> &calls,
                 const clang::Stmt *statement)
{
    if (statement == nullptr)
        return;
    if (const auto *made = llvm::dyn_cast<clang::CallExpr>(statement)) {
        const clang::FunctionDecl *callee = made->getDirectCallee();

        if (callee != nullptr)
            calls.push_back({callee->getCanonicalDecl(), made->getBeginLoc()});
    }
    if (const auto *made = llvm::dyn_cast<clang::DeclStmt>(statement))
        for (const clang::Decl *decl : made->decls())
            if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(decl))
                check_type(context, variable->getBeginLoc(),
                           variable->getType());
    for (const clang::Stmt *child : statement->children())
        walk(context, calls, child);
}

/* ---- calls ---- */

namespace
{

/* Looks for circles, depth first. */
class call_graph
{
  public:
    explicit call_graph(clang::ASTContext &of)
        : context(of), engine(of.getDiagnostics())
    {
    }

    void add(const clang::FunctionDecl *function)
    {
        walk(context, calls[function->getCanonicalDecl()], function->getBody());
    }

    void visit(const clang::FunctionDecl *function)
    {
        const auto found = calls.find(function);

        if (found == calls.end() || !seen.try_emplace(function, true).second)
            return;
        for (const call &next : found->second) {
            const auto before = seen.find(next.callee);

            if (before == seen.end())
                visit(next.callee);
            else if (before->second)
                report(function, next);
        }
        seen[function] = false;
    }

  private:
    clang::ASTContext &context;
    clang::DiagnosticsEngine &engine;
    std::map<const clang::FunctionDecl *, std::vector<call>> calls;
    /* whether a function that was seen is still being visited */
    std::map<const clang::FunctionDecl *, bool> seen;

    void report(const clang::FunctionDecl *caller, const call &last)
    {
        const unsigned id = engine.getCustomDiagID(
            clang::DiagnosticsEngine::Error,
            "recursion is not allowed in OpenCL C: %0 calls %1, which %select{"
            "calls %0|is itself}2");

        engine.Report(last.place, id)
            << caller->getName() << last.callee->getName()
            << (caller == last.callee);
    }
};

} // namespace

void kiln__clang_check(clang::ASTContext &context,
                       const std::vector<clang::VarDecl *> &variables,
                       const std::vector<clang::FunctionDecl *> &functions)
{
    call_graph graph(context);

    for (const clang::VarDecl *variable : variables)
        check_type(context, variable->getBeginLoc(), variable->getType());
    for (const clang::FunctionDecl *function : functions) {
        check_type(context, function->getBeginLoc(), function->getReturnType());
        for (const clang::ParmVarDecl *parameter : function->parameters())
            check_type(context, parameter->getBeginLoc(), parameter->getType());
        if (function->doesThisDeclarationHaveABody())
            graph.add(function);
    }
    for (const clang::FunctionDecl *function : functions)
        graph.visit(function->getCanonicalDecl());
}
