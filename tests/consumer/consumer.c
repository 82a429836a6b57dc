/* consumer.c - a C program against an installed Kiln. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include <kiln.h>

static const char text[] = "kernel twice(x)\n"
                           "    x[global_id(0)] *= 2\n"
                           "end\n";

static kiln_status run(kiln_context *context, float *x, kiln_error **error)
{
    const kiln_array array = {x, {4}, {0}};
    const void *arguments[1];
    const kiln_launch launch = {.grid = {4, 1, 1}, .block = {0, 0, 0}};
    const kiln_config *config = NULL;
    const kiln_type *type = NULL;
    const kiln_kernel *kernel = NULL;
    kiln_signature twice = {NULL, NULL, 1};
    kiln_package *package = NULL;
    kiln_device *device = NULL;
    kiln_queue *queue = NULL;
    kiln_status status;

    arguments[0] = &array;
    twice.types = &type;
    (void)((status = kiln_config_new(&config, context, NULL, error)) ||
           (status = kiln_package_new(&package, context, "main", error)) ||
           (status = kiln_package_define(package, "main", text, strlen(text),
                                         NULL, error)) ||
           (status = kiln_package_function(&twice.function, package, "twice",
                                           error)) ||
           (status = kiln_type_parse(&type, context, NULL, "f32[:]", error)) ||
           (status = kiln_device_open(&device, context, "host", 0, error)) ||
           (status = kiln_queue_new(&queue, device, error)) ||
           (status =
                kiln_compile(&kernel, context, &twice, config, NULL, error)) ||
           (status = kiln_queue_launch(queue, kernel, &launch, arguments, 1,
                                       error)));
    kiln_queue_free(queue);
    kiln_device_close(device);
    return status;
}

int main(void)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_context *context = NULL;
    kiln_error *error = NULL;
    float x[4] = {1, 2, 3, 4};
    kiln_status status;

    if (strcmp(kiln_version(), KILN_VERSION_STRING) != 0)
        return 1;
#ifdef CONSUMER_LINKS_CODEGEN
    options.codegen_exchange = kiln_codegen_exchange;
#endif
    status = kiln_context_new(&context, &options, &error);
    if (status == KILN_OK)
        status = run(context, x, &error);
    if (status != KILN_OK)
        fprintf(stderr, "%s\n", kiln_error_message(error));
    kiln_error_free(error);
    kiln_context_free(context);
    printf("Kiln %s: %g %g\n", kiln_version(), x[0], x[3]);
    return !(x[0] == 2 && x[3] == 8);
}
