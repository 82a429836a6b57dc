/* test_lower_prove.c - what the test of a tile promises, and when it does. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
/* LINKS: codegen */
#include <inttypes.h>

#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Target.h>

#include "kiln.h"
#include "support/codegen/lower_fake.h"
#include "support/codegen/random_kernel.h"
#include "support/harness.h"

/*
 * Every kernel here is k(out: i64[:], src: i64[:], n: i64, m: i64). Its test is
 * asked about tiles, and then each item of the tile is run with all checks. In
 * a tile that passed, none may be out of bounds, and the second body must do
 * and raise what the first one does. Where `EXACT` says so, a tile that does
 * not pass must have an item that raises.
 */

#define ROOM 64 /* elements of an array */

typedef struct test_item {
    int64_t id, group, local_size, grid;
    uint32_t kind; /* of the exception; 0: none */
    uint32_t ordinal;
    int64_t values[2];
} test_item;

typedef int32_t (*item_function)(test_item *item, int64_t *out,
                                 int64_t out_size, const int64_t *in,
                                 int64_t in_size, int64_t n, int64_t m);
typedef int32_t (*proof_function)(test_item *item, int64_t *out,
                                  int64_t out_size, const int64_t *in,
                                  int64_t in_size, int64_t n, int64_t m,
                                  int64_t first_x, int64_t first_y,
                                  int64_t first_z, int64_t last_x,
                                  int64_t last_y, int64_t last_z);

typedef void (*clip_function)(int64_t box[6], test_item *item, int64_t *out,
                              int64_t out_size, const int64_t *in,
                              int64_t in_size, int64_t n, int64_t m,
                              int64_t first_x, int64_t first_y, int64_t first_z,
                              int64_t last_x, int64_t last_y, int64_t last_z);

static int64_t on_query(const test_item *item, uint32_t query,
                        uint32_t dimension)
{
    const int is_x = dimension == 0;

    switch (query) {
    case KILN__QUERY_GLOBAL_ID:
        return is_x ? item->id : 0;
    case KILN__QUERY_LOCAL_ID:
        return is_x ? item->id - item->group * item->local_size : 0;
    case KILN__QUERY_GROUP_ID:
        return is_x ? item->group : 0;
    case KILN__QUERY_GLOBAL_SIZE:
        return is_x ? item->grid : 1;
    case KILN__QUERY_LOCAL_SIZE:
        return is_x ? item->local_size : 1;
    default: /* GROUP_COUNT */
        return is_x ? (item->grid - 1) / item->local_size + 1 : 1;
    }
}

static void on_raise(test_item *item, uint32_t kind, uint32_t ordinal,
                     const char *method, const char *message, int64_t value0,
                     int64_t value1)
{
    (void)method;
    (void)message;
    item->kind = kind;
    item->ordinal = ordinal;
    item->values[0] = value0;
    item->values[1] = value1;
}

/* ---- programs ---- */

typedef struct program {
    kiln_context *context;
    lower_fake fake;
    LLVMExecutionEngineRef engine;
    item_function item;
    item_function safe;
    proof_function proof; /* NULL: the kernel has no second body */
    clip_function clip;   /* NULL: all items do something */
} program;

static void *address_of(void (*function)(void))
{
    void *address;

    memcpy(&address, &function, sizeof address);
    return address;
}

static kiln_blob typed_text(program *p, const char *text)
{
    const kiln_type *types[4];
    kiln_signature signature = {.types = types, .count = 4};
    const kiln_config *config;
    kiln_package *package;
    kiln_blob typed = {0};

    assert_ok(kiln_context_new(&p->context, NULL, &test_error));
    assert_ok(kiln_config_new(&config, p->context, NULL, &test_error));
    assert_ok(kiln_package_new(&package, p->context, "main", &test_error));
    assert_ok(kiln_package_define(package, "k.kiln", text, strlen(text), NULL,
                                  &test_error));
    assert_ok(
        kiln_package_function(&signature.function, package, "k", &test_error));
    types[2] = types[3] = kiln_type_scalar(p->context, KILN_TYPE_I64);
    assert_ok(
        kiln_type_array(&types[0], p->context, types[2], 1, 0, &test_error));
    types[1] = types[0];
    /* Random texts may hold what is refused: a constant that divides by 0. */
    if (kiln_emit(&typed, p->context, &signature, config, 0, KILN_EMIT_TYPED,
                  NULL) != KILN_OK)
        assert_null(typed.data);
    return typed;
}

