/* test_device_allocate.c - memory that items of LLVM IR allocate. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <string.h>

#include "support/codegen/modules.h"
#include "support/devices/kernels.h"

#define ITEMS 192

#define DECLARED \
    "declare i64 @kiln_global_id(i32)\n" \
    "declare ptr @kiln_allocate(i64, i64)\n" \
    "declare void @kiln_free(ptr)\n" \
    "declare void @kiln_barrier(i32, i32)\n"

static int64_t x[ITEMS];
static modules *m;

static int setup(void **state)
{
    if (kernels_setup(state) != 0)
        return -1;
    m = modules_new(*state);
    return 0;
}

/* Runs the module in groups of 64 with a heap of so many bytes. */
static void run(void **state, const char *module, uint64_t heap)
{
    const kiln_launch launch = {.grid = {ITEMS}, .block = {64}};
    kernels *k = *state;
    kiln_array array = kernels_array(x, ITEMS);
    const kernels_argument argument = {"i64[:]", &array};

    memset(x, 0xff, sizeof x);
    assert_ok(kiln_queue_wait(k->queue, &test_error));
    assert_ok(kiln_queue_set_heap(k->queue, heap, &test_error));
    assert_ok(modules_launch(m, module, k->config, &launch, &argument, 1,
                             &test_error));
}

static void assert_all(int64_t value)
{
    for (int i = 0; i < ITEMS; i++)
        if (x[i] != value)
            fail_msg("item %d: %lld, not %lld", i, (long long)x[i],
                     (long long)value);
}

/* Returns 0; 1 where there is no memory, 2 where it is not aligned, 3 where it
   is not the item's own. */
#define TURN \
    "define internal i64 @turn(i64 %id, i64 %turn) noinline {\n" \
    "  %a = mul i64 %id, 7\n" \
    "  %b = mul i64 %turn, 1303\n" \
    "  %c = add i64 %a, %b\n" \
    "  %d = urem i64 %c, 9000\n" \
    "  %size = add i64 %d, 1\n" \
    "  %e = add i64 %id, %turn\n" \
    "  %f = urem i64 %e, 13\n" \
    "  %align = shl i64 1, %f\n" \
    "  %p = call ptr @kiln_allocate(i64 %size, i64 %align)\n" \
    "  %none = icmp eq ptr %p, null\n" \
    "  br i1 %none, label %no, label %yes\n" \
    "no:\n" \
    "  ret i64 1\n" \
    "yes:\n" \
    "  %n = ptrtoint ptr %p to i64\n" \
    "  %mask = sub i64 %align, 1\n" \
    "  %low = and i64 %n, %mask\n" \
    "  %bad = icmp ne i64 %low, 0\n" \
    "  %q = getelementptr i8, ptr %p, i64 %d\n" \
    "  %byte = trunc i64 %id to i8\n" \
    "  store volatile i8 %byte, ptr %p\n" \
    "  store volatile i8 %byte, ptr %q\n" \
    "  %r = load volatile i8, ptr %p\n" \
    "  %s = load volatile i8, ptr %q\n" \
    "  %r1 = icmp ne i8 %r, %byte\n" \
    "  %s1 = icmp ne i8 %s, %byte\n" \
    "  %lost = or i1 %r1, %s1\n" \
    "  call void @kiln_free(ptr %p)\n" \
    "  %o = select i1 %lost, i64 3, i64 0\n" \
    "  %w = select i1 %bad, i64 2, i64 %o\n" \
    "  ret i64 %w\n" \
    "}\n"

static void memory_has_its_size_and_alignment(void **state)
{
    static const char module[] =
        DECLARED TURN "define void @ENTRY(ptr %x, i64 %n) {\n"
                      "start:\n"
                      "  %id = call i64 @kiln_global_id(i32 0)\n"
                      "  br label %loop\n"
                      "loop:\n"
                      "  %i = phi i64 [0, %start], [%j, %loop]\n"
                      "  %w = phi i64 [0, %start], [%v, %loop]\n"
                      "  %t = call i64 @turn(i64 %id, i64 %i)\n"
                      "  %v = or i64 %w, %t\n"
                      "  %j = add i64 %i, 1\n"
                      "  %more = icmp ult i64 %j, 40\n"
                      "  br i1 %more, label %loop, label %end\n"
                      "end:\n"
                      "  %p = getelementptr i64, ptr %x, i64 %id\n"
                      "  store i64 %v, ptr %p\n"
                      "  ret void\n"
                      "}\n";

    run(state, module, 0);
    assert_all(0);
}

