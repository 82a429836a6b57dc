/* test_neutral_memory.c - the memory that neutral modules use. */
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

/* ---- address spaces ---- */

/* A function that is given generic pointers of every kind, and a local array
   which cannot become values. */
static const char mixed[] = ID
    "@table = internal constant [4 x i32] [i32 5, i32 6, i32 7, i32 8]\n"
    "declare void @llvm.lifetime.start.p0(ptr)\n"
    "declare void @llvm.lifetime.end.p0(ptr)\n"
    "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
    "define internal void @copy(ptr %to, ptr %from) noinline {\n"
    "  %v = load i32, ptr %from\n"
    "  store i32 %v, ptr %to\n"
    "  ret void\n"
    "}\n" ENTRY "  %own = alloca [4 x i32], align 4\n"
    "  call void @llvm.lifetime.start.p0(ptr %own)\n"
    "  call void @llvm.memcpy.p0.p0.i64(ptr %own, ptr @table, i64 16, i1 0)\n"
    "  %m = and i64 %i, 3\n"
    "  %e = getelementptr i32, ptr %own, i64 %m\n"
    "  %v = load i32, ptr %e\n"
    "  %w = mul i32 %v, 10\n"
    "  store i32 %w, ptr %e\n"
    "  call void @copy(ptr %p, ptr %e)\n"
    "  call void @llvm.lifetime.end.p0(ptr %own)\n" END;

