/* launch.c - checks a launch, packs its arguments, reports exceptions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/handles.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "abi/device_abi.h"
#include "abi/method_abi.h"
#include "backends/report_text.h"
#include "base/data/arena.h"
#include "base/error.h"
#include "base/options.h"
#include "context/callback.h"
#include "context/keys/settings.h"
#include "context/types/types.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/frontends.h"
#include "tiers/typed/code_instance.h"

/*
 * The hot path, for a kernel that was launched before: one pass over the
 * arguments that checks and packs them into a block on the stack, and the
 * backend's call. Nothing is allocated unless the block is unusually large.
 */

#define STACK_BLOCK 1024
#define BLOCK_ALIGNMENT 64
/* Room after the packed block, from a multiple of 8 on. */
#define HIDDEN_ROOM (8 + 8 * (KILN__HIDDEN_MOST + KILN__CUT_SIZES))

/* ---- arguments ---- */

static kiln_status bad_argument(kiln_error **error, const kiln_kernel *kernel,
                                size_t index, const char *what)
{
    return kiln__error_set(error, KILN_EINVAL,
                           "launch of %s: argument %llu, %s: %s",
                           kernel->info->method, (unsigned long long)index + 1,
                           kernel->info->arguments[index].type, what);
}

/* The distance between the first and the last element must fit a number,
   too. */
static int strides_fit(const kiln_array *array, uint32_t rank,
                       int64_t element_size)
{
    int64_t low = 0, high = 0;

    for (uint32_t i = 0; i < rank; i++) {
        int64_t reach;

        if (array->sizes[i] == 0)
            return 1;
        if (__builtin_mul_overflow(array->sizes[i] - 1, array->strides[i],
                                   &reach) ||
            __builtin_mul_overflow(reach, element_size, &reach) ||
            __builtin_add_overflow(reach < 0 ? low : high, reach,
                                   reach < 0 ? &low : &high))
            return 0;
    }
    return !__builtin_sub_overflow(high, low, &high);
}

static const char *check_array(const kiln_array *array, const kiln_type *type)
{
    const uint64_t element = type->element->size;
    const int64_t element_size =
        element > INT64_MAX ? INT64_MAX : (int64_t)element;
    int64_t total = element_size;
    int is_empty = 0, is_huge = 0;

    for (uint32_t i = 0; i < type->rank; i++) {
        if (array->sizes[i] < 0)
            return "a size is negative";
        is_empty |= array->sizes[i] == 0;
        is_huge |= __builtin_mul_overflow(total, array->sizes[i], &total);
    }
    if (is_huge && !is_empty)
        return "its sizes make more than 9223372036854775807 bytes";
    if (!is_empty && total > 0 && array->data == NULL)
        return "its data is NULL";
    if (type->strided && !strides_fit(array, type->rank, element_size))
        return "its strides are out of range";
    return NULL;
}

/* Flattens an array: data pointer, sizes and, when strided, strides. */
static const char *pack_array(unsigned char *to, const kiln_type *type,
                              const kiln_array *array)
{
    const char *fault = check_array(array, type);

    if (fault != NULL)
        return fault;
    memcpy(to, &array->data, sizeof array->data);
    to += sizeof array->data;
    for (uint32_t i = 0; i < type->rank; i++, to += sizeof(int64_t))
        memcpy(to, &array->sizes[i], sizeof(int64_t));
    for (uint32_t i = 0; type->strided && i < type->rank;
         i++, to += sizeof(int64_t))
        memcpy(to, &array->strides[i], sizeof(int64_t));
    return NULL;
}

/* The same for the usual kind of array: dense, with one dimension. */
static const char *pack_vector(unsigned char *to, const kiln_type *type,
                               const kiln_array *array)
{
    const int64_t size = array->sizes[0];
    uint64_t bytes;

    if (size < 0)
        return "a size is negative";
    if (__builtin_mul_overflow(type->element->size, (uint64_t)size, &bytes) ||
        bytes > INT64_MAX)
        return "its sizes make more than 9223372036854775807 bytes";
    if (bytes > 0 && array->data == NULL)
        return "its data is NULL";
    memcpy(to, &array->data, sizeof array->data);
    memcpy(to + sizeof array->data, &size, sizeof size);
    return NULL;
}

