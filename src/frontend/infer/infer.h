/* infer.h - the state of an attempt to infer a method, and its functions. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_INFER_H
#define KILN_INFER_H

#include "base/error.h"
#include "context/keys/settings.h"
#include "context/types/types.h"
#include "frontend/infer/fold.h"
#include "frontend/program/facts.h"
#include "ir/ir.h"
#include "tiers/frontends.h"

/*
 * An attempt walks the tree once and builds typed IR as it goes. Errors are
 * collected: a faulty expression becomes POISON, about which nothing is
 * reported again. Running out of memory, and failures that are not the user's,
 * set `status`; then every function returns at once.
 *
 * A call into an unfinished cycle of calls has no type yet: it is BOTTOM.
 * Neither POISON nor BOTTOM has a node. `broken` then says that the IR is
 * incomplete and will be discarded.
 */

/* Inferences of which each waits for the next. */
#define KILN__INFER_CHAIN_MAX 200
#define KILN__INFER_NESTING_MAX 1000  /* nesting of one method's tree */
#define KILN__INFER_STACK_MAX 2500    /* nesting of all trees of a chain */
#define KILN__INFER_METHODS_MAX 10000 /* methods inferred for one request */
#define KILN__INFER_NODES_MAX 1000000
#define KILN__INFER_NODES_ALL_MAX 2000000 /* nodes of one request */
#define KILN__INFER_COPIES_MAX 4096       /* iterations of one static loop */
#define KILN__INFER_CONSTANTS_MAX 1000 /* constants evaluated in one method */
#define KILN__INFER_ATTEMPTS_MAX 16
#define KILN__INFER_ERRORS_MAX 20 /* errors of one method */

typedef enum kiln__value_kind {
    KILN__VALUE_POISON,  /* an error was reported */
    KILN__VALUE_BOTTOM,  /* no type yet; `type` may be a guess */
    KILN__VALUE_NOTHING, /* the result of a function without a result */
    KILN__VALUE_LITERAL, /* an untyped number: `constant` */
    /* An operation on literals whose value is known only at run time: `open`.
       It is a float if `constant` says so. */
    KILN__VALUE_OPEN,
    KILN__VALUE_TYPED
} kiln__value_kind;

/* The value of an expression. Its node has one user: kiln__infer_use() is
   called once. */
typedef struct kiln__value {
    kiln__value_kind kind;
    const kiln_type *type; /* of a TYPED value */
    uint32_t node; /* of a TYPED value; 0 for constants and empty types */
    int32_t known; /* of a TYPED value: a scalar whose value is `constant` */
    /* A Bool that depends only on Static integers, types and functions. */
    int32_t is_static;
    const struct kiln__open *open;
    kiln__constant constant;
} kiln__value;

typedef enum kiln__variable_kind {
    KILN__VARIABLE_LOCAL, /* also a parameter */
    KILN__VARIABLE_LOOP,  /* of a loop: cannot be assigned */
    /* Stands for `value`: a type parameter, or a static loop's variable. */
    KILN__VARIABLE_VALUE
} kiln__variable_kind;

typedef struct kiln__variable kiln__variable;
struct kiln__variable {
    kiln__variable_kind kind;
    const char *name;
    const kiln_type *type; /* NULL: not known yet */
    uint32_t local;        /* number in the IR, if the type has bytes */
    kiln__span place;      /* where it got its type */
    int32_t decays;        /* assigned at several places, so it is no Static */
    int32_t poisoned;      /* its type is unknown after an error */
    int32_t checked;       /* its name may be assigned */
    int32_t assigned;      /* on every path to the current place */
    uint32_t stamp;        /* for infer_flow.c */
    kiln__value value;
    kiln__variable *outer; /* what the name means outside of the loop */
};

