/* test_foreign_wrap.c - entries that are made around kernels of OpenCL C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/neutral.h"

/* y[id] = y[id] + a * b */
static const char module[] =
    "declare i64 @kiln_global_id(i32)\n"
    "define void @scale(ptr addrspace(1) %y, i64 %unread, i32 %a,\n"
    "                   ptr byval({i64, i32}) align 8 %b) {\n"
    "  %q = getelementptr {i64, i32}, ptr %b, i32 0, i32 1\n"
    "  %c = load i32, ptr %q\n"
    "  %d = mul i32 %a, %c\n"
    "  %i = call i64 @kiln_global_id(i32 0)\n"
    "  %p = getelementptr i32, ptr addrspace(1) %y, i64 %i\n"
    "  %v = load i32, ptr addrspace(1) %p\n"
    "  %s = add i32 %v, %d\n"
    "  store i32 %s, ptr addrspace(1) %p\n"
    "  ret void\n"
    "}\n";

#define GOOD "kiln entry 1\nscale\narray 2\nvalue\nvalue\n\n"

static const char *const types[] = {"i32[:,:]", "i32", "(i64, i32)"};
static const uint64_t sizes[] = {24, 4, 16};
static const uint64_t alignments[] = {8, 4, 8};

/* Builds the module behind a head for a target. */
static void build(outcome *o, const foreign_target *target, const char *head,
                  const char *entry, int32_t form)
{
    static char text[FOREIGN_TEXT_MAX];

    (void)snprintf(text, sizeof text, "%s%s", head, module);
    prepare(o, text, form, types, 3);
    foreign_settings(o, target);
    o->request.entry = entry;
    o->request.argument_sizes = sizes;
    o->request.argument_alignments = alignments;
    run(o);
}

static void arguments_reach_the_kernel(void **state)
{
    const struct {
        int32_t *data;
        int64_t rows, columns;
        int32_t a;
        struct {
            int64_t unused;
            int32_t b;
        } pair;
    } arguments = {(int32_t[8]){0, 1, 2, 3, 4, 5, 6, 7}, 4, 2, 10, {-1, 3}};
    launch l = make_launch(8, 1, 1, 4, 1, 1);
    outcome o;

    (void)state;
    build(&o, foreign_target_of(HOST), GOOD, "k", KILN_EMIT_BINARY);
    if (o.status != KILN_OK)
        fail_msg("%s", o.message);
    assert_int_equal(run_image(&o, &l, &arguments), 0);
    for (int32_t i = 0; i < 8; i++)
        assert_int_equal(arguments.data[i], i + 30);
    free(o.bytes);
}

static void all_targets_have_such_entries(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const foreign_target *target = &foreign_targets[i];
        outcome o;

        build(&o, target, GOOD, "k", target->form);
        if (o.status != KILN_OK)
            fail_msg("%s: %s", target->backend, o.message);
        free(o.bytes);
    }
}

/* All items find out that the launch gives too little local memory, before any
   barrier. So the kernel can fail where others may not have both. */
static void local_arguments_of_kernels_with_barriers_are_checked(void **state)
{
    static const char *const both[] = {"i32[:]", "i64"};
    static const uint64_t both_sizes[] = {16, 8}, both_alignments[] = {8, 8};
    static const char text[] =
        "kiln entry 1\nshare\narray 1\nlocal 4\n\n"
        "declare i64 @kiln_local_id(i32)\n"
        "declare void @kiln_barrier(i32, i32)\n"
        "declare ptr addrspace(3) @kiln_group_memory()\n"
        "define void @share(ptr addrspace(1) %y, i64 %n, i64 %at) {\n"
        "  %m = call ptr addrspace(3) @kiln_group_memory()\n"
        "  %own = getelementptr i8, ptr addrspace(3) %m, i64 %at\n"
        "  %i = call i64 @kiln_local_id(i32 0)\n"
        "  %p = getelementptr i32, ptr addrspace(3) %own, i64 %i\n"
        "  store i32 1, ptr addrspace(3) %p\n"
        "  call void @kiln_barrier(i32 2, i32 1)\n"
        "  %v = load i32, ptr addrspace(3) %own\n"
        "  store i32 %v, ptr addrspace(1) %y\n"
        "  ret void\n"
        "}\n";

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const foreign_target *target = &foreign_targets[i];
        outcome o;

        prepare(&o, text, target->form, both, 2);
        foreign_settings(&o, target);
        o.request.argument_sizes = both_sizes;
        o.request.argument_alignments = both_alignments;
        run(&o);
        if (o.status != KILN_OK)
            fail_msg("%s: %s", target->backend, o.message);
        /* Drivers of SPIR-V follow no way past a barrier. */
        assert_int_equal(o.can_fail, strcmp(target->backend, "spirv") != 0);
        free(o.bytes);
    }
}

