/* cl_define.c - gives a program another text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/file.h"
#include "frontend/opencl/cl_program.h"
#include "tiers/frontends.h"

/* ---- turns ---- */

/* Definitions wait for each other until Kiln has been told. A thread does not
   wait for itself. */
static kiln_status take_turn(kiln__cl *cl, kiln_error **error)
{
    kiln_status status = KILN_OK;

    kiln__mutex_lock(&cl->lock);
    while (status == KILN_OK && cl->is_defining) {
        if (kiln__thread_is(cl->definer, kiln__thread_self()))
            status = KILN_ERECURSION;
        else
            kiln__condition_wait(&cl->changed, &cl->lock);
    }
    if (status == KILN_OK) {
        cl->is_defining = 1;
        cl->definer = kiln__thread_self();
    }
    kiln__mutex_unlock(&cl->lock);
    return status == KILN_OK
               ? KILN_OK
               : kiln__error_set(error, status,
                                 "a definition of OpenCL C in a callback of "
                                 "another one");
}

static void end_turn(kiln__cl *cl)
{
    kiln__mutex_lock(&cl->lock);
    cl->is_defining = 0;
    kiln__condition_broadcast(&cl->changed);
    kiln__mutex_unlock(&cl->lock);
}

/* ---- versions ---- */

/* Returns a version without a text, or NULL. */
static kiln__cl_version *new_version(kiln_opencl_program *program)
{
    const kiln_alloc *alloc = program->cl->alloc;
    kiln__cl_version *version = kiln__allocate(alloc, sizeof *version);

    if (version == NULL)
        return NULL;
    version->program = program;
    version->is_unloaded = 1;
    kiln__arena_init(&version->arena, alloc);
    return version;
}

static const char *current_folder(kiln__arena *arena)
{
    char path[4096];

    return kiln__arena_text(arena,
                            getcwd(path, sizeof path) != NULL ? path : "/");
}

/* What a definition is given. */
typedef struct given {
    const char *file;
    const char *text;
    size_t size;
    const char *options; /* or NULL */
} given;

static kiln_status fill(kiln__cl_version *version, const given *g,
                        kiln_error **error)
{
    kiln__cl_text *text = &version->text;

    version->is_unloaded = 0;
    text->file = kiln__arena_text(&version->arena, g->file);
    text->text = kiln__arena_string(&version->arena, g->text, g->size);
    text->size = g->size;
    text->folder = current_folder(&version->arena);
    if (version->arena.failed)
        return kiln__error_no_memory(error);
    return kiln__cl_text_read(text, &version->arena, g->options, error);
}

/* True if the newest version means the same, with the files that it includes as
   they are now. If it was not used so far, it has not read them yet. */
static int is_same(const kiln_opencl_program *program,
                   const kiln__cl_version *version)
{
    kiln__cl *cl = program->cl;
    const kiln__cl_version *newest;
    kiln_digest tokens = {0}, now;
    int is_equal, is_used = 0;

    kiln__mutex_lock(&cl->lock);
    newest = program->versions;
    is_equal = newest != NULL && newest->is_unloaded == version->is_unloaded &&
               kiln__digest_equal(newest->text.digest, version->text.digest);
    if (is_equal) {
        tokens = newest->tokens;
        is_used = newest->is_busy || newest->failure != KILN_OK ||
                  !kiln__digest_is_zero(tokens);
    }
    kiln__mutex_unlock(&cl->lock);
    if (!is_equal || !is_used || version->is_unloaded)
        return is_equal;
    return kiln__cl_trail_follow(&now, version) == KILN_OK &&
           kiln__digest_equal(now, tokens);
}

/* ---- publishing ---- */

static void count(kiln_change_report *report, const kiln__cl_version *version)
{
    const int had = version->next != NULL && !version->next->is_unloaded;

    if (report == NULL)
        return;
    report->world = version->min_world;
    report->methods_added = !version->is_unloaded && !had;
    report->methods_replaced = !version->is_unloaded && had;
    report->methods_removed = version->is_unloaded != 0;
}

