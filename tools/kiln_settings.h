/* kiln_settings.h - reads settings, NAME=VALUE. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_SETTINGS_H
#define KILN_TOOLS_SETTINGS_H

#include "kiln_tool.h"

/* Prints a line for each setting: its name and its possible values. */
void settings_show(FILE *file);
/* Reads a setting such as "bounds=off"; the settings borrow the word. Returns
   NULL, or what is wrong, which is valid until the next call. */
const char *setting_read(kiln_config_options *out, const char *word);
/* Makes the config of a command's --target and --set. Reports errors and
   returns TOOL_... */
int settings_config(const kiln_config **out, kiln_context *context,
                    const tool_options *options);

#endif /* KILN_TOOLS_SETTINGS_H */
