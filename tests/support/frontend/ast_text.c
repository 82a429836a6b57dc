/* ast_text.c - writes syntax trees as short texts that tests compare. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/ast_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct writer {
    char *out;
    size_t size;
    size_t used;
} writer;

static void __attribute__((format(printf, 2, 3)))
put(writer *w, const char *format, ...)
{
    va_list arguments;
    int count;

    va_start(arguments, format);
    count = vsnprintf(w->out + w->used, w->size - w->used, format, arguments);
    va_end(arguments);
    if (count > 0)
        w->used += (size_t)count < w->size - w->used ? (size_t)count
                                                     : w->size - w->used - 1;
}

/* Returns the word after `(`; NULL for leaves. */
static const char *head_of(const kiln__ast *tree)
{
    static const char *const heads[KILN__AST_COUNT] = {
        [KILN__AST_MEMBER] = ".",
        [KILN__AST_CALL] = "call",
        [KILN__AST_CHOICE] = "?",
        [KILN__AST_INDEX] = "index",
        [KILN__AST_TUPLE] = "tuple",
        [KILN__AST_APPLY] = "apply",
        [KILN__AST_ARRAY_TYPE] = "array",
        [KILN__AST_TYPEOF] = "typeof",
        [KILN__AST_BLOCK] = "block",
        [KILN__AST_ASSIGN] = "=",
        [KILN__AST_UNPACK] = "unpack",
        [KILN__AST_EXPRESSION] = "do",
        [KILN__AST_IF] = "if",
        [KILN__AST_WHILE] = "while",
        [KILN__AST_FOR] = "for",
        [KILN__AST_BREAK] = "break",
        [KILN__AST_CONTINUE] = "continue",
        [KILN__AST_RETURN] = "return",
        [KILN__AST_LOCAL] = "local",
        [KILN__AST_SWITCH] = "switch",
        [KILN__AST_ASSERT] = "assert",
        [KILN__AST_PRINT] = "print",
        [KILN__AST_STATIC_ASSERT] = "static_assert",
        [KILN__AST_ERROR] = "error",
    };

    if (tree->kind == KILN__AST_BINARY || tree->kind == KILN__AST_UNARY ||
        tree->kind == KILN__AST_LOGIC)
        return tree->text;
    return heads[tree->kind];
}

static int put_leaf(writer *w, const kiln__ast *tree)
{
    switch ((int)tree->kind) {
    case KILN__AST_INTEGER:
        put(w, "%llu", (unsigned long long)tree->integer);
        return 1;
    case KILN__AST_FLOAT:
        put(w, "%.17gf", tree->real);
        return 1;
    case KILN__AST_BOOLEAN:
        put(w, "%s", tree->integer ? "true" : "false");
        return 1;
    case KILN__AST_STRING:
        put(w, "\"%s\"", tree->text);
        return 1;
    case KILN__AST_NAME:
        put(w, "%s", tree->text);
        return 1;
    default:
        return 0;
    }
}

/* Writes what a node has beside its children. */
static void put_details(writer *w, const kiln__ast *tree)
{
    if ((tree->kind == KILN__AST_MEMBER || tree->kind == KILN__AST_FOR ||
         tree->kind == KILN__AST_LOCAL || tree->kind == KILN__AST_ASSIGN) &&
        tree->text[0] != '\0')
        put(w, " %s", tree->text);
    if (tree->kind == KILN__AST_FOR && tree->flag)
        put(w, " static");
    if (tree->kind == KILN__AST_SWITCH)
        put(w, " %u", tree->flag);
    if (tree->kind == KILN__AST_ARRAY_TYPE)
        put(w, " %s%u", tree->strided ? "strided " : "", tree->rank);
}

static void put_tree(writer *w, const kiln__ast *tree)
{
    if (tree == NULL) {
        put(w, "-");
        return;
    }
    if (put_leaf(w, tree))
        return;
    put(w, "(%s", head_of(tree));
    put_details(w, tree);
    for (size_t i = 0; i < tree->count; i++) {
        put(w, " ");
        put_tree(w, tree->children[i]);
    }
    put(w, ")");
}

void ast_text(const kiln__ast *tree, char *out, size_t size)
{
    writer w = {out, size, 0};

    out[0] = '\0';
    put_tree(&w, tree);
}