/* What a name means in a package and in the method. */
typedef struct kiln__symbol kiln__symbol;
struct kiln__symbol {
    const char *name;
    const kiln_package *package;
    uint64_t hash;
    kiln__variable *variable; /* NULL: there is none */
    int32_t is_bound;         /* `binding` is set */
    kiln__binding binding;
    int32_t evaluating;  /* of a constant: its evaluation is under way */
    int32_t is_constant; /* of a constant: `constant` is its value */
    kiln__value constant;
};

/* Variables that are assigned on a path, and whether the path goes on. */
typedef struct kiln__path {
    int32_t reachable;
    kiln__variable **variables;
    size_t count;
} kiln__path;

/* A loop around the statement. */
typedef struct kiln__loop kiln__loop;
struct kiln__loop {
    kiln__loop *outer;
    size_t mark; /* length of the trail where the loop began */
    int32_t has_exit;
    kiln__path exit; /* what all breaks have in common */
    int32_t has_next;
    kiln__path next; /* what all continues of the iteration share */
};

/* A literal, Static or OPEN value that is returned. It gets the type of the
   other returns. */
typedef struct kiln__pending {
    uint32_t node; /* of an OPEN value: its first */
    kiln__value value;
    const kiln__ast *ast;
} kiln__pending;

/* The result of a method of a cycle in the last attempt. */
typedef struct kiln__recalled {
    kiln_signature signature;
    const kiln_type *result;
} kiln__recalled;

typedef struct kiln__infer kiln__infer;

/* What is being inferred, and where the outcome goes. The same in all attempts;
   nobody changes it. */
typedef struct kiln__infer_task {
    kiln__language *language;
    kiln_inference *inference;
    const kiln_signature *signature;
    const kiln__match *match;
    const kiln__method *method;
    const kiln__definition *definition;
    const kiln_config *config;
    uint64_t world;
    kiln_error **error;
} kiln__infer_task;

/* The inferences that wait for one another, from the first one, the root, to
   this one, and what the method may assume of itself. It lasts over all
   attempts; infer_cycle.c, infer_callee.c and infer.c change it. */
typedef struct kiln__infer_chain {
    kiln__infer *parent, *root; /* parent NULL: this is the root */
    uint32_t depth;
    uint32_t inferred; /* in the root: methods of the chain */
    uint32_t nodes;    /* in the root: nodes of all of them */
    /* In the root: results of the chain. */
    kiln__array_of(kiln__recalled) recalled;
    /* Type of a recursive call's result; NULL: nothing assumed. */
    const kiln_type *assumed;
    char cycle[512]; /* "f -> g -> f", or "" */
} kiln__infer_chain;

/* Whose names the tree uses that the walk is in. While a constant is evaluated,
   this is its definition; infer_names.c moves it there and back. */
typedef struct kiln__standpoint {
    const kiln__source *source;
    kiln_package *package;
    uint32_t ordinal; /* of the constant's name; used only in constants */
    int32_t in_constant;
} kiln__standpoint;

/* How the walk has come to where it is, and how far it may still go. The
   functions that enter a tree, a call or a constant change it, and change it
   back. */
typedef struct kiln__infer_walk {
    kiln__span span;         /* of the call that is being inferred */
    const kiln__ast *here;   /* the last tree that was entered */
    uint32_t constants_left; /* how many evaluations are still allowed */
    uint32_t nesting;        /* of the walk in this method */
    /* The same, with that of all inferences that wait for this one. */
    uint32_t nesting_all;
    int32_t too_deep;    /* was reported */
    int32_t conditional; /* what is evaluated may run 0, 1 or several times */
    uint16_t flags;      /* KILN__IR_... switches */
} kiln__infer_walk;

/* The typed IR as far as it is built. infer_node.c adds types, locals, nodes
   and statements; whoever names a text or a callee adds that. */
typedef struct kiln__infer_body {
    kiln__ir ir;
    struct kiln__type_entry *types; /* kiln_type -> type of the IR */
    size_t type_count, type_capacity;
    uint32_t none;                       /* the IR's type of no value */
    kiln__array_of(uint32_t) statements; /* of all open blocks */
} kiln__infer_body;

