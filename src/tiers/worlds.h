/* worlds.h - frontends' worlds: today's, those held, those of a request. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_WORLDS_H
#define KILN_WORLDS_H

#include "base/data/array.h"
#include "context/context.h"

/*
 * Each frontend counts its own worlds. A request is answered in one world of
 * each frontend that it reaches: in the one that was asked for of the
 * function's own frontend, and in that of any other which is today's when it is
 * reached first. All of them are held until the request ends. So what it asks
 * on its way, be it more than once and of whomever, it asks of one program.
 *
 * Belongs to one thread.
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

/* The world that the frontend says. KILN_EINVAL when what it says cannot be:
   worlds begin at 1 and never decrease. */
kiln_status kiln__world_newest(uint64_t *out, const kiln_frontend *frontend,
                               kiln_error **error);
/* Today's world, that of requests: the same, or the one before the changes that
   kiln_world_changing() told of. */
kiln_status kiln__world_now(uint64_t *out, const kiln_frontend *frontend,
                            kiln_error **error);
/* Takes a world of the request's own frontend: today's for 0. KILN_EINVAL for
   one that is neither today's nor held by anybody. On failure nothing is to be
   ended. */
kiln_status kiln__worlds_begin(kiln__worlds *out, kiln_frontend *frontend,
                               uint64_t world, kiln_error **error);
void kiln__worlds_end(kiln__worlds *worlds);
/* The world of any frontend, taken if need be. */
kiln_status kiln__worlds_take(uint64_t *out, kiln__worlds *worlds,
                              kiln_frontend *frontend, kiln_error **error);
/* 0: it was not taken yet. */
static inline uint64_t kiln__worlds_of(const kiln__worlds *worlds,
                                       const kiln_frontend *frontend)
{
    for (size_t i = 0; i < worlds->taken.count; i++)
        if (worlds->taken.items[i].frontend == frontend)
            return worlds->taken.items[i].number;
    return 0;
}
/* For a look that takes nothing: KILN_EINVAL as kiln__worlds_begin(). */
kiln_status kiln__world_check(uint64_t *out, const kiln_frontend *frontend,
                              uint64_t world, kiln_error **error);
/* With the registry's lock held: the oldest world that somebody holds, or
   `now`. */
uint64_t kiln__world_oldest(const kiln_frontend *frontend, uint64_t now);
/* Ends one of the changes that kiln_world_changing() told of, if there is one:
   the tiers know of it. */
void kiln__world_change_end(kiln_frontend *frontend);
void kiln__worlds_free(kiln_frontend *frontend);

/* ---- tiers/typed/invalidate.c ---- */
typedef struct kiln__world_change {
    kiln_frontend *frontend;
    uint64_t world; /* may be older than today's, or not yet today's */
    const uint64_t *subjects;
    size_t count;
    void (*told)(void *env); /* NULL, or called once every result has ended
                                that the world ends, before the host is told */
    void *env;
} kiln__world_change;

/* As kiln_world_changed(). Changes may be told in another order than they were
   made. */
kiln_status kiln__world_changed(const kiln__world_change *change,
                                kiln_change_report *report);

#endif /* KILN_WORLDS_H */
