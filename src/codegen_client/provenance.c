/* provenance.c - which tools made an entry, and are they the installed ones? */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_client/provenance.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/build_id.h"
#include "base/system/thread.h"
#include "codegen_client/codegen_library.h"
#include "codegen_client/codegen_worker.h"

#define ID KILN__BUILD_ID_TEXT_SIZE

/* How much was looked up: libLLVM's id only when an entry has one. */
enum { NOTHING, SOME, ALL };

struct kiln__toolchain {
    kiln__mutex lock;
    kiln__fork_guard guard;
    int is_opened; /* whether `here` describes what is loaded */
    int looked_up; /* if not: how much of `here` was read from files, SOME or
                      ALL */
    kiln__build_ids here;
    char text[2 * ID + 32];
};

kiln_status kiln__toolchain_new(kiln_context *context)
{
    struct kiln__toolchain *toolchain =
        kiln__allocate(&context->alloc, sizeof *toolchain);

    if (toolchain == NULL)
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

    if (toolchain == NULL)
        return;
    kiln__fork_remove(&context->fork, &toolchain->guard);
    kiln__mutex_dispose(&toolchain->lock);
    kiln__deallocate(&context->alloc, toolchain, sizeof *toolchain);
    context->toolchain = NULL;
}

/* Finds libLLVM through a note that the last use of the code generator left. */
static kiln_status look_up_llvm(kiln_context *context, kiln__build_ids *here)
{
    kiln__tool_note *note = kiln__allocate(&context->alloc, sizeof *note);
    kiln_status status = note != NULL ? KILN_ENOTFOUND : KILN_ENOMEM;

    if (note != NULL && here->codegen[0] &&
        kiln__tool_note_read(note, context, here->codegen) == KILN_OK) {
        status = KILN_OK;
        if (note->is_current)
            memcpy(here->llvm, note->id, ID);
        else
            status = kiln__build_id_of_file(here->llvm, note->path);
        if (status != KILN_OK)
            here->llvm[0] = '\0';
    }
    kiln__deallocate(&context->alloc, note, sizeof *note);
    return status;
}

/* ---- the installed builds ---- */

static kiln_status look_up_codegen(kiln_context *context, kiln__build_ids *here)
{
    char *path = kiln__resize(&context->alloc, NULL, 0, PATH_MAX);
    kiln_status status = path != NULL ? KILN_ENOTFOUND : KILN_ENOMEM;

    *here = (kiln__build_ids){{0}, {0}};
    if (path != NULL && kiln__codegen_library_path(context, path) == KILN_OK)
        status = kiln__build_id_of_file(here->codegen, path);
    if (status != KILN_OK)
        here->codegen[0] = '\0';
    kiln__deallocate(&context->alloc, path, PATH_MAX);
    return status;
}

static void write_text(struct kiln__toolchain *toolchain)
{
    const kiln__build_ids *here = &toolchain->here;

    snprintf(toolchain->text, sizeof toolchain->text, "%s%s%s%s",
             here->codegen[0] ? "codegen=" : "", here->codegen,
             here->llvm[0] ? " llvm=" : "", here->llvm);
}

/* With the lock held. True when the loaded libraries were examined for the
   first time. Those of a worker process are loaded there, and it reports
   them. */
static int note_loaded(kiln__builds_loaded *out, kiln_context *context)
{
    struct kiln__toolchain *toolchain = context->toolchain;
    const kiln__codegen *codegen;

    if (toolchain->is_opened)
        return 0;
    codegen = kiln__codegen_library_peek(context);
    if (codegen != NULL)
        kiln__builds_look(out, codegen->code, codegen->llvm_code);
    else if (!kiln__worker_processes_tools(context, out))
        return 0;
    toolchain->here = out->ids;
    write_text(toolchain);
    toolchain->is_opened = 1;
    return out->llvm_path[0] != '\0';
}

