/* test_groups_random.c - random kernels with barriers do what a plain
   interpreter does. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/group_programs.h"

/*
 * Each program (support/codegen/group_programs.h) is written as LLVM IR and
 * compiled. It must leave the same bytes as in the interpreter, in each form.
 */

/* ---- writing ---- */

static char bytes[1 << 17];
static written text = {bytes, sizeof bytes, 0};
static unsigned names;

#define put(...) written_put(&text, __VA_ARGS__)

static unsigned load(char letter, uint32_t index)
{
    put("  %%t%u = load i32, ptr %%%c%u\n", ++names, letter, index);
    return names;
}

static void store(char letter, uint32_t index, unsigned value)
{
    put("  store i32 %%t%u, ptr %%%c%u\n", value, letter, index);
}

static unsigned binary(const char *name, unsigned a, unsigned b)
{
    put("  %%t%u = %s i32 %%t%u, %%t%u\n", names + 1, name, a, b);
    return ++names;
}

static unsigned with_number(const char *name, unsigned a, int32_t b)
{
    put("  %%t%u = %s i32 %%t%u, %d\n", names + 1, name, a, b);
    return ++names;
}

/* to = a * factor + (b ^ with) */
static void put_mixed(char letter, const operation *op, int32_t factor,
                      unsigned b)
{
    const unsigned a = with_number("mul", load(letter, op->a), factor);

    store(letter, op->to, binary("add", a, b));
}

/* Begins two blocks, of which the first runs if bits of d are a value. */
static unsigned put_if(uint32_t a, int32_t mask, int32_t value)
{
    const unsigned bits = with_number("and", load('d', a), mask);

    names++;
    put("  %%t%u = icmp eq i32 %%t%u, %d\n", names, bits, value);
    put("  br i1 %%t%u, label %%then%u, label %%else%u\n", names, names, names);
    put("then%u:\n", names);
    return names;
}

static void put_choose(const operation *op)
{
    const unsigned at = put_if(op->a, 2, 2);

    store('d', op->to, with_number("add", load('d', op->b), op->c));
    put("  br label %%end%u\nelse%u:\n", at, at);
    store('d', op->to, with_number("xor", load('d', op->to), op->c));
    put("  br label %%end%u\nend%u:\n", at, at);
}

static void put_loop(const operation *op)
{
    const unsigned end_at = with_number("and", load('d', op->a), 3);
    const unsigned at = ++names;

    put("  store i32 0, ptr %%k\n  br label %%head%u\nhead%u:\n", at, at);
    put("  %%k%u = load i32, ptr %%k\n", at);
    put("  %%more%u = icmp slt i32 %%k%u, %%t%u\n", at, at, end_at);
    put("  br i1 %%more%u, label %%body%u, label %%end%u\nbody%u:\n", at, at,
        at, at);
    store('d', op->to,
          with_number("add", with_number("mul", load('d', op->to), 3), op->c));
    put("  %%n%u = add i32 %%k%u, 1\n  store i32 %%n%u, ptr %%k\n", at, at, at);
    put("  br label %%head%u\nend%u:\n", at, at);
}

static void put_shared(unsigned value)
{
    const unsigned at = ++names;

    put("  %%p%u = getelementptr i32, ptr addrspace(3) @shared, i64 %%local\n",
        at);
    put("  store i32 %%t%u, ptr addrspace(3) %%p%u\n", value, at);
    put("%s", GROUPS_BARRIER);
}

/* Reads what another item has put, and waits until all have. */
static void put_taken(const operation *op)
{
    const unsigned at = ++names;

    put("  %%o%u = add i64 %%local, %d\n", at, op->c);
    put("  %%m%u = urem i64 %%o%u, %%size\n", at, at);
    put("  %%g%u = add i64 %%first, %%m%u\n", at, at);
    put("  %%in%u = icmp slt i64 %%g%u, %%grid\n", at, at);
    put("  br i1 %%in%u, label %%then%u, label %%end%u\nthen%u:\n", at, at, at,
        at);
    put("  %%q%u = getelementptr i32, ptr addrspace(3) @shared, i64 %%m%u\n",
        at, at);
    put("  %%v%u = load i32, ptr addrspace(3) %%q%u\n", at, at);
    put("  store i32 %%v%u, ptr %%d%u\n", at, op->to);
    put("  br label %%end%u\nend%u:\n", at, at);
    put("%s", GROUPS_BARRIER);
}

