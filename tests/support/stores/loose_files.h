/* loose_files.h - loose stores in folders of a test, and their files. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_LOOSE_FILES_H
#define KILN_TESTS_LOOSE_FILES_H

#include "stores/loose/loose.h"

/* Options of a store without bounds that writes. */
kiln__loose_options loose_options(const char *folder);
kiln__loose *loose_open(const kiln__loose_options *options);
kiln__loose *loose_at(const char *folder);

/* From now on, temporary folders are in memory, where that is possible and
   TMPDIR does not say otherwise. A disk may take milliseconds for each of
   thousands of files that are deleted. */
void loose_prefer_memory(void);

/* An envelope whose key is `name`, and whose payload is `size` bytes that
   depend on the name. */
typedef struct loose_entry {
    char text[32];
    kiln__entry entry;
    kiln_blob envelope;
    char *payload;
} loose_entry;

void loose_entry_make(loose_entry *made, const char *name, size_t size);
void loose_entry_end(loose_entry *made);
void loose_put(kiln__loose *loose, const loose_entry *entry);
/* Writes the path of the entry's file. */
void loose_path(char *path, size_t capacity, const char *folder,
                const loose_entry *entry);
/* True when the store has the entry, byte for byte. Otherwise `fault` says why
   not. */
int loose_has(kiln__loose *loose, const loose_entry *entry,
              kiln__entry_fault *fault);
/* Counts the files in all folders of the store whose names begin with `begin`;
   "": all. The note of what is there, which a put may write, does not count. */
size_t loose_count(const char *folder, const char *begin);
/* Sets when the file was last used, in seconds from now. */
void loose_set_age(const char *path, long seconds);
/* As loose_set_age(), for all files whose names begin with `begin`. */
void loose_set_ages(const char *folder, const char *begin, long seconds);

#endif /* KILN_TESTS_LOOSE_FILES_H */
