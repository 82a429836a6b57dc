/* cl_program.c - programs of OpenCL C, their versions and worlds. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/opencl/cl_program.h"

#include <string.h>

#include "base/data/ascii.h"
#include "base/error.h"
#include "tiers/frontends.h"

/* ---- the frontend of a context ---- */

/* No other thread is in the child: what one was doing is done again. */
static void forget_owners(void *env)
{
    kiln__cl *cl = env;

    (void)kiln__condition_init(&cl->changed);
    cl->is_defining = 0;
    for (kiln_opencl_program *p = cl->programs; p != NULL; p = p->next)
        for (kiln__cl_version *v = p->versions; v != NULL; v = v->next)
            v->is_busy = 0;
}

static kiln__cl *make(kiln_context *context)
{
    kiln__cl *cl = kiln__allocate(&context->alloc, sizeof *cl);

    if (cl == NULL)
        return NULL;
    cl->context = context;
    cl->alloc = &context->alloc;
    atomic_init(&cl->world, 1);
    atomic_init(&cl->reclaimed, 0);
    kiln__map_init(&cl->known, cl->alloc);
    if (kiln__mutex_init(&cl->lock) != KILN_OK)
        goto no_lock;
    if (kiln__condition_init(&cl->changed) != KILN_OK)
        goto no_condition;
    cl->guard = (kiln__fork_guard){
        .mutex = &cl->lock, .child = forget_owners, .env = cl};
    kiln__fork_add(&context->fork, &cl->guard);
    return cl;

no_condition:
    kiln__mutex_dispose(&cl->lock);
no_lock:
    kiln__deallocate(&context->alloc, cl, sizeof *cl);
    return NULL;
}

void kiln__cl_version_free(kiln__cl_version *version)
{
    const kiln_alloc *alloc = version->program->cl->alloc;

    kiln__cl_unit_free(version->unit);
    kiln_error_free(version->error);
    kiln__arena_dispose(&version->arena);
    kiln__deallocate(alloc, version, sizeof *version);
}

static void versions_free(kiln__cl_version *list)
{
    while (list != NULL) {
        kiln__cl_version *next = list->next;

        kiln__cl_version_free(list);
        list = next;
    }
}

static void program_free(kiln_opencl_program *program)
{
    const kiln_alloc *alloc = program->cl->alloc;

    versions_free(program->versions);
    kiln__string_free(alloc, program->name);
    kiln__deallocate(alloc, program, sizeof *program);
}

void kiln__cl_free(void *self)
{
    kiln__cl *cl = self;

    kiln__fork_remove(&cl->context->fork, &cl->guard);
    while (cl->programs != NULL) {
        kiln_opencl_program *next = cl->programs->next;

        program_free(cl->programs);
        cl->programs = next;
    }
    kiln__cl_known_free(cl);
    kiln__condition_dispose(&cl->changed);
    kiln__mutex_dispose(&cl->lock);
    kiln__deallocate(cl->alloc, cl, sizeof *cl);
}

kiln_status kiln__cl_of(kiln__cl **out, const kiln_context *context)
{
    kiln_frontend *frontend = kiln__frontend_find(context, kiln__cl_ops.name);

    if (frontend == NULL)
        return KILN_ENOTFOUND;
    *out = frontend->self;
    return KILN_OK;
}

/* Another thread may add it at the same time: then its frontend is used. */
static kiln_status add(kiln__cl **out, kiln_context *context,
                       kiln_error **error)
{
    kiln_error *fault = NULL;
    kiln__cl *cl = make(context);
    kiln_status status;

    if (cl == NULL)
        return kiln__error_no_memory(error);
    status =
        kiln_frontend_add(&cl->frontend, context, &kiln__cl_ops, cl, &fault);
    if (status == KILN_OK) {
        cl->frontend->delta = kiln__cl_delta;
        *out = cl;
        return KILN_OK;
    }
    kiln__cl_free(cl);
    if (kiln__cl_of(out, context) == KILN_OK)
        status = KILN_OK;
    if (status != KILN_OK && error != NULL)
        *error = fault;
    else
        kiln_error_free(fault);
    return status;
}

kiln_status kiln_opencl_frontend(kiln_frontend **out, kiln_context *context,
                                 kiln_error **error)
{
    kiln__cl *cl;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    if (kiln__cl_of(&cl, context) != KILN_OK)
        KILN_TRY(add(&cl, context, error));
    *out = kiln__frontend_find(context, kiln__cl_ops.name);
    return KILN_OK;
}

/* ---- programs ---- */

#define NAME_MAX_SIZE ((size_t)200)

static int is_name(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!kiln__is_word(name[i]) && strchr("+-.", name[i]) == NULL)
            return 0;
    return size > 0 && size <= NAME_MAX_SIZE;
}

static kiln_opencl_program *find(const kiln__cl *cl, const char *name,
                                 size_t size)
{
    kiln_opencl_program *program = cl->programs;

    while (program != NULL && (strncmp(program->name, name, size) != 0 ||
                               program->name[size] != '\0'))
        program = program->next;
    return program;
}

static kiln_opencl_program *program_make(kiln__cl *cl, const char *name,
                                         size_t size)
{
    kiln_opencl_program *program = kiln__allocate(cl->alloc, sizeof *program);

    if (program == NULL)
        return NULL;
    program->cl = cl;
    program->name = kiln__string_copy_n(cl->alloc, name, size);
    if (program->name == NULL) {
        kiln__deallocate(cl->alloc, program, sizeof *program);
        return NULL;
    }
    program->subject = kiln__digest_word(kiln__digest_text(program->name));
    program->next = cl->programs;
    cl->programs = program;
    return program;
}

