/* test_store_faulty.c - a faulty store without faults keeps the contract. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: conformance tiers */
#include "conformance/store_suite.h"
#include "support/stores/faulty_store.h"
#include "support/stores/list_store.h"

/* One is open at a time. */
static faulty_store faulty;

static kiln_status open_faulty(const kiln_store_ops **ops, void **self)
{
    void *list = list_store_new();

    faulty_store_init(&faulty, &list_store_ops, list);
    *ops = &faulty_store_ops;
    *self = &faulty;
    return list ? KILN_OK : KILN_ENOMEM;
}

int main(void)
{
    static const store_subject subject = {.open = open_faulty};

    return store_suite_run(&subject);
}
