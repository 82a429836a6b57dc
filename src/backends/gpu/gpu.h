/* gpu.h - the driver of CUDA and of HIP, which are one under two names. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_GPU_H
#define KILN_GPU_H

#include <stdatomic.h>

#include "backends/device/device_driver.h"

/*
 * HIP has CUDA's functions, arguments and numbers, so both backends are one
 * driver over a table of functions. What differs is a vendor's: names of
 * symbols and targets, how a context is made current, some constants.
 *
 * A native context (of HIP: a device) has one kiln__gpu_context, whoever
 * opened or adopted it. A module is loaded into each context in which it is
 * used: where it was compiled for at once, elsewhere at the first launch.
 *
 * Locks: the backend's is held for lists only, never while a driver runs.
 */

/* ---- the functions of a driver ---- */

typedef int32_t kiln__gpu_result; /* CUresult, hipError_t; 0 is success */

/* CUlaunchConfig. */
typedef struct kiln__gpu_launch_config {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void *stream;
    void *attributes;
    unsigned attribute_count;
} kiln__gpu_launch_config;

/* Handles are pointers, devices ints, device addresses 64 bits. */
#define KILN__GPU_API(X) \
    X(init, (unsigned flags)) \
    X(device_count, (int *count)) \
    X(device_get, (int *device, int ordinal)) \
    X(device_name, (char *name, int size, int device)) \
    X(device_attribute, (int *value, int attribute, int device)) \
    X(device_properties, (void *properties, int device)) \
    X(device_properties_old, (void *properties, int device)) \
    X(device_current, (int *device)) \
    X(device_set, (int device)) \
    X(context_retain, (void **context, int device)) \
    X(context_release, (int device)) \
    X(context_push, (void *context)) \
    X(context_pop, (void **context)) \
    X(context_current, (void **context)) \
    X(context_device, (int *device)) \
    X(synchronize, (void)) \
    X(module_load, (void **module, const void *image, unsigned options, \
                    int *names, void **values)) \
    X(module_unload, (void *module)) \
    X(module_function, (void **function, void *module, const char *name)) \
    X(function_attribute, (int *value, int attribute, void *function)) \
    X(stream_create, (void **stream, unsigned flags)) \
    X(stream_destroy, (void *stream)) \
    X(stream_synchronize, (void *stream)) \
    X(stream_query, (void *stream)) \
    X(stream_is_capturing, (void *stream, int *status)) \
    X(capture_mode, (int *mode)) \
    X(launch, \
      (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, \
       unsigned block_x, unsigned block_y, unsigned block_z, \
       unsigned shared_bytes, void *stream, void **parameters, void **extra)) \
    X(launch_ex, (const kiln__gpu_launch_config *config, void *function, \
                  void **parameters, void **extra)) \
    X(memory_allocate, (uint64_t * address, size_t size)) \
    X(memory_free, (uint64_t address)) \
    X(copy, (uint64_t to, uint64_t from, size_t size)) \
    X(copy_kind, (void *to, const void *from, size_t size, int kind)) \
    X(host_allocate, (void **memory, size_t size, unsigned flags)) \
    X(host_free, (void *memory)) \
    X(host_address, (uint64_t * address, void *memory, unsigned flags)) \
    X(error_name, (kiln__gpu_result result, const char **name)) \
    X(error_text, (kiln__gpu_result result, const char **text))

#define KILN__GPU_INDEX(name, parameters) KILN__GPU_##name,
enum { KILN__GPU_API(KILN__GPU_INDEX) KILN__GPU_API_COUNT };
#undef KILN__GPU_INDEX

/* What this driver lacks is NULL. */
#define KILN__GPU_MEMBER(name, parameters) kiln__gpu_result(*name) parameters;
typedef struct kiln__gpu_api {
    KILN__GPU_API(KILN__GPU_MEMBER)
} kiln__gpu_api;
#undef KILN__GPU_MEMBER

typedef struct kiln__gpu_symbol {
    const char *name; /* NULL: this vendor has no such function */
    int is_optional;
} kiln__gpu_symbol;

/* ---- vendors ---- */

typedef struct kiln__gpu_backend kiln__gpu_backend;
typedef struct kiln__gpu_context kiln__gpu_context;

/* What was current before. */
typedef struct kiln__gpu_place {
    int device;
    int is_changed;
    int capture_mode; /* of the thread */
    int is_relaxed;
} kiln__gpu_place;

