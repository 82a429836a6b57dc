/* mandelbrot - steps until a point of the plane leaves the circle. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
void mandelbrot(int *steps, float x0, float y0, float dx, float dy, int most,
                int nx, int ny)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            float cx = x0 + i * dx, cy = y0 + j * dy, x = 0, y = 0;
            int n = 0;

            while (x * x + y * y < 4 && n < most) {
                float next = x * x - y * y + cx;

                y = 2 * x * y + cy;
                x = next;
                n++;
            }
            steps[j * nx + i] = n;
        }
}
