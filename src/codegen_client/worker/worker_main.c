/* worker_main.c - kiln-codegen-worker: generates code in its own process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "codegen_client/worker/worker.h"

static int explain(void)
{
    (void)fprintf(
        stderr,
        "kiln-codegen-worker is started by libkiln. It runs a request that "
        "libkiln kept\nbecause code generation failed:\n\n"
        "    kiln-codegen-worker --replay FILE [--codegen LIBRARY] [-o OUT]\n");
    return 2;
}

int main(int count, char **words)
{
    const char *file = NULL, *library = NULL, *out = NULL;

    if (count >= 2 && count <= 3 && strcmp(words[1], "--serve") == 0)
        return worker_serve(words[2]);
    for (int i = 1; i < count; i += 2) {
        if (i + 1 == count)
            return explain();
        if (strcmp(words[i], "--replay") == 0)
            file = words[i + 1];
        else if (strcmp(words[i], "--codegen") == 0)
            library = words[i + 1];
        else if (strcmp(words[i], "-o") == 0)
            out = words[i + 1];
        else
            return explain();
    }
    return file != NULL ? worker_replay(file, library, out) : explain();
}
