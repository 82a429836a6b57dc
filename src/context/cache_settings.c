/* cache_settings.c - how a context uses stores: options, then variables. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "context/cache_settings.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/data/array.h"
#include "base/data/ascii.h"
#include "base/data/units.h"
#include "base/error.h"
#include "base/options.h"

/*
 * An option has precedence over its variable, and the variable over the
 * default. An option that is zero or "" is not set, nor is a variable that is
 * empty. This file opens no files: folders are looked at when they are first
 * needed. Relative paths are resolved against the folder in which the process
 * is now, so that the cache stays where it is when the process changes its
 * folder.
 */

#define DEFAULT_SIZE ((uint64_t)2 << 30)
#define DEFAULT_ENTRIES ((uint64_t)65536)
#define DEFAULT_AGE_S ((uint64_t)30 * 24 * 3600)
#define DEFAULT_MEM_SIZE ((uint64_t)256 << 20)
#define DEFAULT_WAIT_MS ((uint64_t)30 * 1000)

/* The name becomes a part of a path. */
#define NAME_SPACE_MAX 64

/* ---- numbers ---- */

typedef struct number {
    const char *name; /* of the variable */
    const char *takes;
    const kiln__unit *units;
    uint64_t least;
    uint64_t usual;
    int may_be_none;
} number;

static kiln_status read_number(uint64_t *out, uint64_t option,
                               const char *variable, const number *about,
                               kiln_error **error)
{
    *out = option ? option : about->usual;
    if (option || variable == NULL)
        return KILN_OK;
    if (about->may_be_none && strcmp(variable, "none") == 0) {
        *out = KILN_CACHE_UNBOUNDED;
        return KILN_OK;
    }
    if (kiln__units_read(out, variable, about->units) && *out >= about->least)
        return KILN_OK;
    return kiln__error_set(error, KILN_EINVAL, "%s is '%s'; it takes %s",
                           about->name, variable, about->takes);
}

static kiln_status read_numbers(kiln__cache_settings *settings,
                                const kiln_cache_options *options,
                                const kiln__cache_variables *variables,
                                kiln_error **error)
{
    static const number size = {
        "KILN_CACHE_MAX_SIZE", KILN__SIZE_TAKES ", or none",
        kiln__size_units,      1,
        DEFAULT_SIZE,          1};
    static const number entries = {
        "KILN_CACHE_MAX_ENTRIES", "a number from 1, or none",
        kiln__no_units,           1,
        DEFAULT_ENTRIES,          1};
    static const number age = {
        "KILN_CACHE_MAX_AGE", KILN__TIME_TAKES ", or none",
        kiln__time_units,     1,
        DEFAULT_AGE_S,        1};
    static const number memory = {
        "KILN_CACHE_MEM_SIZE", KILN__SIZE_TAKES ", or none",
        kiln__size_units,      1,
        DEFAULT_MEM_SIZE,      1};
    static const number wait = {"KILN_CACHE_WAIT",      KILN__TIME_TAKES,
                                kiln__time_units,       0,
                                DEFAULT_WAIT_MS / 1000, 0};
    uint64_t wait_s;

    KILN_TRY(read_number(&settings->max_size, options->max_size,
                         variables->max_size, &size, error));
    KILN_TRY(read_number(&settings->max_entries, options->max_entries,
                         variables->max_entries, &entries, error));
    KILN_TRY(read_number(&settings->max_age_s, options->max_age_s,
                         variables->max_age, &age, error));
    KILN_TRY(read_number(&settings->mem_size, options->mem_size,
                         variables->mem_size, &memory, error));
    settings->wait_ms = options->wait_ms;
    if (options->wait_ms)
        return KILN_OK;
    KILN_TRY(read_number(&wait_s, 0, variables->wait, &wait, error));
    if (__builtin_mul_overflow(wait_s, (uint64_t)1000, &settings->wait_ms))
        settings->wait_ms = UINT64_MAX;
    return KILN_OK;
}

/* ---- words ---- */

