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
 * signature it infers typed IR, and records each question (query) on whose
 * answer the result depends: which method a call dispatches to, what a global
 * name is bound to. Kiln remembers the typed IR per signature and owner token,
 * in a range of worlds. When a definition changes, the frontend advances its
 * world and names the subject that changed (kiln_world_changed); Kiln then asks
 * the recorded queries about that subject again. It ends the validity of
 * exactly those code instances for which an answer has changed, and of their
 * callers.
 *
 * Callbacks run on the thread that called into Kiln, or on a worker thread when
 * the host gives thread_enter and thread_leave (never in this version). Several
 * may run at once, on different threads. No lock of Kiln's is held, and they
 * may call back into Kiln. A nested kiln_compile() is fine, and its result is
 * final, even if it is part of a cycle that is being inferred at that time.
 * Endless nesting of callbacks is refused with KILN_ERECURSION; so is a request
 * that a world() makes for which Kiln would have to call world().
 *
 * Kiln checks what callbacks return. An impossible result is an error that
 * names the frontend, or counts as no result. Examples are a number that is no
 * status (KILN_EINVAL), NULL with a size above 0, types and functions of
 * another context, and an error together with success.
 *
 * Worlds are a frontend's own: the numbers of two frontends are unrelated. A
 * result is valid in a range of worlds of its own frontend, and in one of each
 * frontend that it calls or depends on. A request names a world of its
 * function's frontend, either a held one or the current one. When it reaches
 * another frontend, it takes that frontend's current world and uses it until
 * the request ends.
 *
 * A frontend makes a definition in this order: it calls kiln_world_changing(),
 * makes the definition visible from world + 1 on, advances its world to that
 * number, and calls kiln_world_changed(). What the definition replaces stays
 * visible in the earlier worlds. An inference that began too early is detected
 * by that call or when the inference ends. Between the two calls requests see
 * the previous world as the current one: otherwise a request in the new world
 * could get a result that kiln_world_changed() has not ended yet. A frontend
 * that is used by one thread only, or that allows no requests during that time,
 * may leave out the first call.
 */

/** The object to which a running inference reports. Valid during infer(). */
typedef struct kiln_inference kiln_inference;

/** A question that inference asked. Copied when it is recorded. */
typedef struct kiln_query {
    uint64_t subject;   /* what must change before the answer can change; for
                           example, a hash of the qualified name of the function
                           or binding */
    const void *data;   /* the question; without addresses, because it goes to
                           disk */
    size_t size;        /* in bytes, at least 1 */
    kiln_digest answer; /* digest of the answer; all zero means "none" */
} kiln_query;

/**
 * The argument of lower(): one kernel and everything that it calls. Borrowed
 * for the call.
 *
 * The binary made from it serves every job of the same key, in every process.
 * The key covers everything that can be read here: each code instance's
 * function, types, name, result, typed IR, callees and digest, and all settings
 * of the config except those of scope [load], which are zero here. So the
 * module must depend on these alone. It must not depend on worlds and validity,
 * on attachments, or on the content of a function's `data`, unless infer() put
 * that into the typed IR.
 */
typedef struct kiln_lower_request {
    size_t size;
    const kiln_code *root;
    const kiln_config *config;
    const char *entry;             /* symbol that the module must define */
    const kiln_code *const *codes; /* the call closure, each signature once;
                                      codes[0] is root */
    size_t code_count;
    /* 0: a kernel. 1: a function that code of another frontend calls; see
       "Functions" below. */
    int32_t is_function;
} kiln_lower_request;

