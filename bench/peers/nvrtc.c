/* nvrtc.c - makes a cubin of a saxpy in CUDA C++, by NVRTC. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "nvrtc.h"

#include <dlfcn.h>
#include <stdlib.h>

static const char source[] =
    "extern \"C\" __global__ void saxpy(float *y, long long ny, float a,\n"
    "                                 const float *x, long long nx)\n"
    "{\n"
    "    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < ny && i < nx)\n"
    "        y[i] = FACTOR * x[i] + y[i];\n"
    "}\n";

typedef struct program_handle *program;

static struct {
    int (*version)(int *major, int *minor);
    int (*create)(program *out, const char *text, const char *name, int headers,
                  const char *const *texts, const char *const *names);
    int (*compile)(program of, int count, const char *const *options);
    int (*cubin_size)(program of, size_t *size);
    int (*cubin)(program of, char *out);
    int (*destroy)(program *of);
} api;

int nvrtc_open(const char *path)
{
    void *library = dlopen(path ? path : "libnvrtc.so", RTLD_NOW);

    if (!library)
        return 0;
    *(void **)&api.version = dlsym(library, "nvrtcVersion");
    *(void **)&api.create = dlsym(library, "nvrtcCreateProgram");
    *(void **)&api.compile = dlsym(library, "nvrtcCompileProgram");
    *(void **)&api.cubin_size = dlsym(library, "nvrtcGetCUBINSize");
    *(void **)&api.cubin = dlsym(library, "nvrtcGetCUBIN");
    *(void **)&api.destroy = dlsym(library, "nvrtcDestroyProgram");
    return api.version && api.create && api.compile && api.cubin_size &&
           api.cubin && api.destroy;
}

void nvrtc_version(int *major, int *minor)
{
    api.version(major, minor);
}

size_t nvrtc_compile(const char *architecture, const char *factor)
{
    const char *const options[] = {architecture, factor};
    program of = NULL;
    size_t size = 0;
    char *bytes = NULL;

    if (api.create(&of, source, "saxpy.cu", 0, NULL, NULL) != 0)
        return 0;
    if (api.compile(of, 2, options) == 0 && api.cubin_size(of, &size) == 0)
        bytes = malloc(size);
    if (!bytes || api.cubin(of, bytes) != 0)
        size = 0;
    free(bytes);
    api.destroy(&of);
    return size;
}
