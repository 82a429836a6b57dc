/* host_abi.h - what generated host code and its launcher agree on. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_HOST_ABI_H
#define KILN_HOST_ABI_H

#include <stdint.h>

/*
 * A kernel is one function, of the entry's name:
 *
 *     int32_t entry(struct kiln__host_launch_state *launch, const void
 * *arguments, uint64_t first_group, uint64_t last_group, void *memory)
 *
 * It runs the groups first_group <= g < last_group, one item after the other;
 * dimension 0 is counted fastest. It returns 0, or 1 as soon as an item has
 * raised an exception. Groups of one launch run on several threads.
 *
 * `memory` is for the group under way, aligned to KILN__HOST_MEMORY_ALIGNMENT
 * and undefined at first: static_local_bytes of the kernel's metadata, then
 * private_bytes for each item of a full group, their number rounded up to a
 * multiple of 64, then, at `local_offset`, which is aligned as much, the
 * dynamic memory that the launch asks for. It is NULL for a launch that needs
 * none. Consecutive items, KILN__HOST_SUB_GROUP of them in the order of their
 * numbers, are a sub-group.
 *
 * `arguments` is the packed block: each argument at its natural alignment, as
 * kiln_kernel_info describes: scalars, structs and tuples as C lays them out,
 * an array as data pointer, rank sizes and, when strided, rank strides (i64).
 *
 * The code of an image reaches the process only through `launch` and through
 * the imports that host_import.c allows: C's mathematics, memcpy, memset,
 * memmove, the functions that stop a launch, and KILN__HOST_ALONE.
 */
#define KILN__HOST_SUB_GROUP 16

/* No type is aligned to more: vectors of 16 numbers of 64 bits are to this. */
#define KILN__HOST_MEMORY_ALIGNMENT 128

/*
 * stack_bytes of the metadata is the stack that code needs below the frame that
 * calls the entry, without the stack of the callbacks. It is the sum of the
 * frames of all functions, as if each called the next one; if any function may
 * recurse, it is KILN__HOST_RECURSION and twice the sum. A function that may be
 * part of a recursion raises an exception when its frame is further than
 * KILN__HOST_RECURSION from the kernel's. Foreign code does not check that: its
 * recursions, and the stack that it allocates dynamically, must do with that
 * much.
 */
#define KILN__HOST_RECURSION ((uint32_t)1 << 20)
#define KILN__HOST_STACK_MAX ((uint32_t)64 << 20)

struct kiln__host_item;
struct kiln__host_print_part;

/* A word that several threads use; generated code reads it as a plain one. The
   files in C++ that include this header leave launches alone, and C++ 17 has no
   `_Atomic`. */
#ifdef __cplusplus
typedef uint32_t kiln__host_word;
#else
typedef _Atomic uint32_t kiln__host_word;
_Static_assert(sizeof(kiln__host_word) == sizeof(uint32_t),
               "an atomic word has no lock beside it");
#endif

struct kiln__host_launch_state {
    uint64_t grid[3];   /* items */
    uint64_t block[3];  /* items of a full group */
    uint64_t groups[3]; /* ceil(grid / block) */
    /* Records an exception of this launch; only the first one is kept.
       `site` is {u32 kind, u32 ordinal, method NUL, message NUL} in constant
       memory. */
    void (*raise)(struct kiln__host_launch_state *launch,
                  const struct kiln__host_item *item, const void *site,
                  int64_t value0, int64_t value1);
    /* Takes a print record: `count` parts. */
    void (*print)(struct kiln__host_launch_state *launch,
                  const struct kiln__host_print_part *parts, uint64_t count);
    kiln__host_word failed; /* set by raise */
    void *heap;             /* as in heap_abi.h; for a kernel that allocates */
    /* Called after raise(), in code of debug level FULL, for each call on the
       path to the exception, innermost first, with a site without kind and
       message. */
    void (*frame)(struct kiln__host_launch_state *launch, const void *site);
    /* Not 0: the launch is to stop. Code reads it before each group, and in
       loops that may take long; an entry that sees it returns 1. */
    const kiln__host_word *stop;
    /* Of the dynamic memory in that of a group, and its size; undefined for
       kernels without it. */
    uint64_t local_offset;
    uint64_t local_bytes;
    /* Runs a group by the deferred body, which has all checks; for a group for
       which the entry could not prove check `which`, counted from 1. The other
       arguments are those of the entry, whose result it returns. */
    int32_t (*run_deferred)(struct kiln__host_launch_state *launch,
                            const void *arguments, uint64_t group, void *memory,
                            uint32_t which);
    /* Set by a body that returns KILN__HOST_LEFT: the first group that it has
       not run. */
    uint64_t left;
};