/* Most values are numbers, for which a call of memcpy() takes longer than the
   copy. */
static void pack_value(unsigned char *to, const void *value, uint32_t size)
{
    if (size == 4)
        memcpy(to, value, 4);
    else if (size == 8)
        memcpy(to, value, 8);
    else
        memcpy(to, value, size);
}

/* Returns what is wrong with the argument, or NULL. */
static const char *pack_argument(unsigned char *to, const kiln_type *type,
                                 uint32_t size, const void *value)
{
    if (value == NULL)
        return "its address is NULL";
    if (type->kind == KILN_TYPE_ARRAY)
        return type->rank == 1 && !type->strided ? pack_vector(to, type, value)
                                                 : pack_array(to, type, value);
    pack_value(to, value, size);
    return NULL;
}

static kiln_status pack(unsigned char *block, const kiln_kernel *kernel,
                        const void *const *arguments, kiln_error **error)
{
    const kiln_argument_info *infos = kernel->info->arguments;
    const kiln_type *const *types = kernel->types;
    const size_t count = kernel->info->argument_count;

    for (size_t i = 0; i < count; i++) {
        const char *fault;

        if (infos[i].size == 0)
            continue;
        fault = pack_argument(block + infos[i].offset, types[i], infos[i].size,
                              arguments[i]);
        if (fault != NULL)
            return bad_argument(error, kernel, i, fault);
    }
    return KILN_OK;
}

/* ---- shape ---- */

static kiln_status bad_shape(kiln_error **error, const kiln_kernel *kernel,
                             const char *what)
{
    return kiln__error_set(error, KILN_EINVAL, "launch of %s: %s",
                           kernel->info->method, what);
}

/* The product of three sizes below this fits an i64. */
#define SMALL_SIZE ((uint64_t)1 << 21)

/* Items are numbered with i64, so the product must fit. */
static kiln_status set_grid(kiln_launch_request *request,
                            const kiln_kernel *kernel,
                            const kiln_launch *launch, kiln_error **error)
{
    uint64_t *grid = request->grid;
    uint64_t items = 1;

    for (int i = 0; i < 3; i++)
        grid[i] = launch->grid[i] == 0 ? 1 : launch->grid[i];
    if ((grid[0] | grid[1] | grid[2]) < SMALL_SIZE)
        return KILN_OK;
    for (int i = 0; i < 3; i++)
        if (__builtin_mul_overflow(items, grid[i], &items) || items > INT64_MAX)
            return kiln__error_set(
                error, KILN_EINVAL,
                "launch of %s: a grid of %" PRIu64 ",%" PRIu64 ",%" PRIu64
                " items; a grid has at most %" PRId64,
                kernel->info->method, grid[0], grid[1], grid[2], INT64_MAX);
    return KILN_OK;
}

static int is_zero(const uint32_t block[3])
{
    return (block[0] | block[1] | block[2]) == 0;
}

static kiln_status check_required(const kiln_launch_request *request,
                                  const kiln_kernel *kernel, kiln_error **error)
{
    const uint32_t *required = kernel->info->required_group_size;

    for (int i = 0; i < 3; i++)
        if (required[i] != 0 && request->block[i] != required[i])
            return kiln__error_set(
                error, KILN_EINVAL,
                "launch of %s: a group of %u,%u,%u items, but the kernel is "
                "made for %u,%u,%u",
                kernel->info->method, request->block[0], request->block[1],
                request->block[2], required[0], required[1], required[2]);
    return KILN_OK;
}

static uint32_t at_least_one(uint32_t size)
{
    return size == 0 ? 1 : size;
}

