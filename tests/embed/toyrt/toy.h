/* toy.h - a small runtime that embeds Kiln with types and methods of its own.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TOY_H
#define TOY_H

#include <pthread.h>

#include <kiln.h>
#include <kiln/sys/frontend.h>

/*
 * A method of Toy is a head (result, name, names and types of parameters) and
 * indented lines of LLVM IR. `@(area s)` in it is the function that such a
 * call goes to: of the methods that take the types of all arguments, the one
 * with the narrowest. `name@table` puts a method into an overlay table.
 *
 *     float area s Shape         i32 paint out f32[:] s Shape
 *       ret float 1.0              %a = call float @(area s)(ptr %item, ptr %s)
 *                                  store float %a, ptr %out
 *     float area@rough s Ball      ret i32 0
 *       ret float 3.0
 *
 * A function that returns i32 is a kernel.
 */
#define TOY_TEXT 128 /* of a head, or of a call with its types, "area Ball" */
#define TOY_WORDS 8

typedef struct toy_words {
    char text[TOY_TEXT];
    char *at[TOY_WORDS];
    size_t count;
} toy_words;

typedef struct toy_method {
    char label[TOY_TEXT]; /* the head as written: what exceptions name */
    toy_words head;       /* name at 1, then names and types in turn */
    const char *table;    /* "" is the global one */
    const char *body;
    const char *file; /* today's place: no part of the meaning */
    uint32_t line;
    kiln_digest digest;
    uint64_t born, died; /* visible in born <= world < died */
    struct toy_method *next;
} toy_method;

typedef struct toy {
    pthread_mutex_t lock; /* held by every thread while it runs Toy */
    uint64_t waits;       /* how often Kiln made a thread let go of it */
    uint64_t world;
    toy_method *methods; /* newest first, the dead ones too */
    kiln_context *context;
    kiln_frontend *frontend;
    kiln_queue *queue;
} toy;

extern const kiln_frontend_ops toy_frontend;

/* Defines a method, whose text must outlive Toy, in a new world. */
kiln_status toy_define(toy *t, const char *file, uint32_t line,
                       const char *text, kiln_change_report *report);

/* The signature of a call, "area Ball"; `types` is where its types stand. */
kiln_status toy_signature(kiln_signature *out,
                          const kiln_type *types[TOY_WORDS], const toy *t,
                          const char *call, kiln_error **error);

/* Compiles a kernel and runs it over `size` items that write to `out`, with
   `value` as another argument unless that is NULL. */
kiln_status toy_run(const toy *t, const char *call, const kiln_config *config,
                    uint64_t world, float *out, int64_t size, const void *value,
                    kiln_error **error);

#endif /* TOY_H */
