/* cl_frontend.c - OpenCL C as a frontend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <string.h>

#include "base/data/array.h"
#include "base/error.h"
#include "context/types/types.h"
#include "frontend/opencl/cl_program.h"

/*
 * The typed IR of a kernel is a head, which says how the entry passes its
 * arguments on, and the kernel's module in the neutral form (docs/llvm-ir.md),
 * behind it. foreign_wrap.c of the code generator makes the entry.
 *
 * A kernel rests on one query: what its program makes of it. The answer is the
 * digest of its declaration and its module, so neither comments nor other
 * kernels of the text matter. It is also the root, and the program's digest is
 * that of the text's tokens.
 */

/* Changes with the form of the typed IR, and with what is made of one text. */
#define FRONTEND_NAME "opencl 8"

static uint64_t cl_world(void *self)
{
    const kiln__cl *cl = self;

    return atomic_load_explicit(&cl->world, memory_order_acquire);
}

/* ---- what is asked ---- */

/* Finds the version and the kernel of a qualified name in a world. */
static kiln_status find_version(kiln__cl_version **out, const char **kernel,
                                kiln__cl *cl, const char *name, uint64_t world,
                                kiln_error **error)
{
    kiln_opencl_program *program = kiln__cl_program_of(kernel, cl, name);

    *out = program != NULL ? kiln__cl_version_at(program, world) : NULL;
    if (*out == NULL)
        return kiln__error_set(error, KILN_ENOTFOUND,
                               "%s: its program has no text in world %" PRIu64,
                               name, world);
    return KILN_OK;
}

#define NAMES_MAX 12 /* that a message lists */

/* Adds the names of kernels, or of other functions. Returns how many there
   are. */
static size_t list_names(kiln__text *out, const kiln__cl_unit *unit,
                         int are_kernels, size_t before)
{
    size_t count = before;

    for (size_t i = 0; i < unit->count; i++)
        if (unit->functions[i].is_kernel == are_kernels && count++ < NAMES_MAX)
            kiln__text_format(out, "%s%s", count > 1 ? ", " : "",
                              unit->functions[i].name);
    return count;
}

/* KILN_ENOTFOUND, with the kernels and then the functions that there are. */
static kiln_status no_function(const kiln__cl_version *version,
                               const kiln__cl_unit *unit, const char *name,
                               kiln_error **error)
{
    kiln_status status = KILN_ENOMEM;
    kiln__text list;
    size_t count;

    kiln__text_init(&list, unit->arena.alloc);
    kiln__text_add(&list, "");
    count = list_names(&list, unit, 0, list_names(&list, unit, 1, 0));
    if (!list.failed)
        status = kiln__error_set(
            error, KILN_ENOTFOUND,
            "%s has no kernel or function '%s'; it has %s%s",
            version->text.file, name, count > 0 ? list.bytes : "none",
            count > NAMES_MAX ? " and more" : "");
    kiln__text_dispose(&list);
    return status;
}

/* What the program makes of a kernel; zero: nothing. */
static kiln_status kernel_digest(kiln_digest *out, kiln__cl *cl,
                                 const char *name, uint64_t world)
{
    const kiln__cl_unit *unit;
    kiln__cl_version *version;
    const char *kernel;
    size_t number;
    kiln_status status;

    *out = (kiln_digest){0};
    if (find_version(&version, &kernel, cl, name, world, NULL) != KILN_OK)
        return KILN_OK;
    status = kiln__cl_unit_of(&unit, version, NULL);
    if (status == KILN_ECOMPILE)
        return KILN_OK;
    KILN_TRY(status);
    number = kiln__cl_unit_function(unit, kernel);
    if (number < unit->count)
        *out = unit->digests[number];
    return KILN_OK;
}

/* The other query is whether a program defines a function: this, and its
   name. */
#define IS_DEFINED '?'

/* Looks up what kernel_digest() digests. A text that cannot be translated is an
   error. */
static kiln_status is_defined(int *out, kiln__cl *cl, const char *name,
                              uint64_t world, kiln_error **error)
{
    const kiln__cl_unit *unit;
    kiln__cl_version *version;
    const char *function;

    *out = 0;
    if (find_version(&version, &function, cl, name, world, NULL) != KILN_OK)
        return KILN_OK;
    KILN_TRY(kiln__cl_unit_of(&unit, version, error));
    *out = kiln__cl_unit_function(unit, function) < unit->count;
    return KILN_OK;
}

