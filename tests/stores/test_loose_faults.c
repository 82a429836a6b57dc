/* test_loose_faults.c - system calls that fail, and writers that are killed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault tiers */
/* WRAPS: openat pread write close fstat fallocate fstatfs */
/* WRAPS: renameat2 renameat linkat unlinkat mkdirat clock_gettime */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "context/context.h"
#include "support/harness.h"
#include "support/stores/loose_files.h"

/*
 * Each system call that a loose store makes passes here. One of them may be
 * told to fail, or the process may be killed before the n-th of them.
 */

#define CALL_MAP(X) \
    X(openat) \
    X(pread) \
    X(write) \
    X(close) \
    X(fstat) \
    X(fallocate) \
    X(renameat2) \
    X(renameat) \
    X(linkat) \
    X(unlinkat) \
    X(mkdirat) \
    X(fstatfs)

#define CALL_ENUM(name) CALL_##name,
enum call { CALL_NONE, CALL_MAP(CALL_ENUM) CALL_COUNT };

static struct plan {
    enum call fails;
    int reason;     /* errno; 0: it falls short instead */
    int times;      /* -1: always */
    int only_files; /* an openat() of a folder does not fail */
    long kill_at;   /* 0: never */
    long calls;     /* so far */
    uint32_t magic; /* of the file system, if not 0 */
    int also_done;  /* the call fails after it has done its work */
} plan;

static int fails(enum call which)
{
    if (++plan.calls == plan.kill_at)
        (void)raise(SIGKILL);
    if (which != plan.fails || plan.times == 0)
        return 0;
    plan.times -= plan.times > 0;
    errno = plan.reason;
    return 1;
}

int __real_openat(int folder, const char *path, int flags, mode_t mode);
int __wrap_openat(int folder, const char *path, int flags, mode_t mode);
int __wrap_openat(int folder, const char *path, int flags, mode_t mode)
{
    if (plan.only_files && (flags & O_DIRECTORY))
        return __real_openat(folder, path, flags, mode);
    return fails(CALL_openat) ? -1 : __real_openat(folder, path, flags, mode);
}

ssize_t __real_pread(int file, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread(int file, void *bytes, size_t size, off_t offset);
ssize_t __wrap_pread(int file, void *bytes, size_t size, off_t offset)
{
    if (!fails(CALL_pread))
        return __real_pread(file, bytes, size, offset);
    return plan.reason ? -1 : __real_pread(file, bytes, (size + 1) / 2, offset);
}

ssize_t __real_write(int file, const void *bytes, size_t size);
ssize_t __wrap_write(int file, const void *bytes, size_t size);
ssize_t __wrap_write(int file, const void *bytes, size_t size)
{
    if (!fails(CALL_write))
        return __real_write(file, bytes, size);
    return plan.reason ? -1 : __real_write(file, bytes, (size + 1) / 2);
}

int __real_close(int file);
int __wrap_close(int file);
int __wrap_close(int file)
{
    const int failed = fails(CALL_close);
    const int reason = errno, result = __real_close(file);

    if (failed)
        errno = reason;
    return failed ? -1 : result;
}

int __real_fstat(int file, struct stat *facts);
int __wrap_fstat(int file, struct stat *facts);
int __wrap_fstat(int file, struct stat *facts)
{
    return fails(CALL_fstat) ? -1 : __real_fstat(file, facts);
}

int __real_fallocate(int file, int mode, off_t at, off_t size);
int __wrap_fallocate(int file, int mode, off_t at, off_t size);
int __wrap_fallocate(int file, int mode, off_t at, off_t size)
{
    return fails(CALL_fallocate) ? -1 : __real_fallocate(file, mode, at, size);
}

int __real_renameat2(int from, const char *old, int to, const char *name,
                     unsigned flags);
int __wrap_renameat2(int from, const char *old, int to, const char *name,
                     unsigned flags);
int __wrap_renameat2(int from, const char *old, int to, const char *name,
                     unsigned flags)
{
    const int failed = fails(CALL_renameat2), reason = errno;

    if (failed && plan.also_done)
        (void)__real_renameat2(from, old, to, name, flags);
    errno = reason;
    return failed ? -1 : __real_renameat2(from, old, to, name, flags);
}

int __real_renameat(int from, const char *old, int to, const char *name);
int __wrap_renameat(int from, const char *old, int to, const char *name);
int __wrap_renameat(int from, const char *old, int to, const char *name)
{
    return fails(CALL_renameat) ? -1 : __real_renameat(from, old, to, name);
}

int __real_linkat(int from, const char *old, int to, const char *name,
                  int flags);
int __wrap_linkat(int from, const char *old, int to, const char *name,
                  int flags);
int __wrap_linkat(int from, const char *old, int to, const char *name,
                  int flags)
{
    return fails(CALL_linkat) ? -1 : __real_linkat(from, old, to, name, flags);
}

int __real_unlinkat(int folder, const char *path, int flags);
int __wrap_unlinkat(int folder, const char *path, int flags);
int __wrap_unlinkat(int folder, const char *path, int flags)
{
    return fails(CALL_unlinkat) ? -1 : __real_unlinkat(folder, path, flags);
}

int __real_mkdirat(int folder, const char *path, mode_t mode);
int __wrap_mkdirat(int folder, const char *path, mode_t mode);
int __wrap_mkdirat(int folder, const char *path, mode_t mode)
{
    return fails(CALL_mkdirat) ? -1 : __real_mkdirat(folder, path, mode);
}

int __real_fstatfs(int file, struct statfs *facts);
int __wrap_fstatfs(int file, struct statfs *facts);
int __wrap_fstatfs(int file, struct statfs *facts)
{
    const int result = fails(CALL_fstatfs) ? -1 : __real_fstatfs(file, facts);

    if (plan.magic)
        facts->f_type = (__typeof__(facts->f_type))plan.magic;
    return result;
}

static time_t seconds_later; /* by how many it is later than it is */

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    const int result = __real_clock_gettime(clock, now);

    now->tv_sec += seconds_later;
    return result;
}

