/* host_link.c - checks objects of host code, and how they are linked. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "abi/host_abi.h"
#include "abi/host_imports.h"
#include "backends/host/codegen/host_codegen.h"
#include "codegen/elf/elf.h"
#include "codegen/module/codegen_stages.h"

/*
 * The image is small: one read-only segment with code, constants and what the
 * loader reads, and one for what is relocated, if anything is. So most kernels
 * are a page. Every symbol but the kernel is local already.
 */

const char *const kiln__host_link_options[] = {
    "ld.lld",
    "-shared",
    "-Bsymbolic",
    "-z",
    "now",
    "-z",
    "norelro",
    "-z",
    "noexecstack",
    "-z",
    "text",
    "-z",
    "rodynamic",
    "-z",
    "max-page-size=4096",
    "--no-rosegment",
    "--hash-style=sysv",
    "--build-id=none",
    "--strip-all",
    "--threads=1",
    "--error-limit=0",
    "--color-diagnostics=never",
    NULL,
};

_Static_assert(sizeof kiln__host_link_options /
                       sizeof kiln__host_link_options[0] <=
                   KILN__ELF_OPTIONS_MAX,
               "the options fit");

static const struct import {
    const char *name;
    const char *types;
} imports[] = {
#define ENTRY(name, types, home) {#name, types},
    KILN__HOST_IMPORT_MAP(ENTRY)
#undef ENTRY
};

static int compare(const void *name, const void *entry)
{
    return strcmp(name, ((const struct import *)entry)->name);
}

const char *kiln__host_import_types(const char *name)
{
    const struct import *found =
        bsearch(name, imports, sizeof imports / sizeof imports[0],
                sizeof imports[0], compare);

    return found != NULL ? found->types : NULL;
}

int kiln__host_may_import(const char *name)
{
    return kiln__host_import_types(name) != NULL;
}

/* Besides those functions, true for what kiln__host_add_polls() and
   kiln__host_let_alone() refer to. */
int kiln__host_may_refer(const char *name)
{
    static const char *const own[] = {KILN__HOST_ALARM, KILN__HOST_POLL,
                                      KILN__HOST_RUN, KILN__HOST_ALONE};

    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(name, own[i]) == 0)
            return 1;
    return kiln__host_may_import(name);
}

kiln_status kiln__host_object_check(const kiln__object *object,
                                    const char *entry, char *message,
                                    size_t capacity)
{
    const kiln__elf_rules rules = {
        .machine = EM_X86_64,
        .entry = entry,
        .may_import = kiln__host_may_refer,
    };

    return kiln__elf_object_check(object, &rules, message, capacity);
}
