/* readme.c - the example of README.md: from a kernel's text to its result. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <kiln.h>
#include <stdio.h>

int main(void)
{
    const char text[] = "kernel saxpy(y, a, x)\n    i = global_id(0)\n"
                        "    y[i] = a * x[i] + y[i]\nend\n";
    float x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40}, a = 2;
    kiln_array xs = {.data = x, .sizes = {4}}, ys = {.data = y, .sizes = {4}};
    const void *arguments[] = {&ys, &a, &xs};
    kiln_launch launch = {.grid = {4}};
    kiln_context *context = NULL;
    kiln_device *device = NULL;
    kiln_queue *queue = NULL;
    kiln_package *code;
    const kiln_config *config; /* the target and all settings: the defaults */
    const kiln_type *types[3];
    kiln_signature saxpy = {NULL, types, 3};
    const kiln_kernel *kernel; /* lent by the context, as are the two above */
    kiln_error *error = NULL;

    if (kiln_context_new(&context, NULL, &error) ||
        kiln_device_open(&device, context, "host", 0, &error) ||
        kiln_queue_new(&queue, device, &error) ||
        kiln_config_new(&config, context, NULL, &error) ||
        kiln_package_new(&code, context, "main", &error) ||
        kiln_package_define(code, "saxpy", text, sizeof text - 1, 0, &error) ||
        kiln_package_function(&saxpy.function, code, "saxpy", &error) ||
        kiln_type_parse(&types[0], context, NULL, "f32[:]", &error) ||
        kiln_type_parse(&types[1], context, NULL, "f32", &error) ||
        kiln_type_parse(&types[2], context, NULL, "f32[:]", &error) ||
        kiln_compile(&kernel, context, &saxpy, config, NULL, &error) ||
        kiln_queue_launch(queue, kernel, &launch, arguments, 3, &error))
        fprintf(stderr, "%s\n", kiln_error_message(error));
    printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]); /* 12 24 36 48 */
    kiln_error_free(error);
    kiln_queue_free(queue);
    kiln_device_close(device);
    kiln_context_free(context);
    return y[3] != 48;
}
