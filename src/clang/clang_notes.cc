/* clang_notes.cc - what clang says about a source. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <clang/Basic/SourceManager.h>

#include "clang/clang_parts.h"

static int32_t severity_of(clang::DiagnosticsEngine::Level level)
{
    if (level >= clang::DiagnosticsEngine::Error)
        return KILN_SEVERITY_ERROR;
    return level == clang::DiagnosticsEngine::Warning ? KILN_SEVERITY_WARNING
                                                      : KILN_SEVERITY_NOTE;
}

/* The line of the source that holds the location. */
static const char *quote(kiln__clang_job *job, const clang::SourceManager &all,
                         clang::SourceLocation location)
{
    const auto place = all.getDecomposedLoc(location);
    const auto buffer = all.getBufferOrNone(place.first);

    if (!buffer)
        return nullptr;
    const llvm::StringRef text = buffer->getBuffer();
    const size_t before = text.rfind('\n', place.second);
    const size_t begin = before == llvm::StringRef::npos ? 0 : before + 1;

    return kiln__clang_copy(
        job, text.slice(begin, text.find_first_of("\r\n", place.second)));
}

/* A call that fits none of a hundred functions has a note for each. */
#define NOTES_MAX 8

/* Tells how many notes of the last error or warning were left off. */
void kiln__clang_notes::tell_left_off()
{
    kiln__source_note note = {};

    if (of_last > NOTES_MAX) {
        note.severity = KILN_SEVERITY_NOTE;
        note.text = kiln__clang_copy(
            job, "and " + std::to_string(of_last - NOTES_MAX) + " more notes");
        notes.push_back(note);
    }
    of_last = 0;
}

bool kiln__clang_notes::is_left_off(clang::DiagnosticsEngine::Level level)
{
    if (severity_of(level) == KILN_SEVERITY_NOTE)
        return ++of_last > NOTES_MAX;
    tell_left_off();
    return false;
}

void kiln__clang_notes::HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                                         const clang::Diagnostic &diagnostic)
{
    kiln__source_note note = {};
    llvm::SmallString<256> text;

    DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
    if (is_left_off(level))
        return;
    diagnostic.FormatDiagnostic(text);
    note.severity = severity_of(level);
    note.text = kiln__clang_copy(job, text);
    if (diagnostic.hasSourceManager() && diagnostic.getLocation().isValid()) {
        const clang::SourceManager &all = diagnostic.getSourceManager();
        const clang::SourceLocation at =
            all.getFileLoc(diagnostic.getLocation());
        const clang::PresumedLoc place = all.getPresumedLoc(at);

        if (place.isValid()) {
            note.file = kiln__clang_copy(job, place.getFilename());
            note.line = place.getLine();
            note.column = place.getColumn();
            note.quote = quote(job, all, at);
        }
    }
    notes.push_back(note);
}

void kiln__clang_notes::tell()
{
    tell_left_off();
    job->out->notes = kiln__clang_copy_all(job, notes);
    job->out->note_count = notes.size();
}
