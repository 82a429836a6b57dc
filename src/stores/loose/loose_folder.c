/* loose_folder.c - opens and checks the folders of loose entries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/system/passing.h"
#include "base/system/reason.h"
#include "context/log.h"
#include "stores/loose/loose.h"

/*
 * The folder v2 is opened once, and everything below it is reached through that
 * descriptor. A child of fork() may share it, because nothing seeks in it. The
 * path to v2 may contain links; nothing below v2 may be a link.
 *
 * Each level is checked when it is opened (trust.h): the folder, that of the
 * name space, and v2 once; the 256 folders, packs and failed inputs each time.
 * A level that must not be used is left unchanged, with everything in it.
 *
 * A folder may be removed while it is open (`rm -rf`), and be made again. A
 * writer notices that and opens it anew. Other threads may still use the old
 * descriptor, so it is closed only at the end; the number of such descriptors
 * is bounded. The host may also close the descriptor (kept.h), so it is checked
 * at each use.
 */

#define RETIRED_MAX 8

/* ---- what is not used ---- */

void kiln__loose_path(char path[KILN__LOOSE_PATH_SIZE],
                      const kiln__loose *loose, const char *name)
{
    const char *space = loose->name_space;

    (void)snprintf(path, KILN__LOOSE_PATH_SIZE,
                   "%s%s%s/" KILN__LOOSE_FORMAT "%s%s", loose->directory,
                   space != NULL ? "/" : "", space != NULL ? space : "",
                   name != NULL ? "/" : "", name != NULL ? name : "");
}

static void refuse_folder(kiln__loose *loose, const char *path,
                          const char *why_not)
{
    if (!atomic_exchange(&loose->is_refused, 1))
        kiln__log(loose->context, KILN_LOG_WARNING,
                  "cache: does not use %s: %s", path, why_not);
}

void kiln__loose_refuse(kiln__loose *loose, const char *name,
                        const char *why_not)
{
    char path[KILN__LOOSE_PATH_SIZE];

    kiln__loose_path(path, loose, name);
    refuse_folder(loose, path, why_not);
}

/* ---- levels ---- */

static int open_level(const char **why_not, const kiln__loose *loose,
                      int folder, const char *name, int flags, int makes)
{
    const kiln__trust *trust = &loose->options.trust;
    struct stat facts;
    int level = kiln__trust_open(why_not, &facts, trust, folder, name,
                                 flags | O_DIRECTORY);

    if (level < 0 && errno == ENOENT && makes &&
        (mkdirat(folder, name, 0700) == 0 || errno == EEXIST))
        level = kiln__trust_open(why_not, &facts, trust, folder, name,
                                 flags | O_DIRECTORY);
    return level;
}

int kiln__loose_level(const char **why_not, const kiln__loose *loose,
                      int folder, const char *name, int makes)
{
    return open_level(why_not, loose, folder, name, O_RDONLY, makes);
}

int kiln__loose_shard(const char **why_not, kiln__loose *loose, int folder,
                      const char *name, int makes)
{
    const char shard_name[] = {name[0], name[1], '\0'};
    const int shard =
        open_level(why_not, loose, folder, shard_name, O_PATH, makes);
    const int reason = errno;

    if (*why_not != NULL)
        kiln__loose_refuse(loose, shard_name, *why_not);
    errno = reason;
    return shard;
}

/* ---- opening ---- */

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY)

static int open_top(const char **why_not, const kiln__loose *loose, int makes)
{
    const kiln__trust *trust = &loose->options.trust;
    const int folder = kiln__trust_open_path(why_not, trust, loose->directory,
                                             FOLDER_FLAGS, makes);
    struct stat facts;

    if (folder < 0)
        return -1;
    if (fstat(folder, &facts) == 0) {
        *why_not = kiln__trust_why_not(trust, &facts);
        if (!*why_not)
            return folder;
    }
    (void)close(folder);
    return -1;
}

/* Opens `name` below the folder, which is then closed. Returns a descriptor, or
   -1 with errno. */
static int enter_folder(const char **why_not, const kiln__loose *loose,
                        int folder, const char *name, int makes)
{
    const int level = kiln__loose_level(why_not, loose, folder, name, makes);
    const int reason = errno;

    (void)close(folder);
    errno = reason;
    return level;
}

