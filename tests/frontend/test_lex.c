/* test_lex.c - tokens, newlines, literals and bytes that are no text. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit frontend */
#include "support/harness.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frontend/syntax/lex.h"

#define TOKENS_MAX 64

/* All tokens of a text, and what was reported. */
typedef struct lexed {
    kiln__source source;
    kiln__diagnostics diagnostics;
    uint32_t lines[1];
    kiln__token tokens[TOKENS_MAX];
    size_t count; /* without END_OF_TEXT */
} lexed;

static void lex_n(lexed *out, const char *text, size_t size)
{
    kiln__lexer lexer;

    memset(out, 0, sizeof *out);
    out->source = (kiln__source){
        .alloc = &kiln__malloc,
        .file = "test.kiln",
        .text = text,
        .size = size,
        .lines = out->lines,
        .line_count = 1,
    };
    kiln__diagnostics_init(&out->diagnostics, &kiln__malloc);
    kiln__lexer_init(&lexer, &out->source, &out->diagnostics);
    for (;;) {
        kiln__lexer_next(&lexer, &out->tokens[out->count]);
        if (out->tokens[out->count].kind == KILN__TOKEN_END_OF_TEXT)
            break;
        assert_true(++out->count < TOKENS_MAX);
    }
    kiln__lexer_next(&lexer, &out->tokens[out->count]);
    assert_int_equal(out->tokens[out->count].kind, KILN__TOKEN_END_OF_TEXT);
}

static void lex(lexed *out, const char *text)
{
    lex_n(out, text, strlen(text));
}

static void done(lexed *l)
{
    kiln__diagnostics_dispose(&l->diagnostics);
}

/* Tokens as text: keywords and operators as they are, NEWLINE as `$`. */
static void describe(const lexed *l, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < l->count; i++) {
        const kiln__token *token = &l->tokens[i];
        const char *text = l->source.text + token->span.start;
        int length = (int)token->span.size;

        if (token->kind == KILN__TOKEN_NEWLINE) {
            text = "$";
            length = 1;
        }
        used += (size_t)snprintf(out + used, size - used, "%s%.*s",
                                 i == 0 ? "" : " ", length, text);
        assert_true(used < size);
    }
}

static void assert_tokens(const char *text, const char *expected)
{
    char got[512];
    lexed l;

    lex(&l, text);
    describe(&l, got, sizeof got);
    assert_string_equal(got, expected);
    assert_int_equal(l.diagnostics.list.count, 0);
    done(&l);
}

static void assert_reported(const char *text, const char *message)
{
    lexed l;

    lex(&l, text);
    assert_int_equal(l.diagnostics.list.count, 1);
    assert_contains(l.diagnostics.list.items[0].message, message);
    done(&l);
}

/* ---- words and operators ---- */

static void every_keyword_and_operator_is_its_own_token(void **state)
{
    (void)state;
    for (int kind = KILN__TOKEN_STRING + 1; kind < KILN__TOKEN_COUNT; kind++) {
        const char *text = kiln__token_text[kind];
        lexed l;

        lex(&l, text);
        assert_int_equal(l.tokens[0].kind, kind);
        assert_int_equal(l.tokens[0].span.size, strlen(text));
        assert_int_equal(l.diagnostics.list.count, 0);
        done(&l);
    }
}

static void a_word_that_only_begins_like_a_keyword_is_a_name(void **state)
{
    static const char *const words[] = {"ends", "i",   "forx", "fnn",
                                        "_end", "End", "e",    "_",
                                        "x1",   "tru", "if_",  "static1"};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        lexed l;

        lex(&l, words[i]);
        assert_int_equal(l.tokens[0].kind, KILN__TOKEN_NAME);
        assert_int_equal(l.tokens[0].span.size, strlen(words[i]));
        done(&l);
    }
}

static void the_longest_operator_wins(void **state)
{
    (void)state;
    assert_tokens("a<<=b>>c<=d//=e**f->g",
                  "a <<= b >> c <= d //= e ** f -> g $");
    assert_tokens("a::b:c..d.e", "a :: b : c .. d . e $");
    assert_tokens("x&&y||z&w|v^u!=!t", "x && y || z & w | v ^ u != ! t $");
}

static void spans_are_bytes_from_the_start(void **state)
{
    lexed l;

    (void)state;
    lex(&l, "ab = # note\n  12");
    assert_int_equal(l.tokens[0].span.start, 0);
    assert_int_equal(l.tokens[0].span.size, 2);
    assert_true(l.tokens[0].line_start);
    assert_int_equal(l.tokens[1].span.start, 3);
    assert_false(l.tokens[1].line_start);
    assert_int_equal(l.tokens[2].span.start, 14);
    assert_int_equal(l.tokens[2].span.size, 2);
    assert_true(l.tokens[2].line_start);
    done(&l);
}

/* ---- newlines ---- */

