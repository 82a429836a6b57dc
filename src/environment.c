/* environment.c - the environment variables, read once per context. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "environment.h"

#include <stdlib.h>
#include <string.h>

#include "kiln/context.h"
#include "report.h"

/*
 * Nothing else in the library asks the environment. Variables of a process
 * that runs with more rights than its user are not believed
 * (secure_getenv). An empty value counts as none.
 */

const kiln_environment_variable *kiln_environment_variables(void)
{
    static const kiln_environment_variable variables[] = {
        {"KILN_WORKERS", "number of threads that compile; default: cores"},
        {"KILN_THREADS",
         "number of threads of the host backend; default: cores"},
        {"KILN_CODEGEN_PATH",
         "path of libkiln-codegen.so; default: beside libkiln, else the "
         "loader's path"},
        {"KILN_PATH",
         "folders, separated by ':', where imported packages are looked for"},
        {"KILN_CODEGEN",
         "where code is generated; 'thread', on Kiln's own threads, is the "
         "default and all that this version knows"},
        {NULL, NULL},
    };

    return variables;
}

static const char *variable(const char *name)
{
    const char *value = secure_getenv(name);

    return value && *value ? value : NULL;
}

static kiln_status read_count(uint32_t *out, const char *name,
                              kiln_error **error)
{
    const char *text = variable(name);
    char *end = NULL;
    unsigned long count;

    *out = 0;
    if (!text)
        return KILN_OK;
    count = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || count < 1 ||
        count > KILN__THREADS_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "%s is '%s'; it takes a number from 1 to %u",
                               name, text, KILN__THREADS_MAX);
    *out = (uint32_t)count;
    return KILN_OK;
}

static kiln_status check_codegen(kiln_error **error)
{
    const char *place = variable("KILN_CODEGEN");

    if (!place || strcmp(place, "thread") == 0)
        return KILN_OK;
    return kiln__error_set(error, KILN_EINVAL,
                           "KILN_CODEGEN is '%s'; this version takes 'thread'",
                           place);
}

kiln_status kiln__environment_read(kiln__environment *out, kiln_error **error)
{
    KILN_TRY(read_count(&out->workers, "KILN_WORKERS", error));
    KILN_TRY(read_count(&out->threads, "KILN_THREADS", error));
    KILN_TRY(check_codegen(error));
    out->codegen_path = variable("KILN_CODEGEN_PATH");
    out->import_path = variable("KILN_PATH");
    return KILN_OK;
}
