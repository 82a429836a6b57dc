/* rocm_processor.c - properties of AMD's processors. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <stdlib.h>
#include <string.h>

#include "backends/rocm/codegen/rocm_codegen.h"
#include "base/error.h"

/*
 * Names are LLVM's. They are "gfx", the generation in decimal, a digit for the
 * model and one for the stepping; or, as in "gfx9-4-generic", the generation
 * and a family.
 */

#define GFX "gfx"

unsigned kiln__rocm_generation(const kiln__codegen_job *job)
{
    const char *name = job->settings->processor;
    char digits[4] = "";
    size_t size;

    if (strncmp(name, GFX, sizeof GFX - 1) != 0)
        return 0;
    name += sizeof GFX - 1;
    size = strcspn(name, "-");
    if (name[size] == '\0')
        size = size > 2 ? size - 2 : 0;
    if (size >= sizeof digits)
        return 0;
    memcpy(digits, name, size);
    return (unsigned)strtoul(digits, NULL, 10);
}

/* True for one of the processors in the list, such as "gfx90a" or "gfx942". */
static int is_one_of(const kiln__codegen_job *job, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(job->settings->processor, *names) == 0)
            return 1;
    return 0;
}

/* True when the comma-separated list has the word. */
static int has_word(const char *list, const char *word)
{
    const size_t size = strlen(word);

    for (; *list != '\0'; list += strcspn(list, ",")) {
        list += *list == ',';
        if (strncmp(list, word, size) == 0 &&
            (list[size] == ',' || list[size] == '\0'))
            return 1;
    }
    return 0;
}

int kiln__rocm_has_option(const kiln__codegen_job *job, const char *word)
{
    return has_word(job->settings->options, word);
}

unsigned kiln__rocm_object_version(const kiln__codegen_job *job)
{
    if (kiln__rocm_has_option(job, "cov=6"))
        return 6;
    if (kiln__rocm_has_option(job, "cov=5") ||
        strstr(job->settings->options, "cov=") == NULL)
        return 5;
    return 0;
}

/* ---- AMD's libraries ---- */

/* Returns the number that AMD's libraries use: gfx90a is 9010, gfx1030 is
   10300. */
static uint64_t processor_number(const kiln__codegen_job *job)
{
    const char *name = job->settings->processor;
    const size_t size = strlen(name);
    uint64_t number = 1000 * (uint64_t)kiln__rocm_generation(job);

    if (strchr(name, '-') == NULL && size > sizeof GFX + 1)
        number += 100 * strtoul((char[]){name[size - 2], '\0'}, NULL, 16) +
                  strtoul((char[]){name[size - 1], '\0'}, NULL, 16);
    return number;
}

/* Nothing is given up: infinities, subnormal numbers and NaNs are handled. */
int kiln__rocm_constant(const kiln__codegen_job *job, const char *name,
                        uint64_t *value)
{
    const struct {
        const char *name;
        uint64_t value;
    } constants[] = {
        {"__oclc_ISA_version", processor_number(job)},
        {"__oclc_ABI_version", 100 * kiln__rocm_object_version(job)},
        {"__oclc_wavefrontsize64", kiln__rocm_lanes(job) == 64},
        {"__oclc_finite_only_opt", 0},
        {"__oclc_unsafe_math_opt", 0},
        {"__oclc_daz_opt", 0},
        {"__oclc_correctly_rounded_sqrt32", 1},
    };

    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        *value = constants[i].value;
        if (strcmp(constants[i].name, name) == 0)
            return 1;
    }
    return 0;
}

/* ---- sub-groups ---- */

uint32_t kiln__rocm_lanes(const kiln__codegen_job *job)
{
    if (has_word(job->settings->features, "+wavefrontsize32"))
        return 32;
    if (has_word(job->settings->features, "+wavefrontsize64"))
        return 64;
    return kiln__rocm_generation(job) < 10 ? 64 : 32;
}

int kiln__rocm_has_unified_registers(const kiln__codegen_job *job)
{
    static const char *const names[] = {"gfx90a", "gfx942", "gfx950",
                                        "gfx9-4-generic", NULL};

    return is_one_of(job, names);
}

static int is_first_rdna(const kiln__codegen_job *job)
{
    static const char *const names[] = {"gfx1010", "gfx1011",         "gfx1012",
                                        "gfx1013", "gfx10-1-generic", NULL};

    return is_one_of(job, names);
}

static uint32_t waves_max(const kiln__codegen_job *job)
{
    if (kiln__rocm_has_unified_registers(job))
        return 8;
    if (kiln__rocm_generation(job) < 10)
        return 10;
    return is_first_rdna(job) ? 20 : 16;
}

/* The sub-groups of a group are spread over four units; over two where the
   settings keep a group on one half of a pair of compute units. */
uint32_t kiln__rocm_waves(const kiln__codegen_job *job, uint32_t groups,
                          uint32_t items)
{
    const uint32_t units = kiln__rocm_generation(job) >= 10 &&
                                   has_word(job->settings->features, "+cumode")
                               ? 2
                               : 4;
    const uint32_t lanes = kiln__rocm_lanes(job);
    const uint64_t all = (uint64_t)groups * ((items + lanes - 1) / lanes);
    const uint64_t each = (all + units - 1) / units;
    const uint32_t most = waves_max(job);

    return each < most ? (uint32_t)each : most;
}

/* ---- limits ---- */

uint32_t kiln__rocm_local_limit(const kiln__codegen_job *job)
{
    static const char *const large[] = {"gfx950", NULL};
    static const char *const larger[] = {"gfx1250", "gfx1251", NULL};

    if (is_one_of(job, large))
        return 160u << 10;
    return (is_one_of(job, larger) ? 320u : 64u) << 10;
}

kiln_status kiln__rocm_check_target(kiln__codegen_job *job)
{
    const kiln__codegen_settings *settings = job->settings;
    const size_t size = strlen(settings->processor);
    const int is_generic =
        size > 8 && strcmp(settings->processor + size - 8, "-generic") == 0;

    if (kiln__rocm_generation(job) < 9)
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "no code for %s: ROCm has processors from gfx900 "
                              "on",
                              settings->processor);
    if (has_word(settings->features, "+wavefrontsize32") &&
        kiln__rocm_generation(job) < 10)
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "sub-groups of %s have 64 items",
                              settings->processor);
    if (kiln__rocm_object_version(job) == 0)
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "code objects have version 5 or 6: '%s'",
                              settings->options);
    if (is_generic && kiln__rocm_object_version(job) < 6)
        return kiln__job_fail(job, KILN_EUNSUPPORTED,
                              "%s needs code objects of version 6",
                              settings->processor);
    return KILN_OK;
}
