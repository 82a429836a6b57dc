# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What must be true of any simulation, any trace, and any fit."""

import dataclasses
import unittest

import fit
import ranks
import traces

COSTS = ranks.Costs(start=0.002, codegen=0.008, compile=0.01, spread=0.2,
                    hit=0.0001, kernel_bytes=8000, misses=4, looks=3,
                    put_lookups=9, hits=4, put_changes=6)
SITE = ranks.Site(ranks=64, nodes=8, kernels=5, launch_spread=0.0,
                  lookup_rate=4e5, change_rate=15000, metadata_latency=5e-4,
                  data_rate=1e10, network_latency=2e-6, network_rate=1e10)


def last(way, costs=COSTS, **site):
    return max(ranks.simulate(way, costs,
                              dataclasses.replace(SITE, **site)).ready)


def compiles(way, **site):
    return ranks.simulate(way, COSTS,
                          dataclasses.replace(SITE, **site)).compiles


class Ways(unittest.TestCase):
    def test_every_rank_gets_its_kernels(self):
        for way in ranks.WAYS:
            world = ranks.simulate(way, COSTS, SITE)
            self.assertEqual(len(world.ready), SITE.ranks, way)
            self.assertGreaterEqual(min(world.ready), COSTS.start, way)

    def test_the_same_seed_gives_the_same_times(self):
        for way in ranks.WAYS:
            self.assertEqual(ranks.simulate(way, COSTS, SITE).ready,
                             ranks.simulate(way, COSTS, SITE).ready, way)

    def test_each_way_compiles_as_often_as_it_says(self):
        self.assertEqual(compiles("no-cache"), 64 * 5)
        self.assertEqual(compiles("node-local"), 8 * 5)
        self.assertEqual(compiles("node-local-packs"), 0)
        for way in ("owner-broadcasts", "owner-broadcasts-batch",
                    "owner-serves"):
            self.assertEqual(compiles(way), 5, way)

    def test_a_shared_folder_is_between_one_compile_and_all(self):
        self.assertEqual(compiles("shared-folder", ranks=1, nodes=1), 5)
        self.assertGreaterEqual(compiles("shared-folder"), 5)
        self.assertLessEqual(compiles("shared-folder"), 64 * 5)

    def test_a_rank_that_comes_late_finds_what_was_filed(self):
        self.assertLess(compiles("shared-folder", launch_spread=1.0), 64)

    def test_a_slower_metadata_server_is_never_faster(self):
        for rate in ("lookup_rate", "change_rate"):
            times = [last("shared-folder", **{rate: value})
                     for value in (1e6, 1e5, 1e4, 1e3)]
            self.assertEqual(times, sorted(times), rate)

    def test_a_rank_alone_asks_what_was_traced(self):
        world = ranks.simulate("shared-folder", COSTS, dataclasses.replace(
            SITE, ranks=1, nodes=1))
        self.assertEqual(world.requests, 5 * (4 + 3 + 9 + 6))

    def test_packs_do_not_depend_on_how_long_a_compile_takes(self):
        slow = dataclasses.replace(COSTS, compile=10.0)
        self.assertEqual(last("node-local-packs"),
                         last("node-local-packs", costs=slow))

    def test_a_rank_alone_on_its_node_is_as_one_without_a_cache(self):
        even = dataclasses.replace(COSTS, spread=0.0)
        self.assertAlmostEqual(last("node-local", costs=even, nodes=64),
                               last("no-cache", costs=even))

    def test_no_way_beats_one_compile_but_packs(self):
        for way in ranks.WAYS:
            if way != "node-local-packs":
                self.assertGreater(last(way), COSTS.start + COSTS.compile, way)


class Server(unittest.TestCase):
    def test_requests_at_once_queue_up(self):
        server = ranks.Server()
        answers = [server.ask(1.0, 0.5, 0.2) for _ in range(3)]
        for answer, expected in zip(answers, (1.7, 2.2, 2.7)):
            self.assertAlmostEqual(answer, expected)

    def test_a_late_request_finds_it_idle(self):
        server = ranks.Server()
        server.ask(1.0, 0.5)
        self.assertAlmostEqual(server.ask(9.0, 0.5), 9.5)


TRACE = """\
7 openat(AT_FDCWD</x>, "/t/f/v1"..., O_RDONLY|O_PATH) = 4</t/f/v1>
7 openat(4</t/f/v1>, "16/7a.e"..., O_RDONLY) = -1 ENOENT (No such file)
7 faccessat2(4</t/f/v1>, "16/7a.e"..., F_OK, AT_SYMLINK_NOFOLLOW) = -1 ENOENT (x)
7 openat(4</t/f/v1>, "16/.t"..., O_WRONLY|O_CREAT, 0600) = 5</t/f/v1/16/.t>
7 write(5</t/f/v1/16/.t>, ""..., 100) = 100
7 close(5</t/f/v1/16/.t>) = 0
8 renameat2(4</t/f/v1>, "16/.t", 4</t/f/v1>, "16/7a.e", RENAME_NOREPLACE) = 0
8 newfstatat(5</t/f/v1/16>, "", {st_mode=S_IFDIR|0700}, AT_EMPTY_PATH) = 0
8 getdents64(5</t/f/v1/16>, 0x55 /* 0 entries */, 32768) = 0
8 openat(AT_FDCWD</x>, "/etc/passwd", O_RDONLY) = 3</etc/passwd>
8 +++ exited with 0 +++
"""


class Traces(unittest.TestCase):
    def test_what_is_asked_about_a_folder_is_counted(self):
        self.assertEqual(dict(traces.count(TRACE, "/t/f")),
                         {"lookup": 2, "miss": 1, "look": 1, "change": 2})


class Fits(unittest.TestCase):
    def test_a_line_is_found(self):
        slope, intercept = fit.line([1, 10, 100], [5, 23, 203])
        self.assertAlmostEqual(slope, 2)
        self.assertAlmostEqual(intercept, 3)

    def test_exponents(self):
        self.assertAlmostEqual(fit.exponent([1, 10, 100], [3, 30, 300]), 1)
        self.assertAlmostEqual(fit.exponent([2, 4, 8], [4, 16, 64]), 2)


if __name__ == "__main__":
    unittest.main()
