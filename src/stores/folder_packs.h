/* folder_packs.h - the packs in a disk store's own folder. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_STORES_FOLDER_PACKS_H
#define KILN_STORES_FOLDER_PACKS_H

#include "base/data/array.h"
#include "stores/loose/loose.h"
#include "stores/pack/pack.h"

/*
 * FOLDER/[NAME SPACE/]v2/packs/NAME.kilnpack
 *
 * Loose entries that were not used for a while are moved into such packs, and
 * read from there. A pack is evicted as a whole, by the same bounds as loose
 * entries: when none of its entries was used for too long, and, the longest
 * unused first, when there is too much. What is used of it is noted in its
 * time of modification.
 */
#define KILN__FOLDER_PACKS "packs"
#define KILN__FOLDER_PACK_SUFFIX ".kilnpack"

/* As others see it. */
typedef struct kiln__folder_pack_file {
    char name[64];
    int64_t used_s;
    uint64_t size;
} kiln__folder_pack_file;

typedef kiln__array_of(kiln__folder_pack_file) kiln__folder_pack_list;

/* Lists them, the last used first; nothing where the folder may not be used.
   KILN_ENOMEM; KILN_EIO: it cannot be looked at now. */
kiln_status kiln__folder_packs_list(kiln__folder_pack_list *out,
                                    kiln__loose *loose);
/* Opens the folder: a descriptor, or -1 and errno; with `makes`, makes it. One
   that is not to be used is told. */
int kiln__folder_packs_open(kiln__loose *loose, int makes);
/* Opens a pack of the open folder. One that is not to be used is told, and is
   KILN_ENOTFOUND without an error; so is KILN_EAGAIN: not now. */
kiln_status kiln__folder_pack_open(kiln_pack **out, kiln__loose *loose,
                                   int folder, const char *name,
                                   kiln_error **error);
/* Drops those that are too old or too much; in a store that writes. */
void kiln__folder_packs_prune(kiln__loose *loose, kiln__store_report *report);
/* Drops all. */
void kiln__folder_packs_clear(kiln__loose *loose, kiln__store_report *report);
/* Puts them into the order, behind the loose entries; under the lock. False:
   for want of descriptors or memory it is to be tried again. */
int kiln__folder_packs_add(kiln_context *context, kiln__loose *loose);

#endif /* KILN_STORES_FOLDER_PACKS_H */
