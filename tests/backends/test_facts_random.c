/* test_facts_random.c - random programs of facts, beside a plain reading. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends */
#include <stdlib.h>
#include <string.h>

#include "support/facts_programs.h"

/* Wide enough for each exact result. */
__extension__ typedef __int128 whole;

/* ---- the plain reading of abi/facts_abi.h ---- */

static whole most_of(unsigned width)
{
    return ((whole)1 << width) - 1;
}

/* The number that the low bits stand for, with their sign. */
static whole with_sign(uint64_t value, unsigned width)
{
    const whole low = (whole)value & most_of(width);

    return low >= (whole)1 << (width - 1) ? low - ((whole)1 << width) : low;
}

static int is_out(whole value, whole least, whole most)
{
    return value < least || value > most;
}

static uint64_t asks_unsigned(unsigned operation, unsigned width, uint64_t a,
                              uint64_t b)
{
    __extension__ typedef unsigned __int128 large;

    if (operation == KILN__FACT_UADD_WRAPS)
        return (uint64_t)is_out((whole)a + b, 0, most_of(width));
    if (operation == KILN__FACT_USUB_WRAPS)
        return (uint64_t)is_out((whole)a - b, 0, most_of(width));
    return (large)a * b > (large)most_of(width);
}

static uint64_t asks_signed(unsigned operation, unsigned width, whole a,
                            whole b)
{
    const whole most = most_of(width - 1 + (width == 1)) >> (width == 1);
    const whole value = operation == KILN__FACT_SADD_WRAPS   ? a + b
                        : operation == KILN__FACT_SSUB_WRAPS ? a - b
                                                             : a * b;

    return (uint64_t)is_out(value, -most - 1, most);
}

static uint64_t divided(unsigned operation, whole a, whole b)
{
    if (b == 0)
        return 0;
    return (uint64_t)(operation == KILN__FACT_UDIV ||
                              operation == KILN__FACT_SDIV
                          ? a / b
                          : a % b);
}

static uint64_t shifted(unsigned operation, unsigned width, uint64_t a,
                        uint64_t by)
{
    if (by >= width)
        return 0;
    return operation == KILN__FACT_SHL ? a << by
           : operation == KILN__FACT_LSHR
               ? a >> by
               : (uint64_t)(with_sign(a, width) >> by);
}

static uint64_t ordered(unsigned operation, uint64_t a, uint64_t b, whole x,
                        whole y)
{
    switch (operation) {
    case KILN__FACT_UMIN:
        return a < b ? a : b;
    case KILN__FACT_UMAX:
        return a < b ? b : a;
    case KILN__FACT_SMIN:
        return (uint64_t)(x < y ? x : y);
    case KILN__FACT_SMAX:
        return (uint64_t)(x < y ? y : x);
    case KILN__FACT_EQ:
        return a == b;
    case KILN__FACT_NE:
        return a != b;
    case KILN__FACT_ULT:
        return a < b;
    case KILN__FACT_ULE:
        return a <= b;
    case KILN__FACT_SLT:
        return x < y;
    default:
        return x <= y;
    }
}

static uint64_t computed(unsigned operation, unsigned width, uint64_t a,
                         uint64_t b)
{
    const whole x = with_sign(a, width), y = with_sign(b, width);

    switch (operation) {
    case KILN__FACT_ADD:
        return a + b;
    case KILN__FACT_SUB:
        return a - b;
    case KILN__FACT_MUL:
        return a * b;
    case KILN__FACT_AND:
        return a & b;
    case KILN__FACT_OR:
        return a | b;
    case KILN__FACT_XOR:
        return a ^ b;
    default:
        break;
    }
    if (operation <= KILN__FACT_ASHR)
        return shifted(operation, width, a, b);
    if (operation <= KILN__FACT_UREM)
        return divided(operation, a, b);
    if (operation <= KILN__FACT_SREM)
        return divided(operation, x, y);
    if (operation <= KILN__FACT_SLE)
        return ordered(operation, a, b, x, y);
    return operation <= KILN__FACT_UMUL_WRAPS
               ? asks_unsigned(operation, width, a, b)
               : asks_signed(operation, width, x, y);
}

static uint64_t read_word(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;

    memcpy(&value, at, size);
    return value;
}

