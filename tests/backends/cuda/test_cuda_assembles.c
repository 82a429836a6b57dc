/* test_cuda_assembles.c - PTX of every kernel of the corpus becomes a cubin. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: golden codegen cuda */
/* LINKS: codegen */
#include <dirent.h>

#include "support/codegen/lower_fake.h"
#include "support/codegen/request.h"

#include "base/toolchain/tool_paths.h"

/*
 * The files of tests/golden/lower/ are lowered for CUDA and given to the tool
 * that is here, for every architecture that the tool knows: an older one is
 * passed over, which gives PTX. A host without any tool skips the test.
 */

/* The vendor's library keeps some of what it allocates for a link. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(
    void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libnvJitLink";
}

static const struct target {
    const char *processor;
    const char *features;
} targets[] = {
    {"sm_75", "+ptx80"},   {"sm_80", "+ptx80"},   {"sm_86", "+ptx80"},
    {"sm_89", "+ptx80"},   {"sm_90", "+ptx80"},   {"sm_90a", "+ptx80"},
    {"sm_100", "+ptx86"},  {"sm_100a", "+ptx86"}, {"sm_100f", "+ptx88"},
    {"sm_103a", "+ptx88"}, {"sm_120", "+ptx87"},  {"sm_120a", "+ptx87"},
    {"sm_121", "+ptx88"},
};

static char *read_file(const char *path)
{
    char *text = calloc(1, 1 << 20);
    FILE *file = fopen(path, "r");

    assert_true(file != NULL && text != NULL);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

/* "cubin", or "ptx" when the tool is older than the target. */
static void build(outcome *o, lower_fake *fake, const struct target *target,
                  int debug_level)
{
    prepare(o, "", KILN_EMIT_BINARY, NULL, 0);
    o->settings.backend = "cuda";
    o->settings.triple = "nvptx64-nvidia-cuda";
    o->settings.processor = target->processor;
    o->settings.features = target->features;
    o->settings.options = "";
    o->settings.debug_level = (uint8_t)debug_level;
    o->request.module = NULL;
    o->request.functions = fake->functions;
    o->request.function_count = fake->count;
    assert_built(o);
    free(o->bytes);
}

/* Says which of the targets gave a cubin. Not done: what needs a library of
   mathematics, which no request of this test brings. */
static int assemble(const char *name, int *cubins)
{
    static outcome o;
    static lower_fake fake;
    char path[512];
    char *text;

    (void)snprintf(path, sizeof path, KILN_TESTS_FOLDER "/golden/lower/%s",
                   name);
    text = read_file(path);
    if (strstr(text, "(math ") != NULL) {
        free(text);
        return 0;
    }
    lower_fake_init(&fake);
    assert_ok(lower_fake_parse(&fake, name, text, &test_error));
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        build(&o, &fake, &targets[i], (int)(i % 3));
        cubins[i] += strcmp(o.format, "cubin") == 0;
    }
    lower_fake_dispose(&fake);
    free(text);
    return 1;
}

static void assemble_all(void)
{
    int cubins[sizeof targets / sizeof *targets] = {0};
    struct dirent **list = NULL;
    const int count =
        scandir(KILN_TESTS_FOLDER "/golden/lower", &list, NULL, alphasort);
    int files = 0;

    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        if (strstr(list[i]->d_name, ".kir") != NULL)
            files += assemble(list[i]->d_name, cubins);
        free(list[i]);
    }
    free(list);
    assert_true(files >= 5);
    /* Every tool of CUDA 12 knows these; others it takes all or none. */
    for (int i = 0; i < 6; i++)
        assert_int_equal(cubins[i], files);
    for (size_t i = 6; i < sizeof targets / sizeof *targets; i++)
        assert_true(cubins[i] == 0 || cubins[i] == files);
}

static void need(int tool)
{
    char path[PATH_MAX];

    if (kiln__tool_find(path, tool) != KILN__TOOL_FOUND)
        test_skip(SKIP_PACKAGE,
                  tool == KILN__TOOL_PTXAS ? "no ptxas" : "no nvJitLink");
}

static void all_ptx_is_assembled_by_ptxas(void **state)
{
    (void)state;
    need(KILN__TOOL_PTXAS);
    setenv("KILN_NVJITLINK", "off", 1);
    assemble_all();
    unsetenv("KILN_NVJITLINK");
}

static void all_ptx_is_assembled_by_nvjitlink(void **state)
{
    (void)state;
    need(KILN__TOOL_NVJITLINK);
    setenv("KILN_PTXAS", "off", 1);
    assemble_all();
    unsetenv("KILN_PTXAS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ptx_is_assembled_by_ptxas),
        cmocka_unit_test(all_ptx_is_assembled_by_nvjitlink),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
