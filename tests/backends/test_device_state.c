/* test_device_state.c - exceptions and prints out of a state's memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit backends */
#include <stdlib.h>
#include <string.h>

#include "backends/device/device_driver.h"
#include "backends/report_text.h"
#include "base/data/float_bits.h"
#include "support/harness.h"
#include "support/stores/report_table.h"
#include "tiers/binary/artifact.h"

/* What was printed and what was logged. */
typedef struct heard {
    char text[8192];
    size_t size;
    char log[512];
} heard;

typedef struct fixture {
    kiln_context context;
    kiln__loaded_kernels kernels;
    kiln__device_record record;
    const kiln_artifact *artifact;
    uint64_t number;
    void *memory;
    struct kiln__device_state *state;
    heard heard;
} fixture;

static void take_print(void *env, const char *text, size_t size)
{
    heard *to = env;

    assert_true(to->size + size < sizeof to->text);
    memcpy(to->text + to->size, text, size);
    to->size += size;
    to->text[to->size] = '\0';
}

static void take_log(void *env, int32_t level, const char *line)
{
    heard *to = env;

    (void)level;
    (void)strncpy(to->log, line, sizeof to->log - 1);
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    report_table table;

    assert_non_null(f);
    f->context.alloc = kiln__malloc;
    f->context.host.print = take_print;
    f->context.host.log = take_log;
    f->context.host_env = &f->heard;
    assert_ok(kiln__loaded_kernels_init(&f->kernels, &f->context));
    report_table_begin(&table, 4);
    report_table_exception(&table, KILN_EXCEPTION_BOUNDS, 7, "main.f", "");
    report_table_print(&table, "x = %i, y = %d\n");
    report_table_exception(&table, KILN_EXCEPTION_USER, 9, "main.g", "no");
    report_table_print(&table, "%b %f %u");
    f->artifact = report_artifact_new(&(report_artifact){.reports = &table});
    f->number = kiln__loaded_kernels_add(&f->kernels, f->artifact, "entry");
    assert_int_not_equal(f->number, 0);
    /* Not a byte more than drivers have. */
    f->memory = malloc(KILN__STATE_BYTES);
    assert_non_null(f->memory);
    f->state = f->memory;
    kiln__device_state_init(f->memory);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    kiln__loaded_kernels_dispose(&f->kernels);
    kiln_artifact_release(f->artifact);
    free(f->memory);
    free(f);
    return 0;
}

static void raise_report(fixture *f, uint32_t report)
{
    f->state->phase = KILN__PHASE_READY;
    f->state->report = report;
    f->state->launch = f->number;
    for (unsigned i = 0; i < 3; i++) {
        f->state->local_id[i] = 90 - 9 * i;
        f->state->group_id[i] = 1 + i;
        f->state->group_size[i] = 10;
    }
    f->state->values[0] = 12;
    f->state->values[1] = 10;
}

/* As device code does it: room first, then the record, the mark last. */
static void print(fixture *f, uint32_t report, const uint64_t *values,
                  size_t count)
{
    const struct kiln__print_record head = {
        .mark = KILN__PRINT_MARK, .report = report, .launch = f->number};
    const size_t size = sizeof head + count * sizeof *values;
    const uint64_t at = f->state->printed;
    unsigned char *room = (unsigned char *)f->memory + KILN__STATE_SIZE;

    f->state->printed += size;
    if (at + size > f->state->print_room)
        return;
    memcpy(room + at + sizeof head, values, count * sizeof *values);
    memcpy(room + at, &head, sizeof head);
}

static kiln_status take(fixture *f)
{
    return kiln__device_state_take(f->memory, &f->kernels, &f->record);
}

/* ---- exceptions ---- */

static void a_fresh_state_holds_nothing(void **state)
{
    fixture *f = *state;

    assert_int_equal(f->state->print_room, KILN__PRINT_ROOM);
    assert_false(kiln__device_state_has_exception(f->memory));
    assert_ok(take(f));
    assert_ok(kiln__device_state_peek(f->memory, &f->kernels, &f->record));
}

