/* test_closed_descriptors.c - a host closes what it does not know. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault host tiers */
#include "support/harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kiln.h"
#include "kiln/sys/cache_tools.h"

/*
 * A program that becomes a daemon closes all descriptors that it does not
 * know, and opens its own: these get the numbers of the cache's folder, its
 * lock, packs, the trace, the worker process. Each is then looked at: nothing
 * was written to it, read from it, or closed.
 */

#define DESCRIPTORS 60 /* of the host's, from 3 on */

enum { FILES, FOLDERS, SOCKETS, PIPES, EVENTS, KIND_COUNT };

typedef struct host {
    const char *folder;
    int kind;
    int numbers[DESCRIPTORS];
    int others[DESCRIPTORS]; /* the other ends of sockets and pipes */
} host;

/* Ends the child; its line says where. */
#define require(condition) \
    ((condition) ? (void)0 : (void)fail_child(__LINE__, #condition))

static void fail_child(int line, const char *condition)
{
    (void)dprintf(STDERR_FILENO, "line %d: %s (%s)\n", line, condition,
                  strerror(errno));
    _exit(1);
}

/* ---- the host's descriptors ---- */

static const char text[] = "The host's.";

static void path_of(char path[600], const host *h, int i)
{
    (void)snprintf(path, 600, "%s/host-%d", h->folder, i);
}

static int open_file(const host *h, int i)
{
    static const struct timespec times[2] = {{.tv_sec = 1000},
                                             {.tv_sec = 1000}};
    char path[600];
    int file;

    path_of(path, h, i);
    file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    require(file >= 0 && write(file, text, sizeof text) == sizeof text);
    require(futimens(file, times) == 0);
    return file;
}

static int open_folder(const host *h, int i)
{
    char path[600];

    path_of(path, h, i);
    require(mkdir(path, 0700) == 0);
    return open(path, O_RDONLY | O_DIRECTORY);
}

/* Each end has a byte to read, if it can have one. */
static void open_pair(host *h, int i)
{
    int ends[2];

    if (h->kind == SOCKETS)
        require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    else
        require(pipe2(ends, O_NONBLOCK) == 0);
    require(write(ends[1], "x", 1) == 1);
    require(h->kind == PIPES || write(ends[0], "y", 1) == 1);
    h->numbers[i] = ends[0];
    h->others[i] = ends[1];
}

static void open_all(host *h)
{
    for (int i = 0; i < DESCRIPTORS; i++) {
        h->others[i] = -1;
        if (h->kind == FILES)
            h->numbers[i] = open_file(h, i);
        else if (h->kind == FOLDERS)
            h->numbers[i] = open_folder(h, i);
        else if (h->kind == EVENTS)
            h->numbers[i] = eventfd(7, EFD_NONBLOCK);
        else
            open_pair(h, i);
        require(h->numbers[i] >= 3);
    }
}

static void look_at_file(int file)
{
    struct stat facts;
    char back[sizeof text + 1];

    require(fstat(file, &facts) == 0);
    require(facts.st_mtime == 1000);
    require(pread(file, back, sizeof back, 0) == sizeof text);
    require(memcmp(back, text, sizeof text) == 0);
}

static void look_at_folder(const host *h, int i)
{
    char path[600];

    require(fcntl(h->numbers[i], F_GETFD) >= 0);
    path_of(path, h, i);
    require(rmdir(path) == 0); /* there is nothing in it */
}

static void look_at_end(int end, char has)
{
    char byte[2] = "";

    require(end < 0 || !has || read(end, byte, 2) == 1);
    require(end < 0 || !has || byte[0] == has);
    require(end < 0 || fcntl(end, F_GETFD) >= 0);
}

static void look_at_all(const host *h)
{
    uint64_t value = 0;

    for (int i = 0; i < DESCRIPTORS; i++) {
        if (h->kind == FILES)
            look_at_file(h->numbers[i]);
        else if (h->kind == FOLDERS)
            look_at_folder(h, i);
        else if (h->kind == EVENTS)
            require(read(h->numbers[i], &value, sizeof value) == 8 &&
                    value == 7);
        else
            look_at_end(h->numbers[i], 'x');
        look_at_end(h->others[i], h->kind == SOCKETS ? 'y' : '\0');
    }
}

/* ---- what Kiln does meanwhile ---- */

static kiln_context *new_context(const host *h, uint8_t mode)
{
    char disk[600], trace[600];
    kiln_cache_options cache = {
        .size = sizeof cache, .mode = mode, .directory = disk, .trace = trace};
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;

    (void)snprintf(disk, sizeof disk, "%s/cache", h->folder);
    (void)snprintf(trace, sizeof trace, "%s/trace.json", h->folder);
    options.cache = &cache;
    options.codegen = KILN_CODEGEN_WORKER;
    options.codegen_worker = REAL_WORKER;
    require(kiln_context_new(&context, &options, &test_error) == KILN_OK);
    return context;
}

static kiln_status compile(kiln_context *context, int number)
{
    kiln_package *package = NULL;
    const kiln_config *config;
    const kiln_type *type;
    const kiln_kernel *kernel;
    kiln_signature signature = {.types = &type, .count = 1};
    char name[8], code[80];

    (void)snprintf(name, sizeof name, "m%d", number);
    (void)snprintf(code, sizeof code, "kernel k(y)\n    y[0] = %d.0\nend\n",
                   number);
    if (kiln_config_new(&config, context, NULL, &test_error) != KILN_OK ||
        kiln_package_new(&package, context, name, &test_error) != KILN_OK ||
        kiln_package_define(package, "m.kiln", code, strlen(code), NULL,
                            &test_error) != KILN_OK ||
        kiln_package_function(&signature.function, package, "k", &test_error) !=
            KILN_OK ||
        kiln_type_parse(&type, context, package, "f64[:]", &test_error) !=
            KILN_OK)
        return KILN_EINVAL;
    return kiln_compile(&kernel, context, &signature, config, NULL,
                        &test_error);
}

/* What the folder has so far, as a pack in its place. */
static void compact(kiln_context *context)
{
    kiln_cache_report report = {.size = sizeof report};

    require(kiln_cache_compact(&report, context, 0, &test_error) == KILN_OK);
    require(report.entries > 0);
}

static void live(host *h)
{
    kiln_context *context = new_context(h, KILN_CACHE_MODE_READ_WRITE);

    require(compile(context, 1) == KILN_OK);
    compact(context);
    kiln_context_free(context);

    context = new_context(h, KILN_CACHE_MODE_READ_WRITE);
    require(compile(context, 1) == KILN_OK);
    require(compile(context, 2) == KILN_OK);
    require(close_range(3, ~0u, 0) == 0);
    open_all(h);
    for (int i = 1; i <= 4; i++)
        require(compile(context, i) == KILN_OK);
    kiln_context_free(context);
    look_at_all(h);

    context = new_context(h, KILN_CACHE_MODE_MUST_HIT);
    for (int i = 1; i <= 4; i++)
        require(compile(context, i) == KILN_OK);
    kiln_context_free(context);
    _exit(0);
}

static void try_kind(void **state, int kind)
{
    host h = {.folder = *state, .kind = kind};
    const pid_t child = fork();
    int status = -1;

    assert_true(child >= 0);
    if (child == 0)
        live(&h);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void files_of_the_host_stay_as_they_are(void **state)
{
    try_kind(state, FILES);
}

static void nothing_is_put_into_its_folders(void **state)
{
    try_kind(state, FOLDERS);
}

static void nothing_is_sent_to_its_sockets_or_read_there(void **state)
{
    try_kind(state, SOCKETS);
}

static void nor_to_its_pipes(void **state)
{
    try_kind(state, PIPES);
}

static void what_is_no_file_is_not_closed(void **state)
{
    try_kind(state, EVENTS);
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(files_of_the_host_stay_as_they_are),
        IN_FOLDER(nothing_is_put_into_its_folders),
        IN_FOLDER(nothing_is_sent_to_its_sockets_or_read_there),
        IN_FOLDER(nor_to_its_pipes),
        IN_FOLDER(what_is_no_file_is_not_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
