# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is compared, in NVIDIA Warp: on the processor, one thread."""

import os

import protocol

os.environ["WARP_CACHE_PATH"] = protocol.FOLDER
try:
    import warp as wp
except ImportError as error:
    protocol.absent(error)

wp.config.log_level = wp.LOG_WARNING


@wp.kernel
def saxpy(y: wp.array(dtype=wp.float32), a: wp.float32,
          x: wp.array(dtype=wp.float32)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def nothing(y: wp.array(dtype=wp.float32), a: wp.float32,
            x: wp.array(dtype=wp.float32)):
    pass


def scaled(constant):
    factor = wp.constant(wp.float32(constant))

    @wp.kernel(module="unique")
    def kernel(y: wp.array(dtype=wp.float32), x: wp.array(dtype=wp.float32)):
        i = wp.tid()
        y[i] = factor * x[i] + y[i]
    return kernel


class Warp:
    RUNS = True
    version = wp.__version__

    def open(self):
        wp.init()
        self.device = wp.get_device("cpu")

    def share(self, values):
        return wp.from_numpy(values, dtype=wp.float32, device=self.device)

    def execute(self, y, x):
        self.y, self.x = self.share(y), self.share(x)
        self.again()
        return self.y.numpy()

    def again(self):
        wp.launch(saxpy, dim=len(self.y), inputs=[self.y, protocol.A, self.x],
                  device=self.device)

    def launch_nothing(self, count):
        arguments = [self.y, protocol.A, self.x]
        for _ in range(count):
            wp.launch(nothing, dim=1, inputs=arguments, device=self.device)

    def variant(self, constant, y, x):
        to = self.share(y)
        wp.launch(scaled(constant), dim=len(y), inputs=[to, self.share(x)],
                  device=self.device)
        return to.numpy()


protocol.measure(Warp())
