/* without_device.h - what errors say that tell that there is no device. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BACKENDS_WITHOUT_DEVICE_H
#define KILN_BACKENDS_WITHOUT_DEVICE_H

/* The end of the message. */
#define KILN__WITHOUT_DEVICE \
    "; without one, kiln_emit() gives a kernel's code, and " \
    "kiln_device_open_offline() takes launches"

#endif /* KILN_BACKENDS_WITHOUT_DEVICE_H */
