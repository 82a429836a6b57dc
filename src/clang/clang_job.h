/* clang_job.h - one source on its way to modules, between clang and LLVM. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_CLANG_JOB_H
#define KILN_CLANG_JOB_H

#include <string.h>

#include <llvm-c/Types.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "abi/source_abi.h"

/*
 * The files in C++ (clang_*.cc) run clang, because it has no interface in C
 * that gives LLVM IR. Everything after that is in C (opencl_*.c).
 */
typedef struct kiln__clang_job {
    const kiln__source_request *request;
    kiln__source_result *out;
    const char *message;  /* of a failure, in the result's arena */
    LLVMModuleRef module; /* of the whole source */
} kiln__clang_job;

/* Notes a failure; returns the status. */
kiln_status kiln__clang_fail(kiln__clang_job *job, kiln_status status,
                             const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline int kiln__clang_lists(const char *const *list, size_t count,
                                    const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], text) == 0)
            return 1;
    return 0;
}

/* Whether an array of texts has the text. */
#define KILN__CLANG_LISTS(list, text) \
    kiln__clang_lists((list), sizeof(list) / sizeof *(list), (text))

/* ---- clang_options.c ---- */
/* The arguments for clang's compiler proper, without its name. */
typedef struct kiln__clang_arguments {
    const char **words; /* in the result's arena */
    size_t count;
} kiln__clang_arguments;

/* KILN_EINVAL with the option's name, or KILN_ENOMEM. */
kiln_status kiln__clang_arguments_read(kiln__clang_arguments *out,
                                       kiln__clang_job *job);

/* True if the last groups of a grid may be smaller than the others, and
   get_local_size() tells how large they are. */
int kiln__clang_groups_differ(const kiln__source_request *request);

/* ---- clang_compile.cc ---- */
/* Fills the result, except for bitcode and needs, and makes `job->module` in a
   context of its own, if modules are wanted. KILN_ECOMPILE if notes tell what
   is wrong. */
kiln_status kiln__clang_parse(kiln__clang_job *job);
void kiln__clang_module_dispose(LLVMModuleRef module);

/* ---- clang_remarks.c ---- */
/* Removes what attributes such as "annotate" and "used" leave in the module. */
void kiln__clang_module_drop_remarks(LLVMModuleRef module);

/* ---- clang_module.cc ---- */
/* Removes what no target of Kiln's can take or tell, and makes all definitions
   internal. */
void kiln__clang_module_clean(LLVMModuleRef module);
/* Makes the function's bitcode. */
kiln_status kiln__clang_module_take_out(kiln__clang_job *job,
                                        kiln__source_function *function);

/* ---- clang_base.c, generated ---- */
/* How the text below is called; no file of a system is. */
#define KILN__CLANG_BASE_PATH "/kiln/opencl.h"
/* Clang's opencl-c-base.h and, after it, opencl_prelude.h. */
extern const char kiln__clang_base[];
extern const size_t kiln__clang_base_size;

#ifdef __cplusplus
}
#endif

#endif /* KILN_CLANG_JOB_H */
