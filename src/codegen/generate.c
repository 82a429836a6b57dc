/* generate.c - runs one request through its stages, from typed IR to a
   payload. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Linker.h>

#include "base/data/array.h"
#include "base/error.h"
#include "base/system/thread.h"
#include "codegen/devmath/devmath.h"
#include "codegen/foreign/foreign.h"
#include "codegen/foreign/math/foreign_math.h"
#include "codegen/generate.h"
#include "codegen/lower/lower_job.h"
#include "codegen/module/codegen_stages.h"
#include "codegen/vecmath/vecmath.h"
#include "kiln/compile.h"
#include "kiln/kernel.h"

/*
 * This is the map of libkiln-codegen: run_stages() is the list of stages, and
 * codegen_job.h describes what passes between them. Each job has its own LLVM
 * context, module and machine, so jobs run in parallel. Every message of LLVM
 * reaches on_diagnostic(); the first error becomes the job's. All of a job runs
 * inside kiln__llvm_guard(), since LLVM throws when memory runs out. After that
 * the job is abandoned, and what LLVM holds is neither used nor freed.
 */

/* What a job produces: the payload or a text, with its format. */
typedef struct product {
    kiln_blob bytes;
    const char *format;
    int32_t relocation;
    uint32_t stack_bytes;
    const void *reports;
    size_t report_size;
} product;

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *env)
{
    kiln__codegen_job *job = env;
    const LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    char *text;

    if (severity != LLVMDSError && severity != LLVMDSWarning)
        return;
    text = LLVMGetDiagInfoDescription(info);
    if (kiln__frames_take(job, text)) {
        LLVMDisposeMessage(text);
        return;
    }
    if (severity == LLVMDSError) {
        kiln__job_fail_llvm(job, KILN_ECODEGEN, "LLVM", text);
        return;
    }
    kiln__join_lines(text);
    if (job->request->log != NULL)
        job->request->log(job->request->env, KILN_LOG_DEBUG, text);
    LLVMDisposeMessage(text);
}

/* ---- stages ---- */

static kiln_status lower(kiln__codegen_job *job)
{
    KILN_TRY(kiln__foreign_externals(job));
    if (!kiln__job_has_foreign(job))
        return kiln__lower(job);
    if (job->request->module == NULL) {
        KILN_TRY(kiln__lower(job));
    } else {
        KILN_TRY(kiln__foreign_lower(job));
        KILN_TRY(kiln__lower_called(job));
    }
    return kiln__foreign_need(job);
}

/* At most so many undefined functions are named in one message. */
#define UNDEFINED_MAX 20

/* A hidden declaration does not count: the job's other module defines it. */
static int is_undefined(const kiln__codegen_job *job, LLVMValueRef f,
                        const char *name)
{
    return LLVMIsDeclaration(f) && LLVMGetIntrinsicID(f) == 0 &&
           LLVMGetVisibility(f) != LLVMHiddenVisibility &&
           !job->backend->symbols.may_import(name);
}

/* What is still undefined must be an intrinsic or a function that the backend's
   images may import. The message names all others. */
static kiln_status check_undefined(kiln__codegen_job *job, LLVMModuleRef module)
{
    const char *list = "";
    size_t count = 0, size;
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(module); f != NULL && list != NULL;
         f = LLVMGetNextFunction(f)) {
        const char *name = LLVMGetValueName2(f, &size);

        if (is_undefined(job, f, name) && count++ < UNDEFINED_MAX)
            list = kiln__arena_format(&job->arena, "%s%s'%s'", list,
                                      count > 1 ? ", " : "", name);
    }
    if (count == 0)
        return KILN_OK;
    return kiln__job_fail(job, KILN_ECODEGEN, "undefined function%s %s%s",
                          count > 1 ? "s" : "", list != NULL ? list : "",
                          count > UNDEFINED_MAX ? ", and more" : "");
}

/* Foreign modules are always verified, our own only where asserts are on. */
static kiln_status verify(kiln__codegen_job *job, LLVMModuleRef module)
{
    char *message = NULL;

#ifdef NDEBUG
    if (!kiln__job_has_foreign(job))
        return KILN_OK;
#endif
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message) != 0)
        return kiln__job_fail_llvm(job, KILN_ECODEGEN, "invalid LLVM IR",
                                   message);
    LLVMDisposeMessage(message);
    return KILN_OK;
}

