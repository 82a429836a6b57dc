/* digest.c - digests, over LLVM's BLAKE3. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/digest/digest.h"

#include "base/digest/blake3.h"

kiln_digest kiln__digest_bytes(const void *bytes, size_t size)
{
    llvm_blake3_hasher state;
    kiln_digest digest;

    llvm_blake3_hasher_init(&state);
    if (size > 0)
        llvm_blake3_hasher_update(&state, bytes, size);
    llvm_blake3_hasher_finalize(&state, digest.bytes, sizeof digest.bytes);
    return digest;
}

kiln_digest kiln_digest_bytes(const void *bytes, size_t size)
{
    return kiln__digest_bytes(bytes, size);
}

kiln_digest kiln__digest_text(const char *text)
{
    return kiln__digest_bytes(text, strlen(text));
}

/* The NUL of the first text separates the two. */
kiln_digest kiln__digest_texts(const char *first, const char *second)
{
    llvm_blake3_hasher state;
    kiln_digest digest;

    llvm_blake3_hasher_init(&state);
    llvm_blake3_hasher_update(&state, first, strlen(first) + 1);
    llvm_blake3_hasher_update(&state, second, strlen(second));
    llvm_blake3_hasher_finalize(&state, digest.bytes, sizeof digest.bytes);
    return digest;
}

kiln_digest kiln__digest_number(uint64_t number)
{
    unsigned char bytes[8];

    kiln__le64_write(bytes, number);
    return kiln__digest_bytes(bytes, sizeof bytes);
}

kiln_digest kiln__encoder_digest(const kiln__encoder *encoder)
{
    return kiln__digest_bytes(encoder->bytes, encoder->size);
}

kiln_digest kiln__digest_combine(kiln_digest first, kiln_digest second)
{
    const kiln_digest both[2] = {first, second};

    return kiln__digest_bytes(both, sizeof both);
}