static kiln_status read_mode(kiln__cache_settings *settings, uint8_t option,
                             const char *variable, kiln_error **error)
{
#define TEXT(name, value, text) [value] = (text),
    static const char *const texts[] = {KILN_CACHE_MODE_MAP(TEXT)};
#undef TEXT

    if (option >= KILN_CACHE_MODE_COUNT)
        return kiln__error_set(error, KILN_EINVAL,
                               "the cache's mode is %d, which is none of "
                               "KILN_CACHE_MODE_...",
                               option);
    settings->mode = option ? option : KILN_CACHE_MODE_READ_WRITE;
    if (option || variable == NULL)
        return KILN_OK;
    for (int32_t i = 1; i < KILN_CACHE_MODE_COUNT; i++) {
        if (strcmp(variable, texts[i]) == 0) {
            settings->mode = i;
            return KILN_OK;
        }
    }
    return kiln__error_set(error, KILN_EINVAL,
                           "KILN_CACHE is '%s'; it takes off, ro, rw, "
                           "must-hit, refresh or verify",
                           variable);
}

static kiln_status read_lock(kiln__cache_settings *settings, uint8_t option,
                             const char *variable, kiln_error **error)
{
    if (option > KILN_CACHE_LOCK_NONE)
        return kiln__error_set(error, KILN_EINVAL,
                               "the cache's lock is %d, which is none of "
                               "KILN_CACHE_LOCK_...",
                               option);
    settings->locks = option != KILN_CACHE_LOCK_NONE;
    if (option || variable == NULL || strcmp(variable, "auto") == 0)
        return KILN_OK;
    settings->locks = 0;
    if (strcmp(variable, "none") == 0)
        return KILN_OK;
    return kiln__error_set(error, KILN_EINVAL,
                           "KILN_CACHE_LOCK is '%s'; it takes auto or none",
                           variable);
}

static kiln_status read_disk(kiln__cache_settings *settings, uint8_t option,
                             const char *variable, kiln_error **error)
{
    if (option > KILN_SWITCH_OFF)
        return kiln__error_set(error, KILN_EINVAL,
                               "the cache's disk is %d, which is none of "
                               "KILN_SWITCH_...",
                               option);
    settings->has_disk = option != KILN_SWITCH_OFF;
    if (option || variable == NULL || strcmp(variable, "on") == 0)
        return KILN_OK;
    settings->has_disk = 0;
    if (strcmp(variable, "off") == 0)
        return KILN_OK;
    return kiln__error_set(error, KILN_EINVAL,
                           "KILN_CACHE_DISK is '%s'; it takes on or off",
                           variable);
}

#define ALL_TIERS ((UINT32_C(1) << KILN_TIER_COUNT) - 1)

/* Returns the tier of that name, or KILN_TIER_COUNT. */
static uint32_t find_tier(const char *name, size_t size)
{
#define TEXT(name, text) text,
    static const char *const texts[] = {KILN_TIER_MAP(TEXT)};
#undef TEXT
    uint32_t i = 0;

    while (i < KILN_TIER_COUNT &&
           (strlen(texts[i]) != size || memcmp(texts[i], name, size) != 0))
        i++;
    return i;
}

static kiln_status read_tiers(kiln__cache_settings *settings, uint32_t option,
                              const char *variable, kiln_error **error)
{
    if (option & ~ALL_TIERS)
        return kiln__error_set(error, KILN_EINVAL,
                               "the cache's tiers_off has bits of no tier");
    settings->tiers_off = option;
    if (option || variable == NULL)
        return KILN_OK;
    settings->tiers_off = ALL_TIERS;
    if (strcmp(variable, "none") == 0)
        return KILN_OK;
    for (const char *at = variable;; at++) {
        const size_t size = strcspn(at, ",");
        const uint32_t tier = find_tier(at, size);

        if (tier == KILN_TIER_COUNT)
            return kiln__error_set(
                error, KILN_EINVAL,
                "KILN_CACHE_TIERS is '%s'; it takes a list, by ',', of "
                "typed_ir, runtime and binary, or none",
                variable);
        settings->tiers_off &= ~(UINT32_C(1) << tier);
        at += size;
        if (*at == '\0')
            return KILN_OK;
    }
}

/* ---- users ---- */

/* Reads the number of a user at `text`, which must be followed by ',' or the
   end. Returns its length, or 0. */
static size_t read_user(uid_t *out, const char *text)
{
    uint64_t user = 0;
    size_t size = 0;

    for (; kiln__is_digit(text[size]) && user <= UINT32_MAX; size++)
        user = user * 10 + (uint64_t)(text[size] - '0');
    /* The highest number is no user: it means "no change" to the system. */
    if (user >= UINT32_MAX || (text[size] != ',' && text[size] != '\0'))
        return 0;
    *out = (uid_t)user;
    return size;
}

