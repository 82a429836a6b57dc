/* lex.c - makes tokens of names and operators; decides which newlines count. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "frontend/syntax/lex.h"

#include <string.h>

/*
 * The lexer is called for one token at a time. Names and operators are looked
 * up in tables indexed by character; numbers and strings are read by
 * lex_literal.c. Each kind of token has traits, which say how it affects the
 * newlines that follow. What is no token is reported, with a hint where other
 * languages have it, and skipped: the parser never sees it.
 */

const char *const kiln__token_text[KILN__TOKEN_COUNT] = {
#define KILN__X(name, text) [KILN__TOKEN_##name] = text,
    KILN__KEYWORD_MAP(KILN__X) KILN__PUNCTUATION_MAP(KILN__X)
#undef KILN__X
};

static const uint8_t token_size[KILN__TOKEN_COUNT] = {
#define KILN__X(name, text) [KILN__TOKEN_##name] = sizeof(text) - 1,
    KILN__KEYWORD_MAP(KILN__X) KILN__PUNCTUATION_MAP(KILN__X)
#undef KILN__X
};

/* By character: the first keyword or operator that begins with it. */
static const uint8_t first_token[256] = {
    ['a'] = KILN__TOKEN_ABSTRACT,       ['b'] = KILN__TOKEN_BREAK,
    ['c'] = KILN__TOKEN_CHECKBOUNDS,    ['e'] = KILN__TOKEN_ELSE,
    ['f'] = KILN__TOKEN_FALSE,          ['i'] = KILN__TOKEN_IF,
    ['k'] = KILN__TOKEN_KERNEL,         ['l'] = KILN__TOKEN_LOCAL,
    ['o'] = KILN__TOKEN_OVERLAY,        ['r'] = KILN__TOKEN_RETURN,
    ['s'] = KILN__TOKEN_STATIC,         ['t'] = KILN__TOKEN_TRUE,
    ['w'] = KILN__TOKEN_WHERE,          ['!'] = KILN__TOKEN_NOT_EQUAL,
    ['%'] = KILN__TOKEN_PERCENT_ASSIGN, ['&'] = KILN__TOKEN_AND_AND,
    ['('] = KILN__TOKEN_LEFT_PAREN,     [')'] = KILN__TOKEN_RIGHT_PAREN,
    ['*'] = KILN__TOKEN_STAR_STAR,      ['+'] = KILN__TOKEN_PLUS_ASSIGN,
    [','] = KILN__TOKEN_COMMA,          ['-'] = KILN__TOKEN_ARROW,
    ['.'] = KILN__TOKEN_DOT_DOT,        ['/'] = KILN__TOKEN_SLASH_SLASH_ASSIGN,
    [':'] = KILN__TOKEN_COLON_COLON,    ['<'] = KILN__TOKEN_SHIFT_LEFT_ASSIGN,
    ['='] = KILN__TOKEN_EQUAL,          ['>'] = KILN__TOKEN_SHIFT_RIGHT_ASSIGN,
    ['?'] = KILN__TOKEN_QUESTION,       ['['] = KILN__TOKEN_LEFT_BRACKET,
    [']'] = KILN__TOKEN_RIGHT_BRACKET,  ['^'] = KILN__TOKEN_XOR_ASSIGN,
    ['{'] = KILN__TOKEN_LEFT_BRACE,     ['|'] = KILN__TOKEN_OR_OR,
    ['}'] = KILN__TOKEN_RIGHT_BRACE,    ['~'] = KILN__TOKEN_TILDE,
};

#define OPENS 1u     /* an opening bracket */
#define CLOSES 2u    /* a closing bracket */
#define CONTINUES 4u /* a newline after it does not count */
#define STATEMENT 8u /* only begins or ends statements and definitions */

