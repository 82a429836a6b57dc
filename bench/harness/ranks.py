# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks that start together and want the same kernels: a small simulation.

Each rank is a generator: it yields the time until which it is busy, or a Gate
that it waits at, and is resumed with the time that it is then. What is shared
(a metadata server, a file system's data servers, a node's locks) is asked in
the order of time. A server takes one request after the other. Times are
seconds.
"""

import heapq
import math
import random
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Costs:
    """Of one kernel and one process, as measured."""

    start: float     # a process: context, device, texts
    codegen: float   # opening the code generator, once a process
    compile: float   # one kernel
    spread: float    # of compile, as a share of it: it takes up to so much more
    hit: float       # one kernel from the local disk, or from a pack
    kernel_bytes: float  # of all entries of one kernel, in the store
    # Of one kernel, what its metadata server is asked. Lookups:
    misses: float       # until it is clear that it is not there
    looks: float        # for the entries, before they are filed
    put_lookups: float  # while they are filed
    hits: float         # to get what is there
    put_changes: float  # and what it has to write down


@dataclass(frozen=True)
class Site:
    """The machine, as assumed."""

    ranks: int
    nodes: int
    kernels: int
    launch_spread: float     # between the starts of the first and last rank
    lookup_rate: float       # lookups that the metadata server takes a second
    change_rate: float       # or changes
    metadata_latency: float  # of one request, there and back
    data_rate: float         # bytes a second, of the shared file system
    network_latency: float   # of one message between nodes
    network_rate: float      # bytes a second, of a node's link


@dataclass
class Server:
    """Takes work in the order in which it comes."""

    free: float = 0.0
    busy: float = 0.0

    def ask(self, now, work, latency=0.0):
        """When the answer is there."""
        self.free = max(self.free, now + latency / 2) + work
        self.busy += work
        return self.free + latency / 2


@dataclass
class World:
    costs: Costs
    site: Site
    seed: int = 1
    compiles: int = 0
    requests: float = 0
    ready: list = field(default_factory=list)  # when each rank had its kernels
    metadata: Server = field(default_factory=Server)
    data: Server = field(default_factory=Server)
    queue: list = field(default_factory=list)
    turns: int = 0
    shared: dict = field(default_factory=dict)  # a way's own

    def __post_init__(self):
        self.random = random.Random(self.seed)

    def node_of(self, rank):
        return rank * self.site.nodes // self.site.ranks

    def compile_time(self):
        """From now until a kernel is built."""
        self.compiles += 1
        return self.costs.compile * (1 + self.costs.spread *
                                     self.random.random())

    def ask_metadata(self, now, lookups, changes=0):
        """One after the other: each has to be answered before the next."""
        self.requests += lookups + changes
        waits = max(lookups + changes - 1, 0) * self.site.metadata_latency
        return waits + self.metadata.ask(
            now, lookups / self.site.lookup_rate +
            changes / self.site.change_rate, self.site.metadata_latency)

    def is_filed(self, kernel, now):
        """Was it, when the server gave the answer that is here now?"""
        return self.shared.get(kernel, math.inf) <= now - (
            self.site.metadata_latency / 2)

    def read(self, now, size):
        return self.data.ask(now, size / self.site.data_rate,
                             self.site.metadata_latency)

    def wake(self, steps, at):
        self.turns += 1
        heapq.heappush(self.queue, (at, self.turns, steps))

    def run(self, rank_of):
        """Lets all ranks run to their end; `rank_of(world, rank, now)` is one.
        """
        for rank in range(self.site.ranks):
            late = self.random.random() * self.site.launch_spread
            steps = rank_of(self, rank, late + self.costs.start)
            self.go_on(steps, next(steps), 0.0)
        while self.queue:
            now, _, steps = heapq.heappop(self.queue)
            try:
                self.go_on(steps, steps.send(now), now)
            except StopIteration:
                self.ready.append(now)
        return self

    def go_on(self, steps, until, now):
        if not isinstance(until, Gate):
            self.wake(steps, max(until, now))
        elif until.opened is not None:
            self.wake(steps, max(until.opened, now))
        else:
            until.waiting.append(steps)


class Gate:
    """Opens at a time; who waits goes on then."""

    def __init__(self):
        self.opened = None
        self.waiting = []

    def open(self, world, at):
        self.opened = at
        for steps in self.waiting:
            world.wake(steps, at)


# ---- ways ----

def no_cache(world, _rank, now):
    """Each rank compiles everything."""
    now += world.costs.codegen
    for _ in range(world.site.kernels):
        now += world.compile_time()
    yield now


def shared_folder(world, _rank, now):
    """One folder that all were told to use, on a file system that is neither
    locked nor mapped: who finds nothing compiles, and files it, unless
    somebody else has by then."""
    costs = world.costs
    has_codegen = False
    now = yield now
    for kernel in range(world.site.kernels):
        now = yield world.ask_metadata(now, 1)
        if world.is_filed(kernel, now):
            now = yield world.ask_metadata(now, costs.hits - 1)
            now = yield world.read(now, costs.kernel_bytes) + costs.hit
            continue
        now = yield world.ask_metadata(now, costs.misses - 1)
        now += 0 if has_codegen else costs.codegen
        has_codegen = True
        now = yield now + world.compile_time()
        now = yield world.ask_metadata(now, costs.looks)
        if world.is_filed(kernel, now):
            continue
        now = yield world.ask_metadata(now, costs.put_lookups,
                                       costs.put_changes)
        now = yield world.read(now, costs.kernel_bytes)
        world.shared.setdefault(kernel, now)


def node_local(world, rank, now):
    """A folder on each node: one rank of the node compiles a kernel, the others
    wait for its lock."""
    node = world.node_of(rank)
    has_codegen = False
    now = yield now
    for kernel in range(world.site.kernels):
        if (node, kernel) in world.shared:
            now = yield (max(now, world.shared[node, kernel]) +
                         world.costs.hit)
            continue
        now += 0 if has_codegen else world.costs.codegen
        has_codegen = True
        now += world.compile_time()
        world.shared[node, kernel] = now
        now = yield now


OPEN_AND_CLOSE = 2 # requests for one file


def node_local_packs(world, rank, now):
    """A pack with all kernels, that one rank of each node first copies from
    the shared file system to its node."""
    site, costs = world.site, world.costs
    node = world.node_of(rank)
    now = yield now
    if node in world.shared:
        now = yield world.shared[node]
    else:
        there = world.shared[node] = Gate()
        now = yield world.ask_metadata(now, OPEN_AND_CLOSE)
        now = yield world.read(now, site.kernels * costs.kernel_bytes)
        there.open(world, now)
    yield now + site.kernels * costs.hit


def owned(world, rank, now, spread_to):
    """Each kernel is compiled by the rank that owns it, when that one comes to
    it: the first that it builds, since all wait for each kernel.
    `spread_to(now, built)` says when a rank that asks has it."""
    costs = world.costs
    now = yield now
    for kernel in range(world.site.kernels):
        built = world.shared.setdefault(kernel, Gate())
        if rank == kernel * OWNER_STEP % world.site.ranks:
            now = yield now + costs.codegen + world.compile_time()
            built.open(world, now)
        else:
            now = yield built
            now = yield spread_to(now, kernel) + costs.hit


OWNER_STEP = 7919 # a prime: the owners of neighbours lie far from each other


def broadcast_time(world):
    """Of one kernel to all ranks, down a binomial tree of messages."""
    site = world.site
    hops = math.ceil(math.log2(max(site.ranks, 2)))
    return hops * (site.network_latency +
                   world.costs.kernel_bytes / site.network_rate)


def owner_broadcasts(world, rank, now):
    """It goes to all others down a tree."""
    took = broadcast_time(world)
    yield from owned(world, rank, now, lambda now, _kernel: now + took)


def owner_broadcasts_batch(world, rank, now):
    """All kernels are wanted at once: their owners compile at the same time,
    and each kernel goes down its tree when it is built."""
    site, costs = world.site, world.costs
    has_codegen = False
    now = yield now
    for kernel in range(site.kernels):
        built = world.shared.setdefault(kernel, Gate())
        if rank == kernel * OWNER_STEP % site.ranks:
            now += 0 if has_codegen else costs.codegen
            has_codegen = True
            now = yield now + world.compile_time()
            built.open(world, now)
    for kernel in range(site.kernels):
        now = yield world.shared[kernel]
    yield now + site.kernels * (broadcast_time(world) + costs.hit)


def owner_serves(world, rank, now):
    """Each of the others asks the owner, which answers them one by one; an
    answer keeps it as long as a hit would."""
    site, costs = world.site, world.costs
    work = costs.hit + costs.kernel_bytes / site.network_rate

    def ask(now, kernel):
        link = world.shared.setdefault(("link", kernel), Server())
        return link.ask(now, work, 2 * site.network_latency)

    yield from owned(world, rank, now, ask)


WAYS = {
    "no-cache": no_cache,
    "shared-folder": shared_folder,
    "node-local": node_local,
    "node-local-packs": node_local_packs,
    "owner-broadcasts": owner_broadcasts,
    "owner-broadcasts-batch": owner_broadcasts_batch,
    "owner-serves": owner_serves,
}


def simulate(way, costs, site):
    """A World that has ended."""
    return World(costs, site).run(WAYS[way])
