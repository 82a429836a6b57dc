/* test_ir_uniform.c - levels of values and of control in typed IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/harness.h"

#include <stdio.h>
#include <string.h>

#include "ir/ir_uniform.h"

#define MOST 4 /* functions */

typedef struct program {
    kiln__ir irs[MOST];
    kiln__uniform_function functions[MOST];
    uint32_t callees[MOST][MOST];
    kiln__uniform uniform;
    size_t count;
} program;

static void add(program *p, const char *text)
{
    assert_ok(kiln__ir_parse(&p->irs[p->count], &kiln__malloc, "text", text,
                             strlen(text), &test_error));
    p->count++;
}

/* Callees are found by name. */
static void finish(program *p, const kiln_alloc *alloc)
{
    for (size_t i = 0; i < p->count; i++) {
        const kiln__ir *ir = &p->irs[i];

        for (size_t j = 0; j < ir->callees.count; j++)
            for (size_t n = 0; n < p->count; n++)
                if (strcmp(p->irs[n].name, ir->callees.items[j].name) == 0)
                    p->callees[i][j] = (uint32_t)n;
        p->functions[i] = (kiln__uniform_function){
            .ir = ir,
            .callees = p->callees[i],
            .callee_count = ir->callees.count,
        };
    }
    kiln__uniform_init(&p->uniform, alloc, p->functions, p->count);
}

static void dispose(program *p)
{
    kiln__uniform_dispose(&p->uniform);
    for (size_t i = 0; i < p->count; i++)
        kiln__ir_dispose(&p->irs[i]);
}

#define ITEM "(query i64 local_id 0)"
#define SUB "(query i64 sub_group_id 0)"
#define LOCALS \
    " (local %a.1 i64) (local %b.2 i64) (local %c.3 i64) (local %d.4 i64) "
#define KERNEL "(function \"m.k\" \"m.k#1\" kernel (param %x.0 i64[:])" LOCALS
#define N(n) "(const i64 " #n ")"

/* What the levels of locals a, b, c and d are, as digits. */
static void levels_are(const char *body, const char *expected)
{
    char text[4096], found[5] = "";
    const kiln__uniform_view *view;
    program p = {.count = 0};

    snprintf(text, sizeof text, "%s(block %s))", KERNEL, body);
    add(&p, text);
    finish(&p, &kiln__malloc);
    view = kiln__uniform_entry(&p.uniform);
    assert_non_null(view);
    for (int i = 0; i < 4; i++)
        found[i] = (char)('0' + view->locals[1 + i]);
    assert_string_equal(found, expected);
    dispose(&p);
}

static void values_have_the_level_of_what_they_are_made_of(void **state)
{
    (void)state;
    levels_are("(set %a.1 (length i64 %x.0))"
               "(set %b.2 (add i64 %a.1 " ITEM "))"
               "(set %c.3 (mul i64 " SUB " %a.1))"
               "(set %d.4 (load i64 %x.0 %a.1))",
               "0210");
    levels_are("(set %a.1 (query i64 group_id 1))"
               "(set %b.2 (group i64 group_add " ITEM "))"
               "(set %c.3 (group i64 sub_group_add " ITEM "))"
               "(set %d.4 (group i64 shuffle " ITEM " " N(0) "))",
               "0012");
    levels_are("(set %a.1 (atomic i64 atomic_add %x.0 " N(0) " " N(
                   1) "))"
                      "(set %b.2 (load i64 %x.0 " ITEM "))"
                      "(set %c.3 (query i64 lane_id 0))",
               "2220");
}

static void what_is_set_under_a_condition_has_its_level(void **state)
{
    (void)state;
    levels_are("(if (lt Bool (length i64 %x.0) " N(
                   5) ")"
                      " (block (set %a.1 " N(
                          1) ")))"
                             "(if (lt Bool " ITEM
                             " " N(5) ") (block (set %b.2 " N(
                                 1) ")))"
                                    "(if (lt Bool " SUB
                                    " " N(5) ") (block (set %c.3 " N(
                                        1) ")))"
                                           "(set %d.4 %b.2)",
               "0212");
}

