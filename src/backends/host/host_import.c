/* host_import.c - the functions that host images may import. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
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

static const struct import {
    const char *name;
    function address;
} imports[] = {
#define ENTRY(name, types) {#name, (function)(name)},
    KILN__HOST_IMPORT_MAP(ENTRY)
#undef ENTRY
};

#define IMPORT_COUNT (sizeof imports / sizeof imports[0])

static int compare(const void *name, const void *import)
{
    return strcmp(name, ((const struct import *)import)->name);
}

void *kiln__host_import(const char *name)
{
    const struct import *found =
        bsearch(name, imports, IMPORT_COUNT, sizeof imports[0], compare);
    void *address = kiln__host_stop_import(name);

    if (address == NULL)
        address = kiln__host_alone_import(name);
    /* C has no conversion between pointers to objects and to functions; POSIX
       guarantees that they have the same form. */
    if (found != NULL)
        memcpy(&address, &found->address, sizeof address);
    return address;
}

const char *kiln__host_import_name(size_t index)
{
    return index < IMPORT_COUNT ? imports[index].name : NULL;
}
