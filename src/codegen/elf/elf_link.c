/* elf_link.c - links objects into an image, by lld. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/fork.h"
#include "base/system/thread.h"
#include "codegen/elf/elf.h"
#include "codegen/module/codegen_stages.h"

/*
 * lld runs inside the process, from memory to memory. It keeps its state in
 * globals, so there is one link at a time. An error that it cannot return from
 * costs the job and its thread (llvm_gap_lld.cc). After that lld is given up in
 * this process, and ld.lld is run as a process of its own.
 */

static kiln__mutex lock = KILN__MUTEX_INIT;
static bool given_up; /* under the lock */
static _Thread_local bool linking;

void kiln__elf_link_abandon(void)
{
    if (!linking)
        return;
    linking = false;
    given_up = true;
    kiln__mutex_unlock(&lock);
}

/* A fork waits for the link under way, so that its child finds lld in a usable
   state. */
static void before_fork(void)
{
    kiln__mutex_lock(&lock);
}

static void release_lock_after_fork(void)
{
    kiln__mutex_unlock(&lock);
}

static void add_guard(void)
{
    /* Failure means no memory for the handlers; then a child may wait for ever,
       as it may in LLVM. */
    (void)kiln__fork_handle(before_fork, release_lock_after_fork,
                            release_lock_after_fork);
}

/* Called by each backend whose images are ELF; registers the handlers once. */
void kiln__elf_link_guard(void)
{
    static kiln__once once = KILN__ONCE_INIT;

    kiln__once_run(&once, add_guard);
}

/* Returns false when lld may not run in this process any more. */
static bool run_lld(const char *const *options, const kiln__object *objects,
                    size_t object_count, kiln__lld_result *out)
{
    /* Names for messages. No file of these names is read. */
    static const char *const names[KILN__ELF_OBJECTS_MAX] = {"0.o", "1.o"};
    const char *arguments[KILN__ELF_OPTIONS_MAX + 3 + KILN__ELF_OBJECTS_MAX];
    size_t count = 0;
    bool usable;

    for (; options[count] != NULL; count++)
        arguments[count] = options[count];
    arguments[count++] = "-o";
    arguments[count++] = "kernel";
    for (size_t i = 0; i < object_count; i++)
        arguments[count++] = names[i];
    arguments[count] = NULL;

    kiln__mutex_lock(&lock);
    usable = !given_up;
    if (usable) {
        linking = true;
        kiln__lld_link(arguments, objects, out);
        linking = false;
        given_up = !out->usable;
    }
    kiln__mutex_unlock(&lock);
    return usable;
}

/* Copies the first line of the messages, without the linker's own name. */
static void copy_message(char *to, size_t capacity, const char *messages)
{
    const char *text = messages != NULL ? messages : "";

    snprintf(to, capacity, "linker: %.*s", (int)strcspn(text, "\n"),
             *text != '\0' ? text : "no reason given");
}

kiln_status kiln__elf_link(const kiln__elf_link_input *input, kiln_blob *out,
                           char *message, size_t capacity)
{
    kiln__lld_result result = {0};
    kiln_status status = KILN_ECODEGEN;

    if (!run_lld(input->options, input->objects, input->count, &result))
        return KILN_ENOTFOUND;
    if (result.succeeded)
        status = kiln__blob_copy(out, &kiln__malloc, result.image, result.size);
    if (status == KILN_ENOMEM)
        snprintf(message, capacity, "out of memory");
    else if (status != KILN_OK)
        copy_message(message, capacity, result.messages);
    free(result.image);
    free(result.messages);
    return status;
}
