/* toolchain.c - who made an entry, and is that what is here today? */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "toolchain.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "build_id.h"
#include "codegen_helper.h"
#include "keys.h"
#include "reader.h"
#include "stores.h"
#include "thread.h"

#define ID KILN__BUILD_ID_TEXT_SIZE

/* Build ids; empty: not here, or not to be found out. */
typedef struct tools {
    char codegen[ID];
    char llvm[ID]; /* of a libLLVM apart from the code generator */
} tools;

struct kiln__toolchain {
    kiln__mutex lock;
    kiln__fork_guard guard;
    int is_opened;    /* `here` is what is loaded */
    int is_looked_up; /* `here` is what files say */
    tools here;
    char text[2 * ID + 32];
};

kiln_status kiln__toolchain_new(kiln_context *context)
{
    struct kiln__toolchain *toolchain =
        kiln__allocate(&context->alloc, sizeof *toolchain);

    if (!toolchain)
        return KILN_ENOMEM;
    if (kiln__mutex_init(&toolchain->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, toolchain, sizeof *toolchain);
        return KILN_ENOMEM;
    }
    toolchain->guard = (kiln__fork_guard){.mutex = &toolchain->lock};
    kiln__fork_add(&context->fork, &toolchain->guard);
    context->toolchain = toolchain;
    return KILN_OK;
}

void kiln__toolchain_free(kiln_context *context)
{
    struct kiln__toolchain *toolchain = context->toolchain;

    if (!toolchain)
        return;
    kiln__fork_remove(&context->fork, &toolchain->guard);
    kiln__mutex_dispose(&toolchain->lock);
    kiln__deallocate(&context->alloc, toolchain, sizeof *toolchain);
    context->toolchain = NULL;
}

/* ---- the note about libLLVM ---- */

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

static void leave_note(kiln_context *context, const tools *here,
                       const char *path)
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
    kiln__encode_text(&meta, here->llvm);
    encode_status(&meta, &file);
    if (kiln__key_toolchain(&key, context, here->codegen) == KILN_OK &&
        !meta.failed) {
        entry.key = (kiln_key){kiln__encoder_digest(&key), key.bytes, key.size};
        entry.meta = meta.bytes;
        entry.meta_size = meta.size;
        kiln__stores_put(context, &entry, 1);
    }
    kiln__encoder_dispose(&key);
    kiln__encoder_dispose(&meta);
}

static int copy_text(char *out, size_t capacity, kiln__span_of_bytes text)
{
    if (!text.data || text.size >= capacity)
        return 0;
    memcpy(out, text.data, text.size);
    out[text.size] = '\0';
    return 1;
}

/* Whatever cannot be read is as good as no note. */
static void read_note(kiln_context *context, const kiln__entry *entry,
                      tools *here)
{
    char path[PATH_MAX], id[ID];
    kiln__encoder today;
    kiln__reader reader;
    struct stat file;

    kiln__reader_init(&reader, entry->meta, entry->meta_size);
    if (!copy_text(path, sizeof path, kiln__read_text(&reader)) ||
        !copy_text(id, sizeof id, kiln__read_text(&reader)) ||
        stat(path, &file) != 0)
        return;
    kiln__encoder_init(&today, &context->alloc);
    encode_status(&today, &file);
    if (!today.failed && reader.size == today.size &&
        memcmp(reader.bytes, today.bytes, today.size) == 0)
        memcpy(here->llvm, id, sizeof id);
    else if (kiln__build_id_of_file(here->llvm, path) != KILN_OK)
        here->llvm[0] = '\0';
    kiln__encoder_dispose(&today);
}

static void look_up_llvm(kiln_context *context, tools *here)
{
    kiln__stored stored = {0};
    kiln__encoder key;

    if (!here->codegen[0] || !kiln__stores_read(context, KILN__ENTRY_TOOLCHAIN))
        return;
    kiln__encoder_init(&key, &context->alloc);
    if (kiln__key_toolchain(&key, context, here->codegen) == KILN_OK) {
        const kiln_key wanted = {kiln__encoder_digest(&key), key.bytes,
                                 key.size};

        if (kiln__stores_get(&stored, context, KILN__ENTRY_TOOLCHAIN,
                             &wanted) == KILN_OK)
            read_note(context, &stored.entry, here);
    }
    kiln__encoder_dispose(&key);
    kiln__stored_release(&stored);
}

/* ---- what is here ---- */

