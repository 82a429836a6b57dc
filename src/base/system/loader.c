/* loader.c - opens libraries, and says why one cannot be opened. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/loader.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#ifdef __GLIBC__
#include <libintl.h>
#endif

#include "base/system/passing.h"

/*
 * The loader gives the reason as text in the user's language, without an error
 * number. If it has a number, the text ends with the system's message for it.
 * If a segment could not be mapped, the text says only that, in the loader's
 * own translation.
 */

static int ends_in(const char *words, int number)
{
    char buffer[128];
    const char *end = strerror_r(number, buffer, sizeof buffer);
    const size_t size = strlen(words), end_size = strlen(end);

    return size >= end_size && strcmp(words + size - end_size, end) == 0;
}

static int tells_of_mapping(const char *words)
{
#ifdef __GLIBC__
    static const char *const texts[] = {
        "failed to map segment from shared object",
        "cannot map zero-fill pages",
        "cannot create shared object descriptor",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strstr(words, dgettext("libc", texts[i])) != NULL)
            return 1;
#else
    (void)words;
#endif
    return 0;
}

static kiln_status meaning_of(const char *words)
{
    static const int passing[] = {EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR};

    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (ends_in(words, passing[i]))
            return kiln__passing_status(passing[i], KILN_ENOTFOUND);
    return tells_of_mapping(words) ? KILN_ENOMEM : KILN_ENOTFOUND;
}

/* Memory that the constructors of a library may need: those of LLVM take 15
   MiB. */
#define ROOM ((size_t)32 << 20)

/* Constructors that get no memory may end the process: those of LLVM do, and
   vendors' libraries contain LLVM, too. So a library is opened only if there is
   memory. */
static int has_room(const char *name)
{
    struct stat facts;
    size_t size = ROOM;
    void *room;
    int is_usable;

    if (strchr(name, '/') && stat(name, &facts) == 0)
        size += (size_t)facts.st_size;
    room = mmap(NULL, size, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return 0;
    is_usable = mprotect(room, ROOM, PROT_READ | PROT_WRITE) == 0;
    (void)munmap(room, size);
    return is_usable;
}

/* If it is a pipe, opening it would wait for a writer. */
static int is_special_file(const char *name)
{
    struct stat facts;

    return strchr(name, '/') && stat(name, &facts) == 0 &&
           !S_ISREG(facts.st_mode);
}

kiln_status kiln__loader_open(void **out, const char *name, const char **words)
{
    const char *message;

    *out = NULL;
    if (is_special_file(name)) {
        *words = "it is no regular file";
        return KILN_ENOTFOUND;
    }
    if (!has_room(name)) {
        *words = "memory has no room for it";
        return KILN_ENOMEM;
    }
    *out = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (*out != NULL)
        return KILN_OK;
    message = dlerror();
    *words = message != NULL ? message : "no reason";
    return meaning_of(*words);
}