static void a_newline_ends_a_statement(void **state)
{
    (void)state;
    assert_tokens("a\nb", "a $ b $");
    assert_tokens("a;b;", "a $ b $");
    assert_tokens("\n\n a \n\n;\n # c\n b \r\n", "a $ b $");
    assert_tokens("", "");
}

static void a_newline_in_brackets_does_not_count(void **state)
{
    (void)state;
    assert_tokens("f(a,\n b\n)\nc", "f ( a , b ) $ c $");
    assert_tokens("a[\ni\n]", "a [ i ] $");
    assert_tokens("T{\nU}", "T { U } $");
}

static void a_newline_after_an_operator_does_not_count(void **state)
{
    static const char *const operators[] = {
        "+", "-",  "*",   "/",  "//", "%",  "**", "&&", "||", "|",
        "^", "&",  "<<",  ">>", "==", "!=", "<",  "<=", ">",  ">=",
        "=", "+=", "<<=", ",",  "?",  ":",  "..", ".",  "->"};

    (void)state;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        char text[32], expected[32];

        snprintf(text, sizeof text, "a %s\n b", operators[i]);
        snprintf(expected, sizeof expected, "a %s b $", operators[i]);
        assert_tokens(text, expected);
    }
}

static void a_statement_word_closes_forgotten_brackets(void **state)
{
    (void)state;
    assert_tokens("f(a\nend\nb\nc", "f ( a $ end $ b $ c $");
    assert_tokens("x = [1,\nreturn x", "x = [ 1 , $ return x $");
    assert_tokens("x = a +\nend", "x = a + $ end $");
}

/* ---- numbers ---- */

static void integers_have_three_bases_and_underscores(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } rows[] = {
        {"0", 0},
        {"42", 42},
        {"1_000_000", 1000000},
        {"0xff", 255},
        {"0xDEAD_beef", 0xDEADBEEF},
        {"0b101", 5},
        {"18446744073709551615", UINT64_MAX},
        {"0xffff_ffff_ffff_ffff", UINT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lexed l;

        lex(&l, rows[i].text);
        assert_int_equal(l.diagnostics.list.count, 0);
        assert_int_equal(l.tokens[0].kind, KILN__TOKEN_INTEGER);
        assert_true(l.tokens[0].integer == rows[i].value);
        assert_int_equal(l.tokens[0].span.size, strlen(rows[i].text));
        done(&l);
    }
}

static void assert_float(const char *text, double value)
{
    lexed l;

    lex(&l, text);
    assert_int_equal(l.diagnostics.list.count, 0);
    assert_int_equal(l.tokens[0].kind, KILN__TOKEN_FLOAT);
    assert_memory_equal(&l.tokens[0].real, &value, sizeof value);
    assert_int_equal(l.count, 2);
    done(&l);
}

static void floats_are_rounded_once(void **state)
{
    (void)state;
    assert_float("1.0", 1.0);
    assert_float("2.5e-3", 2.5e-3);
    assert_float("1e6", 1e6);
    assert_float("1E+2", 1e2);
    assert_float("0.1", 0.1);
    assert_float("1_000.000_1", 1000.0001);
    assert_float("1.7976931348623157e308", 1.7976931348623157e308);
    assert_float("4.9e-324", 4.9e-324);
}

/* The test holds wherever a locale with a comma is installed. */
static void floats_do_not_depend_on_the_locale(void **state)
{
    const char *locale = setlocale(LC_NUMERIC, "de_DE.UTF-8");

    (void)state;
    assert_float("1.5", 1.5);
    if (locale != NULL)
        setlocale(LC_NUMERIC, "C");
}

static void a_range_is_no_float(void **state)
{
    (void)state;
    assert_tokens("0..5", "0 .. 5 $");
    assert_tokens("1.5..2.5", "1.5 .. 2.5 $");
}

static void bad_numbers_are_reported_once(void **state)
{
    (void)state;
    assert_reported("18446744073709551616", "at most 64 bits");
    assert_reported("0x1_0000_0000_0000_0000", "at most 64 bits");
    assert_reported("0x", "digits are missing");
    assert_reported("0b2", "ends in other characters");
    assert_reported("1e999", "no f64 is as large");
    assert_reported("1.5f", "ends in other characters");
    assert_reported("2x", "ends in other characters");
    assert_reported("1__0", "ends in other characters");
    assert_reported("1_", "ends in other characters");
    assert_reported("007", "begins with 0");
    assert_reported("1.", "a digit must follow the dot");
    assert_reported(".5", "begins with a digit");
}

static void a_very_long_number_is_refused(void **state)
{
    char text[400];

    (void)state;
    memset(text, '1', sizeof text);
    memcpy(text + 390, ".5", 3);
    assert_reported(text, "at most 255 characters");
}

/* ---- strings ---- */

