/* kiln_precompile.c - kiln precompile: makes a pack of a workload. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_precompile.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system/reason.h"
#include "kiln/sys/cache_tools.h"

/*
 * The workload runs over a cache of its own in a folder beside the pack, so
 * that nothing gets into the pack from earlier work on this machine. Then the
 * cache's entries are written as a pack. Before that gets its name, a second
 * context runs the workload again. It has no code generator and only the pack,
 * and must find everything in it.
 */

static const char known_options[] =
    "--workload --target --include --jobs -o -D";

typedef struct precompile {
    tool_options options;
    workload list;
    uint32_t tiers_off; /* 1 << KILN_TIER_... */
    char folder[PATH_MAX];
    char cache[PATH_MAX + 16];
    char pack[PATH_MAX + 16];
    kiln_cache_report report;
} precompile;

/* ---- options ---- */

/* `from` is where the list was found. */
static int read_include(uint32_t *off, const char *from, const char *text)
{
#define TEXT(name, text) text,
    static const char *const names[] = {KILN_TIER_MAP(TEXT)};
#undef TEXT
    const char *at = text;

    *off = (1u << KILN_TIER_COUNT) - 1;
    for (;; at++) {
        const size_t size = strcspn(at, ",");
        uint32_t tier = 0;

        while (tier < KILN_TIER_COUNT && (strlen(names[tier]) != size ||
                                          memcmp(names[tier], at, size) != 0))
            tier++;
        if (tier == KILN_TIER_COUNT)
            return tool_complain(TOOL_USAGE,
                                 "%s wants a list of typed_ir, runtime and "
                                 "binary, not \"%s\"",
                                 from, text);
        *off &= ~(1u << tier);
        at += size;
        if (*at == '\0')
            return TOOL_OK;
    }
}

/* The variable says the same as --include, which precedes it. It is not for
   the contexts: their cache has to keep what the pack is made of. */
static int read_tiers(precompile *p)
{
    static const char variable[] = "KILN_CACHE_TIERS";
    const char *tiers = getenv(variable);
    int status = TOOL_OK;

    if (p->options.include != NULL)
        status = read_include(&p->tiers_off, "--include", p->options.include);
    else if (tiers != NULL && *tiers != '\0')
        status = read_include(&p->tiers_off, variable, tiers);
    (void)unsetenv(variable);
    return status;
}

static int check_options(precompile *p)
{
    const tool_options *options = &p->options;

    if (options->word_count == 0)
        return tool_complain(TOOL_USAGE, "precompile wants FILE; see kiln "
                                         "--help");
    if (options->workload == NULL)
        return tool_complain(TOOL_USAGE, "precompile wants --workload LIST");
    if (options->output == NULL)
        return tool_complain(TOOL_USAGE, "precompile wants -o PACK");
    return read_tiers(p);
}

static int check_output(const tool_options *options)
{
    int status = tool_output_is_file(options->output);

    if (status == TOOL_OK)
        status = tool_output_spares(options->output, options->words,
                                    options->word_count);
    if (status == TOOL_OK)
        status = tool_output_spares(options->output, &options->workload, 1);
    return status;
}

/* ---- the folder ---- */