/*
 * Functions other than the entry have no pointer to the launch. They read
 * KILN__HOST_ALARM, a uint32_t of the process that is not 0 while any launch is
 * to stop. If it is set they call KILN__HOST_POLL, `void (void)`. It returns
 * unless their own launch is to stop; in that case it does not return, and
 * execution continues in the entry's caller. To make this possible, the entry
 * of such an image only calls KILN__HOST_RUN, `int32_t (its own five arguments,
 * body)`, which calls the body with these arguments.
 */
#define KILN__HOST_ALARM "kiln_host_alarm"
#define KILN__HOST_POLL "kiln_host_poll"
#define KILN__HOST_RUN "kiln_host_run"
/* The body's symbol is the entry's name and this suffix. */
#define KILN__HOST_BODY ".body"

/*
 * The entry of an image that has atomic operations on memory outside of groups
 * only calls KILN__HOST_ALONE, `int32_t (its own five arguments, shared,
 * alone)`. It calls the functions `shared` and `alone`, which are entries, too,
 * for some of the groups each. In `alone`, which may be NULL, these operations
 * are plain accesses; it runs while no other thread runs such operations. At a
 * group that needs the deferred body it returns KILN__HOST_LEFT, since nobody
 * should wait until that is made.
 */
#define KILN__HOST_ALONE "kiln_host_alone"
/* Their symbols are the entry's name and these suffixes. */
#define KILN__HOST_SHARED_BODY ".shared"
#define KILN__HOST_ALONE_BODY ".alone"
#define KILN__HOST_LEFT 2

/* An attribute of the call of run_deferred(). */
#define KILN__HOST_DEFERRED_MARK "kiln-deferred"

/* The item that code runs for. Functions take a pointer to it as their first
   parameter; after inlining its members are separate values. */
struct kiln__host_item {
    uint64_t global_id[3];
    uint64_t local_id[3];
    uint64_t group_id[3];
    struct kiln__host_launch_state *launch;
    void *memory; /* of the group */
};

#define KILN__PRINT_TEXT 0 /* bits: address of a NUL-terminated string */
#define KILN__PRINT_I64 1
#define KILN__PRINT_U64 2
#define KILN__PRINT_F64 3 /* bits: of the f64 */
#define KILN__PRINT_F32 4 /* bits: of the f64 that equals the f32 */
#define KILN__PRINT_BOOL 5
/* How the next value or text is written: as a conversion of C's printf() says,
   without the % and lengths. bits: address of that, as for TEXT */
#define KILN__PRINT_FORMAT 6
#define KILN__PRINT_WIDTH 7     /* of the same, instead of its own; bits: i64 */
#define KILN__PRINT_PRECISION 8 /* the same */
/* Another float of kind KILN_TYPE_...: this and the kind. bits: as for f32 */
#define KILN__PRINT_FLOAT 32

struct kiln__host_print_part {
    uint64_t kind;
    uint64_t bits;
};

/* True for a part that has a text instead of a value. */
static inline int kiln__print_is_text(uint64_t kind)
{
    return kind == KILN__PRINT_TEXT || kind == KILN__PRINT_FORMAT;
}

/* The most memory that one group may have, including that of its items. */
#define KILN__HOST_MEMORY_MAX ((uint64_t)64 << 20)

#endif /* KILN_HOST_ABI_H */
