/* hostile_frontend.c - frontends whose callbacks misbehave as a test
   demands. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/hostile_frontend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/harness.h"

static hostile frontends[2];
const uint64_t hostile_subject = 5;

static uint64_t world_of(void *self)
{
    hostile *h = self;

    if (h->ask_world)
        h->ask_world(h);
    return h->world;
}

static kiln_status infer(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t world,
                         kiln_inference *out, kiln_error **error)
{
    hostile *h = self;
    const kiln_query query = {hostile_subject, "q", 1, {{1}}};

    (void)config, (void)world;
    if (h->infer)
        return h->infer(h, signature, out, error);
    if (kiln_inference_add_query(out, &query) != KILN_OK)
        return KILN_ENOMEM;
    return kiln_inference_set_ir(out, "ir", 2);
}

static kiln_status answer(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t world,
                          kiln_digest *out)
{
    hostile *h = self;

    (void)query, (void)size, (void)config, (void)world;
    if (h->answer)
        h->answer(h);
    *out = (kiln_digest){{1}};
    return KILN_OK;
}

static void end(void *self)
{
    (void)self;
}

static void free_text(kiln_blob *blob)
{
    free((void *)(uintptr_t)blob->data);
    blob->release = NULL;
}

static kiln_status lower(void *self, const kiln_lower_request *request,
                         kiln_blob *out, kiln_error **error)
{
    hostile *h = self;
    const size_t room = strlen(request->entry) + 100;
    char *text;

    if (h->lower)
        return h->lower(h, out, error);
    text = malloc(room);
    if (!text)
        return KILN_ENOMEM;
    (void)snprintf(text, room, "define i32 @%s(ptr %%item) {\n  ret i32 0\n}\n",
                   request->entry);
    *out = (kiln_blob){text, strlen(text), free_text, NULL};
    return KILN_OK;
}

static kiln_status hold(void *self, uint64_t world)
{
    hostile *h = self;

    (void)world;
    return h->hold ? h->hold(h) : KILN_OK;
}

static void release(void *self, uint64_t world)
{
    hostile *h = self;

    (void)world;
    if (h->release)
        h->release(h);
}

static void collect(void *self, uint64_t oldest)
{
    hostile *h = self;

    (void)oldest;
    if (h->collect)
        h->collect(h);
}

static kiln_status type(void *self, const char *text, uint64_t world,
                        const kiln_type **out)
{
    hostile *h = self;

    (void)world;
    if (h->type)
        return h->type(h, out);
    return kiln_type_parse(out, h->context, NULL, text, NULL);
}

static kiln_status function(void *self, const char *name,
                            const kiln_function **out)
{
    hostile *h = self;

    if (h->function)
        return h->function(h, out);
    return kiln_function_new(out, h->frontend, name, NULL, NULL);
}

static void take_line(void *env, int32_t level, const char *line)
{
    hostile *h = env;
    const size_t size = strlen(h->lines);

    (void)level;
    (void)snprintf(h->lines + size, sizeof h->lines - size, "%s\n", line);
}

static void add_frontend(hostile *h, const char *name)
{
    const kiln_frontend_ops ops = {.size = sizeof ops,
                                   .name = name,
                                   .world = world_of,
                                   .infer = infer,
                                   .answer = answer,
                                   .free = end,
                                   .lower = lower,
                                   .hold = hold,
                                   .release = release,
                                   .collect = collect,
                                   .type = type,
                                   .function = function};

    h->context = frontends[0].context;
    h->world = 3;
    assert_ok(
        kiln_frontend_add(&h->frontend, h->context, &ops, h, &test_error));
    assert_ok(kiln_config_new(&h->config, h->context, NULL, &test_error));
    assert_ok(kiln_function_new(&h->f, h->frontend, "f", NULL, &test_error));
    assert_ok(kiln_function_new(&h->g, h->frontend, "g", NULL, &test_error));
}

hostile *hostile_begin(const char *folder)
{
    const kiln_host_ops host = {.size = sizeof host, .log = take_line};
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    hostile *h = &frontends[0];

    memset(frontends, 0, sizeof frontends);
    cache.mode = folder ? KILN_CACHE_MODE_READ_WRITE : KILN_CACHE_MODE_OFF;
    cache.directory = folder;
    options.cache = &cache;
    options.codegen = KILN_CODEGEN_THREAD;
    options.host = &host;
    options.host_env = h;
    assert_ok(kiln_context_new(&h->context, &options, &test_error));
    add_frontend(&frontends[0], "hostile 1");
    add_frontend(&frontends[1], "hostile 2");
    frontends[0].other = &frontends[1];
    frontends[1].other = &frontends[0];
    return h;
}

void hostile_end(void)
{
    kiln_context_free(frontends[0].context);
}
