/* main.c - compiles and interprets random kernels, which must give the same. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trial.h"

/*
 *
 *     random_kernels [--seed N] [--count N] [--all] [--keep-going] [--source]
 *
 * runs `count` programs, beginning with `seed`. KILN_RANDOM_SEED and
 * KILN_RANDOM_COUNT have the same effect. With --source it prints the programs
 * instead. Without arguments it ends after a while, even on a busy machine.
 *
 */

#define SECONDS_MAX 90

/* ---- kernels that end the process ---- */

static char running[] = "seed                      ended the process\n";

static void name_seed(uint64_t seed)
{
    size_t i = 24;

    do
        running[i--] = (char)('0' + seed % 10);
    while ((seed /= 10) > 0);
    while (i >= 5)
        running[i--] = ' ';
}

static void tell_seed(int number)
{
    ssize_t written = write(STDERR_FILENO, running, sizeof running - 1);

    (void)written; /* a failure to write cannot be reported */
    signal(number, SIG_DFL);
    raise(number);
}

/* Sanitizers handle these signals themselves. */
static void watch_signals(void)
{
    static const int numbers[] = {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGTERM};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        void (*before)(int) = signal(numbers[i], tell_seed);

        if (before != SIG_DFL)
            signal(numbers[i], before);
    }
}

/* ---- arguments ---- */

static int print_source(uint64_t seed)
{
    generated program;

    generate(&program, seed);
    fputs(program.source.bytes, stdout);
    kiln__text_dispose(&program.source);
    return 0;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

int main(int argument_count, char **arguments)
{
    trial_options options = {.seed = number_from("KILN_RANDOM_SEED", 1)};
    uint64_t count = number_from("KILN_RANDOM_COUNT", 150);
    int source = 0, keep_going = 0, failures = 0;
    time_t end = argument_count > 1 ? 0 : time(NULL) + SECONDS_MAX;
    trial_counts counts = {0};

    for (int i = 1; i < argument_count; i++)
        if (strcmp(arguments[i], "--seed") == 0 && i + 1 < argument_count) {
            options.seed = strtoull(arguments[++i], NULL, 10);
            count = 1;
        } else if (strcmp(arguments[i], "--count") == 0 &&
                   i + 1 < argument_count) {
            count = strtoull(arguments[++i], NULL, 10);
        } else {
            options.all |= strcmp(arguments[i], "--all") == 0;
            keep_going |= strcmp(arguments[i], "--keep-going") == 0;
            source |= strcmp(arguments[i], "--source") == 0;
        }
    if (!source)
        printf("%llu random kernels from seed %llu on\n",
               (unsigned long long)count, (unsigned long long)options.seed);
    fflush(stdout);
    watch_signals();
    for (uint64_t i = 0; i < count && (failures == 0 || keep_going) &&
                         (end == 0 || time(NULL) < end);
         i++) {
        name_seed(options.seed);
        failures +=
            source ? print_source(options.seed) : trial_run(&options, &counts);
        options.seed++;
    }
    if (!source)
        printf("%zu launches, %zu with an exception, %zu not interpreted, %zu "
               "compilations refused; %d of %zu kernels differ\n",
               counts.launches, counts.exceptions, counts.skipped,
               counts.refused, failures, counts.programs);
    return failures != 0;
}
