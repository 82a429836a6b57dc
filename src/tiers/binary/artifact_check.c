/* artifact_check.c - checks whether an artifact from a store can be right. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/keys/settings.h"
#include "context/targets/target_traits.h"
#include "tiers/binary/artifact.h"
#include "tiers/typed/code_closure.h"
#include "tiers/typed/code_instance.h"

/*
 * The entry's checksums are correct, but it need not have been made by Kiln.
 * What follows from the job is compared with it; arguments are compared when
 * the artifact is loaded. What only code generation knows is checked against
 * the target's limits: a launch that asks for more would fail, in each process
 * that finds the entry. Within these limits any value is accepted.
 */

/* More than any target has or will have. */
#define REGISTERS_MOST 4096u
#define SUB_GROUP_MOST 1024u
#define SPILL_MOST ((uint64_t)INT32_MAX)

static uint64_t local_bytes_most(const kiln_config *config)
{
    const uint64_t most = kiln__target_traits_of(config)->local_bytes;
    kiln__device_limits limits;

    if (most != 0)
        return most;
    kiln__device_limits_of(&limits, config);
    return limits.local_bytes ? limits.local_bytes : INT32_MAX;
}

/* build.c makes the name: it is the config's, or it ends with the beginning of
   the digest. */
static int is_entry_name(const char *name, const kiln_code *code,
                         const kiln_config *config)
{
    char digest[KILN_DIGEST_TEXT_SIZE];
    const size_t size = strlen(name);

    if (config->entry_name != NULL)
        return strcmp(name, config->entry_name) == 0;
    kiln_digest_text(kiln_code_digest(code), digest);
    return size > KILN__ENTRY_DIGITS &&
           name[size - KILN__ENTRY_DIGITS - 1] == '_' &&
           memcmp(name + size - KILN__ENTRY_DIGITS, digest,
                  KILN__ENTRY_DIGITS) == 0;
}

/* Returns the name of a member that cannot be right, or NULL. */
static const char *wrong_number(const kiln_kernel_info *info,
                                const kiln_config *config)
{
    const kiln__target_traits *traits = kiln__target_traits_of(config);
    const uint64_t required[3] = {config->required_group_x,
                                  config->required_group_y,
                                  config->required_group_z};
    const struct {
        const char *name;
        uint64_t value, least, most;
    } members[] = {
        {"required_group_size[0]", info->required_group_size[0], required[0],
         required[0]},
        {"required_group_size[1]", info->required_group_size[1], required[1],
         required[1]},
        {"required_group_size[2]", info->required_group_size[2], required[2],
         required[2]},
        {"maximum_group_size", info->maximum_group_size, config->maximum_group,
         config->maximum_group},
        {"static_local_bytes", info->static_local_bytes, 0,
         local_bytes_most(config)},
        {"private_bytes", info->private_bytes, 0, traits->private_bytes},
        {"stack_bytes", info->stack_bytes, 0, traits->stack_bytes},
        {"registers", info->registers, 0, REGISTERS_MOST},
        {"spill_bytes", info->spill_bytes, 0, SPILL_MOST},
        {"sub_group_size", info->sub_group_size, 0, SUB_GROUP_MOST},
    };

    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (members[i].value < members[i].least ||
            members[i].value > members[i].most)
            return members[i].name;
    return NULL;
}

static int has_site(const kiln_code *code, const char *name)
{
    size_t count;
    const kiln__site_use *sites = kiln__code_sites(code, &count);

    for (size_t i = 0; i < count; i++)
        if (strcmp(sites[i].name, name) == 0)
            return 1;
    return 0;
}

static int is_site_of(const kiln_code *const *closure, size_t count,
                      const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (has_site(closure[i], name))
            return 1;
    return 0;
}

/* A wrong site would put another object's address into the code. A record does
   not know what its closure refers to. */
static kiln_status find_wrong_site(const char **wrong,
                                   const kiln_artifact *artifact,
                                   const kiln_code *code,
                                   const kiln_alloc *alloc)
{
    const kiln_code **closure = NULL;
    size_t count = 0;

    if (artifact->site_count == 0 || kiln__code_is_record(code))
        return KILN_OK;
    if (kiln__code_closure(&closure, &count, code) != KILN_OK)
        return KILN_ENOMEM;
    for (size_t i = 0; i < artifact->site_count; i++)
        if (!is_site_of(closure, count, artifact->sites[i].name))
            *wrong = "its sites";
    kiln__deallocate(alloc, closure, count * sizeof *closure);
    return KILN_OK;
}

static const char *wrong_member(const kiln_artifact *artifact,
                                const kiln_code *code,
                                const kiln_config *config)
{
    if (artifact->kernel_count != 1)
        return "the number of its kernels";
    if (!is_entry_name(artifact->kernels[0].name, code, config))
        return "its name";
    return wrong_number(&artifact->kernels[0], config);
}

kiln_status kiln__artifact_check(const kiln_artifact *artifact,
                                 const kiln_code *code,
                                 const kiln_config *config, kiln_error **error)
{
    const char *wrong = wrong_member(artifact, code, config);

    if (wrong == NULL && find_wrong_site(&wrong, artifact, code,
                                         &config->context->alloc) != KILN_OK)
        return kiln__error_no_memory(error);
    if (wrong == NULL)
        return KILN_OK;
    return kiln__error_set(error, KILN_ECORRUPT,
                           "an artifact in a store says of %s what cannot be",
                           wrong);
}
