/* kiln_options.c - reads the options of the kiln command. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kiln_cache.h"
#include "kiln_tool.h"

/* Reads "64", "64,8" or "64,8,1", with each number from 1 to `most`. */
static int read_shape(uint64_t out[3], const char *text, uint64_t most)
{
    for (int i = 0; i < 3; i++) {
        char *end;

        if (*text < '0' || *text > '9')
            return 0;
        errno = 0;
        out[i] = strtoull(text, &end, 10);
        if (errno != 0 || out[i] == 0 || out[i] > most)
            return 0;
        if (*end == '\0')
            return 1;
        if (*end != ',')
            return 0;
        text = end + 1;
    }
    return 0;
}

/* Reads the number of an argument, and stores where it ends. */
static int read_index(size_t *out, const char *text, const char **end)
{
    char *stop;
    unsigned long number;

    if (*text < '0' || *text > '9')
        return 0;
    number = strtoul(text, &stop, 10);
    *end = stop;
    *out = number;
    return number < TOOL_ARGUMENTS_MAX;
}

static int take_grid(tool_options *out, const char *value)
{
    out->has_grid = 1;
    if (read_shape(out->launch.grid, value, INT64_MAX))
        return TOOL_OK;
    return tool_complain(TOOL_USAGE, "--grid wants N[,N[,N]], not \"%s\"",
                         value);
}

static int take_block(tool_options *out, const char *value)
{
    uint64_t block[3] = {1, 1, 1};

    if (!read_shape(block, value, UINT32_MAX))
        return tool_complain(TOOL_USAGE, "--block wants N[,N[,N]], not \"%s\"",
                             value);
    for (int i = 0; i < 3; i++)
        out->launch.block[i] = (uint32_t)block[i];
    return TOOL_OK;
}

static int take_local(tool_options *out, const char *value)
{
    uint64_t bytes[3];

    if (strchr(value, ',') != NULL || !read_shape(bytes, value, UINT32_MAX))
        return tool_complain(TOOL_USAGE, "--local wants bytes, not \"%s\"",
                             value);
    out->launch.dynamic_local_bytes = (uint32_t)bytes[0];
    return TOOL_OK;
}

static int take_print(tool_options *out, const char *value)
{
    const char *end;

    if (out->print_count == TOOL_ARGUMENTS_MAX ||
        !read_index(&out->prints[out->print_count], value, &end) ||
        *end != '\0')
        return tool_complain(TOOL_USAGE,
                             "--print wants an argument's number, not \"%s\"",
                             value);
    out->print_count++;
    return TOOL_OK;
}

static int take_save(tool_options *out, const char *value)
{
    const char *end;

    if (out->save_count == TOOL_ARGUMENTS_MAX ||
        !read_index(&out->saves[out->save_count].index, value, &end) ||
        *end != '=' || end[1] == '\0')
        return tool_complain(TOOL_USAGE, "--save wants I=FILE.npy, not \"%s\"",
                             value);
    out->saves[out->save_count++].path = end + 1;
    return TOOL_OK;
}

static int take_target(tool_options *out, const char *value)
{
    out->target = value;
    if (out->target_count == TOOL_TARGETS_MAX)
        return tool_complain(TOOL_USAGE, "more than %d targets",
                             TOOL_TARGETS_MAX);
    out->targets[out->target_count++] = value;
    return TOOL_OK;
}

static int take_set(tool_options *out, const char *value)
{
    if (out->set_count == TOOL_TARGETS_MAX)
        return tool_complain(TOOL_USAGE, "more than %d settings",
                             TOOL_TARGETS_MAX);
    out->sets[out->set_count++] = value;
    return TOOL_OK;
}

static int take_with(tool_options *out, const char *value)
{
    if (out->with_count == TOOL_TARGETS_MAX)
        return tool_complain(TOOL_USAGE, "more than %d files",
                             TOOL_TARGETS_MAX);
    out->withs[out->with_count++] = value;
    return TOOL_OK;
}