static int remove_one(const char *path, const struct stat *facts, int kind,
                      struct FTW *place)
{
    (void)facts;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_folder(const precompile *p)
{
    if (p->folder[0] != '\0')
        (void)nftw(p->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The folder is in the pack's folder, so that the pack can be renamed from
   there. */
static int make_folder(precompile *p)
{
    const char *slash = strrchr(p->options.output, '/');
    const int size = slash != NULL ? (int)(slash - p->options.output) + 1 : 0;
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%.*s.kiln-precompile-XXXXXX", size,
                 p->options.output) >= (int)sizeof path)
        return tool_complain(TOOL_FAILED, "%s: the name is too long",
                             p->options.output);
    if (mkdtemp(path) == NULL)
        return tool_complain(TOOL_FAILED, "%s: %s", p->options.output,
                             kiln__reason_text(errno));
    memcpy(p->folder, path, sizeof path);
    (void)snprintf(p->cache, sizeof p->cache, "%s/cache", p->folder);
    (void)snprintf(p->pack, sizeof p->pack, "%s/pack", p->folder);
    return TOOL_OK;
}

/* ---- contexts ---- */

/* Makes a context that uses neither the user's cache nor a search path,
   whatever the environment says. */
static int new_context(kiln_context **out, const precompile *p, uint8_t mode,
                       const char *codegen)
{
    static const kiln_host_ops host = {.size = sizeof(kiln_host_ops),
                                       .log = tool_log};
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    char elsewhere[PATH_MAX + 16];
    kiln_error *error = NULL;

    (void)snprintf(elsewhere, sizeof elsewhere, "%s/nothing", p->folder);
    cache.mode = mode;
    cache.directory = codegen == NULL ? p->cache : elsewhere;
    cache.search_path = elsewhere;
    cache.max_size = cache.max_entries = cache.max_age_s = KILN_CACHE_UNBOUNDED;
    options.host = &host;
    options.cache = &cache;
    options.workers = p->options.jobs;
    options.codegen_path = codegen;
    options.offline_only = 1;
    if (kiln_context_new(out, &options, &error) != KILN_OK)
        return tool_fail(error);
    return TOOL_OK;
}

/* ---- compiling ---- */

static int compile(const precompile *p)
{
    job_list jobs = {0};
    kiln_context *context = NULL;
    int status = new_context(&context, p, KILN_CACHE_MODE_READ_WRITE, NULL);

    if (status == TOOL_OK)
        status = jobs_open(&jobs, context, &p->list, &p->options);
    if (status == TOOL_OK)
        status = jobs_compile(&jobs, &p->list, "compile");
    jobs_close(&jobs); /* waits until everything is written */
    return status;
}

static int write_pack(precompile *p)
{
    kiln_cache_export_options options = KILN_CACHE_EXPORT_OPTIONS_INIT;
    kiln_context *context = NULL;
    kiln_error *error = NULL;
    int status = new_context(&context, p, KILN_CACHE_MODE_READ_ONLY, NULL);

    options.reproducible = KILN_SWITCH_ON;
    options.tiers_off = p->tiers_off;
    p->report.size = sizeof p->report;
    if (status == TOOL_OK &&
        kiln_cache_export(&p->report, context, p->pack, NULL, &options,
                          &error) != KILN_OK)
        status = tool_fail(error);
    kiln_context_free(context);
    return status;
}

/* ---- verifying ---- */

static int insert(kiln_context *context, const char *path)
{
    kiln_pack *pack = NULL;
    kiln_error *error = NULL;
    kiln_status status = kiln_pack_open(&pack, path, &error);

    if (status == KILN_OK)
        status = kiln_pack_verify(pack, &error);
    if (status == KILN_OK)
        status = kiln_insert(context, pack, &error);
    if (status == KILN_OK)
        return TOOL_OK;
    kiln_pack_close(pack);
    return tool_fail(error);
}

/* Without binaries in the pack, nothing can be compiled from it. But everything
   must be inferred. */
static int find_typed(const job_list *jobs, const workload *from)
{
    kiln_statistics statistics = {.size = sizeof statistics};

    for (size_t i = 0; i < jobs->count; i++) {
        const kiln_batch_job *job = &jobs->jobs[i];
        kiln_error *error = NULL;
        kiln_digest key;

        if (kiln_job_key(&key, jobs->context, &job->signature, job->config, 0,
                         &error) != KILN_OK)
            return jobs_fail(jobs, from, i, error);
    }
    kiln_statistics_get(&statistics, jobs->context);
    if (statistics.tiers[KILN_TIER_TYPED].built == 0)
        return TOOL_OK;
    return tool_complain(
        TOOL_FAILED,
        "the pack lacks typed IR of %llu "
        "functions",
        (unsigned long long)statistics.tiers[KILN_TIER_TYPED].built);
}

static int find_all(const precompile *p, const job_list *jobs)
{
    const uint32_t binary = 1u << KILN_TIER_BINARY;
    const uint32_t typed = 1u << KILN_TIER_TYPED;

    if (!(p->tiers_off & binary) && !(p->tiers_off & typed))
        return jobs_compile(jobs, &p->list, "verify");
    if (!(p->tiers_off & typed))
        return find_typed(jobs, &p->list);
    return TOOL_OK; /* its keys need typed IR, which the pack does not have */
}

static int verify(const precompile *p)
{
    job_list jobs = {0};
    kiln_context *context = NULL;
    const int binaries = !(p->tiers_off & 1u << KILN_TIER_BINARY);
    int status = new_context(&context, p,
                             binaries ? KILN_CACHE_MODE_MUST_HIT
                                      : KILN_CACHE_MODE_READ_ONLY,
                             "/nowhere");

    if (status == TOOL_OK)
        status = insert(context, p->pack);
    if (status == TOOL_OK)
        status = jobs_open(&jobs, context, &p->list, &p->options);
    else
        kiln_context_free(context);
    if (status == TOOL_OK)
        status = find_all(p, &jobs);
    jobs_close(&jobs);
    return status;
}

/* ---- the steps ---- */

static int name_pack(const precompile *p)
{
    const int status = tool_output_is_file(p->options.output);

    if (status != TOOL_OK)
        return status;
    if (rename(p->pack, p->options.output) != 0)
        return tool_complain(TOOL_FAILED, "%s: %s", p->options.output,
                             kiln__reason_text(errno));
    (void)fprintf(stderr, "%s: %llu entries, %llu bytes\n", p->options.output,
                  (unsigned long long)p->report.entries,
                  (unsigned long long)p->report.bytes);
    return TOOL_OK;
}

static int run(precompile *p)
{
    int status = workload_read(&p->list, p->options.workload);

    if (status == TOOL_OK)
        status = make_folder(p);
    if (status == TOOL_OK)
        status = compile(p);
    if (status == TOOL_OK)
        status = write_pack(p);
    if (status == TOOL_OK)
        status = verify(p);
    if (status == TOOL_OK)
        status = name_pack(p);
    remove_folder(p);
    workload_dispose(&p->list);
    return status;
}

int tool_precompile(int count, char **words)
{
    precompile *p = calloc(1, sizeof *p);
    int status;

    if (p == NULL)
        return tool_complain(TOOL_FAILED, "out of memory");
    status = tool_read_options(&p->options, count, words, known_options);
    if (status == TOOL_OK)
        status = check_options(p);
    if (status == TOOL_OK)
        status = check_output(&p->options);
    if (status == TOOL_OK) {
        jobs_catch_signals();
        status = run(p);
    }
    free(p);
    return status;
}
