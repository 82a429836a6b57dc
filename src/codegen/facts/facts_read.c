/* facts_read.c - makes a graph of a program of facts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/endian.h"
#include "codegen/facts/facts_graph.h"

/* Makes a number of its low half, which is a constant. */
static uint32_t with_high(kiln__facts_graph *g, unsigned width, uint32_t low,
                          uint32_t high)
{
    uint64_t number;

    if (low == KILN__FACT_NONE || !kiln__graph_constant_of(g, low, &number))
        return KILN__FACT_NONE;
    return kiln__graph_constant(g, width,
                                (uint32_t)number | (uint64_t)high << 32);
}

/* Adds an instruction whose operands are numbers in `made`. */
static uint32_t read_instruction(kiln__facts_graph *g, const uint8_t *at,
                                 const uint32_t *made)
{
    const unsigned count = kiln__graph_operands(at[0]);
    const uint16_t a = kiln__le16_read(at + 2), b = kiln__le16_read(at + 4);
    const uint16_t c = kiln__le16_read(at + 6);
    const uint32_t number = b | (uint32_t)c << 16;

    switch (at[0]) {
    case KILN__FACT_CONSTANT:
        return kiln__graph_constant(g, at[1], (uint64_t)(int32_t)number);
    case KILN__FACT_HIGH:
        return with_high(g, at[1], made[a], number);
    case KILN__FACT_WORD:
        return kiln__graph_word(g, at[1], a, number);
    case KILN__FACT_SHAPE:
        return kiln__graph_shape(g, at[1], a);
    default:
        return kiln__graph_make(g, at[0], at[1],
                                (const uint32_t[]){made[a],
                                                   count > 1 ? made[b] : b,
                                                   count > 2 ? made[c] : 0});
    }
}

uint32_t kiln__graph_read(kiln__facts_graph *g, const void *facts, size_t count)
{
    uint32_t *made = kiln__arena_allocate_array(g->arena, count, sizeof *made);

    if (made == NULL || count == 0)
        return KILN__FACT_NONE;
    for (size_t i = 0; i < count; i++)
        made[i] =
            g->failed
                ? KILN__FACT_NONE
                : read_instruction(
                      g, (const uint8_t *)facts + i * KILN__FACT_BYTES, made);
    return made[count - 1];
}
