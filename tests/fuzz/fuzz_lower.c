/* fuzz_lower.c - any bytes as a program whose kernels become LLVM IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* SEEDS: language golden/infer */
/* LINKS: codegen */
#include "fuzz_program.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Whatever inference lets through lowers to IR that LLVM's verifier lets
   through, but for what a backend does not support. */
static kiln_status lower(const fuzz_program *p, const kiln_signature *signature,
                         kiln_error **error)
{
    kiln_blob text = {0};
    const kiln_status status = kiln_emit(&text, p->context, signature,
                                         p->config, 0, KILN_EMIT_LLVM, error);

    kiln_blob_release(&text);
    return status == KILN_EUNSUPPORTED ? KILN_OK : status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    fuzz_program p = {.use = lower, .kernels_only = 1, .rounds = 3};

    options.workers = 1;
    options.codegen_exchange = kiln_codegen_exchange;
    fuzz_program_run(&p, &options, bytes, size);
    return 0;
}
