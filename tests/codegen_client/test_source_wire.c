/* test_source_wire.c - sources and what comes of them as bytes, and back. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen */
#include "support/harness.h"

#include <stdlib.h>
#include <string.h>

#include "codegen_client/source_wire.h"

static const char *const options[] = {"-DN=3", "-w"};

static const kiln__source_value values[] = {
    {.name = "a",
     .type = "__global const float4 *",
     .kind = KILN__SOURCE_POINTER,
     .element = KILN_TYPE_F32,
     .lanes = 4,
     .space = 1,
     .is_read_only = 1,
     .is_restrict = 1,
     .size = 16,
     .alignment = 32},
    {.name = "", .type = "void", .kind = KILN__SOURCE_VOID},
};
static const uint32_t needs[] = {1, 0};
static const kiln__source_function functions[] = {
    {.name = "k",
     .symbol = "k#1",
     .refusal = "it lacks",
     .is_kernel = 1,
     .required_group_size = {1, 2, 3},
     .group_size_hint = {4, 5, 6},
     .result = {.name = "", .type = "void"},
     .parameters = values,
     .parameter_count = 2,
     .bitcode = "BC\0code",
     .bitcode_size = 7,
     .needs = needs,
     .need_count = 2},
};
static const kiln__source_function declarations[] = {
    {.name = "f",
     .symbol = "f",
     .refusal = "",
     .result = {.name = "", .type = "int"}},
    {.name = "g",
     .symbol = "g",
     .refusal = "",
     .result = {.name = "", .type = "int"}},
};
static const kiln__source_file files[] = {
    {.path = "/a.h", .found = KILN__SOURCE_READ, .digest = {{1, 2, 3}}},
    {.path = "/b.h", .same = 1},
};
static const kiln__source_note notes[] = {
    {KILN_SEVERITY_WARNING, "a.cl", 7, 8, "text", "quote"},
    {KILN_SEVERITY_ERROR, NULL, 0, 0, "no place", NULL},
};

static void put_answer(kiln__encoder *fields, int32_t status)
{
    const kiln__source_answer answer = {.status = status,
                                        .message = status ? "why" : NULL,
                                        .result = {.functions = functions,
                                                   .function_count = 1,
                                                   .declarations = declarations,
                                                   .declaration_count = 2,
                                                   .files = files,
                                                   .file_count = 2,
                                                   .notes = notes,
                                                   .note_count = 2,
                                                   .tokens = {{9, 8}},
                                                   .names_files = 1,
                                                   .make_ns = 77}};

    kiln__encoder_init(fields, &kiln__malloc);
    kiln__wire_put_source_answer(fields, &answer);
    assert_false(fields->failed);
}

static void a_source_comes_out_as_it_went_in(void **state)
{
    const kiln__source_request request = {.form = KILN__SOURCE_MODULES,
                                          .name = "a.cl",
                                          .text = "kernel\0void",
                                          .size = 11,
                                          .folder = "/here",
                                          .options = options,
                                          .option_count = 2,
                                          .has_f16 = 1};
    kiln__source_request made;
    kiln__encoder fields;
    kiln__arena arena;

    (void)state;
    kiln__encoder_init(&fields, &kiln__malloc);
    kiln__arena_init(&arena, &kiln__malloc);
    kiln__wire_put_source(&fields, &request);
    assert_ok(kiln__wire_get_source(&made, &arena, fields.bytes, fields.size));
    assert_int_equal(made.form, KILN__SOURCE_MODULES);
    assert_string_equal(made.name, "a.cl");
    assert_int_equal(made.size, 11);
    assert_memory_equal(made.text, "kernel\0void", 11);
    assert_string_equal(made.folder, "/here");
    assert_int_equal(made.option_count, 2);
    assert_string_equal(made.options[1], "-w");
    assert_false(made.has_f64);
    assert_true(made.has_f16);
    for (size_t size = 0; size < fields.size; size++)
        assert_int_equal(
            kiln__wire_get_source(&made, &arena, fields.bytes, size),
            KILN_ECORRUPT);
    kiln__encoder_dispose(&fields);
    kiln__arena_dispose(&arena);
}

