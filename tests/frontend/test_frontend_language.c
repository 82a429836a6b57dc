/* test_frontend_language.c - the kernel language as one frontend of many. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance frontend */
#include "conformance/frontend_suite.h"

#include <stdio.h>
#include <string.h>

static const char *const names[FRONTEND_FUNCTIONS] = {"caller", "callee",
                                                      "other"};

static kiln_status open_language(void **self, kiln_frontend **frontend,
                                 kiln_context *context, kiln_error **error)
{
    kiln_package *package = NULL;
    kiln_status status = kiln_package_new(&package, context, "suite", error);

    *self = package;
    *frontend = kiln_context_language(context);
    return status;
}

static kiln_status define(void *self, int function, int number,
                          kiln_change_report *report, kiln_error **error)
{
    char text[128];
    const char *sum = function == FRONTEND_CALLER ? "callee() + " : "";
    const char *name = names[function];

    if (number == KILN_ECOMPILE)
        (void)snprintf(text, sizeof text, "fn %s() = %snothing\n", name, sum);
    else
        (void)snprintf(text, sizeof text, "fn %s() = %s%d\n", name, sum,
                       number);
    return kiln_package_define(self, "suite.kiln", text, strlen(text), report,
                               error);
}

static kiln_status find(void *self, int function, const kiln_function **out,
                        kiln_error **error)
{
    return kiln_package_function(out, self, names[function], error);
}

/* The package has ended with the context. */
static void close_language(void *self)
{
    (void)self;
}

int main(void)
{
    static const frontend_subject language = {open_language, define, find,
                                              close_language};

    return frontend_suite_run(&language);
}
