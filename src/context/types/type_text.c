/* type_text.c - writes and reads the text of types. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <inttypes.h>
#include <string.h>

#include "base/data/array.h"
#include "base/data/ascii.h"
#include "base/error.h"
#include "base/system/stack.h"
#include "context/host_ops.h"
#include "context/types/types.h"

/*
 *     type    = primary { "[" ["strided"] ":" { "," ":" } "]" }
 *     primary = "(" [ type { "," type } [","] ] ")"
 *             | "Vec" "{" type "," number "}" | "Static" "{" number "}"
 *             | "Type" "{" type "}" | "typeof" "(" function ")"
 *             | name { "." name } [ "{" part { "," part } "}" ]
 *     part    = type | number
 *
 * A number among a struct's parameters means the static type of that number. A
 * single type in parentheses means that type. Written texts are canonical: they
 * read back as the same type, in any package.
 */

/* ---- writing ---- */

static void print_list(kiln__text *out, const kiln_type *type)
{
    kiln__text_add(out, "(");
    for (size_t i = 0; i < type->field_count; i++) {
        kiln__text_add(out, i == 0 ? "" : ", ");
        kiln__text_add(out, type->fields[i].type->text);
    }
    kiln__text_add(out, type->field_count == 1 ? ",)" : ")");
}

static void print_named(kiln__text *out, const kiln_type *type)
{
    kiln__text_format(out, "%s.%s", type->package, type->name);
    for (size_t i = 0; i < type->parameter_count; i++) {
        const kiln_type *parameter = type->parameters[i];

        kiln__text_add(out, i == 0 ? "{" : ",");
        if (parameter->kind == KILN_TYPE_STATIC)
            kiln__text_format(out, "%" PRId64, parameter->value);
        else
            kiln__text_add(out, parameter->text);
    }
    kiln__text_add(out, type->parameter_count > 0 ? "}" : "");
}

static void print_array(kiln__text *out, const kiln_type *type)
{
    kiln__text_add(out, type->element->text);
    kiln__text_add(out, type->strided ? "[strided :" : "[:");
    for (uint32_t i = 1; i < type->rank; i++)
        kiln__text_add(out, ",:");
    kiln__text_add(out, "]");
}

void kiln__type_print(kiln__text *out, const kiln_type *type)
{
    switch (type->kind) {
    case KILN_TYPE_TUPLE:
        print_list(out, type);
        return;
    case KILN_TYPE_VECTOR:
        kiln__text_format(out, "Vec{%s,%" PRIu32 "}", type->element->text,
                          type->length);
        return;
    case KILN_TYPE_STRUCT:
    case KILN_TYPE_FOREIGN:
        print_named(out, type);
        return;
    case KILN_TYPE_ARRAY:
        print_array(out, type);
        return;
    case KILN_TYPE_STATIC:
        kiln__text_format(out, "Static{%" PRId64 "}", type->value);
        return;
    case KILN_TYPE_FUNCTION:
        kiln__text_format(out, "typeof(%s)", type->function->name);
        return;
    case KILN_TYPE_TYPE:
        kiln__text_format(out, "Type{%s}", type->element->text);
        return;
    default:
        kiln__text_add(out, kiln__kind_name(type->kind));
        return;
    }
}

/* ---- reading ---- */

typedef kiln__array_of(const kiln_type *) type_list;

typedef struct reader {
    kiln_context *context;
    kiln_package *package; /* or NULL */
    const char *text;      /* for messages */
    const char *at;
    uint32_t depth;
    uint64_t world; /* of the language's names; 0: the current one */
    kiln_error **error;
} reader;

static kiln_status read_type(const kiln_type **out, reader *r);

static void skip_space(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

/* Takes `mark` if it comes next. */
static int take_mark(reader *r, char mark)
{
    skip_space(r);
    if (*r->at != mark)
        return 0;
    r->at++;
    return 1;
}

static kiln_status unexpected(reader *r, const char *wanted)
{
    return kiln__error_set(r->error, KILN_EINVAL,
                           "cannot read the type '%.200s': %s expected at "
                           "byte %zu",
                           r->text, wanted, (size_t)(r->at - r->text) + 1);
}

static kiln_status expect(reader *r, char mark, const char *wanted)
{
    return take_mark(r, mark) ? KILN_OK : unexpected(r, wanted);
}

static int is_number_next(reader *r)
{
    skip_space(r);
    return kiln__is_digit(*r->at) ||
           (*r->at == '-' && kiln__is_digit(r->at[1]));
}

static kiln_status read_number(int64_t *out, reader *r)
{
    int negative;
    int64_t value = 0;

    if (!is_number_next(r))
        return unexpected(r, "a number");
    negative = take_mark(r, '-');
    for (; kiln__is_digit(*r->at); r->at++) {
        const int digit = *r->at - '0';

        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, digit, &value))
            return unexpected(r, "a number of 64 bits");
    }
    /* Counted downwards, because the least number has no positive
       counterpart. */
    if (!negative && __builtin_sub_overflow(0, value, &value))
        return unexpected(r, "a number of 64 bits");
    *out = value;
    return KILN_OK;
}

