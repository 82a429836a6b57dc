/* report_table.h - makes tables of reports, and artifacts that have one. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_REPORT_TABLE_H
#define KILN_TESTS_REPORT_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/device_abi.h"
#include "abi/host_abi.h"
#include "kiln/kernel.h"

/* A table of a fixed number of reports, which are added in order. */
typedef struct report_table {
    unsigned char bytes[2048];
    size_t size;
    uint32_t added;
} report_table;

void report_table_begin(report_table *table, uint32_t count);
void report_table_exception(report_table *table, uint32_t kind,
                            uint32_t ordinal, const char *method,
                            const char *message);
/* `format` is text with a value at each of: %i i64, %u u64, %d f64, %f f32, %b
   bool. */
void report_table_print(report_table *table, const char *format);

/* An artifact of one kernel, with bytes that only a fake driver takes. */
typedef struct report_artifact {
    const char *format; /* NULL: "cubin" */
    const char *target; /* NULL: "cuda:sm_80:ptx78" */
    const char *bytes;
    size_t size;        /* size of the bytes */
    const char *kernel; /* NULL: "entry" */
    const kiln_argument_info *arguments;
    size_t argument_count;
    uint32_t argument_bytes; /* size of the packed block */
    uint32_t hidden_arguments;
    int32_t allocates;
    const report_table *reports; /* NULL: there are none */
    const void *facts;           /* facts_abi.h; NULL: none */
    size_t fact_size;
} report_artifact;

const kiln_artifact *report_artifact_new(const report_artifact *from);

#endif /* KILN_TESTS_REPORT_TABLE_H */
