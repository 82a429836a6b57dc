/* lex_foreign.c - operators and macros of other languages. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/ascii.h"
#include "frontend/syntax/lex.h"

/* Operators of other languages; none is a sequence of ours. */
static const struct foreign {
    const char *text;
    const char *hint;
} operators[] = {
    {"===", "write `==`"},
    {"!==", "write `!=`"},
    {"<>", "write `!=`"},
    {"~=", "write `!=`"},
    {":=", "write `=`"},
    {"=>", "there are no closures; pass a function's name"},
    {".=", "assign the elements in a loop over `a[i]`"},
    {"\xC3\xB7", "write `//` for integers, `/` for floats"}, /* ÷ */
    {"\xE2\x89\xA4", "write `<=`"},                          /* ≤ */
    {"\xE2\x89\xA5", "write `>=`"},                          /* ≥ */
    {"\xE2\x89\xA0", "write `!=`"},                          /* ≠ */
    {"\xE2\x88\x88", "write `in`"},                          /* ∈ */
};

/* Words behind `@`, in Julia and in Python. */
static const struct foreign macros[] = {
    {"@inbounds", "write `inbounds`, the statements, `end`"},
    {"@fastmath", "write `fastmath`, the statements, `end`"},
    {"@cuStaticSharedMem", "write `local t = f32[256]`"},
    {"@localmem", "write `local t = f32[256]`"},
    {"@shared", "write `local t = f32[256]`"},
    {"@synchronize", "write `barrier()`"},
    {"@index", "write `global_id(0)`, `local_id(0)` or `group_id(0)`"},
    {"@assert", "write `assert(c, \"text\")`"},
    {"@cuassert", "write `assert(c, \"text\")`"},
    {"@print", "write `print(\"x = \", x)`"},
    {"@printf", "write `print(\"x = \", x)`"},
    {"@cuprint", "write `print(\"x = \", x)`"},
    {"@cuprintln", "write `print(\"x = \", x)`"},
    {"@cuprintf", "write `print(\"x = \", x)`"},
    {"@unroll", "write `for i in static(0..4)`"},
    {"@kernel", "write `kernel`"},
    {"@cuda", "write `kernel`; launches are the host's"},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *kiln__lex_macro_hint(const char *text)
{
    size_t size = 1;

    while (kiln__is_word(text[size]))
        size++; /* the NUL after the text is no word */
    for (size_t i = 0; i < COUNT(macros); i++)
        if (strlen(macros[i].text) == size &&
            memcmp(macros[i].text, text, size) == 0)
            return macros[i].hint;
    return "there are no macros or decorators";
}

/* Most operators are ours, and are asked for at every token. */
static int may_be_foreign(const char *text)
{
    return (unsigned char)text[0] >= 0x80 ||
           (strchr("=!<~:.", text[0]) != NULL && strchr("=>", text[1]) != NULL);
}

uint32_t kiln__lex_foreign_operator(const char *text, const char **hint)
{
    if (!may_be_foreign(text))
        return 0;
    for (size_t i = 0; i < COUNT(operators); i++) {
        const size_t size = strlen(operators[i].text);

        if (strncmp(text, operators[i].text, size) != 0)
            continue;
        *hint = operators[i].hint;
        return (uint32_t)size;
    }
    return 0;
}
