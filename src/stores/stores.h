/* stores.h - what the tiers use of stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_H
#define KILN_STORES_H

#include "context/context.h"
#include "stores/entry.h"

/*
 * Packs, the disk, the read-only search path and the stores that the host added
 * are asked in turn. A rejected entry is dropped and counted by its reason, and
 * the next store is asked. Every failure here is a miss: no function returns an
 * error for it.
 *
 * All functions may be called from any thread, with no lock held. Nothing is
 * opened before the first call that needs it.
 */
typedef enum kiln__cache_mode {
    KILN__CACHE_OFF,
    KILN__CACHE_READ_ONLY,
    KILN__CACHE_READ_WRITE,
    KILN__CACHE_MUST_HIT, /* a build is an error; nothing is written */
    KILN__CACHE_REFRESH,  /* nothing is read; entries are replaced */
    KILN__CACHE_VERIFY    /* everything is built again and compared with the
                             stored entry */
} kiln__cache_mode;

kiln__cache_mode kiln__stores_mode(const kiln_context *context);
/* Settings that callers of this file need. */
uint64_t kiln__stores_mem_size(const kiln_context *context); /* in bytes */
uint64_t kiln__stores_wait_ms(const kiln_context *context);
/* Whether locks between processes are used where the file system has them. */
int kiln__stores_locks(const kiln_context *context);
/* Whether a get or a put of the kind can have an effect; if not, no key need be
   made. */
int kiln__stores_read(const kiln_context *context, int32_t kind);
int kiln__stores_write(const kiln_context *context, int32_t kind);
/* Whether entries that are read may be used. In mode VERIFY they are only
   compared. */
int kiln__stores_load(const kiln_context *context, int32_t kind);
/* Whether other processes find what this one builds, and wait for it. */
int kiln__stores_share(const kiln_context *context, int32_t kind);

/* An entry that was found and checked, lent until it is released. */
typedef struct kiln__stored {
    kiln__entry entry; /* points into `bytes` */
    kiln_blob bytes;
    int is_packed; /* it came from an inserted pack */
    struct kiln__store_link *from;
    uint64_t identity[2]; /* of the file, if it was one: device and inode */
} kiln__stored;

/* KILN_OK, or KILN_ENOTFOUND. The caller checks the mode: this reads whatever
   kiln__stores_read() allows. */
kiln_status kiln__stores_get(kiln__stored *out, kiln_context *context,
                             int32_t kind, const kiln_key *key);
static inline void kiln__stored_release(kiln__stored *stored)
{
    kiln_blob_release(&stored->bytes);
    stored->entry = (kiln__entry){0}; /* it pointed into the bytes */
}
/* The entry was of no use: releases it, and asks the stores after the one that
   it came from. So an old entry in a pack does not hide a better one on the
   disk. */
kiln_status kiln__stores_next(kiln__stored *stored, kiln_context *context,
                              int32_t kind, const kiln_key *key);
/* Stores the entry on the disk and in every store of the host that takes it. An
   entry of class SESSION is refused and counted. `replace`: an existing entry
   is outdated; mode REFRESH always replaces. */
void kiln__stores_put(kiln_context *context, const kiln__entry *entry,
                      int replace);
/* The bytes of a stored entry are correct, but its content is of no use, for
   the reason `fault`. It is dropped if possible. */
void kiln__stores_reject(kiln_context *context, const kiln__stored *stored,
                         kiln__entry_fault fault);

/* ---- stores from other parts of the library ---- */

typedef kiln_status (*kiln__store_find)(kiln__stored *out,
                                        kiln__entry_fault *fault, void *self,
                                        const kiln_key *key);

/* Adds a store to the list, after others of its priority; on success the
   context owns `self`. `find` gives entries that it has checked, or
   KILN_ENOTFOUND and the reason why one was rejected; NULL: ops.get is used,
   and its bytes are checked here. Nothing is put there or dropped. */
typedef struct kiln__store_source {
    const kiln_store_ops *ops;
    void *self;
    kiln__store_find find;
    int32_t priority; /* KILN_STORE_... */
    int is_packed;
    kiln_pack *pack; /* the pack, if it is one, or NULL; it lives as long as
                        `self` */
} kiln__store_source;

kiln_status kiln__stores_add(kiln_context *context,
                             const kiln__store_source *source);

/* The folder of the disk store for lock files: a descriptor that lives with the
   context, or -1 when there is no folder or nothing can be locked in it. Makes
   the folder. */
int kiln__stores_lock_folder(kiln_context *context);
/* The folder itself, or -1; makes nothing. */
int kiln__stores_folder(kiln_context *context);

/* ---- entries on the disk, for tools ---- */

