/* lower_prove.c - makes a cheap test that no check of a tile can fail. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/prove/lower_prove.h"

#include "base/error.h"
#include "codegen/module/codegen_values.h"

/*
 * The test pays only when it covers every check of bounds: a body that keeps
 * one of them is no faster than the checked one. Other checks that cannot be
 * proved, such as those of asserts, stay in the second body.
 */

#define OBLIGATIONS_MAX 1000 /* they are searched linearly */

typedef struct kiln__obligation {
    const kiln__lower_function *f;
    uint32_t node;
    const kiln__prove_path *path;
    const kiln__prove_symbol *condition;
    LLVMValueRef holds;
    int unprovable; /* true only where no item comes */
    struct kiln__obligation *next;
} kiln__obligation;

static int is_access(uint32_t op)
{
    return op == KILN__IR_LOAD || op == KILN__IR_STORE ||
           op == KILN__IR_ATOMIC || op == KILN__IR_ELEMENT ||
           op == KILN__IR_WITH_ELEMENT;
}

static size_t index_of(const kiln__prover *p, const kiln__lower_function *f)
{
    return (size_t)(f - p->l->functions);
}

/* Returns the value of an obligation for the same condition on this path. */
static LLVMValueRef find_holding(const kiln__prover *p,
                                 const kiln__prove_path *path,
                                 const kiln__prove_symbol *condition)
{
    for (const kiln__obligation *o = p->obligations; o != NULL; o = o->next)
        if (o->path == path && o->condition == condition)
            return o->holds;
    return NULL;
}

static void add(kiln__prover *p, const kiln__obligation *obligation)
{
    kiln__obligation *o = kiln__arena_copy(p->arena, obligation, sizeof *o);

    p->failed |= o == NULL;
    if (o == NULL)
        return;
    o->next = p->obligations;
    p->obligations = o;
    if (++p->obligation_count > OBLIGATIONS_MAX)
        p->budget = -1;
}

/* True for an index that no launch and no tile could prove: what never holds
   would only keep the kernel from its faster entry or body. */
static int is_loose_access(const kiln__prove_symbol *condition)
{
    return condition->op == KILN__SYMBOL_INSIDE &&
           kiln__prove_loose_ends(condition->operands[0]) != 0;
}

/* True when the check stays though no range decides it, since some tiles may
   never come there, as with what is done at a border. Tiles do not avoid what
   is in loops. */
static int may_avoid(const kiln__prover *p, uint32_t op,
                     const kiln__prove_symbol *condition)
{
    return is_access(op) && !p->is_grid && p->loops == 0 &&
           !is_loose_access(condition);
}

/* Adds an obligation that the check holds. A check that no range decides stays
   in the second body, unless it is an access that a tile can avoid. What a
   program asserts stays there, too. */
void kiln__prove_require(kiln__prover *p, const kiln__frame *frame,
                         kiln__prove_path *path, uint32_t node,
                         kiln__prove_symbol *condition)
{
    const uint32_t op = kiln__ir_node_at(frame->ir, node)->op;
    const LLVMValueRef certain = kiln__prove_holds(p, path, condition);
    kiln__obligation o = {.f = frame->f,
                          .node = node,
                          .path = path,
                          .condition = condition,
                          .holds = find_holding(p, path, condition)};

    if (p->failed || p->budget < 0)
        return;
    o.unprovable = certain == NULL || kiln__prove_is(certain, 0) ||
                   is_loose_access(condition);
    if (o.holds == NULL)
        o.holds =
            o.unprovable ? path->dead : kiln__prove_or(p, path->dead, certain);
    if (kiln__prove_is(o.holds, 1))
        return;
    if (op == KILN__IR_ASSERT || kiln__prove_is(o.holds, 0) ||
        (o.unprovable && !may_avoid(p, op, condition))) {
        p->lost[index_of(p, frame->f)][node] = 1;
        p->motion_failed |= op == KILN__IR_SET;
        return;
    }
    add(p, &o);
}

/* ---- the function ---- */

