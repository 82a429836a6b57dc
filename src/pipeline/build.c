/* build.c - builds an artifact from a code instance, and loads it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "backends/backend.h"
#include "base/error.h"
#include "base/system/passing.h"
#include "base/system/thread.h"
#include "base/toolchain/ptxas.h"
#include "codegen_client/provenance.h"
#include "context/callback.h"
#include "context/counters.h"
#include "context/host_objects.h"
#include "context/keys/key.h"
#include "context/log.h"
#include "context/targets/target_traits.h"
#include "context/trace.h"
#include "context/types/types.h"
#include "frontend/typed_reports.h"
#include "pipeline/build.h"
#include "pipeline/config.h"
#include "pipeline/debug_lines.h"
#include "stores/stores.h"
#include "tiers/binary/deferred.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/frontends.h"
#include "tiers/runtime/bitcode_library.h"
#include "tiers/session.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_instance.h"

static const char *entry_symbol(kiln__build *build)
{
    char digest[KILN_DIGEST_TEXT_SIZE];
    char suffix[KILN__ENTRY_DIGITS + 2];

    if (build->config->entry_name != NULL)
        return build->config->entry_name;
    kiln_digest_text(kiln_code_digest(build->code), digest);
    snprintf(suffix, sizeof suffix, "_%.*s", KILN__ENTRY_DIGITS, digest);
    return kiln__build_symbol(&build->arena, "",
                              kiln__build_name(&build->arena, build->code),
                              suffix);
}

static uint8_t is_on(uint64_t setting)
{
    return setting == KILN_SWITCH_ON;
}

static void fill_settings(kiln__build *build)
{
    const kiln_config *config = build->config;

    build->settings = (kiln__codegen_settings){
        .backend = config->backend,
        .triple = config->triple,
        .processor = config->processor,
        .features = config->features,
        .options = config->options,
        .opt_level = (uint8_t)(config->opt_level - KILN_OPT_0),
        .debug_level = (uint8_t)config->debug_level,
        .bounds_checks = is_on(config->bounds_checks),
        .fast_math = is_on(config->fast_math),
        .contract = is_on(config->contract),
        .entry_abi = (uint8_t)config->entry_abi,
        .sites = (uint8_t)config->sites,
        .math_names = kiln__target_math(config).names,
        .maximum_group_size = (uint32_t)config->maximum_group,
        .minimum_groups = (uint32_t)config->minimum_groups,
        .maximum_registers = (uint32_t)config->maximum_registers,
        .unroll = (uint32_t)config->unroll,
        .required_group_size = {(uint32_t)config->required_group_x,
                                (uint32_t)config->required_group_y,
                                (uint32_t)config->required_group_z},
    };
}

static kiln_status lower_foreign(kiln__build *build, kiln_error **error)
{
    kiln__codegen_arguments arguments;

    KILN_TRY(kiln__build_lower(&build->module, build, build->code,
                               build->request.entry, error));
    build->request.module = build->module.data;
    build->request.module_size = build->module.size;
    if (kiln__build_describe(&arguments, build, build->code, 0) != KILN_OK)
        return kiln__error_no_memory(error);
    build->request.argument_types = arguments.types;
    build->request.argument_sizes = arguments.sizes;
    build->request.argument_alignments = arguments.alignments;
    build->request.argument_count = arguments.count;
    return kiln__build_calls_modules(build)
               ? kiln__build_gather_mixed(build, error)
               : kiln__build_gather_called(build, error);
}

/* ---- what the code generator calls back ---- */

/* Names what made the artifact: code generator, vendors' libraries, and
   tools. */
static const char *words(kiln__build *build, const kiln__codegen_result *result)
{
    kiln__tool_use uses[KILN__TOOL_COUNT + KILN__LIBRARY_COUNT];
    size_t count = 0;

    for (size_t i = 0; i < result->tool_count && i < KILN__TOOL_COUNT; i++)
        uses[count++] = (kiln__tool_use){.name = result->tools[i].name,
                                         .path = result->tools[i].path,
                                         .file = result->tools[i].file};
    for (size_t i = 0; i < KILN__LIBRARY_COUNT; i++)
        if (build->libraries[i] != NULL &&
            (i == 0 || build->libraries[i] != build->libraries[i - 1]))
            uses[count++] = kiln__library_as_tool(build->libraries[i]);
    return kiln__toolchain_words(build->context, &build->arena, uses, count);
}

