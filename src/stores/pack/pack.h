/* pack.h - packs: many entries in one sealed file, with an index. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PACK_H
#define KILN_PACK_H

#include "kiln/cache.h"
#include "stores/entry.h"
#include "stores/stores.h"

/*
 * Kiln never changes a pack once it has its name. Opening a pack reads its
 * first and last bytes, whatever its size. Every entry is read when it is asked
 * for, into memory of its own, and checked there. So if others damage, truncate
 * or overwrite bytes at any moment, the entries concerned are misses; and a
 * wrong index leads to no entry, or to an entry of another key.
 *
 * Packs are counted. Bytes lent from a pack in the caller's memory hold a
 * reference to the pack. All functions except those of the writer may be used
 * from any thread.
 */

/* Opens a pack file. KILN_ENOTFOUND when there is no such file; KILN_EIO,
   KILN_ECORRUPT. */
kiln_status kiln__pack_open(kiln_pack **out, const kiln_alloc *alloc,
                            const char *path, kiln_error **error);
/* The same for an open file, which the pack takes over: it is closed with the
   pack, and also on failure. The path is for messages. */
kiln_status kiln__pack_open_file(kiln_pack **out, const kiln_alloc *alloc,
                                 int file, const char *path,
                                 kiln_error **error);
/* Opens a pack in memory, which must not change as long as the pack, or
   anything that it lends, is used. */
kiln_status kiln__pack_open_memory(kiln_pack **out, const kiln_alloc *alloc,
                                   const void *bytes, size_t size,
                                   kiln_error **error);
kiln_pack *kiln__pack_retain(kiln_pack *pack);
void kiln__pack_release(kiln_pack *pack); /* NULL is fine */

size_t kiln__pack_count(const kiln_pack *pack); /* number of entries */
uint64_t kiln__pack_size(const kiln_pack *pack);
/* The path, or "memory". */
const char *kiln__pack_name(const kiln_pack *pack);
int kiln__pack_is_file(const kiln_pack *pack); /* not the caller's memory */
/* When the file was modified, which notes its last use, in seconds since 1970;
   0 for memory. */
int64_t kiln__pack_used_s(const kiln_pack *pack);
void kiln__pack_note_use(const kiln_pack *pack);

/* An entry that was found and checked, lent until its bytes are released. */
typedef struct kiln__packed {
    kiln__entry entry; /* points into `bytes` */
    kiln_blob bytes;   /* the whole envelope */
    kiln__entry_fault fault;
    kiln_digest digest; /* from the index; also set for a damaged entry */
} kiln__packed;

/* KILN_OK; KILN_ENOTFOUND; KILN_ECORRUPT when there was an entry that is
   rejected for the reason in `out->fault`; KILN_EIO, KILN_ENOMEM. No error
   objects are made: these are misses. */
kiln_status kiln__pack_find(kiln__packed *out, kiln_pack *pack,
                            const kiln_key *key);
/* Gives entry `index` in the order of digests, as above. */
kiln_status kiln__pack_at(kiln__packed *out, kiln_pack *pack, size_t index);
/* Reads the whole pack: the index's sum, its order, and every entry, each of
   which must be found by its key. The error of KILN_ECORRUPT names the first
   fault. */
kiln_status kiln__pack_verify(kiln_pack *pack, kiln_error **error);

/* ---- a pack as a store ---- */

/* get() lends whole envelopes, but of an entry of kind RAW the payload, which
   is what another component stored. put() is KILN_EREADONLY. */
extern const kiln_store_ops kiln__pack_store_ops;
/* Makes a source of stores from the pack, which it takes over. */
kiln__store_source kiln__pack_source(kiln_pack *pack, int32_t priority);
/* The `self` for kiln__pack_store_ops; it holds the pack until its free(). */
void *kiln__pack_store(kiln_pack *pack);
/* For the list of stores (kiln__store_find): gives an entry that was checked
   once, or KILN_ENOTFOUND and why it was rejected. */
kiln_status kiln__pack_store_find(kiln__stored *out, kiln__entry_fault *fault,
                                  void *self, const kiln_key *key);

/* ---- writing ---- */

/*
 * Entries are added in any order; of equal keys the first is kept. The bytes
 * depend only on what was added. Use by one thread at a time.
 */
typedef struct kiln__pack_writer kiln__pack_writer;

kiln_status kiln__pack_writer_new(kiln__pack_writer **out,
                                  const kiln_alloc *alloc);
void kiln__pack_writer_free(kiln__pack_writer *writer); /* NULL is fine */
/* On success takes over the envelope. KILN_ECORRUPT for a damaged one,
   KILN_EINVAL for one of class SESSION or of more than KILN__ENTRY_LARGEST
   bytes. */
kiln_status kiln__pack_writer_add(kiln__pack_writer *writer,
                                  kiln_blob *envelope, kiln_error **error);
kiln_status kiln__pack_writer_add_entry(kiln__pack_writer *writer,
                                        const kiln__entry *entry,
                                        kiln_error **error);
/* Adds all entries of the pack, which may be released afterwards. `damaged`
   counts entries that were left out; NULL: such entries are an error. */
kiln_status kiln__pack_writer_add_pack(kiln__pack_writer *writer,
                                       kiln_pack *pack, size_t *damaged,
                                       kiln_error **error);
/* Number of entries so far; equal keys count once. */
size_t kiln__pack_writer_count(kiln__pack_writer *writer);
/* Gives the pack's bytes, which the caller releases. The writer can still be
   used. */
kiln_status kiln__pack_writer_to_blob(kiln_blob *out, kiln__pack_writer *writer,
                                      kiln_error **error);
/* Writes a file of another name in the same folder, and renames it when it is
   complete and on the disk. It replaces a regular file, and nothing else. */
kiln_status kiln__pack_writer_to_file(kiln__pack_writer *writer,
                                      const char *path, kiln_error **error);
/* The same, relative to an open folder. */
kiln_status kiln__pack_writer_to_folder(kiln__pack_writer *writer, int folder,
                                        const char *path, kiln_error **error);

#endif /* KILN_PACK_H */
