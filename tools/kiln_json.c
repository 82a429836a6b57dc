/* kiln_json.c - writes JSON on standard output. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/data/utf8.h"

/* ---- texts ---- */

static void write_character(const unsigned char *at, size_t size)
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
        (void)fwrite(at, 1, size, stdout);
}

static void write_text(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t left = strlen(text), size;

    (void)fputc('"', stdout);
    for (; left > 0; at += size > 0 ? size : 1, left -= size > 0 ? size : 1) {
        size = kiln__utf8_size(at, left);
        write_character(at, size);
    }
    (void)fputc('"', stdout);
}

/* ---- members ---- */

static void begin_member(json *out, const char *key)
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
    begin_member(out, key);
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
    begin_member(out, key);
    if (value == NULL)
        (void)fputs("null", stdout);
    else
        write_text(value);
}

void json_number(json *out, const char *key, uint64_t value)
{
    begin_member(out, key);
    (void)printf("%" PRIu64, value);
}

void json_signed(json *out, const char *key, int64_t value)
{
    begin_member(out, key);
    (void)printf("%" PRId64, value);
}

void json_flag(json *out, const char *key, int value)
{
    begin_member(out, key);
    (void)fputs(value ? "true" : "false", stdout);
}
