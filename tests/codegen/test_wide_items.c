/* test_wide_items.c - vectors of items that go through loops do what items do.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"
#include "support/written.h"

/*
 * An item goes through a loop, as often as a number in memory says, and perhaps
 * through another one in it. It reads elements that are its own, those that all
 * items read, those of neighbours, and those that are somewhere; computes; does
 * something only if a comparison holds; and writes what is its own. Each kernel
 * is compiled without optimisation and with it, and must do the same.
 *
 * Of `y`, 1024 items have an i32 each at 0, an i16 at 4096 bytes, an i8 at 6144
 * and an i64 at 8192. At 16384 is what no item writes: the numbers of
 * iterations, and elements.
 */

#define BYTES 24576
#define KERNELS 50

static uint32_t seed = 1;

static uint32_t pick(uint32_t below)
{
    return random_below(&seed, below);
}

#define PICK(names) random_text(&seed, names, sizeof(names) / sizeof *(names))

/* ---- kernels ---- */

typedef struct kernel {
    written text;
    unsigned last; /* number of the value that was computed last */
    unsigned count;
} kernel;

static unsigned next(kernel *k)
{
    return ++k->count;
}

/* Loads what is at a place that only this item writes. */
static void put_own(kernel *k)
{
    static const char *const types[] = {"i32", "i16", "i8", "i64"};
    static const int places[] = {0, 4096, 6144, 8192};
    const uint32_t which = pick(4);
    const unsigned v = next(k);

    written_put(&k->text,
                "  %%p%u = getelementptr i8, ptr %%y, i64 %d\n"
                "  %%q%u = getelementptr %s, ptr %%p%u, i64 %%x\n"
                "  %%l%u = load %s, ptr %%q%u\n",
                v, places[which], v, types[which], v, v, types[which], v);
    if (which == 0)
        written_put(&k->text, "  %%v%u = xor i32 %%l%u, 0\n", v, v);
    else
        written_put(&k->text, "  %%v%u = %s %s %%l%u to i32\n", v,
                    which == 3 ? "trunc"
                    : pick(2)  ? "sext"
                               : "zext",
                    types[which], v);
    k->last = v;
}

/* Loads what no item writes. */
static void put_shared(kernel *k)
{
    const unsigned v = next(k);

    switch (pick(4)) {
    case 0:
        written_put(&k->text, "  %%a%u = add i64 %%x, %%k\n", v);
        break;
    case 1:
        written_put(&k->text, "  %%a%u = add i64 %%k, %d\n", v, (int)pick(9));
        break;
    case 2:
        written_put(&k->text,
                    "  %%b%u = mul i64 %%x, %d\n"
                    "  %%a%u = add i64 %%b%u, %%k\n",
                    v, (int)pick(3), v, v);
        break;
    default:
        written_put(&k->text,
                    "  %%b%u = mul i64 %%x, %%k\n"
                    "  %%a%u = and i64 %%b%u, 255\n",
                    v, v, v);
    }
    written_put(&k->text,
                "  %%p%u = getelementptr i8, ptr %%y, i64 16448\n"
                "  %%i%u = and i64 %%a%u, 1023\n"
                "  %%q%u = getelementptr i32, ptr %%p%u, i64 %%%s%u\n"
                "  %%v%u = load i32, ptr %%q%u\n",
                v, v, v, v, v, pick(2) ? "a" : "i", v, v, v);
    k->last = v;
}

static void put_arithmetic(kernel *k)
{
    static const char *const operations[] = {"add", "sub", "mul", "xor", "or"};
    const unsigned v = next(k);

    if (pick(5) == 0)
        written_put(&k->text,
                    "  %%f%u = sitofp i32 %%v%u to double\n"
                    "  %%g%u = fadd double %%f%u, 0.5\n"
                    "  %%h%u = call double @llvm.floor.f64(double %%g%u)\n"
                    "  %%v%u = call i32 @llvm.fptosi.sat.i32.f64("
                    "double %%h%u)\n",
                    v, k->last, v, v, v, v, v, v);
    else if (pick(4) == 0)
        written_put(&k->text,
                    "  %%t%u = trunc i64 %%x to i32\n"
                    "  %%v%u = %s i32 %%t%u, %%v%u\n",
                    v, v, PICK(operations), v, k->last);
    else
        written_put(&k->text, "  %%v%u = %s i32 %%v%u, %d\n", v,
                    PICK(operations), k->last, (int)pick(9) + 1);
    k->last = v;
}

