/* program.h - programs of several packages that can be edited. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_EDITS_PROGRAM_H
#define KILN_EDITS_PROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A program is a list of items, each a definition in one of five packages. mid
 * and side import from lib, main from all three, and what is in core is seen by
 * all; some programs have nothing there. Bodies are text, but for the making of
 * a value of struct k, `$k:n;`: its arguments are written when the program is,
 * for the fields that the struct has by then, and made of the number n. So most
 * edits of a struct leave a program that means something.
 */

enum { EDIT_LIB, EDIT_MID, EDIT_SIDE, EDIT_MAIN, EDIT_CORE, EDIT_PACKAGES };
#define EDIT_OWN EDIT_CORE /* those of the program's own */

enum { ITEM_NOTE, ITEM_CONST, ITEM_ABSTRACT, ITEM_STRUCT, ITEM_FUNCTION };

#define ITEMS_MAX 90
#define FIELDS_MAX 5
#define STRUCTS 4   /* S0 to S3 */
#define ABSTRACTS 3 /* A0 to A2 */
#define CONSTS 4    /* K0 to K3 */
#define NUMBERS 4   /* f0 to f3: functions of a number */
#define KERNELS 3   /* k0 to k2, in main; the last one takes a struct */
#define OUTPUTS 4   /* numbers of a kernel */

typedef struct edit_field {
    char name[8];
    char type[24]; /* as written: "f64", "S1", "Vec{f64, K0}", "T" */
} edit_field;

typedef struct edit_item {
    int id; /* the same in all versions of the program */
    int kind;
    int package;
    int is_kernel;
    int index;       /* of a struct */
    char name[16];   /* as written, operators too; a note's text is its body */
    char overlay[8]; /* table, or "" */
    char parent[8];  /* of types; a function's result type */
    char where[16];  /* bounds of a function's type parameters, or "" */
    char bound[8];   /* of a struct's type parameter T; "-": T without one */
    char takes[64];  /* a function's parameters */
    char body[420];  /* of constants, functions, notes */
    edit_field fields[FIELDS_MAX];
    int field_count;
} edit_item;

typedef struct edit_program {
    edit_item items[ITEMS_MAX];
    int count;
    int next_id;
    /* Which package a name that two have is imported from, and which names
       are not imported: both by the importing package. */
    int twin_from[EDIT_PACKAGES];
    char hidden[EDIT_PACKAGES][16];
    int import_order[EDIT_PACKAGES]; /* turns the list */
    int place[EDIT_PACKAGES];        /* the folder of its text */
    int split[EDIT_PACKAGES];        /* how functions are dealt out to two texts
                                        of the package; 0: there is one */
    int is_side_first;               /* side is defined before mid */
    int argument;                    /* struct that the last kernel takes */
    int turn;                        /* which kernel has which config */
} edit_program;

#define EDIT_TEXT_MAX 8000
#define EDIT_PIECES 2

/* What is defined: texts of packages, which may have several, one after the
   other. */
typedef struct edit_texts {
    char text[EDIT_PACKAGES][EDIT_PIECES][EDIT_TEXT_MAX]; /* "": none */
    int place[EDIT_PACKAGES];
    int order[EDIT_PACKAGES]; /* packages as they are defined */
    char argument[16];        /* type of the last kernel's second argument */
    int turn;
    const edit_program *program; /* that they are of */
} edit_texts;

extern const char *const edit_package_names[EDIT_PACKAGES];

/* Writes the program down. */
void edit_write(edit_texts *out, const edit_program *program);
void edit_print(FILE *out, const edit_texts *texts);

edit_item *edit_find(edit_program *program, int kind, const char *name);
/* NULL: there are too many. */
edit_item *edit_add(edit_program *program, int kind, int package,
                    const char *name);
void edit_remove(edit_program *program, int id);
/* May `package` name what `other` defines? */
int edit_sees(int package, int other);

/* Does each definition name what is there, and nothing twice? One that does not
   takes its whole package along. */
int edit_is_sound(const edit_program *program);

/* ---- random numbers ---- */

typedef struct edit_random {
    uint64_t state;
} edit_random;

/* Numbers of seeds next to each other have nothing in common. */
edit_random edit_random_of(uint64_t seed);
int edit_below(edit_random *r, int n);
int edit_chance(edit_random *r, int percent);

/* ---- expressions.c ---- */

/* Who writes an expression: what it may name. */
typedef struct edit_writer {
    edit_random *random;
    const edit_program *program;
    int package;
    int below;          /* functions f of a smaller number may be called */
    const char *number; /* a parameter that is a number, or NULL */
    int argument;       /* struct of a parameter `s`; -1: none */
    char *out;
    size_t size, used;
} edit_writer;

/* Appends. */
void edit_put(edit_writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* An expression of type f64, and one of struct `index`. */
void edit_number(edit_writer *w, int depth);
void edit_struct(edit_writer *w, int index, int depth);
/* One of any type. */
void edit_value(edit_writer *w, int depth);

/* ---- generate.c ---- */

void edit_generate(edit_program *out, edit_random *random);
/* Writes a new body for a function of numbers, or a kernel. */
void edit_write_body(edit_program *program, edit_item *item,
                     edit_random *random);
/* Another body for a function of core's. */
void edit_write_core(edit_item *item, edit_random *random);
/* Adds a method of something that has several. */
void edit_add_method(edit_program *program, edit_random *random);
void edit_add_operator(edit_program *program, edit_random *random);
void edit_fill_fields(edit_item *item, edit_random *random);

/* ---- change.c ---- */

/* Edits the program once or twice; stores what was done. */
void edit_change(edit_program *program, edit_random *random, char *what,
                 size_t size);

#endif /* KILN_EDITS_PROGRAM_H */