typedef struct kiln_frontend_ops {
    size_t size;      /* sizeof(kiln_frontend_ops), as you compiled it */
    const char *name; /* enters keys: "toy 1"; change it when the form of the IR
                         changes */

    /**
     * Returns the current world: at least 1, below UINT64_MAX, never
     * decreasing; otherwise the request is KILN_EINVAL. Called at every miss,
     * on any thread. A thread that reads the world must see everything that was
     * done before it was advanced: use an atomic with release and acquire, or a
     * lock.
     */
    uint64_t (*world)(void *self);

    /**
     * Infers `signature` as of `world` and reports to `out`: the root digest,
     * queries, callees, result type and typed IR. Only the typed IR is
     * required. KILN_ECOMPILE for the user's errors and KILN_ENOTFOUND when no
     * method applies, both with an error. After a failure, what was reported
     * before it is dropped.
     *
     * The owner token of `config` says which settings may be read: those of
     * scope [typed] only.
     */
    kiln_status (*infer)(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t world,
                         kiln_inference *out, kiln_error **error);

    /**
     * Answers a recorded query as of `world`, under [typed] settings of
     * `config`. The digest must be a pure function of what is defined: equal in
     * two processes that loaded the same program. All zero means no answer.
     * Called for the current world, the one before it, and held worlds. A
     * failure counts as a changed answer.
     */
    kiln_status (*answer)(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t world,
                          kiln_digest *out);

    /** Frees the frontend. Called when the context ends. */
    void (*free)(void *self);
    /* The functions above are required, since 0.1. */

    /**
     * Optional. Gives LLVM IR for a kernel, as bitcode or as text, with a
     * definition of every function that it needs; Kiln releases `*out`. Without
     * it the typed IR must be Kiln's own. See "The module" below.
     */
    kiln_status (*lower)(void *self, const kiln_lower_request *request,
                         kiln_blob *out, kiln_error **error);

    /**
     * Optional. Finds the source location of expression `ordinal` in the method
     * that an exception names. `method` is the string that the code gave to
     * kiln_raise(); people are shown only its part before a `#`. Kernels of
     * other frontends may have called the method, and Kiln asks for theirs,
     * too: return KILN_ENOTFOUND for those that are not yours. Pointers in
     * `*out` live until the next call on this thread or the frontend's end.
     */
    kiln_status (*locate)(void *self, const char *method, uint32_t ordinal,
                          kiln_location *out);

    /** Optional. hold() keeps world `world` usable until release() has been
        called as often. Kiln holds the worlds of each request while it lasts,
        and those that kiln_world_hold() asks for. hold() gives KILN_ENOTFOUND
        if the world is gone already: then Kiln holds a newer one. */
    kiln_status (*hold)(void *self, uint64_t world);
    void (*release)(void *self, uint64_t world);

    /**
     * Optional. Says that no callback will ask about a world before
     * `oldest_world` any more: definitions that were replaced or deleted before
     * it may be freed. Called by kiln_context_collect().
     */
    void (*collect)(void *self, uint64_t oldest_world);

    /*
     * The members below make it possible to find and check results of another
     * process without inferring anything. Without `type` and `function`, code
     * instances that call others are inferred in each process.
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
     * promise equal answers to all queries, in any process. It must be cheap
     * and must not parse anything. All zero promises nothing.
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

    /*
     * The members below are for frontends whose functions the kernel language,
     * or other frontends, may call.
     */

    /** With lower(): 1 if its modules call every callee as kiln_call.N
        (docs/llvm-ir.md). Otherwise a module has all code in it that it needs,
        except that it may call so what is below it if all of that is in Kiln's
        own typed IR. */
    int32_t calls_by_number;

    /** Optional. KILN_OK when programs of the kernel language may import the
        package and call its functions, whatever they are; KILN_ENOTFOUND when
        the frontend has no such package. Called while a text is defined: it
        must not call back into Kiln. */
    kiln_status (*package)(void *self, const char *name);

    /** Optional. Stores the type of each parameter of the function as of
        `world`, and how many there are, at most KILN_ARGUMENTS_MAX; NULL for a
        parameter that is no scalar. Numbers that are written in a call become
        numbers of these types. KILN_ENOTFOUND when there is no such
        function. */
    kiln_status (*parameters)(void *self, const kiln_function *function,
                              uint64_t world, const kiln_type **types,
                              size_t *count, kiln_error **error);

    /** Optional. Copies the text of the line that locate() finds for these
        arguments, without its end, into `out`; a line that does not fit is cut.
        Exceptions show it. KILN_ENOTFOUND when it is not at hand. */
    kiln_status (*quote)(void *self, const char *method, uint32_t ordinal,
                         char *out, size_t size);
} kiln_frontend_ops;

