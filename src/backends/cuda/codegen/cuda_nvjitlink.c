/* cuda_nvjitlink.c - makes a cubin of PTX by NVIDIA's library nvJitLink. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cuda/codegen/cuda_codegen.h"
#include "base/system/fork.h"
#include "base/system/loader.h"
#include "base/system/thread.h"
#include "base/toolchain/ptxas.h"
#include "kiln/compile.h"

/*
 * nvJitLink is part of the CUDA toolkit since 12.0. Its unversioned names are
 * the same in all versions. A library that was opened is never closed, since
 * code that it started may still run. Each link has a handle of its own, so
 * links run in parallel.
 */

typedef struct link_handle *handle;

#define SUCCESS 0
#define INPUT_PTX 2

/* X(name, arguments) stands for the function "nvJitLink" + name. */
#define FUNCTION_MAP(X) \
    X(Create, (handle * out, uint32_t count, const char **options)) \
    X(Destroy, (handle * link)) \
    X(AddData, (handle link, int type, const void *data, size_t size, \
                const char *name)) \
    X(Complete, (handle link)) \
    X(GetLinkedCubinSize, (handle link, size_t * size)) \
    X(GetLinkedCubin, (handle link, void *cubin)) \
    X(GetErrorLogSize, (handle link, size_t * size)) \
    X(GetErrorLog, (handle link, char *log)) \
    X(GetInfoLogSize, (handle link, size_t * size)) \
    X(GetInfoLog, (handle link, char *log)) \
    X(Version, (unsigned *major, unsigned *minor))

#define DECLARE(name, arguments) int(*name) arguments;

typedef struct library {
    char *asked; /* path, or "": the loader finds it */
    char *path;  /* path of the opened library, or NULL */
    kiln__file_stamp file;
    FUNCTION_MAP(DECLARE)
    int is_here;
    unsigned newest_ptx; /* 83 for 8.3; 0: unknown */
    struct library *next;
} library;

/* The list only grows. It is walked and grown under the lock. */
static library *libraries;
static kiln__mutex lock = KILN__MUTEX_INIT;

/* ---- the library ---- */

static kiln_status open_file(void **out, const char *asked)
{
    const char *const *names = kiln__tool_sonames(KILN__TOOL_NVJITLINK);
    kiln_status status = KILN_ENOTFOUND;
    const char *words;

    if (*asked != '\0')
        return kiln__loader_open(out, asked, &words);
    for (; status == KILN_ENOTFOUND && *names != NULL; names++)
        status = kiln__loader_open(out, *names, &words);
    return status;
}

