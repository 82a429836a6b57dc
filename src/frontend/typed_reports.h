/* typed_reports.h - checks of typed IR before it is compiled. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FRONTEND_TYPED_REPORTS_H
#define KILN_FRONTEND_TYPED_REPORTS_H

#include "context/context.h"

/* ---- collective_report.c ---- */
/* Checks that all items of a group reach its collective operations together, in
   the kernel and everything that it calls. All of that is typed IR of Kiln's
   own. */
kiln_status kiln__collective_check(const kiln_code *root,
                                   const kiln_alloc *alloc, kiln_error **error);

/* ---- target_report.c ---- */
/* Checks a kernel of typed IR, and everything that it calls, against what
   the config's target has. KILN_EUNSUPPORTED, with a diagnostic for each
   finding. */
kiln_status kiln__device_findings(const kiln_code *root,
                                  const kiln_config *config,
                                  const kiln_alloc *alloc, kiln_error **error);

/* ---- entry_report.c ---- */
/* Checks that the code, typed IR of Kiln's own, was declared as a kernel: other
   functions return values or expect to be called by code. KILN_ECOMPILE, with
   the place of the declaration. */
kiln_status kiln__entry_check(const kiln_code *code, const kiln_alloc *alloc,
                              kiln_error **error);

#endif /* KILN_FRONTEND_TYPED_REPORTS_H */
