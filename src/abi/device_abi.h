/* device_abi.h - what generated device code and its drivers agree on. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DEVICE_ABI_H
#define KILN_DEVICE_ABI_H

#include <stddef.h>
#include <stdint.h>

/*
 * A kernel is one function of the entry's name, in the vendor's convention for
 * kernels. Its parameters are the members of the packed block, one by one and
 * in order: a scalar; a struct, tuple, vector or foreign value by value; an
 * array as a pointer to device memory, rank sizes and, when strided, rank
 * strides (i64 each). So a driver that takes arguments as one block takes the
 * packed block as it is.
 *
 * If the kernel may raise an exception or print, the hidden arguments follow,
 * 64 bits each, aligned to 8: the address of a state, which all launches of one
 * queue share, and a number that tells launches apart. If the kernel allocates,
 * the address of the queue's heap (heap_abi.h) is the third one.
 *
 * If the kernel uses dynamic group memory, it has four: the heap's address is
 * zero where it does not allocate, and the last one is the memory's size in
 * bytes. A kernel of SPIR-V takes the memory itself as one more parameter.
 *
 * The grid is a whole number of groups. The groups of a kernel of which
 * kernel_info says `any_block` need not divide it: the last of the hidden
 * arguments are its three sizes in items, and items outside of it do nothing.
 * For whole groups KILN__WHOLE_GROUPS may stand for each of them. On spirv the
 * entry for known launches does not have these three.
 */
#define KILN__CUT_SIZES 3u
#define KILN__WHOLE_GROUPS UINT64_MAX
#define KILN__HIDDEN_COUNT 2u /* state, launch */
#define KILN__HIDDEN_HEAP 3u  /* and the heap */
#define KILN__HIDDEN_MOST 4u  /* and the size of dynamic group memory */

/* Returns how many a kernel has that reports exceptions or prints. */
static inline uint32_t kiln__hidden_count(int allocates, int dynamic_local)
{
    if (dynamic_local)
        return KILN__HIDDEN_MOST;
    return allocates ? KILN__HIDDEN_HEAP : KILN__HIDDEN_COUNT;
}

/* How many of them are sizes of the grid, which are the last ones. */
static inline uint32_t kiln__hidden_sizes(int any_block)
{
    return any_block ? KILN__CUT_SIZES : 0;
}

/* How many of all of them are not. */
static inline uint32_t kiln__hidden_own(uint32_t count, int any_block)
{
    return count - kiln__hidden_sizes(any_block);
}

/* A kernel that reports nothing, and needs none of the others, has none but the
   sizes of its grid. */
static inline int kiln__hidden_fits(uint32_t count, int allocates,
                                    int dynamic_local, int any_block)
{
    const uint32_t sizes = kiln__hidden_sizes(any_block);

    return count == kiln__hidden_count(allocates, dynamic_local) + sizes ||
           (count == sizes && !allocates && !dynamic_local);
}

/* CUDA: memory that a group may declare. The driver gives more, of dynamic
   memory alone, to kernels for which it is asked. */
#define KILN__CUDA_LOCAL (48u << 10)

/*
 * Device code writes an exception if it can change `phase` from NONE to
 * WRITING, and then sets it to READY; an item that comes later writes nothing.
 * Every item that raises then leaves the kernel; its callers see a flag and
 * return. The ids are stored side by side, as registers hold them, so that a
 * few wide stores suffice: every kernel with a check contains this code, and
 * assembling it takes time. The state's address is a multiple of
 * KILN__STATE_ALIGNMENT.
 *
 * A print takes room by adding its size to `printed`. If the room is within
 * `print_room`, it writes its record there, `mark` last; else its output is
 * lost. Host and device both see this memory; the host sees the device's writes
 * at the latest when the device's work has ended. The host initialises all but
 * `print_room` to zero.
 */
#define KILN__PHASE_NONE 0u
#define KILN__PHASE_WRITING 1u
#define KILN__PHASE_READY 2u

#define KILN__STATE_FRAMES 16u

struct kiln__device_state {
    uint32_t phase;
    uint32_t report; /* number of the exception in the artifact's table */
    uint64_t launch;
    int64_t values[2]; /* as in kiln_exception */
    uint32_t local_id[3];
    uint32_t group_id[3];
    uint32_t group_size[3]; /* a global id is computed from these three */
    uint32_t reserved_ids[9];
    uint64_t printed; /* bytes asked for, including lost ones */
    uint64_t print_room;
    uint32_t frame_count;                /* calls on the way to the exception */
    uint32_t frames[KILN__STATE_FRAMES]; /* their reports, innermost first; if
                                            there are more than fit, the last
                                            one is the kernel's */
    uint32_t padding;
    uint64_t reserved[8];
};

#define KILN__STATE_ALIGNMENT 16u
#define KILN__STATE_SIZE 256u /* the records of prints follow */

_Static_assert(sizeof(struct kiln__device_state) == KILN__STATE_SIZE,
               "records begin right behind the state");

/* A record: this head, then 8 bytes for each value, in the order of the
   parts. host_abi.h describes the bits of each kind, but an f32 has
   its own bits here, and a smaller float those of the f32 that equals it. */
struct kiln__print_record {
    uint32_t mark; /* KILN__PRINT_MARK once it is written */
    uint32_t report;
    uint64_t launch;
};

#define KILN__PRINT_MARK 0x6b696c6eu

/*
 * The table of reports is a part of the artifact (kiln_artifact_reports). All
 * numbers are u32, little-endian, without alignment:
 *
 *     count, then for each report where it begins, in bytes from the table's
 *     start; each report a number that tells what it is, then
 *     EXCEPTION   kind, ordinal, method NUL, message NUL; of a call on the
 *                 way to one the kind is 0
 *     PRINT       parts, then for each its kind: TEXT and FORMAT followed by
 * the text and a NUL, another KILN__PRINT_... of host_abi.h by nothing
 */
#define KILN__REPORT_EXCEPTION 1u
#define KILN__REPORT_PRINT 2u

#endif /* KILN_DEVICE_ABI_H */
