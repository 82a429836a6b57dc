/* test_trim_random.c - random guards of items let the right ones through. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "support/codegen/groups.h"
#include "support/written.h"

/*
 * A kernel asks questions about its ids, in one branch or in several, and the
 * items for which all answers are right change an element each. A question
 * compares numbers that are made of an id: truncated, extended, moved by
 * constants and by arguments, so that they wrap in the middle of a grid. Each
 * kernel is compiled without optimisation and with it, and must do what an
 * interpreter does. The ids begin at 0 or before a power of two.
 */

#define STEPS_MAX 4
#define QUESTIONS_MAX 4
#define ARGUMENTS 3
#define WIDE_MAX 200
#define HIGH_MAX 3

/* ---- programs ---- */

enum { TRUNC, SEXT, ZEXT, ADD, SUB, ADD_ARGUMENT, SUB_ARGUMENT, STEP_KINDS };

typedef struct step {
    uint32_t kind;
    uint32_t width; /* of the result */
    uint64_t number;
    int is_exact; /* it must not wrap, as a signed number */
} step;

/* One comparison of a number that is made of an id. */
typedef struct question {
    int asks_data; /* about the item's element instead */
    uint32_t dimension;
    size_t steps;
    step made[STEPS_MAX];
    uint32_t predicate;
    uint64_t with;    /* the constant that it is compared with */
    int has_argument; /* or an argument, of that number */
    int is_swapped;
    int is_not;
    uint32_t join; /* to the questions before it */
} question;

enum { AND, OR, SELECT, BRANCH, JOINS };

typedef struct program {
    question questions[QUESTIONS_MAX];
    size_t count;
    int leaves_first; /* branches lead to the end where the answer is yes */
    int has_loop;
    int64_t turns; /* of the loop */
    int has_barrier;
    int merges; /* the element is stored behind the guard */
    int64_t arguments[ARGUMENTS];
    uint64_t first;    /* id along dimension 0 */
    uint64_t items[2]; /* along each dimension */
    uint64_t block[2];
    int is_undefined; /* it would wrap where it must not */
} program;

static uint32_t seed;

static uint32_t pick(uint32_t below)
{
    return random_below(&seed, below);
}

/* Numbers at which something wraps, and some near them. */
static uint64_t pick_number(void)
{
    static const uint64_t edges[] = {0,
                                     UINT64_C(1) << 7,
                                     UINT64_C(1) << 8,
                                     UINT64_C(1) << 15,
                                     UINT64_C(1) << 16,
                                     UINT64_C(1) << 31,
                                     UINT64_C(1) << 32,
                                     UINT64_C(1) << 33,
                                     UINT64_C(1) << 63};
    const uint64_t edge = edges[pick(sizeof edges / sizeof edges[0])];

    return (pick(2) == 0 ? edge : -edge) + pick(2 * WIDE_MAX) - WIDE_MAX;
}

