/* test_foreign_variables.c - which variables foreign modules may have. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host cuda rocm spirv */
/* LINKS: codegen */
#include "support/codegen/foreign.h"

/* Reads element %m of a table of four i32. */
#define READ_AT(pointer, name) \
    "  %m = and i64 %n, 3\n" \
    "  %e = getelementptr i32, " pointer " @" name ", i64 %m\n" \
    "  %v = load i32, " pointer " %e\n" \
    "  store i32 %v, @A %y\n"
#define READ(name) READ_AT("ptr", name)
#define FOUR "[4 x i32] [i32 11, i32 12, i32 13, i32 14]\n"

/* ---- constants ---- */

static void constants_are_read_on_every_target(void **state)
{
    (void)state;
    foreign_accepted("@c = internal constant " FOUR, READ("c"));
    assert_int_equal(foreign_run("@c = constant " FOUR, READ("c"), 2), 11);
    assert_int_equal(foreign_run("@c = private constant " FOUR, READ("c"), 0),
                     11);
}

static void constants_may_be_in_generic_global_and_constant_memory(void **state)
{
    (void)state;
    foreign_accepted("@c = internal addrspace(1) constant " FOUR,
                     READ_AT("ptr addrspace(1)", "c"));
    foreign_accepted("@c = internal addrspace(4) constant " FOUR,
                     READ_AT("ptr addrspace(4)", "c"));
    assert_int_equal(foreign_run("@c = internal addrspace(4) constant " FOUR,
                                 READ_AT("ptr addrspace(4)", "c"), 2),
                     11);
    foreign_text(CUDA, "@c = internal addrspace(4) constant " FOUR,
                 READ_AT("ptr addrspace(4)", "c"),
                 "addrspace(4) constant [4 x i32]", NULL);
}

static void constants_in_other_address_spaces_are_refused(void **state)
{
    static const char words[] =
        "variable 'c' of the module: constants are not in this address space";

    (void)state;
    foreign_refused_on(ALL & ~SPIRV,
                       "@c = internal addrspace(2) constant " FOUR,
                       READ_AT("ptr addrspace(2)", "c"), words);
    foreign_refused_on(ALL, "@c = internal addrspace(5) constant " FOUR,
                       READ_AT("ptr addrspace(5)", "c"), words);
    foreign_refused_on(ALL, "@c = internal addrspace(7) constant " FOUR,
                       READ_AT("ptr addrspace(7)", "c"), words);
    foreign_refused_on(ALL, "@c = internal addrspace(257) constant " FOUR,
                       READ_AT("ptr addrspace(257)", "c"), words);
}

/* Whatever a linker would do with it, there is one image. */
static void linkage_visibility_and_comdats_mean_nothing(void **state)
{
    static const char *const heads[] = {
        "@c = weak constant " FOUR,
        "@c = weak_odr hidden constant " FOUR,
        "@c = linkonce_odr unnamed_addr constant " FOUR,
        "@c = available_externally constant " FOUR,
        "@c = dso_local protected constant " FOUR,
        "$c = comdat any\n@c = linkonce_odr constant [4 x i32]"
        " [i32 11, i32 12, i32 13, i32 14], comdat\n",
        "$g = comdat largest\n@c = constant [4 x i32]"
        " [i32 11, i32 12, i32 13, i32 14], comdat($g)\n",
        "@c = constant [4 x i32] [i32 11, i32 12, i32 13, i32 14],"
        " partition \"p\"\n",
        "@c = constant [4 x i32] [i32 11, i32 12, i32 13, i32 14],"
        " code_model \"large\"\n",
        "@c = constant [4 x i32] [i32 11, i32 12, i32 13, i32 14],"
        " !absolute_symbol !0\n!0 = !{i64 0, i64 1}\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        foreign_accepted(heads[i], READ("c"));
        assert_int_equal(foreign_run(heads[i], READ("c"), 2), 11);
    }
}

static void what_is_only_read_is_a_constant(void **state)
{
    (void)state;
    foreign_accepted("@c = internal global " FOUR, READ("c"));
    foreign_accepted("@c = common global [4 x i32] zeroinitializer\n",
                     READ("c"));
    assert_int_equal(foreign_run("@c = global " FOUR, READ("c"), 0), 11);
    foreign_text(HOST, "@c = internal global " FOUR, READ("c"),
                 "constant [4 x i32]", NULL);
    assert_int_equal(
        foreign_run("@c = internal global " FOUR
                    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n",
                    "  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr @c, i64 16,"
                    " i1 0)\n",
                    2),
        11);
}

