/* test_sites.c - kernels that refer to the host's objects, from end to end. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit tiers host */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "kiln.h"
#include "support/frontend/toy_frontend.h"
#include "support/harness.h"
#include "tiers/binary/artifact.h"

/*
 * The host has objects with names. Its collector moves one each time it is
 * asked for while it is not rooted, if the test wants that.
 */
#define OBJECTS 4

typedef struct object {
    const char *name;
    void *address;
    int roots;
    int asked;
    int moves; /* so often, when it is asked for without a root */
} object;

typedef struct world {
    kiln_context *context;
    const kiln_config *patch, *resolve;
    struct toy toy;
    kiln_device *device;
    kiln_queue *queue;
    pthread_mutex_t lock;
    object objects[OBJECTS];
    int finished; /* host_finalize ran: no callback may come any more */
    int late;
} world;

static object *object_of(world *w, const char *name)
{
    for (int i = 0; i < OBJECTS; i++)
        if (w->objects[i].name && strcmp(w->objects[i].name, name) == 0)
            return &w->objects[i];
    return NULL;
}

static kiln_status resolve(void *env, const char *name, void **address)
{
    world *w = env;
    object *o;

    pthread_mutex_lock(&w->lock);
    w->late |= w->finished;
    o = object_of(w, name);
    if (o) {
        o->asked++;
        if (o->moves > 0 && !o->roots && o->asked > 1) {
            o->moves--;
            o->address = (char *)o->address + 4;
        }
        *address = o->address;
        /* It moves once more before it is rooted. */
        if (o->moves > 0 && !o->roots) {
            o->moves--;
            o->address = (char *)o->address + 4;
        }
    }
    pthread_mutex_unlock(&w->lock);
    return o && o->address ? KILN_OK : KILN_ENOTFOUND;
}

static void change_roots(world *w, const char *name, int by)
{
    object *o;

    pthread_mutex_lock(&w->lock);
    w->late |= w->finished;
    o = object_of(w, name);
    if (o)
        o->roots += by;
    pthread_mutex_unlock(&w->lock);
}

static void root(void *env, const char *name, void *address)
{
    (void)address;
    change_roots(env, name, 1);
}

static void unroot(void *env, const char *name, void *address)
{
    (void)address;
    change_roots(env, name, -1);
}

static void finalize(void *env)
{
    ((world *)env)->finished = 1;
}

static const kiln_host_ops offering = {.size = sizeof offering,
                                       .resolve = resolve,
                                       .root = root,
                                       .unroot = unroot};

static void open_context(world *w, const kiln_host_ops *host,
                         const kiln_alloc *alloc)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;

    options.host = host;
    options.alloc = alloc;
    options.host_env = w;
    options.host_finalize = finalize;
    assert_ok(kiln_context_new(&w->context, &options, &test_error));
    assert_ok(toy_open(&w->toy, w->context, &test_error));
    assert_ok(kiln_config_new(&w->resolve, w->context, NULL, &test_error));
    settings.sites = KILN_SITES_PATCH;
    assert_ok(kiln_config_new(&w->patch, w->context, &settings, &test_error));
    assert_ok(kiln_device_open(&w->device, w->context, "host", 0, &test_error));
    assert_ok(kiln_queue_new(&w->queue, w->device, &test_error));
}

static int setup(void **state)
{
    world *w = calloc(1, sizeof *w);

    assert_non_null(w);
    pthread_mutex_init(&w->lock, NULL);
    open_context(w, &offering, NULL);
    *state = w;
    return 0;
}

static void end_context(world *w)
{
    kiln_queue_free(w->queue);
    kiln_device_close(w->device);
    kiln_context_free(w->context);
    w->context = NULL;
}

static int teardown(void **state)
{
    world *w = *state;

    if (w->context)
        end_context(w);
    assert_int_equal(w->late, 0);
    for (int i = 0; i < OBJECTS; i++)
        assert_int_equal(w->objects[i].roots, 0);
    pthread_mutex_destroy(&w->lock);
    free(w);
    return 0;
}

/* Function 0 adds one to "counter", and stores in "same" whether "counter" and
   "other" are one object. */
static const char head[] = "@kiln_site_counter = external global i32\n"
                           "@kiln_site_other = external global i32\n"
                           "@kiln_site_same = external global i32\n";
