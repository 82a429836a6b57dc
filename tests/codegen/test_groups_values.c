/* test_groups_values.c - what items of a group keep across barriers, and what
   they need not keep. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include <inttypes.h>
#include <stdio.h>

#include "support/codegen/groups.h"

#define ITEMS 12
#define TURNS 8

static const group_shape shape = {{ITEMS, 1, 1}, {6, 1, 1}};

#define HEAD \
    GROUPS_HEAD "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
                "  %l = call i64 @kiln_local_id(ptr %item, i32 0)\n" \
                "  %g = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
                "  %n32 = trunc i64 %n to i32\n" \
                "  %p = getelementptr i32, ptr %y, i64 %g\n"
/* y[g] = y[g] * 3 + c */
#define COUNT \
    "  %was = load i32, ptr %p\n" \
    "  %times = mul i32 %was, 3\n" \
    "  %is = add i32 %times, %c32\n" \
    "  store i32 %is, ptr %p\n"
#define LOOP_END \
    "  %k.next = add i32 %k, 1\n" \
    "  %more = icmp ult i32 %k.next, 8\n" \
    "  br i1 %more, label %turn, label %end\n" \
    "end:\n  ret i32 0\n}\n"

/* Asserts that the items keep so many bytes each across barriers, and what the
   module leaves in each form. */
static void assert_keeps(const char *module, uint32_t bytes,
                         const int32_t *wanted, size_t count)
{
    int32_t data[64];
    outcome o;

    assert_true(count <= 64);
    group_prepare(&o, module, group_builds[2], KILN_EMIT_BINARY);
    run(&o);
    if (o.status != KILN_OK)
        fail_msg("%s\n%s", o.message, module);
    if (o.private_bytes != bytes)
        fail_msg("%u bytes, not %u\n%s", o.private_bytes, bytes, module);
    free(o.bytes);
    for (size_t i = 0; i < GROUP_BUILDS; i++) {
        memset(data, 0, sizeof data);
        assert_int_equal(
            group_run(module, group_builds[i], &shape, data, count), 0);
        for (size_t k = 0; k < count; k++)
            if (data[k] != wanted[k])
                fail_msg("build %zu, element %zu: %d, not %d\n%s", i, k,
                         data[k], wanted[k], module);
    }
}

/* ---- counters ---- */

typedef struct counter {
    const char *step; /* from %c to %c.next */
    unsigned width;
    int64_t start; /* and the item's id */
    int64_t by;
} counter;

static int64_t cut(int64_t value, unsigned width)
{
    return (int64_t)((uint64_t)value << (64 - width)) >> (64 - width);
}

static void expect(const counter *c, int32_t *wanted)
{
    for (int32_t g = 0; g < ITEMS; g++) {
        int64_t value =
            cut((int64_t)((uint64_t)c->start + (uint64_t)g), c->width);
        uint32_t is = 0;

        for (int k = 0; k < TURNS; k++) {
            is = is * 3 + (uint32_t)value;
            value = cut((int64_t)((uint64_t)value + (uint64_t)c->by), c->width);
        }
        wanted[g] = (int32_t)is;
    }
}

static void write_counter(char *text, size_t size, const counter *c)
{
    const char *cut_to = c->width < 64 ? "trunc" : "bitcast";
    const char *to_i32 = c->width < 32   ? "sext"
                         : c->width > 32 ? "trunc"
                                         : "bitcast";
    const unsigned width = c->width;

    snprintf(text, size,
             "%s  %%n.w = %s i64 %%n to i%u\n"
             "  %%g.w = %s i64 %%g to i%u\n"
             "  %%start = add i%u %%g.w, %" PRId64 "\n"
             "  br label %%turn\n"
             "turn:\n"
             "  %%k = phi i32 [ 0, %%0 ], [ %%k.next, %%turn ]\n"
             "  %%c = phi i%u [ %%start, %%0 ], [ %%c.next, %%turn ]\n"
             "%s  %%c32 = %s i%u %%c to i32\n%s%s%s",
             HEAD, cut_to, width, cut_to, width, width, c->start, width,
             GROUPS_BARRIER, to_i32, width, COUNT, c->step, LOOP_END);
}

/* The array has 12 elements, so %n is 12. */
static const counter counters[] = {
    {"  %c.next = add i32 %c, 12\n", 32, 0, 12},
    {"  %c.next = add nsw i32 %c, %n.w\n", 32, 0, 12},
    {"  %c.next = add nsw i32 %n.w, %c\n", 32, -50, 12},
    {"  %c.next = sub nsw i32 %c, %n.w\n", 32, 7, -12},
    {"  %c.next = sub i32 %c, 5\n", 32, 3, -5},
    {"  %a = add nsw i32 %c, %n.w\n  %c.next = sub nsw i32 %a, 7\n", 32, 1, 5},
    /* from the least number to the greatest */
    {"  %c.next = add nsw i8 %c, 30\n", 8, -128, 30},
    {"  %c.next = add nsw i32 %c, 500000000\n", 32, INT32_MIN, 500000000},
    {"  %c.next = add nsw i64 %c, 2200000000000000000\n", 64, INT64_MIN,
     INT64_C(2200000000000000000)},
    /* and beyond */
    {"  %c.next = add i8 %c, 100\n", 8, 100, 100},
    {"  %c.next = add i16 %c, -30000\n", 16, 0, -30000},
    {"  %c.next = add i32 %c, 2000000000\n", 32, INT32_MAX - 3, 2000000000},
    {"  %c.next = add i64 %c, 4611686018427387904\n", 64, INT64_MAX - 3,
     INT64_C(1) << 62},
};