static void an_exception_is_told_once(void **state)
{
    fixture *f = *state;
    const kiln_exception *exception = &f->record.exception;

    raise_report(f, 0);
    assert_true(kiln__device_state_has_exception(f->memory));
    assert_status(KILN_EEXCEPTION, take(f));
    assert_int_equal(exception->kind, KILN_EXCEPTION_BOUNDS);
    assert_string_equal(exception->message,
                        "index out of bounds: index 12, size 10");
    assert_string_equal(exception->method, "main.f");
    assert_string_equal(exception->kernel, "main.entry(f32[:])");
    assert_int_equal(exception->ordinal, 7);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(exception->item[i], 100 + i);
        assert_int_equal(exception->group[i], 1 + i);
    }
    assert_ok(take(f));
}

static void the_programs_own_words_are_its_message(void **state)
{
    fixture *f = *state;

    raise_report(f, 2);
    assert_status(KILN_EEXCEPTION, take(f));
    assert_string_equal(f->record.exception.message, "no");
}

static void a_value_has_all_its_digits(void **state)
{
    const struct {
        double value;
        int64_t reading;
        const char *message;
    } cases[] = {
        {1.5, KILN_VALUE_F64, "inexact conversion: 1.5 is no i32"},
        {1.00000000001, KILN_VALUE_F64,
         "inexact conversion: 1.00000000001 is no i32"},
        {3e9, KILN_VALUE_F64, "inexact conversion: 3000000000 is no i32"},
        {(double)0.1f, KILN_VALUE_F32, "inexact conversion: 0.1 is no i32"},
        {0.0999755859375, KILN_VALUE_F16, "inexact conversion: 0.1 is no i32"},
        {0.10009765625, KILN_VALUE_BF16, "inexact conversion: 0.1 is no i32"},
        {(double)0.1f, KILN_VALUE_F64,
         "inexact conversion: 0.10000000149011612 is no i32"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];

        kiln__exception_format(
            text, sizeof text,
            &(kiln__raised){.kind = KILN_EXCEPTION_INEXACT,
                            .message = "i32",
                            .values = {(int64_t)kiln__f64_bits(cases[i].value),
                                       cases[i].reading}});
        assert_string_equal(text, cases[i].message);
    }
}

static void peeking_leaves_prints_alone(void **state)
{
    fixture *f = *state;
    const uint64_t values[] = {5, 0};

    print(f, 1, values, 2);
    raise_report(f, 0);
    assert_status(KILN_EEXCEPTION,
                  kiln__device_state_peek(f->memory, &f->kernels, &f->record));
    assert_false(kiln__device_state_has_exception(f->memory));
    assert_int_equal(f->heard.size, 0);
    assert_ok(take(f));
    assert_string_equal(f->heard.text, "x = 5, y = 0\n");
}

static void an_exception_that_was_only_begun_is_one(void **state)
{
    fixture *f = *state;

    raise_report(f, 0);
    f->state->phase = KILN__PHASE_WRITING;
    assert_false(kiln__device_state_has_exception(f->memory));
    assert_status(KILN_EEXCEPTION, take(f));
    assert_contains(f->record.exception.message, "knows nothing");
    assert_ok(take(f));
}

static void numbers_from_the_device_are_not_believed(void **state)
{
    static const uint32_t reports[] = {1, 4, 5, 1000, UINT32_MAX};
    fixture *f = *state;

    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        raise_report(f, reports[i]);
        assert_status(KILN_EEXCEPTION, take(f));
        assert_int_equal(f->record.exception.kind, KILN_EXCEPTION_USER);
        assert_contains(f->record.exception.message, "artifact knows nothing");
        assert_null(f->record.exception.method);
    }
    raise_report(f, 0);
    f->state->launch = f->number + 1;
    assert_status(KILN_EEXCEPTION, take(f));
    assert_contains(f->record.exception.message, "no loaded kernel knows");
    assert_null(f->record.exception.kernel);
}

