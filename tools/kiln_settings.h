/* kiln_settings.h - settings as words: NAME=VALUE. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_SETTINGS_H
#define KILN_TOOLS_SETTINGS_H

#include "kiln_tool.h"

/* Prints a line for each setting: its name, and what it takes. */
void settings_show(FILE *file);
/* "bounds=off" into the settings, which borrow the word. NULL, or what is wrong
   with it, until the next call. */
const char *setting_read(kiln_config_options *out, const char *word);
/* The config of a command's --target and --set; TOOL_... after complaining. */
int settings_config(const kiln_config **out, kiln_context *context,
                    const tool_options *options);

#endif /* KILN_TOOLS_SETTINGS_H */
