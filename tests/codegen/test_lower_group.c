/* test_lower_group.c - functions emitted for a whole group. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
/* LINKS: codegen */
#include "support/harness.h"

#include "backends/host/codegen/host_codegen.h"
#include "codegen/module/codegen_stages.h"
#include "support/codegen/lower_fake.h"

/* Lowers `text` for the host; the module must be valid. */
static void lower_text(lower_fake *fake, const char *text)
{
    char *message = NULL;

    lower_fake_init(fake);
    fake->settings.opt_level = 3;
    fake->backend = &kiln__host_codegen;
    assert_ok(lower_fake_parse(fake, "text", text, &test_error));
    if (lower_fake_lower(fake) != KILN_OK)
        fail_msg("%s", fake->job.message);
    if (LLVMVerifyModule(fake->job.module, LLVMReturnStatusAction, &message))
        fail_msg("%s", message);
    LLVMDisposeMessage(message);
}

/* Bytes that a group and each of its items need, and whether it is for a
   group at all. */
static void needs(const char *text, int for_group, uint32_t local_bytes,
                  uint32_t private_bytes)
{
    lower_fake fake;

    lower_text(&fake, text);
    assert_int_equal(fake.job.for_group, for_group);
    assert_int_equal(fake.job.static_local_bytes, local_bytes);
    assert_int_equal(fake.job.private_bytes, private_bytes);
    lower_fake_dispose(&fake);
}

#define ID "(query i64 global_id 0)"
#define N(n) "(const i64 " #n ")"
#define LOADED "(load i64 %x.0 " ID ")"
/* Keeps vectors of items from going through the kernel's loops. */
#define NARROW "(assert@2 \"\" (ne Bool (length i64 %x.0) " N(7) "))"
#define KERNEL(locals, body) \
    "(function \"m.k\" \"m.k#1\" kernel (param %x.0 i64[:])" \
    " (local %a.1 i64) (local %b.2 i64)" locals " (block " body "))\n"

static void a_kernel_without_barriers_runs_item_by_item(void **state)
{
    (void)state;
    needs(KERNEL("", "(set %a.1 " ID ") (store %x.0 %a.1 %a.1)"), 0, 0, 0);
    needs(KERNEL(" (local %t.3 f32[:])",
                 "(set %t.3 (local_array f32[:] " N(5) "))"
                                                       "(store %x.0 " ID
                                                       " (length i64 %t.3))"),
          0, 64, 0);
}

static void what_one_region_has_needs_no_memory(void **state)
{
    (void)state;
    needs(KERNEL("", "(set %a.1 " ID ") (store %x.0 %a.1 %a.1) (barrier)"
                     "(set %b.2 " ID ") (store %x.0 %b.2 %b.2)"),
          1, 0, 0);
}

static void what_lives_across_a_barrier_has_a_slot(void **state)
{
    (void)state;
    needs(KERNEL("", "(set %a.1 " LOADED ") (barrier) (store %x.0 %a.1 %a.1)"),
          1, 0, 8);
    needs(KERNEL(" (local %c.3 Bool) (local %d.4 (i8, f64))",
                 "(set %c.3 (lt Bool " LOADED
                 " " N(3) "))"
                          "(set %d.4 (tuple (i8, f64) (const i8 1)"
                          " (convert f64 " LOADED "))) (barrier)"
                          "(if %c.3 (block (store %x.0 " N(
                              0) " (saturate i64"
                                 " (field f64 1 %d.4)))))"),
          1, 0, 10);
}

static void what_ids_tell_is_computed_again(void **state)
{
    (void)state;
    needs(KERNEL("", "(set %a.1 " ID ") (set %b.2 (mul i64 %a.1 " N(
                         3) "))"
                            "(barrier) (store %x.0 %a.1 %b.2)"),
          1, 0, 0);
    /* But not what changes, */
    needs(KERNEL("", "(set %a.1 " ID ") (barrier)"
                     "(set %a.1 (add i64 %a.1 " N(1) ")) (barrier)"
                                                     "(store %x.0 %a.1 %a.1)"),
          1, 0, 8);
    /* nor what the group works on together. */
    needs(KERNEL("", "(set %a.1 " ID ") (set %b.2 (group i64 group_add %a.1))"
                     "(store %x.0 %a.1 %b.2)"),
          1, 0, 8);
}

