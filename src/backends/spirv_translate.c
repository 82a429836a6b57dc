/* spirv_translate.c - SPIR-V to bitcode, by the translator's own program. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "report.h"
#include "spirv.h"

/*
 * The translator may end its process when it meets something new to it, so it
 * gets one of its own. Module, bitcode and messages are files without names,
 * which it inherits under fixed numbers: nothing is left behind whatever
 * happens, and no pipe can fill up.
 */

#define SAID_MAX 2048
#define BITCODE_MAX ((size_t)256 << 20)

/* Numbers in the translator's process. */
#define MODULE_FD 3
#define MODULE_PATH "/proc/self/fd/3"

typedef struct files {
    int module, bitcode, said; /* or -1 */
} files;

/* ---- files ---- */

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

static void files_close(const files *f)
{
    close_fd(f->module);
    close_fd(f->bitcode);
    close_fd(f->said);
}

/* Away from the numbers that the translator's process is given. */
static int open_file(const char *name)
{
    const int fd = memfd_create(name, MFD_CLOEXEC);
    const int moved = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, MODULE_FD + 1);

    close_fd(fd);
    return moved;
}

static int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(fd, bytes, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return 0;
        bytes += written;
        size -= (size_t)written;
    }
    return 1;
}

static int read_all(int fd, char *bytes, size_t size)
{
    size_t at = 0;

    while (at < size) {
        const ssize_t got = pread(fd, bytes + at, size - at, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        at += (size_t)got;
    }
    return 1;
}

static int files_open(files *f, const void *bytes, size_t size)
{
    *f = (files){open_file("module"), open_file("bitcode"), open_file("said")};
    return f->module >= 0 && f->bitcode >= 0 && f->said >= 0 &&
           write_all(f->module, bytes, size);
}

static size_t file_size(int fd)
{
    struct stat found;

    return fstat(fd, &found) == 0 && found.st_size > 0 ? (size_t)found.st_size
                                                       : 0;
}

/* What the translator said: the first lines, without those of a stack. */
static void read_said(char *text, size_t capacity, const files *f)
{
    size_t size = file_size(f->said);
    char *stack;

    if (size >= capacity)
        size = capacity - 1;
    if (!read_all(f->said, text, size))
        size = 0;
    text[size] = '\0';
    stack = strstr(text, "\nPLEASE submit a bug report");
    if (stack != NULL)
        *stack = '\0';
    while ((size = strlen(text)) > 0 && text[size - 1] == '\n')
        text[size - 1] = '\0';
}

/* ---- the process ---- */

static int set_files(posix_spawn_file_actions_t *actions, const files *f)
{
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO,
                                                 "/dev/null", O_RDONLY, 0);

    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, f->bitcode,
                                                 STDOUT_FILENO);
    if (error == 0)
        error =
            posix_spawn_file_actions_adddup2(actions, f->said, STDERR_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, f->module, MODULE_FD);
    return error;
}

/* A host may block signals that its children need. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none;
    int error;

    sigemptyset(&none);
    error = posix_spawnattr_setsigmask(attributes, &none);
    return error != 0
               ? error
               : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK);
}

static int spawn_one(pid_t *out, const char *program,
                     const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes)
{
    char reverse[] = "-r", to[] = "-o", output[] = "-", module[] = MODULE_PATH;
    char name[] = "llvm-spirv";
    char *const arguments[] = {name, reverse, to, output, module, NULL};

    return posix_spawnp(out, program, actions, attributes, arguments, environ);
}

static int spawn(pid_t *out, const char *program, const files *f)
{
    static const char *const usual[] = {"llvm-spirv-15", "llvm-spirv"};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = set_files(&actions, f);
        if (error == 0)
            error = set_signals(&attributes);
        if (error == 0 && program != NULL)
            error = spawn_one(out, program, &actions, &attributes);
        else if (error == 0)
            error = ENOENT;
        for (size_t i = 0; program == NULL && i < 2 && error == ENOENT; i++)
            error = spawn_one(out, usual[i], &actions, &attributes);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* A host that reaps every child leaves nothing to ask: then the bitcode alone
   tells. */
static int await(const kiln_context *context, pid_t child)
{
    int state = 0;
    pid_t waited;

    kiln__blocking_enter(context);
    do
        waited = waitpid(child, &state, 0);
    while (waited < 0 && errno == EINTR);
    kiln__blocking_leave(context);
    return waited < 0 || (WIFEXITED(state) && WEXITSTATUS(state) == 0);
}

/* ---- the whole ---- */

static kiln_status cannot(kiln_error **error, const char *what, int number)
{
    return kiln__error_set(error, KILN_EIO, "llvm-spirv: %s: %s", what,
                           strerror(number));
}

static kiln_status absent(kiln_error **error, const char *program, int number)
{
    return kiln__error_set(
        error, KILN_EUNSUPPORTED,
        "this OpenCL device takes no SPIR-V, and the translator %s cannot be "
        "run: %s; install it (llvm-spirv-15) or name it in KILN_LLVM_SPIRV",
        program != NULL ? program : "llvm-spirv-15", strerror(number));
}

static kiln_status read_bitcode(kiln_blob *out, const kiln_context *context,
                                const files *f, kiln_error **error)
{
    const size_t size = file_size(f->bitcode);
    char *bytes;

    if (size > BITCODE_MAX)
        return cannot(error, "bitcode", EFBIG);
    bytes = kiln__blob_new(out, &context->alloc, size);
    if (bytes == NULL)
        return kiln__error_no_memory(error);
    if (read_all(f->bitcode, bytes, size))
        return KILN_OK;
    kiln_blob_release(out);
    return cannot(error, "bitcode", errno);
}

static kiln_status run(kiln_blob *out, const kiln_context *context,
                       const char *program, const files *f, kiln_error **error)
{
    pid_t child = 0;
    const int number = spawn(&child, program, f);

    if (number == ENOENT || number == EACCES)
        return absent(error, program, number);
    if (number != 0)
        return cannot(error, "cannot be started", number);
    if (!await(context, child) || file_size(f->bitcode) == 0) {
        char said[SAID_MAX];

        read_said(said, sizeof said, f);
        return kiln__error_set(error, KILN_EDEVICE, "llvm-spirv failed: %s",
                               said[0] != '\0' ? said : "it said nothing");
    }
    return read_bitcode(out, context, f, error);
}

kiln_status kiln__spirv_translate(kiln_blob *out, const kiln_context *context,
                                  const char *program, const void *bytes,
                                  size_t size, kiln_error **error)
{
    kiln_blob legal = {0};
    kiln_status status;
    files f;

    KILN_TRY(kiln__spirv_legalise(&legal, &context->alloc, bytes, size, error));
    if (files_open(&f, legal.data, legal.size))
        status = run(out, context, program, &f, error);
    else
        status = cannot(error, "files in memory", errno);
    files_close(&f);
    kiln_blob_release(&legal);
    return status;
}
