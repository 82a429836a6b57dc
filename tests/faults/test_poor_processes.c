/* test_poor_processes.c - processes that lack what most have. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault host cuda */
/* WRAPS: write pwrite fallocate ftruncate posix_spawn clock_gettime */
#include "everything.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/harness.h"

/*
 * Each test is a process that lacks something while it does everything. Where
 * that is no part of the work, all works; else nothing comes of it but errors.
 * Then the process has it again, and the same context must do everything.
 */

#define LIMIT_S 200
#define CANNOT HARNESS_SKIP
#define NOBODY 65534

typedef struct place {
    const char *folder;
    char cache[600];
    struct rlimit before;
    int resource;
    int errors; /* a copy of the descriptor 2 */
    everything everything;
} place;

/* ---- what is looked at ---- */

static atomic_int standard_writes; /* into the descriptors 0 to 2 */
static time_t seconds_later;
static atomic_int last_spawned;

static void note_file(int file)
{
    if (file <= STDERR_FILENO)
        atomic_fetch_add(&standard_writes, 1);
}

ssize_t __real_write(int file, const void *bytes, size_t size);
ssize_t __wrap_write(int file, const void *bytes, size_t size);
ssize_t __wrap_write(int file, const void *bytes, size_t size)
{
    note_file(file);
    return __real_write(file, bytes, size);
}

ssize_t __real_pwrite(int file, const void *bytes, size_t size, off_t at);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t size, off_t at);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t size, off_t at)
{
    note_file(file);
    return __real_pwrite(file, bytes, size, at);
}

int __real_fallocate(int file, int mode, off_t at, off_t size);
int __wrap_fallocate(int file, int mode, off_t at, off_t size);
int __wrap_fallocate(int file, int mode, off_t at, off_t size)
{
    note_file(file);
    return __real_fallocate(file, mode, at, size);
}

int __real_ftruncate(int file, off_t size);
int __wrap_ftruncate(int file, off_t size);
int __wrap_ftruncate(int file, off_t size)
{
    note_file(file);
    return __real_ftruncate(file, size);
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
    const int result = __real_clock_gettime(clock, now);

    now->tv_sec += seconds_later;
    return result;
}

int __real_posix_spawn(pid_t *child, const char *path,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes,
                       char *const *arguments, char *const *variables);
int __wrap_posix_spawn(pid_t *child, const char *path,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes,
                       char *const *arguments, char *const *variables);
int __wrap_posix_spawn(pid_t *child, const char *path,
                       const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes,
                       char *const *arguments, char *const *variables)
{
    const int result = __real_posix_spawn(child, path, actions, attributes,
                                          arguments, variables);

    if (result == 0)
        atomic_store(&last_spawned, *child);
    return result;
}

/* ---- descriptors ---- */

static int close_standard(place *p)
{
    p->errors = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
    for (int i = 0; i <= STDERR_FILENO; i++)
        (void)close(i);
    return p->errors >= 0 ? 0 : errno;
}

/* What the process prints now goes nowhere, and not into a file of Kiln's. */
static void open_standard(place *p)
{
    int used = 0;

    for (int i = 0; i <= STDERR_FILENO; i++)
        used += fcntl(i, F_GETFD) >= 0;
    (void)dup2(p->errors, STDOUT_FILENO);
    (void)dup2(p->errors, STDERR_FILENO);
    if (used > 0 || atomic_load(&standard_writes) > 0) {
        (void)fprintf(stderr, "%d standard descriptors used, %d writes\n", used,
                      atomic_load(&standard_writes));
        _exit(1);
    }
}

/* ---- limits ---- */

static int limit(place *p, int resource, rlim_t most)
{
    struct rlimit now;

    p->resource = resource;
    if (getrlimit((__rlimit_resource_t)resource, &p->before) != 0)
        return errno;
    now = p->before;
    now.rlim_cur = most;
    return setrlimit((__rlimit_resource_t)resource, &now) == 0 ? 0 : errno;
}

static void lift_limit(place *p)
{
    (void)setrlimit((__rlimit_resource_t)p->resource, &p->before);
}

static int few_descriptors(place *p)
{
    return limit(p, RLIMIT_NOFILE, 32);
}

static int fewer_descriptors(place *p)
{
    return limit(p, RLIMIT_NOFILE, 16);
}

static int hardly_any_descriptors(place *p)
{
    return limit(p, RLIMIT_NOFILE, 8);
}

