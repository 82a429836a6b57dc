/* kiln/sys/cache_tools.h - look into stores, check them, move entries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SYS_CACHE_TOOLS_H
#define KILN_SYS_CACHE_TOOLS_H

#include "kiln/cache.h"

KILN_BEGIN_DECLS

/*
 * What `kiln cache` is made of. Nothing here is needed to compile. All of it
 * works on the stores that a context has: the folder of this user, the packs
 * in it, the search path, and inserted packs; not on stores of the host.
 * Functions may be called from any thread, while other threads and processes
 * work: what was seen may be gone when it is asked for.
 */

/** One field of something: of which part, its name, its value as text.
 *  Borrowed for the call. */
typedef void (*kiln_field_fn)(void *env, const char *section, const char *name,
                              const char *value);

/** Returns the name of a kind of entry, "instance" for 0, or NULL behind the
 *  last: what `kind` of an entry and of a filter can be. */
KILN_API const char *kiln_cache_kind(size_t index);

/** An entry as it lies in a store. Borrowed for the call that shows it. */
typedef struct kiln_cache_entry {
    size_t size;
    kiln_digest digest;
    const char *place;   /* the folder or the pack that has it */
    int32_t store;       /* KILN_STORE_... */
    int32_t is_packed;   /* it lies in a pack */
    uint64_t bytes;      /* of the entry */
    uint64_t disk_bytes; /* that it takes; in a pack, the same */
    int64_t used_s;      /* last use, in seconds since 1970; a pack's own */
    const char *fault;   /* why it is not believed, or NULL */
    /* The rest is empty in an entry that is not believed. */
    const char *kind;   /* "binary" */
    int32_t tier;       /* KILN_TIER_... */
    const char *name;   /* "main.saxpy(f32[:], f32, f32[:])"; "": it has none */
    const char *target; /* of a binary; else "" */
    int32_t relocation; /* KILN_RELOCATION_... */
    uint64_t build_ns;  /* that making it took; 0: unknown */
    uint64_t payload_bytes;   /* of `bytes` */
    const char *toolchain;    /* that made it, "codegen=… llvm=…" */
    const void *private_data; /* for kiln_cache_describe() and _drop() */
    const char *path; /* of the file that has it: its own, or the pack's */
} kiln_cache_entry;

/** Shows an entry; 0 ends the walk. */
typedef int32_t (*kiln_cache_entry_fn)(void *env,
                                       const kiln_cache_entry *entry);

/** Which entries are meant: those to which all of it applies. Zero and NULL
 *  are no condition. */
typedef struct kiln_cache_filter {
    size_t size;        /* KILN_CACHE_FILTER_INIT sets it */
    const char *kind;   /* "binary", "instance", … */
    const char *name;   /* a part of the entry's name */
    uint64_t unused_s;  /* for so many seconds at least */
    uint8_t disk_only;  /* neither search path nor inserted packs */
    uint8_t loose_only; /* nothing that lies in a pack */
    uint8_t bad_only;   /* those that are not believed; they have no kind and no
                           name, so with these conditions they are not shown */
    uint8_t reserved[1];
    uint32_t one_in; /* reads about one entry in so many, each time others */
} kiln_cache_filter;

#define KILN_CACHE_FILTER_INIT \
    { \
        sizeof(kiln_cache_filter), 0, 0, 0, 0, 0, 0, {0}, 0 \
    }

/** Shows each entry, in no order. `filter` may be NULL: all. */
KILN_API KILN_NODISCARD kiln_status
kiln_cache_each(kiln_context *context, const kiln_cache_filter *filter,
                kiln_cache_entry_fn see, void *env, kiln_error **error);

/** Shows each entry of a pack that no context has taken, in the order of
 *  digests. */
KILN_API KILN_NODISCARD kiln_status
kiln_pack_each(kiln_pack *pack, const kiln_cache_filter *filter,
               kiln_cache_entry_fn see, void *env, kiln_error **error);

