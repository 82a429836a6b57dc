/* test_foreign_groups.c - kernels of other frontends with barriers, on the
   host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"

/* Globals, then the body of the entry, which has its ids and the address of its
   element `p` at hand. */
#define MODULE(globals, body) \
    GROUPS_HEAD globals "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
                        "  %l = call i64 @kiln_local_id(ptr %item, i32 0)\n" \
                        "  %g = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
                        "  %w = call i64 @kiln_group_id(ptr %item, i32 0)\n" \
                        "  %s = call i64 @kiln_local_size(ptr %item, i32 0)\n" \
                        "  %l32 = trunc i64 %l to i32\n" \
                        "  %g32 = trunc i64 %g to i32\n" \
                        "  %w32 = trunc i64 %w to i32\n" \
                        "  %p = getelementptr i32, ptr %y, i64 %g\n" body \
                        "}\n"
#define SHARED "@t = internal addrspace(3) global [64 x i32] undef\n"
/* t[index] */
#define AT(name, index) \
    "  " name \
    " = getelementptr [64 x i32], ptr addrspace(3) @t, i64 0, i64 " index "\n"

static void fill(int32_t *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        data[i] = (int32_t)i + 1;
}

/* Runs the module in every form and compares the array. */
static void assert_gives(const char *module, group_shape shape,
                         const int32_t *wanted, size_t count)
{
    int32_t data[512];

    assert_true(count <= 512);
    for (size_t i = 0; i < GROUP_BUILDS; i++) {
        fill(data, count);
        assert_int_equal(
            group_run(module, group_builds[i], &shape, data, count), 0);
        for (size_t k = 0; k < count; k++)
            if (data[k] != wanted[k])
                fail_msg("build %zu, element %zu: %d, not %d\n%s", i, k,
                         data[k], wanted[k], module);
    }
}

#define ROW(items, group) ((group_shape){{items, 1, 1}, {group, 1, 1}})

/* ---- uniform control ---- */

static void items_read_what_others_wrote_before_the_barrier(void **state)
{
    static const char module[] = MODULE(
        SHARED,
        AT("%a", "%l") "  %v = load i32, ptr %p\n"
                       "  store i32 %v, ptr addrspace(3) %a\n" GROUPS_BARRIER
                       "  %i = add i64 %l, 1\n"
                       "  %o = urem i64 %i, %s\n" AT(
                           "%b", "%o") "  %r = load i32, ptr addrspace(3) %b\n"
                                       "  store i32 %r, ptr %p\n  ret i32 0\n");
    int32_t wanted[24];

    (void)state;
    for (int32_t i = 0; i < 24; i++)
        wanted[i] = i / 8 * 8 + (i + 1) % 8 + 1;
    assert_gives(module, ROW(24, 8), wanted, 24);
    wanted[0] = 1;
    assert_gives(module, ROW(1, 1), wanted, 1);
}

static void a_tree_of_sums_has_a_barrier_in_each_level(void **state)
{
    static const char module[] = MODULE(
        SHARED,
        AT("%a",
           "%l") "  %v = load i32, ptr %p\n"
                 "  store i32 %v, ptr addrspace(3) %a\n"
                 "  br label %head\n"
                 "head:\n"
                 "  %m = phi i64 [ %s, %0 ], [ %h, %next ]\n" GROUPS_BARRIER
                 "  %h = lshr i64 %m, 1\n"
                 "  %more = icmp ne i64 %h, 0\n"
                 "  br i1 %more, label %body, label %done\n"
                 "body:\n"
                 "  %in = icmp ult i64 %l, %h\n"
                 "  br i1 %in, label %add, label %next\n"
                 "add:\n"
                 "  %o = add i64 %l, %h\n" AT(
                     "%b",
                     "%o") "  %x = load i32, ptr addrspace(3) %a\n"
                           "  %z = load i32, ptr addrspace(3) %b\n"
                           "  %sum = add i32 %x, %z\n"
                           "  store i32 %sum, ptr addrspace(3) %a\n"
                           "  br label %next\n"
                           "next:\n  br label %head\n"
                           "done:\n" AT(
                               "%c",
                               "0") "  %r = load i32, ptr addrspace(3) %c\n"
                                    "  store i32 %r, ptr %p\n  ret i32 0\n");
    int32_t wanted[128];

    (void)state;
    for (int32_t i = 0; i < 128; i++)
        wanted[i] = 64 * (i / 64 * 64) + 64 * 65 / 2;
    assert_gives(module, ROW(128, 64), wanted, 128);
}

