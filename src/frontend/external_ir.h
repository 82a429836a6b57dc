/* external_ir.h - functions of other frontends, seen from typed IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FRONTEND_EXTERNAL_IR_H
#define KILN_FRONTEND_EXTERNAL_IR_H

#include "ir/ir.h"
#include "tiers/typed/code_instance.h"

/*
 * Code instances of a frontend with a lower() have no typed IR. Whatever walks
 * over a call closure sees an *external function* in their place: typed IR with
 * the types of the function, whose body is EXTERNAL (ir_ops.h).
 */

/* True for such a code instance. */
int kiln__code_is_external(const kiln_code *code);
/* Decodes the typed IR of the code instance, or makes that of an external
   function. Initialises `ir` on success only. */
kiln_status kiln__code_read_ir(kiln__ir *ir, const kiln_alloc *alloc,
                               const kiln_code *code, kiln_error **error);

#endif /* KILN_FRONTEND_EXTERNAL_IR_H */
