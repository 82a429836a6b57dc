/* graph.c - frontends whose programs call and derive from each other's
   functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/frontend/graph_inside.h"

#define TEXT 1024

const char *const graph_names[GRAPH_COUNT] = {"low_a", "low_b", "typed",
                                              "main"};

int graph_lowers(int which)
{
    return which == GRAPH_LOW_A || which == GRAPH_LOW_B;
}

/* ---- definitions ---- */

graph_definition graph_definition_at(graph_frontend *f, int function,
                                     uint64_t world)
{
    const graph_program *p = &f->program;
    graph_definition found = {0};

    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < p->counts[function]; i++)
        if (p->versions[function][i].world <= world)
            found = p->versions[function][i];
    pthread_mutex_unlock(&f->lock);
    return found;
}

static kiln_digest digest_of(graph_frontend *f, int function, uint64_t world)
{
    graph_definition d = graph_definition_at(f, function, world);

    d.world = 0;
    /* What follows the used edges may be meaningless bytes. */
    return kiln_digest_bytes(&d, offsetof(graph_definition, edges) +
                                     sizeof d.edges);
}

/* Called with the lock. A full history drops its older half. */
static void add_definition(graph_frontend *f, int function,
                           const graph_definition *definition, uint64_t world)
{
    graph_definition *versions = f->program.versions[function];
    int *count = &f->program.counts[function];
    graph_definition *made;

    if (*count == GRAPH_HISTORY) {
        memmove(versions, versions + GRAPH_HISTORY / 2,
                GRAPH_HISTORY / 2 * sizeof *versions);
        *count = GRAPH_HISTORY / 2;
    }
    made = &versions[(*count)++];
    memset(made, 0, sizeof *made); /* clears padding and unused edges, too */
    made->world = world;
    made->number = definition->number;
    made->fails = definition->fails;
    made->forgives = definition->forgives;
    made->edge_count = definition->edge_count;
    memcpy(made->edges, definition->edges,
           (size_t)definition->edge_count * sizeof *made->edges);
}

/* `fn f2() = 7 + 2 * f0() + 3 * f1()` */
static kiln_status define_in_language(graph *g, int function,
                                      const graph_definition *d,
                                      kiln_change_report *report)
{
    graph_frontend *f = &g->frontends[GRAPH_LANGUAGE];
    char text[TEXT];
    int size = snprintf(text, sizeof text, "fn f%d() = %llu", function,
                        (unsigned long long)d->number);

    for (int i = 0; i < d->edge_count; i++)
        size += snprintf(text + size, sizeof text - (size_t)size,
                         " + %d * f%d()", i + 2, d->edges[i].function);
    size += snprintf(text + size, sizeof text - (size_t)size,
                     "%s\nkernel k%d(y)\n    y[0] = f%d()\nend\n",
                     d->fails ? " + missing" : "", function, function);
    if (kiln_package_define(g->package, "graph.kiln", text, (size_t)size,
                            report, NULL) != KILN_OK)
        return KILN_ESYNTAX;
    pthread_mutex_lock(&f->lock);
    f->program.world = kiln_world(f->frontend);
    add_definition(f, function, d, f->program.world);
    pthread_mutex_unlock(&f->lock);
    return KILN_OK;
}

kiln_status graph_define(graph *g, int which, int function,
                         const graph_definition *definition,
                         kiln_change_report *report)
{
    graph_frontend *f = &g->frontends[which];
    uint64_t subject = (uint64_t)function, world;

    if (which == GRAPH_LANGUAGE)
        return define_in_language(g, function, definition, report);
    pthread_mutex_lock(&f->lock);
    world = f->program.world + 1;
    add_definition(f, function, definition, world);
    f->program.world = world;
    pthread_mutex_unlock(&f->lock);
    if (f->faults & GRAPH_FAULT_CHANGE)
        return KILN_OK;
    return kiln_world_changed(f->frontend, world, &subject, 1, report);
}

/* ---- worlds ---- */

static uint64_t world_of(void *self)
{
    graph_frontend *f = self;
    uint64_t world;

    pthread_mutex_lock(&f->lock);
    world = f->program.world;
    pthread_mutex_unlock(&f->lock);
    return world;
}

