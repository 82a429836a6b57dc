/* sum.c - sums that find damage, and hashes of tables, over xxHash. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/data/sum.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/data/endian.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

kiln__sum kiln__sum_bytes(const void *bytes, size_t size)
{
    const XXH128_hash_t hash = XXH3_128bits(size == 0 ? "" : bytes, size);

    return (kiln__sum){.low = hash.low64, .high = hash.high64};
}

kiln__sum kiln__sum_combine(kiln__sum first, kiln__sum second)
{
    unsigned char bytes[2 * KILN__SUM_SIZE];

    kiln__sum_put(bytes, first);
    kiln__sum_put(bytes + KILN__SUM_SIZE, second);
    return kiln__sum_bytes(bytes, sizeof bytes);
}

int kiln__sum_equal(kiln__sum a, kiln__sum b)
{
    return a.low == b.low && a.high == b.high;
}

void kiln__sum_put(unsigned char *to, kiln__sum sum)
{
    kiln__le64_write(to, sum.low);
    kiln__le64_write(to + 8, sum.high);
}

kiln__sum kiln__sum_take(const unsigned char *from)
{
    return (kiln__sum){kiln__le64_read(from), kiln__le64_read(from + 8)};
}

/* The system gives each process 16 random bytes (AT_RANDOM). */
static uint64_t process_secret(void)
{
    static atomic_uint_fast64_t known; /* 0: not asked */
    uint64_t secret = atomic_load_explicit(&known, memory_order_relaxed);
    const void *random;

    if (secret != 0)
        return secret;
    random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    if (random != NULL)
        memcpy(&secret, random, sizeof secret);
    secret |= 1;
    atomic_store_explicit(&known, secret, memory_order_relaxed);
    return secret;
}

kiln__sum kiln__hash_bytes(const void *bytes, size_t size)
{
    const XXH128_hash_t hash =
        XXH3_128bits_withSeed(size == 0 ? "" : bytes, size, process_secret());

    return (kiln__sum){.low = hash.low64, .high = hash.high64};
}

uint64_t kiln__hash_words(const uint64_t *words, size_t count)
{
    return XXH3_64bits(words, count * sizeof *words);
}
