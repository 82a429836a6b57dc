# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is compared, in Taichi: on all cores, with its offline cache."""

import os

import protocol

os.environ["TI_OFFLINE_CACHE_FILE_PATH"] = protocol.FOLDER
os.environ["ENABLE_TAICHI_HEADER_PRINT"] = "False"
os.environ["TI_SKIP_VERSION_CHECK"] = "ON"
try:
    import taichi as ti
except ImportError as error:
    protocol.absent(error)

Vector = ti.types.ndarray(dtype=ti.f32, ndim=1)


@ti.kernel
def saxpy(y: Vector, a: ti.f32, x: Vector):
    for i in y:
        y[i] = a * x[i] + y[i]


@ti.kernel
def nothing(y: Vector, a: ti.f32, x: Vector):
    pass


@ti.kernel
def scaled(y: Vector, constant: ti.template(), x: Vector):
    for i in y:
        y[i] = ti.static(float(constant)) * x[i] + y[i]


class Taichi:
    RUNS = True
    version = ".".join(str(part) for part in ti.__version__)

    def open(self):
        ti.init(arch=ti.cpu, offline_cache=True, log_level=ti.ERROR)

    def execute(self, y, x):
        self.y, self.x = y, x
        self.again()
        return y

    def again(self):
        saxpy(self.y, protocol.A, self.x)
        ti.sync()

    def launch_nothing(self, count):
        y, a, x = self.y, protocol.A, self.x
        for _ in range(count):
            nothing(y, a, x)
        ti.sync()

    def variant(self, constant, y, x):
        scaled(y, constant, x)
        ti.sync()
        return y


protocol.measure(Taichi())
