/* kiln/sys/backend.h - the driver half of a backend: devices and launches. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SYS_BACKEND_H
#define KILN_SYS_BACKEND_H

#include "kiln/device.h"

KILN_BEGIN_DECLS

/*
 * A backend has two halves. The driver half, described here, is in libkiln: it
 * describes targets, opens the vendor's driver at run time and never needs
 * LLVM. The generating half, in libkiln-codegen, turns a module into a payload
 * and never needs a device. The generating half cannot be added from outside:
 * kernels are compiled for a backend that is added here only if libkiln-codegen
 * generates code for its name. The library of this version does so for "host",
 * "cuda", "rocm" and "spirv", and libkiln has a driver half for each of them.
 *
 * Functions are called from any thread, and without a lock of Kiln's held. The
 * exception is unload(), which a collection calls under a lock: it must not
 * call Kiln. Calls for one queue do not overlap. Handles are the backend's own
 * pointers.
 */

/** A target, resolved from "backend:name". */
typedef struct kiln_target {
    size_t size;
    char name[512];      /* the vendor's own name; "" is not allowed */
    char triple[64];     /* LLVM's triple */
    char processor[64];  /* LLVM's processor name */
    char features[1024]; /* LLVM's feature list, "+avx2,+fma" */
    char options[512];   /* the backend's own options, "fp64,cov=6"; both halves
                            of the backend agree on their meaning */
} kiln_target;

/** One launch, checked, with every number resolved. */
typedef struct kiln_launch_request {
    size_t size;
    void *function;            /* from symbol() */
    const kiln_kernel *kernel; /* the kernel that `function` belongs to */
    uint64_t grid[3];          /* items, each at least 1 */
    uint32_t block[3];         /* items of a group; all 0: the backend
                                  chooses */
    void *arguments;           /* the packed block, which the backend may change
                                  during the call; after it, at the next
                                  multiple of 8, there is room for the hidden
                                  arguments */
    uint32_t argument_bytes;   /* size of the packed block without hidden
                                  arguments */
    void *heap; /* address on the device of the heap, for a kernel that
                   allocates; the host backend passes it on */
    uint32_t time_limit_ms;       /* 0: no limit; else cancel() is not NULL */
    uint32_t dynamic_local_bytes; /* of dynamic group memory; 0 for kernels
                                     that use none */
} kiln_launch_request;

