/* codegen_passes.c - the optimisation passes that a module goes through. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Linker.h>

#include "base/error.h"
#include "codegen/module/codegen_stages.h"

/*
 * What lowering makes is small and known: one function, from which everything
 * internal is called once, with loops over items whose counters do not wrap
 * and whose bodies hold no redundant arithmetic. So Kiln runs a fraction of
 * LLVM's own passes and gets code of the same speed. Each pass is there because
 * something gets slower without it:
 *
 *   always-inline     the item function into the loops
 *   sroa, early-cse   the item's ids and locals into registers
 *   licm, unswitch    rows' and grids' arithmetic and guards out of the loops
 *   (trim)            guards of items become the loops' bounds (trim.h)
 *   unroll            short loops, so that the item loop is innermost; not
 *                     those of the launch (open_loops.h)
 *   gvn               loads that the frontend wrote twice
 *   (choices)         of two places, one is loaded from (item_choices.cc)
 *   (wide)            what the iteration before wrote is kept (item_carry.cc);
 *                     vectors of items go through their inner loops (wide.cc)
 *   (jam)             items whose sums wait go through them together
 *                     (item_jam.cc)
 *   (records)         loops for records of the length that is likely
 *                     (item_records.cc)
 *   loop-vectorize    the item loop; instcombine and simplifycfg before and
 *                     after, licm for what vectorising left inside
 *
 * Where checks are left in the loop, unswitching moves those of a row out of
 * it. That costs as much time as all other passes together.
 *
 * Three kinds of modules get LLVM's own passes for their level: modules that
 * Kiln did not lower, unless they are small (foreign_small.c), levels 0 and 1,
 * and code for devices. Devices do not need the list above, since their items
 * are their vectors. Targets add passes of their own to LLVM's; SPIR-V replaces
 * them.
 */

#define SIMPLIFY(more) \
    "simplifycfg<bonus-inst-threshold=1;switch-range-to-icmp;" \
    "no-switch-to-lookup;speculate-blocks;simplify-cond-branch;" more ">"
#define EARLY SIMPLIFY("keep-loops;no-hoist-common-insts;no-sink-common-insts")
#define MIDDLE SIMPLIFY("keep-loops;hoist-common-insts;sink-common-insts")
#define LATE SIMPLIFY("no-keep-loops;hoist-common-insts;sink-common-insts")
#define COMBINE "instcombine<max-iterations=1;no-verify-fixpoint>"

/* Before guards become bounds, and behind that. */
#define BEGIN(and_loops) \
    "always-inline,globaldce,function<eager-inv>(" \
    "sroa<modify-cfg>,early-cse<memssa>," EARLY "," COMBINE "," \
    "loop-mssa(licm<allowspeculation>" and_loops "))"
#define UNSWITCH(how) "simple-loop-unswitch<" how ">"
#define UNSWITCHING(how) "function<eager-inv>(loop-mssa(" UNSWITCH(how) "))"
#define BEGINNINGS(how) BEGIN("," UNSWITCH(how)), BEGIN(""), UNSWITCHING(how)
#define GO_ON(loops) \
    "function<eager-inv>(" EARLY "," COMBINE "," \
    "loop(" loops KILN__DELETE_LOOPS "," KILN__UNROLL_LOOPS \
    "),sroa<modify-cfg>," \
    "gvn<>," COMBINE ",adce," MIDDLE "," KILN__SPLIT_CHOICES \
    "," KILN__WIDE_ITEMS "," KILN__JAM_ITEMS "," KILN__SPLIT_RECORDS \
    "," KILN__HIDE_CUT_COUNTERS "," KILN__SAFE_VECTORS \
    ",loop-vectorize,infer-alignment," COMBINE "," LATE "," \
    "loop-mssa(licm<allowspeculation>)," LATE ")"