static void put_store(kernel *k, unsigned value)
{
    const unsigned v = next(k);

    if (pick(2))
        written_put(&k->text,
                    "  %%s%u = getelementptr i32, ptr %%y, i64 %%x\n"
                    "  store i32 %%v%u, ptr %%s%u\n",
                    v, value, v);
    else
        written_put(&k->text,
                    "  %%r%u = getelementptr i8, ptr %%y, i64 8192\n"
                    "  %%s%u = getelementptr i64, ptr %%r%u, i64 %%x\n"
                    "  %%w%u = sext i32 %%v%u to i64\n"
                    "  store i64 %%w%u, ptr %%s%u\n",
                    v, v, v, v, value, v, v);
}

/* Does something if a comparison of the last value holds, perhaps only for some
   of these items, and perhaps something else otherwise. */
static void put_branch(kernel *k, unsigned depth)
{
    static const char *const predicates[] = {"slt", "sgt", "eq", "ne"};
    const unsigned id = next(k), before = k->last;
    unsigned held, other = before;

    written_put(&k->text,
                "  %%c%u = icmp %s i32 %%v%u, %d\n"
                "  br i1 %%c%u, label %%if%u, label %%else%u\n"
                "if%u:\n",
                id, PICK(predicates), before, (int)pick(40), id, id, id, id);
    if (pick(2))
        put_shared(k);
    if (pick(3) == 0 && depth < 2)
        put_branch(k, depth + 1);
    put_arithmetic(k);
    if (pick(2))
        put_store(k, k->last);
    held = k->last;
    written_put(&k->text,
                "  br label %%held%u\nheld%u:\n  br label %%meet%u\n"
                "else%u:\n",
                id, id, id, id);
    k->last = before;
    if (pick(2)) {
        put_arithmetic(k);
        other = k->last;
    }
    written_put(&k->text,
                "  br label %%meet%u\nmeet%u:\n"
                "  %%v%u = phi i32 [ %%v%u, %%held%u ], [ %%v%u, %%else%u ]\n",
                id, id, next(k), held, id, other, id);
    k->last = k->count;
}

/* A loop inside, which may begin or end somewhere else for each item. It has an
   iteration also where it begins behind its end. */
static void put_inner(kernel *k)
{
    static const char *const firsts[] = {"0", "0", "0", "0", "%some"};
    static const char *const ends[] = {"%inner", "%inner", "%inner", "%inner",
                                       "%somewhere"};
    const unsigned id = next(k), first = k->last;
    unsigned sum;

    written_put(&k->text, "  br label %%before%u\nbefore%u:\n", id, id);
    written_put(&k->text,
                "  br label %%inner%u\n"
                "inner%u:\n"
                "  %%j%u = phi i64 [ %s, %%before%u ], [ %%jn%u, %%next%u ]\n"
                "  %%v%u = phi i32 [ %%v%u, %%before%u ], [ %%in%u, %%next%u "
                "]\n",
                id, id, id, PICK(firsts), id, id, id, next(k), first, id, id,
                id);
    sum = k->last = k->count;
    put_arithmetic(k);
    written_put(&k->text,
                "  %%in%u = add i32 %%v%u, %%v%u\n"
                "  br label %%next%u\n"
                "next%u:\n"
                "  %%jn%u = add i64 %%j%u, 1\n"
                "  %%jc%u = icmp ult i64 %%jn%u, %s\n"
                "  br i1 %%jc%u, label %%inner%u, label %%done%u\n"
                "done%u:\n"
                "  %%v%u = xor i32 %%in%u, 5\n",
                id, sum, k->last, id, id, id, id, id, id, PICK(ends), id, id,
                id, id, next(k), id);
    k->last = k->count;
}

