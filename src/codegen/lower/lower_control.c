/* lower_control.c - lowers statements: blocks, branches, loops. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/lower.h"

#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "kiln/error.h"

/*
 * Statements are lowered into basic blocks as structured control flow: each one
 * begins where the builder stands and leaves the builder where control goes on.
 * After a jump the block has a terminator (kiln__lower_is_done) and the rest of
 * the source block is dropped. BREAK and CONTINUE find their blocks in
 * `l->loop`. Where items of a group may wait for failed ones, all items decide
 * a condition and begin an iteration together (lower_converge.c).
 */

LLVMBasicBlockRef kiln__lower_block(kiln__lowering *l)
{
    return LLVMAppendBasicBlockInContext(l->context, l->f->value, "");
}

int kiln__lower_is_done(const kiln__lowering *l)
{
    return LLVMGetBasicBlockTerminator(LLVMGetInsertBlock(l->builder)) != NULL;
}

static LLVMValueRef operand(kiln__lowering *l, const kiln__ir_node *node,
                            size_t i)
{
    return kiln__lower_value(l, kiln__ir_operand(l->ir, node, i));
}

/* Lowers a block in `at`. If control reaches the block's end, it goes to
   `next`. */
static void in_block(kiln__lowering *l, LLVMBasicBlockRef at, uint32_t node,
                     LLVMBasicBlockRef next)
{
    LLVMPositionBuilderAtEnd(l->builder, at);
    kiln__lower_statement(l, node);
    if (!kiln__lower_is_done(l))
        LLVMBuildBr(l->builder, next);
}

/* Returns the condition; if others may wait after it, it is one for all
   items. */
static LLVMValueRef decide(kiln__lowering *l, const kiln__ir_node *node,
                           LLVMValueRef condition)
{
    return kiln__lower_converges(l, node) ? kiln__lower_decide(l, condition, 0)
                                          : condition;
}

/* Lowers the other side of a branch, which items for which the group is over
   take, too. */
static void other_together(kiln__lowering *l, const kiln__ir_node *node,
                           LLVMBasicBlockRef other, LLVMBasicBlockRef done)
{
    const kiln__lower_waiting waiting = l->waiting;

    l->waiting = (kiln__lower_waiting){NULL, NULL};
    LLVMPositionBuilderAtEnd(l->builder, other);
    kiln__lower_part(l);
    if (node->count == 3) {
        kiln__lower_statement(l, kiln__ir_operand(l->ir, node, 2));
        if (!kiln__lower_is_done(l))
            LLVMBuildBr(l->builder, done);
        LLVMPositionBuilderAtEnd(l->builder, done);
    }
    kiln__lower_join(l, waiting);
}

static void branch(kiln__lowering *l, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(l->ir, index);
    const int known = kiln__lower_known(l->f, index);
    LLVMBasicBlockRef then, done, other;
    LLVMValueRef condition;

    if (known == KILN__KNOWN_TRUE)
        kiln__lower_statement(l, kiln__ir_operand(l->ir, node, 1));
    if (known != 0)
        return;
    then = kiln__lower_block(l);
    done = kiln__lower_block(l);
    other = node->count == 3 ? kiln__lower_block(l) : done;

    condition = decide(l, node, operand(l, node, 0));
    LLVMBuildCondBr(l->builder, condition, then, other);
    in_block(l, then, kiln__ir_operand(l->ir, node, 1), done);
    if (kiln__lower_converges(l, node)) {
        other_together(l, node, other, done);
        return;
    }
    if (node->count == 3)
        in_block(l, other, kiln__ir_operand(l->ir, node, 2), done);
    LLVMPositionBuilderAtEnd(l->builder, done);
}

/* ---- loops ---- */

static LLVMMetadataRef property(const kiln__lowering *l, const char *name)
{
    LLVMMetadataRef text =
        LLVMMDStringInContext2(l->context, name, strlen(name));

    return LLVMMDNodeInContext2(l->context, &text, 1);
}

