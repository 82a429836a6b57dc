/* build_external.c - code of other frontends that a kernel consists of. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/map.h"
#include "base/error.h"
#include "context/callback.h"
#include "context/types/types.h"
#include "frontend/external_ir.h"
#include "pipeline/build.h"
#include "pipeline/config.h"
#include "tiers/frontends.h"
#include "tiers/typed/code_closure.h"

/*
 * A call closure may have functions of several frontends. Typed IR goes to the
 * code generator as it is. A frontend with a lower() gives a module for the
 * root, and one for each function that another frontend calls; that function
 * is an *external* one of the request (codegen_abi.h).
 *
 * A frontend's module has all that it needs in it, unless the frontend says
 * that each function is on its own (`calls_by_number` in kiln/sys/frontend.h).
 * It may call functions in typed IR if there is nothing else below it. So not
 * every code instance of the closure becomes code by itself. Those that do not
 * are in the request only to keep the numbers of callees right.
 */

/* ---- what lower() gives ---- */

kiln_status kiln__build_describe(kiln__codegen_arguments *out,
                                 kiln__build *build, const kiln_code *code,
                                 int with_result)
{
    const kiln_type *result = with_result ? kiln_code_result(code) : NULL;
    size_t count;
    const kiln_type *const *types = kiln__code_types(code, &count);
    const size_t most = count + 1;
    const char **texts =
        kiln__arena_allocate_array(&build->arena, most, sizeof *texts);
    uint64_t *sizes =
        kiln__arena_allocate_array(&build->arena, most, sizeof *sizes);
    uint64_t *alignments =
        kiln__arena_allocate_array(&build->arena, most, sizeof *alignments);

    if (texts == NULL || sizes == NULL || alignments == NULL)
        return KILN_ENOMEM;
    *out = (kiln__codegen_arguments){texts, sizes, alignments, count};
    for (size_t i = 0; i < count; i++) {
        texts[i] = kiln_type_text(types[i]);
        sizes[i] = kiln_type_size(types[i]);
        alignments[i] = kiln_type_alignment(types[i]);
    }
    if (result == NULL || kiln_type_size(result) == 0)
        return KILN_OK;
    /* Whatever it is, it is stored at an address. */
    texts[count] = "result";
    sizes[count] = kiln_type_size(result);
    alignments[count] = kiln_type_alignment(result);
    out->count++;
    return KILN_OK;
}

/* lower() may read everything of the code instances that is in their digests;
   and of the config everything that is in the binary key, because [load]
   settings are hidden here. */
kiln_status kiln__build_lower(kiln_blob *out, const kiln__build *build,
                              const kiln_code *code, const char *entry,
                              kiln_error **error)
{
    kiln_frontend *frontend = kiln__code_frontend(code);
    kiln_lower_request request = {
        .size = sizeof request,
        .root = code,
        .config = kiln__config_without_load(build->config),
        .entry = entry,
        .is_function = code != build->code,
    };
    const kiln_code **closure = NULL;
    kiln__lower_call lowering;
    kiln_status status;

    if (request.config == NULL ||
        kiln__code_closure(&closure, &request.code_count, code) != KILN_OK)
        return kiln__error_no_memory(error);
    request.codes = closure;
    kiln__lower_call_begin(&lowering, closure, request.code_count);
    status = frontend->ops.lower(frontend->self, &request, out, error);
    kiln__lower_call_end(&lowering);
    kiln__deallocate(&build->context->alloc, closure,
                     request.code_count * sizeof *closure);
    status = kiln__callback_status(status, frontend, "lower", error);
    if (status != KILN_OK || out->data != NULL)
        return status;
    return kiln__error_set(error, KILN_ECODEGEN,
                           "frontend %s lowered %s to nothing", frontend->name,
                           kiln_code_name(code));
}

/* ---- which functions are code by themselves ---- */

#define LEFT_OUT 0
#define INSIDE 1 /* of another function's module, or unused */
#define TAKEN 2

/* The closure of a build, with what becomes of each code instance. */
typedef struct sorting {
    const kiln__build *build;
    kiln__map places; /* -> an element of `marks` */
    uint8_t *marks;
    uint8_t *reaches; /* whether a function of a lower() is below */
} sorting;

static uint8_t *mark_of(const sorting *s, const kiln_code *code)
{
    return kiln__map_get(&s->places, kiln__code_key(code));
}