/**
 * Decodes an entry while it is shown: section "key", field by field as it was
 * encoded, settings by their names; "entry", what the envelope says; "meta",
 * what its kind keeps; "log", the compiler's words, if there are any. Of one
 * that is not believed: nothing. KILN_ENOMEM.
 */
KILN_API KILN_NODISCARD kiln_status kiln_cache_describe(
    const kiln_cache_entry *entry, kiln_field_fn see, void *env);

/** Drops an entry while it is shown, if it is a loose one in a folder that is
 *  written; KILN_EREADONLY otherwise. Another file that has its name by now
 *  stays. */
KILN_API KILN_NODISCARD kiln_status
kiln_cache_drop(const kiln_cache_entry *entry);

/** A folder or pack that is not used: its path, and why. */
typedef void (*kiln_cache_refused_fn)(void *env, const char *path,
                                      const char *reason);

/**
 * Shows each folder and each pack of the disk store and of the search path that
 * is not used: because somebody else owns it or may write to it, because it is
 * a link or behind another user's, because it cannot be opened, or because it
 * is no pack, or a damaged one. Nothing in it is read, written or dropped; but
 * in a mode that writes, the first use of the stores has dropped damaged packs
 * of the folder. Entries that are not used are shown by kiln_cache_each(), with
 * their faults.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_cache_refused(kiln_context *context, kiln_cache_refused_fn see, void *env);

/** What became of entries. */
typedef struct kiln_cache_report {
    size_t size;            /* set by the caller */
    uint64_t entries;       /* prune, clear: that are left; else: that were
                               written */
    uint64_t bytes;         /* that these take */
    uint64_t dropped;       /* and how many are gone */
    uint64_t dropped_bytes; /* that these took */
    uint64_t skipped;       /* not believed, or of a kind that stays at home */
    uint64_t swept;         /* files that dead writers left */
    uint64_t reserved[4];
} kiln_cache_report;

/** Applies the bounds of size, number and age to the disk store. KILN_EREADONLY
 *  in a mode that writes nothing, as for all that follow here. */
KILN_API KILN_NODISCARD kiln_status kiln_cache_prune(kiln_cache_report *out,
                                                     kiln_context *context,
                                                     kiln_error **error);

/** Drops everything that the disk store has under its name space. */
KILN_API KILN_NODISCARD kiln_status kiln_cache_clear(kiln_cache_report *out,
                                                     kiln_context *context,
                                                     kiln_error **error);

/** How a pack is written from stores. */
typedef struct kiln_cache_export_options {
    size_t size; /* KILN_CACHE_EXPORT_OPTIONS_INIT sets it */
    /* KILN_SWITCH_...: leaves out whatever was measured, so that equal work
       gives equal bytes: times of building, and runtime functions that kernels
       can do without and whose worth depends on times. Default off. */
    uint8_t reproducible;
    uint8_t reserved[3];
    uint32_t tiers_off; /* 1 << KILN_TIER_...: what to leave out */
} kiln_cache_export_options;

#define KILN_CACHE_EXPORT_OPTIONS_INIT \
    { \
        sizeof(kiln_cache_export_options), 0, {0}, 0 \
    }

/**
 * Writes entries of the disk store that the filter (or NULL: all) lets through
 * into a new pack file: whole, or not at all. What is not believed is skipped,
 * and notes about this machine are. `options` may be NULL. Works in every mode
 * that reads.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_cache_export(kiln_cache_report *out, kiln_context *context,
                  const char *path, const kiln_cache_filter *filter,
                  const kiln_cache_export_options *options, kiln_error **error);

/** Puts the entries of a pack, that no context has taken, into the disk store;
 *  those that are there already stay. */
KILN_API KILN_NODISCARD kiln_status kiln_cache_import(
    kiln_cache_report *out, kiln_context *context, kiln_pack *pack,
    const kiln_cache_filter *filter, kiln_error **error);

