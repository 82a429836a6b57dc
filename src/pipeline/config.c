/* config.c - checks, resolves and interns configs. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stddef.h>
#include <string.h>

#include "backends/backend.h"
#include "base/data/array.h"
#include "base/data/ascii.h"
#include "base/data/map.h"
#include "base/data/sum.h"
#include "base/error.h"
#include "base/options.h"
#include "base/system/thread.h"
#include "context/keys/key.h"
#include "context/keys/settings.h"
#include "context/targets/target_traits.h"
#include "pipeline/config.h"
#include "tiers/binary/artifact.h"

/*
 * A config is made in three steps: the options are read and checked, defaults
 * and target are resolved, and the result is looked up among the existing
 * configs. Two configs are one when all their settings are equal, including
 * those of scope [load]; the text of the target is not a setting. Backends are
 * called without the lock.
 */

#define NAME_MAX_SIZE ((size_t)255) /* of an entry's symbol or an overlay */

struct kiln__configs {
    kiln__mutex lock;
    kiln__map by_digest; /* full digest and device -> kiln_config */
    kiln_config *list;
    kiln__fork_guard guard;
};

kiln_status kiln__configs_new(kiln_context *context)
{
    struct kiln__configs *configs =
        kiln__allocate(&context->alloc, sizeof *configs);

    if (configs == NULL)
        return KILN_ENOMEM;
    if (kiln__mutex_init(&configs->lock) != KILN_OK) {
        kiln__deallocate(&context->alloc, configs, sizeof *configs);
        return KILN_ENOMEM;
    }
    kiln__map_init(&configs->by_digest, &context->alloc);
    configs->guard.mutex = &configs->lock;
    kiln__fork_add(&context->fork, &configs->guard);
    context->configs = configs;
    return KILN_OK;
}

#define FREE_TEXT(alloc, value) kiln__string_free((alloc), (value))
#define FREE_NUMBER(alloc, value) ((void)(value))
#define FREE_SETTING(member, kind, mask) FREE_##kind(alloc, config->member);

static void config_free(kiln_config *config)
{
    const kiln_alloc *alloc = &config->context->alloc;

    KILN__SETTING_MAP(FREE_SETTING)
    kiln__string_free(alloc, config->target);
    kiln__deallocate(alloc, config, sizeof *config);
}

void kiln__configs_free(kiln_context *context)
{
    struct kiln__configs *configs = context->configs;

    if (configs == NULL)
        return;
    while (configs->list != NULL) {
        kiln_config *next = configs->list->next;

        config_free(configs->list);
        configs->list = next;
    }
    kiln__map_dispose(&configs->by_digest);
    kiln__fork_remove(&context->fork, &configs->guard);
    kiln__mutex_dispose(&configs->lock);
    kiln__deallocate(&context->alloc, configs, sizeof *configs);
    context->configs = NULL;
}

/* ---- checking ---- */

/* Returns the length of the name at the start of `text`; a name does not begin
   with a digit. */
static size_t name_length(const char *text)
{
    size_t length = 0;

    if (kiln__is_digit(*text))
        return 0;
    while (kiln__is_word(text[length]))
        length++;
    return length;
}

static kiln_status check_entry_name(const char *name, kiln_error **error)
{
    size_t length;

    if (name == NULL)
        return KILN_OK;
    length = name_length(name);
    if (length == 0 || name[length] || length > NAME_MAX_SIZE)
        return kiln__error_set(error, KILN_EINVAL,
                               "entry_name is '%.300s'; it takes a name of "
                               "letters, digits and _ that begins with a "
                               "letter or _",
                               name);
    if (name[0] == '_' && name[1] == '_')
        return kiln__error_set(error, KILN_EINVAL,
                               "entry_name is '%s'; names that begin with __ "
                               "are those of compilers and their libraries",
                               name);
    return KILN_OK;
}

