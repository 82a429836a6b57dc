/* test_neutral.c - modules that are written once for all targets. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "abi/method_abi.h"
#include "support/codegen/neutral.h"

#define ID "declare i64 @kiln_global_id(i32)\n"

/* y[id] = 10 * y[id] + 1, the id asked for three calls deep. */
static const char deep[] =
    ID "define internal i64 @ask() noinline memory(none) {\n"
       "  %i = call i64 @kiln_global_id(i32 0)\n"
       "  ret i64 %i\n"
       "}\n"
       "define internal i32 @plain(i32 %x) noinline {\n"
       "  %y = mul i32 %x, 10\n"
       "  ret i32 %y\n"
       "}\n"
       "define internal void @store(ptr noalias %y, i32 %more) noinline {\n"
       "  %i = call i64 @ask()\n"
       "  %p = getelementptr i32, ptr %y, i64 %i\n"
       "  %v = load i32, ptr %p\n"
       "  %w = call i32 @plain(i32 %v)\n"
       "  %s = add i32 %w, %more\n"
       "  store i32 %s, ptr %p\n"
       "  ret void\n"
       "}\n"
       "define void @k(ptr %y, i64 %n) {\n"
       "  call void @store(ptr %y, i32 1)\n"
       "  ret void\n"
       "}\n";

static void ids_are_known_at_any_depth(void **state)
{
    int32_t y[64];
    launch l;

    (void)state;
    assert_int_equal(neutral_run(y, deep, 64, 16, &l), 0);
    for (int32_t i = 0; i < 64; i++)
        assert_int_equal(y[i], 10 * i + 1);
}

static void one_module_is_for_all_targets(void **state)
{
    (void)state;
    neutral_accepted(deep);
}

static void functions_may_recurse(void **state)
{
    static const char module[] = ID "define internal i32 @sum(i32 %n) {\n"
                                    "  %i = call i64 @kiln_global_id(i32 0)\n"
                                    "  %last = icmp eq i32 %n, 0\n"
                                    "  br i1 %last, label %end, label %more\n"
                                    "more:\n"
                                    "  %m = sub i32 %n, 1\n"
                                    "  %s = call i32 @sum(i32 %m)\n"
                                    "  %j = trunc i64 %i to i32\n"
                                    "  %t = add i32 %s, %j\n"
                                    "  ret i32 %t\n"
                                    "end:\n"
                                    "  ret i32 0\n"
                                    "}\n"
                                    "define void @k(ptr %y, i64 %n) {\n"
                                    "  %i = call i64 @kiln_global_id(i32 0)\n"
                                    "  %p = getelementptr i32, ptr %y, i64 %i\n"
                                    "  %v = load i32, ptr %p\n"
                                    "  %s = call i32 @sum(i32 %v)\n"
                                    "  store i32 %s, ptr %p\n"
                                    "  ret void\n"
                                    "}\n";
    int32_t y[8];
    launch l;

    (void)state;
    assert_int_equal(neutral_run(y, module, 8, 8, &l), 0);
    for (int32_t i = 0; i < 8; i++)
        assert_int_equal(y[i], i * i);
}

static void a_pointer_to_a_function_with_ids_is_refused(void **state)
{
    (void)state;
    neutral_refused_on(
        ALL,
        ID "define internal void @f(ptr %y) {\n"
           "  %i = call i64 @kiln_global_id(i32 0)\n"
           "  %p = getelementptr i32, ptr %y, i64 %i\n"
           "  store i32 0, ptr %p\n"
           "  ret void\n"
           "}\n"
           "define void @k(ptr %y, i64 %n) {\n"
           "  %odd = trunc i64 %n to i1\n"
           "  %g = select i1 %odd, ptr @f, ptr null\n"
           "  call void %g(ptr %y)\n"
           "  ret void\n"
           "}\n",
        "function 'f' of the module: its address is taken, and ");
}

/* ---- the entry ---- */