/* Passes in LLVM's text form. */
typedef struct pipeline {
    const char *begin; /* until guards become bounds; NULL: they do not */
    /* The same for code with divisions: until they are divisions of floats,
       and then, since unswitching would take apart what is asked of them. */
    const char *until_divisions;
    const char *unswitch;
    const char *go_on;
    const char *go_straight; /* instead, where no loop branches; or NULL */
    int has_checks;          /* of which loops may be freed (ahead_loop.cc) */
} pipeline;

static const pipeline unchecked = {BEGINNINGS("no-nontrivial;trivial"),
                                   GO_ON(""), NULL, 0};
static const pipeline checked = {BEGINNINGS("nontrivial;trivial"),
                                 GO_ON("indvars,"), NULL, 1};
/* Behind a proof only checks are left that data decide, and those differ from
   item to item. */
static const pipeline checked_by_data = {BEGINNINGS("no-nontrivial;trivial"),
                                         GO_ON("indvars,"), NULL, 1};
/* In modules of others, conditions that are the same for a row stand inside.
   Those of guards are bounds now. Only where the items' loop has a branch still
   is it worth to look for others, and for what its counters say of it. */
static const pipeline small = {
    BEGINNINGS("no-nontrivial;trivial"),
    UNSWITCHING("nontrivial;trivial") "," GO_ON("indvars,"), GO_ON(""), 0};
/* For machine code without optimisation: values only have to be in
   registers. */
static const pipeline quick = {
    .go_on = "always-inline,globaldce,function(sroa<modify-cfg>)"};

/* For loops with checks, after LLVM's own passes. */
static const char unrolled[] =
    "function<eager-inv>(loop-unroll<O3>,early-cse<memssa>," COMBINE
    ",adce," LATE ")";

static const char ended_loops[] = "function<eager-inv>(dce," LATE ")";

/* LLVM's own passes for the level. */
static pipeline default_of(const kiln__codegen_job *job, unsigned level)
{
    static const char *const defaults[] = {"default<O0>", "default<O1>",
                                           "default<O2>", "default<O3>"};
    const int has_items = level >= 2 && job->backend->device == NULL;

    pipeline out = {0};

    if (has_items)
        out = unchecked;
    out.go_on = defaults[level];
    return out;
}

static pipeline pipeline_of(const kiln__codegen_job *job)
{
    const unsigned level =
        job->settings->opt_level < 3 ? job->settings->opt_level : 3;

    if (job->backend->passes != NULL)
        return (pipeline){.go_on = job->backend->passes[level > 0]};
    if (level >= 2 && job->is_small)
        return small;
    if (level < 2 || kiln__job_has_foreign(job) || job->backend->device != NULL)
        return default_of(job, level);
    if (job->proof_function != NULL)
        return job->safe_can_fail ? checked_by_data : unchecked;
    if (job->can_fail)
        return checked;
    return unchecked;
}

/* Of the checked module. A device's entry for any launch is hardly ever
   launched, so it gets few passes: what it computes and its conditions are
   simple, and what does not change in a loop is in front of it. Functions of a
   library may need to be inlined, which takes more. */
static pipeline pipeline_of_checked(const kiln__codegen_job *job)
{
    static const pipeline
        general = {.go_on = "always-inline,globaldce,function<eager-inv>("
                            "sroa<modify-cfg>,early-cse<memssa>,"
                            "infer-address-spaces," EARLY "," COMBINE
                            ",loop-mssa(loop-rotate,"
                            "licm<allowspeculation>),early-cse,adce," LATE
                            "),globaldce"},
        with_libraries = {.go_on = "default<O1>"};

    if (!job->is_known)
        return quick;
    if (job->backend->passes != NULL)
        return (pipeline){.go_on = job->backend->passes[3]};
    return job->request->import_count > 0 ? with_libraries : general;
}

