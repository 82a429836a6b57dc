/* test_rank_serve.c - what ranks tell each other, right and wrong. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/decoder.h"
#include "context/keys/key.h"
#include "kiln.h"
#include "pipeline/ranks.h"
#include "support/frontend/toy_frontend.h"
#include "support/harness.h"
#include "tiers/binary/artifact.h"
#include "tiers/binary/artifact_meta.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/entry_writer.h"

/*
 * Two contexts of one process are two ranks: what one fetches the other one
 * serves, at once. The test may spoil what is said.
 */
typedef struct rank {
    uint32_t number;
    kiln_context *context;
    const kiln_config *config;
    kiln_package *package;
    struct toy toy;
} rank;

static rank ranks[2];
static void *seen; /* the last request */
static size_t seen_size;
static void (*spoil)(char *reply, size_t *size);
static int fetches;
static int fetched; /* the kernel that ask_for_one() asked for */

static uint32_t number_of(void *env, uint32_t *count)
{
    *count = 2;
    return ((const rank *)env)->number;
}

static void note_request(const void *request, size_t size)
{
    free(seen);
    seen = malloc(size);
    assert_non_null(seen);
    memcpy(seen, request, size);
    seen_size = size;
    fetches++;
}

static kiln_status fetch(void *env, uint32_t owner, const void *request,
                         size_t size, uint32_t timeout_ms, kiln_blob *reply)
{
    kiln_status status;

    (void)env;
    (void)timeout_ms;
    note_request(request, size);
    if (owner > 1)
        return KILN_EINVAL;
    status = kiln_rank_serve(reply, ranks[owner].context, request, size, NULL);
    if (status == KILN_OK && spoil)
        spoil((char *)(uintptr_t)reply->data, &reply->size);
    return status;
}

static const kiln_host_ops host = {
    .size = sizeof host, .rank = number_of, .fetch = fetch};

static void begin(uint32_t number)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    rank *r = &ranks[number];

    *r = (rank){.number = number};
    cache.mode = KILN_CACHE_MODE_OFF;
    cache.wait_ms = 1000;
    options.cache = &cache;
    options.host = &host;
    options.host_env = r;
    options.workers = 1;
    assert_ok(kiln_context_new(&r->context, &options, &test_error));
    assert_ok(kiln_config_new(&r->config, r->context, NULL, &test_error));
    assert_ok(kiln_package_new(&r->package, r->context, "main", &test_error));
    assert_ok(toy_open(&r->toy, r->context, &test_error));
}

static void define(rank *r, const char *text)
{
    assert_ok(kiln_package_define(r->package, "main.kiln", text, strlen(text),
                                  NULL, &test_error));
}

#define KERNELS 8
#define TEXT \
    "kernel k0(y)\nend\nkernel k1(y)\n    y[0] = 1.0\nend\n" \
    "kernel k2(y)\n    y[0] = 2.0\nend\nkernel k3(y)\n    y[0] = 3.0\nend\n" \
    "kernel k4(y)\n    y[0] = 4.0\nend\nkernel k5(y)\n    y[0] = 5.0\nend\n" \
    "kernel k6(y)\n    y[0] = 6.0\nend\nkernel k7(y)\n    y[0] = 7.0\nend\n"

static int setup(void **state)
{
    (void)state;
    spoil = NULL;
    fetches = 0;
    for (uint32_t i = 0; i < 2; i++)
        begin(i);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        kiln_context_free(ranks[i].context);
    free(seen);
    seen = NULL;
    return 0;
}

static kiln_signature signature_of(const rank *r, int kernel,
                                   const kiln_type **type)
{
    kiln_signature signature = {.types = type, .count = 1};
    char name[16];

    (void)snprintf(name, sizeof name, "k%d", kernel);
    assert_ok(
        kiln_type_parse(type, r->context, r->package, "f32[:]", &test_error));
    assert_ok(kiln_package_function(&signature.function, r->package, name,
                                    &test_error));
    return signature;
}

/* Where the kernel came from. */
static int32_t compile(const rank *r, int kernel, const kiln_config *config)
{
    kiln_compile_options options = KILN_COMPILE_OPTIONS_INIT;
    const kiln_type *type = NULL;
    const kiln_signature signature = signature_of(r, kernel, &type);
    const kiln_kernel *made = NULL;
    int32_t source = -1;

    options.source = &source;
    assert_ok(kiln_compile(&made, r->context, &signature, config, &options,
                           &test_error));
    return source;
}

