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

/** What may be done with stores. The default is KILN_CACHE's, else READ_WRITE.
 */
#define KILN_CACHE_MODE_MAP(X) \
    X(DEFAULT, 0, "") \
    X(OFF, 1, "off") \
    X(READ_ONLY, 2, "ro") \
    X(READ_WRITE, 3, "rw") \
    X(MUST_HIT, 4, "must-hit") /* what would be built is an error */ \
    X(REFRESH, 5, "refresh")   /* nothing is read, what is there replaced */ \
    X(VERIFY, 6, "verify")     /* built again, and compared */

#define KILN__CACHE_MODE_ENUM(name, value, text) KILN_CACHE_MODE_##name = value,
enum { KILN_CACHE_MODE_MAP(KILN__CACHE_MODE_ENUM) KILN_CACHE_MODE_COUNT };
#undef KILN__CACHE_MODE_ENUM

/* Locks between processes. */
#define KILN_CACHE_LOCK_DEFAULT 0
#define KILN_CACHE_LOCK_AUTO 1 /* where the file system can */
#define KILN_CACHE_LOCK_NONE 2

/* Of a bound: none. */
#define KILN_CACHE_UNBOUNDED UINT64_MAX

/**
 * How a context uses the disk and other stores. Zero, NULL and "" are the
 * default: the environment's, else the one that is named here. Strings are
 * copied.
 *
 * A folder or file in it that others may write to, or that is another user's,
 * is not used: one warning names it. On the search path, root's are used as
 * well, and those of users who are named. Without HOME, or with more rights
 * than its user, a process has no disk store. Whatever goes wrong with a store
 * is a miss. Relative paths are below the folder in which the process is when
 * the context is made.
 */
typedef struct kiln_cache_options {
    size_t size;             /* KILN_CACHE_OPTIONS_INIT sets it */
    uint8_t mode;            /* KILN_CACHE_MODE_... */
    uint8_t lock;            /* KILN_CACHE_LOCK_...: auto */
    uint8_t reserved[2];     /* zero */
    uint32_t tiers_off;      /* 1 << KILN_TIER_...: these use no store */
    const char *directory;   /* $XDG_CACHE_HOME/kiln, else ~/.cache/kiln */
    const char *search_path; /* folders and packs, by ':'; only read */
    /* Written instead of a default directory on a network file system:
       $XDG_RUNTIME_DIR/kiln, else $TMPDIR/kiln-UID. */
    const char *local_directory;
    uint64_t max_size;      /* in bytes on disk: 2 GiB */
    uint64_t max_entries;   /* 65536 */
    uint64_t max_age_s;     /* not used for so many seconds: 30 days */
    uint64_t mem_size;      /* in bytes that are kept unused: 256 MiB */
    uint64_t wait_ms;       /* at most, for another process: 30,000 */
    const char *salt;       /* enters every key */
    const char *name_space; /* a folder in the folder: letters, digits, ._- */
    const char *trace;      /* file that gets a timeline of stages and waits */
    /* Numbers of users, by ',', whose folders and packs on the search path are
       used, beside root's and this user's own. Whoever is named may run code
       as this user. */
    const char *trusted_users;
} kiln_cache_options;

