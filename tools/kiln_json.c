/* kiln_json.c - writes JSON on standard output. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- texts ---- */

/* How many bytes the character at `text` has; 0: it is none. */
static int character_size(const unsigned char *text)
{
    const int size = text[0] < 0x80                      ? 1
                     : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                     : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                     : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                         : 0;

    for (int i = 1; i < size; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return size;
}

static void write_character(const unsigned char *at, int size)
{
    if (size == 0)
        (void)fputs("\\ufffd", stdout);
    else if (*at == '"' || *at == '\\')
        (void)printf("\\%c", *at);
    else if (*at == '\n')
        (void)fputs("\\n", stdout);
    else if (*at < 0x20 || *at == 0x7f)
        (void)printf("\\u%04x", *at);
    else
        (void)fwrite(at, 1, (size_t)size, stdout);
}

static void write_text(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    (void)fputc('"', stdout);
    while (*at != '\0') {
        const int size = character_size(at);

        write_character(at, size);
        at += size > 0 ? size : 1;
    }
    (void)fputc('"', stdout);
}

/* ---- members ---- */

static void begin(json *out, const char *key)
{
    if (out->depth > 0) {
        (void)fputs(out->count[out->depth]++ > 0 ? ",\n" : "\n", stdout);
        (void)printf("%*s", 2 * out->depth, "");
    }
    if (key != NULL) {
        write_text(key);
        (void)fputs(": ", stdout);
    }
}

static void open(json *out, const char *key, char first, char last)
{
    begin(out, key);
    (void)fputc(first, stdout);
    if (out->depth + 1 < JSON_DEPTH)
        out->depth++;
    out->count[out->depth] = 0;
    out->close[out->depth] = last;
}

void json_object(json *out, const char *key)
{
    open(out, key, '{', '}');
}

void json_array(json *out, const char *key)
{
    open(out, key, '[', ']');
}

void json_end(json *out)
{
    if (out->count[out->depth] > 0)
        (void)printf("\n%*s", 2 * (out->depth - 1), "");
    (void)fputc(out->close[out->depth], stdout);
    if (--out->depth == 0)
        (void)fputc('\n', stdout);
}

void json_text(json *out, const char *key, const char *value)
{
    begin(out, key);
    if (value == NULL)
        (void)fputs("null", stdout);
    else
        write_text(value);
}

void json_number(json *out, const char *key, uint64_t value)
{
    begin(out, key);
    (void)printf("%" PRIu64, value);
}

void json_signed(json *out, const char *key, int64_t value)
{
    begin(out, key);
    (void)printf("%" PRId64, value);
}

void json_flag(json *out, const char *key, int value)
{
    begin(out, key);
    (void)fputs(value ? "true" : "false", stdout);
}