static int limit_memory(place *p, rlim_t more)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return ENOTSUP; /* they end the process */
#endif
    if (file == NULL || fscanf(file, "%llu", &pages) != 1)
        return ENOENT;
    (void)fclose(file);
    return limit(p, RLIMIT_AS, (rlim_t)pages * 4096 + more);
}

static int no_memory(place *p)
{
    return limit_memory(p, 0);
}

static int little_memory(place *p)
{
    return limit_memory(p, (rlim_t)16 << 20);
}

static int memory_for_no_llvm(place *p)
{
    return limit_memory(p, (rlim_t)100 << 20);
}

static int memory_for_some(place *p)
{
    return limit_memory(p, (rlim_t)300 << 20);
}

static int give_away(const char *path, const struct stat *facts, int type,
                     struct FTW *at)
{
    (void)facts;
    (void)type;
    (void)at;
    return lchown(path, NOBODY, NOBODY);
}

/* The limit is none for root. */
static int limit_threads(place *p, rlim_t most)
{
    if (geteuid() == 0 &&
        (nftw(p->folder, give_away, 8, FTW_PHYS) != 0 ||
         setgroups(0, NULL) != 0 || setresgid(NOBODY, NOBODY, NOBODY) != 0 ||
         setresuid(NOBODY, NOBODY, NOBODY) != 0))
        return errno;
    if (access(REAL_WORKER, X_OK) != 0 || access(CODEGEN_LIBRARY, R_OK) != 0)
        return errno;
    return limit(p, RLIMIT_NPROC, most);
}

static int no_threads(place *p)
{
    return limit_threads(p, 0);
}

static int one_thread(place *p)
{
    return limit_threads(p, 1);
}

/* ---- file systems ---- */

static int write_text(const char *path, const char *text)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    const int is_written =
        file >= 0 &&
        __real_write(file, text, strlen(text)) == (ssize_t)strlen(text);

    if (file >= 0)
        (void)close(file);
    return is_written;
}

/* The user stays who he is, and may mount. */
static int own_user_space(void)
{
    const unsigned user = geteuid(), group = getegid();
    char text[64];

    if (unshare(CLONE_NEWUSER) != 0 ||
        !write_text("/proc/self/setgroups", "deny"))
        return errno;
    (void)snprintf(text, sizeof text, "%u %u 1\n", user, user);
    if (!write_text("/proc/self/uid_map", text))
        return errno;
    (void)snprintf(text, sizeof text, "%u %u 1\n", group, group);
    return write_text("/proc/self/gid_map", text) ? 0 : errno;
}

static int own_mounts(void)
{
    const int reason = geteuid() == 0 ? 0 : own_user_space();

    if (reason != 0)
        return reason;
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return errno;
    return 0;
}

static int cover(const char *path, unsigned long flags, const char *options)
{
    const int reason = own_mounts();

    if (reason != 0)
        return reason;
    return mount("none", path, "tmpfs", flags, options) == 0 ? 0 : errno;
}

static int no_proc(place *p)
{
    (void)p;
    return cover("/proc", MS_RDONLY, NULL);
}

static void has_proc(place *p)
{
    (void)p;
    (void)umount2("/proc", MNT_DETACH);
}

static int no_dev(place *p)
{
    (void)p;
    return cover("/dev", MS_RDONLY, NULL);
}

static void has_dev(place *p)
{
    (void)p;
    (void)umount2("/dev", MNT_DETACH);
}

static int no_temporary_folder(place *p)
{
    (void)p;
    return setenv("TMPDIR", "/nowhere/at/all", 1) == 0 ? 0 : errno;
}

static int temporary_files_that_do_not_run(place *p)
{
    char path[600];

    (void)snprintf(path, sizeof path, "%s/noexec", p->folder);
    if ((mkdir(path, 0700) != 0 && errno != EEXIST) ||
        setenv("TMPDIR", path, 1) != 0)
        return errno;
    return cover(path, MS_NOEXEC | MS_NOSUID, NULL);
}

/* What lies in /tmp of the program itself, for a build that is there: the name
   behind it, or "". */
static void find_build(char *name, size_t size)
{
    const char *library = getenv("KILN_CODEGEN_PATH");

    name[0] = '\0';
    if (library != NULL && strncmp(library, "/tmp/", 5) == 0)
        (void)snprintf(name, size, "%.*s", (int)strcspn(library + 5, "/"),
                       library + 5);
}

