/* codegen_names.c - names of functions and variables for people. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "codegen/module/codegen_stages.h"

/*
 * While a module is adapted, Kiln gives what it defines other names, so that
 * LLVM takes none of them for a function of C's, and an entry is called by the
 * kernel's name and a digest. Messages have the names that the author knows.
 */

static const char *const endings[] = {".own", ".neutral", ".item"};

static size_t without_endings(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t length = strlen(endings[i]);

        if (size > length &&
            memcmp(name + size - length, endings[i], length) == 0)
            return without_endings(name, size - length);
    }
    return size;
}

#define DIGITS 8 /* of the digest, behind '_' */

static size_t without_digest(const kiln__codegen_job *job, const char *name,
                             size_t size)
{
    const char *entry = job->request->entry;

    if (size <= DIGITS + 1 || size != strlen(entry) ||
        memcmp(name, entry, size) != 0 || name[size - DIGITS - 1] != '_' ||
        strspn(entry + size - DIGITS, "0123456789abcdef") != DIGITS)
        return size;
    return size - DIGITS - 1;
}

const char *kiln__plain_text(kiln__codegen_job *job, const char *name,
                             size_t size)
{
    const size_t length =
        without_digest(job, name, without_endings(name, size));

    name = kiln__arena_string(&job->arena, name, length);
    return name != NULL ? name : "";
}

const char *kiln__plain_name(kiln__codegen_job *job, LLVMValueRef global)
{
    size_t size;
    const char *name = LLVMGetValueName2(global, &size);

    return kiln__plain_text(job, name, size);
}
