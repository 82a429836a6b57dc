/* cl_options.c - reads a text's options, and what its digest consists of. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>
#include <unistd.h>

#include "base/data/array.h"
#include "base/error.h"
#include "frontend/opencl/cl_program.h"

/*
 * Options are split here and understood by the translator. Only -I is read,
 * because stored entries must not depend on where the folders are: a program
 * that was moved with its headers is the same program.
 */

typedef struct splitting {
    kiln__arena *arena;
    const kiln_alloc *alloc;
    kiln__array_of(const char *) words;
    kiln__array_of(const char *) roots;
} splitting;

/* ---- words ---- */

static int is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Reads one word into `out`, which has room for it. Returns where it ends, or
   NULL: a quote is not closed. */
static const char *read_word(char *out, const char *text)
{
    char quote = '\0';

    for (; *text != '\0' && (quote != '\0' || !is_space(*text)); text++) {
        if (*text == '\\' && text[1] != '\0' && quote != '\'') {
            *out++ = *++text;
        } else if (quote == '\0' && (*text == '"' || *text == '\'')) {
            quote = *text;
        } else if (quote != '\0' && *text == quote) {
            quote = '\0';
        } else {
            *out++ = *text;
        }
    }
    *out = '\0';
    return quote == '\0' ? text : NULL;
}

static kiln_status split(splitting *s, const char *text, kiln_error **error)
{
    const char *const all = text;

    for (;;) {
        char *word;

        while (is_space(*text))
            text++;
        if (*text == '\0')
            return KILN_OK;
        word = kiln__arena_allocate(s->arena, strlen(text) + 1);
        if (word == NULL || !kiln__array_push(s->alloc, &s->words, word))
            return kiln__error_no_memory(error);
        text = read_word(word, text);
        if (text == NULL)
            return kiln__error_set(
                error, KILN_EINVAL,
                "a quote is not closed in the options %.200s", all);
    }
}

/* ---- folders ---- */

/* Removes "." and empty parts of an absolute path that ends with a slash. With
   "..", a path is not the same behind a symbolic link. */
static void clean_path(char *path)
{
    const char *from = path;
    char *to = path;

    while (*from != '\0')
        if (from[0] == '/' && from[1] == '/')
            from++;
        else if (strncmp(from, "/./", 3) == 0)
            from += 2;
        else
            *to++ = *from++;
    *to = '\0';
}

/* Adds an absolute path with a slash at the end. */
static void add_root(splitting *s, const char *folder, const char *path,
                     size_t size)
{
    const char *slash = size > 0 && path[size - 1] == '/' ? "" : "/";
    char *root;

    if (size > 0 && path[0] == '/')
        root = kiln__arena_format(s->arena, "%.*s%s", (int)size, path, slash);
    else if (size > 0)
        root = kiln__arena_format(s->arena, "%s/%.*s%s", folder, (int)size,
                                  path, slash);
    else
        root = kiln__arena_format(s->arena, "%s/", folder);
    if (root != NULL)
        clean_path(root);
    if (root == NULL || !kiln__array_push(s->alloc, &s->roots, root))
        s->arena->failed = 1;
}

static size_t folder_size(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash == NULL ? 0 : (size_t)(slash - file) + 1;
}

/* Returns the folder of "-Ifolder" or of "-I" "folder", and moves over both
   words; NULL for another option. */
static const char *read_folder(const splitting *s, size_t *at)
{
    const char *word = s->words.items[*at];

    if (strncmp(word, "-I", 2) != 0)
        return NULL;
    if (word[2] != '\0')
        return word + 2;
    return *at + 1 < s->words.count ? s->words.items[++*at] : NULL;
}

/* ---- digests ---- */

/* Encodes which of the other folders the folder is in, and where. Paths in
   stored entries begin with the number of the innermost folder that they are
   in, so they mean the same only where folders lie in each other alike. */
static void encode_place(kiln__encoder *out, const splitting *s, size_t at)
{
    for (size_t i = 0; i < s->roots.count; i++) {
        const size_t size = strlen(s->roots.items[i]);

        if (i == at ||
            strncmp(s->roots.items[at], s->roots.items[i], size) != 0)
            continue;
        kiln__encode_u64(out, i + 1);
        kiln__encode_text(out, s->roots.items[at] + size);
    }
    kiln__encode_u64(out, 0);
}

/* A folder that does not exist may appear, with files in it. */
static void encode_folder(kiln__encoder *out, const splitting *s, size_t at,
                          int has_debug)
{
    const char *root = s->roots.items[at];

    kiln__encode_text(out, "-I");
    kiln__encode_u64(out, access(root, F_OK) == 0);
    encode_place(out, s, at);
    if (has_debug)
        kiln__encode_text(out, root);
}

static void encode_options(kiln__encoder *out, const splitting *s,
                           const kiln__cl_text *text)
{
    size_t root = 1;

    encode_place(out, s, 0);
    for (size_t i = 0; i < s->words.count; i++)
        if (read_folder(s, &i) != NULL)
            encode_folder(out, s, root++, text->has_debug);
        else
            kiln__encode_text(out, s->words.items[i]);
    if (text->has_debug) {
        kiln__encode_text(out, text->folder);
        kiln__encode_text(out, text->file);
    }
}

static kiln_status make_digests(kiln__cl_text *out, const splitting *s)
{
    kiln__encoder encoder;

    kiln__encoder_init(&encoder, s->alloc);
    encode_options(&encoder, s, out);
    out->options = kiln__encoder_digest(&encoder);
    kiln__encode_text(&encoder, out->file);
    for (size_t i = 0; i < s->roots.count; i++)
        kiln__encode_text(&encoder, s->roots.items[i]);
    kiln__encode_bytes(&encoder, out->text, out->size);
    out->digest = kiln__encoder_digest(&encoder);
    s->arena->failed |= encoder.failed;
    kiln__encoder_dispose(&encoder);
    return s->arena->failed ? KILN_ENOMEM : KILN_OK;
}

/* ---- all of it ---- */

static kiln_status read_all(kiln__cl_text *out, splitting *s,
                            const char *options, kiln_error **error)
{
    KILN_TRY(split(s, options, error));
    add_root(s, out->folder, out->file, folder_size(out->file));
    for (size_t i = 0; i < s->words.count; i++) {
        const char *folder = read_folder(s, &i);

        if (folder != NULL)
            add_root(s, out->folder, folder, strlen(folder));
        else
            out->has_debug |= strcmp(s->words.items[i], "-g") == 0;
    }
    if (s->arena->failed || make_digests(out, s) != KILN_OK)
        return kiln__error_no_memory(error);
    out->words = kiln__arena_copy(s->arena, s->words.items,
                                  s->words.count * sizeof *s->words.items);
    out->roots = kiln__arena_copy(s->arena, s->roots.items,
                                  s->roots.count * sizeof *s->roots.items);
    out->word_count = s->words.count;
    out->root_count = s->roots.count;
    return s->arena->failed ? kiln__error_no_memory(error) : KILN_OK;
}

kiln_status kiln__cl_text_read(kiln__cl_text *out, kiln__arena *arena,
                               const char *options, kiln_error **error)
{
    splitting s = {.arena = arena, .alloc = arena->alloc};
    const kiln_status status =
        read_all(out, &s, options != NULL ? options : "", error);

    kiln__array_dispose(s.alloc, &s.words);
    kiln__array_dispose(s.alloc, &s.roots);
    return status;
}