static void loops_nest_around_barriers_and_are_left(void **state)
{
    /* for i in 0..3: for j in 0..4: if j > i: break; rotate by one */
    static const char module[] = MODULE(
        SHARED,
        AT("%a",
           "%l") "  %v = load i32, ptr %p\n"
                 "  %k = add i64 %l, 1\n"
                 "  %o = urem i64 %k, %s\n" AT(
                     "%b",
                     "%o") "  br label %outer\n"
                           "outer:\n"
                           "  %i = phi i32 [ 0, %0 ], [ %i1, %after ]\n"
                           "  %v0 = phi i32 [ %v, %0 ], [ %v1, %after ]\n"
                           "  br label %inner\n"
                           "inner:\n"
                           "  %j = phi i32 [ 0, %outer ], [ %j1, %turn ]\n"
                           "  %v1 = phi i32 [ %v0, %outer ], [ %v2, %turn ]\n"
                           "  %stop = icmp ugt i32 %j, %i\n"
                           "  br i1 %stop, label %after, label %turn\n"
                           "turn:\n"
                           "  store i32 %v1, ptr addrspace(3) "
                           "%a\n" GROUPS_BARRIER
                           "  %r = load i32, ptr addrspace(3) %b\n"
                           "  %v2 = add i32 %r, %j\n" GROUPS_BARRIER
                           "  %j1 = add i32 %j, 1\n"
                           "  %c = icmp ult i32 %j1, 4\n"
                           "  br i1 %c, label %inner, label %done\n"
                           "after:\n"
                           "  %i1 = add i32 %i, 1\n  br label %outer\n"
                           "done:\n"
                           "  store i32 %v2, ptr %p\n  ret i32 0\n");
    int32_t wanted[16];

    (void)state;
    /* 1 + 2 + 3 + 4 turns; j adds 0, 0 1, 0 1 2, 0 1 2 3 */
    for (int32_t i = 0; i < 16; i++)
        wanted[i] = i / 8 * 8 + (i + 10) % 8 + 1 + 10;
    assert_gives(module, ROW(16, 8), wanted, 16);
}

static void groups_choose_between_barriers(void **state)
{
    static const char module[] = MODULE(
        SHARED,
        AT("%a",
           "%l") "  store i32 %g32, ptr addrspace(3) %a\n"
                 "  switch i32 %w32, label %other [ i32 0, label %zero\n"
                 "    i32 1, label %one\n    i32 2, label %zero ]\n"
                 "zero:\n"
                 "  %z = phi i32 [ 7, %0 ], [ 7, %0 ]\n" GROUPS_BARRIER AT(
                     "%b",
                     "3") "  %v = load i32, ptr addrspace(3) %b\n"
                          "  %v7 = add i32 %v, %z\n"
                          "  br label %end\n"
                          "one:\n" GROUPS_BARRIER GROUPS_BARRIER AT(
                              "%c",
                              "2") "  %x = load i32, ptr addrspace(3) %c\n"
                                   "  br label %end\n"
                                   "other:\n  br label %end\n"
                                   "end:\n"
                                   "  %r = phi i32 [ %v7, %zero ], [ %x, %one "
                                   "], [ -1, %other ]\n"
                                   "  store i32 %r, ptr %p\n  ret i32 0\n");
    static const int32_t wanted[16] = {10, 10, 10, 10, 6,  6,  6,  6,
                                       18, 18, 18, 18, -1, -1, -1, -1};

    (void)state;
    assert_gives(module, ROW(16, 4), wanted, 16);
}

/* ---- divergent control ---- */

static void items_that_returned_do_not_count(void **state)
{
    /* if l is odd: return; then twice: t[l] = v; barrier; v += t[l ^ 2] */
    static const char module[] = MODULE(
        SHARED,
        AT("%a", "%l") "  %x = xor i64 %l, 2\n" AT(
            "%b", "%x") "  %v = load i32, ptr %p\n"
                        "  %odd = trunc i64 %l to i1\n"
                        "  br i1 %odd, label %leave, label %loop\n"
                        "leave:\n  store i32 -5, ptr %p\n  ret i32 0\n"
                        "loop:\n"
                        "  %i = phi i32 [ 0, %0 ], [ %i1, %loop ]\n"
                        "  %v1 = phi i32 [ %v, %0 ], [ %v2, %loop ]\n"
                        "  store i32 %v1, ptr addrspace(3) %a\n" GROUPS_BARRIER
                        "  %r = load i32, ptr addrspace(3) %b\n"
                        "  %v2 = add i32 %v1, %r\n" GROUPS_BARRIER
                        "  %i1 = add i32 %i, 1\n"
                        "  %c = icmp ult i32 %i1, 2\n"
                        "  br i1 %c, label %loop, label %done\n"
                        "done:\n  store i32 %v2, ptr %p\n  ret i32 0\n");
    static const int32_t wanted[8] = {8, -5, 8, -5, 24, -5, 24, -5};

    (void)state;
    assert_gives(module, ROW(8, 4), wanted, 8);
}

