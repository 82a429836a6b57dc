/* test_ir.c - typed IR: building, text, binary, and the verifier. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "support/harness.h"

/* A text that has about everything, as the printer writes it. */
static const char everything[] =
    "(function \"main.all(f32[:], (f32, i64))\" \"main.all#0123\"\n"
    "  (result f32)\n"
    "  (param %y.0 f32[:])\n"
    "  (param %pair.1 (f32, i64))\n"
    "  (param %m.2 f64[strided :,:])\n"
    "  (local %i.3 i64)\n"
    "  (local %4 struct \"main.Complex{f32}\" (f32, f32) \"a \\\"b\\\"\")\n"
    "  (local %v.5 Vec{f32,4})\n"
    "  (local %s.6 Static{-3})\n"
    "  (local %o.7 (i8,))\n"
    "  (local %k.8 i64)\n"
    "  (local %9 f32)\n"
    "  (callee $0 \"main.half(f32)\" f32)\n"
    "  (callee $1 \"main.note(Type, Function)\" none)\n"
    "  (block\n"
    "    (set %i.3 (query@7 i64 global_id 2))\n"
    "    (set %4 (tuple struct \"main.Complex{f32}\" (f32, f32)"
    " (const f32 -0.5) (const f32 0x7ff0000000000000)))\n"
    "    (set %v.5 (splat Vec{f32,4} (field f32 0 %pair.1)))\n"
    "    (set %s.6 (unit Static{-3}))\n"
    "    (eval (call@3 none $1 (unit Type{\"f32\"})"
    " (unit Function{\"main.half\"})))\n"
    "    (if (andalso Bool (lt Bool %i.3 (length i64 %y.0))"
    " (const Bool true))\n"
    "      (block\n"
    "        (store@9-bounds+fast %y.0 %i.3"
    " (math+fast f32 fma (load@8+bounds f32 %y.0 %i.3)"
    " (const f32 2.0) (call f32 $0 (local@4 f32 %9)))))\n"
    "      (block\n"
    "        (print (text \"i = \\x0a\") %i.3 (const u64"
    " 18446744073709551615))))\n"
    "    (for %k.8 (const i64 -9223372036854775808) (size i64 1 %m.2)"
    " (const i64 3)\n"
    "      (block\n"
    "        (eval (atomic f32 atomic_add %y.0 %k.8 (const f32 0.1)))\n"
    "        (break)))\n"
    "    (unrolled\n"
    "      (block\n"
    "        (continue))\n"
    "      (block\n"
    "        (barrier)))\n"
    "    (assert@12 \"no zero\" (ne Bool (group i64 shuffle_up %i.3"
    " (const i64 1)) (const i64 0)))\n"
    "    (while (const Bool true)\n"
    "      (block\n"
    "        (return (choose f32 (const Bool false) (const f32 1.5)"
    " (convert f32 (load f64 %m.2 %i.3 %k.8))))))))\n";

static void parse(kiln__ir *ir, const char *text)
{
    assert_ok(kiln__ir_parse(ir, &kiln__malloc, "test.kir", text, strlen(text),
                             &test_error));
}

static char *print(const kiln__ir *ir)
{
    kiln__text text;
    char *copy;

    kiln__text_init(&text, &kiln__malloc);
    assert_ok(kiln__ir_print(ir, &text));
    copy = strdup(text.bytes);
    kiln__text_dispose(&text);
    assert_non_null(copy);
    return copy;
}

/* ---- text ---- */

static void text_is_printed_as_it_was_read(void **state)
{
    char *printed;
    kiln__ir ir;

    (void)state;
    parse(&ir, everything);
    printed = print(&ir);

    assert_string_equal(printed, everything);
    free(printed);
    kiln__ir_dispose(&ir);
}

