/* kiln/opencl.h - OpenCL C: programs and their kernels. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_OPENCL_H
#define KILN_OPENCL_H

#include "kiln/method.h"

KILN_BEGIN_DECLS

/*
 * OpenCL C is a frontend beside the kernel language. A program is one text,
 * with the files that it includes and its options; its kernels are functions,
 * "gemm.gemm_kernel", and are compiled and launched like any others.
 * docs/opencl.md lists what the language offers and refuses, and which argument
 * types a parameter takes.
 *
 * clang translates a text when something is first asked of it, in a worker
 * process, and only if no store knows the result. So what is wrong in a text is
 * told by the first kiln_compile() of one of its kernels: KILN_ECOMPILE, with
 * diagnostics. Without clang it is KILN_EUNSUPPORTED. A library that was built
 * without this frontend lacks these functions.
 *
 * Threads: all of these functions may be called from any thread. Definitions
 * wait for each other. A definition in a callback that another definition of
 * the same thread caused is KILN_ERECURSION.
 */

/** A program. It lives as long as its context. */
typedef struct kiln_opencl_program kiln_opencl_program;

/** Stores the frontend, and adds it to the context if it is not there yet. The
 *  functions below add it by themselves. */
KILN_API KILN_NODISCARD kiln_status kiln_opencl_frontend(kiln_frontend **out,
                                                         kiln_context *context,
                                                         kiln_error **error);

/** Makes an empty program, or stores the existing one with that name: letters,
 *  digits and any of `_+-.`, at most 200. */
KILN_API KILN_NODISCARD kiln_status kiln_opencl_new(kiln_opencl_program **out,
                                                    kiln_context *context,
                                                    const char *name,
                                                    kiln_error **error);

/**
 * Makes `text` (of `size` bytes, need not end in NUL; copied) the program's
 * text, in a new world. It replaces the one before it. Kernels that are the
 * same in both stay compiled, and so do those of which only comments, places or
 * files that they do not need have changed. `file` is the text's name in
 * diagnostics, and its folder is where #include "..." searches first; the file
 * need not exist. Relative paths start in the folder that is current now.
 *
 * `options` are those of clBuildProgram(), or NULL: "-DN=4 -I include
 * -cl-std=CL3.0". Words are separated by spaces; quotes and \ keep what follows
 * together. An unknown option is KILN_EINVAL when the text is translated.
 *
 * Included files are read when the text is translated. Define the text again
 * when one of them was edited: if nothing was, that changes nothing and makes
 * no world. `report` may be NULL. In it a text counts as one method.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_opencl_define(kiln_opencl_program *program, const char *file,
                   const char *text, size_t size, const char *options,
                   kiln_change_report *report, kiln_error **error);

/**
 * Reads `path` and defines it, as kiln_opencl_define() does, in the program of
 * the file's base name without the suffix (made if need be). KILN_EIO if
 * unreadable, KILN_EINVAL if its name cannot name a program. `*out` is
 * stored once the program is there: so after KILN_EIO it is the program, which
 * is as it was before the call.
 */
KILN_API KILN_NODISCARD kiln_status kiln_opencl_load(
    kiln_opencl_program **out, kiln_context *context, const char *path,
    const char *options, kiln_change_report *report, kiln_error **error);

/** Removes the program's text, in a new world, in which it has no kernels.
 *  `report` may be NULL. */
KILN_API KILN_NODISCARD kiln_status
kiln_opencl_unload(kiln_opencl_program *program, kiln_change_report *report,
                   kiln_error **error);

/** Stores the program called `name`; KILN_ENOTFOUND when there is none. */
KILN_API KILN_NODISCARD kiln_status kiln_opencl_find(kiln_opencl_program **out,
                                                     kiln_context *context,
                                                     const char *name);

/** Returns the program's name. Borrowed; lives with the context. */
KILN_API const char *kiln_opencl_name(const kiln_opencl_program *program);

/**
 * Stores the function of the kernel `name`, for a kiln_signature. It is not
 * looked up in the text, which need not be translated for this: a kernel that
 * does not exist is KILN_ENOTFOUND when it is compiled, with an error that
 * lists those that do. KILN_EINVAL if `name` is no identifier.
 */
KILN_API KILN_NODISCARD kiln_status
kiln_opencl_function(const kiln_function **out, kiln_opencl_program *program,
                     const char *name, kiln_error **error);

/**
 * Stores the declarations of the program's kernels as text, one in a line, for
 * people: "kernel void scale(__global float *x, float a)". Translates the text
 * if need be. The caller releases `*out`, whose bytes end in a NUL that is not
 * counted.
 */
KILN_API KILN_NODISCARD kiln_status kiln_opencl_kernels(
    kiln_blob *out, kiln_opencl_program *program, kiln_error **error);

KILN_END_DECLS

#endif /* KILN_OPENCL_H */
