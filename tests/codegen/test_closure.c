/* test_closure.c - one function of a library, with all that it needs. */
/* LABELS: unit codegen */
/* LINKS: codegen */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>

#include "support/codegen/request.h"

static const char library[] =
    "@table = internal constant [2 x float] [float 2.0, float 3.0]\n"
    "@other = internal constant i32 7\n"
    "@shared = global i32 1\n"
    "declare double @cbrt(double)\n"
    "declare float @llvm.fma.f32(float, float, float)\n"
    "define internal float @helper(i64 %i) {\n"
    "  %p = getelementptr float, ptr @table, i64 %i\n"
    "  %v = load float, ptr %p\n"
    "  ret float %v\n"
    "}\n"
    "define linkonce_odr float @second(float %x) {\n"
    "  %h = call float @helper(i64 1)\n"
    "  %r = call float @llvm.fma.f32(float %h, float %x, float %x)\n"
    "  ret float %r\n"
    "}\n"
    "define float @first(float %x) {\n"
    "  %h = call float @helper(i64 0)\n"
    "  %s = call float @second(float %x)\n"
    "  %r = fadd float %h, %s\n"
    "  ret float %r\n"
    "}\n"
    "define float @unrelated(float %x) {\n"
    "  %v = load i32, ptr @other\n"
    "  ret float %x\n"
    "}\n"
    "define float @assembly(float %x) {\n"
    "  call void asm sideeffect \"nop\", \"\"()\n"
    "  ret float %x\n"
    "}\n"
    "@renamed = alias float (float), ptr @first\n";

/* ---- extracting ---- */

static void want(outcome *o, const char *bytes, size_t size, const char *name)
{
    prepare(o, bytes, KILN__EMIT_CLOSURE, NULL, 0);
    o->request.module_size = size;
    o->request.library = "tests";
    o->request.wanted = name;
    o->request.entry = "kiln_rt_wanted";
}

static void extract(outcome *o, const char *name)
{
    want(o, library, sizeof library - 1, name);
    assert_built(o);
}

typedef struct content {
    LLVMContextRef context;
    LLVMModuleRef module;
    size_t functions; /* defined */
    size_t variables;
    size_t visible; /* definitions that others see */
} content;

static void count_content(content *c)
{
    LLVMValueRef v;

    for (v = LLVMGetFirstFunction(c->module); v; v = LLVMGetNextFunction(v))
        if (!LLVMIsDeclaration(v)) {
            c->functions++;
            c->visible += LLVMGetLinkage(v) != LLVMInternalLinkage;
        }
    for (v = LLVMGetFirstGlobal(c->module); v; v = LLVMGetNextGlobal(v)) {
        c->variables++;
        c->visible += LLVMGetLinkage(v) != LLVMInternalLinkage &&
                      LLVMGetLinkage(v) != LLVMPrivateLinkage;
    }
}

/* Reads what came back, which must be a right module. */
static void read_content(content *c, const outcome *o)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(o->bytes, o->size, "closure", 0);

    *c = (content){.context = LLVMContextCreate()};
    assert_false(LLVMParseBitcodeInContext2(c->context, buffer, &c->module));
    LLVMDisposeMemoryBuffer(buffer);
    assert_false(LLVMVerifyModule(c->module, LLVMReturnStatusAction, NULL) !=
                 0);
    assert_non_null(LLVMGetNamedFunction(c->module, "kiln_rt_wanted"));
    count_content(c);
}

static void content_end(content *c, outcome *o)
{
    LLVMDisposeModule(c->module);
    LLVMContextDispose(c->context);
    free(o->bytes);
}

static void a_function_comes_with_what_it_needs_alone(void **state)
{
    content c;
    outcome o;

    (void)state;
    extract(&o, "first");
    read_content(&c, &o);

    assert_string_equal(o.format, "bitcode");
    assert_int_equal(c.functions, 3);
    assert_int_equal(c.variables, 1);
    assert_int_equal(c.visible, 1);
    assert_null(LLVMGetNamedFunction(c.module, "first"));
    content_end(&c, &o);
}

