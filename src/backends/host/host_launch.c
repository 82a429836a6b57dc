/* host_launch.c - runs the groups of one launch on the host's threads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "abi/heap_abi.h"
#include "backends/backend.h"
#include "backends/host/host_running.h"
#include "base/error.h"
#include "base/system/thread.h"
#include "context/host_ops.h"
#include "context/log.h"
#include "tiers/binary/artifact.h"

/*
 * A launch is on the caller's stack. Generated code gets the address of its
 * first member, and calls back only through raise(), print() and frame().
 *
 * The first item that raises gets the record, and stops the launch as a cancel
 * does: threads read the queue's flag before each range of groups, and
 * generated code reads it inside. The record is written before its writer
 * leaves the pool, and read after all threads have left.
 */

/* A launch with so few items has usually ended before another thread has
   begun. */
#define FEW_ITEMS 4096

/* A grid gets at least this many groups, for threads to share, unless the
   groups would be small. */
#define FEW_GROUPS 4
#define SMALL_GROUP 1024

/* A row of so many items is worth its beginning and its end. */
#define LONG_ROW 64

/* ---- the shape of a launch ---- */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Takes items along the dimension into the block, at most as many as there is
   room for. Returns the room that is left. */
static uint64_t fill_dimension(uint64_t block[3], const uint64_t grid[3],
                               uint32_t d, uint64_t room)
{
    block[d] = least(grid[d], room);
    return room / block[d];
}

/* Chooses a block of at most so many items, the inner dimension first. */
static void fill_block(uint64_t block[3], const uint64_t grid[3],
                       uint32_t inner, uint64_t room)
{
    room = fill_dimension(block, grid, inner, room);
    for (uint32_t d = 0; d < 3; d++)
        if (d != inner)
            room = fill_dimension(block, grid, d, room);
}

static void choose_block(uint64_t block[3], const uint64_t grid[3],
                         uint32_t inner, uint64_t room)
{
    const uint64_t items = grid[0] * grid[1] * grid[2];

    if (items / FEW_GROUPS < room)
        room = most(items / FEW_GROUPS, least(SMALL_GROUP, room));
    fill_block(block, grid, inner, room);
}

void kiln__host_choose_block(uint64_t block[3], const uint64_t grid[3])
{
    choose_block(block, grid, 0, KILN__HOST_GROUP_ITEMS);
}

/* Takes the block that was asked for. If another dimension than 0 is the inner
   one, and the block is short along it, the kernel, which cannot see its
   groups, gets another block of as many items. (Where it is dimension 0, the
   kernel itself joins groups.) */
static void take_block(uint64_t block[3], const kiln_launch_request *request)
{
    const uint32_t inner = request->kernel->info->inner_dimension;

    for (int i = 0; i < 3; i++)
        block[i] = request->block[i];
    if (inner != 0 && block[inner] < least(request->grid[inner], LONG_ROW))
        fill_block(block, request->grid, inner, block[0] * block[1] * block[2]);
}

#define ALIGNMENT ((uint64_t)KILN__HOST_MEMORY_ALIGNMENT)

static uint64_t round_up(uint64_t number, uint64_t multiple)
{
    return (number + multiple - 1) & ~(multiple - 1);
}

/* Computes the memory of one group for local arrays and private memory, as in
   host_abi.h. */
static kiln_status measure_memory(kiln__host_running *run,
                                  kiln__host_pool *pool,
                                  const kiln_launch_request *request,
                                  kiln_error **error)
{
    const kiln_kernel_info *info = request->kernel->info;
    const uint64_t *block = run->launch.block;
    /* One byte at least, so that there is an address. */
    const uint64_t dynamic =
        info->dynamic_local
            ? round_up((uint64_t)request->dynamic_local_bytes + 1, ALIGNMENT)
            : 0;
    const uint64_t local =
        info->static_local_bytes + (dynamic > 0 ? dynamic + ALIGNMENT - 1 : 0);
    const uint64_t room =
        KILN__HOST_MEMORY_MAX -
        (local < KILN__HOST_MEMORY_MAX ? local : KILN__HOST_MEMORY_MAX);
    uint64_t items = block[0];

    for (int i = 1; i < 3; i++)
        items = items > UINT64_MAX / block[i] ? UINT64_MAX : items * block[i];
    if (items < UINT64_MAX - 63)
        items = round_up(items, 64);
    if (room == 0 ||
        (info->private_bytes > 0 && items > room / info->private_bytes))
        return kiln__error_set(
            error, KILN_EINVAL,
            "a group of %" PRIu64 " x %" PRIu64 " x %" PRIu64
            " items is too large for kernel %s: it needs "
            "%" PRIu64 " bytes, and %" PRIu32
            " for each item; a group has at most %" PRIu64,
            block[0], block[1], block[2], run->kernel,
            info->static_local_bytes + (uint64_t)request->dynamic_local_bytes,
            info->private_bytes, (uint64_t)KILN__HOST_MEMORY_MAX);
    run->memory = kiln__host_pool_memory(pool);
    run->memory_size = info->static_local_bytes;
    if (info->private_bytes > 0)
        run->memory_size += (size_t)items * info->private_bytes;
    if (dynamic > 0) {
        run->launch.local_bytes = request->dynamic_local_bytes;
        run->launch.local_offset = round_up(run->memory_size, ALIGNMENT);
        run->memory_size = (size_t)(run->launch.local_offset + dynamic);
    }
    return KILN_OK;
}

