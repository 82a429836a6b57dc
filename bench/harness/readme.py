# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of bench/README.md, between the comments that mark them:

    <!-- table NAME -->
    <!-- end table -->

A family says by tables(lines) what stands there: text by the tables' names.
As a program it takes files of measurements, the later ones first in case of
doubt:

    python3 bench/harness/readme.py FILE...
"""

import importlib
import os
import re
import sys

import record

PATH = os.path.join(record.ROOT, "bench", "README.md")
END = "<!-- end table -->"


def number(value):
    """Three digits, and no more than that."""
    if value == 0:
        return "0"
    if value >= 100:
        return f"{value:.0f}"
    if value >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def spread(figure):
    """Median, least and greatest; "" for none."""
    if figure is None:
        return ""
    if figure["runs"] == 1:
        return number(figure["median"])
    return (f"{number(figure['median'])} ({number(figure['min'])} to "
            f"{number(figure['max'])})")


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table(head, rows):
    return "\n".join([row(head), row("---" for _ in head),
                      *(row(cells) for cells in rows)])


def caption(lines):
    """Machine, versions and date, in a sentence."""
    machine = next(line for line in lines if line["kind"] == "machine")
    versions = ", ".join(f"{name} {version}" for name, version
                         in machine["versions"].items())
    return (f"{machine['cpu']}, {machine['cores']} cores, "
            f"{machine['memory_gib']} GiB, Linux {machine['kernel']}; "
            f"{versions}; {machine['date']}, commit {machine['commit']}.")


def figures(lines, family):
    """Those of a family, by system and the rest of the name."""
    return {(line["system"], line["name"].split("/", 1)[1]): line
            for line in lines if line["kind"] == "figure" and
            line["name"].startswith(family + "/")}


def merged(paths):
    """The lines of all files; later ones replace what has their name."""
    kept, commits = {}, {}
    for path in paths:
        for line in record.read(path):
            kept[line["kind"], line.get("system"), line.get("name")] = line
            if line["kind"] == "machine":
                commits[line["commit"]] = None
    for line in kept.values():
        if line["kind"] == "machine":
            line["commit"] = ", ".join(commits)
    return list(kept.values())


def replaced(text, name, body):
    """The text with another table; a ValueError where it has no place."""
    begin = f"<!-- table {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(END), re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"README.md: not one place for table {name}")
    return pattern.sub(lambda _: f"{begin}\n\n{body}\n\n{END}", text)


def write(families, lines, path=PATH):
    """The names of the tables that were written."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    names = []
    for family in families:
        if not hasattr(family, "tables"):
            continue
        for name, body in family.tables(lines).items():
            text = replaced(text, name, body)
            names.append(name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return names


def main(paths):
    if not paths:
        print("usage: readme.py FILE...", file=sys.stderr)
        return 2
    here = os.path.dirname(os.path.abspath(__file__))
    families = [importlib.import_module(name) for name in
                ("seed", "peers", "scale", "growth", "simulation",
                 "codegen", "host")
                if os.path.exists(os.path.join(here, name + ".py"))]
    for name in write(families, merged(paths)):
        print(f"README.md: table {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
