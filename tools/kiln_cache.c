/* kiln_cache.c - kiln cache: finds the command and opens its context. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char usage[] =
    "usage: kiln cache stat                  what there is, by tier and kind\n"
    "       kiln cache ls                    each entry\n"
    "       kiln cache show DIGEST           what an entry says\n"
    "       kiln cache explain FILE KERNEL TYPE...\n"
    "                                        what a job's keys lack\n"
    "       kiln cache verify [--sample N] [--repair]\n"
    "                                        reads entries, all or one in N\n"
    "       kiln cache prune                 applies the bounds now\n"
    "       kiln cache clear --yes           drops everything\n"
    "       kiln cache export PACK           entries into a pack\n"
    "       kiln cache import PACK           a pack's entries into the cache\n"
    "       kiln cache compact [--older T]   what rests, into one pack\n"
    "       kiln cache locate                where it is; others' caches\n"
    "       kiln cache doctor                whether it can work there\n"
    "\n"
    "  --json            for programs; all commands\n"
    "  --kind K          of ls, stat, export and import: one of\n";

/* The names of kinds are printed before this. */
static const char more_usage[] =
    "  --name TEXT       a part of the name; the same commands\n"
    "  --namespace NAME  instead of KILN_CACHE_NAMESPACE\n"
    "  --target T, --set NAME=VALUE\n"
    "                    of the job to explain\n"
    "  --older T         30s, 15m, 12h, 1d (the default)\n";

#define LISTING "--json --kind --name --namespace"

static const struct command {
    const char *name;
    const char *options;
    int (*run)(cache_command *c);
    uint8_t mode; /* KILN_CACHE_MODE_...; DEFAULT: as for any program */
    size_t least; /* least number of words after the name */
    size_t most;
} commands[] = {
    {"stat", LISTING, cache_stat, KILN_CACHE_MODE_READ_ONLY, 0, 0},
    {"ls", LISTING, cache_ls, KILN_CACHE_MODE_READ_ONLY, 0, 0},
    {"show", "--json --namespace", cache_show, KILN_CACHE_MODE_READ_ONLY, 1, 1},
    {"explain", "--json --namespace --target --set --with -D", cache_explain,
     KILN_CACHE_MODE_READ_ONLY, 2, 2 + TOOL_ARGUMENTS_MAX},
    {"verify", "--json --namespace --sample --repair", cache_verify,
     KILN_CACHE_MODE_READ_ONLY, 0, 0},
    {"prune", "--json --namespace", cache_prune, KILN_CACHE_MODE_READ_WRITE, 0,
     0},
    {"clear", "--json --namespace --yes", cache_clear,
     KILN_CACHE_MODE_READ_WRITE, 0, 0},
    {"export", LISTING, cache_export, KILN_CACHE_MODE_READ_ONLY, 1, 1},
    {"import", LISTING, cache_import, KILN_CACHE_MODE_READ_WRITE, 1, 1},
    {"compact", "--json --namespace --older", cache_compact,
     KILN_CACHE_MODE_READ_WRITE, 0, 0},
    {"locate", "--json --namespace", cache_locate, KILN_CACHE_MODE_DEFAULT, 0,
     0},
    {"doctor", "--json --namespace", cache_doctor, KILN_CACHE_MODE_DEFAULT, 0,
     0},
};

/* ---- numbers ---- */

const char *cache_bytes(char out[CACHE_TEXT_SIZE], uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    (void)snprintf(out, CACHE_TEXT_SIZE, unit == 0 ? "%.0f %s" : "%.1f %s",
                   value, units[unit]);
    return out;
}

