/* loose.c - reads loose entries, and serves as a store of arbitrary bytes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/loose/loose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/digest/digest.h"
#include "base/error.h"
#include "base/system/io.h"
#include "kiln/kernel.h"
#include "stores/buffer.h"

/* The modification time records a use, at most once in this many seconds. A
   time that is further than this in the future is wrong, and is set to now. */
#define NOTED_S 3600

/* A network file server may say that the opened file is stale; then it is
   opened again, this often. */
#define TRIES 4

/* ---- making and ending ---- */

kiln_status kiln__loose_new(kiln__loose **out, const kiln_alloc *alloc,
                            kiln_context *context,
                            const kiln__loose_options *options)
{
    kiln__loose *loose = kiln__allocate(alloc, sizeof *loose);

    *out = NULL;
    if (loose == NULL)
        return KILN_ENOMEM;
    loose->alloc = *alloc;
    loose->context = context;
    loose->options = *options;
    loose->pid = getpid();
    loose->directory = kiln__string_copy(alloc, options->directory);
    if (loose->directory == NULL ||
        kiln__string_copy_optional(&loose->name_space, alloc,
                                   options->name_space) != KILN_OK) {
        kiln__loose_free(loose);
        return KILN_ENOMEM;
    }
    loose->options.directory = loose->directory;
    loose->options.name_space = loose->name_space;
    *out = loose;
    return KILN_OK;
}

void kiln__loose_free(kiln__loose *loose)
{
    kiln_alloc alloc;

    if (loose == NULL)
        return;
    alloc = loose->alloc;
    kiln__loose_folder_end(loose);
    kiln__string_free(&alloc, loose->directory);
    kiln__string_free(&alloc, loose->name_space);
    kiln__deallocate(&alloc, loose, sizeof *loose);
}

/* ---- one try ---- */

typedef enum outcome {
    FOUND,
    ABSENT,  /* there is nothing that can be read */
    BAD,     /* an entry was rejected */
    REFUSED, /* there is something that must not be read */
    STALE,   /* the opened file no longer exists */
    NO_MEMORY
} outcome;

static outcome outcome_of(int reason)
{
    return reason == ESTALE ? STALE : ABSENT;
}

static void note_use(int file, const struct stat *facts)
{
    struct timespec now;

    if (clock_gettime(CLOCK_REALTIME, &now) == 0 &&
        (facts->st_mtime < now.tv_sec - NOTED_S ||
         facts->st_mtime > now.tv_sec + NOTED_S))
        (void)futimens(file, NULL);
}

/* A file that is large without reason, such as a sparse one, is not read. */
static outcome look_at_head(kiln__entry_fault *fault, int file, uint64_t size)
{
    unsigned char head[KILN__ENTRY_HEAD_SIZE];

    if (size > KILN__ENTRY_LARGEST)
        return BAD;
    if (size < KILN__ENTRY_LARGE)
        return FOUND;
    if (kiln__io_read_at(file, head, sizeof head, 0) != (ssize_t)sizeof head)
        return ABSENT;
    *fault = kiln__entry_begins(head, size);
    return *fault == KILN__FAULT_NONE ? FOUND : BAD;
}

static outcome read_open(kiln__stored *out, kiln__entry_fault *fault,
                         const kiln__loose *loose, int file,
                         const struct stat *facts, const kiln_key *key)
{
    outcome begins;
    char *bytes;
    ssize_t got;

    *fault = KILN__FAULT_FOREIGN;
    begins = look_at_head(fault, file, (uint64_t)facts->st_size);
    if (begins != FOUND)
        return begins;
    bytes =
        kiln__buffer_new(&out->bytes, &loose->alloc, (size_t)facts->st_size);
    if (bytes == NULL)
        return NO_MEMORY;
    got = kiln__io_read_at(file, bytes, (size_t)facts->st_size, 0);
    if (got < 0)
        return outcome_of(errno);
    out->bytes.size = (size_t)got;
    *fault = kiln__entry_decode(&out->entry, bytes, (size_t)got,
                                key->encoded != NULL ? key : NULL);
    if (*fault == KILN__FAULT_NONE &&
        !kiln__digest_equal(out->entry.key.digest, key->digest))
        *fault = KILN__FAULT_KEY;
    if (*fault != KILN__FAULT_NONE)
        return BAD;
    if (loose->options.writes && key->encoded != NULL)
        note_use(file, facts);
    return FOUND;
}

