/* test_frontend_faults.c - frontends that say what cannot be. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend fault */
#include "kiln.h"
#include "kiln/sys/frontend.h"
#include "support/frontend/hostile_frontend.h"
#include "support/harness.h"

static const kiln_type *i32_of(const hostile *h)
{
    return kiln_type_scalar(h->context, KILN_TYPE_I32);
}

static int setup(void **state)
{
    *state = hostile_begin(NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    hostile_end();
    return 0;
}

static kiln_status infer_with(hostile *s, const kiln_type *type,
                              kiln_error **error)
{
    const kiln_signature signature = {s->f, &type, 1};
    const kiln_code *code = NULL;

    return kiln_infer(&code, s->context, &signature, s->config, 0, error);
}

static kiln_status infer_it(hostile *s, kiln_error **error)
{
    return infer_with(s, i32_of(s), error);
}

/* ---- world() ---- */

static void a_world_of_zero_is_refused(void **state)
{
    hostile *s = *state;
    const kiln_type *type = i32_of(s);
    const kiln_signature signature = {s->f, &type, 1};
    const kiln_kernel *kernel = NULL;
    uint64_t held = 0;

    s->world = 0;
    for (int i = 0; i < 2; i++) {
        assert_fails(KILN_EINVAL, "its world is 0: worlds begin at 1",
                     infer_it(s, &test_error));
        assert_fails(KILN_EINVAL, "hostile 1",
                     kiln_compile(&kernel, s->context, &signature, s->config,
                                  NULL, &test_error));
    }
    assert_int_equal(kiln_world_hold(&held, s->frontend), KILN_EINVAL);
    assert_int_equal(
        kiln_world_changed(s->frontend, 0, &hostile_subject, 1, NULL),
        KILN_EINVAL);
    kiln_context_collect(s->context);
    s->world = 1;
    assert_ok(infer_it(s, &test_error));
}

static void a_world_without_end_is_refused(void **state)
{
    hostile *s = *state;

    s->world = UINT64_MAX;
    assert_fails(KILN_EINVAL, "that stands for no end",
                 infer_it(s, &test_error));
}

static void a_world_that_goes_back_is_refused(void **state)
{
    hostile *s = *state;
    uint64_t held = 0;

    assert_ok(infer_it(s, &test_error));
    s->world = 2;
    assert_fails(KILN_EINVAL, "its world is 2, and it was 3 before",
                 infer_it(s, &test_error));
    assert_int_equal(kiln_world_hold(&held, s->frontend), KILN_EINVAL);
    s->world = 3;
    assert_ok(infer_it(s, &test_error));
}

static kiln_status call_another(hostile *s, const kiln_signature *signature,
                                kiln_inference *out, kiln_error **error)
{
    const kiln_signature callee = {s->other->f, signature->types, 1};
    const kiln_code *code = NULL;
    kiln_inference *head = NULL;

    return kiln_inference_callee(out, &callee, &code, NULL, &head, error);
}

/* A frontend that is right asks one that is not. */
static void a_callees_world_is_looked_at(void **state)
{
    hostile *s = *state;

    s->infer = call_another;
    s->other->world = 0;
    assert_fails(KILN_EINVAL, "frontend 'hostile 2' says that its world is 0",
                 infer_it(s, &test_error));
}

static void count_answer(hostile *s)
{
    s->calls++;
}

/* ---- kiln_world_changed() ---- */

static void a_change_of_another_world_is_refused(void **state)
{
    hostile *s = *state;
    kiln_change_report report = KILN_CHANGE_REPORT_INIT;

    assert_ok(infer_it(s, &test_error));
    s->answer = count_answer;
    s->world = 5;
    for (uint64_t world = 0; world < 9; world++)
        assert_int_equal(kiln_world_changed(s->frontend, world,
                                            &hostile_subject, 1, &report),
                         world == 5 ? KILN_OK : KILN_EINVAL);
    assert_int_equal(s->calls, 1);
    assert_int_equal(report.invalidated_count, 0);
    assert_contains(s->lines, "frontend 'hostile 1' tells of a change of world "
                              "6, and its world is 5");
    kiln_change_report_dispose(&report);
}

/* ---- infer() ---- */

static kiln_status say_nothing(hostile *s, const kiln_signature *signature,
                               kiln_inference *out, kiln_error **error)
{
    (void)s, (void)signature, (void)out, (void)error;
    return KILN_OK;
}

static void an_inference_that_tells_nothing_is_refused(void **state)
{
    hostile *s = *state;

    s->infer = say_nothing;
    assert_fails(KILN_EINVAL, "inferred f(i32) and reported no typed IR",
                 infer_it(s, &test_error));
    /* It is not remembered. */
    s->infer = NULL;
    assert_ok(infer_it(s, &test_error));
}

static kiln_status call_itself(hostile *s, const kiln_signature *signature,
                               kiln_inference *out, kiln_error **error)
{
    const kiln_code *code = NULL;
    kiln_inference *head = NULL;
    const kiln_status status =
        kiln_inference_callee(out, signature, &code, NULL, &head, error);

    (void)s;
    return status == KILN_ERECURSION && head ? KILN_OK : status;
}

static void a_recursion_that_tells_nothing_is_refused(void **state)
{
    hostile *s = *state;

    s->infer = call_itself;
    assert_fails(KILN_EINVAL, "inferred f(i32) and reported no typed IR",
                 infer_it(s, &test_error));
}

static kiln_status report_worlds(hostile *s, const kiln_signature *signature,
                                 kiln_inference *out, kiln_error **error)
{
    const int is_later = kiln_inference_signature(out) != NULL &&
                         signature->types[0] == i32_of(s);

    (void)error;
    kiln_inference_set_worlds(out, is_later ? 4 : 1, is_later ? 9 : 2);
    return kiln_inference_set_ir(out, "ir", 2);
}

static void worlds_without_the_inferred_one_are_refused(void **state)
{
    hostile *s = *state;

    s->infer = report_worlds;
    assert_fails(KILN_EINVAL, "in world 3 and reported worlds 4 to 9",
                 infer_it(s, &test_error));
    assert_fails(KILN_EINVAL, "in world 3 and reported worlds 1 to 2",
                 infer_with(s, kiln_type_scalar(s->context, KILN_TYPE_F32),
                            &test_error));
}

/* ---- types of another context ---- */

static const kiln_type *foreign;

static kiln_status report_foreign(hostile *s, const kiln_signature *signature,
                                  kiln_inference *out, kiln_error **error)
{
    (void)signature, (void)error;
    (void)s;
    kiln_inference_set_result(out, foreign);
    return kiln_inference_set_ir(out, "ir", 2);
}

static kiln_status call_with_foreign(hostile *s,
                                     const kiln_signature *signature,
                                     kiln_inference *out, kiln_error **error)
{
    const kiln_signature callee = {s->f, &foreign, 1};
    const kiln_code *code = NULL;
    kiln_inference *head = NULL;

    (void)signature;
    return kiln_inference_callee(out, &callee, &code, NULL, &head, error);
}

static void a_type_of_another_context_is_refused(void **state)
{
    hostile *s = *state;
    const kiln_signature signature = {s->f, &foreign, 1};
    kiln_batch_job job = {.signature = signature, .config = s->config};
    const kiln_kernel *kernel = NULL;
    const kiln_code *code = NULL;
    kiln_context *other = NULL;

    assert_ok(kiln_context_new(&other, NULL, &test_error));
    foreign = kiln_type_scalar(other, KILN_TYPE_I32);
    assert_fails(KILN_EINVAL, "f: type i32 of argument 1 is of another context",
                 infer_with(s, foreign, &test_error));
    assert_fails(KILN_EINVAL, "is of another context",
                 kiln_compile(&kernel, s->context, &signature, s->config, NULL,
                              &test_error));
    assert_int_equal(
        kiln_code_find(&code, s->context, &signature, s->config, 0),
        KILN_EINVAL);
    assert_int_equal(kiln_compile_batch(s->context, &job, 1, NULL, NULL),
                     KILN_EINVAL);
    kiln_error_free(job.error);
    s->infer = report_foreign;
    assert_fails(KILN_EINVAL, "with a result type of another context",
                 infer_it(s, &test_error));
    s->infer = call_with_foreign;
    assert_fails(KILN_EINVAL, "is of another context",
                 infer_it(s, &test_error));
    kiln_context_free(other);
}

static kiln_status call_nothing(hostile *s, const kiln_signature *signature,
                                kiln_inference *out, kiln_error **error)
{
    const kiln_type *none = NULL, *type = i32_of(s);
    const kiln_signature callees[] = {
        {NULL, NULL, 0}, {s->f, &none, 1}, {s->f, NULL, 1}, {s->f, &type, 99}};
    const kiln_code *code = NULL;
    kiln_inference *head = NULL;

    (void)signature;
    for (size_t i = 0; i < sizeof callees / sizeof *callees; i++)
        if (kiln_inference_callee(out, &callees[i], &code, NULL, &head, NULL) !=
            KILN_EINVAL)
            return KILN_OK;
    return kiln_error_set(error, KILN_ECOMPILE, "all four are refused");
}

static void a_callee_that_is_none_is_refused(void **state)
{
    hostile *s = *state;

    s->infer = call_nothing;
    assert_fails(KILN_ECOMPILE, "all four are refused",
                 infer_it(s, &test_error));
}

static void without_an_inference_nothing_is_told(void **state)
{
    hostile *s = *state;
    const kiln_type *type = i32_of(s);
    const kiln_signature signature = {s->f, &type, 1};
    const kiln_query query = {1, "q", 1, {{0}}};
    const kiln_code *code;
    kiln_inference *head;
    kiln_error **e = &test_error;
    uint64_t world;

    assert_fails(KILN_EINVAL,
                 "inference != ", kiln_inference_use_runtime(NULL, "s", e));
    assert_fails(KILN_EINVAL, "inference != ",
                 kiln_inference_use_site(NULL, "s", KILN_SITE_DATA, e));
    assert_fails(
        KILN_EINVAL, "inference != ",
        kiln_inference_callee(NULL, &signature, &code, NULL, &head, e));
    assert_fails(KILN_EINVAL, "inference != ",
                 kiln_inference_world(&world, NULL, s->frontend, e));
    assert_status(KILN_EINVAL, kiln_inference_set_name(NULL, "n"));
    assert_status(KILN_EINVAL, kiln_inference_set_ir(NULL, "x", 1));
    assert_status(KILN_EINVAL, kiln_inference_add_query(NULL, &query));
    assert_ok(infer_it(s, &test_error));
    assert_ok(
        kiln_infer(&code, s->context, &signature, s->config, 0, &test_error));
    assert_status(KILN_EINVAL, kiln_inference_depend(NULL, code));

    kiln_inference_set_root(NULL, (kiln_digest){{0}});
    kiln_inference_set_result(NULL, type);
    kiln_inference_set_worlds(NULL, 1, 2);
    kiln_inference_set_runtime(NULL);
    kiln_inference_set_user(NULL, s);
    kiln_inference_restart(NULL);
    assert_int_equal(kiln_inference_is_cycle_head(NULL), 0);
    assert_int_equal(kiln_inference_is_provisional(NULL), 0);
    assert_null(kiln_inference_parent(NULL));
    assert_null(kiln_inference_signature(NULL));
    assert_null(kiln_inference_user(NULL));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_world_of_zero_is_refused),
        TEST(a_world_without_end_is_refused),
        TEST(a_world_that_goes_back_is_refused),
        TEST(a_callees_world_is_looked_at),
        TEST(a_change_of_another_world_is_refused),
        TEST(an_inference_that_tells_nothing_is_refused),
        TEST(a_recursion_that_tells_nothing_is_refused),
        TEST(worlds_without_the_inferred_one_are_refused),
        TEST(a_type_of_another_context_is_refused),
        TEST(a_callee_that_is_none_is_refused),
        TEST(without_an_inference_nothing_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
