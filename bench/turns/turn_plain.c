/* turn_plain.c - a kernel in plain C, from a library with a function that
 * calls it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <stddef.h>

#include "turn.h"

/*
 * The source is the library. A C compiler is a process of its own: whoever has
 * started it knows how long it took.
 */
typedef void call_fn(void *const *arguments);

static call_fn *call;
static void *values[TURN_ARGUMENTS_MAX];

static int open_library(const turn_case *c, int count, char **options,
                        double *ms)
{
    void *library = dlopen(c->source, RTLD_NOW | RTLD_LOCAL);

    (void)count;
    (void)options;
    *ms = 0;
    if (library == NULL)
        return turn_complain(c->source, dlerror());
    *(void **)&call = dlsym(library, "turn_call");
    if (call == NULL)
        return turn_complain(c->source, dlerror());
    for (size_t i = 0; i < c->count; i++) {
        const turn_argument *a = &c->arguments[i];

        values[i] = a->rank == 0 ? a->initial : a->data;
    }
    return 1;
}

static int launch(void)
{
    call(values);
    return 1;
}

static const char *version(void)
{
    return __VERSION__;
}

const turn_side turn_side_here = {
    .usage = "",
    .open = open_library,
    .launch = launch,
    .version = version,
};
