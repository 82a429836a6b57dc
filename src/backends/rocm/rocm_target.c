/* rocm_target.c - targets of ROCm: processors and their switches. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "backends/rocm/rocm_driver.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/*
 * A target is "gfx90a:sramecc+:xnack-:wave64:cov5": a processor, its switches
 * (on or off), the width of a sub-group, and the version of code objects. A
 * switch that is not given has no word in the resolved name: such code runs
 * with either setting.
 */

typedef struct processor {
    const char *name;
    int has_switches; /* sramecc and xnack */
    int has_wave32;   /* as the default; wave64 always exists */
} processor;

static const processor processors[] = {
    {"gfx906", 1, 0},  {"gfx908", 1, 0},  {"gfx90a", 1, 0},  {"gfx942", 1, 0},
    {"gfx950", 1, 0},  {"gfx1030", 0, 1}, {"gfx1100", 0, 1}, {"gfx1101", 0, 1},
    {"gfx1102", 0, 1}, {"gfx1150", 0, 1}, {"gfx1151", 0, 1}, {"gfx1200", 0, 1},
    {"gfx1201", 0, 1},
};

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* Every runtime since ROCm 5.7 accepts version 5, those before ROCm 6.3 do
   not accept version 6, and code for a single processor needs nothing of
   version 6. */
#define USUAL_COV 5
#define FALLBACK "gfx90a"
/* Additions of floating-point numbers as atomic instructions, which may treat
   subnormal numbers differently and have no effect in host memory. */
#define UNSAFE_ATOMICS "unsafe_fp_atomics"

/* The words after the processor; 0: not given. */
typedef struct switches {
    char sramecc; /* '+', '-' or 0 */
    char xnack;
    int wave; /* 32, 64 or 0 */
    int cov;  /* 5, 6 or 0 */
    int has_unsafe_atomics;
} switches;

/* ---- reading ---- */

static const processor *find_processor(const char *name, size_t size)
{
    for (size_t i = 0; i < COUNT_OF(processors); i++)
        if (strlen(processors[i].name) == size &&
            memcmp(processors[i].name, name, size) == 0)
            return &processors[i];
    return NULL;
}

static kiln_status unknown_name(const char *name, kiln_error **error)
{
    char list[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < COUNT_OF(processors); i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                 i > 0 ? ", " : "", processors[i].name);
    return kiln__error_set(error, KILN_EINVAL,
                           "rocm: \"%.64s\" is no target; there are %s", name,
                           list);
}

/* If the word is `name` with a sign, takes the sign. Each may be given once. */
static int take_sign(char *out, const char *word, size_t size, const char *name)
{
    const size_t length = strlen(name);

    if (size != length + 1 || memcmp(word, name, length) != 0 ||
        (word[length] != '+' && word[length] != '-') || *out != 0)
        return 0;
    *out = word[length];
    return 1;
}

static int take_number(int *out, const char *word, size_t size,
                       const char *text, int number)
{
    if (size != strlen(text) || memcmp(word, text, size) != 0 || *out != 0)
        return 0;
    *out = number;
    return 1;
}

static int take_word(switches *out, const processor *of, const char *word,
                     size_t size)
{
    if (of->has_switches && (take_sign(&out->sramecc, word, size, "sramecc") ||
                             take_sign(&out->xnack, word, size, "xnack")))
        return 1;
    if (of->has_wave32 && take_number(&out->wave, word, size, "wave32", 32))
        return 1;
    return take_number(&out->wave, word, size, "wave64", 64) ||
           take_number(&out->cov, word, size, "cov5", 5) ||
           take_number(&out->cov, word, size, "cov6", 6) ||
           take_number(&out->has_unsafe_atomics, word, size, UNSAFE_ATOMICS, 1);
}

static kiln_status unknown_word(const processor *of, const char *word,
                                size_t size, kiln_error **error)
{
    return kiln__error_set(
        error, KILN_EINVAL,
        "rocm: %s takes no \":%.*s\" there; behind it may stand, once each, "
        "%s%swave64, cov5 or cov6, " UNSAFE_ATOMICS,
        of->name, (int)(size < 64 ? size : 64), word,
        of->has_switches ? "sramecc+ or sramecc-, xnack+ or xnack-, " : "",
        of->has_wave32 ? "wave32 or " : "");
}

