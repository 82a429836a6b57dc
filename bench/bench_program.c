/* bench_program.c - a context with a program, for benchmarks of compilation. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "bench_program.h"

#include <string.h>

void program_open(struct program *program, const char *text, uint32_t threads)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_error *error = NULL;

    memset(program, 0, sizeof *program);
    options.threads = threads;
    bench_check(kiln_context_new(&program->context, &options, &error), &error);
    bench_check(
        kiln_config_new(&program->config, program->context, NULL, &error),
        &error);
    bench_check(
        kiln_package_new(&program->package, program->context, "bench", &error),
        &error);
    bench_check(kiln_package_define(program->package, "bench.kiln", text,
                                    strlen(text), NULL, &error),
                &error);
    bench_check(kiln_package_function(&program->signature.function,
                                      program->package, "saxpy", &error),
                &error);
    program->types[1] = kiln_type_scalar(program->context, KILN_TYPE_F32);
    bench_check(kiln_type_array(&program->types[0], program->context,
                                program->types[1], 1, 0, &error),
                &error);
    program->types[2] = program->types[0];
    program->signature.types = program->types;
    program->signature.count = 3;
}

void program_close(struct program *program)
{
    kiln_context_free(program->context);
}

const kiln_kernel *program_compile(struct program *program)
{
    const kiln_kernel *kernel;
    kiln_error *error = NULL;

    bench_check(kiln_compile(&kernel, program->context, &program->signature,
                             program->config, NULL, &error),
                &error);
    return kernel;
}
