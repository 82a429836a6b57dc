/* test_frontend_hostile.c - callbacks that give garbage, or call back. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend fault host */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln.h"
#include "kiln/sys/frontend.h"
#include "support/frontend/hostile_frontend.h"
#include "support/harness.h"

static kiln_status infer_function(hostile *h, const kiln_function *of,
                                  kiln_error **error)
{
    const kiln_signature signature = {of, NULL, 0};
    const kiln_code *code = NULL;

    return kiln_infer(&code, h->context, &signature, h->config, 0, error);
}

static kiln_status compile_function(hostile *h, const kiln_function *of,
                                    kiln_error **error)
{
    const kiln_signature signature = {of, NULL, 0};
    const kiln_kernel *kernel = NULL;

    return kiln_compile(&kernel, h->context, &signature, h->config, NULL,
                        error);
}

/* ---- what infer() gives ---- */

static kiln_status say_error_and_go_on(hostile *h,
                                       const kiln_signature *signature,
                                       kiln_inference *out, kiln_error **error)
{
    (void)h, (void)signature;
    (void)kiln_error_set(error, KILN_ECOMPILE, "never mind");
    return kiln_inference_set_ir(out, "ir", 2);
}

static void an_error_beside_success_is_none(void **state)
{
    hostile *h = hostile_begin(NULL);
    kiln_error *error = NULL;

    (void)state;
    h->infer = say_error_and_go_on;
    assert_int_equal(infer_function(h, h->f, &error), KILN_OK);
    assert_null(error);
    hostile_end();
}

static kiln_status return_garbage(hostile *h, const kiln_signature *signature,
                                  kiln_inference *out, kiln_error **error)
{
    (void)signature, (void)out;
    (void)kiln_error_set(error, KILN_EIO, "lost");
    return h->calls++ ? (kiln_status)-777 : (kiln_status)12345;
}

static kiln_status lower_to_garbage(hostile *h, kiln_blob *out,
                                    kiln_error **error)
{
    (void)h, (void)out, (void)error;
    return (kiln_status)4711;
}

static void a_status_that_is_none_is_refused(void **state)
{
    hostile *h = hostile_begin(NULL);

    (void)state;
    h->infer = return_garbage;
    assert_fails(KILN_EINVAL,
                 "infer() of frontend 'hostile 1' returned 12345, which is no "
                 "status",
                 infer_function(h, h->f, &test_error));
    assert_fails(KILN_EINVAL, "returned -777",
                 compile_function(h, h->f, &test_error));
    h->infer = NULL;
    h->lower = lower_to_garbage;
    assert_fails(KILN_EINVAL, "lower() of frontend 'hostile 1' returned 4711",
                 compile_function(h, h->f, &test_error));
    h->lower = NULL;
    assert_ok(compile_function(h, h->f, &test_error));
    hostile_end();
}

static int refuses_reports(kiln_inference *out)
{
    const kiln_query queries[] = {
        {1, NULL, 4, {{1}}}, {1, "q", 0, {{1}}}, {1, NULL, 0, {{1}}}};
    int refused = kiln_inference_set_ir(out, NULL, 8) == KILN_EINVAL;

    refused += kiln_inference_set_ir(out, "ir", SIZE_MAX / 2) == KILN_ENOMEM;
    refused += kiln_inference_set_name(out, NULL) == KILN_EINVAL;
    refused += kiln_inference_add_query(out, NULL) == KILN_EINVAL;
    for (int i = 0; i < 3; i++)
        refused += kiln_inference_add_query(out, &queries[i]) == KILN_EINVAL;
    refused += kiln_inference_depend(out, NULL) == KILN_EINVAL;
    return refused;
}