LLVMValueRef kiln__prove_function(kiln__lowering *l, const char *suffix,
                                  LLVMTypeRef result)
{
    const kiln__codegen_job *job = l->job;
    const LLVMTypeRef item = kiln__lower_signature(l);
    const unsigned count = item == NULL ? 0 : LLVMCountParamTypes(item);
    const unsigned more = kiln__prove_extent(l);
    LLVMTypeRef *types = kiln__arena_allocate_array(
        &l->job->arena, (size_t)count + more, sizeof(LLVMTypeRef));
    const char *name = kiln__arena_format(&l->job->arena, "%s.%s",
                                          job->request->entry, suffix);
    LLVMValueRef function;

    if (item == NULL || types == NULL || name == NULL)
        return NULL;
    LLVMGetParamTypes(item, types);
    for (unsigned i = 0; i < more; i++)
        types[count + i] = l->i64;
    function = LLVMAddFunction(
        job->module, name, LLVMFunctionType(result, types, count + more, 0));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    kiln__add_attribute(function, "nounwind");
    kiln__add_attribute(function, "alwaysinline");
    LLVMPositionBuilderAtEnd(
        l->builder, LLVMAppendBasicBlockInContext(l->context, function, ""));
    return function;
}

static int begin_marks(kiln__prover *p)
{
    const size_t count = p->l->count;

    p->seen = kiln__arena_allocate_array(p->arena, count, sizeof *p->seen);
    p->lost = kiln__arena_allocate_array(p->arena, count, sizeof *p->lost);
    if (p->seen == NULL || p->lost == NULL)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const size_t nodes = p->l->functions[i].ir.nodes.count;

        p->seen[i] = kiln__arena_allocate(p->arena, nodes);
        p->lost[i] = kiln__arena_allocate(p->arena, nodes);
        if (p->seen[i] == NULL || p->lost[i] == NULL)
            return 0;
    }
    return 1;
}

kiln__prove_symbol **kiln__prove_begin(kiln__prover *p, LLVMValueRef function)
{
    kiln__lowering *l = p->l;
    const unsigned bounds =
        LLVMCountParams(function) - kiln__prove_extent(p->l);
    LLVMValueRef *values = kiln__lower_gather(l, function);
    kiln__prove_symbol **arguments = kiln__arena_allocate_array(
        p->arena, l->ir->parameter_count, sizeof *arguments);

    if (values == NULL || arguments == NULL || !begin_marks(p))
        return NULL;
    p->item = values[0];
    for (unsigned d = 0; d < 3; d++) {
        p->first[d] = LLVMGetParam(function, bounds + d);
        p->last[d] = LLVMGetParam(function, bounds + 3 + d);
        if (!p->is_grid)
            continue;
        p->group_size[d] = LLVMGetParam(function, bounds + 6 + d);
        p->group_count[d] = LLVMGetParam(function, bounds + 9 + d);
    }
    if (p->begin != NULL)
        p->begin(p);
    for (uint32_t i = 0; i < l->ir->parameter_count; i++)
        arguments[i] = kiln__prove_symbol_of(
            p, l->ir, l->ir->locals.items[i].type, values[1 + i]);
    return arguments;
}

/* Interprets the kernel, whose parameters are those of `function`. */
static int interpret(kiln__prover *p, LLVMValueRef function)
{
    kiln__prove_symbol **arguments = kiln__prove_begin(p, function);
    kiln__prove_path *root =
        kiln__prove_path_new(p, NULL, kiln__prove_truth(p, 0));

    if (arguments == NULL || root == NULL)
        return 0;
    (void)kiln__prove_call(p, NULL, root, p->l->f, arguments);
    return !p->failed;
}

/* ---- the result ---- */

static int is_below(const kiln__prove_path *path, const kiln__prove_path *above)
{
    while (path != NULL && path != above)
        path = path->parent;
    return path != NULL;
}

/* True when a tile that avoids the unprovable access still does something that
   is checked. */
static int can_avoid(const kiln__prover *p, const kiln__obligation *unprovable)
{
    for (const kiln__obligation *o = p->obligations; o != NULL; o = o->next)
        if (!o->unprovable && !is_below(o->path, unprovable->path))
            return 1;
    return 0;
}

static int is_unprovable(const kiln__prover *p)
{
    for (const kiln__obligation *o = p->obligations; o != NULL; o = o->next)
        if (o->unprovable && !can_avoid(p, o))
            return 1;
    return 0;
}

/* Counts the checks that a second body would be without, and those that it
   would keep. */
