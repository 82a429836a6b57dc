/* cc_peer.c - the comparison in plain C: compiled, kept and loaded. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"

/*
 * This does what programs do that have no compiler of their own: write a file,
 * run cc, load the result, and keep it under a name that is made only of the
 * text and the options. With PEER_THREADS in the environment, OpenMP spreads
 * the loop over all threads.
 */
typedef void kernel(float *y, float a, const float *x, long size);

static const char source[] =
    "void saxpy(float *y, float a, const float *x, long size)\n"
    "{\n"
    "    THREADS\n"
    "    for (long i = 0; i < size; i++)\n"
    "        y[i] = a * x[i] + y[i];\n"
    "}\n"
    "void nothing(float *y, float a, const float *x, long size)\n"
    "{\n"
    "}\n";
static const char variant_source[] =
    "void scaled(float *y, float a, const float *x, long size)\n"
    "{\n"
    "    for (long i = 0; i < size; i++)\n"
    "        y[i] = CONSTANT * x[i] + y[i];\n"
    "}\n";

static const char *const *options;
static const char *const serial[] = {"-DTHREADS=", NULL};
static const char *const threaded[] = {
    "-DTHREADS=_Pragma(\"omp parallel for\")", "-fopenmp", NULL};
static const char *folder;
static void *library;
static kernel *saxpy, *nothing;
static float *whole_y;
static const float *whole_x;
static long whole_size;

static uint64_t digest(uint64_t state, const char *text)
{
    for (; *text; text++)
        state = (state ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return state;
}

static int compile(const char *from, const char *to, const char *constant)
{
    char input[PATH_MAX], output[PATH_MAX];
    union {
        const char *given[16];
        char *taken[16];
    } arguments = {{"cc", "-O3", "-march=native", "-fPIC", "-shared", "-o",
                    output, input, constant}};
    size_t count = 9;
    FILE *file;
    pid_t child;
    int status;

    snprintf(input, sizeof input, "%s.%ld.c", to, (long)getpid());
    snprintf(output, sizeof output, "%s.%ld", to, (long)getpid());
    for (const char *const *option = options; *option; option++)
        arguments.given[count++] = *option;
    file = fopen(input, "w");
    if (!file || fputs(from, file) < 0 || fclose(file) != 0) {
        perror(input);
        return 0;
    }
    if (posix_spawnp(&child, "cc", NULL, NULL, arguments.taken, environ) != 0)
        return 0;
    while (waitpid(child, &status, 0) != child)
        if (errno != EINTR)
            return 0;
    unlink(input);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
           rename(output, to) == 0;
}

/* Returns NULL where cc fails. */
static void *kept_or_compiled(const char *text, const char *constant)
{
    uint64_t name = digest(UINT64_C(0xcbf29ce484222325), text);
    char path[PATH_MAX - 64];
    void *opened;

    name = digest(name, constant);
    for (const char *const *option = options; *option; option++)
        name = digest(name, *option);
    snprintf(path, sizeof path, "%s/%016llx.so", folder,
             (unsigned long long)name);
    opened = access(path, R_OK) == 0 || compile(text, path, constant)
                 ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
                 : NULL;
    if (!opened)
        fprintf(stderr, "%s: not compiled\n", path);
    return opened;
}

static int open_folder(const char *of)
{
    folder = of;
    return 1;
}

static int again(void)
{
    saxpy(whole_y, PEER_A, whole_x, whole_size);
    return 1;
}

static int execute(float *y, const float *x, size_t size)
{
    if (!library) {
        library = kept_or_compiled(source, "-DCONSTANT=0");
        if (!library)
            return 0;
        *(void **)&saxpy = dlsym(library, "saxpy");
        *(void **)&nothing = dlsym(library, "nothing");
    }
    whole_y = y;
    whole_x = x;
    whole_size = (long)size;
    return saxpy && nothing && again();
}

static int launch_nothing(int count)
{
    for (int i = 0; i < count; i++)
        nothing(whole_y, PEER_A, whole_x, 1);
    return 1;
}

static int variant(int constant, float *y, const float *x, size_t size)
{
    char option[32];
    void *opened;
    kernel *scaled = NULL;

    snprintf(option, sizeof option, "-DCONSTANT=%d.0f", constant);
    opened = kept_or_compiled(variant_source, option);
    if (opened)
        *(void **)&scaled = dlsym(opened, "scaled");
    if (!scaled)
        return 0;
    scaled(y, 0, x, (long)size);
    return 1;
}

static void close_nothing(void)
{
}

/* Returns what cc says of itself, up to the first character that JSON cannot
   have. */
static void tell(struct peer_about *about)
{
    FILE *said = popen("cc --version 2>/dev/null", "r");
    char *text =
        said ? fgets(about->version, sizeof about->version, said) : NULL;

    if (said && pclose(said) != 0)
        text = NULL;
    if (!text)
        about->absent = "there is no cc";
    about->version[strcspn(about->version, "\n\"\\")] = '\0';
}

int main(int argc, char **argv)
{
    const struct peer peer = {.about = tell,
                              .open = open_folder,
                              .execute = execute,
                              .again = again,
                              .launch_nothing = launch_nothing,
                              .variant = variant,
                              .close = close_nothing};

    options = getenv("PEER_THREADS") ? threaded : serial;
    return peer_main(argc, argv, &peer);
}
