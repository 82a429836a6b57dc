/* stores.h - what stands behind the tiers: stores, in the order of asking. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_H
#define KILN_STORES_H

#include "context/context.h"
#include "stores/entry.h"

/*
 * Packs, the disk, the read-only search path and whatever the host added are
 * asked in turn; what one of them has and cannot be believed is dropped,
 * counted by its reason, and the next one is asked. Whatever fails here is a
 * miss: no function returns an error for it.
 *
 * Everything may be called from any thread, with no lock held. Nothing is
 * opened before the first call that needs it.
 */
typedef enum kiln__cache_mode {
    KILN__CACHE_OFF,
    KILN__CACHE_READ_ONLY,
    KILN__CACHE_READ_WRITE,
    KILN__CACHE_MUST_HIT, /* a build is an error; nothing is written */
    KILN__CACHE_REFRESH,  /* nothing is read, what is there is replaced */
    KILN__CACHE_VERIFY    /* built again and compared with what is there */
} kiln__cache_mode;

kiln__cache_mode kiln__stores_mode(const kiln_context *context);
/* How stores are used, beside what they do themselves. */
uint64_t kiln__stores_mem_size(const kiln_context *context); /* in bytes */
uint64_t kiln__stores_wait_ms(const kiln_context *context);
int kiln__stores_locks(const kiln_context *context); /* if they can */
/* May a get or a put of the kind do anything? Keys need not be made if not. */
int kiln__stores_read(const kiln_context *context, int32_t kind);
int kiln__stores_write(const kiln_context *context, int32_t kind);
/* May what is read be used? To verify, it is only compared. */
int kiln__stores_load(const kiln_context *context, int32_t kind);
/* Does another process find what this one builds, and wait for it? */
int kiln__stores_share(const kiln_context *context, int32_t kind);

/* An entry that was found, checked, and is lent until it is released. */
typedef struct kiln__stored {
    kiln__entry entry; /* lies in `bytes` */
    kiln_blob bytes;
    int is_packed; /* it came from a pack that was inserted */
    struct kiln__store_link *from;
    uint64_t identity[2]; /* of the file, where it was one: device, inode */
} kiln__stored;

/* KILN_OK, or KILN_ENOTFOUND. The mode is the caller's business: this reads
   whatever kiln__stores_read() allows. */
kiln_status kiln__stores_get(kiln__stored *out, kiln_context *context,
                             int32_t kind, const kiln_key *key);
static inline void kiln__stored_release(kiln__stored *stored)
{
    kiln_blob_release(&stored->bytes);
    stored->entry = (kiln__entry){0}; /* lay in the bytes */
}
/* What was got is of no use: releases it and asks the stores behind the one
   it came from. An old entry in a pack must not hide a better one on the
   disk. */
kiln_status kiln__stores_next(kiln__stored *stored, kiln_context *context,
                              int32_t kind, const kiln_key *key);
/* Keeps the entry on the disk and in every store of the host's that takes it.
   One of class SESSION is refused and counted. `replace`: what is there is
   outdated; mode REFRESH always replaces. */
void kiln__stores_put(kiln_context *context, const kiln__entry *entry,
                      int replace);
/* A stored entry is right as bytes, but what it says is of no use: `fault`
   says why. It is dropped where that is possible. */
void kiln__stores_reject(kiln_context *context, const kiln__stored *stored,
                         kiln__entry_fault fault);

/* ---- a store of another part of the library ---- */

typedef kiln_status (*kiln__store_find)(kiln__stored *out,
                                        kiln__entry_fault *fault, void *self,
                                        const kiln_key *key);

/* Puts a store into the order, behind others of its priority; on success the
   context owns `self`. `find` gives entries that it has checked, or
   KILN_ENOTFOUND and why one was not believed; NULL: ops.get, whose bytes are
   checked here. Nothing is put there or dropped. */
typedef struct kiln__store_source {
    const kiln_store_ops *ops;
    void *self;
    kiln__store_find find;
    int32_t priority; /* KILN_STORE_... */
    int is_packed;
    kiln_pack *pack; /* that it is, or NULL; it lives as long as `self` */
} kiln__store_source;

kiln_status kiln__stores_add(kiln_context *context,
                             const kiln__store_source *source);

/* The folder of the disk store, where lock files may lie: a descriptor that
   lives with the context, or -1 when there is none or nothing can be locked
   in it. Makes the folder. */
int kiln__stores_lock_folder(kiln_context *context);
/* The folder itself, or -1; makes nothing. */
int kiln__stores_folder(kiln_context *context);

