/* temp_dir.c - private temporary folders, and names that nobody guesses. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/system/temp_dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define DESCRIPTORS 8 /* open at once, for nftw() */
#define TRIES 100     /* a millisecond each */

static int make_below(char *path, size_t capacity, const char *parent,
                      const char *name)
{
    int size;

    if (parent == NULL || *parent != '/')
        return 0;
    size = snprintf(path, capacity, "%s/%s-XXXXXX", parent, name);
    return size > 0 && (size_t)size < capacity && mkdtemp(path) != NULL;
}

int kiln__temporary_new(char *path, size_t capacity, const char *name)
{
    if (make_below(path, capacity, secure_getenv("TMPDIR"), name) ||
        make_below(path, capacity, "/tmp", name))
        return 1;
    path[0] = '\0';
    return 0;
}

static int remove_one(const char *path, const struct stat *facts, int type,
                      struct FTW *place)
{
    (void)facts;
    (void)type;
    (void)place;
    return remove(path) != 0 && errno != ENOENT;
}

void kiln__temporary_remove(const char *path)
{
    const struct timespec moment = {.tv_nsec = 1000000};

    /* Most folders are empty: rmdir() needs no descriptor and no memory. */
    if (path[0] == '\0' || rmdir(path) == 0)
        return;
    for (int i = 0; i < TRIES; i++) {
        if (nftw(path, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS) == 0 ||
            (errno != ENOTEMPTY && errno != ENOENT) || access(path, F_OK) != 0)
            return;
        (void)nanosleep(&moment, NULL);
    }
}

/* Soon after the machine's start there may be no random bits. Waiting for them
   would stop the host for as long as that takes. */
int kiln__random_name(char name[KILN__RANDOM_NAME_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bits[16];

    name[0] = '\0';
    if (getrandom(bits, sizeof bits, GRND_NONBLOCK) != (ssize_t)sizeof bits)
        return 0;
    for (size_t i = 0; i < sizeof bits; i++) {
        name[2 * i] = digits[bits[i] >> 4];
        name[2 * i + 1] = digits[bits[i] & 15];
    }
    name[2 * sizeof bits] = '\0';
    return 1;
}
