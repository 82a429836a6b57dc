/* key_fields.c - shows an encoded key field by field. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "base/data/array.h"
#include "base/data/decoder.h"
#include "context/keys/key.h"

/*
 * The counterpart of key.c: a table says which fields a key of each name has,
 * in the order in which key.c writes them. A key with another name or schema,
 * or one that does not fit the table, is shown with numbered fields; the
 * encoding tells the type of each.
 */

typedef enum part_kind {
    FIELD,     /* any value */
    SETTINGS,  /* pairs of a name and a value */
    MAYBE,     /* whether there are settings, and the settings */
    ARGUMENTS, /* a count and that many types */
    END
} part_kind;

typedef struct part {
    part_kind kind;
    const char *name;
    uint32_t scopes;
} part;

#define SETTINGS_OF(mask) \
    { \
        SETTINGS, NULL, (mask) \
    }
#define FIELD_OF(name) \
    { \
        FIELD, (name), 0 \
    }

#define PARTS_MAX 8

static const struct shape {
    const char *name;
    part parts[PARTS_MAX];
} shapes[] = {
    {"instance",
     {FIELD_OF("frontend"),
      SETTINGS_OF(KILN__SCOPE_TYPED),
      FIELD_OF("function"),
      {ARGUMENTS, NULL, 0},
      FIELD_OF("root method"),
      {END, NULL, 0}}},
    {"program",
     {FIELD_OF("frontend"),
      SETTINGS_OF(KILN__SCOPE_TYPED),
      FIELD_OF("function"),
      {ARGUMENTS, NULL, 0},
      FIELD_OF("program text"),
      {END, NULL, 0}}},
    {"binary",
     {FIELD_OF("typed digest"),
      FIELD_OF("runtime library"),
      SETTINGS_OF(KILN__SCOPE_BINARY),
      FIELD_OF("code generator"),
      {END, NULL, 0}}},
    {"native",
     {FIELD_OF("binary key"),
      FIELD_OF("payload"),
      FIELD_OF("driver"),
      {END, NULL, 0}}},
    {"session", {FIELD_OF("binary key"), {END, NULL, 0}}},
    {"runtime",
     {SETTINGS_OF(KILN__SCOPE_TYPED | KILN__SCOPE_RUNTIME),
      FIELD_OF("typed digest"),
      FIELD_OF("code generator"),
      {END, NULL, 0}}},
    {"closure",
     {SETTINGS_OF(KILN__SCOPE_RUNTIME),
      FIELD_OF("library"),
      FIELD_OF("symbol"),
      FIELD_OF("code generator"),
      {END, NULL, 0}}},
    {"attached",
     {FIELD_OF("consumer"),
      FIELD_OF("code instance"),
      {MAYBE, "of a config",
       KILN__SCOPE_TYPED | KILN__SCOPE_RUNTIME | KILN__SCOPE_BINARY},
      {END, NULL, 0}}},
    {"toolchain", {FIELD_OF("of"), {END, NULL, 0}}},
    {"source",
     {FIELD_OF("frontend"),
      FIELD_OF("runtime texts"),
      FIELD_OF("package"),
      FIELD_OF("history"),
      FIELD_OF("text"),
      {END, NULL, 0}}},
    {"translation",
     {FIELD_OF("frontend"),
      FIELD_OF("code generator"),
      FIELD_OF("part"),
      FIELD_OF("of"),
      {END, NULL, 0}}},
};

typedef struct showing {
    kiln__reader reader;
    kiln__text text;
    kiln_field_fn see; /* NULL: only check against the table */
    void *env;
} showing;

/* ---- values ---- */

static void write_digest(kiln__text *out, kiln_digest digest)
{
    char text[KILN_DIGEST_TEXT_SIZE];

    kiln_digest_text(digest, text);
    kiln__text_add(out, text);
}

static void write_bytes(kiln__text *out, kiln__span_of_bytes bytes)
{
    const unsigned char *at = (const unsigned char *)bytes.data;

    for (size_t i = 0; i < bytes.size; i++)
        kiln__text_format(out, "%02x", at[i]);
}

/* Reads the next field, of any type, as text. */
static void read_value(showing *s, const char *name)
{
    const int tag = s->reader.size ? s->reader.bytes[0] : 0;
    kiln__span_of_bytes span;

    s->text.size = 0;
    kiln__text_add(&s->text, "");
    switch (tag) {
    case KILN__TAG_U64:
        kiln__setting_write(&s->text, name, kiln__read_u64(&s->reader));
        break;
    case KILN__TAG_I64:
        kiln__text_format(&s->text, "%lld",
                          (long long)kiln__read_i64(&s->reader));
        break;
    case KILN__TAG_BYTES:
        write_bytes(&s->text, kiln__read_bytes(&s->reader));
        break;
    case KILN__TAG_DIGEST:
        write_digest(&s->text, kiln__read_digest(&s->reader));
        break;
    default: /* a text, or something unreadable */
        span = kiln__read_text(&s->reader);
        if (span.data != NULL)
            kiln__text_add_n(&s->text, span.data, span.size);
        break;
    }
}

