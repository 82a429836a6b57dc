/* cache_check.c - shows where the cache is and checks whether it can work
   there. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/build_id.h"
#include "base/digest/digest.h"
#include "base/system/descriptor.h"
#include "base/system/io.h"
#include "base/system/reason.h"
#include "base/system/temp_dir.h"
#include "codegen_client/codegen_library.h"
#include "codegen_client/codegen_process.h"
#include "codegen_client/codegen_worker.h"
#include "codegen_client/provenance.h"
#include "context/cache_settings.h"
#include "kiln/sys/cache_tools.h"
#include "stores/lock.h"
#include "stores/stores.h"

/* ---- places ---- */

typedef struct place_report {
    const kiln_context *context;
    kiln_field_fn see;
    void *env;
} place_report;

static void tell_place(void *env, const char *place, int32_t priority,
                       int is_pack)
{
    const place_report *t = env;

    if (priority == KILN_STORE_SEARCH_PATH)
        t->see(t->env, "search path", is_pack ? "pack" : "folder", place);
    else if (is_pack)
        t->see(t->env, "packs",
               priority == KILN_STORE_PACKS ? "inserted" : "of the folder",
               place);
}

static const char *mode_text(int32_t mode)
{
#define TEXT(name, value, text) [value] = (text),
    static const char *const texts[] = {KILN_CACHE_MODE_MAP(TEXT)};
#undef TEXT

    return texts[mode];
}

/* Why this folder is used. */
static const char *reason(const kiln__cache_settings *settings,
                          const char *path)
{
    if (settings->is_given)
        return "it was given, by KILN_CACHE_DIR or by the program";
    if (settings->local_directory != NULL &&
        strcmp(path, settings->local_directory) == 0)
        return "the default folder is on a network file system, and is only "
               "read";
    return "it is the default: kiln in XDG_CACHE_HOME, else in ~/.cache";
}

kiln_status kiln_cache_places(kiln_context *context, kiln_field_fn see,
                              void *env)
{
    place_report t = {context, see, env};
    const kiln__cache_settings *settings;
    const char *path;

    if (context == NULL || see == NULL)
        return KILN_EINVAL;
    settings = context->cache;
    path = kiln__stores_path(context);
    see(env, "disk", "mode", mode_text(settings->mode));
    see(env, "disk", "folder",
        path != NULL                  ? path
        : settings->directory != NULL ? settings->directory
                                      : "");
    see(env, "disk", "why",
        path != NULL                            ? reason(settings, path)
        : settings->why_not != NULL             ? settings->why_not
        : settings->mode == KILN_CACHE_MODE_OFF ? "the cache is off"
                                                : "out of memory");
    if (settings->name_space != NULL)
        see(env, "disk", "name space", settings->name_space);
    if (settings->salt != NULL)
        see(env, "disk", "salt", settings->salt);
    kiln__stores_places(context, tell_place, &t);
    return KILN_OK;
}

/* ---- checks ---- */

typedef struct checking {
    kiln_context *context;
    kiln_check_fn see;
    void *env;
    int folder; /* of the store; -1: there is none */
} checking;

__attribute__((format(printf, 4, 5))) static void report_check(
    const checking *c, const char *name, int32_t verdict, const char *format,
    ...)
{
    char text[PATH_MAX + 256];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    c->see(c->env, name, verdict, text);
}

static void tell_folder(void *env, const char *path, const char *why_not)
{
    report_check(env, "folder", KILN_CHECK_BAD, "%s is not used: %s", path,
                 why_not);
}

/* Opens the folder in the usual way, which finds out whether it may be used. */
static void check_folder(checking *c, const char *path)
{
    const int works = kiln__stores_try_folder(c->context, tell_folder, c);
    struct stat facts;

    if (works == 0)
        report_check(c, "folder", KILN_CHECK_NOTE,
                     "%s: not there yet; the first entry makes it", path);
    if (works <= 0)
        return;
    c->folder = kiln__stores_folder(c->context);
    report_check(c, "folder", KILN_CHECK_OK, "%s", path);
    if (stat(path, &facts) != 0)
        return;
    report_check(c, "owner", KILN_CHECK_OK, "user %lu, like this process",
                 (unsigned long)facts.st_uid);
    report_check(c, "permissions", KILN_CHECK_OK, "%03o",
                 (unsigned)(facts.st_mode & 0777));
}

/* ---- owners and permissions ---- */

typedef struct refusing {
    const checking *check;
    const char *folder; /* of the disk store */
    unsigned refused;
} refusing;

