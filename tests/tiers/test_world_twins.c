/* test_world_twins.c - two instances of one signature below one kernel. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers frontend */
#include <string.h>

#include "kiln/cache.h"
#include "kiln/compile.h"
#include "kiln/config.h"
#include "kiln/context.h"
#include "support/frontend/toy_frontend.h"
#include "support/harness.h"

/* f0 calls the others, f1 calls f2. */
#define ROOT 0
#define CALLER 1
#define CALLEE 2
#define BETWEEN 3
#define ELSEWHERE 4

typedef struct fixture {
    kiln_context *context;
    const kiln_config *config;
    struct toy toy;
    size_t code_count; /* of what was lowered last */
    int callee_number; /* the meaning of f2 in it */
    uint64_t told_of;  /* 0: the change of f2 is told already */
} fixture;

static fixture f;

/* What a frontend relies on that names symbols by functions: each is there
   once, and whatever is called is there. */
static void check_lowered(struct toy *toy, const kiln_lower_request *request)
{
    const kiln_code *callee;
    size_t size;

    (void)toy;
    f.code_count = request->code_count;
    for (size_t i = 0; i < request->code_count; i++) {
        const kiln_code *code = request->codes[i];
        const kiln_signature signature = kiln_code_signature(code);

        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(kiln_code_name(request->codes[j]),
                                    kiln_code_name(code));
        for (size_t at = 0; (callee = kiln_code_callee(code, at)); at++) {
            size_t place = 0;

            while (place < request->code_count &&
                   request->codes[place] != callee)
                place++;
            assert_in_range(place, 0, request->code_count - 1);
        }
        if (signature.function == f.toy.functions[CALLEE])
            f.callee_number = *(const int *)kiln_code_ir(code, &size);
    }
}

static int setup(void **state)
{
    static const int of_root[] = {CALLER, BETWEEN, CALLEE, -1};
    static const int of_caller[] = {CALLEE, -1};

    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;

    memset(&f, 0, sizeof f);
    cache.mode = KILN_CACHE_MODE_OFF; /* what counts is asked of the toy */
    options.cache = &cache;
    assert_ok(kiln_context_new(&f.context, &options, &test_error));
    assert_ok(kiln_config_new(&f.config, f.context, NULL, &test_error));
    assert_ok(toy_open(&f.toy, f.context, &test_error));
    f.toy.lower_hook = check_lowered;
    assert_ok(toy_define(&f.toy, CALLEE, 12, NULL, NULL));
    assert_ok(toy_define(&f.toy, BETWEEN, 13, NULL, NULL));
    assert_ok(toy_define(&f.toy, CALLER, 11, of_caller, NULL));
    assert_ok(toy_define(&f.toy, ROOT, 10, of_root, NULL));
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kiln_context_free(f.context);
    return 0;
}

static const kiln_code *infer(int id, uint64_t world)
{
    const kiln_signature signature = toy_signature(&f.toy, id);
    const kiln_code *code = NULL;

    assert_ok(
        kiln_infer(&code, f.context, &signature, f.config, world, &test_error));
    return code;
}

static void compile_root(void)
{
    const kiln_signature signature = toy_signature(&f.toy, ROOT);
    const kiln_kernel *kernel;

    assert_ok(kiln_compile(&kernel, f.context, &signature, f.config, NULL,
                           &test_error));
}

static void instances_of_one_digest_are_one_function_of_a_kernel(void **state)
{
    const kiln_code *caller, *held;
    uint64_t world;

    (void)state;
    assert_ok(kiln_world_hold(&world, f.toy.frontend));
    assert_ok(toy_define(&f.toy, ELSEWHERE, 14, NULL, NULL));
    caller = infer(CALLER, 0);
    held = infer(CALLEE, world);
    assert_ptr_not_equal(kiln_code_callee(caller, 0), held);
    assert_true(kiln_code_is_valid(held));

    compile_root();
    assert_int_equal(f.toy.lowered[ROOT], 1);
    assert_int_equal(f.code_count, 4);
    assert_int_equal(f.callee_number, 12);
    kiln_world_release(f.toy.frontend, world);
}

/* In the middle of what calls it. */
static void tell_of_callee(struct toy *toy, int id)
{
    const uint64_t subject = CALLEE, world = f.told_of;

    if (id != BETWEEN || world == 0)
        return;
    f.told_of = 0;
    assert_ok(kiln_world_changed(toy->frontend, world, &subject, 1, NULL));
}

static void what_mixes_two_worlds_begins_afresh(void **state)
{
    (void)state;
    (void)infer(CALLEE, 0);
    f.told_of = toy_advance(&f.toy, CALLEE, 22, NULL);
    f.toy.hook = tell_of_callee;

    compile_root();
    assert_int_equal(f.told_of, 0);
    assert_int_equal(f.toy.lowered[ROOT], 1);
    assert_int_equal(f.code_count, 4);
    assert_int_equal(f.callee_number, 22);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            instances_of_one_digest_are_one_function_of_a_kernel, setup,
            teardown),
        cmocka_unit_test_setup_teardown(what_mixes_two_worlds_begins_afresh,
                                        setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
