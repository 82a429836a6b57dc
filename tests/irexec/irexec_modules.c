/* irexec_modules.c - what running a device's IR on the host finds out. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "irexec.h"

/* Of texts that are about CUDA; a kernel is called k. */
#define DECLARATIONS \
    "target triple = \"nvptx64-nvidia-cuda\"\n" \
    "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n" \
    "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n" \
    "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n" \
    "declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)\n"
#define BARRIER "call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
#define TID "%tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"

static char message[IREXEC_MESSAGE];

static irexec_module *load(const char *text)
{
    irexec_module *module = irexec_module_new(text, message);

    if (module == NULL)
        fail_msg("%s", message);
    return module;
}

/* Runs kernel k of two groups of `items`. */
static int run(const char *text, uint32_t items, const void *block, size_t size)
{
    irexec_module *module = load(text);
    const irexec_function *k = irexec_module_function(module, "k");
    const irexec_launch launch = {.groups = {2, 1, 1},
                                  .items = {items, 1, 1},
                                  .block = block,
                                  .block_size = size};
    int failed;

    assert_non_null(k);
    failed = irexec_run(k, &launch, message);
    irexec_module_free(module);
    return failed;
}

static void fails_with(const char *text, uint32_t items, const char *what)
{
    assert_true(run(text, items, NULL, 0));
    assert_contains(message, what);
}

static void is_refused(const char *text, const char *what)
{
    assert_null(irexec_module_new(text, message));
    assert_contains(message, what);
}

/* ---- modules ---- */

static void a_function_that_nobody_knows_is_named(void **state)
{
    (void)state;
    is_refused("; irexec 32 0\n"
               "declare i32 @llvm.nvvm.no.such.thing(i32)\n"
               "define ptx_kernel void @k() {\n"
               "  %x = call i32 @llvm.nvvm.no.such.thing(i32 1)\n"
               "  ret void\n"
               "}\n",
               "nvvm.no.such.thing");
    is_refused("; irexec 32 0\n"
               "define ptx_kernel void @k() {\n"
               "  call void asm sideeffect \"no such;\", \"\"()\n"
               "  ret void\n"
               "}\n",
               "no such;");
}

static void a_text_without_its_numbers_is_refused(void **state)
{
    (void)state;
    is_refused("define void @k() { ret void }\n", "irexec");
    is_refused("; irexec 32 0\nnonsense\n", "cannot be read");
}

static void only_code_is_rewritten(void **state)
{
    struct {
        char *to;
    } block;
    char to[32] = "";

    (void)state;
    block.to = to;
    assert_false(run(
        "; irexec 32 0\n"
        "@s = addrspace(4) constant [22 x i8] c\"ptr addrspace(1) ; no\\00\"\n"
        "declare void @llvm.memcpy.p1.p4.i64(ptr addrspace(1), "
        "ptr addrspace(4), i64, i1)\n"
        "define amdgpu_kernel void @k(ptr addrspace(1) %to) {\n"
        "  %mine = alloca [22 x i8], align 4, addrspace(5)\n"
        "  %flat = addrspacecast ptr addrspace(5) %mine to ptr\n"
        "  call void @llvm.memcpy.p1.p4.i64(ptr addrspace(1) %to, "
        "ptr addrspace(4) @s, i64 22, i1 false) ; (text)\n"
        "  ret void\n"
        "}\n",
        1, &block, sizeof block));
    assert_string_equal(to, "ptr addrspace(1) ; no");
}

/* ---- arguments ---- */

static void arguments_stand_as_in_a_c_structure(void **state)
{
    struct {
        int8_t a;
        double b;
        struct {
            int16_t c;
            int32_t d;
        } pair;
        double *to;
    } block = {.a = -3, .b = 0.25, .pair = {7, 100}};
    double to = 0;

    (void)state;
    block.to = &to;
    assert_false(run(
        "; irexec 32 0\n"
        "define ptx_kernel void @k(i8 %a, double %b, "
        "ptr byval([8 x i8]) align 4 %pair, ptr addrspace(1) %to) {\n"
        "  %x = sitofp i8 %a to double\n"
        "  %at = getelementptr i8, ptr %pair, i64 4\n"
        "  %d = load i32, ptr %at\n"
        "  store i32 5, ptr %at\n" /* in a copy of the item's own */
        "  %y = sitofp i32 %d to double\n"
        "  %z = fadd double %x, %b\n"
        "  %sum = fadd double %z, %y\n"
        "  store double %sum, ptr addrspace(1) %to\n"
        "  ret void\n"
        "}\n",
        3, &block, sizeof block));
    assert_true(to == 97.25);
    assert_int_equal(block.pair.d, 100);
}

static void a_block_that_is_too_short_is_refused(void **state)
{
    static const char text[] = "; irexec 32 0\n"
                               "define ptx_kernel void @k(i64 %a, i32 %b) {\n"
                               "  ret void\n"
                               "}\n";
    char block[16] = {0};

    (void)state;
    assert_false(run(text, 1, block, 12));
    assert_true(run(text, 1, block, 11));
    assert_contains(message, "the kernel takes 12");
}