static void items_leave_a_loop_with_barriers_by_turns(void **state)
{
    /* for i in 0..: if i == l: y = i * 100 and leave; barrier */
    static const char module[] = MODULE(
        "", "  br label %loop\n"
            "loop:\n"
            "  %i = phi i32 [ 0, %0 ], [ %i1, %wait ]\n"
            "  store i32 -1, ptr %p\n"
            "  %mine = icmp eq i32 %i, %l32\n"
            "  br i1 %mine, label %done, label %wait\n"
            "wait:\n"
            "  store i32 -2, ptr %p\n" GROUPS_BARRIER "  store i32 -3, ptr %p\n"
            "  %i1 = add i32 %i, 1\n"
            "  br label %loop\n"
            "done:\n"
            "  %r = mul i32 %i, 100\n"
            "  store i32 %r, ptr %p\n  ret i32 0\n");
    int32_t wanted[10];

    (void)state;
    for (int32_t i = 0; i < 10; i++)
        wanted[i] = i % 4 * 100;
    assert_gives(module, ROW(10, 4), wanted, 10);
}

static void a_barrier_after_a_divergent_loop_waits_for_all(void **state)
{
    /* for i in 0..l: barrier. t[l] = i; barrier; y = t[l + 1 % s] * 10 + i */
    static const char module[] = MODULE(
        SHARED,
        AT("%a", "%l") "  %k = add i64 %l, 1\n"
                       "  %o = urem i64 %k, %s\n" AT(
                           "%b",
                           "%o") "  br label %loop\n"
                                 "loop:\n"
                                 "  %i = phi i32 [ 0, %0 ], [ %i1, %body ]\n"
                                 "  %c = icmp ult i32 %i, %l32\n"
                                 "  br i1 %c, label %body, label %after\n"
                                 "body:\n" GROUPS_BARRIER
                                 "  %i1 = add i32 %i, 1\n  br label %loop\n"
                                 "after:\n"
                                 "  store i32 %i, ptr addrspace(3) "
                                 "%a\n" GROUPS_BARRIER
                                 "  %r = load i32, ptr addrspace(3) %b\n"
                                 "  %r10 = mul i32 %r, 10\n"
                                 "  %v = add i32 %r10, %i\n"
                                 "  store i32 %v, ptr %p\n  ret i32 0\n");
    static const int32_t wanted[8] = {10, 21, 32, 3, 10, 21, 32, 3};

    (void)state;
    assert_gives(module, ROW(8, 4), wanted, 8);
}

static void both_sides_of_a_divergent_branch_may_wait(void **state)
{
    /* i = 0; while i < 3: if l & 1: i++, barrier, v *= 3; else i++, barrier,
       v += i */
    static const char module[] = MODULE(
        "",
        "  %v = load i32, ptr %p\n"
        "  %odd = trunc i64 %l to i1\n"
        "  br label %loop\n"
        "loop:\n"
        "  %i = phi i32 [ 0, %0 ], [ %i1, %next ]\n"
        "  %v0 = phi i32 [ %v, %0 ], [ %v1, %next ]\n"
        "  %i1 = add i32 %i, 1\n"
        "  br i1 %odd, label %then, label %else\n"
        "then:\n" GROUPS_BARRIER "  %m = mul i32 %v0, 3\n  br label %next\n"
        "else:\n" GROUPS_BARRIER "  %d = add i32 %v0, %i1\n  br label %next\n"
        "next:\n"
        "  %v1 = phi i32 [ %m, %then ], [ %d, %else ]\n"
        "  %c = icmp ult i32 %i1, 3\n"
        "  br i1 %c, label %loop, label %done\n"
        "done:\n  store i32 %v1, ptr %p\n  ret i32 0\n");
    int32_t wanted[12];

    (void)state;
    for (int32_t i = 0; i < 12; i++)
        wanted[i] = i % 2 != 0 ? (i + 1) * 27 : i + 1 + 6;
    assert_gives(module, ROW(12, 6), wanted, 12);
}