static int find_functions(library *l, void *file)
{
    int found = file != NULL;
    void *symbol;

#define FIND(name, arguments) \
    symbol = found ? dlsym(file, "nvJitLink" #name) : NULL; \
    found = symbol != NULL; \
    memcpy(&l->name, &symbol, sizeof symbol);
    FUNCTION_MAP(FIND)
#undef FIND
    return found;
}

/* Returns the newest version of PTX that the library knows. CUDA 12.x came with
   PTX 8.x or older, and 13.x with 9.x. Some versions print a line when asked
   for an architecture that they do not know, so they are not asked. */
static unsigned newest_ptx(const library *l)
{
    unsigned major = 0, minor = 0;

    if (l->Version(&major, &minor) != SUCCESS || major < 12 || major > 13 ||
        minor > 9)
        return 0;
    return (major - 4) * 10 + minor;
}

/*
 * Raises glibc's threshold for giving memory back. A link allocates some MiB in
 * many pieces and frees them. glibc returns free memory at the end of a heap to
 * the system when it is more than twice the largest block that had a mapping of
 * its own and was freed. Then the next link touches each page for the first
 * time, which is a tenth of its cost. So a larger block is allocated and freed
 * here. Nothing is written to it, and if the host has set the threshold itself,
 * that setting stays.
 */
#define KEPT_HALF ((size_t)8 << 20)

static void keep_memory(void)
{
    void *volatile block = malloc(KEPT_HALF);

    free(block);
}

/* Returns KILN_OK when it is known whether the library is here. On any other
   status, a later call may find out. */
static kiln_status open_library(library *l)
{
    void *file = NULL;
    const kiln_status status = open_file(&file, l->asked);
    Dl_info where;
    void *symbol;

    if (status != KILN_OK && status != KILN_ENOTFOUND)
        return status;
    if (!find_functions(l, file))
        return KILN_OK;
    memcpy(&symbol, &l->Create, sizeof symbol);
    if (dladdr(symbol, &where) != 0 && where.dli_fname != NULL)
        l->path = strdup(where.dli_fname);
    if (l->path != NULL)
        l->file = kiln__file_stamp_at(l->path);
    l->newest_ptx = newest_ptx(l);
    l->is_here = l->path != NULL;
    if (l->is_here)
        keep_memory();
    return l->path != NULL ? KILN_OK : KILN_ENOMEM;
}

/* Called with the lock held. After a failure that may pass, nothing is
   added. */
static kiln_status add_library(const char *asked)
{
    library *l = calloc(1, sizeof *l);
    kiln_status status = KILN_ENOMEM;

    if (l != NULL)
        l->asked = strdup(asked);
    if (l != NULL && l->asked != NULL)
        status = open_library(l);
    if (status == KILN_OK) {
        l->next = libraries;
        libraries = l;
    } else if (l != NULL) {
        free(l->asked);
        free(l);
    }
    return status;
}

static kiln_status library_at(const library **out, const char *asked)
{
    kiln_status status = KILN_OK;
    const library *l;

    kiln__mutex_lock(&lock);
    for (l = libraries; l != NULL && strcmp(l->asked, asked) != 0;)
        l = l->next;
    if (l == NULL) {
        status = add_library(asked);
        l = libraries;
    }
    kiln__mutex_unlock(&lock);
    if (status == KILN_OK)
        *out = l;
    return status;
}

static void before_fork(void)
{
    kiln__mutex_lock(&lock);
}

static void release_lock_after_fork(void)
{
    kiln__mutex_unlock(&lock);
}

void kiln__nvjitlink_guard(void)
{
    /* Failure means no memory for the handlers; then a child may wait for
       ever. */
    (void)kiln__fork_handle(before_fork, release_lock_after_fork,
                            release_lock_after_fork);
}

/* ---- a link ---- */

typedef struct linking {
    const library *api;
    kiln__codegen_job *job;
    handle link;
    kiln__text *said;
} linking;

static void take_log(linking *l, int (*size_of)(handle, size_t *),
                     int (*log_of)(handle, char *))
{
    size_t size = 0;
    char *log;

    if (l->link == NULL || size_of(l->link, &size) != SUCCESS || size < 2)
        return;
    log = calloc(1, size + 1);
    if (log == NULL)
        l->said->failed = 1;
    else if (log_of(l->link, log) == SUCCESS)
        kiln__text_add(l->said, log);
    free(log);
}

static kiln_status failed(linking *l, const char *what, int error)
{
    take_log(l, l->api->GetErrorLogSize, l->api->GetErrorLog);
    if (l->said->size == 0)
        kiln__text_format(l->said, "%s failed (%d)", what, error);
    return KILN_ECODEGEN;
}

static kiln_status take_cubin(linking *l, kiln_blob *out)
{
    size_t size = 0;
    void *bytes;
    int error = l->api->GetLinkedCubinSize(l->link, &size);

    if (error != SUCCESS || size == 0)
        return failed(l, "the cubin's size", error);
    bytes = kiln__blob_new(out, &kiln__malloc, size);
    if (bytes == NULL)
        return KILN_ENOMEM;
    error = l->api->GetLinkedCubin(l->link, bytes);
    if (error == SUCCESS) {
        take_log(l, l->api->GetInfoLogSize, l->api->GetInfoLog);
        return KILN_OK;
    }
    out->release(out);
    *out = (kiln_blob){0};
    return failed(l, "the cubin", error);
}

static kiln_status complete(linking *l, const kiln__object *ptx, kiln_blob *out)
{
    int error = l->api->AddData(l->link, INPUT_PTX, ptx->bytes, ptx->size,
                                l->job->request->entry);

    if (error != SUCCESS)
        return failed(l, "adding PTX", error);
    error = l->api->Complete(l->link);
    if (error != SUCCESS)
        return failed(l, "linking", error);
    return take_cubin(l, out);
}

/* What is linked might have callers elsewhere. So slow paths of divisions and
   roots are functions that are called as other files would call them, and loops
   keep their values in few registers, or in memory. An option gives each entry
   copies of its own. It has been there since CUDA 13.3. */
#define COPIES_SINCE 93 /* PTX of that release */
static const char with_copies[] = "-Xptxas=--enable-func-clone-sc=true";

static int create(linking *l)
{
    static const char *const debug[] = {NULL, "-lineinfo", "-g"};
    const kiln__codegen_settings *settings = l->job->settings;
    const char *options[5];
    char arch[64], level[8];
    uint32_t count = 3;

    /* nvJitLink has no level between no optimisation and all of it. */
    (void)snprintf(arch, sizeof arch, "-arch=%s", settings->processor);
    (void)snprintf(level, sizeof level, "-O%u",
                   kiln__cuda_level(settings) > 0 ? 3 : 0);
    options[0] = arch;
    options[1] = level;
    options[2] = "-verbose";
    if (settings->debug_level != KILN_DEBUG_NONE)
        options[count++] = debug[settings->debug_level];
    if (kiln__cuda_level(settings) > 0 && l->api->newest_ptx >= COPIES_SINCE)
        options[count++] = with_copies;
    return l->api->Create(&l->link, count, options);
}

/* All other options but the architecture are known to every version. */
static kiln_status run(linking *l, const kiln__object *ptx, kiln_blob *out)
{
    kiln_status status = KILN_ENOTFOUND;
    const int error = create(l);

    if (error == SUCCESS) {
        status = complete(l, ptx, out);
    } else {
        (void)failed(l, "a link", error);
        if (!l->said->failed)
            kiln__job_log(l->job, "nvJitLink is passed over: %s",
                          l->said->bytes);
    }
    if (l->link != NULL)
        (void)l->api->Destroy(&l->link);
    return status;
}

/* Opening the library takes as long as LLVM takes for a small kernel. So a
   thread opens it while LLVM works, and ends. A job that needs the library in
   the meantime waits for the lock. Without such a thread, the library is opened
   when it is needed. */
static void *open_early(void *path)
{
    const library *opened;

    (void)library_at(&opened, path);
    free(path);
    return NULL;
}

static void start_opening(char *path)
{
    kiln__thread thread;

    if (path != NULL &&
        kiln__thread_start(&thread, 0, open_early, path) == KILN_OK)
        kiln__thread_detach(thread);
    else
        free(path);
}

void kiln__nvjitlink_begin(const kiln__codegen_job *job)
{
    static atomic_int is_begun;
    char path[PATH_MAX] = "";
    kiln__tool_place place;

    if (job->request->form != KILN_EMIT_BINARY ||
        !kiln__cuda_may_use(job->settings, KILN__CUDA_TOOL_NVJITLINK) ||
        atomic_exchange(&is_begun, 1) != 0)
        return;
    place = kiln__tool_find(path, KILN__TOOL_NVJITLINK);
    if (place != KILN__TOOL_ABSENT)
        start_opening(strdup(place == KILN__TOOL_FOUND ? path : ""));
}

/* Finds the library to use. KILN_ENOTFOUND: there is none. */
static kiln_status find_library(const library **out, kiln__codegen_job *job)
{
    char path[PATH_MAX] = "";
    kiln_status status;

    if (!kiln__cuda_may_use(job->settings, KILN__CUDA_TOOL_NVJITLINK))
        return KILN_ENOTFOUND;
    switch (kiln__tool_find(path, KILN__TOOL_NVJITLINK)) {
    case KILN__TOOL_ABSENT:
        return KILN_ENOTFOUND;
    case KILN__TOOL_BY_LOADER:
        path[0] = '\0';
        break;
    case KILN__TOOL_FOUND:
        break;
    }
    status = library_at(out, path);
    if (status != KILN_OK || (*out)->is_here)
        return status;
    if (path[0] != '\0')
        kiln__job_log(job, "nvJitLink is passed over: %s cannot be used", path);
    return KILN_ENOTFOUND;
}

/* True when the library is too old for the PTX. */
static int is_older(kiln__codegen_job *job, const library *l)
{
    const unsigned version = kiln__cuda_ptx_version(job);

    if (l->newest_ptx == 0 || version <= l->newest_ptx)
        return 0;
    kiln__job_log(job, "nvJitLink is passed over: %s is older than PTX %u.%u",
                  l->path, version / 10, version % 10);
    return 1;
}

kiln_status kiln__nvjitlink(kiln__codegen_job *job, const kiln__object *ptx,
                            kiln_blob *out, kiln__text *said)
{
    linking l = {.job = job, .said = said};
    kiln_status status = find_library(&l.api, job);

    if (status == KILN_EIO)
        kiln__text_add(said, "it cannot be opened now");
    if (status != KILN_OK)
        return status;
    if (is_older(job, l.api))
        return KILN_ENOTFOUND;
    status = run(&l, ptx, out);
    if (status == KILN_OK)
        status = kiln__job_used(job, KILN__TOOL_NVJITLINK, l.api->path,
                                &l.api->file);
    return status;
}
