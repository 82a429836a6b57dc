/* test_device_functions.c - what LLVM IR asks of its group, against plain C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/codegen/modules.h"
#include "support/devices/kernels.h"

#define MOST 512

static const uint32_t group_sizes[] = {1,  2,  7,  16,  17, 31,
                                       32, 33, 64, 100, 256};

typedef struct fixture {
    kernels k;
    modules *m;
    uint64_t lanes;
} fixture;

static fixture shared;

static int setup(void **state)
{
    void *k = NULL;

    (void)state;
    if (kernels_setup(&k) != 0)
        return -1;
    shared.k = *(kernels *)k;
    *state = k;
    shared.m = modules_new(k);
    shared.lanes = kernels_lanes(k);
    return 0;
}

/* ---- a kernel ---- */

/* Sets y[id] to what `body` computes as %r, of %v = x[id], for a type. */
typedef struct kernel {
    const char *declarations;
    const char *type; /* LLVM's */
    const char *element;
    const char *body;
} kernel;

static void write_module(char *text, size_t capacity, const kernel *of)
{
    snprintf(text, capacity,
             "declare i64 @kiln_global_id(i32)\n%s\n"
             "define void @ENTRY(ptr %%y, i64 %%n, ptr %%x, i64 %%m) {\n"
             "  %%id = call i64 @kiln_global_id(i32 0)\n"
             "  %%xp = getelementptr %s, ptr %%x, i64 %%id\n"
             "  %%yp = getelementptr %s, ptr %%y, i64 %%id\n"
             "  %%v = load %s, ptr %%xp\n"
             "%s"
             "  store %s %%r, ptr %%yp\n"
             "  ret void\n"
             "}\n",
             of->declarations, of->type, of->type, of->type, of->body,
             of->type);
}

static void launch_module(const kernel *of, void *y, void *x, uint64_t items,
                          uint32_t block)
{
    char text[4096], type[16];
    const kiln_launch launch = {.grid = {items, 1, 1}, .block = {block, 1, 1}};
    kiln_array out = kernels_array(y, (int64_t)items);
    kiln_array in = kernels_array(x, (int64_t)items);

    snprintf(type, sizeof type, "%s[:]", of->element);
    write_module(text, sizeof text, of);
    {
        const kernels_argument arguments[] = {{type, &out}, {type, &in}};

        assert_ok(modules_launch(shared.m, text, shared.k.config, &launch,
                                 arguments, 2, &test_error));
    }
}

/* The items of a sub-group, or of a group. */
typedef struct part {
    uint64_t first;
    uint64_t count;
} part;

static part part_of(uint64_t item, uint32_t block, uint64_t size)
{
    const uint64_t group = item / block * block;
    part p = {group, block};

    if (size != 0) {
        p.first = group + (item - group) / size * size;
        p.count =
            group + block - p.first < size ? group + block - p.first : size;
    }
    return p;
}

static uint64_t items_of(uint32_t block)
{
    return (uint64_t)MOST / block * block;
}

static void fill(int32_t *x, uint64_t items)
{
    for (uint64_t i = 0; i < items; i++)
        x[i] = (int32_t)(i * 2654435761u % 1000003u) - 500000;
}

/* ---- reductions and scans ---- */

typedef struct combination {
    const char *name;
    int32_t (*of)(int32_t a, int32_t b);
    int32_t neutral;
} combination;