/* ---- a store with a log ---- */

typedef struct fixture {
    char *folder;
    char lines[1000];
    kiln_context context;
    kiln__loose *loose;
    loose_entry a, b;
} fixture;

static void note_line(void *env, int32_t level, const char *line)
{
    fixture *f = env;

    (void)level;
    (void)snprintf(f->lines + strlen(f->lines),
                   sizeof f->lines - strlen(f->lines), "%s\n", line);
}

static size_t line_count(const fixture *f)
{
    size_t count = 0;

    for (const char *at = f->lines; *at; at++)
        count += *at == '\n';
    return count;
}

static void reopen(fixture *f)
{
    const kiln__loose_options options = loose_options(f->folder);

    kiln__loose_free(f->loose);
    f->lines[0] = '\0';
    assert_ok(kiln__loose_new(&f->loose, &kiln__malloc, &f->context, &options));
}

static int setup(void **state)
{
    static fixture f;
    void *folder = NULL;

    memset(&f, 0, sizeof f);
    memset(&plan, 0, sizeof plan);
    seconds_later = 0;
    if (temporary_folder_setup(&folder) != 0)
        return -1;
    f.folder = folder;
    f.context.host.log = note_line;
    f.context.host_env = &f;
    reopen(&f);
    loose_entry_make(&f.a, "a", 5000);
    loose_entry_make(&f.b, "b", 5000);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    void *folder = f->folder;

    memset(&plan, 0, sizeof plan);
    loose_entry_end(&f->a);
    loose_entry_end(&f->b);
    kiln__loose_free(f->loose);
    return temporary_folder_teardown(&folder);
}

static kiln_status put(fixture *f, const loose_entry *e)
{
    return kiln__loose_put(f->loose, e->entry.key.digest, e->envelope.data,
                           e->envelope.size, 0);
}

static int has(fixture *f, const loose_entry *e)
{
    kiln__entry_fault fault;

    return loose_has(f->loose, e, &fault);
}

/* ---- writing fails ---- */

static void a_lasting_failure_is_one_warning_and_then_only_read(void **state)
{
    static const struct {
        enum call call;
        int reason;
    } cases[] = {
        {CALL_fallocate, ENOSPC}, {CALL_fallocate, EDQUOT},
        {CALL_write, ENOSPC},     {CALL_write, EDQUOT},
        {CALL_write, EIO},        {CALL_close, ENOSPC},
        {CALL_close, EDQUOT},     {CALL_close, EIO},
        {CALL_openat, EROFS},     {CALL_openat, EACCES},
        {CALL_openat, EPERM},     {CALL_openat, ENOSPC},
        {CALL_openat, EDQUOT},    {CALL_renameat2, EROFS},
        {CALL_renameat2, ENOSPC}, {CALL_renameat2, EACCES},
    };
    fixture *f = *state;

    assert_ok(put(f, &f->a));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reopen(f);
        assert_true(has(f, &f->a));
        plan = (struct plan){.fails = cases[i].call,
                             .reason = cases[i].reason,
                             .times = 1,
                             .only_files = 1};
        assert_int_equal(put(f, &f->b), KILN_EREADONLY);
        assert_int_equal(put(f, &f->b), KILN_EREADONLY);
        assert_int_equal(plan.times, 0);
        assert_contains(f->lines, "cannot write to");
        assert_int_equal(line_count(f), 1);
        assert_true(has(f, &f->a));
        assert_false(has(f, &f->b));
        assert_int_equal(loose_count(f->folder, KILN__LOOSE_TEMPORARY), 0);
    }
}

