/* host_target.c - host targets: sets of processor features. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdio.h>
#include <string.h>

#include "backends/host/host_backend.h"
#include "base/error.h"

/*
 * A host target is a set of features over the base "x86-64", never a
 * processor's name, because the meaning of such names changes with LLVM. The
 * set is closed under implication and written in the order of names, so that
 * equal sets give equal keys, however they were given. Its canonical name is
 * the highest level that it contains, followed by the other features:
 * "x86-64-v3+gfni".
 *
 * X(id, LLVM's name, level, register, bit, state, implied)
 *   level    2 to 4: part of x86-64-v<level> and above; 0: of none
 *   state    what the system must save: NONE, YMM, ZMM
 *   implied  the features that it needs, transitively closed when used
 * The list is sorted by name, which is the canonical order.
 */
#define NONE 0u
#define YMM 0x6u
#define ZMM 0xe6u
#define BIT(id) ((kiln__host_features)1 << FEATURE_##id)

#define FEATURE_MAP(X) \
    X(AVX, "avx", 3, leaf1_ecx, 28, YMM, BIT(SSE42)) \
    X(AVX2, "avx2", 3, leaf7_ebx, 5, YMM, BIT(AVX)) \
    X(AVX512BF16, "avx512bf16", 0, leaf7_1_eax, 5, ZMM, BIT(AVX512BW)) \
    X(AVX512BITALG, "avx512bitalg", 0, leaf7_ecx, 12, ZMM, BIT(AVX512BW)) \
    X(AVX512BW, "avx512bw", 4, leaf7_ebx, 30, ZMM, BIT(AVX512F)) \
    X(AVX512CD, "avx512cd", 4, leaf7_ebx, 28, ZMM, BIT(AVX512F)) \
    X(AVX512DQ, "avx512dq", 4, leaf7_ebx, 17, ZMM, BIT(AVX512F)) \
    X(AVX512F, "avx512f", 4, leaf7_ebx, 16, ZMM, \
      BIT(AVX2) | BIT(F16C) | BIT(FMA)) \
    X(AVX512FP16, "avx512fp16", 0, leaf7_edx, 23, ZMM, \
      BIT(AVX512BW) | BIT(AVX512DQ) | BIT(AVX512VL)) \
    X(AVX512IFMA, "avx512ifma", 0, leaf7_ebx, 21, ZMM, BIT(AVX512F)) \
    X(AVX512VBMI, "avx512vbmi", 0, leaf7_ecx, 1, ZMM, BIT(AVX512BW)) \
    X(AVX512VBMI2, "avx512vbmi2", 0, leaf7_ecx, 6, ZMM, BIT(AVX512BW)) \
    X(AVX512VL, "avx512vl", 4, leaf7_ebx, 31, ZMM, BIT(AVX512F)) \
    X(AVX512VNNI, "avx512vnni", 0, leaf7_ecx, 11, ZMM, BIT(AVX512F)) \
    X(AVX512VPOPCNTDQ, "avx512vpopcntdq", 0, leaf7_ecx, 14, ZMM, BIT(AVX512F)) \
    X(AVXVNNI, "avxvnni", 0, leaf7_1_eax, 4, YMM, BIT(AVX2)) \
    X(BMI, "bmi", 3, leaf7_ebx, 3, NONE, 0) \
    X(BMI2, "bmi2", 3, leaf7_ebx, 8, NONE, 0) \
    X(CX16, "cx16", 2, leaf1_ecx, 13, NONE, 0) \
    X(F16C, "f16c", 3, leaf1_ecx, 29, YMM, BIT(AVX)) \
    X(FMA, "fma", 3, leaf1_ecx, 12, YMM, BIT(AVX)) \
    X(GFNI, "gfni", 0, leaf7_ecx, 8, NONE, 0) \
    X(LZCNT, "lzcnt", 3, extended_ecx, 5, NONE, 0) \
    X(MOVBE, "movbe", 3, leaf1_ecx, 22, NONE, 0) \
    X(POPCNT, "popcnt", 2, leaf1_ecx, 23, NONE, 0) \
    X(SAHF, "sahf", 2, extended_ecx, 0, NONE, 0) \
    X(SSE3, "sse3", 2, leaf1_ecx, 0, NONE, 0) \
    X(SSE41, "sse4.1", 2, leaf1_ecx, 19, NONE, BIT(SSSE3)) \
    X(SSE42, "sse4.2", 2, leaf1_ecx, 20, NONE, BIT(SSE41)) \
    X(SSSE3, "ssse3", 2, leaf1_ecx, 9, NONE, BIT(SSE3))

