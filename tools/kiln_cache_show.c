/* kiln_cache_show.c - kiln cache show, explain: what keys contain. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "kiln_cache.h"

#include <stdio.h>
#include <string.h>

#include "kiln_explain.h"
#include "kiln_settings.h"

/* ---- show ---- */

#define PREFIX_MIN 4

typedef struct showing {
    cache_command *command;
    const char *digest; /* a digest, or the beginning of one */
    size_t found;
    char section[16];
    int status;
} showing;

static void show_field(void *env, const char *section, const char *name,
                       const char *value)
{
    showing *s = env;

    if (s->command->options->json) {
        json_object(&s->command->json, NULL);
        json_text(&s->command->json, "section", section);
        json_text(&s->command->json, "name", name);
        json_text(&s->command->json, "value", value);
        json_end(&s->command->json);
        return;
    }
    if (strcmp(section, s->section) != 0) {
        (void)printf("\n%s\n", section);
        (void)snprintf(s->section, sizeof s->section, "%s", section);
    }
    (void)printf("  %-22s %s\n", name, value);
}

static void show_head(const showing *s, const kiln_cache_entry *entry,
                      const char *digest)
{
    char unused[CACHE_TEXT_SIZE];
    json *out = &s->command->json;

    if (s->command->options->json) {
        json_object(out, NULL);
        json_text(out, "digest", digest);
        json_text(out, "kind", entry->kind);
        json_text(out, "name", entry->name);
        json_text(out, "place", entry->place);
        json_text(out, "fault", entry->fault);
        json_signed(out, "unused_s", cache_unused_s(entry));
        json_array(out, "fields");
        return;
    }
    (void)printf("%s%s %s %s\n", s->found > 1 ? "\n" : "", digest,
                 entry->fault != NULL ? "not believed:" : entry->kind,
                 entry->fault != NULL ? entry->fault : entry->name);
    (void)printf("in %s, not used for %s\n", entry->place,
                 cache_seconds(unused, cache_unused_s(entry)));
}

static int32_t show_entry(void *env, const kiln_cache_entry *entry)
{
    char digest[KILN_DIGEST_TEXT_SIZE];
    showing *s = env;

    kiln_digest_text(entry->digest, digest);
    if (strncmp(digest, s->digest, strlen(s->digest)) != 0)
        return 1;
    s->found++;
    s->section[0] = '\0';
    show_head(s, entry, digest);
    if (kiln_cache_describe(entry, show_field, s) != KILN_OK)
        s->status = tool_complain(TOOL_FAILED, "out of memory");
    if (s->command->options->json) {
        json_end(&s->command->json);
        json_end(&s->command->json);
    }
    return 1;
}

int cache_show(cache_command *c)
{
    showing s = {.command = c, .digest = c->options->words[0]};
    kiln_error *error = NULL;
    kiln_status status;

    if (strlen(s.digest) < PREFIX_MIN ||
        s.digest[strspn(s.digest, "0123456789abcdef")] != '\0')
        return tool_complain(TOOL_USAGE,
                             "show wants a digest, or its first %d digits or "
                             "more, not \"%s\"",
                             PREFIX_MIN, s.digest);
    if (c->options->json)
        json_array(&c->json, NULL);
    status = kiln_cache_each(c->context, NULL, show_entry, &s, &error);
    if (c->options->json)
        json_end(&c->json);
    if (status != KILN_OK)
        return tool_fail(error);
    if (s.found == 0)
        return tool_complain(TOOL_FAILED, "no entry %s", s.digest);
    return s.status;
}

/* ---- explain ---- */

static void explain_json(json *out, const kiln_cache_answer *answer,
                         const char *wanted, const char *verdict)
{
    char digest[KILN_DIGEST_TEXT_SIZE] = "";

    json_object(out, NULL);
    json_text(out, "kind", answer->kind);
    json_text(out, "wanted", wanted);
    json_text(out, "found", verdict);
    if (answer->nearest != NULL)
        kiln_digest_text(answer->nearest->digest, digest);
    json_text(out, "nearest", answer->nearest != NULL ? digest : NULL);
    json_text(out, "nearest_name",
              answer->nearest != NULL ? answer->nearest->name : NULL);
    json_text(out, "fault",
              answer->nearest != NULL ? answer->nearest->fault : NULL);
    json_text(out, "session", answer->session);
    json_text(out, "checked", answer->checked);
    json_array(out, "fields");
    for (size_t i = 0; i < answer->field_count; i++) {
        json_object(out, NULL);
        json_text(out, "name", answer->fields[i].name);
        json_text(out, "wanted", answer->fields[i].wanted);
        json_text(out, "found", answer->fields[i].found);
        json_flag(out, "differs",
                  answer->nearest != NULL && answer->fields[i].differs);
        json_end(out);
    }
    json_end(out);
    json_end(out);
}

static void explain_answer(void *env, const kiln_cache_answer *answer)
{
    static const char *const words[] = {"absent", "other key", "found",
                                        "stale",  "bad",       "unread"};
    char wanted[KILN_DIGEST_TEXT_SIZE];
    cache_command *c = env;

    kiln_digest_text(answer->wanted, wanted);
    if (c->options->json)
        explain_json(&c->json, answer, wanted, words[answer->found]);
    else
        tool_explain(stdout, answer);
}

/* True for a value as kiln run takes it: "2.5:f32", "f32[8]=ones", "@x.npy". */
static int is_value(const char *word)
{
    return strchr(word, '=') != NULL || word[0] == '@' ||
           strchr("0123456789+-.", word[0]) != NULL ||
           strcmp(word, "true") == 0 || strcmp(word, "false") == 0;
}

static int read_type(const kiln_type **out, kiln_context *context,
                     kiln_package *package, const char *word)
{
    tool_argument argument;
    int status;

    if (!is_value(word))
        return tool_type_read(out, context, package, word);
    status = tool_argument_read(&argument, context, package, word);
    *out = argument.type;
    tool_argument_dispose(&argument);
    return status;
}

static int read_job(kiln_signature *out, const kiln_type **types,
                    const kiln_config **config, cache_command *c)
{
    const tool_options *options = c->options;
    kiln_error *error = NULL;
    tool_source source;
    int status;

    if (tool_source_load(&source, c->context, options->words[0], options,
                         &error) != KILN_OK ||
        tool_source_function(&out->function, &source, options->words[1],
                             &error) != KILN_OK)
        return tool_fail(error);
    out->types = types;
    for (size_t i = 2; i < options->word_count; i++) {
        status = read_type(&types[out->count++], c->context, source.package,
                           options->words[i]);
        if (status != TOOL_OK)
            return status;
    }
    return settings_config(config, c->context, options);
}

int cache_explain(cache_command *c)
{
    const kiln_type *types[TOOL_ARGUMENTS_MAX];
    const kiln_config *config = NULL;
    kiln_signature signature = {0};
    kiln_error *error = NULL;
    kiln_status status;
    int read = read_job(&signature, types, &config, c);

    if (read != TOOL_OK)
        return read;
    if (c->options->json)
        json_array(&c->json, NULL);
    status = kiln_cache_explain(c->context, &signature, config, explain_answer,
                                c, &error);
    if (c->options->json)
        json_end(&c->json);
    return status == KILN_OK ? TOOL_OK : tool_fail(error);
}
