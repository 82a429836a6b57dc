/* kiln_workload.c - a list of jobs, as text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX ((size_t)64 << 20)
#define SPACE " \t\r"

/* ---- settings ---- */

static int read_number(uint8_t *out, const char *text, unsigned first,
                       unsigned count)
{
    if (text[0] < '0' || text[0] > '9' || text[1] != '\0' ||
        (unsigned)(text[0] - '0') >= count)
        return 0;
    *out = (uint8_t)(first + (unsigned)(text[0] - '0'));
    return 1;
}

static int read_switch(uint8_t *out, const char *text)
{
    if (strcmp(text, "on") != 0 && strcmp(text, "off") != 0)
        return 0;
    *out = text[1] == 'n' ? KILN_SWITCH_ON : KILN_SWITCH_OFF;
    return 1;
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

static int read_count(uint32_t *out, const char *text)
{
    uint32_t numbers[3] = {0, 0, 0};

    if (strchr(text, ',') != NULL || !read_group(numbers, text))
        return 0;
    *out = numbers[0];
    return 1;
}

static int read_math(uint8_t *out, const char *text)
{
    if (strcmp(text, "open") != 0 && strcmp(text, "vendor") != 0)
        return 0;
    *out = *text == 'v' ? KILN_MATH_VENDOR : KILN_MATH_OPEN;
    return 1;
}

static int read_sites(uint8_t *out, const char *text)
{
    if (strcmp(text, "resolve") != 0 && strcmp(text, "patch") != 0)
        return 0;
    *out = *text == 'p' ? KILN_SITES_PATCH : KILN_SITES_RESOLVE;
    return 1;
}

const char *workload_setting(kiln_config_options *out, const char *word)
{
    const char *value = strchr(word, '=');
    const size_t size = value ? (size_t)(value - word) : 0;
#define IS(name) (size == sizeof(name) - 1 && memcmp(word, name, size) == 0)

    if (value == NULL || size == 0)
        return "a setting is NAME=VALUE";
    value++;
    if (IS("opt"))
        return read_number(&out->opt_level, value, KILN_OPT_0, 4)
                   ? NULL
                   : "opt takes 0 to 3";
    if (IS("debug"))
        return read_number(&out->debug_level, value, 0, 3)
                   ? NULL
                   : "debug takes 0 to 2";
    if (IS("bounds"))
        return read_switch(&out->bounds_checks, value) ? NULL
                                                       : "bounds takes on, off";
    if (IS("fast"))
        return read_switch(&out->fast_math, value) ? NULL
                                                   : "fast takes on, off";
    if (IS("contract"))
        return read_switch(&out->contract, value) ? NULL
                                                  : "contract takes on, off";
    if (IS("sites"))
        return read_sites(&out->sites, value) ? NULL
                                              : "sites takes resolve, patch";
    if (IS("group"))
        return read_group(out->required_group_size, value)
                   ? NULL
                   : "group takes N[,N[,N]]";
    if (IS("math"))
        return read_math(&out->math, value) ? NULL : "math takes open, vendor";
    if (IS("most"))
        return read_count(&out->maximum_group_size, value)
                   ? NULL
                   : "most takes a number of items";
    if (IS("groups"))
        return read_count(&out->minimum_groups, value)
                   ? NULL
                   : "groups takes a number of groups";
    if (IS("entry"))
        out->entry_name = value;
    else if (IS("overlays"))
        out->overlays = value;
    else if (IS("target"))
        out->target = value;
    else
        return "settings are opt, debug, bounds, fast, contract, math, "
               "sites, group, most, groups, entry, overlays and target";
    return *value != '\0' ? NULL : "the value is missing";
#undef IS
}

int workload_config(const kiln_config **out, kiln_context *context,
                    const tool_options *options)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    kiln_error *error = NULL;
    kiln_status status;

    if (options->target_count > 0)
        settings.target = options->targets[options->target_count - 1];
    for (size_t i = 0; i < options->set_count; i++) {
        const char *wrong = workload_setting(&settings, options->sets[i]);

        if (wrong != NULL)
            return tool_complain(TOOL_USAGE, "--set %s: %s", options->sets[i],
                                 wrong);
    }
    status = kiln_config_new(out, context, &settings, &error);
    if (status == KILN_OK)
        return TOOL_OK;
    (void)tool_fail(error);
    return status == KILN_EINVAL ? TOOL_USAGE : TOOL_FAILED;
}

/* ---- one line ---- */

static char *trim(char *text)
{
    char *end;

    text += strspn(text, SPACE);
    end = text + strlen(text);
    while (end > text && strchr(SPACE, end[-1]) != NULL)
        *--end = '\0';
    return text;
}

