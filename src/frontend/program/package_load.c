/* package_load.c - loads packages from files, with the files that they
   import. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/file.h"
#include "base/system/passing.h"
#include "base/system/reason.h"
#include "base/system/stack.h"
#include "context/counters.h"
#include "context/host_ops.h"
#include "frontend/program/lazy_text.h"
#include "frontend/program/runtime_sources.h"
#include "tiers/frontends.h"

/*
 * An import finds a package in this order: one that is loaded; one from a file,
 * beside the importing file or on the path; one that is embedded in the
 * library. Embedded packages import nothing. A package becomes visible when it
 * is complete. Two threads that load it at once define the same text twice,
 * which has the effect of once.
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

/* A file that is to be loaded into a package. */
typedef struct file {
    const char *path;
    const kiln__loading *importer;
    kiln_change_report *report; /* or NULL */
} file;

static kiln_status load_package(kiln_package **out, kiln__language *language,
                                const file *f, kiln_error **error);

/* Returns the size of a path's folder with its slash; 0 for the current
   folder. */
static size_t folder_size(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* It is unknown whether the file is there. A file of that name in the next
   folder, or in the library, would be another program, so this is an error. */
static kiln_status cannot_look(const char *path, int number, kiln_error **error)
{
    return kiln__error_set(error, kiln__passing_status(number, KILN_EIO),
                           "cannot look for %s: %s", path,
                           kiln__reason_text(number));
}

/* Tries one folder. KILN_ENOTFOUND: the file is not there. */
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
        status = load_package(&package, language, &f, error);
    else if (!kiln__is_absent(errno))
        status = cannot_look(f.path, errno, error);
    kiln__arena_dispose(&arena);
    return status;
}

/* ---- embedded packages ---- */

static const kiln__runtime_source *find_embedded(const char *name)
{
    const kiln__runtime_source *at = kiln__runtime_packages;
    const size_t size = strlen(name);

    while (at->name != NULL && (strncmp(at->name, name, size) != 0 ||
                                strcmp(at->name + size, FILE_SUFFIX) != 0))
        at++;
    return at->name == NULL ? NULL : at;
}

/* KILN_ENOTFOUND: there is no embedded package of that name. */
static kiln_status load_embedded(kiln__language *language, const char *name,
                                 kiln_error **error)
{
    const kiln__runtime_source *text = find_embedded(name);
    kiln__source *source = NULL;
    kiln__offer offer = {0};
    kiln_package *package;
    int done = 0;

    if (text == NULL)
        return KILN_ENOTFOUND;
    if (kiln__package_prepare(&package, language, name) != KILN_OK)
        return kiln__error_no_memory(error);
    offer.file = text->name;
    offer.text = text->text;
    offer.size = text->size;
    KILN_TRY(kiln__package_defer(&done, package, &offer, NULL, error));
    if (!done) {
        KILN_TRY(kiln__language_ready(language, error));
        KILN_TRY(kiln__package_parse(&source, language, text->name, text->text,
                                     text->size, error));
        KILN_TRY(kiln__define(package, source, NULL, NULL, error));
    }
    kiln__package_show(package, 1);
    return KILN_OK;
}

/* ---- imports ---- */

/* Without a path, no files are searched. */
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

/* A package that is not found is diagnosed at the import. */
static kiln_status find_import(kiln__language *language, const char *path,
                               const char *name, const kiln__loading *importer,
                               kiln_error **error)
{
    kiln_package *package;
    kiln_status status;

    if (kiln__stack_is_low())
        return kiln__stack_error(error);
    if (kiln__package_find(&package, language, name) == KILN_OK)
        return KILN_OK;
    status = load_import(language, path, name, importer, error);
    return status == KILN_ENOTFOUND ? KILN_OK : status;
}

static kiln_status load_imports(kiln__language *language, const char *path,
                                const kiln__source *source,
                                const kiln__loading *importer,
                                kiln_error **error)
{
    for (size_t i = 0; i < source->definition_count; i++)
        if (source->definitions[i].kind == KILN__DEFINE_IMPORT)
            KILN_TRY(find_import(language, path, source->definitions[i].name,
                                 importer, error));
    return KILN_OK;
}

kiln_status kiln__package_load_embedded(kiln__language *language,
                                        const kiln__source *source,
                                        kiln_error **error)
{
    return load_imports(language, NULL, source, NULL, error);
}

/* ---- lazy texts ---- */

static int is_too_deep(const kiln__loading *importer)
{
    int depth = 0;

    for (; importer != NULL; importer = importer->importer)
        depth++;
    return depth >= LOADING_DEPTH_MAX;
}

