/* worlds.h - worlds of frontends: the current ones, held ones, those of a
   request. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_WORLDS_H
#define KILN_WORLDS_H

#include "base/data/array.h"
#include "context/context.h"

/*
 * Each frontend counts its own worlds. A request is answered in one world of
 * each frontend that it reaches: of the function's own frontend in the world
 * that was asked for, of any other in the one that was current when the request
 * first reached that frontend. All of them are held until the request ends. So
 * everything that the request asks, of any frontend and any number of times, it
 * asks of one program.
 *
 * A kiln__worlds belongs to one thread.
 */
typedef struct kiln__world {
    kiln_frontend *frontend;
    uint64_t number;
} kiln__world;

typedef struct kiln__worlds {
    const kiln_alloc *alloc;
    kiln__array_of(kiln__world) taken; /* each is held */
    int is_torn; /* something was asked about another world than these */
} kiln__worlds;

/* Asks the frontend for its world. KILN_EINVAL when the answer is impossible:
   worlds begin at 1 and never decrease. */
kiln_status kiln__world_newest(uint64_t *out, const kiln_frontend *frontend,
                               kiln_error **error);
/* The current world for requests: the same, or the one before changes that
   kiln_world_changing() announced. */
kiln_status kiln__world_now(uint64_t *out, const kiln_frontend *frontend,
                            kiln_error **error);
/* Takes a world of the request's own frontend; 0 means the current one.
   KILN_EINVAL for a world that is neither current nor held. After a failure
   there is nothing to end. */
kiln_status kiln__worlds_begin(kiln__worlds *out, kiln_frontend *frontend,
                               uint64_t world, kiln_error **error);
void kiln__worlds_end(kiln__worlds *worlds);
/* Gives the world of any frontend, and takes it if need be. */
kiln_status kiln__worlds_take(uint64_t *out, kiln__worlds *worlds,
                              kiln_frontend *frontend, kiln_error **error);
/* 0: it has not been taken. */
static inline uint64_t kiln__worlds_of(const kiln__worlds *worlds,
                                       const kiln_frontend *frontend)
{
    for (size_t i = 0; i < worlds->taken.count; i++)
        if (worlds->taken.items[i].frontend == frontend)
            return worlds->taken.items[i].number;
    return 0;
}
/* Checks a world without taking it: KILN_EINVAL as kiln__worlds_begin(). */
kiln_status kiln__world_check(uint64_t *out, const kiln_frontend *frontend,
                              uint64_t world, kiln_error **error);
/* With the registry's lock held. Returns the oldest held world, or `now`. */
uint64_t kiln__world_oldest(const kiln_frontend *frontend, uint64_t now);
/* Ends one of the changes that kiln_world_changing() announced, if there is
   one: the tiers know about it now. */
void kiln__world_change_end(kiln_frontend *frontend);
void kiln__worlds_free(kiln_frontend *frontend);

#endif /* KILN_WORLDS_H */
