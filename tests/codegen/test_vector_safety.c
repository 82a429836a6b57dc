/* test_vector_safety.c - loops of which LLVM's vectoriser would make wrong
 * code.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include <sys/mman.h>
#include <unistd.h>

#include "support/codegen/groups.h"

/* Each kernel is compiled without optimisation and with it, and must do the
   same. Of `y`, each item changes elements that are its own; behind the first
   256 is what items only read. */
#define ROOM 512
#define ITEMS 100

#define KERNEL(body) \
    GROUPS_HEAD "declare i64 @llvm.smax.i64(i64, i64)\n" \
                "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
                "  %x = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
                "  %own = getelementptr i32, ptr %y, i64 %x\n" \
                "  %pair = shl i64 %x, 1\n" \
                "  %next = or i64 %pair, 1\n" \
                "  %low = and i64 %x, 1\n" \
                "  %which = add i64 %pair, %low\n" \
                "  %first = getelementptr i32, ptr %y, i64 %pair\n" \
                "  %second = getelementptr i32, ptr %y, i64 %next\n" \
                "  %either = getelementptr i32, ptr %y, i64 %which\n" body \
                "}\n"

static void run_items(const outcome *o, int64_t n, int32_t *data)
{
    const struct {
        int32_t *data;
        int64_t count;
    } arguments = {data, n};
    launch l = make_launch(ITEMS, 1, 1, ITEMS, 1, 1);

    for (int32_t i = 0; i < ROOM; i++)
        data[i] = i * 37 % 101;
    assert_int_equal(run_image(o, &l, &arguments), 0);
}

static void stays(const char *module)
{
    static const int64_t numbers[] = {1, 3, 7, 50};
    static int32_t expected[ROOM], data[ROOM];
    outcome plain, fast;

    group_make(&plain, module, 0, KILN_EMIT_BINARY);
    group_make(&fast, module, 2, KILN_EMIT_BINARY);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        run_items(&plain, numbers[i], expected);
        run_items(&fast, numbers[i], data);
        if (memcmp(data, expected, sizeof data) != 0)
            fail_msg("n is %d\n%s", (int)numbers[i], module);
    }
    free(plain.bytes);
    free(fast.bytes);
}

/* ---- divisions ---- */

/* An item that is like most others reads at a place that all of them have. */
#define DIVIDING(operation) \
    KERNEL("  %v = load i32, ptr %own\n" \
           "  %c = icmp sgt i32 %v, 40\n" \
           "  br i1 %c, label %more, label %end\n" \
           "more:\n" \
           "  %d = call i64 @llvm.smax.i64(i64 %n, i64 1)\n" operation \
           "  %at = add i64 %q, 256\n" \
           "  %place = getelementptr i32, ptr %y, i64 %at\n" \
           "  %w = load i32, ptr %place\n" \
           "  store i32 %w, ptr %own\n" \
           "  br label %end\n" \
           "end:\n" \
           "  ret i32 0\n")

static void quotients_that_items_share_are_theirs(void **state)
{
    (void)state;
    stays(DIVIDING("  %q = udiv i64 100, %d\n"));
    stays(DIVIDING("  %q = sdiv i64 100, %d\n"));
    stays(DIVIDING("  %q = urem i64 100, %d\n"));
    stays(DIVIDING("  %p = sdiv i64 200, %d\n"
                   "  %e = add i64 %p, 1\n"
                   "  %q = srem i64 100, %e\n"));
}

/* Where no item divides, nothing is divided by 0. */
static void nobody_divides_by_zero(void **state)
{
    static int32_t data[ROOM];
    outcome o;

    (void)state;
    group_make(&o,
               KERNEL("  %c = icmp sgt i64 %n, 0\n"
                      "  %v = load i32, ptr %own\n"
                      "  %o = icmp sgt i32 %v, 40\n"
                      "  %both = and i1 %c, %o\n"
                      "  br i1 %both, label %more, label %end\n"
                      "more:\n"
                      "  %q = sdiv i64 100, %n\n"
                      "  %w = trunc i64 %q to i32\n"
                      "  store i32 %w, ptr %own\n"
                      "  br label %end\n"
                      "end:\n"
                      "  ret i32 0\n"),
               2, KILN_EMIT_BINARY);
    run_items(&o, 0, data);
    run_items(&o, -1, data);
    free(o.bytes);
}

/* ---- every other element ---- */

static void what_an_item_does_keeps_its_order(void **state)
{
    (void)state;
    stays(KERNEL("  %v = load i32, ptr %second\n"
                 "  %e = load i32, ptr %either\n"
                 "  %more = add i32 %e, 100\n"
                 "  store i32 %more, ptr %either\n"
                 "  %f = load i32, ptr %first\n"
                 "  %sum = add i32 %f, %v\n"
                 "  store i32 %sum, ptr %first\n"
                 "  ret i32 0\n"));
    stays(KERNEL("  store i32 7, ptr %first\n"
                 "  %e = load i32, ptr %either\n"
                 "  %more = add i32 %e, 1000\n"
                 "  store i32 %more, ptr %second\n"
                 "  ret i32 0\n"));
    stays(KERNEL("  store i32 7, ptr %second\n"
                 "  store i32 8, ptr %either\n"
                 "  store i32 9, ptr %first\n"
                 "  ret i32 0\n"));
}

/* What nothing disturbs is still loaded and stored together. */
static void pairs_are_vectors(void **state)
{
    (void)state;
    assert_true(group_optimised_has(KERNEL("  %v = load i32, ptr %second\n"
                                           "  %f = load i32, ptr %first\n"
                                           "  store i32 %v, ptr %first\n"
                                           "  store i32 %f, ptr %second\n"
                                           "  ret i32 0\n"),
                                    "= load <"));
}

/* ---- the last element ---- */

/* Sums up every other element until its place is n; then it leaves. */
#define LEAVING \
    KERNEL("  br label %loop\n" \
           "loop:\n" \
           "  %k = phi i64 [ 0, %0 ], [ %kn, %body ]\n" \
           "  %s = phi i32 [ 0, %0 ], [ %sn, %body ]\n" \
           "  %out = icmp uge i64 %k, %n\n" \
           "  br i1 %out, label %end, label %body\n" \
           "body:\n" \
           "  %p = getelementptr i32, ptr %y, i64 %k\n" \
           "  %v = load i32, ptr %p\n" \
           "  %sn = add i32 %s, %v\n" \
           "  %kn = add nuw nsw i64 %k, 2\n" \
           "  %kc = icmp ult i64 %kn, 100000\n" \
           "  br i1 %kc, label %loop, label %end\n" \
           "end:\n" \
           "  %sum = phi i32 [ %s, %loop ], [ %sn, %body ]\n" \
           "  store i32 %sum, ptr %y\n" \
           "  ret i32 0\n")

static void nothing_is_read_behind_the_end(void **state)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    launch l = make_launch(1, 1, 1, 1, 1, 1);
    outcome o;

    (void)state;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    group_make(&o, LEAVING, 2, KILN_EMIT_BINARY);
    for (int64_t n = 1; n <= 255; n++) {
        const struct {
            char *data;
            int64_t count;
        } arguments = {pages + page - (size_t)n * sizeof(int32_t), n};

        assert_int_equal(run_image(&o, &l, &arguments), 0);
    }
    free(o.bytes);
    munmap(pages, 2 * page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotients_that_items_share_are_theirs),
        cmocka_unit_test(nobody_divides_by_zero),
        cmocka_unit_test(what_an_item_does_keeps_its_order),
        cmocka_unit_test(pairs_are_vectors),
        cmocka_unit_test(nothing_is_read_behind_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