static int refuses_sites(kiln_inference *out)
{
    char name[KILN_SITE_NAME_MAX + 2];
    int refused = 0;

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    refused += kiln_inference_use_site(out, NULL, 0, NULL) == KILN_EINVAL;
    refused += kiln_inference_use_site(out, "", 0, NULL) == KILN_EINVAL;
    refused += kiln_inference_use_site(out, name, 0, NULL) == KILN_EINVAL;
    refused += kiln_inference_use_site(out, "n", 2, NULL) == KILN_EINVAL;
    refused += kiln_inference_use_site(out, "n", -1, NULL) == KILN_EINVAL;
    refused += kiln_inference_use_runtime(out, NULL, NULL) == KILN_EINVAL;
    refused += kiln_inference_use_runtime(out, "", NULL) == KILN_ENOTFOUND;
    return refused;
}

static int refuses_questions(hostile *h, kiln_inference *out)
{
    const kiln_signature callee = {h->g, NULL, 0};
    const kiln_type *none[1] = {NULL};
    const kiln_signature many = {h->g, none, 100000};
    const kiln_code *code = NULL;
    kiln_inference *head = NULL;
    uint64_t world;

#define CALLEE(callee, out_, head_) \
    (kiln_inference_callee(out, (callee), (out_), NULL, (head_), NULL) == \
     KILN_EINVAL)
    return CALLEE(NULL, &code, &head) + CALLEE(&callee, NULL, &head) +
           CALLEE(&callee, &code, NULL) + CALLEE(&many, &code, &head) +
           (kiln_inference_world(&world, out, NULL, NULL) == KILN_EINVAL) +
           (kiln_inference_world(NULL, out, h->frontend, NULL) == KILN_EINVAL);
#undef CALLEE
}

static kiln_status report_nothings(hostile *h, const kiln_signature *signature,
                                   kiln_inference *out, kiln_error **error)
{
    (void)signature, (void)error;
    h->calls += refuses_reports(out);
    h->calls += refuses_sites(out) + refuses_questions(h, out);
    return kiln_inference_set_ir(out, NULL, 0);
}

static void reports_of_nothing_are_refused(void **state)
{
    hostile *h = hostile_begin(NULL);

    (void)state;
    h->infer = report_nothings;
    assert_ok(infer_function(h, h->f, &test_error));
    assert_int_equal(h->calls, 8 + 7 + 6);
    hostile_end();
}

static void arguments_are_counted(void **state)
{
    hostile *h = hostile_begin(NULL);
    const size_t count = 100000;
    const kiln_type **types = calloc(count, sizeof *types);
    kiln_signature signature = {h->f, types, count};
    const kiln_kernel *kernel = NULL;
    const kiln_code *code = NULL;

    (void)state;
    assert_non_null(types);
    for (size_t i = 0; i < count; i++)
        types[i] = kiln_type_scalar(h->context, KILN_TYPE_I32);
    assert_fails(
        KILN_EINVAL, "count",
        kiln_infer(&code, h->context, &signature, h->config, 0, &test_error));
    assert_fails(KILN_EINVAL, "count",
                 kiln_compile(&kernel, h->context, &signature, h->config, NULL,
                              &test_error));
    signature.types = NULL;
    signature.count = 1;
    assert_fails(
        KILN_EINVAL, "types",
        kiln_infer(&code, h->context, &signature, h->config, 0, &test_error));
    signature.count = 0;
    assert_ok(
        kiln_infer(&code, h->context, &signature, h->config, 0, &test_error));
    free(types);
    hostile_end();
}

/* ---- names ---- */

static void names_are_any_bytes(void **state)
{
    char *longest = malloc(100001);
    const char *names[] = {"\xff\xfe\x80", "a\nb\t\"\\%s%n", "\xc3", "f#0",
                           longest};

    assert_non_null(longest);
    memset(longest, 'l', 100000);
    longest[100000] = '\0';
    for (int turn = 0; turn < 2; turn++) {
        hostile *h = hostile_begin(*state);

        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const kiln_function *named = NULL;

            assert_ok(kiln_function_new(&named, h->frontend, names[i], NULL,
                                        &test_error));
            assert_ok(compile_function(h, named, &test_error));
            assert_string_equal(kiln_function_name(named), names[i]);
        }
        hostile_end();
    }
    free(longest);
}

/* ---- what another process stored ---- */

