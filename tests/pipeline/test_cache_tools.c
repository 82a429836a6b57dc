/* test_cache_tools.c - what tools see of stores, and do with them. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: fault tiers host */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kiln.h>

#include "kiln/sys/cache_tools.h"
#include "pipeline/cache_tools/cache_entries.h"
#include "support/harness.h"
#include "tiers/entry_describe.h"

static const char saxpy[] = "fn scaled(a, x) = a * x\n"
                            "kernel saxpy(y, a, x)\n"
                            "    i = global_id(0)\n"
                            "    if i < length(y)\n"
                            "        y[i] = scaled(a, x[i]) + y[i]\n"
                            "    end\n"
                            "end\n";

/* ---- a context over a folder ---- */

static kiln_status open_context(kiln_context **out, const kiln_alloc *alloc,
                                const char *folder, uint8_t mode)
{
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;

    cache.mode = mode;
    cache.directory = folder;
    options.alloc = alloc;
    options.cache = &cache;
    return kiln_context_new(out, &options, NULL);
}

static kiln_context *open_at(const char *folder, uint8_t mode)
{
    kiln_context *context = NULL;

    assert_ok(open_context(&context, NULL, folder, mode));
    return context;
}

typedef struct job {
    const kiln_type *types[3];
    kiln_signature signature;
    const kiln_config *config;
} job;

static void make_job(job *out, kiln_context *context, const char *text)
{
    kiln_package *package;

    out->signature = (kiln_signature){.types = out->types, .count = 3};
    assert_ok(kiln_config_new(&out->config, context, NULL, &test_error));
    assert_ok(kiln_package_new(&package, context, "main", &test_error));
    assert_ok(kiln_package_define(package, "main.kiln", text, strlen(text),
                                  NULL, &test_error));
    assert_ok(kiln_package_function(&out->signature.function, package, "saxpy",
                                    &test_error));
    out->types[1] = kiln_type_scalar(context, KILN_TYPE_F32);
    assert_ok(kiln_type_array(&out->types[0], context, out->types[1], 1, 0,
                              &test_error));
    out->types[2] = out->types[0];
}

/* Fills the folder with what one kernel leaves. */
static void fill(const char *folder)
{
    kiln_context *context = open_at(folder, KILN_CACHE_MODE_READ_WRITE);
    const kiln_kernel *kernel;
    job j;

    make_job(&j, context, saxpy);
    assert_ok(kiln_compile(&kernel, context, &j.signature, j.config, NULL,
                           &test_error));
    kiln_context_free(context);
}

/* ---- what is shown ---- */

typedef struct sight {
    size_t count;
    size_t bad;
    size_t fields;
    char names[4096];
    int drops;
} sight;

static void count_field(void *env, const char *section, const char *name,
                        const char *value)
{
    sight *s = env;

    s->fields += section && name && value;
}

static int32_t look(void *env, const kiln_cache_entry *entry)
{
    sight *s = env;
    const size_t size = strlen(s->names);

    s->count++;
    s->bad += entry->fault != NULL;
    (void)snprintf(s->names + size, sizeof s->names - size, "%s %s\n",
                   entry->kind, entry->name);
    assert_ok(kiln_cache_describe(entry, count_field, s));
    if (s->drops)
        assert_ok(kiln_cache_drop(entry));
    return 1;
}

static sight see(kiln_context *context, const kiln_cache_filter *filter)
{
    sight s = {.count = 0};

    assert_ok(kiln_cache_each(context, filter, look, &s, &test_error));
    return s;
}

static void every_entry_is_shown_with_its_name(void **state)
{
    kiln_context *context;
    sight s;

    fill(*state);
    context = open_at(*state, KILN_CACHE_MODE_READ_ONLY);
    s = see(context, NULL);
    assert_true(s.count >= 5);
    assert_int_equal(s.bad, 0);
    assert_true(s.fields > 10 * s.count);
    assert_contains(s.names, "binary main.saxpy(f32[:], f32, f32[:])\n");
    assert_contains(s.names, "instance main.saxpy(f32[:], f32, f32[:])\n");
    assert_contains(s.names, "instance main.scaled(f32, f32)\n");
    assert_contains(s.names, "program main.saxpy(f32[:], f32, f32[:])\n");
    assert_contains(s.names, "source main\n");
    kiln_context_free(context);
}

