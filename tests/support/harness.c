/* harness.c - the assertions and fixtures that tests share. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/data/endian.h"

/* ---- skipping ---- */

/* Adds the line by one write, so that concurrent programs do not mix their
   lines. */
static void add_line(const char *path, const char *line)
{
    const size_t size = strlen(line);
    const int file =
        open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

    if (file < 0 || write(file, line, size) != (ssize_t)size)
        print_error("%s: %s\n", path, strerror(errno));
    if (file >= 0)
        close(file);
}

int harness_note_skip(const char *kind, const char *what, const char *why)
{
    const char *path = getenv("TEST_SKIPS");
    const char *backend = getenv("KILN_TEST_BACKEND");
    char line[512];

    snprintf(line, sizeof line, "%s: %s%s%s, %s: %s\n", kind,
             program_invocation_short_name, backend != NULL ? " on " : "",
             backend != NULL ? backend : "", what, why);
    print_message("skipped for want of a %s", line);
    if (path != NULL && path[0] != '\0')
        add_line(path, line);
    return HARNESS_SKIP;
}

kiln_digest harness_digest(uint64_t first, uint64_t second)
{
    kiln_digest digest = {0};

    kiln__le64_write(digest.bytes, first);
    kiln__le64_write(digest.bytes + 8, second);
    return digest;
}

/* ---- statuses ---- */

_Thread_local kiln_error *test_error;

/* The next assertion starts without an error, whatever this one's result. */
static void drop_error(void)
{
    kiln_error_free(test_error);
    test_error = NULL;
}

static void show_error(void)
{
    kiln_blob text;

    if (test_error == NULL ||
        kiln_error_render(&text, test_error, KILN_RENDER_PLAIN) != KILN_OK)
        return;
    print_error("%s", (const char *)text.data);
    kiln_blob_release(&text);
}

static void check_status(kiln_status status, kiln_status expected,
                         const char *expression, const char *file, int line)
{
    if (status == expected)
        return;
    print_error("%s\n  returned %s, expected %s\n", expression,
                kiln_status_name(status), kiln_status_name(expected));
    show_error();
    drop_error();
    _fail(file, line);
}

void harness_check_status(kiln_status status, kiln_status expected,
                          const char *expression, const char *file, int line)
{
    check_status(status, expected, expression, file, line);
    drop_error();
}

void harness_check_failure(kiln_status status, kiln_status expected,
                           const char *text, const char *expression,
                           const char *file, int line)
{
    char message[1024] = "(no error object)";

    check_status(status, expected, expression, file, line);
    if (test_error != NULL)
        snprintf(message, sizeof message, "%s", kiln_error_message(test_error));
    drop_error();
    harness_check_contains(message, text, file, line);
}

void harness_check_contains(const char *text, const char *part,
                            const char *file, int line)
{
    if (strstr(text, part) != NULL)
        return;
    print_error("text:\n%s\ndoes not contain:\n%s\n", text, part);
    _fail(file, line);
}

/* ---- threads ---- */

static void record(thread_report *report, const char *expression,
                   const char *detail, const char *file, int line)
{
    pthread_mutex_lock(&report->lock);
    if (!report->failed)
        snprintf(report->text, sizeof report->text, "%s:%d: %s %s", file, line,
                 expression, detail);
    report->failed = 1;
    pthread_mutex_unlock(&report->lock);
}

void harness_thread_check(thread_report *report, int condition,
                          const char *expression, const char *file, int line)
{
    if (!condition)
        record(report, expression, "is false", file, line);
}

void harness_thread_status(thread_report *report, kiln_status status,
                           const char *expression, const char *file, int line)
{
    char detail[64];

    snprintf(detail, sizeof detail, "returned %s", kiln_status_name(status));
    if (status != KILN_OK)
        record(report, expression, detail, file, line);
}

void harness_threads_done(thread_report *report, const char *file, int line)
{
    if (!report->failed)
        return;
    print_error("in a thread: %s\n", report->text);
    _fail(file, line);
}

void harness_run_threads(size_t count, void *(*run)(void *argument),
                         void *argument)
{
    pthread_t threads[64];

    assert_in_range(count, 1, 64);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run, argument), 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* ---- processes ---- */

#define WORDS_MAX 15

int harness_run_self(const char *const *words)
{
    char *arguments[WORDS_MAX + 2] = {program_invocation_short_name};
    size_t count = 0;
    int ending = 0;
    pid_t child;

    while (words[count] != NULL) {
        assert_true(count < WORDS_MAX);
        arguments[count + 1] = (char *)(uintptr_t)words[count];
        count++;
    }
    assert_int_equal(
        posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ),
        0);
    assert_int_equal(waitpid(child, &ending, 0), child);
    return WIFSIGNALED(ending) ? 128 + WTERMSIG(ending) : WEXITSTATUS(ending);
}

