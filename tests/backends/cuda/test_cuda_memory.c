/* test_cuda_memory.c - what a link took stays with the process. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen cuda */
/* LINKS: codegen */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/codegen/cuda_codegen.h"
#include "support/harness.h"

/* A large block, which the C library maps by itself as long as it was never
   shown a larger one. Another C library, or a sanitizer's, tells nothing. */
#define LARGE ((size_t)6 << 20)

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                          ".visible .entry k()\n{\n  ret;\n}\n";

/* The vendor's library keeps some of what it allocates for a link. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(
    void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libnvJitLink";
}

static kiln_status make_cubin(kiln_blob *out)
{
    const kiln__object input = {ptx, sizeof ptx - 1};
    kiln__codegen_settings settings = {.backend = "cuda",
                                       .processor = "sm_90",
                                       .features = "+ptx80",
                                       .options = "",
                                       .opt_level = 3};
    kiln__codegen_request request = {.entry = "k", .settings = &settings};
    kiln__codegen_job job = {.request = &request, .settings = &settings};
    kiln_status status;
    kiln__text said;

    kiln__arena_init(&job.arena, &kiln__malloc);
    kiln__text_init(&said, &kiln__malloc);
    status = kiln__nvjitlink(&job, &input, out, &said);
    kiln__text_dispose(&said);
    kiln__arena_dispose(&job.arena);
    return status;
}

/* What it maps by itself it gives back at once, and so it does with as much at
   the end of a heap. */
static void what_a_link_frees_serves_the_next(void **state)
{
    const size_t mapped_before = mallinfo2().hblks;
    void *volatile first = malloc(LARGE);
    const size_t mapped_first = mallinfo2().hblks;
    kiln_blob cubin = {0};
    void *volatile second;
    size_t mapped;

    (void)state;
    if (mapped_first == mapped_before || make_cubin(&cubin) != KILN_OK) {
        free(first);
        test_skip(SKIP_PACKAGE, "no nvJitLink, or it is loaded already");
    }
    mapped = mallinfo2().hblks;
    second = malloc(LARGE);

    assert_int_equal(mallinfo2().hblks, mapped);

    free(second);
    free(first);
    cubin.release(&cubin);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_link_frees_serves_the_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
