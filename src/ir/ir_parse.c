/* ir_parse.c - reads the text form of typed IR. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "base/system/stack.h"
#include "ir/ir_scan.h"
#include "ir/ir_text.h"

/* ir_print.c describes the grammar; ir_scan.c reads tokens, types and
   constants. */

/* ---- immediates ---- */

/* Reads %name.3 or %3. The name is left in scratch, which is empty without
   one. */
static int local_index(kiln__scanner *p, uint64_t *out)
{
    if (!kiln__scan_expect(p, '%', "a local is missing"))
        return 0;
    p->scratch.size = 0;
    kiln__text_add(&p->scratch, "");
    if (p->scratch.failed)
        return kiln__scan_fail_memory(p);
    if (kiln__scan_peek(p) >= '0' && kiln__scan_peek(p) <= '9')
        return kiln__scan_number(p, UINT32_MAX, out);
    if (!kiln__scan_word(p))
        return kiln__scan_fail(p, "the local's name is missing");
    if (!kiln__scan_take(p, '.'))
        return kiln__scan_fail(p, "the local's number is missing");
    return kiln__scan_number(p, UINT32_MAX, out);
}

static int local(kiln__scanner *p, int64_t *out)
{
    const kiln__ir_local *found;
    uint64_t index;

    kiln__scan_skip(p);
    if (!local_index(p, &index))
        return 0;
    if (index >= p->ir->locals.count)
        return kiln__scan_fail(p, "there is no such local");
    found = &p->ir->locals.items[index];
    if (p->scratch.size > 0 &&
        (found->name == NULL || strcmp(found->name, p->scratch.bytes) != 0))
        return kiln__scan_fail(p, "the local has another name");
    *out = (int64_t)index;
    return 1;
}

static int string(kiln__scanner *p, int64_t *out)
{
    uint32_t index;

    if (!kiln__scan_quoted(p) ||
        !kiln__scan_made(p,
                         kiln__ir_add_string(p->ir, p->scratch.bytes, &index)))
        return 0;
    *out = index;
    return 1;
}

static int callee(kiln__scanner *p, int64_t *out)
{
    uint32_t index;

    if (!kiln__scan_expect(p, '$', "a callee is missing") ||
        !kiln__scan_u32(p, &index))
        return 0;
    if (index >= p->ir->callees.count)
        return kiln__scan_fail(p, "there is no such callee");
    *out = index;
    return 1;
}

static int name(kiln__scanner *p, kiln__ir_immediate immediate, int64_t *out)
{
    size_t count;
    const kiln__ir_name_info *names = kiln__ir_names(immediate, &count);

    kiln__scan_skip(p);
    if (!kiln__scan_word(p))
        return kiln__scan_fail(p, "a name is missing");
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i].text, p->scratch.bytes) == 0) {
            *out = (int64_t)i;
            return 1;
        }
    return kiln__scan_fail(p, "the name is unknown");
}

static int query(kiln__scanner *p, int64_t *out)
{
    int64_t found;
    uint32_t dimension;

    if (!name(p, KILN__IMMEDIATE_QUERY, &found) ||
        !kiln__scan_u32(p, &dimension))
        return 0;
    if (dimension > 2)
        return kiln__scan_fail(p, "there is no such dimension");
    *out = found * 4 + dimension;
    return 1;
}

static int immediate(kiln__scanner *p, kiln__ir_node *node)
{
    const kiln__ir_immediate what = kiln__ir_ops[node->op].immediate;
    uint32_t index;

    switch (what) {
    case KILN__IMMEDIATE_NONE:
        return 1;
    case KILN__IMMEDIATE_BITS:
        return kiln__scan_constant(p, kiln__ir_kind(p->ir, node->type),
                                   &node->imm);
    case KILN__IMMEDIATE_LOCAL:
        return local(p, &node->imm);
    case KILN__IMMEDIATE_CALLEE:
        return callee(p, &node->imm);
    case KILN__IMMEDIATE_STRING:
        return string(p, &node->imm);
    case KILN__IMMEDIATE_QUERY:
        return query(p, &node->imm);
    case KILN__IMMEDIATE_MATH:
    case KILN__IMMEDIATE_ATOMIC:
    case KILN__IMMEDIATE_GROUP:
        return name(p, what, &node->imm);
    case KILN__IMMEDIATE_FIELD:
    case KILN__IMMEDIATE_DIMENSION:
    default:
        if (!kiln__scan_u32(p, &index))
            return 0;
        node->imm = index;
        return 1;
    }
}

/* ---- the tree ---- */

static int operation(kiln__scanner *p, kiln__ir_node *node)
{
    kiln__scan_skip(p);
    if (!kiln__scan_word(p))
        return kiln__scan_fail(p, "an operation is missing");
    for (uint32_t op = 1; op < KILN__IR_OP_COUNT; op++)
        if (strcmp(kiln__ir_ops[op].text, p->scratch.bytes) == 0) {
            node->op = (uint16_t)op;
            return 1;
        }
    return kiln__scan_fail(p, "the operation is unknown");
}

