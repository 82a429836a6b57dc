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

#define ENTRY(name, types) {#name, (function)(name)},

/*
 * A table of all addresses has a hundred symbols of C's mathematics, which the
 * loader would look up whenever a process begins, and that takes as long as all
 * else that it does for this library. So the shared library asks for the
 * address of such a function when a kernel needs it; what lies in this library
 * and what every process binds anyway is in a table. A static program has no
 * loader, and nothing to look up.
 */
#ifdef KILN_LIBM_BY_NAME

static const import imports[] = {
    ENTRY(__divti3, ) ENTRY(__extendhfsf2, ) ENTRY(__modti3, )
        ENTRY(__truncdfhf2, ) ENTRY(__truncsfhf2, ) ENTRY(__udivti3, )
            ENTRY(__umodti3, ) ENTRY(bcmp, ) ENTRY(lgamma, ) ENTRY(lgammaf, )
                ENTRY(memcmp, ) ENTRY(memcpy, ) ENTRY(memmove, )
                    ENTRY(memset, )};

#define NAME(name, types) #name,
static const char *const names[] = {KILN__HOST_IMPORT_MAP(NAME)};
#undef NAME
#define NAME_AT(index) names[index]

static int compare_names(const void *name, const void *entry)
{
    return strcmp(name, *(const char *const *)entry);
}

static void *find_elsewhere(const char *name)
{
    return bsearch(name, names, sizeof names / sizeof *names, sizeof *names,
                   compare_names) != NULL
               ? dlsym(RTLD_DEFAULT, name)
               : NULL;
}

#else

static const import imports[] = {KILN__HOST_IMPORT_MAP(ENTRY)};

#define NAME_AT(index) imports[index].name

static void *find_elsewhere(const char *name)
{
    (void)name;
    return NULL;
}

#endif
#undef ENTRY

#define COUNT(name, types) +1
#define NAME_COUNT ((size_t)(0 KILN__HOST_IMPORT_MAP(COUNT)))

static int compare(const void *name, const void *entry)
{
    return strcmp(name, ((const import *)entry)->name);
}

void *kiln__host_import(const char *name)
{
    const import *found =
        bsearch(name, imports, sizeof imports / sizeof *imports,
                sizeof *imports, compare);
    void *address = kiln__host_stop_import(name);

    if (address == NULL)
        address = kiln__host_alone_import(name);
    if (address == NULL && found == NULL)
        address = find_elsewhere(name);
    /* C has no conversion between pointers to objects and to functions; POSIX
       guarantees that they have the same form. */
    if (found != NULL)
        memcpy(&address, &found->address, sizeof address);
    return address;
}

const char *kiln__host_import_name(size_t index)
{
    return index < NAME_COUNT ? NAME_AT(index) : NULL;
}
