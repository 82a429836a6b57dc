/* version.c - the version of the library. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln/common.h"

#include <string.h>

const char *kiln_version(void)
{
    return KILN_VERSION_STRING;
}

void kiln_digest_text(kiln_digest digest, char text[KILN_DIGEST_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < sizeof digest.bytes; i++) {
        text[2 * i] = digits[digest.bytes[i] >> 4];
        text[2 * i + 1] = digits[digest.bytes[i] & 15];
    }
    text[2 * sizeof digest.bytes] = '\0';
}

void kiln_blob_release(kiln_blob *blob)
{
    if (blob == NULL)
        return;
    if (blob->release != NULL)
        blob->release(blob);
    memset(blob, 0, sizeof *blob);
}
