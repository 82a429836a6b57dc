/* loose.h - the store of loose files: one envelope, one file. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_LOOSE_H
#define KILN_STORES_LOOSE_H

#include <stdatomic.h>
#include <sys/stat.h>

#include "base/system/kept.h"
#include "stores/filesystem.h"
#include "stores/stores.h"
#include "stores/trust.h"

/*
 * FOLDER/[NAME SPACE/]v2/<2 hex digits>/<62 hex digits>.e
 *
 * A file appears complete, by a rename in its own folder, and is never modified
 * afterwards: a reader gets what one writer wrote. A crash leaves a temporary
 * file, which nobody reads and which a later scan removes. Nothing is synced: a
 * file that a loss of power truncated or zeroed fails its checksums, and is a
 * miss.
 *
 * There are no locks and no index. Any number of processes may read, write,
 * evict and clear at once; each file stands for itself.
 */
#define KILN__LOOSE_FORMAT "v2"

/* "ab/", 62 digits, ".e" and the NUL. A temporary file has 32 digits, a dash
   and at most 16 more characters. */
#define KILN__LOOSE_NAME_SIZE 96
#define KILN__LOOSE_PATH_SIZE 4096

typedef struct kiln__loose_options {
    const char *directory;
    const char *name_space; /* or NULL */
    int writes;             /* whether anything there may be made, touched or
                               dropped */
    kiln__trust trust;      /* whose folders and files are used */
    uint64_t max_size;      /* KILN_CACHE_UNBOUNDED: no bound */
    uint64_t max_entries;
    uint64_t max_age_s;
} kiln__loose_options;

/* The folder v2 as it was once opened. */
typedef struct kiln__loose_place kiln__loose_place;
struct kiln__loose_place {
    kiln__kept kept;
    int is_lost; /* the descriptor was closed by the host; its number may be
                    another file's */
    kiln__loose_place *next;
};

typedef struct kiln__loose {
    kiln_alloc alloc;
    kiln_context *context; /* for its log; may be NULL */
    kiln__loose_options options;
    char *directory;
    char *name_space;
    pid_t pid; /* of the maker: a child of fork() scans nothing */
    /* The folder for reading and writing; NULL: not opened. It is set by
       compare and swap, and read without a lock. */
    _Atomic(kiln__loose_place *) folder;
    _Atomic(kiln__loose_place *) retired; /* folders that other threads may
                                             still use */
    atomic_uint retired_count;            /* how many of these are open */
    /* When writing is tried again after a failure; 0: now. */
    atomic_uint_least64_t rests_until;
    atomic_int is_warned;         /* whether that failure was logged */
    atomic_int is_large_reported; /* whether an entry too large for a file was
                                 logged */
    atomic_int is_refused;        /* whether something that is not used was
                                     logged */
    atomic_uint_fast64_t filesystem_size; /* in bytes; 0: not asked */
    atomic_uint_fast64_t random;          /* state of the random numbers */
    atomic_int locks;                     /* whether files there can be locked:
                                             loose_usage.c */
} kiln__loose;

/* `options` is copied. Opens nothing. */
kiln_status kiln__loose_new(kiln__loose **out, const kiln_alloc *alloc,
                            kiln_context *context,
                            const kiln__loose_options *options);
void kiln__loose_free(kiln__loose *loose);

/* KILN_OK and the checked entry, or KILN_ENOTFOUND. If there was an entry that
   is rejected, `fault` gives the reason, and the entry is dropped. */
kiln_status kiln__loose_get(kiln__stored *out, kiln__entry_fault *fault,
                            kiln__loose *loose, const kiln_key *key);
/* The entry of the digest, with any key. Drops nothing and notes no use. */
kiln_status kiln__loose_peek(kiln__stored *out, kiln__entry_fault *fault,
                             kiln__loose *loose, kiln_digest digest);
/* Stores an envelope. KILN_OK also if another one is there already and must not
   be replaced. KILN_EREADONLY: not now, nor for a while. KILN_EIO: this entry
   failed. */
kiln_status kiln__loose_put(kiln__loose *loose, kiln_digest digest,
                            const void *bytes, size_t size, int replace);
