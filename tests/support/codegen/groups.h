/* groups.h - runs foreign modules with barriers on the host. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_GROUPS_H
#define KILN_TESTS_GROUPS_H

#include "support/codegen/request.h"

/* A module's entry `k` takes the item and one array of i32. */
#define GROUPS_HEAD \
    QUERIES "declare void @kiln_barrier(ptr, i32, i32) convergent\n" \
            "declare void @kiln_raise(ptr, i32, ptr, i32, ptr, i64, i64)\n"
#define GROUPS_BARRIER "  call void @kiln_barrier(ptr %item, i32 2, i32 3)\n"

typedef struct group_shape {
    uint64_t grid[3];
    uint64_t block[3];
} group_shape;

/* How a module is built. */
typedef struct group_build {
    uint8_t level;
    int32_t form;
} group_build;

REQUEST_UNUSED static const group_build group_builds[] = {
    {0, KILN__GROUP_FORM_BEST},
    {0, KILN__GROUP_FORM_GENERAL},
    {2, KILN__GROUP_FORM_BEST},
    {2, KILN__GROUP_FORM_GENERAL},
};
#define GROUP_BUILDS (sizeof group_builds / sizeof group_builds[0])

REQUEST_UNUSED static void group_prepare(outcome *o, const char *module,
                                         group_build build, int32_t form)
{
    prepare(o, module, form, one_array, 1);
    o->settings.opt_level = build.level;
    o->request.group_form = build.form;
}

/* Builds the module in that form; what fails, fails the test. */
REQUEST_UNUSED static void group_make(outcome *o, const char *module,
                                      uint8_t level, int32_t form)
{
    group_prepare(o, module, (group_build){level, KILN__GROUP_FORM_BEST}, form);
    run(o);
    if (o->status != KILN_OK)
        fail_msg("%s\n%s", o->message, module);
}

/* Whether the text is in the LLVM IR of the module, optimised. */
REQUEST_UNUSED static int group_optimised_has(const char *module,
                                              const char *text)
{
    outcome o;
    int found;

    group_make(&o, module, 2, KILN_EMIT_LLVM_OPT);
    found = strstr(o.bytes, text) != NULL;
    free(o.bytes);
    return found;
}

/* Runs the module on an array of `count` elements. Returns the kernel's
   result. */
REQUEST_UNUSED static int32_t group_run(const char *module, group_build build,
                                        const group_shape *shape, int32_t *data,
                                        size_t count)
{
    const struct {
        int32_t *data;
        int64_t count;
    } arguments = {data, (int64_t)count};
    launch l = make_launch(shape->grid[0], shape->grid[1], shape->grid[2],
                           shape->block[0], shape->block[1], shape->block[2]);
    int32_t result;
    outcome o;

    group_prepare(&o, module, build, KILN_EMIT_BINARY);
    run(&o);
    if (o.status != KILN_OK)
        fail_msg("%s\n%s", o.message, module);
    result = run_image(&o, &l, &arguments);
    free(o.bytes);
    return result;
}

#endif /* KILN_TESTS_GROUPS_H */
