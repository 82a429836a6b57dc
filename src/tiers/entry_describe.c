/* entry_describe.c - shows the content of the tiers' entries to people. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "tiers/entry_describe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/data/decoder.h"
#include "context/keys/key.h"
#include "kiln/kernel.h"
#include "stores/entry_versions.h"
#include "tiers/binary/artifact_meta.h"
#include "tiers/binary/deferred.h"
#include "tiers/entry_writer.h"

/*
 * The counterpart of stored_typed.c, stored_program.c, artifact_meta.c,
 * provenance.c and frontend/program/text_entry.c, which define the layout of
 * their meta after a version number. Meta of another version, or meta that was
 * cut short, is shown as far as it is understood.
 */

/* Returns 0 for kinds whose meta does not begin with a version. */
static uint64_t meta_version(int32_t kind)
{
#define VERSION_OF(name, version) [KILN__ENTRY_##name] = (version),
    static const uint64_t versions[KILN__ENTRY_KIND_COUNT] = {
        KILN__META_MAP(VERSION_OF)};
#undef VERSION_OF

    return kind >= 0 && kind < KILN__ENTRY_KIND_COUNT ? versions[kind] : 0;
}

typedef struct showing {
    kiln__reader reader;
    kiln__text text;
    kiln_key key; /* of the entry */
    kiln_field_fn see;
    void *env;
} showing;

__attribute__((format(printf, 3, 4))) static void show(showing *s,
                                                       const char *name,
                                                       const char *format, ...)
{
    char value[512];
    va_list arguments;

    if (s->reader.failed)
        return;
    va_start(arguments, format);
    (void)vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    s->see(s->env, "meta", name, value);
}

/* ---- fields ---- */

static void add_span(kiln__text *out, kiln__span_of_bytes span)
{
    kiln__text_add_n(out, span.data != NULL ? span.data : "", span.size);
}

static const char *text_of(showing *s, kiln__span_of_bytes span)
{
    s->text.size = 0;
    add_span(&s->text, span);
    return s->text.failed ? "" : s->text.bytes;
}

static void take_text(showing *s, const char *name)
{
    const char *text = text_of(s, kiln__read_text(&s->reader));

    if (!s->reader.failed)
        s->see(s->env, "meta", name, text);
}

static void skip_digest(showing *s)
{
    (void)kiln__read_digest(&s->reader);
}

static void take_digest(showing *s, const char *name)
{
    char text[KILN_DIGEST_TEXT_SIZE];

    kiln_digest_text(kiln__read_digest(&s->reader), text);
    show(s, name, "%s", text);
}

static void take_number(showing *s, const char *name)
{
    const uint64_t number = kiln__read_u64(&s->reader);

    show(s, name, "%llu", (unsigned long long)number);
}

static void take_flag(showing *s, const char *name)
{
    show(s, name, "%s", kiln__read_u64(&s->reader) ? "yes" : "no");
}

static void take_texts(showing *s, const char *name)
{
    const size_t count = kiln__read_count(&s->reader, 1);

    for (size_t i = 0; i < count && !s->reader.failed; i++)
        take_text(s, name);
}

/* ---- kinds ---- */

static void skip_queries(showing *s)
{
    const size_t count = kiln__read_count(&s->reader, 1);

    for (size_t i = 0; i < count && !s->reader.failed; i++)
        (void)kiln__query_read(&s->reader);
    show(s, "queries", "%zu", count);
}

static void take_uses(showing *s)
{
    const size_t count = kiln__read_count(&s->reader, 1);

    for (size_t i = 0; i < count && !s->reader.failed; i++) {
        take_text(s, "takes from a library");
        skip_digest(s);
    }
}

static void take_sites(showing *s)
{
    const size_t count = kiln__read_count(&s->reader, 1);

    for (size_t i = 0; i < count && !s->reader.failed; i++) {
        take_text(s, "refers to host object");
        (void)kiln__read_u64(&s->reader);
    }
}

/* Adds a type's text; its id is of no use to people. */
static void add_type(showing *s)
{
    add_span(&s->text, kiln__read_text(&s->reader));
    skip_digest(s);
}

/* True if the entry belongs to this frontend, whose name is in the key after
   name and schema. */
static int is_of(const showing *s, kiln__span_of_bytes frontend)
{
    kiln__span_of_bytes own;
    kiln__reader reader;

    kiln__reader_init(&reader, s->key.encoded, s->key.encoded_size);
    (void)kiln__read_text(&reader);
    (void)kiln__read_u64(&reader);
    own = kiln__read_text(&reader);
    return own.data != NULL && frontend.data != NULL &&
           own.size == frontend.size &&
           memcmp(own.data, frontend.data, own.size) == 0;
}

