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
import readme
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
            if not cell.is_done():
                writer.progress(f"{cell.name}: {number + 1} of {bench.runs}")
                cell.run(pack)
    vendor = backend.vendor
    for cell in row:
        put_results(writer, cell, cell.results, "",
                    f"{vendor} empty" if vendor else "none")
        if cell.kept:
            put_results(writer, cell, cell.kept, "/kept", f"{vendor} kept")


def is_wanted(bench, workload, backend):
    """By --only; --quick leaves slow backends out unless they are named."""
    name = f"seed/{workload.name}/{backend.name}"
    if bench.quick and backend.name not in (*QUICK_BACKENDS,
                                            *bench.part.split("/")):
        return False
    return name.startswith(bench.part)


def run_backend(bench, writer, backend, wanted):
    count, why = backend.device_count(bench)
    if not count:
        writer.put(record.absent(f"kiln {backend.name}", why))
        return
    for workload in wanted:
        name = f"kiln {workload.name} on {backend.name}"
        if workload.here():
            writer.put(record.absent(name, workload.here()))
            continue
        try:
            run_cells(bench, writer, workload, backend)
        except cells.Wrong as error:
            writer.put({**record.absent(name, str(error)), "error": True})


def run(bench, writer):
    for backend in cells.backends():
        wanted = [one for one in workloads.all_of(bench)
                  if is_wanted(bench, one, backend)]
        if wanted:
            run_backend(bench, writer, backend, wanted)


# ---- tables ----

STAGES = ("parse", "infer", "lower", "link", "optimise", "emit", "load")
TIERS = ("typed_ir", "runtime", "binary")
STEPS = ("initialisation", "step-1", "step-2", "step-3", "step-4", "again")


def rows_of(found):
    """(workload, backend, precompiled, disk with what stands behind it) and
    the row's figures by name, in the order in which they were measured."""
    rows = {}
    for (_, name), figure in found.items():
        workload, backend, precompiled, disk, *rest = name.split("/")
        kept = ", driver's kept" if rest[0] == "kept" else ""
        title = (workload, backend, precompiled.split("-")[1],
                 disk.split("-")[1] + kept)
        rows.setdefault(title, {})[rest[-1]] = figure
    return rows


def share(figure):
    return f"{100 * figure['share']:.1f} %"


def executions_table(rows):
    return readme.table(
        ("workload", "backend", "precompiled", "disk", "first execution",
         "of it compilation", "second execution", "whole process", "runs"),
        [(f"{title[0]}, {figures['first']['workload']}", *title[1:],
          readme.spread(figures["first"]), share(figures["first"]),
          readme.spread(figures["second"]), readme.spread(figures["process"]),
          figures["first"]["runs"])
         for title, figures in rows.items() if title[0] != "many"])


def many_table(rows):
    return readme.table(
        ("many", "backend", "precompiled", "disk",
         *(step.replace("-", " ") for step in STEPS), "of it compilation",
         "runs"),
        [(figures[STEPS[0]]["workload"], *title[1:],
          *(readme.spread(figures[step]) for step in STEPS),
          share(figures[STEPS[0]]), figures[STEPS[0]]["runs"])
         for title, figures in rows.items() if title[0] == "many"])


def tier_cell(tier):
    return f"{tier['built']} / {tier['stored']} / {tier['memory']}"


def breakdown_table(rows):
    body = []
    for title, figures in rows.items():
        one = next((figure for figure in figures.values()
                    if "stages" in figure), None)
        if one:
            body.append((*title, *(readme.number(one["stages"].get(name, 0))
                                   for name in STAGES),
                         *(tier_cell(one["tiers"][name]) for name in TIERS)))
    return readme.table(("workload", "backend", "precompiled", "disk", *STAGES,
                         *(name.replace("_", " ") for name in TIERS)), body)


def tables(lines):
    rows = rows_of(readme.figures(lines, NAME))
    if not rows:
        return {}
    absent = [f"- {line['system'].removeprefix('kiln ')}: {line['why']}"
              for line in lines if line["kind"] == "absent" and
              line["system"].startswith("kiln ")]
    text = [readme.caption(lines)]
    if any(title[0] != "many" for title in rows):
        text.append(executions_table(rows))
    if any(title[0] == "many" for title in rows):
        text.append(many_table(rows))
    if absent:
        text.append("Not measured:\n\n" + "\n".join(absent))
    return {"seed": "\n\n".join(text), "stages": breakdown_table(rows)}