/* Makes the version visible in a new world, and tells Kiln. */
static kiln_status publish(kiln_opencl_program *program,
                           kiln__cl_version *version,
                           kiln_change_report *report, kiln_error **error)
{
    kiln__cl *cl = program->cl;
    kiln_status status = kiln_world_changing(cl->frontend);

    if (status != KILN_OK) {
        kiln__cl_version_free(version);
        return kiln__error_set(error, status, "%s cannot be defined: %s",
                               program->name, kiln_status_text(status));
    }
    version->min_world =
        atomic_load_explicit(&cl->world, memory_order_relaxed) + 1;
    kiln__mutex_lock(&cl->lock);
    version->next = program->versions;
    program->versions = version;
    kiln__mutex_unlock(&cl->lock);
    atomic_store_explicit(&cl->world, version->min_world, memory_order_release);
    count(report, version);
    status = kiln_world_changed(cl->frontend, version->min_world,
                                &program->subject, 1, report);
    return status == KILN_OK
               ? KILN_OK
               : kiln__error_set(error, status, "%s: %s", program->name,
                                 kiln_status_text(status));
}

/* Takes `version` over. */
static kiln_status define(kiln_opencl_program *program,
                          kiln__cl_version *version, kiln_change_report *report,
                          kiln_error **error)
{
    kiln__cl *cl = program->cl;
    kiln_status status = take_turn(cl, error);

    if (status != KILN_OK) {
        kiln__cl_version_free(version);
        return status;
    }
    if (is_same(program, version) ||
        (version->is_unloaded && program->versions == NULL)) {
        if (report != NULL) {
            report->world = kiln_world(cl->frontend);
            report->methods_unchanged = !version->is_unloaded;
        }
        kiln__cl_version_free(version);
    } else {
        status = publish(program, version, report, error);
    }
    end_turn(cl);
    return status;
}

kiln_status kiln_opencl_define(kiln_opencl_program *program, const char *file,
                               const char *text, size_t size,
                               const char *options, kiln_change_report *report,
                               kiln_error **error)
{
    const given g = {file, text, size, options};
    kiln__cl_version *version;
    kiln_status status;

    KILN_REQUIRE(program != NULL, error);
    KILN_REQUIRE(file != NULL, error);
    KILN_REQUIRE(text != NULL, error);
    KILN_TRY(kiln__report_check(report, error));
    version = new_version(program);
    if (version == NULL)
        return kiln__error_no_memory(error);
    status = fill(version, &g, error);
    if (status != KILN_OK) {
        kiln__cl_version_free(version);
        return status;
    }
    return define(program, version, report, error);
}

kiln_status kiln_opencl_unload(kiln_opencl_program *program,
                               kiln_change_report *report, kiln_error **error)
{
    kiln__cl_version *version;

    KILN_REQUIRE(program != NULL, error);
    KILN_TRY(kiln__report_check(report, error));
    version = new_version(program);
    if (version == NULL)
        return kiln__error_no_memory(error);
    return define(program, version, report, error);
}

/* Returns the base name of a path, and its size without the suffix. */
static const char *base_name(size_t *size, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');

    *size = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    return name;
}

kiln_status kiln_opencl_load(kiln_opencl_program **out, kiln_context *context,
                             const char *path, const char *options,
                             kiln_change_report *report, kiln_error **error)
{
    size_t size;
    const char *name;
    kiln_status status;
    kiln_blob text;
    char *copy;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(path != NULL, error);
    KILN_TRY(kiln__report_check(report, error));
    name = base_name(&size, path);
    copy = kiln__string_copy_n(&context->alloc, name, size);
    if (copy == NULL)
        return kiln__error_no_memory(error);
    status = kiln_opencl_new(out, context, copy, error);
    kiln__string_free(&context->alloc, copy);
    KILN_TRY(status);
    KILN_TRY(kiln__file_read(&text, &context->alloc, path, KILN__CL_FILE_MAX,
                             error));
    status = kiln_opencl_define(*out, path, text.data, text.size, options,
                                report, error);
    kiln_blob_release(&text);
    return status;
}
