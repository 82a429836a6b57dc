/* tool_paths.h - finds the tools and libraries of other projects. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_BASE_TOOLCHAIN_TOOL_PATHS_H
#define KILN_BASE_TOOLCHAIN_TOOL_PATHS_H

#include <limits.h>
#include <stddef.h>

/*
 * The tools that take part in making an artifact, besides the code generator.
 * Both libraries search for them: libkiln-codegen to use them, libkiln to know
 * whether the tool that made an entry is the one installed here. So both must
 * find the same file, and the search opens and starts nothing.
 *
 * A variable of Kiln's names the file, or the folder of a library's bitcode;
 * "off" means that the tool is not to be used. Without the variable, the search
 * goes through the toolkit that CUDA_PATH or CUDA_HOME names (for AMD's tools
 * ROCM_PATH or HIP_PATH), then the usual folders, then the search path.
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

/* The tool's name in the identity of an entry's makers, "ptxas". */
const char *kiln__tool_name(int tool);
/* Returns the tool of that name, or -1. */
int kiln__tool_named(const char *name, size_t size);

typedef enum kiln__tool_place {
    KILN__TOOL_ABSENT,
    KILN__TOOL_FOUND,    /* at the path */
    KILN__TOOL_BY_LOADER /* where the loader finds kiln__tool_sonames() */
} kiln__tool_place;

kiln__tool_place kiln__tool_find(char path[PATH_MAX], int tool);
/* Sonames of a library, newest first; NULL-terminated. */
const char *const *kiln__tool_sonames(int tool);

/* For messages: the variable, the file, and a folder where it may be. */
const char *kiln__tool_variable(int tool);
const char *kiln__tool_file(int tool);
const char *kiln__tool_folder(int tool);

#endif /* KILN_BASE_TOOLCHAIN_TOOL_PATHS_H */
