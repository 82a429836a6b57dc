/* kiln/host.h - what a host runtime may tell Kiln about itself. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_HOST_H
#define KILN_HOST_H

#include "kiln/error.h"

KILN_BEGIN_DECLS

#define KILN_LOG_ERROR 0
#define KILN_LOG_WARNING 1
#define KILN_LOG_INFO 2
#define KILN_LOG_DEBUG 3

/** The stages of a job, in the order in which a job passes them. */
#define KILN_STAGE_MAP(X) \
    X(PARSE, "parse") \
    X(INFER, "infer") \
    X(LOWER, "lower") \
    X(LINK, "link") \
    X(OPTIMISE, "optimise") \
    X(EMIT, "emit") \
    X(LOAD, "load")

#define KILN__STAGE_ENUM(name, text) KILN_STAGE_##name,
enum { KILN_STAGE_MAP(KILN__STAGE_ENUM) KILN_STAGE_COUNT };
#undef KILN__STAGE_ENUM

#define KILN_EVENT_STAGE 0      /* a stage of a job ended */
#define KILN_EVENT_JOB 1        /* a job ended, built or failed */
#define KILN_EVENT_INVALIDATE 2 /* a code instance lost its validity */
#define KILN_EVENT_SESSION 3    /* an artifact stays in this process */
#define KILN_EVENT_CHECKED \
    4 /* a launch on the host ran groups with all \
         checks; once for each loaded kernel */

/** Something that happened. Pointers are borrowed for the call. */
typedef struct kiln_event {
    size_t size;
    int32_t kind;         /* KILN_EVENT_... */
    int32_t stage;        /* KILN_STAGE_..., of a KILN_EVENT_STAGE */
    kiln_status status;   /* of a KILN_EVENT_JOB */
    const char *name;     /* "main.saxpy(f32[:], …)"; for the stage PARSE: the
                             file */
    uint64_t nanoseconds; /* how long the stage or job took */
    const char *reason;   /* for KILN_EVENT_SESSION: which function or
                             variable holds which number; for
                             KILN_EVENT_CHECKED: where the check is that could
                             not be proved before; for people to read; else
                             NULL */
} kiln_event;

/**
 * What the host offers. Every member is optional; NULL means "not offered".
 * Members are called from any thread unless they say otherwise, must return on
 * the thread that called them, must not unwind or jump out, and may call back
 * into Kiln unless they say otherwise. While one runs, the queue whose launch,
 * wait or poll called it takes no other one (KILN_EBUSY); another queue does.
 * kiln_context_collect() and kiln_context_free() do nothing while one runs on
 * the thread. The same holds for functions of the host that a kernel calls, and
 * for those of stores and attachments.
 */
typedef struct kiln_host_ops {
    size_t size; /* sizeof(kiln_host_ops), as the host compiled it */

    /**
     * Enclose the waits of a calling thread, so that a host can make them a
     * safepoint region: waits for a build, for the end of a launch, and for
     * worker threads to end. A compiling thread for which thread_enter was
     * called is enclosed while it waits for work. Short waits for Kiln's locks
     * are not enclosed, nor is the wait of one definition for another. Used
     * only when both are given. They must not call Kiln.
     */
    void (*blocking_enter)(void *env);
    void (*blocking_leave)(void *env);

    /**
     * Enclose the life of each thread that Kiln starts to compile or to run
     * kernels on the host. Only when both are given may frontend callbacks run
     * on Kiln's threads; in this version they never do.
     */
    void (*thread_enter)(void *env);
    void (*thread_leave)(void *env);

    /**
     * Stores the address of a host object or function that a site names
     * (kiln_inference_use_site); KILN_ENOTFOUND when there is none. Under
     * KILN_SITES_PATCH it is called whenever a kernel is loaded, on the
     * caller's thread or on one of Kiln's; under KILN_SITES_RESOLVE before
     * code is generated, on the caller's thread, and again before that code
     * is used for another kernel.
     */
    kiln_status (*resolve)(void *env, const char *name, void **address);
    /**
     * root() keeps the object that `name` means alive and at its address;
     * unroot() lets it go. Each is called once for every load, or once for the
     * life of the artifact in its context. After root(), Kiln calls resolve()
     * again; if the answer has changed, it calls unroot() and starts again,
     * because a collector may move the object until root() returns. Used only
     * when both are given. They must not call Kiln.
     */
    void (*root)(void *env, const char *name, void *address);
    void (*unroot)(void *env, const char *name, void *address);

    /** Takes one line of the library's log, without a newline. */
    void (*log)(void *env, int32_t level, const char *line);

    /**
     * Takes an event; runs on the thread where it happened. On a thread of
     * Kiln's it may start work but cannot wait for it (KILN_ERECURSION).
     */
    void (*event)(void *env, const kiln_event *event);

    /**
     * Takes the output of kernels, one print statement a call; a call need not
     * be a whole line. Calls may come from several threads at once. Without
     * this member the output is lost.
     */
    void (*print)(void *env, const char *text, size_t size);

    /**
     * Runs body(argument, i) for 0 <= i < count, on any threads, and returns
     * when all are done. It replaces the host backend's own thread pool. Called
     * on the launching thread, for launches that are worth several threads.
     */
    void (*parallel_for)(void *env, size_t count,
                         void (*body)(void *argument, size_t index),
                         void *argument);

    /**
     * For a job of many processes ("ranks") that compile the same program, on
     * one machine or on many: each kernel is built by one of them, its owner,
     * and fetched by the others. Used only when both are given.
     *
     * rank() returns the number of this process, from 0, and stores how many
     * there are; all must say the same. It must not call Kiln.
     */
    uint32_t (*rank)(void *env, uint32_t *count);
    /**
     * Sends `request` to rank `owner` and waits for the bytes that
     * kiln_rank_serve() (kiln/cache.h) gives there; Kiln releases `*reply`.
     * Called on threads of Kiln's that do nothing else, at most 16 at once, and
     * not under a lock. It must return within `timeout_ms`. After any failure
     * the kernel is built in this process.
     *
     * Requests of other ranks must be served at all times, even while every
     * other thread of the host waits for Kiln: with MPI, for example, by a
     * thread that receives them (MPI_THREAD_MULTIPLE). There is no collective
     * call, so ranks may ask for kernels in any order, or for different ones.
     */
    kiln_status (*fetch)(void *env, uint32_t owner, const void *request,
                         size_t size, uint32_t timeout_ms, kiln_blob *reply);

    /**
     * Returns the lowest address of the stack that the calling code runs on;
     * NULL means the thread's own stack, which Kiln measures. For a host that
     * switches stacks (coroutines, fibres): deep nesting ends with KILN_ESTACK
     * before that address is reached. Called once for each public call that may
     * nest, and before a kernel runs that has a large frame or recurses; the
     * latter also on Kiln's own threads, which run on their own stacks. Without
     * this member, Kiln assumes that a stack other than the thread's own has 48
     * KiB left below each call. It must not call Kiln.
     */
    const void *(*stack_limit)(void *env);
} kiln_host_ops;

KILN_END_DECLS

#endif /* KILN_HOST_H */
