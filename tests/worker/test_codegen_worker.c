/* test_codegen_worker.c - code from a worker process, and what may go wrong. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen fault thread host */
#include "setting.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* LLVM rounds to no integers of 16 bits, and gives up. */
static const char unselectable_head[] =
    "declare i16 @llvm.lrint.i16.f32(float)\n";
static const char unselectable[] =
    "  %p = alloca float\n"
    "  %v = load volatile float, ptr %p\n"
    "  %t = call i16 @llvm.lrint.i16.f32(float %v)\n"
    "  store volatile i16 %t, ptr %p\n";

/* A worker that behaves so, with a time for a job; 0: the default. */
static setting *open_fake(const char *behaviour, uint32_t timeout_s)
{
    kiln_context_options options = setting_options(KILN_CODEGEN_WORKER);

    setting_behave(behaviour);
    options.codegen_worker = FAKE_WORKER;
    options.codegen_timeout_s = timeout_s;
    return setting_open(&options, 0);
}

/* ---- equal bytes ---- */

typedef struct kept {
    const kiln_artifact *artifacts[4];
} kept;

static void compile_all(kept *out, uint32_t codegen)
{
    static const char *const names[] = {"scale", "powers", "tells"};
    const kiln_context_options options = setting_options(codegen);
    setting *s = setting_open(&options, 0);
    const kiln_kernel *kernel = NULL;

    for (size_t i = 0; i < 3; i++) {
        assert_ok(setting_compile(&kernel, s, names[i], &test_error));
        out->artifacts[i] = kiln_artifact_retain(kiln_kernel_artifact(kernel));
    }
    s->toy.body = "  store i64 42, ptr %item\n";
    assert_ok(setting_compile_toy(&kernel, s, &test_error));
    out->artifacts[3] = kiln_artifact_retain(kiln_kernel_artifact(kernel));
    setting_close(s);
}

static void both_places_give_the_same_artifacts(void **state)
{
    kept inside, outside;

    (void)state;
    compile_all(&inside, KILN_CODEGEN_THREAD);
    compile_all(&outside, KILN_CODEGEN_WORKER);

    for (size_t i = 0; i < 4; i++) {
        const kiln_artifact *a = inside.artifacts[i];
        const kiln_artifact *b = outside.artifacts[i];
        size_t size_a = 0, size_b = 0;
        const void *bytes_a = kiln_artifact_bytes(a, &size_a);
        const void *bytes_b = kiln_artifact_bytes(b, &size_b);

        assert_int_equal(size_a, size_b);
        assert_memory_equal(bytes_a, bytes_b, size_a);
        assert_string_equal(kiln_artifact_format(a), kiln_artifact_format(b));
        assert_int_equal(kiln_artifact_relocation(a),
                         kiln_artifact_relocation(b));
        assert_int_equal(kiln_artifact_kernel(a, 0)->can_fail,
                         kiln_artifact_kernel(b, 0)->can_fail);
        kiln_artifact_release(a);
        kiln_artifact_release(b);
    }
}

static void texts_of_every_stage_are_the_same(void **state)
{
    (void)state;
    for (int32_t form = KILN_EMIT_LLVM; form <= KILN_EMIT_ASM; form++) {
        kiln_blob texts[2];

        for (uint32_t i = 0; i < 2; i++) {
            const kiln_context_options options =
                setting_options(i ? KILN_CODEGEN_WORKER : KILN_CODEGEN_THREAD);
            setting *s = setting_open(&options, 0);
            const kiln_signature signature = setting_signature(s, "powers");

            assert_ok(kiln_emit(&texts[i], s->context, &signature, s->config, 0,
                                form, &test_error));
            setting_close(s);
        }
        assert_blob_equal(texts[0], texts[1].data, texts[1].size);
        kiln_blob_release(&texts[0]);
        kiln_blob_release(&texts[1]);
    }
}

typedef struct emitted {
    kiln_status status;
    kiln_error *error;
    kiln_blob bytes;
} emitted;