static void after_a_while_writing_is_tried_again(void **state)
{
    static const int reasons[] = {ENOSPC, EROFS, EACCES};
    fixture *f = *state;

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        char name[16];
        loose_entry e;

        reopen(f);
        (void)snprintf(name, sizeof name, "e%zu", i);
        loose_entry_make(&e, name, 5000);
        plan = (struct plan){.fails = CALL_openat,
                             .reason = reasons[i],
                             .times = 2,
                             .only_files = 1};
        assert_int_equal(put(f, &e), KILN_EREADONLY);
        assert_int_equal(plan.times, 1);
        seconds_later += 60;
        assert_int_equal(put(f, &e), KILN_EREADONLY);
        assert_int_equal(plan.times, 0);
        assert_int_equal(line_count(f), 1);
        assert_int_equal(put(f, &e), KILN_EREADONLY);
        seconds_later += 60;
        assert_ok(put(f, &e));
        assert_true(has(f, &e));
        assert_contains(f->lines, "again");
        assert_int_equal(line_count(f), 2);
        loose_entry_end(&e);
    }
}

static void a_folder_that_could_not_be_made_is_tried_again(void **state)
{
    fixture *f = *state;

    plan = (struct plan){.fails = CALL_mkdirat, .reason = EROFS, .times = 1};
    assert_int_equal(put(f, &f->a), KILN_EREADONLY);
    assert_int_equal(plan.times, 0);
    assert_contains(f->lines, "does not use");
    assert_int_equal(line_count(f), 1);
    assert_int_equal(put(f, &f->a), KILN_EREADONLY);
    seconds_later += 60;
    assert_ok(put(f, &f->a));
    assert_true(has(f, &f->a));
}

static void a_failure_of_the_moment_is_forgotten(void **state)
{
    static const int reasons[] = {EMFILE, ENFILE, ENOMEM};
    fixture *f = *state;

    assert_ok(put(f, &f->a));
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        plan = (struct plan){.fails = CALL_openat,
                             .reason = reasons[i],
                             .times = 1,
                             .only_files = 1};
        assert_int_equal(put(f, &f->b), KILN_EIO);
        assert_false(has(f, &f->b));
        plan = (struct plan){.fails = CALL_openat,
                             .reason = reasons[i],
                             .times = 1,
                             .only_files = 1};
        assert_false(has(f, &f->a));
        assert_true(has(f, &f->a));
    }
    assert_ok(put(f, &f->b));
    assert_string_equal(f->lines, "");
}

static void an_entry_that_no_file_can_hold_is_left_out(void **state)
{
    static const enum call calls[] = {CALL_fallocate, CALL_write, CALL_write};
    fixture *f = *state;

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        plan = (struct plan){.fails = calls[i], .reason = EFBIG, .times = 1};
        assert_int_equal(put(f, &f->a), KILN_EIO);
        assert_int_equal(plan.times, 0);
        assert_int_equal(loose_count(f->folder, KILN__LOOSE_TEMPORARY), 0);
        assert_contains(f->lines, " bytes is larger than files in ");
        assert_int_equal(line_count(f), 1);
    }
    assert_ok(put(f, &f->b));
    assert_true(has(f, &f->b));
    assert_ok(put(f, &f->a));
    assert_true(has(f, &f->a));
}

static void short_and_interrupted_calls_are_gone_on_with(void **state)
{
    static const struct plan plans[] = {
        {.fails = CALL_write, .reason = 0, .times = 5},
        {.fails = CALL_write, .reason = EINTR, .times = 5},
        {.fails = CALL_fallocate, .reason = EINTR, .times = 5},
        {.fails = CALL_close, .reason = EINTR, .times = 1},
        {.fails = CALL_fallocate, .reason = EOPNOTSUPP, .times = 1},
        {.fails = CALL_pread, .reason = 0, .times = 5},
        {.fails = CALL_pread, .reason = EINTR, .times = 5},
    };
    fixture *f = *state;

    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        loose_entry e;
        char name[16];

        (void)snprintf(name, sizeof name, "e%zu", i);
        loose_entry_make(&e, name, 5000);
        plan = plans[i];
        assert_ok(put(f, &e));
        assert_true(has(f, &e));
        assert_int_equal(plan.times, 0);
        loose_entry_end(&e);
    }
    assert_string_equal(f->lines, "");
}

