# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The same saxpy in Kiln and in what a user would pick instead.

Every system has a program in bench/peers, all of one protocol (peer.h). A cell
is a cache folder of its own, empty at first:

    cold, warm      a process that runs one saxpy over the empty folder, and a
                    second process over what the first one left there
    variants        likewise, with many kernels that differ in a constant
    steady          in such a second process: executions after the first, and
                    launches of a kernel that does nothing

Systems take turns within a round. Figures are peers/GROUP/MEASURE, and
peers/GROUP/MEASURE/ratio is how many times as long as Kiln a system took in
the same round: above one, Kiln is ahead. The group "host" runs kernels on this
processor, "cubin" makes code for a GPU that need not be there.
"""

import collections
import glob
import json
import os
import shutil
import signal
import threading
import time

import readme
import record

NAME = "peers"
VARIANTS, VARIANTS_QUICK = 50, 4
LIMIT_S = 600  # for one process
PASSED_ON = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "OCL_ICD_VENDORS",
             "CUDA_PATH")
CUBIN_TARGET = "cuda:sm_90"

System = collections.namedtuple("System", "name group program setting")

# What is measured, and in which unit.
UNITS = {
    "process-cold": "ms", "process-warm": "ms",
    "first-cold": "ms", "first-warm": "ms",
    "execute-cold": "ms", "execute-warm": "ms",
    "second": "ms", "second-one-core": "ms",
    "dispatch": "ns", "dispatch-one-core": "ns",
    "variants-cold": "ms", "variants-warm": "ms",
    "cache-bytes": "bytes", "cache-files": "files",
    "variants-bytes": "bytes", "variants-files": "files",
}

# How many times as long as Kiln a system takes at least, where that was aimed
# at, by measure and system; "" is any other.
GOALS = {
    "first-warm": {"pocl": 20, "numba": 10, "taichi": 10, "warp": 10,
                   "jax": 10, "": 1},
    "process-cold": {"pocl": 10, "": 1},
    "dispatch": {"numba": 10, "taichi": 50, "warp": 50, "": 1},
    "second": {"cc": 0.95, "cc-openmp": 0.95, "": 1},
    "second-one-core": {"cc": 0.95, "cc-openmp": 0.95, "": 1},
}


# Why Kiln is behind, or less ahead than was aimed at, by group and measure.
KEPT = ("what is kept is one file, which the loader maps and believes; Kiln "
        "is a library that is loaded itself and runs for the first time, makes "
        "a context, reads three entries for each kernel, verifies their sums, "
        "their whole keys and who made them, and copies and protects the code")
SHARES = ("handing part of the loop to a second thread, and waiting for it: "
          "second-one-core is without that")
CALL = ("Kiln checks and packs arguments and shape at each launch, and looks at "
        "the floating-point mode before the kernel and behind it; the other is "
        "a call of a function that knows its arguments")
REASONS = {
    ("host", "process-warm"): KEPT, ("host", "first-warm"): KEPT,
    ("host", "execute-warm"): KEPT, ("host", "variants-warm"): KEPT,
    ("host", "second"): SHARES,
    ("host", "dispatch"): CALL, ("host", "dispatch-one-core"): CALL,
}


class Failure(Exception):
    """A program failed, or what it computed is wrong."""


# ---- the systems ----

def environment_folder(bench):
    """Where bench/peers/setup.sh put what comes from the package index."""
    return os.environ.get("KILN_PEERS",
                          os.path.join(bench.root, "build", "peers"))


def _nvrtc():
    found = []
    for root in (os.environ.get("CUDA_PATH"), "/usr/local/cuda*"):
        if root:
            found += sorted(glob.glob(os.path.join(root, "lib*",
                                                   "libnvrtc.so")))
    return ("PEER_NVRTC", found[0]) if found else None


def _in_c(bench, name, group, program, setting=None):
    return System(name, group, (os.path.join(bench.bin, program),), setting)


def _in_python(bench, name, group):
    python = os.path.join(environment_folder(bench), "bin", "python")
    program = os.path.join(bench.root, "bench", "peers", f"{name}_peer.py")
    return System(name, group, (python, program), None)


def systems(bench):
    """Kiln first in each group. Python's only where they are asked for."""
    many = [
        _in_c(bench, "kiln", "host", "peer-kiln"),
        _in_c(bench, "cc", "host", "peer-cc"),
        _in_c(bench, "cc-openmp", "host", "peer-cc", ("PEER_THREADS", "1")),
        _in_c(bench, "pocl", "host", "peer-pocl"),
    ]
    if bench.peers:
        many += [_in_python(bench, name, "host")
                 for name in ("numba", "taichi", "warp", "jax", "loopy")]
    many += [
        _in_c(bench, "kiln", "cubin", "peer-kiln",
              ("PEER_TARGET", CUBIN_TARGET)),
        _in_c(bench, "nvrtc", "cubin", "peer-nvrtc", _nvrtc()),
    ]
    if bench.peers:
        many.append(_in_python(bench, "triton", "cubin"))
    return many


# ---- processes ----

