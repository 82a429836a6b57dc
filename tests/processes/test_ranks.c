/* test_ranks.c - a job of many ranks builds each kernel once. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host */
#include "workers.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kiln.h"

/*
 * Ranks are processes of this one, which has no threads. Each pair has a
 * socket for each direction of asking; a rank has a thread for each of those
 * that ask it. What they did stands on a board that all see.
 */
#define RANKS 4
#define KEYS 12
#define LIMIT_MS 150000

typedef struct board {
    atomic_uint done;  /* ranks that have all they want */
    atomic_uint built; /* over all ranks */
    atomic_uint fetched;
    atomic_uint failures;
    atomic_uint defined; /* ranks that have the program */
} board;

typedef struct rank {
    uint32_t number;
    kiln_context *context;
    const kiln_config *config;
    kiln_package *package;
    pthread_mutex_t asking[RANKS];
    int broken[RANKS]; /* nothing comes any more */
} rank;

/* What a test makes of the ranks. */
typedef struct plan {
    int shares_folder;
    int dies;    /* rank 1 ends before anybody asks */
    int is_mute; /* rank 1 answers nobody */
    int is_late; /* rank 1 has its program after the others have asked */
    int has_other_program; /* rank 1 has another program */
    int batches;
    uint64_t wait_ms;
} plan;

static board *all;
static plan how;
static int asker[RANKS][RANKS][2]; /* [from][to]: his end, the server's */

/* ---- messages ---- */

static int send_all(int to, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        const ssize_t sent = send(to, at, size, MSG_NOSIGNAL);

        if (sent <= 0)
            return 0;
        at += sent;
        size -= (size_t)sent;
    }
    return 1;
}

static int receive_all(int from, void *bytes, size_t size, int timeout_ms)
{
    char *at = bytes;

    while (size > 0) {
        struct pollfd ready = {.fd = from, .events = POLLIN};
        ssize_t got;

        if (poll(&ready, 1, timeout_ms) <= 0)
            return 0;
        got = recv(from, at, size, 0);
        if (got <= 0)
            return 0;
        at += got;
        size -= (size_t)got;
    }
    return 1;
}

static int send_message(int to, const void *bytes, size_t size)
{
    return send_all(to, &size, sizeof size) && send_all(to, bytes, size);
}

/* The caller frees it; NULL: nothing came. */
static void *receive_message(int from, size_t *size, int timeout_ms)
{
    void *bytes;

    if (!receive_all(from, size, sizeof *size, timeout_ms))
        return NULL;
    bytes = malloc(*size + 1);
    if (bytes && receive_all(from, bytes, *size, timeout_ms))
        return bytes;
    free(bytes);
    return NULL;
}

/* ---- the host's callbacks ---- */

static uint32_t number_of(void *env, uint32_t *count)
{
    *count = RANKS;
    return ((const rank *)env)->number;
}

static void free_reply(kiln_blob *blob)
{
    free((void *)(uintptr_t)blob->data);
    blob->release = NULL;
}

static kiln_status fetch(void *env, uint32_t owner, const void *request,
                         size_t size, uint32_t timeout_ms, kiln_blob *reply)
{
    rank *r = env;
    const int socket = asker[r->number][owner][0];
    void *bytes = NULL;

    pthread_mutex_lock(&r->asking[owner]);
    if (!r->broken[owner] && send_message(socket, request, size))
        bytes = receive_message(socket, &reply->size, (int)timeout_ms);
    r->broken[owner] |= bytes == NULL;
    pthread_mutex_unlock(&r->asking[owner]);
    if (!bytes)
        return KILN_EIO;
    atomic_fetch_add(&all->fetched, 1);
    reply->data = bytes;
    reply->release = free_reply;
    return KILN_OK;
}

static const kiln_host_ops host = {
    .size = sizeof host, .rank = number_of, .fetch = fetch};

typedef struct service {
    rank *rank;
    uint32_t from;
} service;

static void *serve(void *env)
{
    const service *s = env;
    const int socket = asker[s->from][s->rank->number][1];
    size_t size;
    void *request;

    while ((request = receive_message(socket, &size, -1)) != NULL) {
        kiln_blob reply = {0};

        if (how.is_mute && s->rank->number == 1) {
            free(request);
            continue;
        }
        if (kiln_rank_serve(&reply, s->rank->context, request, size, NULL) !=
                KILN_OK ||
            !send_message(socket, reply.data, reply.size))
            atomic_fetch_add(&all->failures, 1);
        kiln_blob_release(&reply);
        free(request);
    }
    return NULL;
}

/* ---- a rank ---- */

static void check(int good)
{
    if (!good)
        atomic_fetch_add(&all->failures, 1);
}