static uint64_t built(const rank *r)
{
    kiln_statistics s = {.size = sizeof s};

    kiln_statistics_get(&s, r->context);
    return s.tiers[KILN_TIER_BINARY].built;
}

/* ---- what is right ---- */

static void the_owner_compiles_what_it_never_asked_for(void **state)
{
    int stored = 0;

    (void)state;
    define(&ranks[0], TEXT);
    define(&ranks[1], TEXT);
    for (int i = 0; i < KERNELS; i++)
        stored += compile(&ranks[0], i, ranks[0].config) == KILN_SOURCE_STORE;
    assert_int_equal(stored, fetches);
    assert_int_equal(built(&ranks[0]), KERNELS - stored);
    assert_int_equal(built(&ranks[1]), stored);
    for (int i = 0; i < KERNELS; i++)
        assert_int_not_equal(compile(&ranks[1], i, ranks[1].config),
                             KILN_SOURCE_BUILT);
    assert_int_equal(built(&ranks[0]) + built(&ranks[1]), KERNELS);
}

/* Each setting goes over: or the owner's key would be another one. */
static void every_setting_goes_over(void **state)
{
    kiln_config_options settings[] = {
        {.target = "host:x86-64-v2"},
        {.entry_name = "start"},
        {.overlays = "mine,host"},
        {.opt_level = KILN_OPT_1},
        {.debug_level = KILN_DEBUG_LINES},
        {.bounds_checks = KILN_SWITCH_OFF},
        {.fast_math = KILN_SWITCH_ON},
        {.contract = KILN_SWITCH_OFF},
        {.required_group_size = {8, 2, 1}},
        {.sites = KILN_SITES_PATCH},
        {.math = KILN_MATH_VENDOR},
        {.maximum_group_size = 64},
        {.minimum_groups = 2},
        {.maximum_registers = 64},
        {.unroll = 4},
    };
    const size_t count = sizeof settings / sizeof settings[0];

    (void)state;
    define(&ranks[0], TEXT);
    define(&ranks[1], TEXT);
    for (size_t i = 0; i < count; i++) {
        const kiln_config *config = NULL;

        settings[i].size = sizeof settings[i];
        assert_ok(kiln_config_new(&config, ranks[0].context, &settings[i],
                                  &test_error));
        for (int k = 0; k < KERNELS; k++)
            (void)compile(&ranks[0], k, config);
    }
    assert_int_equal(built(&ranks[0]) + built(&ranks[1]), KERNELS * count);
    assert_int_equal(fetches, built(&ranks[1]));
}

/* Who owns a kernel is as good as random: four times as many leave no doubt. */
#define ROUNDS 4

static void compile_toys(int round)
{
    for (int r = 0; r < 2; r++)
        for (int id = 0; id < KERNELS; id++)
            assert_ok(toy_define(&ranks[r].toy, id, 10 + round * KERNELS + id,
                                 NULL, NULL));
    for (int id = 0; id < KERNELS; id++) {
        const kiln_signature signature = toy_signature(&ranks[0].toy, id);
        const kiln_kernel *kernel = NULL;

        assert_ok(kiln_compile(&kernel, ranks[0].context, &signature,
                               ranks[0].config, NULL, &test_error));
    }
}

static void another_frontends_kernels_go_over(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++)
        compile_toys(round);
    assert_true(fetches > 0);
    assert_int_equal(built(&ranks[0]) + built(&ranks[1]), ROUNDS * KERNELS);
}

/* ---- what is not ---- */

/* A kernel of the other rank's: its request is in `seen`, and it was built by
   the owner. */
static void ask_for_one(void)
{
    define(&ranks[0], TEXT);
    define(&ranks[1], TEXT);
    for (int i = 0; i < KERNELS && fetches == 0; i++) {
        (void)compile(&ranks[0], i, ranks[0].config);
        fetched = i;
    }
    assert_int_equal(fetches, 1);
}

static void damaged_requests_are_answered(void **state)
{
    char *copy;

    (void)state;
    ask_for_one();
    copy = malloc(seen_size + 1);
    assert_non_null(copy);
    for (size_t size = 0; size <= seen_size; size++) {
        kiln_blob reply = {0};

        assert_ok(
            kiln_rank_serve(&reply, ranks[1].context, seen, size, &test_error));
        assert_true(reply.size > 0);
        kiln_blob_release(&reply);
    }
    for (size_t at = 0; at < seen_size; at++) {
        kiln_blob reply = {0};

        memcpy(copy, seen, seen_size);
        copy[at] = (char)(copy[at] ^ 0x81);
        assert_ok(kiln_rank_serve(&reply, ranks[1].context, copy, seen_size,
                                  &test_error));
        kiln_blob_release(&reply);
    }
    free(copy);
}

