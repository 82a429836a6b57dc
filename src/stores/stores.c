/* stores.c - gets, puts and rejects entries for the tiers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "stores/stores.h"

#include "base/error.h"
#include "context/cache_settings.h"
#include "context/counters.h"
#include "context/trace.h"
#include "kiln/kernel.h"
#include "stores/failed_input.h"
#include "stores/folder_packs.h"
#include "stores/store_chain.h"

/* ---- how stores are used ---- */

kiln__cache_mode kiln__stores_mode(const kiln_context *context)
{
    static const kiln__cache_mode modes[] = {
        [KILN_CACHE_MODE_OFF] = KILN__CACHE_OFF,
        [KILN_CACHE_MODE_READ_ONLY] = KILN__CACHE_READ_ONLY,
        [KILN_CACHE_MODE_READ_WRITE] = KILN__CACHE_READ_WRITE,
        [KILN_CACHE_MODE_MUST_HIT] = KILN__CACHE_MUST_HIT,
        [KILN_CACHE_MODE_REFRESH] = KILN__CACHE_REFRESH,
        [KILN_CACHE_MODE_VERIFY] = KILN__CACHE_VERIFY,
    };

    return modes[context->cache->mode];
}

uint64_t kiln__stores_mem_size(const kiln_context *context)
{
    return context->cache->mem_size;
}

uint64_t kiln__stores_wait_ms(const kiln_context *context)
{
    return context->cache->wait_ms;
}

int kiln__stores_locks(const kiln_context *context)
{
    return context->cache->locks;
}

static int tier_is_on(const kiln_context *context, int32_t kind)
{
    return !(context->cache->tiers_off & 1u << kiln__entry_tier(kind));
}

int kiln__stores_read(const kiln_context *context, int32_t kind)
{
    const kiln__cache_mode mode = kiln__stores_mode(context);

    return mode != KILN__CACHE_OFF && mode != KILN__CACHE_REFRESH &&
           tier_is_on(context, kind);
}

int kiln__stores_write(const kiln_context *context, int32_t kind)
{
    const kiln__cache_mode mode = kiln__stores_mode(context);

    return (mode == KILN__CACHE_READ_WRITE || mode == KILN__CACHE_REFRESH ||
            mode == KILN__CACHE_VERIFY) &&
           tier_is_on(context, kind);
}

int kiln__stores_load(const kiln_context *context, int32_t kind)
{
    return kiln__stores_read(context, kind) &&
           kiln__stores_mode(context) != KILN__CACHE_VERIFY;
}

int kiln__stores_share(const kiln_context *context, int32_t kind)
{
    return kiln__stores_load(context, kind) &&
           kiln__stores_write(context, kind) && kiln__stores_locks(context);
}

/* ---- getting ---- */

_Static_assert(KILN__FAULT_COUNT == 11 && KILN_MISS_COUNT == 13,
               "each fault is a reason to miss");

static int reason_of(kiln__entry_fault fault)
{
    static const int reasons[KILN__FAULT_COUNT + 1] = {
        [KILN__FAULT_NONE] = KILN_MISS_STALE,
        [KILN__FAULT_TRUNCATED] = KILN_MISS_TRUNCATED,
        [KILN__FAULT_FOREIGN] = KILN_MISS_FOREIGN,
        [KILN__FAULT_VERSION] = KILN_MISS_VERSION,
        [KILN__FAULT_CHECKSUM] = KILN_MISS_CHECKSUM,
        [KILN__FAULT_KEY] = KILN_MISS_KEY,
        [KILN__FAULT_MALFORMED] = KILN_MISS_MALFORMED,
        [KILN__FAULT_STALE] = KILN_MISS_STALE,
        [KILN__FAULT_TOOLCHAIN] = KILN_MISS_TOOLCHAIN,
        [KILN__FAULT_DIFFERENT] = KILN_MISS_DIFFERENT,
        [KILN__FAULT_UNTRUSTED] = KILN_MISS_UNTRUSTED,
        [KILN__FAULT_COUNT] = KILN_MISS_FAILED,
    };

    return reasons[fault];
}

