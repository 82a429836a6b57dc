/* codegen_mangled.h - the mangled names of OpenCL's built-in functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_MODULE_CODEGEN_MANGLED_H
#define KILN_CODEGEN_MODULE_CODEGEN_MANGLED_H

#include <stddef.h>

/*
 * Compilers of OpenCL C mangle the names of built-in functions as C++ does
 * (Itanium's ABI), with numbers for address spaces: _Z6vload4mPU3AS1Kf. What a
 * number means depends on the target that the compiler had, and a name may
 * refer back to types that it has already. So names are read, and written again
 * for another target.
 */

#define KILN__MANGLED_PARAMETERS 8
#define KILN__MANGLED_NAME_SIZE 128
#define KILN__MANGLED_SPACES \
    5 /* with a meaning in modules; AMD's libraries use \
         number 5, too */

/* A number, a vector of numbers, or a pointer to one of these. */
typedef struct kiln__mangled_type {
    char element[32]; /* as mangled: "f", "Dh", "12memory_order" */
    unsigned lanes;   /* of a vector; 0: no vector */
    int is_pointer;
    unsigned space; /* that a pointer points to; 0: none was given */
    char marks[32]; /* other qualifiers of what a pointer points to: "VK" */
} kiln__mangled_type;

typedef struct kiln__mangled_name {
    char base[KILN__MANGLED_NAME_SIZE]; /* "vload4" */
    kiln__mangled_type parameters[KILN__MANGLED_PARAMETERS];
    unsigned count;
} kiln__mangled_name;

/* Returns false if the name is none of such a function. */
int kiln__mangled_read(kiln__mangled_name *out, const char *symbol);
/* Writes the name with other address spaces: those of `spaces`, by the number
   that is there now. Returns false if it is too long. */
int kiln__mangled_write(char *out, size_t capacity,
                        const kiln__mangled_name *name,
                        const unsigned char spaces[KILN__MANGLED_SPACES]);
/* Writes the name for people: "vload4(ulong, global const float *)". */
void kiln__mangled_show(char *out, size_t capacity,
                        const kiln__mangled_name *name);

#endif /* KILN_CODEGEN_MODULE_CODEGEN_MANGLED_H */
