/* codegen_wire.c - encodes and decodes requests and results. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "codegen_client/codegen_wire.h"

#include <stddef.h>
#include <string.h>

#include "base/data/endian.h"
#include "base/error.h"
#include "codegen_client/wire_fields.h"
#include "codegen_client/wire_settings.h"

/*
 * Each put_ function is followed by a get_ function that reads the same fields
 * in the same order. Reading goes on after a fault, with zeros and empty texts,
 * and is judged at the end; so nothing here may use a count or an index that
 * was not checked.
 */

/* A new member of one of these structs must be added to this file and to these
   numbers. `begun` and `group_form` of a request are not sent: the tool belongs
   to its own process, and only tests inside one process choose a form. */
_Static_assert(sizeof(kiln__codegen_function) == 13 * sizeof(void *),
               "function");
_Static_assert(sizeof(kiln__codegen_import) == 5 * sizeof(void *), "import");
_Static_assert(sizeof(kiln__codegen_site) == 3 * sizeof(void *), "site");
_Static_assert(sizeof(kiln__codegen_request) == 29 * sizeof(void *), "request");
_Static_assert(sizeof(kiln__codegen_result) == 24 * sizeof(void *), "result");

/* ---- heads ---- */

static const unsigned char magic[4] = {'K', 'i', 'l', 'n'};

void kiln__wire_put_head(unsigned char head[KILN__WIRE_HEAD_SIZE], int kind,
                         size_t size)
{
    memset(head, 0, KILN__WIRE_HEAD_SIZE);
    memcpy(head, magic, sizeof magic);
    head[4] = (unsigned char)kind;
    kiln__le64_write(head + 8, size);
}

int kiln__wire_get_head(const unsigned char head[KILN__WIRE_HEAD_SIZE],
                        size_t *size)
{
    const uint64_t stated = kiln__le64_read(head + 8);

    if (memcmp(head, magic, sizeof magic) != 0 || head[4] == 0 ||
        head[4] >= KILN__WIRE_KIND_END || head[5] || head[6] || head[7] ||
        stated > KILN__WIRE_LARGEST)
        return 0;
    *size = (size_t)stated;
    return head[4];
}

/* ---- hello, ready, notes ---- */

void kiln__wire_put_hello(kiln__encoder *out, const kiln__wire_hello *hello)
{
    kiln__encode_u64(out, hello->abi);
    kiln__encode_text(out, hello->build_id);
    kiln__encode_text(out, hello->library);
    kiln__encode_u64(out, hello->is_given);
    kiln__encode_u64(out, hello->memory);
}

kiln_status kiln__wire_get_hello(kiln__wire_hello *out, kiln__arena *arena,
                                 const void *bytes, size_t size)
{
    kiln__wire_reading r;

    kiln__wire_begin(&r, arena, bytes, size);
    out->abi = kiln__read_u64(&r.reader);
    out->build_id = kiln__wire_get_text(&r);
    out->library = kiln__wire_get_text(&r);
    out->is_given = kiln__wire_get_at_most(&r, 1);
    out->memory = kiln__read_u64(&r.reader);
    return kiln__wire_end(&r);
}

void kiln__wire_put_ready(kiln__encoder *out, const kiln__wire_ready *ready)
{
    kiln__encode_u64(out, ready->abi);
    kiln__encode_text(out, ready->build_id);
    kiln__encode_text(out, ready->codegen_id);
    kiln__encode_text(out, ready->llvm_id);
    kiln__encode_text(out, ready->llvm_path);
}

kiln_status kiln__wire_get_ready(kiln__wire_ready *out, kiln__arena *arena,
                                 const void *bytes, size_t size)
{
    kiln__wire_reading r;

    kiln__wire_begin(&r, arena, bytes, size);
    out->abi = kiln__read_u64(&r.reader);
    out->build_id = kiln__wire_get_text(&r);
    out->codegen_id = kiln__wire_get_text(&r);
    out->llvm_id = kiln__wire_get_text(&r);
    out->llvm_path = kiln__wire_get_text(&r);
    return kiln__wire_end(&r);
}

void kiln__wire_put_note(kiln__encoder *out, const kiln__wire_note *note)
{
    kiln__encode_i64(out, note->number);
    kiln__encode_u64(out, note->value);
    kiln__encode_text(out, note->text != NULL ? note->text : "");
}

