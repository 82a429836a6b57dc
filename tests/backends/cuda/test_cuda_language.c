/* test_cuda_language.c - every construct of the language as PTX and cubins. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen cuda */
/* LINKS: codegen */
#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/codegen/cuda_codegen.h"
#include "base/toolchain/tool_paths.h"
#include "kiln.h"
#include "support/devices/signatures.h"

/*
 * Kernels become PTX through kiln.h, and that is handed to the vendor's tools
 * that are here. One that is older than a target is passed over, which leaves
 * PTX; whatever it refuses else is a fault.
 */

/* The vendor's library keeps some of what it allocates for a link. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(
    void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libnvJitLink";
}

static const char *const targets[] = {
    "sm_75",   "sm_80",   "sm_86",   "sm_87",   "sm_88",   "sm_89",   "sm_90",
    "sm_90a",  "sm_100",  "sm_100a", "sm_100f", "sm_101",  "sm_101a", "sm_101f",
    "sm_103",  "sm_103a", "sm_103f", "sm_110",  "sm_110a", "sm_110f", "sm_120",
    "sm_120a", "sm_120f", "sm_121",  "sm_121a", "sm_121f",
};

#define TARGET_COUNT (sizeof targets / sizeof targets[0])

/* Assemblers of every CUDA 12 know it. */
static int is_sure(const char *processor)
{
    return strtoul(processor + strlen("sm_"), NULL, 10) <= 90 &&
           strcmp(processor, "sm_88") != 0;
}

/* ---- a kernel's PTX ---- */

static kiln_context *context;

static int setup(void **state)
{
    (void)state;
    signatures_read();
    assert_ok(kiln_context_new(&context, NULL, &test_error));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kiln_context_free(context);
    return 0;
}

static kiln_package *load(const signature *s)
{
    static const char *file;
    static kiln_package *package;

    if (file == NULL || strcmp(file, s->file) != 0)
        assert_ok(kiln_package_load(&package, context, signature_path(s), NULL,
                                    &test_error));
    file = s->file;
    return package;
}

static const kiln_config *config_of(const char *processor, uint8_t level)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;
    char target[64];

    (void)snprintf(target, sizeof target, "cuda:%s", processor);
    options.target = target;
    options.opt_level = level;
    assert_ok(kiln_config_new(&config, context, &options, &test_error));
    return config;
}

static char *ptx_of(const signature *s, const kiln_config *config)
{
    kiln_package *package = load(s);
    const kiln_type *list[16];
    kiln_signature sought = {.types = list};
    char types[256], *type = types;
    kiln_blob blob = {0};
    char *text;

    assert_ok(kiln_package_function(&sought.function, package, s->kernel,
                                    &test_error));
    (void)snprintf(types, sizeof types, "%s", s->types);
    while (type != NULL && *type != '\0') {
        char *end = strstr(type, " | ");

        if (end != NULL)
            *end = '\0';
        assert_ok(kiln_type_parse(&list[sought.count++], context, package, type,
                                  &test_error));
        type = end != NULL ? end + 3 : NULL;
    }
    if (kiln_emit(&blob, context, &sought, config, 0, KILN_EMIT_ASM,
                  &test_error) != KILN_OK)
        fail_msg("%s.%s(%s) for %s: %s", s->file, s->kernel, s->types,
                 kiln_config_target(config), kiln_error_message(test_error));
    text = strndup(blob.data, blob.size);
    assert_non_null(text);
    kiln_blob_release(&blob);
    return text;
}

static void assert_is_for(const char *ptx, const char *processor)
{
    char line[64];

    (void)snprintf(line, sizeof line, "\n.target %s", processor);
    assert_contains(ptx, line);
    assert_contains(ptx, ".visible .entry ");
}

/* ---- its cubin ---- */

typedef struct tool {
    const char *option;
    int number;
    int is_here;
} tool;

static tool tools[] = {{"tool=nvjitlink", KILN__TOOL_NVJITLINK, 0},
                       {"tool=ptxas", KILN__TOOL_PTXAS, 0}};

static int find_tools(void)
{
    char path[PATH_MAX];
    int found = 0;

    for (size_t i = 0; i < 2; i++) {
        tools[i].is_here =
            kiln__tool_find(path, tools[i].number) == KILN__TOOL_FOUND;
        found += tools[i].is_here;
    }
    return found;
}