/* Not the owner: it would have to ask somebody itself. */
static void a_rank_gives_only_what_it_owns(void **state)
{
    kiln_blob right = {0}, wrong = {0};

    (void)state;
    ask_for_one();
    assert_ok(kiln_rank_serve(&right, ranks[1].context, seen, seen_size,
                              &test_error));
    assert_ok(kiln_rank_serve(&wrong, ranks[0].context, seen, seen_size,
                              &test_error));
    assert_true(right.size > 1000);
    assert_true(wrong.size < 100);
    kiln_blob_release(&right);
    kiln_blob_release(&wrong);
}

static size_t spoiled_at;

static void flip_a_bit(char *reply, size_t *size)
{
    reply[spoiled_at % *size] ^= 1;
}

static void cut(char *reply, size_t *size)
{
    (void)reply;
    *size = spoiled_at % *size;
}

/* The kernel is built here: its bytes were not believed. */
static void check_spoiled(void (*how)(char *, size_t *), size_t at)
{
    void *state = NULL;
    uint64_t before;

    assert_int_equal(setup(&state), 0);
    define(&ranks[0], TEXT);
    define(&ranks[1], TEXT);
    spoil = how;
    spoiled_at = at;
    for (int i = 0; i < KERNELS; i++) {
        before = built(&ranks[0]);
        fetches = 0;
        assert_int_equal(compile(&ranks[0], i, ranks[0].config),
                         KILN_SOURCE_BUILT);
        assert_int_equal(built(&ranks[0]), before + 1);
        if (fetches)
            break;
    }
    assert_true(fetches > 0);
    assert_int_equal(teardown(&state), 0);
}

static void a_damaged_reply_is_not_believed(void **state)
{
    static const size_t places[] = {0,  9,  16,  25,  26,  30,   40,
                                    60, 70, 110, 200, 700, 1500, 4000};

    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        check_spoiled(flip_a_bit, places[i]);
        check_spoiled(cut, places[i]);
    }
}

/* The same with another artifact, whose envelope has right sums. */
static void tell(char *reply, size_t size, const kiln_artifact *artifact,
                 uint64_t version)
{
    kiln_blob envelope = {0};
    kiln__entry_writer writer;
    kiln__encoder made;

    assert_ok(kiln__entry_writer_artifact(&writer, &kiln__malloc, artifact));
    assert_ok(kiln__entry_encode(&envelope, &kiln__malloc, &writer.entry));
    kiln__entry_writer_dispose(&writer);
    kiln__encoder_init(&made, &kiln__malloc);
    kiln__encode_u64(&made, version);
    kiln__encode_i64(&made, KILN_OK);
    kiln__encode_bytes(&made, envelope.data, envelope.size);
    assert_int_equal(made.size, size);
    memcpy(reply, made.bytes, size);
    kiln__encoder_dispose(&made);
    kiln_blob_release(&envelope);
}

/* Says of the kernel what cannot be true of it. */
static void lie(char *reply, size_t *size)
{
    const kiln_artifact *artifact = NULL;
    kiln__span_of_bytes envelope;
    kiln__reader reader;
    kiln__entry entry;
    uint64_t version;

    kiln__reader_init(&reader, reply, *size);
    version = kiln__read_u64(&reader);
    if (kiln__read_i64(&reader) != KILN_OK)
        return;
    envelope = kiln__read_bytes(&reader);
    assert_int_equal(
        kiln__entry_decode(&entry, envelope.data, envelope.size, NULL),
        KILN__FAULT_NONE);
    assert_ok(kiln__artifact_decode(&artifact, &kiln__malloc, &entry));
    artifact->kernels[0].maximum_group_size = 7;
    tell(reply, *size, artifact, version);
    kiln_artifact_release(artifact);
}

static void nor_is_one_that_lies(void **state)
{
    (void)state;
    check_spoiled(lie, 0);
}

static void modes_that_build_ask_nobody(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        kiln_context_free(ranks[i].context);
    assert_int_equal(setenv("KILN_CACHE", "refresh", 1), 0);
    for (uint32_t i = 0; i < 2; i++) {
        kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

        options.host = &host;
        options.host_env = &ranks[i];
        assert_ok(kiln_context_new(&ranks[i].context, &options, &test_error));
        assert_ok(kiln_config_new(&ranks[i].config, ranks[i].context, NULL,
                                  &test_error));
        assert_ok(kiln_package_new(&ranks[i].package, ranks[i].context, "main",
                                   &test_error));
        define(&ranks[i], TEXT);
    }
    for (int i = 0; i < KERNELS; i++)
        (void)compile(&ranks[0], i, ranks[0].config);
    assert_int_equal(fetches, 0);
    assert_int_equal(unsetenv("KILN_CACHE"), 0);
}