static kiln_digest defined_answer(int defined)
{
    return defined ? kiln__digest_text("defined") : (kiln_digest){0};
}

kiln_status kiln__cl_ask_defined(int *out, kiln_inference *inference,
                                 kiln__cl *cl, const char *name, uint64_t world,
                                 kiln_error **error)
{
    kiln_query query = {.subject = kiln__cl_subject_of(name)};
    kiln__text data;
    kiln_status status;

    KILN_TRY(is_defined(out, cl, name, world, error));
    kiln__text_init(&data, cl->alloc);
    kiln__text_format(&data, "%c%s", IS_DEFINED, name);
    query.data = data.bytes;
    query.size = data.size + 1;
    query.answer = defined_answer(*out);
    status =
        data.failed ? KILN_ENOMEM : kiln_inference_add_query(inference, &query);
    kiln__text_dispose(&data);
    return status == KILN_OK ? KILN_OK : kiln__error_no_memory(error);
}

static kiln_status cl_answer(void *self, const void *query, size_t size,
                             const kiln_config *config, uint64_t world,
                             kiln_digest *out)
{
    const char *name = query;
    kiln_status status;
    int defined;

    (void)config;
    KILN_REQUIRE(size > 0 && name[size - 1] == '\0', NULL);
    if (name[0] != IS_DEFINED)
        return kernel_digest(out, self, name, world);
    status = is_defined(&defined, self, name + 1, world, NULL);
    *out = defined_answer(status == KILN_OK && defined);
    return status == KILN_ECOMPILE ? KILN_OK : status;
}

static kiln_status cl_root(void *self, const kiln_signature *signature,
                           const kiln_config *config, uint64_t world,
                           kiln_digest *out)
{
    (void)config;
    return kernel_digest(out, self, kiln_function_name(signature->function),
                         world);
}

static kiln_status cl_program(void *self, const kiln_signature *signature,
                              const kiln_config *config, uint64_t world,
                              kiln_digest *out)
{
    kiln__cl_version *version;
    const char *kernel;

    (void)config;
    *out = (kiln_digest){0};
    if (find_version(&version, &kernel, self,
                     kiln_function_name(signature->function), world,
                     NULL) == KILN_OK &&
        (kiln__cl_known_tokens(out, version) != KILN_OK ||
         kiln__cl_calls_others(version, kernel)))
        *out = (kiln_digest){0};
    return KILN_OK;
}

static kiln_status cl_function(void *self, const char *name,
                               const kiln_function **out)
{
    kiln__cl *cl = self;
    const char *kernel;

    if (kiln__cl_program_of(&kernel, cl, name) == NULL)
        return KILN_ENOTFOUND;
    return kiln_function_new(out, cl->frontend, name, NULL, NULL);
}

/* ---- what the kernel language imports ---- */

static kiln_status cl_package(void *self, const char *name)
{
    return kiln__cl_program_named(self, name) != NULL ? KILN_OK
                                                      : KILN_ENOTFOUND;
}

static kiln_status cl_parameters(void *self, const kiln_function *function,
                                 uint64_t world, const kiln_type **types,
                                 size_t *count, kiln_error **error)
{
    kiln__cl *cl = self;
    const kiln__cl_unit *unit;
    kiln__cl_version *version;
    const char *name;
    size_t number;

    KILN_TRY(find_version(&version, &name, cl, kiln_function_name(function),
                          world, error));
    KILN_TRY(kiln__cl_unit_of(&unit, version, error));
    number = kiln__cl_unit_function(unit, name);
    if (number == unit->count)
        return no_function(version, unit, name, error);
    kiln__cl_parameters(types, count, cl->context, &unit->functions[number]);
    return KILN_OK;
}

/* ---- inference ---- */

static kiln_status set_result(kiln_inference *inference,
                              const kiln__source_function *function,
                              kiln_error **error)
{
    kiln_context *context =
        kiln_inference_signature(inference)->function->frontend->context;
    const kiln_type *result;

    KILN_TRY(kiln__cl_result(&result, context, function, error));
    kiln_inference_set_result(inference, result);
    return KILN_OK;
}

