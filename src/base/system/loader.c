/* loader.c - libraries that the loader did not open. */
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
 * The loader tells why as text in the user's language, and no number. Its words
 * end in the system's for a number where it has one. Of a piece that could not
 * be mapped it says that alone, in words that it has translated itself.
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
        if (strstr(words, dgettext("libc", texts[i])))
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

/* What the constructors of a library get: those of LLVM take 15 MiB. */
#define ROOM ((size_t)32 << 20)

/* Constructors that get no memory end the process: those of LLVM do, which
   vendors' libraries have inside, too. So they are not begun without. */
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

/* What is opened waits there for a writer, if it is a pipe. */
static int is_odd_file(const char *name)
{
    struct stat facts;

    return strchr(name, '/') && stat(name, &facts) == 0 &&
           !S_ISREG(facts.st_mode);
}

kiln_status kiln__loader_open(void **out, const char *name, const char **words)
{
    const char *told;

    *out = NULL;
    if (is_odd_file(name)) {
        *words = "it is no regular file";
        return KILN_ENOTFOUND;
    }
    if (!has_room(name)) {
        *words = "memory has no room for it";
        return KILN_ENOMEM;
    }
    *out = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (*out)
        return KILN_OK;
    told = dlerror();
    *words = told ? told : "no reason";
    return meaning_of(*words);
}