static const uint8_t token_traits[KILN__TOKEN_COUNT] = {
    [KILN__TOKEN_ABSTRACT] = STATEMENT,
    [KILN__TOKEN_BREAK] = STATEMENT,
    [KILN__TOKEN_CHECKBOUNDS] = STATEMENT,
    [KILN__TOKEN_CONST] = STATEMENT,
    [KILN__TOKEN_CONTINUE] = STATEMENT,
    [KILN__TOKEN_CONTRACT] = STATEMENT,
    [KILN__TOKEN_ELSE] = STATEMENT,
    [KILN__TOKEN_ELSEIF] = STATEMENT,
    [KILN__TOKEN_END] = STATEMENT,
    [KILN__TOKEN_FASTMATH] = STATEMENT,
    [KILN__TOKEN_FN] = STATEMENT,
    [KILN__TOKEN_FOR] = STATEMENT,
    [KILN__TOKEN_IF] = STATEMENT,
    [KILN__TOKEN_IMPORT] = STATEMENT,
    [KILN__TOKEN_INBOUNDS] = STATEMENT,
    [KILN__TOKEN_KERNEL] = STATEMENT,
    [KILN__TOKEN_LOCAL] = STATEMENT,
    [KILN__TOKEN_OVERLAY] = STATEMENT,
    [KILN__TOKEN_RETURN] = STATEMENT,
    [KILN__TOKEN_STRICT] = STATEMENT,
    [KILN__TOKEN_STRUCT] = STATEMENT,
    [KILN__TOKEN_WHILE] = STATEMENT,
    [KILN__TOKEN_LEFT_PAREN] = OPENS,
    [KILN__TOKEN_LEFT_BRACKET] = OPENS,
    [KILN__TOKEN_LEFT_BRACE] = OPENS,
    [KILN__TOKEN_RIGHT_PAREN] = CLOSES,
    [KILN__TOKEN_RIGHT_BRACKET] = CLOSES,
    [KILN__TOKEN_RIGHT_BRACE] = CLOSES,
    [KILN__TOKEN_NOT_EQUAL] = CONTINUES,
    [KILN__TOKEN_PERCENT_ASSIGN] = CONTINUES,
    [KILN__TOKEN_PERCENT] = CONTINUES,
    [KILN__TOKEN_AND_AND] = CONTINUES,
    [KILN__TOKEN_AND_ASSIGN] = CONTINUES,
    [KILN__TOKEN_AND] = CONTINUES,
    [KILN__TOKEN_STAR_STAR] = CONTINUES,
    [KILN__TOKEN_STAR_ASSIGN] = CONTINUES,
    [KILN__TOKEN_STAR] = CONTINUES,
    [KILN__TOKEN_PLUS_ASSIGN] = CONTINUES,
    [KILN__TOKEN_PLUS] = CONTINUES,
    [KILN__TOKEN_COMMA] = CONTINUES,
    [KILN__TOKEN_ARROW] = CONTINUES,
    [KILN__TOKEN_MINUS_ASSIGN] = CONTINUES,
    [KILN__TOKEN_MINUS] = CONTINUES,
    [KILN__TOKEN_DOT_DOT] = CONTINUES,
    [KILN__TOKEN_DOT] = CONTINUES,
    [KILN__TOKEN_SLASH_SLASH_ASSIGN] = CONTINUES,
    [KILN__TOKEN_SLASH_SLASH] = CONTINUES,
    [KILN__TOKEN_SLASH_ASSIGN] = CONTINUES,
    [KILN__TOKEN_SLASH] = CONTINUES,
    [KILN__TOKEN_COLON_COLON] = CONTINUES,
    [KILN__TOKEN_COLON] = CONTINUES,
    [KILN__TOKEN_SHIFT_LEFT_ASSIGN] = CONTINUES,
    [KILN__TOKEN_SHIFT_LEFT] = CONTINUES,
    [KILN__TOKEN_LESS_EQUAL] = CONTINUES,
    [KILN__TOKEN_LESS] = CONTINUES,
    [KILN__TOKEN_EQUAL] = CONTINUES,
    [KILN__TOKEN_ASSIGN] = CONTINUES,
    [KILN__TOKEN_SHIFT_RIGHT_ASSIGN] = CONTINUES,
    [KILN__TOKEN_SHIFT_RIGHT] = CONTINUES,
    [KILN__TOKEN_GREATER_EQUAL] = CONTINUES,
    [KILN__TOKEN_GREATER] = CONTINUES,
    [KILN__TOKEN_QUESTION] = CONTINUES,
    [KILN__TOKEN_XOR_ASSIGN] = CONTINUES,
    [KILN__TOKEN_XOR] = CONTINUES,
    [KILN__TOKEN_OR_OR] = CONTINUES,
    [KILN__TOKEN_OR_ASSIGN] = CONTINUES,
    [KILN__TOKEN_OR] = CONTINUES,
};

