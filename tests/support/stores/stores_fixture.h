/* stores_fixture.h - a context with a disk store in a folder of a test. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_STORES_FIXTURE_H
#define KILN_TESTS_STORES_FIXTURE_H

#include "kiln/context.h"
#include "stores/stores.h"
#include "support/stores/faulty_store.h"
#include "support/stores/loose_files.h"

typedef struct stores_fixture {
    char *folder;
    char disk[300];
    char lines[2000]; /* of the log, since the context was made */
    kiln_host_ops host;
    kiln_cache_options cache;
    kiln_context *context;
    loose_entry a, b;
} stores_fixture;

/* cmocka's fixture: *state is a stores_fixture. */
int stores_setup(void **state);
int stores_teardown(void **state);
/* Ends the context and makes another one with `cache`. For stores, that is a
   process which comes later. */
void stores_reopen(stores_fixture *f);
void stores_reopen_as(stores_fixture *f, uint8_t mode);
/* Put and get as tiers do. */
void stores_put(stores_fixture *f, const loose_entry *e);
int stores_has(stores_fixture *f, const loose_entry *e);
kiln_store_statistics stores_counts_of(const stores_fixture *f, int32_t tier);
kiln_store_statistics stores_counts(const stores_fixture *f); /* for binaries */
/* Adds a faulty store before a list in memory. That ends with the context,
   which is after the test. */
void stores_add_faulty(stores_fixture *f, faulty_store *faulty,
                       int32_t priority);
/* Writes a pack of the entry `a` into the folder, and its path to `path`. */
void stores_pack(char path[400], const stores_fixture *f);

#endif /* KILN_TESTS_STORES_FIXTURE_H */
