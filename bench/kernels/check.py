# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs each kernel in Kiln's language and in OpenCL C, both on the host, and
compares what they leave in their arrays.

    check.py [--cuda CXX] [--c CC] KILN [NAME...]

--cuda compiles those in CUDA C by a C++ compiler, over cuda_on_host.h, and
compares them with the ones in OpenCL C, too; --c does so with those in plain
C. Integers must be the same, floats nearly so: within a part of the greatest
number in the array. A kernel that changes nothing is wrong.
"""

import argparse
import array
import os
import subprocess
import sys
import tempfile

import cases
import plain

NEAR = {"f32": 2e-4, "f64": 1e-9}

# Part of the elements that may differ: roundings decide when a point is out,
# and are all that is left of an option's price that is nearly nothing.
LOOSE = {"mandelbrot": 0.002, "black_scholes": 0.001}


def execute(command, what):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"{what}: {done.stderr.strip() or done.returncode}")


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
    execute(command, case.name + suffix)
    return {one.number: cases.read_npy(saved[one.number], one)
            for one in own if one.sizes}


def cuda_program(case, folder):
    """The text of a program that runs the kernel in CUDA C."""
    before, call, after = [], [], []
    for one in case.arguments:
        kind, name = plain.C_TYPES[one.type], f"a{one.number}"
        if one.sizes:
            path = os.path.join(folder, name)
            before.append(f'{kind} *{name} = read_array<{kind}>("{path}", '
                          f"{one.items()});")
            after.append(f'write_array("{path}", {name}, {one.items()});')
            call.append(name)
        else:
            call.append(f"({kind}){one.value}")
    items = case.block + [1] * (3 - len(case.block))
    grid = case.grid + [1] * (3 - len(case.grid))
    blocks = [-(-size // block) for size, block in zip(grid, items)]
    return "\n".join([
        f'#include "{cases.HERE}/cuda_on_host.h"',
        f'#include "{case.path(".cu")}"', "int main()", "{", *before,
        f"kernel = [=] {{ {case.name}({', '.join(call)}); }};",
        f"launch({{{', '.join(map(str, blocks))}}}, "
        f"{{{', '.join(map(str, items))}}});", *after, "}", ""])


def run_cuda(compiler, case, folder):
    text, program = (os.path.join(folder, name) for name in ("k.cc", "k"))
    with open(text, "w", encoding="utf-8") as file:
        file.write(cuda_program(case, folder))
    execute([compiler, "-std=c++17", "-O1", "-o", program, text],
            case.name + ".cu")
    arrays = [one for one in case.arguments if one.sizes]
    for one in arrays:
        with open(os.path.join(folder, f"a{one.number}"), "wb") as file:
            file.write(one.data().tobytes())
    execute([program], case.name + ".cu")
    found = {}
    for one in arrays:
        found[one.number] = array.array(cases.CODES[one.type])
        with open(os.path.join(folder, f"a{one.number}"), "rb") as file:
            found[one.number].frombytes(file.read())
    return found


def different(kind, a, b):
    """Where two arrays differ by more than they may."""
    if a == b:
        return []
    far = NEAR.get(kind, 0) * max(abs(x) for x in b)
    return [i for i, (x, y) in enumerate(zip(a, b))
            if x != y and not abs(x - y) <= far]


def differences(case, language, ours, theirs):
    """Lines that tell what is wrong with ours."""
    wrong, changed = [], False
    for one in case.arguments:
        if not one.sizes:
            continue
        a, b = ours[one.number], theirs[one.number]
        changed = changed or a != one.data()
        bad = different(one.type, a, b)
        if len(bad) > LOOSE.get(case.name, 0) * len(b):
            at = bad[0]
            wrong.append(f"{case.name}: argument {one.number} differs "
                         f"{len(bad)} times, first at {at}: {a[at]} in "
                         f"{language}, {b[at]} in OpenCL C")
    return wrong if changed else [f"{case.name} changes nothing in {language}"]


def check(options, case):
    with tempfile.TemporaryDirectory() as folder:
        for one in case.arguments:
            if one.sizes:
                cases.write_npy(os.path.join(folder, f"in{one.number}.npy"),
                                one)
        try:
            theirs = run(options.kiln, case, ".cl", folder)
            wrong = differences(case, "Kiln's language",
                                run(options.kiln, case, ".kiln", folder),
                                theirs)
            if options.cuda and case.has(".cu"):
                wrong += differences(case, "CUDA C", run_cuda(
                    options.cuda, case, folder), theirs)
            if options.c:
                wrong += differences(case, "plain C", plain.run(
                    case, options.c, folder), theirs)
            return wrong
        except ValueError as error:
            return [str(error)]


def main(arguments):
    parser = argparse.ArgumentParser(prog="check.py")
    parser.add_argument("kiln")
    parser.add_argument("--cuda", metavar="CXX")
    parser.add_argument("--c", metavar="CC")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    chosen = [case for case in cases.read()
              if not options.names or case.name in options.names]
    wrong = [line for case in chosen for line in check(options, case)]
    print("\n".join(wrong) or f"{len(chosen)} kernels agree")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
