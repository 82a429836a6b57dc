# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the instructions of hit paths and stages against a baseline.

Callgrind counts what functions of libkiln execute themselves, and not what the
C library and the kernels do, since these choose their code by the processor.
The counts depend on the compiler and its options: with others than the
baseline's there is nothing to compare, and the exit status is 77, as without
valgrind. It is 1 when a path takes 10 % more than the baseline says.

    gate.py --program KILN-INSTRUCTIONS --compiler TEXT [--baseline FILE]
            [--renew]

--renew writes the baseline anew, after a change that is worth its price.
"""

import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import gates    # noqa: E402

PROGRAM = "gate.py"
MANY = os.path.join(os.path.dirname(HERE), "many", "many.kiln")
ALLOWED = 1.10

# How often each is run: few instructions need some company.
PATHS = {"hit/signature": 1000, "hit/code": 1000, "hit/launch": 1000,
         "hit/disk": 20, "stage/parse": 5, "stage/infer": 5}


def count_in(lines, library):
    """The sum of what functions of the library took themselves."""
    total = 0
    names = {}
    is_ours = is_call = False
    for line in lines:
        line = line.rstrip("\n")
        if line.startswith("ob=") or line.startswith("cob="):
            number, _, name = line.split("=", 1)[1].partition(" ")
            if name:
                names[number] = name
            if line[0] == "o":
                is_ours = os.path.basename(names[number]).startswith(library)
        elif line.startswith("calls="):
            is_call = True
        elif line[:1] in ("+", "-", "*") or line[:1].isdigit():
            if is_ours and not is_call:
                total += int(line.split()[1])
            is_call = False
    return total


def environment(folder, path):
    own = {name: value for name, value in os.environ.items()
           if not name.startswith("KILN_") or name == "KILN_CODEGEN_PATH"}
    own["KILN_CACHE"] = "rw" if path.startswith("hit/") else "off"
    own["KILN_CACHE_DIR"] = os.path.join(folder, "cache")
    return own


def count(program, path, folder):
    """Instructions of libkiln for one run of a path."""
    iterations = PATHS[path]
    out = os.path.join(folder, "callgrind.out")
    command = [program, path, str(iterations), MANY]
    # Without callgrind first: it fills the cache.
    subprocess.run(command[:2] + ["1", MANY], check=True,
                   env=environment(folder, path))
    subprocess.run(["valgrind", "-q", "--tool=callgrind",
                    "--toggle-collect=measure", f"--callgrind-out-file={out}",
                    *command], check=True, env=environment(folder, path))
    with open(out, encoding="utf-8", errors="replace") as file:
        return count_in(file, "libkiln.so") / iterations


def compare(baseline, counts):
    report = gates.Report()
    for path, got in counts.items():
        want = baseline.get(path)
        if not want:
            report.lacks(f"{path}: {got:.0f}, which the baseline lacks")
            continue
        report.add(f"{path}: {got:.0f} instructions, {got / want:.3f} of "
                   f"the baseline's {want:.0f}",
                   got, want / ALLOWED, want * ALLOWED)
    return report


def read_options(arguments):
    parser = gates.parser_of(PROGRAM, HERE)
    parser.add_argument("--program", required=True)
    parser.add_argument("--compiler", required=True)
    return parser.parse_args(arguments)


def main(arguments):
    options = read_options(arguments)
    if not shutil.which("valgrind"):
        return gates.skip(PROGRAM, "package", "no valgrind")
    baseline = gates.read(options.baseline)
    if not options.renew and baseline["compiler"] != options.compiler:
        return gates.skip_tools(PROGRAM, baseline["compiler"],
                                options.compiler)
    with tempfile.TemporaryDirectory() as folder:
        counts = {path: count(options.program, path, folder) for path in PATHS}
    if options.renew:
        gates.write(options.baseline,
                    {"compiler": options.compiler,
                     "instructions": {path: round(one) for path, one
                                      in counts.items()}}, indent=4)
        return 0
    return compare(baseline["instructions"], counts).end()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