static void count_checks(const kiln__prover *p, size_t *removed, size_t *kept)
{
    *removed = *kept = 0;
    for (size_t i = 0; i < p->l->count; i++) {
        const kiln__lower_function *f = &p->l->functions[i];

        for (size_t n = 1; n < f->ir.nodes.count; n++) {
            const kiln__ir_node *node = &f->ir.nodes.items[n];

            if (node->op == KILN__IR_CALL || !kiln__lower_raises(p->l, f, node))
                continue;
            if (p->seen[i][n] && !p->lost[i][n])
                ++*removed;
            else
                ++*kept;
        }
    }
}

/* True when a second body would be without some check, or has sums in
   registers. It has none where it may raise in the middle of one. */
static int pays(const kiln__prover *p)
{
    size_t removed, kept;

    if (p->budget < 0 || p->motion_failed || is_unprovable(p))
        return 0;
    count_checks(p, &removed, &kept);
    if (kept > 0)
        p->l->sums.count = p->l->sums.apart_count = 0;
    return removed > 0 || p->l->sums.count > 0;
}

static int is_lost(const kiln__prover *p, const kiln__obligation *o)
{
    return p->lost[index_of(p, o->f)][o->node];
}

/* True for one obligation of each condition, so that each is tested once. */
static int is_first(const kiln__prover *p, const kiln__obligation *o)
{
    for (const kiln__obligation *i = o->next; i != NULL; i = i->next)
        if (i->holds == o->holds && !is_lost(p, i))
            return 0;
    return 1;
}

/* Sizes and ids are what the proof assumes of them. */
static LLVMValueRef sizes_are_small(kiln__prover *p)
{
    return LLVMBuildICmp(p->l->builder, LLVMIntULE, p->sizes,
                         kiln__prove_number(p, p->size_most), "");
}

static void note_proved(kiln__prover *p)
{
    for (size_t i = 0; i < p->l->count; i++) {
        kiln__lower_function *f = &p->l->functions[i];

        f->proved = p->seen[i];
        for (size_t n = 0; n < f->ir.nodes.count; n++)
            f->proved[n] &= !p->lost[i][n];
    }
}

LLVMValueRef kiln__prove_conclude(kiln__prover *p)
{
    LLVMValueRef all = kiln__prove_truth(p, 1);

    for (const kiln__obligation *o = p->obligations; o != NULL; o = o->next)
        if (!is_lost(p, o) && is_first(p, o))
            all = kiln__prove_and(p, all, o->holds);
    if (p->sizes != NULL)
        all = kiln__prove_and(p, all, sizes_are_small(p));
    note_proved(p);
    return all;
}

/* Adds a check to those that a proof names, by a node of the function; NULL: of
   none. Returns its number. The IR ends with lowering. */
static LLVMValueRef name_check(kiln__prover *p, const kiln__lower_function *f,
                               uint32_t node)
{
    kiln__codegen_job *job = p->l->job;
    const char *method =
        kiln__arena_text(&job->arena, f != NULL ? f->ir.method : "");

    p->failed |= method == NULL;
    job->checks[job->check_count++] = (kiln__codegen_check){
        .method = method,
        .ordinal = f != NULL ? kiln__ir_node_at(&f->ir, node)->ordinal : 0,
    };
    return LLVMConstInt(kiln__job_i32(job), job->check_count, 0);
}

/* Returns `which`, or if the condition does not hold, the number of the
   check. */
static LLVMValueRef unless(const kiln__prover *p, LLVMValueRef holds,
                           LLVMValueRef which, LLVMValueRef number)
{
    return LLVMBuildSelect(p->l->builder, holds, which, number, "");
}

/* The same for the arrays that have to be apart for the element's sake. */
static LLVMValueRef name_overlap(kiln__prover *p, uint32_t node)
{
    const LLVMValueRef number = name_check(p, &p->l->functions[0], node);

    p->l->job->checks[p->l->job->check_count - 1].is_apart = 1;
    return number;
}

/* Returns the address of a dense array and that of its end. */
static void find_array(kiln__prover *p, LLVMValueRef array, uint32_t parameter,
                       LLVMValueRef out[2])
{
    const LLVMBuilderRef builder = p->l->builder;
    const kiln__parameter *of = &p->l->job->parameters[parameter];
    LLVMValueRef bytes = kiln__prove_number(p, (int64_t)of->element_size);

    for (uint32_t i = 0; i < of->rank; i++)
        bytes =
            LLVMBuildMul(builder, bytes,
                         LLVMBuildExtractValue(builder, array, 1 + i, ""), "");
    out[0] = LLVMBuildPtrToInt(
        builder, LLVMBuildExtractValue(builder, array, 0, ""), p->l->i64, "");
    out[1] = LLVMBuildAdd(builder, out[0], bytes, "");
}

