/* kiln/context.h - the one long-lived object, and the page on threads. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CONTEXT_H
#define KILN_CONTEXT_H

#include "kiln/host.h"
#include "kiln/sys/alloc.h"

KILN_BEGIN_DECLS

/*
 * Threads.
 *
 * A context may be used from any thread at any time. Types, configs, functions,
 * kernels, artifacts and errors are immutable once you hold them and may be
 * shared. A `const` pointer parameter means that concurrent use is safe.
 * Queues, buffers' contents and tickets belong to one thread at a time.
 *
 * Several contexts may live in one process; they share nothing but the loaded
 * libraries. LLVM runs only on threads that Kiln starts, with all signals
 * blocked, or in processes that Kiln starts, ends and waits for (`codegen`
 * below). Kiln installs no signal handler and changes neither locale,
 * floating-point mode, working directory nor environment.
 *
 * After fork() the child may use the context's tiers and the host backend. It
 * has no worker threads and no worker processes until its first miss starts
 * them anew. Builds that other threads had under way are forgotten in the
 * child. LLVM and lld have locks of their own, which fork() may leave taken:
 * fork a child that is to compile only while nothing is being built. A GPU
 * backend that was loaded before the fork must not be used in the child.
 *
 * Kernels are lent, not counted: a kernel stays usable until
 * kiln_context_collect() finds it outdated, or until the context ends.
 */

struct kiln_codegen_host;
struct kiln_codegen;
struct kiln_cache_options; /* kiln/cache.h */

/**
 * The entry point of the code generation library; see `codegen_exchange` below.
 * The two structs are opaque to embedders, who only declare the function and
 * pass its address on:
 *
 *     kiln_status kiln_codegen_exchange(const struct kiln_codegen_host *host,
 *                                       const struct kiln_codegen **out);
 */
typedef kiln_status (*kiln_codegen_exchange_fn)(
    const struct kiln_codegen_host *host, const struct kiln_codegen **out);

/**
 * The entry point of a code generation library that is linked into the program.
 * It is defined in libkiln-codegen, not in libkiln.
 */
KILN_API kiln_status kiln_codegen_exchange(const struct kiln_codegen_host *host,
                                           const struct kiln_codegen **out);

typedef struct kiln_context_options {
    size_t size;               /* KILN_CONTEXT_OPTIONS_INIT sets it */
    const kiln_alloc *alloc;   /* copied; NULL: malloc */
    const kiln_host_ops *host; /* copied; NULL: no callbacks */
    void *host_env;            /* first argument of every host callback */
    void (*host_finalize)(void *env); /* called once when the context ends;
                                         not if it was never made */
    uint32_t workers; /* threads that compile; 0: KILN_WORKERS, else cores */
    uint32_t threads; /* of the host backend; 0: KILN_THREADS, else cores */
    const char *codegen_path; /* libkiln-codegen.so; NULL: KILN_CODEGEN_PATH,
                                 else beside libkiln, else the loader's path */
    /* For a code generation library that is linked statically: pass
       kiln_codegen_exchange. NULL: the shared library is opened at the first
       miss. */
    kiln_codegen_exchange_fn codegen_exchange;
    const struct kiln_cache_options *cache; /* copied; NULL: all defaults */
    /* The members below configure code generation in worker processes. A worker
       process runs a program of Kiln's; it is started when it is first needed,
       and kept. */
    uint32_t codegen;           /* KILN_CODEGEN_... */
    uint32_t codegen_timeout_s; /* of one job; 0: KILN_CODEGEN_TIMEOUT, else
                                   120; or KILN_CODEGEN_NO_TIMEOUT */
    uint64_t codegen_memory;    /* of one worker's address space, in bytes; 0:
                                   KILN_CODEGEN_MEMORY, else no bound */
    const char *codegen_worker; /* the program; NULL: KILN_CODEGEN_WORKER, else
                                   ../libexec/kiln/ from libkiln's folder */
    const char *spirv_driver;   /* of backend spirv: "level-zero" or "opencl"
                                   alone; NULL: KILN_SPIRV_DRIVER, else both */
    /* Not 0: while an offline device for a target is open, kernels for that
       target are made for offline devices alone, and are loaded nowhere, even
       where a device could run them. For programs that make packs. */
    uint32_t offline_only;
} kiln_context_options;

/* Where code is generated. In a worker process LLVM may crash, hang or take all
   the memory there is: that is an error of that one job, with a file that keeps
   its input, and the next job gets a fresh worker. */
#define KILN_CODEGEN_DEFAULT 0 /* the variable KILN_CODEGEN, else AUTO */
/* Code from other frontends' LLVM IR in a worker process, if the worker's
   program is installed; all other code on threads of Kiln's. */
#define KILN_CODEGEN_AUTO 1
#define KILN_CODEGEN_THREAD 2 /* on threads of Kiln's, in this process */
#define KILN_CODEGEN_WORKER 3 /* in worker processes */
#define KILN_CODEGEN_NO_TIMEOUT UINT32_MAX

#define KILN_CONTEXT_OPTIONS_INIT \
    { \
        sizeof(kiln_context_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0 \
    }

/**
 * Creates a context. `options` may be NULL: all defaults. Opens no device, no
 * LLVM and no file, and starts no thread. Reads the environment; the options
 * take precedence over it.
 *
 * Use the macro kiln_context_new(), which passes the headers' ABI version:
 * KILN_EMISMATCH when the library has another one. KILN_EINVAL for options or
 * variables with a value that is not allowed, such as more than 1024 threads.
 * An unknown variable whose name begins with KILN_CACHE gives a warning.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_context_new_(int32_t abi_version, kiln_context **out,
                  const kiln_context_options *options, kiln_error **error);
#define kiln_context_new(out, options, error) \
    kiln_context_new_(KILN_ABI_VERSION, (out), (options), (error))

/**
 * Ends a context and everything that it lent: packages, types, configs,
 * kernels, code instances with what is attached, frontends, backends. Waits for
 * its worker threads. Queues, buffers, devices and tickets must have been freed
 * before, and no other thread may be inside the library with this context. In a
 * callback of the context it does nothing but write a warning to the log.
 * Errors, blobs and retained artifacts stay. NULL is fine.
 */
KILN_API void kiln_context_free(kiln_context *context);

/**
 * Frees what is no longer valid: outdated kernels (unloading their code), and
 * the code instances and definitions that no world in use can see.
 *
 * The caller promises that during the call no other thread is inside the
 * library with this context, and that it uses no kernel or code instance
 * obtained before, except kernels through call-site handles, which revalidate
 * themselves. Objects that are still valid keep their addresses. Kiln's own
 * threads go on working, and the objects that they need are kept. Within a
 * callback of the context the function frees nothing. NULL is fine.
 */
KILN_API void kiln_context_collect(kiln_context *context);

/** One environment variable that Kiln reads, and what it means. */
typedef struct kiln_environment_variable {
    const char *name;
    const char *meaning;
} kiln_environment_variable;

/** Returns the table of them all, ended by a NULL name. Static storage. */
KILN_API const kiln_environment_variable *kiln_environment_variables(void);

KILN_END_DECLS

#endif /* KILN_CONTEXT_H */
