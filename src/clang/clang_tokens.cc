/* clang_tokens.cc - the digest of a source's tokens. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <cstring>
#include <optional>
#include <vector>

#include <clang/Basic/Version.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/Preprocessor.h>

#include "clang/clang_parts.h"

/*
 * With and without the parser, the digest must be the same. The parser turns
 * pragmas into tokens of its own, so these are left out, and a pragma's own
 * text is taken instead.
 *
 * A pragma may be made of macros: what it says is then in no token, and only
 * the parser expands all of them. That is rare, and then everything that was
 * read counts, except comments and space, and which files were asked for.
 *
 * Where a warning is an error, each byte counts: some warnings look at lines
 * and at space.
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
                         clang::PragmaIntroducerKind kind) override;
    void PragmaDebug(clang::SourceLocation at, llvm::StringRef what) override;
    void MacroExpands(const clang::Token &name, const clang::MacroDefinition &,
                      clang::SourceRange, const clang::MacroArgs *) override;
    void EmbedDirective(clang::SourceLocation, llvm::StringRef, bool,
                        clang::OptionalFileEntryRef file,
                        const clang::LexEmbedParametersResult &how) override;
    void HasEmbed(clang::SourceLocation, llvm::StringRef, bool,
                  clang::OptionalFileEntryRef file) override;
    void HasInclude(clang::SourceLocation, llvm::StringRef, bool,
                    clang::OptionalFileEntryRef file,
                    clang::SrcMgr::CharacteristicKind) override
    {
        answers.push_back(file ? 'y' : 'n');
    }
    void EndOfMainFile() override
    {
        if (!is_made && !tokens->has_strict_warnings())
            return;
        tokens->take_files(preprocessor);
        tokens->take_text(answers);
    }

  private:
    bool has_macros(const std::vector<llvm::StringRef> &names) const;
    void take_all(llvm::ArrayRef<clang::Token> all);

    kiln__clang_tokens *tokens;
    clang::Preprocessor &preprocessor;
    bool is_made = false; /* some pragma was, of macros, or makes errors */
    std::string answers;  /* to __has_include and __has_embed */
};

} // namespace

/* True for the names of a line if the pragma there expands one. Those of the
   standards are not expanded. */
bool pragmas::has_macros(const std::vector<llvm::StringRef> &names) const
{
    if (names.size() > 1 && names[0] == "pragma" &&
        (names[1] == "OPENCL" || names[1] == "STDC"))
        return false;
    const clang::IdentifierTable &table = preprocessor.getIdentifierTable();

    /* Looked up without an entry being made: a name that is not in the table
       is no macro. */
    return llvm::any_of(names, [this, &table](llvm::StringRef name) {
        const auto found = table.find(name);

        return found != table.end() &&
               preprocessor.getMacroInfo(found->second) != nullptr;
    });
}

/* True for the names of a pragma that makes a warning an error. */
static bool makes_errors(const std::vector<llvm::StringRef> &names)
{
    return llvm::is_contained(names, "diagnostic") &&
           (llvm::is_contained(names, "error") ||
            llvm::is_contained(names, "fatal"));
}

void pragmas::PragmaDirective(clang::SourceLocation at,
                              clang::PragmaIntroducerKind kind)
{
    const clang::SourceManager &all = preprocessor.getSourceManager();
    const auto place = all.getDecomposedLoc(all.getFileLoc(at));
    const llvm::StringRef text = all.getBufferData(place.first);
    clang::Lexer lexer(all.getLocForStartOfFile(place.first),
                       preprocessor.getLangOpts(), text.begin(),
                       text.begin() + place.second, text.end());
    std::vector<llvm::StringRef> names;
    clang::Token token;

    lexer.setParsingPreprocessorDirective(true);
    for (;;) {
        lexer.LexFromRawLexer(token);
        if (token.isOneOf(clang::tok::eod, clang::tok::eof))
            break;
        tokens->take(preprocessor, token);
        if (token.is(clang::tok::raw_identifier))
            names.push_back(token.getRawIdentifier());
    }
    is_made |= kind != clang::PIK_HashPragma || at.isMacroID() ||
               has_macros(names) || makes_errors(names);
}

/* These pragmas are for tests of clang: they end the process or print. */
void pragmas::PragmaDebug(clang::SourceLocation at, llvm::StringRef what)
{
    clang::DiagnosticsEngine &engine = preprocessor.getDiagnostics();

    engine.Report(at, engine.getCustomDiagID(
                          clang::DiagnosticsEngine::Error,
                          "'#pragma clang __debug %0' is not supported: it is "
                          "for tests of clang itself"))
        << what;
}

/* Their number tells where the tokens end. */
void pragmas::take_all(llvm::ArrayRef<clang::Token> all)
{
    tokens->take_text(std::to_string(all.size()));
    for (const clang::Token &token : all)
        tokens->take(preprocessor, token);
}

/* The content of the file is in no token. The watcher of tokens never sees
   those of the parameters either: the preprocessor gives them to the parser as
   tokens that come again. */
