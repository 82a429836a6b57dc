/* kiln/type.h - types of arguments and values. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TYPE_H
#define KILN_TYPE_H

#include "kiln/context.h"

KILN_BEGIN_DECLS

/*
 * Types are interned in their context: two types are equal exactly when their
 * pointers are. They live as long as the context.
 *
 * Layout follows C on the host: scalars at natural alignment, Bool one byte,
 * tuples and structs as C structs, vectors as C arrays. An array argument is
 * a kiln_array (kiln/device.h). Static values, types and functions are of
 * size zero and are not passed to kernels.
 *
 * Making a type fails with KILN_EINVAL, and an error that gives the reason, if
 * its parts are not allowed: arrays cannot be parts of other types, and vectors
 * hold scalars only.
 */
/* A kind's number never changes and has no meaning; do not compare numbers to
   find out, for example, whether a kind is a float. A new kind comes last, with
   the next number. */
#define KILN_TYPE_KIND_MAP(X) \
    X(NONE, 0, "none") /* the type of no value */ \
    X(BOOL, 1, "Bool") \
    X(I8, 2, "i8") \
    X(I16, 3, "i16") \
    X(I32, 4, "i32") \
    X(I64, 5, "i64") \
    X(U8, 6, "u8") \
    X(U16, 7, "u16") \
    X(U32, 8, "u32") \
    X(U64, 9, "u64") \
    X(F16, 10, "f16") \
    X(F32, 11, "f32") \
    X(F64, 12, "f64") \
    X(TUPLE, 13, "Tuple")       /* (f32, i64) */ \
    X(VECTOR, 14, "Vec")        /* Vec{f32, 4} */ \
    X(STRUCT, 15, "struct")     /* Complex{f32} */ \
    X(ARRAY, 16, "Array")       /* f32[:, :], f32[strided :] */ \
    X(STATIC, 17, "Static")     /* Static{3} */ \
    X(FUNCTION, 18, "Function") /* the type of one function: typeof(main.f) */ \
    X(TYPE, 19, "Type") /* the type of a type used as a value: Type{f32} */ \
    X(FOREIGN, 20, "foreign") /* made by another frontend */ \
    X(BF16, 21, "bf16")       /* the upper half of an f32 */

#define KILN__TYPE_ENUM(name, number, text) KILN_TYPE_##name = number,
enum { KILN_TYPE_KIND_MAP(KILN__TYPE_ENUM) KILN_TYPE_KIND_COUNT };
#undef KILN__TYPE_ENUM

#define KILN_RANK_MAX 4 /* of an array */

/** Returns the type of the scalar `kind` or of KILN_TYPE_NONE, or NULL for any
 *  other kind. */
KILN_API const kiln_type *kiln_type_scalar(const kiln_context *context,
                                           int32_t kind);

/** Stores the type of arrays of `rank` 1 to KILN_RANK_MAX over `element`: dense
 *  if `strided` is 0, else with a stride for each dimension. */
KILN_API KILN_NODISCARD kiln_status kiln_type_array(
    const kiln_type **out, kiln_context *context, const kiln_type *element,
    uint32_t rank, int32_t strided, kiln_error **error);

/** Stores the tuple type of `count` elements. A value of any type has at
 *  most 64 KiB, 2048 parts (counting the parts of parts), and 62 levels of
 *  nesting. */
KILN_API KILN_NODISCARD kiln_status kiln_type_tuple(
    const kiln_type **out, kiln_context *context,
    const kiln_type *const *elements, size_t count, kiln_error **error);

/** Stores the type of vectors of `length` scalars, 1 to 256. */
KILN_API KILN_NODISCARD kiln_status kiln_type_vector(const kiln_type **out,
                                                     kiln_context *context,
                                                     const kiln_type *element,
                                                     uint32_t length,
                                                     kiln_error **error);

/** Stores the type of the compile-time integer `value`. */
KILN_API KILN_NODISCARD kiln_status kiln_type_static(const kiln_type **out,
                                                     kiln_context *context,
                                                     int64_t value,
                                                     kiln_error **error);

/** Stores the type of `function` as a value. The function may belong to any
 *  frontend. */
KILN_API KILN_NODISCARD kiln_status
kiln_type_function(const kiln_type **out, kiln_context *context,
                   const kiln_function *function, kiln_error **error);

/**
 * Reads a type from its text as the kernel language writes it: "f32[:,:]",
 * "Complex{f32}". Names are looked up in `package`; with NULL only built-in
 * types and qualified names ("main.Complex{f32}") are found. Texts of foreign
 * types that exist are read too. KILN_EINVAL, with the place in the text, if
 * the text is no type.
 */
KILN_API KILN_NODISCARD kiln_status kiln_type_parse(const kiln_type **out,
                                                    kiln_context *context,
                                                    kiln_package *package,
                                                    const char *text,
                                                    kiln_error **error);

/** A type that another frontend defines. Everything is copied. */
typedef struct kiln_foreign_type {
    size_t size;
    const char *package;      /* where it is defined, "toy" */
    const char *name;         /* "Ball"; its text is "toy.Ball" */
    kiln_digest definition;   /* changes when the definition does */
    uint64_t value_size;      /* in bytes, a multiple of the alignment; 0: not
                                 passed */
    uint32_t value_alignment; /* a power of two, 4096 at most */
} kiln_foreign_type;

/** Stores the foreign type described; equal descriptions give one type. */
KILN_API KILN_NODISCARD kiln_status
kiln_type_foreign(const kiln_type **out, kiln_context *context,
                  const kiln_foreign_type *description, kiln_error **error);

/** Returns KILN_TYPE_... */
KILN_API int32_t kiln_type_kind(const kiln_type *type);
/** Returns the canonical text, "f32[:,:]", which parses back to the same type.
 *  If two foreign types have one text, it parses to the newer. Lives with the
 *  context. */
KILN_API const char *kiln_type_text(const kiln_type *type);
/** Returns the size of a value in bytes; 0 for a type that is not passed.
 *  The size of an array is that of its pointer, sizes and, when strided,
 *  strides. */
KILN_API uint64_t kiln_type_size(const kiln_type *type);
/** Returns the alignment of a value in bytes. */
KILN_API uint32_t kiln_type_alignment(const kiln_type *type);
/** Returns the element type of an array or vector, else NULL. */
KILN_API const kiln_type *kiln_type_element(const kiln_type *type);
/** Returns the rank of an array, else 0. */
KILN_API uint32_t kiln_type_rank(const kiln_type *type);
/** Returns the number of fields or elements of struct, tuple or vector. */
KILN_API size_t kiln_type_field_count(const kiln_type *type);
/** Returns the type of field `index` of a struct, tuple or vector, or NULL. */
KILN_API const kiln_type *kiln_type_field(const kiln_type *type, size_t index);
/** Returns the offset of field `index` in bytes; 0 beyond the last. */
KILN_API uint64_t kiln_type_field_offset(const kiln_type *type, size_t index);
/** Returns the name of field `index` of a struct, else NULL. */
KILN_API const char *kiln_type_field_name(const kiln_type *type, size_t index);

KILN_END_DECLS

#endif /* KILN_TYPE_H */