static int flags(kiln__scanner *p, kiln__ir_node *node)
{
    while (kiln__scan_peek(p) == '+' || kiln__scan_peek(p) == '-') {
        size_t i = 0;

        while (i < KILN__IR_FLAG_COUNT &&
               !kiln__scan_is_next(p, kiln__ir_flag_texts[i]))
            i++;
        if (i == KILN__IR_FLAG_COUNT)
            return kiln__scan_fail(p, "the switch is unknown");
        node->flags = (uint16_t)(node->flags | 1u << i);
        p->next += strlen(kiln__ir_flag_texts[i]);
    }
    return 1;
}

static int head(kiln__scanner *p, kiln__ir_node *node)
{
    if (!operation(p, node))
        return 0;
    if (kiln__scan_take(p, '@') && !kiln__scan_u32(p, &node->ordinal))
        return 0;
    if (!flags(p, node))
        return 0;
    node->type = p->none;
    if (!kiln__ir_ops[node->op].statement && node->op != KILN__IR_TEXT &&
        !kiln__scan_type(p, &node->type))
        return 0;
    return immediate(p, node);
}

static int add_node(kiln__scanner *p, const kiln__ir_node *node, size_t base,
                    uint32_t *out)
{
    const size_t count = p->operands.count - base;

    if (p->ir->nodes.count > KILN__IR_NODES_MAX)
        return kiln__scan_fail(p, "the function has more than 4000000 nodes");
    p->operands.count = base;
    return kiln__scan_made(
        p,
        kiln__ir_add_node(p->ir, node, count ? &p->operands.items[base] : NULL,
                          count, out));
}

static int node(kiln__scanner *p, uint32_t *out)
{
    kiln__ir_node read = {0};
    const size_t base = p->operands.count;
    uint32_t operand;

    kiln__scan_skip(p);
    if (kiln__scan_peek(p) == '%') {
        read.op = KILN__IR_LOCAL;
        if (!local(p, &read.imm))
            return 0;
        read.type = p->ir->locals.items[read.imm].type;
        return add_node(p, &read, base, out);
    }
    if (!kiln__scan_enter(p))
        return 0;
    if (!kiln__scan_expect(p, '(', "a parenthesis is missing") ||
        !head(p, &read))
        return 0;
    while (!kiln__scan_accept(p, ')')) {
        if (!node(p, &operand))
            return 0;
        if (!kiln__array_push(p->ir->alloc, &p->operands, operand))
            return kiln__scan_fail_memory(p);
    }
    p->depth--;
    return add_node(p, &read, base, out);
}

/* ---- the function ---- */

/* Reads the type of a local and, where the name could not follow %, the quoted
   name; adds the local. */
static int local_rest(kiln__scanner *p, const char *plain_name)
{
    uint32_t type, added;
    const char *name = plain_name;

    if (!kiln__scan_type(p, &type))
        return 0;
    kiln__scan_skip(p);
    if (name == NULL && kiln__scan_peek(p) == '"') {
        if (!kiln__scan_quoted(p))
            return 0;
        name = p->scratch.bytes;
    }
    return kiln__scan_made(p, kiln__ir_add_local(p->ir, name, type, &added)) &&
           kiln__scan_expect(p, ')', "a parenthesis is missing");
}

/* Reads what follows "(param" or "(local". */
static int local_declaration(kiln__scanner *p)
{
    char *name = NULL;
    uint64_t index;
    int fine;

    kiln__scan_skip(p);
    if (!local_index(p, &index))
        return 0;
    if (index != p->ir->locals.count)
        return kiln__scan_fail(p, "the local is out of order");
    if (p->scratch.size > 0) {
        name = kiln__string_copy(p->ir->alloc, p->scratch.bytes);
        if (name == NULL)
            return kiln__scan_fail_memory(p);
    }
    fine = local_rest(p, name);
    kiln__string_free(p->ir->alloc, name);
    return fine;
}

static int callee_declaration(kiln__scanner *p)
{
    uint32_t index, of, added;
    char *callee_name;
    int fine;

    if (!kiln__scan_expect(p, '$', "a callee is missing") ||
        !kiln__scan_u32(p, &index))
        return 0;
    if (index != p->ir->callees.count)
        return kiln__scan_fail(p, "the callee is out of order");
    if (!kiln__scan_quoted(p))
        return 0;
    callee_name = kiln__string_copy(p->ir->alloc, p->scratch.bytes);
    if (callee_name == NULL)
        return kiln__scan_fail_memory(p);
    fine =
        kiln__scan_type(p, &of) &&
        kiln__scan_made(p, kiln__ir_add_callee(p->ir, callee_name, of, &added));
    kiln__string_free(p->ir->alloc, callee_name);
    return fine && kiln__scan_expect(p, ')', "a parenthesis is missing");
}