static void what_is_uniform_for_reasons_unknown_is_right(void **state)
{
    /* group = g / s: barriers in both branches, in a loop */
    static const char module[] = MODULE(
        SHARED,
        AT("%a", "%l") "  store i32 %g32, ptr addrspace(3) %a\n"
                       "  %q = udiv i64 %g, %s\n"
                       "  %first = icmp eq i64 %q, 0\n"
                       "  %second = icmp eq i64 %q, 1\n" AT(
                           "%b",
                           "0") "  br label %loop\n"
                                "loop:\n"
                                "  %i = phi i32 [ 0, %0 ], [ %i1, %next ]\n"
                                "  br i1 %first, label %zero, label %some\n"
                                "zero:\n"
                                "  %z = load i32, ptr addrspace(3) %a\n"
                                "  %z1 = add i32 %z, 1\n"
                                "  store i32 %z1, ptr addrspace(3) "
                                "%a\n" GROUPS_BARRIER "  %z2 = add i32 %z1, 1\n"
                                "  store i32 %z2, ptr addrspace(3) %a\n"
                                "  br label %next\n"
                                "some:\n" GROUPS_BARRIER
                                "  br i1 %second, label %one, label %next\n"
                                "one:\n"
                                "  %v = load i32, ptr addrspace(3) "
                                "%b\n" GROUPS_BARRIER
                                "  %x = load i32, ptr addrspace(3) %a\n"
                                "  %x1 = add i32 %x, %v\n"
                                "  store i32 %x1, ptr addrspace(3) %a\n"
                                "  br label %next\n"
                                "next:\n"
                                "  %i1 = add i32 %i, 1\n"
                                "  %c = icmp ult i32 %i1, 2\n"
                                "  br i1 %c, label %loop, label %done\n"
                                "done:\n"
                                "  %r = load i32, ptr addrspace(3) %a\n"
                                "  store i32 %r, ptr %p\n  ret i32 0\n");
    int32_t wanted[12];

    (void)state;
    for (int32_t i = 0; i < 12; i++)
        wanted[i] = i < 4 ? i + 4 : i < 8 ? i + 4 + 8 : i;
    assert_gives(module, ROW(12, 4), wanted, 12);
}

/* A function with a body asks for an id, although it says that it reads no
   memory. Only items 0 and 1 of a group come to the barrier. */
static void a_function_that_reads_an_id_decides_for_one_item(void **state)
{
    static const char module[] = MODULE(
        SHARED "define internal i1 @early(ptr %item) noinline memory(none) {\n"
               "  %l = call i64 @kiln_local_id(ptr %item, i32 0)\n"
               "  %c = icmp ult i64 %l, 2\n"
               "  ret i1 %c\n"
               "}\n",
        "  %c = call i1 @early(ptr %item)\n"
        "  br i1 %c, label %first, label %end\n"
        "first:\n" AT(
            "%a", "%l") "  store i32 %g32, ptr addrspace(3) %a\n" GROUPS_BARRIER
                        "  %m = xor i64 %l, 1\n" AT(
                            "%b",
                            "%m") "  %v = load i32, ptr addrspace(3) %b\n"
                                  "  br label %end\n"
                                  "end:\n"
                                  "  %r = phi i32 [ -1, %0 ], [ %v, %first ]\n"
                                  "  store i32 %r, ptr %p\n  ret i32 0\n");
    int32_t wanted[12];

    (void)state;
    for (int32_t i = 0; i < 12; i++)
        wanted[i] = i % 4 < 2 ? i ^ 1 : -1;
    assert_gives(module, ROW(12, 4), wanted, 12);
}

static void volatile_counters_are_the_items_own(void **state)
{
    static const char module[] = MODULE(
        SHARED,
        "  %i = alloca i32\n" AT(
            "%a", "%l") "  %k = add i64 %l, 1\n"
                        "  %o = urem i64 %k, %s\n" AT(
                            "%b", "%o") "  store volatile i32 0, ptr %i\n"
                                        "  br label %loop\n"
                                        "loop:\n"
                                        "  %i0 = load volatile i32, ptr %i\n"
                                        "  %c = icmp slt i32 %i0, 3\n"
                                        "  br i1 %c, label %body, label %done\n"
                                        "body:\n"
                                        "  %v = mul i32 %g32, 10\n"
                                        "  %i1 = load volatile i32, ptr %i\n"
                                        "  %v1 = add i32 %v, %i1\n"
                                        "  store i32 %v1, ptr addrspace(3) "
                                        "%a\n" GROUPS_BARRIER
                                        "  %t1 = load i32, ptr addrspace(3) "
                                        "%b\n" GROUPS_BARRIER
                                        "  store i32 %t1, ptr %p\n"
                                        "  %i2 = load volatile i32, ptr %i\n"
                                        "  %i3 = add i32 %i2, 1\n"
                                        "  store volatile i32 %i3, ptr %i\n"
                                        "  br label %loop\n"
                                        "done:\n  ret i32 0\n");
    int32_t wanted[8];

    (void)state;
    for (int32_t i = 0; i < 8; i++)
        wanted[i] = 10 * (i / 4 * 4 + (i + 1) % 4) + 2;
    assert_gives(module, ROW(8, 4), wanted, 8);
}

/* ---- values ---- */

