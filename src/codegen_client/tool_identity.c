/* tool_identity.c - finds out which builds of external tools are installed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_client/tool_identity.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/data/decoder.h"
#include "base/system/descriptor.h"
#include "base/system/io.h"
#include "base/system/thread.h"
#include "context/keys/key.h"
#include "stores/stores.h"

#define ID KILN__BUILD_ID_TEXT_SIZE
#define PIECE ((size_t)1 << 20)
#define TRIES 3

/* ---- files ---- */

/* An open file, or the bytes that were read of one. */
typedef struct source {
    int file;
    const char *bytes; /* or NULL */
    size_t size;
    void *piece; /* buffer for a piece of the file */
} source;

static int read_piece(const void **out, const source *s, size_t at, size_t size)
{
    *out = s->bytes != NULL ? s->bytes + at : s->piece;
    if (s->bytes != NULL)
        return 1;
    return kiln__io_read_at(s->file, s->piece, size, at) == (ssize_t)size;
}

/* The digest of the size and of the digests of the pieces. */
static int digest_source(kiln_digest *out, const source *s)
{
    kiln_digest digest = kiln__digest_number(s->size);

    for (size_t at = 0; at < s->size; at += PIECE) {
        const size_t left = s->size - at;
        const size_t size = left < PIECE ? left : PIECE;
        const void *piece;

        if (!read_piece(&piece, s, at, size))
            return 0;
        digest = kiln__digest_combine(digest, kiln__digest_bytes(piece, size));
    }
    *out = digest;
    return 1;
}

/* False unless the file has that stamp, before and after it is read. */
static int digest_file(kiln_digest *out, const kiln_context *context,
                       const char *path, const kiln__file_stamp *stamp)
{
    const int file = kiln__descriptor_open(AT_FDCWD, path, O_RDONLY, 0);
    void *piece = file < 0 ? NULL : kiln__allocate(&context->alloc, PIECE);
    const source from = {file, NULL, (size_t)stamp->numbers[KILN__STAMP_SIZE],
                         piece};
    kiln__file_stamp after;
    int done = piece != NULL;

    if (done) {
        after = kiln__file_stamp_of(file);
        done = kiln__file_stamp_is(&after, stamp) && digest_source(out, &from);
    }
    if (done) {
        after = kiln__file_stamp_of(file);
        done = kiln__file_stamp_is(&after, stamp);
    }
    if (piece != NULL)
        kiln__deallocate(&context->alloc, piece, PIECE);
    if (file >= 0)
        (void)close(file);
    return done;
}

/* ---- notes ---- */

static int copy_text(char *out, size_t capacity, kiln__span_of_bytes text)
{
    if (text.data == NULL || text.size >= capacity)
        return 0;
    memcpy(out, text.data, text.size);
    out[text.size] = '\0';
    return 1;
}

static void encode_stamp(kiln__encoder *out, const kiln__file_stamp *file)
{
    for (int i = 0; i < KILN__STAMP_NUMBERS; i++)
        kiln__encode_i64(out, file->numbers[i]);
}

void kiln__tool_note_leave(kiln_context *context, const char *asked,
                           const char *path, const kiln__file_stamp *file,
                           const char *id)
{
    kiln__entry entry = {.kind = KILN__ENTRY_TOOLCHAIN};
    kiln__encoder key, meta;

    if (!kiln__stores_write(context, KILN__ENTRY_TOOLCHAIN))
        return;
    kiln__encoder_init(&key, &context->alloc);
    kiln__encoder_init(&meta, &context->alloc);
    kiln__encode_text(&meta, path);
    kiln__encode_text(&meta, id);
    encode_stamp(&meta, file);
    if (kiln__key_toolchain(&key, context, asked) == KILN_OK && !meta.failed) {
        entry.key = (kiln_key){kiln__encoder_digest(&key), key.bytes, key.size};
        entry.meta = meta.bytes;
        entry.meta_size = meta.size;
        kiln__stores_put(context, &entry, 1);
    }
    kiln__encoder_dispose(&key);
    kiln__encoder_dispose(&meta);
}

