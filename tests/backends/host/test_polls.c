/* test_polls.c - loops that poll whether they are to stop do what they did. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/request.h"

/*
 * Loops of LLVM IR as another frontend may write them. One that is run to its
 * end must iterate as often as its text says, whatever the pieces that it is
 * cut into; one that has no end must see that it is to stop.
 */

typedef struct block {
    void *data;
    int64_t size;
    int64_t start;
    int64_t limit;
} block;

static const char *const types[] = {"i64[:]", "i64", "i64"};

static int32_t run_loop(const char *text, uint8_t level, int is_stopped,
                        block *arguments)
{
    kiln__host_stop stop = {0};
    outcome o;
    launch l = make_launch(1, 1, 1, 1, 1, 1);
    int32_t failed;

    l.head.stop = &stop.reason;
    prepare(&o, text, KILN_EMIT_BINARY, types, 3);
    o.settings.opt_level = level;
    assert_built(&o);
    kiln__host_stop_begin(&stop);
    if (is_stopped)
        kiln__host_stop_now(&stop, KILN__HOST_CANCELED);
    failed = run_image(&o, &l, arguments);
    kiln__host_stop_end(&stop);
    free(o.bytes);
    return failed;
}

/* ---- loops with an end ---- */

typedef struct loop {
    const char *predicate; /* it goes on while that holds */
    int step;
    int tests_next; /* compares the counter's next value */
    int64_t start;
    int64_t limit;
} loop;

/* The sum's order is in its bits, so nothing is computed without iterating. */
static void write_loop(char *text, size_t size, const loop *l)
{
    snprintf(text, size,
             "define i32 @k(ptr %%item, ptr %%y, i64 %%n, i64 %%a, i64 %%b) {\n"
             "entry:\n"
             "  br label %%body\n"
             "body:\n"
             "  %%i = phi i64 [ %%a, %%entry ], [ %%next, %%body ]\n"
             "  %%s = phi i64 [ 0, %%entry ], [ %%t, %%body ]\n"
             "  %%c = phi i64 [ 0, %%entry ], [ %%d, %%body ]\n"
             "  %%r = shl i64 %%s, 1\n"
             "  %%q = lshr i64 %%s, 61\n"
             "  %%u = xor i64 %%r, %%q\n"
             "  %%t = xor i64 %%u, %%i\n"
             "  %%d = add i64 %%c, 1\n"
             "  %%next = add i64 %%i, %d\n"
             "  %%more = icmp %s i64 %%%s, %%b\n"
             "  br i1 %%more, label %%body, label %%end\n"
             "end:\n"
             "  store i64 %%t, ptr %%y\n"
             "  %%p = getelementptr i64, ptr %%y, i64 1\n"
             "  store i64 %%d, ptr %%p\n"
             "  ret i32 0\n"
             "}\n",
             l->step, l->predicate, l->tests_next ? "next" : "i");
}

static int holds(const char *predicate, int64_t a, int64_t b)
{
    const uint64_t ua = (uint64_t)a, ub = (uint64_t)b;

    switch (predicate[0]) {
    case 'n':
        return a != b;
    case 's':
        return predicate[1] == 'l' ? a < b + (predicate[2] == 'e' && a == b)
                                   : a > b - (predicate[2] == 'e' && a == b);
    default:
        return predicate[1] == 'l'
                   ? ua < ub || (predicate[2] == 'e' && ua == ub)
                   : ua > ub || (predicate[2] == 'e' && ua == ub);
    }
}

static void iterate(const loop *l, int64_t out[2])
{
    uint64_t i = (uint64_t)l->start, sum = 0, count = 0, next;
    int more;

    do {
        sum = (sum << 1) ^ (sum >> 61) ^ i;
        count++;
        next = i + (uint64_t)(int64_t)l->step;
        more =
            holds(l->predicate, (int64_t)(l->tests_next ? next : i), l->limit);
        i = next;
    } while (more);
    out[0] = (int64_t)sum;
    out[1] = (int64_t)count;
}

static void assert_same_iterations(const loop *l)
{
    char text[2048];
    int64_t expected[2];

    write_loop(text, sizeof text, l);
    iterate(l, expected);
    for (uint8_t level = 0; level <= 3; level = (uint8_t)(level + 3)) {
        int64_t got[2] = {0, 0};
        block arguments = {got, 2, l->start, l->limit};

        assert_int_equal(run_loop(text, level, 0, &arguments), 0);
        assert_int_equal(got[1], expected[1]);
        assert_int_equal(got[0], expected[0]);
    }
}

