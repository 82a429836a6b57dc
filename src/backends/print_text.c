/* print_text.c - writes what kernels print as text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>

#include "abi/scalars.h"
#include "backends/report_text.h"
#include "context/callback.h"

/*
 * A record becomes one piece of text and one call of the host's callback, so
 * records of several threads never mix.
 */

static void add_float(kiln__text *text, uint64_t bits, int32_t kind)
{
    char digits[KILN__FLOAT_TEXT];

    kiln__text_add(text,
                   kiln__float_print(digits, kind, kiln__f64_from_bits(bits)));
}

/* The kind may come from a damaged artifact. */
int32_t kiln__print_float_kind(uint64_t kind)
{
    if (kind == KILN__PRINT_F64)
        return KILN_TYPE_F64;
    if (kind == KILN__PRINT_F32)
        return KILN_TYPE_F32;
    return kind >= KILN__PRINT_FLOAT &&
                   kind < KILN__PRINT_FLOAT + KILN_TYPE_KIND_COUNT &&
                   kiln__kind_is_float((int32_t)(kind - KILN__PRINT_FLOAT))
               ? (int32_t)(kind - KILN__PRINT_FLOAT)
               : KILN_TYPE_NONE;
}

/* Appends a value as the language's print() does. */
static void add_plain(kiln__text *out, uint64_t kind, const char *text,
                      uint64_t bits)
{
    switch (kind) {
    case KILN__PRINT_TEXT:
        kiln__text_add(out, text);
        break;
    case KILN__PRINT_I64:
        kiln__text_format(out, "%" PRId64, (int64_t)bits);
        break;
    case KILN__PRINT_U64:
        kiln__text_format(out, "%" PRIu64, bits);
        break;
    case KILN__PRINT_BOOL:
        kiln__text_add(out, bits != 0 ? "true" : "false");
        break;
    default:
        if (kiln__print_float_kind(kind) != KILN_TYPE_NONE)
            add_float(out, bits, kiln__print_float_kind(kind));
        else
            kiln__text_add(out, "?");
        break;
    }
}

void kiln__print_begin(kiln__printer *printer, const kiln_alloc *alloc)
{
    *printer = (kiln__printer){.format = NULL};
    kiln__text_init(&printer->text, alloc);
}

void kiln__print_part(kiln__printer *printer, uint64_t kind, const char *text,
                      uint64_t bits)
{
    switch (kind) {
    case KILN__PRINT_FORMAT:
        printer->format = text;
        printer->has_width = printer->has_precision = 0;
        break;
    case KILN__PRINT_WIDTH:
        printer->has_width = 1;
        printer->width = (int64_t)bits;
        break;
    case KILN__PRINT_PRECISION:
        printer->has_precision = 1;
        printer->precision = (int64_t)bits;
        break;
    default:
        if (printer->format != NULL)
            kiln__print_converted(printer, kind, text, bits);
        else
            add_plain(&printer->text, kind, text, bits);
        printer->format = NULL;
        break;
    }
}

static void send(const kiln_context *context, const kiln__text *text)
{
    kiln__callback callback;

    /* If there was no memory for the text, only this record is lost. */
    if (context->host.print == NULL || text->failed || text->size == 0)
        return;
    kiln__callback_begin(&callback, context);
    context->host.print(context->host_env, text->bytes, text->size);
    kiln__callback_end(&callback);
}

void kiln__print_end(kiln__printer *printer, const kiln_context *context)
{
    send(context, &printer->text);
    kiln__text_dispose(&printer->text);
}
