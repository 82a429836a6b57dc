/* gradient.c - a compiler that differentiates typed IR of the language. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/gradient.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/data/array.h"
#include "base/data/memory.h"
#include "ir/ir.h"

#define PREFIX "grad."
#define CALLEES 8

/* A derivative that is being made: the primal's IR, and what is called for
   it. */
typedef struct deriving {
    gradient *g;
    kiln_inference *inference;
    const kiln_code *primal;
    kiln__ir ir;
    kiln__text text;
    uint32_t values[CALLEES];       /* place of each of the primal's callees */
    uint32_t slopes[CALLEES];       /* place of each of their derivatives */
    const char *names[2 * CALLEES]; /* by place */
    uint32_t count;
} deriving;

/* ---- expressions ---- */

static const kiln__ir_node *node_at(const deriving *d, uint32_t index)
{
    return &d->ir.nodes.items[index];
}

static uint32_t operand(const deriving *d, const kiln__ir_node *node,
                        uint32_t index)
{
    return d->ir.operands.items[node->operands + index];
}

static void value(deriving *d, uint32_t index);
static void slope(deriving *d, uint32_t index);

typedef void (*writer)(deriving *d, uint32_t index);

static void binary(deriving *d, const char *op, writer left, uint32_t a,
                   writer right, uint32_t b)
{
    kiln__text_format(&d->text, "(%s f64 ", op);
    left(d, a);
    kiln__text_add(&d->text, " ");
    right(d, b);
    kiln__text_add(&d->text, ")");
}

static void constant(deriving *d, const kiln__ir_node *node)
{
    double number;
    char text[40];

    memcpy(&number, &node->imm, sizeof number);
    (void)snprintf(text, sizeof text, "%.17g", number);
    kiln__text_format(&d->text, "(const f64 %s%s)", text,
                      strpbrk(text, ".e") ? "" : ".0");
}

static void call(deriving *d, uint32_t place, uint32_t argument)
{
    kiln__text_format(&d->text, "(call f64 $%u ", place);
    value(d, argument);
    kiln__text_add(&d->text, ")");
}

static void value(deriving *d, uint32_t index)
{
    const kiln__ir_node *node = node_at(d, index);

    switch (node->op) {
    case KILN__IR_LOCAL:
        kiln__text_add(&d->text, "%x.0");
        break;
    case KILN__IR_CONST:
        constant(d, node);
        break;
    case KILN__IR_CALL:
        call(d, d->values[node->imm], operand(d, node, 0));
        break;
    case KILN__IR_ADD:
    case KILN__IR_SUB:
    case KILN__IR_MUL:
        binary(d, kiln__ir_op_name((kiln__ir_op)node->op), value,
               operand(d, node, 0), value, operand(d, node, 1));
        break;
    default:
        d->text.failed = 1;
    }
}

static void product(deriving *d, uint32_t a, uint32_t b)
{
    binary(d, "mul", slope, a, value, b);
    kiln__text_add(&d->text, " ");
    binary(d, "mul", value, a, slope, b);
}

static void slope(deriving *d, uint32_t index)
{
    const kiln__ir_node *node = node_at(d, index);

    switch (node->op) {
    case KILN__IR_LOCAL:
        kiln__text_add(&d->text, "(const f64 1.0)");
        break;
    case KILN__IR_CONST:
        kiln__text_add(&d->text, "(const f64 0.0)");
        break;
    case KILN__IR_CALL:
        kiln__text_add(&d->text, "(mul f64 ");
        call(d, d->slopes[node->imm], operand(d, node, 0));
        kiln__text_add(&d->text, " ");
        slope(d, operand(d, node, 0));
        kiln__text_add(&d->text, ")");
        break;
    case KILN__IR_ADD:
    case KILN__IR_SUB:
        binary(d, kiln__ir_op_name((kiln__ir_op)node->op), slope,
               operand(d, node, 0), slope, operand(d, node, 1));
        break;
    case KILN__IR_MUL:
        kiln__text_add(&d->text, "(add f64 ");
        product(d, operand(d, node, 0), operand(d, node, 1));
        kiln__text_add(&d->text, ")");
        break;
    default:
        d->text.failed = 1;
    }
}

