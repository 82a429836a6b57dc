/* text_facts.h - what is known about texts, kept for other processes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_FRONTEND_PROGRAM_TEXT_FACTS_H
#define KILN_FRONTEND_PROGRAM_TEXT_FACTS_H

#include "tiers/delta.h"

/* Passes on what the kernel language knows about texts that were defined
   since. */
kiln_status kiln__language_delta(void *self, uint64_t since,
                                 const kiln__delta_taker *taker);

#endif /* KILN_FRONTEND_PROGRAM_TEXT_FACTS_H */
