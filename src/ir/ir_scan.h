/* ir_scan.h - functions that read textual typed IR, piece by piece. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_IR_SCAN_H
#define KILN_IR_SCAN_H

#include "ir/ir_tables.h"

/*
 * Every function returns 1, or 0 after the first failure. `what` keeps that
 * failure, and `next` the place where reading stopped. A failure that is no
 * fault of the text is a lack of memory or of the thread's stack (`shortage`).
 * `depth` counts nesting, so that no text needs more stack than a thread may
 * have.
 */

/* The deepest nesting of parentheses: of the tree and of a type in it. */
#define KILN__SCAN_DEPTH_MAX (KILN__IR_DEPTH_MAX + KILN__IR_TYPE_DEPTH_MAX + 8)

typedef struct kiln__scanner {
    kiln__ir *ir;
    const char *text;
    const char *next;
    const char *end;
    const char *what;     /* what is wrong, or NULL */
    kiln_status shortage; /* what was lacking, if nothing is wrong */
    uint32_t none;        /* index of the type of statements */
    size_t depth;
    kiln__text scratch;                /* the last word or string */
    kiln__array_of(uint32_t) operands; /* of the nodes that are being read */
} kiln__scanner;

int kiln__scan_fail(kiln__scanner *p, const char *what);
int kiln__scan_fail_memory(kiln__scanner *p);
/* Adds a level of nesting to `depth`. */
int kiln__scan_enter(kiln__scanner *p);
/* Fails if building the IR failed, and returns whether it worked. */
int kiln__scan_made(kiln__scanner *p, kiln_status status);

/* Skips blanks and comments. */
void kiln__scan_skip(kiln__scanner *p);
/* Returns the next character, 0 at the end. */
char kiln__scan_peek(const kiln__scanner *p);
/* Takes `c` if it comes next. The two functions after this one skip blanks
   first. */
int kiln__scan_take(kiln__scanner *p, char c);
int kiln__scan_accept(kiln__scanner *p, char c);
int kiln__scan_expect(kiln__scanner *p, char c, const char *what);
int kiln__scan_is_next(const kiln__scanner *p, const char *text);
/* Reads the word that begins here into scratch; 0 when there is none. */
int kiln__scan_word(kiln__scanner *p);
/* Reads a quoted text into scratch. */
int kiln__scan_quoted(kiln__scanner *p);
int kiln__scan_number(kiln__scanner *p, uint64_t limit, uint64_t *out);
int kiln__scan_u32(kiln__scanner *p, uint32_t *out);
int kiln__scan_i64(kiln__scanner *p, int64_t *out);
int kiln__scan_type(kiln__scanner *p, uint32_t *out);
/* Reads a constant of the scalar kind, in the form that CONST keeps. */
int kiln__scan_constant(kiln__scanner *p, int32_t kind, int64_t *out);

#endif /* KILN_IR_SCAN_H */
