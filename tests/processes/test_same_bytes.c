/* test_same_bytes.c - a job is the same bytes in every process and backend. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance tiers codegen host cuda rocm spirv */
#include "workers.h"

#include "support/devices/signatures.h"

/*
 * Two processes without a cache build the same kernels, the second one in the
 * reverse order, so what a code generator keeps of earlier ones would show.
 * Cubins are the vendor's: of CUDA the PTX is compared.
 */

/* Of all kernels each target builds one in so many. */
#define SHARE 8
#define WORDS_MAX 400

typedef struct kernel {
    char path[512];
    char name[128]; /* "main.k" */
    char types[256];
} kernel;

static kernel kernels[SIGNATURES_MAX];
static size_t kernel_count;

static void take(const signature *s)
{
    kernel *k = &kernels[kernel_count++];
    const char *base = strrchr(s->file, '/');
    char *at;

    (void)snprintf(k->path, sizeof k->path, "%s", signature_path(s));
    assert_true(snprintf(k->name, sizeof k->name, "%s.%s",
                         base != NULL ? base + 1 : s->file,
                         s->kernel) < (int)sizeof k->name);
    (void)snprintf(k->types, sizeof k->types, "%s", s->types);
    while ((at = strstr(k->types, " | ")) != NULL) {
        *at = ';';
        memmove(at + 1, at + 3, strlen(at + 3) + 1);
    }
}

static int setup(void **state)
{
    signatures_read();
    kernel_count = 0;
    for (size_t i = 0; i < signature_count; i++)
        if (signature_is_first(i) &&
            strcmp(signatures[i].kernel, "recursion") != 0)
            take(&signatures[i]);
    return workers_setup(state);
}

/* True for what SPIR-V lacks: atomics of 16 bits. */
static int is_refused(const char *target, const kernel *k)
{
    return strncmp(target, "spirv:", 6) == 0 &&
           strcmp(k->name, "bf16.atomics") == 0;
}

/* What a process says of every kernel whose number leaves that rest. */
static const char *build(const char *target, size_t rest, int is_reversed)
{
    const char *words[WORDS_MAX] = {"KILN_CACHE=off", "KILN_NVJITLINK=off",
                                    "KILN_PTXAS=off", "offline", target};
    size_t count = 5;

    for (size_t i = 0; i < kernel_count; i++) {
        const size_t at = is_reversed ? kernel_count - 1 - i : i;

        if (at % SHARE != rest || is_refused(target, &kernels[at]))
            continue;
        assert_true(count + 6 < WORDS_MAX);
        words[count++] = "load";
        words[count++] = kernels[at].path;
        words[count++] = "digest";
        words[count++] = kernels[at].name;
        words[count++] = kernels[at].types;
    }
    return worker_said(words);
}

static void check_target(const char *target, size_t rest)
{
    char *first = strdup(build(target, rest, 0));
    const char *second = build(target, rest, 1);
    char *left = first, *line;
    size_t count = 0;

    while ((line = strsep(&left, "\n")) != NULL) {
        if (strstr(second, line) == NULL)
            fail_msg("for %s: %s in one process, in another %s", target, line,
                     second);
        count += strncmp(line, "digest ", 7) == 0;
    }
    assert_true(count > 20);
    assert_int_equal(count, workers_count(second, "digest "));
    free(first);
}

static void code_for_the_host_is_the_same_bytes(void **state)
{
    (void)state;
    check_target("host", 0);
}

static void ptx_is_the_same_bytes(void **state)
{
    (void)state;
    check_target("cuda:sm_80", 1);
    check_target("cuda:sm_120f", 2);
}

static void code_objects_are_the_same_bytes(void **state)
{
    (void)state;
    check_target("rocm:gfx942", 2);
    check_target("rocm:gfx1100:wave64:cov6", 3);
}

static void modules_are_the_same_bytes(void **state)
{
    (void)state;
    check_target("spirv:1.4+fp16+fp64+int64_atomics+subgroups", 3);
    check_target("spirv:1.6+fp16+fp64+int64_atomics+subgroups", 0);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, setup, workers_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(code_for_the_host_is_the_same_bytes),
        TEST(ptx_is_the_same_bytes),
        TEST(code_objects_are_the_same_bytes),
        TEST(modules_are_the_same_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