/*
 * The module that lower() gives. A module that does not pass the checks below
 * is KILN_ECODEGEN, with a message that names the function or variable. Code is
 * generated in a worker process, where there is one
 * (kiln_context_options.codegen), because LLVM may crash on what no check
 * finds.
 *
 * It defines `i32 @entry(ptr %item, <arguments>)`, called once per item of the
 * grid. Arguments are passed in order: scalars as themselves (Bool as i8),
 * structs, tuples and foreign types as pointers to their bytes, an array as its
 * data pointer, its sizes as i64 and, when strided, its strides as i64. It
 * returns 0, or 1 after it raised an exception. Pointers must have the address
 * space that the target uses; the error for a wrong one names it. It is 0,
 * except for the item and allocas on rocm (5), for bytes on rocm (4) and for
 * arrays on spirv (4).
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
 *   void @kiln_barrier(ptr %item, i32 scope, i32 memory)
 *       waits for the items of the group; see docs/llvm-ir.md
 * It may also call LLVM's intrinsics. The six functions that return a number
 * may be declared memory(none). Nothing else may be left undefined, except
 * functions of the C mathematics library and built-in functions of OpenCL C
 * (docs/llvm-ir.md, "Mathematics and libraries"), symbols of runtime libraries
 * that inference named (kiln_inference_use_runtime), and host references named
 * as sites.
 *
 * Before any check, Kiln removes what has no meaning for a kernel: code and
 * data that the entry does not reach, llvm.used and the like; linkage,
 * visibility, comdats and partitions, because a kernel is one image with
 * definitions of its own, whatever their names; aliases, which are replaced by
 * what they stand for; the target triple; module flags and named metadata that
 * are not about debugging; string attributes about a processor, the
 * floating-point environment (numbers are IEEE's, subnormal ones are kept) or
 * instrumentation. A data layout must be absent or the target's.
 * `amdhsa_code_object_version` may be 500 to 600.
 *
 * Variables must be constants: declared so, or only read. They are in address
 * spaces 0, 1 or 4 (on spirv also 2), aligned to at most 4096 bytes. An
 * initialiser may hold pointers to functions and constants of the module,
 * except on spirv; numbers computed from addresses only on host and rocm;
 * addresses of labels only on the host. A variable in space 3 is in the memory
 * of a group: it can be written, and its initialiser is poison or undef; on the
 * host no other initialiser may hold its address. Refused are other
 * variables that can be written (a kernel keeps state in its arguments or in
 * sites), and variables that are thread-local, external,
 * externally_initialized, appending, with a section; llvm.global_ctors,
 * llvm.global_dtors, ifuncs, assembly, ptrauth.
 *
 * Functions have C's calling convention, fastcc, coldcc or spir_func. A call
 * must use the function's own convention and type. Refused: assembly; exception
 * handling and personality functions; gc, prefix and prologue data, sections;
 * naked functions and coroutines; inalloca, preallocated, swifterror,
 * swiftasync; operand bundles, except those of llvm.assume and of convergence
 * control; the instruction va_arg (a frontend must read the list by itself).
 * Recursion, pointers to functions and variable arguments are refused on spirv;
 * addresses of labels and indirectbr are refused everywhere but on the host.
 *
 * Stacks. A frame has at most 512 KiB. On the host allocas must have a constant
 * size and be in the first block. Kiln does not count how deeply functions of
 * the module recurse: a thread with at least 1 MiB of stack runs them, and the
 * frontend's code must check the depth by itself and raise (kiln_raise) before
 * the stack is used up. Otherwise the process dies of SIGSEGV.
 *
 * Types: no scalable vectors, no target types, no x86_amx, fp128, ppc_fp128;
 * x86_fp80 on the host only, bfloat on cuda and rocm only; on spirv only
 * integers of 8, 16, 32 and 64 bits. Pointers may be into spaces 0, 1, 3, 4, 5
 * (spirv: 0 to 4).
 *
 * Refused intrinsics: those that read the running thread's state
 * (returnaddress, frameaddress, thread.pointer, read_register and their like),
 * change or read its floating-point mode (set.rounding, set.fpenv, ldmxcsr, a
 * constrained operation that is not rounded to nearest), end the process (trap,
 * debugtrap, ubsantrap), or need a runtime, a collector, a linker or an
 * unwinder (eh, coro, gc, experimental.stackmap, .patchpoint, .deoptimize,
 * .guard, type.test, instrprof, objc, ptrauth and more); vscale; those of
 * another target, and those of instructions that the processor lacks; on the
 * host those that only the system may use (mwait), or that use MMX registers;
 * those for which LLVM has no code on the target, unless they are mathematical
 * functions; and all that are not known to be pure computation. On cuda floats
 * cannot be converted to and from integers of more than 64 bits.
 *
 * Atomics must have at most 64 bits, be aligned to their size and have a scope
 * that the target knows: cuda block, cluster, device; rocm wavefront,
 * workgroup, cluster, agent, each with -one-as; spirv subgroup, workgroup,
 * device; singlethread, none at all; the host any. On cuda fadd of f16, bf16
 * and vectors must be monotonic and must not have system scope. Loads and
 * stores of vectors cannot be atomic.
 *
 * Sites. If kiln_inference_use_site() named "counter", the module declares
 *   @kiln_site_counter = external global [0 x i8]     an object; of any type
 *   declare i64 @kiln_site_counter(i64)               a function
 * with external or extern_weak linkage, and may use it in any way: its address,
 * comparisons, loads, stores, calls. An initialiser of a variable must not name
 * it. Under KILN_SITES_RESOLVE the address is a constant. Under
 * KILN_SITES_PATCH it is read from a slot of the loaded kernel, and nothing is
 * known about it, not even that two sites differ. An IR builder that folds a
 * comparison of two globals does so before Kiln sees the module; the type
 * [0 x i8], or extern_weak, keeps LLVM's builder from folding it.
 *
 * The module must not contain any other address of the process. Kiln recognises
 * an address that is written as a number if it becomes a pointer, or if it is a
 * whole 64-bit number in a range where Linux puts programs, heaps, libraries
 * and stacks. The artifact then stays in this process
 * (KILN_RELOCATION_SESSION). An address that is neither is not found, and the
 * artifact would be wrong in another process. This does not concern numbers
 * that come with a launch.
 */

