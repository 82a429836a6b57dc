# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is compared, in loopy, by PyOpenCL on the first OpenCL device."""

import os

import protocol

# Three keep something: loopy and PyOpenCL here, PoCL below them there.
os.environ["XDG_CACHE_HOME"] = protocol.FOLDER
os.environ["POCL_CACHE_DIR"] = os.path.join(protocol.FOLDER, "pocl")
try:
    import loopy as lp
    import numpy
    import pyopencl as cl
    import pyopencl.array
except ImportError as error:
    protocol.absent(error)

VERSION = (2018, 2)


def program(text, **types):
    made = lp.make_kernel(
        "{[i]: 0 <= i < n}", text,
        [lp.GlobalArg("y", numpy.float32, shape=lp.auto),
         lp.GlobalArg("x", numpy.float32, shape=lp.auto),
         *(lp.ValueArg(name, of) for name, of in types.items()), ...],
        lang_version=VERSION)
    return lp.split_iname(made, "i", 128, outer_tag="g.0", inner_tag="l.0")


class Loopy:
    RUNS = True

    def open(self):
        self.context = cl.Context(cl.get_platforms()[0].get_devices()[:1])
        self.queue = cl.CommandQueue(self.context)
        self.saxpy = self.nothing = None

    def execute(self, y, x):
        self.y = cl.array.to_device(self.queue, y)
        self.x = cl.array.to_device(self.queue, x)
        if not self.saxpy:
            self.saxpy = program("y[i] = a * x[i] + y[i]", a=numpy.float32)
            self.saxpy = self.saxpy.executor(self.context)
        self.again()
        return self.y.get()

    def again(self):
        self.saxpy(self.queue, y=self.y, x=self.x, a=numpy.float32(protocol.A))
        self.queue.finish()

    def launch_nothing(self, count):
        if not self.nothing:
            self.nothing = lp.make_kernel(
                "{:}", "... nop", [
                    lp.GlobalArg("y", numpy.float32, shape=(protocol.SIZE,)),
                    lp.ValueArg("a", numpy.float32),
                    lp.GlobalArg("x", numpy.float32, shape=(protocol.SIZE,))],
                lang_version=VERSION).executor(self.context)
        y, a, x = self.y, numpy.float32(protocol.A), self.x
        for _ in range(count):
            self.nothing(self.queue, y=y, a=a, x=x)
        self.queue.finish()

    def variant(self, constant, y, x):
        to = cl.array.to_device(self.queue, y)
        made = program(f"y[i] = {constant} * x[i] + y[i]")
        made.executor(self.context)(
            self.queue, y=to, x=cl.array.to_device(self.queue, x))
        return to.get()


try:
    platform = cl.get_platforms()[0]
except (cl.Error, IndexError):
    protocol.absent("PyOpenCL finds no OpenCL platform")
Loopy.version = f"{lp.version.VERSION_TEXT}, {platform.version.strip()}"
protocol.measure(Loopy())