static void generic_pointers_reach_all_memory(void **state)
{
    int32_t y[8];
    launch l;

    (void)state;
    neutral_accepted(mixed);
    assert_int_equal(neutral_run(y, mixed, 8, 4, &l), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(y[i], 10 * (5 + i % 4));
}

/* SPIR-V has nothing for these. */
static void pointers_are_compared_exchanged_and_in_vectors(void **state)
{
    static const char module[] =
        ID "declare ptr @llvm.invariant.start.p0(i64, ptr)\n"
           "declare void @llvm.invariant.end.p0(ptr, i64, ptr)\n"
           "define void @k(ptr %y, i64 %n) {\n"
           "  %i = call i64 @kiln_global_id(i32 0)\n"
           "  %p = getelementptr i32, ptr %y, i64 %i\n"
           "  %own = alloca ptr, align 8\n"
           "  store ptr null, ptr %own\n"
           "  %old = atomicrmw xchg ptr %own, ptr %p seq_cst\n"
           "  %both = cmpxchg ptr %own, ptr %p, ptr %y seq_cst seq_cst\n"
           "  %was = extractvalue {ptr, i1} %both, 0\n"
           "  %done = extractvalue {ptr, i1} %both, 1\n"
           "  %now = load ptr, ptr %own\n"
           "  %inv = call ptr @llvm.invariant.start.p0(i64 8, ptr %own)\n"
           "  %a = icmp eq ptr %old, null\n"
           "  %b = icmp eq ptr %was, %p\n"
           "  %c = icmp eq ptr %now, %y\n"
           "  %d = icmp ule ptr %y, %p\n"
           "  call void @llvm.invariant.end.p0(ptr %inv, i64 8, ptr %own)\n"
           "  %ab = and i1 %a, %b\n"
           "  %cd = and i1 %c, %d\n"
           "  %abcd = and i1 %ab, %cd\n"
           "  %all = and i1 %abcd, %done\n"
           "  %v0 = insertelement <2 x ptr> poison, ptr %y, i32 0\n"
           "  %v = insertelement <2 x ptr> %v0, ptr %p, i32 1\n"
           "  %g = getelementptr i32, <2 x ptr> %v, <2 x i64> splat (i64 1)\n"
           "  %h = getelementptr i32, <2 x ptr> %g, <2 x i64> splat (i64 -1)\n"
           "  %same = icmp eq <2 x ptr> %h, %v\n"
           "  %same0 = extractelement <2 x i1> %same, i32 0\n"
           "  %to = extractelement <2 x ptr> %h, i32 1\n"
           "  %fine = and i1 %all, %same0\n"
           "  %z = zext i1 %fine to i32\n"
           "  store i32 %z, ptr %to\n" END;
    int32_t y[8];
    launch l;

    (void)state;
    neutral_accepted(module);
    assert_int_equal(neutral_run(y, module, 8, 4, &l), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(y[i], 1);
}

static void pointers_to_constants_are_of_their_own_on_spirv(void **state)
{
    (void)state;
    neutral_refused_on(SPIRV,
                       ID ENTRY
                       "  %c = addrspacecast ptr %p to ptr addrspace(4)\n"
                       "  %v = load i32, ptr addrspace(4) %c\n"
                       "  store i32 %v, ptr %y\n" END,
                       "no casts between pointers to constants and others");
}

/* OpenCL C passes arrays as pointers to their elements. */
static void elements_of_variables_are_passed_on_spirv(void **state)
{
    (void)state;
    neutral_text(SPIRV,
                 ID "@t = internal addrspace(3) global [8 x i32] undef\n"
                    "declare <4 x i32> @_Z6vload4mPU3AS3Ki(i64,"
                    " ptr addrspace(3))\n"
                    "declare void @_Z7vstore4Dv4_imPU3AS3i(<4 x i32>, i64,"
                    " ptr addrspace(3))\n" ENTRY
                    "  %v = load <4 x i32>, ptr %y\n"
                    "  call void @_Z7vstore4Dv4_imPU3AS3i(<4 x i32> %v, i64 %n,"
                    " ptr addrspace(3) @t)\n"
                    "  %x = call <4 x i32> @_Z6vload4mPU3AS3Ki(i64 %n,"
                    " ptr addrspace(3) @t)\n"
                    "  store <4 x i32> %x, ptr %y\n" END,
                 "getelementptr inbounds i8, ptr addrspace(3) @t", NULL);
}

static void allocated_memory_is_generic_or_global(void **state)
{
    (void)state;
    neutral_refused_on(
        ALL,
        ID "declare ptr addrspace(3) @kiln_allocate(i64, i64)\n" ENTRY
           "  %a = call ptr addrspace(3) @kiln_allocate(i64 %n, i64 8)\n"
           "  store i32 0, ptr addrspace(3) %a\n" END,
        "'kiln_allocate': its pointer is generic, or to global memory");
    neutral_refused_on(ALL,
                       ID "declare i32 @kiln_free(ptr)\n" ENTRY
                          "  %a = call i32 @kiln_free(ptr %y)\n" END,
                       "'kiln_free': it is declared with another type");
}

/* AMDGPU's verifier would refuse the alloca. */
static void a_triple_means_nothing(void **state)
{
    static char module[4096];

    (void)state;
    snprintf(module, sizeof module, "target triple = \"%s\"\n%s",
             "amdgcn-amd-amdhsa", mixed);
    neutral_accepted(module);
}

static const char plain[] = ID ENTRY "  %v = load i32, ptr %p\n"
                                     "  %s = add i32 %v, 1\n"
                                     "  store i32 %s, ptr %p\n" END;

static void accesses_of_arrays_are_global(void **state)
{
    (void)state;
    neutral_form(CUDA, KILN_EMIT_ASM, plain, "st.global", "ld.b32");
    neutral_form(CUDA, KILN_EMIT_ASM, plain, "ld.global", "st.b32");
    neutral_form(ROCM, KILN_EMIT_ASM, plain, "global_store_dword", "flat_load");
    neutral_form(ROCM, KILN_EMIT_ASM, plain, "global_load_dword", "flat_store");
    neutral_text(SPIRV, plain, "store i32 %s.i.i, ptr addrspace(1)",
                 "ptr addrspace(4)");
}

static void variables_of_an_item_are_where_the_target_has_them(void **state)
{
    (void)state;
    neutral_text(ROCM, mixed, "alloca [4 x i32], align 4, addrspace(5)",
                 "lifetime.start.p0");
    neutral_text(CUDA | SPIRV, mixed, "alloca [4 x i32], align 4\n", NULL);
}

static void constants_are_read_where_the_target_has_them(void **state)
{
    static const char module[] =
        ID "@table = internal constant [4 x i32] [i32 5, i32 6, i32 7, i32 "
           "8]\n" ENTRY "  %m = and i64 %i, 3\n"
           "  %e = getelementptr i32, ptr @table, i64 %m\n"
           "  %v = load i32, ptr %e\n"
           "  store i32 %v, ptr %p\n" END;

    (void)state;
    neutral_accepted(module);
    neutral_form(CUDA, KILN_EMIT_ASM, module, "ld.global", "ld.b32");
    neutral_text(CUDA, module, "addrspace(1) constant [4 x i32]", NULL);
    neutral_text(ROCM, module, "addrspace(4) constant [4 x i32]", NULL);
    neutral_text(SPIRV, module, "addrspace(2) constant [4 x i32]", NULL);
}

/* Texts for Kiln are found wherever the target has constants. */
static void texts_for_device_functions_are_constants(void **state)
{
    (void)state;
    neutral_accepted(
        ID "@text = internal constant [4 x i8] c\"odd\\00\"\n"
           "declare void @kiln_raise(i32, ptr, i32, ptr, i64, i64)\n" ENTRY
           "  call void @kiln_raise(i32 1, ptr null, i32 0, ptr @text, i64 %i,"
           " i64 0)\n"
           "  store i32 1, ptr %p\n" END);
}

/* As clang writes it for spir64. */
static const char spir[] =
    "declare i64 @kiln_global_id(i32)\n"
    "@table = internal addrspace(2) constant [2 x i32] [i32 30, i32 40]\n"
    "define internal spir_func void @put(ptr addrspace(4) %to,\n"
    "    ptr addrspace(4) %from) {\n"
    "  %v = load i32, ptr addrspace(4) %from\n"
    "  store i32 %v, ptr addrspace(4) %to\n"
    "  ret void\n"
    "}\n"
    "define void @k(ptr addrspace(1) %y, i64 %n) {\n"
    "  %own = alloca [2 x i32], align 4\n"
    "  %i = call i64 @kiln_global_id(i32 0)\n"
    "  %m = and i64 %i, 1\n"
    "  %e = getelementptr i32, ptr addrspace(2) @table, i64 %m\n"
    "  %v = load i32, ptr addrspace(2) %e\n"
    "  %o = getelementptr i32, ptr %own, i64 %m\n"
    "  store i32 %v, ptr %o\n"
    "  %g = addrspacecast ptr %o to ptr addrspace(4)\n"
    "  %p = getelementptr i32, ptr addrspace(1) %y, i64 %i\n"
    "  %q = addrspacecast ptr addrspace(1) %p to ptr addrspace(4)\n"
    "  call spir_func void @put(ptr addrspace(4) %q, ptr addrspace(4) %g)\n"
    "  ret void\n"
    "}\n"
    "!kiln.spaces = !{!0}\n";

static void numbers_of_spaces_may_be_those_of_spir(void **state)
{
    static char module[4096];
    int32_t y[4];
    launch l;

    (void)state;
    snprintf(module, sizeof module, "%s!0 = !{!\"spir\"}\n", spir);
    neutral_accepted(module);
    assert_int_equal(neutral_run(y, module, 4, 2, &l), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(y[i], i % 2 == 0 ? 30 : 40);
    neutral_text(ROCM, module, "addrspace(4) constant [2 x i32]",
                 "addrspace(2)");
    snprintf(module, sizeof module, "%s!0 = !{!\"dxil\"}\n", spir);
    neutral_refused_on(ALL, module, "metadata 'kiln.spaces' of the module is");
}

/* As clang writes plain C for spir64: all pointers are in space 0. */
static const char plain_c[] =
    "target datalayout = \"e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-"
    "v192:256-v256:256-v512:512-v1024:1024-G1\"\n"
    "target triple = \"spir64\"\n"
    "declare spir_func i64 @kiln_global_id(i32)\n"
    "@table = internal unnamed_addr constant [2 x i32] [i32 30, i32 40]\n"
    "define dso_local void @k(ptr %y, i64 %n) {\n"
    "  %own = alloca [2 x i32], align 4\n"
    "  %i = tail call spir_func i64 @kiln_global_id(i32 0)\n"
    "  %m = and i64 %i, 1\n"
    "  %e = getelementptr i32, ptr @table, i64 %m\n"
    "  %v = load i32, ptr %e\n"
    "  %o = getelementptr i32, ptr %own, i64 %m\n"
    "  store volatile i32 %v, ptr %o\n"
    "  %w = load volatile i32, ptr %o\n"
    "  %p = getelementptr i32, ptr %y, i64 %i\n"
    "  store i32 %w, ptr %p\n"
    "  ret void\n"
    "}\n";

static void pointers_of_plain_c_are_generic(void **state)
{
    static char module[4096];
    int32_t y[4];
    launch l;

    (void)state;
    neutral_accepted(plain_c);
    assert_int_equal(neutral_run(y, plain_c, 4, 2, &l), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(y[i], i % 2 == 0 ? 30 : 40);
    snprintf(module, sizeof module,
             "%s!kiln.spaces = !{!0}\n!0 = !{!\"spir\"}\n", plain_c);
    neutral_refused_on(ALL, module,
                       "entry 'k': parameter 1: address space 0 is private "
                       "memory, and arguments are not there; a module of C, "
                       "with all pointers in space 0, has no 'kiln.spaces'");
}

static void arguments_are_in_global_memory(void **state)
{
    (void)state;
    neutral_refused_on(ALL,
                       "define void @k(ptr addrspace(3) %y, i64 %n) {\n"
                       "  ret void\n"
                       "}\n",
                       "parameter 1: address space 3 is group memory");
    neutral_refused_on(ALL,
                       "define void @k(ptr addrspace(5) %y, i64 %n) {\n"
                       "  ret void\n"
                       "}\n",
                       "parameter 1: address space 5 is private memory");
}

static void other_spaces_are_refused(void **state)
{
    (void)state;
    neutral_refused_on(ALL,
                       "define void @k(ptr %y, i64 %n) {\n"
                       "  %p = addrspacecast ptr %y to ptr addrspace(2)\n"
                       "  store i32 1, ptr addrspace(2) %p\n"
                       "  ret void\n"
                       "}\n",
                       "function 'k' of the module: it has pointers of address "
                       "space 2, and 0, 1, 3, 4 and 5 have a meaning");
    neutral_refused_on(ALL,
                       "define void @k(ptr %y, i64 %n) {\n"
                       "  %p = addrspacecast ptr %y to ptr addrspace(7)\n"
                       "  store i32 1, ptr addrspace(7) %p\n"
                       "  ret void\n"
                       "}\n",
                       "it has pointers of address space 7, and ");
}

static void pointers_to_functions_need_a_target_that_has_them(void **state)
{
    (void)state;
    neutral_refused_on(SPIRV,
                       "define internal i32 @f(i32 %x) noinline {\n"
                       "  ret i32 %x\n"
                       "}\n"
                       "define internal i32 @g(i32 %x) noinline {\n"
                       "  ret i32 1\n"
                       "}\n"
                       "define void @k(ptr %y, i64 %n) {\n"
                       "  %odd = trunc i64 %n to i1\n"
                       "  %h = select i1 %odd, ptr @f, ptr @g\n"
                       "  %v = call i32 %h(i32 3)\n"
                       "  store i32 %v, ptr %y\n"
                       "  ret void\n"
                       "}\n",
                       "function 'f' of the module: its address is taken, and "
                       "the target has no pointers to functions");
}

/* ---- layout ---- */

#define X86 \
    "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-" \
    "i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n"

static void a_layout_may_be_that_of_another_target(void **state)
{
    static const char module[] = X86 ID
        "@pairs = internal constant [2 x {i8, double, <4 x float>, ptr}]"
        " zeroinitializer\n" ENTRY "  %own = alloca {i64, i16, ptr}, align 8\n"
        "  %m = and i64 %i, 1\n"
        "  %e = getelementptr {i8, double, <4 x float>, ptr}, ptr @pairs,"
        " i64 %m, i32 1\n"
        "  %v = load double, ptr %e\n"
        "  %f = fptosi double %v to i64\n"
        "  store volatile i64 %f, ptr %own\n"
        "  %w = load volatile i64, ptr %own\n"
        "  %t = trunc i64 %w to i32\n"
        "  store i32 %t, ptr %p\n" END;

    (void)state;
    neutral_accepted(module);
}

static void what_is_laid_out_otherwise_is_refused(void **state)
{
    (void)state;
    neutral_refused_on(
        ROCM | SPIRV,
        X86 ID ENTRY
        "  %e = getelementptr {i64, i128, i32}, ptr %p, i64 0, i32 2\n"
        "  store i32 5, ptr %e\n" END,
        "function 'k' of the module has the type { i64, i128, i32 } in memory, "
        "of which the module's data layout and the target's differ");
    neutral_refused_on(
        ROCM,
        X86 ID ENTRY
        "  %own = alloca {ptr addrspace(5), i32}, align 8\n"
        "  %e = getelementptr {ptr addrspace(5), i32}, ptr %own, i64 0,"
        " i32 1\n"
        "  store volatile i32 5, ptr %e\n"
        "  %v = load volatile i32, ptr %e\n"
        "  store i32 %v, ptr %p\n" END,
        "in memory, of which the module's data layout and the target's differ");
}

static void texts_without_a_layout_have_natural_alignments(void **state)
{
    static const char module[] = ID ENTRY "  %v = load i64, ptr %p\n"
                                          "  %w = add i64 %v, 1\n"
                                          "  store i64 %w, ptr %p\n" END;

    (void)state;
    neutral_form(CUDA, KILN_EMIT_ASM, module, "ld.global.b64", "ld.global.b32");
}

static void long_floats_are_refused(void **state)
{
    (void)state;
    neutral_refused_on(ALL,
                       ID ENTRY "  %v = load i32, ptr %p\n"
                                "  %f = sitofp i32 %v to x86_fp80\n"
                                "  %g = fmul x86_fp80 %f, %f\n"
                                "  %w = fptosi x86_fp80 %g to i32\n"
                                "  store i32 %w, ptr %p\n" END,
                       "function 'k' of the module: it has floats of more than "
                       "64 bits");
    neutral_refused_on(ALL,
                       ID ENTRY "  %v = load i32, ptr %p\n"
                                "  %f = sitofp i32 %v to fp128\n"
                                "  %w = fptosi fp128 %f to i32\n"
                                "  store i32 %w, ptr %p\n" END,
                       "it has floats of more than 64 bits");
}

/* ---- aggregates ---- */

/* A callee changes its copy, in a loop, and returns a struct in memory. */
static const char by_value[] =
    ID "define internal void @sum(ptr sret({i32, i32}) align 4 %out,\n"
       "    ptr byval({i32, i32}) align 4 %pair) INLINE {\n"
       "  %q = getelementptr i32, ptr %pair, i64 1\n"
       "  %a = load i32, ptr %pair\n"
       "  %b = load i32, ptr %q\n"
       "  store i32 1000, ptr %pair\n"
       "  %s = add i32 %a, %b\n"
       "  store i32 %s, ptr %out\n"
       "  %r = getelementptr i32, ptr %out, i64 1\n"
       "  store i32 %b, ptr %r\n"
       "  ret void\n"
       "}\n" ENTRY "  %own = alloca {i32, i32}, align 4\n"
       "  %out = alloca {i32, i32}, align 4\n"
       "  %o = getelementptr i32, ptr %own, i64 1\n"
       "  store i32 5, ptr %own\n"
       "  store i32 7, ptr %o\n"
       "  br label %loop\n"
       "loop:\n"
       "  %j = phi i32 [0, %0], [%next, %loop]\n"
       "  tail call void @sum(ptr sret({i32, i32}) align 4 %out,\n"
       "    ptr byval({i32, i32}) align 4 %own)\n"
       "  %next = add i32 %j, 1\n"
       "  %last = icmp eq i32 %next, 3\n"
       "  br i1 %last, label %done, label %loop\n"
       "done:\n"
       "  %t = load i32, ptr %out\n"
       "  store i32 %t, ptr %p\n" END;

static void calls_copy_what_they_pass_by_value(void **state)
{
    static const char *const words[] = {"noinline", "alwaysinline", ""};
    static char module[4096];
    const char *at = strstr(by_value, "INLINE");

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        int32_t y[2];
        launch l;

        snprintf(module, sizeof module, "%.*s%s%s", (int)(at - by_value),
                 by_value, words[i], at + 6);
        neutral_accepted(module);
        assert_int_equal(neutral_run(y, module, 2, 2, &l), 0);
        assert_int_equal(y[1], 12);
    }
}

/* ---- atomics ---- */

/* Every kind of atomics, with each of the scopes in its turn. */
static const char every_atomic[] = ID ENTRY
    "  %a = atomicrmw add ptr %p, i32 1 syncscope(\"SCOPE\") acq_rel\n"
    "  %b = cmpxchg ptr %p, i32 %a, i32 2 syncscope(\"SCOPE\") acq_rel"
    " monotonic\n"
    "  %c = load atomic i32, ptr %p syncscope(\"SCOPE\") acquire, align 4\n"
    "  store atomic i32 %c, ptr %p syncscope(\"SCOPE\") release, align 4\n"
    "  fence syncscope(\"SCOPE\") seq_cst\n" END;

/* Returns the module with the scope, in a buffer of its own. */
static const char *with_scope(const char *scope)
{
    static char module[4096];
    const char *at = every_atomic;
    size_t size = 0;

    while (*at != '\0') {
        const int is_scope = strncmp(at, "SCOPE", 5) == 0;
        const int wrote = snprintf(module + size, sizeof module - size, "%.*s",
                                   is_scope ? 64 : 1, is_scope ? scope : at);

        size += (size_t)wrote;
        assert_true(size < sizeof module);
        at += is_scope ? 5 : 1;
    }
    return module;
}

static void scopes_are_those_of_the_target(void **state)
{
    (void)state;
    neutral_accepted(with_scope("subgroup"));
    neutral_form(CUDA, KILN_EMIT_ASM, with_scope("subgroup"),
                 "atom.acq_rel.cta.add.u32", NULL);
    neutral_text(ROCM, with_scope("subgroup"), "syncscope(\"wavefront\")",
                 "subgroup");
    neutral_text(SPIRV, with_scope("subgroup"), "syncscope(\"subgroup\")",
                 NULL);
    neutral_accepted(with_scope("workgroup"));
    neutral_form(CUDA, KILN_EMIT_ASM, with_scope("workgroup"), "fence.sc.cta",
                 "sys");
    neutral_text(ROCM | SPIRV, with_scope("workgroup"),
                 "syncscope(\"workgroup\")", NULL);
    neutral_accepted(with_scope("agent"));
    neutral_form(CUDA, KILN_EMIT_ASM, with_scope("agent"), "fence.sc.gpu",
                 "sys");
    neutral_text(ROCM, with_scope("device"), "syncscope(\"agent\")", NULL);
    neutral_text(SPIRV, with_scope("agent"), "syncscope(\"device\")", NULL);
    neutral_text(HOST, with_scope("agent"), "atomicrmw add", "syncscope");
    neutral_accepted(with_scope(""));
    neutral_form(CUDA, KILN_EMIT_ASM, with_scope(""), "fence.sc.sys", NULL);
}

static void other_scopes_are_refused(void **state)
{
    (void)state;
    neutral_refused_on(
        ALL, with_scope("cluster"),
        "function 'k' of the module: it has atomics of the scope 'cluster'; "
        "there are 'subgroup', 'workgroup', 'agent' and the system's");
}

#define UPDATE(operation, value) \
    "  %" operation " = atomicrmw " operation " ptr %p, i32 " value \
    " syncscope(\"agent\") monotonic\n"

static void every_update_of_integers_and_floats_is_on_all_targets(void **state)
{
    static const char module[] = ID ENTRY UPDATE("xchg", "12") UPDATE(
        "add", "3") UPDATE("sub", "5") UPDATE("and", "14") UPDATE("nand", "6")
        UPDATE("or", "33") UPDATE("xor", "7") UPDATE("max", "-90")
            UPDATE("min", "40") UPDATE("umax", "17") UPDATE("umin", "1000")
                UPDATE("uinc_wrap", "2000") UPDATE("udec_wrap", "900")
                    UPDATE("usub_cond", "100") UPDATE(
                        "usub_sat",
                        "30") "  store i32 1069547520, ptr %p\n" /* 1.5f */
                              "  %f = atomicrmw fadd ptr %p, float 2.0 "
                              "syncscope(\"agent\")"
                              " monotonic\n"
                              "  %g = atomicrmw fsub ptr %p, float 1.0 "
                              "syncscope(\"agent\")"
                              " monotonic\n"
                              "  %h = atomicrmw fmax ptr %p, float 2.0 "
                              "syncscope(\"agent\")"
                              " monotonic\n"
                              "  %j = atomicrmw fmin ptr %p, float 2.25 "
                              "syncscope(\"agent\")"
                              " monotonic\n" END;
    float y[2];
    launch l;

    (void)state;
    neutral_accepted(module);
    assert_int_equal(neutral_run((int32_t *)y, module, 2, 1, &l), 0);
    assert_true(y[0] == 2.25f && y[1] == 2.25f);
    neutral_text(SPIRV, module, "cmpxchg ptr addrspace(1)", "atomicrmw nand");
}

static void wide_atomics_are_refused(void **state)
{
    (void)state;
    neutral_refused_on(
        ALL, ID ENTRY "  %a = atomicrmw add ptr %p, i128 1 monotonic\n" END,
        "it has an atomic operation on more than 64 bits");
}

/* ---- memory of a group ---- */

#define SHARED(size, initial) \
    "@tile = internal addrspace(3) global [" size " x i32] " initial \
    ", align 16\n"

/* Each item takes what its neighbour has left. */
static const char exchange[] = ID
    "declare i64 @kiln_local_id(i32)\n"
    "declare void @kiln_barrier(i32, i32) convergent\n" SHARED("64", "poison")
        ENTRY "  %l = call i64 @kiln_local_id(i32 0)\n"
              "  %v = load i32, ptr %p\n"
              "  %s = getelementptr i32, ptr addrspace(3) @tile, i64 %l\n"
              "  store i32 %v, ptr addrspace(3) %s\n"
              "  call void @kiln_barrier(i32 2, i32 1)\n"
              "  %x = xor i64 %l, 1\n"
              "  %g = addrspacecast ptr addrspace(3) @tile to ptr\n"
              "  %t = getelementptr i32, ptr %g, i64 %x\n"
              "  %w = load i32, ptr %t\n"
              "  store i32 %w, ptr %p\n" END;

static void variables_of_a_group_are_in_its_memory(void **state)
{
    (void)state;
    neutral_form(CUDA, KILN_EMIT_ASM, exchange, "ld.shared", "ld.b32");
    neutral_form(CUDA, KILN_EMIT_ASM, exchange, "[256]", NULL);
    neutral_form(ROCM, KILN_EMIT_ASM, exchange, "ds_read_b32", "flat_load");
    neutral_form(ROCM, KILN_EMIT_ASM, exchange,
                 ".amdhsa_group_segment_fixed_size 256", NULL);
    neutral_text(SPIRV, exchange, "load i32, ptr addrspace(3)",
                 "ptr addrspace(4)");
}

static void items_of_the_host_share_the_variables_of_a_group(void **state)
{
    static const int32_t expected[] = {1, 0, 3, 2, 5, 4};
    int32_t y[] = {0, 1, 2, 3, 4, 5};
    launch l;

    (void)state;
    assert_int_equal(neutral_run(y, exchange, 6, 2, &l), 0);
    assert_memory_equal(y, expected, sizeof y);
}

static void groups_have_so_much_memory(void **state)
{
    static const char words[] = "local arrays take 400000 bytes; a group of ";
    static const char module[] = ID SHARED("100000", "undef") ENTRY
        "  %s = getelementptr i32, ptr addrspace(3) @tile, i64 %i\n"
        "  store i32 1, ptr addrspace(3) %s\n"
        "  %v = load volatile i32, ptr addrspace(3) %s\n"
        "  store i32 %v, ptr %p\n" END;

    (void)state;
    for (int i = 1; i < 3; i++) {
        outcome o;

        neutral_build(&o, &foreign_targets[i], module, foreign_targets[i].form,
                      2);
        assert_int_equal(o.status, KILN_EUNSUPPORTED);
        assert_contains(o.message, words);
    }
}

/* ---- dynamic memory of a group ---- */

#define DYNAMIC \
    "declare i64 @kiln_local_id(i32)\n" \
    "declare ptr addrspace(3) @kiln_group_memory()\n"
#define STORE \
    "  %l = call i64 @kiln_local_id(i32 0)\n" \
    "  %s = getelementptr i32, ptr addrspace(3) %memory, i64 %l\n" \
    "  store volatile i32 5, ptr addrspace(3) %s\n"

static void dynamic_memory_is_where_the_target_has_it(void **state)
{
    static const char module[] = ID DYNAMIC ENTRY
        "  %memory = call ptr addrspace(3) "
        "@kiln_group_memory()\n" STORE "  store i32 1, ptr %p\n" END;

    (void)state;
    neutral_form(CUDA, KILN_EMIT_ASM, module,
                 ".extern .shared .align 16 .b8 kiln_dynamic[]", NULL);
    neutral_form(CUDA, KILN_EMIT_ASM, module, "st.volatile.shared", NULL);
    neutral_form(ROCM, KILN_EMIT_ASM, module, "ds_write_b32", "flat_store");
    neutral_text(SPIRV, module, "ptr addrspace(3)", NULL);
}

static void names_of_dynamic_memory_are_16_byte_aligned(void **state)
{
    (void)state;
    neutral_refused_on(
        ALL,
        ID DYNAMIC "@memory = external addrspace(3) global [0 x i32], align 32"
                   "\n" ENTRY "  store i32 1, ptr addrspace(3) @memory\n"
                   "  store i32 1, ptr %p\n" END,
        "variable 'memory' of the module: dynamic group memory is aligned to "
        "16 bytes");
    neutral_refused_on(
        ALL,
        ID DYNAMIC "@memory = external addrspace(3) global [0 x i32]\n"
                   "@at = internal constant ptr addrspace(3) @memory\n" ENTRY
                   "  %a = load volatile ptr addrspace(3), ptr @at\n"
                   "  store i32 1, ptr addrspace(3) %a\n"
                   "  store i32 1, ptr %p\n" END,
        "variable 'memory' of the module: its address is in a constant, and is "
        "known only at run time");
}

static void memory_of_a_group_begins_undefined(void **state)
{
    static const char words[] =
        "variable 'tile' of the module: it is in the memory of a group, which "
        "has no value at first; give it poison, and let the items write it";
    static const char *const modules[] = {
        SHARED("64", "zeroinitializer") ID ENTRY
        "  %s = getelementptr i32, ptr addrspace(3) @tile, i64 %i\n"
        "  store i32 1, ptr addrspace(3) %s\n" END,
        "@tile = internal addrspace(3) global i32 7\n" ID ENTRY
        "  store i32 1, ptr addrspace(3) @tile\n" END,
    };

    (void)state;
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
        for (int t = 0; t < 4; t++) {
            outcome o;

            neutral_build(&o, &foreign_targets[t], modules[i],
                          foreign_targets[t].form, 2);
            assert_int_equal(o.status, KILN_ECODEGEN);
            assert_contains(o.message, words);
        }
}

static void variables_that_are_written_are_refused(void **state)
{
    static const char *const heads[] = {"@count = internal global i32 0\n",
                                        "@count = global i32 0\n"};
    static char module[1024];

    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        snprintf(module, sizeof module, "%s%s", heads[i],
                 ID ENTRY "  %a = atomicrmw add ptr @count, i32 1 monotonic\n"
                          "  store i32 %a, ptr %p\n" END);
        neutral_refused_on(
            ALL, module,
            "variable 'count' of the module: it can be written, and a kernel "
            "is shared by queues and processes; what it keeps stands in arrays "
            "that are arguments, or in host objects that are named as sites");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generic_pointers_reach_all_memory),
        cmocka_unit_test(pointers_are_compared_exchanged_and_in_vectors),
        cmocka_unit_test(pointers_to_constants_are_of_their_own_on_spirv),
        cmocka_unit_test(elements_of_variables_are_passed_on_spirv),
        cmocka_unit_test(allocated_memory_is_generic_or_global),
        cmocka_unit_test(a_triple_means_nothing),
        cmocka_unit_test(accesses_of_arrays_are_global),
        cmocka_unit_test(variables_of_an_item_are_where_the_target_has_them),
        cmocka_unit_test(constants_are_read_where_the_target_has_them),
        cmocka_unit_test(texts_for_device_functions_are_constants),
        cmocka_unit_test(numbers_of_spaces_may_be_those_of_spir),
        cmocka_unit_test(pointers_of_plain_c_are_generic),
        cmocka_unit_test(arguments_are_in_global_memory),
        cmocka_unit_test(other_spaces_are_refused),
        cmocka_unit_test(pointers_to_functions_need_a_target_that_has_them),
        cmocka_unit_test(a_layout_may_be_that_of_another_target),
        cmocka_unit_test(what_is_laid_out_otherwise_is_refused),
        cmocka_unit_test(texts_without_a_layout_have_natural_alignments),
        cmocka_unit_test(long_floats_are_refused),
        cmocka_unit_test(calls_copy_what_they_pass_by_value),
        cmocka_unit_test(scopes_are_those_of_the_target),
        cmocka_unit_test(other_scopes_are_refused),
        cmocka_unit_test(every_update_of_integers_and_floats_is_on_all_targets),
        cmocka_unit_test(wide_atomics_are_refused),
        cmocka_unit_test(variables_of_a_group_are_in_its_memory),
        cmocka_unit_test(items_of_the_host_share_the_variables_of_a_group),
        cmocka_unit_test(groups_have_so_much_memory),
        cmocka_unit_test(dynamic_memory_is_where_the_target_has_it),
        cmocka_unit_test(names_of_dynamic_memory_are_16_byte_aligned),
        cmocka_unit_test(memory_of_a_group_begins_undefined),
        cmocka_unit_test(variables_that_are_written_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
