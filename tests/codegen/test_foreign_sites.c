/* test_foreign_sites.c - host objects in the modules of other frontends. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit codegen host */
/* LINKS: codegen */
#include "kiln/sys/frontend.h"
#include "support/codegen/request.h"

#define DATA(name) \
    { \
        name, KILN_SITE_DATA, 0 \
    }
#define FUNCTION(name) \
    { \
        name, KILN_SITE_FUNCTION, 0 \
    }

static void prepare_sites(outcome *o, const char *module,
                          const kiln__codegen_site *sites, size_t count,
                          uint8_t strategy)
{
    prepare(o, module, KILN_EMIT_BINARY, one_array, 1);
    o->settings.sites = strategy;
    o->request.sites = sites;
    o->request.site_count = count;
}

static void patch(outcome *o, size_t site, const void *address)
{
    const uint64_t word = (uint64_t)(uintptr_t)address;

    assert_true(site < o->site_count);
    assert_int_equal(o->sites[site].size, 8);
    memcpy((char *)o->bytes + o->sites[site].offset, &word, sizeof word);
}

/* Runs one item over out[4]. */
static void run_over(const outcome *o, int32_t out[4])
{
    const struct {
        int32_t *data;
        int64_t n;
    } arguments = {out, 4};
    launch l = make_launch(1, 1, 1, 1, 1, 1);

    assert_int_equal(run_image(o, &l, &arguments), 0);
}

#define KERNEL(body) \
    "define i32 @k(" ITEM ", ptr %y, i64 %n) {\n" body "  ret i32 0\n}\n"
#define OBJECT(name) "@kiln_site_" name " = external global i32\n"

/* ---- comparisons ---- */

static const kiln__codegen_site two[] = {DATA("a"), DATA("b")};

static const char comparing[] = OBJECT("a") OBJECT("b")
    KERNEL("  %e = icmp eq ptr @kiln_site_a, @kiln_site_b\n"
           "  %w = zext i1 %e to i32\n"
           "  store i32 %w, ptr %y\n"
           "  %z = icmp eq ptr @kiln_site_a, null\n"
           "  %v = zext i1 %z to i32\n"
           "  %p = getelementptr i32, ptr %y, i64 1\n"
           "  store i32 %v, ptr %p\n");

static void two_names_may_be_one_object_when_they_are_patched(void **state)
{
    int32_t object = 0, out[4] = {9, 9};
    outcome o;

    (void)state;
    prepare_sites(&o, comparing, two, 2, KILN_SITES_PATCH);
    assert_built(&o);
    assert_int_equal(o.relocation, KILN_RELOCATION_RELOCATABLE);
    assert_int_equal(o.site_count, 2);
    assert_string_equal(o.sites[0].name, "a");
    assert_string_equal(o.sites[1].name, "b");
    assert_int_equal(o.sites[0].strategy, KILN_SITES_PATCH);
    assert_int_not_equal(o.sites[0].offset, o.sites[1].offset);

    patch(&o, 0, &object);
    patch(&o, 1, &object);
    run_over(&o, out);
    assert_int_equal(out[0], 1);
    assert_int_equal(out[1], 0);

    patch(&o, 1, out);
    run_over(&o, out);
    assert_int_equal(out[0], 0);

    patch(&o, 0, NULL);
    run_over(&o, out);
    assert_int_equal(out[1], 1);
    free(o.bytes);
}

static void assert_text(const char *module, const kiln__codegen_site *sites,
                        size_t count, uint8_t strategy, const char *wanted,
                        const char *unwanted)
{
    outcome o;

    prepare_sites(&o, module, sites, count, strategy);
    o.request.form = KILN_EMIT_LLVM_OPT;
    o.settings.opt_level = 1; /* no vectors of pointers */
    assert_built(&o);
    assert_contains(o.bytes, wanted);
    assert_null(strstr(o.bytes, unwanted));
    free(o.bytes);
}

static void a_comparison_stays_only_where_sites_are_patched(void **state)
{
    int32_t object;
    kiln__codegen_site same[] = {DATA("a"), DATA("b")};

    (void)state;
    same[0].address = same[1].address = (uint64_t)(uintptr_t)&object;
    assert_text(comparing, two, 2, KILN_SITES_PATCH, "icmp eq ptr",
                "@kiln_site_");
    assert_text(comparing, same, 2, KILN_SITES_RESOLVE, "store i32 1, ptr",
                "zext i1");
    same[1].address += 4;
    assert_text(comparing, same, 2, KILN_SITES_RESOLVE, "store i32 0, ptr",
                "zext i1");
}