static uint64_t mask_of(uint32_t width)
{
    return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static int64_t extended(uint64_t value, uint32_t width)
{
    return (int64_t)(value << (64 - width)) >> (64 - width);
}

/* ---- interpreting ---- */

static uint64_t moved(program *p, const step *s, uint64_t value)
{
    const int subtracts = s->kind == SUB || s->kind == SUB_ARGUMENT;
    const uint64_t by = s->kind == ADD || s->kind == SUB
                            ? s->number
                            : (uint64_t)p->arguments[s->number];
    const uint64_t out = subtracts ? value - by : value + by;
    int64_t exact;

    if (s->is_exact &&
        (subtracts
             ? __builtin_sub_overflow((int64_t)value, (int64_t)by, &exact)
             : __builtin_add_overflow((int64_t)value, (int64_t)by, &exact)))
        p->is_undefined = 1;
    return out & mask_of(s->width);
}

static uint64_t number_of(program *p, const question *q, const uint64_t *ids)
{
    uint64_t value = ids[q->dimension];
    uint32_t width = 64;

    for (size_t i = 0; i < q->steps; i++) {
        const step *s = &q->made[i];

        if (s->kind == TRUNC || s->kind == ZEXT)
            value &= mask_of(s->width);
        else if (s->kind == SEXT)
            value = (uint64_t)extended(value, width) & mask_of(s->width);
        else
            value = moved(p, s, value);
        width = s->width;
    }
    return value;
}

static uint32_t width_of(const question *q)
{
    return q->steps > 0 ? q->made[q->steps - 1].width : 64;
}

static const char *const predicates[] = {"eq",  "ne",  "ult", "ule", "ugt",
                                         "uge", "slt", "sle", "sgt", "sge"};

static int compares(const char *predicate, uint64_t a, uint64_t b,
                    uint32_t width)
{
    const int64_t x = extended(a, width), y = extended(b, width);
    const int less = predicate[0] == 'u' ? a < b : x < y;

    if (predicate[0] == 'e' || predicate[0] == 'n')
        return (a == b) == (predicate[0] == 'e');
    if (predicate[1] == 'l')
        return less || (predicate[2] == 'e' && a == b);
    return predicate[2] == 'e' ? !less : !less && a != b;
}

static int answer(program *p, const question *q, const uint64_t *ids,
                  int32_t element)
{
    const uint32_t width = width_of(q);
    uint64_t a = number_of(p, q, ids);
    uint64_t b = (q->has_argument ? (uint64_t)p->arguments[q->with] : q->with) &
                 mask_of(width);
    int out;

    if (q->asks_data)
        return ((element & 1) != 0) != q->is_not;
    if (q->is_swapped) {
        const uint64_t kept = a;

        a = b;
        b = kept;
    }
    out = compares(predicates[q->predicate], a, b, width);
    return out != q->is_not;
}

static int passes(program *p, const uint64_t *ids, int32_t element)
{
    int so_far = answer(p, &p->questions[0], ids, element);

    for (size_t i = 1; i < p->count; i++) {
        const question *q = &p->questions[i];
        const int now = answer(p, q, ids, element);

        if (q->join == BRANCH && !so_far)
            return 0;
        so_far = q->join == BRANCH ? now
                 : q->join == OR   ? so_far || now
                                   : so_far && now;
    }
    return so_far;
}

static int32_t changed(const program *p, int32_t element, uint64_t id)
{
    uint32_t value = (uint32_t)element * 5u + (uint32_t)id;

    value += (uint32_t)(int16_t)(uint16_t)id + (uint8_t)(id + 100);
    for (int64_t k = 0; p->has_loop && k < p->turns; k++) {
        value = value * 3u + (uint32_t)k + (uint32_t)element;
        element = (int32_t)value;
    }
    return (int32_t)value;
}

static void interpret(program *p, int32_t *data)
{
    uint64_t ids[2];

    for (ids[1] = 0; ids[1] < p->items[1]; ids[1]++)
        for (uint64_t x = 0; x < p->items[0]; x++) {
            int32_t *element = &data[ids[1] * p->items[0] + x];

            ids[0] = p->first + x;
            if (passes(p, ids, *element))
                *element = changed(p, *element, ids[0]);
        }
}

/* ---- making ---- */

static void make_step(question *q, uint32_t *width)
{
    static const uint32_t widths[] = {7, 8, 15, 16, 31, 32, 64};
    step *s = &q->made[q->steps];

    *s = (step){.kind = pick(STEP_KINDS), .width = *width};
    if (s->kind == TRUNC || s->kind == SEXT || s->kind == ZEXT) {
        s->width = s->kind == TRUNC && pick(3) != 0 ? 32 : widths[pick(7)];
        if (s->kind == TRUNC ? s->width >= *width : s->width <= *width)
            return;
    } else if (s->kind == ADD || s->kind == SUB) {
        s->number = pick(2) == 0 ? pick(20) : pick_number();
        s->is_exact = *width == 64 && pick(3) == 0;
    } else {
        s->number = pick(ARGUMENTS);
    }
    s->number &= mask_of(s->width);
    *width = s->width;
    q->steps++;
}

/* Mostly the constant is one that some item of the grid comes near. */
static void make_question(program *p, question *q)
{
    const uint64_t ids[2] = {p->first + pick((uint32_t)p->items[0]),
                             pick((uint32_t)p->items[1])};
    uint32_t width = 64;

    *q = (question){.asks_data = pick(10) == 0,
                    .dimension = pick(4) == 0,
                    .predicate = pick(10),
                    .has_argument = pick(5) == 0,
                    .is_swapped = pick(4) == 0,
                    .is_not = pick(5) == 0,
                    .join = pick(JOINS)};
    if (q->predicate < 2 && pick(3) != 0)
        q->predicate = 2 + pick(8);
    for (uint32_t i = pick(STEPS_MAX + 1); i > 0; i--)
        make_step(q, &width);
    q->with = q->has_argument ? pick(ARGUMENTS)
              : pick(5) == 0
                  ? pick_number() & mask_of(width)
                  : (number_of(p, q, ids) + pick(3) - 1) & mask_of(width);
}

static void make_program(program *p)
{
    static const uint64_t firsts[] = {
        0, 0, 0, UINT64_C(1) << 15, UINT64_C(1) << 31, UINT64_C(1) << 32};

    *p = (program){.leaves_first = pick(2) == 0,
                   .has_loop = pick(2) == 0,
                   .turns = pick(5),
                   .has_barrier = pick(3) == 0,
                   .merges = pick(3) == 0,
                   .count = 1 + pick(QUESTIONS_MAX),
                   .items = {1 + pick(WIDE_MAX), 1 + pick(HIGH_MAX)},
                   .block = {1 + pick(64), 1 + pick(2)}};
    p->first = firsts[pick(sizeof firsts / sizeof firsts[0])];
    if (p->first > 0)
        p->first = (p->first - pick(WIDE_MAX)) / p->block[0] * p->block[0];
    for (size_t i = 0; i < ARGUMENTS; i++)
        p->arguments[i] =
            pick(3) == 0 ? (int64_t)pick(WIDE_MAX) : (int64_t)pick_number();
    for (size_t i = 0; i < p->count; i++)
        make_question(p, &p->questions[i]);
}

/* ---- writing ---- */

static char bytes[1 << 15];
static written text = {bytes, sizeof bytes, 0};
static unsigned names;

#define put(...) written_put(&text, __VA_ARGS__)

/* Writes what makes %aNUMBER.WIDTH of an argument. */
static void put_argument(uint64_t number, uint32_t width)
{
    if (width < 64)
        put("  %%v%u = trunc i64 %%n%d to i%u\n", ++names, (int)number, width);
    else
        put("  %%v%u = add i64 %%n%d, 0\n", ++names, (int)number);
}

static unsigned put_number(const question *q)
{
    static const char *const names_of[] = {"trunc", "sext", "zext", "add",
                                           "sub",   "add",  "sub"};
    unsigned at = ++names;
    uint32_t width = 64;

    put("  %%v%u = add i64 %%id%u, 0\n", at, q->dimension);
    for (size_t i = 0; i < q->steps; i++) {
        const step *s = &q->made[i];
        const char *name = names_of[s->kind];

        if (s->kind >= ADD_ARGUMENT)
            put_argument(s->number, s->width);
        names++;
        if (s->kind <= ZEXT)
            put("  %%v%u = %s i%u %%v%u to i%u\n", names, name, width, at,
                s->width);
        else if (s->kind <= SUB)
            put("  %%v%u = %s%s i%u %%v%u, %lld\n", names, name,
                s->is_exact ? " nsw" : "", s->width, at,
                (long long)extended(s->number, s->width));
        else
            put("  %%v%u = %s i%u %%v%u, %%v%u\n", names, name, s->width, at,
                names - 1);
        at = names;
        width = s->width;
    }
    return at;
}

static unsigned put_comparison(const question *q)
{
    const uint32_t width = width_of(q);
    const unsigned a = put_number(q);
    unsigned b;

    if (q->has_argument)
        put_argument(q->with, width);
    else
        put("  %%v%u = add i%u 0, %lld\n", ++names, width,
            (long long)extended(q->with, width));
    b = names++;
    put("  %%v%u = icmp %s i%u %%v%u, %%v%u\n", names, predicates[q->predicate],
        width, q->is_swapped ? b : a, q->is_swapped ? a : b);
    return names;
}

static unsigned put_question(const question *q)
{
    unsigned at;

    if (q->asks_data)
        put("  %%v%u = trunc i32 %%old to i1\n", at = ++names);
    else
        at = put_comparison(q);
    if (!q->is_not)
        return at;
    put("  %%v%u = xor i1 %%v%u, true\n", ++names, at);
    return names;
}

static unsigned put_joined(const question *q, unsigned a, unsigned b)
{
    names++;
    if (q->join == SELECT)
        put("  %%v%u = select i1 %%v%u, i1 %%v%u, i1 false\n", names, a, b);
    else
        put("  %%v%u = %s i1 %%v%u, %%v%u\n", names,
            q->join == OR ? "or" : "and", a, b);
    return names;
}

/* Writes a branch to the end, unless the answer is yes. */
static void put_branch(const program *p, unsigned answer)
{
    const unsigned block = ++names;

    if (p->leaves_first) {
        put("  %%v%u = xor i1 %%v%u, true\n", ++names, answer);
        put("  br i1 %%v%u, label %%way%u, label %%on%u\n", names, block,
            block);
    } else {
        put("  br i1 %%v%u, label %%on%u, label %%way%u\n", answer, block,
            block);
    }
    put("way%u:\n  br label %%end\non%u:\n", block, block);
}

static unsigned put_guard(const program *p, unsigned *ways)
{
    unsigned so_far = put_question(&p->questions[0]);

    *ways = 0;
    for (size_t i = 1; i < p->count; i++) {
        const question *q = &p->questions[i];
        unsigned now;

        if (q->join == BRANCH) {
            put_branch(p, so_far);
            ways[++*ways] = names;
        }
        now = put_question(q);
        so_far = q->join == BRANCH ? now : put_joined(q, so_far, now);
    }
    return so_far;
}

static void put_start(const program *p)
{
    put("%s", GROUPS_HEAD
        "define i32 @k(ptr %item, ptr %data, i64 %count, i64 %n0, i64 %n1, "
        "i64 %n2, i64 %first, i64 %row, i64 %turns) {\n"
        "  %id0 = call i64 @kiln_global_id(ptr %item, i32 0)\n"
        "  %id1 = call i64 @kiln_global_id(ptr %item, i32 1)\n"
        "  %x = sub i64 %id0, %first\n"
        "  %y = mul i64 %id1, %row\n"
        "  %at = add i64 %x, %y\n"
        "  %place = getelementptr i32, ptr %data, i64 %at\n");
    if (p->has_barrier)
        put("%s", GROUPS_BARRIER);
    put("  %%old = load i32, ptr %%place\n");
}

static unsigned put_change(const program *p)
{
    put("  %%narrow = trunc i64 %%id0 to i32\n"
        "  %%five = mul i32 %%old, 5\n"
        "  %%sum = add i32 %%five, %%narrow\n"
        "  %%short = trunc i64 %%id0 to i16\n"
        "  %%long = sext i16 %%short to i64\n"
        "  %%byte = trunc i64 %%id0 to i8\n"
        "  %%moved = add i8 %%byte, 100\n"
        "  %%wide = zext i8 %%moved to i64\n"
        "  %%both = add i64 %%long, %%wide\n"
        "  %%part = trunc i64 %%both to i32\n"
        "  %%start = add i32 %%sum, %%part\n");
    if (!p->has_loop)
        return 0;
    put("  br label %%head\nhead:\n"
        "  %%k = phi i64 [ 0, %%body ], [ %%k.next, %%turn ]\n"
        "  %%s = phi i32 [ %%start, %%body ], [ %%s.next, %%turn ]\n"
        "  %%more = icmp slt i64 %%k, %%turns\n"
        "  br i1 %%more, label %%turn, label %%done\n"
        "turn:\n"
        "  %%again = load i32, ptr %%place\n"
        "  %%k32 = trunc i64 %%k to i32\n"
        "  %%s3 = mul i32 %%s, 3\n  %%sk = add i32 %%s3, %%k32\n"
        "  %%s.next = add i32 %%sk, %%again\n"
        "  store i32 %%s.next, ptr %%place\n"
        "  %%k.next = add i64 %%k, 1\n"
        "  br label %%head\ndone:\n");
    return 1;
}

static void write_program(const program *p)
{
    unsigned ways[QUESTIONS_MAX + 1], last;
    const char *from, *value;

    text.size = 0;
    names = 0;
    put_start(p);
    last = put_guard(p, ways);
    put("  br i1 %%v%u, label %%body, label %%skip\nskip:\n  br label %%end\n"
        "body:\n",
        last);
    from = put_change(p) ? "done" : "body";
    value = p->has_loop ? "s" : "start";
    if (!p->merges)
        put("  store i32 %%%s, ptr %%place\n", value);
    put("  br label %%end\nend:\n");
    if (p->merges) {
        put("  %%new = phi i32 [ %%%s, %%%s ], [ %%old, %%skip ]", value, from);
        for (unsigned i = 1; i <= ways[0]; i++)
            put(", [ %%old, %%way%u ]",
                p->leaves_first ? ways[i] - 1 : ways[i]);
        put("\n  store i32 %%new, ptr %%place\n");
    }
    put("  ret i32 0\n}\n");
}

/* ---- running ---- */

#define DATA_MAX (WIDE_MAX * HIGH_MAX)

static const char *const types[] = {"i32[:]", "i64", "i64", "i64",
                                    "i64",    "i64", "i64"};

/* Runs the groups of all items from the first one. */
static void run_rows(const outcome *o, const program *p, void *arguments)
{
    launch l = make_launch(p->first + p->items[0], p->items[1], 1, p->block[0],
                           p->block[1], 1);
    const uint64_t row = l.head.groups[0];
    kiln__host_image *image = NULL;
    kiln__host_entry entry;
    void *address, *memory = aligned_alloc(64, 1 << 16);

    assert_non_null(memory);
    assert_true(o->static_local_bytes + 128 * o->private_bytes + 128 < 1 << 16);
    memset(memory, 0xa5, 1 << 16);
    assert_ok(kiln__host_image_load(&image, &kiln__malloc, NULL, o->bytes,
                                    o->size, &test_error));
    address = kiln__host_image_symbol(image, "k");
    memcpy(&entry, &address, sizeof entry);
    for (uint64_t y = 0; y < l.head.groups[1]; y++)
        assert_int_equal(entry(&l.head, arguments,
                               y * row + p->first / p->block[0], (y + 1) * row,
                               memory),
                         0);
    kiln__host_image_unload(image);
    free(memory);
}

static void run_program(const program *p, uint8_t level, int32_t *data)
{
    struct {
        int32_t *data;
        int64_t count;
        int64_t arguments[ARGUMENTS];
        uint64_t first, row;
        int64_t turns;
    } arguments = {data, DATA_MAX, {0}, p->first, p->items[0], p->turns};
    outcome o;

    memcpy(arguments.arguments, p->arguments, sizeof p->arguments);
    prepare(&o, bytes, KILN_EMIT_BINARY, types, 7);
    o.settings.opt_level = level;
    run(&o);
    if (o.status != KILN_OK)
        fail_msg("%s\n%s", o.message, bytes);
    run_rows(&o, p, &arguments);
    free(o.bytes);
}

static void fill(int32_t *data)
{
    for (size_t i = 0; i < DATA_MAX; i++)
        data[i] = (int32_t)(i * 2654435761u >> 9);
}

static void compare(program *p, uint32_t number)
{
    static int32_t wanted[DATA_MAX], got[DATA_MAX];
    static const uint8_t levels[] = {0, 2};

    fill(wanted);
    interpret(p, wanted);
    if (p->is_undefined)
        return;
    write_program(p);
    for (size_t i = 0; i < sizeof levels; i++) {
        fill(got);
        run_program(p, levels[i], got);
        for (size_t k = 0; k < DATA_MAX; k++)
            if (got[k] != wanted[k])
                fail_msg("program %u, level %d, element %zu: %d, not %d\n"
                         "first %llu, items %d, block %d\n%s",
                         (unsigned)number, levels[i], k, got[k], wanted[k],
                         (unsigned long long)p->first, (int)p->items[0],
                         (int)p->block[0], bytes);
    }
}

static void random_guards_let_the_right_items_through(void **state)
{
    /* others than these: KILN_TEST_PROGRAMS=first-last */
    const char *range = getenv("KILN_TEST_PROGRAMS");
    uint32_t first = 0, last = 199;

    (void)state;
    if (range != NULL)
        assert_int_equal(sscanf(range, "%u-%u", &first, &last), 2);
    for (uint32_t number = first; number <= last; number++) {
        program p;

        seed = number * 7919u + 31u;
        make_program(&p);
        compare(&p, number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_guards_let_the_right_items_through),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