/**
 * Adds a frontend. On success the context owns `self`. `ops` is copied.
 * KILN_EINVAL if another frontend has the same name.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_frontend_add(kiln_frontend **out, kiln_context *context,
                  const kiln_frontend_ops *ops, void *self, kiln_error **error);

/** Returns the `self` that the frontend was added with. A frontend lives as
 *  long as its context. */
KILN_API void *kiln_frontend_self(const kiln_frontend *frontend);

/**
 * Stores the function object for `name`, qualified by its package: there is one
 * per frontend and name, and it lives as long as the context. `name` is copied.
 * `data` of the first call is kept; it still belongs to the caller.
 */
KILN_API KILN_NODISCARD kiln_status kiln_function_new(const kiln_function **out,
                                                      kiln_frontend *frontend,
                                                      const char *name,
                                                      void *data,
                                                      kiln_error **error);

/** Returns the `data` of the function. For a function of the kernel language,
 *  it is private to that frontend. */
KILN_API void *kiln_function_data(const kiln_function *function);

/*
 * An inference may be used only on the thread that runs its infer(). NULL for
 * one is KILN_EINVAL; functions that give no status do nothing with it, or
 * return 0 or NULL.
 */

/** Records the digest of the method that the signature dispatches to. */
KILN_API void kiln_inference_set_root(kiln_inference *inference,
                                      kiln_digest method);
/** Records the printable name, copied; the default is "function(types)". */
KILN_API KILN_NODISCARD kiln_status
kiln_inference_set_name(kiln_inference *inference, const char *name);
/** Records the result type for kiln_code_result(). */
KILN_API void kiln_inference_set_result(kiln_inference *inference,
                                        const kiln_type *type);