static void filters_let_through_what_they_say(void **state)
{
    kiln_context *context;
    kiln_cache_filter filter = KILN_CACHE_FILTER_INIT;

    fill(*state);
    context = open_at(*state, KILN_CACHE_MODE_READ_ONLY);
    filter.kind = "instance";
    assert_int_equal(see(context, &filter).count, 2);
    filter.name = "scaled";
    assert_int_equal(see(context, &filter).count, 1);
    filter.unused_s = 3600;
    assert_int_equal(see(context, &filter).count, 0);
    filter = (kiln_cache_filter)KILN_CACHE_FILTER_INIT;
    filter.bad_only = 1;
    assert_int_equal(see(context, &filter).count, 0);
    filter.bad_only = 0;
    filter.one_in = 1000000;
    assert_true(see(context, &filter).count <= 2);
    filter.size = offsetof(kiln_cache_filter, unused_s); /* an older caller */
    assert_true(see(context, &filter).count >= 5);
    kiln_context_free(context);
}

static void dropped_entries_are_gone(void **state)
{
    kiln_context *context;
    sight s = {.drops = 1};

    fill(*state);
    context = open_at(*state, KILN_CACHE_MODE_READ_WRITE);
    assert_ok(kiln_cache_each(context, NULL, look, &s, &test_error));
    assert_true(s.count >= 5);
    assert_int_equal(see(context, NULL).count, 0);
    kiln_context_free(context);
}

static int32_t try_to_drop(void *env, const kiln_cache_entry *entry)
{
    int *tried = env;

    assert_int_equal(kiln_cache_drop(entry), KILN_EREADONLY);
    (*tried)++;
    return 0;
}

static void nothing_is_dropped_where_only_reading_is_meant(void **state)
{
    kiln_cache_report report = {.size = sizeof report};
    kiln_context *context;
    int tried = 0;

    fill(*state);
    context = open_at(*state, KILN_CACHE_MODE_READ_ONLY);
    assert_ok(kiln_cache_each(context, NULL, try_to_drop, &tried, &test_error));
    assert_int_equal(tried, 1); /* the walk ended */
    assert_fails(KILN_EREADONLY, "not written",
                 kiln_cache_prune(&report, context, &test_error));
    assert_fails(KILN_EREADONLY, "not written",
                 kiln_cache_clear(&report, context, &test_error));
    kiln_context_free(context);
}

/* ---- packs ---- */

static void export_to(const char *folder, const char *path, uint8_t how)
{
    kiln_cache_export_options options = KILN_CACHE_EXPORT_OPTIONS_INIT;
    kiln_cache_report report = {.size = sizeof report};
    kiln_context *context = open_at(folder, KILN_CACHE_MODE_READ_ONLY);

    options.reproducible = how;
    assert_ok(
        kiln_cache_export(&report, context, path, NULL, &options, &test_error));
    assert_true(report.entries >= 5);
    kiln_context_free(context);
}

static size_t read_file(char **out, const char *path)
{
    struct stat facts;
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &facts), 0);
    *out = malloc((size_t)facts.st_size);
    assert_non_null(*out);
    assert_int_equal(fread(*out, 1, (size_t)facts.st_size, file),
                     facts.st_size);
    (void)fclose(file);
    return (size_t)facts.st_size;
}

static void equal_work_gives_equal_packs(void **state)
{
    char one[300], two[300], first[300], second[300];
    char *a, *b;
    size_t size;

    (void)snprintf(one, sizeof one, "%s/one", (char *)*state);
    (void)snprintf(two, sizeof two, "%s/two", (char *)*state);
    (void)snprintf(first, sizeof first, "%s/1.pack", (char *)*state);
    (void)snprintf(second, sizeof second, "%s/2.pack", (char *)*state);
    fill(one);
    fill(two);
    export_to(one, first, KILN_SWITCH_ON);
    export_to(two, second, KILN_SWITCH_ON);
    size = read_file(&a, first);
    assert_int_equal(read_file(&b, second), size);
    assert_memory_equal(a, b, size);
    free(a);
    free(b);
}

