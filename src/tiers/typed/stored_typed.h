/* stored_typed.h - code instances from the stores, and into them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TYPED_STORED_TYPED_H
#define KILN_TIERS_TYPED_STORED_TYPED_H

#include "tiers/entry_writer.h"
#include "tiers/typed/code_state.h"

/* Fills the inference from a store's entry under its instance key, if every
   query in it has the same answer now and its callees are the same. Otherwise
   the inference is unchanged. KILN_ENOTFOUND: there is no valid entry;
   KILN_ESTACK: this is not known. */
kiln_status kiln__inference_load(kiln_inference *inference);
/* Undoes a load. */
void kiln__inference_unload(kiln_inference *inference);
/* After a cycle, or a single instance, was sealed: true if each loaded member
   has the digests of its entry. */
int kiln__codes_are_as_stored(kiln_code *const *group, size_t count);
/* Stores what was inferred. If there is no memory, it is not stored. */
void kiln__codes_save(kiln_code *const *group, size_t count);
/* KILN_ENOTFOUND: no other process could load it. */
kiln_status kiln__entry_writer_code(kiln__entry_writer *out,
                                    const kiln_code *code);

#endif /* KILN_TIERS_TYPED_STORED_TYPED_H */
