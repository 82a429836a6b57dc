/* math_library.c - where a device's mathematical functions come from. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "math_library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "device_math.h"
#include "libraries.h"
#include "report.h"
#include "settings.h"

/*
 * A variable names the folder, else those are tried where distributions and
 * vendors put the file. A toolkit's own variable is looked at behind ours.
 */
typedef struct origin {
    const char *library; /* for people */
    const char *file;
    const char *variable; /* names the folder that has the file */
    const char *root;     /* names a folder above it */
    const char *below;    /* from there */
    const char *folders[4];
} origin;

static const origin libclc_nvptx = {
    .library = "libclc",
    .file = "nvptx64--.bc",
    .variable = "KILN_LIBCLC",
    .folders = {"/usr/lib/clc", "/usr/share/clc",
                "/usr/lib/llvm-22/share/libclc"},
};

static const origin libclc_amdgcn = {
    .library = "libclc",
    .file = "amdgcn-amd-amdhsa.bc",
    .variable = "KILN_LIBCLC",
    .folders = {"/usr/lib/clc", "/usr/share/clc",
                "/usr/lib/llvm-22/share/libclc"},
};

static const origin libdevice = {
    .library = "libdevice",
    .file = "libdevice.10.bc",
    .variable = "KILN_LIBDEVICE",
    .root = "CUDA_PATH",
    .below = "nvvm/libdevice",
    .folders = {"/usr/local/cuda/nvvm/libdevice",
                "/usr/lib/cuda/nvvm/libdevice",
                "/usr/lib/nvidia-cuda-toolkit/libdevice"},
};

static const origin *origin_of(const kiln_config *config)
{
    const int is_cuda = strcmp(config->backend, "cuda") == 0;

    switch (kiln__device_math_names(config->backend, (uint32_t)config->math)) {
    case KILN__NAMES_OPENCL:
        return is_cuda ? &libclc_nvptx : &libclc_amdgcn;
    case KILN__NAMES_LIBDEVICE:
        return &libdevice;
    default:
        return NULL;
    }
}

static int is_in(char *path, const char *folder, const char *below,
                 const char *file)
{
    const int size =
        below != NULL
            ? snprintf(path, PATH_MAX, "%s/%s/%s", folder, below, file)
            : snprintf(path, PATH_MAX, "%s/%s", folder, file);

    return size > 0 && size < PATH_MAX && access(path, R_OK) == 0;
}

static const char *value_of(const char *variable)
{
    const char *value = variable != NULL ? getenv(variable) : NULL;

    return value != NULL && *value != '\0' ? value : NULL;
}

static int find(char *path, const origin *from)
{
    const char *folder = value_of(from->variable);
    const char *root = value_of(from->root);

    if (folder != NULL)
        return is_in(path, folder, NULL, from->file);
    if (root != NULL && is_in(path, root, from->below, from->file))
        return 1;
    for (size_t i = 0; i < 4 && from->folders[i] != NULL; i++)
        if (is_in(path, from->folders[i], NULL, from->file))
            return 1;
    return 0;
}

kiln_status kiln__math_library(const struct kiln__library **out,
                               kiln_context *context, const kiln_config *config,
                               kiln_error **error)
{
    const origin *from = origin_of(config);
    char path[PATH_MAX];

    if (from == NULL)
        return kiln__error_set(error, KILN_EUNSUPPORTED,
                               "%s has no mathematical functions of the "
                               "vendor's in this version",
                               config->backend);
    if (!find(path, from))
        return kiln__error_set(error, KILN_ENOTFOUND,
                               "%s, which mathematical functions on %s come "
                               "from, is not here: %s is neither in %s nor "
                               "where %s says",
                               from->library, config->backend, from->file,
                               from->folders[0], from->variable);
    return kiln__library_open(out, context, from->library, path, error);
}
