/* test_package.c - defining, loading, deleting and unloading. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/frontend/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/program/program_tables.h"

static void define_reports_what_it_did(void **state)
{
    program *p = *state;
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;

    program_define_in(p->main, "fn f(x) = 1\nfn g(x) = 2\n", &report);
    assert_int_equal(report.methods_added, 2);
    kiln_change_report_dispose(&report);

    report = (kiln_change_report)KILN_CHANGE_REPORT_INIT;
    program_define_in(p->main, "fn f(x) = 3\nfn g(x) = 2\nfn h() = 1\n",
                      &report);
    assert_int_equal(report.methods_added, 1);
    assert_int_equal(report.methods_replaced, 1);
    assert_int_equal(report.methods_unchanged, 1);
    assert_int_equal(report.methods_removed, 0);
    assert_int_equal(report.world, kiln__language_world(p->language));
    kiln_change_report_dispose(&report);
}

static void defining_the_same_text_again_makes_no_world(void **state)
{
    program *p = *state;
    const char *text = "abstract A\nstruct S: A\n x: f32\nend\n"
                       "const C = 1\nfn f(x: S) = 1\n";
    uint64_t world;

    program_define(p, text);
    world = kiln__language_world(p->language);
    program_define(p, text);

    assert_int_equal(kiln__language_world(p->language), world);
}

static void a_faulty_text_changes_nothing(void **state)
{
    program *p = *state;
    const kiln_function *function;

    program_refuse(p, "unknown-type",
                   "const C = 1\nstruct S\n x: f32\nend\nfn g() = 1\n"
                   "fn f(x: Missing) = 1\n");

    assert_status(KILN_ENOTFOUND,
                  kiln_package_function(&function, p->main, "g", &test_error));
    program_refuse(p, "unknown-type", "fn f(x: S) = 1\n");
}

static void each_fault_of_a_definition_has_its_code(void **state)
{
    program *p = *state;

    program_package(p, "other");
    program_define(p, "fn taken() = 1\nconst number = 1\n");

    program_refuse(p, "duplicate-definition", "fn f(x) = 1\nfn f(y) = 2\n");
    program_refuse(p, "duplicate-definition",
                   "fn f(x: f32) = 1\nfn f(y: T) where T: f32 = 2\n");
    program_refuse(p, "duplicate-definition", "const C = 1\nconst C = 2\n");
    program_refuse(p, "duplicate-definition",
                   "struct S\n x: f32\nend\nfn S(a) = 2\n");
    program_refuse(p, "already-defined", "const taken = 1\n");
    program_refuse(p, "already-defined", "fn number() = 1\n");
    program_refuse(p, "built-in-name", "fn f32(x) = x\n");
    program_refuse(p, "built-in-name", "struct Vec\n x: i8\nend\n");
    program_refuse(p, "type-piracy", "fn sqrt(x: i32) = x\n");
    program_refuse(p, "type-piracy", "fn +(a, b) = a\n");
    program_refuse(p, "type-piracy", "fn *(a: f64, b: f64) = a\n");
    program_refuse(p, "built-in-name", "overlay host fn typeof(x: f64) = 1\n");
    program_refuse(p, "unknown-type", "fn f(x: f33) = 1\n");
    program_refuse(p, "unknown-type", "fn f(x) -> Missing = 1\n");
    program_refuse(p, "unknown-type", "fn f(x: other.Missing) = 1\n");
    program_refuse(p, "not-a-type", "fn f(x: sqrt) = 1\n");
    program_refuse(p, "not-abstract", "struct S: f32\n x: f32\nend\n");
    program_refuse(p, "abstract-cycle", "abstract A: A\n");
    program_refuse(p, "struct-cycle", "struct S\n x: S\nend\n");
    program_refuse(p, "field-not-concrete", "struct S\n x: Real\nend\n");
    program_refuse(p, "field-not-concrete", "struct S\n x: f32[:]\nend\n");
    program_refuse(p, "field-not-concrete",
                   "struct P{T}\n x: T\nend\nstruct S\n x: P\nend\n");
    program_refuse(p, "unknown-package", "import nowhere\n");
    program_refuse(p, "unknown-package", "fn other.f() = 1\n");
    program_refuse(p, "unknown-name", "import other: f\n");
    program_refuse(p, "self-import", "import main\n");
    program_refuse(p, "not-a-function", "import other\nfn other.f() = 1\n");
    program_refuse(p, "unbound-type-parameter", "fn f(x) where T = 1\n");
    program_refuse(p, "type-parameters",
                   "struct P{T}\n x: T\nend\nfn f(x: P{f32, f32}) = 1\n");
}

static void cycles_of_several_types_are_found(void **state)
{
    program *p = *state;
    kiln_error *error = NULL;
    const char *text = "struct A\n b: B\nend\nstruct B\n a: (A, f32)\nend\n";

    assert_status(KILN_ECOMPILE,
                  kiln_package_define(p->main, "test.kiln", text, strlen(text),
                                      NULL, &error));
    assert_int_equal(kiln_error_diagnostic_count(error), 2);
    assert_string_equal(kiln_error_diagnostic(error, 1)->code, "struct-cycle");
    kiln_error_free(error);

    program_define(p, "struct A\n x: f32\nend\nstruct B\n a: A\nend\n");
    program_refuse(p, "struct-cycle", "struct A\n b: B\nend\n");
}

static void all_faults_of_a_text_are_told_at_once(void **state)
{
    program *p = *state;
    const char *text = "fn f(x: Missing) = 1\nconst A = 1\nconst A = 2\n"
                       "fn sqrt(x) = 1\n";
    kiln_error *error = NULL;

    assert_status(KILN_ECOMPILE,
                  kiln_package_define(p->main, "test.kiln", text, strlen(text),
                                      NULL, &error));

    assert_int_equal(kiln_error_diagnostic_count(error), 3);
    kiln_error_free(error);
}

static void unknown_names_come_with_a_suggestion(void **state)
{
    program *p = *state;
    const kiln_function *function;

    program_define(p, "fn saxpy(x) = 1\n");

    assert_fails(
        KILN_ENOTFOUND, "did you mean `saxpy`?",
        kiln_package_function(&function, p->main, "saxpi", &test_error));
}

static void own_imported_and_builtin_functions_are_found(void **state)
{
    program *p = *state;
    const kiln_function *function;

    program_define_in(program_package(p, "geometry"), "fn dot(a, b) = 1\n",
                      NULL);
    program_define(p, "import geometry: dot\nfn f(x) = 1\n");

    assert_ok(kiln_package_function(&function, p->main, "f", &test_error));
    assert_string_equal(kiln_function_name(function), "main.f");
    assert_ok(kiln_package_function(&function, p->main, "dot", &test_error));
    assert_string_equal(kiln_function_name(function), "geometry.dot");
    assert_ok(kiln_package_function(&function, p->main, "+", &test_error));
    assert_string_equal(kiln_function_name(function), "core.+");
}

static void imported_and_builtin_functions_are_extended(void **state)
{
    program *p = *state;
    const kiln_function *function;

    program_define_in(program_package(p, "geometry"),
                      "fn dot(a, b) = 1\nfn norm(a) = 1\n", NULL);
    program_define(p, "import geometry: dot\n"
                      "struct S\n x: f32\nend\n"
                      "fn dot(a: S, b: S) = 2\n"
                      "fn geometry.norm(a: S) = 2\n"
                      "fn +(a: S, b: S) = a\n"
                      "overlay cuda fn rsqrt(x: f32) = x\n");

    assert_string_equal(program_pick(p, "dot", "S; S"),
                        "geometry.dot(a: S, b: S)");
    assert_string_equal(program_pick(p, "+", "S; S"), "core.+(a: S, b: S)");
    assert_string_equal(program_pick_at(p, "rsqrt", "f32", "cuda", 0),
                        "overlay cuda core.rsqrt(x: f32)");
    assert_status(KILN_ENOTFOUND, kiln_package_function(&function, p->main,
                                                        "norm", &test_error));
}

static void own_definition_shadows_a_name_of_the_runtime_library(void **state)
{
    program *p = *state;
    kiln_package *core;
    kiln__source *source = NULL;
    const char *text = "fn library_helper(x: f32) = x\n";

    assert_ok(kiln_package_find(&core, p->context, "core"));
    assert_ok(kiln__source_parse(&source, p->language->alloc, "core.kiln", text,
                                 strlen(text), &test_error));
    assert_ok(kiln__define_first(core, source, &test_error));
    program_define(p, "fn library_helper(x) = x\n");

    assert_string_equal(program_pick(p, "library_helper", "f32"),
                        "main.library_helper(x)");
}

static void a_deleted_method_is_gone_and_so_is_its_name(void **state)
{
    program *p = *state;
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    const kiln_function *function;

    program_define(p, "fn f(a: f32[:], b: T) where T: Real = 1\n"
                      "fn f(a, b) = 2\n"
                      "overlay gpu fn f(a, b) = 3\n");
    assert_ok(kiln_package_function(&function, p->main, "f", &test_error));

    assert_fails(KILN_ENOTFOUND, "main.f(a: f32[:], b: T) where T: Real",
                 kiln_method_delete(p->main, function, "f32[:], f32", NULL,
                                    NULL, &test_error));
    assert_ok(kiln_method_delete(p->main, function, "f32[:], T", NULL, &report,
                                 &test_error));
    assert_int_equal(report.methods_removed, 1);
    kiln_change_report_dispose(&report);
    assert_string_equal(program_pick(p, "f", "f32[:]; f32"), "main.f(a, b)");

    assert_ok(kiln_method_delete(p->main, function, "Any, Any", NULL, NULL,
                                 &test_error));
    assert_string_equal(program_pick(p, "f", "f32[:]; f32"), "none");
    assert_ok(kiln_method_delete(p->main, function, "Any,Any", "gpu", NULL,
                                 &test_error));
    assert_status(KILN_ENOTFOUND,
                  kiln_package_function(&function, p->main, "f", &test_error));
}

static void unloading_removes_everything_everywhere(void **state)
{
    program *p = *state;
    kiln_package *geometry = program_package(p, "geometry"), *found;
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;
    const kiln_type *type;

    program_define(p, "fn f(x) = 1\n");
    program_define_in(geometry,
                      "import main\nstruct Point\n x: f32\nend\n"
                      "fn main.f(x: Point) = 2\nfn g(x) = 1\n",
                      NULL);
    assert_string_equal(program_pick(p, "f", "geometry.Point"),
                        "main.f(x: Point)");

    assert_ok(kiln_package_unload(geometry, &report, &test_error));

    assert_int_equal(report.methods_removed, 2);
    kiln_change_report_dispose(&report);
    assert_status(KILN_ENOTFOUND,
                  kiln_package_find(&found, p->context, "geometry"));
    assert_int_not_equal(
        kiln_type_parse(&type, p->context, p->main, "geometry.Point", NULL),
        KILN_OK);
    assert_status(KILN_EINVAL,
                  kiln_package_unload(geometry, NULL, &test_error));
    assert_status(KILN_EINVAL,
                  kiln_package_define(geometry, "x", "", 0, NULL, &test_error));

    geometry = program_package(p, "geometry");
    program_define_in(geometry, "struct Point\n y: f64\nend\n", NULL);
    assert_string_equal(program_pick(p, "f", "geometry.Point"), "main.f(x)");
}

static void structs_make_types_with_their_layout(void **state)
{
    program *p = *state;
    const kiln_type *type;

    program_define(p, "const N = 2\n"
                      "struct Complex{T}\n re: T\n im: T\nend\n"
                      "struct Box\n c: Complex{f64}\n v: Vec{f32, N}\nend\n");
    type = program_type(p, "Box");

    assert_string_equal(kiln_type_text(type), "main.Box");
    assert_int_equal(kiln_type_size(type), 24);
    assert_ptr_equal(kiln_type_field(type, 0),
                     program_type(p, "main.Complex{f64}"));
    assert_string_equal(kiln_type_field_name(type, 1), "v");
}

static void redefined_field_gives_the_outer_struct_another_type(void **state)
{
    program *p = *state;
    kiln_package *other = program_package(p, "other");
    const kiln_type *before;

    program_define(p, "struct Inner\n x: f32\nend\n");
    program_define_in(other,
                      "import main: Inner\nstruct Outer\n i: Inner\nend\n"
                      "struct Far\n o: Outer\nend\n",
                      NULL);
    before = program_type(p, "other.Far");
    assert_int_equal(kiln_type_size(before), 4);

    program_define(p, "struct Inner\n x: f64\nend\n");

    assert_int_equal(kiln_type_size(program_type(p, "other.Far")), 8);
    program_define(p, "struct Inner\n x: f32\nend\n");
    assert_ptr_equal(program_type(p, "other.Far"), before);
}

static void structs_are_inferred_from_their_fields(void **state)
{
    program *p = *state;
    const kiln_type *f32 = program_type(p, "f32"),
                    *i64 = program_type(p, "i64");
    kiln__argument fields[2] = {{f32, 0}, {i64, KILN__LITERAL_INTEGER}};
    kiln__facts facts = {.language = p->language};
    kiln__binding binding;
    const kiln_type *type;

    program_define(p, "struct Complex{T}\n re: T\n im: T\nend\n"
                      "struct Small{T: Integer}\n x: T\nend\n");
    facts.world = kiln__language_world(p->language);

    assert_ok(kiln__ask_binding(&binding, &facts, p->main, "Complex"));
    assert_ok(kiln__ask_fields(&type, &facts, binding.named, fields, 2));
    assert_string_equal(kiln_type_text(type), "main.Complex{f32}");
    fields[1].literal = 0;
    assert_status(KILN_ENOTFOUND,
                  kiln__ask_fields(&type, &facts, binding.named, fields, 2));
    assert_ok(kiln__ask_binding(&binding, &facts, p->main, "Small"));
    assert_status(KILN_ENOTFOUND,
                  kiln__ask_fields(&type, &facts, binding.named, fields, 1));
    assert_status(KILN_ECOMPILE, kiln__ask_struct(&type, &facts, binding.named,
                                                  &f32, 1, &test_error));
}

static void package_names_are_checked(void **state)
{
    program *p = *state;
    kiln_package *package;

    assert_status(KILN_EINVAL,
                  kiln_package_new(&package, p->context, "", &test_error));
    assert_status(KILN_EINVAL,
                  kiln_package_new(&package, p->context, "a.b", &test_error));
    assert_status(KILN_EINVAL,
                  kiln_package_new(&package, p->context, "9a", &test_error));
    assert_status(KILN_EINVAL,
                  kiln_package_new(&package, p->context, "core", &test_error));
    assert_ok(kiln_package_new(&package, p->context, "main", &test_error));
    assert_ptr_equal(package, p->main);
}

/* ---- files ---- */

