/* cl_fake.c - a translator of OpenCL C that reads a toy instead. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/frontend/cl_fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/data/array.h"
#include "base/digest/digest.h"
#include "base/error.h"
#include "base/system/file.h"
#include "support/harness.h"

cl_fake_counts cl_fake_counted;
const char *cl_fake_build = "fake-1";

#define MOST 16 /* kernels, files, folders */

typedef struct faking {
    const kiln__source_request *request;
    kiln__source_result *out;
    kiln__arena *arena;
    kiln__text tokens;
    kiln__source_function functions[MOST];
    kiln__text bodies[MOST];
    kiln__source_file files[MOST];
    const char *error;
} faking;

void __wrap_kiln__source_compiler(char id[KILN__BUILD_ID_TEXT_SIZE],
                                  kiln_context *context)
{
    (void)context;
    (void)snprintf(id, KILN__BUILD_ID_TEXT_SIZE, "%s", cl_fake_build);
}

/* ---- parameters ---- */

static const struct {
    const char *name;
    int32_t kind;
    uint64_t size;
    const char *type;
} scalars[] = {
    {"i8", KILN_TYPE_I8, 1, "char"},   {"u8", KILN_TYPE_U8, 1, "uchar"},
    {"i32", KILN_TYPE_I32, 4, "int"},  {"u32", KILN_TYPE_U32, 4, "uint"},
    {"i64", KILN_TYPE_I64, 8, "long"}, {"f32", KILN_TYPE_F32, 4, "float"},
};

/* Reads "f32", "f32x4", "void" or "16/8", and moves after it. */
static void read_type(kiln__source_value *out, char **word)
{
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        const size_t size = strlen(scalars[i].name);

        if (strncmp(*word, scalars[i].name, size) != 0)
            continue;
        *word += size;
        out->kind = KILN__SOURCE_SCALAR;
        out->element = scalars[i].kind;
        out->type = scalars[i].type;
        out->lanes = 1;
        if (**word == 'x') {
            out->kind = KILN__SOURCE_VECTOR;
            out->lanes = (uint32_t)strtoul(*word + 1, word, 10);
        }
        out->size = scalars[i].size * (out->lanes == 3 ? 4 : out->lanes);
        out->alignment = out->size;
        return;
    }
    if (strncmp(*word, "void", 4) == 0) {
        out->type = "void";
        *word += 4;
        return;
    }
    out->kind = KILN__SOURCE_AGGREGATE;
    out->type = "struct s";
    out->size = strtoul(*word, word, 10);
    out->alignment = **word == '/' ? strtoul(*word + 1, word, 10) : 1;
}

static void read_parameter(const faking *f, kiln__source_value *out, char *word)
{
    const int is_local = strncmp(word, "local:", 6) == 0;

    if (is_local)
        word += 6;
    read_type(out, &word);
    if (is_local || *word == '*') {
        out->kind = is_local ? KILN__SOURCE_LOCAL : KILN__SOURCE_POINTER;
        out->space = is_local ? 3 : 1;
        out->type = kiln__arena_format(f->arena, "%s *", out->type);
    }
}

static void read_kernel(faking *f, char *words)
{
    kiln__source_function *kernel = &f->functions[f->out->function_count];
    kiln__source_value *values =
        kiln__arena_allocate_array(f->arena, MOST, sizeof *values);
    char *next = NULL;
    char *word = strtok_r(words, " ", &next);

    assert_true(f->out->function_count < MOST);
    f->out->function_count++;
    kernel->name = word;
    kernel->symbol = word;
    kernel->refusal = "";
    kernel->is_kernel = 1;
    kernel->result.name = "";
    kernel->result.type = "void";
    kernel->parameters = values;
    while ((word = strtok_r(NULL, " ", &next)) != NULL) {
        kiln__source_value *value = &values[kernel->parameter_count];

        value->name =
            kiln__arena_format(f->arena, "p%zu", kernel->parameter_count++);
        read_parameter(f, value, word);
    }
}

