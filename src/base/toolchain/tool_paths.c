/* tool_paths.c - finds the tools and libraries of other projects. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/toolchain/tool_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 4
#define FOLDERS_MAX 4

/* Which search comes last. */
enum { NOWHERE, PROGRAMS, LOADER };

typedef struct tool {
    const char *name;
    const char *variable;
    int names_folder; /* the variable names a folder, not a file */
    int search;
    int is_amds;                  /* whether AMD's toolkit may have it, not
                                     NVIDIA's */
    const char *files[NAMES_MAX]; /* names of the same thing, best first */
    /* Folders below the toolkit's folder, which the toolkit's variables
       name. */
    const char *below[NAMES_MAX];
    const char *folders[FOLDERS_MAX];
} tool;

static const tool tools[KILN__TOOL_COUNT] = {
    [KILN__TOOL_NVJITLINK] =
        {
            .name = "nvjitlink",
            .variable = "KILN_NVJITLINK",
            .search = LOADER,
            .files = {"libnvJitLink.so.13", "libnvJitLink.so.12",
                      "libnvJitLink.so"},
            .below = {"lib64", "lib"},
            .folders = {"/usr/local/cuda/lib64"},
        },
    [KILN__TOOL_PTXAS] =
        {
            .name = "ptxas",
            .variable = "KILN_PTXAS",
            .search = PROGRAMS,
            .files = {"ptxas"},
            .below = {"bin"},
            .folders = {"/usr/local/cuda/bin"},
        },
    [KILN__TOOL_LLD] =
        {
            .name = "lld",
            .variable = "KILN_LLD",
            .search = PROGRAMS,
            .files = {"ld.lld-22", "ld.lld"},
        },
    [KILN__TOOL_LIBCLC_NVPTX64] =
        {
            .name = "libclc-nvptx64",
            .variable = "KILN_LIBCLC",
            .names_folder = 1,
            .files = {"nvptx64--.bc"},
            .folders = {"/usr/lib/clc", "/usr/share/clc",
                        "/usr/lib/llvm-22/share/libclc"},
        },
    [KILN__TOOL_LIBCLC_AMDGCN] =
        {
            .name = "libclc-amdgcn",
            .variable = "KILN_LIBCLC",
            .names_folder = 1,
            .files = {"amdgcn-amd-amdhsa.bc"},
            .folders = {"/usr/lib/clc", "/usr/share/clc",
                        "/usr/lib/llvm-22/share/libclc"},
        },
    [KILN__TOOL_LIBDEVICE] =
        {
            .name = "libdevice",
            .variable = "KILN_LIBDEVICE",
            .names_folder = 1,
            .files = {"libdevice.10.bc"},
            .below = {"nvvm/libdevice"},
            .folders = {"/usr/local/cuda/nvvm/libdevice",
                        "/usr/lib/cuda/nvvm/libdevice",
                        "/usr/lib/nvidia-cuda-toolkit/libdevice"},
        },
    [KILN__TOOL_OCML] =
        {
            .name = "ocml",
            .variable = "KILN_ROCM_DEVICE_LIBS",
            .names_folder = 1,
            .is_amds = 1,
            .files = {"ocml.bc"},
            .below = {"amdgcn/bitcode", "lib/bitcode"},
            .folders = {"/opt/rocm/amdgcn/bitcode",
                        "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode",
                        "/usr/lib/amdgcn/bitcode", "/usr/amdgcn/bitcode"},
        },
    [KILN__TOOL_LLVM_SPIRV] =
        {
            .name = "llvm-spirv",
            .variable = "KILN_LLVM_SPIRV",
            .search = PROGRAMS,
            .files = {"llvm-spirv-15", "llvm-spirv"},
        },
    [KILN__TOOL_SPIRV_TOOLS] =
        {
            .name = "spirv-tools",
            .variable = "KILN_SPIRV_TOOLS",
            .search = LOADER,
            .files = {"libSPIRV-Tools-shared.so"},
        },
};

