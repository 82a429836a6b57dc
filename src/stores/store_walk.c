/* store_walk.c - shows every entry and where it is, for tools. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/digest/digest.h"
#include "stores/pack/pack.h"
#include "stores/store_chain.h"

typedef struct walk {
    kiln__store_link *link;
    kiln__loose *loose;
    kiln__store_see see;
    void *env;
    uint32_t one_in; /* 0: all */
    uint64_t offset; /* start of the sample */
    int goes_on;
} walk;

static int is_in_sample(const walk *w, uint64_t number)
{
    return w->one_in < 2 || (number + w->offset) % w->one_in == 0;
}

/* Returns the link's store of loose files, or NULL. It may be written or only
   read. */
static kiln__loose *loose_of(const kiln__store_link *link)
{
    return link->ops.get == kiln__loose_ops.get ? link->self : NULL;
}

/* ---- loose files ---- */

static int see_loose(void *env, const kiln__store_item *item)
{
    char path[KILN__LOOSE_PATH_SIZE], name[KILN__LOOSE_NAME_SIZE];
    walk *w = env;
    kiln__store_seen seen = {
        .place = w->loose->directory,
        .path = path,
        .priority = w->link->priority,
        .item = *item,
    };
    kiln_status status;

    if (!is_in_sample(w, kiln__digest_word(item->digest)))
        return 1;
    kiln__loose_name(name, item->digest);
    kiln__loose_path(path, w->loose, name);
    status =
        kiln__loose_peek(&seen.stored, &seen.fault, w->loose, item->digest);
    /* The entry was dropped in the meantime, or cannot be read. */
    if (status != KILN_OK && seen.fault == KILN__FAULT_NONE)
        return 1;
    seen.stored.from = w->link;
    w->goes_on = w->see(w->env, &seen);
    kiln__stored_release(&seen.stored);
    return w->goes_on;
}

/* ---- packs ---- */

static int see_packed(const kiln__store_seen *common, kiln_pack *pack,
                      size_t index, kiln__store_see see, void *env)
{
    kiln__store_seen seen = *common;
    kiln__packed found;
    const kiln_status status = kiln__pack_at(&found, pack, index);
    int goes_on;

    seen.fault = found.fault;
    seen.item.digest = found.digest;
    if (status != KILN_OK && found.fault == KILN__FAULT_NONE)
        return 1;
    if (status == KILN_OK) {
        seen.stored.entry = found.entry;
        seen.stored.bytes = found.bytes;
        seen.item.size = seen.item.disk_size = found.bytes.size;
    }
    goes_on = see(env, &seen);
    kiln_blob_release(&found.bytes);
    return goes_on;
}

static kiln_status walk_pack(const walk *w, kiln_pack *pack, int32_t priority)
{
    const kiln__store_seen common = {
        .place = kiln__pack_name(pack),
        .path = kiln__pack_name(pack),
        .priority = priority,
        .is_packed = 1,
        .item.used_s = kiln__pack_used_s(pack),
    };
    const size_t count = kiln__pack_count(pack);

    for (size_t i = 0; i < count; i++)
        if (is_in_sample(w, i) && !see_packed(&common, pack, i, w->see, w->env))
            return KILN_ECANCELED;
    return KILN_OK;
}

kiln_status kiln__stores_walk_pack(kiln_pack *pack, int32_t priority,
                                   kiln__store_see see, void *env)
{
    const walk w = {.see = see, .env = env};

    return walk_pack(&w, pack, priority);
}

/* ---- all of them ---- */

kiln_status kiln__stores_walk(kiln_context *context, uint32_t one_in,
                              kiln__store_see see, void *env)
{
    walk w = {.see = see,
              .env = env,
              .one_in = one_in,
              .offset = kiln__clock_ns() / 1000,
              .goes_on = 1};
    kiln_status status = KILN_OK;

    for (w.link = kiln__chain_first(context);
         w.link != NULL && w.goes_on && status == KILN_OK;
         w.link = kiln__chain_next(w.link)) {
        w.loose = loose_of(w.link);
        if (w.loose != NULL)
            status = kiln__loose_each(w.loose, see_loose, &w);
        else if (w.link->pack != NULL)
            status = walk_pack(&w, w.link->pack, w.link->priority);
    }
    return status == KILN_ECANCELED ? KILN_OK : status;
}

kiln_status kiln__stores_drop(const kiln__store_seen *seen)
{
    const kiln__store_link *link = seen->stored.from;

    if (link == NULL || link->loose == NULL || !link->loose->options.writes)
        return KILN_EREADONLY;
    kiln__loose_drop(link->loose, seen->item.digest, seen->stored.identity);
    return KILN_OK;
}

void kiln__stores_places(kiln_context *context,
                         void (*see)(void *env, const char *place,
                                     int32_t priority, int is_pack),
                         void *env)
{
    const kiln__store_link *link = kiln__chain_first(context);

    for (; link != NULL; link = kiln__chain_next(link)) {
        const kiln__loose *loose = loose_of(link);

        if (loose != NULL)
            see(env, loose->directory, link->priority, 0);
        else if (link->pack != NULL)
            see(env, kiln__pack_name(link->pack), link->priority, 1);
    }
}
