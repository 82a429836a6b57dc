# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts of a kernel's machine code. sides.py adds what the binary says of its
registers, stack and group memory, and how many waves the registers allow.

work          instructions that an item executes, as graph.py estimates it
instructions  all of them, cold ones and called functions included
loop          instructions of one iteration of the source's innermost loop,
              of the nest that runs most often; none without loops
guesses       loops of which the case says nothing
calls         of functions, where they are not cold
memory        how many accesses an item executes, by place and width in bytes
mix           what the work is, by the kinds of SASS_KINDS of machines.py, or {}
"""

import collections


def weight(functions, function, seen=()):
    """Instructions of one execution, with those of what it calls."""
    total = 0.0
    for at in function.reachable:
        block = function.blocks[at]
        turns = function.turns(at)
        total += turns * len(block.instructions)
        for name in block.calls:
            callee = functions.get(name)
            if turns and callee and name not in seen:
                callee.estimate([])
                total += turns * weight(functions, callee, (*seen, name))
    return total


def memory(function):
    counts = {}
    for at in function.reachable:
        turns = function.turns(at)
        for one in function.blocks[at].instructions:
            for kind, bytes_ in one.units.items():
                if turns and kind[:2] in ("ld", "st") and kind != "ldn":
                    name = f"{kind}.{bytes_}"
                    counts[name] = counts.get(name, 0) + turns
    return {name: round(count, 2) for name, count in sorted(counts.items())}


def mix(function):
    counts = collections.Counter()
    for at in function.reachable:
        for one in function.blocks[at].instructions:
            if one.kind:
                counts[one.kind] += function.turns(at)
    return {kind: round(count, 1) for kind, count in sorted(counts.items())}


def per_iteration(function, nests):
    """Instructions of the busiest loop's body for an iteration."""
    busiest = max(nests, key=lambda one: one.units(), default=None)
    if not busiest:
        return None
    loop = max((loop for loop in function.loops
                if loop.turns and function.own_units(loop, busiest.kind)),
               key=lambda one: one.turns, default=None)
    if not loop:
        return None
    size = sum(len(function.blocks[at].instructions) for at in loop.blocks
               if function.inner[at] is loop and
               not function.blocks[at].is_cold)
    return round(size * busiest.per / function.own_units(loop, busiest.kind),
                 2)


KNOWN = "_known"


def chosen(names):
    """Kiln's entries for launches of which facts hold, if there are any: all
    launches of these kernels are such."""
    names = list(names)
    return [name for name in names if name.endswith(KNOWN)] or names


def entry_of(functions, kernel):
    """Kiln's names have a prefix and a digest around the kernel's."""
    if kernel in functions:
        return functions[kernel]
    named = chosen(name for name in functions if f"_{kernel}_" in f"_{name}_")
    if not named:
        raise ValueError(f"no kernel {kernel} in {list(functions)}")
    return functions[max(named, key=lambda one: len(functions[one].blocks))]


def called_by(functions, entry):
    """The function, and what it calls by name, and what that calls."""
    found = [entry]
    for function in found:
        for at in function.reachable:
            for name in function.blocks[at].calls:
                callee = functions.get(name)
                if callee and callee not in found:
                    found.append(callee)
    return found


def profile(functions, case):
    entry = entry_of(functions, case.name)
    guesses = entry.estimate(case.nests)
    calls = sum(len(block.calls) for at, block in enumerate(entry.blocks)
                if entry.turns(at) or at == 0)
    return {
        "work": round(weight(functions, entry), 2),
        "instructions": sum(len(function.blocks[at].instructions)
                            for function in called_by(functions, entry)
                            for at in function.reachable),
        "loop": per_iteration(entry, case.nests),
        "guesses": guesses, "calls": calls, "memory": memory(entry),
        "mix": mix(entry),
    }
