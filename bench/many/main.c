/* main.c - options of kiln-many. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "many.h"

static const char usage[] =
    "usage: kiln-many saxpy|many --package FILE [--target TARGET]\n"
    "           [--insert PACK] [--log2n N] [--instances N]\n"
    "       kiln-many saxpy|many --jobs [--instances N]\n"
    "Prints one JSON object: what was executed, how long it took, and the\n"
    "counters of tiers and stages. --jobs prints a list for kiln precompile.\n";

static int read_number(int *out, const char *text, int low, int high)
{
    char *end;
    const long value = strtol(text, &end, 10);

    *out = (int)value;
    return *text && !*end && value >= low && value <= high;
}

static int take_option(struct options *o, const char *name, const char *value)
{
    if (strcmp(name, "--package") == 0)
        o->package = value;
    else if (strcmp(name, "--target") == 0)
        o->target = value;
    else if (strcmp(name, "--insert") == 0)
        o->insert = value;
    else if (strcmp(name, "--log2n") == 0)
        return read_number(&o->log2n, value, 0, 28);
    else if (strcmp(name, "--instances") == 0)
        return read_number(&o->instances, value, 5, INSTANCES_MAX);
    else
        return 0;
    return 1;
}

static int read_options(struct options *o, int argc, char **argv)
{
    if (argc < 2 ||
        (strcmp(argv[1], "saxpy") != 0 && strcmp(argv[1], "many") != 0))
        return 0;
    o->workload = argv[1];
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--jobs") == 0) {
            o->jobs = 1;
            continue;
        }
        if (i + 1 >= argc || !take_option(o, argv[i], argv[i + 1]))
            return 0;
        i++;
    }
    return o->jobs || o->package;
}

static void print_failure(const struct session *s)
{
    kiln_blob text = {0};

    if (s->error &&
        kiln_error_render(&text, s->error, KILN_RENDER_PLAIN) == KILN_OK)
        (void)fputs(text.data, stderr);
    else
        (void)fprintf(stderr, "kiln-many: %s\n", kiln_status_text(s->status));
    kiln_blob_release(&text);
}

int main(int argc, char **argv)
{
    static struct session s;
    int is_saxpy;
    int result;

    s.options = (struct options){.log2n = 20, .instances = INSTANCES_MAX};
    if (!read_options(&s.options, argc, argv)) {
        (void)fputs(usage, stderr);
        return 2;
    }
    is_saxpy = strcmp(s.options.workload, "saxpy") == 0;
    if (s.options.jobs && is_saxpy) {
        (void)puts("saxpy.saxpy(f32[:], f32, f32[:])");
        return 0;
    }
    if (s.options.jobs) {
        instances_print_jobs(s.options.instances);
        return 0;
    }
    (is_saxpy ? saxpy_run : many_run)(&s);
    if (s.status != KILN_OK)
        print_failure(&s);
    result = s.status == KILN_OK && s.wrong == 0 ? 0 : 1;
    session_close(&s);
    return result;
}
