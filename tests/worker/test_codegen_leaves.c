/* test_codegen_leaves.c - what workers leave behind: nothing. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: codegen fault cuda */
#include "setting.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A tool that says where its output is to be, begins it, and hangs. Killed by
   what lets it, it ends; so does what it runs. */
static const char hanging[] =
    "#!/bin/sh\n"
    "while [ $# -gt 0 ]; do\n"
    "  case $1 in -o) out=$2;; esac; shift\n"
    "done\n"
    "echo begun > \"$out\"\n"
    "echo \"$out\" > \"$0.ran.new\" && mv \"$0.ran.new\" \"$0.ran\"\n"
    "exec sleep 100\n";

static char tool[256], temporary[256], ran[300];

static int setup(void **state)
{
    const int result = setting_setup(state);

    if (result != 0)
        return result;
    harness_write_file(tool, sizeof tool, setting_folder, "ptxas", hanging,
                       sizeof hanging - 1);
    (void)snprintf(ran, sizeof ran, "%s.ran", tool);
    (void)snprintf(temporary, sizeof temporary, "%s/tmp", setting_folder);
    return chmod(tool, 0700) != 0 || mkdir(temporary, 0700) != 0 ||
           setenv("KILN_PTXAS", tool, 1) != 0 ||
           setenv("KILN_NVJITLINK", "off", 1) != 0 ||
           setenv("TMPDIR", temporary, 1) != 0;
}

static int teardown(void **state)
{
    (void)unsetenv("KILN_PTXAS");
    (void)unsetenv("KILN_NVJITLINK");
    (void)unsetenv("TMPDIR");
    return setting_teardown(state);
}

static size_t entries_in(const char *folder)
{
    DIR *list = opendir(folder);
    size_t count = 0;

    assert_non_null(list);
    for (const struct dirent *e = readdir(list); e; e = readdir(list))
        count += e->d_name[0] != '.';
    (void)closedir(list);
    return count;
}

static setting *open_with(uint32_t timeout_s)
{
    kiln_context_options options = setting_options(KILN_CODEGEN_WORKER);

    options.codegen_timeout_s = timeout_s;
    return setting_open(&options, 0);
}

static kiln_status make_cubin(setting *s, kiln_error **error)
{
    const kiln_signature signature = setting_signature(s, "scale");
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;
    kiln_blob bytes = {0};
    kiln_status status;

    settings.target = "cuda:sm_80";
    status = kiln_config_new(&config, s->context, &settings, error);
    if (status == KILN_OK)
        status = kiln_emit(&bytes, s->context, &signature, config, 0,
                           KILN_EMIT_BINARY, error);
    kiln_blob_release(&bytes);
    return status;
}

/* ---- tests ---- */

static void a_helper_has_a_folder_which_goes_with_it(void **state)
{
    const kiln_kernel *kernel;
    setting *s = open_with(0);

    (void)state;
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    assert_int_equal(entries_in(temporary), 1);
    setting_close(s);
    assert_int_equal(entries_in(temporary), 0);
}

static void a_helper_that_is_killed_leaves_nothing_of_its_tools(void **state)
{
    setting *s = open_with(3);

    (void)state;
    assert_fails(KILN_ETIMEDOUT, "took longer", make_cubin(s, &test_error));
    assert_int_equal(access(ran, F_OK), 0);
    assert_int_equal(entries_in(temporary), 0);
    assert_int_equal(setting_children(), 0);
    setting_close(s);
}

static pid_t start_host(void)
{
    const pid_t host = fork();

    if (host == 0) {
        (void)make_cubin(open_with(0), NULL);
        _exit(1);
    }
    return host;
}

/* Then nobody but the worker can: its folder is gone when it is. */
static void a_host_that_is_killed_leaves_nothing_either(void **state)
{
    pid_t host;
    int ending;

    (void)state;
    if (!HARNESS_THREADS_AFTER_FORK || !HARNESS_MALLOC_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    host = start_host();
    assert_true(host > 0);
    while (access(ran, F_OK) != 0) {
        assert_int_equal(waitpid(host, &ending, WNOHANG), 0);
        (void)usleep(1000);
    }
    assert_int_equal(entries_in(temporary), 1);
    assert_int_equal(kill(host, SIGKILL), 0);
    assert_int_equal(waitpid(host, &ending, 0), host);
    while (entries_in(temporary) > 0)
        (void)usleep(1000); /* the test's time is the bound */
}

static void a_child_of_fork_leaves_its_parents_folders_alone(void **state)
{
    const kiln_kernel *kernel;
    setting *s = open_with(0);
    pid_t child;
    int ending;

    (void)state;
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    child = fork();
    if (child == 0) {
        kiln_context_free(s->context);
        _exit(entries_in(temporary) != 1);
    }
    assert_int_equal(waitpid(child, &ending, 0), child);
    assert_int_equal(ending, 0);
    assert_int_equal(entries_in(temporary), 1);
    setting_close(s);
    assert_int_equal(entries_in(temporary), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static int has_cuda(void)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;
    kiln_context *context = NULL;
    int has;

    settings.target = "cuda:sm_80";
    has = kiln_context_new(&context, NULL, NULL) == KILN_OK &&
          kiln_config_new(&config, context, &settings, NULL) == KILN_OK;
    kiln_context_free(context);
    return has;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_helper_has_a_folder_which_goes_with_it),
        TEST(a_helper_that_is_killed_leaves_nothing_of_its_tools),
        TEST(a_host_that_is_killed_leaves_nothing_either),
        TEST(a_child_of_fork_leaves_its_parents_folders_alone),
    };

    if (!has_cuda())
        return program_skip(SKIP_PACKAGE, "this build has no backend cuda");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
