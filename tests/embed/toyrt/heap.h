/* heap.h - Toy's objects, which a collector moves. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef HEAP_H
#define HEAP_H

#include <pthread.h>

#include <kiln.h>

/* An object is an array of floats. */
typedef struct object {
    float *cells;
    size_t count;
    int roots; /* while there are some, it stays where it is */
    struct object *next;
} object;

/* One object may have several names; one without any dies. */
typedef struct name {
    char text[32];
    object *object;
    int is_forgotten; /* only whoever has it rooted knows it still */
    struct name *next;
} name;

typedef struct heap {
    pthread_mutex_t lock; /* of its own: Kiln asks from any thread */
    object *objects;
    name *names;
    size_t moved, died;
} heap;

void heap_new(heap *h, const char *text, size_t count);
/* Gives the object called `text` another name. */
void heap_alias(heap *h, const char *alias, const char *text);
void heap_forget(heap *h, const char *text);
float heap_get(heap *h, const char *text, size_t index);
void heap_set(heap *h, const char *text, size_t index, float value);
/* Moves every object that is not rooted; frees those that nobody can name. */
void heap_collect(heap *h);
void heap_end(heap *h);

/* What Kiln asks of a host. */
kiln_status heap_resolve(heap *h, const char *text, void **address);
void heap_root(heap *h, const char *text, const void *address);
void heap_unroot(heap *h, const char *text, const void *address);

#endif /* HEAP_H */
