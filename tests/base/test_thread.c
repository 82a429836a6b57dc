/* test_thread.c - threads, locks, the clock and the log. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit thread */
#include <signal.h>
#include <string.h>

#include "base/system/thread.h"
#include "context/context.h"
#include "context/log.h"
#include "support/harness.h"

static void *blocked_signals(void *argument)
{
    (void)pthread_sigmask(SIG_BLOCK, NULL, argument);
    return NULL;
}

static void a_started_thread_takes_no_signals(void **state)
{
    sigset_t before, after, inside;
    kiln__thread thread;

    (void)state;
    sigemptyset(&inside);
    (void)pthread_sigmask(SIG_BLOCK, NULL, &before);

    assert_ok(kiln__thread_start(&thread, 1 << 20, blocked_signals, &inside));
    kiln__thread_join(thread);

    (void)pthread_sigmask(SIG_BLOCK, NULL, &after);
    assert_true(sigismember(&inside, SIGINT));
    assert_true(sigismember(&inside, SIGUSR1));
    assert_int_equal(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
}

static void an_impossible_stack_is_refused(void **state)
{
    kiln__thread thread;

    (void)state;
    assert_status(KILN_ENOMEM, kiln__thread_start(&thread, (size_t)1 << 62,
                                                  blocked_signals, NULL));
}

typedef struct turns {
    kiln__mutex mutex;
    kiln__condition changed;
    int turn;
} turns;

static void *answer(void *argument)
{
    turns *t = argument;

    kiln__mutex_lock(&t->mutex);
    for (int i = 0; i < 100; i++) {
        while (t->turn % 2 == 0)
            kiln__condition_wait(&t->changed, &t->mutex);
        t->turn++;
        kiln__condition_signal(&t->changed);
    }
    kiln__mutex_unlock(&t->mutex);
    return NULL;
}

static void threads_take_turns(void **state)
{
    turns t = {.turn = 0};
    kiln__thread thread;

    (void)state;
    assert_ok(kiln__mutex_init(&t.mutex));
    assert_ok(kiln__condition_init(&t.changed));
    assert_ok(kiln__thread_start(&thread, 0, answer, &t));

    kiln__mutex_lock(&t.mutex);
    for (int i = 0; i < 100; i++) {
        t.turn++;
        kiln__condition_broadcast(&t.changed);
        while (t.turn % 2 == 1)
            kiln__condition_wait(&t.changed, &t.mutex);
    }
    kiln__mutex_unlock(&t.mutex);
    kiln__thread_join(thread);

    assert_int_equal(t.turn, 200);
    kiln__condition_dispose(&t.changed);
    kiln__mutex_dispose(&t.mutex);
}

static void count_one(void *value)
{
    (*(int *)value)++;
}

static kiln__thread_slot slot;

static void *set_slot(void *argument)
{
    const int was_empty = kiln__thread_slot_get(slot) == NULL;

    if (was_empty && kiln__thread_slot_set(slot, argument) == KILN_OK)
        return NULL;
    *(int *)argument = -1;
    return NULL;
}

static void a_slot_is_of_one_thread_and_ends_with_it(void **state)
{
    kiln__thread thread;
    int own = 0, other = 0;

    (void)state;
    assert_ok(kiln__thread_slot_init(&slot, count_one));
    assert_ok(kiln__thread_slot_set(slot, &own));
    assert_ok(kiln__thread_start(&thread, 0, set_slot, &other));
    kiln__thread_join(thread);

    assert_ptr_equal(kiln__thread_slot_get(slot), &own);
    assert_int_equal(own, 0);
    assert_int_equal(other, 1);
    assert_ok(kiln__thread_slot_set(slot, NULL));
}

static int made;

static void make_it(void)
{
    made++;
}

static void what_is_made_once_is_made_once(void **state)
{
    static kiln__once once = KILN__ONCE_INIT;

    (void)state;
    kiln__once_run(&once, make_it);
    kiln__once_run(&once, make_it);

    assert_int_equal(made, 1);
}

static void *read_too(void *argument)
{
    kiln__rwlock *lock = argument;

    if (!kiln__rwlock_read(lock))
        return NULL;
    made++;
    kiln__rwlock_unlock(lock);
    return NULL;
}

static void readers_share_a_lock(void **state)
{
    kiln__rwlock lock;
    kiln__thread thread;

    (void)state;
    made = 0;
    assert_ok(kiln__rwlock_init(&lock));
    assert_true(kiln__rwlock_read(&lock));
    assert_ok(kiln__thread_start(&thread, 0, read_too, &lock));
    kiln__thread_join(thread);
    assert_int_equal(made, 1);
    kiln__rwlock_unlock(&lock);

    assert_true(kiln__rwlock_write(&lock));
    assert_false(kiln__rwlock_write(&lock)); /* its own thread has it */
    kiln__rwlock_unlock(&lock);
    kiln__rwlock_dispose(&lock);
}

static void the_clock_never_goes_back(void **state)
{
    uint64_t before = kiln__clock_ns();

    (void)state;
    assert_true(before > 0);
    for (int i = 0; i < 1000; i++) {
        const uint64_t now = kiln__clock_ns();

        assert_true(now >= before);
        before = now;
    }
}

typedef struct heard {
    int32_t level;
    char line[2048];
    int waits;
} heard;

static void hear(void *env, int32_t level, const char *line)
{
    heard *h = env;

    h->level = level;
    strcpy(h->line, line);
}

static void enter(void *env)
{
    ((heard *)env)->waits++;
}

static void leave(void *env)
{
    ((heard *)env)->waits += 10;
}

static void the_host_takes_the_log(void **state)
{
    kiln_context context;
    heard h = {0};

    (void)state;
    memset(&context, 0, sizeof context);
    context.host.log = hear;
    context.host_env = &h;

    kiln__log(&context, KILN_LOG_WARNING, "%s dropped %d", "store", 3);
    assert_int_equal(h.level, KILN_LOG_WARNING);
    assert_string_equal(h.line, "store dropped 3");
    kiln__log(&context, KILN_LOG_INFO, "%02000d", 1);
    assert_int_equal(strlen(h.line), 1023);
}

static void a_host_that_offers_nothing_is_left_alone(void **state)
{
    kiln_context context;

    (void)state;
    memset(&context, 0, sizeof context);
    kiln__log(&context, KILN_LOG_ERROR, "nobody listens");
    kiln__log(NULL, KILN_LOG_ERROR, "no context");
    kiln__blocking_enter(&context);
    kiln__blocking_leave(&context);
    assert_null(context.host_env);
}

static void waits_are_bracketed(void **state)
{
    kiln_context context;
    heard h = {0};

    (void)state;
    memset(&context, 0, sizeof context);
    context.host.blocking_enter = enter;
    context.host.blocking_leave = leave;
    context.host_env = &h;

    kiln__blocking_enter(&context);
    assert_int_equal(h.waits, 1);
    kiln__blocking_leave(&context);
    assert_int_equal(h.waits, 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_started_thread_takes_no_signals),
        cmocka_unit_test(an_impossible_stack_is_refused),
        cmocka_unit_test(threads_take_turns),
        cmocka_unit_test(a_slot_is_of_one_thread_and_ends_with_it),
        cmocka_unit_test(what_is_made_once_is_made_once),
        cmocka_unit_test(readers_share_a_lock),
        cmocka_unit_test(the_clock_never_goes_back),
        cmocka_unit_test(the_host_takes_the_log),
        cmocka_unit_test(a_host_that_offers_nothing_is_left_alone),
        cmocka_unit_test(waits_are_bracketed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