/* True if the name of `length` bytes is in the list, before `end`. */
static int is_listed(const char *list, const char *end, const char *name,
                     size_t length)
{
    while (list < end) {
        size_t other = name_length(list);

        if (other == length && memcmp(list, name, length) == 0)
            return 1;
        list += other + 1;
    }
    return 0;
}

static kiln_status check_overlays(const char *overlays, kiln_error **error)
{
    const char *at = overlays;

    if (overlays == NULL || !*overlays)
        return KILN_OK;
    for (;;) {
        size_t length = name_length(at);

        if (length == 0 || length > NAME_MAX_SIZE ||
            (at[length] && at[length] != ','))
            return kiln__error_set(error, KILN_EINVAL,
                                   "overlays is '%.300s'; it takes names "
                                   "separated by commas",
                                   overlays);
        if (is_listed(overlays, at, at, length))
            return kiln__error_set(error, KILN_EINVAL,
                                   "overlays names '%.*s' twice", (int)length,
                                   at);
        if (!at[length])
            return KILN_OK;
        at += length + 1;
    }
}

static kiln_status check_range(const char *name, uint32_t value, uint32_t most,
                               kiln_error **error)
{
    if (value <= most)
        return KILN_OK;
    return kiln__error_set(error, KILN_EINVAL,
                           "%s is %u; it takes a value from 0 to %u", name,
                           value, most);
}

static kiln_status check_group(const uint32_t size[3], kiln_error **error)
{
    uint64_t items = 1;

    for (int d = 0; d < 3; d++) {
        if (size[d] > INT32_MAX)
            items = UINT64_MAX;
        else if (size[d] > 0 && items <= INT32_MAX)
            items *= size[d];
    }
    if (items <= INT32_MAX)
        return KILN_OK;
    return kiln__error_set(error, KILN_EINVAL,
                           "required_group_size is %u x %u x %u: more items "
                           "than a group can have",
                           size[0], size[1], size[2]);
}

/* No item of any target has more. */
#define REGISTERS_MOST 512

static kiln_status check_options(const kiln_config_options *options,
                                 kiln_error **error)
{
    const struct {
        const char *name;
        uint32_t value;
        uint32_t most;
    } ranges[] = {
        {"opt_level", options->opt_level, KILN_OPT_3},
        {"debug_level", options->debug_level, KILN_DEBUG_FULL},
        {"bounds_checks", options->bounds_checks, KILN_SWITCH_OFF},
        {"fast_math", options->fast_math, KILN_SWITCH_OFF},
        {"contract", options->contract, KILN_SWITCH_OFF},
        {"entry_abi", options->entry_abi, KILN_ABI_DEVICE},
        {"sites", options->sites, KILN_SITES_PATCH},
        {"math", options->math, KILN_MATH_VENDOR},
        {"maximum_group_size", options->maximum_group_size, INT32_MAX},
        {"minimum_groups", options->minimum_groups, UINT16_MAX},
        {"maximum_registers", options->maximum_registers, REGISTERS_MOST},
        {"unroll", options->unroll, UINT16_MAX},
    };

    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        KILN_TRY(check_range(ranges[i].name, ranges[i].value, ranges[i].most,
                             error));
    KILN_TRY(check_group(options->required_group_size, error));
    KILN_TRY(check_entry_name(options->entry_name, error));
    return check_overlays(options->overlays, error);
}

/* ---- resolving ---- */

static uint64_t resolved_switch(uint8_t value, uint8_t by_default)
{
    return value == KILN_SWITCH_DEFAULT ? by_default : value;
}

/* A single size of 0 means 1, so that each group size has one form in keys. */
static uint64_t resolved_size(const uint32_t size[3], int dimension)
{
    const int is_any = (size[0] | size[1] | size[2]) == 0;

    return size[dimension] == 0 && !is_any ? 1 : size[dimension];
}