static void look_up(kiln_context *context, tools *here)
{
    char path[PATH_MAX];

    *here = (tools){{0}, {0}};
    if (kiln__door_path(context, path, sizeof path) != KILN_OK ||
        kiln__build_id_of_file(here->codegen, path) != KILN_OK)
        here->codegen[0] = '\0';
    look_up_llvm(context, here);
}

/* LLVM inside of the code generator needs no word of its own. */
static void look_at_loaded(const kiln__codegen *codegen, tools *here,
                           char path[PATH_MAX])
{
    const void *own = NULL, *other = NULL;
    Dl_info object;

    *here = (tools){{0}, {0}};
    path[0] = '\0';
    if (kiln__build_id_of_address(here->codegen, codegen->code, &own) !=
        KILN_OK)
        here->codegen[0] = '\0';
    if (kiln__build_id_of_address(here->llvm, codegen->llvm_code, &other) !=
            KILN_OK ||
        own == other)
        here->llvm[0] = '\0';
    else if (dladdr(codegen->llvm_code, &object) != 0 && object.dli_fname)
        snprintf(path, PATH_MAX, "%s", object.dli_fname);
}

/* In a worker process it is loaded there, which tells what it is. */
static int look_at_helpers(kiln_context *context, tools *here,
                           char path[PATH_MAX])
{
    kiln__helper_tools told;

    if (!kiln__helpers_tools(context, &told))
        return 0;
    memcpy(here->codegen, told.codegen, sizeof told.codegen);
    memcpy(here->llvm, told.llvm, sizeof told.llvm);
    snprintf(path, PATH_MAX, "%s", told.llvm_path);
    return 1;
}

static void write_text(struct kiln__toolchain *toolchain)
{
    const tools *here = &toolchain->here;

    snprintf(toolchain->text, sizeof toolchain->text, "%s%s%s%s",
             here->codegen[0] ? "codegen=" : "", here->codegen,
             here->llvm[0] ? " llvm=" : "", here->llvm);
}

/* With the lock; true when what is loaded was looked at for the first time. */
static int note_loaded(kiln_context *context, char path[PATH_MAX])
{
    struct kiln__toolchain *toolchain = context->toolchain;
    const kiln__codegen *codegen =
        toolchain->is_opened ? NULL : kiln__door_peek(context);

    if (toolchain->is_opened)
        return 0;
    if (codegen)
        look_at_loaded(codegen, &toolchain->here, path);
    else if (!look_at_helpers(context, &toolchain->here, path))
        return 0;
    write_text(toolchain);
    toolchain->is_opened = 1;
    return path[0] != '\0';
}

const char *kiln__toolchain_text(kiln_context *context)
{
    struct kiln__toolchain *toolchain = context->toolchain;
    char path[PATH_MAX];
    tools here;
    int is_new;

    kiln__mutex_lock(&toolchain->lock);
    is_new = note_loaded(context, path);
    here = toolchain->here;
    kiln__mutex_unlock(&toolchain->lock);
    if (is_new)
        leave_note(context, &here, path);
    return toolchain->text;
}

/* Stores are asked without the lock; two threads find the same. */
static tools what_is_here(kiln_context *context)
{
    struct kiln__toolchain *toolchain = context->toolchain;
    tools here;
    int known;

    (void)kiln__toolchain_text(context);
    kiln__mutex_lock(&toolchain->lock);
    known = toolchain->is_opened || toolchain->is_looked_up;
    here = toolchain->here;
    kiln__mutex_unlock(&toolchain->lock);
    if (known)
        return here;
    look_up(context, &here);
    kiln__mutex_lock(&toolchain->lock);
    if (!toolchain->is_opened)
        toolchain->here = here;
    toolchain->is_looked_up = 1;
    kiln__mutex_unlock(&toolchain->lock);
    return here;
}

/* ---- comparing ---- */

/* Is a word of the text for this tool about another one than is here? */
static int differs(const char *text, size_t size, const char *name,
                   const char *id)
{
    const size_t name_size = strlen(name), id_size = strlen(id);

    while (id_size && size) {
        const char *space = memchr(text, ' ', size);
        const size_t word = space ? (size_t)(space - text) : size;

        if (word > name_size && memcmp(text, name, name_size) == 0)
            return word != name_size + id_size ||
                   memcmp(text + name_size, id, id_size) != 0;
        if (!space)
            break;
        text += word + 1;
        size -= word + 1;
    }
    return 0;
}

int kiln__toolchain_accepts(kiln_context *context, const char *text,
                            size_t size)
{
    const tools here = what_is_here(context);

    return !differs(text, size, "codegen=", here.codegen) &&
           !differs(text, size, "llvm=", here.llvm);
}