/* ---- functions ---- */

kiln_status gradient_of(const kiln_function **out, gradient *g,
                        const char *function, kiln_error **error)
{
    char name[128];

    (void)snprintf(name, sizeof name, PREFIX "%s", function);
    return kiln_function_new(out, g->frontend, name, NULL, error);
}

static kiln_status primal_of(kiln_signature *out, const gradient *g,
                             const kiln_function *derivative,
                             kiln_error **error)
{
    const char *name = kiln_function_name(derivative) + strlen(PREFIX);
    const char *dot = strchr(name, '.');
    kiln_package *package = NULL;
    char owner[64];

    (void)snprintf(owner, sizeof owner, "%.*s", (int)(dot - name), name);
    if (kiln_package_find(&package, g->context, owner) != KILN_OK)
        return kiln_error_set(error, KILN_ENOTFOUND, "no package %s", owner);
    out->count = 1;
    return kiln_package_function(&out->function, package, dot + 1, error);
}

/* Finds the primal in the world of this inference, which will depend on it. */
static kiln_status find_primal(deriving *d, const kiln_signature *primal,
                               const kiln_config *config, kiln_error **error)
{
    kiln_frontend *frontend = kiln_function_frontend(primal->function);
    uint64_t world = 0;
    kiln_status status =
        kiln_inference_world(&world, d->inference, frontend, error);

    if (status == KILN_OK)
        status =
            kiln_infer(&d->primal, d->g->context, primal, config, world, error);
    return status == KILN_OK ? kiln_inference_depend(d->inference, d->primal)
                             : status;
}

static kiln_status add_callee(deriving *d, uint32_t *place,
                              const kiln_signature *callee, kiln_error **error)
{
    const kiln_code *code = NULL;
    kiln_inference *head = NULL;
    const kiln_status status =
        kiln_inference_callee(d->inference, callee, &code, place, &head, error);

    if (status != KILN_OK)
        return status;
    d->names[*place] = kiln_code_name(code);
    d->count = *place + 1 > d->count ? *place + 1 : d->count;
    return KILN_OK;
}

/* Adds the primal's callees, and their derivatives, as callees. */
static kiln_status add_callees(deriving *d, kiln_error **error)
{
    kiln_status status = KILN_OK;

    for (size_t i = 0; status == KILN_OK && i < d->ir.callees.count; i++) {
        const kiln_signature called =
            kiln_code_signature(kiln_code_callee(d->primal, i));
        kiln_signature derived = called;

        status = add_callee(d, &d->values[i], &called, error);
        if (status == KILN_OK)
            status = gradient_of(&derived.function, d->g,
                                 kiln_function_name(called.function), error);
        if (status == KILN_OK)
            status = add_callee(d, &d->slopes[i], &derived, error);
    }
    return status;
}

static void write_callees(deriving *d)
{
    for (uint32_t i = 0; i < d->count; i++)
        kiln__text_format(&d->text, "  (callee $%u \"%s\" f64)\n", i,
                          d->names[i]);
}

/* For a body that is one expression. */
static void write_derivative(deriving *d, const char *name)
{
    const kiln__ir_node *block = node_at(d, d->ir.body);
    const kiln__ir_node *back = node_at(d, operand(d, block, 0));

    kiln__text_format(&d->text,
                      "(function \"%s(f64)\" \"%s#0\"\n  (result f64)\n"
                      "  (param %%x.0 f64)\n",
                      name, name);
    write_callees(d);
    kiln__text_add(&d->text, "  (block\n    (return ");
    slope(d, operand(d, back, 0));
    kiln__text_add(&d->text, ")))\n");
}

static kiln_status report(deriving *d, kiln_error **error)
{
    kiln_blob blob = {0};
    kiln_status status;
    kiln__ir ir;

    if (d->text.failed)
        return kiln_error_set(error, KILN_ECOMPILE,
                              "this is not differentiated");
    status = kiln__ir_parse(&ir, &kiln__malloc, "gradient", d->text.bytes,
                            d->text.size, error);
    if (status != KILN_OK)
        return status;
    status = kiln__ir_encode(&ir, &blob);
    kiln__ir_dispose(&ir);
    if (status == KILN_OK)
        status = kiln_inference_set_ir(d->inference, blob.data, blob.size);
    kiln_blob_release(&blob);
    return status;
}