static void equal_input_gives_equal_bytes(void **state)
{
    outcome a, b;

    (void)state;
    extract(&a, "first");
    extract(&b, "first");

    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, a.size);
    free(a.bytes);
    free(b.bytes);
}

static void bitcode_is_read_as_text_is(void **state)
{
    outcome first, again;
    content c;

    (void)state;
    extract(&first, "first");
    want(&again, first.bytes, first.size, "kiln_rt_wanted");
    assert_built(&again);
    read_content(&c, &again);

    assert_int_equal(c.functions, 3);
    free(first.bytes);
    content_end(&c, &again);
}

static void assert_refused(const char *bytes, size_t size, const char *name,
                           kiln_status status, const char *words)
{
    outcome o;

    want(&o, bytes, size, name);
    run(&o);

    assert_int_equal(o.failed, 1);
    assert_int_equal(o.finished, 0);
    assert_int_equal(o.status, status);
    assert_contains(o.message, words);
    assert_null(strchr(o.message, '\n'));
}

static void what_cannot_be_taken_is_named(void **state)
{
    const size_t size = sizeof library - 1;
    outcome o;

    (void)state;
    assert_refused(library, size, "missing", KILN_ENOTFOUND,
                   "library tests: 'missing' is not defined");
    assert_refused(library, size, "cbrt", KILN_ENOTFOUND, "is not defined");
    assert_refused(library, size, "shared", KILN_ENOTFOUND, "is a variable");
    assert_refused(library, size, "renamed", KILN_ENOTFOUND, "is an alias");
    assert_refused(library, size, "assembly", KILN_ECODEGEN, "assembly");
    assert_refused("define float @f(", 16, "f", KILN_ECORRUPT,
                   "library tests: ");
    extract(&o, "first");
    /* A cut module, of which the beginning is right. */
    ((char *)o.bytes)[o.size / 2] = '\0';
    assert_refused(o.bytes, o.size / 2, "kiln_rt_wanted", KILN_ECORRUPT,
                   "library tests: ");
    free(o.bytes);
}

/* ---- linking ---- */

static const char kernel[] = "declare float @first(float)\n"
                             "define i32 @k(ptr %item, ptr %y, i64 %n) {\n"
                             "  %x = load float, ptr %y\n"
                             "  %r = call float @first(float %x)\n"
                             "  store float %r, ptr %y\n"
                             "  ret i32 0\n"
                             "}\n";

static const char *const floats[] = {"f32[:]"};

static void link_with(outcome *out, const char *module, const outcome *made,
                      kiln__codegen_import *import)
{
    *import = (kiln__codegen_import){.name = "first",
                                     .symbol = "kiln_rt_wanted",
                                     .bitcode = made->bytes,
                                     .bitcode_size = made->size};
    prepare(out, module, KILN_EMIT_BINARY, floats, 1);
    out->request.imports = import;
    out->request.import_count = 1;
}

static void a_kernel_runs_what_it_took(void **state)
{
    float y[1] = {5};
    const struct {
        float *y;
        int64_t n;
    } arguments = {y, 1};
    launch l = make_launch(1, 1, 1, 1, 1, 1);
    kiln__codegen_import import;
    outcome made, o;

    (void)state;
    extract(&made, "first");
    link_with(&o, kernel, &made, &import);
    assert_built(&o);
    assert_int_equal(run_image(&o, &l, &arguments), 0);

    assert_true(y[0] == 2 + (3 * 5 + 5));
    free(made.bytes);
    free(o.bytes);
}