/* Marks a loop to be unrolled. The first operand of such a node is the node
   itself. LLVM could also be told that a counting loop ends, but the statement
   would be taken to hold for loops inside it, too. */
static void mark_unrolled(kiln__lowering *l, LLVMValueRef jump)
{
    LLVMMetadataRef operands[2], node;

    operands[0] = LLVMTemporaryMDNode(l->context, NULL, 0);
    operands[1] = property(l, "llvm.loop.unroll.full");
    node = LLVMMDNodeInContext2(l->context, operands, 2);
    LLVMMetadataReplaceAllUsesWith(operands[0], node);
    LLVMSetMetadata(jump, l->loop_kind, LLVMMetadataAsValue(l->context, node));
}

static void loop_body(kiln__lowering *l, LLVMBasicBlockRef body, uint32_t node,
                      LLVMBasicBlockRef next, LLVMBasicBlockRef leave)
{
    kiln__lower_loop loop = {.outer = l->loop, .leave = leave, .next = next};

    l->loop = &loop;
    in_block(l, body, node, next);
    l->loop = loop.outer;
    LLVMPositionBuilderAtEnd(l->builder, next);
}

/* Where others may wait in a loop, all items begin its iterations together. */
static void assemble_at(kiln__lowering *l, const kiln__ir_node *node)
{
    if (kiln__lower_converges(l, node))
        kiln__lower_assemble(l);
}

static void part_at(kiln__lowering *l, const kiln__ir_node *node,
                    LLVMBasicBlockRef at)
{
    LLVMPositionBuilderAtEnd(l->builder, at);
    if (kiln__lower_converges(l, node))
        kiln__lower_part(l);
}

/* Lowers a WHILE. It may run for ever, until somebody stops the launch, so LLVM
   must not assume that the code after it is reached. */
static void repeat(kiln__lowering *l, const kiln__ir_node *node)
{
    const LLVMBasicBlockRef head = kiln__lower_block(l);
    const LLVMBasicBlockRef body = kiln__lower_block(l);
    const LLVMBasicBlockRef next = kiln__lower_block(l);
    const LLVMBasicBlockRef leave = kiln__lower_block(l);
    LLVMValueRef condition;

    assemble_at(l, node);
    LLVMBuildBr(l->builder, head);
    part_at(l, node, head);
    condition = decide(l, node, operand(l, node, 0));
    LLVMBuildCondBr(l->builder, condition, body, leave);
    loop_body(l, body, kiln__ir_operand(l->ir, node, 1), next, leave);
    assemble_at(l, node);
    LLVMBuildBr(l->builder, head);
    part_at(l, node, leave);
}

/* A FOR while it is lowered. Its counter never overflows: a step of one ends at
   `high` exactly, and with any other step the iterations are counted. */
typedef struct counter {
    int32_t kind;
    int64_t step;
    int up;
    LLVMValueRef low;
    LLVMValueRef high;
    LLVMValueRef last;      /* iterations minus one; NULL for steps of one */
    LLVMValueRef phi;       /* the value of the counter's local */
    LLVMValueRef iteration; /* a phi that counts them; set where `last` is */
    int is_unrolled;
} counter;

/* The loop over items is vectorised when it is the innermost one. So a loop
   inside it is unrolled when its number of iterations is known and small. */
#define ITERATIONS_MAX 8
#define UNROLLED_MAX 2000 /* in nodes */

static size_t nodes_below(const kiln__lowering *l, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(l->ir, index);
    size_t all = 1;

    if (node->op == KILN__IR_CALL)
        all += l->functions[l->f->source->callees[node->imm]].size;
    for (uint32_t i = 0; i < node->count; i++)
        all += nodes_below(l, kiln__ir_operand(l->ir, node, i));
    return all;
}

