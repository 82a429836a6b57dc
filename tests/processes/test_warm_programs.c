/* test_warm_programs.c - what a change means to the processes after it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: tiers host */
#include "workers.h"

/* A process that has the texts of package main, compiles main.k and runs it. */
#define USE "compile", "main.k", "f32[:]", "run", "main.k", "counts", "mapped"
#define MAIN(text) "text", "main", "main.kiln", text
#define ALL(value) "run " value " " value " " value " " value

#define CALLER \
    "kernel k(y)\n" \
    "    y[global_id(0)] = f32(level(f32(1)))\n" \
    "end\n"

/* Nothing was inferred, nothing built, and no LLVM opened. */
static void assert_all_hits(const char *said)
{
    assert_contains(said, "compile store main.k");
    assert_contains(said, "inferred=0 ");
    assert_contains(said, "emitted=0");
    assert_contains(said, "mapped no");
}

/* Two programs one after the other, again and again: the first time each is
   compiled, after that each is found. */
static void flip(const char *const *first, const char *first_result,
                 const char *const *second, const char *second_result)
{
    const char *said = worker_said(first);

    assert_contains(said, "compile built");
    assert_contains(said, first_result);
    said = worker_said(second);
    assert_contains(said, "compile built");
    assert_contains(said, second_result);
    for (int turn = 0; turn < 2; turn++) {
        said = worker_said(first);
        assert_contains(said, first_result);
        assert_all_hits(said);
        said = worker_said(second);
        assert_contains(said, second_result);
        assert_all_hits(said);
    }
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- what changes a kernel's meaning ---- */

static void a_callee_that_is_defined_anew_is_seen(void **state)
{
    (void)state;
    flip(LIST(MAIN("fn level(x) = x + 1.0\n" CALLER), USE), ALL("2"),
         LIST(MAIN("fn level(x) = x + 2.0\n" CALLER), USE), ALL("3"));
}

static void a_stale_entry_is_replaced(void **state)
{
    const char *said;

    (void)state;
    (void)WORKER(MAIN("fn level(x) = x + 1.0\n" CALLER), USE);
    said = WORKER(MAIN("fn level(x) = x + 2.0\n" CALLER), USE);
    assert_contains(said, "typed_stale=1 ");
    /* An edit elsewhere makes it another text: the instances are asked. */
    said = WORKER(MAIN("fn level(x) = x + 2.0\nfn new() = 1\n" CALLER), USE);
    assert_contains(said, "typed_stale=0 ");
    assert_all_hits(said);
}

static void a_more_specific_method_is_seen(void **state)
{
    (void)state;
    flip(LIST(MAIN("fn level(x) = 1.0\n" CALLER), USE), ALL("1"),
         LIST(MAIN("fn level(x) = 1.0\nfn level(x: f32) = 2.0\n" CALLER), USE),
         ALL("2"));
}

static void a_deleted_method_is_seen(void **state)
{
#define METHODS MAIN("fn level(x) = 1.0\nfn level(x: f32) = 2.0\n" CALLER)
    const char *said;

    (void)state;
    assert_contains(WORKER(METHODS, USE), ALL("2"));
    said = WORKER(METHODS, "delete", "main.level", "f32", USE);
    assert_contains(said, "compile built");
    assert_contains(said, ALL("1"));
    said = WORKER(METHODS, USE);
    assert_contains(said, ALL("2"));
    assert_contains(said, "compile store");
#undef METHODS
}

static void an_overlay_is_seen(void **state)
{
    (void)state;
    flip(
        LIST(MAIN("fn level(x) = 1.0\n" CALLER), USE), ALL("1"),
        LIST(MAIN("fn level(x) = 1.0\noverlay host fn level(x) = 5.0\n" CALLER),
             USE),
        ALL("5"));
}

static void an_overlay_that_the_config_names_is_seen(void **state)
{
#define TABLE \
    MAIN("fn level(x) = 1.0\noverlay debug fn level(x) = 5.0\n" CALLER)
    const char *said;

    (void)state;
    assert_contains(WORKER(TABLE, USE), ALL("1"));
    said = WORKER(TABLE, "overlays", "debug", "compile", "main.k", "f32[:]",
                  "run", "main.k");
    assert_contains(said, "compile built");
    assert_contains(said, ALL("5"));
    said = WORKER(TABLE, USE);
    assert_contains(said, ALL("1"));
    assert_all_hits(said);
#undef TABLE
}

static void a_changed_constant_is_seen(void **state)
{
    (void)state;
    flip(LIST(MAIN("const LEVEL = 3\nfn level(x) = LEVEL\n" CALLER), USE),
         ALL("3"),
         LIST(MAIN("const LEVEL = 4\nfn level(x) = LEVEL\n" CALLER), USE),
         ALL("4"));
}

static void a_definition_of_its_own_shadows_an_import(void **state)
{
    static const char other[] = "fn level(x) = 6.0\n";

    (void)state;
    flip(LIST("text", "other", "other.kiln", other,
              MAIN("import other: level\n" CALLER), USE),
         ALL("6"),
         LIST("text", "other", "other.kiln", other,
              MAIN("fn level(x) = 7.0\n" CALLER), USE),
         ALL("7"));
}

static void a_change_in_an_imported_package_is_seen(void **state)
{
    (void)state;
    flip(LIST("text", "other", "other.kiln", "fn level(x) = 6.0\n",
              MAIN("import other: level\n" CALLER), USE),
         ALL("6"),
         LIST("text", "other", "other.kiln", "fn level(x) = 8.0\n",
              MAIN("import other: level\n" CALLER), USE),
         ALL("8"));
}

/* ---- what does not ---- */

static void edits_elsewhere_and_moved_lines_are_all_hits(void **state)
{
    static const char *const texts[] = {
        "fn level(x) = x + 1.0\n" CALLER,
        "# one\n# two\nfn level(x) = x + 1.0\n\n\n" CALLER,
        "fn level(x)   =   x + 1.0   # more\n" CALLER,
        CALLER "fn level(x) = x + 1.0\n",
        "fn unrelated(x) = x\n"
        "fn level(x) = x + 1.0\n" CALLER "kernel more(y)\nend\n",
    };

    (void)state;
    assert_contains(WORKER(MAIN(texts[0]), USE), "compile built");
    for (size_t i = 1; i < sizeof texts / sizeof texts[0]; i++) {
        const char *said = WORKER(MAIN(texts[i]), USE);

        assert_contains(said, ALL("2"));
        assert_all_hits(said);
    }
}

static void exceptions_know_todays_lines(void **state)
{
#define RAISES \
    "kernel k(y)\n" \
    "    assert(global_id(0) < 3, \"too far\")\n" \
    "end\n"
    static worker w;

    (void)state;
    WORKER_START(&w, MAIN(RAISES), "compile", "main.k", "f32[:]", "run",
                 "main.k");
    assert_int_not_equal(worker_wait(&w), 0);
    assert_contains(w.text, "compile built");
    assert_contains(w.text, "main.kiln:2");
    WORKER_START(&w, "text", "main", "moved.kiln", "# a\n# b\n# c\n" RAISES,
                 "compile", "main.k", "f32[:]", "counts", "run", "main.k");
    assert_int_not_equal(worker_wait(&w), 0);
    assert_contains(w.text, "compile store");
    assert_contains(w.text, "inferred=0 ");
    assert_contains(w.text, "moved.kiln:5");
#undef RAISES
}

/* ---- code instances from the disk, whose code is generated anew ---- */

#define NO_BINARIES "KILN_CACHE_TIERS=typed_ir,runtime"

static void recursion_comes_from_the_disk(void **state)
{
    static const char text[] = "fn even(n: i32)\n"
                               "    if n == 0\n        return true\n    end\n"
                               "    return odd(n - 1)\n"
                               "end\n"
                               "fn odd(n: i32)\n"
                               "    if n == 0\n        return false\n    end\n"
                               "    return even(n - 1)\n"
                               "end\n"
                               "kernel k(y)\n"
                               "    if even(i32(global_id(0)))\n"
                               "        y[global_id(0)] = 1.0\n"
                               "    end\n"
                               "end\n";
    char edited[600];
    const char *said;

    (void)state;
    (void)snprintf(edited, sizeof edited, "fn new() = 1\n%s", text);
    said = WORKER(NO_BINARIES, MAIN(text), USE);
    assert_contains(said, "compile built");
    assert_contains(said, "run 1 0 1 0 1 0 1 0");
    said = WORKER(NO_BINARIES, MAIN(edited), USE);
    assert_contains(said, "compile built");
    assert_contains(said, "run 1 0 1 0 1 0 1 0");
    assert_contains(said, "inferred=0 ");
    assert_contains(said, "typed_stored=3 ");
}

static void a_member_of_a_recursion_that_changed_is_seen(void **state)
{
#define CYCLE(end) \
    "fn f(n: i32)\n" \
    "    if n <= 0\n" \
    "        return i32(" end ")\n" \
    "    end\n" \
    "    return g(n - 1)\n" \
    "end\n" \
    "fn g(n: i32) = f(n) + 1\n" \
    "kernel k(y)\n" \
    "    y[global_id(0)] = f32(f(i32(3)))\n" \
    "end\n"
    (void)state;
    flip(LIST(MAIN(CYCLE("0")), USE), ALL("3"), LIST(MAIN(CYCLE("10")), USE),
         ALL("13"));
#undef CYCLE
}

static void generic_functions_come_from_the_disk(void **state)
{
#define GENERIC \
    "struct Pair{T}\n    a: T\n    b: T\nend\n" \
    "fn apply(f, x: T, n: T) where T = f(x, n)\n" \
    "fn both(p: Pair{T}) where T = apply(+, p.a, p.b)\n" \
    "kernel k(y)\n" \
    "    i = global_id(0)\n" \
    "    y[i] = both(Pair(f32(1), f32(2))) + f32(both(Pair(i, i)))\n" \
    "end\n"
    const char *said;

    (void)state;
    said = WORKER(NO_BINARIES, MAIN(GENERIC), USE);
    assert_contains(said, "run 3 5 7 9");
    said = WORKER(NO_BINARIES, MAIN("fn new() = 1\n" GENERIC), USE);
    assert_contains(said, "run 3 5 7 9");
    assert_contains(said, "inferred=0 ");
#undef GENERIC
}

static void a_thousand_methods_come_from_the_disk(void **state)
{
    static char text[80000];
    char *at = text;
    const char *said;

    (void)state;
    for (int i = 0; i < 1000; i++)
        at += sprintf(at, "fn add%d(x) = x + %d.0\n", i, i % 7);
    for (int i = 0; i < 10; i++) {
        at += sprintf(at, "fn g%d(x)\n    s = x\n", i);
        for (int k = 0; k < 100; k++)
            at += sprintf(at, "    s = add%d(s)\n", 100 * i + k);
        at += sprintf(at, "    return s\nend\n");
    }
    at += sprintf(at, "kernel k(y)\n    s = f32(0)\n");
    for (int i = 0; i < 10; i++)
        at += sprintf(at, "    s = g%d(s)\n", i);
    at += sprintf(at, "    y[global_id(0)] = s\nend\n");
    assert_true((size_t)(at - text) < sizeof text - 100);
    said = WORKER("KILN_CACHE_TIERS=typed_ir", MAIN(text), USE);
    assert_contains(said, ALL("2997"));
    (void)sprintf(at, "fn new() = 1\n");
    said = WORKER("KILN_CACHE_TIERS=typed_ir", MAIN(text), USE);
    assert_contains(said, ALL("2997"));
    assert_contains(said, "typed_stored=1011 ");
    assert_contains(said, "inferred=0 ");
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, workers_setup, workers_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_callee_that_is_defined_anew_is_seen),
        TEST(a_stale_entry_is_replaced),
        TEST(a_more_specific_method_is_seen),
        TEST(a_deleted_method_is_seen),
        TEST(an_overlay_is_seen),
        TEST(an_overlay_that_the_config_names_is_seen),
        TEST(a_changed_constant_is_seen),
        TEST(a_definition_of_its_own_shadows_an_import),
        TEST(a_change_in_an_imported_package_is_seen),
        TEST(edits_elsewhere_and_moved_lines_are_all_hits),
        TEST(exceptions_know_todays_lines),
        TEST(recursion_comes_from_the_disk),
        TEST(a_member_of_a_recursion_that_changed_is_seen),
        TEST(generic_functions_come_from_the_disk),
        TEST(a_thousand_methods_come_from_the_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
