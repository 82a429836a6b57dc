/* order.c - sorts names of functions by their order in a list of hashes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 *     order pack < names > list
 *     order names list < names > names in the list's order
 *
 * `pack` makes a list of names: four characters for each name, 24 bits of its
 * hash. `names` prints those names of its input that are in a list. If two
 * names have the same hash, one of them is misplaced, which does no harm.
 */

#define CHARACTERS 4
#define LINE 19 /* names in a line */

static const char digits[] =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

typedef struct item {
    uint32_t hash;
    uint32_t rank;
    char *name;
} item;

typedef struct items {
    item *at;
    size_t count, capacity;
} items;

static void fail(const char *what)
{
    fprintf(stderr, "order: %s\n", what);
    exit(1);
}

static void add(items *list, uint32_t hash, char *name)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity * 2 + 1024;
        list->at = realloc(list->at, list->capacity * sizeof *list->at);
        if (list->at == NULL)
            fail("out of memory");
    }
    list->at[list->count] = (item){hash, (uint32_t)list->count, name};
    list->count++;
}

/* FNV-1a, folded. */
static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u;

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return (hash ^ hash >> 24) & 0xffffff;
}

static int next_name(char **line, size_t *capacity)
{
    ssize_t size = getline(line, capacity, stdin);

    if (size < 0)
        return 0;
    (*line)[strcspn(*line, "\n")] = '\0';
    return 1;
}

static void pack(void)
{
    size_t capacity = 0, count = 0;
    char *line = NULL;

    while (next_name(&line, &capacity)) {
        const uint32_t hash = hash_of(line);

        for (int i = CHARACTERS; i-- > 0;)
            putchar(digits[hash >> 6 * i & 63]);
        if (++count % LINE == 0)
            putchar('\n');
    }
    if (count % LINE != 0)
        putchar('\n');
    free(line);
}

static items read_list(const char *path)
{
    FILE *file = fopen(path, "r");
    items list = {0};
    uint32_t hash = 0;
    int at = 0, c;

    if (file == NULL)
        fail("the list cannot be read");
    while ((c = getc(file)) != EOF) {
        const char *digit = c != '\n' ? strchr(digits, c) : NULL;

        if (digit == NULL)
            continue;
        hash = (hash << 6 | (uint32_t)(digit - digits)) & 0xffffff;
        if (++at % CHARACTERS == 0)
            add(&list, hash, NULL);
    }
    fclose(file);
    return list;
}

static int by_hash(const void *a, const void *b)
{
    const item *x = a, *y = b;

    return (x->hash > y->hash) - (x->hash < y->hash);
}

static int by_rank(const void *a, const void *b)
{
    const item *x = a, *y = b;
    const int order = (x->rank > y->rank) - (x->rank < y->rank);

    return order != 0 ? order : strcmp(x->name, y->name);
}

static void put_names(const char *path)
{
    items list = read_list(path), found = {0};
    char *line = NULL;
    size_t capacity = 0;

    qsort(list.at, list.count, sizeof *list.at, by_hash);
    while (next_name(&line, &capacity)) {
        const item wanted = {.hash = hash_of(line)};
        const item *known = list.count > 0
                                ? bsearch(&wanted, list.at, list.count,
                                          sizeof *list.at, by_hash)
                                : NULL;

        if (known == NULL)
            continue;
        add(&found, known->hash, strdup(line));
        found.at[found.count - 1].rank = known->rank;
    }
    free(line);
    qsort(found.at, found.count, sizeof *found.at, by_rank);
    for (size_t i = 0; i < found.count; i++)
        if (i == 0 || strcmp(found.at[i].name, found.at[i - 1].name) != 0)
            puts(found.at[i].name);
    for (size_t i = 0; i < found.count; i++)
        free(found.at[i].name);
    free(found.at);
    free(list.at);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "pack") == 0)
        pack();
    else if (argc == 3 && strcmp(argv[1], "names") == 0)
        put_names(argv[2]);
    else
        fail("pack, or names LIST");
    return fflush(stdout) != 0;
}