static void define(rank *r)
{
    char text[KEYS * 64] = "";

    for (int i = 0; i < KEYS; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text),
                       "kernel k%d(y)\n    y[global_id(0)] = %d.0\nend\n", i,
                       how.has_other_program && r->number == 1 ? -i : i);
    check(kiln_package_define(r->package, "main.kiln", text, strlen(text), NULL,
                              NULL) == KILN_OK);
    atomic_fetch_add(&all->defined, 1);
}

static void begin(rank *r)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    cache.mode =
        how.shares_folder ? KILN_CACHE_MODE_READ_WRITE : KILN_CACHE_MODE_OFF;
    cache.directory = workers_folder;
    cache.wait_ms = how.wait_ms;
    options.cache = &cache;
    options.host = &host;
    options.host_env = r;
    options.workers = 1;
    for (int i = 0; i < RANKS; i++)
        (void)pthread_mutex_init(&r->asking[i], NULL);
    check(kiln_context_new(&r->context, &options, NULL) == KILN_OK);
    check(kiln_config_new(&r->config, r->context, NULL, NULL) == KILN_OK);
    check(kiln_package_new(&r->package, r->context, "main", NULL) == KILN_OK);
}

static kiln_signature signature_of(const rank *r, int key,
                                   const kiln_type **type)
{
    kiln_signature signature = {.types = type, .count = 1};
    char name[16];

    (void)snprintf(name, sizeof name, "k%d", key);
    check(kiln_type_parse(type, r->context, r->package, "f32[:]", NULL) ==
          KILN_OK);
    check(kiln_package_function(&signature.function, r->package, name, NULL) ==
          KILN_OK);
    return signature;
}

static void run(const rank *r, const kiln_kernel *kernel, int key)
{
    float items[3] = {-1, -1, -1};
    const kiln_array array = {.data = items, .sizes = {3}, .strides = {1}};
    const kiln_launch launch = {.grid = {3, 1, 1}};
    const void *const values[] = {&array};
    const float expected =
        (float)(how.has_other_program && r->number == 1 ? -key : key);
    kiln_device *device = NULL;
    kiln_queue *queue = NULL;

    check(kiln_device_open(&device, r->context, "host", 0, NULL) == KILN_OK);
    check(kiln_queue_new(&queue, device, NULL) == KILN_OK);
    check(kiln_queue_launch(queue, kernel, &launch, values, 1, NULL) ==
          KILN_OK);
    check(kiln_queue_wait(queue, NULL) == KILN_OK);
    check(items[0] == expected && items[2] == expected);
    kiln_queue_free(queue);
    kiln_device_close(device);
}

/* Ranks begin at different keys, and half of them go backwards. */
static void compile_all(const rank *r)
{
    for (int i = 0; i < KEYS; i++) {
        const int step = r->number % 2 ? KEYS - i : i;
        const int key = (step + 3 * (int)r->number) % KEYS;
        const kiln_type *type = NULL;
        const kiln_signature signature = signature_of(r, key, &type);
        const kiln_kernel *kernel = NULL;

        check(kiln_compile(&kernel, r->context, &signature, r->config, NULL,
                           NULL) == KILN_OK);
        if (kernel)
            run(r, kernel, key);
    }
}

static void compile_batch(const rank *r)
{
    const kiln_type *types[KEYS];
    kiln_batch_job jobs[KEYS] = {{.status = 0}};

    for (int i = 0; i < KEYS; i++) {
        jobs[i].signature = signature_of(r, i, &types[i]);
        jobs[i].config = r->config;
    }
    check(kiln_compile_batch(r->context, jobs, KEYS, NULL, NULL) == KILN_OK);
    for (int i = 0; i < KEYS; i++)
        if (jobs[i].kernel)
            run(r, jobs[i].kernel, i);
}

static void wait_until(const atomic_uint *counter, unsigned count)
{
    for (int turn = 0; turn < LIMIT_MS / 2 && atomic_load(counter) < count;
         turn++)
        (void)usleep(2000);
    check(atomic_load(counter) >= count);
}

/* Ends of others would keep their sockets open. */
static void close_others(uint32_t number)
{
    for (uint32_t from = 0; from < RANKS; from++)
        for (uint32_t to = 0; to < RANKS; to++) {
            if (from != number)
                (void)close(asker[from][to][0]);
            if (to != number)
                (void)close(asker[from][to][1]);
        }
}

static service services[RANKS];
static pthread_t servers[RANKS];

static void start_servers(rank *r)
{
    for (uint32_t i = 0; i < RANKS; i++) {
        services[i] = (service){r, i};
        if (i != r->number)
            check(pthread_create(&servers[i], NULL, serve, &services[i]) == 0);
    }
}