void kiln__lexer_init(kiln__lexer *lexer, const kiln__source *source,
                      kiln__diagnostics *diagnostics)
{
    *lexer = (kiln__lexer){
        .source = source,
        .diagnostics = diagnostics,
        .last = KILN__TOKEN_NEWLINE,
        .line_start = 1,
    };
    if (source->size >= 3 && memcmp(source->text, "\xEF\xBB\xBF", 3) == 0)
        lexer->at = 3; /* a byte order mark */
}

/* Which characters can begin or continue a name. */
#define LETTER 1u
#define DIGIT 2u

static const uint8_t character[256] = {
    ['0'] = DIGIT,  ['1'] = DIGIT,  ['2'] = DIGIT,  ['3'] = DIGIT,
    ['4'] = DIGIT,  ['5'] = DIGIT,  ['6'] = DIGIT,  ['7'] = DIGIT,
    ['8'] = DIGIT,  ['9'] = DIGIT,  ['a'] = LETTER, ['b'] = LETTER,
    ['c'] = LETTER, ['d'] = LETTER, ['e'] = LETTER, ['f'] = LETTER,
    ['g'] = LETTER, ['h'] = LETTER, ['i'] = LETTER, ['j'] = LETTER,
    ['k'] = LETTER, ['l'] = LETTER, ['m'] = LETTER, ['n'] = LETTER,
    ['o'] = LETTER, ['p'] = LETTER, ['q'] = LETTER, ['r'] = LETTER,
    ['s'] = LETTER, ['t'] = LETTER, ['u'] = LETTER, ['v'] = LETTER,
    ['w'] = LETTER, ['x'] = LETTER, ['y'] = LETTER, ['z'] = LETTER,
    ['A'] = LETTER, ['B'] = LETTER, ['C'] = LETTER, ['D'] = LETTER,
    ['E'] = LETTER, ['F'] = LETTER, ['G'] = LETTER, ['H'] = LETTER,
    ['I'] = LETTER, ['J'] = LETTER, ['K'] = LETTER, ['L'] = LETTER,
    ['M'] = LETTER, ['N'] = LETTER, ['O'] = LETTER, ['P'] = LETTER,
    ['Q'] = LETTER, ['R'] = LETTER, ['S'] = LETTER, ['T'] = LETTER,
    ['U'] = LETTER, ['V'] = LETTER, ['W'] = LETTER, ['X'] = LETTER,
    ['Y'] = LETTER, ['Z'] = LETTER, ['_'] = LETTER,
};

static int is_letter(unsigned char c)
{
    return (character[c] & LETTER) != 0;
}

static int is_digit(unsigned char c)
{
    return (character[c] & DIGIT) != 0;
}

/* Returns the byte `ahead` of the lexer, 0 after the end of the text. */
static unsigned char peek(const kiln__lexer *l, uint32_t ahead)
{
    const size_t at = (size_t)l->at + ahead;

    return at < l->source->size ? (unsigned char)l->source->text[at] : 0;
}

/* ---- blanks, comments, newlines ---- */

static void skip_comment(kiln__lexer *l)
{
    const char *text = l->source->text + l->at;
    const size_t left = l->source->size - l->at;
    const char *newline = memchr(text, '\n', left);
    const size_t size = newline == NULL ? left : (size_t)(newline - text);

    kiln__lex_check_bytes(l, l->at, l->at + (uint32_t)size);
    l->at += (uint32_t)size;
}

static void skip_c_comment(kiln__lexer *l)
{
    const char *text = l->source->text + l->at;
    const size_t left = l->source->size - l->at;
    const char *end = left > 2 ? memmem(text + 2, left - 2, "*/", 2) : NULL;
    const uint32_t size =
        (uint32_t)(end == NULL ? left : (size_t)(end + 2 - text));

    kiln__diagnose(l->diagnostics, l->source, (kiln__span){l->at, 2},
                   "invalid-token", "a comment begins with `#`",
                   "`/*` begins no comment here");
    kiln__lex_check_bytes(l, l->at, l->at + size);
    l->at += size;
}