static void arguments_are_checked(void **state)
{
    kiln_blob reply = {0};

    (void)state;
    assert_status(KILN_EINVAL,
                  kiln_rank_serve(NULL, ranks[0].context, "", 0, NULL));
    assert_status(KILN_EINVAL, kiln_rank_serve(&reply, NULL, "", 0, NULL));
    assert_status(KILN_EINVAL,
                  kiln_rank_serve(&reply, ranks[0].context, NULL, 1, NULL));
}

/* ---- without memory ---- */

/* Opens a rank on the allocator, which does not fail meanwhile. */
static void begin_on(uint32_t number, const kiln_alloc *alloc)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    rank *r = &ranks[number];

    cache.mode = KILN_CACHE_MODE_OFF;
    options.cache = &cache;
    options.host = &host;
    options.host_env = r;
    options.alloc = alloc;
    *r = (rank){.number = number};
    assert_ok(kiln_context_new(&r->context, &options, &test_error));
    assert_ok(kiln_config_new(&r->config, r->context, NULL, &test_error));
    assert_ok(kiln_package_new(&r->package, r->context, "main", &test_error));
    define(r, TEXT);
}

/* From what it has. */
static kiln_status serve_again(const kiln_alloc *alloc, void *env)
{
    kiln_blob reply = {0};
    kiln_status status;

    (void)env;
    failing_alloc_hold(alloc, 1);
    begin_on(1, alloc);
    assert_int_equal(compile(&ranks[1], fetched, ranks[1].config),
                     KILN_SOURCE_BUILT);
    failing_alloc_hold(alloc, 0);
    status = kiln_rank_serve(&reply, ranks[1].context, seen, seen_size, NULL);
    failing_alloc_hold(alloc, 1);
    kiln_blob_release(&reply);
    kiln_context_free(ranks[1].context);
    failing_alloc_hold(alloc, 0);
    return status;
}

static void serving_survives_failing_allocations(void **state)
{
    (void)state;
    ask_for_one();
    kiln_context_free(ranks[1].context);
    assert_survives_failing_alloc(serve_again, NULL);
    begin(1);
}

static kiln_status fetch_again(const kiln_alloc *alloc, void *env)
{
    const kiln_artifact *artifact;
    const kiln_type *type = NULL;
    kiln_signature signature;
    kiln__rank_job job = {.patience_ns = 1000000000};
    kiln__encoder key;

    (void)env;
    failing_alloc_hold(alloc, 1);
    begin_on(0, alloc);
    signature = signature_of(&ranks[0], fetched, &type);
    assert_ok(kiln_infer(&job.code, ranks[0].context, &signature,
                         ranks[0].config, 0, &test_error));
    job.config = ranks[0].config;
    kiln__encoder_init(&key, &kiln__malloc);
    assert_ok(kiln__key_binary(&key, kiln_code_digest(job.code), job.config));
    job.key = (kiln_key){kiln__encoder_digest(&key), key.bytes, key.size};
    failing_alloc_hold(alloc, 0);
    artifact = kiln__ranks_fetch(ranks[0].context, &job);
    failing_alloc_hold(alloc, 1);
    kiln_artifact_release(artifact);
    kiln__encoder_dispose(&key);
    kiln_context_free(ranks[0].context);
    failing_alloc_hold(alloc, 0);
    return artifact ? KILN_OK : KILN_ENOMEM;
}

static void fetching_survives_failing_allocations(void **state)
{
    (void)state;
    ask_for_one();
    kiln_context_free(ranks[0].context);
    assert_survives_failing_alloc(fetch_again, NULL);
    begin(0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_owner_compiles_what_it_never_asked_for),
        TEST(every_setting_goes_over),
        TEST(another_frontends_kernels_go_over),
        TEST(damaged_requests_are_answered),
        TEST(a_rank_gives_only_what_it_owns),
        cmocka_unit_test(a_damaged_reply_is_not_believed),
        cmocka_unit_test(nor_is_one_that_lies),
        TEST(modes_that_build_ask_nobody),
        TEST(arguments_are_checked),
        TEST(serving_survives_failing_allocations),
        TEST(fetching_survives_failing_allocations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
