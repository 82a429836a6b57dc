/* ir_binary.c - writes and reads the persistent form of typed IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/endian.h"
#include "base/error.h"
#include "ir/ir_tables.h"

/*
 * The form is little-endian: "KIR\0", version, the function's members, then
 * each table as its count and its rows, in the order of struct kiln__ir. A text
 * is its size plus one and its bytes; 0 stands for no text. What follows from
 * the order, such as where operands and fields begin, is left out. So every
 * byte means something: decoding and encoding give the same bytes back.
 */

#define MAGIC 0x0052494bu /* "KIR\0" */

/* ---- encoding ---- */

static void put_u8(kiln__text *out, uint32_t value)
{
    const char byte = (char)(unsigned char)value;

    kiln__text_add_n(out, &byte, 1);
}

static void put_u16(kiln__text *out, uint16_t value)
{
    char bytes[2];

    kiln__le16_write(bytes, value);
    kiln__text_add_n(out, bytes, sizeof bytes);
}

static void put_u32(kiln__text *out, uint32_t value)
{
    char bytes[4];

    kiln__le32_write(bytes, value);
    kiln__text_add_n(out, bytes, sizeof bytes);
}

static void put_i64(kiln__text *out, int64_t value)
{
    char bytes[8];

    kiln__le64_write(bytes, (uint64_t)value);
    kiln__text_add_n(out, bytes, sizeof bytes);
}

static void put_text(kiln__text *out, const char *text)
{
    const size_t size = text == NULL ? 0 : strlen(text);

    if (size >= UINT32_MAX) {
        out->failed = 1;
        return;
    }
    put_u32(out, text == NULL ? 0 : (uint32_t)size + 1);
    if (text != NULL)
        kiln__text_add_n(out, text, size);
}

static void put_types(kiln__text *out, const kiln__ir *ir)
{
    put_u32(out, (uint32_t)ir->types.count);
    for (size_t i = 0; i < ir->types.count; i++) {
        const kiln__ir_type *type = &ir->types.items[i];

        put_u8(out, type->kind);
        put_u8(out, type->strided);
        put_u32(out, type->length);
        put_u32(out, type->element);
        put_i64(out, type->value);
        put_text(out, type->name);
    }
    put_u32(out, (uint32_t)ir->type_fields.count);
    for (size_t i = 0; i < ir->type_fields.count; i++)
        put_u32(out, ir->type_fields.items[i]);
}

static void put_tables(kiln__text *out, const kiln__ir *ir)
{
    put_u32(out, (uint32_t)ir->locals.count);
    for (size_t i = 0; i < ir->locals.count; i++) {
        put_u32(out, ir->locals.items[i].type);
        put_text(out, ir->locals.items[i].name);
    }
    put_u32(out, (uint32_t)ir->callees.count);
    for (size_t i = 0; i < ir->callees.count; i++) {
        put_u32(out, ir->callees.items[i].result);
        put_text(out, ir->callees.items[i].name);
    }
    put_u32(out, (uint32_t)ir->strings.count);
    for (size_t i = 0; i < ir->strings.count; i++)
        put_text(out, ir->strings.items[i]);
}

/* Node 0 is not written. */
static void put_nodes(kiln__text *out, const kiln__ir *ir)
{
    put_u32(out, (uint32_t)ir->nodes.count);
    for (size_t i = 1; i < ir->nodes.count; i++) {
        const kiln__ir_node *node = &ir->nodes.items[i];

        put_u16(out, node->op);
        put_u16(out, node->flags);
        put_u32(out, node->type);
        put_u32(out, node->ordinal);
        put_u32(out, node->count);
        put_i64(out, node->imm);
    }
    put_u32(out, (uint32_t)ir->operands.count);
    for (size_t i = 0; i < ir->operands.count; i++)
        put_u32(out, ir->operands.items[i]);
}

