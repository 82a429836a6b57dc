/* sound.c - do the definitions of a program name what is there? */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "program.h"

/* Types and constants have names of a letter and a digit. */
static int is_name(const char *text, const char *begin)
{
    return strchr("SAK", text[0]) != NULL && text[0] != '\0' &&
           text[1] >= '0' && text[1] <= '9' &&
           (text == begin || strchr(" :{(,", text[-1]) != NULL);
}

static int is_defined(const edit_program *program, const char *name,
                      int package)
{
    if (strncmp(program->hidden[package], name, 2) == 0)
        return 0;
    for (int i = 0; i < program->count; i++) {
        const edit_item *item = &program->items[i];

        if (item->kind != ITEM_NOTE && item->kind != ITEM_FUNCTION &&
            edit_sees(package, item->package) && strlen(item->name) == 2 &&
            strncmp(item->name, name, 2) == 0)
            return 1;
    }
    return 0;
}

static int names_what_is_there(const edit_program *program, const char *text,
                               int package)
{
    for (const char *at = text; *at != '\0'; at++)
        if (is_name(at, text) && !is_defined(program, at, package))
            return 0;
    return 1;
}

static const edit_item *find_type(const edit_program *program, const char *name)
{
    for (int i = 0; i < program->count; i++)
        if ((program->items[i].kind == ITEM_STRUCT ||
             program->items[i].kind == ITEM_ABSTRACT) &&
            strcmp(program->items[i].name, name) == 0)
            return &program->items[i];
    return NULL;
}

/* S0 stands for parameters below types of the program's own. */
static int takes_first(const edit_program *program, const char *bound)
{
    const edit_item *item = find_type(program, "S0");

    for (int i = 0; item != NULL && i < ABSTRACTS; i++) {
        if (strcmp(item->parent, bound) == 0)
            return 1;
        item = find_type(program, item->parent);
    }
    return 0;
}

/* The fields have to say what the parameter is. */
static int has_parameter(const edit_program *program, const edit_item *item)
{
    int has = item->bound[0] == '\0';

    if (item->bound[0] == 'A' && !takes_first(program, item->bound))
        return 0;

    for (int i = 0; i < item->field_count; i++)
        has |= strcmp(item->fields[i].type, "T") == 0;
    return has;
}

static int is_complete(const edit_program *program, const edit_item *item)
{
    for (int i = 0; i < item->field_count; i++)
        if (!names_what_is_there(program, item->fields[i].type, item->package))
            return 0;
    return has_parameter(program, item) &&
           names_what_is_there(program, item->parent, item->package) &&
           names_what_is_there(program, item->takes, item->package) &&
           names_what_is_there(program, item->where, item->package) &&
           (item->kind != ITEM_CONST ||
            names_what_is_there(program, item->body, item->package));
}

static int is_same(const edit_item *a, const edit_item *b)
{
    if (a->kind == ITEM_NOTE || b->kind == ITEM_NOTE ||
        a->package != b->package || strcmp(a->name, b->name) != 0)
        return 0;
    return a->kind != ITEM_FUNCTION || b->kind != ITEM_FUNCTION ||
           (strcmp(a->overlay, b->overlay) == 0 &&
            strcmp(a->takes, b->takes) == 0);
}

int edit_is_sound(const edit_program *program)
{
    for (int i = 0; i < program->count; i++) {
        if (!is_complete(program, &program->items[i]))
            return 0;
        for (int k = 0; k < i; k++)
            if (is_same(&program->items[i], &program->items[k]))
                return 0;
    }
    return 1;
}