/* The bracket that ends what the one at `text` begins, or NULL. */
static char *closing(char *text)
{
    int depth = 0;

    for (; *text != '\0'; text++) {
        if (strchr("([{", *text) != NULL)
            depth++;
        else if (strchr(")]}", *text) != NULL && --depth == 0)
            return text;
    }
    return NULL;
}

static int add_type(workload_line *line, char *text)
{
    text = trim(text);
    if (*text == '\0' || line->type_count == TOOL_ARGUMENTS_MAX)
        return 0;
    line->types[line->type_count++] = text;
    return 1;
}

/* "f32[:,:], (i64, f32)": by the commas outside of brackets. */
static const char *split_types(workload_line *line, char *text)
{
    char *begin = text;
    int depth = 0;

    if (*trim(text) == '\0')
        return NULL;
    for (; *text != '\0'; text++) {
        depth += strchr("([{", *text) != NULL;
        depth -= strchr(")]}", *text) != NULL;
        if (*text == ',' && depth == 0) {
            *text = '\0';
            if (!add_type(line, begin))
                return "a type is missing, or there are too many";
            begin = text + 1;
        }
    }
    return add_type(line, begin) ? NULL
                                 : "a type is missing, or there are too many";
}

static const char *read_settings(workload_line *line, char *text)
{
    char *next = NULL;

    for (char *word = strtok_r(text, SPACE, &next); word != NULL;
         word = strtok_r(NULL, SPACE, &next)) {
        const char *wrong = workload_setting(&line->settings, word);

        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

/* NULL, or what is wrong. Cuts the text into pieces. */
static const char *read_line(workload_line *line, char *text)
{
    char *open = strchr(text, '(');
    char *close = open ? closing(open) : NULL;
    char *dot;
    const char *wrong;

    if (close == NULL)
        return "a job is PACKAGE.KERNEL(TYPE, ...)";
    *open = '\0';
    *close = '\0';
    line->package = trim(text);
    dot = strrchr(line->package, '.');
    if (dot == NULL || dot == line->package || dot[1] == '\0')
        return "a job is PACKAGE.KERNEL(TYPE, ...)";
    *dot = '\0';
    line->function = dot + 1;
    wrong = split_types(line, open + 1);
    return wrong != NULL ? wrong : read_settings(line, close + 1);
}

/* ---- the list ---- */

static int read_text(char **out, const char *path)
{
    const int is_input = strcmp(path, "-") == 0;
    FILE *file = is_input ? stdin : fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, got = 0;

    if (file == NULL)
        return tool_complain(TOOL_FAILED, "%s: %s", path, strerror(errno));
    do {
        char *more = size < TEXT_MAX ? realloc(text, size + 65537) : NULL;

        if (more == NULL)
            break;
        text = more;
        got = fread(text + size, 1, 65536, file);
        size += got;
        text[size] = '\0';
    } while (got > 0);
    if (text == NULL || got > 0 || ferror(file) || strlen(text) != size) {
        free(text);
        text = NULL;
    }
    if (!is_input)
        (void)fclose(file);
    *out = text;
    return text != NULL ? TOOL_OK
                        : tool_complain(TOOL_FAILED,
                                        "%s: cannot be read as a text", path);
}

static int add_line(workload *list, char *text, unsigned number)
{
    const kiln_config_options none = KILN_CONFIG_OPTIONS_INIT;
    workload_line *lines =
        realloc(list->lines, (list->count + 1) * sizeof *lines);
    const char *wrong;

    if (lines == NULL)
        return tool_complain(TOOL_FAILED, "out of memory");
    list->lines = lines;
    memset(&lines[list->count], 0, sizeof *lines);
    lines[list->count].number = number;
    lines[list->count].settings = none;
    wrong = read_line(&lines[list->count], text);
    if (wrong != NULL)
        return tool_complain(TOOL_FAILED, "%s:%u: %s", list->path, number,
                             wrong);
    list->count++;
    return TOOL_OK;
}

int workload_read(workload *out, const char *path)
{
    unsigned number = 0;
    char *line, *next;
    int status;

    memset(out, 0, sizeof *out);
    out->path = path;
    status = read_text(&out->text, path);
    for (line = out->text; status == TOOL_OK && line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        number++;
        line[strcspn(line, "#")] = '\0';
        line = trim(line);
        if (*line != '\0')
            status = add_line(out, line, number);
    }
    if (status == TOOL_OK && out->count == 0)
        status = tool_complain(TOOL_FAILED, "%s: there is no job in it", path);
    return status;
}

void workload_dispose(workload *list)
{
    free(list->lines);
    free(list->text);
    memset(list, 0, sizeof *list);
}