static void loops_carry_levels_round(void **state)
{
    (void)state;
    levels_are("(for %a.1 " N(0) " " N(9) " " N(
                   1) " (block (set %b.2 %c.3) (set %c.3 %d.4)"
                      " (set %d.4 " ITEM ")))",
               "0222");
    levels_are("(for %a.1 " N(0) " " ITEM
                                 " " N(1) " (block (set %b.2 " N(1) ")))",
               "2200");
    levels_are("(while (lt Bool %a.1 " N(
                   9) ")"
                      " (block (set %b.2 " N(
                          1) ")"
                             "  (if (lt Bool " ITEM " %a.1) (block (break)))"
                             "  (set %a.1 (add i64 %a.1 " N(
                                 1) ")))) (set %c.3 " N(1) ")",
               "2200");
}

static void a_continue_divides_only_the_rest_of_its_turn(void **state)
{
    (void)state;
    levels_are("(for %a.1 " N(0) " " N(9) " " N(
                   1) " (block"
                      " (set %b.2 " N(1) ")"
                                         " (if (lt Bool " ITEM
                                         " " N(3) ") (block (continue)))"
                                                  " (set %c.3 " N(
                                                      1) ")))"
                                                         "(set %d.4 " N(1) ")",
               "0020");
}

static void a_return_divides_all_that_follows(void **state)
{
    (void)state;
    levels_are("(set %a.1 " N(1) ")"
                                 "(if (lt Bool " ITEM
                                 " " N(3) ") (block (return)))"
                                          "(set %b.2 " N(1) ")",
               "0200");
    levels_are("(if (lt Bool (length i64 %x.0) " N(3) ") (block (return)))"
                                                      "(set %b.2 " N(1) ")",
               "0000");
}

/* ---- calls ---- */

#define CALL(n, argument) "(call i64 $" #n " " argument ")"
#define CALLEE(n, f) "(callee $" #n " \"" f "\" i64) "

static void calls_are_seen_with_their_arguments(void **state)
{
    const kiln__uniform_view *view;
    program p = {.count = 0};

    (void)state;
    add(&p, KERNEL CALLEE(0, "m.f") CALLEE(1, "m.g") "(block (set %a.1 " CALL(
                0, "(length i64 %x.0)") ")"
                                        "(set %b.2 " CALL(
                                            0, ITEM) ")"
                                                     "(set %c.3 " CALL(
                                                         1, N(1)) ")))");
    add(&p, "(function \"m.f\" \"m.f#1\" (result i64) (param %n.0 i64)"
            " (block (return (mul i64 %n.0 " N(2) "))))");
    add(&p, "(function \"m.g\" \"m.g#1\" (result i64) (param %n.0 i64)"
            " (block (return (add i64 %n.0 " ITEM "))))");
    finish(&p, &kiln__malloc);
    view = kiln__uniform_entry(&p.uniform);

    assert_non_null(view);
    assert_int_equal(view->locals[1], KILN__UNIFORM_GROUP);
    assert_int_equal(view->locals[2], KILN__UNIFORM_NOT);
    assert_int_equal(view->locals[3], KILN__UNIFORM_NOT);
    assert_false(p.functions[1].varies);
    assert_true(p.functions[0].varies && p.functions[2].varies);
    dispose(&p);
}

static void facts_spread_to_callers(void **state)
{
    program p = {.count = 0};

    (void)state;
    add(&p, KERNEL CALLEE(0, "m.f") "(block (set %a.1 " CALL(0, N(1)) ")))");
    add(&p, "(function \"m.f\" \"m.f#1\" (result i64) (param %n.0 i64)"
            " (local %t.1 i64[:])"
            " (block (set %t.1 (local_array i64[:] " N(
                4) ")) (barrier)"
                   "  (return (load i64 %t.1 " N(0) "))))");
    finish(&p, &kiln__malloc);
    assert_int_equal(p.functions[0].collective, KILN__COLLECTIVE_GROUP);
    assert_true(p.functions[0].shares);
    assert_false(p.functions[0].recursive);
    dispose(&p);
}