/* The same result as choose_block() for a grid of one group, without divisions,
   which take as long as much of a small launch. */
static void set_one_group(struct kiln__host_launch_state *launch,
                          const uint64_t grid[3])
{
    for (int i = 0; i < 3; i++) {
        launch->grid[i] = launch->block[i] = grid[i];
        launch->groups[i] = 1;
    }
}

static void count_groups(struct kiln__host_launch_state *launch)
{
    for (int i = 0; i < 3; i++)
        launch->groups[i] = (launch->grid[i] - 1) / launch->block[i] + 1;
}

static void set_shape(struct kiln__host_launch_state *launch,
                      const kiln_launch_request *request, uint64_t most)
{
    memcpy(launch->grid, request->grid, sizeof launch->grid);
    if (request->block[0] == 0)
        choose_block(launch->block, launch->grid,
                     request->kernel->info->inner_dimension, most);
    else
        take_block(launch->block, request);
    count_groups(launch);
}

/* Clears the heap, so that what the previous launch did not free is free
   again. */
static void *clear_heap(void *address)
{
    struct kiln__heap *heap = address;
    const kiln__heap_shape shape =
        kiln__heap_measure((uint64_t)heap->pages * KILN__HEAP_PAGE);

    memset(&heap->changes, 0, (size_t)shape.cleared);
    return heap;
}

/* The heap of a kernel whose metadata say that it allocates nothing: if that is
   wrong, there is no room. */
static struct kiln__heap no_heap;

static kiln__host_entry entry_of(void *function)
{
    kiln__host_entry entry;

    /* C has no conversion between pointers to objects and to functions; POSIX
       guarantees that they have the same form. */
    memcpy(&entry, &function, sizeof entry);
    return entry;
}

/* Sets member by member. Shape, memory, which few launches need, and raiser are
   set later: clearing everything first would take as long again. */
static void begin_launch(kiln__host_running *run, kiln_context *context,
                         const kiln_launch_request *request,
                         kiln__host_record *record)
{
    kiln__host_take_reports(run);
    atomic_init(&run->launch.failed, 0);
    run->launch.heap =
        request->heap != NULL ? clear_heap(request->heap) : &no_heap;
    run->launch.stop = &record->stop.reason;
    run->launch.run_deferred = kiln__host_run_second;
    run->context = context;
    run->entry = entry_of(request->function);
    run->function = request->function;
    run->request = request;
    run->record = record;
    run->kernel = request->kernel->info->method;
    atomic_flag_clear_explicit(&run->raised, memory_order_relaxed);
    atomic_init(&run->returned, 0);
    run->memory_size = 0;
    atomic_init(&run->no_memory, 0);
    run->stack_bytes = request->kernel->info->stack_bytes;
    atomic_init(&run->no_stack, 0);
    run->module = request->kernel->module != NULL
                      ? request->kernel->module->handle
                      : NULL;
    atomic_init(&run->failed, NULL);
    run->is_heavy = 0;
}

/* Groups were left out, but not because of an exception. */
static kiln_status tell_left(const kiln__host_running *run, kiln_error **error)
{
    switch (atomic_load_explicit(run->launch.stop, memory_order_relaxed)) {
    case KILN__HOST_CANCELED:
        return KILN_ECANCELED;
    case KILN__HOST_TIMED_OUT:
        return kiln__error_set(error, KILN_ETIMEDOUT,
                               "kernel %s was stopped at the launch's time "
                               "limit",
                               run->kernel);
    default:
        return kiln__error_set(error, KILN_EDEVICE,
                               "kernel %s reported a failure and raised no "
                               "exception",
                               run->kernel);
    }
}

/* Some group could not run, since its body could not be made. */
static kiln_status give_failure(kiln__host_running *run, kiln_error **error)
{
    kiln_error *failure = atomic_load(&run->failed);
    const kiln_status status = kiln_error_status(failure);

    if (error != NULL)
        *error = failure;
    else
        kiln_error_free(failure);
    return status;
}

