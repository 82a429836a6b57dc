/* kiln_names.c - lists of names, for messages and help. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "kiln_tool.h"

#define WIDTH 79

void tool_list_names(char *out, size_t size, tool_name_fn name)
{
    size_t at = 0;

    for (size_t i = 0; name(i) != NULL && at < size; i++) {
        const char *join = name(i + 1) != NULL ? ", " : " or ";

        at += (size_t)snprintf(out + at, size - at, "%s%s", i > 0 ? join : "",
                               name(i));
    }
}

void tool_show_names(FILE *file, int indent, tool_name_fn name)
{
    int column = WIDTH;

    for (size_t i = 0; name(i) != NULL; i++) {
        const int size = (int)strlen(name(i)) + 1; /* with the comma */

        if (column + 1 + size > WIDTH)
            column = fprintf(file, "%s%*s", i > 0 ? "\n" : "", indent, "") - 1;
        else
            column += fprintf(file, " ");
        column += fprintf(file, "%s%s", name(i), name(i + 1) ? "," : "");
    }
    (void)fputc('\n', file);
}
