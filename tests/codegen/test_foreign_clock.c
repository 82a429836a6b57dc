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

/* OpReadClockKHR with its four words. */
#define READ_CLOCK (4u << 16 | 5056u)

static size_t count_words(const void *bytes, size_t size, uint32_t wanted)
{
    size_t count = 0;

    for (size_t at = 0; at + sizeof wanted <= size; at += sizeof wanted)
        count += memcmp((const char *)bytes + at, &wanted, sizeof wanted) == 0;
    return count;
}

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

/* LLVM has no counter of its own there. */
static void drivers_of_spirv_may_have_one(void **state)
{
    foreign_target target = *foreign_target_of(SPIRV);
    outcome o;

    (void)state;
    foreign_refused_on(SPIRV, declared, twice,
                       "needs the target's option SPV_KHR_shader_clock");
    foreign_refused_on(SPIRV, "declare i64 @llvm.readcyclecounter()\n",
                       "  %a = call i64 @llvm.readcyclecounter()\n"
                       "  %v = trunc i64 %a to i32\n"
                       "  store i32 %v, @A %y\n",
                       "LLVM has no code for it on this target");
    target.options = "fp64,fp16,int64_atomics,subgroups,SPV_KHR_shader_clock";
    foreign_build(&o, &target, declared, twice, 2);
    if (o.status != KILN_OK)
        fail_msg("%s", o.message);
    assert_int_equal(count_words(o.bytes, o.size, READ_CLOCK), 2);
    free(o.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_counts_cycles),
        cmocka_unit_test(gpus_have_their_own),
        cmocka_unit_test(drivers_of_spirv_may_have_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