static void comments_and_blanks_are_passed_over(void **state)
{
    const char *text = "; first\n(function \"f\" ; name\n\t\"m\" kernel\n"
                       "(block) ; body\n)\n; last";
    kiln__ir ir;
    char *printed;

    (void)state;
    parse(&ir, text);
    printed = print(&ir);

    assert_string_equal(printed,
                        "(function \"f\" \"m\"\n  kernel\n  (block))\n");
    free(printed);
    kiln__ir_dispose(&ir);
}

/* Prints a function that returns the constant and looks for `number`. */
static void constant_reads(const char *type, const char *given,
                           const char *number)
{
    char text[256];
    char expected[64];
    char *printed;
    kiln__ir ir;

    snprintf(text, sizeof text,
             "(function \"f\" \"m\" (result %s)"
             " (block (return (const %s %s))))",
             type, type, given);
    snprintf(expected, sizeof expected, "(const %s %s)", type, number);
    parse(&ir, text);
    printed = print(&ir);
    assert_contains(printed, expected);
    free(printed);
    kiln__ir_dispose(&ir);
}

static void constants_are_printed_short_and_exact(void **state)
{
    (void)state;
    constant_reads("f64", "0.1", "0.1");
    constant_reads("f32", "0.1", "0.1");
    constant_reads("f32", "16777217", "16777216.0");
    constant_reads("f64", "-0.0", "-0.0");
    constant_reads("f64", "100000000000000", "100000000000000.0");
    constant_reads("f64", "999999999999999.0", "999999999999999.0");
    constant_reads("f64", "0.10000000000000000000", "0.1");
    constant_reads("f64", "0x3ff0000000000000", "1.0");
    constant_reads("f64", "0x7ff8000000000000", "0x7ff8000000000000");
    constant_reads("f64", "0x0000000000000001", "0x0000000000000001");
    constant_reads("f16", "0.5", "0.5");
    constant_reads("i8", "-128", "-128");
    constant_reads("u64", "18446744073709551615", "18446744073709551615");
    constant_reads("Bool", "false", "false");
}

static void text_fails(const char *text, const char *message)
{
    kiln_error *error = NULL;
    const kiln_diagnostic *diagnostic;
    kiln__ir ir;

    assert_int_equal(kiln__ir_parse(&ir, &kiln__malloc, "test.kir", text,
                                    strlen(text), &error),
                     KILN_ESYNTAX);
    diagnostic = kiln_error_diagnostic(error, 0);
    assert_non_null(diagnostic);
    assert_string_equal(diagnostic->message, message);
    assert_string_equal(diagnostic->location.file, "test.kir");
    kiln_error_free(error);
}

static void bad_text_is_refused_with_its_reason(void **state)
{
    (void)state;
    text_fails("", "a function is missing");
    text_fails("(function", "a quoted text is missing");
    text_fails("(function \"f\" \"m\" (block", "a parenthesis is missing");
    text_fails("(function \"f\" \"m\" (block)) x",
               "something follows the function");
    text_fails("(function \"f\" \"m\" (block (foo)))",
               "the operation is unknown");
    text_fails("(function \"f\" \"m\" (param %1 i64) (block))",
               "the local is out of order");
    text_fails("(function \"f\" \"m\" (local %0 i64) (param %1 i64) (block))",
               "the declaration is out of order");
    text_fails("(function \"f\" \"m\" (result i8) (result i64) (block))",
               "the declaration is out of order");
    text_fails("(function \"f\" \"m\" (local %a.0 i63) (block))",
               "the type is unknown");
    text_fails("(function \"f\" \"m\" (local %a.0 i64)"
               " (block (eval %b.0)))",
               "the local has another name");
    text_fails("(function \"f\" \"m\" (block (eval (call none $0))))",
               "there is no such callee");
    text_fails("(function \"f\" \"m\" (block (eval (const i64 "
               "9223372036854775808))))",
               "the number is too large");
    text_fails("(function \"f\" \"m\" (block (eval (const f64 "
               "1234567890.123456))))",
               "more than 15 digits: give the bits, 0x...");
    text_fails("(function \"f\" \"m\\", "the escape is unknown");
    text_fails("(function \"f\" \"m\\x0", "the escape is unknown");
    text_fails("(function \"f\" \"m\\x00\"", "the escape is no \\x01 to \\xff");
    text_fails("(function \"f\" \"m\" (local %0 i64[:,:,:,:,:]) (block))",
               "the rank is not 1 to 4");
}

