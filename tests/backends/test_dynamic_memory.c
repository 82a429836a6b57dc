/* test_dynamic_memory.c - group memory whose size a launch gives. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <stdio.h>
#include <string.h>

#include "support/codegen/modules.h"
#include "support/devices/kernels.h"

#define MOST 512

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

/* Launches a module with the arguments `y` and `x`, arrays of i32. */
static kiln_status try_launch(const char *text, int32_t *y, int32_t *x,
                              uint64_t items, uint32_t block, uint32_t bytes,
                              kiln_error **error)
{
    const kiln_launch launch = {.grid = {items, 1, 1},
                                .block = {block, 1, 1},
                                .dynamic_local_bytes = bytes};
    kiln_array out = kernels_array(y, (int64_t)items);
    kiln_array in = kernels_array(x, (int64_t)items);
    const kernels_argument arguments[] = {{"i32[:]", &out}, {"i32[:]", &in}};

    return modules_launch(shared.m, text, shared.k.config, &launch, arguments,
                          2, error);
}

static void launch_module(const char *text, int32_t *y, int32_t *x,
                          uint64_t items, uint32_t block, uint32_t bytes)
{
    assert_ok(try_launch(text, y, x, items, block, bytes, &test_error));
}

#define DECLARATIONS \
    "declare i64 @kiln_global_id(i32)\n" \
    "declare i64 @kiln_local_id(i32)\n" \
    "declare i64 @kiln_local_size(i32)\n" \
    "declare void @kiln_barrier(i32, i32)\n" \
    "declare i64 @kiln_group_memory_size()\n" \
    "declare ptr addrspace(3) @kiln_group_memory()\n" \
    "declare void @kiln_raise(i32, ptr, i32, ptr, i64, i64) noreturn cold\n"
#define ENTRY \
    "define void @ENTRY(ptr %y, i64 %n, ptr %x, i64 %m) {\n" \
    "  %i = call i64 @kiln_global_id(i32 0)\n" \
    "  %l = call i64 @kiln_local_id(i32 0)\n" \
    "  %size = call i64 @kiln_local_size(i32 0)\n" \
    "  %last = sub i64 %size, 1\n" \
    "  %other = sub i64 %last, %l\n" \
    "  %xp = getelementptr i32, ptr %x, i64 %i\n" \
    "  %yp = getelementptr i32, ptr %y, i64 %i\n" \
    "  %v = load i32, ptr %xp\n"
#define END \
    "  store i32 %r, ptr %yp\n" \
    "  ret void\n" \
    "}\n"

static void fill(int32_t *x, uint64_t items)
{
    for (uint64_t i = 0; i < items; i++)
        x[i] = (int32_t)(i * 2654435761u % 1000003u) - 500000;
}

static int32_t mirrored(const int32_t *x, uint64_t i, uint32_t block)
{
    return x[i / block * block + (block - 1 - i % block)];
}

/* ---- what items do with it ---- */

/* Each item takes what the item at the group's other end left. */
static const char mirror[] = DECLARATIONS ENTRY
    "  %memory = call ptr addrspace(3) @kiln_group_memory()\n"
    "  %own = getelementptr i32, ptr addrspace(3) %memory, i64 %l\n"
    "  store i32 %v, ptr addrspace(3) %own\n"
    "  call void @kiln_barrier(i32 2, i32 1)\n"
    "  %its = getelementptr i32, ptr addrspace(3) %memory, i64 %other\n"
    "  %w = load i32, ptr addrspace(3) %its\n"
    "  %bytes = call i64 @kiln_group_memory_size()\n"
    "  %b = trunc i64 %bytes to i32\n"
    "  %r = add i32 %w, %b\n" END;

static void check_mirror(const char *text, uint32_t block, uint32_t bytes,
                         int32_t added)
{
    const uint64_t items = MOST / block * block;
    int32_t x[MOST], y[MOST];

    fill(x, items);
    launch_module(text, y, x, items, block, bytes);
    for (uint64_t i = 0; i < items; i++)
        assert_int_equal(y[i], mirrored(x, i, block) + added);
}

static void each_launch_says_how_much(void **state)
{
    static const uint32_t blocks[] = {1, 7, 16, 33, 256};

    (void)state;
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        for (uint32_t more = 0; more < 300; more += 100) {
            const uint32_t bytes = 4 * blocks[b] + more;

            check_mirror(mirror, blocks[b], bytes, (int32_t)bytes);
        }
}

/* It is reached from a function, as generic memory. */
static const char deep[] = DECLARATIONS
    "define internal void @leave(i64 %at, i32 %v) noinline {\n"
    "  %memory = call ptr addrspace(3) @kiln_group_memory()\n"
    "  %all = addrspacecast ptr addrspace(3) %memory to ptr\n"
    "  %own = getelementptr i32, ptr %all, i64 %at\n"
    "  store i32 %v, ptr %own\n"
    "  ret void\n"
    "}\n"
    "define internal i32 @take(i64 %at) noinline {\n"
    "  %memory = call ptr addrspace(3) @kiln_group_memory()\n"
    "  %own = getelementptr i32, ptr addrspace(3) %memory, i64 %at\n"
    "  %v = load i32, ptr addrspace(3) %own\n"
    "  ret i32 %v\n"
    "}\n" ENTRY "  call void @leave(i64 %l, i32 %v)\n"
    "  call void @kiln_barrier(i32 2, i32 1)\n"
    "  %r = call i32 @take(i64 %other)\n" END;