static void map(program *p, LLVMModuleRef module, const char *name,
                void *address)
{
    LLVMValueRef function =
        module == NULL ? NULL : LLVMGetNamedFunction(module, name);

    if (function != NULL)
        LLVMAddGlobalMapping(p->engine, function, address);
}

/* What C can call: the box is stored behind a pointer. */
static void add_clip_to(const kiln__codegen_job *job)
{
    const LLVMBuilderRef builder = LLVMCreateBuilderInContext(job->context);
    const unsigned count = LLVMCountParams(job->clip_function);
    LLVMTypeRef types[32] = {LLVMPointerTypeInContext(job->context, 0)};
    LLVMValueRef arguments[32], function;

    assert_true(count < 32);
    LLVMGetParamTypes(LLVMGlobalGetValueType(job->clip_function), types + 1);
    function =
        LLVMAddFunction(job->module, "entry.clip.to",
                        LLVMFunctionType(LLVMVoidTypeInContext(job->context),
                                         types, count + 1, 0));
    for (unsigned i = 0; i < count; i++)
        arguments[i] = LLVMGetParam(function, i + 1);
    LLVMPositionBuilderAtEnd(
        builder, LLVMAppendBasicBlockInContext(job->context, function, ""));
    LLVMBuildStore(builder,
                   LLVMBuildCall2(builder,
                                  LLVMGlobalGetValueType(job->clip_function),
                                  job->clip_function, arguments, count, ""),
                   LLVMGetParam(function, 0));
    LLVMBuildRetVoid(builder);
    LLVMDisposeBuilder(builder);
}

