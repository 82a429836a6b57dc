# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drawings of measurements, as SVG written by hand.

write(OUT.svg, lines) draws first and second executions as bars, on a scale of
decades, into OUT.svg; and, where growth was measured, its lines into
OUT-growth.svg. Colours follow the reader's choice of light or dark. As a
program: plot.py OUT.svg FILE...
"""

import math
import re
import sys
from xml.sax.saxutils import escape

import readme

STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-size: 16px; font-weight: 600 }
.small { font-size: 11px }
.grid { stroke: #d0d7de; stroke-width: 1 }
.c0 { fill: #c2410c } .c1 { fill: #2563eb } .c2 { fill: #0f766e }
.c3 { fill: #9333ea } .c4 { fill: #a16207 } .c5 { fill: #475569 }
.l0 { stroke: #c2410c } .l1 { stroke: #2563eb } .l2 { stroke: #0f766e }
.l3 { stroke: #9333ea } .l4 { stroke: #a16207 } .l5 { stroke: #475569 }
polyline { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.grid { stroke: #3d444d }
.c0 { fill: #fb923c } .c1 { fill: #60a5fa } .c2 { fill: #2dd4bf }
.c3 { fill: #c084fc } .c4 { fill: #facc15 } .c5 { fill: #94a3b8 }
.l0 { stroke: #fb923c } .l1 { stroke: #60a5fa } .l2 { stroke: #2dd4bf }
.l3 { stroke: #c084fc } .l4 { stroke: #facc15 } .l5 { stroke: #94a3b8 }
}
</style>"""
COLOURS = 6
WIDTH = 760

# Of each system: what is drawn, and what it is called.
PEER_BARS = (("first-cold", "first, nothing cached"),
             ("first-warm", "first, cached"), ("second", "second"))


def document(width, height, title, body):
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} '
        f'{height}" width="{width}" height="{height}" role="img">',
        f"<title>{escape(title)}</title>", STYLE,
        text(16, 26, title, "title"), *body, "</svg>", ""])


def text(x, y, what, kind="", anchor="start"):
    kind = f' class="{kind}"' if kind else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>'
            f"{escape(what)}</text>")


def grid(x1, y1, x2, y2):
    return (f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
            f'y2="{y2:.1f}"/>')


def power(exponent):
    """10 to that power, as short as it can be read."""
    return f"{10.0 ** exponent:g}"


class Decades:
    """A scale from a whole power of ten to another one."""

    def __init__(self, values, low, high):
        values = [value for value in values if value > 0]
        self.first = math.floor(math.log10(min(values)))
        self.last = max(math.ceil(math.log10(max(values))), self.first + 1)
        self.low, self.high = low, high

    def at(self, value):
        part = (math.log10(value) - self.first) / (self.last - self.first)
        return self.low + part * (self.high - self.low)

    def ticks(self):
        return range(self.first, self.last + 1)


# ---- bars ----

def peer_groups(lines):
    """(system, its median of each bar) where it has them all."""
    found = {}
    for (system, name), figure in readme.figures(lines, "peers").items():
        if name.startswith("host/"):
            found.setdefault(system, {})[name.split("/", 1)[1]] = figure
    return [(system, [figures[name]["median"] for name, _ in PEER_BARS])
            for system, figures in found.items()
            if all(name in figures for name, _ in PEER_BARS)]


def seed_groups(lines):
    """The same of Kiln alone: each workload on each backend."""
    found = readme.figures(lines, "seed")
    groups = []
    for (system, name), figure in found.items():
        cold = "/precompiled-no/disk-no/first"
        stem = name.removesuffix(cold)
        warm = found.get((system, stem + cold.replace("disk-no", "disk-yes")))
        second = found.get((system, stem + cold.replace("first", "second")))
        if name.endswith(cold) and warm and second:
            groups.append((stem.replace("/", ", "),
                           [figure["median"], warm["median"],
                            second["median"]]))
    return groups


def bars(title, groups, names):
    left = 24 + 8 * max(len(group) for group, _ in groups)
    right, top, height = WIDTH - 90, 74, 16
    scale = Decades([value for _, values in groups for value in values],
                    left, right)
    step = height * len(names) + 14
    bottom = top + step * len(groups)
    body = [f'<rect class="c{i}" x="{16 + 200 * i}" y="40" width="12" '
            f'height="12"/>' + text(34 + 200 * i, 51, name)
            for i, name in enumerate(names)]
    for exponent in scale.ticks():
        x = scale.at(10.0 ** exponent)
        body += [grid(x, top - 8, x, bottom),
                 text(x, bottom + 16, power(exponent) + " ms", "small",
                      "middle")]
    for row, (group, values) in enumerate(groups):
        y = top + step * row
        body.append(text(left - 8, y + height * len(names) / 2 + 5, group,
                         "", "end"))
        for i, value in enumerate(values):
            x = max(scale.at(value), left + 1) if value > 0 else left
            body += [f'<rect class="c{i}" x="{left}" y="{y + height * i}" '
                     f'width="{x - left:.1f}" height="{height - 2}"/>',
                     text(x + 5, y + height * i + height - 5,
                          readme.number(value), "small")]
    return document(WIDTH, bottom + 34, title, body)