/* ---- a temporary folder ---- */

int temporary_folder_setup(void **state)
{
    const char *base = getenv("TMPDIR");
    char path[512];

    snprintf(path, sizeof path, "%s/kiln-test-XXXXXX",
             base == NULL ? "/tmp" : base);
    if (mkdtemp(path) == NULL)
        return -1;
    *state = strdup(path);
    return *state == NULL ? -1 : 0;
}

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

int harness_remove_folder(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int temporary_folder_teardown(void **state)
{
    const int failure = harness_remove_folder(*state);

    free(*state);
    return failure;
}

void harness_write_file(char *path, size_t capacity, const char *folder,
                        const char *name, const void *bytes, size_t size)
{
    FILE *file;

    snprintf(path, capacity, "%s/%s", folder, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- an allocator that fails ---- */

/* Stands before each allocation and knows its size. */
typedef union header {
    size_t size;
    max_align_t alignment;
} header;

static int must_fail(failing_alloc *failing)
{
    if (failing->held)
        return 0;
    failing->calls++;
    return failing->lasting
               ? failing->fail_at != 0 && failing->calls >= failing->fail_at
               : failing->calls == failing->fail_at;
}

static void *allocate(failing_alloc *failing, header *old, size_t new_size)
{
    header *made;

    if (must_fail(failing))
        return NULL;
    made = realloc(old, sizeof *made + new_size);
    if (made == NULL)
        return NULL;
    failing->live_count += old == NULL;
    failing->live_bytes += (int64_t)new_size;
    made->size = new_size;
    return made + 1;
}

static void *failing_realloc(void *env, void *memory, size_t old_size,
                             size_t new_size)
{
    failing_alloc *failing = env;
    header *old = memory == NULL ? NULL : (header *)memory - 1;
    void *result = NULL;

    pthread_mutex_lock(&failing->lock);
    if ((old == NULL ? 0 : old->size) != old_size)
        failing->size_mismatches++;
    old_size = old == NULL ? 0 : old->size;
    if (new_size > 0) {
        result = allocate(failing, old, new_size);
        if (result != NULL)
            failing->live_bytes -= (int64_t)old_size;
    } else if (old != NULL) {
        failing->live_count--;
        failing->live_bytes -= (int64_t)old_size;
        free(old);
    }
    pthread_mutex_unlock(&failing->lock);
    return result;
}

void failing_alloc_init(failing_alloc *failing, uint64_t fail_at)
{
    memset(failing, 0, sizeof *failing);
    failing->alloc.size = sizeof failing->alloc;
    failing->alloc.env = failing;
    failing->alloc.realloc = failing_realloc;
    failing->fail_at = fail_at;
    pthread_mutex_init(&failing->lock, NULL);
}

void failing_alloc_hold(const kiln_alloc *alloc, int held)
{
    failing_alloc *failing = alloc->env;

    pthread_mutex_lock(&failing->lock);
    failing->held = held;
    pthread_mutex_unlock(&failing->lock);
}

void harness_check_leaks(const failing_alloc *failing, const char *file,
                         int line)
{
    if (failing->live_count == 0 && failing->live_bytes == 0 &&
        failing->size_mismatches == 0)
        return;
    print_error("call %llu failing: %lld allocations of %lld bytes left, "
                "%d wrong sizes\n",
                (unsigned long long)failing->fail_at,
                (long long)failing->live_count, (long long)failing->live_bytes,
                failing->size_mismatches);
    _fail(file, line);
}

/* Checks what must hold after every run. */
static void check_run(const failing_alloc *failing, kiln_status status,
                      const char *name, const char *file, int line)
{
    const int nothing_failed = failing->calls < failing->fail_at;

    harness_check_leaks(failing, file, line);
    if (status == KILN_OK || (status == KILN_ENOMEM && !nothing_failed))
        return;
    print_error("%s with allocation %llu%s failing returned %s\n", name,
                (unsigned long long)failing->fail_at,
                failing->lasting ? " and all later ones" : "",
                nothing_failed ? "an error although nothing failed"
                               : kiln_status_name(status));
    _fail(file, line);
}

void harness_fail_each(kiln_status (*body)(const kiln_alloc *alloc, void *env),
                       void *env, const char *name, const char *file, int line)
{
    failing_alloc failing;

    for (int lasting = 0; lasting <= 1; lasting++) {
        uint64_t n = 0;

        do {
            kiln_status status;

            failing_alloc_init(&failing, ++n);
            failing.lasting = lasting;
            status = body(&failing.alloc, env);
            check_run(&failing, status, name, file, line);
        } while (failing.calls >= n);
    }
}
