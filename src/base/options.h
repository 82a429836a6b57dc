/* options.h - the one reader of sized structs from older and newer callers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_OPTIONS_H
#define KILN_OPTIONS_H

#include "kiln/error.h"

/*
 * Copies `from` (NULL: all zero) into `to` of `to_size` bytes. What an older
 * caller did not know becomes zero; what a newer one asks for and this
 * library does not know is KILN_EINVAL unless it is zero.
 */
kiln_status kiln__options_read(void *to, size_t to_size, const void *from);

#endif /* KILN_OPTIONS_H */
