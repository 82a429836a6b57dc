# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the harness does with measurements: compares, draws, writes tables."""

import io
import json
import os
import sys
import tempfile
import unittest
import xml.dom.minidom
from contextlib import redirect_stderr, redirect_stdout

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                     "bench")
for folder in ("", "harness", "instructions"):
    sys.path.insert(0, os.path.join(BENCH, folder))

import cells          # noqa: E402
import compare        # noqa: E402
import gate           # noqa: E402
import host_tables    # noqa: E402
import plot           # noqa: E402
import readme         # noqa: E402
import record         # noqa: E402
import seed           # noqa: E402
import workloads      # noqa: E402


def machine():
    return {"kind": "machine", "cpu": "a processor", "cores": 2,
            "memory_gib": 4, "kernel": "6", "date": "2026-01-02",
            "commit": "abc", "versions": {"kiln": "1"}}


def of_seed(what, values, disk="no", **more):
    return record.figure(f"seed/saxpy/host/precompiled-no/disk-{disk}/{what}",
                         "kiln", "ms", values, workload="8 items", **more)


def seed_lines():
    first = {"share": 0.5, "stages": {"parse": 1.25}, "tiers": {
        name: {"built": 1, "stored": 2, "memory": 3} for name in seed.TIERS}}
    lines = [machine()]
    for disk in ("no", "yes"):
        lines += [of_seed("first", [1.0, 9.0, 2.0], disk, **first),
                  of_seed("second", [0.25], disk),
                  of_seed("process", [30.0, 31.0], disk)]
    return lines + [record.absent("kiln cuda", "there is no driver")]


def compared(old, new, *more):
    """The exit status, and what was printed."""
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, lines in enumerate((old, new)):
            paths.append(os.path.join(folder, str(number)))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)
        with redirect_stdout(out), redirect_stderr(out):
            return compare.main([*paths, *more]), out.getvalue()


class Compare(unittest.TestCase):
    def test_the_same_is_no_regression(self):
        self.assertEqual(compared(seed_lines(), seed_lines())[0], 0)

    def test_slower_beyond_spread_and_threshold_is_one(self):
        status, text = compared([of_seed("first", [1.0, 1.1, 1.2])],
                                [of_seed("first", [1.6, 1.7, 1.8])])
        self.assertEqual(status, 1)
        self.assertIn("WORSE", text)

    def test_slower_within_the_spread_is_none(self):
        self.assertEqual(compared([of_seed("first", [1.0, 1.1, 3.0])],
                                  [of_seed("first", [1.6, 1.7, 1.8])])[0], 0)

    def test_slower_within_the_threshold_is_none(self):
        old, new = [of_seed("first", [1.0])], [of_seed("first", [1.2])]
        self.assertEqual(compared(old, new)[0], 0)
        self.assertEqual(compared(old, new, "--threshold", "1.1")[0], 1)

    def test_a_lower_lead_over_a_peer_is_one(self):
        old = record.figure("peers/host/first/ratio", "pocl", "ratio", [20.0])
        new = record.figure("peers/host/first/ratio", "pocl", "ratio", [10.0])
        self.assertEqual(compared([old], [new])[0], 1)
        self.assertEqual(compared([new], [old])[0], 0)

    def test_a_figure_that_is_gone_is_one(self):
        old = [of_seed("first", [1.0]), of_seed("second", [1.0])]
        status, text = compared(old, old[:1])
        self.assertEqual(status, 1)
        self.assertIn("gone", text)

    def test_a_file_that_is_none_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file")
            with open(path, "w", encoding="utf-8") as file:
                file.write("{}\n")
            with redirect_stderr(io.StringIO()):
                self.assertEqual(compare.main([path, path]), 2)


class Gate(unittest.TestCase):
    def test_a_path_that_grows_by_more_than_a_tenth_fails(self):
        self.assertEqual(gate.compare({"a": 100}, {"a": 111}).too_much, 1)
        self.assertEqual(gate.compare({"a": 100}, {"a": 109}).too_much, 0)
        self.assertEqual(gate.compare({"a": 100}, {"a": 50}).too_much, 0)
        self.assertEqual(gate.compare({}, {"a": 50}).too_much, 1)

    def test_only_the_library_itself_is_counted(self):
        text = ("ob=(1) /x/libkiln.so.0\nfn=(1) f\n10 5\n+2 7\n"
                "cob=(2) /lib/libc.so\ncfn=(2) g\ncalls=1 20\n* 1000\n-1 3\n"
                "ob=(2)\nfn=(2)\n20 1000\n"
                "ob=(1)\nfn=(3) h\n1 100\n")
        self.assertEqual(gate.count_in(text.splitlines(True), "libkiln.so"),
                         115)