static void write_text(const char *folder, const char *name, const char *text,
                       char *path, size_t capacity)
{
    harness_write_file(path, capacity, folder, name, text, strlen(text));
}

static void loading_a_file_loads_what_it_imports(void **state)
{
    kiln_context *context = NULL;
    kiln_package *package = NULL, *other = NULL;
    const char *folder = *state;
    char path[512], first[512];

    write_text(folder, "shapes.kiln", "import vectors: dot\nfn f(a) = 1\n",
               first, sizeof first);
    write_text(folder, "vectors.kiln", "import shapes\nfn dot(a, b) = 1\n",
               path, sizeof path);
    assert_ok(kiln_context_new(&context, NULL, &test_error));

    assert_ok(kiln_package_load(&package, context, first, NULL, &test_error));

    assert_string_equal(kiln_package_name(package), "shapes");
    assert_ok(kiln_package_find(&other, context, "vectors"));
    kiln_context_free(context);
}

static void imports_are_looked_for_along_the_path(void **state)
{
    kiln_context *context = NULL;
    kiln_package *package = NULL;
    const char *folder = *state;
    char far[256], path[512], first[512];

    assert_true(snprintf(far, sizeof far, "%s/far", folder) < (int)sizeof far);
    assert_int_equal(mkdir(far, 0700), 0);
    write_text(far, "far.kiln", "fn f(a) = 1\n", path, sizeof path);
    write_text(folder, "near.kiln", "import far: f\n", first, sizeof first);

    unsetenv("KILN_PATH");
    assert_ok(kiln_context_new(&context, NULL, &test_error));
    assert_status(KILN_ECOMPILE, kiln_package_load(&package, context, first,
                                                   NULL, &test_error));
    assert_status(KILN_ENOTFOUND, kiln_package_find(&package, context, "near"));
    kiln_context_free(context);

    assert_int_equal(setenv("KILN_PATH", far, 1), 0);
    assert_ok(kiln_context_new(&context, NULL, &test_error));
    assert_ok(kiln_package_load(&package, context, first, NULL, &test_error));
    kiln_context_free(context);
    unsetenv("KILN_PATH");
}