typedef struct kiln__gpu_vendor {
    const char *name;             /* of the backend */
    const char *format;           /* of its artifacts */
    const char *variable;         /* that names the driver's library */
    const char *const *libraries; /* tried in order; ends with NULL */
    const kiln__gpu_symbol *symbols;
    /* Numbers of attributes; y and z of a dimension follow x. */
    int major, minor, threads, block_x, grid_x, width;
    unsigned host_flags; /* of memory that both sides see */
    void *launch_end;    /* ends the extra arguments of a launch */

    kiln_status (*describe)(kiln__gpu_backend *backend, const char *name,
                            kiln_target *out, kiln_error **error);
    /* KILN_ENODEVICE: code of this target and format does not run there. */
    kiln_status (*fits)(const kiln__gpu_context *context, const char *target,
                        const char *format, kiln_error **error);
    /* Fills `architecture`, after the attributes. */
    kiln__gpu_result (*identify)(const kiln__gpu_api *api,
                                 kiln__gpu_context *context);
    /* The native context of a device, and its end. */
    kiln__gpu_result (*retain)(const kiln__gpu_api *api, int device,
                               void **native);
    void (*release)(const kiln__gpu_api *api, int device);
    /* The device of a native context; `*native` is what tells it apart. */
    kiln__gpu_result (*adopt)(const kiln__gpu_api *api, void **native,
                              int *device);
    kiln__gpu_result (*enter)(const kiln__gpu_api *api,
                              const kiln__gpu_context *context,
                              kiln__gpu_place *before);
    void (*leave)(const kiln__gpu_api *api, const kiln__gpu_place *before);
} kiln__gpu_vendor;

/* ---- the driver's library: gpu_library.c ---- */

typedef struct kiln__gpu_driver {
    kiln__gpu_api api;
    uint32_t device_count;            /* 0: `reason` says why */
    int may_pass;                     /* so it is tried again */
    struct kiln__gpu_driver *earlier; /* that was, and whose reason is lent */
    char reason[512];
} kiln__gpu_driver;

/* Opens the library at the first call; a failure is remembered in the driver,
   if it lasts. NULL: out of memory. */
const kiln__gpu_driver *kiln__gpu_driver_get(kiln__gpu_backend *backend);
void kiln__gpu_drivers_free(kiln__gpu_backend *backend);

/* ---- errors: gpu_error.c ---- */

/* "NAME (text)" of a result; the driver's words or, without them, ours. */
void kiln__gpu_result_text(char *text, size_t size, const kiln__gpu_api *api,
                           kiln__gpu_result result);
/* What a result means, and whether the device is lost with it. */
kiln_status kiln__gpu_result_status(kiln__gpu_result result, int *is_lasting);
/* Of beginning: may it go well another time? */
int kiln__gpu_result_may_pass(kiln__gpu_result result);
/* An error of the backend's: "cuda: WHAT: NAME (text)". A device that is lost
   stays so. */
