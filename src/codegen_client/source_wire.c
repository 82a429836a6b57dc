/* source_wire.c - encodes and decodes messages about sources. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_client/source_wire.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"

/* Each put_ function is followed by a get_ function that reads the same fields
   in the same order. A new member of one of these structs must be added to
   this file and to these numbers. */
_Static_assert(sizeof(kiln__source_request) == 8 * sizeof(void *), "request");
_Static_assert(sizeof(kiln__source_value) == 7 * sizeof(void *), "value");
_Static_assert(sizeof(kiln__source_function) == 20 * sizeof(void *),
               "function");
_Static_assert(sizeof(kiln__source_file) == 6 * sizeof(void *), "file");
_Static_assert(sizeof(kiln__source_note) == 5 * sizeof(void *), "note");
_Static_assert(offsetof(kiln__source_result, arena) == 14 * sizeof(void *),
               "result");

/* The first field of a request, so that a kept file says what it is. */
#define SOURCE_NAME "Kiln source request"

/* ---- requests ---- */

static void put_texts(kiln__encoder *out, const char *const *texts,
                      size_t count)
{
    kiln__encode_u64(out, count);
    for (size_t i = 0; i < count; i++)
        kiln__encode_text(out, texts[i]);
}

static const char *const *get_texts(kiln__wire_reading *r, size_t *count)
{
    const char **texts =
        kiln__wire_get_array(r, count, KILN__WIRE_FIELD, sizeof *texts);

    for (size_t i = 0; i < *count; i++)
        texts[i] = kiln__wire_get_text(r);
    return texts;
}

void kiln__wire_put_source(kiln__encoder *out,
                           const kiln__source_request *request)
{
    kiln__encode_text(out, SOURCE_NAME);
    kiln__encode_i64(out, request->form);
    kiln__encode_text(out, request->name);
    kiln__wire_put_bytes(out, request->text, request->size);
    kiln__encode_text(out, request->folder);
    put_texts(out, request->options, request->option_count);
    kiln__encode_u64(out, request->has_f64 != 0);
    kiln__encode_u64(out, request->has_f16 != 0);
}

kiln_status kiln__wire_get_source(kiln__source_request *out, kiln__arena *arena,
                                  const void *bytes, size_t size)
{
    kiln__wire_reading r;

    *out = (kiln__source_request){0};
    kiln__wire_begin(&r, arena, bytes, size);
    if (strcmp(kiln__wire_get_text(&r), SOURCE_NAME) != 0)
        return KILN_ECORRUPT;
    out->form = kiln__wire_get_i32(&r);
    out->name = kiln__wire_get_text(&r);
    out->text = kiln__wire_get_bytes(&r, &out->size);
    if (out->text == NULL)
        out->text = "";
    out->folder = kiln__wire_get_text(&r);
    out->options = get_texts(&r, &out->option_count);
    out->has_f64 = (int32_t)kiln__wire_get_at_most(&r, 1);
    out->has_f16 = (int32_t)kiln__wire_get_at_most(&r, 1);
    return kiln__wire_end(&r);
}

/* ---- functions ---- */

static void put_value(kiln__encoder *out, const kiln__source_value *value)
{
    kiln__encode_text(out, value->name);
    kiln__encode_text(out, value->type);
    kiln__encode_i64(out, value->kind);
    kiln__encode_i64(out, value->element);
    kiln__encode_u64(out, value->lanes);
    kiln__encode_u64(out, value->space);
    kiln__encode_u64(out, value->is_read_only != 0);
    kiln__encode_u64(out, value->is_restrict != 0);
    kiln__encode_u64(out, value->size);
    kiln__encode_u64(out, value->alignment);
}