static void put_statement(kernel *k)
{
    switch (pick(8)) {
    case 0:
        put_own(k);
        break;
    case 1:
    case 2:
        put_shared(k);
        break;
    case 3:
    case 4:
        put_branch(k, 0);
        break;
    case 5:
        put_inner(k);
        break;
    case 6:
        put_store(k, k->last);
        break;
    default:
        put_arithmetic(k);
    }
}

static void put_kernel(kernel *k)
{
    static const char *const firsts[] = {"0", "0", "%some", "%own"};
    static const char *const ends[] = {"%iterations", "%iterations",
                                       "%somewhere"};
    const char *first = PICK(firsts), *end = PICK(ends);

    written_put(&k->text, "%s",
                GROUPS_HEAD
                "declare double @llvm.floor.f64(double)\n"
                "declare i32 @llvm.fptosi.sat.i32.f64(double)\n"
                "define i32 @k(ptr %item, ptr %y, i64 %n) {\n"
                "  %x = call i64 @kiln_global_id(ptr %item, i32 0)\n"
                "  %in = icmp slt i64 %x, %n\n"
                "  br i1 %in, label %body, label %end\n"
                "body:\n"
                "  %numbers = getelementptr i8, ptr %y, i64 16384\n"
                "  %many = load i32, ptr %numbers\n"
                "  %iterations = zext i32 %many to i64\n"
                "  %second = getelementptr i32, ptr %numbers, i64 1\n"
                "  %more = load i32, ptr %second\n"
                "  %inner = zext i32 %more to i64\n"
                "  %some = and i64 %x, 7\n"
                "  %sum0 = add i64 %x, %inner\n"
                "  %somewhere = and i64 %sum0, 15\n"
                "  %place = getelementptr i32, ptr %y, i64 %x\n"
                "  %number = load i32, ptr %place\n"
                "  %few = and i32 %number, 15\n"
                "  %own = zext i32 %few to i64\n");
    written_put(&k->text,
                "  %%any = icmp ult i64 %s, %s\n"
                "  br i1 %%any, label %%loop, label %%last\n"
                "loop:\n"
                "  %%k = phi i64 [ %s, %%body ], [ %%kn, %%latch ]\n"
                "  %%v0 = phi i32 [ 3, %%body ], [ %%sum, %%latch ]\n",
                first, end, first);
    for (uint32_t i = 0; i < 2 + pick(5); i++)
        put_statement(k);
    written_put(&k->text,
                "  br label %%latch\n"
                "latch:\n"
                "  %%sum = add i32 %%v%u, %%v0\n"
                "  %%kn = add i64 %%k, 1\n"
                "  %%kc = icmp ult i64 %%kn, %s\n"
                "  br i1 %%kc, label %%loop, label %%last\n"
                "last:\n"
                "  %%all = phi i32 [ 3, %%body ], [ %%sum, %%latch ]\n"
                "  store i32 %%all, ptr %%place\n"
                "  br label %%end\n"
                "end:\n"
                "  ret i32 0\n"
                "}\n",
                k->last, end);
}

/* ---- running ---- */

