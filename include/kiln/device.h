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
 *
 * A device may be used from any thread, and opened more than once. A queue and
 * the contents of a buffer belong to one thread at a time. Several queues of
 * one device may run at once.
 */

/** A backend as `kiln targets` lists it. Everything is borrowed. */
typedef struct kiln_backend_info {
    size_t size;
    const char *name;           /* "host", "cuda" */
    const char *default_target; /* "host:…", "cuda:sm_75"; NULL: none */
    uint32_t device_count;
    const char *reason;  /* why there is no device, or NULL */
    int32_t can_compile; /* code for it can be generated here */
} kiln_backend_info;

/** Returns how many backends the library knows. */
KILN_API size_t kiln_backend_count(const kiln_context *context);
/** Describes backend `index`; `out->size` is set by the caller. Opens its
 *  driver to count devices, and the code generation library to ask what it can
 *  do. KILN_ENOTFOUND beyond the last. */
KILN_API KILN_NODISCARD kiln_status kiln_backend_get_info(
    kiln_backend_info *out, kiln_context *context, size_t index);

/**
 * Opens device `ordinal` of a backend. KILN_ENODEVICE, with the driver's
 * reason, when there is none, or when the backend is not in this build;
 * KILN_EINVAL for a backend that nobody knows.
 */
KILN_API KILN_NODISCARD kiln_status kiln_device_open(kiln_device **out,
                                                     kiln_context *context,
                                                     const char *backend,
                                                     uint32_t ordinal,
                                                     kiln_error **error);

/**
 * What a device of backend "spirv" is adopted from, which two drivers serve:
 * `native_context` of kiln_device_adopt() is the address of one of these.
 */
typedef struct kiln_spirv_native {
    size_t size;
    const char *driver; /* "opencl" or "level-zero" */
    void *context;      /* cl_context or ze_context_handle_t */
    void *device;       /* cl_device_id, NULL: the context's first one; or
                           ze_device_handle_t, never NULL */
} kiln_spirv_native;

/**
 * Adopts the caller's own native context (CUcontext, hipCtx_t, or what a
 * kiln_spirv_native names), which must outlive the device.
 * KILN_EUNSUPPORTED from a backend that cannot.
 */
KILN_API KILN_NODISCARD kiln_status kiln_device_adopt(kiln_device **out,
                                                      kiln_context *context,
                                                      const char *backend,
                                                      void *native_context,
                                                      kiln_error **error);

/**
 * Opens an offline device for `config`'s target: it compiles, validates and
 * records launches (kiln_device_workload), and runs nothing. Buffers are there,
 * from zero on. While it is open, kernels for that target compile even where
 * no device can run them; they then launch on offline devices only.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_device_open_offline(kiln_device **out, kiln_context *context,
                         const kiln_config *config, kiln_error **error);

/**
 * Gives what an offline device recorded as the text that `kiln precompile`
 * reads: one line for each kernel that was launched, in the order of the first
 * launches, "main.saxpy(f32[:], f32, f32[:]) bounds=off", with the settings
 * that are not the default; the target, in a comment, is `kiln precompile`'s
 * to choose. So a host runs its program on a machine without the hardware, and
 * has the list of what to precompile. The caller releases `*out`, whose bytes
 * end in a NUL that is not counted. KILN_EUNSUPPORTED of a device that runs.
 */
KILN_API KILN_NODISCARD kiln_status kiln_device_workload(
    kiln_blob *out, const kiln_device *device, kiln_error **error);

/** Ends a device. Its buffers and queues must be freed before. NULL is fine. */
KILN_API void kiln_device_close(kiln_device *device);

/** Returns the device's name as its driver gives it; an offline device's is
 *  its target. Borrowed. */
KILN_API const char *kiln_device_name(const kiln_device *device);

/** Makes a buffer of `size` bytes, aligned to 64, contents undefined. On the
 *  host it is memory of the context's allocator. */
KILN_API KILN_NODISCARD kiln_status kiln_buffer_new(kiln_buffer **out,
                                                    kiln_device *device,
                                                    uint64_t size,
                                                    kiln_error **error);
