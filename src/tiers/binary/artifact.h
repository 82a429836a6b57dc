/* artifact.h - the structs of artifacts and kernels. */
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KILN_ARTIFACT_H
#define KILN_ARTIFACT_H

#include <stdatomic.h>

#include "context/context.h"
#include "kiln/kernel.h"
#include "tiers/binary/job_table.h"

/* Immutable once made, and counted. It is allocated by malloc, because it may
   outlive the context. */
struct kiln_artifact {
    atomic_uint references;
    kiln_digest key;         /* the binary key */
    const void *encoded_key; /* full encoding, compared on every hit */
    size_t encoded_key_size;
    char *format;
    char *target;
    int32_t relocation;
    const void *bytes;
    size_t size;
    kiln_kernel_info *kernels; /* the artifact owns everything in it */
    size_t kernel_count;
    kiln_site_info *sites;
    size_t site_count;
    const void *reports; /* device_abi.h */
    size_t report_size;
    const void *facts; /* facts_abi.h; NULL: the kernel has one entry */
    size_t fact_size;
    const void *deferred; /* deferred.h; NULL: there is no second body */
    size_t deferred_size;
    struct kiln__roots *roots; /* roots of resolved sites, or NULL;
                                  host_objects.h */
    uint64_t compile_ns;
    char *toolchain;             /* that made it; see provenance.h */
    const kiln_artifact *origin; /* for a copy made for one load: the original;
                                    else NULL */
};

/* The argument of kiln__artifact_new(), which copies it, except what lies in
   `lent`. */
typedef struct kiln__artifact_source {
    kiln_blob *lent; /* NULL; or the memory, which is malloc's, of the encoded
                        key, the bytes and what is deferred. On success the
                        artifact takes it over, and it is left empty. */
    kiln_digest key;
    const void *encoded_key;
    size_t encoded_key_size;
    const char *format;
    const char *target;
    int32_t relocation;
    const void *bytes;
    size_t size;
    const kiln_kernel_info *kernels;
    size_t kernel_count;
    const kiln_site_info *sites;
    size_t site_count;
    const void *reports;
    size_t report_size;
    const void *facts;
    size_t fact_size;
    const void *deferred;
    size_t deferred_size;
    struct kiln__roots *roots; /* taken over on success; or NULL */
    uint64_t compile_ns;
    const char *toolchain; /* NULL: none */
} kiln__artifact_source;

/* ---- artifact.c ---- */
kiln_status kiln__artifact_new(const kiln_artifact **out,
                               const kiln__artifact_source *source);

/* Adds a reference to the artifact, or if it is a copy for one load, to the
   original, and returns that one. */
const kiln_artifact *kiln__artifact_retain_origin(
    const kiln_artifact *artifact);

/* If the config gives no entry name, the name ends with an underscore and this
   many digits of the typed digest. */
#define KILN__ENTRY_DIGITS 8

/* Checks whether what an artifact from a store says about its kernel can be
   true of the job. KILN_ECORRUPT. Arguments are checked when it is loaded. */
kiln_status kiln__artifact_check(const kiln_artifact *artifact,
                                 const kiln_code *code,
                                 const kiln_config *config, kiln_error **error);

/* True if the artifact itself is the reason why loading it failed with this
   status. */
int kiln__artifact_is_unusable(const kiln_artifact *artifact,
                               kiln_status status);

/* The artifact's kernel of that name, or NULL. */
const kiln_kernel_info *kiln__artifact_kernel_named(
    const kiln_artifact *artifact, const char *name);

/* One entry function of an artifact, loaded on one device. The head is part of
   the public interface: kiln_call_site_get() reads it. Tier 3 owns the kernel,
   and collections unload it. */
struct kiln_kernel {
    kiln_kernel_head head; /* read with __atomic builtins */
    kiln_context *context;
    const kiln_artifact *artifact; /* one reference */
    const kiln_kernel_info *info;  /* the artifact's, or `own_info` */
    kiln_kernel_info own_info;     /* the same with the name of this method */
    const kiln_config *config;
    const kiln_code *code;
    const kiln_type *const *types;      /* of the arguments; owned by the code
                                           instance */
    struct kiln__loaded_module *module; /* backends/kernel_load.c */
    void *function;                     /* from the backend's symbol() */
    struct kiln__job *job;              /* in tier 3 */
    kiln_kernel *next;                  /* in the list of its job */
    kiln_kernel *next_of_code;          /* in the list of its code instance */
};

#endif /* KILN_ARTIFACT_H */
