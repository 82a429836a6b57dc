/* test_device_check.c - kernels that ask for what their target has not. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance frontend fault cuda rocm spirv */
#include "support/harness.h"

#include <stdio.h>
#include <string.h>

#include "kiln.h"

/*
 * A table of kernels and targets with the whole text of what is said. There is
 * no code generator: a kernel that passes fails for want of one.
 */

#define BIG "    a: Vec{f32,128}\n    b: Vec{f32,128}\nend\n"

static const char program[] =
    "fn deep(n)\n"                                  /* 1 */
    "    if n <= 0\n"                               /* 2 */
    "        return 0\n"                            /* 3 */
    "    end\n"                                     /* 4 */
    "    return 1 + deep(n - 1)\n"                  /* 5 */
    "end\n"                                         /* 6 */
    "fn even(n) = n == 0 ? true : odd(n - 1)\n"     /* 7 */
    "fn odd(n) = n == 0 ? false : even(n - 1)\n"    /* 8 */
    "fn count(a) = atomic_add(a, 0, a[1])\n"        /* 9 */
    "fn twice(a)\n"                                 /* 10 */
    "    first = count(a)\n"                        /* 11 */
    "    return first + count(a)\n"                 /* 12 */
    "end\n"                                         /* 13 */
    "kernel recurs(y: i64[:])\n"                    /* 14 */
    "    y[0] = deep(y[1])\n"                       /* 15 */
    "end\n"                                         /* 16 */
    "kernel returns(y: i64[:])\n"                   /* 17 */
    "    y[0] = i64(even(y[1]))\n"                  /* 18 */
    "end\n"                                         /* 19 */
    "kernel scales(y, a)\n"                         /* 20 */
    "    y[0] = a * y[0]\n"                         /* 21 */
    "end\n"                                         /* 22 */
    "kernel counts(a)\n"                            /* 23 */
    "    a[2] = twice(a)\n"                         /* 24 */
    "end\n"                                         /* 25 */
    "kernel lanes(y: i64[:])\n"                     /* 26 */
    "    y[lane_id()] = sub_group_add(y[0])\n"      /* 27 */
    "end\n"                                         /* 28 */
    "kernel tiles(y: f32[:])\n"                     /* 29 */
    "    local t = f32[4096]\n"                     /* 30 */
    "    local u = f32[130, 64]\n"                  /* 31 */
    "    t[local_id(0)] = y[0]\n"                   /* 32 */
    "    u[local_id(0), 0] = t[0]\n"                /* 33 */
    "    y[0] = u[0, 0]\n"                          /* 34 */
    "end\n"                                         /* 35 */
    "struct Big\n" BIG                              /* 36 */
    "kernel takes(y: f32[:], a: Big, b: Big, c)\n"  /* 40 */
    "    y[0] = a.a[0] + b.b[1]\n"                  /* 41 */
    "end\n"                                         /* 42 */
    "fn half_of(n: Static)\n"                       /* 43 */
    "    static_assert(n % 2 == 0, \"even\")\n"     /* 44 */
    "    return n // 2\n"                           /* 45 */
    "end\n"                                         /* 46 */
    "kernel halves(y: i64[:])\n"                    /* 47 */
    "    y[0] = half_of(static(8))\n"               /* 48 */
    "    y[1] = half_of(static(7))\n"               /* 49 */
    "end\n"                                         /* 50 */
    "kernel decides(y: i64[:])\n"                   /* 51 */
    "    static_assert(1 + 1 == 2 || y[0] > 0)\n"   /* 52 */
    "    static_assert(typeof(y[0]) == i64)\n"      /* 53 */
    "    static_assert(true && y[0] > 0, \"no\")\n" /* 54 */
    "end\n"                                         /* 55 */
    "kernel misses(y: i64[:])\n"                    /* 56 */
    "    y[0] = nobody(y[1])\n"                     /* 57 */
    "end\n"                                         /* 58 */
    "kernel fills(y: f32[:])\n"                     /* 59 */
    "    local t = f32[40960]\n"                    /* 60 */
    "    t[local_id(0)] = y[0]\n"                   /* 61 */
    "    y[0] = t[0]\n"                             /* 62 */
    "end\n"                                         /* 63 */
    "kernel spills(y: f32[:])\n"                    /* 64 */
    "    local t = f32[40960]\n"                    /* 65 */
    "    local u = i8[1]\n"                         /* 66 */
    "    t[local_id(0)] = y[0]\n"                   /* 67 */
    "    u[0] = i8(0)\n"                            /* 68 */
    "    y[u[0]] = t[0]\n"                          /* 69 */
    "end\n";                                        /* 70 */

