# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ten thousand ranks on 1,250 nodes that start together: the model of ranks.py
with costs that are measured here, and a site that is assumed.

As a program it takes the figures of an earlier run, simulates again, and
prints JSON lines:

    python3 bench/harness/simulation.py FIGURES.json
"""

import dataclasses
import os
import shutil
import statistics
import subprocess
import sys
import time

import crowds
import ranks
import readme
import record

NAME = "simulation"

# What is assumed: value, unit, and where it is from.
ASSUMED = {
    "ranks": (10000, "count", "the size that is asked about"),
    "nodes": (1250, "count", "eight ranks on each, each with its own core"),
    "kernels": (43, "count", "those of the example tgv, each wanted in turn"),
    "launch_spread": (0.0, "s", "all start together, which is the worst case "
                      "for a shared folder: nobody comes late enough to find "
                      "anything"),
    "metadata_rate": (30000, "requests/s", "assumed: of the order of one "
                      "metadata server of a parallel file system"),
    "metadata_latency": (5e-4, "s", "assumed: there and back"),
    "data_rate": (50e9, "bytes/s", "assumed: all data servers together"),
    "network_latency": (2e-6, "s", "assumed: one message between nodes"),
    "network_rate": (10e9, "bytes/s", "assumed: one node's link"),
    "requests_of_miss": (4, "count", "traced: the program's, the instance's "
                         "and the binary's key, and the last once more "
                         "before it is built"),
    "requests_of_hit": (2, "count", "traced: open and close"),
    "requests_of_put": (4, "count", "traced: look, create, close, rename"),
}
QUICK = {"ranks": 64, "nodes": 8, "kernels": 3}

FEW, MANY = 4, 36 # kernels of the processes that are measured
FEW_QUICK, MANY_QUICK = 1, 3


class Failed(Exception):
    pass


# ---- costs ----

def run_process(bench, folder, kernels):
    """One kiln-crowd, alone with the folder."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("KILN_")}
    environment["KILN_CACHE_DIR"] = folder
    crowd = crowds.run([os.path.join(bench.bin, "kiln-crowd"), str(kernels)],
                       environment, 1)
    if crowd.failures:
        raise Failed(crowd.why)
    return crowd


def in_folder(folder):
    """Bytes and number of the entries in it."""
    sizes = [os.path.getsize(os.path.join(path, name))
             for path, _, names in os.walk(folder) for name in names
             if name.endswith(".e")]
    return sum(sizes), len(sizes)


def start_time(bench):
    """Of a process that does nothing, and then nothing more."""
    begin = time.perf_counter()
    subprocess.run([os.path.join(bench.bin, "kiln"), "--version"], check=True,
                   stdout=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1e3


def measure_once(bench):
    """One value of each cost."""
    few, many = ((FEW_QUICK, MANY_QUICK) if bench.quick else (FEW, MANY))
    folder = os.path.join(bench.scratch, "ranks")
    took, held = {}, {}
    for count in (few, many):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder, mode=0o700)
        took["cold", count] = run_process(bench, folder, count).slowest_ms
        held[count] = in_folder(folder)
        took["warm", count] = min(
            run_process(bench, folder, count).slowest_ms for _ in range(3))
    shutil.rmtree(folder, ignore_errors=True)
    per = {state: (took[state, many] - took[state, few]) / (many - few)
           for state in ("cold", "warm")}
    start = took["warm", few] - few * per["warm"]
    return {
        "start": (start_time(bench) + max(start, 0.0), "ms"),
        "codegen": (max(took["cold", few] - few * per["cold"] - start, 0.0),
                    "ms"),
        "compile": (per["cold"], "ms"),
        "hit": (max(per["warm"], 1e-3), "ms"),
        "kernel_bytes": ((held[many][0] - held[few][0]) / (many - few),
                         "bytes"),
        "put_entries": ((held[many][1] - held[few][1]) / (many - few),
                        "count"),
    }