static void count_miss(kiln_context *context, int32_t kind, int reason)
{
    kiln__count_store(context, kiln__entry_tier(kind),
                      KILN__STORE_MISSES + reason, 1, KILN__STORE_HITS, 0);
}

/* Copies an entry from a store of the host to the disk. */
static void keep_copy(kiln_context *context, const kiln__stored *stored)
{
    for (kiln__store_link *link = kiln__chain_first(context); link != NULL;
         link = kiln__chain_next(link))
        if (link->loose != NULL && kiln__link_put(link, &stored->entry.key,
                                                  &stored->bytes, 0) == KILN_OK)
            kiln__count_store(context, kiln__entry_tier(stored->entry.kind),
                              KILN__STORE_BYTES_WRITTEN,
                              (int64_t)stored->bytes.size, KILN__STORE_HITS, 0);
}

/* An entry of another kind would have another key, and Kiln never stores
   entries that hold addresses. */
static int is_right(const kiln__stored *stored, int32_t kind)
{
    return stored->entry.kind == kind &&
           stored->entry.relocation != KILN_RELOCATION_SESSION;
}

/* Entries about this machine are accepted only from this user's folder. Entries
   for equal machines are not accepted from stores of the host. */
static int may_have(const kiln__store_link *link, int32_t kind)
{
    const kiln__entry_reach reach = kiln__entry_reach_of(kind);

    return reach == KILN__REACH_ANYWHERE ||
           (reach == KILN__REACH_ASKED ? !link->is_host : link->loose != NULL);
}

static kiln_status ask_store(kiln__stored *out, kiln_context *context,
                             int32_t kind, const kiln_key *key,
                             kiln__store_link *link)
{
    const int drops = kiln__stores_write(context, kind);
    int met = 0;

    for (; link != NULL; link = kiln__chain_next(link)) {
        kiln__entry_fault fault = KILN__FAULT_NONE;

        if (!may_have(link, kind))
            continue;
        if (kiln__link_find(out, &fault, link, key, drops) == KILN_OK) {
            if (is_right(out, kind))
                return KILN_OK;
            fault = KILN__FAULT_MALFORMED;
            if (drops)
                kiln__link_drop(link, out);
            kiln__stored_release(out);
        }
        if (fault == KILN__FAULT_NONE)
            continue;
        met = 1;
        count_miss(context, kind, reason_of(fault));
    }
    *out = (kiln__stored){0};
    if (!met)
        count_miss(context, kind, KILN_MISS_ABSENT);
    return KILN_ENOTFOUND;
}

static void trace(kiln_context *context, uint64_t start_ns, const char *verb,
                  int32_t kind, const char *outcome, uint64_t size)
{
    const kiln__trace_note note = {
        .category = "store",
        .verb = verb,
        .name = kiln__entry_kind_text(kind),
        .tier = kiln__trace_tier(kiln__entry_tier(kind)),
        .outcome = outcome,
        .bytes = size,
    };

    if (context->trace != NULL)
        kiln__trace_span(context, start_ns, kiln__clock_ns(), &note);
}

static kiln_status get_from(kiln__stored *out, kiln_context *context,
                            int32_t kind, const kiln_key *key,
                            kiln__store_link *first, uint64_t start_ns)
{
    const kiln_status status = ask_store(out, context, kind, key, first);
    const int32_t tier = kiln__entry_tier(kind);

    if (status == KILN_OK)
        kiln__count_store(context, tier, KILN__STORE_HITS, 1,
                          KILN__STORE_BYTES_READ, (int64_t)out->bytes.size);
    kiln__count_store(context, tier, KILN__STORE_GET_NS,
                      (int64_t)(kiln__clock_ns() - start_ns), KILN__STORE_HITS,
                      0);
    trace(context, start_ns, "get", kind, status == KILN_OK ? "hit" : "miss",
          out->bytes.size);
    if (status == KILN_OK && out->from->is_host &&
        kiln__stores_write(context, kind))
        keep_copy(context, out);
    return status;
}

