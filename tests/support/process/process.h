/* process.h - what a process does with texts, over stores in memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_PROCESS_H
#define KILN_TESTS_PROCESS_H

#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digest/digest.h"
#include "frontend/program/lazy_text.h"
#include "frontend/program/runtime_sources.h"
#include "kiln.h"
#include "kiln/sys/frontend.h"
#include "support/stores/memory_store.h"

/* A context stands for a process: what survives it is in the store. */
typedef struct process {
    kiln_context *context;
    kiln__language *language;
    const kiln_config *config;
} process;

/* Fixture: an empty store that is read and written. */
int process_setup(void **state);
int process_teardown(void **state);

void process_start(process *p);
void process_end(process *p);
/* True when something was parsed that might have waited. */
int process_is_ready(const process *p);
kiln_package *process_package(process *p, const char *name);
kiln_change_report process_define(process *p, const char *package,
                                  const char *text);
const kiln_function *process_function(process *p, const char *package,
                                      const char *name);
/* Infers the function for an f32. */
kiln_status process_infer(const kiln_code **out, process *p,
                          const char *package, const char *name,
                          kiln_error **error);
kiln_digest process_inferred(process *p, const char *package, const char *name);
kiln_digest process_program(process *p, const char *package, const char *name);

#define assert_same(a, b) assert_true(kiln__digest_equal((a), (b)))

/* ---- a program, as a list of texts ---- */

typedef struct process_text {
    const char *package;
    const char *text;
} process_text;

/* Each text defines things that others may refer to. The last one has f and
   h. */
#define PROCESS_SAMPLE_COUNT 5
extern const process_text process_sample[PROCESS_SAMPLE_COUNT];

/* `reports` has room for each text, or is NULL. */
void process_define_sample(process *p, kiln_change_report *reports);
/* Fills the store with entries for the texts. */
void process_learn(void);

/* What can be observed of a program. */
typedef struct process_observed {
    kiln_change_report reports[PROCESS_SAMPLE_COUNT];
    uint64_t world;
    kiln_digest program, f, h;
    int was_ready; /* before it was inferred */
} process_observed;

process_observed process_observe(void);
void assert_equal_observed(const process_observed *a,
                           const process_observed *b);

#endif /* KILN_TESTS_PROCESS_H */