/* ---- bitcode ---- */

/* Bitcode leaves out that an alloca is in address space 0. */
static void bitcode_may_have_variables_of_items(void **state)
{
    LLVMMemoryBufferRef module_bytes = neutral_assemble(
        "define void @k(ptr %y, i64 %n) {\n"
        "  %own = alloca [4 x i32], align 4\n"
        "  %p = getelementptr [4 x i32], ptr %own, i64 0, i64 %n\n"
        "  store i32 7, ptr %p\n"
        "  %v = load i32, ptr %own\n"
        "  store i32 %v, ptr %y\n"
        "  ret void\n"
        "}\n",
        NULL);

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const foreign_target *target = &foreign_targets[i];
        outcome o;

        neutral_build_bitcode(&o, target, module_bytes);
        if (o.status != KILN_OK)
            fail_msg("%s: %s", target->backend, o.message);
        free(o.bytes);
    }
    LLVMDisposeMemoryBuffer(module_bytes);
}

/* ---- the rest ---- */

static void an_entry_may_have_the_name_of_the_kernel(void **state)
{
    outcome o;

    (void)state;
    build(&o, foreign_target_of(HOST), GOOD, "scale", KILN_EMIT_BINARY);
    if (o.status != KILN_OK)
        fail_msg("%s", o.message);
    free(o.bytes);
}

static void wrong_heads_are_errors(void **state)
{
    static const char fit[] = "does not fit its kernel";
    static const char *const wrong[][2] = {
        {"kiln entry 1\nother\narray 2\nvalue\nvalue\n\n",
         "does not define kernel 'other'"},
        {"kiln entry 1\nkiln_global_id\nvalue\n\n",
         "does not define kernel 'kiln_global_id'"},
        {"kiln entry 1\n\n", "does not define kernel ''"},
        {"kiln entry 1\nscale\n\n", fit},
        {"kiln entry 1\nscale\narray 2\nvalue\n\n", fit},
        {"kiln entry 1\nscale\narray 2\nvalue\nvalue\nvalue\n\n", fit},
        {"kiln entry 1\nscale\narray 0\nvalue\nvalue\n\n", fit},
        {"kiln entry 1\nscale\narray 2\nworth\nvalue\n\n", fit},
        {"kiln entry 1\nscale\narray 2\nvalue\nvalues\n\n", fit},
        {"kiln entry 1\nscale\narray 2\nvalue\nresult\n\n", fit},
        {"kiln entry 1\nscale\narray 5\nvalue\nvalue\n\n", fit},
        {"kiln entry 1\nscale\nvalue\nvalue\narray 1\n\n", fit},
        {"kiln entry 1\nscale\narray 2\nlocal 4\nvalue\n\n", fit},
        {"kiln entry 1\nscale\narray 1\nvalue\nvalue\n\n",
         "for argument 1 (i32[:,:])"},
        {"kiln entry 2\nscale\narray 2\nvalue\nvalue\n\n", "LLVM IR"},
        {"kiln entry 1\nscale\narray 2\n", "LLVM IR"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        outcome o;

        build(&o, foreign_target_of(HOST), wrong[i][0], "k", KILN_EMIT_BINARY);
        if (o.status == KILN_OK || strstr(o.message, wrong[i][1]) == NULL)
            fail_msg("%s: %s", wrong[i][0],
                     o.status == KILN_OK ? "built" : o.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_reach_the_kernel),
        cmocka_unit_test(all_targets_have_such_entries),
        cmocka_unit_test(local_arguments_of_kernels_with_barriers_are_checked),
        cmocka_unit_test(bitcode_may_have_variables_of_items),
        cmocka_unit_test(an_entry_may_have_the_name_of_the_kernel),
        cmocka_unit_test(wrong_heads_are_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