static void parameters_must_fit_the_arguments(void **state)
{
    (void)state;
    neutral_refused_on(ALL, "define void @k(ptr %y) { ret void }\n",
                       "parameter 2, for argument 1 (i32[:]): there is none");
    neutral_refused_on(ALL, "define void @k(i64 %y, i64 %n) { ret void }\n",
                       "the data of an array is a pointer");
    neutral_refused_on(ALL, "define void @k(ptr %y, i32 %n) { ret void }\n",
                       "sizes and strides of an array are i64");
    neutral_refused_on(ALL,
                       "define void @k(ptr %y, i64 %n, i32 %m) { ret void }\n",
                       "has 3 parameters, and its arguments take 2");
    neutral_refused_on(ALL,
                       "define void @k(ptr %y, i64 %n, ...) { ret void }\n",
                       "takes variable arguments");
}

/* Arguments that the bound form passes as bytes. */
static const char *const bytes_types[] = {"i32[:]", "Pair", "Lanes"};
static const uint64_t bytes_sizes[] = {16, 8, 16};
static const uint64_t bytes_alignments[] = {8, 4, 4};

static void build_bytes(outcome *o, const foreign_target *target,
                        const char *module, int32_t form)
{
    prepare(o, module, form, bytes_types, 3);
    foreign_settings(o, target);
    o->request.argument_sizes = bytes_sizes;
    o->request.argument_alignments = bytes_alignments;
    run(o);
}

/* The pair is changed, which only this item may see. */
static const char bytes_module[] =
    ID "define void @k(ptr %y, i64 %n, ptr byval({i32, i32}) align 4 %pair,\n"
       "               <4 x i32> %lanes) {\n"
       "  %a = load i32, ptr %pair\n"
       "  %b = add i32 %a, 1\n"
       "  store i32 %b, ptr %pair\n"
       "  %q = getelementptr i32, ptr %pair, i64 1\n"
       "  %c = load i32, ptr %q\n"
       "  %d = load i32, ptr %pair\n"
       "  %l = extractelement <4 x i32> %lanes, i32 3\n"
       "  %s = add i32 %c, %d\n"
       "  %t = add i32 %s, %l\n"
       "  %i = call i64 @kiln_global_id(i32 0)\n"
       "  %p = getelementptr i32, ptr %y, i64 %i\n"
       "  store i32 %t, ptr %p\n"
       "  ret void\n"
       "}\n";

