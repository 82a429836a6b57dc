/* kiln_args.c - reads the arguments of a kernel from the command line. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/scalars.h"
#include "kiln/sys/frontend.h"
#include "kiln_record.h"
#include "kiln_tool.h"
#include "kiln_values.h"
#include "npy.h"

static int bad(const char *text, const char *what)
{
    return tool_complain(TOOL_USAGE, "argument \"%s\": %s", text, what);
}

/* ---- types ---- */

#define FUNCTION "fn:"
#define LOCAL "local:"

static int is_function(const char *text)
{
    return strncmp(text, FUNCTION, sizeof FUNCTION - 1) == 0;
}

kiln_status tool_type_find(const kiln_type **out, kiln_context *context,
                           kiln_package *package, const char *text,
                           kiln_error **error)
{
    const kiln_function *function;
    kiln_status status;

    if (!is_function(text))
        return kiln_type_parse(out, context, package, text, error);
    if (package == NULL)
        return kiln_error_set(error, KILN_EINVAL,
                              "%s: kernels of OpenCL C take no functions",
                              text);
    status = kiln_package_function(&function, package,
                                   text + sizeof FUNCTION - 1, error);
    return status == KILN_OK ? kiln_type_function(out, context, function, error)
                             : status;
}

int tool_type_read(const kiln_type **out, kiln_context *context,
                   kiln_package *package, const char *text)
{
    kiln_error *error = NULL;

    if (tool_type_find(out, context, package, text, &error) == KILN_OK)
        return TOOL_OK;
    (void)tool_fail(error);
    return is_function(text) ? TOOL_FAILED : TOOL_USAGE;
}

/* ---- values ---- */

static int read_value(tool_argument *out, const char *text, const char *value,
                      int32_t kind)
{
    const char *fault = value_parse(out->scalar, kind, value);

    return fault == NULL ? TOOL_OK : bad(text, fault);
}

/* Reads "2.5:f32". */
static int read_typed_value(tool_argument *out, kiln_context *context,
                            kiln_package *package, const char *text,
                            const char *colon)
{
    char value[128];
    int status;

    if ((size_t)(colon - text) >= sizeof value)
        return bad(text, "the value is too long");
    memcpy(value, text, (size_t)(colon - text));
    value[colon - text] = '\0';
    status = tool_type_read(&out->type, context, package, colon + 1);
    if (status != TOOL_OK)
        return status;
    if (!kiln__kind_is_scalar(kiln_type_kind(out->type)))
        return bad(text, "a value is a bool, an integer or a float");
    return read_value(out, text, value, kiln_type_kind(out->type));
}

/* Reads "true", "3" or "2.5", with the type that the language gives it. */
static int read_plain_value(tool_argument *out, const kiln_context *context,
                            const char *text)
{
    int32_t kind = KILN_TYPE_F64;

    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        kind = KILN_TYPE_BOOL;
    else if (text[strspn(text, "+-0123456789")] == '\0')
        kind = KILN_TYPE_I64;
    out->type = kiln_type_scalar(context, kind);
    return read_value(out, text, text, kind);
}

/* Reads "Static{3}", a value that is its type. */
static int read_static(tool_argument *out, kiln_context *context,
                       kiln_package *package, const char *text)
{
    const int status = tool_type_read(&out->type, context, package, text);

    if (status == TOOL_OK && kiln_type_size(out->type) != 0)
        return bad(text, "it has no value");
    return status;
}

static int has_parts(const kiln_type *type)
{
    return kiln_type_field_count(type) > 0 ||
           kiln_type_kind(type) == KILN_TYPE_TUPLE;
}

/* Reads values in parentheses as one of the type. */
static int read_parts(tool_argument *out, const char *text, const char *values,
                      size_t length)
{
    const size_t size = (size_t)kiln_type_size(out->type);
    const char *wrong;

    if (!has_parts(out->type))
        return bad(text, "values in parentheses are those of a struct, tuple "
                         "or vector");
    if (posix_memalign(&out->record, 64, size > 0 ? size : 1) != 0)
        return tool_complain(TOOL_FAILED, "out of memory");
    memset(out->record, 0, size);
    wrong = record_parse(out->record, out->type, values, length);
    return wrong == NULL ? TOOL_OK : bad(text, wrong);
}

