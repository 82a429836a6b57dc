/* pack.h - packs: many entries in one sealed file, with an index. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PACK_H
#define KILN_PACK_H

#include "kiln/cache.h"
#include "stores/entry.h"
#include "stores/stores.h"

/*
 * A pack is never changed once it has its name: by us. Opening one reads its
 * first and its last bytes, whatever its size; every entry is read when it is
 * got, into memory of its own, and checked there. So bytes that others damage,
 * cut off or write over, at any moment, are a miss of the entries that they
 * belong to, and an index that lies leads to no entry, or to one that is not
 * the key's.
 *
 * Packs are counted. What a pack of the caller's memory lends holds it.
 * Everything but the writer may be used from any thread.
 */

/* Opens a pack file. KILN_ENOTFOUND when there is no such file, KILN_EIO,
   KILN_ECORRUPT. */
kiln_status kiln__pack_open(kiln_pack **out, const kiln_alloc *alloc,
                            const char *path, kiln_error **error);
/* The same of a file that is open, and is the pack's from then on: closed by
   it, also if this fails. The path is for messages. */
kiln_status kiln__pack_open_file(kiln_pack **out, const kiln_alloc *alloc,
                                 int file, const char *path,
                                 kiln_error **error);
/* Of bytes that stay as they are for as long as the pack, and whatever it
   lends, is used. */
kiln_status kiln__pack_open_memory(kiln_pack **out, const kiln_alloc *alloc,
                                   const void *bytes, size_t size,
                                   kiln_error **error);
kiln_pack *kiln__pack_retain(kiln_pack *pack);
void kiln__pack_release(kiln_pack *pack); /* NULL is fine */

size_t kiln__pack_count(const kiln_pack *pack); /* of its entries */
uint64_t kiln__pack_size(const kiln_pack *pack);
/* The path, or "memory". */
const char *kiln__pack_name(const kiln_pack *pack);
int kiln__pack_is_file(const kiln_pack *pack); /* not the caller's memory */
/* When its file was modified, which is how a use is noted, in seconds since
   1970; 0 of memory. */
int64_t kiln__pack_used_s(const kiln_pack *pack);
void kiln__pack_note_use(const kiln_pack *pack);

/* An entry that was found and checked, lent until its bytes are released. */
typedef struct kiln__packed {
    kiln__entry entry; /* lies in `bytes` */
    kiln_blob bytes;   /* the whole envelope */
    kiln__entry_fault fault;
    kiln_digest digest; /* as the index has it, also of what is damaged */
} kiln__packed;

/* KILN_OK; KILN_ENOTFOUND; KILN_ECORRUPT when an entry was there that cannot
   be believed, for the reason in `out->fault`; KILN_EIO, KILN_ENOMEM. No
   errors are made: these are misses. */
kiln_status kiln__pack_find(kiln__packed *out, kiln_pack *pack,
                            const kiln_key *key);
/* The entry `index` in the order of digests, as above. */
kiln_status kiln__pack_at(kiln__packed *out, kiln_pack *pack, size_t index);
/* Reads all of it: the index's sum, its order, and every entry, each of which
   must be found by its key. KILN_ECORRUPT tells what is wrong first. */
kiln_status kiln__pack_verify(kiln_pack *pack, kiln_error **error);

/* ---- a pack as a store ---- */

/* Its get() lends whole envelopes; of an entry of kind RAW the payload, which
   is what somebody else put. Its put() is KILN_EREADONLY. */
extern const kiln_store_ops kiln__pack_store_ops;
/* A pack as a store, which has it from then on. */
kiln__store_source kiln__pack_source(kiln_pack *pack, int32_t priority);
/* The table's `self`, which holds the pack until its free(). */
void *kiln__pack_store(kiln_pack *pack);
/* For the order of stores (kiln__store_find): an entry that is checked once,
   or KILN_ENOTFOUND and why it was not believed. */
kiln_status kiln__pack_store_find(kiln__stored *out, kiln__entry_fault *fault,
                                  void *self, const kiln_key *key);

/* ---- writing ---- */

/*
 * Entries are added in any order; of equal keys the first stays. The bytes
 * depend on what was added alone. One thread at a time.
 */
typedef struct kiln__pack_writer kiln__pack_writer;

kiln_status kiln__pack_writer_new(kiln__pack_writer **out,
                                  const kiln_alloc *alloc);
void kiln__pack_writer_free(kiln__pack_writer *writer); /* NULL is fine */
/* Takes the envelope over, when it succeeds. KILN_ECORRUPT for one that is
   damaged, KILN_EINVAL for one of class SESSION or of more than
   KILN__ENTRY_LARGEST bytes. */
kiln_status kiln__pack_writer_add(kiln__pack_writer *writer,
                                  kiln_blob *envelope, kiln_error **error);
kiln_status kiln__pack_writer_add_entry(kiln__pack_writer *writer,
                                        const kiln__entry *entry,
                                        kiln_error **error);
/* Adds all that is in the pack, which may be released. `damaged` counts
   entries that were left out; NULL: they are an error. */
kiln_status kiln__pack_writer_add_pack(kiln__pack_writer *writer,
                                       kiln_pack *pack, size_t *damaged,
                                       kiln_error **error);
/* Entries so far, equal keys counted once. */
size_t kiln__pack_writer_count(kiln__pack_writer *writer);
/* The pack's bytes; the caller releases them. The writer may go on. */
kiln_status kiln__pack_writer_to_blob(kiln_blob *out, kiln__pack_writer *writer,
                                      kiln_error **error);
/* Writes a file of another name in the same folder, and gives it its name once
   it is whole and on the disk; what was there before is replaced. */
kiln_status kiln__pack_writer_to_file(kiln__pack_writer *writer,
                                      const char *path, kiln_error **error);
/* The same below an open folder. */
kiln_status kiln__pack_writer_to_folder(kiln__pack_writer *writer, int folder,
                                        const char *path, kiln_error **error);

#endif /* KILN_PACK_H */
