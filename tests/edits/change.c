/* change.c - edits of random programs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "program.h"

/* One edit under way. */
typedef struct change {
    edit_program *program;
    edit_random *random;
    const char *what;
} change;

static int below(change *c, int n)
{
    return edit_below(c->random, n);
}

/* Any item of the kind, or NULL. */
static edit_item *choose(change *c, int kind)
{
    for (int tries = 0; tries < 40; tries++) {
        edit_item *item = &c->program->items[below(c, c->program->count)];

        if (item->kind == kind)
            return item;
    }
    return NULL;
}

/* ---- texts ---- */

/* Puts one name in place of another, as long as that fits. */
static void replace_name(char *text, size_t size, const char *from,
                         const char *to)
{
    const size_t old = strlen(from), new = strlen(to);
    char *at = text;

    while ((at = strstr(at, from)) != NULL) {
        if (strlen(text) + new >= size + old)
            return;
        memmove(at + new, at + old, strlen(at + old) + 1);
        memcpy(at, to, new);
        at += new;
    }
}

/* ---- structs ---- */

static void swap_fields(change *c)
{
    edit_item *item = choose(c, ITEM_STRUCT);
    edit_field kept;
    int a, b;

    if (item == NULL || item->field_count < 2)
        return;
    a = below(c, item->field_count);
    b = (a + 1) % item->field_count;
    kept = item->fields[a];
    item->fields[a] = item->fields[b];
    item->fields[b] = kept;
}

/* In the definition alone, or wherever it is named. */
static void rename_field(change *c)
{
    edit_item *item = choose(c, ITEM_STRUCT);
    const int everywhere = edit_chance(c->random, 70);
    edit_field *f;
    char from[10], to[10];

    if (item == NULL || item->field_count == 0)
        return;
    f = &item->fields[below(c, item->field_count)];
    (void)snprintf(from, sizeof from, ".%s", f->name);
    (void)snprintf(f->name, sizeof f->name, "%c%d", 'n' + below(c, 8),
                   item->index);
    (void)snprintf(to, sizeof to, ".%s", f->name);
    for (int i = 0; everywhere && i < c->program->count; i++)
        replace_name(c->program->items[i].body,
                     sizeof c->program->items[i].body, from, to);
}

static void retype_field(change *c)
{
    static const char *const types[] = {
        "f64", "f32", "i64", "Vec{f64, K0}", "Vec{f64, K1}", "Static{3}"};
    edit_item *item = choose(c, ITEM_STRUCT);

    if (item != NULL && item->field_count > 0)
        (void)snprintf(item->fields[below(c, item->field_count)].type, 24, "%s",
                       types[below(c, 6)]);
}

static void resize_struct(change *c)
{
    edit_item *item = choose(c, ITEM_STRUCT);

    if (item == NULL)
        return;
    if (item->field_count > 1 && edit_chance(c->random, 40)) {
        item->field_count--;
    } else if (item->field_count < FIELDS_MAX) {
        memset(&item->fields[item->field_count], 0, sizeof *item->fields);
        item->field_count++;
        edit_fill_fields(item, c->random);
    }
}

static void change_parent(change *c)
{
    static const char *const parents[] = {"", "A0", "A1", "A2"};
    edit_item *item =
        choose(c, edit_chance(c->random, 50) ? ITEM_STRUCT : ITEM_ABSTRACT);
    const int limit =
        item != NULL && item->kind == ITEM_ABSTRACT ? item->name[1] - '0' : 3;

    if (item != NULL)
        (void)snprintf(item->parent, sizeof item->parent, "%s",
                       parents[below(c, 1 + limit)]);
}

/* S0, or what it stands below, has another parent: perhaps it is no parameter
   of other structs any more. */
static void change_above(change *c)
{
    edit_item *item = edit_find(c->program, ITEM_STRUCT, "S0");

    while (item != NULL && item->parent[0] != '\0' && below(c, 3) > 0) {
        edit_item *above = edit_find(c->program, ITEM_ABSTRACT, item->parent);

        if (above == NULL || above->parent[0] == '\0')
            break;
        item = above;
    }
    if (item != NULL)
        item->parent[0] = '\0';
}

