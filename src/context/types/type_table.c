/* type_table.c - the table that interns types. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/data/arena.h"
#include "base/data/array.h"
#include "base/data/map.h"
#include "base/error.h"
#include "base/system/thread.h"
#include "context/types/types.h"

/*
 * A caller makes a type by filling a draft on the stack, whose pointers still
 * belong to the caller. The draft's identity is written in the encoding of
 * keys, with child types as their ids. The digest of the identity is the type's
 * id, except for scalars. Under the lock the table looks the id up and compares
 * identities in full. Only a new type is copied into the arena, with everything
 * that it points to. If memory runs out during the copy, a part of the arena
 * stays unused until the end. Scalars are made with the table; drafts are of
 * other kinds.
 */

struct kiln__types {
    kiln__mutex lock;
    kiln__arena arena;
    kiln__map by_id;   /* -> kiln_type */
    kiln__map foreign; /* digest of the text -> the latest type of that text */
    kiln_type scalars[KILN_TYPE_KIND_COUNT]; /* and NONE; by kind */
    kiln__fork_guard guard;
};

/* ---- identity ---- */

static void encode_struct(kiln__encoder *encoder, const kiln_type *type)
{
    kiln__encode_text(encoder, type->package);
    kiln__encode_text(encoder, type->name);
    kiln__encode_digest(encoder, type->definition);
    kiln__encode_u64(encoder, type->parameter_count);
    for (size_t i = 0; i < type->parameter_count; i++)
        kiln__encode_digest(encoder, type->parameters[i]->id);
}

static void encode_fields(kiln__encoder *encoder, const kiln_type *type)
{
    kiln__encode_u64(encoder, type->field_count);
    for (size_t i = 0; i < type->field_count; i++) {
        kiln__encode_text(encoder, type->fields[i].name);
        kiln__encode_digest(encoder, type->fields[i].type->id);
    }
}

static void encode_function(kiln__encoder *encoder,
                            const kiln_function *function)
{
    kiln__encode_text(encoder, function->frontend->name);
    kiln__encode_text(encoder, function->name);
}

/* Encodes every member of a draft that distinguishes types; absent ones are
   zero. */
static void encode_identity(kiln__encoder *encoder, const kiln_type *type)
{
    kiln__encode_text(encoder, kiln__kind_name(type->kind));
    if (type->element != NULL)
        kiln__encode_digest(encoder, type->element->id);
    kiln__encode_u64(encoder, type->rank);
    kiln__encode_u64(encoder, type->strided);
    kiln__encode_u64(encoder, type->length);
    kiln__encode_i64(encoder, type->value);
    if (type->function != NULL)
        encode_function(encoder, type->function);
    encode_struct(encoder, type);
    encode_fields(encoder, type);
    if (type->kind == KILN_TYPE_FOREIGN) {
        kiln__encode_u64(encoder, type->size);
        kiln__encode_u64(encoder, type->alignment);
    }
}

void kiln__type_encode(kiln__encoder *encoder, const kiln_type *type)
{
    kiln__encode_text(encoder, type->text);
    kiln__encode_text(encoder, type->package);
    kiln__encode_text(encoder, type->name);
    kiln__encode_digest(encoder, type->definition);
    kiln__encode_digest(encoder, type->id);
}

/* ---- from draft to type, with the lock held ---- */

static const kiln__type_field *copy_fields(kiln__arena *arena,
                                           const kiln_type *draft)
{
    kiln__type_field *fields;

    if (draft->field_count == 0)
        return NULL;
    fields = kiln__arena_copy(arena, draft->fields,
                              draft->field_count * sizeof *fields);
    for (size_t i = 0; fields != NULL && i < draft->field_count; i++)
        fields[i].name = kiln__arena_text(arena, fields[i].name);
    return fields;
}

static kiln_type *type_copy(kiln__arena *arena, const kiln_type *draft)
{
    kiln_type *type = kiln__arena_copy(arena, draft, sizeof *draft);

    if (type == NULL)
        return NULL;
    type->package = kiln__arena_text(arena, draft->package);
    type->name = kiln__arena_text(arena, draft->name);
    type->fields = copy_fields(arena, draft);
    type->parameters = draft->parameter_count == 0
                           ? NULL
                           : kiln__arena_copy(arena, draft->parameters,
                                              draft->parameter_count *
                                                  sizeof *draft->parameters);
    type->identity =
        kiln__arena_copy(arena, draft->identity, draft->identity_size);
    return type;
}

/* KILN_EINVAL when the text is too long. */
static kiln_status set_text(kiln__arena *arena, kiln_type *type)
{
    kiln__text text;
    kiln_status status = KILN_OK;

    kiln__text_init(&text, arena->alloc);
    kiln__type_print(&text, type);
    if (text.failed)
        status = KILN_ENOMEM;
    else if (text.size > KILN__TYPE_TEXT_MAX)
        status = KILN_EINVAL;
    else
        type->text = kiln__arena_string(arena, text.bytes, text.size);
    kiln__text_dispose(&text);
    return status;
}

static kiln_type *same_identity(kiln_type *type, const kiln_type *draft)
{
    while (type != NULL &&
           (type->identity_size != draft->identity_size ||
            memcmp(type->identity, draft->identity, draft->identity_size) != 0))
        type = type->alias;
    return type;
}

