/* graph_model.c - what programs of graphs mean, by their definitions alone. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "support/graph_inside.h"

/*
 * The functions of all frontends are nodes. First it is found out which have an
 * error, by going round until nothing changes, and whether anything derives
 * from itself; then values follow from definitions.
 */
#define NODES (GRAPH_COUNT * GRAPH_FUNCTIONS)

typedef struct model {
    graph_definition definitions[NODES];
    int fails[NODES];
    uint32_t reaches[NODES]; /* by edges whose ends have no error */
    graph_language_ir language_ir;
    void *env;
} model;

static int node_of(int which, int function)
{
    return which * GRAPH_FUNCTIONS + function;
}

static int end_of(const graph_edge *edge)
{
    return node_of(edge->to, edge->function);
}

/* ---- errors ---- */

/* True when something changed. */
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
        uint32_t reaches = m->reaches[n];

        for (int i = 0; i < d->edge_count; i++) {
            const int end = end_of(&d->edges[i]);

            if (!m->fails[end])
                reaches |= m->reaches[end] | UINT32_C(1) << end;
        }
        changed |= reaches != m->reaches[n];
        m->reaches[n] = reaches;
    }
    return changed;
}

/* Does anything below the node derive from what leads back to it? */
static int derives_from_itself(const model *m, int root)
{
    const uint32_t below = m->reaches[root] | UINT32_C(1) << root;

    for (int n = 0; n < NODES; n++) {
        const graph_definition *d = &m->definitions[n];

        for (int i = 0; (below >> n & 1) && i < d->edge_count; i++) {
            const int end = end_of(&d->edges[i]);

            if (d->edges[i].derives && !m->fails[end] &&
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

    *out = (graph_made){.which = node / GRAPH_FUNCTIONS,
                        .function = node % GRAPH_FUNCTIONS,
                        .number = d->number};
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

    if (node / GRAPH_FUNCTIONS == GRAPH_LANGUAGE)
        return m->language_ir(m->env, node % GRAPH_FUNCTIONS, hash);
    if (make(m, node, &made) != KILN_OK)
        return KILN_EIO;
    blob = graph_ir(&made);
    *hash = graph_hash(GRAPH_HASH, blob.data, blob.size);
    kiln_blob_release(&blob);
    return KILN_OK;
}

/* What a function of typed IR, or of the language, returns. */
static kiln_status sum_of(const model *m, int node, uint64_t *value)
{
    graph_made made;
    kiln_status status = make(m, node, &made);

    *value = made.number + made.derived % 1000003;
    for (int i = 0; status == KILN_OK && i < made.called_count; i++) {
        uint64_t part = 0;

        status = sum_of(m, end_of(&made.called[i]), &part);
        *value += (uint64_t)made.factors[i] * part;
    }
    return status;
}

/* What lower() makes of it and all that it calls, breadth first. */
static kiln_status hash_of(const model *m, int root, uint64_t *value)
{
    int list[NODES] = {root};
    uint32_t seen = UINT32_C(1) << root;
    int count = 1;

    *value = GRAPH_HASH;
    for (int i = 0; i < count; i++) {
        graph_made made;
        uint64_t ir;
        char name[32];

        if (ir_of(m, list[i], &ir) != KILN_OK ||
            make(m, list[i], &made) != KILN_OK)
            return KILN_EIO;
        (void)snprintf(name, sizeof name, "%s.f%d", graph_names[made.which],
                       made.function);
        *value = graph_hash_code(*value, name, ir);
        for (int k = 0; k < made.called_count; k++) {
            const int end = end_of(&made.called[k]);

            if (!(seen >> end & 1))
                list[count++] = end;
            seen |= UINT32_C(1) << end;
        }
    }
    return KILN_OK;
}

kiln_status graph_value(uint64_t *value, graph *g, int which, int function,
                        uint64_t world, graph_language_ir language_ir,
                        void *env)
{
    const int root = node_of(which, function);
    model m = {.language_ir = language_ir, .env = env};

    for (int n = 0; n < NODES; n++) {
        const int of = n / GRAPH_FUNCTIONS;
        graph_frontend *f = &g->frontends[of];

        m.definitions[n] = graph_definition_at(
            f, n % GRAPH_FUNCTIONS,
            world && of == which ? world : f->program.world);
    }
    while (spread_failures(&m))
        ;
    while (spread_reach(&m))
        ;
    if (m.fails[root])
        return KILN_ECOMPILE;
    if (derives_from_itself(&m, root))
        return KILN_ERECURSION;
    return graph_lowers(which) ? hash_of(&m, root, value)
                               : sum_of(&m, root, value);
}