/* Describes the kernel, without its arguments. */
static kiln_kernel_info describe_kernel(kiln__build *build,
                                        const kiln__codegen_result *result)
{
    kiln_kernel_info kernel = {
        .size = sizeof kernel,
        .name = build->request.entry,
        .method = kiln__build_name(&build->arena, build->code),
        .hidden_arguments = result->hidden_arguments,
        .static_local_bytes = result->static_local_bytes,
        .maximum_group_size = build->settings.maximum_group_size,
        .private_bytes = result->private_bytes,
        .registers = result->registers,
        .spill_bytes = result->spill_bytes,
        .sub_group_size = result->sub_group_size,
        .can_fail = result->can_fail,
        .allocates = result->allocates,
        .dynamic_local = result->dynamic_local,
        .any_block = result->any_block,
        .inner_dimension = result->inner_dimension,
        .stack_bytes = result->stack_bytes,
    };

    memcpy(kernel.required_group_size, build->settings.required_group_size,
           sizeof kernel.required_group_size);
    return kernel;
}

static void encode_deferred(kiln__encoder *out, const kiln__build *build,
                            const kiln__codegen_result *result)
{
    const kiln__deferred deferred = {.settings = &build->settings,
                                     .checks = result->checks,
                                     .check_count = result->check_count,
                                     .code = result->deferred,
                                     .code_size = result->deferred_size};

    if (result->deferred_size > 0)
        kiln__deferred_encode(out, &deferred);
}

static kiln_status make_artifact(kiln__build *build,
                                 const kiln__codegen_result *result,
                                 const kiln__encoder *deferred)
{
    size_t count;
    const kiln_type *const *types = kiln__code_types(build->code, &count);
    kiln_argument_info *arguments =
        kiln__arena_allocate_array(&build->arena, count + 1, sizeof *arguments);
    kiln_kernel_info kernel = describe_kernel(build, result);
    kiln__artifact_source source = {
        .format = result->format,
        .target = build->config->target,
        .relocation = result->relocation,
        .bytes = result->bytes,
        .size = result->size,
        .kernels = &kernel,
        .kernel_count = 1,
        .sites = result->sites,
        .site_count = result->site_count,
        .reports = result->reports,
        .report_size = result->report_size,
        .facts = result->facts,
        .fact_size = result->fact_size,
        .deferred = deferred->bytes,
        .deferred_size = deferred->size,
        .roots = result->site_count > 0 ? build->roots : NULL,
        .compile_ns = kiln__clock_ns() - build->start_ns,
        .toolchain = words(build, result),
    };
    kiln__encoder key;
    kiln_status status;

    if (arguments == NULL || source.toolchain == NULL)
        return KILN_ENOMEM;
    kernel.arguments = arguments;
    kernel.argument_count = count;
    kernel.argument_bytes = kiln__argument_layout(arguments, types, count);
    kiln__encoder_init(&key, &build->context->alloc);
    status = kiln__key_binary(&key, build->digest, build->config);
    if (status == KILN_OK) {
        source.key = kiln__encoder_digest(&key);
        source.encoded_key = key.bytes;
        source.encoded_key_size = key.size;
        status = kiln__artifact_new(&build->artifact, &source);
    }
    if (status == KILN_OK && source.roots != NULL) {
        kiln__roots_end_with_context(source.roots);
        build->roots = NULL;
    }
    kiln__encoder_dispose(&key);
    return status;
}

/* Each process builds such an artifact again, so the host is told. */
static void tell_session(const kiln__build *build, const char *reason)
{
    kiln_context *context = build->context;
    const uint64_t now = kiln__trace_begin(context);
    const kiln_event event = {
        .size = sizeof event,
        .kind = KILN_EVENT_SESSION,
        .name = kiln_code_name(build->code),
        .reason = reason != NULL ? reason : "",
    };
    const kiln__trace_note note = {.category = "session",
                                   .verb = "stays in this process:",
                                   .name = event.name,
                                   .tier = kiln__trace_tier(KILN_TIER_BINARY),
                                   .outcome = event.reason};

    kiln__trace_end(context, now, &note);
    kiln__tell_event(context, &event);
}

