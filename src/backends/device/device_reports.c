/* device_reports.c - reads an artifact's table of reports. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/device/device_driver.h"

#include <string.h>

#include "abi/host_abi.h"
#include "base/data/endian.h"

/*
 * device_abi.h describes the table. An artifact may come from anywhere: every
 * length, number and end of a text is compared with the end of the table before
 * it is used.
 */

typedef struct cursor {
    const unsigned char *at;
    const unsigned char *end;
    int failed;
} cursor;

#define NUMBER_SIZE 4u

static uint32_t take_number(cursor *from)
{
    uint32_t number;

    if (from->failed || from->end - from->at < (ptrdiff_t)NUMBER_SIZE) {
        from->failed = 1;
        return 0;
    }
    number = kiln__le32_read(from->at);
    from->at += NUMBER_SIZE;
    return number;
}

static const char *take_text(cursor *from)
{
    const char *text = (const char *)from->at;
    const unsigned char *end;

    if (from->failed)
        return "";
    end = memchr(from->at, '\0', (size_t)(from->end - from->at));
    if (end == NULL) {
        from->failed = 1;
        return "";
    }
    from->at = end + 1;
    return text;
}

/* Returns a cursor after the number that tells the report's kind. */
static cursor find_report(const void *table, size_t size, uint32_t number,
                          uint32_t kind)
{
    cursor from = {.at = table};
    uint32_t begin;

    if (table == NULL || size < NUMBER_SIZE) {
        from.failed = 1;
        return from;
    }
    from.end = from.at + size;
    /* The number may be wrong, so it is compared with what the table has room
       for. */
    if (number >= take_number(&from) || number >= size / NUMBER_SIZE - 1) {
        from.failed = 1;
        return from;
    }
    begin = kiln__le32_read(from.at + (size_t)number * NUMBER_SIZE);
    if (begin > size) {
        from.failed = 1;
        return from;
    }
    from.at = (const unsigned char *)table + begin;
    from.failed = take_number(&from) != kind || from.failed;
    return from;
}

kiln_status kiln__report_exception(kiln__exception_report *out,
                                   const void *table, size_t size,
                                   uint32_t number)
{
    cursor from = find_report(table, size, number, KILN__REPORT_EXCEPTION);

    out->kind = take_number(&from);
    out->ordinal = take_number(&from);
    out->method = take_text(&from);
    out->message = take_text(&from);
    return from.failed ? KILN_ECORRUPT : KILN_OK;
}

kiln_status kiln__report_print(kiln__print_report *out, const void *table,
                               size_t size, uint32_t number)
{
    cursor from = find_report(table, size, number, KILN__REPORT_PRINT);

    out->part_count = take_number(&from);
    out->value_count = 0;
    out->parts = from.at;
    for (uint32_t i = 0; i < out->part_count && !from.failed; i++) {
        if (kiln__print_is_text(take_number(&from)))
            (void)take_text(&from);
        else
            out->value_count++;
    }
    return from.failed ? KILN_ECORRUPT : KILN_OK;
}

uint32_t kiln__report_part(const unsigned char **at, const char **text)
{
    const uint32_t kind = kiln__le32_read(*at);

    *at += NUMBER_SIZE;
    if (kiln__print_is_text(kind)) {
        *text = (const char *)*at;
        *at += strlen(*text) + 1;
    }
    return kind;
}
