/* host_import.c - the functions that host images may import. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "abi/host_imports.h"
#include "backends/host/host_backend.h"

/*
 * An image reaches the process only through its launch argument, through the
 * list of host_imports.h, through the functions that stop a launch, and through
 * the one that lets a thread be alone with its atomic operations: so an
 * artifact from a disk cannot call system() or anything else that the process
 * has loaded.
 */

/* Functions of the compiler's runtime library. Only their addresses are taken
   here, so their types do not matter. */
void __divti3(void);
void __extendhfsf2(void);
void __modti3(void);
void __truncdfhf2(void);
void __truncsfhf2(void);
void __udivti3(void);
void __umodti3(void);

/* C's own functions write the sign into a variable of the process, from every
   thread. */
static double lgamma_alone(double x)
{
    int sign;

    return lgamma_r(x, &sign);
}

static float lgammaf_alone(float x)
{
    int sign;

    return lgammaf_r(x, &sign);
}

#define lgamma lgamma_alone
#define lgammaf lgammaf_alone

typedef void (*function)(void);

typedef struct import {
    const char *name;
    function address;
} import;

/*
 * A table of all addresses has a hundred symbols of C's mathematics, which the
 * loader would look up whenever a process begins, and that takes as long as all
 * else that it does for this library. So in the shared library the table has
 * NULL instead, and the address of such a function is asked for when a kernel
 * needs it. A static program has no loader, and nothing to look up.
 */
#define HERE(name) (function)(name)
#ifdef KILN_LIBM_BY_NAME
#define LIBM(name) NULL
#else
#define LIBM(name) (function)(name)
#endif

static const import imports[] = {
#define ENTRY(name, types, home) {#name, home(name)},
    KILN__HOST_IMPORT_MAP(ENTRY)
#undef ENTRY
};

#define IMPORT_COUNT (sizeof imports / sizeof imports[0])

static int compare(const void *name, const void *entry)
{
    return strcmp(name, ((const import *)entry)->name);
}

/* Returns the address of C's function, where the table has none. */
static void *find_by_name(const import *found)
{
#ifdef KILN_LIBM_BY_NAME
    return dlsym(RTLD_DEFAULT, found->name);
#else
    (void)found;
    return NULL;
#endif
}

void *kiln__host_import(const char *name)
{
    const import *found =
        bsearch(name, imports, IMPORT_COUNT, sizeof imports[0], compare);
    void *address = kiln__host_stop_import(name);

    if (address == NULL)
        address = kiln__host_alone_import(name);
    if (found == NULL)
        return address;
    if (found->address == NULL)
        return find_by_name(found);
    /* C has no conversion between pointers to objects and to functions; POSIX
       guarantees that they have the same form. */
    memcpy(&address, &found->address, sizeof address);
    return address;
}

const char *kiln__host_import_name(size_t index)
{
    return index < IMPORT_COUNT ? imports[index].name : NULL;
}