/* True when a newline at this place ends a statement. */
static int newline_counts(const kiln__lexer *l)
{
    return l->depth == 0 && l->last != KILN__TOKEN_NEWLINE &&
           (token_traits[l->last] & CONTINUES) == 0;
}

static void emit(kiln__lexer *l, kiln__token *out, kiln__token_kind kind,
                 uint32_t size)
{
    const uint8_t traits = token_traits[kind];

    *out = (kiln__token){
        .kind = kind,
        .line_start = l->line_start,
        .span = {.start = l->at, .size = size},
    };
    if ((traits & OPENS) != 0)
        l->depth++;
    else if ((traits & CLOSES) != 0 && l->depth > 0)
        l->depth--;
    l->at += size;
    l->last = kind;
    l->line_start = 0;
}

/* Emits the newline that ends a statement. */
static void emit_newline(kiln__lexer *l, kiln__token *out, uint32_t size)
{
    emit(l, out, KILN__TOKEN_NEWLINE, size);
    l->depth = 0;
}

/* Skips blanks, comments and newlines that do not count. True when a newline
   was emitted. */
static int skip_blanks(kiln__lexer *l, kiln__token *out)
{
    while (l->at < l->source->size) {
        const unsigned char c = peek(l, 0);

        if (c == ' ' || c == '\t' || c == '\r') {
            l->at++;
        } else if (c == '\n') {
            if (newline_counts(l)) {
                emit_newline(l, out, 1);
                l->line_start = 1;
                return 1;
            }
            l->line_start = 1;
            l->at++;
        } else if (c == '#') {
            skip_comment(l);
        } else if (c == '/' && peek(l, 1) == '*') {
            skip_c_comment(l);
        } else if (c == ';' && l->last == KILN__TOKEN_NEWLINE) {
            l->at++;
        } else {
            return 0;
        }
    }
    return 0;
}

/* ---- names, operators, unexpected characters ---- */

static kiln__token_kind keyword_of(const char *text, uint32_t size)
{
    kiln__token_kind kind = first_token[(unsigned char)text[0]];

    if (kind == KILN__TOKEN_END_OF_TEXT)
        return KILN__TOKEN_NAME;
    for (; kiln__token_text[kind][0] == text[0]; kind++)
        if (token_size[kind] == size &&
            memcmp(kiln__token_text[kind], text, size) == 0)
            return kind;
    return KILN__TOKEN_NAME;
}

/* True after a token that is no end of an expression. A keyword in the same
   line stands in the place of a name, then, and begins no statement. */
static int wants_operand(const kiln__lexer *l)
{
    return (token_traits[l->last] & (CONTINUES | OPENS)) != 0;
}

static void lex_word(kiln__lexer *l, kiln__token *out)
{
    const char *text = l->source->text + l->at;
    kiln__token_kind kind;
    uint32_t size = 1;

    while (character[(unsigned char)text[size]] != 0)
        size++; /* the NUL after the text cannot continue a name */
    kind = keyword_of(text, size);
    if ((token_traits[kind] & STATEMENT) != 0 &&
        l->last != KILN__TOKEN_NEWLINE &&
        (l->line_start || (l->depth > 0 && !wants_operand(l)))) {
        const int line_start = l->line_start;

        emit_newline(l, out, 0);
        l->line_start = line_start;
        return;
    }
    emit(l, out, kind, size);
}

static kiln__token_kind operator_of(const kiln__lexer *l)
{
    const char *text = l->source->text + l->at;
    kiln__token_kind kind = first_token[(unsigned char)text[0]];

    if (kind == KILN__TOKEN_END_OF_TEXT)
        return kind;
    for (; kind < KILN__TOKEN_COUNT; kind++) {
        if (kiln__token_text[kind][0] != text[0])
            break;
        if (strncmp(kiln__token_text[kind], text, token_size[kind]) == 0)
            return kind;
    }
    return KILN__TOKEN_END_OF_TEXT;
}

/* Reports and skips an operator of another language. */
static int skip_operator(kiln__lexer *l)
{
    const char *text = l->source->text + l->at, *hint;
    const uint32_t size = kiln__lex_foreign_operator(text, &hint);

    if (size == 0)
        return 0;
    kiln__diagnose(l->diagnostics, l->source, (kiln__span){l->at, size},
                   "invalid-token", hint, "there is no `%.*s`", (int)size,
                   text);
    l->at += size;
    return 1;
}

