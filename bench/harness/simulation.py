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
import traces

NAME = "simulation"

# What is assumed: value, unit, and where it is from.
MDTEST = ("mdtest on Lustre 2.5 with one metadata server, in Dell's white "
          "paper on its storage with Intel Enterprise Edition for Lustre: ")
OSU = "osu_latency and osu_bw on InfiniBand, as users publish them: "
ASSUMED = {
    "ranks": (10000, "count", "the size that is asked about"),
    "nodes": (1250, "count", "eight ranks on each, each with its own core"),
    "kernels": (43, "count", "as many as the example tgv has, each as small "
                "as those of kiln-crowd, wanted in turn"),
    "launch_spread": (0.0, "s", "all start together, which is the worst case "
                      "for a shared folder: nobody comes late enough to find "
                      "anything"),
    "lookup_rate": (400000, "requests/s", MDTEST + "more than 400,000 stats "
                    "a second (8 to 11 million on GPFS in its PixStor guide, "
                    "whose clients keep what they asked)"),
    "change_rate": (15000, "requests/s", MDTEST + "almost 15,000 creations "
                    "a second; Amazon's FSx for Lustre is sold by 12,000 "
                    "operations a second; 55,000 on GPFS in the PixStor "
                    "guide"),
    "metadata_latency": (5e-4, "s", MDTEST + "2,000 stats a second by one "
                         "thread"),
    "data_rate": (50e9, "bytes/s", "assumed, of all data servers together; "
                  "what is read and written here is small"),
    "network_latency": (4e-6, "s", OSU + "3.9 to 4.8 µs for 8 KiB, which is "
                        "this and the next row"),
    "network_rate": (10e9, "bytes/s", OSU + "9 to 12 GB/s from 8 KiB on"),
}
QUICK = {"ranks": 64, "nodes": 8, "kernels": 3}

FEW, MANY = 4, 36 # kernels of the processes that are measured
FEW_QUICK, MANY_QUICK = 1, 3


REQUESTS = ("misses", "looks", "put_lookups", "put_changes", "hits")


class Failed(Exception):
    pass


# ---- costs ----

def crowd_of_one(bench, folder, kernels):
    """Command and environment of a kiln-crowd, alone with the folder."""
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("KILN_")}
    environment["KILN_CACHE_DIR"] = folder
    return ([os.path.join(bench.bin, "kiln-crowd"), str(kernels)], environment)


def run_process(bench, folder, kernels):
    crowd = crowds.run(*crowd_of_one(bench, folder, kernels), 1)
    if crowd.failures:
        raise Failed(crowd.why)
    return crowd


def new_folder(bench):
    folder = os.path.join(bench.scratch, "ranks")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder, mode=0o700)
    return folder


def in_folder(folder):
    """Bytes of the entries in it."""
    return sum(os.path.getsize(os.path.join(path, name))
               for path, _, names in os.walk(folder) for name in names
               if name.endswith(".e"))


def start_time(bench):
    """Of a process that does nothing, and then nothing more."""
    begin = time.perf_counter()
    subprocess.run([os.path.join(bench.bin, "kiln"), "--version"], check=True,
                   stdout=subprocess.DEVNULL)
    return (time.perf_counter() - begin) * 1e3


def sizes(bench):
    """Two numbers of kernels: the difference is what more of them take."""
    return (FEW_QUICK, MANY_QUICK) if bench.quick else (FEW, MANY)


def measure_once(bench):
    """One value of each cost."""
    few, many = sizes(bench)
    took, held = {}, {}
    for count in (few, many):
        folder = new_folder(bench)
        took["cold", count] = run_process(bench, folder, count).slowest_ms
        held[count] = in_folder(folder)
        took["warm", count] = min(
            run_process(bench, folder, count).slowest_ms for _ in range(3))
    per = {state: (took[state, many] - took[state, few]) / (many - few)
           for state in ("cold", "warm")}
    start = took["warm", few] - few * per["warm"]
    return {
        "start": (start_time(bench) + max(start, 0.0), "ms"),
        "codegen": (max(took["cold", few] - few * per["cold"] - start, 0.0),
                    "ms"),
        "compile": (per["cold"], "ms"),
        "hit": (max(per["warm"], 1e-3), "ms"),
        "kernel_bytes": ((held[many] - held[few]) / (many - few), "bytes"),
    }