typedef struct row {
    const char *kernel;
    const char *types; /* with " | " between them */
    const char *target;
    uint32_t group[3];
    const char *expected; /* "": it passes */
} row;

static const row rows[] = {
    {"recurs", "i64[:]", "cuda:sm_90:ptx80", {0}, ""},
    {"recurs", "i64[:]", "rocm:gfx90a", {0}, ""},
    {"recurs",
     "i64[:]",
     "spirv:1.4",
     {0},
     "main:5:16: error: `main.deep(i64)` calls itself, and spirv:1.4 has no "
     "recursion [unsupported-recursion]\n"
     "    5 |     return 1 + deep(n - 1)\n"
     "      |                ^~~~~~~~~~~\n"
     "      = hint: a loop does the same\n"
     "      = in main.deep(i64) at main:5:16\n"
     "      = in main.recurs(i64[:]) at main:15:12\n"},
    {"returns",
     "i64[:]",
     "spirv:1.4",
     {0},
     "main:8:30: error: `main.even(i64)` is called again from within, and "
     "spirv:1.4 has no recursion [unsupported-recursion]\n"
     "    8 | fn odd(n) = n == 0 ? false : even(n - 1)\n"
     "      |                              ^~~~~~~~~~~\n"
     "      = hint: a loop does the same\n"
     "      = in main.odd(i64) at main:8:30\n"
     "      = in main.even(i64) at main:7:30\n"
     "      = in main.returns(i64[:]) at main:18:16\n"},
    {"scales", "f16[:] | f16", "cuda:sm_75", {0}, ""},
    {"scales", "f32[:] | f32", "spirv:1.4", {0}, ""},
    {"scales", "f64[:] | f64", "spirv:1.4+fp64", {0}, ""},
    {"scales",
     "f64[:] | f64",
     "spirv:1.4",
     {0},
     "main:21:12: error: spirv:1.4 has no f64 [unsupported-type]\n"
     "   21 |     y[0] = a * y[0]\n"
     "      |            ^~~~~~~~\n"
     "      = hint: a target with the option fp64 has it\n"
     "      = in main.scales(f64[:], f64) at main:21:12\n"},
    {"scales",
     "f16[:] | f16",
     "spirv:1.4+fp64",
     {0},
     "main:21:12: error: spirv:1.4+fp64 has no f16 [unsupported-type]\n"
     "   21 |     y[0] = a * y[0]\n"
     "      |            ^~~~~~~~\n"
     "      = hint: a target with the option fp16 has it\n"
     "      = in main.scales(f16[:], f16) at main:21:12\n"},
    {"counts", "i32[:]", "spirv:1.4", {0}, ""},
    {"counts", "i64[:]", "spirv:1.4+int64_atomics", {0}, ""},
    {"counts", "u16[:]", "cuda:sm_90", {0}, ""},
    {"counts", "u16[:]", "rocm:gfx1100", {0}, ""},
    {"counts",
     "i64[:]",
     "spirv:1.4",
     {0},
     "main:9:15: error: spirv:1.4 has no atomic operations of 64 bits, as "
     "`atomic_add` on i64 is [unsupported-atomic]\n"
     "    9 | fn count(a) = atomic_add(a, 0, a[1])\n"
     "      |               ^~~~~~~~~~~~~~~~~~~~~~\n"
     "      = hint: a target with the option int64_atomics has it\n"
     "      = in main.count(i64[:]) at main:9:15\n"
     "      = in main.twice(i64[:]) at main:11:13\n"
     "      = in main.counts(i64[:]) at main:24:12\n"},
    {"counts",
     "u16[:]",
     "spirv:1.4+int64_atomics",
     {0},
     "main:9:15: error: spirv:1.4+int64_atomics has no atomic operations of 16 "
     "bits, as `atomic_add` on u16 is [unsupported-atomic]\n"
     "    9 | fn count(a) = atomic_add(a, 0, a[1])\n"
     "      |               ^~~~~~~~~~~~~~~~~~~~~~\n"
     "      = hint: elements of 32 bits can be used so\n"
     "      = in main.count(u16[:]) at main:9:15\n"
     "      = in main.twice(u16[:]) at main:11:13\n"
     "      = in main.counts(u16[:]) at main:24:12\n"},
    {"lanes", "i64[:]", "cuda:sm_75", {0}, ""},
    {"lanes", "i64[:]", "spirv:1.4+subgroups", {0}, ""},
    {"lanes",
     "i64[:]",
     "spirv:1.4",
     {0},
     "main:27:7: error: spirv:1.4 has no sub-groups, which `lane_id` is about "
     "[unsupported-sub-group]\n"
     "   27 |     y[lane_id()] = sub_group_add(y[0])\n"
     "      |       ^~~~~~~~~\n"
     "      = hint: a target with the option subgroups has it\n"
     "      = in main.lanes(i64[:]) at main:27:7\n"
     "main:27:20: error: spirv:1.4 has no sub-groups, which `sub_group_add` is "
     "about [unsupported-sub-group]\n"
     "   27 |     y[lane_id()] = sub_group_add(y[0])\n"
     "      |                    ^~~~~~~~~~~~~~~~~~~\n"
     "      = hint: a target with the option subgroups has it\n"
     "      = in main.lanes(i64[:]) at main:27:20\n"},
    {"tiles", "f32[:]", "rocm:gfx90a:sramecc+:xnack-", {0}, ""},
    {"tiles", "f32[:]", "spirv:1.4", {0}, ""},
    {"tiles",
     "f32[:]",
     "cuda:sm_90:ptx80",
     {0},
     "main:31:5: error: with this one local arrays take 49664 bytes, and a "
     "group on cuda:sm_90:ptx80 has 49152 [local-memory]\n"
     "   31 |     local u = f32[130, 64]\n"
     "      |     ^~~~~~~~~~~~~~~~~~~~~~\n"
     "      = in main.tiles(f32[:]) at main:31:5\n"},
    {"fills", "f32[:]", "rocm:gfx950:wave64:cov5", {0}, ""},
    {"spills",
     "f32[:]",
     "rocm:gfx950:wave64:cov5",
     {0},
     "main:66:5: error: with this one local arrays take 163848 bytes, and a "
     "group on rocm:gfx950:wave64:cov5 has 163840 [local-memory]\n"
     "   66 |     local u = i8[1]\n"
     "      |     ^~~~~~~~~~~~~~~\n"
     "      = in main.spills(f32[:]) at main:66:5\n"},
    {"fills",
     "f32[:]",
     "rocm:gfx942:wave64:cov5",
     {0},
     "main:60:5: error: with this one local arrays take 163840 bytes, and a "
     "group on rocm:gfx942:wave64:cov5 has 65536 [local-memory]\n"
     "   60 |     local t = f32[40960]\n"
     "      |     ^~~~~~~~~~~~~~~~~~~~\n"
     "      = in main.fills(f32[:]) at main:60:5\n"},
    {"takes", "f32[:] | Big | Big | Big", "cuda:sm_90:ptx81", {0}, ""},
    {"takes", "f32[:] | Big | Big | f32", "rocm:gfx90a", {0}, ""},
    {"takes",
     "f32[:] | Big | Big | (Big, Big)",
     "cuda:sm_90:ptx80",
     {0},
     "main:40:8: error: arguments take 4112 bytes, and a kernel for "
     "cuda:sm_90:ptx80 takes at most 4096 [too-many-arguments]\n"
     "   40 | kernel takes(y: f32[:], a: Big, b: Big, c)\n"
     "      |        ^~~~~\n"
     "      = hint: argument 1, f32[:]: 16 at 0; argument 2, main.Big: 1024 at "
     "16; argument 3, main.Big: 1024 at 1040; argument 4, (main.Big, "
     "main.Big): 2048 at 2064\n"
     "      = in main.takes(f32[:], main.Big, main.Big, (main.Big, main.Big)) "
     "at main:40:8\n"},
    {"takes",
     "f32[:] | Big | Big | f32",
     "spirv:1.4",
     {0},
     "main:40:8: error: arguments take 2072 bytes, and a kernel for spirv:1.4 "
     "takes at most 1024 [too-many-arguments]\n"
     "   40 | kernel takes(y: f32[:], a: Big, b: Big, c)\n"
     "      |        ^~~~~\n"
     "      = hint: a target with the option large_arguments takes more; "
     "argument 1, f32[:]: 16 at 0; argument 2, main.Big: 1024 at 16; argument "
     "3, main.Big: 1024 at 1040; argument 4, f32: 4 at 2064\n"
     "      = in main.takes(f32[:], main.Big, main.Big, f32) at main:40:8\n"},
    {"takes",
     "f32[:] | Big | Big | f32",
     "spirv:1.4+large_arguments",
     {0},
     "main:40:8: error: arguments take 2072 bytes, and a kernel for "
     "spirv:1.4+large_arguments takes at most 2048 [too-many-arguments]\n"
     "   40 | kernel takes(y: f32[:], a: Big, b: Big, c)\n"
     "      |        ^~~~~\n"
     "      = hint: argument 1, f32[:]: 16 at 0; argument 2, main.Big: 1024 at "
     "16; argument 3, main.Big: 1024 at 1040; argument 4, f32: 4 at 2064\n"
     "      = in main.takes(f32[:], main.Big, main.Big, f32) at main:40:8\n"},
    {"scales", "f32[:] | f32", "rocm:gfx90a", {1024, 1, 1}, ""},
    {"scales",
     "f32[:] | f32",
     "cuda:sm_75:ptx63",
     {2048, 0, 0},
     "main:20:8: error: a group of 2048 x 1 x 1 items is asked for, and one on "
     "cuda:sm_75:ptx63 has at most 1024 [group-too-large]\n"
     "   20 | kernel scales(y, a)\n"
     "      |        ^~~~~~\n"
     "      = in main.scales(f32[:], f32) at main:20:8\n"},
    {"scales",
     "f32[:] | f32",
     "cuda:sm_75:ptx63",
     {1, 1, 65},
     "main:20:8: error: a group of 65 items along its last dimension is asked "
     "for, and one on cuda:sm_75:ptx63 has at most 64 [group-too-large]\n"
     "   20 | kernel scales(y, a)\n"
     "      |        ^~~~~~\n"
     "      = in main.scales(f32[:], f32) at main:20:8\n"},
    {"halves",
     "i64[:]",
     "host",
     {0},
     "main:44:5: error: static assertion failed: even [static-assertion]\n"
     "   44 |     static_assert(n % 2 == 0, \"even\")\n"
     "      |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
     "      = in main.half_of(Static{7}) at main:44:5\n"
     "      = in main.halves(i64[:]) at main:49:12\n"},
    {"decides",
     "i64[:]",
     "spirv:1.4",
     {0},
     "main:54:19: error: a static assertion needs a condition that is known at "
     "compile time [not-constant]\n"
     "   54 |     static_assert(true && y[0] > 0, \"no\")\n"
     "      |                   ^~~~~~~~~~~~~~~~\n"
     "      = hint: `assert` looks at it when the kernel runs\n"
     "      = in main.decides(i64[:]) at main:54:19\n"},
    {"misses",
     "i64[:]",
     "cuda:sm_90",
     {0},
     "main:57:12: error: unknown name `nobody` [unknown-name]\n"
     "   57 |     y[0] = nobody(y[1])\n"
     "      |            ^~~~~~\n"
     "      = in main.misses(i64[:]) at main:57:12\n"},
};