static kiln_status call_g(hostile *h, const kiln_signature *signature,
                          kiln_inference *out, kiln_error **error)
{
    const kiln_signature callee = {h->g, signature->types, signature->count};
    const kiln_code *code = NULL;
    kiln_inference *head = NULL;
    kiln_status status = KILN_OK;

    h->calls++;
    if (signature->function == h->f)
        status = kiln_inference_callee(out, &callee, &code, NULL, &head, error);
    return status == KILN_OK ? kiln_inference_set_ir(out, "ir", 2) : status;
}

static kiln_status find_nothing(hostile *h, const kiln_function **out)
{
    (void)h;
    *out = NULL;
    return KILN_OK;
}

static kiln_status find_foreign(hostile *h, const kiln_function **out)
{
    *out = h->other->g;
    return KILN_OK;
}

static kiln_status find_another(hostile *h, const kiln_function **out)
{
    *out = h->f;
    return KILN_OK;
}

static kiln_context *elsewhere;

static kiln_status give_no_type(hostile *h, const kiln_type **out)
{
    (void)h;
    *out = NULL;
    return KILN_OK;
}

static kiln_status give_foreign_type(hostile *h, const kiln_type **out)
{
    (void)h;
    *out = kiln_type_scalar(elsewhere, KILN_TYPE_I32);
    return KILN_OK;
}

static kiln_status give_other_type(hostile *h, const kiln_type **out)
{
    *out = kiln_type_scalar(h->context, KILN_TYPE_F32);
    return KILN_OK;
}

/* Stored is that f(i32) calls g(i32): who cannot find these infers. */
static void what_is_found_is_looked_at(void **state)
{
    kiln_status (*const functions[])(hostile *, const kiln_function **) = {
        NULL, NULL, find_nothing, find_foreign, find_another, NULL, NULL, NULL};
    kiln_status (*const types[])(hostile *, const kiln_type **) = {
        NULL,           NULL, NULL, NULL, NULL, give_no_type, give_foreign_type,
        give_other_type};

    assert_ok(kiln_context_new(&elsewhere, NULL, &test_error));
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        hostile *h = hostile_begin(*state);
        const kiln_type *i32 = kiln_type_scalar(h->context, KILN_TYPE_I32);
        const kiln_signature signature = {h->f, &i32, 1};
        const kiln_code *code = NULL;

        h->infer = call_g;
        h->function = functions[i];
        h->type = types[i];
        assert_ok(kiln_infer(&code, h->context, &signature, h->config, 0,
                             &test_error));
        assert_non_null(kiln_code_callee(code, 0));
        /* By everybody's reading an i32 is an i32. */
        if (i == 0 || functions[i])
            assert_in_range(h->calls, 1, 2);
        else
            assert_int_equal(h->calls, 0);
        hostile_end();
    }
    kiln_context_free(elsewhere);
}

/* ---- callbacks that call back ---- */

static kiln_status never_hold(hostile *h)
{
    h->calls++;
    h->world++;
    return KILN_ENOTFOUND;
}

static kiln_status hold_in_hold(hostile *h)
{
    uint64_t world;

    h->calls++;
    return kiln_world_hold(&world, h->frontend);
}

static void holding_ends(void **state)
{
    hostile *h = hostile_begin(NULL);
    uint64_t world;

    (void)state;
    h->hold = never_hold;
    assert_int_equal(kiln_world_hold(&world, h->frontend), KILN_ENOTFOUND);
    assert_fails(KILN_ENOTFOUND, "'hostile 1' does not hold its world",
                 infer_function(h, h->f, &test_error));
    h->hold = hold_in_hold;
    h->calls = 0;
    assert_int_equal(kiln_world_hold(&world, h->frontend), KILN_ERECURSION);
    assert_in_range(h->calls, 1, 1000);
    assert_fails(KILN_ERECURSION, "hostile 1",
                 infer_function(h, h->f, &test_error));
    h->hold = NULL;
    assert_ok(infer_function(h, h->f, &test_error));
    hostile_end();
}

static void infer_in_world(hostile *h)
{
    h->calls++;
    (void)!infer_function(h, h->f, NULL);
}

