/* worlds.c - worlds of frontends: the current ones, held ones, those of a
   request. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tiers/worlds.h"

#include <inttypes.h>

#include "base/error.h"
#include "tiers/flight.h"
#include "tiers/frontends.h"

/*
 * Only the frontend knows its newest world; requests see that one, or during
 * announced changes the one before them (shown()). A world is held by a count
 * per world in the frontend's list, under the registry's lock, and by the
 * frontend's own hold() and release(), which are called without it. A request
 * takes a world of each frontend that it reaches and holds it until it ends.
 */

/* A held world, with the counts of both kinds of holders: the host, by
   kiln_world_hold(), and requests. The host cannot release what a request
   holds. */
struct kiln__held_world {
    uint64_t world;
    uint64_t host;
    uint64_t requests;
    struct kiln__held_world *next;
};

/* ---- the current world ---- */

static kiln_status refuse_world(const kiln_frontend *frontend, uint64_t world,
                                uint64_t before, kiln_error **error)
{
    if (world == 0 || world == UINT64_MAX)
        return kiln__error_set(
            error, KILN_EINVAL,
            "frontend '%s' says that its world is %" PRIu64 ": %s",
            frontend->name, world,
            world ? "that stands for no end" : "worlds begin at 1");
    return kiln__error_set(error, KILN_EINVAL,
                           "frontend '%s' says that its world is %" PRIu64
                           ", and it was %" PRIu64
                           " before: worlds never decrease",
                           frontend->name, world, before);
}

/* How many questions for a world are nested on this thread: a world() that
   makes requests would need its own answer. */
static _Thread_local int asking;

#define ASKING_MAX 16

static uint64_t ask_world(const kiln_frontend *frontend)
{
    uint64_t world;

    if (asking >= ASKING_MAX)
        return 0;
    asking++;
    world = frontend->ops.world(frontend->self);
    asking--;
    return world;
}

/* `seen` is read before the question, so the answer must not be less. */
kiln_status kiln__world_newest(uint64_t *out, const kiln_frontend *frontend,
                               kiln_error **error)
{
    kiln_frontend *writable = (kiln_frontend *)(uintptr_t)frontend;
    uint64_t seen = atomic_load(&writable->seen_world);
    uint64_t world;

    if (asking >= ASKING_MAX)
        return kiln__error_set(error, KILN_ERECURSION,
                               "world() of frontend '%s' needs its own answer",
                               frontend->name);
    world = ask_world(frontend);
    if (world == 0 || world == UINT64_MAX || world < seen)
        return refuse_world(frontend, world, seen, error);
    while (seen < world &&
           !atomic_compare_exchange_weak(&writable->seen_world, &seen, world))
        ;
    *out = world;
    return KILN_OK;
}

/*
 * Returns the world that requests see when the frontend's newest one is
 * `world`. Call it after the frontend was asked: a change that made this world
 * began earlier, and if it has ended by now, the tiers know about it. There is
 * no lock, because every hit of typed IR comes here: a thread that reads a
 * world also sees what was done before it, including the bound that
 * begin_change() set.
 */
static uint64_t shown(const kiln_frontend *frontend, uint64_t world)
{
    const uint64_t bound = atomic_load(&frontend->newest_shown);

    return world < bound ? world : bound;
}

kiln_status kiln__world_now(uint64_t *out, const kiln_frontend *frontend,
                            kiln_error **error)
{
    uint64_t newest;

    KILN_TRY(kiln__world_newest(&newest, frontend, error));
    *out = shown(frontend, newest);
    return KILN_OK;
}

/* Opens a call scope, as everything that runs callbacks does. */
uint64_t kiln_world(const kiln_frontend *frontend)
{
    kiln__call_scope scope;
    uint64_t world;

    (void)kiln__call_scope_enter(&scope, frontend->context);
    world = shown(frontend, ask_world(frontend));
    kiln__call_scope_leave(&scope);
    return world;
}

/* ---- the list of held worlds, under the registry's lock ---- */

static struct kiln__held_world **held_find(kiln_frontend *frontend,
                                           uint64_t world)
{
    struct kiln__held_world **link = &frontend->held;

    while (*link != NULL && (*link)->world != world)
        link = &(*link)->next;
    return link;
}

static kiln_status held_add(kiln_frontend *frontend, uint64_t world,
                            int by_host)
{
    struct kiln__held_world **link;
    int is_held;

    kiln__registry_lock(frontend->context);
    link = held_find(frontend, world);
    if (!*link) {
        *link = kiln__allocate(&frontend->context->alloc, sizeof **link);
        if (*link != NULL)
            (*link)->world = world;
    }
    if (*link != NULL && by_host)
        (*link)->host++;
    else if (*link != NULL)
        (*link)->requests++;
    is_held = *link != NULL;
    kiln__registry_unlock(frontend->context);
    return is_held ? KILN_OK : KILN_ENOMEM;
}

