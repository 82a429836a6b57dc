# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that run a kernel when it is their turn; turns/turn.h has the
protocol.

A Side is how one system runs a kernel: its name, the program and its options,
the suffix of the source, and what is set in its environment. A Turn is a
process of a side for a case.
"""

import array
import collections
import os
import subprocess
import sys
import threading
import time

import record

sys.path.append(os.path.join(record.ROOT, "bench", "kernels"))

import cases    # noqa: E402
import plain    # noqa: E402

LIMIT_S = 300   # until a process is ready

Side = collections.namedtuple("Side", "name program options suffix settings")


class Failure(Exception):
    """A program failed, or what it computed is wrong."""


class Data:
    """The arrays of a case as they begin, as files that all sides share."""

    def __init__(self, case, folder):
        self.case, self.folder = case, folder
        for one in case.arguments:
            if one.sizes:
                with open(self.path(one), "wb") as file:
                    file.write(one.data().tobytes())

    def path(self, argument):
        return os.path.join(self.folder, f"in{argument.number}")

    def describe(self, source, arguments):
        """The text of the file that a process reads."""
        case = self.case
        block = case.block if case.is_fixed else [0]
        sizes = [f"{name} {' '.join(str(one) for one in (*given, *more)[:3])}"
                 for name, given, more in (
                     ("grid", case.grid, (1, 1)),
                     ("block", block, (1, 1) if case.is_fixed else (0, 0)))]
        rows = [f"source {source}", f"kernel {case.name}", *sizes]
        for one in arguments:
            rows.append(f"array {one.type} {self.path(one)} "
                        f"{' '.join(map(str, one.sizes))}" if one.sizes else
                        f"scalar {one.type} {one.value}")
        return "\n".join(rows) + "\n"


def build_plain(case, side, folder):
    """The library's path, and how many ms the compiler took."""
    out = os.path.join(folder, f"{side.name}.so")
    start = time.monotonic()
    plain.build(case, "gcc", side.options, out)
    return out, (time.monotonic() - start) * 1e3


class Turn:
    """From compiling on; compile_ms and version are known then."""

    def __init__(self, side, data):
        self.side, self.data = side, data
        case = data.case
        source, options, spent = case.path(side.suffix), side.options, 0
        if side.suffix == ".c":
            source, spent = build_plain(case, side, data.folder)
            options = []
        self._arguments = (case.of_kiln() if side.suffix == ".kiln"
                           else case.arguments)
        path = os.path.join(data.folder, side.name + ".case")
        with open(path, "w", encoding="utf-8") as file:
            file.write(data.describe(source, self._arguments))
        self._err = open(os.path.join(data.folder, side.name + ".err"), "w+",
                         encoding="utf-8")
        self._process = subprocess.Popen(
            [*side.program, path, *options], text=True, stderr=self._err,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **side.settings})
        word, took, self.version = self._answer().split(None, 2)
        if word != "ready":
            self._fail(word)
        self.compile_ms = float(took) + spent

    def _fail(self, said=""):
        self.end()
        with open(self._err.name, encoding="utf-8") as file:
            rows = file.read().split("\n")
        told = [row for row in rows if row.strip()]
        raise Failure(f"{self.data.case.name}: "
                      f"{said or ''.join(told[-1:]) or 'it ended'}")

    def _answer(self):
        """A line; the process is ended when it takes too long."""
        timer = threading.Timer(LIMIT_S, self._process.kill)
        timer.daemon = True
        timer.start()
        line = self._process.stdout.readline()
        timer.cancel()
        return line if line.strip() else self._fail()

    def _ask(self, text):
        try:
            self._process.stdin.write(text + "\n")
            self._process.stdin.flush()
        except OSError:
            self._fail()
        return self._answer().split()

    def results(self):
        """Of one launch: the arrays, by their arguments' numbers."""
        folder = os.path.join(self.data.folder, self.side.name)
        os.makedirs(folder, exist_ok=True)
        self._ask("check " + folder)
        found = {}
        for place, one in enumerate(self._arguments):
            if one.sizes:
                found[one.number] = array.array(cases.CODES[one.type])
                path = os.path.join(folder, str(place))
                with open(path, "rb") as file:
                    found[one.number].frombytes(file.read())
                os.remove(path)
        return found

    def launch_ms(self, at_least_ms):
        """The median of launches that take so long together."""
        return float(self._ask(f"time {at_least_ms * 1e6:.0f}")[1]) / 1e6

    def end(self):
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._err):
            try:
                stream.close()
            except OSError:
                pass
