/* dynlib.c - libraries opened at run time. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "dynlib.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

kiln_status kiln__dynlib_open(void **out, const char *name, kiln_error **error)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);

    if (library == NULL) {
        const char *reason = dlerror();

        return kiln__error_set(error, KILN_EIO, "cannot open library %s: %s",
                               name, reason == NULL ? "no reason" : reason);
    }
    *out = library;
    return KILN_OK;
}

void *kiln__dynlib_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

/* The loader knows the main program by its argv[0], which need not be a
   path: ask the system for it then. */
static const char *object_path(const Dl_info *object)
{
    if (object->dli_fname == NULL || strchr(object->dli_fname, '/') == NULL)
        return "/proc/self/exe";
    return object->dli_fname;
}

kiln_status kiln__dynlib_folder(char *path, size_t capacity,
                                const void *address)
{
    char real[PATH_MAX];
    Dl_info object;
    size_t size;

    if (dladdr(address, &object) == 0 ||
        realpath(object_path(&object), real) == NULL)
        return KILN_ENOTFOUND;
    size = (size_t)(strrchr(real, '/') - real);
    if (size + 1 > capacity)
        return KILN_EINVAL;
    memcpy(path, real, size);
    path[size] = '\0';
    return KILN_OK;
}