/* Those that this machine is, as far as their vectors differ. */
static size_t find_processors(const char *out[3])
{
    size_t count = 0;

    out[count++] = "x86-64";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        out[count++] = "x86-64-v3";
    if (__builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq"))
        out[count++] = "x86-64-v4";
    return count;
}

static void build(outcome *o, const char *module, uint8_t level, int32_t form,
                  const char *processor)
{
    group_prepare(o, module, (group_build){level, KILN__GROUP_FORM_BEST}, form);
    o->settings.processor = processor;
    run(o);
    if (o->status != KILN_OK)
        fail_msg("%s\n%s", o->message, module);
}

static int has(const char *module, const char *instruction)
{
    outcome o;
    int found;

    build(&o, module, 2, KILN_EMIT_LLVM_OPT, "x86-64-v4");
    found = strstr(o.bytes, instruction) != NULL;
    free(o.bytes);
    return found;
}

typedef struct size {
    uint64_t items, block;
    int64_t n;
    int32_t iterations, inner;
} size;

static void run_items(const outcome *o, const size *s, int32_t *data)
{
    const struct {
        int32_t *data;
        int64_t count;
    } arguments = {data, s->n};
    launch l = make_launch(s->items, 1, 1, s->block, 1, 1);

    for (int32_t i = 0; i < BYTES / 4; i++)
        data[i] = i * 7 % 61 - 9;
    data[4096] = s->iterations;
    data[4097] = s->inner;
    assert_int_equal(run_image(o, &l, &arguments), 0);
}

static void compare(const char *module)
{
    static const size sizes[] = {
        {1, 1, 1, 3, 1},        {7, 3, 7, 2, 2},       {40, 40, 33, 1, 3},
        {200, 64, 199, 5, 1},   {256, 256, 256, 4, 2}, {256, 100, 250, 0, 1},
        {1000, 500, 999, 2, 2}, {64, 64, 0, 3, 1},     {130, 130, 129, 9, 4},
    };
    static int32_t expected[BYTES / 4], data[BYTES / 4];
    const char *processors[3];
    const size_t count = find_processors(processors);
    outcome plain, fast;

    build(&plain, module, 0, KILN_EMIT_BINARY, "x86-64");
    for (size_t p = 0; p < count; p++) {
        build(&fast, module, 2, KILN_EMIT_BINARY, processors[p]);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            run_items(&plain, &sizes[i], expected);
            run_items(&fast, &sizes[i], data);
            if (memcmp(data, expected, sizeof data) != 0)
                fail_msg("%d items, groups of %d, %s\n%s", (int)sizes[i].n,
                         (int)sizes[i].block, processors[p], module);
        }
        free(fast.bytes);
    }
    free(plain.bytes);
}

static void items_in_vectors_do_what_they_did(void **state)
{
    static char bytes[65536];
    unsigned wide = 0;

    (void)state;
    for (size_t i = 0; i < KERNELS; i++) {
        kernel k = {{bytes, sizeof bytes, 0}, 0, 0};

        put_kernel(&k);
        compare(bytes);
        wide += has(bytes, "\nwide") ? 1 : 0;
    }
    assert_in_range(wide, KERNELS / 8, KERNELS);
}

/* ---- what is gained ---- */

#define SUMS(place) \
    GROUPS_HEAD \
    "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
    "  %x = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %in = icmp slt i64 %x, %n\n" \
    "  br i1 %in, label %body, label %end\n" \
    "body:\n" \
    "  br label %loop\n" \
    "loop:\n" \
    "  %k = phi i64 [ 0, %body ], [ %kn, %loop ]\n" \
    "  %s = phi float [ 0.0, %body ], [ %sn, %loop ]\n" \
    "  %row = mul i64 %k, 1024\n" \
    "  %column = mul i64 %x, 1024\n" \
    "  %beside = add i64 %row, %x\n" \
    "  %apart = add i64 %column, %k\n" \
    "  %p = getelementptr float, ptr %y, i64 %" place "\n" \
    "  %v = load float, ptr %p\n" \
    "  %q = getelementptr float, ptr %y, i64 %k\n" \
    "  %w = load float, ptr %q\n" \
    "  %vw = fmul float %v, %w\n" \
    "  %sn = fadd float %s, %vw\n" \
    "  %kn = add i64 %k, 1\n" \
    "  %kc = icmp ult i64 %kn, 1000\n" \
    "  br i1 %kc, label %loop, label %last\n" \
    "last:\n" \
    "  %own = getelementptr float, ptr %y, i64 %x\n" \
    "  store float %sn, ptr %own\n" \
    "  br label %end\n" \
    "end:\n" \
    "  ret i32 0\n" \
    "}\n"

static void sums_of_columns_are_vectors(void **state)
{
    (void)state;
    assert_true(has(SUMS("beside"), "= load <"));
    assert_true(has(SUMS("beside"), "= fadd <"));
}

/* What it would load is far apart. */
static void rows_are_left_to_others(void **state)
{
    (void)state;
    assert_false(has(SUMS("apart"), "\nwide"));
}

