/* kiln/device.h - devices, buffers, queues and launches. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_DEVICE_H
#define KILN_DEVICE_H

#include "kiln/compile.h"

KILN_BEGIN_DECLS

/*
 * This interface suffices for a harness or a small runtime. A runtime that
 * manages the device itself can have Kiln adopt its context and stream, pass
 * raw device pointers, or take the native function (kiln_kernel_native) and
 * launch by itself.
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
    const char *reason;  /* why there are no devices, or NULL */
    int32_t can_compile; /* code for it can be generated in this process */
} kiln_backend_info;

/** Returns how many backends the library knows. */
KILN_API size_t kiln_backend_count(const kiln_context *context);
/** Describes backend `index`; `out->size` is set by the caller. This opens the
 *  backend's driver to count devices, and the code generation library to ask
 *  whether it can generate code. KILN_ENOTFOUND beyond the last. */
KILN_API KILN_NODISCARD kiln_status kiln_backend_get_info(
    kiln_backend_info *out, kiln_context *context, size_t index);

/**
 * Opens device `ordinal` of a backend. KILN_ENODEVICE, with the driver's
 * reason, when there is none, or when the backend is not in this build;
 * KILN_EINVAL for an unknown backend.
 */
KILN_API KILN_NODISCARD kiln_status kiln_device_open(kiln_device **out,
                                                     kiln_context *context,
                                                     const char *backend,
                                                     uint32_t ordinal,
                                                     kiln_error **error);

/**
 * What a device of backend "spirv" is adopted from. Two drivers serve this
 * backend, so `native_context` of kiln_device_adopt() is the address of one of
 * these structs.
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
 * kiln_spirv_native names), which must outlive the device. KILN_EUNSUPPORTED
 * from a backend that cannot adopt one.
 */
KILN_API KILN_NODISCARD kiln_status kiln_device_adopt(kiln_device **out,
                                                      kiln_context *context,
                                                      const char *backend,
                                                      void *native_context,
                                                      kiln_error **error);

/**
 * Opens an offline device for `config`'s target: it compiles, validates and
 * records launches (kiln_device_workload), and runs nothing. Its buffers are
 * real memory, which begins as zeros. While it is open, kernels for that target
 * compile even where no device can run them; they then launch on offline
 * devices only.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_device_open_offline(kiln_device **out, kiln_context *context,
                         const kiln_config *config, kiln_error **error);

/**
 * Gives what an offline device recorded as the text that `kiln precompile`
 * reads: one line for each kernel that was launched, in the order of the first
 * launches, "main.saxpy(f32[:], f32, f32[:]) bounds=off", with the settings
 * that are not the default; the target is in a comment, because `kiln
 * precompile` chooses it. So a host can run its program on a machine without
 * the hardware, and gets the list of what to precompile. The caller releases
 * `*out`, whose bytes end in a NUL that is not counted. KILN_EUNSUPPORTED for a
 * device that is not offline.
 */
KILN_API KILN_NODISCARD kiln_status kiln_device_workload(
    kiln_blob *out, const kiln_device *device, kiln_error **error);

/** Ends a device. Its buffers and queues must be freed before. NULL is fine. */
KILN_API void kiln_device_close(kiln_device *device);

/** Returns the device's name as its driver gives it; an offline device's is
 *  its target. Borrowed. */
KILN_API const char *kiln_device_name(const kiln_device *device);

/** Makes a buffer of `size` bytes, aligned to 64, with undefined content. On
 *  the host its memory comes from the context's allocator. */
KILN_API KILN_NODISCARD kiln_status kiln_buffer_new(kiln_buffer **out,
                                                    kiln_device *device,
                                                    uint64_t size,
                                                    kiln_error **error);
/** Ends a buffer. No launch may be using it. NULL is fine. */
KILN_API void kiln_buffer_free(kiln_buffer *buffer);
/** Returns the buffer's address on the device; host code may read and write
 *  there only if the device is the host. */
KILN_API void *kiln_buffer_address(const kiln_buffer *buffer);
/** Returns the buffer's size in bytes. */
KILN_API uint64_t kiln_buffer_size(const kiln_buffer *buffer);
/** Copies host memory into the buffer at `offset`; sizes are in bytes. The copy
 *  is complete on return. No launch may be using that part. KILN_EINVAL if it
 *  does not fit. */
KILN_API KILN_NODISCARD kiln_status kiln_buffer_write(kiln_buffer *buffer,
                                                      uint64_t offset,
                                                      const void *from,
                                                      uint64_t size,
                                                      kiln_error **error);
/** Copies from the buffer at `offset` to host memory, in the same way. */
KILN_API KILN_NODISCARD kiln_status kiln_buffer_read(const kiln_buffer *buffer,
                                                     uint64_t offset, void *to,
                                                     uint64_t size,
                                                     kiln_error **error);

