/* heap.c - Toy's objects, which a collector moves. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * An object keeps its place only while it is rooted: each collection takes all
 * others elsewhere and wrecks what they left. Whoever holds an address without
 * a root, be it for a moment, finds rubbish there.
 */

static void *get_memory(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory)
        abort(); /* Toy's own way with its own memory */
    return memory;
}

static object *find(const heap *h, const char *text)
{
    for (const name *n = h->names; n; n = n->next)
        if (!n->is_forgotten && strcmp(n->text, text) == 0)
            return n->object;
    return NULL;
}

/* What is rooted has not moved, so it is known by its address, too. */
static object *find_rooted(const heap *h, const char *text, const void *address)
{
    for (const name *n = h->names; n; n = n->next)
        if (strcmp(n->text, text) == 0 && n->object->roots > 0 &&
            n->object->cells == address)
            return n->object;
    return find(h, text);
}

/* ---- names ---- */

static void add_name(heap *h, const char *text, object *o)
{
    name *n = get_memory(sizeof *n);

    snprintf(n->text, sizeof n->text, "%s", text);
    n->object = o;
    n->next = h->names;
    h->names = n;
}

void heap_new(heap *h, const char *text, size_t count)
{
    object *o = get_memory(sizeof *o);

    o->cells = get_memory(count * sizeof *o->cells);
    o->count = count;
    pthread_mutex_lock(&h->lock);
    o->next = h->objects;
    h->objects = o;
    add_name(h, text, o);
    pthread_mutex_unlock(&h->lock);
}

void heap_alias(heap *h, const char *alias, const char *text)
{
    pthread_mutex_lock(&h->lock);
    add_name(h, alias, find(h, text));
    pthread_mutex_unlock(&h->lock);
}

void heap_forget(heap *h, const char *text)
{
    pthread_mutex_lock(&h->lock);
    for (name *n = h->names; n; n = n->next)
        if (strcmp(n->text, text) == 0)
            n->is_forgotten = 1;
    pthread_mutex_unlock(&h->lock);
}

float heap_get(heap *h, const char *text, size_t index)
{
    float value;

    pthread_mutex_lock(&h->lock);
    value = find(h, text)->cells[index];
    pthread_mutex_unlock(&h->lock);
    return value;
}

void heap_set(heap *h, const char *text, size_t index, float value)
{
    pthread_mutex_lock(&h->lock);
    find(h, text)->cells[index] = value;
    pthread_mutex_unlock(&h->lock);
}

/* ---- the collector ---- */

static void wreck(object *o)
{
    memset(o->cells, 0xff, o->count * sizeof *o->cells);
    free(o->cells);
}

static void move(object *o)
{
    float *cells = get_memory(o->count * sizeof *cells);

    memcpy(cells, o->cells, o->count * sizeof *cells);
    wreck(o);
    o->cells = cells;
}

static int is_named(const heap *h, const object *o)
{
    for (const name *n = h->names; n; n = n->next)
        if (n->object == o && !n->is_forgotten)
            return 1;
    return 0;
}

static void drop_names(heap *h, const object *o)
{
    for (name **at = &h->names; *at;) {
        name *n = *at;

        if (n->object != o) {
            at = &n->next;
            continue;
        }
        *at = n->next;
        free(n);
    }
}

static void kill(heap *h, object **at)
{
    object *o = *at;

    *at = o->next;
    drop_names(h, o);
    wreck(o);
    free(o);
    h->died++;
}

void heap_collect(heap *h)
{
    pthread_mutex_lock(&h->lock);
    for (object **at = &h->objects; *at;) {
        if (!(*at)->roots && !is_named(h, *at)) {
            kill(h, at);
            continue;
        }
        if (!(*at)->roots) {
            move(*at);
            h->moved++;
        }
        at = &(*at)->next;
    }
    pthread_mutex_unlock(&h->lock);
}

void heap_end(heap *h)
{
    while (h->objects)
        kill(h, &h->objects);
}

/* ---- what Kiln asks ---- */

kiln_status heap_resolve(heap *h, const char *text, void **address)
{
    object *o;

    pthread_mutex_lock(&h->lock);
    o = find(h, text);
    if (o)
        *address = o->cells;
    pthread_mutex_unlock(&h->lock);
    return o ? KILN_OK : KILN_ENOTFOUND;
}

/* The object may have moved since it was resolved. It is rooted where it is
   now; Kiln asks again and sees. */
void heap_root(heap *h, const char *text, const void *address)
{
    object *o;

    pthread_mutex_lock(&h->lock);
    o = find_rooted(h, text, address);
    if (o)
        o->roots++;
    pthread_mutex_unlock(&h->lock);
}

void heap_unroot(heap *h, const char *text, const void *address)
{
    object *o;

    pthread_mutex_lock(&h->lock);
    o = find_rooted(h, text, address);
    if (o)
        o->roots--;
    pthread_mutex_unlock(&h->lock);
}