/* ---- items together ---- */

static void items_that_miss_a_barrier_are_found(void **state)
{
    (void)state;
    fails_with("; irexec 32 0\n" DECLARATIONS
               "define ptx_kernel void @k() {\n" TID
               "  %first = icmp eq i32 %tid, 0\n"
               "  br i1 %first, label %yes, label %no\n"
               "yes:\n" BARRIER "  br label %no\n"
               "no:\n"
               "  ret void\n"
               "}\n",
               64, "item 0 waits for items that have ended");
}

static void barriers_at_two_places_are_not_one(void **state)
{
    (void)state;
    fails_with("; irexec 32 0\n" DECLARATIONS
               "define ptx_kernel void @k() {\n" TID
               "  %first = icmp eq i32 %tid, 0\n"
               "  br i1 %first, label %yes, label %no\n"
               "yes:\n" BARRIER "  ret void\n"
               "no:\n" BARRIER "  ret void\n"
               "}\n",
               64, "items 0 and 1 wait for each other at different places");
}

static void a_shuffle_needs_every_lane(void **state)
{
    (void)state;
    fails_with("; irexec 32 0\n" DECLARATIONS
               "define ptx_kernel void @k() {\n" TID
               "  %some = icmp slt i32 %tid, 40\n"
               "  br i1 %some, label %yes, label %no\n"
               "yes:\n"
               "  %x = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 7, "
               "i32 0, i32 31)\n"
               "  br label %no\n"
               "no:\n" BARRIER "  ret void\n"
               "}\n",
               64, "not for each other");
}

/* A state whose first word is set, as an exception leaves it. */
static void who_raised_need_not_come_to_a_barrier(void **state)
{
    static const char text[] =
        "; irexec 32 2\n" DECLARATIONS
        "define ptx_kernel void @k(ptr addrspace(1) %state, i64 %n) {\n" TID
        "  %first = icmp eq i32 %tid, 0\n"
        "  br i1 %first, label %raise, label %go\n"
        "raise:\n"
        "  store i32 2, ptr addrspace(1) %state\n"
        "  ret void\n"
        "go:\n" BARRIER "  ret void\n"
        "}\n";
    struct {
        uint32_t *state;
        int64_t number;
    } block;
    uint32_t phase = 0;

    (void)state;
    block.state = &phase;
    assert_false(run(text, 64, &block, sizeof block));
    assert_int_equal(phase, 2);
}

/* Item l of each group reads what item 63 - l wrote before a barrier; without
   that, one of two orders of the items would show. */
static void a_barrier_that_is_missing_shows(void **state)
{
#define MIRROR(barrier) \
    "; irexec 32 0\n" DECLARATIONS \
    "@t = internal addrspace(3) global [64 x i32] undef\n" \
    "define ptx_kernel void @k(ptr addrspace(1) %to) {\n" TID \
    "  %group = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n" \
    "  %i = zext i32 %tid to i64\n" \
    "  %at = getelementptr i32, ptr addrspace(3) @t, i64 %i\n" \
    "  store i32 %tid, ptr addrspace(3) %at\n" barrier \
    "  %j = sub i64 63, %i\n" \
    "  %from = getelementptr i32, ptr addrspace(3) @t, i64 %j\n" \
    "  %v = load i32, ptr addrspace(3) %from\n" \
    "  %first = shl i32 %group, 6\n" \
    "  %place = add i32 %first, %tid\n" \
    "  %k = zext i32 %place to i64\n" \
    "  %out = getelementptr i32, ptr addrspace(1) %to, i64 %k\n" \
    "  store i32 %v, ptr addrspace(1) %out\n" \
    "  ret void\n" \
    "}\n"
    int32_t to[128] = {0};
    struct {
        int32_t *to;
    } block;
    int wrong = 0;

    (void)state;
    block.to = to;
    assert_false(run(MIRROR(BARRIER), 64, &block, sizeof block));
    for (int i = 0; i < 128; i++)
        assert_int_equal(to[i], 63 - i % 64);
    /* Nothing of the group before is left in the second one's memory. */
    assert_false(run(MIRROR(""), 64, &block, sizeof block));
    for (int i = 64; i < 128; i++)
        wrong += to[i] != 63 - i % 64;
    assert_int_equal(wrong, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_that_nobody_knows_is_named),
        cmocka_unit_test(a_text_without_its_numbers_is_refused),
        cmocka_unit_test(only_code_is_rewritten),
        cmocka_unit_test(arguments_stand_as_in_a_c_structure),
        cmocka_unit_test(a_block_that_is_too_short_is_refused),
        cmocka_unit_test(items_that_miss_a_barrier_are_found),
        cmocka_unit_test(barriers_at_two_places_are_not_one),
        cmocka_unit_test(a_shuffle_needs_every_lane),
        cmocka_unit_test(who_raised_need_not_come_to_a_barrier),
        cmocka_unit_test(a_barrier_that_is_missing_shows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
