/* test_keys_are_true.c - each key consists of what docs/design/keys.md says,
   and of nothing else. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* LABELS: unit docs */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context/cache_settings.h"
#include "context/keys/key.h"
#include "context/types/types.h"
#include "support/harness.h"

/*
 * A row for each key says of which fields it consists, and in which words the
 * page calls them. The row is encoded here, field by field, and the bytes must
 * be those of key.c; then every input is changed on its own, and they must
 * still be. An input that is a field must change the bytes.
 */

/* ---- inputs ---- */

typedef struct inputs {
    char frontend[16];
    char function[16];
    char types[2][16];
    uint64_t type_count;
    kiln_digest digests[2]; /* the only digest, or the first and the second */
    char text[16], other_text[16];
    char salt[16]; /* "": none */
    int has_no_config;
    kiln_config config;
} inputs;

static char setting_texts[2][8] = {"mine", "other"};

static inputs base(void)
{
    inputs in = {.frontend = "toy 1",
                 .function = "main.f",
                 .types = {"f32", "i64[:]"},
                 .type_count = 2,
                 .digests = {{{1, 2}}, {{3, 4}}},
                 .text = "sinf",
                 .other_text = "cosf",
                 .salt = "mine"};

#define SET_TEXT(member) in.config.member = setting_texts[0]
#define SET_NUMBER(member) in.config.member = 1
#define SET(member, kind, mask) SET_##kind(member);
    KILN__SETTING_MAP(SET)
#undef SET
    return in;
}

/* The objects that key.c takes, made of the inputs. */
typedef struct objects {
    kiln__cache_settings cache;
    kiln_context context;
    kiln_frontend frontend;
    kiln_function function;
    kiln_type types[2];
    const kiln_type *list[2];
    kiln_signature signature;
    kiln_config config;
} objects;

static void make_objects(objects *o, inputs *in)
{
    *o = (objects){.cache = {.salt = in->salt[0] != '\0' ? in->salt : NULL},
                   .context = {.alloc = kiln__malloc},
                   .config = in->config};
    o->context.cache = &o->cache;
    o->config.context = &o->context;
    o->frontend.context = &o->context;
    o->frontend.name = in->frontend;
    o->function.frontend = &o->frontend;
    o->function.name = in->function;
    for (size_t i = 0; i < 2; i++) {
        o->types[i].text = in->types[i];
        o->list[i] = &o->types[i];
    }
    o->signature =
        (kiln_signature){&o->function, o->list, (size_t)in->type_count};
}

/* ---- fields ---- */

typedef enum field_kind {
    NO_FIELD,
    FRONTEND,
    FUNCTION,
    TYPE_COUNT,
    TYPES,
    DIGEST, /* `value`: which of the inputs */
    TEXT,   /* `value`: which of the inputs */
    LITERAL,
    IDENTITY,
    SETTINGS, /* `value`: scopes */
    MAYBE,    /* whether there is a config, then its settings of all scopes */
} field_kind;

typedef struct field {
    field_kind kind;
    const char *phrase; /* on the page; of a LITERAL, its value, too */
    uint32_t value;
} field;

#define TYPED KILN__SCOPE_TYPED
#define RUNTIME KILN__SCOPE_RUNTIME
#define BINARY KILN__SCOPE_BINARY
#define FIELDS_MAX 8

typedef struct row {
    const char *name;
    field fields[FIELDS_MAX];
    int is_unsalted; /* the binary key, which it contains, has the salt */
    kiln_status (*make)(kiln__encoder *out, const objects *o, const inputs *in);
} row;

static kiln_status instance(kiln__encoder *out, const objects *o,
                            const inputs *in)
{
    return kiln__key_instance(out, &o->signature, &o->config, in->digests[0]);
}

static kiln_status program(kiln__encoder *out, const objects *o,
                           const inputs *in)
{
    return kiln__key_program(out, &o->signature, &o->config, in->digests[0]);
}

static kiln_status source(kiln__encoder *out, const objects *o,
                          const inputs *in)
{
    return kiln__key_source(out, &o->frontend, in->text, in->other_text,
                            in->digests[0], in->digests[1]);
}

static kiln_status translation(kiln__encoder *out, const objects *o,
                               const inputs *in)
{
    return kiln__key_translation(out, &o->frontend, in->text, in->digests[0]);
}

static kiln_status runtime(kiln__encoder *out, const objects *o,
                           const inputs *in)
{
    return kiln__key_runtime(out, in->digests[0], &o->config);
}