/* If the whole folder is not used, that was reported already. */
static int was_reported(const refusing *r, const char *path)
{
    return r->check->folder < 0 &&
           strncmp(path, r->folder, strlen(r->folder)) == 0;
}

static void tell_refused(void *env, const char *path, const char *why_not)
{
    refusing *r = env;

    r->refused++;
    if (!was_reported(r, path))
        report_check(r->check, "trust", KILN_CHECK_BAD, "%s is not used: %s",
                     path, why_not);
}

static void tell_above(void *env, const char *path, const char *why_not)
{
    const refusing *r = env;

    report_check(r->check, "trust", KILN_CHECK_NOTE, "%s: %s", path, why_not);
}

static void check_above(void *env, const char *place, int32_t priority,
                        int is_pack)
{
    (void)is_pack;
    if (priority != KILN_STORE_PACKS)
        kiln__stores_above(place, tell_above, env);
}

static void check_trust(const checking *c, const char *path)
{
    refusing r = {c, path, 0};

    kiln__stores_refused(c->context, 1, tell_refused, &r);
    if (r.refused == 0)
        report_check(c, "trust", KILN_CHECK_OK,
                     "nobody else may write to what is used");
    kiln__stores_places(c->context, check_above, &r);
}

/* ---- the search path ---- */

static void check_place(void *env, const char *place, int32_t priority,
                        int is_pack)
{
    char entries[PATH_MAX];
    struct stat facts;

    if (priority != KILN_STORE_SEARCH_PATH || is_pack)
        return;
    (void)snprintf(entries, sizeof entries, "%s/v2", place);
    if (stat(entries, &facts) != 0 && errno == ENOENT)
        report_check(env, "search path", KILN_CHECK_NOTE, "%s: %s", place,
                     stat(place, &facts) != 0
                         ? "there is no such file or folder"
                         : "there are no entries in it");
}

static void check_searched(checking *c)
{
    kiln__stores_places(c->context, check_place, c);
}

/* ---- file system ---- */

static void check_file_system(const checking *c, const char *path)
{
    int is_network;
    const char *name = kiln__stores_file_system(&is_network, c->context, path);

    report_check(c, "file system", is_network ? KILN_CHECK_NOTE : KILN_CHECK_OK,
                 "%s%s", name, is_network ? ": nothing is locked there" : "");
}

#define LITTLE_SPACE ((uint64_t)64 << 20)
#define FEW_FILES ((uint64_t)4096)

static void check_room(const checking *c)
{
    struct statvfs facts;
    uint64_t space, files;

    if (c->folder < 0 || fstatvfs(c->folder, &facts) != 0)
        return;
    space = (uint64_t)facts.f_bavail * facts.f_frsize;
    files = facts.f_favail;
    report_check(c, "space",
                 space < LITTLE_SPACE ? KILN_CHECK_BAD : KILN_CHECK_OK,
                 "%llu MiB free", (unsigned long long)(space >> 20));
    if (facts.f_files == 0)
        report_check(c, "files", KILN_CHECK_OK, "without a limit");
    else
        report_check(c, "files",
                     files < FEW_FILES ? KILN_CHECK_BAD : KILN_CHECK_OK,
                     "%llu more can be made", (unsigned long long)files);
}

#define CLOCK_S 10

/* The time of a file comes from the machine that has the disk. */
static void check_clock(const checking *c, int64_t written_s)
{
    const int64_t away = written_s - (int64_t)time(NULL);

    report_check(
        c, "clock",
        away > CLOCK_S || away < -CLOCK_S ? KILN_CHECK_BAD : KILN_CHECK_OK,
        "the file system's is %lld s %s this machine's",
        (long long)(away < 0 ? -away : away), away < 0 ? "behind" : "ahead of");
}

static void check_written(const checking *c, int file, const char *text,
                          size_t size)
{
    char back[64];
    struct stat facts;

    errno = kiln__io_write_file(file, text, size);
    if (errno != 0 || kiln__io_read_at(file, back, size, 0) != (ssize_t)size ||
        memcmp(text, back, size) != 0 || fstat(file, &facts) != 0) {
        report_check(c, "writing", KILN_CHECK_BAD, "%s",
                     kiln__reason_text(errno));
        return;
    }
    report_check(c, "writing", KILN_CHECK_OK,
                 "a file was written and read back");
    check_clock(c, facts.st_mtime);
}

