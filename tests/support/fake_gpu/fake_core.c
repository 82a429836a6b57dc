/* fake_core.c - a driver in memory, without the names of a vendor. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "fake_core.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Results that CUresult and hipError_t have in common. */
enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_IMPLICIT = 906
};

#define DEVICES_MAX 4
#define DEPTH_MAX 16
#define STREAMS_MAX 64
#define MODE_RELAXED 2

typedef struct fake_module {
    fake_context *context;
    const char *image;
    struct fake_function *functions;
} fake_module;

typedef struct fake_function {
    fake_module *module;
    char name[128];
    struct fake_function *next;
} fake_function;

typedef struct fake_stream {
    fake_context *context;
    int is_blocking;
    int is_capturing;
} fake_stream;

fake_gpu fake_state;
static fake_context primaries[DEVICES_MAX];
static fake_stream *streams[STREAMS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static __thread fake_context *stack[DEPTH_MAX];
static __thread int depth;
static __thread int mode;

/* ---- functions that tests call ---- */

FAKE_EXPORT fake_gpu *fake_gpu_reset(void);
FAKE_EXPORT void *fake_gpu_context(int device);
FAKE_EXPORT void *fake_gpu_stream(void *context, int is_blocking);
FAKE_EXPORT void fake_gpu_end_context(void *handle);
FAKE_EXPORT void fake_gpu_end_stream(void *handle);
FAKE_EXPORT void fake_gpu_capture(void *stream, int is_capturing);

fake_gpu *fake_gpu_reset(void)
{
    pthread_mutex_lock(&lock);
    fake_state = (fake_gpu){.device_count = 1,
                            .major = 8,
                            .name = "Fake GPU",
                            .architecture = "gfx90a:sramecc+:xnack-",
                            .threads = 1024,
                            .local_bytes = 100 << 10};
    for (int i = 0; i < DEVICES_MAX; i++)
        primaries[i] = (fake_context){.device = i};
    depth = 0;
    mode = 0;
    pthread_mutex_unlock(&lock);
    return &fake_state;
}

/* A test that only opens the library finds a device, too. */
__attribute__((constructor)) static void begin(void)
{
    (void)fake_gpu_reset();
}

void *fake_gpu_context(int device)
{
    fake_context *context = calloc(1, sizeof *context);

    if (context != NULL)
        context->device = device;
    return context;
}

void fake_gpu_end_context(void *handle)
{
    free(handle);
}

static fake_stream *stream_new(fake_context *context, int is_blocking)
{
    fake_stream *stream = calloc(1, sizeof *stream);

    if (stream == NULL)
        return NULL;
    stream->context = context;
    stream->is_blocking = is_blocking;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < STREAMS_MAX; i++)
        if (streams[i] == NULL) {
            streams[i] = stream;
            break;
        }
    pthread_mutex_unlock(&lock);
    return stream;
}

void *fake_gpu_stream(void *context, int is_blocking)
{
    return stream_new(context, is_blocking);
}

void fake_gpu_end_stream(void *handle)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < STREAMS_MAX; i++)
        if (streams[i] == handle)
            streams[i] = NULL;
    pthread_mutex_unlock(&lock);
    free(handle);
}

void fake_gpu_capture(void *stream, int is_capturing)
{
    fake_stream *of = stream;

    pthread_mutex_lock(&lock);
    of->is_capturing = is_capturing;
    pthread_mutex_unlock(&lock);
}

/* ---- calls ---- */

/* True for calls about the current context: they work without a device. */
static int is_of_thread(const char *name)
{
    return strncmp(name, "cuCtx", 5) == 0 || strncmp(name, "hipCtx", 6) == 0 ||
           strcmp(name, "hipGetDevice") == 0 ||
           strcmp(name, "hipSetDevice") == 0;
}

static int32_t count_call(const char *name)
{
    fake_gpu *state = &fake_state;

    state->calls++;
    if (state->fail_at == 0 || (state->is_lasting && is_of_thread(name)) ||
        (state->fail_name != NULL && strcmp(state->fail_name, name) != 0))
        return 0;
    if (state->fail_at > 1) {
        state->fail_at--;
        return 0;
    }
    if (!state->is_lasting)
        state->fail_at = 0;
    (void)snprintf(state->failed, sizeof state->failed, "%s", name);
    return state->fail_with;
}

int32_t fake_call(const char *name)
{
    int32_t result;

    if (fake_state.is_quick)
        return 0;
    pthread_mutex_lock(&lock);
    result = count_call(name);
    pthread_mutex_unlock(&lock);
    return result;
}

/* Called with the lock held. */
static int any_capture(int blocking_only)
{
    for (int i = 0; i < STREAMS_MAX; i++)
        if (streams[i] != NULL && streams[i]->is_capturing &&
            (streams[i]->is_blocking || !blocking_only))
            return 1;
    return 0;
}