/* A note that cannot be read counts as none. */
static kiln_status decode_note(kiln__tool_note *out, const kiln__entry *entry)
{
    kiln__file_stamp today;
    kiln__reader reader;

    kiln__reader_init(&reader, entry->meta, entry->meta_size);
    if (!copy_text(out->path, sizeof out->path, kiln__read_text(&reader)) ||
        !copy_text(out->id, sizeof out->id, kiln__read_text(&reader)))
        return KILN_ENOTFOUND;
    for (int i = 0; i < KILN__STAMP_NUMBERS; i++)
        out->file.numbers[i] = kiln__read_i64(&reader);
    today = kiln__file_stamp_at(out->path);
    if (!kiln__reader_is_done(&reader) || kiln__file_stamp_is_none(&today))
        return KILN_ENOTFOUND;
    out->is_current = kiln__file_stamp_is(&today, &out->file);
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
            status = decode_note(out, &stored.entry);
    }
    kiln__encoder_dispose(&key);
    kiln__stored_release(&stored);
    return status;
}

/* ---- what a context knows ---- */

typedef struct known {
    int is_here_known;
    char here[ID];
    char *used_path; /* of the tool that was used last, or NULL */
    kiln__file_stamp used_file;
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

    if (tools == NULL)
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

    if (tools == NULL)
        return;
    kiln__fork_remove(&context->fork, &tools->guard);
    for (int i = 0; i < KILN__TOOL_COUNT; i++)
        kiln__string_free(&context->alloc, tools->known[i].used_path);
    kiln__mutex_dispose(&tools->lock);
    kiln__deallocate(&context->alloc, tools, sizeof *tools);
    context->tools = NULL;
}

/* ---- a file's digest ---- */

static int is_noted(kiln__tool_note *note, kiln_context *context,
                    const char *asked, const kiln__tool_use *use)
{
    return kiln__tool_note_read(note, context, asked) == KILN_OK &&
           kiln__file_stamp_is(&note->file, &use->file) &&
           strcmp(note->path, use->path) == 0;
}

static void digest_anew(char id[ID], kiln_context *context, const char *asked,
                        const kiln__tool_use *use)
{
    const source given = {-1, use->bytes, use->size, NULL};
    kiln_digest digest;

    if (use->bytes != NULL
            ? !digest_source(&digest, &given)
            : !digest_file(&digest, context, use->path, &use->file))
        return;
    kiln_digest_text(digest, id);
    if (!kiln__file_stamp_is_none(&use->file))
        kiln__tool_note_leave(context, asked, use->path, &use->file, id);
}

/* Takes the digest from a note, or reads the file and leaves a note. "":
   another file has the path by now. */
static void digest_of(char id[ID], kiln_context *context, const char *asked,
                      const kiln__tool_use *use)
{
    kiln__tool_note *note = kiln__allocate(&context->alloc, sizeof *note);

    id[0] = '\0';
    if (note != NULL && is_noted(note, context, asked, use))
        memcpy(id, note->id, ID);
    else if (note != NULL)
        digest_anew(id, context, asked, use);
    kiln__deallocate(&context->alloc, note, sizeof *note);
}

/* The text that a note is found under: for a file with a known path, name and
   path; for a file that the loader finds, the name, and the note gives the
   path. */
#define ASKED_SIZE (PATH_MAX + 32)

static void ask_for_path(char asked[ASKED_SIZE], const char *name,
                         const char *path)
{
    (void)snprintf(asked, ASKED_SIZE, "%s at %s", name, path);
}

static int is_known(const known *tool, const kiln__tool_use *use)
{
    return tool->used_path != NULL && strcmp(tool->used_path, use->path) == 0 &&
           kiln__file_stamp_is(&tool->used_file, &use->file);
}