static kiln_status take_result(void *env, const kiln__codegen_result *result)
{
    kiln__build *build = env;
    kiln__encoder deferred;
    kiln_status status;

    if (build->request.form != KILN_EMIT_BINARY)
        return kiln__blob_copy(&build->text, &kiln__malloc, result->bytes,
                               result->size);
    if (result->relocation == KILN_RELOCATION_SESSION)
        tell_session(build, result->session_reason);
    kiln__encoder_init(&deferred, &build->context->alloc);
    encode_deferred(&deferred, build, result);
    status =
        deferred.failed ? KILN_ENOMEM : make_artifact(build, result, &deferred);
    kiln__encoder_dispose(&deferred);
    KILN_TRY(status);
    if (result->relocation == KILN_RELOCATION_SESSION)
        kiln__session_note(build->context, build->artifact,
                           result->session_reason);
    return KILN_OK;
}

/* Keeps an input that a tool failed on; the error that follows names the
   file. */
static void keep_input(void *env, const char *suffix, const void *bytes,
                       size_t size)
{
    kiln__build *build = env;
    char path[PATH_MAX];

    if (kiln__stores_keep_failed(build->context, path, sizeof path, suffix,
                                 bytes, size) == KILN_OK)
        build->kept = kiln__arena_text(&build->arena, path);
}

static void take_failure(void *env, kiln_status status, const char *message)
{
    kiln__build *build = env;
    const char *kept = build->kept;

    kiln__error_set(&build->error, status, "%s: %s%s%s",
                    kiln_code_name(build->code), message,
                    kept != NULL ? "; its input is kept in " : "",
                    kept != NULL ? kept : "");
}

static void fatal(void *env, const char *message)
{
    kiln__build *build = env;
    kiln_error *error = NULL;

    kiln__error_set(&error, kiln__fatal_status(message),
                    "%s: LLVM cannot go on: %s", kiln_code_name(build->code),
                    message);
    if (kiln__fatal_status(message) == KILN_ECODEGEN)
        (void)kiln__build_reject_supplies(build);
    build->fatal(build->fatal_env, error);
}

static void stage(void *env, int32_t which, uint64_t nanoseconds)
{
    kiln__build *build = env;

    kiln__stage_ended(build->context, which, kiln_code_name(build->code),
                      nanoseconds);
}

static void take_log(void *env, int32_t level, const char *line)
{
    kiln__build *build = env;

    kiln__log(build->context, level, "%s: %s", kiln_code_name(build->code),
              line);
}

static int is_canceled(void *env)
{
    const kiln__build *build = env;

    return build->is_canceled != NULL &&
           build->is_canceled(build->canceled_env);
}

/* ---- the build itself ---- */

static kiln_status gather(kiln__build *build, kiln_error **error)
{
    if (kiln__build_is_mixed(build))
        KILN_TRY(kiln__build_gather_mixed(build, error));
    else if (kiln__build_gather(&build->functions, build, build->closure,
                                build->closure_count, 1) != KILN_OK)
        return kiln__error_no_memory(error);
    if (build->config->debug_level != KILN_DEBUG_NONE &&
        kiln__lines_digest(&build->digest, build->code, build->functions,
                           build->closure_count,
                           &build->context->alloc) != KILN_OK)
        return kiln__error_no_memory(error);
    build->request.functions = build->functions;
    build->request.function_count = build->closure_count;
    return KILN_OK;
}

static kiln_status prepare(kiln__build *build, int32_t form, kiln_error **error)
{
    kiln_frontend *frontend = kiln__code_frontend(build->code);
    kiln_status status;

    fill_settings(build);
    build->digest = kiln_code_digest(build->code);
    build->request = (kiln__codegen_request){
        .settings = &build->settings,
        .entry = entry_symbol(build),
        .form = form,
        .env = build,
        .finish = take_result,
        .keep = keep_input,
        .need = kiln__build_note_need,
        .fail = take_failure,
        .fatal = fatal,
        .stage = stage,
        .was_read = kiln__build_was_read,
        .log = take_log,
        .is_canceled = is_canceled,
    };
    if (build->request.entry == NULL)
        return kiln__error_no_memory(error);
    status =
        kiln__code_closure(&build->closure, &build->closure_count, build->code);
    if (status == KILN_OK)
        KILN_TRY(kiln__build_plan_supplies(build, error));
    if (status == KILN_OK && frontend->ops.lower != NULL) {
        if (kiln__job_digest(&build->digest, build->code, build->config) !=
            KILN_OK)
            return kiln__error_no_memory(error);
        KILN_TRY(kiln__build_plan_sites(build, error));
        return lower_foreign(build, error);
    }
    if (status == KILN_OK)
        KILN_TRY(
            kiln__collective_check(build->code, &build->context->alloc, error));
    if (status == KILN_OK)
        KILN_TRY(kiln__device_findings(build->code, build->config,
                                       &build->context->alloc, error));
    if (status != KILN_OK)
        return kiln__error_no_memory(error);
    if (kiln__build_is_mixed(build))
        KILN_TRY(kiln__build_plan_sites(build, error));
    return gather(build, error);
}

