/* faulty_store.c - a store that fails, lies, truncates and delays on demand. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "support/stores/faulty_store.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/data/memory.h"
#include "base/error.h"

void faulty_store_init(faulty_store *faulty, const kiln_store_ops *ops,
                       void *self)
{
    memset(faulty, 0, sizeof *faulty);
    faulty->ops = ops;
    faulty->self = self;
}

static void delay(faulty_store *f)
{
    const int wait_ms = atomic_load(&f->delay_ms);
    const struct timespec wait = {wait_ms / 1000, wait_ms % 1000 * 1000000L};

    if (wait_ms)
        (void)nanosleep(&wait, NULL);
}

static kiln_status fail(atomic_int *how, kiln_error **error)
{
    const kiln_status status = atomic_load(how);

    return status == KILN_OK
               ? KILN_OK
               : kiln__error_set(error, status, "the store was told to fail");
}

/* ---- what is lent: a copy, so that it can be damaged ---- */

typedef struct loan {
    faulty_store *from;
    char bytes[];
} loan;

static void loan_release(kiln_blob *blob)
{
    loan *of = blob->private_data;

    atomic_fetch_sub(&of->from->lent, 1);
    free(of);
}

static kiln_status lend(faulty_store *f, const kiln_blob *blob, kiln_blob *out)
{
    const size_t cut = (size_t)atomic_load(&f->cuts);
    const size_t bit = (size_t)atomic_load(&f->flips);
    const size_t size = blob->size > cut ? blob->size - cut : 0;
    loan *made = malloc(sizeof *made + size + 1);

    if (!made)
        return KILN_ENOMEM;
    made->from = f;
    if (size)
        memcpy(made->bytes, blob->data, size);
    if (bit && (bit - 1) / 8 < size)
        made->bytes[(bit - 1) / 8] ^= (char)(1 << (bit - 1) % 8);
    *out = (kiln_blob){made->bytes, size, loan_release, made};
    atomic_fetch_add(&f->lent, 1);
    return KILN_OK;
}

/* ---- the table ---- */

static kiln_status get(void *self, const kiln_key *key, kiln_blob *out,
                       kiln_error **error)
{
    faulty_store *f = self;
    kiln_blob blob = {0};
    kiln_status status;

    atomic_fetch_add(&f->gets, 1);
    delay(f);
    KILN_TRY(fail(&f->get_fails, error));
    if (atomic_load(&f->empty)) {
        *out = (kiln_blob){0};
        return KILN_OK;
    }
    if (atomic_load(&f->lies) && f->last.data)
        return lend(f, &f->last, out);
    KILN_TRY(f->ops->get(f->self, key, &blob, error));
    status = lend(f, &blob, out);
    kiln_blob_release(&blob);
    return status;
}

static kiln_status put(void *self, const kiln_key *key, const void *bytes,
                       size_t size, kiln_error **error)
{
    faulty_store *f = self;

    atomic_fetch_add(&f->puts, 1);
    delay(f);
    KILN_TRY(fail(&f->put_fails, error));
    if (atomic_load(&f->put_forgets))
        return KILN_OK;
    if (atomic_load(&f->lies)) {
        kiln_blob_release(&f->last);
        return kiln__blob_copy(&f->last, &kiln__malloc, bytes, size);
    }
    return f->ops->put(f->self, key, bytes, size, error);
}

static kiln_status drop(void *self, const kiln_key *key, kiln_error **error)
{
    faulty_store *f = self;

    atomic_fetch_add(&f->removes, 1);
    delay(f);
    KILN_TRY(fail(&f->remove_fails, error));
    return f->ops->remove(f->self, key, error);
}

static kiln_status count(void *self, uint64_t *entries, uint64_t *bytes)
{
    faulty_store *f = self;

    return f->ops->stat(f->self, entries, bytes);
}

static void end(void *self)
{
    faulty_store *f = self;

    kiln_blob_release(&f->last);
    f->ops->free(f->self);
    atomic_store(&f->ended, 1);
}

const kiln_store_ops faulty_store_ops = {
    .size = sizeof faulty_store_ops,
    .name = "faulty",
    .get = get,
    .put = put,
    .free = end,
    .remove = drop,
    .stat = count,
};
