/* generate.c - a random program, and what edits take from it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "program.h"

static const char *const abstracts[ABSTRACTS] = {"A0", "A1", "A2"};

static void set(char *out, size_t size, const char *text)
{
    (void)snprintf(out, size, "%s", text);
}

static edit_item *add_function(edit_program *program, int package,
                               const char *name, const char *takes,
                               const char *body)
{
    edit_item *item = edit_add(program, ITEM_FUNCTION, package, name);

    if (item == NULL)
        return NULL;
    set(item->takes, sizeof item->takes, takes);
    set(item->body, sizeof item->body, body);
    return item;
}

/* ---- what each program has ---- */

static void add_helpers(edit_program *program)
{
    (void)add_function(program, EDIT_LIB, "same", "x", "x");
    (void)add_function(program, EDIT_LIB, "pair", "x", "(x, 1)");
    (void)add_function(program, EDIT_LIB, "call", "f, x", "f(x)");
    (void)add_function(program, EDIT_LIB, "run", "f", "f()");
    (void)add_function(program, EDIT_LIB, "both", "f, x, y", "f(x, y)");
    (void)add_function(program, EDIT_LIB, "down", "n: i64, x",
                       "n <= 0 ? x : down(n - 1, x)");
    (void)add_function(program, EDIT_LIB, "up", "n: i64, x",
                       "n <= 0 ? x : over(n - 1, x + 0.5)");
    (void)add_function(program, EDIT_LIB, "over", "n: i64, x",
                       "n <= 0 ? x * 2.0 : up(n - 1, x)");
    (void)add_function(program, EDIT_LIB, "steps", "n: Static",
                       "    sum = 0.0\n    for i in static(0..n)\n"
                       "        sum += f64(i) + 0.5\n    end\n"
                       "    return sum\n");
    (void)add_function(program, EDIT_LIB, "kind", "x", "0.5");
    (void)add_function(program, EDIT_LIB, "pick", "x, y", "0.25");
}

/* It cannot be unloaded, so what is in it stays. */
static void add_core(edit_program *program, edit_random *random)
{
    edit_item *c0 = add_function(program, EDIT_CORE, "c0", "x", "");
    edit_item *c1 = add_function(program, EDIT_CORE, "c1", "x: f64", "");
    edit_item *constant = edit_add(program, ITEM_CONST, EDIT_CORE, "C0");

    if (c0 == NULL || c1 == NULL || constant == NULL)
        return;
    edit_write_core(c0, random);
    edit_write_core(c1, random);
    edit_write_core(constant, random);
}

static void add_consts(edit_program *program, edit_random *random)
{
    for (int i = 0; i < CONSTS; i++) {
        edit_item *item;
        char name[8];

        (void)snprintf(name, sizeof name, "K%d", i);
        item = edit_add(program, ITEM_CONST,
                        i == 0 ? EDIT_LIB : edit_below(random, EDIT_OWN), name);
        if (item == NULL)
            return;
        if (i > 0 && edit_chance(random, 30))
            set(item->body, sizeof item->body, i == 1 ? "K0" : "K0 + 1");
        else
            (void)snprintf(item->body, sizeof item->body, "%d",
                           1 + edit_below(random, 4));
        if (i == 1)
            item->package = EDIT_LIB;
    }
}

static void add_abstracts(edit_program *program, edit_random *random)
{
    for (int i = 0; i < ABSTRACTS; i++) {
        edit_item *item =
            edit_add(program, ITEM_ABSTRACT, EDIT_LIB, abstracts[i]);

        if (item != NULL && i > 0 && edit_chance(random, 60))
            set(item->parent, sizeof item->parent,
                abstracts[edit_below(random, i)]);
    }
}

