/* test_neutral_raise.c - how modules may declare what raises and prints. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host cuda rocm spirv */
/* LINKS: codegen */
#include "support/codegen/neutral.h"

/* Raises and prints texts of the space `text` by pointers into `space`. `end`
   is the module's metadata; `given` what the calls take. */
static const char *module_of(const char *numbers, unsigned text, unsigned space,
                             const char *given, const char *end)
{
    static char module[4096];
    const unsigned array = strcmp(numbers, "spir") == 0 ? 1 : 0;

    snprintf(module, sizeof module,
             "declare i64 @kiln_global_id(i32)\n"
             "declare void @kiln_raise(i32, ptr addrspace(%u), i32,\n"
             "    ptr addrspace(%u), i64, i64) noreturn\n"
             "declare i32 @kiln_print(ptr addrspace(%u), ...)\n"
             "@m = private addrspace(%u) constant [5 x i8] c\"high\\00\"\n"
             "define void @k(ptr addrspace(%u) %%y, i64 %%n) {\n"
             "  %%i = call i64 @kiln_global_id(i32 0)\n"
             "  %%low = icmp ule i64 %%i, 5\n"
             "  br i1 %%low, label %%fine, label %%bad\n"
             "bad:\n"
             "  call void @kiln_raise(i32 6, ptr addrspace(%u) null, i32 3,\n"
             "      ptr addrspace(%u) %s, i64 %%i, i64 7)\n"
             "  unreachable\n"
             "fine:\n"
             "  %%no = icmp eq i64 %%i, 77\n"
             "  br i1 %%no, label %%print, label %%end\n"
             "print:\n"
             "  call i32 (ptr addrspace(%u), ...) @kiln_print(\n"
             "      ptr addrspace(%u) %s)\n"
             "  br label %%end\n"
             "end:\n"
             "  ret void\n"
             "}\n%s",
             space, space, space, text, array, space, space, given, space,
             space, given, end);
    return module;
}

static void check_raises(const char *module)
{
    int32_t y[8];
    launch l;

    neutral_accepted(module);
    assert_int_equal(neutral_run(y, module, 8, 8, &l), 1);
    assert_int_equal(l.raised, 1);
    assert_int_equal(l.kind, 6);
    assert_string_equal(l.method, "k");
    assert_string_equal(l.message, "high");
    assert_int_equal(l.values[0], 6);
}

static void texts_may_be_in_constant_or_generic_memory(void **state)
{
    static const char spir[] = "!kiln.spaces = !{!0}\n!0 = !{!\"spir\"}\n";

    (void)state;
    check_raises(module_of("", 0, 0, "@m", ""));
    check_raises(module_of("", 4, 4, "@m", ""));
    check_raises(
        module_of("", 4, 0, "addrspacecast (ptr addrspace(4) @m to ptr)", ""));
    check_raises(module_of("spir", 2, 2, "@m", spir));
    check_raises(module_of("spir", 4, 4, "@m", spir));
    check_raises(module_of("spir", 2, 4,
                           "addrspacecast (ptr addrspace(2) @m to "
                           "ptr addrspace(4))",
                           spir));
    check_raises(module_of("spir", 2, 0,
                           "addrspacecast (ptr addrspace(2) @m to ptr)", spir));
}

/* Kiln's own texts are constants by SPIR's numbers, too. */
static void what_ends_a_program_raises_with_the_numbers_of_spir(void **state)
{
    static const char module[] = "declare void @llvm.trap()\n"
                                 "define void @k(ptr addrspace(1) %y, i64 %n)\n"
                                 "{\n"
                                 "  call void @llvm.trap()\n"
                                 "  ret void\n"
                                 "}\n"
                                 "!kiln.spaces = !{!0}\n"
                                 "!0 = !{!\"spir\"}\n";
    int32_t y[1];
    launch l;

    (void)state;
    neutral_accepted(module);
    assert_int_equal(neutral_run(y, module, 1, 1, &l), 1);
    assert_string_equal(l.message, "trap");
}

