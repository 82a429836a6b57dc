/* folder_packs.c - the packs in a disk store's own folder. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/folder_packs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/passing.h"
#include "context/log.h"
#include "stores/store_chain.h"

/* A use is noted at most once in this many seconds. */
#define NOTED_S 3600

#define NAME_SIZE sizeof((kiln__folder_pack_file *)0)->name

static int64_t now_s(void)
{
    struct timespec now;

    return clock_gettime(CLOCK_REALTIME, &now) == 0 ? now.tv_sec : 0;
}

/* ---- names ---- */

static int is_pack_name(const char *name)
{
    const size_t suffix = sizeof KILN__FOLDER_PACK_SUFFIX - 1;
    const size_t size = strlen(name);

    return size > suffix && size < NAME_SIZE && *name != '.' &&
           strcmp(name + size - suffix, KILN__FOLDER_PACK_SUFFIX) == 0;
}

/* ---- the folder ---- */

int kiln__folder_packs_open(kiln__loose *loose, int makes)
{
    const int above = kiln__loose_folder(loose, makes);
    const char *why_not;
    int folder, reason;

    if (above < 0)
        return -1;
    folder =
        kiln__loose_level(&why_not, loose, above, KILN__FOLDER_PACKS, makes);
    reason = errno;
    if (why_not != NULL)
        kiln__loose_refuse(loose, KILN__FOLDER_PACKS, why_not);
    errno = reason;
    return folder;
}

kiln_status kiln__folder_pack_open(kiln_pack **out, kiln__loose *loose,
                                   int folder, const char *name,
                                   kiln_error **error)
{
    char level[sizeof KILN__FOLDER_PACKS + NAME_SIZE];
    char path[KILN__LOOSE_PATH_SIZE];
    const char *why_not;
    struct stat facts;
    const int file = kiln__trust_open(&why_not, &facts, &loose->options.trust,
                                      folder, name, O_RDONLY);

    (void)snprintf(level, sizeof level, KILN__FOLDER_PACKS "/%s", name);
    if (file >= 0) {
        kiln__loose_path(path, loose, level);
        return kiln__pack_open_file(out, &loose->alloc, file, path, error);
    }
    if (why_not == NULL && kiln__passes(errno))
        return KILN_EAGAIN;
    if (why_not != NULL)
        kiln__loose_refuse(loose, level, why_not);
    return why_not != NULL || errno == ENOENT
               ? KILN_ENOTFOUND
               : kiln__error_set(error, KILN_EIO, "pack %s: cannot be opened",
                                 level);
}

static int by_use(const void *a, const void *b)
{
    const kiln__folder_pack_file *first = a, *second = b;

    if (first->used_s != second->used_s)
        return first->used_s > second->used_s ? -1 : 1;
    return strcmp(first->name, second->name);
}

static kiln_status add_file(kiln__folder_pack_list *out,
                            const kiln__loose *loose, int folder,
                            const char *name)
{
    kiln__folder_pack_file file;
    struct stat facts;

    if (!is_pack_name(name) ||
        fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(facts.st_mode))
        return KILN_OK;
    (void)snprintf(file.name, sizeof file.name, "%s", name);
    file.used_s = facts.st_mtime;
    file.size = (uint64_t)facts.st_size;
    return kiln__array_push(&loose->alloc, out, file) ? KILN_OK : KILN_ENOMEM;
}

kiln_status kiln__folder_packs_list(kiln__folder_pack_list *out,
                                    kiln__loose *loose)
{
    const int folder = kiln__folder_packs_open(loose, 0);
    DIR *opened = folder < 0 ? NULL : fdopendir(folder);
    kiln_status status = KILN_OK;
    const struct dirent *found;

    if (opened == NULL) {
        status = kiln__passing_status(errno, KILN_OK);
        if (folder >= 0)
            (void)close(folder);
        return status;
    }
    do {
        errno = 0;
        found = readdir(opened);
        status = found != NULL
                     ? add_file(out, loose, dirfd(opened), found->d_name)
                     : kiln__passing_status(errno, KILN_OK);
    } while (status == KILN_OK && found != NULL);
    (void)closedir(opened);
    if (out->count > 1)
        qsort(out->items, out->count, sizeof *out->items, by_use);
    return status;
}

