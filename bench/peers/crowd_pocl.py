# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One of many PoCL processes that want the same kernels at once.

usage: crowd_pocl.py KERNELS; what it reads and prints is told in
bench/harness/crowds.py. The cache is PoCL's own, in POCL_CACHE_DIR; that of
PyOpenCL, which only calls it here, is off (PYOPENCL_NO_CACHE). PoCL does not
tell which kernels it compiled.
"""

import sys
import time

import numpy
import pyopencl as cl

platform = [p for p in cl.get_platforms() if "Portable" in p.name][0]

print("ready", flush=True)
sys.stdin.read()
start = time.perf_counter_ns()
context = cl.Context(platform.get_devices()[:1])
queue = cl.CommandQueue(context)

for n in range(int(sys.argv[1])):
    program = cl.Program(context, f"""
kernel void k{n}(global float *y)
{{ size_t i = get_global_id(0); y[i] = 2 * y[i] + {n}; }}
""").build()
    items = numpy.arange(64, dtype=numpy.float32)
    buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=items)
    getattr(program, f"k{n}")(queue, items.shape, None, buffer)
    cl.enqueue_copy(queue, items, buffer).wait()
    if not (items == 2 * numpy.arange(64, dtype=numpy.float32) + n).all():
        sys.exit(f"kernel {n} is wrong")
print("took_ns", time.perf_counter_ns() - start)