void edit_fill_fields(edit_item *item, edit_random *random)
{
    static const char *const types[] = {"f64", "f64",          "f32",
                                        "i64", "Vec{f64, K1}", "Static{3}"};

    for (int i = 0; i < item->field_count; i++) {
        edit_field *f = &item->fields[i];

        if (f->type[0] != '\0')
            continue;
        (void)snprintf(f->name, sizeof f->name, "%c%d", 'a' + i, item->index);
        set(f->type, sizeof f->type, types[edit_below(random, 6)]);
        if (item->index > 0 && edit_chance(random, 20))
            (void)snprintf(f->type, sizeof f->type, "S%d",
                           edit_below(random, item->index));
        if (i == 0 && item->bound[0] != '\0')
            set(f->type, sizeof f->type, "T");
    }
}

static void add_structs(edit_program *program, edit_random *random)
{
    const int last = edit_chance(random, 50) ? EDIT_MID : EDIT_SIDE;
    int package = EDIT_LIB;

    for (int i = 0; i < STRUCTS; i++) {
        char name[8], maker[8], body[32];
        edit_item *item;

        (void)snprintf(name, sizeof name, "S%d", i);
        if (package != EDIT_MAIN && edit_chance(random, 35))
            package = package == EDIT_LIB ? last : EDIT_MAIN;
        item = edit_add(program, ITEM_STRUCT, package, name);
        if (item == NULL)
            return;
        item->index = i;
        item->field_count = 2 + edit_below(random, 2);
        if (edit_chance(random, i == 0 ? 85 : 60))
            set(item->parent, sizeof item->parent,
                abstracts[edit_below(random, ABSTRACTS)]);
        if (edit_chance(random, 35))
            set(item->bound, sizeof item->bound,
                i > 0 && edit_chance(random, 60) ? abstracts[i % 2]
                : edit_chance(random, 50)        ? "-"
                                                 : "Float");
        edit_fill_fields(item, random);
        (void)snprintf(maker, sizeof maker, "m%d", i);
        (void)snprintf(body, sizeof body, "$%d:%d;", i, edit_below(random, 9));
        (void)add_function(program, package, maker, "", body);
    }
}

/* ---- bodies ---- */

static edit_writer writer_of(const edit_program *program, edit_item *item,
                             edit_random *random)
{
    item->body[0] = '\0';
    return (edit_writer){.random = random,
                         .program = program,
                         .package = item->package,
                         .below = NUMBERS,
                         .argument = -1,
                         .out = item->body,
                         .size = sizeof item->body};
}

static int choose_struct(const edit_program *program, const edit_item *item,
                         edit_random *random)
{
    for (int tries = 0; tries < 10; tries++) {
        const edit_item *at =
            &program->items[edit_below(random, program->count)];

        if (at->kind == ITEM_STRUCT && edit_sees(item->package, at->package) &&
            at->field_count > 0)
            return (int)(at - program->items);
    }
    return -1;
}

/* A vector's length: nothing names the constant that it is but the struct. */
static int write_length(edit_writer *w, const edit_item *s, int output)
{
    for (int i = 0; s != NULL && s->bound[0] == '\0' && i < s->field_count; i++)
        if (s->fields[i].type[0] == 'V') {
            edit_put(w,
                     "    t = allocate(%s, 1)\n"
                     "    out[%d] = f64(length(t[0].%s))\n    free(t)\n",
                     s->name, output, s->fields[i].name);
            return 1;
        }
    return 0;
}

/* A local struct of which a field is assigned, or an element of an array. */
static void write_part(edit_writer *w, const edit_item *item, int output)
{
    const int at = choose_struct(w->program, item, w->random);
    const edit_item *s = at < 0 ? NULL : &w->program->items[at];
    const edit_field *f = s == NULL ? NULL : &s->fields[0];

    if (edit_chance(w->random, 50) && write_length(w, s, output))
        return;
    if (f == NULL || strcmp(f->type, "f64") != 0) {
        edit_put(w, "    out[%d] = x\n", output);
        return;
    }
    if (edit_chance(w->random, 50) || s->bound[0] != '\0') {
        edit_put(w, "    p = ");
        edit_struct(w, s->index, 1);
        edit_put(w, "\n    p.%s += x\n    out[%d] = p.%s\n", f->name, output,
                 s->fields[s->field_count > 1 ? 1 : 0].type[0] == 'f' &&
                         strcmp(s->fields[s->field_count > 1 ? 1 : 0].type,
                                "f64") == 0
                     ? s->fields[s->field_count > 1 ? 1 : 0].name
                     : f->name);
        return;
    }
    edit_put(w, "    t = allocate(%s, 2)\n    t[1] = ", s->name);
    edit_struct(w, s->index, 1);
    edit_put(w, "\n    out[%d] = t[1].%s\n    free(t)\n", output, f->name);
}