static int result_declaration(kiln__scanner *p)
{
    return kiln__scan_type(p, &p->ir->result) &&
           kiln__scan_expect(p, ')', "a parenthesis is missing");
}

static int parameter_declaration(kiln__scanner *p)
{
    p->ir->parameter_count++;
    return local_declaration(p);
}

/* Declarations come in this order. Only the first comes at most once. */
static const struct {
    const char *word;
    int (*read)(kiln__scanner *p);
} declarations[] = {
    {"result", result_declaration},
    {"param", parameter_declaration},
    {"local", local_declaration},
    {"callee", callee_declaration},
};

#define DECLARATION_COUNT (sizeof declarations / sizeof *declarations)

/* Reads one declaration, which may not belong before `*stage`. Stores the first
   stage that may come next, or DECLARATION_COUNT at the body, which it does not
   read. */
static int declaration(kiln__scanner *p, size_t *stage)
{
    const char *begin;
    size_t i = 0;

    kiln__scan_skip(p);
    begin = p->next;
    if (!kiln__scan_expect(p, '(', "a parenthesis is missing"))
        return 0;
    kiln__scan_skip(p);
    if (!kiln__scan_word(p))
        return kiln__scan_fail(p, "a declaration is missing");
    while (i < DECLARATION_COUNT &&
           strcmp(p->scratch.bytes, declarations[i].word) != 0)
        i++;
    if (i < *stage)
        return kiln__scan_fail(p, "the declaration is out of order");
    *stage = i == 0 ? 1 : i;
    if (i < DECLARATION_COUNT)
        return declarations[i].read(p);
    p->next = begin;
    return 1;
}

static int quoted_name(kiln__scanner *p, const char **out)
{
    if (!kiln__scan_quoted(p))
        return 0;
    *out = kiln__arena_string(&p->ir->arena, p->scratch.bytes, p->scratch.size);
    return *out != NULL ? 1 : kiln__scan_fail_memory(p);
}

static int function(kiln__scanner *p)
{
    size_t stage = 0;

    if (!kiln__scan_expect(p, '(', "a function is missing") ||
        (kiln__scan_skip(p), !kiln__scan_word(p)) ||
        strcmp(p->scratch.bytes, "function") != 0)
        return kiln__scan_fail(p, "a function is missing");
    if (!quoted_name(p, &p->ir->name) || !quoted_name(p, &p->ir->method))
        return 0;
    if (!kiln__scan_made(p, kiln__ir_scalar(p->ir, KILN_TYPE_NONE, &p->none)))
        return 0;
    p->ir->result = p->none;
    kiln__scan_skip(p);
    if (kiln__scan_is_next(p, "kernel")) {
        p->next += strlen("kernel");
        p->ir->kernel = 1;
    }
    while (stage < DECLARATION_COUNT)
        if (!declaration(p, &stage))
            return 0;
    if (!node(p, &p->ir->body) ||
        !kiln__scan_expect(p, ')', "the function does not end"))
        return 0;
    kiln__scan_skip(p);
    return p->next == p->end
               ? 1
               : kiln__scan_fail(p, "something follows the function");
}

/* ---- failures ---- */

static kiln_status report(kiln__scanner *p, const char *file,
                          kiln_error **error)
{
    const char *line = p->text, *line_end = p->next;
    kiln_diagnostic diagnostic = {.severity = KILN_SEVERITY_ERROR,
                                  .code = "typed-ir-syntax",
                                  .message = p->what};
    uint32_t number_of_line = 1;

    for (const char *c = p->text; c < p->next; c++)
        if (*c == '\n') {
            number_of_line++;
            line = c + 1;
        }
    while (line_end < p->end && *line_end != '\n')
        line_end++;
    diagnostic.location = (kiln_location){
        .file = file,
        .line = number_of_line,
        .column = (uint32_t)(p->next - line) + 1,
    };
    diagnostic.source_line =
        kiln__arena_string(&p->ir->arena, line, (size_t)(line_end - line));
    return kiln__error_set_diagnostics(
        error, KILN_ESYNTAX, "the typed IR cannot be read", &diagnostic, 1);
}

kiln_status kiln__ir_parse(kiln__ir *ir, const kiln_alloc *alloc,
                           const char *file, const char *text, size_t size,
                           kiln_error **error)
{
    kiln__ir read;
    kiln__scanner p = {
        .ir = &read, .text = text, .next = text, .end = text + size};
    kiln_status status;

    kiln__ir_init(&read, alloc);
    kiln__text_init(&p.scratch, alloc);
    if (function(&p))
        status = kiln__ir_verify(&read, error);
    else if (p.shortage != KILN_OK)
        status = kiln__error_shortage(error, p.shortage);
    else
        status = report(&p, file, error);
    kiln__text_dispose(&p.scratch);
    kiln__array_dispose(alloc, &p.operands);
    if (status != KILN_OK) {
        kiln__ir_dispose(&read);
        return status;
    }
    *ir = read;
    return KILN_OK;
}
