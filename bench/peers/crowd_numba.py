# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One of many Numba processes that want the same kernels at once.

usage: crowd_numba.py KERNELS, at most 4; what it reads and prints is told in
bench/harness/crowds.py. The cache is in NUMBA_CACHE_DIR.
"""

import sys
import time

import numba
import numpy

print("ready", flush=True)
sys.stdin.read()
start = time.perf_counter_ns()


@numba.njit(cache=True)
def k0(y):
    for i in range(y.size):
        y[i] = 2 * y[i] + 0


@numba.njit(cache=True)
def k1(y):
    for i in range(y.size):
        y[i] = 2 * y[i] + 1


@numba.njit(cache=True)
def k2(y):
    for i in range(y.size):
        y[i] = 2 * y[i] + 2


@numba.njit(cache=True)
def k3(y):
    for i in range(y.size):
        y[i] = 2 * y[i] + 3


for n, kernel in enumerate([k0, k1, k2, k3][:int(sys.argv[1])]):
    items = numpy.arange(64, dtype=numpy.float32)
    kernel(items)
    if not (items == 2 * numpy.arange(64, dtype=numpy.float32) + n).all():
        sys.exit(f"kernel {n} is wrong")
    if kernel.stats.cache_misses:
        print(f"built k{n}")
print("took_ns", time.perf_counter_ns() - start)