const char *kiln__tool_name(int number)
{
    return tools[number].name;
}

int kiln__tool_named(const char *name, size_t size)
{
    for (int i = 0; i < KILN__TOOL_COUNT; i++)
        if (strlen(tools[i].name) == size &&
            memcmp(tools[i].name, name, size) == 0)
            return i;
    return -1;
}

const char *const *kiln__tool_sonames(int number)
{
    return tools[number].files;
}

const char *kiln__tool_variable(int number)
{
    return tools[number].variable;
}

const char *kiln__tool_file(int number)
{
    return tools[number].files[0];
}

const char *kiln__tool_folder(int number)
{
    return tools[number].folders[0];
}

/* ---- looking ---- */

static const char *value_of(const char *variable)
{
    const char *value = secure_getenv(variable);

    return value != NULL && *value != '\0' ? value : NULL;
}

static int is_file(const char *path, const tool *t)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
           access(path, t->search == PROGRAMS ? X_OK : R_OK) == 0;
}

/* Tries `folder`, of `letters` characters, perhaps a folder below it, and each
   of the file names. */
static int is_in(char path[PATH_MAX], const tool *t, const char *folder,
                 size_t letters, const char *below)
{
    for (size_t i = 0; i < NAMES_MAX && t->files[i] != NULL; i++) {
        const int size = snprintf(path, PATH_MAX, "%.*s/%s%s%s", (int)letters,
                                  folder, below != NULL ? below : "",
                                  below != NULL ? "/" : "", t->files[i]);

        if (size > 0 && size < PATH_MAX && is_file(path, t))
            return 1;
    }
    return 0;
}

static int is_in_toolkit(char path[PATH_MAX], const tool *t)
{
    static const char *const roots[2][2] = {{"CUDA_PATH", "CUDA_HOME"},
                                            {"ROCM_PATH", "HIP_PATH"}};

    for (size_t r = 0; r < 2; r++) {
        const char *root = value_of(roots[t->is_amds][r]);

        for (size_t i = 0; root != NULL && t->below[i] != NULL; i++)
            if (is_in(path, t, root, strlen(root), t->below[i]))
                return 1;
    }
    return 0;
}

/* Only absolute parts of PATH are searched: an empty one means the current
   folder, where nobody expects a compiler. */
static int is_in_search_path(char path[PATH_MAX], const tool *t)
{
    const char *at = value_of("PATH");

    while (at != NULL && *at != '\0') {
        const size_t letters = strcspn(at, ":");

        if (*at == '/' && letters < PATH_MAX &&
            is_in(path, t, at, letters, NULL))
            return 1;
        at += letters + (at[letters] == ':');
    }
    return 0;
}

static kiln__tool_place find_chosen(char path[PATH_MAX], const tool *t,
                                    const char *chosen)
{
    const int size = snprintf(path, PATH_MAX, "%s", chosen);
    int is_here;

    if (t->names_folder)
        is_here = is_in(path, t, chosen, strlen(chosen), NULL);
    else
        is_here = size < PATH_MAX && is_file(path, t);
    return is_here ? KILN__TOOL_FOUND : KILN__TOOL_ABSENT;
}

kiln__tool_place kiln__tool_find(char path[PATH_MAX], int number)
{
    const tool *t = &tools[number];
    const char *chosen = value_of(t->variable);

    if (chosen != NULL)
        return strcmp(chosen, "off") == 0 ? KILN__TOOL_ABSENT
                                          : find_chosen(path, t, chosen);
    if (is_in_toolkit(path, t))
        return KILN__TOOL_FOUND;
    for (size_t i = 0; i < FOLDERS_MAX && t->folders[i] != NULL; i++)
        if (is_in(path, t, t->folders[i], strlen(t->folders[i]), NULL))
            return KILN__TOOL_FOUND;
    if (t->search == PROGRAMS && is_in_search_path(path, t))
        return KILN__TOOL_FOUND;
    return t->search == LOADER ? KILN__TOOL_BY_LOADER : KILN__TOOL_ABSENT;
}
