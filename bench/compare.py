# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares two files of measurements: compare.py OLD NEW [--threshold RATIO]

Prints a line for each figure that both have, those that changed most first:
the ratio of the medians, new over old. Worse is what became greater; of figures
whose names end in /ratio, which tell how much faster Kiln is, what became less.

A figure is a regression when its ratio is beyond the threshold (1.25) and the
spreads do not meet: the best of the new runs is worse than the worst of the
old ones. Figures of a single run have no spread; for these the ratio alone
counts. Exit status: 0, 1 for a regression or for figures that are gone, 2 for
files that cannot be compared.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "harness"))
import record  # noqa: E402, pylint: disable=wrong-import-position

def figures(path):
    return {(line["name"], line["system"]): line for line in record.read(path)
            if line["kind"] == "figure"}


def is_more_better(figure):
    return figure["name"].endswith("/ratio")


def worse_by(old, new):
    """How many times worse the new one is; below 1 it is better."""
    if is_more_better(old):
        old, new = new, old
    if old["median"] == new["median"]:
        return 1.0
    return new["median"] / old["median"] if old["median"] else float("inf")


def is_regression(old, new, threshold):
    if worse_by(old, new) <= threshold:
        return False
    if is_more_better(old):
        return new["max"] < old["min"]
    return new["min"] > old["max"]


def machine_of(path):
    machines = [line for line in record.read(path)
                if line["kind"] == "machine"]
    return (machines[-1]["cpu"], machines[-1]["cores"]) if machines else None


def report(old, new, threshold):
    """Lines to print, and how many figures are worse or gone."""
    both = [key for key in old if key in new
            and old[key]["unit"] == new[key]["unit"]]
    both.sort(key=lambda key: -worse_by(old[key], new[key]))
    lines, bad = [], 0
    for key in both:
        verdict = ""
        if is_regression(old[key], new[key], threshold):
            verdict = "  WORSE"
            bad += 1
        lines.append(f"{worse_by(old[key], new[key]):7.3f}  "
                     f"{old[key]['median']:12.6g} {new[key]['median']:12.6g} "
                     f"{old[key]['unit']:6} {key[0]} ({key[1]}){verdict}")
    for key in old:
        if key not in both:
            lines.append(f"   gone  {key[0]} ({key[1]})")
            bad += 1
    lines += [f"    new  {key[0]} ({key[1]})" for key in new if key not in old]
    return lines, bad


def main(arguments):
    parser = argparse.ArgumentParser(prog="compare.py")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--threshold", type=float, default=1.25,
                        metavar="RATIO")
    options = parser.parse_args(arguments)
    try:
        if machine_of(options.old) != machine_of(options.new):
            print("compare.py: these are two kinds of machine",
                  file=sys.stderr)
        lines, bad = report(figures(options.old), figures(options.new),
                            options.threshold)
    except (OSError, ValueError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    if not lines:
        print("compare.py: neither file has figures", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