/* Sums of the columns of a triangle: each item has its own bounds. */
#define TRIANGLE(first, end, compared) \
    GROUPS_HEAD \
    "define i32 @k(ptr %item, ptr %y, i64 %n) {\n" \
    "  %x = call i64 @kiln_global_id(ptr %item, i32 0)\n" \
    "  %in = icmp slt i64 %x, %n\n" \
    "  br i1 %in, label %body, label %end\n" \
    "body:\n" \
    "  %twice = mul nuw nsw i64 %x, 2\n" \
    "  %any = icmp slt i64 %" compared ", %" end "\n" \
    "  br i1 %any, label %loop, label %end\n" \
    "loop:\n" \
    "  %k = phi i64 [ %" first ", %body ], [ %kn, %loop ]\n" \
    "  %s = phi float [ 0.0, %body ], [ %sn, %loop ]\n" \
    "  %row = mul i64 %k, 1024\n" \
    "  %place = add i64 %row, %x\n" \
    "  %p = getelementptr float, ptr %y, i64 %place\n" \
    "  %v = load float, ptr %p\n" \
    "  %q = getelementptr float, ptr %y, i64 %k\n" \
    "  %w = load float, ptr %q\n" \
    "  %vw = fmul float %v, %w\n" \
    "  %sn = fadd float %s, %vw\n" \
    "  %kn = add nsw i64 %k, 1\n" \
    "  %kc = icmp slt i64 %kn, %" end "\n" \
    "  br i1 %kc, label %loop, label %last\n" \
    "last:\n" \
    "  %own = getelementptr float, ptr %y, i64 %x\n" \
    "  store float %sn, ptr %own\n" \
    "  br label %end\n" \
    "end:\n" \
    "  ret i32 0\n" \
    "}\n"

static void loops_with_bounds_of_their_own_are_vectors(void **state)
{
    (void)state;
    assert_true(has(TRIANGLE("x", "n", "x"), "\nwide"));
    assert_true(has(TRIANGLE("n", "twice", "n"), "\nwide"));
}

/* Else an item whose loop begins behind its end has an iteration all the
   same. */
static void unless_it_is_not_known_that_they_begin_before_their_end(
    void **state)
{
    (void)state;
    assert_false(has(TRIANGLE("twice", "n", "x"), "\nwide"));
}

/* A load that overlaps what was stored under a mask waits for it. */
static void loads_go_before_stores_under_masks(void **state)
{
    static const char module[] =
        GROUPS_HEAD "define i32 @k(ptr %item, ptr %y, i64 %n) {\n"
                    "  %x = call i64 @kiln_global_id(ptr %item, i32 0)\n"
                    "  %in = icmp slt i64 %x, %n\n"
                    "  br i1 %in, label %body, label %end\n"
                    "body:\n"
                    "  %odd = and i64 %x, 1\n"
                    "  %is = icmp eq i64 %odd, 1\n"
                    "  br i1 %is, label %more, label %end\n"
                    "more:\n"
                    "  %own = getelementptr i32, ptr %y, i64 %x\n"
                    "  %left = getelementptr i32, ptr %own, i64 -1\n"
                    "  %v = load i32, ptr %left\n"
                    "  store i32 %v, ptr %own\n"
                    "  br label %end\n"
                    "end:\n"
                    "  ret i32 0\n"
                    "}\n";
    unsigned count = 0;
    outcome o;

    (void)state;
    build(&o, module, 2, KILN_EMIT_LLVM_OPT, "x86-64-v4");
    for (const char *at = o.bytes; (at = strstr(at, "masked.store")) != NULL;
         at++)
        count++;
    free(o.bytes);
    assert_in_range(count, 4, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_in_vectors_do_what_they_did),
        cmocka_unit_test(sums_of_columns_are_vectors),
        cmocka_unit_test(rows_are_left_to_others),
        cmocka_unit_test(loops_with_bounds_of_their_own_are_vectors),
        cmocka_unit_test(
            unless_it_is_not_known_that_they_begin_before_their_end),
        cmocka_unit_test(loads_go_before_stores_under_masks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
