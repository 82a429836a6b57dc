/* tool_paths.h - where the tools and libraries of others are. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_TOOLCHAIN_TOOL_PATHS_H
#define KILN_BASE_TOOLCHAIN_TOOL_PATHS_H

#include <limits.h>
#include <stddef.h>

/*
 * What takes part in an artifact beside the code generator. Both libraries
 * look: libkiln-codegen to use it, libkiln to know whether what made an entry
 * is what is here. So both must find the same, and nothing is opened or
 * started to find it.
 *
 * A variable of Kiln's names the file, or the folder of a library's bitcode;
 * "off" says that the tool is not to be used. Otherwise the toolkit that
 * CUDA_PATH or CUDA_HOME, of AMD's ROCM_PATH or HIP_PATH names, then the usual
 * folders, then the search path.
 */
enum {
    KILN__TOOL_NVJITLINK,
    KILN__TOOL_PTXAS,
    KILN__TOOL_LLD,
    KILN__TOOL_LIBCLC_NVPTX64,
    KILN__TOOL_LIBCLC_AMDGCN,
    KILN__TOOL_LIBDEVICE,
    KILN__TOOL_OCML,
    KILN__TOOL_LLVM_SPIRV,
    KILN__TOOL_SPIRV_TOOLS,
    KILN__TOOL_COUNT
};

/* Its word in what an entry says about who made it, "ptxas". */
const char *kiln__tool_name(int tool);
/* The tool of that name, or -1. */
int kiln__tool_named(const char *name, size_t size);

typedef enum kiln__tool_place {
    KILN__TOOL_ABSENT,
    KILN__TOOL_FOUND,    /* at the path */
    KILN__TOOL_BY_LOADER /* where the loader finds kiln__tool_sonames() */
} kiln__tool_place;

kiln__tool_place kiln__tool_find(char path[PATH_MAX], int tool);
/* Of a library, newest first; NULL-terminated. */
const char *const *kiln__tool_sonames(int tool);

/* For messages: the variable, the file, and a folder that it may be in. */
const char *kiln__tool_variable(int tool);
const char *kiln__tool_file(int tool);
const char *kiln__tool_folder(int tool);

#endif /* KILN_BASE_TOOLCHAIN_TOOL_PATHS_H */