enum {
#define ENTRY(id, name, level, reg, bit, state, implied) FEATURE_##id,
    FEATURE_MAP(ENTRY)
#undef ENTRY
        FEATURE_COUNT
};

static const struct feature {
    const char *name;
    uint32_t level;
    kiln__host_features implied;
} features[FEATURE_COUNT] = {
#define ENTRY(id, name, level, reg, bit, state, implied) \
    {(name), (level), (implied)},
    FEATURE_MAP(ENTRY)
#undef ENTRY
};

#define BASE "x86-64"
#define LEVEL_LAST 4

/* ---- sets ---- */

static int has(kiln__host_features set, size_t index)
{
    return (set >> index & 1) != 0;
}

/* Adds the features that the members need. A chain of needs is shorter than the
   table. */
static kiln__host_features closure(kiln__host_features set)
{
    kiln__host_features before;

    do {
        before = set;
        for (size_t i = 0; i < FEATURE_COUNT; i++)
            if (has(set, i))
                set |= features[i].implied;
    } while (set != before);
    return set;
}

/* Adds a feature to a closed set. What it needs is mostly there already. */
static kiln__host_features with(kiln__host_features set, size_t index)
{
    set |= (kiln__host_features)1 << index;
    return (features[index].implied & ~set) == 0 ? set : closure(set);
}

/* Removes a feature and all features that need it. */
static kiln__host_features without(kiln__host_features set, size_t index)
{
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        const kiln__host_features alone = (kiln__host_features)1 << i;

        if (has(closure(alone), index))
            set &= ~alone;
    }
    return set;
}

static kiln__host_features of_level(uint32_t level)
{
    kiln__host_features set = 0;

    for (size_t i = 0; i < FEATURE_COUNT; i++)
        if (features[i].level != 0 && features[i].level <= level)
            set |= (kiln__host_features)1 << i;
    return closure(set);
}

int kiln__host_features_text(char *text, size_t capacity,
                             kiln__host_features set)
{
    size_t used = 0;

    if (capacity > 0)
        text[0] = '\0';
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        int written;

        if (!has(set, i))
            continue;
        written = snprintf(text + used, capacity - used, "%s+%s",
                           used > 0 ? "," : "", features[i].name);
        if (written < 0 || (size_t)written >= capacity - used)
            return 0;
        used += (size_t)written;
    }
    return 1;
}

/* ---- this processor ---- */

kiln__host_features kiln__host_features_of(const kiln__cpuid *cpuid)
{
    kiln__host_features set = 0;

#define ENTRY(id, name, level, reg, bit, state, implied) \
    if ((cpuid->reg >> (bit)&1u) != 0 && (cpuid->xcr0 & (state)) == (state)) \
        set |= BIT(id);
    FEATURE_MAP(ENTRY)
#undef ENTRY

    /* A hypervisor may hide some features of a family: remove those whose needs
       are missing. */
    if (closure(set) == set)
        return set;
    for (size_t i = 0; i < FEATURE_COUNT; i++)
        if (has(set, i) && (closure((kiln__host_features)1 << i) & ~set) != 0)
            set = without(set, i);
    return set;
}

/* ---- names ---- */

static size_t find_feature(const char *name, size_t size)
{
    for (size_t i = 0; i < FEATURE_COUNT; i++)
        if (strlen(features[i].name) == size &&
            memcmp(features[i].name, name, size) == 0)
            return i;
    return FEATURE_COUNT;
}

static kiln_status unknown_feature(kiln_error **error, const char *name,
                                   size_t size)
{
    char known[1024];

    if (!kiln__host_features_text(known, sizeof known, ~0ull))
        known[0] = '\0';
    return kiln__error_set(error, KILN_EINVAL,
                           "host target: unknown feature \"%.*s\"; there are "
                           "%s",
                           (int)(size > 64 ? 64 : size), name, known);
}

/* Reads "+avx2-fma", with or without commas, up to the end. */
static kiln_status parse_features(kiln__host_features *set, const char *text,
                                  kiln_error **error)
{
    while (*text != '\0') {
        const char sign = *text;
        const size_t size = strcspn(text + 1, "+-,");
        const size_t index = find_feature(text + 1, size);

        if (sign == ',') {
            text++;
            continue;
        }
        if (index == FEATURE_COUNT)
            return unknown_feature(error, text + 1, size);
        if (sign == '+')
            *set = with(*set, index);
        else
            *set = without(*set, index);
        text += 1 + size;
    }
    return KILN_OK;
}

