/* kiln_json.h - writes JSON on standard output. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TOOLS_JSON_H
#define KILN_TOOLS_JSON_H

#include <stdint.h>

#define JSON_DEPTH 16

/* Set all members to zero to write a value at the top level. Members of an
   object have a key; those of an array have the key NULL. */
typedef struct json {
    int depth;
    int count[JSON_DEPTH]; /* number of members so far */
    char close[JSON_DEPTH];
} json;

void json_object(json *out, const char *key);
void json_array(json *out, const char *key);
/* Ends the innermost object or array; after the outermost one, writes a
   newline. */
void json_end(json *out);
/* NULL is written as null. Bytes that are invalid UTF-8 become U+FFFD. */
void json_text(json *out, const char *key, const char *value);
void json_number(json *out, const char *key, uint64_t value);
void json_signed(json *out, const char *key, int64_t value);
void json_flag(json *out, const char *key, int value);

#endif /* KILN_TOOLS_JSON_H */
