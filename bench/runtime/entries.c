/* entries.c - numbered entries for stores. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "entries.h"

#include <string.h>

#include "base/digest/digest.h"

kiln_key entries_key(char bytes[ENTRIES_KEY_SIZE], uint64_t number)
{
    memset(bytes, 'k', ENTRIES_KEY_SIZE);
    memcpy(bytes, &number, sizeof number);
    return (kiln_key){kiln__digest_bytes(bytes, ENTRIES_KEY_SIZE), bytes,
                      ENTRIES_KEY_SIZE};
}

kiln__entry entries_make(char bytes[ENTRIES_KEY_SIZE], uint64_t number,
                         size_t size)
{
    static const unsigned char payload[ENTRIES_LARGE];

    return (kiln__entry){
        .kind = KILN__ENTRY_BINARY,
        .key = entries_key(bytes, number),
        .payload = payload,
        .payload_size = size,
    };
}
