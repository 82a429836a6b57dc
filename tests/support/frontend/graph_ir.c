/* graph_ir.c - the typed IR of a graph's functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/array.h"
#include "base/data/memory.h"
#include "ir/ir.h"
#include "support/frontend/graph_inside.h"

#define TEXT 2048

/* FNV-1a. */
uint64_t graph_hash(uint64_t h, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return h;
}

void graph_derive(graph_made *made, uint64_t hash)
{
    made->derived = made->derived * 31 + hash;
}

void graph_call(graph_made *made, int edge, const graph_edge *to)
{
    made->called[made->called_count] = *to;
    made->factors[made->called_count++] = edge + 2;
}

uint64_t graph_number_under(int settings)
{
    return settings == GRAPH_OVERLAID ? 16 : 0;
}

uint64_t graph_hash_settings(int settings)
{
    return settings == GRAPH_OPTIMISED ? GRAPH_HASH + 1 : GRAPH_HASH;
}

uint64_t graph_hash_code(uint64_t h, const char *function, const char *type,
                         uint64_t ir)
{
    h = graph_hash(h, function, strlen(function));
    h = graph_hash(h, type, strlen(type));
    return graph_hash(h, &ir, sizeof ir);
}

static void write_sum(char *out, const graph_made *made)
{
    int size =
        snprintf(out, TEXT, "(const i64 %llu)",
                 (unsigned long long)(made->number + made->derived % 1000003));
    char before[TEXT];

    for (int i = 0; i < made->called_count; i++) {
        memcpy(before, out, (size_t)size + 1);
        size = snprintf(out, TEXT,
                        "(add i64 %.1500s (mul i64 (const i64 %d) "
                        "(call i64 $%d)))",
                        before, made->factors[i], i);
    }
}

static void write_function(char out[TEXT], const graph_made *made)
{
    char sum[TEXT];
    int size = snprintf(out, TEXT,
                        "(function \"typed.f%d()\" \"typed.f%d#0\"\n"
                        "  (result i64)\n",
                        made->function, made->function);

    for (int i = 0; i < made->called_count; i++)
        size +=
            snprintf(out + size, TEXT - (size_t)size,
                     "  (callee $%d \"%s.f%d()\" i64)\n", i,
                     graph_names[made->called[i].to], made->called[i].function);
    write_sum(sum, made);
    snprintf(out + size, TEXT - (size_t)size,
             "  (block\n    (return %.1500s)))\n", sum);
}

static kiln_blob encode(const char *text)
{
    kiln_error *error = NULL;
    kiln_blob blob = {0};
    kiln__ir ir;

    if (kiln__ir_parse(&ir, &kiln__malloc, "graph", text, strlen(text),
                       &error) != KILN_OK) {
        fprintf(stderr, "%s\n%s", kiln_error_message(error), text);
        abort();
    }
    if (kiln__ir_encode(&ir, &blob) != KILN_OK)
        abort();
    kiln__ir_dispose(&ir);
    return blob;
}

kiln_blob graph_kernel_ir(int function)
{
    char text[TEXT];

    snprintf(text, sizeof text,
             "(function \"typed.k%d(i64[:])\" \"typed.k%d#0\"\n  kernel\n"
             "  (param %%y.0 i64[:])\n  (callee $0 \"typed.f%d()\" i64)\n"
             "  (block\n    (store %%y.0 (const i64 0) (call i64 $0))))\n",
             function, function, function);
    return encode(text);
}

kiln_blob graph_ir(const graph_made *made)
{
    char text[TEXT];
    kiln_blob blob = {0};

    if (!graph_lowers(made->which)) {
        write_function(text, made);
        return encode(text);
    }
    (void)snprintf(text, sizeof text, "number %llu derived %llx",
                   (unsigned long long)made->number,
                   (unsigned long long)made->derived);
    if (kiln__blob_copy(&blob, &kiln__malloc, text, strlen(text)) != KILN_OK)
        abort();
    return blob;
}
