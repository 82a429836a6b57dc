/* device_state.c - reads exceptions and prints that kernels left in a state. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/device_driver.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "abi/shared_words.h"
#include "backends/report_text.h"
#include "base/data/float_bits.h"
#include "base/error.h"
#include "context/log.h"

/*
 * Kernels write the state, and a faulty kernel may have written anything
 * anywhere in it. So each number is copied once, into memory that kernels
 * cannot reach, and checked before it is used.
 */

static void *room_of(void *state)
{
    return (unsigned char *)state + KILN__STATE_SIZE;
}

void kiln__device_state_init(void *state)
{
    const struct kiln__device_state fresh = {.print_room = KILN__PRINT_ROOM};

    memset(state, 0, KILN__STATE_BYTES);
    memcpy(state, &fresh, sizeof fresh);
}

int kiln__device_state_has_exception(const void *state)
{
    const struct kiln__device_state *from = state;

    return kiln__device_phase_get(from) == KILN__PHASE_READY;
}

/* ---- exceptions ---- */

static void set_place(kiln_exception *out,
                      const struct kiln__device_state *from)
{
    for (int d = 0; d < 3; d++) {
        out->group[d] = from->group_id[d];
        out->item[d] = from->group_id[d] * (uint64_t)from->group_size[d] +
                       from->local_id[d];
    }
    memcpy(out->values, from->values, sizeof out->values);
}

/* Fills a record when it is only known that there was an exception. */
static void fill_unknown(kiln__device_record *record, const char *kernel)
{
    (void)snprintf(record->message, sizeof record->message,
                   "an exception of which %s knows nothing",
                   kernel != NULL ? "the kernel's artifact"
                                  : "no loaded kernel");
    record->exception.kind = KILN_EXCEPTION_USER;
}

static void fill_known(kiln__device_record *record,
                       const kiln__exception_report *report)
{
    kiln_exception *exception = &record->exception;

    (void)snprintf(record->method, sizeof record->method, "%s", report->method);
    kiln__exception_format(record->message, sizeof record->message,
                           &(kiln__raised){.kind = report->kind,
                                           .message = report->message,
                                           .values = {exception->values[0],
                                                      exception->values[1]}});
    exception->kind = (int32_t)report->kind;
    exception->ordinal = report->ordinal;
    exception->method = record->method;
}

static void add_frames(kiln__device_record *record,
                       const struct kiln__device_state *from, const void *table,
                       size_t size)
{
    kiln__exception_report report;

    for (uint32_t i = 0; i < from->frame_count && i < KILN__STATE_FRAMES; i++) {
        if (kiln__report_exception(&report, table, size, from->frames[i]) !=
                KILN_OK ||
            report.kind != KILN_EXCEPTION_NONE)
            return;
        kiln__frames_add(&record->frames, &record->exception, report.method,
                         report.ordinal);
    }
}

static void fill_record(kiln__device_record *record,
                        kiln__loaded_kernels *kernels,
                        const struct kiln__device_state *from)
{
    const kiln_kernel_info *info = NULL;
    const kiln_artifact *artifact =
        kiln__loaded_kernels_find(kernels, from->launch, &info);
    const void *table = NULL;
    size_t size = 0;
    kiln__exception_report report;

    record->exception = (kiln_exception){.size = sizeof record->exception,
                                         .message = record->message};
    set_place(&record->exception, from);
    if (artifact != NULL) {
        (void)snprintf(record->kernel, sizeof record->kernel, "%s",
                       info->method);
        record->exception.kernel = record->kernel;
        table = kiln_artifact_reports(artifact, &size);
    }
    if (kiln__report_exception(&report, table, size, from->report) == KILN_OK) {
        fill_known(record, &report);
        add_frames(record, from, table, size);
    } else
        fill_unknown(record, record->exception.kernel);
    kiln_artifact_release(artifact);
}

/* ---- prints ---- */

/* The kernel whose records are being read. Most records follow one of the same
   kernel. */
typedef struct reader {
    kiln__loaded_kernels *kernels;
    uint64_t launch;
    const kiln_artifact *artifact;
    const void *table;
    size_t size;
} reader;

static void turn_to(reader *to, uint64_t launch)
{
    const kiln_kernel_info *info;

    if (to->launch == launch)
        return;
    kiln_artifact_release(to->artifact);
    to->launch = launch;
    to->table = NULL;
    to->size = 0;
    to->artifact = kiln__loaded_kernels_find(to->kernels, launch, &info);
    if (to->artifact != NULL)
        to->table = kiln_artifact_reports(to->artifact, &to->size);
}

/* Returns the bits of the f64 that equals an f32, given the bits of that. */
static uint64_t bits_of_f64(uint64_t bits)
{
    return kiln__f64_bits((double)kiln__f32_from_bits((uint32_t)bits));
}

