/* options.c - the one reader of sized structs from older and newer callers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/options.h"

#include <string.h>

#include "base/error.h"

/* No struct of Kiln is nearly this large: a larger size means a struct that was
   never initialised, and reading that far would go beyond its memory. */
#define LARGEST_STRUCT ((size_t)65536)

static kiln_status check_size(size_t size, const char *type, kiln_error **error)
{
    if (size >= sizeof size && size <= LARGEST_STRUCT)
        return KILN_OK;
    return kiln__error_set(error, KILN_EINVAL,
                           "%s.size is %zu; set it to sizeof(%s)", type, size,
                           type);
}

kiln_status kiln__options_read(void *to, size_t to_size, const void *from,
                               const char *type, kiln_error **error)
{
    const unsigned char *bytes = from;
    size_t from_size = 0;

    memset(to, 0, to_size);
    memcpy(to, &to_size, sizeof to_size);
    if (from == NULL)
        return KILN_OK;

    memcpy(&from_size, from, sizeof from_size);
    KILN_TRY(check_size(from_size, type, error));
    for (size_t i = to_size; i < from_size; i++)
        if (bytes[i] != 0)
            return kiln__error_set(error, KILN_EINVAL,
                                   "%s has members that this library does not "
                                   "know: its byte %zu is not zero",
                                   type, i);
    memcpy(to, from, from_size < to_size ? from_size : to_size);
    memcpy(to, &to_size, sizeof to_size);
    return KILN_OK;
}

kiln_status kiln__sized_check(const void *out, const char *type,
                              kiln_error **error)
{
    size_t size;

    if (out == NULL)
        return kiln__error_set(error, KILN_EINVAL, "the %s to fill is NULL",
                               type);
    memcpy(&size, out, sizeof size);
    return check_size(size, type, error);
}
