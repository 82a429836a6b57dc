/* spirv_target.c - SPIR-V targets: a version and what modules may use. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "backends/spirv/spirv.h"
#include "base/error.h"

/*
 * A target is a version and a set of features and extensions. It is written in
 * the order of the table, so that equal sets give equal keys, however they were
 * given. Its name contains everything: it does not matter later which device
 * was there when a default was resolved.
 */

static const char *const names[KILN__SPIRV_FEATURE_COUNT] = {
#define NAME(id, name) name,
    KILN__SPIRV_FEATURE_MAP(NAME)
#undef NAME
};

#define DEFAULT_FEATURES \
    (KILN__SPIRV_BIT(FP64) | KILN__SPIRV_BIT(INT64_ATOMICS))

static int has(uint64_t set, size_t index)
{
    return (set >> index & 1) != 0;
}

/* Writes the members, the first one after `first`, the others after the
   separator; false when they do not fit. */
static int write_features(char *text, size_t capacity, uint64_t set,
                          const char *first, const char *separator)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < KILN__SPIRV_FEATURE_COUNT; i++) {
        int written;

        if (!has(set, i))
            continue;
        written = snprintf(text + used, capacity - used, "%s%s",
                           used > 0 ? separator : first, names[i]);
        if (written < 0 || (size_t)written >= capacity - used)
            return 0;
        used += (size_t)written;
    }
    return 1;
}

/* ---- reading ---- */

static size_t find_feature(const char *name, size_t size)
{
    size_t i = 0;

    while (i < KILN__SPIRV_FEATURE_COUNT &&
           (strlen(names[i]) != size || memcmp(names[i], name, size) != 0))
        i++;
    return i;
}

static kiln_status unknown_feature(kiln_error **error, const char *name,
                                   size_t size)
{
    char known[1024];

    (void)write_features(known, sizeof known, ~(uint64_t)0, "", ", ");
    return kiln__error_set(error, KILN_EINVAL,
                           "spirv target: unknown feature \"%.*s\"; there are "
                           "%s",
                           (int)(size > 64 ? 64 : size), name, known);
}

/* Reads "+fp64+subgroups" up to the end. */
static kiln_status parse_features(uint64_t *set, const char *text,
                                  kiln_error **error)
{
    uint64_t given = 0;

    while (*text == '+') {
        const size_t size = strcspn(text + 1, "+");
        const size_t index = find_feature(text + 1, size);

        if (index == KILN__SPIRV_FEATURE_COUNT)
            return unknown_feature(error, text + 1, size);
        if (has(given, index))
            return kiln__error_set(error, KILN_EINVAL,
                                   "spirv target: \"%s\" is given twice",
                                   names[index]);
        given |= (uint64_t)1 << index;
        text += 1 + size;
    }
    *set |= given;
    return KILN_OK;
}

static kiln_status unknown_version(kiln_error **error, const char *name)
{
    return kiln__error_set(error, KILN_EINVAL,
                           "spirv target: unknown version \"%.64s\"; there "
                           "are 1.%u to 1.%u, each followed by +feature",
                           name, KILN__SPIRV_MINOR_LEAST,
                           KILN__SPIRV_MINOR_MOST);
}

/* Reads "1.4"; returns the rest, or NULL. */
static const char *parse_version(uint32_t *minor, const char *name)
{
    if (strncmp(name, "1.", 2) != 0 ||
        name[2] < '0' + (int)KILN__SPIRV_MINOR_LEAST ||
        name[2] > '0' + (int)KILN__SPIRV_MINOR_MOST)
        return NULL;
    *minor = (uint32_t)(name[2] - '0');
    return name[3] == '\0' || name[3] == '+' ? name + 3 : NULL;
}

static kiln__spirv_level usual(const kiln__spirv_level *there)
{
    kiln__spirv_level level = {KILN__SPIRV_MINOR_USUAL, DEFAULT_FEATURES};

    if (there != NULL) {
        level.features = there->features;
        if (there->minor < level.minor)
            level.minor = there->minor;
    }
    return level;
}

static kiln_status parse(kiln__spirv_level *out, const char *name,
                         const kiln__spirv_level *there, kiln_error **error)
{
    *out = usual(there);
    if (name == NULL)
        return KILN_OK;
    if (*name != '+') {
        const char *rest = parse_version(&out->minor, name);

        if (rest == NULL)
            return unknown_version(error, name);
        name = rest;
        out->features = 0;
    }
    return parse_features(&out->features, name, error);
}

/* ---- targets ---- */

kiln_status kiln__spirv_target(kiln_target *out, const char *name,
                               const kiln__spirv_level *there,
                               kiln_error **error)
{
    kiln__spirv_level level;
    char features[sizeof out->name - 8];

    KILN_TRY(parse(&level, name, there, error));
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    (void)snprintf(out->triple, sizeof out->triple,
                   "spirv64v1.%u-unknown-unknown", level.minor);
    if (!write_features(out->options, sizeof out->options, level.features, "",
                        ",") ||
        !write_features(features, sizeof features, level.features, "+", "+"))
        return kiln__error_set(error, KILN_EINVAL,
                               "spirv target: its features take more than "
                               "%zu letters",
                               sizeof features - 1);
    (void)snprintf(out->name, sizeof out->name, "1.%u%s", level.minor,
                   features);
    return KILN_OK;
}

kiln_status kiln__spirv_target_runs(const char *target,
                                    const kiln__spirv_level *there,
                                    kiln_error **error)
{
    static const char prefix[] = "spirv:";
    kiln__spirv_level wanted;
    uint64_t missing;
    char text[256];

    if (strncmp(target, prefix, sizeof prefix - 1) != 0)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "an artifact for \"%.64s\" is not SPIR-V",
                               target);
    KILN_TRY(parse(&wanted, target + sizeof prefix - 1, NULL, error));
    if (wanted.minor > there->minor)
        return kiln__error_set(error, KILN_ENODEVICE,
                               "this device cannot run code for %s: it takes "
                               "SPIR-V up to 1.%u",
                               target, there->minor);
    missing = wanted.features & KILN__SPIRV_ASKED & ~there->features;
    if (missing == 0)
        return KILN_OK;
    (void)write_features(text, sizeof text, missing, "", ", ");
    return kiln__error_set(error, KILN_ENODEVICE,
                           "this device cannot run code for %s: it lacks %s",
                           target, text);
}