static void send_print(const kiln_context *context,
                       const kiln__print_report *report,
                       const unsigned char *values)
{
    const unsigned char *part = report->parts;
    kiln__printer printer;

    kiln__print_begin(&printer, &context->alloc);
    for (uint32_t i = 0; i < report->part_count; i++) {
        const char *words = "";
        const uint32_t kind = kiln__report_part(&part, &words);
        uint64_t bits = 0;

        if (!kiln__print_is_text(kind)) {
            memcpy(&bits, values, sizeof bits);
            values += sizeof bits;
        }
        if (kind == KILN__PRINT_F32 || kind >= KILN__PRINT_FLOAT)
            bits = bits_of_f64(bits);
        kiln__print_part(&printer, kind, words, bits);
    }
    kiln__print_end(&printer, context);
}

/* Hands one record over and returns its size. Returns 0 when no record can be
   read here; then none can be read after it either. */
static uint64_t take_print(reader *from, const unsigned char *at, uint64_t left)
{
    struct kiln__print_record head;
    kiln__print_report report;
    uint64_t size;

    if (left < sizeof head)
        return 0;
    memcpy(&head, at, sizeof head);
    if (head.mark != KILN__PRINT_MARK)
        return 0;
    turn_to(from, head.launch);
    if (kiln__report_print(&report, from->table, from->size, head.report) !=
        KILN_OK)
        return 0;
    size = sizeof head + (uint64_t)report.value_count * sizeof(uint64_t);
    if (size > left)
        return 0;
    if (from->kernels->context->host.print != NULL)
        send_print(from->kernels->context, &report, at + sizeof head);
    return size;
}

static void take_prints(unsigned char *room, uint64_t printed,
                        kiln__loaded_kernels *kernels)
{
    const uint64_t written =
        printed < KILN__PRINT_ROOM ? printed : KILN__PRINT_ROOM;
    reader from = {.kernels = kernels};
    uint64_t at = 0, size = 1;

    while (at < written && size > 0) {
        size = take_print(&from, room + at, written - at);
        at += size;
    }
    kiln_artifact_release(from.artifact);
    memset(room, 0, (size_t)written);
    if (at < printed)
        kiln__log(kernels->context, KILN_LOG_WARNING,
                  "kernels printed more than there is room for: %" PRIu64
                  " of %" PRIu64 " bytes are lost",
                  printed - at, printed);
}

kiln_status kiln__device_state_take(void *state, kiln__loaded_kernels *kernels,
                                    kiln__device_record *record)
{
    struct kiln__device_state seen, fresh = {.print_room = KILN__PRINT_ROOM};

    memcpy(&seen, state, sizeof seen);
    if (seen.phase == KILN__PHASE_NONE && seen.printed == 0)
        return KILN_OK;
    /* No work is left that could finish an incomplete record. */
    if (seen.phase != KILN__PHASE_READY)
        seen.report = UINT32_MAX;
    memcpy(state, &fresh, sizeof fresh);
    if (seen.printed > 0)
        take_prints(room_of(state), seen.printed, kernels);
    if (seen.phase == KILN__PHASE_NONE)
        return KILN_OK;
    fill_record(record, kernels, &seen);
    return KILN_EEXCEPTION;
}

kiln_status kiln__device_state_peek(void *state, kiln__loaded_kernels *kernels,
                                    kiln__device_record *record)
{
    struct kiln__device_state *from = state, seen;

    if (!kiln__device_state_has_exception(state))
        return KILN_OK;
    memcpy(&seen, state, sizeof seen);
    from->frame_count = 0;
    kiln__device_phase_set(from, KILN__PHASE_NONE);
    fill_record(record, kernels, &seen);
    return KILN_EEXCEPTION;
}

/* ---- hidden arguments ---- */

uint32_t kiln__device_hidden(const kiln_launch_request *request, uint64_t state,
                             uint64_t number)
{
    const uint64_t hidden[KILN__HIDDEN_MOST] = {
        state, number, (uint64_t)(uintptr_t)request->heap,
        request->dynamic_local_bytes};
    const kiln_kernel_info *info = kiln_kernel_get_info(request->kernel);
    const uint32_t sizes = kiln__hidden_sizes(info->any_block);
    const uint32_t offset = (request->argument_bytes + 7u) & ~7u;
    const uint32_t own =
        kiln__hidden_own(info->hidden_arguments, info->any_block);
    unsigned char *at = (unsigned char *)request->arguments + offset;

    if (info->hidden_arguments == 0 || own > KILN__HIDDEN_MOST)
        return request->argument_bytes;
    memcpy(at, hidden, 8 * (size_t)own);
    memcpy(at + 8 * (size_t)own, request->grid, 8 * (size_t)sizes);
    return offset + 8 * info->hidden_arguments;
}