/* Logs a file that must not be used. Anything that is not a file was never
   stored. */
static outcome refuse_file(kiln__entry_fault *fault, kiln__loose *loose,
                           const char *name, const struct stat *facts,
                           const char *why_not)
{
    *fault = KILN__FAULT_FOREIGN;
    if (S_ISREG(facts->st_mode)) {
        *fault = KILN__FAULT_UNTRUSTED;
        kiln__loose_refuse(loose, name, why_not);
    }
    return BAD;
}

static outcome read_in(kiln__stored *out, kiln__entry_fault *fault,
                       kiln__loose *loose, int shard, const char *name,
                       const kiln_key *key)
{
    const char *why_not;
    struct stat facts;
    outcome result;
    const int file = kiln__trust_open(&why_not, &facts, &loose->options.trust,
                                      shard, kiln__loose_base(name), O_RDONLY);

    if (file < 0 && why_not == NULL)
        return outcome_of(errno);
    out->identity[0] = facts.st_dev;
    out->identity[1] = facts.st_ino;
    if (file < 0)
        return refuse_file(fault, loose, name, &facts, why_not);
    result = read_open(out, fault, loose, file, &facts, key);
    (void)close(file);
    if (result != FOUND)
        kiln__stored_release(out);
    return result;
}

/* Entries in a folder that is not used must not be dropped. */
static outcome read_one(kiln__stored *out, kiln__entry_fault *fault,
                        kiln__loose *loose, int folder, const char *name,
                        const kiln_key *key)
{
    const char *why_not;
    const int shard = kiln__loose_shard(&why_not, loose, folder, name, 0);
    outcome result;

    if (shard < 0) {
        *fault = why_not != NULL ? KILN__FAULT_UNTRUSTED : KILN__FAULT_NONE;
        return why_not != NULL ? REFUSED : outcome_of(errno);
    }
    result = read_in(out, fault, loose, shard, name, key);
    (void)close(shard);
    return result;
}

/* ---- dropping ---- */

