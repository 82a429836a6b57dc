# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Disassemblies for x86-64 as graphs, and what their loops of vectors have.

On the host, items are what vectors are made of, so how often a loop runs for an
item is no count of its code. What is counted is one iteration of each innermost
loop that works on vectors:

loops         how many such loops there are
instructions  of all of them together
"""

import re

from graph import Function, Instruction
from machines import Builder

LABEL = re.compile(r"([0-9a-f]+) <(.*)>:$")
LINE = re.compile(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)$")
NOTHING = re.compile(r"nop|data16|cs$|int3$")
WIDE = re.compile(r"%[yz]mm")
PACKED = re.compile(r"v?p[a-z]+|v?[a-z0-9]+p[sd]$|v?movdq")


def is_vector(op, rest):
    """Not moves of one number, nor what pushes and pops."""
    return bool(WIDE.search(rest) or "%xmm" in rest and PACKED.match(op))


def functions(text):
    """By their names, from a listing in AT&T's syntax."""
    found, name, rows = {}, None, []

    def end():
        if rows:
            found[name] = _function(name, rows)

    for line in text.splitlines():
        label = LABEL.match(line)
        if label:
            end()
            name, rows = label.group(2), []
            continue
        one = LINE.match(line)
        if one and not NOTHING.match(one.group(2)):
            rest = one.group(3).split("#")[0].strip()
            rows.append((int(one.group(1), 16), one.group(2), rest))
    end()
    return found


def _target(op, rest):
    found = re.match(r"(?:0x)?([0-9a-f]+)\b", rest) if op[0] == "j" else None
    return int(found.group(1), 16) if found else None


def _function(name, rows):
    starts = {_target(op, rest) for _, op, rest in rows}
    builder = Builder()
    builder.label(f"L{rows[0][0]:x}")
    for address, op, rest in rows:
        if address in starts and address != rows[0][0]:
            builder.label(f"L{address:x}")
        builder.add(Instruction(op, rest))
        target = _target(op, rest)
        if op[0] == "j":
            builder.jump([] if target is None else [f"L{target:x}"],
                         op not in ("jmp", "jmpq"))
        elif op.startswith(("ret", "ud2")):
            builder.jump([], False)
    return Function(name, builder.blocks)


def loops_of(function):
    """The instructions of each innermost loop with vectors."""
    found = []
    for loop in function.loops:
        if any(other.parent is loop for other in function.loops):
            continue
        body = [one for at in loop.blocks
                for one in function.blocks[at].instructions]
        if any(is_vector(one.op, one.rest) for one in body):
            found.append(body)
    return found


def profile(text):
    bodies = [body for function in functions(text).values()
              for body in loops_of(function)]
    return {"loops": len(bodies), "instructions": sum(map(len, bodies))}
