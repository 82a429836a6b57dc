/* rocm_features.c - which processors have which of LLVM's intrinsics. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/rocm/codegen/rocm_codegen.h"

#include <string.h>

#include "codegen/module/codegen_stages.h"
#include "codegen/module/codegen_values.h"

/*
 * LLVM ends the process when the processor lacks an intrinsic's instruction.
 * This table says which of LLVM's features an intrinsic needs: what clang 22
 * asks of its built-in functions, and a few more where LLVM's own tables ask
 * for more. Intrinsics that are not here are on every processor.
 */

/* Intrinsics with that name, or a name that goes on after a dot, need all
   features of one of the lists between bars; "" is no feature. The longest name
   counts. The list is sorted. */
typedef struct feature {
    const char *name;
    const char *lists;
} feature;

static const feature features[] = {
    {"add", "+add-min-max-insts"},
    {"ashr", "+ashr-pk-insts"},
    {"bitop3", "+bitop3-insts"},
    {"buffer.wbinvl1.vol", "+ci-insts"},
    {"cluster.id", "+gfx1250-insts"},
    {"cluster.load", "+mcast-load-insts,+wavefrontsize32"},
    {"cluster.workgroup", "+gfx1250-insts"},
    {"cooperative", "+gfx1250-insts,+wavefrontsize32"},
    {"cubeid", "+cube-insts"},
    {"cubema", "+cube-insts"},
    {"cubesc", "+cube-insts"},
    {"cubetc", "+cube-insts"},
    {"cvt.f16", "+gfx1250-insts"},
    {"cvt.f32.bf8", "+fp8-conversion-insts"},
    {"cvt.f32.fp8", "+fp8-conversion-insts"},
    {"cvt.f32.fp8.e5m3", "+fp8e5m3-insts"},
    {"cvt.pk.bf8.f16", "+gfx1250-insts"},
    {"cvt.pk.bf8.f32", "+fp8-conversion-insts"},
    {"cvt.pk.f16", "+gfx1250-insts"},
    {"cvt.pk.f32", "+fp8-conversion-insts"},
    {"cvt.pk.fp8.f16", "+gfx1250-insts"},
    {"cvt.pk.fp8.f32", "+fp8-conversion-insts"},
    {"cvt.pk.fp8.f32.e5m3", "+fp8e5m3-insts"},
    {"cvt.pknorm", "+cvt-pknorm-vop2-insts"},
    {"cvt.scale", "+gfx1250-insts"},
    {"cvt.scalef32.2xpk16", "+gfx950-insts"},
    {"cvt.scalef32.f16.bf8", "+bf8-cvt-scale-insts"},
    {"cvt.scalef32.f16.fp8", "+fp8-cvt-scale-insts"},
    {"cvt.scalef32.f32.bf8", "+bf8-cvt-scale-insts"},
    {"cvt.scalef32.f32.fp8", "+fp8-cvt-scale-insts"},
    {"cvt.scalef32.pk.bf16.bf8", "+bf8-cvt-scale-insts"},
    {"cvt.scalef32.pk.bf16.fp4", "+fp4-cvt-scale-insts"},
    {"cvt.scalef32.pk.bf16.fp8", "+fp8-cvt-scale-insts"},
    {"cvt.scalef32.pk.bf8", "+bf8-cvt-scale-insts"},
    {"cvt.scalef32.pk.f16.bf8", "+bf8-cvt-scale-insts"},
    {"cvt.scalef32.pk.f16.fp4", "+fp4-cvt-scale-insts"},
    {"cvt.scalef32.pk.f16.fp8", "+fp8-cvt-scale-insts"},
    {"cvt.scalef32.pk.f32.bf8", "+bf8-cvt-scale-insts"},
    {"cvt.scalef32.pk.f32.fp4", "+fp4-cvt-scale-insts"},
    {"cvt.scalef32.pk.f32.fp8", "+fp8-cvt-scale-insts"},
    {"cvt.scalef32.pk.fp4", "+fp4-cvt-scale-insts"},
    {"cvt.scalef32.pk.fp8", "+fp8-cvt-scale-insts"},
    {"cvt.scalef32.pk16", "+gfx1250-insts"},
    {"cvt.scalef32.pk32.bf16", "+fp6bf6-cvt-scale-insts"},
    {"cvt.scalef32.pk32.bf6", "+f16bf16-to-fp6bf6-cvt-scale-insts"},
    {"cvt.scalef32.pk32.f16", "+fp6bf6-cvt-scale-insts"},
    {"cvt.scalef32.pk32.f32", "+fp6bf6-cvt-scale-insts"},
    {"cvt.scalef32.pk32.fp6", "+f16bf16-to-fp6bf6-cvt-scale-insts"},
    {"cvt.scalef32.pk8", "+gfx1250-insts"},
    {"cvt.scalef32.sr.bf8", "+bf8-cvt-scale-insts"},
    {"cvt.scalef32.sr.fp8", "+fp8-cvt-scale-insts"},
    {"cvt.scalef32.sr.pk", "+fp4-cvt-scale-insts"},
    {"cvt.scalef32.sr.pk16", "+gfx1250-insts"},
    {"cvt.scalef32.sr.pk32", "+f16bf16-to-fp6bf6-cvt-scale-insts"},
    {"cvt.scalef32.sr.pk8", "+gfx1250-insts"},
    {"cvt.sr.bf16", "+f32-to-f16bf16-cvt-sr-insts"},
    {"cvt.sr.bf8.f16", "+gfx1250-insts"},
    {"cvt.sr.bf8.f32", "+fp8-conversion-insts"},
    {"cvt.sr.f16", "+f32-to-f16bf16-cvt-sr-insts"},
    {"cvt.sr.fp8.f16", "+gfx1250-insts"},
    {"cvt.sr.fp8.f32", "+fp8-conversion-insts"},
    {"cvt.sr.fp8.f32.e5m3", "+fp8e5m3-insts"},
    {"cvt.sr.pk.bf16", "+bf16-cvt-insts"},
    {"cvt.sr.pk.f16", "+gfx1250-insts"},
    {"dot4", "+dot11-insts"},
    {"ds.add", "+gfx11-insts"},
    {"ds.atomic", "+gfx1250-insts"},
    {"ds.bpermute.fi", "+gfx12-insts"},
    {"ds.bvh.stack.push4", "+gfx11-insts"},
    {"ds.bvh.stack.push8", "+gfx12-insts"},
    {"ds.bvh.stack.rtn", "+gfx11-insts"},
    {"ds.gws.barrier", "+gws"},
    {"ds.gws.init", "+gws"},
    {"ds.gws.sema.br", "+gws"},
    {"ds.gws.sema.p", "+gws"},
    {"ds.gws.sema.release", "+ci-insts"},
    {"ds.gws.sema.v", "+gws"},
    {"ds.load.tr16", "+gfx1250-insts,+wavefrontsize32"},
    {"ds.load.tr4", "+transpose-load-f4f6-insts,+wavefrontsize32"},
    {"ds.load.tr6", "+transpose-load-f4f6-insts,+wavefrontsize32"},
    {"ds.load.tr8", "+gfx1250-insts,+wavefrontsize32"},
    {"ds.read", "+gfx950-insts"},
    {"ds.sub", "+gfx11-insts"},
    {"fdot2", "+dot10-insts"},
    {"fdot2.bf16", "+dot9-insts"},
    {"fdot2.f16", "+dot9-insts"},
    {"fdot2.f32", "+dot12-insts"},
    {"fdot2c", "+dot13-insts"},
    {"flat.load", "+gfx1250-insts"},
    {"flat.prefetch", "+vmem-pref-insts"},
    {"global.load.async", "+gfx1250-insts"},
    {"global.load.lds", "+vmem-to-lds-load-insts"},
    {"global.load.monitor", "+gfx1250-insts"},
    {"global.load.tr", "+gfx12-insts"},
    {"global.load.tr4", "+transpose-load-f4f6-insts,+wavefrontsize32"},
    {"global.load.tr6", "+transpose-load-f4f6-insts,+wavefrontsize32"},
    {"global.prefetch", "+vmem-pref-insts"},
    {"global.store", "+gfx1250-insts"},
    {"lerp", "+lerp-inst"},
    {"load", "+vmem-to-lds-load-insts"},
    {"mfma", "+mai-insts"},
    {"mfma.f32.16x16x16bf16", "+gfx90a-insts"},
    {"mfma.f32.16x16x32", "+fp8-insts"},
    {"mfma.f32.16x16x32.bf16", "+gfx950-insts"},
    {"mfma.f32.16x16x32.f16", "+gfx950-insts"},
    {"mfma.f32.16x16x4bf16", "+gfx90a-insts"},
    {"mfma.f32.16x16x8", "+xf32-insts"},
    {"mfma.f32.32x32x16", "+fp8-insts"},
    {"mfma.f32.32x32x16.bf16", "+gfx950-insts"},
    {"mfma.f32.32x32x16.f16", "+gfx950-insts"},
    {"mfma.f32.32x32x4", "+xf32-insts"},
    {"mfma.f32.32x32x4bf16.1k", "+gfx90a-insts"},
    {"mfma.f32.32x32x8bf16", "+gfx90a-insts"},
    {"mfma.f32.4x4x4bf16", "+gfx90a-insts"},
    {"mfma.f64", "+gfx90a-insts"},
    {"mfma.i32.16x16x32", "+gfx940-insts"},
    {"mfma.i32.16x16x64", "+gfx950-insts"},
    {"mfma.i32.32x32x16", "+gfx940-insts"},
    {"mfma.i32.32x32x32", "+gfx950-insts"},
    {"mfma.scale", "+gfx950-insts"},
    {"mov.dpp", "+dpp"},
    {"mov.dpp8", "+gfx10-insts"},
    {"perm", "+gfx8-insts"},
    {"perm.pk16", "+tensor-cvt-lut-insts"},
    {"permlane", "+gfx1250-insts,+wavefrontsize32"},
    {"permlane16", "+gfx10-insts"},
    {"permlane16.swap", "+permlane16-swap"},
    {"permlane16.var", "+gfx12-insts"},
    {"permlane32", "+permlane32-swap"},
    {"permlane64", "+gfx11-insts"},
    {"permlanex16", "+gfx10-insts"},
    {"permlanex16.var", "+gfx12-insts"},
    {"pk", "+pk-add-min-max-insts"},
    {"prng", "+prng-inst"},
    {"qsad", "+qsad-insts"},
    {"raw.buffer.load.lds", "+vmem-to-lds-load-insts"},
    {"raw.ptr.buffer.atomic.fadd",
     "+atomic-buffer-global-pk-add-f16-insts|+atomic-fadd-rtn-insts"},
    {"raw.ptr.buffer.atomic.fmax",
     "+atomic-fmin-fmax-global-f32|+atomic-fmin-fmax-global-f64"},
    {"raw.ptr.buffer.atomic.fmin",
     "+atomic-fmin-fmax-global-f32|+atomic-fmin-fmax-global-f64"},
    {"raw.ptr.buffer.load.lds", "+vmem-to-lds-load-insts"},
    {"s.barrier.init", "+gfx12-insts"},
    {"s.barrier.join", "+gfx12-insts"},
    {"s.barrier.leave", "+gfx12-insts"},
    {"s.barrier.signal", "+gfx12-insts"},
    {"s.barrier.wait", "+gfx12-insts"},
    {"s.buffer.prefetch", "+gfx12-insts"},
    {"s.cluster", "+gfx1250-insts"},
    {"s.dcache.inv.vol", "+ci-insts"},
    {"s.dcache.wb", "+gfx8-insts"},
    {"s.dcache.wb.vol", ""},
    {"s.get.barrier", "+gfx12-insts"},
    {"s.get.named", "+gfx12-insts"},
    {"s.memrealtime", "+s-memrealtime"},
    {"s.memtime", "+s-memtime-inst"},
    {"s.monitor", "+gfx1250-insts"},
    {"s.prefetch", "+gfx12-insts"},
    {"s.sendmsg.rtn", "+gfx11-insts"},
    {"s.setprio.inc", "+setprio-inc-wg-inst"},
    {"s.sleep.var", "+gfx12-insts"},
    {"s.ttracedata.imm", "+gfx10-insts"},
    {"s.wait.asynccnt", "+gfx1250-insts"},
    {"s.wait.event", "+gfx11-insts"},
    {"s.wait.tensorcnt", "+gfx1250-insts"},
    {"s.wakeup", "+s-wakeup-barrier-inst"},
    {"sad", "+sad-insts"},
    {"sat", "+gfx1250-insts"},
    {"sdot2", "+dot2-insts"},
    {"sdot4", "+dot1-insts"},
    {"sdot8", "+dot1-insts"},
    {"smfmac", "+gfx950-insts"},
    {"smfmac.f32.16x16x32", "+gfx940-insts"},
    {"smfmac.f32.16x16x64", "+fp8-insts"},
    {"smfmac.f32.16x16x64.bf16", "+gfx950-insts"},
    {"smfmac.f32.16x16x64.f16", "+gfx950-insts"},
    {"smfmac.f32.32x32x16", "+gfx940-insts"},
    {"smfmac.f32.32x32x32", "+fp8-insts"},
    {"smfmac.f32.32x32x32.bf16", "+gfx950-insts"},
    {"smfmac.f32.32x32x32.f16", "+gfx950-insts"},
    {"smfmac.i32.16x16x64", "+gfx940-insts"},
    {"smfmac.i32.32x32x32", "+gfx940-insts"},
    {"struct.buffer.load.lds", "+vmem-to-lds-load-insts"},
    {"struct.ptr.buffer.load.lds", "+vmem-to-lds-load-insts"},
    {"sudot4", "+dot8-insts"},
    {"sudot8", "+dot8-insts"},
    {"swmmac", "+gfx1250-insts,+wavefrontsize32"},
    {"swmmac.bf16", "+gfx12-insts"},
    {"swmmac.bf16.16x16x64", "+gfx1250-insts,+wavefrontsize32"},
    {"swmmac.f16.16x16x32", "+gfx12-insts"},
    {"swmmac.f32.16x16x32", "+gfx12-insts"},
    {"swmmac.i32", "+gfx12-insts"},
    {"swmmac.i32.16x16x128", "+gfx1250-insts,+wavefrontsize32"},
    {"tanh", "+bf16-trans-insts"},
    {"tensor", "+gfx1250-insts"},
    {"udot2", "+dot2-insts"},
    {"udot4", "+dot7-insts"},
    {"udot8", "+dot7-insts"},
    {"update", "+dpp"},
    {"wmma", "+gfx1250-insts,+wavefrontsize32"},
    {"wmma.bf16", "+gfx11-insts"},
    {"wmma.bf16.16x16x16.bf16.tied", "+gfx11-insts"},
    {"wmma.bf16.16x16x32", "+gfx1250-insts,+wavefrontsize32"},
    {"wmma.f16.16x16x16", "+gfx11-insts"},
    {"wmma.f16.16x16x16.f16.tied", "+gfx11-insts"},
    {"wmma.f32.16x16x16", "+gfx12-insts"},
    {"wmma.f32.16x16x16.bf16", "+gfx11-insts"},
    {"wmma.f32.16x16x16.f16", "+gfx11-insts"},
    {"wmma.i32", "+gfx11-insts"},
    {"wmma.i32.16x16x32", "+gfx12-insts"},
    {"wmma.i32.16x16x64", "+gfx1250-insts,+wavefrontsize32"},
};

