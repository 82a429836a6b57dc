/* kiln_cache_list.c - kiln cache stat, ls: lists what the cache has. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- stat ---- */

#define GROUPS_MAX 32

/* Entries of one kind, or entries that are rejected for one reason. */
typedef struct group {
    char name[32];
    int32_t tier; /* -1: rejected */
    uint64_t entries;
    uint64_t packed;
    uint64_t bytes;
    uint64_t disk_bytes;
    uint64_t build_ns;
    int64_t newest_s; /* seconds since the last use */
    int64_t oldest_s;
} group;

typedef struct groups {
    group items[GROUPS_MAX];
    size_t count;
} groups;

static group *find_group(groups *all, const char *name, int32_t tier)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].tier == tier && strcmp(all->items[i].name, name) == 0)
            return &all->items[i];
    if (all->count == GROUPS_MAX)
        return NULL;
    all->items[all->count] = (group){.tier = tier, .newest_s = INT64_MAX};
    (void)snprintf(all->items[all->count].name,
                   sizeof all->items[all->count].name, "%s", name);
    return &all->items[all->count++];
}

static int32_t add_to_groups(void *env, const kiln_cache_entry *entry)
{
    const int64_t unused = cache_unused_s(entry);
    group *of =
        find_group(env, entry->fault != NULL ? entry->fault : entry->kind,
                   entry->fault != NULL ? -1 : entry->tier);

    if (of == NULL)
        return 1;
    of->entries++;
    of->packed += entry->is_packed != 0;
    of->bytes += entry->bytes;
    of->disk_bytes += entry->disk_bytes;
    of->build_ns += entry->build_ns;
    if (unused < of->newest_s)
        of->newest_s = unused;
    if (unused > of->oldest_s)
        of->oldest_s = unused;
    return 1;
}

static int by_tier(const void *a, const void *b)
{
    const group *first = a, *second = b;
    const uint32_t one = (uint32_t)first->tier, other = (uint32_t)second->tier;

    /* Rejected ones (-1) come last. */
    return one != other ? (one > other) - (one < other)
                        : strcmp(first->name, second->name);
}

static const char *tier_text(int32_t tier)
{
#define TEXT(name, text) text,
    static const char *const texts[] = {KILN_TIER_MAP(TEXT)};
#undef TEXT

    return tier >= 0 && tier < KILN_TIER_COUNT ? texts[tier] : "not believed";
}

static void json_group(json *out, const group *of)
{
    json_object(out, NULL);
    json_text(out, of->tier < 0 ? "fault" : "kind", of->name);
    if (of->tier >= 0)
        json_text(out, "tier", tier_text(of->tier));
    json_number(out, "entries", of->entries);
    json_number(out, "packed", of->packed);
    json_number(out, "bytes", of->bytes);
    json_number(out, "disk_bytes", of->disk_bytes);
    json_number(out, "build_ns", of->build_ns);
    json_signed(out, "unused_s_least", of->newest_s);
    json_signed(out, "unused_s_most", of->oldest_s);
    json_end(out);
}

static void print_group(const group *of)
{
    char bytes[CACHE_TEXT_SIZE], time[CACHE_TEXT_SIZE];
    char least[CACHE_TEXT_SIZE], most[CACHE_TEXT_SIZE];

    (void)printf(
        "%-12s %-10s %8" PRIu64 " %8" PRIu64 " %11s %12s  %s to %s\n",
        tier_text(of->tier), of->name, of->entries, of->packed,
        cache_bytes(bytes, of->bytes), cache_nanoseconds(time, of->build_ns),
        cache_seconds(least, of->newest_s), cache_seconds(most, of->oldest_s));
}

static const char counters[] =
    "hits and misses are counted by each process (kiln run --stats, "
    "KILN_TRACE); the cache keeps no counters";

static void json_tiers(json *out, const groups *all)
{
    json_object(out, "tiers");
    for (int32_t tier = 0; tier < KILN_TIER_COUNT; tier++) {
        uint64_t entries = 0, bytes = 0, build_ns = 0;

        for (size_t i = 0; i < all->count; i++) {
            if (all->items[i].tier != tier)
                continue;
            entries += all->items[i].entries;
            bytes += all->items[i].bytes;
            build_ns += all->items[i].build_ns;
        }
        json_object(out, tier_text(tier));
        json_number(out, "entries", entries);
        json_number(out, "bytes", bytes);
        json_number(out, "build_ns", build_ns);
        json_end(out);
    }
    json_end(out);
}

static void json_stat(json *out, const groups *all)
{
    json_object(out, NULL);
    json_tiers(out, all);
    for (int bad = 0; bad < 2; bad++) {
        json_array(out, bad ? "not_believed" : "kinds");
        for (size_t i = 0; i < all->count; i++)
            if ((all->items[i].tier < 0) == bad)
                json_group(out, &all->items[i]);
        json_end(out);
    }
    json_text(out, "counters", counters);
    json_end(out);
}

int cache_stat(cache_command *c)
{
    kiln_error *error = NULL;
    groups all = {.count = 0};

    if (kiln_cache_each(c->context, &c->filter, add_to_groups, &all, &error) !=
        KILN_OK)
        return tool_fail(error);
    qsort(all.items, all.count, sizeof all.items[0], by_tier);
    if (c->options->json) {
        json_stat(&c->json, &all);
        return TOOL_OK;
    }
    (void)printf("%-12s %-10s %8s %8s %11s %12s  %s\n", "TIER", "KIND",
                 "ENTRIES", "PACKED", "SIZE", "BUILD TIME", "NOT USED FOR");
    for (size_t i = 0; i < all.count; i++)
        print_group(&all.items[i]);
    (void)printf("\n%s\n", counters);
    return TOOL_OK;
}

/* ---- ls ---- */

static void json_entry(json *out, const kiln_cache_entry *entry,
                       const char *digest)
{
    json_object(out, NULL);
    json_text(out, "digest", digest);
    json_text(out, "kind", entry->kind);
    json_text(out, "name", entry->name);
    json_text(out, "target", entry->target);
    json_text(out, "fault", entry->fault);
    json_number(out, "bytes", entry->bytes);
    json_number(out, "build_ns", entry->build_ns);
    json_signed(out, "unused_s", cache_unused_s(entry));
    json_text(out, "place", entry->place);
    json_flag(out, "packed", entry->is_packed);
    json_end(out);
}

static int32_t list_entry(void *env, const kiln_cache_entry *entry)
{
    char digest[KILN_DIGEST_TEXT_SIZE];
    char bytes[CACHE_TEXT_SIZE], unused[CACHE_TEXT_SIZE];
    cache_command *c = env;

    kiln_digest_text(entry->digest, digest);
    if (c->options->json) {
        json_entry(&c->json, entry, digest);
        return 1;
    }
    (void)printf("%.16s %-9s %10s %5s  %s%s%s\n", digest,
                 entry->fault != NULL ? entry->fault : entry->kind,
                 cache_bytes(bytes, entry->bytes),
                 cache_seconds(unused, cache_unused_s(entry)),
                 entry->name[0] != '\0' ? entry->name : "-",
                 entry->target[0] != '\0' ? "  " : "", entry->target);
    return 1;
}

int cache_ls(cache_command *c)
{
    kiln_error *error = NULL;
    kiln_status status;

    if (c->options->json)
        json_array(&c->json, NULL);
    status = kiln_cache_each(c->context, &c->filter, list_entry, c, &error);
    if (c->options->json)
        json_end(&c->json);
    return status == KILN_OK ? TOOL_OK : tool_fail(error);
}
