/* kernels.h - compiles and runs kernels on the host, through kiln.h only. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_KERNELS_H
#define KILN_TESTS_KERNELS_H

#include "kiln.h"

/* A context with a host device, and what its kernels printed and told. */
typedef struct kernels {
    kiln_context *context;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_config *config;
    uint64_t lanes; /* lanes of a sub-group, once they were asked for */
    char printed[4096];
    size_t printed_size;
    unsigned checked;      /* events KILN_EVENT_CHECKED so far */
    char why_checked[256]; /* what the last one said */
} kernels;

/* Where kernels run: what KILN_TEST_BACKEND says, or the host. */
const char *kernels_backend(void);

/* Returns a config for that backend; `options` may be NULL. Fails the test if
   it cannot. */
const kiln_config *kernels_config(kernels *k,
                                  const kiln_config_options *options);
/* Returns such a config of an optimisation level, with bounds checks switched,
   that rounds each product. */
const kiln_config *kernels_rounding(kernels *k, uint8_t level,
                                    uint8_t bounds_checks);
/* What is run with several configs, and where its results are. */
typedef struct kernels_trial {
    kiln_status (*run)(void *env, const kiln_config *config);
    void *env;
    void *memory;
    size_t size;
} kernels_trial;

/* Runs it without optimisation, and with it, with checks and, unless it raised,
   without. Returns how one of these differs from the first, in whether it
   raises or, if none does, in memory; or NULL. Fails the test where the launch
   fails otherwise. */
const char *kernels_disagree(kernels *k, const kernels_trial *trial);
/* Fails the test if they do, and shows the kernel, and which of its trials it
   was. */
void kernels_assert_agree(kernels *k, const kernels_trial *trial, int which,
                          const char *kernel);
/* True where the launch is allowed. On devices a grid is a whole number of
   groups, and a group has at most 1024 items. */
int kernels_takes(const kiln_launch *launch);
/* True where the target has "fp16", "subgroups" or "recursion". A target of
   spirv says so in its name, and none of them has recursion. */
int kernels_has(const kernels *k, const char *feature);
/* True where the items of a sub-group of such a launch follow each other. With
   groups of several dimensions, a driver of SPIR-V is free to choose. */
int kernels_orders_lanes(const kiln_launch *launch);
/* Returns the number of lanes of a sub-group. */
uint64_t kernels_lanes(kernels *k);

/* False where the backend has no device. */
int kernels_are_possible(void);

/* For cmocka_run_group_tests: *state is a kernels *. */
int kernels_setup(void **state);
int kernels_teardown(void **state);

/* For a context that exists: makes the config, the device and the queue. */
void kernels_open(kernels *k);
/* Loads a file as the package of its name. Fails the test if it cannot. */
kiln_package *kernels_load(kernels *k, const char *path);
/* Defines a text in a package. */
kiln_package *kernels_define(kernels *k, const char *package, const char *text);

/* Returns the code of the package's kernel `k` for these types, as LLVM IR
   after its passes. Fails the test if there is none. */
kiln_blob kernels_optimised(kernels *k, const kiln_config *config,
                            kiln_package *package, const char *const *types,
                            size_t count);
/* Fails the test unless optimised code of the text's kernel `k` for these
   types, as LLVM IR, contains `part`. */
void kernels_assert_emits(kernels *k, const char *package, const char *text,
                          const char *const *types, size_t count,
                          const char *part);

/* An argument: its type in the language's text, and its value; for an array
   that is a kiln_array. */
typedef struct kernels_argument {
    const char *type;
    const void *value;
} kernels_argument;

/* Return a dense array of rank 1, or of rank 2, over the caller's memory. */
kiln_array kernels_array(void *data, int64_t size);
kiln_array kernels_array2(void *data, int64_t size0, int64_t size1);

/* Compiles package.function for the types of the arguments and launches `items`
   items. */
kiln_status kernels_run(kernels *k, kiln_package *package, const char *function,
                        uint64_t items, const kernels_argument *arguments,
                        size_t count, kiln_error **error);
/* As kernels_run(), for a whole launch and another config. */
kiln_status kernels_launch(kernels *k, kiln_package *package,
                           const char *function, const kiln_config *config,
                           const kiln_launch *launch,
                           const kernels_argument *arguments, size_t count,
                           kiln_error **error);

#endif /* KILN_TESTS_KERNELS_H */
