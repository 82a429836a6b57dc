/* test_device_clock.c - what the clock tells LLVM IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <string.h>

#include "support/codegen/modules.h"
#include "support/devices/kernels.h"

#define ITEMS 32

/* Each item reads the clock twice, around a barrier and behind a call. */
static const char module[] = "declare i64 @kiln_global_id(i32)\n"
                             "declare i64 @kiln_clock()\n"
                             "declare void @kiln_barrier(i32, i32)\n"
                             "define internal i64 @read() noinline {\n"
                             "  %t = call i64 @kiln_clock()\n"
                             "  ret i64 %t\n"
                             "}\n"
                             "define void @ENTRY(ptr %x, i64 %n) {\n"
                             "  %id = call i64 @kiln_global_id(i32 0)\n"
                             "  %p = getelementptr [2 x i64], ptr %x, i64 %id\n"
                             "  %q = getelementptr i64, ptr %p, i64 1\n"
                             "  %a = call i64 @kiln_clock()\n"
                             "  store i64 %a, ptr %p\n"
                             "  call void @kiln_barrier(i32 2, i32 1)\n"
                             "  %b = call i64 @read()\n"
                             "  store i64 %b, ptr %q\n"
                             "  ret void\n"
                             "}\n";

static void the_clock_goes_on(void **state)
{
    const kiln_launch launch = {.grid = {ITEMS, 1, 1}, .block = {ITEMS, 1, 1}};
    kernels *k = *state;
    const int counts = strncmp(kernels_backend(), "rocm", 4) != 0;
    int64_t x[2 * ITEMS];
    kiln_array array = kernels_array(x, 2 * ITEMS);
    const kernels_argument argument = {"i64[:]", &array};

    memset(x, 0xff, sizeof x);
    assert_ok(modules_launch(modules_new(k), module, k->config, &launch,
                             &argument, 1, &test_error));
    for (int i = 0; i < ITEMS; i++) {
        assert_true(x[2 * i] >= 0);
        /* No emulator of that GPU has its clock. */
        assert_true(counts ? x[2 * i + 1] != x[2 * i] && x[2 * i] > 0
                           : x[2 * i + 1] >= x[2 * i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_goes_on),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
