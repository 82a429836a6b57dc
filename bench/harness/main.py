# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs families of measurements; bench/run.sh starts it.

A family is a module of this folder with NAME and run(bench, writer), and, if
it has any, tables(lines): what README.md shows of it, by the tables' names.
"""

import argparse
import importlib
import os
import shutil
import sys
import tempfile
import types

import plot
import readme
import record
import versions

FAMILIES = ["seed", "peers", "scale", "growth", "simulation", "codegen",
            "host"]
ON_DEMAND = ("peers", "codegen", "host")


def families():
    """The modules that are here, and the names of those that are not."""
    here, missing = [], []
    for name in FAMILIES:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                            name + ".py")
        if os.path.exists(path):
            here.append(importlib.import_module(name))
        else:
            missing.append(name)
    return here, missing


def read_options(arguments):
    parser = argparse.ArgumentParser(prog="run.sh", description="Measures "
                                     "first and second executions.")
    parser.add_argument("--quick", action="store_true",
                        help="small sizes and two runs: shows that it works")
    parser.add_argument("--only", metavar="NAME", default="", help="one of " +
                        ", ".join(FAMILIES) + ", or what begins a figure's "
                        "name, as seed/saxpy/host")
    parser.add_argument("--peers", action="store_true",
                        help="other systems, too")
    parser.add_argument("--runs", type=int, metavar="N",
                        help="of each figure: 5, or 2 with --quick")
    parser.add_argument("--json", metavar="OUT", help="instead of standard "
                        "output")
    parser.add_argument("--plot", metavar="OUT.svg")
    parser.add_argument("--tables", action="store_true",
                        help="writes the tables of bench/README.md anew")
    parser.add_argument("--bin", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.runs is not None and options.runs < 1:
        parser.error("--runs is at least 1")
    if options.only and options.only.split("/")[0] not in FAMILIES:
        parser.error("--only takes one of " + ", ".join(FAMILIES))
    return options


def wanted(family, options):
    if options.only:
        return family.NAME == options.only.split("/")[0]
    return family.NAME not in ON_DEMAND or options.peers


def run_all(options, writer):
    scratch = tempfile.mkdtemp(prefix="kiln-bench-")
    binaries = os.path.abspath(options.bin)
    bench = types.SimpleNamespace(
        bin=binaries, build=os.path.dirname(binaries), root=record.ROOT,
        quick=options.quick, peers=options.peers, scratch=scratch,
        part=options.only,
        runs=options.runs or (2 if options.quick else 5))
    here, missing = families()
    for name in missing:
        if not options.only or name == options.only.split("/")[0]:
            writer.progress(f"{name}: not in this tree, skipped")
    try:
        writer.put(record.machine(versions.find(bench)))
        for family in here:
            if wanted(family, options):
                writer.progress(f"{family.NAME}: begins")
                family.run(bench, writer)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def main(arguments):
    options = read_options(arguments)
    if not os.path.exists(os.path.join(options.bin, "kiln")):
        print(f"run.sh: there is no kiln in {options.bin}", file=sys.stderr)
        return 2
    writer = record.Writer(options.json)
    run_all(options, writer)
    if options.plot:
        for path in plot.write(options.plot, writer.lines):
            writer.progress(f"wrote {path}")
    if options.tables:
        here, _ = families()
        for name in readme.write(here, writer.lines):
            writer.progress(f"README.md: table {name}")
    for line in writer.lines:
        if line["kind"] == "absent" and not line.get("error"):
            writer.progress(f"not measured: {line['system']}: {line['why']}")
    errors = [line for line in writer.lines if line.get("error")]
    for line in errors:
        print(f"run.sh: {line['system']}: {line['why']}", file=sys.stderr)
    writer.progress(f"done: {len(writer.lines)} lines, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
