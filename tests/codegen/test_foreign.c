/* test_foreign.c - what the modules of other frontends may contain. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "abi/host_imports.h"
#include "backends/host/codegen/host_codegen.h"
#include "support/codegen/request.h"

static void assert_refused(const char *module, const char *const *types,
                           size_t count, const char *words)
{
    outcome o;

    prepare(&o, module, KILN_EMIT_BINARY, types, count);
    run(&o);

    assert_int_equal(o.failed, 1);
    assert_int_equal(o.finished, 0);
    assert_int_equal(o.status, KILN_ECODEGEN);
    assert_contains(o.message, words);
    assert_null(strchr(o.message, '\n'));
}

/* ---- what is refused ---- */

static void a_syntax_error_is_a_message(void **state)
{
    (void)state;
    assert_refused("define i32 @k(", saxpy_types, 3, "expected");
    assert_refused("BC\xC0\xDE damaged", saxpy_types, 3, "LLVM IR");
}

static void an_undefined_function_is_named(void **state)
{
    (void)state;
    assert_refused("declare void @system(ptr)\n"
                   "define i32 @k(ptr %item) {\n"
                   "  call void @system(ptr %item)\n"
                   "  ret i32 0\n"
                   "}\n",
                   NULL, 0, "undefined function 'system'");
}

static void all_undefined_functions_are_named(void **state)
{
    (void)state;
    assert_refused("declare void @system(ptr)\n"
                   "declare void @abort()\n"
                   "define i32 @k(ptr %item) {\n"
                   "  call void @system(ptr %item)\n"
                   "  call void @abort()\n"
                   "  ret i32 0\n"
                   "}\n",
                   NULL, 0, "undefined functions 'system', 'abort'");
}

static void functions_of_mathematics_may_be_undefined(void **state)
{
    static const char *const types[] = {"f64[:]"};
    double y[1] = {0.25};
    const struct {
        double *y;
        int64_t n;
    } arguments = {y, 1};
    launch l = make_launch(1, 1, 1, 1, 1, 1);
    outcome o;

    (void)state;
    prepare(&o,
            "declare double @cbrt(double)\n"
            "define i32 @k(" ITEM ", ptr %y, i64 %n) {\n"
            "  %x = load double, ptr %y\n"
            "  %r = call double @cbrt(double %x)\n"
            "  store double %r, ptr %y\n"
            "  ret i32 0\n"
            "}\n",
            KILN_EMIT_BINARY, types, 1);
    assert_built(&o);
    assert_int_equal(o.relocation, KILN_RELOCATION_PORTABLE);
    assert_int_equal(run_image(&o, &l, &arguments), 0);
    assert_true(y[0] > 0.6299605 && y[0] < 0.6299606);
    free(o.bytes);
}

static void the_lists_of_imports_are_one(void **state)
{
    const char *name;

    (void)state;
    for (size_t i = 0; (name = kiln__host_import_name(i)) != NULL; i++)
        assert_true(kiln__host_may_import(name));
    assert_false(kiln__host_may_import("system"));
#define CHECK(import, types, home) assert_non_null(kiln__host_import(#import));
    KILN__HOST_IMPORT_MAP(CHECK)
#undef CHECK
}

static void a_wrong_entry_is_refused(void **state)
{
    (void)state;
    assert_refused("define i32 @other(ptr %item) {\n ret i32 0\n}\n", NULL, 0,
                   "does not define 'k'");
    assert_refused(saxpy, one_array, 1, "must be i32 (ptr, ptr, i64)");
    assert_refused("define fastcc i32 @k(ptr %item) {\n ret i32 0\n}\n", NULL,
                   0, "calling convention");
    assert_refused("define i32 @k(ptr byval(i32) %item) {\n ret i32 0\n}\n",
                   NULL, 0, "byval");
}

static void what_would_reach_the_process_is_refused(void **state)
{
    (void)state;
    assert_refused("module asm \"nop\"\n"
                   "define i32 @k(ptr %item) {\n ret i32 0\n}\n",
                   NULL, 0, "assembly");
    assert_refused("define i32 @k(ptr %item) {\n"
                   "  call void asm sideeffect \"nop\", \"\"()\n"
                   "  ret i32 0\n}\n",
                   NULL, 0, "assembly");
    assert_refused("@environ = external global ptr\n"
                   "define i32 @k(ptr %item) {\n"
                   "  %e = load ptr, ptr @environ\n"
                   "  store ptr %e, ptr %item\n"
                   "  ret i32 0\n}\n",
                   NULL, 0, "'environ'");
    assert_refused(
        "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }]\n"
        "  [{ i32, ptr, ptr } { i32 1, ptr @c, ptr null }]\n"
        "define void @c() {\n ret void\n}\n"
        "define i32 @k(ptr %item) {\n ret i32 0\n}\n",
        NULL, 0, "constructors");
    assert_refused("define i32 @k(ptr %item) section \".init\" {\n"
                   " ret i32 0\n}\n",
                   NULL, 0, "section");
}