static const char body[] =
    "  %v = load i32, ptr @kiln_site_counter\n"
    "  %w = add i32 %v, 1\n"
    "  store i32 %w, ptr @kiln_site_counter\n"
    "  %e = icmp eq ptr @kiln_site_counter, @kiln_site_other\n"
    "  %s = zext i1 %e to i32\n"
    "  store i32 %s, ptr @kiln_site_same\n";

static int32_t cells[64];

static void define(world *w, int number)
{
    const char *const names[] = {"counter", "other", "same"};

    memset(cells, 0, sizeof cells);
    w->toy.head = head;
    w->toy.body = body;
    for (int i = 0; i < 3; i++) {
        w->toy.sites[0][i] = names[i];
        w->objects[i].name = names[i];
        w->objects[i].address = &cells[16 * i];
    }
    assert_ok(toy_define(&w->toy, 0, number, NULL, NULL));
}

static kiln_status compile(world *w, const kiln_config *config,
                           const kiln_kernel **out, int32_t *source,
                           kiln_error **error)
{
    const kiln_signature signature = toy_signature(&w->toy, 0);
    const kiln_compile_options options = {.size = sizeof options,
                                          .source = source};

    return kiln_compile(out, w->context, &signature, config, &options, error);
}

static const kiln_kernel *kernel_of(world *w, const kiln_config *config)
{
    const kiln_kernel *kernel = NULL;

    assert_ok(compile(w, config, &kernel, NULL, &test_error));
    return kernel;
}

static void launch(world *w, const kiln_kernel *kernel)
{
    const kiln_launch once = {.grid = {1}};

    assert_ok(kiln_queue_launch(w->queue, kernel, &once, NULL, 0, &test_error));
}

static void assert_roots(const world *w, int count)
{
    for (int i = 0; i < 3; i++)
        assert_int_equal(w->objects[i].roots, count);
}

/* ---- both ways ---- */

static void patched_sites_are_filled_at_each_load(void **state)
{
    world *w = *state;
    const kiln_kernel *kernel;
    const kiln_artifact *artifact;
    const kiln_site_info *site;
    const char *bytes;
    size_t size;

    define(w, 1);
    kernel = kernel_of(w, w->patch);
    artifact = kiln_kernel_artifact(kernel);
    assert_int_equal(kiln_artifact_relocation(artifact),
                     KILN_RELOCATION_RELOCATABLE);
    assert_int_equal(kiln_artifact_site_count(artifact), 3);
    assert_null(kiln_artifact_site(artifact, 3));
    bytes = kiln_artifact_bytes(artifact, &size);
    for (size_t i = 0; i < 3; i++) {
        site = kiln_artifact_site(artifact, i);
        assert_string_equal(site->name, w->objects[i].name);
        assert_int_equal(site->size, 8);
        assert_int_equal(site->strategy, KILN_SITES_PATCH);
        assert_true(site->offset + 8 <= size);
        assert_memory_equal(bytes + site->offset, "\0\0\0\0\0\0\0\0", 8);
    }
    assert_roots(w, 1);

    launch(w, kernel);
    launch(w, kernel);
    assert_int_equal(cells[0], 2);
    assert_int_equal(cells[32], 0);
}

static void resolved_sites_stay_in_the_session(void **state)
{
    world *w = *state;
    const kiln_kernel *kernel;
    const kiln_artifact *artifact;

    define(w, 1);
    kernel = kernel_of(w, w->resolve);
    artifact = kiln_kernel_artifact(kernel);
    assert_int_equal(kiln_artifact_relocation(artifact),
                     KILN_RELOCATION_SESSION);
    assert_int_equal(kiln_artifact_site_count(artifact), 3);
    assert_int_equal(kiln_artifact_site(artifact, 0)->size, 0);
    assert_int_equal(kiln_artifact_site(artifact, 0)->strategy,
                     KILN_SITES_RESOLVE);
    launch(w, kernel);
    assert_int_equal(cells[0], 1);
    assert_roots(w, 1);
}

static void two_names_may_be_one_object(void **state)
{
    world *w = *state;

    define(w, 1);
    w->objects[1].address = w->objects[0].address;
    launch(w, kernel_of(w, w->patch));
    assert_int_equal(cells[32], 1);
    cells[32] = 9;
    launch(w, kernel_of(w, w->resolve));
    assert_int_equal(cells[32], 1);
}

