/* kiln/sys/frontend.h - bring your own language, types and method tables. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SYS_FRONTEND_H
#define KILN_SYS_FRONTEND_H

#include "kiln/compile.h"

KILN_BEGIN_DECLS

/*
 * The contract.
 *
 * A frontend has a world counter that every definition advances. For a
 * signature it infers typed IR, and records each question (query) whose
 * answer it relied on: which method a call dispatches to, what a global name
 * is bound to. Kiln remembers the typed IR per signature and owner token, in
 * a range of worlds. When a definition changes, the frontend advances its
 * world and names the subject that changed (kiln_world_changed); Kiln asks
 * the recorded queries about that subject again, and ends the validity of
 * exactly those code instances that get another answer, and of their callers.
 *
 * Callbacks run on the thread that called into Kiln, or on a worker thread
 * when the host gives thread_enter and thread_leave (never in this version).
 * Several may run at once, on different threads. No lock of Kiln's is held,
 * and they may call back into Kiln: a nested kiln_compile() is fine, and what
 * it gives is finished, also when it is part of a cycle that is being inferred
 * around it. Callbacks in callbacks without end are refused with
 * KILN_ERECURSION, and so is what a world() needs that asks for worlds.
 *
 * What callbacks give is looked at, and what cannot be is an error that names
 * the frontend, or as if nothing was given: a status that is none
 * (KILN_EINVAL), no bytes of some size, types and functions of others, an error
 * beside success.
 *
 * Worlds are a frontend's own: numbers of two frontends have nothing to do with
 * each other. A result is valid in a range of worlds of its own frontend, and
 * of each frontend of what it calls or depends on. A request names a world of
 * its function's frontend, which is held or the current one; of any other
 * frontend that it reaches it sees the world that is current then, one until
 * it ends.
 *
 * Order of a definition: kiln_world_changing() is called, it makes itself
 * visible from world + 1 on, the world is advanced to that, then
 * kiln_world_changed() is called. What it replaces stays visible in the worlds
 * before. Whichever inference began too early is then found out, or finds out
 * by itself when it ends. Between the two calls the current world, for
 * requests, is the one before: else one of the new world could be given a
 * result that kiln_world_changed() is yet to end. A frontend that is used by
 * one thread, or lets nobody ask in that time, may leave out the first.
 */

/** What a running inference reports to. Valid during infer(). */
typedef struct kiln_inference kiln_inference;

/** A question that inference asked. Copied when it is recorded. */
typedef struct kiln_query {
    uint64_t subject;   /* what must change before the answer can, a hash of
                           the function's or binding's qualified name, say */
    const void *data;   /* the question; no addresses: it goes to disk */
    size_t size;        /* in bytes, at least 1 */
    kiln_digest answer; /* digest of the answer; all zero: "none" */
} kiln_query;

/**
 * What lower() is asked for: one kernel and everything it calls. Borrowed for
 * the call.
 *
 * The binary that is made of it serves every job of the same key, in every
 * process. The key holds all that can be read here: of each code instance its
 * function, types, name, result, typed IR, callees and digest; of the config
 * all settings but those of scope [load], which are zero here. So the module
 * is a function of these, and of nothing else: not of worlds and validity, not
 * of attachments, and not of what functions' `data` says today, unless infer()
 * put it into the typed IR.
 */
typedef struct kiln_lower_request {
    size_t size;
    const kiln_code *root;
    const kiln_config *config;
    const char *entry;             /* symbol that the module must define */
    const kiln_code *const *codes; /* the call closure, each signature once;
                                      codes[0] is root */
    size_t code_count;
} kiln_lower_request;

