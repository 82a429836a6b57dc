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
 * It runs the groups first_group <= g < last_group, numbered with dimension 0
 * fastest, one item after the other, and returns 0, or 1 as soon as an item
 * raised an exception. Groups of one launch run on several threads.
 *
 * `memory` is for the group under way, 64-byte aligned and undefined at first:
 * static_local_bytes of the kernel's metadata, then private_bytes for each
 * item of a full group, their number made a multiple of 64. It is NULL for a
 * kernel that needs none. Consecutive items, KILN__HOST_SUB_GROUP of them in
 * the order of their numbers, are a sub-group.
 *
 * `arguments` is the packed block: each argument at its natural alignment, as
 * kiln_kernel_info describes: scalars, structs and tuples as C lays them out,
 * an array as data pointer, rank sizes and, when strided, rank strides (i64).
 *
 * All code of one image reaches the process only through `launch` and through
 * the imports that host_import.c allows (C's mathematics and memcpy, memset,
 * memmove, and what stops a launch).
 */
#define KILN__HOST_SUB_GROUP 16

/*
 * stack_bytes of the metadata is what code needs below the frame that calls the
 * entry, without what the callbacks take: the frames of all functions, as if
 * each called the next one; and if any may recur, KILN__HOST_RECURSION and the
 * frames once more. A function that may be part of a recursion raises where its
 * frame is further than that from the kernel's. Foreign code does not: its
 * recursions, and memory it takes of the stack as it runs, have so much.
 */
#define KILN__HOST_RECURSION ((uint32_t)1 << 20)
#define KILN__HOST_STACK_MAX ((uint32_t)64 << 20)

struct kiln__host_item;
struct kiln__host_print_part;

struct kiln__host_launch_state {
    uint64_t grid[3];   /* items */
    uint64_t block[3];  /* items of a full group */
    uint64_t groups[3]; /* ceil(grid / block) */
    /* Records an exception of this launch; the first one stays. `site` is
       {u32 kind, u32 ordinal, method NUL, message NUL} in constant memory. */
    void (*raise)(struct kiln__host_launch_state *launch,
                  const struct kiln__host_item *item, const void *site,
                  int64_t value0, int64_t value1);
    /* Takes a print record: {parts of kiln__host_print_part} of `count`. */
    void (*print)(struct kiln__host_launch_state *launch,
                  const struct kiln__host_print_part *parts, uint64_t count);
    uint32_t failed; /* set by raise */
    void *heap;      /* heap_abi.h; of a kernel that allocates */
    /* Behind raise(), in code of debug level FULL, for each call on the way
       there, innermost first: a site without kind and message. */
    void (*frame)(struct kiln__host_launch_state *launch, const void *site);
    /* Not 0: the launch is to stop. Looked at before each group, and by loops
       that may take long; an entry that sees it returns 1. */
    const uint32_t *stop;
};

/*
 * Functions beside the entry know no launch. They look at KILN__HOST_ALARM, an
 * uint32_t of the process that is not 0 while any launch is to stop, and then
 * call KILN__HOST_LOOK, `void (void)`, which returns unless it is theirs: then
 * what goes on is the entry's caller. For that such an image's entry does
 * nothing but call KILN__HOST_RUN, `int32_t (its own five arguments, body)`,
 * which calls the body with these.
 */
#define KILN__HOST_ALARM "kiln_host_alarm"
#define KILN__HOST_LOOK "kiln_host_look"
#define KILN__HOST_RUN "kiln_host_run"
/* The body is called like the entry, and this. */
#define KILN__HOST_BODY ".body"

/* The item that code runs for. Functions take a pointer to it as their first
   parameter; inlining takes it apart. */
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

struct kiln__host_print_part {
    uint64_t kind;
    uint64_t bits;
};

/* What one group may have of memory, its items' included. */
#define KILN__HOST_MEMORY_MAX ((uint64_t)64 << 20)

#endif /* KILN_HOST_ABI_H */