/* If the caller asks for no group size and the kernel requires none, the
   backend chooses. */
static kiln_status set_block(kiln_launch_request *request,
                             const kiln_kernel *kernel,
                             const kiln_launch *launch, kiln_error **error)
{
    const kiln_kernel_info *info = kernel->info;
    const uint32_t *wanted =
        is_zero(launch->block) ? info->required_group_size : launch->block;
    const uint32_t most =
        info->maximum_group_size != 0 ? info->maximum_group_size : INT32_MAX;
    uint64_t items = 1;

    if (is_zero(wanted))
        return KILN_OK;
    for (int i = 0; i < 3; i++) {
        request->block[i] = at_least_one(wanted[i]);
        if (__builtin_mul_overflow(items, request->block[i], &items) ||
            items > most)
            return kiln__error_set(
                error, KILN_EINVAL,
                "launch of %s: a group of %u,%u,%u items; %s has at most "
                "%u",
                info->method, at_least_one(wanted[0]), at_least_one(wanted[1]),
                at_least_one(wanted[2]),
                info->maximum_group_size != 0 ? "a group of this kernel"
                                              : "a group",
                most);
    }
    return check_required(request, kernel, error);
}

static kiln_status set_local(kiln_launch_request *request,
                             const kiln_kernel *kernel,
                             const kiln_launch *launch, kiln_error **error)
{
    if (launch->dynamic_local_bytes != 0 && !kernel->info->dynamic_local)
        return kiln__error_set(error, KILN_EINVAL,
                               "launch of %s: %" PRIu32 " bytes of dynamic "
                               "group memory, and the kernel uses none",
                               kernel->info->method,
                               launch->dynamic_local_bytes);
    request->dynamic_local_bytes = launch->dynamic_local_bytes;
    return KILN_OK;
}

/* ---- exceptions ---- */

static const kiln_frontend *frontend_of(const kiln_kernel *kernel)
{
    return kernel->code != NULL ? kiln__code_frontend(kernel->code) : NULL;
}

/* The part of a method's name after a `#` is for the frontend and not shown to
   people. */
static const char *name_for_people(kiln__arena *arena, const char *method)
{
    const char *name = kiln__arena_string(arena, method, strcspn(method, "#"));

    return name != NULL ? name : method;
}

static void find_place(kiln_location *out, const kiln_frontend *frontend,
                       const char *method, uint32_t ordinal)
{
    *out = (kiln_location){0};
    if (method == NULL)
        return;
    if (frontend != NULL)
        kiln__frontends_locate(out, frontend, method, ordinal);
    else
        (void)kiln__method_place(method, out);
}

/* Replaces the ordinals that kernels report by locations. */
static size_t locate_frames(kiln_frame *out, kiln__arena *arena,
                            const kiln_exception *exception,
                            const kiln_frontend *frontend)
{
    size_t count = exception->frame_count;

    if (count > KILN__FRAMES_MAX)
        count = KILN__FRAMES_MAX;
    for (size_t i = 0; i < count; i++) {
        const kiln_frame *from = &exception->frames[i];
        kiln_location place;

        find_place(&place, frontend, from->function, from->location.line);
        out[i] = (kiln_frame){name_for_people(arena, from->function), place};
    }
    return count;
}

/* A backend that was compiled before frames existed does not fill them. */
static void forget_unknown(kiln_exception *exception)
{
    const size_t known =
        offsetof(kiln_exception, frame_count) + sizeof exception->frame_count;

    if (exception->size < known)
        exception->frame_count = 0;
    exception->size = sizeof *exception;
}

#define LINE_SIZE ((size_t)4096)

/* Returns the text of the exception's line, in the arena, or NULL. */
static const char *find_line(kiln__arena *arena,
                             const kiln_exception *exception,
                             const kiln_frontend *frontend)
{
    char *line = kiln__arena_allocate(arena, LINE_SIZE);

    if (line == NULL || frontend == NULL || exception->method == NULL ||
        exception->location.line == 0 ||
        !kiln__frontends_quote(line, LINE_SIZE, frontend, exception->method,
                               exception->ordinal) ||
        exception->location.column > strlen(line))
        return NULL;
    return line;
}