static void show(const showing *s, const char *name)
{
    if (s->see != NULL && !s->reader.failed && !s->text.failed)
        s->see(s->env, "key", name, s->text.bytes);
}

static void take_field(showing *s, const char *name)
{
    read_value(s, name);
    show(s, name);
}

/* ---- parts ---- */

#define NAME_MAX_SIZE 64

static size_t settings_in(uint32_t scopes)
{
#define COUNT(member, kind, mask) +(((mask)&scopes) != 0)
    return (size_t)(0 KILN__SETTING_MAP(COUNT));
#undef COUNT
}

static void take_settings(showing *s, uint32_t scopes)
{
    const size_t count = settings_in(scopes);

    for (size_t i = 0; i < count && !s->reader.failed; i++) {
        const kiln__span_of_bytes span = kiln__read_text(&s->reader);
        char name[NAME_MAX_SIZE];

        if (span.data == NULL || span.size >= sizeof name) {
            s->reader.failed = 1;
            return;
        }
        memcpy(name, span.data, span.size);
        name[span.size] = '\0';
        take_field(s, name);
    }
}

/* The argument is: text, package, name, digest of the definition, id. Only text
   and digest are shown: the text contains package and name, and the id follows
   from the others. */
static void take_argument(showing *s, size_t index)
{
    char name[NAME_MAX_SIZE];
    kiln_digest definition;

    (void)snprintf(name, sizeof name, "argument %zu", index + 1);
    take_field(s, name);
    (void)kiln__read_text(&s->reader);
    (void)kiln__read_text(&s->reader);
    definition = kiln__read_digest(&s->reader);
    (void)kiln__read_digest(&s->reader);
    if (kiln__digest_is_zero(definition))
        return;
    s->text.size = 0;
    write_digest(&s->text, definition);
    (void)snprintf(name, sizeof name, "argument %zu's definition", index + 1);
    show(s, name);
}

static void take_arguments(showing *s)
{
    const size_t count = kiln__read_count(&s->reader, 1);

    for (size_t i = 0; i < count && !s->reader.failed; i++)
        take_argument(s, i);
}

static void take_maybe(showing *s, const part *p)
{
    take_field(s, p->name);
    if (s->text.bytes != NULL && strcmp(s->text.bytes, "1") == 0)
        take_settings(s, p->scopes);
}

static void take_part(showing *s, const part *p)
{
    if (p->kind == FIELD)
        take_field(s, p->name);
    else if (p->kind == MAYBE)
        take_maybe(s, p);
    else if (p->kind == SETTINGS)
        take_settings(s, p->scopes);
    else
        take_arguments(s);
}

/* ---- whole keys ---- */

int kiln__key_is_named(const kiln_key *key, const char *name)
{
    kiln__reader reader;
    kiln__span_of_bytes found;

    kiln__reader_init(&reader, key->encoded, key->encoded_size);
    found = kiln__read_text(&reader);
    return found.data != NULL && found.size == strlen(name) &&
           memcmp(found.data, name, found.size) == 0;
}

static const struct shape *find_shape(const char *name, uint64_t schema)
{
    for (size_t i = 0;
         schema == KILN__KEY_SCHEMA && i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, name) == 0)
            return &shapes[i];
    return NULL;
}

/* False when the key does not fit its name; some fields may have been shown
   then. */
static int take_named(showing *s)
{
    const struct shape *shape;

    take_field(s, "key of");
    shape = find_shape(s->text.bytes != NULL ? s->text.bytes : "",
                       kiln__read_u64(&s->reader));
    if (s->reader.failed || shape == NULL)
        return 0;
    for (const part *p = shape->parts; p->kind != END; p++)
        take_part(s, p);
    if (s->reader.size > 0)
        take_field(s, "salt");
    return kiln__reader_is_done(&s->reader);
}

static void take_numbered(showing *s)
{
    for (size_t i = 0; s->reader.size > 0 && !s->reader.failed; i++) {
        char name[NAME_MAX_SIZE];

        (void)snprintf(name, sizeof name, "field %zu", i);
        take_field(s, name);
    }
}

kiln_status kiln__key_describe(const kiln_alloc *alloc, const void *encoded,
                               size_t size, kiln_field_fn see, void *env)
{
    showing s = {.env = env};
    int is_named;
    kiln_status status;

    kiln__text_init(&s.text, alloc);
    kiln__reader_init(&s.reader, encoded, size);
    is_named = take_named(&s);
    kiln__reader_init(&s.reader, encoded, size);
    s.see = see;
    if (is_named)
        (void)take_named(&s);
    else
        take_numbered(&s);
    status = s.text.failed ? KILN_ENOMEM : KILN_OK;
    kiln__text_dispose(&s.text);
    return status;
}

/* ---- for people ---- */

void kiln__setting_write(kiln__text *out, const char *name, uint64_t value)
{
    static const char *const switches[] = {"bounds_checks", "fast_math",
                                           "contract"};

    for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
        if (strcmp(name, switches[i]) == 0) {
            kiln__text_add(out, value == KILN_SWITCH_ON ? "on" : "off");
            return;
        }
    }
    if (strcmp(name, "opt_level") == 0)
        value -= KILN_OPT_0;
    kiln__text_format(out, "%llu", (unsigned long long)value);
}
