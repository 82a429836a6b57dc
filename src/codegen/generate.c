/* generate.c - one request through its stages, from typed IR to a payload. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>
#include <time.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "codegen_parts.h"
#include "kiln/compile.h"
#include "kiln/kernel.h"
#include "report.h"

/*
 * Each job has its LLVM context, module and machine to itself, so jobs run at
 * the same time. Everything that LLVM has to say comes to on_diagnostic();
 * the first error is the job's.
 */

/* What a job has made; the payload or text, and how it is called. */
typedef struct product {
    kiln_blob bytes;
    const char *format;
    int32_t relocation;
} product;

/* What one function may need of the stack, in bytes. Kernels run on threads of
   the host's, too. */
#define FRAME_MAX "524288"

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *env)
{
    kiln__codegen_job *job = env;
    const LLVMDiagnosticSeverity severity = LLVMGetDiagInfoSeverity(info);
    char *text;

    if (severity != LLVMDSError && severity != LLVMDSWarning)
        return;
    text = LLVMGetDiagInfoDescription(info);
    if (severity == LLVMDSError || strstr(text, "stack frame size") != NULL) {
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
    return job->request->module != NULL ? kiln__foreign_lower(job)
                                        : kiln__lower(job);
}

/* What is still undefined must be an intrinsic or a function that the
   backend's images may import. */
static kiln_status check_undefined(kiln__codegen_job *job)
{
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f)) {
        size_t size;
        const char *name = LLVMGetValueName2(f, &size);

        if (LLVMIsDeclaration(f) && LLVMGetIntrinsicID(f) == 0 &&
            !job->backend->may_import(name))
            return kiln__job_fail(job, KILN_ECODEGEN, "undefined function '%s'",
                                  name);
    }
    return KILN_OK;
}

/* Foreign modules always; our own where asserts are on. */
static kiln_status verify(kiln__codegen_job *job)
{
    char *message = NULL;

#ifdef NDEBUG
    if (job->request->module == NULL)
        return KILN_OK;
#endif
    if (LLVMVerifyModule(job->module, LLVMReturnStatusAction, &message) != 0)
        return kiln__job_fail_llvm(job, KILN_ECODEGEN, "invalid LLVM IR",
                                   message);
    LLVMDisposeMessage(message);
    return KILN_OK;
}

static kiln_status link(kiln__codegen_job *job)
{
    KILN_TRY(check_undefined(job));
    KILN_TRY(job->backend->wrap(job));
    return verify(job);
}

/* Many passes take time that grows with the square of a function's size. One
   of more nodes than this gets those that do not. */
#define LARGE 20000

static const char *pipeline(const kiln__codegen_job *job)
{
    static const char *const levels[] = {"default<O0>", "default<O1>",
                                         "default<O2>", "default<O3>"};
    const unsigned level =
        job->settings->opt_level < 3 ? job->settings->opt_level : 3;

    if (level > 0 && job->largest > LARGE)
        return "always-inline,function(sroa,early-cse,simplifycfg),globaldce";
    return levels[level];
}

static kiln_status optimise(kiln__codegen_job *job)
{
    const int vectorise = job->settings->opt_level >= 2;
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error;

    LLVMPassBuilderOptionsSetSLPVectorization(options, vectorise);
    LLVMPassBuilderOptionsSetLoopVectorization(options, vectorise);
    error = LLVMRunPasses(job->module, pipeline(job), job->machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error != NULL) {
        char *text = LLVMGetErrorMessage(error);

        kiln__job_fail(job, KILN_ECODEGEN, "optimiser: %s", text);
        LLVMDisposeErrorMessage(text);
    }
    return job->status;
}

/* LLVM warns of a larger frame, which makes the job fail. */
static void limit_frames(const kiln__codegen_job *job)
{
    static const char name[] = "warn-stack-size";
    LLVMAttributeRef limit = LLVMCreateStringAttribute(
        job->context, name, sizeof name - 1, FRAME_MAX, sizeof FRAME_MAX - 1);
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMAddAttributeAtIndex(
                f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, limit);
}

/* ---- what a job gives ---- */

static kiln_status take_text(kiln__codegen_job *job, const char *format,
                             product *out)
{
    char *text = LLVMPrintModuleToString(job->module);
    kiln_status status =
        kiln__blob_copy(&out->bytes, &kiln__malloc, text, strlen(text));

    out->format = format;
    LLVMDisposeMessage(text);
    if (status != KILN_OK)
        return kiln__job_fail(job, status, "out of memory");
    return KILN_OK;
}

static kiln_status emit_file(kiln__codegen_job *job, LLVMCodeGenFileType type,
                             LLVMMemoryBufferRef *out)
{
    char *message = NULL;

    if (LLVMTargetMachineEmitToMemoryBuffer(job->machine, job->module, type,
                                            &message, out) != 0)
        return kiln__job_fail_llvm(job, KILN_ECODEGEN, "LLVM", message);
    if (job->status != KILN_OK) { /* a diagnostic, and no error */
        LLVMDisposeMemoryBuffer(*out);
        *out = NULL;
    }
    return job->status;
}