static void other_declarations_are_refused(void **state)
{
    (void)state;
    neutral_refused_on(
        ALL,
        "declare void @kiln_raise(i32, i64, i32, ptr, i64, i64)\n"
        "define void @k(ptr %y, i64 %n) {\n"
        "  call void @kiln_raise(i32 6, i64 0, i32 3, ptr null,"
        " i64 0, i64 0)\n"
        "  ret void\n}\n",
        "it is declared with another type");
    neutral_refused_on(ALL,
                       "define void @kiln_raise(i32 %a, ptr %b, i32 %c, ptr %d,"
                       " i64 %e, i64 %f) {\n"
                       "  ret void\n}\n"
                       "define void @k(ptr %y, i64 %n) {\n"
                       "  call void @kiln_raise(i32 6, ptr null, i32 3,"
                       " ptr null, i64 0, i64 0)\n"
                       "  ret void\n}\n",
                       "the module may not define it");
    neutral_refused_on(ALL,
                       "declare void @kiln_raise(i32, ptr addrspace(4), i32,"
                       " ptr addrspace(1), i64, i64)\n"
                       "define void @k(ptr addrspace(1) %y, i64 %n) {\n"
                       "  call void @kiln_raise(i32 6,"
                       " ptr addrspace(4) null, i32 3,"
                       " ptr addrspace(1) %y, i64 0, i64 0)\n"
                       "  ret void\n}\n",
                       "method and message must be constant strings");
}

/* An exception, a barrier or nothing, by the value of %v. */
#define LINES \
    "!llvm.dbg.cu = !{!0}\n" \
    "!llvm.module.flags = !{!2}\n" \
    "!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1)\n" \
    "!1 = !DIFile(filename: \"work.c\", directory: \"/\")\n" \
    "!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n" \
    "!3 = !DISubroutineType(types: !{null})\n" \
    "!4 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1,\n" \
    "      line: 10, type: !3, unit: !0, spFlags: DISPFlagDefinition)\n" \
    "!7 = !DILocation(line: 12, column: 5, scope: !4)\n"

static const char *deciding(const char *decision)
{
    static char module[4096];

    snprintf(module, sizeof module,
             "declare void @kiln_raise(i32, ptr, i32, ptr, i64, i64)\n"
             "declare void @kiln_barrier(i32, i32)\n"
             "@m = private constant [5 x i8] c\"high\\00\"\n"
             "define void @k(ptr %%y, i64 %%n) !dbg !4 {\n"
             "  %%v = load i32, ptr %%y\n"
             "%s"
             "raise:\n"
             "  call void @kiln_raise(i32 6, ptr null, i32 3, ptr @m, i64 0,"
             " i64 0)\n"
             "  unreachable\n"
             "meet:\n"
             "  call void @kiln_barrier(i32 2, i32 3)\n"
             "  br label %%end\n"
             "end:\n"
             "  ret void\n"
             "}\n" LINES,
             decision);
    return module;
}

/* On SPIR-V an item that raised has to know where the others go. */
static void one_switch_cannot_raise_and_decide_about_a_barrier(void **state)
{
    (void)state;
    neutral_refused_on(SPIRV,
                       deciding("  switch i32 %v, label %end [\n"
                                "    i32 1, label %raise\n"
                                "    i32 2, label %meet ], !dbg !7\n"),
                       "function 'k' of the module: the target cannot have an "
                       "exception and a barrier that one switch decides about "
                       "at work.c:12:5");
    neutral_accepted(deciding("  %is1 = icmp eq i32 %v, 1\n"
                              "  br i1 %is1, label %raise, label %next\n"
                              "next:\n"
                              "  %is2 = icmp ugt i64 %n, 2\n"
                              "  br i1 %is2, label %meet, label %end\n"));
    neutral_accepted(deciding("  %is1 = icmp eq i32 %v, 1\n"
                              "  br i1 %is1, label %raise, label %meet\n"));
    neutral_accepted(deciding("  switch i32 %v, label %meet [\n"
                              "    i32 1, label %raise\n"
                              "    i32 2, label %meet ]\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_may_be_in_constant_or_generic_memory),
        cmocka_unit_test(what_ends_a_program_raises_with_the_numbers_of_spir),
        cmocka_unit_test(other_declarations_are_refused),
        cmocka_unit_test(one_switch_cannot_raise_and_decide_about_a_barrier),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
