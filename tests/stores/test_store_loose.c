/* test_store_loose.c - loose files keep the contract of every store. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance tiers */
#include "conformance/store_suite.h"

#include <stdio.h>

#include "stores/loose/loose.h"
#include "support/harness.h"

static const char *top;
static unsigned opened;

static kiln_status open_loose(const kiln_store_ops **ops, void **self)
{
    kiln__loose_options options = {
        .writes = 1,
        .max_size = KILN_CACHE_UNBOUNDED,
        .max_entries = KILN_CACHE_UNBOUNDED,
        .max_age_s = KILN_CACHE_UNBOUNDED,
    };
    kiln__loose *loose = NULL;
    char folder[256];
    kiln_status status;

    (void)snprintf(folder, sizeof folder, "%s/%u", top, opened++);
    options.directory = folder;
    status = kiln__loose_new(&loose, &kiln__malloc, NULL, &options);
    *ops = &kiln__loose_ops;
    *self = loose;
    return status;
}

int main(void)
{
    static const store_subject subject = {.open = open_loose};
    void *folder = NULL;
    int failures;

    if (temporary_folder_setup(&folder) != 0)
        return 1;
    top = folder;
    failures = store_suite_run(&subject);
    return temporary_folder_teardown(&folder) != 0 || failures != 0;
}