/* ---- what lies on the disk, for tools ---- */

typedef struct kiln__store_report {
    uint64_t entries; /* that are left */
    uint64_t bytes;   /* that these take on the disk */
    uint64_t evicted;
    uint64_t evicted_bytes;
    uint64_t swept; /* temporary files of writers that died */
} kiln__store_report;

typedef struct kiln__store_item {
    kiln_digest digest;
    uint64_t size;      /* in bytes */
    uint64_t disk_size; /* what it takes on the disk */
    int64_t used_s;     /* when it was last used, in seconds since 1970 */
} kiln__store_item;

/* Of the disk store; nothing when there is none. */
kiln_status kiln__stores_each(kiln_context *context,
                              int (*see)(void *env,
                                         const kiln__store_item *item),
                              void *env);
/* Reads the entry of the digest, whatever its key; or says why it is not
   believed. Bad ones stay. */
kiln_status kiln__stores_peek(kiln__stored *out, kiln__entry_fault *fault,
                              kiln_context *context, kiln_digest digest);
/* An entry where it lies: of the disk store, packs and search path. */
typedef struct kiln__store_seen {
    const char *place; /* the folder or pack */
    const char *path;  /* of the file */
    int32_t priority;  /* KILN_STORE_... */
    int is_packed;     /* it lies in a pack */
    kiln__store_item item;
    kiln__entry_fault fault; /* NONE: `stored` is there */
    kiln__stored stored;
} kiln__store_seen;

/* Returns false to end the walk. What it is shown is lent for the call. */
typedef int (*kiln__store_see)(void *env, const kiln__store_seen *seen);

/* Shows every entry, read and checked, store by store; with `one_in` above 1
   about one in so many, each time others. */
kiln_status kiln__stores_walk(kiln_context *context, uint32_t one_in,
                              kiln__store_see see, void *env);
/* Shows every entry of a pack. */
kiln_status kiln__stores_walk_pack(kiln_pack *pack, int32_t priority,
                                   kiln__store_see see, void *env);
/* Drops what is shown: KILN_EREADONLY unless it is a loose one in a folder
   that is written. */
kiln_status kiln__stores_drop(const kiln__store_seen *seen);
/* Where entries are kept: of each store its path, KILN_STORE_..., and whether
   it is a pack. */
void kiln__stores_places(kiln_context *context,
                         void (*see)(void *env, const char *place,
                                     int32_t priority, int is_pack),
                         void *env);
/* Something that is not used, and why: of whose it is, who may write it, that
   it cannot be opened, or is damaged. */
typedef void (*kiln__refused_see)(void *env, const char *path,
                                  const char *why_not);

/* Shows each folder and pack that is not used, and with them entries. */
void kiln__stores_refused(kiln_context *context, int with_entries,
                          kiln__refused_see see, void *env);
/* Opens the disk store's folder like a process that begins now, and makes it
   where that may write. 1: it works. 0: there is none. -1: it is not to be
   used, or to be had, which is shown. */
int kiln__stores_try_folder(kiln_context *context, kiln__refused_see see,
                            void *env);
/* Shows each folder above the path in which others may put another one in its
   place. */
void kiln__stores_above(const char *path, kiln__refused_see see, void *env);
/* Moves loose entries that were not used for so long into packs in the disk
   store's own folder, and merges small packs that are there. The packs are read
   back before anything is dropped. KILN_EREADONLY. */
kiln_status kiln__stores_compact(kiln_context *context, uint64_t unused_s,
                                 kiln__store_report *report,
                                 kiln_error **error);
/* Applies the bounds to all of it; drops all of it. KILN_EREADONLY in a mode
   that writes nothing. */
kiln_status kiln__stores_prune(kiln_context *context,
                               kiln__store_report *report);
kiln_status kiln__stores_clear(kiln_context *context,
                               kiln__store_report *report);
/* What the path, or its nearest ancestor, lies on: a name; static. */
const char *kiln__stores_file_system(int *is_network, kiln_context *context,
                                     const char *path);
/* Keeps the input of a job whose code generation failed, for people, as a file
   of the disk store's folder whose path is told: KILN_OK. The suffix says what
   it is: ".ptx". */
kiln_status kiln__stores_keep_failed(kiln_context *context, char *path,
                                     size_t capacity, const char *suffix,
                                     const void *bytes, size_t size);
/* Its path, or NULL; lives with the context. */
const char *kiln__stores_path(kiln_context *context);

kiln_status kiln__stores_new(kiln_context *context, kiln_error **error);
void kiln__stores_free(kiln_context *context);

#endif /* KILN_STORES_H */