/* Adds the location from the frontend's current source map. */
static kiln_status report_exception(kiln_exception *exception,
                                    const kiln_frontend *frontend,
                                    kiln_error **error)
{
    kiln_frame frames[KILN__FRAMES_MAX];
    kiln_location place;
    kiln__arena names;
    kiln_status status;

    kiln__arena_init(&names, &kiln__malloc);
    forget_unknown(exception);
    find_place(&place, frontend, exception->method, exception->ordinal);
    if (place.file != NULL)
        exception->location = place;
    exception->source_line = find_line(&names, exception, frontend);
    if (exception->method != NULL)
        exception->method = name_for_people(&names, exception->method);
    exception->frame_count = locate_frames(frames, &names, exception, frontend);
    exception->frames = exception->frame_count > 0 ? frames : NULL;
    status = kiln__error_set_exception(error, exception);
    kiln__arena_dispose(&names);
    return status;
}

/* Empties the queue's record before anything else is called, whatever the
   backend has left in it. The frontend's callback may fork: the child goes on
   here, and knows that this launch is its own by the open callback. */
static kiln_status fail_launch(kiln_queue *queue, kiln_status status,
                               kiln_error **error)
{
    kiln_exception exception = queue->exception;
    kiln__callback callback;

    queue->exception = (kiln_exception){.size = sizeof exception};
    if (status != KILN_EEXCEPTION)
        return status;
    kiln__queue_set_busy(queue, 1);
    kiln__callback_begin(&callback, queue->device->context);
    status = report_exception(&exception, queue->frontend, error);
    kiln__callback_end(&callback);
    kiln__queue_set_busy(queue, 0);
    return status;
}

/* Only a kernel that allocates can run out of memory in this way: so the
   artifact came from a store and its metadata are wrong. It is dropped; the
   next request builds it. */
static void reject_liar(const kiln_queue *queue, const kiln_kernel *kernel)
{
    if (queue->exception.kind == KILN_EXCEPTION_MEMORY &&
        queue->exception.values[0] != 0 && !kernel->info->allocates)
        kiln__artifact_reject(kernel->context, kernel->artifact);
}

/* ---- launching ---- */

/* Each device that a driver opened exists once, so pointers can be compared. */
static int is_at_home(const kiln_device *device, const kiln_kernel *kernel)
{
    return device->shared != NULL && kernel->module != NULL &&
           kernel->module->device == device->shared;
}

/* Checks a kernel that belongs to another device, because the device may be
   offline or adopted. */
static kiln_status check_home(const kiln_device *device,
                              const kiln_kernel *kernel, kiln_error **error)
{
    const struct kiln__loaded_module *module = kernel->module;

    if (device->offline != NULL) {
        if (strcmp(device->offline->target, kernel->config->target) == 0)
            return KILN_OK;
        return kiln__error_set(error, KILN_EINVAL,
                               "launch of %s: it is for %s, the device for %s",
                               kernel->info->method, kernel->config->target,
                               device->offline->target);
    }
    if (module == NULL || module->backend != device->backend)
        return bad_shape(error, kernel, "the kernel is for another backend");
    if (module->device == NULL)
        return kiln__error_set(error, KILN_ENODEVICE,
                               "launch of %s: it was made for an offline "
                               "device",
                               kernel->info->method);
    if (device->shared != NULL && device->shared != module->device)
        return bad_shape(error, kernel, "the kernel is on another device");
    return KILN_OK;
}

/* Clears the block, so that no old bytes of the stack are passed between
   arguments. A block has room for a whole number of these steps. */
static void clear(unsigned char *block, uint32_t size)
{
    for (size_t i = 0; i < size; i += BLOCK_ALIGNMENT)
        memset(block + i, 0, BLOCK_ALIGNMENT);
}