/* All items have memory at a time, as global memory, around barriers. */
static void items_have_memory_of_their_own(void **state)
{
    static const char module[] =
        "declare i64 @kiln_global_id(i32)\n"
        "declare ptr addrspace(1) @kiln_allocate(i64, i64)\n"
        "declare void @kiln_free(ptr addrspace(1))\n"
        "declare void @kiln_barrier(i32, i32)\n"
        "define void @ENTRY(ptr %x, i64 %n) {\n"
        "  %id = call i64 @kiln_global_id(i32 0)\n"
        "  %p = call ptr addrspace(1) @kiln_allocate(i64 8, i64 8)\n"
        "  store i64 %id, ptr addrspace(1) %p\n"
        "  call void @kiln_barrier(i32 2, i32 3)\n"
        "  %a = load i64, ptr addrspace(1) %p\n"
        "  call void @kiln_barrier(i32 2, i32 3)\n"
        "  call void @kiln_free(ptr addrspace(1) %p)\n"
        "  %q = getelementptr i64, ptr %x, i64 %id\n"
        "  store i64 %a, ptr %q\n"
        "  ret void\n"
        "}\n";

    run(state, module, 0);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(x[i], i);
}

#define ASK(n, size, align) \
    "  %p" n " = call ptr @kiln_allocate(i64 " size ", i64 " align ")\n" \
    "  %i" n " = icmp ne ptr %p" n ", null\n" \
    "  %z" n " = zext i1 %i" n " to i64\n"

static void there_is_a_null_pointer_where_there_is_no_room(void **state)
{
    static const char module[] =
        DECLARED "define void @ENTRY(ptr %x, i64 %n) {\n" ASK("0", "0", "0")
            ASK("1", "-1", "8") ASK("2", "8", "3") ASK("3", "8", "8192") ASK(
                "4", "9223372036854775807", "4096") ASK("5", "16777216", "1")
                ASK("6", "8",
                    "-9223372036854775808") "  call void @kiln_free(ptr null)\n"
                                            "  call void @kiln_free(ptr %p0)\n"
                                            "  call void @kiln_free(ptr %p5)\n"
                                            "  %a = or i64 %z1, %z2\n"
                                            "  %b = or i64 %a, %z3\n"
                                            "  %c = or i64 %b, %z4\n"
                                            "  %d = or i64 %c, %z5\n"
                                            "  %e = or i64 %d, %z6\n"
                                            "  %f = shl i64 %e, 1\n"
                                            "  %g = or i64 %f, %z0\n"
                                            "  %id = call i64 "
                                            "@kiln_global_id(i32 0)\n"
                                            "  %q = getelementptr i64, ptr %x, "
                                            "i64 %id\n"
                                            "  store i64 %g, ptr %q\n"
                                            "  ret void\n"
                                            "}\n";

    run(state, module, 1 << 20);
    assert_all(1);
}

/* One item frees an address of its argument, of the heap's tables and, twice,
   what it allocated. Then it still gets all of the heap, and no more. */
static void what_is_not_allocated_is_left_alone(void **state)
{
    static const char module[] =
        DECLARED "define void @ENTRY(ptr %x, i64 %n) {\n"
                 "start:\n"
                 "  %id = call i64 @kiln_global_id(i32 0)\n"
                 "  %other = icmp ne i64 %id, 0\n"
                 "  br i1 %other, label %end, label %do\n"
                 "do:\n"
                 "  %a = call ptr @kiln_allocate(i64 100, i64 1)\n"
                 "  %h = getelementptr i8, ptr %a, i64 -300\n"
                 "  call void @kiln_free(ptr %x)\n"
                 "  call void @kiln_free(ptr %h)\n"
                 "  call void @kiln_free(ptr %a)\n"
                 "  call void @kiln_free(ptr %a)\n"
                 "  br label %loop\n"
                 "loop:\n"
                 "  %i = phi i64 [0, %do], [%j, %loop]\n"
                 "  %j = add i64 %i, 1\n"
                 "  %p = call ptr @kiln_allocate(i64 4096, i64 1)\n"
                 "  %some = icmp ne ptr %p, null\n"
                 "  br i1 %some, label %loop, label %done\n"
                 "done:\n"
                 "  store i64 %i, ptr %x\n"
                 "  br label %end\n"
                 "end:\n"
                 "  ret void\n"
                 "}\n";

    run(state, module, 16 * 4096);
    assert_int_equal(x[0], 16);
    assert_int_equal(x[1], -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_has_its_size_and_alignment),
        cmocka_unit_test(items_have_memory_of_their_own),
        cmocka_unit_test(there_is_a_null_pointer_where_there_is_no_room),
        cmocka_unit_test(what_is_not_allocated_is_left_alone),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
