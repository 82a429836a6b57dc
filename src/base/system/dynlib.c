/* dynlib.c - libraries opened at run time. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/dynlib.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/error.h"
#include "base/system/loader.h"

kiln_status kiln__dynlib_open(void **out, const char *name, kiln_error **error)
{
    const char *words = NULL;
    const kiln_status status = kiln__loader_open(out, name, &words);

    return status == KILN_OK
               ? KILN_OK
               : kiln__error_set(error, status, "cannot open library %s: %s",
                                 name, words);
}

void *kiln__dynlib_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

/* The loader knows the main program by its argv[0], which the program's caller
   chooses; so the system is asked for the path. Where the process has more
   rights than its user, even that is not safe: a user who may make a hard link
   to the program's file decides what lies beside it. */
static const char *object_path(const void *address)
{
    struct link_map *object = NULL;
    Dl_info info;

    if (dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP) == 0 ||
        object == NULL)
        return NULL;
    if (*object->l_name != '\0')
        return object->l_name;
    return getauxval(AT_SECURE) == 0 ? "/proc/self/exe" : NULL;
}

kiln_status kiln__dynlib_folder(char path[PATH_MAX], const void *address)
{
    const char *object = object_path(address);

    if (object == NULL || realpath(object, path) == NULL)
        return KILN_ENOTFOUND;
    *strrchr(path, '/') = '\0';
    return KILN_OK;
}