static void resolve_numbers(kiln_config *config,
                            const kiln_config_options *options)
{
    const uint32_t *size = options->required_group_size;

    config->opt_level = options->opt_level == KILN_OPT_DEFAULT
                            ? KILN_OPT_3
                            : options->opt_level;
    config->debug_level = options->debug_level;
    config->bounds_checks =
        resolved_switch(options->bounds_checks, KILN_SWITCH_ON);
    config->fast_math = resolved_switch(options->fast_math, KILN_SWITCH_OFF);
    config->contract = resolved_switch(options->contract, KILN_SWITCH_ON);
    config->entry_abi = options->entry_abi;
    config->sites = options->sites;
    config->math =
        options->math == KILN_MATH_DEFAULT ? KILN_MATH_OPEN : options->math;
    config->maximum_group = options->maximum_group_size;
    config->minimum_groups = options->minimum_groups;
    config->maximum_registers = options->maximum_registers;
    config->unroll = options->unroll;
    config->required_group_x = resolved_size(size, 0);
    config->required_group_y = resolved_size(size, 1);
    config->required_group_z = resolved_size(size, 2);
    config->device = options->device;
}

/* Joins two texts, with the separator between them if neither is empty. */
static kiln_status join(char **out, const kiln_alloc *alloc, const char *first,
                        const char *separator, const char *second)
{
    kiln__text text;

    kiln__text_init(&text, alloc);
    kiln__text_add(&text, first);
    if (*first && *second)
        kiln__text_add(&text, separator);
    kiln__text_add(&text, second);
    *out = text.failed ? NULL : kiln__string_copy(alloc, text.bytes);
    kiln__text_dispose(&text);
    return *out != NULL ? KILN_OK : KILN_ENOMEM;
}

static kiln_status copy(char **out, const kiln_config *config, const char *text)
{
    *out = kiln__string_copy(&config->context->alloc, text);
    return *out != NULL ? KILN_OK : KILN_ENOMEM;
}

/* Appends the backend's own table and then, for all backends but the host, the
   table "device"; each only if it is not in the list. */
static kiln_status resolve_overlays(kiln_config *config, const char *given)
{
    const kiln_alloc *alloc = &config->context->alloc;
    const char *own[] = {config->backend, KILN__DEVICE_OVERLAY};
    const size_t count = kiln__target_traits_of(config)->is_device ? 2 : 1;

    config->overlays = kiln__string_copy(alloc, given);
    for (size_t i = 0; config->overlays != NULL && i < count; i++) {
        char *before = config->overlays;

        if (is_listed(before, before + strlen(before), own[i], strlen(own[i])))
            continue;
        (void)join(&config->overlays, alloc, before, ",", own[i]);
        kiln__string_free(alloc, before);
    }
    return config->overlays != NULL ? KILN_OK : KILN_ENOMEM;
}

static kiln_status resolve_texts(kiln_config *config, const char *backend,
                                 const kiln_target *target,
                                 const kiln_config_options *options)
{
    const kiln_alloc *alloc = &config->context->alloc;

    KILN_TRY(copy(&config->backend, config, backend));
    KILN_TRY(copy(&config->triple, config, target->triple));
    KILN_TRY(copy(&config->processor, config, target->processor));
    KILN_TRY(copy(&config->features, config, target->features));
    KILN_TRY(copy(&config->options, config, target->options));
    if (options->entry_name != NULL)
        KILN_TRY(copy(&config->entry_name, config, options->entry_name));
    KILN_TRY(join(&config->target, alloc, backend, ":", target->name));
    return resolve_overlays(config,
                            options->overlays != NULL ? options->overlays : "");
}

static kiln_status resolve_target(kiln_config *config,
                                  const kiln_config_options *options,
                                  kiln_error **error)
{
    const char *name =
        options->target != NULL && *options->target ? options->target : "host";
    const char *colon = strchr(name, ':');
    const size_t size = colon != NULL ? (size_t)(colon - name) : strlen(name);
    const kiln_backend_ops *ops = NULL;
    void *self = NULL;
    kiln_target target;

    KILN_TRY(
        kiln__backend_find(&ops, &self, config->context, name, size, error));
    memset(&target, 0, sizeof target);
    target.size = sizeof target;
    KILN_TRY(ops->describe(self, colon && colon[1] ? colon + 1 : NULL, &target,
                           error));
    if (resolve_texts(config, ops->name, &target, options) != KILN_OK)
        return kiln__error_no_memory(error);
    return KILN_OK;
}