static void device_functions_are_called_as_they_are_described(void **state)
{
    (void)state;
    assert_refused("declare i64 @kiln_global_id(ptr, i64)\n"
                   "define i32 @k(ptr %item) {\n"
                   "  %i = call i64 @kiln_global_id(ptr %item, i64 0)\n"
                   "  ret i32 0\n}\n",
                   NULL, 0, "another type");
    assert_refused("declare i64 @kiln_global_id(ptr, i32)\n"
                   "define i32 @k(ptr %item) {\n"
                   "  store ptr @kiln_global_id, ptr %item\n"
                   "  ret i32 0\n}\n",
                   NULL, 0, "called only");
    assert_refused("declare void @kiln_raise(ptr, i32, ptr, i32, ptr, i64,"
                   " i64)\n"
                   "define i32 @k(ptr %item) {\n"
                   "  call void @kiln_raise(ptr %item, i32 1, ptr %item, i32 1,"
                   " ptr null, i64 0, i64 0)\n"
                   "  ret i32 1\n}\n",
                   NULL, 0, "constant strings");
}

static void another_data_layout_is_refused(void **state)
{
    (void)state;
    assert_refused("target datalayout = \"E-p:32:32\"\n"
                   "define i32 @k(ptr %item) {\n ret i32 0\n}\n",
                   NULL, 0, "data layout");
}

/* ---- relocation classes ---- */

static int32_t class_of(const char *body)
{
    char module[1024];
    outcome o;
    int32_t relocation;

    snprintf(module, sizeof module,
             "@table = internal constant [2 x i64] [i64 139637976793088,"
             " i64 139637976797184]\n"
             "define i32 @k(ptr %%item, ptr %%y, i64 %%n) {\n%s ret i32 0\n}\n",
             body);
    prepare(&o, module, KILN_EMIT_BINARY, one_array, 1);
    assert_built(&o);
    relocation = o.relocation;
    free(o.bytes);
    return relocation;
}

static void an_address_in_the_code_keeps_it_in_the_session(void **state)
{
    (void)state;

    assert_int_equal(
        class_of("store i32 1, ptr inttoptr (i64 139637976793088 to ptr)\n"),
        KILN_RELOCATION_SESSION);
    assert_int_equal(class_of("%s = shl i64 %n, 3\n"
                              "%a = add i64 %s, 139637976793088\n"
                              "%p = inttoptr i64 %a to ptr\n"
                              "store i32 1, ptr %p\n"),
                     KILN_RELOCATION_SESSION);
    assert_int_equal(class_of("%e = getelementptr i64, ptr @table, i64 %n\n"
                              "%a = load i64, ptr %e\n"
                              "%p = inttoptr i64 %a to ptr\n"
                              "store i32 1, ptr %p\n"),
                     KILN_RELOCATION_SESSION);
    assert_int_equal(class_of("%a = load i64, ptr %y\n"
                              "%b = add i64 %a, 8\n"
                              "%p = inttoptr i64 %b to ptr\n"
                              "store i32 1, ptr %p\n"),
                     KILN_RELOCATION_PORTABLE);
    assert_int_equal(class_of("store i32 1000000, ptr %y\n"
                              "store ptr null, ptr %y\n"),
                     KILN_RELOCATION_PORTABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_syntax_error_is_a_message),
        cmocka_unit_test(an_undefined_function_is_named),
        cmocka_unit_test(all_undefined_functions_are_named),
        cmocka_unit_test(functions_of_mathematics_may_be_undefined),
        cmocka_unit_test(the_lists_of_imports_are_one),
        cmocka_unit_test(a_wrong_entry_is_refused),
        cmocka_unit_test(what_would_reach_the_process_is_refused),
        cmocka_unit_test(device_functions_are_called_as_they_are_described),
        cmocka_unit_test(another_data_layout_is_refused),
        cmocka_unit_test(an_address_in_the_code_keeps_it_in_the_session),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