/* True when the world was held. */
static int held_remove(kiln_frontend *frontend, uint64_t world, int by_host)
{
    struct kiln__held_world **link;
    struct kiln__held_world *held;
    uint64_t *count = NULL;

    kiln__registry_lock(frontend->context);
    link = held_find(frontend, world);
    held = *link;
    if (held != NULL)
        count = by_host ? &held->host : &held->requests;
    if (count != NULL && *count > 0)
        --*count;
    else
        count = NULL;
    if (count != NULL && held->host == 0 && held->requests == 0) {
        *link = held->next;
        kiln__deallocate(&frontend->context->alloc, held, sizeof *held);
    }
    kiln__registry_unlock(frontend->context);
    return count != NULL;
}

static int is_held(const kiln_frontend *frontend, uint64_t world)
{
    int found;

    kiln__registry_lock(frontend->context);
    found = *held_find((kiln_frontend *)(uintptr_t)frontend, world) != NULL;
    kiln__registry_unlock(frontend->context);
    return found;
}

uint64_t kiln__world_oldest(const kiln_frontend *frontend, uint64_t now)
{
    uint64_t oldest = now;

    for (const struct kiln__held_world *held = frontend->held; held != NULL;
         held = held->next)
        if (held->world < oldest)
            oldest = held->world;
    return oldest;
}

void kiln__worlds_free(kiln_frontend *frontend)
{
    while (frontend->held != NULL) {
        struct kiln__held_world *next = frontend->held->next;

        kiln__deallocate(&frontend->context->alloc, frontend->held,
                         sizeof *next);
        frontend->held = next;
    }
}

/* ---- holding ---- */

static void let_go(kiln_frontend *frontend, uint64_t world, int by_host)
{
    if (held_remove(frontend, world, by_host) && frontend->ops.release != NULL)
        frontend->ops.release(frontend->self, world);
}

static kiln_status hold(kiln_frontend *frontend, uint64_t world, int by_host)
{
    kiln_status status = KILN_OK;

    if (frontend->ops.hold != NULL)
        status = frontend->ops.hold(frontend->self, world);
    if (status != KILN_OK)
        return status;
    status = held_add(frontend, world, by_host);
    if (status != KILN_OK && frontend->ops.release != NULL)
        frontend->ops.release(frontend->self, world);
    return status;
}

static kiln_status refuse_hold(const kiln_frontend *frontend, uint64_t world,
                               kiln_status status, kiln_error **error)
{
    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    return kiln__error_set(
        error, status, "frontend '%s' does not hold its world %" PRIu64 ": %s",
        frontend->name, world, kiln_status_text(status));
}

/* The world may advance before the frontend holds it. If the frontend has let
   go of it already, it returns KILN_ENOTFOUND, and a newer world is tried;
   there is a limit to that. */
#define ATTEMPTS_MAX 1000

static kiln_status hold_now(uint64_t *out, kiln_frontend *frontend, int by_host,
                            kiln_error **error)
{
    for (int attempt = 1;; attempt++) {
        uint64_t world, newer;
        kiln_status status;

        KILN_TRY(kiln__world_now(&world, frontend, error));
        status = hold(frontend, world, by_host);
        *out = world;
        if (status == KILN_OK)
            return KILN_OK;
        KILN_TRY(kiln__world_now(&newer, frontend, error));
        if (status != KILN_ENOTFOUND || newer == world ||
            attempt == ATTEMPTS_MAX)
            return refuse_hold(frontend, world, status, error);
    }
}

/* Opens a call scope, so that nothing is collected in the meantime. */
kiln_status kiln_world_hold(uint64_t *out, kiln_frontend *frontend)
{
    uint64_t world;
    kiln__call_scope scope;
    kiln__call_chain *chain;
    kiln_status status;

    KILN_REQUIRE(out != NULL, NULL);
    KILN_REQUIRE(frontend != NULL, NULL);
    chain = kiln__call_scope_enter(&scope, frontend->context);
    status = kiln__call_scope_check_depth(chain, NULL);
    if (status == KILN_OK)
        status = hold_now(&world, frontend, 1, NULL);
    kiln__call_scope_leave(&scope);
    if (status == KILN_OK)
        *out = world;
    return status;
}

void kiln_world_release(kiln_frontend *frontend, uint64_t world)
{
    kiln__call_scope scope;

    if (frontend == NULL)
        return;
    (void)kiln__call_scope_enter(&scope, frontend->context);
    let_go(frontend, world, 1);
    kiln__call_scope_leave(&scope);
}

