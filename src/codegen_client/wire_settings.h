/* wire_settings.h - settings of code generation as fields, for messages and
   entries. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CODEGEN_CLIENT_WIRE_SETTINGS_H
#define KILN_CODEGEN_CLIENT_WIRE_SETTINGS_H

#include "abi/codegen_abi.h"
#include "codegen_client/wire_fields.h"

void kiln__wire_put_settings(kiln__encoder *out,
                             const kiln__codegen_settings *settings);
/* In the arena; NULL: out of memory. */
const kiln__codegen_settings *kiln__wire_get_settings(kiln__wire_reading *r);

void kiln__wire_put_checks(kiln__encoder *out,
                           const kiln__codegen_check *checks, size_t count);
const kiln__codegen_check *kiln__wire_get_checks(kiln__wire_reading *r,
                                                 size_t *count);

#endif /* KILN_CODEGEN_CLIENT_WIRE_SETTINGS_H */
