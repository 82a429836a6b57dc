/* relocate.c - fills the slots of a payload for one load. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/backend.h"

#include <string.h>

#include "base/error.h"
#include "context/host_objects.h"

/*
 * A slot is a word of the payload that is zero; the artifact lists it with the
 * name of a host object. The artifact is shared and may be stored: so addresses
 * are only written into a copy of its bytes, which exists as long as the driver
 * reads it. Drivers need not know about sites.
 *
 * Artifacts come from disks, so every offset is checked.
 */

#define SLOT_SIZE 8

static kiln_status check_slot(const kiln_artifact *artifact,
                              const kiln_site_info *site, kiln_error **error)
{
    const unsigned char *bytes = artifact->bytes;
    uint64_t word;

    if (site->size != SLOT_SIZE || site->offset % SLOT_SIZE != 0 ||
        artifact->size < SLOT_SIZE || site->offset > artifact->size - SLOT_SIZE)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "site \"%s\": no slot of the payload",
                               site->name);
    memcpy(&word, bytes + site->offset, sizeof word);
    if (word != 0)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "site \"%s\": its slot is not empty",
                               site->name);
    return KILN_OK;
}

/* Lists the names of the sites to patch, and checks their slots. */
static kiln_status list_names(const char **names, size_t *count,
                              const kiln_artifact *artifact, kiln_error **error)
{
    *count = 0;
    for (size_t i = 0; i < artifact->site_count; i++) {
        if (artifact->sites[i].strategy == KILN_SITES_RESOLVE &&
            artifact->roots != NULL)
            continue;
        if (artifact->sites[i].strategy != KILN_SITES_PATCH)
            return kiln__error_set(error, KILN_ECORRUPT,
                                   "site \"%s\": it was resolved elsewhere",
                                   artifact->sites[i].name);
        KILN_TRY(check_slot(artifact, &artifact->sites[i], error));
        names[(*count)++] = artifact->sites[i].name;
    }
    return KILN_OK;
}

static void fill_slots(void *bytes, const kiln_artifact *artifact,
                       const kiln__roots *roots)
{
    size_t at = 0;

    for (size_t i = 0; i < artifact->site_count; i++) {
        const kiln_site_info *site = &artifact->sites[i];
        uint64_t address;

        if (site->strategy != KILN_SITES_PATCH)
            continue;
        address = (uint64_t)(uintptr_t)kiln__roots_address(roots, at++);
        memcpy((unsigned char *)bytes + site->offset, &address, sizeof address);
    }
}

/* Copies the members that drivers read. kiln__artifact_retain_origin() of the
   copy retains the shared artifact. */
static void borrow(kiln_artifact *to, const kiln_artifact *from, void *bytes)
{
    atomic_init(&to->references, 1);
    to->key = from->key;
    to->encoded_key = from->encoded_key;
    to->encoded_key_size = from->encoded_key_size;
    to->format = from->format;
    to->target = from->target;
    to->relocation = from->relocation;
    to->bytes = bytes;
    to->size = from->size;
    to->kernels = from->kernels;
    to->kernel_count = from->kernel_count;
    to->sites = from->sites;
    to->site_count = from->site_count;
    to->reports = from->reports;
    to->report_size = from->report_size;
    to->facts = from->facts;
    to->fact_size = from->fact_size;
    to->compile_ns = from->compile_ns;
    to->origin = from;
}

static kiln_status make(kiln__patched **out, const kiln_kernel *kernel,
                        kiln__roots *roots, kiln_error **error)
{
    const kiln_artifact *artifact = kernel->artifact;
    const kiln_alloc *alloc = &kernel->context->alloc;
    kiln__patched *patched = kiln__allocate(alloc, sizeof *patched);
    void *bytes = kiln__allocate_copy(alloc, artifact->bytes, artifact->size);

    if (patched == NULL || bytes == NULL) {
        kiln__deallocate(alloc, patched, sizeof *patched);
        kiln__deallocate(alloc, bytes, artifact->size);
        return kiln__error_no_memory(error);
    }
    patched->bytes = bytes;
    fill_slots(bytes, artifact, roots);
    borrow(&patched->artifact, artifact, bytes);
    patched->roots = roots;
    *out = patched;
    return KILN_OK;
}

kiln_status kiln__patch(kiln__patched **patched, const kiln_kernel *kernel,
                        kiln_error **error)
{
    const kiln_artifact *artifact = kernel->artifact;
    const kiln_alloc *alloc = &kernel->context->alloc;
    kiln__roots *roots = NULL;
    const char **names;
    size_t count = 0;
    kiln_status status;

    *patched = NULL;
    if (artifact->site_count == 0)
        return KILN_OK;
    names = kiln__allocate(alloc, artifact->site_count * sizeof *names);
    if (names == NULL)
        return kiln__error_no_memory(error);
    status = list_names(names, &count, artifact, error);
    if (status == KILN_OK && count > 0)
        status = kiln__roots_new(&roots, kernel->context, kernel->info->method,
                                 names, count, error);
    kiln__deallocate(alloc, names, artifact->site_count * sizeof *names);
    if (status != KILN_OK || count == 0)
        return status;
    status = make(patched, kernel, roots, error);
    if (status != KILN_OK)
        kiln__roots_free(roots);
    return status;
}

void kiln__patched_free(kiln__patched *patched, const kiln_context *context)
{
    if (patched == NULL)
        return;
    kiln__roots_free(patched->roots);
    kiln__deallocate(&context->alloc, patched->bytes, patched->artifact.size);
    kiln__deallocate(&context->alloc, patched, sizeof *patched);
}
