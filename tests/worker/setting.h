/* setting.h - a context with a program, whose code a worker generates. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_SETTING_H
#define KILN_TESTS_SETTING_H

#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "kiln.h"
#include "kiln/runtime.h"
#include "kiln/sys/cache_tools.h"
#include "support/frontend/toy_frontend.h"

typedef struct setting {
    kiln_context *context;
    kiln_package *package;
    const kiln_config *config;
    struct toy toy; /* f0 has the body and head that it is given */
    char log[8192];
} setting;

/* Fixture: a folder, in `setting_folder`. */
extern const char *setting_folder;
int setting_setup(void **state);
int setting_teardown(void **state);

/* Fills options: the mode, the real worker, no limits. */
kiln_context_options setting_options(uint32_t codegen);
/* With options of one's own; NULL: KILN_CODEGEN_WORKER and the real worker.
   The cache is on in the folder if `caches`. */
setting *setting_open(const kiln_context_options *options, int caches);
void setting_close(setting *s);
/* What fake workers that are started from now on do. */
void setting_behave(const char *behaviour);

/* Compiles a kernel of the program: "scale", "powers", "sums". */
kiln_status setting_compile(const kiln_kernel **out, setting *s,
                            const char *name, kiln_error **error);
/* Compiles f0 of the toy frontend. */
kiln_status setting_compile_toy(const kiln_kernel **out, setting *s,
                                kiln_error **error);
kiln_signature setting_signature(setting *s, const char *name);

/* How many children this process has, zombies included. */
int setting_children(void);
/* Numbers of processes; returns how many there are. */
int setting_list_children(int *out, int most);

#endif /* KILN_TESTS_SETTING_H */
