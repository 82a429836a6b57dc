/* kiln/sys/cache_tools.h - look into stores, check them, move entries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_SYS_CACHE_TOOLS_H
#define KILN_SYS_CACHE_TOOLS_H

#include "kiln/cache.h"

KILN_BEGIN_DECLS

/*
 * The functions that the command `kiln cache` uses. They are not needed to
 * compile. They work on the stores of a context: this user's folder, the packs
 * in it, the search path, and inserted packs, but not on stores that the host
 * added. They may be called from any thread, while other threads and processes
 * work: an entry that was shown may be gone when it is used.
 */

/** One field of a description: the section it is in, its name, its value as
 *  text. Borrowed for the call. */
typedef void (*kiln_field_fn)(void *env, const char *section, const char *name,
                              const char *value);

/** Returns the name of a kind of entry, "instance" for 0, or NULL past the last
 *  one. These names are the values of `kind` in an entry and in a filter. */
KILN_API const char *kiln_cache_kind(size_t index);

/** An entry as a store holds it. Borrowed for the call that shows it. */
typedef struct kiln_cache_entry {
    size_t size;
    kiln_digest digest;
    const char *place;   /* the folder or pack that holds it */
    int32_t store;       /* KILN_STORE_... */
    int32_t is_packed;   /* whether it is in a pack */
    uint64_t bytes;      /* size of the entry */
    uint64_t disk_bytes; /* space that it takes on disk; in a pack, the same as
                            `bytes` */
    int64_t used_s;      /* last use, in seconds since 1970; in a pack, the
                            pack's last use */
    const char *fault;   /* why the entry is rejected, or NULL */
    /* The members below are empty in a rejected entry. */
    const char *kind;       /* "binary" */
    int32_t tier;           /* KILN_TIER_... */
    const char *name;       /* "main.saxpy(f32[:], f32, f32[:])"; "" if it has
                               none */
    const char *target;     /* of a binary; else "" */
    int32_t relocation;     /* KILN_RELOCATION_... */
    uint64_t build_ns;      /* time that making it took; 0: unknown */
    uint64_t payload_bytes; /* part of `bytes` that is payload */
    const char *toolchain;  /* toolchain that made it, "codegen=… llvm=…" */
    const void *private_data; /* for kiln_cache_describe() and _drop() */
    const char *path; /* of the file that holds it: its own, or the pack's */
} kiln_cache_entry;

/** Shows an entry; returns 0 to end the walk. */
typedef int32_t (*kiln_cache_entry_fn)(void *env,
                                       const kiln_cache_entry *entry);

/** Selects the entries that meet all of its conditions. Zero and NULL set no
 *  condition. */
typedef struct kiln_cache_filter {
    size_t size;        /* KILN_CACHE_FILTER_INIT sets it */
    const char *kind;   /* "binary", "instance", … */
    const char *name;   /* a part of the entry's name */
    uint64_t unused_s;  /* not used for at least this many seconds */
    uint8_t disk_only;  /* leave out the search path and inserted packs */
    uint8_t loose_only; /* leave out entries in packs */
    uint8_t bad_only;   /* only rejected entries; they have no kind and no name,
                           so together with these conditions nothing is shown */
    uint8_t reserved[1];
    uint32_t one_in; /* read about one entry in this many, other ones each
                        time */
} kiln_cache_filter;

#define KILN_CACHE_FILTER_INIT \
    { \
        sizeof(kiln_cache_filter), 0, 0, 0, 0, 0, 0, {0}, 0 \
    }

/** Shows each entry, in no particular order. `filter` may be NULL: all
 *  entries. */
KILN_API KILN_NODISCARD kiln_status
kiln_cache_each(kiln_context *context, const kiln_cache_filter *filter,
                kiln_cache_entry_fn see, void *env, kiln_error **error);

/** Shows each entry of a pack that no context has taken, in the order of
 *  digests. */
