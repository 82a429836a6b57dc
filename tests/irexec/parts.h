/* parts.h - between the files of this folder. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_IREXEC_PARTS_H
#define KILN_TESTS_IREXEC_PARTS_H

#include <llvm-c/Core.h>

#include "irexec.h"

/* ---- rewrite.c: IR as text ---- */

/* The text with one address space, the host's conventions and the hardware's
   functions under names of ours; neither triple nor layout. The caller frees
   it. Of each variable in a group's memory, seen(env, name). NULL: out of
   memory. */
#define PREFIX "irexec." /* in place of "llvm." */
char *rewrite(const char *text, void (*seen)(void *env, const char *name),
              void *env);

/* ---- functions_*.c: what the hardware does ---- */

typedef void (*any_function)(void);

typedef struct named_function {
    const char *name; /* without the prefix */
    any_function address;
    int is_together; /* items wait in it for each other */
} named_function;

/* Tables that end with a NULL name. */
extern const named_function nvvm_functions[];
extern const named_function nvvm_math_functions[];
extern const named_function amdgcn_functions[];
extern const named_function assembly_functions[]; /* by a part of asm's text */

/* The share of the error that the hardware may make that it does make, from -1
   to 1: KILN_TEST_APPROXIMATE, or 0. (functions_nvvm_math.c) */
double error_share(void);
/* Rounds a result that is so many units in the last place off, at most. */
float off_by_units(double exact, double units);

/* ---- fibre.c: stacks ---- */

typedef struct fibre {
    char *stack; /* made at the first start */
    void *pointer;
    void *sanitizer; /* what it keeps of a fibre that does not run */
} fibre;

/* Makes body() what the fibre runs when it is resumed; it must not return. */
int fibre_start(fibre *f, void (*body)(void));
/* From the scheduler into a fibre, until that calls leave(). */
void fibre_resume(fibre *f);
void fibre_leave(fibre *f);
/* The same for the last time. */
void fibre_end(fibre *f);
void fibre_free(fibre *f);

/* ---- group.c: the items of a group ---- */

typedef struct shared_variable {
    void *address;
    uint64_t size;
    int is_dynamic; /* it is as long as the launch says */
} shared_variable;

struct irexec_module {
    struct engine *engine;
    shared_variable *shared;
    size_t shared_count;
    uint32_t lanes;
    uint32_t hidden; /* arguments, behind all others */
    int is_together; /* something in it waits for other items */
    irexec_function *functions;
};

struct irexec_function {
    const irexec_module *module;
    char *name;
    void (*enter)(const void *block);
    size_t block_size;
    struct irexec_function *next;
};

/* What a running item may ask. */
typedef struct item_ids {
    uint32_t local[3];
    uint32_t group[3];
    uint32_t number; /* in its group */
    uint32_t lane;
} item_ids;

const item_ids *this_item(void);
const irexec_launch *this_launch(void);
uint32_t lanes_of_sub_group(void);

/* All items of the group come here, and none goes on before. */
void wait_for_group(const void *place);
/* All items of the sub-group come here, each with a value; the values by lane,
   and which lanes there are. Valid until the item waits again. */
const uint64_t *wait_for_lanes(const void *place, uint64_t value,
                               uint64_t *present);
/* The launch fails; does not return. */
void fail_item(const char *message) __attribute__((noreturn));

#endif /* KILN_TESTS_IREXEC_PARTS_H */