int kiln__loose_open(char path[KILN__LOOSE_PATH_SIZE], const char **why_not,
                     const kiln__loose *loose, int makes)
{
    const char *const levels[] = {loose->name_space, KILN__LOOSE_FORMAT};
    int folder = open_top(why_not, loose, makes);
    size_t size =
        (size_t)snprintf(path, KILN__LOOSE_PATH_SIZE, "%s", loose->directory);

    for (size_t i = 0; i < 2 && folder >= 0; i++) {
        if (levels[i] == NULL)
            continue;
        folder = enter_folder(why_not, loose, folder, levels[i], makes);
        if (size < KILN__LOOSE_PATH_SIZE)
            size += (size_t)snprintf(path + size, KILN__LOOSE_PATH_SIZE - size,
                                     "/%s", levels[i]);
    }
    return folder;
}

enum { UNOPENED = -1, REFUSED = -2 };

/* Returns a descriptor or one of these. */
static int open_folder(kiln__loose *loose, int makes)
{
    char path[KILN__LOOSE_PATH_SIZE];
    const char *why_not;
    const int folder = kiln__loose_open(path, &why_not, loose, makes);
    const int reason = errno;

    if (folder >= 0)
        return folder;
    if (why_not == NULL &&
        (reason == ENOENT || reason == ESTALE || kiln__passes(reason)))
        return UNOPENED;
    refuse_folder(loose, path,
                  why_not != NULL ? why_not : kiln__reason_text(reason));
    if (why_not != NULL)
        return REFUSED;
    if (makes)
        kiln__loose_rest(loose);
    return UNOPENED;
}

/* ---- keeping it open ---- */

/* Stands for a folder that must not be used. */
static kiln__loose_place refused = {.kept.number = -1};

static void place_free(kiln__loose *loose, kiln__loose_place *place)
{
    if (place == NULL || place == &refused)
        return;
    if (!place->is_lost)
        kiln__kept_close(&place->kept);
    kiln__deallocate(&loose->alloc, place, sizeof *place);
}

/* NULL: there is none now. */
static kiln__loose_place *place_new(kiln__loose *loose, int makes)
{
    const int folder = open_folder(loose, makes);
    kiln__loose_place *place;

    if (folder < 0)
        return folder == REFUSED ? &refused : NULL;
    place = kiln__allocate(&loose->alloc, sizeof *place);
    if (place == NULL) {
        (void)close(folder);
        errno = ENOMEM;
        return NULL;
    }
    place->kept = kiln__kept_of(folder);
    if (place->kept.number >= 0)
        return place;
    kiln__deallocate(&loose->alloc, place, sizeof *place);
    return NULL;
}

/* Other threads may still use the place, so it lives until the store ends. */
static void retire(kiln__loose *loose, kiln__loose_place *place, int is_lost)
{
    kiln__loose_place *expected = place;

    if (!is_lost && atomic_load(&loose->retired_count) >= RETIRED_MAX)
        return;
    if (!atomic_compare_exchange_strong(&loose->folder, &expected, NULL))
        return;
    if (!is_lost)
        atomic_fetch_add(&loose->retired_count, 1);
    place->is_lost = is_lost;
    place->next = atomic_load(&loose->retired);
    while (!atomic_compare_exchange_weak(&loose->retired, &place->next, place))
        continue;
}

static kiln__loose_place *open_place(kiln__loose *loose, int makes)
{
    kiln__loose_place *place = place_new(loose, makes);
    kiln__loose_place *expected = NULL;

    if (place == NULL ||
        atomic_compare_exchange_strong(&loose->folder, &expected, place))
        return place;
    place_free(loose, place);
    return expected;
}

int kiln__loose_folder(kiln__loose *loose, int make)
{
    kiln__loose_place *place =
        atomic_load_explicit(&loose->folder, memory_order_acquire);

    if (place != NULL && place != &refused &&
        !kiln__kept_is_ours(&place->kept)) {
        retire(loose, place, 1);
        place = NULL;
    }
    if (place == NULL)
        place = open_place(loose, make && !kiln__loose_rests(loose));
    if (place == &refused)
        errno = EACCES;
    return place != NULL ? place->kept.number : -1;
}

int kiln__loose_is_refused(const kiln__loose *loose)
{
    return atomic_load(&loose->folder) == &refused;
}

void kiln__loose_forget(kiln__loose *loose, int folder)
{
    kiln__loose_place *place = atomic_load(&loose->folder);

    if (place != NULL && place != &refused && place->kept.number == folder)
        retire(loose, place, 0);
}

void kiln__loose_folder_end(kiln__loose *loose)
{
    kiln__loose_place *next = atomic_load(&loose->retired);

    place_free(loose, atomic_load(&loose->folder));
    while (next != NULL) {
        kiln__loose_place *place = next;

        next = place->next;
        place_free(loose, place);
    }
}
