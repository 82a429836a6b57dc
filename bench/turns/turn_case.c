/* turn_case.c - reads the kernel that is measured, and its arguments. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "turn.h"

#define ALIGNMENT 4096u

int turn_complain(const char *what, const char *detail)
{
    (void)fprintf(stderr, "%s: %s\n", what, detail);
    return 0;
}

static size_t size_of(const char *type)
{
    return (size_t)atoi(type + 1) / 8;
}

static void *allocate(size_t bytes)
{
    return aligned_alloc(ALIGNMENT,
                         (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT);
}

/* ---- scalars ---- */

static void store(turn_argument *a, const char *value)
{
    if (strcmp(a->type, "f32") == 0) {
        const float number = strtof(value, NULL);

        memcpy(a->initial, &number, sizeof number);
    } else if (strcmp(a->type, "f64") == 0) {
        const double number = strtod(value, NULL);

        memcpy(a->initial, &number, sizeof number);
    } else { /* hosts are little-endian */
        const int64_t number = strtoll(value, NULL, 0);

        memcpy(a->initial, &number, a->bytes);
    }
}

static int read_scalar(turn_argument *out, const char *rest)
{
    char value[TURN_WORD_MAX];

    if (sscanf(rest, "%7s %511s", out->type, value) != 2)
        return turn_complain("no scalar", rest);
    out->bytes = size_of(out->type);
    out->initial = calloc(1, sizeof(int64_t));
    if (out->initial == NULL)
        return turn_complain(out->type, "out of memory");
    store(out, value);
    return 1;
}

/* ---- arrays ---- */

static int read_bytes(turn_argument *a, const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t got = 0;

    a->initial = allocate(a->bytes);
    a->data = allocate(a->bytes);
    if (file != NULL && a->initial != NULL && a->data != NULL)
        got = fread(a->initial, 1, a->bytes, file);
    if (file != NULL)
        (void)fclose(file);
    if (got != a->bytes)
        return turn_complain(path, "not the bytes of the array");
    memcpy(a->data, a->initial, a->bytes);
    return 1;
}

static int read_array(turn_argument *out, const char *rest)
{
    char path[TURN_WORD_MAX];
    int64_t *s = out->sizes;
    const int words = sscanf(rest, "%7s %511s %" SCNd64 " %" SCNd64 " %" SCNd64,
                             out->type, path, s, s + 1, s + 2);

    if (words < 3)
        return turn_complain("no array", rest);
    out->rank = words - 2;
    out->bytes = size_of(out->type);
    for (int d = 0; d < out->rank; d++)
        out->bytes *= (size_t)s[d];
    return read_bytes(out, path);
}

/* ---- the file ---- */

static int read_sizes(int64_t out[3], const char *rest)
{
    return sscanf(rest, "%" SCNd64 " %" SCNd64 " %" SCNd64, out, out + 1,
                  out + 2) == 3 ||
           turn_complain("not three sizes", rest);
}

static int read_argument(turn_case *out, const char *word, const char *rest)
{
    turn_argument *a = &out->arguments[out->count];

    if (out->count++ == TURN_ARGUMENTS_MAX)
        return turn_complain(out->kernel, "too many arguments");
    return strcmp(word, "scalar") == 0 ? read_scalar(a, rest)
                                       : read_array(a, rest);
}

static int read_line(turn_case *out, const char *line)
{
    char word[TURN_WORD_MAX];
    int rest;

    if (sscanf(line, "%511s %n", word, &rest) != 1)
        return 1; /* an empty one */
    if (strcmp(word, "source") == 0)
        return sscanf(line + rest, "%511s", out->source) == 1;
    if (strcmp(word, "kernel") == 0)
        return sscanf(line + rest, "%511s", out->kernel) == 1;
    if (strcmp(word, "grid") == 0)
        return read_sizes(out->grid, line + rest);
    if (strcmp(word, "block") == 0)
        return read_sizes(out->block, line + rest);
    if (strcmp(word, "scalar") == 0 || strcmp(word, "array") == 0)
        return read_argument(out, word, line + rest);
    return turn_complain("what is", line);
}

int turn_case_read(turn_case *out, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[4 * TURN_WORD_MAX];
    int is_good = 1;

    if (file == NULL)
        return turn_complain(path, "cannot be read");
    while (is_good && fgets(line, sizeof line, file) != NULL)
        is_good = read_line(out, line);
    (void)fclose(file);
    return is_good;
}