/* ---- lists of types ---- */

static kiln_status read_part(const kiln_type **out, reader *r)
{
    int64_t value = 0;

    if (!is_number_next(r))
        return read_type(out, r);
    KILN_TRY(read_number(&value, r));
    return kiln_type_static(out, r->context, value, r->error);
}

static kiln_status read_into(type_list *list, reader *r,
                             kiln_status (*read)(const kiln_type **out,
                                                 reader *r))
{
    const kiln_type *type = NULL;

    KILN_TRY(read(&type, r));
    if (list->count == KILN__TYPE_FIELDS_MAX)
        return unexpected(r, "fewer types");
    if (!kiln__array_push(&r->context->alloc, list, type))
        return kiln__error_no_memory(r->error);
    return KILN_OK;
}

/* Reads up to and including `end`. Sets `*comma` if a comma stood before it. */
static kiln_status read_list(type_list *list, int *comma, reader *r, char end,
                             kiln_status (*read)(const kiln_type **out,
                                                 reader *r))
{
    *comma = 0;
    while (!take_mark(r, end)) {
        if (list->count > 0 && !*comma)
            return unexpected(r, end == ')' ? "',' or ')'" : "',' or '}'");
        KILN_TRY(read_into(list, r, read));
        *comma = take_mark(r, ',');
    }
    return KILN_OK;
}

static kiln_status read_tuple(const kiln_type **out, reader *r)
{
    type_list list = {0};
    int comma = 0;
    kiln_status status = read_list(&list, &comma, r, ')', read_type);

    if (status == KILN_OK && list.count == 1 && !comma)
        *out = list.items[0];
    else if (status == KILN_OK)
        status =
            kiln_type_tuple(out, r->context, list.items, list.count, r->error);
    kiln__array_dispose(&r->context->alloc, &list);
    return status;
}

/* ---- names ---- */

static int is_text(const char *name, size_t size, const char *text)
{
    return strlen(text) == size && memcmp(name, text, size) == 0;
}

static const kiln_type *find_scalar(const reader *r, const char *name,
                                    size_t size)
{
    const int32_t kind = kiln__scalar_named(name, size);

    return kind != KILN_TYPE_NONE ||
                   is_text(name, size, kiln__kind_name(KILN_TYPE_NONE))
               ? kiln_type_scalar(r->context, kind)
               : NULL;
}

static kiln_status read_vector(const kiln_type **out, reader *r)
{
    const kiln_type *element = NULL;
    int64_t length = 0;

    KILN_TRY(expect(r, '{', "'{'"));
    KILN_TRY(read_type(&element, r));
    KILN_TRY(expect(r, ',', "','"));
    KILN_TRY(read_number(&length, r));
    KILN_TRY(expect(r, '}', "'}'"));
    if (length < 1 || length > UINT32_MAX)
        return unexpected(r, "a vector's length");
    return kiln_type_vector(out, r->context, element, (uint32_t)length,
                            r->error);
}

static kiln_status read_static(const kiln_type **out, reader *r)
{
    int64_t value = 0;

    KILN_TRY(expect(r, '{', "'{'"));
    KILN_TRY(read_number(&value, r));
    KILN_TRY(expect(r, '}', "'}'"));
    return kiln_type_static(out, r->context, value, r->error);
}

static kiln_status read_type_of_type(const kiln_type **out, reader *r)
{
    const kiln_type *of = NULL;

    KILN_TRY(expect(r, '{', "'{'"));
    KILN_TRY(read_type(&of, r));
    KILN_TRY(expect(r, '}', "'}'"));
    return kiln__type_type(out, r->context, of, r->error);
}

/* A function's name may be an operator, so it ends at the parenthesis. */
static kiln_status read_typeof(const kiln_type **out, reader *r)
{
    const kiln_function *function = NULL;
    const char *end;
    char *name;
    kiln_status status;

    KILN_TRY(expect(r, '(', "'('"));
    skip_space(r);
    end = r->at + strcspn(r->at, " \t)");
    if (end == r->at)
        return unexpected(r, "a function's name");
    name =
        kiln__string_copy_n(&r->context->alloc, r->at, (size_t)(end - r->at));
    if (name == NULL)
        return kiln__error_no_memory(r->error);
    r->at = end;
    status = r->context->names->function(&function, r->context, r->package,
                                         name, r->error);
    kiln__string_free(&r->context->alloc, name);
    KILN_TRY(status);
    KILN_TRY(expect(r, ')', "')'"));
    return kiln_type_function(out, r->context, function, r->error);
}

