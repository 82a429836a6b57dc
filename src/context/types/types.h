/* types.h - the inside of types, and how structs become types. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TYPES_INSIDE_H
#define KILN_TYPES_INSIDE_H

#include "base/digest/digest.h"
#include "context/context.h"

/* Larger values and texts are refused. A type of two, made of a type of two,
   doubles each time; values live in registers and on stacks, and what code
   generation does to one takes time that grows faster than its parts. */
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

/* Immutable and interned; everything in it lives with the context. Members
   that a kind does not have are zero. */
struct kiln_type {
    kiln_context *context;
    int32_t kind;
    uint32_t alignment;
    uint64_t size;    /* 0: not passed */
    const char *text; /* canonical */
    kiln_digest id;   /* the same in every process that defines the same */
    uint64_t hash;    /* for tables in memory */
    uint32_t parts;   /* of a tuple or struct, all told; else 0 */
    uint32_t depth;   /* of them; without any 0 */
    const kiln_type *element; /* array, vector; T of Type{T} */
    uint32_t rank;            /* array */
    uint32_t strided;         /* array */
    uint32_t length;          /* vector */
    int64_t value;            /* static */
    const kiln_function *function;
    const char *package;                /* struct, foreign */
    const char *name;                   /* struct, foreign; without package */
    kiln_digest definition;             /* struct, foreign */
    const kiln_type *const *parameters; /* struct: {...}; Static for numbers */
    size_t parameter_count;
    const kiln__type_field *fields; /* tuple, struct */
    size_t field_count;
    const void *origin; /* struct: as its description said */
    /* The interning table's own: what makes the type this one. */
    const void *identity;
    size_t identity_size;
    kiln_type *alias; /* another type whose id is the same */
};

/* ---- type_table.c ---- */

/* Stores the type that is like the draft, made if need be: everything behind
   the draft's pointers is copied. Size, alignment and offsets are set already,
   and the rest up to `origin`, but for context, text and id. */
kiln_status kiln__type_make(const kiln_type **out, kiln_context *context,
                            kiln_type *draft, kiln_error **error);
/* Writes what a key says about a type: text, package, name, definition digest
   and id. No address enters. */
void kiln__type_encode(kiln__encoder *encoder, const kiln_type *type);
/* Finds a foreign type by its text, the latest described, or NULL. */
const kiln_type *kiln__type_foreign_find(kiln_context *context,
                                         const char *text, size_t size);

/* ---- type.c ---- */

/* A struct with its parameters bound. Everything but `origin` is copied. */
typedef struct kiln__struct_type {
    const char *package;
    const char *name;                   /* "Complex" */
    kiln_digest definition;             /* changes when the definition does */
    const kiln_type *const *parameters; /* kinds STATIC for numbers */
    size_t parameter_count;
    const kiln_type *const *field_types;
    const char *const *field_names;
    size_t field_count;
    const void *origin; /* the definer's own; must live with the context. The
                           first description of equal ones keeps it. */
} kiln__struct_type;

/* Stores the struct type: equal package, name, definition, parameters and
   fields give one type. */
kiln_status kiln__type_struct(const kiln_type **out, kiln_context *context,
                              const kiln__struct_type *description,
                              kiln_error **error);
/* Stores Type{of}: the type of `of` used as a value. */
kiln_status kiln__type_type(const kiln_type **out, kiln_context *context,
                            const kiln_type *of, kiln_error **error);
/* True for KILN_TYPE_BOOL to KILN_TYPE_F64. */
static inline int kiln__type_is_scalar(const kiln_type *type)
{
    return type->kind >= KILN_TYPE_BOOL && type->kind <= KILN_TYPE_F64;
}

/* ---- type_layout.c ---- */

/* Size and alignment of kinds NONE to F64. */
void kiln__type_layout_scalar(kiln_type *type);
/* Sets offsets of the fields, size and alignment as C does, parts and depth.
   They may be beyond the limits: what fields are of is not. */
void kiln__type_layout_fields(kiln_type *type, kiln__type_field *fields,
                              size_t count);
void kiln__type_layout_vector(kiln_type *type);
/* The block that an array is passed in: pointer, sizes, strides. */
void kiln__type_layout_array(kiln_type *type);

/* ---- type_text.c ---- */

struct kiln__text;
/* The kind's own text, "f32". */
const char *kiln__type_kind_text(int32_t kind);
/* Writes the canonical text of a type whose other members are set. */
void kiln__type_print(struct kiln__text *out, const kiln_type *type);
/* kiln_type_parse() as of a world of the kernel language; 0: today. */
kiln_status kiln__type_parse_at(const kiln_type **out, kiln_context *context,
                                kiln_package *package, const char *text,
                                uint64_t world, kiln_error **error);

/* ---- type_layout.c: arguments ---- */

/* Computes offsets, sizes and total of the packed block for argument types:
   the one place that knows the layout. `out` has room for `count`. */
uint32_t kiln__argument_layout(kiln_argument_info *out,
                               const kiln_type *const *types, size_t count);

/* ---- what names mean ---- */

/* Set by the kernel language, which knows: kiln_context's `names`. */
typedef struct kiln__names {
    /*
     * Stores the type that `name` (of `size` bytes, "Complex" or
     * "geometry.Circle") means in `package`, or anywhere when that is NULL and
     * the name is qualified, with its parameters bound, as of `world` (0:
     * today). KILN_ENOTFOUND, without an error, when there is no such name;
     * other failures come with one.
     */
    kiln_status (*type)(const kiln_type **out, kiln_context *context,
                        kiln_package *package, const char *name, size_t size,
                        const kiln_type *const *parameters,
                        size_t parameter_count, uint64_t world,
                        kiln_error **error);
    /* Stores the function that `name` means in `package`, or anywhere when that
       is NULL or the name is qualified. */
    kiln_status (*function)(const kiln_function **out, kiln_context *context,
                            kiln_package *package, const char *name,
                            kiln_error **error);
} kiln__names;

/* ---- type_table.c ---- */
kiln_status kiln__types_new(kiln_context *context);
void kiln__types_free(kiln_context *context);

#endif /* KILN_TYPES_INSIDE_H */