static void put_exchange(const operation *op)
{
    put_shared(load('d', op->a));
    put_taken(op);
}

static void put_apart(const operation *op)
{
    const unsigned at = put_if(op->b, 1, 1);

    put_exchange(op);
    put("  br label %%else%u\nelse%u:\n", at, at);
}

static void put_turns(const operation *op)
{
    const unsigned end_at = with_number("and", load('d', op->a), 3);
    const unsigned at = ++names;

    put("  store i32 0, ptr %%k\n  br label %%head%u\nhead%u:\n", at, at);
    put("  %%k%u = load i32, ptr %%k\n", at);
    put("  %%more%u = icmp slt i32 %%k%u, %%t%u\n", at, at, end_at);
    put("  br i1 %%more%u, label %%body%u, label %%done%u\nbody%u:\n", at, at,
        at, at);
    names++;
    put("  %%t%u = load i32, ptr %%k\n", names);
    put_shared(binary("add", load('d', op->b), names));
    put_taken(op);
    put("  %%n%u = add i32 %%k%u, 1\n  store i32 %%n%u, ptr %%k\n", at, at, at);
    put("  br label %%head%u\ndone%u:\n", at, at);
}

/* A loop of five turns, with a break and a continue. */
static void put_breaks(const operation *op)
{
    const unsigned at = ++names;
    unsigned turn, bits, value;

    put("  store i32 0, ptr %%k\n  br label %%head%u\nhead%u:\n", at, at);
    put("  %%t%u = load i32, ptr %%k\n", turn = ++names);
    put("  %%more%u = icmp slt i32 %%t%u, 5\n", at, turn);
    put("  br i1 %%more%u, label %%body%u, label %%out%u\nbody%u:\n", at, at,
        at, at);
    bits = binary("ashr", load('d', op->a), turn);
    put("  %%b%u = icmp eq i32 %%t%u, 5\n", at, with_number("and", bits, 5));
    put("  br i1 %%b%u, label %%out%u, label %%on%u\non%u:\n", at, at, at, at);
    put("  %%n%u = add i32 %%t%u, 1\n  store i32 %%n%u, ptr %%k\n", at, turn,
        at);
    value = with_number("mul", load('d', op->to), 5);
    value = binary("add", value, turn);
    store('d', op->to, value);
    put("  %%s%u = icmp ne i32 %%t%u, 0\n", at, with_number("and", value, 2));
    put("  br i1 %%s%u, label %%head%u, label %%rest%u\nrest%u:\n", at, at, at,
        at);
    store('d', op->to, with_number("xor", value, op->c));
    put("  br label %%head%u\nout%u:\n", at, at);
}

/* Calls a function that returns at two places, before and after a barrier. */
static void put_call(const operation *op)
{
    const unsigned a = load('u', op->a), b = load('u', op->to);

    put("  %%t%u = call i32 @may_wait(ptr %%item, i32 %%t%u, i32 %%t%u)\n",
        ++names, a, b);
    store('u', op->to, names);
}

static void put_collective(const operation *op)
{
    const unsigned value = load('d', op->a), at = ++names;

    if (op->kind == REDUCE)
        put("  %%t%u = call i32 @kiln_reduce.add.i32(ptr %%item, i32 2, i32 "
            "%%t%u)\n",
            at, value);
    if (op->kind == SCAN && (op->c & 1) != 0)
        put("  %%t%u = call i32 @kiln_scan.add.i32(ptr %%item, i32 1, i32 "
            "%%t%u)\n",
            at, value);
    if (op->kind == SCAN && (op->c & 1) == 0)
        put("  %%t%u = call i32 @kiln_exscan.add.i32(ptr %%item, i32 2, i32 "
            "%%t%u)\n",
            at, value);
    if (op->kind == SHUFFLE)
        put("  %%t%u = call i32 @kiln_shuffle_xor.i32(ptr %%item, i32 %%t%u, "
            "i32 %d)\n",
            at, value, op->c & 15);
    store(op->kind == REDUCE ? 'u' : 'd', op->to, at);
}

