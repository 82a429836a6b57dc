/* compact.c - loose entries that rest go into packs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "cache_settings.h"
#include "chain.h"
#include "folder_packs.h"
#include "hasher.h"
#include "report.h"

/*
 * Entries are read and checked, written into a pack of another name, and that
 * is read back as a whole before it counts and before any file goes. So at
 * each moment every entry is in a file that can be read; two processes that do
 * this at once leave entries twice, which the next time makes one again.
 * Damaged entries of packs do not come along.
 *
 * A loose entry goes only if it is still the file that was read. Processes
 * that opened the cache before do not know the new pack: what they miss, they
 * make again.
 */

/* A pack of a size that can be held in memory, and read back in a second. */
#define PACK_SIZE ((uint64_t)256 << 20)
#define ROUNDS 256u

typedef struct moved {
    kiln_digest digest;
    uint64_t identity[2];
    uint64_t disk_size;
} moved;

typedef struct compaction {
    kiln__loose *loose;
    kiln__pack_writer *writer;
    kiln__array_of(moved) moved;
    kiln__folder_pack_list merged;
    uint64_t bytes;
    size_t damaged;   /* entries of packs that were left out */
    int64_t before_s; /* used last before that */
    int is_full;
    kiln_status status;
    kiln_error **error;
    kiln__store_report *report;
} compaction;

/* ---- collecting ---- */

/* Notes about this machine change, and are read at each start. */
static int may_rest(const kiln__entry *entry)
{
    return entry->kind != KILN__ENTRY_TOOLCHAIN;
}

static kiln_status take(compaction *c, kiln__stored *stored,
                        const kiln__store_item *item)
{
    const size_t size = stored->bytes.size;
    const moved one = {item->digest,
                       {stored->identity[0], stored->identity[1]},
                       item->disk_size};

    KILN_TRY(kiln__pack_writer_add(c->writer, &stored->bytes, c->error));
    if (!kiln__array_push(&c->loose->alloc, &c->moved, one))
        return kiln__error_no_memory(c->error);
    c->bytes += size;
    c->is_full = c->bytes >= PACK_SIZE;
    return KILN_OK;
}

static int see_loose(void *env, const kiln__store_item *item)
{
    compaction *c = env;
    kiln__entry_fault fault;
    kiln__stored stored;

    if (item->used_s > c->before_s)
        return 1;
    if (kiln__loose_peek(&stored, &fault, c->loose, item->digest) == KILN_OK &&
        may_rest(&stored.entry))
        c->status = take(c, &stored, item);
    kiln__stored_release(&stored);
    return c->status == KILN_OK && !c->is_full;
}

static kiln_status merge(compaction *c, const kiln__folder_pack_file *file)
{
    char *path = kiln__folder_pack_path(c->loose, file->name);
    kiln_pack *pack = NULL;
    kiln_status status;

    if (!path)
        return kiln__error_no_memory(c->error);
    status = kiln__pack_open(&pack, &c->loose->alloc, path, NULL);
    kiln__string_free(&c->loose->alloc, path);
    if (status != KILN_OK)
        return KILN_OK; /* the next process that opens it drops it */
    status = kiln__pack_writer_add_pack(c->writer, pack, &c->damaged, c->error);
    kiln__pack_release(pack); /* the writer holds what it has of it */
    if (status == KILN_OK &&
        !kiln__array_push(&c->loose->alloc, &c->merged, *file))
        status = kiln__error_no_memory(c->error);
    return status;
}

/* Packs that are not large yet, as far as there is room. */
static kiln_status merge_small(compaction *c)
{
    kiln__folder_pack_list list = {0};
    kiln_status status = kiln__folder_packs_list(&list, c->loose);

    if (status != KILN_OK)
        (void)kiln__error_no_memory(c->error);
    for (size_t i = 0; i < list.count && status == KILN_OK; i++) {
        if (c->bytes + list.items[i].size > PACK_SIZE)
            continue;
        c->bytes += list.items[i].size;
        status = merge(c, &list.items[i]);
    }
    kiln__array_dispose(&c->loose->alloc, &list);
    return status;
}

/* ---- writing ---- */

