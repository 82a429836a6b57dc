/* nvrtc.h - makes a cubin of a saxpy in CUDA C++, by NVRTC. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef BENCH_NVRTC_H
#define BENCH_NVRTC_H

#include <stddef.h>

/* Opens the library; NULL: libnvrtc.so. Returns false where no library makes
   cubins. No device is needed. */
int nvrtc_open(const char *path);
void nvrtc_version(int *major, int *minor);
/* Compiles y = FACTOR * x + y; `factor` is the option that defines FACTOR.
   Returns the size of the cubin; 0: NVRTC failed. */
size_t nvrtc_compile(const char *architecture, const char *factor);

#endif /* BENCH_NVRTC_H */