static void change_bound(change *c)
{
    static const char *const bounds[] = {"-",  "Float",   "Real", "A0",
                                         "A1", "Integer", ""};
    edit_item *item = choose(c, ITEM_STRUCT);

    if (item == NULL || item->field_count == 0)
        return;
    (void)snprintf(item->bound, sizeof item->bound, "%s", bounds[below(c, 7)]);
    if (item->index == 0 && item->bound[0] == 'A')
        item->bound[0] = '\0';
    (void)snprintf(item->fields[0].type, sizeof item->fields[0].type, "%s",
                   item->bound[0] == '\0' ? "f64" : "T");
}

/* ---- constants ---- */

static void change_const(change *c)
{
    static const char *const values[] = {"1",  "2",      "3",     "4",
                                         "K0", "K0 + 1", "2 * K0"};
    edit_item *item = choose(c, ITEM_CONST);
    /* K1 is in types, where sums cannot be. */
    const int limit = item == NULL || strcmp(item->name, "K0") == 0   ? 4
                      : strcmp(item->name, "K1") == 0 && below(c, 20) ? 5
                                                                      : 7;

    if (item != NULL && item->package != EDIT_CORE)
        (void)snprintf(item->body, sizeof item->body, "%s",
                       values[below(c, limit)]);
}

/* ---- functions ---- */

static void change_body(change *c)
{
    char name[8];
    edit_item *item;

    if (edit_chance(c->random, 40))
        (void)snprintf(name, sizeof name, "k%d", below(c, KERNELS));
    else
        (void)snprintf(name, sizeof name, "f%d", below(c, NUMBERS));
    item = edit_find(c->program, ITEM_FUNCTION, name);
    if (item != NULL)
        edit_write_body(c->program, item, c->random);
}

static void change_maker(change *c)
{
    const int index = below(c, STRUCTS);
    edit_item *item;
    char name[8];

    (void)snprintf(name, sizeof name, "m%d", index);
    item = edit_find(c->program, ITEM_FUNCTION, name);
    if (item == NULL)
        return;
    (void)snprintf(item->body, sizeof item->body, "$%d:%d;", index,
                   below(c, 9));
    if (edit_chance(c->random, 20))
        (void)snprintf(item->parent, sizeof item->parent, "%s",
                       item->parent[0] == '\0' ? "S0" : "");
}

/* Functions that call each other, or make tuples and loops. */
static void change_helper(change *c)
{
    static const char *const bodies[][3] = {
        {"up", "n <= 0 ? x : over(n - 1, x + 0.5)",
         "n <= 0 ? x : over(n - 1, x + 1.5)"},
        {"over", "n <= 0 ? x * 2.0 : up(n - 1, x)",
         "n <= 0 ? x * 3.0 : up(n - 1, x)"},
        {"down", "n <= 0 ? x : down(n - 1, x)",
         "n <= 1 ? x : down(n - 1, same(x))"},
        {"pair", "(x, 1)", "(x, 2.5)"},
        {"both", "f(x, y)", "f(y, x)"},
    };
    const int at = below(c, 5);
    edit_item *item = edit_find(c->program, ITEM_FUNCTION, bodies[at][0]);

    if (item != NULL)
        (void)snprintf(
            item->body, sizeof item->body, "%s",
            bodies[at][strcmp(item->body, bodies[at][1]) == 0 ? 2 : 1]);
}

static void change_annotation(change *c)
{
    edit_item *item = choose(c, ITEM_FUNCTION);

    if (item == NULL || item->name[0] != 'f')
        return;
    (void)snprintf(item->takes, sizeof item->takes, "%s",
                   strcmp(item->takes, "x") == 0 ? "x: f64" : "x");
}

static void add_method(change *c)
{
    edit_add_method(c->program, c->random);
}

static void add_operator(change *c)
{
    edit_add_operator(c->program, c->random);
}

static int is_shadow(const edit_item *item)
{
    static const char *const names[] = {"hypot",    "max", "sign_of",
                                        "copysign", "p",   "t"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(item->name, names[i]) == 0)
            return 1;
    return 0;
}