typedef struct kiln_frontend_ops {
    size_t size;      /* sizeof(kiln_frontend_ops), as you compiled it */
    const char *name; /* enters keys: "toy 1". Change it with the IR's form */

    /**
     * Returns the current world: at least 1, below UINT64_MAX, never
     * decreasing; what it needs is KILN_EINVAL otherwise. Asked for at every
     * miss, on any thread. Whoever reads it sees all that was done before it
     * was advanced: an atomic (release and acquire), or one under a lock.
     */
    uint64_t (*world)(void *self);

    /**
     * Infers `signature` as of `world` and reports to `out`: the root digest,
     * queries, callees, result type, typed IR, of which the last is required.
     * KILN_ECOMPILE for the user's errors; KILN_ENOTFOUND when no method
     * applies; both with an error. What was reported before a failure is
     * dropped.
     *
     * The owner token of `config` says which settings may be read: those of
     * scope [typed] only.
     */
    kiln_status (*infer)(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t world,
                         kiln_inference *out, kiln_error **error);

    /**
     * Answers a recorded query as of `world`, under [typed] settings of
     * `config`. The digest must be a pure function of what is defined: equal
     * in two processes that loaded the same program. No answer: all zero.
     * Asked for the current world, the one before, and held ones. A failure
     * counts as another answer.
     */
    kiln_status (*answer)(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t world,
                          kiln_digest *out);

    /** Ends the frontend. Runs when the context ends. */
    void (*free)(void *self);
    /* The functions above are required, since 0.1. */

    /**
     * Optional. Gives LLVM IR for a kernel, as bitcode or as text, with every
     * function it needs defined; Kiln releases `*out`. Without it the typed IR
     * must be Kiln's own. See "The module" below.
     */
    kiln_status (*lower)(void *self, const kiln_lower_request *request,
                         kiln_blob *out, kiln_error **error);

    /**
     * Optional. Finds the place of expression `ordinal` in the method that an
     * exception names: what the code gave to kiln_raise(), of which people see
     * only what stands before a `#`. Pointers in `*out` live until the next
     * call on this thread or the frontend's end.
     */
    kiln_status (*locate)(void *self, const char *method, uint32_t ordinal,
                          kiln_location *out);

    /** Optional. Keep world `world` usable / let it go, as often: Kiln holds
        the worlds of each request while it lasts, and what kiln_world_hold()
        asks for. KILN_ENOTFOUND when it is gone already: then a newer one is
        held. */
    kiln_status (*hold)(void *self, uint64_t world);
    void (*release)(void *self, uint64_t world);

    /**
     * Optional. No world before `oldest_world` will be asked about any more:
     * what was replaced or deleted before it may be freed. Called by
     * kiln_context_collect().
     */
    void (*collect)(void *self, uint64_t oldest_world);

    /*
     * What follows lets results of another process be found and checked before
     * anything is inferred. Without `type` and `function`, code instances that
     * call others are inferred in each process.
     */

    /**
     * Optional. Stores the digest of the method that the signature dispatches
     * to, exactly as infer() would report it (kiln_inference_set_root); all
     * zero when there is none. Without it every process that has the function
     * competes for one entry per signature.
     */
    kiln_status (*root)(void *self, const kiln_signature *signature,
                        const kiln_config *config, uint64_t world,
                        kiln_digest *out);

    /**
     * Optional. Stores a digest of everything in `world` that could matter to
     * inferring `signature`: the texts of its packages, say. Equal digests
     * promise equal answers to all queries, in any process. Cheap, and never a
     * reason to parse anything. All zero: nothing is promised.
     */
    kiln_status (*program)(void *self, const kiln_signature *signature,
                           const kiln_config *config, uint64_t world,
                           kiln_digest *out);

    /**
     * Optional. Stores the type of a canonical text (kiln_type_text()) that
     * another process wrote, as of `world`; KILN_ENOTFOUND when it is not
     * defined today.
     */
    kiln_status (*type)(void *self, const char *text, uint64_t world,
                        const kiln_type **out);

    /** Optional. Stores the function of a qualified name; KILN_ENOTFOUND. */
    kiln_status (*function)(void *self, const char *name,
                            const kiln_function **out);
} kiln_frontend_ops;

