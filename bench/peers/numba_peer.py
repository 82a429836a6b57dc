# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is compared, in Numba: a loop on one thread, kept on the disk."""

import os

import protocol

os.environ["NUMBA_CACHE_DIR"] = protocol.FOLDER
try:
    import numba
except ImportError as error:
    protocol.absent(error)


@numba.njit(cache=True)
def saxpy(y, a, x):
    for i in range(len(y)):
        y[i] = a * x[i] + y[i]


@numba.njit(cache=True)
def nothing(y, a, x):
    pass


def scaled(constant):
    @numba.njit(cache=True)
    def kernel(y, x):
        for i in range(len(y)):
            y[i] = constant * x[i] + y[i]
    return kernel


class Numba:
    RUNS = True
    version = numba.__version__

    def open(self):
        import numpy
        self.a = numpy.float32(protocol.A)
        self.factor = numpy.float32

    def execute(self, y, x):
        self.y, self.x = y, x
        self.again()
        return y

    def again(self):
        saxpy(self.y, self.a, self.x)

    def launch_nothing(self, count):
        y, a, x = self.y, self.a, self.x
        for _ in range(count):
            nothing(y, a, x)

    def variant(self, constant, y, x):
        scaled(self.factor(constant))(y, x)
        return y


protocol.measure(Numba())