/* Something of which there are several, as a rule. */
static void remove_method(change *c)
{
    for (int tries = 0; tries < 60; tries++) {
        const edit_item *item = &c->program->items[below(c, c->program->count)];

        if (item->kind == ITEM_FUNCTION &&
            (strchr("*+-<!/=", item->name[0]) != NULL ||
             item->overlay[0] != '\0' || is_shadow(item) ||
             strcmp(item->name, "kind") == 0 ||
             strcmp(item->name, "pick") == 0)) {
            edit_remove(c->program, item->id);
            return;
        }
    }
}

static void change_table(change *c)
{
    edit_item *item = choose(c, ITEM_FUNCTION);

    if (item != NULL && !item->is_kernel && item->package != EDIT_CORE)
        (void)snprintf(item->overlay, sizeof item->overlay, "%s",
                       item->overlay[0] == '\0'  ? "host"
                       : item->overlay[0] == 'h' ? "extra"
                       : item->overlay[0] == 'e' ? "cuda"
                                                 : "host");
}

/* ---- names ---- */

/* A name of core's, or one that two packages have. */
static void shadow(change *c)
{
    static const char *const names[] = {"hypot", "max", "sign_of", "copysign",
                                        "f0",    "f1",  "K1",      "m0",
                                        "f2",    "p",   "t",       "same"};
    const char *name = names[below(c, 12)];
    const int kind = name[0] == 'K' ? ITEM_CONST : ITEM_FUNCTION;
    edit_item *item = edit_add(c->program, kind, below(c, EDIT_OWN), name);

    if (item == NULL)
        return;
    if (kind == ITEM_CONST)
        (void)snprintf(item->body, sizeof item->body, "%d", 1 + below(c, 5));
    else if (name[0] == 'm' && name[1] == '0')
        (void)snprintf(item->body, sizeof item->body, "$0:%d;", below(c, 9));
    else if (name[0] == 'f' || name[0] == 's' || name[1] == '\0')
        (void)snprintf(item->takes, sizeof item->takes, "x");
    else
        (void)snprintf(item->takes, sizeof item->takes, "%s",
                       below(c, 2) ? "x: f64, y: f64" : "x: S0, y");
    if (strcmp(item->takes, "x: f64, y: f64") == 0 && below(c, 20))
        (void)snprintf(item->overlay, sizeof item->overlay, "host");
    if (item->takes[0] != '\0')
        (void)snprintf(item->body, sizeof item->body, "%d.125", below(c, 20));
}

/* Does some body call it? Mostly a program stays one. */
static int is_needed(change *c, const edit_item *item)
{
    char call[20];

    (void)snprintf(call, sizeof call, "%s(", item->name);
    if (item->kind != ITEM_FUNCTION || edit_chance(c->random, 20))
        return 0;
    for (int i = 0; i < c->program->count; i++)
        if (strstr(c->program->items[i].body, call) != NULL)
            return 1;
    return 0;
}

static void hide(change *c)
{
    const int package = 1 + below(c, EDIT_OWN - 1);
    const edit_item *item = &c->program->items[below(c, c->program->count)];
    char *hidden = c->program->hidden[package];

    if (hidden[0] != '\0')
        hidden[0] = '\0';
    else if (item->kind != ITEM_NOTE && !is_needed(c, item))
        (void)snprintf(hidden, sizeof item->name, "%s", item->name);
}

static void choose_twin(change *c)
{
    c->program->twin_from[EDIT_MAIN] = below(c, EDIT_MAIN);
}

static void order_imports(change *c)
{
    if (edit_chance(c->random, 40))
        c->program->is_side_first ^= 1;
    else
        c->program->import_order[1 + below(c, EDIT_OWN - 1)] = below(c, 30);
}

static void move_item(change *c)
{
    edit_item *item = &c->program->items[below(c, c->program->count)];

    if (!item->is_kernel && item->package != EDIT_CORE && !is_needed(c, item))
        item->package = below(c, EDIT_OWN);
}

static void delete_item(change *c)
{
    const edit_item *item = &c->program->items[below(c, c->program->count)];

    if (!item->is_kernel && item->package != EDIT_CORE && !is_needed(c, item))
        edit_remove(c->program, item->id);
}

