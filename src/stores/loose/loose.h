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
 * A file appears whole, by a rename in its own folder, and is never modified
 * after that: whoever opens it reads what one writer wrote. What a crash
 * leaves behind is a temporary file, that nobody reads and that a later scan
 * sweeps. Nothing is synced: a file that a loss of power cut short or zeroed
 * does not pass its checksums, and is a miss.
 *
 * No lock is taken and no index kept. Any number of processes may read, write,
 * evict and clear at once; each file is its own truth.
 */
#define KILN__LOOSE_FORMAT "v2"

/* "ab/", 62 digits, ".e" and the NUL; a temporary file has 32 digits, a dash
   and at most 16 more. */
#define KILN__LOOSE_NAME_SIZE 96
#define KILN__LOOSE_PATH_SIZE 4096

typedef struct kiln__loose_options {
    const char *directory;
    const char *name_space; /* or NULL */
    int writes;        /* otherwise nothing there is made, touched or dropped */
    kiln__trust trust; /* whose folders and files are used */
    uint64_t max_size; /* KILN_CACHE_UNBOUNDED: no bound */
    uint64_t max_entries;
    uint64_t max_age_s;
} kiln__loose_options;

/* The folder v2, as it was opened once. */
typedef struct kiln__loose_place kiln__loose_place;
struct kiln__loose_place {
    kiln__kept kept;
    int is_lost; /* the descriptor went: the number is somebody else's */
    kiln__loose_place *next;
};

typedef struct kiln__loose {
    kiln_alloc alloc;
    kiln_context *context; /* for its log; or NULL */
    kiln__loose_options options;
    char *directory;
    char *name_space;
    pid_t pid; /* of who made it: a child of fork() scans nothing */
    /* Where it writes and reads: NULL, not opened. Set by compare and swap;
       others read it without more. */
    _Atomic(kiln__loose_place *) folder;
    _Atomic(kiln__loose_place *) retired; /* still in use maybe */
    atomic_uint retired_count;            /* of those that are open */
    /* While a failure lasts, the time when writing is tried again; or 0. */
    atomic_uint_least64_t rests_until;
    atomic_int is_warned;     /* of that failure */
    atomic_int is_large_told; /* of an entry that no file can hold */
    atomic_int is_refused;    /* something is not used, and was told */
    atomic_uint_fast64_t filesystem_size; /* in bytes; 0: not asked */
    atomic_uint_fast64_t random;          /* state of the draws */
    atomic_int locks;                     /* of files there: loose_usage.c */
} kiln__loose;

/* `options` is copied. Opens nothing. */
kiln_status kiln__loose_new(kiln__loose **out, const kiln_alloc *alloc,
                            kiln_context *context,
                            const kiln__loose_options *options);
void kiln__loose_free(kiln__loose *loose);

/* KILN_OK and the entry, checked; or KILN_ENOTFOUND, and why it is not
   believed if there was one: that one is dropped. */
kiln_status kiln__loose_get(kiln__stored *out, kiln__entry_fault *fault,
                            kiln__loose *loose, const kiln_key *key);
/* The entry of the digest, whatever its key; drops and notes nothing. */
kiln_status kiln__loose_peek(kiln__stored *out, kiln__entry_fault *fault,
                             kiln__loose *loose, kiln_digest digest);
/* Files an envelope. KILN_OK also when another one is there already and is
   not to be replaced; KILN_EREADONLY now and for a while; KILN_EIO this
   time. */
kiln_status kiln__loose_put(kiln__loose *loose, kiln_digest digest,
                            const void *bytes, size_t size, int replace);
/* True while nothing is written, since a failure is taken to last. */
int kiln__loose_rests(const kiln__loose *loose);
/* Begins such a while. */
void kiln__loose_rest(kiln__loose *loose);
/* Drops the entry, if it is still the file of that identity. */
void kiln__loose_drop(kiln__loose *loose, kiln_digest digest,
                      const uint64_t identity[2]);

/* Drops what has the name: 0, or errno. */
int kiln__loose_unlink(kiln__loose *loose, int folder, const char *name);

/* As a store of anybody's bytes; `self` is a kiln__loose. */
extern const kiln_store_ops kiln__loose_ops;

/* ---- loose_folder.c ---- */

/* The folder's descriptor, or -1: it is not there, or may not be used. With
   `make` it is made. */
int kiln__loose_folder(kiln__loose *loose, int make);
/* It may not be used, which was found out before. */
int kiln__loose_is_refused(const kiln__loose *loose);
/* Closes it, at the end. */
void kiln__loose_folder_end(kiln__loose *loose);
/* Opens it once more, for the caller: a descriptor, or -1, where *why_not says
   that the level `path` is not to be used, or is NULL and errno says why there
   is none. */
int kiln__loose_open(char path[KILN__LOOSE_PATH_SIZE], const char **why_not,
                     const kiln__loose *loose, int makes);
/* The folder behind the descriptor is gone: opens it anew next time. */
void kiln__loose_forget(kiln__loose *loose, int folder);
/* Something in the folder is not used: `name` below v2 (NULL: that itself).
   One warning in the store's life. */
void kiln__loose_refuse(kiln__loose *loose, const char *name,
                        const char *why_not);
/* Where something of that name lies: below v2, or with NULL that itself. */
void kiln__loose_path(char path[KILN__LOOSE_PATH_SIZE],
                      const kiln__loose *loose, const char *name);
/* Opens a folder that is below the open one, for reading; with `makes`, makes
   it if it is missing. A descriptor, or -1: *why_not says that it is not to be
   used, or is NULL and errno says why there is none. */
int kiln__loose_level(const char **why_not, const kiln__loose *loose,
                      int folder, const char *name, int makes);
/* The same for one of the 256 folders, that of the name below v2; one that is
   not to be used is told. The descriptor is a place for names, and cannot be
   read, which is faster. */
int kiln__loose_shard(const char **why_not, kiln__loose *loose, int folder,
                      const char *name, int makes);

/* ---- loose_name.c ---- */

void kiln__loose_name(char name[KILN__LOOSE_NAME_SIZE], kiln_digest digest);
/* The file's name in its shard. */
static inline const char *kiln__loose_base(const char *name)
{
    return name + sizeof "ab/" - 1;
}
/* A name that nobody else has, nor can guess, in a shard. False: there is
   none. */
int kiln__loose_temporary(char out[KILN__LOOSE_NAME_SIZE]);
#define KILN__LOOSE_TEMPORARY ".t" /* what such a name begins with */
/* In a shard. 0, or errno. Another file of that name stays: EEXIST. */
int kiln__loose_publish(int shard, const char *temporary, const char *name,
                        int replace);

/* ---- loose_prune.c ---- */

/* Something of `size` bytes was put under `name`: maybe looks whether there is
   too much. */
void kiln__loose_grew(kiln__loose *loose, int folder, const char *name,
                      uint64_t size);
/* Applies the bounds to everything. */
kiln_status kiln__loose_prune(kiln__loose *loose, kiln__store_report *report);
/* Calls see() for each entry, in no order, until it returns 0. */
kiln_status kiln__loose_each(kiln__loose *loose,
                             int (*see)(void *env,
                                        const kiln__store_item *item),
                             void *env);
/* Drops everything. */
kiln_status kiln__loose_clear(kiln__loose *loose, kiln__store_report *report);

#endif /* KILN_STORES_LOOSE_H */
