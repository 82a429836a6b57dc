/* kiln_output.c - which files a command may write over. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <sys/stat.h>

#include "base/system/reason.h"
#include "kiln_tool.h"

int tool_output_spares(const char *output, const char *const *inputs,
                       size_t count)
{
    struct stat to, from;

    if (stat(output, &to) != 0 || !S_ISREG(to.st_mode))
        return TOOL_OK;
    for (size_t i = 0; i < count; i++)
        if (inputs[i] != NULL && stat(inputs[i], &from) == 0 &&
            to.st_dev == from.st_dev && to.st_ino == from.st_ino)
            return tool_complain(TOOL_USAGE,
                                 "%s: it is an input of the command, and "
                                 "would be overwritten",
                                 output);
    return TOOL_OK;
}

int tool_output_is_file(const char *output)
{
    struct stat facts;

    if (lstat(output, &facts) == 0) {
        if (S_ISREG(facts.st_mode))
            return TOOL_OK;
        errno = EEXIST;
    } else if (errno == ENOENT) {
        return TOOL_OK;
    }
    return tool_complain(TOOL_FAILED, "%s: %s", output,
                         errno == EEXIST ? "it is there, and is no regular file"
                                         : kiln__reason_text(errno));
}