/*
 * The module that lower() gives. What does not pass the checks below is
 * KILN_ECODEGEN, with a message that names the function or variable. Code is
 * generated in a worker process, where there is one
 * (kiln_context_options.codegen), because LLVM may crash on what no check
 * finds.
 *
 * It defines `i32 @entry(ptr %item, <arguments>)`, called once per item of the
 * grid. Arguments stand in order: scalars as themselves (Bool as i8), structs,
 * tuples and foreign types as pointers to their bytes, an array as its data
 * pointer, its sizes as i64 and, when strided, its strides as i64. It returns
 * 0, or 1 after it raised an exception. Pointers have the address space that
 * the target has for them, which the message of another one tells: 0, but of
 * the item and of allocas on rocm 5, of bytes there 4, of arrays on spirv 4.
 *
 * Device functions that it may declare and call:
 *   i64 @kiln_global_id(ptr %item, i32 dimension)     also _local_id, _group_id
 *   i64 @kiln_global_size(ptr %item, i32 dimension)   also _local_size,
 *                                                     _group_count
 *   void @kiln_raise(ptr %item, i32 kind, ptr method, i32 ordinal,
 *                    ptr message, i64 value0, i64 value1)
 *       records an exception; `method` and `message` are constant,
 *       NUL-terminated strings. Then return 1, up through every caller: it is
 *       not noreturn.
 * and LLVM's intrinsics. The six that ask may be declared memory(none).
 * Nothing else may be left undefined, except functions of the C mathematics
 * library, symbols of runtime libraries that inference named
 * (kiln_inference_use_runtime), and host references named as sites.
 *
 * Taken out before anything is looked at, since it says nothing to a kernel:
 * what the entry does not reach, llvm.used and its like; linkage, visibility,
 * comdats and partitions, for a kernel is one image and every definition its
 * own, whatever it is called; aliases, which are what they stand for; the
 * target triple; flags of the module and named metadata that are not about
 * debugging; attributes in text form that are about a processor, the
 * floating-point environment (numbers are IEEE's, subnormal ones are kept) or
 * tools that watch the code. A data layout must be absent or the target's.
 * `amdhsa_code_object_version` may be 500 to 600.
 *
 * Variables are constants: declared so, or only read. They are in address
 * spaces 0, 1 or 4 (spirv: or 2), aligned to at most 4096 bytes. An initialiser
 * may hold pointers to functions and constants of the module, but not on spirv;
 * numbers computed of addresses, and addresses of labels, on host and rocm
 * only. Refused are variables that can be written (what a kernel keeps stands
 * in its arguments or in sites), in the memory of a group (space 3),
 * thread-local, external, externally_initialized, appending, with a section;
 * llvm.global_ctors, llvm.global_dtors, ifuncs, assembly, ptrauth.
 *
 * Functions have C's convention, fastcc, coldcc or spir_func, and are called by
 * it and by their type. Refused: assembly; exception handling and personality
 * functions; gc, prefix and prologue data, sections; naked functions and
 * coroutines; inalloca, preallocated, swifterror, swiftasync; operand bundles
 * but of llvm.assume and for convergence; the instruction va_arg (a frontend
 * reads the list by itself). Recursion, pointers to functions and variable
 * arguments are not for spirv; addresses of labels and indirectbr for the host
 * alone.
 *
 * Stacks. A frame has at most 512 KiB. On the host allocas have a constant size
 * and stand in the first block, and nobody counts how deep functions of the
 * module recur: a thread with at least 1 MiB runs them, and the frontend looks
 * at the depth by itself and raises (kiln_raise) before that is used up. Else
 * the process dies of SIGSEGV.
 *
 * Types: no scalable vectors, no target types, no x86_amx, fp128, ppc_fp128;
 * x86_fp80 on the host only, bfloat on cuda and rocm only; on spirv integers of
 * 8, 16, 32 and 64 bits. Pointers are into spaces 0, 1, 3, 4, 5 (spirv: 0 to
 * 4).
 *
 * Intrinsics that are refused: those that look at the running thread
 * (returnaddress, frameaddress, thread.pointer, read_register and their like),
 * change or read its floating-point mode (set.rounding, set.fpenv, ldmxcsr, a
 * constrained operation that is not rounded to nearest), end the process (trap,
 * debugtrap, ubsantrap), or need a runtime, a collector, a linker or an
 * unwinder (eh, coro, gc, experimental.stackmap, .patchpoint, .deoptimize,
 * .guard, type.test, instrprof, objc, ptrauth and more); vscale; those of
 * another target, and on the host those of instructions that the processor
 * lacks, that only the system may use (mwait), or that are of MMX registers;
 * those that LLVM has no code for on the target, or code that is far off unless
 * the call has the flag afn, and any that is not known to compute. On cuda and
 * rocm mathematics comes from a library: sin, cos, pow and powi of f32 have the
 * flag (pow and powi not on cuda), exp and log are rocm's, all for at most 32
 * bits. On cuda frem has the flag, too, and nothing converts floats to and from
 * more than 64 bits.
 *
 * Atomics have at most 64 bits, and a scope that the target knows: cuda block,
 * cluster, device; rocm wavefront, workgroup, cluster, agent, each with
 * -one-as; spirv subgroup, workgroup, device; singlethread, none at all; the
 * host any. On cuda fadd of f16, bf16 and vectors is monotonic and not of the
 * whole system. Loads and stores of vectors are not atomic.
 *
 * Sites. Of what kiln_inference_use_site() named "counter" the module declares
 *   @kiln_site_counter = external global [0 x i8]     an object; of any type
 *   declare i64 @kiln_site_counter(i64)               a function
 * with external or extern_weak linkage, and uses it as it likes: its address,
 * comparisons, loads, stores, calls. No initialiser of a variable may name it.
 * Under KILN_SITES_RESOLVE the address is a constant; under KILN_SITES_PATCH
 * it is read from a slot of the loaded kernel, and nothing is known of it, not
 * even that two of them differ. A builder that folds a comparison of two
 * globals has decided it before Kiln sees it: [0 x i8], or extern_weak, keeps
 * LLVM's own from doing so.
 *
 * Nothing else of the process may be written into the module. An address that
 * is, as a number, keeps the artifact in this process (KILN_RELOCATION_SESSION)
 * where it becomes a pointer, or stands whole, in 64 bits, and lies where Linux
 * puts programs, heaps, libraries and stacks. One that never does either is not
 * found: its artifact would be wrong in another process. Numbers that come with
 * a launch are not meant.
 */

