/* test_frontend_toy.c - the toy frontend keeps the contract that it tests. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance frontend */
#include "conformance/frontend_suite.h"

#include <stdlib.h>

#include "support/frontend/toy_frontend.h"

static kiln_status open_toy(void **self, kiln_frontend **frontend,
                            kiln_context *context, kiln_error **error)
{
    struct toy *toy = calloc(1, sizeof *toy);
    kiln_status status = toy ? toy_open(toy, context, error) : KILN_ENOMEM;

    *self = toy;
    if (status == KILN_OK)
        *frontend = toy->frontend;
    return status;
}

static kiln_status define(void *self, int function, int number,
                          kiln_change_report *report, kiln_error **error)
{
    static const int callees[] = {FRONTEND_CALLEE, -1};

    (void)error;
    return toy_define(self, function, number,
                      function == FRONTEND_CALLER ? callees : NULL, report);
}

static kiln_status find(void *self, int function, const kiln_function **out,
                        kiln_error **error)
{
    const struct toy *toy = self;

    (void)error;
    *out = toy->functions[function];
    return KILN_OK;
}

int main(void)
{
    static const frontend_subject toy = {open_toy, define, find, free};

    return frontend_suite_run(&toy);
}
