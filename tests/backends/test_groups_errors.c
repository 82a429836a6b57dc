/* test_groups_errors.c - collective operations that not all items reach. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance frontend host fault */
#include "support/harness.h"

#include <stdio.h>
#include <string.h>

#include "support/devices/kernels.h"

/* Compiles kernel k(x: i64[:]) of `text`; returns the diagnostic. */
static kiln_error *refuse(void **state, const char *text)
{
    static int64_t data[64];
    static unsigned number;
    kernels *k = *state;
    kiln_array x = kernels_array(data, 64);
    const kernels_argument argument = {"i64[:]", &x};
    kiln_error *error = NULL;
    char name[32];

    snprintf(name, sizeof name, "refused%u", number++);
    assert_status(KILN_ECOMPILE, kernels_run(k, kernels_define(k, name, text),
                                             "k", 64, &argument, 1, &error));
    assert_int_equal(kiln_error_diagnostic_count(error), 1);
    return error;
}

static void is_refused(void **state, const char *text, const char *code,
                       const char *message, uint32_t line, const char *hint)
{
    kiln_error *error = refuse(state, text);
    const kiln_diagnostic *d = kiln_error_diagnostic(error, 0);

    assert_string_equal(d->code, code);
    if (strstr(d->message, message) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", message, d->message);
    assert_int_equal(d->location.line, line);
    assert_non_null(d->source_line);
    if (hint != NULL && (d->hint == NULL || strstr(d->hint, hint) == NULL))
        fail_msg("\"%s\" is not in \"%s\"", hint, d->hint ? d->hint : "");
    kiln_error_free(error);
}

#define DIFFERS "is under a condition that differs between the items of a group"

static void a_barrier_under_a_divergent_if_is_refused(void **state)
{
    is_refused(state,
               "kernel k(x)\n"
               "    if global_id(0) < 5\n"
               "        barrier()\n"
               "    end\n"
               "end\n",
               "not-uniform", "`barrier` " DIFFERS, 3, "line 2");
}

static void a_condition_may_differ_by_what_a_local_became(void **state)
{
    is_refused(state,
               "kernel k(x)\n"
               "    n = 4\n"
               "    while n > 0\n"
               "        barrier()\n"
               "        if x[local_id(0)] > 2\n"
               "            n -= 1\n"
               "        end\n"
               "        n -= 1\n"
               "    end\n"
               "end\n",
               "not-uniform", "`barrier` " DIFFERS, 4, "line 3");
}

static void bounds_of_a_loop_are_conditions(void **state)
{
    is_refused(state,
               "kernel k(x)\n"
               "    for i in 0..x[global_id(0)]\n"
               "        barrier()\n"
               "    end\n"
               "end\n",
               "not-uniform", "`barrier` " DIFFERS, 3, "line 2");
}

static void no_item_returns_before_a_barrier(void **state)
{
    is_refused(state,
               "kernel k(x)\n"
               "    i = global_id(0)\n"
               "    if i >= length(x)\n"
               "        return\n"
               "    end\n"
               "    barrier()\n"
               "end\n",
               "not-uniform",
               "`barrier` comes after a `return` that only some items of a "
               "group take",
               6, "line 4");
}

static void no_item_leaves_a_loop_with_a_barrier_alone(void **state)
{
    is_refused(state,
               "kernel k(x)\n"
               "    for i in 0..4\n"
               "        barrier()\n"
               "        if local_id(0) == i\n"
               "            break\n"
               "        end\n"
               "    end\n"
               "end\n",
               "not-uniform", "`barrier` comes after a `break`", 3, "line 5");
    is_refused(state,
               "kernel k(x)\n"
               "    for i in 0..4\n"
               "        if local_id(0) == i\n"
               "            continue\n"
               "        end\n"
               "        barrier()\n"
               "    end\n"
               "end\n",
               "not-uniform", "`barrier` comes after a `continue`", 6,
               "line 4");
}

static void operands_that_may_be_left_out_are_conditional(void **state)
{
    const int is_host = strcmp(kernels_backend(), "host") == 0;

    is_refused(state,
               "kernel k(x)\n"
               "    v = x[global_id(0)]\n"
               "    if v > 3 && group_add(v) > 5\n"
               "        x[0] = 1\n"
               "    end\n"
               "end\n",
               "not-uniform", is_host ? "`group_add` " DIFFERS : DIFFERS, 3,
               NULL);
    is_refused(state,
               "kernel k(x)\n"
               "    v = x[global_id(0)]\n"
               "    x[global_id(0)] = v > 3 ? group_max(v) : 0\n"
               "end\n",
               "not-uniform", is_host ? "`group_max` " DIFFERS : DIFFERS, 3,
               NULL);
}

static void sub_groups_have_control_of_their_own(void **state)
{
    is_refused(state,
               "kernel k(x)\n"
               "    if lane_id() == 0\n"
               "        x[0] = sub_group_add(x[1])\n"
               "    end\n"
               "end\n",
               "not-uniform",
               "`sub_group_add` is under a condition that differs between the "
               "items of a sub-group",
               3, "line 2");
    is_refused(state,
               "kernel k(x)\n"
               "    if sub_group_id() == 0\n"
               "        barrier()\n"
               "    end\n"
               "end\n",
               "not-uniform", "`barrier` " DIFFERS, 3, "line 2");
}

static const char broadcast[] =
    "kernel k(x)\n"
    "    x[0] = group_broadcast(x[1], local_id(0))\n"
    "end\n";

static void broadcasts_name_one_item(void **state)
{
    if (strcmp(kernels_backend(), "host") != 0) {
        kiln_error *error = refuse(state, broadcast);

        /* There it is a function of the library's, whose barrier is told. */
        assert_string_equal(kiln_error_diagnostic(error, 0)->code,
                            "not-uniform");
        kiln_error_free(error);
        return;
    }
    is_refused(state, broadcast, "not-uniform",
               "`group_broadcast` takes the same item for all items of a group",
               2, NULL);
}

static void the_chain_of_calls_is_shown(void **state)
{
    kiln_error *error = refuse(state, "fn inner(x, n)\n"
                                      "    if n > 2\n"
                                      "        barrier()\n"
                                      "    end\n"
                                      "    return n\n"
                                      "end\n"
                                      "kernel k(x)\n"
                                      "    a = inner(x, length(x))\n"
                                      "    b = inner(x, local_id(0))\n"
                                      "    x[0] = a + b\n"
                                      "end\n");
    const kiln_diagnostic *d = kiln_error_diagnostic(error, 0);

    assert_int_equal(d->location.line, 3);
    assert_int_equal(d->frame_count, 2);
    assert_non_null(strstr(d->frames[0].function, "inner(i64[:], i64)"));
    assert_int_equal(d->frames[0].location.line, 3);
    assert_non_null(strstr(d->frames[1].function, "k(i64[:])"));
    assert_int_equal(d->frames[1].location.line, 9);
    kiln_error_free(error);
}

static void a_call_that_waits_is_collective_too(void **state)
{
    is_refused(state,
               "fn wait()\n"
               "    barrier()\n"
               "end\n"
               "kernel k(x)\n"
               "    if x[local_id(0)] > 2\n"
               "        wait()\n"
               "    end\n"
               "end\n",
               "not-uniform", "which waits for other items, is under a", 6,
               "line 5");
}

static void what_waits_does_not_recur(void **state)
{
    is_refused(state,
               "fn wait(n)\n"
               "    barrier()\n"
               "    if n < 1\n"
               "        return n\n"
               "    end\n"
               "    return wait(n - 1)\n"
               "end\n"
               "kernel k(x)\n"
               "    x[0] = wait(length(x))\n"
               "end\n",
               "recursive-group", "calls itself", 9, NULL);
}

static void a_group_that_is_too_large_is_refused(void **state)
{
    static int64_t data[1];
    kernels *k = *state;
    kiln_array x = kernels_array(data, 1);
    const kernels_argument argument = {"i64[:]", &x};
    const kiln_launch launch = {.grid = {1u << 30, 1, 1},
                                .block = {1u << 30, 1, 1}};
    kiln_error *error = NULL;

    assert_status(KILN_EINVAL,
                  kernels_launch(k,
                                 kernels_define(k, "large",
                                                "kernel k(x)\n"
                                                "    i = x[global_id(0)]\n"
                                                "    barrier()\n"
                                                "    if i == 0\n"
                                                "        x[i] = i\n"
                                                "    end\n"
                                                "end\n"),
                                 "k", k->config, &launch, &argument, 1,
                                 &error));
    assert_non_null(strstr(kiln_error_message(error), "is too large"));
    kiln_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_under_a_divergent_if_is_refused),
        cmocka_unit_test(a_condition_may_differ_by_what_a_local_became),
        cmocka_unit_test(bounds_of_a_loop_are_conditions),
        cmocka_unit_test(no_item_returns_before_a_barrier),
        cmocka_unit_test(no_item_leaves_a_loop_with_a_barrier_alone),
        cmocka_unit_test(operands_that_may_be_left_out_are_conditional),
        cmocka_unit_test(sub_groups_have_control_of_their_own),
        cmocka_unit_test(broadcasts_name_one_item),
        cmocka_unit_test(the_chain_of_calls_is_shown),
        cmocka_unit_test(a_call_that_waits_is_collective_too),
        cmocka_unit_test(what_waits_does_not_recur),
        cmocka_unit_test(a_group_that_is_too_large_is_refused),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
