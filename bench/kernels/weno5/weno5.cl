/* weno5 - tendency of advection by a constant wind to the right, with the
 * fifth order weighted interpolation of Jiang and Shu. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
static double squared(double x)
{
    return x * x;
}

static double face(double a, double b, double c, double d, double e)
{
    double s0 = 13.0 / 12 * squared(a - 2 * b + c) +
        0.25 * squared(a - 4 * b + 3 * c);
    double s1 = 13.0 / 12 * squared(b - 2 * c + d) + 0.25 * squared(b - d);
    double s2 = 13.0 / 12 * squared(c - 2 * d + e) +
        0.25 * squared(3 * c - 4 * d + e);
    double w0 = 0.1 / squared(1e-6 + s0), w1 = 0.6 / squared(1e-6 + s1);
    double w2 = 0.3 / squared(1e-6 + s2);

    return (w0 * (2 * a - 7 * b + 11 * c) + w1 * (5 * c - b + 2 * d) +
            w2 * (2 * c + 5 * d - e)) / (6 * (w0 + w1 + w2));
}

kernel void weno5(global double *tendency, global const double *q, double wind,
                  int n, int rows)
{
    int i = get_global_id(0), j = get_global_id(1);

    if (i > 2 && i < n - 2 && j < rows) {
        int at = j * n + i;
        double right = face(q[at - 2], q[at - 1], q[at], q[at + 1], q[at + 2]);
        double left = face(q[at - 3], q[at - 2], q[at - 1], q[at], q[at + 1]);

        tendency[at] = -wind * (right - left);
    }
}
