/* closures.c - closures of tier 2 in a folder, for contexts with empty
   memory. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "closures.h"

#include "../bench.h"
#include "context/keys/key.h"
#include "tiers/runtime/runtime_bitcode.h"

kiln_context *closures_open(const char *folder, const char *target,
                            const kiln_config **config)
{
    kiln_context_options options = KILN_CONTEXT_OPTIONS_INIT;
    kiln_config_options config_options = KILN_CONFIG_OPTIONS_INIT;
    kiln_cache_options cache = KILN_CACHE_OPTIONS_INIT;
    kiln_context *context;
    kiln_error *error = NULL;

    cache.mode = KILN_CACHE_MODE_READ_WRITE;
    cache.directory = folder;
    options.cache = &cache;
    config_options.target = target;
    bench_check(kiln_context_new(&context, &options, &error), &error);
    bench_check(kiln_config_new(config, context, &config_options, &error),
                &error);
    return context;
}

int closures_get(kiln_context *context, const kiln_config *config,
                 const struct closure *closure)
{
    kiln__runtime_entry *entry = NULL;
    kiln__runtime_query query = {0};
    kiln__encoder key;
    size_t size;
    int found;

    kiln__encoder_init(&key, &context->alloc);
    bench_check(
        kiln__key_closure(&key, closure->library, closure->wanted, config),
        NULL);
    query.digest = kiln__encoder_digest(&key);
    query.encoded = key.bytes;
    query.encoded_size = key.size;
    found = kiln__runtime_claim(&entry, context, &query) == KILN__RUNTIME_FOUND;
    if (!found)
        bench_check(kiln__runtime_finish(context, entry, closure->bitcode,
                                         closure->size, 1),
                    NULL);
    BENCH_KEEP(kiln__runtime_bitcode(entry, &size));
    kiln__runtime_release(context, entry);
    kiln__encoder_dispose(&key);
    return found;
}
