/* kiln/cache.h - the tiers' counters, stores, snapshots and packs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CACHE_H
#define KILN_CACHE_H

#include "kiln/compile.h"
#include "kiln/sys/store.h"

KILN_BEGIN_DECLS

/** The tiers, and what each remembers. */
#define KILN_TIER_MAP(X) \
    X(TYPED, "typed_ir")  /* typed IR per method instance and owner token */ \
    X(RUNTIME, "runtime") /* renamed bitcode per runtime function */ \
    X(BINARY, "binary")   /* linked binaries per job and full config */

#define KILN__TIER_ENUM(name, text) KILN_TIER_##name,
enum { KILN_TIER_MAP(KILN__TIER_ENUM) KILN_TIER_COUNT };
#undef KILN__TIER_ENUM

/** How a context may use its stores. The default comes from the variable
 *  KILN_CACHE, else it is READ_WRITE. */
#define KILN_CACHE_MODE_MAP(X) \
    X(DEFAULT, 0, "") \
    X(OFF, 1, "off") \
    X(READ_ONLY, 2, "ro") \
    X(READ_WRITE, 3, "rw") \
    X(MUST_HIT, 4, "must-hit") /* instead of building, a job fails */ \
    X(REFRESH, 5, "refresh")   /* nothing is read; entries are replaced */ \
    X(VERIFY, 6, "verify")     /* built again, and compared */

#define KILN__CACHE_MODE_ENUM(name, value, text) KILN_CACHE_MODE_##name = value,
enum { KILN_CACHE_MODE_MAP(KILN__CACHE_MODE_ENUM) KILN_CACHE_MODE_COUNT };
#undef KILN__CACHE_MODE_ENUM

/* Locks between processes. */
#define KILN_CACHE_LOCK_DEFAULT 0
#define KILN_CACHE_LOCK_AUTO 1 /* where the file system supports it */
#define KILN_CACHE_LOCK_NONE 2

/* The value of a bound that means "unlimited". */
#define KILN_CACHE_UNBOUNDED UINT64_MAX

/**
 * How a context uses the disk and other stores. Zero, NULL and "" mean the
 * default: the environment's, else the one named at each member. Strings are
 * copied.
 *
 * A folder, or a file in it, is not used if another user owns it or may write
 * to it; one warning names it. On the search path, folders and files of root
 * and of `trusted_users` are used as well. A process without HOME, or with more
 * rights than its user, has no disk store, as if `disk` were off. Every failure
 * of a store counts as a miss. Relative paths are resolved against the
 * process's working directory when the context is made.
 */
typedef struct kiln_cache_options {
    size_t size;             /* KILN_CACHE_OPTIONS_INIT sets it */
    uint8_t mode;            /* KILN_CACHE_MODE_... */
    uint8_t lock;            /* KILN_CACHE_LOCK_...: auto */
    uint8_t disk;            /* KILN_SWITCH_...: this user's folder of entries;
                                default on. Without it nothing is written to
                                disk, but for temporary files of tools. The
                                search path, packs and added stores remain */
    uint8_t reserved[1];     /* zero */
    uint32_t tiers_off;      /* bits 1 << KILN_TIER_...: these tiers use no
                                store */
    const char *directory;   /* $XDG_CACHE_HOME/kiln, else ~/.cache/kiln */
    const char *search_path; /* folders and packs that are only read, separated
                                by ':' */
    /* Used instead of a default directory that is on a network file system:
       $XDG_RUNTIME_DIR/kiln, else $TMPDIR/kiln-UID. */
    const char *local_directory;
    uint64_t max_size;      /* in bytes on disk: 2 GiB */
    uint64_t max_entries;   /* 65536 */
    uint64_t max_age_s;     /* drop entries unused for this many seconds: 30
                               days */
    uint64_t mem_size;      /* of unused data kept in memory, in bytes: 256
                               MiB */
    uint64_t wait_ms;       /* the longest wait for another process, in ms:
                               30,000 */
    const char *salt;       /* enters every key */
    const char *name_space; /* a folder inside the folder; letters, digits,
                               ._- */
    const char *trace;      /* file that receives a timeline of stages and
                               waits */
    /* Numbers of users, separated by ',', whose folders and packs on the search
       path are used, besides those of root and of this user. A user named here
       can run code as this user. */
    const char *trusted_users;
} kiln_cache_options;