static int is_short(const kiln__lowering *l, const kiln__ir_node *node)
{
    const kiln__ir_node *low = kiln__ir_operand_at(l->ir, node, 0);
    const kiln__ir_node *high = kiln__ir_operand_at(l->ir, node, 1);
    const int64_t step = kiln__ir_operand_at(l->ir, node, 2)->imm;
    int64_t distance;

    if (l->group != NULL || low->op != KILN__IR_CONST ||
        high->op != KILN__IR_CONST || step < 1 ||
        __builtin_sub_overflow(high->imm, low->imm, &distance) ||
        distance < 1 || (distance - 1) / step >= ITERATIONS_MAX)
        return 0;
    return nodes_below(l, kiln__ir_operand(l->ir, node, 3)) *
               (size_t)((distance - 1) / step + 1) <=
           UNROLLED_MAX;
}

/* Returns an i1: `a` comes before `b` in the loop's direction. */
static LLVMValueRef comes_before(kiln__lowering *l, const counter *c,
                                 LLVMValueRef a, LLVMValueRef b)
{
    const int is_signed = kiln__kind_is_signed(c->kind);

    if (!c->up)
        return LLVMBuildICmp(l->builder, LLVMIntSGT, a, b, "");
    return LLVMBuildICmp(l->builder, is_signed ? LLVMIntSLT : LLVMIntULT, a, b,
                         "");
}

/* Returns (distance - 1) / |step|, unsigned: right for every distance above
   0. */
static LLVMValueRef count_iterations(kiln__lowering *l, const counter *c)
{
    const LLVMTypeRef type = LLVMTypeOf(c->low);
    const uint64_t mask = UINT64_MAX >> (64 - kiln__kind_width(c->kind));
    const uint64_t step =
        (c->up ? (uint64_t)c->step : 0 - (uint64_t)c->step) & mask;
    LLVMValueRef distance;

    distance = c->up ? LLVMBuildSub(l->builder, c->high, c->low, "")
                     : LLVMBuildSub(l->builder, c->low, c->high, "");
    distance = LLVMBuildSub(l->builder, distance, LLVMConstInt(type, 1, 0), "");
    return LLVMBuildUDiv(l->builder, distance, LLVMConstInt(type, step, 0), "");
}

static void enter_loop(kiln__lowering *l, counter *c, LLVMBasicBlockRef before,
                       LLVMBasicBlockRef body)
{
    const LLVMTypeRef type = LLVMTypeOf(c->low);
    LLVMValueRef zero = LLVMConstNull(type);

    LLVMBuildBr(l->builder, body);
    LLVMPositionBuilderAtEnd(l->builder, body);
    c->phi = LLVMBuildPhi(l->builder, type, "");
    LLVMAddIncoming(c->phi, &c->low, &before, 1);
    if (c->last == NULL)
        return;
    c->iteration = LLVMBuildPhi(l->builder, type, "");
    LLVMAddIncoming(c->iteration, &zero, &before, 1);
}

/* Ends an iteration: steps, then goes on or leaves. The step after the last
   iteration may overflow, but nothing uses its value. */
static void advance(kiln__lowering *l, counter *c, const kiln__ir_node *node,
                    LLVMBasicBlockRef body, LLVMBasicBlockRef leave)
{
    const LLVMTypeRef type = LLVMTypeOf(c->low);
    LLVMValueRef step = kiln__lower_integer(l, c->kind, (uint64_t)c->step);
    LLVMValueRef next, more, branch, iteration = NULL;
    LLVMBasicBlockRef here;

    next = kiln__kind_is_signed(c->kind)
               ? LLVMBuildNSWAdd(l->builder, c->phi, step, "")
               : LLVMBuildNUWAdd(l->builder, c->phi, step, "");
    if (c->last == NULL) {
        more = comes_before(l, c, next, c->high);
    } else {
        iteration = LLVMBuildNUWAdd(l->builder, c->iteration,
                                    LLVMConstInt(type, 1, 0), "");
        more = LLVMBuildICmp(l->builder, LLVMIntNE, c->iteration, c->last, "");
    }
    more = decide(l, node, more);
    here = LLVMGetInsertBlock(l->builder);
    LLVMAddIncoming(c->phi, &next, &here, 1);
    if (iteration != NULL)
        LLVMAddIncoming(c->iteration, &iteration, &here, 1);
    branch = LLVMBuildCondBr(l->builder, more, body, leave);
    if (c->is_unrolled)
        mark_unrolled(l, branch);
}