static void bad_text_names_line_and_column(void **state)
{
    const char *text = "(function \"f\" \"m\"\n  (block\n    (bar)))";
    kiln_error *error = NULL;
    const kiln_diagnostic *diagnostic;
    kiln__ir ir;

    (void)state;
    (void)kiln__ir_parse(&ir, &kiln__malloc, "test.kir", text, strlen(text),
                         &error);
    diagnostic = kiln_error_diagnostic(error, 0);

    assert_non_null(diagnostic);
    assert_int_equal(diagnostic->location.line, 3);
    assert_int_equal(diagnostic->location.column, 9);
    assert_string_equal(diagnostic->source_line, "    (bar)))");
    kiln_error_free(error);
}

/* `count` times `open`, then `middle`, then `count` times `close`. */
static char *nested(size_t count, const char *head, const char *open,
                    const char *middle, const char *close, const char *tail)
{
    char *text = malloc(strlen(head) + strlen(middle) + strlen(tail) +
                        count * (strlen(open) + strlen(close)) + 1);
    char *at;

    assert_non_null(text);
    at = stpcpy(text, head);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, open);
    at = stpcpy(at, middle);
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, close);
    strcpy(at, tail);
    return text;
}

static void depth_is_bounded(void **state)
{
    char *deep =
        nested(1999, "(function \"f\" \"m\" (block ", "(block ", "", ")", "))");
    char *too_deep =
        nested(2001, "(function \"f\" \"m\" (block ", "(block ", "", ")", "))");
    char *far_too_deep = nested(100000, "(function \"f\" \"m\" (block ",
                                "(block ", "", ")", "))");
    char *types = nested(100000, "(function \"f\" \"m\" (local %0 ", "(", "i8",
                         ",)", ") (block))");
    kiln__ir ir;

    (void)state;
    parse(&ir, deep);
    kiln__ir_dispose(&ir);
    assert_fails(KILN_ECORRUPT, "too deep",
                 kiln__ir_parse(&ir, &kiln__malloc, "x", too_deep,
                                strlen(too_deep), &test_error));
    text_fails(far_too_deep, "the text is nested too deep");
    text_fails(types, "the text is nested too deep");
    free(deep);
    free(too_deep);
    free(far_too_deep);
    free(types);
}

/* ---- binary ---- */

static void decoding_gives_the_same_function_and_bytes(void **state)
{
    char *printed;
    kiln_blob first, second;
    kiln__ir ir, decoded;

    (void)state;
    parse(&ir, everything);
    assert_ok(kiln__ir_encode(&ir, &first));
    assert_ok(kiln__ir_decode(&decoded, &kiln__malloc, first.data, first.size,
                              &test_error));
    assert_ok(kiln__ir_encode(&decoded, &second));
    printed = print(&decoded);

    assert_string_equal(printed, everything);
    assert_blob_equal(second, first.data, first.size);
    free(printed);
    kiln_blob_release(&first);
    kiln_blob_release(&second);
    kiln__ir_dispose(&ir);
    kiln__ir_dispose(&decoded);
}

