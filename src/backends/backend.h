/* backend.h - registered backends, and the devices opened on them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_BACKEND_H
#define KILN_BACKENDS_BACKEND_H

#include "base/system/thread.h"
#include "context/context.h"
#include "tiers/binary/artifact.h"

/* A driver's device, shared by all that open it; closed with the context. */
typedef struct kiln__driver_device {
    uint32_t ordinal;
    void *handle;
    const char *name;
    struct kiln__driver_device *next;
} kiln__driver_device;

/* An entry in the list of backends. It lives with the context; `ops` and `self`
   are set once, before `is_here`. */
typedef struct kiln__backend {
    kiln_backend_ops ops; /* missing members are NULL */
    void *self;
    char *name;
    int is_here;
    const char *absent; /* why it is not here; a static string */
    kiln__driver_device *devices;
    struct kiln__backend *next;
} kiln__backend;

/* A target for which an offline device is open. */
typedef struct kiln__offline_target {
    const kiln_config *config;
    struct kiln__offline_target *next;
} kiln__offline_target;

struct kiln__backends {
    kiln__mutex lock; /* protects the lists; never held while a driver runs */
    kiln__backend *first;
    size_t count;
    kiln__offline_target *offline;
    kiln_queue *queues;
    struct kiln__loaded_module *grown; /* modules to save at a wait or when they
                                          are unloaded */
    kiln__fork_guard guard;
};

struct kiln__patched;

/* What a kernel was loaded on. */
struct kiln__loaded_module {
    kiln__backend *backend;
    const kiln__driver_device *device; /* NULL: offline */
    void *handle;
    struct kiln__patched *patched; /* the loaded artifact, if it has sites */
    uint64_t load_ns;              /* how long loading took */
    const kiln_kernel *kernel;     /* the kernel that owns it */
    const kiln_queue *grown_in; /* under the lock: the queue in which it grew,
                                   or NULL */
    struct kiln__loaded_module *next_grown;
};

/* ---- backend_registry.c ---- */

/* Makes a backend and its table, whose missing members are NULL. */
typedef kiln_status (*kiln__backend_make)(kiln_backend_ops *ops, void **self,
                                          kiln_context *context,
                                          kiln_error **error);
/* Adds a backend with a new name, before other threads know the context. `make`
   NULL: this build lacks it. */
kiln_status kiln__backend_add(kiln_context *context, const char *name,
                              kiln__backend_make make, kiln_error **error);
/* Returns the entry at that position in the list, or NULL. */
kiln__backend *kiln__backend_at(kiln_context *context, size_t index);
/* Returns the entry, even if the build lacks the backend; or NULL. */
kiln__backend *kiln__backend_entry(kiln_context *context, const char *name,
                                   size_t name_size);

/* ---- device.c ---- */

/* Whether a launch, wait or poll of some queue is under way. */
int kiln__queues_are_busy(const kiln_context *context);

/* ---- relocate.c ---- */

/* An artifact for one load, with addresses in its slots. */
typedef struct kiln__patched {
    kiln_artifact artifact; /* borrows everything but its bytes */
    void *bytes;            /* the same */
    struct kiln__roots *roots;
} kiln__patched;

/* Resolves and roots the sites to patch, and fills the slots in a copy of the
   payload. An artifact without such sites is used directly, with `*patched`
   NULL. */
kiln_status kiln__patch(kiln__patched **patched, const kiln_kernel *kernel,
                        kiln_error **error);
/* Frees the copy and unroots its objects. NULL is fine. */
void kiln__patched_free(kiln__patched *patched, const kiln_context *context);

/* ---- kernel_load.c ---- */

/* Opens a device, or returns the one that was opened before. */
kiln_status kiln__driver_device_get(const kiln__driver_device **out,
                                    kiln_context *context,
                                    kiln__backend *backend, uint32_t ordinal,
                                    kiln_error **error);

/* A load for which a stored binary of the driver may be used. */
typedef struct kiln__native_load {
    const kiln_backend_ops *ops;
    void *self;
    void *device; /* in the terms of `ops` */
    kiln_context *context;
    const kiln_artifact *artifact;
    const kiln_kernel_info *kernel;
    void *module;     /* set when it is loaded */
    uint64_t load_ns; /* how long loading took */
} kiln__native_load;

/* Loads a stored binary or the artifact, and stores what the driver made from
   the artifact. */
kiln_status kiln__native_load_or_compile(kiln__native_load *l,
                                         kiln_error **error);
/* Stores what the driver made from a module, if the driver gives it. */
void kiln__native_keep(const kiln__native_load *l, int replace);
/* The first function notes that the driver has compiled more for a launch in
   the queue. The second, called when the queue's work has ended, stores
   that. */
void kiln__growth_note(const kiln_queue *queue, const kiln_kernel *kernel);
void kiln__growth_save(const kiln_queue *queue, kiln_context *context);
/* From the first call on, kernels for the config's target may be made without a
   device; the second call ends that. */
kiln_status kiln__offline_add(kiln_context *context, const kiln_config *config);
void kiln__offline_remove(kiln_context *context, const kiln_config *config);

/* ---- offline.c ---- */

/* Devices, queues and buffers that record launches instead of running them. */
extern const kiln_backend_ops kiln__offline_ops;

/* ---- backend_registry.c ---- */
kiln_status kiln__backends_new(kiln_context *context, kiln_error **error);
void kiln__backends_free(kiln_context *context);
/* Borrowed. KILN_EINVAL, with an error that lists the names. */
kiln_status kiln__backend_find(const kiln_backend_ops **ops, void **self,
                               kiln_context *context, const char *name,
                               size_t name_size, kiln_error **error);

/* ---- kernel_load.c ---- */
/* Loads the artifact on the config's device and finds the kernel's symbol: sets
   `module` and `function` of the kernel. */
kiln_status kiln__kernel_load(kiln_kernel *kernel, kiln_error **error);
/* True if the config's device can be opened. */
int kiln__kernel_has_device(const kiln_config *config);
void kiln__kernel_unload(kiln_kernel *kernel);

#endif /* KILN_BACKENDS_BACKEND_H */
