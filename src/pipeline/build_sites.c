/* build_sites.c - the host objects that the code of a build refers to. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <string.h>

#include "base/error.h"
#include "context/host_objects.h"
#include "context/keys/settings.h"
#include "pipeline/build.h"
#include "tiers/typed/code_instance.h"

/*
 * The sites of a call closure are listed in the closure's order, each once, so
 * that the code is the same in every process. If sites become constants of the
 * session, they are resolved here, on the caller's thread.
 */

static kiln_status add_site(kiln__build *build, const kiln__site_use *site,
                            kiln_error **error)
{
    for (size_t i = 0; i < build->site_count; i++) {
        if (strcmp(build->sites[i].name, site->name) != 0)
            continue;
        if (build->sites[i].kind == site->kind)
            return KILN_OK;
        return kiln__error_set(error, KILN_ECODEGEN,
                               "%s: site \"%s\" is an object in one place and "
                               "a function in another",
                               kiln_code_name(build->code), site->name);
    }
    build->sites[build->site_count++] =
        (kiln__codegen_site){.name = site->name, .kind = site->kind};
    return KILN_OK;
}

static kiln_status list_sites(kiln__build *build, kiln_error **error)
{
    size_t most = 0, count;

    for (size_t i = 0; i < build->closure_count; i++) {
        (void)kiln__code_sites(build->closure[i], &count);
        most += count;
    }
    if (most == 0)
        return KILN_OK;
    build->sites =
        kiln__arena_allocate_array(&build->arena, most, sizeof *build->sites);
    if (build->sites == NULL)
        return kiln__error_no_memory(error);
    for (size_t i = 0; i < build->closure_count; i++) {
        const kiln__site_use *sites =
            kiln__code_sites(build->closure[i], &count);

        for (size_t k = 0; k < count; k++)
            KILN_TRY(add_site(build, &sites[k], error));
    }
    build->request.sites = build->sites;
    build->request.site_count = build->site_count;
    return KILN_OK;
}

static kiln_status resolve_sites(kiln__build *build, kiln_error **error)
{
    const size_t count = build->site_count;
    const char **names =
        kiln__arena_allocate_array(&build->arena, count, sizeof *names);

    if (names == NULL)
        return kiln__error_no_memory(error);
    for (size_t i = 0; i < count; i++)
        names[i] = build->sites[i].name;
    KILN_TRY(kiln__roots_new(&build->roots, build->context,
                             kiln_code_name(build->code), names, count, error));
    for (size_t i = 0; i < count; i++)
        build->sites[i].address =
            (uint64_t)(uintptr_t)kiln__roots_address(build->roots, i);
    return KILN_OK;
}

kiln_status kiln__build_plan_sites(kiln__build *build, kiln_error **error)
{
    KILN_TRY(list_sites(build, error));
    if (build->site_count == 0 || build->config->sites == KILN_SITES_PATCH)
        return KILN_OK;
    return resolve_sites(build, error);
}