static void name_entry(char *out, size_t size, const char *ptx)
{
    const char *at = strstr(ptx, ".entry ") + strlen(".entry ");

    (void)snprintf(out, size, "%.*s", (int)strcspn(at, "("), at);
}

/* True for a cubin, which tells of its registers; false when the tool is older
   than the target. */
static int assemble(const signature *s, const char *ptx, const tool *by,
                    const char *processor, const char *version)
{
    char entry[256];
    const kiln__codegen_settings settings = {.backend = "cuda",
                                             .processor = processor,
                                             .features = version,
                                             .options = by->option,
                                             .opt_level = 3};
    const kiln__codegen_request request = {.settings = &settings,
                                           .entry = entry};
    kiln__codegen_job job = {.request = &request, .settings = &settings};
    const kiln__object object = {ptx, strlen(ptx)};
    kiln_blob out = {0};
    int is_cubin;

    name_entry(entry, sizeof entry, ptx);
    kiln__arena_init(&job.arena, &kiln__malloc);
    if (kiln__cuda_link(&job, &object, &out) != KILN_OK)
        fail_msg("%s.%s(%s) for %s: %s", s->file, s->kernel, s->types,
                 processor, job.message);
    is_cubin = strcmp(job.format, "cubin") == 0;
    if (is_cubin && job.registers == 0)
        fail_msg("%s.%s(%s) for %s has no registers", s->file, s->kernel,
                 s->types, processor);
    kiln_blob_release(&out);
    kiln__arena_dispose(&job.arena);
    return is_cubin;
}

/* "+ptx78" of ".version 7.8". */
static void name_version(char *out, size_t size, const char *ptx)
{
    unsigned major = 0, minor = 0;
    const char *at = strstr(ptx, ".version ");

    assert_non_null(at);
    assert_int_equal(sscanf(at, ".version %u.%u", &major, &minor), 2);
    (void)snprintf(out, size, "+ptx%u%u", major, minor);
}

/* ---- all of them ---- */

static void every_list_of_types_is_a_cubin_by_every_tool(void **state)
{
    const kiln_config *config = config_of("sm_75", KILN_OPT_DEFAULT);
    const int found = find_tools();

    (void)state;
    for (size_t i = 0; i < signature_count; i++) {
        const signature *s = &signatures[i];
        char *ptx = ptx_of(s, config), version[16];

        assert_is_for(ptx, "sm_75");
        name_version(version, sizeof version, ptx);
        for (size_t t = 0; t < 2; t++)
            if (tools[t].is_here)
                assert_true(assemble(s, ptx, &tools[t], "sm_75", version));
        free(ptx);
    }
    if (found < 2)
        test_skip(SKIP_PACKAGE, "not both ptxas and nvJitLink");
}

/* How many of the tools made a cubin of it. */
static size_t assemble_by_all(const signature *s, const char *processor)
{
    char *ptx = ptx_of(s, config_of(processor, KILN_OPT_DEFAULT));
    char version[16];
    size_t cubins = 0;

    name_version(version, sizeof version, ptx);
    for (size_t i = 0; i < 2; i++)
        if (tools[i].is_here)
            cubins += (size_t)assemble(s, ptx, &tools[i], processor, version);
    free(ptx);
    return cubins;
}

/* A share of the kernels is assembled for each target, each of them for some
   target. */
#define SHARE 32

static void every_kernel_is_ptx_of_every_target(void **state)
{
    const size_t found = (size_t)find_tools();

    (void)state;
    for (size_t t = 0; t < TARGET_COUNT; t++) {
        const kiln_config *config = config_of(targets[t], KILN_OPT_0);
        size_t cubins = 0, tried = 0;

        for (size_t i = 0; i < signature_count; i++) {
            char *ptx;

            if (!signature_is_first(i))
                continue;
            ptx = ptx_of(&signatures[i], config);
            assert_is_for(ptx, targets[t]);
            free(ptx);
            if ((i + t) % SHARE != 0 || found == 0)
                continue;
            cubins += assemble_by_all(&signatures[i], targets[t]);
            tried += found;
        }
        if (is_sure(targets[t]))
            assert_int_equal(cubins, tried);
    }
    if (found < 2)
        test_skip(SKIP_PACKAGE, "not both ptxas and nvJitLink");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_list_of_types_is_a_cubin_by_every_tool),
        cmocka_unit_test(every_kernel_is_ptx_of_every_target),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
