/* irexec.h - device code run on the host, as LLVM IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_IREXEC_H
#define KILN_TESTS_IREXEC_H

#include <stddef.h>
#include <stdint.h>

/*
 * What the codegen half of a device made, before instruction selection, is
 * given the host's triple, layout and conventions, and one address space for
 * all; the functions of the device's hardware become functions of this folder.
 * The items of a group run one after the other: each until it ends or comes to
 * something that items do together, on a stack of its own if there is such a
 * thing in the module. One launch runs at a time in a process.
 *
 * All that is wrong with a module or a launch is a message.
 */

#define IREXEC_MESSAGE 1024

typedef struct irexec_module irexec_module;
typedef struct irexec_function irexec_function;

/** Takes LLVM IR in its text form. The first line is IREXEC_HEAD and numbers
 *  that IR does not tell. NULL: `message` is filled. */
irexec_module *irexec_module_new(const char *text, char *message);
void irexec_module_free(irexec_module *module);
/** A kernel, the module's; NULL when there is none of that name. */
irexec_function *irexec_module_function(irexec_module *module,
                                        const char *name);
/** The most dynamic memory of a group. */
#define IREXEC_DYNAMIC_MAX (128 << 10)
/** Bytes of a group's memory that the module declares. */
uint64_t irexec_module_shared_bytes(const irexec_module *module);

/** "; irexec 32 2": lanes of a sub-group, hidden arguments. */
#define IREXEC_HEAD "; irexec "

typedef struct irexec_launch {
    uint32_t groups[3];
    uint32_t items[3]; /* of a group */
    uint32_t dynamic;  /* bytes of dynamic memory of a group */
    const void *block; /* of arguments, as drivers pass it */
    size_t block_size;
} irexec_launch;

/** Runs all items. Not 0: `message` is filled, and some did not run. */
int irexec_run(const irexec_function *function, const irexec_launch *launch,
               char *message);

#endif /* KILN_TESTS_IREXEC_H */
