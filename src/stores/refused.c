/* refused.c - what of the cache is not used, for those who look after it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cache_settings.h"
#include "chain.h"
#include "failed.h"
#include "folder_packs.h"
#include "loose_scan.h"

/*
 * Looks at everything as readers do, level by level, and opens none that they
 * would not open. What a process has found out before is not asked for: the
 * answer is that of a process that begins now.
 */

typedef struct looking {
    const kiln__loose *loose;
    int with_entries;
    kiln__refused_see see;
    void *env;
} looking;

static void tell(const looking *l, const char *name, const char *why_not)
{
    char path[KILN__LOOSE_PATH_SIZE];

    kiln__loose_path(path, l->loose, name);
    l->see(l->env, path, why_not);
}

/* ---- files in a folder ---- */

static int ends_in(const char *name, const char *end)
{
    const size_t size = strlen(name), end_size = strlen(end);

    return size > end_size && strcmp(name + size - end_size, end) == 0;
}

/* Those that are used by their names; `level` is the folder's name. */
static void look_at_files(const looking *l, int folder, const char *level,
                          const char *end)
{
    DIR *opened = fdopendir(folder);
    const struct dirent *found;

    if (!opened) {
        (void)close(folder);
        return;
    }
    while ((found = readdir(opened)) != NULL) {
        char name[sizeof found->d_name + 16];
        const char *why_not = NULL;
        struct stat facts;

        if (*found->d_name == '.' || !ends_in(found->d_name, end) ||
            fstatat(folder, found->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        why_not = S_ISREG(facts.st_mode)
                      ? kiln__trust_why_not(&l->loose->options.trust, &facts)
                      : "it is no file";
        (void)snprintf(name, sizeof name, "%s/%s", level, found->d_name);
        if (why_not)
            tell(l, name, why_not);
    }
    (void)closedir(opened);
}

/* ---- folders ---- */

/* A folder below v2, and the files in it whose names end so (NULL: none). */
static void look_at_level(const looking *l, int folder, const char *name,
                          const char *end)
{
    const char *why_not;
    const int level = kiln__loose_level(&why_not, l->loose, folder, name, 0);

    if (why_not)
        tell(l, name, why_not);
    if (level < 0)
        return;
    if (end)
        look_at_files(l, level, name, end);
    else
        (void)close(level);
}

static void look_below(const looking *l, int folder)
{
    for (unsigned i = 0; i < KILN__LOOSE_SHARDS; i++) {
        char name[3];

        (void)snprintf(name, sizeof name, "%02x", i & 0xff);
        look_at_level(l, folder, name, l->with_entries ? ".e" : NULL);
    }
    if (l->loose->options.trust.is_shared)
        return; /* nobody looks for these there */
    look_at_level(l, folder, KILN__FOLDER_PACKS, KILN__FOLDER_PACK_SUFFIX);
    look_at_level(l, folder, KILN__FAILED, NULL);
}

static void look_at_loose(const looking *l)
{
    char path[KILN__LOOSE_PATH_SIZE];
    const char *why_not;
    const int folder = kiln__loose_open(path, &why_not, l->loose, 0);

    if (why_not)
        l->see(l->env, path, why_not);
    if (folder < 0)
        return;
    look_below(l, folder);
    (void)close(folder);
}

/* ---- the way there ---- */

/* Where somebody else may rename what is in a folder; the sticky bit lets only
   the owners do so. */
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
    char *slash = realpath(path, real) ? strrchr(real, '/') : NULL;

    while (slash && slash[1] != '\0') {
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
    looking l = {.with_entries = with_entries, .see = see, .env = env};

    for (const kiln__store_link *link = kiln__chain_first(context); link;
         link = kiln__chain_next(link)) {
        if (link->ops.get != kiln__loose_ops.get)
            continue;
        l.loose = link->self;
        look_at_loose(&l);
    }
    kiln__chain_refused(context, see, env);
}