/* What decodes at all encodes to the same bytes; returns whether it did. */
static int decodes_or_fails(const void *bytes, size_t size)
{
    /* Exactly as large, so that a sanitizer sees reading beyond. */
    void *exact = malloc(size + !size);
    kiln_error *error = NULL;
    kiln_blob again;
    kiln__ir ir;
    kiln_status status;

    assert_non_null(exact);
    memcpy(exact, bytes, size);
    status = kiln__ir_decode(&ir, &kiln__malloc, exact, size, &error);
    if (status == KILN_OK) {
        assert_ok(kiln__ir_encode(&ir, &again));
        assert_blob_equal(again, bytes, size);
        kiln_blob_release(&again);
        kiln__ir_dispose(&ir);
    } else {
        assert_int_equal(status, KILN_ECORRUPT);
        assert_true(strlen(kiln_error_message(error)) > 0);
    }
    kiln_error_free(error);
    free(exact);
    return status == KILN_OK;
}

static void every_flipped_byte_is_refused_or_means_something(void **state)
{
    static const unsigned char flips[] = {0x01, 0x80, 0xff, 0x10};
    unsigned char *bytes;
    size_t accepted = 0;
    kiln_blob blob;
    kiln__ir ir;

    (void)state;
    parse(&ir, everything);
    assert_ok(kiln__ir_encode(&ir, &blob));
    bytes = malloc(blob.size);
    assert_non_null(bytes);
    for (size_t i = 0; i < blob.size; i++)
        for (size_t j = 0; j < sizeof flips; j++) {
            memcpy(bytes, blob.data, blob.size);
            bytes[i] ^= flips[j];
            accepted += (size_t)decodes_or_fails(bytes, blob.size);
        }

    assert_in_range(accepted, 1, blob.size * 3);
    free(bytes);
    kiln_blob_release(&blob);
    kiln__ir_dispose(&ir);
}

static void every_shorter_and_longer_form_is_refused(void **state)
{
    char *longer;
    kiln_blob blob;
    kiln__ir ir;

    (void)state;
    parse(&ir, everything);
    assert_ok(kiln__ir_encode(&ir, &blob));
    longer = malloc(blob.size + 1);
    assert_non_null(longer);
    memcpy(longer, blob.data, blob.size);
    longer[blob.size] = 0;

    for (size_t size = 0; size < blob.size; size++)
        assert_false(decodes_or_fails(blob.data, size));
    assert_false(decodes_or_fails(longer, blob.size + 1));
    free(longer);
    kiln_blob_release(&blob);
    kiln__ir_dispose(&ir);
}

/* ---- building ---- */

static void equal_types_are_stored_once(void **state)
{
    kiln__ir_type pair = {.kind = KILN_TYPE_TUPLE, .length = 2};
    uint32_t f32, i64, again, first, second, other;
    kiln__ir ir;

    (void)state;
    kiln__ir_init(&ir, &kiln__malloc);
    assert_ok(kiln__ir_scalar(&ir, KILN_TYPE_F32, &f32));
    assert_ok(kiln__ir_scalar(&ir, KILN_TYPE_I64, &i64));
    assert_ok(kiln__ir_scalar(&ir, KILN_TYPE_F32, &again));
    assert_ok(kiln__ir_add_type(&ir, &pair, (uint32_t[]){f32, i64}, &first));
    assert_ok(kiln__ir_add_type(&ir, &pair, (uint32_t[]){f32, i64}, &second));
    assert_ok(kiln__ir_add_type(&ir, &pair, (uint32_t[]){i64, f32}, &other));

    assert_int_equal(f32, again);
    assert_int_equal(first, second);
    assert_int_not_equal(first, other);
    assert_int_equal(ir.types.count, 4);
    kiln__ir_dispose(&ir);
}