typedef struct kiln__store_report {
    uint64_t entries; /* how many are left */
    uint64_t bytes;   /* space that these take on the disk */
    uint64_t evicted;
    uint64_t evicted_bytes;
    uint64_t swept; /* temporary files of dead writers that were removed */
} kiln__store_report;

typedef struct kiln__store_item {
    kiln_digest digest;
    uint64_t size;      /* in bytes */
    uint64_t disk_size; /* space that it takes on the disk */
    int64_t used_s;     /* time of last use, in seconds since 1970 */
} kiln__store_item;

/* Calls see() for the disk store's entries; does nothing when there is none. */
kiln_status kiln__stores_each(kiln_context *context,
                              int (*see)(void *env,
                                         const kiln__store_item *item),
                              void *env);
/* Reads the entry of the digest, with any key, or gives the reason why it is
   rejected. Rejected entries stay. */
kiln_status kiln__stores_peek(kiln__stored *out, kiln__entry_fault *fault,
                              kiln_context *context, kiln_digest digest);
/* An entry and where it is: in the disk store, in packs or on the search
   path. */
typedef struct kiln__store_seen {
    const char *place; /* the folder or pack */
    const char *path;  /* of the file */
    int32_t priority;  /* KILN_STORE_... */
    int is_packed;     /* whether it is in a pack */
    kiln__store_item item;
    kiln__entry_fault fault; /* NONE: `stored` is valid */
    kiln__stored stored;
} kiln__store_seen;

/* Returns false to end the walk. Its argument is lent for the call. */
typedef int (*kiln__store_see)(void *env, const kiln__store_seen *seen);

/* Shows every entry, read and checked, store by store. With `one_in` above 1 it
   shows about one entry in that many, other ones each time. */
kiln_status kiln__stores_walk(kiln_context *context, uint32_t one_in,
                              kiln__store_see see, void *env);
/* Shows every entry of a pack. */
kiln_status kiln__stores_walk_pack(kiln_pack *pack, int32_t priority,
                                   kiln__store_see see, void *env);
/* Drops the entry that is shown. KILN_EREADONLY unless it is a loose entry in a
   folder that is written. */
kiln_status kiln__stores_drop(const kiln__store_seen *seen);
/* Shows each store: its path, KILN_STORE_..., and whether it is a pack. */
void kiln__stores_places(kiln_context *context,
                         void (*see)(void *env, const char *place,
                                     int32_t priority, int is_pack),
                         void *env);
/* Shows something that is not used, and why: its owner, its permissions, a
   failure to open it, or damage. */
typedef void (*kiln__refused_see)(void *env, const char *path,
                                  const char *why_not);

/* Shows each folder and pack that is not used, and `with_entries` also
   entries. */
void kiln__stores_refused(kiln_context *context, int with_entries,
                          kiln__refused_see see, void *env);
/* Opens the disk store's folder as a new process would, and makes it if that
   process would. Returns 1 if it works, 0 if there is none, and -1, after
   showing the reason, if it must not or cannot be used. */
int kiln__stores_try_folder(kiln_context *context, kiln__refused_see see,
                            void *env);
/* Shows each folder above the path in which another user could replace the next
   one. */
void kiln__stores_above(const char *path, kiln__refused_see see, void *env);
/* Moves loose entries that were unused for `unused_s` seconds into packs in the
   disk store's own folder, and merges small packs there. The packs are read
   back before anything is dropped. KILN_EREADONLY. */
kiln_status kiln__stores_compact(kiln_context *context, uint64_t unused_s,
                                 kiln__store_report *report,
                                 kiln_error **error);
/* Applies the bounds to the disk store, or drops everything in it.
   KILN_EREADONLY in a mode that writes nothing. */
kiln_status kiln__stores_prune(kiln_context *context,
                               kiln__store_report *report);
kiln_status kiln__stores_clear(kiln_context *context,
                               kiln__store_report *report);
/* Returns the name of the file system that holds the path or its nearest
   ancestor; a static string. */
const char *kiln__stores_file_system(int *is_network, kiln_context *context,
                                     const char *path);
/* Keeps the input of a job whose code generation failed, for people, as a file
   in the disk store's folder. KILN_OK: `path` receives the file's path. The
   suffix tells what it is: ".ptx". */
kiln_status kiln__stores_keep_failed(kiln_context *context, char *path,
                                     size_t capacity, const char *suffix,
                                     const void *bytes, size_t size);
/* Returns the disk store's path, or NULL; it lives with the context. */
const char *kiln__stores_path(kiln_context *context);

kiln_status kiln__stores_new(kiln_context *context, kiln_error **error);
void kiln__stores_free(kiln_context *context);

#endif /* KILN_STORES_H */