#define COUNT_MAX 1000000
#define JOBS_MAX 1024                /* kiln_context_options.workers */
#define HEAP_MAX ((uint32_t)8 << 20) /* kiln_queue_set_heap(), in KiB */

static int read_count(uint32_t *out, const char *what, const char *value,
                      uint32_t most)
{
    char *end;
    unsigned long number;

    errno = 0;
    number = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end != '\0' || errno != 0 ||
        number == 0 || number > most)
        return tool_complain(TOOL_USAGE, "%s from 1 to %u, not \"%s\"", what,
                             (unsigned)most, value);
    *out = (uint32_t)number;
    return TOOL_OK;
}

static int take_jobs(tool_options *out, const char *value)
{
    return read_count(&out->jobs, "--jobs wants a number", value, JOBS_MAX);
}

static int take_heap(tool_options *out, const char *value)
{
    return read_count(&out->heap_kib, "--heap wants a number of KiB", value,
                      HEAP_MAX);
}

static int take_time_limit(tool_options *out, const char *value)
{
    return read_count(&out->time_limit_s, "--time-limit wants whole seconds",
                      value, COUNT_MAX);
}

static int take_sample(tool_options *out, const char *value)
{
    return read_count(&out->sample, "--sample wants a number", value,
                      COUNT_MAX);
}

static int take_older(tool_options *out, const char *value)
{
    if (cache_read_time(&out->older_s, value))
        return TOOL_OK;
    return tool_complain(TOOL_USAGE,
                         "--older wants 30s, 15m, 12h or 1d, not "
                         "\"%s\"",
                         value);
}

/* Options with a text, and options without a value. */
#define TAKE_TEXT(name, member) \
    static int take_##name(tool_options *out, const char *value) \
    { \
        out->member = value; \
        return TOOL_OK; \
    }
#define TAKE_FLAG(name, member) \
    static int take_##name(tool_options *out, const char *value) \
    { \
        (void)value; \
        out->member = 1; \
        return TOOL_OK; \
    }

TAKE_TEXT(workload, workload)
TAKE_TEXT(include, include)
TAKE_TEXT(kind, kind)
TAKE_TEXT(name, name)
TAKE_TEXT(namespace, name_space)
TAKE_FLAG(json, json)
TAKE_FLAG(repair, repair)
TAKE_FLAG(yes, yes)

TAKE_TEXT(emit, emit)
TAKE_TEXT(output, output)
TAKE_FLAG(stats, stats)

/* Alone it is a single launch. */
static int take_time(tool_options *out, const char *value)
{
    out->time = 1;
    return value == NULL ? TOOL_OK
                         : read_count(&out->time,
                                      "--time wants a number of "
                                      "launches",
                                      value, COUNT_MAX);
}

enum { NO_VALUE, A_VALUE, MAYBE_A_VALUE /* only as --name=value */ };

static const struct option {
    const char *name;
    int has_value;
    int (*take)(tool_options *out, const char *value);
} options[] = {
    {"--grid", A_VALUE, take_grid},
    {"--block", A_VALUE, take_block},
    {"--local", A_VALUE, take_local},
    {"--target", A_VALUE, take_target},
    {"--print", A_VALUE, take_print},
    {"--save", A_VALUE, take_save},
    {"--stats", NO_VALUE, take_stats},
    {"--time", MAYBE_A_VALUE, take_time},
    {"--emit", A_VALUE, take_emit},
    {"-o", A_VALUE, take_output},
    {"--set", A_VALUE, take_set},
    {"--with", A_VALUE, take_with},
    {"--jobs", A_VALUE, take_jobs},
    {"--sample", A_VALUE, take_sample},
    {"--older", A_VALUE, take_older},
    {"--workload", A_VALUE, take_workload},
    {"--include", A_VALUE, take_include},
    {"--kind", A_VALUE, take_kind},
    {"--name", A_VALUE, take_name},
    {"--namespace", A_VALUE, take_namespace},
    {"--json", NO_VALUE, take_json},
    {"--repair", NO_VALUE, take_repair},
    {"--yes", NO_VALUE, take_yes},
    {"--heap", A_VALUE, take_heap},
    {"--time-limit", A_VALUE, take_time_limit},
};

