/* nvrtc_peer.c - what is compared, from CUDA C++ to a cubin, without a device.
 */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "peer.h"

/*
 * NVRTC keeps nothing: a program that wants a cache brings its own. The
 * library is what PEER_NVRTC in the environment names, else libnvrtc.so.
 */
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

static int open_nvrtc(const char *folder)
{
    const char *path = getenv("PEER_NVRTC");
    void *library = dlopen(path ? path : "libnvrtc.so", RTLD_NOW);

    (void)folder;
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

static int compile(const char *factor)
{
    const char *const options[] = {"-arch=sm_90", factor};
    program of = NULL;
    size_t size = 0;
    char *bytes = NULL;
    int good = api.create(&of, source, "saxpy.cu", 0, NULL, NULL) == 0 &&
               api.compile(of, 2, options) == 0 &&
               api.cubin_size(of, &size) == 0;

    if (good)
        bytes = malloc(size);
    good = bytes && api.cubin(of, bytes) == 0;
    free(bytes);
    api.destroy(&of);
    if (!good)
        fprintf(stderr, "NVRTC fails\n");
    return good;
}

static int execute(float *y, const float *x, size_t size)
{
    (void)y;
    (void)x;
    (void)size;
    return compile("-DFACTOR=a");
}

static int variant(int constant, float *y, const float *x, size_t size)
{
    char option[32];

    (void)y;
    (void)x;
    (void)size;
    snprintf(option, sizeof option, "-DFACTOR=%d.0f", constant);
    return compile(option);
}

static void close_nothing(void)
{
}

static void tell(struct peer_about *about)
{
    int major = 0, minor = 0;

    if (!open_nvrtc("")) {
        about->absent = "there is no libnvrtc.so that makes cubins";
        return;
    }
    api.version(&major, &minor);
    snprintf(about->version, sizeof about->version, "%d.%d", major, minor);
}

int main(int argc, char **argv)
{
    const struct peer peer = {.about = tell,
                              .open = open_nvrtc,
                              .execute = execute,
                              .variant = variant,
                              .close = close_nothing};

    return peer_main(argc, argv, &peer);
}
