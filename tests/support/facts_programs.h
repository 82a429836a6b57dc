/* facts_programs.h - writes programs of facts, and asks whether they hold. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FACTS_PROGRAMS_H
#define KILN_TESTS_FACTS_PROGRAMS_H

#include "backends/facts.h"
#include "base/data/endian.h"
#include "base/data/memory.h"
#include "support/harness.h"

/* Not every program uses all of this. */
#define FACTS_UNUSED __attribute__((unused))

typedef struct facts_program {
    uint8_t bytes[KILN__FACTS_MOST * KILN__FACT_BYTES];
    size_t size;
} facts_program;

/* Adds an instruction, and returns its number. */
FACTS_UNUSED static uint16_t facts_put(facts_program *p, unsigned operation,
                                       unsigned width,
                                       const uint16_t operands[3])
{
    uint8_t *at = p->bytes + p->size;

    at[0] = (uint8_t)operation;
    at[1] = (uint8_t)width;
    for (size_t i = 0; i < 3; i++)
        kiln__le16_write(at + 2 + 2 * i, operands[i]);
    p->size += KILN__FACT_BYTES;
    return (uint16_t)(p->size / KILN__FACT_BYTES - 1);
}

FACTS_UNUSED static uint16_t facts_put_word(facts_program *p, unsigned width,
                                            uint16_t offset)
{
    return facts_put(p, KILN__FACT_WORD, width,
                     (const uint16_t[]){(uint16_t)(width / 8), offset, 0});
}

FACTS_UNUSED static kiln__launch_facts *facts_make(const void *facts,
                                                   size_t size)
{
    kiln__launch_facts *made = NULL;

    assert_int_equal(kiln__facts_make(&made, &kiln__malloc, facts, size),
                     KILN_OK);
    return made;
}

/* Asks in each way. */
FACTS_UNUSED static int facts_hold(const void *facts, size_t size,
                                   const void *arguments,
                                   const kiln__facts_shape *shape)
{
    kiln__launch_facts *made = facts_make(facts, size);
    const int holds = kiln__facts_evaluate(made, arguments, shape);

    assert_int_equal(kiln__facts_hold(made, arguments, shape), holds);
    assert_int_equal(kiln__facts_hold(made, arguments, shape), holds);
    kiln__facts_close(made);
    return holds;
}

#endif /* KILN_TESTS_FACTS_PROGRAMS_H */
