/* cl_fake.h - a translator of OpenCL C that reads a toy instead. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TESTS_CL_FAKE_H
#define KILN_TESTS_CL_FAKE_H

#include "base/digest/digest.h"
#include "codegen_client/source_compile.h"
#include "kiln.h"
#include "kiln/opencl.h"
#include "support/harness.h"

/*
 * For programs that wrap kiln__source_compile() and kiln__source_compiler().
 * A text has lines of these kinds; all others are the body of a kernel, in
 * LLVM IR:
 *
 *     // a comment                  means nothing, like a line without words
 *     #include "file"               searched as clang does
 *     kernel scale f32* i32 local   begins a kernel, with its parameters'
 *                                   kinds: %0, %1, ...
 *     error some words              an error
 *     file                          the name of the file, in the body
 *
 * A parameter is a scalar (f32), a vector (f32x4), a pointer (f32*, f32x4*,
 * void*, 16/8* to something of 16 bytes, aligned to 8), something of such a
 * size by value (16/8), or local memory for these (local:f32).
 */

/* What was asked of the translator since the last reset. */
typedef struct cl_fake_counts {
    unsigned tokens;  /* the preprocessor alone */
    unsigned modules; /* everything */
} cl_fake_counts;

extern cl_fake_counts cl_fake_counted;
/* What the compiler says of its build; "" for none. */
extern const char *cl_fake_build;

kiln_status __wrap_kiln__source_compile(kiln__source_result *out,
                                        kiln_context *context,
                                        const kiln__source_request *request,
                                        kiln_error **error);
void __wrap_kiln__source_compiler(char id[KILN__BUILD_ID_TEXT_SIZE],
                                  kiln_context *context);

/* ---- processes ---- */

/* A context over a disk store in a test's folder stands for a process. */
typedef struct cl_process {
    kiln_context *context;
    const kiln_config *config;
} cl_process;

void cl_start(cl_process *p, const char *folder);
void cl_end(cl_process *p);
/* Defines the text in program "main"; `report` may be NULL. */
kiln_opencl_program *cl_define_with(cl_process *p, const char *file,
                                    const char *text, const char *options,
                                    kiln_change_report *report);
kiln_opencl_program *cl_define(cl_process *p, const char *text);
/* Infers a kernel of that program for types such as "f32[:]; u64". */
kiln_status cl_infer(const kiln_code **out, cl_process *p, const char *name,
                     const char *types, kiln_error **error);
kiln_digest cl_digest(cl_process *p, const char *name, const char *types);
/* How many kernels were inferred, and how often the translator ran. */
uint64_t cl_built(const cl_process *p);
uint64_t cl_parsed(const cl_process *p);

#define assert_same(a, b) assert_true(kiln__digest_equal((a), (b)))
#define assert_counted(token_count, module_count) \
    do { \
        assert_int_equal(cl_fake_counted.tokens, (token_count)); \
        assert_int_equal(cl_fake_counted.modules, (module_count)); \
    } while (0)

#endif /* KILN_TESTS_CL_FAKE_H */
