/* foreign_findings.c - tells all that is wrong with a foreign module at
   once. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/error.h"
#include "codegen/foreign/foreign_findings.h"
#include "codegen/module/codegen_stages.h"

/*
 * A check fails the job with its message. Here the message is taken from the
 * job, which goes on, and gets what a reader needs to find the place: where it
 * is in the source, if the module has debug information, and through which
 * functions the entry reaches it.
 */

#define CHAIN_MAX 16 /* callers that are told */
#define QUEUE_MAX 256

/* Returns " at FILE:LINE:COLUMN", or "". */
static const char *place_of(kiln__codegen_job *job, LLVMValueRef instruction)
{
    unsigned size = 0;
    const char *file, *text;

    if (instruction == NULL || LLVMIsAInstruction(instruction) == NULL)
        return "";
    file = LLVMGetDebugLocFilename(instruction, &size);
    if (file == NULL || size == 0)
        return "";
    text = kiln__arena_format(&job->arena, " at %.*s:%u:%u", (int)size, file,
                              LLVMGetDebugLocLine(instruction),
                              LLVMGetDebugLocColumn(instruction));
    return text != NULL ? text : "";
}

/* ---- the chain of calls ---- */

typedef struct step {
    LLVMValueRef function;
    LLVMValueRef call; /* of the function that the step `to` is about */
    size_t to;
} step;

typedef struct search {
    step steps[QUEUE_MAX];
    size_t count;
} search;

static void add_step(search *s, LLVMValueRef function, LLVMValueRef call,
                     size_t to)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->steps[i].function == function)
            return;
    if (s->count < QUEUE_MAX)
        s->steps[s->count++] = (step){function, call, to};
}

static void add_callers(search *s, size_t of)
{
    const LLVMValueRef function = s->steps[of].function;
    LLVMUseRef use;

    for (use = LLVMGetFirstUse(function); use != NULL;
         use = LLVMGetNextUse(use)) {
        const LLVMValueRef user = LLVMGetUser(use);

        if (LLVMIsAInstruction(user) != NULL)
            add_step(s, LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)),
                     user, of);
    }
}

/* True for the entry that Kiln made around the module's own. */
static int is_wrapper(kiln__codegen_job *job, const search *s, size_t at)
{
    return job->is_wrapped ||
           strcmp(kiln__plain_name(job, s->steps[at].function),
                  kiln__plain_name(job, s->steps[s->steps[at].to].function)) ==
               0;
}

/* Returns ", called by 'g' at FILE:2:1, by 'k'", by a shortest way from the
   entry, or "". The chain begins with `first`. */
static const char *chain_of(kiln__codegen_job *job, LLVMValueRef function,
                            LLVMValueRef entry, const char *first)
{
    const char *chain = "";
    search s = {.count = 0};
    size_t at = 0, length = 0;

    add_step(&s, function, NULL, 0);
    while (at < s.count && s.steps[at].function != entry)
        add_callers(&s, at++);
    if (at == s.count)
        return "";
    if (at != 0 && is_wrapper(job, &s, at))
        at = s.steps[at].to;
    for (; at != 0 && chain != NULL; at = s.steps[at].to)
        if (length++ < CHAIN_MAX)
            chain =
                kiln__arena_format(&job->arena, "%s '%s'%s%s",
                                   s.steps[at].to == 0 ? first : ", by",
                                   kiln__plain_name(job, s.steps[at].function),
                                   place_of(job, s.steps[at].call), chain);
    return chain != NULL ? chain : "";
}

/* ---- findings ---- */

/* Takes the message of a failure from the job, which goes on; NULL: it is no
   finding. */
static const char *take_message(kiln__codegen_job *job, kiln_status status)
{
    const char *text = job->message;

    if (status != KILN_ECODEGEN || text == NULL)
        return NULL;
    job->status = KILN_OK;
    job->message = NULL;
    return text;
}

static kiln_status add_finding(kiln__foreign_findings *f, const char *text)
{
    if (text == NULL)
        return kiln__job_fail(f->job, KILN_ENOMEM, "out of memory");
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->texts[i], text) == 0)
            return KILN_OK;
    if (f->count == KILN__FOREIGN_FINDINGS)
        f->more++;
    else
        f->texts[f->count++] = text;
    return KILN_OK;
}

kiln_status kiln__foreign_finding(kiln__foreign_findings *f, kiln_status status,
                                  LLVMValueRef function, LLVMValueRef at)
{
    kiln__codegen_job *job = f->job;
    const char *text = take_message(job, status);

    if (text == NULL)
        return status;
    if (function != NULL && f->count < KILN__FOREIGN_FINDINGS)
        text = kiln__arena_format(
            &job->arena, "%s%s%s", text, place_of(job, at),
            chain_of(job, function, f->entry, ", called by"));
    return add_finding(f, text);
}

kiln_status kiln__foreign_finding_of_call(kiln__foreign_findings *f,
                                          kiln_status status, LLVMValueRef call)
{
    kiln__codegen_job *job = f->job;
    const char *text = take_message(job, status);
    LLVMValueRef caller;

    if (text == NULL)
        return status;
    caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    if (f->count < KILN__FOREIGN_FINDINGS)
        text = kiln__arena_format(&job->arena, "%s, called by '%s'%s%s", text,
                                  kiln__plain_name(job, caller),
                                  place_of(job, call),
                                  chain_of(job, caller, f->entry, ", by"));
    return add_finding(f, text);
}

kiln_status kiln__foreign_tell(const kiln__foreign_findings *f)
{
    kiln__codegen_job *job = f->job;
    const char *all = f->count > 0 ? f->texts[0] : NULL;

    if (f->count == 0)
        return KILN_OK;
    for (size_t i = 1; i < f->count && all != NULL; i++)
        all = kiln__arena_format(&job->arena, "%s; %s", all, f->texts[i]);
    if (all != NULL && f->more > 0)
        all = kiln__arena_format(&job->arena, "%s; and %zu more", all, f->more);
    return all != NULL ? kiln__job_fail(job, KILN_ECODEGEN, "%s", all)
                       : kiln__job_fail(job, KILN_ENOMEM, "out of memory");
}