static int32_t end_captures(const char *name)
{
    fake_state.capture_broken = 1;
    (void)snprintf(fake_state.broken_by, sizeof fake_state.broken_by, "%s",
                   name);
    return CAPTURE_UNSUPPORTED;
}

int32_t fake_forbidden_call(const char *name)
{
    int32_t result;

    pthread_mutex_lock(&lock);
    result = count_call(name);
    if (result == 0 && mode != MODE_RELAXED && any_capture(0))
        result = end_captures(name);
    pthread_mutex_unlock(&lock);
    return result;
}

/* ---- contexts ---- */

fake_context *fake_current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

void fake_set_current(fake_context *context)
{
    depth = context != NULL;
    stack[0] = context;
}

int32_t fake_push(fake_context *context)
{
    if (context == NULL || depth == DEPTH_MAX)
        return INVALID_CONTEXT;
    stack[depth++] = context;
    return 0;
}

int32_t fake_pop(void **context)
{
    if (depth == 0)
        return INVALID_CONTEXT;
    *context = stack[--depth];
    return 0;
}

int32_t fake_exchange_mode(int *out)
{
    const int before = mode;

    mode = *out;
    *out = before;
    return 0;
}

fake_context *fake_primary(int device)
{
    return device >= 0 && device < DEVICES_MAX ? &primaries[device] : NULL;
}

int32_t fake_device_name(char *name, int size, int device)
{
    if (device == 0)
        (void)snprintf(name, (size_t)size, "%s", fake_state.name);
    else
        (void)snprintf(name, (size_t)size, "%s %d", fake_state.name, device);
    return 0;
}

/* ---- modules ---- */

/* Writes what a driver's compiler would print. */
static void write_log(unsigned options, const int *names, void *const *values,
                      const char *text)
{
    char *log = NULL;
    size_t size = 0;

    for (unsigned i = 0; i < options; i++) {
        if (names[i] == 5)
            log = values[i];
        if (names[i] == 6)
            size = (size_t)(uintptr_t)values[i];
    }
    if (log != NULL && size > 0)
        (void)snprintf(log, size, "%s", text);
}

int32_t fake_module_load(void **out, const void *image, unsigned options,
                         const int *names, void *const *values)
{
    const char *text = image;
    fake_module *module;

    if (fake_current() == NULL)
        return INVALID_CONTEXT;
    if (memcmp(text, "\177ELF", 4) != 0 && memcmp(text, ".version", 8) != 0) {
        write_log(options, names, values, "fake: line 1: nonsense\n");
        return INVALID_IMAGE;
    }
    module = calloc(1, sizeof *module);
    if (module == NULL)
        return OUT_OF_MEMORY;
    module->context = fake_current();
    module->image = image;
    pthread_mutex_lock(&lock);
    fake_state.modules++;
    fake_state.loads++;
    pthread_mutex_unlock(&lock);
    *out = module;
    return 0;
}

int32_t fake_module_unload(void *handle)
{
    fake_module *module = handle;

    if (module->context != fake_current())
        return INVALID_CONTEXT;
    while (module->functions != NULL) {
        fake_function *function = module->functions;

        module->functions = function->next;
        free(function);
    }
    free(module);
    pthread_mutex_lock(&lock);
    fake_state.modules--;
    pthread_mutex_unlock(&lock);
    return 0;
}

int32_t fake_module_function(void **out, void *handle, const char *name)
{
    fake_module *module = handle;
    fake_function *function;

    if (module->context != fake_current())
        return INVALID_CONTEXT;
    if (strcmp(name, "missing") == 0)
        return NOT_FOUND;
    function = calloc(1, sizeof *function);
    if (function == NULL)
        return OUT_OF_MEMORY;
    function->module = module;
    (void)snprintf(function->name, sizeof function->name, "%s", name);
    pthread_mutex_lock(&lock);
    function->next = module->functions;
    module->functions = function;
    pthread_mutex_unlock(&lock);
    *out = function;
    return 0;
}

/* ---- streams ---- */