/** Ends a buffer. No launch may be using it. NULL is fine. */
KILN_API void kiln_buffer_free(kiln_buffer *buffer);
/** Returns the buffer's address on the device; the host may read and write
 *  there only if the device is the host. */
KILN_API void *kiln_buffer_address(const kiln_buffer *buffer);
/** Returns the buffer's size in bytes. */
KILN_API uint64_t kiln_buffer_size(const kiln_buffer *buffer);
/** Copies host memory into the buffer at `offset`; all in bytes. Done on
 *  return; no launch may be using that part. KILN_EINVAL if it does not fit. */
KILN_API KILN_NODISCARD kiln_status kiln_buffer_write(kiln_buffer *buffer,
                                                      uint64_t offset,
                                                      const void *from,
                                                      uint64_t size,
                                                      kiln_error **error);
/** Copies from the buffer at `offset` to host memory, likewise. */
KILN_API KILN_NODISCARD kiln_status kiln_buffer_read(const kiln_buffer *buffer,
                                                     uint64_t offset, void *to,
                                                     uint64_t size,
                                                     kiln_error **error);

/**
 * An array argument of rank N: the first N sizes and strides count. Both count
 * elements; the first index is the contiguous one. A dense array ignores
 * `strides`. `data` is aligned as the element's type is. Nothing is copied or
 * kept: it must stay until the launch has ended.
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
/** Adopts the caller's own stream or queue, which must outlive the queue.
 *  KILN_EUNSUPPORTED from a backend that cannot. While a stream is captured,
 *  launches become part of the capture; nothing is loaded, and waiting is
 *  KILN_EBUSY. */
KILN_API KILN_NODISCARD kiln_status kiln_queue_adopt(kiln_queue **out,
                                                     kiln_device *device,
                                                     void *native_stream,
                                                     kiln_error **error);
/**
 * Bounds what kernels on this queue can allocate at a time: `bytes` in whole
 * pages of 4096, up to 8 GiB; 0 is the default, 8 MiB. The memory, and a
 * hundredth of it for its management, is made at the first launch of a kernel
 * that allocates, and kept; other kernels pay nothing for it. An array that a
 * kernel has not freed is free again when a wait or a poll has found all work
 * done; on the host, at the next launch. KILN_EINVAL beyond 8 GiB; KILN_EBUSY
 * when launches that used the heap were not waited for, or its address was
 * told by kiln_queue_native().
 */
KILN_API KILN_NODISCARD kiln_status kiln_queue_set_heap(kiln_queue *queue,
                                                        uint64_t bytes,
                                                        kiln_error **error);
/**
 * Bounds how long each launch on this queue may run from now on: after so many
 * milliseconds it is stopped as by kiln_queue_cancel(), and gives
 * KILN_ETIMEDOUT. 0, as at first, is no limit. The first launch with a limit
 * starts a thread of the device's, which looks at the clock; launches without
 * one pay nothing. KILN_EUNSUPPORTED where kiln_queue_cancel() is.
 */
KILN_API KILN_NODISCARD kiln_status kiln_queue_set_time_limit(
    kiln_queue *queue, uint32_t milliseconds, kiln_error **error);
/** Waits for the queue's work and ends it. NULL is fine. */
KILN_API void kiln_queue_free(kiln_queue *queue);

/** Returns how many launches passed the checks and were handed to the device:
 *  what an offline one recorded. */
KILN_API uint64_t kiln_queue_launch_count(const kiln_queue *queue);

/**
 * How often a kernel runs, and in which groups. A block of zeros is the
 * config's required group size, else the backend's choice. The host then takes
 * as many items along x as the grid has, then along y and z, while the group
 * has at most 4096 items or, of a grid of less than 16384, at most a quarter of
 * them, but not below 1024; at most 256 in a group of a kernel with
 * static_local_bytes or private_bytes. A grid has any number of items.
 */
typedef struct kiln_launch {
    uint64_t grid[3];  /* items; 0 counts as 1; INT64_MAX at most in all */
    uint32_t block[3]; /* items of a group; else 0 counts as 1 */
} kiln_launch;

