/* program.c - Toy's types and method tables: definitions, dispatch, worlds. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toy.h"

/* Any is 0; Any and Shape are abstract, Ball and Box are made of floats. */
static const struct {
    const char *name;
    int parent;
    uint64_t floats;
} types[] = {{"Any", 0, 0},   {"f32", 0, 0},  {"f32[:]", 0, 0},
             {"Shape", 0, 0}, {"Ball", 3, 1}, {"Box", 3, 3}};

static int type_find(const char *name)
{
    int type = TOY_TYPES - 1;

    while (type >= 0 && strcmp(types[type].name, name) != 0)
        type--;
    return type;
}

kiln_status toy_type(const kiln_type **out, const toy *t, const char *name)
{
    int type = type_find(name);
    kiln_foreign_type own = {sizeof own, "toy", name, {1, 1}, 0, 4};

    if (type < 0 || types[type].floats == 0)
        return kiln_type_parse(out, t->context, NULL, name, NULL);
    own.value_size = 4 * types[type].floats;
    own.definition.low = own.value_size;
    return kiln_type_foreign(out, t->context, &own, NULL);
}

static int is_a(int type, int of)
{
    while (type > 0 && type != of)
        type = types[type].parent;
    return type == of;
}

static int covers(const toy_method *wide, const toy_method *narrow)
{
    size_t i = 0;

    while (i < wide->count && is_a(narrow->types[i], wide->types[i]))
        i++;
    return i == wide->count && i == narrow->count &&
           strcmp(wide->name, narrow->name) == 0;
}

static int is_visible(const toy_method *m, const char *overlays, uint64_t world)
{
    char list[TOY_TEXT], table[TOY_TEXT];

    snprintf(list, sizeof list, ",%s,", overlays);
    snprintf(table, sizeof table, ",%.100s,", m->table);
    return m->born <= world && world < m->died &&
           (!*m->table || strstr(list, table));
}

/* Overlays win, then narrower types, then what is newer. */
static int is_better(const toy_method *m, const toy_method *than)
{
    if (!than || !*m->table != !*than->table)
        return !than || *m->table;
    return covers(than, m);
}

const toy_method *toy_dispatch(const toy *t, const char *text,
                               const kiln_config *config, uint64_t world)
{
    kiln_config_options settings = KILN_CONFIG_OPTIONS_INIT;
    const toy_method *best = NULL;
    toy_method call = {.name = text};

    toy_split(&call.head, text, strlen(text));
    call.name = call.head.at[0];
    for (; call.head.at[call.count + 1]; call.count++)
        call.types[call.count] = type_find(call.head.at[call.count + 1]);
    kiln_config_get_options(&settings, config);
    for (const toy_method *m = t->methods; m; m = m->next)
        if (is_visible(m, settings.overlays, world) && covers(m, &call) &&
            is_better(m, best))
            best = m;
    return best;
}

/* ---- definitions ---- */

void toy_split(toy_words *out, const char *text, size_t size)
{
    char *rest = out->text;

    snprintf(out->text, sizeof out->text, "%.*s", (int)size, text);
    memset(out->at, 0, sizeof out->at);
    for (out->count = 0; out->count < TOY_WORDS; out->count++)
        if (!(out->at[out->count] = strtok_r(rest, " ", &rest)))
            break;
}

/* A pure function of the text: FNV-1a, twice. */
kiln_digest toy_digest(const char *text, size_t size)
{
    kiln_digest digest = {0xcbf29ce484222325u, 0x84222325cbf29ce4u};

    for (size_t i = 0; i < size; i++) {
        digest.low = (digest.low ^ (unsigned char)text[i]) * 0x100000001b3u;
        digest.high = (digest.high ^ (unsigned char)text[i]) * 0x100000001b3u;
    }
    return digest;
}

/* Reads the method that stands first in `text`, up to a blank line. */
static void read_method(toy_method *m, const char *text)
{
    size_t size = strcspn(text, "\n");
    char *table;

    snprintf(m->label, sizeof m->label, "%.*s", (int)size, text);
    toy_split(&m->head, text, size);
    m->name = m->head.count > 1 ? m->head.at[1] : "";
    table = strchr(m->name, '@');
    m->table = table ? table + 1 : "";
    if (table)
        *table = '\0';
    for (; 2 * m->count + 3 < m->head.count; m->count++)
        m->types[m->count] = type_find(m->head.at[2 * m->count + 3]);
    for (m->body = m->end = text + size; m->end[0] == '\n' && m->end[1] == ' ';)
        m->end += 1 + strcspn(m->end + 1, "\n");
    m->digest = toy_digest(text, (size_t)(m->end - text));
}

/* The same meaning keeps the method: only its place is new. */
static void publish(toy *t, toy_method *m, kiln_change_report *report)
{
    toy_method *old = t->methods;

    while (old && (old->died <= m->born || strcmp(old->label, m->label) != 0))
        old = old->next;
    if (old && memcmp(&old->digest, &m->digest, sizeof m->digest) == 0) {
        old->file = m->file;
        old->line = m->line;
        report->methods_unchanged++;
        free(m);
        return;
    }
    if (old)
        old->died = m->born;
    m->next = t->methods;
    t->methods = m;
}

kiln_status toy_load(toy *t, const char *file, const char *text,
                     kiln_change_report *report)
{
    uint64_t subjects[16];
    uint32_t line = 1;
    size_t count = 0;

    for (t->world++; *text && count < 16;) {
        toy_method *m = calloc(1, sizeof *m);
        const char *start = text;

        if (!m)
            return KILN_ENOMEM;
        read_method(m, text);
        m->file = file;
        m->line = line;
        m->born = t->world;
        m->died = UINT64_MAX;
        text = m->end;
        subjects[count++] = toy_digest(m->name, strlen(m->name)).low;
        publish(t, m, report);
    }
    return kiln_world_changed(t->frontend, t->world, subjects, count, report);
}