kiln_status kiln__stores_get(kiln__stored *out, kiln_context *context,
                             int32_t kind, const kiln_key *key)
{
    const uint64_t start_ns = kiln__clock_ns();

    *out = (kiln__stored){0};
    if (!kiln__stores_read(context, kind)) {
        count_miss(context, kind, KILN_MISS_OFF);
        return KILN_ENOTFOUND;
    }
    return get_from(out, context, kind, key, kiln__chain_first(context),
                    start_ns);
}

kiln_status kiln__stores_next(kiln__stored *stored, kiln_context *context,
                              int32_t kind, const kiln_key *key)
{
    const uint64_t start_ns = kiln__clock_ns();
    kiln__store_link *from = stored->from;

    kiln__stored_release(stored);
    *stored = (kiln__stored){0};
    if (from == NULL)
        return KILN_ENOTFOUND;
    return get_from(stored, context, kind, key, kiln__chain_next(from),
                    start_ns);
}

void kiln__stores_reject(kiln_context *context, const kiln__stored *stored,
                         kiln__entry_fault fault)
{
    if (stored->from == NULL)
        return;
    kiln__count_store(context, kiln__entry_tier(stored->entry.kind),
                      KILN__STORE_HITS, -1,
                      KILN__STORE_MISSES + reason_of(fault), 1);
    if (kiln__stores_write(context, stored->entry.kind))
        kiln__link_drop(stored->from, stored);
}

/* ---- putting ---- */

/* Whether the kind may be put into the link's store; a store of the host is
   outside this machine. */
static int may_get(const kiln__store_link *link, int32_t kind)
{
    return !link->is_host || kiln__entry_reach_of(kind) == KILN__REACH_ANYWHERE;
}

static int anybody_takes(kiln_context *context, int32_t kind)
{
    for (const kiln__store_link *link = kiln__chain_first(context);
         link != NULL; link = kiln__chain_next(link))
        if ((link->is_host || link->loose != NULL) && may_get(link, kind))
            return 1;
    return 0;
}

/* True if some store took it. */
static int put_everywhere(kiln_context *context, const kiln__entry *entry,
                          int replace)
{
    kiln_blob envelope = {0};
    int is_kept = 0;

    if (kiln__entry_encode(&envelope, &context->alloc, entry) != KILN_OK)
        return 0;
    for (kiln__store_link *link = kiln__chain_first(context); link != NULL;
         link = kiln__chain_next(link)) {
        if (!may_get(link, entry->kind) ||
            kiln__link_put(link, &entry->key, &envelope, replace) != KILN_OK)
            continue;
        is_kept = 1;
        kiln__count_store(context, kiln__entry_tier(entry->kind),
                          KILN__STORE_BYTES_WRITTEN, (int64_t)envelope.size,
                          KILN__STORE_HITS, 0);
    }
    kiln_blob_release(&envelope);
    return is_kept;
}

void kiln__stores_put(kiln_context *context, const kiln__entry *entry,
                      int replace)
{
    const int32_t tier = kiln__entry_tier(entry->kind);
    const uint64_t start_ns = kiln__clock_ns();
    int is_kept;

    if (!kiln__stores_write(context, entry->kind))
        return;
    if (entry->relocation == KILN_RELOCATION_SESSION) {
        kiln__count_store(context, tier, KILN__STORE_REFUSED, 1,
                          KILN__STORE_HITS, 0);
        return;
    }
    if (!anybody_takes(context, entry->kind))
        return;
    if (kiln__stores_mode(context) == KILN__CACHE_REFRESH)
        replace = 1;
    is_kept = put_everywhere(context, entry, replace);
    kiln__count_store(
        context, tier, is_kept ? KILN__STORE_PUTS : KILN__STORE_PUT_FAILURES, 1,
        KILN__STORE_PUT_NS, (int64_t)(kiln__clock_ns() - start_ns));
    trace(context, start_ns, "put", entry->kind, is_kept ? "kept" : "failed",
          entry->payload_size);
}

