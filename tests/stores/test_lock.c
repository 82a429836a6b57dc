/* test_lock.c - one process at a time has a key's lock, however it ends. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault tiers */
/* WRAPS: fcntl fstatfs */
#include "stores/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/harness.h"
#include "support/process/namespaces.h"

/* What the kernel is made to say to a request for a lock, and a folder to be.
 */
static int lock_error;
static long file_system;

int __real_fcntl(int descriptor, int command, void *argument);
int __wrap_fcntl(int descriptor, int command, void *argument);
int __real_fstatfs(int descriptor, struct statfs *facts);
int __wrap_fstatfs(int descriptor, struct statfs *facts);

int __wrap_fcntl(int descriptor, int command, void *argument)
{
    if (lock_error && command == F_OFD_SETLK) {
        errno = lock_error;
        return -1;
    }
    return __real_fcntl(descriptor, command, argument);
}

int __wrap_fstatfs(int descriptor, struct statfs *facts)
{
    const int failed = __real_fstatfs(descriptor, facts);

    if (file_system)
        facts->f_type = file_system;
    return failed;
}

/* ---- a side: a context, or a copy of the library, or a process ---- */

typedef struct side {
    kiln_context *context;
    kiln__locks *locks;
    const char *path; /* of the folder */
    int folder;
} side;

static int folder_of(void *env)
{
    return ((side *)env)->folder;
}

static void side_open(side *s, const char *path)
{
    *s = (side){.path = path,
                .folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    assert_true(s->folder >= 0);
    assert_ok(kiln_context_new(&s->context, NULL, &test_error));
    assert_ok(kiln__locks_new(&s->locks, s->context, folder_of, s));
}

static void side_close(side *s)
{
    kiln__locks_free(s->locks);
    kiln_context_free(s->context);
    close(s->folder);
}

static const kiln_digest key = {{12, 34, 56, 7, 89}};
static const kiln_digest other = {{76, 54, 32, 1, 98}};

static uint64_t in_ms(uint64_t milliseconds)
{
    return kiln__clock_ns() + milliseconds * 1000000;
}

#define LONG_MS 20000 /* never waited for when all is well */

/* ---- a process that has a lock, and tells so ---- */

typedef struct holder {
    pid_t process;
    pid_t child; /* of it, that lives on */
} holder;

typedef enum holding { HOLD, HOLD_AND_FORK } holding;

/* Leaves by _exit(): nothing of the parent's is to be ended here. */
static void hold(const char *path, kiln_digest which, holding how, int pipe_end)
{
    kiln__lock lock;
    pid_t child = 0;
    side s;

    side_open(&s, path);
    if (kiln__lock_try(&lock, s.locks, which) != KILN_OK)
        _exit(1);
    if (how == HOLD_AND_FORK) {
        child = fork();
        if (child == 0)
            for (;;)
                pause();
    }
    if (write(pipe_end, &child, sizeof child) != (ssize_t)sizeof child)
        _exit(1);
    for (;;)
        pause();
}

static holder start_holder(const char *path, holding how)
{
    holder h = {0, 0};
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    h.process = fork();
    assert_true(h.process >= 0);
    if (h.process == 0)
        hold(path, key, how, ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &h.child, sizeof h.child), sizeof h.child);
    close(ends[0]);
    return h;
}

static void end_process(pid_t process)
{
    if (process > 0)
        kill(process, SIGKILL);
}

static void end_holder(const holder *h)
{
    end_process(h->process);
    assert_int_equal(waitpid(h->process, NULL, 0), h->process);
}

/* ---- within one process ---- */

static void a_key_is_held_once(void **state)
{
    kiln__lock first, second, third;
    side s;

    side_open(&s, *state);
    assert_ok(kiln__lock_try(&first, s.locks, key));
    assert_status(KILN_EAGAIN, kiln__lock_try(&second, s.locks, key));
    assert_ok(kiln__lock_try(&third, s.locks, other));
    kiln__lock_release(&first);
    assert_ok(kiln__lock_try(&second, s.locks, key));
    kiln__lock_release(&second);
    kiln__lock_release(&third);
    kiln__lock_release(&third); /* holds nothing any more */
    side_close(&s);
}

static void contexts_of_one_process_exclude_each_other(void **state)
{
    kiln__lock first, second;
    side a, b;

    side_open(&a, *state);
    side_open(&b, *state);
    assert_ok(kiln__lock_try(&first, a.locks, key));
    assert_status(KILN_EAGAIN, kiln__lock_try(&second, b.locks, key));
    assert_status(KILN_EAGAIN,
                  kiln__lock_wait(&second, b.locks, key, in_ms(5)));
    kiln__lock_release(&first);
    assert_ok(kiln__lock_wait(&second, b.locks, key, in_ms(LONG_MS)));
    assert_status(KILN_EAGAIN, kiln__lock_try(&first, a.locks, key));
    kiln__lock_release(&second);
    side_close(&a);
    side_close(&b);
}

