/* test_codegen_wire.c - requests and results as bytes, and back. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen */
#include "support/harness.h"

#include <string.h>

#include "codegen_client/codegen_wire.h"
#include "kiln/compile.h"
#include "kiln/kernel.h"

/* ---- a request with everything in it ---- */

static const kiln__codegen_settings settings = {
    .backend = "host",
    .triple = "x86_64-unknown-linux-gnu",
    .processor = "x86-64",
    .features = "+avx",
    .options = "xnack+",
    .opt_level = 3,
    .debug_level = 1,
    .bounds_checks = 1,
    .fast_math = 1,
    .contract = 1,
    .entry_abi = 2,
    .sites = 3,
    .math_names = 4,
    .required_group_size = {5, 6, 7},
    .maximum_group_size = 8,
    .minimum_groups = 9,
    .maximum_registers = 10,
    .unroll = 11,
};
static const uint32_t callees[] = {1, 0};
static const kiln__codegen_place places[] = {{1, 2}, {UINT32_MAX, 3}};
static const char *const types[] = {"f32[:]", "i64"};
static const uint64_t sizes[] = {16, 8}, alignments[] = {8, 4};
static const kiln__codegen_external external = {
    "BC\0", 3, {types, sizes, alignments, 2}, "own.blur"};
static const kiln__codegen_function functions[] = {
    {"kernel", 6, "f0", callees, 2, NULL, NULL, 0, NULL, NULL, "p.kiln", places,
     2},
    {"power", 5, "f1", NULL, 0, "kiln_rt_power", "BC", 2, "kiln_call.0", NULL,
     NULL, NULL, 0},
    {"blur", 4, "f2", callees, 1, NULL, NULL, 0, NULL, &external, NULL, NULL,
     0},
};
static const kiln__codegen_import imports[] = {
    {"sin", "kiln_rt_sin", "bits", 4, 0},
    {"cos", "kiln_rt_cos", NULL, 0, 0},
};
static const kiln__codegen_site sites[] = {{"object", 1, UINT64_MAX}};
static const char module[] = "define i32 @k() {\n ret i32 0\n}\n";

static kiln__codegen_request full_request(void)
{
    return (kiln__codegen_request){
        .settings = &settings,
        .entry = "k",
        .form = KILN_EMIT_BINARY,
        .functions = functions,
        .function_count = 3,
        .module = module,
        .module_size = sizeof module - 1,
        .argument_types = types,
        .argument_sizes = sizes,
        .argument_alignments = alignments,
        .argument_count = 2,
        .imports = imports,
        .import_count = 2,
        .sites = sites,
        .site_count = 1,
        .library = "library",
        .wanted = "",
    };
}

/* Followed by a NUL, and no larger. */
static char *exact_copy(const void *bytes, size_t size)
{
    char *copy = test_malloc(size + 1);

    memcpy(copy, bytes, size);
    copy[size] = '\0';
    return copy;
}

static kiln_status decode(kiln__codegen_request *out, kiln__arena *arena,
                          const kiln__encoder *fields)
{
    kiln__arena_init(arena, &kiln__malloc);
    return kiln__wire_get_request(out, arena, fields->bytes, fields->size);
}

static void assert_equal_settings(const kiln__codegen_settings *a,
                                  const kiln__codegen_settings *b)
{
    assert_string_equal(a->backend, b->backend);
    assert_string_equal(a->triple, b->triple);
    assert_string_equal(a->processor, b->processor);
    assert_string_equal(a->features, b->features);
    assert_string_equal(a->options, b->options);
    assert_memory_equal(a->required_group_size, b->required_group_size,
                        sizeof a->required_group_size);
    /* A number of zero would be equal though it was not sent. */
#define ASSERT_EQUAL_NUMBER(type, member, most) \
    assert_int_not_equal(a->member, 0); \
    assert_int_equal(a->member, b->member);
    KILN__CODEGEN_NUMBER_MAP(ASSERT_EQUAL_NUMBER)
#undef ASSERT_EQUAL_NUMBER
}

static void assert_equal_externals(const kiln__codegen_external *a,
                                   const kiln__codegen_external *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a == NULL)
        return;
    assert_int_equal(a->module_size, b->module_size);
    assert_memory_equal(a->module, b->module, a->module_size);
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->arguments.count, b->arguments.count);
    for (size_t i = 0; i < a->arguments.count; i++) {
        assert_string_equal(a->arguments.types[i], b->arguments.types[i]);
        assert_int_equal(a->arguments.sizes[i], b->arguments.sizes[i]);
        assert_int_equal(a->arguments.alignments[i],
                         b->arguments.alignments[i]);
    }
}