static void put_vote(const operation *op)
{
    const unsigned bit = with_number("and", load('d', op->a), 4);
    const unsigned at = ++names;

    put("  %%c%u = icmp ne i32 %%t%u, 0\n", at, bit);
    put("  %%y%u = call i1 @kiln_any(ptr %%item, i32 2, i1 %%c%u)\n", at, at);
    put("  %%t%u = zext i1 %%y%u to i32\n", at, at);
    store('u', op->to, at);
}

static void put_private(const operation *op)
{
    const unsigned index = with_number("and", load('d', op->a), 3);
    const unsigned value = load('d', op->b);
    const unsigned at = ++names;

    put("  %%p%u = getelementptr [4 x i32], ptr %%a, i32 0, i32 %%t%u\n", at,
        index);
    put("  store i32 %%t%u, ptr %%p%u\n", value, at);
    put("  %%q%u = getelementptr [4 x i32], ptr %%a, i32 0, i32 %d\n", at,
        op->c & 3);
    put("  %%v%u = load i32, ptr %%q%u\n", at, at);
    put("  store i32 %%v%u, ptr %%d%u\n", at, op->to);
}

static void put_ids(const operation *op)
{
    const unsigned at = ++names;

    put("  %%x%u = trunc i64 %%local to i32\n", at);
    put("  %%y%u = mul i32 %%x%u, %d\n", at, at, op->c);
    put("  %%z%u = trunc i64 %%global to i32\n", at);
    put("  %%w%u = add i32 %%y%u, %%z%u\n", at, at, at);
    put("  %%v%u = load i32, ptr %%d%u\n", at, op->to);
    put("  %%r%u = add i32 %%v%u, %%w%u\n", at, at, at);
    put("  store i32 %%r%u, ptr %%d%u\n", at, op->to);
}

static void put_leave(const operation *op)
{
    const unsigned at = put_if(op->a, 15, op->c & 15);

    put("  br label %%leave\nelse%u:\n", at);
}

static void put_input(const operation *op)
{
    const unsigned index = with_number("and", load('u', op->a), INPUTS - 1);
    const unsigned at = ++names;

    put("  %%p%u = getelementptr i32, ptr %%data, i32 %%t%u\n", at, index);
    put("  %%v%u = load i32, ptr %%p%u\n", at, at);
    put("  store i32 %%v%u, ptr %%u%u\n", at, op->to);
}

static void put_store(const operation *op)
{
    const unsigned value = load('d', op->a);

    put("  %%p%u = getelementptr i32, ptr %%out, i32 %d\n", ++names,
        8 + (op->c & 7));
    put("  store i32 %%t%u, ptr %%p%u\n", value, names);
}

static void put_divergent(const operation *op)
{
    const unsigned b = binary("xor", load('d', op->b), load('u', op->b));

    put_mixed('d', op, 7, b);
}

/* Writes an operation at which items wait. */
static void put_together(const operation *op)
{
    switch (op->kind) {
    case BARRIER:
        put("%s", GROUPS_BARRIER);
        break;
    case CALL:
        put_call(op);
        break;
    case EXCHANGE:
        put_exchange(op);
        break;
    case VOTE:
        put_vote(op);
        break;
    case APART:
        put_apart(op);
        break;
    case TURNS:
        put_turns(op);
        break;
    default:
        put_collective(op);
        break;
    }
}