static void write_kernel(edit_writer *w, const edit_item *item)
{
    edit_put(w, "    x = out[0] + 1.25\n");
    w->number = "x";
    if (strstr(item->takes, ", s") != NULL)
        w->argument = w->program->argument;
    for (int i = 0; i < OUTPUTS - 1; i++) {
        edit_put(w, "    out[%d] = ", i);
        edit_number(w, 3);
        edit_put(w, "\n");
    }
    if (edit_chance(w->random, 25))
        edit_put(w, "    assert(out[%d] < %d.5, \"%s\")\n",
                 edit_below(w->random, OUTPUTS - 1), edit_below(w->random, 20),
                 item->name);
    write_part(w, item, OUTPUTS - 1);
}

/* Some may raise an exception, which names their line. */
static void write_number(edit_writer *w, const edit_item *item)
{
    const int raises = edit_chance(w->random, 15);

    w->below = item->name[0] == 'f' ? item->name[1] - '0' : 0;
    w->number = "x";
    if (raises)
        edit_put(w, "    assert(x < %d.5, \"%s\")\n    return ",
                 8 + edit_below(w->random, 30), item->name);
    edit_number(w, 3);
    if (raises)
        edit_put(w, "\n");
}

void edit_write_core(edit_item *item, edit_random *random)
{
    static const char *const bodies[] = {"x", "x + 1.5", "-x", "sign_of(x)",
                                         "abs(x) * 0.5"};

    set(item->body, sizeof item->body,
        item->kind == ITEM_CONST ? &"1\0002\0003"[2 * edit_below(random, 3)]
                                 : bodies[edit_below(random, 5)]);
}

void edit_write_body(edit_program *program, edit_item *item,
                     edit_random *random)
{
    const edit_item before = *item;

    do {
        edit_writer w = writer_of(program, item, random);

        if (item->is_kernel)
            write_kernel(&w, item);
        else
            write_number(&w, item);
        if (w.used < w.size)
            return;
        *item = before;
    } while (edit_chance(random, 95));
}

/* ---- methods ---- */

static const char *annotation(edit_random *random)
{
    static const char *const texts[] = {
        "",     "",     ": A0",   ": A1",  ": A2",       ": f64",    ": Float",
        ": S0", ": S1", ": S2",   ": S3",  ": Function", ": Tuple",  ": i64",
        ": T",  ": T",  ": Real", ": Vec", ": Static",   ": Type{T}"};

    return texts[edit_below(random, 20)];
}

/* One of two configs has the table `extra`, too. */
static const char *table(edit_random *random)
{
    static const char *const names[] = {"host", "extra", "extra", "cuda"};

    return names[edit_below(random, 4)];
}

void edit_add_method(edit_program *program, edit_random *random)
{
    static const char *const bounds[] = {"T: Real", "T: A0", "T: Float",
                                         "T: A1"};
    const int package = edit_below(random, EDIT_OWN);
    const int is_pick = edit_chance(random, 50);
    char takes[64], body[16];
    edit_item *item;

    (void)snprintf(takes, sizeof takes, "x%s", annotation(random));
    if (is_pick)
        (void)snprintf(takes + strlen(takes), sizeof takes - strlen(takes),
                       ", y%s", annotation(random));
    (void)snprintf(body, sizeof body, "%d.75", edit_below(random, 30));
    item =
        add_function(program, package, is_pick ? "pick" : "kind", takes, body);
    if (item != NULL && edit_chance(random, 25))
        set(item->overlay, sizeof item->overlay, table(random));
    if (item != NULL && strchr(takes, 'T') != NULL &&
        (strstr(takes, ": T,") != NULL || strstr(takes, "T}") != NULL ||
         strcmp(takes + strlen(takes) - 3, ": T") == 0))
        set(item->where, sizeof item->where, bounds[edit_below(random, 4)]);
}

