/* device_report_table.c - the table of what code for a device may report. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/codegen/device_codegen.h"

#include <string.h>

#include "abi/host_abi.h"
#include "base/data/array.h"
#include "base/data/endian.h"
#include "base/error.h"

/*
 * Each report is kept as the bytes that it has in the table. A report with the
 * same bytes as an earlier one gets its number, so copies of one expression are
 * one report.
 */

typedef struct report {
    char *bytes;
    size_t size;
    struct report *next;
} report;

struct kiln__reports {
    report *first;
    report **end;
    uint32_t count;
    size_t size; /* of all reports, in bytes */
};

static void add_u32(kiln__text *out, uint32_t value)
{
    char bytes[4];

    kiln__le32_write(bytes, value);
    kiln__text_add_n(out, bytes, sizeof bytes);
}

static void add_string(kiln__text *out, const char *text)
{
    kiln__text_add_n(out, text, strlen(text) + 1);
}

static struct kiln__reports *reports_of(kiln__codegen_job *job)
{
    if (job->reports == NULL) {
        job->reports = kiln__arena_allocate(&job->arena, sizeof *job->reports);
        if (job->reports != NULL)
            job->reports->end = &job->reports->first;
    }
    return job->reports;
}

static uint32_t out_of_memory(kiln__codegen_job *job)
{
    (void)kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    return 0;
}

/* Keeps the text's bytes as a report, returns its number, and disposes of the
   text. */
static uint32_t keep_report(kiln__codegen_job *job, kiln__text *text)
{
    struct kiln__reports *reports = reports_of(job);
    uint32_t number = 0;
    report *fresh;

    if (reports == NULL || text->failed) {
        kiln__text_dispose(text);
        return out_of_memory(job);
    }
    for (const report *at = reports->first; at != NULL; at = at->next) {
        if (at->size == text->size &&
            memcmp(at->bytes, text->bytes, text->size) == 0) {
            kiln__text_dispose(text);
            return number;
        }
        number++;
    }
    fresh = kiln__arena_allocate(&job->arena, sizeof *fresh);
    if (fresh != NULL)
        fresh->bytes = kiln__arena_copy(&job->arena, text->bytes, text->size);
    if (fresh == NULL || fresh->bytes == NULL) {
        kiln__text_dispose(text);
        return out_of_memory(job);
    }
    fresh->size = text->size;
    kiln__text_dispose(text);
    *reports->end = fresh;
    reports->end = &fresh->next;
    reports->size += fresh->size;
    return reports->count++;
}

uint32_t kiln__device_exception_report(kiln__codegen_job *job, uint32_t kind,
                                       uint32_t ordinal, const char *method,
                                       const char *message)
{
    kiln__text text;

    kiln__text_init(&text, &kiln__malloc);
    add_u32(&text, KILN__REPORT_EXCEPTION);
    add_u32(&text, kind);
    add_u32(&text, ordinal);
    add_string(&text, method != NULL ? method : "");
    add_string(&text, message != NULL ? message : "");
    return keep_report(job, &text);
}

uint32_t kiln__device_print_report(kiln__codegen_job *job, size_t count,
                                   const char *const *texts,
                                   const uint32_t *kinds)
{
    kiln__text text;

    kiln__text_init(&text, &kiln__malloc);
    add_u32(&text, KILN__REPORT_PRINT);
    add_u32(&text, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        add_u32(&text, kinds[i]);
        if (kiln__print_is_text(kinds[i]))
            add_string(&text, texts[i]);
    }
    return keep_report(job, &text);
}

int kiln__device_has_reports(const kiln__codegen_job *job)
{
    return job->reports != NULL;
}

const void *kiln__device_reports(kiln__codegen_job *job, size_t *size)
{
    const struct kiln__reports *reports = job->reports;
    const void *bytes = NULL;
    kiln__text text;
    size_t at;

    *size = 0;
    if (reports == NULL)
        return NULL;
    kiln__text_init(&text, &kiln__malloc);
    at = 4 + 4 * (size_t)reports->count;
    add_u32(&text, reports->count);
    for (const report *one = reports->first; one != NULL; one = one->next) {
        add_u32(&text, (uint32_t)at);
        at += one->size;
    }
    for (const report *one = reports->first; one != NULL; one = one->next)
        kiln__text_add_n(&text, one->bytes, one->size);
    if (!text.failed)
        bytes = kiln__arena_copy(&job->arena, text.bytes, text.size);
    if (bytes != NULL)
        *size = text.size;
    else
        (void)out_of_memory(job);
    kiln__text_dispose(&text);
    return bytes;
}