/**
 * An array argument of rank N: the first N sizes and strides count. Both count
 * elements; the first index is the contiguous one. A dense array ignores
 * `strides`. `data` is aligned as the element's type is. The data is not
 * copied: it must stay valid until the launch has ended.
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
/** Adopts the caller's own stream or queue, which must outlive the kiln_queue.
 *  KILN_EUNSUPPORTED from a backend that cannot adopt one. While a stream is
 *  being captured, launches become part of the capture; no kernel can be loaded
 *  then, and waiting is KILN_EBUSY. */
KILN_API KILN_NODISCARD kiln_status kiln_queue_adopt(kiln_queue **out,
                                                     kiln_device *device,
                                                     void *native_stream,
                                                     kiln_error **error);
/**
 * Bounds what kernels on this queue can allocate at a time: `bytes` in whole
 * pages of 4096, up to 8 GiB; 0 is the default, 8 MiB. The memory, and another
 * hundredth of it for bookkeeping, is allocated at the first launch of a kernel
 * that allocates, and kept; it costs nothing for other kernels. Arrays that a
 * kernel has not freed are freed when a wait or a poll finds all work done; on
 * the host, at the next launch. KILN_EINVAL beyond 8 GiB; KILN_EBUSY when
 * launches that used the heap have not been waited for, in a callback that the
 * queue has called, or when kiln_queue_native() has given its address away.
 */
KILN_API KILN_NODISCARD kiln_status kiln_queue_set_heap(kiln_queue *queue,
                                                        uint64_t bytes,
                                                        kiln_error **error);
/**
 * Bounds how long each launch on this queue may run from now on: after that
 * many milliseconds it is stopped as by kiln_queue_cancel(), and gives
 * KILN_ETIMEDOUT. 0, the default, is no limit. The first launch with a limit
 * starts a thread of the device, which watches the clock; launches without a
 * limit pay nothing. KILN_EUNSUPPORTED where kiln_queue_cancel() is
 * unsupported.
 */
KILN_API KILN_NODISCARD kiln_status kiln_queue_set_time_limit(
    kiln_queue *queue, uint32_t milliseconds, kiln_error **error);
/** Waits for the queue's work and ends it. In a callback that a launch, wait or
 *  poll of the queue has called it does nothing but write a warning to the log.
 *  NULL is fine. */
KILN_API void kiln_queue_free(kiln_queue *queue);

/** Returns how many launches passed the checks and were handed to the device,
 *  or recorded by an offline device. */
KILN_API uint64_t kiln_queue_launch_count(const kiln_queue *queue);

/**
 * How many items of a kernel run, and in which groups. A block of zeros means
 * the config's required group size, else the backend's choice. Where the block
 * does not divide the grid, the number of groups is rounded up, and the last
 * groups have fewer items than the block says. The host takes that for every
 * kernel; on other devices kernels without any_block of their kiln_kernel_info
 * need a block that divides the grid in each dimension: another one is
 * KILN_EINVAL, and the backend chooses one that does. How many groups there may
 * be is for the driver to say.
 *
 * The host chooses as follows. A group extends along x, then along y and z, as
 * far as the grid does, up to 4096 items. In a grid of fewer than 16384 items a
 * group has at most a quarter of the items, but may always have 1024. If the
 * kernel has static_local_bytes, private_bytes or dynamic_local, a group has at
 * most 256 items. If a launch of few groups takes long, and any_block is
 * KILN_ANY_BLOCK_ALIKE, later ones may have smaller groups.
 *
 * dynamic_local_bytes is the size of the dynamic group memory, which a kernel
 * has if dynamic_local of its kiln_kernel_info is set; for another kernel it
 * must be 0. Each group gets that much beside static_local_bytes, undefined at
 * first and aligned to 16 bytes. It is KILN_EINVAL if both together are more
 * than a group of the device may have; on the host, whose groups may have 64
 * MiB, memory for values of the items counts as well.
 */
typedef struct kiln_launch {
    uint64_t grid[3];  /* items; 0 counts as 1; INT64_MAX at most in all */
    uint32_t block[3]; /* items of a group; if not all are 0, a 0 counts as 1 */
    uint32_t dynamic_local_bytes; /* dynamic group memory of each group */
} kiln_launch;

