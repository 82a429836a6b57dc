/* cache_entries.c - shows, describes and drops entries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/options.h"
#include "context/keys/key.h"
#include "pipeline/cache_tools/cache_entries.h"
#include "stores/pack/pack.h"
#include "tiers/entry_describe.h"

/*
 * A walk over the stores (store_walk.c) reads and checks each entry. Here it
 * becomes a kiln_cache_entry for the public callback, after the filter. What is
 * shown points into the entry and into texts made for it; both are released
 * when the callback has returned.
 */

const char *kiln_cache_kind(size_t index)
{
    return index < KILN__ENTRY_KIND_COUNT
               ? kiln__entry_kind_text((int32_t)index)
               : NULL;
}

/* ---- one entry ---- */

static void fill_common(kiln_cache_entry *out, const kiln__store_seen *seen)
{
    *out = (kiln_cache_entry){
        .size = sizeof *out,
        .digest = seen->item.digest,
        .place = seen->place,
        .path = seen->path,
        .store = seen->priority,
        .is_packed = seen->is_packed,
        .bytes = seen->item.size,
        .disk_bytes = seen->item.disk_size,
        .used_s = seen->item.used_s,
        .fault = seen->fault == KILN__FAULT_NONE
                     ? NULL
                     : kiln__entry_fault_text(seen->fault),
        .kind = "",
        .tier = -1,
        .name = "",
        .target = "",
        .toolchain = "",
    };
}

kiln_status kiln__cache_seen_init(kiln__cache_seen *out,
                                  const kiln_alloc *alloc,
                                  const kiln__store_seen *seen)
{
    const kiln__entry *entry = &seen->stored.entry;
    kiln_cache_entry *shown = &out->shown;

    *out = (kiln__cache_seen){.seen = seen, .alloc = alloc};
    kiln__text_init(&out->name, alloc);
    kiln__text_init(&out->target, alloc);
    kiln__text_init(&out->toolchain, alloc);
    fill_common(shown, seen);
    shown->private_data = out;
    if (shown->fault != NULL)
        return KILN_OK;
    kiln__entry_title(&out->name, &out->target, entry);
    kiln__text_add_n(&out->toolchain, entry->toolchain, entry->toolchain_size);
    if (out->name.failed || out->target.failed || out->toolchain.failed)
        return KILN_ENOMEM;
    shown->kind = kiln__entry_kind_text(entry->kind);
    shown->tier = kiln__entry_tier(entry->kind);
    shown->name = out->name.bytes;
    shown->target = out->target.bytes;
    shown->toolchain = out->toolchain.bytes;
    shown->relocation = entry->relocation;
    shown->build_ns = entry->build_ns;
    shown->payload_bytes = entry->payload_size;
    return KILN_OK;
}

void kiln__cache_seen_dispose(kiln__cache_seen *seen)
{
    kiln__text_dispose(&seen->name);
    kiln__text_dispose(&seen->target);
    kiln__text_dispose(&seen->toolchain);
}

/* ---- filters ---- */

kiln_status kiln__cache_filter_read(kiln_cache_filter *out,
                                    const kiln_cache_filter *given,
                                    kiln_error **error)
{
    return KILN__OPTIONS_READ(out, given, kiln_cache_filter, error);
}

static int lets_through(const kiln_cache_filter *filter,
                        const kiln_cache_entry *entry, int64_t now_s)
{
    if (filter->bad_only && entry->fault == NULL)
        return 0;
    if (filter->disk_only && entry->store != KILN_STORE_DISK)
        return 0;
    if (filter->loose_only && entry->is_packed)
        return 0;
    if (filter->unused_s &&
        (entry->used_s > now_s ||
         (uint64_t)(now_s - entry->used_s) < filter->unused_s))
        return 0;
    if (filter->kind != NULL && strcmp(filter->kind, entry->kind) != 0)
        return 0;
    return filter->name == NULL || strstr(entry->name, filter->name) != NULL;
}

/* ---- walks ---- */

typedef struct walking {
    const kiln__cache_walk *walk;
    int64_t now_s;
    kiln_status status;
    kiln_error **error;
} walking;

static int see_one(void *env, const kiln__store_seen *seen)
{
    walking *w = env;
    kiln__cache_seen made;

    w->status = kiln__cache_seen_init(&made, w->walk->alloc, seen);
    if (w->status != KILN_OK)
        (void)kiln__error_no_memory(w->error);
    else if (lets_through(w->walk->filter, &made.shown, w->now_s))
        w->status = w->walk->see(w->walk->env, &made, w->error);
    kiln__cache_seen_dispose(&made);
    return w->status == KILN_OK;
}

static kiln_status finish_walk(const walking *w, kiln_status status,
                               kiln_error **error)
{
    if (w->status == KILN_ECANCELED)
        return KILN_OK;
    if (w->status != KILN_OK)
        return w->status;
    if (status == KILN_OK || status == KILN_ECANCELED)
        return KILN_OK;
    return status == KILN_ENOMEM
               ? kiln__error_no_memory(error)
               : kiln__error_set(error, status, "the cache cannot be read");
}

