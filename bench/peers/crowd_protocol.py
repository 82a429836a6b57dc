# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One of many processes that want the same kernels at once.

    PROGRAM KERNELS

What is read and printed is told in bench/harness/crowds.py. A program imports
its system, and gives measure() a generator kernels(count): of each kernel N a
function that makes 2 * I + N of each item I of an array, in place, and returns
whether it was compiled here; None, where the system does not tell. A system
begins its work in kernels(), when all processes are let go.
"""

import sys
import time

import numpy

ITEMS = 64


def measure(kernels):
    print("ready", flush=True)
    sys.stdin.read()
    start = time.perf_counter_ns()
    for n, kernel in enumerate(kernels(int(sys.argv[1]))):
        items = numpy.arange(ITEMS, dtype=numpy.float32)
        is_built = kernel(items)
        if (items != 2 * numpy.arange(ITEMS, dtype=numpy.float32) + n).any():
            sys.exit(f"kernel {n} is wrong")
        if is_built:
            print(f"built k{n}")
    print("took_ns", time.perf_counter_ns() - start)
