/* program.c - a program's items, and how they are written down. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const edit_package_names[EDIT_PACKAGES] = {"lib", "mid", "side",
                                                       "main", "core"};

/* ---- random numbers ---- */

static uint64_t next(edit_random *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

edit_random edit_random_of(uint64_t seed)
{
    edit_random seeds = {seed};

    return (edit_random){next(&seeds)};
}

int edit_below(edit_random *r, int n)
{
    return (int)((next(r) >> 33) % (uint64_t)n);
}

int edit_chance(edit_random *r, int percent)
{
    return edit_below(r, 100) < percent;
}

/* ---- items ---- */

edit_item *edit_find(edit_program *program, int kind, const char *name)
{
    for (int i = 0; i < program->count; i++)
        if (program->items[i].kind == kind &&
            strcmp(program->items[i].name, name) == 0)
            return &program->items[i];
    return NULL;
}

edit_item *edit_add(edit_program *program, int kind, int package,
                    const char *name)
{
    edit_item *item;

    if (program->count == ITEMS_MAX)
        return NULL;
    item = &program->items[program->count++];
    memset(item, 0, sizeof *item);
    item->id = program->next_id++;
    item->kind = kind;
    item->package = package;
    (void)snprintf(item->name, sizeof item->name, "%s", name);
    return item;
}

void edit_remove(edit_program *program, int id)
{
    int kept = 0;

    for (int i = 0; i < program->count; i++)
        if (program->items[i].id != id)
            program->items[kept++] = program->items[i];
    program->count = kept;
}

int edit_sees(int package, int other)
{
    return other == package || other == EDIT_CORE ||
           (package != EDIT_CORE && other == EDIT_LIB) ||
           (package == EDIT_MAIN && other != EDIT_CORE);
}

/* ---- writing ---- */

typedef struct writing {
    const edit_program *program;
    char *out;
    size_t used;
    int package;
    int depth; /* of values in values */
} writing;

static void add_n(writing *w, const char *text, size_t size)
{
    if (w->used + size >= EDIT_TEXT_MAX)
        return;
    memcpy(w->out + w->used, text, size);
    w->used += size;
    w->out[w->used] = '\0';
}

static void add(writing *w, const char *text)
{
    add_n(w, text, strlen(text));
}

static void add_int(writing *w, int number)
{
    char text[16];

    (void)snprintf(text, sizeof text, "%d", number);
    add(w, text);
}

static const edit_item *struct_of(const edit_program *program, int index)
{
    for (int i = 0; i < program->count; i++)
        if (program->items[i].kind == ITEM_STRUCT &&
            program->items[i].index == index)
            return &program->items[i];
    return NULL;
}

static void write_make(writing *w, int index, int number);

/* A parameter below a type of the program's own stands for S0. */
static int is_own_bound(const edit_item *item)
{
    return item->bound[0] == 'A';
}

/* A value that the field takes. */
static void write_argument(writing *w, const edit_item *item, const char *type,
                           int number)
{
    if (type[0] == 'T' && strcmp(item->bound, "Integer") == 0) {
        add_int(w, number);
    } else if (type[0] == 'S' && type[1] >= '0' && type[1] <= '9' &&
               w->depth < 4) {
        write_make(w, type[1] - '0', number);
    } else if (strcmp(type, "i64") == 0) {
        add_int(w, number);
    } else if (strncmp(type, "Static", 6) == 0) {
        add(w, "static(3)");
    } else if (strncmp(type, "Vec", 3) == 0) {
        add(w, type);
        add(w, "(");
        add_int(w, number);
        add(w, ".5)");
    } else {
        add_int(w, number);
        add(w, ".25");
    }
}

static void write_make(writing *w, int index, int number)
{
    const edit_item *item = struct_of(w->program, index);

    w->depth++;
    add(w, "S");
    add_int(w, index);
    add(w, "(");
    for (int i = 0; item != NULL && i < item->field_count; i++) {
        if (i > 0)
            add(w, ", ");
        write_argument(w, item,
                       item->fields[i].type[0] == 'T' && is_own_bound(item)
                           ? "S0"
                           : item->fields[i].type,
                       number + i);
    }
    add(w, ")");
    w->depth--;
}

/* A text, with values for what it asks to make: "$2:7;". */
static void write_text(writing *w, const char *text)
{
    while (*text != '\0') {
        const size_t plain = strcspn(text, "$");
        char *end;

        add_n(w, text, plain);
        text += plain;
        if (*text == '\0')
            return;
        write_make(w, text[1] - '0', (int)strtol(text + 3, &end, 10));
        text = *end == ';' ? end + 1 : end;
    }
}

/* A struct with a parameter is one type when that is given. */
static void write_type(writing *w, const char *type)
{
    const edit_item *item = type[0] == 'S' && type[1] != 't'
                                ? struct_of(w->program, type[1] - '0')
                                : NULL;

    add(w, type);
    if (item == NULL || item->bound[0] == '\0')
        return;
    add(w, "{");
    if (is_own_bound(item))
        write_type(w, "S0");
    else
        add(w, strcmp(item->bound, "Integer") == 0 ? "i64" : "f64");
    add(w, "}");
}

static void write_struct(writing *w, const edit_item *item)
{
    add(w, "struct ");
    add(w, item->name);
    if (item->bound[0] != '\0') {
        add(w, item->bound[0] == '-' ? "{T" : "{T: ");
        add(w, item->bound[0] == '-' ? "" : item->bound);
        add(w, "}");
    }
    if (item->parent[0] != '\0') {
        add(w, ": ");
        add(w, item->parent);
    }
    for (int i = 0; i < item->field_count; i++) {
        add(w, "\n    ");
        add(w, item->fields[i].name);
        add(w, ": ");
        write_type(w, item->fields[i].type);
    }
    add(w, "\nend\n");
}

static void write_function(writing *w, const edit_item *item)
{
    const int is_block = strchr(item->body, '\n') != NULL;

    if (item->overlay[0] != '\0') {
        add(w, "overlay ");
        add(w, item->overlay);
        add(w, " ");
    }
    add(w, item->is_kernel ? "kernel " : "fn ");
    add(w, item->name);
    add(w, "(");
    add(w, item->takes);
    add(w, ")");
    if (item->parent[0] != '\0') {
        add(w, " -> ");
        add(w, item->parent);
    }
    if (item->where[0] != '\0') {
        add(w, " where ");
        add(w, item->where);
    }
    add(w, is_block ? "\n" : " = ");
    write_text(w, item->body);
    add(w, is_block ? "end\n" : "\n");
}

static void write_item(writing *w, const edit_item *item)
{
    switch (item->kind) {
    case ITEM_NOTE:
        add(w, item->body);
        add(w, "\n");
        break;
    case ITEM_CONST:
    case ITEM_ABSTRACT:
        add(w, item->kind == ITEM_CONST ? "const " : "abstract ");
        add(w, item->name);
        add(w, item->kind == ITEM_CONST  ? " = "
               : item->parent[0] != '\0' ? ": "
                                         : "");
        add(w, item->kind == ITEM_CONST ? item->body : item->parent);
        add(w, "\n");
        break;
    case ITEM_STRUCT:
        write_struct(w, item);
        break;
    default:
        write_function(w, item);
        break;
    }
}

/* ---- imports ---- */

static int has_name(const edit_program *program, int package, const char *name)
{
    for (int i = 0; i < program->count; i++)
        if (program->items[i].package == package &&
            program->items[i].kind != ITEM_NOTE &&
            strcmp(program->items[i].name, name) == 0)
            return 1;
    return 0;
}

/* Is it the first item of its name in its package? */
static int is_first(const edit_program *program, const edit_item *item)
{
    for (const edit_item *at = program->items; at < item; at++)
        if (at->package == item->package && at->kind != ITEM_NOTE &&
            strcmp(at->name, item->name) == 0)
            return 0;
    return 1;
}

static int is_word(const char *name)
{
    return (name[0] >= 'a' && name[0] <= 'z') ||
           (name[0] >= 'A' && name[0] <= 'Z');
}

/* Whose name does the package import? That of one package only. */
static int source_of(const edit_program *program, int package, const char *name)
{
    const int twin = program->twin_from[package];

    if (twin != package && edit_sees(package, twin) &&
        has_name(program, twin, name))
        return twin;
    for (int other = 0; other < EDIT_OWN; other++)
        if (other != package && edit_sees(package, other) &&
            has_name(program, other, name))
            return other;
    return -1;
}

/* A type or constant of the package's own hides what others have; a function
   of its own is a method of theirs, unless they are kept out. */
static int is_imported(const writing *w, const edit_item *item)
{
    const edit_program *program = w->program;

    if (item->kind == ITEM_NOTE || item->is_kernel || !is_word(item->name) ||
        !is_first(program, item) ||
        strcmp(program->hidden[w->package], item->name) == 0)
        return 0;
    if (item->kind != ITEM_FUNCTION &&
        has_name(program, w->package, item->name))
        return 0;
    return source_of(program, w->package, item->name) == item->package;
}

static void write_imports_of(writing *w, int from)
{
    const edit_program *program = w->program;
    const int turn = program->import_order[w->package];
    int count = 0;

    for (int i = 0; i < program->count; i++) {
        const edit_item *item = &program->items[(i + turn) % program->count];

        if (item->package != from || !is_imported(w, item))
            continue;
        add(w, count++ == 0 ? "import " : ", ");
        if (count == 1) {
            add(w, edit_package_names[from]);
            add(w, ": ");
        }
        add(w, item->name);
    }
    if (count == 0) {
        add(w, "import ");
        add(w, edit_package_names[from]);
    }
    add(w, "\n");
}

/* ---- texts ---- */

static void write_imports(writing *w)
{
    const int backwards = w->program->import_order[w->package] % 2;

    for (int i = 0; i < EDIT_OWN; i++) {
        const int from = backwards ? EDIT_OWN - 1 - i : i;

        if (from != w->package && w->package != EDIT_CORE &&
            edit_sees(w->package, from))
            write_imports_of(w, from);
    }
}

/* Functions alone are dealt out: all else is in the first text. */
static int piece_of(const edit_program *program, const edit_item *item)
{
    const int split = program->split[item->package];

    return split > 0 && item->kind == ITEM_FUNCTION && item->id % 3 == split;
}

static void write_piece(edit_texts *out, const edit_program *program,
                        int package, int piece)
{
    writing w = {.program = program,
                 .out = out->text[package][piece],
                 .package = package};

    w.out[0] = '\0';
    if (piece == 0)
        write_imports(&w);
    for (int i = 0; i < program->count; i++)
        if (program->items[i].package == package &&
            piece_of(program, &program->items[i]) == piece)
            write_item(&w, &program->items[i]);
}

static void write_argument_type(edit_texts *out, const edit_program *program)
{
    char text[EDIT_TEXT_MAX], name[8];
    writing w = {.program = program, .out = text};

    (void)snprintf(name, sizeof name, "S%d", program->argument);
    write_type(&w, name);
    (void)snprintf(out->argument, sizeof out->argument, "%.15s", text);
}

void edit_write(edit_texts *out, const edit_program *program)
{
    static const int orders[2][EDIT_PACKAGES] = {
        {EDIT_CORE, EDIT_LIB, EDIT_MID, EDIT_SIDE, EDIT_MAIN},
        {EDIT_CORE, EDIT_LIB, EDIT_SIDE, EDIT_MID, EDIT_MAIN}};

    for (int p = 0; p < EDIT_PACKAGES; p++)
        for (int piece = 0; piece < EDIT_PIECES; piece++)
            write_piece(out, program, p, piece);
    write_argument_type(out, program);
    memcpy(out->place, program->place, sizeof out->place);
    out->turn = program->turn;
    out->program = program;
    memcpy(out->order, orders[program->is_side_first], sizeof out->order);
}

void edit_print(FILE *out, const edit_texts *texts)
{
    for (int i = 0; i < EDIT_PACKAGES; i++)
        for (int piece = 0; piece < EDIT_PIECES; piece++) {
            const int package = texts->order[i];
            const char *text = texts->text[package][piece];

            if (text[0] != '\0')
                fprintf(out, "## %d/%s.kiln, text %d\n%s",
                        texts->place[package], edit_package_names[package],
                        piece, text);
        }
    fprintf(out, "## the last kernel takes %s\n", texts->argument);
}
