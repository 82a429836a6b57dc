/* folder_packs.c - the packs in a disk store's own folder. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "folder_packs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "chain.h"
#include "log.h"

/* A use is noted at most so often. */
#define NOTED_S 3600

static int64_t now_s(void)
{
    struct timespec now;

    return clock_gettime(CLOCK_REALTIME, &now) == 0 ? now.tv_sec : 0;
}

/* ---- names ---- */

char *kiln__folder_pack_path(const kiln__loose *loose, const char *name)
{
    const char *space = loose->name_space ? loose->name_space : "";
    const size_t size =
        strlen(loose->directory) + strlen(space) + (name ? strlen(name) : 0) +
        sizeof "//" KILN__LOOSE_FORMAT "/" KILN__FOLDER_PACKS "/";
    char *path = kiln__allocate(&loose->alloc, size);

    if (path)
        (void)snprintf(path, size,
                       "%s%s%s/" KILN__LOOSE_FORMAT "/" KILN__FOLDER_PACKS
                       "%s%s",
                       loose->directory, *space ? "/" : "", space,
                       name ? "/" : "", name ? name : "");
    return path;
}

static int is_pack_name(const char *name)
{
    const size_t suffix = sizeof KILN__FOLDER_PACK_SUFFIX - 1;
    const size_t size = strlen(name);

    return size > suffix && size < sizeof((kiln__folder_pack_file *)0)->name &&
           *name != '.' &&
           strcmp(name + size - suffix, KILN__FOLDER_PACK_SUFFIX) == 0;
}

/* ---- the folder ---- */

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)

/* What holds for the folders above it holds here. */
static int open_folder(kiln__loose *loose)
{
    const int above = kiln__loose_folder(loose, 0);
    const int folder =
        above < 0 ? -1 : openat(above, KILN__FOLDER_PACKS, FOLDER_FLAGS);
    struct stat facts;

    if (folder < 0)
        return -1;
    if (fstat(folder, &facts) == 0 && facts.st_uid == geteuid() &&
        !(facts.st_mode & (S_IWGRP | S_IWOTH)))
        return folder;
    kiln__loose_warn(loose, "does not use the packs in", loose->directory,
                     "others may write there");
    (void)close(folder);
    return -1;
}

int kiln__folder_packs_make(kiln__loose *loose)
{
    const int above = kiln__loose_folder(loose, 1);

    if (above < 0)
        return ENOENT;
    return mkdirat(above, KILN__FOLDER_PACKS, 0700) == 0 || errno == EEXIST
               ? 0
               : errno;
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
    const int folder = open_folder(loose);
    DIR *opened = folder < 0 ? NULL : fdopendir(folder);
    kiln_status status = KILN_OK;
    const struct dirent *found;

    if (!opened) {
        if (folder >= 0)
            (void)close(folder);
        return KILN_OK;
    }
    while (status == KILN_OK && (found = readdir(opened)))
        status = add_file(out, loose, dirfd(opened), found->d_name);
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

/* Of a pack that cannot be opened: none. */
static uint64_t entries_of(const kiln__loose *loose, const char *path)
{
    kiln_pack *pack = NULL;
    uint64_t count = 0;

    if (kiln__pack_open(&pack, &loose->alloc, path, NULL) == KILN_OK)
        count = kiln__pack_count(pack);
    kiln__pack_release(pack);
    return count;
}

/* Drops it, or keeps it, and says so to who wants to know. */
static void settle(const kiln__loose *loose, const kiln__folder_pack_file *file,
                   int is_kept, kiln__store_report *report)
{
    char *path = kiln__folder_pack_path(loose, file->name);
    const uint64_t entries = path && report ? entries_of(loose, path) : 0;

    if (path && !is_kept)
        (void)unlink(path);
    kiln__string_free(&loose->alloc, path);
    if (report && is_kept) {
        report->entries += entries;
        report->bytes += file->size;
    } else if (report) {
        report->evicted += entries;
        report->evicted_bytes += file->size;
    }
}

/* Drops what is beyond the bounds from the list, too. `report` may be NULL. */
static void evict(kiln__folder_pack_list *list, const kiln__loose *loose,
                  uint64_t max_size, kiln__store_report *report)
{
    const int64_t now = now_s();
    uint64_t size = 0;
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        const kiln__folder_pack_file file = list->items[i];
        const int is_kept =
            file.size <= max_size - size && !is_too_old(loose, &file, now);

        settle(loose, &file, is_kept, report);
        if (!is_kept)
            continue;
        size += file.size;
        list->items[kept++] = file;
    }
    list->count = kept;
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

/* A pack, and where it lies; stands for it in the order of stores. */
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
        (void)utimensat(AT_FDCWD, kiln__pack_name(of->pack), NULL, 0);
}

static kiln_status find(kiln__stored *out, kiln__entry_fault *fault, void *self,
                        const kiln_key *key)
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

static kiln_status open_one(folder_pack **out, const kiln__loose *loose,
                            const kiln__folder_pack_file *file)
{
    char *path = kiln__folder_pack_path(loose, file->name);
    folder_pack *made = kiln__allocate(&loose->alloc, sizeof *made);
    kiln_error *error = NULL;
    kiln_status status = KILN_ENOMEM;

    if (path && made)
        status = kiln__pack_open(&made->pack, &loose->alloc, path, &error);
    if (error && status != KILN_ENOTFOUND)
        kiln__log(loose->context, KILN_LOG_WARNING,
                  "cache: a pack is left out: %s", kiln_error_message(error));
    kiln_error_free(error);
    if (status == KILN_ECORRUPT && loose->options.writes)
        (void)unlink(path); /* like an entry that is not believed */
    kiln__string_free(&loose->alloc, path);
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

static void add_one(kiln_context *context, const kiln__loose *loose,
                    const kiln__folder_pack_file *file)
{
    kiln__store_source source = {
        .ops = &ops, .find = find, .priority = KILN_STORE_DISK};
    folder_pack *opened = NULL;

    if (open_one(&opened, loose, file) != KILN_OK)
        return;
    source.self = opened;
    source.pack = opened->pack;
    if (kiln__chain_add(context, &source) != KILN_OK)
        end(opened);
}

void kiln__folder_packs_add(kiln_context *context, kiln__loose *loose)
{
    kiln__folder_pack_list list = {0};

    if (kiln__folder_packs_list(&list, loose) == KILN_OK) {
        if (loose->options.writes)
            evict(&list, loose, loose->options.max_size, NULL);
        for (size_t i = 0; i < list.count; i++)
            add_one(context, loose, &list.items[i]);
    }
    kiln__array_dispose(&loose->alloc, &list);
}