static void what_addresses_decided_stays_in_the_session(void **state)
{
    int32_t object = 0, out[4] = {9, 9};
    kiln__codegen_site same[] = {DATA("a"), DATA("b")};
    outcome o;

    (void)state;
    same[0].address = same[1].address = (uint64_t)(uintptr_t)&object;
    prepare_sites(&o, comparing, same, 2, KILN_SITES_RESOLVE);
    assert_built(&o);
    assert_int_equal(o.relocation, KILN_RELOCATION_SESSION);
    assert_int_equal(o.site_count, 2);
    assert_int_equal(o.sites[0].size, 0);
    assert_int_equal(o.sites[0].strategy, KILN_SITES_RESOLVE);
    run_over(&o, out);
    assert_int_equal(out[0], 1);
    free(o.bytes);
}

/* ---- calls, loads, constant expressions ---- */

static int32_t plus(int32_t a, int32_t b)
{
    return a + b;
}

static uint8_t seen;

static void take_byte(uint8_t byte)
{
    seen = byte;
}

static uint64_t address_of_plus(void)
{
    int32_t (*function)(int32_t, int32_t) = plus;
    uint64_t address;

    memcpy(&address, &function, sizeof address);
    return address;
}

static uint64_t address_of_take_byte(void)
{
    void (*function)(uint8_t) = take_byte;
    uint64_t address;

    memcpy(&address, &function, sizeof address);
    return address;
}

static const kiln__codegen_site mixed[] = {FUNCTION("plus"), DATA("table"),
                                           FUNCTION("take byte")};

static const char mixing[] =
    "@kiln_site_table = external global [4 x i32]\n"
    "declare i32 @kiln_site_plus(i32, i32) nounwind willreturn\n"
    "declare void @\"kiln_site_take byte\"(i8 zeroext)\n"
    "define internal i32 @helper(i32 %x) noinline {\n"
    "  %v = load i32, ptr getelementptr (i8, ptr @kiln_site_table, i64 8)\n"
    "  %r = call i32 @kiln_site_plus(i32 %x, i32 %v)\n"
    "  ret i32 %r\n"
    "}\n" KERNEL("  %r = call i32 @helper(i32 40)\n"
                 "  store i32 %r, ptr %y\n"
                 "  %t = trunc i64 %n to i8\n"
                 "  call void @\"kiln_site_take byte\"(i8 %t)\n"
                 "  br label %next\n"
                 "next:\n"
                 "  %p = phi ptr [@kiln_site_table, %0]\n"
                 "  store i32 77, ptr %p\n"
                 "  %a = ptrtoint ptr @kiln_site_plus to i64\n"
                 "  %b = trunc i64 %a to i32\n"
                 "  %q = getelementptr i32, ptr %y, i64 1\n"
                 "  store i32 %b, ptr %q\n");

static void assert_mixed(const outcome *o, int32_t table[4])
{
    int32_t out[4] = {0};

    seen = 0;
    run_over(o, out);
    assert_int_equal(out[0], 42);
    assert_int_equal((uint32_t)out[1], (uint32_t)address_of_plus());
    assert_int_equal(seen, 4);
    assert_int_equal(table[0], 77);
}

static void sites_are_called_read_and_written(void **state)
{
    int32_t table[4] = {0, 0, 2, 0};
    outcome o;

    (void)state;
    for (uint8_t level = 0; level <= 3; level++) {
        prepare_sites(&o, mixing, mixed, 3, KILN_SITES_PATCH);
        o.settings.opt_level = level;
        assert_built(&o);
        assert_int_equal(o.site_count, 3);
        for (size_t i = 0; i < 3; i++)
            patch(&o, i,
                  (void *)(uintptr_t)(i == 0   ? address_of_plus()
                                      : i == 1 ? (uintptr_t)table
                                               : address_of_take_byte()));
        table[0] = 0;
        assert_mixed(&o, table);
        free(o.bytes);
    }
}

static void resolved_sites_are_constants(void **state)
{
    int32_t table[4] = {0, 0, 2, 0};
    kiln__codegen_site sites[3];
    outcome o;

    (void)state;
    memcpy(sites, mixed, sizeof sites);
    sites[0].address = address_of_plus();
    sites[1].address = (uint64_t)(uintptr_t)table;
    sites[2].address = address_of_take_byte();
    prepare_sites(&o, mixing, sites, 3, KILN_SITES_RESOLVE);
    assert_built(&o);
    assert_mixed(&o, table);
    free(o.bytes);
}

