/* test_foreign_idioms.c - loops that LLVM knows functions of C for, and these
   functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host cuda rocm spirv */
/* LINKS: codegen */
#include "support/codegen/neutral.h"

/* The item's element becomes the number of elements of type `%s` in front of a
   zero, in an array of the item's own that begins with as many others. `%d`:
   the size of an element. */
static const char *search_of(const char *type, int bytes)
{
    static char module[4096];

    snprintf(module, sizeof module,
             "declare i64 @kiln_global_id(i32)\n"
             "define void @k(ptr %%y, i64 %%n) {\n"
             "entry:\n"
             "  %%own = alloca [16 x %s], align 8\n"
             "  %%i = call i64 @kiln_global_id(i32 0)\n"
             "  br label %%fill\n"
             "fill:\n"
             "  %%f = phi i64 [ 0, %%entry ], [ %%f1, %%fill ]\n"
             "  %%to = getelementptr %s, ptr %%own, i64 %%f\n"
             "  %%before = icmp ult i64 %%f, %%i\n"
             "  %%one = zext i1 %%before to %s\n"
             "  store %s %%one, ptr %%to\n"
             "  %%f1 = add nuw nsw i64 %%f, 1\n"
             "  %%full = icmp eq i64 %%f1, 16\n"
             "  br i1 %%full, label %%find, label %%fill\n"
             "find:\n"
             "  %%at = phi ptr [ %%own, %%fill ], [ %%at1, %%find ]\n"
             "  %%v = load %s, ptr %%at\n"
             "  %%at1 = getelementptr inbounds i8, ptr %%at, i64 %d\n"
             "  %%end = icmp eq %s %%v, 0\n"
             "  br i1 %%end, label %%found, label %%find\n"
             "found:\n"
             "  %%last = ptrtoint ptr %%at to i64\n"
             "  %%first = ptrtoint ptr %%own to i64\n"
             "  %%bytes = sub i64 %%last, %%first\n"
             "  %%count = sdiv exact i64 %%bytes, %d\n"
             "  %%c = trunc i64 %%count to i32\n"
             "  %%p = getelementptr i32, ptr %%y, i64 %%i\n"
             "  store i32 %%c, ptr %%p\n"
             "  ret void\n"
             "}\n"
             "!llvm.module.flags = !{!0}\n"
             "!0 = !{i32 1, !\"wchar_size\", i32 4}\n",
             type, type, type, type, type, bytes, type, bytes);
    return module;
}

static void check_search(const char *type, int bytes)
{
    const char *module = search_of(type, bytes);
    int32_t y[8];
    launch l;

    for (uint8_t level = 1; level <= 3; level++)
        for (size_t i = 0; i < 4; i++) {
            const foreign_target *target = &foreign_targets[i];
            outcome o;

            neutral_build(&o, target, module, target->form, level);
            if (o.status != KILN_OK)
                fail_msg("%s, level %d: %s", target->backend, level, o.message);
            free(o.bytes);
        }
    assert_int_equal(neutral_run(y, module, 8, 4, &l), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(y[i], i);
}

/* LLVM makes strlen() and wcslen() of these, and no image may import them. */
static void a_search_for_a_zero_calls_no_library(void **state)
{
    (void)state;
    check_search("i8", 1);
    check_search("i32", 4);
}

/* What is there of C's library, on every target, and what is not. */
static void functions_of_memory_are_defined(void **state)
{
    (void)state;
    neutral_accepted("declare i32 @memcmp(ptr, ptr, i64)\n"
                     "declare ptr @memcpy(ptr, ptr, i64)\n"
                     "declare i64 @strlen(ptr)\n"
                     "define void @k(ptr %y, i64 %n) {\n"
                     "  %q = getelementptr i8, ptr %y, i64 16\n"
                     "  %t = call ptr @memcpy(ptr %y, ptr %q, i64 %n)\n"
                     "  %r = call i32 @memcmp(ptr %y, ptr %q, i64 12)\n"
                     "  %l = call i64 @strlen(ptr %t)\n"
                     "  %m = trunc i64 %l to i32\n"
                     "  %s = add i32 %r, %m\n"
                     "  store i32 %s, ptr %y\n"
                     "  ret void\n"
                     "}\n");
    neutral_refused_on(ALL,
                       "declare ptr @memchr(ptr, i32, i64)\n"
                       "define void @k(ptr %y, i64 %n) {\n"
                       "  %r = call ptr @memchr(ptr %y, i32 0, i64 16)\n"
                       "  store i32 1, ptr %r\n"
                       "  ret void\n"
                       "}\n",
                       "undefined function 'memchr'");
    neutral_refused_on(ALL,
                       "declare i32 @memcmp(ptr, ptr, i32)\n"
                       "define void @k(ptr %y, i64 %n) {\n"
                       "  %r = call i32 @memcmp(ptr %y, ptr %y, i32 16)\n"
                       "  store i32 %r, ptr %y\n"
                       "  ret void\n"
                       "}\n",
                       "'memcmp'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_search_for_a_zero_calls_no_library),
        cmocka_unit_test(functions_of_memory_are_defined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
