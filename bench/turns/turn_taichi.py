# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels in Taichi, as its users write them: the outermost loop runs on all
threads. The arguments are those in OpenCL C; arrays have their sizes in C
order, as kernels.txt has them."""

import os

import turn_protocol

os.environ["ENABLE_TAICHI_HEADER_PRINT"] = "False"
os.environ["TI_SKIP_VERSION_CHECK"] = "ON"

import taichi as ti     # noqa: E402

I, F, D = ti.i32, ti.f32, ti.f64


def of(kind, rank):
    return ti.types.ndarray(dtype=kind, ndim=rank)


F1, F2, D1, D2, D3 = of(F, 1), of(F, 2), of(D, 1), of(D, 2), of(D, 3)
I1, I2, U1, U2 = of(I, 1), of(I, 2), of(ti.u32, 1), of(ti.u8, 2)
B1 = of(ti.u8, 1)


def saxpy(y: F1, a: F, x: F1, n: I):
    for i in range(n):
        y[i] = a * x[i] + y[i]


def triad(a: D1, b: D1, c: D1, s: D, n: I):
    for i in range(n):
        a[i] = b[i] + s * c[i]


def nbody(ax: F1, ay: F1, az: F1, x: F1, y: F1, z: F1, m: F1, eps: F, n: I):
    for i in range(n):
        sx, sy, sz = 0.0, 0.0, 0.0
        for j in range(n):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            inverse = ti.rsqrt(dx * dx + dy * dy + dz * dz + eps)
            s = m[j] * inverse * inverse * inverse
            sx += dx * s
            sy += dy * s
            sz += dz * s
        ax[i], ay[i], az[i] = sx, sy, sz


def gemm(c: F2, a: F2, b: F2, alpha: F, beta: F, n: I, m: I):
    for i in range(n):
        for j in range(n):
            c[i, j] *= beta
        for k in range(m):
            for j in range(n):
                c[i, j] += alpha * a[i, k] * b[k, j]


def stencil7(out: D3, t: D3, a: D, b: D, nx: I, ny: I, nz: I):
    for k in range(1, nz - 1):
        for j in range(1, ny - 1):
            for i in range(1, nx - 1):
                out[k, j, i] = a * t[k, j, i] + b * (
                    t[k, j, i - 1] + t[k, j, i + 1] + t[k, j - 1, i] +
                    t[k, j + 1, i] + t[k - 1, j, i] + t[k + 1, j, i])


def jacobi(b: F2, a: F2, n: I):
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] +
                             a[i + 1, j] + a[i - 1, j])


def spmv_csr(y: F1, first: I1, column: I1, value: F1, x: F1, n: I):
    for i in range(n):
        total = 0.0
        for k in range(first[i], first[i + 1]):
            total += value[k] * x[column[k]]
        y[i] = total


def mvt(x: D1, a: D2, y: D1, n: I):
    for i in range(n):
        total = x[i]
        for k in range(n):
            total += a[i, k] * y[k]
        x[i] = total


def mandelbrot(steps: I2, x0: F, y0: F, dx: F, dy: F, most: I, nx: I, ny: I):
    for j in range(ny):
        for i in range(nx):
            cx, cy = x0 + i * dx, y0 + j * dy
            x, y, n = 0.0, 0.0, 0
            while x * x + y * y < 4 and n < most:
                after = x * x - y * y + cx
                y = 2 * x * y + cy
                x = after
                n += 1
            steps[j, i] = n


def softmax(out: F2, x: F2, rows: I, n: I):
    for i in range(rows):
        most = x[0, i]
        for k in range(1, n):
            most = ti.max(most, x[k, i])
        total = 0.0
        for k in range(n):
            total += ti.exp(x[k, i] - most)
        for k in range(n):
            out[k, i] = ti.exp(x[k, i] - most) / total


def life(out: U2, x: U2, nx: I, ny: I):
    for j in range(1, ny - 1):
        for i in range(1, nx - 1):
            near = 0
            for dj in ti.static(range(-1, 2)):
                for di in ti.static(range(-1, 2)):
                    near += ti.cast(x[j + dj, i + di], I)
            near -= ti.cast(x[j, i], I)
            lives = near == 3 or (near == 2 and x[j, i] != 0)
            out[j, i] = ti.cast(lives, ti.u8)


def fir(out: F1, x: F1, tap: F1, n: I, taps: I):
    for i in range(n):
        total = 0.0
        for k in range(taps):
            total += tap[k] * x[i + k]
        out[i] = total


def floyd_warshall(path: I1, k: I, n: I):
    for i in range(n):
        for j in range(n):
            path[i * n + j] = ti.min(path[i * n + j],
                                     path[i * n + k] + path[k * n + j])


def row_sums(out: F1, x: F1, rows: I, n: I):
    for i in range(rows):
        total = 0.0
        for k in range(n):
            total += x[i * n + k]
        out[i] = total


def layer_norm(out: F1, x: F1, gain: F1, bias: F1, rows: I, n: I):
    for i in range(rows):
        total, squares = 0.0, 0.0
        for k in range(n):
            total += x[i * n + k]
        mean = total / n
        for k in range(n):
            squares += (x[i * n + k] - mean) * (x[i * n + k] - mean)
        inverse = 1 / ti.sqrt(squares / n + 1e-5)
        for k in range(n):
            out[i * n + k] = (x[i * n + k] - mean) * inverse * gain[k] + bias[k]


def gray(out: B1, rgb: B1, n: I):
    for i in range(n):
        weighed = (77 * ti.cast(rgb[3 * i], I) +
                   150 * ti.cast(rgb[3 * i + 1], I) +
                   29 * ti.cast(rgb[3 * i + 2], I))
        out[i] = ti.cast(weighed >> 8, ti.u8)


def spmv_ell(y: F1, column: I1, value: F1, x: F1, n: I, width: I):
    for i in range(n):
        total = 0.0
        for k in range(width):
            total += value[k * n + i] * x[column[k * n + i]]
        y[i] = total


def make(name, fast):
    ti.init(arch=ti.cpu, cpu_max_num_threads=2, fast_math=fast,
            offline_cache=False, log_level=ti.ERROR)
    kernel = ti.kernel(globals()[name])

    def run(*values):
        kernel(*values)
        ti.sync()

    return run


turn_protocol.measure(make, ".".join(str(part) for part in ti.__version__))
