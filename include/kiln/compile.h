/* kiln/compile.h - from a signature and a config to a kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_COMPILE_H
#define KILN_COMPILE_H

#include "kiln/kernel.h"
#include "kiln/method.h"

KILN_BEGIN_DECLS

#define KILN_ARGUMENTS_MAX 64 /* of one signature */

/**
 * A function and concrete argument types. Borrowed by every call that takes
 * one; put it on the stack.
 */
typedef struct kiln_signature {
    const kiln_function *function;
    const kiln_type *const *types; /* of one context; none is NULL */
    size_t count;                  /* at most KILN_ARGUMENTS_MAX */
} kiln_signature;

/* Where a kernel came from. */
#define KILN_SOURCE_NONE 0   /* nowhere: the job failed */
#define KILN_SOURCE_MEMORY 1 /* the kernel, or its artifact, was in memory */
#define KILN_SOURCE_WAITED 2 /* another thread was building it */
#define KILN_SOURCE_STORE 3  /* the artifact came from a store */
#define KILN_SOURCE_BUILT 4  /* compiled now */

typedef struct kiln_compile_options {
    size_t size;     /* KILN_COMPILE_OPTIONS_INIT sets it */
    uint64_t world;  /* a held world of the function's frontend; 0: the current
                        one */
    int32_t *source; /* receives KILN_SOURCE_...; NULL: not wanted;
                        kiln_compile_start() leaves it alone */
    uint32_t time_limit_ms; /* how long the call waits for code generation,
                               counted from the start of the call; 0: no limit.
                               Enters no key; kiln_compile_start() ignores it */
} kiln_compile_options;

#define KILN_COMPILE_OPTIONS_INIT \
    { \
        sizeof(kiln_compile_options), 0, 0, 0 \
    }

/**
 * Lends the kernel for `signature` under `config`, compiling it if no tier
 * remembers it. Every other caller of the same job waits for that one build;
 * different jobs build at the same time. A hit in the current world takes no
 * lock, allocates nothing and writes no shared memory. `options` may be NULL.
 * On a miss, inference and a frontend's lower() run on this thread, code
 * generation on a worker; the kernel is loaded on the config's device.
 *
 * - KILN_EINVAL: a bad argument, such as a type of another context; a world
 *   that is neither current nor held; a frontend that returns something
 *   impossible; or definitions of a frontend that does not call
 *   kiln_world_changing() kept interfering.
 * - KILN_ECOMPILE: the user's code has an error; with diagnostics.
 * - KILN_ENOTFOUND, with an error: a frontend knows no method.
 * - KILN_EUNSUPPORTED: the target cannot do what the code asks for.
 * - KILN_ECODEGEN: the code generator failed or cannot be opened.
 * - KILN_EMISMATCH: the code generator is of another build.
 * - KILN_ENODEVICE: the config's device does not exist, or does not fit the
 *   target.
 * - KILN_ERECURSION: a nested compile asked for the job that it is part of,
 *   callbacks are nested too deep, or a callback on a thread of Kiln's would
 *   have to wait.
 * - KILN_ETIMEDOUT: `time_limit_ms` is over.
 *
 * After KILN_ETIMEDOUT a build goes on if other callers wait for it, or if it
 * runs on a thread of Kiln's. Its result is remembered for later callers, as if
 * nobody had left; kiln_context_free() waits for that thread. A build in a
 * worker process that nobody waits for any more is ended, as by
 * kiln_compile_cancel(). The timeout itself is not remembered. Inference and a
 * frontend's lower() run on the calling thread and are not cut short.
 *
 * Failures that the same input would give again are remembered until the world
 * advances. Temporary failures are not: KILN_ENOMEM, and KILN_EIO for want of
 * descriptors, processes or threads; the same call may succeed later in the
 * same context.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_compile(const kiln_kernel **out, kiln_context *context,
             const kiln_signature *signature, const kiln_config *config,
             const kiln_compile_options *options, kiln_error **error);

/**
 * A call site's own reference to its kernel. Zero it, then fill it with
 * kiln_call_site_compile(). Many threads may read it while one of them
 * refreshes it. It owns nothing and must not be used after its context has
 * ended.
 */
typedef struct kiln_call_site {
    const kiln_kernel *kernel;
} kiln_call_site;

/*
 * The first member of every kernel, which kiln_call_site_get() reads. The other
 * members are not part of the interface.
 */
typedef struct kiln_kernel_head {
    uint32_t valid; /* written once, from 1 to 0; read atomically */
} kiln_kernel_head;

/** Returns the site's kernel while it is valid, else NULL. A few loads and no
 *  call: the cheapest hit there is. It is not counted in the statistics. */
static inline const kiln_kernel *kiln_call_site_get(const kiln_call_site *site)
{
    const kiln_kernel *kernel =
        __atomic_load_n(&site->kernel, __ATOMIC_ACQUIRE);

    if (kernel && __atomic_load_n(
                      &((const kiln_kernel_head *)(const void *)kernel)->valid,
                      __ATOMIC_RELAXED))
        return kernel;
    return NULL;
}