/* Both keys stand for the same byte: one process may have both, and keeps the
   others out until it has let go of both. */
static void keys_that_meet_hinder_other_processes_only(void **state)
{
    const kiln_digest one = {{5, 0, 0, 1}}, two = {{5, 0, 16, 1}};
    kiln__lock first, second, third;
    side a, b;

    side_open(&a, *state);
    side_open(&b, *state);
    assert_ok(kiln__lock_try(&first, a.locks, one));
    assert_ok(kiln__lock_try(&second, a.locks, two));
    kiln__lock_release(&first);
    assert_status(KILN_EAGAIN, kiln__lock_try(&third, b.locks, one));
    kiln__lock_release(&second);
    assert_ok(kiln__lock_try(&third, b.locks, one));
    kiln__lock_release(&third);
    side_close(&a);
    side_close(&b);
}

static void a_lock_file_that_was_removed_is_made_anew(void **state)
{
    kiln__lock first, second;
    char path[4096];
    side a, b;

    snprintf(path, sizeof path, "%s/lock", (const char *)*state);
    side_open(&a, *state);
    side_open(&b, *state);
    assert_ok(kiln__lock_try(&first, a.locks, key));
    kiln__lock_release(&first);
    assert_int_equal(unlink(path), 0);
    assert_ok(kiln__lock_try(&second, b.locks, key));
    assert_status(KILN_EAGAIN, kiln__lock_try(&first, a.locks, key));
    kiln__lock_release(&second);
    side_close(&a);
    side_close(&b);
}

typedef struct handing {
    side s;
    thread_report report;
    int inside; /* threads that have the lock */
} handing;

static void *take_turns(void *argument)
{
    handing *h = argument;
    kiln__lock lock;

    for (int i = 0; i < 20; i++) {
        thread_assert_ok(&h->report, kiln__lock_wait(&lock, h->s.locks, key,
                                                     in_ms(LONG_MS)));
        thread_assert(&h->report,
                      __atomic_add_fetch(&h->inside, 1, __ATOMIC_SEQ_CST) == 1);
        __atomic_sub_fetch(&h->inside, 1, __ATOMIC_SEQ_CST);
        kiln__lock_release(&lock);
    }
    return NULL;
}

static void threads_take_turns(void **state)
{
    handing h = {.report = THREAD_REPORT_INIT};

    side_open(&h.s, *state);
    harness_run_threads(4, take_turns, &h);
    assert_threads_ok(&h.report);
    side_close(&h.s);
}

/* ---- processes that end, stop and fork ---- */

static void a_holder_that_is_killed_lets_go(void **state)
{
    holder h = start_holder(*state, HOLD);
    kiln__lock lock;
    side s;

    side_open(&s, *state);
    assert_status(KILN_EAGAIN, kiln__lock_try(&lock, s.locks, key));
    end_holder(&h);
    assert_ok(kiln__lock_wait(&lock, s.locks, key, in_ms(LONG_MS)));
    kiln__lock_release(&lock);
    side_close(&s);
}

static void a_holder_that_is_stopped_delays_until_the_deadline(void **state)
{
    holder h = start_holder(*state, HOLD);
    kiln__lock lock;
    side s;

    side_open(&s, *state);
    assert_int_equal(kill(h.process, SIGSTOP), 0);
    assert_status(KILN_EAGAIN, kiln__lock_wait(&lock, s.locks, key, in_ms(30)));
    /* A deadline that is over already is one try. */
    assert_status(KILN_EAGAIN, kiln__lock_wait(&lock, s.locks, key, 0));
    assert_ok(kiln__lock_wait(&lock, s.locks, other, 0));
    kiln__lock_release(&lock);
    end_holder(&h);
    side_close(&s);
}

static void a_holder_whose_child_lives_lets_go_when_it_is_killed(void **state)
{
    holder h = start_holder(*state, HOLD_AND_FORK);
    kiln__lock lock;
    side s;

    side_open(&s, *state);
    assert_status(KILN_EAGAIN, kiln__lock_try(&lock, s.locks, key));
    end_holder(&h);
    assert_ok(kiln__lock_wait(&lock, s.locks, key, in_ms(LONG_MS)));
    assert_int_equal(kill(h.child, 0), 0);
    kiln__lock_release(&lock);
    end_process(h.child);
    side_close(&s);
}

