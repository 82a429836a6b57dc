/* fuzz_ir_lower.c - any text as typed IR, lowered to LLVM IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* SEEDS: golden/infer golden/lower */
/* LINKS: codegen */
#include "../support/codegen/lower_fake.h"
#include "backends/host/codegen/host_codegen.h"
#include "codegen/module/codegen_stages.h"

/* What the verifier lets through lowers to a module that LLVM's verifier lets
   through, or is refused with a message; proofs of tiles, too. */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define LARGEST_INPUT 16384

static void lower(lower_fake *fake)
{
    kiln__codegen_backend backend = lower_fake_backend;

    backend.runs_tiles = 1;
    fake->settings.opt_level = 2;
    if (lower_fake_lower_with(fake, &backend) != KILN_OK) {
        if (fake->job.message == NULL)
            abort();
    } else if (LLVMVerifyModule(fake->job.module, LLVMPrintMessageAction,
                                NULL)) {
        abort();
    }
}

/* Once for a backend that has all but groups, once for the host. */
static void lower_for(const char *text, const kiln__codegen_backend *backend)
{
    kiln_error *error = NULL;
    lower_fake fake;

    lower_fake_init(&fake);
    if (backend != NULL)
        fake.backend = backend;
    if (lower_fake_parse(&fake, "fuzz", text, &error) == KILN_OK &&
        fake.count > 0)
        lower(&fake);
    kiln_error_free(error);
    lower_fake_dispose(&fake);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char text[LARGEST_INPUT + 1];

    if (size > LARGEST_INPUT)
        return 0;
    memcpy(text, bytes, size);
    text[size] = '\0';
    lower_for(text, NULL);
    lower_for(text, &kiln__host_codegen);
    return 0;
}
