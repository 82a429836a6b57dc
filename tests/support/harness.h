/* harness.h - cmocka, and the assertions and fixtures that tests share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_HARNESS_H
#define KILN_TESTS_HARNESS_H

/* cmocka requires these four before its own header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "kiln/error.h"
#include "kiln/sys/alloc.h"

/* ---- what cannot be tested here ----
 *
 * Whoever skips says for want of what: a device, or what it can do; a package,
 * which scripts/setup.sh should have installed; a build without a sanitizer;
 * something else of this machine. The reason is printed, and added to the file
 * that TEST_SKIPS names, of which scripts/test.sh makes the list at the
 * end of a run.
 */
#define SKIP_DEVICE "device"
#define SKIP_PACKAGE "package"
#define SKIP_SANITIZER "sanitizer"
#define SKIP_MACHINE "machine"

/* Skips the rest of the test. */
#define test_skip(kind, why) \
    do { \
        harness_note_skip((kind), __func__, (why)); \
        skip(); \
    } while (0)
/* Returns what main() has to return so that ctest takes it for "skipped". */
#define program_skip(kind, why) harness_note_skip((kind), "all of it", (why))
int harness_note_skip(const char *kind, const char *what, const char *why);

/* The exit status that ctest takes for "skipped"; a child returns it to its
   parent, too. */
#define HARNESS_SKIP 77

/* What sanitizers cannot do in the child of a fork of a process with several
   threads. The address sanitizer's allocator has locks that another thread may
   hold, and the thread sanitizer allows no new threads. */
#if defined(__SANITIZE_ADDRESS__)
#define HARNESS_MALLOC_AFTER_FORK 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HARNESS_MALLOC_AFTER_FORK 0
#endif
#endif
#ifndef HARNESS_MALLOC_AFTER_FORK
#define HARNESS_MALLOC_AFTER_FORK 1
#endif

#if defined(__SANITIZE_THREAD__)
#define HARNESS_THREADS_AFTER_FORK 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HARNESS_THREADS_AFTER_FORK 0
#endif
#endif
#ifndef HARNESS_THREADS_AFTER_FORK
#define HARNESS_THREADS_AFTER_FORK 1
#endif

/* Returns a digest that nothing else has, made of two numbers; the first is in
   its first eight bytes. */
kiln_digest harness_digest(uint64_t first, uint64_t second);

/* ---- statuses ----
 *
 * Give &test_error to a function that takes an error: the assertion shows it
 * when it fails, and frees it in any case.
 *
 *     assert_ok(kiln_config_new(&config, context, NULL, &test_error));
 *
 * Each thread has its own. An assertion that fails in another thread than the
 * main one ends the program.
 */
extern _Thread_local kiln_error *test_error; /* of the calling thread */

#define assert_status(expected, expression) \
    harness_check_status((expression), (expected), #expression, __FILE__, \
                         __LINE__)
#define assert_ok(expression) assert_status(KILN_OK, expression)

/* As assert_status, and the message of test_error must contain `text`. */
#define assert_fails(expected, text, expression) \
    harness_check_failure((expression), (expected), (text), #expression, \
                          __FILE__, __LINE__)

void harness_check_status(kiln_status status, kiln_status expected,
                          const char *expression, const char *file, int line);
void harness_check_failure(kiln_status status, kiln_status expected,
                           const char *text, const char *expression,
                           const char *file, int line);

/* Compares a blob's bytes. */
#define assert_blob_equal(blob, bytes, count) \
    do { \
        const kiln_blob *blob_ = &(blob); \
        assert_int_equal(blob_->size, (count)); \
        assert_memory_equal(blob_->data, (bytes), (count)); \
    } while (0)

/* Searches a NUL-terminated text. */
#define assert_contains(text, part) \
    harness_check_contains((text), (part), __FILE__, __LINE__)
void harness_check_contains(const char *text, const char *part,
                            const char *file, int line);

