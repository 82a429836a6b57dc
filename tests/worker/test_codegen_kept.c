/* test_codegen_kept.c - inputs of failures, jobs given up, and who generates.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen fault host */
#include "codegen_client/codegen_library.h"
#include "setting.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* LLVM rounds to no integers of 16 bits, and gives up. */
static const char unselectable_head[] =
    "declare i16 @llvm.lrint.i16.f32(float)\n";
static const char unselectable[] =
    "  %p = alloca float\n"
    "  %v = load volatile float, ptr %p\n"
    "  %t = call i16 @llvm.lrint.i16.f32(float %v)\n"
    "  store volatile i16 %t, ptr %p\n";

static setting *open_fake(const char *behaviour, uint32_t codegen, int caches)
{
    kiln_context_options options = setting_options(codegen);

    setting_behave(behaviour);
    options.codegen_worker = FAKE_WORKER;
    return setting_open(&options, caches);
}

/* ---- kept inputs ---- */

/* Of the requests in the folder; the last one's path, if it is asked for. */
static int count_kept(char *path, size_t capacity)
{
    char folder[256];
    const struct dirent *entry;
    int count = 0;
    DIR *list;

    snprintf(folder, sizeof folder, "%s/v2/failed", setting_folder);
    list = opendir(folder);
    if (!list)
        return 0;
    while ((entry = readdir(list)) != NULL)
        if (strstr(entry->d_name, ".request") && entry->d_name[0] != '.') {
            count++;
            if (path)
                snprintf(path, capacity, "%s/%s", folder, entry->d_name);
        }
    (void)closedir(list);
    return count;
}

