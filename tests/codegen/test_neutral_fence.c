/* test_neutral_fence.c - fences of neutral modules. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host cuda rocm spirv */
/* LINKS: codegen */
#include "support/codegen/neutral.h"

#define AROUND(declaration, call) \
    "declare i64 @kiln_global_id(i32)\n" declaration \
    "define void @k(ptr %y, i64 %n) {\n" \
    "  %i = call i64 @kiln_global_id(i32 0)\n" \
    "  %p = getelementptr i32, ptr %y, i64 %i\n" \
    "  %v = load i32, ptr %p\n" \
    "  store i32 1, ptr %p\n" call "\n" \
    "  store i32 2, ptr %p\n" \
    "  ret void\n" \
    "}\n"
#define FENCE(arguments) \
    AROUND("declare void @kiln_fence(i32, i32, i32)\n", \
           "  call void @kiln_fence(" arguments ")")

static void a_fence_has_the_targets_scope_and_its_order(void **state)
{
    (void)state;
    neutral_accepted(FENCE("i32 1, i32 1, i32 2"));
    neutral_text(ROCM, FENCE("i32 2, i32 1, i32 4"),
                 "fence syncscope(\"workgroup\") acq_rel", "kiln_fence");
    neutral_text(SPIRV, FENCE("i32 3, i32 2, i32 3"),
                 "fence syncscope(\"device\") release", NULL);
    neutral_form(CUDA, KILN_EMIT_ASM, FENCE("i32 4, i32 3, i32 5"),
                 "fence.sc.sys", NULL);
    neutral_text(HOST, FENCE("i32 2, i32 1, i32 5"), "fence seq_cst", NULL);
}

static void other_fences_are_refused(void **state)
{
    static const char scope[] = "'kiln_fence': its scope is the constant 1";
    static const char order[] = "'kiln_fence': its order is the constant 2";

    (void)state;
    neutral_refused_on(ALL, FENCE("i32 0, i32 1, i32 5"), scope);
    neutral_refused_on(ALL, FENCE("i32 5, i32 1, i32 5"), scope);
    neutral_refused_on(ALL, FENCE("i32 %v, i32 1, i32 5"), scope);
    neutral_refused_on(ALL, FENCE("i32 2, i32 1, i32 1"), order);
    neutral_refused_on(ALL, FENCE("i32 2, i32 1, i32 6"), order);
    neutral_refused_on(ALL, FENCE("i32 2, i32 1, i32 %v"), order);
    neutral_refused_on(ALL,
                       AROUND("declare void @kiln_fence(i32, i32)\n",
                              "  call void @kiln_fence(i32 2, i32 5)"),
                       "it is declared with another type");
    neutral_refused_on(ALL,
                       AROUND("define void @kiln_fence(i32 %s, i32 %m, "
                              "i32 %o) {\n  ret void\n}\n",
                              "  call void @kiln_fence(i32 2, i32 1, i32 5)"),
                       "the module may not define it");
    neutral_refused_on(ALL,
                       AROUND("declare void @kiln_fence(i32, i32, i32)\n",
                              "  store ptr @kiln_fence, ptr %p"),
                       "'kiln_fence'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fence_has_the_targets_scope_and_its_order),
        cmocka_unit_test(other_fences_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
