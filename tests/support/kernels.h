/* kernels.h - compiles and runs kernels on the host, through kiln.h only. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_KERNELS_H
#define KILN_TESTS_KERNELS_H

#include "kiln.h"

/* One context with a host device, and what its kernels printed. */
typedef struct kernels {
    kiln_context *context;
    kiln_device *device;
    kiln_queue *queue;
    const kiln_config *config;
    uint64_t lanes; /* of a sub-group, once they were asked for */
    char printed[4096];
    size_t printed_size;
} kernels;

/* Where kernels run: what KILN_TEST_BACKEND says, or the host. */
const char *kernels_backend(void);

/* A config for there; `options` may be NULL. Fails the test if it cannot. */
const kiln_config *kernels_config(kernels *k,
                                  const kiln_config_options *options);
/* True where that launch can be made: beside the host, a grid is a whole
   number of groups, and these have at most 1024 items. */
int kernels_takes(const kiln_launch *launch);
/* True where the target has "fp16", "subgroups" or "recursion"; of backend
   spirv its name tells, and it has no recursion. */
int kernels_has(const kernels *k, const char *feature);
/* True where a sub-group of such a launch is items that follow each other. A
   driver of SPIR-V chooses in groups of several dimensions. */
int kernels_orders_lanes(const kiln_launch *launch);
/* How many lanes a sub-group has. */
uint64_t kernels_lanes(kernels *k);

/* False where the backend has no device. */
int kernels_are_possible(void);

/* For cmocka_run_group_tests: *state is a kernels *. */
int kernels_setup(void **state);
int kernels_teardown(void **state);

/* Of a context that is there: the config, the device and the queue. */
void kernels_open(kernels *k);
/* Loads a file as the package of its name; fails the test if it cannot. */
kiln_package *kernels_load(kernels *k, const char *path);
/* Defines a text in a package. */
kiln_package *kernels_define(kernels *k, const char *package, const char *text);

/* An argument: its type as the language writes it, and its value: of an array
   a kiln_array. */
typedef struct kernels_argument {
    const char *type;
    const void *value;
} kernels_argument;

/* A dense array of rank 1 over the caller's own memory, and of rank 2. */
kiln_array kernels_array(void *data, int64_t size);
kiln_array kernels_array2(void *data, int64_t size0, int64_t size1);

/* Compiles package.function for the arguments' types and launches `items`
   of it. */
kiln_status kernels_run(kernels *k, kiln_package *package, const char *function,
                        uint64_t items, const kernels_argument *arguments,
                        size_t count, kiln_error **error);
/* The same for a whole launch and another config. */
kiln_status kernels_launch(kernels *k, kiln_package *package,
                           const char *function, const kiln_config *config,
                           const kiln_launch *launch,
                           const kernels_argument *arguments, size_t count,
                           kiln_error **error);

#endif /* KILN_TESTS_KERNELS_H */
