# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is compared, in Triton: to a cubin for sm_90, without a device."""

import os

import protocol

os.environ["TRITON_CACHE_DIR"] = protocol.FOLDER
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"  # what it does unasked
try:
    import numpy  # the others have it, too: what is imported is comparable
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
except ImportError as error:
    protocol.absent(error)


@triton.jit
def saxpy(y, a, x, n, CONSTANT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    factor = a if CONSTANT == 0 else CONSTANT
    at_x = tl.load(x + i, inside)
    tl.store(y + i, factor * at_x + tl.load(y + i, inside), inside)


def to_cubin(constant):
    made = triton.compile(
        ASTSource(saxpy, signature={"y": "*fp32", "a": "fp32", "x": "*fp32",
                                    "n": "i32", "CONSTANT": "constexpr",
                                    "BLOCK": "constexpr"},
                  constexprs={"CONSTANT": constant, "BLOCK": 256}),
        target=GPUTarget("cuda", 90, 32))
    if not made.asm["cubin"].startswith(b"\x7fELF"):
        raise RuntimeError("no cubin was made")


class Triton:
    RUNS = False
    version = triton.__version__

    def open(self):
        pass

    def execute(self, y, x):
        to_cubin(0)

    def variant(self, constant, y, x):
        to_cubin(float(constant))


protocol.measure(Triton())
