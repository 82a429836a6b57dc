/* cuda_features.c - which GPUs have which of LLVM's intrinsics. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/cuda/codegen/cuda_codegen.h"

#include <stdlib.h>
#include <string.h>

/*
 * LLVM ends the process when the GPU, or the version of PTX, lacks an
 * intrinsic's instruction. The numbers are those of NVIDIA's PTX ISA, and what
 * clang 22 asks of its built-in functions. Intrinsics that are not here are on
 * every GPU that Kiln compiles for.
 */

/* Intrinsics with that name, or a name that goes on after a dot, need a GPU of
   at least this number and this version of PTX; 0 is any. The longest name
   counts. */
typedef struct feature {
    const char *name;
    unsigned gpu;
    unsigned ptx;
    int is_own; /* of GPUs with an `a` or `f` after their number only */
} feature;

static const feature features[] = {
    {"activemask", 0, 62, 0},
    {"bar.warp.sync", 0, 60, 0},
    {"barrier.cluster", 90, 78, 0},
    {"clusterlaunchcontrol", 100, 86, 0},
    {"cp.async", 80, 70, 0},
    {"cp.async.bulk", 90, 80, 0},
    {"e2m1x2", 100, 86, 1},
    {"e2m3x2", 100, 86, 1},
    {"e3m2x2", 100, 86, 1},
    {"e4m3x2", 89, 81, 0},
    {"e5m2x2", 89, 81, 0},
    {"elect.sync", 90, 80, 0},
    {"f16x2.to", 89, 81, 0},
    {"f2bf16", 80, 70, 0},
    {"f2tf32", 90, 78, 0},
    {"f2tf32.rna", 80, 70, 0},
    {"f32x4.to", 100, 87, 1},
    {"fence.mbarrier_init", 90, 80, 0},
    {"fence.proxy", 90, 80, 0},
    {"fence.proxy.alias", 70, 75, 0},
    {"fence.sc.cluster", 90, 78, 0},
    {"ff.to.e2m1x2", 100, 86, 1},
    {"ff.to.e2m3x2", 100, 86, 1},
    {"ff.to.e3m2x2", 100, 86, 1},
    {"ff.to.e4m3x2", 89, 81, 0},
    {"ff.to.e5m2x2", 89, 81, 0},
    {"ff.to.ue8m0x2", 100, 86, 1},
    {"ff2bf16x2", 80, 70, 0},
    {"ff2bf16x2.rs", 100, 87, 1},
    {"ff2f16x2", 80, 70, 0},
    {"ff2f16x2.rs", 100, 87, 1},
    {"getctarank", 90, 78, 0},
    {"griddepcontrol", 90, 78, 0},
    {"is_explicit_cluster", 90, 78, 0},
    {"isspacep.shared.cluster", 90, 78, 0},
    {"ldmatrix", 75, 65, 0},
    {"ldmatrix.sync.aligned.m16n16", 100, 86, 1},
    {"ldmatrix.sync.aligned.m8n16", 100, 86, 1},
    {"mapa", 90, 78, 0},
    {"match", 70, 60, 0},
    {"mbarrier", 80, 70, 0},
    {"mma", 80, 70, 0},
    {"mma.block", 120, 87, 1},
    {"mma.m16n8k8.row.col.f16", 75, 65, 0},
    {"mma.m16n8k8.row.col.f32", 75, 65, 0},
    {"mma.m8n8k16", 75, 65, 0},
    {"mma.m8n8k32", 75, 65, 0},
    {"mma.m8n8k4", 70, 64, 0},
    {"mma.m8n8k4.row.col.f64", 80, 70, 0},
    {"mma.xor", 75, 70, 0},
    {"nanosleep", 70, 63, 0},
    {"read.ptx.sreg.cluster", 90, 78, 0},
    {"redux.sync", 80, 70, 0},
    {"redux.sync.fmax", 100, 86, 1},
    {"redux.sync.fmin", 100, 86, 1},
    {"setmaxnreg", 90, 80, 1},
    {"shfl.sync", 0, 60, 0},
    {"st.bulk", 100, 86, 0},
    {"stmatrix", 90, 78, 0},
    {"tcgen05", 100, 86, 1},
    {"tensormap", 90, 83, 1},
    {"ue8m0x2", 100, 86, 1},
    {"vote.all.sync", 0, 60, 0},
    {"vote.any.sync", 0, 60, 0},
    {"vote.ballot.sync", 0, 60, 0},
    {"vote.uni.sync", 0, 60, 0},
    {"wgmma", 90, 80, 1},
    {"wmma", 70, 60, 0},
    {"wmma.m16n16k8", 80, 70, 0},
    {"wmma.m8n8k128", 75, 63, 0},
    {"wmma.m8n8k32", 75, 63, 0},
    {"wmma.m8n8k4", 80, 70, 0},
};

/* True where the name ends, or goes on after a dot. */
static int ends(const char *rest)
{
    return *rest == '\0' || *rest == '.';
}

static const feature *find(const char *name)
{
    const feature *best = NULL;

    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        const size_t size = strlen(features[i].name);

        if (strncmp(name, features[i].name, size) == 0 && ends(name + size))
            best = &features[i];
    }
    return best;
}

static int begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Minimum and maximum of other floats than f32 and f64, or that keep NaNs, are
   newer. */
static unsigned gpu_of_extremes(const char *name)
{
    if (!begins(name, "fmax.") && !begins(name, "fmin."))
        return 0;
    if (strstr(name, ".xorsign") != NULL)
        return 86;
    return strstr(name, "f16") != NULL || strstr(name, ".nan") != NULL ? 80 : 0;
}

/* Returns the least GPU that has these elements of a family. */
static unsigned gpu_of_elements(const char *name)
{
    if (begins(name, "wmma.") && strstr(name, ".bf16") != NULL)
        return 80;
    if (begins(name, "wmma.") &&
        (strstr(name, ".s8") != NULL || strstr(name, ".u8") != NULL))
        return 72;
    if ((begins(name, "fma.rn.") || begins(name, "neg.")) &&
        (strstr(name, "bf16") != NULL || strstr(name, ".relu") != NULL))
        return 80;
    return gpu_of_extremes(name);
}

/* GPUs from 7.0 on have shuffles only that name their lanes. */
static int is_old_shuffle(const char *name)
{
    return begins(name, "shfl.") && !begins(name, "shfl.sync");
}

const char *kiln__cuda_refuse_own(const kiln__codegen_job *job,
                                  LLVMValueRef call, const char *name)
{
    static const char lacking[] = "the GPU has no such instruction";
    const char *processor = job->settings->processor;
    const unsigned ptx = kiln__cuda_ptx_version(job);
    const feature *needs = find(name);
    char *letter;
    const unsigned gpu = (unsigned)strtoul(
        strncmp(processor, "sm_", 3) == 0 ? processor + 3 : "0", &letter, 10);

    (void)call;
    if (gpu < gpu_of_elements(name) || (gpu >= 70 && is_old_shuffle(name)))
        return lacking;
    if (needs == NULL)
        return NULL;
    if (gpu < needs->gpu || (needs->is_own && *letter == '\0'))
        return lacking;
    return ptx != 0 && ptx < needs->ptx ? "the version of PTX does not have it"
                                        : NULL;
}