static void verify(LLVMModuleRef module)
{
    char *message = NULL;

    if (module != NULL &&
        LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
        fail_msg("%s", message);
    LLVMDisposeMessage(message);
}

static void compile(program *p)
{
    kiln__codegen_job *job = &p->fake.job;
    char *message = NULL;
    uint64_t address;

    if (job->clip_function != NULL)
        add_clip_to(job);
    verify(job->module);
    verify(job->checked_module);
    LLVMSetLinkage(job->item_function, LLVMExternalLinkage);
    if (job->proof_function != NULL) {
        LLVMSetLinkage(job->proof_function, LLVMExternalLinkage);
        LLVMSetLinkage(job->safe_function, LLVMExternalLinkage);
    }
    if (LLVMCreateMCJITCompilerForModule(&p->engine, job->module, NULL, 0,
                                         &message))
        fail_msg("%s", message);
    if (job->checked_module != NULL)
        LLVMAddModule(p->engine, job->checked_module);
    for (int i = 0; i < 2; i++) {
        map(p, i == 0 ? job->module : job->checked_module, "test_query",
            address_of((void (*)(void))on_query));
        map(p, i == 0 ? job->module : job->checked_module, "test_raise",
            address_of((void (*)(void))on_raise));
    }
    address = LLVMGetFunctionAddress(p->engine, "entry.item");
    memcpy(&p->item, &address, sizeof p->item);
    if (job->proof_function != NULL) {
        address = LLVMGetFunctionAddress(p->engine, "entry.proof");
        memcpy(&p->proof, &address, sizeof p->proof);
        address = LLVMGetFunctionAddress(p->engine, "entry.safe.item");
        memcpy(&p->safe, &address, sizeof p->safe);
    }
    if (job->clip_function != NULL) {
        address = LLVMGetFunctionAddress(p->engine, "entry.clip.to");
        memcpy(&p->clip, &address, sizeof p->clip);
    }
    job->module = job->checked_module = NULL; /* the engine's now */
}

/* False when the text is refused. */
static int program_open(program *p, const char *text)
{
    static kiln__codegen_backend backend;
    kiln_blob typed;

    memset(p, 0, sizeof *p);
    typed = typed_text(p, text);
    if (typed.data == NULL) {
        kiln_context_free(p->context);
        return 0;
    }
    lower_fake_init(&p->fake);
    p->fake.settings.opt_level = 2;
    assert_ok(lower_fake_parse(&p->fake, "k", typed.data, &test_error));
    kiln_blob_release(&typed);
    backend = lower_fake_backend;
    backend.runs_tiles = 1;
    assert_int_equal(lower_fake_lower_with(&p->fake, &backend), KILN_OK);
    compile(p);
    return 1;
}

static void program_close(program *p)
{
    LLVMDisposeExecutionEngine(p->engine);
    lower_fake_dispose(&p->fake);
    kiln_context_free(p->context);
}

/* ---- tiles ---- */

typedef struct tile {
    int64_t group, local_size, grid;
    int64_t out_size, in_size, n, m;
} tile;

/* The tile's items that do something: from box[0] to before box[3]. */
static void find_box(const program *p, const tile *t, int64_t box[6])
{
    static int64_t out[ROOM], in[ROOM];
    const int64_t first = t->group * t->local_size;
    const int64_t end = first + t->local_size;
    const int64_t last = (end < t->grid ? end : t->grid) - 1;
    test_item item = {first, t->group, t->local_size, t->grid, 0, 0, {0, 0}};

    box[0] = first;
    box[3] = last + 1;
    box[1] = box[2] = 0;
    box[4] = box[5] = 1;
    if (p->clip != NULL)
        p->clip(box, &item, out, t->out_size, in, t->in_size, t->n, t->m, first,
                0, 0, last, 0, 0);
    assert_true(box[0] >= first && box[3] <= last + 1 && box[3] >= 0);
    assert_true(box[1] >= 0 && box[2] >= 0 && box[4] >= 0 && box[5] >= 0);
    if (box[1] >= box[4] || box[2] >= box[5])
        box[3] = box[0];
}

static int tile_passes(const program *p, const tile *t, const int64_t box[6])
{
    static int64_t out[ROOM], in[ROOM];
    test_item item = {box[0], t->group, t->local_size, t->grid, 0, 0, {0, 0}};

    return box[0] >= box[3] ||
           p->proof(&item, out, t->out_size, in, t->in_size, t->n, t->m, box[0],
                    0, 0, box[3] - 1, 0, 0) == 0;
}

/* Arrays that items change; both bodies begin with equal ones. */
typedef struct arrays {
    int64_t out[ROOM];
    int64_t in[ROOM];
} arrays;

static int32_t run_item(const tile *t, item_function function, arrays *a,
                        test_item *item)
{
    return function(item, a->out, t->out_size, a->in, t->in_size, t->n, t->m);
}

/* Whether the second body may have checks of bounds, too: of what is read from
   memory. Then it has to raise what the first one raises. */
static int keeps_checks;

/* Runs the checked body for every item and, where the tile passed, the other
   one beside it; true when an item raised. */
static int run_tile(const program *p, const tile *t, const int64_t box[6],
                    int passed, const char *text)
{
    const int64_t first = t->group * t->local_size;
    arrays a, b;

    memset(&a, 0, sizeof a);
    for (int64_t i = 0; i < ROOM; i++)
        a.in[i] = (i * 7 + 3) % 11 - 2;
    b = a;
    for (int64_t i = first; i < first + t->local_size && i < t->grid; i++) {
        test_item one = {i, t->group, t->local_size, t->grid, 0, 0, {0, 0}};
        test_item two = one;
        const int32_t failed = run_item(t, p->item, &a, &one);

        if (passed && one.kind == KILN_EXCEPTION_BOUNDS && !keeps_checks)
            fail_msg("item %" PRId64 " passed and is out of bounds:\n%s", i,
                     text);
        if (passed) {
            const int is_in = i >= box[0] && i < box[3];

            assert_int_equal(is_in ? run_item(t, p->safe, &b, &two) : 0,
                             failed);
            assert_memory_equal(&one, &two, sizeof one);
            assert_memory_equal(&a, &b, sizeof a);
        }
        if (failed)
            return 1;
    }
    return 0;
}

typedef struct outcome {
    int passed;
    int tiles;
    int missed; /* neither passed nor raised */
} outcome;

static void try_tile(const program *p, const tile *t, const char *text,
                     outcome *o)
{
    int64_t box[6];
    int passes, raised;

    find_box(p, t, box);
    passes = tile_passes(p, t, box);
    raised = run_tile(p, t, box, passes, text);

    o->tiles++;
    o->passed += passes;
    o->missed += !passes && !raised;
}

static const int64_t odd_values[] = {0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     16,
                                     -1,
                                     -5,
                                     40,
                                     INT64_MAX,
                                     INT64_MIN,
                                     INT64_MAX / 2,
                                     (int64_t)1 << 32,
                                     1 << 20,
                                     INT64_MIN + 1};
#define ODD (sizeof odd_values / sizeof *odd_values)

/* Sizes, arguments and tiles in many ways. */
static outcome try_many(const program *p, const char *text)
{
    outcome o = {0, 0, 0};

    for (int64_t grid = 1; grid <= 33; grid += 8)
        for (int64_t local = 1; local <= 32; local += 15)
            for (int64_t group = 0; group * local < grid; group++)
                for (size_t i = 0; i < ODD * ODD; i++) {
                    const tile t = {group,
                                    local,
                                    grid,
                                    (int64_t)(i * 5 % 41),
                                    (int64_t)(i * 11 % 37),
                                    odd_values[i % ODD],
                                    odd_values[i / ODD]};

                    try_tile(p, &t, text, &o);
                }
    return o;
}

#define HEAD RANDOM_HEAD
#define ANY 0   /* sound */
#define SOME 1  /* and some tiles pass */
#define EXACT 2 /* and every tile that does not raise */
#define NEVER 3 /* there is no second body */

static void holds(const char *text, int expected)
{
    outcome o = {0, 0, 0};
    program p;

    assert_true(program_open(&p, text));
    if (p.proof != NULL)
        o = try_many(&p, text);
    if (expected == NEVER && p.proof != NULL)
        fail_msg("a second body for\n%s", text);
    if ((expected == SOME || expected == EXACT) && o.passed == 0)
        fail_msg("no tile of %d passed:\n%s", o.tiles, text);
    if (expected == EXACT && o.missed != 0)
        fail_msg("%d of %d tiles raise nothing and did not pass:\n%s", o.missed,
                 o.tiles, text);
    program_close(&p);
}

/* ---- kernels ---- */

static void an_unguarded_index_is_proved_exactly(void **state)
{
    (void)state;
    holds(HEAD "out[global_id(0)] = 1\nend\n", EXACT);
    holds(HEAD "i = global_id(0)\nout[i + 3] = src[i + 1]\nend\n", EXACT);
    holds(HEAD "out[local_id(0)] = 1\nend\n", EXACT);
    holds(HEAD "out[group_id(0) * local_size(0) + local_id(0)] = 1\nend\n",
          EXACT);
    holds(HEAD "out[global_size(0) - 1 - global_id(0)] = 1\nend\n", EXACT);
}

static void a_guard_is_believed(void **state)
{
    (void)state;
    holds(HEAD "i = global_id(0)\nif i < length(out)\nout[i] = 1\nend\nend\n",
          EXACT);
    holds(HEAD "i = global_id(0)\nif i + 1 < length(out) && i >= 1\n"
               "out[i] = out[i - 1] + out[i + 1]\nend\nend\n",
          EXACT);
    holds(HEAD "i = global_id(0)\nif i >= length(out) || i >= length(src)\n"
               "return\nend\nout[i] = src[i]\nend\n",
          EXACT);
    holds(HEAD "i = global_id(0)\nif !(i >= length(out))\nout[i] = 1\nend\n"
               "end\n",
          EXACT);
    holds(HEAD "if global_id(0) == 5 && length(out) > 5\n"
               "out[global_id(0)] = 1\nend\nend\n",
          EXACT);
    holds("fn inside(p, n) = p[0] < n && p[1] >= 0\n" HEAD
          "x = global_id(0)\ny = m\nif inside((x, y), length(out)) &&"
          " y < length(src)\nout[x] = src[y]\nend\nend\n",
          EXACT);
}

static void neighbours_around_the_end_are_proved(void **state)
{
    (void)state;
    holds(HEAD "i = global_id(0)\ns = length(out)\nif i < s\n"
               "l = i == 0 ? s - 1 : i - 1\nr = i == s - 1 ? 0 : i + 1\n"
               "out[i] = out[l] + out[r]\nend\nend\n",
          EXACT);
    holds(HEAD "i = global_id(0)\ns = length(out)\nif i < s\n"
               "l = select(i == 0, s - 1, i - 1)\n"
               "out[i] = out[l]\nend\nend\n",
          EXACT);
    holds(HEAD "i = global_id(0)\ns = length(out)\nif i < s\n"
               "out[(i + 1) % s] = out[(i + s - 1) % s]\nend\nend\n",
          EXACT);
    holds(HEAD "i = global_id(0)\ns = length(out)\nif i < s\n"
               "out[max(i - 1, 0)] = out[min(i + 1, s - 1)]\nend\nend\n",
          EXACT);
}

static void a_choice_in_a_sum_is_proved_case_by_case(void **state)
{
    (void)state;
    holds(HEAD "i = global_id(0)\ns = length(out)\nif i < s\n"
               "l = i == 0 ? 0 : -1\nr = i < s - 1 ? 1 : 0\n"
               "out[i] = out[i + l] + out[i + r]\nend\nend\n",
          EXACT);
    holds(HEAD "i = global_id(0)\ns = length(out)\nif i < s\n"
               "l = i == 0 ? 0 : -1\nr = i < s - 1 ? 1 : 0\n"
               "out[i] = out[i + l + r] + out[i - r * l]\nend\nend\n",
          SOME);
    /* Both sides count, and a side only where it is chosen. */
    holds(HEAD "i = global_id(0)\ns = length(out)\nif i < s\n"
               "l = i == 0 ? -1 : 0\n"
               "out[i] = out[i + l]\nend\nend\n",
          ANY);
    holds(HEAD "i = global_id(0)\ns = length(out)\nif i < s\n"
               "l = i == 0 ? 1 : -n\n"
               "out[i] = out[i + l]\nend\nend\n",
          ANY);
}

static void what_the_program_looked_up_is_proved_behind_a_guard(void **state)
{
    (void)state;
    holds(HEAD "i = global_id(0)\nif i < length(src)\nj = src[i]\n"
               "if j >= 0 && j < length(out)\nout[j] = 1\nend\nend\nend\n",
          EXACT);
    holds(HEAD "i = global_id(0)\nif i < length(src)\n"
               "out[src[i] & 15] = 1\nend\nend\n",
          SOME);
}

static void what_only_data_decide_stays_in_both_bodies(void **state)
{
    (void)state;
    keeps_checks = 1;
    holds(HEAD "i = global_id(0)\nif i < length(src)\nout[src[i]] = 1\nend\n"
               "end\n",
          SOME);
    holds(HEAD "i = global_id(0)\nj = src[i]\nout[i] = src[j + 1] + src[i]\n"
               "end\n",
          SOME);
    holds(HEAD "for j in src[0]..src[1]\nout[j] = src[2]\nend\nend\n", SOME);
    holds(HEAD "for j in 0..3\nout[src[j] * 32] = 1\nend\nend\n", SOME);
    holds(HEAD "out[src[0]] = src[src[1]]\nend\n", SOME);
    keeps_checks = 0;
}

static void what_a_comparison_says_of_a_difference_is_believed(void **state)
{
    (void)state;
    holds(HEAD "l = local_id(0)\nd = min(max(n, 0), 40)\n"
               "if l >= d && l < length(out)\nout[l - d] = 1\nend\nend\n",
          EXACT);
    holds(HEAD "i = global_id(0)\nd = min(max(n, 1), 40)\n"
               "if d < i && i <= length(out)\nout[i - d - 1] = 1\nend\n"
               "end\n",
          SOME);
    holds(HEAD "if global_id(0) >= n\nout[global_id(0) - n] = 1\nend\nend\n",
          ANY);
    holds(HEAD "if n >= m\nout[n - m] = 1\nend\nend\n", ANY);
}

static void locals_that_move_to_and_fro_are_proved(void **state)
{
    (void)state;
    holds(HEAD "s = 0\nfor j in 0..7\nout[s] = src[1 - s]\ns = 1 - s\nend\n"
               "end\n",
          EXACT);
    holds(HEAD "s = 1\nj = 0\nwhile j < 7\nout[s] = src[3 - s]\ns = 3 - s\n"
               "j += 1\nend\nend\n",
          EXACT);
    holds(HEAD "s = 0\nfor j in 0..7\nout[s] = 1\ns = s ^ 1\nend\nend\n",
          EXACT);
    holds(HEAD "s = n\nfor j in 0..7\nout[s] = 1\ns = 5 - s\nend\nend\n", ANY);
    holds(HEAD "s = n\nfor j in 0..7\nout[s] = 1\ns = s ^ 1\nend\nend\n", ANY);
    holds(HEAD "s = 4\nfor j in 0..7\nout[s] = 1\ns = s ^ 1\nend\nend\n", ANY);
    holds(HEAD "s = 0\nfor j in 0..7\nout[s] = 1\ns = 1 - s\nif j == n\n"
               "s = 5\nend\nend\nend\n",
          ANY);
    holds(HEAD "s = 0\nfor j in 0..2\nfor k in 0..3\nout[s] = 1\n"
               "s = 2 - s\nend\nend\nend\n",
          EXACT);
}

static void locals_that_grow_by_factors_are_proved(void **state)
{
    (void)state;
    holds(HEAD "d = 1\nwhile d < 20\nout[d] = 1\nd *= 2\nend\nend\n", SOME);
    holds(HEAD "d = 3\nwhile d < length(out)\nout[d] = 1\nd *= 3\nend\nend\n",
          SOME);
    holds(HEAD "d = 1\nwhile d < 20\nout[d] = 1\nd <<= 1\nend\nend\n", SOME);
    holds(HEAD "d = m\nwhile d > 0 && d < length(out)\nout[d] = 1\nd *= 2\n"
               "end\nend\n",
          ANY);
    holds(HEAD "d = -1\nwhile d > -20\nout[0] = 1\nd *= 2\nend\nend\n", ANY);
    holds(HEAD "l = local_id(0)\nd = 1\nwhile d < 32\n"
               "if l >= d && l < length(out)\nout[l - d] = 1\nend\nd *= 2\n"
               "end\nend\n",
          SOME);
}

static void loops_over_ranges_are_proved(void **state)
{
    (void)state;
    holds(HEAD
          "for j in 0..length(src)\nout[global_id(0)] += src[j]\nend\nend\n",
          SOME);
    holds(HEAD "for j in 1..length(src) - 1\n"
               "out[0] = src[j - 1] + src[j + 1]\nend\nend\n",
          SOME);
    holds(HEAD "for j in length(out) - 1..-1 by -1\nout[j] = 1\nend\nend\n",
          SOME);
    holds(HEAD "for j in n..m\nout[j] = 1\nend\nend\n", ANY);
    holds(HEAD "for j in 0..length(out) by 3\nout[j] = 1\nend\nend\n", SOME);
    holds(HEAD "for j in static(0..4)\nout[global_id(0) + j] = 1\nend\nend\n",
          EXACT);
}

static void locals_that_move_one_way_are_proved(void **state)
{
    (void)state;
    holds(HEAD "i = length(out) - 1\nwhile i >= 0\nout[i] = 1\ni -= 1\nend\n"
               "end\n",
          EXACT);
    holds(HEAD "i = length(out)\nwhile i > 0\ni -= 1\nout[i] = src[0]\nend\n"
               "end\n",
          EXACT);
    holds(HEAD "i = n\nwhile i >= 0\nout[i] = 1\ni -= 3\nend\nend\n", ANY);
    holds(HEAD "i = n\nwhile i > -4\nout[i] = 1\ni -= 1\nend\nend\n", ANY);
    holds(HEAD "i = length(out)\nwhile i >= 0\nout[i] = 1\ni -= 1\nend\n"
               "end\n",
          ANY);
    holds(HEAD "i = global_id(0)\nwhile i < length(out)\nout[i] = 1\n"
               "i += global_size(0)\nend\nend\n",
          EXACT);
    holds(HEAD "i = global_id(0)\nwhile i < n\nout[i] = 1\ni += 1\nend\nend\n",
          ANY);
    holds(HEAD "s = length(out) // 2\nwhile s > 0\nout[s] = 1\ns = s // 2\n"
               "end\nend\n",
          SOME);
    holds(HEAD "s = length(out) >> 1\nwhile s > 0\nout[s] = 1\ns >>= 1\n"
               "end\nend\n",
          SOME);
    holds(HEAD "i = 0\nwhile i < 8\nfor j in 0..2\ni += 1\nend\n"
               "out[i] = 1\nend\nend\n",
          ANY);
    holds(HEAD "i = 0\nc = 0\nwhile i < length(out)\nout[i] = c\n"
               "c += 1\ni += 1\nend\nend\n",
          SOME);
}

static void sums_that_overflow_are_not_believed(void **state)
{
    (void)state;
    holds(HEAD "out[global_id(0) * n] = 1\nend\n", SOME);
    holds(HEAD "out[global_id(0) * n * m] = 1\nend\n", SOME);
    holds(HEAD "out[global_id(0) + n + m] = 1\nend\n", SOME);
    holds(HEAD "i = global_id(0)\nif i * n < length(out) && i * n >= 0\n"
               "out[i * n] = 1\nend\nend\n",
          SOME);
    holds(HEAD "i = global_id(0)\nif i + n < length(out)\n"
               "out[i] = 1\nend\nend\n",
          SOME);
    holds(HEAD "i = global_id(0)\nif i - n < length(out) && i - n > m\n"
               "out[i - m] = 1\nend\nend\n",
          ANY);
    holds(HEAD "out[abs(global_id(0) - n)] = 1\nend\n", SOME);
    holds(HEAD "out[-(global_id(0) - n)] = 1\nend\n", SOME);
    holds(HEAD "out[(global_id(0) << 61) >> 61] = 1\nend\n", SOME);
    holds(HEAD "out[i64(wrap(i8, global_id(0) * 9))] = 1\nend\n", SOME);
    holds(HEAD "out[i64(wrap(u8, global_id(0) + n))] = 1\nend\n", SOME);
    holds(HEAD "out[i64(trunc(i8, global_id(0) + n))] = 1\nend\n", SOME);
}

static void divisors_and_conversions_are_proved_too(void **state)
{
    (void)state;
    holds(HEAD "out[global_id(0) // n] = 1\nend\n", SOME);
    holds(HEAD "out[global_id(0) % n] = 1\nend\n", SOME);
    holds(HEAD "out[n % (global_id(0) + 1)] = 1\nend\n", SOME);
    holds(HEAD "out[n // (global_id(0) + m)] = 1\nend\n", SOME);
    holds(HEAD "out[i64(i8(global_id(0) + n))] = 1\nend\n", SOME);
    holds(HEAD "assert(global_id(0) < n)\nif n <= length(out)\n"
               "out[global_id(0)] = 1\nend\nend\n",
          SOME);
}

static void calls_give_back_what_they_know(void **state)
{
    (void)state;
    holds(
        "fn left(i, s)\nif i == 0\nreturn s - 1\nend\nreturn i - 1\nend\n" HEAD
        "i = global_id(0)\nif i < length(out)\n"
        "out[left(i, length(out))] = 1\nend\nend\n",
        EXACT);
    holds("fn put(a, i)\nif i < length(a)\na[i] = 1\nend\nend\n" HEAD
          "put(out, global_id(0))\nput(out, global_id(0) + 2)\nend\n",
          EXACT);
    holds("fn fact(i: i64) -> i64\nif i < 2\nreturn 1\nend\n"
          "return i * fact(i - 1)\nend\n" HEAD "out[fact(3)] = 1\nend\n",
          NEVER);
}

/* ---- random kernels ---- */

static void random_kernels_never_pass_and_raise(void **state)
{
    const char *from = getenv("KILN_TEST_SEED");
    const uint64_t seed = from != NULL ? strtoull(from, NULL, 0) : 20240607;
    const char *rounds = getenv("KILN_TEST_ROUNDS");
    const int count = rounds != NULL ? atoi(rounds) : 60;
    int bodies = 0, passed = 0;

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    random_kernel_begin(seed);
    keeps_checks = 1;
    for (int i = 0; i < count; i++) {
        static char text[8192];
        outcome o = {0, 0, 0};
        program p;

        random_kernel(text, sizeof text);
        if (!program_open(&p, text))
            continue;
        if (p.proof != NULL) {
            bodies++;
            o = try_many(&p, text);
            passed += o.passed > 0;
        }
        program_close(&p);
    }
    keeps_checks = 0;
    print_message("%d of %d kernels have a second body, %d passed tiles\n",
                  bodies, count, passed);
    assert_true(bodies > 0 && passed > 0);
}

/* ---- memory ---- */

static kiln_status lower_with(const kiln_alloc *alloc, void *text)
{
    kiln__codegen_backend backend = lower_fake_backend;
    lower_fake fake;
    kiln_status status;

    backend.runs_tiles = 1;
    lower_fake_init(&fake);
    fake.alloc = alloc;
    fake.settings.opt_level = 2;
    status = lower_fake_parse(&fake, "k", text, NULL);
    if (status == KILN_OK)
        status = lower_fake_lower_with(&fake, &backend);
    lower_fake_dispose(&fake);
    return status;
}

static void memory_may_end_anywhere(void **state)
{
    program p = {NULL};
    kiln_blob typed = typed_text(
        &p, "fn left(i, s)\nif i == 0\nreturn s - 1\nend\nreturn i - 1\n"
            "end\n" HEAD "i = global_id(0)\nwhile i < length(out)\n"
            "for j in 0..min(n, length(src))\n"
            "out[left(i, length(out))] += src[j] // (1 + (m & 3))\nend\n"
            "i += global_size(0)\nend\nend\n");

    (void)state;
    assert_non_null(typed.data);
    assert_survives_failing_alloc(lower_with, (void *)(uintptr_t)typed.data);
    kiln_blob_release(&typed);
    kiln_context_free(p.context);
}

static int start_llvm(void **state)
{
    (void)state;
    LLVMLinkInMCJIT();
    return LLVMInitializeNativeTarget() || LLVMInitializeNativeAsmPrinter();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unguarded_index_is_proved_exactly),
        cmocka_unit_test(a_guard_is_believed),
        cmocka_unit_test(neighbours_around_the_end_are_proved),
        cmocka_unit_test(a_choice_in_a_sum_is_proved_case_by_case),
        cmocka_unit_test(what_the_program_looked_up_is_proved_behind_a_guard),
        cmocka_unit_test(what_only_data_decide_stays_in_both_bodies),
        cmocka_unit_test(what_a_comparison_says_of_a_difference_is_believed),
        cmocka_unit_test(locals_that_move_to_and_fro_are_proved),
        cmocka_unit_test(locals_that_grow_by_factors_are_proved),
        cmocka_unit_test(loops_over_ranges_are_proved),
        cmocka_unit_test(locals_that_move_one_way_are_proved),
        cmocka_unit_test(sums_that_overflow_are_not_believed),
        cmocka_unit_test(divisors_and_conversions_are_proved_too),
        cmocka_unit_test(calls_give_back_what_they_know),
        cmocka_unit_test(random_kernels_never_pass_and_raise),
        cmocka_unit_test(memory_may_end_anywhere),
    };

    return cmocka_run_group_tests(tests, start_llvm, NULL);
}
