/* test_debug_lines.c - lines of the source in code, and in its key. */
/* LABELS: codegen host cuda rocm */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/program.h"

#include <string.h>

#define KERNEL \
    "fn twice(x) = x + x\n" \
    "kernel work(y)\n" \
    "    i = global_id(0)\n" \
    "    y[i] = twice(y[i])\n" \
    "end\n"

typedef struct look {
    const char *text;
    const char *target;
    uint8_t level;
} look;

static const kiln_config *config_of(kiln_context *context, const look *at)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config;

    options.target = at->target;
    options.debug_level = at->level;
    assert_ok(kiln_config_new(&config, context, &options, &test_error));
    return config;
}

/* Defines the text in a program of its own and shows the kernel. */
static kiln_digest show(const look *at, kiln_blob *out)
{
    void *state = NULL;
    kiln_signature signature = {.count = 1};
    const kiln_config *config;
    const kiln_type *type;
    kiln_digest key;
    program *p;

    assert_int_equal(program_setup(&state), 0);
    p = state;
    assert_ok(kiln_package_define(p->main, "/somewhere/work.kiln", at->text,
                                  strlen(at->text), NULL, &test_error));
    type = program_type(p, "f32[:]");
    signature.types = &type;
    assert_ok(kiln_package_function(&signature.function, p->main, "work",
                                    &test_error));
    config = config_of(p->context, at);
    assert_ok(
        kiln_job_key(&key, p->context, &signature, config, 0, &test_error));
    if (out != NULL)
        assert_ok(kiln_emit(out, p->context, &signature, config, 0,
                            KILN_EMIT_ASM, &test_error));
    assert_int_equal(program_teardown(&state), 0);
    return key;
}

static int has(const kiln_blob *text, const char *word)
{
    return strstr(text->data, word) != NULL;
}

static void lines_are_in_code_that_asks_for_them(void **state)
{
    static const char *const targets[] = {"host", "cuda:sm_80", "rocm:gfx90a"};

    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (uint8_t level = 0; level <= KILN_DEBUG_FULL; level++) {
            kiln_blob text = {0};

            (void)show(&(look){KERNEL, targets[i], level}, &text);
            assert_int_equal(has(&text, ".loc\t1 4 "), level > 0);
            assert_int_equal(has(&text, "work.kiln"), level > 0);
            assert_int_equal(has(&text, "\"y\"") || has(&text, ".debug_info"),
                             level == KILN_DEBUG_FULL || (level > 0 && i != 1));
            /* No folder of this machine. */
            assert_false(has(&text, "somewhere"));
            kiln_blob_release(&text);
        }
}

/* PTX for a debugger is not optimised, so lines alone ask for none. */
static void lines_alone_make_no_ptx_for_debuggers(void **state)
{
    kiln_blob text = {0};

    (void)state;
    (void)show(&(look){KERNEL, "cuda:sm_80", KILN_DEBUG_LINES}, &text);
    assert_true(has(&text, ".target sm_80\n"));
    kiln_blob_release(&text);
    (void)show(&(look){KERNEL, "cuda:sm_80", KILN_DEBUG_FULL}, &text);
    assert_true(has(&text, ".target sm_80, debug"));
    kiln_blob_release(&text);
}

static int same_key(const char *a, const char *b, uint8_t level)
{
    const kiln_digest x = show(&(look){a, "host", level}, NULL);
    const kiln_digest y = show(&(look){b, "host", level}, NULL);

    return memcmp(&x, &y, sizeof x) == 0;
}

static void a_moved_line_makes_other_code_where_lines_are_kept(void **state)
{
    (void)state;
    assert_true(same_key(KERNEL, "# moved\n" KERNEL, KILN_DEBUG_NONE));
    assert_false(same_key(KERNEL, "# moved\n" KERNEL, KILN_DEBUG_LINES));
    assert_false(same_key(KERNEL, "# moved\n" KERNEL, KILN_DEBUG_FULL));
    assert_true(same_key(KERNEL, KERNEL "# behind\n", KILN_DEBUG_LINES));
}

/* The callee's lines count as well. */
static void lines_of_callees_are_in_the_key(void **state)
{
    static const char first[] = "kernel work(y)\n"
                                "    y[0] = twice(y[0])\n"
                                "end\n"
                                "fn twice(x)\n"
                                "    return x + x\n"
                                "end\n";
    static const char second[] = "kernel work(y)\n"
                                 "    y[0] = twice(y[0])\n"
                                 "end\n"
                                 "fn twice(x)\n"
                                 "\n"
                                 "    return x + x\n"
                                 "end\n";

    (void)state;
    assert_true(same_key(first, second, KILN_DEBUG_NONE));
    assert_false(same_key(first, second, KILN_DEBUG_LINES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_in_code_that_asks_for_them),
        cmocka_unit_test(lines_alone_make_no_ptx_for_debuggers),
        cmocka_unit_test(a_moved_line_makes_other_code_where_lines_are_kept),
        cmocka_unit_test(lines_of_callees_are_in_the_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