static kiln_status emit_assembly(kiln__codegen_job *job, product *out)
{
    LLVMMemoryBufferRef buffer = NULL;
    kiln_status status;

    KILN_TRY(emit_file(job, LLVMAssemblyFile, &buffer));
    status =
        kiln__blob_copy(&out->bytes, &kiln__malloc, LLVMGetBufferStart(buffer),
                        LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    out->format = "asm";
    if (status != KILN_OK)
        return kiln__job_fail(job, status, "out of memory");
    return KILN_OK;
}

static kiln_status emit_binary(kiln__codegen_job *job, product *out)
{
    LLVMMemoryBufferRef object = NULL;
    kiln_status status;

    KILN_TRY(emit_file(job, LLVMObjectFile, &object));
    status = job->backend->finish(job, LLVMGetBufferStart(object),
                                  LLVMGetBufferSize(object), &out->bytes);
    LLVMDisposeMemoryBuffer(object);
    out->format = job->backend->format;
    return status;
}

static kiln_status emit(kiln__codegen_job *job, product *out)
{
    if (job->request->form == KILN_EMIT_ASM)
        return emit_assembly(job, out);
    return emit_binary(job, out);
}

/* ---- the row ---- */

static uint64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Tells the request how long the stage took; returns the time it ended. */
static uint64_t stage_ended(const kiln__codegen_job *job, int32_t stage,
                            uint64_t began)
{
    const uint64_t now = now_ns();

    if (job->request->stage != NULL)
        job->request->stage(job->request->env, stage, now - began);
    return now;
}

/* A stage that returns KILN_OK after LLVM reported an error has failed. */
static kiln_status outcome(const kiln__codegen_job *job, kiln_status status)
{
    return status != KILN_OK ? status : job->status;
}

static kiln_status run_stages(kiln__codegen_job *job, product *out)
{
    uint64_t time = now_ns();

    KILN_TRY(kiln__target_open(job));
    KILN_TRY(outcome(job, lower(job)));
    time = stage_ended(job, KILN_STAGE_LOWER, time);

    KILN_TRY(outcome(job, link(job)));
    time = stage_ended(job, KILN_STAGE_LINK, time);
    if (job->request->form == KILN_EMIT_LLVM)
        return take_text(job, "llvm", out);

    KILN_TRY(outcome(job, optimise(job)));
    time = stage_ended(job, KILN_STAGE_OPTIMISE, time);
    if (job->request->form == KILN_EMIT_LLVM_OPT)
        return take_text(job, "llvm", out);

    out->relocation = kiln__relocation_class(job);
    limit_frames(job);
    KILN_TRY(outcome(job, emit(job, out)));
    stage_ended(job, KILN_STAGE_EMIT, time);
    return KILN_OK;
}

/* ---- a job's life ---- */

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
    if (request->form < KILN_EMIT_LLVM || request->form > KILN_EMIT_BINARY)
        return kiln__job_fail(job, KILN_EINVAL, "no form %d to emit",
                              (int)request->form);

    job->context = LLVMContextCreate();
    /* Names are for readers; the parser of texts needs them, too. */
    LLVMContextSetDiscardValueNames(job->context,
                                    request->form == KILN_EMIT_BINARY &&
                                        request->module == NULL);
    LLVMContextSetDiagnosticHandler(job->context, on_diagnostic, job);
    job->module =
        LLVMModuleCreateWithNameInContext(request->entry, job->context);
    return KILN_OK;
}

static void job_close(kiln__codegen_job *job)
{
    if (job->layout != NULL)
        LLVMDisposeTargetData(job->layout);
    if (job->module != NULL)
        LLVMDisposeModule(job->module);
    if (job->machine != NULL)
        LLVMDisposeTargetMachine(job->machine);
    if (job->context != NULL)
        LLVMContextDispose(job->context);
    kiln__arena_dispose(&job->arena);
}

static kiln_status hand_over(const kiln__codegen_job *job, const product *made)
{
    const kiln__codegen_result result = {
        .bytes = made->bytes.data,
        .size = made->bytes.size,
        .format = made->format,
        .relocation = made->relocation,
        .can_fail = job->can_fail,
        .static_local_bytes = job->static_local_bytes,
        .private_bytes = job->private_bytes,
        .sub_group_size = job->sub_group_size,
    };

    return job->request->finish(job->request->env, &result);
}

/* What is run inside the guard. */
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
}

kiln_status kiln__generate(const kiln__codegen_request *request)
{
    attempt a = {.job = {.request = request}};

    if (kiln__llvm_guard(run_attempt, &a) != 0) {
        /* LLVM was left half way: what it holds is never touched again. */
        kiln__host_link_abandon();
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