static void items_do_not_keep_what_all_count(void **state)
{
    int32_t wanted[ITEMS];
    char text[4096];

    (void)state;
    for (size_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        write_counter(text, sizeof text, &counters[i]);
        expect(&counters[i], wanted);
        assert_keeps(text, 0, wanted, ITEMS);
    }
}

static void items_do_not_keep_pointers_that_go_on_together(void **state)
{
    /* two steps in a turn, of which one depends on the turn */
    static const char module[] =
        HEAD "  br label %turn\n"
             "turn:\n"
             "  %k = phi i32 [ 0, %0 ], [ %k.next, %turn ]\n"
             "  %c = phi ptr [ %p, %0 ], [ %c.next, %turn ]\n" GROUPS_BARRIER
             "  %v = ptrtoint ptr %c to i64\n"
             "  %b = ptrtoint ptr %y to i64\n"
             "  %d = sub i64 %v, %b\n"
             "  %c32 = trunc i64 %d to i32\n" COUNT
             "  %m = getelementptr i32, ptr %c, i32 %k\n" GROUPS_BARRIER
             "  %c.next = getelementptr i8, ptr %m, i64 %n\n" LOOP_END;
    int32_t wanted[ITEMS];

    (void)state;
    for (int32_t g = 0; g < ITEMS; g++) {
        int32_t at = g * 4;
        uint32_t is = 0;

        for (int k = 0; k < TURNS; k++) {
            is = is * 3 + (uint32_t)at;
            at += k * 4 + ITEMS;
        }
        wanted[g] = (int32_t)is;
    }
    assert_keeps(module, 0, wanted, ITEMS);
}

static void items_keep_what_they_count_by_themselves(void **state)
{
    static const char module[] = HEAD
        "  %l32 = trunc i64 %l to i32\n"
        "  br label %turn\n"
        "turn:\n"
        "  %k = phi i32 [ 0, %0 ], [ %k.next, %turn ]\n"
        "  %c32 = phi i32 [ 7, %0 ], [ %c.next, %turn ]\n" GROUPS_BARRIER COUNT
        "  %c.next = add i32 %c32, %l32\n" LOOP_END;
    int32_t wanted[ITEMS];

    (void)state;
    for (uint32_t g = 0; g < ITEMS; g++) {
        uint32_t is = 0;

        for (uint32_t k = 0; k < TURNS; k++)
            is = is * 3 + 7 + k * (g % 6);
        wanted[g] = (int32_t)is;
    }
    assert_keeps(module, 8, wanted, ITEMS);
}

/* ---- arrays ---- */

/* a[i] = i * g;  wait;  y[g] = y[g] * 3 + a[i] */
static const char in_array[] =
    HEAD "  %a = alloca [4 x i32]\n"
         "  %g32 = trunc i64 %g to i32\n"
         "  br label %set\n"
         "set:\n"
         "  %i = phi i32 [ 0, %0 ], [ %i.next, %one ]\n"
         "  %in = icmp slt i32 %i, 4\n"
         "  br i1 %in, label %one, label %then\n"
         "one:\n"
         "  %i64 = sext i32 %i to i64\n"
         "  %e = getelementptr [4 x i32], ptr %a, i64 0, i64 %i64\n"
         "  %v = mul i32 %i, %g32\n"
         "  store i32 %v, ptr %e\n"
         "  %i.next = add nsw i32 %i, 1\n"
         "  br label %set\n"
         "then:\n" GROUPS_BARRIER "  br label %turn\n"
         "turn:\n"
         "  %k = phi i32 [ 0, %then ], [ %k.next, %turn ]\n"
         "  %k64 = sext i32 %k to i64\n"
         "  %f = getelementptr [4 x i32], ptr %a, i64 0, i64 %k64\n"
         "  %c32 = load i32, ptr %f\n" COUNT "  %k.next = add nsw i32 %k, 1\n"
         "  %more = icmp slt i32 %k.next, 4\n"
         "  br i1 %more, label %turn, label %end\n"
         "end:\n  ret i32 0\n}\n";

static void arrays_that_short_loops_index_are_values(void **state)
{
    int32_t wanted[ITEMS];

    (void)state;
    for (int32_t g = 0; g < ITEMS; g++)
        wanted[g] = (g * 3 + 2 * g) * 3 + 3 * g;
    /* each element is computed again */
    assert_keeps(in_array, 0, wanted, ITEMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_do_not_keep_what_all_count),
        cmocka_unit_test(items_do_not_keep_pointers_that_go_on_together),
        cmocka_unit_test(items_keep_what_they_count_by_themselves),
        cmocka_unit_test(arrays_that_short_loops_index_are_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
