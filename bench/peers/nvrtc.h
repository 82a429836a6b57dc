/* nvrtc.h - a saxpy in CUDA C++, and NVRTC that makes a cubin of it. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_NVRTC_H
#define BENCH_NVRTC_H

#include <stddef.h>

/* Opens the library; NULL: libnvrtc.so. False where there is none that makes
   cubins. No device is needed. */
int nvrtc_open(const char *path);
void nvrtc_version(int *major, int *minor);
/* Compiles y = FACTOR * x + y: `factor` is the option that defines it. The
   cubin's size; 0: NVRTC failed. */
size_t nvrtc_compile(const char *architecture, const char *factor);

#endif /* BENCH_NVRTC_H */
