# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine code for devices beside that of the vendors' compilers.

No device is needed: bench/codegen compiles the kernels of bench/kernels by
Kiln, by NVRTC and by clang, and counts what they are made of. Figures are
codegen/KERNEL/TARGET/VARIANT, in instructions that an item executes; system is
"kiln", "nvrtc" or "clang", which know only "plain" and "fast". A figure of
Kiln has the counts under the names of codegen/count.py; one that ends in
/ratio has the peer's name as its system and is Kiln's count divided by the
peer's, and so is its `registers`.
"""

import math
import os
import sys

import plot
import readme
import record

for folder in ("codegen", "kernels"):
    sys.path.append(os.path.join(record.ROOT, "bench", folder))

import cases    # noqa: E402
import sides    # noqa: E402

NAME = "codegen"
TARGETS = (sides.SM, *sides.ROCM, "spirv")
QUICK = ("saxpy", "spmv_csr")


# ---- measuring ----

def tools_of(bench):
    return sides.Bench(os.path.join(bench.bin, "kiln"), bench.scratch)


def versions(bench):
    return tools_of(bench).versions()


def run(bench, writer):
    tools = tools_of(bench)
    part = bench.part.split("/")[1:]
    chosen = [case for case in cases.read() if case.has(".cu") and
              (not bench.quick or case.name in QUICK) and
              (not part or case.name == part[0])]
    for target in TARGETS:
        if len(part) > 1 and part[1] != target:
            continue
        why = tools.missing(target)
        if why:
            writer.put(record.absent(f"codegen {target}", why))
            continue
        if not tools.peer(target):
            writer.put(record.absent(f"codegen {target}, the vendor's side",
                                     "its compiler is not here"))
        for case in chosen:
            writer.progress(f"codegen: {case.name}, {target}")
            measure(tools, writer, case, target)


def measure(tools, writer, case, target):
    name = f"codegen/{case.name}/{target}"
    peer = tools.peer(target)
    theirs = {}
    for variant in ("plain", "fast") if peer else ():
        theirs[variant] = attempt(writer, f"{peer} {name}", lambda:
                                  tools.measure(case, target, tools.by_peer(
                                      case, target, variant)))
        put(writer, f"{name}/{variant}", peer, theirs[variant])
    for variant in sides.VARIANTS:
        ours = attempt(writer, f"kiln {name}/{variant}",
                       lambda: tools.measure(case, target, tools.by_kiln(
                           case, target, variant)))
        put(writer, f"{name}/{variant}", "kiln", ours)
        beside = theirs.get("fast" if variant == "fast" else "plain")
        if ours and beside:
            writer.put(record.figure(
                f"{name}/{variant}/ratio", peer, "ratio",
                [ours["work"] / beside["work"]],
                registers=ratio_of(ours, beside, "registers")))


def ratio_of(ours, theirs, what):
    return round(ours[what] / theirs[what], 3) if theirs.get(what) else None


def attempt(writer, system, job):
    try:
        return job()
    except (sides.Failed, ValueError) as error:
        writer.put({**record.absent(system, str(error)), "error": True})
        return None


def put(writer, name, system, counts):
    if counts:
        more = {key: value for key, value in counts.items() if key != "work"}
        writer.put(record.figure(name, system, "count", [counts["work"]],
                                 **more))


# ---- tables ----

def rows_of(lines):
    """By target and kernel, by variant: ours, theirs, the ratio's figure."""
    found = {}
    for line in lines:
        words = line.get("name", "").split("/")
        if line["kind"] == "figure" and words[0] == NAME:
            own = found.setdefault(words[2], {}).setdefault(words[1], {})
            kind = "ratio" if words[-1] == "ratio" else \
                "kiln" if line["system"] == "kiln" else "peer"
            own[kind, words[3]] = line
    return found


def mean(values):
    values = [value for value in values if value]
    if not values:
        return None
    return math.exp(sum(map(math.log, values)) / len(values))


def plain(value):
    return "" if value is None else f"{value:.2f}"


