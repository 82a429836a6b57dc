# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many jobs, many entries, many processes.

Lookups and stores are timed by kiln-bench-scale and kiln-bench-runtime. A
crowd is a number of cold processes on one folder, let go at once
(crowds.py); beside Kiln's stand those of other systems, with the same kernels.
Their programs run in the virtual environment that KILN_PEERS names, else
build/peers.
"""

import json
import os
import shutil
import subprocess
import time

import crowds
import readme
import record

NAME = "scale"

CROWDS = (1, 2, 8, 64)
CROWDS_QUICK = (1, 2)
KERNELS = 4 # that each process of a crowd wants
TIMERS = (("kiln-bench-scale", "lookup/"),
          ("kiln-bench-runtime", "store/loose/"),
          ("kiln-bench-runtime", "store/pack/"))


def is_wanted(bench, name):
    """By --only, which may name one figure, or what its name begins with."""
    return name.startswith(bench.part) or bench.part.startswith(name)


def error(writer, system, why):
    writer.put({**record.absent(system, why), "error": True})


# ---- what the timers say ----

def convert(timed, quick):
    """A figure of what kiln-bench --json printed. Quick runs hold less than
    their names say: the names are mended."""
    known = ("name", "median_ns", "min_ns", "max_ns", "spread", "samples",
             "iterations")
    more = {key: value for key, value in timed.items() if key not in known}
    words = [word for word in timed["name"].split("/")]
    for index, word in enumerate(words):
        key = word.split("=")[0]
        if key in more:
            words[index] = f"{key}={more[key]}"
    line = record.figure("scale/" + "/".join(words), "kiln", "ns",
                         [timed["median_ns"]], **more)
    line.update(min=timed["min_ns"], max=timed["max_ns"],
                runs=timed["samples"])
    if quick:
        line["quick"] = True
    return line


def run_timer(bench, writer, program, prefix):
    path = os.path.join(bench.bin, program)
    if not os.path.exists(path):
        error(writer, "kiln", f"{program} is not built")
        return
    part = bench.part.removeprefix(NAME).removeprefix("/")
    prefix = part if part.startswith(prefix) else prefix
    command = [path, "--filter", prefix]
    if bench.quick:
        command.append("--smoke")
    coming = subprocess.run(command + ["--list"], capture_output=True,
                            text=True, check=True).stdout.split()
    with subprocess.Popen(command + ["--json"], stdout=subprocess.PIPE,
                          text=True) as timer:
        # The first of each size fills what it measures, which takes longer.
        for name in coming:
            writer.progress(f"{NAME}/{name}: begins")
            text = timer.stdout.readline()
            if not text:
                error(writer, "kiln", f"{NAME}/{name}: no figure")
                break
            line = convert(json.loads(text), bench.quick)
            writer.put(line)
            writer.progress(f"{line['name']}: {line['median']:.1f} ns")
    if timer.returncode != 0:
        error(writer, "kiln", f"{program} --filter {prefix}: status "
              f"{timer.returncode}")


# ---- crowds ----

class System:
    """`tells` : whether its processes say what they compiled."""

    def __init__(self, name, command, variables, tells):
        self.name = name
        self.command = command
        self.variables = variables # "{}" is the folder
        self.tells = tells


def peers_python(bench):
    folder = os.environ.get("KILN_PEERS") or os.path.join(
        bench.root, "build", "peers")
    return os.path.join(folder, "bin", "python")


def peer(bench, name, variables, tells):
    program = os.path.join(bench.root, "bench", "peers", f"crowd_{name}.py")
    return System(name, [peers_python(bench), program], variables, tells)


def systems(bench):
    found = [System("kiln", [os.path.join(bench.bin, "kiln-crowd")],
                    {"KILN_CACHE_DIR": "{}"}, True)]
    if bench.peers:
        found += [
            peer(bench, "pocl", {"POCL_CACHE_DIR": "{}",
                                 "PYOPENCL_NO_CACHE": "1"}, False),
            peer(bench, "numba", {"NUMBA_CACHE_DIR": "{}"}, True),
            peer(bench, "taichi", {"TI_OFFLINE_CACHE_FILE_PATH": "{}"}, False),
        ]
    return found


def environment_of(system, folder):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("KILN_")}
    for name, value in system.variables.items():
        environment[name] = value.format(folder)
    return environment


def imports(system):
    """Why it cannot be run, or ""."""
    if not os.path.exists(system.command[0]):
        return f"there is no {system.command[0]}"
    if len(system.command) == 1:
        return ""
    module = {"pocl": "pyopencl"}.get(system.name, system.name)
    code = f"import {module}, numpy"
    if system.name == "pocl":
        code += ("; [p for p in pyopencl.get_platforms() "
                 "if 'Portable' in p.name][0]")
    answer = subprocess.run([system.command[0], "-c", code], text=True,
                            capture_output=True, check=False)
    if answer.returncode == 0:
        return ""
    return (answer.stderr.strip().splitlines() or ["it cannot be imported"])[-1]


def files_in(folder):
    return sum(len(files) for _, _, files in os.walk(folder))


def crowd_name(count):
    return f"scale/crowd/processes={count}"


def put_crowd(writer, system, count, results, files):
    name = crowd_name(count)
    failures = sum(crowd.failures for crowd in results)
    more = {"kernels": KERNELS, "failures": failures}
    writer.put(record.figure(name + "/wall", system.name, "ms",
                             [crowd.wall_ms for crowd in results], **more))
    writer.put(record.figure(name + "/slowest", system.name, "ms",
                             [crowd.slowest_ms for crowd in results], **more))
    writer.put(record.figure(name + "/files", system.name, "files", files))
    writer.put(record.figure(name + "/failures", system.name, "count",
                             [crowd.failures for crowd in results]))
    if system.tells:
        per_key = [crowd.compiles_per_key(KERNELS) for crowd in results]
        writer.put(record.figure(
            name + "/compiles-per-key", system.name, "count",
            [mean for _, mean in per_key], most=max(most for most, _ in per_key),
            **more))
        if system.name == "kiln" and any(mean != 1 or most != 1
                                         for most, mean in per_key):
            error(writer, "kiln", f"{name}: a kernel was not compiled once")
    if failures:
        why = next(crowd.why for crowd in results if crowd.why)
        line = {**record.absent(system.name, f"{name}: {failures} processes "
                                f"failed: {why}")}
        # A peer that fails under the load is a result; Kiln must not.
        writer.put({**line, "error": True} if system.name == "kiln" else line)


def run_crowd(bench, writer, system, count):
    results, files, took = [], [], []
    while not record.is_enough(took, bench.runs):
        start = time.monotonic()
        folder = os.path.join(bench.scratch, "crowd")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder, mode=0o700)
        results.append(crowds.run(system.command + [str(KERNELS)],
                                  environment_of(system, folder), count))
        files.append(files_in(folder))
        shutil.rmtree(folder, ignore_errors=True)
        # Sixty-four interpreters on few cores take longer to start.
        took.append(time.monotonic() - start)
        writer.progress(f"{system.name}: {count} processes, "
                        f"{results[-1].wall_ms:.0f} ms")
    put_crowd(writer, system, count, results, files)


def run_crowds(bench, writer):
    for system in systems(bench):
        why = imports(system)
        if why and system.name == "kiln":
            error(writer, "kiln", why)
        elif why:
            writer.put(record.absent(system.name, f"scale/crowd: {why}"))
        else:
            for count in CROWDS_QUICK if bench.quick else CROWDS:
                if is_wanted(bench, crowd_name(count)):
                    run_crowd(bench, writer, system, count)


def run(bench, writer):
    if is_wanted(bench, "scale/crowd/"):
        run_crowds(bench, writer)
    for program, prefix in TIMERS:
        if is_wanted(bench, f"{NAME}/{prefix}"):
            run_timer(bench, writer, program, prefix)


# ---- tables ----

SYSTEMS = ("kiln", "pocl", "numba", "taichi")


def figures(lines):
    return {(line["name"], line["system"]): line for line in lines
            if line["kind"] == "figure"}


def lookup_table(found):
    rows = []
    for way in ("draw", "signature", "handle"):
        for jobs in (1, 1000, 1000000):
            name = f"scale/lookup/{way}/jobs={jobs}/threads="
            cells = [found.get((name + str(threads), "kiln"))
                     for threads in range(1, 5)]
            if any(cells):
                rows.append([way, f"{jobs:,}", *map(readme.spread, cells)])
    head = ["by", "jobs", *(f"threads: {n}, ns" for n in range(1, 5))]
    return readme.table(head, rows) if rows else None


def store_table(found):
    rows = []
    for (name, _), line in found.items():
        if name.startswith("scale/store/"):
            kind, *what, entries = name.split("/")[2:]
            rows.append([kind, " ".join(what),
                         f"{int(entries.removeprefix('entries=')):,}",
                         readme.spread(line)])
    head = ["store", "what", "entries", "ns"]
    return readme.table(head, rows) if rows else None


def crowd_table(found):
    rows = []
    for count in CROWDS:
        name = crowd_name(count)
        for system in SYSTEMS:
            wall = found.get((name + "/wall", system))
            if wall:
                compiles = found.get((name + "/compiles-per-key", system))
                rows.append([count, system, readme.spread(wall),
                             readme.spread(compiles) if compiles
                             else "not told", wall["failures"],
                             wall["runs"]])
    head = ["processes", "system", "all done, ms", "compiles per key",
            "failed processes", "runs"]
    return readme.table(head, rows) if rows else None


def tables(lines):
    found = figures(lines)
    made = {"scale-lookup": lookup_table(found),
            "scale-store": store_table(found),
            "scale-crowd": crowd_table(found)}
    return {name: text for name, text in made.items() if text}
