/* reason.h - what the numbers of errno mean, in words. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_SYSTEM_REASON_H
#define KILN_BASE_SYSTEM_REASON_H

#include <string.h>

/* In English, like the message around it, and valid for ever: unlike that of
   strerror(), another thread's call does not change the text. */
static inline const char *kiln__reason_text(int number)
{
    const char *text = strerrordesc_np(number);

    return text != NULL ? text : "an unknown reason";
}

#endif /* KILN_BASE_SYSTEM_REASON_H */
