/* artifact_meta.c - artifacts as entries: their meta, written and read. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/arena.h"
#include "base/data/decoder.h"
#include "stores/buffer.h"
#include "stores/entry_versions.h"
#include "tiers/binary/artifact_meta.h"

/*
 * Meta, after a version: format, target, kernels {name, method, arguments
 * {type, offset, size}, numbers}, sites {name, offset, size, strategy},
 * reports, facts, what is deferred. The payload is the artifact's payload.
 */

/* Every number of a kernel's metadata, in the order of the encoding. */
#define KERNEL_NUMBER_MAP(X) \
    X(argument_bytes) \
    X(hidden_arguments) \
    X(static_local_bytes) \
    X(private_bytes) \
    X(registers) \
    X(spill_bytes) \
    X(required_group_size[0]) \
    X(required_group_size[1]) \
    X(required_group_size[2]) \
    X(maximum_group_size) \
    X(sub_group_size) \
    X(inner_dimension) \
    X(stack_bytes)

/* ---- writing ---- */

static void encode_kernel(kiln__encoder *out, const kiln_kernel_info *kernel)
{
    kiln__encode_text(out, kernel->name);
    kiln__encode_text(out, kernel->method);
    kiln__encode_u64(out, kernel->argument_count);
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const kiln_argument_info *argument = &kernel->arguments[i];

        kiln__encode_text(out, argument->type);
        kiln__encode_u64(out, argument->offset);
        kiln__encode_u64(out, argument->size);
    }
#define ENCODE(member) kiln__encode_u64(out, kernel->member);
    KERNEL_NUMBER_MAP(ENCODE)
#undef ENCODE
    kiln__encode_u64(out, kernel->can_fail != 0);
    kiln__encode_u64(out, kernel->allocates != 0);
    kiln__encode_u64(out, kernel->dynamic_local != 0);
    kiln__encode_u64(out, (uint64_t)kernel->any_block);
}

static void encode_site(kiln__encoder *out, const kiln_site_info *site)
{
    kiln__encode_text(out, site->name);
    kiln__encode_u64(out, site->offset);
    kiln__encode_u64(out, site->size);
    kiln__encode_u64(out, site->strategy);
}

void kiln__artifact_encode_meta(kiln__encoder *out,
                                const kiln_artifact *artifact)
{
    kiln__encode_u64(out, KILN__META_BINARY);
    kiln__encode_text(out, artifact->format);
    kiln__encode_text(out, artifact->target);
    kiln__encode_u64(out, artifact->kernel_count);
    for (size_t i = 0; i < artifact->kernel_count; i++)
        encode_kernel(out, &artifact->kernels[i]);
    kiln__encode_u64(out, artifact->site_count);
    for (size_t i = 0; i < artifact->site_count; i++)
        encode_site(out, &artifact->sites[i]);
    kiln__encode_bytes(out, artifact->reports, artifact->report_size);
    kiln__encode_bytes(out, artifact->facts, artifact->fact_size);
    kiln__encode_bytes(out, artifact->deferred, artifact->deferred_size);
}

/* ---- reading ---- */

typedef struct decoding {
    kiln__reader reader;
    kiln__arena arena;
} decoding;

static const char *read_text(decoding *d)
{
    const kiln__span_of_bytes text = kiln__read_text(&d->reader);

    return text.data != NULL
               ? kiln__arena_string(&d->arena, text.data, text.size)
               : NULL;
}

/* Reads a required text; without it the entry is of no use. */
static const char *read_name(decoding *d)
{
    const char *text = read_text(d);

    d->reader.failed |= text == NULL;
    return text;
}

static uint32_t read_u32(decoding *d)
{
    const uint64_t value = kiln__read_u64(&d->reader);

    d->reader.failed |= value > UINT32_MAX;
    return (uint32_t)value;
}

static void read_arguments(decoding *d, kiln_kernel_info *kernel)
{
    const size_t count = kiln__read_count(&d->reader, 1);
    kiln_argument_info *arguments =
        kiln__arena_allocate_array(&d->arena, count + 1, sizeof *arguments);

    for (size_t i = 0; arguments != NULL && i < count && !d->reader.failed;
         i++) {
        arguments[i].type = read_name(d);
        arguments[i].offset = read_u32(d);
        arguments[i].size = read_u32(d);
    }
    kernel->arguments = arguments;
    kernel->argument_count = count;
}