static void get_value(kiln__wire_reading *r, kiln__source_value *out)
{
    out->name = kiln__wire_get_text(r);
    out->type = kiln__wire_get_text(r);
    out->kind = kiln__wire_get_i32(r);
    out->element = kiln__wire_get_i32(r);
    out->lanes = (uint32_t)kiln__wire_get_at_most(r, UINT32_MAX);
    out->space = (uint32_t)kiln__wire_get_at_most(r, UINT32_MAX);
    out->is_read_only = (int32_t)kiln__wire_get_at_most(r, 1);
    out->is_restrict = (int32_t)kiln__wire_get_at_most(r, 1);
    out->size = kiln__read_u64(&r->reader);
    out->alignment = kiln__read_u64(&r->reader);
    r->reader.failed |= out->kind < KILN__SOURCE_VOID ||
                        out->kind > KILN__SOURCE_LOCAL || out->element < 0 ||
                        out->element >= KILN_TYPE_KIND_COUNT;
}

static void put_functions(kiln__encoder *out,
                          const kiln__source_function *functions, size_t count)
{
    kiln__encode_u64(out, count);
    for (size_t i = 0; i < count; i++) {
        const kiln__source_function *f = &functions[i];

        kiln__encode_text(out, f->name);
        kiln__encode_text(out, f->symbol);
        kiln__encode_text(out, f->refusal);
        kiln__encode_u64(out, f->is_kernel != 0);
        for (int k = 0; k < 3; k++) {
            kiln__encode_u64(out, f->required_group_size[k]);
            kiln__encode_u64(out, f->group_size_hint[k]);
        }
        put_value(out, &f->result);
        kiln__encode_u64(out, f->parameter_count);
        for (size_t k = 0; k < f->parameter_count; k++)
            put_value(out, &f->parameters[k]);
        kiln__wire_put_bytes(out, f->bitcode, f->bitcode_size);
        kiln__encode_u64(out, f->need_count);
        for (size_t k = 0; k < f->need_count; k++)
            kiln__encode_u64(out, f->needs[k]);
    }
}

static void get_parameters(kiln__wire_reading *r, kiln__source_function *out)
{
    kiln__source_value *parameters = kiln__wire_get_array(
        r, &out->parameter_count, 10 * KILN__WIRE_FIELD, sizeof *parameters);

    for (size_t i = 0; i < out->parameter_count; i++)
        get_value(r, &parameters[i]);
    out->parameters = parameters;
}

static void get_needs(kiln__wire_reading *r, kiln__source_function *out)
{
    uint32_t *needs = kiln__wire_get_array(r, &out->need_count,
                                           KILN__WIRE_NUMBER, sizeof *needs);

    for (size_t i = 0; i < out->need_count; i++)
        needs[i] = (uint32_t)kiln__wire_get_at_most(r, UINT32_MAX);
    out->needs = needs;
}

static const kiln__source_function *get_functions(kiln__wire_reading *r,
                                                  size_t *count)
{
    kiln__source_function *functions = kiln__wire_get_array(
        r, count, 14 * KILN__WIRE_FIELD, sizeof *functions);

    for (size_t i = 0; i < *count; i++) {
        kiln__source_function *f = &functions[i];

        f->name = kiln__wire_get_text(r);
        f->symbol = kiln__wire_get_text(r);
        f->refusal = kiln__wire_get_text(r);
        f->is_kernel = (int32_t)kiln__wire_get_at_most(r, 1);
        for (int k = 0; k < 3; k++) {
            f->required_group_size[k] =
                (uint32_t)kiln__wire_get_at_most(r, UINT32_MAX);
            f->group_size_hint[k] =
                (uint32_t)kiln__wire_get_at_most(r, UINT32_MAX);
        }
        get_value(r, &f->result);
        get_parameters(r, f);
        f->bitcode = kiln__wire_get_bytes(r, &f->bitcode_size);
        get_needs(r, f);
    }
    return functions;
}

void kiln__wire_put_source_functions(kiln__encoder *out,
                                     const kiln__source_result *result)
{
    put_functions(out, result->functions, result->function_count);
    put_functions(out, result->declarations, result->declaration_count);
}

/* Needs are indices into the declarations. */
static void check_needs(kiln__wire_reading *r,
                        const kiln__source_result *result)
{
    for (size_t i = 0; i < result->function_count; i++)
        for (size_t k = 0; k < result->functions[i].need_count; k++)
            r->reader.failed |=
                result->functions[i].needs[k] >= result->declaration_count;
}