static void functions_reach_it_at_any_depth(void **state)
{
    (void)state;
    check_mirror(deep, 64, 256, 0);
}

/* As CUDA's compilers write it: two names of one memory, beside a variable of
   the group that has its size in the module. */
static const char external[] = DECLARATIONS
    "@fixed = internal addrspace(3) global [128 x i32] poison\n"
    "@words = external addrspace(3) global [0 x i32], align 4\n"
    "@bytes = external addrspace(3) global [0 x i8], align 16\n" ENTRY
    "  %f = getelementptr i32, ptr addrspace(3) @fixed, i64 %l\n"
    "  store i32 1000000, ptr addrspace(3) %f\n"
    "  %own = getelementptr i32, ptr addrspace(3) @words, i64 %l\n"
    "  store i32 %v, ptr addrspace(3) %own\n"
    "  call void @kiln_barrier(i32 2, i32 1)\n"
    "  %at = shl i64 %other, 2\n"
    "  %its = getelementptr i8, ptr addrspace(3) @bytes, i64 %at\n"
    "  %w = load i32, ptr addrspace(3) %its\n"
    "  %g = getelementptr i32, ptr addrspace(3) @fixed, i64 %other\n"
    "  %u = load i32, ptr addrspace(3) %g\n"
    "  %r = add i32 %u, %w\n" END;

static void external_variables_are_dynamic_memory(void **state)
{
    (void)state;
    check_mirror(external, 128, 512, 1000000);
}

static void items_that_raise_have_it(void **state)
{
    static const char text[] = DECLARATIONS
        "@text = internal constant [4 x i8] c\"odd\\00\"\n" ENTRY
        "  %memory = call ptr addrspace(3) @kiln_group_memory()\n"
        "  %own = getelementptr i32, ptr addrspace(3) %memory, i64 %l\n"
        "  store i32 %v, ptr addrspace(3) %own\n"
        "  %r = load i32, ptr addrspace(3) %own\n"
        "  %bad = icmp slt i32 %r, 0\n"
        "  br i1 %bad, label %no, label %yes\n"
        "no:\n"
        "  %wide = sext i32 %r to i64\n"
        "  call void @kiln_raise(i32 0, ptr null, i32 0, ptr @text, i64 %wide, "
        "i64 0)\n"
        "  unreachable\n"
        "yes:\n" END;
    int32_t x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8];
    kiln_error *error = NULL;

    (void)state;
    launch_module(text, y, x, 8, 4, 16);
    assert_memory_equal(x, y, sizeof x);
    x[5] = -3;
    assert_int_equal(try_launch(text, y, x, 8, 4, 16, &error), KILN_EEXCEPTION);
    assert_contains(kiln_error_message(error), "odd");
    kiln_error_free(error);
}

static void a_launch_need_not_give_any(void **state)
{
    static const char text[] =
        DECLARATIONS ENTRY "  %bytes = call i64 @kiln_group_memory_size()\n"
                           "  %b = trunc i64 %bytes to i32\n"
                           "  %r = add i32 %b, %v\n" END;
    int32_t x[4] = {1, 2, 3, 4}, y[4];

    (void)state;
    launch_module(text, y, x, 4, 2, 0);
    assert_memory_equal(x, y, sizeof x);
    launch_module(text, y, x, 4, 2, 96);
    assert_int_equal(y[3], 100);
}

/* ---- limits ---- */

static void much_is_possible(void **state)
{
    (void)state;
    check_mirror(mirror, 16, 60000, 60000);
}

static void assert_refused(const char *text, uint32_t bytes, const char *words)
{
    int32_t x[16] = {0}, y[16];
    kiln_error *error = NULL;

    assert_int_equal(try_launch(text, y, x, 16, 16, bytes, &error),
                     KILN_EINVAL);
    assert_contains(kiln_error_message(error), words);
    kiln_error_free(error);
}

static void too_much_is_an_error(void **state)
{
    (void)state;
    assert_refused(mirror, 256u << 20, "268435456");
    assert_refused(mirror, UINT32_MAX, "4294967295");
}

static void a_kernel_without_it_takes_none(void **state)
{
    static const char text[] = DECLARATIONS ENTRY "  %r = add i32 %v, 1\n" END;

    (void)state;
    assert_refused(text, 8,
                   "8 bytes of dynamic group memory, and the kernel uses none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_launch_says_how_much),
        cmocka_unit_test(functions_reach_it_at_any_depth),
        cmocka_unit_test(external_variables_are_dynamic_memory),
        cmocka_unit_test(items_that_raise_have_it),
        cmocka_unit_test(a_launch_need_not_give_any),
        cmocka_unit_test(much_is_possible),
        cmocka_unit_test(too_much_is_an_error),
        cmocka_unit_test(a_kernel_without_it_takes_none),
    };

    if (!kernels_are_possible())
        return program_skip(SKIP_DEVICE, "there is none");
    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
