/* test_language_rounding.c - what is rounded once must not be rounded twice:
   literals, and fma of narrow floats. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance frontend host */
#include "support/harness.h"

#include "support/devices/kernels.h"

/* A decimal number just beside the middle between two floats: as an f64 it is
   that middle, which goes to the even one. */
static void literals_are_rounded_from_their_text(void **state)
{
    static const char text[] =
        "const ABOVE = 1.00000005960464477539062500000001\n"
        "fn bits(x: f32) = bitcast(u32, x)\n"
        "kernel literals()\n"
        "    assert(bitcast(u32, f32(1.00000005960464477539062500000001))"
        " == 0x3f800001, \"f32 above\")\n"
        "    assert(bitcast(u32, f32(-1.00000005960464477539062500000001))"
        " == 0xbf800001, \"f32 negative\")\n"
        "    assert(bitcast(u32, f32(1.000000178813934326171874999999))"
        " == 0x3f800001, \"f32 below\")\n"
        "    assert(bitcast(u32, f32(1.000000059604644775390625))"
        " == 0x3f800000, \"f32 in the middle\")\n"
        "    assert(bitcast(u32, f32(7.00649232162408535461864791644959e-46))"
        " == 1, \"f32 subnormal\")\n"
        "    assert(bits(1.00000005960464477539062500000001) == 0x3f800001,"
        " \"an argument\")\n"
        "    x: f32 = 1.00000005960464477539062500000001\n"
        "    assert(bits(x) == 0x3f800001, \"a variable\")\n"
        "    assert(bits(ABOVE) == 0x3f800001, \"a constant\")\n"
        "    assert(bits(-ABOVE) == 0xbf800001, \"its negative\")\n"
        "    assert(f64(ABOVE) == 1.000000059604644775390625, \"f64\")\n"
        "    assert(bitcast(u16, f16(1.0004882812500000000000001)) == 0x3c01,"
        " \"f16 above\")\n"
        "    assert(bitcast(u16, f16(1.0014648437499999999999999)) == 0x3c01,"
        " \"f16 below\")\n"
        "    assert(bitcast(u16, bf16(1.0039062500000000000000001)) == 0x3f81,"
        " \"bf16 above\")\n"
        "    assert(bitcast(u16, bf16(1.0117187499999999999999999)) == 0x3f81,"
        " \"bf16 below\")\n"
        "end\n";
    kernels *k = *state;

    assert_ok(kernels_run(k, kernels_define(k, "literals", text), "literals", 1,
                          NULL, 0, &test_error));
}

/* A product in the middle between two floats, and the least that c can do. */
typedef struct sample {
    uint16_t a, b, c, result;
} sample;

static const sample halves[] = {
    {0x3e00, 0x3c03, 0x0001, 0x3e05}, {0x3e00, 0x3c03, 0x8001, 0x3e04},
    {0x3e00, 0x3c03, 0x0000, 0x3e04}, {0x3e00, 0x3c01, 0x8001, 0x3e01},
    {0x3e00, 0x3c01, 0x0001, 0x3e02}, {0xbe00, 0x3c03, 0x8001, 0xbe05},
    {0xbe00, 0x3c01, 0x0001, 0xbe01}, {0x3c00, 0x3c00, 0xbc00, 0x0000},
    {0x7bff, 0x4000, 0xfbff, 0x7bff}, {0x7bff, 0x4000, 0x0000, 0x7c00},
    {0x7c00, 0x3c00, 0x3c00, 0x7c00}, {0x0001, 0x3800, 0x0001, 0x0002},
};

static const sample bfloats[] = {
    {0x3fc0, 0x3f83, 0x2180, 0x3fc5}, {0x3fc0, 0x3f83, 0xa180, 0x3fc4},
    {0x3fc0, 0x3f83, 0x0000, 0x3fc4}, {0x3fc0, 0x3f81, 0xa180, 0x3fc1},
    {0x3fc0, 0x3f81, 0x0001, 0x3fc2}, {0x3fc0, 0x3f81, 0x8001, 0x3fc1},
    {0xbfc0, 0x3f83, 0x8001, 0xbfc5}, {0x3f80, 0x3f80, 0xbf80, 0x0000},
    {0x7f7f, 0x4000, 0xff7f, 0x7f7f}, {0x7f7f, 0x4000, 0x0000, 0x7f80},
    {0x7f80, 0x3f80, 0x3f80, 0x7f80}, {0x0001, 0x3f00, 0x0001, 0x0002},
};

