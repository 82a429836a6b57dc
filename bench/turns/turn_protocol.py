# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The protocol of turn.h, for kernels in Python.

measure() is given a function that makes, of the kernel's name and whether it
may round as it likes, a function that runs the whole grid; and the system's
version. Arrays are NumPy's: in C order, with sizes reversed. The first run is
a part of compiling.
"""

import os
import statistics
import sys
import time

import numpy

LAUNCHES_LEAST = 3

# What a system prints of its own is no part of the protocol.
_told = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

TYPES = {"i8": numpy.int8, "u8": numpy.uint8, "i16": numpy.int16,
         "u16": numpy.uint16, "i32": numpy.int32, "u32": numpy.uint32,
         "i64": numpy.int64, "u64": numpy.uint64, "f32": numpy.float32,
         "f64": numpy.float64}


class Case:
    """The kernel's name, its arguments, and which arrays are reset."""

    def __init__(self, path):
        self.values, self._initial, self._reset = [], {}, {}
        with open(path, encoding="utf-8") as file:
            for line in file:
                self._read(*line.split())

    def _read(self, word, *rest):
        if word == "kernel":
            self.kernel, = rest
        elif word == "scalar":
            kind, value = rest
            number = float(value) if kind[0] == "f" else int(value, 0)
            self.values.append(TYPES[kind](number))
        elif word == "array":
            kind, path, *sizes = rest
            shape = [int(one) for one in reversed(sizes)]
            data = numpy.fromfile(path, TYPES[kind]).reshape(shape)
            self._initial[len(self.values)] = data
            self.values.append(data.copy())

    def reset(self):
        for place in self._reset:
            self.values[place][...] = self._initial[place]

    def reset_all(self):
        for place, data in self._initial.items():
            self.values[place][...] = data

    def save(self, folder):
        """From now on, what a launch changes is reset before it, unless it
        was filled with one number alone: such arrays are outputs."""
        self._reset = []
        for place, data in self._initial.items():
            now = self.values[place]
            now.tofile(os.path.join(folder, str(place)))
            if (data != now).any() and (data != data.flat[0]).any():
                self._reset.append(place)


def _tell(*words):
    print(*words, file=_told, flush=True)


def _launch_ns(case, kernel):
    case.reset()
    start = time.perf_counter_ns()
    kernel(*case.values)
    return time.perf_counter_ns() - start


def _time(case, kernel, wanted):
    _launch_ns(case, kernel)
    times = []
    while sum(times) < wanted or len(times) < LAUNCHES_LEAST:
        times.append(_launch_ns(case, kernel))
    _tell("took", round(statistics.median(times)))


def measure(make, version):
    case = Case(sys.argv[1])
    start = time.perf_counter_ns()
    kernel = make(case.kernel, "fast" in sys.argv[2:])
    kernel(*case.values)
    _tell("ready", (time.perf_counter_ns() - start) / 1e6, version)
    for line in sys.stdin:
        word, rest = line.split()
        if word == "check":
            case.reset_all()
            kernel(*case.values)
            case.save(rest)
            _tell("checked")
        else:
            _time(case, kernel, float(rest))