static void take_edge(showing *s, const char *what)
{
    kiln__span_of_bytes frontend;
    size_t count;

    s->text.size = 0;
    frontend = kiln__read_text(&s->reader);
    add_span(&s->text, kiln__read_text(&s->reader));
    kiln__text_add(&s->text, "(");
    count = kiln__read_count(&s->reader, 1);
    for (size_t i = 0; i < count && !s->reader.failed; i++) {
        kiln__text_add(&s->text, i ? ", " : "");
        add_type(s);
    }
    kiln__text_add(&s->text, ")");
    skip_digest(s);
    kiln__text_add(&s->text, " -> ");
    add_type(s);
    if (!is_of(s, frontend)) {
        kiln__text_add(&s->text, ", of ");
        add_span(&s->text, frontend);
    }
    if (!s->reader.failed && !s->text.failed)
        s->see(s->env, "meta", what, s->text.bytes);
}

static void take_edges(showing *s, const char *what)
{
    const size_t count = kiln__read_count(&s->reader, 1);

    for (size_t i = 0; i < count && !s->reader.failed; i++)
        take_edge(s, what);
}

static void show_instance(showing *s)
{
    take_digest(s, "typed digest");
    take_digest(s, "identity");
    take_text(s, "name");
    take_text(s, "result");
    skip_digest(s);
    take_flag(s, "runtime function");
    skip_queries(s);
    take_uses(s);
    take_sites(s);
    take_edges(s, "calls");
    take_edges(s, "depends on");
}

static void show_program(showing *s)
{
    take_digest(s, "typed digest");
    take_digest(s, "root method");
    take_text(s, "name");
    take_number(s, "queries");
    (void)kiln__read_bytes(&s->reader);
    take_number(s, "taken from libraries");
}

static void show_source(showing *s)
{
    take_digest(s, "context");
    take_number(s, "methods");
    take_flag(s, "adds to other packages");
    take_texts(s, "imports");
    take_texts(s, "defines");
}

/* ---- binaries ---- */

static void show_kernel(showing *s, const kiln_kernel_info *kernel)
{
    const uint32_t *group = kernel->required_group_size;

    show(s, "kernel", "%s", kernel->method);
    show(s, "symbol", "%s", kernel->name);
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const kiln_argument_info *argument = &kernel->arguments[i];

        show(s, "takes", "%s: %u bytes at %u", argument->type,
             (unsigned)argument->size, (unsigned)argument->offset);
    }
    show(s, "hidden arguments", "%u", (unsigned)kernel->hidden_arguments);
    show(s, "allocates", "%s", kernel->allocates ? "yes" : "no");
    show(s, "local bytes", "%u", (unsigned)kernel->static_local_bytes);
    show(s, "dynamic local memory", "%s", kernel->dynamic_local ? "yes" : "no");
    show(s, "any block", "%s", kernel->any_block ? "yes" : "no");
    show(s, "inner dimension", "%u", (unsigned)kernel->inner_dimension);
    show(s, "private bytes", "%u", (unsigned)kernel->private_bytes);
    show(s, "stack bytes", "%u", (unsigned)kernel->stack_bytes);
    show(s, "registers", "%u", (unsigned)kernel->registers);
    show(s, "spilled bytes", "%u", (unsigned)kernel->spill_bytes);
    show(s, "required group", "%u x %u x %u", (unsigned)group[0],
         (unsigned)group[1], (unsigned)group[2]);
    show(s, "sub-group", "%u", (unsigned)kernel->sub_group_size);
    show(s, "can raise", "%s", kernel->can_fail ? "yes" : "no");
}

static kiln_status show_binary(showing *s, const kiln_alloc *alloc,
                               const kiln__entry *entry)
{
    const kiln_artifact *artifact = NULL;
    const kiln_status status = kiln__artifact_decode(&artifact, alloc, entry);

    if (status != KILN_OK)
        return status == KILN_ECORRUPT ? KILN_OK : status;
    show(s, "format", "%s", kiln_artifact_format(artifact));
    show(s, "target", "%s", kiln_artifact_target(artifact));
    for (size_t i = 0; i < kiln_artifact_kernel_count(artifact); i++)
        show_kernel(s, kiln_artifact_kernel(artifact, i));
    if (artifact->deferred_size > 0)
        show(s, "second body", "%s",
             kiln__deferred_is_open(artifact) ? "to be made" : "made");
    for (size_t i = 0; i < kiln_artifact_site_count(artifact); i++) {
        const kiln_site_info *site = kiln_artifact_site(artifact, i);

        show(s, "site", "%s at %llu", site->name,
             (unsigned long long)site->offset);
    }
    kiln_artifact_release(artifact);
    return KILN_OK;
}