void pragmas::EmbedDirective(clang::SourceLocation, llvm::StringRef, bool,
                             clang::OptionalFileEntryRef file,
                             const clang::LexEmbedParametersResult &how)
{
    const llvm::SmallVector<clang::Token, 2> none;
    std::optional<int64_t> limit;
    const size_t offset =
        how.MaybeOffsetParam ? how.MaybeOffsetParam->Offset : 0;

    if (!file)
        return;
    if (how.MaybeLimitParam && how.MaybeLimitParam->Limit <= INT64_MAX)
        limit = static_cast<int64_t>(how.MaybeLimitParam->Limit);
    const auto content = preprocessor.getFileManager().getBufferForFile(
        *file, false, false, limit);

    tokens->take_text(std::to_string(offset));
    tokens->take_text(limit ? std::to_string(*limit) : "");
    tokens->take_text(content ? (*content)->getBuffer() : "");
    take_all(how.MaybePrefixParam ? how.MaybePrefixParam->Tokens : none);
    take_all(how.MaybeSuffixParam ? how.MaybeSuffixParam->Tokens : none);
    take_all(how.MaybeIfEmptyParam ? how.MaybeIfEmptyParam->Tokens : none);
}

/* The file's size decides what follows. It is recorded with the content, for
   which the file is read. */
void pragmas::HasEmbed(clang::SourceLocation, llvm::StringRef, bool,
                       clang::OptionalFileEntryRef file)
{
    if (file)
        (void)preprocessor.getFileManager().getBufferForFile(*file);
    answers.append(file ? std::to_string(file->getSize()) : "n");
    answers.push_back(' ');
}

/* What differs each time cannot be found again. */
void pragmas::MacroExpands(const clang::Token &name,
                           const clang::MacroDefinition &, clang::SourceRange,
                           const clang::MacroArgs *)
{
    const llvm::StringRef text = name.getIdentifierInfo()->getName();

    if (text == "__FILE__" || text == "__FILE_NAME__" ||
        text == "__BASE_FILE__")
        tokens->note_file();
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

void kiln__clang_tokens::note_file()
{
    job->out->names_files = 1;
}

void kiln__clang_tokens::take_place(const clang::Preprocessor &preprocessor,
                                    const clang::Token &token)
{
    clang::PresumedLoc at;

    if (token.getLocation().isValid())
        at =
            preprocessor.getSourceManager().getPresumedLoc(token.getLocation());
    if (at.isValid())
        take_text((llvm::Twine(at.getFilename()) + ":" +
                   llvm::Twine(at.getLine()) + ":" +
                   llvm::Twine(at.getColumn()))
                      .str());
}

/* Names like __builtin_LINE stand for where they are. */
static bool asks_for_place(llvm::StringRef name)
{
    return name == "__builtin_LINE" || name == "__builtin_COLUMN" ||
           name == "__builtin_FILE" || name == "__builtin_FILE_NAME";
}

void kiln__clang_tokens::take(clang::Preprocessor &preprocessor,
                              const clang::Token &token)
{
    const clang::IdentifierInfo *name =
        token.isAnnotation() || token.is(clang::tok::raw_identifier)
            ? nullptr
            : token.getIdentifierInfo();

    if (token.isAnnotation())
        return;
    bytes.push_back(static_cast<char>(token.getKind() & 0xff));
    bytes.push_back(static_cast<char>(token.getKind() >> 8));
    if (name != nullptr && asks_for_place(name->getName())) {
        note_file();
        take_place(preprocessor, token);
    } else if (with_lines) {
        take_place(preprocessor, token);
    }
    if (token.is(clang::tok::raw_identifier) || token.isLiteral())
        take_text(preprocessor.getSpelling(token));
    else if (name != nullptr)
        take_text(name->getName());
}

/* What a text may have that makes lines count: a warning that is an error, or a
   condition with a line. */
static bool asks_for_lines(llvm::StringRef text)
{
    return text.contains("__LINE__") ||
           (text.contains("diagnostic") &&
            (text.contains("error") || text.contains("fatal")));
}

bool kiln__clang_tokens::has_strict_warnings() const
{
    for (size_t i = 0; i < job->request->option_count; i++)
        if (strcmp(job->request->options[i], "-Werror") == 0)
            return true;
    return false;
}

/* Takes everything that was read, and the macros of options. */
void kiln__clang_tokens::take_files(clang::Preprocessor &preprocessor)
{
    clang::SourceManager &all = preprocessor.getSourceManager();
    std::vector<std::pair<clang::SourceLocation, llvm::StringRef>> texts;
    bool is_exact = has_strict_warnings();

    for (size_t i = 0; i < job->request->option_count; i++) {
        take_text(job->request->options[i]);
        is_exact |= asks_for_lines(job->request->options[i]);
    }
    for (unsigned i = 0; i < all.local_sloc_entry_size(); i++) {
        const clang::SrcMgr::SLocEntry &entry = all.getLocalSLocEntry(i);

        if (!entry.isFile() || !entry.getFile().getContentCache().OrigEntry)
            continue;
        const auto text =
            entry.getFile().getContentCache().getBufferDataIfLoaded();

        if (!text)
            continue;
        texts.emplace_back(
            clang::SourceLocation::getFromRawEncoding(entry.getOffset()),
            *text);
        is_exact |= asks_for_lines(*text);
    }
    for (const auto &[start, text] : texts)
        if (is_exact)
            take_text(text);
        else
            take_file(preprocessor, start, text);
}

/* Where a line begins, and whether space is before a token, decides what
   directives mean. */
void kiln__clang_tokens::take_file(clang::Preprocessor &preprocessor,
                                   clang::SourceLocation start,
                                   llvm::StringRef text)
{
    clang::Token token;
    clang::Lexer lexer(start, preprocessor.getLangOpts(), text.begin(),
                       text.begin(), text.end());

    for (;;) {
        lexer.LexFromRawLexer(token);
        take(preprocessor, token);
        if (token.is(clang::tok::eof))
            break;
        bytes.push_back(token.isAtStartOfLine() ? 'l' : '-');
        bytes.push_back(token.hasLeadingSpace() ? 's' : '-');
    }
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
