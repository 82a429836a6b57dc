/* defining.h - types that are being defined, between two files. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DEFINING_H
#define KILN_DEFINING_H

#include "frontend/program/program_tables.h"

/* A type that the change defines or redefines. */
typedef struct kiln__defined kiln__defined;
struct kiln__defined {
    kiln__named_type *named;
    kiln__version *version;
    const kiln__version *older; /* the version visible before, or NULL */
    int digested;
    int follows; /* not in the text: something that it refers to changes */
    kiln__defined *next;
};

typedef struct kiln__defining {
    kiln__change *change;
    kiln__facts before; /* of the world before the change */
    kiln__defined *first;
    kiln__defined **last;
} kiln__defining;

/* ---- define_types.c ---- */
/* Gives the name a new version of the type. */
void kiln__defining_link(kiln__defining *d, kiln__slot *slot,
                         const kiln__named_type *model, int follows);
/* Returns the definition of a type that is being defined, or NULL. */
static inline kiln__defined *kiln__defined_of(const kiln__slot *slot)
{
    return slot->work;
}
/* Returns the scope for names in the definition of a type. */
kiln__type_scope kiln__defining_scope(const kiln__defining *d,
                                      const kiln__named_type *named);

/* ---- define_structs.c ---- */
/* Links the structs of all packages that refer to names which get another
   meaning. */
void kiln__defining_follow(kiln__defining *d);
/* Returns false, after a diagnostic, when the struct would contain itself. */
int kiln__defining_check_size(kiln__defining *d, const kiln__defined *p);
/* Makes the method that takes a struct's fields, and checks the fields. */
void kiln__defining_construct(kiln__defining *d, kiln__defined *p);
/* Sets the digest of the definition. */
void kiln__defining_digest(kiln__defining *d, kiln__defined *p);

#endif /* KILN_DEFINING_H */