/* Of a piece: as llvm_gap_polls.cc has it. */
#define PIECE 16384

static const int64_t counts[] = {
    1,         2,         PIECE - 1, PIECE,         PIECE + 1,
    PIECE + 2, 2 * PIECE, 50000,     3 * PIECE - 1, 100003,
};

#define COUNT (sizeof counts / sizeof *counts)

static void loops_upward_iterate_as_often_as_before(void **state)
{
    static const char *const predicates[] = {"ne", "slt", "ult", "sle", "ule"};
    const int64_t starts[] = {0, -30000, INT64_MAX - 400000, 7};

    (void)state;
    for (size_t p = 0; p < 5; p++)
        for (size_t c = 0; c < COUNT; c++) {
            const int step = p == 0 && c % 2 == 0 ? 1 : 1 + (int)c % 3;
            const int64_t start = p % 2 == 0 && p > 0 ? 5 : starts[c % 4];

            assert_same_iterations(&(loop){predicates[p], step, c % 3 != 0,
                                           start, start + counts[c] * step});
        }
}

static void loops_downward_iterate_as_often_as_before(void **state)
{
    static const char *const predicates[] = {"ne", "sgt", "ugt", "sge", "uge"};
    const int64_t starts[] = {0, 30000, INT64_MIN + 400000, -7};

    (void)state;
    for (size_t p = 0; p < 5; p++)
        for (size_t c = 0; c < COUNT; c++) {
            const int step = -1 - (int)c % 3;
            const int64_t start = p % 2 == 0 && p > 0 ? 500000 : starts[c % 4];

            assert_same_iterations(&(loop){predicates[p], step, c % 3 != 0,
                                           start, start + counts[c] * step});
        }
}

/* The first iteration runs before anything is compared. */
static void loops_that_begin_past_their_end_iterate_once(void **state)
{
    (void)state;
    assert_same_iterations(&(loop){"slt", 1, 1, 100, -100});
    assert_same_iterations(&(loop){"ult", 1, 1, 100, 3});
    assert_same_iterations(&(loop){"sgt", -1, 1, -100, 100});
    assert_same_iterations(&(loop){"ugt", -2, 1, 3, 100});
    assert_same_iterations(&(loop){"slt", 1, 0, INT64_MAX - 2, INT64_MIN});
}

/* ---- loops without one ---- */

#define HEAD "define i32 @k(ptr %item, ptr %y, i64 %n, i64 %a, i64 %b) {\n"

static void assert_stops(const char *text)
{
    for (uint8_t level = 0; level <= 3; level++) {
        int64_t got[4] = {0};
        block arguments = {got, 4, 1, 1};

        assert_int_equal(run_loop(text, level, 1, &arguments), 1);
    }
}

