/* test_npy.c - .npy files: what is read, written and refused. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit */
#include <stdlib.h>
#include <string.h>

#include "../../tools/npy.c"
#include "support/harness.h"

/* Writes a file: the version's head, the header's text, the elements. */
static void write_npy(char *path, size_t capacity, const char *folder,
                      int version, const char *text, const void *data,
                      size_t size)
{
    unsigned char bytes[2048];
    const size_t length = strlen(text);
    size_t used = 8;

    memcpy(bytes, "\x93NUMPY", 6);
    bytes[6] = (unsigned char)version;
    bytes[7] = 0;
    bytes[used++] = (unsigned char)(length & 0xff);
    bytes[used++] = (unsigned char)(length >> 8);
    if (version > 1) {
        bytes[used++] = 0;
        bytes[used++] = 0;
    }
    memcpy(bytes + used, text, length);
    used += length;
    memcpy(bytes + used, data, size);
    harness_write_file(path, capacity, folder, "array.npy", bytes, used + size);
}

static const float numbers[6] = {0, 1, 2, 3, 4, 5};

static void read_numbers(npy_array *out, const char *folder, int version,
                         const char *text)
{
    char path[512], message[NPY_MESSAGE_SIZE] = "";

    write_npy(path, sizeof path, folder, version, text, numbers,
              sizeof numbers);
    if (!npy_read(out, path, message))
        fail_msg("%s", message);
    assert_int_equal(out->size, sizeof numbers);
    assert_memory_equal(out->data, numbers, sizeof numbers);
}

static void an_array_in_c_order_has_its_shape_reversed(void **state)
{
    npy_array array;

    read_numbers(&array, *state, 1,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), "
                 "}      \n");

    assert_int_equal(array.kind, KILN_TYPE_F32);
    assert_int_equal(array.rank, 2);
    assert_int_equal(array.sizes[0], 3);
    assert_int_equal(array.sizes[1], 2);
    free(array.data);
}

static void an_array_in_fortran_order_keeps_its_shape(void **state)
{
    npy_array array;

    read_numbers(&array, *state, 2,
                 "{\"shape\": (2, 3), \"fortran_order\": True, \"descr\": "
                 "\"<f4\"}\n");

    assert_int_equal(array.sizes[0], 2);
    assert_int_equal(array.sizes[1], 3);
    free(array.data);
}

static void one_dimension_is_a_tuple_of_one(void **state)
{
    npy_array array;

    read_numbers(&array, *state, 3,
                 "{'descr':'<f4','fortran_order':False,'shape':(6,)}");

    assert_int_equal(array.rank, 1);
    assert_int_equal(array.sizes[0], 6);
    free(array.data);
}

/* As numpy writes arrays of ml_dtypes.bfloat16, and as it wrote them before. */
static void two_bytes_of_no_type_are_bf16(void **state)
{
    static const char *const orders = "<|";
    npy_array array;
    char text[128];

    for (int i = 0; i < 2; i++) {
        (void)snprintf(text, sizeof text,
                       "{'descr': '%cV2', 'fortran_order': False, "
                       "'shape': (12,), }\n",
                       orders[i]);
        read_numbers(&array, *state, 1, text);
        assert_int_equal(array.kind, KILN_TYPE_BF16);
        assert_int_equal(array.sizes[0], 12);
        free(array.data);
    }
}

static void what_was_written_reads_back(void **state)
{
    unsigned char bytes[24 * 8];
    char path[512], message[NPY_MESSAGE_SIZE];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    (void)snprintf(path, sizeof path, "%s/out.npy", (const char *)*state);
    for (int32_t kind = 0; kind < KILN_TYPE_KIND_COUNT; kind++) {
        const npy_array array = {
            .kind = kind,
            .rank = 4,
            .sizes = {4, 3, 2, 1},
            .data = bytes,
            .size = 24 * npy_element_size(kind),
        };
        npy_array again;

        if (!kiln__kind_is_scalar(kind))
            continue;
        assert_true(npy_write(&array, path, message));
        assert_true(npy_read(&again, path, message));
        assert_int_equal(again.kind, array.kind);
        assert_int_equal(again.rank, 4);
        assert_memory_equal(again.sizes, array.sizes, sizeof array.sizes);
        assert_int_equal(again.size, array.size);
        assert_memory_equal(again.data, bytes, array.size);
        free(again.data);
    }
}

