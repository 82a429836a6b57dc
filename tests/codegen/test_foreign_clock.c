/* test_foreign_clock.c - how LLVM IR reads the clock of each target. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host cuda rocm spirv */
/* LINKS: codegen */
#include "support/codegen/foreign.h"

static const char declared[] = "declare i64 @kiln_clock(@I)\n";
static const char twice[] = "  %a = call i64 @kiln_clock(@I %item)\n"
                            "  %b = call i64 @kiln_clock(@I %item)\n"
                            "  %c = icmp ne i64 %a, %b\n"
                            "  %v = zext i1 %c to i32\n"
                            "  store i32 %v, @A %y\n";

static void the_host_counts_cycles(void **state)
{
    (void)state;
    foreign_text(HOST, declared, twice, "@llvm.readcyclecounter()", NULL);
    assert_int_equal(foreign_run(declared, twice, 0), 1);
    assert_int_equal(foreign_run(declared, twice, 2), 1);
}

static void gpus_have_their_own(void **state)
{
    (void)state;
    foreign_text(CUDA, declared, twice, "@llvm.readcyclecounter()", NULL);
    foreign_text(ROCM, declared, twice, "@llvm.readsteadycounter()", NULL);
}

static void spirv_has_none(void **state)
{
    (void)state;
    foreign_refused_on(SPIRV, declared, twice,
                       "'kiln_clock': the target has no clock");
    foreign_refused_on(SPIRV, "declare i64 @llvm.readcyclecounter()\n",
                       "  %a = call i64 @llvm.readcyclecounter()\n"
                       "  %v = trunc i64 %a to i32\n"
                       "  store i32 %v, @A %y\n",
                       "LLVM has no code for it on this target");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_counts_cycles),
        cmocka_unit_test(gpus_have_their_own),
        cmocka_unit_test(spirv_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
