/* test_toolchain.c - which build of a tool took part, whatever is there now. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit tiers */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_client/tool_identity.h"
#include "kiln/cache.h"
#include "support/harness.h"

#define ID KILN__BUILD_ID_TEXT_SIZE

static kiln_context *open_context(const char *folder)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context *context;

    cache.directory = folder;
    cache.mode = folder ? KILN_CACHE_MODE_READ_WRITE : KILN_CACHE_MODE_OFF;
    options.cache = &cache;
    assert_ok(kiln_context_new(&context, &options, &test_error));
    return context;
}

static kiln__tool_use use_of(const char *path)
{
    return (kiln__tool_use){
        .name = "ptxas", .path = path, .file = kiln__file_stamp_at(path)};
}

/* The file is another one under the old path, as an upgrade leaves it. */
static void replace(const char *folder, const char *path, const char *bytes)
{
    char fresh[256];

    harness_write_file(fresh, sizeof fresh, folder, "fresh", bytes,
                       strlen(bytes));
    assert_int_equal(rename(fresh, path), 0);
}

/* ---- digests ---- */

static void digest_both_ways(const char *folder, size_t size)
{
    char path[256], id[2][ID];
    char *bytes = malloc(size + 1);
    kiln__tool_use use;

    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 7 + i / 4096);
    harness_write_file(path, sizeof path, folder, "tool", bytes, size);
    for (int i = 0; i < 2; i++) {
        kiln_context *context = open_context(NULL);

        use = use_of(path);
        use.bytes = i ? bytes : NULL;
        use.size = size;
        kiln__tool_used(id[i], context, &use);
        kiln_context_free(context);
    }
    assert_string_equal(id[0], id[1]);
    assert_int_equal(strlen(id[0]), KILN_DIGEST_TEXT_SIZE - 1);
    free(bytes);
}

static void what_was_read_has_the_digest_of_its_file(void **state)
{
    digest_both_ways(*state, 1);
    digest_both_ways(*state, 5000);
    digest_both_ways(*state, ((size_t)3 << 20) + 5);
    digest_both_ways(*state, ((size_t)10 << 20) + 5);
}

/* However large it is: no part is left out. */
static void every_byte_of_a_tool_is_in_its_digest(void **state)
{
    const size_t size = (size_t)10 << 20, middle = size / 2 + 700000;
    char path[256], id[2][ID];
    char *bytes = calloc(1, size);

    assert_non_null(bytes);
    for (int i = 0; i < 2; i++) {
        kiln_context *context = open_context(NULL);
        kiln__tool_use use;

        bytes[middle] = (char)i;
        harness_write_file(path, sizeof path, *state, "tool", bytes, size);
        use = use_of(path);
        kiln__tool_used(id[i], context, &use);
        kiln_context_free(context);
    }
    assert_string_not_equal(id[0], id[1]);
    free(bytes);
}

static void a_name_that_nobody_knows_is_no_tool(void **state)
{
    kiln_context *context = open_context(NULL);
    kiln__tool_use use = use_of("/bin/sh");
    char id[ID];

    (void)state;
    use.name = "compiler";
    kiln__tool_used(id, context, &use);
    assert_string_equal(id, "");
    kiln_context_free(context);
}

/* ---- files that change ---- */

static void what_was_replaced_before_it_was_read_is_unknown(void **state)
{
    kiln_context *context = open_context(NULL);
    char path[256], id[ID];
    kiln__tool_use use;

    harness_write_file(path, sizeof path, *state, "tool", "old", 3);
    use = use_of(path);
    replace(*state, path, "new");

    kiln__tool_used(id, context, &use);
    assert_string_equal(id, KILN__TOOL_UNKNOWN);
    use = use_of(path);
    kiln__tool_used(id, context, &use);
    assert_int_equal(strlen(id), KILN_DIGEST_TEXT_SIZE - 1);
    kiln_context_free(context);
}

static void what_has_gone_is_unknown(void **state)
{
    kiln_context *context = open_context(NULL);
    const kiln__tool_use use = use_of("/nowhere/tool");
    char id[ID];

    (void)state;
    kiln__tool_used(id, context, &use);
    assert_string_equal(id, KILN__TOOL_UNKNOWN);
    kiln_context_free(context);
}

static void what_was_known_stays_known(void **state)
{
    kiln_context *context = open_context(NULL);
    char path[256], first[ID], second[ID];
    kiln__tool_use use;

    harness_write_file(path, sizeof path, *state, "tool", "old", 3);
    use = use_of(path);
    kiln__tool_used(first, context, &use);
    replace(*state, path, "new");

    kiln__tool_used(second, context, &use);
    assert_string_equal(first, second);
    kiln_context_free(context);
}

/* It says which file it is about: not the one that has its path now. */
static void a_note_is_of_the_file_that_was_there(void **state)
{
    kiln_context *context = open_context(*state);
    char path[256], first[ID], second[ID];
    kiln__tool_use use;

    harness_write_file(path, sizeof path, *state, "tool", "old", 3);
    use = use_of(path);
    kiln__tool_used(first, context, &use);
    kiln_context_free(context);
    replace(*state, path, "new");

    context = open_context(*state);
    kiln__tool_used(second, context, &use);
    assert_string_equal(first, second);
    kiln_context_free(context);

    context = open_context(*state);
    use = use_of(path);
    kiln__tool_used(second, context, &use);
    assert_int_equal(strlen(second), KILN_DIGEST_TEXT_SIZE - 1);
    assert_string_not_equal(first, second);
    kiln_context_free(context);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_read_has_the_digest_of_its_file),
        TEST(every_byte_of_a_tool_is_in_its_digest),
        TEST(a_name_that_nobody_knows_is_no_tool),
        TEST(what_was_replaced_before_it_was_read_is_unknown),
        TEST(what_has_gone_is_unknown),
        TEST(what_was_known_stays_known),
        TEST(a_note_is_of_the_file_that_was_there),
    };

    (void)unsetenv("KILN_CACHE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
