/* toyrt.h - what the files of Toy know of each other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TOYRT_H
#define TOYRT_H

#include <pthread.h>
#include <stdio.h>

#include <kiln.h>
#include <kiln/sys/frontend.h>

#include "heap.h"

enum { TEXT = 128, WORDS = 8 };

typedef struct words {
    char text[TEXT];
    char *at[WORDS];
    size_t count;
} words;

typedef struct method {
    char label[TEXT]; /* the head: what exceptions name */
    words head;       /* without the table */
    char *table;      /* of an overlay, else "" */
    const char *body;
    uint32_t line; /* today's: no part of the meaning */
    kiln_digest digest;
    uint64_t subject;    /* of queries: what a change of it may change */
    uint64_t born, died; /* visible in born <= world < died */
    struct method *next;
} method;

typedef struct toy {
    pthread_mutex_t lock; /* held by every thread while it runs Toy */
    uint64_t waits;       /* how often Kiln made a thread let go of it */
    uint64_t world;
    method *methods; /* newest first, the dead ones too */
    heap heap;
    kiln_context *context;
    kiln_frontend *frontend;
    kiln_device *device;
    kiln_queue *queue;
} toy;

extern int failures;
#define CHECK(good) \
    (failures += \
     !(good) && fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #good))

/* ---- toyrt.c ---- */

extern const kiln_frontend_ops toy_frontend;

/* Defines a method in a new world; gives how many code instances that ended. */
size_t define(toy *t, uint32_t line, const char *text);
/* Compiles a kernel and runs it over `size` items that write to `out`. */
kiln_status toy_run(const toy *t, const char *call, const kiln_config *config,
                    uint64_t world, void *out, int64_t size,
                    kiln_error **error);
/* The host's brackets. */
void let_go(void *env);
void take_back(void *env);

/* ---- program.c ---- */

#define GIVE(head, value) head "\n  ret float " value "\n"
#define PUT(value) \
    "  %i = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %o = getelementptr float, ptr %p1, i64 %i\n" \
    "  store float " value ", ptr %o\n  ret i32 0\n"

/* Runs a kernel over four items, and gives what the last one wrote. */
float run(toy *t, const char *call, const kiln_config *config, uint64_t world);

/* ---- objects.c: a program with objects that move ---- */

void objects_move(toy *t, const kiln_config *resolved,
                  const kiln_config *patched);
/* The functions that the host offers, beside its heap. */
kiln_status objects_function(const char *name, void **address);

#endif /* TOYRT_H */