/* True while nothing is written after a failure that is expected to last. */
int kiln__loose_rests(const kiln__loose *loose);
/* Begins such a period. */
void kiln__loose_rest(kiln__loose *loose);
/* Drops the entry if it is still the file of that identity. */
void kiln__loose_drop(kiln__loose *loose, kiln_digest digest,
                      const uint64_t identity[2]);

/* Drops the file of that name. Returns 0 or an errno. */
int kiln__loose_unlink(kiln__loose *loose, int folder, const char *name);

/* The table of a store for arbitrary bytes; `self` is a kiln__loose. */
extern const kiln_store_ops kiln__loose_ops;

/* ---- loose_folder.c ---- */

/* The folder's descriptor, or -1: it does not exist, or must not be used. With
   `make` it is made. */
int kiln__loose_folder(kiln__loose *loose, int make);
/* True if it was found before that the folder must not be used. */
int kiln__loose_is_refused(const kiln__loose *loose);
/* Closes the folder when the store ends. */
void kiln__loose_folder_end(kiln__loose *loose);
/* Opens the folder once more, for the caller. Returns a descriptor or -1. With
   -1, *why_not is the reason why the level `path` must not be used; or it is
   NULL and errno says why there is no folder. */
int kiln__loose_open(char path[KILN__LOOSE_PATH_SIZE], const char **why_not,
                     const kiln__loose *loose, int makes);
/* Called when the folder of the descriptor is gone: it is opened anew next
   time. */
void kiln__loose_forget(kiln__loose *loose, int folder);
/* Logs that something in the folder is not used: `name` below v2 (NULL: v2
   itself). One warning in the store's life. */
void kiln__loose_refuse(kiln__loose *loose, const char *name,
                        const char *why_not);
/* Writes the path of `name` below v2; NULL: of v2 itself. */
void kiln__loose_path(char path[KILN__LOOSE_PATH_SIZE],
                      const kiln__loose *loose, const char *name);
/* Opens a folder below the open one for reading; with `makes`, makes it if it
   is missing. Returns a descriptor or -1. With -1, *why_not is the reason why
   it must not be used; or it is NULL and errno says why there is none. */
int kiln__loose_level(const char **why_not, const kiln__loose *loose,
                      int folder, const char *name, int makes);
/* The same for one of the 256 folders, the one that `name` below v2 begins
   with. A folder that must not be used is logged. The descriptor can be used
   for names only and not be read, which is faster to open. */
int kiln__loose_shard(const char **why_not, kiln__loose *loose, int folder,
                      const char *name, int makes);

/* ---- loose_name.c ---- */

void kiln__loose_name(char name[KILN__LOOSE_NAME_SIZE], kiln_digest digest);
/* The file's name in its shard. */
static inline const char *kiln__loose_base(const char *name)
{
    return name + sizeof "ab/" - 1;
}
/* Makes a name for a shard that is unique and cannot be guessed. False: there
   are no random bits. */
int kiln__loose_temporary(char out[KILN__LOOSE_NAME_SIZE]);
#define KILN__LOOSE_TEMPORARY ".t" /* such a name begins with it */
/* Renames inside a shard. Returns 0 or an errno; EEXIST if another file has
   that name. */
int kiln__loose_publish(int shard, const char *temporary, const char *name,
                        int replace);

/* ---- loose_prune.c ---- */

/* Called after `size` bytes were stored under `name`; may check whether there
   is too much. */
void kiln__loose_grew(kiln__loose *loose, int folder, const char *name,
                      uint64_t size);
/* Applies the bounds to everything. */
kiln_status kiln__loose_prune(kiln__loose *loose, kiln__store_report *report);
/* Calls see() for each entry, in no particular order, until it returns 0. */
kiln_status kiln__loose_each(kiln__loose *loose,
                             int (*see)(void *env,
                                        const kiln__store_item *item),
                             void *env);
/* Drops everything. */
kiln_status kiln__loose_clear(kiln__loose *loose, kiln__store_report *report);

#endif /* KILN_STORES_LOOSE_H */