static kiln_status find_named(const kiln_type **out, reader *r,
                              const char *name, size_t size,
                              const type_list *parameters)
{
    kiln_status status = KILN_ENOTFOUND;

    if (r->package != NULL || memchr(name, '.', size))
        status = r->context->names->type(
            out, r->context,
            &(kiln__type_name){.package = r->package,
                               .text = name,
                               .size = size,
                               .parameters = parameters->items,
                               .parameter_count = parameters->count,
                               .world = r->world},
            r->error);
    if (status != KILN_ENOTFOUND)
        return status;
    *out = parameters->count == 0
               ? kiln__type_foreign_find(r->context, name, size)
               : NULL;
    if (*out != NULL)
        return KILN_OK;
    return kiln__error_set(
        r->error, KILN_EINVAL, "there is no type '%.*s'%s", (int)size, name,
        r->package != NULL ? "" : " among the built-in ones");
}

static kiln_status read_named(const kiln_type **out, reader *r,
                              const char *name, size_t size)
{
    type_list parameters = {0};
    int comma = 0;
    kiln_status status = KILN_OK;

    if (take_mark(r, '{'))
        status = read_list(&parameters, &comma, r, '}', read_part);
    if (status == KILN_OK)
        status = find_named(out, r, name, size, &parameters);
    kiln__array_dispose(&r->context->alloc, &parameters);
    return status;
}

static kiln_status read_name(const kiln_type **out, reader *r)
{
    const char *name = r->at;
    size_t size;

    while (kiln__is_word(*r->at) ||
           (*r->at == '.' && r->at > name && kiln__is_word(r->at[1])))
        r->at++;
    size = (size_t)(r->at - name);
    if (size == 0 || kiln__is_digit(*name))
        return unexpected(r, "a type");
    if (is_text(name, size, "Vec"))
        return read_vector(out, r);
    if (is_text(name, size, "Static"))
        return read_static(out, r);
    if (is_text(name, size, "Type"))
        return read_type_of_type(out, r);
    if (is_text(name, size, "typeof"))
        return read_typeof(out, r);
    *out = find_scalar(r, name, size);
    return *out != NULL ? KILN_OK : read_named(out, r, name, size);
}

/* ---- types ---- */

static kiln_status read_array(const kiln_type **out, reader *r)
{
    static const char word[] = "strided";
    const size_t size = sizeof word - 1;
    uint32_t rank = 0;
    int strided = 0;

    skip_space(r);
    if (strncmp(r->at, word, size) == 0 && !kiln__is_word(r->at[size])) {
        strided = 1;
        r->at += size;
    }
    do {
        KILN_TRY(expect(r, ':', "':'"));
        rank++;
    } while (take_mark(r, ','));
    KILN_TRY(expect(r, ']', "',' or ']'"));
    return kiln_type_array(out, r->context, *out, rank, strided, r->error);
}

static kiln_status read_type(const kiln_type **out, reader *r)
{
    kiln_status status;

    if (kiln__stack_is_low())
        return kiln__stack_error(r->error);
    if (++r->depth > KILN__TYPE_DEPTH_MAX)
        return unexpected(r, "less nesting");
    status = take_mark(r, '(') ? read_tuple(out, r) : read_name(out, r);
    while (status == KILN_OK && take_mark(r, '['))
        status = read_array(out, r);
    r->depth--;
    return status;
}

static kiln_status read_whole(const kiln_type **out, reader *r)
{
    KILN_TRY(read_type(out, r));
    skip_space(r);
    return *r->at ? unexpected(r, "the end") : KILN_OK;
}

kiln_status kiln_type_parse(const kiln_type **out, kiln_context *context,
                            kiln_package *package, const char *text,
                            kiln_error **error)
{
    KILN_REQUIRE(context != NULL, error);
    kiln__stack_enter(context);
    return kiln__type_parse_at(out, context, package, text, 0, error);
}

kiln_status kiln__type_parse_at(const kiln_type **out, kiln_context *context,
                                kiln_package *package, const char *text,
                                uint64_t world, kiln_error **error)
{
    kiln_error *reason = NULL;
    const kiln_type *type = NULL;
    reader r = {.context = context,
                .package = package,
                .text = text,
                .at = text,
                .world = world,
                .error = &reason};
    kiln_status status;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(text != NULL, error);
    if (strlen(text) > KILN__TYPE_TEXT_MAX)
        return kiln__error_set(error, KILN_EINVAL,
                               "the type's text is longer than %zu bytes",
                               KILN__TYPE_TEXT_MAX);
    status = read_whole(&type, &r);
    if (status != KILN_OK && !kiln__is_shortage(status)) {
        /* A foreign type's name may have any form. */
        type = kiln__type_foreign_find(context, text, strlen(text));
        if (type != NULL)
            status = KILN_OK;
    }
    if (status == KILN_OK)
        *out = type;
    if (status != KILN_OK && error != NULL)
        *error = reason;
    else
        kiln_error_free(reason);
    return status;
}