class Tables(unittest.TestCase):
    def test_have_what_was_measured_and_what_was_not(self):
        tables = seed.tables(seed_lines())
        self.assertIn("| saxpy, 8 items | host | no | yes | 2.00 (1.00 to "
                      "9.00) | 50.0 % | 0.25 |", tables["seed"])
        self.assertIn("cuda: there is no driver", tables["seed"])
        self.assertIn("a processor, 2 cores", tables["seed"])
        self.assertIn("| 1.25 |", tables["stages"])
        self.assertIn("| 1 / 2 / 3 |", tables["stages"])

    def test_replace_what_stands_between_their_comments(self):
        text = "a\n<!-- table t -->\nold\n<!-- end table -->\nb\n"
        once = readme.replaced(text, "t", "new")
        self.assertNotIn("old", once)
        self.assertEqual(once, readme.replaced(once, "t", "new"))
        self.assertTrue(once.startswith("a\n") and once.endswith("\nb\n"))
        with self.assertRaises(ValueError):
            readme.replaced(text, "u", "new")

    def test_have_their_places_in_the_readme(self):
        with open(readme.PATH, encoding="utf-8") as file:
            text = file.read()
        for name, body in seed.tables(seed_lines()).items():
            self.assertIn(body, readme.replaced(text, name, body))


class Plot(unittest.TestCase):
    def draw(self, lines):
        with tempfile.TemporaryDirectory() as folder:
            paths = plot.write(os.path.join(folder, "x.svg"), lines)
            return {os.path.basename(path): xml.dom.minidom.parse(path)
                    for path in paths}

    def test_of_the_seed_has_a_bar_for_each_execution(self):
        drawn = self.draw(seed_lines())
        bars = [one for one in drawn["x.svg"].getElementsByTagName("rect")
                if one.getAttribute("height") == "14"]
        self.assertEqual(len(bars), 3)

    def test_of_peers_comes_before_that_of_the_seed(self):
        lines = seed_lines() + [
            record.figure(f"peers/host/{what}", system, "ms", [value])
            for system in ("kiln", "a < b")
            for (what, _), value in zip(plot.PEER_BARS, (100, 10, 0))]
        text = self.draw(lines)["x.svg"].toxml()
        self.assertIn("a &lt; b", text)
        self.assertNotIn("saxpy, host", text)

    def test_of_growth_is_a_file_of_its_own(self):
        lines = [record.figure(f"growth/depth/compile/size={size}", "kiln",
                               "ms", [size * 2.0]) for size in (1, 10, 100)]
        drawn = self.draw(lines)
        self.assertEqual(list(drawn), ["x-growth.svg"])
        line, = drawn["x-growth.svg"].getElementsByTagName("polyline")
        self.assertEqual(len(line.getAttribute("points").split()), 3)


class Host(unittest.TestCase):
    """Kernels beside plain C: two of them, one of which is behind."""

    def lines(self):
        found = [machine()]
        for kernel, times in (("fine", 2.0), ("slow", 0.5)):
            stem = f"host/{kernel}"
            found += [
                record.figure(f"{stem}/launch", "c", "ms", [0.25]),
                record.figure(f"{stem}/compile", "c", "ms", [80.0]),
                record.figure(f"{stem}/ratio", "kiln-unchecked c", "ratio",
                              [times])]
        return found + [record.absent("taichi", "no module") |
                        {"name": "host/taichi"}]

    def test_has_means_the_worst_and_what_is_absent(self):
        text = host_tables.tables(self.lines())["host"]
        self.assertIn("| kiln-unchecked | c | 2 | 1.00 | 1 | slow 0.50, "
                      "fine 2.00 |", text)
        self.assertIn("- taichi: no module", text)

    def test_has_the_worst_kernel_first(self):
        text = host_tables.tables(self.lines())["host-kernels"]
        self.assertLess(text.index("| slow | 250 |"), text.index("| fine |"))

    def test_has_its_places_in_the_readme(self):
        with open(readme.PATH, encoding="utf-8") as file:
            text = file.read()
        for name, body in host_tables.tables(self.lines()).items():
            self.assertIn(body, readme.replaced(text, name, body))

    def test_is_drawn_with_a_row_for_each(self):
        drawn = xml.dom.minidom.parseString(host_tables.drawing(self.lines()))
        marks = [one for one in drawn.getElementsByTagName("circle")
                 if one.getAttribute("r") == "4"]
        self.assertEqual(len(marks), 2)
        self.assertIsNone(host_tables.drawing([machine()]))


class Workloads(unittest.TestCase):
    def test_of_wrong_results_are_no_times(self):
        driven = workloads.Driven(type("Bench", (), {"bin": ""}), "saxpy",
                                  ("first",), ("first",), None)
        told = ('{"what": "x", "checked": %d, "wrong": %d, "executions": '
                '[{"name": "first", "ms": 4, "compile_ms": 1}], "statistics": '
                '{"tiers": {}, "stages_ns": {}}}')
        self.assertEqual(driven.parse(told % (8, 0))["share"], 0.25)
        for checked, wrong in ((8, 1), (0, 0)):
            with self.assertRaises(cells.Wrong):
                driven.parse(told % (checked, wrong))


if __name__ == "__main__":
    unittest.main()
