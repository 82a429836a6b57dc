/* codegen_passes.c - the passes that a module goes through. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "codegen_parts.h"

/*
 * What lowering makes is small and known: one function, from which everything
 * internal has been called once, with loops over items whose counters do not
 * wrap and whose bodies hold no redundant arithmetic. So its passes are a
 * fraction of LLVM's own, for the same speed of code; each of them is there
 * because something gets slower without it:
 *
 *   always-inline     the item function into the loops
 *   sroa, early-cse   the item's ids and locals into registers
 *   licm, unswitch    rows' and grids' arithmetic and guards out of the loops
 *   unroll            loops of a few turns, so that the item loop is innermost
 *   gvn               loads that the frontend wrote twice
 *   loop-vectorize    the item loop; instcombine and simplifycfg before and
 *                     after, licm for what vectorising left inside
 *
 * Where checks are left in the loop, unswitching takes those of rows out of it,
 * which costs as much as all else together.
 *
 * What others made goes through LLVM's own passes for the level, and so do the
 * levels 0 and 1, and code for devices, to which targets add passes of theirs,
 * but for SPIR-V, which has its own. A device's items are its vectors.
 */

#define SIMPLIFY(more) \
    "simplifycfg<bonus-inst-threshold=1;switch-range-to-icmp;" \
    "no-switch-to-lookup;speculate-blocks;simplify-cond-branch;" more ">"
#define EARLY SIMPLIFY("keep-loops;no-hoist-common-insts;no-sink-common-insts")
#define MIDDLE SIMPLIFY("keep-loops;hoist-common-insts;sink-common-insts")
#define LATE SIMPLIFY("no-keep-loops;hoist-common-insts;sink-common-insts")
#define COMBINE "instcombine<max-iterations=1;no-verify-fixpoint>"

#define OWN(unswitch, loops) \
    "always-inline,globaldce,function<eager-inv>(" \
    "sroa<modify-cfg>,early-cse<memssa>," EARLY "," COMBINE "," \
    "loop-mssa(licm<allowspeculation>,simple-loop-unswitch<" unswitch \
    ">)," EARLY "," COMBINE "," \
    "loop(" loops "loop-deletion,loop-unroll-full),sroa<modify-cfg>," \
    "gvn<>," COMBINE ",adce," MIDDLE "," \
    "loop-vectorize,infer-alignment," COMBINE "," LATE "," \
    "loop-mssa(licm<allowspeculation>)," LATE ")"

static const char unchecked[] = OWN("no-nontrivial;trivial", "");
static const char checked[] = OWN("nontrivial;trivial", "indvars,");
/* Machine code without optimisation wants no more than values in registers. */
static const char quick[] =
    "always-inline,globaldce,function(sroa<modify-cfg>)";

/* Many passes take time that grows with the square of a function's size. One
   of more nodes than this gets those that do not. */
#define LARGE 20000

static const char large[] =
    "always-inline,function(sroa,early-cse,simplifycfg),globaldce";
static const char large_device[] =
    "always-inline,function(sroa,early-cse,infer-address-spaces,simplifycfg),"
    "globaldce";

static const char *pipeline_of(const kiln__codegen_job *job)
{
    static const char *const defaults[] = {"default<O0>", "default<O1>",
                                           "default<O2>", "default<O3>"};
    const unsigned level =
        job->settings->opt_level < 3 ? job->settings->opt_level : 3;

    if (job->backend->passes != NULL)
        return job->backend->passes[level > 0 && job->largest <= LARGE];
    if (level > 0 && job->largest > LARGE)
        return job->backend->device != NULL ? large_device : large;
    if (level < 2 || job->request->module != NULL ||
        job->backend->device != NULL)
        return defaults[level];
    if (job->proof_function != NULL ? job->safe_can_fail : job->can_fail)
        return checked;
    return unchecked;
}

static kiln_status run(kiln__codegen_job *job, LLVMModuleRef module,
                       LLVMTargetMachineRef machine, const char *pipeline)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    const unsigned level = job->settings->opt_level;
    const int has_vectors = level >= 2 && job->backend->device == NULL;
    LLVMErrorRef error;

    LLVMPassBuilderOptionsSetSLPVectorization(options, has_vectors);
    LLVMPassBuilderOptionsSetLoopVectorization(options, has_vectors);
    error = LLVMRunPasses(module, pipeline, machine, options);
    LLVMDisposePassBuilderOptions(options);
    if (error != NULL) {
        char *text = LLVMGetErrorMessage(error);

        kiln__job_fail(job, KILN_ECODEGEN, "optimiser: %s", text);
        LLVMDisposeErrorMessage(text);
    }
    return job->status;
}

kiln_status kiln__optimise(kiln__codegen_job *job)
{
    kiln_status status = run(job, job->module, job->machine, pipeline_of(job));

    if (status == KILN_OK && job->checked_module != NULL)
        status = run(job, job->checked_module, job->machine, quick);
    return status;
}
