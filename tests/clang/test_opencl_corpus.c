/* test_opencl_corpus.c - kernels that others wrote compile. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen */
/* LINKS: codegen */
#include "support/frontend/clang_source.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

/* The kernels are not part of Kiln: they lie beside the repository, or one
   folder above. */
static const char *const places[] = {KILN_SOURCE_FOLDER "/../shared/kernels",
                                     KILN_SOURCE_FOLDER
                                     "/../../shared/kernels"};

static source test;
static size_t compiled;

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);

    assert_non_null(file);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
    (void)fclose(file);
    return text;
}

/* Every kernel of a file becomes a module, and its tokens are the same for the
   preprocessor alone. */
static void compile_file(const char *folder, const char *name)
{
    kiln_digest parsed;
    char path[2048];
    char *text;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    text = read_text(path);
    test.request.name = name;
    test.request.folder = folder;
    test.request.form = KILN__SOURCE_MODULES;
    if (source_try(&test, text) != KILN_OK)
        fail_msg("%s: %s", path, kiln_error_message(test_error));
    for (size_t i = 0; i < test.result.function_count; i++) {
        const char *ir = source_ir(&test, test.result.functions[i].name);

        assert_null(strstr(ir, "__clang_ocl"));
        assert_null(strstr(ir, "spir_"));
    }
    parsed = test.result.tokens;
    test.request.form = KILN__SOURCE_TOKENS;
    assert_ok(source_try(&test, text));
    assert_memory_equal(&parsed, &test.result.tokens, sizeof parsed);
    free(text);
    compiled++;
}

static void compile_folder(const char *place, const char *part)
{
    char folder[1024];
    DIR *list;

    (void)snprintf(folder, sizeof folder, "%s/%s", place, part);
    list = opendir(folder);
    if (list == NULL)
        return;
    for (const struct dirent *e = readdir(list); e != NULL; e = readdir(list)) {
        const char *dot = strrchr(e->d_name, '.');

        if (dot != NULL && strcmp(dot, ".cl") == 0)
            compile_file(folder, e->d_name);
    }
    (void)closedir(list);
}

static void kernels_of_others_compile(void **state)
{
    (void)state;
    source_open(&test);
    for (size_t i = 0; i < sizeof places / sizeof *places && compiled == 0;
         i++) {
        compile_folder(places[i], "polybench");
        compile_folder(places[i], "pocl");
    }
    source_close(&test);
    if (compiled == 0)
        test_skip(SKIP_MACHINE, "the kernels of others are not here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_others_compile),
    };

    if (!source_is_there())
        return program_skip(SKIP_PACKAGE, SOURCE_NEEDS_CLANG);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
