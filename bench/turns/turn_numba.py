# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in Numba, as its users write them: loops over the grid, of which the
outermost runs on all threads. The arguments are those in OpenCL C; arrays have
their sizes in C order, as kernels.txt has them."""

import math

import numba
import numpy
from numba import prange

import turn_protocol

ONE, TWO, HALF = numpy.float32(1), numpy.float32(2), numpy.float32(0.5)
ZERO = numpy.float32(0)


def saxpy(y, a, x, n):
    for i in prange(n):
        y[i] = a * x[i] + y[i]


def triad(a, b, c, s, n):
    for i in prange(n):
        a[i] = b[i] + s * c[i]


def nbody(ax, ay, az, x, y, z, m, eps, n):
    for i in prange(n):
        sx, sy, sz = ZERO, ZERO, ZERO
        for j in range(n):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            inverse = ONE / math.sqrt(dx * dx + dy * dy + dz * dz + eps)
            s = m[j] * inverse * inverse * inverse
            sx += dx * s
            sy += dy * s
            sz += dz * s
        ax[i], ay[i], az[i] = sx, sy, sz


def gemm(c, a, b, alpha, beta, n, m):
    for i in prange(n):
        for j in range(n):
            c[i, j] *= beta
        for k in range(m):
            for j in range(n):
                c[i, j] += alpha * a[i, k] * b[k, j]


def stencil7(out, t, a, b, nx, ny, nz):
    for k in prange(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                out[k, j, i] = a * t[k, j, i] + b * (
                    t[k, j, i - 1] + t[k, j, i + 1] + t[k, j - 1, i] +
                    t[k, j + 1, i] + t[k - 1, j, i] + t[k + 1, j, i])


def jacobi(b, a, n):
    fifth = numpy.float32(0.2)
    for i in prange(1, n - 1):
        for j in range(1, n - 1):
            b[i, j] = fifth * (a[i, j] + a[i, j - 1] + a[i, j + 1] +
                               a[i + 1, j] + a[i - 1, j])


def spmv_csr(y, first, column, value, x, n):
    for i in prange(n):
        total = ZERO
        for k in range(first[i], first[i + 1]):
            total += value[k] * x[column[k]]
        y[i] = total


def mvt(x, a, y, n):
    for i in prange(n):
        total = x[i]
        for k in range(n):
            total += a[i, k] * y[k]
        x[i] = total


def mandelbrot(steps, x0, y0, dx, dy, most, nx, ny):
    four = numpy.float32(4)
    for j in prange(ny):
        for i in range(nx):
            cx = x0 + numpy.float32(i) * dx
            cy = y0 + numpy.float32(j) * dy
            x, y, n = ZERO, ZERO, 0
            while x * x + y * y < four and n < most:
                after = x * x - y * y + cx
                y = TWO * x * y + cy
                x = after
                n += 1
            steps[j, i] = n


@numba.njit
def normal(d):
    """The distribution's integral: Abramowitz and Stegun, 26.2.17."""
    k = 1.0 / (1.0 + 0.2316419 * abs(d))
    p = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (
        -1.821255978 + k * 1.330274429))))
    tail = 0.3989422804 * math.exp(-0.5 * d * d) * p
    return 1.0 - tail if d > 0 else tail


def black_scholes_f64(call, put, price, strike, years, rate, volatility, n):
    for i in prange(n):
        s, x, t = 5.0 + price[i], 1.0 + strike[i], 0.25 + years[i]
        root = volatility * math.sqrt(t)
        d1 = (math.log(s / x) +
              (rate + 0.5 * volatility * volatility) * t) / root
        n1, n2 = normal(d1), normal(d1 - root)
        later = x * math.exp(-rate * t)
        call[i] = s * n1 - later * n2
        put[i] = later * (1.0 - n2) - s * (1.0 - n1)


def softmax(out, x, rows, n):
    for i in prange(rows):
        most = x[0, i]
        for k in range(1, n):
            most = max(most, x[k, i])
        total = ZERO
        for k in range(n):
            total += math.exp(x[k, i] - most)
        for k in range(n):
            out[k, i] = math.exp(x[k, i] - most) / total


def life(out, x, nx, ny):
    for j in prange(1, ny - 1):
        for i in range(1, nx - 1):
            near = (x[j - 1, i - 1] + x[j - 1, i] + x[j - 1, i + 1] +
                    x[j, i - 1] + x[j, i + 1] + x[j + 1, i - 1] +
                    x[j + 1, i] + x[j + 1, i + 1])
            out[j, i] = near == 3 or near == 2 and x[j, i] != 0


def sobel(out, p, nx, ny):
    for j in prange(1, ny - 1):
        for i in range(1, nx - 1):
            gx = (numpy.int32(p[j - 1, i + 1]) + 2 * p[j, i + 1] +
                  p[j + 1, i + 1] - p[j - 1, i - 1] - 2 * p[j, i - 1] -
                  p[j + 1, i - 1])
            gy = (numpy.int32(p[j + 1, i - 1]) + 2 * p[j + 1, i] +
                  p[j + 1, i + 1] - p[j - 1, i - 1] - 2 * p[j - 1, i] -
                  p[j - 1, i + 1])
            out[j, i] = min(abs(gx) + abs(gy), 255)


def fir(out, x, tap, n, taps):
    for i in prange(n):
        total = ZERO
        for k in range(taps):
            total += tap[k] * x[i + k]
        out[i] = total


def floyd_warshall(path, k, n):
    for i in prange(n):
        for j in range(n):
            path[i * n + j] = min(path[i * n + j],
                                  path[i * n + k] + path[k * n + j])


def row_sums(out, x, rows, n):
    for i in prange(rows):
        total = ZERO
        for k in range(n):
            total += x[i * n + k]
        out[i] = total


def layer_norm(out, x, gain, bias, rows, n):
    least, count = numpy.float32(1e-5), numpy.float32(n)
    for i in prange(rows):
        total, squares = ZERO, ZERO
        for k in range(n):
            total += x[i * n + k]
        mean = total / count
        for k in range(n):
            squares += (x[i * n + k] - mean) * (x[i * n + k] - mean)
        inverse = ONE / math.sqrt(squares / count + least)
        for k in range(n):
            out[i * n + k] = (x[i * n + k] - mean) * inverse * gain[k] + bias[k]


def gray(out, rgb, n):
    for i in prange(n):
        out[i] = (77 * numpy.int32(rgb[3 * i]) +
                  150 * numpy.int32(rgb[3 * i + 1]) +
                  29 * numpy.int32(rgb[3 * i + 2])) >> 8


def monte_carlo(hits, seed, n):
    for i in prange(n):
        s, count = seed[i], 0
        for _ in range(128):
            s = numpy.uint32(s ^ s << 13)
            s = numpy.uint32(s ^ s >> 17)
            s = numpy.uint32(s ^ s << 5)
            x, y = s & 0x7fff, s >> 16 & 0x7fff
            count += x * x + y * y < 0x40000000
        hits[i] = count


def spmv_ell(y, column, value, x, n, width):
    for i in prange(n):
        total = ZERO
        for k in range(width):
            total += value[k * n + i] * x[column[k * n + i]]
        y[i] = total


def make(name, fast):
    return numba.njit(parallel=True, fastmath=fast)(globals()[name])


turn_protocol.measure(make, numba.__version__)