kiln_status kiln__wire_get_note(kiln__wire_note *out, kiln__arena *arena,
                                const void *bytes, size_t size)
{
    kiln__wire_reading r;

    kiln__wire_begin(&r, arena, bytes, size);
    out->number = kiln__read_i64(&r.reader);
    out->value = kiln__read_u64(&r.reader);
    out->text = kiln__wire_get_text(&r);
    return kiln__wire_end(&r);
}

/* ---- requests ---- */

/* The first field of each request, so that a kept file says what it is. */
#define REQUEST_NAME "Kiln codegen request"

/* A source place is encoded as one number. */
static void put_places(kiln__encoder *out, const kiln__codegen_function *f)
{
    kiln__encode_text(out, f->file);
    kiln__encode_u64(out, f->place_count);
    for (size_t i = 0; i < f->place_count; i++)
        kiln__encode_u64(out, (uint64_t)f->places[i].line << 32 |
                                  f->places[i].column);
}

static void get_places(kiln__wire_reading *r, kiln__codegen_function *f)
{
    kiln__codegen_place *places;

    f->file = kiln__wire_get_text_or_none(r);
    places = kiln__wire_get_array(r, &f->place_count, KILN__WIRE_NUMBER,
                                  sizeof *places);
    for (size_t i = 0; i < f->place_count; i++) {
        const uint64_t place = kiln__read_u64(&r->reader);

        places[i].line = (uint32_t)(place >> 32);
        places[i].column = (uint32_t)place;
    }
    f->places = places;
    /* The definition always has a place. */
    r->reader.failed |= f->file != NULL && f->place_count == 0;
}

static void put_arguments(kiln__encoder *out,
                          const kiln__codegen_arguments *arguments)
{
    const int has_sizes =
        arguments->sizes != NULL && arguments->alignments != NULL;

    kiln__encode_u64(out, (uint64_t)has_sizes);
    kiln__encode_u64(out, arguments->count);
    for (size_t i = 0; i < arguments->count; i++) {
        kiln__encode_text(out, arguments->types[i]);
        kiln__encode_u64(out, has_sizes ? arguments->sizes[i] : 0);
        kiln__encode_u64(out, has_sizes ? arguments->alignments[i] : 0);
    }
}

static void get_arguments(kiln__wire_reading *r, kiln__codegen_arguments *out)
{
    const uint64_t has_sizes = kiln__wire_get_at_most(r, 1);
    const char **types =
        kiln__wire_get_array(r, &out->count, KILN__WIRE_FIELD, sizeof *types);
    uint64_t *sizes =
        kiln__arena_allocate_array(r->arena, out->count + 1, sizeof *sizes);
    uint64_t *alignments = kiln__arena_allocate_array(r->arena, out->count + 1,
                                                      sizeof *alignments);

    if (types == NULL || sizes == NULL || alignments == NULL) {
        r->no_memory = 1;
        return;
    }
    for (size_t i = 0; i < out->count; i++) {
        types[i] = kiln__wire_get_text(r);
        sizes[i] = kiln__read_u64(&r->reader);
        alignments[i] = kiln__read_u64(&r->reader);
    }
    out->types = types;
    out->sizes = has_sizes ? sizes : NULL;
    out->alignments = has_sizes ? alignments : NULL;
}

static void put_root_arguments(kiln__encoder *out,
                               const kiln__codegen_request *request)
{
    const kiln__codegen_arguments arguments = {
        request->argument_types, request->argument_sizes,
        request->argument_alignments, request->argument_count};

    put_arguments(out, &arguments);
}

static void get_root_arguments(kiln__wire_reading *r,
                               kiln__codegen_request *out)
{
    kiln__codegen_arguments arguments = {0};

    get_arguments(r, &arguments);
    out->argument_types = arguments.types;
    out->argument_sizes = arguments.sizes;
    out->argument_alignments = arguments.alignments;
    out->argument_count = arguments.count;
}

/* An external function has a module; any other has none. */
static void put_external(kiln__encoder *out,
                         const kiln__codegen_external *external)
{
    kiln__wire_put_bytes(out, external != NULL ? external->module : NULL,
                         external != NULL ? external->module_size : 0);
    if (external == NULL)
        return;
    put_arguments(out, &external->arguments);
    kiln__encode_text(out, external->name);
}