/* ---- functions that call Kiln ---- */

static world *called;

static void replace_and_collect(void)
{
    assert_ok(toy_define(&called->toy, 0, 9, NULL, NULL));
    kiln_context_collect(called->context);
    kiln_context_free(called->context);
}

static void a_kernel_stays_while_it_calls_the_host(void **state)
{
    world *w = *state;
    const kiln_config *const configs[] = {w->patch, w->resolve};

    called = w;
    w->toy.head = "declare void @kiln_site_act() nounwind willreturn\n";
    w->toy.body = "  call void @kiln_site_act()\n";
    w->toy.sites[0][0] = "act()";
    w->objects[0].name = "act";
    w->objects[0].address = (void *)(uintptr_t)replace_and_collect;
    for (int i = 0; i < 2; i++) {
        const kiln_kernel *kernel;

        assert_ok(toy_define(&w->toy, 0, i, NULL, NULL));
        kernel = kernel_of(w, configs[i]);
        launch(w, kernel);
        assert_int_equal(kiln_kernel_is_valid(kernel), 0);
        assert_non_null(kiln_kernel_artifact(kernel));
        kiln_context_collect(w->context);
        assert_null(kiln_kernel_artifact(kernel));
    }
}

/* ---- how long objects are rooted ---- */

static void unloading_lets_go(void **state)
{
    world *w = *state;

    define(w, 1);
    (void)kernel_of(w, w->patch);
    assert_roots(w, 1);
    assert_ok(toy_define(&w->toy, 0, 2, NULL, NULL));
    kiln_context_collect(w->context);
    assert_roots(w, 0);
    launch(w, kernel_of(w, w->patch));
    assert_roots(w, 1);
    assert_int_equal(cells[0], 1);
}

static void an_artifact_keeps_what_it_was_made_of(void **state)
{
    world *w = *state;

    define(w, 1);
    (void)kernel_of(w, w->resolve);
    assert_ok(toy_define(&w->toy, 0, 2, NULL, NULL));
    kiln_context_collect(w->context);
    assert_roots(w, 1);
}

static void nothing_is_rooted_beyond_the_context(void **state)
{
    world *w = *state;
    const kiln_artifact *resolved, *patched;

    define(w, 1);
    resolved =
        kiln_artifact_retain(kiln_kernel_artifact(kernel_of(w, w->resolve)));
    patched =
        kiln_artifact_retain(kiln_kernel_artifact(kernel_of(w, w->patch)));
    assert_roots(w, 2);
    end_context(w);
    assert_roots(w, 0);
    assert_string_equal(kiln_artifact_site(resolved, 0)->name, "counter");
    kiln_artifact_release(resolved);
    kiln_artifact_release(patched);
}

static void an_object_may_move_until_it_is_rooted(void **state)
{
    world *w = *state;

    define(w, 1);
    w->objects[0].moves = 5;
    launch(w, kernel_of(w, w->patch));
    assert_int_equal(*(int32_t *)w->objects[0].address, 1);
    assert_ptr_not_equal(w->objects[0].address, &cells[0]);
    assert_roots(w, 1);
}

/* ---- the same meaning again ---- */

static void equal_code_is_loaded_again_for_other_addresses(void **state)
{
    world *w = *state;
    const kiln_kernel *kernel;
    int32_t source = KILN_SOURCE_NONE;

    define(w, 1);
    (void)kernel_of(w, w->patch);
    assert_ok(toy_define(&w->toy, 0, 2, NULL, NULL));
    assert_ok(toy_define(&w->toy, 0, 1, NULL, NULL));
    w->objects[0].address = &cells[4];
    assert_ok(compile(w, w->patch, &kernel, &source, &test_error));
    assert_int_equal(source, KILN_SOURCE_MEMORY);
    launch(w, kernel);
    assert_int_equal(cells[4], 1);
}

