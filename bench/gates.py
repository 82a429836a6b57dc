# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs share that hold counts against a baseline.

A baseline is a file of JSON. The exit status of such a program is 0, 1 when a
count is too much, and 77 when there is nothing to compare with.
"""

import argparse
import json
import os

SKIPPED = 77


def parser_of(program, folder):
    """A parser for the options that all of them have. `folder` has the
    baseline."""
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("--baseline",
                        default=os.path.join(folder, "baseline.json"))
    parser.add_argument("--renew", action="store_true")
    return parser


def skip(program, kind, why):
    """As test_skip() of tests/support/harness.h does."""
    line = f"{kind}: {program}, all of it: {why}"
    print(f"skipped for want of a {line}")
    if os.environ.get("TEST_SKIPS"):
        with open(os.environ["TEST_SKIPS"], "a", encoding="utf-8") as file:
            file.write(line + "\n")
    return SKIPPED


def skip_tools(program, wanted, found):
    return skip(program, "machine",
                f"the baseline is for {wanted}, this is {found}")


def read(path):
    """The baseline; an empty one where there is no file."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write(path, baseline, **how):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(baseline, file, **how)
        file.write("\n")


class Report:
    """How each count fares."""

    def __init__(self):
        self.lines = []
        self.too_much = 0

    def lacks(self, line):
        """Adds a count that the baseline has no number for."""
        self.lines.append(line)
        self.too_much += 1

    def add(self, line, number, least, most):
        """Adds a count, which is good between `least` and `most`."""
        if number > most:
            line += ": too much"
            self.too_much += 1
        elif number < least:
            line += ": less; renew the baseline"
        self.lines.append(line)

    def end(self):
        """Prints the report and returns the exit status."""
        print("\n".join(self.lines))
        return 1 if self.too_much else 0