static kiln_status closure(kiln__encoder *out, const objects *o,
                           const inputs *in)
{
    return kiln__key_closure(out, in->digests[0], in->text, &o->config);
}

static kiln_status binary(kiln__encoder *out, const objects *o,
                          const inputs *in)
{
    return kiln__key_binary(out, in->digests[0], &o->config);
}

static kiln_status native(kiln__encoder *out, const objects *o,
                          const inputs *in)
{
    (void)o;
    return kiln__key_native(out, in->digests[0], in->digests[1], in->text);
}

static kiln_status session(kiln__encoder *out, const objects *o,
                           const inputs *in)
{
    (void)o;
    return kiln__key_session(out, in->digests[0]);
}

static kiln_status attached(kiln__encoder *out, const objects *o,
                            const inputs *in)
{
    return kiln__key_attached(out, &o->context, in->digests[0], in->text,
                              in->has_no_config ? NULL : &o->config);
}

static kiln_status toolchain(kiln__encoder *out, const objects *o,
                             const inputs *in)
{
    return kiln__key_toolchain(out, &o->context, in->text);
}

#define SIGNATURE(of) \
    { \
        {FRONTEND, "frontend", 0}, {SETTINGS, "*typed* settings", TYPED}, \
            {FUNCTION, "function", 0}, {TYPE_COUNT, "number of types", 0}, \
            {TYPES, "each type", 0}, {DIGEST, of, 0}, \
        { \
            NO_FIELD, NULL, 0 \
        } \
    }
#define CODEGEN \
    { \
        IDENTITY, "codegen identity", 0 \
    }

static const row rows[] = {
    {"instance", SIGNATURE("digest of the root method"), 0, instance},
    {"program", SIGNATURE("program digest"), 0, program},
    {"source",
     {{FRONTEND, "frontend", 0},
      {TEXT, "version of core's texts", 0},
      {TEXT, "package", 1},
      {DIGEST, "history of the package", 0},
      {DIGEST, "digest of the text", 1}},
     0,
     source},
    {"translation",
     {{FRONTEND, "frontend", 0},
      CODEGEN,
      {TEXT, "part", 0},
      {DIGEST, "digest that the part is found by", 0}},
     0,
     translation},
    {"runtime",
     {{SETTINGS, "*typed* and *runtime* settings", TYPED | RUNTIME},
      {DIGEST, "typed digest of the function", 0},
      CODEGEN},
     0,
     runtime},
    {"closure",
     {{SETTINGS, "*runtime* settings", RUNTIME},
      {DIGEST, "digest of the library", 0},
      {TEXT, "symbol", 0},
      CODEGEN},
     0,
     closure},
    {"binary",
     {{DIGEST, "job digest", 0},
      {LITERAL, "none", 0},
      {SETTINGS, "*binary* settings", BINARY},
      CODEGEN},
     0,
     binary},
    {"native",
     {{DIGEST, "digest of the binary key", 0},
      {DIGEST, "digest of the artifact's payload", 1},
      {TEXT, "driver and device as they name themselves", 0}},
     1,
     native},
    {"session", {{DIGEST, "digest of the binary key", 0}}, 1, session},
    {"attached",
     {{TEXT, "consumer", 0},
      {DIGEST, "identity of the code instance", 0},
      {MAYBE,
       "whether a config takes part, and if so its *typed*, *runtime* and "
       "*binary* settings",
       TYPED | RUNTIME | BINARY}},
     0,
     attached},
    {"toolchain",
     {{TEXT,
       "the build id of libkiln-codegen, or a tool's name, or its name and "
       "path",
       0}},
     0,
     toolchain},
};

enum { ROWS = sizeof rows / sizeof *rows };

/* ---- the row's own encoding ---- */

#define ADD_TEXT kiln__encode_text
#define ADD_NUMBER kiln__encode_u64

