/* version.c - what kiln/common.h declares. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln/common.h"

#include <string.h>

const char *kiln_version(void)
{
    return KILN_VERSION_STRING;
}

static char *hexadecimal(char *text, uint64_t value)
{
    for (int shift = 60; shift >= 0; shift -= 4)
        *text++ = "0123456789abcdef"[(value >> shift) & 15];
    return text;
}

void kiln_digest_text(kiln_digest digest, char text[KILN_DIGEST_TEXT_SIZE])
{
    *hexadecimal(hexadecimal(text, digest.high), digest.low) = '\0';
}

void kiln_blob_release(kiln_blob *blob)
{
    if (blob == NULL)
        return;
    if (blob->release != NULL)
        blob->release(blob);
    memset(blob, 0, sizeof *blob);
}