static void values_of_all_types_live_across_barriers(void **state)
{
    static const char module[] =
        MODULE("", "  %v = load volatile i32, ptr %p\n"
                   "  %b = trunc i32 %v to i1\n"
                   "  %f = sitofp i32 %v to double\n"
                   "  %h = fptrunc double %f to half\n"
                   "  %x0 = insertelement <3 x float> zeroinitializer, float "
                   "2.0, i32 1\n"
                   "  %f1 = sitofp i32 %v to float\n"
                   "  %x1 = insertelement <3 x float> %x0, float %f1, i32 2\n"
                   "  %m = icmp eq i32 %v, 3\n"
                   "  %bs = insertelement <2 x i1> zeroinitializer, i1 %m, "
                   "i32 1\n"
                   "  %st0 = insertvalue {i8, i64} undef, i8 5, 0\n"
                   "  %v64 = zext i32 %v to i64\n"
                   "  %st = insertvalue {i8, i64} %st0, i64 %v64, 1\n"
                   "  %v128 = zext i32 %v to i128\n"
                   "  %big = shl i128 %v128, 100\n" GROUPS_BARRIER
                   "  %r0 = zext i1 %b to i32\n"
                   "  %r1 = fptosi double %f to i32\n"
                   "  %h1 = fptosi half %h to i32\n"
                   "  %e = extractelement <3 x float> %x1, i32 2\n"
                   "  %r2 = fptosi float %e to i32\n"
                   "  %eb = extractelement <2 x i1> %bs, i32 1\n"
                   "  %r3 = zext i1 %eb to i32\n"
                   "  %es = extractvalue {i8, i64} %st, 1\n"
                   "  %r4 = trunc i64 %es to i32\n"
                   "  %lo = lshr i128 %big, 100\n"
                   "  %r5 = trunc i128 %lo to i32\n"
                   "  %a1 = add i32 %r0, %r1\n  %a2 = add i32 %a1, %r2\n"
                   "  %a3 = add i32 %a2, %r3\n  %a4 = add i32 %a3, %r4\n"
                   "  %a5 = add i32 %a4, %r5\n  %a6 = add i32 %a5, %h1\n"
                   "  store i32 %a6, ptr %p\n  ret i32 0\n");
    int32_t wanted[8];

    (void)state;
    for (int32_t i = 0; i < 8; i++)
        wanted[i] = 5 * (i + 1) + (i + 1) % 2 + (i == 2);
    assert_gives(module, ROW(8, 4), wanted, 8);
}

static void private_arrays_keep_their_content(void **state)
{
    /* a callee writes the array by its address, which is kept in another */
    static const char module[] =
        MODULE("define void @set(ptr %item, ptr %to, i32 %v) noinline {\n"
               "  %q = getelementptr i32, ptr %to, i32 2\n"
               "  store i32 %v, ptr %q\n  ret void\n}\n",
               "  %a = alloca [4 x i32]\n"
               "  %keep = alloca ptr\n"
               "  %where = and i64 %g, 3\n"
               "  %e = getelementptr [4 x i32], ptr %a, i64 0, i64 %where\n"
               "  store [4 x i32] zeroinitializer, ptr %a\n"
               "  store volatile ptr %e, ptr %keep\n" GROUPS_BARRIER
               "  %d = load volatile ptr, ptr %keep\n"
               "  store i32 %g32, ptr %d\n" GROUPS_BARRIER
               "  call void @set(ptr %item, ptr %a, i32 -7)\n" GROUPS_BARRIER
               "  %d1 = load volatile ptr, ptr %keep\n"
               "  %v = load i32, ptr %d1\n"
               "  %q = getelementptr i32, ptr %a, i32 2\n"
               "  %v2 = load i32, ptr %q\n"
               "  %r = sub i32 %v, %v2\n"
               "  store i32 %r, ptr %p\n  ret i32 0\n");
    int32_t wanted[12];

    (void)state;
    for (int32_t i = 0; i < 12; i++)
        wanted[i] = i % 4 == 2 ? 0 : i + 7;
    assert_gives(module, ROW(12, 6), wanted, 12);
}

/* As many bytes before it as there are items, which is no multiple of 128. */
static void variables_of_an_item_are_aligned(void **state)
{
    static const char module[] =
        MODULE("", "  %byte = alloca i8\n"
                   "  %wide = alloca <16 x i64>, align 128\n"
                   "  store volatile i8 1, ptr %byte\n"
                   "  store volatile i64 4, ptr %wide\n" GROUPS_BARRIER
                   "  %b = load volatile i8, ptr %byte\n"
                   "  %b32 = zext i8 %b to i32\n"
                   "  %v = load volatile i64, ptr %wide\n"
                   "  %at = ptrtoint ptr %wide to i64\n"
                   "  %off = and i64 %at, 127\n"
                   "  %all = add i64 %v, %off\n"
                   "  %all32 = trunc i64 %all to i32\n"
                   "  %r = add i32 %all32, %b32\n"
                   "  store i32 %r, ptr %p\n  ret i32 0\n");
    static const int32_t wanted[8] = {5, 5, 5, 5, 5, 5, 5, 5};

    (void)state;
    assert_gives(module, ROW(8, 4), wanted, 8);
}

