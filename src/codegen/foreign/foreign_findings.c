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

/* Returns ", called by 'g' at FILE:2:1, by 'k'", by a shortest way from the
   entry, or "". */
static const char *chain_of(kiln__codegen_job *job, LLVMValueRef function,
                            LLVMValueRef entry)
{
    const char *chain = "";
    search s = {.count = 0};
    size_t at = 0, length = 0, size;

    add_step(&s, function, NULL, 0);
    while (at < s.count && s.steps[at].function != entry)
        add_callers(&s, at++);
    if (at == s.count)
        return "";
    for (; at != 0 && chain != NULL; at = s.steps[at].to)
        if (length++ < CHAIN_MAX)
            chain = kiln__arena_format(
                &job->arena, "%s '%s'%s%s",
                s.steps[at].to == 0 ? ", called by" : ", by",
                LLVMGetValueName2(s.steps[at].function, &size),
                place_of(job, s.steps[at].call), chain);
    return chain != NULL ? chain : "";
}

/* ---- findings ---- */

kiln_status kiln__foreign_finding(kiln__foreign_findings *f, kiln_status status,
                                  LLVMValueRef function, LLVMValueRef at)
{
    kiln__codegen_job *job = f->job;
    const char *text = job->message;

    if (status != KILN_ECODEGEN || text == NULL)
        return status;
    job->status = KILN_OK;
    job->message = NULL;
    if (f->count == KILN__FOREIGN_FINDINGS) {
        f->more++;
        return KILN_OK;
    }
    if (function != NULL)
        text =
            kiln__arena_format(&job->arena, "%s%s%s", text, place_of(job, at),
                               chain_of(job, function, f->entry));
    if (text == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->texts[i], text) == 0)
            return KILN_OK;
    f->texts[f->count++] = text;
    return KILN_OK;
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