/* Runs the worker program; what it says goes to a file. */
static int replay(const char *path, char *said, size_t capacity)
{
    char out[256], line[1024];
    FILE *file;
    int status;

    snprintf(out, sizeof out, "%s/said", setting_folder);
    snprintf(line, sizeof line,
             REAL_WORKER " --replay '%s' --codegen " CODEGEN_LIBRARY
                         " -o '%s/made' >'%s' 2>&1",
             path, setting_folder, out);
    status = system(line);
    file = fopen(out, "r");
    assert_non_null(file);
    said[fread(said, 1, capacity - 1, file)] = '\0';
    (void)fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_input_of_a_crash_is_kept_and_can_be_run_again(void **state)
{
    setting *s = open_fake("segfault", KILN_CODEGEN_WORKER, 1);
    const kiln_kernel *kernel;
    const kiln_artifact *artifact;
    char path[512], made[512], said[1024];
    const void *bytes;
    size_t size, length;
    char *again;
    FILE *file;

    (void)state;
    assert_fails(KILN_ECODEGEN, "its input is kept in ",
                 setting_compile(&kernel, s, "scale", &test_error));
    assert_int_equal(count_kept(path, sizeof path), 1);

    assert_int_equal(replay(path, said, sizeof said), 0);
    assert_contains(said, "scale");
    assert_contains(said, "elf");

    setting_close(s);
    s = open_fake("pass", KILN_CODEGEN_WORKER, 1);
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    artifact = kiln_kernel_artifact(kernel);
    bytes = kiln_artifact_bytes(artifact, &size);
    snprintf(made, sizeof made, "%s/made", setting_folder);
    file = fopen(made, "rb");
    assert_non_null(file);
    again = malloc(size + 1);
    assert_non_null(again);
    length = fread(again, 1, size + 1, file);
    (void)fclose(file);
    assert_int_equal(length, size);
    assert_memory_equal(again, bytes, size);
    free(again);
}

static void a_fatal_error_of_llvm_is_there_again(void **state)
{
    setting *s = setting_open(NULL, 1);
    const kiln_kernel *kernel;
    char path[512], said[1024];

    (void)state;
    s->toy.head = unselectable_head;
    s->toy.body = unselectable;
    assert_fails(KILN_ECODEGEN, "v2/failed/",
                 setting_compile_toy(&kernel, s, &test_error));
    assert_int_equal(count_kept(path, sizeof path), 1);
    assert_int_equal(replay(path, said, sizeof said), 1);
    assert_contains(said, "Cannot select");
}

static void errors_of_the_program_are_not_kept(void **state)
{
    setting *s = setting_open(NULL, 1);
    const kiln_kernel *kernel;

    (void)state;
    s->toy.head = "declare void @system(ptr)\n";
    s->toy.body = "  call void @system(ptr %item)\n";
    assert_status(KILN_ECODEGEN, setting_compile_toy(&kernel, s, &test_error));
    assert_int_equal(count_kept(NULL, 0), 0);
}

static void nothing_is_kept_without_a_disk(void **state)
{
    setting *s = open_fake("segfault", KILN_CODEGEN_WORKER, 0);
    kiln_error *error = NULL;
    const kiln_kernel *kernel;

    (void)state;
    assert_int_equal(setting_compile(&kernel, s, "scale", &error),
                     KILN_ECODEGEN);
    assert_null(strstr(kiln_error_message(error), "kept"));
    kiln_error_free(error);
    assert_int_equal(count_kept(NULL, 0), 0);
}

static void eight_inputs_are_kept_and_clearing_drops_them(void **state)
{
    setting *s = open_fake("segfault", KILN_CODEGEN_WORKER, 1);
    kiln_cache_report report = {.size = sizeof report};
    const kiln_kernel *kernel;
    char body[64];

    (void)state;
    s->toy.body = body;
    for (int i = 0; i < 12; i++) {
        snprintf(body, sizeof body, "  store i64 %d, ptr %%item\n", i);
        assert_ok(toy_define(&s->toy, 0, 100 + i, NULL, NULL));
        assert_status(KILN_ECODEGEN,
                      setting_compile_toy(&kernel, s, &test_error));
        assert_int_equal(count_kept(NULL, 0), i < 8 ? i + 1 : 8);
    }
    assert_ok(kiln_cache_clear(&report, s->context, &test_error));
    assert_int_equal(count_kept(NULL, 0), 0);
}

static int is_left(const char *name)
{
    char path[300];

    (void)snprintf(path, sizeof path, "%s/v2/failed/%s", setting_folder, name);
    return access(path, F_OK) == 0;
}

/* A file that is being written, or was when its writer was killed. */
static void leave(const char *name, time_t age)
{
    const struct timespec times[2] = {{time(NULL) - age, 0},
                                      {time(NULL) - age, 0}};
    char folder[300], path[400];

    (void)snprintf(folder, sizeof folder, "%s/v2/failed", setting_folder);
    harness_write_file(path, sizeof path, folder, name, "x", 1);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void what_a_writer_left_is_dropped(void **state)
{
    static const char old[] = ".0123456789abcdef0123456789abcdef.request-1-1";
    static const char young[] = ".0123456789abcdef0123456789abcdef.request-2-2";
    static const char another[] = ".0123456789abcdef.request-3-3";
    setting *s = open_fake("segfault", KILN_CODEGEN_WORKER, 1);
    kiln_cache_report report = {.size = sizeof report};
    const kiln_kernel *kernel;

    (void)state;
    assert_status(KILN_ECODEGEN, setting_compile(&kernel, s, "scale", NULL));
    leave(old, 2 * 3600);
    leave(young, 60);
    leave(another, 2 * 3600);
    assert_status(KILN_ECODEGEN, setting_compile(&kernel, s, "powers", NULL));
    assert_false(is_left(old));
    assert_true(is_left(young));

    assert_ok(kiln_cache_clear(&report, s->context, &test_error));
    assert_false(is_left(young));
    assert_true(is_left(another)); /* none of ours */
}

static void a_damaged_file_is_no_request(void **state)
{
    char path[512], said[1024];

    (void)state;
    harness_write_file(path, sizeof path, setting_folder, "bad.request",
                       "nothing", 7);
    assert_int_equal(replay(path, said, sizeof said), 1);
    assert_contains(said, "is no request");
    assert_int_equal(replay("/nowhere/at.all", said, sizeof said), 1);
    assert_contains(said, "cannot open");
}

/* ---- jobs that are given up ---- */

static kiln_ticket *start(setting *s, const char *name)
{
    const kiln_signature signature = setting_signature(s, name);
    kiln_ticket *ticket = NULL;

    assert_ok(kiln_compile_start(&ticket, s->context, &signature, s->config,
                                 NULL, &test_error));
    return ticket;
}

static void await_workers(int count)
{
    while (setting_children() != count)
        usleep(1000); /* the test's time is the bound */
}

static void a_canceled_job_ends_its_worker(void **state)
{
    setting *s = open_fake("hangs", KILN_CODEGEN_WORKER, 1);
    kiln_error *error = NULL;
    const kiln_kernel *kernel;
    kiln_ticket *ticket = start(s, "scale");

    (void)state;
    await_workers(1);
    assert_status(KILN_EAGAIN, kiln_compile_poll(&kernel, ticket, &test_error));
    kiln_compile_cancel(ticket);
    assert_status(KILN_ECANCELED,
                  kiln_compile_poll(&kernel, ticket, &test_error));
    await_workers(0);
    assert_int_equal(kiln_compile_wait(&kernel, ticket, &error),
                     KILN_ECANCELED);
    assert_null(error);
    kiln_ticket_free(ticket);
    assert_int_equal(count_kept(NULL, 0), 0);

    /* It is nobody's failure: the job is built when it is asked for again. */
    setting_behave("pass");
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
}

static void a_job_that_another_one_waits_for_goes_on(void **state)
{
    setting *s = open_fake("hangs", KILN_CODEGEN_WORKER, 0);
    const kiln_kernel *kernel;
    kiln_ticket *first = start(s, "scale"), *second = start(s, "scale");

    (void)state;
    await_workers(1);
    kiln_compile_cancel(first);
    kiln_compile_cancel(first);
    for (int i = 0; i < 50; i++) {
        assert_status(KILN_EAGAIN,
                      kiln_compile_poll(&kernel, second, &test_error));
        usleep(1000);
    }
    assert_int_equal(setting_children(), 1);
    kiln_compile_cancel(second);
    await_workers(0);
    kiln_ticket_free(first);
    kiln_ticket_free(second);
}

static void a_freed_ticket_cancels_nothing(void **state)
{
    setting *s = open_fake("pass", KILN_CODEGEN_WORKER, 0);
    const kiln_kernel *kernel;
    kiln_statistics counts = {.size = sizeof counts};

    (void)state;
    kiln_ticket_free(start(s, "scale"));
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    kiln_statistics_get(&counts, s->context);
    assert_int_equal(counts.tiers[KILN_TIER_BINARY].built, 1);
    assert_int_equal(counts.tiers[KILN_TIER_BINARY].failed, 0);
}

/* ---- who generates ---- */

static void foreign_code_goes_to_a_worker_by_itself(void **state)
{
    const kiln_context_options options = setting_options(KILN_CODEGEN_DEFAULT);
    setting *s = setting_open(&options, 0);
    const kiln_kernel *kernel;

    (void)state;
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    assert_int_equal(setting_children(), 0);
    assert_ok(setting_compile_toy(&kernel, s, &test_error));
    assert_int_equal(setting_children(), 1);
    assert_string_equal(s->log, "");
}

static void what_a_library_offers_is_taken_out_in_a_worker(void **state)
{
    static const char library[] = "define float @half(float %x) {\n"
                                  "  %r = fmul float %x, 5.0e-1\n"
                                  "  ret float %r\n"
                                  "}\n";
    static const char *const symbols[] = {"half"};
    const kiln_context_options options = setting_options(KILN_CODEGEN_DEFAULT);
    const kiln_runtime_library given = {.size = sizeof given,
                                        .name = "halves",
                                        .symbols = symbols,
                                        .symbol_count = 1,
                                        .bytes = library,
                                        .byte_size = sizeof library - 1};
    setting *s = setting_open(&options, 0);
    const kiln_kernel *kernel;

    (void)state;
    assert_ok(kiln_runtime_add_library(s->context, &given, &test_error));
    s->toy.uses[0] = "half";
    s->toy.head = "declare float @half(float)\n";
    s->toy.body = "  %h = call float @half(float 3.0)\n"
                  "  store float %h, ptr %item\n";
    assert_ok(setting_compile_toy(&kernel, s, &test_error));
    assert_int_equal(setting_children(), 1);
    assert_null(kiln__codegen_library_peek(s->context));
}

static void without_the_program_it_is_done_here_and_said_once(void **state)
{
    static const char *const wrong[] = {"/nowhere/at.all", FAKE_WORKER};

    (void)state;
    setting_behave("other build");
    for (size_t i = 0; i < 2; i++) {
        kiln_context_options options = setting_options(KILN_CODEGEN_AUTO);
        const kiln_kernel *kernel;
        const char *said;
        setting *s;

        options.codegen_worker = wrong[i];
        s = setting_open(&options, 0);
        assert_ok(setting_compile_toy(&kernel, s, &test_error));
        assert_ok(toy_define(&s->toy, 0, 77, NULL, NULL));
        assert_ok(setting_compile_toy(&kernel, s, &test_error));
        assert_int_equal(setting_children(), 0);
        said = strstr(s->log, "is generated in this process");
        assert_non_null(said);
        assert_null(strstr(said + 1, "is generated in this process"));
        setting_close(s);
    }
}

static void a_worker_that_must_be_and_is_not_there_is_an_error(void **state)
{
    kiln_context_options options = setting_options(KILN_CODEGEN_WORKER);
    const kiln_kernel *kernel;
    setting *s;

    (void)state;
    options.codegen_worker = "/nowhere/at.all";
    s = setting_open(&options, 0);
    assert_fails(KILN_ECODEGEN, "/nowhere/at.all, cannot be started: No such",
                 setting_compile(&kernel, s, "scale", &test_error));
    setting_close(s);

    options = setting_options(KILN_CODEGEN_WORKER);
    options.codegen_path = "/nowhere/libkiln-codegen.so";
    s = setting_open(&options, 0);
    assert_fails(KILN_ECODEGEN, "the code generator cannot be opened",
                 setting_compile(&kernel, s, "scale", &test_error));
}

/* ---- settings ---- */

static void variables_are_read_after_options(void **state)
{
    kiln_context_options options = setting_options(KILN_CODEGEN_DEFAULT);
    setting *s;

    (void)state;
    setenv("KILN_CODEGEN", "worker", 1);
    setenv("KILN_CODEGEN_TIMEOUT", "2m", 1);
    setenv("KILN_CODEGEN_MEMORY", "3G", 1);
    s = setting_open(&options, 0);
    assert_int_equal(s->context->codegen_mode, KILN_CODEGEN_WORKER);
    assert_int_equal(s->context->codegen_timeout_ns, 120000000000u);
    assert_int_equal(s->context->codegen_memory, (uint64_t)3 << 30);
    setting_close(s);
    options.codegen = KILN_CODEGEN_THREAD;
    options.codegen_timeout_s = 5;
    options.codegen_memory = 4096;
    s = setting_open(&options, 0);
    assert_int_equal(s->context->codegen_mode, KILN_CODEGEN_THREAD);
    assert_int_equal(s->context->codegen_timeout_ns, 5000000000u);
    assert_int_equal(s->context->codegen_memory, 4096);
    setting_close(s);
    setenv("KILN_CODEGEN_TIMEOUT", "none", 1);
    setenv("KILN_CODEGEN_MEMORY", "none", 1);
    s = setting_open(NULL, 0);
    assert_true(s->context->codegen_timeout_ns == UINT64_MAX);
    assert_int_equal(s->context->codegen_memory, 0);
    unsetenv("KILN_CODEGEN");
}

static void what_makes_no_sense_is_named(void **state)
{
    static const char *const names[] = {"KILN_CODEGEN", "KILN_CODEGEN_TIMEOUT",
                                        "KILN_CODEGEN_MEMORY"};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        setenv(names[i], "much", 1);
        assert_fails(KILN_EINVAL, "is 'much'; it takes",
                     kiln_context_new(&context, NULL, &test_error));
        unsetenv(names[i]);
    }
    options.codegen = 9;
    assert_fails(KILN_EINVAL, "codegen is 9",
                 kiln_context_new(&context, &options, &test_error));
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, setting_setup, setting_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_input_of_a_crash_is_kept_and_can_be_run_again),
        TEST(a_fatal_error_of_llvm_is_there_again),
        TEST(errors_of_the_program_are_not_kept),
        TEST(nothing_is_kept_without_a_disk),
        TEST(eight_inputs_are_kept_and_clearing_drops_them),
        TEST(what_a_writer_left_is_dropped),
        TEST(a_damaged_file_is_no_request),
        TEST(a_canceled_job_ends_its_worker),
        TEST(a_job_that_another_one_waits_for_goes_on),
        TEST(a_freed_ticket_cancels_nothing),
        TEST(foreign_code_goes_to_a_worker_by_itself),
        TEST(what_a_library_offers_is_taken_out_in_a_worker),
        TEST(without_the_program_it_is_done_here_and_said_once),
        TEST(a_worker_that_must_be_and_is_not_there_is_an_error),
        TEST(variables_are_read_after_options),
        TEST(what_makes_no_sense_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
