/* compact.c - moves loose entries that are not in use into packs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/digest/digest.h"
#include "base/error.h"
#include "base/system/reason.h"
#include "base/system/temp_dir.h"
#include "context/cache_settings.h"
#include "stores/folder_packs.h"
#include "stores/store_chain.h"

/*
 * Entries are read, checked, and written into a new pack. The pack is read back
 * completely before any file is dropped; if it is damaged, it is removed. So at
 * each moment every entry is in a file that can be read. If two processes
 * compact at once, entries are left twice; the next compaction removes the
 * duplicates. Damaged entries of packs are left out.
 *
 * A loose entry is dropped only if it is still the file that was read.
 * Processes that opened the cache earlier do not know the new pack: they build
 * again what they miss.
 */

/* A pack of this size can be held in memory, and read back in a second. */
#define PACK_SIZE ((uint64_t)256 << 20)
#define ROUNDS 256u

typedef struct moved {
    kiln_digest digest;
    uint64_t identity[2];
    uint64_t disk_size;
} moved;

typedef struct compaction {
    kiln__loose *loose;
    int folder; /* the folder of the packs */
    kiln__pack_writer *writer;
    kiln__array_of(moved) moved;
    kiln__folder_pack_list merged;
    uint64_t bytes;
    size_t damaged;   /* entries of packs that were left out */
    int64_t before_s; /* entries used since then stay */
    int is_full;
    kiln_status status;
    kiln_error **error;
    kiln__store_report *report;
} compaction;

/* ---- collecting ---- */

/* Notes about this machine stay loose, because they change and are read at each
   start. */
static int may_rest(const kiln__entry *entry)
{
    return entry->kind != KILN__ENTRY_TOOLCHAIN;
}

static kiln_status take_stored(compaction *c, kiln__stored *stored,
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
        c->status = take_stored(c, &stored, item);
    kiln__stored_release(&stored);
    return c->status == KILN_OK && !c->is_full;
}

static kiln_status merge(compaction *c, const kiln__folder_pack_file *file)
{
    kiln_pack *pack = NULL;
    kiln_status status =
        kiln__folder_pack_open(&pack, c->loose, c->folder, file->name, NULL);

    if (status != KILN_OK)
        return KILN_OK; /* the next process that opens the pack drops it */
    status = kiln__pack_writer_add_pack(c->writer, pack, &c->damaged, c->error);
    kiln__pack_release(pack); /* the writer holds the entries that it took */
    if (status == KILN_OK &&
        !kiln__array_push(&c->loose->alloc, &c->merged, *file))
        status = kiln__error_no_memory(c->error);
    return status;
}

/* Adds packs that are still small, as far as there is room. */
static kiln_status merge_small(compaction *c)
{
    kiln__folder_pack_list list = {0};
    kiln_status status = kiln__folder_packs_list(&list, c->loose);

    if (status == KILN_ENOMEM)
        (void)kiln__error_no_memory(c->error);
    else if (status != KILN_OK)
        kiln__error_set(c->error, status, "its packs cannot be listed now");
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

/* The name is unique among all processes. */
static kiln_status write_checked(const compaction *c)
{
    char random[KILN__RANDOM_NAME_SIZE];
    char name[sizeof random + sizeof KILN__FOLDER_PACK_SUFFIX];
    kiln_pack *pack = NULL;
    kiln_status status;

    if (!kiln__random_name(random))
        return kiln__error_set(c->error, KILN_EIO,
                               "the system has no random bits yet");
    (void)snprintf(name, sizeof name, "%s" KILN__FOLDER_PACK_SUFFIX, random);
    KILN_TRY(kiln__pack_writer_to_folder(c->writer, c->folder, name, c->error));
    status = kiln__folder_pack_open(&pack, c->loose, c->folder, name, c->error);
    if (status == KILN_EAGAIN)
        status = kiln__error_set(c->error, KILN_EIO,
                                 "pack %s: cannot be opened now", name);
    if (status == KILN_OK)
        status = kiln__pack_verify(pack, c->error);
    if (status == KILN_OK) {
        c->report->entries += kiln__pack_count(pack);
        c->report->bytes += kiln__pack_size(pack);
    }
    kiln__pack_release(pack);
    if (status != KILN_OK)
        (void)unlinkat(c->folder, name, 0);
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
    for (size_t i = 0; i < c->merged.count; i++)
        (void)unlinkat(c->folder, c->merged.items[i].name, 0);
}

/* Makes one pack. */
static kiln_status compact_once(compaction *c)
{
    kiln_status status = kiln__loose_each(c->loose, see_loose, c);

    if (status == KILN_OK)
        status = c->status;
    if (status == KILN_OK)
        status = merge_small(c);
    if (status != KILN_OK ||
        (c->moved.count == 0 && c->merged.count < 2 && c->damaged == 0))
        return status;
    status = write_checked(c);
    if (status == KILN_OK)
        drop_moved(c);
    return status;
}

static kiln_status compact_some(const compaction *plan, int *is_full)
{
    compaction c = *plan;
    kiln_status status = kiln__pack_writer_new(&c.writer, &c.loose->alloc);

    if (status == KILN_OK)
        status = compact_once(&c);
    else
        (void)kiln__error_no_memory(c.error);
    *is_full = c.is_full;
    kiln__pack_writer_free(c.writer);
    kiln__array_dispose(&c.loose->alloc, &c.moved);
    kiln__array_dispose(&c.loose->alloc, &c.merged);
    return status;
}

/* Entries whose last use is at most this stay no longer. No span means all of
   them: a file's time can lie ahead of the clock, even on one machine, because
   the two are not rounded alike. */
static int64_t latest_use(uint64_t unused_s)
{
    struct timespec now;

    if (unused_s == 0)
        return INT64_MAX;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0 ||
        unused_s > (uint64_t)now.tv_sec)
        return 0;
    return now.tv_sec - (int64_t)unused_s;
}

kiln_status kiln__stores_compact(kiln_context *context, uint64_t unused_s,
                                 kiln__store_report *report, kiln_error **error)
{
    compaction plan = {.report = report, .error = error};
    kiln_status status = KILN_OK;
    unsigned rounds = 0;
    int is_full = 1;

    *report = (kiln__store_report){0};
    plan.loose =
        kiln__chain_first(context) != NULL ? context->stores->disk : NULL;
    plan.before_s = latest_use(unused_s);
    if (plan.loose == NULL)
        return KILN_OK;
    if (!plan.loose->options.writes)
        return kiln__error_set(error, KILN_EREADONLY,
                               "the cache in %s is not written",
                               plan.loose->directory);
    plan.folder = kiln__folder_packs_open(plan.loose, 1);
    if (plan.folder < 0)
        return kiln__error_set(error, KILN_EIO,
                               "no packs can be written in %s: %s",
                               plan.loose->directory, kiln__reason_text(errno));
    /* The limit is for entries that cannot be dropped: they would be moved
       again and again. */
    while (status == KILN_OK && is_full && rounds++ < ROUNDS)
        status = compact_some(&plan, &is_full);
    (void)close(plan.folder);
    return status;
}
