/* refused.c - reports which parts of the cache are not used, for tools. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/passing.h"
#include "base/system/reason.h"
#include "context/cache_settings.h"
#include "stores/failed_input.h"
#include "stores/folder_packs.h"
#include "stores/loose/loose_scan.h"
#include "stores/store_chain.h"

/*
 * This looks at everything in the way that readers do, level by level, and
 * opens nothing that they would not open. Earlier findings of this process are
 * ignored: the result is that of a process that starts now.
 */

typedef struct check_walk {
    const kiln__loose *loose;
    int with_entries;
    kiln__refused_see see;
    void *env;
} check_walk;

static void tell(const check_walk *l, const char *name, const char *why_not)
{
    char path[KILN__LOOSE_PATH_SIZE];

    kiln__loose_path(path, l->loose, name);
    l->see(l->env, path, why_not);
}

/* ---- packs ---- */

void kiln__refused_pack(const kiln_alloc *alloc, int file, const char *path,
                        kiln__refused_see see, void *env)
{
    /* The message is "pack PATH: WHY"; only WHY is shown. */
    const size_t begins = strlen("pack : ") + strlen(path);
    kiln_error *error = NULL;
    kiln_pack *pack = NULL;
    const kiln_status status =
        kiln__pack_open_file(&pack, alloc, file, path, &error);

    if (status == KILN_ECORRUPT || status == KILN_EIO)
        see(env, path, kiln_error_message(error) + begins);
    kiln_error_free(error);
    kiln__pack_release(pack);
}

/* Looks at a pack that must belong to this user only. */
static void check_pack(const check_walk *l, int folder, const char *name,
                       const char *path)
{
    const kiln__trust *trust = &l->loose->options.trust;
    const char *why_not;
    struct stat facts;
    const int file =
        kiln__trust_open(&why_not, &facts, trust, folder, name, O_RDONLY);

    if (file >= 0)
        kiln__refused_pack(&l->loose->alloc, file, path, l->see, l->env);
}

/* ---- files in a folder ---- */

static int ends_in(const char *name, const char *end)
{
    const size_t size = strlen(name), end_size = strlen(end);

    return size > end_size && strcmp(name + size - end_size, end) == 0;
}

/* Looks at files that are used because of their names; `level` is the folder's
   name. */
static void check_files(const check_walk *l, int folder, const char *level,
                        const char *end)
{
    DIR *opened = fdopendir(folder);
    const struct dirent *found;

    if (opened == NULL) {
        (void)close(folder);
        return;
    }
    while ((found = readdir(opened)) != NULL) {
        char name[sizeof found->d_name + 16], path[KILN__LOOSE_PATH_SIZE];
        const char *why_not = NULL;
        struct stat facts;

        if (*found->d_name == '.' || !ends_in(found->d_name, end) ||
            fstatat(folder, found->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        why_not = S_ISREG(facts.st_mode)
                      ? kiln__trust_why_not(&l->loose->options.trust, &facts)
                      : "it is no file";
        (void)snprintf(name, sizeof name, "%s/%s", level, found->d_name);
        kiln__loose_path(path, l->loose, name);
        if (why_not != NULL)
            l->see(l->env, path, why_not);
        else if (strcmp(end, KILN__FOLDER_PACK_SUFFIX) == 0)
            check_pack(l, folder, found->d_name, path);
    }
    (void)closedir(opened);
}

/* ---- folders ---- */

/* Looks at a folder below v2, and at the files in it whose names end with `end`
   (NULL: none). */
static void check_level(const check_walk *l, int folder, const char *name,
                        const char *end)
{
    const char *why_not;
    const int level = kiln__loose_level(&why_not, l->loose, folder, name, 0);

    if (why_not != NULL)
        tell(l, name, why_not);
    if (level < 0)
        return;
    if (end != NULL)
        check_files(l, level, name, end);
    else
        (void)close(level);
}

static void check_below(const check_walk *l, int folder)
{
    for (unsigned i = 0; i < KILN__LOOSE_SHARDS; i++) {
        char name[3];

        (void)snprintf(name, sizeof name, "%02x", i & 0xff);
        check_level(l, folder, name, l->with_entries ? ".e" : NULL);
    }
    if (l->loose->options.trust.is_shared)
        return; /* nothing is read from these folders there */
    check_level(l, folder, KILN__FOLDER_PACKS, KILN__FOLDER_PACK_SUFFIX);
    check_level(l, folder, KILN__FAILED, NULL);
}

/* Returns the open folder or -1. With -1, errno is 0 if the reason was
   reported, and ENOENT if there is no folder. */
static int open_loose(const check_walk *l, int makes)
{
    char path[KILN__LOOSE_PATH_SIZE];
    const char *why_not;
    const int folder = kiln__loose_open(path, &why_not, l->loose, makes);
    const int reason = errno;

    if (folder >= 0)
        return folder;
    errno = reason;
    if (why_not == NULL &&
        (kiln__passes(reason) || (reason == ENOENT && !makes)))
        return -1;
    l->see(l->env, path, why_not != NULL ? why_not : kiln__reason_text(reason));
    errno = 0;
    return -1;
}

static void check_loose(const check_walk *l)
{
    const int folder = open_loose(l, 0);

    if (folder < 0)
        return;
    check_below(l, folder);
    (void)close(folder);
}

int kiln__stores_try_folder(kiln_context *context, kiln__refused_see see,
                            void *env)
{
    const check_walk l = {
        .loose = kiln__stores_disk(context), .see = see, .env = env};
    int folder;

    if (l.loose == NULL)
        return 0;
    folder = open_loose(&l, l.loose->options.writes);
    if (folder < 0)
        return errno ? 0 : -1;
    (void)close(folder);
    return 1;
}

/* ---- the path ---- */

/* True if another user may rename what is in the folder. With the sticky bit
   only owners may. */
static int is_open_to_others(const struct stat *facts)
{
    if (facts->st_uid != 0 && facts->st_uid != geteuid())
        return 1;
    return (facts->st_mode & (S_IWGRP | S_IWOTH)) &&
           !(facts->st_mode & S_ISVTX);
}

void kiln__stores_above(const char *path, kiln__refused_see see, void *env)
{
    char real[PATH_MAX];
    char *slash = realpath(path, real) != NULL ? strrchr(real, '/') : NULL;

    while (slash != NULL && slash[1] != '\0') {
        struct stat facts;

        slash[slash == real] = '\0';
        if (stat(real, &facts) == 0 && is_open_to_others(&facts))
            see(env, real, "others may rename what is in it");
        slash = strrchr(real, '/');
    }
}

/* ---- all of them ---- */

void kiln__stores_refused(kiln_context *context, int with_entries,
                          kiln__refused_see see, void *env)
{
    check_walk l = {.with_entries = with_entries, .see = see, .env = env};

    for (const kiln__store_link *link = kiln__chain_first(context);
         link != NULL; link = kiln__chain_next(link)) {
        if (link->ops.get != kiln__loose_ops.get)
            continue;
        l.loose = link->self;
        check_loose(&l);
    }
    kiln__chain_refused(context, see, env);
}
