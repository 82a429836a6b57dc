/* main.c - programs of several frontends mean what their definitions say. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "history.h"

/*
 *     graph_programs [--seed N] [--count N] [--edits N] [--faults]
 *
 * makes `count` programs from `seed` on and edits each so often. Without a
 * count it ends after a while, on a machine that does other things, too. What
 * differs is made smaller, and told with the arguments that show it. With
 * --faults the frontends do one thing wrong, each thing in turn, which must be
 * found: so it would be if Kiln forgot to do it.
 */
#define SECONDS_MAX 35
#define COUNT 12
#define EDITS 25
#define FAULT_PROGRAMS 40

/* What stands behind `--name=`, or after `--name`; NULL. */
static const char *text_of(char **arguments, int count, const char *name)
{
    const size_t size = strlen(name);

    for (int i = 1; i < count; i++) {
        if (strncmp(arguments[i], name, size) != 0)
            continue;
        if (arguments[i][size] == '=')
            return arguments[i] + size + 1;
        if (arguments[i][size] == '\0')
            return i + 1 < count ? arguments[i + 1] : "";
    }
    return NULL;
}

static uint64_t number_of(char **arguments, int count, const char *name,
                          uint64_t otherwise)
{
    const char *text = text_of(arguments, count, name);

    return text ? strtoull(text, NULL, 10) : otherwise;
}

static int has(char **arguments, int count, const char *name)
{
    return text_of(arguments, count, name) != NULL;
}

/* True when some program shows it. */
static int is_found(unsigned fault, const char *name, int edits)
{
    history_options options = {.edits = edits, .faults = fault, .is_quiet = 1};
    history_counts counts = {0};

    for (options.seed = 1; options.seed <= FAULT_PROGRAMS; options.seed++)
        if (!history_run(&options, &counts)) {
            printf("%s: found by seed %llu after %llu versions\n", name,
                   (unsigned long long)options.seed,
                   (unsigned long long)counts.versions);
            return 1;
        }
    printf("%s: not found in %llu versions\n", name,
           (unsigned long long)counts.versions);
    return 0;
}

static int find_faults(int edits)
{
    static const struct {
        unsigned fault;
        const char *name;
    } faults[] = {
        {GRAPH_FAULT_DEPEND, "no edge without a call"},
        {GRAPH_FAULT_QUERY, "no query"},
        {GRAPH_FAULT_ANSWER, "an answer that never changes"},
        {GRAPH_FAULT_CHANGE, "a change that is not told"},
        {GRAPH_FAULT_LOWER, "code of what is in no key"},
        {GRAPH_FAULT_SETTINGS, "typed IR of other settings than [typed] ones"},
        {GRAPH_FAULT_PROGRAM, "a program that never changes"},
        {GRAPH_FAULT_HELD, "a held world that is not kept"},
    };
    int missed = 0;

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        missed += !is_found(faults[i].fault, faults[i].name, edits);
    return missed != 0;
}

static history_options read_options(int count, char **arguments)
{
    history_options options = {
        .seed = number_of(arguments, count, "--seed", 1),
        .edits = (int)number_of(arguments, count, "--edits", EDITS),
        .without = (unsigned)number_of(arguments, count, "--without", 0),
        .skipped = number_of(arguments, count, "--skipped", 0),
        .dropped = number_of(arguments, count, "--dropped", 0),
        .faults = (unsigned)number_of(arguments, count, "--defects", 0)};

    if (options.edits > HISTORY_EDITS)
        options.edits = HISTORY_EDITS;
    options.is_quiet = options.faults != 0;
    options.is_told = has(arguments, count, "--told");
    return options;
}

/* Returns how many programs differ. */
static int run_programs(history_options options, uint64_t count)
{
    const time_t end = time(NULL) + SECONDS_MAX;
    history_counts counts = {0};
    uint64_t done = 0;
    int differs = 0;

    while (done < (count ? count : COUNT) && (count || time(NULL) < end)) {
        if (!history_run(&options, &counts)) {
            differs++;
            if (!options.is_told)
                history_minimise(&options);
        }
        options.seed++;
        done++;
    }
    printf("%llu programs, %llu versions, %llu kernels, %llu of them in worlds "
           "that had passed, %llu of stores; %llu results found attached, %llu "
           "processes; %d programs differ\n",
           (unsigned long long)done, (unsigned long long)counts.versions,
           (unsigned long long)counts.kernels, (unsigned long long)counts.held,
           (unsigned long long)counts.stored,
           (unsigned long long)counts.attached,
           (unsigned long long)counts.processes, differs);
    return differs;
}

int main(int argument_count, char **arguments)
{
    const history_options options = read_options(argument_count, arguments);
    const char *folder = text_of(arguments, argument_count, "--version");

    if (folder)
        return !history_run_version(&options, folder);
    if (has(arguments, argument_count, "--faults"))
        return find_faults(options.edits);
    return run_programs(options, number_of(arguments, argument_count, "--count",
                                           0)) != 0;
}