static kiln_status read_trusted(kiln__cache_settings *settings,
                                const char *list, kiln_error **error)
{
    size_t count = 1;

    if (list == NULL)
        return KILN_OK;
    for (const char *at = list; *at; at++)
        count += *at == ',';
    settings->trusted =
        kiln__allocate(&settings->alloc, count * sizeof *settings->trusted);
    if (settings->trusted == NULL)
        return KILN_ENOMEM;
    settings->trusted_count = count;
    for (size_t i = 0; i < count; i++) {
        const size_t size = read_user(&settings->trusted[i], list);

        if (size == 0)
            return kiln__error_set(
                error, KILN_EINVAL,
                "the cache's trusted users are '%s'; it takes numbers of "
                "users, separated by ','",
                list);
        list += size + 1;
    }
    return KILN_OK;
}

/* ---- texts ---- */

static const char *first_of(const char *option, const char *variable)
{
    return option != NULL && *option ? option : variable;
}

/* Adds one path, or the first path of a list, made absolute. If the current
   folder does not exist, it stays as it is. */
static void add_path(kiln__text *out, const char *path, size_t size)
{
    if (size > 0 && *path != '/') {
        char *here = kiln__allocate(out->alloc, PATH_MAX);

        out->failed |= here == NULL;
        if (here != NULL && getcwd(here, PATH_MAX) != NULL) {
            kiln__text_add(out, here);
            kiln__text_add(out, "/");
        }
        kiln__deallocate(out->alloc, here, PATH_MAX);
    }
    kiln__text_add_n(out, path, size);
}

static void add_paths(kiln__text *out, const char *list)
{
    size_t size;

    for (;; list += size + 1) {
        size = strcspn(list, ":");
        add_path(out, list, size);
        if (list[size] == '\0')
            return;
        kiln__text_add(out, ":");
    }
}

/* Copies a path or a list of paths; NULL of NULL. */
static kiln_status copy_path(char **out, const kiln__cache_settings *settings,
                             const char *path, int is_list)
{
    kiln__text made;
    kiln_status status;

    *out = NULL;
    if (path == NULL)
        return KILN_OK;
    kiln__text_init(&made, &settings->alloc);
    if (is_list)
        add_paths(&made, path);
    else
        add_path(&made, path, strlen(path));
    status = made.failed ? KILN_ENOMEM
                         : kiln__string_copy_optional(out, &settings->alloc,
                                                      made.bytes);
    kiln__text_dispose(&made);
    return status;
}

/* Returns `folder` followed by `suffix`, or NULL when out of memory. */
static char *join(const kiln__cache_settings *settings, const char *folder,
                  const char *suffix)
{
    const size_t size = strlen(folder) + strlen(suffix) + 1;
    char *path = kiln__allocate(&settings->alloc, size);

    if (path != NULL)
        (void)snprintf(path, size, "%s%s", folder, suffix);
    return path;
}

/* XDG folders must be absolute; others count as not set. */
static int is_absolute(const char *folder)
{
    return folder != NULL && *folder == '/';
}

static kiln_status find_directory(kiln__cache_settings *settings,
                                  const char *given,
                                  const kiln__cache_variables *variables)
{
    if (!settings->has_disk) {
        settings->why_not = "it is switched off";
        return KILN_OK;
    }
    if (variables->is_privileged) {
        settings->why_not = "the process has more rights than its user";
        return KILN_OK;
    }
    settings->is_given = given != NULL;
    if (given != NULL)
        return copy_path(&settings->directory, settings, given, 0);
    if (is_absolute(variables->cache_home))
        settings->directory = join(settings, variables->cache_home, "/kiln");
    else if (is_absolute(variables->home))
        settings->directory = join(settings, variables->home, "/.cache/kiln");
    else
        settings->why_not = "HOME is not set";
    return settings->directory != NULL || settings->why_not != NULL
               ? KILN_OK
               : KILN_ENOMEM;
}

static kiln_status find_local(kiln__cache_settings *settings, const char *given,
                              const kiln__cache_variables *variables)
{
    char suffix[32];

    settings->local_is_given = given != NULL;
    if (given != NULL)
        return copy_path(&settings->local_directory, settings, given, 0);
    (void)snprintf(suffix, sizeof suffix, "/kiln-%lu",
                   (unsigned long)geteuid());
    if (is_absolute(variables->runtime_directory))
        settings->local_directory =
            join(settings, variables->runtime_directory, "/kiln");
    else
        settings->local_directory = join(
            settings,
            is_absolute(variables->temporary) ? variables->temporary : "/tmp",
            suffix);
    return settings->local_directory != NULL ? KILN_OK : KILN_ENOMEM;
}