static void a_string_is_one_token_with_its_escapes(void **state)
{
    kiln__arena arena;
    lexed l;

    (void)state;
    lex(&l, "\"a\\n\\t\\\"\\\\ b\xC3\xA9\" x");
    assert_int_equal(l.diagnostics.list.count, 0);
    assert_int_equal(l.tokens[0].kind, KILN__TOKEN_STRING);
    kiln__arena_init(&arena, &kiln__malloc);
    assert_string_equal(kiln__string_value(&arena, &l.source, l.tokens[0].span),
                        "a\n\t\"\\ b\xC3\xA9");
    kiln__arena_dispose(&arena);
    assert_int_equal(l.tokens[1].kind, KILN__TOKEN_NAME);
    done(&l);
}

static void bad_strings_are_reported(void **state)
{
    lexed l;

    (void)state;
    assert_reported("\"abc", "does not end in its line");
    assert_reported("\"abc\\", "does not end in its line");
    assert_reported("\"a\\q\"", "unknown escape `\\q`");
    lex(&l, "\"abc\nx");
    assert_int_equal(l.diagnostics.list.count, 1);
    assert_int_equal(l.tokens[2].kind, KILN__TOKEN_NAME);
    done(&l);
}

/* ---- bytes ---- */

static void utf8_may_stand_in_comments_and_strings(void **state)
{
    (void)state;
    assert_tokens("\xEF\xBB\xBF# \xE2\x82\xAC\nx \"\xF0\x9F\x98\x80\"",
                  "x \"\xF0\x9F\x98\x80\" $");
    assert_reported("\xC3\xA9t\xC3\xA9 = 1\n" + 3, "unexpected `\xC3\xA9`");
}

static void bytes_that_are_no_utf8_are_reported(void **state)
{
    static const char *const bad[] = {
        "\x80",             /* a continuation alone */
        "\xC3",             /* cut off */
        "\xC0\xAF",         /* overlong */
        "\xE0\x80\x80",     /* overlong */
        "\xED\xA0\x80",     /* a surrogate */
        "\xF4\x90\x80\x80", /* above U+10FFFF */
        "\xFF",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[32];

        snprintf(text, sizeof text, "# %s\n", bad[i]);
        assert_reported(text, "is not UTF-8");
        snprintf(text, sizeof text, "\"%s\"", bad[i]);
        assert_reported(text, "is not UTF-8");
    }
    assert_reported("\xFF", "the byte 0xFF is not UTF-8");
}

static void nul_bytes_are_reported_everywhere(void **state)
{
    static const char text[] = "a\0b # \0\n\"\0\"";
    lexed l;

    (void)state;
    lex_n(&l, text, sizeof text - 1);
    assert_int_equal(l.diagnostics.list.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(l.diagnostics.list.items[i].message,
                            "NUL byte in the text");
    assert_int_equal(l.count, 5);
    done(&l);
}

static void unexpected_characters_are_reported_with_a_hint(void **state)
{
    lexed l;

    (void)state;
    lex(&l, "a @ b $ 'c' \\ \x01");
    assert_int_equal(l.diagnostics.list.count, 5);
    assert_contains(l.diagnostics.list.items[2].message, "`'c'`");
    assert_contains(l.diagnostics.list.items[2].hint, "double quotes");
    done(&l);
    assert_reported("/* c */ x", "`/*` begins no comment");
    assert_reported("i++", "there is no `++`");
    assert_reported("i--\n", "there is no `--`");
    assert_tokens("a - -b", "a - - b $");
    assert_tokens("a --b", "a - - b $");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_keyword_and_operator_is_its_own_token),
        cmocka_unit_test(a_word_that_only_begins_like_a_keyword_is_a_name),
        cmocka_unit_test(the_longest_operator_wins),
        cmocka_unit_test(spans_are_bytes_from_the_start),
        cmocka_unit_test(a_newline_ends_a_statement),
        cmocka_unit_test(a_newline_in_brackets_does_not_count),
        cmocka_unit_test(a_newline_after_an_operator_does_not_count),
        cmocka_unit_test(a_statement_word_closes_forgotten_brackets),
        cmocka_unit_test(integers_have_three_bases_and_underscores),
        cmocka_unit_test(floats_are_rounded_once),
        cmocka_unit_test(floats_do_not_depend_on_the_locale),
        cmocka_unit_test(a_range_is_no_float),
        cmocka_unit_test(bad_numbers_are_reported_once),
        cmocka_unit_test(a_very_long_number_is_refused),
        cmocka_unit_test(a_string_is_one_token_with_its_escapes),
        cmocka_unit_test(bad_strings_are_reported),
        cmocka_unit_test(utf8_may_stand_in_comments_and_strings),
        cmocka_unit_test(bytes_that_are_no_utf8_are_reported),
        cmocka_unit_test(nul_bytes_are_reported_everywhere),
        cmocka_unit_test(unexpected_characters_are_reported_with_a_hint),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
