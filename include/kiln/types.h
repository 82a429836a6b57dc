/* kiln/types.h - every opaque type, declared once. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TYPES_H
#define KILN_TYPES_H

#include "kiln/common.h"

KILN_BEGIN_DECLS

/* kiln/error.h */
typedef struct kiln_error kiln_error;
/* kiln/context.h: the one long-lived object */
typedef struct kiln_context kiln_context;
/* kiln/config.h: a target and every setting, interned */
typedef struct kiln_config kiln_config;
/* kiln/type.h: interned per context; pointer equality is type equality */
typedef struct kiln_type kiln_type;
/* kiln/method.h */
typedef struct kiln_frontend kiln_frontend;
typedef struct kiln_package kiln_package;
typedef struct kiln_function kiln_function;
/* kiln/compile.h */
typedef struct kiln_code kiln_code;
typedef struct kiln_ticket kiln_ticket;
/* kiln/kernel.h */
typedef struct kiln_kernel kiln_kernel;
typedef struct kiln_artifact kiln_artifact;
/* kiln/cache.h */
typedef struct kiln_mark kiln_mark;
typedef struct kiln_pack kiln_pack;
/* kiln/device.h */
typedef struct kiln_device kiln_device;
typedef struct kiln_buffer kiln_buffer;
typedef struct kiln_queue kiln_queue;

KILN_END_DECLS

#endif /* KILN_TYPES_H */