/* Returns the end of the parentheses that the text begins with, or NULL. */
static const char *after_parentheses(const char *text)
{
    size_t depth = 0;

    do {
        depth += *text == '(';
        depth -= *text == ')';
    } while (*text++ != '\0' && depth > 0);
    return depth > 0 ? NULL : text;
}

/* Reads "(1, 2.5):P", or "(1, 2.5)" as the language types it. */
static int read_record(tool_argument *out, kiln_context *context,
                       kiln_package *package, const char *text)
{
    const char *end = after_parentheses(text);
    char name[256];
    int status;

    if (end == NULL || (*end != ':' && *end != '\0'))
        return bad(text, "a struct, tuple or vector is VALUES:TYPE, as in "
                         "(1, 2.5):(i64, f32)");
    if (*end == '\0' &&
        !record_type(name, sizeof name, text, (size_t)(end - text)))
        return bad(text, "not a tuple of numbers; write VALUES:TYPE, as in "
                         "(1, 2.5):(i64, f32)");
    status = tool_type_read(&out->type, context, package,
                            *end == '\0' ? name : end + 1);
    return status == TOOL_OK ? read_parts(out, text, text, (size_t)(end - text))
                             : status;
}

/* Reads "P(1, 2.5)" and "Vec{f32, 2}(1, 2.5)". */
static int read_made(tool_argument *out, kiln_context *context,
                     kiln_package *package, const char *text)
{
    const char *values = strchr(text, '(');
    const char *end = after_parentheses(values);
    char name[256];
    int status;

    if (end == NULL || *end != '\0')
        return bad(text, "a value that is made is TYPE(VALUES), as in "
                         "Vec{f32, 2}(1, 2.5)");
    if ((size_t)(values - text) >= sizeof name)
        return bad(text, "the type is too long");
    memcpy(name, text, (size_t)(values - text));
    name[values - text] = '\0';
    status = tool_type_read(&out->type, context, package, name);
    return status == TOOL_OK
               ? read_parts(out, text, values, (size_t)(end - values))
               : status;
}

/* Reads the size in "local:4096". Its value is that number. */
static int read_local(tool_argument *out, const kiln_context *context,
                      const char *text, const char *size)
{
    out->type = kiln_type_scalar(context, KILN_TYPE_U64);
    if (value_parse(out->scalar, KILN_TYPE_U64, size) != NULL)
        return bad(text, "local wants a number of bytes: local:4096");
    memcpy(&out->local_size, out->scalar, sizeof out->local_size);
    return TOOL_OK;
}

/* ---- arrays ---- */

static int set_array_type(tool_argument *out, kiln_context *context,
                          const kiln_type *element, uint32_t rank)
{
    kiln_error *error = NULL;

    if (kiln_type_array(&out->type, context, element, rank, 0, &error) !=
        KILN_OK)
        return tool_fail(error);
    return TOOL_OK;
}

/* Reads sizes such as "16,16]", and moves after the bracket. Returns NULL, or
   what is wrong. */
static const char *read_sizes(tool_argument *out, const char **text,
                              uint32_t *rank)
{
    static const char form[] = "an array has 1 to 4 sizes: f32[16,16]=zeros";

    for (*rank = 0; *rank < KILN_RANK_MAX;) {
        char *end;

        if (**text < '0' || **text > '9')
            return form;
        errno = 0;
        out->array.sizes[(*rank)++] = strtoll(*text, &end, 10);
        if (errno != 0)
            return "a size is at most 9223372036854775807";
        *text = end + 1;
        if (*end == ']')
            return NULL;
        if (*end != ',')
            return form;
    }
    return form;
}