/* Nobody asks any more. */
static void end_servers(const rank *r)
{
    for (uint32_t i = 0; i < RANKS; i++) {
        if (i == r->number)
            continue;
        (void)shutdown(asker[i][r->number][1], SHUT_RDWR);
        (void)pthread_join(servers[i], NULL);
    }
}

_Noreturn static void be_rank(uint32_t number)
{
    static rank r;
    kiln_statistics s = {.size = sizeof s};

    r.number = number;
    close_others(number);
    if (how.dies && number == 1)
        _exit(0);
    begin(&r);
    if (!(how.is_late && number == 1))
        define(&r);
    start_servers(&r);
    if (how.is_late && number == 1) {
        wait_until(&all->defined, RANKS - 1);
        (void)usleep(100000);
        define(&r);
    }
    if (how.batches)
        compile_batch(&r);
    else
        compile_all(&r);
    atomic_fetch_add(&all->done, 1);
    wait_until(&all->done, how.dies ? RANKS - 1 : RANKS);
    kiln_statistics_get(&s, r.context);
    atomic_fetch_add(&all->built, (unsigned)s.tiers[KILN_TIER_BINARY].built);
    end_servers(&r);
    kiln_context_free(r.context);
    _exit(0);
}

static void run_ranks(plan given)
{
    pid_t children[RANKS];
    int status;

    how = given;
    *all = (board){.done = 0};
    for (int from = 0; from < RANKS; from++)
        for (int to = 0; to < RANKS; to++)
            assert_int_equal(
                socketpair(AF_UNIX, SOCK_STREAM, 0, asker[from][to]), 0);
    for (uint32_t i = 0; i < RANKS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            be_rank(i);
    }
    close_others(RANKS);
    for (int i = 0; i < RANKS; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(atomic_load(&all->failures), 0);
}

static int setup(void **state)
{
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE,
               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return all == MAP_FAILED ? -1 : workers_setup(state);
}

/* ---- the tests ---- */

#define PATIENT ((uint64_t)3000000)

/* Nothing but the ranks themselves carries kernels here: there is no disk. */
static void each_kernel_is_built_by_its_owner(void **state)
{
    (void)state;
    run_ranks((plan){.wait_ms = PATIENT});
    assert_int_equal(atomic_load(&all->built), KEYS);
    assert_true(atomic_load(&all->fetched) >= KEYS * (RANKS - 1));
}

static void batches_are_built_once_too(void **state)
{
    (void)state;
    run_ranks((plan){.wait_ms = PATIENT, .batches = 1});
    assert_int_equal(atomic_load(&all->built), KEYS);
}

static void ranks_of_one_machine_share_its_folder(void **state)
{
    (void)state;
    run_ranks((plan){.wait_ms = PATIENT, .shares_folder = 1});
    assert_int_equal(atomic_load(&all->built), KEYS);
    run_ranks((plan){.wait_ms = PATIENT, .shares_folder = 1});
    assert_int_equal(atomic_load(&all->built), 0);
    assert_int_equal(atomic_load(&all->fetched), 0);
}

static void an_owner_that_comes_late_is_asked_again(void **state)
{
    (void)state;
    run_ranks((plan){.wait_ms = PATIENT, .is_late = 1});
    assert_int_equal(atomic_load(&all->built), KEYS);
}

/* What it owns is built once on the machine, by whoever comes first. */
static void a_dead_owner_delays_nobody(void **state)
{
    (void)state;
    run_ranks((plan){.wait_ms = PATIENT, .shares_folder = 1, .dies = 1});
    assert_int_equal(atomic_load(&all->built), KEYS);
}

static void an_owner_that_never_answers_is_waited_for_within_the_bound(
    void **state)
{
    (void)state;
    run_ranks((plan){.wait_ms = 1000, .is_mute = 1, .batches = 1});
    assert_true(atomic_load(&all->built) >= KEYS);
    run_ranks((plan){.wait_ms = 1000, .is_mute = 1});
    assert_true(atomic_load(&all->built) >= KEYS);
}

static void an_owner_with_another_program_gives_nothing_wrong(void **state)
{
    (void)state;
    run_ranks((plan){.wait_ms = 1000, .has_other_program = 1});
    assert_true(atomic_load(&all->built) > KEYS);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, setup, workers_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_kernel_is_built_by_its_owner),
        TEST(batches_are_built_once_too),
        TEST(ranks_of_one_machine_share_its_folder),
        TEST(an_owner_that_comes_late_is_asked_again),
        TEST(a_dead_owner_delays_nobody),
        TEST(an_owner_that_never_answers_is_waited_for_within_the_bound),
        TEST(an_owner_with_another_program_gives_nothing_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
