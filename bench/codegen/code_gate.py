# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds Kiln's machine code for devices against a baseline.

    code_gate.py --kiln KILN --target TARGET [--baseline FILE] [--renew]

Ten kernels are compiled for the target, with and without checks of indices. A
count that is more than 5 % above the baseline's is an error: instructions that
an item executes (graph.py tells how they are estimated), registers, of which
one more is allowed in any case, and bytes of stack, of which none is. The code
depends on the assembler and on LLVM: with others than the baseline's there is
nothing to compare, and the exit status is 77, as without a disassembler.

--renew writes the target's part of the baseline anew, after a change that is
worth its price, or that made the code better.
"""

import argparse
import json
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "kernels"))

import cases    # noqa: E402
import sides    # noqa: E402

KERNELS = ("saxpy", "nbody", "matmul_tiled", "stencil7", "spmv_csr", "gemm",
           "black_scholes", "hotspot", "reduction", "scan")
VARIANTS = ("unchecked", "checked")
ALLOWED = 1.05
SKIPPED = 77


def skip(kind, why):
    """As test_skip() of tests/support/harness.h does."""
    line = f"{kind}: code_gate.py, all of it: {why}"
    print(f"skipped for want of a {line}")
    if os.environ.get("TEST_SKIPS"):
        with open(os.environ["TEST_SKIPS"], "a", encoding="utf-8") as file:
            file.write(line + "\n")
    return SKIPPED


def tools_of(bench, target):
    """The versions on which the code depends; from one compilation."""
    case, = (case for case in cases.read() if case.name == KERNELS[0])
    bench.by_kiln(case, target, VARIANTS[0])
    text = sides.run([bench.objdump, "--version"]) if bench.objdump else ""
    found = re.search(r"LLVM version (\S+)", text)
    tools = f"LLVM {found.group(1)}" if found else "LLVM"
    return tools + (f", CUDA {bench.assembler}" if target[:2] == "sm" else "")


def allowed(what, want):
    if what == "registers":
        return max(want * ALLOWED, want + 1)
    return want * ALLOWED if what == "work" else want


def compare(baseline, counts):
    """Lines that tell how each kernel fares, and how many are too much."""
    lines, too_much = [], 0
    for name, got in counts.items():
        want = baseline.get(name)
        if not want:
            lines.append(f"{name}: the baseline lacks it")
            too_much += 1
            continue
        for what, number in got.items():
            verdict = ""
            if number > allowed(what, want[what]):
                verdict = ": too much"
                too_much += 1
            elif number * ALLOWED < want[what]:
                verdict = ": less; renew the baseline"
            lines.append(f"{name}: {what} {number:g}, baseline "
                         f"{want[what]:g}{verdict}")
    return lines, too_much


def measure(bench, target):
    counts = {}
    for case in cases.read():
        for variant in VARIANTS if case.name in KERNELS else ():
            found = bench.measure(case, target,
                                  bench.by_kiln(case, target, variant))
            counts[f"{case.name}/{variant}"] = {
                what: found[what] for what in ("work", "registers", "stack")}
    return counts


def read_options(arguments):
    parser = argparse.ArgumentParser(prog="code_gate.py")
    parser.add_argument("--kiln", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--baseline",
                        default=os.path.join(HERE, "baseline.json"))
    parser.add_argument("--renew", action="store_true")
    return parser.parse_args(arguments)


def renew(options, baseline, tools, counts):
    baseline[options.target] = {"tools": tools, "counts": counts}
    with open(options.baseline, "w", encoding="utf-8") as file:
        json.dump(baseline, file, indent=1, sort_keys=True)
        file.write("\n")


def hold(bench, options):
    """The exit status."""
    baseline = {}
    if os.path.exists(options.baseline):
        with open(options.baseline, encoding="utf-8") as file:
            baseline = json.load(file)
    own = baseline.get(options.target, {"tools": "", "counts": {}})
    tools = tools_of(bench, options.target)
    if options.renew:
        renew(options, baseline, tools, measure(bench, options.target))
        return 0
    if own["tools"] != tools:
        return skip("machine", f"the baseline is for {own['tools']}, this is "
                    f"{tools}")
    lines, too_much = compare(own["counts"], measure(bench, options.target))
    print("\n".join(lines))
    return 1 if too_much else 0


def main(arguments):
    options = read_options(arguments)
    with tempfile.TemporaryDirectory() as folder:
        bench = sides.Bench(options.kiln, folder)
        why = bench.missing(options.target)
        try:
            if why:
                raise sides.Absent(why)
            return hold(bench, options)
        except sides.Absent as error:
            # CUDA's tools are of an index that may be out of reach.
            kind = "machine" if options.target[:2] == "sm" else "package"
            return skip(kind, f"{options.target}: {error}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