/* In the child of a process that holds the lock. */
static void use_inherited(side *s, kiln__lock *inherited)
{
    kiln__lock lock;

    if (kiln__lock_try(&lock, s->locks, key) != KILN_EAGAIN)
        _exit(1);
    kiln__lock_release(inherited); /* is not ours to give back */
    if (kiln__lock_try(&lock, s->locks, key) != KILN_EAGAIN)
        _exit(2);
    if (kiln__lock_try(&lock, s->locks, other) != KILN_OK)
        _exit(3);
    kiln__lock_release(&lock);
    kiln__locks_free(s->locks);
    _exit(0);
}

static void fork_and_use(side *s, kiln__lock *lock)
{
    const pid_t child = fork();
    int ended = 0;

    assert_true(child >= 0);
    if (child == 0)
        use_inherited(s, lock);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    assert_int_equal(WEXITSTATUS(ended), 0);
}

static void a_child_of_fork_cannot_let_go(void **state)
{
    kiln__lock lock, again;
    side a, b;

    side_open(&a, *state);
    side_open(&b, *state);
    assert_ok(kiln__lock_try(&lock, a.locks, key));
    fork_and_use(&a, &lock);
    assert_status(KILN_EAGAIN, kiln__lock_try(&again, b.locks, key));
    kiln__lock_release(&lock);
    assert_ok(kiln__lock_try(&again, b.locks, key));
    kiln__lock_release(&again);
    side_close(&a);
    side_close(&b);
}

static int enter_namespace(void)
{
    return namespaces_leave(CLONE_NEWPID) || unshare(CLONE_NEWPID) == 0;
}

/* In a process of its own: 0 when a holder in another namespace of process
   numbers is seen, 77 where there can be none. */
static int hold_in_namespace(const char *path)
{
    kiln__lock lock;
    int result = 1;
    holder h;
    side s;

    if (!enter_namespace())
        return HARNESS_SKIP;
    h = start_holder(path, HOLD); /* it is process 1 there */
    side_open(&s, path);
    if (kiln__lock_try(&lock, s.locks, key) == KILN_EAGAIN) {
        end_holder(&h);
        if (kiln__lock_wait(&lock, s.locks, key, in_ms(LONG_MS)) == KILN_OK)
            result = 0;
    }
    return result;
}

static void namespaces_of_processes_do_not_matter(void **state)
{
    const pid_t child = fork();
    int ended = 0;

    assert_true(child >= 0);
    if (child == 0)
        _exit(hold_in_namespace(*state));
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_true(WIFEXITED(ended));
    if (WEXITSTATUS(ended) == HARNESS_SKIP)
        test_skip(SKIP_MACHINE, "it gives no name spaces of processes");
    assert_int_equal(WEXITSTATUS(ended), 0);
}

/* ---- many processes, many keys ---- */

#define PROCESSES 16
#define KEYS 16

typedef struct board {
    unsigned built[KEYS];
    unsigned building[KEYS];
    unsigned both; /* built the same at the same time */
} board;

static void build(board *b, unsigned which)
{
    if (__atomic_add_fetch(&b->building[which], 1, __ATOMIC_SEQ_CST) != 1)
        __atomic_add_fetch(&b->both, 1, __ATOMIC_SEQ_CST);
    sched_yield();
    __atomic_add_fetch(&b->built[which], 1, __ATOMIC_SEQ_CST);
    __atomic_sub_fetch(&b->building[which], 1, __ATOMIC_SEQ_CST);
}

static int is_built(const board *b, unsigned which)
{
    return __atomic_load_n(&b->built[which], __ATOMIC_SEQ_CST) != 0;
}

static kiln_digest digest_of(unsigned which)
{
    return harness_digest(which * 7919u, which);
}

/* Those that others build come last; then it waits for them. */
static void build_all(const char *path, board *b, unsigned first)
{
    kiln__lock lock;
    side s;

    side_open(&s, path);
    for (unsigned turn = 0; turn < 2 * KEYS; turn++) {
        const unsigned which = (first + turn) % KEYS;
        kiln_status status;

        if (is_built(b, which))
            continue;
        status = turn < KEYS ? kiln__lock_try(&lock, s.locks, digest_of(which))
                             : kiln__lock_wait(&lock, s.locks, digest_of(which),
                                               in_ms(LONG_MS));
        if (status == KILN_EAGAIN && turn < KEYS)
            continue;
        if (status != KILN_OK)
            _exit(1);
        if (!is_built(b, which))
            build(b, which);
        kiln__lock_release(&lock);
    }
    side_close(&s);
    _exit(0);
}

static void each_key_is_built_once(void **state)
{
    board *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[PROCESSES];
    int ended;

    assert_true(b != MAP_FAILED);
    for (unsigned i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            build_all(*state, b, i % 2 ? i : 0);
    }
    for (unsigned i = 0; i < PROCESSES; i++) {
        assert_int_equal(waitpid(children[i], &ended, 0), children[i]);
        assert_int_equal(ended, 0);
    }
    assert_int_equal(b->both, 0);
    for (unsigned i = 0; i < KEYS; i++)
        assert_int_equal(b->built[i], 1);
    munmap(b, sizeof *b);
}

