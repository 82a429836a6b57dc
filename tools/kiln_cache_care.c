/* kiln_cache_care.c - kiln cache verify, prune, clear, and commands that move
   entries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

/* ---- verify ---- */

typedef struct verifying {
    cache_command *command;
    uint64_t read;
    uint64_t bad;
    uint64_t dropped;
    uint64_t packed;  /* bad entries in packs of the cache's own folder */
    uint64_t refused; /* folders and packs that are not read */
} verifying;

static int32_t verify_entry(void *env, const kiln_cache_entry *entry)
{
    char digest[KILN_DIGEST_TEXT_SIZE];
    verifying *v = env;
    int is_dropped = 0;

    v->read++;
    if (entry->fault == NULL)
        return 1;
    v->bad++;
    if (v->command->options->repair)
        is_dropped = kiln_cache_drop(entry) == KILN_OK;
    v->dropped += is_dropped != 0;
    v->packed += entry->is_packed && entry->store == KILN_STORE_DISK;
    kiln_digest_text(entry->digest, digest);
    if (v->command->options->json) {
        json *out = &v->command->json;

        json_object(out, NULL);
        json_text(out, "digest", digest);
        json_text(out, "place", entry->place);
        json_text(out, "path", entry->path);
        json_text(out, "fault", entry->fault);
        json_flag(out, "dropped", is_dropped);
        json_end(out);
    } else {
        (void)printf("%s in %s: %s%s\n", digest, entry->path, entry->fault,
                     is_dropped ? ", dropped" : "");
    }
    return 1;
}

/* Reports a folder or pack that is not read. */
static void verify_refused(void *env, const char *path, const char *reason)
{
    verifying *v = env;

    v->refused++;
    if (v->command->options->json) {
        json *out = &v->command->json;

        json_object(out, NULL);
        json_text(out, "path", path);
        json_text(out, "fault", reason);
        json_end(out);
    } else {
        (void)printf("%s is not used: %s\n", path, reason);
    }
}

/* Rewrites packs that have bad entries, without them. */
static kiln_status repair_packs(verifying *v, kiln_error **error)
{
    kiln_cache_report report = {.size = sizeof report};
    kiln_status status;

    if (!v->command->options->repair || v->packed == 0)
        return KILN_OK;
    status = kiln_cache_compact(&report, v->command->context, INT64_MAX, error);
    if (status == KILN_OK)
        v->dropped += v->packed;
    return status;
}

int cache_verify(cache_command *c)
{
    verifying v = {.command = c};
    kiln_cache_filter filter = KILN_CACHE_FILTER_INIT;
    kiln_error *error = NULL;
    kiln_status status;

    filter.one_in = c->options->sample;
    if (c->options->json) {
        json_object(&c->json, NULL);
        json_array(&c->json, "bad");
    }
    (void)!kiln_cache_refused(c->context, verify_refused, &v);
    status = kiln_cache_each(c->context, &filter, verify_entry, &v, &error);
    if (status == KILN_OK)
        status = repair_packs(&v, &error);
    if (c->options->json) {
        json_end(&c->json);
        json_number(&c->json, "read", v.read);
        json_number(&c->json, "dropped", v.dropped);
        json_number(&c->json, "refused", v.refused);
        json_end(&c->json);
    } else {
        (void)printf("%" PRIu64 " entries read, %" PRIu64 " bad, %" PRIu64
                     " dropped\n",
                     v.read, v.bad, v.dropped);
    }
    if (status != KILN_OK)
        return tool_fail(error);
    return v.bad > v.dropped || v.refused > 0 ? TOOL_FAILED : TOOL_OK;
}

/* ---- the result ---- */

static int show_report(cache_command *c, const kiln_cache_report *report,
                       const char *what)
{
    char bytes[CACHE_TEXT_SIZE], dropped[CACHE_TEXT_SIZE];

    if (c->options->json) {
        json_object(&c->json, NULL);
        json_number(&c->json, "entries", report->entries);
        json_number(&c->json, "bytes", report->bytes);
        json_number(&c->json, "dropped", report->dropped);
        json_number(&c->json, "dropped_bytes", report->dropped_bytes);
        json_number(&c->json, "skipped", report->skipped);
        json_number(&c->json, "swept", report->swept);
        json_end(&c->json);
        return TOOL_OK;
    }
    (void)printf("%" PRIu64 " entries, %s, %s\n", report->entries,
                 cache_bytes(bytes, report->bytes), what);
    if (report->dropped > 0)
        (void)printf("%" PRIu64 " dropped, %s\n", report->dropped,
                     cache_bytes(dropped, report->dropped_bytes));
    if (report->skipped > 0)
        (void)printf("%" PRIu64 " skipped\n", report->skipped);
    if (report->swept > 0)
        (void)printf("%" PRIu64 " files of dead writers swept\n",
                     report->swept);
    return TOOL_OK;
}

int cache_prune(cache_command *c)
{
    kiln_cache_report report = {.size = sizeof report};
    kiln_error *error = NULL;

    if (kiln_cache_prune(&report, c->context, &error) != KILN_OK)
        return tool_fail(error);
    return show_report(c, &report, "are left");
}

static int is_sure(const tool_options *options)
{
    char answer[8];

    if (options->yes)
        return 1;
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return 0;
    (void)fputs("drop every entry? [y/N] ", stderr);
    return fgets(answer, sizeof answer, stdin) != NULL &&
           (answer[0] == 'y' || answer[0] == 'Y');
}

int cache_clear(cache_command *c)
{
    kiln_cache_report report = {.size = sizeof report};
    kiln_error *error = NULL;

    if (!is_sure(c->options))
        return tool_complain(TOOL_USAGE, "clear drops every entry: say --yes");
    if (kiln_cache_clear(&report, c->context, &error) != KILN_OK)
        return tool_fail(error);
    return show_report(c, &report, "are left");
}

/* ---- moving ---- */

int cache_compact(cache_command *c)
{
    kiln_cache_report report = {.size = sizeof report};
    kiln_error *error = NULL;

    if (kiln_cache_compact(&report, c->context, c->options->older_s, &error) !=
        KILN_OK)
        return tool_fail(error);
    return show_report(c, &report, "are in packs of the cache");
}

int cache_export(cache_command *c)
{
    kiln_cache_report report = {.size = sizeof report};
    kiln_error *error = NULL;

    if (kiln_cache_export(&report, c->context, c->options->words[0], &c->filter,
                          NULL, &error) != KILN_OK)
        return tool_fail(error);
    return show_report(c, &report, "written");
}

int cache_import(cache_command *c)
{
    kiln_cache_report report = {.size = sizeof report};
    kiln_error *error = NULL;
    kiln_pack *pack = NULL;
    kiln_status status = kiln_pack_open(&pack, c->options->words[0], &error);

    if (status == KILN_OK)
        status =
            kiln_cache_import(&report, c->context, pack, &c->filter, &error);
    kiln_pack_close(pack);
    if (status != KILN_OK)
        return tool_fail(error);
    return show_report(c, &report, "taken over");
}