static const feature *find(const char *name)
{
    const feature *best = NULL;

    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        const size_t size = strlen(features[i].name);

        if (strncmp(name, features[i].name, size) == 0 &&
            (name[size] == '\0' || name[size] == '.'))
            best = &features[i];
    }
    return best;
}

/* True if the processor has all features of the list. */
static int has(const kiln__codegen_settings *settings, const char *list,
               size_t size)
{
    char text[128];

    if (size >= sizeof text)
        return 0;
    memcpy(text, list, size);
    text[size] = '\0';
    return kiln__llvm_target_has(settings->triple, settings->processor,
                                 settings->features, text);
}

/* True if the processor has all features of one of the lists. */
static int has_one(const kiln__codegen_settings *settings, const char *lists)
{
    for (;; lists++) {
        const size_t size = strcspn(lists, "|");

        if (size == 0 || has(settings, lists, size))
            return 1;
        lists += size;
        if (*lists == '\0')
            return 0;
    }
}

static int begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Returns what a call needs because of its types; "": nothing more. */
static const char *lists_of_types(LLVMValueRef call, const char *name)
{
    LLVMTypeRef type = LLVMTypeOf(call);
    const char *update = strstr(name, "buffer.atomic.f");
    LLVMTypeKind kind;

    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind)
        return "";
    kind = LLVMGetTypeKind(kiln__lane_type(type));
    if (update != NULL && kind == LLVMDoubleTypeKind)
        return strstr(update, "fadd") != NULL
                   ? "+gfx90a-insts"
                   : "+gfx90a-insts|+atomic-fmin-fmax-global-f64";
    if (update != NULL && kind == LLVMHalfTypeKind)
        return "+atomic-buffer-global-pk-add-f16-insts";
    /* A bit for each lane of a wave. */
    return (begins(name, "icmp.") || begins(name, "fcmp.")) &&
                   kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) < 64
               ? "+wavefrontsize32"
               : "";
}

/* Processors from gfx10 on have no such instruction for f16. */
static int is_lost(const kiln__codegen_settings *settings, LLVMValueRef call,
                   const char *name)
{
    static const char since[] = "+gfx10-insts";

    return begins(name, "fmad.ftz") &&
           LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMHalfTypeKind &&
           has(settings, since, sizeof since - 1);
}

int kiln__rocm_has_intrinsic(const kiln__codegen_job *job, LLVMValueRef call,
                             const char *name)
{
    const kiln__codegen_settings *settings = job->settings;
    const feature *needs = find(name);

    return (needs == NULL || has_one(settings, needs->lists)) &&
           has_one(settings, lists_of_types(call, name)) &&
           !is_lost(settings, call, name);
}
