/* lower_prove_cases.c - checks that are proved case by case. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen/lower/prove/lower_prove.h"

/*
 *     west = i > 0 ? -1 : 0
 *     x[i + west]
 *
 * The range of `i + west` begins with -1, since ranges do not know that `west`
 * is -1 only where `i` is 1 or more. So the check is also proved as if written
 * for each case: x[i - 1] where i > 0, and x[i] elsewhere. An index that is a
 * choice as a whole needs no cases: each side has its own range.
 */

#define CASES_MOST 3 /* choices in an index, one after the other */
#define DEPTH_MOST 6 /* operations between the index and a choice */

static int is_arithmetic(const kiln__prove_symbol *s)
{
    return s->op == KILN__IR_ADD || s->op == KILN__IR_SUB ||
           s->op == KILN__IR_MUL || s->op == KILN__IR_CONVERT;
}

/* Returns a choice that differs by item, or NULL. */
static kiln__prove_symbol *find_choice(kiln__prover *p, kiln__prove_path *path,
                                       kiln__prove_symbol *s, unsigned depth)
{
    kiln__prove_symbol *found = NULL;

    if (s->op == KILN__IR_SELECT)
        return kiln__range_is_point(
                   kiln__prove_path_range(p, path, s->operands[0]))
                   ? NULL
                   : s;
    if (!is_arithmetic(s) || depth == DEPTH_MOST)
        return NULL;
    for (unsigned i = 0; i < 2 && found == NULL; i++)
        if (s->operands[i] != NULL)
            found = find_choice(p, path, s->operands[i], depth + 1);
    return found;
}

/* Returns the symbol with one in the place of the other. */
static kiln__prove_symbol *with(kiln__prover *p, kiln__prove_symbol *s,
                                const kiln__prove_symbol *old,
                                kiln__prove_symbol *new, unsigned depth)
{
    kiln__prove_form form = {s->op, s->kind, s->imm, {NULL, NULL, NULL}};

    if (s == old)
        return new;
    if (!is_arithmetic(s) || depth == DEPTH_MOST)
        return s;
    for (unsigned i = 0; i < 2; i++)
        if (s->operands[i] != NULL) {
            form.operands[i] = with(p, s->operands[i], old, new, depth + 1);
            if (form.operands[i] == NULL)
                return NULL;
        }
    return kiln__prove_symbol_make(p, &form);
}

static LLVMValueRef by_cases(kiln__prover *p, kiln__prove_path *path,
                             kiln__prove_symbol *condition, unsigned cases);

/* Returns true where the check holds for the items with one side of the
   choice. */
static LLVMValueRef holds_if(kiln__prover *p, kiln__prove_path *path,
                             const kiln__prove_symbol *check,
                             const kiln__prove_symbol *choice, int truth,
                             unsigned cases)
{
    kiln__prove_path *side =
        kiln__prove_path_refine(p, path, choice->operands[0], truth);
    kiln__prove_form form = {check->op,
                             check->kind,
                             check->imm,
                             {with(p, check->operands[0], choice,
                                   choice->operands[truth ? 1 : 2], 0),
                              check->operands[1], NULL}};
    kiln__prove_symbol *condition =
        form.operands[0] == NULL ? NULL : kiln__prove_symbol_make(p, &form);
    LLVMValueRef holds;

    if (condition == NULL || side == NULL)
        return NULL;
    holds = by_cases(p, side, condition, cases + 1);
    return holds == NULL ? NULL : kiln__prove_or(p, side->dead, holds);
}

static LLVMValueRef by_cases(kiln__prover *p, kiln__prove_path *path,
                             kiln__prove_symbol *condition, unsigned cases)
{
    const LLVMValueRef at_once = kiln__prove_path_range(p, path, condition).low;
    const kiln__prove_symbol *index = condition->operands[0];
    const kiln__prove_symbol *choice;
    LLVMValueRef yes, no;

    if (at_once == NULL || kiln__prove_is(at_once, 1) || cases == CASES_MOST ||
        index->op == KILN__IR_SELECT)
        return at_once;
    choice = find_choice(p, path, condition->operands[0], 0);
    if (choice == NULL)
        return at_once;
    yes = holds_if(p, path, condition, choice, 1, cases);
    no = holds_if(p, path, condition, choice, 0, cases);
    if (yes == NULL || no == NULL)
        return at_once;
    return kiln__prove_or(p, at_once, kiln__prove_and(p, yes, no));
}

LLVMValueRef kiln__prove_holds(kiln__prover *p, kiln__prove_path *path,
                               kiln__prove_symbol *condition)
{
    if (p->is_grid || condition == NULL || condition->op != KILN__SYMBOL_INSIDE)
        return kiln__prove_path_range(p, path, condition).low;
    return by_cases(p, path, condition, 0);
}