static void alignments_up_to_a_page_are_kept(void **state)
{
    static const char low_bits[] = "  %a = ptrtoint ptr @c to i64\n"
                                   "  %b = add i64 %a, %n\n"
                                   "  %l = trunc i64 %b to i32\n"
                                   "  %m = and i32 %l, 4095\n"
                                   "  store i32 %m, ptr %y\n";

    (void)state;
    foreign_accepted(
        "@c = constant [4 x i32] [i32 11, i32 12, i32 13, i32 14], align 64\n",
        READ("c"));
    assert_int_equal(
        foreign_run("@c = constant [4 x i32] [i32 1, i32 2, i32 3, i32 4],"
                    " align 4096\n",
                    low_bits, 0),
        4);
    foreign_refused_on(
        ALL,
        "@c = constant [4 x i32] [i32 1, i32 2, i32 3, i32 4], align 8192\n",
        READ("c"), "variable 'c' of the module: it is aligned to more than");
}

static void aliases_are_what_they_stand_for(void **state)
{
    static const char function[] = "define i32 @f(i32 %x) noinline {\n"
                                   "  %r = mul i32 %x, 7\n  ret i32 %r\n}\n"
                                   "@a = hidden alias i32 (i32), ptr @f\n"
                                   "@b = alias i32 (i32), ptr @a\n";

    (void)state;
    foreign_accepted("@c = constant " FOUR "@a = alias [4 x i32], ptr @c\n",
                     READ("a"));
    assert_int_equal(
        foreign_run("@c = constant " FOUR
                    "@a = alias i32, getelementptr (i8, ptr @c, i64 8)\n",
                    "  %v = load i32, ptr @a\n  store i32 %v, ptr %y\n", 0),
        13);
    foreign_accepted(function,
                     "  %v = call i32 @b(i32 6)\n  store i32 %v, @A %y\n");
    assert_int_equal(
        foreign_run(function,
                    "  %v = call i32 @b(i32 6)\n  store i32 %v, ptr %y\n", 2),
        42);
}

/* ---- addresses in initialisers ---- */

static void initialisers_may_have_pointers_where_targets_have(void **state)
{
    static const char tables[] = "@a = internal constant i32 5\n"
                                 "@b = internal constant [2 x i32] [i32 6,"
                                 " i32 7]\n"
                                 "@t = internal constant [2 x ptr] [ptr @a,"
                                 " ptr getelementptr (i32, ptr @b, i64 1)]\n";
    static const char reads[] = "  %m = and i64 %n, 1\n"
                                "  %i = xor i64 %m, 1\n"
                                "  %e = getelementptr ptr, ptr @t, i64 %i\n"
                                "  %p = load ptr, ptr %e\n"
                                "  %v = load i32, ptr %p\n"
                                "  store i32 %v, @A %y\n";
    static const char functions[] =
        "define internal i32 @f(i32 %x) {\n"
        "  %r = add i32 %x, 1\n  ret i32 %r\n}\n"
        "define internal i32 @g(i32 %x) {\n"
        "  %r = add i32 %x, 2\n  ret i32 %r\n}\n"
        "@t = internal constant [2 x ptr] [ptr @f, ptr @g]\n";
    static const char calls[] = "  %m = and i64 %n, 1\n"
                                "  %i = xor i64 %m, 1\n"
                                "  %e = getelementptr ptr, ptr @t, i64 %i\n"
                                "  %p = load ptr, ptr %e\n"
                                "  %v = call i32 %p(i32 40)\n"
                                "  store i32 %v, @A %y\n";

    (void)state;
    foreign_refused_on(SPIRV, tables, reads,
                       "constant 'a' of the module is used by its address, in "
                       "the value of 't', which function 'k");
    assert_int_equal(foreign_run(tables, reads, 0), 7);
    assert_int_equal(foreign_run(tables, reads, 2), 7);
    foreign_refused_on(SPIRV, functions, calls, "through a pointer");
    assert_int_equal(foreign_run(functions, calls, 0), 42);
    assert_int_equal(foreign_run(functions, calls, 2), 42);
}

static void initialisers_may_compute_with_addresses_on_two_targets(void **state)
{
    static const char table[] =
        "@a = internal constant i32 5\n"
        "@t = internal constant [2 x i32] [i32 trunc (i64 sub (i64 ptrtoint"
        " (ptr @a to i64), i64 ptrtoint (ptr @t to i64)) to i32), i32 0]\n";
    static const char reads[] = "  %m = and i64 %n, 1\n"
                                "  %e = getelementptr i32, ptr @t, i64 %m\n"
                                "  %o = load i32, ptr %e\n"
                                "  %w = sext i32 %o to i64\n"
                                "  %p = getelementptr i8, ptr @t, i64 %w\n"
                                "  %v = load i32, ptr %p\n"
                                "  store i32 %v, @A %y\n";

    (void)state;
    foreign_refused_on(CUDA | SPIRV, table, reads,
                       "variable 't' of the module: its initialiser computes "
                       "with addresses");
    assert_int_equal(foreign_run(table, reads, 2), 5);
}

