/* test_foreign_read.c - modules that LLVM itself could not read. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host cuda rocm spirv */
/* LINKS: codegen */
#include "support/codegen/neutral.h"

#define VERSION "Debug Info Version"
#define FLAG(version) \
    "!llvm.module.flags = !{!0}\n" \
    "!0 = !{i32 2, !\"" VERSION "\", i32 " version "}\n"

/* The first block has a predecessor. */
static const char broken[] = "define void @k(ptr %y, i64 %n) {\n"
                             "e:\n"
                             "  br label %e\n"
                             "}\n";

static const char words[] = "invalid LLVM IR: Entry block to function must not "
                            "have predecessors!";

static void broken_modules_with_debug_information_are_errors(void **state)
{
    static char text[1024];
    LLVMMemoryBufferRef bytes = neutral_assemble(broken, VERSION);

    (void)state;
    snprintf(text, sizeof text, "%s" FLAG("3"), broken);
    neutral_refused_on(ALL, text, words);
    for (size_t i = 0; i < 4; i++) {
        outcome o;

        neutral_build_bitcode(&o, &foreign_targets[i], bytes);
        assert_int_equal(o.status, KILN_ECODEGEN);
        assert_contains(o.message, words);
    }
    LLVMDisposeMemoryBuffer(bytes);
}

/* AMDGPU's verifier refuses this alloca, and debug information is verified
   while a module is read. */
static void a_triple_is_not_read_with_debug_information(void **state)
{
    (void)state;
    neutral_accepted("target triple = \"amdgcn-amd-amdhsa\"\n"
                     "define void @k(ptr %y, i64 %n) {\n"
                     "  %own = alloca i32, align 4\n"
                     "  store i32 1, ptr %own\n"
                     "  %v = load i32, ptr %own\n"
                     "  store i32 %v, ptr %y\n"
                     "  ret void\n"
                     "}\n" FLAG("3"));
}

static void old_debug_information_is_dropped(void **state)
{
    (void)state;
    neutral_accepted("define void @k(ptr %y, i64 %n) {\n"
                     "  ret void\n"
                     "}\n" FLAG("1"));
}

/* Writes a struct of two structs of two structs ... */
static void write_types(char *text, size_t size, int depth)
{
    size_t at = 0;

    for (int i = 0; i < depth; i++)
        at +=
            (size_t)snprintf(text + at, size - at,
                             "%%t%d = type {%%t%d, %%t%d}\n", i, i + 1, i + 1);
    snprintf(text + at, size - at,
             "%%t%d = type {i32}\n"
             "define void @k(ptr %%y, i64 %%n) {\n"
             "  %%p = getelementptr %%t0, ptr %%y, i64 %%n\n"
             "  %%v = load i32, ptr %%p\n"
             "  store i32 %%v, ptr %%y\n"
             "  ret void\n"
             "}\n",
             depth);
}

static void structs_have_a_bounded_number_of_parts(void **state)
{
    static char text[8192];

    (void)state;
    write_types(text, sizeof text, 8);
    neutral_accepted(text);
    write_types(text, sizeof text, 60);
    neutral_refused_on(ALL, text, "more than 65536 parts");
}

static void the_entry_takes_parameters_as_their_types_say(void **state)
{
    (void)state;
    neutral_refused_on(ALL,
                       "define void @k(ptr sret(i32) %y, i64 %n) {\n"
                       "  ret void\n"
                       "}\n",
                       "entry 'k': parameter 1 is 'sret'");
    neutral_refused_on(ALL,
                       "define void @k(ptr swifterror %y, i64 %n) {\n"
                       "  ret void\n"
                       "}\n",
                       "entry 'k': parameter 1 is 'swifterror'");
    neutral_refused_on(ALL,
                       "define void @k(ptr preallocated(i32) %y, i64 %n) {\n"
                       "  ret void\n"
                       "}\n",
                       "entry 'k': parameter 1 is 'preallocated'");
    neutral_refused_on(ALL,
                       "define void @k(ptr byval(i32) %y, i64 %n) {\n"
                       "  ret void\n"
                       "}\n",
                       "byval() is for what is passed by its bytes");
}

/* As a compiler of OpenCL C writes it. */
static void an_entry_may_have_a_convention_of_spirs(void **state)
{
    static const char *const fine[] = {"spir_kernel", "spir_func", "ccc"};
    char module[512];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(module, sizeof module,
                       "define spir_func i32 @f(i32 %%x) {\n"
                       "  %%r = mul i32 %%x, 3\n  ret i32 %%r\n}\n"
                       "define spir_func void @g(ptr %%y) noinline {\n"
                       "  %%v = call spir_func i32 @f(i32 14)\n"
                       "  store i32 %%v, ptr %%y\n  ret void\n}\n"
                       "define %s void @k(ptr %%y, i64 %%n) {\n"
                       "  call spir_func void @g(ptr %%y)\n  ret void\n}\n",
                       fine[i]);
        neutral_accepted(module);
    }
    neutral_refused_on(ALL,
                       "define fastcc void @k(ptr %y, i64 %n) {\n"
                       "  ret void\n"
                       "}\n",
                       "entry 'k' has not C's calling convention");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_modules_with_debug_information_are_errors),
        cmocka_unit_test(a_triple_is_not_read_with_debug_information),
        cmocka_unit_test(old_debug_information_is_dropped),
        cmocka_unit_test(structs_have_a_bounded_number_of_parts),
        cmocka_unit_test(the_entry_takes_parameters_as_their_types_say),
        cmocka_unit_test(an_entry_may_have_a_convention_of_spirs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
