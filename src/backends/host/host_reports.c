/* host_reports.c - what generated code of the host reports. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "backends/host/host_running.h"
#include "backends/report_text.h"

/* The content of an exception's site: kind, ordinal, method, message. */
typedef struct site {
    uint32_t kind;
    uint32_t ordinal;
    const char *method;
    const char *message;
} site;

static void read_site(site *out, const void *bytes)
{
    const char *text = (const char *)bytes + 2 * sizeof(uint32_t);

    memcpy(&out->kind, bytes, sizeof out->kind);
    memcpy(&out->ordinal, (const char *)bytes + sizeof out->kind,
           sizeof out->ordinal);
    out->method = text;
    out->message = text + strlen(text) + 1;
}

/* Stores the group of an item, which may have run in one of another shape than
   was asked for. */
static void find_group(uint64_t group[3], const kiln_launch_request *request,
                       const struct kiln__host_item *item)
{
    for (int d = 0; d < 3; d++)
        group[d] = request->block[0] == 0
                       ? item->group_id[d]
                       : item->global_id[d] / request->block[d];
}

static void fill_record(kiln__host_running *run,
                        const struct kiln__host_item *item, const site *from,
                        int64_t value0, int64_t value1)
{
    kiln__host_record *record = run->record;
    kiln_exception *exception = &record->exception;

    (void)snprintf(record->method, sizeof record->method, "%s", from->method);
    kiln__exception_format(record->message, sizeof record->message,
                           &(kiln__raised){.kind = from->kind,
                                           .message = from->message,
                                           .values = {value0, value1}});
    *exception = (kiln_exception){
        .size = sizeof *exception,
        .kind = (int32_t)from->kind,
        .message = record->message,
        .kernel = run->kernel,
        .method = record->method,
        .ordinal = from->ordinal,
        .values = {value0, value1},
    };
    find_group(exception->group, run->request, item);
    memcpy(exception->item, item->global_id, sizeof exception->item);
}

static void take_exception(struct kiln__host_launch_state *launch,
                           const struct kiln__host_item *item,
                           const void *bytes, int64_t value0, int64_t value1)
{
    kiln__host_running *run = (kiln__host_running *)(void *)launch;
    site from;

    if (atomic_flag_test_and_set(&run->raised))
        return;
    read_site(&from, bytes);
    fill_record(run, item, &from, value0, value1);
    run->raiser = kiln__thread_self();
    atomic_store_explicit(&launch->failed, 1, memory_order_release);
    kiln__host_stop_now(&run->record->stop, KILN__HOST_RAISED);
}

/* Frames of other exceptions than the recorded one are ignored. Those were
   raised on other threads, because after a failure a thread runs nothing more
   of the launch. */
static void take_frame(struct kiln__host_launch_state *launch,
                       const void *bytes)
{
    kiln__host_running *run = (kiln__host_running *)(void *)launch;
    site from;

    if (atomic_load_explicit(&launch->failed, memory_order_acquire) == 0 ||
        !kiln__thread_is(run->raiser, kiln__thread_self()))
        return;
    read_site(&from, bytes);
    kiln__frames_add(&run->record->frames, &run->record->exception, from.method,
                     from.ordinal);
}

static void take_print(struct kiln__host_launch_state *launch,
                       const struct kiln__host_print_part *parts,
                       uint64_t count)
{
    const kiln__host_running *run =
        (const kiln__host_running *)(const void *)launch;
    kiln__printer printer;

    if (run->context->host.print == NULL)
        return;
    kiln__print_begin(&printer, &run->context->alloc);
    for (uint64_t i = 0; i < count; i++)
        kiln__print_part(&printer, parts[i].kind,
                         (const char *)(uintptr_t)parts[i].bits, parts[i].bits);
    kiln__print_end(&printer, run->context);
}

void kiln__host_take_reports(kiln__host_running *run)
{
    run->launch.raise = take_exception;
    run->launch.print = take_print;
    run->launch.frame = take_frame;
}