static kiln_status program_get(kiln_opencl_program **out, kiln_context *context,
                               const char *name, size_t size,
                               kiln_error **error)
{
    kiln_frontend *frontend;
    kiln__cl *cl;

    if (!is_name(name, size))
        return kiln__error_set(error, KILN_EINVAL,
                               "'%.*s' cannot name a program: its name is "
                               "letters, digits and any of _+-.",
                               (int)(size < 200 ? size : 200), name);
    KILN_TRY(kiln_opencl_frontend(&frontend, context, error));
    cl = frontend->self;
    kiln__mutex_lock(&cl->lock);
    *out = find(cl, name, size);
    if (*out == NULL)
        *out = program_make(cl, name, size);
    kiln__mutex_unlock(&cl->lock);
    return *out != NULL ? KILN_OK : kiln__error_no_memory(error);
}

kiln_status kiln_opencl_new(kiln_opencl_program **out, kiln_context *context,
                            const char *name, kiln_error **error)
{
    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(name != NULL, error);
    return program_get(out, context, name, strlen(name), error);
}

kiln_status kiln_opencl_find(kiln_opencl_program **out, kiln_context *context,
                             const char *name)
{
    kiln__cl *cl;

    KILN_REQUIRE(out != NULL, NULL);
    KILN_REQUIRE(context != NULL, NULL);
    KILN_REQUIRE(name != NULL, NULL);
    KILN_TRY(kiln__cl_of(&cl, context));
    kiln__mutex_lock(&cl->lock);
    *out = find(cl, name, strlen(name));
    kiln__mutex_unlock(&cl->lock);
    return *out != NULL ? KILN_OK : KILN_ENOTFOUND;
}

const char *kiln_opencl_name(const kiln_opencl_program *program)
{
    return program->name;
}

kiln_opencl_program *kiln__cl_program_of(const char **kernel, kiln__cl *cl,
                                         const char *name)
{
    const char *dot = strrchr(name, '.');
    kiln_opencl_program *program = NULL;

    if (dot == NULL)
        return NULL;
    *kernel = dot + 1;
    kiln__mutex_lock(&cl->lock);
    program = find(cl, name, (size_t)(dot - name));
    kiln__mutex_unlock(&cl->lock);
    return program;
}

uint64_t kiln__cl_subject_of(const char *name)
{
    const char *dot = strrchr(name, '.');

    return kiln__digest_word(
        kiln__digest_bytes(name, dot != NULL ? (size_t)(dot - name) : 0));
}

kiln_opencl_program *kiln__cl_program_named(kiln__cl *cl, const char *name)
{
    kiln_opencl_program *program;

    kiln__mutex_lock(&cl->lock);
    program = find(cl, name, strlen(name));
    kiln__mutex_unlock(&cl->lock);
    return program;
}

static int is_identifier(const char *name)
{
    size_t size = 0;

    while (kiln__is_word(name[size]))
        size++;
    return size > 0 && name[size] == '\0' && !kiln__is_digit(name[0]);
}

kiln_status kiln_opencl_function(const kiln_function **out,
                                 kiln_opencl_program *program, const char *name,
                                 kiln_error **error)
{
    kiln_status status;
    kiln__arena arena;
    const char *full;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(program != NULL, error);
    KILN_REQUIRE(name != NULL, error);
    if (!is_identifier(name))
        return kiln__error_set(error, KILN_EINVAL,
                               "'%.200s' is not the name of a kernel", name);
    kiln__arena_init(&arena, program->cl->alloc);
    full = kiln__arena_format(&arena, "%s.%s", program->name, name);
    status = full != NULL ? kiln_function_new(out, program->cl->frontend, full,
                                              NULL, error)
                          : kiln__error_no_memory(error);
    kiln__arena_dispose(&arena);
    return status;
}

/* ---- versions ---- */

kiln__cl_version *kiln__cl_version_at(kiln_opencl_program *program,
                                      uint64_t world)
{
    kiln__cl_version *version;

    kiln__mutex_lock(&program->cl->lock);
    version = program->versions;
    while (version != NULL && version->min_world > world)
        version = version->next;
    kiln__mutex_unlock(&program->cl->lock);
    return version == NULL || version->is_unloaded ? NULL : version;
}

/* Takes what comes after the version that `oldest` sees. */
static kiln__cl_version *take_unseen(kiln_opencl_program *program,
                                     uint64_t oldest)
{
    kiln__cl_version *version = program->versions;
    kiln__cl_version *unseen = NULL;

    while (version != NULL && version->min_world > oldest)
        version = version->next;
    if (version != NULL) {
        unseen = version->next;
        version->next = NULL;
    }
    return unseen;
}

void kiln__cl_collect(kiln__cl *cl, uint64_t oldest)
{
    kiln_opencl_program *program;

    atomic_store_explicit(&cl->reclaimed, oldest, memory_order_relaxed);
    kiln__mutex_lock(&cl->lock);
    for (program = cl->programs; program != NULL; program = program->next)
        versions_free(take_unseen(program, oldest));
    kiln__mutex_unlock(&cl->lock);
}