static void check_writing(const checking *c)
{
    char random[KILN__RANDOM_NAME_SIZE], probe[sizeof random + 16];
    int file;

    if (c->folder < 0 || !kiln__random_name(random))
        return;
    (void)snprintf(probe, sizeof probe, ".kiln-check-%s", random);
    file = kiln__descriptor_open(c->folder, probe,
                                 O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (file < 0) {
        report_check(c, "writing", KILN_CHECK_BAD, "%s",
                     kiln__reason_text(errno));
        return;
    }
    check_written(c, file, random, sizeof random);
    (void)close(file);
    (void)unlinkat(c->folder, probe, 0);
}

/* ---- locks ---- */

static int lock_folder(void *env)
{
    return kiln__stores_lock_folder(env);
}

static void check_locks(const checking *c)
{
    const kiln_digest key = kiln__digest_text("kiln cache doctor");
    kiln__locks *locks = NULL;
    kiln__lock lock = {0};
    kiln_status status;

    if (!kiln__stores_locks(c->context)) {
        report_check(c, "locks", KILN_CHECK_NOTE, "switched off");
        return;
    }
    if (kiln__locks_new(&locks, c->context, lock_folder, c->context) != KILN_OK)
        return;
    status = kiln__lock_try(&lock, locks, key);
    report_check(
        c, "locks",
        status == KILN_EUNSUPPORTED ? KILN_CHECK_NOTE : KILN_CHECK_OK, "%s",
        status == KILN_OK       ? "one was taken and given back"
        : status == KILN_EAGAIN ? "another process has that one"
                                : "nothing can be locked here: processes "
                                  "that want one kernel build it each");
    kiln__lock_release(&lock);
    kiln__locks_free(locks);
}

/* ---- tools and variables ---- */

static void check_codegen(const checking *c)
{
    const kiln__codegen *table = NULL;
    kiln_error *error = NULL;
    char path[PATH_MAX];

    if (kiln__codegen_library_open(c->context, &table, &error) != KILN_OK) {
        report_check(c, "code generator", KILN_CHECK_NOTE,
                     "%s: only what is stored can be used",
                     kiln_error_message(error));
        kiln_error_free(error);
        return;
    }
    report_check(c, "code generator", KILN_CHECK_OK, "%s opens",
                 kiln__codegen_library_path(c->context, path) == KILN_OK
                     ? path
                     : "the one in this program");
    report_check(c, "toolchain", KILN_CHECK_OK, "%s",
                 kiln__toolchain_text(c->context));
}

static void check_worker(const checking *c)
{
    char path[PATH_MAX];
    kiln_error *error = NULL;
    int is_started;

    if (c->context->codegen_mode == KILN_CODEGEN_THREAD) {
        report_check(c, "worker", KILN_CHECK_NOTE, "switched off");
    } else if (kiln__process_try(c->context, &is_started, &error) != KILN_OK) {
        report_check(c, "worker", KILN_CHECK_NOTE, "%s",
                     kiln_error_message(error));
        kiln_error_free(error);
    } else {
        report_check(c, "worker", KILN_CHECK_OK, "%s starts",
                     kiln__worker_processes_program(c->context, path,
                                                    sizeof path) == KILN_OK
                         ? path
                         : "the program");
    }
}

static void check_variables(const checking *c)
{
    const char *found;
    size_t at = 0;
    int count = 0;

    while ((found = kiln__environment_unknown("KILN_", &at))) {
        report_check(c, "variables", KILN_CHECK_BAD, "nothing reads %.*s",
                     (int)strcspn(found, "="), found);
        count++;
    }
    if (count == 0)
        report_check(c, "variables", KILN_CHECK_OK,
                     "each KILN_ variable is known");
}

kiln_status kiln_cache_check(kiln_context *context, kiln_check_fn see,
                             void *env)
{
    checking c = {context, see, env, -1};
    const char *path;

    if (context == NULL || see == NULL)
        return KILN_EINVAL;
    path = kiln__stores_path(context);
    if (path != NULL) {
        check_folder(&c, path);
        check_trust(&c, path);
        check_searched(&c);
        check_file_system(&c, path);
        check_room(&c);
        if (kiln__stores_write(context, KILN__ENTRY_BINARY))
            check_writing(&c);
        check_locks(&c);
    } else {
        report_check(&c, "folder", KILN_CHECK_NOTE, "none: %s",
                     context->cache->why_not != NULL ? context->cache->why_not
                                                     : "the cache is off");
    }
    check_codegen(&c);
    check_worker(&c);
    check_variables(&c);
    return KILN_OK;
}
