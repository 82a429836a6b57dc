/* kiln_settings.c - reads settings, NAME=VALUE, for --set and workloads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static int read_number(uint8_t *out, const char *text, unsigned first,
                       unsigned count)
{
    if (text[0] < '0' || text[0] > '9' || text[1] != '\0' ||
        (unsigned)(text[0] - '0') >= count)
        return 0;
    *out = (uint8_t)(first + (unsigned)(text[0] - '0'));
    return 1;
}

/* Reads one of two words, each of which stands for a number. */
static int read_word(uint8_t *out, const char *text, const char *one,
                     uint8_t number, const char *other, uint8_t other_number)
{
    if (strcmp(text, one) != 0 && strcmp(text, other) != 0)
        return 0;
    *out = strcmp(text, one) == 0 ? number : other_number;
    return 1;
}

static int read_switch(uint8_t *out, const char *text)
{
    return read_word(out, text, "on", KILN_SWITCH_ON, "off", KILN_SWITCH_OFF);
}

static int read_group(uint32_t out[3], const char *text)
{
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long number;

        if (*text < '0' || *text > '9')
            return 0;
        errno = 0;
        number = strtoul(text, &end, 10);
        if (errno != 0 || number > INT32_MAX)
            return 0;
        out[i] = (uint32_t)number;
        if (*end == '\0')
            return 1;
        if (*end != ',')
            return 0;
        text = end + 1;
    }
    return 0;
}

/* A group has an item in each dimension: those that are left out count as 1. */
static int read_required_group(uint32_t out[3], const char *text)
{
    uint32_t numbers[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

    if (!read_group(numbers, text))
        return 0;
    for (int i = 0; i < 3; i++) {
        if (numbers[i] == 0)
            return 0;
        out[i] = numbers[i] == UINT32_MAX ? 0 : numbers[i];
    }
    return 1;
}

static int read_count(uint32_t *out, const char *text)
{
    uint32_t numbers[3] = {0, 0, 0};

    if (strchr(text, ',') != NULL || !read_group(numbers, text))
        return 0;
    *out = numbers[0];
    return 1;
}

/* "on" leaves it to the compiler. */
static int read_iterations(uint32_t *out, const char *text)
{
    if (strcmp(text, "on") == 0 || strcmp(text, "off") == 0) {
        *out = text[1] == 'n' ? 0 : KILN_UNROLL_OFF;
        return 1;
    }
    return read_count(out, text);
}

static int read_text(const char **out, const char *text)
{
    *out = text;
    return *text != '\0';
}

/* ---- settings ---- */

#define READ(name, call) \
    static int read_##name(kiln_config_options *out, const char *text) \
    { \
        return call; \
    }

READ(opt, read_number(&out->opt_level, text, KILN_OPT_0, 4))
READ(debug, read_number(&out->debug_level, text, KILN_DEBUG_NONE, 3))
READ(bounds, read_switch(&out->bounds_checks, text))
READ(fast, read_switch(&out->fast_math, text))
READ(contract, read_switch(&out->contract, text))
READ(math, read_word(&out->math, text, "open", KILN_MATH_OPEN, "vendor",
                     KILN_MATH_VENDOR))
READ(sites, read_word(&out->sites, text, "resolve", KILN_SITES_RESOLVE, "patch",
                      KILN_SITES_PATCH))
READ(required, read_required_group(out->required_group_size, text))
READ(most, read_count(&out->maximum_group_size, text))
READ(groups, read_count(&out->minimum_groups, text))
READ(registers, read_count(&out->maximum_registers, text))
READ(unroll, read_iterations(&out->unroll, text))
READ(entry, read_text(&out->entry_name, text))
READ(overlays, read_text(&out->overlays, text))
READ(target, read_text(&out->target, text))

/* docs/caching.md has the same table for people. */
static const struct setting {
    const char *name;
    const char *takes;
    int (*read)(kiln_config_options *out, const char *text);
} settings[] = {
    {"opt", "0 to 3", read_opt},
    {"debug", "0 to 2", read_debug},
    {"bounds", "on or off", read_bounds},
    {"fast", "on or off", read_fast},
    {"contract", "on or off", read_contract},
    {"math", "open or vendor", read_math},
    {"sites", "resolve or patch", read_sites},
    {"group", "N[,N[,N]], a group's items, 1 or more", read_required},
    {"most", "a number of items", read_most},
    {"groups", "a number of groups", read_groups},
    {"registers", "a number of registers", read_registers},
    {"unroll", "on, off or a number of iterations", read_unroll},
    {"entry", "a symbol's name", read_entry},
    {"overlays", "NAME[,NAME]...", read_overlays},
    {"target", "a target; see kiln targets", read_target},
};

#define SETTINGS (sizeof settings / sizeof *settings)

static const char *setting_name(size_t index)
{
    return index < SETTINGS ? settings[index].name : NULL;
}

void settings_show(FILE *file)
{
    for (size_t i = 0; i < SETTINGS; i++)
        (void)fprintf(file, "          %-10s%s\n", settings[i].name,
                      settings[i].takes);
}

static const struct setting *find_setting(const char *word, size_t size)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (strlen(settings[i].name) == size &&
            memcmp(settings[i].name, word, size) == 0)
            return &settings[i];
    return NULL;
}

const char *setting_read(kiln_config_options *out, const char *word)
{
    static char wrong[256];
    const char *value = strchr(word, '=');
    const struct setting *setting;
    size_t length;

    if (value == NULL || value == word)
        return "a setting is NAME=VALUE";
    setting = find_setting(word, (size_t)(value - word));
    if (setting != NULL && setting->read(out, value + 1))
        return NULL;
    if (setting != NULL) {
        (void)snprintf(wrong, sizeof wrong, "%s takes %s", setting->name,
                       setting->takes);
    } else {
        length = (size_t)snprintf(wrong, sizeof wrong, "settings are ");
        tool_list_names(wrong + length, sizeof wrong - length, setting_name);
    }
    return wrong;
}

int settings_config(const kiln_config **out, kiln_context *context,
                    const tool_options *options)
{
    kiln_config_options config = KILN_CONFIG_OPTIONS_INIT;
    kiln_error *error = NULL;
    kiln_status status;

    if (options->target_count > 0)
        config.target = options->targets[options->target_count - 1];
    for (size_t i = 0; i < options->set_count; i++) {
        const char *wrong = setting_read(&config, options->sets[i]);

        if (wrong != NULL)
            return tool_complain(TOOL_USAGE, "--set %s: %s", options->sets[i],
                                 wrong);
    }
    status = kiln_config_new(out, context, &config, &error);
    if (status == KILN_OK)
        return TOOL_OK;
    (void)tool_fail(error);
    return status == KILN_EINVAL ? TOOL_USAGE : TOOL_FAILED;
}
