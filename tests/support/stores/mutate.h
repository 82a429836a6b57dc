/* mutate.h - makes hostile variants of what encoder.h encodes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_MUTATE_H
#define KILN_TESTS_MUTATE_H

#include "base/data/encoder.h"

/*
 * Fields are taken one after the other, and also those inside bytes that
 * consist of fields. Each is replaced by values that a reader might not expect:
 * a number near a power of two; the text of another field, or one that is not
 * UTF-8 or very long; the digest of something else. Or it is left out, doubled,
 * or given another type. Variants are numbered from zero; the same number is
 * always the same variant.
 */
typedef struct mutate_pool {
    const kiln_digest *digests; /* digests that mean something elsewhere */
    size_t digest_count;
} mutate_pool;

size_t mutate_count(const void *bytes, size_t size, const mutate_pool *pool);
/* Writes variant `number`, which must be less than their count; `what` says
   which field became what. False: it is the same as before. */
int mutate_write(kiln__encoder *out, const void *bytes, size_t size,
                 const mutate_pool *pool, size_t number, char what[128]);

#endif /* KILN_TESTS_MUTATE_H */
