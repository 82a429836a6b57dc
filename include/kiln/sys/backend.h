/* kiln/sys/backend.h - the driver half of a backend: devices and launches. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SYS_BACKEND_H
#define KILN_SYS_BACKEND_H

#include "kiln/device.h"

KILN_BEGIN_DECLS

/*
 * A backend has two halves. This one lives in libkiln: it describes targets,
 * opens the vendor's driver at run time and never needs LLVM. The other half,
 * in libkiln-codegen, turns a module into a payload and never needs a device;
 * it is not open to others: a backend that is added here runs artifacts only
 * if the code generator knows one of its name.
 *
 * Functions are called from any thread, without a lock of Kiln's held, but
 * for unload(), which a collection calls under one: it must not call Kiln.
 * Calls for one queue do not overlap. Handles are the backend's own pointers.
 */

/** A target, resolved from "backend:name". */
typedef struct kiln_target {
    size_t size;
    char name[512];      /* the vendor's own name; "" is not allowed */
    char triple[64];     /* LLVM's triple */
    char processor[64];  /* LLVM's processor name */
    char features[1024]; /* LLVM's feature list, "+avx2,+fma" */
    char options[512];   /* the backend's own, "fp64,cov=6"; its halves agree
                            on what they mean */
} kiln_target;

/** One launch, checked and with every number resolved. */
typedef struct kiln_launch_request {
    size_t size;
    void *function;            /* from symbol() */
    const kiln_kernel *kernel; /* whose it is */
    uint64_t grid[3];          /* items, each at least 1 */
    uint32_t block[3];         /* items of a group, all 0: choose */
    void *arguments;           /* the packed block, which is the backend's for
                                  the call; behind it, at the next multiple of
                                  8, is room for the hidden arguments */
    uint32_t argument_bytes;   /* without them */
    void *heap; /* on the device, of a kernel that allocates; the host passes
                   it on. Since 0.2. */
    uint32_t time_limit_ms; /* 0: none; else cancel() is there. Since 0.2. */
} kiln_launch_request;

