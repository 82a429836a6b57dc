/* written.c - texts that a test writes piece by piece, and numbers that it
   chooses at random. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/written.h"

#include <stdarg.h>
#include <stdio.h>

#include "support/harness.h"

void written_put(written *text, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    text->size += (size_t)vsnprintf(text->bytes + text->size,
                                    text->room - text->size, format, list);
    va_end(list);
    assert_true(text->size < text->room);
}

uint32_t random_below(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

const char *random_text(uint32_t *seed, const char *const *texts, size_t count)
{
    return texts[random_below(seed, (uint32_t)count)];
}
