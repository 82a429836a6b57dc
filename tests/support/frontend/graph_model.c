/* graph_model.c - what programs of graphs mean, computed from definitions
   alone. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "support/frontend/graph_inside.h"

/*
 * The functions of all frontends are nodes, one for each of their types. First
 * it is found out which nodes have an error, by repeating until nothing
 * changes, and whether any derives from itself. Then values are computed from
 * definitions.
 */
#define NODES (GRAPH_COUNT * GRAPH_FUNCTIONS * GRAPH_TYPES)

typedef struct model {
    graph_definition definitions[NODES];
    int fails[NODES];
    int with_failing; /* including those that lead to nodes with errors */
    uint64_t reaches[NODES]; /* by edges to nodes without errors */
    int settings;
    graph_language_ir language_ir;
    void *env;
} model;

static int node_of(int which, int function, int type)
{
    return (which * GRAPH_FUNCTIONS + function) * GRAPH_TYPES +
           (graph_lowers(which) ? type : 0);
}

static int frontend_of(int node)
{
    return node / GRAPH_TYPES / GRAPH_FUNCTIONS;
}

static int function_of(int node)
{
    return node / GRAPH_TYPES % GRAPH_FUNCTIONS;
}

static int end_of(const graph_edge *edge)
{
    return node_of(edge->to, edge->function, edge->type);
}

/* ---- errors ---- */

/* Returns true when something changed. */
static int spread_failures(model *m)
{
    int changed = 0;

    for (int n = 0; n < NODES; n++) {
        const graph_definition *d = &m->definitions[n];
        int fails = d->fails;

        for (int i = 0; i < d->edge_count; i++)
            fails |= m->fails[end_of(&d->edges[i])] && !d->forgives;
        changed |= fails != m->fails[n];
        m->fails[n] = fails;
    }
    return changed;
}

static int spread_reach(model *m)
{
    int changed = 0;

    for (int n = 0; n < NODES; n++) {
        const graph_definition *d = &m->definitions[n];
        uint64_t reaches = m->reaches[n];

        for (int i = 0; i < d->edge_count; i++) {
            const int end = end_of(&d->edges[i]);

            if (m->with_failing ? !d->fails : !m->fails[end])
                reaches |= m->reaches[end] | UINT64_C(1) << end;
        }
        changed |= reaches != m->reaches[n];
        m->reaches[n] = reaches;
    }
    return changed;
}

/* True when something below the node derives from what leads back to it. */
static int derives_from_itself(const model *m, int root)
{
    const uint64_t below = m->reaches[root] | UINT64_C(1) << root;

    for (int n = 0; n < NODES; n++) {
        const graph_definition *d = &m->definitions[n];

        for (int i = 0; (below >> n & 1) && i < d->edge_count; i++) {
            const int end = end_of(&d->edges[i]);

            if (d->edges[i].derives &&
                (m->with_failing ? !d->fails : !m->fails[end]) &&
                (end == n || (m->reaches[end] >> n & 1)))
                return 1;
        }
    }
    return 0;
}

/* ---- values ---- */

static kiln_status ir_of(const model *m, int node, uint64_t *hash);

static kiln_status make(const model *m, int node, graph_made *out)
{
    const graph_definition *d = &m->definitions[node];

    *out = (graph_made){.which = frontend_of(node),
                        .function = function_of(node),
                        .number = d->number + graph_number_under(m->settings)};
    for (int i = 0; i < d->edge_count; i++) {
        const int end = end_of(&d->edges[i]);
        uint64_t hash;

        if (m->fails[end])
            continue;
        if (!d->edges[i].derives) {
            graph_call(out, i, &d->edges[i]);
            continue;
        }
        if (ir_of(m, end, &hash) != KILN_OK)
            return KILN_EIO;
        graph_derive(out, hash);
    }
    return KILN_OK;
}

