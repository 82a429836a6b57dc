/* options.h - the one reader of sized structs from older and newer callers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_OPTIONS_H
#define KILN_OPTIONS_H

#include "kiln/error.h"

/*
 * Copies `from` (NULL: all zero) into `to` of `to_size` bytes. Members that an
 * older caller does not know become zero. Members of a newer caller that this
 * library does not know are KILN_EINVAL unless they are zero; so is a size that
 * was never set. `type` is the struct's name, for the error.
 */
kiln_status kiln__options_read(void *to, size_t to_size, const void *from,
                               const char *type, kiln_error **error);
/* The same with the variable's own type. */
#define KILN__OPTIONS_READ(to, from, type, error) \
    kiln__options_read((type *){(to)}, sizeof(type), (from), #type, (error))

/* KILN_EINVAL for a sized struct to be filled that is NULL or whose size was
   not set. */
kiln_status kiln__sized_check(const void *out, const char *type,
                              kiln_error **error);

#endif /* KILN_OPTIONS_H */
