/* array.c - growing arrays and text buffers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The smallest capacity, in items: most lists of a compiler are short. */
#define FIRST_CAPACITY ((size_t)8)

static size_t next_capacity(size_t capacity, size_t needed)
{
    size_t next = capacity < FIRST_CAPACITY ? FIRST_CAPACITY : capacity;

    if (capacity >= FIRST_CAPACITY && next <= SIZE_MAX - next / 2)
        next += next / 2;
    return next < needed ? needed : next;
}

/* `items` is really a T **, so the pointer is copied as bytes. */
int kiln__array_grow(const kiln_alloc *alloc, void **items, size_t count,
                     size_t *capacity, size_t extra, size_t item_size)
{
    size_t needed, next, bytes;
    void *memory;

    if (extra <= *capacity - count)
        return 1;
    if (__builtin_add_overflow(count, extra, &needed))
        return 0;
    next = next_capacity(*capacity, needed);
    if (__builtin_mul_overflow(next, item_size, &bytes))
        return 0;
    memcpy(&memory, items, sizeof memory);
    memory = kiln__resize(alloc, memory, *capacity * item_size, bytes);
    if (memory == NULL)
        return 0;
    memcpy(items, &memory, sizeof memory);
    *capacity = next;
    return 1;
}

void kiln__text_init(kiln__text *text, const kiln_alloc *alloc)
{
    *text = (kiln__text){.alloc = alloc};
}

void kiln__text_dispose(kiln__text *text)
{
    kiln__deallocate(text->alloc, text->bytes, text->capacity);
    *text = (kiln__text){.alloc = text->alloc};
}

/* Makes room for `extra` bytes and the NUL; false after a failure. */
static int text_reserve(kiln__text *text, size_t extra)
{
    size_t with_nul;

    if (text->failed)
        return 0;
    if (__builtin_add_overflow(extra, 1, &with_nul) ||
        !kiln__array_grow(text->alloc, (void **)&text->bytes, text->size,
                          &text->capacity, with_nul, 1))
        text->failed = 1;
    return !text->failed;
}

void kiln__text_add(kiln__text *text, const char *string)
{
    kiln__text_add_n(text, string, strlen(string));
}

void kiln__text_add_n(kiln__text *text, const char *bytes, size_t size)
{
    if (!text_reserve(text, size))
        return;
    if (size > 0)
        memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

void kiln__text_format(kiln__text *text, const char *format, ...)
{
    va_list arguments, again;
    int length;

    va_start(arguments, format);
    va_copy(again, arguments);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        text->failed = 1;
    else if (text_reserve(text, (size_t)length)) {
        vsnprintf(text->bytes + text->size, (size_t)length + 1, format,
                  arguments);
        text->size += (size_t)length;
    }
    va_end(arguments);
}

kiln_status kiln__text_to_blob(kiln__text *text, kiln_blob *out)
{
    kiln_status status = KILN_ENOMEM;

    *out = (kiln_blob){0};
    if (!text->failed)
        status = kiln__blob_copy(out, text->alloc, text->bytes, text->size);
    kiln__text_dispose(text);
    return status;
}