/**
 * Adds a frontend. On success the context owns `self`. `ops` is copied.
 * Frontends' names differ, else KILN_EINVAL.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_frontend_add(kiln_frontend **out, kiln_context *context,
                  const kiln_frontend_ops *ops, void *self, kiln_error **error);

/** Returns the `self` that the frontend was added with. A frontend lives as
 *  long as its context. */
KILN_API void *kiln_frontend_self(const kiln_frontend *frontend);

/**
 * Stores the function object for `name`, qualified by its package: one per
 * frontend and name, which lives with the context. `name` is copied; `data` is
 * kept from the first call and stays the caller's.
 */
KILN_API KILN_NODISCARD kiln_status kiln_function_new(const kiln_function **out,
                                                      kiln_frontend *frontend,
                                                      const char *name,
                                                      void *data,
                                                      kiln_error **error);

/** Returns the `data` of the function. The kernel language's is its own. */
KILN_API void *kiln_function_data(const kiln_function *function);

/* An inference belongs to the thread that infer() runs on. */

/** Records the digest of the method that the signature dispatches to. */
KILN_API void kiln_inference_set_root(kiln_inference *inference,
                                      kiln_digest method);
/** Records the printable name, copied; the default is "function(types)". */
KILN_API KILN_NODISCARD kiln_status
kiln_inference_set_name(kiln_inference *inference, const char *name);
/** Records the result type for kiln_code_result(). */
KILN_API void kiln_inference_set_result(kiln_inference *inference,
                                        const kiln_type *type);
/** Records the worlds in which the result holds, the inferred one among them;
 *  the default is from that on, unbounded (UINT64_MAX). */
KILN_API void kiln_inference_set_worlds(kiln_inference *inference,
                                        uint64_t minimum, uint64_t maximum);