enum { SAMPLES = sizeof halves / sizeof *halves };
_Static_assert(sizeof halves == sizeof bfloats, "as many of both types");

/* `function` is a kernel of out, a, b and c. */
static void run_samples(kernels *k, kiln_package *package, const char *function,
                        const char *type, const sample *samples)
{
    uint16_t values[4][SAMPLES] = {{0}};
    kiln_array arrays[4];
    kernels_argument arguments[4];

    for (size_t i = 0; i < 4; i++) {
        arrays[i] = kernels_array(values[i], SAMPLES);
        arguments[i] = (kernels_argument){type, &arrays[i]};
    }
    for (size_t i = 0; i < SAMPLES; i++) {
        values[1][i] = samples[i].a;
        values[2][i] = samples[i].b;
        values[3][i] = samples[i].c;
    }
    assert_ok(
        kernels_run(k, package, function, SAMPLES, arguments, 4, &test_error));
    for (size_t i = 0; i < SAMPLES; i++)
        if (values[0][i] != samples[i].result)
            fail_msg("%s of %s: fma(%04x, %04x, %04x) is %04x, not %04x",
                     function, type, samples[i].a, samples[i].b, samples[i].c,
                     values[0][i], samples[i].result);
}

static void fma_of_narrow_floats_is_rounded_once(void **state)
{
    static const char text[] =
        "kernel scalar(out, a, b, c)\n"
        "    i = global_id(0)\n"
        "    out[i] = fma(a[i], b[i], c[i])\n"
        "end\n"
        "kernel vector(out, a, b, c)\n"
        "    i = global_id(0)\n"
        "    v = fma(Vec(a[i], a[0]), Vec(b[i], b[0]), Vec(c[i], c[0]))\n"
        "    out[i] = v[0]\n"
        "end\n"
        "kernel fast(out, a, b, c)\n"
        "    i = global_id(0)\n"
        "    contract\n"
        "        out[i] = fma(a[i], b[i], c[i])\n"
        "    end\n"
        "end\n";
    static const char *const functions[] = {"scalar", "vector", "fast"};
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "narrow", text);

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        run_samples(k, package, functions[i], "f16[:]", halves);
        run_samples(k, package, functions[i], "bf16[:]", bfloats);
    }
}

/* Every value, NaNs too, with both signs. */
static void copysign_keeps_all_bits_but_the_sign(void **state)
{
    static const char text[] = "kernel put(out, x, s)\n"
                               "    i = global_id(0)\n"
                               "    out[i] = copysign(x[i], s[i])\n"
                               "end\n";
    static const char *const types[] = {"f16[:]", "bf16[:]"};
    static uint16_t values[3][1 << 17];
    kernels *k = *state;
    kiln_package *package = kernels_define(k, "signs", text);
    kiln_array arrays[3];

    for (uint32_t i = 0; i < 1 << 17; i++) {
        values[1][i] = (uint16_t)i;
        values[2][i] = (uint16_t)((i >> 16 << 15) | (i * 31 & 0x7fff));
    }
    for (size_t i = 0; i < 3; i++)
        arrays[i] = kernels_array(values[i], 1 << 17);
    for (size_t t = 0; t < 2; t++) {
        const kernels_argument arguments[] = {{types[t], &arrays[0]},
                                              {types[t], &arrays[1]},
                                              {types[t], &arrays[2]}};

        assert_ok(
            kernels_run(k, package, "put", 1 << 17, arguments, 3, &test_error));
        for (uint32_t i = 0; i < 1 << 17; i++)
            if (values[0][i] != ((i & 0x7fff) | (i >> 16 << 15)))
                fail_msg("copysign of %s: %04x became %04x", types[t],
                         values[1][i], values[0][i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_are_rounded_from_their_text),
        cmocka_unit_test(fma_of_narrow_floats_is_rounded_once),
        cmocka_unit_test(copysign_keeps_all_bits_but_the_sign),
    };

    return cmocka_run_group_tests(tests, kernels_setup, kernels_teardown);
}