/* ---- bounds ---- */

static int is_too_old(const kiln__loose *loose,
                      const kiln__folder_pack_file *file, int64_t now)
{
    return file->used_s < now &&
           (uint64_t)(now - file->used_s) > loose->options.max_age_s;
}

/* Returns the number of entries; 0 for a pack that cannot be opened. */
static uint64_t entries_of(kiln__loose *loose, int folder, const char *name)
{
    kiln_pack *pack = NULL;
    uint64_t count = 0;

    if (kiln__folder_pack_open(&pack, loose, folder, name, NULL) == KILN_OK)
        count = kiln__pack_count(pack);
    kiln__pack_release(pack);
    return count;
}

/* Drops or keeps the pack, and adds it to the report if there is one. */
static void settle_pack(kiln__loose *loose, int folder,
                        const kiln__folder_pack_file *file, int is_kept,
                        kiln__store_report *report)
{
    const uint64_t entries =
        report != NULL ? entries_of(loose, folder, file->name) : 0;

    if (!is_kept)
        (void)unlinkat(folder, file->name, 0);
    if (report != NULL && is_kept) {
        report->entries += entries;
        report->bytes += file->size;
    } else if (report != NULL) {
        report->evicted += entries;
        report->evicted_bytes += file->size;
    }
}

/* Drops packs beyond the bounds, from the list too. `report` may be NULL. */
static void evict(kiln__folder_pack_list *list, kiln__loose *loose,
                  uint64_t max_size, kiln__store_report *report)
{
    const int folder = kiln__folder_packs_open(loose, 0);
    const int64_t now = now_s();
    uint64_t size = 0;
    size_t kept = 0;

    if (folder < 0)
        return;
    for (size_t i = 0; i < list->count; i++) {
        const kiln__folder_pack_file file = list->items[i];
        const int is_kept =
            file.size <= max_size - size && !is_too_old(loose, &file, now);

        settle_pack(loose, folder, &file, is_kept, report);
        if (!is_kept)
            continue;
        size += file.size;
        list->items[kept++] = file;
    }
    list->count = kept;
    (void)close(folder);
}

static void evict_all(kiln__loose *loose, uint64_t max_size,
                      kiln__store_report *report)
{
    kiln__folder_pack_list list = {0};

    if (loose->options.writes &&
        kiln__folder_packs_list(&list, loose) == KILN_OK)
        evict(&list, loose, max_size, report);
    kiln__array_dispose(&loose->alloc, &list);
}

void kiln__folder_packs_prune(kiln__loose *loose, kiln__store_report *report)
{
    const uint64_t size = loose->options.max_size;

    evict_all(loose, size > report->bytes ? size - report->bytes : 0, report);
}

void kiln__folder_packs_clear(kiln__loose *loose, kiln__store_report *report)
{
    const int folder = kiln__loose_folder(loose, 0);

    evict_all(loose, 0, report);
    if (folder >= 0)
        (void)unlinkat(folder, KILN__FOLDER_PACKS, AT_REMOVEDIR);
}

/* ---- as stores ---- */

/* A pack and where it is; the `self` of its store. */
typedef struct folder_pack {
    kiln_alloc alloc;
    kiln_pack *pack;
    int writes;
    atomic_llong noted_s;
} folder_pack;

static void note_use(folder_pack *of)
{
    const int64_t now = now_s();
    long long noted = atomic_load(&of->noted_s);

    if (of->writes && (now - noted >= NOTED_S || noted - now >= NOTED_S) &&
        atomic_compare_exchange_strong(&of->noted_s, &noted, now))
        kiln__pack_note_use(of->pack);
}

static kiln_status find_in_packs(kiln__stored *out, kiln__entry_fault *fault,
                                 void *self, const kiln_key *key)
{
    folder_pack *of = self;
    const kiln_status status = kiln__pack_store_find(out, fault, of->pack, key);

    if (status == KILN_OK)
        note_use(of);
    return status;
}

static kiln_status get(void *self, const kiln_key *key, kiln_blob *out,
                       kiln_error **error)
{
    const folder_pack *of = self;

    return kiln__pack_store_ops.get(of->pack, key, out, error);
}

