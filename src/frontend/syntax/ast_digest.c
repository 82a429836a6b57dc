/* ast_digest.c - the digest of a definition, without its place. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/endian.h"
#include "base/data/float_bits.h"
#include "base/system/stack.h"
#include "frontend/syntax/parse.h"

/*
 * The tree is written parents first: each node with its kind, its number of
 * children, and whatever its kind carries, texts with their lengths. The bytes
 * before a point decide what follows, so two different trees never give the
 * same bytes. The digest is in stored keys: after a change in what is written,
 * or in the numbers of ast.h's kinds, VERSION must be raised.
 */
#define VERSION 2u

#define ABSENT 0xFFu /* stands in place of a kind */

/* Makes room for `size` bytes more. Callers reserve for the largest field of a
   node at once. */
static unsigned char *reserve(kiln__tree_writer *w, size_t size)
{
    unsigned char *to;

    if (w->status != KILN_OK)
        return NULL;
    if (!kiln__array_reserve(w->alloc, &w->bytes, size)) {
        w->status = KILN_ENOMEM;
        return NULL;
    }
    to = w->bytes.items + w->bytes.count;
    w->bytes.count += size;
    return to;
}

static void write_u32(kiln__tree_writer *w, uint32_t value)
{
    unsigned char *to = reserve(w, 4);

    if (to != NULL)
        kiln__le32_write(to, value);
}

static void write_u64(kiln__tree_writer *w, uint64_t value)
{
    unsigned char *to = reserve(w, 8);

    if (to != NULL)
        kiln__le64_write(to, value);
}

/* Writes a text; NULL differs from an empty text. */
static void write_text(kiln__tree_writer *w, const char *text)
{
    const size_t size = text == NULL ? 0 : strlen(text);
    unsigned char *to = reserve(w, 4 + size);

    if (to == NULL)
        return;
    kiln__le32_write(to, text == NULL ? UINT32_MAX : (uint32_t)size);
    if (size > 0)
        memcpy(to + 4, text, size);
}

static void write_node(kiln__tree_writer *w, const kiln__ast *node)
{
    unsigned char *to;

    if (kiln__stack_is_low())
        w->status = KILN_ESTACK;
    if (node == NULL) {
        to = reserve(w, 1);
        if (to != NULL)
            *to = ABSENT;
        return;
    }
    to = reserve(w, 8);
    if (to == NULL)
        return;
    to[0] = (unsigned char)node->kind;
    to[1] = (unsigned char)node->flag;
    to[2] = (unsigned char)node->rank;
    to[3] = (unsigned char)node->strided;
    kiln__le32_write(to + 4, (uint32_t)node->count);
    if (node->text != NULL)
        write_text(w, node->text);
    if (node->kind == KILN__AST_INTEGER || node->kind == KILN__AST_BOOLEAN)
        write_u64(w, node->integer);
    if (node->kind == KILN__AST_FLOAT) {
        write_u64(w, kiln__f64_bits(node->real));
        write_u32(w, (uint32_t)node->rest);
    }
    for (size_t i = 0; i < node->count; i++)
        write_node(w, node->children[i]);
}

static void write_definition(kiln__tree_writer *w, const kiln__definition *d)
{
    write_u32(w, VERSION);
    write_u32(w, (uint32_t)d->kind);
    write_u32(w, (uint32_t)d->kernel);
    write_text(w, d->name);
    write_text(w, d->package);
    write_text(w, d->overlay);
    write_u64(w, d->type_parameter_count);
    for (size_t i = 0; i < d->type_parameter_count; i++) {
        write_text(w, d->type_parameters[i].name);
        write_node(w, d->type_parameters[i].bound);
    }
    write_u64(w, d->parameter_count);
    for (size_t i = 0; i < d->parameter_count; i++) {
        write_text(w, d->parameters[i].name);
        write_node(w, d->parameters[i].type);
    }
    write_node(w, d->result);
    write_node(w, d->body);
    write_u64(w, d->name_count);
    for (size_t i = 0; i < d->name_count; i++)
        write_text(w, d->names[i]);
}

kiln_status kiln__definition_digest(kiln__definition *definition,
                                    kiln__tree_writer *w)
{
    w->bytes.count = 0;
    write_definition(w, definition);
    if (w->status != KILN_OK)
        return w->status;
    definition->digest = kiln__digest_bytes(w->bytes.items, w->bytes.count);
    return KILN_OK;
}