static void types_of_nothing_are_empty(void **state)
{
    kiln__ir_type tuple = {.kind = KILN_TYPE_TUPLE};
    kiln__ir_type three = {.kind = KILN_TYPE_STATIC, .value = 3};
    uint32_t none, number, fixed, of_fixed, of_number;
    kiln__ir ir;

    (void)state;
    kiln__ir_init(&ir, &kiln__malloc);
    assert_ok(kiln__ir_add_type(&ir, &tuple, NULL, &none));
    assert_ok(kiln__ir_scalar(&ir, KILN_TYPE_U8, &number));
    assert_ok(kiln__ir_add_type(&ir, &three, NULL, &fixed));
    tuple.length = 2;
    assert_ok(
        kiln__ir_add_type(&ir, &tuple, (uint32_t[]){none, fixed}, &of_fixed));
    assert_ok(kiln__ir_add_type(&ir, &tuple, (uint32_t[]){fixed, number},
                                &of_number));

    assert_true(kiln__ir_type_is_empty(&ir, none));
    assert_true(kiln__ir_type_is_empty(&ir, of_fixed));
    assert_false(kiln__ir_type_is_empty(&ir, number));
    assert_false(kiln__ir_type_is_empty(&ir, of_number));
    kiln__ir_dispose(&ir);
}

/* Everything this file does, with memory that ends at some point. */
static kiln_status round_trip(const kiln_alloc *alloc, void *env)
{
    const char *text = env;
    kiln_blob blob = {0};
    kiln__text printed;
    kiln__ir ir, decoded;
    kiln_status status =
        kiln__ir_parse(&ir, alloc, "x", text, strlen(text), NULL);

    if (status != KILN_OK)
        return status;
    kiln__text_init(&printed, alloc);
    status = kiln__ir_print(&ir, &printed);
    kiln__text_dispose(&printed);
    if (status == KILN_OK)
        status = kiln__ir_encode(&ir, &blob);
    if (status == KILN_OK)
        status = kiln__ir_decode(&decoded, alloc, blob.data, blob.size, NULL);
    if (status == KILN_OK)
        kiln__ir_dispose(&decoded);
    kiln_blob_release(&blob);
    kiln__ir_dispose(&ir);
    return status;
}

static void memory_may_end_anywhere(void **state)
{
    char text[sizeof everything];

    (void)state;
    memcpy(text, everything, sizeof text);
    assert_survives_failing_alloc(round_trip, text);
}

/* ---- the verifier ---- */

/* The function (RESULT, LOCALS) with BODY is refused because of `what`. */
static void is_refused(const char *declarations, const char *body,
                       const char *what)
{
    char text[2048];
    kiln__ir ir;

    snprintf(text, sizeof text, "(function \"f\" \"m\" %s (block %s))",
             declarations, body);
    assert_fails(KILN_ECORRUPT, what,
                 kiln__ir_parse(&ir, &kiln__malloc, "x", text, strlen(text),
                                &test_error));
}

static void is_accepted(const char *declarations, const char *body)
{
    char text[2048];
    kiln__ir ir;

    snprintf(text, sizeof text, "(function \"f\" \"m\" %s (block %s))",
             declarations, body);
    parse(&ir, text);
    kiln__ir_dispose(&ir);
}

#define LOCALS \
    "(local %a.0 f32[:,:]) (local %i.1 i64) (local %x.2 f32)" \
    "(local %v.3 Vec{i32,2}) (local %b.4 Bool) (local %n.5 i32)" \
    "(local %u.6 u8)"