static kiln_status link_module(kiln__codegen_job *job)
{
    if (job->request->module == NULL)
        KILN_TRY(kiln__link_functions(job));
    KILN_TRY(kiln__link_imports(job));
    kiln__devmath_define(job);
    KILN_TRY(check_undefined(job, job->module));
    return kiln__check_import_types(job, job->module);
}

static kiln_status link(kiln__codegen_job *job)
{
    KILN_TRY(link_module(job));
    job->linked = 1;
    job->defers = kiln__defers(job);
    if (job->checked_module != NULL) {
        kiln__job_switch(job);
        KILN_TRY(link_module(job));
        kiln__job_switch(job);
    }
    KILN_TRY(job->backend->payload.wrap(job));
    kiln__debug_end(job);
    kiln__debug_take(job);
    if (job->checked_module != NULL)
        KILN_TRY(verify(job, job->checked_module));
    KILN_TRY(verify(job, job->module));
    return job->defers ? kiln__defer(job) : KILN_OK;
}

/* The checked module is not optimised, so it calls its mathematics. */
static kiln_status optimise(kiln__codegen_job *job)
{
    int has_mathematics;

    kiln__vecmath_mark(job);
    kiln__foreign_keep_loops(job->module);
    if (job->checked_module != NULL)
        kiln__foreign_keep_loops(job->checked_module);
    KILN_TRY(kiln__job_outcome(job, kiln__optimise(job)));
    has_mathematics = kiln__vecmath_expand(job, job->module);
    if (job->checked_module != NULL)
        (void)kiln__vecmath_expand(job, job->checked_module);
    return has_mathematics ? kiln__optimise_inlined(job) : KILN_OK;
}

/* ---- the product of a job ---- */

/* Joins the text of the module and that of the checked module. */
static kiln_status join_texts(kiln__codegen_job *job, const char *first,
                              const char *second, const char *format,
                              product *out)
{
    kiln__text text;

    kiln__text_init(&text, &kiln__malloc);
    kiln__text_add(&text, first);
    kiln__text_add(&text, second);
    out->format = format;
    if (kiln__text_to_blob(&text, &out->bytes) != KILN_OK)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    return KILN_OK;
}

/* Nothing is made of the modules afterwards, so the second one is linked into
   the first, for a text that LLVM's tools take. */
static kiln_status take_text(kiln__codegen_job *job, const char *format,
                             product *out)
{
    char *text;
    kiln_status status;

    if (job->is_known && job->checked_module != NULL)
        KILN_TRY(kiln__join_entries(job));
    if (job->checked_module != NULL) {
        const LLVMModuleRef checked = job->checked_module;

        job->checked_module = NULL;
        if (LLVMLinkModules2(job->module, checked) != 0)
            return kiln__job_fail(job, KILN_ECODEGEN,
                                  "the two modules cannot be linked");
        KILN_TRY(job->status);
    }
    text = LLVMPrintModuleToString(job->module);
    status = join_texts(job, text, "", format, out);
    LLVMDisposeMessage(text);
    return status;
}

/* What code generation makes of the two modules. The second may be absent. */
typedef struct emitted {
    LLVMMemoryBufferRef buffers[2];
    size_t count;
} emitted;

static LLVMMemoryBufferRef emit_by_machine(const kiln__codegen_job *job,
                                           LLVMModuleRef module, int as_text,
                                           int is_large)
{
    const int is_own = (!kiln__job_has_foreign(job) || job->is_small) &&
                       !job->backend->is_scheduled;
    const kiln__llvm_emission what = {
        .as_text = as_text,
        .without = (is_own ? KILN__WITHOUT_COSTLY : 0) |
                   (is_large ? KILN__WITHOUT_SQUARE : 0),
        .rare = job->is_known
                    ? LLVMGetNamedFunction(module, job->request->entry)
                    : NULL,
    };

    return kiln__llvm_emit(job->machine, module, &what);
}

/* Emits one module. A large module, and the checked one, may be emitted as at
   level 0. */
