/* workload.c - records which kernels an offline device was asked to launch. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/workload.h"

#include <string.h>

#include "base/data/array.h"
#include "base/data/map.h"
#include "base/digest/digest.h"
#include "base/system/thread.h"
#include "context/keys/settings.h"
#include "context/targets/target_traits.h"
#include "tiers/binary/artifact.h"

/*
 * There is one line for each kernel, kept as text, because collections free
 * kernels. A repeated launch is recognised by the digest of its line.
 */

struct kiln__workload {
    kiln_context *context;
    kiln__mutex lock;
    kiln__fork_guard guard;
    kiln__map seen; /* digests of lines */
    kiln__text lines;
};

kiln_status kiln__workload_new(kiln__workload **out, kiln_context *context)
{
    kiln__workload *made = kiln__allocate(&context->alloc, sizeof *made);

    if (made == NULL)
        return KILN_ENOMEM;
    if (kiln__mutex_init(&made->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, made, sizeof *made);
        return KILN_ENOMEM;
    }
    made->context = context;
    kiln__map_init(&made->seen, &context->alloc);
    kiln__text_init(&made->lines, &context->alloc);
    made->guard.mutex = &made->lock;
    kiln__fork_add(&context->fork, &made->guard);
    *out = made;
    return KILN_OK;
}

void kiln__workload_free(kiln__workload *workload)
{
    if (workload == NULL)
        return;
    kiln__fork_remove(&workload->context->fork, &workload->guard);
    kiln__mutex_dispose(&workload->lock);
    kiln__map_dispose(&workload->seen);
    kiln__text_dispose(&workload->lines);
    kiln__deallocate(&workload->context->alloc, workload, sizeof *workload);
}

/* ---- lines ---- */

static void add_number(kiln__text *out, const char *name, uint64_t value)
{
    kiln__text_format(out, " %s=%llu", name, (unsigned long long)value);
}

static void add_switch(kiln__text *out, const char *name, uint64_t value,
                       uint64_t usual)
{
    if (value != usual)
        kiln__text_format(out, " %s=%s", name,
                          value == KILN_SWITCH_ON ? "on" : "off");
}

/* Returns the length of the list without a final `name`. */
static size_t without(const char *list, size_t size, const char *name)
{
    const size_t own = strlen(name);

    if (size < own || memcmp(list + size - own, name, own) != 0)
        return size;
    if (size == own)
        return 0;
    return list[size - own - 1] == ',' ? size - own - 1 : size;
}

/* The backend's own tables at the end of the overlays need no word. */
static void add_overlays(kiln__text *out, const kiln_config *config)
{
    size_t size = strlen(config->overlays);

    if (kiln__target_traits_of(config)->is_device)
        size = without(config->overlays, size, KILN__DEVICE_OVERLAY);
    size = without(config->overlays, size, config->backend);
    if (size == 0)
        return;
    kiln__text_add(out, " overlays=");
    kiln__text_add_n(out, config->overlays, size);
}

/* Adds every setting that is not the default. */
static void add_settings(kiln__text *out, const kiln_config *config)
{
    add_overlays(out, config);
    if (config->opt_level != KILN_OPT_3)
        add_number(out, "opt", config->opt_level - KILN_OPT_0);
    if (config->debug_level != KILN_DEBUG_NONE)
        add_number(out, "debug", config->debug_level);
    add_switch(out, "bounds", config->bounds_checks, KILN_SWITCH_ON);
    add_switch(out, "fast", config->fast_math, KILN_SWITCH_OFF);
    add_switch(out, "contract", config->contract, KILN_SWITCH_ON);
    if (config->entry_name != NULL)
        kiln__text_format(out, " entry=%s", config->entry_name);
    if (config->sites == KILN_SITES_PATCH)
        kiln__text_add(out, " sites=patch");
    if (config->math == KILN_MATH_VENDOR)
        kiln__text_add(out, " math=vendor");
    if (config->maximum_group != 0)
        add_number(out, "most", config->maximum_group);
    if (config->minimum_groups != 0)
        add_number(out, "groups", config->minimum_groups);
    if (config->maximum_registers != 0)
        add_number(out, "registers", config->maximum_registers);
    if (config->unroll != 0)
        add_number(out, "unroll", config->unroll);
    if (config->required_group_x | config->required_group_y |
        config->required_group_z)
        kiln__text_format(out, " group=%llu,%llu,%llu",
                          (unsigned long long)config->required_group_x,
                          (unsigned long long)config->required_group_y,
                          (unsigned long long)config->required_group_z);
}

/* With the lock held. */
static kiln_status add_line(kiln__workload *workload, const kiln__text *line)
{
    const kiln_digest digest = kiln__digest_bytes(line->bytes, line->size);

    if (kiln__map_get(&workload->seen, digest) != NULL)
        return KILN_OK;
    kiln__text_add_n(&workload->lines, line->bytes, line->size);
    if (workload->lines.failed ||
        !kiln__map_set(&workload->seen, digest, workload))
        return KILN_ENOMEM;
    return KILN_OK;
}

kiln_status kiln__workload_add(kiln__workload *workload,
                               const kiln_kernel *kernel)
{
    kiln_status status = KILN_ENOMEM;
    kiln__text line;

    kiln__text_init(&line, &workload->context->alloc);
    kiln__text_add(&line, kernel->info->method);
    add_settings(&line, kernel->config);
    kiln__text_add(&line, "\n");
    if (!line.failed) {
        kiln__mutex_lock(&workload->lock);
        status = add_line(workload, &line);
        kiln__mutex_unlock(&workload->lock);
    }
    kiln__text_dispose(&line);
    return status;
}

kiln_status kiln__workload_text(kiln_blob *out, kiln__workload *workload,
                                const char *target)
{
    kiln__text text;

    kiln__text_init(&text, &workload->context->alloc);
    kiln__text_format(&text, "# recorded for %s\n", target);
    kiln__mutex_lock(&workload->lock);
    kiln__text_add_n(&text,
                     workload->lines.bytes != NULL ? workload->lines.bytes : "",
                     workload->lines.size);
    kiln__mutex_unlock(&workload->lock);
    return kiln__text_to_blob(&text, out);
}
