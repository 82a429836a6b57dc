/* test_item_reuse.c - items that take values from the item before them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"
#include "support/written.h"

/*
 * An item computes an expression twice, from elements that are one apart, or
 * two, or none; or the second time a little differently. Each kernel is
 * compiled without optimisation and with it, and must do the same.
 */

#define ROOM \
    300 /* elements that items read; as many follow, which they write */
#define STEPS 24 /* of the expression */
#define KERNELS 60

static uint32_t seed = 1;

static uint32_t pick(uint32_t below)
{
    return random_below(&seed, below);
}

typedef struct step {
    const char *operation;
    unsigned a, b; /* numbers of earlier values */
    int has_constant;
} step;

/* Values 0 to 3 are elements, 4 is the item's number; each step makes one. */
#define LEAVES 5

static void choose(step *steps)
{
    static const char *const operations[] = {"fadd", "fsub", "fmul", "fdiv"};

    for (unsigned i = 0; i < STEPS; i++)
        steps[i] = (step){operations[pick(4)], i + LEAVES - 1, pick(i + LEAVES),
                          pick(4) == 0};
}

/* Writes the expression, with the element at `by` more than the item's number
   first. Where `is_other`, a constant is another one. */
static void put_expression(written *text, const char *name, const step *steps,
                           int by, int is_other)
{
    for (int i = 0; i < 4; i++)
        written_put(text,
                    "  %%%si%d = add i64 %%x, %d\n"
                    "  %%%sp%d = getelementptr float, ptr %%y, i64 %%%si%d\n"
                    "  %%%s%d = load float, ptr %%%sp%d\n",
                    name, i, by + i, name, i, name, i, name, i, name, i);
    written_put(text,
                "  %%%sn = add i64 %%x, %d\n"
                "  %%%s4 = sitofp i64 %%%sn to float\n",
                name, by, name, name);
    for (unsigned i = 0; i < STEPS; i++)
        if (steps[i].has_constant)
            written_put(text, "  %%%s%u = %s float %%%s%u, %s\n", name,
                        i + LEAVES, steps[i].operation, name, steps[i].a,
                        is_other && i == STEPS / 2 ? "3.0" : "1.5");
        else
            written_put(text, "  %%%s%u = %s float %%%s%u, %%%s%u\n", name,
                        i + LEAVES, steps[i].operation, name, steps[i].a, name,
                        steps[i].b);
}

static void put_kernel(written *text, int apart, int is_other)
{
    step steps[STEPS];

    choose(steps);
    steps[STEPS / 2].has_constant = 1;
    written_put(text, "%s",
                GROUPS_HEAD
                "define i32 @k(ptr %item, ptr %y, i64 %n) {\n"
                "  %x = call i64 @kiln_global_id(ptr %item, i32 0)\n"
                "  %in = icmp slt i64 %x, %n\n"
                "  br i1 %in, label %body, label %end\n"
                "body:\n");
    put_expression(text, "r", steps, 2, is_other);
    put_expression(text, "l", steps, 2 - apart, 0);
    written_put(text,
                "  %%v = fsub float %%r%u, %%l%u\n"
                "  %%place = add i64 %%x, %d\n"
                "  %%own = getelementptr float, ptr %%y, i64 %%place\n"
                "  store float %%v, ptr %%own\n"
                "  br label %%end\n"
                "end:\n"
                "  ret i32 0\n"
                "}\n",
                STEPS + LEAVES - 1, STEPS + LEAVES - 1, ROOM);
}

/* ---- running ---- */

/* The best of these that this machine is. */
static const char *best_processor(void)
{
    if (__builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq"))
        return "x86-64-v4";
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
               ? "x86-64-v3"
               : "x86-64";
}

static void build(outcome *o, const char *module, uint8_t level, int32_t form,
                  const char *processor)
{
    group_prepare(o, module, (group_build){level, KILN__GROUP_FORM_BEST}, form);
    o->settings.processor = processor;
    o->settings.contract = 0;
    run(o);
    if (o->status != KILN_OK)
        fail_msg("%s\n%s", o->message, module);
}

static void run_items(const outcome *o, uint64_t block, int64_t n, float *data)
{
    const struct {
        float *data;
        int64_t count;
    } arguments = {data, n};
    launch l = make_launch(256, 1, 1, block, 1, 1);

    for (int i = 0; i < 2 * ROOM; i++)
        data[i] = (float)(i * 7 % 31 - 9) / 4;
    assert_int_equal(run_image(o, &l, &arguments), 0);
}

static void compare(const char *module)
{
    static const int64_t sizes[] = {1, 2, 16, 17, 100, 256};
    static float expected[2 * ROOM], data[2 * ROOM];
    outcome plain, fast;

    build(&plain, module, 0, KILN_EMIT_BINARY, "x86-64");
    build(&fast, module, 2, KILN_EMIT_BINARY,
          pick(2) ? best_processor() : "x86-64");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        run_items(&plain, 100, sizes[i], expected);
        run_items(&fast, 100, sizes[i], data);
        for (int k = 0; k < 2 * ROOM; k++)
            if (data[k] != expected[k] &&
                (data[k] == data[k] || expected[k] == expected[k]))
                fail_msg("%d items, element %d\n%s", (int)sizes[i], k, module);
    }
    free(plain.bytes);
    free(fast.bytes);
}

static void items_compute_what_they_did(void **state)
{
    static char bytes[32768];

    (void)state;
    for (int i = 0; i < KERNELS; i++) {
        written text = {bytes, sizeof bytes, 0};

        put_kernel(&text, (int)pick(4) == 0 ? (int)pick(3) : 1, pick(4) == 0);
        compare(bytes);
    }
}

/* ---- what is gained ---- */

static unsigned operations(int apart)
{
    static char bytes[32768];
    written text = {bytes, sizeof bytes, 0};
    unsigned count = 0;
    outcome o;

    seed = 5;
    put_kernel(&text, apart, 0);
    build(&o, bytes, 2, KILN_EMIT_LLVM_OPT, "x86-64-v4");
    for (const char *at = o.bytes; (at = strstr(at, " x float> %")) != NULL;
         at++)
        count++;
    free(o.bytes);
    return count;
}

static void half_of_it_is_done(void **state)
{
    (void)state;
    assert_in_range(operations(1), 4, operations(2) * 3 / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_compute_what_they_did),
        cmocka_unit_test(half_of_it_is_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
