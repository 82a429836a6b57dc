# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What README.md and the plots show of kernels on this processor; host.py
tells what the figures are."""

import plot
import readme
from codegen import mean, plain

NAME = "host"

# Kiln's side, what it is laid beside, and how a table calls that.
BESIDE = [("kiln-checked", "c", "checked"),
          ("kiln-unchecked", "c", "unchecked"),
          ("kiln-fast", "c-fast", "fast"),
          ("kiln-2", "c-2", "OpenMP"), ("kiln-cl-2", "pocl-2", "PoCL"),
          ("kiln-2", "numba-2", "Numba"),
          ("kiln-fast-2", "numba-fast-2", "Numba, fast"),
          ("kiln-2", "taichi-2", "Taichi"),
          ("kiln-fast-2", "taichi-fast-2", "Taichi, fast")]
COMPILERS = [("c", "gcc"), ("kiln-checked", "checked"),
             ("kiln-unchecked", "unchecked"), ("kiln-fast", "fast"),
             ("pocl-2", "PoCL"), ("numba-2", "Numba"), ("taichi-2", "Taichi")]
WORST = 3


def by_kernel(lines):
    """For each kernel, its figures by measure and system."""
    found = {}
    for (system, name), line in readme.figures(lines, NAME).items():
        kernel, measure = name.split("/")
        found.setdefault(kernel, {})[measure, system] = line
    return found


def ratio(own, ours, theirs):
    line = own.get(("ratio", f"{ours} {theirs}"))
    return line["median"] if line else None


def worst_first(found):
    """Kernels, those first where Kiln is most behind."""
    def key(item):
        return ratio(item[1], *BESIDE[1][:2]) or 0
    return sorted(found.items(), key=key)


def summary(found):
    rows = []
    for ours, theirs, _ in BESIDE:
        ratios = {kernel: ratio(own, ours, theirs)
                  for kernel, own in found.items()
                  if ratio(own, ours, theirs) is not None}
        if ratios:
            worst = sorted(ratios, key=ratios.get)[:WORST]
            rows.append([ours, theirs, len(ratios),
                         plain(mean(ratios.values())),
                         sum(one >= 0.95 for one in ratios.values()),
                         ", ".join(f"{kernel} {plain(ratios[kernel])}"
                                   for kernel in worst)])
    return readme.table(["Kiln's side", "beside", "kernels", "geometric mean",
                         "0.95 or more", "worst"], rows)


def compiling(found):
    """Geometric means, over the kernels that each side has."""
    rows = []
    for side, name in COMPILERS:
        lines = [own["compile", side] for own in found.values()
                 if ("compile", side) in own]
        if lines:
            slowest = max(line["median"] for line in lines)
            rows.append([name, len(lines), readme.number(
                mean(line["median"] for line in lines)),
                readme.number(slowest)])
    return readme.table(["compiler", "kernels", "ms", "longest"], rows)


def kernels(found):
    head = ["kernel", "C, µs", "C, fast",
            *(name for _, _, name in BESIDE),
            *(f"{name}, ms" for _, name in COMPILERS[:2])]
    rows = []
    for kernel, own in worst_first(found):
        times = [own.get(("launch", side)) for side in ("c", "c-fast")]
        spent = [own.get(("compile", side)) for side, _ in COMPILERS[:2]]
        rows.append([kernel,
                     *(readme.number(one["median"] * 1e3) if one else ""
                       for one in times),
                     *(plain(ratio(own, ours, theirs))
                       for ours, theirs, _ in BESIDE),
                     *(readme.number(one["median"]) if one else ""
                       for one in spent)])
    return readme.table(head, rows)


def absent(lines):
    rows = [f"- {line['system']}: {line['why']}" for line in lines
            if line["kind"] == "absent" and
            line.get("name", "").startswith(NAME + "/")]
    return ["Not measured:\n\n" + "\n".join(rows)] if rows else []


def tables(lines):
    found = by_kernel(lines)
    if not found:
        return {}
    return {"host": "\n\n".join([readme.caption(lines), summary(found),
                                 compiling(found), *absent(lines)]),
            "host-kernels": kernels(found)}


def drawing(lines):
    """Ratios to plain C, a row for each kernel; None without any."""
    rows = [(kernel, [ratio(own, ours, theirs)
                      for ours, theirs, _ in BESIDE[:3]])
            for kernel, own in worst_first(by_kernel(lines))]
    if not rows:
        return None
    return plot.dots("Speed on one thread, plain C by gcc = 1", rows,
                     [name for _, _, name in BESIDE[:3]],
                     (0.03125, 0.125, 0.5, 1, 2, 8))
