# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds Kiln's machine code against a baseline.

    code_gate.py --kiln KILN --target TARGET [--baseline FILE] [--renew]

Ten kernels are compiled for the target, with and without checks of indices. A
count that is more than 5 % above the baseline's is an error. For devices these
are instructions that an item executes (graph.py tells how they are estimated),
registers, of which one more is allowed in any case, and bytes of stack, of
which none is. For the host (x86-64-v3, x86-64-v4) they are instructions of
loops of vectors (x86.py); one such loop less is an error, too: perhaps it has
become one without vectors. The code
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
ON_HOST = ("saxpy", "stencil7", "gemm", "black_scholes", "softmax", "kmeans",
           "jacobi", "reduction", "fir", "sobel")
VARIANTS = ("unchecked", "checked")
ALLOWED = 1.05


def is_host(target):
    return target.startswith("x86")


def tools_of(bench, target):
    """The versions on which the code depends; from one compilation."""
    case, = (case for case in cases.read() if case.name == KERNELS[0])
    bench.by_kiln(case, target, VARIANTS[0])
    text = sides.run([bench.objdump, "--version"]) if bench.objdump else ""
    found = re.search(r"LLVM version (\S+)", text)
    tools = f"LLVM {found.group(1)}" if found else "LLVM"
    return tools + (f", CUDA {bench.assembler}" if target[:2] == "sm" else "")


def allowed(what, want):
    """The least that is no better, and the most that is no worse."""
    if what == "loops":
        return want, want
    most = {"registers": max(want * ALLOWED, want + 1),
            "stack": want}.get(what, want * ALLOWED)
    return want / ALLOWED, most


def compare(baseline, counts):
    report = gates.Report()
    for name, got in counts.items():
        want = baseline.get(name)
        if not want:
            report.lacks(f"{name}: the baseline lacks it")
            continue
        for what, number in got.items():
            least, most = allowed(what, want[what])
            # Of loops of vectors, fewer are the worse.
            sign = -1 if what == "loops" else 1
            report.add(f"{name}: {what} {number:g}, baseline {want[what]:g}",
                       sign * number, *sorted((sign * least, sign * most)))
    return report


def measure(bench, target):
    counts = {}
    chosen, wanted = KERNELS, ("work", "registers", "stack")
    if is_host(target):
        chosen, wanted = ON_HOST, ("loops", "instructions")
    for case in cases.read():
        for variant in VARIANTS if case.name in chosen else ():
            found = bench.measure(case, target,
                                  bench.by_kiln(case, target, variant))
            counts[f"{case.name}/{variant}"] = {what: found[what]
                                                for what in wanted}
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