/* Lowers a FOR: checks that there is an iteration, then runs the body before
   each test. */
static void lower_for(kiln__lowering *l, const kiln__ir_node *node)
{
    counter c = {.kind =
                     kiln__lower_lane(l, kiln__ir_operand_at(l->ir, node, 2)),
                 .step = kiln__ir_operand_at(l->ir, node, 2)->imm,
                 .is_unrolled = is_short(l, node)};
    const LLVMBasicBlockRef first = kiln__lower_block(l);
    const LLVMBasicBlockRef body = kiln__lower_block(l);
    const LLVMBasicBlockRef next = kiln__lower_block(l);
    const LLVMBasicBlockRef leave = kiln__lower_block(l);
    LLVMBasicBlockRef last = leave;

    c.up = !kiln__kind_is_signed(c.kind) || c.step > 0;
    c.low = operand(l, node, 0);
    c.high = operand(l, node, 1);
    LLVMBuildCondBr(l->builder,
                    decide(l, node, comes_before(l, &c, c.low, c.high)), first,
                    leave);
    LLVMPositionBuilderAtEnd(l->builder, first);
    if (kiln__lower_begin_sums(l, node) > 0)
        last = kiln__lower_block(l);
    if (c.step != 1 && !(c.step == -1 && !c.up))
        c.last = count_iterations(l, &c);
    enter_loop(l, &c, first, body);
    LLVMBuildStore(l->builder, c.phi, l->locals[node->imm]);
    loop_body(l, body, kiln__ir_operand(l->ir, node, 3), next, leave);
    advance(l, &c, node, body, last);
    if (last != leave) {
        LLVMPositionBuilderAtEnd(l->builder, last);
        kiln__lower_end_sums(l, node, 0);
        LLVMBuildBr(l->builder, leave);
    }
    part_at(l, node, leave);
    kiln__lower_end_sums(l, node, 1);
}

static void unroll(kiln__lowering *l, const kiln__ir_node *node)
{
    const LLVMBasicBlockRef leave = kiln__lower_block(l);

    for (size_t i = 0; i < node->count; i++) {
        const LLVMBasicBlockRef body = LLVMGetInsertBlock(l->builder);
        const LLVMBasicBlockRef next = kiln__lower_block(l);

        loop_body(l, body, kiln__ir_operand(l->ir, node, i), next, leave);
    }
    LLVMBuildBr(l->builder, leave);
    LLVMPositionBuilderAtEnd(l->builder, leave);
}

/* ---- other statements ---- */

static void set(kiln__lowering *l, const kiln__ir_node *node)
{
    const LLVMValueRef value = operand(l, node, 0);

    if (l->locals[node->imm] != NULL)
        LLVMBuildStore(l->builder, value, l->locals[node->imm]);
}

/* Before a jump, makes sure that no failed item is left behind it. */
static void settle_failures(kiln__lowering *l, const kiln__ir_node *node)
{
    if (kiln__lower_converges(l, node))
        kiln__lower_settle(l);
}

static void give_back(kiln__lowering *l, const kiln__ir_node *node)
{
    const LLVMValueRef value =
        node->count == 0 ? LLVMConstNull(l->empty) : operand(l, node, 0);

    if (kiln__lower_converges(l, node))
        kiln__lower_end(l, value);
    else
        kiln__lower_return(l, value);
}

static void assert_true(kiln__lowering *l, const kiln__ir_node *node)
{
    const LLVMValueRef zero = LLVMConstInt(l->i64, 0, 0);
    const LLVMValueRef fine = operand(l, node, 0);

    if (!kiln__lower_raises(l, l->f, node))
        return;
    kiln__lower_check(
        l, node, LLVMBuildNot(l->builder, fine, ""),
        (kiln__codegen_exception){.kind = KILN_EXCEPTION_ASSERTION,
                                  .message = l->ir->strings.items[node->imm],
                                  .values = {zero, zero}});
}

