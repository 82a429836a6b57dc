# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""run.sh --quick of the seed's tables: smoke_seed.py BIN-FOLDER"""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench", "harness"))

import record  # noqa: E402

EXECUTIONS = {"saxpy": ("first", "second"), "tgv-f32": ("first", "second"),
              "tgv-f64": ("first", "second"),
              "many": ("initialisation", "step-4", "again")}


def check(lines):
    figures = {line["name"]: line for line in lines
               if line["kind"] == "figure"}
    for workload, names in EXECUTIONS.items():
        for cell in ("precompiled-no/disk-no", "precompiled-no/disk-yes",
                     "precompiled-yes/disk-no", "precompiled-yes/disk-yes"):
            stem = f"seed/{workload}/host/{cell}/"
            for name in (*names, "process"):
                if not figures[stem + name]["median"] > 0:
                    raise SystemExit(f"{stem}{name}: {figures[stem + name]}")
            binary = figures[stem + names[0]]["tiers"]["binary"]
            compiles = cell == "precompiled-no/disk-no"
            if (binary["built"] > 0) != compiles:
                raise SystemExit(f"{stem}: {binary['built']} were compiled")
    if lines[0]["kind"] != "machine" or not lines[0]["versions"]["kiln"]:
        raise SystemExit("the file does not begin with a machine")


def main(binaries):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        drawing = os.path.join(folder, "out.svg")
        subprocess.run(
            ["sh", os.path.join(ROOT, "bench", "run.sh"), "--quick", "--runs",
             "1", "--only", "seed", "--json", out, "--plot", drawing],
            check=True, env={**os.environ, "KILN_BENCH_BIN": binaries})
        check(record.read(out))
        if not os.path.exists(drawing):
            raise SystemExit("nothing was drawn")


if __name__ == "__main__":
    main(sys.argv[1])