/**
 * As kiln_compile(), through the site: fast while the site's kernel is valid,
 * and otherwise refreshes it. A site always serves one signature, config and
 * world: while its kernel is valid, the other arguments are not read, and
 * `options->source` is not written.
 */
KILN_API KILN_NODISCARD kiln_status kiln_call_site_compile(
    const kiln_kernel **out, kiln_call_site *site, kiln_context *context,
    const kiln_signature *signature, const kiln_config *config,
    const kiln_compile_options *options, kiln_error **error);

/** One job of a batch, and its result. */
typedef struct kiln_batch_job {
    kiln_signature signature; /* its types must stay valid until the batch
                                 returns */
    const kiln_config *config;
    uint64_t world;            /* a held world; 0: the current one */
    const kiln_kernel *kernel; /* out: NULL when the job failed */
    kiln_error *error;         /* out: owned by the caller, or NULL */
    kiln_status status;        /* out */
    int32_t source;            /* out: KILN_SOURCE_... */
} kiln_batch_job;

/** Called after each job of a batch, on the calling thread. `job` points into
 *  the list and has its results. */
typedef void (*kiln_progress_fn)(size_t done, size_t count,
                                 const kiln_batch_job *job, void *env);

/**
 * Compiles a list of jobs on all workers and returns when each has ended.
 * Inference runs on the calling thread, job after job. Returns KILN_OK when all
 * jobs succeeded, else the status of the first job in the list that failed; the
 * others are compiled nevertheless. `progress` may be NULL. KILN_ENOMEM, in the
 * result and in every job, means that no job was started.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_compile_batch(kiln_context *context, kiln_batch_job *jobs, size_t count,
                   kiln_progress_fn progress, void *env);

/**
 * Starts a job without waiting for its end. Inference runs on the calling
 * thread, code generation on a worker. The caller frees the ticket. Errors that
 * inference finds are returned here, without a ticket. `options` may be NULL.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_compile_start(kiln_ticket **out, kiln_context *context,
                   const kiln_signature *signature, const kiln_config *config,
                   const kiln_compile_options *options, kiln_error **error);

/** Stores the kernel when it is ready. KILN_EAGAIN until then; KILN_ECANCELED
 *  when the job was canceled before it was finished; else as kiln_compile().
 *  Never blocks. */
KILN_API KILN_NODISCARD kiln_status kiln_compile_poll(const kiln_kernel **out,
                                                      kiln_ticket *ticket,
                                                      kiln_error **error);

/** As kiln_compile_poll(), but waits until the job has ended, unless it was
 *  canceled. KILN_ERECURSION when the wait would never end. */
KILN_API KILN_NODISCARD kiln_status kiln_compile_wait(const kiln_kernel **out,
                                                      kiln_ticket *ticket,
                                                      kiln_error **error);

/** Cancels the job: polls give KILN_ECANCELED unless it is finished already.
 *  The build goes on, and its result is remembered; but a build in a worker
 *  process ends at once if nobody else waits for it. NULL is fine. */
KILN_API void kiln_compile_cancel(kiln_ticket *ticket);

/** Frees a ticket; work that is under way goes on. NULL is fine. Never
 *  waits. */
KILN_API void kiln_ticket_free(kiln_ticket *ticket);

/**
 * Stores the binary key of a job in `world` (0: the current one): stable
 * between processes and machines as long as neither the meaning of the code nor
 * a [binary] setting nor the code generator's version changes. Infers if need
 * be, but generates no code and does not open LLVM. The statuses are those of
 * inference.
 */
KILN_API KILN_NODISCARD kiln_status kiln_job_key(
    kiln_digest *out, kiln_context *context, const kiln_signature *signature,
    const kiln_config *config, uint64_t world, kiln_error **error);

#define KILN_EMIT_TYPED 0    /* typed IR as text, the whole call closure */
#define KILN_EMIT_LLVM 1     /* LLVM IR as lowered */
#define KILN_EMIT_LLVM_OPT 2 /* LLVM IR as optimised */
#define KILN_EMIT_ASM 3      /* assembly */
#define KILN_EMIT_BINARY 4   /* the artifact's payload */

/**
 * Shows a job at one of its stages, KILN_EMIT_..., in `world` (0: the current
 * one), for inspection. The result of inference is remembered. Code is
 * generated each time, on a worker, and not kept. Needs no device. The caller
 * releases `*out`, whose bytes end in a NUL that is not counted. The statuses
 * are those of kiln_compile(), and KILN_EUNSUPPORTED for the typed IR of a
 * frontend that has its own lower().
 */
KILN_API KILN_NODISCARD kiln_status kiln_emit(kiln_blob *out,
                                              kiln_context *context,
                                              const kiln_signature *signature,
                                              const kiln_config *config,
                                              uint64_t world, int32_t form,
                                              kiln_error **error);

/*
 * Code instances: a method instance inferred for one owner token. Like kernels,
 * they are lent.
 */

/** Lends the code instance of a signature, inferring it if need be, in a held
 *  world or, for 0, in the current one. The statuses are those of
 *  kiln_compile(). */
