# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every program that is compared does: peer.h, in Python.

    PROGRAM FOLDER [about|first|steady|all [START [VARIANTS]]]

peer.h says what the arguments are and what is printed. A program sets its
system's own variable for the cache folder from `FOLDER`, imports the system
between `begin()` and `measure()`, and gives `measure()` an object with

    version                 of the system, and of what it stands on
    open()                  until there is a device
    execute(y, x)           y = 2 * x + y, from compiling on; gives an array.
                            What is needed to do so again, stays.
    again()                 in place, once more, and waits
    launch_nothing(count)   launches, and one wait
    variant(constant, y, x) y = constant * x + y; gives an array

One that compiles, and runs nothing, has RUNS = False and less of these.
"""

import json
import statistics
import sys
import time

SIZE = 1 << 20
VARIANT_SIZE = 1 << 10
A = 2.0
AGAIN = 21
HUNDREDS = 51
LAUNCHES = 100

_begun = time.monotonic_ns()
FOLDER = sys.argv[1] if len(sys.argv) > 1 else sys.exit(__doc__)
_mode = sys.argv[2] if len(sys.argv) > 2 else "all"
_start = int(sys.argv[3]) if len(sys.argv) > 3 else _begun
_variants = int(sys.argv[4]) if len(sys.argv) > 4 else 50


def absent(why):
    """Ends the program: what it is about cannot be had."""
    print(json.dumps({"absent": str(why)}))
    sys.exit(0)


def _input(size):
    import numpy
    return (numpy.ones(size, numpy.float32),
            numpy.arange(size, dtype=numpy.float32))


def _check(y, a):
    """All values are whole numbers below 2^24, and so exact."""
    import numpy
    wanted = a * numpy.arange(len(y), dtype=numpy.float64) + 1
    wrong = numpy.count_nonzero(numpy.asarray(y, numpy.float64) != wanted)
    if wrong:
        sys.exit(f"{wrong} of {len(y)} elements are wrong")


def _timed(call, *arguments):
    start = time.monotonic_ns()
    result = call(*arguments)
    return time.monotonic_ns() - start, result


def _first(system, told):
    y, x = _input(SIZE)
    told["ready_ms"] = (time.monotonic_ns() - _start) / 1e6
    took, _ = _timed(system.open)
    told["open_ms"] = took / 1e6
    took, result = _timed(system.execute, y, x)
    told["execute_ms"] = took / 1e6
    if system.RUNS:
        _check(result, A)


def _steady(system, told):
    told["second_ms"] = statistics.median(
        _timed(system.again)[0] for _ in range(AGAIN)) / 1e6
    _check(system.execute(*_input(SIZE)), A)
    system.launch_nothing(LAUNCHES)
    told["dispatch_ns"] = statistics.median(
        _timed(system.launch_nothing, LAUNCHES)[0]
        for _ in range(HUNDREDS)) / LAUNCHES


def _all_variants(system, told):
    took = 0
    for constant in range(3, 3 + _variants):
        ns, result = _timed(system.variant, constant, *_input(VARIANT_SIZE))
        took += ns
        if system.RUNS:
            _check(result, constant)
    told["variants_ms"] = took / 1e6


def measure(system):
    if _mode == "about":
        print(json.dumps({"version": system.version}))
        return
    told = {}
    _first(system, told)
    if _mode != "first" and system.RUNS:
        _steady(system, told)
    if _mode == "all":
        _all_variants(system, told)
    print(json.dumps(told))