static int is_file(int shard, const char *name, const uint64_t identity[2])
{
    struct stat facts;

    return fstatat(shard, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
           !S_ISDIR(facts.st_mode) &&
           ((facts.st_dev == identity[0] && facts.st_ino == identity[1]) ||
            S_ISLNK(facts.st_mode));
}

/* Between check and unlink another writer may have stored a good entry. So the
   file is first renamed, checked again, and put back if it is not the one that
   was meant. */
static void drop_in(int shard, const char *name, const uint64_t identity[2])
{
    char aside[KILN__LOOSE_NAME_SIZE];

    if (!is_file(shard, name, identity) || !kiln__loose_temporary(aside) ||
        renameat(shard, name, shard, aside) != 0)
        return;
    if (is_file(shard, aside, identity) ||
        kiln__loose_publish(shard, aside, name, 0) != 0)
        (void)unlinkat(shard, aside, 0);
}

void kiln__loose_drop(kiln__loose *loose, kiln_digest digest,
                      const uint64_t identity[2])
{
    const int folder = kiln__loose_folder(loose, 0);
    char name[KILN__LOOSE_NAME_SIZE];
    const char *why_not;
    int shard;

    kiln__loose_name(name, digest);
    shard =
        folder < 0 ? -1 : kiln__loose_shard(&why_not, loose, folder, name, 0);
    if (shard < 0)
        return;
    drop_in(shard, kiln__loose_base(name), identity);
    (void)close(shard);
}

int kiln__loose_unlink(kiln__loose *loose, int folder, const char *name)
{
    const char *why_not;
    const int shard = kiln__loose_shard(&why_not, loose, folder, name, 0);
    int reason = shard < 0 ? errno : 0;

    if (shard >= 0 && unlinkat(shard, kiln__loose_base(name), 0) != 0)
        reason = errno;
    if (shard >= 0)
        (void)close(shard);
    return reason;
}

/* ---- getting ---- */

/* Stores in `is_bad` whether there is an entry to drop. */
static kiln_status find_entry(kiln__stored *out, kiln__entry_fault *fault,
                              int *is_bad, kiln__loose *loose,
                              const kiln_key *key)
{
    char name[KILN__LOOSE_NAME_SIZE];
    outcome result = STALE;

    *is_bad = 0;
    kiln__loose_name(name, key->digest);
    for (int i = 0; i < TRIES && result == STALE; i++) {
        const int folder = kiln__loose_folder(loose, 0);

        *out = (kiln__stored){0};
        *fault = KILN__FAULT_NONE;
        if (folder < 0)
            return KILN_ENOTFOUND;
        result = read_one(out, fault, loose, folder, name, key);
        if (result == STALE)
            kiln__loose_forget(loose, folder);
    }
    if (result == FOUND)
        return KILN_OK;
    *is_bad = result == BAD;
    if (result != BAD && result != REFUSED)
        *fault = KILN__FAULT_NONE;
    return result == NO_MEMORY ? KILN_ENOMEM : KILN_ENOTFOUND;
}

kiln_status kiln__loose_get(kiln__stored *out, kiln__entry_fault *fault,
                            kiln__loose *loose, const kiln_key *key)
{
    int is_bad;
    const kiln_status status = find_entry(out, fault, &is_bad, loose, key);

    if (is_bad && loose->options.writes)
        kiln__loose_drop(loose, key->digest, out->identity);
    return status;
}

kiln_status kiln__loose_peek(kiln__stored *out, kiln__entry_fault *fault,
                             kiln__loose *loose, kiln_digest digest)
{
    const kiln_key any = {digest, NULL, 0};
    int is_bad;

    return find_entry(out, fault, &is_bad, loose, &any);
}

/* ---- as a store of arbitrary bytes ---- */

static kiln_status store_get(void *self, const kiln_key *key, kiln_blob *out,
                             kiln_error **error)
{
    kiln__entry_fault fault;
    kiln__stored stored;

    (void)error;
    KILN_TRY(kiln__loose_get(&stored, &fault, self, key));
    *out = stored.bytes;
    if (stored.entry.kind == KILN__ENTRY_RAW) {
        out->data = stored.entry.payload;
        out->size = stored.entry.payload_size;
    }
    return KILN_OK;
}

static kiln_status put_raw(kiln__loose *loose, const kiln_key *key,
                           const void *bytes, size_t size)
{
    const kiln__entry entry = {
        .kind = KILN__ENTRY_RAW,
        .relocation = KILN_RELOCATION_PORTABLE,
        .key = *key,
        .payload = bytes,
        .payload_size = size,
    };
    kiln_blob envelope;
    kiln_status status;

    KILN_TRY(kiln__entry_encode(&envelope, &loose->alloc, &entry));
    status =
        kiln__loose_put(loose, key->digest, envelope.data, envelope.size, 0);
    kiln_blob_release(&envelope);
    return status;
}

/* An envelope is stored as it is; other bytes are wrapped in one. */
static kiln_status store_put(void *self, const kiln_key *key, const void *bytes,
                             size_t size, kiln_error **error)
{
    kiln__entry entry;

    (void)error;
    if (kiln__entry_decode(&entry, bytes, size, key) == KILN__FAULT_NONE &&
        entry.kind != KILN__ENTRY_RAW)
        return kiln__loose_put(self, key->digest, bytes, size, 0);
    return put_raw(self, key, bytes, size);
}

static kiln_status store_remove(void *self, const kiln_key *key,
                                kiln_error **error)
{
    kiln__loose *loose = self;
    const int folder = kiln__loose_folder(loose, 0);
    char name[KILN__LOOSE_NAME_SIZE];
    int reason;

    (void)error;
    if (!loose->options.writes)
        return KILN_EREADONLY;
    kiln__loose_name(name, key->digest);
    reason = folder < 0 ? 0 : kiln__loose_unlink(loose, folder, name);
    return reason == 0 || reason == ENOENT ? KILN_OK : KILN_EIO;
}

typedef struct sum {
    uint64_t entries;
    uint64_t bytes;
} sum;

static int add_item(void *env, const kiln__store_item *item)
{
    sum *to = env;

    to->entries++;
    to->bytes += item->size;
    return 1;
}

static kiln_status store_stat(void *self, uint64_t *entries, uint64_t *bytes)
{
    sum all = {0, 0};
    const kiln_status status = kiln__loose_each(self, add_item, &all);

    *entries = all.entries;
    *bytes = all.bytes;
    return status;
}

static void store_free(void *self)
{
    kiln__loose_free(self);
}

const kiln_store_ops kiln__loose_ops = {
    .size = sizeof kiln__loose_ops,
    .name = "disk",
    .get = store_get,
    .put = store_put,
    .free = store_free,
    .remove = store_remove,
    .stat = store_stat,
};