/* What one process adds, as a pack. */
static kiln_blob delta(const char *folder, uint8_t how)
{
    kiln_delta_options options = KILN_DELTA_OPTIONS_INIT;
    kiln_context *context = open_at(folder, KILN_CACHE_MODE_READ_WRITE);
    const kiln_kernel *kernel;
    kiln_blob bytes;
    job j;

    make_job(&j, context, saxpy);
    assert_ok(kiln_compile(&kernel, context, &j.signature, j.config, NULL,
                           &test_error));
    options.reproducible = how;
    assert_ok(kiln_delta(&bytes, context, NULL, &options, &test_error));
    kiln_context_free(context);
    return bytes;
}

static void equal_work_gives_equal_deltas(void **state)
{
    char one[300], two[300];
    kiln_blob a, b;

    (void)snprintf(one, sizeof one, "%s/one", (char *)*state);
    (void)snprintf(two, sizeof two, "%s/two", (char *)*state);
    a = delta(one, KILN_SWITCH_ON);
    b = delta(two, KILN_SWITCH_ON);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    kiln_blob_release(&b);
    b = delta(one, KILN_SWITCH_OFF);
    assert_int_equal(a.size, b.size);
    assert_memory_not_equal(a.data, b.data, a.size); /* the times */
    kiln_blob_release(&a);
    kiln_blob_release(&b);
}

static void an_exported_pack_comes_back(void **state)
{
    kiln_cache_report report = {.size = sizeof report};
    kiln_context *context;
    kiln_pack *pack;
    char cache[300], other[300], path[300];
    sight s = {.count = 0};

    (void)snprintf(cache, sizeof cache, "%s/cache", (char *)*state);
    (void)snprintf(other, sizeof other, "%s/other", (char *)*state);
    (void)snprintf(path, sizeof path, "%s/x.pack", (char *)*state);
    fill(cache);
    export_to(cache, path, KILN_SWITCH_OFF);
    assert_ok(kiln_pack_open(&pack, path, &test_error));
    assert_ok(kiln_pack_verify(pack, &test_error));
    assert_ok(kiln_pack_each(pack, NULL, look, &s, &test_error));
    context = open_at(other, KILN_CACHE_MODE_READ_WRITE);
    assert_ok(kiln_cache_import(&report, context, pack, NULL, &test_error));
    assert_int_equal(report.entries, s.count);
    assert_int_equal(report.skipped, 0);
    assert_int_equal(see(context, NULL).count, s.count);
    assert_ok(kiln_cache_import(&report, context, pack, NULL, &test_error));
    assert_int_equal(report.entries, 0);
    assert_int_equal(report.skipped, s.count);
    kiln_context_free(context);
    context = open_at(other, KILN_CACHE_MODE_READ_ONLY);
    assert_ok(kiln_cache_import(&report, context, pack, NULL, &test_error));
    kiln_context_free(context);
    context = open_at(path, KILN_CACHE_MODE_READ_ONLY); /* no folder */
    assert_fails(KILN_EREADONLY, "takes no entries",
                 kiln_cache_import(&report, context, pack, NULL, &test_error));
    kiln_context_free(context);
    kiln_pack_close(pack);
}

/* ---- explaining ---- */

typedef struct answers {
    int32_t found[8];
    char differing[8][256];
    size_t count;
} answers;

static void note_answer(void *env, const kiln_cache_answer *answer)
{
    answers *a = env;
    char *out = a->differing[a->count];

    a->found[a->count] = answer->found;
    out[0] = '\0';
    for (size_t i = 0; answer->nearest && i < answer->field_count; i++)
        if (answer->fields[i].differs)
            (void)snprintf(out + strlen(out), 256 - strlen(out), "%s;",
                           answer->fields[i].name);
    a->count++;
}

