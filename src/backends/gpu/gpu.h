/* gpu.h - one driver for CUDA and HIP. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_GPU_H
#define KILN_GPU_H

#include <stdatomic.h>

#include "backends/device/device_driver.h"
#include "backends/facts.h"

/*
 * HIP has the functions, arguments and numbers of CUDA under other names, so
 * both backends are one driver over a table of functions. The differences are
 * in kiln__gpu_vendor: names of symbols and targets, how a context is made
 * current, some constants.
 *
 * A native context (for HIP: a device) has one kiln__gpu_context, whoever
 * opened or adopted it. A module is loaded into each context that uses it: at
 * once into the context that it was compiled for, and into others at the first
 * launch.
 *
 * The backend's lock is held only to read and change lists, never while a
 * driver runs.
 */

/* ---- the functions of a driver ---- */

typedef int32_t kiln__gpu_result; /* a CUresult or hipError_t; 0 is success */

/* The same as CUlaunchConfig. */
typedef struct kiln__gpu_launch_config {
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void *stream;
    void *attributes;
    unsigned attribute_count;
} kiln__gpu_launch_config;

/* Handles are pointers, devices are ints, device addresses have 64 bits. */
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
    X(function_set_attribute, (void *function, int attribute, int value)) \
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

/* A function that this driver lacks is NULL. */
#define KILN__GPU_MEMBER(name, parameters) kiln__gpu_result(*name) parameters;
typedef struct kiln__gpu_api {
    KILN__GPU_API(KILN__GPU_MEMBER)
} kiln__gpu_api;
#undef KILN__GPU_MEMBER

typedef struct kiln__gpu_symbol {
    const char *name; /* NULL: this vendor does not have the function */
    int is_optional;
} kiln__gpu_symbol;

/* ---- vendors ---- */

typedef struct kiln__gpu_backend kiln__gpu_backend;
typedef struct kiln__gpu_context kiln__gpu_context;

/* What was current on the thread before kiln__gpu_enter(). */
typedef struct kiln__gpu_place {
    int device;
    int is_changed;
    int capture_mode; /* of the thread */
    int is_relaxed;
} kiln__gpu_place;

typedef struct kiln__gpu_vendor {
    const char *name;   /* of the backend */
    const char *format; /* of its artifacts */
    /* Environment variable that names the driver's library. */
    const char *variable;
    const char *const *libraries; /* tried in order; ends with NULL */
    const kiln__gpu_symbol *symbols;
    /* Numbers of attributes. Those of y and z follow that of x. */
    int major, minor, threads, block_x, grid_x, width;
    int local; /* the most memory of a group */
    /* A function may have more group memory than this in all if it asks for it,
       with this attribute, which is of the dynamic part; 0: it need not ask. */
    uint32_t local_unasked;
    int local_attribute;
    unsigned host_flags; /* flags for memory that host and device both see */
    void *launch_end;    /* ends the extra arguments of a launch */

    kiln_status (*describe)(kiln__gpu_backend *backend, const char *name,
                            kiln_target *out, kiln_error **error);
    /* KILN_ENODEVICE: code of this target and format does not run on that
       device. */
    kiln_status (*fits)(const kiln__gpu_context *context, const char *target,
                        const char *format, kiln_error **error);
    /* Sets `architecture`. Called after the attributes are read. */
    kiln__gpu_result (*identify)(const kiln__gpu_api *api,
                                 kiln__gpu_context *context);
    /* Retain and release the native context of a device. */
    kiln__gpu_result (*retain)(const kiln__gpu_api *api, int device,
                               void **native);
    void (*release)(const kiln__gpu_api *api, int device);
    /* Finds the device of a native context, and stores to `*native` what
       identifies that context. */
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
    uint32_t device_count; /* 0: `reason` says why */
    int may_pass;          /* the failure may pass, so it is tried again */
    struct kiln__gpu_driver *earlier; /* the one before, whose reason is lent */
    char reason[512];
} kiln__gpu_driver;

/* Opens the library at the first call. The driver remembers a failure if that
   is lasting. NULL: out of memory. */
const kiln__gpu_driver *kiln__gpu_driver_get(kiln__gpu_backend *backend);
void kiln__gpu_drivers_free(kiln__gpu_backend *backend);

/* ---- errors: gpu_error.c ---- */

/* Writes "NAME (text)" for a result, in the driver's words if it has any. */
void kiln__gpu_result_text(char *text, size_t size, const kiln__gpu_api *api,
                           kiln__gpu_result result);
/* Returns the status for a result, and stores whether the device is lost with
   it. */
kiln_status kiln__gpu_result_status(kiln__gpu_result result, int *is_lasting);
/* True when a driver that failed to initialise with this result may succeed
   later. */
int kiln__gpu_result_may_pass(kiln__gpu_result result);
/* Makes an error of the backend: "cuda: WHAT: NAME (text)". Notes when the
   device is lost; then it stays lost. */
