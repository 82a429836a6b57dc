/* backend.h - backends as registered, and the devices opened on them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_BACKEND_H
#define KILN_BACKENDS_BACKEND_H

#include "base/system/thread.h"
#include "context/context.h"
#include "tiers/binary/artifact.h"

/* A device of a driver, shared by all who open it; closed with the context. */
typedef struct kiln__driver_device {
    uint32_t ordinal;
    void *handle;
    const char *name;
    struct kiln__driver_device *next;
} kiln__driver_device;

/* One name in the list of backends. Lives with the context; `ops` and `self`
   are set once, before `is_here`. */
typedef struct kiln__backend {
    kiln_backend_ops ops; /* missing members are NULL */
    void *self;
    char *name;
    int is_here;
    const char *absent; /* why it is not, in static storage */
    kiln__driver_device *devices;
    struct kiln__backend *next;
} kiln__backend;

/* A target for which an offline device is open. */
typedef struct kiln__offline_target {
    const kiln_config *config;
    struct kiln__offline_target *next;
} kiln__offline_target;

struct kiln__backends {
    kiln__mutex lock; /* of the lists; never held while a driver runs */
    kiln__backend *first;
    size_t count;
    kiln__offline_target *offline;
    struct kiln__loaded_module *grown; /* until a wait, or unloaded */
    kiln__fork_guard guard;
};

struct kiln__patched;

/* What a kernel was loaded on. */
struct kiln__loaded_module {
    kiln__backend *backend;
    const kiln__driver_device *device; /* NULL: offline */
    void *handle;
    struct kiln__patched *patched; /* what was loaded, if it has sites */
    uint64_t load_ns;              /* what that took */
    const kiln_kernel *kernel;     /* whose it is */
    const kiln_queue *grown_in; /* under the lock: in which it grew, or NULL */
    struct kiln__loaded_module *next_grown;
};

/* ---- backend_registry.c ---- */

/* Makes a backend and its table, whose missing members are NULL. */
typedef kiln_status (*kiln__backend_make)(kiln_backend_ops *ops, void **self,
                                          kiln_context *context,
                                          kiln_error **error);
/* Adds one of a new name, before the context is anybody else's. `make` may be
   NULL: this build lacks it. */
kiln_status kiln__backend_add(kiln_context *context, const char *name,
                              kiln__backend_make make, kiln_error **error);
/* The entry of that place in the list, or NULL. */
kiln__backend *kiln__backend_at(kiln_context *context, size_t index);
/* Returns the entry, here or not, or NULL. */
kiln__backend *kiln__backend_entry(kiln_context *context, const char *name,
                                   size_t name_size);

/* ---- relocate.c ---- */

/* An artifact for one load: with addresses in its slots. */
typedef struct kiln__patched {
    kiln_artifact artifact; /* borrows all but its bytes */
    struct kiln__roots *roots;
} kiln__patched;

/* Resolves and roots the sites that are patched, and fills the slots of a copy
   of the payload. What has none is lent as it is, with `*patched` NULL. */
kiln_status kiln__patch(kiln__patched **patched, const kiln_kernel *kernel,
                        kiln_error **error);
/* Frees the copy and lets go of the roots. NULL is fine. */
void kiln__patched_free(kiln__patched *patched, const kiln_context *context);

/* ---- kernel_load.c ---- */

/* Opens a device, or gives the one that was opened before. */
kiln_status kiln__driver_device_get(const kiln__driver_device **out,
                                    kiln_context *context,
                                    kiln__backend *backend, uint32_t ordinal,
                                    kiln_error **error);

/* A load that the driver's own binary may stand for. */
typedef struct kiln__native_load {
    const kiln_backend_ops *ops;
    void *self;
    void *device; /* that of `ops` */
    kiln_context *context;
    const kiln_artifact *artifact;
    const kiln_kernel_info *kernel;
    void *module;     /* once it is loaded */
    uint64_t load_ns; /* that this took */
} kiln__native_load;

/* Loads what stores have, or the artifact, and keeps what came of that. */
kiln_status kiln__native_load_or_compile(kiln__native_load *l,
                                         kiln_error **error);
/* Keeps what the driver made of a module, if it gives that. */
void kiln__native_keep(const kiln__native_load *l, int replace);
/* The driver has compiled more for a launch in the queue: that is kept when its
   work has ended, which the second one is told. */
void kiln__growth_note(const kiln_queue *queue, const kiln_kernel *kernel);
void kiln__growth_save(const kiln_queue *queue, kiln_context *context);
/* Kernels for the config's target may be made without a device / no more. */
kiln_status kiln__offline_add(kiln_context *context, const kiln_config *config);
void kiln__offline_remove(kiln_context *context, const kiln_config *config);

/* ---- offline.c ---- */

/* Devices, queues and buffers that record instead of running. */
extern const kiln_backend_ops kiln__offline_ops;

/* ---- backend_registry.c ---- */
kiln_status kiln__backends_new(kiln_context *context, kiln_error **error);
void kiln__backends_free(kiln_context *context);
/* Borrowed; KILN_EINVAL with an error that lists the names. */
kiln_status kiln__backend_find(const kiln_backend_ops **ops, void **self,
                               kiln_context *context, const char *name,
                               size_t name_size, kiln_error **error);

/* ---- kernel_load.c ---- */
/* Loads the artifact on the config's device and finds the kernel's symbol:
   fills module and function of `kernel`. */
kiln_status kiln__kernel_load(kiln_kernel *kernel, kiln_error **error);
/* Does the config's device open? */
int kiln__kernel_has_device(const kiln_config *config);
void kiln__kernel_unload(kiln_kernel *kernel);

#endif /* KILN_BACKENDS_BACKEND_H */