/* `size`: how many bytes are reported. */
static const char *character_hint(const kiln__lexer *l, uint32_t size)
{
    switch (peek(l, 0)) {
    case '\'':
        if (size == 3)
            return kiln__arena_format(
                &l->diagnostics->arena,
                "a character is its number, %u; text stands in double quotes",
                (unsigned)peek(l, 1));
        return "text stands in double quotes, in `print` and `assert`";
    case '$':
        return "`print(\"x = \", x)` prints a value";
    case '\\':
        return "a line goes on after an operator, a comma or inside brackets";
    default:
        return NULL;
    }
}

/* Returns the size of C's `'a'` and `'\n'`, which are reported as one piece. */
static uint32_t quoted_size(const kiln__lexer *l)
{
    const uint32_t close = peek(l, 1) == '\\' ? 3 : 2;

    return peek(l, 0) == '\'' && peek(l, close) == '\'' ? close + 1 : 1;
}

/* Reports and skips a character that begins no token. */
static void skip_character(kiln__lexer *l)
{
    const unsigned char c = peek(l, 0);
    uint32_t size = kiln__lex_character_size(l->source, l->at);

    if (c == 0 || size == 0) {
        kiln__lex_check_bytes(l, l->at, l->at + 1);
        l->at++;
        return;
    }
    if (size == 1)
        size = quoted_size(l);
    if (c < 0x20 || c == 0x7F)
        kiln__diagnose(l->diagnostics, l->source, (kiln__span){l->at, 1},
                       "invalid-token", NULL, "unexpected control character %u",
                       c);
    else
        kiln__diagnose(l->diagnostics, l->source, (kiln__span){l->at, size},
                       "invalid-token",
                       c >= 0x80 ? "names are made of the letters a to z, A to "
                                   "Z, digits and `_`"
                       : c == '@'
                           ? kiln__lex_macro_hint(l->source->text + l->at)
                           : character_hint(l, size),
                       "unexpected `%.*s`", (int)size, l->source->text + l->at);
    l->at += size;
}

/* Reports and skips C's `i++` and `i--`. They are never correct, since there is
   no unary `+`, and no expression ends in an operator. */
static int skip_increment(kiln__lexer *l)
{
    const unsigned char c = peek(l, 0);
    uint32_t next = 2;

    if ((c != '+' && c != '-') || peek(l, 1) != c)
        return 0;
    while (peek(l, next) == ' ' || peek(l, next) == '\t')
        next++;
    if (c == '-' && strchr("\r\n;#)", peek(l, next)) == NULL)
        return 0;
    kiln__diagnose(l->diagnostics, l->source, (kiln__span){l->at, 2},
                   "invalid-token",
                   c == '+' ? "write `i += 1`" : "write `i -= 1`",
                   "there is no `%c%c`", c, c);
    l->at += 2;
    return 1;
}

void kiln__lexer_next(kiln__lexer *l, kiln__token *out)
{
    for (;;) {
        unsigned char c;
        kiln__token_kind kind;

        if (skip_blanks(l, out))
            return;
        if (l->at >= l->source->size) {
            if (l->last == KILN__TOKEN_NEWLINE ||
                l->last == KILN__TOKEN_END_OF_TEXT)
                emit(l, out, KILN__TOKEN_END_OF_TEXT, 0);
            else
                emit_newline(l, out, 0);
            return;
        }
        c = peek(l, 0);
        if (is_letter(c)) {
            lex_word(l, out);
            return;
        }
        if (is_digit(c) ||
            (c == '.' && is_digit(peek(l, 1)) && l->last != KILN__TOKEN_DOT)) {
            kiln__lex_number(l, out);
            return;
        }
        if (c == '"') {
            kiln__lex_string(l, out);
            return;
        }
        if (c == ';') {
            emit_newline(l, out, 1);
            return;
        }
        if (skip_increment(l) || skip_operator(l))
            continue;
        kind = operator_of(l);
        if (kind != KILN__TOKEN_END_OF_TEXT) {
            emit(l, out, kind, token_size[kind]);
            return;
        }
        skip_character(l);
    }
}
