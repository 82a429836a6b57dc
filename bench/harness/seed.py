# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""First and second execution: precompiled or not, with the disk or without.

Figures are named seed/WORKLOAD/BACKEND/precompiled-…/disk-…/WHAT, WHAT being an
execution or `process`, all of it from fork to exit as its parent sees it. Of
first executions, `share` is the part that is compilation, `stages` how long
each stage took (in milliseconds, summed over threads), and `tiers` where its
jobs were found. Behind `kept/` are processes that find what the driver itself
kept of an earlier one; for all others that is empty.
"""

import itertools
import os
import statistics
import subprocess

import cells
import record
import workloads

NAME = "seed"
QUICK_BACKENDS = ("host",)


def make_pack(bench, workload, backend):
    """A pack of all jobs of the workload, for the backend's default target."""
    stem = os.path.join(bench.scratch, f"{workload.name}-{backend.name}")
    with open(stem + ".jobs", "w", encoding="utf-8") as file:
        file.write(workload.jobs(backend))
    environment = cells.clean_environment()
    environment.update(backend.environment)
    answer = subprocess.run(
        [os.path.join(bench.bin, "kiln"), "precompile", workload.package(),
         "--workload", stem + ".jobs", "--target", backend.target, "-o",
         stem + ".kilnpack"], capture_output=True, text=True, check=False,
        env=environment)
    if answer.returncode:
        raise cells.Wrong(f"kiln precompile: {answer.stderr.strip()[-300:]}")
    return stem + ".kilnpack"


def medians(results, key):
    """Of each entry of a table that each result has."""
    return {name: round(statistics.median(one[key][name] for one in results),
                        3) for name in results[0][key]}


def put_results(writer, cell, results, infix, vendor_state):
    for what in (*cell.workload.executions, "process"):
        more = {"workload": cell.workload.what, "vendor_cache": vendor_state}
        if what == cell.workload.first:
            more["share"] = round(statistics.median(
                one["share"] for one in results), 4)
            more["stages"] = medians(results, "stages")
            more["tiers"] = results[-1]["tiers"]
        writer.put(record.figure(f"{cell.name}{infix}/{what}", "kiln", "ms",
                                 [one[what] for one in results], **more))


def run_cells(bench, writer, workload, backend):
    pack = make_pack(bench, workload, backend)
    row = [cells.Cell(bench, workload, backend, precompiled, disk)
           for precompiled, disk in itertools.product((False, True), repeat=2)]
    for number in range(bench.runs):
        for cell in row:
            writer.progress(f"{cell.name}: {number + 1} of {bench.runs}")
            cell.run(pack)
    vendor = backend.vendor
    for cell in row:
        put_results(writer, cell, cell.results, "",
                    f"{vendor} empty" if vendor else "none")
        if cell.kept:
            put_results(writer, cell, cell.kept, "/kept", f"{vendor} kept")


def run(bench, writer):
    for backend in cells.backends():
        if bench.quick and backend.name not in QUICK_BACKENDS:
            continue
        count, why = backend.device_count(bench)
        if not count:
            writer.put(record.absent(f"kiln {backend.name}", why))
            continue
        for workload in workloads.all_of(bench):
            part = f"seed/{workload.name}/{backend.name}"
            if not part.startswith(bench.part):
                continue
            name = f"kiln {workload.name} on {backend.name}"
            if workload.here():
                writer.put(record.absent(name, workload.here()))
                continue
            try:
                run_cells(bench, writer, workload, backend)
            except cells.Wrong as error:
                writer.put({**record.absent(name, str(error)), "error": True})
