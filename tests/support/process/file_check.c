/* file_check.c - runs LLVM's FileCheck, for golden tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/process/file_check.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const programs[] = {"/usr/bin/FileCheck-22",
                                       "/usr/lib/llvm-22/bin/FileCheck"};

int file_check(const char *checks, const char *input, const char *prefix)
{
    char input_option[4096 + 16], prefix_option[128];
    char *arguments[] = {strdup("FileCheck"), input_option, prefix_option,
                         strdup(checks), NULL};
    int status = -1;
    pid_t child;

    snprintf(input_option, sizeof input_option, "--input-file=%s", input);
    snprintf(prefix_option, sizeof prefix_option, "--check-prefix=%s", prefix);
    for (size_t i = 0; i < 2 && status == -1; i++)
        if (access(programs[i], X_OK) == 0 &&
            posix_spawn(&child, programs[i], NULL, NULL, arguments, environ) ==
                0)
            waitpid(child, &status, 0);
    free(arguments[0]);
    free(arguments[3]);
    return status;
}