/* Instruction by instruction, each one whole. */
static int plainly_hold(const facts_program *p, const uint8_t *arguments,
                        const kiln__facts_shape *shape)
{
    const size_t count = p->size / KILN__FACT_BYTES;
    uint64_t values[KILN__FACTS_MOST];

    for (size_t i = 0; i < count; i++) {
        const uint8_t *at = p->bytes + i * KILN__FACT_BYTES;
        const uint16_t a = kiln__le16_read(at + 2), b = kiln__le16_read(at + 4);
        const uint16_t c = kiln__le16_read(at + 6);
        const uint32_t number = b | (uint32_t)c << 16;
        uint64_t v;

        switch (at[0]) {
        case KILN__FACT_CONSTANT:
            v = (uint64_t)with_sign(number, 32);
            break;
        case KILN__FACT_HIGH:
            v = (uint32_t)values[a] | (uint64_t)number << 32;
            break;
        case KILN__FACT_WORD:
            v = read_word(arguments + number, a);
            break;
        case KILN__FACT_SHAPE:
            v = shape->sizes[a];
            break;
        case KILN__FACT_SELECT:
            v = values[a] != 0 ? values[b] : values[c];
            break;
        case KILN__FACT_CUT:
            v = values[a];
            break;
        case KILN__FACT_EXTEND:
            v = (uint64_t)with_sign(values[a], b);
            break;
        default:
            v = computed(at[0], at[1], values[a], values[b]);
            break;
        }
        values[i] = v & (uint64_t)most_of(at[1]);
    }
    return values[count - 1] == 1;
}

/* ---- random programs ---- */

#define ARGUMENT_BYTES 40
#define LAUNCHES 8

static uint32_t below(uint32_t count)
{
    return (uint32_t)rand() % count;
}

/* Numbers at which something changes come often. */
static uint64_t random_number(void)
{
    static const uint64_t some[] = {0,
                                    1,
                                    2,
                                    7,
                                    255,
                                    INT32_MAX,
                                    UINT32_MAX,
                                    INT64_MAX,
                                    (uint64_t)1 << 63,
                                    UINT64_MAX,
                                    UINT64_C(1) << 30};

    return below(4) != 0
               ? some[below(sizeof some / sizeof *some)] + below(3) - 1
               : (uint64_t)rand() * (uint64_t)rand() * (uint64_t)rand();
}

static void put_source(facts_program *p, unsigned width)
{
    static const uint8_t sizes[] = {8, 8, 8, 4, 2, 1};
    const uint16_t size = sizes[below(sizeof sizes)];
    const uint16_t at = (uint16_t)below(ARGUMENT_BYTES + 1 - size);

    if (below(3) == 0)
        (void)facts_put(p, KILN__FACT_CONSTANT, width,
                        (const uint16_t[]){0, (uint16_t)random_number(),
                                           (uint16_t)random_number()});
    else if (below(3) == 0)
        (void)facts_put(
            p, KILN__FACT_SHAPE, width,
            (const uint16_t[]){(uint16_t)below(KILN__FACT_SHAPES), 0, 0});
    else
        (void)facts_put(
            p, KILN__FACT_WORD, width,
            (const uint16_t[]){size,
                               below(2) != 0 ? (uint16_t)(at / 8 * 8) : at, 0});
}

/* Such operations as ours mostly are, or any. */
static unsigned random_operation(void)
{
    static const uint8_t usual[] = {
        KILN__FACT_ADD, KILN__FACT_MUL, KILN__FACT_OR,  KILN__FACT_SMIN,
        KILN__FACT_ULT, KILN__FACT_ULE, KILN__FACT_SLT, KILN__FACT_SLE};

    return below(3) != 0
               ? usual[below(sizeof usual)]
               : KILN__FACT_ADD + below(KILN__FACT_COUNT - KILN__FACT_ADD);
}

