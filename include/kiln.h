/* kiln.h - everything that an embedder includes. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_H
#define KILN_H

#include "kiln/cache.h"
#include "kiln/compile.h"
#include "kiln/config.h"
#include "kiln/context.h"
#include "kiln/device.h"
#include "kiln/error.h"
#include "kiln/host.h"
#include "kiln/kernel.h"
#include "kiln/method.h"
#include "kiln/runtime.h"
#include "kiln/type.h"

#endif /* KILN_H */