KILN_API KILN_NODISCARD kiln_status kiln_infer(const kiln_code **out,
                                               kiln_context *context,
                                               const kiln_signature *signature,
                                               const kiln_config *config,
                                               uint64_t world,
                                               kiln_error **error);

/** Lends the code instance if tier 1 has it for that world; infers nothing.
 *  KILN_ENOTFOUND if it has none; KILN_EINVAL as kiln_infer(). */
KILN_API KILN_NODISCARD kiln_status kiln_code_find(
    const kiln_code **out, kiln_context *context,
    const kiln_signature *signature, const kiln_config *config, uint64_t world);

/** Returns "main.saxpy(f32[:], f32, f32[:])". Borrowed. */
KILN_API const char *kiln_code_name(const kiln_code *code);
/** Returns the signature that the code was inferred for. Its types are
 *  borrowed. */
KILN_API kiln_signature kiln_code_signature(const kiln_code *code);
/** Returns callee `index`, in the order in which inference recorded them
 *  (kiln_inference_callee), or NULL beyond the last. */
KILN_API const kiln_code *kiln_code_callee(const kiln_code *code, size_t index);
/** Returns the typed digest: of the code's IR and of the IR of everything it
 *  calls. For a frontend with its own lower() it also covers everything else
 *  that lower() may read. */
KILN_API kiln_digest kiln_code_digest(const kiln_code *code);
/** Returns the typed IR in its binary form, or as the frontend gave it; `size`
 *  in bytes, may be NULL. Borrowed. */
KILN_API const void *kiln_code_ir(const kiln_code *code, size_t *size);
/** Returns the type of the result, or NULL if the frontend gave none. */
KILN_API const kiln_type *kiln_code_result(const kiln_code *code);
/** Stores the first and last world of the instance's own frontend in which it
 *  is valid. The last one is UINT64_MAX until a definition ends the instance.
 *  Either pointer may be NULL. The end of something that the instance calls or
 *  depends on in another frontend also ends it. */
KILN_API void kiln_code_worlds(const kiln_code *code, uint64_t *minimum,
                               uint64_t *maximum);
/** True until a definition ends the instance's validity: one of its own
 *  frontend, or of a frontend of something that it calls or depends on. */
KILN_API int32_t kiln_code_is_valid(const kiln_code *code);

/**
 * A result that a consumer other than the compiler attaches to a code instance,
 * such as a tool for automatic differentiation. It is keyed by instance, config
 * (or NULL) and consumer name, which is copied. `destroy`, which may be NULL,
 * runs once, when the instance is collected or the context ends, and must not
 * call Kiln.
 *
 * A result of class PORTABLE that has a `save` function is offered to the
 * stores when it is attached, and goes into deltas. `save` gives bytes without
 * addresses, which Kiln releases; equal results must give equal bytes. It may
 * run at any time, on any thread, while others read the value. If it fails, the
 * result stays in this process. This struct's `load` is not called: to find
 * results of other processes, a consumer says with
 * kiln_attachment_consumer_add() how to read them.
 */
typedef struct kiln_attachment {
    size_t size;
    void *value;
    void (*destroy)(void *value);
    int32_t relocation; /* KILN_RELOCATION_... */
    kiln_status (*save)(void *value, kiln_blob *out);
    kiln_status (*load)(const void *bytes, size_t size, void **value);
} kiln_attachment;

/** Functions that read a consumer's results of other processes. */
typedef struct kiln_attachment_consumer {
    size_t size;
    const char *name; /* change it when the form of what `save` writes
                         changes */
    /* Makes a value from what `save` wrote. If it fails, the result counts as
       not there. */
    kiln_status (*load)(const void *bytes, size_t size, void **value);
    void (*destroy)(void *value); /* or NULL; as in kiln_attachment */
    kiln_status (*save)(void *value, kiln_blob *out); /* for deltas; may be
                                                         NULL */
} kiln_attachment_consumer;

/** Registers how results of a consumer are read that another process attached
 *  to an instance of the same function, types, name, result, typed IR and
 *  callees. KILN_EINVAL if the name is registered already. Any thread. */
KILN_API KILN_NODISCARD kiln_status kiln_attachment_consumer_add(
    kiln_context *context, const kiln_attachment_consumer *consumer,
    kiln_error **error);

/** Lends the attached value for as long as the instance lives; KILN_ENOTFOUND
 *  if there is none. For a registered consumer this also searches the stores,
 *  and attaches what it finds. Any thread, as kiln_attachment_put(). */
KILN_API KILN_NODISCARD kiln_status
kiln_attachment_get(void **out, const kiln_code *code,
                    const kiln_config *config, const char *consumer);

/**
 * Attaches a value and stores it in `*out`, which may be NULL. The first value
 * wins: when there is one already, `*out` receives it, the new value is
 * destroyed and KILN_OK is returned. Stores are not searched. After a failure
 * the value still belongs to the caller.
 */
KILN_API KILN_NODISCARD kiln_status kiln_attachment_put(
    void **out, const kiln_code *code, const kiln_config *config,
    const char *consumer, const kiln_attachment *attachment);

KILN_END_DECLS

#endif /* KILN_COMPILE_H */
