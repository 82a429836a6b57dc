# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs each kernel in Kiln's language and in OpenCL C, both on the host, and
compares what they leave in their arrays.

    check.py KILN [NAME...]

Integers must be the same, floats nearly so: within a part of the greatest
number in the array. A kernel that changes nothing is wrong, too.
"""

import os
import subprocess
import sys
import tempfile

import cases

NEAR = {"f32": 2e-4, "f64": 1e-9}


def run(kiln, case, suffix, folder):
    """What is in each array afterwards, by the argument's number."""
    own = case.of_kiln() if suffix == ".kiln" else case.arguments
    command = [kiln, "run", case.path(suffix), case.name]
    saved = {}
    for place, one in enumerate(own):
        if one.sizes:
            saved[one.number] = os.path.join(folder, f"out{one.number}.npy")
            command += [f"@{os.path.join(folder, f'in{one.number}.npy')}",
                        "--save", f"{place}={saved[one.number]}"]
        else:
            command.append(f"{one.value}:{one.type}")
    for option, sizes in (("--grid", case.grid), ("--block", case.block)):
        command += [option, ",".join(str(size) for size in sizes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{case.name}{suffix}: {done.stderr.strip()}")
    return {one.number: cases.read_npy(saved[one.number], one)
            for one in own if one.sizes}


def differences(case, ours, theirs):
    """Lines that tell what is wrong."""
    wrong, changed = [], False
    for one in case.arguments:
        if not one.sizes:
            continue
        a, b = ours[one.number], theirs[one.number]
        changed = changed or a != one.data()
        if a == b:
            continue
        far = NEAR.get(one.type, 0) * max(abs(x) for x in b)
        bad = [i for i, (x, y) in enumerate(zip(a, b))
               if x != y and not abs(x - y) <= far]
        if bad or len(a) != len(b):
            at = bad[0] if bad else len(b)
            wrong.append(f"{case.name}: argument {one.number} differs "
                         f"{len(bad)} times, first at {at}: {a[at]} in "
                         f"Kiln's language, {b[at]} in OpenCL C")
    return wrong if changed else [f"{case.name} changes nothing"]


def check(kiln, case):
    with tempfile.TemporaryDirectory() as folder:
        for one in case.arguments:
            if one.sizes:
                cases.write_npy(os.path.join(folder, f"in{one.number}.npy"),
                                one)
        try:
            return differences(case, run(kiln, case, ".kiln", folder),
                               run(kiln, case, ".cl", folder))
        except ValueError as error:
            return [str(error)]


def main(arguments):
    if not arguments:
        print("usage: check.py KILN [NAME...]", file=sys.stderr)
        return 2
    kiln, *names = arguments
    chosen = [case for case in cases.read() if not names or case.name in names]
    wrong = [line for case in chosen for line in check(kiln, case)]
    print("\n".join(wrong) or f"{len(chosen)} kernels agree")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