/* Computes digests and hash from the settings. */
static kiln_status finish_config(kiln_config *config)
{
    KILN_TRY(kiln__key_config(config));
    config->hash = kiln__hash_words(
        (const uint64_t[]){kiln__digest_word(config->full), config->device}, 2);
    return KILN_OK;
}

static kiln_status config_fill(kiln_config *config,
                               const kiln_config_options *options,
                               kiln_error **error)
{
    resolve_numbers(config, options);
    KILN_TRY(resolve_target(config, options, error));
    return finish_config(config) == KILN_OK ? KILN_OK
                                            : kiln__error_no_memory(error);
}

/* ---- interning ---- */

static int equal_texts(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

#define EQUAL_TEXT(a, b) equal_texts((a), (b))
#define EQUAL_NUMBER(a, b) ((a) == (b))
#define EQUAL_SETTING(member, kind, mask) &&EQUAL_##kind(a->member, b->member)

static int is_equal(const kiln_config *a, const kiln_config *b)
{
    return 1 KILN__SETTING_MAP(EQUAL_SETTING);
}

static kiln_config *find_equal(kiln_config *list, const kiln_config *config)
{
    while (list != NULL &&
           !(list->hash == config->hash && is_equal(list, config)))
        list = list->next;
    return list;
}

static kiln_digest table_key(const kiln_config *config)
{
    return kiln__digest_combine(config->full,
                                kiln__digest_number(config->device));
}

/* Takes over `config`. Returns the interned config, or NULL when out of
   memory. */
static const kiln_config *config_intern(struct kiln__configs *configs,
                                        kiln_config *config)
{
    const kiln_digest key = table_key(config);
    kiln_config *known;
    int added = 0;

    kiln__mutex_lock(&configs->lock);
    known = kiln__map_get(&configs->by_digest, key);
    if (known != NULL && !is_equal(known, config))
        known = find_equal(configs->list, config);
    if (known == NULL && kiln__map_set(&configs->by_digest, key, config)) {
        config->next = configs->list;
        configs->list = config;
        added = 1;
    }
    kiln__mutex_unlock(&configs->lock);
    if (added)
        return config;
    config_free(config);
    return known;
}

kiln_status kiln_config_new(const kiln_config **out, kiln_context *context,
                            const kiln_config_options *options,
                            kiln_error **error)
{
    kiln_config_options known;
    kiln_config *config;
    kiln_status status;

    KILN_REQUIRE(out != NULL, error);
    KILN_REQUIRE(context != NULL, error);
    KILN_TRY(KILN__OPTIONS_READ(&known, options, kiln_config_options, error));
    KILN_TRY(check_options(&known, error));
    config = kiln__allocate(&context->alloc, sizeof *config);
    if (config == NULL)
        return kiln__error_no_memory(error);
    config->context = context;
    status = config_fill(config, &known, error);
    if (status != KILN_OK) {
        config_free(config);
        return status;
    }
    *out = config_intern(context->configs, config);
    return *out != NULL ? KILN_OK : kiln__error_no_memory(error);
}

#define COPY_TEXT(member) \
    if (config->member) \
        failed |= copy(&like->member, like, config->member) != KILN_OK;
#define COPY_NUMBER(member) like->member = config->member;
#define COPY_SETTING(member, kind, mask) \
    if (!((mask)&KILN__SCOPE_LOAD)) { \
        COPY_##kind(member) \
    }

static int has_load(const kiln_config *config)
{
#define IS_SET_TEXT(value) ((value) != NULL)
#define IS_SET_NUMBER(value) ((value) != 0)
#define IS_SET(member, kind, mask) \
    || (((mask)&KILN__SCOPE_LOAD) && IS_SET_##kind(config->member))
    return 0 KILN__SETTING_MAP(IS_SET);
#undef IS_SET
}

const kiln_config *kiln__config_without_load(const kiln_config *config)
{
    kiln_context *context = config->context;
    kiln_config *like;
    int failed = 0;

    if (!has_load(config))
        return config;
    like = kiln__allocate(&context->alloc, sizeof *like);
    if (like == NULL)
        return NULL;
    like->context = context;
    KILN__SETTING_MAP(COPY_SETTING)
    failed |= copy(&like->target, like, config->target) != KILN_OK;
    if (failed || finish_config(like) != KILN_OK) {
        config_free(like);
        return NULL;
    }
    return config_intern(context->configs, like);
}

/* ---- reading ---- */

const char *kiln_config_target(const kiln_config *config)
{
    return config->target;
}

const char *kiln_config_backend(const kiln_config *config)
{
    return config->backend;
}

kiln_digest kiln_config_owner(const kiln_config *config)
{
    return config->owner;
}

kiln_digest kiln_config_digest(const kiln_config *config)
{
    return config->full;
}

void kiln_config_get_options(kiln_config_options *out,
                             const kiln_config *config)
{
    kiln_config_options known = KILN_CONFIG_OPTIONS_INIT;
    size_t size;

    if (out == NULL || config == NULL)
        return;
    known.target = config->target;
    known.entry_name = config->entry_name;
    known.overlays = config->overlays;
    known.opt_level = (uint8_t)config->opt_level;
    known.debug_level = (uint8_t)config->debug_level;
    known.bounds_checks = (uint8_t)config->bounds_checks;
    known.fast_math = (uint8_t)config->fast_math;
    known.contract = (uint8_t)config->contract;
    known.entry_abi = (uint8_t)config->entry_abi;
    known.sites = (uint8_t)config->sites;
    known.required_group_size[0] = (uint32_t)config->required_group_x;
    known.required_group_size[1] = (uint32_t)config->required_group_y;
    known.required_group_size[2] = (uint32_t)config->required_group_z;
    known.device = (uint32_t)config->device;
    known.math = (uint8_t)config->math;
    known.maximum_group_size = (uint32_t)config->maximum_group;
    known.minimum_groups = (uint32_t)config->minimum_groups;
    known.maximum_registers = (uint32_t)config->maximum_registers;
    known.unroll = (uint32_t)config->unroll;
    size = known.size = out->size;
    memcpy(out, &known, size < sizeof known ? size : sizeof known);
}

static void describe_scopes(kiln__text *out, uint32_t scopes)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {{KILN__SCOPE_TYPED, "typed"},
                 {KILN__SCOPE_RUNTIME, "runtime"},
                 {KILN__SCOPE_BINARY, "binary"},
                 {KILN__SCOPE_LOAD, "load"}};
    const char *before = " [";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(scopes & names[i].bit))
            continue;
        kiln__text_add(out, before);
        kiln__text_add(out, names[i].name);
        before = ", ";
    }
    kiln__text_add(out, "]\n");
}

static void describe_text(kiln__text *out, const char *value)
{
    kiln__text_format(out, "\"%s\"", value != NULL ? value : "");
}

#define DESCRIBE_TEXT(name, value) describe_text(&text, (value))
#define DESCRIBE_NUMBER(name, value) kiln__setting_write(&text, (name), (value))
#define DESCRIBE_SETTING(member, kind, mask) \
    kiln__text_add(&text, #member " = "); \
    DESCRIBE_##kind(#member, config->member); \
    describe_scopes(&text, (mask));

kiln_status kiln_config_describe(kiln_blob *out, const kiln_config *config)
{
    kiln__text text;

    if (out == NULL || config == NULL)
        return KILN_EINVAL;
    kiln__text_init(&text, &config->context->alloc);
    kiln__text_format(&text, "target = \"%s\"\n", config->target);
    KILN__SETTING_MAP(DESCRIBE_SETTING)
    return kiln__text_to_blob(&text, out);
}
