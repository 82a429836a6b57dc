/* test_signatures.c - the list of kernels that backends are tried with. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: meta */
#include "support/harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/devices/signatures.h"

static int setup(void **state)
{
    (void)state;
    signatures_read();
    return 0;
}

static int is_listed(const char *file, const char *kernel)
{
    for (size_t i = 0; i < signature_count; i++)
        if (strcmp(signatures[i].file, file) == 0 &&
            strcmp(signatures[i].kernel, kernel) == 0)
            return 1;
    return 0;
}

/* How many kernels it has, of which each is listed. */
static int check_file(const char *name, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[512], kernel[48];
    int count = 0;

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "kernel %47[A-Za-z_0-9]", kernel) != 1)
            continue;
        if (!is_listed(name, kernel))
            fail_msg("signatures.txt has no %s of %s", kernel, name);
        count++;
    }
    fclose(file);
    return count;
}

/* `prefix` is what the list says before a file's name. */
static int check_folder(const char *folder, const char *prefix)
{
    struct dirent **entries = NULL;
    char path[512], root[512], name[512];
    int count, kernels = 0;

    (void)snprintf(root, sizeof root, "%s/%s", KILN_SOURCE_FOLDER, folder);
    count = scandir(root, &entries, NULL, alphasort);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        const char *end = strstr(entries[i]->d_name, ".kiln");

        if (end != NULL && strcmp(end, ".kiln") == 0) {
            assert_true(snprintf(name, sizeof name, "%s%.*s", prefix,
                                 (int)(end - entries[i]->d_name),
                                 entries[i]->d_name) < (int)sizeof name);
            assert_true(snprintf(path, sizeof path, "%s/%s", root,
                                 entries[i]->d_name) < (int)sizeof path);
            kernels += check_file(name, path);
        }
        free(entries[i]);
    }
    free(entries);
    return kernels;
}

static void every_kernel_of_the_language_is_listed(void **state)
{
    (void)state;
    assert_true(check_folder("tests/language", "") > 100);
}

static void every_kernel_of_the_examples_is_listed(void **state)
{
    (void)state;
    assert_true(check_folder("examples/tgv", "examples/tgv/") > 40);
    assert_true(check_folder("examples/packed", "examples/packed/") > 1);
}

static void every_golden_kernel_is_listed(void **state)
{
    static const char *const folders[] = {"cuda", "rocm", "spirv"};

    (void)state;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char folder[64], prefix[80];

        (void)snprintf(folder, sizeof folder, "tests/golden/%s", folders[i]);
        (void)snprintf(prefix, sizeof prefix, "%s/", folder);
        assert_true(check_folder(folder, prefix) > 0);
    }
}

static void no_line_is_there_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < signature_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(signatures[i].file, signatures[k].file) == 0 &&
                strcmp(signatures[i].kernel, signatures[k].kernel) == 0 &&
                strcmp(signatures[i].types, signatures[k].types) == 0)
                fail_msg("%s.%s(%s) is listed twice", signatures[i].file,
                         signatures[i].kernel, signatures[i].types);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_of_the_language_is_listed),
        cmocka_unit_test(every_kernel_of_the_examples_is_listed),
        cmocka_unit_test(every_golden_kernel_is_listed),
        cmocka_unit_test(no_line_is_there_twice),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