/* An operator of structs, or an overlay of one on built-in types. */
void edit_add_operator(edit_program *program, edit_random *random)
{
    static const char *const built_in[][3] = {
        {"*", "x: f64, y: f64", "fma(x, y, 3.0)"},
        {"+", "x: f64, y: f64", "fma(x, 2.0, y)"},
        {"-", "x: f64", "abs(x)"},
        {"<", "x: f64, y: f64", "x >= y"},
        {"!", "x: Bool", "x"},
        {"**", "x: f64, y: f64", "7.5"},
        {"/", "x: f64, y: f64", "max(x, y)"},
        {"==", "x: f64, y: f64", "true"},
        {"hypot", "x: f64, y: f64", "fma(x, y, 0.5)"},
        {"sqrt", "x: f64", "8.5"},
    };
    const int package = edit_below(random, EDIT_OWN);
    const int at = edit_below(random, 10), index = edit_below(random, STRUCTS);
    edit_item *item;
    char takes[32], body[32];

    if (edit_chance(random, 50)) {
        item = add_function(program, package, built_in[at][0], built_in[at][1],
                            built_in[at][2]);
        if (item != NULL)
            set(item->overlay, sizeof item->overlay, table(random));
        return;
    }
    (void)snprintf(takes, sizeof takes, "a: S%d, b: S%d", index, index);
    (void)snprintf(body, sizeof body, edit_chance(random, 50) ? "a" : "$%d:%d;",
                   index, edit_below(random, 9));
    (void)add_function(program, package, "+", takes, body);
}

/* ---- the whole ---- */

static void add_numbers(edit_program *program, edit_random *random)
{
    static const int packages[NUMBERS] = {EDIT_LIB, EDIT_MID, EDIT_SIDE,
                                          EDIT_MAIN};

    for (int i = 0; i < NUMBERS; i++) {
        edit_item *item;
        char name[8];

        (void)snprintf(name, sizeof name, "f%d", i);
        item = add_function(program, packages[i], name,
                            edit_chance(random, 70) ? "x" : "x: f64", "x");
        if (item != NULL)
            edit_write_body(program, item, random);
    }
}

static void add_kernels(edit_program *program, edit_random *random)
{
    for (int i = 0; i < KERNELS; i++) {
        edit_item *item;
        char name[8];

        (void)snprintf(name, sizeof name, "k%d", i);
        item = add_function(program, EDIT_MAIN, name,
                            i < KERNELS - 1           ? "out: f64[:]"
                            : edit_chance(random, 85) ? "out: f64[:], s"
                                                      : "out: f64[:], s: A0",
                            "");
        if (item == NULL)
            return;
        item->is_kernel = 1;
        edit_write_body(program, item, random);
    }
}

static void add_soundly(edit_program *program, edit_random *random,
                        void (*add)(edit_program *program, edit_random *random))
{
    const edit_program before = *program;

    for (int i = 0; i < 20; i++) {
        add(program, random);
        if (edit_is_sound(program))
            return;
        *program = before;
    }
}

static void add_types(edit_program *program, edit_random *random)
{
    add_consts(program, random);
    add_abstracts(program, random);
    add_structs(program, random);
}

void edit_generate(edit_program *out, edit_random *random)
{
    memset(out, 0, sizeof *out);
    out->argument = edit_below(random, STRUCTS);
    out->is_side_first = edit_below(random, 2);
    add_helpers(out);
    if (edit_chance(random, 25))
        add_core(out, random);
    add_soundly(out, random, add_types);
    for (int i = edit_below(random, 4); i >= 0; i--)
        add_soundly(out, random, edit_add_method);
    if (edit_chance(random, 50))
        add_soundly(out, random, edit_add_operator);
    add_numbers(out, random);
    add_kernels(out, random);
}
