# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads kernels.txt, and makes the arguments of which it tells.

kernels.txt describes itself. read() gives its cases in their order; an
argument's data are the same on every machine.
"""

import array
import ast
import math
import os
import re
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
CODES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I",
         "i64": "q", "u64": "Q", "f32": "f", "f64": "d"}
PERIOD = 65521


class Nest:
    """A nest of loops: how often each runs, and what its body counts."""

    def __init__(self, text):
        trips, self.counted = text.split()
        self.trips = [int(one) for one in trips.split(",")]
        self.kind, per, more = re.fullmatch(
            r"(\w+)(?::(\d+))?((?:[!+]\w+)*)", self.counted).groups()
        self.per = int(per or 1)
        self._others = re.findall(r"([!+])(\w+)", more)

    def turns(self, level):
        return math.prod(self.trips[:level])

    def may_be(self, units_of):
        """Of a loop, by the units of a class that it has."""
        return all(bool(units_of(name)) == (sign == "+")
                   for sign, name in self._others)

    def units(self):
        return math.prod(self.trips) * self.per


class Argument:
    """A scalar, or an array with its sizes, the contiguous one first."""

    def __init__(self, text, number):
        self.number = number
        self.is_size = text.startswith("~")
        found = re.fullmatch(r"~?(\w+)(?:\[([\d,]+)\])?[=:](\S+)", text)
        if not found or found.group(1) not in CODES:
            raise ValueError(f"what argument is {text}?")
        self.type, sizes, self.value = found.groups()
        self.sizes = [int(one) for one in sizes.split(",")] if sizes else []

    def kiln_type(self):
        if not self.sizes:
            return self.type
        return f"{self.type}[{','.join(':' * len(self.sizes))}]"

    def items(self):
        return math.prod(self.sizes)

    def data(self):
        """The elements, as an array.array."""
        code, count = CODES[self.type], self.items()
        kind, _, bound = self.value.partition("%")
        if kind == "rand":
            return self._random(code, int(bound or 128), count)
        if kind == "rows":
            return array.array(code, (i * int(bound) - i % 3
                                      for i in range(count)))
        if kind == "iota":
            return array.array(code, range(count))
        return array.array(code, [ast.literal_eval(self.value)]) * count

    def scalar(self):
        """Its value, as an array of one element."""
        return array.array(CODES[self.type], [ast.literal_eval(self.value)])

    def _random(self, code, bound, count):
        """They repeat after PERIOD, which keeps this quick."""
        raw = (scramble(self.number, i) for i in range(min(count, PERIOD)))
        if self.type[0] == "f":
            values = array.array(code, ((one >> 8) / 2.0 ** 24 for one in raw))
        else:
            values = array.array(code, (one % bound for one in raw))
        return (values * -(-count // PERIOD))[:count]


def scramble(argument, i):
    """32 bits that look random: the finaliser of MurmurHash3."""
    bits = (i + 0x9e3779b9 * (argument + 1)) & 0xffffffff
    bits = ((bits ^ bits >> 16) * 0x85ebca6b) & 0xffffffff
    bits = ((bits ^ bits >> 13) * 0xc2b2ae35) & 0xffffffff
    return bits ^ bits >> 16


class Case:
    def __init__(self, line):
        fields = [field.strip() for field in line.split("|")]
        self.name, grid, block, loops, arguments = self._fields = fields[:5]
        self._others = dict(one.split("=") for field in fields[5:]
                            for one in field.split())
        self.grid = [int(one) for one in grid.split()]
        self.is_fixed = block.endswith("!")
        self.block = [int(one) for one in block.rstrip("!").split()]
        self.nests = [] if loops == "-" else [Nest(one) for one
                                              in loops.split(";")]
        self.arguments = [Argument(text, number) for number, text
                          in enumerate(arguments.split())]

    def larger(self):
        """The same with the numbers of `larger`."""
        def other(text):
            return re.sub(r"\b\d+\b", lambda found: self._others.get(
                found.group(0), found.group(0)), text)

        name, grid, block, loops, arguments = self._fields
        return Case("|".join((name, other(grid), block, loops,
                              other(arguments))))

    def path(self, suffix):
        return os.path.join(HERE, self.name, self.name + suffix)

    def has(self, suffix):
        return os.path.exists(self.path(suffix))

    def of_kiln(self):
        """The arguments of the kernel in Kiln's language."""
        return [one for one in self.arguments if not one.is_size]


def read(path=os.path.join(HERE, "kernels.txt")):
    cases, line = [], ""
    with open(path, encoding="utf-8") as file:
        for text in file:
            text = text.split("#")[0].rstrip("\n")
            if text.rstrip().endswith("\\"):
                line += text.rstrip()[:-1]
            elif (line + text).strip():
                cases.append(Case(line + text))
                line = ""
    return cases


def write_npy(path, argument):
    """In C order, so with the sizes reversed."""
    code = {"f": "f", "i": "i", "u": "u"}[argument.type[0]]
    bytes_ = int(argument.type[1:]) // 8
    order = "|" if bytes_ == 1 else "<"
    shape = ", ".join(str(one) for one in reversed(argument.sizes))
    head = (f"{{'descr': '{order}{code}{bytes_}', 'fortran_order': False, "
            f"'shape': ({shape},), }}")
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)))
        file.write(head.encode() + argument.data().tobytes())


def read_npy(path, argument):
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise ValueError(f"{path}: no NumPy file")
        wide = file.read(2)[0] > 1
        size, = struct.unpack("<I" if wide else "<H",
                              file.read(4 if wide else 2))
        file.read(size)
        data = array.array(CODES[argument.type])
        data.frombytes(file.read())
    return data