/**
 * Launches a kernel. `arguments[i]` points at the i-th argument's value as C
 * lays it out (an array: at a kiln_array); it is read before the call
 * returns, and is ignored for arguments of size 0. The host backend runs the
 * kernel before it returns, on this thread and, when it is worth it, others.
 *
 * KILN_EINVAL: the kernel is of another device or target, or arguments or
 * shape do not fit it; nothing ran. KILN_ENODEVICE: it is for an offline
 * device. KILN_ESTACK: on the host, the kernel needs more stack than this
 * thread has, and no other one could be started. KILN_EEXCEPTION: the kernel
 * raised an exception (kiln_error_exception); a device reports it at
 * kiln_queue_wait() or kiln_queue_poll(). The process and the device go on;
 * what the kernel had written stays written. KILN_ECANCELED:
 * kiln_queue_cancel() stopped it; KILN_ETIMEDOUT: the queue's time limit did.
 * KILN_EDEVICE: the driver failed.
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

/**
 * Stops what the queue runs at this moment, however long it would take: an
 * endless loop or recursion, too (recursion of a foreign module on the host as
 * far as its stack goes: kiln/sys/frontend.h), but for an innermost loop that
 * counts to a number known only when it begins, which ends first. The launch,
 * which another thread is in, returns KILN_ECANCELED as soon as all items have
 * noticed, unless it had come to its end or raised an exception before. What
 * the kernel had written stays written, what it had allocated is free again,
 * and the queue goes on.
 *
 * Nothing that is launched later is stopped: with nothing running the call does
 * nothing and gives KILN_OK. Whoever calls it while the launch has not begun on
 * the other thread, or has just ended, stops nothing, or what that thread
 * launches next while the call is under way; to be sure, call it again until
 * the other thread has said that it is done.
 *
 * From any thread, also while another one uses the queue, which must stay for
 * as long as the call takes. On the host the call takes no lock, allocates
 * nothing and waits for nothing: with `error` NULL a signal handler may make
 * it, also on the thread that runs the kernel. A function of the host's that a
 * kernel calls is not left half way: it is waited for. Code that was made
 * elsewhere than in Kiln's code generator does not look, nor do C's functions.
 *
 * KILN_EUNSUPPORTED, and nothing is stopped: the device's driver cannot stop a
 * kernel, which is so for cuda, rocm and spirv. There nothing but its own end
 * ends a kernel that runs; work that waits behind it runs as well. On an
 * offline device nothing runs: KILN_OK.
 */
KILN_API kiln_status kiln_queue_cancel(kiln_queue *queue, kiln_error **error);

#define KILN_HIDDEN_MAX 4

/** What a runtime needs that launches a kernel by itself. */
typedef struct kiln_native_launch {
    size_t size;
    void *function;        /* the driver's own, in the queue's context */
    uint32_t hidden_count; /* 0: the kernel takes none */
    uint32_t reserved;     /* zero */
    uint64_t hidden[KILN_HIDDEN_MAX]; /* their values */
} kiln_native_launch;

/**
 * Prepares a launch that the caller does by itself, with the driver, on the
 * stream that `queue` has or adopted; `out->size` is set by the caller. The
 * kernel's arguments are the members of the packed block in their order
 * (kiln_kernel_get_info), then the hidden arguments, 64 bits each, the first
 * at the next multiple of 8; where a driver takes arguments as one block,
 * packed block and hidden arguments are it. The grid is a whole number of
 * groups. After its own wait the caller polls the queue, for exceptions and
 * for what was printed; and the queue must stay for as long as such launches,
 * a graph's too, may run. The values are the same for each launch of a kernel
 * on a queue. Of one that allocates, the heap stays with the queue from then
 * on: it is cleared whenever a wait or a poll finds all work done.
 *
 * KILN_EINVAL and KILN_ENODEVICE as of kiln_queue_launch(); KILN_EBUSY when the
 * kernel would have to be loaded while a stream is captured; KILN_EUNSUPPORTED
 * of a backend that lets nobody launch by himself.
 */
KILN_API KILN_NODISCARD kiln_status kiln_queue_native(kiln_native_launch *out,
                                                      kiln_queue *queue,
                                                      const kiln_kernel *kernel,
                                                      kiln_error **error);

KILN_END_DECLS

#endif /* KILN_DEVICE_H */