typedef struct kiln_backend_ops {
    size_t size;        /* sizeof(kiln_backend_ops), as you compiled it */
    const char *name;   /* "host", "cuda", "rocm", "spirv" */
    const char *format; /* format of its payloads: "elf", "cubin", "spirv" */

    /** Resolves the part of a target after "backend:" (NULL: the default).
        KILN_EINVAL with an error that lists the valid names. */
    kiln_status (*describe)(void *self, const char *name, kiln_target *out,
                            kiln_error **error);
    /** Counts devices; `*reason` says why there are none, or is NULL. Static
        storage. */
    uint32_t (*count)(void *self, const char **reason);
    /** Opens a device or, if `native` is not NULL, adopts it; KILN_EUNSUPPORTED
        if it cannot. The name lives as long as the device. */
    kiln_status (*open)(void *self, uint32_t ordinal, void *native,
                        void **device, const char **device_name,
                        kiln_error **error);
    void (*close)(void *self, void *device);

    /** Loads an artifact, which is borrowed, on a device; `unload` removes it
        again. KILN_ENODEVICE if the device cannot run it. */
    kiln_status (*load)(void *self, void *device, const kiln_artifact *artifact,
                        void **module, kiln_error **error);
    /** Finds a kernel by its symbol; valid until unload(). */
    kiln_status (*symbol)(void *self, void *module, const char *name,
                          void **function, kiln_error **error);
    void (*unload)(void *self, void *module);

    /** Makes an in-order queue or, if `native` is not NULL, adopts one. */
    kiln_status (*queue_new)(void *self, void *device, void *native,
                             void **queue, kiln_error **error);
    void (*queue_free)(void *self, void *queue); /* after a wait */
    /** Launches; the request is borrowed for the call. KILN_EEXCEPTION if the
        kernel has run already and raised an exception: the backend fills
        `*exception`, in which only the size is not zero. What it points at
        lives until the next call for this queue. `size` is the size in this
        library: a backend that writes the whole struct writes its own size, and
        members past that size are not read. */
    kiln_status (*launch)(void *self, void *queue,
                          const kiln_launch_request *request,
                          kiln_exception *exception, kiln_error **error);
    /** Waits if `block` is not 0, else only checks. KILN_EAGAIN: work is left.
        KILN_EEXCEPTION: `*exception` is filled, as above. */
    kiln_status (*wait)(void *self, void *queue, int32_t block,
                        kiln_exception *exception, kiln_error **error);

    /** Makes memory of `size` bytes on the device, aligned to 64. */
    kiln_status (*buffer_new)(void *self, void *device, uint64_t size,
                              void **address, kiln_error **error);
    void (*buffer_free)(void *self, void *device, void *address);
    /** Copies between host and device memory; complete on return. */
    kiln_status (*copy)(void *self, void *device, void *to, const void *from,
                        uint64_t size, kiln_error **error);

    /** Frees the backend, after its devices. Called when the context ends. */
    void (*free)(void *self);
    /* The functions above are required. */

    /** Optional. Fills `function` and the values of the hidden arguments of
        a launch on the queue, except the third one, the heap's address,
        which is there already. Without a queue, it gives the function of the
        module where it was loaded and no values. Without this member
        symbol() gives the driver's own function, and kiln_queue_native() is
        KILN_EUNSUPPORTED. */
    kiln_status (*native)(void *self, void *queue, void *function,
                          kiln_native_launch *out, kiln_error **error);

    /* The next three must all be there or all be NULL. They are for drivers
       that compile what they load: the result can be kept. */

    /** Optional. Names driver and device: what save_native() gave may be loaded
        where this text is equal. Lives as long as the device. NULL: nothing is
        saved for this device. */
    const char *(*identity)(void *self, void *device);
    /** Optional. As load(), from the bytes that save_native() gave for the
        artifact. After any error the bytes are useless, and load() is called
        instead. */
    kiln_status (*load_native)(void *self, void *device,
                               const kiln_artifact *artifact, const void *bytes,
                               size_t size, void **module, kiln_error **error);
    /** Optional. Gives the bytes of a module as the driver compiled it; the
        caller releases them. KILN_EUNSUPPORTED if there are none. */
    kiln_status (*save_native)(void *self, void *module, kiln_blob *out,
                               kiln_error **error);
    /** Optional. Says whether the driver has compiled more of the module since
        load(), load_native() or save_native(), for another group size, for
        example. Called after each launch; if so, the module is saved after the
        next wait. */
    int32_t (*native_grew)(void *self, void *module);
    /** Optional. Names the tools besides the driver that made what
        save_native() gives of the module: words NAME=IDENTITY with blanks
        between them, or NULL. If a tool that Kiln knows is present in another
        build than its word says, the saved bytes are not loaded. Lives as long
        as the module. */
    const char *(*native_tools)(void *self, void *module);
    /** Optional. Stops what the queue runs: launch() or wait() on another
        thread then gives KILN_ECANCELED, or KILN_ETIMEDOUT if the backend
        stopped a launch at its time limit. Unlike all other members it may be
        called while another call for the queue is under way, and from signal
        handlers with `error` NULL. Without it launches have no time limit, and
        kiln_queue_cancel() is KILN_EUNSUPPORTED. */
    kiln_status (*cancel)(void *self, void *queue, kiln_error **error);
} kiln_backend_ops;

/**
 * Adds a backend's driver half. On success the context owns `self`. `ops` is
 * copied, its texts are not. KILN_EINVAL for a table that lacks a required
 * function, for a name with a colon, and for a second backend of one name. So
 * the name must be one for which libkiln has no driver half.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_context_add_backend(kiln_context *context, const kiln_backend_ops *ops,
                         void *self, kiln_error **error);

KILN_END_DECLS

#endif /* KILN_SYS_BACKEND_H */