KILN_API KILN_NODISCARD kiln_status
kiln_pack_each(kiln_pack *pack, const kiln_cache_filter *filter,
               kiln_cache_entry_fn see, void *env, kiln_error **error);

/**
 * Decodes an entry while it is shown: section "key" has the fields of the key
 * in the order of encoding, with settings by their names; "entry" has what the
 * envelope says; "meta" what the entry's kind stores; "log" the compiler's
 * messages, if there are any. A rejected entry shows nothing. May fail with
 * KILN_ENOMEM.
 */
KILN_API KILN_NODISCARD kiln_status kiln_cache_describe(
    const kiln_cache_entry *entry, kiln_field_fn see, void *env);

/** Drops an entry while it is shown, if it is a loose one in a folder that this
 *  context writes to; KILN_EREADONLY otherwise. If another file has taken its
 *  name, that file stays. */
KILN_API KILN_NODISCARD kiln_status
kiln_cache_drop(const kiln_cache_entry *entry);

/** A folder or pack that is not used, and why. */
typedef void (*kiln_cache_refused_fn)(void *env, const char *path,
                                      const char *reason);

/**
 * Shows each folder and each pack of the disk store and of the search path that
 * is not used: because somebody else owns it or may write to it, because it is
 * a link or is reached through another user's link, because it cannot be
 * opened, or because it is no pack or a damaged one. Nothing in it is read,
 * written or dropped. (In a mode that writes, however, the first use of the
 * stores drops damaged packs of this user's folder.) Entries that are not used
 * are shown by kiln_cache_each(), with their faults.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_cache_refused(kiln_context *context, kiln_cache_refused_fn see, void *env);

/** What an operation did with entries. */
typedef struct kiln_cache_report {
    size_t size;            /* set by the caller */
    uint64_t entries;       /* prune, clear: how many are left; else: how many
                               were written */
    uint64_t bytes;         /* size of those counted in `entries` */
    uint64_t dropped;       /* how many were dropped */
    uint64_t dropped_bytes; /* size of those counted in `dropped` */
    uint64_t skipped;       /* rejected, or of a kind that stays on this
                               machine */
    uint64_t swept;         /* files that dead writers had left */
    uint64_t reserved[4];
} kiln_cache_report;

/** Applies the bounds of size, number and age to the disk store. KILN_EREADONLY
 *  in a mode that writes nothing; the same holds for the functions below. */
KILN_API KILN_NODISCARD kiln_status kiln_cache_prune(kiln_cache_report *out,
                                                     kiln_context *context,
                                                     kiln_error **error);

/** Drops everything that the disk store holds under its name space. */
KILN_API KILN_NODISCARD kiln_status kiln_cache_clear(kiln_cache_report *out,
                                                     kiln_context *context,
                                                     kiln_error **error);

/** How a pack is written from stores. */
typedef struct kiln_cache_export_options {
    size_t size; /* KILN_CACHE_EXPORT_OPTIONS_INIT sets it */
    /* KILN_SWITCH_...: leave out everything that was measured, so that equal
       work gives equal bytes: build times, and runtime functions that kernels
       can do without and whose value depends on times. Default off. */
    uint8_t reproducible;
    uint8_t reserved[3];
    uint32_t tiers_off; /* bits 1 << KILN_TIER_...: tiers to leave out */
} kiln_cache_export_options;

#define KILN_CACHE_EXPORT_OPTIONS_INIT \
    { \
        sizeof(kiln_cache_export_options), 0, {0}, 0 \
    }

/**
 * Writes entries of the disk store that the filter (or NULL: all) lets through
 * into a new pack file, which is either complete or not there. It replaces a
 * regular file, and nothing else (KILN_EIO). Rejected entries and entries about
 * this machine are skipped. `options` may be NULL. Works in every mode that
 * reads.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_cache_export(kiln_cache_report *out, kiln_context *context,
                  const char *path, const kiln_cache_filter *filter,
                  const kiln_cache_export_options *options, kiln_error **error);

/** Puts the entries of a pack that no context has taken into the disk store.
 *  Entries that are there already stay. */