static void put_operation(const operation *op)
{
    switch (op->kind) {
    case UNIFORM:
        put_mixed('u', op, 3, with_number("xor", load('u', op->b), op->c));
        break;
    case HIDDEN:
        put_mixed('h', op, 5, with_number("xor", load('u', op->b), op->c));
        break;
    case DIVERGENT:
        put_divergent(op);
        break;
    case IDS:
        put_ids(op);
        break;
    case CHOOSE:
        put_choose(op);
        break;
    case LOOP:
        put_loop(op);
        break;
    case BREAKS:
        put_breaks(op);
        break;
    case PRIVATE:
        put_private(op);
        break;
    case LEAVE:
        put_leave(op);
        break;
    case INPUT:
        put_input(op);
        break;
    case STORE:
        put_store(op);
        break;
    default:
        put_together(op);
        break;
    }
}

static void put_head(void)
{
    put("%s@shared = internal addrspace(3) global [%d x i32] undef\n",
        GROUPS_HEAD, ITEMS_MAX);
    put("%s", "declare i32 @kiln_reduce.add.i32(ptr, i32, i32)\n"
              "declare i32 @kiln_scan.add.i32(ptr, i32, i32)\n"
              "declare i32 @kiln_exscan.add.i32(ptr, i32, i32)\n"
              "declare i32 @kiln_shuffle_xor.i32(ptr, i32, i32)\n"
              "declare i1 @kiln_any(ptr, i32, i1)\n"
              "define internal i32 @may_wait(ptr %item, i32 %a, i32 %b) {\n"
              "  %bit = trunc i32 %a to i1\n"
              "  br i1 %bit, label %wait, label %leave\n"
              "wait:\n" GROUPS_BARRIER "  %more = add i32 %b, 3\n"
              "  ret i32 %more\n"
              "leave:\n  ret i32 %b\n}\n");
}

static void put_start(void)
{
    put_head();
    put("define i32 @k(ptr %%item, ptr %%data, i64 %%count) {\n");
    for (int i = 0; i < 4; i++)
        put("  %%u%d = alloca i32\n  %%h%d = alloca i32\n"
            "  %%d%d = alloca i32\n  store i32 %d, ptr %%u%d\n",
            i, i, i, i + 1, i);
    put("  %%a = alloca [4 x i32]\n  %%k = alloca i32\n  %%f = alloca i32\n"
        "  store [4 x i32] zeroinitializer, ptr %%a\n"
        "  store i32 %d, ptr %%f\n"
        "  %%local = call i64 @kiln_local_id(ptr %%item, i32 0)\n"
        "  %%global = call i64 @kiln_global_id(ptr %%item, i32 0)\n"
        "  %%size = call i64 @kiln_local_size(ptr %%item, i32 0)\n"
        "  %%grid = call i64 @kiln_global_size(ptr %%item, i32 0)\n"
        "  %%first = sub i64 %%global, %%local\n"
        "  %%group = udiv i64 %%global, %%size\n"
        "  %%group.32 = trunc i64 %%group to i32\n"
        "  %%local.32 = trunc i64 %%local to i32\n"
        "  %%global.32 = trunc i64 %%global to i32\n",
        FUEL);
    for (int i = 0; i < 4; i++)
        put("  store i32 %%group.32, ptr %%h%d\n", i);
    put("  store i32 %%local.32, ptr %%d0\n  store i32 1, ptr %%d1\n"
        "  store i32 2, ptr %%d2\n  store i32 %%global.32, ptr %%d3\n"
        "  %%place = mul i64 %%global, %d\n"
        "  %%from = add i64 %%place, %d\n"
        "  %%out = getelementptr i32, ptr %%data, i64 %%from\n"
        "  %%own = getelementptr i32, ptr addrspace(3) @shared, i64 %%local\n"
        "  store i32 0, ptr addrspace(3) %%own\n"
        "  br label %%block0\n",
        OUTPUTS, INPUTS);
}