static kiln_status launch_packed(kiln_queue *queue,
                                 kiln_launch_request *request,
                                 unsigned char *block,
                                 const void *const *arguments,
                                 kiln_error **error)
{
    const kiln_device *device = queue->device;
    const kiln_kernel *kernel = request->kernel;
    kiln_status status;

    clear(block, request->argument_bytes);
    KILN_TRY(pack(block, kernel, arguments, error));
    request->arguments = block;
    if (device->workload != NULL &&
        kiln__workload_add(device->workload, kernel) != KILN_OK)
        return kiln__error_no_memory(error);
    if (kernel->info->allocates && device->offline == NULL)
        KILN_TRY(kiln__queue_heap_get(&request->heap, queue, error));
    queue->launches++;
    queue->frontend = frontend_of(kernel);
    kiln__queue_set_busy(queue, 1);
    status = device->ops->launch(device->self, queue->handle, request,
                                 &queue->exception, error);
    kiln__queue_set_busy(queue, 0);
    if (status == KILN_OK && device->ops->native_grew != NULL &&
        device->ops->native_grew(device->self, kernel->module->handle))
        kiln__growth_note(queue, kernel);
    if (status == KILN_EEXCEPTION)
        reject_liar(queue, kernel);
    return status == KILN_OK ? KILN_OK : fail_launch(queue, status, error);
}

static kiln_status launch_large(kiln_queue *queue, kiln_launch_request *request,
                                const void *const *arguments,
                                kiln_error **error)
{
    const kiln_alloc *alloc = &queue->device->context->alloc;
    const size_t size =
        (size_t)request->argument_bytes + HIDDEN_ROOM + 2 * BLOCK_ALIGNMENT;
    unsigned char *memory = kiln__allocate(alloc, size);
    kiln_status status;

    if (memory == NULL)
        return kiln__error_no_memory(error);
    status = launch_packed(
        queue, request,
        memory + (BLOCK_ALIGNMENT - (uintptr_t)memory % BLOCK_ALIGNMENT) %
                     BLOCK_ALIGNMENT,
        arguments, error);
    kiln__deallocate(alloc, memory, size);
    return status;
}

kiln_status kiln__queue_check_idle(const kiln_queue *queue, const char *what,
                                   kiln_error **error)
{
    if (!kiln__queue_is_busy(queue))
        return KILN_OK;
    return kiln__error_set(error, KILN_EBUSY,
                           "%s in a callback: the queue is in the middle of a "
                           "launch, wait or poll; use another queue",
                           what);
}

static kiln_status check_stop(const kiln_queue *queue, kiln_error **error)
{
    if (queue->device->ops->cancel != NULL)
        return KILN_OK;
    return kiln__error_set(error, KILN_EUNSUPPORTED,
                           "%s: its driver cannot stop a kernel that runs, "
                           "neither by kiln_queue_cancel() nor at a time limit",
                           queue->device->name);
}

kiln_status kiln_queue_launch(kiln_queue *queue, const kiln_kernel *kernel,
                              const kiln_launch *launch,
                              const void *const *arguments, size_t count,
                              kiln_error **error)
{
    _Alignas(BLOCK_ALIGNMENT) unsigned char block[STACK_BLOCK + HIDDEN_ROOM];
    kiln_launch_request request = {.size = sizeof request, .kernel = kernel};

    KILN_REQUIRE(queue != NULL, error);
    KILN_REQUIRE(kernel != NULL, error);
    KILN_REQUIRE(launch != NULL, error);
    KILN_REQUIRE(arguments != NULL || count == 0, error);
    if (kiln__queue_is_busy(queue))
        return kiln__queue_check_idle(queue, "a launch", error);
    if (!is_at_home(queue->device, kernel))
        KILN_TRY(check_home(queue->device, kernel, error));
    if (count != kernel->info->argument_count)
        return kiln__error_set(
            error, KILN_EINVAL, "launch of %s: %llu arguments instead of %llu",
            kernel->info->method, (unsigned long long)count,
            (unsigned long long)kernel->info->argument_count);
    request.function = kernel->function;
    request.argument_bytes = kernel->info->argument_bytes;
    request.time_limit_ms = queue->time_limit_ms;
    KILN_TRY(set_grid(&request, kernel, launch, error));
    KILN_TRY(set_block(&request, kernel, launch, error));
    KILN_TRY(set_local(&request, kernel, launch, error));
    if (request.argument_bytes > STACK_BLOCK)
        return launch_large(queue, &request, arguments, error);
    return launch_packed(queue, &request, block, arguments, error);
}

