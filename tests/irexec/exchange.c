/* exchange.c - a code generator that stops before instruction
 * selection. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/codegen_abi.h"
#include "abi/device_abi.h"
#include "irexec.h"
#include "kiln/compile.h"
#include "kiln/context.h"

/*
 * Stands in for libkiln-codegen: hands every request on to it, but of a
 * binary for a device it asks for the optimised module, which becomes the
 * payload. Everything else, tier 2's bitcode above all, is the real thing.
 */

static const kiln__codegen *real;
static kiln__codegen ours;

typedef struct hand_over {
    const kiln__codegen_request *asked;
    int is_cuda;
} hand_over;

/* ---- the payload ---- */

static uint32_t lanes_of(const hand_over *h, const kiln__codegen_result *result)
{
    const kiln__codegen_settings *settings = h->asked->settings;

    if (h->is_cuda)
        return 32;
    if (result->sub_group_size != 0)
        return result->sub_group_size;
    if (strstr(settings->features, "+wavefrontsize64") != NULL)
        return 64;
    return strncmp(settings->processor, "gfx9", 4) == 0 ? 64 : 32;
}

/* 0 where they are sizes of the grid alone: no state is among them. */
static uint32_t hidden_of(const kiln__codegen_result *result)
{
    return result->hidden_arguments == kiln__hidden_sizes(result->any_block)
               ? 0
               : result->hidden_arguments;
}

/* An ELF image that has nothing in it, for who looks at no more. */
static size_t put_header(char *to)
{
    Elf64_Ehdr header = {.e_type = ET_DYN, .e_ehsize = sizeof header};

    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    memcpy(to, &header, sizeof header);
    return sizeof header;
}

static kiln_status finish(void *env, const kiln__codegen_result *result)
{
    const hand_over *h = env;
    kiln__codegen_result changed = *result;
    const size_t room = sizeof(Elf64_Ehdr) + result->size + 64;
    char *bytes = malloc(room);
    size_t size = 0;
    kiln_status status;

    if (bytes == NULL)
        return KILN_ENOMEM;
    if (!h->is_cuda)
        size = put_header(bytes);
    size +=
        (size_t)snprintf(bytes + size, room - size, IREXEC_HEAD "%u %u\n%.*s",
                         lanes_of(h, result), hidden_of(result),
                         (int)result->size, (const char *)result->bytes);
    changed.bytes = bytes;
    changed.size = size;
    changed.format = h->is_cuda ? "ptx" : "elf";
    changed.relocation = KILN_RELOCATION_PORTABLE;
    status = h->asked->finish(h->asked->env, &changed);
    free(bytes);
    return status;
}

/* ---- what is handed through ---- */

static void fail(void *env, kiln_status status, const char *message)
{
    const hand_over *h = env;

    h->asked->fail(h->asked->env, status, message);
}

static void fatal(void *env, const char *message)
{
    const hand_over *h = env;

    h->asked->fatal(h->asked->env, message);
}

static void stage(void *env, int32_t which, uint64_t nanoseconds)
{
    const hand_over *h = env;

    if (h->asked->stage != NULL)
        h->asked->stage(h->asked->env, which, nanoseconds);
}

static void was_read(void *env, size_t index, uint64_t nanoseconds)
{
    const hand_over *h = env;

    if (h->asked->was_read != NULL)
        h->asked->was_read(h->asked->env, index, nanoseconds);
}

static void note(void *env, int32_t level, const char *line)
{
    const hand_over *h = env;

    if (h->asked->log != NULL)
        h->asked->log(h->asked->env, level, line);
}

static kiln_status generate(const kiln__codegen_request *request)
{
    hand_over h = {request, strcmp(request->settings->backend, "cuda") == 0};
    kiln__codegen_request changed = *request;

    if (request->form != KILN_EMIT_BINARY ||
        strcmp(request->settings->backend, "host") == 0)
        return real->generate(request);
    changed.form = KILN_EMIT_LLVM_OPT;
    changed.env = &h;
    changed.finish = finish;
    changed.fail = fail;
    changed.fatal = fatal;
    changed.stage = stage;
    changed.was_read = was_read;
    changed.log = note;
    return real->generate(&changed);
}

/* ---- the door ---- */

/* Called under a lock of the process. */
kiln_status kiln_codegen_exchange(const struct kiln_codegen_host *host,
                                  const struct kiln_codegen **out)
{
    void *library = dlopen(IREXEC_CODEGEN, RTLD_NOW | RTLD_LOCAL);
    void *symbol =
        library != NULL ? dlsym(library, "kiln_codegen_exchange") : NULL;
    kiln_codegen_exchange_fn exchange;
    kiln_status status;

    if (symbol == NULL)
        return KILN_EMISMATCH;
    memcpy(&exchange, &symbol, sizeof exchange);
    status = exchange(host, &real);
    if (status != KILN_OK)
        return status;
    ours = *real;
    ours.generate = generate;
    *out = &ours;
    return KILN_OK;
}