kiln_status kiln__ir_encode(const kiln__ir *ir, kiln_blob *out)
{
    kiln__text text;

    kiln__text_init(&text, ir->alloc);
    put_u32(&text, MAGIC);
    put_u32(&text, KILN__IR_VERSION);
    put_text(&text, ir->name);
    put_text(&text, ir->method);
    put_u32(&text, ir->kernel);
    put_u32(&text, ir->result);
    put_u32(&text, ir->parameter_count);
    put_u32(&text, ir->body);
    put_types(&text, ir);
    put_tables(&text, ir);
    put_nodes(&text, ir);
    return kiln__text_to_blob(&text, out);
}

/* ---- decoding ---- */

/* After the first failure, which `what` keeps, every read returns zeros. */
typedef struct reader {
    const unsigned char *bytes;
    size_t size;
    size_t at;
    const char *what; /* NULL: no failure so far */
    int no_memory;
    kiln__arena *arena; /* of texts */
    kiln__ir *ir;
} reader;

static void fail_reading(reader *r, const char *what)
{
    if (r->what == NULL)
        r->what = what;
}

static void fail_memory(reader *r)
{
    r->no_memory = 1;
    fail_reading(r, "out of memory");
}

/* Returns the next `size` bytes. After a failure it returns zeros; there are 8
   of them, which is enough for any one number. */
static const unsigned char *get_bytes(reader *r, size_t size)
{
    static const unsigned char zeros[8];
    const unsigned char *at = r->bytes + r->at;

    if (r->what == NULL && size > r->size - r->at)
        fail_reading(r, "it ends early");
    if (r->what != NULL)
        return zeros;
    r->at += size;
    return at;
}

static uint8_t get_u8(reader *r)
{
    return *get_bytes(r, 1);
}

static uint16_t get_u16(reader *r)
{
    return kiln__le16_read(get_bytes(r, 2));
}

static uint32_t get_u32(reader *r)
{
    return kiln__le32_read(get_bytes(r, 4));
}

static int64_t get_i64(reader *r)
{
    return (int64_t)kiln__le64_read(get_bytes(r, 8));
}

/* Reads a count of rows, each of which takes at least `row` bytes. */
static size_t get_count(reader *r, size_t row)
{
    const size_t count = get_u32(r);

    if (r->what == NULL &&
        (count > KILN__IR_NODES_MAX || count > (r->size - r->at) / row))
        fail_reading(r, "a table is larger than the data");
    return r->what == NULL ? count : 0;
}

static const char *get_text(reader *r)
{
    const size_t size = get_u32(r);
    const char *text;

    if (r->what != NULL || size == 0)
        return NULL;
    if (size - 1 > r->size - r->at) {
        fail_reading(r, "it ends early");
        return NULL;
    }
    if (memchr(r->bytes + r->at, 0, size - 1) != NULL) {
        fail_reading(r, "a text holds a NUL");
        return NULL;
    }
    text =
        kiln__arena_string(r->arena, (const char *)r->bytes + r->at, size - 1);
    if (text == NULL)
        fail_memory(r);
    r->at += size - 1;
    return text;
}

/* Reads a count and makes the array that long. */
#define get_array(r, array, row) \
    do { \
        const size_t count_ = get_count((r), (row)); \
        if (!kiln__array_reserve((r)->ir->alloc, (array), count_)) \
            fail_memory(r); \
        else \
            (array)->count = count_; \
    } while (0)

static void get_indices(reader *r, uint32_t *items, size_t count)
{
    for (size_t i = 0; i < count; i++)
        items[i] = get_u32(r);
}

static void get_types(reader *r)
{
    kiln__ir *ir = r->ir;
    uint32_t fields = 0;

    get_array(r, &ir->types, 22);
    for (size_t i = 0; i < ir->types.count; i++) {
        kiln__ir_type *type = &ir->types.items[i];

        memset(type, 0, sizeof *type);
        type->kind = get_u8(r);
        type->strided = get_u8(r);
        type->length = get_u32(r);
        type->element = get_u32(r);
        type->value = get_i64(r);
        type->name = get_text(r);
        if (!kiln__kind_has_fields(type->kind))
            continue;
        type->fields = fields;
        if (__builtin_add_overflow(fields, type->length, &fields))
            fail_reading(r, "a type is larger than the data");
    }
    get_array(r, &ir->type_fields, 4);
    get_indices(r, ir->type_fields.items, ir->type_fields.count);
}