def _environment(system, cell):
    given = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    given |= {"HOME": os.path.join(cell, "home"),
              "TMPDIR": os.path.join(cell, "tmp"),
              "PYTHONDONTWRITEBYTECODE": "1"}
    return given | dict([system.setting] if system.setting else [])


def _wait(process):
    """Its status; it is ended when it takes too long."""
    timer = threading.Timer(LIMIT_S, os.kill, (process, signal.SIGKILL))
    timer.daemon = True
    timer.start()
    _, status = os.waitpid(process, 0)
    end = time.monotonic_ns()
    timer.cancel()
    return os.waitstatus_to_exitcode(status), end


def _spawn(system, cell, mode, variants, one_core):
    """Starts the program; gives the process and when that was."""
    environment = _environment(system, cell)
    out, err = (os.path.join(cell, name) for name in ("out", "err"))
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [(os.POSIX_SPAWN_OPEN, 1, out, flags, 0o600),
               (os.POSIX_SPAWN_OPEN, 2, err, flags, 0o600)]
    cores = os.sched_getaffinity(0)
    if one_core:
        os.sched_setaffinity(0, {max(cores)})
    try:
        start = time.monotonic_ns()
        arguments = [*system.program, os.path.join(cell, "cache"), mode,
                     str(start), str(variants)]
        return os.posix_spawn(system.program[0], arguments, environment,
                              file_actions=actions), start
    finally:
        os.sched_setaffinity(0, cores)


