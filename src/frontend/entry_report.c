/* entry_report.c - reports a function that is launched and is no kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/error.h"
#include "frontend/call_closure.h"
#include "frontend/language.h"
#include "frontend/typed_reports.h"
#include "tiers/typed/code_instance.h"

static kiln_status report(const kiln_code *code, const kiln__ir *ir,
                          const kiln_alloc *alloc, kiln_error **error)
{
    const kiln__source *source = NULL;
    kiln__diagnostics diagnostics;
    kiln__span span = {0};
    kiln_status status;

    /* A function of another frontend has no place. */
    if (!kiln__language_span(kiln__code_frontend(code), ir->method, 0, &source,
                             &span))
        source = NULL;
    kiln__diagnostics_init(&diagnostics, alloc);
    kiln__diagnose(&diagnostics, source, span, "not-a-kernel",
                   "declare it with `kernel` to launch it",
                   "%s is a function, not a kernel", kiln_code_name(code));
    status = kiln__diagnostics_finish(&diagnostics, KILN_ECOMPILE, error);
    kiln__diagnostics_dispose(&diagnostics);
    return status;
}

kiln_status kiln__entry_check(const kiln_code *code, const kiln_alloc *alloc,
                              kiln_error **error)
{
    size_t size;
    const void *bytes = kiln_code_ir(code, &size);
    kiln_status status;
    kiln__ir ir;

    KILN_TRY(kiln__ir_decode(&ir, alloc, bytes, size, error));
    status = ir.kernel ? KILN_OK : report(code, &ir, alloc, error);
    kiln__ir_dispose(&ir);
    return status;
}
