# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows a kernel's machine code by blocks, and how often each is run.

    show.py KILN KERNEL TARGET [kiln|peer] [unchecked|checked|fast]
            [--loops]

KILN is the command, TARGET one of sm_90, gfx90a, gfx942, gfx1100 and spirv.
--loops leaves out what is in no loop.
"""

import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "kernels"))

import cases    # noqa: E402
import count    # noqa: E402
import sides    # noqa: E402


def show(function, only_loops):
    for at, block in enumerate(function.blocks):
        if at not in function.reachable or \
                only_loops and not function.inner[at]:
            continue
        ways = " ".join(function.blocks[one].label
                        for one in function.next[at])
        print(f"{block.label}: {function.turns(at):g} times"
              f"{', cold' if block.is_cold else ''} -> {ways or 'end'}")
        for one in block.instructions:
            print(f"    {one.guard}{one.op} {one.rest}")


def main(arguments):
    parser = argparse.ArgumentParser(prog="show.py")
    parser.add_argument("kiln")
    parser.add_argument("kernel")
    parser.add_argument("target")
    parser.add_argument("side", nargs="?", default="kiln",
                        choices=("kiln", "peer"))
    parser.add_argument("variant", nargs="?", default="unchecked",
                        choices=tuple(sides.VARIANTS))
    parser.add_argument("--loops", action="store_true")
    options = parser.parse_args(arguments)
    chosen = [case for case in cases.read() if case.name == options.kernel]
    if not chosen:
        parser.error(f"no kernel {options.kernel} in kernels.txt")
    with tempfile.TemporaryDirectory() as folder:
        bench = sides.Bench(options.kiln, folder)
        path = (bench.by_kiln if options.side == "kiln" else bench.by_peer)(
            chosen[0], options.target, options.variant)
        functions = bench.functions(chosen[0], options.target, path)
        entry = count.entry_of(functions, options.kernel)
        entry.estimate(chosen[0].nests)
        show(entry, options.loops)
        for name, what in bench.measure(chosen[0], options.target,
                                        path).items():
            print(f"{name}: {what}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        sys.exit(0)
