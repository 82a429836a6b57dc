# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on this processor, beside plain C and other systems.

Each kernel of bench/kernels runs in a process for each side (turns.py). They
take turns: a round has a turn of each, which is some launches of at least
TURN_MS together. Figures are host/KERNEL/MEASURE, and their system is the
side:

    launch      ms of a launch: medians of turns
    compile     ms; of plain C, the compiler's process; of others, from the
                source to what can be launched, in a process that has compiled
                something else before; of PoCL and Numba, with the first launch
    ratio       how many times as long the side of BESIDE took in the same
                round: above one, Kiln is ahead. The system is Kiln's side and
                what it is beside.

Sides with a -2 behind their names have two threads, and the larger arrays of
kernels.txt, so that launches take a millisecond or more. The others have one
thread, and arrays that fit into a cache: memory would hide what code is worth.
"""

import os
import re
import shutil
import time

import peers
import record
import turns
from host_tables import BESIDE, NAME, tables    # noqa: F401

import cases    # which turns.py has found
import check

TURN_MS, PAUSE_S = 3, 0.004
QUICK = ("saxpy", "gemm", "histogram")
NATIVE = ["-O3", "-march=native"]
FAST = ["-ffast-math"]

# What a program says whose system is not installed.
MISSING = re.compile(r"No module named '\w+'|clGet(Platform|Device)IDs.*")

# Roundings may decide more where code is free to round as it likes.
LOOSE_FAST = 0.01


# ---- sides ----

def sides(bench):
    """Sides, and by their systems' names why some are absent."""
    kiln = (os.path.join(bench.bin, "turn-kiln"),)
    one, two = {"KILN_THREADS": "1"}, {"KILN_THREADS": "2"}
    c = (os.path.join(bench.bin, "turn-plain"),)
    omp = {"OMP_NUM_THREADS": "2"}
    many = [turns.Side("c", c, NATIVE, ".c", {}),
            turns.Side("c-fast", c, NATIVE + FAST, ".c", {}),
            turns.Side("kiln-checked", kiln, [], ".kiln", one),
            turns.Side("kiln-unchecked", kiln, ["unchecked"], ".kiln", one),
            turns.Side("kiln-fast", kiln, ["unchecked", "fast"], ".kiln", one),
            turns.Side("c-2", c, NATIVE + ["-fopenmp"], ".c", omp),
            turns.Side("kiln-2", kiln, ["unchecked"], ".kiln", two),
            turns.Side("kiln-fast-2", kiln, ["unchecked", "fast"], ".kiln",
                       two),
            turns.Side("kiln-cl-2", kiln, ["unchecked"], ".cl", two)]
    absent = {}
    pocl = os.path.join(bench.bin, "turn-pocl")
    cache = os.path.join(bench.scratch, "pocl")
    if os.path.exists(pocl):
        many.append(turns.Side("pocl-2", (pocl,), [], ".cl", {
            "POCL_MAX_PTHREAD_COUNT": "2", "POCL_CACHE_DIR": cache}))
    else:
        absent["pocl"] = "turn-pocl is not built: no OpenCL loader was found"
    if not shutil.which("gcc"):
        absent["c"] = "there is no gcc"
    return many + in_python(bench, absent), absent


def in_python(bench, absent):
    python = os.path.join(peers.environment_folder(bench), "bin", "python")
    found = []
    for name in ("numba", "taichi"):
        if not os.access(python, os.X_OK):
            absent[name] = "bench/peers/setup.sh has not been run"
            continue
        program = python, program_of(bench, name)
        settings = {"NUMBA_NUM_THREADS": "2", "PYTHONDONTWRITEBYTECODE": "1"}
        found += [turns.Side(f"{name}-2", program, [], ".py", settings),
                  turns.Side(f"{name}-fast-2", program, ["fast"], ".py",
                             settings)]
    return found


def program_of(bench, name):
    return os.path.join(bench.root, "bench", "turns", f"turn_{name}.py")


def has(side, case):
    """Whether the side has the kernel."""
    if side.suffix != ".py":
        return case.has(side.suffix)
    with open(side.program[1], encoding="utf-8") as file:
        return bool(re.search(rf"^def {case.name}\(", file.read(),
                              re.MULTILINE))


# ---- measuring ----

def run(bench, writer):
    part = bench.part.split("/")[1:]
    many, absent = sides(bench)
    for case in cases.read():
        if part and case.name != part[0] or bench.quick and not part and \
                case.name not in QUICK:
            continue
        writer.progress(f"host: {case.name}")
        here = [side for side in many if has(side, case)]
        measure(bench, writer, case, [side for side in here
                                      if not has_two(side.name)], absent)
        measure(bench, writer, case.larger(), [side for side in here
                                               if has_two(side.name)], absent)
    for name, why in absent.items():
        writer.put(record.absent(name, why) | {"name": f"{NAME}/{name}"})


def system_of(side):
    return side.split("-")[0]


def has_two(side):
    """Threads."""
    return side.endswith("-2")


def measure(bench, writer, case, many, absent):
    folder = os.path.join(bench.scratch, NAME)
    os.makedirs(folder)
    started = {}
    try:
        started = start(writer, turns.Data(case, folder), many, absent)
        if started:
            verify(writer, case, started)
        rounds = {name: [] for name in started}
        for _ in range(bench.runs):
            for name, turn in started.items():
                rounds[name].append(turn.launch_ms(TURN_MS))
                time.sleep(PAUSE_S)     # until its threads sleep
        tell(writer, case, started, rounds)
    except turns.Failure as failure:
        fail(writer, case.name, str(failure))
    finally:
        for turn in started.values():
            turn.end()
        shutil.rmtree(folder)


def fail(writer, system, why):
    writer.put({**record.absent(system, why), "error": True})


def start(writer, data, many, absent):
    started = {}
    for side in many:
        if system_of(side.name) in absent:
            continue
        try:
            started[side.name] = turns.Turn(side, data)
        except (turns.Failure, ValueError) as failure:
            missing = MISSING.search(str(failure))
            if missing:
                absent[system_of(side.name)] = missing.group(0)
            else:
                fail(writer, side.name, str(failure))
    return started


def verify(writer, case, started):
    """Removes sides that compute something else than the first."""
    first, wanted = next(iter(started)), None
    for name in list(started):
        found = started[name].results()
        wanted = wanted or found
        loose = max(check.LOOSE.get(case.name, 0),
                    LOOSE_FAST if "fast" in name else 0)
        for one in case.arguments:
            bad = check.different(one.type, found[one.number],
                                  wanted[one.number]) if one.sizes else []
            if bad and len(bad) > loose * one.items():
                at = bad[0]
                fail(writer, name, f"{case.name}: argument {one.number} "
                     f"differs {len(bad)} times from {first}, first at {at}: "
                     f"{found[one.number][at]}, {wanted[one.number][at]}")
                started.pop(name).end()
                break


def tell(writer, case, started, rounds):
    stem = f"{NAME}/{case.name}"
    for name, turn in started.items():
        writer.put(record.figure(f"{stem}/launch", name, "ms", rounds[name],
                                 version=turn.version.strip()))
        writer.put(record.figure(f"{stem}/compile", name, "ms",
                                 [turn.compile_ms]))
    for ours, theirs, _ in BESIDE:
        if ours in rounds and theirs in rounds:
            writer.put(record.figure(
                f"{stem}/ratio", f"{ours} {theirs}", "ratio",
                [b / a for a, b in zip(rounds[ours], rounds[theirs])]))
