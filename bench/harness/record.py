# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measurements as JSON lines: who writes them, and who reads them.

A file of measurements has one JSON object a line. `kind` says what it is:

    machine   where and when: cpu, cores, memory_gib, kernel, date, commit,
              versions (of what was measured, by name)
    figure    name, system, unit, median, min, max, runs, and what else is
              worth knowing under names of its own
    absent    system, and why it could not be measured

`name` is made of words with slashes, from the general to the particular; with
`system` it names a figure within a file. Only the standard library is used.
"""

import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def _first_line(path, key):
    """What stands behind `key:` in a file like /proc/cpuinfo, or ""."""
    try:
        with open(path, encoding="utf-8") as file:
            for line in file:
                if line.startswith(key):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return ""


def _commit():
    answer = subprocess.run(["git", "-C", ROOT, "describe", "--always",
                             "--dirty"], capture_output=True, text=True,
                            check=False)
    return answer.stdout.strip()


def machine(versions):
    """The line that begins a file. `versions` tells what is measured."""
    memory = _first_line("/proc/meminfo", "MemTotal").split()
    return {
        "kind": "machine",
        "cpu": _first_line("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(int(memory[0]) / 2**20, 1) if memory else 0,
        "kernel": platform.release(),
        "date": datetime.date.today().isoformat(),
        "commit": _commit(),
        "versions": versions,
    }


def figure(name, system, unit, values, **more):
    """A line for `values`, one of each run."""
    return {"kind": "figure", "name": name, "system": system, "unit": unit,
            "median": statistics.median(values), "min": min(values),
            "max": max(values), "runs": len(values), **more}


# What takes long is measured less often; a figure tells how often it was.
LONG_S = 20
RUNS_OF_LONG = 2


def is_enough(took_s, runs):
    """Was something that took so long each time measured often enough?"""
    if took_s and max(took_s) > LONG_S:
        runs = min(runs, RUNS_OF_LONG)
    return len(took_s) >= runs


def absent(system, why):
    return {"kind": "absent", "system": system, "why": why}


class Writer:
    """Writes lines as they come, and says on standard error where it is."""

    def __init__(self, path=None):
        self._file = open(path, "w", encoding="utf-8") if path else sys.stdout
        self._start = time.monotonic()
        self.lines = []

    def put(self, line):
        self.lines.append(line)
        print(json.dumps(line), file=self._file, flush=True)

    def progress(self, text):
        print(f"[{time.monotonic() - self._start:6.1f} s] {text}",
              file=sys.stderr, flush=True)


def read(path):
    """All lines of a file, or a ValueError that names the line."""
    lines = []
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            try:
                line = json.loads(text)
                if line["kind"] not in ("machine", "figure", "absent"):
                    raise ValueError("no such kind")
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}:{number}: {error}") from error
            lines.append(line)
    return lines
