/* copies.c - two copies of the library in one process, each at work. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * copies HOW FIRST SECOND COMMAND... -- COMMAND...: the files are copies of a
 * library that has the worker and all of Kiln in it; each does its commands on
 * a thread of its own. HOW is "names" or "namespaces" (of the loader).
 */
typedef struct copy {
    int (*run)(int count, char **arguments);
    int count;
    char **arguments;
    int status;
} copy;

static void *run_copy(void *env)
{
    copy *c = env;

    c->status = c->run(c->count, c->arguments);
    return NULL;
}

static void open_copy(copy *c, const char *how, const char *path)
{
    void *library = strcmp(how, "namespaces") == 0
                        ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL)
                        : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "worker_main") : NULL;

    if (!symbol) {
        fprintf(stdout, "copies fails: %s\n", dlerror());
        exit(3);
    }
    memcpy(&c->run, &symbol, sizeof symbol);
}

int main(int argc, char **argv)
{
    copy copies[2] = {{.count = 0}, {.count = 0}};
    pthread_t threads[2];
    int at = 3;

    if (argc < 5)
        return 2;
    for (int i = 0; i < 2; i++) {
        open_copy(&copies[i], argv[1], argv[2 + i]);
        copies[i].arguments = argv + at; /* the first one is not looked at */
        at++;
        while (at < argc && strcmp(argv[at], "--") != 0)
            at++;
        copies[i].count = (int)(argv + at - copies[i].arguments);
    }
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, run_copy, &copies[i]) != 0)
            return 4;
    for (int i = 0; i < 2; i++)
        (void)pthread_join(threads[i], NULL);
    return copies[0].status | copies[1].status;
}