static const kiln__codegen_external *get_external(kiln__wire_reading *r)
{
    kiln__codegen_external *external;
    size_t size;
    const void *module = kiln__wire_get_bytes(r, &size);

    if (module == NULL)
        return NULL;
    external = kiln__arena_allocate(r->arena, sizeof *external);
    if (external == NULL) {
        r->no_memory = 1;
        return NULL;
    }
    external->module = module;
    external->module_size = size;
    get_arguments(r, &external->arguments);
    external->name = kiln__wire_get_text(r);
    return external;
}

static void put_functions(kiln__encoder *out,
                          const kiln__codegen_request *request)
{
    kiln__encode_u64(out, request->function_count);
    for (size_t i = 0; i < request->function_count; i++) {
        const kiln__codegen_function *f = &request->functions[i];

        kiln__encode_bytes(out, f->ir, f->ir_size);
        kiln__encode_text(out, f->symbol);
        kiln__encode_u64(out, f->callee_count);
        for (size_t k = 0; k < f->callee_count; k++)
            kiln__encode_u64(out, f->callees[k]);
        kiln__encode_text(out, f->runtime);
        kiln__wire_put_bytes(out, f->bitcode, f->bitcode_size);
        kiln__encode_text(out, f->called);
        put_external(out, f->external);
        put_places(out, f);
    }
}

static void get_callees(kiln__wire_reading *r, kiln__codegen_function *f,
                        size_t functions)
{
    uint32_t *callees = kiln__wire_get_array(
        r, &f->callee_count, KILN__WIRE_NUMBER, sizeof *callees);

    for (size_t i = 0; i < f->callee_count; i++) {
        const uint64_t callee = kiln__read_u64(&r->reader);

        r->reader.failed |= callee >= functions || callee > UINT32_MAX;
        callees[i] = (uint32_t)callee;
    }
    f->callees = callees;
}

static void get_functions(kiln__wire_reading *r, kiln__codegen_request *out)
{
    kiln__codegen_function *functions = kiln__wire_get_array(
        r, &out->function_count, 4 * KILN__WIRE_FIELD, sizeof *functions);

    for (size_t i = 0; i < out->function_count; i++) {
        kiln__codegen_function *f = &functions[i];
        const kiln__span_of_bytes ir = kiln__read_bytes(&r->reader);

        f->ir = ir.data;
        f->ir_size = ir.size;
        f->symbol = kiln__wire_get_text(r);
        get_callees(r, f, out->function_count);
        f->runtime = kiln__wire_get_text_or_none(r);
        f->bitcode = kiln__wire_get_bytes(r, &f->bitcode_size);
        f->called = kiln__wire_get_text_or_none(r);
        f->external = get_external(r);
        get_places(r, f);
    }
    out->functions = functions;
}

static void put_imports(kiln__encoder *out,
                        const kiln__codegen_request *request)
{
    kiln__encode_u64(out, request->import_count);
    for (size_t i = 0; i < request->import_count; i++) {
        const kiln__codegen_import *import = &request->imports[i];

        kiln__encode_text(out, import->name);
        kiln__encode_text(out, import->symbol);
        kiln__wire_put_bytes(out, import->bitcode, import->bitcode_size);
        kiln__encode_i64(out, import->is_needed);
    }
}

static void get_imports(kiln__wire_reading *r, kiln__codegen_request *out)
{
    kiln__codegen_import *imports = kiln__wire_get_array(
        r, &out->import_count, 5 * KILN__WIRE_FIELD, sizeof *imports);

    for (size_t i = 0; i < out->import_count; i++) {
        imports[i].name = kiln__wire_get_text(r);
        imports[i].symbol = kiln__wire_get_text(r);
        imports[i].bitcode = kiln__wire_get_bytes(r, &imports[i].bitcode_size);
        imports[i].is_needed = kiln__read_i64(&r->reader);
    }
    out->imports = imports;
}

static void put_sites(kiln__encoder *out, const kiln__codegen_request *request)
{
    kiln__encode_u64(out, request->site_count);
    for (size_t i = 0; i < request->site_count; i++) {
        kiln__encode_text(out, request->sites[i].name);
        kiln__encode_i64(out, request->sites[i].kind);
        kiln__encode_u64(out, request->sites[i].address);
    }
}

static void get_sites(kiln__wire_reading *r, kiln__codegen_request *out)
{
    kiln__codegen_site *sites = kiln__wire_get_array(
        r, &out->site_count, 3 * KILN__WIRE_FIELD, sizeof *sites);

    for (size_t i = 0; i < out->site_count; i++) {
        sites[i].name = kiln__wire_get_text(r);
        sites[i].kind = kiln__wire_get_i32(r);
        sites[i].address = kiln__read_u64(&r->reader);
    }
    out->sites = sites;
}

