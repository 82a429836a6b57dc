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
 * entries: when none of its entries was used for too long; and when there is
 * too much, the longest unused pack first. The time of modification notes the
 * last use.
 */
#define KILN__FOLDER_PACKS "packs"
#define KILN__FOLDER_PACK_SUFFIX ".kilnpack"

/* A pack as the folder's listing shows it. */
typedef struct kiln__folder_pack_file {
    char name[64];
    int64_t used_s;
    uint64_t size;
} kiln__folder_pack_file;

typedef kiln__array_of(kiln__folder_pack_file) kiln__folder_pack_list;

/* Lists the packs, the last used first. The list is empty where the folder must
   not be used. KILN_ENOMEM; KILN_EIO: it cannot be listed now. */
kiln_status kiln__folder_packs_list(kiln__folder_pack_list *out,
                                    kiln__loose *loose);
/* Opens the folder; with `makes`, makes it. Returns a descriptor, or -1 with
   errno. If the folder must not be used, that is logged. */
int kiln__folder_packs_open(kiln__loose *loose, int makes);
/* Opens a pack of the open folder. A pack that must not be used is logged, and
   is KILN_ENOTFOUND without an error. KILN_EAGAIN, without an error: it cannot
   be opened now. */
kiln_status kiln__folder_pack_open(kiln_pack **out, kiln__loose *loose,
                                   int folder, const char *name,
                                   kiln_error **error);
/* Drops packs that are too old or too much, if the store writes. */
void kiln__folder_packs_prune(kiln__loose *loose, kiln__store_report *report);
/* Drops all packs. */
void kiln__folder_packs_clear(kiln__loose *loose, kiln__store_report *report);
/* Adds the packs to the list of stores, after the loose entries; under the
   lock. False: try again later, because descriptors or memory were short. */
int kiln__folder_packs_add(kiln_context *context, kiln__loose *loose);

#endif /* KILN_STORES_FOLDER_PACKS_H */