static void operands_must_have_the_right_types(void **state)
{
    (void)state;
    is_refused(LOCALS, "(eval (add f32 %x.2 %i.1))", "differ in type");
    is_refused(LOCALS, "(eval (add Bool %b.4 %b.4))", "not numeric");
    is_refused(LOCALS, "(eval (div i64 %i.1 %i.1))", "not of floats");
    is_refused(LOCALS, "(eval (idiv f32 %x.2 %x.2))", "not of integers");
    is_refused(LOCALS, "(eval (lt f32 %x.2 %x.2))", "gives Bool");
    is_refused(LOCALS, "(eval (lt Bool %v.3 %v.3))", "not scalars");
    is_refused(LOCALS, "(eval (choose i64 %x.2 %i.1 %i.1))", "condition");
    is_refused(LOCALS, "(eval (math i64 sqrt %i.1))", "no such operands");
    is_refused(LOCALS, "(eval (math f32 pow %x.2))", "number of operands");
    is_refused(LOCALS, "(eval (math f32 isnan %x.2))", "gives Bool");
    is_refused(LOCALS, "(eval (element i32 %v.3 %n.5))", "not i64");
    is_refused(LOCALS, "(eval (field i32 2 %v.3))", "no such field");
    is_refused(LOCALS, "(eval (field f32 0 %v.3))", "another type");
    is_refused(LOCALS, "(eval (tuple Vec{i32,2} %n.5))", "number of fields");
    is_refused(LOCALS, "(eval (splat Vec{i32,2} %x.2))", "no vector");
    is_refused(LOCALS, "(if %i.1 (block))", "not Bool");
    is_refused(LOCALS, "(set %i.1 %x.2)", "another type");
    is_refused(LOCALS, "(print %v.3)", "only texts and scalars");
    is_accepted(LOCALS, "(eval (lt Bool %b.4 %b.4)) (print)");
}

static void conversions_must_be_possible(void **state)
{
    (void)state;
    is_refused(LOCALS, "(eval (convert i32 %i.1))", "lose integer bits");
    is_refused(LOCALS, "(eval (convert i8 %u.6))", "lose integer bits");
    is_refused(LOCALS, "(eval (convert i64 %x.2))", "lose integer bits");
    is_refused(LOCALS, "(eval (convert Bool %u.6))", "lose integer bits");
    is_refused(LOCALS, "(eval (checked f32 %i.1))", "is a float");
    is_refused(LOCALS, "(eval (saturate Bool %i.1))", "not an integer");
    is_refused(LOCALS, "(eval (wrap i32 %x.2))", "between integers");
    is_refused(LOCALS, "(eval (bitcast i64 %x.2))", "sizes differ");
    is_refused(LOCALS, "(eval (convert i64 %v.3))", "between scalars");
    is_accepted(LOCALS, "(eval (convert i16 %u.6)) (eval (convert f16 %i.1))"
                        "(eval (convert u8 %b.4)) (eval (checked Bool %x.2))"
                        "(eval (wrap u64 %n.5)) (eval (bitcast i32 %x.2))");
}

static void arrays_must_be_used_with_their_rank(void **state)
{
    (void)state;
    is_refused(LOCALS, "(eval (load f32 %a.0 %i.1))", "not the rank");
    is_refused(LOCALS, "(eval (load f32 %a.0 %i.1 %n.5))", "not i64");
    is_refused(LOCALS, "(eval (load f32 %x.2 %i.1))", "no array");
    is_refused(LOCALS, "(eval (load f64 %a.0 %i.1 %i.1))", "no element");
    is_refused(LOCALS, "(store %a.0 %i.1 %i.1 %i.1)", "no element");
    is_refused(LOCALS, "(eval (size i64 2 %a.0))", "no such dimension");
    is_refused(LOCALS, "(eval (atomic f32 atomic_and %a.0 %i.1 %i.1 %x.2))",
               "no such elements");
    is_refused(LOCALS, "(eval (atomic f32 atomic_cas %a.0 %i.1 %i.1 %x.2))",
               "not the rank");
    is_refused(LOCALS, "(eval (local_array f32[:] %i.1))", "constant");
    is_refused("(local %0 f32[:][:])", "", "holds arrays");
    is_refused("(local %0 Static{3}[:])", "", "no bytes");
    is_refused("(local %0 Vec{(f32,),2})", "", "not scalars");
    is_refused("(local %0 Vec{f32,257})", "", "1 to 256");
    is_refused("(local %0 none)", "", "no type");
}