/* How an argument is passed stands on the declaration, which goes. */
static void calls_keep_what_the_declaration_said(void **state)
{
    (void)state;
    assert_text(mixing, mixed, 3, KILN_SITES_PATCH, "(i8 zeroext ",
                "@kiln_site_");
}

static void equal_modules_give_equal_bytes_wherever_sites_are(void **state)
{
    outcome a, b;

    (void)state;
    prepare_sites(&a, mixing, mixed, 3, KILN_SITES_PATCH);
    assert_built(&a);
    prepare_sites(&b, mixing, mixed, 3, KILN_SITES_PATCH);
    assert_built(&b);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.bytes, b.bytes, a.size);
    free(a.bytes);
    free(b.bytes);
}

/* ---- what is not used ---- */

static void code_that_needs_no_site_has_none(void **state)
{
    outcome o;

    (void)state;
    prepare_sites(&o, KERNEL("  store i32 1, ptr %y\n"), two, 2,
                  KILN_SITES_PATCH);
    assert_built(&o);
    assert_int_equal(o.site_count, 0);
    assert_int_equal(o.relocation, KILN_RELOCATION_PORTABLE);
    free(o.bytes);

    prepare_sites(&o, OBJECT("a") KERNEL("  %v = load i32, ptr @kiln_site_a\n"),
                  two, 2, KILN_SITES_PATCH);
    assert_built(&o);
    assert_int_equal(o.site_count, 0);
    assert_int_equal(o.relocation, KILN_RELOCATION_PORTABLE);
    free(o.bytes);
}

/* ---- what is refused ---- */

static void assert_refused(const char *module, const char *words)
{
    static const kiln__codegen_site sites[] = {DATA("a"), FUNCTION("f")};

    for (uint8_t strategy = 0; strategy < 2; strategy++) {
        outcome o;

        prepare_sites(&o, module, sites, 2, strategy);
        run(&o);
        assert_int_equal(o.status, KILN_ECODEGEN);
        assert_contains(o.message, words);
    }
}

static void declarations_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    assert_refused(
        "declare void @kiln_site_a()\n" KERNEL("  call void @kiln_site_a()\n"),
        "site \"a\": it was named as an object");
    assert_refused(OBJECT("f") KERNEL("  store i32 1, ptr @kiln_site_f\n"),
                   "site \"f\": it was named as a function");
    assert_refused("@kiln_site_a = global i32 0\n" KERNEL(
                       "  store i32 1, ptr @kiln_site_a\n"),
                   "site \"a\": the module may not define it");
    assert_refused("@kiln_site_a = external thread_local global i32\n" KERNEL(
                       "  store i32 1, ptr @kiln_site_a\n"),
                   "site \"a\": it is thread-local");
    assert_refused("declare fastcc void @kiln_site_f()\n" KERNEL(
                       "  call fastcc void @kiln_site_f()\n"),
                   "site \"f\": it has not C's calling convention");
    assert_refused(OBJECT("a") "@t = constant ptr @kiln_site_a\n" KERNEL(
                       "  %p = load ptr, ptr @t\n  store i32 1, ptr %p\n"),
                   "site \"a\": the initialiser of a variable names it");
}

static void names_that_inference_did_not_give_are_refused(void **state)
{
    (void)state;
    assert_refused(OBJECT("z") KERNEL("  store i32 1, ptr @kiln_site_z\n"),
                   "variable 'kiln_site_z'");
    assert_refused(
        "declare void @kiln_site_z()\n" KERNEL("  call void @kiln_site_z()\n"),
        "site \"z\": inference did not name it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_names_may_be_one_object_when_they_are_patched),
        cmocka_unit_test(a_comparison_stays_only_where_sites_are_patched),
        cmocka_unit_test(what_addresses_decided_stays_in_the_session),
        cmocka_unit_test(sites_are_called_read_and_written),
        cmocka_unit_test(resolved_sites_are_constants),
        cmocka_unit_test(calls_keep_what_the_declaration_said),
        cmocka_unit_test(equal_modules_give_equal_bytes_wherever_sites_are),
        cmocka_unit_test(code_that_needs_no_site_has_none),
        cmocka_unit_test(declarations_that_do_not_fit_are_refused),
        cmocka_unit_test(names_that_inference_did_not_give_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
