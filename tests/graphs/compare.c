/* compare.c - what kernels write, and what definitions say that they do. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

#define ROOTS 3 /* kernels of each version in each context */

/* ---- what is expected ---- */

static int refresh_plain(history *h)
{
    if (!h->is_stale)
        return 1;
    if (h->plain.context)
        history_close(h, &h->plain);
    if (!history_open(h, &h->plain, KILN_CACHE_MODE_OFF, NULL))
        return 0;
    history_define_all(h, &h->plain);
    h->is_stale = 0;
    return 1;
}

static kiln_status language_ir(void *env, int function, int settings,
                               uint64_t *hash)
{
    history *h = env;
    const graph_job job = {
        .which = GRAPH_LANGUAGE, .function = function, .settings = settings};
    const kiln_code *code = NULL;
    const void *bytes;
    size_t size;
    kiln_status status = KILN_EIO;

    if (refresh_plain(h))
        status = graph_infer_job(&code, &h->plain, &job, NULL);
    if (status != KILN_OK)
        return status;
    bytes = kiln_code_ir(code, &size);
    *hash = graph_hash(GRAPH_HASH, bytes, size);
    return KILN_OK;
}

history_outcome history_expected(history *h, graph *g, const graph_job *job)
{
    history_outcome expected = {KILN_OK, 0};

    expected.status = graph_job_value(&expected.value, g, job, language_ir, h);
    return expected;
}

/* One error is as good as another. */
int history_agrees(const history_outcome *a, const history_outcome *b)
{
    if (a->status != KILN_OK || b->status != KILN_OK)
        return a->status != KILN_OK && b->status != KILN_OK;
    return a->value == b->value;
}

static void differ(history *h, const char *context, const graph_job *job,
                   const history_outcome *got, const history_outcome *wanted,
                   kiln_error *error)
{
    char text[256];

    (void)snprintf(
        text, sizeof text,
        "%s: kernel %d of frontend %d, type %d, settings %d, in "
        "world %llu: %s, %llx instead of %s, %llx",
        context, job->function, job->which, job->type, job->settings,
        (unsigned long long)job->world, kiln_status_name(got->status),
        (unsigned long long)got->value, kiln_status_name(wanted->status),
        (unsigned long long)wanted->value);
    history_fail(h, text, error);
}

/* ---- what is attached ---- */

#define CONSUMER "values 1"

static void free_bytes(kiln_blob *blob)
{
    free((void *)(uintptr_t)blob->data);
    blob->release = NULL;
}

static kiln_status load_value(const void *bytes, size_t size, void **value)
{
    if (size != sizeof(uint64_t))
        return KILN_ECORRUPT;
    *value = malloc(size);
    if (!*value)
        return KILN_ENOMEM;
    memcpy(*value, bytes, size);
    return KILN_OK;
}

static kiln_status save_value(void *value, kiln_blob *out)
{
    void *copy = NULL;
    const kiln_status status = load_value(value, sizeof(uint64_t), &copy);

    *out = (kiln_blob){copy, sizeof(uint64_t), free_bytes, NULL};
    return status;
}

/* A consumer that each context knows, once. */
static void add_consumer(kiln_context *context)
{
    const kiln_attachment_consumer consumer = {.size = sizeof consumer,
                                               .name = CONSUMER,
                                               .load = load_value,
                                               .destroy = free,
                                               .save = save_value};

    (void)!kiln_attachment_consumer_add(context, &consumer, NULL);
}

/* What was attached to the code is what it means. */
static void attach(history *h, graph *g, const char *context,
                   const graph_job *job, const history_outcome *wanted)
{
    const kiln_config *config = g->configs[job->settings];
    kiln_attachment made = {.size = sizeof made,
                            .destroy = free,
                            .relocation = KILN_RELOCATION_PORTABLE,
                            .save = save_value,
                            .load = load_value};
    const kiln_code *code = NULL;
    kiln_error *error = NULL;
    void *found = NULL;

    add_consumer(g->context);
    if (graph_infer_job(&code, g, job, &error) != KILN_OK) {
        history_fail(h, "a function has no code, and its kernel has", error);
        return;
    }
    if (kiln_attachment_get(&found, code, config, CONSUMER) == KILN_OK) {
        const history_outcome attached = {KILN_OK, *(uint64_t *)found};

        h->counts->attached++;
        if (!history_agrees(&attached, wanted)) {
            fprintf(stderr, "%s", h->options->is_quiet ? "" : "attached: ");
            differ(h, context, job, &attached, wanted, NULL);
        }
        return;
    }
    if (load_value(&wanted->value, sizeof wanted->value, &made.value) !=
            KILN_OK ||
        kiln_attachment_put(NULL, code, config, CONSUMER, &made) != KILN_OK)
        history_fail(h, "a result cannot be attached", NULL);
}

/* ---- comparing ---- */

void history_compare(history *h, graph *g, const char *context,
                     const graph_job *job)
{
    kiln_error *error = NULL;
    const history_outcome wanted = history_expected(h, g, job);
    history_outcome got = {KILN_OK, 0};

    got.status = graph_run_job(&got.value, g, job, g->queue, &error);
    h->counts->kernels++;
    h->counts->held += job->world != 0;
    h->counts->stored +=
        got.status == KILN_OK && g->source == KILN_SOURCE_STORE;
    if (got.status == KILN_ERECURSION && graph_job_may_recurse(g, job)) {
        kiln_error_free(error);
        return;
    }
    if (!history_agrees(&got, &wanted)) {
        differ(h, context, job, &got, &wanted, error);
        return;
    }
    kiln_error_free(error);
    if (got.status == KILN_OK && history_happens(h, HISTORY_ATTACH, 30))
        attach(h, g, context, job, &wanted);
}

void history_compare_some(history *h, graph *g, const char *context)
{
    for (int i = 0; i < ROOTS; i++) {
        const graph_job job = history_any_job(h);

        history_compare(h, g, context, &job);
    }
}

void history_compare_moment(history *h, const char *context,
                            const graph_job *job, const history_outcome *got,
                            const history_outcome *before,
                            const history_outcome *after)
{
    h->counts->kernels++;
    if (got->status == KILN_ERECURSION)
        return; /* perhaps of the one moment, perhaps of the other */
    if (!history_agrees(got, before) && !history_agrees(got, after))
        differ(h, context, job, got, after, NULL);
}
