/* types.h - the members of types, and how structs become types. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TYPES_INSIDE_H
#define KILN_TYPES_INSIDE_H

#include "abi/scalars.h"
#include "base/digest/digest.h"
#include "context/context.h"

/* Larger values and texts are refused. A type with two fields of a type with
   two fields doubles at each level. Values live in registers and on stacks, and
   the time of code generation grows faster than the number of parts. */
#define KILN__TYPE_SIZE_MAX ((uint64_t)1 << 16)
#define KILN__TYPE_PARTS_MAX 2048 /* with the parts of parts, and itself */
#define KILN__TYPE_DEPTH_MAX 62   /* the typed IR has room for two more */
#define KILN__TYPE_TEXT_MAX ((size_t)1 << 16)
#define KILN__TYPE_FIELDS_MAX ((size_t)4096)
#define KILN__TYPE_LANES_MAX 256u /* of a vector */

typedef struct kiln__type_field {
    const char *name; /* of a struct, else NULL */
    const kiln_type *type;
    uint64_t offset; /* in bytes */
} kiln__type_field;

/* Immutable and interned; everything that it points to lives with the context.
   Members that a kind does not have are zero. */
struct kiln_type {
    kiln_context *context;
    int32_t kind;
    uint32_t alignment;
    uint64_t size;    /* 0: not passed */
    const char *text; /* canonical */
    kiln_digest id;   /* the same in all processes with the same definitions */
    uint64_t hash;    /* for tables in memory */
    uint32_t parts;   /* of a tuple or struct: all parts at all levels; else
                         0 */
    uint32_t depth;   /* levels of those parts; 0 if there are none */
    const kiln_type *element; /* of an array or vector; T of Type{T} */
    uint32_t rank;            /* array */
    uint32_t strided;         /* array */
    uint32_t length;          /* vector */
    int64_t value;            /* static */
    const kiln_function *function;
    const char *package;                /* of a struct or foreign type; also the
                                           next two */
    const char *name;                   /* without the package */
    kiln_digest definition;             /* struct, foreign */
    const kiln_type *const *parameters; /* struct: {...}; numbers are STATIC
                                           types */
    size_t parameter_count;
    const kiln__type_field *fields; /* tuple, struct */
    size_t field_count;
    const void *origin; /* struct: `origin` of its description */
    /* For the interning table: the encoded identity of the type. */
    const void *identity;
    size_t identity_size;
    kiln_type *alias; /* another type with the same id */
};

/* ---- type_table.c ---- */

/* Stores the type that equals the draft, and makes it if there is none. What
   the draft points to is copied. The caller has set size, alignment, offsets
   and all other members up to `origin`, except context, text and id. */
kiln_status kiln__type_make(const kiln_type **out, kiln_context *context,
                            kiln_type *draft, kiln_error **error);
/* Writes a type into a key: text, package, name, definition digest and id, but
   no address. */
void kiln__type_encode(kiln__encoder *encoder, const kiln_type *type);
/* Finds a foreign type by its text, or returns NULL. If there are several, it
   returns the one that was described last. */
const kiln_type *kiln__type_foreign_find(kiln_context *context,
                                         const char *text, size_t size);

/* ---- type.c ---- */

/* A struct with its parameters bound. Everything but `origin` is copied. */
typedef struct kiln__struct_type {
    const char *package;
    const char *name;                   /* "Complex" */
    kiln_digest definition;             /* changes when the definition does */
    const kiln_type *const *parameters; /* numbers are STATIC types */
    size_t parameter_count;
    const kiln_type *const *field_types;
    const char *const *field_names;
    size_t field_count;
    const void *origin; /* private to the definer; must live with the context.
                           Equal descriptions keep that of the first one. */
} kiln__struct_type;

/* Stores the struct type. Descriptions with equal package, name, definition,
   parameters and fields give the same type. */
kiln_status kiln__type_struct(const kiln_type **out, kiln_context *context,
                              const kiln__struct_type *description,
                              kiln_error **error);
/* Stores Type{of}: the type of `of` used as a value. */
kiln_status kiln__type_type(const kiln_type **out, kiln_context *context,
                            const kiln_type *of, kiln_error **error);
static inline int kiln__type_is_scalar(const kiln_type *type)
{
    return kiln__kind_is_scalar(type->kind);
}

/* ---- type_layout.c ---- */

/* Size and alignment of a scalar, or of NONE. */
void kiln__type_layout_scalar(kiln_type *type);
/* Sets the offsets of the fields, and size and alignment as in C, parts and
   depth. The results may exceed the limits, but they do not overflow, because
   the fields' types are within the limits. */
void kiln__type_layout_fields(kiln_type *type, kiln__type_field *fields,
                              size_t count);
void kiln__type_layout_vector(kiln_type *type);
/* The block that an array is passed in: pointer, sizes, strides. */
void kiln__type_layout_array(kiln_type *type);

/* ---- type_text.c ---- */

struct kiln__text;
/* Writes the canonical text of a type whose other members are set. */
void kiln__type_print(struct kiln__text *out, const kiln_type *type);
/* kiln_type_parse() in a world of the kernel language; 0: the current one. */
kiln_status kiln__type_parse_at(const kiln_type **out, kiln_context *context,
                                kiln_package *package, const char *text,
                                uint64_t world, kiln_error **error);

/* ---- type_layout.c: arguments ---- */

/* Computes offsets, sizes and total of the packed block for argument types. No
   other code computes this layout. `out` has room for `count`. */
uint32_t kiln__argument_layout(kiln_argument_info *out,
                               const kiln_type *const *types, size_t count);

/* ---- name lookup ---- */

/* A name in the text of a type. */
typedef struct kiln__type_name {
    kiln_package *package; /* where to look it up; NULL: it must be qualified */
    const char *text;      /* "Complex" or "geometry.Circle" */
    size_t size;
    const kiln_type *const *parameters;
    size_t parameter_count;
    uint64_t world; /* 0: the current one */
} kiln__type_name;

/* How the kernel language looks names up for lower layers. It sets the
   context's `names` to this. */
typedef struct kiln__names {
    /* Stores the type that the name means, with its parameters bound. If there
       is no such name, it returns KILN_ENOTFOUND without an error. Other
       failures have one. */
    kiln_status (*type)(const kiln_type **out, kiln_context *context,
                        const kiln__type_name *name, kiln_error **error);
    /* Stores the function that `name` means in `package`. A qualified name is
       found even if `package` is NULL. */
    kiln_status (*function)(const kiln_function **out, kiln_context *context,
                            kiln_package *package, const char *name,
                            kiln_error **error);
} kiln__names;

/* ---- type_table.c ---- */
kiln_status kiln__types_new(kiln_context *context);
void kiln__types_free(kiln_context *context);

#endif /* KILN_TYPES_INSIDE_H */
