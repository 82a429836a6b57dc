/* codegen_stream.c - messages to and from a worker process, with a deadline. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/system/io.h"
#include "base/system/thread.h"
#include "codegen_client/codegen_wire.h"
#include "codegen_client/codegen_worker.h"
#include "context/log.h"

/*
 * Only poll() blocks here, and never beyond the deadline. Cancellation is
 * checked every hundredth of a second: no thread has to be woken, and compared
 * with a compile it costs nothing.
 */

#define LOOK_NS ((uint64_t)10000000)
#define MS ((uint64_t)1000000)

/* How long poll() may wait, in milliseconds; -1: without limit. */
static int patience(const kiln__watch *watch, uint64_t now)
{
    uint64_t left = UINT64_MAX;

    if (watch->deadline_ns != UINT64_MAX)
        left = watch->deadline_ns > now ? watch->deadline_ns - now : 0;
    if (watch->is_canceled != NULL && left > LOOK_NS)
        left = LOOK_NS;
    if (left == UINT64_MAX)
        return -1;
    left = left / MS + (left % MS != 0);
    return left > INT32_MAX ? INT32_MAX : (int)left;
}

static kiln__transfer wait_for(const kiln__worker_process *worker, short events,
                               const kiln__watch *watch)
{
    struct pollfd stream = {.fd = worker->stream.number, .events = events};

    for (;;) {
        const uint64_t now = kiln__clock_ns();
        int ready;

        if (worker->stream.number < 0)
            return KILN__TRANSFER_ENDED;
        if (watch->is_canceled != NULL && watch->is_canceled(watch->env))
            return KILN__TRANSFER_CANCELED;
        ready = poll(&stream, 1, patience(watch, now));
        if (ready > 0)
            return KILN__TRANSFER_DONE;
        if (ready < 0 && errno != EINTR)
            return KILN__TRANSFER_ENDED;
        /* data that has arrived is never too late */
        if (ready == 0 && now >= watch->deadline_ns)
            return KILN__TRANSFER_LATE;
    }
}

/* Decides what to do after a call that stopped before the end. */
static kiln__transfer after(int reason, const kiln__worker_process *worker,
                            short events, const kiln__watch *watch)
{
    return reason == EAGAIN ? wait_for(worker, events, watch)
                            : KILN__TRANSFER_ENDED;
}

/* ---- sending ---- */

static kiln__transfer send_all(const kiln__worker_process *worker,
                               const void *bytes, size_t size,
                               const kiln__watch *watch)
{
    kiln__transfer result = KILN__TRANSFER_DONE;
    size_t done = 0;

    while (done < size && result == KILN__TRANSFER_DONE) {
        const int reason = kiln__io_send(worker->stream.number, bytes, size,
                                         MSG_DONTWAIT, &done);

        if (reason != 0)
            result = after(reason, worker, POLLOUT, watch);
    }
    return result;
}

kiln__transfer kiln__worker_process_send(const kiln__worker_process *worker,
                                         int kind, const void *bytes,
                                         size_t size, const kiln__watch *watch)
{
    unsigned char head[KILN__WIRE_HEAD_SIZE];
    kiln__transfer result;

    kiln__wire_put_head(head, kind, size);
    kiln__own_blocking_enter(worker->context);
    result = send_all(worker, head, sizeof head, watch);
    if (result == KILN__TRANSFER_DONE)
        result = send_all(worker, bytes, size, watch);
    kiln__own_blocking_leave(worker->context);
    return result;
}

/* ---- receiving ---- */

static kiln__transfer receive_all(const kiln__worker_process *worker,
                                  void *bytes, size_t size,
                                  const kiln__watch *watch)
{
    kiln__transfer result = KILN__TRANSFER_DONE;
    size_t done = 0;

    while (done < size && result == KILN__TRANSFER_DONE) {
        const int reason = kiln__io_receive(worker->stream.number, bytes, size,
                                            MSG_DONTWAIT, &done);

        if (reason != 0)
            result = after(reason, worker, POLLIN, watch);
    }
    return result;
}

static kiln__transfer receive(kiln__message *out,
                              const kiln__worker_process *worker,
                              const kiln__watch *watch)
{
    unsigned char head[KILN__WIRE_HEAD_SIZE];
    kiln__transfer result = receive_all(worker, head, sizeof head, watch);

    if (result != KILN__TRANSFER_DONE)
        return result;
    out->kind = kiln__wire_get_head(head, &out->size);
    if (!out->kind)
        return KILN__TRANSFER_NONSENSE;
    out->bytes = kiln__allocate(&worker->context->alloc, out->size + 1);
    if (out->bytes == NULL)
        return KILN__TRANSFER_NO_MEMORY;
    return receive_all(worker, out->bytes, out->size, watch);
}

kiln__transfer kiln__worker_process_receive(kiln__message *out,
                                            const kiln__worker_process *worker,
                                            const kiln__watch *watch)
{
    kiln__transfer result;

    *out = (kiln__message){0};
    kiln__own_blocking_enter(worker->context);
    result = receive(out, worker, watch);
    kiln__own_blocking_leave(worker->context);
    if (result != KILN__TRANSFER_DONE)
        kiln__message_dispose(out, &worker->context->alloc);
    return result;
}

void kiln__message_dispose(kiln__message *message, const kiln_alloc *alloc)
{
    if (message->bytes != NULL)
        kiln__deallocate(alloc, message->bytes, message->size + 1);
    *message = (kiln__message){0};
}
