/* test_foreign_functions.c - what functions of foreign modules may contain. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host cuda rocm spirv */
/* LINKS: codegen */
#include "support/codegen/foreign.h"

#define STORE(type, value) "  store " type " " value ", @A %y\n"

/* ---- what means nothing to a kernel ---- */

/* Where arguments are in registers is Kiln's matter, and nothing checks
   calls. */
static void promises_to_linkers_and_callers_are_dropped(void **state)
{
    static const struct {
        const char *head, *body;
    } list[] = {
        {"define internal i32 @f(i32 inreg %v) noinline {\n"
         "  %r = lshr i32 %v, 8\n  ret i32 %r\n}\n",
         "  %v = load i32, @A %y\n"
         "  %r = call i32 @f(i32 inreg %v)\n" STORE("i32", "%r")},
        {"@a = global [2 x ptr] [ptr no_cfi @f1, ptr @f1]\n"
         "declare void @f1()\n",
         ""},
        {"declare <2 x float> @llvm.canonicalize.v2f32(<2 x float>)\n",
         "  %x = load <2 x float>, @A %y\n"
         "  %c = call <2 x float> @llvm.canonicalize.v2f32(<2 x float> "
         "%x)\n" STORE("<2 x float>", "%c")},
    };

    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        foreign_refused_on(0, list[i].head, list[i].body, "");
}

/* As compilers leave it that optimise nothing: the passes remove the call, and
   nobody has to define the function. */
static void functions_whose_results_nobody_takes_are_not_needed(void **state)
{
    (void)state;
    for (size_t t = 0; t < 4; t++) {
        outcome o;

        foreign_build(
            &o, &foreign_targets[t],
            "declare float @_Z3logf(float) nounwind willreturn memory(none)\n",
            "  %x = load float, @A %y\n"
            "  %l = call float @_Z3logf(float %x)\n" STORE("float", "1.0"),
            2);
        assert_string_equal(o.message, "");
        free(o.bytes);
    }
}

/* ---- intrinsics ---- */

typedef struct intrinsic {
    int targets; /* on which it is refused; on others nothing is asked */
    const char *head;
    const char *body;
    const char *name;
    const char *why;
} intrinsic;

static void assert_intrinsic_refused(const intrinsic *i)
{
    for (size_t t = 0; t < 4; t++) {
        outcome o;

        if ((i->targets & foreign_targets[t].bit) == 0)
            continue;
        foreign_build(&o, &foreign_targets[t], i->head, i->body, 2);
        assert_int_equal(o.status, KILN_ECODEGEN);
        assert_contains(o.message, "function 'k' of the module calls 'llvm.");
        assert_contains(o.message, i->name);
        assert_contains(o.message, i->why);
    }
}