static kiln_context *context;
static kiln_package *package;

static int setup(void **state)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    (void)state;
    options.codegen_path = "/nowhere/libkiln-codegen.so";
    assert_ok(kiln_context_new(&context, &options, &test_error));
    assert_ok(kiln_package_new(&package, context, "main", &test_error));
    assert_ok(kiln_package_define(package, "main", program, strlen(program),
                                  NULL, &test_error));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kiln_context_free(context);
    return 0;
}

/* `most`: items of a group; 0: any number. */
static kiln_status emit_with(const row *r, uint32_t most, kiln_error **error)
{
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    const kiln_config *config = NULL;
    const kiln_type *list[64];
    kiln_signature signature = {.types = list};
    char copy[1024], *type = copy;
    kiln_blob blob = {0};

    (void)snprintf(copy, sizeof copy, "%s", r->types);
    while (type != NULL) {
        char *end = strstr(type, " | ");

        if (end != NULL)
            *end = '\0';
        assert_ok(kiln_type_parse(&list[signature.count++], context, package,
                                  type, &test_error));
        type = end != NULL ? end + 3 : NULL;
    }
    options.target = r->target;
    memcpy(options.required_group_size, r->group, sizeof r->group);
    options.maximum_group_size = most;
    assert_ok(kiln_config_new(&config, context, &options, &test_error));
    assert_ok(kiln_package_function(&signature.function, package, r->kernel,
                                    &test_error));
    return kiln_emit(&blob, context, &signature, config, 0, KILN_EMIT_LLVM,
                     error);
}

