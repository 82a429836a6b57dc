# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One cell of the seed's tables: fresh processes over a cache of their own.

A cell is a workload on a backend, precompiled or not, with the disk or without
it. Precompiled: the process inserts a pack that `kiln precompile` made. Disk:
an earlier process has filled the folder, of which each run gets a copy.

What drivers keep themselves begins empty for each process. `kept` is the
exception: one more process behind a measured one, with what that left.
"""

import os
import shutil
import subprocess
import time

import record

# Names of the folders that drivers keep their own caches in.
VENDOR_FOLDERS = ("POCL_CACHE_DIR", "CUDA_CACHE_PATH", "NEO_CACHE_DIR",
                  "AMD_COMGR_CACHE_DIR")
TIMEOUT_S = 900


class Wrong(Exception):
    """A process failed, or its figures are not what they have to be."""


class Backend:
    def __init__(self, name, target, environment, vendor):
        self.name = name
        self.target = target
        self.environment = environment
        self.vendor = vendor  # whose cache stands behind Kiln's, or ""
        self.is_slow = target == "spirv"  # compiles what it loads

    def device_count(self, bench):
        """How many devices `kiln targets` sees, and else the reason."""
        environment = clean_environment()
        environment.update(self.environment)
        answer = subprocess.run([os.path.join(bench.bin, "kiln"), "targets"],
                                capture_output=True, text=True, check=False,
                                env=environment)
        for line in answer.stdout.splitlines():
            words = line.split()
            if words and words[0] == self.target:
                count = int(words[3])
                return count, " ".join(words[4:]) if not count else ""
        return 0, "this build does not have it"


def clean_environment():
    """This process's, without anything that steers Kiln or a cache."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith("KILN_") and name not in VENDOR_FOLDERS}


def environment_of(folder, backend, mode):
    environment = clean_environment()
    environment.update(backend.environment)
    environment["KILN_CACHE"] = mode
    environment["KILN_CACHE_DIR"] = os.path.join(folder, "kiln")
    environment["XDG_CACHE_HOME"] = os.path.join(folder, "xdg")
    for name in VENDOR_FOLDERS:
        environment[name] = os.path.join(folder, "vendor", name.lower())
        os.makedirs(environment[name], mode=0o700, exist_ok=True)
    return environment


def run_process(command, environment):
    """What it printed, and how long it took in milliseconds."""
    start = time.perf_counter_ns()
    try:
        answer = subprocess.run(command, capture_output=True, text=True,
                                env=environment, timeout=TIMEOUT_S,
                                check=False)
    except subprocess.TimeoutExpired as error:
        raise Wrong(f"{command[0]}: more than {TIMEOUT_S} s") from error
    took = (time.perf_counter_ns() - start) / 1e6
    if answer.returncode != 0:
        last = (answer.stderr.strip() or answer.stdout.strip())[-300:]
        raise Wrong(f"{' '.join(command)}: status {answer.returncode}: {last}")
    return answer.stdout, took


class Cell:
    def __init__(self, bench, workload, backend, precompiled, disk):
        self.bench = bench
        self.workload = workload
        self.backend = backend
        self.precompiled = precompiled
        self.disk = disk
        self.name = (f"seed/{workload.name}/{backend.name}/"
                     f"precompiled-{'yes' if precompiled else 'no'}/"
                     f"disk-{'yes' if disk else 'no'}")
        self.results = []  # of each run
        self.kept = []     # of the runs behind them
        self._filled = None
        self._runs = 0

    def _folder(self):
        self._runs += 1
        path = os.path.join(self.bench.scratch,
                            f"{self.name.replace('/', '_')}_{self._runs}")
        os.mkdir(path, 0o700)
        return path

    def _command(self, pack):
        return self.workload.command(self.backend,
                                     pack if self.precompiled else None)

    def _measure(self, command, environment):
        text, took = run_process(command, environment)
        result = self.workload.parse(text)
        result["process"] = took
        return result

    def _mode(self):
        if self.disk:
            return "rw"
        return "ro" if self.precompiled else "off"

    def _fill(self, command):
        folder = self._folder()
        run_process(command, environment_of(folder, self.backend, "rw"))
        self._filled = os.path.join(folder, "kiln")

    def is_done(self):
        return record.is_enough([one["process"] / 1e3 for one in self.results],
                                self.bench.runs)

    def run(self, pack):
        """Once more; its result is added to what there is."""
        command = self._command(pack)
        if self.disk and not self._filled:
            self._fill(command)
        folder = self._folder()
        # Where a pack has everything, nothing was written.
        if self.disk and os.path.exists(self._filled):
            shutil.copytree(self._filled, os.path.join(folder, "kiln"))
        environment = environment_of(folder, self.backend, self._mode())
        self.results.append(self._measure(command, environment))
        if self.disk and self.backend.vendor:
            self.kept.append(self._measure(command, environment))
        shutil.rmtree(folder, ignore_errors=True)


def backends():
    """Those that may run here, each with its environment."""
    opencl = {"KILN_SPIRV_DRIVER": "opencl"}
    level_zero = {"KILN_SPIRV_DRIVER": "level-zero"}
    name = "level-zero"
    driver = os.environ.get("KILN_BENCH_ZE_DRIVER")
    if driver:
        # The tests' driver hands everything on to OpenCL.
        level_zero["ZE_ENABLE_ALT_DRIVERS"] = driver
        name = "level-zero-test-driver"
    return [Backend("host", "host", {}, ""),
            Backend("opencl", "spirv", opencl, "OpenCL driver's cache"),
            Backend(name, "spirv", level_zero, "Level Zero driver's cache"),
            Backend("cuda", "cuda", {}, "CUDA driver's cache"),
            Backend("rocm", "rocm", {}, "HIP runtime's cache")]