/* ---- the disk ---- */

kiln__loose *kiln__stores_disk(kiln_context *context)
{
    (void)kiln__chain_first(context);
    return context->stores->disk;
}

int kiln__stores_lock_folder(kiln_context *context)
{
    kiln__loose *loose = kiln__stores_disk(context);
    atomic_int *known = &context->stores->disk_is_network;
    int folder;

    if (loose == NULL || !loose->options.writes || !context->cache->locks)
        return -1;
    folder = kiln__loose_folder(loose, 1);
    if (folder < 0)
        return -1;
    if (atomic_load(known) < 0) {
        const kiln__filesystem found =
            kiln__filesystem_of(&context->alloc, folder);

        if (!found.may_pass)
            atomic_store(known, found.is_network);
    }
    return atomic_load(known) != 0 ? -1 : folder;
}

int kiln__stores_folder(kiln_context *context)
{
    kiln__loose *loose = kiln__stores_disk(context);

    return loose != NULL ? kiln__loose_folder(loose, 0) : -1;
}

kiln_status kiln__stores_each(kiln_context *context,
                              int (*see)(void *env,
                                         const kiln__store_item *item),
                              void *env)
{
    kiln__loose *loose = kiln__stores_disk(context);

    return loose != NULL ? kiln__loose_each(loose, see, env) : KILN_OK;
}

kiln_status kiln__stores_peek(kiln__stored *out, kiln__entry_fault *fault,
                              kiln_context *context, kiln_digest digest)
{
    kiln__loose *loose = kiln__stores_disk(context);

    *out = (kiln__stored){0};
    *fault = KILN__FAULT_NONE;
    return loose != NULL ? kiln__loose_peek(out, fault, loose, digest)
                         : KILN_ENOTFOUND;
}

kiln_status kiln__stores_prune(kiln_context *context,
                               kiln__store_report *report)
{
    kiln__loose *loose = kiln__stores_disk(context);

    *report = (kiln__store_report){0};
    if (loose == NULL)
        return KILN_OK;
    KILN_TRY(kiln__loose_prune(loose, report));
    kiln__folder_packs_prune(loose, report); /* packs get the room that is
                                                left */
    return KILN_OK;
}

kiln_status kiln__stores_clear(kiln_context *context,
                               kiln__store_report *report)
{
    kiln__loose *loose = kiln__stores_disk(context);

    *report = (kiln__store_report){0};
    if (loose == NULL)
        return KILN_OK;
    KILN_TRY(kiln__loose_clear(loose, report));
    kiln__folder_packs_clear(loose, report);
    kiln__failed_clear(loose);
    return KILN_OK;
}

kiln_status kiln__stores_keep_failed(kiln_context *context, char *path,
                                     size_t capacity, const char *suffix,
                                     const void *bytes, size_t size)
{
    kiln__loose *loose = kiln__stores_disk(context);

    return loose != NULL
               ? kiln__failed_keep(loose, path, capacity, suffix, bytes, size)
               : KILN_EREADONLY;
}

const char *kiln__stores_file_system(int *is_network, kiln_context *context,
                                     const char *path)
{
    const kiln__filesystem found =
        kiln__filesystem_of_path(&context->alloc, path);

    *is_network = found.is_network;
    return found.name;
}

const char *kiln__stores_path(kiln_context *context)
{
    const kiln__loose *loose = kiln__stores_disk(context);

    return loose != NULL ? loose->directory : NULL;
}