/* ---- where nothing can be locked ---- */

static void assert_cannot_lock(const char *path)
{
    kiln__lock lock;
    side s;

    side_open(&s, path);
    assert_status(KILN_EUNSUPPORTED, kiln__lock_try(&lock, s.locks, key));
    assert_status(KILN_EUNSUPPORTED,
                  kiln__lock_wait(&lock, s.locks, key, in_ms(LONG_MS)));
    kiln__lock_release(&lock);
    side_close(&s);
}

static void where_the_kernel_has_no_locks_everybody_goes_alone(void **state)
{
    const int errors[] = {ENOLCK, EOPNOTSUPP, EIO, ESTALE, ENOSYS};

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        lock_error = errors[i];
        assert_cannot_lock(*state);
    }
    lock_error = 0;
}

static void on_a_network_nothing_is_locked(void **state)
{
    file_system = 0x6969; /* NFS */
    assert_cannot_lock(*state);
    file_system = 0;
}

static void where_no_file_can_be_everybody_goes_alone(void **state)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/lock", (const char *)*state);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_cannot_lock(*state);
    assert_int_equal(rmdir(path), 0);
}

/* It leads to what is somebody else's; and nobody of ours put it there. */
static void a_link_in_the_files_place_gives_way_to_a_file(void **state)
{
    struct stat facts;
    char path[4096];
    kiln__lock lock;
    side s;

    snprintf(path, sizeof path, "%s/lock", (const char *)*state);
    assert_int_equal(symlink("/dev/null", path), 0);
    side_open(&s, *state);
    assert_ok(kiln__lock_try(&lock, s.locks, key));
    kiln__lock_release(&lock);
    side_close(&s);
    assert_int_equal(lstat(path, &facts), 0);
    assert_true(S_ISREG(facts.st_mode));
}

static int no_folder(void *env)
{
    (void)env;
    return -1;
}

static void without_a_folder_everybody_goes_alone(void **state)
{
    kiln_context *context = NULL;
    kiln__locks *locks = NULL;
    kiln__lock lock;

    (void)state;
    assert_ok(kiln_context_new(&context, NULL, &test_error));
    assert_ok(kiln__locks_new(&locks, context, no_folder, NULL));
    assert_status(KILN_EUNSUPPORTED, kiln__lock_try(&lock, locks, key));
    kiln__locks_free(locks);
    kiln_context_free(context);
}

/* A kernel that does not know locks of descriptions: whole files are. */
static void the_older_way_excludes_as_well(void **state)
{
    lock_error = EINVAL;
    contexts_of_one_process_exclude_each_other(state);
    keys_that_meet_hinder_other_processes_only(state);
    a_child_of_fork_cannot_let_go(state);
    a_holder_that_is_killed_lets_go(state);
    a_holder_whose_child_lives_lets_go_when_it_is_killed(state);
    each_key_is_built_once(state);
    lock_error = 0;
}

static kiln_status make_locks(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;
    kiln__locks *locks = NULL;
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    status = kiln_context_new(&context, &options, NULL);
    if (status == KILN_OK)
        status = kiln__locks_new(&locks, context, no_folder, NULL);
    kiln__locks_free(locks);
    kiln_context_free(context);
    return status;
}

static void locks_survive_failing_allocations(void **state)
{
    (void)state;
    assert_survives_failing_alloc(make_locks, NULL);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_key_is_held_once),
        IN_FOLDER(contexts_of_one_process_exclude_each_other),
        IN_FOLDER(keys_that_meet_hinder_other_processes_only),
        IN_FOLDER(a_lock_file_that_was_removed_is_made_anew),
        IN_FOLDER(a_holder_that_is_killed_lets_go),
        IN_FOLDER(a_holder_that_is_stopped_delays_until_the_deadline),
        IN_FOLDER(a_holder_whose_child_lives_lets_go_when_it_is_killed),
        IN_FOLDER(a_child_of_fork_cannot_let_go),
        IN_FOLDER(namespaces_of_processes_do_not_matter),
        IN_FOLDER(each_key_is_built_once),
        IN_FOLDER(where_the_kernel_has_no_locks_everybody_goes_alone),
        IN_FOLDER(on_a_network_nothing_is_locked),
        IN_FOLDER(where_no_file_can_be_everybody_goes_alone),
        IN_FOLDER(a_link_in_the_files_place_gives_way_to_a_file),
        cmocka_unit_test(without_a_folder_everybody_goes_alone),
        IN_FOLDER(the_older_way_excludes_as_well),
        cmocka_unit_test(locks_survive_failing_allocations),
        /* Last: the children of the others are forked from one thread. */
        IN_FOLDER(threads_take_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
