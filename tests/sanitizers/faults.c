/* faults.c - what each sanitizer must find: run with the fault's name. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Volatile, so that no compiler proves what happens and leaves it out. */
static void *volatile kept;
static volatile int32_t largest = INT32_MAX;
static volatile int32_t sink;
static int shared;

static int leak(void)
{
    kept = malloc(64);
    kept = NULL;
    return 0;
}

static int overrun(void)
{
    char *bytes = calloc(1, 8);

    kept = bytes;
    if (bytes != NULL)
        sink = bytes[largest / INT32_MAX * 8];
    free(bytes);
    return 0;
}

static int overflow(void)
{
    sink = largest + 1;
    return 0;
}

static void *count(void *argument)
{
    for (int i = 0; i < 1000; i++)
        shared++;
    return argument;
}

static int race(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, count, NULL) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        (void)pthread_join(threads[i], NULL);
    sink = shared;
    return 0;
}

static const struct fault {
    const char *name;
    int (*run)(void);
} faults[] = {
    {"leak", leak},
    {"overrun", overrun},
    {"overflow", overflow},
    {"race", race},
};

int main(int count_of_words, char **words)
{
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (count_of_words == 2 && strcmp(words[1], faults[i].name) == 0)
            return faults[i].run();
    (void)fputs("usage: faults leak|overrun|overflow|race\n", stderr);
    return 2;
}
