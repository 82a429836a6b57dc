# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many cold processes on one folder, let go at once.

Each process says "ready" when its program and what it imports are up, and
begins when its standard input ends. It compiles some kernels, runs and checks
them, prints "built NAME" for each that it compiled itself (where its system
tells that), and ends with "took_ns N".
"""

import collections
import os
import re
import subprocess
import time

TIMEOUT_S = 600


class Crowd:
    """What became of one."""

    def __init__(self):
        self.wall_ms = 0.0       # from letting go until the last has ended
        self.slowest_ms = 0.0    # as the slowest itself has it
        self.failures = 0
        self.built = collections.Counter()
        self.why = ""            # of the first failure

    def compiles_per_key(self, keys):
        """The most that any kernel was compiled, and the mean."""
        return (max(self.built.values(), default=0),
                sum(self.built.values()) / keys)


def _reason(complaint):
    """The line of it that says what happened, as it seems."""
    lines = complaint.strip().splitlines()
    named = [line for line in lines if "Error" in line]
    return (named or lines or [""])[-1]


def _end(crowd, process):
    try:
        text, complaint = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        text, complaint = process.communicate()
    took = re.search(r"^took_ns (\d+)$", text, re.MULTILINE)
    if process.returncode != 0 or not took:
        crowd.failures += 1
        crowd.why = crowd.why or _reason(complaint) or (
            f"status {process.returncode}")
        return
    crowd.slowest_ms = max(crowd.slowest_ms, int(took.group(1)) / 1e6)
    crowd.built.update(re.findall(r"^built (\S+)$", text, re.MULTILINE))


def run(command, environment, count):
    """Starts `count` of them, lets them go, and gives a Crowd."""
    crowd = Crowd()
    gate, handle = os.pipe()
    processes = []
    try:
        for _ in range(count):
            processes.append(subprocess.Popen(
                command, env=environment, stdin=gate, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                errors="replace"))
        for process in processes:
            # What was imported may have something to say, too.
            while process.stdout.readline().strip() not in ("ready", ""):
                pass
    finally:
        os.close(gate)
        os.close(handle)
    start = time.perf_counter()
    for process in processes:
        _end(crowd, process)
    crowd.wall_ms = (time.perf_counter() - start) * 1e3
    return crowd
