/* test_opencl_entries.c - entries of translations that were changed. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
/* WRAPS: kiln__source_compile kiln__source_compiler */
#include <stdlib.h>
#include <string.h>

#include "frontend/opencl/cl_program.h"
#include "stores/stores.h"
#include "support/frontend/cl_fake.h"

/*
 * What a store gives has passed its checksums; but another build, or somebody
 * who may write the folder, may have made it. Whatever it says, the process
 * goes on: the text is translated again, or an error tells what is wrong.
 */

#define TEXT \
    "kernel first f32* i32 16/8 local:f32x4\n  ; one\n" \
    "kernel second f32x3*\n  ; two\n"

static kiln__cl *frontend_of(const cl_process *p)
{
    kiln__cl *cl = NULL;

    assert_ok(kiln__cl_of(&cl, p->context));
    return cl;
}

/* Finds the digest that the text's unit is stored under. */
static kiln_digest tokens_of(cl_process *p)
{
    kiln_opencl_program *program = cl_define(p, TEXT);
    kiln_digest tokens;

    assert_ok(kiln__cl_known_tokens(
        &tokens,
        kiln__cl_version_at(program, kiln_world(frontend_of(p)->frontend))));
    return tokens;
}

static void run(cl_process *p)
{
    kiln_error *error = NULL;
    const kiln_code *code;

    cl_define(p, TEXT);
    if (cl_infer(&code, p, "second", "Vec{f32, 4}[:]", &error) != KILN_OK) {
        assert_true(*kiln_error_message(error) != '\0');
        kiln_error_free(error);
    }
}

/* Changes the entry, and lets another process find it. */
static void change(const char *folder, kiln_digest tokens,
                   const unsigned char *meta, size_t size, const void *payload,
                   size_t payload_size)
{
    kiln__entry entry = {.meta = meta,
                         .meta_size = size,
                         .payload = payload,
                         .payload_size = payload_size};
    cl_process p;

    cl_start(&p, folder);
    cl_define(&p, TEXT);
    kiln__cl_put(frontend_of(&p), "unit 5", tokens, &entry);
    cl_end(&p);
    cl_start(&p, folder);
    run(&p);
    cl_end(&p);
}

typedef struct copied {
    unsigned char meta[4096], payload[4096];
    size_t meta_size, payload_size;
} copied;

static kiln_status copy(const kiln__entry *entry, void *env)
{
    copied *c = env;

    assert_true(entry->meta_size <= sizeof c->meta);
    assert_true(entry->payload_size <= sizeof c->payload);
    c->meta_size = entry->meta_size;
    c->payload_size = entry->payload_size;
    memcpy(c->meta, entry->meta, entry->meta_size);
    memcpy(c->payload, entry->payload, entry->payload_size);
    return KILN_OK;
}

static void learn(copied *out, kiln_digest *tokens, const char *folder)
{
    cl_process p;

    cl_start(&p, folder);
    run(&p);
    *tokens = tokens_of(&p);
    assert_ok(kiln__cl_get(frontend_of(&p), "unit 5", *tokens, copy, out));
    cl_end(&p);
}

static void change_each(copied *c, unsigned char *bytes, size_t size,
                        const char *folder, kiln_digest tokens)
{
    static const unsigned char values[] = {0, 1, 0x80, 0xff};

    for (size_t i = 0; i < size; i++) {
        const unsigned char was = bytes[i];

        bytes[i] = was == values[i % 4] ? 7 : values[i % 4];
        change(folder, tokens, c->meta, c->meta_size, c->payload,
               c->payload_size);
        bytes[i] = was;
    }
}

static void test_changed_bytes(void **state)
{
    static copied c;
    kiln_digest tokens;

    learn(&c, &tokens, *state);
    change_each(&c, c.meta, c.meta_size, *state, tokens);
    change_each(&c, c.payload, c.payload_size, *state, tokens);
}

static void test_cut_off(void **state)
{
    static copied c;
    kiln_digest tokens;

    learn(&c, &tokens, *state);
    for (size_t size = 0; size < c.meta_size; size += 3) {
        change(*state, tokens, c.meta, size, c.payload, c.payload_size);
        assert_counted(0, 1); /* it is of no use */
    }
    for (size_t size = 0; size < c.payload_size; size += 3) {
        change(*state, tokens, c.meta, c.meta_size, c.payload, size);
        assert_counted(0, 1);
    }
    change(*state, tokens, c.meta, c.meta_size, c.payload, c.payload_size);
    assert_counted(0, 0);
}

int main(void)
{
#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, temporary_folder_setup, \
                                    temporary_folder_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_changed_bytes),
        TEST(test_cut_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