static void put_any(facts_program *p)
{
    static const uint8_t widths[] = {64, 64, 64, 64, 32, 16, 8, 1};
    const uint32_t count = (uint32_t)(p->size / KILN__FACT_BYTES);
    const unsigned width =
        below(8) != 0 ? widths[below(sizeof widths)] : 1 + below(64);
    const unsigned operation = random_operation();

    if (count < 3 || below(4) == 0) {
        put_source(p, width);
        return;
    }
    /* Near operands are mostly used once. */
    (void)facts_put(
        p, operation, width,
        (const uint16_t[]){(uint16_t)(count - 1 - below(count < 5 ? count : 5)),
                           operation == KILN__FACT_EXTEND
                               ? (uint16_t)(1 + below(64))
                               : (uint16_t)below(count),
                           (uint16_t)below(count)});
}

/* The program ends with a conjunction or a disjunction, or just ends. */
static void put_end(facts_program *p)
{
    const unsigned operation = below(2) != 0 ? KILN__FACT_AND : KILN__FACT_OR;
    const uint32_t terms = below(12);

    for (uint32_t i = 0; i < terms; i++) {
        const uint32_t count = (uint32_t)(p->size / KILN__FACT_BYTES);

        (void)facts_put(p, below(6) != 0 ? operation : KILN__FACT_ULE, 1,
                        (const uint16_t[]){(uint16_t)(count - 1),
                                           (uint16_t)below(count), 0});
    }
}

static facts_program random_program(void)
{
    const uint32_t count = 3 + below(40);
    facts_program p = {.size = 0};

    for (uint32_t i = 0; i < count; i++)
        put_any(&p);
    put_end(&p);
    return p;
}

static void random_launch(uint8_t *arguments, kiln__facts_shape *shape)
{
    for (size_t i = 0; i < ARGUMENT_BYTES; i += 8) {
        const uint64_t number = random_number();

        memcpy(arguments + i, &number, 8);
    }
    for (size_t i = 0; i < KILN__FACT_SHAPES; i++)
        shape->sizes[i] = random_number();
}

/* ---- tests ---- */

/* Returns how often the facts hold. */
static int compare(const facts_program *p)
{
    kiln__launch_facts *facts = facts_make(p->bytes, p->size);
    int holding = 0;

    for (int i = 0; i < LAUNCHES; i++) {
        uint8_t arguments[ARGUMENT_BYTES];
        kiln__facts_shape shape;
        int holds;

        random_launch(arguments, &shape);
        holds = plainly_hold(p, arguments, &shape);
        assert_int_equal(kiln__facts_evaluate(facts, arguments, &shape), holds);
        assert_int_equal(kiln__facts_hold(facts, arguments, &shape), holds);
        assert_int_equal(kiln__facts_hold(facts, arguments, &shape), holds);
        holding += holds;
    }
    kiln__facts_close(facts);
    return holding;
}

static void programs_compute_what_they_say(void **state)
{
    const int count = 60000;
    int holding = 0;

    (void)state;
    srand(11);
    for (int i = 0; i < count; i++) {
        const facts_program p = random_program();

        assert_true(kiln__facts_fit(p.bytes, p.size, ARGUMENT_BYTES));
        holding += compare(&p);
    }
    /* Both verdicts are common. */
    assert_true(holding > count * LAUNCHES / 10);
    assert_true(holding < count * LAUNCHES * 9 / 10);
}

/* Programs of the greatest length, in which much is shared. */
static void long_programs_compute_what_they_say(void **state)
{
    (void)state;
    srand(12);
    for (int i = 0; i < 200; i++) {
        facts_program p = {.size = 0};

        while (p.size < sizeof p.bytes - 12 * (size_t)KILN__FACT_BYTES)
            put_any(&p);
        put_end(&p);
        (void)compare(&p);
    }
}

/* Bytes that were not made by anybody. */
static void any_program_that_fits_is_evaluated(void **state)
{
    int fitting = 0;

    (void)state;
    srand(13);
    for (int i = 0; i < 400000; i++) {
        facts_program p = {.size = (1 + below(5)) * (size_t)KILN__FACT_BYTES};

        for (size_t k = 0; k < p.size; k++)
            p.bytes[k] = (uint8_t)(below(3) != 0 ? below(5) : below(256));
        if (!kiln__facts_fit(p.bytes, p.size, ARGUMENT_BYTES))
            continue;
        fitting++;
        (void)compare(&p);
    }
    assert_true(fitting > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_compute_what_they_say),
        cmocka_unit_test(long_programs_compute_what_they_say),
        cmocka_unit_test(any_program_that_fits_is_evaluated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
