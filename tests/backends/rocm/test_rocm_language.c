/* test_rocm_language.c - every construct of the language as AMD GPUs' code. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance codegen rocm */
/* LINKS: codegen */
#include "support/harness.h"

#include <elf.h>
#include <regex.h>

#include "backends/rocm/codegen/llvm_gap_rocm.h"
#include "backends/rocm/codegen/rocm_codegen.h"
#include "context/types/types.h"
#include "support/devices/devices.h"
#include "support/devices/signatures.h"
#include "tiers/binary/artifact.h"

static kiln_package *load(const signature *s)
{
    kiln_package *package = NULL;

    assert_ok(kiln_package_load(&package, devices_now.context,
                                signature_path(s), NULL, &test_error));
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

/* What a code object says, and the words of its arguments. */
typedef struct described {
    kiln__rocm_metadata said;
    kiln__rocm_argument words[128];
    size_t at;
} described;

static void assert_word(described *d, uint64_t offset, uint64_t size,
                        const char *kind)
{
    const kiln__rocm_argument *word = &d->words[d->at];

    assert_true(d->at++ < d->said.argument_count);
    assert_int_equal(word->offset, offset);
    assert_int_equal(word->size, size);
    if (kind != NULL)
        assert_string_equal(word->kind, kind);
}

/* Is each argument where the packed block has it? Behind them are those that
   Kiln hides, then those of the system. */
static void assert_arguments(described *d, const signature *s)
{
    const kiln_type *list[DEVICES_ARGUMENTS_MAX];
    kiln_argument_info infos[DEVICES_ARGUMENTS_MAX];
    kiln_signature sought;
    uint64_t end;

    devices_signature(&sought, list, load(s), s->kernel, s->types);
    end = kiln__argument_layout(infos, list, sought.count);
    for (size_t i = 0; i < sought.count; i++) {
        const kiln_argument_info *info = &infos[i];
        const int is_array = kiln_type_kind(list[i]) == KILN_TYPE_ARRAY;

        for (uint64_t b = 0; is_array && b < info->size; b += 8)
            assert_word(d, info->offset + b, 8,
                        b == 0 ? "global_buffer" : "by_value");
        if (!is_array && info->size > 0)
            assert_word(d, info->offset, info->size, "by_value");
    }
    end = (end + 7) / 8 * 8;
    for (uint32_t i = 0; i < devices_now.hidden_arguments; i++)
        assert_word(d, end + 8 * i, 8, NULL);
    for (; d->at < d->said.argument_count; d->at++)
        assert_memory_equal(d->words[d->at].kind, "hidden_", 7);
    assert_true(d->said.argument_bytes >= end);
}

static void assert_code_object(const signature *s, const target *t)
{
    described d = {.said = {.arguments = d.words, .room = 128}};
    kiln_blob binary = {0};

    assert_ok(devices_emit(&binary, load(s), s->kernel, s->types,
                           KILN_EMIT_BINARY, &test_error));

    if (!kiln__rocm_metadata_read(&d.said, binary.data, binary.size) ||
        d.said.kernels < 1 || d.said.kernels > 3 || d.said.lanes != t->lanes ||
        d.said.registers == 0)
        fail_msg("%s.%s(%s) for %s says nothing of itself", s->file, s->kernel,
                 s->types, t->processor);
    assert_int_equal(((const unsigned char *)binary.data)[EI_ABIVERSION],
                     t->options[strlen("cov=")] - '2');
    assert_arguments(&d, s);
    assert_int_equal(devices_now.sub_group_size, t->lanes);
    assert_int_equal(devices_now.registers, d.said.registers);
    assert_int_equal(devices_now.static_local_bytes, d.said.local_bytes);
    assert_int_equal(devices_now.private_bytes, d.said.private_bytes);
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
        text = devices_text(load(s), s->kernel, s->types, KILN_EMIT_ASM);

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_is_a_code_object_for_every_target),
        cmocka_unit_test(every_list_of_types_is_a_code_object),
        cmocka_unit_test(no_kernel_has_accesses_of_unknown_memory_or_calls),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