static void places_must_be_right(void **state)
{
    (void)state;
    is_refused(LOCALS, "(break)", "no loop");
    is_refused(LOCALS, "(if %b.4 (block (continue)))", "no loop");
    is_refused(LOCALS, "%x.2", "holds a value");
    is_refused(LOCALS, "(eval (block))", "used as a value");
    is_refused(LOCALS, "(eval (text \"x\"))", "used as a value");
    is_refused(LOCALS, "(if %b.4 (break))", "block is missing");
    is_refused(LOCALS, "(for %x.2 %x.2 %x.2 (const f32 1.0) (block))",
               "no integer");
    is_refused(LOCALS, "(for %i.1 %i.1 %i.1 %i.1 (block))", "non-zero");
    is_refused(LOCALS, "(for %i.1 %i.1 %i.1 (const i64 0) (block))",
               "non-zero");
    is_refused(LOCALS, "(for %i.1 %n.5 %i.1 (const i64 1) (block))",
               "another type");
    is_refused("(param %p.0 (f32[:],)) ", "(eval+bounds-bounds %p.0)",
               "contradict");
    is_refused("kernel (param %p.0 (f32[:],))", "", "holds arrays");
    is_refused("kernel (result i64)", "(return (const i64 0))",
               "kernel returns");
    is_accepted(LOCALS, "(while %b.4 (block (if %b.4 (block (break))"
                        " (block (continue)))))"
                        "(unrolled (block (break)) (block (continue)))");
}

static void a_result_must_be_returned_on_every_way(void **state)
{
#define R "(result i64) (param %b.0 Bool)"
#define RETURN "(return (const i64 1))"
    const char *end = "the end of the body is reached";

    (void)state;
    is_refused(R, "", end);
    is_refused(R, "(if %b.0 (block " RETURN "))", end);
    is_refused(R, "(while %b.0 (block " RETURN "))", end);
    is_refused(R, "(while (const Bool true) (block (break)))", end);
    is_refused(R,
               "(while (const Bool true) (block (if %b.0 (block (break))"
               " (block " RETURN "))))",
               end);
    is_refused(R, "(unrolled (block (if %b.0 (block (continue))) " RETURN "))",
               end);
    is_refused(R, "(unrolled (block (if %b.0 (block (break))) " RETURN "))",
               end);
    is_refused(R, "(return)", "gives a value");
    is_refused("", RETURN, "gives nothing");
    is_refused(R, "(return %b.0)", "gives another type");
    is_accepted(R, RETURN);
    is_accepted(R, "(if %b.0 (block " RETURN ") (block (block " RETURN ")))");
    is_accepted(R, "(while (const Bool true) (block))");
    is_accepted(R, "(while (const Bool true) (block (while %b.0 (block"
                   " (break)))))");
    is_accepted(R, "(unrolled (block) (block " RETURN ") (block))");
}

static void constants_must_be_values_of_their_type(void **state)
{
    (void)state;
    is_refused("", "(eval (const i8 128))", "no value of its type");
    is_refused("", "(eval (const u8 -1))", "no value of its type");
    is_refused("", "(eval (const u32 4294967296))", "no value of its type");
    is_refused("", "(eval (const f32 0x3fb999999999999a))",
               "no value of its type");
    is_refused("", "(eval (const f16 0.1))", "no value of its type");
    is_refused("", "(eval (const f16 65520.0))", "no value of its type");
    is_refused("", "(eval (const (i64,) 1))", "is a scalar");
    is_refused("", "(eval (unit i64))", "has bytes");
    is_accepted("", "(eval (const f16 65504.0))"
                    "(eval (const f16 0x3e70000000000000))"
                    "(eval (const f32 0x7ff0000000000000))"
                    "(eval (const u32 4294967295)) (eval (unit ()))");
}

