# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control-flow graphs of machine code, and how often their blocks run.

A disassembly becomes functions of blocks of instructions. A loop is a natural
one: the blocks that reach an edge back to a block which dominates them. How
often a block runs for one item of a launch is estimated as follows.

- A block outside of loops runs once, a cold one never.
- The case says for each nest of the source's loops how often each runs, and
  how many units of what its innermost body takes: multiplications and
  additions, bytes loaded, and so on. Of the machine's loops with such units,
  the one with most of them does the work: it runs as often as it needs for
  all of these units. So a body that is unrolled four times counts a quarter
  as often, and instructions are those for an iteration of the source.
- Other loops with such units are what unrolling left over, or another version
  of the same loop. They count nothing. Of several nests with the same units,
  as many loops do the work, in the order of the source.
- A loop of which the case says nothing is another version of one of which it
  does, for small sizes for example. If the case says nothing at all, a loop
  runs ten times for each turn of the loop around it.

Cold is what the machine goes through only to raise an exception, or in the
rare case of a division or a root; see is_cold of each machine.
"""

import functools

UNKNOWN_TRIPS = 10


class Instruction:
    """An operation, what is behind it, and what it counts as.

    units  by class: flop, ldg, lds, stg, sts (bytes), ldn (narrow loads), mufu,
           minmax, fcmp, atom
    kind   what it is for, where the machine's reader tells that
    guard  the predicate before it, or ""
    """

    def __init__(self, op, rest="", units=None, kind=None, guard=None):
        self.op, self.rest, self.units = op, rest, units or {}
        self.kind, self.guard = kind, guard or ""


class Block:
    """Instructions that run together, and the blocks that may follow."""

    def __init__(self, label):
        self.label = label
        self.instructions, self.next, self.calls = [], [], []
        self.is_cold = self.may_end = False

    def units(self, kind):
        return sum(one.units.get(kind, 0) for one in self.instructions)


class Loop:
    """A natural loop; blocks are numbers, those of inner loops included."""

    def __init__(self, header, blocks):
        self.header, self.blocks = header, blocks
        self.parent, self.turns = None, None

    def ancestors(self):
        """The loops around it, the outermost first."""
        around, loop = [], self.parent
        while loop:
            around.insert(0, loop)
            loop = loop.parent
        return around


class Function:
    def __init__(self, name, blocks):
        self.name, self.blocks = name, blocks
        places = {block.label: i for i, block in enumerate(blocks)}
        self.next = [[places[label] for label in block.next
                      if label in places] for block in blocks]
        self._keep_reachable()
        self._spread_cold()
        self.loops = self._find_loops()
        self.inner = self._innermost()

    def _keep_reachable(self):
        seen, todo = set(), [0] if self.blocks else []
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo += self.next[at]
        self.reachable = seen
        self.before = {at: [] for at in seen}
        for at in seen:
            for after in self.next[at]:
                self.before[after].append(at)
        self.dominators = self._dominate()

    def _dominate(self):
        everything = set(self.reachable)
        found = {at: everything for at in everything}
        if found:
            found[0] = {0}
        changed = True
        while changed:
            changed = False
            for at in sorted(everything - {0}):
                new = set.intersection(*(found[one] for one
                                         in self.before[at])) | {at}
                if new != found[at]:
                    found[at], changed = new, True
        return found

    def _spread_cold(self):
        """What only leads to cold blocks is cold, and what only they reach."""
        cold = {at for at in self.reachable if self.blocks[at].is_cold}
        changed = True
        while changed:
            more = {at for at in self.reachable - cold
                    if self._only_leads_to(cold, at)
                    or self.dominators[at] & cold}
            cold |= more
            changed = bool(more)
        for at in cold:
            self.blocks[at].is_cold = True

    def _only_leads_to(self, cold, at):
        return (self.next[at] and not self.blocks[at].may_end and
                set(self.next[at]) <= cold)

    def _find_loops(self):
        bodies = {}
        for at in self.reachable:
            for header in self.next[at]:
                if header not in self.dominators[at]:
                    continue
                body = bodies.setdefault(header, {header})
                todo = [at]
                while todo:
                    one = todo.pop()
                    if one not in body:
                        body.add(one)
                        todo += self.before[one]
        loops = [Loop(header, body) for header, body in sorted(bodies.items())]
        for loop in loops:
            outer = [other for other in loops if other is not loop
                     and loop.blocks < other.blocks]
            loop.parent = min(outer, key=lambda one: len(one.blocks),
                              default=None)
        return loops

    def _innermost(self):
        inner = {}
        for at in self.reachable:
            around = [loop for loop in self.loops if at in loop.blocks]
            inner[at] = min(around, key=lambda one: len(one.blocks),
                            default=None)
        return inner

    def own_units(self, loop, kind):
        """Units of a loop's blocks that are in no inner loop of it; of those
        outside of loops, for None."""
        return sum(self.blocks[at].units(kind) for at in self.reachable
                   if self.inner[at] is loop and not self.blocks[at].is_cold)

    def _size(self, loop):
        """Instructions of a loop. Of two loops that do as much in an
        iteration, the longer one is where the other one retreats to.
        """
        return sum(len(self.blocks[at].instructions) for at in loop.blocks)

    def estimate(self, nests):
        """Sets the turns of each loop; how many loops were guessed."""
        for loop in self.loops:
            loop.turns = None
        guesses = 0
        for kind in dict.fromkeys(nest.counted for nest in nests):
            guesses += self._estimate_kind([nest for nest in nests
                                            if nest.counted == kind])
        for loop in sorted(self.loops, key=lambda one: -len(one.blocks)):
            if loop.turns is None and nests:
                loop.turns = 0
            elif loop.turns is None:
                loop.turns = UNKNOWN_TRIPS * (loop.parent.turns if loop.parent
                                              else 1)
                guesses += not self.blocks[loop.header].is_cold
        return guesses

    def _estimate_kind(self, nests):
        """Nests with the same units, in the order of the source; how many are
        nowhere."""
        kind = nests[0].kind
        rivals = [(self.own_units(loop, kind), -self._size(loop), at,
                   loop)
                  for at, loop in enumerate(self.loops) if loop.turns is None
                  and nests[0].may_be(functools.partial(self.own_units,
                                                        loop))]
        rivals = [one for one in rivals if one[0]]
        for *_, loop in rivals:
            loop.turns = 0
        busiest = sorted(rivals, key=lambda one: one[:3])[-len(nests):]
        busiest.sort(key=lambda one: one[2])
        unrolled, rolled = (nests[:len(nests) - len(busiest)],
                            nests[len(nests) - len(busiest):])
        for nest, (units, _, _, main) in zip(rolled, busiest):
            main.turns = nest.units() / units
            for level, loop in enumerate(main.ancestors(), 1):
                if level <= len(nest.trips):
                    loop.turns = nest.turns(level)
        there = self.own_units(None, kind)
        return sum(2 * there < nest.units() for nest in unrolled)

    def turns(self, at):
        """How often a block runs for an item, after estimate()."""
        if at not in self.reachable or self.blocks[at].is_cold:
            return 0
        return self.inner[at].turns if self.inner[at] else 1