static void assert_equal_functions(const kiln__codegen_request *made)
{
    assert_int_equal(made->function_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const kiln__codegen_function *a = &functions[i];
        const kiln__codegen_function *b = &made->functions[i];

        assert_int_equal(a->ir_size, b->ir_size);
        assert_memory_equal(a->ir, b->ir, a->ir_size);
        assert_string_equal(a->symbol, b->symbol);
        assert_int_equal(a->callee_count, b->callee_count);
        for (size_t k = 0; k < a->callee_count; k++)
            assert_int_equal(a->callees[k], b->callees[k]);
        assert_int_equal(a->bitcode_size, b->bitcode_size);
        assert_int_equal(a->bitcode == NULL, b->bitcode == NULL);
        assert_int_equal(a->runtime == NULL, b->runtime == NULL);
        assert_int_equal(a->called == NULL, b->called == NULL);
        if (a->called != NULL)
            assert_string_equal(a->called, b->called);
        assert_equal_externals(a->external, b->external);
        assert_int_equal(a->file == NULL, b->file == NULL);
        assert_int_equal(a->place_count, b->place_count);
        for (size_t k = 0; k < a->place_count; k++) {
            assert_int_equal(a->places[k].line, b->places[k].line);
            assert_int_equal(a->places[k].column, b->places[k].column);
        }
    }
}

static void a_request_comes_out_as_it_went_in(void **state)
{
    kiln__codegen_request request = full_request(), made;
    kiln__encoder fields;
    kiln__arena arena;
    char *copy;

    (void)state;
    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__wire_put_request(&fields, &request);
    copy = exact_copy(fields.bytes, fields.size);
    kiln__arena_init(&arena, &kiln__malloc);
    assert_int_equal(kiln__wire_get_request(&made, &arena, copy, fields.size),
                     KILN_OK);

    assert_equal_settings(made.settings, &settings);
    assert_equal_functions(&made);
    assert_string_equal(made.entry, "k");
    assert_int_equal(made.form, KILN_EMIT_BINARY);
    assert_int_equal(made.argument_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(made.argument_types[i], types[i]);
        assert_int_equal(made.argument_sizes[i], sizes[i]);
        assert_int_equal(made.argument_alignments[i], alignments[i]);
        assert_string_equal(made.imports[i].name, imports[i].name);
        assert_string_equal(made.imports[i].symbol, imports[i].symbol);
        assert_int_equal(made.imports[i].bitcode_size, imports[i].bitcode_size);
    }
    assert_null(made.imports[1].bitcode);
    assert_int_equal(made.site_count, 1);
    assert_string_equal(made.sites[0].name, "object");
    assert_true(made.sites[0].address == UINT64_MAX);
    assert_string_equal(made.library, "library");
    assert_string_equal(made.wanted, "");
    /* A text ends in NUL, though no copy was made. */
    assert_string_equal(made.module, module);
    test_free(copy);
    kiln__arena_dispose(&arena);
    kiln__encoder_dispose(&fields);
}

static void what_is_absent_stays_absent(void **state)
{
    kiln__codegen_settings plain = settings;
    kiln__codegen_request request = {.settings = &plain,
                                     .entry = "k",
                                     .functions = &functions[1],
                                     .function_count = 1};
    kiln__codegen_request made;
    kiln__encoder fields;
    kiln__arena arena;

    (void)state;
    plain.options = NULL;
    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__wire_put_request(&fields, &request);
    assert_int_equal(decode(&made, &arena, &fields), KILN_OK);
    assert_string_equal(made.settings->options, "");
    assert_null(made.module);
    assert_null(made.library);
    assert_null(made.wanted);
    assert_null(made.argument_sizes);
    assert_int_equal(made.import_count + made.site_count, 0);
    kiln__arena_dispose(&arena);
    kiln__encoder_dispose(&fields);
}

static void every_truncation_is_refused(void **state)
{
    const kiln__codegen_request request = full_request();
    kiln__codegen_request made;
    kiln__encoder fields;

    (void)state;
    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__wire_put_request(&fields, &request);
    for (size_t size = 0; size < fields.size; size++) {
        char *cut = exact_copy(fields.bytes, size);
        kiln__arena arena;

        kiln__arena_init(&arena, &kiln__malloc);
        assert_int_equal(kiln__wire_get_request(&made, &arena, cut, size),
                         KILN_ECORRUPT);
        kiln__arena_dispose(&arena);
        test_free(cut);
    }
    kiln__encoder_dispose(&fields);
}

static void assert_refused(const kiln__codegen_request *request)
{
    kiln__codegen_request made;
    kiln__encoder fields;
    kiln__arena arena;

    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__wire_put_request(&fields, request);
    assert_int_equal(decode(&made, &arena, &fields), KILN_ECORRUPT);
    kiln__arena_dispose(&arena);
    kiln__encoder_dispose(&fields);
}

static void what_generate_takes_for_granted_is_checked(void **state)
{
    static const uint32_t beyond[] = {2};
    kiln__codegen_function wrong[] = {functions[1], functions[1]};
    kiln__codegen_function placeless[] = {functions[0], functions[1]};
    kiln__codegen_settings odd = settings;
    kiln__codegen_request request = full_request();

    (void)state;
    request.function_count = 2;
    wrong[0].callees = beyond;
    wrong[0].callee_count = 1;
    request.functions = wrong;
    assert_refused(&request);

    request = full_request();
    placeless[0].place_count = 0;
    request.functions = placeless;
    request.function_count = 2;
    assert_refused(&request);

    request = full_request();
    odd.opt_level = 4;
    request.settings = &odd;
    assert_refused(&request);

    request = full_request();
    request.form = KILN__EMIT_CLOSURE;
    request.wanted = NULL;
    assert_refused(&request);

    request = full_request();
    request.module = NULL;
    request.function_count = 0;
    assert_refused(&request);
}