static void check_function(const kiln__source_function *f)
{
    assert_string_equal(f->name, "k");
    assert_string_equal(f->symbol, "k#1");
    assert_string_equal(f->refusal, "it lacks");
    assert_true(f->is_kernel);
    assert_int_equal(f->required_group_size[2], 3);
    assert_int_equal(f->group_size_hint[0], 4);
    assert_int_equal(f->parameter_count, 2);
    assert_string_equal(f->parameters[0].type, "__global const float4 *");
    assert_int_equal(f->parameters[0].kind, KILN__SOURCE_POINTER);
    assert_int_equal(f->parameters[0].element, KILN_TYPE_F32);
    assert_int_equal(f->parameters[0].lanes, 4);
    assert_int_equal(f->parameters[0].space, 1);
    assert_true(f->parameters[0].is_read_only);
    assert_true(f->parameters[0].is_restrict);
    assert_int_equal(f->parameters[0].size, 16);
    assert_int_equal(f->parameters[0].alignment, 32);
    assert_int_equal(f->bitcode_size, 7);
    assert_memory_equal(f->bitcode, "BC\0code", 7);
    assert_int_equal(f->need_count, 2);
    assert_int_equal(f->needs[0], 1);
}

static void an_answer_comes_out_as_it_went_in(void **state)
{
    kiln__source_answer made;
    kiln__encoder fields;
    kiln__arena arena;

    (void)state;
    put_answer(&fields, KILN_ECOMPILE);
    kiln__arena_init(&arena, &kiln__malloc);
    assert_ok(
        kiln__wire_get_source_answer(&made, &arena, fields.bytes, fields.size));
    assert_int_equal(made.status, KILN_ECOMPILE);
    assert_string_equal(made.message, "why");
    assert_int_equal(made.result.function_count, 1);
    check_function(&made.result.functions[0]);
    assert_int_equal(made.result.declaration_count, 2);
    assert_null(made.result.declarations[1].bitcode);
    assert_string_equal(made.result.declarations[1].result.type, "int");
    assert_int_equal(made.result.file_count, 2);
    assert_string_equal(made.result.files[0].path, "/a.h");
    assert_int_equal(made.result.files[0].found, KILN__SOURCE_READ);
    assert_int_equal(made.result.files[0].digest.bytes[2], 3);
    assert_int_equal(made.result.files[0].same, 0);
    assert_int_equal(made.result.files[1].found, KILN__SOURCE_MISSING);
    assert_int_equal(made.result.files[1].same, 1);
    assert_int_equal(made.result.note_count, 2);
    assert_string_equal(made.result.notes[0].quote, "quote");
    assert_int_equal(made.result.notes[0].column, 8);
    assert_null(made.result.notes[1].file);
    assert_int_equal(made.result.tokens.bytes[1], 8);
    assert_int_equal(made.result.names_files, 1);
    assert_int_equal(made.result.make_ns, 77);
    kiln__encoder_dispose(&fields);
    kiln__arena_dispose(&arena);
}

static void faulty_answers_are_refused(void **state)
{
    kiln__source_answer made;
    kiln__encoder fields;
    kiln__arena arena;
    size_t refused = 0;

    (void)state;
    put_answer(&fields, KILN_OK);
    kiln__arena_init(&arena, &kiln__malloc);
    for (size_t size = 0; size < fields.size; size++)
        assert_int_equal(
            kiln__wire_get_source_answer(&made, &arena, fields.bytes, size),
            KILN_ECORRUPT);
    /* whatever a byte becomes, reading ends, with indices in their range */
    for (size_t i = 0; i < fields.size; i++) {
        fields.bytes[i] ^= 0xff;
        if (kiln__wire_get_source_answer(&made, &arena, fields.bytes,
                                         fields.size) != KILN_OK)
            refused++;
        else
            for (size_t k = 0; k < made.result.function_count; k++)
                for (size_t n = 0; n < made.result.functions[k].need_count; n++)
                    assert_true(made.result.functions[k].needs[n] <
                                made.result.declaration_count);
        fields.bytes[i] ^= 0xff;
    }
    assert_true(refused > fields.size / 2);
    kiln__encoder_dispose(&fields);
    kiln__arena_dispose(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_comes_out_as_it_went_in),
        cmocka_unit_test(an_answer_comes_out_as_it_went_in),
        cmocka_unit_test(faulty_answers_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