kiln_status kiln__package_defer(int *done, kiln_package *package,
                                const kiln__offer *offer,
                                kiln_change_report *report, kiln_error **error)
{
    kiln__language *language = package->language;
    const kiln__loading loading = {package, offer->importer};
    kiln__lazy_text *lazy = NULL;
    kiln_status status = KILN_OK;

    *done = 0;
    if (is_too_deep(offer->importer) ||
        kiln__lazy_text_find(&lazy, language, package->name, offer->file,
                             offer->text, offer->size) != KILN_OK)
        return KILN_OK;
    for (size_t i = 0; status == KILN_OK && i < lazy->entry.import_count; i++)
        status = find_import(language, offer->path, lazy->entry.imports[i],
                             &loading, error);
    if (status == KILN_OK)
        return kiln__lazy_text_commit(done, lazy, package, offer->is_new,
                                      report, error);
    kiln__lazy_text_free(lazy);
    return status;
}

/* ---- files ---- */

static kiln_status load_source(kiln_package *package, const file *f,
                               kiln__source *source, kiln_error **error)
{
    const kiln__loading loading = {package, f->importer};
    kiln__language *language = package->language;
    kiln_status status;

    status =
        !is_too_deep(f->importer)
            ? load_imports(language, f->path, source, &loading, error)
            : kiln__error_set(error, KILN_ECOMPILE,
                              "%s: imports are nested too deeply", f->path);
    if (status == KILN_OK)
        status = kiln__language_ready(language, error);
    if (status != KILN_OK) {
        kiln__source_free(source);
        return status;
    }
    return kiln__define(package, source, &loading, f->report, error);
}

/* The text of a file, and the package that it is for. */
typedef struct reading {
    kiln__language *language;
    const file *file;
    char *name;
    kiln_blob text;
    kiln_package *package;
    int is_new;
} reading;

/* If a package was made for a file that cannot be defined, it is removed
   again. */
static kiln_status make_package(reading *r, kiln_error **error)
{
    r->is_new =
        kiln__package_find(&r->package, r->language, r->name) != KILN_OK;
    if (r->is_new &&
        kiln__package_make(&r->package, r->language, r->name) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

static kiln_status defer(int *done, reading *r, kiln_error **error)
{
    const kiln__offer offer = {.file = r->file->path,
                               .text = r->text.data,
                               .size = r->text.size,
                               .path = r->file->path,
                               .importer = r->file->importer,
                               .is_new = r->is_new};

    return kiln__package_defer(done, r->package, &offer, r->file->report,
                               error);
}

static kiln_status parse_text(reading *r, kiln_error **error)
{
    kiln__source *source = NULL;
    kiln_status status = KILN_OK;

    KILN_TRY(kiln__package_parse(&source, r->language, r->file->path,
                                 r->text.data, r->text.size, error));
    if (r->package == NULL)
        status = make_package(r, error);
    if (status == KILN_OK)
        return load_source(r->package, r->file, source, error);
    kiln__source_free(source);
    return status;
}

/* If a package was made for a file that cannot be defined, it is removed
   again. */
static kiln_status load_text(reading *r, kiln_error **error)
{
    kiln_status status = KILN_OK;
    int done = 0;

    if (kiln__lazy_text_is_on(r->language)) {
        KILN_TRY(make_package(r, error));
        status = defer(&done, r, error);
    }
    if (status == KILN_OK && !done)
        status = parse_text(r, error);
    if (status != KILN_OK && r->is_new)
        kiln__package_show(r->package, 0);
    return status;
}

static kiln_status load_package(kiln_package **out, kiln__language *language,
                                const file *f, kiln_error **error)
{
    const char *base = f->path + folder_size(f->path);
    const char *dot = strrchr(base, '.');
    const size_t size = dot == NULL ? strlen(base) : (size_t)(dot - base);
    reading r = {.language = language, .file = f};
    kiln_status status;

    KILN_TRY(kiln__package_check_name(base, size, error));
    KILN_TRY(kiln__file_read(&r.text, language->alloc, f->path, FILE_SIZE_MAX,
                             error));
    r.name = kiln__string_copy_n(language->alloc, base, size);
    status =
        r.name == NULL ? kiln__error_no_memory(error) : load_text(&r, error);
    if (status == KILN_OK)
        *out = r.package;
    kiln__string_free(language->alloc, r.name);
    kiln_blob_release(&r.text);
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
    kiln__stack_enter(context);
    language = kiln__language_of(context);
    KILN_TRY(kiln__language_start(language, error));
    return load_package(out, language, &f, error);
}
