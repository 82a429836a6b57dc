# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in plain C: builds each as a library, with a function that calls it.

NAME.c has a function NAME that does what the whole grid does. It takes the
arguments of the kernel in OpenCL C. Where these do not tell how many items
there are, the number is its last parameter, `items`. The library has

    void turn_call(void *const *arguments);

which is given the address of each argument: of an array's first element, or
of a scalar.
"""

import ctypes
import math
import os
import re
import subprocess

import cases

C_TYPES = {"i8": "signed char", "u8": "unsigned char", "i16": "short",
           "u16": "unsigned short", "i32": "int", "u32": "unsigned",
           "i64": "long", "u64": "unsigned long", "f32": "float",
           "f64": "double"}


def text_of(case):
    path = case.path(".c")
    with open(path, encoding="utf-8") as file:
        takes_items = re.search(r"\bint items\)\s*\{", file.read())
    values = [f"a[{one.number}]" if one.sizes else
              f"*(const {C_TYPES[one.type]} *)a[{one.number}]"
              for one in case.arguments]
    if takes_items:
        values.append(str(math.prod(case.grid)))
    return "\n".join([f'#include "{path}"', "",
                      "void turn_call(void *const *a);",
                      "void turn_call(void *const *a)", "{",
                      f"    {case.name}({', '.join(values)});", "}", ""])


def build(case, compiler, options, out):
    """Writes the library; a ValueError has what the compiler says."""
    text = out + ".c"
    with open(text, "w", encoding="utf-8") as file:
        file.write(text_of(case))
    done = subprocess.run([compiler, "-std=c11", *options, "-fPIC", "-shared",
                           "-o", out, text, "-lm"], capture_output=True,
                          text=True, check=False)
    if done.returncode:
        raise ValueError(f"{case.name}.c: {done.stderr.strip()}")


def run(case, compiler, folder):
    """What is in each array afterwards, by the argument's number."""
    out = os.path.join(folder, "plain.so")
    build(case, compiler, ["-O1"], out)
    found, addresses = {}, []
    for one in case.arguments:
        data = one.data() if one.sizes else one.scalar()
        address, _ = data.buffer_info()
        addresses.append(address)
        found[one.number] = data
    library = ctypes.CDLL(out)
    library.turn_call((ctypes.c_void_p * len(addresses))(*addresses))
    return {one.number: found[one.number] for one in case.arguments
            if one.sizes}