#define KILN_CACHE_OPTIONS_INIT \
    { \
        sizeof(kiln_cache_options), 0, 0, 0, {0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0 \
    }

/* Room for tiers and stages that later versions add. */
#define KILN_TIERS_MAX 8
#define KILN_STAGES_MAX 16

/**
 * One tier's counters since the context began. When no request is under way,
 * requests = hits + store_hits + waited + built + failed. Hits through
 * kiln_call_site_get() are not counted as requests.
 */
typedef struct kiln_tier_statistics {
    uint64_t requests;
    uint64_t hits;       /* found in memory, whether loaded yet or not */
    uint64_t store_hits; /* found in a store */
    uint64_t waited;     /* answered by another request's build */
    uint64_t built;
    uint64_t failed;  /* including remembered failures */
    uint64_t entries; /* held in memory now */
    uint64_t bytes;   /* of their payloads: typed IR, bitcode, binaries */
    /* The next three are of the runtime tier, which after a few readings of an
       entry decides whether storing it pays. */
    uint64_t kept;     /* entries that are faster to read than to make again */
    uint64_t not_kept; /* slower ones: dropped, and made anew for each kernel */
    uint64_t saved_ns; /* time saved by reading instead of making, summed */
    uint64_t reserved[5];
} kiln_tier_statistics;

/** Why stores did not give what a request asked for. */
#define KILN_MISS_MAP(X) \
    X(ABSENT, "absent")       /* no store has it */ \
    X(OFF, "off")             /* the tier, or reading, is switched off */ \
    X(FAILED, "failed")       /* a store could not answer */ \
    X(STALE, "stale")         /* it is of another program */ \
    X(TOOLCHAIN, "toolchain") /* another toolchain made it than is here */ \
    X(TRUNCATED, "truncated") /* it is empty, or shorter than it says */ \
    X(FOREIGN, "foreign")     /* it is no entry of Kiln's */ \
    X(VERSION, "version")     /* its format is unknown to this build */ \
    X(CHECKSUM, "checksum")   /* it is damaged */ \
    X(KEY, "key")             /* it belongs to another key */ \
    X(MALFORMED, "malformed") /* whole, but it makes no sense */ \
    X(DIFFERENT, "different") /* a second build gave another result */ \
    X(UNTRUSTED, "untrusted") /* another user may have written it */

#define KILN__MISS_ENUM(name, text) KILN_MISS_##name,
enum { KILN_MISS_MAP(KILN__MISS_ENUM) KILN_MISS_COUNT };
#undef KILN__MISS_ENUM

/* Room for reasons that later versions add. */
#define KILN_MISSES_MAX 24

/**
 * What one tier got from stores and gave to them. An entry that was found and
 * rejected is counted under its reason, whatever the next store had; so there
 * may be more misses than requests. ABSENT is counted once each time the stores
 * are asked and none has anything. A build asks them again when no other
 * process is building the same entry any more, so one request may count two.
 */
typedef struct kiln_store_statistics {
    uint64_t hits;
    uint64_t misses[KILN_MISSES_MAX]; /* by KILN_MISS_... */
    uint64_t puts;                    /* entries that some store took or had */
    uint64_t put_failures;            /* entries that no store took */
    uint64_t refused; /* entries that hold addresses of this process */
    uint64_t bytes_read;
    uint64_t bytes_written;
    uint64_t get_ns; /* summed over all threads */
    uint64_t put_ns;
    uint64_t reserved[8];
} kiln_store_statistics;

typedef struct kiln_statistics {
    size_t size; /* set by the caller */
    kiln_tier_statistics tiers[KILN_TIERS_MAX];
    uint64_t stage_ns[KILN_STAGES_MAX]; /* summed over all threads */
    uint64_t stage_count[KILN_STAGES_MAX];
    uint64_t invalidated; /* code instances that lost their validity */
    kiln_store_statistics stores[KILN_TIERS_MAX]; /* of the tiers */
} kiln_statistics;

/** Stores the sums of the counters. Cheap, but not meant for a hit path. Any
 *  thread; sums taken while other threads work may differ by a few requests. */
KILN_API void kiln_statistics_get(kiln_statistics *out,
                                  const kiln_context *context);

/**
 * Renders the counters as one JSON object without newline:
 * {"tiers": {"typed_ir": {"requests": …}, …}, "stages_ns": {"parse": …}}.
 * The caller releases `*out`; its bytes are NUL-terminated, which is not
 * counted in its size.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_statistics_json(kiln_blob *out, const kiln_context *context);

/* Priorities of the built-in stores. */
#define KILN_STORE_PACKS 100       /* inserted packs */
#define KILN_STORE_DISK 200        /* this user's cache folder */
#define KILN_STORE_SEARCH_PATH 300 /* the search path, in its order */

/**
 * Adds a store behind the tiers. Stores of lower `priority` are asked first.
 * KILN_EINVAL for a priority that another store or a built-in one has, and for
 * a table without its required members. On success the context owns `self` and
 * calls ops->free; `ops` is copied.
 *
 * Entries from the store are checked before they are used, and are copied to
 * the disk store. New entries are offered to it, unless the mode forbids it or
 * the store returned KILN_EREADONLY. Entries that concern only this machine are
 * neither offered nor asked for. Nothing that the store returns makes a compile
 * fail.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_context_add_store(kiln_context *context, const kiln_store_ops *ops,
                       void *self, int32_t priority, kiln_error **error);

/*
 * Packs. A package takes a mark after its dependencies are loaded, runs a
 * workload, and saves what was added since as a pack: a file, or bytes for the
 * host's own image. A later process inserts it; entries in it that are still
 * valid are used instead of compiling again. Any thread.
 */

/** What a pack is to hold. */
typedef struct kiln_delta_options {
    size_t size;      /* KILN_DELTA_OPTIONS_INIT sets it */
    uint8_t binaries; /* KILN_SWITCH_...: include tier 3 as well; default on */
    /* KILN_SWITCH_...: leave out everything that was measured, so that equal
       work gives equal bytes: build times, and runtime functions that kernels
       can do without and whose value depends on times. Default off. */
    uint8_t reproducible;
    uint8_t reserved[6];
} kiln_delta_options;

#define KILN_DELTA_OPTIONS_INIT \
    { \
        sizeof(kiln_delta_options), 0, 0, \
        { \
            0 \
        } \
    }

/** Remembers which entries exist now. The caller frees the mark, before the
 *  context. */
KILN_API KILN_NODISCARD kiln_status kiln_snapshot(kiln_mark **out,
                                                  kiln_context *context,
                                                  kiln_error **error);
/** Ends a mark. NULL is fine. */
KILN_API void kiln_mark_free(kiln_mark *mark);

/**
 * Gives, as the bytes of a pack, exactly the entries added since the mark
 * (NULL: all) that are valid without end, hold no address and did not come from
 * an inserted pack. Entries that came from other stores count as added. Entries
 * that are not completely in memory are first loaded from the stores or
 * inferred again; errors of that inference are passed on. Equal entries give
 * equal bytes. The caller releases `*out`. `options` may be NULL.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_delta(kiln_blob *out, kiln_context *context, const kiln_mark *since,
           const kiln_delta_options *options, kiln_error **error);

/** Does the same into a file. The file is written under another name in the
 *  same folder, and renamed to `path` when it is complete. What is there and
 *  is no regular file (a device, a pipe, a link) is not replaced: KILN_EIO. */
KILN_API KILN_NODISCARD kiln_status
kiln_delta_save(kiln_context *context, const char *path, const kiln_mark *since,
                const kiln_delta_options *options, kiln_error **error);

/** Opens a pack file in constant time. KILN_ENOTFOUND with an error if there is
 *  no such file, KILN_ECORRUPT if it is no pack or was truncated. Damage inside
 *  it is found when the damaged entry is asked for. The file is not mapped:
 *  after it is removed it can still be read, and if it is truncated or
 *  overwritten while it is open, its entries are misses. */
KILN_API KILN_NODISCARD kiln_status kiln_pack_open(kiln_pack **out,
                                                   const char *path,
                                                   kiln_error **error);
/** Opens a pack in memory, which must stay valid as long as the pack and
 *  everything that was found in it. */
KILN_API KILN_NODISCARD kiln_status kiln_pack_open_memory(kiln_pack **out,
                                                          const void *bytes,
                                                          size_t size,
                                                          kiln_error **error);
/** Closes a pack that no context has taken. NULL is fine. */
KILN_API void kiln_pack_close(kiln_pack *pack);

/** Adds a pack to the stores behind the tiers. On success the context owns the
 *  pack. Its entries are checked against the current definitions when they are
 *  first asked for. */
KILN_API KILN_NODISCARD kiln_status kiln_insert(kiln_context *context,
                                                kiln_pack *pack,
                                                kiln_error **error);

/**
 * Answers what another rank's fetch callback (kiln/host.h) asked: gives the
 * bytes to send back, which the caller releases. Compiles the kernel if this
 * program has it and no tier remembers it, and returns when it is ready: so
 * each call needs a thread that may wait, and that may run the frontend's
 * callbacks. Any number of calls may run at once. If there is no kernel to
 * give, the reply says so; a status other than KILN_OK means that there is no
 * reply (KILN_ENOMEM, KILN_EINVAL). Requests are as trusted as their senders.
 */
KILN_API KILN_NODISCARD kiln_status kiln_rank_serve(kiln_blob *reply,
                                                    kiln_context *context,
                                                    const void *request,
                                                    size_t size,
                                                    kiln_error **error);

KILN_END_DECLS

#endif /* KILN_CACHE_H */
