/* spirv_validate.c - asks SPIRV-Tools whether a module is valid. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/spirv/codegen/spirv_validate.h"

#include <dlfcn.h>
#include <string.h>

#include "backends/spirv/codegen/spirv_codegen.h"

/*
 * The library of SPIRV-Tools does what spirv-val does, in a fraction of a
 * millisecond and without a process. If its archive was there when Kiln was
 * built, it is linked in. Otherwise the library that the loader finds is
 * opened, if there is one. Its answer changes no byte of a module, so entries
 * do not record it.
 *
 * Each validation has a context of its own, so several may run in parallel.
 * Nothing is kept, except what the loader knows of libraries that were opened.
 */

#define DECLARE(name, result, arguments) result(*name) arguments;

typedef struct validator {
    const char *path; /* of the library, for the log */
    KILN__SPV_FUNCTION_MAP(DECLARE)
} validator;

/* ---- the library ---- */

#ifdef KILN_SPIRV_TOOLS_INSIDE

#define IMPORT(name, result, arguments) extern result spv##name arguments;
KILN__SPV_FUNCTION_MAP(IMPORT)

static int use_inside(validator *v)
{
#define TAKE(name, result, arguments) v->name = spv##name;
    KILN__SPV_FUNCTION_MAP(TAKE)
    v->path = "SPIRV-Tools";
    return 1;
}

#else

static int use_inside(validator *v)
{
    (void)v;
    return 0;
}

#endif

static int find_functions(validator *v, void *file)
{
    int found = 1;
    void *symbol;

#define FIND(name, result, arguments) \
    symbol = dlsym(file, "spv" #name); \
    found &= symbol != NULL; \
    memcpy(&v->name, &symbol, sizeof symbol);
    KILN__SPV_FUNCTION_MAP(FIND)
    return found;
}

/* Opens and closes the library. It stays loaded (RTLD_NODELETE), and its count
   does not grow, however often this is done. */
static int use_file(validator *v, const char *path)
{
    void *file = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    int found = 0;

    v->path = path;
    if (file != NULL) {
        found = find_functions(v, file);
        (void)dlclose(file);
    }
    return found;
}

/* Finds the library. `path` has room for a path. */
static int find_validator(kiln__codegen_job *job, validator *v,
                          char path[PATH_MAX])
{
    switch (kiln__tool_find(path, KILN__TOOL_SPIRV_TOOLS)) {
    case KILN__TOOL_ABSENT:
        return 0;
    case KILN__TOOL_BY_LOADER:
        return use_inside(v) ||
               use_file(v, kiln__tool_file(KILN__TOOL_SPIRV_TOOLS));
    case KILN__TOOL_FOUND:
        break;
    }
    if (use_file(v, path))
        return 1;
    kiln__job_log(job, "spirv-val is passed over: %s cannot be used", path);
    return 0;
}

/* ---- one validation ---- */

static int environment_of(unsigned minor)
{
#define PLACE(minor, environment) environment,
    static const int environments[] = {KILN__SPV_ENVIRONMENT_MAP(PLACE)};
    const size_t count = sizeof environments / sizeof environments[0];

    return environments[minor < count ? minor : count - 1];
}

/* True when the library may be older than an extension that the module uses:
   then it does not know all its words. */
static int is_too_old(const kiln__codegen_job *job, int result)
{
    return result == KILN__SPV_WRONG_VERSION ||
           (result == KILN__SPV_INVALID_BINARY &&
            strstr(job->settings->options, "SPV_") != NULL);
}

static kiln_status judge(kiln__codegen_job *job, const kiln__object *module,
                         int result, const char *said)
{
    if (said == NULL)
        said = "no reason given";
    if (result == KILN__SPV_SUCCESS)
        return KILN_OK;
    if (result == KILN__SPV_OUT_OF_MEMORY)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    if (is_too_old(job, result)) {
        kiln__job_log(job, "spirv-val is passed over: %s", said);
        return KILN_OK;
    }
    kiln__job_keep(job, ".spv", module);
    return kiln__job_fail(job, KILN_ECODEGEN, "spirv-val: %s", said);
}

static kiln_status validate(kiln__codegen_job *job, const validator *v,
                            const kiln__object *module)
{
    kiln__spv_context context =
        v->ContextCreate(environment_of(kiln__spirv_minor(job)));
    kiln__spv_diagnostic *diagnostic = NULL;
    kiln_status status;
    int result;

    if (context == NULL) {
        kiln__job_log(job,
                      "spirv-val is passed over: %s does not know SPIR-V "
                      "1.%u",
                      v->path, kiln__spirv_minor(job));
        return KILN_OK;
    }
    result = v->ValidateBinary(context, module->bytes, module->size / 4,
                               &diagnostic);
    if (diagnostic != NULL && diagnostic->error != NULL)
        kiln__join_lines(diagnostic->error);
    status = judge(job, module, result,
                   diagnostic != NULL ? diagnostic->error : NULL);
    if (diagnostic != NULL)
        v->DiagnosticDestroy(diagnostic);
    v->ContextDestroy(context);
    return status;
}

kiln_status kiln__spirv_validate(kiln__codegen_job *job,
                                 const kiln__object *module)
{
    char path[PATH_MAX];
    validator v;

    return find_validator(job, &v, path) ? validate(job, &v, module) : KILN_OK;
}
