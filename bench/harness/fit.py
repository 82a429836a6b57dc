# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How something grows with its size: a line, and an exponent."""

import math


def line(sizes, values):
    """(slope, intercept) of the least squares, relative to the values: small
    sizes count as much as large ones."""
    weights = [1 / max(value, 1e-9) ** 2 for value in values]
    total = sum(weights)
    x = sum(w * s for w, s in zip(weights, sizes)) / total
    y = sum(w * v for w, v in zip(weights, values)) / total
    above = sum(w * (s - x) * (v - y)
                for w, s, v in zip(weights, sizes, values))
    below = sum(w * (s - x) ** 2 for w, s in zip(weights, sizes))
    slope = above / below if below else 0.0
    return slope, y - slope * x


def exponent(sizes, values):
    """Of the last step, between the two largest sizes: 1 is linear. What does
    not depend on the size makes it smaller."""
    if len(sizes) < 2 or min(values[-2:]) <= 0:
        return 0.0
    return (math.log(values[-1] / values[-2]) /
            math.log(sizes[-1] / sizes[-2]))