static void what_is_uniform_is_a_scalar(void **state)
{
    (void)state;
    needs(KERNEL("", "(set %a.1 (length i64 %x.0)) (barrier)"
                     "(store %x.0 " ID " %a.1)"),
          1, 0, 0);
    needs(KERNEL("", "(set %a.1 " N(9) ") (while (lt Bool " N(
                         0) " %a.1)"
                            " (block (barrier) (store %x.0 " ID " %a.1)"
                            " (set %a.1 (sub i64 %a.1 " N(1) "))))"),
          1, 0, 0);
}

/* A local that changes between barriers is read by items only. */
#define TURNS(first, second) \
    KERNEL("", "(set %b.2 " N(0) ") (for %a.1 " N(0) " " N(9) " " N( \
                   1) " (block (store %x.0 " ID " %b.2) " first second "))")
#define CHANGE "(set %b.2 (sub i64 " N(1) " %b.2)) "
#define STORE "(store %x.0 " ID " %b.2) "

static void what_changes_for_all_is_a_scalar_unless_it_cuts_a_region(
    void **state)
{
    (void)state;
    needs(TURNS(CHANGE, "(barrier)"), 1, 0, 0);
    needs(TURNS("(barrier)" CHANGE, STORE), 1, 0, 0);
    needs(TURNS("(barrier)" STORE CHANGE, STORE), 1, 0, 8);
}

static void a_value_is_kept_while_the_group_works_together(void **state)
{
    (void)state;
    needs(KERNEL("", "(store %x.0 " ID " (add i64 (load i64 %x.0 " ID ")"
                     " (group i64 group_add " ID ")))"),
          1, 0, 16);
}

static void loops_over_neighbours_go_outside(void **state)
{
    (void)state;
    needs(KERNEL("", NARROW "(for %a.1 " N(0) " (length i64 %x.0) " N(
                         1) " (block (set %b.2 (add i64 %b.2"
                            " (load i64 %x.0 (add i64 %a.1 " ID "))))))"
                            "(store %x.0 " ID " %b.2)"),
          1, 0, 8);
    needs(KERNEL("", NARROW "(for %a.1 " N(0) " (length i64 %x.0) " N(
                         1) " (block (set %b.2 (add i64 %b.2"
                            " (load i64 %x.0 (mul i64 %a.1 " ID "))))))"
                            "(store %x.0 " ID " %b.2)"),
          0, 0, 0);
    /* Numbers of 32 bits are converted. */
    needs(KERNEL(" (local %c.3 i32)",
                 NARROW "(set %c.3 (wrap i32 (length i64 %x.0)))"
                        "(for %a.1 " N(0) " (length i64 %x.0) " N(
                            1) " (block (set %b.2 (add i64 %b.2 (load i64 %x.0"
                               " (add i64 (convert i64 (mul i32 %c.3 %c.3)) " ID
                               "))))))(store %x.0 " ID " %b.2)"),
          1, 0, 8);
}

/* Vectors of iterations can add up, but not compute one state from another. */
static void chains_of_integers_go_outside(void **state)
{
#define CHAIN(last, next) \
    KERNEL("", NARROW "(set %b.2 " ID ") (for %a.1 " N(0) " " last " " N( \
                   1) " (block (set %b.2 " next ")))" \
                      "(store %x.0 " ID " %b.2)")
#define LAST "(length i64 %x.0)"

    (void)state;
    needs(CHAIN(LAST, "(xor i64 %b.2 (shl i64 %b.2 " N(13) "))"), 1, 0, 8);
    needs(CHAIN(LAST, "(add i64 (mul i64 %b.2 " N(5) ") " N(3) ")"), 1, 0, 8);
    needs(CHAIN(LAST, "(add i64 %b.2 (mul i64 %a.1 " ID "))"), 0, 0, 0);
    needs(CHAIN(N(16), "(xor i64 %b.2 (shl i64 %b.2 " N(13) "))"), 0, 0, 0);
}

static void what_is_gathered_anyway_does_not_keep_a_loop_inside(void **state)
{
#define SUM(index) \
    "(for %a.1 " N(0) " (length i64 %x.0) " N( \
        1) " (block (set %c.3" \
           " (add f64 %c.3 (convert f64 (load i64 %x.0 " index "))))))" \
           "(store %x.0 " ID " (saturate i64 %c.3))"
#define NEXT "(add i64 %a.1 " ID ")"

    (void)state;
    needs(KERNEL(" (local %c.3 f64)", SUM("(load i64 %x.0 " NEXT ")")), 1, 0,
          8);
    needs(KERNEL(" (local %c.3 f64)", SUM("(mul i64 %a.1 " ID ")")), 0, 0, 0);
}

