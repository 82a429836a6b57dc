/* kiln_vendors.c - shows the caches of drivers and of other compilers. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kiln_cache.h"

/*
 * When Kiln's cache is cold, those of the others may be warm; and when the disk
 * is full, they may be the cause. If a variable moves a cache, its value is
 * looked at first. Names and defaults are those of each project's manual.
 */

typedef enum base {
    IN_HOME,  /* ~ */
    IN_CACHE, /* $XDG_CACHE_HOME, else ~/.cache */
    NOWHERE   /* beside the files of each program */
} base;

static const struct vendor {
    const char *name;
    const char *variable; /* environment variable that moves the cache */
    const char *behind;   /* what follows the variable's value in the path */
    base base;
    const char *folder;
    const char *off; /* how it is switched off */
} vendors[] = {
    {"CUDA driver", "CUDA_CACHE_PATH", "", IN_HOME, ".nv/ComputeCache",
     "CUDA_CACHE_DISABLE=1"},
    {"Intel NEO", "NEO_CACHE_DIR", "", IN_CACHE, "neo_compiler_cache",
     "NEO_CACHE_PERSISTENT=0"},
    {"AMD comgr (HIP)", "AMD_COMGR_CACHE_DIR", "", IN_CACHE, "comgr",
     "AMD_COMGR_CACHE=0"},
    {"MIOpen", "MIOPEN_CUSTOM_CACHE_DIR", "", IN_CACHE, "miopen",
     "MIOPEN_DISABLE_CACHE=1"},
    {"Mesa", "MESA_SHADER_CACHE_DIR", "/mesa_shader_cache", IN_CACHE,
     "mesa_shader_cache", "MESA_SHADER_CACHE_DISABLE=true"},
    {"PoCL", "POCL_CACHE_DIR", "", IN_CACHE, "pocl", "POCL_KERNEL_CACHE=0"},
    {"Triton", "TRITON_CACHE_DIR", "", IN_HOME, ".triton/cache",
     "TRITON_ALWAYS_COMPILE=1"},
    {"Numba", "NUMBA_CACHE_DIR", "", NOWHERE, "__pycache__ of each file",
     "cache=False in @jit, the default"},
    {"CuPy", "CUPY_CACHE_DIR", "", IN_HOME, ".cupy/kernel_cache",
     "CUPY_CACHE_IN_MEMORY=1"},
    {"Julia", "JULIA_DEPOT_PATH", "/compiled", IN_HOME, ".julia/compiled",
     "julia --compiled-modules=no"},
};

/* ---- places ---- */

static const char *value_of(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

static int default_path(char out[PATH_MAX], const struct vendor *of)
{
    const char *home = value_of("HOME");
    const char *cache = value_of("XDG_CACHE_HOME");

    if (of->base == IN_CACHE && cache != NULL)
        (void)snprintf(out, PATH_MAX, "%s/%s", cache, of->folder);
    else if (of->base != NOWHERE && home != NULL)
        (void)snprintf(out, PATH_MAX, "%s/%s%s", home,
                       of->base == IN_CACHE ? ".cache/" : "", of->folder);
    else
        return 0;
    return 1;
}

/* Finds the first existing folder of a list. */
static int find_path(char out[PATH_MAX], const struct vendor *of)
{
    const char *value = value_of(of->variable);

    if (value == NULL || *value == ':')
        return default_path(out, of);
    (void)snprintf(out, PATH_MAX, "%.*s%s", (int)strcspn(value, ":"), value,
                   of->behind);
    return 1;
}

/* ---- sizes ---- */

static uint64_t sum; /* nftw() has no argument for it */

static int add_file(const char *path, const struct stat *facts, int kind,
                    struct FTW *place)
{
    (void)path;
    (void)place;
    if (kind == FTW_F)
        sum += (uint64_t)facts->st_blocks * 512;
    return 0;
}

/* Returns false when there is nothing at the path. */
static int measure(uint64_t *out, const char *path)
{
    struct stat facts;

    if (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode))
        return 0;
    sum = 0;
    (void)nftw(path, add_file, 16, FTW_PHYS | FTW_MOUNT);
    *out = sum;
    return 1;
}

/* ---- output ---- */

static void show_vendor(cache_command *c, const struct vendor *of)
{
    char path[PATH_MAX], bytes[CACHE_TEXT_SIZE];
    const int is_known = find_path(path, of);
    uint64_t size = 0;
    const int is_there = is_known && measure(&size, path);

    if (c->options->json) {
        json_object(&c->json, NULL);
        json_text(&c->json, "name", of->name);
        json_text(&c->json, "folder", is_known ? path : NULL);
        json_flag(&c->json, "there", is_there);
        json_number(&c->json, "disk_bytes", size);
        json_text(&c->json, "moved_by", of->variable);
        json_text(&c->json, "off", of->off);
        json_end(&c->json);
        return;
    }
    (void)printf("%-15s %10s  %s\n", of->name,
                 is_there ? cache_bytes(bytes, size) : "-",
                 is_known ? path : of->folder);
    (void)printf("%-15s %10s  off: %s; elsewhere: %s\n", "", "", of->off,
                 of->variable);
}

void cache_show_vendors(cache_command *c)
{
    if (c->options->json)
        json_array(&c->json, "others");
    else
        (void)printf("\nothers on this machine\n");
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
        show_vendor(c, &vendors[i]);
    if (c->options->json)
        json_end(&c->json);
}