/* ---- file systems that cannot do all ---- */

static void entries_get_their_names_as_the_file_system_can(void **state)
{
    fixture *f = *state;

    plan =
        (struct plan){.fails = CALL_renameat2, .reason = EINVAL, .times = -1};
    assert_ok(put(f, &f->a));
    assert_ok(put(f, &f->a));
    assert_true(has(f, &f->a));
    assert_int_equal(loose_count(f->folder, KILN__LOOSE_TEMPORARY), 0);
}

static void a_rename_whose_answer_was_lost_has_happened(void **state)
{
    fixture *f = *state;

    plan = (struct plan){
        .fails = CALL_renameat2, .reason = EIO, .times = 1, .also_done = 1};
    assert_ok(put(f, &f->a));
    assert_true(has(f, &f->a));
    assert_string_equal(f->lines, "");
    assert_ok(put(f, &f->b));
}

static void a_stale_handle_is_opened_again(void **state)
{
    static const struct plan plans[] = {
        {.fails = CALL_openat, .reason = ESTALE, .times = 2, .only_files = 1},
        {.fails = CALL_fstat, .reason = ESTALE, .times = 1},
        {.fails = CALL_pread, .reason = ESTALE, .times = 2},
    };
    fixture *f = *state;

    assert_ok(put(f, &f->a));
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        plan = plans[i];
        assert_true(has(f, &f->a));
        assert_int_equal(plan.times, 0);
    }
    plan = (struct plan){
        .fails = CALL_openat, .reason = ESTALE, .times = 1, .only_files = 1};
    assert_ok(put(f, &f->b));
    assert_true(has(f, &f->b));
    plan = (struct plan){.fails = CALL_pread, .reason = ESTALE, .times = -1};
    assert_false(has(f, &f->a));
    plan = (struct plan){.fails = CALL_pread, .reason = EIO, .times = 1};
    assert_false(has(f, &f->a));
    assert_true(has(f, &f->a));
}

static void a_cut_that_is_read_meanwhile_is_a_miss(void **state)
{
    fixture *f = *state;
    kiln__entry_fault fault;
    char path[512];

    assert_ok(put(f, &f->a));
    loose_path(path, sizeof path, f->folder, &f->a);
    assert_int_equal(truncate(path, 100), 0);
    assert_false(loose_has(f->loose, &f->a, &fault));
    assert_int_equal(fault, KILN__FAULT_TRUNCATED);
}

/* ---- network file systems ---- */

static void file_systems_are_told_apart(void **state)
{
    static const struct {
        uint32_t magic;
        int is_network;
        const char *name;
    } cases[] = {
        {0x6969, 1, "nfs"},       {0x0bd00bd0, 1, "lustre"},
        {0x47504653, 1, "gpfs"},  {0x19830326, 1, "beegfs"},
        {0xff534d42, 1, "cifs"},  {0x517b, 1, "smb"},
        {0xfe534d42, 1, "smb2"},  {0x5346414f, 1, "openafs"},
        {0x00c36400, 1, "ceph"},  {0x01021997, 1, "9p"},
        {0x65735546, 1, "fuse"},  {0xaad7aaea, 1, "panfs"},
        {0xef53, 0, "local"},     {0x58465342, 0, "local"},
        {0x794c7630, 0, "local"}, {0x01021994, 0, "local"},
    };
    fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kiln__filesystem found;

        plan.magic = cases[i].magic;
        found = kiln__filesystem_of_path(&kiln__malloc, f->folder);
        assert_int_equal(found.is_network, cases[i].is_network);
        assert_string_equal(found.name, cases[i].name);
    }
    plan = (struct plan){.fails = CALL_fstatfs, .reason = ENOSYS, .times = 1};
    assert_true(kiln__filesystem_of_path(&kiln__malloc, f->folder).is_network);
}

static void a_path_that_is_not_there_is_where_it_would_be(void **state)
{
    fixture *f = *state;
    char path[512];

    plan.magic = 0x6969;
    (void)snprintf(path, sizeof path, "%s/a/b/c", f->folder);
    assert_string_equal(kiln__filesystem_of_path(&kiln__malloc, path).name,
                        "nfs");
    assert_string_equal(kiln__filesystem_of_path(&kiln__malloc, "/").name,
                        "nfs");
}

/* ---- killed between any two system calls ---- */