/* ---- modules ---- */

static void write_parameter(kiln__text *out, const kiln__source_value *value)
{
    static const char *const llvm[] = {
        [KILN_TYPE_I8] = "i8",   [KILN_TYPE_U8] = "i8",
        [KILN_TYPE_I32] = "i32", [KILN_TYPE_U32] = "i32",
        [KILN_TYPE_I64] = "i64", [KILN_TYPE_F32] = "float"};

    if (value->kind == KILN__SOURCE_SCALAR)
        kiln__text_add(out, llvm[value->element]);
    else if (value->kind == KILN__SOURCE_VECTOR)
        kiln__text_format(out, "<%u x %s>", (unsigned)value->lanes,
                          llvm[value->element]);
    else if (value->kind == KILN__SOURCE_AGGREGATE)
        kiln__text_format(out, "ptr byval([%u x i8]) align %u",
                          (unsigned)value->size, (unsigned)value->alignment);
    else if (value->kind == KILN__SOURCE_POINTER)
        kiln__text_add(out, "ptr addrspace(1), i64");
    else
        kiln__text_add(out, "i64");
}

static void write_module(faking *f, size_t i)
{
    kiln__source_function *kernel = &f->functions[i];
    kiln__text text;

    kiln__text_init(&text, f->arena->alloc);
    kiln__text_format(&text, "define void @%s(", kernel->name);
    for (size_t k = 0; k < kernel->parameter_count; k++) {
        kiln__text_add(&text, k > 0 ? ", " : "");
        write_parameter(&text, &kernel->parameters[k]);
    }
    kiln__text_format(&text, ") {\n%sret void\n}\n%s",
                      f->bodies[i].size > 0 ? f->bodies[i].bytes : "",
                      "declare i64 @kiln_global_id(i32)\n"
                      "declare ptr addrspace(3) @kiln_group_memory()\n");
    assert_false(text.failed);
    kernel->bitcode = kiln__arena_copy(f->arena, text.bytes, text.size);
    kernel->bitcode_size = text.size;
    kiln__text_dispose(&text);
}

/* ---- files ---- */

static void read_text(faking *f, const char *folder, const char *text,
                      size_t size);

/* True if the file was included under another name, which is noted. */
static int is_included(const faking *f, kiln__source_file *file)
{
    struct stat info, other;

    for (size_t i = 0; i + 1 < f->out->file_count; i++) {
        if (f->files[i].found == KILN__SOURCE_MISSING ||
            stat(file->path, &info) != 0 ||
            stat(f->files[i].path, &other) != 0 ||
            info.st_dev != other.st_dev || info.st_ino != other.st_ino)
            continue;
        file->same = (uint32_t)i + 1;
        return 1;
    }
    return 0;
}

/* Looks for the file in a folder, and notes that. Each is included once. */
static int include_from(faking *f, const char *folder, const char *name)
{
    kiln__source_file *file = &f->files[f->out->file_count];
    kiln_blob blob;

    assert_true(f->out->file_count < MOST);
    f->out->file_count++;
    file->path = folder[0] == '/'
                     ? kiln__arena_format(f->arena, "%s/%s", folder, name)
                     : kiln__arena_format(f->arena, "%s/%s/%s",
                                          f->request->folder, folder, name);
    if (kiln__file_read(&blob, f->arena->alloc, file->path, 1 << 20, NULL) !=
        KILN_OK)
        return 0;
    file->found = KILN__SOURCE_READ;
    file->digest = kiln_digest_bytes(blob.data, blob.size);
    if (!is_included(f, file))
        read_text(f, folder, blob.data, blob.size);
    kiln_blob_release(&blob);
    return 1;
}

