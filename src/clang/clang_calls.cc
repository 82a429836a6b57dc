/* clang_calls.cc - what OpenCL C or Kiln forbids, and clang accepts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <map>

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include "clang/clang_parts.h"

/* ---- types ---- */

/* What Kiln lacks of a type, or "". */
static std::string lacking(const clang::ASTContext &context,
                           clang::QualType type)
{
    const char *what = nullptr;

    while (type->isPointerType() || type->isArrayType())
        type = type->isPointerType()
                   ? type->getPointeeType()
                   : clang::QualType(type->getArrayElementTypeNoTypeQual(), 0);
    if (type->isImageType() || type->isSamplerT())
        what = ": images and samplers are not supported";
    else if (type->isPipeType() || type->isQueueT() || type->isReserveIDT() ||
             type->isClkEventT())
        what = ": pipes and queues of a device are not supported";
    if (what == nullptr)
        return "";
    return type.getUnqualifiedType().getAsString(context.getPrintingPolicy()) +
           what;
}

namespace
{

struct call {
    const clang::FunctionDecl *callee;
    clang::SourceLocation place;
};

/* What is found in a function: its calls, and the first type that Kiln lacks
   something of. */
struct facts {
    std::vector<call> calls;
    std::string refusal;

    void see(const clang::ASTContext &context, const clang::ValueDecl *value)
    {
        if (refusal.empty())
            refusal = lacking(context, value->getType());
    }
};

} // namespace

/* Looks at the variables in a statement, and collects its calls. */
static void walk(const clang::ASTContext &context, facts &found,
                 const clang::Stmt *statement)
{
    if (statement == nullptr)
        return;
    if (const auto *made = llvm::dyn_cast<clang::CallExpr>(statement)) {
        const clang::FunctionDecl *callee = made->getDirectCallee();

        if (callee != nullptr)
            found.calls.push_back(
                {callee->getCanonicalDecl(), made->getBeginLoc()});
    }
    if (const auto *name = llvm::dyn_cast<clang::DeclRefExpr>(statement))
        if (llvm::isa<clang::VarDecl>(name->getDecl()))
            found.see(context, name->getDecl());
    if (const auto *made = llvm::dyn_cast<clang::DeclStmt>(statement))
        for (const clang::Decl *decl : made->decls())
            if (const auto *variable = llvm::dyn_cast<clang::VarDecl>(decl))
                found.see(context, variable);
    for (const clang::Stmt *child : statement->children())
        walk(context, found, child);
}

/* ---- calls ---- */

namespace
{

class call_graph
{
  public:
    explicit call_graph(clang::ASTContext &of)
        : context(of), engine(of.getDiagnostics())
    {
    }

    void add(const clang::FunctionDecl *function)
    {
        facts &found = all[function->getCanonicalDecl()];

        for (const clang::ParmVarDecl *parameter : function->parameters())
            found.see(context, parameter);
        if (function->doesThisDeclarationHaveABody())
            walk(context, found, function->getBody());
    }

    /* Looks for circles, depth first. */
    void visit(const clang::FunctionDecl *function);
    /* Why a function cannot be compiled, or "". */
    const std::string &refusal(const clang::FunctionDecl *function);

  private:
    const clang::ASTContext &context;
    clang::DiagnosticsEngine &engine;
    std::map<const clang::FunctionDecl *, facts> all;
    std::map<const clang::FunctionDecl *, std::string> refusals;
    /* whether a function that was seen is still being visited */
    std::map<const clang::FunctionDecl *, bool> seen;

    void report(const clang::FunctionDecl *caller, const call &last);
};

} // namespace

void call_graph::report(const clang::FunctionDecl *caller, const call &last)
{
    const unsigned id = engine.getCustomDiagID(
        clang::DiagnosticsEngine::Error,
        "recursion is not allowed in OpenCL C: %0 calls %1, which %select{"
        "calls %0|is itself}2");

    engine.Report(last.place, id) << caller->getName() << last.callee->getName()
                                  << (caller == last.callee);
}

void call_graph::visit(const clang::FunctionDecl *function)
{
    const auto found = all.find(function);

    if (found == all.end() || !seen.try_emplace(function, true).second)
        return;
    for (const call &next : found->second.calls) {
        const auto before = seen.find(next.callee);

        if (before == seen.end())
            visit(next.callee);
        else if (before->second)
            report(function, next);
    }
    seen[function] = false;
}

const std::string &call_graph::refusal(const clang::FunctionDecl *function)
{
    const auto [at, is_new] = refusals.try_emplace(function);
    const auto found = all.find(function);

    if (!is_new || found == all.end())
        return at->second;
    at->second = found->second.refusal;
    for (const call &next : found->second.calls)
        if (at->second.empty() && !refusal(next.callee).empty())
            at->second = "it calls " + next.callee->getName().str() + ": " +
                         refusal(next.callee);
    return at->second;
}

kiln__clang_refusals kiln__clang_check(
    clang::ASTContext &context,
    const std::vector<clang::FunctionDecl *> &functions)
{
    kiln__clang_refusals refusals;
    call_graph graph(context);

    for (const clang::FunctionDecl *function : functions)
        graph.add(function);
    for (const clang::FunctionDecl *function : functions)
        graph.visit(function->getCanonicalDecl());
    for (const clang::FunctionDecl *function : functions)
        refusals[function->getCanonicalDecl()] =
            graph.refusal(function->getCanonicalDecl());
    return refusals;
}