static kiln_status emit(const row *r, kiln_error **error)
{
    return emit_with(r, 0, error);
}

static void check(const row *r)
{
    kiln_error *error = NULL;
    kiln_blob text = {0};
    const kiln_status status = emit(r, &error);

    assert_ok(kiln_error_render(&text, error, KILN_RENDER_PLAIN));
    if (*r->expected == '\0') {
        assert_int_equal(status, KILN_ECODEGEN);
        assert_contains(text.data, "cannot be opened");
    } else {
        assert_string_equal(text.data, r->expected);
    }
    kiln_blob_release(&text);
    kiln_error_free(error);
}

static void every_kernel_is_told_what_its_target_lacks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check(&rows[i]);
}

static void a_group_that_no_launch_may_have_is_refused(void **state)
{
    static const char *const targets[] = {"cuda:sm_90", "rocm:gfx90a",
                                          "spirv:1.4"};

    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        const row r = {"scales", "f32[:] | f32", targets[i], {8, 4, 1}, ""};
        kiln_error *error = NULL;

        assert_int_equal(emit_with(&r, 31, &error), KILN_EUNSUPPORTED);
        assert_contains(kiln_error_message(error),
                        "a group of 8 x 4 x 1 items is asked for, and groups "
                        "of up to 31");
        kiln_error_free(error);
        error = NULL;
        assert_int_equal(emit_with(&r, 32, &error), KILN_ECODEGEN);
        kiln_error_free(error);
    }
}

