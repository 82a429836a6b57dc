/* history.c - the versions of a program, each looked at from all sides. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"
#include "support/harness.h"

#define PROGRAM "program" /* the file that tells another process of it */

/* ---- contexts that begin with a version ---- */

static void compare_fresh(history *h, uint8_t mode, const char *folder,
                          const char *context, int with_pack)
{
    kiln_error *error = NULL;
    kiln_pack *pack = NULL;

    if (!history_open(h, &h->fresh, mode, folder))
        return;
    if (with_pack && (kiln_pack_open_memory(&pack, h->pack.data, h->pack.size,
                                            &error) != KILN_OK ||
                      kiln_insert(h->fresh.context, pack, &error) != KILN_OK))
        history_fail(h, "a pack cannot be inserted", error);
    history_define_all(h, &h->fresh);
    history_compare_some(h, &h->fresh, context);
    history_close(h, &h->fresh);
}

static void take_pack(history *h)
{
    kiln_blob bytes = {0};

    /* What fails today is in no pack. */
    if (kiln_delta(&bytes, h->living.context, NULL, NULL, NULL) != KILN_OK)
        return;
    kiln_blob_release(&h->pack);
    h->pack = bytes;
}

/* ---- another process ---- */

static void tell_program(const history *h)
{
    char path[700];

    harness_write_file(path, sizeof path, h->folder, PROGRAM, h->now,
                       sizeof h->now);
}

static void compare_elsewhere(history *h)
{
    const history_options *options = h->options;
    char seed[48], edit[48], without[48], faults[48];
    const char *const words[] = {"--version", h->folder, seed, edit,
                                 without,     faults,    NULL};

    tell_program(h);
    (void)snprintf(seed, sizeof seed, "--seed=%llu",
                   (unsigned long long)options->seed);
    (void)snprintf(edit, sizeof edit, "--edits=%d", h->edit);
    (void)snprintf(without, sizeof without, "--without=%u", options->without);
    (void)snprintf(faults, sizeof faults, "--defects=%u", options->faults);
    if (harness_run_self(words) != 0)
        history_fail(h, "another process does not agree", NULL);
    h->counts->processes++;
}

static void name_folders(history *h, const char *folder)
{
    (void)snprintf(h->folder, sizeof h->folder, "%s", folder);
    (void)snprintf(h->cache, sizeof h->cache, "%s/cache", folder);
    (void)snprintf(h->empty, sizeof h->empty, "%s/empty", folder);
}

static int read_program(history *h)
{
    char path[700];
    FILE *file;
    size_t count = 0;

    (void)snprintf(path, sizeof path, "%s/%s", h->folder, PROGRAM);
    file = fopen(path, "rb");
    if (!file)
        return 0;
    count = fread(h->now, sizeof h->now, 1, file);
    (void)fclose(file);
    return count == 1;
}

int history_run_version(const history_options *options, const char *folder)
{
    history_counts counts = {0};
    history *h = calloc(1, sizeof *h);
    int agreed;

    if (!h)
        abort();
    h->options = options;
    h->counts = &counts;
    h->edit = options->edits;
    h->is_stale = 1;
    name_folders(h, folder);
    history_phase(h, 20);
    if (!read_program(h))
        history_fail(h, "there is no program", NULL);
    else
        compare_fresh(h, KILN_CACHE_MODE_READ_WRITE, h->cache, "a process", 0);
    if (h->plain.context)
        history_close(h, &h->plain);
    agreed = !h->differs;
    free(h);
    return agreed;
}

/* ---- versions ---- */

static void look_from_all_sides(history *h)
{
    history_phase(h, 10);
    history_compare_some(h, &h->living, "living");
    history_phase(h, 11);
    history_compare_held(h);
    history_phase(h, 12);
    if (history_happens(h, HISTORY_DISK, 100))
        compare_fresh(h, KILN_CACHE_MODE_READ_WRITE, h->cache, "fresh", 0);
    history_phase(h, 13);
    if (history_happens(h, HISTORY_PROCESS, 4))
        compare_elsewhere(h);
    history_phase(h, 14);
    if (h->pack.data)
        compare_fresh(h, KILN_CACHE_MODE_READ_ONLY, h->empty, "pack", 1);
    history_phase(h, 15);
    if (!h->is_stale && h->plain.context) {
        const graph_job job = history_any_job(h);

        history_compare(h, &h->plain, "plain", &job);
    }
    history_phase(h, 16);
    if (history_happens(h, HISTORY_PACK, 15))
        take_pack(h);
}

static void run_all(history *h)
{
    h->edit = -1;
    history_make_all(h);
    for (int i = 0; i < HISTORY_HELD_MAX; i++)
        h->held[i].which = -1;
    if (!history_open(h, &h->living, KILN_CACHE_MODE_READ_WRITE, h->cache))
        return;
    history_define_all(h, &h->living);
    h->is_stale = 1;
    for (h->edit = 0; h->edit < h->options->edits && !h->differs; h->edit++) {
        if (h->options->skipped >> h->edit & 1)
            continue;
        history_live(h);
        if (!h->differs)
            look_from_all_sides(h);
        h->counts->versions++;
    }
    history_close(h, &h->living);
    if (h->plain.context)
        history_close(h, &h->plain);
    kiln_blob_release(&h->pack);
}

int history_run(const history_options *options, history_counts *counts)
{
    history *h = calloc(1, sizeof *h);
    void *folder = NULL;
    int agreed;

    if (!h || temporary_folder_setup(&folder) != 0)
        abort();
    h->options = options;
    h->counts = counts;
    name_folders(h, folder);
    run_all(h);
    agreed = !h->differs;
    free(h);
    (void)temporary_folder_teardown(&folder);
    return agreed;
}
