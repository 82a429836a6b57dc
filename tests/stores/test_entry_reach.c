/* test_entry_reach.c - what is about this machine stays on it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit tiers */
#include <stdio.h>
#include <string.h>

#include "base/system/file.h"
#include "codegen_client/tool_identity.h"
#include "kiln.h"
#include "kiln/sys/cache_tools.h"
#include "stores/pack/pack.h"
#include "support/harness.h"
#include "support/stores/list_store.h"
#include "support/stores/stores_fixture.h"

/* As the documents say it, kind by kind. */
static const struct {
    int32_t kind;
    int goes_anywhere, goes_when_asked_for;
} kinds[] = {
    {KILN__ENTRY_INSTANCE, 1, 1},    {KILN__ENTRY_PROGRAM, 1, 1},
    {KILN__ENTRY_RUNTIME, 1, 1},     {KILN__ENTRY_BINARY, 1, 1},
    {KILN__ENTRY_SOURCE, 1, 1},      {KILN__ENTRY_ATTACHED, 1, 1},
    {KILN__ENTRY_RAW, 0, 0},         {KILN__ENTRY_TOOLCHAIN, 0, 0},
    {KILN__ENTRY_NATIVE, 0, 1},      {KILN__ENTRY_SESSION, 0, 0},
    {KILN__ENTRY_TRANSLATION, 1, 1},
};

#define COUNT (sizeof kinds / sizeof *kinds)

_Static_assert(COUNT == KILN__ENTRY_KIND_COUNT, "every kind is listed");

static void make(loose_entry *e, size_t i)
{
    char name[16];

    (void)snprintf(name, sizeof name, "kind %zu", i);
    loose_entry_make(e, name, 20);
    kiln_blob_release(&e->envelope);
    e->entry.kind = kinds[i].kind;
    assert_ok(kiln__entry_encode(&e->envelope, &kiln__malloc, &e->entry));
}

static void put_all(stores_fixture *f)
{
    for (size_t i = 0; i < COUNT; i++) {
        loose_entry e;

        make(&e, i);
        stores_put(f, &e);
        assert_true(stores_has(f, &e));
        loose_entry_end(&e);
    }
}

static void stores_of_the_host_are_offered_what_may_leave(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;

    stores_add_faulty(f, &faulty, 1000);
    for (size_t i = 0; i < COUNT; i++) {
        loose_entry e;

        make(&e, i);
        faulty.puts = 0;
        stores_put(f, &e);
        assert_int_equal(faulty.puts, kinds[i].goes_anywhere);
        loose_entry_end(&e);
    }
}

static void without_a_disk_there_is_nothing_to_put_the_rest_into(void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;
    kiln__entry entry;

    f->cache.directory = "/proc/nowhere";
    stores_reopen(f);
    stores_add_faulty(f, &faulty, 1000);
    entry = f->a.entry;
    entry.kind = KILN__ENTRY_NATIVE;
    kiln__stores_put(f->context, &entry, 0);
    assert_int_equal(faulty.puts, 0);
    assert_int_equal(stores_counts(f).puts, 0);
}

/* A store that has what it should not have is not asked for it. */
static void what_is_about_this_machine_is_not_believed_from_elsewhere(
    void **state)
{
    stores_fixture *f = *state;
    static faulty_store faulty;

    f->cache.mode = KILN_CACHE_MODE_READ_ONLY;
    stores_reopen(f);
    stores_add_faulty(f, &faulty, 1000);
    for (size_t i = 0; i < COUNT; i++) {
        loose_entry e;

        make(&e, i);
        assert_ok(faulty.ops->put(faulty.self, &e.entry.key, e.envelope.data,
                                  e.envelope.size, NULL));
        assert_int_equal(stores_has(f, &e), kinds[i].goes_anywhere);
        loose_entry_end(&e);
    }
}