/** Records the worlds in which the result holds, which must include the one in
 *  which it is inferred. The default is that world and all later ones
 *  (UINT64_MAX). */
KILN_API void kiln_inference_set_worlds(kiln_inference *inference,
                                        uint64_t minimum, uint64_t maximum);
/** Records the typed IR, which is copied. It enters the typed digest, so it
 *  must not contain addresses or source locations. */
KILN_API KILN_NODISCARD kiln_status kiln_inference_set_ir(
    kiln_inference *inference, const void *bytes, size_t size);
/**
 * Marks this function as a runtime function: one in Kiln's own typed IR that
 * many kernels call. If it gives the same code in each of them, it is kept as
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

/** Most bytes that a site's name may have. */
#define KILN_SITE_NAME_MAX 255

/**
 * Records that the code refers to a host object or function, which the host's
 * resolve callback (kiln/host.h) knows as `name`, copied. Name and kind enter
 * the typed digest; an address does not. "Sites" above says how the module may
 * use it. Recording a name again with the same kind does nothing. The name must
 * mean one object as long as the code is valid. If it is to mean another
 * object, that is a change that must be told with kiln_world_changed().
 */
KILN_API KILN_NODISCARD kiln_status
kiln_inference_use_site(kiln_inference *inference, const char *name,
                        int32_t kind, kiln_error **error);

/** Records a query, which is copied; a query with the same subject and data is
 *  kept once. KILN_EINVAL for an empty one. */
KILN_API KILN_NODISCARD kiln_status
kiln_inference_add_query(kiln_inference *inference, const kiln_query *query);

/**
 * Lends the code instance of a callee, through tier 1, and records it as the
 * next callee, in call order (a repeated callee keeps its first place; `index`,
 * which may be NULL, receives it). The callee is inferred under the same config
 * and, if it is of the same frontend, in the same world; a callee of another
 * frontend in the world that kiln_inference_world() gives. Other statuses are
 * those of the callee's inference, with its error. An infer() that succeeds
 * although a callee failed gives a result that is valid in those worlds only
 * and is not stored. If the callee failed for a temporary reason, such as want
 * of memory or too deep a recursion, infer() fails with the same status. The
 * same rules hold for a nested kiln_infer() or kiln_compile() that failed.
 *
 * KILN_ERECURSION, without an error: the callee is being inferred further up in
 * this same chain of inferences. `*head` is that inference, and the callee is
 * recorded. Every inference from this one up to the head then belongs to one
 * cycle: its result is provisional, and is given to its caller, but it is
 * published only together with the head's. The head may infer its body again
 * after kiln_inference_restart(), until its assumption about itself holds.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_inference_callee(kiln_inference *inference, const kiln_signature *callee,
                      const kiln_code **out, uint32_t *index,
                      kiln_inference **head, kiln_error **error);

/**
 * Records that the result depends on `code` without calling it; for example,
 * because it is derived from the typed IR of `code`. `code` is a code instance
 * of any frontend of the context, which infer() got from kiln_infer(). Its
 * typed digest enters the digest of the result. As with a callee, every process
 * looks it up again before it uses a stored result, and a definition that ends
 * it ends this result. Unlike a callee it is not among the `codes` of lower().
 * Call this function before reading `code`.
 *
 * KILN_EINVAL: `code` belongs to another context or to other [typed] settings,
 * or is not valid in the worlds of this inference, which kiln_inference_world()
 * gives. If a definition in the meantime is the cause, infer() should fail with
 * that status: Kiln then starts it again. KILN_ERECURSION: `code` is part of a
 * recursion whose inference has not ended; a result that depends on itself is
 * refused like any compile that needs its own result. If infer() ends with such
 * a status and no error of its own, Kiln's error gives the reason.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_inference_depend(kiln_inference *inference, const kiln_code *code);

/**
 * Stores the world of `frontend` in which this inference, and the whole request
 * that it is part of, asks for callees. For the inference's own frontend it is
 * the world that infer() got; for another one, the world that was current when
 * the request first reached that frontend. It is held until the request ends. A
 * nested kiln_infer() in that world sees every frontend in the worlds of this
 * inference, so this inference may depend on its result. In another world it is
 * a separate request.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_inference_world(uint64_t *out, kiln_inference *inference,
                     kiln_frontend *frontend, kiln_error **error);

/** Forgets the queries, callees and dependencies of this inference, and the
 *  provisional members of its cycle. */
