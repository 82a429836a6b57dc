# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A crowd of Numba's: at most 4 kernels. The cache is in NUMBA_CACHE_DIR."""

import crowd_protocol
import numba


def kernels(count):
    # Each is a function of its own, as in a program: Numba keeps one index
    # for all that are made of the same lines.
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

    def run(kernel, items):
        kernel(items)
        return bool(kernel.stats.cache_misses)

    for kernel in (k0, k1, k2, k3)[:count]:
        yield lambda items, kernel=kernel: run(kernel, items)


crowd_protocol.measure(kernels)