static void constants_out_of_date_are_built_again(void **state)
{
    world *w = *state;
    const kiln_kernel *kernel;
    int32_t source = KILN_SOURCE_NONE;

    define(w, 1);
    (void)kernel_of(w, w->resolve);
    assert_ok(toy_define(&w->toy, 0, 2, NULL, NULL));
    assert_ok(toy_define(&w->toy, 0, 1, NULL, NULL));
    assert_ok(compile(w, w->resolve, &kernel, &source, &test_error));
    assert_int_equal(source, KILN_SOURCE_MEMORY);

    assert_ok(toy_define(&w->toy, 0, 2, NULL, NULL));
    assert_ok(toy_define(&w->toy, 0, 1, NULL, NULL));
    w->objects[0].address = &cells[4];
    assert_ok(compile(w, w->resolve, &kernel, &source, &test_error));
    assert_int_equal(source, KILN_SOURCE_BUILT);
    launch(w, kernel);
    assert_int_equal(cells[4], 1);

    kiln_context_collect(w->context);
    assert_roots(w, 1); /* the older artifact is gone */
    assert_ok(toy_define(&w->toy, 0, 2, NULL, NULL));
    assert_ok(toy_define(&w->toy, 0, 1, NULL, NULL));
    assert_ok(compile(w, w->resolve, &kernel, &source, &test_error));
    assert_int_equal(source, KILN_SOURCE_MEMORY);
}

/* ---- failures ---- */

static void assert_no_kernel(world *w, const kiln_config *config,
                             const char *words)
{
    const kiln_kernel *kernel = NULL;
    kiln_error *error = NULL;

    assert_status(KILN_ENOTFOUND, compile(w, config, &kernel, NULL, &error));
    assert_contains(kiln_error_message(error), words);
    assert_contains(kiln_error_message(error), "toy.f0()");
    assert_null(kernel);
    kiln_error_free(error);
}

static void an_object_that_is_not_there_is_named(void **state)
{
    world *w = *state;
    const kiln_config *const configs[] = {w->patch, w->resolve};

    define(w, 1);
    for (int i = 0; i < 2; i++) {
        w->objects[2].name = NULL;
        assert_no_kernel(w, configs[i], "site \"same\"");
        assert_roots(w, i); /* what the other kernel has */
        assert_no_kernel(w, configs[i], "site \"same\"");
        w->objects[2].name = "same";
        launch(w, kernel_of(w, configs[i]));
    }
    assert_int_equal(cells[0], 2);
}

static void a_host_without_resolve_has_no_objects(void **state)
{
    static const kiln_host_ops none = {.size = sizeof none};
    world *w = *state;

    end_context(w);
    w->finished = 0;
    open_context(w, &none, NULL);
    define(w, 1);
    assert_no_kernel(w, w->patch, "no resolve callback");
    assert_no_kernel(w, w->resolve, "no resolve callback");
}

/* Both ways, in a context of its own. */
static kiln_status compile_without_memory(const kiln_alloc *alloc, void *env)
{
    world w = {.lock = PTHREAD_MUTEX_INITIALIZER};
    kiln_status first = KILN_OK;

    (void)env;
    failing_alloc_hold(alloc, 1);
    open_context(&w, &offering, alloc);
    define(&w, 1);
    for (int i = 0; i < 2; i++) {
        const kiln_config *config = i ? w.resolve : w.patch;
        const kiln_kernel *kernel = NULL;
        kiln_error *error = NULL;
        kiln_status status;

        failing_alloc_hold(alloc, 0);
        status = compile(&w, config, &kernel, NULL, &error);
        failing_alloc_hold(alloc, 1);
        kiln_error_free(error);
        if (status != KILN_OK)
            first = status;
        if (status != KILN_OK && !i) /* else an artifact may be left */
            assert_roots(&w, 0);
        launch(&w, kernel_of(&w, config));
    }
    assert_roots(&w, 2);
    end_context(&w);
    assert_roots(&w, 0);
    return first;
}

static void what_runs_out_of_memory_leaves_nothing_rooted(void **state)
{
    (void)state;
    assert_survives_failing_alloc(compile_without_memory, NULL);
}

/* ---- keys ---- */

static kiln_digest digest_of(world *w)
{
    const kiln_signature signature = toy_signature(&w->toy, 0);
    const kiln_code *code = NULL;

    assert_ok(
        kiln_infer(&code, w->context, &signature, w->patch, 0, &test_error));
    return kiln_code_digest(code);
}

static kiln_digest redefined(world *w, int number)
{
    assert_ok(toy_define(&w->toy, 0, number + 1, NULL, NULL));
    assert_ok(toy_define(&w->toy, 0, number, NULL, NULL));
    return digest_of(w);
}