static void bytes_are_copies_or_values(void **state)
{
    int32_t y[8] = {0};
    const struct {
        int32_t *data;
        int64_t n;
        int32_t pair[2];
        int32_t lanes[4];
    } arguments = {y, 8, {100, 20}, {1, 2, 3, 4}};
    launch l = make_launch(8, 1, 1, 4, 1, 1);
    outcome o;

    (void)state;
    build_bytes(&o, foreign_target_of(HOST), bytes_module, KILN_EMIT_BINARY);
    if (o.status != KILN_OK)
        fail_msg("%s", o.message);
    assert_int_equal(run_image(&o, &l, &arguments), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(y[i], 125);
    assert_int_equal(arguments.pair[0], 100);
    free(o.bytes);
}

/* A strided array, what has no bytes, and a truth value. */
static void arguments_are_passed_in_order(void **state)
{
    static const char *const types[] = {"i32[strided :]", "()", "Bool"};
    static const uint64_t sizes[] = {24, 0, 1}, alignments[] = {8, 1, 1};
    static const char module[] =
        ID "define void @k(ptr %y, i64 %n, i64 %stride, i8 %flag) {\n"
           "  %i = call i64 @kiln_global_id(i32 0)\n"
           "  %at = mul i64 %i, %stride\n"
           "  %p = getelementptr i32, ptr %y, i64 %at\n"
           "  %f = zext i8 %flag to i64\n"
           "  %v = add i64 %n, %f\n"
           "  %w = trunc i64 %v to i32\n"
           "  store i32 %w, ptr %p\n"
           "  ret void\n"
           "}\n";
    int32_t y[8] = {0};
    const struct {
        int32_t *data;
        int64_t n, stride;
        uint8_t flag;
    } arguments = {y, 4, 2, 1};
    launch l = make_launch(4, 1, 1, 4, 1, 1);
    outcome o;

    (void)state;
    prepare(&o, module, KILN_EMIT_BINARY, types, 3);
    foreign_settings(&o, foreign_target_of(HOST));
    o.request.argument_sizes = sizes;
    o.request.argument_alignments = alignments;
    run(&o);
    if (o.status != KILN_OK)
        fail_msg("%s", o.message);
    assert_int_equal(run_image(&o, &l, &arguments), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(y[i], i % 2 == 0 ? 5 : 0);
    free(o.bytes);
}

static void bytes_are_for_all_targets(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const foreign_target *target = &foreign_targets[i];
        outcome o;

        build_bytes(&o, target, bytes_module, target->form);
        if (o.status != KILN_OK)
            fail_msg("%s: %s", target->backend, o.message);
        free(o.bytes);
    }
}

static void bytes_of_another_size_are_refused(void **state)
{
    outcome o;

    (void)state;
    build_bytes(&o, foreign_target_of(HOST),
                "define void @k(ptr %y, i64 %n, ptr byval([3 x i32]) %pair,\n"
                "               <4 x i32> %lanes) { ret void }\n",
                KILN_EMIT_BINARY);
    assert_contains(o.message, "byval() is larger than the argument");
    build_bytes(&o, foreign_target_of(HOST),
                "define void @k(ptr %y, i64 %n, i64 %pair,\n"
                "               <3 x i32> %lanes) { ret void }\n",
                KILN_EMIT_BINARY);
    assert_contains(o.message, "its value has another size");
}

/* ---- exceptions ---- */

/* Raises in items above 5, two calls deep, and in a recursion. */
static const char raising[] =
    ID "declare void @kiln_raise(i32, ptr, i32, ptr, i64, i64) cold noreturn\n"
       "@method = private constant [4 x i8] c\"f.x\\00\"\n"
       "@message = private constant [5 x i8] c\"high\\00\"\n"
       "define internal void @fail(i64 %i) cold noinline noreturn {\n"
       "  call void @kiln_raise(i32 6, ptr @method, i32 3, ptr @message,\n"
       "                        i64 %i, i64 7)\n"
       "  unreachable\n"
       "}\n"
       "define internal i32 @check(i64 %i, i64 %depth) noinline {\n"
       "  %low = icmp ule i64 %i, 5\n"
       "  br i1 %low, label %fine, label %bad\n"
       "bad:\n"
       "  %end = icmp eq i64 %depth, 0\n"
       "  br i1 %end, label %now, label %deeper\n"
       "deeper:\n"
       "  %d = sub i64 %depth, 1\n"
       "  %r = call i32 @check(i64 %i, i64 %d)\n"
       "  ret i32 %r\n"
       "now:\n"
       "  call void @fail(i64 %i)\n"
       "  unreachable\n"
       "fine:\n"
       "  ret i32 100\n"
       "}\n"
       "define void @k(ptr %y, i64 %n) {\n"
       "  %i = call i64 @kiln_global_id(i32 0)\n"
       "  %v = call i32 @check(i64 %i, i64 3)\n"
       "  %p = getelementptr i32, ptr %y, i64 %i\n"
       "  store i32 %v, ptr %p\n"
       "  ret void\n"
       "}\n";

static void an_exception_leaves_all_callers(void **state)
{
    int32_t y[8];
    launch l;

    (void)state;
    assert_int_equal(neutral_run(y, raising, 8, 8, &l), 1);
    assert_int_equal(l.raised, 1);
    assert_int_equal(l.kind, 6);
    assert_int_equal(l.ordinal, 3);
    assert_string_equal(l.method, "f.x");
    assert_string_equal(l.message, "high");
    assert_int_equal(l.values[0], 6);
    assert_int_equal(l.values[1], 7);
    for (int i = 0; i < 6; i++)
        assert_int_equal(y[i], 100);
    assert_int_equal(y[6], 6);
    assert_int_equal(neutral_run(y, raising, 6, 6, &l), 0);
    assert_int_equal(l.raised, 0);
}

static void exceptions_are_for_all_targets(void **state)
{
    static const char name[] = "@check";
    char module[sizeof raising];

    (void)state;
    neutral_refused_on(SPIRV, raising, "recursion: check -> check");
    /* without the recursion */
    memcpy(module, raising, sizeof raising);
    memcpy(strstr(strstr(module, "%r = call"), name), "@other", 6);
    {
        char text[sizeof raising + 64];

        snprintf(text, sizeof text, "%s%s", module,
                 "define internal i32 @other(i64 %i, i64 %d) { ret i32 1 }\n");
        neutral_accepted(text);
    }
}

/* What ends a program elsewhere is an exception here. */
static void assert_ends(const char *declaration, const char *call,
                        const char *message)
{
    char module[1024];
    int32_t y[4];
    launch l;

    snprintf(module, sizeof module,
             ID "%s\n"
                "define internal i32 @ask(i64 %%i) noinline {\n"
                "  %%bad = icmp eq i64 %%i, 2\n"
                "  br i1 %%bad, label %%no, label %%yes\n"
                "no:\n"
                "  %s\n"
                "  unreachable\n"
                "yes:\n"
                "  ret i32 9\n"
                "}\n"
                "define void @k(ptr %%y, i64 %%n) {\n"
                "  %%i = call i64 @kiln_global_id(i32 0)\n"
                "  %%v = call i32 @ask(i64 %%i)\n"
                "  %%p = getelementptr i32, ptr %%y, i64 %%i\n"
                "  store i32 %%v, ptr %%p\n"
                "  ret void\n"
                "}\n",
             declaration, call);
    assert_int_equal(neutral_run(y, module, 4, 4, &l), 1);
    assert_int_equal(l.kind, 6);
    assert_string_equal(l.method, "ask");
    assert_string_equal(l.message, message);
    assert_int_equal(y[1], 9);
    assert_int_equal(y[2], 2);
    neutral_accepted(module);
}

static void what_ends_a_program_raises(void **state)
{
    (void)state;
    assert_ends("declare void @llvm.trap()", "call void @llvm.trap()", "trap");
    assert_ends("declare void @llvm.ubsantrap(i8)",
                "call void @llvm.ubsantrap(i8 3)", "trap");
    assert_ends("declare void @abort() noreturn", "call void @abort()",
                "abort() was called");
    assert_ends("declare i32 @give_up(ptr)",
                "%v = call i32 @give_up(ptr null) noreturn",
                "give_up() was called");
}

/* An exception without a method gets the function's name, and the place that
   debug information gives. */
static void an_exception_has_the_modules_place(void **state)
{
    static const char module[] =
        "declare void @kiln_raise(i32, ptr, i32, ptr, i64, i64) noreturn\n"
        "define void @f(i64 %n) noinline !dbg !4 {\n"
        "  call void @kiln_raise(i32 6, ptr null, i32 0, ptr null, i64 %n,\n"
        "                        i64 0), !dbg !7\n"
        "  unreachable, !dbg !7\n"
        "}\n"
        "define void @k(ptr %y, i64 %n) {\n"
        "  call void @f(i64 %n)\n"
        "  unreachable\n"
        "}\n"
        "!llvm.dbg.cu = !{!0}\n"
        "!llvm.module.flags = !{!2}\n"
        "!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1)\n"
        "!1 = !DIFile(filename: \"work.jl\", directory: \"/\")\n"
        "!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
        "!3 = !DISubroutineType(types: !{null})\n"
        "!4 = distinct !DISubprogram(name: \"f\", scope: !1, file: !1,\n"
        "      line: 10, type: !3, unit: !0, spFlags: DISPFlagDefinition)\n"
        "!7 = !DILocation(line: 12, column: 5, scope: !4)\n";
    kiln_location place;
    int32_t y[1];
    launch l;

    (void)state;
    assert_int_equal(neutral_run(y, module, 1, 1, &l), 1);
    assert_string_equal(l.method, "f#@12:5:work.jl");
    assert_true(kiln__method_place(l.method, &place));
    assert_int_equal(place.line, 12);
    assert_int_equal(place.column, 5);
    assert_string_equal(place.file, "work.jl");
    assert_false(kiln__method_place("f#12:5:work.jl", &place));
    assert_false(kiln__method_place("f#@12", &place));
}

static void a_pointer_to_a_function_that_raises_is_refused(void **state)
{
    (void)state;
    neutral_refused_on(
        ALL,
        "declare void @abort() noreturn\n"
        "define internal void @f(ptr %y) {\n"
        "  call void @abort()\n"
        "  unreachable\n"
        "}\n"
        "define void @k(ptr %y, i64 %n) {\n"
        "  %odd = trunc i64 %n to i1\n"
        "  %g = select i1 %odd, ptr @f, ptr null\n"
        "  call void %g(ptr %y)\n"
        "  ret void\n"
        "}\n",
        "function 'f' of the module: its address is taken, and it may raise");
}

/* ---- findings ---- */

/* Two mistakes in a function that the entry reaches by another, and one in the
   entry; what nothing reaches has one more. */
static const char mistaken[] =
    "declare i64 @kiln_global_id(i32)\n"
    "@tls = internal thread_local global i32 5\n"
    "define internal void @deep(ptr %p) noinline !dbg !4 {\n"
    "  call void asm sideeffect \"\", \"\"(), !dbg !7\n"
    "  call void @other(), !dbg !8\n"
    "  ret void, !dbg !8\n"
    "}\n"
    "define internal fastcc void @other() noinline {\n"
    "  call void asm sideeffect \"\", \"\"()\n"
    "  ret void\n"
    "}\n"
    "define internal void @between(ptr %p) noinline !dbg !5 {\n"
    "  call void @deep(ptr %p), !dbg !9\n"
    "  ret void, !dbg !9\n"
    "}\n"
    "define internal void @dead() {\n"
    "  call void asm sideeffect \"\", \"\"()\n"
    "  ret void\n"
    "}\n"
    "define void @k(ptr %y, i64 %n) {\n"
    "  call void @between(ptr %y)\n"
    "  %t = load i32, ptr @tls\n"
    "  store volatile i32 %t, ptr @tls\n"
    "  ret void\n"
    "}\n"
    "!llvm.dbg.cu = !{!0}\n"
    "!llvm.module.flags = !{!2}\n"
    "!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1)\n"
    "!1 = !DIFile(filename: \"work.jl\", directory: \"/\")\n"
    "!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
    "!3 = !DISubroutineType(types: !{null})\n"
    "!4 = distinct !DISubprogram(name: \"deep\", scope: !1, file: !1,\n"
    "  line: 3, type: !3, spFlags: DISPFlagDefinition, unit: !0)\n"
    "!5 = distinct !DISubprogram(name: \"between\", scope: !1, file: !1,\n"
    "  line: 20, type: !3, spFlags: DISPFlagDefinition, unit: !0)\n"
    "!7 = !DILocation(line: 4, column: 9, scope: !4)\n"
    "!8 = !DILocation(line: 5, column: 7, scope: !4)\n"
    "!9 = !DILocation(line: 21, column: 3, scope: !5)\n";

static void all_that_is_wrong_is_told_with_its_place(void **state)
{
    static const char *const told[] = {
        "variable 'tls' of the module: it is thread-local; ",
        "function 'deep' of the module: it contains assembly at work.jl:4:9, "
        "called by 'between' at work.jl:21:3, by '",
        "function 'deep' of the module calls 'other': it has another calling "
        "convention at work.jl:5:7, called by 'between'",
        "function 'other' of the module: it contains assembly, called by "
        "'deep' at work.jl:5:7, by 'between' at work.jl:21:3, by '"};

    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (uint8_t level = 0; level < 2; level++) {
            outcome o;

            neutral_build(&o, &foreign_targets[i], mistaken,
                          foreign_targets[i].form, level);
            assert_int_equal(o.status, KILN_ECODEGEN);
            for (size_t t = 0; t < sizeof told / sizeof *told; t++)
                assert_contains(o.message, told[t]);
            assert_null(strstr(o.message, "dead"));
        }
}

/* What is found before anything is changed. */
static const char misplaced[] =
    "declare void @kiln_fence(i32, i32, i32)\n"
    "define internal void @deep() noinline !dbg !4 {\n"
    "  %q = addrspacecast ptr null to ptr addrspace(7), !dbg !7\n"
    "  fence syncscope(\"quad\") seq_cst, !dbg !8\n"
    "  ret void, !dbg !8\n"
    "}\n"
    "define void @k(ENTRY) {\n"
    "  call void @deep()\n"
    "  ret void\n"
    "}\n"
    "!llvm.dbg.cu = !{!0}\n"
    "!llvm.module.flags = !{!2}\n"
    "!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1)\n"
    "!1 = !DIFile(filename: \"work.jl\", directory: \"/\")\n"
    "!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
    "!3 = !DISubroutineType(types: !{null})\n"
    "!4 = distinct !DISubprogram(name: \"deep\", scope: !1, file: !1,\n"
    "  line: 3, type: !3, spFlags: DISPFlagDefinition, unit: !0)\n"
    "!7 = !DILocation(line: 4, column: 9, scope: !4)\n"
    "!8 = !DILocation(line: 5, column: 7, scope: !4)\n";

static void early_checks_tell_all_of_it(void **state)
{
    static const char *const told[] = {
        "parameter 1, for argument 1 (i32[:]): the data of an array is a "
        "pointer; ",
        "function 'deep' of the module: it has pointers of address space 7, "
        "and 0, 1, 3, 4 and 5 have a meaning at work.jl:4:9, called by 'k'; ",
        "function 'deep' of the module: it has atomics of the scope 'quad'; "
        "there are 'subgroup', 'workgroup', 'agent' and the system's, which "
        "has no name at work.jl:5:7, called by 'k'"};
    static char module[FOREIGN_TEXT_MAX];
    const char *entry = strstr(misplaced, "ENTRY");

    (void)state;
    (void)snprintf(module, sizeof module, "%.*si64 %%y, i64 %%n%s",
                   (int)(entry - misplaced), misplaced, entry + 5);
    for (size_t i = 0; i < 3; i++)
        neutral_refused_on(ALL, module, told[i]);
}

/* Two calls that fit no device function, in two functions. */
static void calls_of_device_functions_have_their_place(void **state)
{
    static const char module[] = "declare void @kiln_barrier(i32, i32)\n"
                                 "define internal void @deep() noinline {\n"
                                 "  call void @kiln_barrier(i32 7, i32 1)\n"
                                 "  ret void\n"
                                 "}\n"
                                 "define internal void @between() noinline {\n"
                                 "  call void @deep()\n"
                                 "  call void @kiln_barrier(i32 8, i32 1)\n"
                                 "  ret void\n"
                                 "}\n"
                                 "define void @k(ptr %y, i64 %n) {\n"
                                 "  call void @between()\n"
                                 "  ret void\n"
                                 "}\n";

    (void)state;
    neutral_refused_on(ALL, module,
                       "1 (sub-group) or 2 (group), called by 'deep', by "
                       "'between', by 'k");
    neutral_refused_on(ALL, module,
                       "1 (sub-group) or 2 (group), called by 'between', by "
                       "'k");
}

/* As Numba's inspect_llvm() gives it, with an entry around: a wrapper for the
   interpreter, an environment and the runtime's functions are not reached. */
static void raw_code_of_an_interpreters_compiler_goes_through(void **state)
{
    static const char module[] =
        "source_filename = \"<string>\"\n"
        "target triple = \"x86_64-unknown-linux-gnu\"\n"
        "@_ZN08NumbaEnvB2v1E = common local_unnamed_addr global ptr null\n"
        "@.const.add = internal constant [4 x i8] c\"add\\00\"\n"
        "@PyExc_RuntimeError = external global i8\n"
        "define i32 @_ZN8__main__3addB2v1Exx(ptr noalias writeonly %retptr,\n"
        "    ptr noalias readnone %excinfo, i64 %a, i64 %b)\n"
        "    local_unnamed_addr #0 {\n"
        "  %s = add nsw i64 %b, %a\n"
        "  store i64 %s, ptr %retptr, align 8\n"
        "  ret i32 0\n"
        "}\n"
        "define ptr @_ZN7cpython8__main__3addB2v1Exx(ptr %self, ptr %args,\n"
        "    ptr nocapture readnone %kws) local_unnamed_addr {\n"
        "  %buf = alloca ptr, align 8\n"
        "  %n = call i32 (ptr, ptr, i64, i64, ...) @PyArg_UnpackTuple(\n"
        "    ptr %args, ptr @.const.add, i64 2, i64 2, ptr %buf)\n"
        "  %env = load ptr, ptr @_ZN08NumbaEnvB2v1E, align 8\n"
        "  call void @PyErr_SetString(ptr @PyExc_RuntimeError, ptr %env)\n"
        "  ret ptr null\n"
        "}\n"
        "define linkonce_odr void @NRT_decref(ptr %p) noinline nounwind {\n"
        "  %old = atomicrmw sub ptr %p, i64 1 monotonic\n"
        "  call void @NRT_MemInfo_call_dtor(ptr %p)\n"
        "  ret void\n"
        "}\n"
        "declare i32 @PyArg_UnpackTuple(ptr, ptr, i64, i64, ...)\n"
        "declare void @PyErr_SetString(ptr, ptr)\n"
        "declare void @NRT_MemInfo_call_dtor(ptr)\n"
        "declare i64 @kiln_global_id(i32)\n"
        "define void @k(ptr %y, i64 %n) {\n"
        "  %r = alloca i64, align 8\n"
        "  %i = call i64 @kiln_global_id(i32 0)\n"
        "  %status = call i32 @_ZN8__main__3addB2v1Exx(ptr %r, ptr null,\n"
        "    i64 %i, i64 40)\n"
        "  %v = load i64, ptr %r\n"
        "  %w = trunc i64 %v to i32\n"
        "  %p = getelementptr i32, ptr %y, i64 %i\n"
        "  store i32 %w, ptr %p\n"
        "  ret void\n"
        "}\n"
        "attributes #0 = { mustprogress nofree nounwind willreturn\n"
        "  \"target-cpu\"=\"znver3\" }\n"
        "!numba.args_may_always_need_nrt = !{!0}\n"
        "!0 = !{}\n";
    int32_t y[4] = {0};
    launch l;

    (void)state;
    neutral_accepted(module);
    assert_int_equal(neutral_run(y, module, 4, 4, &l), 0);
    assert_int_equal(y[3], 43);
}

/* Kiln's own functions, whose names C cannot have, and labels can. */
static void names_of_kilns_own_are_refused(void **state)
{
    (void)state;
    neutral_refused_on(ALL,
                       "declare i1 @kiln_0meet()\n"
                       "define void @k(ptr %y, i64 %n) {\n"
                       "  %b = call i1 @kiln_0meet()\n"
                       "  ret void\n"
                       "}\n",
                       "'kiln_0meet': the module may not have such a name");
    neutral_refused_on(ALL,
                       "declare void @kiln_0raised()\n"
                       "define void @k(ptr %y, i64 %n) {\n"
                       "  call void @kiln_0raised()\n"
                       "  ret void\n"
                       "}\n",
                       "'kiln_0raised': the module may not have such a name");
    neutral_refused_on(ALL,
                       "@kiln_0meet = internal constant i32 3\n"
                       "define void @k(ptr %y, i64 %n) {\n"
                       "  %v = load i32, ptr @kiln_0meet\n"
                       "  store i32 %v, ptr %y\n"
                       "  ret void\n"
                       "}\n",
                       "'kiln_0meet': the module may not have such a name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_known_at_any_depth),
        cmocka_unit_test(one_module_is_for_all_targets),
        cmocka_unit_test(functions_may_recurse),
        cmocka_unit_test(a_pointer_to_a_function_with_ids_is_refused),
        cmocka_unit_test(parameters_must_fit_the_arguments),
        cmocka_unit_test(bytes_are_copies_or_values),
        cmocka_unit_test(arguments_are_passed_in_order),
        cmocka_unit_test(bytes_are_for_all_targets),
        cmocka_unit_test(bytes_of_another_size_are_refused),
        cmocka_unit_test(an_exception_leaves_all_callers),
        cmocka_unit_test(exceptions_are_for_all_targets),
        cmocka_unit_test(what_ends_a_program_raises),
        cmocka_unit_test(an_exception_has_the_modules_place),
        cmocka_unit_test(a_pointer_to_a_function_that_raises_is_refused),
        cmocka_unit_test(all_that_is_wrong_is_told_with_its_place),
        cmocka_unit_test(early_checks_tell_all_of_it),
        cmocka_unit_test(calls_of_device_functions_have_their_place),
        cmocka_unit_test(names_of_kilns_own_are_refused),
        cmocka_unit_test(raw_code_of_an_interpreters_compiler_goes_through),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
