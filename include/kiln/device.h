/* kiln/device.h - devices, buffers, queues and launches. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DEVICE_H
#define KILN_DEVICE_H

#include "kiln/compile.h"

KILN_BEGIN_DECLS

/*
 * Enough for a harness or a small runtime. A runtime that owns its device
 * adopts its own context and stream, passes raw device pointers, or takes the
 * native function (kiln_kernel_native) and launches by itself.
 */

/** A backend as `kiln targets` lists it. Everything is borrowed. */
typedef struct kiln_backend_info {
    size_t size;
    const char *name;           /* "host", "cuda" */
    const char *default_target; /* "host:…", "cuda:sm_75" */
    uint32_t device_count;
    const char *reason;  /* why there is no device, or NULL */
    int32_t can_compile; /* code for it can be generated here */
} kiln_backend_info;

/** Returns how many backends the library knows. */
KILN_API size_t kiln_backend_count(const kiln_context *context);
/** Describes backend `index`. Opens its driver to count devices. */
KILN_API KILN_NODISCARD kiln_status kiln_backend_get_info(
    kiln_backend_info *out, kiln_context *context, size_t index);

/**
 * Opens device `ordinal` of a backend. KILN_ENODEVICE, with the driver's
 * reason, when there is none.
 */
KILN_API KILN_NODISCARD kiln_status kiln_device_open(kiln_device **out,
                                                     kiln_context *context,
                                                     const char *backend,
                                                     uint32_t ordinal,
                                                     kiln_error **error);

/**
 * Adopts the caller's own native context (CUcontext, hipCtx_t,
 * ze_context_handle_t, cl_context), which must outlive the device.
 * KILN_EUNSUPPORTED from a backend that cannot.
 */
KILN_API KILN_NODISCARD kiln_status kiln_device_adopt(kiln_device **out,
                                                      kiln_context *context,
                                                      const char *backend,
                                                      void *native_context,
                                                      kiln_error **error);

/**
 * Opens an offline device for `config`'s target: it compiles, validates and
 * records launches, and runs nothing.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_device_open_offline(kiln_device **out, kiln_context *context,
                         const kiln_config *config, kiln_error **error);

/** Ends a device. Its buffers and queues must be freed before. NULL is fine. */
KILN_API void kiln_device_close(kiln_device *device);

/** Returns the device's name as its driver gives it. Borrowed. */
KILN_API const char *kiln_device_name(const kiln_device *device);

/** Makes a buffer of `size` bytes, aligned to 64, contents undefined. */
KILN_API KILN_NODISCARD kiln_status kiln_buffer_new(kiln_buffer **out,
                                                    kiln_device *device,
                                                    uint64_t size,
                                                    kiln_error **error);
/** Ends a buffer. No launch may be using it. NULL is fine. */
KILN_API void kiln_buffer_free(kiln_buffer *buffer);
/** Returns the buffer's address on the device. */
KILN_API void *kiln_buffer_address(const kiln_buffer *buffer);
/** Returns the buffer's size in bytes. */
KILN_API uint64_t kiln_buffer_size(const kiln_buffer *buffer);
/** Copies host memory into the buffer at `offset`. Done on return. */
KILN_API KILN_NODISCARD kiln_status kiln_buffer_write(kiln_buffer *buffer,
                                                      uint64_t offset,
                                                      const void *from,
                                                      uint64_t size,
                                                      kiln_error **error);
/** Copies from the buffer at `offset` to host memory. Done on return. */
KILN_API KILN_NODISCARD kiln_status kiln_buffer_read(const kiln_buffer *buffer,
                                                     uint64_t offset, void *to,
                                                     uint64_t size,
                                                     kiln_error **error);

/**
 * An array argument. Sizes and strides count elements; the first index is the
 * contiguous one. A dense array ignores `strides`.
 */
typedef struct kiln_array {
    void *data; /* device address: kiln_buffer_address() or your own */
    int64_t sizes[KILN_RANK_MAX];
    int64_t strides[KILN_RANK_MAX];
} kiln_array;

/** Makes a queue: launches run in order. */
KILN_API KILN_NODISCARD kiln_status kiln_queue_new(kiln_queue **out,
                                                   kiln_device *device,
                                                   kiln_error **error);
/** Adopts the caller's own stream or queue, which must outlive the queue. */
KILN_API KILN_NODISCARD kiln_status kiln_queue_adopt(kiln_queue **out,
                                                     kiln_device *device,
                                                     void *native_stream,
                                                     kiln_error **error);
/** Waits for the queue's work and ends it. NULL is fine. */
KILN_API void kiln_queue_free(kiln_queue *queue);

/** Returns how many launches the queue took: what an offline one recorded. */
KILN_API uint64_t kiln_queue_launch_count(const kiln_queue *queue);

/**
 * How often a kernel runs, and in which groups. For a block of zeros the host
 * takes as many items along x as the grid has, at most 4096, then along y and
 * z while the group has at most 4096 items; at most 256 for a kernel with
 * static_local_bytes or private_bytes.
 */
typedef struct kiln_launch {
    uint64_t grid[3];  /* items; 0 counts as 1 */
    uint32_t block[3]; /* items of a group; all 0: the backend chooses */
} kiln_launch;

/**
 * Launches a kernel. `arguments[i]` points at the i-th argument's value as C
 * lays it out (an array: at a kiln_array); it is read before the call
 * returns, and is ignored for arguments of size 0. The host backend runs the
 * kernel before it returns.
 *
 * KILN_EEXCEPTION: the kernel raised an exception (kiln_error_exception); a
 * device reports it at kiln_queue_wait() or kiln_queue_poll(). The process
 * and the device go on; what the kernel had written stays written.
 */
KILN_API KILN_NODISCARD kiln_status kiln_queue_launch(
    kiln_queue *queue, const kiln_kernel *kernel, const kiln_launch *launch,
    const void *const *arguments, size_t count, kiln_error **error);

/** Waits until everything launched has ended. KILN_EEXCEPTION as above. */
KILN_API KILN_NODISCARD kiln_status kiln_queue_wait(kiln_queue *queue,
                                                    kiln_error **error);

/** As kiln_queue_wait() without waiting: KILN_EAGAIN while work is left. For
 *  a runtime that waited by itself: reports exceptions raised so far. */
KILN_API KILN_NODISCARD kiln_status kiln_queue_poll(kiln_queue *queue,
                                                    kiln_error **error);

KILN_END_DECLS

#endif /* KILN_DEVICE_H */