static void two_closures_may_have_a_helper_of_one_name(void **state)
{
    static const char both[] = "declare float @first(float)\n"
                               "declare float @second(float)\n"
                               "define i32 @k(ptr %item, ptr %y, i64 %n) {\n"
                               "  %x = load float, ptr %y\n"
                               "  %a = call float @first(float %x)\n"
                               "  %r = call float @second(float %a)\n"
                               "  store float %r, ptr %y\n"
                               "  ret i32 0\n"
                               "}\n";
    float y[1] = {5};
    const struct {
        float *y;
        int64_t n;
    } arguments = {y, 1};
    launch l = make_launch(1, 1, 1, 1, 1, 1);
    kiln__codegen_import imports[2];
    outcome first, second, o;

    (void)state;
    extract(&first, "first");
    want(&second, library, sizeof library - 1, "second");
    second.request.entry = "kiln_rt_second";
    assert_built(&second);
    link_with(&o, both, &first, &imports[0]);
    imports[1] = (kiln__codegen_import){"second", "kiln_rt_second",
                                        second.bytes, second.size, 0};
    o.request.imports = imports;
    o.request.import_count = 2;
    assert_built(&o);
    assert_int_equal(run_image(&o, &l, &arguments), 0);

    assert_true(y[0] == 22 * 3 + 22);
    free(first.bytes);
    free(second.bytes);
    free(o.bytes);
}

static void assert_not_linked(const char *module, const outcome *made,
                              kiln_status status, const char *words)
{
    kiln__codegen_import import;
    outcome o;

    link_with(&o, module, made, &import);
    run(&o);

    assert_int_equal(o.status, status);
    assert_contains(o.message, words);
}

static void what_does_not_fit_is_not_linked(void **state)
{
    static const char other_type[] =
        "declare double @first(double)\n"
        "define i32 @k(ptr %item, ptr %y, i64 %n) {\n"
        "  %r = call double @first(double 1.0)\n"
        "  store double %r, ptr %y\n"
        "  ret i32 0\n"
        "}\n";
    static const char other_layout[] = "target datalayout = \"e-p:32:32\"\n"
                                       "define float @first(float %x) {\n"
                                       "  ret float %x\n"
                                       "}\n";
    static const char other_convention[] =
        "declare fastcc float @first(float)\n"
        "define i32 @k(ptr %item, ptr %y, i64 %n) {\n"
        "  %r = call fastcc float @first(float 1.0)\n"
        "  store float %r, ptr %y\n"
        "  ret i32 0\n"
        "}\n";
    outcome made;

    (void)state;
    extract(&made, "first");
    assert_not_linked(other_convention, &made, KILN_ECODEGEN,
                      "calling convention");
    assert_not_linked(other_type, &made, KILN_ECODEGEN,
                      "'first' is double (double) in the module and float "
                      "(float) in its library");
    free(made.bytes);
    want(&made, other_layout, sizeof other_layout - 1, "first");
    assert_built(&made);
    assert_not_linked(kernel, &made, KILN_ECODEGEN, "data layout");
    memset(made.bytes, 0, made.size);
    assert_not_linked(kernel, &made, KILN_ECODEGEN, "LLVM: ");
    free(made.bytes);
}

static void what_is_taken_from_nowhere_is_undefined(void **state)
{
    outcome o;

    (void)state;
    prepare(&o, kernel, KILN_EMIT_BINARY, floats, 1);
    run(&o);

    assert_int_equal(o.status, KILN_ECODEGEN);
    assert_contains(o.message, "undefined function 'first'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_comes_with_what_it_needs_alone),
        cmocka_unit_test(equal_input_gives_equal_bytes),
        cmocka_unit_test(bitcode_is_read_as_text_is),
        cmocka_unit_test(what_cannot_be_taken_is_named),
        cmocka_unit_test(a_kernel_runs_what_it_took),
        cmocka_unit_test(two_closures_may_have_a_helper_of_one_name),
        cmocka_unit_test(what_does_not_fit_is_not_linked),
        cmocka_unit_test(what_is_taken_from_nowhere_is_undefined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
