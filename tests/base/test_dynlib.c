/* test_dynlib.c - libraries that are opened, and where a program's own code is.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/dynlib.h"
#include "base/system/loader.h"
#include "support/harness.h"

#define CHILD "say the folder"

static const int here;

/* What this program says when it is called `name`: as another user, if that is
   not 0. */
static void ask(char out[PATH_MAX], const char *program, const char *name,
                uid_t user)
{
    int ends[2], status = -1;
    ssize_t size;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (dup2(ends[1], 1) < 0 || (user != 0 && setuid(user) != 0))
            _exit(10);
        (void)execl(program, name, CHILD, (char *)NULL);
        _exit(11);
    }
    (void)close(ends[1]);
    size = read(ends[0], out, PATH_MAX - 1);
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    out[size > 0 ? size : 0] = '\0';
}

static int say(void)
{
    char folder[PATH_MAX];

    if (kiln__dynlib_folder(folder, &here) != KILN_OK)
        (void)snprintf(folder, sizeof folder, "none");
    (void)fputs(folder, stdout);
    return 0;
}

static void whatever_a_program_is_called_it_is_where_its_file_is(void **state)
{
    char path[PATH_MAX], folder[PATH_MAX], said[PATH_MAX];

    (void)state;
    assert_non_null(realpath("/proc/self/exe", path));
    (void)snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    ask(said, path, "/bin/ls", 0);
    assert_string_equal(said, folder);
    ask(said, path, "test", 0);
    assert_string_equal(said, folder);
}

/* Its user may have linked to the file from anywhere. */
static void with_more_rights_than_its_user_it_is_nowhere(void **state)
{
    char command[2 * PATH_MAX], path[PATH_MAX], said[PATH_MAX];

    if (geteuid() != 0)
        test_skip(SKIP_MACHINE, "only root makes programs of more rights");
    assert_int_equal(chmod(*state, 0755), 0);
    (void)snprintf(path, sizeof path, "%s/program", (const char *)*state);
    (void)snprintf(command, sizeof command, "cp /proc/%ld/exe '%s'",
                   (long)getpid(), path);
    assert_int_equal(system(command), 0);
    assert_int_equal(chmod(path, 04755), 0);
    ask(said, path, "/bin/ls", 0);
    assert_string_equal(said, (const char *)*state);
    ask(said, path, "/bin/ls", 12345);
    assert_string_equal(said, "none");
}

/* Its constructors would end the process. */
static void without_memory_for_it_no_library_is_opened(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)state;
    test_skip(SKIP_SANITIZER, "it ends a process that gets no memory");
#else
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    struct rlimit before, low;
    kiln_status status;
    void *library = NULL;
    const char *words;

    (void)state;
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%lu", &pages), 1);
    (void)fclose(file);
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    low = before;
    low.rlim_cur = (rlim_t)pages * 4096 + ((rlim_t)8 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &low), 0);
    status = kiln__loader_open(&library, "libutil.so.1", &words);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_int_equal(status, KILN_ENOMEM);
    assert_null(library);
    assert_string_equal(words, "memory has no room for it");
    assert_int_equal(kiln__loader_open(&library, "libutil.so.1", &words),
                     KILN_OK);
    assert_int_equal(dlclose(library), 0);
#endif
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_memory_for_it_no_library_is_opened),
        cmocka_unit_test(whatever_a_program_is_called_it_is_where_its_file_is),
        cmocka_unit_test_setup_teardown(
            with_more_rights_than_its_user_it_is_nowhere,
            temporary_folder_setup, temporary_folder_teardown),
    };

    if (count == 2 && strcmp(arguments[1], CHILD) == 0)
        return say();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
