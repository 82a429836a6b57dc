# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A crowd of Taichi's, with the cache in TI_OFFLINE_CACHE_FILE_PATH. Taichi
does not tell which kernels it compiled."""

import crowd_protocol
import taichi as ti

Vector = ti.types.ndarray(dtype=ti.f32, ndim=1)


def kernel_of(n):
    @ti.kernel
    def kernel(y: Vector):
        for i in y:
            y[i] = 2 * y[i] + n
    return kernel


def kernels(count):
    ti.init(arch=ti.cpu, offline_cache=True, log_level=ti.ERROR)
    for n in range(count):
        yield kernel_of(n)


crowd_protocol.measure(kernels)
