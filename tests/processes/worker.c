/* worker.c - a process that does what its arguments say, in their order. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kiln.h>

/*
 * Each command takes some arguments and prints one line, which begins with
 * the name of the command. What fails ends the process with status 1.
 */
#define ITEMS_MAX 8

typedef struct worker {
    kiln_context *context;
    const kiln_config *config;
    kiln_mark *mark;
    kiln_ticket *ticket;
    kiln_device *device;      /* that is offline */
    const char *prefix;       /* of every line */
    const char *_Atomic hold; /* file that ends the pause in a build */
} worker;

static kiln_error *error;

static void say(const worker *w, const char *command, const char *text)
{
    printf("%s%s %s\n", w->prefix, command, text);
    (void)fflush(stdout);
}

static void need(const worker *w, const char *command, kiln_status status)
{
    kiln_blob text = {0};
    char *line;

    if (status == KILN_OK)
        return;
    if (kiln_error_render(&text, error, KILN_RENDER_PLAIN) == KILN_OK) {
        line = (char *)(uintptr_t)text.data;
        for (size_t i = 0; i < text.size; i++)
            if (line[i] == '\n')
                line[i] = '|';
        printf("%s%s fails %s %s\n", w->prefix, command,
               kiln_status_name(status), line);
    }
    (void)fflush(stdout);
    _exit(1);
}

/* A test that ended badly leaves nobody behind for long. */
static void wait_for_file(const char *path)
{
    for (int turn = 0; turn < 100000 && access(path, F_OK) != 0; turn++)
        (void)usleep(2000);
}

/* On the thread that builds, while it has the lock of the key. */
static void on_event(void *env, const kiln_event *event)
{
    worker *w = env;
    const char *path;

    if (event->kind != KILN_EVENT_STAGE || event->stage != KILN_STAGE_OPTIMISE)
        return;
    path = atomic_exchange(&w->hold, NULL);
    if (!path)
        return;
    say(w, "held", event->name);
    wait_for_file(path);
}

/* ---- what is compiled ---- */

typedef struct job {
    char function[128];
    kiln_package *package;
    kiln_signature signature;
    const kiln_type *types[KILN_ARGUMENTS_MAX];
} job;

/* "main.f", and types separated by semicolons. */
static void job_init(job *j, const worker *w, const char *command,
                     const char *function, const char *types)
{
    char copy[256], *rest = copy, *text;
    char *dot;

    *j = (job){.signature = {.types = j->types}};
    (void)snprintf(j->function, sizeof j->function, "%s", function);
    (void)snprintf(copy, sizeof copy, "%s", types);
    dot = strchr(j->function, '.');
    *dot = '\0';
    need(w, command,
         kiln_package_new(&j->package, w->context, j->function, &error));
    need(w, command,
         kiln_package_function(&j->signature.function, j->package, dot + 1,
                               &error));
    while ((text = strsep(&rest, ";")) != NULL)
        if (*text)
            need(w, command,
                 kiln_type_parse(&j->types[j->signature.count++], w->context,
                                 j->package, text, &error));
}

static const kiln_kernel *compile(const worker *w, const char *command,
                                  const job *j, int32_t *source)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_kernel *kernel = NULL;

    options.source = source;
    need(w, command,
         kiln_compile(&kernel, w->context, &j->signature, w->config, &options,
                      &error));
    return kernel;
}

/* FUNCTION TYPES: where the kernel came from. */
static void do_compile(worker *w, char *const *arguments)
{
    static const char *const names[] = {"none", "memory", "waited", "store",
                                        "built"};
    char line[300];
    int32_t source = 0;
    job j;

    job_init(&j, w, "compile", arguments[0], arguments[1]);
    (void)compile(w, "compile", &j, &source);
    (void)snprintf(line, sizeof line, "%s %s", names[source], arguments[0]);
    say(w, "compile", line);
}

/* FUNCTION TYPES: compiles it if that can be done. */
static void do_try(worker *w, char *const *arguments)
{
    const kiln_kernel *kernel = NULL;
    kiln_status status;
    job j;

    job_init(&j, w, "try", arguments[0], arguments[1]);
    status =
        kiln_compile(&kernel, w->context, &j.signature, w->config, NULL, NULL);
    say(w, "try", kiln_status_name(status));
}