static kiln_status run_passes(kiln__codegen_job *job, LLVMModuleRef module,
                              const char *passes)
{
    const int has_vectors =
        job->settings->opt_level >= 2 && job->backend->device == NULL;
    char *text =
        kiln__llvm_run_passes(module, passes, job->machine, has_vectors);

    if (text != NULL)
        kiln__job_fail(job, KILN_ECODEGEN, "optimiser: %s", text);
    free(text);
    return job->status;
}

/* What comparisons leave whose answer is known. */
static const char decided[] =
    "function<eager-inv>(early-cse<memssa>," EARLY ")";

/* So that exceptions of functions are ways out of the items' loop. */
static const char ended_items[] = "function<eager-inv>(jump-threading)";

/* What straight code repeats that was loops. */
static const char straight_items[] =
    "function<eager-inv>(sroa<modify-cfg>,early-cse<memssa>,sccp," COMBINE
    "," EARLY ",loop-mssa(licm<allowspeculation>))";

static kiln_status begin(kiln__codegen_job *job, LLVMModuleRef module,
                         const pipeline *p)
{
    const int has_divisions = kiln__llvm_has_divisions(module);

    KILN_TRY(
        run_passes(job, module, has_divisions ? p->until_divisions : p->begin));
    if (p->has_checks && kiln__llvm_decide_floats(module))
        KILN_TRY(run_passes(job, module, decided));
    if (p->has_checks && kiln__llvm_items_raise_inside(module))
        KILN_TRY(run_passes(job, module, ended_items));
    if (kiln__llvm_unroll_items(module))
        KILN_TRY(run_passes(job, module, straight_items));
    if (!has_divisions)
        return job->status;
    kiln__llvm_divide_items(module);
    return run_passes(job, module, p->unswitch);
}

/* What has to be done before ranges can be found. */
static const char before_ranges[] =
    "always-inline,globaldce,function<eager-inv>(sroa<modify-cfg>,"
    "early-cse<memssa>," EARLY ",early-cse,dce)";