static void variables_of_a_group_have_places_of_their_own(void **state)
{
    static const char module[] =
        MODULE("@a = internal addrspace(3) global i8 undef\n"
               "@b = internal addrspace(3) global [5 x i64] undef, align 128\n"
               "@c = internal addrspace(3) global i32 poison\n"
               "define i32 @read(ptr %item) noinline {\n"
               "  %v = load i32, ptr addrspacecast (ptr addrspace(3) @c to "
               "ptr)\n  ret i32 %v\n}\n",
               "  %one = icmp eq i64 %l, 1\n"
               "  br i1 %one, label %set, label %go\n"
               "set:\n"
               "  store i8 3, ptr addrspace(3) @a\n"
               "  store i64 -1, ptr addrspace(3) getelementptr (i8, ptr "
               "addrspace(3) @b, i64 32)\n"
               "  store i64 -1, ptr addrspace(3) @b\n"
               "  store i32 %w32, ptr addrspace(3) @c\n"
               "  br label %go\n"
               "go:\n" GROUPS_BARRIER "  %x = load i8, ptr addrspace(3) @a\n"
               "  %x32 = zext i8 %x to i32\n"
               "  %c = call i32 @read(ptr %item)\n"
               "  %at = ptrtoint ptr addrspace(3) @b to i64\n"
               "  %off = and i64 %at, 127\n"
               "  %o32 = trunc i64 %off to i32\n"
               "  %r = add i32 %x32, %c\n"
               "  %r2 = add i32 %r, %o32\n"
               "  store i32 %r2, ptr %p\n  ret i32 0\n");
    static const int32_t wanted[8] = {3, 3, 3, 3, 4, 4, 4, 4};

    (void)state;
    assert_gives(module, ROW(8, 4), wanted, 8);
}

/* ---- functions and shapes ---- */

static void functions_have_barriers(void **state)
{
    static const char module[] = MODULE(
        SHARED
        "define internal i32 @swap(ptr %item, i64 %l, i64 %o, i32 %v) {\n" AT(
            "%a", "%l")
            AT("%b",
               "%o") "  store i32 %v, ptr addrspace(3) %a\n" GROUPS_BARRIER
                     "  %r = load i32, ptr addrspace(3) %b\n" GROUPS_BARRIER
                     "  ret i32 %r\n}\n"
                     "define i32 @twice(ptr %item, i64 %l, i64 %o, i32 %v) "
                     "noinline {\n"
                     "  %x = call i32 @swap(ptr %item, i64 %l, i64 %o, i32 "
                     "%v)\n"
                     "  %z = call i32 @swap(ptr %item, i64 %l, i64 %o, i32 "
                     "%x)\n"
                     "  ret i32 %z\n}\n",
        "  %k = add i64 %l, 1\n"
        "  %o = urem i64 %k, %s\n"
        "  %v = call i32 @twice(ptr %item, i64 %l, i64 %o, i32 %g32)\n"
        "  %v2 = call i32 @swap(ptr %item, i64 %l, i64 %o, i32 %v)\n"
        "  store i32 %v2, ptr %p\n  ret i32 0\n");
    int32_t wanted[12];

    (void)state;
    for (int32_t i = 0; i < 12; i++)
        wanted[i] = i / 6 * 6 + (i + 3) % 6;
    assert_gives(module, ROW(12, 6), wanted, 12);
}

static void groups_have_three_dimensions_and_may_be_cut(void **state)
{
    /* t[0] counts the group's items */
    static const char module[] = GROUPS_HEAD SHARED
        "define i32 @k(ptr %item, ptr %y, i64 %n) {\n"
        "  %x = call i64 @kiln_global_id(ptr %item, i32 0)\n"
        "  %yy = call i64 @kiln_global_id(ptr %item, i32 1)\n"
        "  %z = call i64 @kiln_global_id(ptr %item, i32 2)\n"
        "  %lx = call i64 @kiln_local_id(ptr %item, i32 0)\n"
        "  %ly = call i64 @kiln_local_id(ptr %item, i32 1)\n"
        "  %lz = call i64 @kiln_local_id(ptr %item, i32 2)\n"
        "  %any = or i64 %lx, %ly\n"
        "  %any2 = or i64 %any, %lz\n"
        "  %first = icmp eq i64 %any2, 0\n"
        "  br i1 %first, label %set, label %go\n"
        "set:\n  store i32 0, ptr addrspace(3) @t\n  br label %go\n"
        "go:\n" GROUPS_BARRIER "  %old = atomicrmw add ptr addrspace(3) @t, "
        "i32 1 monotonic\n" GROUPS_BARRIER
        "  %count = load i32, ptr addrspace(3) @t\n"
        "  %z5 = mul i64 %z, 3\n  %zy = add i64 %z5, %yy\n"
        "  %zy5 = mul i64 %zy, 5\n  %at = add i64 %zy5, %x\n"
        "  %p = getelementptr i32, ptr %y, i64 %at\n"
        "  store i32 %count, ptr %p\n  ret i32 0\n}\n";
    const group_shape shape = {{5, 3, 3}, {4, 2, 2}};
    int32_t wanted[45];

    (void)state;
    for (int32_t i = 0; i < 45; i++)
        wanted[i] = (i % 5 < 4 ? 4 : 1) * (i / 5 % 3 < 2 ? 2 : 1) *
                    (i / 15 < 2 ? 2 : 1);
    assert_gives(module, shape, wanted, 45);
}