/* The module comes last, so that the NUL after the message is also after the
   module; texts need it. */
void kiln__wire_put_request(kiln__encoder *out,
                            const kiln__codegen_request *request)
{
    kiln__encode_text(out, REQUEST_NAME);
    kiln__encode_u64(out, KILN__CODEGEN_ABI);
    kiln__wire_put_settings(out, request->settings);
    kiln__encode_text(out, request->entry);
    kiln__encode_i64(out, request->form);
    put_functions(out, request);
    put_root_arguments(out, request);
    put_imports(out, request);
    put_sites(out, request);
    kiln__encode_text(out, request->library);
    kiln__encode_text(out, request->wanted);
    kiln__wire_put_bytes(out, request->module, request->module_size);
}

/* Checks what generate() assumes about each form. */
static void check_form(kiln__wire_reading *r,
                       const kiln__codegen_request *request)
{
    const int is_closure = request->form == KILN__EMIT_CLOSURE;

    r->reader.failed |=
        is_closure && (request->module == NULL || request->library == NULL ||
                       request->wanted == NULL);
    r->reader.failed |=
        request->module == NULL &&
        (request->function_count == 0 || request->form == KILN__EMIT_DEFERRED);
}

kiln_status kiln__wire_get_request(kiln__codegen_request *out,
                                   kiln__arena *arena, const void *bytes,
                                   size_t size)
{
    kiln__wire_reading r;
    const char *name;

    *out = (kiln__codegen_request){0};
    kiln__wire_begin(&r, arena, bytes, size);
    name = kiln__wire_get_text(&r);
    if (strcmp(name, REQUEST_NAME) != 0 ||
        kiln__read_u64(&r.reader) != KILN__CODEGEN_ABI)
        return KILN_ECORRUPT;
    out->settings = kiln__wire_get_settings(&r);
    out->entry = kiln__wire_get_text(&r);
    out->form = kiln__wire_get_i32(&r);
    get_functions(&r, out);
    get_root_arguments(&r, out);
    get_imports(&r, out);
    get_sites(&r, out);
    out->library = kiln__wire_get_text_or_none(&r);
    out->wanted = kiln__wire_get_text_or_none(&r);
    out->module = kiln__wire_get_bytes(&r, &out->module_size);
    check_form(&r, out);
    return kiln__wire_end(&r);
}

/* ---- results ---- */

void kiln__wire_put_result(kiln__encoder *out,
                           const kiln__codegen_result *result)
{
    kiln__encode_text(out, result->format);
    kiln__encode_i64(out, result->relocation);
    kiln__encode_text(out, result->session_reason);
    kiln__encode_u64(out, result->site_count);
    for (size_t i = 0; i < result->site_count; i++) {
        kiln__encode_text(out, result->sites[i].name);
        kiln__encode_u64(out, result->sites[i].offset);
        kiln__encode_u64(out, result->sites[i].size);
        kiln__encode_u64(out, result->sites[i].strategy);
    }
    kiln__encode_u64(out, result->tool_count);
    for (size_t i = 0; i < result->tool_count; i++) {
        kiln__encode_text(out, result->tools[i].name);
        kiln__encode_text(out, result->tools[i].path);
        for (int k = 0; k < KILN__STAMP_NUMBERS; k++)
            kiln__encode_i64(out, result->tools[i].file.numbers[k]);
    }
    kiln__wire_put_bytes(out, result->reports, result->report_size);
    kiln__wire_put_bytes(out, result->facts, result->fact_size);
    kiln__wire_put_bytes(out, result->deferred, result->deferred_size);
    kiln__wire_put_checks(out, result->checks, result->check_count);
    kiln__encode_i64(out, result->can_fail);
    kiln__encode_i64(out, result->allocates);
    kiln__encode_i64(out, result->dynamic_local);
    kiln__encode_i64(out, result->any_block);
    kiln__encode_u64(out, result->inner_dimension);
    kiln__encode_u64(out, result->hidden_arguments);
    kiln__encode_u64(out, result->static_local_bytes);
    kiln__encode_u64(out, result->private_bytes);
    kiln__encode_u64(out, result->registers);
    kiln__encode_u64(out, result->spill_bytes);
    kiln__encode_u64(out, result->sub_group_size);
    kiln__encode_u64(out, result->stack_bytes);
    kiln__encode_u64(out, result->make_ns);
    kiln__encode_bytes(out, result->bytes, result->size);
}

