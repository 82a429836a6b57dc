/* minimise.c - the smallest history that still shows a fault. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

/*
 * First versions are left out, then items, from all versions at once: each is
 * gone for good if something is wrong without it, too.
 */

static trial_history copy_of(const trial_history *from)
{
    trial_history copy = *from;

    copy.programs = calloc((size_t)from->count, sizeof *copy.programs);
    copy.what = calloc((size_t)from->count, sizeof *copy.what);
    if (copy.programs == NULL || copy.what == NULL)
        abort();
    memcpy(copy.programs, from->programs,
           (size_t)from->count * sizeof *copy.programs);
    memcpy(copy.what, from->what, (size_t)from->count * sizeof *copy.what);
    return copy;
}

static int is_wrong(const trial_history *history, const char *folder)
{
    trial_counts counts = {0};

    return trial_run(history, folder, TRIAL_SILENT, &counts) >= 0;
}

static void drop_version(trial_history *history, int at)
{
    const size_t behind = (size_t)(history->count - at - 1);

    memmove(&history->programs[at], &history->programs[at + 1],
            behind * sizeof *history->programs);
    memmove(&history->what[at], &history->what[at + 1],
            behind * sizeof *history->what);
    history->count--;
}

static void drop_item(trial_history *history, int id)
{
    for (int i = 0; i < history->count; i++)
        edit_remove(&history->programs[i], id);
}

/* Puts the smaller one in the place of the other, if it is wrong as well. */
static int take_if_wrong(trial_history *history, trial_history *smaller,
                         const char *folder)
{
    trial_history old = *history;

    if (!is_wrong(smaller, folder)) {
        trial_dispose(smaller);
        return 0;
    }
    *history = *smaller;
    trial_dispose(&old);
    return 1;
}

static void drop_versions(trial_history *history, const char *folder)
{
    for (int i = 0; i < history->count && history->count > 1;) {
        trial_history smaller = copy_of(history);

        drop_version(&smaller, i);
        i += !take_if_wrong(history, &smaller, folder);
    }
}

static int is_used(const trial_history *history, int id)
{
    for (int i = 0; i < history->count; i++)
        for (int k = 0; k < history->programs[i].count; k++)
            if (history->programs[i].items[k].id == id)
                return 1;
    return 0;
}

static void drop_items(trial_history *history, const char *folder)
{
    for (int id = 0; id < 400; id++) {
        trial_history smaller;

        if (!is_used(history, id))
            continue;
        smaller = copy_of(history);
        drop_item(&smaller, id);
        (void)take_if_wrong(history, &smaller, folder);
    }
}

static void print(const trial_history *history)
{
    edit_texts *texts = calloc(1, sizeof *texts);

    if (texts == NULL)
        abort();
    for (int i = 0; i < history->count; i++) {
        edit_write(texts, &history->programs[i]);
        fprintf(stderr, "---- version %d: %s\n", i, history->what[i]);
        edit_print(stderr, texts);
    }
    free(texts);
}

void trial_minimise(const trial_history *history, int version,
                    const char *folder)
{
    trial_history small = copy_of(history);
    trial_counts counts = {0};

    small.count = version + 1;
    drop_versions(&small, folder);
    drop_items(&small, folder);
    drop_versions(&small, folder);
    print(&small);
    (void)trial_run(&small, folder, TRIAL_REPORTS, &counts);
    trial_dispose(&small);
}