static answers explain(const char *folder, const char *text, uint8_t bounds)
{
    kiln_context *context = open_at(folder, KILN_CACHE_MODE_READ_ONLY);
    kiln_config_options options = KILN_CONFIG_OPTIONS_INIT;
    answers a = {.count = 0};
    job j;

    make_job(&j, context, text);
    options.bounds_checks = bounds;
    assert_ok(kiln_config_new(&j.config, context, &options, &test_error));
    assert_ok(kiln_cache_explain(context, &j.signature, j.config, note_answer,
                                 &a, &test_error));
    kiln_context_free(context);
    assert_int_equal(a.count, 3);
    return a;
}

static void a_stored_job_is_found_under_all_keys(void **state)
{
    answers a;

    fill(*state);
    a = explain(*state, saxpy, KILN_SWITCH_DEFAULT);
    for (size_t i = 0; i < a.count; i++)
        assert_int_equal(a.found[i], KILN_CACHE_FOUND);
}

static void another_setting_is_the_only_difference(void **state)
{
    answers a;

    fill(*state);
    a = explain(*state, saxpy, KILN_SWITCH_OFF);
    assert_int_equal(a.found[0], KILN_CACHE_FOUND);
    assert_int_equal(a.found[1], KILN_CACHE_FOUND);
    assert_int_equal(a.found[2], KILN_CACHE_NEAREST);
    assert_string_equal(a.differing[2], "bounds_checks;");
}

static void a_changed_callee_makes_the_caller_stale(void **state)
{
    char text[512];
    answers a;

    fill(*state);
    (void)snprintf(text, sizeof text, "fn scaled(a, x) = a * x + a\n%s",
                   strchr(saxpy, '\n') + 1);
    a = explain(*state, text, KILN_SWITCH_DEFAULT);
    assert_int_equal(a.found[0], KILN_CACHE_NEAREST);
    assert_string_equal(a.differing[0], "program text;");
    assert_int_equal(a.found[1], KILN_CACHE_STALE);
    assert_int_equal(a.found[2], KILN_CACHE_NEAREST);
    assert_string_equal(a.differing[2], "typed digest;");
}

static void an_empty_cache_has_nothing_near(void **state)
{
    const answers a = explain(*state, saxpy, KILN_SWITCH_DEFAULT);

    for (size_t i = 0; i < a.count; i++)
        assert_int_equal(a.found[i], KILN_CACHE_ABSENT);
}

/* ---- metas that make no sense ---- */

static void describe_as(const kiln__entry *entry)
{
    kiln__text name, target;
    sight s = {.count = 0};

    kiln__text_init(&name, &kiln__malloc);
    kiln__text_init(&target, &kiln__malloc);
    kiln__entry_title(&name, &target, entry);
    assert_non_null(name.bytes);
    assert_non_null(target.bytes);
    assert_ok(kiln__entry_describe(&kiln__malloc, entry, count_field, &s));
    (void)kiln__entry_typed(entry);
    kiln__text_dispose(&name);
    kiln__text_dispose(&target);
}

/* Every byte of the meta another one, and the meta cut at every byte. */
static int32_t describe_broken(void *env, const kiln_cache_entry *shown)
{
    const kiln__cache_seen *seen = shown->private_data;
    kiln__entry entry = seen->seen->stored.entry;
    const size_t size = entry.meta_size;
    unsigned char *meta = malloc(size + 1);
    size_t *count = env;

    assert_non_null(meta);
    memcpy(meta, entry.meta, size);
    entry.meta = meta;
    for (size_t i = 0; i < size; i++) {
        for (unsigned bit = 0; bit < 8; bit += 3) {
            meta[i] ^= (unsigned char)(1u << bit);
            describe_as(&entry);
            meta[i] ^= (unsigned char)(1u << bit);
        }
        entry.meta_size = i;
        describe_as(&entry);
        entry.meta_size = size;
    }
    free(meta);
    (*count)++;
    return 1;
}

static void a_meta_that_makes_no_sense_is_shown_as_far_as_it_goes(void **state)
{
    kiln_context *context;
    size_t count = 0;

    fill(*state);
    context = open_at(*state, KILN_CACHE_MODE_READ_ONLY);
    assert_ok(
        kiln_cache_each(context, NULL, describe_broken, &count, &test_error));
    assert_true(count >= 5);
    kiln_context_free(context);
}

