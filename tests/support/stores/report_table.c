/* report_table.c - makes tables of reports, and artifacts that have one. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/stores/report_table.h"

#include <string.h>

#include "support/harness.h"
#include "tiers/binary/artifact.h"

static void put_at(report_table *table, size_t at, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        table->bytes[at + (size_t)i] = (unsigned char)(number >> 8 * i);
}

static void add_number(report_table *table, uint32_t number)
{
    assert_true(table->size + 4 <= sizeof table->bytes);
    put_at(table, table->size, number);
    table->size += 4;
}

static void add_bytes(report_table *table, const char *bytes, size_t size)
{
    assert_true(table->size + size + 1 <= sizeof table->bytes);
    memcpy(table->bytes + table->size, bytes, size);
    table->bytes[table->size + size] = '\0';
    table->size += size + 1;
}

void report_table_begin(report_table *table, uint32_t count)
{
    memset(table, 0, sizeof *table);
    add_number(table, count);
    for (uint32_t i = 0; i < count; i++)
        add_number(table, 0);
}

static void begin_report(report_table *table, uint32_t kind)
{
    put_at(table, 4 + 4 * (size_t)table->added++, (uint32_t)table->size);
    add_number(table, kind);
}

void report_table_exception(report_table *table, uint32_t kind,
                            uint32_t ordinal, const char *method,
                            const char *message)
{
    begin_report(table, KILN__REPORT_EXCEPTION);
    add_number(table, kind);
    add_number(table, ordinal);
    add_bytes(table, method, strlen(method));
    add_bytes(table, message, strlen(message));
}

static uint32_t kind_of(char letter)
{
    switch (letter) {
    case 'i':
        return KILN__PRINT_I64;
    case 'u':
        return KILN__PRINT_U64;
    case 'd':
        return KILN__PRINT_F64;
    case 'f':
        return KILN__PRINT_F32;
    default:
        return KILN__PRINT_BOOL;
    }
}

void report_table_print(report_table *table, const char *format)
{
    uint32_t parts = 0;
    size_t count_at;

    begin_report(table, KILN__REPORT_PRINT);
    count_at = table->size;
    add_number(table, 0);
    for (; *format != '\0'; parts++) {
        const size_t size = strcspn(format, "%");

        if (size > 0) {
            add_number(table, KILN__PRINT_TEXT);
            add_bytes(table, format, size);
            format += size;
            continue;
        }
        add_number(table, kind_of(format[1]));
        format += 2;
    }
    put_at(table, count_at, parts);
}

const kiln_artifact *report_artifact_new(const report_artifact *from)
{
    const char *name = from->kernel != NULL ? from->kernel : "entry";
    const kiln_kernel_info kernel = {
        .size = sizeof kernel,
        .name = name,
        .method = "main.entry(f32[:])",
        .arguments = from->arguments,
        .argument_count = from->argument_count,
        .argument_bytes = from->argument_bytes,
        .hidden_arguments = from->hidden_arguments,
        .allocates = from->allocates,
        .can_fail = 1,
    };
    kiln__artifact_source source = {
        .format = from->format != NULL ? from->format : "cubin",
        .target = from->target != NULL ? from->target : "cuda:sm_80:ptx78",
        .bytes = from->bytes,
        .size = from->size,
        .kernels = &kernel,
        .kernel_count = 1,
        .facts = from->facts,
        .fact_size = from->fact_size,
    };
    const kiln_artifact *artifact = NULL;

    if (from->reports != NULL) {
        source.reports = from->reports->bytes;
        source.report_size = from->reports->size;
    }
    assert_int_equal(kiln__artifact_new(&artifact, &source), KILN_OK);
    return artifact;
}