static kiln_status emit_module(kiln__codegen_job *job, LLVMModuleRef module,
                               LLVMCodeGenFileType type, emitted *out)
{
    const int as_text = type == LLVMAssemblyFile;
    const int is_large = kiln__code_cut_large(job, module);
    const int is_quick = is_large ? kiln__code_is_quick(job, module)
                                  : module == job->checked_module;
    LLVMMemoryBufferRef buffer;
    int level = 0;

    if (is_quick)
        level = kiln__llvm_begin_quick(job->machine);
    buffer = job->backend->machine != NULL
                 ? job->backend->machine->emit(job, module, as_text)
                 : emit_by_machine(job, module, as_text, is_large);
    if (is_quick)
        kiln__llvm_end_quick(job->machine, level);
    if (buffer == NULL)
        return kiln__job_fail(job, KILN_ECODEGEN, "no code for %s",
                              job->settings->triple);
    out->buffers[out->count++] = buffer;
    return job->status; /* a diagnostic may have failed the job */
}

static kiln_status emit_modules(kiln__codegen_job *job,
                                LLVMCodeGenFileType type, emitted *out)
{
    KILN_TRY(emit_module(job, job->module, type, out));
    if (job->checked_module == NULL)
        return KILN_OK;
    return emit_module(job, job->checked_module, type, out);
}

static void dispose_emitted(emitted *made)
{
    for (size_t i = 0; i < made->count; i++)
        LLVMDisposeMemoryBuffer(made->buffers[i]);
}

static kiln_status emit_assembly(kiln__codegen_job *job, product *out)
{
    emitted made = {.count = 0};
    kiln_status status = emit_modules(job, LLVMAssemblyFile, &made);

    if (status == KILN_OK)
        status = join_texts(job, LLVMGetBufferStart(made.buffers[0]),
                            made.count > 1 ? LLVMGetBufferStart(made.buffers[1])
                                           : "",
                            "asm", out);
    dispose_emitted(&made);
    return status;
}

static kiln_status emit_binary(kiln__codegen_job *job, product *out)
{
    emitted made = {.count = 0};
    kiln__object objects[2];
    kiln_status status = emit_modules(
        job, job->backend->emits_text ? LLVMAssemblyFile : LLVMObjectFile,
        &made);

    for (size_t i = 0; i < made.count; i++)
        objects[i] = (kiln__object){LLVMGetBufferStart(made.buffers[i]),
                                    LLVMGetBufferSize(made.buffers[i])};
    if (status == KILN_OK)
        status =
            job->backend->payload.finish(job, objects, made.count, &out->bytes);
    if (status == KILN_OK)
        status = kiln__foreign_sites_place(job, &out->bytes);
    dispose_emitted(&made);
    out->format = job->format != NULL ? job->format : job->backend->format;
    return status;
}

static kiln_status emit(kiln__codegen_job *job, product *out)
{
    if (job->request->form == KILN_EMIT_ASM)
        return emit_assembly(job, out);
    return emit_binary(job, out);
}

/* ---- the list of stages ---- */

/* Tells the request how long the stage took; returns the time it ended. */
static uint64_t stage_ended(const kiln__codegen_job *job, int32_t stage,
                            uint64_t began)
{
    const uint64_t now = kiln__clock_ns();

    if (job->request->stage != NULL)
        job->request->stage(job->request->env, stage, now - began);
    return now;
}

/* Whatever a process does first is slow. So the function is lowered twice, and
   the second run tells what a kernel would pay to lower it. */
static kiln_status lower_and_time(kiln__codegen_job *job)
{
    LLVMModuleRef kept = job->module;
    kiln_status status;
    uint64_t start;

    job->module = LLVMCloneModule(kept);
    status = kiln__lower_runtime_function(job);
    LLVMDisposeModule(job->module);
    job->module = kept;
    KILN_TRY(kiln__job_outcome(job, status));
    start = kiln__clock_ns();
    status = kiln__lower_runtime_function(job);
    job->make_ns = kiln__clock_ns() - start;
    return kiln__job_outcome(job, status);
}

/* Makes bitcode of one runtime function. */
static kiln_status run_function(kiln__codegen_job *job, product *out)
{
    const uint64_t time = kiln__clock_ns();

    KILN_TRY(kiln__target_open(job));
    KILN_TRY(lower_and_time(job));
    KILN_TRY(verify(job, job->module));
    KILN_TRY(kiln__write_bitcode(job, &out->bytes));
    stage_ended(job, KILN_STAGE_LOWER, time);
    return KILN_OK;
}