KILN_API KILN_NODISCARD kiln_status kiln_cache_import(
    kiln_cache_report *out, kiln_context *context, kiln_pack *pack,
    const kiln_cache_filter *filter, kiln_error **error);

/**
 * Moves loose entries that were not used for `unused_s` seconds into one pack
 * in the cache's own folder, together with those of earlier such packs. The new
 * pack is read back completely before anything is dropped. A process that
 * looked into the folder earlier does not see the new pack, and builds again
 * what it misses.
 */
KILN_API KILN_NODISCARD kiln_status kiln_cache_compact(kiln_cache_report *out,
                                                       kiln_context *context,
                                                       uint64_t unused_s,
                                                       kiln_error **error);

/** Reads all of a pack. KILN_ECORRUPT, with an error that names the first
 *  fault. */
KILN_API KILN_NODISCARD kiln_status kiln_pack_verify(kiln_pack *pack,
                                                     kiln_error **error);

/** One field of a job's key, beside the same field of the nearest entry. */
typedef struct kiln_cache_difference {
    const char *name;
    const char *wanted; /* NULL: the job's key has no such field */
    const char *found;  /* NULL: the entry's has none */
    int32_t differs;
} kiln_cache_difference;

#define KILN_CACHE_ABSENT 0  /* no entry of this kind was found */
#define KILN_CACHE_NEAREST 1 /* another key: `fields` shows the differences */
#define KILN_CACHE_FOUND 2   /* this key */
#define KILN_CACHE_STALE 3   /* this key, but a callee has changed */
#define KILN_CACHE_BAD 4     /* this key, but rejected: see nearest->fault */
#define KILN_CACHE_UNREAD 5  /* this context's mode or tiers read no stores */

/** What the stores have for one key of a job. Borrowed for the call. */
typedef struct kiln_cache_answer {
    size_t size;
    const char *kind; /* "program", "instance", "binary" */
    kiln_digest wanted;
    int32_t found;                       /* KILN_CACHE_... */
    const kiln_cache_entry *nearest;     /* NULL: ABSENT, or UNREAD */
    const kiln_cache_difference *fields; /* all of them, in the order of the
                                            key; none of a BAD entry */
    size_t field_count;
    /* For a binary: why a process that built it did not keep it, so that each
       process builds it again, with the text of KILN_EVENT_SESSION; or NULL. */
    const char *session;
    /* For a binary of the host that is found: why a launch ran groups with all
       checks, with the text of KILN_EVENT_CHECKED; or NULL. */
    const char *checked;
} kiln_cache_answer;

typedef void (*kiln_cache_answer_fn)(void *env,
                                     const kiln_cache_answer *answer);

/**
 * Tells how a job's keys differ from the keys of the stores' entries: those of
 * the program text, of the code instance and of the binary. The nearest entry
 * is the one in which the fewest fields differ; entries of the same function
 * come first. Infers, like kiln_job_key(), and generates no code. In a mode
 * that writes, what this inference stores is among the entries.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_cache_explain(kiln_context *context, const kiln_signature *signature,
                   const kiln_config *config, kiln_cache_answer_fn see,
                   void *env, kiln_error **error);

/** Tells where this context keeps entries and why, one section a place: "disk",
 *  "packs", "search path". May fail with KILN_ENOMEM. */
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
 * Checks what the disk store relies on: the file system, owner and permissions
 * of each folder, pack and entry, free space, the clock, locks (it takes one
 * and releases it), writing and reading back one file, the toolchain, whether
 * the code generator can be opened, and environment variables that nothing
 * reads. Makes the folder in a mode that writes. May fail with KILN_ENOMEM.
 */
KILN_API KILN_NODISCARD kiln_status kiln_cache_check(kiln_context *context,
                                                     kiln_check_fn see,
                                                     void *env);

KILN_END_DECLS

#endif /* KILN_SYS_CACHE_TOOLS_H */
