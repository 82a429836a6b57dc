/* map.h - a hash map from digests to pointers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_MAP_H
#define KILN_MAP_H

#include "base/data/memory.h"

/*
 * Keys are digests already, so the map hashes nothing. map.c is the only user
 * of uthash. The caller locks.
 */
typedef struct kiln__map {
    const kiln_alloc *alloc;
    struct kiln__map_entry *entries;
} kiln__map;

/* A key for a table of this process whose other keys are made in the same way
   and whose values are compared. It is a hash of the bytes, a tenth of a
   digest's work. */
kiln_digest kiln__map_bytes(const void *bytes, size_t size);
kiln_digest kiln__map_text(const char *text);
/* The same for a few words. If different words have the same key, comparing the
   values distinguishes them. */
kiln_digest kiln__map_words(const uint64_t *words, size_t count);
/* A key that is two numbers of this process, such as addresses, for a table
   without other kinds of keys. */
kiln_digest kiln__map_key(uint64_t first, uint64_t second);

void kiln__map_init(kiln__map *map, const kiln_alloc *alloc);
void kiln__map_dispose(kiln__map *map); /* does not free the values */
void *kiln__map_get(const kiln__map *map, kiln_digest key);
/* The same as a get of kiln__map_words(words, count), in half the time. */
void *kiln__map_get_words(const kiln__map *map, const uint64_t *words,
                          size_t count);
/* Sets or replaces; `value` is not NULL. False when out of memory. */
int kiln__map_set(kiln__map *map, kiln_digest key, void *value);
void *kiln__map_remove(kiln__map *map, kiln_digest key);
size_t kiln__map_count(const kiln__map *map);
/* Calls visit for each entry in insertion order; visit must not change the
   map. */
void kiln__map_each(const kiln__map *map,
                    void (*visit)(kiln_digest key, void *value, void *env),
                    void *env);

#endif /* KILN_MAP_H */
