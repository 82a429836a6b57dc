/* test_codegen_apart.c - what a launch must know of where its arrays are. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen cuda rocm */
/* LINKS: codegen */
#include "support/harness.h"

#include <string.h>

#include "support/devices/devices.h"
#include "support/facts_programs.h"

static const char program[] = "struct Complex\n"
                              "    re: f32\n"
                              "    im: f32\n"
                              "end\n"
                              "kernel follow(y, x)\n"
                              "    inbounds\n"
                              "        for k in 0..size(y, 0)\n"
                              "            y[k] = x[k] + 1\n"
                              "        end\n"
                              "    end\n"
                              "end\n"
                              "kernel follow_rows(y, x)\n"
                              "    inbounds\n"
                              "        for k in 0..size(y, 0)\n"
                              "            y[k, 0] = x[k, 0] + 1\n"
                              "        end\n"
                              "    end\n"
                              "end\n"
                              "kernel own(y, x)\n"
                              "    i = global_id(0)\n"
                              "    inbounds\n"
                              "        y[i] += x[i]\n"
                              "    end\n"
                              "end\n"
                              "kernel counts(y, x)\n"
                              "    inbounds\n"
                              "        for k in 0..size(x, 0)\n"
                              "            atomic_add(y, x[k], 1)\n"
                              "        end\n"
                              "    end\n"
                              "end\n"
                              "kernel moves(y, x)\n"
                              "    i = global_id(0)\n"
                              "    inbounds\n"
                              "        y[i] = x[i]\n"
                              "    end\n"
                              "end\n";

static kiln_package *package;

static void begin(const char *backend, const char *processor)
{
    devices_open_context(backend);
    devices_now.processor = processor;
    package = devices_define("apart", program);
}

static void compile(const char *kernel, const char *types)
{
    kiln_blob blob = {0};

    assert_ok(devices_emit(&blob, package, kernel, types, KILN_EMIT_BINARY,
                           &test_error));
    kiln_blob_release(&blob);
    assert_true(devices_now.fact_size > 0);
}

/* Whether the facts hold of a launch of one item with these words. */
static int hold(const int64_t *words, uint32_t count)
{
    const kiln__facts_shape one = {{1, 1, 1, 1, 1, 1, 1, 1, 1}};

    assert_true(
        kiln__facts_fit(devices_now.facts, devices_now.fact_size, 8 * count));
    return facts_hold(devices_now.facts, devices_now.fact_size, words, &one);
}

static int hold_of(int64_t y, int64_t y_size, int64_t x, int64_t x_size)
{
    return hold((const int64_t[]){y, y_size, x, x_size}, 4);
}

static void overlaps_are_found(void)
{
    compile("follow", "i32[:] | i32[:]");
    assert_true(hold_of(4096, 16, 4096 + 64, 16));
    assert_false(hold_of(4096, 16, 4096 + 63, 16));
    assert_false(hold_of(4096, 17, 4096 + 64, 16));
    assert_true(hold_of(4096, 16, 4096 - 64, 16));
    assert_false(hold_of(4096, 16, 4096 - 63, 16));
    assert_false(hold_of(4096, 16, 4096 - 64, 17));
    assert_false(hold_of(4096, 16, 4096, 16));
    assert_false(hold_of(4096, 16, 4100, 1)); /* inside */
    assert_false(hold_of(4100, 1, 4096, 16));
    assert_true(hold_of(4096, 0, 4096, 0)); /* no element is shared */
    assert_true(hold_of(4097, 16, 8192, 16));
    /* Addresses have no sign. */
    assert_true(hold_of(INT64_MIN, 16, INT64_MAX - 63, 16));
    assert_false(hold_of(INT64_MIN, 16, INT64_MAX - 62, 16));
    assert_true(hold_of(-4096, 16, 4096, 16));
    /* What lowering knows of sizes still counts. */
    assert_false(hold_of(4096, INT64_C(1) << 30, INT64_C(1) << 40, 16));
}

/* The sizes count for bounds, for places and for being small, and are read
   once. */
static void nothing_is_said_twice(void)
{
    const size_t count = devices_now.fact_size / KILN__FACT_BYTES;
    const uint8_t *facts = devices_now.facts;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(facts + i * KILN__FACT_BYTES,
                                    facts + k * KILN__FACT_BYTES,
                                    KILN__FACT_BYTES);
}

static void all_rows_count(void)
{
    compile("follow_rows", "i32[:, :] | i32[:, :]");
    nothing_is_said_twice();
    assert_true(hold((const int64_t[]){4096, 4, 5, 4096 + 80, 4, 5}, 6));
    assert_false(hold((const int64_t[]){4096, 4, 5, 4096 + 79, 4, 5}, 6));
    assert_true(hold((const int64_t[]){4096 + 80, 4, 5, 4096, 4, 5}, 6));
    assert_false(hold((const int64_t[]){4096 + 80, 4, 5, 4096, 4, 6}, 6));
}

/* What reads and writes its own elements may work in place. */
static void nothing_is_assumed_without_need(void)
{
    compile("own", "i32[:] | i32[:]");
    assert_true(hold_of(4096, 16, 4096, 16));
    assert_true(hold_of(4096, 16, 4100, 16));
}

static void atomic_updates_write(void)
{
    compile("counts", "i32[:] | i32[:]");
    assert_true(hold_of(4096, 16, 8192, 16));
    assert_false(hold_of(4096, 16, 4100, 16));
}

static void alignment_is(int assumed)
{
    compile("moves", "Vec{f32,4}[:] | Vec{f32,4}[:]");
    assert_true(hold_of(4096, 16, 8192, 16));
    assert_int_equal(hold_of(4096 + 8, 16, 8192, 16), !assumed);
    assert_int_equal(hold_of(4096, 16, 8192 + 4, 16), !assumed);
    compile("moves", "Complex[:] | Complex[:]");
    assert_true(hold_of(4096 + 8, 16, 8192, 16));
    assert_int_equal(hold_of(4096 + 4, 16, 8192, 16), !assumed);
    compile("moves", "Vec{f32,3}[:] | Vec{f32,3}[:]");
    assert_true(hold_of(4096 + 4, 16, 8192, 16));
    compile("moves", "f32[:] | f32[:]");
    assert_true(hold_of(4096 + 4, 16, 8192, 16));
}

static void check_all(const char *backend, const char *processor, int aligns)
{
    begin(backend, processor);
    overlaps_are_found();
    all_rows_count();
    nothing_is_assumed_without_need();
    atomic_updates_write();
    alignment_is(aligns);
    devices_close_context();
}

static void launches_of_cuda_know_their_arrays(void **state)
{
    (void)state;
    check_all("cuda", "sm_90", 1);
}

static void launches_of_rocm_know_their_arrays(void **state)
{
    (void)state;
    check_all("rocm", "gfx90a", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_of_cuda_know_their_arrays),
        cmocka_unit_test(launches_of_rocm_know_their_arrays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