# ---- ratios ----

def dots(title, rows, names, ticks):
    """A row for each (name, values), on a scale from the first tick to the
    last; a value that is None is left out."""
    left, right, top, step = 150, WIDTH - 30, 84, 17
    bottom = top + step * len(rows)
    low, high = math.log(ticks[0]), math.log(ticks[-1])

    def at(value):
        part = (math.log(max(value, ticks[0])) - low) / (high - low)
        return left + min(part, 1) * (right - left)

    body = [f'<circle class="c{i}" cx="{22 + 130 * i}" cy="46" r="5"/>' +
            text(34 + 130 * i, 51, name) for i, name in enumerate(names)]
    for tick in ticks:
        body += [grid(at(tick), top - 8, at(tick), bottom),
                 text(at(tick), bottom + 16, f"{tick:g}", "small", "middle")]
    for row, (name, values) in enumerate(rows):
        y = top + step * row + step / 2
        body.append(text(left - 8, y + 4, name, "small", "end"))
        body += [f'<circle class="c{i}" cx="{at(value):.1f}" cy="{y:.1f}" '
                 f'r="4"/>' for i, value in enumerate(values)
                 if value is not None]
    return document(WIDTH, bottom + 34, title, body)


# ---- growth ----

def growth_series(lines, measure):
    """(shape, [(size, median), …]) of each shape that has the measure."""
    series = {}
    for (_, name), figure in readme.figures(lines, "growth").items():
        found = re.fullmatch(rf"([^/]+)/{measure}/size=(\d+)", name)
        if found and figure["median"] > 0:
            series.setdefault(found.group(1), []).append(
                (int(found.group(2)), figure["median"]))
    return [(shape, sorted(points)) for shape, points in series.items()
            if len(points) > 1][:COLOURS]


def panel(series, unit, left, right, top, bottom):
    across = Decades([x for _, points in series for x, _ in points], left,
                     right)
    up = Decades([y for _, points in series for _, y in points], bottom, top)
    body = []
    for exponent in across.ticks():
        x = across.at(10.0 ** exponent)
        body += [grid(x, top, x, bottom),
                 text(x, bottom + 16, power(exponent), "small", "middle")]
    for exponent in up.ticks():
        y = up.at(10.0 ** exponent)
        body += [grid(left, y, right, y),
                 text(left - 6, y + 4, f"{power(exponent)} {unit}", "small",
                      "end")]
    for i, (_, points) in enumerate(series):
        body.append(f'<polyline class="l{i}" points="' + " ".join(
            f"{across.at(x):.1f},{up.at(y):.1f}" for x, y in points) + '"/>')
        body += [f'<circle class="c{i}" cx="{across.at(x):.1f}" '
                 f'cy="{up.at(y):.1f}" r="3"/>' for x, y in points]
    return body


def growth(series):
    body = []
    for i, (shape, _) in enumerate(series):
        x, y = 16 + 240 * (i % 3), 40 + 18 * (i // 3)
        body += [f'<rect class="c{i}" x="{x}" y="{y}" width="12" '
                 f'height="12"/>', text(x + 18, y + 11, shape)]
    body += panel(series, "ms", 90, WIDTH - 30, 90, 370)
    return document(WIDTH, 400, "Compile time by size", body)


def write(path, lines):
    """The paths of what was drawn."""
    import codegen      # which draw with what is above
    import host_tables
    groups = peer_groups(lines)
    drawings = {}
    if groups:
        drawings[path] = bars("saxpy, first and second execution", groups,
                              [name for _, name in PEER_BARS])
    elif seed_groups(lines):
        drawings[path] = bars("First and second execution",
                              seed_groups(lines),
                              [name for _, name in PEER_BARS])
    series = growth_series(lines, "compile")
    if series:
        drawings[path.removesuffix(".svg") + "-growth.svg"] = growth(series)
    for name, family in (("codegen", codegen), ("host", host_tables)):
        ratios = family.drawing(lines)
        if ratios:
            drawings[path.removesuffix(".svg") + f"-{name}.svg"] = ratios
    for name, drawing in drawings.items():
        with open(name, "w", encoding="utf-8") as file:
            file.write(drawing)
    return list(drawings)


if __name__ == "__main__":
    for drawn in write(sys.argv[1], readme.merged(sys.argv[2:])):
        print(drawn)