/* Such a limit is no end: the counter comes past it, or round. */
static void loops_past_their_limits_stop(void **state)
{
    static const loop loops[] = {
        {"ne", 2, 1, 0, 5},
        {"ne", 3, 0, 1, 3},
        {"ne", -2, 1, 7, 0},
        {"sle", 1, 1, 5, INT64_MAX},
        {"sle", 7, 0, 5, INT64_MAX - 3},
        {"ule", 1, 1, 5, -1},
        {"ule", 1, 0, -9, -1},
        {"sge", -1, 1, 5, INT64_MIN},
        {"uge", -1, 1, 5, 0},
        {"uge", -3, 0, 5, 1},
        {"slt", 3, 1, INT64_MAX - 5, INT64_MAX},
        {"ult", 3, 0, -7, -1},
        {"ugt", -3, 1, 8, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        char text[2048];

        write_loop(text, sizeof text, &loops[i]);
        for (uint8_t level = 0; level <= 3; level++) {
            int64_t got[2] = {0};
            block arguments = {got, 2, loops[i].start, loops[i].limit};

            assert_int_equal(run_loop(text, level, 1, &arguments), 1);
        }
    }
}

static void a_loop_without_a_way_out_stops(void **state)
{
    (void)state;
    assert_stops(HEAD "  br label %l\n"
                      "l:\n"
                      "  store volatile i64 3, ptr %y\n"
                      "  br label %l\n}\n");
}

static void a_loop_of_several_ways_back_stops(void **state)
{
    (void)state;
    assert_stops(HEAD "  br label %l\n"
                      "l:\n"
                      "  %v = load volatile i64, ptr %y\n"
                      "  switch i64 %v, label %one [ i64 1, label %two\n"
                      "    i64 2, label %l\n    i64 3, label %l ]\n"
                      "one:\n  store volatile i64 0, ptr %y\n  br label %l\n"
                      "two:\n  store volatile i64 1, ptr %y\n  br label %l\n"
                      "}\n");
}

static void a_loop_of_two_beginnings_stops(void **state)
{
    (void)state;
    assert_stops(HEAD "  %c = icmp sgt i64 %a, 100\n"
                      "  br i1 %c, label %one, label %two\n"
                      "one:\n"
                      "  store volatile i64 0, ptr %y\n"
                      "  br label %two\n"
                      "two:\n"
                      "  store volatile i64 1, ptr %y\n"
                      "  br label %one\n}\n");
}

static void a_loop_over_labels_stops(void **state)
{
    (void)state;
    assert_stops(HEAD "  br label %one\n"
                      "one:\n"
                      "  %p = phi ptr [ blockaddress(@k, %two), %0 ],\n"
                      "               [ blockaddress(@k, %one), %two ],\n"
                      "               [ blockaddress(@k, %two), %one ]\n"
                      "  store volatile i64 0, ptr %y\n"
                      "  indirectbr ptr %p, [ label %one, label %two ]\n"
                      "two:\n"
                      "  store volatile i64 1, ptr %y\n"
                      "  br label %one\n}\n");
}

/* It goes on below a number that is the last of its type. */
static void an_inner_loop_past_every_limit_stops(void **state)
{
    (void)state;
    assert_stops(HEAD "  br label %outer\n"
                      "outer:\n"
                      "  %to = load volatile i64, ptr %y\n"
                      "  %last = or i64 %to, -1\n"
                      "  %from = load volatile i64, ptr %y\n"
                      "  br label %l\n"
                      "l:\n"
                      "  %i = phi i64 [ %from, %outer ], [ %j, %l ]\n"
                      "  store volatile i64 %i, ptr %y\n"
                      "  %top = load volatile i64, ptr %y\n"
                      "  %j = add i64 %i, 1\n"
                      "  %more = icmp ule i64 %j, %last\n"
                      "  br i1 %more, label %l, label %next\n"
                      "next:\n"
                      "  %again = icmp eq i64 %top, 5\n"
                      "  br i1 %again, label %outer, label %end\n"
                      "end:\n  ret i32 0\n}\n");
}

/* Each calls the next one twice, so the last is called 2^50 times. */
static void calls_without_end_and_recursion_stop(void **state)
{
    char text[16000], *at = text;
    const char *end = text + sizeof text;

    (void)state;
    for (int i = 0; i < 50; i++)
        at += snprintf(at, (size_t)(end - at),
                       "define internal void @f%d(ptr %%y) noinline {\n"
                       "  call void @f%d(ptr %%y)\n"
                       "  call void @f%d(ptr %%y)\n"
                       "  ret void\n}\n",
                       i, i + 1, i + 1);
    snprintf(at, (size_t)(end - at), "%s",
             "define internal void @f50(ptr %y) noinline {\n"
             "  store volatile i64 3, ptr %y\n"
             "  ret void\n}\n" HEAD "  call void @f0(ptr %y)\n"
             "  ret i32 0\n}\n");
    assert_stops(text);
}

static void a_function_that_is_called_stops(void **state)
{
    (void)state;
    assert_stops("define internal void @f(ptr %y) noinline noreturn {\n"
                 "  br label %l\n"
                 "l:\n"
                 "  store volatile i64 3, ptr %y\n"
                 "  br label %l\n}\n" HEAD "  call void @f(ptr %y)\n"
                 "  unreachable\n}\n");
}

static void functions_that_call_each_other_for_ever_stop(void **state)
{
    (void)state;
    assert_stops("define internal i64 @f(ptr %y, i64 %v) noinline {\n"
                 "  %w = load volatile i64, ptr %y\n"
                 "  %r = musttail call i64 @g(ptr %y, i64 %w)\n"
                 "  ret i64 %r\n}\n"
                 "define internal i64 @g(ptr %y, i64 %v) noinline {\n"
                 "  store volatile i64 %v, ptr %y\n"
                 "  %r = musttail call i64 @f(ptr %y, i64 %v)\n"
                 "  ret i64 %r\n}\n" HEAD "  %r = call i64 @f(ptr %y, i64 3)\n"
                 "  store i64 %r, ptr %y\n"
                 "  ret i32 0\n}\n");
}

/* Who is called is not seen. */
static void functions_that_are_called_by_address_stop(void **state)
{
    (void)state;
    assert_stops("define internal void @f(ptr %y, ptr %table) noinline {\n"
                 "  %p = load volatile ptr, ptr %table\n"
                 "  musttail call void %p(ptr %y, ptr %table)\n"
                 "  ret void\n}\n" HEAD "  %t = alloca ptr\n"
                 "  store volatile ptr @f, ptr %t\n"
                 "  call void @f(ptr %y, ptr %t)\n"
                 "  ret i32 0\n}\n");
}

/* A name of the module's is not the host's. */
static void names_of_the_host_are_no_names_of_modules(void **state)
{
    static const char text[] =
        "define internal i64 @kiln_host_poll(i64 %v) noinline {\n"
        "  %c = icmp slt i64 %v, 2\n"
        "  br i1 %c, label %end, label %more\n"
        "more:\n"
        "  %w = sub i64 %v, 1\n"
        "  %r = call i64 @kiln_host_poll(i64 %w)\n"
        "  %s = mul i64 %r, %v\n"
        "  ret i64 %s\n"
        "end:\n  ret i64 1\n}\n" HEAD
        "  %r = call i64 @kiln_host_poll(i64 10)\n"
        "  store i64 %r, ptr %y\n"
        "  ret i32 0\n}\n";
    int64_t got[1] = {0};
    block arguments = {got, 1, 0, 0};

    (void)state;
    assert_int_equal(run_loop(text, 0, 0, &arguments), 0);
    assert_int_equal(got[0], 3628800);
}

/* A kernel would be called in place of what it calls. */
static void no_kernel_has_the_name_of_what_code_calls(void **state)
{
    static const char *const names[] = {
        "pow",           "sincos",          "memset",         "__divti3",
        "kiln_host_run", "kiln_host_alarm", "kiln_host_alone"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[256];
        outcome o;

        snprintf(text, sizeof text,
                 "define i32 @%s(ptr %%item, ptr %%y, i64 %%n, i64 %%a,"
                 " i64 %%b) {\n  ret i32 0\n}\n",
                 names[i]);
        prepare(&o, text, KILN_EMIT_BINARY, types, 3);
        o.request.entry = names[i];
        run(&o);
        assert_int_equal(o.status, KILN_EINVAL);
        assert_contains(o.message, "cannot have the name");
    }
}

/* ---- where they poll ---- */

static void optimise(outcome *o, const char *text)
{
    prepare(o, text, KILN_EMIT_LLVM_OPT, types, 3);
    assert_built(o);
}

/* What is left of a loop once it has become one of vectors has nothing in front
   of it that is its own. */
static void a_loop_of_vectors_does_not_poll_in_each_iteration(void **state)
{
    outcome o;
    const char *body, *poll, *end;

    (void)state;
    optimise(&o, HEAD "  br label %l\n"
                      "l:\n"
                      "  %i = phi i64 [ 0, %0 ], [ %j, %l ]\n"
                      "  %p = getelementptr i64, ptr %y, i64 %i\n"
                      "  %v = load i64, ptr %p\n"
                      "  %w = add i64 %v, %a\n"
                      "  store i64 %w, ptr %p\n"
                      "  %j = add i64 %i, 1\n"
                      "  %more = icmp slt i64 %j, %n\n"
                      "  br i1 %more, label %l, label %end\n"
                      "end:\n  ret i32 0\n}\n");
    body = strstr(o.bytes, "\nvector.body:");
    assert_non_null(body);
    poll = strstr(body, "load atomic i32");
    end = strstr(body, "\n\n");
    assert_non_null(end);
    assert_true(poll == NULL || poll > end);
    assert_non_null(strstr(o.bytes, "load atomic i32"));
    free(o.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_upward_iterate_as_often_as_before),
        cmocka_unit_test(loops_downward_iterate_as_often_as_before),
        cmocka_unit_test(loops_that_begin_past_their_end_iterate_once),
        cmocka_unit_test(loops_past_their_limits_stop),
        cmocka_unit_test(a_loop_without_a_way_out_stops),
        cmocka_unit_test(a_loop_of_several_ways_back_stops),
        cmocka_unit_test(a_loop_of_two_beginnings_stops),
        cmocka_unit_test(a_loop_over_labels_stops),
        cmocka_unit_test(an_inner_loop_past_every_limit_stops),
        cmocka_unit_test(calls_without_end_and_recursion_stop),
        cmocka_unit_test(a_function_that_is_called_stops),
        cmocka_unit_test(functions_that_call_each_other_for_ever_stop),
        cmocka_unit_test(functions_that_are_called_by_address_stop),
        cmocka_unit_test(names_of_the_host_are_no_names_of_modules),
        cmocka_unit_test(no_kernel_has_the_name_of_what_code_calls),
        cmocka_unit_test(a_loop_of_vectors_does_not_poll_in_each_iteration),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