/* Makes bitcode of what a library defines. */
static kiln_status run_closure(kiln__codegen_job *job, product *out)
{
    const uint64_t time = kiln__clock_ns();

    KILN_TRY(kiln__job_outcome(job, kiln__closure_extract(job)));
    KILN_TRY(kiln__write_bitcode(job, &out->bytes));
    job->make_ns = stage_ended(job, KILN_STAGE_LINK, time) - time;
    return KILN_OK;
}

/* The stages of a module that is complete, and perhaps optimised. */
static kiln_status finish_module(kiln__codegen_job *job, product *out)
{
    uint64_t time = kiln__clock_ns();

    KILN_TRY(kiln__job_outcome(job, optimise(job)));
    if (kiln__job_has_foreign(job))
        KILN_TRY(kiln__foreign_check_code(job));
    if (job->backend->adapt != NULL)
        KILN_TRY(kiln__job_outcome(job, job->backend->adapt(job)));
    time = stage_ended(job, KILN_STAGE_OPTIMISE, time);
    if (job->request->form == KILN_EMIT_LLVM_OPT)
        return take_text(job, "llvm", out);

    kiln__foreign_sites_define(job);
    out->relocation = kiln__relocation_class(job);
    kiln__frames_ask(job, job->module);
    if (job->checked_module != NULL)
        kiln__frames_ask(job, job->checked_module);
    KILN_TRY(job->status);
    KILN_TRY(kiln__job_outcome(job, emit(job, out)));
    out->stack_bytes = kiln__frames_stack(job);
    KILN_TRY(job->status);
    stage_ended(job, KILN_STAGE_EMIT, time);
    return KILN_OK;
}

static kiln_status run_kernel(kiln__codegen_job *job, product *out)
{
    uint64_t time = kiln__clock_ns();

    KILN_TRY(kiln__target_open(job));
    KILN_TRY(kiln__job_outcome(job, lower(job)));
    time = stage_ended(job, KILN_STAGE_LOWER, time);
    KILN_TRY(kiln__job_outcome(job, link(job)));
    stage_ended(job, KILN_STAGE_LINK, time);
    if (job->request->form == KILN_EMIT_LLVM)
        return take_text(job, "llvm", out);
    if (job->request->module != NULL)
        kiln__foreign_find_small(job);
    return finish_module(job, out);
}

static kiln_status run_stages(kiln__codegen_job *job, product *out)
{
    out->format = "bitcode";
    switch (job->request->form) {
    case KILN__EMIT_FUNCTION:
        return run_function(job, out);
    case KILN__EMIT_CLOSURE:
        return run_closure(job, out);
    case KILN__EMIT_DEFERRED:
        KILN_TRY(kiln__job_outcome(job, kiln__deferred_open(job)));
        return finish_module(job, out);
    default:
        return run_kernel(job, out);
    }
}

/* Reports are taken for text forms, too: whoever runs the text has to decode
   what the code reports. */
static kiln_status take_reports(kiln__codegen_job *job, product *out)
{
    if (job->reports == NULL || job->backend->payload.reports == NULL)
        return KILN_OK;
    out->reports = job->backend->payload.reports(job, &out->report_size);
    return job->status;
}

/* ---- opening and closing a job ---- */

static int is_form(int32_t form)
{
    return (form >= KILN_EMIT_LLVM && form <= KILN_EMIT_BINARY) ||
           form == KILN__EMIT_FUNCTION || form == KILN__EMIT_CLOSURE ||
           form == KILN__EMIT_DEFERRED;
}

static kiln_status job_open(kiln__codegen_job *job,
                            const kiln__codegen_request *request)
{
    *job = (kiln__codegen_job){
        .request = request,
        .settings = request->settings,
        .backend = kiln__codegen_backend_find(request->settings->backend),
    };
    kiln__arena_init(&job->arena, &kiln__malloc);
    if (job->backend == NULL)
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "no code generation for backend '%s'",
                              request->settings->backend);
    if (!is_form(request->form))
        return kiln__job_fail(job, KILN_EINVAL, "no form %d to emit",
                              (int)request->form);
    if (request->form <= KILN_EMIT_BINARY &&
        job->backend->symbols.is_taken != NULL &&
        job->backend->symbols.is_taken(request->entry))
        return kiln__job_fail(job, KILN_EINVAL,
                              "a kernel for backend '%s' cannot have the name "
                              "'%s': code calls another function by it",
                              request->settings->backend, request->entry);

    job->context = LLVMContextCreate();
    /* Names are kept for readers of the text. The parser of texts needs them,
       too. */
    LLVMContextSetDiscardValueNames(job->context,
                                    request->form == KILN_EMIT_BINARY &&
                                        !kiln__request_has_foreign(request));
    LLVMContextSetDiagnosticHandler(job->context, on_diagnostic, job);
    job->module =
        LLVMModuleCreateWithNameInContext(request->entry, job->context);
    return KILN_OK;
}