static void files_that_cannot_be_read_or_parsed_are_errors(void **state)
{
    kiln_context *context = NULL;
    kiln_package *package = NULL;
    const char *folder = *state;
    char path[512];

    assert_ok(kiln_context_new(&context, NULL, &test_error));
    assert_fails(KILN_EIO, "/nowhere/x.kiln",
                 kiln_package_load(&package, context, "/nowhere/x.kiln", NULL,
                                   &test_error));
    write_text(folder, "bad.kiln", "fn (\n", path, sizeof path);
    assert_status(KILN_ESYNTAX, kiln_package_load(&package, context, path, NULL,
                                                  &test_error));
    write_text(folder, "top.kiln", "import bad\n", path, sizeof path);
    assert_status(KILN_ESYNTAX, kiln_package_load(&package, context, path, NULL,
                                                  &test_error));
    write_text(folder, "not-a-name.kiln", "", path, sizeof path);
    assert_status(KILN_EINVAL, kiln_package_load(&package, context, path, NULL,
                                                 &test_error));
    kiln_context_free(context);
}

/* ---- memory ---- */

static kiln_status change_everything(const kiln_alloc *alloc, void *env)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    const char *first = "import lib: g\nabstract A\n"
                        "struct S{T}: A\n x: T\nend\nconst C = 1\n"
                        "fn f(x: S{T}, y: T) where T: Real = 1\n"
                        "fn +(a: S, b: S) = a\nfn g(x: S) = 2\n";
    const char *second = "struct S{T}: A\n x: T\n y: T\nend\nconst C = 2\n"
                         "fn f(x: S{T}, y: T) where T: Real = 2\n";
    const kiln_function *function = NULL;
    kiln_context *context = NULL;
    kiln_package *lib = NULL, *package = NULL;
    kiln_status status;

    (void)env;
    options.alloc = alloc;
    status = kiln_context_new(&context, &options, NULL);
    if (status == KILN_OK)
        status = kiln_package_new(&lib, context, "lib", NULL);
    if (status == KILN_OK)
        status =
            kiln_package_define(lib, "lib.kiln", "fn g(x) = 1", 11, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_package_new(&package, context, "main", NULL);
    if (status == KILN_OK)
        status = kiln_package_define(package, "a.kiln", first, strlen(first),
                                     NULL, NULL);
    if (status == KILN_OK)
        status = kiln_package_define(package, "b.kiln", second, strlen(second),
                                     NULL, NULL);
    if (status == KILN_OK)
        status = kiln_package_function(&function, package, "f", NULL);
    if (status == KILN_OK)
        status =
            kiln_method_delete(package, function, "S{T}, T", NULL, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_package_unload(package, NULL, NULL);
    kiln_context_free(context);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;

    assert_survives_failing_alloc(change_everything, NULL);
}

static void a_change_that_fails_for_memory_can_be_made_again(void **state)
{
    const char *text = "struct S\n x: f32\nend\nconst C = 1\nfn f(x: S) = 1\n";
    kiln_status status = KILN_ENOMEM;
    failing_alloc failing;

    (void)state;
    failing_alloc_init(&failing, 0);
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;
    kiln_package *package = NULL;
    const kiln_function *function = NULL;

    options.alloc = &failing.alloc;
    assert_ok(kiln_context_new(&context, &options, &test_error));
    assert_ok(kiln_package_new(&package, context, "main", &test_error));
    for (uint64_t n = 1; status == KILN_ENOMEM; n++) {
        failing.fail_at = failing.calls + n;
        status = kiln_package_define(package, "a.kiln", text, strlen(text),
                                     NULL, NULL);
    }
    assert_int_equal(status, KILN_OK);
    assert_ok(kiln_package_function(&function, package, "f", &test_error));
    kiln_context_free(context);
    assert_nothing_leaked(&failing);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)
#define FILE_TEST(name) \
    cmocka_unit_test_setup_teardown(name, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(define_reports_what_it_did),
        TEST(defining_the_same_text_again_makes_no_world),
        TEST(a_faulty_text_changes_nothing),
        TEST(each_fault_of_a_definition_has_its_code),
        TEST(cycles_of_several_types_are_found),
        TEST(all_faults_of_a_text_are_told_at_once),
        TEST(unknown_names_come_with_a_suggestion),
        TEST(own_imported_and_builtin_functions_are_found),
        TEST(imported_and_builtin_functions_are_extended),
        TEST(own_definition_shadows_a_name_of_the_runtime_library),
        TEST(a_deleted_method_is_gone_and_so_is_its_name),
        TEST(unloading_removes_everything_everywhere),
        TEST(structs_make_types_with_their_layout),
        TEST(redefined_field_gives_the_outer_struct_another_type),
        TEST(structs_are_inferred_from_their_fields),
        TEST(package_names_are_checked),
        FILE_TEST(loading_a_file_loads_what_it_imports),
        FILE_TEST(imports_are_looked_for_along_the_path),
        FILE_TEST(files_that_cannot_be_read_or_parsed_are_errors),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_change_that_fails_for_memory_can_be_made_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