/* ---- exceptions ---- */

static void an_exception_ends_the_group(void **state)
{
    static const char module[] = MODULE(
        "@method = internal constant [2 x i8] c\"m\\00\"\n"
        "@words = internal constant [4 x i8] c\"bad\\00\"\n",
        "  store i32 -1, ptr %p\n" GROUPS_BARRIER
        "  %five = icmp eq i64 %g, 5\n"
        "  br i1 %five, label %bad, label %fine\n"
        "bad:\n"
        "  call void @kiln_raise(ptr %item, i32 1, ptr @method, i32 3, "
        "ptr @words, i64 %g, i64 %l)\n"
        "  br label %leave\n"
        "fine:\n"
        "  store i32 -2, ptr %p\n" GROUPS_BARRIER "  store i32 -3, ptr %p\n"
        "  br label %leave\n"
        "leave:\n"
        "  %r = phi i32 [ 1, %bad ], [ 0, %fine ]\n"
        "  ret i32 %r\n");
    static const int32_t wanted[12] = {-3, -3, -3, -3, -2, -1,
                                       -1, -1, 9,  10, 11, 12};

    (void)state;
    for (size_t i = 0; i < GROUP_BUILDS; i++) {
        const group_shape shape = ROW(12, 4);
        int32_t data[12];

        fill(data, 12);
        assert_int_equal(group_run(module, group_builds[i], &shape, data, 12),
                         1);
        assert_memory_equal(data, wanted, sizeof data);
    }
}

/* ---- refusals ---- */

static void assert_refused(const char *module, const char *words)
{
    outcome o;

    group_prepare(&o, module, group_builds[0], KILN_EMIT_BINARY);
    run(&o);
    assert_int_equal(o.status, KILN_ECODEGEN);
    assert_contains(o.message, words);
}

static void what_cannot_be_cut_is_refused_by_name(void **state)
{
    (void)state;
    assert_refused(MODULE("define void @r(ptr %item) {\n" GROUPS_BARRIER
                          "  call void @r(ptr %item)\n  ret void\n}\n",
                          "  call void @r(ptr %item)\n  ret i32 0\n"),
                   "function 'r' of the module: it recurses");
    assert_refused(MODULE("define void @f(ptr %item) {\n" GROUPS_BARRIER
                          "  ret void\n}\n",
                          "  %c = icmp eq ptr @f, %y\n"
                          "  br i1 %c, label %a, label %b\n"
                          "a:\n  ret i32 0\n"
                          "b:\n  call void @f(ptr %item)\n  ret i32 0\n"),
                   "function 'f' of the module: it has a barrier or a variable "
                   "of the group, and its address is taken");
    assert_refused(MODULE("", "  %c = icmp eq i64 %l, 0\n"
                              "  %t = select i1 %c, ptr blockaddress(@k, %a), "
                              "ptr blockaddress(@k, %b)\n"
                              "  indirectbr ptr %t, [label %a, label %b]\n"
                              "a:\n" GROUPS_BARRIER "  ret i32 0\n"
                              "b:\n  ret i32 0\n"),
                   "addresses of labels");
    assert_refused(MODULE("", "  %a = alloca i32, align 256\n"
                              "  store volatile i32 1, ptr %a\n" GROUPS_BARRIER
                              "  ret i32 0\n"),
                   "aligned to more than 128 bytes");
}

static void variables_of_a_group_have_no_content(void **state)
{
    (void)state;
    assert_refused(
        MODULE("@v = internal addrspace(3) global i32 1\n",
               "  store i32 2, ptr addrspace(3) @v\n  ret i32 0\n"),
        "variable 'v' of the module: it is in the memory of a group, "
        "which has no value at first");
    assert_refused(MODULE("@v = internal addrspace(3) global i32 undef, align "
                          "256\n",
                          "  store i32 2, ptr addrspace(3) @v\n  ret i32 0\n"),
                   "aligned to at most 128 bytes");
}

/* ---- code ---- */

