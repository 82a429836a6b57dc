/* fuzz_codegen_wire.c - any bytes as messages of libkiln and a worker. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "codegen_client/codegen_wire.h"

/*
 * The first byte says what the others are. What is read can be touched to its
 * ends, is written again, and is then read as the same.
 */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define LARGEST_INPUT 65536

static void require(int condition)
{
    if (!condition)
        abort();
}

static size_t touched;

static void touch(const void *bytes, size_t size)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < size; i++)
        touched += at[i];
}

static void touch_text(const char *text)
{
    if (text)
        touch(text, strlen(text) + 1);
}

static void touch_request(const kiln__codegen_request *request)
{
    touch_text(request->settings->features);
    for (size_t i = 0; i < request->function_count; i++) {
        const kiln__codegen_function *f = &request->functions[i];

        touch(f->ir, f->ir_size);
        touch_text(f->symbol);
        touch_text(f->runtime);
        touch(f->bitcode, f->bitcode_size);
        for (size_t k = 0; k < f->callee_count; k++)
            require(f->callees[k] < request->function_count);
    }
    for (size_t i = 0; i < request->argument_count; i++)
        touch_text(request->argument_types[i]);
    for (size_t i = 0; i < request->import_count; i++)
        touch(request->imports[i].bitcode, request->imports[i].bitcode_size);
    for (size_t i = 0; i < request->site_count; i++)
        touch_text(request->sites[i].name);
    if (request->module)
        require(((const char *)request->module)[request->module_size] == '\0');
}

/* Reads one kind of message and writes it again; false: it is none. */
static int pass(kiln__encoder *out, int kind, const void *bytes, size_t size,
                kiln__arena *arena)
{
    kiln__codegen_request request;
    kiln__codegen_result result;
    kiln__wire_hello hello;
    kiln__wire_ready ready;
    kiln__wire_note note;

    switch (kind % 5) {
    case 0:
        if (kiln__wire_get_request(&request, arena, bytes, size) != KILN_OK)
            return 0;
        touch_request(&request);
        kiln__wire_put_request(out, &request);
        return 1;
    case 1:
        if (kiln__wire_get_result(&result, arena, bytes, size) != KILN_OK)
            return 0;
        touch(result.bytes, result.size);
        touch_text(result.format);
        kiln__wire_put_result(out, &result);
        return 1;
    case 2:
        if (kiln__wire_get_hello(&hello, arena, bytes, size) != KILN_OK)
            return 0;
        kiln__wire_put_hello(out, &hello);
        return 1;
    case 3:
        if (kiln__wire_get_ready(&ready, arena, bytes, size) != KILN_OK)
            return 0;
        kiln__wire_put_ready(out, &ready);
        return 1;
    default:
        if (kiln__wire_get_note(&note, arena, bytes, size) != KILN_OK)
            return 0;
        kiln__wire_put_note(out, &note);
        return 1;
    }
}

/* With the NUL behind it that readers rely on. */
static int pass_copy(kiln__encoder *out, int kind, const void *bytes,
                     size_t size)
{
    char *copy = malloc(size + 1);
    kiln__arena arena;
    int passed;

    require(copy != NULL);
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    kiln__arena_init(&arena, &kiln__malloc);
    kiln__encoder_init(out, &kiln__malloc);
    passed = pass(out, kind, copy, size, &arena);
    kiln__arena_dispose(&arena);
    free(copy);
    return passed;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    kiln__encoder once, twice;
    size_t stated;

    if (size < 1 || size > LARGEST_INPUT)
        return 0;
    if (size >= KILN__WIRE_HEAD_SIZE &&
        kiln__wire_get_head(bytes, &stated) != 0)
        require(stated <= KILN__WIRE_LARGEST);
    if (pass_copy(&once, bytes[0], bytes + 1, size - 1)) {
        require(!once.failed);
        require(pass_copy(&twice, bytes[0], once.bytes, once.size));
        require(once.size == twice.size &&
                memcmp(once.bytes, twice.bytes, once.size) == 0);
        kiln__encoder_dispose(&twice);
    }
    kiln__encoder_dispose(&once);
    return 0;
}