static void all_that_is_found_is_reported_together(void **state)
{
    static const char text[] = "kernel all(y: f64[:], h: f16[:], n: u64[:])\n"
                               "    y[0] = y[1] + 1.0\n"
                               "    h[0] = h[1]\n"
                               "    atomic_add(n, 0, u64(1))\n"
                               "    n[1] = u64(lane_id())\n"
                               "end\n";
    static const char *const codes[] = {"unsupported-type", "unsupported-type",
                                        "unsupported-atomic",
                                        "unsupported-sub-group"};
    const row r = {"all", "f64[:] | f16[:] | u64[:]", "spirv:1.2", {0}, ""};
    kiln_error *error = NULL;

    (void)state;
    assert_ok(kiln_package_define(package, "all", text, strlen(text), NULL,
                                  &test_error));

    assert_int_equal(emit(&r, &error), KILN_EUNSUPPORTED);

    assert_int_equal(kiln_error_diagnostic_count(error), 4);
    for (size_t i = 0; i < 4; i++)
        assert_string_equal(kiln_error_diagnostic(error, i)->code, codes[i]);
    kiln_error_free(error);
}

static void at_most_twenty_are_reported(void **state)
{
    const row r = {"crowd", "u16[:]", "spirv:1.4", {0}, ""};
    char text[4096] = "kernel crowd(n: u16[:])\n";
    kiln_error *error = NULL;

    (void)state;
    for (int i = 0; i < 30; i++)
        strcat(text, "    atomic_add(n, 0, u16(1))\n");
    strcat(text, "end\n");
    assert_ok(kiln_package_define(package, "crowd", text, strlen(text), NULL,
                                  &test_error));

    assert_int_equal(emit(&r, &error), KILN_EUNSUPPORTED);

    assert_int_equal(kiln_error_diagnostic_count(error), 20);
    kiln_error_free(error);
}