def summary(found):
    head = ["target", "beside", "kernels"]
    for variant in sides.VARIANTS:
        head += [variant, "worst", "registers"]
    rows = []
    for target, kernels in found.items():
        cells, peer, count = [], "", 0
        for variant in sides.VARIANTS:
            ratios = {name: own["ratio", variant] for name, own
                      in kernels.items() if ("ratio", variant) in own}
            if not ratios:
                cells += ["", "", ""]
                continue
            worst = max(ratios, key=lambda name: ratios[name]["median"])
            peer, count = ratios[worst]["system"], len(ratios)
            cells += [plain(mean(one["median"] for one in ratios.values())),
                      f"{plain(ratios[worst]['median'])} {worst}",
                      plain(mean(one["registers"] for one
                                 in ratios.values()))]
        rows.append([target, peer, count, *cells])
    return readme.table(head, rows)


def both(own, what, variant="unchecked"):
    """What Kiln has, and the vendor's compiler, of one thing."""
    theirs = own.get(("peer", "fast" if variant == "fast" else "plain"))
    ours = own.get(("kiln", variant))
    return " / ".join("" if one is None or one.get(what) is None
                      else f"{one[what]:g}" for one in (ours, theirs))


def accesses(line):
    """Accesses of memory, as 2 x ldg.4."""
    if line is None:
        return ""
    return ", ".join(f"{readme.number(count)} {name}" for name, count
                     in line["memory"].items())


def kernels_of(kernels):
    head = ["kernel", "unchecked", "checked", "fast", "registers", "checked",
            "instructions", "loop", "checked", "stack", "calls",
            "Kiln's accesses", "the vendor's"]
    rows = []
    for name, own in kernels.items():
        ratios = [plain(own[key]["median"]) if key in own else "" for key in
                  (("ratio", variant) for variant in sides.VARIANTS)]
        rows.append([name, *ratios, both(own, "registers"),
                     both(own, "registers", "checked"),
                     both(own, "instructions"), both(own, "loop"),
                     both(own, "loop", "checked"), both(own, "stack"),
                     both(own, "calls"),
                     accesses(own.get(("kiln", "unchecked"))),
                     accesses(own.get(("peer", "plain")))])
    return readme.table(head, rows)


def mixes_of(kernels):
    """What work is made of: shares of the vendor's, means over kernels."""
    kinds = sorted({kind for own in kernels.values() for line in own.values()
                    for kind in line.get("mix", ())})
    rows = []
    for variant in sides.VARIANTS:
        beside = "peer", "fast" if variant == "fast" else "plain"
        both_ = [(own["kiln", variant], own[beside])
                 for own in kernels.values()
                 if ("kiln", variant) in own and beside in own]
        for name, place in ((f"Kiln, {variant}", 0), (beside[1], 1)):
            rows.append([name, *(plain(average(
                pair[place]["mix"].get(kind, 0) / pair[1]["median"]
                for pair in both_)) for kind in kinds)])
    return readme.table(["", *kinds], rows)


def average(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def tables(lines):
    found = rows_of(lines)
    if not found:
        return {}
    machine = readme.caption(lines)
    return {"codegen": machine + "\n\n" + summary(found),
            "codegen-mix": mixes_of(found.get(sides.SM, {})),
            "codegen-kernels": kernels_of(found.get(sides.SM, {}))}


# ---- drawing ----

MARKS = ("unchecked", "checked", "fast")


def drawing(lines):
    """Ratios on sm_90, a row for each kernel; None without any."""
    kernels = {name: own for name, own
               in rows_of(lines).get(sides.SM, {}).items()
               if any(key[0] == "ratio" for key in own)}
    if not kernels:
        return None
    rows = [(name, [own[key]["median"] if key in own else None
                    for key in (("ratio", mark) for mark in MARKS)])
            for name, own in kernels.items()]
    return plot.dots("Instructions that an item executes on sm_90, NVRTC = 1",
                     rows, MARKS, (0.25, 0.5, 1, 2, 4, 8))