/* Computes in 32 bits what fits there, in a kernel for small launches. */
static kiln_status narrow(kiln__codegen_job *job, LLVMModuleRef module)
{
    const size_t fact_size = job->fact_size;
    LLVMValueRef f;

    KILN_TRY(run_passes(job, module, before_ranges));
    if (kiln__assume_places(job))
        KILN_TRY(run_passes(job, module, "function(infer-address-spaces)"));
    if (job->fact_size > fact_size)
        kiln__facts_fewer(job);
    for (f = LLVMGetFirstFunction(module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            kiln__llvm_narrow(f);
    job->backend->item->place_ids(job);
    return job->status;
}

/* Before it is known how often loops run. */
static const char before_limit[] =
    "always-inline,globaldce,function<eager-inv>(sroa<modify-cfg>,"
    "early-cse<memssa>)";

/* Obeys the setting `unroll`. Drivers of SPIR-V unroll loops themselves, and
   without optimisation nobody does. */
static kiln_status limit_unrolling(kiln__codegen_job *job, LLVMModuleRef module)
{
    const uint32_t most = job->settings->unroll;

    if (most == 0 || job->settings->opt_level == 0 ||
        job->backend->passes != NULL)
        return KILN_OK;
    if (most > KILN_UNROLL_OFF)
        KILN_TRY(run_passes(job, module, before_limit));
    kiln__llvm_limit_unrolling(module, most);
    return job->status;
}

/* So that an item is one piece, whose checks are asked before it. */
static const char unrolled_items[] =
    "function<eager-inv>(loop(loop-unroll-full),sroa<modify-cfg>,early-cse,"
    "dce)";

static kiln_status ask_items(kiln__codegen_job *job, LLVMModuleRef module,
                             int *has_notes)
{
    if (kiln__llvm_items_raise_in_loops(module))
        KILN_TRY(run_passes(job, module, unrolled_items));
    kiln__llvm_hoist_items(module);
    *has_notes = kiln__llvm_ask_items(module);
    return *has_notes ? run_passes(job, module, "function(dce)") : KILN_OK;
}

/* Gives items at the edges loops of their own, and those whose checks have been
   asked. */
static kiln_status split(kiln__codegen_job *job, LLVMModuleRef module,
                         const pipeline *p)
{
    int has_notes = 0;

    kiln__llvm_trim(module);
    if (p->has_checks)
        KILN_TRY(ask_items(job, module, &has_notes));
    kiln__llvm_split_edges(module);
    kiln__llvm_split_windows(module);
    kiln__llvm_hoist_items(module);
    kiln__llvm_split_runs(module);
    if (has_notes)
        KILN_TRY(run_passes(job, module, "function(mem2reg)"));
    kiln__llvm_split_halves(module);
    if (p->has_checks)
        (void)kiln__llvm_ask_ahead(module, KILN__RAISE, 0);
    return KILN_OK;
}

static kiln_status run(kiln__codegen_job *job, LLVMModuleRef module,
                       const pipeline *p)
{
    const char *rest = p->go_on;

    if (job->is_known && module == job->module)
        KILN_TRY(narrow(job, module));
    KILN_TRY(limit_unrolling(job, module));
    if (p->begin != NULL) {
        KILN_TRY(begin(job, module, p));
        KILN_TRY(split(job, module, p));
    }
    if (p->go_straight != NULL && !kiln__llvm_loops_branch(module))
        rest = p->go_straight;
    return run_passes(job, module, rest);
}

/* ---- large functions ----
 *
 * Most passes take time that grows with the square of a function's size, or
 * faster. A function of more than LARGE instructions, counted with everything
 * that is inlined into it, gets only passes that do not. One of those that
 * remain is still slow: turning variables into values takes time that grows
 * with the blocks of the function. So counters of loops share a few variables,
 * and where there are still too many, variables stay in memory. Below the
 * bound, each of our passes and of LLVM's takes a second or two at most.
 *
 * Code generation has such passes, too. On processors most of them handle one
 * block after the other. So blocks are cut into pieces, and two passes are left
 * out; large functions need no more there. With very many blocks, code is
 * generated as at level 0. That cannot be done for all large functions: each
 * value that lives beyond its block gets a place of its own, and the frame
 * would outgrow any stack. On devices, which have many registers and memory for
 * each item, level 0 is right: for AMD's, register allocation takes time by how
 * many values live at once, and for NVIDIA's the vendor's assembler allocates.
 */

#define LARGE 16000
#define LARGE_VARIABLES 10000000u /* variables times blocks */
#define LARGE_CODE 24000          /* instructions that the passes left */
#define PIECE 500                 /* instructions of a block */
#define MANY_BLOCKS 25000

static const char large[] = "function(sroa,early-cse,simplifycfg),globaldce";
static const char large_device[] =
    "function(sroa,early-cse,infer-address-spaces,simplifycfg),globaldce";
static const char in_memory[] = "function(simplifycfg),globaldce";

static const char *large_pipeline_of(const kiln__codegen_job *job,
                                     LLVMModuleRef module)
{
    const char *const *passes = job->backend->passes;
    const int keeps_variables = kiln__llvm_variables(module) > LARGE_VARIABLES;

    if (passes != NULL)
        return passes[keeps_variables ? 2 : 0];
    if (keeps_variables)
        return in_memory;
    return job->backend->device != NULL ? large_device : large;
}

static kiln_status optimise_large(kiln__codegen_job *job, LLVMModuleRef module)
{
    kiln__llvm_inline_always(module);
    kiln__llvm_share_counters(module);
    return run_passes(job, module, large_pipeline_of(job, module));
}

/* Large functions get fewer passes. At level 0 no pass takes long, except for
   SPIR-V. */
static kiln_status optimise(kiln__codegen_job *job, LLVMModuleRef module,
                            const pipeline *p)
{
    const uint64_t size = kiln__llvm_largest(module);

    if (size <= LARGE ||
        (job->settings->opt_level == 0 && job->backend->passes == NULL))
        return run(job, module, p);
    kiln__job_log(job, "%s has %llu instructions: it gets fewer passes",
                  job->request->entry, (unsigned long long)size);
    return optimise_large(job, module);
}

#define ASKED_TOGETHER 4

/* Changes loops with checks. Backends with passes of their own leave it to
   drivers to unroll loops. An access that nobody checks may be one that a check
   in the iteration before keeps inside. */
static int change_loops(kiln__codegen_job *job)
{
    int any;

    if (job->settings->opt_level < 2 || job->backend->passes != NULL)
        return 0;
    any = kiln__llvm_ask_ahead(job->module, KILN__RAISE,
                               job->has_unchecked ? 1 : ASKED_TOGETHER);
    return kiln__llvm_raises_return(job->module, KILN__RAISE) || any;
}

/* Unrolls loops with checks, and gives exceptions their code. */
static kiln_status end_items(kiln__codegen_job *job, int unrolls)
{
    const int has_loops = unrolls && change_loops(job);

    if (has_loops)
        KILN_TRY(run_passes(job, job->module, unrolled));
    KILN_TRY(job->backend->item->place_ends(job));
    return run_passes(job, job->module,
                      has_loops ? ended_loops : "function(dce)");
}

/* True for a constant that nothing outside of the module can name. */
static int is_own_constant(LLVMValueRef global)
{
    const LLVMLinkage linkage = LLVMGetLinkage(global);

    return (linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage) &&
           LLVMIsGlobalConstant(global) && LLVMGetInitializer(global) != NULL;
}

/* True where linking a second entry has added a number to a name. */
static int is_brought_again(LLVMValueRef a, LLVMValueRef b)
{
    size_t size, whole;
    const char *name = LLVMGetValueName2(a, &size);
    const char *again = LLVMGetValueName2(b, &whole);

    return whole > size + 1 && memcmp(name, again, size) == 0 &&
           again[size] == '.';
}

/* Constants of one value whose addresses may be compared are kept apart, unless
   they are one of a library's that both entries brought. */
static int is_same_constant(LLVMValueRef a, LLVMValueRef b)
{
    const int is_unnamed = LLVMGetUnnamedAddress(a) == LLVMGlobalUnnamedAddr &&
                           LLVMGetUnnamedAddress(b) == LLVMGlobalUnnamedAddr;

    return (is_unnamed || is_brought_again(a, b)) &&
           LLVMGetInitializer(a) == LLVMGetInitializer(b) &&
           LLVMTypeOf(a) == LLVMTypeOf(b) &&
           LLVMGetAlignment(a) == LLVMGetAlignment(b);
}

/* Both entries may have brought the same tables of a library. LLVM's pass for
   this leaves constants of devices alone. */
static void merge_constants(LLVMModuleRef module)
{
    LLVMValueRef at, first, next;

    for (at = LLVMGetFirstGlobal(module); at != NULL; at = next) {
        next = LLVMGetNextGlobal(at);
        for (first = LLVMGetFirstGlobal(module);
             is_own_constant(at) && first != at;
             first = LLVMGetNextGlobal(first))
            if (is_own_constant(first) && is_same_constant(first, at)) {
                LLVMReplaceAllUsesWith(at, first);
                LLVMDeleteGlobal(at);
                break;
            }
    }
}

static int is_group_memory(LLVMValueRef global)
{
    return LLVMGetPointerAddressSpace(LLVMTypeOf(global)) ==
               KILN__SHARED_SPACE &&
           LLVMGetLinkage(global) == LLVMInternalLinkage;
}

/* A group runs one of the entries, so their arrays can be the same memory.
   Those of the second one that the first one has, too, become declarations. */
static void share_group_memory(LLVMModuleRef general, LLVMModuleRef known)
{
    LLVMValueRef at, same;
    size_t size;

    for (at = LLVMGetFirstGlobal(known); at != NULL;
         at = LLVMGetNextGlobal(at)) {
        same = LLVMGetNamedGlobal(general, LLVMGetValueName2(at, &size));
        if (same == NULL || !is_group_memory(at) || !is_group_memory(same) ||
            LLVMGlobalGetValueType(at) != LLVMGlobalGetValueType(same))
            continue;
        LLVMSetInitializer(at, NULL);
        LLVMSetLinkage(at, LLVMExternalLinkage);
        LLVMSetLinkage(same, LLVMExternalLinkage);
    }
}

static void hide_group_memory(LLVMModuleRef module)
{
    LLVMValueRef at;

    for (at = LLVMGetFirstGlobal(module); at != NULL;
         at = LLVMGetNextGlobal(at))
        if (LLVMGetPointerAddressSpace(LLVMTypeOf(at)) == KILN__SHARED_SPACE &&
            LLVMGetInitializer(at) != NULL)
            LLVMSetLinkage(at, LLVMInternalLinkage);
}

kiln_status kiln__join_entries(kiln__codegen_job *job)
{
    const LLVMModuleRef known = job->module;

    job->module = job->checked_module;
    job->checked_module = NULL;
    share_group_memory(job->module, known);
    if (LLVMLinkModules2(job->module, known) != 0)
        return kiln__job_fail(job, KILN_ECODEGEN,
                              "the two entries cannot be linked");
    hide_group_memory(job->module);
    merge_constants(job->module);
    return job->status;
}

/* Ends the entry for any launch, and puts both into one module. */
static kiln_status end_general(kiln__codegen_job *job)
{
    kiln_status status = KILN_OK;

    kiln__job_switch(job);
    if (job->items_end)
        status = end_items(job, 0);
    kiln__job_switch(job);
    return status == KILN_OK ? kiln__join_entries(job) : status;
}

/* Where the device's cheapest address is a pointer. */
static void shorten_addresses(kiln__codegen_job *job)
{
    LLVMValueRef f;

    if (job->backend->device == NULL || !job->backend->device->walks ||
        job->settings->opt_level < 2)
        return;
    for (f = LLVMGetFirstFunction(job->module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            kiln__llvm_shorten_addresses(f);
}

kiln_status kiln__optimise(kiln__codegen_job *job)
{
    const pipeline p = pipeline_of(job), other = pipeline_of_checked(job);
    kiln_status status = optimise(job, job->module, &p);

    if (status == KILN_OK && job->checked_module != NULL)
        status = optimise(job, job->checked_module, &other);
    if (status == KILN_OK && job->items_end)
        status = end_items(job, 1);
    if (status == KILN_OK)
        shorten_addresses(job);
    return status == KILN_OK && job->is_known ? end_general(job) : status;
}

/* For functions that were called while the others were optimised. */
static const char inlined[] =
    "always-inline,globaldce,function(early-cse<memssa>," COMBINE "," LATE ")";

kiln_status kiln__optimise_inlined(kiln__codegen_job *job)
{
    return run_passes(job, job->module, inlined);
}

int kiln__code_cut_large(const kiln__codegen_job *job, LLVMModuleRef module)
{
    const uint64_t most = job->backend->crowding_max;

    if (job->backend->machine != NULL ||
        (kiln__llvm_largest(module) <= LARGE_CODE &&
         (most == 0 || kiln__llvm_crowding(module) <= most)))
        return 0;
    kiln__llvm_cut_blocks(module, PIECE);
    return 1;
}

static int has_many_blocks(LLVMModuleRef module)
{
    LLVMValueRef f;

    for (f = LLVMGetFirstFunction(module); f != NULL;
         f = LLVMGetNextFunction(f))
        if (LLVMCountBasicBlocks(f) > MANY_BLOCKS)
            return 1;
    return 0;
}

int kiln__code_is_quick(const kiln__codegen_job *job, LLVMModuleRef module)
{
    return job->settings->opt_level > 0 &&
           (job->backend->device != NULL || has_many_blocks(module));
}