kiln_status kiln__gpu_fail(kiln__gpu_context *context, kiln__gpu_result result,
                           kiln_error **error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* KILN_EDEVICE in the child of a fork(), whose driver the parent has. */
kiln_status kiln__gpu_check_process(const kiln__gpu_context *context,
                                    kiln_error **error);
/* The same, or once the device was lost. */
kiln_status kiln__gpu_check(const kiln__gpu_context *context,
                            kiln_error **error);

#define KILN__GPU_NOT_READY 600
#define KILN__GPU_NOT_FOUND 500
#define KILN__GPU_OUT_OF_MEMORY 2
#define KILN__GPU_NOT_SUPPORTED 801
#define KILN__GPU_CAPTURE_IMPLICIT 906

/* ---- contexts: gpu_context.c ---- */

struct kiln__gpu_context {
    kiln__gpu_backend *backend;
    const kiln__gpu_api *api;
    void *native;
    int device;
    int is_retained; /* the vendor's release() is owed */
    uint32_t references;
    char name[256];
    char architecture[64]; /* "sm_90", "gfx90a:sramecc+:xnack-" */
    int major, minor;
    kiln__group_limits limits;
    _Atomic int32_t lost;            /* the result with which it was, or 0 */
    struct kiln__gpu_queue *adopted; /* queues whose streams are the caller's */
    kiln__gpu_context *next;
};

/* The architecture of device 0; "" when there is none. KILN_EIO: nobody can
   tell now. */
kiln_status kiln__gpu_first_architecture(char *text, size_t size,
                                         kiln__gpu_backend *backend,
                                         kiln_error **error);
kiln_status kiln__gpu_context_open(kiln__gpu_context **out,
                                   kiln__gpu_backend *backend, uint32_t ordinal,
                                   kiln_error **error);
kiln_status kiln__gpu_context_adopt(kiln__gpu_context **out,
                                    kiln__gpu_backend *backend, void *native,
                                    kiln_error **error);
void kiln__gpu_context_close(kiln__gpu_context *context);

/* Makes it current. Every call of the driver stands between these two, which
   leave the caller's own context current afterwards. */
kiln_status kiln__gpu_enter(kiln__gpu_context *context, kiln__gpu_place *before,
                            kiln_error **error);
void kiln__gpu_leave(const kiln__gpu_context *context,
                     const kiln__gpu_place *before);
/* The same around calls that would end a capture that is under way. */
kiln_status kiln__gpu_enter_apart(kiln__gpu_context *context,
                                  kiln__gpu_place *before, kiln_error **error);

/* The same to free something: tries once more, and says whether it is in. */
int kiln__gpu_enter_to_free(kiln__gpu_context *context,
                            kiln__gpu_place *before);

/* ---- modules: gpu_module.c ---- */

/* A module in one context. */
typedef struct kiln__gpu_loaded {
    kiln__gpu_context *context;
    void *handle;
    struct kiln__gpu_loaded *next;
} kiln__gpu_loaded;

/* A function in one context; never freed before the function, so that it can
   be looked for without a lock. */
typedef struct kiln__gpu_entry {
    _Atomic(kiln__gpu_context *) context; /* NULL: it was closed */
    void *handle;
    uint32_t threads; /* of a group at most */
    _Atomic(struct kiln__gpu_entry *) next;
} kiln__gpu_entry;

typedef struct kiln__gpu_function {
    struct kiln__gpu_module *module;
    char *name;
    uint64_t number; /* among the loaded kernels */
    kiln__gpu_entry first;
    struct kiln__gpu_function *next;
} kiln__gpu_function;

typedef struct kiln__gpu_module {
    kiln__gpu_backend *backend;
    const kiln_artifact *artifact; /* retained */
    void *image;                   /* what drivers read */
    size_t image_size;
    kiln__gpu_loaded *loaded;
    kiln__gpu_function *functions;
    struct kiln__gpu_module *previous, *next;
} kiln__gpu_module;

kiln_status kiln__gpu_module_new(kiln__gpu_module **out,
                                 kiln__gpu_context *context,
                                 const kiln_artifact *artifact,
                                 kiln_error **error);
void kiln__gpu_module_free(kiln__gpu_module *module);
kiln_status kiln__gpu_function_new(kiln__gpu_function **out,
                                   kiln__gpu_module *module, const char *name,
                                   kiln_error **error);
/* The function in that context; loads the module there if need be. */
kiln_status kiln__gpu_function_in(const kiln__gpu_entry **out,
                                  kiln__gpu_function *function,
                                  kiln__gpu_context *context,
                                  kiln_error **error);
/* Takes all modules off a context that ends. */
void kiln__gpu_modules_leave(kiln__gpu_context *context);

/* ---- images: gpu_image.c ---- */

/* Copies an artifact's payload for drivers, which are told no size: an ELF
   image ends where its headers say, a text with a NUL. KILN_ECORRUPT for an
   image that goes on behind its end. */
kiln_status kiln__gpu_image_copy(void **out, size_t *out_size,
                                 const kiln_alloc *alloc,
                                 const kiln_artifact *artifact,
                                 kiln_error **error);

/* ---- queues: gpu_queue.c ---- */

typedef struct kiln__gpu_queue {
    kiln__gpu_context *context;
    void *stream;
    int is_adopted;
    void *state;            /* as the host sees it */
    uint64_t state_address; /* as the device does */
    kiln__launch_shape shape;
    kiln__device_record record;
    uint32_t pins; /* under the backend's lock: somebody looks at it */
    struct kiln__gpu_queue *next; /* of the context's adopted ones */
} kiln__gpu_queue;

kiln_status kiln__gpu_queue_new(kiln__gpu_queue **out,
                                kiln__gpu_context *context, void *native,
                                kiln_error **error);
void kiln__gpu_queue_free(kiln__gpu_queue *queue);
kiln_status kiln__gpu_queue_launch(kiln__gpu_queue *queue,
                                   const kiln_launch_request *request,
                                   kiln_error **error);
kiln_status kiln__gpu_queue_wait(kiln__gpu_queue *queue, int block,
                                 kiln_exception *exception, kiln_error **error);
/* KILN_EBUSY while a stream of the context is being captured. */
kiln_status kiln__gpu_check_capture(kiln__gpu_context *context,
                                    kiln_error **error);

/* ---- the backend: gpu_backend.c ---- */

struct kiln__gpu_backend {
    kiln_context *context;
    const kiln__gpu_vendor *vendor;
    char *library; /* that the user named, or NULL */
    kiln__mutex lock;
    kiln__fork_guard guard;
    int is_child; /* of a fork() after the driver was opened */
    _Atomic(kiln__gpu_driver *) driver;
    kiln__gpu_context *contexts;
    kiln__gpu_module *modules;
    kiln__loaded_kernels kernels;
};

/* Makes a vendor's backend and its table. */
kiln_status kiln__gpu_backend_new(kiln_backend_ops *ops, void **self,
                                  kiln_context *context,
                                  const kiln__gpu_vendor *vendor,
                                  kiln_error **error);

#endif /* KILN_GPU_H */