static void keep_known(known *tool, const kiln_context *context,
                       const kiln__tool_use *use, const char id[ID])
{
    kiln__string_free(&context->alloc, tool->used_path);
    tool->used_path = kiln__string_copy(&context->alloc, use->path);
    tool->used_file = use->file;
    memcpy(tool->used, id, ID);
}

/* A tool that the loader found gets a second note under its name alone. */
static void note_place(kiln_context *context, int number,
                       const kiln__tool_use *use, const char *id)
{
    char found[PATH_MAX];

    if (id[0] && kiln__tool_find(found, number) == KILN__TOOL_BY_LOADER)
        kiln__tool_note_leave(context, use->name, use->path, &use->file, id);
}

void kiln__tool_used(char id[ID], kiln_context *context,
                     const kiln__tool_use *use)
{
    const int number = kiln__tool_named(use->name, strlen(use->name));
    struct kiln__tools *tools = context->tools;
    char asked[ASKED_SIZE];
    int found;

    id[0] = '\0';
    if (number < 0)
        return;
    kiln__mutex_lock(&tools->lock);
    found = is_known(&tools->known[number], use);
    if (found)
        memcpy(id, tools->known[number].used, ID);
    kiln__mutex_unlock(&tools->lock);
    if (found)
        return;
    ask_for_path(asked, use->name, use->path);
    digest_of(id, context, asked, use);
    note_place(context, number, use, id);
    if (!id[0]) {
        memcpy(id, KILN__TOOL_UNKNOWN, sizeof KILN__TOOL_UNKNOWN);
        return;
    }
    kiln__mutex_lock(&tools->lock);
    keep_known(&tools->known[number], context, use, id);
    kiln__mutex_unlock(&tools->lock);
}

/* ---- the installed tool ---- */

/* If the file is replaced while it is read, it is read again. */
static void digest_today(char id[ID], kiln_context *context, const char *asked,
                         const char *path)
{
    id[0] = '\0';
    for (int i = 0; !id[0] && i < TRIES; i++) {
        const kiln__tool_use use = {.path = path,
                                    .file = kiln__file_stamp_at(path)};

        digest_of(id, context, asked, &use);
    }
}

/* On the heap, because paths are long and the caller's stack may be small. */
typedef struct looking {
    char path[PATH_MAX], asked[ASKED_SIZE];
    kiln__tool_note note;
} looking;

/* False: it exists, but cannot be read now. */
static int look_up(char id[ID], kiln_context *context, int number,
                   looking *room)
{
    const char *name = kiln__tool_name(number);

    switch (kiln__tool_find(room->path, number)) {
    case KILN__TOOL_ABSENT:
        break;
    case KILN__TOOL_BY_LOADER:
        if (kiln__tool_note_read(&room->note, context, name) != KILN_OK)
            break;
        digest_today(id, context, name, room->note.path);
        return id[0] || access(room->note.path, R_OK) != 0;
    case KILN__TOOL_FOUND:
        ask_for_path(room->asked, name, room->path);
        digest_today(id, context, room->asked, room->path);
        return id[0] != '\0';
    }
    return 1;
}

/* Stores are asked without the lock held; two threads find the same. */
void kiln__tool_here(char id[ID], kiln_context *context, int number)
{
    struct kiln__tools *tools = context->tools;
    known *tool = &tools->known[number];
    looking *room;
    int found, is_known;

    kiln__mutex_lock(&tools->lock);
    found = tool->is_here_known;
    if (found)
        memcpy(id, tool->here, ID);
    kiln__mutex_unlock(&tools->lock);
    if (found)
        return;
    id[0] = '\0';
    room = kiln__allocate(&context->alloc, sizeof *room);
    if (room == NULL)
        return;
    is_known = look_up(id, context, number, room);
    kiln__deallocate(&context->alloc, room, sizeof *room);
    if (!is_known)
        return;
    kiln__mutex_lock(&tools->lock);
    tool->is_here_known = 1;
    memcpy(tool->here, id, ID);
    kiln__mutex_unlock(&tools->lock);
}