static int is_name(const char *text)
{
    const size_t size = strlen(text);

    if (size == 0 || size > NAME_SPACE_MAX || *text == '.')
        return 0;
    /* It would look like the folder of a format. */
    if (*text == 'v' && kiln__is_digit(text[1]))
        return 0;
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789._-") == size;
}

static kiln_status read_name_space(kiln__cache_settings *settings,
                                   const char *text, kiln_error **error)
{
    if (text != NULL && !is_name(text))
        return kiln__error_set(
            error, KILN_EINVAL,
            "the cache's name space is '%s'; it takes at most %d letters, "
            "digits, '.', '_' and '-', not '.' nor v and a digit first",
            text, NAME_SPACE_MAX);
    return kiln__string_copy_optional(&settings->name_space, &settings->alloc,
                                      text);
}

static kiln_status read_texts(kiln__cache_settings *settings,
                              const kiln_cache_options *options,
                              const kiln__cache_variables *variables,
                              kiln_error **error)
{
    const char *path = first_of(options->search_path, variables->search_path);

    KILN_TRY(read_name_space(
        settings, first_of(options->name_space, variables->name_space), error));
    KILN_TRY(find_directory(settings,
                            first_of(options->directory, variables->directory),
                            variables));
    KILN_TRY(find_local(
        settings,
        first_of(options->local_directory, variables->local_directory),
        variables));
    KILN_TRY(copy_path(&settings->search_path, settings,
                       variables->is_privileged ? NULL : path, 1));
    KILN_TRY(
        kiln__string_copy_optional(&settings->salt, &settings->alloc,
                                   first_of(options->salt, variables->salt)));
    return copy_path(&settings->trace, settings,
                     first_of(options->trace, variables->trace), 0);
}

/* ---- making and ending ---- */

static kiln_status read_all(kiln__cache_settings *settings,
                            const kiln_cache_options *options,
                            const kiln__cache_variables *variables,
                            kiln_error **error)
{
    KILN_TRY(read_mode(settings, options->mode, variables->mode, error));
    KILN_TRY(read_lock(settings, options->lock, variables->lock, error));
    KILN_TRY(read_disk(settings, options->disk, variables->disk, error));
    KILN_TRY(read_tiers(settings, options->tiers_off, variables->tiers, error));
    KILN_TRY(read_numbers(settings, options, variables, error));
    KILN_TRY(read_trusted(
        settings, first_of(options->trusted_users, variables->trust), error));
    return read_texts(settings, options, variables, error);
}

kiln_status kiln__cache_settings_new(kiln__cache_settings **out,
                                     const kiln_alloc *alloc,
                                     const kiln_cache_options *options,
                                     const kiln__cache_variables *variables,
                                     kiln_error **error)
{
    kiln_cache_options known;
    kiln__cache_settings *settings;
    kiln_status status;

    *out = NULL;
    KILN_TRY(KILN__OPTIONS_READ(&known, options, kiln_cache_options, error));
    settings = kiln__allocate(alloc, sizeof *settings);
    if (settings == NULL)
        return kiln__error_no_memory(error);
    settings->alloc = *alloc;
    status = read_all(settings, &known, variables, error);
    if (status == KILN_OK) {
        *out = settings;
        return KILN_OK;
    }
    kiln__cache_settings_free(settings);
    return status == KILN_ENOMEM ? kiln__error_no_memory(error) : status;
}

void kiln__cache_settings_free(kiln__cache_settings *settings)
{
    kiln_alloc alloc;

    if (settings == NULL)
        return;
    alloc = settings->alloc;
    kiln__string_free(&alloc, settings->directory);
    kiln__string_free(&alloc, settings->local_directory);
    kiln__string_free(&alloc, settings->search_path);
    kiln__deallocate(&alloc, settings->trusted,
                     settings->trusted_count * sizeof *settings->trusted);
    kiln__string_free(&alloc, settings->salt);
    kiln__string_free(&alloc, settings->name_space);
    kiln__string_free(&alloc, settings->trace);
    kiln__deallocate(&alloc, settings, sizeof *settings);
}