static void put_block(const block *b, uint32_t number)
{
    unsigned bit;

    put("block%u:\n", number);
    for (size_t i = 0; i < OPERATIONS; i++)
        put_operation(&b->operations[i]);
    put("  %%fuel%u = load i32, ptr %%f\n  %%less%u = sub i32 %%fuel%u, 1\n"
        "  store i32 %%less%u, ptr %%f\n"
        "  %%empty%u = icmp eq i32 %%less%u, 0\n"
        "  br i1 %%empty%u, label %%leave, label %%jump%u\njump%u:\n",
        number, number, number, number, number, number, number, number, number);
    bit = load(b->is_hidden ? 'h' : 'u', b->by);
    bit = with_number("and", with_number("ashr", bit, (int32_t)b->bit), 1);
    put("  %%go%u = icmp eq i32 %%t%u, 0\n", number, bit);
    put("  br i1 %%go%u, label %%", number);
    for (int i = 0; i < 2; i++) {
        if (b->next[i] == BLOCKS)
            put("leave%s", i == 0 ? ", label %" : "\n");
        else
            put("block%u%s", b->next[i], i == 0 ? ", label %" : "\n");
    }
}

static void put_end(void)
{
    put("leave:\n");
    for (uint32_t i = 0; i < 4; i++) {
        unsigned value;

        put("  %%q%u = getelementptr [4 x i32], ptr %%a, i32 0, i32 %u\n", i,
            i);
        put("  %%e%u = load i32, ptr %%q%u\n", i, i);
        value = load('d', i);
        put("  %%r%u = add i32 %%e%u, %%t%u\n", i, i, value);
        put("  %%s%u = getelementptr i32, ptr %%out, i32 %u\n", i, i);
        put("  store i32 %%r%u, ptr %%s%u\n", i, i);
        value = binary("add", load('u', i), load('h', i));
        put("  %%w%u = getelementptr i32, ptr %%out, i32 %u\n", i, 4 + i);
        put("  store i32 %%t%u, ptr %%w%u\n", value, i);
    }
    put("  ret i32 0\n}\n");
}

static void write_program(const program *p)
{
    text.size = 0;
    names = 1000;
    put_start();
    for (uint32_t i = 0; i < BLOCKS; i++)
        put_block(&p->blocks[i], i);
    put_end();
}

/* ---- the tests ---- */

#define DATA_MAX (INPUTS + OUTPUTS * 4 * ITEMS_MAX)

static void fill_data(int32_t *data, size_t count)
{
    for (size_t i = 0; i < count; i++)
        data[i] = (int32_t)(i * 2654435761u >> 7);
}

static void compare(const program *p, const group_shape *shape, uint32_t number)
{
    static int32_t wanted[DATA_MAX], got[DATA_MAX];
    const size_t count = INPUTS + OUTPUTS * (size_t)shape->grid[0];

    fill_data(wanted, count);
    interpret(p, shape, wanted);
    write_program(p);
    for (size_t i = 0; i < GROUP_BUILDS; i++) {
        if (p->is_apart && group_builds[i].form == KILN__GROUP_FORM_GENERAL)
            continue;
        fill_data(got, count);
        assert_int_equal(group_run(bytes, group_builds[i], shape, got, count),
                         0);
        for (size_t k = 0; k < count; k++)
            if (got[k] != wanted[k])
                fail_msg("program %u in groups of %d, build %zu, element %zu: "
                         "%d, not %d\n%s",
                         (unsigned)number, (int)shape->block[0], i, k, got[k],
                         wanted[k], bytes);
    }
}

/* Groups of all sizes; most grids end inside a group. */
static group_shape pick_shape(void)
{
    const uint64_t size = 1 + pick(ITEMS_MAX);

    return (group_shape){{1 + pick(4 * ITEMS_MAX - 1), 1, 1}, {size, 1, 1}};
}

static void random_kernels_do_what_an_interpreter_does(void **state)
{
    /* others than these: KILN_TEST_PROGRAMS=first-last */
    const char *range = getenv("KILN_TEST_PROGRAMS");
    uint32_t first = 0, last = 23;

    (void)state;
    if (range != NULL)
        assert_int_equal(sscanf(range, "%u-%u", &first, &last), 2);
    for (uint32_t number = first; number <= last; number++) {
        program p = {.is_apart = number % 4 == 3};
        group_shape shape;

        seed = number * 7919u + 17u;
        shape = pick_shape();
        make_program(&p);
        compare(&p, &shape, number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels_do_what_an_interpreter_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