static LLVMValueRef are_apart(kiln__prover *p, const LLVMValueRef *arguments,
                              const kiln__lower_apart *pair)
{
    const LLVMBuilderRef builder = p->l->builder;
    LLVMValueRef a[2], b[2];

    find_array(p, arguments[1 + pair->a], pair->a, a);
    find_array(p, arguments[1 + pair->b], pair->b, b);
    return kiln__prove_or(p, LLVMBuildICmp(builder, LLVMIntULE, a[1], b[0], ""),
                          LLVMBuildICmp(builder, LLVMIntULE, b[1], a[0], ""));
}

/* Returns `which`, or the number of arrays that overlap and should not. */
static LLVMValueRef name_overlapping(kiln__prover *p, LLVMValueRef function,
                                     LLVMValueRef which)
{
    const kiln__lower_sums *sums = &p->l->sums;
    const LLVMValueRef *arguments;

    if (sums->apart_count == 0)
        return which;
    arguments = kiln__lower_gather(p->l, function);
    p->failed |= arguments == NULL;
    for (size_t i = 0; arguments != NULL && i < sums->apart_count; i++)
        which = unless(p, are_apart(p, arguments, &sums->apart[i]), which,
                       name_overlap(p, sums->apart[i].node));
    return which;
}

/* The obligations are listed backwards, so the number that counts is that of
   the first one in the program. */
static LLVMValueRef name_failing(kiln__prover *p, LLVMValueRef function)
{
    const LLVMTypeRef i32 = kiln__job_i32(p->l->job);
    LLVMValueRef which = name_overlapping(p, function, LLVMConstInt(i32, 0, 0));

    for (const kiln__obligation *o = p->obligations; o != NULL; o = o->next)
        if (!is_lost(p, o) && is_first(p, o))
            which = unless(p, o->holds, which, name_check(p, o->f, o->node));
    if (p->sizes != NULL)
        which = unless(p, sizes_are_small(p), which, name_check(p, NULL, 0));
    note_proved(p);
    return which;
}

kiln_status kiln__prove_interpret(kiln__prover *p, const char *suffix,
                                  LLVMTypeRef result, LLVMValueRef *function)
{
    kiln__lowering *l = p->l;

    l->f = &l->functions[0];
    l->ir = &l->f->ir;
    *function = kiln__prove_function(l, suffix, result);
    if (*function == NULL || !interpret(p, *function))
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    return KILN_OK;
}

static kiln_status attempt(kiln__lowering *l, kiln__prover *p)
{
    LLVMValueRef function;

    KILN_TRY(
        kiln__prove_interpret(p, "proof", kiln__job_i32(l->job), &function));
    if (!pays(p)) {
        LLVMDeleteFunction(function);
        return KILN_OK;
    }
    l->job->check_count = 0;
    l->job->checks = kiln__arena_allocate_array(
        &l->job->arena, p->obligation_count + l->sums.apart_count + 1,
        sizeof *l->job->checks);
    if (l->job->checks != NULL)
        LLVMBuildRet(l->builder, name_failing(p, function));
    if (l->job->checks == NULL || p->failed)
        return kiln__job_fail(l->job, KILN_ENOMEM, "out of memory");
    l->job->proof_function = function;
    return KILN_OK;
}

kiln_status kiln__lower_prove(kiln__lowering *l)
{
    kiln_status status = KILN_OK;

    for (int assumes_motion = 2; assumes_motion >= 0; assumes_motion--) {
        kiln__prover p = {.l = l,
                          .arena = &l->job->arena,
                          .i1 = LLVMInt1TypeInContext(l->context),
                          .top = KILN__PROVE_HERE,
                          .budget = KILN__PROVE_STEPS_MAX,
                          .size_most = KILN__PROVE_SIZE_MAX,
                          .assumes_motion = assumes_motion,
                          .refines = 1};

        status = attempt(l, &p);
        if (status != KILN_OK || !p.motion_failed)
            break;
    }
    return status;
}
