/* program.c - a program that Toy runs, and what Kiln promises of it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "toyrt.h"

#define PAINT(operation) \
    "paint f32[:] Shape\n  %k = call float @(scale)(ptr %item)\n" \
    "  %a = call float @(area 2)(ptr %item, ptr %p2)\n" \
    "  %v = " operation " float %a, %k\n" PUT("%v")
#define BALL "paint f32[:] Shape.Ball"
#define BOX "paint f32[:] Shape.Box"

static const kiln_config *plain, *rough; /* two owners */
static const kiln_config *patched;

float run(toy *t, const char *call, const kiln_config *config, uint64_t world)
{
    float out[4] = {0};
    kiln_error *error = NULL;

    CHECK(toy_run(t, call, config, world, out, 4, &error) == KILN_OK);
    if (error)
        fprintf(stderr, "%s: %s\n", call, kiln_error_message(error));
    kiln_error_free(error);
    return out[3];
}

static void methods_come_and_go(toy *t)
{
    define(t, 1, PAINT("fmul"));
    define(t, 11, GIVE("scale", "2.0"));
    define(t, 21, GIVE("area Shape", "1.0"));
    CHECK(run(t, BALL, plain, 0) == 2 && run(t, BOX, plain, 0) == 2);
    uint64_t waits = t->waits; /* for two builds; a hit waits for nothing */
    CHECK(waits >= 2 && run(t, BALL, plain, 0) == 2 && t->waits == waits);
    CHECK(define(t, 31, GIVE("unrelated f32", "%p1")) == 0);
    CHECK(define(t, 11, GIVE("scale", "3.0")) == 3); /* and both paints */
    CHECK(run(t, BALL, plain, 0) == 3);
    CHECK(define(t, 1, PAINT("fadd")) == 1); /* the other is not back yet */
    CHECK(run(t, BALL, plain, 0) == 4 && run(t, BOX, plain, 0) == 4);
    CHECK(define(t, 25, GIVE("area Shape.Ball", "5.0")) == 2); /* more narrow */
    CHECK(run(t, BALL, plain, 0) == 8 && run(t, BOX, plain, 0) == 4);
    CHECK(define(t, 28, GIVE("area@rough Shape.Ball", "9.0")) == 0);
    CHECK(run(t, BALL, rough, 0) == 12 && run(t, BALL, plain, 0) == 8);
}

/* scale becomes what a kernel gives that runs while scale is inferred. */
static void compiles_nest(toy *t)
{
    define(t, 41, "seed f32[:]\n" PUT("42.0"));
    define(t, 11, GIVE("scale", "bitcast (i32 @(now seed f32[:]) to float)"));
    CHECK(run(t, BALL, plain, 0) == 47);
    CHECK(define(t, 41, "seed f32[:]\n" PUT("43.0")) == 3);
    CHECK(run(t, BALL, plain, 0) == 48);
}

#define TURN(name, other, result) \
    name " f32\n  %c = fcmp olt float %p1, 1.0\n" \
         "  br i1 %c, label %end, label %more\nend: ret float " result "\n" \
         "more: %n = fsub float %p1, 1.0\n" \
         "  %r = call float @(" other \
         " f32)(ptr %item, float %n)\n  ret float %r\n"

static void calls_form_a_cycle(toy *t)
{
    define(t, 51, TURN("even", "odd", "1.0"));
    define(t, 61, TURN("odd", "even", "0.0"));
    define(t, 71,
           "turns f32[:]\n"
           "  %r = call float @(even f32)(ptr %item, float 7.0)\n" PUT("%r"));
    CHECK(run(t, "turns f32[:]", plain, 0) == 0);
    CHECK(define(t, 61, TURN("odd", "even", "2.0")) == 3);
    CHECK(run(t, "turns f32[:]", plain, 0) == 2);
}