/* What names mean in this method: a hash table with open addressing, which only
   infer_names.c changes. */
typedef struct kiln__infer_names {
    kiln__symbol **symbols;
    size_t count, capacity;
} kiln__infer_names;

/* Which paths lead to where the walk is, and which variables they assign.
   infer_flow.c changes it, and so do statements: branches, loops, jumps. */
typedef struct kiln__infer_flow {
    kiln__array_of(kiln__variable *) trail;
    int32_t reachable;
    int32_t cut; /* unreachable because of a compile-time condition */
    uint32_t stamp;
    kiln__loop *loop; /* the innermost one */
} kiln__infer_flow;

/* What the method returns, by all its paths so far; infer_result.c adds to
   it. */
typedef struct kiln__infer_returns {
    const kiln_type *declared; /* -> T, or NULL */
    const kiln_type *type;     /* of typed values */
    kiln__span type_at;
    const kiln_type *guess; /* what BOTTOM may turn out to be */
    int32_t nothing, bottom, poison;
    kiln__span nothing_at;
    kiln__array_of(kiln__pending) pending;
} kiln__infer_returns;

struct kiln__infer {
    /* The same in all attempts. */
    kiln_context *context;
    const kiln_alloc *alloc;
    kiln__infer_task task;
    kiln__infer_chain chain;

    /* The attempt. Everything from here on is cleared for the next one. */
    kiln__facts facts; /* the program, as this attempt reads it */
    kiln_status status;
    int32_t broken;    /* the IR is incomplete */
    int32_t bottom;    /* there was a call into an unfinished cycle */
    int32_t unsettled; /* an assumption of a callee about itself did not hold */
    kiln__arena arena;
    kiln__diagnostics diagnostics;
    kiln__standpoint at;
    kiln__infer_walk walk;
    kiln__infer_names names;
    kiln__infer_flow flow;
    kiln__infer_body body;
    kiln__infer_returns returns;
};

static inline kiln__value kiln__value_of(kiln__value_kind kind)
{
    return (kiln__value){.kind = kind};
}

static inline int kiln__value_is_static(const kiln__value *value)
{
    return value->kind == KILN__VALUE_TYPED &&
           value->type->kind == KILN_TYPE_STATIC;
}

/* True when nothing can be said about what depends on the value. */
static inline int kiln__value_is_vague(const kiln__value *value)
{
    return value->kind == KILN__VALUE_POISON ||
           value->kind == KILN__VALUE_BOTTOM;
}