void kiln__wire_get_source_functions(kiln__wire_reading *r,
                                     kiln__source_result *out)
{
    out->functions = get_functions(r, &out->function_count);
    out->declarations = get_functions(r, &out->declaration_count);
    check_needs(r, out);
}

/* ---- files and notes ---- */

static void put_files(kiln__encoder *out, const kiln__source_result *result)
{
    kiln__encode_u64(out, result->file_count);
    for (size_t i = 0; i < result->file_count; i++) {
        const kiln__source_file *file = &result->files[i];

        kiln__encode_text(out, file->path);
        kiln__encode_u64(out, (uint64_t)file->found);
        kiln__encode_u64(out, file->same);
        kiln__encode_digest(out, file->digest);
    }
}

static void get_files(kiln__wire_reading *r, kiln__source_result *out)
{
    kiln__source_file *files = kiln__wire_get_array(
        r, &out->file_count, 4 * KILN__WIRE_FIELD, sizeof *files);

    for (size_t i = 0; i < out->file_count; i++) {
        files[i].path = kiln__wire_get_text(r);
        files[i].found = (int32_t)kiln__wire_get_at_most(r, KILN__SOURCE_READ);
        files[i].same = (uint32_t)kiln__wire_get_at_most(r, i);
        files[i].digest = kiln__read_digest(&r->reader);
    }
    out->files = files;
}

static void put_notes(kiln__encoder *out, const kiln__source_result *result)
{
    kiln__encode_u64(out, result->note_count);
    for (size_t i = 0; i < result->note_count; i++) {
        const kiln__source_note *note = &result->notes[i];

        kiln__encode_i64(out, note->severity);
        kiln__encode_text(out, note->file);
        kiln__encode_u64(out, note->line);
        kiln__encode_u64(out, note->column);
        kiln__encode_text(out, note->text);
        kiln__encode_text(out, note->quote);
    }
}

static void get_notes(kiln__wire_reading *r, kiln__source_result *out)
{
    kiln__source_note *notes = kiln__wire_get_array(
        r, &out->note_count, 6 * KILN__WIRE_FIELD, sizeof *notes);

    for (size_t i = 0; i < out->note_count; i++) {
        notes[i].severity = kiln__wire_get_i32(r);
        notes[i].file = kiln__wire_get_text_or_none(r);
        notes[i].line = (uint32_t)kiln__wire_get_at_most(r, UINT32_MAX);
        notes[i].column = (uint32_t)kiln__wire_get_at_most(r, UINT32_MAX);
        notes[i].text = kiln__wire_get_text(r);
        notes[i].quote = kiln__wire_get_text_or_none(r);
    }
    out->notes = notes;
}

/* ---- answers ---- */

void kiln__wire_put_source_answer(kiln__encoder *out,
                                  const kiln__source_answer *answer)
{
    const kiln__source_result *result = &answer->result;

    kiln__encode_i64(out, answer->status);
    kiln__encode_text(out, answer->message);
    kiln__wire_put_source_functions(out, result);
    put_files(out, result);
    put_notes(out, result);
    kiln__encode_digest(out, result->tokens);
    kiln__encode_u64(out, result->names_files != 0);
    kiln__encode_u64(out, result->make_ns);
}

kiln_status kiln__wire_get_source_answer(kiln__source_answer *out,
                                         kiln__arena *arena, const void *bytes,
                                         size_t size)
{
    kiln__source_result *result = &out->result;
    kiln__wire_reading r;

    *out = (kiln__source_answer){0};
    kiln__wire_begin(&r, arena, bytes, size);
    out->status = kiln__wire_get_i32(&r);
    out->message = kiln__wire_get_text_or_none(&r);
    kiln__wire_get_source_functions(&r, result);
    get_files(&r, result);
    get_notes(&r, result);
    result->tokens = kiln__read_digest(&r.reader);
    result->names_files = (int32_t)kiln__wire_get_at_most(&r, 1);
    result->make_ns = kiln__read_u64(&r.reader);
    r.reader.failed |= !kiln__status_is_known(out->status) ||
                       (out->status != KILN_OK && out->message == NULL);
    return kiln__wire_end(&r);
}