typedef struct print_parts {
    const char **texts;
    LLVMValueRef *values;
    int32_t *kinds;
} print_parts;

/* Backends print what LLVM has as a type. The kind stays, since it decides how
   many digits are printed. */
static LLVMValueRef printed(kiln__lowering *l, LLVMValueRef value, int32_t kind)
{
    return kiln__kind_is_float(kind)
               ? kiln__lower_float(l, value, kind,
                                   kiln__scalar_of(kind)->arithmetic)
               : value;
}

static void print(kiln__lowering *l, const kiln__ir_node *node)
{
    kiln__arena *arena = &l->job->arena;
    const size_t count = node->count;
    print_parts parts = {
        kiln__arena_allocate_array(arena, count, sizeof *parts.texts),
        kiln__arena_allocate_array(arena, count, sizeof *parts.values),
        kiln__arena_allocate_array(arena, count, sizeof *parts.kinds),
    };

    if (parts.texts == NULL || parts.values == NULL || parts.kinds == NULL) {
        l->no_memory = 1;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const kiln__ir_node *part = kiln__ir_operand_at(l->ir, node, i);

        parts.kinds[i] = kiln__ir_kind(l->ir, part->type);
        if (part->op == KILN__IR_TEXT)
            parts.texts[i] = l->ir->strings.items[part->imm];
        else
            parts.values[i] = printed(l, operand(l, node, i), parts.kinds[i]);
    }
    l->job->backend->item->print(l->job, l->builder, l->item,
                                 &(kiln__codegen_print){.count = count,
                                                        .texts = parts.texts,
                                                        .values = parts.values,
                                                        .kinds = parts.kinds});
}

/* What follows a jump in the same block is never reached and is left out. */
static void block(kiln__lowering *l, const kiln__ir_node *node)
{
    for (size_t i = 0; i < node->count && !kiln__lower_is_done(l); i++)
        kiln__lower_statement(l, kiln__ir_operand(l->ir, node, i));
}

void kiln__lower_begin(kiln__lowering *l)
{
    LLVMSetCurrentDebugLocation2(
        l->builder,
        kiln__debug_place(l->job, l->f->subprogram, l->f->source, 0));
}

void kiln__lower_statement(kiln__lowering *l, uint32_t index)
{
    const kiln__ir_node *node = kiln__ir_node_at(l->ir, index);

    if (kiln__lower_is_too_deep(l))
        return;
    if (l->f->subprogram != NULL)
        (void)kiln__lower_enter(l, node);
    switch ((uint32_t)node->op) {
    case KILN__IR_BLOCK:
        if (l->group == NULL || !l->as_group->block(l, index))
            block(l, node);
        break;
    case KILN__IR_SET:
        set(l, node);
        break;
    case KILN__IR_STORE:
        (void)kiln__lower_memory(l, node);
        break;
    case KILN__IR_EVAL:
        (void)operand(l, node, 0);
        break;
    case KILN__IR_IF:
        branch(l, index);
        break;
    case KILN__IR_WHILE:
        repeat(l, node);
        break;
    case KILN__IR_FOR:
        lower_for(l, node);
        break;
    case KILN__IR_UNROLLED:
        unroll(l, node);
        break;
    case KILN__IR_BREAK:
        settle_failures(l, node);
        LLVMBuildBr(l->builder, l->loop->leave);
        break;
    case KILN__IR_CONTINUE:
        settle_failures(l, node);
        LLVMBuildBr(l->builder, l->loop->next);
        break;
    case KILN__IR_RETURN:
        give_back(l, node);
        break;
    case KILN__IR_ASSERT:
        assert_true(l, node);
        break;
    case KILN__IR_BARRIER:
        kiln__lower_barrier(l);
        break;
    case KILN__IR_FENCE:
        kiln__lower_fence(l);
        break;
    case KILN__IR_PRINT:
        print(l, node);
        break;
    default:
        (void)kiln__job_fail(l->job, KILN_ECODEGEN, "there is no code for `%s`",
                             kiln__ir_ops[node->op].text);
    }
}
