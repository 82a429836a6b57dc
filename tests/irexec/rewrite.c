/* rewrite.c - LLVM IR of a device as text, made text for the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

/*
 * Pointers are opaque, so an address space is a word behind `ptr`, and taking
 * the word out is all there is to it. Strings and comments are no code: the
 * first are copied as they are, the second dropped.
 */

typedef struct rewriting {
    const char *at;
    char *out; /* has room for all: nothing becomes much longer */
    size_t size;
    int is_start; /* of a line */
    void (*seen)(void *env, const char *name);
    void *env;
} rewriting;

static int is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

static void put(rewriting *r, const char *text, size_t size)
{
    memcpy(r->out + r->size, text, size);
    r->size += size;
}

/* Behind the end of the line. */
static const char *line_end(const char *at)
{
    const char *end = strchr(at, '\n');

    return end != NULL ? end + 1 : at + strlen(at);
}

/* "@name = ... addrspace(3) ...": a variable of the group's. */
static void look_for_shared(const rewriting *r)
{
    static const char space[] = "addrspace(3) ";
    const char *end = line_end(r->at), *equals = strstr(r->at, " = ");
    const char *found = strstr(r->at, space);
    const char *from = r->at + 1;
    char name[512];
    size_t size;

    if (*r->at != '@' || equals == NULL || found == NULL || found > end)
        return;
    size = (size_t)(equals - from);
    if (*from == '"') {
        from++;
        size -= 2;
    }
    if (size >= sizeof name)
        return;
    /* The variable itself, not what it is made of. */
    found += sizeof space - 1;
    if (strncmp(found, "global", 6) != 0 && strncmp(found, "constant", 8) != 0)
        return;
    memcpy(name, from, size);
    name[size] = '\0';
    r->seen(r->env, name);
}

static int begins(const rewriting *r, const char *word)
{
    return strncmp(r->at, word, strlen(word)) == 0;
}

/* Lines that are left out. */
static int is_dropped(const rewriting *r)
{
    return begins(r, "target datalayout") || begins(r, "target triple") ||
           begins(r, ";");
}

/* What stands for a word, at the word's beginning. */
static const struct {
    const char *from;
    const char *to;
} words[] = {
    {"addrspacecast ", "bitcast "},
    {"ptx_kernel ", ""},
    {"amdgpu_kernel ", ""},
    {"ptx_device ", ""},
    {"immarg", ""}, /* is only for intrinsics */
    {"@llvm.nvvm.", "@" PREFIX "nvvm."},
    {"@llvm.amdgcn.", "@" PREFIX "amdgcn."},
};

static int take_word(rewriting *r)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (begins(r, words[i].from)) {
            put(r, words[i].to, strlen(words[i].to));
            r->at += strlen(words[i].from);
            return 1;
        }
    return 0;
}

/* "addrspace(1)" and what separates it from what is before it. */
static int take_space(rewriting *r)
{
    static const char *const forms[] = {", addrspace(", " addrspace("};

    for (size_t i = 0; i < 2; i++)
        if (begins(r, forms[i])) {
            r->at = strchr(r->at, ')') + 1;
            return 1;
        }
    return 0;
}

static void take_string(rewriting *r)
{
    const char *end = strchr(r->at + 1, '"');

    end = end != NULL ? end + 1 : r->at + strlen(r->at);
    put(r, r->at, (size_t)(end - r->at));
    r->at = end;
}

static void take_one(rewriting *r)
{
    const int is_inside = r->size > 0 && is_word(r->out[r->size - 1]);

    if (r->is_start) {
        r->is_start = 0;
        look_for_shared(r);
        if (is_dropped(r)) {
            r->at = line_end(r->at);
            r->is_start = 1;
            return;
        }
    }
    if (*r->at == '"') {
        take_string(r);
    } else if (*r->at == ';') {
        r->at = line_end(r->at) - 1;
    } else if (!take_space(r) && (is_inside || !take_word(r))) {
        r->is_start = *r->at == '\n';
        put(r, r->at++, 1);
    }
}

char *rewrite(const char *text, void (*seen)(void *env, const char *name),
              void *env)
{
    /* "llvm." becomes two letters longer, and stands behind an `@`. */
    rewriting r = {.at = text, .is_start = 1, .seen = seen, .env = env};

    r.out = malloc(2 * strlen(text) + 2);
    if (r.out == NULL)
        return NULL;
    while (*r.at != '\0')
        take_one(&r);
    r.out[r.size] = '\0';
    return r.out;
}
