/* clang_tokens.cc - the digest of a source's tokens. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstring>

#include <clang/Basic/Version.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/Preprocessor.h>

#include "clang/clang_parts.h"

/*
 * With and without the parser, the digest must be the same. The parser turns
 * pragmas into tokens of its own, so these are left out, and a pragma's own
 * text is taken instead.
 */

namespace
{

class pragmas : public clang::PPCallbacks
{
  public:
    pragmas(kiln__clang_tokens *to, clang::Preprocessor &of)
        : tokens(to), preprocessor(of)
    {
    }

    void PragmaDirective(clang::SourceLocation at,
                         clang::PragmaIntroducerKind) override
    {
        const clang::SourceManager &all = preprocessor.getSourceManager();
        const auto place = all.getDecomposedLoc(all.getFileLoc(at));
        const llvm::StringRef text = all.getBufferData(place.first);
        clang::Lexer lexer(all.getLocForStartOfFile(place.first),
                           preprocessor.getLangOpts(), text.begin(),
                           text.begin() + place.second, text.end());
        clang::Token token;

        lexer.setParsingPreprocessorDirective(true);
        for (;;) {
            lexer.LexFromRawLexer(token);
            if (token.isOneOf(clang::tok::eod, clang::tok::eof))
                break;
            tokens->take(preprocessor, token);
        }
    }

    /* What differs each time cannot be found again. */
    void MacroExpands(const clang::Token &name, const clang::MacroDefinition &,
                      clang::SourceRange, const clang::MacroArgs *) override
    {
        const llvm::StringRef text = name.getIdentifierInfo()->getName();

        if (text != "__DATE__" && text != "__TIME__" && text != "__TIMESTAMP__")
            return;
        clang::DiagnosticsEngine &engine = preprocessor.getDiagnostics();

        engine.Report(name.getLocation(),
                      engine.getCustomDiagID(
                          clang::DiagnosticsEngine::Error,
                          "%0 is not supported: a kernel would be another one "
                          "each time it is compiled"))
            << text;
    }

  private:
    kiln__clang_tokens *tokens;
    clang::Preprocessor &preprocessor;
};

} // namespace

kiln__clang_tokens::kiln__clang_tokens(kiln__clang_job *to, bool lines)
    : job(to), with_lines(lines)
{
    take_options();
}

/* The length tells where a text ends. */
void kiln__clang_tokens::take_text(llvm::StringRef text)
{
    bytes.append(std::to_string(text.size()));
    bytes.push_back(' ');
    bytes.append(text.begin(), text.end());
}

/* The options that change a module whose tokens stay the same. Macros and
   folders change the tokens, if anything. */
void kiln__clang_tokens::take_options()
{
    const kiln__source_request *request = job->request;

    take_text(clang::getClangFullVersion());
    for (size_t i = 0; i < request->option_count; i++) {
        const char *word = request->options[i];

        if (word[0] == '-' && word[1] != '\0' && strchr("DUI", word[1]))
            i += word[2] == '\0';
        else
            take_text(word);
    }
    bytes.push_back(request->has_f64 ? '8' : '4');
    bytes.push_back(request->has_f16 ? '2' : '4');
}

void kiln__clang_tokens::take(clang::Preprocessor &preprocessor,
                              const clang::Token &token)
{
    if (token.isAnnotation())
        return;
    bytes.push_back(static_cast<char>(token.getKind() & 0xff));
    bytes.push_back(static_cast<char>(token.getKind() >> 8));
    if (with_lines && token.getLocation().isValid()) {
        const clang::PresumedLoc at =
            preprocessor.getSourceManager().getPresumedLoc(token.getLocation());

        if (at.isValid())
            take_text((llvm::Twine(at.getFilename()) + ":" +
                       llvm::Twine(at.getLine()) + ":" +
                       llvm::Twine(at.getColumn()))
                          .str());
    }
    if (token.is(clang::tok::raw_identifier) || token.isLiteral())
        take_text(preprocessor.getSpelling(token));
    else if (const clang::IdentifierInfo *name = token.getIdentifierInfo())
        take_text(name->getName());
}

void kiln__clang_tokens::watch(clang::Preprocessor &preprocessor)
{
    preprocessor.addPPCallbacks(std::make_unique<pragmas>(this, preprocessor));
    preprocessor.setTokenWatcher(
        [this, &preprocessor](const clang::Token &token) {
            take(preprocessor, token);
        });
}

void kiln__clang_tokens::tell()
{
    const auto digest = llvm::BLAKE3::hash(llvm::ArrayRef<uint8_t>(
        reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));

    memcpy(job->out->tokens.bytes, digest.data(), sizeof digest);
}
