/* neutral.h - compiles neutral modules for every target, and runs them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_NEUTRAL_H
#define KILN_TESTS_NEUTRAL_H

#include <llvm-c/BitWriter.h>
#include <llvm-c/IRReader.h>

#include "support/codegen/foreign.h"

/*
 * The text of a module is the same for all targets. Its entry `k` takes an
 * array of i32 and its size: `void @k(ptr, i64)`.
 */

#define NEUTRAL_UNUSED __attribute__((unused))

NEUTRAL_UNUSED static void neutral_build(outcome *o,
                                         const foreign_target *target,
                                         const char *module, int32_t form,
                                         uint8_t level)
{
    prepare(o, module, form, one_array, 1);
    foreign_settings(o, target);
    o->settings.opt_level = level;
    run(o);
}

/* Returns bitcode of a text, without a data layout. `flag`: of a module that
   claims to have debug information of this version, or NULL. */
NEUTRAL_UNUSED static LLVMMemoryBufferRef neutral_assemble(const char *text,
                                                           const char *flag)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef from =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "module");
    LLVMMemoryBufferRef made;
    LLVMModuleRef read;
    char *message = NULL;

    if (LLVMParseIRInContext(context, from, &read, &message) != 0)
        fail_msg("%s", message);
    if (flag != NULL)
        LLVMAddModuleFlag(read, LLVMModuleFlagBehaviorWarning, flag,
                          strlen(flag),
                          LLVMValueAsMetadata(LLVMConstInt(
                              LLVMInt32TypeInContext(context), 3, 0)));
    made = LLVMWriteBitcodeToMemoryBuffer(read);
    LLVMDisposeModule(read);
    LLVMContextDispose(context);
    return made;
}

NEUTRAL_UNUSED static void neutral_build_bitcode(outcome *o,
                                                 const foreign_target *target,
                                                 LLVMMemoryBufferRef bitcode)
{
    prepare(o, "", target->form, one_array, 1);
    foreign_settings(o, target);
    o->request.module = LLVMGetBufferStart(bitcode);
    o->request.module_size = LLVMGetBufferSize(bitcode);
    run(o);
}

/* Asserts that the module is refused with these words on each of the targets,
   and built on all others, at levels with and without passes. */
NEUTRAL_UNUSED static void neutral_refused_on(int targets, const char *module,
                                              const char *words)
{
    static const uint8_t levels[] = {0, 2};

    for (size_t i = 0; i < 2 * 4; i++) {
        const foreign_target *target = &foreign_targets[i / 2];
        outcome o;

        neutral_build(&o, target, module, target->form, levels[i % 2]);
        if ((targets & target->bit) == 0 && o.status != KILN_OK)
            fail_msg("%s: %s\n%s", target->backend, o.message, module);
        if ((targets & target->bit) != 0 &&
            (o.status == KILN_OK || strstr(o.message, words) == NULL))
            fail_msg("%s: not \"%s\" but %s\n%s", target->backend, words,
                     o.status == KILN_OK ? "built" : o.message, module);
        if (o.status == KILN_OK)
            free(o.bytes);
    }
}

NEUTRAL_UNUSED static void neutral_accepted(const char *module)
{
    neutral_refused_on(0, module, "");
}

/* Asserts that a form for each of the targets, optimised, has the words, or
   that it does not. */
NEUTRAL_UNUSED static void neutral_form(int targets, int32_t form,
                                        const char *module, const char *has,
                                        const char *has_not)
{
    for (size_t i = 0; i < 4; i++) {
        const foreign_target *target = &foreign_targets[i];
        outcome o;

        if ((targets & target->bit) == 0)
            continue;
        neutral_build(&o, target, module, form, 2);
        if (o.status != KILN_OK)
            fail_msg("%s: %s\n%s", target->backend, o.message, module);
        if (has != NULL && strstr(o.bytes, has) == NULL)
            fail_msg("%s lacks '%s'", (const char *)o.bytes, has);
        if (has_not != NULL && strstr(o.bytes, has_not) != NULL)
            fail_msg("%s has '%s'", (const char *)o.bytes, has_not);
        free(o.bytes);
    }
}

NEUTRAL_UNUSED static void neutral_text(int targets, const char *module,
                                        const char *has, const char *has_not)
{
    neutral_form(targets, KILN_EMIT_LLVM_OPT, module, has, has_not);
}

/* Runs a grid of `items` in groups of `block` on the host, on an array of that
   many elements, at first 0, 1, 2 ... Returns what the kernel returned. */
NEUTRAL_UNUSED static int neutral_run(int32_t *y, const char *module,
                                      uint64_t items, uint64_t block, launch *l)
{
    const struct {
        int32_t *data;
        int64_t n;
    } arguments = {y, (int64_t)items};
    outcome o;
    int failed;

    for (uint64_t i = 0; i < items; i++)
        y[i] = (int32_t)i;
    neutral_build(&o, foreign_target_of(HOST), module, KILN_EMIT_BINARY, 2);
    if (o.status != KILN_OK)
        fail_msg("%s\n%s", o.message, module);
    *l = make_launch(items, 1, 1, block, 1, 1);
    failed = run_image(&o, l, &arguments);
    free(o.bytes);
    return failed;
}

#endif /* KILN_TESTS_NEUTRAL_H */