static kiln_status put(void *self, const kiln_key *key, const void *bytes,
                       size_t size, kiln_error **error)
{
    const folder_pack *of = self;

    return kiln__pack_store_ops.put(of->pack, key, bytes, size, error);
}

static void end(void *self)
{
    folder_pack *of = self;
    const kiln_alloc alloc = of->alloc;

    kiln__pack_release(of->pack);
    kiln__deallocate(&alloc, of, sizeof *of);
}

static const kiln_store_ops ops = {
    .size = sizeof ops,
    .name = "disk pack",
    .get = get,
    .put = put,
    .free = end,
};

static kiln_status open_one(folder_pack **out, kiln__loose *loose, int folder,
                            const kiln__folder_pack_file *file)
{
    folder_pack *made = kiln__allocate(&loose->alloc, sizeof *made);
    kiln_error *error = NULL;
    kiln_status status = KILN_ENOMEM;
    int is_dropped;

    if (made != NULL)
        status = kiln__folder_pack_open(&made->pack, loose, folder, file->name,
                                        &error);
    /* A damaged pack is dropped, as a rejected entry is. */
    is_dropped = status == KILN_ECORRUPT && loose->options.writes &&
                 unlinkat(folder, file->name, 0) == 0;
    if (error != NULL && status != KILN_ENOMEM)
        kiln__log(loose->context, KILN_LOG_WARNING,
                  "cache: a pack is left out%s: %s",
                  is_dropped ? ", and dropped" : "", kiln_error_message(error));
    kiln_error_free(error);
    if (status != KILN_OK) {
        kiln__deallocate(&loose->alloc, made, sizeof *made);
        return status;
    }
    made->alloc = loose->alloc;
    made->writes = loose->options.writes;
    atomic_init(&made->noted_s, file->used_s);
    *out = made;
    return KILN_OK;
}

static kiln_status add_one(kiln_context *context, folder_pack *opened)
{
    const kiln__store_source source = {.ops = &ops,
                                       .self = opened,
                                       .find = find_in_packs,
                                       .priority = KILN_STORE_DISK,
                                       .pack = opened->pack};

    return kiln__chain_add(context, &source);
}

typedef kiln__array_of(folder_pack *) folder_pack_array;

/* Opens all packs of the list, except those that are not used. */
static kiln_status open_all(folder_pack_array *out, kiln__loose *loose,
                            int folder, const kiln__folder_pack_list *list)
{
    kiln_status status = KILN_OK;

    for (size_t i = 0; i < list->count && status == KILN_OK; i++) {
        folder_pack *opened = NULL;

        status = open_one(&opened, loose, folder, &list->items[i]);
        if (status == KILN_OK &&
            !kiln__array_push(&loose->alloc, out, opened)) {
            end(opened);
            status = KILN_ENOMEM;
        }
        if (status != KILN_EAGAIN && status != KILN_ENOMEM)
            status = KILN_OK;
    }
    return status;
}

/* Adds all of the list or none, because a later try lists all again. A pack
   whose link gets no memory is closed. */
static kiln_status add_all(kiln_context *context, kiln__loose *loose,
                           int folder, const kiln__folder_pack_list *list)
{
    folder_pack_array opened = {0};
    kiln_status status = open_all(&opened, loose, folder, list);

    for (size_t i = 0; i < opened.count; i++)
        if (status != KILN_OK || add_one(context, opened.items[i]) != KILN_OK)
            end(opened.items[i]);
    kiln__array_dispose(&loose->alloc, &opened);
    return status;
}

int kiln__folder_packs_add(kiln_context *context, kiln__loose *loose)
{
    kiln__folder_pack_list list = {0};
    kiln_status status = kiln__folder_packs_list(&list, loose);
    int folder = -1;

    if (status == KILN_OK && list.count > 0) {
        folder = kiln__folder_packs_open(loose, 0);
        if (folder < 0)
            status = kiln__passing_status(errno, KILN_OK);
    }
    if (folder >= 0) {
        if (loose->options.writes)
            evict(&list, loose, loose->options.max_size, NULL);
        status = add_all(context, loose, folder, &list);
        (void)close(folder);
    }
    kiln__array_dispose(&loose->alloc, &list);
    return status == KILN_OK;
}