static void get_tables(reader *r)
{
    kiln__ir *ir = r->ir;

    get_array(r, &ir->locals, 8);
    for (size_t i = 0; i < ir->locals.count; i++) {
        ir->locals.items[i].type = get_u32(r);
        ir->locals.items[i].name = get_text(r);
    }
    get_array(r, &ir->callees, 8);
    for (size_t i = 0; i < ir->callees.count; i++) {
        ir->callees.items[i].result = get_u32(r);
        ir->callees.items[i].name = get_text(r);
    }
    get_array(r, &ir->strings, 4);
    for (size_t i = 0; i < ir->strings.count; i++)
        ir->strings.items[i] = get_text(r);
}

static void get_nodes(reader *r)
{
    kiln__ir *ir = r->ir;
    const size_t count = get_u32(r);
    uint32_t operands = 0;

    if (r->what == NULL && (count < 2 || count > KILN__IR_NODES_MAX ||
                            count - 1 > (r->size - r->at) / 24))
        fail_reading(r, "the nodes are more than the data");
    if (r->what == NULL && !kiln__array_reserve(ir->alloc, &ir->nodes, count))
        fail_memory(r);
    if (r->what != NULL)
        return;
    memset(ir->nodes.items, 0, count * sizeof *ir->nodes.items);
    ir->nodes.count = count;
    for (size_t i = 1; i < count; i++) {
        kiln__ir_node *node = &ir->nodes.items[i];

        node->op = get_u16(r);
        node->flags = get_u16(r);
        node->type = get_u32(r);
        node->ordinal = get_u32(r);
        node->count = get_u32(r);
        node->imm = get_i64(r);
        node->operands = operands;
        if (__builtin_add_overflow(operands, node->count, &operands))
            fail_reading(r, "a node is larger than the data");
    }
    get_array(r, &ir->operands, 4);
    get_indices(r, ir->operands.items, ir->operands.count);
}

static const char *get_name(reader *r)
{
    if (get_u32(r) != MAGIC)
        fail_reading(r, "it does not begin like typed IR");
    if (get_u32(r) != KILN__IR_VERSION)
        fail_reading(r, "it has another version");
    return get_text(r);
}

static void get_function(reader *r)
{
    kiln__ir *ir = r->ir;

    ir->name = get_name(r);
    ir->method = get_text(r);
    ir->kernel = get_u32(r);
    ir->result = get_u32(r);
    ir->parameter_count = get_u32(r);
    ir->body = get_u32(r);
    get_types(r);
    get_tables(r);
    get_nodes(r);
    if (r->what == NULL && r->at != r->size)
        fail_reading(r, "something follows it");
}

kiln_status kiln__ir_decode(kiln__ir *ir, const kiln_alloc *alloc,
                            const void *bytes, size_t size, kiln_error **error)
{
    kiln__ir made;
    reader r = {
        .bytes = bytes, .size = size, .arena = &made.arena, .ir = &made};
    kiln_status status;

    kiln__ir_init(&made, alloc);
    get_function(&r);
    if (r.no_memory)
        status = kiln__error_no_memory(error);
    else if (r.what != NULL)
        status = kiln__error_set(error, KILN_ECORRUPT,
                                 "typed IR, at byte %zu: %s", r.at, r.what);
    else
        status = kiln__ir_verify(&made, error);
    if (status != KILN_OK) {
        kiln__ir_dispose(&made);
        return status;
    }
    *ir = made;
    return KILN_OK;
}

const char *kiln__ir_name(kiln__arena *arena, const void *bytes, size_t size)
{
    reader r = {.bytes = bytes, .size = size, .arena = arena};

    return get_name(&r);
}
