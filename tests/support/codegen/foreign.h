/* foreign.h - compiles modules of another frontend for every target. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_FOREIGN_H
#define KILN_TESTS_FOREIGN_H

#include "ir/ir_math_names.h"
#include "support/codegen/request.h"

#define FOREIGN_UNUSED __attribute__((unused))

/*
 * The text of a module is written once for all targets. `@I` is replaced by the
 * type of a pointer to the item, `@A` by that of a pointer to an array's
 * elements, and `@S` after an alloca's type by the address space of an item's
 * variables. An entry `k` takes the item, an array of i32 and its size.
 */

enum { HOST = 1, CUDA = 2, ROCM = 4, SPIRV = 8, DEVICES = 14, ALL = 15 };

typedef struct foreign_target {
    int bit;
    const char *backend;
    const char *triple;
    const char *processor;
    const char *features;
    const char *options;
    int32_t form; /* a form that needs no tool of a vendor */
    const char *item;
    const char *array;
    const char *space;
} foreign_target;

FOREIGN_UNUSED static const foreign_target foreign_targets[] = {
    {HOST, "host", "x86_64-unknown-linux-gnu", "x86-64", "", "",
     KILN_EMIT_BINARY, "ptr", "ptr", ""},
    {CUDA, "cuda", "nvptx64-nvidia-cuda", "sm_70", "+ptx78", "", KILN_EMIT_ASM,
     "ptr", "ptr", ""},
    {ROCM, "rocm", "amdgcn-amd-amdhsa", "gfx90a", "", "", KILN_EMIT_BINARY,
     "ptr addrspace(5)", "ptr", ", addrspace(5)"},
    {SPIRV, "spirv", "spirv64v1.2-unknown-unknown", "", "",
     "fp64,fp16,int64_atomics,subgroups", KILN_EMIT_BINARY, "ptr",
     "ptr addrspace(4)", ""},
};

#define FOREIGN_TEXT_MAX 16384

FOREIGN_UNUSED static const char *foreign_word(const foreign_target *target,
                                               char letter)
{
    switch (letter) {
    case 'I':
        return target->item;
    case 'A':
        return target->array;
    case 'S':
        return target->space;
    default:
        return NULL;
    }
}

/* Writes the text for a target. */
FOREIGN_UNUSED static void foreign_write(char text[FOREIGN_TEXT_MAX],
                                         const foreign_target *target,
                                         const char *from)
{
    size_t at = 0;

    while (*from != '\0') {
        const char *word = *from == '@' && (from[2] < 'a' || from[2] > 'z')
                               ? foreign_word(target, from[1])
                               : NULL;
        const size_t size = word != NULL ? strlen(word) : 1;

        assert_true(at + size < FOREIGN_TEXT_MAX);
        memcpy(text + at, word != NULL ? word : from, size);
        at += size;
        from += word != NULL ? 2 : 1;
    }
    text[at] = '\0';
}

FOREIGN_UNUSED static void foreign_settings(outcome *o,
                                            const foreign_target *target)
{
    o->settings.backend = target->backend;
    o->settings.triple = target->triple;
    o->settings.processor = target->processor;
    o->settings.features = target->features;
    o->settings.options = target->options;
    o->settings.math_names =
        target->bit == HOST ? KILN__NAMES_NONE : KILN__NAMES_OPENCL;
}

/* Builds a module for one target, of globals and the body of its entry. */
FOREIGN_UNUSED static void foreign_build(outcome *o,
                                         const foreign_target *target,
                                         const char *globals, const char *body,
                                         uint8_t level)
{
    static char from[FOREIGN_TEXT_MAX], text[FOREIGN_TEXT_MAX];

    snprintf(from, sizeof from,
             "%s\ndefine i32 @k(@I %%item, @A %%y, i64 %%n) {\n%s"
             "  ret i32 0\n}\n",
             globals, body);
    foreign_write(text, target, from);
    prepare(o, text, target->form, one_array, 1);
    foreign_settings(o, target);
    o->settings.opt_level = level;
    run(o);
}

FOREIGN_UNUSED static const foreign_target *foreign_target_of(int bit)
{
    size_t i = 0;

    while (i < 3 && foreign_targets[i].bit != bit)
        i++;
    return &foreign_targets[i];
}

/* The same for a processor other than the target's usual one. */
FOREIGN_UNUSED static void foreign_build_for(outcome *o, int bit,
                                             const char *processor,
                                             const char *globals,
                                             const char *body, uint8_t level)
{
    foreign_target target = *foreign_target_of(bit);

    target.processor = processor;
    if (bit == CUDA)
        target.features = "+ptx87";
    foreign_build(o, &target, globals, body, level);
}

/* Asserts that the module is refused with these words on each of the targets,
   and built on all others, at levels with and without passes. */
FOREIGN_UNUSED static void foreign_refused_on(int targets, const char *globals,
                                              const char *body,
                                              const char *words)
{
    static const uint8_t levels[] = {0, 2};

    for (size_t i = 0; i < 2 * 4; i++) {
        const foreign_target *target = &foreign_targets[i / 2];
        outcome o;

        foreign_build(&o, target, globals, body, levels[i % 2]);
        if ((targets & target->bit) == 0 && o.status != KILN_OK)
            fail_msg("%s: %s\n%s%s", target->backend, o.message, globals, body);
        if ((targets & target->bit) != 0 &&
            (o.status == KILN_OK || strstr(o.message, words) == NULL))
            fail_msg("%s: not \"%s\" but %s\n%s%s", target->backend, words,
                     o.status == KILN_OK ? "built" : o.message, globals, body);
        if (o.status == KILN_OK)
            free(o.bytes);
    }
}

FOREIGN_UNUSED static void foreign_accepted(const char *globals,
                                            const char *body)
{
    foreign_refused_on(0, globals, body, "");
}

/* Runs one item on the host, with an array of four elements, and returns the
   first. */
FOREIGN_UNUSED static int32_t foreign_run(const char *globals, const char *body,
                                          uint8_t level)
{
    int32_t y[4] = {1, 2, 3, 4};
    const struct {
        int32_t *data;
        int64_t n;
    } arguments = {y, 4};
    launch l = make_launch(1, 1, 1, 1, 1, 1);
    outcome o;

    foreign_build(&o, foreign_target_of(HOST), globals, body, level);
    if (o.status != KILN_OK)
        fail_msg("%s\n%s%s", o.message, globals, body);
    assert_int_equal(run_image(&o, &l, &arguments), 0);
    free(o.bytes);
    return y[0];
}

/* Asserts what the optimised text for the target contains and what it does not
   (NULL: not checked). */
FOREIGN_UNUSED static void foreign_text(int target, const char *globals,
                                        const char *body, const char *has,
                                        const char *has_not)
{
    foreign_target text = *foreign_target_of(target);
    outcome o;

    text.form = KILN_EMIT_LLVM_OPT;
    foreign_build(&o, &text, globals, body, 1);
    if (o.status != KILN_OK)
        fail_msg("%s\n%s%s", o.message, globals, body);
    assert_contains(o.bytes, has);
    if (has_not != NULL && strstr(o.bytes, has_not) != NULL)
        fail_msg("%s has '%s'", (const char *)o.bytes, has_not);
    free(o.bytes);
}

#endif /* KILN_TESTS_FOREIGN_H */