/* True when a list such as "--grid --block" has the name. */
static int lists(const char *known, const char *name, size_t size)
{
    while (*known != '\0') {
        const size_t length = strcspn(known, " ");

        if (length == size && memcmp(known, name, size) == 0)
            return 1;
        known += length;
        known += strspn(known, " ");
    }
    return 0;
}

static const struct option *find_option(const char *known, const char *name,
                                        size_t size)
{
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        if (strlen(options[i].name) == size &&
            memcmp(options[i].name, name, size) == 0)
            return lists(known, name, size) ? &options[i] : NULL;
    return NULL;
}

/* ---- options of OpenCL C's compiler ---- */

/* Returns how many words an option of OpenCL C has; 0: it is none. */
static int count_cl_words(const char *word)
{
    static const char *const whole[] = {"-w", "-g", "-Werror"};

    if (strncmp(word, "-cl-", 4) == 0)
        return 1;
    if (word[0] == '-' && word[1] != '\0' && strchr("DUI", word[1]) != NULL)
        return word[2] == '\0' ? 2 : 1;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(word, whole[i]) == 0)
            return 1;
    return 0;
}

/* They are passed on as they are. */
static int read_cl_words(tool_options *out, int count, char **words, int *at)
{
    int left = count_cl_words(words[*at]);

    if (*at + left > count)
        return tool_complain(TOOL_USAGE, "%s wants a value", words[*at]);
    if (out->cl_count + (size_t)left > TOOL_CL_MAX)
        return tool_complain(TOOL_USAGE, "more than %d options of OpenCL C",
                             TOOL_CL_MAX);
    for (;; (*at)++) {
        out->cl_words[out->cl_count++] = words[*at];
        if (--left == 0)
            return TOOL_OK;
    }
}

/* ---- all options ---- */

/* A negative number is an argument, not an option. */
static int is_option(const char *word)
{
    return word[0] == '-' && word[1] != '\0' &&
           strchr("0123456789.", word[1]) == NULL &&
           strncmp(word, "-inf", 4) != 0;
}

/* Reads the option at words[*at]: "--name value" or "--name=value". One whose
   value may be missing has only the second form. */
static int read_option(tool_options *out, int count, char **words, int *at,
                       const char *known)
{
    const char *word = words[*at];
    const size_t size = strcspn(word, "=");
    const struct option *option = find_option(known, word, size);
    const char *value = word[size] == '=' ? word + size + 1 : NULL;

    if (option == NULL)
        return tool_complain(TOOL_USAGE,
                             "unknown option \"%s\"; see kiln --help", word);
    if (option->has_value == NO_VALUE && value != NULL)
        return tool_complain(TOOL_USAGE, "%s takes no value", option->name);
    if (option->has_value == A_VALUE && value == NULL) {
        if (*at + 1 == count)
            return tool_complain(TOOL_USAGE, "%s wants a value", option->name);
        value = words[++*at];
    }
    return option->take(out, value);
}

int tool_read_options(tool_options *out, int count, char **words,
                      const char *known)
{
    memset(out, 0, sizeof *out);
    out->older_s = 86400;
    for (int i = 0; i < count; i++) {
        if (is_option(words[i])) {
            const int is_cl =
                lists(known, "-D", 2) && count_cl_words(words[i]) > 0;
            const int status = is_cl
                                   ? read_cl_words(out, count, words, &i)
                                   : read_option(out, count, words, &i, known);

            if (status != TOOL_OK)
                return status;
        } else if (out->word_count == 2 + TOOL_ARGUMENTS_MAX) {
            return tool_complain(TOOL_USAGE, "more than %d arguments",
                                 TOOL_ARGUMENTS_MAX);
        } else {
            out->words[out->word_count++] = words[i];
        }
    }
    return TOOL_OK;
}