static int equal(kiln_digest a, kiln_digest b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void names_and_kinds_are_in_the_digest(void **state)
{
    world *w = *state;
    kiln_digest first, renamed, function, none;

    define(w, 1);
    first = digest_of(w);
    w->objects[0].address = &cells[5];
    assert_true(equal(redefined(w, 1), first));
    w->toy.sites[0][1] = "another";
    renamed = redefined(w, 1);
    assert_false(equal(renamed, first));
    w->toy.sites[0][1] = "other()";
    function = redefined(w, 1);
    assert_false(equal(function, first));
    w->toy.sites[0][0] = NULL;
    none = redefined(w, 1);
    assert_false(equal(none, first));
    assert_false(equal(none, function));
}

static kiln_status misuse(struct toy *toy, int id, kiln_error **error)
{
    (void)id;
    (void)error;
    toy->sites[0][0] = "";
    return KILN_OK;
}

static void a_site_needs_a_name(void **state)
{
    world *w = *state;
    const kiln_kernel *kernel;
    kiln_error *error = NULL;

    define(w, 1);
    w->toy.infer_callback = misuse;
    assert_status(KILN_EINVAL, compile(w, w->patch, &kernel, NULL, &error));
    kiln_error_free(error);
}

/* ---- what comes from a disk ---- */

#define RESOLVED 1 /* stands for a site that another process resolved */

static const kiln_artifact *damaged(const kiln_artifact *from, uint64_t offset)
{
    const kiln_artifact *made = NULL;
    kiln_site_info sites[3];
    kiln__artifact_source source = {
        .key = from->key,
        .encoded_key = from->encoded_key,
        .encoded_key_size = from->encoded_key_size,
        .format = from->format,
        .target = from->target,
        .relocation = from->relocation,
        .bytes = from->bytes,
        .size = from->size,
        .kernels = from->kernels,
        .kernel_count = from->kernel_count,
        .sites = sites,
        .site_count = 3,
    };

    memcpy(sites, from->sites, sizeof sites);
    sites[1].offset = offset;
    if (offset == RESOLVED)
        sites[1].strategy = KILN_SITES_RESOLVE;
    assert_ok(kiln__artifact_new(&made, &source));
    return made;
}

static void slots_of_a_damaged_artifact_are_not_filled(void **state)
{
    world *w = *state;
    const kiln_kernel *good;
    const kiln_artifact *artifact;
    uint64_t offsets[5];

    define(w, 1);
    good = kernel_of(w, w->patch);
    artifact = kiln_kernel_artifact(good);
    offsets[0] = artifact->size;
    offsets[1] = UINT64_MAX - 7;
    offsets[2] = 0; /* the head of the file */
    offsets[3] = artifact->sites[1].offset + 1;
    offsets[4] = RESOLVED;
    for (int i = 0; i < 5; i++) {
        kiln_kernel copy = *good;
        kiln_error *error = NULL;

        copy.artifact = damaged(artifact, offsets[i]);
        copy.module = NULL;
        assert_status(KILN_ECORRUPT, kiln__kernel_load(&copy, &error));
        assert_contains(kiln_error_message(error), "site \"other\"");
        kiln_error_free(error);
        kiln_artifact_release(copy.artifact);
        assert_roots(w, 1);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(patched_sites_are_filled_at_each_load),
        TEST(resolved_sites_stay_in_the_session),
        TEST(two_names_may_be_one_object),
        TEST(a_kernel_stays_while_it_calls_the_host),
        TEST(unloading_lets_go),
        TEST(an_artifact_keeps_what_it_was_made_of),
        TEST(nothing_is_rooted_beyond_the_context),
        TEST(an_object_may_move_until_it_is_rooted),
        TEST(equal_code_is_loaded_again_for_other_addresses),
        TEST(constants_out_of_date_are_built_again),
        TEST(an_object_that_is_not_there_is_named),
        TEST(a_host_without_resolve_has_no_objects),
        cmocka_unit_test(what_runs_out_of_memory_leaves_nothing_rooted),
        TEST(names_and_kinds_are_in_the_digest),
        TEST(a_site_needs_a_name),
        TEST(slots_of_a_damaged_artifact_are_not_filled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
