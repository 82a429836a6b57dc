/* kiln_source.c - files of kernels, in the kernel language or OpenCL C. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "kiln/sys/frontend.h"
#include "kiln_tool.h"

#ifdef KILN_OPENCL
#include "kiln/opencl.h"
#endif

/* ---- OpenCL C ---- */

static int is_opencl(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot != NULL && strcmp(dot, ".cl") == 0;
}

#ifdef KILN_OPENCL

/* Adds a word to a text of options, quoted. Returns its new end. */
static char *quote(char *out, const char *word)
{
    *out++ = '"';
    for (; *word != '\0'; word++) {
        if (*word == '"' || *word == '\\')
            *out++ = '\\';
        *out++ = *word;
    }
    *out++ = '"';
    *out++ = ' ';
    *out = '\0';
    return out;
}

/* Returns the options as one text, from malloc, or NULL. */
static char *join(const tool_options *options)
{
    size_t size = 1;
    char *text, *at;

    for (size_t i = 0; i < options->cl_count; i++)
        size += 2 * strlen(options->cl_words[i]) + 3;
    text = at = calloc(size, 1);
    for (size_t i = 0; text != NULL && i < options->cl_count; i++)
        at = quote(at, options->cl_words[i]);
    return text;
}

static kiln_status load_opencl(tool_source *out, kiln_context *context,
                               const char *path, const tool_options *options,
                               kiln_error **error)
{
    char *text = join(options);
    kiln_status status;

    if (text == NULL)
        return kiln_error_set(error, KILN_ENOMEM, "out of memory");
    status = kiln_opencl_load(&out->opencl, context, path, text, NULL, error);
    free(text);
    return status;
}

kiln_status tool_source_function(const kiln_function **out,
                                 const tool_source *source, const char *name,
                                 kiln_error **error)
{
    return source->opencl != NULL
               ? kiln_opencl_function(out, source->opencl, name, error)
               : kiln_package_function(out, source->package, name, error);
}

kiln_status tool_source_find(tool_source *out, kiln_context *context,
                             const char *name)
{
    memset(out, 0, sizeof *out);
    if (kiln_package_find(&out->package, context, name) == KILN_OK)
        return KILN_OK;
    return kiln_opencl_find(&out->opencl, context, name);
}

#else

static kiln_status load_opencl(tool_source *out, kiln_context *context,
                               const char *path, const tool_options *options,
                               kiln_error **error)
{
    (void)out;
    (void)context;
    (void)options;
    return kiln_error_set(error, KILN_EUNSUPPORTED,
                          "%s: this build of kiln has no OpenCL C", path);
}

kiln_status tool_source_function(const kiln_function **out,
                                 const tool_source *source, const char *name,
                                 kiln_error **error)
{
    return kiln_package_function(out, source->package, name, error);
}

kiln_status tool_source_find(tool_source *out, kiln_context *context,
                             const char *name)
{
    memset(out, 0, sizeof *out);
    return kiln_package_find(&out->package, context, name);
}

#endif /* KILN_OPENCL */

/* ---- all languages ---- */

static kiln_status load(tool_source *out, kiln_context *context,
                        const char *path, const tool_options *options,
                        kiln_error **error)
{
    memset(out, 0, sizeof *out);
    return is_opencl(path)
               ? load_opencl(out, context, path, options, error)
               : kiln_package_load(&out->package, context, path, NULL, error);
}

kiln_status tool_source_load(tool_source *out, kiln_context *context,
                             const char *path, const tool_options *options,
                             kiln_error **error)
{
    for (size_t i = 0; i < options->with_count; i++) {
        const kiln_status status =
            load(out, context, options->withs[i], options, error);

        if (status != KILN_OK)
            return status;
    }
    return load(out, context, path, options, error);
}
