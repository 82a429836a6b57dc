/* artifact.c - makes, counts and reads artifacts. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tiers/binary/artifact.h"

#include <string.h>

#include "abi/shared_words.h"
#include "base/data/arena.h"
#include "base/error.h"
#include "context/host_objects.h"

/*
 * An artifact and everything that it holds are in one arena over malloc, so
 * that it outlives its context and is freed in one piece with its last
 * reference. The large parts of one from a store stay in the memory that the
 * store read them into, because copying them takes longer than all the rest.
 * The arena follows the public part; only this file allocates artifacts.
 */
typedef struct owned_artifact {
    kiln_artifact artifact;
    kiln__arena arena;
    kiln_blob held; /* what its source lent it, or nothing */
} owned_artifact;

/* ---- making ---- */

static const kiln_argument_info *copy_arguments(kiln__arena *arena,
                                                const kiln_kernel_info *from)
{
    kiln_argument_info *copies =
        kiln__arena_allocate_array(arena, from->argument_count, sizeof *copies);

    for (size_t i = 0; copies != NULL && i < from->argument_count; i++) {
        copies[i] = from->arguments[i];
        copies[i].type = kiln__arena_text(arena, from->arguments[i].type);
    }
    return copies;
}

static kiln_kernel_info *copy_kernels(kiln__arena *arena,
                                      const kiln__artifact_source *source)
{
    kiln_kernel_info *copies =
        kiln__arena_allocate_array(arena, source->kernel_count, sizeof *copies);

    for (size_t i = 0; copies != NULL && i < source->kernel_count; i++) {
        const kiln_kernel_info *from = &source->kernels[i];

        copies[i] = *from;
        copies[i].size = sizeof copies[i];
        copies[i].name = kiln__arena_text(arena, from->name);
        copies[i].method = kiln__arena_text(arena, from->method);
        copies[i].arguments = copy_arguments(arena, from);
    }
    return copies;
}

static kiln_site_info *copy_sites(kiln__arena *arena,
                                  const kiln__artifact_source *source)
{
    kiln_site_info *copies;

    if (source->site_count == 0)
        return NULL;
    copies =
        kiln__arena_allocate_array(arena, source->site_count, sizeof *copies);
    for (size_t i = 0; copies != NULL && i < source->site_count; i++) {
        copies[i] = source->sites[i];
        copies[i].name = kiln__arena_text(arena, source->sites[i].name);
    }
    return copies;
}

/* What may stay where it is. */
static const void *keep_or_copy(kiln__arena *arena,
                                const kiln__artifact_source *source,
                                const void *bytes, size_t size)
{
    return source->lent != NULL ? bytes : kiln__arena_copy(arena, bytes, size);
}

static void fill_artifact(kiln_artifact *artifact, kiln__arena *arena,
                          const kiln__artifact_source *source)
{
    artifact->key = source->key;
    artifact->encoded_key = keep_or_copy(arena, source, source->encoded_key,
                                         source->encoded_key_size);
    artifact->encoded_key_size = source->encoded_key_size;
    artifact->format = kiln__arena_text(arena, source->format);
    artifact->target = kiln__arena_text(arena, source->target);
    artifact->relocation = source->relocation;
    artifact->bytes = keep_or_copy(arena, source, source->bytes, source->size);
    artifact->size = source->size;
    artifact->kernels = copy_kernels(arena, source);
    artifact->kernel_count = source->kernel_count;
    artifact->sites = copy_sites(arena, source);
    artifact->site_count = source->site_count;
    if (source->report_size > 0)
        artifact->reports =
            kiln__arena_copy(arena, source->reports, source->report_size);
    artifact->report_size = source->report_size;
    if (source->fact_size > 0)
        artifact->facts =
            kiln__arena_copy(arena, source->facts, source->fact_size);
    artifact->fact_size = source->fact_size;
    if (source->deferred_size > 0)
        artifact->deferred = keep_or_copy(arena, source, source->deferred,
                                          source->deferred_size);
    artifact->deferred_size = source->deferred_size;
    artifact->compile_ns = source->compile_ns;
    artifact->toolchain = kiln__arena_text(
        arena, source->toolchain == NULL ? "" : source->toolchain);
}