kiln_status kiln__build_new(kiln__build **out, const kiln_code *code,
                            const kiln_config *config, int32_t form,
                            kiln_error **error)
{
    kiln_context *context = config->context;
    kiln__build *build = kiln__allocate(&context->alloc, sizeof *build);
    kiln_status status;

    if (build == NULL)
        return kiln__error_no_memory(error);
    build->context = context;
    build->code = code;
    build->config = config;
    build->start_ns = kiln__clock_ns();
    kiln__arena_init(&build->arena, &context->alloc);
    status = prepare(build, form, error);
    if (status == KILN_OK)
        *out = build;
    else
        kiln__build_free(build);
    return status;
}

void kiln__build_free(kiln__build *build)
{
    const kiln_alloc *alloc;

    if (build == NULL)
        return;
    alloc = &build->context->alloc;
    kiln_artifact_release(build->artifact);
    kiln_blob_release(&build->text);
    kiln_blob_release(&build->module);
    for (size_t i = 0; i < build->modules.count; i++)
        kiln_blob_release(&build->modules.items[i]);
    kiln__array_dispose(&build->context->alloc, &build->modules);
    kiln_error_free(build->error);
    if (build->begun != NULL)
        kiln__fork_remove(&build->context->fork, &build->begun_guard);
    kiln__ptxas_drop(build->begun);
    kiln__build_free_supplies(build);
    kiln__array_dispose(alloc, &build->needs);
    kiln__roots_free(build->roots);
    kiln__deallocate(alloc, build->closure,
                     build->closure_count * sizeof *build->closure);
    kiln__arena_dispose(&build->arena);
    kiln__deallocate(alloc, build, sizeof *build);
}

/* Starts tools before anything that takes time. If code is, or may be,
   generated in a worker process, that process starts its own tools. */
static void begin_tools(kiln__build *build)
{
    const kiln__target_traits *traits = kiln__target_traits_of(build->config);

    if (traits->begin_tool == NULL || build->request.form != KILN_EMIT_BINARY ||
        kiln__build_is_mixed(build) ||
        build->context->codegen_mode == KILN_CODEGEN_WORKER)
        return;
    build->begun = traits->begin_tool(&build->settings);
    build->request.begun = build->begun;
    build->begun_guard =
        (kiln__fork_guard){NULL, kiln__ptxas_forget, build->begun, NULL};
    if (build->begun != NULL)
        kiln__fork_add(&build->context->fork, &build->begun_guard);
}

/* A foreign module may need functions of libraries that only the code generator
   finds. Then the request is repeated with them. */
static kiln_status generate(kiln__build *build,
                            const kiln__generator *generator)
{
    kiln_status status;

    for (;;) {
        KILN_TRY(kiln__build_get_supplies(build, generator, &build->error));
        status = kiln__generate_by(generator, &build->request);
        if (status != KILN_EAGAIN || build->needs.count == 0)
            return status;
        kiln_error_free(build->error);
        build->error = NULL;
        KILN_TRY(kiln__build_meet_needs(build, &build->error));
    }
}

/* Bitcode from a store may be useless although its checksums are correct: then
   the build is repeated with bitcode made here. */
static int is_supplied_badly(kiln__build *build, kiln_status status)
{
    return (status == KILN_ECODEGEN || status == KILN_ECORRUPT) &&
           kiln__build_reject_supplies(build);
}

kiln_status kiln__build_run(kiln__build *build,
                            void (*on_fatal)(void *env, kiln_error *error),
                            void *env, kiln_error **error)
{
    kiln__generator generator;
    kiln_status status;

    build->fatal = on_fatal;
    build->fatal_env = env;
    begin_tools(build);
    KILN_TRY(kiln__generator_open(&generator, build->context,
                                  kiln__build_is_mixed(build), error));
    status = generate(build, &generator);
    if (is_supplied_badly(build, status)) {
        kiln_error_free(build->error);
        build->error = NULL;
        status = generate(build, &generator);
    }
    if (status == KILN_OK)
        return KILN_OK;
    if (build->error == NULL)
        kiln__error_set(&build->error, status, "%s: %s",
                        kiln_code_name(build->code), kiln_status_text(status));
    if (error != NULL) {
        *error = build->error;
        build->error = NULL;
    }
    return status;
}

