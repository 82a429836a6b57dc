/* cl_trail.c - from the bytes of a text and its files to their tokens. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/decoder.h"
#include "base/error.h"
#include "base/system/file.h"
#include "frontend/opencl/cl_program.h"

/*
 * Which file a preprocessor looks for next depends on the text and on what it
 * found so far. So the digest of these, the state, leads to an entry that names
 * the next file. What is found there, or that nothing is, makes the next state;
 * and so on to an entry that has the digest of the tokens. A file that is
 * edited, removed, or appears earlier on the include path makes a state that
 * nobody has seen, or one that was seen when the files were like this: no entry
 * ever becomes wrong. That two names are of one file is in the state, too: with
 * `#pragma once` such a file is included once, and copies of it are twice.
 *
 * A trail does not depend on where the files lie. So there is none for a source
 * that asks for a file's name: each process preprocesses it.
 *
 * Meta, after a version: the compiler's build; 1 and the digest of the tokens,
 * or 0, the next file's path, and whether it was read. A path below one of the
 * text's folders is written as the folder's number, a colon and the rest.
 */

/* Parts of a translation. */
#define TRAIL "trail"
#define NAME "name"

#define STEPS_MAX 100000

typedef struct step {
    kiln__cl *cl;
    kiln__arena *arena;
    int is_end;
    kiln_digest tokens; /* at the end */
    char *path;         /* as written; in an arena */
    int was_read;
} step;

/* ---- states ---- */

static kiln_digest first_state(const kiln__cl_text *text)
{
    return kiln__digest_combine(text->options,
                                kiln__digest_bytes(text->text, text->size));
}

/* The file's path is that of the step, "as written". */
static kiln_digest next_state(kiln_digest state, const char *path,
                              const kiln__source_file *file)
{
    const uint64_t found = (uint64_t)file->found;

    state = kiln__digest_combine(state, kiln__digest_text(path));
    state = kiln__digest_combine(state, kiln__digest_number(found));
    state = kiln__digest_combine(state, kiln__digest_number(file->same));
    return file->found == KILN__SOURCE_READ
               ? kiln__digest_combine(state, file->digest)
               : state;
}

/* ---- paths ---- */

/* Returns the size of the root in a path that begins with it, else 0. The path
   of the folder itself may lack the slash. */
static size_t root_size(const char *root, const char *path)
{
    const size_t size = strlen(root);

    if (strncmp(path, root, size) == 0)
        return size;
    return size > 1 && strlen(path) == size - 1 &&
                   strncmp(path, root, size - 1) == 0
               ? size - 1
               : 0;
}

static char *write_path(kiln__arena *arena, const kiln__cl_text *text,
                        const char *path)
{
    size_t best = 0, number = 0;

    for (size_t i = 0; i < text->root_count; i++) {
        const size_t size = root_size(text->roots[i], path);

        if (size > best) {
            best = size;
            number = i;
        }
    }
    return best == 0 ? kiln__arena_text(arena, path)
                     : kiln__arena_format(arena, "%zu:%s", number, path + best);
}

/* Returns NULL for a path that was not written here, too. */
static const char *read_path(kiln__arena *arena, const kiln__cl_text *text,
                             const char *written)
{
    const size_t digits = strspn(written, "0123456789");
    size_t number = 0;

    if (written[0] == '/')
        return written;
    if (digits == 0 || digits > 6 || written[digits] != ':')
        return NULL;
    for (size_t i = 0; i < digits; i++)
        number = number * 10 + (size_t)(written[i] - '0');
    return number < text->root_count
               ? kiln__arena_format(arena, "%s%s", text->roots[number],
                                    written + digits + 1)
               : NULL;
}

/* ---- entries ---- */

static kiln_status read_step(const kiln__entry *entry, void *env)
{
    step *s = env;
    kiln__reader reader;
    kiln__span_of_bytes path;

    kiln__reader_init(&reader, entry->meta, entry->meta_size);
    if (!kiln__cl_meta_read(&reader, s->cl))
        return KILN_ENOTFOUND;
    s->is_end = kiln__read_u64(&reader) != 0;
    if (s->is_end) {
        s->tokens = kiln__read_digest(&reader);
    } else {
        path = kiln__read_text(&reader);
        s->was_read = kiln__read_u64(&reader) != 0;
        if (reader.failed || path.data == NULL)
            return KILN_ENOTFOUND;
        s->path = kiln__arena_string(s->arena, path.data, path.size);
        if (s->path == NULL)
            return KILN_ENOMEM;
    }
    return kiln__reader_is_done(&reader) ? KILN_OK : KILN_ENOTFOUND;
}

static void put_step(const char *part, kiln_digest of, const step *s)
{
    kiln__entry entry = {0};
    kiln__encoder meta;

    kiln__cl_meta_begin(&meta, s->cl);
    kiln__encode_u64(&meta, s->is_end != 0);
    if (s->is_end) {
        kiln__encode_digest(&meta, s->tokens);
    } else {
        kiln__encode_text(&meta, s->path);
        kiln__encode_u64(&meta, s->was_read != 0);
    }
    entry.meta = meta.bytes;
    entry.meta_size = meta.size;
    if (!meta.failed)
        kiln__cl_put(s->cl, part, of, &entry);
    kiln__encoder_dispose(&meta);
}

/* ---- texts of a name ---- */

