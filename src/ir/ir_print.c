/* ir_print.c - writes typed IR as text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <math.h>

#include "base/data/float_bits.h"
#include "base/system/stack.h"
#include "ir/ir_tables.h"
#include "ir/ir_text.h"

/*
 * The text form, which ir_parse.c reads back:
 *
 *     (function "main.scale(f32[:], f32)" "main.scale#12ab"
 *       kernel
 *       (param %y.0 f32[:])
 *       (param %a.1 f32)
 *       (local %i.2 i64)
 *       (callee $0 "main.half(f32)" f32)
 *       (block
 *         (set %i.2 (query i64 global_id 0))
 *         (if (lt bool %i.2 (length i64 %y.0))
 *           (block
 *             (store@3-bounds %y.0 %i.2
 *               (mul+fast f32 (load@2 f32 %y.0 %i.2) %a.1))))))
 *
 * An operation may have @ordinal and the switches +bounds, -bounds, +fast and
 * -fast. Its type follows (except for statements and texts), then its immediate
 * and its operands. A function with a result has (result TYPE) after kernel.
 * Declarations come in this order. %2 and $0 alone mean the same as %i.2 and
 * $0 with a name. (local TYPE %i.2) is the long form of %i.2, for a node that
 * has an ordinal or switches. `;` begins a comment.
 */

typedef struct printer {
    kiln__text *out;
    const kiln__ir *ir;
    kiln_status status;
} printer;

static void quoted(kiln__text *out, const char *text)
{
    kiln__text_add(out, "\"");
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            kiln__text_format(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            kiln__text_format(out, "\\x%02x", (unsigned)c);
        else
            kiln__text_add_n(out, text, 1);
    }
    kiln__text_add(out, "\"");
}

/* ---- types ---- */

static void print_type(printer *p, uint32_t index);

static void print_fields(printer *p, const kiln__ir_type *type)
{
    kiln__text_add(p->out, "(");
    for (size_t i = 0; i < type->length; i++) {
        if (i > 0)
            kiln__text_add(p->out, ", ");
        print_type(p, kiln__ir_field(p->ir, type, i));
    }
    kiln__text_add(p->out, type->length == 1 ? ",)" : ")");
}

static void print_array(printer *p, const kiln__ir_type *type)
{
    print_type(p, type->element);
    kiln__text_add(p->out, type->strided ? "[strided " : "[");
    for (size_t i = 0; i < type->length; i++)
        kiln__text_add(p->out, i > 0 ? ",:" : ":");
    kiln__text_add(p->out, "]");
}

/* Recursion is bounded: types nest at most KILN__IR_TYPE_DEPTH_MAX deep. */
static void print_type(printer *p, uint32_t index)
{
    const kiln__ir_type *type = kiln__ir_type_at(p->ir, index);

    switch (type->kind) {
    case KILN_TYPE_TUPLE:
        print_fields(p, type);
        break;
    case KILN_TYPE_STRUCT:
        kiln__text_add(p->out, "struct ");
        quoted(p->out, type->name);
        kiln__text_add(p->out, " ");
        print_fields(p, type);
        break;
    case KILN_TYPE_VECTOR:
        kiln__text_add(p->out, "Vec{");
        print_type(p, type->element);
        kiln__text_format(p->out, ",%" PRIu32 "}", type->length);
        break;
    case KILN_TYPE_ARRAY:
        print_array(p, type);
        break;
    case KILN_TYPE_STATIC:
        kiln__text_format(p->out, "Static{%" PRId64 "}", type->value);
        break;
    case KILN_TYPE_FUNCTION:
    case KILN_TYPE_TYPE:
        kiln__text_add(p->out,
                       type->kind == KILN_TYPE_TYPE ? "Type{" : "Function{");
        quoted(p->out, type->name);
        kiln__text_add(p->out, "}");
        break;
    default:
        kiln__text_add(p->out, kiln__ir_kind_text(type->kind));
        break;
    }
}

/* ---- leaves ---- */

/* Prints the shortest decimal that reads back exactly, or hexadecimal. printf
   is not used for decimals, since its decimal point depends on the locale. */
static void print_float(printer *p, int32_t kind, double value)
{
    double scale = 1, magnitude = fabs(value);

    for (int digits = 0; digits <= 9 && magnitude < 1e15; digits++) {
        const double scaled = nearbyint(magnitude * scale);

        if (scaled < 1e15 &&
            kiln__ir_same_bits(kiln__ir_round(kind, scaled / scale),
                               magnitude)) {
            const uint64_t whole = (uint64_t)scaled / (uint64_t)scale;
            const uint64_t rest = (uint64_t)scaled % (uint64_t)scale;

            kiln__text_format(p->out, "%s%" PRIu64, signbit(value) ? "-" : "",
                              whole);
            if (digits > 0)
                kiln__text_format(p->out, ".%0*" PRIu64, digits, rest);
            else
                kiln__text_add(p->out, ".0");
            return;
        }
        scale *= 10;
    }
    kiln__text_format(p->out, "0x%016" PRIx64, kiln__f64_bits(value));
}

static void print_constant(printer *p, const kiln__ir_node *node)
{
    const int32_t kind = kiln__ir_kind(p->ir, node->type);

    if (kind == KILN_TYPE_BOOL)
        kiln__text_add(p->out, node->imm ? "true" : "false");
    else if (kind == KILN_TYPE_U64)
        kiln__text_format(p->out, "%" PRIu64, (uint64_t)node->imm);
    else if (kiln__kind_is_integer(kind))
        kiln__text_format(p->out, "%" PRId64, node->imm);
    else
        print_float(p, kind, kiln__f64_from_bits((uint64_t)node->imm));
}