#define KILN_CACHE_OPTIONS_INIT \
    { \
        sizeof(kiln_cache_options), 0, 0, {0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0 \
    }

/* Room for tiers and stages that are yet to come. */
#define KILN_TIERS_MAX 8
#define KILN_STAGES_MAX 16

/**
 * One tier's counters since the context began. At rest (no request under way)
 * requests = hits + store_hits + waited + built + failed. Hits through
 * kiln_call_site_get() make no request.
 */
typedef struct kiln_tier_statistics {
    uint64_t requests;
    uint64_t hits;       /* found in memory, loaded or to be loaded */
    uint64_t store_hits; /* found in a store */
    uint64_t waited;     /* answered by a build that was under way */
    uint64_t built;
    uint64_t failed;  /* remembered failures included */
    uint64_t entries; /* held in memory now */
    uint64_t bytes;   /* of their payloads: typed IR, bitcode, binaries */
    /* Of the runtime tier, whose entries are judged after a few readings: */
    uint64_t kept;     /* faster to read than to make again */
    uint64_t not_kept; /* slower: dropped, and made with each kernel since */
    uint64_t saved_ns; /* by reading instead of making, summed */
    uint64_t reserved[5];
} kiln_tier_statistics;

/** Why stores did not give what they were asked for. */
#define KILN_MISS_MAP(X) \
    X(ABSENT, "absent")       /* no store has it */ \
    X(OFF, "off")             /* the tier, or reading, is switched off */ \
    X(FAILED, "failed")       /* a store could not answer */ \
    X(STALE, "stale")         /* it was true of another program */ \
    X(TOOLCHAIN, "toolchain") /* another one is here than made it */ \
    X(TRUNCATED, "truncated") /* shorter than it says, or empty */ \
    X(FOREIGN, "foreign")     /* no entry of Kiln's */ \
    X(VERSION, "version")     /* of a format that this build does not know */ \
    X(CHECKSUM, "checksum")   /* damaged */ \
    X(KEY, "key")             /* of another key */ \
    X(MALFORMED, "malformed") /* whole, but it makes no sense */ \
    X(DIFFERENT, "different") /* what was built again is not the same */ \
    X(UNTRUSTED, "untrusted") /* another user may have written it */

#define KILN__MISS_ENUM(name, text) KILN_MISS_##name,
enum { KILN_MISS_MAP(KILN__MISS_ENUM) KILN_MISS_COUNT };
#undef KILN__MISS_ENUM

/* Room for reasons that are yet to come. */
#define KILN_MISSES_MAX 24

/**
 * What one tier got from stores, and gave them. An entry that was met and not
 * believed is counted by its reason, whatever the next store had: so there
 * may be more misses than requests. ABSENT is counted once for each time that
 * the stores are asked, when none had anything: a build asks again, once nobody
 * else is at work on the same, and then there are two of one request.
 */
typedef struct kiln_store_statistics {
    uint64_t hits;
    uint64_t misses[KILN_MISSES_MAX]; /* by KILN_MISS_... */
    uint64_t puts;                    /* that some store took, or had */
    uint64_t put_failures;            /* that no store took */
    uint64_t refused; /* since they hold addresses of this process */
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

/** Stores the counters' sums. Cheap, but not for a hit path. Any thread; sums
 *  taken while others work may be some requests apart. */
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

/* Where the built-in stores stand. */
#define KILN_STORE_PACKS 100       /* that were inserted */
#define KILN_STORE_DISK 200        /* the folder of this user */
#define KILN_STORE_SEARCH_PATH 300 /* in its order */

/**
 * Adds a store behind the tiers. Lower `priority` is asked first; one that
 * another store has, or a built-in one, is KILN_EINVAL, like a table without
 * its required members. On success the context owns `self` and calls
 * ops->free; `ops` is copied.
 *
 * What the store gives is checked before it is believed, and kept on the disk.
 * What is built is offered to it, unless the mode or its KILN_EREADONLY says
 * no; what is about this machine alone is neither offered nor asked for.
 * Whatever it returns, no compile fails because of it.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_context_add_store(kiln_context *context, const kiln_store_ops *ops,
                       void *self, int32_t priority, kiln_error **error);

/*
 * Packs. A package takes a mark after its dependencies are loaded, runs a
 * workload, and saves what was added since as a pack: a file, or bytes for the
 * host's own image. A later process inserts it, and what is still true today
 * is found there instead of being compiled. Any thread.
 */

/** What a pack is to hold. */
typedef struct kiln_delta_options {
    size_t size;      /* KILN_DELTA_OPTIONS_INIT sets it */
    uint8_t binaries; /* KILN_SWITCH_...: tier 3 too, default on */
    /* KILN_SWITCH_...: leaves out whatever was measured, so that equal work
       gives equal bytes: times of building, and runtime functions that kernels
       can do without and whose worth depends on times. Default off. */
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
 * (NULL: all): those that are valid without bound, hold no address and did not
 * come from a pack that was inserted. What other stores had counts as added.
 * What is not in memory as a whole is brought in first, from the stores or by
 * inference, whose errors are passed on. Equal entries give equal bytes. The
 * caller releases `*out`. `options` may be NULL.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_delta(kiln_blob *out, kiln_context *context, const kiln_mark *since,
           const kiln_delta_options *options, kiln_error **error);

/** The same as a file: written under another name in its folder, and renamed
 *  to `path` when it is whole. */
KILN_API KILN_NODISCARD kiln_status
kiln_delta_save(kiln_context *context, const char *path, const kiln_mark *since,
                const kiln_delta_options *options, kiln_error **error);

/** Opens a pack file in constant time. KILN_ENOTFOUND with an error when there
 *  is no such file, KILN_ECORRUPT if it is no pack or was cut. What is damaged
 *  inside is found when it is asked for. The file is not mapped: one that is
 *  removed can still be read, and entries of one that is cut or written over
 *  while it is open are misses. */
KILN_API KILN_NODISCARD kiln_status kiln_pack_open(kiln_pack **out,
                                                   const char *path,
                                                   kiln_error **error);
/** Opens a pack in memory, which must stay as long as the pack and whatever
 *  was found in it. */
KILN_API KILN_NODISCARD kiln_status kiln_pack_open_memory(kiln_pack **out,
                                                          const void *bytes,
                                                          size_t size,
                                                          kiln_error **error);
/** Ends a pack that no context has taken, and closes its file. NULL is fine. */
KILN_API void kiln_pack_close(kiln_pack *pack);

/** Puts a pack behind the tiers; on success the context owns it. Entries are
 *  checked against today's definitions when they are first asked for. */
KILN_API KILN_NODISCARD kiln_status kiln_insert(kiln_context *context,
                                                kiln_pack *pack,
                                                kiln_error **error);

/**
 * Answers what another rank's fetch callback (kiln/host.h) asked: gives the
 * bytes to send back, which the caller releases. Compiles the kernel if this
 * program has it and no tier remembers it, and returns when it is there: so
 * each call wants a thread that may wait, and that may run the frontend's
 * callbacks. Any number of calls at once. What cannot be given is told in the
 * reply; a status other than KILN_OK means that there is none (KILN_ENOMEM,
 * KILN_EINVAL). Requests are as trusted as their senders.
 */
KILN_API KILN_NODISCARD kiln_status kiln_rank_serve(kiln_blob *reply,
                                                    kiln_context *context,
                                                    const void *request,
                                                    size_t size,
                                                    kiln_error **error);

KILN_END_DECLS

#endif /* KILN_CACHE_H */
