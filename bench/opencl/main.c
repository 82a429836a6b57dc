/* main.c - kernels in OpenCL C on Kiln's host and on another OpenCL. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"

/*
 *     kiln-opencl CASES [--check] [FILTER]
 *
 * Runs the cases of a file (cases.h) on both systems and compares what they
 * leave in the buffers. Unless --check is given, it also tells how many times
 * faster Kiln's second execution is, and at the end the geometric mean. The
 * exit status is 1 if a case failed or differs, 2 if nothing could be run.
 */

#define LINE_SIZE 4096
#define TOLERANCE 1e-4

typedef struct totals {
    int ran, wrong;
    double logarithms, least;
} totals;

static double number_at(const case_argument *a, const void *bytes, size_t at)
{
    float single;
    double value;

    if (a->item_size == sizeof value) {
        memcpy(&value, (const char *)bytes + at, sizeof value);
        return value;
    }
    memcpy(&single, (const char *)bytes + at, sizeof single);
    return single;
}

static int is_close(double a, double b)
{
    const double larger = fabs(a) > fabs(b) ? fabs(a) : fabs(b);

    if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
        return (isnan(a) && isnan(b)) || a == b;
    return fabs(a - b) <= TOLERANCE * larger + 1e-6;
}

static int is_same(const case_argument *a, const void *ours, const void *theirs)
{
    if (!a->is_float)
        return memcmp(ours, theirs, a->size) == 0;
    for (size_t at = 0; at < a->size; at += a->item_size)
        if (!is_close(number_at(a, ours, at), number_at(a, theirs, at)))
            return 0;
    return 1;
}

/* Returns the first argument that differs, or the count. */
static size_t find_difference(const cl_case *c, const case_run *ours,
                              const case_run *theirs)
{
    size_t i = 0;

    while (i < c->count &&
           (c->arguments[i].kind != CASE_BUFFER ||
            is_same(&c->arguments[i], ours->results[i], theirs->results[i])))
        i++;
    return i;
}

static void tell(const cl_case *c, const case_run *ours, const case_run *theirs,
                 totals *t, int with_times)
{
    const size_t differs = find_difference(c, ours, theirs);
    double ratio;

    t->ran++;
    if (differs < c->count) {
        t->wrong++;
        (void)printf("%-24s argument %zu differs\n", c->name, differs);
    } else if (with_times) {
        ratio = theirs->second_ms / ours->second_ms;
        t->logarithms += log(ratio);
        t->least = ratio < t->least ? ratio : t->least;
        (void)printf("%-24s %6.2f times faster (%.3f and %.3f ms)\n", c->name,
                     ratio, ours->second_ms, theirs->second_ms);
    } else {
        (void)printf("%-24s same\n", c->name);
    }
    (void)fflush(stdout);
}

static void run_case(const cl_case *c, totals *t, int with_times)
{
    case_run ours = {{NULL}, 0, 0}, theirs = {{NULL}, 0, 0};

    if (kiln_run(&ours, c, with_times) && peer_run(&theirs, c, with_times)) {
        tell(c, &ours, &theirs, t, with_times);
    } else {
        t->ran++;
        t->wrong++;
        (void)printf("%-24s failed\n", c->name);
        (void)fflush(stdout);
    }
    run_dispose(&ours);
    run_dispose(&theirs);
}

static void run_file(FILE *file, const char *folder, const char *filter,
                     totals *t, int with_times)
{
    static char line[LINE_SIZE];

    while (fgets(line, sizeof line, file) != NULL) {
        cl_case c;

        if (line[0] == '#' || line[0] == '\n')
            continue;
        if (!case_read(&c, line, folder))
            t->wrong++;
        else if (filter == NULL || strstr(c.name, filter) != NULL)
            run_case(&c, t, with_times);
        case_dispose(&c);
    }
}

/* Copies the folder of a path. */
static void folder_of(char *out, size_t size, const char *path)
{
    const char *slash = strrchr(path, '/');

    (void)snprintf(out, size, "%.*s", slash != NULL ? (int)(slash - path) : 1,
                   slash != NULL ? path : ".");
}

int main(int count, char **words)
{
    const int is_check = count > 2 && strcmp(words[2], "--check") == 0;
    const char *filter = count > 2 + is_check ? words[2 + is_check] : NULL;
    totals t = {.least = HUGE_VAL};
    char folder[1024];
    FILE *file;

    if (count < 2 || (file = fopen(words[1], "r")) == NULL) {
        (void)fprintf(stderr, "usage: kiln-opencl CASES [--check] [FILTER]\n");
        return 2;
    }
    folder_of(folder, sizeof folder, words[1]);
    if (peer_open() && kiln_open())
        run_file(file, folder, filter, &t, !is_check);
    peer_close();
    kiln_close();
    (void)fclose(file);
    if (t.ran > t.wrong && !is_check)
        (void)printf("geometric mean %.2f, least %.2f\n",
                     exp(t.logarithms / (t.ran - t.wrong)), t.least);
    (void)printf("%d of %d are right\n", t.ran - t.wrong, t.ran);
    return t.ran == 0 ? 2 : t.wrong > 0;
}