/* ---- infer_errors.c: reports ---- */
/* Reports an error at a place of the current source; returns POISON. */
kiln__value kiln__infer_error(kiln__infer *in, kiln__span span,
                              const char *code, const char *hint,
                              const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Ends the attempt by a failure that is not the user's, such as out of
   memory. */
kiln__value kiln__infer_fail(kiln__infer *in, kiln_status status);
/* Takes over a callee's diagnostics, each once, and frees the error. */
kiln__value kiln__infer_adopt(kiln__infer *in, kiln_error *error);
/* Formats a text in the attempt's arena; "" when out of memory. */
const char *kiln__infer_format(kiln__infer *in, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns "f32" or "an integer literal", for messages. */
const char *kiln__infer_describe(kiln__infer *in, const kiln__value *value);
/* Returns "main.fill(f32[:], i64)"; in `arena`. */
const char *kiln__infer_label(kiln__arena *arena,
                              const kiln_signature *signature);
const char *kiln__infer_place(kiln__infer *in, kiln__span span);
kiln__value kiln__infer_unknown_name(kiln__infer *in, const kiln__ast *ast);

/* ---- infer_node.c: building typed IR ---- */
/* Returns the program as the inference sees it; nothing is recorded in it. */
kiln__facts kiln__infer_facts(const kiln__infer *in);
kiln_status kiln__infer_begin(kiln__infer *in);
void kiln__infer_end(kiln__infer *in);
uint32_t kiln__infer_type(kiln__infer *in, const kiln_type *type);
const kiln_type *kiln__infer_scalar(const kiln__infer *in, int32_t kind);
/* Nodes that a node takes, in order. */
typedef struct kiln__operands {
    const uint32_t *nodes; /* 0: missing, since something is wrong with it */
    size_t count;
} kiln__operands;

#define KILN__NO_OPERANDS ((kiln__operands){NULL, 0})

/* Makes a node; 0 when an operand is missing. `type` NULL: a statement. */
uint32_t kiln__infer_node(kiln__infer *in, kiln__ir_op op,
                          const kiln_type *type, const kiln__ast *ast,
                          int64_t imm, kiln__operands operands);
kiln__value kiln__infer_typed(const kiln_type *type, uint32_t node);
kiln__value kiln__infer_made(kiln__infer *in, kiln__ir_op op,
                             const kiln_type *type, const kiln__ast *ast,
                             int64_t imm, kiln__operands operands);
/* Returns the value's node; literals become i64 or f64. 0: the value has
   none. */
uint32_t kiln__infer_use(kiln__infer *in, const kiln__value *value,
                         const kiln__ast *ast);
kiln__value kiln__infer_constant(const kiln_type *type,
                                 const kiln__constant *constant);
kiln__value kiln__infer_boolean(kiln__infer *in, int truth, int is_static);
/* Returns a compile-time integer; one that does not fit is reported at
   `span`. */
kiln__value kiln__infer_static(kiln__infer *in, kiln__wide value,
                               kiln__span span);
uint32_t kiln__infer_local(kiln__infer *in, const char *name,
                           const kiln_type *type);
uint32_t kiln__infer_read(kiln__infer *in, uint32_t local,
                          const kiln_type *type);
/* Adds a statement to the open block. */
void kiln__infer_emit(kiln__infer *in, uint32_t statement);
void kiln__infer_set(kiln__infer *in, uint32_t local, uint32_t value,
                     const kiln__ast *ast);
size_t kiln__infer_open_block(kiln__infer *in);
uint32_t kiln__infer_close_block(kiln__infer *in, size_t mark);
/* A state to return to, when what was built since then is to be discarded. */
typedef struct kiln__ir_mark {
    size_t nodes, operands, statements;
} kiln__ir_mark;
kiln__ir_mark kiln__infer_mark(const kiln__infer *in);
void kiln__infer_rollback(kiln__infer *in, kiln__ir_mark mark);
/* Evaluates the value for its effect, if it has one. */
void kiln__infer_discard(kiln__infer *in, const kiln__value *value,
                         const kiln__ast *ast);
/* Stores the value where it can be read more than once, if that is needed. */
typedef struct kiln__saved_value {
    const kiln_type *type;
    int32_t is_local; /* otherwise `value` is constant or empty */
    uint32_t local;
    kiln__value value;
} kiln__saved_value;
kiln__saved_value kiln__infer_save(kiln__infer *in, const kiln__value *value,
                                   const kiln__ast *ast);
/* As kiln__infer_save(), in a new local: what the value was read from may
   change. */
kiln__saved_value kiln__infer_save_copy(kiln__infer *in,
                                        const kiln__value *value,
                                        const kiln__ast *ast);
uint32_t kiln__infer_read_saved(kiln__infer *in,
                                const kiln__saved_value *saved);

/* ---- infer_names.c: names and constants ---- */
/* True for a local or a parameter of the method. */
int kiln__infer_is_variable(kiln__infer *in, const char *name);
kiln__symbol *kiln__infer_symbol(kiln__infer *in, const kiln_package *package,
                                 const char *name);
const kiln__binding *kiln__infer_binding(kiln__infer *in, kiln__symbol *symbol);
kiln__variable *kiln__infer_declare(kiln__infer *in, kiln__symbol *symbol,
                                    kiln__variable_kind kind);
/* Declares the variables that the method assigns, and counts the places. */
void kiln__infer_scan(kiln__infer *in, const kiln__ast *body);
kiln__value kiln__infer_name(kiln__infer *in, const kiln__ast *ast);
/* Returns the symbol for a name that is no variable, or for package.name; NULL
   for any other tree. */
kiln__symbol *kiln__infer_bound(kiln__infer *in, const kiln__ast *ast);
/* Returns the value of what such a symbol is bound to. */
kiln__value kiln__infer_bound_value(kiln__infer *in, kiln__symbol *symbol,
                                    const kiln__ast *ast);
kiln__value kiln__infer_function_value(kiln__infer *in,
                                       const kiln__generic *generic);
kiln__value kiln__infer_type_value(kiln__infer *in, const kiln_type *type);
kiln_package *kiln__infer_core(const kiln__infer *in);
kiln__type_scope kiln__infer_scope(kiln__infer *in);
const kiln_type *kiln__infer_resolve(kiln__infer *in, const kiln__ast *tree);

/* ---- infer_flow.c: definite assignment ---- */
void kiln__flow_assign(kiln__infer *in, kiln__variable *variable);
/* Undoes the assignments since the trail had the length `mark`; returns them as
   a path. */
kiln__path kiln__flow_cut(kiln__infer *in, size_t mark);
/* Continues with what both paths have assigned. */
void kiln__flow_join(kiln__infer *in, const kiln__path *a, const kiln__path *b);
void kiln__flow_follow(kiln__infer *in, const kiln__path *path);
void kiln__flow_break(kiln__infer *in);
void kiln__flow_continue(kiln__infer *in);

/* ---- infer_convert.c: conversions between types ---- */
/* True when the value can stand for `type`: it is a literal or a Static that
   fits, or has that very type. */
int kiln__infer_adapts(const kiln__value *value, const kiln_type *type);
/* Returns the value as one of `type`, or POISON after an error that says `what`
   it is for. */
kiln__value kiln__infer_adapt(kiln__infer *in, const kiln__value *value,
                              const kiln_type *type, const kiln__ast *ast,
                              const char *what);
/* Converts as arithmetic does: widens, and makes floats of integers. */
kiln__value kiln__infer_widen(kiln__infer *in, const kiln__value *value,
                              const kiln_type *type, const kiln__ast *ast);
/* Returns a Static as the integer literal that it stands for; other values
   unchanged. */
kiln__value kiln__infer_decay(kiln__infer *in, const kiln__value *value,
                              const kiln__ast *ast);
/* Gives literals their default types, i64 and f64. */
kiln__value kiln__infer_settle(kiln__infer *in, const kiln__value *value,
                               const kiln__ast *ast);
/* T(x), wrap(T, x), trunc(T, x) and bitcast(T, x), by their operations. */
kiln__value kiln__infer_convert(kiln__infer *in, kiln__ir_op op,
                                const kiln_type *type, const kiln__value *given,
                                const kiln__ast *ast);
/* Return an index, and a size of what is allocated: an i64, which is not
   negative if it is known. */
kiln__value kiln__infer_index(kiln__infer *in, const kiln__value *value,
                              const kiln__ast *ast);
kiln__value kiln__infer_size(kiln__infer *in, const kiln__value *value,
                             const kiln__ast *ast);
/* Stores the integer that a compile-time value is; false: it is none. */
int kiln__infer_known_integer(const kiln__value *value, kiln__wide *out);

/* ---- infer_arithmetic.c: operators on built-in types ---- */
const kiln__operator *kiln__operator_find(const char *text);
int kiln__infer_is_plain(const kiln__value *value);
/* True when all values are of types that operators have rules for. */
int kiln__infer_has_rule(const kiln__value *values, size_t count);
/* True when a method may replace the operator's own rule for these values. */
int kiln__infer_is_replaced(kiln__infer *in, const kiln__operator *operator,
                            const kiln__value * values, size_t count);
/* Returns the count of a shift as a value of the shifted type. */
kiln__value kiln__infer_shift_count(kiln__infer *in, const kiln__value *given,
                                    const kiln_type *type,
                                    const kiln__ast *ast);
/* Applies the operator's own rule to one or two values that it has a rule
   for. */
kiln__value kiln__infer_by_rule(kiln__infer *in, const kiln__operator *operator,
                                const kiln__value * values, size_t count,
                                const kiln__ast *ast);
/* Converts numbers to the type of arithmetic on them. False: reported, or
   vague. */
int kiln__infer_unify(kiln__infer *in, kiln__value *values, size_t count,
                      const kiln__ast *ast, const char *what);
kiln__value kiln__infer_power(kiln__infer *in, const kiln__value *a,
                              const kiln__value *b, const kiln__ast *ast);

/* ---- infer_expression.c ---- */
kiln__value kiln__infer_expression(kiln__infer *in, const kiln__ast *ast);
/* As kiln__infer_expression(), but the expression must have a value. */
kiln__value kiln__infer_loose_operand(kiln__infer *in, const kiln__ast *ast);
/* The same, for contexts that give literals no type: it is never OPEN. */
kiln__value kiln__infer_operand(kiln__infer *in, const kiln__ast *ast);
/* Returns a Bool, or POISON after an error. */
kiln__value kiln__infer_condition(kiln__infer *in, const kiln__ast *ast);
/* Enters a tree, and has to be paired with kiln__infer_leave(). False: the tree
   is too deep, which is reported, or the thread's stack is too small. */
int kiln__infer_enter(kiln__infer *in, const kiln__ast *ast);
void kiln__infer_leave(kiln__infer *in);
/* CHOOSE and SELECT: converts both values to one type. */
kiln__value kiln__infer_choose(kiln__infer *in, kiln__ir_op op,
                               uint32_t condition, kiln__value *a,
                               kiln__value *b, const kiln__ast *ast);
/* Returns the type of an expression, as a value, without evaluating it. */
kiln__value kiln__infer_typeof(kiln__infer *in, const kiln__ast *ast);

/* ---- infer_open.c: operations on literals that wait for their type ---- */
typedef struct kiln__operation {
    kiln__ir_op op;
    int64_t imm;
    uint32_t condition; /* of CHOOSE and SELECT: the node of a Bool */
} kiln__operation;

/* True for a LITERAL or an OPEN value. */
int kiln__value_is_loose(const kiln__value *value);
/* Makes an OPEN value. The sides are loose; a shift's second one is typed. */
kiln__value kiln__infer_open(kiln__infer *in, const kiln__operation *operation,
                             const kiln__value *sides, size_t count,
                             const kiln__ast *ast);
/* Makes one of an operator, but a shift, if a side is OPEN and no side is
   typed. False: the operator does not wait. */
int kiln__infer_open_operator(kiln__infer *in, kiln__ir_op op,
                              kiln__value *sides, size_t count,
                              const kiln__ast *ast, kiln__value *out);
int kiln__infer_open_adapts(const kiln__value *value, const kiln_type *type);
/* True for an operation on bits: no float has them. */
int kiln__infer_open_is_integral(const kiln__value *value);
/* True for an OPEN value whose low bits only are right in a narrow type. */
int kiln__infer_open_has_shift(const kiln__value *value);
/* Returns the value for an operation with `other` that needs the exact one: a
   shift is an i64, then, unless the other side is as wide. */
kiln__value kiln__infer_open_exact(kiln__infer *in, const kiln__value *value,
                                   const kiln__value *other, int is_comparison,
                                   const kiln__ast *ast);
/* Returns the type that an OPEN value has alone: i64 or f64. */
const kiln_type *kiln__infer_open_type(const kiln__infer *in,
                                       const kiln__value *value);
/* Builds an OPEN value in a type of numbers; a literal that does not fit is
   reported. */
kiln__value kiln__infer_open_build(kiln__infer *in, const kiln__value *value,
                                   const kiln_type *type);
/* True when what was built may get another type later. */
int kiln__infer_open_can_change(const kiln__value *value);
/* Gives that type to the nodes that kiln__infer_open_build() made, from
   `first` on. The value must adapt to it. */
void kiln__infer_open_change(kiln__infer *in, const kiln__value *value,
                             const kiln_type *type, uint32_t first);

/* ---- infer_call.c ---- */
typedef struct kiln__builtin kiln__builtin;
kiln__value kiln__infer_call(kiln__infer *in, const kiln__ast *ast);
/* Calls the generic function: methods first, then the built-in rule. */
kiln__value kiln__infer_apply(kiln__infer *in, const kiln__generic *generic,
                              kiln__value *arguments, size_t count,
                              const kiln__ast *ast);
/* The arguments of a call in order. */
typedef struct kiln__arguments {
    kiln__value *values;
    size_t count;
} kiln__arguments;
/* Infers them; of a built-in function, indices may be a tuple. */
kiln__arguments kiln__infer_arguments(kiln__infer *in,
                                      const kiln__builtin *builtin,
                                      const kiln__ast *ast);
/* In infer_callee.c: takes over why a callee, or what must be known of it,
   failed; returns POISON. */
kiln__value kiln__infer_callee_failed(kiln__infer *in, kiln_status status,
                                      kiln_error *error);
/* In infer_outside.c: the same for another frontend's function, which may not
   exist. */
kiln__value kiln__infer_outside_failed(kiln__infer *in, kiln_status status,
                                       kiln_error *error);
/* True for the name of another frontend's function. */
int kiln__infer_outside(kiln__infer *in, const kiln__ast *ast,
                        kiln__outside *out);
/* Reports that such a name is not called. */
kiln__value kiln__infer_outside_value(kiln__infer *in, const kiln__ast *ast);
/* Completes the type of the function's result; false: it is refused. */
int kiln__infer_outside_result(kiln__infer *in, const kiln_signature *signature,
                               const kiln_type **type);
kiln__value kiln__infer_call_outside(kiln__infer *in,
                                     const kiln__outside *outside,
                                     const kiln__ast *ast);
/* In infer_callee.c: makes a call with the type of its result, once the callee
   has one. */
kiln__value kiln__infer_callee(kiln__infer *in, const kiln_signature *signature,
                               const uint32_t *nodes, const kiln__ast *ast);
/* Applies the operator to one or two values: by a method, or by its own
   rule. */
kiln__value kiln__infer_operate(kiln__infer *in, const char *name,
                                kiln__value *values, size_t count,
                                const kiln__ast *ast);
/* Calls a function of package core. */
kiln__value kiln__infer_apply_name(kiln__infer *in, const char *name,
                                   kiln__value *arguments, size_t count,
                                   const kiln__ast *ast);

/* ---- infer_builtin.c and infer_group.c ---- */
kiln__value kiln__infer_builtin(kiln__infer *in, const kiln__builtin *builtin,
                                kiln__value *arguments, size_t count,
                                const kiln__ast *ast);
kiln__value kiln__infer_atomic(kiln__infer *in, const kiln__builtin *builtin,
                               kiln__value *arguments, size_t count,
                               const kiln__ast *ast);
kiln__value kiln__infer_group(kiln__infer *in, const kiln__builtin *builtin,
                              kiln__value *arguments, const kiln__ast *ast);
kiln__value kiln__infer_query(kiln__infer *in, const kiln__builtin *builtin,
                              kiln__value *arguments, size_t count,
                              const kiln__ast *ast);

/* ---- infer_heap.c: ALLOCATE, FREE, FENCE and HEAP ---- */
kiln__value kiln__infer_heap(kiln__infer *in, const kiln__builtin *builtin,
                             kiln__value *arguments, size_t count,
                             const kiln__ast *ast);

/* ---- infer_aggregate.c ---- */
kiln__value kiln__infer_tuple(kiln__infer *in, const kiln__ast *ast);
kiln__value kiln__infer_vector(kiln__infer *in, kiln__value *values,
                               size_t count, const kiln__ast *ast);
/* Makes a value of `type` of parts, as T(...) does. */
kiln__value kiln__infer_construct(kiln__infer *in, const kiln_type *type,
                                  kiln__value *values, size_t count,
                                  const kiln__ast *ast);
kiln__value kiln__infer_member(kiln__infer *in, const kiln__ast *ast);
/* Stores the number of a struct's field; reports a missing one. */
int kiln__infer_field_number(kiln__infer *in, const kiln_type *type,
                             const kiln__ast *ast, size_t *out);
kiln__value kiln__infer_field(kiln__infer *in, const kiln__value *object,
                              size_t field, const kiln__ast *ast);
/* Stores a constant index within `count`; reports any other. */
int kiln__infer_position(kiln__infer *in, const kiln__value *index,
                         const kiln_type *type, const kiln__ast *ast,
                         size_t *out);

/* ---- infer_array.c ---- */
kiln__value kiln__infer_indexed(kiln__infer *in, const kiln__ast *ast);
/* Fills the nodes of the indices of a[i, j], i64 each. False: reported, or
   vague. */
int kiln__infer_indices(kiln__infer *in, const kiln_type *array,
                        const kiln__ast *ast, kiln__value *indices);
void kiln__infer_local_array(kiln__infer *in, const kiln__ast *ast);

/* ---- infer_statement.c, infer_loop.c, infer_assign.c ---- */
void kiln__infer_statement(kiln__infer *in, const kiln__ast *ast);
void kiln__infer_statements(kiln__infer *in, const kiln__ast *block);
uint32_t kiln__infer_block(kiln__infer *in, const kiln__ast *block);
void kiln__infer_while(kiln__infer *in, const kiln__ast *ast);
void kiln__infer_for(kiln__infer *in, const kiln__ast *ast);
void kiln__infer_static_for(kiln__infer *in, const kiln__ast *ast);
void kiln__infer_assignment(kiln__infer *in, const kiln__ast *ast);
void kiln__infer_unpack(kiln__infer *in, const kiln__ast *ast);
/* Binds a local to a value. */
void kiln__infer_bind(kiln__infer *in, const char *name,
                      const kiln__value *value, const kiln__ast *ast);
/* Returns the local that may be assigned, or NULL after an error. */
kiln__variable *kiln__infer_assignable(kiln__infer *in, const char *name,
                                       const kiln__ast *ast);
/* Reports "`name` is `what` and cannot be assigned"; returns NULL. */
kiln__variable *kiln__infer_not_assignable(kiln__infer *in,
                                           const kiln__ast *ast,
                                           const char *hint, const char *what,
                                           const char *name);
/* Returns the value that x gets in x op= e. */
kiln__value kiln__infer_combine(kiln__infer *in, const kiln__value *old,
                                const kiln__ast *ast);

/* ---- infer_place.c ---- */
/* Assigns to a part of a local or of an array. */
void kiln__infer_assign_part(kiln__infer *in, const kiln__ast *ast);

/* ---- infer_result.c ---- */
void kiln__infer_return(kiln__infer *in, const kiln__ast *ast);
/* Returns the type of the result after the walk; NULL: bottom, or errors. */
const kiln_type *kiln__infer_result(kiln__infer *in);

/* ---- infer_cycle.c: assumptions about recursive calls ---- */
/* Returns what the last attempt found for the method, or NULL. */
const kiln_type *kiln__infer_recall(const kiln__infer *in);
kiln_status kiln__infer_remember(kiln__infer *in, const kiln_type *result);
void kiln__infer_forget(kiln__infer *in);

/* These functions read the current program without recording a question
   (facts.h). */
#pragma GCC poison kiln_type_parse kiln__type_parse_at kiln__type_of_name
#pragma GCC poison kiln_package_find kiln_package_function kiln__function_find

#endif /* KILN_INFER_H */