static void initialisers_have_no_address_for_a_linker(void **state)
{
    (void)state;
    foreign_refused_on(
        ALL,
        "define internal void @f() {\n  ret void\n}\n"
        "@t = internal constant [4 x ptr] [ptr ptrauth (ptr @f, i32 0),"
        " ptr null, ptr null, ptr null]\n",
        READ("t"),
        "variable 't' of the module: its initialiser has an address that only");
}

/* ---- what is refused by name ---- */

#define COUNT_AT(pointer, name) \
    "  %v = load i32, " pointer " @" name "\n" \
    "  %w = add i32 %v, 1\n" \
    "  store i32 %w, " pointer " @" name "\n" \
    "  store i32 %w, @A %y\n"
#define COUNT(name) COUNT_AT("ptr", name)

static void what_can_be_written_is_refused(void **state)
{
    static const char words[] = "variable 'g' of the module: it can be written";

    (void)state;
    foreign_refused_on(ALL, "@g = internal global i32 5\n", COUNT("g"), words);
    foreign_refused_on(ALL, "@g = common global i32 0\n", COUNT("g"), words);
    foreign_refused_on(ALL, "@g = weak global i32 0\n", COUNT("g"), words);
    foreign_refused_on(ALL, "@g = internal addrspace(1) global i32 5\n",
                       COUNT_AT("ptr addrspace(1)", "g"), words);
    foreign_refused_on(ALL, "@g = internal addrspace(5) global i32 5\n",
                       COUNT_AT("ptr addrspace(5)", "g"), words);
    foreign_refused_on(ALL, "@g = internal global i32 5\n",
                       "  %v = load volatile i32, ptr @g\n"
                       "  store i32 %v, @A %y\n",
                       words);
    foreign_refused_on(ALL,
                       "@g = internal global i32 5\n"
                       "define internal void @f(ptr %p) noinline {\n"
                       "  store i32 1, ptr %p\n  ret void\n}\n",
                       "  call void @f(ptr @g)\n", words);
}

static void memory_of_a_group_begins_undefined(void **state)
{
    static const char words[] =
        "variable 'g' of the module: it is in the memory of a group";

    (void)state;
    foreign_refused_on(ALL, "@g = internal addrspace(3) global i32 7\n",
                       COUNT_AT("ptr addrspace(3)", "g"), words);
    foreign_refused_on(
        HOST, "@g = internal addrspace(3) global i32 undef, align 256\n",
        COUNT_AT("ptr addrspace(3)", "g"),
        "variable 'g' of the module: a variable of a group is aligned to at "
        "most 128 bytes");
    foreign_refused_on(ALL, "@g = internal addrspace(3) constant " FOUR,
                       READ_AT("ptr addrspace(3)", "g"),
                       "variable 'g' of the module: ");
}

static void what_a_loader_or_a_linker_would_make_is_refused(void **state)
{
    (void)state;
    foreign_refused_on(ALL, "@g = internal thread_local global i32 5\n",
                       COUNT("g"),
                       "variable 'g' of the module: it is thread-local");
    foreign_refused_on(ALL, "@g = internal thread_local constant " FOUR,
                       READ("g"), "it is thread-local");
    foreign_refused_on(ALL,
                       "@g = thread_local global i32 5\n"
                       "@a = thread_local alias i32, ptr @g\n",
                       COUNT("a"),
                       "alias 'a' of the module: it is thread-local");
    foreign_refused_on(ALL, "@g = external global i32\n", COUNT("g"),
                       "variable 'g' of the module: it is not defined");
    foreign_refused_on(ALL, "@g = external constant [4 x i32]\n", READ("g"),
                       "variable 'g' of the module: it is not defined");
    foreign_refused_on(ALL, "@g = extern_weak global i32\n", COUNT("g"),
                       "it is not defined");
    foreign_refused_on(
        ALL, "@g = external addrspace(3) global [0 x i32]\n",
        "  %v = load i32, ptr addrspace(3) @g\n  store i32 %v, @A %y\n",
        "it is not defined");
    foreign_refused_on(ALL, "@g = appending constant " FOUR, READ("g"),
                       "a linker would make it longer");
    foreign_refused_on(ALL, "@g = externally_initialized constant " FOUR,
                       READ("g"), "it is initialised elsewhere");
    foreign_refused_on(ALL,
                       "@g = constant [4 x i32] [i32 1, i32 2, i32 3, i32 4],"
                       " section \"x\"\n",
                       READ("g"), "it names a section");
    foreign_refused_on(ALL,
                       "@i = ifunc i32 (i32), ptr @r\n"
                       "define ptr @r() {\n  ret ptr null\n}\n",
                       "  %v = call i32 @i(i32 1)\n",
                       "ifunc 'i' of the module: it is resolved by a loader");
}