/* Changes made behind the parser's back. */
static void the_shape_of_the_tree_is_checked(void **state)
{
    const char *text = "(function \"f\" \"m\" (local %x.0 f32)"
                       " (block (set %x.0 (add f32 %x.0 %x.0))))";
    kiln__ir ir;

    (void)state;
    parse(&ir, text);
    assert_ok(kiln__ir_verify(&ir, &test_error));
    ir.operands.items[1] = 1;
    assert_fails(KILN_ECORRUPT, "two users", kiln__ir_verify(&ir, &test_error));
    ir.operands.items[1] = 3;
    assert_fails(KILN_ECORRUPT, "does not stand before",
                 kiln__ir_verify(&ir, &test_error));
    ir.operands.items[1] = 2;
    ir.nodes.items[4].operands = 0;
    assert_fails(KILN_ECORRUPT, "not in order",
                 kiln__ir_verify(&ir, &test_error));
    ir.nodes.items[4].operands = 2;
    ir.body = 4;
    assert_fails(KILN_ECORRUPT, "not the body",
                 kiln__ir_verify(&ir, &test_error));
    ir.body = 5;
    ir.nodes.items[1].imm = 1;
    assert_fails(KILN_ECORRUPT, "out of range",
                 kiln__ir_verify(&ir, &test_error));
    kiln__ir_dispose(&ir);
}

static void types_cannot_grow_without_bound(void **state)
{
    kiln__ir_type pair = {.kind = KILN_TYPE_TUPLE, .length = 2};
    uint32_t type, body;
    kiln__ir ir;

    (void)state;
    kiln__ir_init(&ir, &kiln__malloc);
    ir.name = ir.method = "f";
    assert_ok(kiln__ir_scalar(&ir, KILN_TYPE_NONE, &ir.result));
    assert_ok(kiln__ir_scalar(&ir, KILN_TYPE_I8, &type));
    for (size_t i = 0; i < 40; i++)
        assert_ok(
            kiln__ir_add_type(&ir, &pair, (uint32_t[]){type, type}, &type));
    assert_ok(kiln__ir_add_node(
        &ir, &(kiln__ir_node){.op = KILN__IR_BLOCK, .type = ir.result}, NULL, 0,
        &body));
    ir.body = body;

    assert_fails(KILN_ECORRUPT, "more than 65536 scalars",
                 kiln__ir_verify(&ir, &test_error));
    kiln__ir_dispose(&ir);
}

/* A host may trap operations on a signalling NaN; to look at one is none. */
static void the_verifier_never_traps(void **state)
{
    fenv_t mode;
    kiln_status status;
    kiln__ir ir;

    (void)state;
    parse(&ir, "(function \"f\" \"m\" (result f64)"
               " (block (return (const f64 0x7ff0000000000001))))");
    assert_int_equal(fegetenv(&mode), 0);
    (void)feenableexcept(FE_INVALID);
    status = kiln__ir_verify(&ir, NULL);
    (void)fesetenv(&mode);
    assert_int_equal(status, KILN_OK);
    kiln__ir_dispose(&ir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_printed_as_it_was_read),
        cmocka_unit_test(comments_and_blanks_are_passed_over),
        cmocka_unit_test(constants_are_printed_short_and_exact),
        cmocka_unit_test(bad_text_is_refused_with_its_reason),
        cmocka_unit_test(bad_text_names_line_and_column),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(decoding_gives_the_same_function_and_bytes),
        cmocka_unit_test(every_flipped_byte_is_refused_or_means_something),
        cmocka_unit_test(every_shorter_and_longer_form_is_refused),
        cmocka_unit_test(equal_types_are_stored_once),
        cmocka_unit_test(types_of_nothing_are_empty),
        cmocka_unit_test(memory_may_end_anywhere),
        cmocka_unit_test(operands_must_have_the_right_types),
        cmocka_unit_test(conversions_must_be_possible),
        cmocka_unit_test(arrays_must_be_used_with_their_rank),
        cmocka_unit_test(places_must_be_right),
        cmocka_unit_test(a_result_must_be_returned_on_every_way),
        cmocka_unit_test(constants_must_be_values_of_their_type),
        cmocka_unit_test(the_shape_of_the_tree_is_checked),
        cmocka_unit_test(types_cannot_grow_without_bound),
        cmocka_unit_test(the_verifier_never_traps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