/* FUNCTION TYPES: begins a build; `finish` waits for it. */
static void do_start(worker *w, char *const *arguments)
{
    job j;

    job_init(&j, w, "start", arguments[0], arguments[1]);
    need(w, "start",
         kiln_compile_start(&w->ticket, w->context, &j.signature, w->config,
                            NULL, &error));
}

static void do_finish(worker *w, char *const *arguments)
{
    const kiln_kernel *kernel = NULL;

    (void)arguments;
    need(w, "finish", kiln_compile_wait(&kernel, w->ticket, &error));
    kiln_ticket_free(w->ticket);
    w->ticket = NULL;
    say(w, "finish", "ok");
}

static void launch(const worker *w, const kiln_kernel *kernel, float *items,
                   uint64_t count)
{
    const kiln_array array = {
        .data = items, .sizes = {(int64_t)count}, .strides = {1}};
    const kiln_launch launch = {.grid = {count, 1, 1}};
    const void *const values[] = {&array};
    kiln_device *device = NULL;
    kiln_queue *queue = NULL;

    need(w, "run", kiln_device_open(&device, w->context, "host", 0, &error));
    need(w, "run", kiln_queue_new(&queue, device, &error));
    need(w, "run",
         kiln_queue_launch(queue, kernel, &launch, values, 1, &error));
    need(w, "run", kiln_queue_wait(queue, &error));
    kiln_queue_free(queue);
    kiln_device_close(device);
}

/* FUNCTION: of one f32[:], over ITEMS_MAX zeros; what it wrote. */
static void do_run(worker *w, char *const *arguments)
{
    float items[ITEMS_MAX] = {0};
    char line[32 * ITEMS_MAX] = "";
    int32_t source;
    job j;

    job_init(&j, w, "run", arguments[0], "f32[:]");
    launch(w, compile(w, "run", &j, &source), items, ITEMS_MAX);
    for (size_t i = 0; i < ITEMS_MAX; i++)
        (void)snprintf(line + strlen(line), sizeof line - strlen(line),
                       i ? " %g" : "%g", (double)items[i]);
    say(w, "run", line);
}

static uint64_t sum_of(const void *bytes, size_t size)
{
    uint64_t sum = 14695981039346656037u;

    for (size_t i = 0; i < size; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return sum;
}

/* FUNCTION TYPES: the key, and the artifact's bytes. */
static void do_digest(worker *w, char *const *arguments)
{
    char text[KILN_DIGEST_TEXT_SIZE], line[200];
    const kiln_artifact *artifact;
    kiln_digest key = {0};
    int32_t source;
    size_t size;
    const void *bytes;
    job j;

    job_init(&j, w, "digest", arguments[0], arguments[1]);
    artifact = kiln_kernel_artifact(compile(w, "digest", &j, &source));
    need(w, "digest",
         kiln_job_key(&key, w->context, &j.signature, w->config, 0, &error));
    kiln_digest_text(key, text);
    bytes = kiln_artifact_bytes(artifact, &size);
    (void)snprintf(line, sizeof line, "%s %016llx", text,
                   (unsigned long long)sum_of(bytes, size));
    say(w, "digest", line);
}

/* ---- programs ---- */

/* PACKAGE FILE TEXT */
static void do_text(worker *w, char *const *arguments)
{
    kiln_package *package = NULL;

    need(w, "text",
         kiln_package_new(&package, w->context, arguments[0], &error));
    need(w, "text",
         kiln_package_define(package, arguments[1], arguments[2],
                             strlen(arguments[2]), NULL, &error));
}

/* PATH */
static void do_load(worker *w, char *const *arguments)
{
    kiln_package *package = NULL;

    need(w, "load",
         kiln_package_load(&package, w->context, arguments[0], NULL, &error));
}

/* FUNCTION PARAMETERS: deletes the method. */
static void do_delete(worker *w, char *const *arguments)
{
    job j;

    job_init(&j, w, "delete", arguments[0], "");
    need(w, "delete",
         kiln_method_delete(j.package, j.signature.function, arguments[1], NULL,
                            NULL, &error));
}

/* TABLES: overlays of the kernels that follow. */
static void do_overlays(worker *w, char *const *arguments)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    options.overlays = arguments[0];
    need(w, "overlays",
         kiln_config_new(&w->config, w->context, &options, &error));
}

