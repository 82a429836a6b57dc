/* without_device.h - the error that tells that there is no device. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_WITHOUT_DEVICE_H
#define KILN_BACKENDS_WITHOUT_DEVICE_H

#include "kiln/error.h"

/* Sets the error, which also says what can be done without a device. `reason`
   may be NULL. Returns KILN_ENODEVICE. */
kiln_status kiln__no_device(kiln_error **error, const char *backend,
                            const char *reason);

#endif /* KILN_BACKENDS_WITHOUT_DEVICE_H */
