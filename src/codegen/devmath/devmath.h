/* devmath.h - Kiln's own mathematical functions for devices. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_DEVMATH_DEVMATH_H
#define KILN_CODEGEN_DEVMATH_DEVMATH_H

#include "codegen/module/codegen_job.h"

/*
 * libclc computes with what every device has. Code that uses a device's own
 * approximate instructions, and puts right what they lack, is a third as long.
 * Lowering declares and calls "kiln.device.exp.f32" (ir/ir_math_names.h); here
 * such functions get their bodies, which are inlined.
 */

/* Gives the functions of Kiln's own that the job's module declares their
   bodies, and removes those that nothing calls. */
void kiln__devmath_define(const kiln__codegen_job *job);

#endif /* KILN_CODEGEN_DEVMATH_DEVMATH_H */
