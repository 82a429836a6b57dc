# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The workloads of the seed's tables: how each is started and understood.

    name                  of the rows
    executions            names of what a process times, in their order
    first                 the one that has share, stages and tiers
    here()                "" or why it cannot run
    jobs(backend)         the list for `kiln precompile`
    package()             its file
    command(backend, pack)
    parse(text)           {executions..., "share", "stages", "tiers"}, or
                          cells.Wrong if a figure is wrong
"""

import json
import os
import subprocess

from cells import Wrong


class Tgv:
    """The example tgv. Its compilation is one batch in front of a step."""

    executions = ("first", "second")
    first = "first"
    STEPS = 2

    def __init__(self, bench, real):
        self.name = f"tgv-{real}"
        self.bench = bench
        self.real = real
        self.log2n = 4 if bench.quick else 6
        self.folder = os.path.join(bench.root, "examples", "tgv")
        self.what = f"{1 << self.log2n}³ {real}, 43 kernels"

    def here(self):
        return ("" if os.path.exists(os.path.join(self.bench.bin, "tgv"))
                else "the example tgv is not built")

    def package(self):
        return os.path.join(self.folder, "tgv.kiln")

    def jobs(self, backend):
        del backend
        with open(os.path.join(self.bench.root, "bench", "tgv.jobs"),
                  encoding="utf-8") as file:
            return file.read().replace("f32", self.real)

    def command(self, backend, pack):
        command = [os.path.join(self.bench.bin, "tgv"), "--log2n",
                   str(self.log2n), "--type", self.real, "--steps",
                   str(self.STEPS), "--target", backend.target]
        return command + (["--insert", pack] if pack else [])

    def _check(self, rows):
        """Against the reference, within what compilers may differ by."""
        path = os.path.join(self.folder, "reference",
                            f"log2n{self.log2n}_{self.real}.txt")
        near = {"f32": (1e-5, 1e-6), "f64": (1e-10, 1e-10)}[self.real]
        with open(path, encoding="utf-8") as file:
            wanted = [line.split() for line in file if line[0].isdigit()]
        if len(rows) != self.STEPS + 1:
            raise Wrong(f"{self.name}: {len(rows)} rows of figures")
        for got, want in zip(rows, wanted):
            for column, tolerance in ((1, near[0]), (2, near[0]),
                                      (3, near[1]), (5, 0), (6, 0), (9, 0)):
                a, b = float(got[column]), float(want[column])
                if abs(a - b) > tolerance * abs(b):
                    raise Wrong(f"{self.name}: step {want[0]}, column "
                                f"{column}: {a}, the reference has {b}")

    def parse(self, text):
        rows = [line.split() for line in text.splitlines() if line.strip()]
        self._check([row for row in rows if row[0].isdigit()])
        result = {"stages": {}, "tiers": {}}
        part = ""
        for row in rows:
            if row[0] in ("execution", "stage", "tier"):
                part = row[0]
            elif part == "execution" and row[0] in self.executions:
                result[row[0]] = float(row[1])
                if row[0] == "first":
                    result["share"] = float(row[2].rstrip("%")) / 100
            elif part == "stage":
                result["stages"][row[0]] = float(row[2])
            elif part == "tier":
                asked, hit, built, waited, failed = map(int, row[1:6])
                result["tiers"][row[0]] = {
                    "memory": hit, "built": built, "waited": waited,
                    "stored": asked - hit - built - waited - failed}
        return result


class Driven:
    """A workload of the program kiln-many, which prints one JSON object."""

    def __init__(self, bench, name, executions, firsts, options):
        self.bench = bench
        self.name = name
        self.executions = executions
        self.first = firsts[0]
        self.firsts = firsts  # share is of these together
        self.options = options
        self.program = os.path.join(bench.bin, "kiln-many")
        self.what = ""

    def here(self):
        return "" if os.path.exists(self.program) else "kiln-many is not built"

    def _start(self, backend, *more):
        return [self.program, self.name, *self.options(backend), *more]

    def package(self):
        return os.path.join(self.bench.root, "bench", "many",
                            self.name + ".kiln")

    def jobs(self, backend):
        return subprocess.run(self._start(backend, "--jobs"), text=True,
                              capture_output=True, check=True).stdout

    def command(self, backend, pack):
        return self._start(backend, "--package", self.package(),
                           "--target", backend.target,
                           *(["--insert", pack] if pack else []))

    def parse(self, text):
        told = json.loads(text)
        if told["wrong"] or not told["checked"]:
            raise Wrong(f"{self.name}: {told['wrong']} of {told['checked']} "
                        "results are wrong")
        self.what = told["what"]
        result = {one["name"]: one["ms"] for one in told["executions"]}
        first = [one for one in told["executions"]
                 if one["name"] in self.firsts]
        took = sum(one["ms"] for one in first)
        result["share"] = (sum(one["compile_ms"] for one in first) / took
                           if took else 0)
        statistics = told["statistics"]
        result["stages"] = {name: spent / 1e6 for name, spent
                            in statistics["stages_ns"].items()}
        result["tiers"] = {
            name: {"memory": tier["hits"], "stored": tier["store_hits"],
                   "built": tier["built"], "waited": tier["waited"]}
            for name, tier in statistics["tiers"].items()}
        return result


# Where a driver takes a tenth of a second to compile one.
MANY_OF_SLOW = 100


def all_of(bench):
    quick = bench.quick
    steps = ("initialisation", "step-1", "step-2", "step-3", "step-4")

    def items(backend):
        del backend
        return ["--log2n", "12" if quick else "20"]

    def instances(backend):
        count = 25 if quick else MANY_OF_SLOW if backend.is_slow else 500
        return ["--instances", str(count)]

    return [Driven(bench, "saxpy", ("initialisation", "first", "second"),
                   ("first",), items),
            Tgv(bench, "f32"), Tgv(bench, "f64"),
            Driven(bench, "many", (*steps, "again"), steps, instances)]
