/* driver.c - a vendor's driver whose device is this processor. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "irexec.h"
#include "support/fake_gpu/fake_core.h"

/*
 * The names of CUDA and HIP are those of the fake drivers of tests/support;
 * here is what stands behind them, without what leads tests astray. An image
 * is LLVM IR as text, behind an ELF header where the vendor's images have one.
 * A launch has ended when it returns. What went wrong with a module or a
 * launch is the text of the error.
 *
 * IREXEC_DEVICE names the architecture: "sm_90", "gfx90a:sramecc+:xnack-".
 */

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_IMAGE = 200,
    NOT_FOUND = 500,
    LAUNCH_FAILED = 719
};

fake_gpu fake_state;

static fake_context only;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char last_message[IREXEC_MESSAGE] = "no more is known";

static __thread fake_context *current;
static __thread int current_depth;

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("IREXEC_DEVICE");
    int number = 0;

    if (name == NULL || *name == '\0')
        name = IREXEC_DEFAULT_DEVICE;
    fake_state.device_count = 1;
    fake_state.threads = 2048; /* a function may have half of it */
    fake_state.local_bytes = IREXEC_DYNAMIC_MAX;
    (void)snprintf(fake_state.name, sizeof fake_state.name, "IR execution");
    (void)snprintf(fake_state.architecture, sizeof fake_state.architecture,
                   "%s", name);
    if (sscanf(name, "sm_%d", &number) == 1) {
        fake_state.major = number / 10;
        fake_state.minor = number % 10;
    }
}

static void keep_message(const char *message)
{
    pthread_mutex_lock(&lock);
    (void)snprintf(last_message, sizeof last_message, "%s", message);
    pthread_mutex_unlock(&lock);
}

/* ---- nothing fails that was not asked to, and nothing is captured ---- */

int32_t fake_call(const char *name)
{
    (void)name;
    return 0;
}

int32_t fake_forbidden_call(const char *name)
{
    (void)name;
    return 0;
}

int32_t fake_exchange_mode(int *mode)
{
    (void)mode;
    return 0;
}

int32_t fake_stream_is_capturing(void *stream, int *status)
{
    (void)stream;
    *status = 0;
    return 0;
}

/* ---- contexts ---- */

fake_context *fake_current(void)
{
    return current;
}

void fake_set_current(fake_context *context)
{
    current = context;
}

int32_t fake_push(fake_context *context)
{
    current = context;
    current_depth++;
    return 0;
}

int32_t fake_pop(void **context)
{
    *context = current;
    if (--current_depth == 0)
        current = NULL;
    return 0;
}

fake_context *fake_primary(int device)
{
    return device == 0 ? &only : NULL;
}

int32_t fake_device_name(char *name, int size, int device)
{
    (void)device;
    (void)snprintf(name, (size_t)size, "%s", fake_state.name);
    return 0;
}

/* ---- modules ---- */

int32_t fake_module_load(void **module, const void *image, unsigned options,
                         const int *names, void *const *values)
{
    const char *text = image;
    char message[IREXEC_MESSAGE];

    (void)options;
    (void)names;
    (void)values;
    if (memcmp(text, ELFMAG, SELFMAG) == 0)
        text += sizeof(Elf64_Ehdr);
    *module = irexec_module_new(text, message);
    if (*module != NULL)
        return 0;
    keep_message(message);
    return INVALID_IMAGE;
}

int32_t fake_module_unload(void *module)
{
    irexec_module_free(module);
    return 0;
}

int32_t fake_module_function(void **function, void *module, const char *name)
{
    *function = irexec_module_function(module, name);
    return *function != NULL ? 0 : NOT_FOUND;
}

/* ---- streams ---- */

int32_t fake_stream_create(void **stream, unsigned flags)
{
    (void)flags;
    *stream = malloc(1);
    return *stream != NULL ? 0 : OUT_OF_MEMORY;
}

int32_t fake_stream_destroy(void *stream)
{
    free(stream);
    return 0;
}

int32_t fake_stream_synchronize(void *stream)
{
    (void)stream;
    return 0;
}

int32_t fake_stream_query(void *stream)
{
    (void)stream;
    return 0;
}

int32_t fake_synchronize(void)
{
    return 0;
}

/* ---- launches ---- */

static int32_t read_extra(irexec_launch *launch, void **extra, const void *end)
{
    for (; extra != NULL && *extra != end; extra += 2) {
        if (*extra == (void *)(uintptr_t)1)
            launch->block = extra[1];
        else if (*extra == (void *)(uintptr_t)2)
            memcpy(&launch->block_size, extra[1], sizeof launch->block_size);
        else
            return INVALID_VALUE;
    }
    return 0;
}

int32_t fake_run(fake_launch *asked, void *function, void **extra, void *end)
{
    irexec_launch launch = {.block = NULL};
    char message[IREXEC_MESSAGE];

    if (read_extra(&launch, extra, end) != 0)
        return INVALID_VALUE;
    for (int i = 0; i < 3; i++) {
        launch.groups[i] = asked->grid[i];
        launch.items[i] = asked->block[i];
    }
    launch.dynamic = asked->shared_bytes;
    if (irexec_run(function, &launch, message) == 0)
        return 0;
    keep_message(message);
    return LAUNCH_FAILED;
}

/* ---- memory ---- */

int32_t fake_memory_allocate(uint64_t *address, size_t size)
{
    void *memory;

    if (size == 0 || size > (size_t)1 << 40)
        return size == 0 ? INVALID_VALUE : OUT_OF_MEMORY;
    memory = aligned_alloc(256, (size + 255) / 256 * 256);
    *address = (uint64_t)(uintptr_t)memory;
    return memory != NULL ? 0 : OUT_OF_MEMORY;
}

int32_t fake_memory_free(uint64_t address)
{
    free((void *)(uintptr_t)address);
    return 0;
}

int32_t fake_copy(void *to, const void *from, size_t size)
{
    memcpy(to, from, size);
    return 0;
}

int32_t fake_host_allocate(void **memory, size_t size, unsigned flags)
{
    (void)flags;
    *memory = malloc(size);
    return *memory != NULL ? 0 : OUT_OF_MEMORY;
}

int32_t fake_host_free(void *memory)
{
    free(memory);
    return 0;
}

/* ---- words ---- */

int32_t fake_error_name(int32_t result, const char **name)
{
    *name = result == INVALID_IMAGE   ? "INVALID_IMAGE"
            : result == LAUNCH_FAILED ? "LAUNCH_FAILED"
                                      : "ERROR";
    return 0;
}

int32_t fake_error_text(int32_t result, const char **text)
{
    *text = result == INVALID_IMAGE || result == LAUNCH_FAILED
                ? last_message
                : "of the driver's";
    return 0;
}
