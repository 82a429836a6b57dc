/* fuzz_spirv.c - modules of any origin are walked, read and rewritten. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "backends/spirv/spirv.h"
#include "tiers/binary/artifact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A kernel of a name that stands in the corpus, with an array and a number. */
static void read_parameters(const void *bytes, size_t size)
{
    static const kiln_argument_info arguments[] = {{"f32[:]", 0, 16},
                                                   {"i64", 16, 8}};
    const kiln_kernel_info info = {.size = sizeof info,
                                   .name = "k",
                                   .method = "k",
                                   .arguments = arguments,
                                   .argument_count = 2,
                                   .argument_bytes = 24};
    const kiln__artifact_source source = {.encoded_key = "",
                                          .format = "spirv",
                                          .target = "spirv:1.4",
                                          .bytes = bytes,
                                          .size = size,
                                          .kernels = &info,
                                          .kernel_count = 1};
    kiln__spirv_parameter out[KILN__SPIRV_LARGE_PARAMETERS];
    const kiln_artifact *artifact = NULL;
    size_t count = 0;

    if (kiln__artifact_new(&artifact, &source) != KILN_OK)
        return;
    for (int is_known = 0; is_known < 2; is_known++)
        if (kiln__spirv_parameters(out, &count, artifact, &info, is_known,
                                   NULL) == KILN_OK &&
            count != 3)
            abort();
    kiln_artifact_release(artifact);
}

/* What is legal once is legal, and is not changed again. */
static void rewrite(const void *bytes, size_t size)
{
    kiln_blob once = {0}, twice = {0};

    if (kiln__spirv_legalise(&once, &kiln__malloc, bytes, size, NULL) !=
        KILN_OK)
        return;
    if (kiln__spirv_legalise(&twice, &kiln__malloc, once.data, once.size,
                             NULL) != KILN_OK ||
        once.size != twice.size ||
        memcmp(once.data, twice.data, once.size) != 0)
        abort();
    kiln_blob_release(&once);
    kiln_blob_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t *words = calloc(1, size + sizeof *words);

    if (words == NULL)
        return 0;
    if (size > 0)
        memcpy(words, data, size);
    rewrite(words, size);
    if (size > 0)
        read_parameters(words, size);
    free(words);
    return 0;
}