/* TARGET: kernels that follow are for it, and never run. */
static void do_offline(worker *w, char *const *arguments)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    options.target = arguments[0];
    need(w, "offline",
         kiln_config_new(&w->config, w->context, &options, &error));
    need(w, "offline",
         kiln_device_open_offline(&w->device, w->context, w->config, &error));
}

/* FUNCTION TYPES: who made it, and of what format it is. */
static void do_about(worker *w, char *const *arguments)
{
    const kiln_artifact *artifact;
    int32_t source;
    job j;

    job_init(&j, w, "about", arguments[0], arguments[1]);
    artifact = kiln_kernel_artifact(compile(w, "about", &j, &source));
    say(w, "about", kiln_artifact_format(artifact));
}

/* How many bytes this process has read from files. */
static void do_bytes_read(worker *w, char *const *arguments)
{
    FILE *file = fopen("/proc/self/io", "r");
    char line[64] = "";

    (void)arguments;
    if (file) {
        (void)!fgets(line, sizeof line, file);
        (void)fclose(file);
    }
    line[strcspn(line, "\n")] = '\0';
    say(w, "bytes_read", line);
}

/* ---- packs ---- */

static void do_mark(worker *w, char *const *arguments)
{
    (void)arguments;
    need(w, "mark", kiln_snapshot(&w->mark, w->context, &error));
}

/* PATH: what came since the mark, or all. */
static void do_delta(worker *w, char *const *arguments)
{
    need(w, "delta",
         kiln_delta_save(w->context, arguments[0], w->mark, NULL, &error));
    kiln_mark_free(w->mark);
    w->mark = NULL;
}

/* PATH */
static void do_insert(worker *w, char *const *arguments)
{
    kiln_pack *pack = NULL;

    need(w, "insert", kiln_pack_open(&pack, arguments[0], &error));
    need(w, "insert", kiln_insert(w->context, pack, &error));
}

/* ---- what can be seen ---- */

static void do_counts(worker *w, char *const *arguments)
{
    static const char *const tiers[] = {"typed", "runtime", "binary"};
    kiln_statistics s = {.size = sizeof s};
    char line[600] = "";

    (void)arguments;
    kiln_statistics_get(&s, w->context);
    for (int i = 0; i < KILN_TIER_COUNT; i++)
        (void)snprintf(
            line + strlen(line), sizeof line - strlen(line),
            "%s_built=%llu %s_stored=%llu %s_stale=%llu %s_toolchain=%llu "
            "%s_different=%llu ",
            tiers[i], (unsigned long long)s.tiers[i].built, tiers[i],
            (unsigned long long)s.tiers[i].store_hits, tiers[i],
            (unsigned long long)s.stores[i].misses[KILN_MISS_STALE], tiers[i],
            (unsigned long long)s.stores[i].misses[KILN_MISS_TOOLCHAIN],
            tiers[i],
            (unsigned long long)s.stores[i].misses[KILN_MISS_DIFFERENT]);
    (void)snprintf(line + strlen(line), sizeof line - strlen(line),
                   "inferred=%llu parsed=%llu emitted=%llu",
                   (unsigned long long)s.stage_count[KILN_STAGE_INFER],
                   (unsigned long long)s.stage_count[KILN_STAGE_PARSE],
                   (unsigned long long)s.stage_count[KILN_STAGE_EMIT]);
    say(w, "counts", line);
}

/* Is the code generator, or LLVM, in this process? */
static void do_mapped(worker *w, char *const *arguments)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int found = 0;

    (void)arguments;
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, "libkiln-codegen") || strstr(line, "libLLVM");
    if (maps)
        (void)fclose(maps);
    say(w, "mapped", found ? "yes" : "no");
}

/* ---- meeting others ---- */

/* FILE: the next build stops, with its lock, until the file is there. */
static void do_hold(worker *w, char *const *arguments)
{
    atomic_store(&w->hold, arguments[0]);
}

static void do_wait(worker *w, char *const *arguments)
{
    (void)w;
    wait_for_file(arguments[0]);
}

static void do_say(worker *w, char *const *arguments)
{
    say(w, "say", arguments[0]);
}

