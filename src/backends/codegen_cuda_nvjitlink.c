/* codegen_cuda_nvjitlink.c - PTX to a cubin, by NVIDIA's library. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen_cuda.h"

/*
 * nvJitLink is part of the CUDA toolkit from 12.0 on; its names without a
 * version are the same in all of them. It is opened once and stays. Each link
 * has a handle of its own, so links run at the same time.
 */

typedef struct link_handle *handle;

#define SUCCESS 0
#define INPUT_PTX 2

/* X(name, arguments): "nvJitLink" and the name. */
#define FUNCTION_MAP(X) \
    X(Create, (handle * out, uint32_t count, const char **options)) \
    X(Destroy, (handle * link)) \
    X(AddData, (handle link, int type, const void *data, size_t size, \
                const char *name)) \
    X(Complete, (handle link)) \
    X(GetLinkedCubinSize, (handle link, size_t * size)) \
    X(GetLinkedCubin, (handle link, void *cubin)) \
    X(GetErrorLogSize, (handle link, size_t * size)) \
    X(GetErrorLog, (handle link, char *log))

#define DECLARE(name, arguments) int(*name) arguments;

static struct {
    FUNCTION_MAP(DECLARE)
    int is_here;
} api;

static void *open_library(void)
{
    static const char *const names[] = {
        "libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so",
        "/usr/local/cuda/lib64/libnvJitLink.so"};
    const char *chosen = getenv("KILN_NVJITLINK");
    void *library = NULL;

    if (chosen != NULL && *chosen != '\0')
        return strcmp(chosen, "off") == 0
                   ? NULL
                   : dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

static void open_api(void)
{
    void *library = open_library();
    int found = library != NULL;
    void *symbol;

#define FIND(name, arguments) \
    symbol = found ? dlsym(library, "nvJitLink" #name) : NULL; \
    found = symbol != NULL; \
    memcpy(&api.name, &symbol, sizeof symbol);
    FUNCTION_MAP(FIND)
#undef FIND
    api.is_here = found;
}

static int is_here(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, open_api);
    return api.is_here;
}

/* ---- a link ---- */

static kiln_status fail(kiln__codegen_job *job, handle link, const char *what,
                        int error)
{
    size_t size = 0;
    char *log = NULL;

    if (link != NULL && api.GetErrorLogSize(link, &size) == SUCCESS && size > 1)
        log = calloc(1, size + 1);
    if (log != NULL && api.GetErrorLog(link, log) == SUCCESS)
        kiln__join_lines(log);
    kiln__job_fail(job, KILN_ECODEGEN, "nvJitLink: %s failed (%d)%s%s", what,
                   error, log != NULL ? ": " : "", log != NULL ? log : "");
    free(log);
    return job->status;
}

static kiln_status take_cubin(kiln__codegen_job *job, handle link,
                              kiln_blob *out)
{
    size_t size = 0;
    void *bytes;
    int error = api.GetLinkedCubinSize(link, &size);

    if (error != SUCCESS)
        return fail(job, link, "the cubin's size", error);
    bytes = kiln__blob_new(out, &kiln__malloc, size);
    if (bytes == NULL)
        return kiln__job_fail(job, KILN_ENOMEM, "out of memory");
    error = api.GetLinkedCubin(link, bytes);
    return error == SUCCESS ? KILN_OK : fail(job, link, "the cubin", error);
}

static kiln_status complete(kiln__codegen_job *job, handle link,
                            const kiln__object *ptx, kiln_blob *out)
{
    int error = api.AddData(link, INPUT_PTX, ptx->bytes, ptx->size,
                            job->request->entry);

    if (error != SUCCESS)
        return fail(job, link, "adding PTX", error);
    error = api.Complete(link);
    if (error != SUCCESS)
        return fail(job, link, "linking", error);
    return take_cubin(job, link, out);
}

kiln_status kiln__nvjitlink(kiln__codegen_job *job, const kiln__object *ptx,
                            kiln_blob *out)
{
    static const char *const debug[] = {NULL, "-lineinfo", "-g"};
    const kiln__codegen_settings *settings = job->settings;
    const char *options[3];
    char arch[32], level[8];
    uint32_t count = 2;
    handle link = NULL;
    kiln_status status;
    int error;

    if (!is_here())
        return KILN_ENOTFOUND;
    (void)snprintf(arch, sizeof arch, "-arch=%s", settings->processor);
    /* A debugger sees what is not optimised alone. */
    (void)snprintf(level, sizeof level, "-O%u",
                   settings->debug_level >= KILN_DEBUG_FULL
                       ? 0
                       : (unsigned)settings->opt_level);
    options[0] = arch;
    options[1] = level;
    if (settings->debug_level != KILN_DEBUG_NONE)
        options[count++] = debug[settings->debug_level];
    error = api.Create(&link, count, options);
    if (error != SUCCESS)
        return fail(job, NULL, arch, error);
    status = complete(job, link, ptx, out);
    (void)api.Destroy(&link);
    return status;
}
