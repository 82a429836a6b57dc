/* bench_stage.c - single stages between a text and a kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_program.h"

/* Makes a program of `count` functions of 20 lines, each called by one kernel
   that inlines all of them. */
static char *make_text(int64_t count)
{
    size_t capacity = (size_t)count * 1200 + 4096;
    char *text = malloc(capacity);
    size_t size = 0;

    if (!text)
        bench_check(KILN_ENOMEM, NULL);
    for (int64_t i = 0; i < count; i++) {
        size += (size_t)snprintf(text + size, capacity - size,
                                 "fn work%lld(a, b)\n"
                                 "    s = a + %lld\n",
                                 (long long)i, (long long)i);
        for (int line = 0; line < 5; line++)
            size += (size_t)snprintf(text + size, capacity - size,
                                     "    if s > b\n"
                                     "        s = s * b - %d\n"
                                     "    end\n",
                                     line + 1);
        size += (size_t)snprintf(text + size, capacity - size,
                                 "    t = max(s, b)\n"
                                 "    return t + s\n"
                                 "end\n");
    }
    snprintf(text + size, capacity - size, "%s", BENCH_SAXPY);
    return text;
}

struct many {
    char *text;
    int64_t count;
};

static void *many_setup(const struct bench *bench, const char **reason)
{
    struct many *many = calloc(1, sizeof *many);

    (void)reason;
    if (!many)
        bench_check(KILN_ENOMEM, NULL);
    many->count = bench->size;
    many->text = make_text(bench->size);
    return many;
}

static void many_teardown(void *state)
{
    struct many *many = state;

    free(many->text);
    free(many);
}

static void infer_one(struct program *program, int64_t index)
{
    const kiln_type *types[2] = {program->types[1], program->types[1]};
    kiln_signature signature = {NULL, types, 2};
    const kiln_code *code;
    kiln_error *error = NULL;
    char name[32];

    snprintf(name, sizeof name, "work%lld", (long long)index);
    bench_check(kiln_package_function(&signature.function, program->package,
                                      name, &error),
                &error);
    bench_check(kiln_infer(&code, program->context, &signature, program->config,
                           0, &error),
                &error);
}

static void parse_and_infer(void *state, uint64_t iterations)
{
    struct many *many = state;
    struct program program;
    uint64_t start = bench_now_ns();

    (void)iterations;
    program_open(&program, many->text, 0);
    for (int64_t i = 0; i < many->count; i++)
        infer_one(&program, i);
    bench_set_time(bench_now_ns() - start);
    program_close(&program);
}

static void parse_only(void *state, uint64_t iterations)
{
    struct many *many = state;
    struct program program;
    uint64_t start = bench_now_ns();

    (void)iterations;
    program_open(&program, many->text, 0);
    bench_set_time(bench_now_ns() - start);
    program_close(&program);
}

/* ---- all stages for a saxpy, in a process that has done it before ---- */

struct again {
    kiln_statistics last;
};

static void *again_setup(const struct bench *bench, const char **reason)
{
    struct again *again = calloc(1, sizeof *again);
    struct program program;

    (void)bench;
    (void)reason;
    if (!again)
        bench_check(KILN_ENOMEM, NULL);
    program_open(&program, BENCH_SAXPY, 0);
    (void)program_compile(&program);
    program_close(&program);
    return again;
}

static void compile_again(void *state, uint64_t iterations)
{
    struct again *again = state;
    struct program program;
    uint64_t start = bench_now_ns();

    (void)iterations;
    program_open(&program, BENCH_SAXPY, 0);
    (void)program_compile(&program);
    bench_set_time(bench_now_ns() - start);
    again->last.size = sizeof again->last;
    kiln_statistics_get(&again->last, program.context);
    program_close(&program);
}

static void again_extra(void *state, char *json, size_t capacity)
{
    static const char *const names[] = {
#define NAME(name, text) text,
        KILN_STAGE_MAP(NAME)
#undef NAME
    };
    const struct again *again = state;
    size_t size = 0;

    for (int i = 0; i < KILN_STAGE_COUNT && size < capacity; i++)
        size += (size_t)snprintf(json + size, capacity - size,
                                 ", \"%s_ns\": %llu", names[i],
                                 (unsigned long long)again->last.stage_ns[i]);
}

#define MANY(title, function, count) \
    { \
        .name = (title), .setup = many_setup, .run = (function), \
        .teardown = many_teardown, .whole = 1, .size = (count) \
    }

const struct bench bench_stages[] = {
    MANY("parse/methods=1000", parse_only, 1000),
    MANY("parse+infer/methods=250", parse_and_infer, 250),
    MANY("parse+infer/methods=500", parse_and_infer, 500),
    MANY("parse+infer/methods=1000", parse_and_infer, 1000),
    MANY("parse+infer/methods=2000", parse_and_infer, 2000),
    {.name = "compile/saxpy",
     .setup = again_setup,
     .run = compile_again,
     .teardown = free,
     .whole = 1,
     .extra = again_extra},
    {.name = NULL},
};