void kiln__build_watch(kiln__build *build, int (*canceled)(void *env),
                       void *env)
{
    build->is_canceled = canceled;
    build->canceled_env = env;
}

const kiln_config *kiln__build_config(const kiln__build *build)
{
    return build->config;
}

kiln_digest kiln__build_digest(const kiln__build *build)
{
    return build->digest;
}

int kiln__build_is_bound(const kiln__build *build)
{
    return build->roots != NULL;
}

const kiln_artifact *kiln__build_artifact(const kiln__build *build)
{
    return build->artifact;
}

kiln_status kiln__build_text(const kiln__build *build, kiln_blob *out)
{
    return kiln__blob_copy(out, &kiln__malloc, build->text.data,
                           build->text.size);
}

/* An artifact from a store may describe its kernel wrongly. */
static kiln_status check_arguments(const kiln_kernel_info *info,
                                   const kiln_code *code, kiln_error **error)
{
    kiln_argument_info arguments[KILN_ARGUMENTS_MAX];
    size_t count;
    const kiln_type *const *types = kiln__code_types(code, &count);
    int fits =
        info->argument_count == count &&
        info->argument_bytes == kiln__argument_layout(arguments, types, count);

    for (size_t i = 0; fits && i < count; i++)
        fits = arguments[i].offset == info->arguments[i].offset &&
               arguments[i].size == info->arguments[i].size;
    if (fits)
        return KILN_OK;
    return kiln__error_set(error, KILN_ECORRUPT,
                           "%s: the artifact takes other arguments",
                           kiln_code_name(code));
}

/* One artifact may serve two methods: each kernel has its own method's name. */
static void name_kernel(kiln_kernel *kernel)
{
    kernel->info = kiln_artifact_kernel(kernel->artifact, 0);
    if (kernel->info->method != NULL &&
        strcmp(kernel->info->method, kiln_code_name(kernel->code)) == 0)
        return;
    kernel->own_info = *kernel->info;
    kernel->own_info.method = kiln_code_name(kernel->code);
    kernel->info = &kernel->own_info;
}

kiln_status kiln__build_load(kiln_kernel **out, const kiln_artifact *artifact,
                             const kiln_code *code, const kiln_config *config,
                             kiln_error **error)
{
    kiln_context *context = config->context;
    uint64_t start = kiln__clock_ns();
    kiln_kernel *kernel;
    size_t count;
    kiln_status status;

    KILN_TRY(check_arguments(kiln_artifact_kernel(artifact, 0), code, error));
    kernel = kiln__allocate(&context->alloc, sizeof *kernel);
    if (kernel == NULL)
        return kiln__error_no_memory(error);
    kernel->context = context;
    kernel->artifact = kiln_artifact_retain(artifact);
    kernel->config = config;
    kernel->code = code;
    name_kernel(kernel);
    kernel->types = kiln__code_types(code, &count);
    status = kiln__kernel_load(kernel, error);
    if (status != KILN_OK) {
        kiln_artifact_release(artifact);
        kiln__deallocate(&context->alloc, kernel, sizeof *kernel);
        return status;
    }
    *out = kernel;
    kiln__stage_ended(context, KILN_STAGE_LOAD, kiln_code_name(code),
                      kiln__clock_ns() - start);
    return KILN_OK;
}

/* The artifact may be for another device than the one here. In mode MUST_HIT
   nothing can be built instead, and the driver's error is more useful. */
static int is_for_other_device(const kiln_config *config, kiln_status status)
{
    return status == KILN_ENODEVICE &&
           kiln__stores_mode(config->context) != KILN__CACHE_MUST_HIT &&
           kiln__kernel_has_device(config);
}

kiln_status kiln__build_load_found(kiln_kernel **out,
                                   const kiln_artifact *artifact,
                                   const kiln_code *code,
                                   const kiln_config *config,
                                   kiln_error **error)
{
    kiln_error *fault = NULL;
    kiln_status status = kiln__artifact_check(artifact, code, config, &fault);

    if (status == KILN_OK)
        status = kiln__build_load(out, artifact, code, config, &fault);
    if (kiln__artifact_is_unusable(artifact, status) ||
        is_for_other_device(config, status)) {
        kiln__artifact_reject(config->context, artifact);
        kiln_error_free(fault);
        fault = NULL;
        status = KILN_OK;
    }
    if (error != NULL)
        *error = fault;
    else
        kiln_error_free(fault);
    return status;
}