static kiln_status type_add(const kiln_type **out, struct kiln__types *types,
                            const kiln_type *draft, kiln_type *alias)
{
    kiln__arena *arena = &types->arena;
    kiln_type *type;

    arena->failed = 0;
    type = type_copy(arena, draft);
    if (type == NULL || arena->failed)
        return KILN_ENOMEM;
    KILN_TRY(set_text(arena, type));
    type->alias = alias;
    if (arena->failed || !kiln__map_set(&types->by_id, type->id, type))
        return KILN_ENOMEM;
    if (type->kind == KILN_TYPE_FOREIGN &&
        !kiln__map_set(&types->foreign, kiln__map_text(type->text), type)) {
        (void)kiln__map_remove(&types->by_id, type->id);
        if (alias != NULL)
            (void)kiln__map_set(&types->by_id, type->id, alias);
        return KILN_ENOMEM;
    }
    *out = type;
    return KILN_OK;
}

static kiln_status type_find_or_add(const kiln_type **out,
                                    struct kiln__types *types,
                                    const kiln_type *draft)
{
    kiln_type *first = kiln__map_get(&types->by_id, draft->id);
    const kiln_type *known = same_identity(first, draft);

    if (known == NULL)
        return type_add(out, types, draft, first);
    *out = known;
    return KILN_OK;
}

static kiln_status type_intern(const kiln_type **out, kiln_context *context,
                               kiln_type *draft)
{
    struct kiln__types *types = context->types;
    kiln__encoder identity;
    kiln_status status = KILN_ENOMEM;

    kiln__encoder_init(&identity, &context->alloc);
    encode_identity(&identity, draft);
    if (!identity.failed) {
        draft->context = context;
        draft->identity = identity.bytes;
        draft->identity_size = identity.size;
        draft->id = kiln__encoder_digest(&identity);
        draft->hash = kiln__digest_word(draft->id);
        kiln__mutex_lock(&types->lock);
        status = type_find_or_add(out, types, draft);
        kiln__mutex_unlock(&types->lock);
    }
    kiln__encoder_dispose(&identity);
    return status;
}

/* ---- the module ---- */

/* A scalar's id is its name, so that it costs no hashing in each context. It
   cannot equal the digest of an identity: that would be a preimage. */
static kiln_digest scalar_id(const char *name)
{
    kiln_digest id = {{0}};

    memcpy(id.bytes, name, strlen(name));
    return id;
}

static int is_scalar_or_none(int32_t kind)
{
    return kind == KILN_TYPE_NONE || kiln__kind_is_scalar(kind);
}

static void add_scalars(kiln_context *context)
{
    for (int32_t kind = 0; kind < KILN_TYPE_KIND_COUNT; kind++) {
        kiln_type *type = &context->types->scalars[kind];

        if (!is_scalar_or_none(kind))
            continue;
        type->context = context;
        type->kind = kind;
        type->text = kiln__kind_name(kind);
        kiln__type_layout_scalar(type);
        type->id = scalar_id(type->text);
        type->hash = (uint64_t)kind * UINT64_C(0x9e3779b97f4a7c15);
    }
}

kiln_status kiln__types_new(kiln_context *context)
{
    struct kiln__types *types = kiln__allocate(&context->alloc, sizeof *types);

    if (types == NULL)
        return KILN_ENOMEM;
    if (kiln__mutex_init(&types->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, types, sizeof *types);
        return KILN_ENOMEM;
    }
    kiln__arena_init(&types->arena, &context->alloc);
    kiln__map_init(&types->by_id, &context->alloc);
    kiln__map_init(&types->foreign, &context->alloc);
    types->guard.mutex = &types->lock;
    kiln__fork_add(&context->fork, &types->guard);
    context->types = types;
    add_scalars(context);
    return KILN_OK;
}

void kiln__types_free(kiln_context *context)
{
    struct kiln__types *types = context->types;

    if (types == NULL)
        return;
    kiln__map_dispose(&types->by_id);
    kiln__map_dispose(&types->foreign);
    kiln__arena_dispose(&types->arena);
    kiln__fork_remove(&context->fork, &types->guard);
    kiln__mutex_dispose(&types->lock);
    kiln__deallocate(&context->alloc, types, sizeof *types);
    context->types = NULL;
}

/* ---- asking ---- */

kiln_status kiln__type_make(const kiln_type **out, kiln_context *context,
                            kiln_type *draft, kiln_error **error)
{
    kiln_status status = type_intern(out, context, draft);

    if (status == KILN_ENOMEM)
        return kiln__error_no_memory(error);
    if (status != KILN_OK)
        return kiln__error_set(error, status,
                               "the type's text would be longer than %zu bytes",
                               KILN__TYPE_TEXT_MAX);
    return KILN_OK;
}

const kiln_type *kiln_type_scalar(const kiln_context *context, int32_t kind)
{
    if (context == NULL || !is_scalar_or_none(kind))
        return NULL;
    return &context->types->scalars[kind];
}

const kiln_type *kiln__type_foreign_find(kiln_context *context,
                                         const char *text, size_t size)
{
    struct kiln__types *types = context->types;
    const kiln_type *found;

    kiln__mutex_lock(&types->lock);
    found = kiln__map_get(&types->foreign, kiln__map_bytes(text, size));
    kiln__mutex_unlock(&types->lock);
    if (found != NULL &&
        (strlen(found->text) != size || memcmp(found->text, text, size) != 0))
        return NULL;
    return found;
}