static void only_those_in_a_cycle_recur(void **state)
{
    program p = {.count = 0};

    (void)state;
    add(&p, KERNEL CALLEE(0, "m.f") "(block (set %a.1 " CALL(0, N(1)) ")))");
    add(&p, "(function \"m.f\" \"m.f#1\" (result i64) (param %n.0 i64)" CALLEE(
                0, "m.g") " (block (return " CALL(0, "%n.0") ")))");
    add(&p, "(function \"m.g\" \"m.g#1\" (result i64) (param %n.0 i64)" CALLEE(
                0, "m.f")
                CALLEE(1, "m.h") " (block (return (add i64 " CALL(
                    0, "%n.0") " " CALL(1, "%n.0") "))))");
    add(&p, "(function \"m.h\" \"m.h#1\" (result i64) (param %n.0 i64)"
            " (block (return %n.0)))");
    finish(&p, &kiln__malloc);
    assert_false(p.functions[0].recursive);
    assert_true(p.functions[1].recursive && p.functions[2].recursive);
    assert_false(p.functions[3].recursive);
    assert_int_equal(kiln__uniform_entry(&p.uniform)->locals[1],
                     KILN__UNIFORM_GROUP);
    dispose(&p);
}

/* ---- the check ---- */

static void problem_is(const char *body, kiln__uniform_problem expected)
{
    kiln__uniform_error error;
    program p = {.count = 0};
    char text[4096];

    snprintf(text, sizeof text, "%s(block %s))", KERNEL, body);
    add(&p, text);
    finish(&p, &kiln__malloc);
    assert_int_equal(kiln__uniform_check(&p.uniform, &error),
                     expected == KILN__PROBLEM_NONE);
    assert_int_equal(error.problem, expected);
    dispose(&p);
}

static void collective_operations_are_checked(void **state)
{
    (void)state;
    problem_is("(if (lt Bool (length i64 %x.0) " N(5) ") (block (barrier)))",
               KILN__PROBLEM_NONE);
    problem_is("(if (lt Bool " ITEM " " N(5) ") (block (barrier)))",
               KILN__PROBLEM_CONDITION);
    problem_is("(if (lt Bool " SUB " " N(5) ") (block (set %a.1"
                                            " (group i64 sub_group_add " ITEM
                                            "))))",
               KILN__PROBLEM_NONE);
    problem_is("(if (lt Bool " SUB " " N(5) ") (block (set %a.1"
                                            " (group i64 group_add " ITEM
                                            "))))",
               KILN__PROBLEM_CONDITION);
    problem_is("(if (lt Bool " ITEM " " N(5) ") (block (return))) (barrier)",
               KILN__PROBLEM_JUMP);
    problem_is("(set %a.1 (group i64 group_broadcast " N(1) " " ITEM "))",
               KILN__PROBLEM_LANE);
}

/* ---- failing memory ---- */

typedef struct scarce {
    size_t left;
} scarce;

static void *scarce_realloc(void *env, void *memory, size_t old_size,
                            size_t new_size)
{
    scarce *s = env;

    if (new_size > 0 && s->left-- == 0) {
        s->left = 0;
        return NULL;
    }
    return kiln__malloc.realloc(kiln__malloc.env, memory, old_size, new_size);
}

static void running_out_of_memory_is_a_problem(void **state)
{
    size_t failures = 0;
    int done = 0;

    (void)state;
    for (size_t i = 0; !done; i++) {
        scarce s = {i};
        const kiln_alloc alloc = {.realloc = scarce_realloc, .env = &s};
        kiln__uniform_error error;
        program p = {.count = 0};

        add(&p, KERNEL CALLEE(0, "m.f") "(block (set %a.1 " CALL(
                    0, ITEM) ") (barrier)))");
        add(&p, "(function \"m.f\" \"m.f#1\" (result i64) (param %n.0 i64)"
                " (block (barrier) (return %n.0)))");
        finish(&p, &alloc);
        done = kiln__uniform_check(&p.uniform, &error);
        assert_int_equal(error.problem,
                         done ? KILN__PROBLEM_NONE : KILN__PROBLEM_MEMORY);
        failures += !done;
        dispose(&p);
    }
    assert_true(failures > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_have_the_level_of_what_they_are_made_of),
        cmocka_unit_test(what_is_set_under_a_condition_has_its_level),
        cmocka_unit_test(loops_carry_levels_round),
        cmocka_unit_test(a_continue_divides_only_the_rest_of_its_turn),
        cmocka_unit_test(a_return_divides_all_that_follows),
        cmocka_unit_test(calls_are_seen_with_their_arguments),
        cmocka_unit_test(facts_spread_to_callers),
        cmocka_unit_test(only_those_in_a_cycle_recur),
        cmocka_unit_test(collective_operations_are_checked),
        cmocka_unit_test(running_out_of_memory_is_a_problem),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