static kiln_status hold(void *self, uint64_t world)
{
    graph_frontend *f = self;
    int at = -1;

    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < GRAPH_HELD; i++)
        if (f->held[i].count && f->held[i].world == world)
            at = i;
    for (int i = 0; at < 0 && i < GRAPH_HELD; i++)
        if (!f->held[i].count)
            at = i;
    if (at >= 0) {
        f->held[at].world = world;
        f->held[at].count++;
    }
    pthread_mutex_unlock(&f->lock);
    return at < 0 ? KILN_ENOMEM : KILN_OK;
}

static void release(void *self, uint64_t world)
{
    graph_frontend *f = self;

    pthread_mutex_lock(&f->lock);
    for (int i = 0; i < GRAPH_HELD; i++)
        if (f->held[i].count && f->held[i].world == world)
            f->held[i].count--;
    pthread_mutex_unlock(&f->lock);
}

static void collect(void *self, uint64_t oldest)
{
    graph_frontend *f = self;

    pthread_mutex_lock(&f->lock);
    if (oldest > f->oldest)
        f->oldest = oldest;
    pthread_mutex_unlock(&f->lock);
}

/* Requests may be about the current world, the one before, and held ones, but
   about none that was collected. */
static void check_world(graph_frontend *f, uint64_t world)
{
    int known;

    pthread_mutex_lock(&f->lock);
    known = world == f->program.world || world + 1 == f->program.world;
    for (int i = 0; i < GRAPH_HELD; i++)
        known |= f->held[i].count && f->held[i].world == world;
    f->wrong_worlds += !known || world < f->oldest;
    pthread_mutex_unlock(&f->lock);
}

static uint64_t world_that_is_kept(const graph_frontend *f, uint64_t world)
{
    return f->faults & GRAPH_FAULT_HELD ? UINT64_MAX : world;
}

static kiln_digest answer_at(graph_frontend *f, int function, uint64_t world)
{
    check_world(f, world);
    return digest_of(
        f, function,
        f->faults & GRAPH_FAULT_ANSWER ? 1 : world_that_is_kept(f, world));
}

/* ---- following edges ---- */

/* Returns whose kernel it is, if it is one of a frontend with Kiln's typed
   IR. */
static int function_of(const graph_frontend *f, const kiln_function *function,
                       int *is_kernel)
{
    for (int i = 0; i < GRAPH_FUNCTIONS; i++) {
        *is_kernel = f->kernels[i] == function && f->functions[i] != function;
        if (*is_kernel || f->functions[i] == function)
            return i;
    }
    abort();
}

/* The functions of frontends that lower are kernels themselves. */
kiln_signature graph_signature(const graph *g, const graph_job *job,
                               int is_kernel)
{
    const graph_frontend *f = &g->frontends[job->which];
    kiln_signature signature = {0};

    if (is_kernel || graph_lowers(job->which)) {
        signature.types = &g->arrays[graph_lowers(job->which) ? job->type : 0];
        signature.count = 1;
    }
    signature.function =
        is_kernel ? f->kernels[job->function] : f->functions[job->function];
    return signature;
}

static kiln_signature end_of(const graph *g, const graph_edge *edge)
{
    const graph_job job = {
        .which = edge->to, .function = edge->function, .type = edge->type};

    return graph_signature(g, &job, 0);
}

static kiln_config_options options_of(const kiln_config *config)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;

    kiln_config_get_options(&options, config);
    return options;
}

/* Returns what the settings add to the number of a function. */
static uint64_t number_under(const graph_frontend *f, const kiln_config *config)
{
    const kiln_config_options options = options_of(config);
    uint64_t number = strncmp(options.overlays, "mine", 4) == 0
                          ? graph_number_under(GRAPH_OVERLAID)
                          : 0;

    if (f->faults & GRAPH_FAULT_SETTINGS)
        number += (uint64_t)options.opt_level;
    return number;
}

typedef struct making {
    graph_frontend *f;
    graph_definition definition;
    kiln_inference *inference;
    const kiln_config *config;
    graph_made made;
} making;

static uint64_t hash_code(const kiln_code *code)
{
    size_t size;
    const void *bytes = kiln_code_ir(code, &size);

    return graph_hash(GRAPH_HASH, bytes, size);
}

