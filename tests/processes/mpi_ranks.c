/* mpi_ranks.c - the ranks of an MPI job build each kernel once. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kiln.h>

/*
 * A message is the number of the request in front of the bytes; the reply has
 * that number as its tag. One thread of each rank receives and serves; an
 * empty message ends it. No two threads use one tag.
 */
#define KEYS 12
#define TAG_REQUEST 1
#define TAG_REPLY 100

typedef struct job {
    int rank, size;
    kiln_context *context;
    const kiln_config *config;
    kiln_package *package;
    atomic_int requests;
    atomic_int failures;
} job;

static job j;

static void check(int good, int line)
{
    if (good)
        return;
    atomic_fetch_add(&j.failures, 1);
    fprintf(stderr, "mpi_ranks.c:%d: rank %d fails\n", line, j.rank);
}

#define CHECK(good) check((good), __LINE__)

/* ---- the host's callbacks ---- */

static uint32_t number_of(void *env, uint32_t *count)
{
    (void)env;
    *count = (uint32_t)j.size;
    return (uint32_t)j.rank;
}

static void free_reply(kiln_blob *blob)
{
    free((void *)(uintptr_t)blob->data);
    blob->release = NULL;
}

/* Polls: MPI has no wait with an end. */
static int await(int owner, int tag, double seconds, MPI_Message *message,
                 MPI_Status *status)
{
    const struct timespec pause = {.tv_nsec = 200000};
    const double end = MPI_Wtime() + seconds;
    int found = 0;

    while (!found && MPI_Wtime() < end) {
        if (MPI_Improbe(owner, tag, MPI_COMM_WORLD, &found, message, status) !=
            MPI_SUCCESS)
            return 0;
        if (!found)
            (void)nanosleep(&pause, NULL);
    }
    return found;
}

static kiln_status fetch(void *env, uint32_t owner, const void *request,
                         size_t size, uint32_t timeout_ms, kiln_blob *reply)
{
    const int number = atomic_fetch_add(&j.requests, 1);
    char *bytes = malloc(sizeof number + size);
    MPI_Message message;
    MPI_Status status;
    int count = 0;

    (void)env;
    if (!bytes)
        return KILN_ENOMEM;
    memcpy(bytes, &number, sizeof number);
    memcpy(bytes + sizeof number, request, size);
    CHECK(MPI_Send(bytes, (int)(sizeof number + size), MPI_BYTE, (int)owner,
                   TAG_REQUEST, MPI_COMM_WORLD) == MPI_SUCCESS);
    free(bytes);
    if (!await((int)owner, TAG_REPLY + number, timeout_ms / 1000.0, &message,
               &status))
        return KILN_EIO;
    CHECK(MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS);
    bytes = malloc((size_t)count + 1);
    CHECK(MPI_Mrecv(bytes, count, MPI_BYTE, &message, MPI_STATUS_IGNORE) ==
          MPI_SUCCESS);
    *reply = (kiln_blob){bytes, (size_t)count, free_reply, NULL};
    return KILN_OK;
}

static void answer(const char *bytes, int count, int source)
{
    kiln_blob reply = {0};
    int number;

    memcpy(&number, bytes, sizeof number);
    CHECK(kiln_rank_serve(&reply, j.context, bytes + sizeof number,
                          (size_t)count - sizeof number, NULL) == KILN_OK);
    CHECK(MPI_Send(reply.data, (int)reply.size, MPI_BYTE, source,
                   TAG_REPLY + number, MPI_COMM_WORLD) == MPI_SUCCESS);
    kiln_blob_release(&reply);
}

