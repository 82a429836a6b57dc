/* module_texts.h - a frontend whose functions are modules of LLVM IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_MODULE_TEXTS_H
#define KILN_TESTS_MODULE_TEXTS_H

#include "kiln.h"
#include "support/devices/kernels.h"

#define MODULE_TEXTS_MAX 64

/*
 * lower() replaces `@E` in a text by the entry, and the words of foreign.h:
 * `@I` by the type of a pointer to the item, `@A` by that of a pointer to
 * elements of an array, and `@S` by the address space of an item's variables.
 */
typedef struct module_texts {
    kiln_frontend *frontend;
    const char *texts[MODULE_TEXTS_MAX];
    const kiln_function *functions[MODULE_TEXTS_MAX];
    int count;
    int lowered;    /* how often lower() ran */
    int32_t source; /* of the last kernel */
} module_texts;

/* Adds the frontend to a context, and calls it `name`. */
void module_texts_open(module_texts *m, kiln_context *context,
                       const char *name);
/* Returns a function whose module is the text, which must live on. */
const kiln_function *module_texts_define(module_texts *m, const char *text);
/* Compiles the function for the arguments, and launches `items` items. */
kiln_status module_texts_run(module_texts *m, kernels *k,
                             const kiln_function *function,
                             const kiln_config *config, uint64_t items,
                             const kernels_argument *arguments, size_t count,
                             kiln_error **error);
/* The same for a whole launch. */
kiln_status module_texts_launch(module_texts *m, kernels *k,
                                const kiln_function *function,
                                const kiln_config *config,
                                const kiln_launch *launch,
                                const kernels_argument *arguments, size_t count,
                                kiln_error **error);

#endif /* KILN_TESTS_MODULE_TEXTS_H */