const char *cache_seconds(char out[CACHE_TEXT_SIZE], int64_t seconds)
{
    static const struct {
        int64_t seconds;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    size_t unit = 0;

    if (seconds < 0)
        seconds = 0;
    while (seconds < units[unit].seconds && units[unit].seconds > 1)
        unit++;
    (void)snprintf(out, CACHE_TEXT_SIZE, "%" PRId64 "%c",
                   seconds / units[unit].seconds, units[unit].letter);
    return out;
}

const char *cache_nanoseconds(char out[CACHE_TEXT_SIZE], uint64_t ns)
{
    if (ns >= 1000000000)
        (void)snprintf(out, CACHE_TEXT_SIZE, "%.2f s", (double)ns / 1e9);
    else
        (void)snprintf(out, CACHE_TEXT_SIZE, "%.2f ms", (double)ns / 1e6);
    return out;
}

int cache_read_time(uint64_t *seconds, const char *text)
{
    char *end;
    uint64_t factor = 1;

    if (*text < '0' || *text > '9')
        return 0;
    *seconds = strtoull(text, &end, 10);
    if (*end != '\0') {
        static const char letters[] = "smhd";
        static const uint64_t factors[] = {1, 60, 3600, 86400};
        const char *letter = strchr(letters, *end);

        if (letter == NULL || end[1] != '\0')
            return 0;
        factor = factors[letter - letters];
    }
    return !__builtin_mul_overflow(*seconds, factor, seconds) &&
           *seconds < INT64_MAX;
}

int64_t cache_unused_s(const kiln_cache_entry *entry)
{
    const int64_t now = (int64_t)time(NULL);

    return entry->used_s < now ? now - entry->used_s : 0;
}

/* ---- the context ---- */

/* Checks the variable for the mode. A command with a mode of its own would
   ignore it, but an unknown word is refused here as everywhere. */
static int check_variable(void)
{
#define TEXT(name, value, text) (text),
    static const char *const words[] = {KILN_CACHE_MODE_MAP(TEXT)};
#undef TEXT
    const char *said = getenv("KILN_CACHE");

    if (said == NULL)
        return TOOL_OK;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(said, words[i]) == 0)
            return TOOL_OK;
    return tool_complain(TOOL_FAILED,
                         "KILN_CACHE is '%s'; it takes off, ro, rw, must-hit, "
                         "refresh or verify",
                         said);
}

/* Only a repair may drop what cannot be opened. Where KILN_CACHE is off or
   refresh, a process finds nothing. `explain` explains that, and must not write
   either, so it runs in the mode OFF. */
static uint8_t mode_of(const struct command *command,
                       const tool_options *options)
{
    const char *said = getenv("KILN_CACHE");

    if (options->repair)
        return KILN_CACHE_MODE_READ_WRITE;
    if (command->run == cache_explain && said != NULL &&
        (strcmp(said, "off") == 0 || strcmp(said, "refresh") == 0))
        return KILN_CACHE_MODE_OFF;
    return command->mode;
}

static int open_context(cache_command *c, uint8_t mode)
{
    static const kiln_host_ops host = {.size = sizeof(kiln_host_ops),
                                       .log = tool_log};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_error *error = NULL;

    cache.mode = mode;
    cache.name_space = c->options->name_space;
    options.host = &host;
    options.cache = &cache;
    if (kiln_context_new(&c->context, &options, &error) != KILN_OK)
        return tool_fail(error);
    return TOOL_OK;
}

static int run_in_context(const struct command *command,
                          const tool_options *options)
{
    cache_command c = {.options = options, .filter = KILN_CACHE_FILTER_INIT};
    int status;

    c.filter.kind = options->kind;
    c.filter.name = options->name;
    status = check_variable();
    if (status == TOOL_OK)
        status = open_context(&c, mode_of(command, options));
    if (status == TOOL_OK)
        status = command->run(&c);
    kiln_context_free(c.context);
    return status;
}

/* ---- dispatch ---- */

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int check_kind(const tool_options *options)
{
    char kinds[256];

    if (options->kind == NULL)
        return TOOL_OK;
    for (size_t i = 0; kiln_cache_kind(i) != NULL; i++)
        if (strcmp(options->kind, kiln_cache_kind(i)) == 0)
            return TOOL_OK;
    tool_list_names(kinds, sizeof kinds, kiln_cache_kind);
    return tool_complain(TOOL_USAGE, "--kind wants %s, not \"%s\"", kinds,
                         options->kind);
}

static int show_help(FILE *file, int status)
{
    (void)fputs(usage, file);
    tool_show_names(file, 20, kiln_cache_kind);
    (void)fputs(more_usage, file);
    return status;
}

int tool_cache(int count, char **words)
{
    const struct command *command;
    tool_options options;
    int status;

    if (count == 0 || strcmp(words[0], "--help") == 0 ||
        (count == 2 && strcmp(words[1], "--help") == 0))
        return count == 0 ? show_help(stderr, TOOL_USAGE)
                          : show_help(stdout, TOOL_OK);
    command = find_command(words[0]);
    if (command == NULL)
        return tool_complain(TOOL_USAGE,
                             "unknown command \"cache %s\"; see kiln cache "
                             "--help",
                             words[0]);
    status =
        tool_read_options(&options, count - 1, words + 1, command->options);
    if (status == TOOL_OK)
        status = check_kind(&options);
    if (status != TOOL_OK)
        return status;
    if (options.word_count < command->least ||
        options.word_count > command->most)
        return tool_complain(TOOL_USAGE,
                             "cache %s takes other arguments; see kiln cache "
                             "--help",
                             command->name);
    return run_in_context(command, &options);
}