static kiln_status ir_of(const model *m, int node, uint64_t *hash)
{
    graph_made made;
    kiln_blob blob;

    if (frontend_of(node) == GRAPH_LANGUAGE)
        return m->language_ir(m->env, function_of(node), m->settings, hash);
    if (make(m, node, &made) != KILN_OK)
        return KILN_EIO;
    blob = graph_ir(&made);
    *hash = graph_hash(GRAPH_HASH, blob.data, blob.size);
    kiln_blob_release(&blob);
    return KILN_OK;
}

/* Computes what a function of typed IR, or of the language, returns. */
static kiln_status sum_of(const model *m, int node, uint64_t *value)
{
    graph_made made;
    kiln_status status = make(m, node, &made);

    if (frontend_of(node) == GRAPH_LANGUAGE)
        made.number = m->definitions[node].number; /* whatever the settings */
    *value = made.number + made.derived % 1000003;
    for (int i = 0; status == KILN_OK && i < made.called_count; i++) {
        uint64_t part = 0;

        status = sum_of(m, end_of(&made.called[i]), &part);
        *value += (uint64_t)made.factors[i] * part;
    }
    return status;
}

static const char *type_of(int node)
{
    if (!graph_lowers(frontend_of(node)))
        return "";
    return node % GRAPH_TYPES ? "u64[:]" : "i64[:]";
}

/* Computes what lower() makes of the node and all that it calls, breadth
   first. */
static kiln_status hash_of(const model *m, int root, uint64_t *value)
{
    int list[NODES] = {root};
    uint64_t seen = UINT64_C(1) << root;
    int count = 1;

    *value = graph_hash_settings(m->settings);
    for (int i = 0; i < count; i++) {
        graph_made made;
        uint64_t ir;
        char name[32];

        if (ir_of(m, list[i], &ir) != KILN_OK ||
            make(m, list[i], &made) != KILN_OK)
            return KILN_EIO;
        (void)snprintf(name, sizeof name, "%s.f%d", graph_names[made.which],
                       made.function);
        *value = graph_hash_code(*value, name, type_of(list[i]), ir);
        for (int k = 0; k < made.called_count; k++) {
            const int end = end_of(&made.called[k]);

            if (!(seen >> end & 1))
                list[count++] = end;
            seen |= UINT64_C(1) << end;
        }
    }
    return KILN_OK;
}

static void begin(model *m, graph *g, const graph_job *job)
{
    for (int n = 0; n < NODES; n++) {
        graph_frontend *f = &g->frontends[frontend_of(n)];

        m->definitions[n] = graph_definition_at(
            f, function_of(n),
            job->world && f->which == job->which ? job->world
                                                 : f->program.world);
    }
}

kiln_status graph_job_value(uint64_t *value, graph *g, const graph_job *job,
                            graph_language_ir language_ir, void *env)
{
    const int root = node_of(job->which, job->function, job->type);
    model m = {
        .settings = job->settings, .language_ir = language_ir, .env = env};

    begin(&m, g, job);
    while (spread_failures(&m))
        ;
    while (spread_reach(&m))
        ;
    if (m.fails[root])
        return KILN_ECOMPILE;
    if (derives_from_itself(&m, root))
        return KILN_ERECURSION;
    return graph_lowers(job->which) ? hash_of(&m, root, value)
                                    : sum_of(&m, root, value);
}

int graph_job_may_recurse(graph *g, const graph_job *job)
{
    const int root = node_of(job->which, job->function, job->type);
    model m = {.with_failing = 1};

    begin(&m, g, job);
    while (spread_reach(&m))
        ;
    return derives_from_itself(&m, root);
}

kiln_status graph_value(uint64_t *value, graph *g, int which, int function,
                        uint64_t world, graph_language_ir language_ir,
                        void *env)
{
    const graph_job job = {
        .which = which, .function = function, .world = world};

    return graph_job_value(value, g, &job, language_ir, env);
}
