/* trial.h - launches of a random kernel, by compiler and interpreter. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_TRIAL_H
#define KILN_TESTS_TRIAL_H

#include "generator.h"
#include "interpreter/interpreter.h"
#include "kiln.h"

#define TRIAL_ARRAYS (GENERATED_OUTPUTS + 2 + GENERATED_ARRAYS)
#define TRIAL_SCALARS 7
#define TRIAL_ARGUMENTS (TRIAL_ARRAYS + TRIAL_SCALARS)

typedef struct trial_array {
    char type[40];
    int32_t kind; /* of the elements; a STRUCT is P */
    uint32_t rank;
    kiln_array array;
    unsigned char *bytes, *initial, *expected;
    size_t size;
} trial_array;

/* The arguments for one shape of launch, filled from a seed. */
typedef struct trial_data {
    trial_array arrays[TRIAL_ARRAYS];
    int64_t n;
    int32_t s;
    uint16_t u;
    float x;
    double y;
    uint8_t q;
    struct {
        int32_t first;
        double second;
    } t;
    const void *values[TRIAL_ARGUMENTS];
} trial_data;

/* Returns the type of argument `index`. */
const char *trial_type(const generated *program, size_t index);
void trial_fill(trial_data *data, const generated *program, uint64_t seed,
                uint64_t items);
void trial_reset(trial_data *data);
/* Takes the contents of the arrays as the expected ones. */
void trial_expect(trial_data *data);
/* Compares with what is expected: NULL, or what differs, in `text`. */
const char *trial_compare(const trial_data *data, char *text, size_t size);
void trial_dispose(trial_data *data);

typedef struct trial_options {
    uint64_t seed;
    int all; /* every level of optimisation and more shapes */
} trial_options;

typedef struct trial_counts {
    size_t programs, launches, exceptions, skipped;
    size_t refused; /* what the target lacks */
} trial_counts;

/* Runs a seed; 0, or 1 after it told what differs. */
int trial_run(const trial_options *options, trial_counts *counts);

#endif /* KILN_TESTS_TRIAL_H */
