/* fuzz_ir_text.c - any text as typed IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* SEEDS: golden/infer golden/lower */
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"

/*
 * A text that is read prints to a text that reads and prints the same, and the
 * two functions have the same binary form.
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

static void compare(const kiln__ir *ir)
{
    kiln__text first = printed(ir), second;
    kiln_blob one, two;
    kiln__ir again;

    require(kiln__ir_parse(&again, &kiln__malloc, "again", first.bytes,
                           first.size, NULL) == KILN_OK);
    second = printed(&again);
    require(first.size == second.size &&
            memcmp(first.bytes, second.bytes, first.size) == 0);
    require(kiln__ir_encode(ir, &one) == KILN_OK);
    require(kiln__ir_encode(&again, &two) == KILN_OK);
    require(one.size == two.size && memcmp(one.data, two.data, one.size) == 0);
    kiln_blob_release(&one);
    kiln_blob_release(&two);
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
    if (kiln__ir_parse(&ir, &kiln__malloc, "fuzz", (const char *)bytes, size,
                       &error) == KILN_OK) {
        compare(&ir);
        kiln__ir_dispose(&ir);
    }
    kiln_error_free(error);
    return 0;
}