/**
 * Launches a kernel. `arguments[i]` points at the i-th argument's value as C
 * lays it out (an array: at a kiln_array); it is read before the call returns,
 * and is ignored for arguments of size 0. The host backend runs the kernel
 * before the call returns, on this thread and, when that pays, on others.
 *
 * KILN_EINVAL: the kernel belongs to another device or target, or the
 * arguments, the shape or the dynamic group memory do not fit it; nothing ran.
 * KILN_ENODEVICE: the kernel is for an offline device. KILN_ESTACK: on the
 * host, the kernel needs more stack than this thread has, and no other one
 * could be started. KILN_EEXCEPTION: the kernel raised an exception
 * (kiln_error_exception); a device reports it at kiln_queue_wait() or
 * kiln_queue_poll(). The process and the device go on; what the kernel wrote
 * before the exception stays written. KILN_ECANCELED: kiln_queue_cancel()
 * stopped it; KILN_ETIMEDOUT: the queue's time limit did. KILN_EDEVICE: the
 * driver failed. KILN_EBUSY: in a callback of the host that a launch, wait or
 * poll of the same queue has called; so are waits and polls.
 */
KILN_API KILN_NODISCARD kiln_status kiln_queue_launch(
    kiln_queue *queue, const kiln_kernel *kernel, const kiln_launch *launch,
    const void *const *arguments, size_t count, kiln_error **error);

/** Waits until everything launched has ended. KILN_EEXCEPTION as above. */
KILN_API KILN_NODISCARD kiln_status kiln_queue_wait(kiln_queue *queue,
                                                    kiln_error **error);

/** Like kiln_queue_wait(), but does not wait: KILN_EAGAIN while work is left.
 *  It also reports exceptions raised so far to a runtime that waited by itself
 *  with the driver. */
KILN_API KILN_NODISCARD kiln_status kiln_queue_poll(kiln_queue *queue,
                                                    kiln_error **error);

/**
 * Stops the launch that the queue runs now, however long it would take. This
 * includes endless loops and endless recursion. (For recursion in a foreign
 * module on the host, see kiln/sys/frontend.h.) An innermost loop whose number
 * of iterations is known when it begins is not stopped; it ends first. The
 * launch, which is in progress on another thread, returns KILN_ECANCELED as
 * soon as all items have noticed, unless it ended or raised an exception
 * before. What the kernel wrote stays written, what it allocated is freed, and
 * the queue can be used again.
 *
 * Later launches are not stopped: if nothing runs, the call does nothing and
 * returns KILN_OK. If the launch has not begun yet on the other thread, or has
 * just ended, the call stops nothing, or it stops what that thread launches
 * during the call. To be sure, repeat the call until the other thread has said
 * that it is done.
 *
 * It may be called from any thread, also while another one uses the queue,
 * which must exist until the call returns. On the host the call takes no lock,
 * allocates nothing and does not wait. With `error` NULL a signal handler may
 * call it, even on the thread that runs the kernel. If a kernel is in a
 * function of the host, the function is not interrupted. Code that Kiln's code
 * generator did not make, including functions of C, does not notice the stop.
 *
 * KILN_EUNSUPPORTED: the device's driver cannot stop a kernel, and nothing is
 * stopped. This is so for cuda, rocm and spirv, where a running kernel ends
 * only by itself, and work that is queued after it runs as well. On an offline
 * device nothing runs: KILN_OK.
 */
KILN_API kiln_status kiln_queue_cancel(kiln_queue *queue, kiln_error **error);

#define KILN_HIDDEN_MAX 7

/** The function and hidden arguments with which a runtime launches a kernel by
 *  itself. */
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
 * (kiln_kernel_get_info), then the hidden arguments. These have 64 bits each,
 * and the first one is at the next multiple of 8. If a driver takes arguments
 * as one block, it takes the packed block followed by the hidden arguments. The
 * grid must be a whole number of groups.
 *
 * The last three hidden arguments of a kernel with any_block are the sizes of
 * the grid in items. Their values here, UINT64_MAX, say that the launch is the
 * grid, of whole groups. With sizes instead, it may have items outside of the
 * grid, which do nothing.
 *
 * After its own wait the caller polls the queue for exceptions and prints. The
 * queue must exist as long as such launches, including those of a graph, may
 * run. The values are the same for each launch of a kernel on a queue. If the
 * kernel allocates, the queue keeps its heap from then on, and the heap is
 * cleared whenever a wait or a poll finds all work done.
 *
 * In a kernel with dynamic_local the fourth hidden argument, here 0, is the
 * size of the dynamic group memory in bytes: the caller passes the size
 * that it wants, there and to the driver. On spirv such a kernel has one more
 * parameter after them, the memory itself, for which drivers take a size and
 * NULL.
 *
 * KILN_EINVAL and KILN_ENODEVICE as for kiln_queue_launch(). KILN_EBUSY: the
 * kernel would have to be loaded while a stream is captured. KILN_EUNSUPPORTED:
 * the backend does not support such launches.
 */
KILN_API KILN_NODISCARD kiln_status kiln_queue_native(kiln_native_launch *out,
                                                      kiln_queue *queue,
                                                      const kiln_kernel *kernel,
                                                      kiln_error **error);

KILN_END_DECLS

#endif /* KILN_DEVICE_H */