static void add_settings(kiln__encoder *out, const kiln_config *config,
                         uint32_t scopes)
{
#define ADD(member, kind, mask) \
    if ((scopes & (mask)) != 0) { \
        kiln__encode_text(out, #member); \
        ADD_##kind(out, config->member); \
    }
    KILN__SETTING_MAP(ADD)
#undef ADD
}

static void add_types(kiln__encoder *out, const inputs *in)
{
    for (size_t i = 0; i < in->type_count; i++) {
        kiln__encode_text(out, in->types[i]);
        kiln__encode_text(out, NULL); /* package, name, definition, id */
        kiln__encode_text(out, NULL);
        kiln__encode_digest(out, (kiln_digest){{0}});
        kiln__encode_digest(out, (kiln_digest){{0}});
    }
}

static void add_field(kiln__encoder *out, const field *f, const inputs *in)
{
    switch (f->kind) {
    case FRONTEND:
        kiln__encode_text(out, in->frontend);
        break;
    case FUNCTION:
        kiln__encode_text(out, in->function);
        break;
    case TYPE_COUNT:
        kiln__encode_u64(out, in->type_count);
        break;
    case TYPES:
        add_types(out, in);
        break;
    case DIGEST:
        kiln__encode_digest(out, in->digests[f->value]);
        break;
    case TEXT:
        kiln__encode_text(out, f->value == 0 ? in->text : in->other_text);
        break;
    case LITERAL:
        kiln__encode_text(out, f->phrase);
        break;
    case IDENTITY:
        kiln__encode_text(out, kiln__codegen_identity());
        break;
    case SETTINGS:
        add_settings(out, &in->config, f->value);
        break;
    case MAYBE:
        kiln__encode_u64(out, !in->has_no_config);
        if (!in->has_no_config)
            add_settings(out, &in->config, f->value);
        break;
    case NO_FIELD:
        fail();
    }
}

static void encode_row(kiln__encoder *out, const row *r, const inputs *in)
{
    kiln__encode_text(out, r->name);
    kiln__encode_u64(out, KILN__KEY_SCHEMA);
    for (size_t i = 0; r->fields[i].kind != NO_FIELD; i++)
        add_field(out, &r->fields[i], in);
    if (!r->is_unsalted && in->salt[0] != '\0')
        kiln__encode_text(out, in->salt);
}

/* Compares key.c's bytes with the row's, and adds them to `key`. */
static void check(kiln__encoder *key, const row *r, inputs *in,
                  const char *what)
{
    kiln__encoder expected;
    objects o;

    make_objects(&o, in);
    kiln__encoder_init(key, &kiln__malloc);
    kiln__encoder_init(&expected, &kiln__malloc);
    assert_ok(r->make(key, &o, in));
    encode_row(&expected, r, in);
    if (key->size != expected.size ||
        memcmp(key->bytes, expected.bytes, key->size) != 0)
        fail_msg("key %s, %s: it is not encoded as the table says", r->name,
                 what);
    kiln__encoder_dispose(&expected);
}

/* ---- changes ---- */

static int has(const row *r, field_kind kind, uint32_t value)
{
    for (size_t i = 0; r->fields[i].kind != NO_FIELD; i++)
        if (r->fields[i].kind == kind && r->fields[i].value == value)
            return 1;
    return 0;
}

static uint32_t scopes_of(const row *r)
{
    for (size_t i = 0; r->fields[i].kind != NO_FIELD; i++)
        if (r->fields[i].kind == SETTINGS || r->fields[i].kind == MAYBE)
            return r->fields[i].value;
    return 0;
}

/* Checks the changed inputs; `matters` says whether the key must differ. */
static void changed(const row *r, const kiln__encoder *before, inputs *in,
                    int matters, const char *what)
{
    kiln__encoder after;
    int differs;

    check(&after, r, in, what);
    differs = after.size != before->size ||
              memcmp(after.bytes, before->bytes, after.size) != 0;
    kiln__encoder_dispose(&after);
    if (differs != matters)
        fail_msg("key %s: another %s %s", r->name, what,
                 matters ? "changes nothing" : "changes it");
}

#define CHANGED(member, matters) \
    do { \
        inputs in = base(); \
        strcpy(in.member, "changed"); \
        changed(r, &before, &in, (matters), #member); \
    } while (0)

static void texts_of_others_change_it(const row *r)
{
    inputs all = base();
    kiln__encoder before;

    check(&before, r, &all, "as it is");
    CHANGED(frontend, has(r, FRONTEND, 0));
    CHANGED(function, has(r, FUNCTION, 0));
    CHANGED(types[0], has(r, TYPES, 0));
    CHANGED(types[1], has(r, TYPES, 0));
    CHANGED(text, has(r, TEXT, 0));
    CHANGED(other_text, has(r, TEXT, 1));
    CHANGED(salt, !r->is_unsalted);
    all.salt[0] = '\0';
    changed(r, &before, &all, !r->is_unsalted, "salt, which is none,");
    kiln__encoder_dispose(&before);
}

static void numbers_change_it(const row *r)
{
    inputs in = base();
    kiln__encoder before;

    check(&before, r, &in, "as it is");
    for (uint32_t i = 0; i < 2; i++) {
        in.digests[i].bytes[31] = 9;
        changed(r, &before, &in, has(r, DIGEST, i), "digest");
        in = base();
    }
    in.type_count = 1;
    changed(r, &before, &in, has(r, TYPE_COUNT, 0), "number of types");
    in = base();
    in.has_no_config = 1;
    changed(r, &before, &in, has(r, MAYBE, TYPED | RUNTIME | BINARY), "config");
    kiln__encoder_dispose(&before);
}

static void settings_change_it(const row *r)
{
    const uint32_t scopes = scopes_of(r);
    inputs in = base();
    kiln__encoder before;

    check(&before, r, &in, "as it is");
#define OTHER_TEXT(member) in.config.member = setting_texts[1]
#define OTHER_NUMBER(member) in.config.member = 2
#define OTHER(member, kind, mask) \
    OTHER_##kind(member); \
    changed(r, &before, &in, (scopes & (mask)) != 0, #member); \
    in = base();
    KILN__SETTING_MAP(OTHER)
#undef OTHER
    kiln__encoder_dispose(&before);
}

static void keys_have_the_fields_of_the_table_only(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        texts_of_others_change_it(&rows[i]);
        numbers_change_it(&rows[i]);
        settings_change_it(&rows[i]);
    }
}

/* ---- the page, and key.h ---- */

static char *read_whole(const char *path)
{
    char *text = calloc(1, 1 << 20);
    FILE *file = fopen(path, "rb");

    assert_non_null(text);
    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;

    for (; (text = strstr(text, what)) != NULL; text++)
        count++;
    return count;
}

static void the_page_has_the_same_table(void **state)
{
    char *page = read_whole(KILN_SOURCE_FOLDER "/docs/design/keys.md");
    char *table = strstr(page, "\n| Key | Fields |");
    char *end;

    (void)state;
    assert_non_null(table);
    end = strstr(table, "\n\n");
    assert_non_null(end);
    *end = '\0';
    for (size_t i = 0; i < ROWS; i++) {
        char line[1024];
        int size = snprintf(line, sizeof line, "\n| %s | ", rows[i].name);

        for (const field *f = rows[i].fields; f->kind != NO_FIELD; f++)
            size += snprintf(line + size, sizeof line - (size_t)size,
                             f->kind == LITERAL ? "%sthe text `%s`" : "%s%s",
                             f > rows[i].fields ? ", " : "", f->phrase);
        assert_true((size_t)size < sizeof line);
        if (strstr(table, line) == NULL)
            fail_msg("docs/design/keys.md has no row%s", line);
    }
    assert_int_equal(count_of(table + 1, "\n| "), ROWS);
    free(page);
}

/* "the owner token, and with it the instance, ... and attached keys" */
static void the_page_names_the_keys_of_each_scope(void **state)
{
    static const struct {
        const char *name;
        uint32_t scope;
    } scopes[] = {{"typed", TYPED}, {"runtime", RUNTIME}, {"binary", BINARY}};
    char *page = read_whole(KILN_SOURCE_FOLDER "/docs/design/keys.md");

    (void)state;
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        char begin[32], name[32], line[512];
        const char *at;

        snprintf(begin, sizeof begin, "\n| %s | the ", scopes[i].name);
        at = strstr(page, begin);
        assert_non_null(at);
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
        for (size_t k = 0; k < ROWS; k++) {
            const int is = (scopes_of(&rows[k]) & scopes[i].scope) != 0;

            snprintf(name, sizeof name, " %s", rows[k].name);
            if ((strstr(line + strlen(begin) - 5, name) != NULL) != is)
                fail_msg("scope %s and key %s: the page says otherwise",
                         scopes[i].name, rows[k].name);
        }
    }
    free(page);
}

static void every_key_has_a_row(void **state)
{
    char *header = read_whole(KILN_SOURCE_FOLDER "/src/context/keys/key.h");

    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        char name[64];

        snprintf(name, sizeof name, "kiln__key_%s(kiln__encoder *",
                 rows[i].name);
        if (strstr(header, name) == NULL)
            fail_msg("key.h declares no %s", name);
    }
    /* kiln__key_settings() is a part of others. */
    assert_int_equal(count_of(header, "(kiln__encoder *"), ROWS + 1);
    free(header);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_have_the_fields_of_the_table_only),
        cmocka_unit_test(the_page_has_the_same_table),
        cmocka_unit_test(the_page_names_the_keys_of_each_scope),
        cmocka_unit_test(every_key_has_a_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
