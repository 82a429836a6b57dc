/* consumer.c - a C program against an installed Kiln. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include <kiln.h>

int main(void)
{
    kiln_context *context = NULL;
    kiln_error *error = NULL;

    if (strcmp(kiln_version(), KILN_VERSION_STRING) != 0)
        return 1;
    if (kiln_context_new(&context, NULL, &error) != KILN_OK) {
        fprintf(stderr, "%s\n", kiln_error_message(error));
        kiln_error_free(error);
        return 1;
    }
    kiln_context_free(context);
    printf("Kiln %s\n", kiln_version());
    return 0;
}
