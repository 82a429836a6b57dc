/* units.c - numbers with a unit, as people write them in variables. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/units.h"

#include "base/data/ascii.h"

const kiln__unit kiln__no_units[] = {{'\0', 1}};
const kiln__unit kiln__size_units[] = {
    {'k', (uint64_t)1 << 10},
    {'m', (uint64_t)1 << 20},
    {'g', (uint64_t)1 << 30},
    {'t', (uint64_t)1 << 40},
    {'\0', 1},
};
const kiln__unit kiln__time_units[] = {
    {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'\0', 1},
};

static const kiln__unit *find_unit(const kiln__unit *units, char letter)
{
    while (units->letter && units->letter != kiln__to_lower(letter))
        units++;
    return units;
}

int kiln__units_read(uint64_t *out, const char *text, const kiln__unit *units)
{
    const kiln__unit *found;

    *out = 0;
    if (!kiln__is_digit(*text))
        return 0;
    for (; kiln__is_digit(*text); text++)
        if (__builtin_mul_overflow(*out, (uint64_t)10, out) ||
            __builtin_add_overflow(*out, (uint64_t)(*text - '0'), out))
            return 0;
    found = find_unit(units, *text);
    if (found->letter)
        text++;
    return *text == '\0' && !__builtin_mul_overflow(*out, found->factor, out);
}