/**
 * Moves loose entries that were not used for `unused_s` seconds into one pack
 * in the cache's own folder, together with those of earlier such packs. The
 * pack is read back as a whole before anything is dropped. A process that
 * looked into the folder before does not see the new pack, and makes again
 * what it misses.
 */
KILN_API KILN_NODISCARD kiln_status kiln_cache_compact(kiln_cache_report *out,
                                                       kiln_context *context,
                                                       uint64_t unused_s,
                                                       kiln_error **error);

/** Reads all of a pack: KILN_ECORRUPT tells what is wrong first. */
KILN_API KILN_NODISCARD kiln_status kiln_pack_verify(kiln_pack *pack,
                                                     kiln_error **error);

/** One field of a key that a job has, beside that of the nearest entry. */
typedef struct kiln_cache_difference {
    const char *name;
    const char *wanted; /* NULL: the job's key has no such field */
    const char *found;  /* NULL: the entry's has none */
    int32_t differs;
} kiln_cache_difference;

#define KILN_CACHE_ABSENT 0  /* no entry of its kind comes near */
#define KILN_CACHE_NEAREST 1 /* another key: `fields` says where */
#define KILN_CACHE_FOUND 2   /* the very key */
#define KILN_CACHE_STALE 3   /* the very key, but what it calls has changed */
#define KILN_CACHE_BAD 4     /* the very key, not believed: nearest->fault */
#define KILN_CACHE_UNREAD 5  /* this context's mode or tiers read none */

/** What the stores have for one key of a job. Borrowed for the call. */
typedef struct kiln_cache_answer {
    size_t size;
    const char *kind; /* "program", "instance", "binary" */
    kiln_digest wanted;
    int32_t found;                       /* KILN_CACHE_... */
    const kiln_cache_entry *nearest;     /* NULL: ABSENT, or UNREAD */
    const kiln_cache_difference *fields; /* all of them, in the key's order; of
                                            a BAD entry none is known */
    size_t field_count;
    /* Of a binary: why the one that a process built was not kept and each
       process builds it again, as KILN_EVENT_SESSION says it; or NULL. */
    const char *session;
} kiln_cache_answer;

typedef void (*kiln_cache_answer_fn)(void *env,
                                     const kiln_cache_answer *answer);

/**
 * Tells how a job's keys and the stores' entries differ: of the program text,
 * of the code instance, of the binary. The nearest entry is the one with the
 * fewest other fields, of the same function before all others. Infers, like
 * kiln_job_key(), and generates no code; in a mode that writes, what inference
 * keeps is among the entries then.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_cache_explain(kiln_context *context, const kiln_signature *signature,
                   const kiln_config *config, kiln_cache_answer_fn see,
                   void *env, kiln_error **error);

/** Tells where this context keeps entries and why, one section a place:
 *  "disk", "packs", "search path". KILN_ENOMEM. */
KILN_API KILN_NODISCARD kiln_status kiln_cache_places(kiln_context *context,
                                                      kiln_field_fn see,
                                                      void *env);

/* What a check found. */
#define KILN_CHECK_OK 0
#define KILN_CHECK_NOTE 1
#define KILN_CHECK_BAD 2

/** One check: its name, KILN_CHECK_..., and what was found. */
typedef void (*kiln_check_fn)(void *env, const char *name, int32_t verdict,
                              const char *text);

/**
 * Checks what the disk store rests on: file system, whose each folder, pack and
 * entry is and who may write to it, room, clock, locks (takes one and gives it
 * back), a writing and reading back of one file, the toolchain, whether the
 * code generator opens, variables that nothing reads. Makes the folder in a
 * mode that writes. KILN_ENOMEM.
 */
KILN_API KILN_NODISCARD kiln_status kiln_cache_check(kiln_context *context,
                                                     kiln_check_fn see,
                                                     void *env);

KILN_END_DECLS

#endif /* KILN_SYS_CACHE_TOOLS_H */