/* ---- threads ----
 *
 * cmocka must not fail outside the main thread. A thread records its first
 * failure in a report; the main thread looks after joining.
 */
typedef struct thread_report {
    pthread_mutex_t lock;
    int failed;
    char text[512];
} thread_report;

#define THREAD_REPORT_INIT \
    { \
        PTHREAD_MUTEX_INITIALIZER, 0, \
        { \
            0 \
        } \
    }

#define thread_assert(report, condition) \
    harness_thread_check((report), (condition) ? 1 : 0, #condition, __FILE__, \
                         __LINE__)
#define thread_assert_ok(report, expression) \
    harness_thread_status((report), (expression), #expression, __FILE__, \
                          __LINE__)
/* Called in the main thread: fails with what the threads have recorded. */
#define assert_threads_ok(report) \
    harness_threads_done((report), __FILE__, __LINE__)

void harness_thread_check(thread_report *report, int condition,
                          const char *expression, const char *file, int line);
void harness_thread_status(thread_report *report, kiln_status status,
                           const char *expression, const char *file, int line);
void harness_threads_done(thread_report *report, const char *file, int line);

/* Starts `count` threads of run(argument) and joins them. */
void harness_run_threads(size_t count, void *(*run)(void *argument),
                         void *argument);

/* ---- processes ---- */

/* Runs this program again with these words as arguments, up to NULL, and waits
   for it. Returns its exit status, or 128 plus the signal that ended it. */
int harness_run_self(const char *const *words);

/* ---- a temporary folder ----
 *
 * cmocka_unit_test_setup_teardown(test, temporary_folder_setup,
 * temporary_folder_teardown): *state is the path. It is removed with all that
 * is in it.
 */
int temporary_folder_setup(void **state);
int temporary_folder_teardown(void **state);
/* Removes a folder with everything in it. Returns 0 on success. */
int harness_remove_folder(const char *path);
/* Writes a file into `folder`, and its path to `path`. */
void harness_write_file(char *path, size_t capacity, const char *folder,
                        const char *name, const void *bytes, size_t size);

/* ---- an allocator that fails ----
 *
 * Counts live bytes and checks the sizes that are passed when memory is freed.
 * Call number `fail_at`, counted from 1, returns NULL; 0: none does. Calls
 * while it is held do not count.
 */
typedef struct failing_alloc {
    kiln_alloc alloc; /* pass this on */
    pthread_mutex_t lock;
    uint64_t calls; /* calls that asked for memory */
    uint64_t fail_at;
    int lasting; /* all calls from `fail_at` on fail */
    int held;
    int64_t live_bytes;
    int64_t live_count;
    int size_mismatches; /* old sizes that differ from what was asked for */
} failing_alloc;

void failing_alloc_init(failing_alloc *failing, uint64_t fail_at);
/* Holds the allocator behind `alloc`, or ends that: for the parts of a body
   that prepare, and those that check afterwards whether all is well. */
void failing_alloc_hold(const kiln_alloc *alloc, int held);
/* Fails the test when memory is left or a size differed. */
#define assert_nothing_leaked(failing) \
    harness_check_leaks((failing), __FILE__, __LINE__)
void harness_check_leaks(const failing_alloc *failing, const char *file,
                         int line);

/*
 * Runs body(alloc, env) with the first allocation failing, then with the
 * second, and so on, until in one run nothing fails. That run must return
 * KILN_OK, the others KILN_OK or KILN_ENOMEM, and none may leak. Then repeats
 * all of it with every allocation from the first, the second, ... on failing.
 */
#define assert_survives_failing_alloc(body, env) \
    harness_fail_each((body), (env), #body, __FILE__, __LINE__)
void harness_fail_each(kiln_status (*body)(const kiln_alloc *alloc, void *env),
                       void *env, const char *name, const char *file, int line);

#endif /* KILN_TESTS_HARNESS_H */
