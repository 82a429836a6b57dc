/* build_supply.c - the inputs of a build from tier 2. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/system/passing.h"
#include "base/system/thread.h"
#include "context/counters.h"
#include "context/keys/key.h"
#include "context/keys/settings.h"
#include "context/log.h"
#include "frontend/external_ir.h"
#include "pipeline/build.h"
#include "pipeline/runtime_separable.h"
#include "tiers/runtime/bitcode_library.h"
#include "tiers/runtime/runtime_bitcode.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_instance.h"

/*
 * An input is bitcode of one function or symbol. Inputs and their keys are
 * planned on the caller's thread, without LLVM. They are fetched from tier 2 on
 * the worker, just before the kernel's own code is generated. If one is missing
 * there, the worker makes it at once, by a separate request, and requests
 * nothing else meanwhile. So a thread that waits for an input waits for one
 * piece of work only.
 */

/* ---- planning ---- */

static kiln_status supply_finish(kiln__build *build, kiln__build_input *supply,
                                 const char *name)
{
    char digest[KILN_DIGEST_TEXT_SIZE];
    char suffix[KILN_DIGEST_TEXT_SIZE + 1];

    supply->name = name;
    kiln_digest_text(kiln__encoder_digest(&supply->key), digest);
    snprintf(suffix, sizeof suffix, "_%s", digest);
    supply->symbol =
        kiln__build_symbol(&build->arena, "kiln_rt_", name, suffix);
    return supply->symbol != NULL ? KILN_OK : KILN_ENOMEM;
}

/* Increments the count at once, so that the key is disposed of in any case. */
static kiln__build_input *supply_add(kiln__build *build)
{
    kiln__build_input *supply = &build->supplies[build->supply_count++];

    kiln__encoder_init(&supply->key, &build->context->alloc);
    return supply;
}

static kiln_status add_function(kiln__build *build, size_t place)
{
    kiln__build_input *supply = supply_add(build);

    supply->code = build->closure[place];
    supply->place = place;
    KILN_TRY(kiln__key_runtime(&supply->key, kiln_code_digest(supply->code),
                               build->config));
    return supply_finish(build, supply,
                         kiln__build_name(&build->arena, supply->code));
}

static int is_planned(const kiln__build *build, const kiln__library_use *use)
{
    for (size_t i = 0; i < build->supply_count; i++) {
        const kiln__library_use *other = build->supplies[i].use;

        if (other != NULL && other->library == use->library &&
            strcmp(other->symbol, use->symbol) == 0)
            return 1;
    }
    return 0;
}

static kiln_status add_use(kiln__build *build, const kiln__library_use *use)
{
    kiln__build_input *supply;

    if (is_planned(build, use))
        return KILN_OK;
    supply = supply_add(build);
    supply->use = use;
    supply->place = build->import_count++;
    KILN_TRY(kiln__key_closure(&supply->key, kiln__library_digest(use->library),
                               use->symbol, build->config));
    return supply_finish(build, supply, use->symbol);
}

static kiln_status add_imports(kiln__build *build)
{
    kiln__codegen_import *imports = kiln__arena_allocate_array(
        &build->arena, build->import_count, sizeof *imports);

    if (imports == NULL)
        return KILN_ENOMEM;
    for (size_t i = 0; i < build->supply_count; i++) {
        const kiln__build_input *supply = &build->supplies[i];

        if (supply->use != NULL)
            imports[supply->place] = (kiln__codegen_import){
                .name = supply->use->symbol,
                .symbol = supply->symbol,
                .is_needed = supply->place >= build->given_imports,
            };
    }
    build->imports = imports;
    build->request.imports = imports;
    build->request.import_count = build->import_count;
    return KILN_OK;
}

/* Makes room for more supplies. */
static kiln_status make_room(kiln__build *build, size_t count)
{
    kiln__build_input *supplies = kiln__arena_allocate_array(
        &build->arena, build->supply_count + count, sizeof *supplies);

    if (supplies == NULL)
        return KILN_ENOMEM;
    if (build->supply_count > 0)
        memcpy(supplies, build->supplies,
               build->supply_count * sizeof *supplies);
    build->supplies = supplies;
    return KILN_OK;
}

/* Plans runtime functions, and what the kernel needs from the device's library
   of mathematics. */
static kiln_status plan_own(kiln__build *build, const kiln__library_use *math,
                            size_t math_count)
{
    const size_t count = build->closure_count;
    uint8_t *marks = kiln__arena_allocate(&build->arena, count);
    size_t most = math_count;

    if (marks == NULL)
        return KILN_ENOMEM;
    KILN_TRY(kiln__separable_find(marks, build->closure, count, build->config));
    for (size_t i = 0; i < count; i++)
        most += marks[i];
    if (most == 0)
        return KILN_OK;
    KILN_TRY(make_room(build, most));
    for (size_t i = 0; i < count; i++)
        if (marks[i])
            KILN_TRY(add_function(build, i));
    for (size_t i = 0; i < math_count; i++)
        KILN_TRY(add_use(build, &math[i]));
    return math_count > 0 ? add_imports(build) : KILN_OK;
}