static kiln_status follow_derived(making *m, const graph_edge *edge,
                                  kiln_error **error)
{
    graph *g = m->f->graph;
    const kiln_signature end = end_of(g, edge);
    const kiln_code *code = NULL;
    uint64_t world = 0;
    kiln_status status = KILN_OK;

    if (!m->f->asks_today)
        status = kiln_inference_world(&world, m->inference,
                                      g->frontends[edge->to].frontend, error);
    if (status == KILN_OK)
        status = kiln_infer(&code, g->context, &end, m->config, world, error);
    if (status == KILN_OK && !(m->f->faults & GRAPH_FAULT_DEPEND))
        status = kiln_inference_depend(m->inference, code);
    if (status == KILN_OK)
        graph_derive(&m->made, hash_code(code));
    return status;
}

static kiln_status follow_call(making *m, int index, kiln_error **error)
{
    const graph_edge *edge = &m->definition.edges[index];
    const kiln_signature end = end_of(m->f->graph, edge);
    const kiln_code *code = NULL;
    kiln_inference *head = NULL;
    const kiln_status status =
        kiln_inference_callee(m->inference, &end, &code, NULL, &head, error);

    if (status != KILN_OK && !(status == KILN_ERECURSION && head))
        return status;
    graph_call(&m->made, index, edge);
    return KILN_OK;
}

static kiln_status follow(making *m, kiln_error **error)
{
    m->made.derived = 0;
    m->made.called_count = 0;
    for (int i = 0; i < m->definition.edge_count; i++) {
        const graph_edge *edge = &m->definition.edges[i];
        const kiln_status status = edge->derives
                                       ? follow_derived(m, edge, error)
                                       : follow_call(m, i, error);

        if (status == KILN_OK)
            continue;
        if (!m->definition.forgives ||
            (status != KILN_ECOMPILE &&
             m->definition.forgives != GRAPH_FORGIVES_ALL))
            return status;
        if (error) {
            kiln_error_free(*error);
            *error = NULL;
        }
    }
    return KILN_OK;
}

/* ---- the frontends' tables ---- */

static kiln_status follow_all(making *m, const kiln_query *query,
                              kiln_error **error)
{
    kiln_status status = KILN_OK;

    if (!(m->f->faults & GRAPH_FAULT_QUERY))
        status = kiln_inference_add_query(m->inference, query);
    return status == KILN_OK ? follow(m, error) : status;
}

static kiln_status infer_all(making *m, const kiln_query *query,
                             kiln_error **error)
{
    const kiln_status status = follow_all(m, query, error);

    if (status != KILN_OK || !kiln_inference_is_cycle_head(m->inference))
        return status;
    kiln_inference_restart(m->inference);
    return follow_all(m, query, error);
}

static kiln_status report(const making *m, int is_kernel)
{
    const graph_frontend *f = m->f;
    kiln_blob blob =
        is_kernel ? graph_kernel_ir(m->made.function) : graph_ir(&m->made);
    const kiln_status status =
        kiln_inference_set_ir(m->inference, blob.data, blob.size);

    kiln_blob_release(&blob);
    if (!graph_lowers(f->which) && !is_kernel)
        kiln_inference_set_result(
            m->inference, kiln_type_scalar(f->graph->context, KILN_TYPE_I64));
    return status;
}

/* Returns the definition of a kernel of typed IR. */
static graph_definition call_of(const graph_frontend *f, int function)
{
    const graph_edge own = {0, f->which, function, 0};

    return (graph_definition){.edge_count = 1, .edges = {own}};
}

/* Causes the trouble that is set, once. KILN_OK: none is set. */
static kiln_status meet_trouble(graph_frontend *f, int *trouble,
                                kiln_error **error)
{
    *trouble =
        __atomic_exchange_n(&f->trouble, GRAPH_NO_TROUBLE, __ATOMIC_RELAXED);
    if (*trouble == GRAPH_IO_FAILS)
        return kiln_error_set(error, KILN_EIO, "a file cannot be read");
    return *trouble == GRAPH_NO_MEMORY ? KILN_ENOMEM : KILN_OK;
}