def count_requests(bench):
    """Of one kernel; nothing where no process can be traced."""
    few, many = sizes(bench)
    found = {}
    for count in (few, many):
        folder = new_folder(bench)
        for state in ("cold", "warm"):
            found[state, count] = traces.trace(
                *crowd_of_one(bench, folder, count), folder,
                os.path.join(bench.scratch, "trace"))
    if not all(found.values()):
        return {}

    def per_kernel(state, kind):
        return max(found[state, many][kind] - found[state, few][kind],
                   0) / (many - few)

    return {"misses": (per_kernel("cold", "miss"), "count"),
            "looks": (per_kernel("cold", "look"), "count"),
            "put_lookups": (per_kernel("cold", "lookup"), "count"),
            "put_changes": (per_kernel("cold", "change"), "count"),
            "hits": (sum(per_kernel("warm", kind) for kind in
                         ("miss", "look", "lookup", "change")), "count")}


def measure(bench, writer):
    """Writes what was measured, and gives it as figures by name."""
    values = {}
    for _ in range(bench.runs):
        for name, (value, unit) in measure_once(bench).items():
            values.setdefault((name, unit), []).append(value)
    for name, (value, unit) in count_requests(bench).items():
        values[name, unit] = [value]
    lines = [record.figure(f"simulation/input/{name}", "kiln", unit, found)
             for (name, unit), found in values.items()]
    for line in lines:
        writer.put(line)
    return lines


def costs_from(lines):
    """Costs of the figures "simulation/input/…" among the lines."""
    found = {line["name"].rsplit("/", 1)[1]: line for line in lines
             if line.get("name", "").startswith("simulation/input/")}
    missing = {"start", "codegen", "compile", "hit",
               "kernel_bytes"} - set(found)
    if missing:
        raise Failed("no figure for " + ", ".join(sorted(missing)))
    medians = {name: line["median"] for name, line in found.items()}
    least, median = found["compile"]["min"], medians["compile"]
    return ranks.Costs(
        start=medians["start"] / 1e3, codegen=medians["codegen"] / 1e3,
        # Even between the least and as much above the median.
        compile=least / 1e3, spread=2 * (median / least - 1),
        hit=medians["hit"] / 1e3, kernel_bytes=medians["kernel_bytes"],
        **{name: medians.get(name, 0) for name in REQUESTS})


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
        if way == "shared-folder" and not costs.misses:
            writer.put(record.absent("kiln", "simulation/shared-folder: no "
                                     "strace that counts requests"))
            continue
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


def plain(value):
    """Four digits, without an exponent below a billion."""
    return (f"{value:,.0f}" if 1000 <= value < 1e9 else f"{value:.4g}")


def from_measuring(line):
    if line["runs"] == 1:
        return "traced"
    return (f"measured: median of {line['runs']}, {plain(line['min'])} to "
            f"{plain(line['max'])}")


def tables(lines):
    found = {line["name"]: line for line in lines if line["kind"] == "figure"
             and line["name"].startswith("simulation/")}
    rows = []
    for way in ranks.WAYS:
        cells = [found.get(f"simulation/{way}/{word}")
                 for word in ("median-rank", "last-rank", "compiles-per-kernel",
                              "compiling", "metadata-requests")]
        if all(cells):
            rows.append([way, *(plain(cell["median"]) for cell in cells)])
    costs = [[line["name"].rsplit("/", 1)[1], plain(line["median"]),
              line["unit"], from_measuring(line)]
             for line in found.values()
             if line["name"].startswith("simulation/input/")]
    assumed = [[line["name"].rsplit("/", 1)[1], plain(line["median"]),
                line["unit"], line["source"]]
               for line in found.values()
               if line["name"].startswith("simulation/assumed/")]
    made = {}
    if rows:
        made["simulation"] = readme.table(
            ["", "median rank has all, ms", "last rank, ms",
             "compiles of a kernel", "core-hours compiling",
             "metadata requests"], rows)
        made["simulation-assumed"] = readme.table(
            ["cost", "value", "unit", "from"], costs + assumed)
    return made


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: simulation.py FIGURES.json")
    simulate(record.Writer(), costs_from(record.read(sys.argv[1])),
             site_of(False))
