# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One of many Taichi processes that want the same kernels at once.

usage: crowd_taichi.py KERNELS, at most 4; what it reads and prints is told in
bench/harness/crowds.py. The cache is in TI_OFFLINE_CACHE_FILE_PATH. Taichi
does not tell which kernels it compiled.
"""

import sys
import time

import numpy
import taichi as ti

print("ready", flush=True)
sys.stdin.read()
start = time.perf_counter_ns()
ti.init(arch=ti.cpu, offline_cache=True, log_level=ti.ERROR)


@ti.kernel
def k0(y: ti.types.ndarray(dtype=ti.f32, ndim=1)):
    for i in y:
        y[i] = 2 * y[i] + 0


@ti.kernel
def k1(y: ti.types.ndarray(dtype=ti.f32, ndim=1)):
    for i in y:
        y[i] = 2 * y[i] + 1


@ti.kernel
def k2(y: ti.types.ndarray(dtype=ti.f32, ndim=1)):
    for i in y:
        y[i] = 2 * y[i] + 2


@ti.kernel
def k3(y: ti.types.ndarray(dtype=ti.f32, ndim=1)):
    for i in y:
        y[i] = 2 * y[i] + 3


for n, kernel in enumerate([k0, k1, k2, k3][:int(sys.argv[1])]):
    items = numpy.arange(64, dtype=numpy.float32)
    kernel(items)
    if not (items == 2 * numpy.arange(64, dtype=numpy.float32) + n).all():
        sys.exit(f"kernel {n} is wrong")
print("took_ns", time.perf_counter_ns() - start)
