/* test_golden_kernels.c - what devices' code of small kernels looks like. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: golden codegen cuda rocm spirv */
#include "support/harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln.h"
#include "support/process/file_check.h"

/*
 * Each tests/golden/BACKEND/NAME.kiln is a program whose comments say
 *
 *     # KERNEL: name                   what is compiled, and for which types
 *     # TYPES: type | type
 *     # GROUP: x y z                   optional: the required group,
 *     # MAXIMUM: items                 the most items of one, and
 *     # MINIMUM: groups                the groups of a processor
 *     # RUN: target form PREFIX        once or more
 *     # PREFIX: ...                    what FileCheck must find
 */

#define FOLDER KILN_TESTS_FOLDER "/golden/"

typedef struct golden {
    const char *folder; /* for files */
    const char *path;
    char text[1 << 16];
    kiln_context *context;
    kiln_package *package;
    const kiln_type *types[16];
    kiln_signature signature;
} golden;

/* What stands behind "# KEY: ", up to the end of the line. */
static int value_of(char *out, size_t size, const char *text, const char *key)
{
    const char *at = strstr(text, key);
    size_t length;

    if (at == NULL)
        return 0;
    at += strlen(key);
    length = strcspn(at, "\n");
    assert_true(length < size);
    memcpy(out, at, length);
    out[length] = '\0';
    return 1;
}

static void read_signature(golden *g)
{
    char line[256], *type = line, *end;

    assert_true(value_of(line, sizeof line, g->text, "# KERNEL: "));
    assert_ok(kiln_package_function(&g->signature.function, g->package, line,
                                    &test_error));
    assert_true(value_of(line, sizeof line, g->text, "# TYPES: "));
    g->signature.types = g->types;
    g->signature.count = 0;
    for (; type != NULL; type = end != NULL ? end + 3 : NULL) {
        end = strstr(type, " | ");
        if (end != NULL)
            *end = '\0';
        assert_ok(kiln_type_parse(&g->types[g->signature.count++], g->context,
                                  g->package, type, &test_error));
    }
}

static void open_golden(golden *g, const char *path)
{
    FILE *file = fopen(path, "r");
    size_t size;

    g->path = path;
    assert_non_null(file);
    size = fread(g->text, 1, sizeof g->text - 1, file);
    g->text[size] = '\0';
    fclose(file);
    assert_ok(kiln_context_new(&g->context, NULL, &test_error));
    assert_ok(kiln_package_new(&g->package, g->context, "main", &test_error));
    assert_ok(kiln_package_define(g->package, path, g->text, size, NULL,
                                  &test_error));
    read_signature(g);
}

static int32_t form_of(const char *name)
{
    static const char *const names[] = {"typed", "llvm", "llvm-opt", "asm"};
    int32_t form = KILN_EMIT_TYPED;

    while (strcmp(names[form], name) != 0)
        assert_true(++form <= KILN_EMIT_ASM);
    return form;
}

static void read_options(const golden *g, kiln_config_options *options)
{
    uint32_t *size = options->required_group_size;
    char line[64];

    if (value_of(line, sizeof line, g->text, "# GROUP: "))
        assert_int_equal(sscanf(line, "%u %u %u", &size[0], &size[1], &size[2]),
                         3);
    if (value_of(line, sizeof line, g->text, "# MAXIMUM: "))
        options->maximum_group_size = (uint32_t)strtoul(line, NULL, 10);
    if (value_of(line, sizeof line, g->text, "# MINIMUM: "))
        options->minimum_groups = (uint32_t)strtoul(line, NULL, 10);
    if (value_of(line, sizeof line, g->text, "# REGISTERS: "))
        options->maximum_registers = (uint32_t)strtoul(line, NULL, 10);
    if (value_of(line, sizeof line, g->text, "# UNROLL: "))
        options->unroll = (uint32_t)strtoul(line, NULL, 10);
    if (value_of(line, sizeof line, g->text, "# DEBUG: "))
        options->debug_level = (uint8_t)strtoul(line, NULL, 10);
}

static void check(golden *g, const char *target, const char *form,
                  const char *prefix)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;
    kiln_blob text = {0};
    char output[4096];

    options.target = target;
    read_options(g, &options);
    assert_ok(kiln_config_new(&config, g->context, &options, &test_error));
    assert_ok(kiln_emit(&text, g->context, &g->signature, config, 0,
                        form_of(form), &test_error));
    harness_write_file(output, sizeof output, g->folder, "out.txt", text.data,
                       text.size);
    kiln_blob_release(&text);

    if (file_check(g->path, output, prefix) != 0)
        fail_msg("%s does not hold: %s", g->path, prefix);
}

static void check_runs(golden *g)
{
    static const char key[] = "# RUN: ";
    const char *at = g->text;
    size_t count = 0;

    while ((at = strstr(at, key)) != NULL) {
        char target[64], form[16], prefix[64];

        at += sizeof key - 1;
        assert_int_equal(sscanf(at, "%63s %15s %63s", target, form, prefix), 3);
        check(g, target, form, prefix);
        count++;
    }
    assert_true(count > 0);
}

static int is_program(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '.');

    return end != NULL && strcmp(end, ".kiln") == 0;
}

static void check_folder(void **state, const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_program, alphasort);

    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        static golden g;
        char path[4096];

        g = (golden){.folder = *state};
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        open_golden(&g, path);
        check_runs(&g);
        kiln_context_free(g.context);
        free(entries[i]);
    }
    free(entries);
}

static void code_for_cuda_is_what_the_files_say(void **state)
{
    check_folder(state, FOLDER "cuda");
}

static void code_for_spirv_is_what_the_files_say(void **state)
{
    check_folder(state, FOLDER "spirv");
}

static void code_for_rocm_is_what_the_files_say(void **state)
{
    check_folder(state, FOLDER "rocm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(code_for_cuda_is_what_the_files_say,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
        cmocka_unit_test_setup_teardown(code_for_spirv_is_what_the_files_say,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
        cmocka_unit_test_setup_teardown(code_for_rocm_is_what_the_files_say,
                                        temporary_folder_setup,
                                        temporary_folder_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