/** Records the typed IR; copied. It enters the typed digest: no addresses, no
 *  places. */
KILN_API KILN_NODISCARD kiln_status kiln_inference_set_ir(
    kiln_inference *inference, const void *bytes, size_t size);
/**
 * Marks what is inferred as a runtime function: Kiln's own typed IR that many
 * kernels call. Where it makes the same code in each of them, it is kept as
 * bitcode of its own and linked. The mark changes no key and no result.
 */
KILN_API void kiln_inference_set_runtime(kiln_inference *inference);

/**
 * Records that the code takes `symbol` from a runtime library
 * (kiln/runtime.h): the kernel's module may declare and call it. The content
 * of the library that offers it enters the typed digest. For frontends with a
 * lower(). KILN_ENOTFOUND when no library offers it to the config's backend;
 * KILN_EIO when the library's file cannot be read.
 */
KILN_API KILN_NODISCARD kiln_status kiln_inference_use_runtime(
    kiln_inference *inference, const char *symbol, kiln_error **error);

#define KILN_SITE_DATA 0     /* an object: the module declares a variable */
#define KILN_SITE_FUNCTION 1 /* a function with C's calling convention */

/** Bytes that a site's name may have. */
#define KILN_SITE_NAME_MAX 255

/**
 * Records that the code refers to a host object or function, which the host's
 * resolve callback (kiln/host.h) knows as `name`, copied. Name and kind enter
 * the typed digest, no address does. What the module may do with it: see
 * "Sites" above. A name that is recorded again with its kind is kept once. The
 * name means one object as long as the code is valid: when it comes to mean
 * another one, that is a change like any other (kiln_world_changed).
 */
KILN_API KILN_NODISCARD kiln_status
kiln_inference_use_site(kiln_inference *inference, const char *name,
                        int32_t kind, kiln_error **error);

/** Records a query, copied; one of the same subject and data is kept once.
 *  KILN_EINVAL for an empty one. */
KILN_API KILN_NODISCARD kiln_status
kiln_inference_add_query(kiln_inference *inference, const kiln_query *query);

/**
 * Lends the code instance of a callee, through tier 1, and records it as the
 * next callee, in call order (a repeated callee keeps its first place; `index`,
 * which may be NULL, receives it). It is inferred under the same config and, if
 * it is of the same frontend, in the same world; of another frontend in the
 * world that kiln_inference_world() tells. Other statuses are its own, with its
 * error. A result that goes on without a callee that failed is good for those
 * worlds alone, and is not stored; where it failed for what is around it alone,
 * for want of memory or in too deep a recursion, infer() fails as it did. So
 * it is with what a nested kiln_infer() or kiln_compile() could not get.
 *
 * KILN_ERECURSION, without an error: the callee is being inferred further up
 * on this very chain; `*head` is that inference, and the callee is recorded.
 * Every inference from here up to the head then ends as part of one cycle:
 * its result is provisional, handed to its caller but published only
 * together with the head. The head may infer its body again after
 * kiln_inference_restart(), until its assumption about itself holds.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_inference_callee(kiln_inference *inference, const kiln_signature *callee,
                      const kiln_code **out, uint32_t *index,
                      kiln_inference **head, kiln_error **error);

/**
 * Records that what is inferred depends on `code`, without calling it: on its
 * typed IR, which this one is derived from, say. `code` is a code instance of
 * any frontend of the context, as kiln_infer() lends it to infer(). Its typed
 * digest enters the own one. Like a callee it is looked up again, in every
 * process, before a stored result is used, and a definition that ends it ends
 * this one; unlike a callee it is not among the `codes` of lower(). To be
 * called before `code` is read.
 *
 * KILN_EINVAL: `code` is of another context or other [typed] settings, or is
 * not valid in the worlds in which this inference asks, which
 * kiln_inference_world() tells. When a definition came between, failing infer()
 * with that status is right: Kiln begins anew. KILN_ERECURSION: `code` is part
 * of a recursion whose inference has not ended; who depends on what depends on
 * it is refused like any compile that needs its own result. The error of an
 * infer() that ends with such a status, and with none of its own, says why.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_inference_depend(kiln_inference *inference, const kiln_code *code);

/**
 * Stores the world of `frontend` in which this inference, and whatever it is
 * part of, asks for callees: of the own frontend the one that infer() got, of
 * another one the current world when it was reached first. It is held until
 * the request ends. A nested kiln_infer() in that world sees every frontend in
 * the worlds of this inference, and so gives what that may depend on; in
 * another world it is a request of its own.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_inference_world(uint64_t *out, kiln_inference *inference,
                     kiln_frontend *frontend, kiln_error **error);

/** Forgets queries, callees, dependencies and the provisional members of the
 *  own cycle. */
