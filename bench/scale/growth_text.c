/* growth_text.c - makes programs of any size. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "growth.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_add(struct text *text, const char *format, ...)
{
    va_list arguments;
    int size;

    if (text->room - text->size < 512) {
        text->room = text->room ? 2 * text->room : 4096;
        text->bytes = realloc(text->bytes, text->room);
        if (!text->bytes)
            abort();
    }
    va_start(arguments, format);
    size = vsnprintf(text->bytes + text->size, text->room - text->size, format,
                     arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= text->room - text->size)
        abort();
    text->size += (size_t)size;
}

static void begin_kernel(struct text *text, const char *name)
{
    text_add(text,
             "kernel %s(y)\n"
             "    i = global_id(0)\n"
             "    if i < length(y)\n",
             name);
}

static void end_kernel(struct text *text)
{
    text_add(text, "    end\n"
                   "end\n");
}

/* Methods of one function, each for its own type, of which one is called. */
static int64_t methods(struct text *text, int size)
{
    for (int n = 0; n < size; n++)
        text_add(text,
                 "struct S%d\n"
                 "    x: f32\n"
                 "end\n"
                 "fn f(s: S%d) = s.x + %d\n",
                 n, n, n + 1);
    begin_kernel(text, "grown");
    text_add(text, "        y[i] = f(S%d(y[i]))\n", size / 2);
    end_kernel(text);
    return size / 2 + 1;
}

/* Functions all of which the kernel calls. */
static int64_t callees(struct text *text, int size)
{
    for (int n = 0; n < size; n++)
        text_add(text, "fn h%d(x) = x + (x < %d ? 1 : 1)\n", n, n);
    begin_kernel(text, "grown");
    for (int n = 0; n < size; n++)
        text_add(text, "        y[i] = h%d(y[i])\n", n);
    end_kernel(text);
    return size;
}

/* Functions of which each calls the next. */
static int64_t depth(struct text *text, int size)
{
    for (int n = 0; n + 1 < size; n++)
        text_add(text, "fn h%d(x) = h%d(x) + 1\n", n, n + 1);
    text_add(text, "fn h%d(x) = x + 1\n", size - 1);
    begin_kernel(text, "grown");
    text_add(text, "        y[i] = h0(y[i])\n");
    end_kernel(text);
    return size;
}

/* Statements of one kernel, each of which depends on the one before. */
static int64_t length(struct text *text, int size)
{
    begin_kernel(text, "grown");
    text_add(text, "        x = y[i]\n");
    for (int n = 0; n < size; n++)
        text_add(text, "        x = x + f32(1)\n");
    text_add(text, "        y[i] = x\n");
    end_kernel(text);
    return size;
}

/* Blocks of one kernel, one after the other. */
static int64_t blocks(struct text *text, int size)
{
    begin_kernel(text, "grown");
    text_add(text, "        x = y[i]\n");
    for (int n = 0; n < size; n++)
        text_add(text,
                 "        if x < %d\n"
                 "            x = x + f32(1)\n"
                 "        end\n",
                 2 * size + n);
    text_add(text, "        y[i] = x\n");
    end_kernel(text);
    return size;
}

/* Loops of one kernel, one after the other, each of which runs once for each
   item of `y`. */
static int64_t loops(struct text *text, int size)
{
    begin_kernel(text, "grown");
    text_add(text, "        x = y[i]\n");
    for (int n = 0; n < size; n++)
        text_add(text, "        for j in 0..length(y)\n"
                       "            x = x + f32(1)\n"
                       "        end\n");
    text_add(text, "        y[i] = x\n");
    end_kernel(text);
    return (int64_t)size * GROWTH_ITEMS;
}

int64_t growth_text(struct text *text, const char *shape, int size)
{
    static const struct {
        const char *name;
        int64_t (*make)(struct text *text, int size);
    } shapes[] = {{"methods", methods}, {"callees", callees}, {"depth", depth},
                  {"length", length},   {"blocks", blocks},   {"loops", loops}};

    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, shape) == 0)
            return shapes[i].make(text, size);
    return -1;
}

void growth_kernels(struct text *text, int size, int step)
{
    for (int n = 0; n < size; n++) {
        char name[16];

        snprintf(name, sizeof name, "k%d", n);
        begin_kernel(text, name);
        text_add(text, "        y[i] = y[i] + %d\n", n + step);
        end_kernel(text);
    }
}
