/* facts_writer.h - writes the instructions of facts (abi/facts_abi.h). */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_FACTS_FACTS_WRITER_H
#define KILN_CODEGEN_FACTS_FACTS_WRITER_H

#include <stddef.h>
#include <stdint.h>

typedef struct kiln__facts_writer {
    uint8_t *bytes; /* room for KILN__FACTS_MOST instructions */
    size_t count;   /* of instructions */
    int failed;     /* one did not fit: what is written is no use */
} kiln__facts_writer;

/* Writes an instruction whose result has `width` bits. Returns its number. */
uint16_t kiln__facts_put(kiln__facts_writer *w, unsigned operation,
                         unsigned width, const uint16_t operands[3]);

/* The same, for one with an operand and a number of 32 bits. */
uint16_t kiln__facts_put_immediate(kiln__facts_writer *w, unsigned operation,
                                   unsigned width, uint16_t a,
                                   uint32_t immediate);

#endif /* KILN_CODEGEN_FACTS_FACTS_WRITER_H */
