/* toy.h - a small runtime that embeds Kiln with types and methods of its own. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef TOY_H
#define TOY_H

#include <pthread.h>

#include <kiln.h>
#include <kiln/sys/frontend.h>

/*
 * A program of Toy is a list of methods, each a head (result, name, names and
 * types of parameters) and lines of LLVM IR, with a blank line between them.
 * `@(area s)` is the function that such a call goes to: of the methods that
 * take the types of all arguments, the one with the narrowest. `name@table`
 * puts a method into an overlay table. A kernel returns i32.
 *
 *     float area s Shape         i32 paint out f32[:] s Shape
 *       ret float 1.0              %a = call float @(area s)(ptr %item, ptr %s)
 *                                  store float %a, ptr %out
 *     float area@rough s Ball      ret i32 0
 *       ret float 3.0
 */
#define TOY_TYPES 6
#define TOY_TEXT 128 /* of a head, or of a call, "area Ball" */
#define TOY_WORDS 10

typedef struct toy_words {
    char text[TOY_TEXT];
    char *at[TOY_WORDS + 1]; /* ended by NULL */
    size_t count;
} toy_words;

typedef struct toy_method {
    char label[TOY_TEXT]; /* the head as written: what exceptions name */
    toy_words head;
    const char *name, *table; /* "" is the global table */
    int types[TOY_WORDS];
    size_t count;
    const char *body, *end;
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

/* ---- program.c ---- */
void toy_split(toy_words *out, const char *text, size_t size);
/* The type called `name`, or NULL. */
kiln_status toy_type(const kiln_type **out, const toy *t, const char *name);
const toy_method *toy_dispatch(const toy *t, const char *call,
                               const kiln_config *config, uint64_t world);
kiln_digest toy_digest(const char *text, size_t size);
/* Defines all of `text`, which must outlive the runtime, in one new world. */
kiln_status toy_load(toy *t, const char *file, const char *text,
                     kiln_change_report *report);

/* ---- frontend.c ---- */
extern const kiln_frontend_ops toy_frontend;
/* Compiles a kernel and runs it over `size` items that write to `out`. */
kiln_status toy_run(const toy *t, const char *call, const kiln_config *config,
                    uint64_t world, float *out, int64_t size, const void *value,
                    kiln_error **error);

#endif /* TOY_H */