static void written_elements_are_aligned(void **state)
{
    const npy_array array = {
        .kind = KILN_TYPE_F32,
        .rank = 1,
        .sizes = {1},
        .data = malloc(4),
        .size = 4,
    };
    char path[512], message[NPY_MESSAGE_SIZE];
    FILE *file;

    memcpy(array.data, numbers, 4);
    (void)snprintf(path, sizeof path, "%s/one.npy", (const char *)*state);
    assert_true(npy_write(&array, path, message));
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal((ftell(file) - 4) % 64, 0);
    assert_int_equal(fclose(file), 0);
    free(array.data);
}

static void an_empty_array_is_fine(void **state)
{
    char path[512], message[NPY_MESSAGE_SIZE];
    npy_array array;

    write_npy(path, sizeof path, *state, 1,
              "{'descr': '<i8', 'fortran_order': False, 'shape': (0, 5)}", "",
              0);

    assert_true(npy_read(&array, path, message));
    assert_int_equal(array.size, 0);
    assert_int_equal(array.sizes[0], 5);
    assert_int_equal(array.sizes[1], 0);
    free(array.data);
}

/* ---- bad files ---- */

static void assert_refused(const char *folder, const char *text, size_t size,
                           const char *why)
{
    char path[512], message[NPY_MESSAGE_SIZE] = "";
    npy_array array;

    write_npy(path, sizeof path, folder, 1, text, numbers, size);
    assert_false(npy_read(&array, path, message));
    assert_contains(message, why);
    assert_contains(message, "array.npy");
    assert_null(array.data);
}

static void bad_headers_are_refused_with_a_reason(void **state)
{
    const char *folder = *state;

    assert_refused(folder,
                   "{'descr': '>f4', 'fortran_order': False, 'shape': "
                   "(6,)}",
                   24, "big-endian");
    assert_refused(folder,
                   "{'descr': '<c8', 'fortran_order': False, 'shape': "
                   "(3,)}",
                   24, "elements are not");
    assert_refused(folder,
                   "{'descr': [('a', '<f4')], 'fortran_order': False, "
                   "'shape': (6,)}",
                   24, "not a plain one");
    assert_refused(folder,
                   "{'descr': '<f4', 'fortran_order': None, 'shape': "
                   "(6,)}",
                   24, "neither True nor False");
    assert_refused(folder,
                   "{'descr': '<f4', 'fortran_order': False, 'shape': "
                   "(1, 1, 1, 1, 6)}",
                   24, "more than 4");
    assert_refused(folder,
                   "{'descr': '<f4', 'fortran_order': False, 'shape': "
                   "()}",
                   24, "no dimension");
    assert_refused(folder,
                   "{'descr': '<f4', 'fortran_order': False, 'shape': "
                   "(-6,)}",
                   24, "no size");
    assert_refused(folder,
                   "{'descr': '<f4', 'fortran_order': False, 'shape': "
                   "(99999999999999999999,)}",
                   24, "out of range");
    assert_refused(folder,
                   "{'descr': '<f4', 'fortran_order': False, 'shape': "
                   "(4611686018427387904, 4)}",
                   24, "too large");
    assert_refused(folder, "{'descr': '<f4', 'shape': (6,)}", 24, "lacks");
    assert_refused(folder, "{'shape': (6,), 'shape': (6,)}", 24, "repeated");
    assert_refused(folder, "{'descr': '<f4', 'descr': '<f4'}", 24, "repeated");
    assert_refused(folder, "{'fortran_order': True, 'fortran_order': False}",
                   24, "repeated");
    assert_refused(folder, "{'more': 1}", 24, "unknown");
    assert_refused(folder, "[1, 2]", 24, "not a dictionary");
    assert_refused(folder, "", 24, "not a dictionary");
}

static void a_file_of_another_size_than_its_header_says_is_refused(void **state)
{
    static const char head_text[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (5,)}";

    assert_refused(*state, head_text, 24, "longer");
    assert_refused(*state, head_text, 19, "shorter");
}

