/* toolchain_tools.c - which builds of others' tools are here. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "toolchain_tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keys.h"
#include "reader.h"
#include "stores.h"
#include "thread.h"
#include "tool_files.h"

#define ID KILN__BUILD_ID_TEXT_SIZE
#define PIECE ((size_t)1 << 20)
#define PART ((size_t)1 << 16)
#define LARGE ((off_t)8 << 20)

/* ---- files ---- */

/* What tells that a file is still the one that was looked at. */
static void encode_status(kiln__encoder *out, const struct stat *file)
{
    kiln__encode_u64(out, (uint64_t)file->st_dev);
    kiln__encode_u64(out, (uint64_t)file->st_ino);
    kiln__encode_u64(out, (uint64_t)file->st_size);
    kiln__encode_i64(out, file->st_mtim.tv_sec);
    kiln__encode_i64(out, file->st_mtim.tv_nsec);
    kiln__encode_i64(out, file->st_ctim.tv_sec);
    kiln__encode_i64(out, file->st_ctim.tv_nsec);
}

static ssize_t read_piece(int file, void *bytes, size_t size, off_t from)
{
    ssize_t got;

    do
        got = pread(file, bytes, size, from);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Of the digests of its pieces. A tool may take a hundred megabytes, of which
   another build has left no part as it was: of a large file a part of each
   piece is enough, but for the first and the last, which say what it is. */
static int digest_file(kiln_digest *out, int file, off_t size, void *piece)
{
    kiln_digest digest = kiln__digest_bytes(&size, sizeof size);
    const off_t last = size - (off_t)PIECE;
    ssize_t got = 1;

    for (off_t at = 0; at < size && got > 0; at += (off_t)PIECE) {
        const int is_whole = size <= LARGE || at == 0 || at >= last;

        got = read_piece(file, piece, is_whole ? PIECE : PART, at);
        if (got > 0)
            digest = kiln__digest_combine(
                digest, kiln__digest_bytes(piece, (size_t)got));
    }
    *out = digest;
    return got > 0;
}

static void read_digest(char id[ID], const kiln_context *context,
                        const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    void *piece = file < 0 ? NULL : kiln__allocate(&context->alloc, PIECE);
    kiln_digest digest;
    struct stat status;

    id[0] = '\0';
    if (piece && fstat(file, &status) == 0 &&
        digest_file(&digest, file, status.st_size, piece))
        kiln_digest_text(digest, id);
    if (piece)
        kiln__deallocate(&context->alloc, piece, PIECE);
    if (file >= 0)
        (void)close(file);
}

/* ---- notes ---- */

static int copy_text(char *out, size_t capacity, kiln__span_of_bytes text)
{
    if (!text.data || text.size >= capacity)
        return 0;
    memcpy(out, text.data, text.size);
    out[text.size] = '\0';
    return 1;
}

void kiln__tool_note_leave(kiln_context *context, const char *asked,
                           const char *path, const char *id)
{
    kiln__entry entry = {.kind = KILN__ENTRY_TOOLCHAIN};
    kiln__encoder key, meta;
    struct stat file;

    if (!kiln__stores_write(context, KILN__ENTRY_TOOLCHAIN) ||
        stat(path, &file) != 0)
        return;
    kiln__encoder_init(&key, &context->alloc);
    kiln__encoder_init(&meta, &context->alloc);
    kiln__encode_text(&meta, path);
    kiln__encode_text(&meta, id);
    encode_status(&meta, &file);
    if (kiln__key_toolchain(&key, context, asked) == KILN_OK && !meta.failed) {
        entry.key = (kiln_key){kiln__encoder_digest(&key), key.bytes, key.size};
        entry.meta = meta.bytes;
        entry.meta_size = meta.size;
        kiln__stores_put(context, &entry, 1);
    }
    kiln__encoder_dispose(&key);
    kiln__encoder_dispose(&meta);
}

/* Whatever cannot be read is as good as no note. */
static kiln_status decode_note(kiln__tool_note *out,
                               const kiln_context *context,
                               const kiln__entry *entry)
{
    kiln__encoder today;
    kiln__reader reader;
    struct stat file;

    kiln__reader_init(&reader, entry->meta, entry->meta_size);
    if (!copy_text(out->path, sizeof out->path, kiln__read_text(&reader)) ||
        !copy_text(out->id, sizeof out->id, kiln__read_text(&reader)) ||
        stat(out->path, &file) != 0)
        return KILN_ENOTFOUND;
    kiln__encoder_init(&today, &context->alloc);
    encode_status(&today, &file);
    out->is_current = !today.failed && reader.size == today.size &&
                      memcmp(reader.bytes, today.bytes, today.size) == 0;
    kiln__encoder_dispose(&today);
    return KILN_OK;
}

kiln_status kiln__tool_note_read(kiln__tool_note *out, kiln_context *context,
                                 const char *asked)
{
    kiln_status status = KILN_ENOTFOUND;
    kiln__stored stored = {0};
    kiln__encoder key;

    if (!kiln__stores_read(context, KILN__ENTRY_TOOLCHAIN))
        return KILN_ENOTFOUND;
    kiln__encoder_init(&key, &context->alloc);
    if (kiln__key_toolchain(&key, context, asked) == KILN_OK) {
        const kiln_key wanted = {kiln__encoder_digest(&key), key.bytes,
                                 key.size};

        if (kiln__stores_get(&stored, context, KILN__ENTRY_TOOLCHAIN,
                             &wanted) == KILN_OK)
            status = decode_note(out, context, &stored.entry);
    }
    kiln__encoder_dispose(&key);
    kiln__stored_release(&stored);
    return status;
}

/* ---- what a context knows ---- */

typedef struct known {
    int is_here_known;
    char here[ID];
    char *used_path; /* of what was used last, or NULL */
    struct stat used_file;
    char used[ID];
} known;

struct kiln__tools {
    kiln__mutex lock;
    kiln__fork_guard guard;
    known known[KILN__TOOL_COUNT];
};

kiln_status kiln__tools_new(kiln_context *context)
{
    struct kiln__tools *tools = kiln__allocate(&context->alloc, sizeof *tools);

    if (!tools)
        return KILN_ENOMEM;
    if (kiln__mutex_init(&tools->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, tools, sizeof *tools);
        return KILN_ENOMEM;
    }
    tools->guard = (kiln__fork_guard){.mutex = &tools->lock};
    kiln__fork_add(&context->fork, &tools->guard);
    context->tools = tools;
    return KILN_OK;
}

void kiln__tools_free(kiln_context *context)
{
    struct kiln__tools *tools = context->tools;

    if (!tools)
        return;
    kiln__fork_remove(&context->fork, &tools->guard);
    for (int i = 0; i < KILN__TOOL_COUNT; i++)
        kiln__string_free(&context->alloc, tools->known[i].used_path);
    kiln__mutex_dispose(&tools->lock);
    kiln__deallocate(&context->alloc, tools, sizeof *tools);
    context->tools = NULL;
}

/* ---- a file's digest ---- */

/* From a note, or read and noted. */
static void digest_of(char id[ID], kiln_context *context, const char *asked,
                      const char *path)
{
    kiln__tool_note note;

    if (kiln__tool_note_read(&note, context, asked) == KILN_OK &&
        note.is_current && strcmp(note.path, path) == 0) {
        memcpy(id, note.id, ID);
        return;
    }
    read_digest(id, context, path);
    if (id[0])
        kiln__tool_note_leave(context, asked, path, id);
}

/* Of a file that is found at its path; and of what the loader finds, whose
   path only the note tells. */
#define ASKED_SIZE (PATH_MAX + 32)

static void ask_for_path(char asked[ASKED_SIZE], const char *name,
                         const char *path)
{
    (void)snprintf(asked, ASKED_SIZE, "%s at %s", name, path);
}

static int is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static int is_known(const known *tool, const char *path,
                    const struct stat *file)
{
    return tool->used_path && strcmp(tool->used_path, path) == 0 &&
           is_same_file(&tool->used_file, file);
}

static void keep_known(known *tool, const kiln_context *context,
                       const char *path, const struct stat *file,
                       const char id[ID])
{
    kiln__string_free(&context->alloc, tool->used_path);
    tool->used_path = kiln__string_copy(&context->alloc, path);
    tool->used_file = *file;
    memcpy(tool->used, id, ID);
}

/* A tool that the loader found is noted under its name alone as well. */
static void note_place(kiln_context *context, int number, const char *path,
                       const char *id)
{
    char found[PATH_MAX];

    if (id[0] && kiln__tool_find(found, number) == KILN__TOOL_BY_LOADER)
        kiln__tool_note_leave(context, kiln__tool_name(number), path, id);
}

void kiln__tool_used(char id[ID], kiln_context *context, const char *name,
                     const char *path)
{
    const int number = kiln__tool_named(name, strlen(name));
    struct kiln__tools *tools = context->tools;
    char asked[ASKED_SIZE];
    struct stat file;
    int found;

    id[0] = '\0';
    if (number < 0 || stat(path, &file) != 0)
        return;
    kiln__mutex_lock(&tools->lock);
    found = is_known(&tools->known[number], path, &file);
    if (found)
        memcpy(id, tools->known[number].used, ID);
    kiln__mutex_unlock(&tools->lock);
    if (found)
        return;
    ask_for_path(asked, name, path);
    digest_of(id, context, asked, path);
    note_place(context, number, path, id);
    kiln__mutex_lock(&tools->lock);
    keep_known(&tools->known[number], context, path, &file, id);
    kiln__mutex_unlock(&tools->lock);
}

/* ---- what is here ---- */

static void look_up(char id[ID], kiln_context *context, int number)
{
    char path[PATH_MAX], asked[ASKED_SIZE];
    kiln__tool_note note;

    id[0] = '\0';
    switch (kiln__tool_find(path, number)) {
    case KILN__TOOL_ABSENT:
        break;
    case KILN__TOOL_BY_LOADER:
        if (kiln__tool_note_read(&note, context, kiln__tool_name(number)) ==
            KILN_OK)
            digest_of(id, context, kiln__tool_name(number), note.path);
        break;
    case KILN__TOOL_FOUND:
        ask_for_path(asked, kiln__tool_name(number), path);
        digest_of(id, context, asked, path);
        break;
    }
}

/* Stores are asked without the lock; two threads find the same. */
void kiln__tool_here(char id[ID], kiln_context *context, int number)
{
    struct kiln__tools *tools = context->tools;
    known *tool = &tools->known[number];
    int found;

    kiln__mutex_lock(&tools->lock);
    found = tool->is_here_known;
    if (found)
        memcpy(id, tool->here, ID);
    kiln__mutex_unlock(&tools->lock);
    if (found)
        return;
    look_up(id, context, number);
    kiln__mutex_lock(&tools->lock);
    tool->is_here_known = 1;
    memcpy(tool->here, id, ID);
    kiln__mutex_unlock(&tools->lock);
}
