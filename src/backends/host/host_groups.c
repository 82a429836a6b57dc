/* host_groups.c - runs groups on a thread, whatever stack it has. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/host/host_running.h"
#include "base/error.h"
#include "base/system/float_mode.h"
#include "base/system/stack.h"
#include "context/host_ops.h"
#include "context/log.h"

/* The floating-point mode that the host has set must not apply to kernels. */
static int32_t call_entry(kiln__host_running *run, uint64_t first,
                          uint64_t last, void *memory)
{
    const kiln__float_mode mode = kiln__float_enter();
    const int32_t failed =
        run->entry(&run->launch, run->request->arguments, first, last, memory);

    kiln__float_leave(mode);
    return failed;
}

static void run_here(kiln__host_running *run, uint64_t first, uint64_t last)
{
    kiln__host_block *block = NULL;
    void *memory = NULL;

    if (atomic_load_explicit(run->launch.stop, memory_order_relaxed) != 0) {
        atomic_store_explicit(&run->returned, 1, memory_order_relaxed);
        return;
    }
    if (run->memory_size > 0) {
        block = kiln__host_memory_take(run->memory, run->memory_size);
        if (block == NULL) {
            atomic_store_explicit(&run->no_memory, 1, memory_order_relaxed);
            return;
        }
        memory = kiln__host_block_bytes(block);
    }
    if (call_entry(run, first, last, memory) != 0)
        atomic_store_explicit(&run->returned, 1, memory_order_relaxed);
    if (block != NULL)
        kiln__host_memory_give(run->memory, block);
}

/* ---- stacks ---- */

/* Every stack that launches has this much, and most kernels need no more. */
#define STACK_OF_ANY ((size_t)4096)
/* Additional stack of a thread that is started because the current one has too
   little: for what is above the launch, including the host's callbacks. */
#define STACK_MORE ((size_t)64 << 10)

static int has_stack(const kiln__host_running *run)
{
    kiln__stack_enter(run->context);
    return kiln__stack_left() >= run->stack_bytes + KILN__STACK_RESERVE;
}

typedef struct piece {
    kiln__host_running *run;
    uint64_t first, last;
} piece;

static void *run_piece(void *argument)
{
    const piece *p = argument;
    const kiln_context *context = p->run->context;

    kiln__own_thread_enter(context);
    if (has_stack(p->run))
        run_here(p->run, p->first, p->last);
    else
        atomic_store_explicit(&p->run->no_stack, 1, memory_order_relaxed);
    kiln__own_thread_leave(context);
    return NULL;
}

/* Runs something on a new thread with so much stack; a kernel gives the same
   results on any thread. */
static void on_new_thread(kiln__host_running *run, size_t stack_bytes,
                          void *(*start)(void *), void *argument)
{
    kiln__thread thread;

    if (kiln__thread_start(&thread,
                           stack_bytes + KILN__STACK_RESERVE + STACK_MORE,
                           start, argument) != KILN_OK) {
        atomic_store_explicit(&run->no_stack, 1, memory_order_relaxed);
        return;
    }
    kiln__blocking_enter(run->context);
    kiln__thread_join(thread);
    kiln__blocking_leave(run->context);
}

static void run_elsewhere(kiln__host_running *run, uint64_t first,
                          uint64_t last)
{
    piece p = {run, first, last};

    if (atomic_load_explicit(&run->no_stack, memory_order_relaxed) == 0)
        on_new_thread(run, run->stack_bytes, run_piece, &p);
}

void kiln__host_run_groups(void *env, uint64_t first, uint64_t last)
{
    kiln__host_running *run = env;

    if (run->stack_bytes <= STACK_OF_ANY || has_stack(run))
        run_here(run, first, last);
    else
        run_elsewhere(run, first, last);
}

/* ---- second bodies ---- */

typedef struct second_run {
    kiln__host_running *run;
    const void *arguments;
    uint64_t group;
    void *memory;
    int32_t result;
} second_run;

static void call_second(second_run *s)
{
    s->result = s->run->module->second_entry(&s->run->launch, s->arguments,
                                             s->group, s->group + 1, s->memory);
}

static void *run_second(void *argument)
{
    second_run *s = argument;
    const kiln_context *context = s->run->context;
    kiln__float_mode mode;

    kiln__own_thread_enter(context);
    mode = kiln__float_enter();
    call_second(s);
    kiln__float_leave(mode);
    kiln__own_thread_leave(context);
    return NULL;
}

/* Keeps the first failure, and stops the launch. */
static void fail_second(kiln__host_running *run, kiln_error *error)
{
    kiln_error *none = NULL;

    if (!atomic_compare_exchange_strong(&run->failed, &none, error))
        kiln_error_free(error);
    kiln__host_stop_now(&run->record->stop, KILN__HOST_RAISED);
}

int32_t kiln__host_run_second(struct kiln__host_launch_state *launch,
                              const void *arguments, uint64_t group,
                              void *memory, uint32_t which)
{
    kiln__host_running *run = (kiln__host_running *)(void *)launch;
    second_run s = {run, arguments, group, memory, 1};
    kiln_error *error = NULL;
    uint32_t none = 0;

    if (kiln__host_second_get(run->module, which, &error) != KILN_OK) {
        fail_second(run, error);
        return 1;
    }
    atomic_compare_exchange_strong_explicit(&run->module->unproved, &none,
                                            which, memory_order_relaxed,
                                            memory_order_relaxed);
    kiln__stack_enter(run->context);
    if (run->module->second_stack <= STACK_OF_ANY ||
        kiln__stack_left() >= run->module->second_stack + KILN__STACK_RESERVE)
        call_second(&s);
    else
        on_new_thread(run, run->module->second_stack, run_second, &s);
    return s.result;
}
