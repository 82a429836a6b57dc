/* test_artifact.c - the argument block, and what artifacts keep. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit */
#include "tiers/binary/artifact.h"

#include <string.h>

#include "context/types/types.h"
#include "kiln.h"
#include "stores/buffer.h"
#include "support/harness.h"
#include "tiers/binary/artifact_meta.h"
#include "tiers/binary/stored_binary.h"
#include "tiers/entry_writer.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static int make_context(void **state)
{
    kiln_context *context = NULL;

    assert_ok(kiln_context_new(&context, NULL, &test_error));
    *state = context;
    return 0;
}

static int end_context(void **state)
{
    kiln_context_free(*state);
    return 0;
}

static const kiln_type *type_of(kiln_context *context, const char *text)
{
    const kiln_type *type = NULL;

    assert_ok(kiln_type_parse(&type, context, NULL, text, &test_error));
    return type;
}

/* Lays out the types named in `texts`. */
static uint32_t layout(kiln_argument_info *out, kiln_context *context,
                       const char *const *texts, size_t count)
{
    const kiln_type *types[16];

    assert_true(count <= COUNT_OF(types));
    for (size_t i = 0; i < count; i++)
        types[i] = type_of(context, texts[i]);
    return kiln__argument_layout(out, types, count);
}

#define ASSERT_MEMBER(info, type, member) \
    do { \
        assert_int_equal((info).offset, offsetof(type, member)); \
        assert_int_equal((info).size, sizeof(((type *)0)->member)); \
    } while (0)

struct scalars {
    uint8_t flag; /* Bool */
    int16_t i16;
    uint8_t u8;
    int64_t i64;
    float f32;
    double f64;
    uint8_t last;
};

static void scalars_lie_as_in_a_struct(void **state)
{
    static const char *const types[] = {"bool", "i16", "u8", "i64",
                                        "f32",  "f64", "i8"};
    kiln_argument_info info[COUNT_OF(types)];

    assert_int_equal(layout(info, *state, types, COUNT_OF(types)),
                     sizeof(struct scalars));

    ASSERT_MEMBER(info[0], struct scalars, flag);
    ASSERT_MEMBER(info[1], struct scalars, i16);
    ASSERT_MEMBER(info[2], struct scalars, u8);
    ASSERT_MEMBER(info[3], struct scalars, i64);
    ASSERT_MEMBER(info[4], struct scalars, f32);
    ASSERT_MEMBER(info[5], struct scalars, f64);
    ASSERT_MEMBER(info[6], struct scalars, last);
    assert_string_equal(info[4].type, "f32");
}

struct arrays {
    uint8_t first;
    struct {
        void *data;
        int64_t sizes[1];
    } line;
    uint8_t second;
    struct {
        void *data;
        int64_t sizes[3];
        int64_t strides[3];
    } strided;
    float third;
};

static void arrays_are_flattened(void **state)
{
    static const char *const types[] = {"u8", "f32[:]", "u8",
                                        "f64[strided :,:,:]", "f32"};
    kiln_argument_info info[COUNT_OF(types)];

    assert_int_equal(layout(info, *state, types, COUNT_OF(types)),
                     sizeof(struct arrays));

    ASSERT_MEMBER(info[1], struct arrays, line);
    ASSERT_MEMBER(info[2], struct arrays, second);
    ASSERT_MEMBER(info[3], struct arrays, strided);
    ASSERT_MEMBER(info[4], struct arrays, third);
}

struct pair {
    float first;
    int64_t second;
};

struct aggregates {
    uint8_t flag;
    struct pair pair; /* (f32, i64) */
    uint8_t middle;
    float vector[4];
};

static void tuples_and_vectors_lie_as_in_c(void **state)
{
    static const char *const types[] = {"bool", "(f32, i64)", "u8",
                                        "Vec{f32, 4}"};
    kiln_argument_info info[COUNT_OF(types)];

    assert_int_equal(layout(info, *state, types, COUNT_OF(types)),
                     sizeof(struct aggregates));

    ASSERT_MEMBER(info[1], struct aggregates, pair);
    ASSERT_MEMBER(info[2], struct aggregates, middle);
    ASSERT_MEMBER(info[3], struct aggregates, vector);
}