static kiln_status resolve(const processor **out, switches *to,
                           const char *name, kiln_error **error)
{
    size_t size = strcspn(name, ":");

    *to = (switches){0};
    *out = find_processor(name, size);
    if (*out == NULL)
        return unknown_name(name, error);
    for (name += size; *name == ':'; name += size) {
        name++;
        size = strcspn(name, ":");
        if (!take_word(to, *out, name, size))
            return unknown_word(*out, name, size, error);
    }
    if (to->wave == 0)
        to->wave = (*out)->has_wave32 ? 32 : 64;
    if (to->cov == 0)
        to->cov = USUAL_COV;
    return KILN_OK;
}

/* ---- describing ---- */

static void fill_target(kiln_target *out, const processor *of,
                        const switches *with)
{
    char name[64] = "", features[64] = "";

    if (with->sramecc != 0) {
        (void)snprintf(name, sizeof name, ":sramecc%c", with->sramecc);
        (void)snprintf(features, sizeof features, "%csramecc,", with->sramecc);
    }
    (void)snprintf(out->name, sizeof out->name, "%s%s", of->name, name);
    (void)snprintf(out->features, sizeof out->features, "%s", features);
    name[0] = features[0] = '\0';
    if (with->xnack != 0) {
        (void)snprintf(name, sizeof name, ":xnack%c", with->xnack);
        (void)snprintf(features, sizeof features, "%cxnack,", with->xnack);
    }
    (void)snprintf(out->name + strlen(out->name), 64, "%s:wave%d:cov%d%s", name,
                   with->wave, with->cov,
                   with->has_unsafe_atomics ? ":" UNSAFE_ATOMICS : "");
    (void)snprintf(out->features + strlen(out->features), 128,
                   "%s+wavefrontsize%d", features, with->wave);
    (void)snprintf(out->triple, sizeof out->triple, "amdgcn-amd-amdhsa");
    (void)snprintf(out->processor, sizeof out->processor, "%s", of->name);
    (void)snprintf(out->options, sizeof out->options, "cov=%d%s", with->cov,
                   with->has_unsafe_atomics ? "," UNSAFE_ATOMICS : "");
}

kiln_status kiln__rocm_target(kiln__gpu_backend *backend, const char *name,
                              kiln_target *out, kiln_error **error)
{
    const processor *of;
    char chosen[64];
    switches with;

    if (name == NULL) {
        KILN_TRY(kiln__gpu_first_architecture(chosen, sizeof chosen, backend,
                                              error));
        name = chosen;
        if (find_processor(name, strcspn(name, ":")) == NULL)
            name = FALLBACK;
    }
    KILN_TRY(resolve(&of, &with, name, error));
    fill_target(out, of, &with);
    return KILN_OK;
}

/* ---- devices ---- */

/* The layout of this structure changed between versions of the runtime. But the
   processor's name has always been the only text of this form in it. */
void kiln__rocm_architecture(char *out, size_t size, const char *properties,
                             size_t properties_size)
{
    out[0] = '\0';
    /* It begins with the device's name, which may be any text. */
    for (size_t i = 256; i + 4 < properties_size; i++) {
        size_t length = 0;

        if (memcmp(properties + i, "gfx", 3) != 0 || properties[i - 1] != '\0')
            continue;
        while (i + length < properties_size && properties[i + length] != '\0')
            length++;
        if (i + length == properties_size || length >= size)
            return;
        memcpy(out, properties + i, length + 1);
        return;
    }
}

static int switch_fits(char wanted, const char *there, const char *name)
{
    char text[16];

    if (wanted == 0)
        return 1;
    (void)snprintf(text, sizeof text, ":%s%c", name, wanted);
    return strstr(there, text) != NULL;
}

kiln_status kiln__rocm_target_fits(const kiln__gpu_context *context,
                                   const char *target, const char *format,
                                   kiln_error **error)
{
    const char *there = context->architecture;
    const processor *of;
    switches with;

    if (strcmp(format, "elf") != 0 || strncmp(target, "rocm:", 5) != 0)
        return kiln__error_set(error, KILN_EMISMATCH,
                               "rocm: an artifact of format \"%.32s\" for "
                               "\"%.64s\"",
                               format, target);
    KILN_TRY(resolve(&of, &with, target + 5, error));
    if (strlen(of->name) == strcspn(there, ":") &&
        strncmp(there, of->name, strlen(of->name)) == 0 &&
        switch_fits(with.sramecc, there, "sramecc") &&
        switch_fits(with.xnack, there, "xnack"))
        return KILN_OK;
    return kiln__error_set(error, KILN_ENODEVICE,
                           "rocm: code for %s does not run on device %s, which "
                           "is %s",
                           target + 5, context->name, there);
}
