/* build_called.c - gathers what the module of another frontend calls of the
   kernel language. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/types/types.h"
#include "pipeline/build.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_instance.h"

/*
 * A kernel's callees are known since it was inferred. Whether it allocates is
 * known when it has been lowered: the module names kiln_allocate() or
 * kiln_free(). Both forms of modules contain names as they are, so they are
 * searched for there; a name that is there for another reason costs time only.
 *
 * The runtime library's functions are no dependencies of the kernel, since they
 * do not change: PIPELINE_VERSION covers what is called here.
 */

/* The functions that are called, with names, and then what they call. */
typedef struct gathering {
    kiln__build *build;
    const kiln_code **codes;
    const char **names;
    size_t called;
    size_t count;
    size_t room;
} gathering;

#define CALLED_MAX 2 /* functions of the runtime library */

static int is_in(const gathering *g, const kiln_code *code)
{
    for (size_t i = 0; i < g->count; i++)
        if (kiln__codes_are_one(g->codes[i], code))
            return 1;
    return 0;
}

/* ---- the kernel's callees ---- */

static int is_ours(const kiln_code *code)
{
    return kiln__code_frontend(code)->ops.lower == NULL;
}

/* A function of the language that calls another frontend's is left to that
   frontend, with all that is below it. */
static int are_all_ours(const kiln_code *const *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_ours(codes[i]))
            return 0;
    return 1;
}

/* Returns the callees that the module may call. */
static const kiln_code *const *callees_of(const kiln__build *build,
                                          size_t *count)
{
    const kiln_code *const *callees = kiln__code_callees(build->code, count);

    if (!are_all_ours(build->closure + 1, build->closure_count - 1))
        *count = 0;
    return callees;
}

/* ---- the heap ---- */

typedef struct heap_function {
    const char *device; /* as modules call it */
    const char *name;   /* in the runtime library */
    const char *called; /* in the request */
    size_t arguments;   /* each is i64 */
} heap_function;

static const heap_function heap_functions[CALLED_MAX] = {
    {"kiln_allocate", "core.heap_allocate", KILN__CALLED_ALLOCATE, 2},
    {"kiln_free", "core.heap_free", KILN__CALLED_FREE, 1},
};

static int is_named(const kiln_blob *module, const char *name)
{
    return memmem(module->data, module->size, name, strlen(name)) != NULL;
}

static kiln_status infer_heap(const kiln_code **out, const kiln__build *build,
                              const heap_function *function, kiln_error **error)
{
    kiln_context *context = build->context;
    const kiln_type *const i64 = kiln_type_scalar(context, KILN_TYPE_I64);
    const kiln_type *const types[2] = {i64, i64};
    kiln_signature signature = {.types = types, .count = function->arguments};

    if (context->names == NULL)
        return kiln__error_set(error, KILN_ENOTFOUND,
                               "%s: %s() is for contexts with the kernel "
                               "language",
                               kiln_code_name(build->code), function->device);
    KILN_TRY(context->names->function(&signature.function, context, NULL,
                                      function->name, error));
    return kiln_infer(out, context, &signature, build->config, 0, error);
}

/* ---- all of them ---- */

static kiln_status make_room(gathering *g)
{
    kiln__arena *arena = &g->build->arena;
    const kiln_code **codes =
        kiln__arena_allocate_array(arena, 2 * g->room, sizeof *codes);
    const char **names =
        kiln__arena_allocate_array(arena, 2 * g->room, sizeof *names);

    if (codes == NULL || names == NULL)
        return KILN_ENOMEM;
    if (g->count > 0) {
        memcpy(codes, g->codes, g->count * sizeof *codes);
        memcpy(names, g->names, g->count * sizeof *names);
    }
    g->codes = codes;
    g->names = names;
    g->room *= 2;
    return KILN_OK;
}

static kiln_status add(gathering *g, const kiln_code *code, const char *name)
{
    if (g->codes == NULL || g->count == g->room)
        KILN_TRY(make_room(g));
    g->names[g->count] = name;
    g->codes[g->count++] = code;
    return KILN_OK;
}

static kiln_status add_callees(gathering *g)
{
    size_t count;
    const kiln_code *const *callees = callees_of(g->build, &count);

    for (size_t i = 0; i < count; i++) {
        const char *name =
            kiln__arena_format(&g->build->arena, KILN__CALL_PREFIX "%zu", i);

        if (name == NULL)
            return KILN_ENOMEM;
        KILN_TRY(add(g, callees[i], name));
    }
    return KILN_OK;
}

static kiln_status add_heap(gathering *g, kiln_error **error)
{
    for (size_t i = 0; i < CALLED_MAX; i++) {
        const heap_function *function = &heap_functions[i];
        const kiln_code *code;

        if (!is_named(&g->build->module, function->device))
            continue;
        KILN_TRY(infer_heap(&code, g->build, function, error));
        if (add(g, code, function->called) != KILN_OK)
            return kiln__error_no_memory(error);
    }
    return KILN_OK;
}

/* Adds what the functions so far call. */
static kiln_status add_closures(gathering *g)
{
    const kiln_alloc *alloc = &g->build->context->alloc;

    g->called = g->count;
    for (size_t i = 0; i < g->called; i++) {
        const kiln_code **closure = NULL;
        size_t count = 0;
        kiln_status status = kiln__code_closure(&closure, &count, g->codes[i]);

        for (size_t k = 1; status == KILN_OK && k < count; k++)
            if (!is_in(g, closure[k]))
                status = add(g, closure[k], NULL);
        kiln__deallocate(alloc, closure, count * sizeof *closure);
        KILN_TRY(status);
    }
    return KILN_OK;
}

static kiln_status make_functions(const gathering *g)
{
    kiln__build *build = g->build;

    KILN_TRY(
        kiln__build_gather(&build->functions, build, g->codes, g->count, 0));
    for (size_t i = 0; i < g->called; i++)
        build->functions[i].called = g->names[i];
    build->request.functions = build->functions;
    build->request.function_count = g->count;
    return KILN_OK;
}

kiln_status kiln__build_gather_called(kiln__build *build, kiln_error **error)
{
    gathering g = {.build = build, .room = 8};

    if (add_callees(&g) != KILN_OK)
        return kiln__error_no_memory(error);
    KILN_TRY(add_heap(&g, error));
    if (g.count > 0 &&
        (add_closures(&g) != KILN_OK || make_functions(&g) != KILN_OK))
        return kiln__error_no_memory(error);
    return KILN_OK;
}
