/* tool_identity.h - finds out which builds of external tools are installed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_TOOL_IDENTITY_H
#define KILN_CODEGEN_CLIENT_TOOL_IDENTITY_H

#include <limits.h>

#include "base/build_id.h"
#include "base/toolchain/tool_paths.h"
#include "context/context.h"

/*
 * A note is a store entry about a file: where it was seen, which build it was,
 * and its stamp at that time. It is found under the text that was asked for. As
 * long as the stamp is unchanged, the file is not read again.
 */
typedef struct kiln__tool_note {
    char path[PATH_MAX];
    char id[KILN__BUILD_ID_TEXT_SIZE];
    kiln__file_stamp file;
    int is_current; /* whether the file still has that stamp */
} kiln__tool_note;

/* KILN_ENOTFOUND: there is no note, or the file is gone. */
kiln_status kiln__tool_note_read(kiln__tool_note *out, kiln_context *context,
                                 const char *asked);
/* `file`: the file's stamp when the build was found out. */
void kiln__tool_note_leave(kiln_context *context, const char *asked,
                           const char *path, const kiln__file_stamp *file,
                           const char *id);

kiln_status kiln__tools_new(kiln_context *context);
void kiln__tools_free(kiln_context *context);

/* A tool that made something, with its stamp at that time: another file may
   have its path by now. */
typedef struct kiln__tool_use {
    const char *name; /* as in tool_paths.h */
    const char *path;
    kiln__file_stamp file;
    const void *bytes; /* all bytes of the file if they were read, else NULL */
    size_t size;
} kiln__tool_use;

/* Gives the digest of the tool's file, or KILN__TOOL_UNKNOWN if that file is
   gone; "" if there is no tool of that name. */
#define KILN__TOOL_UNKNOWN "unknown"
void kiln__tool_used(char id[KILN__BUILD_ID_TEXT_SIZE], kiln_context *context,
                     const kiln__tool_use *use);
/* The same for the tool that would be used now, found out once in a context; ""
   if there is none. Starts and loads nothing. */
void kiln__tool_here(char id[KILN__BUILD_ID_TEXT_SIZE], kiln_context *context,
                     int tool);

#endif /* KILN_CODEGEN_CLIENT_TOOL_IDENTITY_H */