static void read_kernel(decoding *d, kiln_kernel_info *kernel)
{
    kernel->size = sizeof *kernel;
    kernel->name = read_name(d);
    kernel->method = read_name(d);
    read_arguments(d, kernel);
#define READ(member) kernel->member = read_u32(d);
    KERNEL_NUMBER_MAP(READ)
#undef READ
    kernel->can_fail = kiln__read_u64(&d->reader) != 0;
    kernel->allocates = kiln__read_u64(&d->reader) != 0;
    kernel->dynamic_local = kiln__read_u64(&d->reader) != 0;
    kernel->any_block = (int32_t)read_u32(d);
    d->reader.failed |=
        kernel->any_block > KILN_ANY_BLOCK_ALIKE || kernel->inner_dimension > 2;
}

static void read_kernels(decoding *d, kiln__artifact_source *source)
{
    const size_t count = kiln__read_count(&d->reader, 1);
    kiln_kernel_info *kernels =
        kiln__arena_allocate_array(&d->arena, count + 1, sizeof *kernels);

    for (size_t i = 0; kernels != NULL && i < count && !d->reader.failed; i++)
        read_kernel(d, &kernels[i]);
    d->reader.failed |= count == 0;
    source->kernels = kernels;
    source->kernel_count = count;
}

static void read_sites(decoding *d, kiln__artifact_source *source)
{
    const size_t count = kiln__read_count(&d->reader, 1);
    kiln_site_info *sites =
        kiln__arena_allocate_array(&d->arena, count + 1, sizeof *sites);

    for (size_t i = 0; sites != NULL && i < count && !d->reader.failed; i++) {
        sites[i].name = read_name(d);
        sites[i].offset = kiln__read_u64(&d->reader);
        sites[i].size = read_u32(d);
        sites[i].strategy = read_u32(d);
    }
    source->sites = sites;
    source->site_count = count;
}

static kiln_status decode(const kiln_artifact **out, const kiln_alloc *alloc,
                          const kiln__entry *entry, kiln_blob *lent)
{
    kiln__artifact_source source = {
        .lent = lent,
        .key = entry->key.digest,
        .encoded_key = entry->key.encoded,
        .encoded_key_size = entry->key.encoded_size,
        .relocation = entry->relocation,
        .bytes = entry->payload,
        .size = entry->payload_size,
        .compile_ns = entry->build_ns,
    };
    kiln_status status = KILN_ECORRUPT;
    kiln__span_of_bytes reports, facts, deferred;
    decoding d;

    kiln__arena_init(&d.arena, alloc);
    kiln__reader_init(&d.reader, entry->meta, entry->meta_size);
    d.reader.failed |= kiln__read_u64(&d.reader) != KILN__META_BINARY;
    source.format = read_name(&d);
    source.target = read_name(&d);
    source.toolchain =
        kiln__arena_string(&d.arena, entry->toolchain, entry->toolchain_size);
    read_kernels(&d, &source);
    read_sites(&d, &source);
    reports = kiln__read_bytes(&d.reader);
    source.reports = reports.data;
    source.report_size = reports.size;
    facts = kiln__read_bytes(&d.reader);
    source.facts = facts.data;
    source.fact_size = facts.size;
    deferred = kiln__read_bytes(&d.reader);
    source.deferred = deferred.data;
    source.deferred_size = deferred.size;
    if (kiln__reader_is_done(&d.reader) && !d.arena.failed)
        status = kiln__artifact_new(out, &source);
    kiln__arena_dispose(&d.arena);
    return status;
}

kiln_status kiln__artifact_decode(const kiln_artifact **out,
                                  const kiln_alloc *alloc,
                                  const kiln__entry *entry)
{
    return decode(out, alloc, entry, NULL);
}

/* An artifact may outlive the context, whose allocator is gone then. */
kiln_status kiln__artifact_take(const kiln_artifact **out,
                                const kiln_alloc *alloc, kiln__stored *stored)
{
    return decode(out, alloc, &stored->entry,
                  kiln__buffer_is_of_malloc(&stored->bytes) ? &stored->bytes
                                                            : NULL);
}

/* What an artifact deferred is the last field of its meta. */
static size_t size_before_deferred(const kiln_alloc *alloc,
                                   const kiln__entry *entry)
{
    const kiln_artifact *artifact = NULL;
    size_t size = entry->meta_size;

    if (kiln__artifact_decode(&artifact, alloc, entry) == KILN_OK &&
        artifact->deferred_size > 0)
        size -= artifact->deferred_size;
    kiln_artifact_release(artifact);
    return size;
}

int kiln__entries_of_one_artifact(const kiln_alloc *alloc, const kiln__entry *a,
                                  const kiln__entry *b)
{
    const size_t size = size_before_deferred(alloc, a);

    /* The size of the field that may differ is in front of it. */
    return size == size_before_deferred(alloc, b) && size >= sizeof(uint64_t) &&
           memcmp(a->meta, b->meta, size - sizeof(uint64_t)) == 0;
}
