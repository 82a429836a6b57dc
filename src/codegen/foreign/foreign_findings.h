/* foreign_findings.h - what is wrong with a foreign module. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_FOREIGN_FOREIGN_FINDINGS_H
#define KILN_CODEGEN_FOREIGN_FOREIGN_FINDINGS_H

#include "codegen/module/codegen_job.h"

#define KILN__FOREIGN_FINDINGS 8u /* so many are told */

typedef struct kiln__foreign_findings {
    kiln__codegen_job *job;
    LLVMValueRef entry;
    const char *texts[KILN__FOREIGN_FINDINGS];
    size_t count;
    size_t more; /* that are not told */
} kiln__foreign_findings;

/* Takes the failure `status` of a check from the job, which goes on. `function`
   and the instruction `at` are what it is about, or NULL. Returns a status that
   is no finding, lack of memory for example, as it is. */
kiln_status kiln__foreign_finding(kiln__foreign_findings *f, kiln_status status,
                                  LLVMValueRef function, LLVMValueRef at);
/* The same of a call of a function whose name the message has. After KILN_OK
   the call may be gone. */
kiln_status kiln__foreign_finding_of_call(kiln__foreign_findings *f,
                                          kiln_status status,
                                          LLVMValueRef call);
/* Fails the job with all findings, if there are any. */
kiln_status kiln__foreign_tell(const kiln__foreign_findings *f);

#endif /* KILN_CODEGEN_FOREIGN_FOREIGN_FINDINGS_H */
