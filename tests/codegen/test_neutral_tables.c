/* test_neutral_tables.c - addresses of constants in neutral modules. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host cuda rocm spirv */
/* LINKS: codegen */
#include "support/codegen/neutral.h"

#define ID "declare i64 @kiln_global_id(i32)\n"

/* The body of an entry that has its element's address in %p. */
#define ENTRY \
    "define void @k(ptr %y, i64 %n) {\n" \
    "  %i = call i64 @kiln_global_id(i32 0)\n" \
    "  %p = getelementptr i32, ptr %y, i64 %i\n"
#define END \
    "  ret void\n" \
    "}\n"

/* SPIR-V's own memory for constants has pointers of its own. */
static void tables_may_be_chosen(void **state)
{
    static const char module[] = ID
        "@t = internal constant [4 x i32] [i32 5, i32 6, i32 7, i32 8]\n"
        "@u = internal constant [4 x i32] [i32 9, i32 4, i32 3, i32 2]\n" ENTRY
        "  %odd = trunc i64 %i to i1\n"
        "  %c = select i1 %odd, ptr @t, ptr @u\n"
        "  %early = icmp ult i64 %i, 4\n"
        "  %d = select i1 %early, ptr %c, ptr %p\n"
        "  %m = and i64 %i, 3\n"
        "  %e = getelementptr i32, ptr %d, i64 %m\n"
        "  %q = select i1 %early, ptr %e, ptr %p\n"
        "  %v = load i32, ptr %q\n"
        "  store i32 %v, ptr %p\n" END;
    static const int32_t expected[] = {9, 6, 3, 8, 4, 5, 6, 7};
    int32_t y[8];
    launch l;

    (void)state;
    neutral_accepted(module);
    neutral_text(SPIRV, module, "addrspace(1) constant [4 x i32]", NULL);
    assert_int_equal(neutral_run(y, module, 8, 4, &l), 0);
    assert_memory_equal(y, expected, sizeof y);
}

#define DISTANCE(name) \
    "i32 trunc (i64 sub (i64 ptrtoint (ptr @" name \
    " to i64), i64 ptrtoint (ptr @d to i64)) to i32)"
#define DISTANCES(elements) \
    ID "@d = internal constant [3 x i32] [" elements "]\n" \
       "@a = internal constant i32 5\n" \
       "@b = internal constant i32 6\n" \
       "@c = internal constant [2 x i32] [i32 0, i32 7]\n" \
       "declare ptr @llvm.load.relative.i64(ptr, i64)\n" ENTRY \
       "  %m = urem i64 %i, 3\n" \
       "  %o = shl i64 %m, 2\n" \
       "  %a = call ptr @llvm.load.relative.i64(ptr @d, i64 %o)\n" \
       "  %v = load i32, ptr %a\n" \
       "  store i32 %v, ptr %p\n" END

/* LLVM makes them for position-independent code. */
static void tables_of_distances_are_for_all_targets(void **state)
{
    static const char module[] = DISTANCES(DISTANCE("a") ", " DISTANCE(
        "b") ", i32 trunc (i64 sub (i64 ptrtoint"
             " (ptr getelementptr (i32, ptr @c, i64 1) to i64), i64 ptrtoint"
             " (ptr @d to i64)) to i32)");
    int32_t y[6];
    launch l;

    (void)state;
    neutral_accepted(module);
    neutral_text(CUDA | SPIRV, module, "select i1", "@d");
    assert_int_equal(neutral_run(y, module, 6, 3, &l), 0);
    for (int i = 0; i < 6; i++)
        assert_int_equal(y[i], 5 + i % 3);
    neutral_refused_on(
        CUDA | SPIRV, DISTANCES(DISTANCE("a") ", " DISTANCE("b") ", i32 3"),
        "function 'k' of the module: it reads distances between addresses");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_may_be_chosen),
        cmocka_unit_test(tables_of_distances_are_for_all_targets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
