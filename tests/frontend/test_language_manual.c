/* test_language_manual.c - runs every example of docs/language.md. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance frontend host */
#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/devices/kernels.h"

/* One fenced block of the page: "```kiln" or "```kiln error=CODE". */
typedef struct example {
    char package[32]; /* "line120": where it stands */
    char code[64];    /* of the error it must give, or "" */
    char *text;
    size_t size;
} example;

static char *page;

static int page_read(void **state)
{
    FILE *file = fopen(KILN_SOURCE_FOLDER "/docs/language.md", "rb");
    size_t size;

    assert_non_null(file);
    page = calloc(1, 1 << 20);
    assert_non_null(page);
    size = fread(page, 1, (1 << 20) - 1, file);
    fclose(file);
    assert_true(size > 0);
    return kernels_setup(state);
}

static int page_free(void **state)
{
    free(page);
    return kernels_teardown(state);
}

/* Takes the next example behind *at; false when there is none. */
static int next_example(char **at, example *out)
{
    static const char fence[] = "\n```kiln";
    char *begin = strstr(*at, fence);
    char *line, *end;
    int number = 2;

    if (begin == NULL)
        return 0;
    line = begin + sizeof fence - 1;
    out->code[0] = '\0';
    (void)sscanf(line, " error=%63[a-z-]", out->code);
    for (const char *c = page; c < line; c++)
        number += *c == '\n';
    snprintf(out->package, sizeof out->package, "line%d", number - 1);
    out->text = strchr(line, '\n') + 1;
    end = strstr(out->text, "\n```");
    assert_non_null(end);
    out->size = (size_t)(end + 1 - out->text);
    *at = end + 4;
    return 1;
}

/* What the kernel takes stands behind its name. */
static kiln_status run_example(kernels *k, const example *e,
                               kiln_package *package, kiln_error **error)
{
    float data[12] = {0};
    const kiln_array line = kernels_array(data, 12);
    const kiln_array plane = kernels_array2(data, 3, 4);
    const kernels_argument rank1[] = {{"f32[:]", &line}};
    const kernels_argument rank2[] = {{"f32[:,:]", &plane}};
    const char *header = memmem(e->text, e->size, "kernel example(", 15);

    if (header == NULL)
        return KILN_OK;
    if (strncmp(header, "kernel example()", 16) == 0)
        return kernels_run(k, package, "example", 1, NULL, 0, error);
    return kernels_run(
        k, package, "example", 1,
        strncmp(header, "kernel example(a: f32[:])", 25) == 0 ? rank1 : rank2,
        1, error);
}

static kiln_status define_and_run(kernels *k, const example *e,
                                  kiln_error **error)
{
    kiln_package *package = NULL;
    kiln_status status;

    assert_ok(kiln_package_new(&package, k->context, e->package, &test_error));
    status = kiln_package_define(package, "language.md", e->text, e->size, NULL,
                                 error);
    if (status != KILN_OK)
        return status;
    return run_example(k, e, package, error);
}

static void fail_with(const example *e, const char *what,
                      const kiln_error *error)
{
    kiln_blob text = {0};

    if (error != NULL && kiln_error_render(&text, error, 0) == KILN_OK &&
        text.data != NULL)
        fail_msg("%s: %s\n%s", e->package, what, (const char *)text.data);
    fail_msg("%s: %s", e->package, what);
}

/* What says where it runs is right on the host. */
static int is_of_the_host(const example *e)
{
    return strcmp(kernels_backend(), "host") != 0 &&
           memmem(e->text, e->size, "overlay host", 12) != NULL;
}

static int has_code(const kiln_error *error, const char *code)
{
    for (size_t i = 0; i < kiln_error_diagnostic_count(error); i++)
        if (strcmp(kiln_error_diagnostic(error, i)->code, code) == 0)
            return 1;
    return 0;
}

/* True when the target lacks what the example is about, which is said. */
static int is_beyond(const kernels *k, const kiln_error *error)
{
    const int is = (!kernels_has(k, "subgroups") &&
                    has_code(error, "unsupported-sub-group")) ||
                   (!kernels_has(k, "recursion") &&
                    has_code(error, "unsupported-recursion"));

    if (is)
        print_message("skipped: %s\n", kiln_error_message(error));
    return is;
}

static void every_example_runs(void **state)
{
    char *at = page;
    example e;
    int count = 0;

    while (next_example(&at, &e)) {
        kiln_error *error = NULL;

        if (e.code[0] != '\0' || is_of_the_host(&e))
            continue;
        if (define_and_run(*state, &e, &error) != KILN_OK &&
            !is_beyond(*state, error))
            fail_with(&e, "does not run", error);
        kiln_error_free(error);
        count++;
    }
    assert_true(count >= 20);
}

/* True for an example in which the items of a group do something together. */
static int is_of_a_group(const example *e)
{
    static const char *const words[] = {"barrier()", "group_", "local "};

    if (memmem(e->text, e->size, "kernel example()", 16) == NULL)
        return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(e->text, e->size, words[i], strlen(words[i])) != NULL)
            return 1;
    return 0;
}

/* Twenty items in groups of sixteen: the grid cuts the second group. */
static void examples_of_groups_are_right_in_cut_groups(void **state)
{
    const kiln_launch launch = {.grid = {20, 1, 1}, .block = {16, 1, 1}};
    kernels *k = *state;
    char *at = page;
    example e;
    int count = 0;

    if (!kernels_takes(&launch)) /* grids are whole groups there */
        return;
    while (next_example(&at, &e)) {
        kiln_error *error = NULL;
        kiln_package *package;

        if (e.code[0] != '\0' || !is_of_a_group(&e))
            continue;
        assert_ok(
            kiln_package_new(&package, k->context, e.package, &test_error));
        assert_ok(kiln_package_define(package, "language.md", e.text, e.size,
                                      NULL, &test_error));
        if (kernels_launch(k, package, "example", k->config, &launch, NULL, 0,
                           &error) != KILN_OK)
            fail_with(&e, "does not run in a cut group", error);
        count++;
    }
    assert_true(count >= 3);
}

static void every_example_of_an_error_gives_it(void **state)
{
    char *at = page;
    example e;
    int count = 0;

    while (next_example(&at, &e)) {
        kiln_error *error = NULL;

        if (e.code[0] == '\0')
            continue;
        if (define_and_run(*state, &e, &error) == KILN_OK)
            fail_with(&e, "has no error", NULL);
        if (!has_code(error, e.code))
            fail_with(&e, e.code, error);
        kiln_error_free(error);
        count++;
    }
    assert_true(count >= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_runs),
        cmocka_unit_test(examples_of_groups_are_right_in_cut_groups),
        cmocka_unit_test(every_example_of_an_error_gives_it),
    };

    return cmocka_run_group_tests(tests, page_read, page_free);
}