static kiln_status outcome(kiln__host_running *run, kiln_error **error)
{
    if (atomic_load_explicit(&run->failed, memory_order_acquire) != NULL)
        return give_failure(run, error);
    if (atomic_load_explicit(&run->launch.failed, memory_order_relaxed) != 0)
        return KILN_EEXCEPTION;
    if (atomic_load_explicit(&run->no_memory, memory_order_relaxed) != 0)
        return kiln__error_no_memory(error);
    if (atomic_load_explicit(&run->no_stack, memory_order_relaxed) != 0)
        return kiln__error_set(error, KILN_ESTACK,
                               "launch of %s: it needs %zu bytes of stack, and "
                               "no thread that has them can be started",
                               run->kernel, run->stack_bytes);
    if (atomic_load_explicit(&run->returned, memory_order_relaxed) != 0)
        return tell_left(run, error);
    return KILN_OK;
}

/* launch.c has checked that the product fits. */
static uint64_t product(const uint64_t sizes[3])
{
    return sizes[0] * sizes[1] * sizes[2];
}

static kiln_status run_all(kiln__host_running *run, kiln__host_pool *pool,
                           uint64_t items, kiln_error **error)
{
    const uint64_t groups = product(run->launch.groups);

    if (items <= FEW_ITEMS && groups > 1 && !run->is_heavy)
        kiln__host_run_few(pool, groups, kiln__host_run_groups, run,
                           run->function);
    else
        kiln__host_pool_run(pool, groups, kiln__host_run_groups, run);
    return outcome(run, error);
}

static kiln_status run_limited(kiln__host_running *run, kiln__host_pool *pool,
                               uint64_t items, uint32_t milliseconds,
                               kiln_error **error)
{
    kiln__host_record *record = run->record;
    kiln__host_limit limit;
    kiln_status status = kiln__host_timer_begin(
        record->timer, &limit, &record->stop, (uint64_t)milliseconds * 1000000);

    if (status != KILN_OK)
        return kiln__error_set(error, status,
                               "launch of %s: no thread can be started that "
                               "looks at its time limit",
                               run->kernel);
    status = run_all(run, pool, items, error);
    kiln__host_timer_end(record->timer, &limit);
    return status;
}

/* Whether the groups are few, and may be of any size. */
static int may_be_heavy(const kiln__host_running *run,
                        const kiln_launch_request *request, uint64_t items)
{
    return items > 1 && request->block[0] == 0 &&
           request->kernel->info->any_block == KILN_ANY_BLOCK_ALIKE &&
           product(run->launch.groups) < FEW_GROUPS * FEW_GROUPS;
}

static void plan_groups(kiln__host_running *run,
                        const kiln_launch_request *request,
                        kiln__host_plan *plan, kiln__host_pool *pool,
                        uint64_t items)
{
    const uint64_t size = kiln__host_plan_begin(
        plan, pool, run->function, items, run->record->launch_count++);

    if (size == 0)
        return;
    fill_block(run->launch.block, run->launch.grid,
               request->kernel->info->inner_dimension, size);
    count_groups(&run->launch);
    run->is_heavy = 1;
}

kiln_status kiln__host_launch(kiln_context *context, kiln__host_pool *pool,
                              const kiln_launch_request *request,
                              kiln__host_record *record, kiln_error **error)
{
    const kiln_kernel_info *info = request->kernel->info;
    const int needs_memory = (info->static_local_bytes | info->private_bytes |
                              (uint32_t)info->dynamic_local) != 0;
    const uint64_t items = product(request->grid);
    const uint64_t room =
        needs_memory ? KILN__HOST_MEMORY_ITEMS : KILN__HOST_GROUP_ITEMS;
    kiln__host_plan plan;
    kiln__host_running run;
    kiln_status status;

    plan.is_timed = 0;
    begin_launch(&run, context, request, record);
    if (request->block[0] == 0 && items <= least(SMALL_GROUP, room))
        set_one_group(&run.launch, request->grid);
    else
        set_shape(&run.launch, request, room);
    if (may_be_heavy(&run, request, items))
        plan_groups(&run, request, &plan, pool, items);
    if (needs_memory)
        KILN_TRY(measure_memory(&run, pool, request, error));
    kiln__host_stop_begin(&record->stop);
    if (request->time_limit_ms != 0)
        status = run_limited(&run, pool, items, request->time_limit_ms, error);
    else
        status = run_all(&run, pool, items, error);
    kiln__host_stop_end(&record->stop);
    if (run.module != NULL &&
        atomic_load_explicit(&run.module->unproved, memory_order_relaxed) != 0)
        kiln__host_second_tell(run.module, request->kernel);
    if (plan.is_timed && status == KILN_OK)
        kiln__host_plan_end(&plan, pool);
    return status;
}