static void a_kernel_that_was_taken_off_tells_nothing(void **state)
{
    fixture *f = *state;

    raise_report(f, 0);
    kiln__loaded_kernels_remove(&f->kernels, f->number);
    assert_status(KILN_EEXCEPTION, take(f));
    assert_null(f->record.exception.kernel);
}

static void the_kernels_own_table_is_read(void **state)
{
    fixture *f = *state;
    const kiln_artifact *other;
    report_table table;

    report_table_begin(&table, 1);
    report_table_exception(&table, KILN_EXCEPTION_ASSERTION, 1, "main.h", "");
    other = report_artifact_new(&(report_artifact){.reports = &table});
    raise_report(f, 0);
    f->state->launch = kiln__loaded_kernels_add(&f->kernels, other, "entry");
    kiln_artifact_release(other);
    assert_status(KILN_EEXCEPTION, take(f));
    assert_string_equal(f->record.exception.method, "main.h");
}

/* ---- prints ---- */

static void prints_come_in_order(void **state)
{
    fixture *f = *state;
    const double half = 0.5;
    const float narrow = 0.5f;
    uint64_t values[3] = {(uint64_t)-4, 0, 9};

    memcpy(&values[1], &half, sizeof half);
    print(f, 1, values, 2);
    values[0] = 1;
    values[1] = 0; /* an f32 is its own bits */
    memcpy(&values[1], &narrow, sizeof narrow);
    print(f, 3, values, 3);
    assert_ok(take(f));
    assert_string_equal(f->heard.text, "x = -4, y = 0.5\ntrue 0.5 9");
    assert_ok(take(f));
    assert_int_equal(f->state->printed, 0);
    print(f, 3, values, 3);
    f->heard.size = 0;
    assert_ok(take(f));
    assert_string_equal(f->heard.text, "true 0.5 9");
    assert_string_equal(f->heard.log, "");
}

static void what_finds_no_room_is_counted(void **state)
{
    fixture *f = *state;
    const uint64_t values[] = {1, 2, 3};

    f->context.host.print = NULL;
    while (f->state->printed <= KILN__PRINT_ROOM)
        print(f, 3, values, 3);
    assert_true(f->state->printed >= KILN__PRINT_ROOM);
    assert_ok(take(f));
    assert_contains(f->heard.log, "bytes are lost");
    assert_int_equal(f->state->printed, 0);
}

static void a_record_without_its_mark_ends_the_reading(void **state)
{
    fixture *f = *state;
    const uint64_t values[] = {1, 0};

    print(f, 1, values, 2);
    f->state->printed += 32;
    assert_ok(take(f));
    assert_string_equal(f->heard.text, "x = 1, y = 0\n");
    assert_contains(f->heard.log, "32 of 64 bytes are lost");
}

static void an_old_record_is_not_read_again(void **state)
{
    fixture *f = *state;
    const uint64_t values[] = {1, 0};

    print(f, 1, values, 2);
    assert_ok(take(f));
    f->heard.size = 0;
    f->heard.text[0] = '\0';
    f->state->printed = 32; /* room was taken, and nothing written */
    assert_ok(take(f));
    assert_string_equal(f->heard.text, "");
}

static void counts_of_prints_are_not_believed(void **state)
{
    static const uint64_t counts[] = {
        1, 15, 16, 17, 31, KILN__PRINT_ROOM - 1, UINT64_MAX};
    fixture *f = *state;
    const uint64_t values[] = {1, 0};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        print(f, 1, values, 2);
        f->state->printed = counts[i];
        f->state->print_room = UINT64_MAX;
        assert_ok(take(f));
        assert_int_equal(f->state->print_room, KILN__PRINT_ROOM);
    }
}

