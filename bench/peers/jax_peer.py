# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is compared, in JAX: on the processor, with its persistent cache."""

import os

import protocol

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_COMPILATION_CACHE_DIR"] = protocol.FOLDER
# Else it keeps only what took a second to compile.
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
try:
    import jax
    import jax.numpy as jnp
    import numpy
except ImportError as error:
    protocol.absent(error)


@jax.jit
def saxpy(y, a, x):
    return a * x + y


@jax.jit
def nothing(y, a, x):
    return ()


def scaled(constant):
    @jax.jit
    def kernel(y, x):
        return jnp.float32(constant) * x + y
    return kernel


class Jax:
    RUNS = True
    version = jax.__version__

    def open(self):
        jax.devices()
        self.a = numpy.float32(protocol.A)

    def execute(self, y, x):
        self.y, self.x = jnp.asarray(y), jnp.asarray(x)
        return numpy.asarray(saxpy(self.y, self.a, self.x))

    def again(self):
        saxpy(self.y, self.a, self.x).block_until_ready()

    def launch_nothing(self, count):
        y, a, x = self.y, self.a, self.x
        for _ in range(count):
            done = nothing(y, a, x)
        jax.block_until_ready(done)

    def variant(self, constant, y, x):
        return numpy.asarray(scaled(constant)(y, x))


protocol.measure(Jax())
