/* weno5 - tendency of advection by a constant wind to the right, with the
 * fifth order weighted interpolation of Jiang and Shu. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
static inline double squared(double x)
{
    return x * x;
}

static inline double face(const double *q)
{
    double a = q[-2], b = q[-1], c = q[0], d = q[1], e = q[2];
    double s0 =
        13.0 / 12 * squared(a - 2 * b + c) + 0.25 * squared(a - 4 * b + 3 * c);
    double s1 = 13.0 / 12 * squared(b - 2 * c + d) + 0.25 * squared(b - d);
    double s2 =
        13.0 / 12 * squared(c - 2 * d + e) + 0.25 * squared(3 * c - 4 * d + e);
    double w0 = 0.1 / squared(1e-6 + s0), w1 = 0.6 / squared(1e-6 + s1);
    double w2 = 0.3 / squared(1e-6 + s2);

    return (w0 * (2 * a - 7 * b + 11 * c) + w1 * (5 * c - b + 2 * d) +
            w2 * (2 * c + 5 * d - e)) /
           (6 * (w0 + w1 + w2));
}

/* Each face is between two points, and computed once. */
void weno5(double *restrict tendency, const double *restrict q, double wind,
           int n, int rows)
{
#pragma omp parallel for
    for (int j = 0; j < rows; j++) {
        double faces[n];

        for (int i = 2; i < n - 2; i++)
            faces[i] = face(q + j * n + i);
        for (int i = 3; i < n - 2; i++)
            tendency[j * n + i] = -wind * (faces[i] - faces[i - 1]);
    }
}