def _run(system, cell, mode, variants, one_core=False):
    """What a process told, with the time from its start to its end."""
    process, start = _spawn(system, cell, mode, variants, one_core)
    code, end = _wait(process)
    with open(os.path.join(cell, "out"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    if code != 0 or not lines:
        with open(os.path.join(cell, "err"), encoding="utf-8") as file:
            said = (file.read().splitlines() or ["nothing"])[-1]
        raise Failure(f"its program ended with {code} and said: {said}")
    return json.loads(lines[-1]) | {"process_ms": (end - start) / 1e6}


def _new_cell(bench, name):
    cell = os.path.join(bench.scratch, "peers", name)
    shutil.rmtree(cell, ignore_errors=True)
    for folder in ("cache", "home", "tmp"):
        os.makedirs(os.path.join(cell, folder), mode=0o700)
    return cell


def _size(cell):
    """Bytes and files below the cache folder."""
    sizes = [os.lstat(os.path.join(folder, name)).st_size
             for folder, _, names in os.walk(os.path.join(cell, "cache"))
             for name in names]
    return sum(sizes), len(sizes)


# ---- measuring ----

def _first_values(system, values, temperature, told):
    values[f"process-{temperature}"] = told["process_ms"]
    values[f"first-{temperature}"] = told["open_ms"] + told["execute_ms"]
    if system.group == "host":
        values[f"execute-{temperature}"] = told["execute_ms"]


def _one_saxpy(bench, system, values):
    # Systems take turns with minutes between, after which the files of their
    # libraries may have left memory: how fast a disk is, is not compared.
    _run(system, _new_cell(bench, system.name), "first", 0)
    cell = _new_cell(bench, system.name)
    _first_values(system, values, "cold", _run(system, cell, "first", 0))
    values["cache-bytes"], values["cache-files"] = _size(cell)
    _first_values(system, values, "warm", _run(system, cell, "first", 0))
    if system.group == "host":
        told = _run(system, cell, "steady", 0)
        values["second"] = told["second_ms"]
        values["dispatch"] = told["dispatch_ns"]
        told = _run(system, cell, "steady", 0, one_core=True)
        values["second-one-core"] = told["second_ms"]
        values["dispatch-one-core"] = told["dispatch_ns"]


def _many_variants(bench, system, values):
    variants = VARIANTS_QUICK if bench.quick else VARIANTS
    cell = _new_cell(bench, system.name)
    told = _run(system, cell, "all", variants)
    values["variants-cold"] = told["variants_ms"]
    values["variants-bytes"], values["variants-files"] = _size(cell)
    told = _run(system, cell, "all", variants)
    values["variants-warm"] = told["variants_ms"]


def _round(bench, system):
    values = {}
    _one_saxpy(bench, system, values)
    _many_variants(bench, system, values)
    shutil.rmtree(os.path.join(bench.scratch, "peers"))
    return values


def _why_absent(bench, system):
    """None, and the version; or why the system cannot be had."""
    if not os.access(system.program[0], os.X_OK):
        if system.program[0].startswith(bench.bin):
            return "its program could not be built here", None
        return "bench/peers/setup.sh has not been run", None
    told = _run(system, _new_cell(bench, system.name), "about", 0)
    return told.get("absent"), told.get("version")


def _absent(system, why):
    return record.absent(system.name, why) | {"name": f"peers/{system.group}"}


def _present(bench, writer, many):
    """The systems that are here, with their versions."""
    present = {}
    for system in many:
        try:
            why, version = _why_absent(bench, system)
        except Failure as failure:
            why, version = str(failure), None
        if why:
            writer.put(_absent(system, why))
        else:
            present[system] = version
    return present


def _measure(bench, writer, present):
    """The rounds of each system that came through all of them."""
    rounds = {system: [] for system in present}
    for number in range(bench.runs):
        for system in list(rounds):
            writer.progress(f"peers: round {number + 1} of {bench.runs}: "
                            f"{system.group}/{system.name}")
            try:
                rounds[system].append(_round(bench, system))
            except Failure as failure:
                writer.put(_absent(system, str(failure)) | {"error": True})
                del rounds[system]
    return rounds


# ---- telling ----

def _more(bench, measure, version):
    more = {"version": version}
    if measure.startswith("variants"):
        more["variants"] = VARIANTS_QUICK if bench.quick else VARIANTS
    return more


def _tell(bench, writer, system, version, rounds):
    for measure, unit in UNITS.items():
        if measure in rounds[0]:
            writer.put(record.figure(
                f"peers/{system.group}/{measure}", system.name, unit,
                [values[measure] for values in rounds],
                **_more(bench, measure, version)))


def _tell_ratios(writer, system, theirs, ours):
    for measure, unit in UNITS.items():
        if unit not in ("ms", "ns") or measure not in theirs[0]:
            continue
        goals = GOALS.get(measure, {"": 1})
        goal = goals.get(system.name, goals[""])
        line = record.figure(
            f"peers/{system.group}/{measure}/ratio", system.name, "ratio",
            [their[measure] / our[measure]
             for their, our in zip(theirs, ours)], goal=goal)
        line["reached"] = line["median"] >= goal
        writer.put(line)


def run(bench, writer):
    present = _present(bench, writer, systems(bench))
    rounds = _measure(bench, writer, present)
    ours = {system.group: system for system in rounds if system.name == "kiln"}
    for system, theirs in rounds.items():
        _tell(bench, writer, system, present[system], theirs)
        if system.group in ours and system.name != "kiln":
            _tell_ratios(writer, system, theirs, rounds[ours[system.group]])


# ---- tables ----

COLUMNS = ("process-cold", "process-warm", "first-cold", "first-warm",
           "second", "second-one-core", "dispatch", "variants-cold",
           "variants-warm", "cache-bytes", "cache-files")


def _measures(figures, group, suffix):
    return [measure for measure in COLUMNS
            if any(name == f"{group}/{measure}{suffix}"
                   for _, name in figures)]


def _systems(figures, group, suffix):
    return list(dict.fromkeys(
        system for system, name in figures
        if name.startswith(group + "/") and name.endswith(suffix)))


def _title(measure):
    words, unit = measure.replace("-", " "), UNITS[measure]
    return words if words.endswith(unit) else f"{words}, {unit}"


def _cell(one):
    if one is None:
        return ""
    if one["unit"] in ("bytes", "files"):
        return f"{one['median']:.0f}"
    return readme.number(one["median"])


def _ratio_cell(one):
    if one is None:
        return ""
    return readme.number(one["median"]) + ("" if one["reached"] else " *")


def _table(figures, group, suffix, heads, cell):
    """A row for each system, and a column for each measure."""
    measures = _measures(figures, group, suffix)
    return readme.table(
        heads(measures),
        [(system, *(cell(figures.get((system, f"{group}/{measure}{suffix}")))
                    for measure in measures))
         for system in _systems(figures, group, f"/process-cold{suffix}")])


def _times(figures, group):
    return _table(figures, group, "",
                  lambda measures: (group, *map(_title, measures)), _cell)


def _ratios(figures, group):
    return _table(figures, group, "/ratio",
                  lambda measures: (f"{group}, times Kiln",
                                    *(measure.replace("-", " ")
                                      for measure in measures)), _ratio_cell)


def _missed(figures):
    """A line for each measure where goals were missed: by how much, and why."""
    missed = {}
    for (system, name), one in figures.items():
        if name.endswith("/ratio") and not one["reached"]:
            missed.setdefault(name.removesuffix("/ratio"), []).append(
                f"{system} {readme.number(one['median'])} "
                f"(of {one['goal']:g})")
    lines = []
    for name, by in missed.items():
        group, measure = name.split("/")
        why = REASONS.get((group, measure), "why is not known")
        lines.append(f"- {group}, {measure.replace('-', ' ')}: "
                     f"{', '.join(by)}: {why}.")
    return lines


def tables(lines):
    figures = readme.figures(lines, NAME)
    if not figures:
        return {}
    text = [readme.caption(lines)]
    for group in ("host", "cubin"):
        if _systems(figures, group, "/process-cold"):
            text += [_times(figures, group),
                     _ratios(figures, group)]
    absent = [f"- {line['system']}: {line['why']}" for line in lines
              if line["kind"] == "absent" and
              line.get("name", "").startswith(NAME + "/")]
    missed = _missed(figures)
    for title, more in (("Goals that were missed, as times Kiln", missed),
                        ("Not measured", absent)):
        if more:
            text.append(f"{title}:\n\n" + "\n".join(more))
    return {NAME: "\n\n".join(text)}
