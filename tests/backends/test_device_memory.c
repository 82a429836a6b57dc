/* test_device_memory.c - C's functions of memory in LLVM IR, against C's. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <string.h>
#include <strings.h>

#include "support/codegen/modules.h"
#include "support/devices/kernels.h"

#define ITEMS 64
#define SIZE 16

typedef struct fixture {
    kernels k;
    modules *m;
} fixture;

static fixture shared;

static int setup(void **state)
{
    void *k = NULL;

    (void)state;
    if (kernels_setup(&k) != 0)
        return -1;
    shared.k = *(kernels *)k;
    *state = k;
    shared.m = modules_new(k);
    return 0;
}

/* Compilers of C declare them so. */
static const char module[] =
    "declare i64 @kiln_global_id(i32)\n"
    "declare i32 @memcmp(ptr readonly, ptr readonly, i64) nounwind\n"
    "declare i32 @bcmp(ptr, ptr, i64)\n"
    "declare ptr @memcpy(ptr returned writeonly, ptr readonly, i64)\n"
    "declare ptr @memmove(ptr returned, ptr, i64)\n"
    "declare ptr @memset(ptr returned, i32, i64)\n"
    "declare i64 @strlen(ptr readonly)\n"
    "define void @ENTRY(ptr %y, i64 %n) {\n"
    "  %a = alloca [16 x i8]\n"
    "  %b = alloca [16 x i8]\n"
    "  %id = call i64 @kiln_global_id(i32 0)\n"
    "  %at = and i64 %id, 15\n"
    "  %s = call ptr @memset(ptr %a, i32 259, i64 16)\n"
    "  %c = call ptr @memcpy(ptr %b, ptr %s, i64 16)\n"
    "  %e = getelementptr i8, ptr %a, i64 %at\n"
    "  %high = lshr i64 %id, 4\n"
    "  %byte = trunc i64 %high to i8\n"
    "  store i8 %byte, ptr %e\n"
    "  %next = getelementptr i8, ptr %a, i64 1\n"
    "  %m = call ptr @memmove(ptr %next, ptr %a, i64 14)\n"
    "  %last = getelementptr i8, ptr %a, i64 15\n"
    "  store i8 0, ptr %last\n"
    "  %r = call i32 @memcmp(ptr %a, ptr %b, i64 16)\n"
    "  %is_more = icmp sgt i32 %r, 0\n"
    "  %is_less = icmp slt i32 %r, 0\n"
    "  %more = select i1 %is_more, i64 1000, i64 0\n"
    "  %less = select i1 %is_less, i64 2000, i64 0\n"
    "  %first = call i32 @bcmp(ptr %a, ptr %b, i64 %at)\n"
    "  %is_other = icmp ne i32 %first, 0\n"
    "  %other = select i1 %is_other, i64 10000, i64 0\n"
    "  %length = call i64 @strlen(ptr %a)\n"
    "  %r1 = add i64 %more, %less\n"
    "  %r2 = add i64 %r1, %other\n"
    "  %r3 = add i64 %r2, %length\n"
    "  %v = trunc i64 %r3 to i32\n"
    "  %p = getelementptr i32, ptr %y, i64 %id\n"
    "  store i32 %v, ptr %p\n"
    "  ret void\n"
    "}\n";

static int32_t expected(int id)
{
    char a[SIZE], b[SIZE];
    int order;

    memset(a, 3, SIZE);
    memcpy(b, a, SIZE);
    a[id % SIZE] = (char)(id / SIZE);
    memmove(a + 1, a, SIZE - 2);
    a[SIZE - 1] = 0;
    order = memcmp(a, b, SIZE);
    return (order > 0 ? 1000 : 0) + (order < 0 ? 2000 : 0) +
           (bcmp(a, b, (size_t)(id % SIZE)) != 0 ? 10000 : 0) +
           (int32_t)strlen(a);
}

static void functions_of_memory_are_those_of_c(void **state)
{
    const kiln_launch launch = {.grid = {ITEMS, 1, 1}, .block = {8, 1, 1}};
    int32_t y[ITEMS] = {0};
    kiln_array array = kernels_array(y, ITEMS);
    const kernels_argument argument = {"i32[:]", &array};

    (void)state;
    assert_ok(modules_launch(shared.m, module, shared.k.config, &launch,
                             &argument, 1, &test_error));
    for (int id = 0; id < ITEMS; id++)
        assert_int_equal(y[id], expected(id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_memory_are_those_of_c),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
