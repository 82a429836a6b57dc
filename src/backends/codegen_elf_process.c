/* codegen_elf_process.c - links by running ld.lld. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "codegen_parts.h"

/*
 * For when lld cannot run in this process any more. Objects are handed over as
 * open files without names; the image comes back in a private folder.
 */

#define IMAGE_MAX ((size_t)256 << 20)

/* Numbers in the linker's process. */
#define INPUT_FD 3
#define INPUT_PATHS "/proc/self/fd/3", "/proc/self/fd/4"

typedef struct workplace {
    const char *const *options;
    int objects[KILN__ELF_OBJECTS_MAX]; /* memory files, or -1 */
    size_t count;
    int said[2]; /* pipe of the linker's messages, or -1 */
    char folder[64];
    char image[80];
    char *message;
    size_t capacity;
} workplace;

static bool failed(workplace *w, const char *what)
{
    snprintf(w->message, w->capacity, "ld.lld: %s: %s", what, strerror(errno));
    return false;
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(fd, bytes, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        size -= (size_t)written;
    }
    return true;
}

/* Away from the numbers that the linker's process is given. */
static bool move_up(int *fd)
{
    const int moved =
        fcntl(*fd, F_DUPFD_CLOEXEC, INPUT_FD + KILN__ELF_OBJECTS_MAX);

    if (moved < 0)
        return false;
    close(*fd);
    *fd = moved;
    return true;
}

static bool open_object(workplace *w, size_t i, const kiln__object *object)
{
    w->objects[i] = memfd_create("kernel.o", MFD_CLOEXEC);
    return w->objects[i] >= 0 && move_up(&w->objects[i]) &&
           write_all(w->objects[i], object->bytes, object->size);
}

static bool open_workplace(workplace *w, const kiln__object *objects)
{
    strcpy(w->folder, "/tmp/kiln-link-XXXXXX");
    if (mkdtemp(w->folder) == NULL) {
        w->folder[0] = '\0';
        return failed(w, "temporary folder");
    }
    snprintf(w->image, sizeof w->image, "%s/image", w->folder);
    for (size_t i = 0; i < w->count; i++)
        if (!open_object(w, i, &objects[i]))
            return failed(w, "memory file");
    if (pipe2(w->said, O_CLOEXEC) != 0 || !move_up(&w->said[1]))
        return failed(w, "pipe");
    return true;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void close_workplace(workplace *w)
{
    for (size_t i = 0; i < KILN__ELF_OBJECTS_MAX; i++)
        close_fd(&w->objects[i]);
    close_fd(&w->said[0]);
    close_fd(&w->said[1]);
    if (w->folder[0] == '\0')
        return;
    unlink(w->image);
    rmdir(w->folder);
}

/* ---- the process ---- */

static int set_files(posix_spawn_file_actions_t *actions, const workplace *w)
{
    int error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO,
                                                 "/dev/null", O_RDONLY, 0);

    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, w->said[1],
                                                 STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(actions, w->said[1],
                                                 STDERR_FILENO);
    for (size_t i = 0; error == 0 && i < w->count; i++)
        error = posix_spawn_file_actions_adddup2(actions, w->objects[i],
                                                 INPUT_FD + (int)i);
    return error;
}

static int spawn(pid_t *out, workplace *w)
{
    static const char *const names[] = {"ld.lld-22", "ld.lld"};
    char inputs[KILN__ELF_OBJECTS_MAX][16] = {INPUT_PATHS};
    char *arguments[KILN__ELF_OPTIONS_MAX + 3 + KILN__ELF_OBJECTS_MAX];
    size_t count = 0;
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);

    if (error != 0)
        return error;
    for (; w->options[count] != NULL; count++)
        memcpy(&arguments[count], &w->options[count],
               sizeof arguments[count]); /* posix_spawn keeps them as is */
    arguments[count++] = (char[]){"-o"};
    arguments[count++] = w->image;
    for (size_t i = 0; i < w->count; i++)
        arguments[count++] = inputs[i];
    arguments[count] = NULL;

    error = set_files(&actions, w);
    if (error == 0)
        error = ENOENT;
    for (size_t i = 0; i < 2 && error == ENOENT; i++)
        error = posix_spawnp(out, names[i], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads what the linker says until it ends; keeps the first line. */
static void read_messages(workplace *w)
{
    char bytes[4096];
    size_t used = 0;
    ssize_t got;

    do {
        got = read(w->said[0], bytes, sizeof bytes);
        for (ssize_t i = 0; i < got; i++)
            if (used + 1 < w->capacity && bytes[i] != '\0')
                w->message[used++] = bytes[i];
    } while (got > 0 || (got < 0 && errno == EINTR));
    w->message[used] = '\0';
    w->message[strcspn(w->message, "\n")] = '\0';
}

static bool run(workplace *w)
{
    pid_t child;
    int state = 0;
    pid_t waited;

    errno = spawn(&child, w);
    if (errno != 0)
        return failed(w, "cannot be started");
    close_fd(&w->said[1]);
    read_messages(w);
    do
        waited = waitpid(child, &state, 0);
    while (waited < 0 && errno == EINTR);

    /* A host that reaps every child leaves nothing to ask: then the image
       alone tells. */
    if (waited < 0 || (WIFEXITED(state) && WEXITSTATUS(state) == 0))
        return true;
    if (w->message[0] == '\0')
        snprintf(w->message, w->capacity, "ld.lld failed");
    return false;
}

/* ---- the image ---- */

static bool read_all(int fd, char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t got = read(fd, bytes, size);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        bytes += got;
        size -= (size_t)got;
    }
    return true;
}

static kiln_status read_image(workplace *w, kiln_blob *out)
{
    int fd = open(w->image, O_RDONLY | O_CLOEXEC);
    kiln_status status = KILN_OK;
    struct stat info;
    char *bytes = NULL;

    if (fd < 0 || fstat(fd, &info) != 0 || info.st_size <= 0 ||
        (uint64_t)info.st_size > IMAGE_MAX) {
        failed(w, "no image");
        status = KILN_ECODEGEN;
    } else {
        bytes = kiln__blob_new(out, &kiln__malloc, (size_t)info.st_size);
        if (bytes == NULL) {
            snprintf(w->message, w->capacity, "out of memory");
            status = KILN_ENOMEM;
        } else if (!read_all(fd, bytes, (size_t)info.st_size)) {
            failed(w, "image");
            out->release(out);
            *out = (kiln_blob){0};
            status = KILN_ECODEGEN;
        }
    }
    close_fd(&fd);
    return status;
}

kiln_status kiln__elf_link_process(const char *const *options,
                                   const kiln__object *objects, size_t count,
                                   kiln_blob *out, char *message,
                                   size_t capacity)
{
    workplace w = {
        .options = options,
        .objects = {-1, -1},
        .count = count,
        .said = {-1, -1},
        .message = message,
        .capacity = capacity,
    };
    kiln_status status = KILN_ECODEGEN;

    message[0] = '\0';
    if (open_workplace(&w, objects) && run(&w))
        status = read_image(&w, out);
    close_workplace(&w);
    return status;
}