static kiln_digest name_of(const kiln__cl_version *version)
{
    const kiln__cl_text *text = &version->text;

    return kiln__digest_combine(kiln__digest_text(text->file), text->options);
}

int kiln__cl_trail_was_seen(const kiln__cl_version *version)
{
    kiln__arena arena;
    step s = {.cl = version->program->cl, .arena = &arena};
    kiln_status status;

    kiln__arena_init(&arena, s.cl->alloc);
    status = kiln__cl_get(s.cl, NAME, name_of(version), read_step, &s);
    kiln__arena_dispose(&arena);
    return status == KILN_OK;
}

/* ---- following ---- */

/* What tells files and folders apart; zeros for none. */
typedef struct identity {
    dev_t device;
    ino_t inode;
} identity;

typedef struct following {
    const kiln__cl_version *version;
    kiln__arena *arena;
    const kiln_alloc *alloc;
    kiln__array_of(identity) seen; /* one for each step so far */
} following;

/* Fills in what is under the path, as the compiler would find it. Content is
   read where it was read before, and where no file was. */
static void probe(kiln__source_file *file, identity *is,
                  const kiln_alloc *alloc, int was_read)
{
    struct stat info;
    kiln_blob blob;

    *is = (identity){0};
    file->found = KILN__SOURCE_MISSING;
    if (stat(file->path, &info) != 0 ||
        (!S_ISDIR(info.st_mode) && access(file->path, R_OK) != 0))
        return;
    *is = (identity){info.st_dev, info.st_ino};
    file->found =
        S_ISDIR(info.st_mode) ? KILN__SOURCE_FOLDER : KILN__SOURCE_FILE;
    if (file->found == KILN__SOURCE_FOLDER || !was_read ||
        kiln__file_read(&blob, alloc, file->path, KILN__CL_FILE_MAX, NULL) !=
            KILN_OK)
        return;
    file->found = KILN__SOURCE_READ;
    file->digest = kiln_digest_bytes(blob.data, blob.size);
    kiln_blob_release(&blob);
}

/* Returns 1 + the number of the first step that found the same, or 0. */
static uint32_t same_as(const following *f, identity is)
{
    if (is.device == 0 && is.inode == 0)
        return 0;
    for (size_t i = 0; i < f->seen.count; i++)
        if (f->seen.items[i].device == is.device &&
            f->seen.items[i].inode == is.inode)
            return (uint32_t)i + 1;
    return 0;
}

static kiln_status follow_step(kiln_digest *state, following *f, const step *s)
{
    kiln__source_file file = {
        .path = read_path(f->arena, &f->version->text, s->path)};
    identity is;

    if (file.path == NULL)
        return KILN_ENOTFOUND;
    probe(&file, &is, f->alloc, s->was_read);
    file.same = same_as(f, is);
    *state = next_state(*state, s->path, &file);
    return kiln__array_push(f->alloc, &f->seen, is) ? KILN_OK : KILN_ENOMEM;
}

static kiln_status follow(kiln_digest *tokens, following *f)
{
    kiln__cl *cl = f->version->program->cl;
    kiln_digest state = first_state(&f->version->text);

    for (int i = 0; i < STEPS_MAX; i++) {
        step s = {.cl = cl, .arena = f->arena};

        KILN_TRY(kiln__cl_get(cl, TRAIL, state, read_step, &s));
        if (s.is_end) {
            *tokens = s.tokens;
            return KILN_OK;
        }
        KILN_TRY(follow_step(&state, f, &s));
    }
    return KILN_ENOTFOUND;
}

kiln_status kiln__cl_trail_follow(kiln_digest *tokens,
                                  const kiln__cl_version *version)
{
    const kiln_alloc *alloc = version->program->cl->alloc;
    kiln__arena arena;
    following f = {.version = version, .arena = &arena, .alloc = alloc};
    kiln_status status;

    kiln__arena_init(&arena, alloc);
    status = follow(tokens, &f);
    kiln__array_dispose(alloc, &f.seen);
    kiln__arena_dispose(&arena);
    return status;
}

/* ---- keeping ---- */

/* Stores the step to a file, and returns the state behind it. */
static kiln_digest keep_file(const kiln__cl_version *version, char *path,
                             kiln_digest state, const kiln__source_file *file)
{
    const step s = {.cl = version->program->cl,
                    .path = path,
                    .was_read = file->found != KILN__SOURCE_FILE};

    put_step(TRAIL, state, &s);
    return next_state(state, path, file);
}

void kiln__cl_trail_keep(const kiln__cl_version *version,
                         const kiln__source_result *result)
{
    kiln__cl *cl = version->program->cl;
    kiln_digest state = first_state(&version->text);
    const step end = {.cl = cl, .is_end = 1, .tokens = result->tokens};
    kiln__arena arena;

    if (result->names_files) {
        put_step(NAME, name_of(version), &end);
        return;
    }
    kiln__arena_init(&arena, cl->alloc);
    for (size_t i = 0; i < result->file_count && !arena.failed; i++) {
        const kiln__source_file *file = &result->files[i];

        state =
            keep_file(version, write_path(&arena, &version->text, file->path),
                      state, file);
    }
    if (!arena.failed) {
        put_step(TRAIL, state, &end);
        put_step(NAME, name_of(version), &end);
    }
    kiln__arena_dispose(&arena);
}