static int allocate(tool_argument *out, const char *text, uint64_t element)
{
    uint64_t size = element;

    for (uint32_t i = 0; i < kiln_type_rank(out->type); i++)
        if (__builtin_mul_overflow(size, (uint64_t)out->array.sizes[i],
                                   &size) ||
            size > INT64_MAX)
            return bad(text, "an array has at most 9223372036854775807 bytes");
    out->size = size;
    out->bytes = calloc(size > 0 ? (size_t)size : 1, 1);
    return out->bytes != NULL
               ? TOOL_OK
               : tool_complain(TOOL_FAILED,
                               "argument \"%s\": out of memory for its %" PRIu64
                               " bytes",
                               text, size);
}

static void fill_iota(const tool_argument *out, int32_t kind, size_t element)
{
    for (uint64_t i = 0; i < out->size / element; i++)
        value_from_integer((char *)out->bytes + i * element, kind, i);
}

static void fill_constant(const tool_argument *out, int32_t kind,
                          size_t element, uint64_t number)
{
    for (uint64_t i = 0; i < out->size / element; i++)
        value_from_integer((char *)out->bytes + i * element, kind, number);
}

static int fill_random(const tool_argument *out, int32_t kind, size_t element,
                       const char *text, const char *seed)
{
    uint64_t state;

    if (value_parse(&state, KILN_TYPE_U64, seed) != NULL)
        return bad(text, "random wants a seed: random:1");
    for (uint64_t i = 0; i < out->size / element; i++)
        value_random((char *)out->bytes + i * element, kind, &state);
    return TOOL_OK;
}

static int fill_buffer(const tool_argument *out, const char *text,
                       const char *how)
{
    static const char random[] = "random:";
    const kiln_type *type = kiln_type_element(out->type);
    const int32_t kind = kiln_type_kind(type);
    const size_t element = (size_t)kiln_type_size(type);

    if (*how == '\0' || strcmp(how, "=zeros") == 0)
        return TOOL_OK;
    if (*how++ != '=')
        return bad(text, "an array is TYPE[SIZE,...]=HOW");
    if (strcmp(how, "ones") == 0)
        fill_constant(out, kind, element, 1);
    else if (strcmp(how, "iota") == 0)
        fill_iota(out, kind, element);
    else if (strncmp(how, random, sizeof random - 1) == 0)
        return fill_random(out, kind, element, text, how + sizeof random - 1);
    else
        return bad(text, "an array starts as zeros, ones, iota or random:SEED");
    return TOOL_OK;
}

/* Reads "f32[16,16]=iota". */
static int read_array(tool_argument *out, kiln_context *context,
                      const char *text, const char *bracket)
{
    const kiln_type *element;
    kiln_error *error = NULL;
    char name[16];
    const char *rest = bracket + 1;
    const char *wrong;
    uint32_t rank;
    int status;

    if ((size_t)(bracket - text) >= sizeof name)
        return bad(text, "its elements are not scalars");
    memcpy(name, text, (size_t)(bracket - text));
    name[bracket - text] = '\0';
    if (kiln_type_parse(&element, context, NULL, name, &error) != KILN_OK) {
        (void)tool_fail(error);
        return TOOL_USAGE;
    }
    if (!kiln__kind_is_scalar(kiln_type_kind(element)))
        return bad(text, "its elements are not scalars");
    wrong = read_sizes(out, &rest, &rank);
    if (wrong != NULL)
        return bad(text, wrong);
    status = set_array_type(out, context, element, rank);
    if (status == TOOL_OK)
        status = allocate(out, text, kiln_type_size(element));
    return status == TOOL_OK ? fill_buffer(out, text, rest) : status;
}

/* Reads "@file.npy". */
static int read_npy(tool_argument *out, kiln_context *context, const char *path)
{
    char message[NPY_MESSAGE_SIZE];
    npy_array array;

    if (!npy_read(&array, path, message))
        return tool_complain(TOOL_FAILED, "%s", message);
    out->bytes = array.data;
    out->size = array.size;
    memcpy(out->array.sizes, array.sizes, sizeof out->array.sizes);
    return set_array_type(out, context, kiln_type_scalar(context, array.kind),
                          array.rank);
}