/* ---- results and heads ---- */

static void a_result_comes_out_as_it_went_in(void **state)
{
    const kiln_site_info site = {"object", 64, 8, 1};
    const kiln__codegen_tool tool = {
        "ptxas", "/a/ptxas", {{1, 2, 3, 4, 5, 6, -7}}};
    const kiln__codegen_result result = {.bytes = "\177ELF",
                                         .size = 4,
                                         .format = "elf",
                                         .relocation = 1,
                                         .session_reason = "a number",
                                         .sites = &site,
                                         .site_count = 1,
                                         .reports = "reports",
                                         .report_size = 7,
                                         .tools = &tool,
                                         .tool_count = 1,
                                         .can_fail = 1,
                                         .hidden_arguments = 2,
                                         .static_local_bytes = 3,
                                         .private_bytes = 4,
                                         .registers = 5,
                                         .spill_bytes = 7,
                                         .sub_group_size = 6,
                                         .stack_bytes = 8,
                                         .make_ns = UINT64_MAX};
    kiln__codegen_result made;
    kiln__encoder fields;
    kiln__arena arena;

    (void)state;
    kiln__arena_init(&arena, &kiln__malloc);
    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__wire_put_result(&fields, &result);
    assert_int_equal(
        kiln__wire_get_result(&made, &arena, fields.bytes, fields.size),
        KILN_OK);
    assert_int_equal(made.size, 4);
    assert_memory_equal(made.bytes, result.bytes, 4);
    assert_string_equal(made.format, "elf");
    assert_int_equal(made.relocation, 1);
    assert_string_equal(made.session_reason, "a number");
    assert_int_equal(made.site_count, 1);
    assert_string_equal(made.sites[0].name, "object");
    assert_int_equal(made.sites[0].offset, 64);
    assert_int_equal(made.sites[0].size, 8);
    assert_int_equal(made.sites[0].strategy, 1);
    assert_int_equal(made.report_size, 7);
    assert_memory_equal(made.reports, "reports", 7);
    assert_int_equal(made.tool_count, 1);
    assert_string_equal(made.tools[0].name, "ptxas");
    assert_string_equal(made.tools[0].path, "/a/ptxas");
    assert_true(kiln__file_stamp_is(&made.tools[0].file, &tool.file));
    assert_memory_equal(&made.can_fail, &result.can_fail,
                        sizeof result -
                            offsetof(kiln__codegen_result, can_fail));
    kiln__encoder_dispose(&fields);
    kiln__arena_dispose(&arena);
}

static void what_a_tool_failed_on_comes_out_as_it_went_in(void **state)
{
    const kiln__wire_kept kept = {".o", "a\0b", 3};
    kiln__wire_kept made;
    kiln__encoder fields;
    kiln__arena arena;

    (void)state;
    kiln__arena_init(&arena, &kiln__malloc);
    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__wire_put_kept(&fields, &kept);
    assert_int_equal(
        kiln__wire_get_kept(&made, &arena, fields.bytes, fields.size), KILN_OK);
    assert_string_equal(made.suffix, ".o");
    assert_int_equal(made.size, 3);
    assert_memory_equal(made.bytes, "a\0b", 3);
    for (size_t size = 0; size < fields.size; size++)
        assert_int_equal(kiln__wire_get_kept(&made, &arena, fields.bytes, size),
                         KILN_ECORRUPT);
    kiln__encoder_dispose(&fields);
    kiln__arena_dispose(&arena);
}

static void heads_are_checked(void **state)
{
    unsigned char head[KILN__WIRE_HEAD_SIZE];
    size_t size = 0;

    (void)state;
    for (int kind = KILN__WIRE_HELLO; kind < KILN__WIRE_KIND_END; kind++) {
        kiln__wire_put_head(head, kind, 1234567);
        assert_int_equal(kiln__wire_get_head(head, &size), kind);
        assert_int_equal(size, 1234567);
    }
    kiln__wire_put_head(head, KILN__WIRE_KIND_END, 1);
    assert_int_equal(kiln__wire_get_head(head, &size), 0);
    kiln__wire_put_head(head, KILN__WIRE_FAIL, KILN__WIRE_LARGEST + 1);
    assert_int_equal(kiln__wire_get_head(head, &size), 0);
    kiln__wire_put_head(head, KILN__WIRE_FAIL, KILN__WIRE_LARGEST);
    head[0] ^= 1;
    assert_int_equal(kiln__wire_get_head(head, &size), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_comes_out_as_it_went_in),
        cmocka_unit_test(what_is_absent_stays_absent),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(what_generate_takes_for_granted_is_checked),
        cmocka_unit_test(a_result_comes_out_as_it_went_in),
        cmocka_unit_test(what_a_tool_failed_on_comes_out_as_it_went_in),
        cmocka_unit_test(heads_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
