/* npy.c - reads and writes .npy files. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/scalars.h"
#include "base/data/endian.h"
#include "base/system/reason.h"

/*
 * A file has: "\x93NUMPY"; two bytes of version; the header's length (two bytes
 * in version 1, four in later ones, little-endian); the header; the elements.
 * The header is a dictionary in Python's notation with the keys descr,
 * fortran_order and shape. It ends in a newline.
 */

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

#define MAGIC_SIZE 8     /* with the two bytes of version */
#define HEADER_MAX 65536 /* a longer header is not believed */
#define HEADER_ALIGNMENT 64

size_t npy_element_size(int32_t kind)
{
    return kiln__kind_bytes(kind);
}

/* ---- the header ---- */

typedef struct header {
    int32_t kind; /* of the elements */
    int is_fortran;
    uint32_t rank;
    int64_t shape[KILN_RANK_MAX]; /* as the file has it */
    int has_descr, has_order, has_shape;
} header;

/* What is being read, and how far. */
typedef struct reader {
    const char *at; /* the text ends in a NUL */
    const char *path;
    char *message;
} reader;

static int say_why(const reader *r, const char *what)
{
    (void)snprintf(r->message, NPY_MESSAGE_SIZE, "%s: %s", r->path, what);
    return 0;
}

static void skip_blanks(reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

static int accept(reader *r, char expected)
{
    skip_blanks(r);
    if (*r->at != expected)
        return 0;
    r->at++;
    return 1;
}

/* Reads 'text' or "text". A text longer than `capacity` is none that this file
   knows. */
static int read_string(reader *r, char *out, size_t capacity)
{
    const char *end;
    char quote;

    skip_blanks(r);
    quote = *r->at;
    if (quote != '\'' && quote != '"')
        return 0;
    end = strchr(r->at + 1, quote);
    if (end == NULL || (size_t)(end - r->at - 1) >= capacity)
        return 0;
    memcpy(out, r->at + 1, (size_t)(end - r->at - 1));
    out[end - r->at - 1] = '\0';
    r->at = end + 1;
    return 1;
}

static int read_descr(reader *r, header *out)
{
    char text[16];

    if (!read_string(r, text, sizeof text))
        return say_why(r, "the element type is not a plain one");
    if (text[0] == '>')
        return say_why(r, "big-endian elements are not supported");
    if (strchr("<|=", text[0]) == NULL || text[0] == '\0')
        return say_why(r, "unknown element type");
    for (int32_t kind = 0; kind < KILN_TYPE_KIND_COUNT; kind++)
        if (kiln__kind_is_scalar(kind) &&
            strcmp(kiln__scalar_of(kind)->npy, text + 1) == 0)
            out->kind = kind;
    if (out->kind == KILN_TYPE_NONE)
        return say_why(r, "elements are not bool, integers of 1 to 8 bytes, "
                          "floats of 2, 4 or 8, or bf16 (V2)");
    out->has_descr = 1;
    return 1;
}

static int read_order(reader *r, header *out)
{
    skip_blanks(r);
    if (strncmp(r->at, "True", 4) == 0) {
        out->is_fortran = 1;
        r->at += 4;
    } else if (strncmp(r->at, "False", 5) == 0) {
        r->at += 5;
    } else {
        return say_why(r, "fortran_order is neither True nor False");
    }
    out->has_order = 1;
    return 1;
}

static int read_shape(reader *r, header *out)
{
    if (!accept(r, '('))
        return say_why(r, "the shape is not a tuple");
    while (!accept(r, ')')) {
        char *end;
        long long size;

        skip_blanks(r);
        if (*r->at < '0' || *r->at > '9')
            return say_why(r, "the shape holds something that is no size");
        errno = 0;
        size = strtoll(r->at, &end, 10);
        if (errno != 0)
            return say_why(r, "a size is out of range");
        if (out->rank == KILN_RANK_MAX)
            return say_why(r, "the array has more than 4 dimensions");
        out->shape[out->rank++] = size;
        r->at = end;
        if (!accept(r, ',') && *r->at != ')')
            return say_why(r, "the shape is not a tuple of sizes");
    }
    out->has_shape = 1;
    return 1;
}

static int read_entry(reader *r, header *out)
{
    char key[32];

    if (!read_string(r, key, sizeof key) || !accept(r, ':'))
        return say_why(r, "the header is not a dictionary");
    if (strcmp(key, "descr") == 0 && !out->has_descr)
        return read_descr(r, out);
    if (strcmp(key, "fortran_order") == 0 && !out->has_order)
        return read_order(r, out);
    if (strcmp(key, "shape") == 0 && !out->has_shape)
        return read_shape(r, out);
    return say_why(r, "the header has an unknown or repeated key");
}

static int read_header(reader *r, header *out)
{
    if (!accept(r, '{'))
        return say_why(r, "the header is not a dictionary");
    while (!accept(r, '}')) {
        if (!read_entry(r, out))
            return 0;
        if (!accept(r, ',') && *r->at != '}')
            return say_why(r, "the header is not a dictionary");
    }
    if (!out->has_descr || !out->has_order || !out->has_shape)
        return say_why(r, "the header lacks descr, fortran_order or shape");
    if (out->rank == 0)
        return say_why(r, "the array has no dimension: pass its value instead");
    return 1;
}

/* ---- reading ---- */

static int take_shape(npy_array *out, const header *from, const reader *r)
{
    int64_t size = kiln__kind_bytes(from->kind);
    int is_empty = 0;

    out->kind = from->kind;
    out->rank = from->rank;
    for (uint32_t i = 0; i < from->rank; i++) {
        const uint32_t to = from->is_fortran ? i : from->rank - 1 - i;

        out->sizes[to] = from->shape[i];
        is_empty |= from->shape[i] == 0;
    }
    for (uint32_t i = 0; i < from->rank && !is_empty; i++)
        if (__builtin_mul_overflow(size, from->shape[i], &size))
            return say_why(r, "the array is too large");
    out->size = is_empty ? 0 : (size_t)size;
    return 1;
}

/* Reads the header's text, and ends it with a NUL. */
static char *read_header_text(FILE *file, const reader *r)
{
    unsigned char head[MAGIC_SIZE], length[4] = {0};
    size_t size;
    char *text;

    if (fread(head, 1, sizeof head, file) != sizeof head ||
        memcmp(head, magic, sizeof magic) != 0) {
        (void)say_why(r, "not a .npy file");
        return NULL;
    }
    if (head[6] < 1 || head[6] > 3) {
        (void)say_why(r, "a .npy file of an unknown version");
        return NULL;
    }
    if (fread(length, 1, head[6] == 1 ? 2 : 4, file) !=
        (head[6] == 1 ? 2u : 4u)) {
        (void)say_why(r, "the file ends in its header");
        return NULL;
    }
    size = kiln__le32_read(length);
    if (size > HEADER_MAX) {
        (void)say_why(r, "the header is too long to be one");
        return NULL;
    }
    text = calloc(size + 1, 1);
    if (text != NULL && fread(text, 1, size, file) == size)
        return text;
    (void)say_why(r, text == NULL ? "out of memory"
                                  : "the file ends in its header");
    free(text);
    return NULL;
}

/* The file's size is compared first, since a header may claim anything. */
static int read_data(npy_array *out, FILE *file, const reader *r)
{
    const long start = ftell(file);
    long end;

    if (start < 0 || fseek(file, 0, SEEK_END) != 0)
        return say_why(r, "cannot find out its size");
    end = ftell(file);
    if (end < start || fseek(file, start, SEEK_SET) != 0)
        return say_why(r, "cannot find out its size");
    if ((size_t)(end - start) < out->size)
        return say_why(r, "the file is shorter than its header says");
    if ((size_t)(end - start) > out->size)
        return say_why(r, "the file is longer than its header says");
    out->data = malloc(out->size > 0 ? out->size : 1);
    if (out->data == NULL)
        return say_why(r, "out of memory");
    if (fread(out->data, 1, out->size, file) != out->size) {
        free(out->data);
        out->data = NULL;
        return say_why(r, "cannot be read");
    }
    return 1;
}

static int read_file(npy_array *out, FILE *file, reader *r)
{
    header found = {0};
    char *text = read_header_text(file, r);
    int fine;

    if (text == NULL)
        return 0;
    r->at = text;
    fine = read_header(r, &found) && take_shape(out, &found, r) &&
           read_data(out, file, r);
    free(text);
    return fine;
}

/* Returns NULL, or why the descriptor cannot be read as a file. */
static const char *refusal(int descriptor)
{
    struct stat status;

    if (fstat(descriptor, &status) != 0)
        return kiln__reason_text(errno);
    if (S_ISDIR(status.st_mode))
        return kiln__reason_text(EISDIR);
    return S_ISREG(status.st_mode) ? NULL : "it is no regular file";
}

int npy_read(npy_array *out, const char *path, char message[NPY_MESSAGE_SIZE])
{
    reader r = {.path = path, .message = message};
    /* O_NONBLOCK: a pipe without a writer is opened at once, and then
       refused. */
    const int descriptor =
        open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    const char *wrong =
        descriptor < 0 ? kiln__reason_text(errno) : refusal(descriptor);
    FILE *file = wrong == NULL ? fdopen(descriptor, "rb") : NULL;
    int fine;

    memset(out, 0, sizeof *out);
    if (file == NULL) {
        fine = say_why(&r, wrong != NULL ? wrong : kiln__reason_text(errno));
        if (descriptor >= 0)
            (void)close(descriptor);
        return fine;
    }
    fine = read_file(out, file, &r);
    (void)fclose(file);
    return fine;
}

/* ---- writing ---- */

/* Everything in front of the elements, padded so that they are aligned. */
static size_t format_head(char *out, size_t capacity, const npy_array *array)
{
    char text[256];
    int size = snprintf(text, sizeof text,
                        "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                        kiln__kind_bytes(array->kind) == 1 ? '|' : '<',
                        kiln__scalar_of(array->kind)->npy);
    size_t used = (size_t)size, total;

    for (uint32_t i = array->rank; i-- > 0;)
        used += (size_t)snprintf(text + used, sizeof text - used, "%lld,%s",
                                 (long long)array->sizes[i], i > 0 ? " " : "");
    used += (size_t)snprintf(text + used, sizeof text - used, "), }");
    total = MAGIC_SIZE + 2 + used + 1;
    total =
        (total + HEADER_ALIGNMENT - 1) / HEADER_ALIGNMENT * HEADER_ALIGNMENT;
    if (total > capacity)
        return 0;
    memset(out, ' ', total);
    memcpy(out, magic, sizeof magic);
    out[6] = 1;
    out[7] = 0;
    kiln__le16_write(out + 8, (uint16_t)(total - MAGIC_SIZE - 2));
    memcpy(out + MAGIC_SIZE + 2, text, used);
    out[total - 1] = '\n';
    return total;
}

int npy_write(const npy_array *array, const char *path,
              char message[NPY_MESSAGE_SIZE])
{
    const reader r = {.path = path, .message = message};
    char head[512];
    size_t size;
    FILE *file;
    int fine;

    if (!kiln__kind_is_scalar(array->kind))
        return say_why(&r, "a .npy file cannot hold elements of this type");
    size = format_head(head, sizeof head, array);
    file = fopen(path, "wb");
    if (file == NULL)
        return say_why(&r, kiln__reason_text(errno));
    fine = fwrite(head, 1, size, file) == size &&
           fwrite(array->data, 1, array->size, file) == array->size;
    fine &= fclose(file) == 0;
    return fine ? 1 : say_why(&r, "cannot be written");
}