/* A kernel of so many arrays, each nine parameters and 72 bytes, and so many
   bytes. */
static kiln_status emit_crowd(size_t arrays, size_t bytes, const char *target,
                              kiln_error **error)
{
    char name[32], text[1024], types[2048] = "";
    row r = {name, types, target, {0}, ""};
    size_t used;

    (void)snprintf(name, sizeof name, "crowd%zu", arrays);
    used = (size_t)snprintf(text, sizeof text, "kernel %s(", name);
    for (size_t i = 0; i < arrays + bytes; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%sx%zu",
                                 i > 0 ? ", " : "", i);
        (void)strcat(strcat(types, i > 0 ? " | " : ""),
                     i < arrays ? "f32[strided :,:,:,:]" : "i8");
    }
    (void)snprintf(text + used, sizeof text - used,
                   ")\n    x0[0, 0, 0, 0] = 1\nend\n");
    assert_ok(kiln_package_define(package, name, text, strlen(text), NULL,
                                  &test_error));
    return emit(&r, error);
}

static void parameters_of_spirv_are_counted(void **state)
{
    (void)state;
    assert_fails(KILN_ECODEGEN, "libkiln-codegen",
                 emit_crowd(13, 11, "spirv:1.4", &test_error));
    assert_fails(KILN_EUNSUPPORTED,
                 "arguments are 129 parameters, an array's sizes and strides "
                 "among them, and a kernel for spirv:1.4 takes at most 128",
                 emit_crowd(13, 12, "spirv:1.4", &test_error));
    assert_fails(KILN_ECODEGEN, "libkiln-codegen",
                 emit_crowd(28, 3, "spirv:1.4+large_arguments", &test_error));
    assert_fails(KILN_EUNSUPPORTED,
                 "arguments are 256 parameters, an array's sizes and strides "
                 "among them, and a kernel for spirv:1.4+large_arguments takes "
                 "at most 255",
                 emit_crowd(28, 4, "spirv:1.4+large_arguments", &test_error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_is_told_what_its_target_lacks),
        cmocka_unit_test(a_group_that_no_launch_may_have_is_refused),
        cmocka_unit_test(all_that_is_found_is_reported_together),
        cmocka_unit_test(at_most_twenty_are_reported),
        cmocka_unit_test(parameters_of_spirv_are_counted),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
