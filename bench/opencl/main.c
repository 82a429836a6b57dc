/* main.c - kernels in OpenCL C on Kiln's host and on another OpenCL. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cases.h"
#include "processes.h"

/*
 *     kiln-opencl CASES [--check | --target TARGET | --processes] [FILTER]
 *
 * Runs the cases of a file (cases.h) on both systems and compares what they
 * leave in the buffers. Without an option it also tells how many times faster
 * Kiln's second execution is, and at the end the geometric mean. --target
 * compiles the cases for a target without a device, and runs nothing.
 * --processes measures whole processes (processes.h). The exit status is 1 if a
 * case failed or differs, 2 if nothing could be run.
 */

typedef struct options {
    const char *cases;
    const char *filter;
    const char *target; /* of --target */
    int is_check, is_processes;
} options;

typedef struct totals {
    int ran, wrong, timed;
    double logarithms, least;
} totals;

/* ---- one case ---- */

static void tell_failure(const cl_case *c, const char *what)
{
    (void)printf("%-24s %s\n", c->name, what);
}

static void tell_times(const cl_case *c, const case_run *ours,
                       const case_run *theirs, totals *t)
{
    const double ratio = theirs->second_ms / ours->second_ms;

    t->timed++;
    t->logarithms += log(ratio);
    t->least = ratio < t->least ? ratio : t->least;
    (void)printf("%-24s %6.2f times faster (%.3f and %.3f ms)\n", c->name,
                 ratio, ours->second_ms, theirs->second_ms);
}

/* Returns whether the case is right. */
static int run_case(const cl_case *c, totals *t, int with_times)
{
    case_run ours = {{NULL}, 0, 0}, theirs = {{NULL}, 0, 0};
    const int is_alone = case_has_expectation(c);
    int is_right = 0;
    size_t differs;

    if (!kiln_run(&ours, c, with_times) ||
        (!is_alone && !peer_run(&theirs, c, with_times))) {
        tell_failure(c, "failed");
    } else if ((differs = case_difference(
                    c, &ours, is_alone ? NULL : &theirs)) < c->count) {
        (void)printf("%-24s argument %zu differs\n", c->name, differs);
    } else {
        is_right = 1;
        if (with_times && !is_alone)
            tell_times(c, &ours, &theirs, t);
        else
            tell_failure(c, is_alone ? "as expected" : "same");
    }
    run_dispose(&ours);
    run_dispose(&theirs);
    return is_right;
}

static int compile_case(const cl_case *c)
{
    const int is_right = kiln_compiles(c);

    tell_failure(c, is_right ? "compiled" : "failed");
    return is_right;
}

/* What all cases have in common. */
typedef struct taking {
    const options *o;
    totals t;
} taking;

static int take_case(const cl_case *c, void *env)
{
    taking *all = env;
    const options *o = all->o;
    int is_right;

    if (o->filter != NULL && strstr(c->name, o->filter) == NULL)
        return 1;
    if (o->target != NULL)
        is_right = compile_case(c);
    else if (o->is_processes)
        is_right = measure_processes(c, o->cases);
    else
        is_right = run_case(c, &all->t, !o->is_check);
    all->t.ran++;
    all->t.wrong += !is_right;
    (void)fflush(stdout);
    return 1;
}

/* ---- all of them ---- */

static int read_words(options *out, int count, char **words)
{
    int at = 2;

    if (count < 2)
        return 0;
    out->cases = words[1];
    if (at < count && strcmp(words[at], "--check") == 0)
        out->is_check = at++;
    else if (at < count && strcmp(words[at], "--processes") == 0)
        out->is_processes = at++;
    else if (at + 1 < count && strcmp(words[at], "--target") == 0) {
        out->target = words[at + 1];
        at += 2;
    }
    if (at < count)
        out->filter = words[at++];
    return at == count && (out->filter == NULL || out->filter[0] != '-');
}

static int open_sides(const options *o)
{
    if (o->target != NULL)
        return kiln_open(o->target);
    return o->is_processes || (peer_open() && kiln_open(NULL));
}

static void tell_totals(const options *o, const totals *t)
{
    if (t->timed > 0)
        (void)printf("geometric mean %.2f, least %.2f\n",
                     exp(t->logarithms / t->timed), t->least);
    if (o->is_processes)
        tell_processes();
    (void)printf("%d of %d are right\n", t->ran - t->wrong, t->ran);
}

int main(int count, char **words)
{
    options o = {0};
    taking all = {&o, {.least = HUGE_VAL}};
    int is_read = 0;

    if (!read_words(&o, count, words)) {
        (void)fprintf(stderr, "usage: kiln-opencl CASES [--check | --target "
                              "TARGET | --processes] [FILTER]\n");
        return 2;
    }
    if (open_sides(&o))
        is_read = cases_each(o.cases, NULL, take_case, &all);
    peer_close();
    kiln_close();
    tell_totals(&o, &all.t);
    return !is_read || all.t.ran == 0 ? 2 : all.t.wrong > 0;
}
