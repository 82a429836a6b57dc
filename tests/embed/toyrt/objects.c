/* objects.c - a program with objects that move, and functions of the host's. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "toyrt.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

/*
 * A thread collects all the time. Each kernel is compiled anew in every round,
 * so that its objects are resolved and rooted while they are on the move; what
 * it does is right all the same, whether their addresses are constants of its
 * code or in slots of it.
 */

enum { ROUNDS = 40 };

/* ---- functions of the host ---- */

static float twice(float x)
{
    return x + x;
}

kiln_status objects_function(const char *name, void **address)
{
    float (*function)(float) = twice;

    if (strcmp(name, "twice") != 0)
        return KILN_ENOTFOUND;
    memcpy(address, &function, sizeof *address);
    return KILN_OK;
}

/* ---- the collector's thread ---- */

typedef struct collector {
    toy *toy;
    pthread_t thread;
    atomic_int ends;
    atomic_int has_run; /* once at least */
} collector;

static void *collect(void *env)
{
    collector *c = env;

    while (!c->ends) {
        heap_collect(&c->toy->heap);
        c->has_run = 1;
        sched_yield();
    }
    return NULL;
}

static void collector_start(collector *c, toy *t)
{
    c->toy = t;
    CHECK(pthread_create(&c->thread, NULL, collect, c) == 0);
    while (!c->has_run) /* it may be long until a busy machine lets it */
        sched_yield();
}

static void collector_end(collector *c)
{
    c->ends = 1;
    pthread_join(c->thread, NULL);
}

/* ---- what kernels do ---- */

/* Counts its items in total, and gives twice what table has for each, plus
   `number`, of which it is a new definition. */
#define TALLY(number) \
    "tally f32[:]\n" \
    "  %n = atomicrmw fadd ptr @(object total), float 1.0 monotonic\n" \
    "  %j = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %e = getelementptr float, ptr @(object table), i64 %j\n" \
    "  %x = load float, ptr %e\n" \
    "  %t = call float @(function twice)(float %x)\n" \
    "  %s = fadd float %t, " number "\n" PUT("%s")
#define SAME \
    "same f32[:]\n" \
    "  %e = icmp eq ptr @(object total), @(object sum)\n" \
    "  %f = icmp eq ptr @(object total), @(object table)\n" \
    "  %g = uitofp i1 %e to float\n" \
    "  %h = uitofp i1 %f to float\n" \
    "  %m = fmul float %h, 8.0\n" \
    "  %s = fadd float %g, %m\n" PUT("%s")
#define READ(name) \
    "read f32[:]\n  %x = load float, ptr @(object " name ")\n" PUT("%x")

static void kernels_find_what_moves(toy *t, const kiln_config *config)
{
    const float before = heap_get(&t->heap, "total", 0);

    for (int round = 0; round < ROUNDS; round++) {
        define(t, 101, round % 2 ? TALLY("1.0") : TALLY("0.0"));
        CHECK(run(t, "tally f32[:]", config, 0) == 14 + (float)(round % 2));
        CHECK(run(t, "tally f32[:]", config, 0) == 14 + (float)(round % 2));
        kiln_context_collect(t->context);
        heap_set(&t->heap, "table", 3, 7); /* where it is by now */
    }
    CHECK(heap_get(&t->heap, "total", 0) == before + 8 * ROUNDS);
}

static void names_of_one_object_are_equal(toy *t, const kiln_config *config)
{
    CHECK(run(t, "same f32[:]", config, 0) == 1);
}

static void fails(toy *t, const kiln_config *config)
{
    kiln_error *error = NULL;
    float out[4];

    CHECK(toy_run(t, "read f32[:]", config, 0, out, 4, &error) ==
          KILN_ENOTFOUND);
    CHECK(error && strstr(kiln_error_message(error), "\"brief\"") &&
          strstr(kiln_error_message(error), "read f32[:]"));
    kiln_error_free(error);
}

/* A kernel keeps its objects alive; when it is gone, they go as well. */
static void an_object_dies(toy *t, const kiln_config *config)
{
    size_t died = t->heap.died;

    heap_new(&t->heap, "brief", 1);
    heap_set(&t->heap, "brief", 0, 5);
    define(t, 121, READ("brief"));
    CHECK(run(t, "read f32[:]", config, 0) == 5);
    heap_forget(&t->heap, "brief");
    heap_collect(&t->heap);
    CHECK(t->heap.died == died && run(t, "read f32[:]", config, 0) == 5);

    define(t, 121, READ("total"));
    kiln_context_collect(t->context);
    heap_collect(&t->heap);
    CHECK(t->heap.died == died + 1);

    define(t, 121, READ("brief"));
    fails(t, config);
    heap_new(&t->heap, "brief", 1);
    CHECK(run(t, "read f32[:]", config, 0) == 0);
    heap_forget(&t->heap, "brief");
}

void objects_move(toy *t, const kiln_config *resolved,
                  const kiln_config *patched)
{
    const kiln_config *const configs[] = {patched, resolved};
    collector c = {0};
    size_t moved = t->heap.moved;

    heap_new(&t->heap, "total", 1);
    heap_alias(&t->heap, "sum", "total");
    heap_new(&t->heap, "table", 4);
    heap_set(&t->heap, "table", 3, 7);
    define(t, 111, SAME);
    collector_start(&c, t);
    for (int i = 0; i < 2; i++) {
        kernels_find_what_moves(t, configs[i]);
        names_of_one_object_are_equal(t, configs[i]);
    }
    collector_end(&c);
    CHECK(t->heap.moved > moved);
    an_object_dies(t, patched);
}