static void what_has_no_size_is_not_passed(void **state)
{
    static const char *const types[] = {"i8", "Static{3}", "i8"};
    kiln_argument_info info[COUNT_OF(types)];

    assert_int_equal(layout(info, *state, types, COUNT_OF(types)), 2);

    assert_int_equal(info[1].size, 0);
    assert_int_equal(info[2].offset, 1);
    assert_int_equal(layout(info, *state, types, 0), 0);
}

static void a_block_that_is_too_large_is_told(void **state)
{
    kiln_foreign_type huge = {
        .size = sizeof huge,
        .package = "toy",
        .name = "Huge",
        .value_size = 1u << 30,
        .value_alignment = 8,
    };
    const kiln_type *types[5];
    kiln_argument_info info[5];

    assert_ok(kiln_type_foreign(&types[0], *state, &huge, &test_error));
    for (size_t i = 1; i < 5; i++)
        types[i] = types[0];

    assert_int_equal(kiln__argument_layout(info, types, 5), UINT32_MAX);
    assert_int_equal(kiln__argument_layout(info, types, 2), 1u << 31);
}

/* ---- artifacts ---- */

static kiln_status make(const kiln_artifact **out)
{
    char name[] = "saxpy_1", type[] = "f32[:]", bytes[] = "payload";
    kiln_argument_info arguments[2] = {{type, 0, 16}, {"f32", 16, 4}};
    kiln_kernel_info kernel = {
        .size = sizeof kernel,
        .name = name,
        .method = "main.saxpy(f32[:], f32)",
        .arguments = arguments,
        .argument_count = 2,
        .argument_bytes = 24,
        .required_group_size = {4, 2, 1},
    };
    const kiln__artifact_source source = {
        .key = {{1, 2}},
        .encoded_key = "key",
        .encoded_key_size = 3,
        .format = "elf",
        .target = "host:x86-64",
        .relocation = KILN_RELOCATION_PORTABLE,
        .bytes = bytes,
        .size = sizeof bytes,
        .kernels = &kernel,
        .kernel_count = 1,
        .compile_ns = 5,
    };
    const kiln_status status = kiln__artifact_new(out, &source);

    memset(name, 'x', sizeof name);
    memset(type, 'x', sizeof type);
    memset(bytes, 'x', sizeof bytes);
    return status;
}

static void an_artifact_copies_everything(void **state)
{
    const kiln_artifact *artifact;
    const kiln_kernel_info *kernel;
    size_t size;

    (void)state;
    assert_ok(make(&artifact));

    assert_string_equal(kiln_artifact_format(artifact), "elf");
    assert_string_equal(kiln_artifact_target(artifact), "host:x86-64");
    assert_int_equal(kiln_artifact_relocation(artifact),
                     KILN_RELOCATION_PORTABLE);
    assert_string_equal(kiln_artifact_bytes(artifact, &size), "payload");
    assert_int_equal(size, 8);
    assert_memory_equal(artifact->encoded_key, "key", 3);
    assert_int_equal(kiln_artifact_site_count(artifact), 0);
    assert_null(kiln_artifact_site(artifact, 0));
    assert_int_equal(kiln_artifact_kernel_count(artifact), 1);
    assert_null(kiln_artifact_kernel(artifact, 1));
    kernel = kiln_artifact_kernel(artifact, 0);
    assert_string_equal(kernel->name, "saxpy_1");
    assert_string_equal(kernel->arguments[0].type, "f32[:]");
    assert_int_equal(kernel->arguments[1].offset, 16);
    assert_int_equal(kernel->required_group_size[1], 2);

    kiln_artifact_release(artifact);
}

/* Makes the entry of an artifact, and gives it as a store does, in memory of
   the allocator. */