static kiln_status set_ir(kiln_inference *inference, const kiln__cl_unit *unit,
                          const kiln__source_function *kernel,
                          const kiln__cl_text *text, kiln_error **error)
{
    const kiln_signature *signature = kiln_inference_signature(inference);
    kiln_status status;
    kiln__text ir;

    kiln__text_init(&ir, &signature->function->frontend->context->alloc);
    status = set_result(inference, kernel, error);
    if (status == KILN_OK)
        status = kiln__cl_match(&ir, signature, kernel, text, error);
    if (status == KILN_OK)
        status = kiln__cl_call(&ir, inference, unit, kernel, error);
    kiln__text_add(&ir, "\n");
    kiln__text_add_n(&ir, kernel->bitcode, kernel->bitcode_size);
    if (status == KILN_OK && ir.failed)
        status = kiln__error_no_memory(error);
    if (status == KILN_OK)
        status = kiln_inference_set_ir(inference, ir.bytes, ir.size);
    kiln__text_dispose(&ir);
    return status;
}

static kiln_status cl_infer(void *self, const kiln_signature *signature,
                            const kiln_config *config, uint64_t world,
                            kiln_inference *inference, kiln_error **error)
{
    const char *name = kiln_function_name(signature->function);
    kiln_query query = {.data = name, .size = strlen(name) + 1};
    const kiln__cl_unit *unit;
    kiln__cl_version *version;
    const char *kernel;
    size_t number;

    (void)config;
    KILN_TRY(find_version(&version, &kernel, self, name, world, error));
    KILN_TRY(kiln__cl_unit_of(&unit, version, error));
    number = kiln__cl_unit_function(unit, kernel);
    if (number == unit->count)
        return no_function(version, unit, kernel, error);
    KILN_TRY(kiln__cl_check_refusal(&version->text, &unit->functions[number],
                                    version->program->cl->alloc, error));
    query.subject = version->program->subject;
    query.answer = unit->digests[number];
    kiln_inference_set_root(inference, query.answer);
    if (kiln_inference_add_query(inference, &query) != KILN_OK)
        return kiln__error_no_memory(error);
    return set_ir(inference, unit, &unit->functions[number], &version->text,
                  error);
}

/* Functions may give a value, or take memory without its size; a launch does
   not know what to do with that. */
static int is_for_launches(const void *ir, size_t size)
{
    return memmem(ir, size, KILN__CL_FUNCTION, strlen(KILN__CL_FUNCTION)) != ir;
}

static kiln_status cl_lower(void *self, const kiln_lower_request *request,
                            kiln_blob *out, kiln_error **error)
{
    const kiln__cl *cl = self;
    size_t size;
    const void *ir = kiln_code_ir(request->root, &size);

    if (!request->is_function && !is_for_launches(ir, size))
        return kiln__error_set(error, KILN_ECOMPILE,
                               "%s is not declared with `kernel`: it can be "
                               "called, but not launched",
                               kiln_code_name(request->root));
    if (kiln__blob_copy(out, cl->alloc, ir, size) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

/* ---- worlds ---- */

/* Versions are freed in a collection only, which knows the oldest world that is
   held. */
static kiln_status cl_hold(void *self, uint64_t world)
{
    const kiln__cl *cl = self;

    if (world < atomic_load_explicit(&cl->reclaimed, memory_order_relaxed))
        return KILN_ENOTFOUND;
    return world <= cl_world(self) ? KILN_OK : KILN_EINVAL;
}

static void cl_release(void *self, uint64_t world)
{
    (void)self;
    (void)world;
}

static void cl_collect(void *self, uint64_t oldest_world)
{
    kiln__cl_collect(self, oldest_world);
}

const kiln_frontend_ops kiln__cl_ops = {
    .size = sizeof(kiln_frontend_ops),
    .name = FRONTEND_NAME,
    .world = cl_world,
    .infer = cl_infer,
    .answer = cl_answer,
    .free = kiln__cl_free,
    .lower = cl_lower,
    .hold = cl_hold,
    .release = cl_release,
    .collect = cl_collect,
    .root = cl_root,
    .program = cl_program,
    .function = cl_function,
    .calls_by_number = 1,
    .package = cl_package,
    .parameters = cl_parameters,
};
