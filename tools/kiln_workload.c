/* kiln_workload.c - reads a list of jobs from a text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_workload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/reason.h"
#include "kiln_settings.h"

#define TEXT_MAX ((size_t)64 << 20)
#define SPACE " \t\r"

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

/* Returns the bracket that closes the one at `text`, or NULL. */
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

/* Splits "f32[:,:], (i64, f32)" at the commas outside of brackets. */
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
        const char *wrong = setting_read(&line->settings, word);

        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

/* Returns NULL, or what is wrong. Cuts the text into pieces. */
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
        return tool_complain(TOOL_FAILED, "%s: %s", path,
                             kiln__reason_text(errno));
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
