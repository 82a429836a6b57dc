/* options.c - the one reader of sized structs from older and newer callers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/options.h"

#include <string.h>

/* No struct of Kiln is nearly this large: a larger size means a struct that was
   never initialised, and reading that far would go beyond its memory. */
#define LARGEST_STRUCT ((size_t)65536)

kiln_status kiln__options_read(void *to, size_t to_size, const void *from)
{
    const unsigned char *bytes = from;
    size_t from_size = 0;

    memset(to, 0, to_size);
    memcpy(to, &to_size, sizeof to_size);
    if (from == NULL)
        return KILN_OK;

    memcpy(&from_size, from, sizeof from_size);
    if (from_size < sizeof from_size || from_size > LARGEST_STRUCT)
        return KILN_EINVAL;
    for (size_t i = to_size; i < from_size; i++)
        if (bytes[i] != 0)
            return KILN_EINVAL;
    memcpy(to, from, from_size < to_size ? from_size : to_size);
    memcpy(to, &to_size, sizeof to_size);
    return KILN_OK;
}