static kiln_status derive(deriving *d, const kiln_signature *signature,
                          const kiln_config *config, kiln_error **error)
{
    const kiln_type *number = signature->types[0];
    kiln_signature primal = {.types = &number};
    const void *bytes;
    size_t size;
    kiln_status status = primal_of(&primal, d->g, signature->function, error);

    if (status == KILN_OK)
        status = find_primal(d, &primal, config, error);
    if (status != KILN_OK)
        return status;
    bytes = kiln_code_ir(d->primal, &size);
    status = kiln__ir_decode(&d->ir, &kiln__malloc, bytes, size, error);
    if (status != KILN_OK)
        return status;
    status = add_callees(d, error);
    if (status == KILN_OK) {
        write_derivative(d, kiln_function_name(signature->function));
        status = report(d, error);
        kiln_inference_set_result(d->inference, number);
    }
    kiln__ir_dispose(&d->ir);
    return status;
}

static kiln_status write_kernel(deriving *d, const kiln_signature *signature,
                                kiln_error **error)
{
    const char *name = kiln_function_name(signature->function);
    const kiln_signature called = {signature->function, &signature->types[1],
                                   1};
    uint32_t place = 0;
    const kiln_status status = add_callee(d, &place, &called, error);

    if (status != KILN_OK)
        return status;
    kiln__text_format(&d->text,
                      "(function \"%s(f64[:], f64)\" \"%s#0\"\n  kernel\n"
                      "  (param %%y.0 f64[:])\n  (param %%x.1 f64)\n",
                      name, name);
    write_callees(d);
    kiln__text_format(&d->text,
                      "  (block\n    (store %%y.0 (const i64 0) "
                      "(call f64 $%u %%x.1))))\n",
                      place);
    return report(d, error);
}

/* ---- the frontend's table ---- */

static uint64_t only_world(void *self)
{
    (void)self;
    return 1;
}

static const kiln_digest root_digest = {{1}};

static kiln_status infer(void *self, const kiln_signature *signature,
                         const kiln_config *config, uint64_t world,
                         kiln_inference *out, kiln_error **error)
{
    deriving d = {.g = self, .inference = out};
    kiln_status status;

    (void)world;
    __atomic_fetch_add(&d.g->inferred, 1, __ATOMIC_RELAXED);
    kiln_inference_set_root(out, root_digest);
    kiln__text_init(&d.text, &kiln__malloc);
    status = signature->count == 1 ? derive(&d, signature, config, error)
                                   : write_kernel(&d, signature, error);
    kiln__text_dispose(&d.text);
    return status;
}

static kiln_status answer(void *self, const void *query, size_t size,
                          const kiln_config *config, uint64_t world,
                          kiln_digest *out)
{
    (void)self, (void)query, (void)size, (void)config, (void)world, (void)out;
    return KILN_EINVAL;
}

static kiln_status root(void *self, const kiln_signature *signature,
                        const kiln_config *config, uint64_t world,
                        kiln_digest *out)
{
    (void)self, (void)signature, (void)config, (void)world;
    *out = root_digest;
    return KILN_OK;
}

static kiln_status find_function(void *self, const char *name,
                                 const kiln_function **out)
{
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return KILN_ENOTFOUND;
    return gradient_of(out, self, name + strlen(PREFIX), NULL);
}

static void end(void *self)
{
    (void)self;
}

kiln_status gradient_open(gradient *g, kiln_context *context,
                          kiln_error **error)
{
    static const kiln_frontend_ops ops = {.size = sizeof ops,
                                          .name = "gradient 1",
                                          .world = only_world,
                                          .infer = infer,
                                          .answer = answer,
                                          .free = end,
                                          .root = root,
                                          .function = find_function};

    *g = (gradient){.context = context};
    return kiln_frontend_add(&g->frontend, context, &ops, g, error);
}
