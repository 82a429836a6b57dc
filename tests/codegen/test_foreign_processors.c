/* test_foreign_processors.c - what one GPU has and another has not. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen cuda rocm */
/* LINKS: codegen */
#include "support/codegen/foreign.h"

#define STORE(type) "  store " type " %r, ptr %y\n"

/* Asserts that the first processor has the intrinsic of the body and that the
   second lacks it, at levels with and without passes. */
static void assert_of(int target, const char *has, const char *lacks,
                      const char *globals, const char *body)
{
    outcome o;

    for (uint8_t level = 0; level <= 2; level += 2) {
        foreign_build_for(&o, target, has, globals, body, level);
        if (o.status != KILN_OK)
            fail_msg("%s: %s\n%s", has, o.message, body);
        free(o.bytes);
        foreign_build_for(&o, target, lacks, globals, body, level);
        if (o.status != KILN_ECODEGEN)
            fail_msg("%s builds\n%s", lacks, body);
        assert_contains(o.message, "has no such instruction");
        assert_contains(o.message,
                        target == ROCM ? "'llvm.amdgcn." : "'llvm.nvvm.");
    }
}

static void amds_processors_have_their_own_instructions(void **state)
{
    (void)state;
    assert_of(
        ROCM, "gfx908", "gfx1100",
        "declare <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float, float,"
        " <4 x float>, i32, i32, i32)\n",
        "  %c = load <4 x float>, ptr %y\n"
        "  %r = call <4 x float> @llvm.amdgcn.mfma.f32.4x4x1f32(float 1.0,"
        " float 2.0, <4 x float> %c, i32 0, i32 0, i32 0)\n" STORE(
            "<4 x float>"));
    assert_of(ROCM, "gfx90a", "gfx908",
              "declare double @llvm.amdgcn.mfma.f64.4x4x4f64(double, double,"
              " double, i32, i32, i32)\n",
              "  %c = load double, ptr %y\n"
              "  %r = call double @llvm.amdgcn.mfma.f64.4x4x4f64(double 1.0,"
              " double 2.0, double %c, i32 0, i32 0, i32 0)\n" STORE("double"));
    assert_of(
        ROCM, "gfx1100", "gfx90a",
        "declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32."
        "v16f16(<16 x half>, <16 x half>, <8 x float>)\n",
        "  %a = load <16 x half>, ptr %y\n"
        "  %c = load <8 x float>, ptr %y\n"
        "  %r = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32."
        "v16f16(<16 x half> %a, <16 x half> %a, <8 x float> %c)\n" STORE(
            "<8 x float>"));
    assert_of(ROCM, "gfx906", "gfx900",
              "declare i32 @llvm.amdgcn.sdot4(i32, i32, i32, i1)\n",
              "  %a = load i32, ptr %y\n"
              "  %r = call i32 @llvm.amdgcn.sdot4(i32 %a, i32 %a, i32 %a,"
              " i1 false)\n" STORE("i32"));
    assert_of(
        ROCM, "gfx1030", "gfx90a",
        "declare i32 @llvm.amdgcn.mov.dpp8.i32(i32, i32)\n",
        "  %a = load i32, ptr %y\n"
        "  %r = call i32 @llvm.amdgcn.mov.dpp8.i32(i32 %a, i32 1)\n" STORE(
            "i32"));
    assert_of(
        ROCM, "gfx942", "gfx90a",
        "declare float @llvm.amdgcn.cvt.f32.fp8(i32, i32)\n",
        "  %a = load i32, ptr %y\n"
        "  %r = call float @llvm.amdgcn.cvt.f32.fp8(i32 %a, i32 0)\n" STORE(
            "float"));
    assert_of(ROCM, "gfx1100", "gfx1030",
              "declare void @llvm.amdgcn.s.wait.event.export.ready()\n",
              "  call void @llvm.amdgcn.s.wait.event.export.ready()\n");
}

