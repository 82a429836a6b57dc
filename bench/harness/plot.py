# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drawings of measurements, as SVG written by hand."""


def write(path, lines):
    del path, lines
    return []