static void *serve(void *env)
{
    int count = 1;

    (void)env;
    while (count > 0) {
        MPI_Message message;
        MPI_Status status;
        char *bytes;

        CHECK(MPI_Mprobe(MPI_ANY_SOURCE, TAG_REQUEST, MPI_COMM_WORLD, &message,
                         &status) == MPI_SUCCESS);
        CHECK(MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS);
        bytes = malloc((size_t)count + 1);
        CHECK(bytes != NULL);
        CHECK(MPI_Mrecv(bytes, count, MPI_BYTE, &message, MPI_STATUS_IGNORE) ==
              MPI_SUCCESS);
        if (count > 0)
            answer(bytes, count, status.MPI_SOURCE);
        free(bytes);
    }
    return NULL;
}

/* ---- the program ---- */

static void begin(void)
{
    static const kiln_host_ops host = {
        .size = sizeof host, .rank = number_of, .fetch = fetch};
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    char text[KEYS * 64] = "";

    cache.mode = KILN_CACHE_MODE_OFF;
    cache.wait_ms = 3000000;
    options.cache = &cache;
    options.host = &host;
    CHECK(kiln_context_new(&j.context, &options, NULL) == KILN_OK);
    CHECK(kiln_config_new(&j.config, j.context, NULL, NULL) == KILN_OK);
    CHECK(kiln_package_new(&j.package, j.context, "main", NULL) == KILN_OK);
    for (int i = 0; i < KEYS; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text),
                       "kernel k%d(y)\n    y[global_id(0)] = %d.0\nend\n", i,
                       i);
    CHECK(kiln_package_define(j.package, "main.kiln", text, strlen(text), NULL,
                              NULL) == KILN_OK);
}

/* Each rank in another order. */
static void compile_all(void)
{
    const kiln_type *type = NULL;

    CHECK(kiln_type_parse(&type, j.context, NULL, "f32[:]", NULL) == KILN_OK);
    for (int i = 0; i < KEYS; i++) {
        kiln_signature signature = {.types = &type, .count = 1};
        const kiln_kernel *kernel = NULL;
        char name[16];

        (void)snprintf(name, sizeof name, "k%d", (i * 5 + j.rank * 3) % KEYS);
        CHECK(kiln_package_function(&signature.function, j.package, name,
                                    NULL) == KILN_OK);
        CHECK(kiln_compile(&kernel, j.context, &signature, j.config, NULL,
                           NULL) == KILN_OK);
    }
}

/* Of all ranks: exactly one build for each kernel. */
static void count_builds(void)
{
    kiln_statistics s = {.size = sizeof s};
    unsigned long mine, sum = 0;

    kiln_statistics_get(&s, j.context);
    mine = (unsigned long)s.tiers[KILN_TIER_BINARY].built;
    CHECK(MPI_Allreduce(&mine, &sum, 1, MPI_UNSIGNED_LONG, MPI_SUM,
                        MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(sum == KEYS);
    if (j.rank == 0)
        printf("%lu builds of %d kernels by %d ranks\n", sum, KEYS, j.size);
}

/* As tests/support/harness.h says, whose library a consumer does not link. */
static void note_skip(const char *line)
{
    const char *path = getenv("TEST_SKIPS");
    FILE *file = j.rank == 0 && path != NULL ? fopen(path, "a") : NULL;

    printf("skipped for want of a %s", line);
    if (file != NULL) {
        (void)fputs(line, file);
        (void)fclose(file);
    }
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided = 0;

    (void)MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &j.size);
    if (provided < MPI_THREAD_MULTIPLE) {
        note_skip("package: mpi_ranks, all of it: this MPI takes one thread\n");
        (void)MPI_Finalize();
        return 77;
    }
    begin();
    CHECK(pthread_create(&thread, NULL, serve, NULL) == 0);
    compile_all();
    (void)MPI_Barrier(MPI_COMM_WORLD);
    (void)MPI_Send(NULL, 0, MPI_BYTE, j.rank, TAG_REQUEST, MPI_COMM_WORLD);
    (void)pthread_join(thread, NULL);
    count_builds();
    kiln_context_free(j.context);
    (void)MPI_Finalize();
    return atomic_load(&j.failures) != 0;
}