/* Of a backend that is not there both places say the same, too. */
static emitted emit_for(const char *target, uint32_t codegen)
{
    const kiln_context_options options = setting_options(codegen);
    setting *s = setting_open(&options, 0);
    const kiln_signature signature = setting_signature(s, "powers");
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;
    emitted e = {0};

    settings.target = target;
    e.status = kiln_config_new(&config, s->context, &settings, &e.error);
    if (e.status == KILN_OK)
        e.status = kiln_emit(&e.bytes, s->context, &signature, config, 0,
                             KILN_EMIT_BINARY, &e.error);
    setting_close(s);
    return e;
}

static void every_backend_gives_the_same_in_both_places(void **state)
{
    static const char *const targets[] = {"host:x86-64", "cuda:sm_80",
                                          "rocm:gfx90a", "spirv"};

    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        emitted a = emit_for(targets[i], KILN_CODEGEN_THREAD);
        emitted b = emit_for(targets[i], KILN_CODEGEN_WORKER);

        assert_int_equal(a.status, b.status);
        if (a.status == KILN_OK) {
            assert_blob_equal(a.bytes, b.bytes.data, b.bytes.size);
            kiln_blob_release(&a.bytes);
            kiln_blob_release(&b.bytes);
        } else {
            assert_string_equal(kiln_error_message(a.error),
                                kiln_error_message(b.error));
        }
        kiln_error_free(a.error);
        kiln_error_free(b.error);
    }
}

/* What a worker made is found by a process that generates code itself: the
   builds that stand in the entry are the same. */
static void an_entry_says_which_code_generator_the_worker_has(void **state)
{
    kiln_context_options options = setting_options(KILN_CODEGEN_WORKER);
    setting *s = setting_open(&options, 1);
    kiln_compile_options how = KILN_COMPILE_OPTIONS_INIT;
    int32_t source = KILN_SOURCE_NONE;
    kiln_signature signature;
    const kiln_kernel *kernel;

    (void)state;
    how.source = &source;
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    setting_close(s);
    options = setting_options(KILN_CODEGEN_THREAD);
    s = setting_open(&options, 1);
    assert_ok(setting_compile(&kernel, s, "powers", &test_error));
    signature = setting_signature(s, "scale");
    assert_ok(kiln_compile(&kernel, s->context, &signature, s->config, &how,
                           &test_error));
    assert_int_equal(source, KILN_SOURCE_STORE);
}

/* ---- lives of workers ---- */

static void a_worker_serves_again_and_ends_with_its_context(void **state)
{
    setting *s = setting_open(NULL, 0);
    const kiln_kernel *kernel;
    int first = 0, second = 0;

    (void)state;
    assert_int_equal(setting_children(), 0);
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    assert_int_equal(setting_list_children(&first, 1), 1);
    assert_ok(setting_compile(&kernel, s, "powers", &test_error));
    assert_int_equal(setting_list_children(&second, 1), 1);
    assert_int_equal(first, second);
    setting_close(s);
    assert_int_equal(setting_children(), 0);
}