static kiln_status plan_uses(kiln__build *build)
{
    size_t most = 0, count;

    for (size_t i = 0; i < build->closure_count; i++) {
        (void)kiln__code_uses(build->closure[i], &count);
        most += count;
    }
    if (most == 0)
        return KILN_OK;
    KILN_TRY(make_room(build, most));
    for (size_t i = 0; i < build->closure_count; i++) {
        const kiln__library_use *uses =
            kiln__code_uses(build->closure[i], &count);

        for (size_t k = 0; k < count; k++)
            KILN_TRY(add_use(build, &uses[k]));
    }
    build->given_imports = build->import_count;
    return add_imports(build);
}

kiln_status kiln__build_add_uses(kiln__build *build,
                                 const kiln__library_use *uses, size_t count)
{
    KILN_TRY(make_room(build, count));
    for (size_t i = 0; i < count; i++)
        KILN_TRY(add_use(build, &uses[i]));
    return add_imports(build);
}

kiln_status kiln__build_plan_supplies(kiln__build *build, kiln_error **error)
{
    const kiln__library_use *math = NULL;
    size_t math_count = 0;
    const int is_foreign = kiln__code_is_external(build->code);

    if (!is_foreign)
        KILN_TRY(kiln__build_plan_math(&math, &math_count, build, error));
    if (plan_uses(build) != KILN_OK ||
        (!is_foreign && plan_own(build, math, math_count) != KILN_OK))
        return kiln__error_no_memory(error);
    return KILN_OK;
}

const kiln__build_input *kiln__build_supply_of(const kiln__build *build,
                                               const kiln_code *code)
{
    for (size_t i = 0; i < build->supply_count; i++)
        if (build->supplies[i].code != NULL &&
            kiln__codes_are_one(build->supplies[i].code, code))
            return &build->supplies[i];
    return NULL;
}

/* ---- making one ---- */

typedef struct making {
    kiln__build *build;
    kiln__build_input *supply;
    kiln_error *error;
} making;

static kiln_status take_bitcode(void *env, const kiln__codegen_result *result)
{
    making *m = env;

    m->supply->is_building = 0;
    if (kiln__runtime_finish(m->build->context, m->supply->entry, result->bytes,
                             result->size, result->make_ns) == KILN_OK)
        return KILN_OK;
    m->supply->entry = NULL;
    return kiln__error_no_memory(&m->error);
}

static void take_failure(void *env, kiln_status status, const char *message)
{
    making *m = env;

    kiln__error_set(&m->error, status, "%s: %s", m->supply->name, message);
}

/* The build is lost; the code that handles the failure frees it, and with it
   the entry is given up. */
static void fatal(void *env, const char *message)
{
    making *m = env;
    kiln_error *error = NULL;

    kiln__error_set(&error, kiln__fatal_status(message),
                    "%s: LLVM cannot go on: %s", m->supply->name, message);
    m->build->fatal(m->build->fatal_env, error);
}

static void stage(void *env, int32_t which, uint64_t nanoseconds)
{
    making *m = env;

    kiln__stage_ended(m->build->context, which, m->supply->name, nanoseconds);
}

static void take_log(void *env, int32_t level, const char *line)
{
    making *m = env;

    kiln__log(m->build->context, level, "%s: %s", m->supply->name, line);
}

/* The settings that are in the runtime key, and no others, except for the
   processor, on which a function alone does not depend. */
static kiln__codegen_settings settings_of(const kiln__build *build)
{
    kiln__codegen_settings settings = build->settings;

    memset(settings.required_group_size, 0,
           sizeof settings.required_group_size);
    settings.opt_level = 3; /* the passes run when it is linked into a kernel */
    settings.maximum_group_size = 0;
    settings.minimum_groups = 0;
    settings.maximum_registers = 0;
    settings.unroll = 0; /* loops are unrolled in the kernel, too */
    settings.entry_abi = KILN_ABI_KERNEL;
    settings.sites = KILN_SITES_RESOLVE;
    return settings;
}

static kiln_status fill_function(kiln__codegen_request *request, making *m)
{
    kiln__codegen_function *functions = NULL;
    const kiln_code **closure = NULL;
    size_t count = 0;
    kiln_status status = kiln__code_closure(&closure, &count, m->supply->code);

    if (status == KILN_OK)
        /* Without lines: this is a worker's thread, and such a function has
           none. */
        status = kiln__build_gather(&functions, m->build, closure, count, 0);
    kiln__deallocate(&m->build->context->alloc, closure,
                     count * sizeof *closure);
    request->form = KILN__EMIT_FUNCTION;
    request->functions = functions;
    request->function_count = count;
    return status;
}

static void fill_closure(kiln__codegen_request *request,
                         const kiln__build_input *supply)
{
    request->form = KILN__EMIT_CLOSURE;
    request->module =
        kiln__library_bytes(supply->use->library, &request->module_size);
    request->library = kiln__library_name(supply->use->library);
    request->wanted = supply->use->symbol;
}

