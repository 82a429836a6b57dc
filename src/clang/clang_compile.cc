/* clang_compile.cc - runs clang on one source. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <clang/CodeGen/ModuleBuilder.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/MultiplexConsumer.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm-c/Core.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "clang/clang_parts.h"

/*
 * The target is SPIR with 64 bits, as its rules for arguments keep structs and
 * vectors whole. Its address spaces get Kiln's numbers, so that neither code
 * nor the names of built-in functions have to be renumbered.
 */

namespace
{

/* A derived class may name the protected member. */
struct spaces : clang::TargetInfo {
    static void set(clang::TargetInfo &target)
    {
        static clang::LangASMap map;

        map[static_cast<unsigned>(clang::LangAS::opencl_global)] = 1;
        map[static_cast<unsigned>(clang::LangAS::opencl_constant)] = 1;
        map[static_cast<unsigned>(clang::LangAS::opencl_local)] = 3;
        map[static_cast<unsigned>(clang::LangAS::opencl_global_device)] = 1;
        map[static_cast<unsigned>(clang::LangAS::opencl_global_host)] = 1;
        target.*(&spaces::AddrSpaceMap) = &map;
    }
};

/* Parses, and makes LLVM IR meanwhile. */
class make_module : public clang::ASTFrontendAction
{
  public:
    make_module(kiln__clang_job *to, kiln__clang_tokens *of,
                llvm::LLVMContext &in)
        : job(to), tokens(of), context(in)
    {
    }

    /* After the last adjustment of the target, and before its first use. */
    bool BeginSourceFileAction(clang::CompilerInstance &compiler) override
    {
        spaces::set(compiler.getTarget());
        return true;
    }

    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(
        clang::CompilerInstance &compiler, llvm::StringRef) override
    {
        std::vector<std::unique_ptr<clang::ASTConsumer>> all;
        auto made = clang::CreateLLVMCodeGen(compiler, "", context);

        generator = made.get();
        tokens->watch(compiler.getPreprocessor());
        all.push_back(std::make_unique<kiln__clang_functions>(job, generator));
        all.push_back(std::move(made));
        return std::make_unique<clang::MultiplexConsumer>(std::move(all));
    }

    void EndSourceFileAction() override
    {
        job->module = llvm::wrap(generator->ReleaseModule().release());
    }

  private:
    kiln__clang_job *job;
    kiln__clang_tokens *tokens;
    llvm::LLVMContext &context;
    clang::CodeGenerator *generator = nullptr;
};

class read_tokens : public clang::PreprocessorFrontendAction
{
  public:
    explicit read_tokens(kiln__clang_tokens *of) : tokens(of)
    {
    }

    void ExecuteAction() override
    {
        clang::Preprocessor &preprocessor =
            getCompilerInstance().getPreprocessor();
        clang::Token token;

        tokens->watch(preprocessor);
        preprocessor.IgnorePragmas();
        preprocessor.EnterMainSourceFile();
        do
            preprocessor.Lex(token);
        while (token.isNot(clang::tok::eof));
    }

  private:
    kiln__clang_tokens *tokens;
};

} // namespace

static void run_action(clang::CompilerInstance &compiler,
                       clang::FrontendAction &action)
{
    const clang::FrontendInputFile &input =
        compiler.getFrontendOpts().Inputs.front();

    if (!compiler.createTarget())
        return;
    if (!action.BeginSourceFile(compiler, input))
        return;
    llvm::consumeError(action.Execute());
    action.EndSourceFile();
}

/* A module that is written has the names of all kinds of metadata that its
   context knows. So all contexts know those that clang uses: otherwise a
   kernel would change the modules of functions beside it. */
static void know_kinds(llvm::LLVMContext &context)
{
    static const char *const names[] = {
        "kernel_arg_addr_space", "kernel_arg_access_qual",
        "kernel_arg_type",       "kernel_arg_base_type",
        "kernel_arg_type_qual",  "kernel_arg_name",
        "vec_type_hint",         "work_group_size_hint",
        "reqd_work_group_size",  "intel_reqd_sub_group_size"};

    for (const char *name : names)
        (void)context.getMDKindID(name);
}

static void run(kiln__clang_job *job, clang::CompilerInstance &compiler)
{
    kiln__clang_tokens tokens(job, compiler.getCodeGenOpts().getDebugInfo() !=
                                       llvm::codegenoptions::NoDebugInfo);

    if (job->request->form == KILN__SOURCE_TOKENS) {
        read_tokens action(&tokens);

        run_action(compiler, action);
    } else {
        auto context = std::make_unique<llvm::LLVMContext>();
        make_module action(job, &tokens, *context);

        know_kinds(*context);
        run_action(compiler, action);
        /* the module's owner disposes of both */
        if (job->module != nullptr)
            (void)context.release();
    }
    tokens.tell();
}

extern "C" kiln_status kiln__clang_parse(kiln__clang_job *job)
{
    auto invocation = std::make_shared<clang::CompilerInvocation>();
    std::shared_ptr<kiln__clang_looks> looks;
    const auto files = kiln__clang_files(job, looks);
    kiln__clang_notes notes(job);
    clang::DiagnosticOptions options;
    kiln__clang_arguments arguments;
    const kiln_status status = kiln__clang_arguments_read(&arguments, job);

    if (status != KILN_OK)
        return status;
    const auto engine = clang::CompilerInstance::createDiagnostics(
        *files, options, &notes, false);

    if (clang::CompilerInvocation::CreateFromArgs(
            *invocation, {arguments.words, arguments.count}, *engine)) {
        clang::CompilerInstance compiler(invocation);

        compiler.getFrontendOpts().Inputs = {clang::FrontendInputFile(
            job->request->name, clang::Language::OpenCL)};
        compiler.setVirtualFileSystem(files);
        compiler.createDiagnostics(&notes, false);
        compiler.createFileManager();
        /* they are refused instead: clang_tokens.cc */
        compiler.getPreprocessorOpts().DisablePragmaDebugCrash = true;
        run(job, compiler);
    }
    kiln__clang_tell_files(job, *looks);
    notes.tell();
    if (notes.getNumErrors() > 0 && job->module != nullptr) {
        kiln__clang_module_dispose(job->module);
        job->module = nullptr;
    }
    return notes.getNumErrors() > 0 ? KILN_ECOMPILE : KILN_OK;
}

extern "C" void kiln__clang_module_dispose(LLVMModuleRef module)
{
    llvm::LLVMContext *context = &llvm::unwrap(module)->getContext();

    delete llvm::unwrap(module);
    delete context;
}