static void include(faking *f, const char *folder, char *name)
{
    name[strlen(name) - 1] = '\0'; /* a quote */
    if (include_from(f, folder, name))
        return;
    for (size_t i = 0; i < f->request->option_count; i++)
        if (strncmp(f->request->options[i], "-I", 2) == 0 &&
            include_from(f, f->request->options[i] + 2, name))
            return;
    f->error = kiln__arena_format(f->arena, "'%s' file not found", name);
}

/* ---- lines ---- */

static void read_line(faking *f, const char *folder, char *line)
{
    if (strncmp(line, "//", 2) == 0 || *line == '\0')
        return;
    if (strncmp(line, "#include \"", 10) == 0) {
        include(f, folder, line + 10);
        return;
    }
    if (strcmp(line, "file") == 0) {
        line = kiln__arena_format(f->arena, "  ; %s", f->request->name);
        f->out->names_files = 1;
    }
    kiln__text_format(&f->tokens, "%s\n", line);
    if (strncmp(line, "kernel ", 7) == 0)
        read_kernel(f, line + 7);
    else if (strncmp(line, "error ", 6) == 0)
        f->error = line + 6;
    else if (f->out->function_count > 0)
        kiln__text_format(&f->bodies[f->out->function_count - 1], "%s\n", line);
}

static void read_text(faking *f, const char *folder, const char *text,
                      size_t size)
{
    char *copy = kiln__arena_string(f->arena, text, size);

    while (copy != NULL && *copy != '\0') {
        char *end = copy + strcspn(copy, "\n");
        char *next = *end != '\0' ? end + 1 : end;

        *end = '\0';
        read_line(f, folder, copy);
        copy = next;
    }
}

static const char *folder_of(const faking *f)
{
    const char *slash = strrchr(f->request->name, '/');

    return slash == NULL
               ? f->request->folder
               : kiln__arena_string(f->arena, f->request->name,
                                    (size_t)(slash - f->request->name));
}

static kiln_status tell(const faking *f, kiln_error **error)
{
    const kiln_diagnostic diagnostic = {
        .severity = KILN_SEVERITY_ERROR,
        .code = "clang",
        .message = f->error,
        .location = {f->request->name, 1, 2, 0}};

    return kiln__error_set_diagnostics(error, KILN_ECOMPILE, f->error,
                                       &diagnostic, 1);
}

kiln_status __wrap_kiln__source_compile(kiln__source_result *out,
                                        kiln_context *context,
                                        const kiln__source_request *request,
                                        kiln_error **error)
{
    static faking f;

    *out = (kiln__source_result){0};
    /* Not the context's allocator, which may fail in a test. */
    (void)context;
    kiln__arena_init(&out->arena, &kiln__malloc);
    memset(&f, 0, sizeof f);
    f.request = request;
    f.out = out;
    f.arena = &out->arena;
    kiln__text_init(&f.tokens, &kiln__malloc);
    for (size_t i = 0; i < MOST; i++)
        kiln__text_init(&f.bodies[i], &kiln__malloc);
    cl_fake_counted.tokens += request->form == KILN__SOURCE_TOKENS;
    cl_fake_counted.modules += request->form == KILN__SOURCE_MODULES;
    for (size_t i = 0; i < request->option_count; i++)
        if (strncmp(request->options[i], "-I", 2) != 0)
            kiln__text_format(&f.tokens, "%s\n", request->options[i]);
    read_text(&f, folder_of(&f), request->text, request->size);
    for (size_t i = 0; i < out->function_count; i++)
        write_module(&f, i);
    out->functions = kiln__arena_copy(f.arena, f.functions, sizeof f.functions);
    out->files = kiln__arena_copy(f.arena, f.files, sizeof f.files);
    out->tokens = kiln_digest_bytes(f.tokens.size > 0 ? f.tokens.bytes : "",
                                    f.tokens.size);
    kiln__text_dispose(&f.tokens);
    for (size_t i = 0; i < MOST; i++)
        kiln__text_dispose(&f.bodies[i]);
    return f.error != NULL ? tell(&f, error) : KILN_OK;
}