/* What an instruction needs depends on the types of a call. */
static void types_need_processors_of_their_own(void **state)
{
    (void)state;
    assert_of(
        ROCM, "gfx90a", "gfx1100",
        "declare double @llvm.amdgcn.raw.buffer.atomic.fadd.f64(double,"
        " <4 x i32>, i32, i32, i32)\n",
        "  %d = load <4 x i32>, ptr %y\n"
        "  %r = call double @llvm.amdgcn.raw.buffer.atomic.fadd.f64("
        "double 1.0, <4 x i32> %d, i32 0, i32 0, i32 0)\n" STORE("double"));
    assert_of(ROCM, "gfx1100", "gfx90a",
              "declare i32 @llvm.amdgcn.icmp.i32.i32(i32, i32, i32)\n",
              "  %a = load i32, ptr %y\n"
              "  %r = call i32 @llvm.amdgcn.icmp.i32.i32(i32 %a, i32 5,"
              " i32 32)\n" STORE("i32"));
    assert_of(ROCM, "gfx90a", "gfx1100",
              "declare half @llvm.amdgcn.fmad.ftz.f16(half, half, half)\n",
              "  %a = load half, ptr %y\n"
              "  %r = call half @llvm.amdgcn.fmad.ftz.f16(half %a, half %a,"
              " half %a)\n" STORE("half"));
    assert_of(CUDA, "sm_86", "sm_80",
              "declare half @llvm.nvvm.fmax.xorsign.abs.f16(half, half)\n",
              "  %a = load half, ptr %y\n"
              "  %r = call half @llvm.nvvm.fmax.xorsign.abs.f16(half %a,"
              " half %a)\n" STORE("half"));
}

static void nvidias_processors_have_their_own_instructions(void **state)
{
    (void)state;
    assert_of(
        CUDA, "sm_80", "sm_75",
        "declare i32 @llvm.nvvm.redux.sync.add(i32, i32)\n",
        "  %a = load i32, ptr %y\n"
        "  %r = call i32 @llvm.nvvm.redux.sync.add(i32 %a, i32 -1)\n" STORE(
            "i32"));
    assert_of(CUDA, "sm_60", "sm_70",
              "declare i32 @llvm.nvvm.shfl.down.i32(i32, i32, i32)\n",
              "  %a = load i32, ptr %y\n"
              "  %r = call i32 @llvm.nvvm.shfl.down.i32(i32 %a, i32 1, i32 "
              "31)\n" STORE("i32"));
    assert_of(CUDA, "sm_80", "sm_70",
              "declare void @llvm.nvvm.cp.async.commit.group()\n",
              "  call void @llvm.nvvm.cp.async.commit.group()\n");
    assert_of(CUDA, "sm_90", "sm_80",
              "declare void @llvm.nvvm.barrier.cluster.arrive()\n",
              "  call void @llvm.nvvm.barrier.cluster.arrive()\n");
    assert_of(CUDA, "sm_90a", "sm_90",
              "declare void @llvm.nvvm.wgmma.fence.sync.aligned()\n",
              "  call void @llvm.nvvm.wgmma.fence.sync.aligned()\n");
    assert_of(
        CUDA, "sm_70", "sm_60",
        "declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)\n",
        "  %a = load i32, ptr %y\n"
        "  %r = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %a)\n" STORE(
            "i32"));
}

static void an_old_ptx_lacks_what_the_gpu_has(void **state)
{
    foreign_target old = *foreign_target_of(CUDA);
    outcome o;

    (void)state;
    old.processor = "sm_90";
    old.features = "+ptx78";
    foreign_build(&o, &old,
                  "declare i1 @llvm.nvvm.elect.sync(i32)\n"
                  "declare {i32, i1} @llvm.nvvm.elect.sync.x(i32)\n",
                  "", 2);
    assert_int_equal(o.status, KILN_OK); /* nothing calls them */
    free(o.bytes);
    foreign_build(&o, &old, "declare {i32, i1} @llvm.nvvm.elect.sync(i32)\n",
                  "  %r = call {i32, i1} @llvm.nvvm.elect.sync(i32 -1)\n"
                  "  %l = extractvalue {i32, i1} %r, 0\n"
                  "  store i32 %l, ptr %y\n",
                  2);
    assert_int_equal(o.status, KILN_ECODEGEN);
    assert_contains(o.message, "the version of PTX does not have it");
}

static void formats_of_bytes_are_refused_on_rocm(void **state)
{
    outcome o;

    (void)state;
    foreign_build_for(
        &o, ROCM, "gfx90a",
        "declare void @llvm.amdgcn.raw.tbuffer.store.i8(i8, <4 x i32>,"
        " i32, i32, i32, i32)\n",
        "  %a = load <4 x i32>, ptr %y\n"
        "  call void @llvm.amdgcn.raw.tbuffer.store.i8(i8 1, <4 x i32> %a,"
        " i32 0, i32 0, i32 78, i32 0)\n",
        2);
    assert_int_equal(o.status, KILN_ECODEGEN);
    assert_contains(o.message, "no code for it on this type");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amds_processors_have_their_own_instructions),
        cmocka_unit_test(types_need_processors_of_their_own),
        cmocka_unit_test(nvidias_processors_have_their_own_instructions),
        cmocka_unit_test(an_old_ptx_lacks_what_the_gpu_has),
        cmocka_unit_test(formats_of_bytes_are_refused_on_rocm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
