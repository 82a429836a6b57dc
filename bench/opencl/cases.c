/* cases.c - reads a file of cases. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Reads a case from a line, which is changed. */
static int read_line(cl_case *out, char *line, const char *folder)
{
    char *fields[FIELDS], *rest = NULL;

    memset(out, 0, sizeof *out);
    if (!split(fields, line))
        return case_complain("not the seven fields of a case", line);
    (void)snprintf(out->name, sizeof out->name, "%s", fields[0]);
    (void)snprintf(out->path, sizeof out->path, "%s/%s", folder, fields[1]);
    (void)snprintf(out->options, sizeof out->options, "%s", fields[2]);
    (void)snprintf(out->kernel, sizeof out->kernel, "%s", fields[3]);
    out->dimensions = read_sizes(out->global, fields[4]);
    if (read_sizes(out->local, fields[5]) != out->dimensions)
        return case_complain("the sizes have different dimensions", out->name);
    for (char *word = strtok_r(fields[6], " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        if (out->count == CASE_ARGUMENTS_MAX)
            return case_complain("too many arguments", out->name);
        if (!case_argument_read(&out->arguments[out->count++], word))
            return 0;
    }
    return 1;
}

static void dispose(cl_case *c)
{
    for (size_t i = 0; i < c->count; i++) {
        free(c->arguments[i].bytes);
        free(c->arguments[i].expected);
    }
}

/* ---- files ---- */

static void folder_of(char *out, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/');

    (void)snprintf(out, size, "%.*s", slash != NULL ? (int)(slash - path) : 1,
                   slash != NULL ? path : ".");
}

/* True for a line of the case of that name; NULL: of any. */
static int is_wanted(const char *line, const char *name)
{
    const size_t size = name != NULL ? strlen(name) : 0;

    if (line[0] == '#' || line[0] == '\n')
        return 0;
    return name == NULL ||
           (strncmp(line, name, size) == 0 && line[size] == '|');
}

int cases_each(const char *path, const char *name,
               int (*take)(const cl_case *c, void *env), void *env)
{
    FILE *file = fopen(path, "r");
    char folder[512], line[CASE_LINE_SIZE];
    int is_right = file != NULL;

    if (file == NULL)
        return case_complain("cannot be read", path);
    folder_of(folder, sizeof folder, path);
    while (is_right && fgets(line, sizeof line, file) != NULL) {
        cl_case c;

        if (!is_wanted(line, name))
            continue;
        is_right = read_line(&c, line, folder) && take(&c, env);
        dispose(&c);
    }
    (void)fclose(file);
    return is_right;
}
