/* config.h - makes and interns configs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_PIPELINE_CONFIG_H
#define KILN_PIPELINE_CONFIG_H

#include "context/context.h"

/* ---- config.c ---- */
kiln_status kiln__configs_new(kiln_context *context);
void kiln__configs_free(kiln_context *context);
/* Returns the config with the same settings except that those of scope [load]
   are zero; NULL: out of memory. */
const kiln_config *kiln__config_without_load(const kiln_config *config);

#endif /* KILN_PIPELINE_CONFIG_H */