static void print_local(printer *p, int64_t index)
{
    const char *name = p->ir->locals.items[index].name;

    if (name != NULL && kiln__ir_is_plain_name(name))
        kiln__text_format(p->out, "%%%s.%" PRId64, name, index);
    else
        kiln__text_format(p->out, "%%%" PRId64, index);
}

static void print_immediate(printer *p, const kiln__ir_node *node)
{
    const kiln__ir_immediate immediate = kiln__ir_ops[node->op].immediate;
    const int64_t imm = node->imm;

    if (immediate == KILN__IMMEDIATE_NONE)
        return;
    kiln__text_add(p->out, " ");
    switch (immediate) {
    case KILN__IMMEDIATE_BITS:
        print_constant(p, node);
        break;
    case KILN__IMMEDIATE_LOCAL:
        print_local(p, imm);
        break;
    case KILN__IMMEDIATE_CALLEE:
        kiln__text_format(p->out, "$%" PRId64, imm);
        break;
    case KILN__IMMEDIATE_STRING:
        quoted(p->out, p->ir->strings.items[imm]);
        break;
    case KILN__IMMEDIATE_MATH:
        kiln__text_add(p->out, kiln__ir_math[imm].text);
        break;
    case KILN__IMMEDIATE_QUERY:
        kiln__text_format(p->out, "%s %" PRId64, kiln__ir_query[imm / 4].text,
                          imm % 4);
        break;
    case KILN__IMMEDIATE_ATOMIC:
        kiln__text_add(p->out, kiln__ir_atomic[imm].text);
        break;
    case KILN__IMMEDIATE_GROUP:
        kiln__text_add(p->out, kiln__ir_group[imm].text);
        break;
    case KILN__IMMEDIATE_NONE:
    case KILN__IMMEDIATE_FIELD:
    case KILN__IMMEDIATE_DIMENSION:
    default:
        kiln__text_format(p->out, "%" PRId64, imm);
        break;
    }
}

/* ---- the tree ---- */

/* Nodes deeper than this are not indented further, or the text would be mostly
   blanks. */
#define INDENT_MAX 40

static void new_line(printer *p, size_t indent)
{
    const size_t shown = indent < INDENT_MAX ? indent : INDENT_MAX;

    kiln__text_format(p->out, "\n%*s", (int)(shown * 2), "");
}

static void print_head(printer *p, const kiln__ir_node *node)
{
    kiln__text_format(p->out, "(%s", kiln__ir_ops[node->op].text);
    if (node->ordinal != 0)
        kiln__text_format(p->out, "@%" PRIu32, node->ordinal);
    for (size_t i = 0; i < KILN__IR_FLAG_COUNT; i++)
        if (node->flags & 1u << i)
            kiln__text_add(p->out, kiln__ir_flag_texts[i]);
    if (!kiln__ir_ops[node->op].statement && node->op != KILN__IR_TEXT) {
        kiln__text_add(p->out, " ");
        print_type(p, node->type);
    }
    print_immediate(p, node);
}

static void print_node(printer *p, uint32_t index, size_t indent)
{
    const kiln__ir_node *node = kiln__ir_node_at(p->ir, index);

    if (kiln__stack_is_low())
        p->status = KILN_ESTACK;
    if (p->status != KILN_OK)
        return;
    if (node->op == KILN__IR_LOCAL && node->ordinal == 0 && node->flags == 0) {
        print_local(p, node->imm);
        return;
    }
    print_head(p, node);
    for (size_t i = 0; i < node->count; i++) {
        const uint32_t operand = kiln__ir_operand(p->ir, node, i);

        if (kiln__ir_ops[kiln__ir_node_at(p->ir, operand)->op].statement)
            new_line(p, indent + 1);
        else
            kiln__text_add(p->out, " ");
        print_node(p, operand, indent + 1);
    }
    kiln__text_add(p->out, ")");
}

static void print_locals(printer *p)
{
    for (size_t i = 0; i < p->ir->locals.count; i++) {
        const kiln__ir_local *local = &p->ir->locals.items[i];

        kiln__text_add(p->out, i < p->ir->parameter_count ? "\n  (param "
                                                          : "\n  (local ");
        print_local(p, (int64_t)i);
        kiln__text_add(p->out, " ");
        print_type(p, local->type);
        if (local->name != NULL && !kiln__ir_is_plain_name(local->name)) {
            kiln__text_add(p->out, " ");
            quoted(p->out, local->name);
        }
        kiln__text_add(p->out, ")");
    }
}

static void print_callees(printer *p)
{
    for (size_t i = 0; i < p->ir->callees.count; i++) {
        kiln__text_format(p->out, "\n  (callee $%zu ", i);
        quoted(p->out, p->ir->callees.items[i].name);
        kiln__text_add(p->out, " ");
        print_type(p, p->ir->callees.items[i].result);
        kiln__text_add(p->out, ")");
    }
}

kiln_status kiln__ir_print(const kiln__ir *ir, kiln__text *out)
{
    printer p = {.out = out, .ir = ir};

    kiln__text_add(out, "(function ");
    quoted(out, ir->name);
    kiln__text_add(out, " ");
    quoted(out, ir->method);
    if (ir->kernel)
        kiln__text_add(out, "\n  kernel");
    if (kiln__ir_kind(ir, ir->result) != KILN_TYPE_NONE) {
        kiln__text_add(out, "\n  (result ");
        print_type(&p, ir->result);
        kiln__text_add(out, ")");
    }
    print_locals(&p);
    print_callees(&p);
    new_line(&p, 1);
    print_node(&p, ir->body, 1);
    kiln__text_add(out, ")\n");
    return out->failed ? KILN_ENOMEM : p.status;
}