/* ---- what means nothing ---- */

static void add_note(change *c)
{
    edit_item *item = edit_add(c->program, ITEM_NOTE, below(c, EDIT_OWN), "");
    const int last = c->program->count - 1;
    edit_item kept;
    int at;

    if (item == NULL)
        return;
    (void)snprintf(item->body, sizeof item->body,
                   edit_chance(c->random, 50) ? "# note %d" : "\n",
                   below(c, 100));
    at = below(c, c->program->count);
    kept = c->program->items[at];
    c->program->items[at] = c->program->items[last];
    c->program->items[last] = kept;
}

/* The text stands in another file. */
static void move_file(change *c)
{
    c->program->place[below(c, EDIT_OWN)] = below(c, 3);
}

/* A package becomes one of two texts, or other ones. */
static void split(change *c)
{
    c->program->split[below(c, EDIT_OWN)] = below(c, 3);
}

static void reorder(change *c)
{
    const int a = below(c, c->program->count), b = below(c, c->program->count);
    const edit_item kept = c->program->items[a];

    c->program->items[a] = c->program->items[b];
    c->program->items[b] = kept;
}

/* ---- other packages ---- */

static void change_core(change *c)
{
    for (int tries = 0; tries < 60; tries++) {
        edit_item *item = &c->program->items[below(c, c->program->count)];

        if (item->package == EDIT_CORE) {
            edit_write_core(item, c->random);
            return;
        }
    }
    change_body(c);
}

static void change_argument(change *c)
{
    c->program->argument = below(c, STRUCTS);
}

static void change_configs(change *c)
{
    c->program->turn ^= 1;
}

/* ---- any ---- */

static const struct {
    const char *what;
    void (*run)(change *c);
    int weight;
    int breaks; /* it is for programs that mean nothing any more */
} changes[] = {
    {"swap fields", swap_fields, 10, 0},
    {"rename a field", rename_field, 8, 0},
    {"retype a field", retype_field, 6, 0},
    {"add or remove a field", resize_struct, 6, 0},
    {"another parent", change_parent, 8, 0},
    {"nothing above", change_above, 6, 1},
    {"another bound", change_bound, 4, 0},
    {"another constant", change_const, 10, 0},
    {"another body", change_body, 12, 0},
    {"another maker", change_maker, 6, 0},
    {"another helper", change_helper, 6, 0},
    {"another annotation", change_annotation, 3, 0},
    {"a method", add_method, 10, 0},
    {"an operator", add_operator, 8, 0},
    {"a method less", remove_method, 10, 0},
    {"another table", change_table, 3, 0},
    {"a shadow", shadow, 5, 0},
    {"hide a name", hide, 3, 0},
    {"another twin", choose_twin, 3, 0},
    {"order of imports", order_imports, 4, 0},
    {"move a definition", move_item, 4, 0},
    {"delete a definition", delete_item, 2, 0},
    {"another core", change_core, 6, 0},
    {"another argument", change_argument, 4, 0},
    {"other configs", change_configs, 6, 0},
    {"another file", move_file, 4, 0},
    {"another text", split, 4, 0},
    {"a note", add_note, 5, 0},
    {"order of definitions", reorder, 4, 0},
};

/* Which one was made. */
static int change_once(edit_program *program, edit_random *random)
{
    const int count = (int)(sizeof changes / sizeof *changes);
    change c = {.program = program, .random = random};
    int total = 0, at = 0, left;

    for (int i = 0; i < count; i++)
        total += changes[i].weight;
    left = edit_below(random, total);
    while (left >= changes[at].weight)
        left -= changes[at++].weight;
    changes[at].run(&c);
    return at;
}

/* Most programs should be ones. */
#define TRIES 12

void edit_change(edit_program *program, edit_random *random, char *what,
                 size_t size)
{
    const edit_program before = *program;
    const int any = edit_chance(random, 6);
    int done = 0;

    for (int i = 0; i < TRIES; i++) {
        *program = before;
        done = change_once(program, random);
        if (any || changes[done].breaks || edit_is_sound(program))
            break;
    }
    (void)snprintf(what, size, "%s", changes[done].what);
}