static int32_t add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t mul(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a * (uint32_t)b);
}

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t most(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t unsigned_least(int32_t a, int32_t b)
{
    return (uint32_t)a < (uint32_t)b ? a : b;
}

static int32_t unsigned_most(int32_t a, int32_t b)
{
    return (uint32_t)a > (uint32_t)b ? a : b;
}

static int32_t both(int32_t a, int32_t b)
{
    return a & b;
}

static int32_t either(int32_t a, int32_t b)
{
    return a | b;
}

static int32_t differing(int32_t a, int32_t b)
{
    return a ^ b;
}

static const combination combinations[] = {
    {"add", add, 0},
    {"mul", mul, 1},
    {"min", least, INT32_MAX},
    {"max", most, INT32_MIN},
    {"umin", unsigned_least, -1},
    {"umax", unsigned_most, 0},
    {"and", both, -1},
    {"or", either, 0},
    {"xor", differing, 0},
};

static const char *const families[] = {"reduce", "scan", "exscan"};

static int32_t expected_of(const int32_t *x, uint64_t item, part p,
                           const combination *with, size_t family)
{
    const uint64_t end = family == 0   ? p.first + p.count
                         : family == 1 ? item + 1
                                       : item;
    int32_t value = with->neutral;

    for (uint64_t i = p.first; i < end; i++)
        value = with->of(value, x[i]);
    return value;
}

static void check_scan(int scope, size_t family, const combination *with,
                       uint32_t block)
{
    const uint64_t items = items_of(block);
    char declarations[256], body[256];
    int32_t x[MOST], y[MOST];
    const kernel of = {declarations, "i32", "i32", body};

    snprintf(declarations, sizeof declarations,
             "declare i32 @kiln_%s.%s.i32(i32, i32)", families[family],
             with->name);
    snprintf(body, sizeof body,
             "  %%r = call i32 @kiln_%s.%s.i32(i32 %d, i32 %%v)\n",
             families[family], with->name, scope);
    fill(x, items);
    launch_module(&of, y, x, items, block);
    for (uint64_t i = 0; i < items; i++) {
        const part p = part_of(i, block, scope == 1 ? shared.lanes : 0);

        if (y[i] != expected_of(x, i, p, with, family))
            fail_msg("%s.%s of scope %d in groups of %u: item %u has %d, not "
                     "%d",
                     families[family], with->name, scope, (unsigned)block,
                     (unsigned)i, (int)y[i],
                     (int)expected_of(x, i, p, with, family));
    }
}

static void check_scans(int scope)
{
    for (size_t c = 0; c < sizeof combinations / sizeof *combinations; c++)
        for (size_t f = 0; f < 3; f++)
            for (size_t b = c % 3; b < sizeof group_sizes / sizeof *group_sizes;
                 b += c == 0 ? 1 : 3)
                check_scan(scope, f, &combinations[c], group_sizes[b]);
}

static void sub_groups_scan(void **state)
{
    (void)state;
    check_scans(1);
}

static void groups_scan(void **state)
{
    (void)state;
    check_scans(2);
}

/* Sums of floats, exact here; the first item of an exscan has 0. */
static void floats_are_scanned(void **state)
{
    static const kernel of = {
        "declare double @kiln_exscan.add.f64(i32, double)\n"
        "declare double @kiln_reduce.max.f64(i32, double)",
        "double", "f64",
        "  %s = call double @kiln_exscan.add.f64(i32 2, double %v)\n"
        "  %t = call double @kiln_reduce.max.f64(i32 2, double %v)\n"
        "  %u = fmul double %t, 65536.0\n"
        "  %r = fadd double %s, %u\n"};
    double x[MOST], y[MOST];

    (void)state;
    for (int i = 0; i < MOST; i++)
        x[i] = i % 50 * 0.25;
    launch_module(&of, y, x, 500, 100);
    for (int i = 0; i < 500; i++) {
        double sum = 0;

        for (int j = i / 100 * 100; j < i; j++)
            sum += x[j];
        assert_true(y[i] == sum + 12.25 * 65536);
    }
}

/* The greatest number among others that are none, and none where there is no
   number. */
static void least_and_greatest_drop_nans(void **state)
{
    static const kernel of = {"declare float @kiln_reduce.max.f32(i32, float)\n"
                              "declare float @kiln_scan.min.f32(i32, float)",
                              "float", "f32",
                              "  %s = call float @kiln_reduce.max.f32(i32 2, "
                              "float %v)\n"
                              "  %t = call float @kiln_scan.min.f32(i32 2, "
                              "float %v)\n"
                              "  %u = fmul float %s, 100.0\n"
                              "  %r = fadd float %t, %u\n"};
    static const float expected[] = {302, 302, 302, 301};
    float x[12], y[12];

    (void)state;
    for (int i = 0; i < 12; i++)
        x[i] = NAN;
    x[4] = 2;
    x[6] = 3;
    x[7] = 1;
    launch_module(&of, y, x, 12, 4);
    for (int i = 0; i < 4; i++) {
        assert_true(isnan(y[i]) && isnan(y[8 + i]));
        assert_true(y[4 + i] == expected[i]);
    }
}

/* ---- ids ---- */

/* Of a dimension that is no number of the code, and of one that is. */
static void other_dimensions_have_one_item(void **state)
{
#define QUERIES(d) \
    "  %a" d " = call i64 @kiln_global_id(i32 %" d ")\n" \
    "  %b" d " = call i64 @kiln_local_id(i32 %" d ")\n" \
    "  %c" d " = call i64 @kiln_group_id(i32 %" d ")\n" \
    "  %e" d " = call i64 @kiln_global_size(i32 %" d ")\n" \
    "  %f" d " = call i64 @kiln_local_size(i32 %" d ")\n" \
    "  %g" d " = call i64 @kiln_group_count(i32 %" d ")\n" \
    "  %h" d " = add i64 %a" d ", %b" d "\n" \
    "  %i" d " = add i64 %h" d ", %c" d "\n" \
    "  %j" d " = mul i64 %i" d ", 1000\n" \
    "  %k" d " = mul i64 %e" d ", %f" d "\n" \
    "  %l" d " = mul i64 %k" d ", %g" d "\n" \
    "  %m" d " = add i64 %j" d ", %l" d "\n"
    static const kernel of = {"declare i64 @kiln_local_id(i32)\n"
                              "declare i64 @kiln_group_id(i32)\n"
                              "declare i64 @kiln_global_size(i32)\n"
                              "declare i64 @kiln_local_size(i32)\n"
                              "declare i64 @kiln_group_count(i32)",
                              "i32", "i32",
                              "  %three = add i32 0, 3\n" QUERIES("v") QUERIES(
                                  "three") "  %n0 = mul i64 %mv, 10\n"
                                           "  %n1 = add i64 %n0, %mthree\n"
                                           "  %r = trunc i64 %n1 to i32\n"};
    int32_t x[8] = {3, 4, -1, 100, INT32_MIN, INT32_MAX, 256, 65536}, y[8];

    (void)state;
    launch_module(&of, y, x, 8, 2);
    for (int i = 0; i < 8; i++)
        assert_int_equal(y[i], 11);
#undef QUERIES
}

/* ---- exchange ---- */

/* Returns the lane that `which` takes its value from, before it is known
   whether that lane exists. */
static uint64_t lane_from(const char *which, uint64_t lane, uint64_t by)
{
    if (strcmp(which, "shuffle") == 0)
        return by;
    if (strcmp(which, "shuffle_xor") == 0)
        return lane ^ by;
    return strcmp(which, "shuffle_up") == 0 ? lane - by : lane + by;
}

static void check_shuffle(const char *which, uint32_t by, uint32_t block)
{
    const uint64_t items = items_of(block);
    char declarations[128], body[128];
    int32_t x[MOST], y[MOST];
    const kernel of = {declarations, "i32", "i32", body};

    snprintf(declarations, sizeof declarations,
             "declare i32 @kiln_%s.i32(i32, i32)", which);
    snprintf(body, sizeof body,
             "  %%r = call i32 @kiln_%s.i32(i32 %%v, i32 %u)\n", which,
             (unsigned)by);
    fill(x, items);
    launch_module(&of, y, x, items, block);
    for (uint64_t i = 0; i < items; i++) {
        const part p = part_of(i, block, shared.lanes);
        const uint64_t from = lane_from(which, i - p.first, by);

        assert_int_equal(y[i], x[from < p.count ? p.first + from : i]);
    }
}

static void lanes_exchange_values(void **state)
{
    static const char *const which[] = {"shuffle", "shuffle_xor", "shuffle_up",
                                        "shuffle_down"};

    (void)state;
    for (size_t w = 0; w < 4; w++)
        for (uint32_t by = 0; by < 6; by += w == 0 ? 5 : 1)
            for (size_t b = 0; b < sizeof group_sizes / sizeof *group_sizes;
                 b += 2)
                check_shuffle(which[w], by, group_sizes[b]);
}

static void a_value_is_broadcast(void **state)
{
    static const kernel of = {
        "declare i32 @kiln_broadcast.i32(i32, i32, i32)\n", "i32", "i32",
        "  %a = call i32 @kiln_broadcast.i32(i32 1, i32 %v, i32 3)\n"
        "  %b = call i32 @kiln_broadcast.i32(i32 2, i32 %v, i32 5)\n"
        "  %c = call i32 @kiln_broadcast.i32(i32 2, i32 %v, i32 6)\n"
        "  %d = mul i32 %b, 3\n"
        "  %e = mul i32 %c, 7\n"
        "  %f = add i32 %a, %d\n"
        "  %r = add i32 %e, %f\n"};
    int32_t x[MOST], y[MOST];

    (void)state;
    fill(x, 400);
    launch_module(&of, y, x, 400, 100);
    for (uint64_t i = 0; i < 400; i++) {
        const part own = part_of(i, 100, shared.lanes);
        const part all = part_of(i, 100, 0);

        assert_int_equal(y[i], x[own.first + 3] + 3 * x[all.first + 5] +
                                   7 * x[all.first + 6]);
    }
}

/* ---- votes ---- */

static void items_vote(void **state)
{
    static const kernel of = {"declare i64 @kiln_ballot(i1)\n"
                              "declare i1 @kiln_any(i32, i1)\n"
                              "declare i1 @kiln_all(i32, i1)\n",
                              "i64", "i64",
                              "  %c = icmp sgt i64 %v, 10\n"
                              "  %bits = call i64 @kiln_ballot(i1 %c)\n"
                              "  %any = call i1 @kiln_any(i32 2, i1 %c)\n"
                              "  %all = call i1 @kiln_all(i32 2, i1 %c)\n"
                              "  %some = call i1 @kiln_any(i32 1, i1 %c)\n"
                              "  %each = call i1 @kiln_all(i32 1, i1 %c)\n"
                              "  %a = zext i1 %any to i64\n"
                              "  %b = select i1 %all, i64 2, i64 0\n"
                              "  %d = select i1 %some, i64 4, i64 0\n"
                              "  %e = select i1 %each, i64 8, i64 0\n"
                              "  %ab = or i64 %a, %b\n"
                              "  %de = or i64 %d, %e\n"
                              "  %flags = or i64 %ab, %de\n"
                              "  %high = shl i64 %flags, 60\n"
                              "  %r = xor i64 %high, %bits\n"};
    int64_t x[MOST], y[MOST];

    (void)state;
    for (int i = 0; i < 400; i++)
        x[i] = i < 100 ? i % 20 : i < 200 ? 11 : i < 300 ? 0 : i - 390;
    launch_module(&of, y, x, 400, 100);
    for (uint64_t i = 0; i < 400; i++) {
        const part parts[2] = {part_of(i, 100, 0),
                               part_of(i, 100, shared.lanes)};
        uint64_t flags = 0, bits = 0;

        for (int s = 0; s < 2; s++) {
            uint64_t count = 0;

            for (uint64_t j = 0; j < parts[s].count; j++) {
                const uint64_t is = x[parts[s].first + j] > 10;

                count += is;
                bits |= s == 1 ? is << j : 0;
            }
            flags |= (uint64_t)(count > 0) << (2 * s);
            flags |= (uint64_t)(count == parts[s].count) << (2 * s + 1);
        }
        assert_int_equal((uint64_t)y[i], flags << 60 ^ bits);
    }
}

/* ---- barriers, numbers ---- */

static void sub_groups_have_numbers(void **state)
{
    static const kernel of = {"declare i32 @kiln_sub_group_size()\n"
                              "declare i32 @kiln_sub_group_count()\n"
                              "declare i32 @kiln_sub_group_id()\n"
                              "declare i32 @kiln_lane_id()\n"
                              "declare void @kiln_barrier(i32, i32)\n",
                              "i32", "i32",
                              "  %a = call i32 @kiln_sub_group_size()\n"
                              "  %b = call i32 @kiln_sub_group_count()\n"
                              "  %c = call i32 @kiln_sub_group_id()\n"
                              "  %d = call i32 @kiln_lane_id()\n"
                              "  call void @kiln_barrier(i32 1, i32 3)\n"
                              "  call void @kiln_barrier(i32 2, i32 3)\n"
                              "  %e = mul i32 %b, 100\n"
                              "  %f = mul i32 %c, 10000\n"
                              "  %g = mul i32 %d, 1000000\n"
                              "  %h = add i32 %a, %e\n"
                              "  %i = add i32 %f, %g\n"
                              "  %r = add i32 %h, %i\n"};
    int32_t x[MOST] = {0}, y[MOST];

    (void)state;
    launch_module(&of, y, x, 400, 100);
    for (uint64_t i = 0; i < 400; i++) {
        const uint64_t lanes = shared.lanes, local = i % 100;

        assert_int_equal(y[i], lanes + 100 * ((100 + lanes - 1) / lanes) +
                                   10000 * (local / lanes) +
                                   1000000 * (local % lanes));
    }
}

/* ---- mistakes ---- */

static void assert_refused(const char *declarations, const char *body,
                           const char *words)
{
    const kernel of = {declarations, "i32", "i32", body};
    const kiln_launch launch = {.grid = {1, 1, 1}};
    int32_t y[1] = {0};
    kiln_array array = kernels_array(y, 1);
    const kernels_argument arguments[] = {{"i32[:]", &array},
                                          {"i32[:]", &array}};
    kiln_error *error = NULL;
    char text[4096];

    write_module(text, sizeof text, &of);
    assert_true(modules_launch(shared.m, text, shared.k.config, &launch,
                               arguments, 2, &error) != KILN_OK);
    assert_contains(kiln_error_message(error), words);
    kiln_error_free(error);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    assert_refused("declare i32 @kiln_scan.add.i32(i32, i32)",
                   "  %r = call i32 @kiln_scan.add.i32(i32 3, i32 %v)\n",
                   "'kiln_scan.add.i32': its scope is the constant 1 "
                   "(sub-group) or 2 (group)");
    assert_refused("declare i32 @kiln_scan.add.i8(i32, i32)",
                   "  %r = call i32 @kiln_scan.add.i8(i32 1, i32 %v)\n",
                   "it has no such operation or type");
    assert_refused("declare float @kiln_scan.xor.f32(i32, float)",
                   "  %f = call float @kiln_scan.xor.f32(i32 1, float 1.0)\n"
                   "  %r = fptosi float %f to i32\n",
                   "it has no such operation or type");
    assert_refused("declare i32 @kiln_scan(i32, i32)",
                   "  %r = call i32 @kiln_scan(i32 1, i32 %v)\n",
                   "it has no such operation or type");
    assert_refused("declare i32 @kiln_lane_id(i32)",
                   "  %r = call i32 @kiln_lane_id(i32 0)\n",
                   "it is declared with another type");
}

/* ---- exceptions ---- */

/* Items from 5 on fail; the place is that of the debug information. */
static void an_exception_has_a_place(void **state)
{
    static const char module[] =
        "declare i64 @kiln_global_id(i32)\n"
        "declare void @abort() noreturn\n"
        "define internal void @check(i64 %i) noinline !dbg !4 {\n"
        "  %bad = icmp eq i64 %i, 5\n"
        "  br i1 %bad, label %no, label %yes\n"
        "no:\n"
        "  call void @abort(), !dbg !7\n"
        "  unreachable, !dbg !7\n"
        "yes:\n"
        "  ret void\n"
        "}\n"
        "define void @ENTRY(ptr %y, i64 %n) {\n"
        "  %i = call i64 @kiln_global_id(i32 0)\n"
        "  call void @check(i64 %i)\n"
        "  %p = getelementptr i32, ptr %y, i64 %i\n"
        "  store i32 1, ptr %p\n"
        "  ret void\n"
        "}\n"
        "!llvm.dbg.cu = !{!0}\n"
        "!llvm.module.flags = !{!2}\n"
        "!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1)\n"
        "!1 = !DIFile(filename: \"work.jl\", directory: \"/\")\n"
        "!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n"
        "!3 = !DISubroutineType(types: !{null})\n"
        "!4 = distinct !DISubprogram(name: \"check\", scope: !1, file: !1,\n"
        "      line: 10, type: !3, unit: !0, spFlags: DISPFlagDefinition)\n"
        "!7 = !DILocation(line: 12, column: 5, scope: !4)\n";
    const kiln_launch launch = {.grid = {8, 1, 1}, .block = {8, 1, 1}};
    int32_t y[8] = {0};
    kiln_array array = kernels_array(y, 8);
    const kernels_argument argument = {"i32[:]", &array};
    const kiln_exception *exception;
    kiln_error *error = NULL;

    (void)state;
    assert_int_equal(modules_launch(shared.m, module, shared.k.config, &launch,
                                    &argument, 1, &error),
                     KILN_EEXCEPTION);
    exception = kiln_error_exception(error);
    assert_non_null(exception);
    assert_string_equal(exception->method, "check");
    assert_string_equal(exception->message, "abort() was called");
    assert_string_equal(exception->location.file, "work.jl");
    assert_int_equal(exception->location.line, 12);
    assert_int_equal(exception->location.column, 5);
    assert_int_equal(y[4], 1);
    assert_int_equal(y[5], 0);
    kiln_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sub_groups_scan),
        cmocka_unit_test(groups_scan),
        cmocka_unit_test(floats_are_scanned),
        cmocka_unit_test(least_and_greatest_drop_nans),
        cmocka_unit_test(other_dimensions_have_one_item),
        cmocka_unit_test(lanes_exchange_values),
        cmocka_unit_test(a_value_is_broadcast),
        cmocka_unit_test(items_vote),
        cmocka_unit_test(sub_groups_have_numbers),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(an_exception_has_a_place),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