int32_t fake_stream_create(void **out, unsigned flags)
{
    if (fake_current() == NULL)
        return INVALID_CONTEXT;
    *out = stream_new(fake_current(), flags == 0);
    if (*out == NULL)
        return OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    fake_state.streams++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int32_t fake_stream_destroy(void *stream)
{
    fake_gpu_end_stream(stream);
    pthread_mutex_lock(&lock);
    fake_state.streams--;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* Asks about a stream. If it is being captured, that ends the capture, in every
   mode. */
static int32_t ask(const fake_stream *stream, const char *name)
{
    int32_t result = 0;

    pthread_mutex_lock(&lock);
    if (stream->context != fake_current())
        result = INVALID_HANDLE;
    else if (stream->is_capturing)
        result = end_captures(name);
    pthread_mutex_unlock(&lock);
    return result;
}

int32_t fake_stream_synchronize(void *stream)
{
    pthread_mutex_lock(&lock);
    fake_state.is_held = 0;
    pthread_mutex_unlock(&lock);
    return ask(stream, "stream synchronize");
}

int32_t fake_stream_query(void *stream)
{
    int32_t result = ask(stream, "stream query");

    pthread_mutex_lock(&lock);
    if (result == 0 && fake_state.is_held)
        result = NOT_READY;
    pthread_mutex_unlock(&lock);
    return result;
}

int32_t fake_stream_is_capturing(void *stream, int *status)
{
    int32_t result = 0;

    pthread_mutex_lock(&lock);
    if (stream != NULL)
        *status = ((const fake_stream *)stream)->is_capturing;
    else if (any_capture(1))
        result = CAPTURE_IMPLICIT;
    else
        *status = 0;
    pthread_mutex_unlock(&lock);
    return result;
}

int32_t fake_synchronize(void)
{
    pthread_mutex_lock(&lock);
    fake_state.syncs++;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- launches ---- */

static int32_t read_extra(fake_launch *launch, void **extra, const void *end)
{
    for (; extra != NULL && *extra != end; extra += 2) {
        if (*extra == (void *)(uintptr_t)1)
            launch->arguments = extra[1];
        else if (*extra == (void *)(uintptr_t)2)
            memcpy(&launch->size, extra[1], sizeof launch->size);
        else
            return INVALID_VALUE;
    }
    return (launch->arguments == NULL) == (launch->size == 0) ? 0
                                                              : INVALID_VALUE;
}

int32_t fake_run(fake_launch *launch, void *handle, void **extra, void *end)
{
    const fake_function *function = handle;
    const fake_stream *stream = launch->stream;
    const uint64_t items =
        (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    int32_t result;

    if (fake_state.is_quick)
        return 0;
    result = read_extra(launch, extra, end);
    if (result != 0)
        return result;
    if (function->module->context != fake_current() ||
        stream->context != fake_current())
        return INVALID_HANDLE;
    if (items == 0 || items > (uint64_t)fake_state.threads ||
        launch->grid[0] == 0 || launch->grid[1] == 0 || launch->grid[2] == 0)
        return INVALID_VALUE;
    pthread_mutex_lock(&lock);
    fake_state.launches++;
    fake_state.captured += (uint64_t)stream->is_capturing;
    if (stream->is_capturing)
        (void)snprintf(fake_state.captured_function,
                       sizeof fake_state.captured_function, "%s",
                       function->name);
    pthread_mutex_unlock(&lock);
    if (stream->is_capturing || fake_state.run == NULL)
        return 0;
    launch->function = function->name;
    launch->image = function->module->image;
    fake_state.run(fake_state.env, launch);
    return 0;
}

/* ---- memory ---- */

/* The size is stored before the block, so that addresses after its end are
   found to belong to no block. */
int32_t fake_memory_allocate(uint64_t *address, size_t size)
{
    void *memory;

    if (fake_current() == NULL)
        return INVALID_CONTEXT;
    if (size == 0)
        return INVALID_VALUE;
    if (size > (size_t)1 << 40)
        return OUT_OF_MEMORY;
    memory = aligned_alloc(256, (size + 255) / 256 * 256);
    if (memory == NULL)
        return OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    fake_state.buffers++;
    pthread_mutex_unlock(&lock);
    *address = (uint64_t)(uintptr_t)memory;
    return 0;
}

int32_t fake_memory_free(uint64_t address)
{
    free((void *)(uintptr_t)address);
    pthread_mutex_lock(&lock);
    fake_state.buffers--;
    pthread_mutex_unlock(&lock);
    return 0;
}

int32_t fake_copy(void *to, const void *from, size_t size)
{
    if (fake_current() == NULL)
        return INVALID_CONTEXT;
    memcpy(to, from, size);
    return 0;
}

int32_t fake_host_allocate(void **memory, size_t size, unsigned flags)
{
    if (fake_current() == NULL)
        return INVALID_CONTEXT;
    *memory = malloc(size);
    if (*memory == NULL)
        return OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    fake_state.host_blocks++;
    fake_state.host_flags = (int)flags;
    pthread_mutex_unlock(&lock);
    return 0;
}

int32_t fake_host_free(void *memory)
{
    free(memory);
    pthread_mutex_lock(&lock);
    fake_state.host_blocks--;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- texts ---- */

int32_t fake_error_name(int32_t result, const char **name)
{
    *name = result == OUT_OF_MEMORY ? "FAKE_ERROR_OUT_OF_MEMORY"
            : result == 700         ? "FAKE_ERROR_ILLEGAL_ADDRESS"
                                    : "FAKE_ERROR";
    return 0;
}

int32_t fake_error_text(int32_t result, const char **text)
{
    (void)result;
    *text = "the fake's words";
    return 0;
}
