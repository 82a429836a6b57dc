/* test_rocm_language.c - every construct of the language as AMD GPUs' code. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen rocm */
/* LINKS: codegen */
#include "support/harness.h"

#include <regex.h>

#include "backends/codegen_rocm.h"
#include "support/devices.h"
#include "support/signatures.h"

#define FOLDER KILN_TESTS_FOLDER "/language/"

static const char *path_of(const char *name)
{
    static char path[512];

    assert_true(snprintf(path, sizeof path, FOLDER "%s.kiln", name) <
                (int)sizeof path);
    return path;
}

static kiln_package *load(const char *name)
{
    kiln_package *package = NULL;

    assert_ok(kiln_package_load(&package, devices_now.context, path_of(name),
                                NULL, &test_error));
    return package;
}

static int setup(void **state)
{
    (void)state;
    devices_open_context("rocm");
    signatures_read();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    devices_close_context();
    return 0;
}

/* ---- targets ---- */

typedef struct target {
    const char *processor;
    const char *features;
    const char *options;
    uint32_t lanes;
} target;

static const target targets[] = {
    {"gfx906", "-xnack", "cov=5", 64},
    {"gfx90a", "+sramecc,-xnack", "cov=5", 64},
    {"gfx942", "", "cov=6", 64},
    {"gfx1030", "", "cov=5", 32},
    {"gfx1100", "", "cov=6", 32},
    {"gfx1201", "", "cov=5", 32},
    {"gfx1030", "+wavefrontsize64", "cov=6", 64},
    {"gfx1100", "+wavefrontsize64", "cov=5", 64},
    {"gfx1201", "+wavefrontsize64", "cov=6", 64},
};

#define TARGET_COUNT (sizeof targets / sizeof targets[0])
#define PLAIN_TARGET_COUNT 6 /* with sub-groups as they are by default */

static void choose(const target *t)
{
    devices_now.processor = t->processor;
    devices_now.features = t->features;
    devices_now.backend_options = t->options;
}

static void assert_code_object(const signature *s, const target *t)
{
    kiln__rocm_metadata said = {0};
    kiln_blob binary = {0};

    assert_ok(devices_emit(&binary, load(s->file), s->kernel, s->types,
                           KILN_EMIT_BINARY, &test_error));

    if (!kiln__rocm_metadata_read(&said, binary.data, binary.size) ||
        said.lanes != t->lanes || said.registers == 0)
        fail_msg("%s.%s(%s) for %s says nothing of itself", s->file, s->kernel,
                 s->types, t->processor);
    assert_int_equal(devices_now.sub_group_size, t->lanes);
    assert_int_equal(devices_now.registers, said.registers);
    kiln_blob_release(&binary);
}

/* Little optimisation, which takes half the time. */
static void every_kernel_is_a_code_object_for_every_target(void **state)
{
    (void)state;
    devices_now.options.opt_level = KILN_OPT_1;
    for (size_t t = 0; t < PLAIN_TARGET_COUNT; t++) {
        choose(&targets[t]);
        for (size_t i = 0; i < signature_count; i++)
            if (signature_is_first(i))
                assert_code_object(&signatures[i], &targets[t]);
    }
    devices_now.options.opt_level = KILN_OPT_DEFAULT;
}

static void every_list_of_types_is_a_code_object(void **state)
{
    (void)state;
    for (size_t i = 0; i < signature_count; i++) {
        const target *t = &targets[i % TARGET_COUNT];

        choose(t);
        assert_code_object(&signatures[i], t);
    }
}

/* ---- instructions ---- */

static int matches(const char *text, const char *pattern)
{
    regex_t regex;
    int result;

    assert_int_equal(
        regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE | REG_NOSUB), 0);
    result = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return result;
}

/* Recursion calls, and has a stack. */
static int recurs(const signature *s)
{
    return strcmp(s->kernel, "recursion") == 0 &&
           strcmp(s->file, "functions") == 0;
}

/* Which memory an array is in shows when the kernel runs: it is one of two, or
   what a function gives that may fail. */
static int chooses(const signature *s)
{
    return strcmp(s->file, "heap") == 0 &&
           (strcmp(s->kernel, "chosen") == 0 ||
            strcmp(s->kernel, "churn") == 0 || strcmp(s->kernel, "sizes") == 0);
}

static void no_kernel_has_accesses_of_unknown_memory_or_calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < signature_count; i++) {
        const signature *s = &signatures[i];
        const target *t = &targets[i % PLAIN_TARGET_COUNT];
        char *text;

        choose(t);
        text = devices_text(load(s->file), s->kernel, s->types, KILN_EMIT_ASM);

        if (!chooses(s) && matches(text, "^[ \t]+flat_"))
            fail_msg("%s.%s(%s) for %s has a flat access", s->file, s->kernel,
                     s->types, t->processor);
        if (!recurs(s) && matches(text, "^[ \t]+s_swappc"))
            fail_msg("%s.%s(%s) for %s has a call", s->file, s->kernel,
                     s->types, t->processor);
        assert_true(matches(text, "^[ \t]+s_load"));
        free(text);
    }
}

/* ---- the list ---- */

static int is_listed(const char *file, const char *kernel)
{
    for (size_t i = 0; i < signature_count; i++)
        if (strcmp(signatures[i].file, file) == 0 &&
            strcmp(signatures[i].kernel, kernel) == 0)
            return 1;
    return 0;
}

static void the_list_has_every_kernel_of_the_files_it_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < signature_count; i++) {
        char line[512], kernel[48];
        FILE *file;

        if (i > 0 && strcmp(signatures[i].file, signatures[i - 1].file) == 0)
            continue;
        file = fopen(path_of(signatures[i].file), "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file) != NULL)
            if (sscanf(line, "kernel %47[a-z_0-9]", kernel) == 1 &&
                !is_listed(signatures[i].file, kernel))
                fail_msg("signatures.txt has no %s of %s", kernel,
                         signatures[i].file);
        fclose(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_has_every_kernel_of_the_files_it_names),
        cmocka_unit_test(every_kernel_is_a_code_object_for_every_target),
        cmocka_unit_test(every_list_of_types_is_a_code_object),
        cmocka_unit_test(no_kernel_has_accesses_of_unknown_memory_or_calls),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
