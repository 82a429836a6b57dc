/* program.h - a context and a package to define kernel code in. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_PROGRAM_H
#define KILN_TESTS_PROGRAM_H

#include "support/harness.h"

#include "frontend/language.h"
#include "kiln/method.h"

/* Fixture: cmocka_unit_test_setup_teardown(test, program_setup,
   program_teardown); *state is the program. */
typedef struct program {
    kiln_context *context;
    kiln__language *language;
    kiln_package *main; /* empty */
    kiln__arena arena;  /* for the texts that functions here return */
} program;

int program_setup(void **state);
int program_teardown(void **state);

kiln_package *program_package(program *p, const char *name);
/* Defines a text, which must be correct. `report` may be NULL. */
void program_define_in(kiln_package *package, const char *text,
                       kiln_change_report *report);
void program_define(program *p, const char *text);
/* Defines a text that must be refused, with one diagnostic of that code. */
void program_refuse(program *p, const char *code, const char *text);

const kiln_type *program_type(program *p, const char *text);
/* Returns the method that a call gets in `world` (0: the current one):
   "main.f(x: f32)", "none" or "ambiguous". Arguments are types, or `1` and
   `1.0` for literals, separated by semicolons. */
const char *program_pick_at(program *p, const char *function,
                            const char *arguments, const char *overlays,
                            uint64_t world);
const char *program_pick(program *p, const char *function,
                         const char *arguments);
/* As program_pick(), but returns how the match adapted the arguments: "f32;
   i64". */
const char *program_adapts(program *p, const char *function,
                           const char *arguments);

#endif /* KILN_TESTS_PROGRAM_H */
