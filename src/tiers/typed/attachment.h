/* attachment.h - results of the embedder that a code instance keeps. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_TIERS_TYPED_ATTACHMENT_H
#define KILN_TIERS_TYPED_ATTACHMENT_H

#include "context/context.h"
#include "tiers/entry_writer.h"

typedef struct kiln__attached kiln__attached;
struct kiln__attached {
    const kiln_config *config; /* or NULL */
    char *consumer;
    kiln_attachment attachment;
    uint64_t order; /* number in the order of arrival */
    int is_packed;  /* it came from an inserted pack */
    kiln__attached *next;
};

struct kiln__tiers;

void kiln__attached_free(const kiln_alloc *alloc, kiln__attached *attached);

/* ---- stored_attachment.c ---- */
/* Gives the attached result as an entry, if it can go to another process. */
kiln_status kiln__attached_give(
    const kiln_code *code, const kiln__attached *attached, void *env,
    kiln_status (*take)(void *env, const kiln__entry_writer *writer));
/* Puts it into the stores. */
void kiln__attached_save(const kiln_code *code, const kiln__attached *attached);
/* Makes a value from a store's entry; KILN_ENOTFOUND. */
kiln_status kiln__attached_recall(kiln_attachment *out, int *is_packed,
                                  const kiln_code *code,
                                  const kiln_config *config, const char *name);
void kiln__consumers_free(struct kiln__tiers *tiers);

#endif /* KILN_TIERS_TYPED_ATTACHMENT_H */