static void nor_from_a_pack_or_the_search_path(void **state)
{
    stores_fixture *f = *state;
    kiln__pack_writer *writer = NULL;
    kiln_blob bytes = {0};
    kiln_pack *pack = NULL;
    loose_entry all[COUNT];
    char other[400];

    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    for (size_t i = 0; i < COUNT; i++) {
        make(&all[i], i);
        stores_put(f, &all[i]);
        assert_ok(
            kiln__pack_writer_add_entry(writer, &all[i].entry, &test_error));
    }
    assert_ok(kiln__pack_writer_to_blob(&bytes, writer, &test_error));
    kiln__pack_writer_free(writer);
    (void)snprintf(other, sizeof other, "%s/other", f->folder);
    f->cache.directory = other;
    stores_reopen(f);
    assert_ok(
        kiln_pack_open_memory(&pack, bytes.data, bytes.size, &test_error));
    assert_ok(kiln_insert(f->context, pack, &test_error));
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(stores_has(f, &all[i]), kinds[i].goes_when_asked_for);
    f->cache.search_path = f->disk;
    stores_reopen(f);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(stores_has(f, &all[i]), kinds[i].goes_when_asked_for);
        loose_entry_end(&all[i]);
    }
    kiln_context_free(f->context);
    f->context = NULL;
    kiln_blob_release(&bytes);
}

/* Which kinds a pack has, as bits. */
static unsigned kinds_in(const char *path)
{
    kiln_pack *pack = NULL;
    unsigned seen = 0;

    assert_ok(kiln_pack_open(&pack, path, &test_error));
    for (size_t i = 0; i < kiln__pack_count(pack); i++) {
        kiln__packed found;

        assert_ok(kiln__pack_at(&found, pack, i));
        seen |= 1u << found.entry.kind;
        kiln_blob_release(&found.bytes);
    }
    kiln_pack_close(pack);
    return seen;
}

static void an_export_has_what_may_leave_or_was_asked_for(void **state)
{
    stores_fixture *f = *state;
    kiln_cache_report report = {.size = sizeof report};
    kiln_cache_filter filter = KILN_CACHE_FILTER_INIT;
    unsigned expected = 0;
    char path[400];

    (void)snprintf(path, sizeof path, "%s/out.kilnpack", f->folder);
    put_all(f);
    for (size_t i = 0; i < COUNT; i++)
        expected |= (unsigned)kinds[i].goes_anywhere << kinds[i].kind;
    assert_ok(
        kiln_cache_export(&report, f->context, path, NULL, NULL, &test_error));
    assert_int_equal(kinds_in(path), expected);
    for (size_t i = 0; i < COUNT; i++) {
        filter.kind = kiln__entry_kind_text(kinds[i].kind);
        assert_ok(kiln_cache_export(&report, f->context, path, &filter, NULL,
                                    &test_error));
        assert_int_equal(kinds_in(path), (unsigned)kinds[i].goes_when_asked_for
                                             << kinds[i].kind);
    }
}

static void an_import_takes_nothing_about_another_machine(void **state)
{
    stores_fixture *f = *state;
    kiln_cache_report report = {.size = sizeof report};
    kiln__pack_writer *writer = NULL;
    kiln_blob bytes = {0};
    kiln_pack *pack = NULL;
    loose_entry all[COUNT];

    assert_ok(kiln__pack_writer_new(&writer, &kiln__malloc));
    for (size_t i = 0; i < COUNT; i++) {
        make(&all[i], i);
        assert_ok(
            kiln__pack_writer_add_entry(writer, &all[i].entry, &test_error));
    }
    assert_ok(kiln__pack_writer_to_blob(&bytes, writer, &test_error));
    kiln__pack_writer_free(writer);
    assert_ok(
        kiln_pack_open_memory(&pack, bytes.data, bytes.size, &test_error));
    assert_ok(kiln_cache_import(&report, f->context, pack, NULL, &test_error));
    kiln_pack_close(pack);
    kiln_blob_release(&bytes);
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(stores_has(f, &all[i]), kinds[i].goes_when_asked_for);
        loose_entry_end(&all[i]);
    }
}

#define COMMENT "a sentence of the text alone"

