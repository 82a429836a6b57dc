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

import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE),
                os.path.join(os.path.dirname(HERE), "kernels")]

import cases    # noqa: E402
import gates    # noqa: E402
import sides    # noqa: E402

PROGRAM = "code_gate.py"

KERNELS = ("saxpy", "nbody", "matmul_tiled", "stencil7", "spmv_csr", "gemm",
           "black_scholes", "hotspot", "reduction", "scan")
VARIANTS = ("unchecked", "checked")
ALLOWED = 1.05


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
    report = gates.Report()
    for name, got in counts.items():
        want = baseline.get(name)
        if not want:
            report.lacks(f"{name}: the baseline lacks it")
            continue
        for what, number in got.items():
            report.add(f"{name}: {what} {number:g}, baseline {want[what]:g}",
                       number, want[what] / ALLOWED,
                       allowed(what, want[what]))
    return report


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
    parser = gates.parser_of(PROGRAM, HERE)
    parser.add_argument("--kiln", required=True)
    parser.add_argument("--target", required=True)
    return parser.parse_args(arguments)


def hold(bench, options):
    """The exit status."""
    baseline = gates.read(options.baseline)
    own = baseline.get(options.target, {"tools": "", "counts": {}})
    tools = tools_of(bench, options.target)
    if options.renew:
        baseline[options.target] = {"tools": tools,
                                    "counts": measure(bench, options.target)}
        gates.write(options.baseline, baseline, indent=1, sort_keys=True)
        return 0
    if own["tools"] != tools:
        return gates.skip_tools(PROGRAM, own["tools"], tools)
    return compare(own["counts"], measure(bench, options.target)).end()


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
            return gates.skip(PROGRAM, kind, f"{options.target}: {error}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