static kiln_status generate(making *m, const kiln__generator *generator)
{
    const kiln__codegen_settings settings = settings_of(m->build);
    kiln__codegen_request request = {
        .settings = &settings,
        .entry = m->supply->symbol,
        .env = m,
        .finish = take_bitcode,
        .fail = take_failure,
        .fatal = fatal,
        .stage = stage,
        .log = take_log,
    };

    if (m->supply->use != NULL)
        fill_closure(&request, m->supply);
    else if (fill_function(&request, m) != KILN_OK)
        return kiln__error_no_memory(&m->error);
    return kiln__generate_by(generator, &request);
}

static kiln_status make(kiln__build *build, kiln__build_input *supply,
                        const kiln__generator *generator, kiln_error **error)
{
    making m = {.build = build, .supply = supply};
    kiln_status status;

    supply->is_building = 1;
    status = generate(&m, generator);
    if (status == KILN_OK)
        return KILN_OK;
    if (supply->is_building)
        kiln__runtime_fail(build->context, supply->entry);
    supply->is_building = 0;
    supply->entry = NULL;
    if (m.error == NULL)
        kiln__error_set(&m.error, status, "%s: %s", supply->name,
                        kiln_status_text(status));
    if (error != NULL)
        *error = m.error;
    else
        kiln_error_free(m.error);
    return status;
}

/* ---- getting them ---- */

static kiln_status get(kiln__build *build, kiln__build_input *supply,
                       const kiln__generator *generator, kiln_error **error)
{
    size_t work = 0;
    const void *ir =
        supply->code != NULL ? kiln_code_ir(supply->code, &work) : NULL;
    const kiln__runtime_query query = {
        .digest = kiln__encoder_digest(&supply->key),
        .encoded = supply->key.bytes,
        .encoded_size = supply->key.size,
        .asker = supply->use != NULL ? supply->use->digest
                                     : kiln_code_digest(supply->code),
        .is_optional = ir != NULL,
        .work = work,
        .is_anew = supply->is_rejected,
    };

    switch (kiln__runtime_claim(&supply->entry, build->context, &query)) {
    case KILN__RUNTIME_FOUND:
    case KILN__RUNTIME_IN_PLACE:
        return KILN_OK;
    case KILN__RUNTIME_OWN:
        return make(build, supply, generator, error);
    case KILN__RUNTIME_NO_MEMORY:
        break;
    }
    return kiln__error_no_memory(error);
}

static void hand_out(const kiln__build *build, const kiln__build_input *supply)
{
    size_t size = 0;
    const void *bitcode = supply->entry != NULL
                              ? kiln__runtime_bitcode(supply->entry, &size)
                              : NULL;

    if (supply->use != NULL) {
        build->imports[supply->place].bitcode = bitcode;
        build->imports[supply->place].bitcode_size = size;
    } else {
        build->functions[supply->place].bitcode = bitcode;
        build->functions[supply->place].bitcode_size = size;
    }
}

kiln_status kiln__build_get_supplies(kiln__build *build,
                                     const kiln__generator *generator,
                                     kiln_error **error)
{
    for (size_t i = 0; i < build->supply_count; i++) {
        kiln__build_input *supply = &build->supplies[i];
        kiln_error *cause = NULL;
        kiln_status status = KILN_OK;

        if (supply->entry == NULL) /* else it is here since the last request */
            status = get(build, supply, generator, &cause);
        if (status == KILN_OK) {
            hand_out(build, supply);
            continue;
        }
        if (supply->use != NULL) {
            if (error != NULL)
                *error = cause;
            else
                kiln_error_free(cause);
            return status;
        }
        kiln__log(build->context, KILN_LOG_DEBUG, "%s is made with %s: %s",
                  supply->name, kiln_code_name(build->code),
                  kiln_error_message(cause));
        kiln_error_free(cause);
    }
    return KILN_OK;
}

int kiln__build_reject_supplies(kiln__build *build)
{
    int rejected = 0;

    for (size_t i = 0; i < build->supply_count; i++) {
        kiln__build_input *supply = &build->supplies[i];

        if (supply->entry == NULL || supply->is_building ||
            !kiln__runtime_reject(build->context, supply->entry))
            continue;
        kiln__runtime_release(build->context, supply->entry);
        supply->entry = NULL;
        supply->is_rejected = 1;
        rejected = 1;
    }
    return rejected;
}

void kiln__build_was_read(void *env, size_t index, uint64_t nanoseconds)
{
    const kiln__build *build = env;

    for (size_t i = 0; i < build->supply_count; i++) {
        const kiln__build_input *supply = &build->supplies[i];
        const size_t before =
            supply->use != NULL ? build->request.function_count : 0;

        if (supply->place + before == index && supply->entry != NULL)
            kiln__runtime_was_read(build->context, supply->entry, nanoseconds);
    }
}

void kiln__build_free_supplies(kiln__build *build)
{
    for (size_t i = 0; i < build->supply_count; i++) {
        kiln__build_input *supply = &build->supplies[i];

        if (supply->entry != NULL && supply->is_building)
            kiln__runtime_fail(build->context, supply->entry);
        else if (supply->entry != NULL)
            kiln__runtime_release(build->context, supply->entry);
        kiln__encoder_dispose(&supply->key);
    }
    build->supply_count = 0;
}