kiln_status kiln__cache_walk_all(kiln_context *context,
                                 const kiln__cache_walk *walk,
                                 kiln_error **error)
{
    walking w = {walk, (int64_t)time(NULL), KILN_OK, error};
    const kiln_status status =
        kiln__stores_walk(context, walk->filter->one_in, see_one, &w);

    return finish_walk(&w, status, error);
}

kiln_status kiln__cache_walk_pack(kiln_pack *pack, const kiln__cache_walk *walk,
                                  kiln_error **error)
{
    walking w = {walk, (int64_t)time(NULL), KILN_OK, error};
    const kiln_status status =
        kiln__stores_walk_pack(pack, KILN_STORE_PACKS, see_one, &w);

    return finish_walk(&w, status, error);
}

/* ---- public walks ---- */

typedef struct showing {
    kiln_cache_entry_fn see;
    void *env;
} showing;

static kiln_status show(void *env, const kiln__cache_seen *seen,
                        kiln_error **error)
{
    const showing *s = env;

    (void)error;
    return s->see(s->env, &seen->shown) ? KILN_OK : KILN_ECANCELED;
}

kiln_status kiln_cache_each(kiln_context *context,
                            const kiln_cache_filter *given,
                            kiln_cache_entry_fn see, void *env,
                            kiln_error **error)
{
    showing s = {see, env};
    kiln_cache_filter filter;
    kiln__cache_walk walk = {.filter = &filter, .see = show, .env = &s};

    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(see != NULL, error);
    KILN_TRY(kiln__cache_filter_read(&filter, given, error));
    walk.alloc = &context->alloc;
    return kiln__cache_walk_all(context, &walk, error);
}

kiln_status kiln_pack_each(kiln_pack *pack, const kiln_cache_filter *given,
                           kiln_cache_entry_fn see, void *env,
                           kiln_error **error)
{
    showing s = {see, env};
    kiln_cache_filter filter;
    const kiln__cache_walk walk = {
        .alloc = &kiln__malloc, .filter = &filter, .see = show, .env = &s};

    KILN_REQUIRE(pack != NULL, error);
    KILN_REQUIRE(see != NULL, error);
    KILN_TRY(kiln__cache_filter_read(&filter, given, error));
    return kiln__cache_walk_pack(pack, &walk, error);
}

kiln_status kiln_cache_refused(kiln_context *context, kiln_cache_refused_fn see,
                               void *env)
{
    if (context == NULL || see == NULL)
        return KILN_EINVAL;
    kiln__stores_refused(context, 0, see, env);
    return KILN_OK;
}

kiln_status kiln_cache_drop(const kiln_cache_entry *entry)
{
    const kiln__cache_seen *seen;

    if (entry == NULL || entry->private_data == NULL)
        return KILN_EINVAL;
    seen = entry->private_data;
    return kiln__stores_drop(seen->seen);
}

kiln_status kiln_pack_verify(kiln_pack *pack, kiln_error **error)
{
    KILN_REQUIRE(pack != NULL, error);
    return kiln__pack_verify(pack, error);
}

/* ---- describing ---- */

__attribute__((format(printf, 4, 5))) static void tell(kiln_field_fn see,
                                                       void *env,
                                                       const char *name,
                                                       const char *format, ...)
{
    char text[1024];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    see(env, "entry", name, text);
}

static void describe_envelope(const kiln_cache_entry *shown,
                              const kiln__entry *entry, kiln_field_fn see,
                              void *env)
{
    static const char *const classes[] = {"portable", "relocatable", "session"};

    tell(see, env, "relocation", "%s",
         shown->relocation >= 0 && shown->relocation <= 2
             ? classes[shown->relocation]
             : "unknown");
    see(env, "entry", "toolchain", shown->toolchain);
    tell(see, env, "build ns", "%llu", (unsigned long long)shown->build_ns);
    tell(see, env, "bytes", "%llu", (unsigned long long)shown->bytes);
    tell(see, env, "key bytes", "%zu", entry->key.encoded_size);
    tell(see, env, "meta bytes", "%zu", entry->meta_size);
    tell(see, env, "log bytes", "%zu", entry->log_size);
    tell(see, env, "payload bytes", "%zu", entry->payload_size);
}

static kiln_status describe_log(const kiln__entry *entry,
                                const kiln_alloc *alloc, kiln_field_fn see,
                                void *env)
{
    char *text;

    if (entry->log_size == 0)
        return KILN_OK;
    text = kiln__string_copy_n(alloc, entry->log, entry->log_size);
    if (text == NULL)
        return KILN_ENOMEM;
    see(env, "log", "text", text);
    kiln__string_free(alloc, text);
    return KILN_OK;
}

kiln_status kiln_cache_describe(const kiln_cache_entry *shown,
                                kiln_field_fn see, void *env)
{
    const kiln__cache_seen *seen;
    const kiln__entry *entry;

    if (shown == NULL || shown->private_data == NULL || see == NULL)
        return KILN_EINVAL;
    if (shown->fault != NULL)
        return KILN_OK;
    seen = shown->private_data;
    entry = &seen->seen->stored.entry;
    KILN_TRY(kiln__key_describe(seen->alloc, entry->key.encoded,
                                entry->key.encoded_size, see, env));
    describe_envelope(shown, entry, see, env);
    KILN_TRY(kiln__entry_describe(seen->alloc, entry, see, env));
    return describe_log(entry, seen->alloc, see, env);
}
