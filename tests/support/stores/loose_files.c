/* loose_files.c - loose stores in folders of a test, and their files. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/stores/loose_files.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/digest/digest.h"
#include "kiln/kernel.h"
#include "support/harness.h"

kiln__loose_options loose_options(const char *folder)
{
    return (kiln__loose_options){
        .directory = folder,
        .writes = 1,
        .max_size = KILN_CACHE_UNBOUNDED,
        .max_entries = KILN_CACHE_UNBOUNDED,
        .max_age_s = KILN_CACHE_UNBOUNDED,
    };
}

void loose_prefer_memory(void)
{
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK | X_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 1);
}

kiln__loose *loose_open(const kiln__loose_options *options)
{
    kiln__loose *loose = NULL;

    assert_ok(kiln__loose_new(&loose, &kiln__malloc, NULL, options));
    return loose;
}

kiln__loose *loose_at(const char *folder)
{
    const kiln__loose_options options = loose_options(folder);

    return loose_open(&options);
}

void loose_entry_make(loose_entry *made, const char *name, size_t size)
{
    memset(made, 0, sizeof *made);
    (void)snprintf(made->text, sizeof made->text, "%s", name);
    made->payload = malloc(size + 1);
    assert_non_null(made->payload);
    for (size_t i = 0; i < size; i++)
        made->payload[i] = (char)(i * 31 + i / 256 + (size_t)name[0]);
    made->entry = (kiln__entry){
        .kind = KILN__ENTRY_BINARY,
        .relocation = KILN_RELOCATION_PORTABLE,
        .key = {kiln__digest_text(name), made->text, strlen(made->text)},
        .build_ns = 1000000,
        .toolchain = "llvm=22",
        .toolchain_size = 7,
        .log = "",
        .payload = made->payload,
        .payload_size = size,
    };
    assert_ok(kiln__entry_encode(&made->envelope, &kiln__malloc, &made->entry));
}

void loose_entry_end(loose_entry *made)
{
    kiln_blob_release(&made->envelope);
    free(made->payload);
}

void loose_put(kiln__loose *loose, const loose_entry *entry)
{
    assert_ok(kiln__loose_put(loose, entry->entry.key.digest,
                              entry->envelope.data, entry->envelope.size, 0));
}

void loose_path(char *path, size_t capacity, const char *folder,
                const loose_entry *entry)
{
    char name[KILN__LOOSE_NAME_SIZE];

    kiln__loose_name(name, entry->entry.key.digest);
    (void)snprintf(path, capacity, "%s/" KILN__LOOSE_FORMAT "/%s", folder,
                   name);
}

int loose_has(kiln__loose *loose, const loose_entry *entry,
              kiln__entry_fault *fault)
{
    kiln__stored stored;
    int has;

    if (kiln__loose_get(&stored, fault, loose, &entry->entry.key) != KILN_OK)
        return 0;
    has = stored.bytes.size == entry->envelope.size &&
          memcmp(stored.bytes.data, entry->envelope.data,
                 entry->envelope.size) == 0;
    kiln__stored_release(&stored);
    return has;
}

static const char *wanted;
static size_t counted;

static int count_one(const char *path, const struct stat *facts, int type,
                     struct FTW *place)
{
    (void)facts;
    if (type != FTW_D && strcmp(path + place->base, "usage") != 0 &&
        strncmp(path + place->base, wanted, strlen(wanted)) == 0)
        counted++;
    return 0;
}

size_t loose_count(const char *folder, const char *begin)
{
    wanted = begin;
    counted = 0;
    (void)nftw(folder, count_one, 16, FTW_PHYS);
    return counted;
}

void loose_set_age(const char *path, long seconds)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 0}};

    times[1].tv_sec = time(NULL) - seconds;
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static long new_age;

static int age_one(const char *path, const struct stat *facts, int type,
                   struct FTW *place)
{
    (void)facts;
    if (type != FTW_D &&
        strncmp(path + place->base, wanted, strlen(wanted)) == 0)
        loose_set_age(path, new_age);
    return 0;
}

void loose_set_ages(const char *folder, const char *begin, long seconds)
{
    wanted = begin;
    new_age = seconds;
    (void)nftw(folder, age_one, 16, FTW_PHYS);
}
