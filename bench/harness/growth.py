# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compiling takes as programs grow, and what is held of kernels.

kiln-growth makes the programs, compiles them without any cache, and checks
what they compute. Each figure is from processes of its own.
"""

import json
import os
import statistics
import subprocess

import fit
import readme
import record

NAME = "growth"

# Sizes of each shape. `depth` ends below the longest chain of inferences
# that wait for each other, which is 200.
SHAPES = {
    "methods": (100, 300, 1000, 3000, 10000),
    "callees": (10, 30, 100, 300, 1000),
    "depth": (12, 25, 50, 100, 190),
    "length": (100, 300, 1000, 3000, 10000, 20000, 40000),
    "blocks": (10, 30, 100, 300, 1000, 3000, 7000),
    "loops": (10, 30, 100, 300, 1000, 3000, 7000),
}
SHAPES_QUICK = {shape: (4, 8) for shape in SHAPES}
KERNELS = (10, 100, 1000)
KERNELS_QUICK = (2, 4)
ROUND_KERNELS = 20
SMALL_MEMORY = 65536 # bytes that the tiers may hold unused
FRONT_STAGES = ("parse", "infer")
TIERS = ("typed_ir", "runtime", "binary")


class Failed(Exception):
    pass


def ask(bench, arguments, variables=None):
    """The objects that kiln-growth printed."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("KILN_")}
    environment.update(variables or {})
    command = [os.path.join(bench.bin, "kiln-growth"), *arguments]
    try:
        answer = subprocess.run(command, env=environment, text=True,
                                capture_output=True, check=False, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Failed(str(problem)) from problem
    if answer.returncode != 0:
        raise Failed((answer.stderr.strip().splitlines() or
                      [f"status {answer.returncode}"])[-1])
    return [json.loads(line) for line in answer.stdout.splitlines()]


# ---- programs ----

def measures(found):
    """Name, unit and value of each figure of one program."""
    stages = found["stages_ns"]
    yield "define", "ms", found["define_ns"] / 1e6
    yield "front", "ms", sum(stages[stage] for stage in FRONT_STAGES) / 1e6
    for stage in stages:
        yield "stage/" + stage, "ms", stages[stage] / 1e6
    yield "compile", "ms", found["compile_ns"] / 1e6
    yield "memory/context", "bytes", found["context_bytes"]
    yield "memory/context-most", "bytes", found["context_most_bytes"]
    yield "memory/process-most", "bytes", found["process_most_bytes"]


def put_growth(writer, shape, sizes, medians, unit):
    """The line through the medians, and the exponent at its end."""
    slope, intercept = fit.line(sizes, medians)
    name, shown = shape
    writer.put(record.figure(
        f"growth/{name}/{shown}/exponent", "kiln", "ratio",
        [round(fit.exponent(sizes, medians), 3)], slope=slope,
        slope_unit=unit + " for one more", intercept=intercept,
        sizes=list(sizes)))


def run_shape(bench, writer, shape, sizes):
    values = {}
    for size in sizes:
        for _ in range(bench.runs):
            found, = ask(bench, [shape, str(size)])
            for name, unit, value in measures(found):
                values.setdefault((name, unit), {}).setdefault(
                    size, []).append(value)
        took = statistics.median(values[("compile", "ms")][size])
        writer.progress(f"growth/{shape}: {size}: {took:.1f} ms")
    for (name, unit), by_size in values.items():
        for size in sizes:
            writer.put(record.figure(f"growth/{shape}/{name}/size={size}",
                                     "kiln", unit, by_size[size]))
        medians = [statistics.median(by_size[size]) for size in sizes]
        if any(medians):
            put_growth(writer, (shape, name), sizes, medians, unit)


# ---- what is held ----

def named(text):
    return text.replace(", ", "-").replace(" ", "-")


def put_held(writer, name, runs, kernels):
    """`runs`: what each run held at one moment."""
    writer.put(record.figure(name + "/context", "kiln", "bytes",
                             [held["context_bytes"] for held in runs],
                             kernels=kernels))
    for tier in TIERS:
        writer.put(record.figure(
            f"{name}/{tier}", "kiln", "bytes",
            [held[tier + "_bytes"] for held in runs],
            entries=runs[0][tier + "_entries"], kernels=kernels))


def put_per_kernel(writer, moments, kernels):
    """Of one compiled kernel: in each tier, and beyond their payloads."""
    name = f"growth/held/kernels={kernels}/per-kernel"
    before, defined, compiled = (moments[when] for when in
                                 ("before", "defined", "compiled"))
    for tier in TIERS:
        key = tier + "_bytes"
        writer.put(record.figure(
            f"{name}/{tier}", "kiln", "bytes",
            [(now[key] - then[key]) / kernels
             for now, then in zip(compiled, before)]))
    for part, after, then in (("definition", defined, before),
                              ("context", compiled, defined)):
        writer.put(record.figure(
            f"{name}/{part}", "kiln", "bytes",
            [(a["context_bytes"] - b["context_bytes"]) / kernels
             for a, b in zip(after, then)]))


def run_held(bench, writer, kernels):
    moments = {}
    for _ in range(bench.runs):
        for held in ask(bench, ["held", str(kernels)]):
            moments.setdefault(held["when"], []).append(held)
    for when, runs in moments.items():
        put_held(writer, f"growth/held/kernels={kernels}/{named(when)}", runs,
                 kernels)
    put_per_kernel(writer, moments, kernels)
    writer.progress(f"growth/held: {kernels} kernels")


def run_rounds(bench, writer, memory):
    """Defined again and again; what is unused may take so many bytes."""
    variables = {"KILN_CACHE_MEM_SIZE": str(memory)} if memory else {}
    kernels = 2 if bench.quick else ROUND_KERNELS
    words = f"memory={memory}" if memory else "memory=default"
    rounds = {}
    for _ in range(min(bench.runs, 2)):
        for held in ask(bench, ["rounds", str(kernels)], variables):
            rounds.setdefault(held["round"], []).append(held)
    for number, runs in rounds.items():
        put_held(writer, f"growth/rounds/{words}/round={number}", runs,
                 kernels)
    writer.progress(f"growth/rounds: {words}")


def run(bench, writer):
    try:
        shapes = SHAPES_QUICK if bench.quick else SHAPES
        for shape, sizes in shapes.items():
            run_shape(bench, writer, shape, sizes)
        for kernels in KERNELS_QUICK if bench.quick else KERNELS:
            run_held(bench, writer, kernels)
        for memory in (0, SMALL_MEMORY):
            run_rounds(bench, writer, memory)
    except Failed as failed:
        writer.put({**record.absent("kiln", f"growth: {failed}"),
                    "error": True})


# ---- tables ----

SHOWN = ("define", "front", "stage/lower", "stage/optimise", "stage/emit",
         "compile", "memory/context")


def growth_table(found):
    rows = []
    for shape, sizes in SHAPES.items():
        for measure in SHOWN:
            name = f"growth/{shape}/{measure}"
            end = found.get(name + "/exponent")
            last = found.get(f"{name}/size={sizes[-1]}")
            if end and last:
                rows.append([shape, measure, f"{sizes[-1]:,}",
                             f"{readme.number(last['median'])} {last['unit']}",
                             f"{end['median']:.2f}"])
    head = ["what grows", "measure", "largest size", "there",
            "exponent at the end"]
    return readme.table(head, rows) if rows else None


def held_table(found):
    rows = []
    for kernels in KERNELS:
        name = f"growth/held/kernels={kernels}/per-kernel/"
        cells = [found.get(name + part)
                 for part in ("definition", "context", *TIERS)]
        if all(cells):
            rows.append([f"{kernels:,}", *(readme.number(cell["median"])
                                           for cell in cells)])
    head = ["kernels", "definitions", "all else of the context", *TIERS]
    return readme.table(head, rows) if rows else None


def dropped_table(found):
    kernels = KERNELS[-1]
    rows = []
    for when in ("defined", "compiled", "redefined", "redefined-collected",
                 "unloaded-collected"):
        name = f"growth/held/kernels={kernels}/{when}/"
        cells = [found.get(name + part) for part in ("context", *TIERS)]
        if all(cells):
            rows.append([when.replace("-", ", "), *(
                readme.number(cell["median"]) for cell in cells)])
    head = [f"{kernels:,} kernels", "context, bytes", *TIERS]
    return readme.table(head, rows) if rows else None


def tables(lines):
    found = {line["name"]: line for line in lines if line["kind"] == "figure"
             and line["name"].startswith("growth/")}
    made = {"growth": growth_table(found), "growth-held": held_table(found),
            "growth-dropped": dropped_table(found)}
    return {name: text for name, text in made.items() if text}