/* ---- changes under way ---- */

/* False when the world is no longer current. Every change that
   kiln_world_changed() told before is in `seen_world`. */
static int begin_change(kiln_frontend *frontend, uint64_t world)
{
    int is_today;

    kiln__registry_lock(frontend->context);
    is_today = frontend->changes > 0
                   ? world == atomic_load(&frontend->newest_shown)
                   : world >= atomic_load(&frontend->seen_world);
    if (is_today) {
        atomic_store(&frontend->newest_shown, world);
        frontend->changes++;
    }
    kiln__registry_unlock(frontend->context);
    return is_today;
}

/* Each change holds the world that requests see until it ends. */
kiln_status kiln_world_changing(kiln_frontend *frontend)
{
    kiln__call_scope scope;
    kiln__call_chain *chain;
    kiln_status status;
    int has_begun = 0;

    KILN_REQUIRE(frontend != NULL, NULL);
    chain = kiln__call_scope_enter(&scope, frontend->context);
    status = kiln__call_scope_check_depth(chain, NULL);
    while (status == KILN_OK && !has_begun) {
        uint64_t world;

        status = hold_now(&world, frontend, 0, NULL);
        if (status != KILN_OK)
            break;
        has_begun = begin_change(frontend, world);
        if (!has_begun)
            let_go(frontend, world, 0);
    }
    kiln__call_scope_leave(&scope);
    return status;
}

void kiln__world_change_end(kiln_frontend *frontend)
{
    uint64_t world;
    int was_begun;

    kiln__registry_lock(frontend->context);
    was_begun = frontend->changes > 0;
    world = atomic_load(&frontend->newest_shown);
    if (was_begun && --frontend->changes == 0)
        atomic_store(&frontend->newest_shown, UINT64_MAX);
    kiln__registry_unlock(frontend->context);
    if (was_begun)
        let_go(frontend, world, 0);
}

/* ---- worlds of a request ---- */

kiln_status kiln__world_check(uint64_t *out, const kiln_frontend *frontend,
                              uint64_t world, kiln_error **error)
{
    uint64_t now;

    if (world != 0 && is_held(frontend, world)) {
        *out = world;
        return KILN_OK;
    }
    KILN_TRY(kiln__world_now(&now, frontend, error));
    *out = now;
    if (world == 0 || world == now)
        return KILN_OK;
    return kiln__error_set(error, KILN_EINVAL,
                           "world %" PRIu64 " of frontend '%s' is neither held "
                           "nor the current one, which is %" PRIu64,
                           world, frontend->name, now);
}

static kiln_status add(kiln__worlds *worlds, kiln_frontend *frontend,
                       uint64_t world, kiln_error **error)
{
    const kiln__world taken = {frontend, world};

    if (kiln__array_push(worlds->alloc, &worlds->taken, taken))
        return KILN_OK;
    let_go(frontend, world, 0);
    return kiln__error_no_memory(error);
}

static kiln_status take_now(uint64_t *out, kiln__worlds *worlds,
                            kiln_frontend *frontend, kiln_error **error)
{
    KILN_TRY(hold_now(out, frontend, 0, error));
    return add(worlds, frontend, *out, error);
}

static kiln_status take_given(kiln__worlds *worlds, kiln_frontend *frontend,
                              uint64_t world, kiln_error **error)
{
    uint64_t checked;
    kiln_status status;

    KILN_TRY(kiln__world_check(&checked, frontend, world, error));
    status = hold(frontend, world, 0);
    if (status != KILN_OK)
        return refuse_hold(frontend, world,
                           status == KILN_ENOTFOUND ? KILN_EINVAL : status,
                           error);
    return add(worlds, frontend, world, error);
}

kiln_status kiln__worlds_begin(kiln__worlds *out, kiln_frontend *frontend,
                               uint64_t world, kiln_error **error)
{
    uint64_t now;

    *out = (kiln__worlds){.alloc = &frontend->context->alloc};
    return world ? take_given(out, frontend, world, error)
                 : take_now(&now, out, frontend, error);
}

void kiln__worlds_end(kiln__worlds *worlds)
{
    for (size_t i = 0; i < worlds->taken.count; i++)
        let_go(worlds->taken.items[i].frontend, worlds->taken.items[i].number,
               0);
    kiln__array_dispose(worlds->alloc, &worlds->taken);
}

kiln_status kiln__worlds_take(uint64_t *out, kiln__worlds *worlds,
                              kiln_frontend *frontend, kiln_error **error)
{
    *out = kiln__worlds_of(worlds, frontend);
    return *out ? KILN_OK : take_now(out, worlds, frontend, error);
}