/* Covers /tmp with a folder that has only this one in it. */
static int keep_only(const char *name)
{
    char from[32], path[300];
    int folder, reason = 0;

    (void)snprintf(path, sizeof path, "/tmp/%s", name);
    folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return errno;
    (void)snprintf(from, sizeof from, "/proc/self/fd/%d", folder);
    if (mount("none", "/tmp", "tmpfs", 0, NULL) != 0 ||
        (name[0] != '\0' && (mkdir(path, 0700) != 0 ||
                             mount(from, path, NULL, MS_BIND, NULL) != 0)) ||
        mount("none", "/tmp", NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0)
        reason = errno;
    (void)close(folder);
    return reason;
}

/* The cache is elsewhere. */
static int no_temporary_files(place *p)
{
    char build[200];
    int reason = own_mounts();

    if (reason != 0)
        return reason;
    find_build(build, sizeof build);
    if (mount(p->folder, "/mnt", NULL, MS_BIND, NULL) != 0)
        return errno;
    reason = keep_only(build);
    if (reason != 0)
        return reason;
    p->folder = "/mnt";
    return unsetenv("TMPDIR") == 0 ? 0 : errno;
}

static void has_temporary_files(place *p)
{
    (void)p;
    (void)umount2("/tmp", MNT_DETACH);
}

static void has_temporary_folder(place *p)
{
    (void)p;
    (void)unsetenv("TMPDIR");
}

static int own_cache(place *p, const char *options)
{
    if (mkdir(p->cache, 0700) != 0 && errno != EEXIST)
        return errno;
    return cover(p->cache, 0, options);
}

static int read_only_cache(place *p)
{
    const int reason = own_cache(p, "mode=0700");

    if (reason != 0)
        return reason;
    return mount("none", p->cache, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0
               ? 0
               : errno;
}

static void writable_cache(place *p)
{
    (void)mount("none", p->cache, NULL, MS_REMOUNT, NULL);
    seconds_later += 60;
}

static void filler(char path[700], const place *p)
{
    (void)snprintf(path, 700, "%s/filler", p->cache);
}

static int full_disk(place *p)
{
    const int reason = own_cache(p, "mode=0700,size=8m");
    static const char zeros[4096];
    char path[700];
    int file;

    if (reason != 0)
        return reason;
    filler(path, p);
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (file >= 0 && __real_write(file, zeros, sizeof zeros) > 0)
        continue;
    return file >= 0 && close(file) == 0 ? 0 : errno;
}

static void empty_disk(place *p)
{
    char path[700];

    filler(path, p);
    (void)unlink(path);
    seconds_later += 60;
}

/* ---- what happens meanwhile ---- */

static void cache_is_removed(place *p)
{
    (void)everything_do(&p->everything, 2, 1);
    (void)harness_remove_folder(p->cache);
}

static atomic_int is_over;
#define KILLED 12

/* Each worker process as soon as there is another one, or a little later. */
static void *kill_workers(void *count)
{
    const struct timespec pause = {.tv_nsec = 3000000};
    int last = 0, killed = 0;

    while (!atomic_load(&is_over) && killed < KILLED) {
        const int child = atomic_load(&last_spawned);

        (void)nanosleep(&pause, NULL);
        if (child == last || child == 0)
            continue;
        for (int i = killed % 4 * 5; i > 0; i--)
            (void)nanosleep(&pause, NULL);
        (void)kill(child, SIGKILL);
        last = child;
        killed++;
    }
    *(int *)count = killed;
    return NULL;
}

static void workers_die(place *p)
{
    pthread_t killer;
    int killed = 0;

    (void)signal(SIGPIPE, SIG_DFL);
    if (pthread_create(&killer, NULL, kill_workers, &killed) != 0)
        abort();
    for (unsigned i = 0; i < 3 * KILLED; i++)
        (void)everything_do(&p->everything, 2 + i % 2, 0);
    atomic_store(&is_over, 1);
    (void)pthread_join(killer, NULL);
    if (killed < 2)
        abort(); /* nothing was tried */
}

static void nothing(place *p)
{
    (void)p;
}

static int has_all(place *p)
{
    (void)p;
    return 0;
}

/* ---- all of them ---- */

/* Name, what takes it away, what happens then, what gives it back, and whether
   all works without it. The last ones give the folder to another user. */
#define POVERTY_MAP(X) \
    X(standard_descriptors_are_closed, close_standard, nothing, open_standard, \
      1) \
    X(there_are_32_descriptors, few_descriptors, nothing, lift_limit, 0) \
    X(there_are_16_descriptors, fewer_descriptors, nothing, lift_limit, 0) \
    X(there_are_8_descriptors, hardly_any_descriptors, nothing, lift_limit, 0) \
    X(there_is_no_more_memory, no_memory, nothing, lift_limit, 0) \
    X(there_is_little_memory, little_memory, nothing, lift_limit, 0) \
    X(memory_has_no_room_for_llvm, memory_for_no_llvm, nothing, lift_limit, 0) \
    X(memory_has_room_for_some, memory_for_some, nothing, lift_limit, 0) \
    X(proc_is_empty, no_proc, nothing, has_proc, 1) \
    X(dev_is_empty, no_dev, nothing, has_dev, 1) \
    X(there_is_no_temporary_folder, no_temporary_folder, nothing, \
      has_temporary_folder, 1) \
    X(nothing_runs_in_the_temporary_folder, temporary_files_that_do_not_run, \
      nothing, has_temporary_folder, 1) \
    X(nowhere_are_temporary_files, no_temporary_files, nothing, \
      has_temporary_files, 1) \
    X(the_cache_cannot_be_written, read_only_cache, nothing, writable_cache, \
      1) \
    X(the_disk_is_full, full_disk, nothing, empty_disk, 1) \
    X(the_cache_is_removed, has_all, cache_is_removed, nothing, 1) \
    X(worker_processes_die, has_all, workers_die, nothing, 1) \
    X(no_thread_can_be_started, no_threads, nothing, lift_limit, 0) \
    X(one_thread_is_all, one_thread, nothing, lift_limit, 0)

typedef struct poverty {
    const char *name;
    int (*begin)(place *p); /* 0, or errno: it cannot be tried */
    void (*meanwhile)(place *p);
    void (*end)(place *p);
    int works;
} poverty;

#define POVERTY_ROW(name, begin, meanwhile, end, works) \
    {#name, begin, meanwhile, end, works},
static const poverty table[] = {POVERTY_MAP(POVERTY_ROW)};

#define POVERTY_ENUM(name, begin, meanwhile, end, works) ROW_##name,
enum { POVERTY_MAP(POVERTY_ENUM) ROWS };

/* --one FOLDER ROW */
static int try_one(char **arguments)
{
    const poverty *row = &table[atoi(arguments[1])];
    static place p = {.errors = STDERR_FILENO};
    int good, reason;

    p.folder = arguments[0];
    (void)snprintf(p.cache, sizeof p.cache, "%s/cache", p.folder);
    (void)alarm(LIMIT_S);
    reason = row->begin(&p);
    if (reason != 0) {
        (void)fprintf(stderr, "%s\n", strerror(reason));
        return CANNOT;
    }
    good = everything_begin(&p.everything, p.folder, row->works) == KILN_OK;
    if (good) {
        row->meanwhile(&p);
        good = everything_do(&p.everything, 0, row->works) == KILN_OK;
    }
    row->end(&p);
    if (row->works && !good) {
        (void)fprintf(stderr, "it fails\nlog: %s\n", p.everything.log);
        return 1;
    }
    if (!p.everything.context &&
        everything_begin(&p.everything, p.folder, 1) != KILN_OK)
        return 1;
    good = everything_has_recovered(&p.everything);
    everything_end(&p.everything);
    return good ? 0 : 1;
}

/* ---- those who try ---- */

static void try_row(const char *folder, int row)
{
    char number[32];
    int ending;

    (void)snprintf(number, sizeof number, "%d", row);
    ending = everything_try(folder, (const char *const[]){number, NULL});
    if (ending == CANNOT)
        test_skip(SKIP_MACHINE, "this cannot be brought about here");
    if (ending != 0)
        fail_msg("ended with %d", ending);
}

#define POVERTY_TEST(name, begin, meanwhile, end, works) \
    static void name(void **state) \
    { \
        try_row(*state, ROW_##name); \
    }
POVERTY_MAP(POVERTY_TEST)

static int setup(void **state)
{
    if (temporary_folder_setup(state) != 0)
        return -1;
    everything_prepare(*state);
    return chmod(*state, 0755);
}

#define POVERTY_CASE(name, begin, meanwhile, end, works) cmocka_unit_test(name),

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {POVERTY_MAP(POVERTY_CASE)};

    (void)setenv("KILN_CUDA_DRIVER", FAKE_CUDA, 1);
    if (count == 4 && strcmp(arguments[1], "--one") == 0)
        return try_one(arguments + 2);
    return cmocka_run_group_tests(tests, setup, temporary_folder_teardown);
}
