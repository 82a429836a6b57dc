/* clang_parts.h - the parts of the files in C++. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CLANG_PARTS_H
#define KILN_CLANG_PARTS_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <clang/AST/ASTConsumer.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/CompilerInstance.h>
#include <llvm/Support/BLAKE3.h>
#include <llvm/Support/VirtualFileSystem.h>

#include "clang/clang_job.h"

/* Copies into the result's arena. */
inline const char *kiln__clang_copy(kiln__clang_job *job, llvm::StringRef text)
{
    return kiln__arena_string(&job->out->arena, text.data(), text.size());
}

/* Copies a vector of the result's structs into its arena. */
template <typename T>
const T *kiln__clang_copy_all(kiln__clang_job *job, const std::vector<T> &all)
{
    return static_cast<const T *>(
        kiln__arena_copy(&job->out->arena, all.data(), all.size() * sizeof(T)));
}

/* ---- clang_files.cc ---- */
/* What the compiler looked for, by path. */
class kiln__clang_looks;

/* The machine's files as seen from the request's folder, with the main file and
   the base header in memory. Looks at real files are recorded. */
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> kiln__clang_files(
    kiln__clang_job *job, std::shared_ptr<kiln__clang_looks> &looks);
void kiln__clang_tell_files(kiln__clang_job *job,
                            const kiln__clang_looks &looks);

/* ---- clang_notes.cc ---- */
/* Collects what clang has to say. */
class kiln__clang_notes : public clang::DiagnosticConsumer
{
  public:
    explicit kiln__clang_notes(kiln__clang_job *to) : job(to)
    {
    }
    void BeginSourceFile(const clang::LangOptions &,
                         const clang::Preprocessor *) override
    {
    }
    void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                          const clang::Diagnostic &diagnostic) override;
    void tell();

  private:
    kiln__clang_job *job;
    std::vector<kiln__source_note> notes;
    size_t of_last = 0; /* notes since the last error or warning */

    bool is_left_off(clang::DiagnosticsEngine::Level level);
    void tell_left_off();
};

/* ---- clang_tokens.cc ---- */
/* Computes the digest of the tokens that the preprocessor gives. */
class kiln__clang_tokens
{
  public:
    kiln__clang_tokens(kiln__clang_job *job, bool with_lines);
    void watch(clang::Preprocessor &preprocessor);
    void tell();

    void take(clang::Preprocessor &preprocessor, const clang::Token &token);
    void take_text(llvm::StringRef text);
    void take_files(clang::Preprocessor &preprocessor);
    /* True if -Werror is among the options. */
    bool has_strict_warnings() const;
    /* Notes that the source asks for the name of a file. */
    void note_file();

  private:
    kiln__clang_job *job;
    bool with_lines;
    std::string bytes;

    void take_options();
    void take_place(const clang::Preprocessor &preprocessor,
                    const clang::Token &token);
    void take_file(clang::Preprocessor &preprocessor,
                   clang::SourceLocation start, llvm::StringRef text);
};

/* ---- clang_labels.cc ---- */
/* The names of functions, and the symbols that they have in the module: no two
   declarations have the same. */
class kiln__clang_labels
{
  public:
    explicit kiln__clang_labels(clang::CodeGenerator *of) : generator(of)
    {
    }
    /* Comes before code is made of the declaration. */
    void add(clang::FunctionDecl *function);
    std::string symbol(const clang::FunctionDecl *function) const;
    static std::string name(const clang::FunctionDecl *function);

  private:
    clang::CodeGenerator *generator;
    std::map<std::string, unsigned> seen;
    std::map<const clang::FunctionDecl *, std::string> symbols;
};

/* ---- clang_calls.cc ---- */
/* Why a function cannot be compiled, or "", by its first declaration. */
using kiln__clang_refusals = std::map<const clang::FunctionDecl *, std::string>;

/* Reports functions that call themselves, as errors. A type that Kiln lacks,
   an image for example, is told of the functions alone that reach it. */
kiln__clang_refusals kiln__clang_check(
    clang::ASTContext &context,
    const std::vector<clang::FunctionDecl *> &functions);

/* ---- clang_functions.cc ---- */
/* Looks at each declaration before code is made of it: what the result's tables
   say, and what OpenCL C forbids but clang accepts. */
class kiln__clang_functions : public clang::ASTConsumer
{
  public:
    kiln__clang_functions(kiln__clang_job *to, clang::CodeGenerator *generator)
        : job(to), labels(generator)
    {
    }
    void Initialize(clang::ASTContext &to) override
    {
        context = &to;
    }
    bool HandleTopLevelDecl(clang::DeclGroupRef group) override;
    void HandleTranslationUnit(clang::ASTContext &) override;

  private:
    kiln__clang_job *job;
    clang::ASTContext *context = nullptr;
    std::vector<clang::FunctionDecl *> functions;
    kiln__clang_refusals refusals;
    kiln__clang_labels labels;

    kiln__source_function describe_function(
        const clang::FunctionDecl *function) const;
};

#endif /* KILN_CLANG_PARTS_H */