static kiln_status infer(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t world,
                         kiln_inference *out, kiln_error **error)
{
    graph_frontend *f = self;
    int is_kernel, trouble;
    const int function = function_of(f, signature->function, &is_kernel);
    making m = {.f = f, .inference = out, .config = config};
    const kiln_query query = {(uint64_t)function, &function, sizeof function,
                              answer_at(f, function, world)};
    kiln_status status;

    m.definition =
        is_kernel
            ? call_of(f, function)
            : graph_definition_at(f, function, world_that_is_kept(f, world));
    m.made = (graph_made){.which = f->which, .function = function};
    m.made.number = m.definition.number + number_under(f, config);
    __atomic_fetch_add(&f->inferred[function], 1, __ATOMIC_RELAXED);
    if (f->hook)
        f->hook(f, function);
    status = meet_trouble(f, &trouble, error);
    if (status != KILN_OK)
        return status;
    if (m.definition.fails)
        return kiln_error_set(error, KILN_ECOMPILE, "%s.f%d has an error",
                              graph_names[f->which], function);
    kiln_inference_set_root(out, query.answer);
    status = infer_all(&m, &query, error);
    if (status == KILN_OK && trouble != GRAPH_SAYS_NOTHING)
        status = report(&m, is_kernel);
    return status;
}

static kiln_status answer(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t world,
                          kiln_digest *out)
{
    graph_frontend *f = self;
    int function;

    (void)config;
    if (size != sizeof function)
        return KILN_EINVAL;
    memcpy(&function, query, sizeof function);
    __atomic_fetch_add(&f->asked, 1, __ATOMIC_RELAXED);
    *out = answer_at(f, function, world);
    return KILN_OK;
}

static void free_text(kiln_blob *blob)
{
    free((void *)(uintptr_t)blob->data);
    blob->release = NULL;
}

static kiln_status lower(void *self, const kiln_lower_request *request,
                         kiln_blob *out, kiln_error **error)
{
    graph_frontend *f = self;
    uint64_t h = graph_hash_settings(
        options_of(request->config).opt_level == KILN_OPT_0 ? GRAPH_USUAL
                                                            : GRAPH_OPTIMISED);
    char *text = malloc(TEXT);

    (void)error;
    if (!text)
        return KILN_ENOMEM;
    __atomic_fetch_add(&f->lowered, 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < request->code_count; i++) {
        const kiln_signature s = kiln_code_signature(request->codes[i]);

        h = graph_hash_code(h, kiln_function_name(s.function),
                            s.count ? kiln_type_text(s.types[0]) : "",
                            hash_code(request->codes[i]));
    }
    if (f->faults & GRAPH_FAULT_LOWER)
        h += f->program.world;
    snprintf(text, TEXT,
             "define i32 @%s(ptr %%item, ptr %%y, i64 %%n) {\n"
             "  store i64 %llu, ptr %%y\n  ret i32 0\n}\n",
             request->entry, (unsigned long long)h);
    *out = (kiln_blob){text, strlen(text), free_text, NULL};
    return KILN_OK;
}

static kiln_status root(void *self, const kiln_signature *signature,
                        const kiln_config *config, uint64_t world,
                        kiln_digest *out)
{
    graph_frontend *f = self;
    int is_kernel;

    (void)config;
    *out = answer_at(f, function_of(f, signature->function, &is_kernel), world);
    return KILN_OK;
}

/* Covers this frontend's own functions, whatever they call of others. */
static kiln_status program(void *self, const kiln_signature *signature,
                           const kiln_config *config, uint64_t world,
                           kiln_digest *out)
{
    graph_frontend *f = self;
    kiln_digest all[GRAPH_FUNCTIONS];

    (void)signature, (void)config;
    check_world(f, world);
    for (int i = 0; i < GRAPH_FUNCTIONS; i++)
        all[i] = digest_of(f, i, f->faults & GRAPH_FAULT_PROGRAM ? 1 : world);
    *out = kiln_digest_bytes(all, sizeof all);
    return KILN_OK;
}

static kiln_status type(void *self, const char *text, uint64_t world,
                        const kiln_type **out)
{
    graph_frontend *f = self;

    check_world(f, world);
    return kiln_type_parse(out, f->graph->context, NULL, text, NULL);
}