static void get_result_sites(kiln__wire_reading *r, kiln__codegen_result *out)
{
    kiln_site_info *sites = kiln__wire_get_array(
        r, &out->site_count, 4 * KILN__WIRE_FIELD, sizeof *sites);

    for (size_t i = 0; i < out->site_count; i++) {
        sites[i].name = kiln__wire_get_text(r);
        sites[i].offset = kiln__read_u64(&r->reader);
        sites[i].size = (uint32_t)kiln__wire_get_at_most(r, UINT32_MAX);
        sites[i].strategy = (uint32_t)kiln__wire_get_at_most(r, UINT32_MAX);
    }
    out->sites = sites;
}

static void get_result_tools(kiln__wire_reading *r, kiln__codegen_result *out)
{
    kiln__codegen_tool *tools = kiln__wire_get_array(
        r, &out->tool_count,
        2 * KILN__WIRE_FIELD + KILN__STAMP_NUMBERS * KILN__WIRE_NUMBER,
        sizeof *tools);

    for (size_t i = 0; i < out->tool_count; i++) {
        tools[i].name = kiln__wire_get_text(r);
        tools[i].path = kiln__wire_get_text(r);
        for (int k = 0; k < KILN__STAMP_NUMBERS; k++)
            tools[i].file.numbers[k] = kiln__read_i64(&r->reader);
    }
    out->tools = tools;
}

kiln_status kiln__wire_get_result(kiln__codegen_result *out, kiln__arena *arena,
                                  const void *bytes, size_t size)
{
    kiln__span_of_bytes payload;
    kiln__wire_reading r;

    *out = (kiln__codegen_result){0};
    kiln__wire_begin(&r, arena, bytes, size);
    out->format = kiln__wire_get_text(&r);
    out->relocation = kiln__wire_get_i32(&r);
    out->session_reason = kiln__wire_get_text_or_none(&r);
    get_result_sites(&r, out);
    get_result_tools(&r, out);
    out->reports = kiln__wire_get_bytes(&r, &out->report_size);
    out->facts = kiln__wire_get_bytes(&r, &out->fact_size);
    out->deferred = kiln__wire_get_bytes(&r, &out->deferred_size);
    out->checks = kiln__wire_get_checks(&r, &out->check_count);
    out->can_fail = kiln__wire_get_i32(&r);
    out->allocates = kiln__wire_get_i32(&r);
    out->dynamic_local = kiln__wire_get_i32(&r);
    out->any_block = kiln__wire_get_i32(&r);
    out->inner_dimension = (uint32_t)kiln__wire_get_at_most(&r, 2);
    out->hidden_arguments = (uint32_t)kiln__wire_get_at_most(&r, UINT32_MAX);
    out->static_local_bytes = (uint32_t)kiln__wire_get_at_most(&r, UINT32_MAX);
    out->private_bytes = (uint32_t)kiln__wire_get_at_most(&r, UINT32_MAX);
    out->registers = (uint32_t)kiln__wire_get_at_most(&r, UINT32_MAX);
    out->spill_bytes = (uint32_t)kiln__wire_get_at_most(&r, UINT32_MAX);
    out->sub_group_size = (uint32_t)kiln__wire_get_at_most(&r, UINT32_MAX);
    out->stack_bytes = (uint32_t)kiln__wire_get_at_most(&r, UINT32_MAX);
    out->make_ns = kiln__read_u64(&r.reader);
    payload = kiln__read_bytes(&r.reader);
    out->bytes = payload.data != NULL ? payload.data : "";
    out->size = payload.size;
    return kiln__wire_end(&r);
}

/* ---- inputs that a tool failed on ---- */

void kiln__wire_put_kept(kiln__encoder *out, const kiln__wire_kept *kept)
{
    kiln__encode_text(out, kept->suffix);
    kiln__encode_bytes(out, kept->bytes, kept->size);
}

kiln_status kiln__wire_get_kept(kiln__wire_kept *out, kiln__arena *arena,
                                const void *bytes, size_t size)
{
    kiln__span_of_bytes input;
    kiln__wire_reading r;

    kiln__wire_begin(&r, arena, bytes, size);
    out->suffix = kiln__wire_get_text(&r);
    input = kiln__read_bytes(&r.reader);
    out->bytes = input.data != NULL ? input.data : "";
    out->size = input.size;
    return kiln__wire_end(&r);
}