/* Leaves no note if another file has its path by now. */
static void leave_llvm_note(kiln_context *context,
                            const kiln__builds_loaded *here)
{
    const kiln__file_stamp file = kiln__file_stamp_at(here->llvm_path);
    char id[ID];

    if (kiln__build_id_of_file(id, here->llvm_path) == KILN_OK &&
        strcmp(id, here->ids.llvm) == 0)
        kiln__tool_note_leave(context, here->ids.codegen, here->llvm_path,
                              &file, id);
}

const char *kiln__toolchain_text(kiln_context *context)
{
    struct kiln__toolchain *toolchain = context->toolchain;
    kiln__builds_loaded here;
    int is_new;

    kiln__mutex_lock(&toolchain->lock);
    is_new = note_loaded(&here, context);
    kiln__mutex_unlock(&toolchain->lock);
    if (is_new)
        leave_llvm_note(context, &here);
    return toolchain->text;
}

/* Otherwise it is looked up again. */
static int is_settled(kiln_status status)
{
    return status == KILN_OK || status == KILN_ENOTFOUND;
}

/* Stores are asked without the lock held; two threads find the same. */
static kiln__build_ids what_is_here(kiln_context *context, int wanted)
{
    struct kiln__toolchain *toolchain = context->toolchain;
    kiln_status status = KILN_OK;
    kiln__build_ids here;
    int known;

    (void)kiln__toolchain_text(context);
    kiln__mutex_lock(&toolchain->lock);
    known = toolchain->is_opened ? ALL : toolchain->looked_up;
    here = toolchain->here;
    kiln__mutex_unlock(&toolchain->lock);
    if (known >= wanted)
        return here;
    if (known < SOME)
        status = look_up_codegen(context, &here);
    if (wanted == ALL && is_settled(status))
        status = look_up_llvm(context, &here);
    kiln__mutex_lock(&toolchain->lock);
    if (is_settled(status) && !toolchain->is_opened &&
        toolchain->looked_up < wanted) {
        toolchain->here = here;
        toolchain->looked_up = wanted;
    }
    kiln__mutex_unlock(&toolchain->lock);
    return here;
}

/* ---- comparing ---- */

/* Gives the installed build of the tool that the word names; "": there is none,
   or it is unknown. */
static void find_here(char id[ID], kiln_context *context, const char *name,
                      size_t size)
{
    const int tool = kiln__tool_named(name, size);

    id[0] = '\0';
    if (size == 7 && memcmp(name, "codegen", 7) == 0) {
        const kiln__build_ids here = what_is_here(context, SOME);

        memcpy(id, here.codegen, ID);
    } else if (size == 4 && memcmp(name, "llvm", 4) == 0) {
        const kiln__build_ids here = what_is_here(context, ALL);

        memcpy(id, here.llvm, ID);
    } else if (tool >= 0) {
        kiln__tool_here(id, context, tool);
    }
}

/* True if the word NAME=ID names another build than the installed one. */
static int differs(kiln_context *context, const char *word, size_t size)
{
    const char *equals = memchr(word, '=', size);
    const size_t name_size = equals != NULL ? (size_t)(equals - word) : size;
    const size_t id_size = equals != NULL ? size - name_size - 1 : 0;
    char id[ID];

    if (equals == NULL)
        return 0;
    find_here(id, context, word, name_size);
    return id[0] &&
           (strlen(id) != id_size || memcmp(equals + 1, id, id_size) != 0);
}

int kiln__toolchain_accepts(kiln_context *context, const char *text,
                            size_t size)
{
    while (size > 0) {
        const char *space = memchr(text, ' ', size);
        const size_t word = space != NULL ? (size_t)(space - text) : size;

        if (differs(context, text, word))
            return 0;
        if (space == NULL)
            break;
        text += word + 1;
        size -= word + 1;
    }
    return 1;
}

const char *kiln__toolchain_words(kiln_context *context, kiln__arena *arena,
                                  const kiln__tool_use *uses, size_t count)
{
    const char *text = kiln__toolchain_text(context);
    char id[ID];

    for (size_t i = 0; text != NULL && i < count; i++) {
        kiln__tool_used(id, context, &uses[i]);
        if (id[0])
            text = kiln__arena_format(arena, "%s%s%s=%s", text,
                                      *text ? " " : "", uses[i].name, id);
    }
    return text;
}
