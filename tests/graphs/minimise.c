/* minimise.c - less of a history that still shows what is wrong. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <time.h>

#include "history.h"

/*
 * What happens besides edits is left out first, then edits, then what functions
 * are: each for good if something is wrong without it, too. What threads do is
 * not the same each time, so that a trial has several tries.
 */
#define SECONDS_MAX 120
#define TRIES 3

static int is_wrong(const history_options *options)
{
    history_counts counts = {0};

    for (int i = 0; i < TRIES; i++)
        if (!history_run(options, &counts))
            return 1;
    return 0;
}

static void leave_out(history_options *options, time_t end)
{
    for (unsigned bit = 1; bit <= HISTORY_ALL && time(NULL) < end; bit <<= 1) {
        history_options less = *options;

        less.without |= bit;
        if (is_wrong(&less))
            *options = less;
    }
}

static void clear_bits(history_options *options, uint64_t *bits, int count,
                       time_t end)
{
    for (int i = count; i-- > 0 && time(NULL) < end;) {
        const uint64_t old = *bits;

        *bits |= UINT64_C(1) << i;
        if (!is_wrong(options))
            *bits = old;
    }
}

void history_minimise(const history_options *options)
{
    const time_t end = time(NULL) + SECONDS_MAX;
    history_options least = *options;
    history_counts counts = {0};

    least.is_quiet = 1;
    leave_out(&least, end);
    clear_bits(&least, &least.skipped, least.edits, end);
    clear_bits(&least, &least.dropped, GRAPH_COUNT * GRAPH_FUNCTIONS, end);
    printf("least: --seed %llu --edits %d --without %u --skipped %llu "
           "--dropped %llu --count 1 --told\n",
           (unsigned long long)least.seed, least.edits, least.without,
           (unsigned long long)least.skipped,
           (unsigned long long)least.dropped);
    least.is_quiet = 0;
    least.is_told = 1;
    (void)fflush(stdout);
    (void)history_run(&least, &counts);
}