int tool_argument_read(tool_argument *out, kiln_context *context,
                       kiln_package *package, const char *text)
{
    const char *bracket = strchr(text, '[');
    const char *colon = strrchr(text, ':');

    memset(out, 0, sizeof *out);
    if (strncmp(text, LOCAL, sizeof LOCAL - 1) == 0)
        return read_local(out, context, text, text + sizeof LOCAL - 1);
    if (text[0] == '(')
        return read_record(out, context, package, text);
    if (text[0] == '@')
        return read_npy(out, context, text + 1);
    if (!is_function(text) && strchr(text, '(') != NULL)
        return read_made(out, context, package, text);
    if (is_function(text) || strchr(text, '{') != NULL)
        return read_static(out, context, package, text);
    if (bracket != NULL)
        return read_array(out, context, text, bracket);
    if (colon != NULL)
        return read_typed_value(out, context, package, text, colon);
    return read_plain_value(out, context, text);
}

/* ---- devices ---- */

kiln_status tool_argument_fill(tool_argument *argument, kiln_error **error)
{
    if (argument->buffer == NULL)
        return KILN_OK;
    return kiln_buffer_write(argument->buffer, 0, argument->bytes,
                             argument->size, error);
}

kiln_status tool_argument_send(tool_argument *argument, kiln_device *device,
                               kiln_error **error)
{
    kiln_status status;

    if (argument->bytes == NULL)
        return KILN_OK;
    status = kiln_buffer_new(&argument->buffer, device, argument->size, error);
    if (status != KILN_OK)
        return status;
    argument->array.data = kiln_buffer_address(argument->buffer);
    return tool_argument_fill(argument, error);
}

kiln_status tool_argument_fetch(tool_argument *argument, kiln_error **error)
{
    if (argument->buffer == NULL)
        return KILN_OK;
    return kiln_buffer_read(argument->buffer, 0, argument->bytes,
                            argument->size, error);
}

void tool_argument_dispose(tool_argument *argument)
{
    kiln_buffer_free(argument->buffer);
    free(argument->record);
    free(argument->bytes);
    memset(argument, 0, sizeof *argument);
}

/* ---- results ---- */

static void print_array(const tool_argument *argument)
{
    const kiln_type *type = kiln_type_element(argument->type);
    const size_t element = (size_t)kiln_type_size(type);
    const uint64_t row = (uint64_t)argument->array.sizes[0];

    for (uint64_t i = 0; i < argument->size / element; i++) {
        value_print(stdout, kiln_type_kind(type),
                    (const char *)argument->bytes + i * element);
        (void)putchar((i + 1) % row == 0 ? '\n' : ' ');
    }
}

void tool_argument_print(const tool_argument *argument)
{
    if (argument->bytes != NULL) {
        print_array(argument);
    } else if (argument->record != NULL) {
        record_print(stdout, argument->type, argument->record);
        (void)putchar('\n');
    } else if (kiln_type_size(argument->type) == 0) {
        (void)printf("%s\n", kiln_type_text(argument->type));
    } else {
        value_print(stdout, kiln_type_kind(argument->type), argument->scalar);
        (void)putchar('\n');
    }
}

int tool_argument_save(const tool_argument *argument, const char *path)
{
    char message[NPY_MESSAGE_SIZE];
    npy_array array;

    array.kind = kiln_type_kind(kiln_type_element(argument->type));
    array.rank = kiln_type_rank(argument->type);
    memcpy(array.sizes, argument->array.sizes, sizeof array.sizes);
    array.data = argument->bytes;
    array.size = (size_t)argument->size;
    if (!npy_write(&array, path, message))
        return tool_complain(TOOL_FAILED, "%s", message);
    return TOOL_OK;
}