/* What a put did before it was killed at its n-th call; true if it was. */
static int put_and_die(fixture *f, long n, int replace, int only_links)
{
    const pid_t child = fork();
    int status = -1;

    assert_true(child >= 0);
    if (child == 0) {
        plan = (struct plan){.kill_at = n, .reason = EINVAL, .times = -1};
        plan.fails = only_links ? CALL_renameat2 : CALL_NONE;
        (void)kiln__loose_put(f->loose, f->b.entry.key.digest,
                              f->b.envelope.data, f->b.envelope.size, replace);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        assert_int_equal(WTERMSIG(status), SIGKILL);
    else
        assert_int_equal(WEXITSTATUS(status), 0);
    return WIFSIGNALED(status);
}

static void assert_sound(fixture *f)
{
    kiln__entry_fault fault;

    reopen(f);
    assert_true(has(f, &f->a));
    (void)loose_has(f->loose, &f->b, &fault);
    assert_int_equal(fault, KILN__FAULT_NONE);
    assert_ok(put(f, &f->b));
    assert_true(has(f, &f->b));
    assert_string_equal(f->lines, "");
}

static void kill_writers(fixture *f, int only_links)
{
    char path[512];
    long n = 1;

    assert_ok(put(f, &f->a));
    loose_path(path, sizeof path, f->folder, &f->b);
    do {
        reopen(f);
        (void)unlink(path);
        if (!put_and_die(f, n++, 0, only_links))
            break;
        assert_sound(f);
    } while (n < 1000);
    assert_in_range(n, 8, 100);
    assert_sound(f);
}

static void a_writer_killed_anywhere_leaves_a_sound_store(void **state)
{
    kill_writers(*state, 0);
}

static void one_killed_where_names_are_linked_does_too(void **state)
{
    kill_writers(*state, 1);
}

static void one_killed_while_it_replaces_leaves_old_or_new(void **state)
{
    fixture *f = *state;
    loose_entry old;
    long n = 1;

    loose_entry_make(&old, "b", 77);
    do {
        kiln__entry_fault fault;

        reopen(f);
        assert_ok(kiln__loose_put(f->loose, old.entry.key.digest,
                                  old.envelope.data, old.envelope.size, 1));
        if (!put_and_die(f, n++, 1, 0))
            break;
        assert_true(loose_has(f->loose, &old, &fault) ||
                    loose_has(f->loose, &f->b, &fault));
    } while (n < 1000);
    assert_in_range(n, 6, 100);
    assert_true(has(f, &f->b));
    loose_entry_end(&old);
}

static void what_a_killed_writer_left_is_swept_in_time(void **state)
{
    fixture *f = *state;
    kiln__store_report report;
    size_t left;

    for (long n = 1; put_and_die(f, n, 0, 0); n++)
        reopen(f);
    left = loose_count(f->folder, KILN__LOOSE_TEMPORARY);
    assert_in_range(left, 2, 100);
    assert_ok(kiln__loose_prune(f->loose, &report));
    assert_int_equal(report.swept, 0);

    loose_set_ages(f->folder, KILN__LOOSE_TEMPORARY, 4000);
    assert_ok(kiln__loose_prune(f->loose, &report));
    assert_int_equal(report.swept, left);
    assert_int_equal(loose_count(f->folder, KILN__LOOSE_TEMPORARY), 0);
    assert_true(has(f, &f->b));
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORE(a_lasting_failure_is_one_warning_and_then_only_read),
        WITH_STORE(after_a_while_writing_is_tried_again),
        WITH_STORE(a_folder_that_could_not_be_made_is_tried_again),
        WITH_STORE(a_failure_of_the_moment_is_forgotten),
        WITH_STORE(an_entry_that_no_file_can_hold_is_left_out),
        WITH_STORE(short_and_interrupted_calls_are_gone_on_with),
        WITH_STORE(entries_get_their_names_as_the_file_system_can),
        WITH_STORE(a_rename_whose_answer_was_lost_has_happened),
        WITH_STORE(a_stale_handle_is_opened_again),
        WITH_STORE(a_cut_that_is_read_meanwhile_is_a_miss),
        WITH_STORE(file_systems_are_told_apart),
        WITH_STORE(a_path_that_is_not_there_is_where_it_would_be),
        WITH_STORE(a_writer_killed_anywhere_leaves_a_sound_store),
        WITH_STORE(one_killed_where_names_are_linked_does_too),
        WITH_STORE(one_killed_while_it_replaces_leaves_old_or_new),
        WITH_STORE(what_a_killed_writer_left_is_swept_in_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