KILN_API void kiln_inference_restart(kiln_inference *inference);

/** True when some inference below relied on this one while it ran. Stays true
 *  after a restart. */
KILN_API int32_t kiln_inference_is_cycle_head(const kiln_inference *inference);

/** True when the result relies on an inference further up, which settles it. */
KILN_API int32_t kiln_inference_is_provisional(const kiln_inference *inference);

/** Returns the inference that asked for this one, or NULL. */
KILN_API kiln_inference *kiln_inference_parent(const kiln_inference *inference);
/** Returns the signature that is being inferred. */
KILN_API const kiln_signature *kiln_inference_signature(
    const kiln_inference *inference);

/** Sets / returns a pointer of the frontend's own, for its parents and callees
 *  to find; NULL at first. */
KILN_API void kiln_inference_set_user(kiln_inference *inference, void *user);
KILN_API void *kiln_inference_user(const kiln_inference *inference);

/**
 * Tells that a definition is about to advance the frontend's world. Until the
 * kiln_world_changed() that it ends with is over, the current world of
 * requests, kiln_world() and kiln_world_hold() is what it was, and Kiln holds
 * it; any number that the frontend's world() says meanwhile is refused like one
 * that is yet to come. A definition that fails is ended by kiln_world_changed()
 * of no subjects. Several may be under way: the world before the first of them
 * stays until the last has ended. Other statuses are those of
 * kiln_world_hold(), and nothing has begun.
 *
 * A frontend calls it for each of its definitions, or for none.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_world_changing(kiln_frontend *frontend);

/**
 * Tells that `count` subjects changed with the world `world`, which is the
 * frontend's current one: code instances with queries about them are asked
 * again and end at world - 1 if the answer differs. `report` may be NULL; its
 * invalidated names are added to what it holds, its other members are the
 * caller's. Running inferences are checked when they end. Without memory for
 * the question everything of the frontend ends, which is always right.
 *
 * KILN_EINVAL, and a warning in the host's log, for any other world, or when
 * the frontend's world() says what cannot be: nothing is told then, and what
 * kiln_world_changing() began is under way still. Definitions wait for each
 * other until this has returned; or who comes late, since another one made a
 * newer world meanwhile, tells that one.
 */
KILN_API KILN_NODISCARD kiln_status kiln_world_changed(
    kiln_frontend *frontend, uint64_t world, const uint64_t *subjects,
    size_t count, kiln_change_report *report);

/** Ends the validity of one code instance, and of its callers, after world
 *  `maximum`. */
KILN_API KILN_NODISCARD kiln_status kiln_invalidate(const kiln_code *code,
                                                    uint64_t maximum);

/**
 * Makes an error of the caller's own for `error`, which may be NULL: a status
 * and a printf-like message, made one line. Returns `status`, for
 * `return kiln_error_set(...)`.
 */
KILN_API kiln_status kiln_error_set(kiln_error **error, kiln_status status,
                                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Makes an error of a message and diagnostics, all copied, and returns
 *  `status`. `error` may be NULL. */
KILN_API kiln_status kiln_error_set_diagnostics(
    kiln_error **error, kiln_status status, const char *message,
    const kiln_diagnostic *diagnostics, size_t count);

KILN_END_DECLS

#endif /* KILN_SYS_FRONTEND_H */