static void store(kiln__stored *out, const kiln_alloc *alloc)
{
    const kiln_artifact *artifact;
    kiln__entry_writer writer;
    kiln_blob envelope;
    char *copy;

    *out = (kiln__stored){0};
    assert_ok(make(&artifact));
    assert_ok(kiln__entry_writer_artifact(&writer, &kiln__malloc, artifact));
    assert_ok(kiln__entry_encode(&envelope, &kiln__malloc, &writer.entry));
    kiln__entry_writer_dispose(&writer);
    kiln_artifact_release(artifact);
    copy = kiln__buffer_new(&out->bytes, alloc, envelope.size);
    assert_non_null(copy);
    memcpy(copy, envelope.data, envelope.size);
    kiln_blob_release(&envelope);
    assert_int_equal(
        kiln__entry_decode(&out->entry, copy, out->bytes.size, NULL),
        KILN__FAULT_NONE);
}

static void one_from_a_store_keeps_what_was_read(void **state)
{
    const kiln_artifact *artifact;
    kiln__stored stored;

    (void)state;
    store(&stored, &kiln__malloc);
    assert_ok(kiln__artifact_take(&artifact, &kiln__malloc, &stored));

    assert_null(stored.bytes.data);
    assert_ptr_equal(artifact->bytes, stored.entry.payload);
    kiln__stored_release(&stored);
    assert_string_equal(artifact->bytes, "payload");
    assert_memory_equal(artifact->encoded_key, "key", 3);
    assert_string_equal(artifact->kernels[0].name, "saxpy_1");

    kiln_artifact_release(artifact);
}

/* The host's allocator may be gone before the artifact. */
static void memory_of_the_hosts_is_not_kept(void **state)
{
    const kiln_artifact *artifact;
    failing_alloc hosts;
    kiln__stored stored;

    (void)state;
    failing_alloc_init(&hosts, 0);
    store(&stored, &hosts.alloc);
    assert_ok(kiln__artifact_take(&artifact, &hosts.alloc, &stored));

    assert_ptr_not_equal(artifact->bytes, stored.entry.payload);
    kiln__stored_release(&stored);
    assert_nothing_leaked(&hosts);
    assert_string_equal(artifact->bytes, "payload");

    kiln_artifact_release(artifact);
}

static void one_that_makes_no_sense_takes_nothing(void **state)
{
    const kiln_artifact *artifact = NULL;
    kiln__stored stored;

    (void)state;
    store(&stored, &kiln__malloc);
    stored.entry.meta_size--;

    assert_status(KILN_ECORRUPT,
                  kiln__artifact_take(&artifact, &kiln__malloc, &stored));

    assert_null(artifact);
    assert_non_null(stored.bytes.data);
    kiln__stored_release(&stored);
}

static void an_artifact_lives_until_its_last_reference(void **state)
{
    const kiln_artifact *artifact;

    (void)state;
    assert_ok(make(&artifact));
    assert_ptr_equal(kiln_artifact_retain(artifact), artifact);

    kiln_artifact_release(artifact);
    assert_string_equal(kiln_artifact_format(artifact), "elf");
    kiln_artifact_release(artifact);
    kiln_artifact_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_lie_as_in_a_struct),
        cmocka_unit_test(arrays_are_flattened),
        cmocka_unit_test(tuples_and_vectors_lie_as_in_c),
        cmocka_unit_test(what_has_no_size_is_not_passed),
        cmocka_unit_test(a_block_that_is_too_large_is_told),
        cmocka_unit_test(an_artifact_copies_everything),
        cmocka_unit_test(one_from_a_store_keeps_what_was_read),
        cmocka_unit_test(memory_of_the_hosts_is_not_kept),
        cmocka_unit_test(one_that_makes_no_sense_takes_nothing),
        cmocka_unit_test(an_artifact_lives_until_its_last_reference),
    };

    return cmocka_run_group_tests(tests, make_context, end_context);
}