KILN_API void kiln_inference_restart(kiln_inference *inference);

/** True when an inference further down relied on this one while it ran. Stays
 *  true after a restart. */
KILN_API int32_t kiln_inference_is_cycle_head(const kiln_inference *inference);

/** True when the result relies on an inference further up, whose end makes it
 *  final. */
KILN_API int32_t kiln_inference_is_provisional(const kiln_inference *inference);

/** Returns the inference that asked for this one, or NULL. */
KILN_API kiln_inference *kiln_inference_parent(const kiln_inference *inference);
/** Returns the signature that is being inferred. */
KILN_API const kiln_signature *kiln_inference_signature(
    const kiln_inference *inference);

/** Set and return a pointer of the frontend's own, which parents and callees of
 *  the inference can read; NULL at first. */
KILN_API void kiln_inference_set_user(kiln_inference *inference, void *user);
KILN_API void *kiln_inference_user(const kiln_inference *inference);

/**
 * Says that a definition is about to advance the frontend's world. Until the
 * kiln_world_changed() of this definition has returned, the current world for
 * requests, kiln_world() and kiln_world_hold() stays the same, and Kiln holds
 * it. A newer number that the frontend's world() returns in that time is
 * refused like a world that does not exist yet. End a definition that fails
 * with kiln_world_changed() and no subjects. Several definitions may be under
 * way: the world before the first of them stays current until the last has
 * ended. Other statuses are those of kiln_world_hold(); after one of them no
 * definition has begun.
 *
 * A frontend must call it for each of its definitions, or for none.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_world_changing(kiln_frontend *frontend);

/**
 * Says that `count` subjects changed with the world `world`, which is the
 * frontend's current one. Kiln asks the queries about them again; code
 * instances whose answers differ end at world - 1. `report` may be NULL; the
 * names of invalidated instances are appended to it, and its other members are
 * left to the caller. Running inferences are checked when they end. If there is
 * no memory to ask the queries, all of the frontend's code instances end, which
 * is always correct.
 *
 * KILN_EINVAL, and a warning in the host's log, for any other world, or when
 * the frontend's world() returns an impossible number. Then nothing has
 * changed, and what kiln_world_changing() began is still under way. So a
 * frontend must let its definitions wait for each other until this call has
 * returned; or, if another definition has made a newer world in the meantime,
 * the later call must name that world.
 */
KILN_API KILN_NODISCARD kiln_status kiln_world_changed(
    kiln_frontend *frontend, uint64_t world, const uint64_t *subjects,
    size_t count, kiln_change_report *report);

/** Ends the validity of one code instance, and of its callers, after world
 *  `maximum`. */
KILN_API KILN_NODISCARD kiln_status kiln_invalidate(const kiln_code *code,
                                                    uint64_t maximum);

/**
 * Makes an error from a status and a printf-like message, which becomes one
 * line, and stores it in `error`, which may be NULL. Returns `status`, for
 * `return kiln_error_set(...)`.
 */
KILN_API kiln_status kiln_error_set(kiln_error **error, kiln_status status,
                                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Makes an error of a message and diagnostics, all copied, and returns
 *  `status`. `error` may be NULL. KILN_EINVAL, with an error that says so, if
 *  `status` is KILN_OK, `message` is NULL, or a list is NULL and not empty. */
KILN_API kiln_status kiln_error_set_diagnostics(
    kiln_error **error, kiln_status status, const char *message,
    const kiln_diagnostic *diagnostics, size_t count);

KILN_END_DECLS

#endif /* KILN_SYS_FRONTEND_H */
