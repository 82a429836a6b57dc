/* cases.c - reads cases, and what both systems need to run one. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- types ---- */

static const struct type {
    const char *name;
    size_t size;
    int is_float;
} types[] = {{"i8", 1, 0},  {"i16", 2, 0}, {"i32", 4, 0}, {"i64", 8, 0},
             {"u8", 1, 0},  {"u16", 2, 0}, {"u32", 4, 0}, {"u64", 8, 0},
             {"f32", 4, 1}, {"f64", 8, 1}};

static const struct type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

static void write_value(void *out, const struct type *type, double value)
{
    const float single = (float)value;
    const int64_t whole = (int64_t)value;

    if (!type->is_float)
        memcpy(out, &whole, type->size);
    else if (type->size == sizeof single)
        memcpy(out, &single, sizeof single);
    else
        memcpy(out, &value, sizeof value);
}

/* ---- initial contents ---- */

/* The same numbers in each run. */
static double next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (double)(1u << 24);
}

static int fill(case_argument *out, const struct type *type, const char *init)
{
    const size_t count = out->size / type->size;
    const double number = strtod(init, NULL);
    double below = 1;
    uint64_t state = count;
    char *at;

    out->bytes = at = malloc(out->size + 1);
    if (at == NULL)
        return 0;
    if (strncmp(init, "rand%", 5) == 0)
        below = strtod(init + 5, NULL);
    for (size_t i = 0; i < count; i++, at += type->size) {
        double value = number;

        if (strcmp(init, "iota") == 0)
            value = (double)i;
        else if (strncmp(init, "rand", 4) == 0)
            value = next_random(&state) * below;
        write_value(at, type, value);
    }
    return 1;
}

/* ---- arguments ---- */

static int complain(const char *what, const char *text)
{
    (void)fprintf(stderr, "%s: %s\n", text, what);
    return 0;
}

/* Reads TYPE*COUNT=INIT; the mark is at the star. */
static int read_buffer(case_argument *out, const char *text, char *star)
{
    char *init = strchr(star, '=');
    const struct type *type;
    size_t each;

    if (init == NULL)
        return complain("a buffer lacks its content", text);
    *star = '\0';
    type = find_type(text[0] == 'S' ? "f32" : text);
    if (type == NULL)
        return complain("no such type", text);
    each = text[0] == 'S' ? strtoul(text + 1, NULL, 10) : type->size;
    (void)snprintf(out->type, sizeof out->type, "%s",
                   text[0] == 'S' ? "u8" : text);
    out->kind = CASE_BUFFER;
    out->size = each * strtoul(star + 1, NULL, 10);
    out->is_float = type->is_float;
    out->item_size = type->size;
    return fill(out, type, init + 1);
}

static int read_argument(case_argument *out, char *text)
{
    char *star = strchr(text, '*');
    char *colon = strchr(text, ':');
    const struct type *type;

    if (star != NULL)
        return read_buffer(out, text, star);
    if (colon == NULL)
        return complain("no argument", text);
    *colon = '\0';
    if (strcmp(text, "L") == 0) {
        out->kind = CASE_LOCAL;
        out->size = strtoul(colon + 1, NULL, 10);
        return 1;
    }
    type = find_type(text);
    if (type == NULL)
        return complain("no such type", text);
    (void)snprintf(out->type, sizeof out->type, "%s", text);
    out->kind = CASE_SCALAR;
    out->size = type->size;
    write_value(out->scalar, type, strtod(colon + 1, NULL));
    return 1;
}

/* ---- lines ---- */

static int read_sizes(size_t out[3], const char *text)
{
    int count = 0;
    char *end = (char *)(uintptr_t)text;

    out[0] = out[1] = out[2] = 1;
    while (count < 3) {
        const unsigned long number = strtoul(end, &end, 10);

        if (number == 0)
            break;
        out[count++] = number;
    }
    return count;
}

#define FIELDS 7

static int split(char *fields[FIELDS], char *line)
{
    line[strcspn(line, "\n")] = '\0';
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = line;
        line = line != NULL ? strchr(line, '|') : NULL;
        if (line == NULL && i < FIELDS - 1)
            return 0;
        if (i < FIELDS - 1)
            *line++ = '\0';
    }
    return 1;
}

int case_read(cl_case *out, char *line, const char *folder)
{
    char *fields[FIELDS], *rest = NULL;

    memset(out, 0, sizeof *out);
    if (!split(fields, line))
        return complain("not the seven fields of a case", line);
    (void)snprintf(out->name, sizeof out->name, "%s", fields[0]);
    (void)snprintf(out->path, sizeof out->path, "%s/%s", folder, fields[1]);
    (void)snprintf(out->options, sizeof out->options, "%s", fields[2]);
    (void)snprintf(out->kernel, sizeof out->kernel, "%s", fields[3]);
    out->dimensions = read_sizes(out->global, fields[4]);
    if (read_sizes(out->local, fields[5]) != out->dimensions)
        return complain("the sizes have different dimensions", out->name);
    for (char *word = strtok_r(fields[6], " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        if (out->count == CASE_ARGUMENTS_MAX)
            return complain("too many arguments", out->name);
        if (!read_argument(&out->arguments[out->count++], word))
            return 0;
    }
    return 1;
}

void case_dispose(cl_case *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->arguments[i].bytes);
}

/* ---- runs ---- */

double now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

int run_begin(case_run *run, const cl_case *c)
{
    memset(run, 0, sizeof *run);
    for (size_t i = 0; i < c->count; i++) {
        if (c->arguments[i].kind != CASE_BUFFER)
            continue;
        run->results[i] = malloc(c->arguments[i].size + 1);
        if (run->results[i] == NULL)
            return 0;
    }
    return 1;
}

void run_dispose(case_run *run)
{
    for (size_t i = 0; i < CASE_ARGUMENTS_MAX; i++)
        free(run->results[i]);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

#define TIMES_MAX 101
#define TIME_ENOUGH_MS 300.0

double run_time(int (*reset)(void *env), int (*launch)(void *env), void *env)
{
    double times[TIMES_MAX], all = 0;
    size_t count = 0;

    while (count < TIMES_MAX && (count < 5 || all < TIME_ENOUGH_MS)) {
        double start;

        if (!reset(env))
            return -1;
        start = now_ms();
        if (!launch(env))
            return -1;
        times[count] = now_ms() - start;
        all += times[count++];
    }
    qsort(times, count, sizeof *times, compare);
    return times[count / 2];
}
