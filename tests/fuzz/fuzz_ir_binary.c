/* fuzz_ir_binary.c - any bytes as typed IR in its binary form. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

/*
 * Bytes that decode encode to the same bytes, and the function prints to a
 * text that reads and prints the same.
 */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define LARGEST_INPUT 16384 /* types are printed where they are used */

static void require(int condition)
{
    if (!condition)
        abort();
}

static kiln__text printed(const kiln__ir *ir)
{
    kiln__text text;

    kiln__text_init(&text, &kiln__malloc);
    require(kiln__ir_print(ir, &text) == KILN_OK);
    return text;
}

static void compare(const kiln__ir *ir, const uint8_t *bytes, size_t size)
{
    kiln__text first = printed(ir), second;
    kiln__ir again;
    kiln_blob blob;

    require(kiln__ir_encode(ir, &blob) == KILN_OK);
    require(blob.size == size && memcmp(blob.data, bytes, size) == 0);
    kiln_blob_release(&blob);
    require(kiln__ir_parse(&again, &kiln__malloc, "again", first.bytes,
                           first.size, NULL) == KILN_OK);
    second = printed(&again);
    require(first.size == second.size &&
            memcmp(first.bytes, second.bytes, first.size) == 0);
    kiln__ir_dispose(&again);
    kiln__text_dispose(&first);
    kiln__text_dispose(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    kiln_error *error = NULL;
    kiln__ir ir;

    if (size > LARGEST_INPUT)
        return 0;
    if (kiln__ir_decode(&ir, &kiln__malloc, bytes, size, &error) == KILN_OK) {
        compare(&ir, bytes, size);
        kiln__ir_dispose(&ir);
    }
    kiln_error_free(error);
    return 0;
}