static void what_looks_at_the_running_thread_is_refused(void **state)
{
    static const intrinsic list[] = {
        {ALL, "declare ptr @llvm.returnaddress(i32)\n",
         "  %p = call ptr @llvm.returnaddress(i32 0)\n" STORE("ptr", "%p"),
         "returnaddress", "the stack of the thread"},
        {ALL & ~ROCM, "declare ptr @llvm.frameaddress.p0(i32)\n",
         "  %p = call ptr @llvm.frameaddress.p0(i32 0)\n" STORE("ptr", "%p"),
         "frameaddress", "the stack of the thread"},
        {HOST | CUDA, "declare ptr @llvm.addressofreturnaddress.p0()\n",
         "  %p = call ptr @llvm.addressofreturnaddress.p0()\n"
         "  store i64 0, ptr %p\n",
         "addressofreturnaddress", "the stack of the thread"},
        {HOST | CUDA, "declare ptr @llvm.thread.pointer.p0()\n",
         "  %p = call ptr @llvm.thread.pointer.p0()\n"
         "  %v = load i64, ptr %p\n" STORE("i64", "%v"),
         "thread.pointer", "the thread that runs"},
        {ALL,
         "declare i64 @llvm.read_register.i64(metadata)\n"
         "!0 = !{!\"rsp\"}\n",
         "  %v = call i64 @llvm.read_register.i64(metadata !0)\n" STORE("i64",
                                                                        "%v"),
         "read_register", "the thread that runs"},
        {ALL,
         "declare void @llvm.write_register.i64(metadata, i64)\n"
         "!0 = !{!\"rsp\"}\n",
         "  call void @llvm.write_register.i64(metadata !0, i64 %n)\n",
         "write_register", "the thread that runs"},
        {HOST, "declare i64 @llvm.x86.rdfsbase.64()\n",
         "  %v = call i64 @llvm.x86.rdfsbase.64()\n" STORE("i64", "%v"),
         "rdfsbase", "the thread that runs"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        assert_intrinsic_refused(&list[i]);
}

static void what_changes_how_numbers_are_rounded_is_refused(void **state)
{
    static const intrinsic list[] = {
        {ALL, "declare void @llvm.set.rounding(i32)\n",
         "  call void @llvm.set.rounding(i32 2)\n", "set.rounding",
         "floating-point mode"},
        {ALL, "declare void @llvm.reset.fpenv()\n",
         "  call void @llvm.reset.fpenv()\n", "reset.fpenv",
         "floating-point mode"},
        {ALL, "declare void @llvm.set.fpmode.i32(i32)\n",
         "  call void @llvm.set.fpmode.i32(i32 5)\n", "set.fpmode",
         "floating-point mode"},
        {HOST, "declare void @llvm.x86.sse.ldmxcsr(ptr)\n",
         "  call void @llvm.x86.sse.ldmxcsr(ptr %y)\n", "ldmxcsr",
         "floating-point mode"},
        {ALL,
         "declare float @llvm.experimental.constrained.fadd.f32(float, float,"
         " metadata, metadata)\n",
         "  %x = load float, @A %y\n"
         "  %r = call float @llvm.experimental.constrained.fadd.f32(float %x,"
         " float 1.0, metadata !\"round.upward\", metadata "
         "!\"fpexcept.strict\")"
         " strictfp\n" STORE("float", "%r"),
         "constrained.fadd", "the mode of rounding"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        assert_intrinsic_refused(&list[i]);
    foreign_refused_on(
        SPIRV,
        "declare float @llvm.experimental.constrained.fadd.f32(float, float,"
        " metadata, metadata)\n",
        "  %x = load float, @A %y\n"
        "  %r = call float @llvm.experimental.constrained.fadd.f32(float %x,"
        " float 1.0, metadata !\"round.tonearest\","
        " metadata !\"fpexcept.ignore\") strictfp\n" STORE("float", "%r"),
        "LLVM has no SPIR-V for llvm.experimental.constrained.fadd");
}

static void what_ends_the_process_is_refused(void **state)
{
    static const intrinsic list[] = {
        {ALL, "declare void @llvm.trap()\n", "  call void @llvm.trap()\n",
         "trap", "it ends the process"},
        {ALL, "declare void @llvm.ubsantrap(i8)\n",
         "  call void @llvm.ubsantrap(i8 1)\n", "ubsantrap",
         "it ends the process"},
        {ALL, "declare void @llvm.debugtrap()\n",
         "  call void @llvm.debugtrap()\n", "debugtrap", "it ends the process"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        assert_intrinsic_refused(&list[i]);
}

static void what_needs_a_runtime_is_refused(void **state)
{
    static const intrinsic list[] = {
        {ALL & ~ROCM, "declare i32 @llvm.eh.sjlj.setjmp(ptr)\n",
         "  %b = alloca [5 x ptr]\n"
         "  %v = call i32 @llvm.eh.sjlj.setjmp(ptr %b)\n" STORE("i32", "%v"),
         "eh.sjlj.setjmp", "nothing unwinds"},
        {ALL,
         "declare token @llvm.coro.id(i32, ptr, ptr, ptr)\n"
         "declare i1 @llvm.coro.alloc(token)\n",
         "  %i = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr "
         "null)\n"
         "  %a = call i1 @llvm.coro.alloc(token %i)\n"
         "  %v = zext i1 %a to i32\n" STORE("i32", "%v"),
         "coro.", "no coroutines"},
        {ALL, "declare void @llvm.experimental.stackmap(i64, i32, ...)\n",
         "  call void (i64, i32, ...) @llvm.experimental.stackmap(i64 1, i32 0,"
         " i64 %n)\n",
         "stackmap", "a runtime"},
        {ALL, "declare i1 @llvm.type.test(ptr, metadata)\n",
         "  %b = call i1 @llvm.type.test(ptr null, metadata !\"x\")\n"
         "  %v = zext i1 %b to i32\n" STORE("i32", "%v"),
         "type.test", "a linker"},
        {ALL, "declare void @llvm.objc.release(ptr)\n",
         "  call void @llvm.objc.release(ptr null)\n", "objc.release",
         "a runtime"},
        {ALL, "declare i64 @llvm.vscale.i64()\n",
         "  %v = call i64 @llvm.vscale.i64()\n" STORE("i64", "%v"), "vscale",
         "unknown length"},
        {ALL,
         "declare void @llvm.instrprof.increment(ptr, i64, i32, i32)\n"
         "@c = private constant [1 x i8] c\"k\"\n",
         "  call void @llvm.instrprof.increment(ptr @c, i64 1, i32 1, i32 0)\n",
         "instrprof", "a runtime"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        assert_intrinsic_refused(&list[i]);
}

static void intrinsics_of_another_target_are_refused(void **state)
{
    static const intrinsic list[] = {
        {ALL & ~CUDA, "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n",
         "  %v = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n" STORE("i32",
                                                                    "%v"),
         "nvvm.", "another target has it"},
        {ROCM, "declare float @llvm.amdgcn.interp.mov(i32, i32, i32, i32)\n",
         "  %v = call float @llvm.amdgcn.interp.mov(i32 2, i32 0, i32 0, i32 "
         "0)\n" STORE("float", "%v"),
         "amdgcn.interp.mov", "shaders of graphics"},
        {ROCM, "declare i32 @llvm.amdgcn.reloc.constant(metadata)\n",
         "  %v = call i32 @llvm.amdgcn.reloc.constant(metadata "
         "i32 4)\n" STORE("i32", "%v"),
         "amdgcn.reloc.constant", "a linker uses it"},
        {ALL & ~ROCM, "declare i32 @llvm.amdgcn.workitem.id.x()\n",
         "  %v = call i32 @llvm.amdgcn.workitem.id.x()\n" STORE("i32", "%v"),
         "amdgcn.", "another target has it"},
        {DEVICES, "declare i64 @llvm.x86.bmi.pdep.64(i64, i64)\n",
         "  %v = call i64 @llvm.x86.bmi.pdep.64(i64 %n, i64 5)\n" STORE("i64",
                                                                        "%v"),
         "x86.", "another target has it"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        assert_intrinsic_refused(&list[i]);
}

/* ---- types ---- */

static void types_that_no_kernel_has_are_refused(void **state)
{
    (void)state;
    foreign_refused_on(ALL, "",
                       "  %x = load <vscale x 4 x i32>, @A %y\n" STORE(
                           "<vscale x 4 x i32>", "%x"),
                       "function 'k' of the module: it has vectors of unknown");
    foreign_refused_on(
        ALL, "", "  %x = load ppc_fp128, @A %y\n" STORE("ppc_fp128", "%x"),
        "it has floats that the target has not");
    foreign_refused_on(ALL, "", "  %x = alloca target(\"spirv.Event\")@S\n",
                       "types that are of no use to kernels");
}

static void long_floats_are_the_hosts(void **state)
{
    (void)state;
    foreign_refused_on(ALL, "",
                       "  %x = load fp128, @A %y\n"
                       "  %r = fadd fp128 %x, %x\n" STORE("fp128", "%r"),
                       "it has floats that the target has not");
    foreign_refused_on(
        DEVICES, "",
        "  %x = load x86_fp80, @A %y\n"
        "  %r = fadd x86_fp80 %x, %x\n" STORE("x86_fp80", "%r"),
        "function 'k' of the module: it has floats that the target has not");
    foreign_refused_on(DEVICES,
                       "@c = constant x86_fp80 0xK4000C000000000000000\n",
                       "  %x = load x86_fp80, ptr @c\n"
                       "  %r = fptosi x86_fp80 %x to i32\n" STORE("i32", "%r"),
                       "variable 'c' of the module: it has floats");
    assert_int_equal(
        foreign_run("@c = constant x86_fp80 0xK4000C000000000000000\n",
                    "  %x = load volatile x86_fp80, ptr @c\n"
                    "  %r = fptosi x86_fp80 %x to i32\n" STORE("i32", "%r"),
                    2),
        3);
}

/* What i128 and odd widths are is the same everywhere but in SPIR-V. */
static void wide_and_odd_integers_compute(void **state)
{
    static const char wide[] =
        "  %s = sext i64 %n to i128\n"
        "  %b = shl i128 %s, 70\n"
        "  %d = add i128 %b, 7\n"
        "  %q = udiv i128 %d, %s\n"
        "  %r = lshr i128 %q, 68\n"
        "  %v = trunc i128 %r to i32\n" STORE("i32", "%v");
    static const char wider[] =
        "  %s = sext i64 %n to i256\n"
        "  %b = shl i256 %s, 200\n"
        "  %q = udiv i256 %b, 3\n"
        "  %m = mul i256 %q, 3\n"
        "  %r = lshr i256 %m, 199\n"
        "  %v = trunc i256 %r to i32\n" STORE("i32", "%v");
    static const char odd[] = "  %s = load i17, @A %y\n"
                              "  %b = add i17 %s, -5\n"
                              "  %v = sext i17 %b to i32\n" STORE("i32", "%v");

    (void)state;
    foreign_refused_on(SPIRV, "", wide, "SPIR-V has no integers of 128 bits");
    foreign_refused_on(SPIRV, "", wider, "SPIR-V has no integers of 256 bits");
    foreign_refused_on(SPIRV, "", odd, "SPIR-V has no integers of 17 bits");
    for (uint8_t level = 0; level <= 2; level += 2) {
        assert_int_equal(foreign_run("", wide, level), 4);
        assert_int_equal(foreign_run("", wider, level), 7);
        assert_int_equal(foreign_run("", odd, level), -4);
    }
}

static void matrices_are_multiplied(void **state)
{
    static const char head[] =
        "declare <4 x i32> @llvm.matrix.multiply.v4i32.v4i32.v4i32(<4 x i32>,"
        " <4 x i32>, i32, i32, i32)\n";
    static const char body[] =
        "  %a = load <4 x i32>, @A %y\n"
        "  %m = call <4 x i32> @llvm.matrix.multiply.v4i32.v4i32.v4i32("
        "<4 x i32> %a, <4 x i32> %a, i32 2, i32 2, i32 2)\n"
        "  %v = extractelement <4 x i32> %m, i32 3\n" STORE("i32", "%v");

    (void)state;
    foreign_accepted(head, body);
    /* By columns: 1 2, 3 4. Squared, the last element is 2 * 3 + 4 * 4. */
    assert_int_equal(foreign_run(head, body, 0), 22);
    assert_int_equal(foreign_run(head, body, 2), 22);
}

/* ---- pointers ---- */

static void segments_of_the_process_are_no_address_spaces(void **state)
{
    static const char words[] =
        "pointers into an address space that the target has not";

    (void)state;
    foreign_refused_on(
        ALL, "",
        "  %v = load i64, ptr addrspace(257) null\n" STORE("i64", "%v"), words);
    foreign_refused_on(ALL, "",
                       "  %p = addrspacecast @A %y to ptr addrspace(256)\n"
                       "  store i32 1, ptr addrspace(256) %p\n",
                       words);
    foreign_refused_on(ALL, "",
                       "  %p = load ptr addrspace(270), @A %y\n"
                       "  store i32 1, ptr addrspace(270) %p\n",
                       words);
    foreign_refused_on(ALL, "",
                       "  %p = load { i32, [2 x ptr addrspace(9)] }, @A %y\n"
                       "  %v = extractvalue { i32, [2 x ptr addrspace(9)] } %p,"
                       " 0\n" STORE("i32", "%v"),
                       words);
}

static void casts_between_spaces_that_targets_have_work(void **state)
{
    static const char body[] =
        "  %p = addrspacecast @A %y to ptr addrspace(1)\n"
        "  %v = load i32, ptr addrspace(1) %p\n"
        "  %w = add i32 %v, 5\n"
        "  store i32 %w, ptr addrspace(1) %p\n";

    (void)state;
    foreign_accepted("", body);
    assert_int_equal(foreign_run("", body, 2), 6);
}

/* ---- calls ---- */

static void conventions_are_cs_or_llvms_own(void **state)
{
    static const char *const fine[] = {"fastcc", "coldcc", "spir_func", "ccc"};
    static const char *const odd[] = {
        "x86_stdcallcc", "preserve_mostcc", "ghccc",    "swiftcc",
        "tailcc",        "ptx_device",      "anyregcc", "x86_vectorcallcc"};
    char head[256], body[256];

    (void)state;
    for (size_t i = 0; i < 4 + 8; i++) {
        const char *name = i < 4 ? fine[i] : odd[i - 4];

        snprintf(head, sizeof head,
                 "define internal %s i32 @f(i32 %%x) noinline {\n"
                 "  %%r = mul i32 %%x, 3\n  ret i32 %%r\n}\n",
                 name);
        snprintf(body, sizeof body,
                 "  %%v = call %s i32 @f(i32 14)\n  store i32 %%v, @A %%y\n",
                 name);
        foreign_refused_on(i < 4 ? 0 : ALL, head, body,
                           "function 'f' of the module: its calling convention "
                           "is not C's, fast or cold");
        if (i < 4)
            assert_int_equal(foreign_run(head, body, 0), 42);
    }
}

static void calls_are_of_the_type_and_convention_of_the_function(void **state)
{
    static const char head[] = "define internal i32 @f(i32 %x) noinline {\n"
                               "  %r = mul i32 %x, 3\n  ret i32 %r\n}\n";

    (void)state;
    foreign_refused_on(ALL, head,
                       "  %v = call fastcc i32 @f(i32 2)\n" STORE("i32", "%v"),
                       "calls 'f': it has another calling convention");
    foreign_refused_on(
        ALL, head,
        "  %v = call i32 (i32, i32) @f(i32 2, i32 3)\n" STORE("i32", "%v"),
        "calls 'f': it has another type");
}

static void calls_in_the_place_of_returns_work(void **state)
{
    static const char head[] =
        "define internal i32 @g(i32 %c) noinline {\n"
        "  %r = mul i32 %c, 3\n  ret i32 %r\n}\n"
        "define internal i32 @f(i32 %c) noinline {\n"
        "  %r = musttail call i32 @g(i32 %c)\n  ret i32 %r\n}\n";
    static const char body[] =
        "  %v = call i32 @f(i32 14)\n" STORE("i32", "%v");

    (void)state;
    foreign_accepted(head, body);
    assert_int_equal(foreign_run(head, body, 0), 42);
    assert_int_equal(foreign_run(head, body, 2), 42);
}

/* As the list of the host's convention lies in memory. */
static void arguments_of_any_number_are_read(void **state)
{
    static const char head[] =
        "declare void @llvm.va_start.p0(ptr)\n"
        "declare void @llvm.va_end.p0(ptr)\n"
        "define internal i32 @f(i32 %c, ...) noinline {\n"
        "  %l = alloca [24 x i8], align 8\n"
        "  call void @llvm.va_start.p0(ptr %l)\n"
        "  %o = load i32, ptr %l\n"
        "  %s = getelementptr i8, ptr %l, i64 16\n"
        "  %r = load ptr, ptr %s\n"
        "  %p = getelementptr i8, ptr %r, i32 %o\n"
        "  %q = getelementptr i8, ptr %p, i64 8\n"
        "  %a = load i32, ptr %p\n"
        "  %b = load i32, ptr %q\n"
        "  call void @llvm.va_end.p0(ptr %l)\n"
        "  %d = sub i32 %b, %a\n"
        "  ret i32 %d\n}\n";
    static const char body[] =
        "  %v = call i32 (i32, ...) @f(i32 2, i32 5, i32 47)\n" STORE("i32",
                                                                      "%v");

    (void)state;
    foreign_refused_on(ROCM | SPIRV, head, body, "");
    assert_int_equal(foreign_run(head, body, 0), 42);
    assert_int_equal(foreign_run(head, body, 2), 42);
}

static void odd_ways_to_pass_and_to_call_are_refused(void **state)
{
    static const char asked[] = "  call void @f()\n";

    (void)state;
    foreign_refused_on(ALL,
                       "define internal void @f(@I swifterror %p) noinline {\n"
                       "  ret void\n}\n",
                       "  %e = alloca swifterror ptr@S\n"
                       "  store ptr null, @I %e\n"
                       "  call void @f(@I swifterror %e)\n",
                       "it passes arguments as only some processors can");
    foreign_refused_on(ALL,
                       "define internal void @f() naked noinline {\n"
                       "  unreachable\n}\n",
                       asked, "function 'f' of the module: it is naked");
    foreign_refused_on(
        ALL,
        "define internal void @f() noinline presplitcoroutine {\n"
        "  ret void\n}\n",
        asked, "function 'f' of the module: it is a coroutine");
    foreign_refused_on(ALL,
                       "define internal void @f() noinline prefix i32 7 {\n"
                       "  ret void\n}\n",
                       asked, "it has data in front");
    foreign_refused_on(ALL,
                       "define internal void @f() noinline gc \"shadow-stack\""
                       " {\n  ret void\n}\n",
                       asked, "it names a garbage collector");
    foreign_refused_on(ALL,
                       "declare i32 @p(...)\n"
                       "define internal i32 @f(ptr %g) noinline personality "
                       "ptr @p {\n"
                       "  invoke void %g() to label %a unwind label %b\n"
                       "a:\n  ret i32 0\n"
                       "b:\n  %l = landingpad { ptr, i32 } cleanup\n"
                       "  ret i32 1\n}\n",
                       "  %c = call i32 @f(ptr null)\n"
                       "  store i32 %c, @A %y\n",
                       "it handles C++ exceptions");
    foreign_refused_on(ALL,
                       "define internal void @f() noinline {\n  ret void\n}\n",
                       "  call void @f() [ \"deopt\"(i32 1) ]\n",
                       "it has a call with operands for a runtime");
    foreign_refused_on(
        ALL, "",
        "  callbr void asm sideeffect \"\", \"!i\"() to label %a [label %b]\n"
        "a:\n  br label %c\nb:\n  br label %c\nc:\n",
        "function 'k' of the module: it contains assembly");
}

/* Rust's functions name a personality without having landing pads, and nothing
   that a module of C++ calls throws. */
static void what_throws_nothing_needs_no_personality(void **state)
{
    static const char head[] =
        "declare i32 @rust_eh_personality(...)\n"
        "declare float @sqrtf(float)\n"
        "define internal i32 @f() noinline personality ptr "
        "@rust_eh_personality {\n  ret i32 20\n}\n"
        "define internal i32 @g() noinline personality ptr "
        "@rust_eh_personality {\n"
        "  %x = invoke float @sqrtf(float 484.0) to label %a unwind label %b\n"
        "a:\n  %v = fptosi float %x to i32\n  ret i32 %v\n"
        "b:\n  %l = landingpad { ptr, i32 } cleanup\n"
        "  resume { ptr, i32 } %l\n}\n";
    static const char body[] = "  %a = call i32 @f()\n"
                               "  %b = call i32 @g()\n"
                               "  %s = add i32 %a, %b\n" STORE("i32", "%s");

    (void)state;
    foreign_accepted(head, body);
    assert_int_equal(foreign_run(head, body, 0), 42);
    assert_int_equal(foreign_run(head, body, 2), 42);
}

static void labels_have_addresses_where_jumps_can_reach_them(void **state)
{
    static const char table[] = "@t = internal constant [2 x ptr]"
                                " [ptr blockaddress(@k, %a),"
                                " ptr blockaddress(@k, %b)]\n";
    static const char jump[] = "  %m = and i64 %n, 1\n  %e = getelementptr ptr,"
                               " ptr @t, i64 %m\n  %p = load ptr, ptr %e\n"
                               "  indirectbr ptr %p, [label %a, label %b]\n"
                               "a:\n  store i32 41, @A %y\n  br label %c\n"
                               "b:\n  store i32 42, @A %y\n  br label %c\n"
                               "c:\n";
    static const char number[] = STORE(
        "i64",
        "ptrtoint (ptr blockaddress(@k, %a) to i64)") "  br label %a\na:\n";

    (void)state;
    foreign_refused_on(DEVICES, table, jump, "label");
    foreign_refused_on(DEVICES, "", number, "'k' of the module: it has addr");
    assert_int_equal(foreign_run(table, jump, 0), 41);
    assert_int_equal(foreign_run(table, jump, 2), 41);
}

/* ---- atomics ---- */

static void scopes_of_atomics_are_the_targets(void **state)
{
#define ADD(scope) \
    "  %v = atomicrmw add @A %y, i32 1 syncscope(\"" scope "\") monotonic\n"

    (void)state;
    foreign_accepted("", "  %v = atomicrmw add @A %y, i32 1 seq_cst\n");
    foreign_refused_on(CUDA | SPIRV, "", ADD("agent"), "atomics of a scope");
    foreign_refused_on(ROCM | SPIRV, "", ADD("block"), "atomics of a scope");
    foreign_refused_on(CUDA, "", ADD("workgroup"), "atomics of a scope");
    foreign_refused_on(DEVICES, "", ADD("nobody"), "atomics of a scope");
    foreign_refused_on(CUDA | SPIRV, "",
                       "  fence syncscope(\"agent\") acq_rel\n",
                       "atomics of a scope");
    foreign_refused_on(DEVICES, "",
                       "  %v = load atomic i32, @A %y syncscope(\"nobody\")"
                       " monotonic, align 4\n",
                       "atomics of a scope");
#undef ADD
}

/* ---- names ---- */

/* What the module calls memcpy or sqrt is its own function, and what LLVM calls
   so is not. */
static void names_of_c_are_names_like_others(void **state)
{
    static const char head[] =
        "define internal double @sqrt(double %x) noinline {\n"
        "  %r = fadd double %x, 1.0\n  ret double %r\n}\n"
        "define internal ptr @memcpy(ptr %a, ptr %b, i64 %n) noinline {\n"
        "  store i32 77, ptr %a\n  ret ptr %a\n}\n"
        "define internal ptr @memset(ptr %a, i32 %b, i64 %n) noinline {\n"
        "  store i32 78, ptr %a\n  ret ptr %a\n}\n"
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n";

    (void)state;
    for (uint8_t level = 0; level <= 2; level += 2) {
        assert_int_equal(
            foreign_run(head,
                        "  %s = call double @sqrt(double 4.0)\n"
                        "  %v = fptosi double %s to i32\n" STORE("i32", "%v"),
                        level),
            5);
        /* The second to fourth element go to the front. */
        assert_int_equal(
            foreign_run(head,
                        "  %q = getelementptr i32, ptr %y, i64 2\n"
                        "  %o = mul i64 %n, 2\n"
                        "  %c = call ptr @memcpy(ptr %q, ptr %q, i64 %n)\n"
                        "  call void @llvm.memcpy.p0.p0.i64(ptr %y, ptr %q,"
                        " i64 %o, i1 0)\n",
                        level),
            77);
    }
}

/* ---- attributes ---- */

static void what_one_processor_needs_is_forgotten(void **state)
{
    static const char *const attributes[] = {
        "\"target-cpu\"=\"znver5\"",
        "\"target-features\"=\"+avx512f,-sse2\"",
        "\"use-soft-float\"=\"true\"",
        "\"fentry-call\"=\"true\"",
        "\"instrument-function-entry-inlined\"=\"mcount\"",
        "\"patchable-function-entry\"=\"2\"",
        "\"function-instrument\"=\"xray-always\"",
        "\"probe-stack\"=\"inline-asm\"",
        "\"amdgpu-no-workgroup-id-x\"",
        "\"denormal-fp-math\"=\"preserve-sign,preserve-sign\"",
        "sspreq",
        "sanitize_address",
        "uwtable",
    };
    char head[512];

    (void)state;
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        snprintf(head, sizeof head,
                 "define internal float @f(float %%x) noinline %s {\n"
                 "  %%r = fmul float %%x, 5.0e-1\n  ret float %%r\n}\n",
                 attributes[i]);
        foreign_accepted(
            head, "  %x = load float, @A %y\n"
                  "  %r = call float @f(float %x)\n" STORE("float", "%r"));
        /* The number 2e-45, half of which is not 0. */
        assert_int_equal(
            foreign_run(head,
                        "  %q = getelementptr i32, ptr %y, i64 1\n"
                        "  %x = load float, ptr %q\n"
                        "  %r = call float @f(float %x)\n" STORE("float", "%r"),
                        0),
            1);
    }
}

static void flags_of_the_module_are_forgotten(void **state)
{
    static const char *const flags[] = {
        "i32 1, !\"override-stack-alignment\", i32 4",
        "i32 1, !\"Code Model\", i32 4",
        "i32 1, !\"nvvm-reflect-ftz\", i32 1",
        "i32 4, !\"kcfi\", i32 1",
    };
    char head[256];

    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        snprintf(head, sizeof head,
                 "!llvm.module.flags = !{!0}\n!0 = !{%s}\n"
                 "!llvm.linker.options = !{!1}\n!1 = !{!\"-lm\"}\n",
                 flags[i]);
        foreign_accepted(head, STORE("i32", "7"));
        foreign_text(HOST, head, STORE("i32", "7"), "define", "llvm.linker");
        foreign_text(HOST, head, STORE("i32", "7"), "define",
                     "llvm.module.flags");
    }
}

static void versions_of_code_objects_are_five_or_six(void **state)
{
#define VERSION(number) \
    "!llvm.module.flags = !{!0}\n" \
    "!0 = !{i32 1, !\"amdhsa_code_object_version\", i32 " number "}\n"

    (void)state;
    foreign_accepted(VERSION("500"), STORE("i32", "7"));
    foreign_accepted(VERSION("600"), STORE("i32", "7"));
    foreign_text(ROCM, VERSION("600"), STORE("i32", "7"),
                 "!\"amdhsa_code_object_version\", i32 500", "i32 600");
    foreign_refused_on(ROCM, VERSION("400"), STORE("i32", "7"),
                       "code objects of version 4.00 "
                       "(amdhsa_code_object_version), and these are 5 or 6");
    foreign_refused_on(ROCM, VERSION("700"), STORE("i32", "7"),
                       "code objects of version 7.00");
#undef VERSION
}

/* ---- ids ---- */

/* A frontend's optimiser says that a function which only asks for an id reads
   no memory. On the host the id is read from the item. */
static void ids_differ_whatever_is_said_of_memory(void **state)
{
    static const char module[] =
        "declare i64 @kiln_global_id(ptr, i32) memory(none)\n"
        "define internal i64 @id(ptr readnone %item) noinline nounwind"
        " willreturn nosync memory(none) {\n"
        "  %v = call i64 @kiln_global_id(ptr %item, i32 0) memory(none)\n"
        "  ret i64 %v\n}\n"
        "define internal i64 @twice(ptr readnone %item) noinline nounwind"
        " willreturn nosync memory(none) {\n"
        "  %v = call i64 @id(ptr readnone %item) memory(none)\n"
        "  %w = mul i64 %v, 2\n"
        "  ret i64 %w\n}\n"
        "define i32 @k(ptr noalias readnone %item, ptr %y, i64 %n) {\n"
        "  %v = call i64 @id(ptr %item) memory(none)\n"
        "  %w = call i64 @twice(ptr readnone %item) memory(none)\n"
        "  %p = getelementptr i32, ptr %y, i64 %v\n"
        "  %t = trunc i64 %w to i32\n"
        "  store i32 %t, ptr %p\n"
        "  ret i32 0\n}\n";

    (void)state;
    for (uint8_t level = 0; level <= 3; level++) {
        int32_t y[8] = {9, 9, 9, 9, 9, 9, 9, 9};
        const struct {
            int32_t *data;
            int64_t n;
        } arguments = {y, 8};
        launch l = make_launch(8, 1, 1, 4, 1, 1);
        outcome o;

        prepare(&o, module, KILN_EMIT_BINARY, one_array, 1);
        o.settings.opt_level = level;
        assert_built(&o);
        assert_int_equal(run_image(&o, &l, &arguments), 0);
        for (int32_t i = 0; i < 8; i++)
            assert_int_equal(y[i], 2 * i);
        free(o.bytes);
    }
}

static void a_raise_that_never_returns_is_refused(void **state)
{
    static const char body[] =
        "  call void @kiln_raise(@I %item, i32 1, ptr null, i32 1, ptr null,"
        " i64 0, i64 0)\n";

    (void)state;
    foreign_refused_on(ALL,
                       "declare void @kiln_raise(@I, i32, ptr, i32, ptr, i64,"
                       " i64) noreturn\n",
                       body,
                       "device function 'kiln_raise': it returns, and is said "
                       "to be noreturn");
    foreign_accepted("declare void @kiln_raise(@I, i32, ptr, i32, ptr, i64,"
                     " i64)\n",
                     body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_to_linkers_and_callers_are_dropped),
        cmocka_unit_test(functions_whose_results_nobody_takes_are_not_needed),
        cmocka_unit_test(what_looks_at_the_running_thread_is_refused),
        cmocka_unit_test(what_changes_how_numbers_are_rounded_is_refused),
        cmocka_unit_test(what_ends_the_process_is_refused),
        cmocka_unit_test(what_needs_a_runtime_is_refused),
        cmocka_unit_test(intrinsics_of_another_target_are_refused),
        cmocka_unit_test(types_that_no_kernel_has_are_refused),
        cmocka_unit_test(long_floats_are_the_hosts),
        cmocka_unit_test(wide_and_odd_integers_compute),
        cmocka_unit_test(matrices_are_multiplied),
        cmocka_unit_test(segments_of_the_process_are_no_address_spaces),
        cmocka_unit_test(casts_between_spaces_that_targets_have_work),
        cmocka_unit_test(conventions_are_cs_or_llvms_own),
        cmocka_unit_test(calls_are_of_the_type_and_convention_of_the_function),
        cmocka_unit_test(calls_in_the_place_of_returns_work),
        cmocka_unit_test(arguments_of_any_number_are_read),
        cmocka_unit_test(odd_ways_to_pass_and_to_call_are_refused),
        cmocka_unit_test(what_throws_nothing_needs_no_personality),
        cmocka_unit_test(labels_have_addresses_where_jumps_can_reach_them),
        cmocka_unit_test(scopes_of_atomics_are_the_targets),
        cmocka_unit_test(names_of_c_are_names_like_others),
        cmocka_unit_test(what_one_processor_needs_is_forgotten),
        cmocka_unit_test(flags_of_the_module_are_forgotten),
        cmocka_unit_test(versions_of_code_objects_are_five_or_six),
        cmocka_unit_test(ids_differ_whatever_is_said_of_memory),
        cmocka_unit_test(a_raise_that_never_returns_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