static void memory_full_of_anything_is_survived(void **state)
{
    fixture *f = *state;
    unsigned char *bytes = f->memory;
    uint32_t random = 1;

    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < KILN__STATE_BYTES; i++) {
            random = random * 1664525u + 1013904223u;
            bytes[i] = (unsigned char)(random >> 24);
        }
        /* So that some of it looks like records. */
        f->state->launch = f->number;
        for (size_t at = KILN__STATE_SIZE; at + 16 <= KILN__STATE_BYTES;
             at += 32) {
            const struct kiln__print_record head = {
                .mark = KILN__PRINT_MARK,
                .report = bytes[at] % 8,
                .launch = f->number + (bytes[at + 1] > 250)};

            memcpy(bytes + at, &head, sizeof head);
        }
        f->heard.size = 0;
        f->context.host.print = NULL;
        (void)take(f);
        (void)take(f);
    }
}

/* ---- hidden arguments ---- */

static void hidden_arguments_follow_the_block(void **state)
{
    const kiln_kernel_info info = {.hidden_arguments = KILN__HIDDEN_COUNT};
    const kiln_kernel kernel = {.info = &info};
    uint64_t block[4] = {0};
    kiln_launch_request request = {
        .kernel = &kernel, .arguments = block, .argument_bytes = 12};

    (void)state;
    assert_int_equal(kiln__device_hidden(&request, 0x1122, 33), 32);
    assert_int_equal(block[2], 0x1122);
    assert_int_equal(block[3], 33);
    request.argument_bytes = 0;
    assert_int_equal(kiln__device_hidden(&request, 1, 2), 16);
    assert_int_equal(block[0], 1);
}

static void the_grids_sizes_come_last(void **state)
{
    kiln_kernel_info info = {.hidden_arguments =
                                 KILN__HIDDEN_COUNT + KILN__CUT_SIZES,
                             .any_block = 1};
    const kiln_kernel kernel = {.info = &info};
    uint64_t block[6] = {0};
    kiln_launch_request request = {.kernel = &kernel,
                                   .grid = {7, 8, 9},
                                   .arguments = block,
                                   .argument_bytes = 4};

    (void)state;
    assert_int_equal(kiln__device_hidden(&request, 1, 2), 48);
    assert_int_equal(block[2], 2);
    assert_memory_equal(block + 3, request.grid, sizeof request.grid);
    info.hidden_arguments = KILN__CUT_SIZES;
    assert_int_equal(kiln__device_hidden(&request, 1, 2), 32);
    assert_memory_equal(block + 1, request.grid, sizeof request.grid);
}

static void a_kernel_without_them_gets_none(void **state)
{
    const kiln_kernel_info info = {0};
    const kiln_kernel kernel = {.info = &info};
    const kiln_launch_request request = {.kernel = &kernel,
                                         .argument_bytes = 12};

    (void)state;
    assert_int_equal(kiln__device_hidden(&request, 1, 2), 12);
}

#define with_state(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        with_state(a_fresh_state_holds_nothing),
        with_state(an_exception_is_told_once),
        with_state(the_programs_own_words_are_its_message),
        cmocka_unit_test(a_value_has_all_its_digits),
        with_state(peeking_leaves_prints_alone),
        with_state(an_exception_that_was_only_begun_is_one),
        with_state(numbers_from_the_device_are_not_believed),
        with_state(a_kernel_that_was_taken_off_tells_nothing),
        with_state(the_kernels_own_table_is_read),
        with_state(prints_come_in_order),
        with_state(what_finds_no_room_is_counted),
        with_state(a_record_without_its_mark_ends_the_reading),
        with_state(an_old_record_is_not_read_again),
        with_state(counts_of_prints_are_not_believed),
        with_state(memory_full_of_anything_is_survived),
        cmocka_unit_test(hidden_arguments_follow_the_block),
        cmocka_unit_test(the_grids_sizes_come_last),
        cmocka_unit_test(a_kernel_without_them_gets_none),
    };

    return cmocka_run_group_tests_name("device_state", tests, NULL, NULL);
}
