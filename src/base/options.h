/* options.h - the one reader of sized structs from older and newer callers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_OPTIONS_H
#define KILN_OPTIONS_H

#include "kiln/error.h"

/*
 * Copies `from` (NULL: all zero) into `to` of `to_size` bytes. Members that an
 * older caller does not know become zero. Members of a newer caller that this
 * library does not know are KILN_EINVAL unless they are zero.
 */
kiln_status kiln__options_read(void *to, size_t to_size, const void *from);

#endif /* KILN_OPTIONS_H */