/* Also after a barrier; but not if the item leaves the loop early. */
static void items_that_take_turns_go_through_a_loop_together(void **state)
{
#define TAKE(more) \
    "(set %a.1 " ID ") (while (lt Bool %a.1 (length i64 %x.0)) (block" \
    " (set %b.2 (add i64 %b.2 (load i64 %x.0 %a.1)))" more \
    " (set %a.1 (add i64 %a.1 (query i64 global_size 0)))))" \
    " (store %x.0 " ID " %b.2)"

    (void)state;
    needs(KERNEL("", TAKE("")), 1, 0, 8);
    needs(KERNEL("", "(barrier)" TAKE("")), 1, 0, 8);
    needs(KERNEL("", TAKE("(break)")), 0, 0, 0);
}

static void a_callee_is_emitted_where_it_is_called(void **state)
{
    lower_fake fake;

    (void)state;
    lower_text(&fake,
               "(function \"m.k\" \"m.k#1\" kernel (param %x.0 i64[:])"
               " (callee $0 \"m.f\" i64)"
               " (block (store %x.0 " ID " (call i64 $0 " ID "))))\n"
               "(function \"m.f\" \"m.f#1\" (result i64) (param %n.0 i64)"
               " (block (set %n.0 (add i64 %n.0 " N(1) ")) (barrier)"
                                                       "  (return %n.0)))\n");
    assert_true(fake.job.for_group);
    assert_null(LLVMGetNamedFunction(fake.job.module, "m_f.fn"));
    lower_fake_dispose(&fake);
}

/* ---- out of memory ---- */

static const char everything[] =
    "(function \"m.k\" \"m.k#1\" kernel (param %x.0 i64[:])"
    " (local %a.1 i64) (local %b.2 i64) (local %t.3 i64[:])"
    " (callee $0 \"m.f\" i64)"
    " (block (set %a.1 " ID ") (set %t.3 (local_array i64[:] " N(
        8) "))"
           "  (for %b.2 " N(0) " (length i64 %x.0) " N(
               1) "   (block (store %t.3 " N(0) " %a.1) (barrier)"
                                                "    (set %a.1 (call i64 $0 "
                                                "(group i64 group_add %a.1)))"
                                                "    (if (lt Bool (query i64 "
                                                "sub_group_id 0) " N(
                                                    3) ")"
                                                       "     (block (set %a.1 "
                                                       "(group i64 "
                                                       "sub_group_max "
                                                       "%a.1))))))"
                                                       "  (if (lt Bool %a.1 " N(
                                                           7) ") (block "
                                                              "(return)))"
                                                              "  (store "
                                                              "%x.0 " ID
                                                              " %a.1)))\n"
                                                              "(function "
                                                              "\"m.f\" "
                                                              "\"m.f#1\" "
                                                              "(result i64) "
                                                              "(param %n.0 i64)"
                                                              " (block "
                                                              "(barrier) "
                                                              "(return (add "
                                                              "i64 %n.0 " ID
                                                              "))))\n";

static kiln_status lower_with(const kiln_alloc *alloc, void *env)
{
    lower_fake fake;
    kiln_status status;

    (void)env;
    lower_fake_init(&fake);
    fake.backend = &kiln__host_codegen;
    fake.settings.opt_level = 3;
    fake.alloc = alloc;
    assert_ok(lower_fake_parse(&fake, "text", everything, &test_error));
    status = lower_fake_lower(&fake);
    lower_fake_dispose(&fake);
    return status;
}

static void running_out_of_memory_is_an_error(void **state)
{
    (void)state;
    assert_survives_failing_alloc(lower_with, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_without_barriers_runs_item_by_item),
        cmocka_unit_test(what_one_region_has_needs_no_memory),
        cmocka_unit_test(what_lives_across_a_barrier_has_a_slot),
        cmocka_unit_test(what_ids_tell_is_computed_again),
        cmocka_unit_test(what_is_uniform_is_a_scalar),
        cmocka_unit_test(
            what_changes_for_all_is_a_scalar_unless_it_cuts_a_region),
        cmocka_unit_test(a_value_is_kept_while_the_group_works_together),
        cmocka_unit_test(loops_over_neighbours_go_outside),
        cmocka_unit_test(chains_of_integers_go_outside),
        cmocka_unit_test(what_is_gathered_anyway_does_not_keep_a_loop_inside),
        cmocka_unit_test(items_that_take_turns_go_through_a_loop_together),
        cmocka_unit_test(a_callee_is_emitted_where_it_is_called),
        cmocka_unit_test(running_out_of_memory_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