static void loops_over_items_are_vectorised(void **state)
{
    static const char module[] = MODULE(
        SHARED,
        AT("%a", "%l") "  %v = load i32, ptr %p\n"
                       "  %v3 = mul i32 %v, 3\n"
                       "  store i32 %v3, ptr addrspace(3) %a\n" GROUPS_BARRIER
                       "  %x = xor i64 %l, 0\n" AT(
                           "%b",
                           "%x") "  %r = load i32, ptr addrspace(3) %b\n"
                                 "  %r7 = add i32 %r, %v\n"
                                 "  store i32 %r7, ptr %p\n  ret i32 0\n");
    const char *from;
    outcome o;

    (void)state;
    group_prepare(&o, module, group_builds[2], KILN_EMIT_LLVM_OPT);
    assert_built(&o);
    from = o.bytes;
    assert_contains(from, "load <4 x i32>");
    assert_contains(from, "store <4 x i32>");
    assert_null(strstr(from, "addrspace(3)"));
    free(o.bytes);
}

/* What a group computes for its items is a loop over all of them. */
static void reductions_are_vectorised(void **state)
{
    static const char module[] =
        MODULE("declare i32 @kiln_reduce.add.i32(ptr, i32, i32)\n",
               "  %v = load i32, ptr %p\n"
               "  %r = call i32 @kiln_reduce.add.i32(ptr %item, i32 2, i32 "
               "%v)\n"
               "  store i32 %r, ptr %p\n  ret i32 0\n");
    outcome o;

    (void)state;
    group_prepare(&o, module, group_builds[2], KILN_EMIT_LLVM_OPT);
    assert_built(&o);
    assert_contains(o.bytes, "llvm.vector.reduce.add");
    free(o.bytes);
}

static void lines_are_kept(void **state)
{
    static const char module[] = GROUPS_HEAD
        "define i32 @k(ptr %item, ptr %y, i64 %n) !dbg !4 {\n"
        "  %v = load volatile i32, ptr %y, !dbg !6\n"
        "  call void @kiln_barrier(ptr %item, i32 2, i32 1), !dbg !6\n"
        "  store volatile i32 %v, ptr %y, !dbg !7\n"
        "  ret i32 0, !dbg !7\n}\n"
        "!llvm.module.flags = !{!0}\n!llvm.dbg.cu = !{!1}\n"
        "!0 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
        "!1 = distinct !DICompileUnit(language: DW_LANG_C99, file: !2, "
        "emissionKind: LineTablesOnly)\n"
        "!2 = !DIFile(filename: \"a.c\", directory: \"/\")\n"
        "!3 = !DISubroutineType(types: !{})\n"
        "!4 = distinct !DISubprogram(name: \"k\", file: !2, line: 7, type: !3, "
        "unit: !1, spFlags: DISPFlagDefinition)\n"
        "!6 = !DILocation(line: 8, scope: !4)\n"
        "!7 = !DILocation(line: 9, scope: !4)\n";
    outcome o;

    (void)state;
    for (size_t i = 0; i < GROUP_BUILDS; i++) {
        group_prepare(&o, module, group_builds[i], KILN_EMIT_LLVM);
        o.settings.debug_level = KILN_DEBUG_LINES;
        assert_built(&o);
        assert_contains(o.bytes, "!DILocation(line: 8");
        assert_contains(o.bytes, "!DILocation(line: 9");
        free(o.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_read_what_others_wrote_before_the_barrier),
        cmocka_unit_test(a_tree_of_sums_has_a_barrier_in_each_level),
        cmocka_unit_test(loops_nest_around_barriers_and_are_left),
        cmocka_unit_test(groups_choose_between_barriers),
        cmocka_unit_test(items_that_returned_do_not_count),
        cmocka_unit_test(items_leave_a_loop_with_barriers_by_turns),
        cmocka_unit_test(a_barrier_after_a_divergent_loop_waits_for_all),
        cmocka_unit_test(both_sides_of_a_divergent_branch_may_wait),
        cmocka_unit_test(what_is_uniform_for_reasons_unknown_is_right),
        cmocka_unit_test(a_function_that_reads_an_id_decides_for_one_item),
        cmocka_unit_test(volatile_counters_are_the_items_own),
        cmocka_unit_test(values_of_all_types_live_across_barriers),
        cmocka_unit_test(private_arrays_keep_their_content),
        cmocka_unit_test(variables_of_an_item_are_aligned),
        cmocka_unit_test(variables_of_a_group_have_places_of_their_own),
        cmocka_unit_test(functions_have_barriers),
        cmocka_unit_test(groups_have_three_dimensions_and_may_be_cut),
        cmocka_unit_test(an_exception_ends_the_group),
        cmocka_unit_test(what_cannot_be_cut_is_refused_by_name),
        cmocka_unit_test(variables_of_a_group_have_no_content),
        cmocka_unit_test(loops_over_items_are_vectorised),
        cmocka_unit_test(reductions_are_vectorised),
        cmocka_unit_test(lines_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