/* Waits until the build that is to be held is. */
static void do_until_held(worker *w, char *const *arguments)
{
    (void)arguments;
    while (atomic_load(&w->hold))
        (void)usleep(1000);
}

/* Parent and child go on with what follows. */
static void do_fork(worker *w, char *const *arguments)
{
    (void)arguments;
    if (fork() == 0)
        w->prefix = "child ";
}

/* A sanitizer's _exit() flushes streams, whose locks another thread of the
   parent may have had. */
static void end_child(void)
{
    (void)syscall(SYS_exit_group, 0);
}

/* A child that no handler of anybody's sees, and that does nothing. */
static void do_hidden_child(worker *w, char *const *arguments)
{
    if (syscall(SYS_fork) == 0) {
        (void)close(STDOUT_FILENO);
        wait_for_file(arguments[0]);
        end_child();
    }
    say(w, "hidden_child", "lives");
}

/* FILE: a child that lives until the file is there. */
static void do_idle_child(worker *w, char *const *arguments)
{
    if (fork() == 0) {
        (void)close(STDOUT_FILENO);
        wait_for_file(arguments[0]);
        end_child();
    }
    say(w, "idle_child", "lives");
}

/* The end of the child; the parent waits for it. */
static void do_join(worker *w, char *const *arguments)
{
    int status = 0;

    (void)arguments;
    if (w->prefix[0]) {
        kiln_context_free(w->context);
        say(w, "join", "ends");
        _exit(0);
    }
    if (wait(&status) < 0 || status != 0) {
        say(w, "join", "fails");
        _exit(1);
    }
    say(w, "join", "ok");
}

/* ---- all of it ---- */

static const struct {
    const char *name;
    int arguments;
    void (*run)(worker *w, char *const *arguments);
} commands[] = {
    {"about", 2, do_about},
    {"bytes_read", 0, do_bytes_read},
    {"offline", 1, do_offline},
    {"compile", 2, do_compile},
    {"counts", 0, do_counts},
    {"delete", 2, do_delete},
    {"delta", 1, do_delta},
    {"digest", 2, do_digest},
    {"finish", 0, do_finish},
    {"fork", 0, do_fork},
    {"hidden_child", 1, do_hidden_child},
    {"hold", 1, do_hold},
    {"idle_child", 1, do_idle_child},
    {"insert", 1, do_insert},
    {"join", 0, do_join},
    {"load", 1, do_load},
    {"mapped", 0, do_mapped},
    {"mark", 0, do_mark},
    {"overlays", 1, do_overlays},
    {"run", 1, do_run},
    {"say", 1, do_say},
    {"start", 2, do_start},
    {"text", 3, do_text},
    {"try", 2, do_try},
    {"until_held", 0, do_until_held},
    {"wait", 1, do_wait},
};

/* The number of arguments that were taken, with the command itself. */
static int run_one(worker *w, int count, char *const *arguments)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, arguments[0]) == 0 &&
            commands[i].arguments < count) {
            commands[i].run(w, arguments + 1);
            return 1 + commands[i].arguments;
        }
    say(w, arguments[0], "fails: no such command");
    exit(2);
}

typedef struct command_line {
    int count;
    char **arguments;
} command_line;

static void *run_all(void *env)
{
    const command_line *line = env;
    const kiln_host_ops host = {.size = sizeof host, .event = on_event};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    worker w = {.prefix = ""};

    options.host = &host;
    options.host_env = &w;
    need(&w, "context", kiln_context_new(&w.context, &options, &error));
    need(&w, "config", kiln_config_new(&w.config, w.context, NULL, &error));
    for (int i = 1; i < line->count;)
        i += run_one(&w, line->count - i, line->arguments + i);
    kiln_device_close(w.device);
    kiln_context_free(w.context);
    return NULL;
}

/* copies.c opens libraries that have it under a name of their own. A thread
   of another copy of the C library cannot even print a number. */
#ifdef WORKER_MODULE
KILN_API int worker_main(int count, char **arguments);

int worker_main(int count, char **arguments)
{
    command_line line = {count, arguments};
    pthread_t thread;

    if (pthread_create(&thread, NULL, run_all, &line) != 0)
        return 1;
    return pthread_join(thread, NULL) != 0;
}
#else
int main(int argc, char **argv)
{
    command_line line = {argc, argv};

    (void)run_all(&line);
    return 0;
}
#endif
