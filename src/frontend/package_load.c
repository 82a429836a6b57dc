/* package_load.c - packages from files, and the files of what they import. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "report.h"
#include "runtime_sources.h"
#include "tables.h"

/*
 * An import takes the package that is there; else the one of a file, beside
 * the importing one or on the path; else one that is embedded in the library.
 * Embedded ones import nothing. One is shown when it is complete; two threads
 * that bring it in at once define the same text twice, which is once.
 */

kiln_status kiln__package_parse(kiln__source **out, kiln__language *language,
                                const char *file, const char *text, size_t size,
                                kiln_error **error)
{
    const uint64_t start = kiln__clock_ns();
    const kiln_status status =
        kiln__source_parse(out, language->alloc, file, text, size, error);

    kiln__stage_ended(language->context, KILN_STAGE_PARSE, file,
                      kiln__clock_ns() - start);
    return status;
}

#define FILE_SIZE_MAX ((size_t)16 << 20)
#define FILE_SUFFIX ".kiln"
#define LOADING_DEPTH_MAX 64

/* A file on its way into a package. */
typedef struct file {
    const char *path;
    const kiln__loading *importer;
    kiln_change_report *report; /* or NULL */
} file;

static kiln_status load(kiln_package **out, kiln__language *language,
                        const file *f, kiln_error **error);

/* The folder of a path, with its slash; empty for the current one. */
static size_t folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* Tries one folder; KILN_ENOTFOUND when the file is not there. */
static kiln_status load_from(kiln__language *language, const char *folder,
                             size_t size, const char *name,
                             const kiln__loading *importer, kiln_error **error)
{
    const char *slash = size == 0 || folder[size - 1] == '/' ? "" : "/";
    kiln_status status = KILN_ENOTFOUND;
    kiln_package *package;
    kiln__arena arena;
    file f = {.importer = importer};

    kiln__arena_init(&arena, language->alloc);
    f.path = kiln__arena_format(&arena, "%.*s%s%s" FILE_SUFFIX, (int)size,
                                folder, slash, name);
    if (f.path == NULL)
        status = kiln__error_no_memory(error);
    else if (access(f.path, F_OK) == 0)
        status = load(&package, language, &f, error);
    kiln__arena_dispose(&arena);
    return status;
}

/* ---- embedded ones ---- */

static const kiln__runtime_source *find_embedded(const char *name)
{
    const kiln__runtime_source *at = kiln__runtime_packages;
    const size_t size = strlen(name);

    while (at->name != NULL && (strncmp(at->name, name, size) != 0 ||
                                strcmp(at->name + size, FILE_SUFFIX) != 0))
        at++;
    return at->name == NULL ? NULL : at;
}

/* KILN_ENOTFOUND when there is none of that name. */
static kiln_status load_embedded(kiln__language *language, const char *name,
                                 kiln_error **error)
{
    const kiln__runtime_source *text = find_embedded(name);
    kiln__source *source = NULL;
    kiln_package *package;

    if (text == NULL)
        return KILN_ENOTFOUND;
    KILN_TRY(kiln__package_parse(&source, language, text->name, text->text,
                                 text->size, error));
    if (kiln__package_prepare(&package, language, name) != KILN_OK) {
        kiln__source_free(source);
        return kiln__error_no_memory(error);
    }
    KILN_TRY(kiln__define(package, source, NULL, NULL, error));
    kiln__package_show(package, 1);
    return KILN_OK;
}

/* ---- imports ---- */

/* Without a path, files are not looked for. */
static kiln_status load_import(kiln__language *language, const char *path,
                               const char *name, const kiln__loading *importer,
                               kiln_error **error)
{
    const char *folders = language->context->import_path;
    kiln_status status;

    if (path == NULL)
        return load_embedded(language, name, error);
    status =
        load_from(language, path, folder_size(path), name, importer, error);
    while (status == KILN_ENOTFOUND && folders != NULL && *folders != '\0') {
        const size_t size = strcspn(folders, ":");

        if (size > 0)
            status = load_from(language, folders, size, name, importer, error);
        folders += size + (folders[size] == ':');
    }
    return status == KILN_ENOTFOUND ? load_embedded(language, name, error)
                                    : status;
}

