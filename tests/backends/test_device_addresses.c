/* test_device_addresses.c - indices whose addresses may be computed otherwise.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance host */
#include "support/harness.h"

#include "support/devices/kernels.h"

/*
 * A device may compute an address from that of a neighbour, or move a pointer
 * on instead. Elements say where they are, so each sum shows which were read.
 * `or` is a sum only where its operands share no bit.
 */

#define COUNT 128

static const char text[] = //
    "kernel near_or(z: i64[:], x: i64[:], a: i64, b: i64, c: i64)\n"
    "    i = global_id(0)\n"
    "    s = x[a + i]\n"
    "    s += 1000 * x[(a + i) | 8]\n"
    "    s += 1000000 * x[(a + i) ^ 1]\n"
    "    z[i] = s\n"
    "end\n"
    "kernel walk_or(z: i64[:], x: i64[:], a: i64, b: i64, c: i64)\n"
    "    s = 0\n"
    "    for t in 0..b\n"
    "        if x[a * t] > 100\n"
    "            s += 1\n"
    "        end\n"
    "        s = s * 3 + x[(a * t) | c]\n"
    "    end\n"
    "    z[global_id(0)] = s\n"
    "end\n"
    "kernel near_sums(z: i64[:], x: i64[:], a: i64, b: i64, c: i64)\n"
    "    i = global_id(0)\n"
    "    r = a * b\n"
    "    z[i] = x[r + i] + 1000 * x[r + i + 1] - 7 * x[i + 2 + r]\n"
    "    if i > 0\n"
    "        z[i] += 100000 * x[r + i - 1]\n"
    "    end\n"
    "end\n"
    "kernel walk_back(z: i64[:], x: i64[:], a: i64, b: i64, c: i64)\n"
    "    s = 0\n"
    "    t = b\n"
    "    while t > 0\n"
    "        t -= 1\n"
    "        s = s * 3 + x[a * t + c]\n"
    "        if t % 3 == 1\n"
    "            s += x[a * t]\n"
    "        end\n"
    "    end\n"
    "    z[global_id(0)] = s\n"
    "end\n"
    "kernel walk_narrow(z: i64[:], x: i64[:], a: i64, b: i64, c: i64)\n"
    "    s = 0\n"
    "    for t in 0..b\n"
    "        k = ((250 + t) & 255) % 16\n"
    "        s = s * 3 + x[k * a] + x[k]\n"
    "    end\n"
    "    z[global_id(0)] = s\n"
    "end\n";

static kiln_package *package;

static int setup(void **state)
{
    if (kernels_setup(state) != 0)
        return -1;
    package = kernels_define(*state, "addresses", text);
    return package == NULL ? -1 : 0;
}

/* ---- what the kernels give, in C ---- */

typedef int64_t (*reference)(int64_t i, int64_t a, int64_t b, int64_t c);

static int64_t near_or(int64_t i, int64_t a, int64_t b, int64_t c)
{
    (void)b;
    (void)c;
    return a + i + 1000 * ((a + i) | 8) + 1000000 * ((a + i) ^ 1);
}

static int64_t walk_or(int64_t i, int64_t a, int64_t b, int64_t c)
{
    int64_t s = 0;

    (void)i;
    for (int64_t t = 0; t < b; t++)
        s = (s + (a * t > 100)) * 3 + ((a * t) | c);
    return s;
}

static int64_t near_sums(int64_t i, int64_t a, int64_t b, int64_t c)
{
    const int64_t r = a * b;

    (void)c;
    return r + i + 1000 * (r + i + 1) - 7 * (r + i + 2) +
           (i > 0 ? 100000 * (r + i - 1) : 0);
}

static int64_t walk_back(int64_t i, int64_t a, int64_t b, int64_t c)
{
    int64_t s = 0;

    (void)i;
    for (int64_t t = b - 1; t >= 0; t--)
        s = s * 3 + a * t + c + (t % 3 == 1 ? a * t : 0);
    return s;
}

static int64_t walk_narrow(int64_t i, int64_t a, int64_t b, int64_t c)
{
    int64_t s = 0;

    (void)i;
    (void)c;
    for (int64_t t = 0; t < b; t++) {
        const int64_t k = (uint8_t)(250 + t) % 16;

        s = s * 3 + k * a + k;
    }
    return s;
}

/* ---- the tests ---- */

static void check(kernels *k, const char *name, reference wanted,
                  const int64_t with[3])
{
    int64_t x[COUNT], z[4] = {0};
    kiln_array in = kernels_array(x, COUNT), out = kernels_array(z, 4);
    const kernels_argument arguments[] = {{"i64[:]", &out},
                                          {"i64[:]", &in},
                                          {"i64", &with[0]},
                                          {"i64", &with[1]},
                                          {"i64", &with[2]}};

    for (int64_t i = 0; i < COUNT; i++)
        x[i] = i;
    assert_ok(kernels_run(k, package, name, 4, arguments, 5, &test_error));
    for (int64_t i = 0; i < 4; i++)
        assert_int_equal(z[i], wanted(i, with[0], with[1], with[2]));
}

static void neighbours_are_where_their_indices_say(void **state)
{
    for (int64_t a = 0; a < 24; a++) {
        check(*state, "near_or", near_or, (const int64_t[]){a, 0, 0});
        check(*state, "near_sums", near_sums, (const int64_t[]){a, 3, 0});
    }
}

static void loops_go_where_their_indices_say(void **state)
{
    for (int64_t a = 0; a < 8; a++)
        for (int64_t c = 0; c < 4; c++) {
            const int64_t with[] = {a, 11, c};

            check(*state, "walk_or", walk_or, with);
            check(*state, "walk_back", walk_back, with);
            check(*state, "walk_narrow", walk_narrow, with);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_where_their_indices_say),
        cmocka_unit_test(loops_go_where_their_indices_say),
    };

    return cmocka_run_group_tests(tests, setup, kernels_teardown);
}