/* Reads the base, "x86-64" or "x86-64-v2" to "-v4"; returns the rest. */
static const char *parse_level(kiln__host_features *set, const char *name)
{
    static const size_t base = sizeof BASE - 1;

    if (strncmp(name, BASE, base) != 0)
        return NULL;
    name += base;
    *set = 0;
    if (name[0] == '-' && name[1] == 'v' && name[2] >= '0' && name[2] <= '9') {
        if (name[2] < '2' || name[2] > '0' + LEVEL_LAST)
            return NULL;
        *set = of_level((uint32_t)(name[2] - '0'));
        name += 3;
    }
    return *name == '\0' || strchr("+-,", *name) != NULL ? name : NULL;
}

/* Writes the canonical name, which parses back to the same set. */
static int write_name(char *name, size_t capacity, kiln__host_features set)
{
    char extra[1024];
    uint32_t level = LEVEL_LAST;
    int size;

    while (level > 1 && (of_level(level) & ~set) != 0)
        level--;
    if (!kiln__host_features_text(extra, sizeof extra, set & ~of_level(level)))
        return 0;
    if (level > 1)
        size = snprintf(name, capacity, BASE "-v%u%s", level, extra);
    else
        size = snprintf(name, capacity, BASE "%s", extra);
    for (char *comma = name; (comma = strchr(comma, ',')) != NULL;)
        memmove(comma, comma + 1, strlen(comma));
    return size >= 0 && (size_t)size < capacity;
}

static kiln_status this_processor(kiln__host_features *set, kiln_error **error)
{
    kiln__cpuid cpuid;

#if !defined(__x86_64__)
    return kiln__error_set(error, KILN_EUNSUPPORTED,
                           "host target: this processor's architecture is "
                           "not supported; name a target such as host:x86-64");
#endif
    (void)error;
    kiln__cpuid_read(&cpuid);
    *set = kiln__host_features_of(&cpuid);
    return KILN_OK;
}

static kiln_status parse(kiln__host_features *set, const char *name,
                         kiln_error **error)
{
    const char *rest;

    if (name == NULL || strcmp(name, "native") == 0)
        return this_processor(set, error);
    rest = parse_level(set, name);
    if (rest == NULL)
        return kiln__error_set(
            error, KILN_EINVAL,
            "host target: unknown processor \"%.64s\"; there are x86-64, "
            "x86-64-v2, x86-64-v3, x86-64-v4, each followed by +feature or "
            "-feature, and native",
            name);
    return parse_features(set, rest, error);
}

kiln_status kiln__host_target(kiln_target *out, const char *name,
                              kiln_error **error)
{
    kiln__host_features set;

    KILN_TRY(parse(&set, name, error));
    memset(out, 0, sizeof *out);
    out->size = sizeof *out;
    (void)snprintf(out->processor, sizeof out->processor, BASE);
    (void)snprintf(out->triple, sizeof out->triple, "x86_64-pc-linux-gnu");
    if (!write_name(out->name, sizeof out->name, set) ||
        !kiln__host_features_text(out->features, sizeof out->features, set))
        return kiln__error_set(error, KILN_EINVAL,
                               "host target: its features take more than "
                               "%zu letters",
                               sizeof out->features - 1);
    return KILN_OK;
}

kiln_status kiln__host_target_runs_on(const char *target,
                                      kiln__host_features there,
                                      kiln_error **error)
{
    static const char prefix[] = "host:";
    kiln__host_features wanted;
    char missing[1024];

    if (strncmp(target, prefix, sizeof prefix - 1) != 0)
        return kiln__error_set(error, KILN_ECORRUPT,
                               "an artifact for \"%.64s\" is not for the host",
                               target);
    KILN_TRY(parse(&wanted, target + sizeof prefix - 1, error));
    if ((wanted & ~there) == 0)
        return KILN_OK;
    if (!kiln__host_features_text(missing, sizeof missing, wanted & ~there))
        missing[0] = '\0';
    return kiln__error_set(error, KILN_ENODEVICE,
                           "this processor cannot run code for %s: it lacks "
                           "%s",
                           target, missing);
}

kiln_status kiln__host_target_runs(const char *target, kiln_error **error)
{
    kiln__host_features there;

    KILN_TRY(this_processor(&there, error));
    return kiln__host_target_runs_on(target, there, error);
}