/* What is not found anywhere is diagnosed where the import stands. */
static kiln_status load_imports(kiln__language *language, const char *path,
                                const kiln__source *source,
                                const kiln__loading *importer,
                                kiln_error **error)
{
    for (size_t i = 0; i < source->definition_count; i++) {
        const kiln__definition *definition = &source->definitions[i];
        kiln_package *package;
        kiln_status status;

        if (definition->kind != KILN__DEFINE_IMPORT ||
            kiln_package_find(&package, language->context, definition->name) ==
                KILN_OK)
            continue;
        status = load_import(language, path, definition->name, importer, error);
        if (status != KILN_OK && status != KILN_ENOTFOUND)
            return status;
    }
    return KILN_OK;
}

kiln_status kiln__package_load_embedded(kiln__language *language,
                                        const kiln__source *source,
                                        kiln_error **error)
{
    return load_imports(language, NULL, source, NULL, error);
}

/* ---- files ---- */

static kiln_status load_source(kiln_package *package, const file *f,
                               kiln__source *source, kiln_error **error)
{
    const kiln__loading loading = {package, f->importer};
    const kiln__loading *importer = f->importer;
    kiln_status status;
    int depth = 0;

    for (; importer != NULL; importer = importer->importer)
        depth++;
    status =
        depth < LOADING_DEPTH_MAX
            ? load_imports(package->language, f->path, source, &loading, error)
            : kiln__error_set(error, KILN_ECOMPILE,
                              "%s: imports are nested too deeply", f->path);
    if (status != KILN_OK) {
        kiln__source_free(source);
        return status;
    }
    return kiln__define(package, source, &loading, f->report, error);
}

static kiln_status read_source(kiln__source **out, kiln__language *language,
                               const char *path, kiln_error **error)
{
    kiln_blob text = {0};
    kiln_status status;

    KILN_TRY(
        kiln__file_read(&text, language->alloc, path, FILE_SIZE_MAX, error));
    status =
        kiln__package_parse(out, language, path, text.data, text.size, error);
    kiln_blob_release(&text);
    return status;
}

/* A package that was made for a file that cannot be defined goes again. */
static kiln_status load_named(kiln_package **out, kiln__language *language,
                              const char *name, const file *f,
                              kiln__source *source, kiln_error **error)
{
    kiln_package *package = NULL;
    const int is_new =
        kiln_package_find(&package, language->context, name) != KILN_OK;
    kiln_status status;

    if (is_new && kiln__package_make(&package, language, name) != KILN_OK) {
        kiln__source_free(source);
        return kiln__error_no_memory(error);
    }
    status = load_source(package, f, source, error);
    if (status != KILN_OK && is_new)
        kiln__package_show(package, 0);
    if (status == KILN_OK)
        *out = package;
    return status;
}

static kiln_status load(kiln_package **out, kiln__language *language,
                        const file *f, kiln_error **error)
{
    const char *base = f->path + folder_size(f->path);
    const char *dot = strrchr(base, '.');
    const size_t size = dot == NULL ? strlen(base) : (size_t)(dot - base);
    kiln__source *source = NULL;
    kiln_status status;
    char *name;

    KILN_TRY(kiln__package_check_name(base, size, error));
    KILN_TRY(read_source(&source, language, f->path, error));
    name = kiln__string_copy_n(language->alloc, base, size);
    if (name == NULL) {
        kiln__source_free(source);
        return kiln__error_no_memory(error);
    }
    status = load_named(out, language, name, f, source, error);
    kiln__string_free(language->alloc, name);
    return status;
}

kiln_status kiln_package_load(kiln_package **out, kiln_context *context,
                              const char *path, kiln_change_report *report,
                              kiln_error **error)
{
    const file f = {path, NULL, report};
    kiln__language *language;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_REQUIRE(path != NULL, error);
    KILN_TRY(kiln__report_check(report, error));
    language = kiln__language_of(context);
    KILN_TRY(kiln__language_ready(language, error));
    return load(out, language, &f, error);
}
