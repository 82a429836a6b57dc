/* tool_identity.h - which builds of others' tools are here. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_TOOL_IDENTITY_H
#define KILN_CODEGEN_CLIENT_TOOL_IDENTITY_H

#include <limits.h>

#include "base/build_id.h"
#include "base/toolchain/tool_paths.h"
#include "context/context.h"

/*
 * A note is an entry of its own that says of a file, found under what was
 * asked, where it was seen, which build it was, and its status then. As long
 * as that is unchanged, nobody reads the file again.
 */
typedef struct kiln__tool_note {
    char path[PATH_MAX];
    char id[KILN__BUILD_ID_TEXT_SIZE];
    kiln__file_stamp file;
    int is_current; /* the file is still that one */
} kiln__tool_note;

/* KILN_ENOTFOUND: there is none, or the file has gone. */
kiln_status kiln__tool_note_read(kiln__tool_note *out, kiln_context *context,
                                 const char *asked);
/* `file`: what the path was when the build was found out. */
void kiln__tool_note_leave(kiln_context *context, const char *asked,
                           const char *path, const kiln__file_stamp *file,
                           const char *id);

kiln_status kiln__tools_new(kiln_context *context);
void kiln__tools_free(kiln_context *context);

/* A tool that made something, as it was then: another file may have its path
   by now. */
typedef struct kiln__tool_use {
    const char *name; /* of tool_paths.h */
    const char *path;
    kiln__file_stamp file;
    const void *bytes; /* all that was read of it, or NULL */
    size_t size;
} kiln__tool_use;

/* The digest of what was in its file, and KILN__TOOL_UNKNOWN if that has gone.
   "": there is no such tool. */
#define KILN__TOOL_UNKNOWN "unknown"
void kiln__tool_used(char id[KILN__BUILD_ID_TEXT_SIZE], kiln_context *context,
                     const kiln__tool_use *use);
/* The same of the tool that would be used now, found out once in a context;
   "": there is none. Starts and loads nothing. */
void kiln__tool_here(char id[KILN__BUILD_ID_TEXT_SIZE], kiln_context *context,
                     int tool);

#endif /* KILN_CODEGEN_CLIENT_TOOL_IDENTITY_H */