static void what_is_no_npy_file_is_refused(void **state)
{
    char path[512], message[NPY_MESSAGE_SIZE];
    npy_array array;

    harness_write_file(path, sizeof path, *state, "text.npy", "hello world!",
                       12);
    assert_false(npy_read(&array, path, message));
    assert_contains(message, "not a .npy file");
    harness_write_file(path, sizeof path, *state, "new.npy",
                       "\x93NUMPY\x09\0\0\0\0\0", 12);
    assert_false(npy_read(&array, path, message));
    assert_contains(message, "unknown version");
    harness_write_file(path, sizeof path, *state, "long.npy",
                       "\x93NUMPY\x02\0\xff\xff\xff\xff{}", 14);
    assert_false(npy_read(&array, path, message));
    assert_contains(message, "too long");
    assert_false(npy_read(&array, *state, message));
    assert_contains(message, "directory");
    assert_false(npy_read(&array, "/nowhere/at/all.npy", message));
    assert_contains(message, "/nowhere/at/all.npy: No such file");
}

static const char plain_head[] =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}";

#define PLAIN_SIZE (10 + sizeof plain_head - 1 + sizeof numbers)

static void make_plain(unsigned char bytes[PLAIN_SIZE])
{
    memcpy(bytes, "\x93NUMPY\x01\0", 8);
    bytes[8] = sizeof plain_head - 1;
    bytes[9] = 0;
    memcpy(bytes + 10, plain_head, sizeof plain_head - 1);
    memcpy(bytes + 10 + sizeof plain_head - 1, numbers, sizeof numbers);
}

static void every_truncated_file_is_refused(void **state)
{
    unsigned char bytes[PLAIN_SIZE];
    char path[512], message[NPY_MESSAGE_SIZE];
    npy_array array;

    make_plain(bytes);
    for (size_t size = 0; size < sizeof bytes; size++) {
        harness_write_file(path, sizeof path, *state, "cut.npy", bytes, size);
        assert_false(npy_read(&array, path, message));
    }
}

/* Whatever one byte says, the file is refused with a reason, or it holds what
   its header says. */
static void no_byte_of_a_file_is_believed(void **state)
{
    static const unsigned char wrong[] = {0, '\'', '(', '}', '9', 0xff};
    unsigned char bytes[PLAIN_SIZE];
    char path[512], message[NPY_MESSAGE_SIZE];
    npy_array array;

    for (size_t i = 0; i < PLAIN_SIZE * sizeof wrong; i++) {
        make_plain(bytes);
        bytes[i / sizeof wrong] = wrong[i % sizeof wrong];
        harness_write_file(path, sizeof path, *state, "wrong.npy", bytes,
                           sizeof bytes);
        message[0] = '\0';
        if (npy_read(&array, path, message)) {
            assert_int_equal(array.size, sizeof numbers);
            free(array.data);
        } else {
            assert_contains(message, "wrong.npy: ");
        }
    }
}

static void files_that_cannot_be_written_are_errors(void **state)
{
    npy_array array = {.kind = KILN_TYPE_F32, .rank = 1};
    char message[NPY_MESSAGE_SIZE];

    (void)state;
    assert_false(npy_write(&array, "/nowhere/at/all.npy", message));
    assert_contains(message, "No such file");
    array.kind = KILN_TYPE_TUPLE;
    assert_false(npy_write(&array, "/nowhere/at/all.npy", message));
    assert_contains(message, "cannot hold");
}

#define WITH_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, temporary_folder_setup, \
                                    temporary_folder_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(an_array_in_c_order_has_its_shape_reversed),
        WITH_FOLDER(an_array_in_fortran_order_keeps_its_shape),
        WITH_FOLDER(one_dimension_is_a_tuple_of_one),
        WITH_FOLDER(two_bytes_of_no_type_are_bf16),
        WITH_FOLDER(what_was_written_reads_back),
        WITH_FOLDER(written_elements_are_aligned),
        WITH_FOLDER(an_empty_array_is_fine),
        WITH_FOLDER(bad_headers_are_refused_with_a_reason),
        WITH_FOLDER(a_file_of_another_size_than_its_header_says_is_refused),
        WITH_FOLDER(what_is_no_npy_file_is_refused),
        WITH_FOLDER(every_truncated_file_is_refused),
        WITH_FOLDER(no_byte_of_a_file_is_believed),
        cmocka_unit_test(files_that_cannot_be_written_are_errors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
