/* stored_program.h - what is known about a job under one program text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TYPED_STORED_PROGRAM_H
#define KILN_TIERS_TYPED_STORED_PROGRAM_H

#include "tiers/entry_writer.h"
#include "tiers/typed/code_state.h"
#include "tiers/typed/method_instance.h"
#include "tiers/typed/typed.h"

/* Makes and publishes a record of the instance, if a store knows its digest
   under the current program; else returns NULL. */
kiln_code *kiln__code_recall(kiln_context *context, kiln__instance *instance,
                             const kiln__typed_request *request);
/* KILN_ENOTFOUND: the frontend gives no digest of its program. */
kiln_status kiln__entry_writer_record(kiln__entry_writer *out,
                                      const kiln_code *code, uint64_t world);
/* Stores what the next process can recall. */
void kiln__code_remember(const kiln_code *code, uint64_t world);

#endif /* KILN_TIERS_TYPED_STORED_PROGRAM_H */