/* True when the function calls one with a lower(), or one that reaches such. */
static int calls_modules(const sorting *s, size_t index)
{
    size_t count;
    const kiln_code *const *callees =
        kiln__code_callees(s->build->closure[index], &count);

    for (size_t i = 0; i < count; i++) {
        const size_t at = (size_t)(mark_of(s, callees[i]) - s->marks);

        if (at != index &&
            (s->reaches[at] || kiln__code_is_external(callees[i])))
            return 1;
    }
    return 0;
}

/* Most callees come after their callers in a closure, so this goes backward. */
static void find_reaching(const sorting *s)
{
    int changed = 1;

    while (changed) {
        changed = 0;
        for (size_t i = s->build->closure_count; i-- > 0;)
            if (!s->reaches[i] && calls_modules(s, i))
                changed = s->reaches[i] = 1;
    }
}

/* True when the callees of the function are called, and have code of their
   own. */
static int calls(const sorting *s, size_t index)
{
    const kiln_code *code = s->build->closure[index];

    return !kiln__code_is_external(code) ||
           kiln__code_frontend(code)->ops.calls_by_number != 0 ||
           !s->reaches[index];
}

/* Marks the callees; returns whether one was marked anew. */
static int mark_callees(const sorting *s, size_t index)
{
    size_t count;
    const kiln_code *const *callees =
        kiln__code_callees(s->build->closure[index], &count);
    const uint8_t wanted = count > 0 && calls(s, index) ? TAKEN : INSIDE;
    int changed = 0;

    for (size_t i = 0; i < count; i++) {
        uint8_t *mark = mark_of(s, callees[i]);

        if (*mark < wanted) {
            *mark = wanted;
            changed = 1;
        }
    }
    return changed;
}

static kiln_status sort(sorting *s)
{
    const size_t count = s->build->closure_count;
    int changed = 1;

    for (size_t i = 0; i < count; i++)
        if (!kiln__map_set(&s->places, kiln__code_key(s->build->closure[i]),
                           &s->marks[i]))
            return KILN_ENOMEM;
    find_reaching(s);
    s->marks[0] = TAKEN;
    while (changed) {
        changed = 0;
        for (size_t i = 0; i < count; i++)
            if (s->marks[i] == TAKEN)
                changed |= mark_callees(s, i);
    }
    return KILN_OK;
}

static int has_external(const kiln__build *build, size_t from)
{
    for (size_t i = from; i < build->closure_count; i++)
        if (kiln__code_is_external(build->closure[i]))
            return 1;
    return 0;
}

/* ---- the request's functions ---- */

/* The typed IR of a function that nobody calls. */
static kiln_status make_unused(kiln__ir *ir, const kiln_alloc *alloc,
                               const kiln_code *code)
{
    kiln__ir_node node = {.op = KILN__IR_BLOCK};

    kiln__ir_init(ir, alloc);
    ir->name = kiln__arena_text(&ir->arena, kiln_code_name(code));
    ir->method = ir->name;
    if (ir->name != NULL &&
        kiln__ir_scalar(ir, KILN_TYPE_NONE, &node.type) == KILN_OK &&
        kiln__ir_add_node(ir, &node, NULL, 0, &ir->body) == KILN_OK) {
        ir->result = node.type;
        return KILN_OK;
    }
    kiln__ir_dispose(ir);
    return KILN_ENOMEM;
}

static kiln_status set_ir(kiln__codegen_function *out, kiln__build *build,
                          kiln__ir *ir)
{
    kiln_blob bytes;
    kiln_status status = kiln__ir_encode(ir, &bytes);

    kiln__ir_dispose(ir);
    KILN_TRY(status);
    out->ir = kiln__arena_copy(&build->arena, bytes.data, bytes.size);
    out->ir_size = bytes.size;
    kiln_blob_release(&bytes);
    return out->ir != NULL ? KILN_OK : KILN_ENOMEM;
}

static kiln_status leave_out(kiln__codegen_function *out, kiln__build *build,
                             const kiln_code *code)
{
    kiln__ir ir;

    out->callee_count = 0;
    KILN_TRY(make_unused(&ir, &build->context->alloc, code));
    return set_ir(out, build, &ir);
}

static kiln_status keep_module(kiln__build *build, kiln_blob *module)
{
    if (kiln__array_push(&build->context->alloc, &build->modules, *module))
        return KILN_OK;
    kiln_blob_release(module);
    return KILN_ENOMEM;
}

