/* nvrtc_saxpy.c - a saxpy from CUDA C++ to a cubin, to compare compile times. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/*
 * What `kiln-bench --filter cubin` does, through NVRTC, which needs no device:
 * the time of the first compile in the process, then the median of N more.
 * As a whole process it is what `kiln compile --emit binary` is.
 *
 *     cc -O2 nvrtc_saxpy.c -o nvrtc_saxpy
 *     ./nvrtc_saxpy [N [ARCHITECTURE [LIBRARY]]]
 */
static const char source[] =
    "extern \"C\" __global__ void saxpy(float *y, long long ny, float a,\n"
    "                                 const float *x, long long nx)\n"
    "{\n"
    "    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < ny && i < nx)\n"
    "        y[i] = a * x[i] + y[i];\n"
    "}\n";

typedef struct program_handle *program;

static struct {
    int (*create)(program *out, const char *text, const char *name, int headers,
                  const char *const *texts, const char *const *names);
    int (*compile)(program of, int count, const char *const *options);
    int (*cubin_size)(program of, size_t *size);
    int (*cubin)(program of, char *out);
    int (*destroy)(program *of);
} api;

static int open_api(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);

    if (!library)
        return 0;
    *(void **)&api.create = dlsym(library, "nvrtcCreateProgram");
    *(void **)&api.compile = dlsym(library, "nvrtcCompileProgram");
    *(void **)&api.cubin_size = dlsym(library, "nvrtcGetCUBINSize");
    *(void **)&api.cubin = dlsym(library, "nvrtcGetCUBIN");
    *(void **)&api.destroy = dlsym(library, "nvrtcDestroyProgram");
    return api.create && api.compile && api.cubin_size && api.cubin &&
           api.destroy;
}

static double now_ms(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static size_t compile(const char *option)
{
    program of = NULL;
    size_t size = 0;
    char *bytes;

    if (api.create(&of, source, "saxpy.cu", 0, NULL, NULL) != 0 ||
        api.compile(of, 1, &option) != 0 || api.cubin_size(of, &size) != 0)
        return 0;
    bytes = malloc(size);
    if (!bytes || api.cubin(of, bytes) != 0)
        size = 0;
    free(bytes);
    api.destroy(&of);
    return size;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 21;
    const char *architecture = argc > 2 ? argv[2] : "sm_90";
    double *times = calloc((size_t)count + 1, sizeof *times), first;
    char option[64];
    size_t size;

    snprintf(option, sizeof option, "-arch=%s", architecture);
    if (!times || !open_api(argc > 3 ? argv[3] : "libnvrtc.so")) {
        fprintf(stderr, "NVRTC is not here\n");
        return 1;
    }
    first = now_ms();
    size = compile(option);
    first = now_ms() - first;
    for (int i = 0; size && i < count; i++) {
        const double start = now_ms();

        size = compile(option);
        times[i] = now_ms() - start;
    }
    qsort(times, (size_t)count, sizeof *times, compare);
    printf("%zu bytes; first %.2f ms, then %.2f ms (median of %d)\n", size,
           first, count > 0 ? times[count / 2] : 0, count);
    free(times);
    return size == 0;
}
