/* fake_core.h - what both fake drivers share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FAKE_CORE_H
#define KILN_TESTS_FAKE_CORE_H

#include "fake_gpu.h"

#define FAKE_EXPORT __attribute__((visibility("default")))

typedef struct fake_context {
    int device;
    int references;
} fake_context;

extern fake_gpu fake_state;

/* Counts a call. Returns what it has to return if it is to fail, else 0. */
int32_t fake_call(const char *name);
/* As fake_call(), for a call that a capture forbids. */
int32_t fake_forbidden_call(const char *name);

/* The context of the calling thread. */
fake_context *fake_current(void);
void fake_set_current(fake_context *context);
int32_t fake_push(fake_context *context);
int32_t fake_pop(void **context);
int32_t fake_exchange_mode(int *mode);

fake_context *fake_primary(int device);
int32_t fake_device_name(char *name, int size, int device);
int32_t fake_module_load(void **module, const void *image, unsigned options,
                         const int *names, void *const *values);
int32_t fake_module_unload(void *module);
int32_t fake_module_function(void **function, void *module, const char *name);
int32_t fake_stream_create(void **stream, unsigned flags);
int32_t fake_stream_destroy(void *stream);
int32_t fake_stream_synchronize(void *stream);
int32_t fake_stream_query(void *stream);
int32_t fake_stream_is_capturing(void *stream, int *status);
int32_t fake_synchronize(void);
/* `extra` is a list that ends with `end`. */
int32_t fake_run(fake_launch *launch, void *function, void **extra, void *end);
int32_t fake_memory_allocate(uint64_t *address, size_t size);
int32_t fake_memory_free(uint64_t address);
int32_t fake_copy(void *to, const void *from, size_t size);
int32_t fake_host_allocate(void **memory, size_t size, unsigned flags);
int32_t fake_host_free(void *memory);
int32_t fake_error_name(int32_t result, const char **name);
int32_t fake_error_text(int32_t result, const char **text);

/* ---- for both drivers ---- */

#define CALL(name) \
    do { \
        const int32_t failed_ = fake_call(name); \
        if (failed_ != 0) \
            return failed_; \
    } while (0)
#define FORBIDDEN_CALL(name) \
    do { \
        const int32_t failed_ = fake_forbidden_call(name); \
        if (failed_ != 0) \
            return failed_; \
    } while (0)

#define ENTRY(name, parameters) \
    FAKE_EXPORT int32_t name parameters; \
    int32_t name parameters

FAKE_EXPORT void *fake_gpu_current(void);
FAKE_EXPORT void fake_gpu_set_current(void *context);

#endif /* KILN_TESTS_FAKE_CORE_H */
