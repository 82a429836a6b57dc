/* workers.c - starts workers over one folder, and reads what they say. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "workers.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/process/namespaces.h"

#define ARGUMENTS_MAX 400

char workers_folder[64];

int workers_setup(void **state)
{
    (void)snprintf(workers_folder, sizeof workers_folder,
                   "/tmp/kiln-test-processes-XXXXXX");
    *state = workers_folder;
    return mkdtemp(workers_folder) ? 0 : -1;
}

int workers_teardown(void **state)
{
    char command[128];

    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf '%s'", workers_folder);
    return system(command);
}

const char *workers_path(const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];

    (void)snprintf(path, sizeof paths[0], "%s/%s", workers_folder, name);
    return path;
}

void workers_touch(const char *name)
{
    const int file = open(workers_path(name), O_CREAT | O_WRONLY, 0600);

    assert_true(file >= 0);
    (void)close(file);
}

static void set_variable(const char *assignment)
{
    char name[64];
    const char *equals = strchr(assignment, '=');

    (void)snprintf(name, sizeof name, "%.*s", (int)(equals - assignment),
                   assignment);
    (void)setenv(name, equals + 1, 1);
}

/* What follows is process 1 of a namespace of its own. */
static void leave_namespace(void)
{
    int status = 0;
    pid_t child;

    if (!namespaces_leave(CLONE_NEWPID))
        _exit(126);
    child = fork();
    if (child == 0)
        return;
    _exit(child < 0 || waitpid(child, &status, 0) != child || status != 0);
}

/* In the child. */
_Noreturn static void become_worker(const char *const *arguments, int output)
{
    const char *list[ARGUMENTS_MAX];
    size_t count = 1;

    (void)dup2(output, STDOUT_FILENO);
    (void)setenv("KILN_CACHE", "rw", 1);
    (void)setenv("KILN_CACHE_DIR", workers_path("cache"), 1);
    for (; *arguments && strchr(*arguments, '='); arguments++)
        set_variable(*arguments);
    for (; *arguments && count + 1 < ARGUMENTS_MAX; arguments++)
        list[count++] = *arguments;
    list[count] = NULL;
    list[0] = getenv("PROGRAM") ? getenv("PROGRAM") : WORKER_PROGRAM;
    if (getenv("FOLDER"))
        (void)!chdir(getenv("FOLDER"));
    if (getenv("FIXED"))
        (void)personality(ADDR_NO_RANDOMIZE);
    if (getenv("UNSHARE"))
        leave_namespace();
    (void)execv(list[0], (char *const *)(uintptr_t)list);
    _exit(127);
}

void worker_start(worker *w, const char *const *arguments)
{
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    w->size = 0;
    w->text[0] = '\0';
    w->output = ends[0];
    w->pid = fork();
    assert_true(w->pid >= 0);
    if (w->pid == 0)
        become_worker(arguments, ends[1]);
    (void)close(ends[1]);
}

/* False at the end of what it says. */
static int read_more(worker *w)
{
    const ssize_t got =
        read(w->output, w->text + w->size, WORKERS_TEXT - 1 - w->size);

    if (got <= 0)
        return 0;
    w->size += (size_t)got;
    w->text[w->size] = '\0';
    return 1;
}

void worker_expect(worker *w, const char *line)
{
    while (!strstr(w->text, line))
        if (!read_more(w))
            fail_msg("a worker ended without \"%s\": %s", line, w->text);
}

int worker_wait(worker *w)
{
    int status = -1;

    while (read_more(w))
        ;
    (void)close(w->output);
    assert_int_equal(waitpid(w->pid, &status, 0), w->pid);
    return status;
}

void worker_end(worker *w)
{
    const int status = worker_wait(w);

    if (status != 0)
        fail_msg("a worker ended with %#x: %s", (unsigned)status, w->text);
}

const char *worker_said(const char *const *arguments)
{
    static worker w;

    worker_start(&w, arguments);
    worker_end(&w);
    return w.text;
}

size_t workers_count(const char *text, const char *part)
{
    size_t count = 0;

    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        count++;
    return count;
}

size_t workers_total(const worker *workers, size_t count, const char *part)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += workers_count(workers[i].text, part);
    return total;
}
