/* kiln/method.h - packages, generic functions and methods of the language. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_METHOD_H
#define KILN_METHOD_H

#include "kiln/type.h"

KILN_BEGIN_DECLS

/*
 * The world. Every definition, redefinition, deletion and unload advances the
 * frontend's world counter. A method is visible in a range of worlds, and so is
 * each result of inference. Calls work in the current world unless they say
 * otherwise. Holding a world keeps its methods and results usable.
 *
 * Threads: all of these may be called from any thread. Definitions wait for
 * each other. Meanwhile lookups and inference go on in the previous world.
 */

/**
 * What a definition or removal did. Initialise each report with
 * KILN_CHANGE_REPORT_INIT (KILN_EINVAL otherwise), and dispose of it before you
 * reuse it; the names live until then. Names for which there was no memory are
 * left out.
 */
typedef struct kiln_change_report {
    size_t size;
    uint64_t world; /* the world that the change made; if nothing changed, the
                       current one */
    uint32_t methods_added;
    uint32_t methods_replaced;
    uint32_t methods_removed;
    uint32_t methods_unchanged; /* defined again with the same meaning */
    size_t invalidated_count;   /* code instances that lost their validity */
    char **invalidated;         /* their names, "main.saxpy(f32[:], …)" */
    void *private_data;         /* not used yet */
} kiln_change_report;

#define KILN_CHANGE_REPORT_INIT \
    { \
        sizeof(kiln_change_report), 0, 0, 0, 0, 0, 0, 0, 0 \
    }

/** Frees what the report holds. Fine on a fresh or zeroed report. */
KILN_API void kiln_change_report_dispose(kiln_change_report *report);

/**
 * Makes an empty package, or stores the existing one with that name: letters,
 * digits and _, not beginning with a digit, and not "core". The object lives
 * as long as the context.
 */
KILN_API KILN_NODISCARD kiln_status kiln_package_new(kiln_package **out,
                                                     kiln_context *context,
                                                     const char *name,
                                                     kiln_error **error);

/**
 * Defines everything that `text` (of `size` bytes, need not end in NUL; copied)
 * defines. `file` names the text in diagnostics and exceptions only. All of it
 * takes effect in one new world, or, when there is an error, nothing does:
 * KILN_ESYNTAX or KILN_ECOMPILE with one diagnostic per fault, 20 at most.
 * Bodies of methods are inferred when they are asked for, not here. Packages
 * that the text imports must be defined already, or come with Kiln as `reduce`
 * does: no files are searched. `report` may be NULL.
 *
 * If the stores know what a text defines, it is parsed only when something
 * needs it. There is no other difference to a text that was parsed at once.
 *
 * A definition with the signature of an earlier one replaces it; one with the
 * same meaning changes nothing but source locations. Definitions of the package
 * that the text does not mention stay. KILN_EINVAL after kiln_package_unload().
 */
KILN_API KILN_NODISCARD kiln_status kiln_package_define(
    kiln_package *package, const char *file, const char *text, size_t size,
    kiln_change_report *report, kiln_error **error);

/**
 * Reads `path` and defines it in the package of the file's base name (made if
 * need be), as kiln_package_define() does. An import that names no existing
 * package is searched as `name.kiln` in the file's folder, then in the folders
 * of KILN_PATH, then among the packages that come with Kiln. Packages found so
 * are defined first, each in a world of its own. They stay when the file itself
 * has an error, and are not in the report.
 *
 * KILN_EIO if unreadable, KILN_EINVAL if its name cannot name a package.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_package_load(kiln_package **out, kiln_context *context, const char *path,
                  kiln_change_report *report, kiln_error **error);

/**
 * Removes everything that the package defined, including its methods of other
 * packages' functions, in one new world. From then on the package is not found,
 * and defining in it is KILN_EINVAL, until kiln_package_new() or
 * kiln_package_load() with its name returns the same object again, empty.
 * `report` may be NULL.
 */
KILN_API KILN_NODISCARD kiln_status kiln_package_unload(
    kiln_package *package, kiln_change_report *report, kiln_error **error);

/** Stores the package called `name`; KILN_ENOTFOUND when there is none. */
KILN_API KILN_NODISCARD kiln_status kiln_package_find(kiln_package **out,
                                                      kiln_context *context,
                                                      const char *name);

/** Returns the package's name. Borrowed; lives with the context. */
KILN_API const char *kiln_package_name(const kiln_package *package);

/**
 * Stores the generic function that `name` means in the package today: its own,
 * an imported or a built-in one ("sqrt", "+"). It lives as long as the context,
 * even when its methods are removed. KILN_ENOTFOUND otherwise, with an error
 * that suggests similar names.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_package_function(const kiln_function **out, kiln_package *package,
                      const char *name, kiln_error **error);

/**
 * Deletes the method that `package` defined and whose parameter types, written
 * as in the source and separated by commas, are `parameters` ("f32[:], T";
 * "Any" for one without a type, "" for none). `overlay` names the method's
 * table; NULL is the global one. `report` may be NULL. KILN_ENOTFOUND, with an
 * error that lists the methods, when there is none.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_method_delete(kiln_package *package, const kiln_function *function,
                   const char *parameters, const char *overlay,
                   kiln_change_report *report, kiln_error **error);

/** Returns the qualified name, "main.saxpy". Borrowed; lives with the
 *  context, as do the objects that the functions below return. */
KILN_API const char *kiln_function_name(const kiln_function *function);

/** Returns the frontend that the function belongs to. */
KILN_API kiln_frontend *kiln_function_frontend(const kiln_function *function);

/** Returns the frontend of the kernel language. It lives with the context. */
KILN_API kiln_frontend *kiln_context_language(kiln_context *context);

/** Returns the current world of a frontend. */
KILN_API uint64_t kiln_world(const kiln_frontend *frontend);

/**
 * Stores the number of the current world and keeps that world usable until
 * kiln_world_release() has been called as often as this function. Other
 * statuses come from the frontend. Releasing a world frees nothing by itself;
 * kiln_context_collect() does. Releasing a world that is not held does nothing.
 */
KILN_API KILN_NODISCARD kiln_status kiln_world_hold(uint64_t *out,
                                                    kiln_frontend *frontend);
KILN_API void kiln_world_release(kiln_frontend *frontend, uint64_t world);

KILN_END_DECLS

#endif /* KILN_METHOD_H */