def measure(bench, writer):
    """Writes what was measured, and gives it as figures by name."""
    values = {}
    for _ in range(bench.runs):
        for name, (value, unit) in measure_once(bench).items():
            values.setdefault((name, unit), []).append(value)
    lines = [record.figure(f"simulation/input/{name}", "kiln", unit, found)
             for (name, unit), found in values.items()]
    for line in lines:
        writer.put(line)
    return lines


def costs_from(lines):
    """Costs of the figures "simulation/input/…" among the lines."""
    found = {line["name"].rsplit("/", 1)[1]: line for line in lines
             if line.get("name", "").startswith("simulation/input/")}
    missing = {"start", "codegen", "compile", "hit", "kernel_bytes",
               "put_entries"} - set(found)
    if missing:
        raise Failed("no figure for " + ", ".join(sorted(missing)))
    medians = {name: line["median"] for name, line in found.items()}
    building = found["compile"]
    return ranks.Costs(
        start=medians["start"] / 1e3, codegen=medians["codegen"] / 1e3,
        compile=building["min"] / 1e3,
        spread=building["max"] / building["min"] - 1,
        hit=medians["hit"] / 1e3, kernel_bytes=medians["kernel_bytes"],
        # The source entry of a text is read once; program and binary always.
        hit_entries=2, put_entries=round(medians["put_entries"]))


# ---- outcome ----

def site_of(quick):
    values = {name: value for name, (value, _, _) in ASSUMED.items()}
    return ranks.Site(**{**values, **(QUICK if quick else {})})


def put_way(writer, way, world):
    name = f"simulation/{way}"
    site = world.site
    more = {"ranks": site.ranks, "nodes": site.nodes, "kernels": site.kernels}
    core_hours = (world.compiles * world.costs.compile *
                  (1 + world.costs.spread / 2)) / 3600
    for word, unit, value in (
            ("last-rank", "ms", max(world.ready) * 1e3),
            ("median-rank", "ms", statistics.median(world.ready) * 1e3),
            ("compiles-per-kernel", "count", world.compiles / site.kernels),
            ("compiling", "core-hours", core_hours),
            ("metadata-requests", "count", world.requests)):
        writer.put(record.figure(f"{name}/{word}", "kiln", unit, [value],
                                 **more))


def simulate(writer, costs, site):
    for name, value in dataclasses.asdict(site).items():
        writer.put(record.figure(f"simulation/assumed/{name}", "kiln",
                                 ASSUMED[name][1], [value],
                                 source=ASSUMED[name][2]))
    for way in ranks.WAYS:
        world = ranks.simulate(way, costs, site)
        writer.progress(f"{way}: last of {site.ranks} ranks ready after "
                        f"{max(world.ready):.3f} s, {world.compiles} compiles")
        put_way(writer, way, world)


def run(bench, writer):
    try:
        costs = costs_from(measure(bench, writer))
        simulate(writer, costs, site_of(bench.quick))
    except (Failed, OSError, subprocess.CalledProcessError) as failed:
        writer.put({**record.absent("kiln", f"simulation: {failed}"),
                    "error": True})


def tables(lines):
    found = {line["name"]: line for line in lines if line["kind"] == "figure"
             and line["name"].startswith("simulation/")}
    rows = []
    for way in ranks.WAYS:
        cells = [found.get(f"simulation/{way}/{word}")
                 for word in ("median-rank", "last-rank", "compiles-per-kernel",
                              "compiling", "metadata-requests")]
        if all(cells):
            rows.append([way, *(f"{cell['median']:,.4g}" for cell in cells)])
    assumed = [[name, f"{value:g}", unit, source]
               for name, (value, unit, source) in ASSUMED.items()]
    made = {}
    if rows:
        made["simulation"] = readme.table(
            ["", "median rank has all, ms", "last rank, ms",
             "compiles of a kernel", "core-hours compiling",
             "metadata requests"], rows)
        made["simulation-assumed"] = readme.table(
            ["assumed", "value", "unit", "from"], assumed)
    return made


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: simulation.py FIGURES.json")
    simulate(record.Writer(), costs_from(record.read(sys.argv[1])),
             site_of(False))