static char *new_path(const kiln__loose *loose)
{
    char name[sizeof((kiln__folder_pack_file *)0)->name];
    kiln_digest random;
    char text[KILN_DIGEST_TEXT_SIZE];

    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return NULL;
    kiln_digest_text(random, text);
    (void)snprintf(name, sizeof name, "%s" KILN__FOLDER_PACK_SUFFIX, text);
    return kiln__folder_pack_path(loose, name);
}

static kiln_status write_checked(const compaction *c, const char *path)
{
    kiln_pack *pack = NULL;
    kiln_status status;

    KILN_TRY(kiln__pack_writer_to_file(c->writer, path, c->error));
    status = kiln__pack_open(&pack, &c->loose->alloc, path, c->error);
    if (status == KILN_OK)
        status = kiln__pack_verify(pack, c->error);
    if (status == KILN_OK) {
        c->report->entries += kiln__pack_count(pack);
        c->report->bytes += kiln__pack_size(pack);
    }
    kiln__pack_release(pack);
    if (status != KILN_OK)
        (void)unlink(path);
    return status;
}

static void drop_moved(const compaction *c)
{
    for (size_t i = 0; i < c->moved.count; i++) {
        kiln__loose_drop(c->loose, c->moved.items[i].digest,
                         c->moved.items[i].identity);
        c->report->evicted_bytes += c->moved.items[i].disk_size;
    }
    c->report->evicted += c->moved.count;
    for (size_t i = 0; i < c->merged.count; i++) {
        char *path = kiln__folder_pack_path(c->loose, c->merged.items[i].name);

        if (path)
            (void)unlink(path);
        kiln__string_free(&c->loose->alloc, path);
    }
}

/* One pack's worth. */
static kiln_status compact_once(compaction *c)
{
    kiln_status status = kiln__loose_each(c->loose, see_loose, c);
    char *path;

    if (status == KILN_OK)
        status = c->status;
    if (status == KILN_OK)
        status = merge_small(c);
    if (status != KILN_OK ||
        (c->moved.count == 0 && c->merged.count < 2 && c->damaged == 0))
        return status;
    path = new_path(c->loose);
    if (!path)
        return kiln__error_no_memory(c->error);
    status = write_checked(c, path);
    kiln__string_free(&c->loose->alloc, path);
    if (status == KILN_OK)
        drop_moved(c);
    return status;
}

static kiln_status compact_some(kiln__loose *loose, int64_t before_s,
                                int *is_full, kiln__store_report *report,
                                kiln_error **error)
{
    compaction c = {
        .loose = loose, .before_s = before_s, .report = report, .error = error};
    kiln_status status = kiln__pack_writer_new(&c.writer, &loose->alloc);

    if (status == KILN_OK)
        status = compact_once(&c);
    else
        (void)kiln__error_no_memory(error);
    *is_full = c.is_full;
    kiln__pack_writer_free(c.writer);
    kiln__array_dispose(&loose->alloc, &c.moved);
    kiln__array_dispose(&loose->alloc, &c.merged);
    return status;
}

kiln_status kiln__stores_compact(kiln_context *context, uint64_t unused_s,
                                 kiln__store_report *report, kiln_error **error)
{
    kiln__loose *loose =
        kiln__chain_first(context) ? context->stores->disk : NULL;
    const int64_t now = (int64_t)time(NULL);
    int is_full = 1, reason;
    unsigned rounds = 0;

    *report = (kiln__store_report){0};
    if (!loose)
        return KILN_OK;
    if (!loose->options.writes)
        return kiln__error_set(error, KILN_EREADONLY,
                               "the cache in %s is not written",
                               loose->directory);
    reason = kiln__folder_packs_make(loose);
    if (reason != 0)
        return kiln__error_set(error, KILN_EIO,
                               "no packs can be written in %s: %s",
                               loose->directory, strerrordesc_np(reason));
    /* What cannot be dropped would be moved again and again. */
    while (is_full && rounds++ < ROUNDS)
        KILN_TRY(compact_some(
            loose, unused_s > (uint64_t)now ? 0 : now - (int64_t)unused_s,
            &is_full, report, error));
    return KILN_OK;
}