typedef struct kiln_backend_ops {
    size_t size;        /* sizeof(kiln_backend_ops), as you compiled it */
    const char *name;   /* "host", "cuda", "rocm", "spirv" */
    const char *format; /* of its payloads: "elf", "cubin", "spirv" */

    /** Resolves the part of a target behind "backend:" (NULL: the default).
        KILN_EINVAL with an error that lists what there is. */
    kiln_status (*describe)(void *self, const char *name, kiln_target *out,
                            kiln_error **error);
    /** Counts devices; `*reason` says why there are none, or is NULL. Static
        storage. */
    uint32_t (*count)(void *self, const char **reason);
    /** Opens a device, or adopts `native` when it is not NULL;
        KILN_EUNSUPPORTED if it cannot. The name lives as long as the device. */
    kiln_status (*open)(void *self, uint32_t ordinal, void *native,
                        void **device, const char **device_name,
                        kiln_error **error);
    void (*close)(void *self, void *device);

    /** Puts an artifact, which is borrowed, on a device; `unload` takes it off
        again. KILN_ENODEVICE if the device cannot run it. */
    kiln_status (*load)(void *self, void *device, const kiln_artifact *artifact,
                        void **module, kiln_error **error);
    /** Finds a kernel by its symbol; valid until unload(). */
    kiln_status (*symbol)(void *self, void *module, const char *name,
                          void **function, kiln_error **error);
    void (*unload)(void *self, void *module);

    /** Makes, or adopts when `native` is not NULL, an in-order queue. */
    kiln_status (*queue_new)(void *self, void *device, void *native,
                             void **queue, kiln_error **error);
    void (*queue_free)(void *self, void *queue); /* after a wait */
    /** Launches; the request is borrowed for the call. KILN_EEXCEPTION if the
        kernel has run already and raised: `*exception`, of which all but the
        size is zero, is filled, and what it points at lives until the next
        call for this queue. `size` is this library's: who writes the whole
        record writes his own, and members beyond it are not read. */
    kiln_status (*launch)(void *self, void *queue,
                          const kiln_launch_request *request,
                          kiln_exception *exception, kiln_error **error);
    /** Waits (`block` not 0) or looks. KILN_EAGAIN: work is left.
        KILN_EEXCEPTION: `*exception` is filled, as above. */
    kiln_status (*wait)(void *self, void *queue, int32_t block,
                        kiln_exception *exception, kiln_error **error);

    /** Makes memory of `size` bytes on the device, aligned to 64. */
    kiln_status (*buffer_new)(void *self, void *device, uint64_t size,
                              void **address, kiln_error **error);
    void (*buffer_free)(void *self, void *device, void *address);
    /** Copies between host and device memory; done on return. */
    kiln_status (*copy)(void *self, void *device, void *to, const void *from,
                        uint64_t size, kiln_error **error);

    /** Ends the backend, after its devices. Runs when the context ends. */
    void (*free)(void *self);
    /* The functions above are required, since 0.1. */

    /** Optional. Fills `function`, and the values of the hidden arguments of a
        launch on the queue but for a heap's address, the third one, which is
        there already; without a queue, the function where it was loaded and no
        values. Without this member the driver's own function is what
        symbol() gives, and kiln_queue_native() is KILN_EUNSUPPORTED. */
    kiln_status (*native)(void *self, void *queue, void *function,
                          kiln_native_launch *out, kiln_error **error);

    /* The next three are there together or not at all: a driver that compiles
       what it loads keeps the outcome. */

    /** Optional. Names driver and device: where the text is equal, what
        save_native() gave may be loaded. Lives as long as the device; NULL:
        nothing is saved for this one. */
    const char *(*identity)(void *self, void *device);
    /** Optional. As load(), from what save_native() gave for the artifact.
        Any error: it is of no use, and load() is called instead. */
    kiln_status (*load_native)(void *self, void *device,
                               const kiln_artifact *artifact, const void *bytes,
                               size_t size, void **module, kiln_error **error);
    /** Optional. Gives the bytes of a module as the driver compiled it; the
        caller releases them. KILN_EUNSUPPORTED if there are none. */
    kiln_status (*save_native)(void *self, void *module, kiln_blob *out,
                               kiln_error **error);
    /** Optional. Has the driver compiled more of the module since load(),
        load_native() or save_native(), for a size of groups, say? Asked after
        each launch; what there is then is saved after the next wait. */
    int32_t (*native_grew)(void *self, void *module);
    /** Optional. Who made, beside the driver, what save_native() gives of the
        module: words NAME=IDENTITY with blanks between them, or NULL. Where
        a tool is, of those that Kiln knows, in another build than its word
        says, what was saved is not loaded. Lives as long as the module. */
    const char *(*native_tools)(void *self, void *module);
    /** Optional. Stops what the queue runs: launch() or wait(), on another
        thread, gives KILN_ECANCELED; or KILN_ETIMEDOUT where the backend
        stopped a launch at its time limit. Unlike all others it may be called
        while another call for the queue is under way, and from signal handlers
        with no `error`. Without it launches have no time limit, and
        kiln_queue_cancel() is KILN_EUNSUPPORTED. */
    kiln_status (*cancel)(void *self, void *queue, kiln_error **error);
    /* The functions above exist since 0.2. */
} kiln_backend_ops;

/**
 * Adds a backend's driver half. On success the context owns `self`. `ops` is
 * copied, its texts are not. KILN_EINVAL for a table that lacks a function, a
 * name with a colon, or a second backend of one name; one that this build
 * lacks may be added.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_context_add_backend(kiln_context *context, const kiln_backend_ops *ops,
                         void *self, kiln_error **error);

KILN_END_DECLS

#endif /* KILN_SYS_BACKEND_H */
