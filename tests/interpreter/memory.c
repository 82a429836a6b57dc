/* memory.c - moves cells between memory and the stack. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "machine.h"

static uint32_t bytes_of(int32_t kind)
{
    return (kiln__kind_width(kind) + 7) / 8;
}

void memory_load(const layout *type, const unsigned char *from, cell *to)
{
    for (uint32_t i = 0; i < type->cells; i++) {
        const leaf *part = &type->leaves[i];
        uint64_t bits = 0;

        memcpy(&bits, from + part->offset, bytes_of(part->kind));
        to[i] = part->kind == KILN_TYPE_BOOL ? bits != 0
                                             : number_extend(part->kind, bits);
    }
}

void memory_store(const layout *type, unsigned char *to, const cell *from)
{
    for (uint32_t i = 0; i < type->cells; i++) {
        const leaf *part = &type->leaves[i];

        memcpy(to + part->offset, &from[i], bytes_of(part->kind));
    }
}

cell memory_atomic(int64_t atomic, int32_t kind, cell old, const cell *values)
{
    static const uint32_t arithmetic[KILN__ATOMIC_COUNT] = {
        [KILN__ATOMIC_ADD] = KILN__IR_ADD, [KILN__ATOMIC_SUB] = KILN__IR_SUB,
        [KILN__ATOMIC_AND] = KILN__IR_AND, [KILN__ATOMIC_OR] = KILN__IR_OR,
        [KILN__ATOMIC_XOR] = KILN__IR_XOR,
    };
    const cell both[2] = {old, values[0]};
    int fault = NUMBER_FINE;

    switch (atomic) {
    case KILN__ATOMIC_MIN:
        return number_math(KILN__MATH_MIN, kind, both);
    case KILN__ATOMIC_MAX:
        return number_math(KILN__MATH_MAX, kind, both);
    case KILN__ATOMIC_EXCHANGE:
        return values[0];
    case KILN__ATOMIC_CAS:
        return old == values[0] ? values[1] : old;
    default:
        return number_binary(arithmetic[atomic], kind, old, values[0], &fault);
    }
}
