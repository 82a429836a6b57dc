/* program.c - random programs, and the contexts that they are defined in. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"

#define NUMBERS 4 /* few: functions of equal typed IR are what is wanted */

/* ---- random numbers: splitmix64 ---- */

static uint64_t draw(history *h)
{
    uint64_t z = h->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void history_phase(history *h, int phase)
{
    h->state = h->options->seed;
    h->state = draw(h) + (uint64_t)h->edit;
    h->state = draw(h) + (uint64_t)phase;
}

int history_below(history *h, int bound)
{
    return (int)(draw(h) % (uint64_t)bound);
}

static int percent(history *h, int chance)
{
    return history_below(h, 100) < chance;
}

int history_happens(history *h, unsigned feature, int chance)
{
    return percent(h, chance) && !(h->options->without & feature);
}

graph_job history_any_job(history *h)
{
    graph_job job = {.which = history_below(h, GRAPH_COUNT),
                     .function = history_below(h, GRAPH_FUNCTIONS)};
    const int type = history_below(h, GRAPH_TYPES);
    const int settings = history_below(h, GRAPH_SETTINGS);

    if (history_happens(h, HISTORY_TYPES, 100))
        job.type = type;
    if (history_happens(h, HISTORY_SETTINGS, 40))
        job.settings = settings;
    return job;
}

/* ---- definitions ---- */

static int calls_may_go(int from, int function, int to, int end)
{
    if (from == GRAPH_LANGUAGE || from == GRAPH_TYPED)
        return to == GRAPH_LANGUAGE
                   ? from != to || end < function
                   : to == GRAPH_TYPED && from == to && end < function;
    return 1; /* what lowers calls everything, itself too */
}

static int has_end(const graph_definition *d, const graph_edge *edge)
{
    for (int i = 0; i < d->edge_count; i++)
        if (d->edges[i].to == edge->to &&
            d->edges[i].function == edge->function)
            return 1;
    return 0;
}

static void add_edge(history *h, graph_definition *d, int which, int function)
{
    const int derives = percent(h, 40);
    graph_edge edge = {which != GRAPH_LANGUAGE && derives,
                       history_below(h, GRAPH_COUNT),
                       history_below(h, GRAPH_FUNCTIONS), 0};
    const int type = history_below(h, GRAPH_TYPES);

    if (!(h->options->without & HISTORY_TYPES) && edge.to < GRAPH_TYPED)
        edge.type = type;
    if (has_end(d, &edge) ||
        (edge.derives && edge.to == which && edge.function == function) ||
        (!edge.derives &&
         !calls_may_go(which, function, edge.to, edge.function)))
        return;
    d->edges[d->edge_count++] = edge;
}

static graph_definition make(history *h, int which, int function)
{
    const int bit = which * GRAPH_FUNCTIONS + function;
    graph_definition d = {.number = draw(h) % NUMBERS};
    const int tries = history_below(h, 2 * GRAPH_EDGES);

    d.fails = percent(h, 6);
    d.forgives = percent(h, 30) && which != GRAPH_LANGUAGE;
    for (int i = 0; i < tries && d.edge_count < GRAPH_EDGES; i++)
        add_edge(h, &d, which, function);
    if (h->options->dropped >> bit & 1)
        d = (graph_definition){0};
    return d;
}

void history_make_all(history *h)
{
    history_phase(h, 0);
    for (int which = 0; which < GRAPH_COUNT; which++)
        for (int i = 0; i < GRAPH_FUNCTIONS; i++)
            h->before[which][i] = h->now[which][i] = make(h, which, i);
}

void history_fail(history *h, const char *what, kiln_error *error)
{
    if (error && !h->options->is_quiet)
        fprintf(stderr, "%s\n", kiln_error_message(error));
    if (!h->options->is_quiet)
        fprintf(stderr, "seed %llu, edit %d: %s\n",
                (unsigned long long)h->options->seed, h->edit, what);
    kiln_error_free(error);
    h->differs = 1;
}

static const char *const names[GRAPH_COUNT] = {"low_a", "low_b", "typed",
                                               "main"};

static void tell(const history *h, int which, int function)
{
    const graph_definition *d = &h->now[which][function];

    if (!h->options->is_told ||
        (h->edit < 0 && d->number == 0 && d->edge_count == 0 && !d->fails))
        return;
    printf("  edit %d: %s.f%d = %llu%s%s", h->edit, names[which], function,
           (unsigned long long)d->number, d->fails ? ", has an error" : "",
           d->forgives ? ", forgives" : "");
    for (int i = 0; i < d->edge_count; i++)
        printf(", %s %s.f%d/%d", d->edges[i].derives ? "derives from" : "calls",
               names[d->edges[i].to], d->edges[i].function, d->edges[i].type);
    printf("\n");
}

static void define(history *h, graph *g, int which, int function)
{
    if (graph_define(g, which, function, &h->now[which][function], NULL) !=
        KILN_OK)
        history_fail(h, "a definition is refused", NULL);
}

void history_change(history *h)
{
    const int which = history_below(h, GRAPH_COUNT);
    const int function = history_below(h, GRAPH_FUNCTIONS);
    graph_definition *now = &h->now[which][function];
    graph_definition *before = &h->before[which][function];
    const graph_definition old = *now;

    *now = percent(h, 25) ? *before : make(h, which, function);
    *before = old;
    tell(h, which, function);
    define(h, &h->living, which, function);
    h->is_stale = 1;
}

/* ---- contexts ---- */

void history_define_all(history *h, graph *g)
{
    for (int which = GRAPH_COUNT; which-- > 0;)
        for (int i = 0; i < GRAPH_FUNCTIONS; i++) {
            if (g == &h->living)
                tell(h, which, i);
            define(h, g, which, i);
        }
}

int history_open(history *h, graph *g, uint8_t mode, const char *folder)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_error *error = NULL;

    cache.mode = mode;
    cache.directory = folder;
    /* Worlds are held in any case: who looks counts wrong ones. */
    if (graph_open(g, &cache, GRAPH_HOLD | (unsigned)history_below(h, 8),
                   &error) != KILN_OK) {
        history_fail(h, "a context cannot be opened", error);
        graph_close(g);
        return 0;
    }
    for (int i = 0; i < GRAPH_LANGUAGE; i++) {
        g->frontends[i].asks_today = percent(h, 50);
        g->frontends[i].faults = h->options->faults;
    }
    return 1;
}

/* Worlds that Kiln holds though nothing is asked of it. */
static int holds_worlds(const history *h, const graph *g, int which)
{
    int count = 0;

    for (int i = 0; i < GRAPH_HELD; i++)
        count += g->frontends[which].held[i].count;
    for (int i = 0; i < HISTORY_HELD_MAX; i++)
        count -= g == &h->living && h->held[i].which == which;
    return count;
}

void history_close(history *h, graph *g)
{
    for (int i = 0; i < GRAPH_LANGUAGE; i++) {
        if (g->frontends[i].wrong_worlds)
            history_fail(h, "a world was asked about that nobody holds", NULL);
        if (holds_worlds(h, g, i) != 0)
            history_fail(h, "a world is held for nobody", NULL);
    }
    graph_close(g);
}