/* ---- health ---- */

static void note_check(void *env, const char *name, int32_t verdict,
                       const char *text)
{
    int *bad = env;

    assert_non_null(text);
    if (strcmp(name, "variables") != 0)
        *bad += verdict == KILN_CHECK_BAD;
}

static void a_folder_of_ones_own_is_healthy(void **state)
{
    kiln_context *context = open_at(*state, KILN_CACHE_MODE_READ_WRITE);
    sight s = {.count = 0};
    int bad = 0;

    assert_ok(kiln_cache_places(context, count_field, &s));
    assert_true(s.fields >= 3);
    assert_ok(kiln_cache_check(context, note_check, &bad));
    assert_int_equal(bad, 0);
    assert_int_equal(chmod(*state, 0777), 0);
    assert_ok(kiln_cache_check(context, note_check, &bad));
    assert_int_equal(bad, 1);
    assert_int_equal(chmod(*state, 0700), 0);
    kiln_context_free(context);
}

static void a_cache_that_is_off_has_no_entries(void **state)
{
    kiln_cache_report report = {.size = sizeof report};
    kiln_context *context = open_at(*state, KILN_CACHE_MODE_OFF);
    int bad = 0;

    assert_int_equal(see(context, NULL).count, 0);
    assert_ok(kiln_cache_prune(&report, context, &test_error));
    assert_int_equal(report.entries, 0);
    assert_ok(kiln_cache_check(context, note_check, &bad));
    assert_int_equal(bad, 0);
    kiln_context_free(context);
}

/* ---- out of memory ---- */

static int32_t describe(void *env, const kiln_cache_entry *entry)
{
    kiln_status *status = env;
    sight s = {.count = 0};

    *status = kiln_cache_describe(entry, count_field, &s);
    return *status == KILN_OK;
}

static kiln_status look_and_move(const kiln_alloc *alloc, void *env)
{
    kiln_cache_report report = {.size = sizeof report};
    kiln_context *context = NULL;
    kiln_status described = KILN_OK;
    char path[300];
    kiln_status status =
        open_context(&context, alloc, env, KILN_CACHE_MODE_READ_WRITE);

    (void)snprintf(path, sizeof path, "%s/x.pack", (char *)env);
    if (status == KILN_OK)
        status = kiln_cache_each(context, NULL, describe, &described, NULL);
    if (status == KILN_OK)
        status = described;
    if (status == KILN_OK)
        status = kiln_cache_export(&report, context, path, NULL, NULL, NULL);
    if (status == KILN_OK)
        status = kiln_cache_compact(&report, context, 3600, NULL);
    kiln_context_free(context);
    return status;
}

static void tools_survive_a_failing_allocator(void **state)
{
    fill(*state);
    assert_survives_failing_alloc(look_and_move, *state);
}

#define IN_A_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(every_entry_is_shown_with_its_name),
        IN_A_FOLDER(filters_let_through_what_they_say),
        IN_A_FOLDER(dropped_entries_are_gone),
        IN_A_FOLDER(nothing_is_dropped_where_only_reading_is_meant),
        IN_A_FOLDER(equal_work_gives_equal_packs),
        IN_A_FOLDER(equal_work_gives_equal_deltas),
        IN_A_FOLDER(an_exported_pack_comes_back),
        IN_A_FOLDER(a_stored_job_is_found_under_all_keys),
        IN_A_FOLDER(another_setting_is_the_only_difference),
        IN_A_FOLDER(a_changed_callee_makes_the_caller_stale),
        IN_A_FOLDER(an_empty_cache_has_nothing_near),
        IN_A_FOLDER(a_meta_that_makes_no_sense_is_shown_as_far_as_it_goes),
        IN_A_FOLDER(a_folder_of_ones_own_is_healthy),
        IN_A_FOLDER(a_cache_that_is_off_has_no_entries),
        IN_A_FOLDER(tools_survive_a_failing_allocator),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
