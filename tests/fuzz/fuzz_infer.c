/* fuzz_infer.c - any bytes as a program whose functions are all inferred. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* SEEDS: language golden/infer */
#include "fuzz_program.h"

#include "ir/ir.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What is published is typed IR that lowering may rely on. */
static void check_code(const kiln_code *code)
{
    size_t size = 0;
    const void *bytes = kiln_code_ir(code, &size);
    kiln_error *error = NULL;
    kiln__ir ir;

    fuzz_check(kiln_code_result(code) != NULL);
    if (kiln__ir_decode(&ir, &kiln__malloc, bytes, size, &error) != KILN_OK) {
        fprintf(stderr, "%s\n", kiln_error_message(error));
        abort();
    }
    kiln__ir_dispose(&ir);
}

static kiln_status infer(const fuzz_program *p, const kiln_signature *signature,
                         kiln_error **error)
{
    const kiln_code *code = NULL;
    const kiln_status status =
        kiln_infer(&code, p->context, signature, p->config, 0, error);

    if (status == KILN_OK)
        check_code(code);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_program p = {.use = infer, .rounds = 5};

    fuzz_program_run(&p, NULL, bytes, size);
    return 0;
}