static void close_externals(kiln__codegen_job *job)
{
    for (size_t i = 0;
         job->externals != NULL && i < job->request->function_count; i++)
        if (job->externals[i].module != NULL)
            LLVMDisposeModule(job->externals[i].module);
}

static void job_close(kiln__codegen_job *job)
{
    kiln__debug_end(job);
    if (job->layout != NULL)
        LLVMDisposeTargetData(job->layout);
    if (job->module != NULL)
        LLVMDisposeModule(job->module);
    if (job->checked_module != NULL)
        LLVMDisposeModule(job->checked_module);
    if (job->deferred.release != NULL)
        job->deferred.release(&job->deferred);
    close_externals(job);
    if (job->own_machine != NULL)
        LLVMDisposeTargetMachine(job->own_machine);
    if (job->context != NULL)
        LLVMContextDispose(job->context);
    kiln__arena_dispose(&job->arena);
}

/* The host runs every kernel in groups that the grid cuts. */
static int32_t blocks_of(const kiln__codegen_job *job)
{
    if (job->backend->device != NULL)
        return job->any_block;
    return job->asks_no_group ? KILN_ANY_BLOCK_ALIKE : KILN_ANY_BLOCK_RUNS;
}

static kiln_status hand_over(const kiln__codegen_job *job, const product *made)
{
    const kiln__codegen_result result = {
        .reports = made->reports,
        .report_size = made->report_size,
        .facts = job->facts,
        .fact_size = job->fact_size,
        .deferred = job->deferred.data,
        .deferred_size = job->deferred.size,
        .checks = job->checks,
        .check_count = job->defers ? job->check_count : 0,
        .hidden_arguments = job->hidden_arguments,
        .registers = job->registers,
        .spill_bytes = job->spill_bytes,
        .tools = job->tools,
        .tool_count = job->tool_count,
        .bytes = made->bytes.data,
        .size = made->bytes.size,
        .format = made->format,
        .relocation = made->relocation,
        .session_reason = job->session_reason,
        .sites = job->sites,
        .site_count = job->site_count,
        .can_fail = job->can_fail,
        .allocates = job->uses_heap,
        .dynamic_local = job->dynamic_local,
        .any_block = blocks_of(job),
        .inner_dimension = job->asks_no_group ? job->inner_dimension : 0,
        .stack_bytes = made->stack_bytes,
        .static_local_bytes = job->static_local_bytes,
        .private_bytes = job->private_bytes,
        .sub_group_size = job->sub_group_size,
        .make_ns = job->make_ns,
    };

    return job->request->finish(job->request->env, &result);
}

/* A request's job and its result, for run_attempt(). */
typedef struct attempt {
    kiln__codegen_job job;
    product made;
    kiln_status status;
} attempt;

static void run_attempt(void *env)
{
    attempt *a = env;

    a->status = job_open(&a->job, a->job.request);
    if (a->status == KILN_OK)
        a->status = run_stages(&a->job, &a->made);
    if (a->status == KILN_OK)
        a->status = take_reports(&a->job, &a->made);
}

kiln_status kiln__generate(const kiln__codegen_request *request)
{
    attempt a = {.job = {.request = request}};

    if (kiln__llvm_guard(run_attempt, &a) != 0) {
        /* LLVM was left in an unknown state. What it holds is never touched
           again. */
        kiln__codegen_backends_abandon();
        kiln__target_abandon();
        request->fail(request->env, KILN_ENOMEM, "LLVM ran out of memory");
        return KILN_ENOMEM;
    }
    if (a.status == KILN_OK)
        a.status = hand_over(&a.job, &a.made);
    else
        request->fail(request->env, a.status,
                      a.job.message != NULL ? a.job.message : "out of memory");
    if (a.made.bytes.release != NULL)
        a.made.bytes.release(&a.made.bytes);
    job_close(&a.job);
    return a.status;
}
