/* cl_process.c - processes that use OpenCL C, one after the other. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "support/frontend/cl_fake.h"

void cl_start(cl_process *p, const char *folder)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    char path[300];

    (void)snprintf(path, sizeof path, "%s/cache", folder);
    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = path;
    options.cache = &cache;
    cl_fake_counted = (cl_fake_counts){0};
    assert_ok(kiln_context_new(&p->context, &options, &test_error));
    assert_ok(kiln_config_new(&p->config, p->context, NULL, &test_error));
}

void cl_end(cl_process *p)
{
    kiln_context_free(p->context);
}

kiln_opencl_program *cl_define_with(cl_process *p, const char *file,
                                    const char *text, const char *options,
                                    kiln_change_report *report)
{
    kiln_opencl_program *program;

    assert_ok(kiln_opencl_new(&program, p->context, "main", &test_error));
    assert_ok(kiln_opencl_define(program, file, text, strlen(text), options,
                                 report, &test_error));
    return program;
}

kiln_opencl_program *cl_define(cl_process *p, const char *text)
{
    return cl_define_with(p, "main.cl", text, NULL, NULL);
}

/* Infers a kernel of the program "main" for types such as "f32[:]; u64". */
kiln_status cl_infer(const kiln_code **out, cl_process *p, const char *name,
                     const char *types, kiln_error **error)
{
    const kiln_type *list[KILN_ARGUMENTS_MAX];
    kiln_signature signature = {NULL, list, 0};
    kiln_opencl_program *program;
    char text[300], *next = NULL;

    assert_ok(kiln_opencl_find(&program, p->context, "main"));
    assert_ok(
        kiln_opencl_function(&signature.function, program, name, &test_error));
    (void)snprintf(text, sizeof text, "%s", types);
    for (char *word = strtok_r(text, ";", &next); word != NULL;
         word = strtok_r(NULL, ";", &next))
        assert_ok(kiln_type_parse(&list[signature.count++], p->context, NULL,
                                  word + strspn(word, " "), &test_error));
    return kiln_infer(out, p->context, &signature, p->config, 0, error);
}

kiln_digest cl_digest(cl_process *p, const char *name, const char *types)
{
    const kiln_code *code;

    assert_ok(cl_infer(&code, p, name, types, &test_error));
    return kiln_code_digest(code);
}

uint64_t cl_built(const cl_process *p)
{
    kiln_statistics statistics = {.size = sizeof statistics};

    kiln_statistics_get(&statistics, p->context);
    return statistics.tiers[KILN_TIER_TYPED].built;
}

uint64_t cl_parsed(const cl_process *p)
{
    kiln_statistics statistics = {.size = sizeof statistics};

    kiln_statistics_get(&statistics, p->context);
    return statistics.stage_count[KILN_STAGE_PARSE];
}
