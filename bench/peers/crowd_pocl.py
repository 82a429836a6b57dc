# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A crowd of PoCL's. The cache is its own, in POCL_CACHE_DIR; that of PyOpenCL,
which only calls it here, is off (PYOPENCL_NO_CACHE). PoCL does not tell which
kernels it compiled."""

import crowd_protocol
import pyopencl as cl

platform = [p for p in cl.get_platforms() if "Portable" in p.name][0]


def run(context, queue, n, items):
    program = cl.Program(context, f"""
kernel void k{n}(global float *y)
{{ size_t i = get_global_id(0); y[i] = 2 * y[i] + {n}; }}
""").build()
    buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=items)
    getattr(program, f"k{n}")(queue, items.shape, None, buffer)
    cl.enqueue_copy(queue, items, buffer).wait()


def kernels(count):
    context = cl.Context(platform.get_devices()[:1])
    queue = cl.CommandQueue(context)
    for n in range(count):
        yield lambda items, n=n: run(context, queue, n, items)


crowd_protocol.measure(kernels)