kiln_status kiln__gpu_fail(kiln__gpu_context *context, kiln__gpu_result result,
                           kiln_error **error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* KILN_EDEVICE in the child of a fork(): the driver belongs to the parent. */
kiln_status kiln__gpu_check_process(const kiln__gpu_context *context,
                                    kiln_error **error);
/* As kiln__gpu_check_process(), and KILN_EDEVICE when the device is lost. */
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
    int is_retained; /* the vendor's release() has to be called */
    uint32_t references;
    char name[256];
    char architecture[64]; /* such as "sm_90" or "gfx90a:sramecc+:xnack-" */
    int major, minor;
    kiln__group_limits limits;
    uint32_t local_bytes; /* of memory that a group has; 0: unknown */
    _Atomic int32_t lost; /* the result by which it was lost, or 0 */
    struct kiln__gpu_queue *adopted; /* queues over streams of the caller */
    kiln__gpu_context *next;
};

/* Writes the architecture of device 0; "" when there is none. KILN_EIO: that
   cannot be told now. */
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

/* Make the context current, and the caller's own one again. Every call of the
   driver is between these two. */
kiln_status kiln__gpu_enter(kiln__gpu_context *context, kiln__gpu_place *before,
                            kiln_error **error);
void kiln__gpu_leave(const kiln__gpu_context *context,
                     const kiln__gpu_place *before);
/* As kiln__gpu_enter(), for calls that would end a capture that is under
   way. */
kiln_status kiln__gpu_enter_apart(kiln__gpu_context *context,
                                  kiln__gpu_place *before, kiln_error **error);

/* As kiln__gpu_enter_apart(), to free something: tries a second time, and
   returns whether the context is current. */
int kiln__gpu_enter_to_free(kiln__gpu_context *context,
                            kiln__gpu_place *before);

/* ---- modules: gpu_module.c ---- */

/* A module in one context. */
typedef struct kiln__gpu_loaded {
    kiln__gpu_context *context;
    void *handle;
    struct kiln__gpu_loaded *next;
} kiln__gpu_loaded;

/* A function in one context. An entry lives as long as its function, so that it
   can be looked up without a lock. */
typedef struct kiln__gpu_entry {
    _Atomic(kiln__gpu_context *) context; /* NULL: the context was closed */
    void *handle;
    uint32_t threads; /* most items of a group */
    void *known;      /* the entry for launches of which facts hold; or NULL */
    uint32_t known_threads;
    _Atomic(struct kiln__gpu_entry *) next;
} kiln__gpu_entry;

typedef struct kiln__gpu_function {
    struct kiln__gpu_module *module;
    const kiln_kernel_info *info; /* the artifact's */
    uint64_t number;              /* number in the table of loaded kernels */
    kiln__gpu_entry first;
    struct kiln__gpu_function *next;
} kiln__gpu_function;

typedef struct kiln__gpu_module {
    kiln__gpu_backend *backend;
    const kiln_artifact *artifact; /* retained */
    kiln__launch_facts *facts;     /* of its second entry; or NULL */
    void *image;                   /* the copy that drivers read */
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
/* Finds the function in that context, and loads the module there if need be. */
kiln_status kiln__gpu_function_in(const kiln__gpu_entry **out,
                                  kiln__gpu_function *function,
                                  kiln__gpu_context *context,
                                  kiln_error **error);
/* Unloads all modules from a context that is being closed. */
void kiln__gpu_modules_leave(kiln__gpu_context *context);

/* ---- images: gpu_image.c ---- */

/* Copies an artifact's payload for a driver. Drivers are told no size: an ELF
   image ends where its headers say, and a text at its NUL. KILN_ECORRUPT: the
   headers refer to bytes after the image. */
kiln_status kiln__gpu_image_copy(void **out, size_t *out_size,
                                 const kiln_alloc *alloc,
                                 const kiln_artifact *artifact,
                                 kiln_error **error);

/* ---- queues: gpu_queue.c ---- */

typedef struct kiln__gpu_queue {
    kiln__gpu_context *context;
    void *stream;
    int is_adopted;
    void *state;            /* address for the host */
    uint64_t state_address; /* address for the device */
    kiln__launch_shape shape;
    kiln__device_record record;
    uint32_t pins; /* under the backend's lock: how many callers use it */
    struct kiln__gpu_queue *next; /* next adopted queue of the context */
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
/* KILN_EBUSY while any stream of the context is being captured. */
kiln_status kiln__gpu_check_capture(kiln__gpu_context *context,
                                    kiln_error **error);

/* ---- the backend: gpu_backend.c ---- */

struct kiln__gpu_backend {
    kiln_context *context;
    const kiln__gpu_vendor *vendor;
    char *library; /* path that the user gave, or NULL */
    kiln__mutex lock;
    kiln__fork_guard guard;
    /* This is the child of a fork() that happened after the driver was
       opened. */
    int is_child;
    _Atomic(kiln__gpu_driver *) driver;
    kiln__gpu_context *contexts;
    kiln__gpu_module *modules;
    kiln__loaded_kernels kernels;
};

/* Makes a vendor's backend, and fills its table of functions. */
kiln_status kiln__gpu_backend_new(kiln_backend_ops *ops, void **self,
                                  kiln_context *context,
                                  const kiln__gpu_vendor *vendor,
                                  kiln_error **error);

#endif /* KILN_GPU_H */
