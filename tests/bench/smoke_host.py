# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.sh --quick of kernels on the host: smoke_host.py BIN-FOLDER

Two kernels, on the sides that need no package index."""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench", "harness"))

import host_tables  # noqa: E402
import record       # noqa: E402

SIDES = ("c", "c-fast", "c-2", "kiln-checked", "kiln-unchecked", "kiln-fast",
         "kiln-2", "kiln-fast-2")


def check(lines, kernel):
    own = host_tables.by_kernel(lines)[kernel]
    for side in SIDES:
        for measure in ("launch", "compile"):
            if not own[measure, side]["median"] > 0:
                raise SystemExit(f"{kernel}: {own[measure, side]}")
    for ours, theirs, _ in host_tables.BESIDE[:4]:
        if not host_tables.ratio(own, ours, theirs) > 0:
            raise SystemExit(f"{kernel}: {ours} beside {theirs}")
    told = {line["system"] for line in lines if line["kind"] == "absent"}
    if not {"numba", "taichi"} <= told:
        raise SystemExit(f"absent systems are not told: {told}")


def run(binaries, kernel, folder):
    out = os.path.join(folder, "out.json")
    subprocess.run(
        ["sh", os.path.join(ROOT, "bench", "run.sh"), "--quick", "--only",
         f"host/{kernel}", "--json", out, "--plot",
         os.path.join(folder, "drawn.svg")],
        check=True, env={**os.environ, "KILN_BENCH_BIN": binaries,
                         "KILN_PEERS": folder})
    if not os.path.exists(os.path.join(folder, "drawn-host.svg")):
        raise SystemExit("nothing was drawn")
    return record.read(out)


def main(binaries):
    with tempfile.TemporaryDirectory() as folder:
        for kernel in ("saxpy", "scan"):
            check(run(binaries, kernel, folder), kernel)


if __name__ == "__main__":
    main(sys.argv[1])