static kiln_status add_module(kiln__codegen_function *out, kiln__build *build,
                              const kiln_code *code, kiln_error **error)
{
    kiln__codegen_external *external =
        kiln__arena_allocate(&build->arena, sizeof *external);
    kiln_blob module = {0};
    kiln__ir ir;

    if (external == NULL)
        return kiln__error_no_memory(error);
    KILN_TRY(kiln__code_read_ir(&ir, &build->context->alloc, code, error));
    if (set_ir(out, build, &ir) != KILN_OK)
        return kiln__error_no_memory(error);
    KILN_TRY(kiln__build_lower(&module, build, code, out->symbol, error));
    external->module = module.data;
    external->module_size = module.size;
    external->name = kiln_code_name(code);
    if (keep_module(build, &module) != KILN_OK ||
        kiln__build_describe(&external->arguments, build, code, 1) != KILN_OK)
        return kiln__error_no_memory(error);
    out->external = external;
    return KILN_OK;
}

/* A function of the request, where it stands. */
typedef struct listing {
    const kiln_code **codes;
    uint8_t *marks;
    size_t count;
} listing;

static void append(listing *list, const kiln_code *code, uint8_t mark)
{
    list->codes[list->count] = code;
    list->marks[list->count++] = mark;
}

/* The callees of a module come first, by their numbers. Two of them may be one
   function (code_closure.c), which then has both. */
static void list_called(listing *list, const sorting *s)
{
    const kiln__build *build = s->build;
    size_t direct;
    const kiln_code *const *callees = kiln__code_callees(build->code, &direct);

    for (size_t i = 0; i < direct; i++)
        append(list, callees[i], *mark_of(s, callees[i]));
    for (size_t i = 0; i < direct; i++)
        *mark_of(s, callees[i]) = LEFT_OUT;
    for (size_t i = 1; i < build->closure_count; i++)
        if (s->marks[i] != LEFT_OUT)
            append(list, build->closure[i], s->marks[i]);
}

static void list_all(listing *list, const sorting *s)
{
    for (size_t i = 0; i < s->build->closure_count; i++)
        append(list, s->build->closure[i], s->marks[i]);
}

static kiln_status fill(kiln__build *build, const listing *list,
                        kiln_error **error)
{
    for (size_t i = 0; i < list->count; i++) {
        kiln__codegen_function *f = &build->functions[i];
        kiln_status status = KILN_OK;

        f->called =
            kiln__arena_format(&build->arena, KILN__CALL_PREFIX "%zu", i);
        if (f->called == NULL)
            return kiln__error_no_memory(error);

        if (list->marks[i] != TAKEN)
            status = leave_out(f, build, list->codes[i]) == KILN_OK
                         ? KILN_OK
                         : kiln__error_no_memory(error);
        else if (kiln__code_is_external(list->codes[i]))
            status = add_module(f, build, list->codes[i], error);
        KILN_TRY(status);
    }
    return KILN_OK;
}

static int takes_any(const listing *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->marks[i] == TAKEN)
            return 1;
    return 0;
}

static kiln_status gather(kiln__build *build, sorting *s, kiln_error **error)
{
    const int is_called = kiln__code_is_external(build->code);
    size_t direct;
    listing list = {0};

    (void)kiln__code_callees(build->code, &direct);
    list.codes = kiln__arena_allocate_array(
        &build->arena, direct + build->closure_count, sizeof *list.codes);
    list.marks =
        kiln__arena_allocate(&build->arena, direct + build->closure_count);
    if (list.codes == NULL || list.marks == NULL || sort(s) != KILN_OK)
        return kiln__error_no_memory(error);
    if (is_called)
        list_called(&list, s);
    else
        list_all(&list, s);
    if (!takes_any(&list))
        return KILN_OK;
    if (kiln__build_gather(&build->functions, build, list.codes, list.count,
                           !is_called) != KILN_OK)
        return kiln__error_no_memory(error);
    build->request.functions = build->functions;
    build->request.function_count = list.count;
    return fill(build, &list, error);
}

kiln_status kiln__build_gather_mixed(kiln__build *build, kiln_error **error)
{
    const size_t count = build->closure_count;
    sorting s = {.build = build,
                 .marks = kiln__arena_allocate(&build->arena, count),
                 .reaches = kiln__arena_allocate(&build->arena, count)};
    kiln_status status;

    if (s.marks == NULL || s.reaches == NULL)
        return kiln__error_no_memory(error);
    memset(s.marks, LEFT_OUT, count);
    kiln__map_init(&s.places, &build->context->alloc);
    status = gather(build, &s, error);
    kiln__map_dispose(&s.places);
    return status;
}

int kiln__build_is_mixed(const kiln__build *build)
{
    return has_external(build, 0);
}

int kiln__build_calls_modules(const kiln__build *build)
{
    return kiln__code_frontend(build->code)->ops.calls_by_number != 0 &&
           has_external(build, 1);
}
