/* functions_nvvm.c - what CUDA's hardware does for items and their groups. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "parts.h"

/*
 * As LLVM's NVPTX documentation and the PTX ISA have them. Places are return
 * addresses: who waits does so at the instruction after its call.
 */

#define PLACE __builtin_return_address(0)

/* ---- ids ---- */

#define SREG(name, value) \
    static uint32_t name(void) \
    { \
        return (value); \
    }

SREG(tid_x, this_item()->local[0])
SREG(tid_y, this_item()->local[1])
SREG(tid_z, this_item()->local[2])
SREG(ctaid_x, this_item()->group[0])
SREG(ctaid_y, this_item()->group[1])
SREG(ctaid_z, this_item()->group[2])
SREG(ntid_x, this_launch()->items[0])
SREG(ntid_y, this_launch()->items[1])
SREG(ntid_z, this_launch()->items[2])
SREG(nctaid_x, this_launch()->groups[0])
SREG(nctaid_y, this_launch()->groups[1])
SREG(nctaid_z, this_launch()->groups[2])
SREG(laneid, this_item()->lane)
SREG(warpsize, 32)

/* ---- together ---- */

static void barrier(uint32_t number)
{
    if (number != 0)
        fail_item("a barrier other than 0");
    wait_for_group(PLACE);
}

/* Of all lanes: a mask may name those that there are not, and of those that
   there are none is left out. */
static uint32_t shuffle_index(uint32_t mask, uint32_t word, uint32_t lane,
                              uint32_t clamp)
{
    uint64_t present;
    const uint64_t *words = wait_for_lanes(PLACE, word, &present);

    if ((present & ~(uint64_t)mask) != 0)
        fail_item("a shuffle that leaves out a lane");
    if (clamp != 31)
        fail_item("a shuffle in segments");
    if (lane > 31)
        fail_item("a shuffle from no lane");
    return (uint32_t)words[lane];
}

static void warp_barrier(uint32_t mask)
{
    uint64_t present;

    (void)wait_for_lanes(PLACE, 0, &present);
    if ((present & ~(uint64_t)mask) != 0)
        fail_item("a barrier of a warp that leaves out a lane");
}

static uint32_t ballot(uint32_t mask, uint8_t bit)
{
    uint64_t present, set = 0;
    const uint64_t *words = wait_for_lanes(PLACE, bit & 1u, &present);

    if ((present & ~(uint64_t)mask) != 0)
        fail_item("a vote that leaves out a lane");
    for (int i = 0; i < 32; i++)
        if ((present >> i & 1) != 0)
            set |= words[i] << i;
    return (uint32_t)set;
}

#define ENTRY(text, function, together) \
    { \
        "nvvm." text, (any_function)(function), (together) \
    }

const named_function nvvm_functions[] = {
    ENTRY("read.ptx.sreg.tid.x", tid_x, 0),
    ENTRY("read.ptx.sreg.tid.y", tid_y, 0),
    ENTRY("read.ptx.sreg.tid.z", tid_z, 0),
    ENTRY("read.ptx.sreg.ctaid.x", ctaid_x, 0),
    ENTRY("read.ptx.sreg.ctaid.y", ctaid_y, 0),
    ENTRY("read.ptx.sreg.ctaid.z", ctaid_z, 0),
    ENTRY("read.ptx.sreg.ntid.x", ntid_x, 0),
    ENTRY("read.ptx.sreg.ntid.y", ntid_y, 0),
    ENTRY("read.ptx.sreg.ntid.z", ntid_z, 0),
    ENTRY("read.ptx.sreg.nctaid.x", nctaid_x, 0),
    ENTRY("read.ptx.sreg.nctaid.y", nctaid_y, 0),
    ENTRY("read.ptx.sreg.nctaid.z", nctaid_z, 0),
    ENTRY("read.ptx.sreg.laneid", laneid, 0),
    ENTRY("read.ptx.sreg.warpsize", warpsize, 0),
    ENTRY("barrier.cta.sync.aligned.all", barrier, 1),
    ENTRY("shfl.sync.idx.i32", shuffle_index, 1),
    ENTRY("bar.warp.sync", warp_barrier, 1),
    ENTRY("vote.ballot.sync", ballot, 1),
    {NULL, NULL, 0},
};