static kiln_status find_function(void *self, const char *name,
                                 const kiln_function **out)
{
    const graph_frontend *f = self;

    for (int i = 0; i < GRAPH_FUNCTIONS; i++) {
        *out = f->functions[i];
        if (strcmp(kiln_function_name(*out), name) == 0)
            return KILN_OK;
        *out = f->kernels[i];
        if (strcmp(kiln_function_name(*out), name) == 0)
            return KILN_OK;
    }
    return KILN_ENOTFOUND;
}

/* ---- opening ---- */

/* The graph itself frees the frontends, so this does nothing. */
static void end(void *self)
{
    (void)self;
}

static kiln_status make_functions(graph_frontend *f, kiln_error **error)
{
    kiln_status status = KILN_OK;

    for (int i = 0; status == KILN_OK && i < GRAPH_FUNCTIONS; i++) {
        char name[32];

        snprintf(name, sizeof name, "%s.f%d", graph_names[f->which], i);
        status =
            kiln_function_new(&f->functions[i], f->frontend, name, NULL, error);
        f->kernels[i] = f->functions[i];
        if (status != KILN_OK || graph_lowers(f->which))
            continue;
        snprintf(name, sizeof name, "%s.k%d", graph_names[f->which], i);
        status =
            kiln_function_new(&f->kernels[i], f->frontend, name, NULL, error);
    }
    return status;
}

static kiln_status open_frontend(graph *g, int which, unsigned offers,
                                 kiln_error **error)
{
    static const char *const labels[] = {"low a 1", "low b 1", "typed 1"};
    graph_frontend *f = &g->frontends[which];
    const kiln_frontend_ops ops = {
        .size = sizeof ops,
        .name = labels[which],
        .world = world_of,
        .infer = infer,
        .answer = answer,
        .free = end,
        .lower = graph_lowers(which) ? lower : NULL,
        .hold = offers & GRAPH_HOLD ? hold : NULL,
        .release = offers & GRAPH_HOLD ? release : NULL,
        .collect = offers & GRAPH_HOLD ? collect : NULL,
        .root = offers & GRAPH_ROOT ? root : NULL,
        .program = offers & GRAPH_PROGRAM ? program : NULL,
        .type = offers & GRAPH_FIND ? type : NULL,
        .function = offers & GRAPH_FIND ? find_function : NULL,
    };
    const kiln_status status =
        kiln_frontend_add(&f->frontend, g->context, &ops, f, error);

    f->program.world = 1;
    return status == KILN_OK ? make_functions(f, error) : status;
}

static kiln_status open_language(graph *g, kiln_error **error)
{
    graph_frontend *f = &g->frontends[GRAPH_LANGUAGE];
    kiln_status status;

    f->frontend = kiln_context_language(g->context);
    status = kiln_package_new(&g->package, g->context, "main", error);
    for (int i = 0; status == KILN_OK && i < GRAPH_FUNCTIONS; i++) {
        const graph_definition empty = {0};
        char name[32];

        status = define_in_language(g, i, &empty, NULL);
        snprintf(name, sizeof name, "f%d", i);
        if (status == KILN_OK)
            status = kiln_package_function(&f->functions[i], g->package, name,
                                           error);
        name[0] = 'k';
        if (status == KILN_OK)
            status =
                kiln_package_function(&f->kernels[i], g->package, name, error);
    }
    return status;
}

kiln_status graph_open(graph *g, const kiln_cache_options *cache,
                       unsigned offers, kiln_error **error)
{
    kiln_status status;

    memset(g, 0, sizeof *g);
    for (int i = 0; i < GRAPH_COUNT; i++) {
        g->frontends[i].graph = g;
        g->frontends[i].which = i;
        pthread_mutex_init(&g->frontends[i].lock, NULL);
    }
    status = graph_open_context(g, cache, error);
    for (int i = 0; status == KILN_OK && i < GRAPH_LANGUAGE; i++)
        status = open_frontend(g, i, offers, error);
    return status == KILN_OK ? open_language(g, error) : status;
}

void graph_close(graph *g)
{
    kiln_queue_free(g->queue);
    kiln_device_close(g->device);
    kiln_context_free(g->context);
    for (int i = 0; i < GRAPH_COUNT; i++)
        pthread_mutex_destroy(&g->frontends[i].lock);
    memset(g, 0, sizeof *g);
}