static void a_world_is_held(toy *t)
{
    uint64_t world = 0;

    CHECK(kiln_world_hold(&world, t->frontend) == KILN_OK);
    define(t, 11, GIVE("scale", "1.0"));
    CHECK(run(t, BALL, plain, 0) == 6 && run(t, BALL, plain, world) == 48);
    kiln_world_release(t->frontend, world);
    kiln_context_collect(t->context);
    CHECK(run(t, BALL, plain, 0) == 6);
}

#define REACH \
    "reach f32[:]\n  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %n = add i64 %i, 2\n  %c = icmp ult i64 %n, %p1.n\n" \
    "  br i1 %c, label %good, label %bad\ngood: ret i32 0\n" \
    "bad: call void @kiln_raise(ptr %item, i32 1, ptr @(label), i32 6, " \
    "ptr @none, i64 %n, i64 %p1.n)\n  ret i32 1\n"

static void reach_fails_at(toy *t, uint32_t line)
{
    float out[4];
    kiln_error *error = NULL;
    kiln_status status = toy_run(t, "reach f32[:]", plain, 0, out, 4, &error);
    const kiln_exception *e = kiln_error_exception(error);

    CHECK(status == KILN_EEXCEPTION && e && e->location.line == line &&
          e->item[0] == 2 && e->values[0] == 4 && e->values[1] == 4);
    kiln_error_free(error);
}

static void *run_cold(void *env)
{
    take_back(env);
    CHECK(run(env, "paint f32[:] Shape.Cone", plain, 0) == 2);
    let_go(env);
    return NULL;
}

/* Whoever waits with the lock held would keep the other from ever ending. */
static void threads_take_turns(toy *t)
{
    pthread_t other;

    CHECK(pthread_create(&other, NULL, run_cold, t) == 0);
    let_go(t);
    run_cold(t);
    pthread_join(other, NULL);
    take_back(t);
}

static kiln_status resolve(void *env, const char *name, void **address)
{
    if (objects_function(name, address) == KILN_OK)
        return KILN_OK;
    return heap_resolve(&((toy *)env)->heap, name, address);
}

static void root(void *env, const char *name, void *address)
{
    heap_root(&((toy *)env)->heap, name, address);
}

static void unroot(void *env, const char *name, void *address)
{
    heap_unroot(&((toy *)env)->heap, name, address);
}

static void check_reach(toy *t)
{
    define(t, 81, REACH);
    reach_fails_at(t, 87);
    CHECK(define(t, 91, REACH) == 0); /* only its place has changed */
    reach_fails_at(t, 97);
}

int main(void)
{
    static toy t = {.lock = PTHREAD_MUTEX_INITIALIZER,
                    .world = 1,
                    .heap = {.lock = PTHREAD_MUTEX_INITIALIZER}};
    kiln_host_ops host = {.size = sizeof host,
                          .blocking_enter = let_go,
                          .blocking_leave = take_back,
                          .resolve = resolve,
                          .root = root,
                          .unroot = unroot};
    kiln_context_options options = {
        .size = sizeof options, .host = &host, .host_env = &t};
    kiln_config_options settings = {.size = sizeof settings,
                                    .overlays = "rough"};
    kiln_config_options slots = {.size = sizeof slots,
                                 .sites = KILN_SITES_PATCH};

    take_back(&t);
    if (kiln_context_new(&t.context, &options, NULL) != KILN_OK ||
        kiln_frontend_add(&t.frontend, t.context, &toy_frontend, &t, NULL) ||
        kiln_device_open(&t.device, t.context, "host", 0, NULL) ||
        kiln_queue_new(&t.queue, t.device, NULL) ||
        kiln_config_new(&plain, t.context, NULL, NULL) ||
        kiln_config_new(&rough, t.context, &settings, NULL) ||
        kiln_config_new(&patched, t.context, &slots, NULL))
        return 1;
    methods_come_and_go(&t);
    compiles_nest(&t);
    calls_form_a_cycle(&t);
    a_world_is_held(&t);
    check_reach(&t);
    threads_take_turns(&t);
    objects_move(&t, plain, patched);
    kiln_queue_free(t.queue);
    kiln_device_close(t.device);
    kiln_context_free(t.context);
    heap_end(&t.heap);
    return failures != 0;
}