static void show_native(showing *s)
{
    take_text(s, "target");
    take_text(s, "kernel");
}

static void show_session(showing *s)
{
    show_native(s);
    take_text(s, "stays in its process");
}

/* ---- all of it ---- */

static void show_fields(showing *s, int32_t kind)
{
    if (kind == KILN__ENTRY_TOOLCHAIN) {
        take_text(s, "file");
        take_text(s, "build");
        return;
    }
    if (kiln__read_u64(&s->reader) != meta_version(kind))
        return;
    if (kind == KILN__ENTRY_INSTANCE)
        show_instance(s);
    else if (kind == KILN__ENTRY_PROGRAM)
        show_program(s);
    else if (kind == KILN__ENTRY_SOURCE)
        show_source(s);
    else if (kind == KILN__ENTRY_NATIVE)
        show_native(s);
    else if (kind == KILN__ENTRY_SESSION)
        show_session(s);
    else if (kind == KILN__ENTRY_TRANSLATION)
        take_text(s, "compiler");
}

kiln_status kiln__entry_describe(const kiln_alloc *alloc,
                                 const kiln__entry *entry, kiln_field_fn see,
                                 void *env)
{
    showing s = {.key = entry->key, .see = see, .env = env};
    kiln_status status = KILN_OK;

    kiln__text_init(&s.text, alloc);
    kiln__reader_init(&s.reader, entry->meta, entry->meta_size);
    if (entry->kind == KILN__ENTRY_BINARY)
        status = show_binary(&s, alloc, entry);
    else if (entry->meta_size > 0)
        show_fields(&s, entry->kind);
    if (s.text.failed)
        status = KILN_ENOMEM;
    kiln__text_dispose(&s.text);
    return status;
}

kiln_digest kiln__entry_typed(const kiln__entry *entry)
{
    const kiln_digest none = {0};
    kiln__reader reader;

    kiln__reader_init(&reader, entry->meta, entry->meta_size);
    if ((entry->kind != KILN__ENTRY_INSTANCE &&
         entry->kind != KILN__ENTRY_PROGRAM) ||
        kiln__read_u64(&reader) != meta_version(entry->kind))
        return none;
    return kiln__read_digest(&reader);
}

/* ---- titles ---- */

/* Some kinds of entries have their name in the key. */
static void pick_name(void *env, const char *section, const char *field,
                      const char *value)
{
    (void)section;
    if (strcmp(field, "symbol") == 0 || strcmp(field, "package") == 0 ||
        strcmp(field, "consumer") == 0)
        kiln__text_add(env, value);
}

void kiln__entry_title(kiln__text *name, kiln__text *target,
                       const kiln__entry *entry)
{
    kiln__reader reader;

    kiln__text_add(name, "");
    kiln__text_add(target, "");
    if (kiln__key_describe(name->alloc, entry->key.encoded,
                           entry->key.encoded_size, pick_name, name) != KILN_OK)
        name->failed = 1;
    kiln__reader_init(&reader, entry->meta, entry->meta_size);
    if (entry->kind == KILN__ENTRY_TOOLCHAIN) {
        add_span(name, kiln__read_text(&reader));
        return;
    }
    if (kiln__read_u64(&reader) != meta_version(entry->kind))
        return;
    if (entry->kind == KILN__ENTRY_BINARY) {
        (void)kiln__read_text(&reader);
        add_span(target, kiln__read_text(&reader));
        (void)kiln__read_u64(&reader);
        (void)kiln__read_text(&reader);
        add_span(name, kiln__read_text(&reader));
    } else if (entry->kind == KILN__ENTRY_NATIVE ||
               entry->kind == KILN__ENTRY_SESSION) {
        add_span(target, kiln__read_text(&reader));
        add_span(name, kiln__read_text(&reader));
    } else if (entry->kind == KILN__ENTRY_INSTANCE ||
               entry->kind == KILN__ENTRY_PROGRAM) {
        (void)kiln__read_digest(&reader);
        (void)kiln__read_digest(&reader);
        add_span(name, kiln__read_text(&reader));
    }
}