static void world_in_world(hostile *h)
{
    h->calls++;
    (void)kiln_world(h->frontend);
}

static void a_world_that_asks_for_worlds_ends(void **state)
{
    hostile *h = hostile_begin(NULL);

    (void)state;
    h->ask_world = infer_in_world;
    (void)!infer_function(h, h->f, NULL);
    h->ask_world = world_in_world;
    (void)!infer_function(h, h->g, NULL);
    assert_in_range(h->calls, 2, 1000000);
    h->ask_world = NULL;
    assert_ok(infer_function(h, h->f, &test_error));
    hostile_end();
}

static void change_in_answer(hostile *h)
{
    h->calls++;
    h->world++;
    (void)!kiln_world_changed(h->frontend, h->world, &hostile_subject, 1, NULL);
}

static void changes_in_changes_end(void **state)
{
    hostile *h = hostile_begin(NULL);

    (void)state;
    assert_ok(infer_function(h, h->f, &test_error));
    h->answer = change_in_answer;
    h->world++;
    (void)!kiln_world_changed(h->frontend, h->world, &hostile_subject, 1, NULL);
    assert_in_range(h->calls, 2, 1000);
    h->answer = NULL;
    assert_ok(infer_function(h, h->f, &test_error));
    hostile_end();
}

static void collect_in_collect(hostile *h)
{
    h->calls++;
    kiln_context_collect(h->context);
}

static void collections_in_collections_end(void **state)
{
    hostile *h = hostile_begin(NULL);

    (void)state;
    h->collect = collect_in_collect;
    kiln_context_collect(h->context);
    assert_int_equal(h->calls, 1);
    hostile_end();
}

static kiln_status free_the_context(hostile *h, const kiln_signature *signature,
                                    kiln_inference *out, kiln_error **error)
{
    (void)signature, (void)error;
    kiln_context_free(h->context);
    return kiln_inference_set_ir(out, "ir", 2);
}

static void a_context_in_use_is_not_freed(void **state)
{
    hostile *h = hostile_begin(NULL);

    (void)state;
    h->infer = free_the_context;
    assert_ok(infer_function(h, h->f, &test_error));
    assert_contains(h->lines, "kiln_context_free() in a callback");
    assert_ok(compile_function(h, h->f, &test_error));
    hostile_end();
}

static void free_once(hostile *h)
{
    h->ask_world = h->release = NULL;
    h->lines[0] = '\0';
    h->calls++;
    kiln_context_free(h->context);
}

/* Whoever asks for it, and at whichever end. */
static void worlds_do_not_free_the_context(void **state)
{
    hostile *h = hostile_begin(NULL);
    uint64_t world = 0;

    (void)state;
    h->ask_world = free_once;
    assert_int_equal(kiln_world(h->frontend), h->world);
    assert_contains(h->lines, "kiln_context_free() in a callback");
    assert_ok(kiln_world_hold(&world, h->frontend));
    h->release = free_once;
    kiln_world_release(h->frontend, world);
    assert_contains(h->lines, "kiln_context_free() in a callback");
    h->world++;
    h->ask_world = free_once;
    assert_ok(
        kiln_world_changed(h->frontend, h->world, &hostile_subject, 1, NULL));
    assert_contains(h->lines, "kiln_context_free() in a callback");
    assert_ok(kiln_world_changing(h->frontend));
    h->release = free_once;
    assert_ok(kiln_world_changed(h->frontend, h->world, NULL, 0, NULL));
    assert_contains(h->lines, "kiln_context_free() in a callback");
    assert_int_equal(h->calls, 4);
    hostile_end();
}

/* Around: to the other frontend, whose infer() asks for this one again. */
static kiln_status infer_elsewhere(hostile *h, const kiln_signature *signature,
                                   kiln_inference *out, kiln_error **error)
{
    kiln_status status;

    (void)signature;
    h->calls++;
    status = infer_function(h->other, h->other->f, error);
    return status == KILN_OK ? kiln_inference_set_ir(out, "ir", 2) : status;
}

