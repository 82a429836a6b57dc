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
 * A folder that others may write to, or that is another user's, is not used:
 * one warning says so. Without HOME, or with more rights than its user, a
 * process has no disk store. Whatever goes wrong with a store is a miss.
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
    uint64_t mem_size;      /* in bytes that the tiers may hold: 256 MiB */
    uint64_t wait_ms;       /* at most, for another process: 30,000 */
    const char *salt;       /* enters every key */
    const char *name_space; /* a folder in the folder: letters, digits, ._- */
    const char *trace;      /* file for what the cache does */
} kiln_cache_options;

#define KILN_CACHE_OPTIONS_INIT \
    { \
        sizeof(kiln_cache_options), 0, 0, {0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0, 0 \
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

typedef struct kiln_statistics {
    size_t size; /* set by the caller */
    kiln_tier_statistics tiers[KILN_TIERS_MAX];
    uint64_t stage_ns[KILN_STAGES_MAX]; /* summed over all threads */
    uint64_t stage_count[KILN_STAGES_MAX];
    uint64_t invalidated; /* code instances that lost their validity */
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

/**
 * Adds a store behind the tiers. Lower `priority` is asked first; equal ones
 * are refused. On success the context owns `self` and calls ops->free; `ops`
 * is copied. KILN_EUNSUPPORTED in this version: tiers live in memory.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_context_add_store(kiln_context *context, const kiln_store_ops *ops,
                       void *self, int32_t priority, kiln_error **error);

/*
 * Packs. A package takes a mark after its dependencies are loaded, runs a
 * workload, and saves what was added since as a pack: a file, or bytes for the
 * host's own image. A later process inserts it, and what is still true today
 * is found there instead of being compiled.
 *
 * In this version kiln_snapshot(), kiln_delta() and kiln_insert() return
 * KILN_EUNSUPPORTED.
 */

/** What a pack is to hold. */
typedef struct kiln_delta_options {
    size_t size;      /* KILN_DELTA_OPTIONS_INIT sets it */
    uint8_t binaries; /* KILN_SWITCH_...: tier 3 too, default on */
    uint8_t reserved[7];
} kiln_delta_options;

#define KILN_DELTA_OPTIONS_INIT \
    { \
        sizeof(kiln_delta_options), 0, \
        { \
            0 \
        } \
    }

/** Remembers which entries exist now. The caller frees the mark. */
KILN_API KILN_NODISCARD kiln_status kiln_snapshot(kiln_mark **out,
                                                  kiln_context *context,
                                                  kiln_error **error);
/** Ends a mark. NULL is fine. */
KILN_API void kiln_mark_free(kiln_mark *mark);

/**
 * Gives, as the bytes of a pack, exactly the entries added since the mark
 * (NULL: all) that are valid without bound and hold no address. The caller
 * releases `*out`. `options` may be NULL.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_delta(kiln_blob *out, kiln_context *context, const kiln_mark *since,
           const kiln_delta_options *options, kiln_error **error);

/** Opens a pack file in constant time. KILN_ENOTFOUND with an error when there
 *  is no such file, KILN_ECORRUPT if it is no pack or was cut. What is damaged
 *  inside is found when it is asked for. */
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

KILN_END_DECLS

#endif /* KILN_CACHE_H */