kiln_status kiln__artifact_new(const kiln_artifact **out,
                               const kiln__artifact_source *source)
{
    owned_artifact *owned = kiln__allocate(&kiln__malloc, sizeof *owned);

    if (owned == NULL)
        return KILN_ENOMEM;
    atomic_init(&owned->artifact.references, 1);
    kiln__arena_init(&owned->arena, &kiln__malloc);
    fill_artifact(&owned->artifact, &owned->arena, source);
    if (owned->arena.failed) {
        kiln_artifact_release(&owned->artifact);
        return KILN_ENOMEM;
    }
    owned->artifact.roots = source->roots;
    if (source->lent != NULL) {
        owned->held = *source->lent;
        *source->lent = (kiln_blob){0};
    }
    *out = &owned->artifact;
    return KILN_OK;
}

/* The count is the only member of an artifact that changes, and the only reason
   to write through a pointer to const. */
static kiln_artifact *writable(const kiln_artifact *artifact)
{
    union {
        const kiln_artifact *constant;
        kiln_artifact *changing;
    } pointer = {.constant = artifact};

    return pointer.changing;
}

const kiln_artifact *kiln_artifact_retain(const kiln_artifact *artifact)
{
    if (artifact != NULL)
        atomic_fetch_add_explicit(&writable(artifact)->references, 1,
                                  memory_order_relaxed);
    return artifact;
}

const kiln_artifact *kiln__artifact_retain_origin(const kiln_artifact *artifact)
{
    return kiln_artifact_retain(artifact->origin != NULL ? artifact->origin
                                                         : artifact);
}

void kiln_artifact_release(const kiln_artifact *artifact)
{
    owned_artifact *owned = (owned_artifact *)(void *)writable(artifact);

    /* acquired: sees the last uses of all other holders */
    if (artifact == NULL ||
        atomic_fetch_sub_explicit(&owned->artifact.references, 1,
                                  memory_order_acq_rel) != 1)
        return;
    kiln__roots_free(owned->artifact.roots);
    kiln__arena_dispose(&owned->arena);
    kiln_blob_release(&owned->held);
    kiln__deallocate(&kiln__malloc, owned, sizeof *owned);
}

/* ---- reading ---- */

const char *kiln_artifact_format(const kiln_artifact *artifact)
{
    return artifact->format;
}

const char *kiln_artifact_target(const kiln_artifact *artifact)
{
    return artifact->target;
}

int32_t kiln_artifact_relocation(const kiln_artifact *artifact)
{
    return artifact->relocation;
}

const void *kiln_artifact_bytes(const kiln_artifact *artifact, size_t *size)
{
    if (size != NULL)
        *size = artifact->size;
    return artifact->bytes;
}

size_t kiln_artifact_kernel_count(const kiln_artifact *artifact)
{
    return artifact->kernel_count;
}

const kiln_kernel_info *kiln_artifact_kernel(const kiln_artifact *artifact,
                                             size_t index)
{
    return index < artifact->kernel_count ? &artifact->kernels[index] : NULL;
}

const kiln_kernel_info *kiln__artifact_kernel_named(
    const kiln_artifact *artifact, const char *name)
{
    for (size_t i = 0; i < artifact->kernel_count; i++)
        if (strcmp(artifact->kernels[i].name, name) == 0)
            return &artifact->kernels[i];
    return NULL;
}

size_t kiln_artifact_site_count(const kiln_artifact *artifact)
{
    return artifact->site_count;
}

const kiln_site_info *kiln_artifact_site(const kiln_artifact *artifact,
                                         size_t index)
{
    return index < artifact->site_count ? &artifact->sites[index] : NULL;
}

const void *kiln_artifact_reports(const kiln_artifact *artifact, size_t *size)
{
    if (size != NULL)
        *size = artifact->report_size;
    return artifact->reports;
}

const kiln_artifact *kiln_kernel_artifact(const kiln_kernel *kernel)
{
    return kernel->artifact;
}

const kiln_kernel_info *kiln_kernel_get_info(const kiln_kernel *kernel)
{
    return kernel->info;
}

const kiln_config *kiln_kernel_config(const kiln_kernel *kernel)
{
    return kernel->config;
}

const kiln_code *kiln_kernel_code(const kiln_kernel *kernel)
{
    return kernel->code;
}

int32_t kiln_kernel_is_valid(const kiln_kernel *kernel)
{
    return kiln__kernel_head_is_valid(&kernel->head);
}

int kiln__artifact_is_unusable(const kiln_artifact *artifact,
                               kiln_status status)
{
    return status == KILN_ECORRUPT || status == KILN_EMISMATCH ||
           status == KILN_EINVAL || status == KILN_EUNSUPPORTED ||
           (status == KILN_ENOTFOUND && artifact->site_count == 0);
}