static void compile_something(kiln_context *context)
{
    static const char text[] = "# " COMMENT "\n"
                               "fn twice(x) = x + x\n"
                               "kernel k(y: f64[:])\n"
                               "    y[0] = twice(y[0])\n"
                               "end\n";
    const kiln_type *type;
    kiln_signature signature = {NULL, &type, 1};
    const kiln_kernel *kernel = NULL;
    const kiln_config *config;
    kiln_package *package;

    assert_ok(kiln_config_new(&config, context, NULL, &test_error));
    assert_ok(kiln_package_new(&package, context, "local", &test_error));
    assert_ok(kiln_package_define(package, KILN_BUILD_FOLDER "/local.kiln",
                                  text, strlen(text), NULL, &test_error));
    assert_ok(kiln_type_parse(&type, context, NULL, "f64[:]", &test_error));
    assert_ok(
        kiln_package_function(&signature.function, package, "k", &test_error));
    assert_ok(
        kiln_compile(&kernel, context, &signature, config, NULL, &test_error));
}

static int32_t count_entry(void *env, const kiln_cache_entry *entry)
{
    (void)entry;
    ++*(size_t *)env;
    return 1;
}

#define TOOL "/opt/of-this-machine/bin/tool"

/* Names of files that took part, and what the text says. */
static void assert_tells_nothing(const kiln_blob *bytes,
                                 const stores_fixture *f)
{
    const char *const words[] = {TOOL, KILN_BUILD_FOLDER, f->folder,
                                 "libkiln-codegen", COMMENT};

    assert_true(bytes->size > 1000);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_null(
            memmem(bytes->data, bytes->size, words[i], strlen(words[i])));
}

static void deltas_and_exports_have_no_facts_of_this_machine(void **state)
{
    stores_fixture *f = *state;
    const kiln__file_stamp stamp = {0};
    kiln_cache_filter notes = KILN_CACHE_FILTER_INIT;
    kiln_cache_report report = {.size = sizeof report};
    kiln_mark *mark = NULL;
    kiln_blob bytes = {0};
    size_t seen = 0;
    char path[400];

    assert_ok(kiln_snapshot(&mark, f->context, &test_error));
    kiln__tool_note_leave(f->context, "tool", TOOL, &stamp, "1234");
    compile_something(f->context);
    assert_ok(kiln_delta(&bytes, f->context, mark, NULL, &test_error));
    kiln_mark_free(mark);
    assert_tells_nothing(&bytes, f);
    harness_write_file(path, sizeof path, f->folder, "out.kilnpack", bytes.data,
                       bytes.size);
    kiln_blob_release(&bytes);
    assert_int_equal(kinds_in(path) &
                         (1u << KILN__ENTRY_TOOLCHAIN |
                          1u << KILN__ENTRY_SESSION | 1u << KILN__ENTRY_NATIVE),
                     0);
    assert_ok(
        kiln_cache_export(&report, f->context, path, NULL, NULL, &test_error));
    assert_ok(kiln__file_read(&bytes, &kiln__malloc, path, (size_t)1 << 26,
                              &test_error));
    assert_tells_nothing(&bytes, f);
    kiln_blob_release(&bytes);
    notes.kind = "toolchain";
    assert_ok(
        kiln_cache_each(f->context, &notes, count_entry, &seen, &test_error));
    assert_true(seen > 0);
    assert_ok(kiln_cache_export(&report, f->context, path, &notes, NULL,
                                &test_error));
    assert_int_equal(kinds_in(path), 0);
}

static void a_kind_that_nobody_knows_stays(void **state)
{
    (void)state;
    assert_int_equal(kiln__entry_reach_of(-1), KILN__REACH_MACHINE);
    assert_int_equal(kiln__entry_reach_of(KILN__ENTRY_KIND_COUNT),
                     KILN__REACH_MACHINE);
}

#define WITH_STORES(test) \
    cmocka_unit_test_setup_teardown(test, stores_setup, stores_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_STORES(stores_of_the_host_are_offered_what_may_leave),
        WITH_STORES(without_a_disk_there_is_nothing_to_put_the_rest_into),
        WITH_STORES(what_is_about_this_machine_is_not_believed_from_elsewhere),
        WITH_STORES(nor_from_a_pack_or_the_search_path),
        WITH_STORES(an_export_has_what_may_leave_or_was_asked_for),
        WITH_STORES(deltas_and_exports_have_no_facts_of_this_machine),
        WITH_STORES(an_import_takes_nothing_about_another_machine),
        cmocka_unit_test(a_kind_that_nobody_knows_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