static kiln_status compile_elsewhere(hostile *h,
                                     const kiln_signature *signature,
                                     kiln_inference *out, kiln_error **error)
{
    kiln_status status;

    (void)signature;
    h->calls++;
    status = compile_function(h->other, h->other->f, error);
    return status == KILN_OK ? kiln_inference_set_ir(out, "ir", 2) : status;
}

static kiln_status lower_elsewhere(hostile *h, kiln_blob *out,
                                   kiln_error **error)
{
    (void)out;
    h->calls++;
    return compile_function(h->other, h->other->f, error);
}

static void questions_that_come_back_end(void **state)
{
    hostile *h = hostile_begin(NULL);

    (void)state;
    h->infer = h->other->infer = infer_elsewhere;
    assert_fails(KILN_ERECURSION, "nested",
                 infer_function(h, h->f, &test_error));
    h->infer = h->other->infer = compile_elsewhere;
    assert_fails(KILN_ERECURSION, "nested",
                 compile_function(h, h->f, &test_error));
    h->infer = h->other->infer = NULL;
    h->lower = h->other->lower = lower_elsewhere;
    assert_fails(KILN_ERECURSION, "itself",
                 compile_function(h, h->f, &test_error));
    assert_in_range(h->calls + h->other->calls, 3, 10000);
    h->lower = h->other->lower = NULL;
    assert_ok(compile_function(h, h->f, &test_error));
    hostile_end();
}

static kiln_status define_in_infer(hostile *h, const kiln_signature *signature,
                                   kiln_inference *out, kiln_error **error)
{
    const kiln_query query = {hostile_subject, "q", 1, {{1}}};

    (void)signature, (void)error;
    h->world++;
    (void)!kiln_world_changed(h->frontend, h->world, &hostile_subject, 1, NULL);
    kiln_context_collect(h->context);
    if (kiln_inference_add_query(out, &query) != KILN_OK)
        return KILN_ENOMEM;
    return kiln_inference_set_ir(out, "ir", 2);
}

static void definitions_while_inferring_end(void **state)
{
    hostile *h = hostile_begin(NULL);

    (void)state;
    h->infer = define_in_infer;
    for (int i = 0; i < 3; i++)
        assert_ok(infer_function(h, h->f, &test_error));
    hostile_end();
}

/* ---- what is attached ---- */

static kiln_status save_nothing(void *value, kiln_blob *out)
{
    (void)value;
    *out = (kiln_blob){NULL, 1000, NULL, NULL};
    return KILN_OK;
}

static void an_attachment_of_nothing_is_not_stored(void **state)
{
    hostile *h = hostile_begin(*state);
    const kiln_signature signature = {h->f, NULL, 0};
    const kiln_attachment made = {.size = sizeof made,
                                  .relocation = KILN_RELOCATION_PORTABLE,
                                  .save = save_nothing};
    const kiln_code *code = NULL;
    kiln_blob delta = {0};

    assert_ok(
        kiln_infer(&code, h->context, &signature, h->config, 0, &test_error));
    assert_ok(kiln_attachment_put(NULL, code, NULL, "nobody", &made));
    (void)!kiln_delta(&delta, h->context, NULL, NULL, NULL);
    kiln_blob_release(&delta);
    hostile_end();
}

#define TEST(name) cmocka_unit_test(name)
#define DISK_TEST(name) \
    cmocka_unit_test_setup_teardown(name, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_error_beside_success_is_none),
        TEST(a_status_that_is_none_is_refused),
        TEST(reports_of_nothing_are_refused),
        TEST(arguments_are_counted),
        DISK_TEST(names_are_any_bytes),
        DISK_TEST(what_is_found_is_looked_at),
        TEST(holding_ends),
        TEST(a_world_that_asks_for_worlds_ends),
        TEST(changes_in_changes_end),
        TEST(collections_in_collections_end),
        TEST(a_context_in_use_is_not_freed),
        TEST(worlds_do_not_free_the_context),
        TEST(questions_that_come_back_end),
        TEST(definitions_while_inferring_end),
        DISK_TEST(an_attachment_of_nothing_is_not_stored),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
