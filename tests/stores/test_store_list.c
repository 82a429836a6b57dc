/* test_store_list.c - the smallest store there is keeps the contract. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance tiers */
#include "conformance/store_suite.h"
#include "support/stores/list_store.h"

static kiln_status open_list(const kiln_store_ops **ops, void **self)
{
    *ops = &list_store_ops;
    *self = list_store_new();
    return *self ? KILN_OK : KILN_ENOMEM;
}

int main(void)
{
    static const store_subject subject = {.open = open_list};

    return store_suite_run(&subject);
}
