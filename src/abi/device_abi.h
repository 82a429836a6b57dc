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
 * strides (i64 each). So, where a driver takes arguments as one block, the
 * packed block is it.
 *
 * Behind them, if the kernel may raise an exception or print, come the hidden
 * arguments, 64 bits each, aligned to 8: the address of a state, which is for
 * the launches of one queue, and a number that tells launches apart; then, if
 * it allocates, the address of the queue's heap (heap_abi.h).
 *
 * The grid is a whole number of groups.
 */
#define KILN__HIDDEN_COUNT 2u /* state, launch */
#define KILN__HIDDEN_MOST 3u  /* and the heap */

static inline int kiln__hidden_fits(uint32_t count, int allocates)
{
    return allocates ? count == KILN__HIDDEN_MOST
                     : count == 0 || count == KILN__HIDDEN_COUNT;
}

/*
 * Device code writes an exception if it can move `phase` from NONE to WRITING,
 * and then sets it to READY; whoever comes later writes nothing. Every item
 * that raises leaves the kernel afterwards, its callers on the way by a flag.
 * Ids are written as registers have them, side by side, so that few stores do:
 * this code is in every kernel with a check, and its assembler's time too. The
 * state's address is a multiple of KILN__STATE_ALIGNMENT.
 *
 * A print takes room by adding its size to `printed`. If the room is within
 * `print_room`, it writes its record there, `mark` last; else what it prints
 * is lost. Both sides see the memory, the device's writes at the latest when
 * its work has ended. The host starts with zeros but for `print_room`.
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
    uint32_t group_size[3]; /* what a global id is made of */
    uint32_t reserved_ids[9];
    uint64_t printed; /* bytes asked for, lost ones too */
    uint64_t print_room;
    uint32_t frame_count;                /* calls on the way to the exception */
    uint32_t frames[KILN__STATE_FRAMES]; /* their reports, innermost first; of
                                            more than there is room for the
                                            last is the kernel's */
    uint32_t padding;
    uint64_t reserved[8];
};

#define KILN__STATE_ALIGNMENT 16u
#define KILN__STATE_SIZE 256u /* behind it, the records of prints */

_Static_assert(sizeof(struct kiln__device_state) == KILN__STATE_SIZE,
               "records begin right behind the state");

/* A record: this, then 8 bytes for each value, in the order of the parts: what
   host_abi.h says of its kind, but of an f32 its own bits. */
struct kiln__print_record {
    uint32_t mark; /* KILN__PRINT_MARK once it is written */
    uint32_t report;
    uint64_t launch;
};

#define KILN__PRINT_MARK 0x6b696c6eu

/*
 * The table of reports is a part of the artifact (kiln_artifact_reports). All
 * numbers are u32, little endian, wherever they stand:
 *
 *     count, then for each report where it begins, in bytes from the table's
 *     start; each report a number that tells what it is, then
 *     EXCEPTION   kind, ordinal, method NUL, message NUL; of a call on the
 *                 way to one the kind is 0
 *     PRINT       parts, then for each its kind: TEXT followed by the text and
 *                 a NUL, another KILN__PRINT_... of host_abi.h by nothing
 */
#define KILN__REPORT_EXCEPTION 1u
#define KILN__REPORT_PRINT 2u

#endif /* KILN_DEVICE_ABI_H */