static void an_idle_worker_that_ends_is_replaced(void **state)
{
    setting *s = setting_open(NULL, 0);
    const kiln_kernel *kernel;
    int first = 0, second = 0;

    (void)state;
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    assert_int_equal(setting_list_children(&first, 1), 1);
    assert_int_equal(kill(first, SIGKILL), 0);
    /* Until it is dead, and its stream closed; not yet waited for. */
    assert_int_equal(
        waitid(P_PID, (id_t)first, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    assert_ok(setting_compile(&kernel, s, "powers", &test_error));
    assert_int_equal(setting_list_children(&second, 1), 1);
    assert_int_not_equal(first, second);
}

static void a_host_that_waits_for_any_child_takes_nothing(void **state)
{
    setting *s = setting_open(NULL, 0);
    const kiln_kernel *kernel;
    int first = 0;

    (void)state;
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    assert_int_equal(setting_list_children(&first, 1), 1);
    assert_int_equal(kill(first, SIGKILL), 0);
    assert_int_equal(wait(NULL), first);
    assert_ok(setting_compile(&kernel, s, "powers", &test_error));
}

static void a_worker_has_nothing_of_the_hosts(void **state)
{
    setting *s;
    const kiln_kernel *kernel;
    char path[64], target[256] = "";
    const int open_here = fcntl(STDERR_FILENO, F_DUPFD, 40);
    int worker = 0;

    (void)state;
    assert_true(open_here >= 40);
    s = setting_open(NULL, 0);
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    assert_int_equal(setting_list_children(&worker, 1), 1);
    assert_int_equal(getsid(worker), worker);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", worker, open_here);
    assert_true(readlink(path, target, sizeof target - 1) < 0);
    (void)close(open_here);
}

struct many {
    setting *s;
    pthread_barrier_t start;
    thread_report report;
    kiln_signature signatures[4];
    const kiln_type *types[4][2];
    int next;
};

static void *compile_one(void *argument)
{
    struct many *m = argument;
    const int index = __atomic_fetch_add(&m->next, 1, __ATOMIC_RELAXED);
    const kiln_kernel *kernel;

    (void)pthread_barrier_wait(&m->start);
    thread_assert_ok(&m->report,
                     kiln_compile(&kernel, m->s->context, &m->signatures[index],
                                  m->s->config, NULL, NULL));
    return NULL;
}

static void four_threads_have_four_workers_at_most(void **state)
{
    static const char *const texts[] = {"f32", "f64", "i32", "i64"};
    kiln_context_options options = setting_options(KILN_CODEGEN_WORKER);
    struct many m = {.report = THREAD_REPORT_INIT};
    int children;

    (void)state;
    options.workers = 4;
    m.s = setting_open(&options, 0);
    assert_ok(kiln_package_define(m.s->package, "more.kiln",
                                  "kernel plain(y, a)\n"
                                  "    y[global_id(0)] = a\n"
                                  "end\n",
                                  strlen("kernel plain(y, a)\n"
                                         "    y[global_id(0)] = a\n"
                                         "end\n"),
                                  NULL, &test_error));
    for (int i = 0; i < 4; i++) {
        char array[16];

        snprintf(array, sizeof array, "%s[:]", texts[i]);
        m.signatures[i] = (kiln_signature){NULL, m.types[i], 2};
        assert_ok(kiln_type_parse(&m.types[i][0], m.s->context, NULL, array,
                                  &test_error));
        assert_ok(kiln_type_parse(&m.types[i][1], m.s->context, NULL, texts[i],
                                  &test_error));
        assert_ok(kiln_package_function(&m.signatures[i].function, m.s->package,
                                        "plain", &test_error));
    }
    (void)pthread_barrier_init(&m.start, NULL, 4);
    harness_run_threads(4, compile_one, &m);
    (void)pthread_barrier_destroy(&m.start);
    assert_threads_ok(&m.report);
    children = setting_children();
    assert_true(children >= 1 && children <= 4);
}

/* ---- without standard descriptors ---- */

static int compile_with_closed(setting *s)
{
    const kiln_kernel *kernel;

    (void)close(0);
    (void)close(1);
    (void)close(2);
    if (setting_compile(&kernel, s, "scale", NULL) != KILN_OK)
        return 1;
    /* What the host opens now is one of the three, and not ours. */
    if (open("/dev/null", O_RDWR) != 0)
        return 2;
    return setting_compile(&kernel, s, "powers", NULL) == KILN_OK ? 0 : 3;
}

static int status_of_child(pid_t pid)
{
    int result = -1;

    assert_true(pid >= 0);
    assert_int_equal(waitpid(pid, &result, 0), pid);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static void a_host_may_have_closed_its_standard_descriptors(void **state)
{
    setting *s;
    pid_t pid;

    (void)state;
    if (!HARNESS_THREADS_AFTER_FORK || !HARNESS_MALLOC_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    s = setting_open(NULL, 0);
    pid = fork();
    if (pid == 0)
        _exit(compile_with_closed(s));
    assert_int_equal(status_of_child(pid), 0);
}

/* ---- forks ---- */

static int compile_in_child(setting *s, int parents_worker)
{
    const kiln_kernel *kernel;
    int mine[2] = {0, 0};

    if (setting_children() != 0)
        return 1;
    if (setting_compile(&kernel, s, "powers", NULL) != KILN_OK)
        return 2;
    if (setting_list_children(mine, 2) != 1 || mine[0] == parents_worker)
        return 3;
    kiln_context_free(s->context);
    return kill(parents_worker, 0) == 0 ? 0 : 4;
}

static void a_child_of_fork_has_workers_of_its_own(void **state)
{
    setting *s = setting_open(NULL, 0);
    const kiln_kernel *kernel;
    int worker = 0, still = 0;
    pid_t pid;

    (void)state;
    if (!HARNESS_THREADS_AFTER_FORK || !HARNESS_MALLOC_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    assert_int_equal(setting_list_children(&worker, 1), 1);
    pid = fork();
    if (pid == 0)
        _exit(compile_in_child(s, worker));
    assert_int_equal(status_of_child(pid), 0);

    assert_ok(setting_compile(&kernel, s, "tells", &test_error));
    assert_int_equal(setting_list_children(&still, 1), 1);
    assert_int_equal(still, worker);
}

/* A host's callback forks on the very thread that talks to a worker. */
static pid_t forked;

static void fork_once(void *env, const kiln_event *event)
{
    (void)env;
    if (event->kind == KILN_EVENT_STAGE && forked < 0)
        forked = fork();
    /* In the child the worker is gone, and the job fails. */
    if (event->kind == KILN_EVENT_JOB && forked == 0)
        _exit(event->status == KILN_EIO ? 0 : 1);
}

static void a_fork_in_the_midst_of_a_job_takes_no_worker(void **state)
{
    static const kiln_host_ops host = {.size = sizeof host, .event = fork_once};
    kiln_context_options options = setting_options(KILN_CODEGEN_WORKER);
    const kiln_kernel *kernel;
    const kiln_code *code;
    kiln_signature signature;
    setting *s;

    (void)state;
    if (!HARNESS_THREADS_AFTER_FORK || !HARNESS_MALLOC_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    options.host = &host;
    s = setting_open(&options, 0);
    signature = setting_signature(s, "scale");
    forked = 1;
    assert_ok(
        kiln_infer(&code, s->context, &signature, s->config, 0, &test_error));
    forked = -1;
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    assert_true(forked > 0);
    assert_int_equal(status_of_child(forked), 0);
}

/* The child lives on with what it inherited; the worker still sees that its
   libkiln has gone. */
static void a_worker_ends_with_its_libkiln_whatever_forks(void **state)
{
    int pipes[2], worker = 0;
    pid_t pid;

    (void)state;
    if (!HARNESS_THREADS_AFTER_FORK || !HARNESS_MALLOC_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "a child of fork() cannot work under it");
    assert_int_equal(pipe(pipes), 0);
    pid = fork();
    if (pid == 0) {
        setting *s = setting_open(NULL, 0);
        const kiln_kernel *kernel;
        pid_t grandchild;

        (void)close(pipes[0]);
        if (setting_compile(&kernel, s, "scale", NULL) != KILN_OK ||
            setting_list_children(&worker, 1) != 1)
            _exit(1);
        grandchild = fork();
        if (grandchild == 0) {
            (void)close(pipes[1]);
            for (;;)
                pause();
        }
        if (write(pipes[1], &worker, sizeof worker) != sizeof worker ||
            write(pipes[1], &grandchild, sizeof grandchild) !=
                sizeof grandchild)
            _exit(2);
        _exit(0);
    }
    assert_int_equal(read(pipes[0], &worker, sizeof worker), sizeof worker);
    assert_int_equal(status_of_child(pid), 0);
    assert_int_equal(read(pipes[0], &pid, sizeof pid), sizeof pid);
    (void)close(pipes[1]);
    while (kill(worker, 0) == 0)
        usleep(1000); /* the test's time is the bound */
    assert_int_equal(kill(pid, SIGKILL), 0);
    (void)close(pipes[0]);
}

/* ---- what goes wrong ---- */

static void fails_in(uint32_t timeout_s, const char *behaviour,
                     kiln_status status, const char *words)
{
    setting *s = open_fake(behaviour, timeout_s);
    const kiln_kernel *kernel;

    assert_fails(status, words,
                 setting_compile(&kernel, s, "scale", &test_error));
    assert_int_equal(setting_children(), 0);
    /* The next job finds a fresh one, and all the time it needs. */
    setting_behave("pass");
    s->context->codegen_timeout_ns = UINT64_MAX;
    assert_ok(setting_compile(&kernel, s, "powers", &test_error));
    assert_int_equal(setting_children(), 1);
    setting_close(s);
    assert_int_equal(setting_children(), 0);
}

static void fails_with(const char *behaviour, kiln_status status,
                       const char *words)
{
    fails_in(0, behaviour, status, words);
}

static void a_crash_is_an_error_of_the_job(void **state)
{
    (void)state;
    fails_with("segfault", KILN_ECODEGEN,
               "worker crashed (signal 11, Segmentation fault)");
    fails_with("assertion", KILN_ECODEGEN,
               "(signal 6, Aborted): wrong.cpp:12: Assertion `right' failed.");
    fails_with("exits", KILN_ECODEGEN, "ended by itself (status 3)");
    fails_with("killed", KILN_EIO, "was ended (signal 9, Killed)");
    fails_with("no memory", KILN_ENOMEM, "ran out of memory");
}

static void what_hangs_is_ended(void **state)
{
    (void)state;
    fails_in(1, "hangs", KILN_ETIMEDOUT, "took longer than 1 s");
    fails_in(1, "stopped", KILN_ETIMEDOUT, "took longer than 1 s");
    fails_in(1, "silent", KILN_ETIMEDOUT, "took longer than 1 s");
}

static void nonsense_is_an_error(void **state)
{
    (void)state;
    fails_with("garbage at once", KILN_ECORRUPT, "answered nonsense");
    fails_with("huge", KILN_ECORRUPT, "answered nonsense");
    fails_with("damaged", KILN_ECORRUPT, "answered nonsense");
    fails_with("no stage", KILN_ECORRUPT, "answered nonsense");
    fails_with("no failure", KILN_ECORRUPT, "answered nonsense");
    fails_with("question", KILN_ECORRUPT, "answered nonsense");
    fails_with("half", KILN_ECODEGEN, "ended by itself (status 0)");
    /* It has seen no job yet. */
    fails_with("dies at once", KILN_EIO, "ended by itself (status 7)");
    fails_with("closes and lives", KILN_EIO, "is gone");
}

static void a_worker_of_another_build_is_refused(void **state)
{
    (void)state;
    fails_with("other build", KILN_EMISMATCH, "is of build another");
}

static void a_failure_names_the_kernel_and_is_remembered(void **state)
{
    setting *s = open_fake("segfault", 0);
    const kiln_kernel *kernel;

    (void)state;
    assert_fails(KILN_ECODEGEN, "scale",
                 setting_compile(&kernel, s, "scale", &test_error));
    setting_behave("pass");
    assert_fails(KILN_ECODEGEN, "crashed",
                 setting_compile(&kernel, s, "scale", &test_error));
    assert_int_equal(setting_children(), 0);
}

static void what_may_go_well_another_time_is_tried_again(void **state)
{
    setting *s = open_fake("hangs", 1);
    const kiln_kernel *kernel;

    (void)state;
    assert_status(KILN_ETIMEDOUT,
                  setting_compile(&kernel, s, "scale", &test_error));
    setting_behave("pass");
    s->context->codegen_timeout_ns = UINT64_MAX;
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
}

/* ---- LLVM itself ---- */

static void a_fatal_error_of_llvm_parks_a_thread_or_ends_a_worker(void **state)
{
    static const uint32_t places[] = {KILN_CODEGEN_THREAD, KILN_CODEGEN_WORKER};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const kiln_context_options options = setting_options(places[i]);
        setting *s = setting_open(&options, 0);
        const kiln_kernel *kernel;

        s->toy.head = unselectable_head;
        s->toy.body = unselectable;
        assert_fails(KILN_ECODEGEN, "LLVM cannot go on: Cannot select",
                     setting_compile_toy(&kernel, s, &test_error));
        assert_int_equal(setting_children(), 0);
        assert_ok(setting_compile(&kernel, s, "scale", &test_error));
        setting_close(s);
    }
}

/* A type nested so deeply that LLVM's parser has not stack enough. */
static char *deep_type(void)
{
    static const char begin[] = "@deep = internal global ", level[] = "[1 x ",
                      end[] = " zeroinitializer\n";
    enum { LEVELS = 400000 };
    const size_t width = sizeof level - 1;
    char *text = malloc(sizeof begin + sizeof end + LEVELS * (width + 1) + 8);
    char *at = text;

    assert_non_null(text);
    at += sprintf(at, "%s", begin);
    for (int i = 0; i < LEVELS; i++, at += width)
        memcpy(at, level, width);
    at += sprintf(at, "i8");
    memset(at, ']', LEVELS);
    (void)sprintf(at + LEVELS, "%s", end);
    return text;
}

static int compile_deep_inside(const char *head)
{
    const struct rlimit none = {0, 0};
    const kiln_context_options options = setting_options(KILN_CODEGEN_THREAD);
    const kiln_kernel *kernel;
    setting *s;

    (void)setrlimit(RLIMIT_CORE, &none);
    s = setting_open(&options, 0);
    s->toy.head = head;
    return setting_compile_toy(&kernel, s, NULL) == KILN_OK ? 0 : 1;
}

static void a_crash_of_llvm_is_an_error_or_the_end_of_the_host(void **state)
{
    char *head = deep_type();
    const kiln_kernel *kernel;
    setting *s = setting_open(NULL, 0);
    int result = 0;
    pid_t pid;

    (void)state;
    s->toy.head = head;
    assert_fails(KILN_ECODEGEN, "the code generator's worker",
                 setting_compile_toy(&kernel, s, &test_error));
    assert_ok(setting_compile(&kernel, s, "scale", &test_error));
    setting_close(s);

    if (HARNESS_THREADS_AFTER_FORK && HARNESS_MALLOC_AFTER_FORK) {
        pid = fork();
        if (pid == 0)
            _exit(compile_deep_inside(head));
        assert_int_equal(waitpid(pid, &result, 0), pid);
        assert_true(WIFSIGNALED(result));
    }
    free(head);
}

static void an_error_of_the_module_keeps_the_worker(void **state)
{
    setting *s = setting_open(NULL, 0);
    const kiln_kernel *kernel;

    (void)state;
    s->toy.head = "declare void @system(ptr)\n";
    s->toy.body = "  call void @system(ptr %item)\n";
    assert_fails(KILN_ECODEGEN, "undefined function 'system'",
                 setting_compile_toy(&kernel, s, &test_error));
    assert_int_equal(setting_children(), 1);
}

/* The least space that a small kernel finds, then one that is not small. */
static void a_worker_may_be_bounded_in_memory(void **state)
{
    enum { STATEMENTS = 600000, LINE = 64 };
    kiln_context_options options = setting_options(KILN_CODEGEN_WORKER);
    const kiln_kernel *kernel;
    kiln_status status = KILN_ECODEGEN;
    size_t size = 0;
    setting *s = NULL;
    char *body;

    (void)state;
    if (!HARNESS_MALLOC_AFTER_FORK || !HARNESS_THREADS_AFTER_FORK)
        test_skip(SKIP_SANITIZER, "its own memory is beyond every bound");
    body = malloc((size_t)STATEMENTS * LINE);
    assert_non_null(body);
    for (uint64_t mib = 64; status != KILN_OK && mib < 4096; mib += 32) {
        options.codegen_memory = mib << 20;
        if (s)
            setting_close(s);
        s = setting_open(&options, 0);
        status = setting_compile(&kernel, s, "scale", NULL);
    }
    assert_int_equal(status, KILN_OK);
    for (int i = 0; i < STATEMENTS; i++)
        size += (size_t)snprintf(body + size, LINE,
                                 "  store volatile i64 %d, ptr %%item\n", i);
    s->toy.body = body;
    assert_fails(KILN_ENOMEM, "out of memory",
                 setting_compile_toy(&kernel, s, &test_error));
    assert_ok(setting_compile(&kernel, s, "powers", &test_error));
    setting_close(s);
    free(body);
}

/* ---- memory of this process ---- */

static kiln_status emit_with(const kiln_alloc *alloc, void *env)
{
    static const char text[] = "kernel k(y)\n    y[0] = y[1]\nend\n";
    kiln_context_options options = setting_options(KILN_CODEGEN_WORKER);
    kiln_context *context = NULL;
    kiln_package *package = NULL;
    const kiln_config *config = NULL;
    const kiln_type *type = NULL;
    kiln_signature signature = {NULL, &type, 1};
    kiln_blob shown = {0};
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    options.codegen_worker = FAKE_WORKER;
    status = kiln_context_new(&context, &options, NULL);
    if (status != KILN_OK)
        return status;
    status = kiln_config_new(&config, context, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_package_new(&package, context, "p", NULL);
    if (status == KILN_OK)
        status = kiln_package_define(package, "p.kiln", text, sizeof text - 1,
                                     NULL, NULL);
    if (status == KILN_OK)
        status = kiln_package_function(&signature.function, package, "k", NULL);
    if (status == KILN_OK)
        status = kiln_type_parse(&type, context, NULL, "i32[:]", NULL);
    if (status == KILN_OK)
        status = kiln_emit(&shown, context, &signature, config, 0,
                           KILN_EMIT_LLVM, NULL);
    if (status == KILN_OK)
        kiln_blob_release(&shown);
    kiln_context_free(context);
    return status;
}

static void everything_survives_a_failing_allocator(void **state)
{
    (void)state;
    setting_behave("answers");
    assert_survives_failing_alloc(emit_with, NULL);
    assert_int_equal(setting_children(), 0);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, setting_setup, setting_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(both_places_give_the_same_artifacts),
        TEST(texts_of_every_stage_are_the_same),
        TEST(every_backend_gives_the_same_in_both_places),
        TEST(an_entry_says_which_code_generator_the_worker_has),
        TEST(a_worker_serves_again_and_ends_with_its_context),
        TEST(an_idle_worker_that_ends_is_replaced),
        TEST(a_host_that_waits_for_any_child_takes_nothing),
        TEST(a_worker_has_nothing_of_the_hosts),
        TEST(four_threads_have_four_workers_at_most),
        TEST(a_host_may_have_closed_its_standard_descriptors),
        TEST(a_child_of_fork_has_workers_of_its_own),
        TEST(a_fork_in_the_midst_of_a_job_takes_no_worker),
        TEST(a_worker_ends_with_its_libkiln_whatever_forks),
        TEST(a_crash_is_an_error_of_the_job),
        TEST(what_hangs_is_ended),
        TEST(nonsense_is_an_error),
        TEST(a_worker_of_another_build_is_refused),
        TEST(a_failure_names_the_kernel_and_is_remembered),
        TEST(what_may_go_well_another_time_is_tried_again),
        TEST(a_fatal_error_of_llvm_parks_a_thread_or_ends_a_worker),
        TEST(a_crash_of_llvm_is_an_error_or_the_end_of_the_host),
        TEST(an_error_of_the_module_keeps_the_worker),
        TEST(a_worker_may_be_bounded_in_memory),
        TEST(everything_survives_a_failing_allocator),
    };

    /* A parent of nothing else: only workers are children. */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