static void constructors_and_destructors_are_refused(void **state)
{
    static const char function[] = "define void @c() {\n  ret void\n}\n";
    char text[512];

    (void)state;
    snprintf(text, sizeof text,
             "%s@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }]"
             " [{ i32, ptr, ptr } { i32 1, ptr @c, ptr null }]\n",
             function);
    foreign_refused_on(ALL, text, "",
                       "variable 'llvm.global_ctors' of the module: "
                       "constructors are not run");
    snprintf(text, sizeof text,
             "%s@llvm.global_dtors = appending global [1 x { i32, ptr, ptr }]"
             " [{ i32, ptr, ptr } { i32 1, ptr @c, ptr null }]\n",
             function);
    foreign_refused_on(ALL, text, "",
                       "variable 'llvm.global_dtors' of the module");
    foreign_refused_on(ALL,
                       "@llvm.embedded = appending global [1 x i8] [i8 1]\n",
                       "", "it means something to a linker only");
}

/* On the host each group has its memory elsewhere. */
static void constants_have_no_addresses_of_a_groups_memory(void **state)
{
    static const char *const list[] = {
        "@t = internal addrspace(3) global [4 x i32] poison\n"
        "@c = internal constant ptr addrspace(3) @t\n",
        "@t = internal addrspace(3) global [4 x i32] poison\n"
        "@c = internal constant [1 x ptr addrspace(3)]"
        " [ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @t, i64 4)]\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        outcome o;

        foreign_build(&o, foreign_target_of(HOST), list[i],
                      "  %p = load ptr addrspace(3), ptr @c\n"
                      "  store i32 1, ptr addrspace(3) %p\n",
                      0);
        assert_int_equal(o.status, KILN_ECODEGEN);
        assert_contains(o.message,
                        "variable 'c' of the module: its initialiser has the "
                        "address of a variable of a group");
    }
}

/* ---- what nobody reaches ---- */

static void what_the_entry_does_not_reach_is_not_looked_at(void **state)
{
    static const char dead[] =
        "@g = global i32 5\n"
        "@t = thread_local global i32 5\n"
        "@s = internal addrspace(3) global i32 undef\n"
        "@e = external global i32\n"
        "define void @f() {\n"
        "  call void asm sideeffect \"nop\", \"\"()\n"
        "  store i32 1, ptr @g\n"
        "  store i32 1, ptr @t\n"
        "  store i32 1, ptr @e\n"
        "  store i32 1, ptr addrspace(3) @s\n"
        "  call void @f()\n"
        "  ret void\n}\n"
        "@llvm.used = appending global [2 x ptr] [ptr @f, ptr @g],"
        " section \"llvm.metadata\"\n"
        "@llvm.compiler.used = appending global [1 x ptr] [ptr @t],"
        " section \"llvm.metadata\"\n";

    (void)state;
    foreign_accepted(dead, "  store i32 1, @A %y\n");
    foreign_accepted(dead, "  store i32 1, @A %y\n"
                           "  br i1 false, label %never, label %end\n"
                           "never:\n  call void @f()\n  br label %end\n"
                           "end:\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_read_on_every_target),
        cmocka_unit_test(
            constants_may_be_in_generic_global_and_constant_memory),
        cmocka_unit_test(constants_in_other_address_spaces_are_refused),
        cmocka_unit_test(linkage_visibility_and_comdats_mean_nothing),
        cmocka_unit_test(what_is_only_read_is_a_constant),
        cmocka_unit_test(alignments_up_to_a_page_are_kept),
        cmocka_unit_test(aliases_are_what_they_stand_for),
        cmocka_unit_test(initialisers_may_have_pointers_where_targets_have),
        cmocka_unit_test(
            initialisers_may_compute_with_addresses_on_two_targets),
        cmocka_unit_test(initialisers_have_no_address_for_a_linker),
        cmocka_unit_test(what_can_be_written_is_refused),
        cmocka_unit_test(memory_of_a_group_begins_undefined),
        cmocka_unit_test(what_a_loader_or_a_linker_would_make_is_refused),
        cmocka_unit_test(constructors_and_destructors_are_refused),
        cmocka_unit_test(constants_have_no_addresses_of_a_groups_memory),
        cmocka_unit_test(what_the_entry_does_not_reach_is_not_looked_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