kiln_status kiln_queue_set_time_limit(kiln_queue *queue, uint32_t milliseconds,
                                      kiln_error **error)
{
    KILN_REQUIRE(queue != NULL, error);
    if (milliseconds != 0)
        KILN_TRY(check_stop(queue, error));
    queue->time_limit_ms = milliseconds;
    return KILN_OK;
}

kiln_status kiln_queue_cancel(kiln_queue *queue, kiln_error **error)
{
    const kiln_device *device;

    KILN_REQUIRE(queue != NULL, error);
    device = queue->device;
    KILN_TRY(check_stop(queue, error));
    return device->ops->cancel(device->self, queue->handle, error);
}

kiln_status kiln_queue_native(kiln_native_launch *out, kiln_queue *queue,
                              const kiln_kernel *kernel, kiln_error **error)
{
    kiln_native_launch made = {.size = sizeof made};
    const kiln_backend_ops *ops;
    size_t size;

    KILN_TRY(kiln__sized_check(out, "kiln_native_launch", error));
    KILN_REQUIRE(queue != NULL, error);
    KILN_REQUIRE(kernel != NULL, error);
    if (!is_at_home(queue->device, kernel))
        KILN_TRY(check_home(queue->device, kernel, error));
    ops = queue->device->ops;
    if (ops->native == NULL)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "%s: kernels are launched by Kiln alone",
                               queue->device->name);
    if (kernel->info->allocates) {
        void *heap;

        KILN_TRY(kiln__queue_heap_get(&heap, queue, error));
        made.hidden[KILN__HIDDEN_HEAP - 1] = (uint64_t)(uintptr_t)heap;
    }
    KILN_TRY(ops->native(queue->device->self, queue->handle, kernel->function,
                         &made, error));
    made.hidden_count = kernel->info->hidden_arguments;
    queue->heap.is_lent |= kernel->info->allocates != 0;
    queue->frontend = frontend_of(kernel);
    size = out->size < sizeof made ? out->size : sizeof made;
    made.size = out->size;
    memcpy(out, &made, size);
    return KILN_OK;
}

static kiln_status wait_or_look(kiln_queue *queue, int32_t block,
                                kiln_error **error)
{
    const kiln_device *device;
    kiln_status status;

    KILN_REQUIRE(queue != NULL, error);
    KILN_TRY(kiln__queue_check_idle(queue, block ? "a wait" : "a poll", error));
    device = queue->device;
    kiln__queue_set_busy(queue, 1);
    status = device->ops->wait(device->self, queue->handle, block,
                               &queue->exception, error);
    kiln__queue_set_busy(queue, 0);
    if (device->ops->native_grew != NULL &&
        (status == KILN_OK || status == KILN_EEXCEPTION))
        kiln__growth_save(queue, device->context);
    if (block ? status == KILN_OK || status == KILN_EEXCEPTION
              : status == KILN_OK)
        kiln__queue_heap_rest(queue);
    return status == KILN_OK ? KILN_OK : fail_launch(queue, status, error);
}

kiln_status kiln_queue_wait(kiln_queue *queue, kiln_error **error)
{
    return wait_or_look(queue, 1, error);
}

kiln_status kiln_queue_poll(kiln_queue *queue, kiln_error **error)
{
    return wait_or_look(queue, 0, error);
}
