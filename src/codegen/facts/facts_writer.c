/* facts_writer.c - writes the instructions of facts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/facts/facts_writer.h"

#include "abi/facts_abi.h"
#include "base/data/endian.h"

uint16_t kiln__facts_put(kiln__facts_writer *w, unsigned operation,
                         unsigned width, const uint16_t operands[3])
{
    uint8_t *at = w->bytes + w->count * KILN__FACT_BYTES;

    if (w->count == KILN__FACTS_MOST || width == 0 || width > 64) {
        w->failed = 1;
        return 0;
    }
    at[0] = (uint8_t)operation;
    at[1] = (uint8_t)width;
    for (size_t i = 0; i < 3; i++)
        kiln__le16_write(at + 2 + 2 * i, operands[i]);
    return (uint16_t)w->count++;
}

uint16_t kiln__facts_put_immediate(kiln__facts_writer *w, unsigned operation,
                                   unsigned width, uint16_t a,
                                   uint32_t immediate)
{
    return kiln__facts_put(w, operation, width,
                           (const uint16_t[]){a, (uint16_t)immediate,
                                              (uint16_t)(immediate >> 16)});
}
