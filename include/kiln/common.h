/* kiln/common.h - version, visibility and the rules that every header keeps. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_COMMON_H
#define KILN_COMMON_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define KILN_BEGIN_DECLS extern "C" {
#define KILN_END_DECLS }
#else
#define KILN_BEGIN_DECLS
#define KILN_END_DECLS
#endif

#define KILN_API __attribute__((visibility("default")))
#define KILN_NODISCARD __attribute__((warn_unused_result))

#define KILN_VERSION_MAJOR 0
#define KILN_VERSION_MINOR 1
#define KILN_VERSION_PATCH 0
#define KILN_VERSION_STRING "0.1.0"

/**
 * The binary interface that these headers describe. kiln_context_new() hands
 * it to the library, which refuses a caller built for another one.
 */
#define KILN_ABI_VERSION 3

/**
 * True when the table `ops` of type `type` is long enough to hold `member` and
 * the member is set. A table made by an older caller is shorter: members past
 * its end count as NULL.
 */
#define KILN_HAS(ops, type, member) \
    ((ops)->size >= offsetof(type, member) + sizeof((ops)->member) && \
     (ops)->member != NULL)

/*
 * The rules that every header keeps.
 *
 * Statuses: a function that can fail returns a kiln_status. A header lists the
 * statuses that a caller may want to tell apart. Any such function may also
 * return KILN_ENOMEM, and KILN_EINVAL for an argument that is missing or
 * belongs to another context. After a failure the content of `out` is
 * undefined, unless the function says otherwise.
 *
 * Structs that begin with `size` are versioned. The caller stores the sizeof
 * that it was compiled with. Zero is the default of every other member. A
 * library that is older than its caller returns KILN_EINVAL if a member that it
 * does not know is not zero. Other structs do not change within one
 * KILN_ABI_VERSION.
 *
 * Ownership: an object made by _new() is ended by _free(), one made by _open()
 * by _close(); _free() and _close() accept NULL. Something "borrowed" or "lent"
 * still belongs to its owner. A function borrows its arguments for the call,
 * unless it says otherwise. Strings are NUL-terminated UTF-8. A pointer must
 * not be NULL unless it is said to be optional; functions without a status need
 * not check theirs.
 *
 * Headers in kiln/sys/ are for code that extends Kiln. A minor version may
 * change these headers; before version 1.0 it may change all headers.
 */

KILN_BEGIN_DECLS

/** Returns the library's version, "major.minor.patch". Static storage. */
KILN_API const char *kiln_version(void);

/**
 * A cryptographic digest of 256 bits, which identifies content: texts,
 * definitions, typed IR, keys. Kiln's own digests are BLAKE3 over a canonical
 * encoding. Digests that a host makes must resist collisions as well as these,
 * because this and other processes and machines treat things of equal digest as
 * the same thing. A digest of all zeros means "none".
 */
typedef struct kiln_digest {
    uint8_t bytes[32];
} kiln_digest;

/** Returns the digest of the bytes: the plain BLAKE3 hash, which other tools
 *  can compute too. */
KILN_API kiln_digest kiln_digest_bytes(const void *bytes, size_t size);

/** Room for a digest in hexadecimal and the terminating NUL. */
#define KILN_DIGEST_TEXT_SIZE 65

/** Writes `digest` as 64 lower-case hexadecimal digits in the order of its
 *  bytes, and a NUL. */
KILN_API void kiln_digest_text(kiln_digest digest,
                               char text[KILN_DIGEST_TEXT_SIZE]);

/**
 * Bytes on loan.
 *
 * `data` stays valid until release() is called, exactly once, by the holder of
 * the blob; kiln_blob_release() does so and zeroes the blob. A zeroed blob
 * holds nothing.
 */
typedef struct kiln_blob kiln_blob;
struct kiln_blob {
    const void *data;
    size_t size; /* in bytes */
    void (*release)(kiln_blob *blob);
    void *private_data; /* belongs to the maker of the blob */
};

/** Gives the bytes back and zeroes the blob. NULL and a zeroed blob are
 *  fine. A blob may outlive the context that made it, but not its
 *  kiln_alloc's `env`. */
KILN_API void kiln_blob_release(kiln_blob *blob);

KILN_END_DECLS

#endif /* KILN_COMMON_H */
